/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu-bytes: one-byte samples on any axis. The 256 values are counted and find their slots when a
 * worker's counts are flushed. Whole runs go to the engine of cpu/bytes.h as they lie; interleaved
 * channels, masks and strides are brought together in small buffers first.
 */
#include <string.h>

#include "core/error.h"
#include "cpu/bytes.h"
#include "cpu/cpu.h"
#include "cpu/pack.h"
#include "plan/cost.h"
#include "plan/registry.h"

enum {
    VALUES = 256,
    BUFFER = 4096,   /* elements gathered at a time */
    SHORT_ROW = 256, /* packed rows below this are gathered too */
    STREAMS = 4,     /* most channels that have an engine's state each */
    LONG = 16 << 10, /* elements taken apart at a time: enough to fetch the engine's state for */
    PIXEL = 8,       /* channels counted side by side: their counts stay in the first cache */
};

/* How a job's samples reach the engine. */
typedef enum {
    PACKED,  /* one run a channel: as it lies */
    ROWS,    /* packed rows: as they lie, one after the other */
    SPLIT,   /* 2 to 4 interleaved channels: taken apart together */
    PIXELS,  /* more of them: a plain table each, as repeats in a channel are that far apart */
    GATHERED /* anything else, a channel at a time */
} order;

static order choose_order(const ty_job *job)
{
    const ty_grid *g = &job->samples[0];
    if (job->mask.data)
        return GATHERED;
    if (g->column_stride == 1 && g->rows == 1)
        return PACKED;
    if (g->column_stride == 1 && g->columns >= SHORT_ROW)
        return ROWS;
    if (g->channels >= 2 && g->channels <= STREAMS && g->channel_stride == 1 &&
        g->column_stride == (int64_t)g->channels && (g->rows == 1 || g->columns >= SHORT_ROW))
        return SPLIT;
    if (job->plan->active_count > STREAMS && g->channel_stride == 1)
        return PIXELS;
    return GATHERED;
}

static uint64_t streams(const ty_job *job)
{
    uint64_t channels = job->plan->active_count;
    return choose_order(job) == PACKED || channels > STREAMS ? 0 : channels;
}

/*
 * A state: for each active channel its counts and how many samples are masked (first channel only);
 * then whether each of the engine's states has begun, those states, if there are few enough
 * channels, and room to take channels apart.
 */
typedef struct {
    uint64_t (*counts)[VALUES];
    uint64_t *masked, *begun;
    unsigned char *engines;
    size_t engine_bytes;
} parts;

