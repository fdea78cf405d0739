/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that are to be read again: parsed once, kept in memory up to a limit, behind that in a
 * temporary file without a name. */
#ifndef TY_TEXT_KEEP_H
#define TY_TEXT_KEEP_H

#include <stddef.h>
#include <stdint.h>
#include <tally/tally.h>

typedef struct ty_keep ty_keep;

/* Rows of views: view v has its samples at samples + v * stride. */
typedef struct ty_kept {
    const double *samples;
    size_t stride, rows;
    uint32_t views;
} ty_kept;

/* `name` is the file's, for messages, and outlives it. NULL: memory is out. */
ty_keep *ty_keep_create(const char *name);
void ty_keep_free(ty_keep *keep); /* NULL is fine */
void ty_keep_rewind(ty_keep *keep);

/* Memory for so many samples of the rows that are kept next, which are kept there without a copy
 * then; *room is NULL where they go to the file. */
tally_status ty_keep_room(ty_keep *keep, size_t samples, double **room, tally_error *error);

/* Keeps rows that were just read; they are not brought before it is rewound. */
tally_status ty_keep_add(ty_keep *keep, const ty_kept *rows, tally_error *error);

/* Brings the next rows that were kept, valid until the next call; 0 rows when all have been. */
tally_status ty_keep_next(ty_keep *keep, ty_kept *rows, tally_error *error);

/* Test hook: at most so many bytes in memory; UINT64_MAX as usual. */
void ty_keep_limit(uint64_t bytes);

#endif
