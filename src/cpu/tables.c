/*
 * cpu-tables: slots by blocks, then one increment a sample, spread over several tables while they
 * are small so that equal neighbours do not wait for each other's store. Every dtype, axis and
 * layout.
 */
#include <string.h>

#include "cpu/cpu.h"
#include "methods/registry.h"

/* Eight tables while all of them stay in the first-level cache, then fewer. */
static unsigned tables(const tally_plan *plan)
{
    return plan->slots <= 1024 ? 8 : plan->slots <= 4096 ? 4 : plan->slots <= 65536 ? 2 : 1;
}

/* Counters from one table to the next: a cache line more than the slots, so that the same slot of
 * two tables does not fall on the same set. */
static size_t stride(const tally_plan *plan)
{
    return (((size_t)plan->slots + 15) & ~(size_t)15) + 16;
}

static size_t state_bytes(const tally_plan *plan)
{
    return plan->active_count * tables(plan) * stride(plan) * sizeof(uint32_t);
}

static void add8(uint32_t *t, size_t step, const uint32_t *slots, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (size_t k = 0; k < 8; k++)
            t[k * step + slots[i + k]]++;
    }
    for (; i < n; i++)
        t[slots[i]]++;
}

static void add4(uint32_t *t, size_t step, const uint32_t *slots, size_t n)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (size_t k = 0; k < 4; k++)
            t[k * step + slots[i + k]]++;
    }
    for (; i < n; i++)
        t[slots[i]]++;
}

static void add2(uint32_t *t, size_t step, const uint32_t *slots, size_t n)
{
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        t[slots[i]]++;
        t[step + slots[i + 1]]++;
    }
    for (; i < n; i++)
        t[slots[i]]++;
}

static void add1(uint32_t *t, const uint32_t *slots, size_t n)
{
    for (size_t i = 0; i < n; i++)
        t[slots[i]]++;
}

static void count(void *state, const ty_job *job, uint64_t batch, uint64_t begin, uint64_t end)
{
    const tally_plan *plan = job->plan;
    unsigned copies = tables(plan);
    size_t step = stride(plan);
    ty_block block;
    while (begin < end) {
        size_t n = end - begin < TY_BLOCK ? (size_t)(end - begin) : TY_BLOCK;
        for (uint64_t a = 0; a < plan->active_count; a++) {
            uint32_t *t = (uint32_t *)state + a * copies * step;
            ty_block_slots(job, batch, plan->active[a], begin, n, &block);
            if (copies == 8)
                add8(t, step, block.slots, n);
            else if (copies == 4)
                add4(t, step, block.slots, n);
            else if (copies == 2)
                add2(t, step, block.slots, n);
            else
                add1(t, block.slots, n);
        }
        begin += n;
    }
}

static void flush(void *state, ty_job *job, uint64_t batch)
{
    const tally_plan *plan = job->plan;
    unsigned copies = tables(plan);
    size_t step = stride(plan);
    for (uint64_t a = 0; a < plan->active_count; a++) {
        uint64_t *to = ty_totals_of(job, batch, a);
        for (unsigned k = 0; k < copies; k++) {
            uint32_t *t = (uint32_t *)state + (a * copies + k) * step;
            for (uint64_t s = 0; s < plan->slots; s++)
                to[s] += t[s];
            memset(t, 0, plan->slots * sizeof *t);
        }
    }
}

static const ty_cpu_method method = {state_bytes, NULL, count, flush, UINT32_MAX, 0, NULL};

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    return ty_cpu_unweighted(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "serves every dtype, axis and layout";
    return 1e-9 * (double)plan->options.n_hint + 1e-6;
}

const ty_method ty_cpu_tables = {
    "cpu-tables", "tally",    "slots by blocks, then several tables of 32-bit counters",
    TY_ON_CPU,    UINT32_MAX, 1,
    TY_MAX_BINS,  NULL,       supports,
    cost,         &method,
};
