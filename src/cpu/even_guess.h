/*
 * Places guessed: by arithmetic that bounds its own error, so that it knows when a sample is too
 * near an edge to tell. Included by even_loops.h.
 */

/* Which of a place's counters lanes i … take. */
#define SPREAD(vectors) ((vectors) < 8 ? 8 / (vectors) : 1)

/*
 * float32, in fixed point. A place in units of 2^-bits of a bin is rounded to an integer: its high
 * part is the slot and its fraction says how far the next edge is. Within the guard, which bounds
 * all errors made on the way and the edges' own, the slot is not known: then, and for NaN, the note
 * becomes negative.
 */
typedef struct guess_wide {
    wide_f inverse, offset, bottom, top;
    wide_i guard, fraction, near, keep, spread[SPREAD(WIDE)];
    unsigned right;
} guess_wide;

/* 0 if guessing does not pay. */
INLINE int guess_of_wide(const scale *s, const ty_bins *b, unsigned shift, guess_wide *g)
{
    const int bits = __builtin_clz(b->bins + 2) - 2; /* so that bins + 2 of them stay below 2^30 */
    const double one = (double)(UINT32_C(1) << (bits > 0 ? bits : 0)), guard = s->error * one + 2;
    uint32_t spread[16];
    if (bits <= 0 || !((2 * guard + 1) * RARE <= one) || b->inverse > 0x1p90 ||
        b->inverse < 0x1p-90)
        return 0;
    g->inverse = wide_fill(s->inverse * one);
    g->offset = wide_fill(s->offset * one);
    g->bottom = wide_fill(0.5 * one);
    g->top = wide_fill((1.5 + (double)b->bins) * one);
    g->guard = wide_i_fill((uint32_t)guard);
    g->fraction = wide_i_fill((UINT32_C(1) << bits) - 1);
    g->near = wide_i_fill(2 * (uint32_t)guard + 1);
    g->keep = wide_i_fill(UINT32_MAX << shift);
    g->right = (unsigned)bits - shift;
    for (uint32_t i = 0; i < 16; i++)
        spread[i] = i & ((1u << shift) - 1);
    for (int i = 0; i < SPREAD(WIDE); i++)
        g->spread[i] = wide_i_load(spread + i * WIDE);
    return 1;
}

/* Where lanes i … of a block are counted. */
INLINE wide_i guess_places_wide(wide_f x, const guess_wide *g, int i, wide_i *note)
{
    wide_i q = wide_round(wide_clamp(wide_mul_add(x, g->inverse, g->offset), g->bottom, g->top));
    wide_i d = wide_i_sub(wide_i_and(wide_i_add(q, g->guard), g->fraction), g->near);
    *note = wide_i_or3(*note, d, q);
    return wide_i_put(wide_i_right(q, g->right), g->keep, g->spread[i / WIDE % SPREAD(WIDE)]);
}

/* float64: a place less a half is rounded to the nearest, from which it is as far as its slot's
 * middle is; the distance is exact. Where it passes the limit, and for NaN, the note is set. */
typedef struct guess_lanes {
    lanes_f inverse, offset, bottom, top, limit;
    lanes_i spread[SPREAD(LANES)];
    unsigned shift;
} guess_lanes;

INLINE int guess_of_lanes(const scale *s, const ty_bins *b, unsigned shift, guess_lanes *g)
{
    uint32_t spread[16];
    if (!(2 * s->error * RARE <= 1) || b->inverse > 0x1p900 || b->inverse < 0x1p-900)
        return 0;
    g->inverse = lanes_fill(s->inverse);
    g->offset = lanes_fill(s->offset - 0.5);
    g->bottom = lanes_fill(0);
    g->top = lanes_fill(1 + (double)b->bins);
    g->limit = lanes_fill(0.5 - s->error);
    g->shift = shift;
    for (uint32_t i = 0; i < 16; i++)
        spread[i] = i & ((1u << shift) - 1);
    for (int i = 0; i < SPREAD(LANES); i++)
        g->spread[i] = lanes_i_load(spread + i * LANES);
    return 1;
}

INLINE lanes_i guess_places_lanes(lanes_f x, const guess_lanes *g, int i, lanes_set *note)
{
    lanes_f t = lanes_clamp(lanes_mul_add(x, g->inverse, g->offset), g->bottom, g->top);
    *note = lanes_either(*note, lanes_not_below(lanes_to_whole(t), g->limit));
    return lanes_i_add(lanes_i_shift(lanes_round(t), g->shift),
                       g->spread[i / LANES % SPREAD(LANES)]);
}
