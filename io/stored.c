/* SPDX-License-Identifier: Apache-2.0 */
#include "io/stored.h"

#include <inttypes.h>

#include "core/error.h"

/* `bytes` bytes of the samples as stored, from byte `from` of them on. */
static tally_status read_bytes(const ty_stored *s, uint64_t from, uint64_t bytes, unsigned char *to,
                               tally_error *error)
{
    tally_status status = TALLY_OK;
    for (uint64_t n; bytes && !status; from += n, to += n, bytes -= n) {
        uint64_t at = s->start + from;
        n = bytes;
        if (s->find)
            status = s->find(s->state, from, &at, &n, error);
        n = n < bytes ? n : bytes;
        if (!status)
            status = ty_stream_read_at(s->stream, at, to, (size_t)n, error);
    }
    return status;
}

static tally_status read_source(void *user, uint64_t begin, uint64_t count, void *to,
                                tally_error *error)
{
    const ty_stored *s = user;
    const ty_rows *r = s->rows;
    const uint64_t columns = r->column_end - r->column_begin, all = count;
    const uint64_t first = (r->row_begin + begin / columns) * r->row_bytes;
    unsigned char *into = to;
    tally_status status = TALLY_OK;
    for (uint64_t n; count && !status; begin += n, count -= n, into += n * r->pixel_bytes) {
        const uint64_t row = r->row_begin + begin / columns, column = begin % columns;
        n = columns == r->columns || count < columns - column ? count : columns - column;
        status = read_bytes(s, row * r->row_bytes + (r->column_begin + column) * r->pixel_bytes,
                            n * r->pixel_bytes, into, error);
    }
    if (!status && s->swap)
        ty_rows_swap(to, all * r->channels, s->swap);
    if (!status && s->check)
        status = s->check(s->state, to, all * r->channels, s->start + first, error);
    return status;
}

/* What lies in the file in one run, as it is handed out. What is wrong with it is found, and said,
 * where it is read. */
static const void *lend_source(void *user, uint64_t begin, uint64_t count)
{
    const ty_stored *s = user;
    const ty_rows *r = s->rows;
    const uint64_t columns = r->column_end - r->column_begin, column = begin % columns;
    const uint64_t row = r->row_begin + begin / columns, bytes = count * r->pixel_bytes;
    const uint64_t from = row * r->row_bytes + (r->column_begin + column) * r->pixel_bytes;
    uint64_t at = s->start + from, length = bytes;
    tally_error error;
    if (s->swap || (columns != r->columns && count > columns - column) ||
        (s->find && (s->find(s->state, from, &at, &length, &error) || length < bytes)))
        return NULL;
    const void *lent = ty_stream_lend(s->stream, at, (size_t)bytes);
    if (lent && s->check && s->check(s->state, lent, count * r->channels, at, &error)) {
        ty_stream_give_back(s->stream, lent, (size_t)bytes);
        return NULL;
    }
    return lent;
}

static void give_back_source(void *user, const void *lent, uint64_t begin, uint64_t count)
{
    const ty_stored *s = user;
    (void)begin;
    ty_stream_give_back(s->stream, lent, (size_t)(count * s->rows->pixel_bytes));
}

void ty_stored_make(ty_stored *s, const ty_stream *stream, const ty_rows *rows)
{
    *s = (ty_stored){.source = TALLY_SOURCE_INIT, .stream = stream, .rows = rows};
    s->source.read = read_source;
    s->source.lend = lend_source;
    s->source.give_back = give_back_source;
    s->source.user = s;
}

void ty_stored_view(const ty_stored *s, tally_view *view)
{
    const ty_rows *r = s->rows;
    tally_view out = TALLY_VIEW_INIT;
    out.source = &s->source;
    out.dtype = r->dtype;
    out.device = TALLY_DEVICE_CPU;
    out.rows = r->row_end - r->row_begin;
    out.columns = r->column_end - r->column_begin;
    out.channels = r->channels;
    if (r->flat && r->columns == 1) {
        out.columns = out.rows;
        out.rows = 1;
    }
    *view = out;
}
