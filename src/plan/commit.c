/* SPDX-License-Identifier: Apache-2.0 */
/* From a job's totals to the caller's output: policies, clamping, counter widths. All the checks
 * come before the first write, so that a refused call leaves the output as it was. */
#include <inttypes.h>
#include <string.h>

#include "core/error.h"
#include "plan/plan.h"

/* In one dimension flows are resolved here; in several, the slots are already resolved. */
static int clamps(const tally_plan *plan, int slot)
{
    const tally_axis *a = &plan->axes[0].about;
    if (plan->options.dimensions > 1)
        return 0;
    return (slot == TY_SLOT_UNDER  ? a->under
            : slot == TY_SLOT_OVER ? a->over
                                   : a->nan) == TALLY_FLOW_CLAMP;
}

uint32_t ty_plan_clamped(const tally_plan *plan, uint32_t slot)
{
    if (slot == plan->bins + TY_SLOT_UNDER && clamps(plan, TY_SLOT_UNDER))
        return 0;
    if (slot == plan->bins + TY_SLOT_OVER && clamps(plan, TY_SLOT_OVER))
        return plan->bins - 1;
    return slot;
}

static tally_status check_flows(const ty_job *job, const uint64_t *flows, tally_error *error)
{
    const tally_plan *plan = job->plan;
    const tally_axis *a = &plan->axes[0].about;
    if (plan->options.dimensions > 1) {
        if (flows[TY_SLOT_FAILED])
            return ty_error(error, TALLY_ERROR_DATA,
                            "%" PRIu64 " samples are NaN or outside an axis whose policy is fail",
                            flows[TY_SLOT_FAILED]);
        return TALLY_OK;
    }
    if (a->under == TALLY_FLOW_FAIL && flows[TY_SLOT_UNDER])
        return ty_error(error, TALLY_ERROR_DATA,
                        "%" PRIu64 " samples are below %.17g, the first edge", flows[TY_SLOT_UNDER],
                        plan->axes[0].bins.lo);
    if (a->over == TALLY_FLOW_FAIL && flows[TY_SLOT_OVER])
        return ty_error(error, TALLY_ERROR_DATA,
                        "%" PRIu64 " samples are above %.17g, the last edge", flows[TY_SLOT_OVER],
                        plan->axes[0].bins.hi);
    if (a->nan == TALLY_FLOW_FAIL && flows[TY_SLOT_NAN])
        return ty_error(error, TALLY_ERROR_DATA, "%" PRIu64 " samples are NaN", flows[TY_SLOT_NAN]);
    return TALLY_OK;
}

/* What slot `from` of the row adds to bin i, clamped flows included. */
#define CLAMPED(row, i)                                                                            \
    ((row)[i] + ((i) == 0 && clamp_under ? (row)[bins + TY_SLOT_UNDER] : 0) +                      \
     ((i) == bins - 1 && clamp_over ? (row)[bins + TY_SLOT_OVER] : 0))

int ty_plan_may_fail(const tally_plan *plan)
{
    int fails = 0;
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        const tally_axis *a = &plan->axes[d].about;
        fails |=
            a->under == TALLY_FLOW_FAIL || a->over == TALLY_FLOW_FAIL || a->nan == TALLY_FLOW_FAIL;
    }
    return fails;
}

static int is_atomic(const ty_job *job)
{
    return job->output->accumulate == TALLY_ACCUMULATE_ATOMIC;
}

/* Whether every count of the output may grow by all of a histogram's samples. */
static int all_can_grow(const ty_job *job)
{
    const uint64_t bins = job->histograms * job->plan->bins, *counts = job->output->counts;
    int full = 0;
    for (uint64_t i = 0; i < bins; i++)
        full |= counts[i] > UINT64_MAX - job->elements;
    return !full;
}

int ty_job_surely_commits(const ty_job *job)
{
    const tally_plan *plan = job->plan;
    return !ty_plan_may_fail(plan) && !plan->weighted && !job->progress && !is_atomic(job) &&
           plan->options.counter == TALLY_COUNTER_U64 &&
           (!job->output->accumulate || all_can_grow(job));
}

