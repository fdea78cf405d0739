/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text read in parts by several threads.
 *
 * Where a part's first record begins is told by whether the quotes before it are even in number.
 * Quotes that belong to a field's text, or are in a comment, make that a guess. So parts are taken
 * in order, each only if it began where the one before stopped, and read again from there if not.
 * A part stops at a record that is no good, which is then read by itself (text.c), or refused.
 */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/text_state.h"

#define PART_BYTES ((size_t)256 << 10)

typedef struct part {
    const char *begin, *end;
    ty_count count;           /* of [begin, end) */
    const char *start, *stop; /* it was read from where to where */
    size_t first, rows;       /* where its samples are */
} part;

struct ty_block {
    ty_reader reader;
    part *parts;
    size_t most; /* there is memory for so many */
    unsigned count;
    size_t rows; /* no more than so many records end in the text */
};

static size_t part_bytes = PART_BYTES;

void ty_block_part_size(size_t bytes)
{
    part_bytes = bytes ? bytes : PART_BYTES;
}

size_t ty_text_part_bytes(void)
{
    return part_bytes;
}

void ty_block_free(ty_block *block)
{
    if (!block)
        return;
    ty_free(block->parts);
    ty_free(block);
}

/* ---- Where records begin ---- */

static void count_part(void *arg, unsigned index, unsigned worker)
{
    ty_block *block = arg;
    part *p = block->parts + index;
    (void)worker;
    p->count = block->reader.loops->count(p->begin, p->end);
}

int ty_ends_line(const char *p)
{
    return *p == '\n' || (*p == '\r' && p[1] != '\n');
}

const char *ty_record_start(const char *p, const char *end, int inside)
{
    if (!inside && ty_ends_line(p - 1))
        return p;
    for (; p < end - 1; p++) {
        if (*p == '"')
            inside = !inside;
        else if (!inside && ty_ends_line(p))
            return p + 1;
    }
    return end;
}

/* Sets what each part starts with and where its samples go, from what was counted. */
static void place_parts(ty_block *block)
{
    uint64_t lines = 0, quotes = 0;
    for (unsigned i = 0; i < block->count; i++) {
        part *p = block->parts + i;
        p->first = 0;
        p->start = p->begin;
        if (i) {
            /* so many lines begin before this part */
            p->first = (size_t)(lines + 1 - (unsigned)ty_ends_line(p->begin - 1));
            p->start = ty_record_start(p->begin, p->end, quotes & 1);
        }
        lines += p->count.lines;
        quotes += p->count.quotes;
        if (p->end < block->reader.end && p->end[-1] == '\r' && *p->end == '\n')
            lines--; /* counted by the next part */
    }
    block->rows = (size_t)lines;
}

/* ---- Reading ---- */

/* Reads the line at *at by itself: 1 if it was a record, 0 if it is passed over, -1 if it is
 * neither, or not whole. *at is moved behind it. */
static int read_line(const ty_reader *r, const char **at, double *samples)
{
    const ty_text_state *s = r->text;
    ty_record record = {s, *at, r->end, 0, r->rounded};
    /* Of views, as far as it is good. */
    double few[TALLY_MAX_DIMENSIONS];
    double *values = s->views <= TALLY_MAX_DIMENSIONS ? few : ty_malloc(s->views * sizeof *values);
    tally_status status;
    if (!values)
        return -1;
    int is_record = !ty_line_is_skipped(s->layout.delimiter, *at, r->end);
    const char *stop =
        is_record ? ty_record_read(&record, values, 1, &status, NULL) : ty_line_end(*at, r->end);
    /* After a CR at the end there may be an LF that is not here yet. */
    if (!stop || stop == r->end || (*stop == '\r' && stop + 1 == r->end))
        is_record = -1;
    else
        *at = ty_line_next(stop, r->end);
    for (uint32_t v = 0; is_record > 0 && v < s->views; v++)
        samples[v * s->stride] = values[v];
    if (values != few)
        ty_free(values);
    return is_record;
}

ty_reader ty_reader_of(ty_text_state *s, const char *end)
{
    return (ty_reader){s, &s->rounded, ty_text_scan_loops_get(), end};
}

size_t ty_records_read(const ty_reader *r, const char **at, const char *stop, double *samples)
{
    const ty_text_state *s = r->text;
    size_t rows = 0;
    while (*at < stop) {
        if (s->scan)
            rows += r->loops->read(s->scan, at, stop, r->end, samples + rows, s->stride);
        if (*at >= stop)
            break;
        int got = read_line(r, at, samples + rows);
        if (got < 0)
            break;
        rows += (unsigned)got;
    }
    return rows;
}

