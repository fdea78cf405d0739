/* SPDX-License-Identifier: Apache-2.0 */
/* Samples without a header: dtype, shape, offset and byte order come from the caller. */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/input.h"
#include "io/rows.h"
#include "io/stored.h"

typedef struct ty_raw_state {
    ty_stream *stream;
    uint64_t offset;
    ty_rows rows;
    size_t swap;  /* sample size when bytes must be turned round, else 0 */
    int at_start; /* the offset is still to be passed over */
} ty_raw_state;

static tally_status pass_offset(ty_raw_state *s, tally_error *error)
{
    uint64_t skipped;
    s->at_start = 0;
    tally_status status = ty_stream_skip(s->stream, s->offset, &skipped, error);
    if (status || skipped == s->offset)
        return status;
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: the samples begin at byte %" PRIu64 ", but it has %" PRIu64 " bytes",
                    ty_stream_name(s->stream), s->offset, skipped);
}

static tally_status left_over(const ty_raw_state *s, uint64_t total, tally_error *error)
{
    const ty_rows *r = &s->rows;
    if (r->columns == 1 && r->channels == 1)
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: %" PRIu64 " bytes after the offset are not whole %s samples: %" PRIu64
                        " of %" PRIu64 " bytes are left over",
                        ty_stream_name(s->stream), total, tally_dtype_name(r->dtype),
                        total % r->row_bytes, r->row_bytes);
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: %" PRIu64 " bytes after the offset are not whole rows of %" PRIu64
                    " columns and %" PRIu64 " channels of %s: %" PRIu64 " of %" PRIu64
                    " bytes are left over",
                    ty_stream_name(s->stream), total, r->columns, r->channels,
                    tally_dtype_name(r->dtype), total % r->row_bytes, r->row_bytes);
}

static tally_status too_long(const ty_raw_state *s, tally_error *error)
{
    const ty_rows *r = &s->rows;
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: more data follow the %" PRIu64 " bytes of %" PRIu64 " rows, %" PRIu64
                    " columns and %" PRIu64 " channels of %s; give 0 rows to read to the end",
                    ty_stream_name(s->stream), r->rows * r->row_bytes, r->rows, r->columns,
                    r->channels, tally_dtype_name(r->dtype));
}

static tally_status take(void *state, unsigned char *into, uint64_t bytes, uint64_t *got,
                         tally_error *error)
{
    ty_raw_state *s = state;
    tally_status status = s->at_start ? pass_offset(s, error) : TALLY_OK;
    if (status)
        return status;
    if (into) {
        size_t have = 0;
        status = ty_stream_read(s->stream, into, (size_t)bytes, &have, error);
        *got = have;
        if (s->swap)
            ty_rows_swap(into, have / s->swap, s->swap);
    } else {
        status = ty_stream_skip(s->stream, bytes, got, error);
    }
    if (status)
        return status;
    uint64_t total = ty_stream_offset(s->stream) - s->offset;
    if (*got < bytes && s->rows.rows == TY_ROWS_UNKNOWN) {
        if (!total)
            return ty_error(error, TALLY_ERROR_FORMAT, "%s: empty: no sample is there",
                            ty_stream_name(s->stream));
        if (total % s->rows.row_bytes)
            return left_over(s, total, error);
    }
    if (s->rows.rows != TY_ROWS_UNKNOWN && total == s->rows.rows * s->rows.row_bytes) {
        const unsigned char *more;
        size_t have;
        status = ty_stream_peek(s->stream, &more, 1, &have, error);
        if (!status && have)
            return too_long(s, error);
    }
    return status;
}

