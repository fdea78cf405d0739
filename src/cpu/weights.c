/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu-weights: sums of weights (f64 or i64), with the sums of their squares on request. Parts of
 * the samples are fixed by the job, never by threads or timing, and are added up in order: the same
 * input gives the same bits.
 */
#include <math.h>
#if defined(__SSE2__) && defined(__x86_64__)
#include <emmintrin.h>
#endif
#include <string.h>

#include "core/dtype.h"
#include "core/error.h"
#include "cpu/cpu.h"
#include "plan/cost.h"
#include "plan/registry.h"

/*
 * A worker's tables for one active channel: sums, then squares if asked for, then the flows'
 * counts. Float64 sums of few slots have 1 << shift parts each, taken in turn by neighbouring
 * samples, as additions to one place wait for each other.
 */
typedef struct {
    size_t sums, squares, flows, bytes; /* offsets */
    unsigned shift;
} layout;

static layout lay_out(const tally_plan *plan)
{
    const unsigned shift =
        plan->weighted == TALLY_RESULT_SUMS_F64 && plan->slots * plan->active_count <= 1024 ? 2 : 0;
    const size_t size =
        plan->weighted == TALLY_RESULT_SUMS_WIDE ? sizeof(tally_wide) : sizeof(double);
    size_t table = ((size_t)plan->slots << shift) * size;
    layout l = {0, table, table, 0, shift};
    l.flows = l.squares + (plan->options.sum_squares ? table : 0);
    l.bytes = (l.flows + TY_SLOT_EXTRA * sizeof(uint64_t) + 63) & ~(size_t)63;
    return l;
}

static size_t state_bytes(const ty_job *job)
{
    return job->plan->active_count * lay_out(job->plan).bytes;
}

#define LOAD(type, to)                                                                             \
    for (size_t i = 0; i < n; i++) {                                                               \
        type x;                                                                                    \
        memcpy(&x, (const unsigned char *)from + i * sizeof x, sizeof x);                          \
        w[i] = (to)x;                                                                              \
    }                                                                                              \
    break;
#define LOAD_SMALL_INTEGERS(to)                                                                    \
    case TALLY_U8:                                                                                 \
        LOAD(uint8_t, to)                                                                          \
    case TALLY_I8:                                                                                 \
        LOAD(int8_t, to)                                                                           \
    case TALLY_U16:                                                                                \
        LOAD(uint16_t, to)                                                                         \
    case TALLY_I16:                                                                                \
        LOAD(int16_t, to)                                                                          \
    case TALLY_U32:                                                                                \
        LOAD(uint32_t, to)                                                                         \
    case TALLY_I32:                                                                                \
        LOAD(int32_t, to)

void ty_weights_f64(const void *from, tally_dtype dtype, size_t n, double *w)
{
    switch (dtype) {
        LOAD_SMALL_INTEGERS(double)
    case TALLY_U64:
        LOAD(uint64_t, double)
    case TALLY_I64:
        LOAD(int64_t, double)
    case TALLY_F32:
        LOAD(float, double)
    default:
        LOAD(double, double)
    }
}

void ty_weights_i64(const void *from, tally_dtype dtype, size_t n, int64_t *w)
{
    switch (dtype) {
        LOAD_SMALL_INTEGERS(int64_t)
    default:
        LOAD(int64_t, int64_t)
    }
}

/* To the nearest, ties to even; any number where that is no int64. (llrint is a call.) */
static inline int64_t nearest(double x)
{
#if defined(__SSE2__) && defined(__x86_64__)
    return _mm_cvtsd_si64(_mm_set_sd(x));
#else
    return llrint(x);
#endif
}

/* Floats as whole multiples of 2^(exponent-63); returns whether one is beyond the limit. */
static int weights_fixed(const void *from, tally_dtype dtype, size_t n, int exponent, int64_t *w)
{
    const double scale = ldexp(1, 63 - exponent);
    double x[TY_BLOCK];
    int beyond = 0;
    ty_weights_f64(from, dtype, n, x);
    for (size_t i = 0; i < n; i++) {
        const double scaled = x[i] * scale;
        beyond |= !(fabs(scaled) < 0x1p63);
        w[i] = nearest(scaled);
    }
    return beyond;
}

