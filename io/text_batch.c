/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of a file: each thread reads parts of the file and the records that begin in them. It waits
 * for no other one, but to learn whether the quotes before its part are even in number.
 *
 * Whatever is unusual ends a batch: a part that could not be read, or that does not begin where the
 * one before stopped, more lines than were expected, a record that is no good or goes on for more
 * than MARGIN bytes behind its part. The parts before are good. The text behind them is read as
 * that of a pipe (text_block.c), as is the file's end, which knows what to do then, or to say. Each
 * time that this happens again, more is read so before the next batch.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/text_state.h"

/* Tests have smaller ones. */
#ifndef MARGIN
#define MARGIN ((size_t)16 << 10)
#endif

enum { PARTS_LEAST = 4, PARTS_OF_THREAD = 24, PARTS_MOST = 128, SPINS = 100 };

/* Bytes of the file, from the batch's first one. */
typedef struct batch_part {
    size_t start, stop; /* it was read from where to where */
    size_t first, rows; /* where its samples are */
    uint64_t lines;     /* ends of lines in the part, */
    uint64_t behind;    /* and in its last record behind it */
} batch_part;

struct ty_batch {
    ty_text_state *text;
    size_t part_bytes;
    uint64_t begin; /* in the file, a multiple of part_bytes */
    size_t skip;    /* the first record is so many bytes behind it */
    batch_part parts[PARTS_MOST];
    unsigned most;      /* of them in a batch */
    char *buffers;      /* one a thread, each of */
    size_t text_bytes;  /* of a part, MARGIN and TY_SCAN_SLACK at both ends */
    unsigned cut, wait; /* so many blocks came since the last batch, which was cut short; are to
                           come before the next */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    unsigned turn;          /* the part that may learn what is before it: */
    uint64_t lines, quotes; /* in the parts before `turn` */
    unsigned good;          /* no part from this one on is */
};

static void spoil(ty_batch *b, unsigned index)
{
    if (index < b->good)
        b->good = index;
}

/* When all parts before it have done the same: says whether the part begins inside quotes, and
 * where its samples go. Nonzero: there is room for them, and no part before is known to be no good.
 */
static int take_turn(ty_batch *b, unsigned index, ty_count count, int at_line, int *inside)
{
    batch_part *p = b->parts + index;
    /* they mostly have soon: sleeping would take longer */
    for (int i = 0; i < SPINS && __atomic_load_n(&b->turn, __ATOMIC_RELAXED) != index; i++)
        sched_yield();
    pthread_mutex_lock(&b->lock);
    while (b->turn != index)
        pthread_cond_wait(&b->changed, &b->lock);
    *inside = (int)(b->quotes & 1);
    /* so many lines begin before this part */
    p->first = index ? (size_t)b->lines + !at_line : 0;
    p->lines = count.lines;
    b->lines += count.lines;
    b->quotes += count.quotes;
    if (b->lines >= b->text->stride)
        spoil(b, index);
    const int is_good = index < b->good;
    __atomic_store_n(&b->turn, index + 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return is_good;
}

/* Reads the records of a part, which is in [begin, end), with MARGIN bytes behind it; nonzero: all
 * of them. */
static int read_records(const ty_batch *b, batch_part *p, const ty_reader *r, const char *begin,
                        const char *end, const char *start)
{
    const size_t offset = (size_t)(p - b->parts) * b->part_bytes;
    const char *at = start;
    p->rows = ty_records_read(r, &at, end, b->text->samples + p->first);
    p->start = offset + (size_t)(start - begin);
    p->stop = offset + (size_t)(at - begin);
    p->behind = at > end ? r->loops->count(end, at).lines : 0;
    return at >= end;
}

/* Brings a part and what is around it; nonzero: it is there. A line ends before the file. */
static int fetch_part(const ty_batch *b, unsigned index, char *text)
{
    const uint64_t at = b->begin + index * b->part_bytes;
    const size_t before = at < TY_SCAN_SLACK ? (size_t)at : TY_SCAN_SLACK,
                 none = TY_SCAN_SLACK - before;
    memset(text, '\n', none);
    return !ty_stream_read_at(b->text->stream, at - before, text + none, b->text_bytes - none,
                              NULL);
}

static void read_part(void *arg, unsigned index, unsigned worker)
{
    ty_batch *b = arg;
    char *text = b->buffers + worker * b->text_bytes;
    const char *begin = text + TY_SCAN_SLACK, *end = begin + b->part_bytes;
    const char *start = begin + (index ? 0 : b->skip);
    const ty_reader reader = ty_reader_of(b->text, end + MARGIN);
    ty_count count = {0, 0};
    int inside, at_line = 0;
    const int is_there = fetch_part(b, index, text);
    if (is_there) {
        count = reader.loops->count(start, end);
        count.lines -= end[-1] == '\r' && *end == '\n'; /* the next part counts it */
        at_line = ty_ends_line(begin - 1);
    }
    int is_good = take_turn(b, index, count, at_line, &inside) && is_there;
    if (is_good && index)
        start = ty_record_start(begin, end, inside);
    if (is_good)
        is_good = read_records(b, b->parts + index, &reader, begin, end, start);
    if (!is_good) {
        pthread_mutex_lock(&b->lock);
        spoil(b, index);
        pthread_mutex_unlock(&b->lock);
    }
}

/* The good parts, in order: their records follow each other. Returns where they stop. */
static size_t join_parts(ty_batch *b, ty_text_state *s)
{
    size_t at = b->skip, rows = 0;
    uint64_t behind = 0;
    for (unsigned i = 0; i < b->good && b->parts[i].start == at; i++) {
        const batch_part *p = b->parts + i;
        if (p->rows && p->first != rows)
            ty_text_move_rows(s, rows, p->first, p->rows);
        rows += p->rows;
        s->line += p->lines;
        behind = p->behind;
        at = p->stop;
    }
    s->line += behind;
    s->row += rows;
    s->ready = rows;
    return at;
}

/* What is read next of the file is at `at`, which is not before what is at hand. */
static tally_status go_on(ty_text_state *s, uint64_t at, tally_error *error)
{
    const uint64_t offset = ty_stream_offset(s->stream);
    uint64_t skipped;
    s->begin = at < offset ? s->end - (size_t)(offset - at) : s->end;
    return at > offset ? ty_stream_skip(s->stream, at - offset, &skipped, error) : TALLY_OK;
}

/* ---- The whole ---- */

static tally_status create(ty_text_state *s, tally_error *error)
{
    const unsigned threads = ty_pool_threads(ty_stream_pool(s->stream));
    const size_t part = ty_text_part_bytes(), each = part + MARGIN + 2 * TY_SCAN_SLACK;
    ty_batch *b = ty_calloc(1, sizeof *b);
    if (!b || !(b->buffers = ty_aligned(TY_SCAN_SLACK, threads * each))) {
        ty_free(b);
        return ty_error_memory(error, "parts of a text", threads * each);
    }
    b->text = s;
    b->part_bytes = part;
    b->text_bytes = each;
    b->most = threads < PARTS_MOST / PARTS_OF_THREAD ? threads * PARTS_OF_THREAD : PARTS_MOST;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    s->batch = b;
    return TALLY_OK;
}

void ty_batch_free(ty_batch *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->changed);
    ty_free(b->buffers);
    ty_free(b);
}

