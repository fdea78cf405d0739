/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speculative cells: found by an affine map whose error is bounded, so that it is known when a
 * sample is too near an edge to tell. Included by even_loops.c.
 */

/* Vectors after which the choice among a cell's counters, at most 8, repeats. */
#define SPREAD(vectors) ((vectors) < 8 ? 8 / (vectors) : 1)

/*
 * float32, in fixed point: the sample's position in units of 2^-bits of a bin, rounded to an
 * integer. The high part is the cell, the fraction says how far the next edge is. A sample nearer
 * to an edge than `guard`, which bounds all errors made on the way and the edges' own, is in doubt,
 * and so is NaN: then `doubt` becomes negative.
 */
typedef struct speculator_f32 {
    f32x inverse, offset, bottom, top;
    u32x guard, fraction, near, keep, spread[SPREAD(F32_LANES)];
    unsigned right;
} speculator_f32;

/* Returns 0 where too many samples would be in doubt. */
INLINE int speculator_f32_of(const scale *s, const ty_bins *b, unsigned shift, speculator_f32 *g)
{
    const int bits = __builtin_clz(b->bins + 2) - 2; /* so that bins + 2 of them stay below 2^30 */
    const double one = (double)(UINT32_C(1) << (bits > 0 ? bits : 0)), guard = s->error * one + 2;
    uint32_t spread[16];
    if (bits <= 0 || !((2 * guard + 1) * RARE <= one) || b->inverse > 0x1p90 ||
        b->inverse < 0x1p-90)
        return 0;
    g->inverse = f32x_fill(s->inverse * one);
    g->offset = f32x_fill(s->offset * one);
    g->bottom = f32x_fill(0.5 * one);
    g->top = f32x_fill((1.5 + (double)b->bins) * one);
    g->guard = u32x_fill((uint32_t)guard);
    g->fraction = u32x_fill((UINT32_C(1) << bits) - 1);
    g->near = u32x_fill(2 * (uint32_t)guard + 1);
    g->keep = u32x_fill(UINT32_MAX << shift);
    g->right = (unsigned)bits - shift;
    for (uint32_t i = 0; i < 16; i++)
        spread[i] = i & ((1u << shift) - 1);
    for (int i = 0; i < SPREAD(F32_LANES); i++)
        g->spread[i] = u32x_load(spread + i * F32_LANES);
    return 1;
}

/* The counters of lanes i … of a block. */
INLINE u32x speculate_cells_f32(f32x x, const speculator_f32 *g, int i, u32x *doubt)
{
    u32x q = f32x_round_i32(f32x_clamp(f32x_mul_add(x, g->inverse, g->offset), g->bottom, g->top));
    u32x d = u32x_sub(u32x_and(u32x_add(q, g->guard), g->fraction), g->near);
    *doubt = u32x_or3(*doubt, d, q);
    return u32x_and_or(u32x_shift_right(q, g->right), g->keep,
                       g->spread[i / F32_LANES % SPREAD(F32_LANES)]);
}

/* float64: the sample's position less half a bin is rounded to the nearest whole number, which is
 * the cell. It is as far from that as the sample is from the middle of its bin, and the difference
 * is exact. Beyond `limit` the sample is in doubt, and so is NaN: then `doubt` is set. */
typedef struct speculator_f64 {
    f64x inverse, offset, bottom, top, limit;
    u32h spread[SPREAD(F64_LANES)];
    unsigned shift;
} speculator_f64;

INLINE int speculator_f64_of(const scale *s, const ty_bins *b, unsigned shift, speculator_f64 *g)
{
    uint32_t spread[16];
    if (!(2 * s->error * RARE <= 1) || b->inverse > 0x1p900 || b->inverse < 0x1p-900)
        return 0;
    g->inverse = f64x_fill(s->inverse);
    g->offset = f64x_fill(s->offset - 0.5);
    g->bottom = f64x_fill(0);
    g->top = f64x_fill(1 + (double)b->bins);
    g->limit = f64x_fill(0.5 - s->error);
    g->shift = shift;
    for (uint32_t i = 0; i < 16; i++)
        spread[i] = i & ((1u << shift) - 1);
    for (int i = 0; i < SPREAD(F64_LANES); i++)
        g->spread[i] = u32h_load(spread + i * F64_LANES);
    return 1;
}

INLINE u32h speculate_cells_f64(f64x x, const speculator_f64 *g, int i, f64x_mask *doubt)
{
    f64x t = f64x_clamp(f64x_mul_add(x, g->inverse, g->offset), g->bottom, g->top);
    *doubt = f64x_mask_or(*doubt, f64x_not_below(f64x_whole_distance(t), g->limit));
    return u32h_add(u32h_shift_left(f64x_round_i32(t), g->shift),
                    g->spread[i / F64_LANES % SPREAD(F64_LANES)]);
}

/* Slots of samples that are all in bins, by speculators whose scale begins at 0, without a limit to
 * them: beyond the bins, or where there is a doubt, the top bit of `outside` is set. */
INLINE u32h speculate_slots_f64(f64x x, const speculator_f64 *g, u32h last, f64x_mask *doubt,
                                u32h *outside)
{
    const f64x t = f64x_mul_add(x, g->inverse, g->offset);
    const u32h slots = f64x_round_i32(t);
    *doubt = f64x_mask_or(*doubt, f64x_not_below(f64x_whole_distance(t), g->limit));
    *outside = u32h_or3(*outside, slots, u32h_sub(last, slots));
    return slots;
}

INLINE u32x speculate_slots_f32(f32x x, const speculator_f32 *g, u32x last, u32x *outside)
{
    const u32x q = f32x_round_i32(f32x_mul_add(x, g->inverse, g->offset)),
               d = u32x_sub(u32x_and(u32x_add(q, g->guard), g->fraction), g->near),
               slots = u32x_shift_right(q, g->right);
    *outside = u32x_or3(u32x_or3(*outside, d, q), slots, u32x_sub(last, slots));
    return slots;
}