static void add_wide(tally_wide *sums, const uint32_t *slots, const int64_t *w, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tally_wide *to = &sums[slots[i]];
        const uint64_t low = to->low + (uint64_t)w[i];
        to->high += (low < to->low) - (w[i] < 0);
        to->low = low;
    }
}

/* `carries` are the histogram's, for the whole job. */
static void add_integers(int64_t *sums, const uint32_t *slots, const int64_t *w, size_t n,
                         int is_u64, int64_t *carries)
{
    for (size_t i = 0; i < n; i++)
        ty_weight_add(&sums[slots[i]], &carries[slots[i]], w[i], is_u64);
}

/* Adds f(weight) to its slot's sum. One loop a shift, unrolled by fours. */
#define ADD_ONE(type, f, bits)                                                                     \
    do {                                                                                           \
        type x;                                                                                    \
        memcpy(&x, from + i * sizeof x, sizeof x);                                                 \
        sums[((size_t)slots[i] << (bits)) + (i & ((1u << (bits)) - 1))] += f((double)x);           \
    } while (0)
#define ADD_SHIFTED(type, f, bits)                                                                 \
    size_t end = 0;                                                                                \
    for (; end + 4 <= n; end += 4) {                                                               \
        for (size_t i = end; i < end + 4; i++)                                                     \
            ADD_ONE(type, f, bits);                                                                \
    }                                                                                              \
    for (size_t i = end; i < n; i++)                                                               \
        ADD_ONE(type, f, bits);
#define ADD(type, f)                                                                               \
    if (shift) {                                                                                   \
        ADD_SHIFTED(type, f, 2)                                                                    \
    } else {                                                                                       \
        ADD_SHIFTED(type, f, 0)                                                                    \
    }
#define SAME(x)   (x)
#define SQUARE(x) ((x) * (x))

static void add_f32(double *sums, unsigned shift, const uint32_t *slots, const unsigned char *from,
                    size_t n)
{
    ADD(float, SAME)
}

static void add_f64(double *sums, unsigned shift, const uint32_t *slots, const unsigned char *from,
                    size_t n)
{
    ADD(double, SAME)
}

static void add_squares(double *sums, unsigned shift, const uint32_t *slots,
                        const unsigned char *from, size_t n)
{
    ADD(double, SQUARE)
}

void ty_count_flows(uint64_t *flows, const uint32_t *slots, size_t n, uint32_t bins)
{
    uint32_t outside = 0; /* the top bit: some slot is above the last bin */
    for (size_t i = 0; i < n; i++)
        outside |= bins - 1 - slots[i];
    if (!(outside >> 31))
        return;
    /* Without a branch, which samples on both sides of an end would mislead. */
    uint32_t found[TY_SLOT_EXTRA] = {0};
    for (size_t i = 0; i < n; i++) {
        for (uint32_t f = 0; f < TY_SLOT_EXTRA; f++)
            found[f] += slots[i] == bins + f;
    }
    for (uint32_t f = 0; f < TY_SLOT_EXTRA; f++)
        flows[f] += found[f];
}

/* Asks for the weights of blocks to come, as the samples are (even_loops.h): the second cache far
 * ahead, the first nearer. In vain past the end, and where weights are not packed. */
static void fetch_ahead(const void *from, size_t bytes)
{
    enum { AHEAD_L2 = 16384, AHEAD_L1 = 2048 };
    for (size_t i = 0; i < bytes; i += 64) {
        __builtin_prefetch((const void *)((uintptr_t)from + AHEAD_L2 + i), 0, 2);
        __builtin_prefetch((const void *)((uintptr_t)from + AHEAD_L1 + i), 0, 3);
    }
}

/* The first histogram's slot of a batch and active channel. */
static uint64_t first_slot(const tally_plan *plan, uint64_t batch, uint64_t active)
{
    return (batch * plan->active_count + active) * plan->slots;
}

