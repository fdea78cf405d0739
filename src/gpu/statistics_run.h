/* SPDX-License-Identifier: Apache-2.0 */
/* What statistics.c and statistics_found.c share: a column of values on its way, and where a call's
 * numbers lie. */
#ifndef TY_STATISTICS_RUN_H
#define TY_STATISTICS_RUN_H

#include "gpu/kernels/statistics_state.h"
#include "gpu/methods/any_layout.h"
#include "gpu/statistics.h"

/* A column of values on its way. */
typedef struct ty_column {
    ty_call *call;
    uint32_t number;
    ty_statistics_wish wish;
    ty_any_layout layout;
    ty_strided values;
    int64_t channel;
    uint32_t given; /* its exponent (STATISTICS_GIVEN) */
    ty_memory memory;
} ty_column;

/* Where words of 64 bits lie in a call's memory: cells, flows, the columns' states. */
static inline uint64_t ty_cell_at(const ty_call *c, uint64_t number, uint64_t h)
{
    return (number * c->job->histograms + h) * c->plan->slots * STATISTICS_CELL;
}

static inline uint64_t ty_flows_at(const ty_call *c, uint64_t h)
{
    return ty_cell_at(c, c->job->statistics->count, 0) + h * STATISTICS_FLOWS;
}

static inline uint64_t ty_state_at(const ty_call *c, uint64_t number)
{
    return ty_flows_at(c, c->job->histograms) + number * STATISTICS_STATE;
}

static inline uint64_t ty_all_words(const ty_call *c)
{
    return ty_state_at(c, c->job->statistics->count);
}

static inline int ty_is_wide(tally_dtype value)
{
    return tally_dtype_bytes(value) == 8;
}

/* The exponent as kernels are given it, if it need not be looked for: of the limit, above all that
 * the type holds, or above all; else 0. */
uint32_t ty_given_exponent(const ty_statistics *s, uint32_t number);

/* Whether the caller's arrays in device memory are possible. */
tally_status ty_statistics_check_output(const ty_call *call, tally_error *error);
/* A column's statistics to the caller's arrays there. */
tally_status ty_statistics_finish(const ty_column *column, tally_error *error);
/* All columns' to the job's totals, when the device is done. */
tally_status ty_statistics_fetch(ty_call *call, ty_memory memory, tally_error *error);

#endif
