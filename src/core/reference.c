/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow obvious reference: the oracle that every method is compared with. It shares nothing with
 * bin.h or the fast loops: samples become long double, which holds every dtype exactly, edges are a
 * plain table, and a sample's bin is found by searching that table.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/source.h"
#include "plan/plan.h"

_Static_assert(LDBL_MANT_DIG >= 64, "long double must hold every 64-bit integer exactly");

static long double decode(const void *at, tally_dtype dtype)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
        float f32;
        double f64;
    } v;
    memcpy(&v, at, tally_dtype_bytes(dtype));
    switch (dtype) {
    case TALLY_U8:
        return v.u8;
    case TALLY_I8:
        return v.i8;
    case TALLY_U16:
        return v.u16;
    case TALLY_I16:
        return v.i16;
    case TALLY_U32:
        return v.u32;
    case TALLY_I32:
        return v.i32;
    case TALLY_U64:
        return (long double)v.u64;
    case TALLY_I64:
        return (long double)v.i64;
    case TALLY_F16: {
        int exponent = v.u16 >> 10 & 31, fraction = v.u16 & 1023;
        long double size = exponent == 31  ? (fraction ? (long double)NAN : (long double)INFINITY)
                           : exponent == 0 ? ldexpl(fraction, -24)
                                           : ldexpl(1024 + fraction, exponent - 25);
        return v.u16 >> 15 ? -size : size;
    }
    case TALLY_BF16:
        return ty_bf16_decode(v.u16);
    case TALLY_F32:
        return v.f32;
    case TALLY_F64:
        return v.f64;
    }
    return (long double)NAN;
}

