/*
 * The loops for one dtype; included once for each by even_loops.h with
 *   DTYPE   its name, TYPE the C type of its bits
 *   DECODE  16-bit floats: from the bits to the value
 *   BELOW, EQUAL, EXACT  64-bit integers: bin.h's exact comparisons and rule
 */
#define PASTE2(a, b) a##_##b
#define PASTE(a, b)  PASTE2(a, b)
#define NAME(f)      PASTE(f, DTYPE)

/* Sets right the slots of a block in which some sample lies outside the bins. Slots of samples
 * inside are at most one too high, at the last edge. */
static __attribute__((noinline)) void NAME(mend)(const unsigned char *from, const consts *c,
                                                 uint32_t *slots)
{
    const ty_bins b = c->bins;
    const uint32_t shift = c->shift, low = (1u << shift) - 1;
    for (uint32_t i = 0; i < BLOCK; i++) {
        TYPE x;
        memcpy(&x, from + i * sizeof x, sizeof x);
        uint32_t s = slots[i] >> shift;
        s = s < b.bins ? s : b.bins - 1;
#if defined(BELOW)
        int under = BELOW(x, b.lo), inside = BELOW(x, b.hi) | (EQUAL(x, b.hi) & (int)b.closed);
        uint32_t out = b.bins + (under ? TY_SLOT_UNDER : TY_SLOT_OVER);
        int in = inside & (under ^ 1);
#else
#if defined(DECODE)
        double v = (double)DECODE(x);
#else
        double v = (double)x;
#endif
        uint32_t out = b.bins + (v >= b.hi ? TY_SLOT_OVER : 0) + (v != v ? TY_SLOT_NAN : 0);
        int in = (v >= b.lo) & ((v < b.hi) | ((v == b.hi) & (int)b.closed));
#endif
        slots[i] = (in ? s : out) << shift | (i & low);
    }
}

/* Slots of BLOCK samples. `spill`: see spills(). */
INLINE void NAME(block)(const unsigned char *from, const consts *c, int spill, uint32_t *slots)
{
    lanes_i worst = lanes_i_fill(0);
#if defined(EXACT)
    lanes_set ties = lanes_none();
#endif
    for (int i = 0; i < BLOCK; i += LANES) {
        lanes_f x = PASTE(lanes_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        lanes_f t = lanes_mul_add(x, c->inverse, c->offset);
        lanes_f edge = lanes_add(c->lo, lanes_mul(lanes_nearest(t), c->width));
        if (spill)
            edge = lanes_min(edge, c->hi);
        lanes_i s = lanes_slot(t, lanes_below(x, edge));
        worst = lanes_i_worst(worst, s);
        lanes_i_store(slots + i,
                      lanes_i_add(lanes_i_shift(s, c->shift), c->spread[i / LANES % (8 / LANES)]));
#if defined(EXACT)
        /* Rounded to float64 a sample may meet an edge that it does not equal. */
        ties = lanes_either(ties, lanes_both(lanes_equal(x, edge),
                                             lanes_below(lanes_fill(0x1p53 - 1), lanes_size(x))));
#endif
    }
#if defined(EXACT)
    if (__builtin_expect(lanes_any(ties), 0)) {
        for (uint32_t i = 0; i < BLOCK; i++) {
            TYPE x;
            memcpy(&x, from + i * sizeof x, sizeof x);
            slots[i] = EXACT(x, &c->bins) << c->shift | (i & ((1u << c->shift) - 1));
        }
        return;
    }
#endif
    if (__builtin_expect(lanes_i_any_from(worst, c->bins.bins), 0))
        NAME(mend)(from, c, slots);
}

/* Fewer than BLOCK samples, by way of a whole block; the further slots are no one's. */
static __attribute__((noinline)) void NAME(rest)(const unsigned char *from, size_t n,
                                                 const consts *c, uint32_t *slots)
{
    unsigned char whole[BLOCK * sizeof(TYPE)];
    memcpy(whole, from, n * sizeof(TYPE));
    for (size_t i = n; i < BLOCK; i++)
        memcpy(whole + i * sizeof(TYPE), from, sizeof(TYPE));
    NAME(block)(whole, c, 1, slots);
}

static void NAME(slots)(const ty_axis *axis, const void *samples, size_t n, uint32_t *slots)
{
    const consts c = consts_of(axis, 0);
    const unsigned char *from = samples;
    for (; n >= BLOCK; n -= BLOCK, from += BLOCK * sizeof(TYPE), slots += BLOCK)
        NAME(block)(from, &c, 1, slots);
    if (n) {
        _Alignas(64) uint32_t last[BLOCK];
        NAME(rest)(from, n, &c, last);
        memcpy(slots, last, n * sizeof *slots);
    }
}

INLINE void NAME(stream)(const unsigned char *from, size_t n, const consts *c, int spill,
                         uint32_t *table)
{
    _Alignas(64) uint32_t ring[RING][BLOCK];
    const size_t step = BLOCK * sizeof(TYPE), blocks = n / BLOCK;
    for (size_t k = 0; k < blocks; k++, from += step) {
        for (size_t i = 0; i < step; i += 64)
            __builtin_prefetch(from + AHEAD + i);
        NAME(block)(from, c, spill, ring[k % RING]);
        if (k >= LAG)
            count_block(table, ring[(k - LAG) % RING]);
    }
    for (size_t k = blocks > LAG ? blocks - LAG : 0; k < blocks; k++)
        count_block(table, ring[k % RING]);
    n %= BLOCK;
    if (n) {
        NAME(rest)(from, n, c, ring[0]);
        for (size_t i = 0; i < n; i++)
            table[ring[0][i]]++;
    }
}

static void NAME(add)(const ty_axis *axis, const void *samples, size_t n, uint32_t *table,
                      unsigned shift)
{
    const consts c = consts_of(axis, shift);
    if (spills(&c.bins))
        NAME(stream)(samples, n, &c, 1, table);
    else
        NAME(stream)(samples, n, &c, 0, table);
}

#undef NAME
#undef PASTE
#undef PASTE2
#undef DTYPE
#undef TYPE
#undef DECODE
#undef BELOW
#undef EQUAL
#undef EXACT
