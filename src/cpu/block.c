/* SPDX-License-Identifier: Apache-2.0 */
/* One block of elements, whatever its layout: slots of all dimensions joined, mask applied. */
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/join.h"

/* An axis' flow slots under its policies, for a joint table: a bin (clamped), or a code above every
 * bin that remembers which flow. Codes order by precedence: under and over 1, NaN 2, failed 3. */
typedef struct {
    uint32_t bins;
    uint32_t bin[3];  /* UINT32_MAX: none, see rank */
    uint32_t rank[3]; /* of under, over, NaN when not clamped */
} policy;

static policy resolve(const ty_axis *axis)
{
    tally_flow flows[3] = {axis->about.under, axis->about.over, axis->about.nan};
    policy p = {axis->bins.bins, {0, axis->bins.bins - 1, UINT32_MAX}, {1, 1, 2}};
    for (int i = 0; i < 3; i++) {
        if (flows[i] != TALLY_FLOW_CLAMP)
            p.bin[i] = UINT32_MAX;
        if (flows[i] == TALLY_FLOW_FAIL)
            p.rank[i] = 3;
    }
    return p;
}

/* Joins the slots of one more axis to `slots`, under any policies. While an element is in a bin of
 * every axis so far its joint value is below `sofar`, the product of their bins; outside, it is
 * total + flow. */
static void join_failing(const ty_axis *axis, uint32_t total, uint32_t *slots, const uint32_t *more,
                         size_t n)
{
    static const uint32_t flow_of_rank[4] = {0, 0, TY_SLOT_NAN, TY_SLOT_FAILED};
    policy p = resolve(axis);
    for (size_t i = 0; i < n; i++) {
        uint32_t s = more[i], flow = s - p.bins;
        if (s >= p.bins && p.bin[flow] != UINT32_MAX)
            s = p.bin[flow];
        if (s < p.bins) {
            slots[i] = slots[i] >= total ? slots[i] : slots[i] * p.bins + s;
            continue;
        }
        uint32_t old = slots[i] < total                     ? 0
                       : slots[i] == total + TY_SLOT_FAILED ? 3
                       : slots[i] == total + TY_SLOT_NAN    ? 2
                                                            : 1;
        if (p.rank[flow] > old)
            slots[i] = total + (p.rank[flow] == 1 ? flow : flow_of_rank[p.rank[flow]]);
    }
}

static void join(const ty_axis *axis, uint32_t total, uint32_t *slots, const uint32_t *more,
                 size_t n)
{
    const uint32_t bins = axis->bins.bins;
    const ty_join_axis a = {total, bins,
                            axis->about.under == TALLY_FLOW_CLAMP ? 0 : bins + TY_SLOT_UNDER,
                            axis->about.over == TALLY_FLOW_CLAMP ? bins - 1 : bins + TY_SLOT_OVER};
    ty_join_loops_get()->join(&a, slots, more, n);
}

static void axis_slots(const ty_job *job, uint32_t d, uint64_t batch, uint64_t channel,
                       uint64_t begin, size_t n, ty_block *block, uint32_t *slots)
{
    const ty_cpu_plan *state = job->plan->state;
    const void *x = ty_grid_block(&job->samples[d], batch, channel, begin, n, block->samples);
    state->slots[d](&job->plan->axes[d], x, n, slots);
}

void ty_block_slots(const ty_job *job, uint64_t batch, uint64_t channel, uint64_t begin, size_t n,
                    ty_block *block)
{
    const tally_plan *plan = job->plan;
    if (plan->options.dimensions == 1) {
        axis_slots(job, 0, batch, channel, begin, n, block, block->slots);
    } else {
        const int failing = ty_plan_may_fail(plan);
        memset(block->slots, 0, n * sizeof *block->slots);
        for (uint32_t d = 0; d < plan->options.dimensions; d++) {
            axis_slots(job, d, batch, channel, begin, n, block, block->other);
            (failing ? join_failing : join)(&plan->axes[d], plan->bins, block->slots, block->other,
                                            n);
        }
    }
    if (job->mask.data) {
        const unsigned char *keep = ty_grid_block(&job->mask, batch, 0, begin, n, block->mask);
        ty_join_loops_get()->mask(block->slots, keep, n, plan->bins + TY_SLOT_MASKED);
    }
}

uint64_t *ty_totals_of(const ty_job *job, uint64_t batch, uint64_t active)
{
    return job->totals + (batch * job->plan->active_count + active) * job->plan->slots;
}