static void count_block(const ty_job *job, uint64_t batch, uint64_t active, uint64_t begin,
                        size_t n, unsigned char *tables)
{
    const tally_plan *plan = job->plan;
    const uint64_t channel = plan->active[active];
    const tally_dtype dtype = plan->options.weight_dtype;
    const layout l = lay_out(plan);
    ty_block block;
    _Alignas(64) unsigned char raw[TY_BLOCK * 8];
    ty_block_slots(job, batch, channel, begin, n, &block);
    const void *from = ty_grid_block(&job->weights, batch, channel, begin, n, raw);
    if (from != raw)
        fetch_ahead(from, n * job->weights.size);
    if (job->sums && dtype == TALLY_F32)
        add_f32((double *)(tables + l.sums), l.shift, block.slots, from, n);
    else if (job->sums)
        add_f64((double *)(tables + l.sums), l.shift, block.slots, from, n);
    if (job->squares) {
        double w[TY_BLOCK];
        const void *as_f64 = dtype == TALLY_F64 ? from : w;
        if (dtype != TALLY_F64)
            ty_weights_f64(from, dtype, n, w);
        add_squares((double *)(tables + l.squares), l.shift, block.slots, as_f64, n);
    }
    if (plan->weighted == TALLY_RESULT_SUMS_WIDE) {
        int64_t wi[TY_BLOCK];
        if (weights_fixed(from, dtype, n, plan->weight_exponent, wi))
            ty_job_beyond(job);
        add_wide((tally_wide *)(tables + l.sums), block.slots, wi, n);
    } else if (job->isums) {
        int64_t wi[TY_BLOCK];
        ty_weights_i64(from, dtype, n, wi);
        add_integers((int64_t *)(tables + l.sums), block.slots, wi, n, dtype == TALLY_U64,
                     job->carries + first_slot(plan, batch, active));
    }
    ty_count_flows((uint64_t *)(tables + l.flows), block.slots, n, plan->bins);
}

static void count(void *state, const ty_job *job, uint64_t batch, uint64_t begin, uint64_t end)
{
    const tally_plan *plan = job->plan;
    size_t bytes = lay_out(plan).bytes;
    const size_t most = TY_BLOCK / 4; /* samples, weights and what is fetched ahead in one cache */
    for (; begin < end; begin += most) {
        size_t n = end - begin < most ? (size_t)(end - begin) : most;
        for (uint64_t a = 0; a < plan->active_count; a++)
            count_block(job, batch, a, begin, n, (unsigned char *)state + a * bytes);
    }
}

/* The parts of a slot's sum, in order. */
static double sum_of(const double *sums, uint64_t slot, unsigned shift)
{
    const double *parts = sums + (slot << shift);
    return shift ? (parts[0] + parts[1]) + (parts[2] + parts[3]) : parts[0];
}

static void flush(void *state, ty_job *job, uint64_t batch)
{
    const tally_plan *plan = job->plan;
    const layout l = lay_out(plan);
    for (uint64_t a = 0; a < plan->active_count; a++) {
        const unsigned char *tables = (unsigned char *)state + a * l.bytes;
        const uint64_t first = first_slot(plan, batch, a);
        const double *sums = (const double *)(tables + l.sums);
        const double *squares = (const double *)(tables + l.squares);
        const uint64_t *flows = (const uint64_t *)(tables + l.flows);
        for (uint64_t s = 0; s < plan->slots; s++) {
            if (job->sums)
                job->sums[first + s] += sum_of(sums, s, l.shift);
            else if (plan->weighted == TALLY_RESULT_SUMS_WIDE)
                ty_carry_add_wide(&job->isums[first + s], &job->carries[first + s],
                                  ((const tally_wide *)(const void *)sums)[s]);
            else
                ty_carry_add(&job->isums[first + s], &job->carries[first + s],
                             ((const int64_t *)sums)[s]);
            if (job->squares)
                job->squares[first + s] += sum_of(squares, s, l.shift);
        }
        for (int k = 0; k < TY_SLOT_EXTRA; k++)
            job->totals[first + plan->bins + (unsigned)k] += flows[k];
    }
    memset(state, 0, state_bytes(job));
}

static const ty_cpu_method method = {
    .state_bytes = state_bytes,
    .count = count,
    .flush = flush,
    .most = UINT64_MAX,
    .ordered = 1,
};

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    if (!plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "method cpu-weights sums weights; the plan has none");
    return TALLY_OK;
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "sums weights in a fixed order";
    return ty_cost(plan, "cpu-weights");
}

const ty_method ty_cpu_weights = {
    "cpu-weights", "tally",    "sums of weights, added in a fixed order",
    TY_ON_CPU,     UINT32_MAX, 1,
    TY_MAX_BINS,   NULL,       supports,
    cost,          &method,
};
