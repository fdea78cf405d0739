/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order statistics of one batch and channel of samples in memory. A random sample of them brackets
 * each wanted rank; one pass counts what lies below the brackets and keeps what lies inside, among
 * which the rank is selected. A rank that is outside its bracket is seen by the counts, and looked
 * for again.
 */
#ifndef TY_ORDER_H
#define TY_ORDER_H

#include <tally/quantile.h>

#include "core/view.h"
#include "cpu/threads.h"

/* Where the samples are; plain data. */
typedef struct ty_order_group {
    const ty_grid *samples, *mask; /* mask NULL: all count */
    uint64_t batch, channel;
    ty_pool *pool; /* NULL: the caller's thread alone */
} ty_order_group;

/* Samples that count, and NaN among them: a pass of its own where that is not known. */
typedef struct ty_order_kinds {
    uint64_t count, nan;
} ty_order_kinds;

tally_status ty_order_kinds_get(const ty_order_group *group, ty_order_kinds *kinds,
                                tally_error *error);

/* keys[i] becomes the key (cpu/order.h) of rank ranks[i]; ranks ascend and are below `count`, the
 * number of samples that count. NaN have the last ranks; *nan gets their number. */
tally_status ty_order_find(const ty_order_group *group, uint64_t count, const uint64_t *ranks,
                           unsigned rank_count, int64_t *keys, uint64_t *nan, tally_error *error);

/* Samples on a device. */
typedef struct ty_order_source {
    const ty_grid *samples, *mask, *weights; /* mask NULL: all count; weights: of `weighted` */
    uint64_t groups, elements; /* batches × channels, and samples of each; neither is 0 */
    void *stream;              /* the caller's, or NULL */
} ty_order_source;

/* What a device does. Ranks and keys are as above, but of all groups, in any order, and both ranks
 * of a quantile next to each other; UINT64_MAX: no rank, whose key means nothing. */
typedef struct ty_order_ops {
    /* Of each group. */
    tally_status (*kinds)(tally_context *context, const ty_order_source *source,
                          ty_order_kinds *kinds, tally_error *error);
    tally_status (*find)(tally_context *context, const ty_order_source *source,
                         const uint64_t *ranks, uint32_t count, int64_t *keys, uint64_t *nan,
                         tally_error *error);
    /* Quantiles to `out`, float64 in the device's memory; on the caller's stream waits for nothing.
     */
    tally_status (*quantiles)(tally_context *context, const ty_order_source *source,
                              tally_quantile_method method, int skip_nan, const double *q,
                              uint32_t count, void *out, tally_error *error);
    /* As ty_weighted_find (core/weighted.h), of all groups. */
    tally_status (*weighted)(tally_context *context, const ty_order_source *source, int skip_nan,
                             const double *q, uint32_t count, int64_t *keys, tally_error *error);
} ty_order_ops;

/* A key's sample: rounded to float64, or as its bytes. */
double ty_order_value(tally_dtype dtype, int64_t key);
void ty_order_sample(tally_dtype dtype, int64_t key, void *sample);

#endif
