/* SPDX-License-Identifier: Apache-2.0 */
#include "io/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

#define TY_ROWS_CHUNK (UINT64_C(4) << 20)
/* A row that must be decoded whole is never larger, whatever a header says. */
#define TY_ROWS_MOST (UINT64_C(256) << 20)

enum { TY_ROWS_CHANNELS = 65536 };

int ty_rows_multiply(uint64_t a, uint64_t b, uint64_t *product)
{
    *product = a * b;
    return a && *product / a != b;
}

int ty_rows_has_region(const tally_input_options *options)
{
    return options &&
           (options->row_begin || options->row_end || options->column_begin || options->column_end);
}

tally_status ty_rows_no_library(const ty_stream *stream, const char *format, const char *library,
                                tally_error *error)
{
    return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                    "%s: this build has no %s support (%s was not there at build time)",
                    ty_stream_name(stream), format, library);
}

const char *ty_rows_channel_name(uint64_t channels, uint64_t channel)
{
    static const char *const names[4][4] = {
        {"grey"}, {"grey", "A"}, {"R", "G", "B"}, {"R", "G", "B", "A"}};
    return channels >= 1 && channels <= 4 && channel < channels ? names[channels - 1][channel]
                                                                : NULL;
}

/* A loop for each size: a compiler makes vector code of it. */
#define TY_SWAP_LOOP(type, swap)                                                                   \
    for (uint64_t i = 0; i < count; i++, at += sizeof(type)) {                                     \
        type sample;                                                                               \
        memcpy(&sample, at, sizeof sample);                                                        \
        sample = swap(sample);                                                                     \
        memcpy(at, &sample, sizeof sample);                                                        \
    }

void ty_rows_swap(void *samples, uint64_t count, size_t size)
{
    unsigned char *at = samples;
    if (size == 2) {
        TY_SWAP_LOOP(uint16_t, __builtin_bswap16)
    } else if (size == 4) {
        TY_SWAP_LOOP(uint32_t, __builtin_bswap32)
    } else if (size == 8) {
        TY_SWAP_LOOP(uint64_t, __builtin_bswap64)
    }
}

static tally_status refuse_region(const ty_rows *r, const char *what, uint64_t begin, uint64_t end,
                                  uint64_t count, tally_error *error)
{
    char last[24] = "";
    if (count != TY_ROWS_UNKNOWN)
        snprintf(last, sizeof last, "%" PRIu64, count);
    return ty_error(error, TALLY_ERROR_ARGUMENT,
                    "%s: the region of %s %" PRIu64 ":%" PRIu64 " is empty or outside its 0:%s",
                    r->name, what, begin, end, last);
}

static tally_status crop(ty_rows *r, const tally_input_options *options, tally_error *error)
{
    r->row_end = r->rows;
    r->column_end = r->columns;
    if (!ty_rows_has_region(options))
        return TALLY_OK;
    r->row_begin = options->row_begin;
    r->column_begin = options->column_begin;
    if (options->row_end)
        r->row_end = options->row_end;
    if (options->column_end)
        r->column_end = options->column_end;
    if (r->row_begin >= r->row_end || r->row_end > r->rows)
        return refuse_region(r, "rows", r->row_begin, r->row_end, r->rows, error);
    if (r->column_begin >= r->column_end || r->column_end > r->columns)
        return refuse_region(r, "columns", r->column_begin, r->column_end, r->columns, error);
    return TALLY_OK;
}

/* How much a chunk holds, and its buffer: never more than the data can fill. */
static tally_status make_buffer(ty_rows *r, uint64_t chunk, tally_error *error)
{
    uint64_t bytes;
    if (r->row_bytes <= chunk || !r->flat) {
        r->chunk_rows = r->row_bytes && r->row_bytes <= chunk ? chunk / r->row_bytes : 1;
        if (r->chunk_rows > r->row_end - r->row_begin)
            r->chunk_rows = r->row_end - r->row_begin;
        bytes = r->chunk_rows * r->row_bytes;
    } else {
        r->chunk_rows = 1;
        r->chunk_columns = chunk / r->pixel_bytes ? chunk / r->pixel_bytes : 1;
        bytes = r->chunk_columns * r->pixel_bytes;
    }
    r->buffer = bytes <= SIZE_MAX ? ty_aligned(4096, (size_t)bytes) : NULL;
    return r->buffer ? TALLY_OK : ty_error_memory(error, "a chunk of samples", bytes);
}

tally_status ty_rows_open(ty_rows *r, const char *name, int flat,
                          const tally_input_options *options, tally_input_info *info,
                          tally_error *error)
{
    memset(r, 0, sizeof *r);
    r->name = name;
    r->dtype = info->dtype;
    r->rows = info->rows;
    r->columns = info->columns;
    r->channels = info->channels;
    r->flat = flat;
    uint64_t total;
    if (ty_rows_multiply(r->channels, tally_dtype_bytes(r->dtype), &r->pixel_bytes) ||
        ty_rows_multiply(r->pixel_bytes, r->columns, &r->row_bytes) ||
        (r->rows != TY_ROWS_UNKNOWN && ty_rows_multiply(r->row_bytes, r->rows, &total)))
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: its %" PRIu64 " rows of %" PRIu64 " columns and %" PRIu64
                        " channels are more bytes than 64 bits count",
                        name, r->rows, r->columns, r->channels);
    /* An element is never split. */
    if (r->channels > TY_ROWS_CHANNELS)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: %" PRIu64 " channels; at most %d are read", name, r->channels,
                        TY_ROWS_CHANNELS);
    uint64_t chunk = options && options->chunk_bytes ? options->chunk_bytes : TY_ROWS_CHUNK;
    if (!flat && r->row_bytes > TY_ROWS_MOST)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: a row of %" PRIu64 " bytes; images are read up to %" PRIu64
                        " bytes a row",
                        name, r->row_bytes, TY_ROWS_MOST);
    tally_status status = crop(r, options, error);
    if (!status)
        status = make_buffer(r, chunk, error);
    if (status)
        return status;
    info->columns = r->column_end - r->column_begin;
    info->rows = r->row_end == TY_ROWS_UNKNOWN ? 0 : r->row_end - r->row_begin;
    return TALLY_OK;
}