/* Adds the sum of integers at `at` to *sum, whose carries *carries counts. */
static void add_slot(const ty_job *job, uint64_t at, int64_t *sum, int64_t *carries)
{
    ty_carry_add(sum, carries, job->isums[at]);
    *carries += job->carries[at];
}

/* Sums may pass int64 on the way; what a bin has in the end may not. */
static tally_status check_integers(const ty_job *job, uint64_t h, tally_error *error)
{
    const tally_plan *plan = job->plan;
    const uint64_t bins = plan->bins, first = h * plan->slots;
    const int64_t *to = (const int64_t *)job->output->counts + h * bins;
    const int clamp_under = clamps(plan, TY_SLOT_UNDER), clamp_over = clamps(plan, TY_SLOT_OVER);
    for (uint64_t i = 0; i < bins; i++) {
        int64_t sum = job->output->accumulate ? to[i] : 0, carries = 0;
        add_slot(job, first + i, &sum, &carries);
        if (i == 0 && clamp_under)
            add_slot(job, first + bins + TY_SLOT_UNDER, &sum, &carries);
        if (i == bins - 1 && clamp_over)
            add_slot(job, first + bins + TY_SLOT_OVER, &sum, &carries);
        if (carries)
            return ty_error(error, TALLY_ERROR_DATA,
                            "bin %" PRIu64 ": the sum of its weights passes int64", i);
    }
    return TALLY_OK;
}

static tally_status check_widths(const ty_job *job, uint64_t h, tally_error *error)
{
    const tally_plan *plan = job->plan;
    uint64_t bins = plan->bins;
    int clamp_under = clamps(plan, TY_SLOT_UNDER), clamp_over = clamps(plan, TY_SLOT_OVER);
    int add = job->output->accumulate;
    if (plan->weighted == TALLY_RESULT_SUMS_WIDE)
        return TALLY_OK;
    if (job->isums)
        return check_integers(job, h, error);
    if (plan->options.counter == TALLY_COUNTER_U32 && !job->sums) {
        const uint64_t *row = ty_job_bins(job, h);
        const uint32_t *to = (uint32_t *)job->output->counts + h * bins;
        for (uint64_t i = 0; i < bins; i++) {
            if (CLAMPED(row, i) + (add ? to[i] : 0) > UINT32_MAX)
                return ty_error(error, TALLY_ERROR_DATA,
                                "bin %" PRIu64 ": its count passes a u32 counter; use u64", i);
        }
    } else if (plan->options.counter == TALLY_COUNTER_U64 && !job->sums && add) {
        const uint64_t *row = ty_job_bins(job, h);
        const uint64_t *to = (uint64_t *)job->output->counts + h * bins;
        for (uint64_t i = 0; i < bins; i++) {
            const uint64_t old = is_atomic(job) ? __atomic_load_n(&to[i], __ATOMIC_RELAXED) : to[i];
            if (old > UINT64_MAX - CLAMPED(row, i))
                return ty_error(error, TALLY_ERROR_DATA, "bin %" PRIu64 ": its count passes 2^64-1",
                                i);
        }
    }
    return TALLY_OK;
}

/* Flows of an output, in the order of their slots. */
enum { flow_count = 4 };

static tally_status check_flow_sums(const ty_job *job, uint64_t h, tally_error *error)
{
    static const char *const names[flow_count] = {"below the bins", "above the bins",
                                                  "that are NaN", "that are masked"};
    const tally_plan *plan = job->plan;
    const int64_t *there = (const int64_t *)job->output->flow_sums + h * flow_count;
    for (int f = 0; plan->weighted == TALLY_RESULT_SUMS_I64 && f < flow_count; f++) {
        int64_t sum = job->output->accumulate ? there[f] : 0, carries = 0;
        add_slot(job, ty_job_flow_at(job, h, (unsigned)f), &sum, &carries);
        if (!clamps(plan, f) && carries)
            return ty_error(error, TALLY_ERROR_DATA,
                            "the sum of the weights of samples %s passes int64", names[f]);
    }
    return TALLY_OK;
}

