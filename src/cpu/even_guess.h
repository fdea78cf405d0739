/*
 * Slots by fixed-point arithmetic, for one kind of vector; included by even_loops.h with VECTOR its
 * name and VECTORS its lanes.
 *
 * A sample's place in units of 2^-bits of a bin is rounded to an integer: its high part is the slot
 * and its fraction says how far the next edge is. Within the guard, which bounds all errors made on
 * the way and the edges' own, the slot is not known: then, and for NaN, the note becomes negative.
 */
#define G_PASTE2(a, b) a##_##b
#define G_PASTE(a, b)  G_PASTE2(a, b)
#define V(f)           G_PASTE(VECTOR, f)
#define G(f)           G_PASTE(f, VECTOR)

typedef struct G(guess) {
    V(f) inverse, offset, bottom, top;
    V(i) guard, fraction, near, keep, spread[VECTORS < 8 ? 8 / VECTORS : 1];
    unsigned right;
} G(guess);

INLINE G(guess) G(guess_of)(const scale *s, const ty_bins *b, unsigned shift)
{
    G(guess) g;
    const double one = (double)(UINT32_C(1) << s->bits);
    uint32_t spread[16];
    g.inverse = V(fill)(s->inverse * one);
    g.offset = V(fill)(s->offset * one);
    g.bottom = V(fill)(0.5 * one);
    g.top = V(fill)((1.5 + (double)b->bins) * one);
    g.guard = V(i_fill)(s->guard);
    g.fraction = V(i_fill)((UINT32_C(1) << s->bits) - 1);
    g.near = V(i_fill)(2 * s->guard + 1);
    g.keep = V(i_fill)(UINT32_MAX << shift);
    g.right = s->bits - shift;
    for (uint32_t i = 0; i < 16; i++)
        spread[i] = i & ((1u << shift) - 1);
    for (int i = 0; i < (VECTORS < 8 ? 8 / VECTORS : 1); i++)
        g.spread[i] = V(i_load)(spread + i * VECTORS);
    return g;
}

/* Where lanes i … of a block are counted. */
INLINE V(i) G(guess_places)(V(f) x, const G(guess) * g, int i, V(i) * note)
{
    V(i) q = V(round)(V(clamp)(V(mul_add)(x, g->inverse, g->offset), g->bottom, g->top));
    V(i) d = V(i_sub)(V(i_and)(V(i_add)(q, g->guard), g->fraction), g->near);
    *note = V(i_or3)(*note, d, q);
    return V(i_put)(V(i_right)(q, g->right), g->keep,
                    g->spread[i / VECTORS % (VECTORS < 8 ? 8 / VECTORS : 1)]);
}

#undef G
#undef V
#undef G_PASTE
#undef G_PASTE2