/* How many parts are read next; 0: none. */
static unsigned count_parts(ty_batch *b)
{
    const uint64_t size = ty_stream_size(b->text->stream);
    const uint64_t behind = b->begin + MARGIN + TY_SCAN_SLACK;
    const uint64_t all = size > behind ? (size - behind) / b->part_bytes : 0;
    if (b->wait) {
        b->wait--;
        return 0;
    }
    if (all < PARTS_LEAST)
        return 0;
    return all < b->most ? (unsigned)all : b->most;
}

/* A little more lines than are expected in so many bytes, by those before and at hand. */
static size_t expect_lines(const ty_text_state *s, size_t bytes)
{
    const char *at_hand = s->buffer + s->begin, *end = s->buffer + s->end;
    const uint64_t lines = s->line + ty_text_scan_loops_get()->count(at_hand, end).lines;
    return (size_t)(1.125 * (double)bytes / (double)ty_stream_offset(s->stream) * (double)lines) +
           16;
}

tally_status ty_batch_read(ty_text_state *s, tally_error *error)
{
    uint64_t start;
    ty_pool *pool = ty_stream_pool(s->stream);
    if (!pool || ty_pool_threads(pool) == 1 || s->ended || s->after_cr ||
        ty_stream_file(s->stream, &start) < 0)
        return TALLY_OK;
    tally_status status = s->batch ? TALLY_OK : create(s, error);
    if (status)
        return status;
    ty_batch *b = s->batch;
    const uint64_t begin = ty_stream_offset(s->stream) - (s->end - s->begin);
    b->skip = begin % b->part_bytes;
    b->begin = begin - b->skip;
    b->turn = 0;
    b->lines = b->quotes = 0;
    const unsigned count = b->good = count_parts(b);
    const size_t bytes = count * b->part_bytes;
    if (count)
        status = ty_text_reserve(s, expect_lines(s, bytes), error);
    if (status || !count)
        return status;
    ty_pool_run(pool, 0, count, read_part, b);
    const size_t done = join_parts(b, s);
    b->cut = done < bytes ? 2 * b->cut + 1 : 0;
    b->wait = b->cut;
    return go_on(s, b->begin + done, error);
}
