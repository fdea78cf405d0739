/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantiles of one batch and channel of samples with weights, in memory. Weights are whole numbers
 * of units (binning/weight.h) that add up in 128 bits, so no order of additions is another's. A
 * pass adds them up by the upper bits of keys; which keys a quantile is among is known then, and
 * the next pass adds up by the bits that follow. Where few samples are left they are kept.
 */
#ifndef TY_WEIGHTED_H
#define TY_WEIGHTED_H

#include "core/order.h"

__extension__ typedef unsigned __int128 ty_weight;

/* The sum that q's sample reaches first: the least from 1 on that, divided by `total` in float64,
 * is no less than q. `total` is above 0. */
ty_weight ty_weighted_target(double q, ty_weight total);

/* What is said of weights that have no quantile. */
#define TY_WEIGHTS_BAD  "weights: one is negative, infinite or NaN"
#define TY_WEIGHTS_ZERO "weights: all of batch %" PRIu64 ", channel %" PRIu64 " are 0"
#define TY_WEIGHTS_NONE                                                                            \
    "batch %" PRIu64 ", channel %" PRIu64 ": no sample counts, and integers have no NaN"

/* keys[i] becomes the key (cpu/order.h) of quantile q[i]: that of NaN where the group has one that
 * is not left out, or no sample. */
tally_status ty_weighted_find(const ty_order_group *group, const ty_grid *weights, int skip_nan,
                              const double *q, uint32_t count, int64_t *keys, tally_error *error);

#endif
