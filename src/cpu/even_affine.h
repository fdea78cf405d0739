/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proven cells: found by an affine map, one float64 product and sum, that is proved right for every
 * sample; of float32, and of float64 between edges that are binary fractions. Included by
 * even_loops.c.
 *
 * The map of float32s never falls as the sample grows, so it is right for all of them if at every
 * edge it is right for two: the first sample that is not below the edge, and the one before it. It
 * is off by some 2^-50 bins, and float32s are much further apart, but near zero. So where an edge
 * is zero, a negative sample above `least` is taken for `least`. A sample equal to the end of a
 * closed axis is taken for the one before it, which is in the same bin.
 */
typedef struct affine_consts {
    f64x slope, start, bottom, top, hi, below_hi;
    u32h nan, spread[SPREAD(F64_LANES)];
    f32x zero;
    u32x least, end, last;
    unsigned shift;
} affine_consts;

INLINE affine_consts affine_of(const ty_affine *from, const ty_bins *b, unsigned shift)
{
    affine_consts s;
    uint32_t spread[16], end, last;
    memcpy(&end, &from->end, sizeof end);
    memcpy(&last, &from->last, sizeof last);
    s.slope = f64x_fill(from->slope);
    s.start = f64x_fill(from->start);
    s.bottom = f64x_fill(0);
    s.top = f64x_fill(1 + (double)b->bins);
    s.nan = u32h_fill(b->bins + TY_SLOT_NAN);
    s.hi = f64x_fill(b->closed ? b->hi : NAN);
    s.below_hi = f64x_fill(-next_above(-b->hi));
    s.zero = f32x_fill(0);
    s.least = u32x_fill(from->least);
    s.end = u32x_fill(end);
    s.last = u32x_fill(last);
    s.shift = shift;
    for (uint32_t i = 0; i < 16; i++)
        spread[i] = i & ((1u << shift) - 1);
    for (int i = 0; i < SPREAD(F64_LANES); i++)
        s.spread[i] = u32h_load(spread + i * F64_LANES);
    return s;
}

/* Samples, or what they are taken for. Adding 0 makes 0 of -0. */
INLINE f32x affine_samples(const unsigned char *from, const affine_consts *s)
{
    u32x x = f32x_bits(f32x_add(f32x_load_f32(from), s->zero));
    return f32x_of_bits(u32x_max_i32(u32x_select_equal(x, s->end, s->last, x), s->least));
}

/* Stores the counters of lanes i … of a block by their positions: cells and a fraction. */
INLINE void affine_store(f64x positions, const affine_consts *s, int single, uint32_t *counters,
                         int i)
{
    u32h p = u32h_min(f64x_truncate_i32(f64x_clamp(positions, s->bottom, s->top)), s->nan);
    if (!single)
        p = u32h_add(u32h_shift_left(p, s->shift), s->spread[i / F64_LANES % SPREAD(F64_LANES)]);
    u32h_store(counters + i, p);
}

/* The counters of BLOCK samples; `single`: a cell has one. */
INLINE void affine_block_f32(const unsigned char *from, const affine_consts *s, int single,
                             uint32_t *counters, pending b)
{
    for (int i = 0; i < BLOCK; i += F32_LANES) {
        const f32x x = affine_samples(from + (size_t)i * sizeof(float), s);
        for (int k = 0; k < F32_LANES; k += F64_LANES)
            affine_store(f64x_mul_add(f64x_of_f32x(x, k), s->slope, s->start), s, single, counters,
                         i + k);
        count_pending(&b, i, F32_LANES);
    }
}

#if defined(f64x_affine_floor)
/* The same of float64s, where affine_is_exact. */
INLINE void affine_block_f64(const unsigned char *from, const affine_consts *s, int single,
                             uint32_t *counters, pending b)
{
    for (int i = 0; i < BLOCK; i += F64_LANES) {
        f64x x = f64x_load_f64(from + (size_t)i * sizeof(double));
        x = f64x_select(f64x_equal(x, s->hi), s->below_hi, x);
        affine_store(f64x_affine_floor(x, s->slope, s->start), s, single, counters, i);
        count_pending(&b, i, F64_LANES);
    }
}

/* Whether edges are whole multiples of a width that is a power of two: a float64's cell is then
 * the whole part of a product that is exact. (By a width above 1 the smallest ones are not.) */
