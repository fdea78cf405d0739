/* SPDX-License-Identifier: Apache-2.0 */
/* What a call of statistics has found on the device: fetched, or left there in the caller's
 * arrays. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "gpu/statistics_run.h"

uint32_t ty_given_exponent(const ty_statistics *s, uint32_t number)
{
    const tally_dtype value = s->values[number].dtype;
    const int bits = 8 * (int)tally_dtype_bytes(value);
    if (s->limited)
        return (uint32_t)(s->exponents[number] + STATISTICS_GIVEN);
    if (!s->sums)
        return STATISTICS_GIVEN + 1024;
    return ty_dtype_is_float(value) || bits == 64 ? 0 : (uint32_t)(bits + STATISTICS_GIVEN);
}

/* ---- what was found ---- */

/* An extreme as float64. */
static double key_value(tally_dtype dtype, uint64_t key)
{
    const int wide = ty_is_wide(dtype);
    const uint64_t top = wide ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
    if (ty_dtype_is_float(dtype)) {
        const uint64_t bits = key & top ? key ^ top : ~key;
        const uint32_t low = (uint32_t)bits;
        double x;
        float y;
        memcpy(&x, &bits, sizeof x);
        memcpy(&y, &low, sizeof y);
        return wide ? x : (double)y;
    }
    if (dtype == TALLY_I64)
        return (double)(int64_t)(key ^ top);
    if (dtype == TALLY_I8 || dtype == TALLY_I16 || dtype == TALLY_I32)
        return (double)(int32_t)(uint32_t)(key ^ top);
    return (double)key;
}

/* Sums of units, as sums of the processor's whole numbers: q is p + TY_EXACT_ZERO. */
static ty_exact exact_of(const uint64_t *cell)
{
    __extension__ typedef __int128 i128;
    const uint64_t *sum = cell + STATISTICS_SUM, *squares = cell + STATISTICS_SQUARES;
    const ty_u128 n = cell[STATISTICS_N], s = (ty_u128)sum[1] << 64 | sum[0];
    ty_exact t = {s + n * TY_EXACT_ZERO, (ty_u128)squares[1] << 64 | squares[0], squares[2],
                  cell[STATISTICS_N]};
    const ty_u128 twice = s << 52, zeros = n << 102; /* 2 TY_EXACT_ZERO s, n TY_EXACT_ZERO^2 */
    t.squares += twice;
    t.carries += (uint64_t)((i128)s >> 76) + (t.squares < twice);
    t.squares += zeros;
    t.carries += (uint64_t)(n >> 26) + (t.squares < zeros);
    return t;
}
_Static_assert(TY_EXACT_ZERO == UINT64_C(1) << 51, "exact_of's shifts");

static void take_cell(ty_statistics *s, uint32_t number, uint64_t to, const uint64_t *cell)
{
    const tally_dtype value = s->values[number].dtype;
    const uint64_t below = ty_is_wide(value) ? UINT64_MAX : UINT32_MAX;
    double *ends = s->extreme_totals ? &s->extreme_totals[TY_EXTREMES_FIELDS * to] : NULL;
    s->odds[to] = (unsigned char)cell[STATISTICS_ODD];
    if (s->kind == TY_STATISTICS_EXACT)
        ((ty_exact *)s->totals)[to] = exact_of(cell);
    if (!ends || !cell[STATISTICS_N])
        return;
    ends[0] = -key_value(value, cell[STATISTICS_COMPLEMENT] ^ below);
    ends[1] = key_value(value, cell[STATISTICS_LARGEST]);
    if (cell[STATISTICS_ODD] & 4)
        ends[0] = ends[1] = NAN;
}

static void take(const ty_call *c, const uint64_t *words)
{
    ty_job *job = c->job;
    ty_statistics *s = job->statistics;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t *state = words + ty_state_at(c, i);
        if (state[STATISTICS_BEYOND])
            ty_job_beyond(job);
        const uint32_t given = ty_given_exponent(s, i);
        const uint64_t guess = state[STATISTICS_GUESS], found = state[STATISTICS_EXPONENT];
        s->exponents[i] =
            given ? (int)given - STATISTICS_GIVEN : (int)(found > guess ? found : guess) - 1022;
        if (s->exponents[i] < STATISTICS_LEAST)
            s->exponents[i] = STATISTICS_LEAST;
        for (uint64_t h = 0; h < job->histograms; h++)
            for (uint64_t slot = 0; slot < c->plan->slots; slot++)
                take_cell(s, i, (i * job->histograms + h) * s->entries + slot,
                          words + ty_cell_at(c, i, h) + slot * STATISTICS_CELL);
    }
    for (uint64_t h = 0; h < job->histograms; h++)
        for (int f = 0; f < TY_SLOT_EXTRA; f++)
            ty_job_flows(job, h)[f] += words[ty_flows_at(c, h) + (unsigned)f];
}

