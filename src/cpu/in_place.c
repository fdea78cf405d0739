/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu-in-place: slots by blocks, then each sample is added to its count in the caller's output. No
 * tables: a call costs what its samples do. `auto` goes this way for calls with few samples a bin.
 */
#include "cpu/in_place.h"

#include <string.h>

#include "core/error.h"
#include "plan/registry.h"

enum { AHEAD = 16 }; /* counts are asked for so many samples ahead */

/* Tables above this are not worth their memory, whatever the number of samples. */
#define TABLE_MOST (UINT64_C(256) << 20)

/* Fewer bins of one-byte samples are quicker counted by value. */
#define BYTES_LEAST 1024

/* Bins from which on counts come from memory: an atomic addition is then no slower than another. */
#define SHARED_LEAST (UINT64_C(1) << 22)

/* One worker's; then the flows of each active channel. */
typedef struct {
    uint64_t wrapped;
    struct {
        uint64_t samples[TY_SLOT_EXTRA];
        double weights[TY_SLOT_EXTRA];
        int64_t integers[TY_SLOT_EXTRA], carries[TY_SLOT_EXTRA]; /* as isums of a job */
    } flows[];
} state;

static int is_adding(const ty_job *job)
{
    return job->walk == TY_WALK_COUNT || job->walk == TY_WALK_ADD;
}

static size_t state_bytes(const ty_job *job)
{
    return sizeof(state) + (size_t)job->plan->active_count * sizeof *((state *)NULL)->flows;
}

/* Adds `by`, 1 or -1, for each slot; whether a count came to be 0. Then the same with other threads
 * adding too. */
#define ADDS(type)                                                                                 \
    static int add_##type(type *to, const uint32_t *slots, size_t n, type by)                      \
    {                                                                                              \
        int zero = 0;                                                                              \
        size_t i = 0;                                                                              \
        for (; i + AHEAD < n; i++) {                                                               \
            __builtin_prefetch(to + slots[i + AHEAD], 1);                                          \
            zero |= (to[slots[i]] = (type)(to[slots[i]] + by)) == 0;                               \
        }                                                                                          \
        for (; i < n; i++)                                                                         \
            zero |= (to[slots[i]] = (type)(to[slots[i]] + by)) == 0;                               \
        return zero;                                                                               \
    }                                                                                              \
    static int share_##type(type *to, const uint32_t *slots, size_t n, type by)                    \
    {                                                                                              \
        int zero = 0;                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            __builtin_prefetch(to + slots[i + AHEAD < n ? i + AHEAD : i], 1);                      \
            zero |= __atomic_add_fetch(&to[slots[i]], by, __ATOMIC_RELAXED) == 0;                  \
        }                                                                                          \
        return zero;                                                                               \
    }

/* The same for counters that stick at their limit. */
#define STICKS(type, limit)                                                                        \
    static void add_##type(type *to, const uint32_t *slots, size_t n)                              \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            to[slots[i]] = (type)(to[slots[i]] + (to[slots[i]] != (limit)));                       \
    }                                                                                              \
    static void share_##type(type *to, const uint32_t *slots, size_t n)                            \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            type old = __atomic_load_n(&to[slots[i]], __ATOMIC_RELAXED);                           \
            while (old != (limit) &&                                                               \
                   !__atomic_compare_exchange_n(&to[slots[i]], &old, (type)(old + 1), 1,           \
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED))               \
                continue;                                                                          \
        }                                                                                          \
    }

ADDS(uint64_t)
ADDS(uint32_t)
STICKS(uint16_t, UINT16_MAX)
STICKS(uint8_t, UINT8_MAX)

/* Adds n samples to a histogram's counts; whether one of them wrapped. */
static int add(const ty_job *job, uint64_t h, const uint32_t *slots, size_t n)
{
    const uint64_t first = h * job->plan->bins;
    const int by = job->walk == TY_WALK_UNDO ? -1 : 1, shared = job->shared;
    void *counts = job->output->counts;
    switch (job->plan->options.counter) {
    case TALLY_COUNTER_U64:
        return (shared ? share_uint64_t : add_uint64_t)((uint64_t *)counts + first, slots, n,
                                                        (uint64_t)by);
    case TALLY_COUNTER_U32:
        return (shared ? share_uint32_t : add_uint32_t)((uint32_t *)counts + first, slots, n,
                                                        (uint32_t)by);
    case TALLY_COUNTER_U16SAT:
        (shared ? share_uint16_t : add_uint16_t)((uint16_t *)counts + first, slots, n);
        return 0;
    default:
        (shared ? share_uint8_t : add_uint8_t)((uint8_t *)counts + first, slots, n);
        return 0;
    }
}

