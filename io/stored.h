/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that lie in a file as they are handed out: read by any number of threads at once. */
#ifndef TY_STORED_H
#define TY_STORED_H

#include "io/input.h"
#include "io/rows.h"

typedef struct ty_stored {
    tally_source source; /* its user is the ty_stored */
    const ty_stream *stream;
    const ty_rows *rows;
    uint64_t start; /* the file's byte that the first sample begins at */
    size_t swap;    /* sample size when bytes must be turned round, else 0 */
    /* Not NULL: rows lie in strips. Says where the byte of the samples is, and how many follow it
     * there; `start` is unused. */
    tally_status (*find)(const void *state, uint64_t byte, uint64_t *at, uint64_t *length,
                         tally_error *error);
    /* Not NULL: looks at samples that were read, in the host's order, from the file's byte `at` on.
     */
    tally_status (*check)(const void *state, const void *samples, uint64_t count, uint64_t at,
                          tally_error *error);
    const void *state; /* for both; the decoder's */
} ty_stored;

/* Makes `stored` of the rows' region. */
void ty_stored_make(ty_stored *stored, const ty_stream *stream, const ty_rows *rows);
/* The view of all its samples. */
void ty_stored_view(const ty_stored *stored, tally_view *view);

#endif
