/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow IPC: what its parts share. A stream is messages: a schema, then dictionaries and record
 * batches, each with metadata (FlatBuffers) and a body of buffers. A file is such messages between
 * two words, with a footer that says where they are. arrow_schema.c reads the schema, arrow_index.c
 * finds the buffers of chosen columns, arrow_values.c and arrow_words.c decode them, arrow.c makes
 * an input. */
#ifndef TY_ARROW_H
#define TY_ARROW_H

#include "io/codes.h"
#include "io/flat.h"
#include "io/seekable.h"

enum { TY_ARROW_DEEPEST = 16, TY_ARROW_RATIO = 40000 };

/* ---- arrow_schema.c ---- */

/* TY_ARROW_WORDS has offsets of texts, 4 or 8 bytes each, or views of 16. */
typedef enum ty_arrow_kind {
    TY_ARROW_PLAIN,
    TY_ARROW_BITS,
    TY_ARROW_DECIMAL,
    TY_ARROW_WORDS
} ty_arrow_kind;

/* Of values as stored. */
typedef struct ty_arrow_type {
    ty_arrow_kind kind;
    tally_dtype dtype; /* they are handed out in, where none is missing */
    size_t bytes;      /* of one; 0 for bits */
    int scale;         /* decimals are times 10^-scale */
    tally_time time;   /* dates and timestamps, in this unit */
} ty_arrow_type;

/* A field or a group that it is in: its number among the nodes of a batch, and that of its first
 * buffer, but for those that `views` fields before it have in numbers that each batch says. */
typedef struct ty_arrow_level {
    uint32_t node, buffer, views;
} ty_arrow_level;

typedef struct ty_arrow_column {
    char *name;          /* with those of the groups it is in: "a.b" */
    const char *refused; /* what it holds, if that is not counted */
    ty_arrow_type type;
    int has_dictionary; /* buffers hold numbers of `index`'s type, of the dictionary's values */
    int64_t dictionary;
    ty_arrow_type index;
    uint32_t levels; /* the last is the field's own */
    ty_arrow_level level[TY_ARROW_DEEPEST];
} ty_arrow_column;

typedef struct ty_arrow_schema {
    size_t count;
    ty_arrow_column *columns;
} ty_arrow_schema;

/* From a Schema table. What it holds is released by ty_arrow_schema_close, after a failure too. */
tally_status ty_arrow_schema_open(ty_flat *flat, size_t table, const char *name,
                                  ty_arrow_schema *schema, tally_error *error);
void ty_arrow_schema_close(ty_arrow_schema *schema);

/* ---- arrow_index.c ---- */

typedef enum ty_arrow_codec { TY_ARROW_NONE, TY_ARROW_LZ4, TY_ARROW_ZSTD } ty_arrow_codec;

typedef struct ty_arrow_buffer {
    uint64_t at, size; /* in the file, as stored */
} ty_arrow_buffer;

/* A column's part of a batch, or a dictionary's batch. */
typedef struct ty_arrow_part {
    uint64_t rows;
    ty_arrow_codec codec;
    ty_arrow_buffer data;
    size_t valid;       /* the first of its levels' buffers in the index's `valid` */
    size_t text, texts; /* and of those with its texts */
    int missing;        /* a value may be */
    size_t chain;       /* of dictionaries; SIZE_MAX: none */
    uint64_t known;     /* values of it that may be named */
} ty_arrow_part;

/* A dictionary and what was added to it. */
typedef struct ty_arrow_chain {
    int64_t id;
    size_t parts, room;
    ty_arrow_part *part;
    uint64_t count;
    int missing;            /* a value may be */
    unsigned char **values; /* for each column chosen, in the type that it is handed out in */
} ty_arrow_chain;

typedef struct ty_arrow_index {
    ty_seekable in;
    ty_arrow_schema schema;
    uint32_t count; /* columns chosen */
    uint32_t *picks;
    uint64_t rows;
    size_t batches, batches_room;
    uint64_t *begin;      /* `batches` + 1: rows before each */
    ty_arrow_part *parts; /* of each batch, `count` */
    size_t valids, valids_room;
    ty_arrow_buffer *valid;
    size_t chains, chains_room;
    ty_arrow_chain *chain;
} ty_arrow_index;

/* Reads the schema of what `index->in` is. */
tally_status ty_arrow_index_open(ty_arrow_index *index, tally_error *error);
/* Finds all batches' parts of picks[0 … count). */
tally_status ty_arrow_index_fill(ty_arrow_index *index, tally_error *error);
void ty_arrow_index_close(ty_arrow_index *index);
/* Whether `head` begins a stream. */
int ty_arrow_is_stream(const unsigned char *head, size_t size);

/* ---- arrow_values.c ---- */

/* A column chosen, read by any number of threads at once. */
typedef struct ty_arrow_reader ty_arrow_reader;

/* NULL when memory is out. `index` and `words`, of a column of words, outlive it. Missing values
 * are NaN, so `dtype` is f64 or a float's own where one may be; or whatever of integers, for
 * ty_arrow_mask to tell. */
ty_arrow_reader *ty_arrow_reader_open(const ty_arrow_index *index, uint32_t pick, tally_dtype dtype,
                                      tally_words *words);
void ty_arrow_reader_close(ty_arrow_reader *reader); /* NULL is fine */
/* Rows [row, row + count) to `to`. */
tally_status ty_arrow_read(ty_arrow_reader *reader, uint64_t row, uint64_t count, void *to,
                           tally_error *error);
/* Which of these rows have values: mask[i] becomes 0 where one is missing, and stays elsewhere. */
tally_status ty_arrow_mask(ty_arrow_reader *reader, uint64_t row, uint64_t count,
                           unsigned char *mask, tally_error *error);
/* Counts the numbers of a dictionary's values in a batch; 0: it has none, or there is nothing to
 * win, or it cannot be read. `codes->counts` is released by the caller in any case. */
int ty_arrow_count_codes(ty_arrow_reader *reader, size_t batch, ty_codes *codes);
/* Decodes a dictionary's values for a column chosen, if it uses that. */
tally_status ty_arrow_chain_load(const ty_arrow_index *index, ty_arrow_chain *chain, uint32_t pick,
                                 tally_dtype dtype, tally_words *words, tally_error *error);

#endif