/* Takes the samples in no bin out of `slots`, counting them in flows; how many are left. */
static size_t take_flows(const tally_plan *plan, uint32_t *slots, size_t n, uint64_t *flows)
{
    const uint32_t bins = plan->bins;
    uint32_t outside = 0; /* the top bit: some slot is above the last bin */
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        outside |= bins - 1 - slots[i];
    if (!(outside >> 31))
        return n;
    for (size_t i = 0; i < n; i++) {
        const uint32_t slot = slots[i] < bins ? slots[i] : ty_plan_clamped(plan, slots[i]);
        if (slot < bins)
            slots[left++] = slot;
        else
            flows[slot - bins]++;
    }
    return left;
}

static void count_block(const ty_job *job, uint64_t batch, uint64_t a, ty_block *block, size_t n,
                        state *s)
{
    const size_t left = take_flows(job->plan, block->slots, n, s->flows[a].samples);
    if (job->walk != TY_WALK_FLOWS)
        s->wrapped |= add(job, batch * job->plan->active_count + a, block->slots, left);
}

static uint32_t bin_or_flow(const tally_plan *plan, uint32_t slot)
{
    return slot < plan->bins ? slot : ty_plan_clamped(plan, slot);
}

/* The same with weights, in the samples' order. */
static void weigh_block(const ty_job *job, uint64_t batch, uint64_t a, const void *from,
                        const ty_block *block, size_t n, state *s)
{
    const tally_plan *plan = job->plan;
    const uint64_t first = (batch * plan->active_count + a) * plan->bins;
    const int adds = is_adding(job) && !job->isums;
    double *sums = (double *)job->output->counts + first,
           *squares = job->output->sum_squares ? job->output->sum_squares + first : NULL;
    double weights[TY_BLOCK];
    ty_weights_f64(from, plan->options.weight_dtype, n, weights);
    for (size_t i = 0; i < n; i++) {
        const uint32_t slot = bin_or_flow(plan, block->slots[i]);
        const double w = weights[i];
        if (slot >= plan->bins) {
            s->flows[a].samples[slot - plan->bins]++;
            s->flows[a].weights[slot - plan->bins] += w;
            continue;
        }
        if (adds)
            sums[slot] += w;
        if (squares && job->walk != TY_WALK_FLOWS)
            squares[slot] += w * w;
    }
}

/* Integers: sums that wrap on their way are noted. Squares come in a walk of their own, when it is
 * known that the sums stay. */
static void weigh_integers(const ty_job *job, uint64_t batch, uint64_t a, const void *from,
                           const ty_block *block, size_t n, state *s)
{
    const tally_plan *plan = job->plan;
    const int is_u64 = plan->options.weight_dtype == TALLY_U64;
    int64_t *sums = (int64_t *)job->output->counts + (batch * plan->active_count + a) * plan->bins;
    int64_t weights[TY_BLOCK];
    int wrapped = 0;
    ty_weights_i64(from, plan->options.weight_dtype, n, weights);
    for (size_t i = 0; i < n; i++) {
        const uint32_t slot = bin_or_flow(plan, block->slots[i]);
        const int64_t w = weights[i];
        if (slot >= plan->bins) {
            s->flows[a].samples[slot - plan->bins]++;
            ty_weight_add(&s->flows[a].integers[slot - plan->bins],
                          &s->flows[a].carries[slot - plan->bins], w, is_u64);
        } else if (job->walk == TY_WALK_UNDO) {
            sums[slot] = (int64_t)((uint64_t)sums[slot] - (uint64_t)w);
        } else if (is_adding(job)) {
            wrapped |= is_u64 ? __builtin_add_overflow(sums[slot], (uint64_t)w, &sums[slot])
                              : __builtin_add_overflow(sums[slot], w, &sums[slot]);
        }
    }
    s->wrapped |= (uint64_t)wrapped;
}