/* The number of rows when the file tells its size, checked against the shape. */
static tally_status check_size(ty_raw_state *s, uint64_t size, tally_error *error)
{
    ty_rows *r = &s->rows;
    if (size < s->offset)
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: the samples begin at byte %" PRIu64 ", but it has %" PRIu64 " bytes",
                        ty_stream_name(s->stream), s->offset, size);
    uint64_t total = size - s->offset;
    if (!total)
        return ty_error(error, TALLY_ERROR_FORMAT, "%s: empty: no sample is there",
                        ty_stream_name(s->stream));
    if (r->rows == TY_ROWS_UNKNOWN) {
        if (total % r->row_bytes)
            return left_over(s, total, error);
        r->rows = total / r->row_bytes;
        return TALLY_OK;
    }
    uint64_t want = r->rows * r->row_bytes;
    if (total < want)
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: the shape takes %" PRIu64 " bytes, but %" PRIu64
                        " follow the offset of %" PRIu64,
                        ty_stream_name(s->stream), want, total, s->offset);
    return total > want ? too_long(s, error) : TALLY_OK;
}

static tally_status set_shape(ty_raw_state *s, const tally_input_options *options,
                              tally_input_info *info, tally_error *error)
{
    ty_rows *r = &s->rows;
    r->dtype = options->dtype;
    r->rows = options->shape[0] ? options->shape[0] : TY_ROWS_UNKNOWN;
    r->columns = options->shape[1] ? options->shape[1] : 1;
    r->channels = options->shape[2] ? options->shape[2] : 1;
    uint64_t bytes;
    if (ty_rows_multiply(r->columns, r->channels, &bytes) ||
        ty_rows_multiply(bytes, tally_dtype_bytes(r->dtype), &r->row_bytes) ||
        (options->shape[0] && ty_rows_multiply(r->rows, r->row_bytes, &bytes)) ||
        (options->shape[0] && bytes + s->offset < bytes))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the shape %" PRIu64 ",%" PRIu64 ",%" PRIu64
                        " is more bytes than 64 bits count",
                        options->shape[0], options->shape[1], options->shape[2]);
    uint64_t size = ty_stream_compression(s->stream)[0] ? 0 : ty_stream_size(s->stream);
    tally_status status = size ? check_size(s, size, error) : TALLY_OK;
    info->dtype = r->dtype;
    info->rows = r->rows;
    info->columns = r->columns;
    info->channels = r->channels;
    info->dimensions = 1;
    return status;
}

static void raw_close(void *state)
{
    ty_raw_state *s = state;
    if (s)
        ty_rows_close(&s->rows);
    ty_free(s);
}

static tally_status raw_open(ty_stream *stream, const tally_input_options *options, void **state,
                             tally_input_info *info, tally_error *error)
{
    if (!options || !tally_dtype_bytes(options->dtype))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s: raw data need a dtype",
                        ty_stream_name(stream));
    ty_raw_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "an input", sizeof *s);
    s->stream = stream;
    s->offset = options->offset_bytes;
    s->at_start = 1;
    const int host = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1 : -1;
    if (options->byte_order && options->byte_order != host)
        s->swap = tally_dtype_bytes(options->dtype);
    tally_status status = set_shape(s, options, info, error);
    if (!status)
        status = ty_rows_open(&s->rows, ty_stream_name(stream), 1, options, info, error);
    if (status)
        raw_close(s);
    else
        *state = s;
    return status;
}

static tally_status raw_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_raw_state *s = state;
    return ty_rows_read(&s->rows, take, s, views, done, error);
}

static tally_status raw_rewind(void *state, tally_error *error)
{
    ty_raw_state *s = state;
    (void)error;
    s->at_start = 1;
    ty_rows_rewind(&s->rows);
    return TALLY_OK;
}

static int raw_stored(const void *state, ty_stored *stored)
{
    const ty_raw_state *s = state;
    ty_stored_make(stored, s->stream, &s->rows);
    stored->start = s->offset;
    stored->swap = s->swap;
    return s->rows.rows != TY_ROWS_UNKNOWN;
}

const ty_decoder ty_raw = {
    .format = "raw",
    .open = raw_open,
    .read = raw_read,
    .rewind = raw_rewind,
    .close = raw_close,
    .stored = raw_stored,
};
