/*
 * The loops for one dtype; included once for each by even_loops.h with
 *   DTYPE   its name, TYPE the C type of its bits
 *   EXACT   64-bit integers: bin.h's rule
 */
#define PASTE2(a, b) a##_##b
#define PASTE(a, b)  PASTE2(a, b)
#define NAME(f)      PASTE(f, DTYPE)

INLINE lanes_f NAME(edge)(lanes_f t, const consts *c, int spill)
{
    lanes_f edge = lanes_add(c->lo, lanes_mul(lanes_nearest(t), c->width));
    return spill ? lanes_min(edge, c->hi) : edge;
}

/* The slots of a block in which some sample lies outside the bins. */
static __attribute__((noinline)) void NAME(mend)(const unsigned char *from, const consts *c,
                                                 uint32_t *slots)
{
    const ty_bins b = c->bins;
    const lanes_f end = lanes_fill(b.closed ? nextafter(b.hi, INFINITY) : b.hi);
    const lanes_i last = lanes_i_fill(b.bins - 1), under = lanes_i_fill(b.bins + TY_SLOT_UNDER),
                  over = lanes_i_fill(b.bins + TY_SLOT_OVER),
                  nan = lanes_i_fill(b.bins + TY_SLOT_NAN);
    for (int i = 0; i < BLOCK; i += LANES) {
        lanes_f x = PASTE(lanes_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        lanes_f t = lanes_mul_add(x, c->inverse, c->offset);
        lanes_i s = lanes_slot(t, lanes_below(x, NAME(edge)(t, c, 1)));
        s = lanes_i_choose(lanes_below(x, end), lanes_i_least(s, last), over);
        s = lanes_i_choose(lanes_below(x, c->lo), under, s);
        s = lanes_i_choose(lanes_equal(x, x), s, nan);
        lanes_i_store(slots + i, place(s, i, c));
    }
}

/*
 * Slots of BLOCK samples. `spill`: see spills(). With a table, BLOCK slots found earlier are
 * counted there meanwhile.
 */
INLINE void NAME(block)(const unsigned char *from, const consts *c, int spill, uint32_t *slots,
                        uint32_t *table, const uint32_t *earlier)
{
    const lanes_i last = lanes_i_fill(c->bins.bins - 1);
    lanes_i note = lanes_i_fill(0);
#if defined(EXACT)
    lanes_set ties = lanes_none();
#endif
    for (int i = 0; i < BLOCK; i += LANES) {
        lanes_f x = PASTE(lanes_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        lanes_f t = lanes_mul_add(x, c->inverse, c->offset), edge = NAME(edge)(t, c, spill);
        lanes_i s = lanes_slot(t, lanes_below(x, edge));
        note = lanes_i_note(note, s, last);
        lanes_i_store(slots + i, place(s, i, c));
#if defined(EXACT)
        /* Rounded to float64 a sample may meet an edge that it does not equal. */
        ties =
            lanes_either(ties, lanes_both(lanes_either(lanes_equal(x, edge), lanes_equal(x, c->hi)),
                                          lanes_below(lanes_fill(0x1p53 - 1), lanes_size(x))));
#endif
        if (table)
            count_slots(table, earlier + i, LANES);
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
    if (__builtin_expect(lanes_i_noted(note, last), 0))
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
    NAME(block)(whole, c, 1, slots, NULL, NULL);
}

static void NAME(slots)(const ty_axis *axis, const void *samples, size_t n, uint32_t *slots)
{
    const consts c = consts_of(axis, 0);
    const unsigned char *from = samples;
    for (; n >= BLOCK; n -= BLOCK, from += BLOCK * sizeof(TYPE), slots += BLOCK) {
        for (size_t i = 0; i < BLOCK * sizeof(TYPE); i += 64)
            __builtin_prefetch(from + AHEAD + i);
        NAME(block)(from, &c, 1, slots, NULL, NULL);
    }
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
        if (k < LAG)
            NAME(block)(from, c, spill, ring[k % RING], NULL, NULL);
        else
            NAME(block)(from, c, spill, ring[k % RING], table, ring[(k - LAG) % RING]);
    }
    for (size_t k = blocks > LAG ? blocks - LAG : 0; k < blocks; k++)
        count_slots(table, ring[k % RING], BLOCK);
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
#undef EXACT
