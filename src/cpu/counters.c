/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/counters.h"

#include <string.h>

unsigned ty_table_shift(const ty_job *job)
{
    uint64_t cells = job->plan->slots * job->plan->active_count;
    unsigned shift = cells <= 640 ? 3 : cells <= 1280 ? 2 : cells <= 2560 ? 1 : 0;
    while (shift && job->plan->slots << shift > job->elements / 8)
        shift--;
    return shift;
}

/* Counters from one channel's table to the next. */
static size_t stride(const ty_job *job)
{
    return (((size_t)job->plan->slots << ty_table_shift(job)) + TY_ADD_SPARE + 15) & ~(size_t)15;
}

size_t ty_table_bytes(const ty_job *job)
{
    return (size_t)job->plan->active_count * stride(job) * sizeof(uint32_t);
}

uint32_t *ty_table_of(void *state, const ty_job *job, uint64_t a)
{
    return (uint32_t *)state + a * stride(job);
}

void ty_table_add(uint32_t *table, unsigned shift, const uint32_t *slots, size_t n)
{
    size_t i = 0;
#define ADD(bits)                                                                                  \
    for (; i + 8 <= n; i += 8) {                                                                   \
        for (size_t k = 0; k < 8; k++)                                                             \
            table[((size_t)slots[i + k] << (bits)) + (k & ((1u << (bits)) - 1))]++;                \
    }                                                                                              \
    break
    switch (shift) {
    case 0:
        ADD(0);
    case 1:
        ADD(1);
    case 2:
        ADD(2);
    default:
        ADD(3);
    }
#undef ADD
    for (; i < n; i++)
        table[(size_t)slots[i] << shift]++;
}

/* Adds n slots of 1 << shift counters. One loop a shift, so that each is unrolled. */
static void add_up(const uint32_t *table, uint64_t n, unsigned shift, uint64_t *to)
{
#define ADD_UP(copies)                                                                             \
    for (uint64_t s = 0; s < n; s++) {                                                             \
        uint64_t sum = 0;                                                                          \
        for (unsigned k = 0; k < (copies); k++)                                                    \
            sum += table[s * (copies) + k];                                                        \
        to[s] += sum;                                                                              \
    }                                                                                              \
    break
    switch (shift) {
    case 0:
        ADD_UP(1);
    case 1:
        ADD_UP(2);
    case 2:
        ADD_UP(4);
    default:
        ADD_UP(8);
    }
#undef ADD_UP
}

/* The same, and clears them, a piece at a time while it is in the first cache. What `to` has is
 * worth nothing if it is fresh. */
static void empty(uint32_t *table, uint64_t n, unsigned shift, uint64_t *to, int fresh)
{
    enum { PIECE = 1024 };
    for (uint64_t s = 0; s < n; s += PIECE) {
        const uint64_t now = n - s < PIECE ? n - s : PIECE;
        uint32_t *from = table + (s << shift);
        if (fresh)
            memset(to + s, 0, (size_t)now * sizeof *to);
        add_up(from, now, shift, to + s);
        memset(from, 0, (size_t)(now << shift) * sizeof *from);
    }
}

void ty_table_flush(void *state, ty_job *job, uint64_t batch)
{
    const tally_plan *plan = job->plan;
    const unsigned shift = ty_table_shift(job);
    const uint64_t bins = plan->bins, h = batch * plan->active_count;
    for (uint64_t a = 0; a < plan->active_count; a++) {
        uint32_t *table = ty_table_of(state, job, a);
        empty(table, bins, shift, ty_job_bins(job, h + a), job->fresh);
        empty(table + (bins << shift), plan->slots - bins, shift, ty_job_flows(job, h + a), 0);
    }
    job->fresh = 0;
}

void ty_table_flush_cells(void *state, ty_job *job, uint64_t batch)
{
    const tally_plan *plan = job->plan;
    const unsigned shift = ty_table_shift(job);
    const uint64_t bins = plan->bins, rest = TY_SLOT_UNDER + 1, h = batch * plan->active_count;
    for (uint64_t a = 0; a < plan->active_count; a++) {
        uint32_t *table = ty_table_of(state, job, a);
        uint64_t *flows = ty_job_flows(job, h + a);
        empty(table, 1, shift, flows + TY_SLOT_UNDER, 0);
        empty(table + ((size_t)1 << shift), bins, shift, ty_job_bins(job, h + a), job->fresh);
        empty(table + ((size_t)(bins + rest) << shift), plan->slots - bins - rest, shift,
              flows + rest, 0);
    }
    job->fresh = 0;
}