/* While other threads may add to the same counts. */
static void add_atomically(const ty_job *job, uint64_t h)
{
    const tally_plan *plan = job->plan;
    const uint64_t *row = ty_job_bins(job, h);
    uint64_t *to = (uint64_t *)job->output->counts + h * plan->bins;
    for (uint64_t s = 0; s < plan->slots; s++) {
        const uint32_t bin = s < plan->bins ? (uint32_t)s : ty_plan_clamped(plan, (uint32_t)s);
        if (row[s] && bin < plan->bins)
            __atomic_fetch_add(&to[bin], row[s], __ATOMIC_RELAXED);
    }
}

/* The sum at `at`, as one number of 128 bits. */
static tally_wide wide_at(const ty_job *job, uint64_t at)
{
    const int64_t low = job->isums[at];
    return (tally_wide){(uint64_t)low, job->carries[at] - (low < 0)};
}

static void write_wide(const ty_job *job, uint64_t h)
{
    const tally_plan *plan = job->plan;
    tally_wide *to = (tally_wide *)job->output->counts + h * plan->bins;
    if (!job->output->accumulate)
        memset(to, 0, plan->bins * sizeof *to);
    for (uint64_t s = 0; s < plan->slots; s++) {
        const uint32_t bin = s < plan->bins ? (uint32_t)s : ty_plan_clamped(plan, (uint32_t)s);
        const tally_wide sum = wide_at(job, h * plan->slots + s);
        if (bin < plan->bins)
            tally_wide_add(&to[bin], &sum, 1);
    }
}

static void write_wide_flow_sums(const ty_job *job, uint64_t h)
{
    tally_wide *to = (tally_wide *)job->output->flow_sums + h * flow_count;
    if (!job->output->accumulate)
        memset(to, 0, flow_count * sizeof *to);
    for (int f = 0; f < flow_count; f++) {
        const tally_wide sum = wide_at(job, ty_job_flow_at(job, h, (unsigned)f));
        if (!clamps(job->plan, f))
            tally_wide_add(&to[f], &sum, 1);
    }
}

static void write_counts(const ty_job *job, uint64_t h)
{
    const tally_plan *plan = job->plan;
    uint64_t bins = plan->bins;
    int clamp_under = clamps(plan, TY_SLOT_UNDER), clamp_over = clamps(plan, TY_SLOT_OVER);
    int add = job->output->accumulate;
    const uint64_t *row = ty_job_bins(job, h), *flows = ty_job_flows(job, h);
#define WRITE(type, from, flows)                                                                   \
    do {                                                                                           \
        type *to = (type *)job->output->counts + h * bins;                                         \
        if (add && !job->direct) {                                                                 \
            for (uint64_t i = 0; i < bins; i++)                                                    \
                to[i] = (type)(to[i] + (from)[i]);                                                 \
        } else if (sizeof(type) == sizeof *(from)) {                                               \
            if (!job->direct)                                                                      \
                memcpy(to, from, (size_t)bins * sizeof *to);                                       \
        } else {                                                                                   \
            for (uint64_t i = 0; i < bins; i++)                                                    \
                to[i] = (type)(from)[i];                                                           \
        }                                                                                          \
        if (clamp_under)                                                                           \
            to[0] = (type)(to[0] + (flows)[TY_SLOT_UNDER]);                                        \
        if (clamp_over)                                                                            \
            to[bins - 1] = (type)(to[bins - 1] + (flows)[TY_SLOT_OVER]);                           \
    } while (0)
#define WRITE_SATURATING(type, limit)                                                              \
    do {                                                                                           \
        type *to = (type *)job->output->counts + h * bins;                                         \
        for (uint64_t i = 0; i < bins; i++) {                                                      \
            uint64_t sum = (add ? to[i] : 0) + CLAMPED(row, i);                                    \
            to[i] = sum > (limit) ? (limit) : (type)sum;                                           \
        }                                                                                          \
    } while (0)
    if (job->sums)
        WRITE(double, job->sums + h * plan->slots, job->sums + h * plan->slots + bins);
    else if (job->isums) /* as unsigned numbers: they may wrap on the way */
        WRITE(uint64_t, (const uint64_t *)job->isums + h * plan->slots,
              (const uint64_t *)job->isums + h * plan->slots + bins);
    else if (plan->options.counter == TALLY_COUNTER_U64)
        WRITE(uint64_t, row, flows);
    else if (plan->options.counter == TALLY_COUNTER_U32)
        WRITE(uint32_t, row, flows);
    else if (plan->options.counter == TALLY_COUNTER_U16SAT)
        WRITE_SATURATING(uint16_t, UINT16_MAX);
    else
        WRITE_SATURATING(uint8_t, UINT8_MAX);
#undef WRITE
#undef WRITE_SATURATING
}

