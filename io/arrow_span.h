/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow: rows of a batch on their way to samples, shared by what decodes them. */
#ifndef TY_ARROW_SPAN_H
#define TY_ARROW_SPAN_H

#include "io/arrow.h"

enum { TY_ARROW_PIECE = 4096 };

/* Unpacked buffers of a batch. */
typedef struct ty_arrow_block {
    struct ty_arrow_block *next;
    size_t batch;
    unsigned users;
    enum { TY_ARROW_MAKING, TY_ARROW_READY, TY_ARROW_BROKEN } state;
    tally_status status;
    tally_error error;
    size_t count;
    unsigned char **buffers; /* as ty_arrow_look numbers them; NULL: none is stored */
    uint64_t *sizes;
} ty_arrow_block;

/* Rows [first, first + count) of a part, on their way to samples. */
typedef struct ty_arrow_span {
    const ty_arrow_index *index;
    const char *name; /* the column's */
    const ty_arrow_type *type;
    const ty_arrow_part *part;
    uint32_t levels;
    const unsigned char
        *values; /* of its dictionary, in `dtype`; NULL: values are stored themselves */
    const ty_arrow_block *block; /* NULL: in the file */
    tally_dtype dtype;
    tally_words *words; /* of TY_ARROW_WORDS: samples are codes of these */
} ty_arrow_span;

/* ---- arrow_span.c ---- */

tally_status ty_arrow_damaged(const ty_arrow_span *span, const char *what, tally_error *error);
/* Unpacks all buffers; ty_arrow_block_clear releases them, after a failure too. */
tally_status ty_arrow_block_make(const ty_arrow_span *span, ty_arrow_block *block,
                                 tally_error *error);
void ty_arrow_block_clear(ty_arrow_block *block);
/* Bytes [at, at + size) of a buffer: 0 is the values', 1 … those of the levels' bits, then those of
 * texts. *bytes says where they are: in `scratch`, if need be. */
tally_status ty_arrow_look(const ty_arrow_span *span, size_t which, uint64_t at, size_t size,
                           unsigned char *scratch, const unsigned char **bytes, tally_error *error);
uint64_t ty_arrow_size(const ty_arrow_span *span, size_t which);

/* ---- arrow_words.c ---- */

/* Codes of rows [first, first + count), at most TY_ARROW_PIECE; those that are not `valid` (NULL:
 * all are) are left alone. */
tally_status ty_arrow_words_read(const ty_arrow_span *span, uint64_t first, size_t count,
                                 const unsigned char *valid, double *to, tally_error *error);

#endif
