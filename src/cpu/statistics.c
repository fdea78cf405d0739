/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_bin_statistics on the processor: a method whose slots have statistics instead of counts.
 * Parts of the samples are fixed by the job and added up in order (ordered, as cpu-weights is), so
 * that the same input gives the same bits.
 */
#include "cpu/statistics.h"

#include <math.h>
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/stats.h"

/* Samples, values and what is fetched ahead of both stay in one cache. */
enum { BLOCK = TY_BLOCK / 2 };
_Static_assert(BLOCK <= TY_STATS_BLOCK, "a block is decoded at once");

size_t ty_statistics_bytes(ty_statistics_kind kind)
{
    static const size_t fields[] = {0, TY_SUMS_FIELDS, TY_MOMENTS_FIELDS, TY_WEIGHTED_FIELDS};
    return kind == TY_STATISTICS_EXACT ? sizeof(ty_exact) : fields[kind] * sizeof(double);
}

void ty_statistics_lay_out(ty_statistics *s, const tally_plan *plan)
{
    /* Entries that may be four times as many. */
    const uint64_t few = s->kind == TY_STATISTICS_EXACT     ? 0
                         : s->kind == TY_STATISTICS_MOMENTS ? 512
                                                            : 1024;
    s->entries = plan->slots + 1;
    s->grouped = s->entries * plan->active_count * s->count <= few;
}

/* Doubles of a slot in a worker's tables. */
static size_t sums_each(const ty_statistics *s)
{
    static const size_t groups[] = {0, TY_SUMS_GROUP, TY_MOMENTS_GROUP, TY_WEIGHTED_GROUP};
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn): exact sums have no groups */
    return s->grouped ? groups[s->kind] : ty_statistics_bytes(s->kind) / sizeof(double);
}

static size_t extremes_each(const ty_statistics *s)
{
    return s->grouped ? TY_EXTREMES_GROUP : TY_EXTREMES_FIELDS;
}

/* Where the tables of a channel's values begin in a state; and how long all are. */
static size_t table_bytes(const ty_statistics *s, size_t each)
{
    return ((size_t)s->entries * each * sizeof(double) + 63) & ~(size_t)63;
}

static size_t sums_at(const ty_statistics *s, uint64_t active, uint32_t value)
{
    return (active * s->count + value) * table_bytes(s, sums_each(s));
}

static size_t extremes_at(const ty_statistics *s, const tally_plan *plan, uint64_t active,
                          uint32_t value)
{
    return sums_at(s, plan->active_count, 0) +
           (active * s->count + value) * table_bytes(s, extremes_each(s));
}

static size_t state_bytes(const ty_job *job)
{
    const ty_statistics *s = job->statistics;
    return s->extremes ? extremes_at(s, job->plan, job->plan->active_count, 0)
                       : sums_at(s, job->plan->active_count, 0);
}

/* Behind the cleared sums, no value has been seen. */
static void begin(void *state, const ty_job *job)
{
    const ty_statistics *s = job->statistics;
    const size_t all = state_bytes(job) / sizeof(double);
    double *fields = state;
    for (size_t i = extremes_at(s, job->plan, 0, 0) / sizeof *fields; i < all; i++)
        fields[i] = -INFINITY;
}

enum { AHEAD = 16384 }; /* bytes of a column, between what is read and what is asked for */

/* Asks for what comes next of a packed column. */
static void fetch_ahead(const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const void *)((uintptr_t)from + AHEAD + i), 0, 2);
}

/* A column's elements as float64, where they lie or in `to`. `asked`: somebody else asks for those
 * that come next, little by little. */
static const double *decode(const ty_grid *grid, uint64_t batch, uint64_t channel, uint64_t begin,
                            size_t n, int asked, double *to)
{
    unsigned char raw[BLOCK * 8];
    const void *from = ty_grid_block(grid, batch, channel, begin, n, raw);
    if (from != raw && !asked)
        fetch_ahead(from, n * grid->size);
    if (grid->dtype == TALLY_F64 && from != raw && (uintptr_t)from % sizeof(double) == 0)
        return from;
    ty_stats_loops_get()->decode(grid->dtype, from, n, to);
    return to;
}

/* What comes after a column's elements from `begin` on; of one that is read, what is here. */
static ty_ahead ahead_of(const ty_grid *grid, uint64_t batch, uint64_t channel, uint64_t begin,
                         const void *here)
{
    if (grid->source)
        return (ty_ahead){(uintptr_t)here, 0};
    return (ty_ahead){(uintptr_t)ty_grid_at(grid, batch, begin, channel) + AHEAD,
                      (uintptr_t)grid->column_stride};
}

