/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of samples handed out in chunks of bounded size, cropped to the region asked for: what every
 * decoder but text shares. */
#ifndef TY_ROWS_H
#define TY_ROWS_H

#include "io/input.h"

#define TY_ROWS_UNKNOWN UINT64_MAX

/* The next `bytes` bytes of samples, row after row, into `into`; NULL passes over them. *got is
 * less only when the data end, and then whole rows if their number was unknown. Without `flat` the
 * bytes are always whole rows. */
typedef tally_status (*ty_rows_take)(void *state, unsigned char *into, uint64_t bytes,
                                     uint64_t *got, tally_error *error);

typedef struct ty_rows {
    const char *name; /* for messages */
    tally_dtype dtype;
    uint64_t rows; /* as stored, or TY_ROWS_UNKNOWN */
    uint64_t columns, channels;
    int flat; /* a row may be taken in pieces, and one column is handed out as one row */
    uint64_t pixel_bytes, row_bytes;
    uint64_t row_begin, row_end, column_begin, column_end;
    uint64_t row, column;               /* next to take */
    uint64_t chunk_rows, chunk_columns; /* chunk_columns 0: whole rows */
    unsigned char *buffer;
} ty_rows;

/* Checks extents and region and makes the buffer. `info` holds dtype, columns, channels and the
 * rows as stored; its rows and columns become what will be handed out (0 rows: unknown). `options`
 * may be NULL. */
tally_status ty_rows_open(ty_rows *rows, const char *name, int flat,
                          const tally_input_options *options, tally_input_info *info,
                          tally_error *error);
void ty_rows_close(ty_rows *rows);
void ty_rows_rewind(ty_rows *rows);

/* As tally_input_read. */
tally_status ty_rows_read(ty_rows *rows, ty_rows_take take, void *state, tally_view *view,
                          int *done, tally_error *error);

/* Whether `options` ask for a region. */
int ty_rows_has_region(const tally_input_options *options);

/* a × b into *product; nonzero when it does not fit. */
int ty_rows_multiply(uint64_t a, uint64_t b, uint64_t *product);

/* The refusal of a build that has no `library` for `format`. */
tally_status ty_rows_no_library(const ty_stream *stream, const char *format, const char *library,
                                tally_error *error);

/* The name of channel `channel` of an image of 1 to 4: grey | grey, A | R, G, B | R, G, B, A. NULL
 * for any other. */
const char *ty_rows_channel_name(uint64_t channels, uint64_t channel);

/* Turns the bytes of each of `count` samples of `size` bytes round. */
void ty_rows_swap(void *samples, uint64_t count, size_t size);

#endif
