/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu-tables: slots by blocks, then one increment a sample. Every dtype, axis, layout and mask.
 */
#include "cpu/counters.h"
#include "plan/cost.h"
#include "plan/registry.h"

static void count(void *state, const ty_job *job, uint64_t batch, uint64_t begin, uint64_t end)
{
    const tally_plan *plan = job->plan;
    const unsigned shift = ty_table_shift(job);
    ty_block block;
    while (begin < end) {
        size_t n = end - begin < TY_BLOCK ? (size_t)(end - begin) : TY_BLOCK;
        for (uint64_t a = 0; a < plan->active_count; a++) {
            ty_block_slots(job, batch, plan->active[a], begin, n, &block);
            ty_table_add(ty_table_of(state, job, a), shift, block.slots, n);
        }
        begin += n;
    }
}

static const ty_cpu_method method = {
    .state_bytes = ty_table_bytes,
    .count = count,
    .flush = ty_table_flush,
    .most = TY_TABLE_MOST,
    .direct = 1,
};

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    return ty_cpu_unweighted(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "serves every dtype, axis and layout";
    return ty_cost(plan, "cpu-tables");
}

const ty_method ty_cpu_tables = {
    "cpu-tables", "tally",    "slots by blocks, then several tables of 32-bit counters",
    TY_ON_CPU,    UINT32_MAX, 1,
    TY_MAX_BINS,  NULL,       supports,
    cost,         &method,
};