/* The values as whole numbers; notes one that is beyond 2^exponent. */
static void add_exact(const ty_job *job, ty_exact *table, int exponent, const uint32_t *slots,
                      const double *values, size_t n)
{
    const double scale = ldexp(1, TY_EXACT_BITS - exponent);
    int beyond = 0;
    for (size_t i = 0; i < n; i++) {
        const double scaled = values[i] * scale, whole = scaled + 0x1.8p52; /* to nearest */
        uint64_t q;
        beyond |= !(fabs(scaled) < 0x1p50);
        memcpy(&q, &whole, sizeof q);
        q &= (UINT64_C(1) << 52) - 1;
        ty_exact *to = &table[slots[i]];
        const ty_u128 square = (ty_u128)q * q;
        to->sum += q;
        to->squares += square;
        to->carries += to->squares < square;
        to->n++;
    }
    if (beyond)
        ty_job_beyond(job);
}

/* Values without NaN, which go to the last entry as 0. */
static void skip_nan(const ty_statistics *s, const uint32_t *slots, const double *values, size_t n,
                     uint32_t *others, double *numbers)
{
    for (size_t i = 0; i < n; i++) {
        const int is_nan = values[i] != values[i];
        others[i] = is_nan ? (uint32_t)s->entries - 1 : slots[i];
        numbers[i] = is_nan ? 0 : values[i];
    }
}

/* The extremes of values that are NaN become NaN, and stay so. */
static void spoil(const ty_statistics *s, double *extremes, const uint32_t *slots,
                  const double *values, size_t n)
{
    const size_t each = extremes_each(s);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; values[i] != values[i] && k < each; k++)
            extremes[slots[i] * each + k] = NAN;
}

/* One column of values, by their samples' slots. */
static void add_values(const ty_job *job, unsigned char *state, uint64_t active, uint32_t value,
                       int *fresh, const ty_ahead ahead[2], const uint32_t *slots,
                       const double *values, const double *weights, size_t n)
{
    enum { NEAR = 1 << 20 }; /* bytes of a table that stays in a near cache */
    const ty_statistics *s = job->statistics;
    const ty_statistics_loops *loops = ty_statistics_loops_get();
    void *sums = state + sums_at(s, active, value);
    double *ends = (double *)(void *)(state + extremes_at(s, job->plan, active, value));
    const int large = table_bytes(s, sums_each(s)) > NEAR,
              large_ends = table_bytes(s, extremes_each(s)) > NEAR;
    const size_t group = s->grouped ? sums_each(s) : 0;
    uint32_t others[BLOCK];
    double numbers[BLOCK];
    if ((s->skip_nan || s->extremes) && loops->any_nan(values, n)) {
        if (s->skip_nan) {
            skip_nan(s, slots, values, n, others, numbers);
            slots = others;
            values = numbers;
        } else {
            spoil(s, ends, slots, values, n);
        }
    }
    if (s->kind == TY_STATISTICS_SUMS)
        loops->sums(sums, group, large, slots, values, n);
    else if (s->kind == TY_STATISTICS_MOMENTS)
        loops->moments(sums, group, large, fresh, ahead, slots, values, n);
    else if (s->kind == TY_STATISTICS_WEIGHTED)
        loops->weighted(sums, group, large, slots, values, weights, n);
    else if (s->kind == TY_STATISTICS_EXACT)
        add_exact(job, sums, s->exponents[value], slots, values, n);
    if (s->extremes)
        loops->extremes(ends, s->grouped ? extremes_each(s) : 0, large_ends, slots, values, n);
}

static void count_block(const ty_job *job, uint64_t batch, uint64_t active, uint64_t begin,
                        size_t n, int *fresh, unsigned char *state)
{
    const ty_statistics *s = job->statistics;
    const uint64_t channel = job->plan->active[active];
    _Alignas(64) double values[BLOCK], decoded[BLOCK];
    const double *weights = NULL;
    ty_block block;
    ty_block_slots(job, batch, channel, begin, n, &block);
    if (job->weights.data)
        weights = decode(&job->weights, batch, channel, begin, n, 0, decoded);
    ty_ahead ahead[2] = {ahead_of(&job->samples[0], batch, channel, begin, block.slots)};
    for (uint32_t i = 0; i < s->count; i++) {
        const double *v = decode(&s->values[i], batch, channel, begin, n,
                                 s->kind == TY_STATISTICS_MOMENTS, values);
        ahead[1] = ahead_of(&s->values[i], batch, channel, begin, block.slots);
        add_values(job, state, active, i, fresh, ahead, block.slots, v, weights, n);
    }
    if (ty_plan_may_fail(job->plan)) {
        uint64_t flows[TY_SLOT_EXTRA] = {0},
                 *all = ty_job_flows(job, batch * job->plan->active_count + active);
        ty_count_flows(flows, block.slots, n, job->plan->bins);
        for (int k = 0; k < TY_SLOT_EXTRA; k++)
            __atomic_fetch_add(&all[k], flows[k], __ATOMIC_RELAXED);
    }
}

