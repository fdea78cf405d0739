/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu-overlap: one axis. The slots of a block are found with vectors (cpu/even.h; for uneven edges,
 * the buckets of cpu/buckets.h) while those of an earlier block are counted, so that the two kinds
 * of work share the processor's cycles. What is not packed, or masked, goes by blocks as in
 * cpu-tables.
 */
#include "core/error.h"
#include "cpu/counters.h"
#include "cpu/even.h"
#include "cpu/features.h"
#include "plan/cost.h"
#include "plan/registry.h"

/* Rows that are too short to stream: gathering several into a block is quicker. */
enum { SHORT_ROW = 256 };

static int streams(const ty_job *job)
{
    const ty_grid *g = &job->samples[0];
    const ty_cpu_plan *state = job->plan->state;
    return state->add && !job->mask.data && g->column_stride == (int64_t)g->size &&
           (g->rows == 1 || g->columns >= SHORT_ROW);
}

static void count_rows(uint32_t *table, unsigned shift, ty_add_fn add, const ty_job *job,
                       uint64_t batch, uint64_t channel, uint64_t begin, uint64_t end)
{
    const ty_grid *g = &job->samples[0];
    while (begin < end) {
        uint64_t left = g->columns - begin % g->columns,
                 n = end - begin < left ? end - begin : left;
        add(&job->plan->axes[0], ty_grid_at(g, batch, begin, channel), (size_t)n, table, shift);
        begin += n;
    }
}

static void count_blocks(uint32_t *table, unsigned shift, const ty_job *job, uint64_t batch,
                         uint64_t channel, uint64_t begin, uint64_t end)
{
    ty_block block;
    while (begin < end) {
        size_t n = end - begin < TY_BLOCK ? (size_t)(end - begin) : TY_BLOCK;
        ty_block_slots(job, batch, channel, begin, n, &block);
        ty_table_add(table, shift, block.slots, n);
        begin += n;
    }
}

/* Elements whose channels are counted one after the other while they are still in a cache. */
enum { STRIPE = 1 << 14 };

void ty_overlap_count(void *state, const ty_job *job, uint64_t batch, uint64_t begin, uint64_t end)
{
    const tally_plan *plan = job->plan;
    const unsigned shift = ty_table_shift(job);
    const ty_add_fn add = ((const ty_cpu_plan *)plan->state)->add;
    const int packed = streams(job);
    const uint64_t stripe = plan->active_count > 1 ? STRIPE : UINT64_MAX;
    while (begin < end) {
        uint64_t n = end - begin < stripe ? end - begin : stripe;
        for (uint64_t a = 0; a < plan->active_count; a++) {
            uint32_t *table = ty_table_of(state, job, a);
            if (packed)
                count_rows(table, shift, add, job, batch, plan->active[a], begin, begin + n);
            else
                count_blocks(table, shift, job, batch, plan->active[a], begin, begin + n);
        }
        begin += n;
    }
}

void ty_overlap_flush(void *state, ty_job *job, uint64_t batch)
{
    if (streams(job))
        ty_table_flush_cells(state, job, batch);
    else
        ty_table_flush(state, job, batch);
}

static const ty_cpu_method method = {
    .state_bytes = ty_table_bytes,
    .count = ty_overlap_count,
    .flush = ty_overlap_flush,
    .most = TY_TABLE_MOST,
    .direct = 1,
};

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    if (plan->options.dimensions > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "method cpu-overlap counts one dimension");
    if (!ty_even_serves(&plan->axes[0]))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "method cpu-overlap needs an even, nearly even or integer axis of at most "
                        "2^28 bins, none narrower than 2^-46 of its largest edge");
    return ty_cpu_unweighted(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "vector arithmetic overlapped with counting";
    return ty_cost(plan, "cpu-overlap");
}

const ty_method ty_cpu_overlap = {
    "cpu-overlap",
    "tally",
    "vectors find slots while earlier ones are counted",
    TY_ON_CPU,
    UINT32_MAX & ~(1u << TALLY_U8 | 1u << TALLY_I8),
    1,
    UINT32_C(1) << 28,
    NULL,
    supports,
    cost,
    &method,
};