/* One coordinate's slot, relative to its own axis. */
static uint64_t find_slot(long double x, const ty_axis *axis, const double *edges)
{
    uint64_t n = axis->bins.bins;
    if (axis->categories) {
        uint16_t c = axis->categories[(int)x];
        return c == TALLY_CATEGORY_NONE ? n + TY_SLOT_OVER : c;
    }
    if (isnan(x))
        return n + TY_SLOT_NAN;
    if (x < edges[0])
        return n + TY_SLOT_UNDER;
    if (x > edges[n])
        return n + TY_SLOT_OVER;
    if (x == edges[n])
        return axis->about.last == TALLY_LAST_CLOSED ? n - 1 : n + TY_SLOT_OVER;
    uint64_t low = 0, high = n; /* edges[low] <= x < edges[high] */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (edges[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The joint slot: masked, failed, NaN, then the first coordinate outside. */
static uint64_t joint_slot(const ty_job *job, uint64_t batch, uint64_t element,
                           double *const *edges)
{
    const tally_plan *plan = job->plan;
    uint64_t joint = 0, outside = 0;
    int failed = 0, nan = 0, out = 0;
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        const ty_axis *axis = &plan->axes[d];
        uint64_t n = axis->bins.bins;
        const void *at = ty_grid_at(&job->samples[d], batch, element, 0);
        uint64_t slot = find_slot(decode(at, axis->dtype), axis, edges[d]);
        if (slot >= n) {
            uint64_t flow = slot - n;
            tally_flow policy = flow == TY_SLOT_UNDER  ? axis->about.under
                                : flow == TY_SLOT_OVER ? axis->about.over
                                                       : axis->about.nan;
            if (policy == TALLY_FLOW_CLAMP) {
                slot = flow == TY_SLOT_UNDER ? 0 : n - 1;
            } else {
                failed |= policy == TALLY_FLOW_FAIL;
                nan |= flow == TY_SLOT_NAN;
                if (!out)
                    outside = flow;
                out = 1;
            }
        }
        joint = joint * n + slot;
    }
    if (failed)
        return plan->bins + TY_SLOT_FAILED;
    if (nan)
        return plan->bins + TY_SLOT_NAN;
    return out ? plan->bins + outside : joint;
}

static void add_weight(ty_job *job, uint64_t cell, const void *at)
{
    tally_dtype dtype = job->plan->options.weight_dtype;
    long double w = decode(at, dtype);
    if (job->sums)
        job->sums[cell] += (double)w;
    if (job->plan->weighted == TALLY_RESULT_SUMS_WIDE) {
        const long double scaled = ldexpl(w, 63 - job->plan->weight_exponent);
        if (fabsl(scaled) < 0x1p63L)
            ty_carry_add(&job->isums[cell], &job->carries[cell], (int64_t)nearbyintl(scaled));
        else
            ty_job_beyond(job);
    } else if (job->isums) {
        int64_t i;
        uint64_t u = 0;
        if (dtype == TALLY_U64 || dtype == TALLY_I64)
            memcpy(&u, at, sizeof u);
        else
            u = (uint64_t)(int64_t)w;
        int over = dtype == TALLY_U64 ? __builtin_add_overflow(job->isums[cell], u, &i)
                                      : __builtin_add_overflow(job->isums[cell], (int64_t)u, &i);
        job->isums[cell] = i;
        if (over)
            job->carries[cell] += dtype == TALLY_U64 || (int64_t)u >= 0 ? 1 : -1;
    }
    if (job->squares)
        job->squares[cell] += (double)w * (double)w;
}

static void count_channel(ty_job *job, uint64_t batch, uint64_t histogram, uint64_t channel,
                          double *const *edges)
{
    const tally_plan *plan = job->plan;
    for (uint64_t e = 0; e < job->elements; e++) {
        uint64_t slot;
        if (job->mask.data && !*ty_grid_at(&job->mask, batch, e, 0))
            slot = plan->bins + TY_SLOT_MASKED;
        else if (plan->options.dimensions > 1)
            slot = joint_slot(job, batch, e, edges);
        else
            slot = find_slot(
                decode(ty_grid_at(&job->samples[0], batch, e, channel), plan->axes[0].dtype),
                &plan->axes[0], edges[0]);
        uint64_t cell = histogram * plan->slots + slot;
        job->totals[cell]++;
        if (plan->weighted)
            add_weight(job, cell, ty_grid_at(&job->weights, batch, e, channel));
    }
}

/* Element by element, from memory; from a source, a buffer of them at a time. */
static tally_status count_all(ty_job *job, double *const *edges, tally_error *error)
{
    const tally_plan *plan = job->plan;
    for (uint64_t b = 0; b < job->batches; b++) {
        for (uint64_t a = 0; a < plan->active_count; a++)
            count_channel(job, b, b * plan->active_count + a, plan->active[a], edges);
        if (job->progress &&
            job->progress(job->user, (b + 1) * job->elements, job->batches * job->elements))
            return ty_error(error, TALLY_ERROR_CANCELLED, "cancelled");
    }
    return TALLY_OK;
}

static tally_status count_source(ty_job *job, double *const *edges, tally_error *error)
{
    ty_grid *grids[TALLY_MAX_DIMENSIONS + 2];
    ty_source_buffers buffers;
    unsigned count = ty_job_grids(job, grids);
    tally_status status = ty_source_buffers_make(&buffers, grids, count, 1, error);
    for (uint64_t n, begin = 0; begin < job->elements && !status; begin += n) {
        ty_job piece = *job;
        count = ty_job_grids(&piece, grids);
        n = ty_source_load(&buffers, 0, grids, count, begin, job->elements - begin);
        piece.elements = n;
        status = count_all(&piece, edges, error);
        ty_source_unload(grids, count, begin);
    }
    ty_source_buffers_free(&buffers);
    return status;
}

tally_status ty_reference_run(ty_job *job, tally_error *error)
{
    const tally_plan *plan = job->plan;
    double *edges[TALLY_MAX_DIMENSIONS] = {0};
    tally_status status = TALLY_OK;
    for (uint32_t d = 0; d < plan->options.dimensions && !status; d++) {
        uint64_t n = plan->axes[d].bins.bins;
        edges[d] = ty_malloc((size_t)(n + 1) * sizeof(double));
        if (!edges[d])
            status = ty_error_memory(error, "the reference's edges", (n + 1) * sizeof(double));
        else
            status = tally_axis_edges_get(&plan->axes[d].about, edges[d], error);
    }
    if (!status)
        status = job->failure ? count_source(job, edges, error) : count_all(job, edges, error);
    for (uint32_t d = 0; d < TALLY_MAX_DIMENSIONS; d++)
        ty_free(edges[d]);
    return status;
}
