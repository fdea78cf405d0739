/* SPDX-License-Identifier: Apache-2.0 */
/* Source 004 on the host: 16-bit counters that stick at 65535, one thread. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "cpu/cpu.h"
#include "plan/registry.h"

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    if (plan->options.counter != TALLY_COUNTER_U16SAT || plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "saturating-serial counts in 16 bits that stick at 65535; ask for "
                        "--counter u16sat");
    return TALLY_OK;
}

static void count_serial(ty_job *job, uint64_t batch, uint64_t active, uint16_t *counts,
                         ty_block *block)
{
    const tally_plan *plan = job->plan;
    uint64_t *totals = ty_totals_of(job, batch, active);
    memset(counts, 0, plan->bins * sizeof *counts);
    for (uint64_t begin = 0; begin < job->elements; begin += TY_BLOCK) {
        size_t n = job->elements - begin < TY_BLOCK ? (size_t)(job->elements - begin) : TY_BLOCK;
        ty_block_slots(job, batch, plan->active[active], begin, n, block);
        for (size_t i = 0; i < n; i++) {
            uint32_t slot = block->slots[i];
            if (slot >= plan->bins)
                totals[slot]++;
            else if (counts[slot] < UINT16_MAX)
                counts[slot]++;
        }
    }
    for (uint32_t b = 0; b < plan->bins; b++)
        totals[b] += counts[b];
}

static uint64_t serial_bytes(const ty_job *job)
{
    return job->plan->bins * sizeof(uint16_t) + sizeof(ty_block);
}

static tally_status serial_run(ty_job *job, tally_error *error)
{
    const tally_plan *plan = job->plan;
    uint16_t *counts = ty_malloc(plan->bins * sizeof *counts);
    ty_block *block = ty_malloc(sizeof *block);
    tally_status status = TALLY_OK;
    if (!counts || !block)
        status = ty_error_memory(error, "a table of 16-bit counts", plan->bins * sizeof *counts);
    for (uint64_t b = 0; b < job->batches && !status; b++) {
        for (uint64_t a = 0; a < plan->active_count; a++)
            count_serial(job, b, a, counts, block);
        if (job->progress &&
            job->progress(job->user, (b + 1) * job->elements, job->batches * job->elements))
            status = ty_error(error, TALLY_ERROR_CANCELLED, "cancelled");
    }
    ty_free(counts);
    ty_free(block);
    return status;
}

static const ty_cpu_method serial = {.whole = serial_run, .whole_bytes = serial_bytes};

const ty_method ty_saturating_serial = {
    .name = "saturating-serial",
    .source = "004",
    .summary = "16-bit counters that stick at 65535, one thread on the host",
    .devices = TY_ON_CPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .supports = supports,
    .backend = &serial,
};
