/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu-words: 16-bit samples on any axis. The 65 536 bit patterns are counted and find their slots
 * when a worker's counts are flushed, so that a sample costs the same on an even axis and on any
 * other. Calls whose batches are too small to pay for that are counted as cpu-overlap does.
 */
#include <string.h>

#include "core/error.h"
#include "cpu/counters.h"
#include "plan/cost.h"
#include "plan/registry.h"

enum {
    PATTERNS = 1 << 16,
    TURN = 2,        /* counters a pattern, taken in turn */
    WORTH = 1 << 17, /* fewest elements of a batch */
    CHANNELS = 4,    /* most active ones: each has 512 KiB of counters */
};

/* A channel's counters; masked samples are counted with the first. */
typedef struct {
    uint32_t counts[PATTERNS][TURN];
    uint64_t masked;
} channel_state;

static int worth(const ty_job *job)
{
    return job->elements >= WORTH;
}

static size_t state_bytes(const ty_job *job)
{
    return worth(job) ? (size_t)job->plan->active_count * sizeof(channel_state)
                      : ty_table_bytes(job);
}

/* Four samples a load; all of one load are spread over both counters. */
static void add_words(channel_state *s, const unsigned char *from, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t a, b;
        memcpy(&a, from + 2 * i, sizeof a);
        memcpy(&b, from + 2 * i + 8, sizeof b);
        __builtin_prefetch(from + 2 * i + 2048);
        for (unsigned k = 0; k < 64; k += 16) {
            s->counts[a >> k & (PATTERNS - 1)][0]++;
            s->counts[b >> k & (PATTERNS - 1)][1]++;
        }
    }
    for (; i < n; i++) {
        uint16_t x;
        memcpy(&x, from + 2 * i, sizeof x);
        s->counts[x][0]++;
    }
}

static void add_kept(channel_state *s, const unsigned char *from, const unsigned char *keep,
                     size_t n, int first)
{
    uint64_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint16_t x;
        memcpy(&x, from + 2 * i, sizeof x);
        s->counts[x][i & 1] += keep[i] != 0;
        kept += keep[i] != 0;
    }
    s->masked += first ? n - kept : 0;
}

static void count(void *state, const ty_job *job, uint64_t batch, uint64_t begin, uint64_t end)
{
    const tally_plan *plan = job->plan;
    if (!worth(job)) {
        ty_overlap_count(state, job, batch, begin, end);
        return;
    }
    unsigned char buffer[TY_BLOCK * 2], mask[TY_BLOCK];
    const ty_grid *g = &job->samples[0];
    const int whole = g->rows == 1 && g->column_stride == 2 && !job->mask.data;
    const uint64_t most = whole ? UINT64_MAX : TY_BLOCK;
    while (begin < end) {
        size_t n = (size_t)(end - begin < most ? end - begin : most);
        for (uint64_t a = 0; a < plan->active_count; a++) {
            channel_state *s = (channel_state *)state + a;
            const unsigned char *from = ty_grid_block(g, batch, plan->active[a], begin, n, buffer);
            if (job->mask.data)
                add_kept(s, from, ty_grid_block(&job->mask, batch, 0, begin, n, mask), n, !a);
            else
                add_words(s, from, n);
        }
        begin += n;
    }
}

static void flush_channel(channel_state *s, const tally_plan *plan, uint64_t *to)
{
    const ty_cpu_plan *state = plan->state;
    uint16_t patterns[TY_BLOCK];
    uint32_t slots[TY_BLOCK];
    for (uint32_t first = 0; first < PATTERNS; first += TY_BLOCK) {
        for (uint32_t i = 0; i < TY_BLOCK; i++)
            patterns[i] = (uint16_t)(first + i);
        state->slots[0](&plan->axes[0], patterns, TY_BLOCK, slots);
        for (uint32_t i = 0; i < TY_BLOCK; i++)
            to[slots[i]] += (uint64_t)s->counts[first + i][0] + s->counts[first + i][1];
    }
}

static void flush(void *state, ty_job *job, uint64_t batch)
{
    const tally_plan *plan = job->plan;
    if (!worth(job)) {
        ty_overlap_flush(state, job, batch);
        return;
    }
    channel_state *channels = state;
    for (uint64_t a = 0; a < plan->active_count; a++) {
        uint64_t *to = ty_totals_of(job, batch, a);
        flush_channel(&channels[a], plan, to);
        to[plan->bins + TY_SLOT_MASKED] += channels[0].masked;
    }
    memset(channels, 0, (size_t)plan->active_count * sizeof *channels);
}

static const ty_cpu_method method = {
    .state_bytes = state_bytes,
    .count = count,
    .flush = flush,
    .most = TY_TABLE_MOST,
};

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    if (plan->options.dimensions > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "method cpu-words counts one dimension");
    if (plan->active_count > CHANNELS)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "method cpu-words counts at most %d channels", CHANNELS);
    return ty_cpu_unweighted(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "counts the 65 536 patterns, bins them once";
    return ty_cost(plan, "cpu-words");
}

const ty_method ty_cpu_words = {
    "cpu-words",
    "tally",
    "the 65 536 patterns in two tables, binned once",
    TY_ON_CPU,
    1u << TALLY_U16 | 1u << TALLY_I16 | 1u << TALLY_F16 | 1u << TALLY_BF16,
    1,
    TY_MAX_BINS,
    NULL,
    supports,
    cost,
    &method,
};