tally_status ty_statistics_fetch(ty_call *c, ty_memory memory, tally_error *error)
{
    const ty_device_ops *ops = c->device->ops;
    const size_t bytes = (size_t)ty_all_words(c) * 8;
    uint64_t *words = ty_large(bytes);
    if (!words)
        return ty_error_memory(error, "statistics", bytes);
    tally_status status = ops->download(c->device, c->queue, words, memory, 0, bytes, error);
    const tally_status waited =
        ops->wait(c->device, c->queue, status ? NULL : error); /* before `words` goes */
    status = status ? status : waited;
    if (!status)
        take(c, words);
    ty_free(words);
    return status;
}

/* ---- left on the device ---- */

enum { ARRAYS = 8 };

/* The arrays that are there, as bits, and as arguments; `other` for those that are not. */
static uint32_t put_arrays(const tally_statistics *s, ty_memory other, ty_arg *args)
{
    uint32_t wanted = 0;
    const void *const arrays[ARRAYS] = {
        s->count, s->weight, s->weight_squares, s->sum, s->mean, s->m2, s->min, s->max};
    for (int i = 0; i < ARRAYS; i++) {
        args[i] = ty_arg_memory(arrays[i] ? (ty_memory)(uintptr_t)arrays[i] : other);
        wanted |= (uint32_t)(arrays[i] != NULL) << i;
    }
    return wanted;
}

static tally_status check_arrays(const ty_call *c, const tally_statistics *s, uint64_t cells,
                                 tally_error *error)
{
    const void *const arrays[ARRAYS] = {
        s->count, s->weight, s->weight_squares, s->sum, s->mean, s->m2, s->min, s->max};
    tally_status status = TALLY_OK;
    for (int i = 0; i < ARRAYS && !status; i++)
        if (arrays[i])
            status = ty_store_check_memory(c, arrays[i], cells, 8, "statistics", error);
    return status;
}

tally_status ty_statistics_check_output(const ty_call *c, tally_error *error)
{
    const ty_job *job = c->job;
    const uint64_t rows = job->statistics->count * job->histograms;
    if (c->recording && !job->output->on_device)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "stream: it is recording a graph, and the statistics are to be in host "
                        "memory: the call would have to wait for the device");
    if (!job->output->on_device)
        return TALLY_OK;
    if (ty_plan_may_fail(c->plan))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "on_device: a policy has to look at the samples; take the statistics to "
                        "host memory");
    tally_status status = check_arrays(c, job->statistics->bins, rows * c->plan->bins, error);
    return status ? status : check_arrays(c, job->statistics->flows, rows * 4, error);
}

/* A column's statistics, to the caller's arrays. */
tally_status ty_statistics_finish(const ty_column *x, tally_error *error)
{
    ty_call *c = x->call;
    const tally_plan *plan = c->plan;
    const tally_axis *a = &plan->axes[0].about;
    const int one = plan->options.dimensions == 1;
    const uint64_t h = c->job->histograms, all = h * (plan->bins + 4);
    ty_arg args[9 + 2 * ARRAYS] = {ty_arg_memory(x->memory),
                                   ty_arg_u64(ty_cell_at(c, x->number, 0)),
                                   ty_arg_u64(ty_state_at(c, x->number)),
                                   ty_arg_u32((uint32_t)plan->slots),
                                   ty_arg_u64(h),
                                   ty_arg_u64(x->number * h)};
    uint32_t wanted = put_arrays(c->job->statistics->bins, x->memory, args + 9);
    wanted |= put_arrays(c->job->statistics->flows, x->memory, args + 9 + ARRAYS) << ARRAYS;
    args[6] = ty_arg_u32((one && a->under == TALLY_FLOW_CLAMP ? TY_OUT_CLAMP_UNDER : 0u) |
                         (one && a->over == TALLY_FLOW_CLAMP ? TY_OUT_CLAMP_OVER : 0u));
    args[7] = ty_arg_u32(x->given);
    args[8] = ty_arg_u32(wanted);
    const ty_launch finish = {(uint32_t)((all + 255) / 256), 256,       16, args,
                              sizeof args / sizeof *args,    .early = 0};
    return ty_call_launch(c, "statistics_finish", &finish, error);
}
