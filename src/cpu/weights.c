/*
 * cpu-weights: sums of weights (f64 or i64), with the sums of their squares on request. Parts of
 * the samples are fixed by the plan's threads, never by timing, and are added up in order: the same
 * input gives the same bits.
 */
#include <string.h>

#include "core/dtype.h"
#include "core/error.h"
#include "cpu/cpu.h"
#include "methods/registry.h"

/* A worker's tables for one active channel: sums, then squares if asked for, then the flows'
 * counts. */
typedef struct {
    size_t sums, squares, flows, bytes; /* offsets */
} layout;

static layout lay_out(const tally_plan *plan)
{
    size_t table = (size_t)plan->slots * sizeof(double);
    layout l = {0, table, table, 0};
    l.flows = l.squares + (plan->options.sum_squares ? table : 0);
    l.bytes = (l.flows + TY_SLOT_EXTRA * sizeof(uint64_t) + 63) & ~(size_t)63;
    return l;
}

/* 64 bytes ahead of the tables say whether an integer sum passed int64. */
static size_t state_bytes(const ty_job *job)
{
    return 64 + job->plan->active_count * lay_out(job->plan).bytes;
}

/* Weights of a block as float64, or as int64 (u64: the bits, with the top bit meaning 2^63). */
static void load_f64(const void *from, tally_dtype dtype, size_t n, double *w)
{
#define LOAD(type)                                                                                 \
    for (size_t i = 0; i < n; i++) {                                                               \
        type x;                                                                                    \
        memcpy(&x, (const unsigned char *)from + i * sizeof x, sizeof x);                          \
        w[i] = (double)x;                                                                          \
    }                                                                                              \
    break
    switch (dtype) {
    case TALLY_U8:
        LOAD(uint8_t);
    case TALLY_I8:
        LOAD(int8_t);
    case TALLY_U16:
        LOAD(uint16_t);
    case TALLY_I16:
        LOAD(int16_t);
    case TALLY_U32:
        LOAD(uint32_t);
    case TALLY_I32:
        LOAD(int32_t);
    case TALLY_U64:
        LOAD(uint64_t);
    case TALLY_I64:
        LOAD(int64_t);
    case TALLY_F32:
        LOAD(float);
    default:
        LOAD(double);
    }
#undef LOAD
}

static void load_i64(const void *from, tally_dtype dtype, size_t n, int64_t *w)
{
#define LOAD(type)                                                                                 \
    for (size_t i = 0; i < n; i++) {                                                               \
        type x;                                                                                    \
        memcpy(&x, (const unsigned char *)from + i * sizeof x, sizeof x);                          \
        w[i] = (int64_t)x;                                                                         \
    }                                                                                              \
    break
    switch (dtype) {
    case TALLY_U8:
        LOAD(uint8_t);
    case TALLY_I8:
        LOAD(int8_t);
    case TALLY_U16:
        LOAD(uint16_t);
    case TALLY_I16:
        LOAD(int16_t);
    case TALLY_U32:
        LOAD(uint32_t);
    case TALLY_I32:
        LOAD(int32_t);
    default:
        LOAD(int64_t);
    }
#undef LOAD
}

/* Whether a sum that ends in a bin overflowed. */
static int add_integers(int64_t *sums, const uint32_t *slots, const int64_t *w, size_t n,
                        const tally_plan *plan)
{
    int overflowed = 0, is_u64 = plan->options.weight_dtype == TALLY_U64;
    for (size_t i = 0; i < n; i++) {
        int64_t *sum = &sums[slots[i]];
        int over = is_u64 ? __builtin_add_overflow(*sum, (uint64_t)w[i], sum)
                          : __builtin_add_overflow(*sum, w[i], sum);
        if (__builtin_expect(over, 0))
            overflowed |= ty_plan_delivers(plan, slots[i]);
    }
    return overflowed;
}

static void count_block(unsigned char *state, const ty_job *job, uint64_t batch, uint64_t channel,
                        uint64_t begin, size_t n, unsigned char *tables)
{
    const tally_plan *plan = job->plan;
    tally_dtype dtype = plan->options.weight_dtype;
    layout l = lay_out(plan);
    ty_block block;
    _Alignas(64) unsigned char raw[TY_BLOCK * 8];
    ty_block_slots(job, batch, channel, begin, n, &block);
    const void *from = ty_grid_block(&job->weights, batch, channel, begin, n, raw);
    double w[TY_BLOCK];
    if (job->sums || job->squares)
        load_f64(from, dtype, n, w);
    if (job->sums) {
        double *sums = (double *)(tables + l.sums);
        for (size_t i = 0; i < n; i++)
            sums[block.slots[i]] += w[i];
    } else {
        int64_t wi[TY_BLOCK];
        load_i64(from, dtype, n, wi);
        if (add_integers((int64_t *)(tables + l.sums), block.slots, wi, n, plan))
            *state = 1;
    }
    if (job->squares) {
        double *squares = (double *)(tables + l.squares);
        for (size_t i = 0; i < n; i++)
            squares[block.slots[i]] += w[i] * w[i];
    }
    uint64_t *flows = (uint64_t *)(tables + l.flows);
    for (size_t i = 0; i < n; i++) {
        if (block.slots[i] >= plan->bins)
            flows[block.slots[i] - plan->bins]++;
    }
}

static void count(void *state, const ty_job *job, uint64_t batch, uint64_t begin, uint64_t end)
{
    const tally_plan *plan = job->plan;
    size_t bytes = lay_out(plan).bytes;
    for (; begin < end; begin += TY_BLOCK) {
        size_t n = end - begin < TY_BLOCK ? (size_t)(end - begin) : TY_BLOCK;
        for (uint64_t a = 0; a < plan->active_count; a++)
            count_block(state, job, batch, plan->active[a], begin, n,
                        (unsigned char *)state + 64 + a * bytes);
    }
}

static void flush(void *state, ty_job *job, uint64_t batch)
{
    const tally_plan *plan = job->plan;
    layout l = lay_out(plan);
    job->overflowed |= *(unsigned char *)state;
    for (uint64_t a = 0; a < plan->active_count; a++) {
        const unsigned char *tables = (unsigned char *)state + 64 + a * l.bytes;
        uint64_t first = (batch * plan->active_count + a) * plan->slots;
        const uint64_t *flows = (const uint64_t *)(tables + l.flows);
        for (uint64_t s = 0; s < plan->slots; s++) {
            if (job->sums)
                job->sums[first + s] += ((const double *)(tables + l.sums))[s];
            else
                job->overflowed |= __builtin_add_overflow(job->isums[first + s],
                                                          ((const int64_t *)(tables + l.sums))[s],
                                                          &job->isums[first + s]) &&
                                   ty_plan_delivers(plan, s);
            if (job->squares)
                job->squares[first + s] += ((const double *)(tables + l.squares))[s];
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
    return TY_CALL_SECONDS + 2e-9 * ty_cpu_samples(plan);
}

const ty_method ty_cpu_weights = {
    "cpu-weights", "tally",    "sums of weights, added in a fixed order",
    TY_ON_CPU,     UINT32_MAX, 1,
    TY_MAX_BINS,   NULL,       supports,
    cost,          &method,
};