static void write_squares(const ty_job *job, uint64_t h)
{
    uint64_t bins = job->plan->bins;
    int clamp_under = clamps(job->plan, TY_SLOT_UNDER),
        clamp_over = clamps(job->plan, TY_SLOT_OVER);
    const double *row = job->squares + h * job->plan->slots;
    double *to = job->output->sum_squares + h * bins;
    for (uint64_t i = 0; i < bins; i++)
        to[i] = (job->output->accumulate ? to[i] : 0) + CLAMPED(row, i);
}

static void write_flows(const ty_job *job, uint64_t h)
{
    const uint64_t *flows = ty_job_flows(job, h);
    tally_flows *to = &job->output->flows[h], zero = {0, 0, 0, 0};
    const tally_flows more = {clamps(job->plan, TY_SLOT_UNDER) ? 0 : flows[TY_SLOT_UNDER],
                              clamps(job->plan, TY_SLOT_OVER) ? 0 : flows[TY_SLOT_OVER],
                              flows[TY_SLOT_NAN], flows[TY_SLOT_MASKED]};
    if (is_atomic(job)) {
        __atomic_fetch_add(&to->under, more.under, __ATOMIC_RELAXED);
        __atomic_fetch_add(&to->over, more.over, __ATOMIC_RELAXED);
        __atomic_fetch_add(&to->nan, more.nan, __ATOMIC_RELAXED);
        __atomic_fetch_add(&to->masked, more.masked, __ATOMIC_RELAXED);
        return;
    }
    if (!job->output->accumulate)
        *to = zero;
    to->under += more.under;
    to->over += more.over;
    to->nan += more.nan;
    to->masked += more.masked;
}

tally_status ty_job_check_flows(const ty_job *job, tally_error *error)
{
    tally_status status = TALLY_OK;
    if (*job->beyond_at)
        return ty_error(error, TALLY_ERROR_DATA,
                        "a weight is NaN, or beyond the plan's weight_limit of %.17g (weights stay "
                        "below the next power of two)",
                        job->plan->options.weight_limit);
    for (uint64_t h = 0; h < job->histograms && !status; h++) {
        status = check_flows(job, ty_job_flows(job, h), error);
        if (!status && job->output->flow_sums)
            status = check_flow_sums(job, h, error);
    }
    return status;
}

static void write_flow_sums(const ty_job *job, uint64_t h)
{
    const tally_plan *plan = job->plan;
    const int add = job->output->accumulate;
    for (int f = 0; f < flow_count; f++) {
        const uint64_t from = ty_job_flow_at(job, h, (unsigned)f),
                       to = h * flow_count + (unsigned)f;
        const int clamped = clamps(plan, f);
        double *floats = job->output->flow_sums;
        uint64_t *whole = job->output->flow_sums;
        if (job->sums)
            floats[to] = (add ? floats[to] : 0) + (clamped ? 0 : job->sums[from]);
        else
            whole[to] = (add ? whole[to] : 0) + (clamped ? 0 : (uint64_t)job->isums[from]);
    }
}

tally_status ty_job_commit(const ty_job *job, tally_error *error)
{
    tally_status status = ty_job_check_flows(job, error);
    for (uint64_t h = 0; h < job->histograms && !status && !job->direct; h++)
        status = check_widths(job, h, error);
    if (status)
        return status;
    for (uint64_t h = 0; h < job->histograms; h++) {
        if (is_atomic(job) && !job->walk)
            add_atomically(job, h);
        else if (job->plan->weighted == TALLY_RESULT_SUMS_WIDE)
            write_wide(job, h);
        else if (!job->walk)
            write_counts(job, h);
        if (job->squares && !job->walk)
            write_squares(job, h);
        if (job->output->flows)
            write_flows(job, h);
        if (job->output->flow_sums)
            (job->plan->weighted == TALLY_RESULT_SUMS_WIDE ? write_wide_flow_sums
                                                           : write_flow_sums)(job, h);
    }
    return TALLY_OK;
}
