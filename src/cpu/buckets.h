/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of uneven edges: the axis is cut into many buckets of a monotone scale, and each bucket
 * knows the bin at its beginning. What is left is to compare with the few edges inside the bucket.
 */
#ifndef TY_BUCKETS_H
#define TY_BUCKETS_H

#include <string.h>

#include "cpu/cpu.h"

/* How a sample finds its bucket. Both ways are monotone in the sample, whatever they round; edges
 * are put in buckets by the same steps, so an edge of a lower bucket is below the sample for
 * certain. */
typedef enum ty_buckets_scale {
    TY_BUCKETS_LINEAR, /* (x - lo) * factor, truncated */
    TY_BUCKETS_BITS    /* the upper 32 bits of x as float64, in order: even steps within a binade */
} ty_buckets_scale;

/* Most edges inside one bucket that are worth comparing with. */
enum { TY_BUCKETS_STEPS = 8 };

typedef struct ty_buckets {
    ty_buckets_scale scale;
    double lo, factor;
    uint32_t first_bits, drop; /* BITS: those of lo; low bits to drop */
    uint32_t count;            /* of buckets; behind them one each for below, above and NaN */
    uint32_t steps;            /* most edges inside a bucket, 1 … TY_BUCKETS_STEPS */
    uint32_t *first;           /* count + 3: the slot at a bucket's beginning */
    double *edges;             /* the axis' edges but the last, then NaN */
} ty_buckets;

/* The buckets of an axis; *buckets is NULL if it has no table of edges, or they are so crowded that
 * a binary search serves better. */
tally_status ty_buckets_make(const ty_axis *axis, ty_buckets **buckets, tally_error *error);
void ty_buckets_free(ty_buckets *buckets);

/* By dtype, for axes whose `buckets` are made; NULL for dtypes that are not served. */
typedef struct ty_buckets_loops {
    ty_slots_fn slots[TALLY_F64 + 1];
} ty_buckets_loops;

/* The last two are there on x86-64. */
extern const ty_buckets_loops ty_buckets_base, ty_buckets_avx2, ty_buckets_avx512;

/* The fastest that this processor runs. */
const ty_buckets_loops *ty_buckets_loops_get(void);

/* The ordered upper half of a float64, -0 as 0. */
static inline uint32_t ty_buckets_bits(double x)
{
    uint64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    uint32_t high = (uint32_t)(bits >> 32);
    return high ^ (uint32_t)((int32_t)high >> 31 & INT32_MAX);
}

#endif