static int affine_is_exact(const ty_bins *b)
{
    int exponent;
    const double first = b->lo * b->inverse, end = first + b->bins;
    return frexp(b->width, &exponent) == 0.5 && b->inverse >= 1 && b->inverse < 0x1p900 &&
           rint(first) == first && fabs(first) < 0x1p51 && b->hi == end * b->width;
}
#endif

/* The float32 one above x (step 1) or one below it (step -1). */
INLINE float float_neighbour(float x, int32_t step)
{
    int32_t bits;
    x += 0.0f; /* not -0 */
    memcpy(&bits, &x, sizeof bits);
    /* As integers in the order of the floats; -0, which would be -1, is left out. */
    bits = bits < 0 ? bits ^ INT32_MAX : bits;
    bits += step;
    bits += bits == -1 ? step : 0;
    bits = bits < 0 ? bits ^ INT32_MAX : bits;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Whether the map puts the float32s beside edges j … j + BLOCK - 1, as far as there are such, on
 * the right side. */
static __attribute__((noinline)) int affine_right_at(const ty_axis *axis, const affine_consts *s,
                                                     uint32_t j)
{
    float first[BLOCK], before[BLOCK];
    uint32_t above[BLOCK], below[BLOCK];
    const ty_bins *b = &axis->bins;
    const uint32_t n = b->bins - j < BLOCK - 1 ? b->bins - j + 1 : BLOCK;
    int wrong = 0;
    for (uint32_t i = 0; i < BLOCK; i++) {
        const int inner = i < n && j + i < b->bins;
        const double e = inner ? b->lo + (double)(j + i) * b->width : b->hi;
        const float near = (float)e;
        const int later = (double)near < e || (!inner && near == axis->affine.end);
        first[i] = later ? float_neighbour(near, 1) : near;
        before[i] = float_neighbour(first[i], -1);
    }
    affine_block_f32((const unsigned char *)first, s, 1, above, none_pending);
    affine_block_f32((const unsigned char *)before, s, 1, below, none_pending);
    for (uint32_t i = 0; i < n; i++)
        wrong |= above[i] <= j + i || below[i] > j + i;
    return !wrong;
}

static int affine_right_everywhere(const ty_axis *axis)
{
    const ty_bins *b = &axis->bins;
    const affine_consts s = affine_of(&axis->affine, b, 0);
    for (uint32_t j = 0; j <= b->bins; j += BLOCK) {
        if (!affine_right_at(axis, &s, j))
            return 0;
    }
    return 1;
}

/* Sets axis->affine for float32, and proves it if that can be. */
static void affine_prove_f32(ty_axis *axis)
{
    enum { BINS_MOST = 1 << 22 };
    const ty_bins *b = &axis->bins;
    const double largest = fabs(b->lo) > fabs(b->hi) ? fabs(b->lo) : fabs(b->hi);
    const scale by = scale_of(b, 1, 0, 0x1p-53, F64_FUSED);
    const float hi = (float)b->hi, least = -(float)(b->width * 0x1p-16);
    const int closed = b->closed && (double)hi == b->hi;
    const double zero = rint(-b->lo * b->inverse);
    axis->affine = (ty_affine){by.inverse, by.offset + by.error, INT32_MIN, NAN, NAN, 0};
    if (b->bins > BINS_MOST || !(largest < 0x1p100) || !(b->width > 0x1p-80))
        return;
    if (closed) {
        axis->affine.end = hi + 0; /* not -0 */
        axis->affine.last = float_neighbour(hi, -1);
    }
    if (zero >= 0 && zero <= b->bins && b->lo + zero * b->width == 0)
        memcpy(&axis->affine.least, &least, sizeof least);
    axis->affine.proven = affine_right_everywhere(axis);
    simd_leave();
}

/* Sets axis->affine for float32 and float64 on even edges. */
static void affine_prove(ty_axis *axis)
{
    if (!axis->even)
        return;
    if (axis->dtype == TALLY_F32)
        affine_prove_f32(axis);
#if defined(f64x_affine_floor)
    else if (affine_is_exact(&axis->bins))
        axis->affine = (ty_affine){.slope = axis->bins.inverse,
                                   .start = 1 - axis->bins.lo * axis->bins.inverse,
                                   .proven = 1};
#endif
}