static size_t round64(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static size_t head_bytes(const ty_job *job)
{
    return (size_t)job->plan->active_count * VALUES * sizeof(uint64_t) +
           round64((1 + STREAMS) * sizeof(uint64_t));
}

static size_t state_bytes(const ty_job *job)
{
    const ty_bytes_stream *stream = ty_bytes_choose(ty_cpu_features())->stream;
    size_t buffers = choose_order(job) == SPLIT ? (size_t)STREAMS * LONG : 0;
    return head_bytes(job) + (size_t)streams(job) * round64(stream->state_bytes) + buffers;
}

static parts parts_of(void *state, const ty_job *job)
{
    parts p;
    p.counts = state;
    p.masked = (uint64_t *)state + job->plan->active_count * VALUES;
    p.begun = p.masked + 1;
    p.engines = (unsigned char *)state + head_bytes(job);
    p.engine_bytes = round64(ty_bytes_choose(ty_cpu_features())->stream->state_bytes);
    return p;
}

/* Counts n bytes of the a-th active channel. */
static void count_bytes(const parts *p, const ty_job *job, uint64_t a, const uint8_t *bytes,
                        size_t n)
{
    const ty_bytes_variant *engine = ty_bytes_choose(ty_cpu_features());
    if (!streams(job)) {
        engine->fn(bytes, n, p->counts[a]);
        return;
    }
    ty_bytes_state *s = (ty_bytes_state *)(void *)(p->engines + a * p->engine_bytes);
    if (!p->begun[a])
        engine->stream->begin(s);
    p->begun[a] = 1;
    engine->stream->add(s, bytes, n);
}

/* Elements from `begin` that lie in one row, at most `end - begin`. */
static uint64_t in_row(const ty_grid *g, uint64_t begin, uint64_t end)
{
    uint64_t left = g->columns - begin % g->columns;
    return end - begin < left ? end - begin : left;
}

static void count_rows(const parts *p, const ty_job *job, uint64_t batch, uint64_t a,
                       uint64_t begin, uint64_t end)
{
    const ty_grid *g = &job->samples[0];
    while (begin < end) {
        uint64_t n = in_row(g, begin, end);
        count_bytes(p, job, a, ty_grid_at(g, batch, begin, job->plan->active[a]), (size_t)n);
        begin += n;
    }
}

static void count_split(const parts *p, const ty_job *job, uint64_t batch, uint64_t begin,
                        uint64_t end)
{
    const ty_pack_loops *pack = ty_pack_loops_get();
    const ty_grid *g = &job->samples[0];
    uint8_t *to[STREAMS];
    for (unsigned c = 0; c < STREAMS; c++)
        to[c] = p->engines + streams(job) * p->engine_bytes + (size_t)c * LONG;
    while (begin < end) {
        uint64_t n = in_row(g, begin, end);
        n = n < LONG ? n : LONG;
        const uint8_t *from = ty_grid_at(g, batch, begin, 0);
        if (g->channels == 2)
            pack->split2(from, (size_t)n, to[0], to[1]);
        else if (g->channels == 3)
            pack->split3(from, (size_t)n, to[0], to[1], to[2]);
        else
            pack->split4(from, (size_t)n, to[0], to[1], to[2], to[3]);
        for (uint64_t a = 0; a < job->plan->active_count; a++)
            count_bytes(p, job, a, to[job->plan->active[a]], (size_t)n);
        begin += n;
    }
}

static void count_gathered(const parts *p, const ty_job *job, uint64_t batch, uint64_t a,
                           uint64_t begin, uint64_t end)
{
    const ty_pack_loops *pack = ty_pack_loops_get();
    uint8_t samples[BUFFER], mask[BUFFER], kept[BUFFER + 64];
    while (begin < end) {
        size_t n = end - begin < BUFFER ? (size_t)(end - begin) : BUFFER, left = n;
        const uint8_t *from =
            ty_grid_block(&job->samples[0], batch, job->plan->active[a], begin, n, samples);
        if (job->mask.data) {
            left = pack->keep(from, ty_grid_block(&job->mask, batch, 0, begin, n, mask), n, kept);
            from = kept;
            *p->masked += a ? 0 : n - left;
        }
        count_bytes(p, job, a, from, left);
        begin += n;
    }
}

/* n pixels, k (a constant) of whose bytes are counted, those at the offsets. */
static inline __attribute__((always_inline)) void add_pixels(uint64_t (*counts)[VALUES],
                                                             const uint8_t *from, uint64_t n,
                                                             int64_t stride,
                                                             const uint64_t *offsets, unsigned k)
{
    uint64_t at[PIXEL];
    for (unsigned c = 0; c < k; c++)
        at[c] = offsets[c];
    for (; n; n--, from += stride) {
        for (unsigned c = 0; c < k; c++)
            counts[c][from[at[c]]]++;
    }
}

/* At most PIXEL channels, from the a-th active one on. */
static void count_pixels(const parts *p, const ty_job *job, uint64_t batch, uint64_t a,
                         uint64_t begin, uint64_t end)
{
    const ty_grid *g = &job->samples[0];
    const uint64_t *offsets = job->plan->active + a, left = job->plan->active_count - a;
    while (begin < end) {
        const uint64_t n = in_row(g, begin, end);
        const uint8_t *from = ty_grid_at(g, batch, begin, 0);
#define ADD(k) add_pixels(p->counts + a, from, n, g->column_stride, offsets, k)
        switch (left < PIXEL ? left : PIXEL) {
        case 5:
            ADD(5);
            break;
        case 6:
            ADD(6);
            break;
        case 7:
            ADD(7);
            break;
        case 8:
            ADD(8);
            break;
        default:
            for (uint64_t c = 0; c < left; c++)
                add_pixels(p->counts + a + c, from, n, g->column_stride, offsets + c, 1);
        }
#undef ADD
        begin += n;
    }
}

static void count(void *state, const ty_job *job, uint64_t batch, uint64_t begin, uint64_t end)
{
    const parts p = parts_of(state, job);
    const order w = choose_order(job);
    if (w == SPLIT) {
        count_split(&p, job, batch, begin, end);
        return;
    }
    /* Channels that lie among each other are counted stripe by stripe, from a cache. */
    const int among = job->plan->active_count > 1 && (w == GATHERED || w == PIXELS);
    const uint64_t stripe = among ? 4 * BUFFER : UINT64_MAX, step = w == PIXELS ? PIXEL : 1;
    while (begin < end) {
        uint64_t n = end - begin < stripe ? end - begin : stripe;
        for (uint64_t a = 0; a < job->plan->active_count; a += step) {
            if (w == PIXELS)
                count_pixels(&p, job, batch, a, begin, begin + n);
            else if (w == GATHERED)
                count_gathered(&p, job, batch, a, begin, begin + n);
            else
                count_rows(&p, job, batch, a, begin, begin + n);
        }
        begin += n;
    }
}

static void flush(void *state, ty_job *job, uint64_t batch)
{
    const ty_bytes_stream *stream = ty_bytes_choose(ty_cpu_features())->stream;
    const tally_plan *plan = job->plan;
    const uint32_t *slots = plan->axes[0].byte_slots;
    const parts p = parts_of(state, job);
    for (uint64_t a = 0; a < streams(job); a++) {
        if (p.begun[a])
            stream->end((ty_bytes_state *)(void *)(p.engines + a * p.engine_bytes), p.counts[a]);
        p.begun[a] = 0;
    }
    for (uint64_t a = 0; a < plan->active_count; a++) {
        uint64_t *to = ty_totals_of(job, batch, a);
        for (int v = 0; v < VALUES; v++)
            to[slots[v]] += p.counts[a][v];
        to[plan->bins + TY_SLOT_MASKED] += *p.masked;
    }
    memset(p.counts, 0, (size_t)plan->active_count * sizeof *p.counts);
    *p.masked = 0;
}

/* Where values are slots, small calls spare themselves clearing counts and adding them up. */
static int straight(ty_job *job)
{
    const tally_plan *plan = job->plan;
    if (!((const ty_cpu_plan *)plan->state)->bytes_same || choose_order(job) != PACKED)
        return 0;
    const ty_bytes_variant *engine = ty_bytes_choose(ty_cpu_features());
    for (uint64_t b = 0; b < job->batches; b++) {
        for (uint64_t a = 0; a < plan->active_count; a++)
            engine->fn(ty_grid_at(&job->samples[0], b, 0, plan->active[a]), (size_t)job->elements,
                       ty_totals_of(job, b, a));
    }
    return 1;
}

static const ty_cpu_method method = {
    .straight = straight,
    .state_bytes = state_bytes,
    .count = count,
    .flush = flush,
    .most = UINT64_MAX,
    .head_bytes = head_bytes,
};

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    if (plan->options.dimensions > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "method cpu-bytes counts one dimension");
    return ty_cpu_unweighted(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "counts the 256 values, bins them once";
    return ty_cost(plan, "cpu-bytes");
}

const ty_method ty_cpu_bytes = {
    "cpu-bytes",
    "tally",
    "the 256 values by bit planes (AVX-512), pairs or tables, binned once",
    TY_ON_CPU,
    1u << TALLY_U8 | 1u << TALLY_I8,
    1,
    TY_MAX_BINS,
    NULL,
    supports,
    cost,
    &method,
};
