/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles and the ranks that they are between. */
#ifndef TY_QUANTILE_H
#define TY_QUANTILE_H

#include <tally/quantile.h>

#include "binning/place.h"
#include "cpu/threads.h"

#define TY_RANK_WRONG "rank %" PRIu64 " of %" PRIu64 " samples: ranks begin at 0"

/* Sorted, each once; returns how many. */
unsigned ty_ranks_distinct(uint64_t *ranks, unsigned count);
/* The key of one of them. */
int64_t ty_ranks_key(const uint64_t *ranks, const int64_t *keys, unsigned count, uint64_t rank);

/* Where quantiles lie among n > 0 samples, and the distinct ranks, at most 2 × count, of samples
 * beside them; returns how many. */
unsigned ty_quantile_ranks(tally_quantile_method method, const double *q, uint32_t count,
                           uint64_t n, ty_place *places, uint64_t *ranks);
/* The quantiles from these samples' keys. */
void ty_quantile_write(tally_dtype dtype, const ty_place *places, uint32_t count,
                       const uint64_t *ranks, unsigned found, const int64_t *keys, double *out);

/* Whether each is from 0 to 1. */
tally_status ty_quantile_check(const double *q, uint32_t count, tally_error *error);

/* tally_quantiles, or with `ranks` instead of `q` tally_order_statistics, of a view with a source:
 * `mask` is NULL or has one as well. `out` and `nan` are written when all is found. */
tally_status ty_quantile_source(ty_pool *pool, const tally_view *view,
                                const tally_quantile_options *options, const double *q,
                                const uint64_t *ranks, uint32_t count, void *out, uint64_t *nan,
                                tally_error *error);

#endif