static void count(void *state, const ty_job *job, uint64_t batch, uint64_t begin, uint64_t end)
{
    int fresh = 1;
    for (; begin < end; begin += BLOCK) {
        const size_t n = end - begin < BLOCK ? (size_t)(end - begin) : BLOCK;
        for (uint64_t a = 0; a < job->plan->active_count; a++)
            count_block(job, batch, a, begin, n, &fresh, state);
    }
}

/* Moments about k become those about the k of `into`. */
static void add_moments(double *into, const double *from)
{
    const double n = from[0], shift = from[3] - into[3];
    into[0] += n;
    into[2] += from[2] + shift * (2 * from[1] + n * shift);
    into[1] += from[1] + n * shift;
}

static void add_exact_sums(ty_exact *into, const ty_exact *from)
{
    into->sum += from->sum;
    into->squares += from->squares;
    into->carries += from->carries + (into->squares < from->squares);
    into->n += from->n;
}

void ty_statistics_add(ty_statistics_kind kind, void *into, const void *from)
{
    double *to = into;
    const double *more = from;
    switch (kind) {
    case TY_STATISTICS_NONE:
        break;
    case TY_STATISTICS_SUMS:
        to[0] += more[0];
        to[1] += more[1];
        break;
    case TY_STATISTICS_MOMENTS:
    case TY_STATISTICS_WEIGHTED: {
        const int n = kind == TY_STATISTICS_MOMENTS ? 0 : 5;
        if (more[n] == 0)
            break;
        if (to[n] == 0)
            to[3] = more[3];
        add_moments(to, more);
        if (n) {
            to[4] += more[4];
            to[5] += more[5];
        }
        break;
    }
    case TY_STATISTICS_EXACT:
        add_exact_sums(into, from);
        break;
    }
}

void ty_extremes_add(double *into, const double *from)
{
    for (int i = 0; i < TY_EXTREMES_FIELDS; i++)
        into[i] = from[i] > into[i] || from[i] != from[i] ? from[i] : into[i];
}

static void flush_table(const ty_statistics *s, uint64_t h, uint32_t value, uint64_t histograms,
                        unsigned char *sums, const double *ends)
{
    const size_t bytes = ty_statistics_bytes(s->kind), entries = s->grouped ? 4 : 1;
    const uint64_t first = (value * histograms + h) * s->entries;
    for (uint64_t i = 0; i < s->entries; i++) {
        unsigned char *group = sums + i * sums_each(s) * sizeof(double),
                      *total = (unsigned char *)s->totals + (first + i) * bytes;
        for (size_t k = 0; k < entries; k++) {
            double *entry = (double *)(void *)(group + k * bytes);
            if (s->grouped && s->kind == TY_STATISTICS_MOMENTS)
                entry[3] = ((double *)(void *)group)[TY_GROUP_ABOUT];
            ty_statistics_add(s->kind, total, entry);
            if (s->extremes)
                ty_extremes_add(&s->extreme_totals[TY_EXTREMES_FIELDS * (first + i)],
                                &ends[TY_EXTREMES_FIELDS * (entries * i + k)]);
        }
    }
}

static void flush(void *state, ty_job *job, uint64_t batch)
{
    const ty_statistics *s = job->statistics;
    const uint64_t active = job->plan->active_count;
    unsigned char *tables = state;
    for (uint64_t a = 0; a < active; a++)
        for (uint32_t i = 0; i < s->count; i++)
            flush_table(s, batch * active + a, i, job->histograms, tables + sums_at(s, a, i),
                        (double *)(void *)(tables + extremes_at(s, job->plan, a, i)));
    memset(state, 0, sums_at(s, active, 0));
    begin(state, job);
}

/* One column of one histogram in one part: the totals are laid out as a worker's tables. */
static int straight(ty_job *job)
{
    const ty_statistics *s = job->statistics;
    if (s->grouped || s->count > 1 || job->histograms > 1 || s->extremes)
        return 0;
    count(s->totals, job, 0, 0, job->elements);
    return 1;
}

const ty_cpu_method ty_statistics_method = {
    .state_bytes = state_bytes,
    .begin = begin,
    .count = count,
    .flush = flush,
    .most = UINT64_MAX,
    .ordered = 1,
    .straight = straight,
};