static void weigh(const ty_job *job, uint64_t batch, uint64_t a, uint64_t begin,
                  const ty_block *block, size_t n, state *s)
{
    _Alignas(64) unsigned char raw[TY_BLOCK * 8];
    const void *from = ty_grid_block(&job->weights, batch, job->plan->active[a], begin, n, raw);
    (job->isums && job->walk != TY_WALK_SQUARES ? weigh_integers : weigh_block)(job, batch, a, from,
                                                                                block, n, s);
}

static void count(void *at, const ty_job *job, uint64_t batch, uint64_t begin, uint64_t end)
{
    const tally_plan *plan = job->plan;
    ty_block block;
    while (begin < end) {
        size_t n = end - begin < TY_BLOCK ? (size_t)(end - begin) : TY_BLOCK;
        for (uint64_t a = 0; a < plan->active_count; a++) {
            ty_block_slots(job, batch, plan->active[a], begin, n, &block);
            if (plan->weighted)
                weigh(job, batch, a, begin, &block, n, at);
            else
                count_block(job, batch, a, &block, n, at);
        }
        begin += n;
    }
}

static void flush(void *own, ty_job *job, uint64_t batch)
{
    state *s = own;
    const int finds = job->walk == TY_WALK_FLOWS || job->walk == TY_WALK_COUNT;
    for (uint64_t a = 0; finds && a < job->plan->active_count; a++) {
        const uint64_t h = batch * job->plan->active_count + a;
        uint64_t *flows = ty_job_flows(job, h);
        for (unsigned f = 0; f < TY_SLOT_EXTRA; f++) {
            const uint64_t at = ty_job_flow_at(job, h, f);
            flows[f] += s->flows[a].samples[f];
            if (job->sums)
                job->sums[at] += s->flows[a].weights[f];
            if (job->isums) {
                ty_carry_add(&job->isums[at], &job->carries[at], s->flows[a].integers[f]);
                job->carries[at] += s->flows[a].carries[f];
            }
        }
    }
    job->wrapped |= is_adding(job) && s->wrapped;
    memset(s, 0, state_bytes(job));
}

const ty_cpu_method ty_in_place_method = {
    .state_bytes = state_bytes,
    .count = count,
    .flush = flush,
    .most = UINT64_MAX,
};

int ty_in_place_pays(const ty_job *job)
{
    const tally_plan *plan = job->plan;
    /* Tables take a pass over all bins and count quicker. An output that is overwritten is passed
     * over in any case. */
    const uint64_t most = job->output->accumulate ? plan->slots : plan->slots / 2;
    const int bytes =
        plan->options.dimensions == 1 && tally_dtype_bytes(plan->options.dtypes[0]) == 1;
    if (plan->weighted)
        return job->elements <= most;
    if (bytes && plan->slots < BYTES_LEAST)
        return 0;
    return job->elements <= most || plan->slots * sizeof(uint32_t) > TABLE_MOST;
}

int ty_in_place_serves(const ty_job *job)
{
    return job->elements && job->histograms && job->plan->weighted != TALLY_RESULT_SUMS_WIDE &&
           (job->output->accumulate || job->plan->weighted != TALLY_RESULT_SUMS_I64);
}

int ty_in_place_shares(const ty_job *job)
{
    return job->plan->slots >= SHARED_LEAST && !job->plan->weighted;
}

void ty_in_place_clear(const ty_job *job)
{
    static const size_t sizes[] = {8, 4, 2, 1};
    const size_t cells = (size_t)(job->histograms * job->plan->bins);
    memset(job->output->counts, 0, cells * sizes[job->plan->options.counter]);
    if (job->output->sum_squares)
        memset(job->output->sum_squares, 0, cells * sizeof *job->output->sum_squares);
}

const ty_method ty_cpu_in_place = {
    "cpu-in-place",
    "tally",
    "each sample added to the output itself, without tables",
    TY_ON_CPU,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    NULL,
    NULL,
    NULL,
    &ty_in_place_method,
};