void ty_rows_close(ty_rows *rows)
{
    ty_free(rows->buffer);
    rows->buffer = NULL;
}

void ty_rows_rewind(ty_rows *rows)
{
    rows->row = rows->column = 0;
}

static tally_status too_short(const ty_rows *r, uint64_t got, tally_error *error)
{
    uint64_t have = r->row * r->row_bytes + r->column * r->pixel_bytes + got;
    if (r->rows == TY_ROWS_UNKNOWN)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: rows %" PRIu64 ":%" PRIu64 " are asked for, but it has %" PRIu64,
                        r->name, r->row_begin, r->row_end, have / r->row_bytes);
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: the samples end after %" PRIu64 " of %" PRIu64 " bytes (row %" PRIu64
                    " of %" PRIu64 ")",
                    r->name, have, r->rows * r->row_bytes, have / r->row_bytes, r->rows);
}

/* Takes `bytes`; *ended is set when there are fewer and that is fine. */
static tally_status take_bytes(ty_rows *r, ty_rows_take take, void *state, unsigned char *into,
                               uint64_t bytes, uint64_t *got, int *ended, tally_error *error)
{
    *ended = 0;
    *got = 0;
    if (!bytes)
        return TALLY_OK;
    tally_status status = take(state, into, bytes, got, error);
    if (status || *got == bytes)
        return status;
    *ended = 1;
    /* Rows before the region must be there; how many follow may be what the end tells. */
    int open_end = r->rows == TY_ROWS_UNKNOWN && r->row_end == TY_ROWS_UNKNOWN;
    return open_end && r->row >= r->row_begin ? TALLY_OK : too_short(r, *got, error);
}

static void fill_view(const ty_rows *r, uint64_t rows, uint64_t columns, uint64_t first,
                      tally_view *view)
{
    tally_view out = TALLY_VIEW_INIT;
    out.data = r->buffer + first * r->pixel_bytes;
    out.dtype = r->dtype;
    out.device = TALLY_DEVICE_CPU;
    out.rows = rows;
    out.columns = columns;
    out.channels = r->channels;
    if (r->flat && r->columns == 1) {
        out.rows = 1;
        out.columns = rows;
    } else if (columns != r->columns && rows > 1) {
        out.row_stride_bytes = (int64_t)r->row_bytes;
    }
    *view = out;
}

static tally_status read_rows(ty_rows *r, ty_rows_take take, void *state, tally_view *view,
                              int *done, tally_error *error)
{
    uint64_t count = r->row_end - r->row, got;
    if (count > r->chunk_rows)
        count = r->chunk_rows;
    tally_status status =
        take_bytes(r, take, state, r->buffer, count * r->row_bytes, &got, done, error);
    if (status)
        return status;
    count = got / r->row_bytes;
    r->row += count;
    *done = count == 0;
    if (count)
        fill_view(r, count, r->column_end - r->column_begin, r->column_begin, view);
    return TALLY_OK;
}

/* One row longer than a chunk: a piece of it. */
static tally_status read_piece(ty_rows *r, ty_rows_take take, void *state, tally_view *view,
                               int *done, tally_error *error)
{
    uint64_t got;
    tally_status status;
    if (r->column < r->column_begin) {
        status =
            take_bytes(r, take, state, NULL, r->column_begin * r->pixel_bytes, &got, done, error);
        if (status || *done)
            return status;
        r->column = r->column_begin;
    }
    uint64_t count = r->column_end - r->column;
    if (count > r->chunk_columns)
        count = r->chunk_columns;
    status = take_bytes(r, take, state, r->buffer, count * r->pixel_bytes, &got, done, error);
    if (status || *done)
        return status;
    r->column += count;
    fill_view(r, 1, count, 0, view);
    return TALLY_OK;
}

/* Brings the source to where the next samples of the region begin. */
static tally_status pass_over(ty_rows *r, ty_rows_take take, void *state, tally_error *error)
{
    uint64_t got;
    int ended;
    if (r->row < r->row_begin) {
        uint64_t bytes;
        if (ty_rows_multiply(r->row_begin, r->row_bytes, &bytes))
            bytes = UINT64_MAX / r->row_bytes * r->row_bytes;
        tally_status status = take_bytes(r, take, state, NULL, bytes, &got, &ended, error);
        if (status)
            return status;
        r->row = r->row_begin;
    }
    if (r->chunk_columns && r->column == r->column_end) {
        uint64_t rest = (r->columns - r->column_end) * r->pixel_bytes;
        /* The last row is passed to its end too: what is wrong there is found whatever the chunk.
         */
        tally_status status = take_bytes(r, take, state, NULL, rest, &got, &ended, error);
        if (status)
            return status;
        r->row++;
        r->column = 0;
    }
    return TALLY_OK;
}

tally_status ty_rows_read(ty_rows *r, ty_rows_take take, void *state, tally_view *view, int *done,
                          tally_error *error)
{
    *done = 1;
    if (!r->row_bytes || r->row >= r->row_end)
        return TALLY_OK;
    tally_status status = pass_over(r, take, state, error);
    if (status || r->row >= r->row_end)
        return status;
    *done = 0;
    return r->chunk_columns ? read_piece(r, take, state, view, done, error)
                            : read_rows(r, take, state, view, done, error);
}