/* Reads the records of `p` that begin at or behind `start`. */
static void read_from(const ty_block *block, part *p, const char *start)
{
    p->start = p->stop = start;
    p->rows =
        ty_records_read(&block->reader, &p->stop, p->end, block->reader.text->samples + p->first);
}

static void read_part(void *arg, unsigned index, unsigned worker)
{
    const ty_block *block = arg;
    (void)worker;
    read_from(block, block->parts + index, block->parts[index].start);
}

void ty_text_move_rows(const ty_text_state *s, size_t to, size_t from, size_t rows)
{
    for (uint32_t v = 0; v < s->views; v++)
        memmove(s->samples + v * s->stride + to, s->samples + v * s->stride + from,
                rows * sizeof *s->samples);
}

/* The parts in order: their records follow each other. Sets what was read of the text. */
static void join_parts(ty_block *block, ty_text_state *s)
{
    const char *at = s->buffer + s->begin;
    size_t rows = 0;
    uint64_t lines = 0;
    for (unsigned i = 0; i < block->count; i++) {
        part *p = block->parts + i;
        if (at < p->end && p->start != at) {
            p->first = rows;
            read_from(block, p, at);
        } else if (at >= p->end) {
            p->rows = 0;
            p->stop = at;
        }
        if (p->rows && p->first != rows)
            ty_text_move_rows(s, rows, p->first, p->rows);
        rows += p->rows;
        at = p->stop;
        if (at < p->end)
            break;
    }
    for (unsigned i = 0; i < block->count && block->parts[i].begin < at; i++) {
        const part *p = block->parts + i;
        const char *end = p->end < at ? p->end : at;
        lines += end == p->end ? p->count.lines : block->reader.loops->count(p->begin, end).lines;
        lines -= end < at && end[-1] == '\r' && *end == '\n';
    }
    s->begin = (size_t)(at - s->buffer);
    s->line += lines;
    s->row += rows;
    s->taken = 0;
    s->ready = rows;
}

/* ---- The whole ---- */

tally_status ty_text_reserve(ty_text_state *s, size_t rows, tally_error *error)
{
    rows += rows == 0;
    const size_t room = rows * s->views;
    s->taken = s->ready = 0;
    s->stride = rows;
    s->samples = NULL;
    tally_status status = s->keep ? ty_keep_room(s->keep, room, &s->samples, error) : TALLY_OK;
    if (status || s->samples)
        return status;
    if (room > s->own_room) {
        ty_free(s->own);
        s->own_room = 0;
        s->own = ty_large(room * sizeof *s->own);
        if (!s->own)
            return ty_error_memory(error, "samples", room * sizeof *s->own);
        s->own_room = room;
    }
    s->samples = s->own;
    return TALLY_OK;
}

static void run(ty_pool *pool, ty_block *block, void (*task)(void *, unsigned, unsigned))
{
    if (pool && block->count > 1)
        ty_pool_run(pool, 0, block->count, task, block);
    else
        for (unsigned i = 0; i < block->count; i++)
            task(block, i, 0);
}

static tally_status make_parts(ty_block *block, const ty_text_state *s, tally_error *error)
{
    size_t size = s->end - s->begin, count = (size + part_bytes - 1) / part_bytes;
    if (count > block->most) {
        part *parts = ty_realloc(block->parts, count * sizeof *parts);
        if (!parts)
            return ty_error_memory(error, "the parts of a text", count * sizeof *parts);
        block->parts = parts;
        block->most = count;
    }
    block->count = (unsigned)count;
    block->reader.end = s->buffer + s->end;
    for (size_t i = 0; i < count; i++) {
        block->parts[i].begin = s->buffer + s->begin + i * part_bytes;
        block->parts[i].end =
            i + 1 < count ? block->parts[i].begin + part_bytes : block->reader.end;
    }
    return TALLY_OK;
}

tally_status ty_block_read(ty_text_state *s, ty_pool *pool, tally_error *error)
{
    if (!s->block) {
        s->block = ty_calloc(1, sizeof *s->block);
        if (!s->block)
            return ty_error_memory(error, "a block of text", sizeof *s->block);
        s->block->reader = ty_reader_of(s, NULL);
    }
    ty_block *block = s->block;
    tally_status status = make_parts(block, s, error);
    if (status)
        return status;
    run(pool, block, count_part);
    place_parts(block);
    status = ty_text_reserve(s, block->rows, error);
    if (status)
        return status;
    run(pool, block, read_part);
    join_parts(block, s);
    return TALLY_OK;
}
