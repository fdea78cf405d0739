/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of samples on uneven axes (buckets.h). */
#include "cpu/buckets.h"
#include "cpu/isa.h"
#include "cpu/simd.h"

/* Samples whose buckets are found together; bytes that samples are asked for ahead of their use. */
enum { BLOCK = 64, AHEAD = 8192 };

typedef struct consts {
    f64x lo, end, factor;
    u32h under, over, nan;
    const uint32_t *first;
    const double *edges;
    uint32_t steps, first_bits, drop;
    ty_buckets_scale scale;
} consts;

static consts consts_of(const ty_axis *axis)
{
    const ty_buckets *buckets = axis->buckets;
    const ty_bins *b = &axis->bins;
    consts c;
    c.lo = f64x_fill(b->lo);
    c.end = f64x_fill(b->closed ? nextafter(b->hi, INFINITY) : b->hi);
    c.factor = f64x_fill(buckets->factor);
    c.under = u32h_fill(buckets->count);
    c.over = u32h_fill(buckets->count + 1);
    c.nan = u32h_fill(buckets->count + 2);
    c.first = buckets->first;
    c.edges = buckets->edges;
    c.steps = buckets->steps;
    c.first_bits = buckets->first_bits;
    c.drop = buckets->drop;
    c.scale = buckets->scale;
    return c;
}

INLINE u32h bucket_of(f64x x, const consts *c, ty_buckets_scale scale)
{
    u32h bucket;
    if (scale == TY_BUCKETS_LINEAR) {
        bucket = f64x_truncate_i32(f64x_mul(f64x_sub(x, c->lo), c->factor));
    } else {
        u32h high = f64x_high_u32(f64x_add(x, f64x_fill(0.0)));
        u32h flip = u32h_and(u32h_sign_mask(high), u32h_fill(INT32_MAX));
        bucket = u32h_sub(u32h_xor(high, flip), u32h_fill(c->first_bits));
        bucket = u32h_shift_right(bucket, c->drop);
    }
    bucket = u32h_select(f64x_below(x, c->end), bucket, c->over);
    bucket = u32h_select(f64x_below(x, c->lo), c->under, bucket);
    return u32h_select(f64x_equal(x, x), bucket, c->nan);
}

/* The slot of a sample in `bucket`: it is past those of the next edges that are not above it. */
INLINE uint32_t slot_of(double x, uint32_t bucket, const consts *c, uint32_t steps)
{
    uint32_t slot = c->first[bucket];
    const double *edges = c->edges + slot + 1;
    for (uint32_t i = 0; i < steps; i++)
        slot += x >= edges[i];
    return slot;
}

#define DTYPE u32
#define TYPE  uint32_t
#include "cpu/buckets_dtype.h"

#define DTYPE i32
#define TYPE  int32_t
#include "cpu/buckets_dtype.h"

#define DTYPE f32
#define TYPE  float
#include "cpu/buckets_dtype.h"

#define DTYPE f64
#define TYPE  double
#include "cpu/buckets_dtype.h"

const ty_buckets_loops TY_ISA_TABLE(ty_buckets) = {{
    [TALLY_U32] = slots_u32,
    [TALLY_I32] = slots_i32,
    [TALLY_F32] = slots_f32,
    [TALLY_F64] = slots_f64,
}};
