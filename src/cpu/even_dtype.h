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

#if defined(EXACT)
/* The slots of a block in which some sample may meet an edge only by its rounding. */
static __attribute__((noinline)) void NAME(decide)(const unsigned char *from, const consts *c,
                                                   uint32_t *slots)
{
    for (uint32_t i = 0; i < BLOCK; i++) {
        TYPE x;
        memcpy(&x, from + i * sizeof x, sizeof x);
        slots[i] = EXACT(x, &c->bins) << c->shift | (i & ((1u << c->shift) - 1));
    }
}
#endif

/*
 * Slots of BLOCK samples, `mode` and `spill` being constants; see spills(). With a table, BLOCK
 * slots found earlier are counted there meanwhile. Returns whether some sample may lie outside: in
 * mode TO_COUNT they have TY_SLOT_UNDER, whatever they are, and are still to be sorted out.
 */
INLINE unsigned NAME(block)(const unsigned char *from, const consts *c, way mode, int spill,
                            uint32_t *slots, uint32_t *table, const uint32_t *earlier)
{
    const lanes_i last = lanes_i_fill(c->bins.bins - 1), outside = lanes_i_fill(c->bins.bins);
    lanes_i note = lanes_i_fill(0);
#if defined(EXACT)
    lanes_set ties = lanes_none();
#endif
    for (int i = 0; i < BLOCK; i += LANES) {
        lanes_f x = PASTE(lanes_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        lanes_f t = lanes_mul_add(x, c->inverse, c->offset), edge = NAME(edge)(t, c, spill);
        lanes_i s = lanes_slot(t, lanes_below(x, edge));
        note = lanes_i_note(note, s, last);
        if (mode == TO_COUNT)
            s = lanes_i_cut(s, last, outside);
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
        NAME(decide)(from, c, slots);
        return 0;
    }
#endif
    if (mode == TO_COUNT)
        return (unsigned)lanes_i_noted(note, last);
    if (__builtin_expect(!lanes_i_noted(note, last), 1))
        return 0;
    NAME(mend)(from, c, slots);
    return 1;
}

/* Sorts out blocks that are counted with TY_SLOT_UNDER for every sample outside: block k from
 * `from` if bit k of `which` is set. */
static __attribute__((noinline)) void NAME(sort_out)(const unsigned char *from, uint64_t which,
                                                     const consts *c, strays *to)
{
    const ty_bins b = c->bins;
    const lanes_f end = lanes_fill(b.closed ? nextafter(b.hi, INFINITY) : b.hi);
    const lanes_f edge = lanes_min(lanes_fill(b.lo + (double)b.bins * b.width), c->hi);
    lanes_i below_edge = lanes_i_fill(0), below_end = below_edge, numbers = below_edge;
    uint32_t samples = 0;
    for (; which; which &= which - 1, samples += BLOCK) {
        const unsigned char *at = from + (size_t)__builtin_ctzll(which) * BLOCK * sizeof(TYPE);
        for (int i = 0; i < BLOCK; i += LANES) {
            lanes_f x = PASTE(lanes_load, DTYPE)(at + (size_t)i * sizeof(TYPE));
            below_edge = lanes_i_count(below_edge, lanes_below(x, edge));
            below_end = lanes_i_count(below_end, lanes_below(x, end));
            numbers = lanes_i_count(numbers, lanes_equal(x, x));
        }
    }
    const uint32_t not_below = samples - sum_lanes(below_edge),
                   past = samples - sum_lanes(below_end);
    const uint32_t nan = samples - sum_lanes(numbers);
    to->last += not_below - past;
    to->over += past - nan;
    to->nan += nan;
}

/* Fewer than BLOCK samples, by way of a whole block; the further slots are no one's. */
static __attribute__((noinline)) void NAME(rest)(const unsigned char *from, size_t n,
                                                 const consts *c, uint32_t *slots)
{
    unsigned char whole[BLOCK * sizeof(TYPE)];
    memcpy(whole, from, n * sizeof(TYPE));
    for (size_t i = n; i < BLOCK; i++)
        memcpy(whole + i * sizeof(TYPE), from, sizeof(TYPE));
    NAME(block)(whole, c, TO_TELL, 1, slots, NULL, NULL);
}

static void NAME(slots)(const ty_axis *axis, const void *samples, size_t n, uint32_t *slots)
{
    const consts c = consts_of(axis, 0);
    const unsigned char *from = samples;
    for (; n >= BLOCK; n -= BLOCK, from += BLOCK * sizeof(TYPE), slots += BLOCK) {
        for (size_t i = 0; i < BLOCK * sizeof(TYPE); i += 64)
            __builtin_prefetch(from + AHEAD + i);
        NAME(block)(from, &c, TO_TELL, 1, slots, NULL, NULL);
    }
    if (n) {
        _Alignas(64) uint32_t last[BLOCK];
        NAME(rest)(from, n, &c, last);
        memcpy(slots, last, n * sizeof *slots);
    }
    lanes_leave();
}

INLINE void NAME(stream)(const unsigned char *from, size_t n, const consts *c, int spill,
                         uint32_t *table)
{
    _Alignas(64) uint32_t ring[RING][BLOCK];
    uint64_t outside = 0; /* bit k % GROUP: block k has samples outside */
    int sorting = !CUT_WORTH;
    strays s = {0, 0, 0};
    const size_t step = BLOCK * sizeof(TYPE), blocks = n / BLOCK;
    for (size_t k = 0; k < blocks; k++, from += step) {
        for (size_t i = 0; i < step; i += 64)
            __builtin_prefetch(from + AHEAD + i);
        uint32_t *slots = ring[k % RING], *earlier = ring[(k - LAG) % RING];
        uint64_t found = 0;
        if (k < LAG)
            NAME(block)(from, c, TO_TELL, spill, slots, NULL, NULL);
        else if (sorting)
            found = NAME(block)(from, c, TO_COUNT, spill, slots, table, earlier);
        else
            found = NAME(block)(from, c, TO_TELL, spill, slots, table, earlier);
        outside |= found << k % GROUP;
        if (k % GROUP == GROUP - 1) {
            if (sorting && outside)
                NAME(sort_out)(from - (GROUP - 1) * step, outside, c, &s);
            sorting = __builtin_popcountll(outside) >= CUT_WORTH;
            outside = 0;
        }
    }
    if (sorting && outside)
        NAME(sort_out)(from - blocks % GROUP * step, outside, c, &s);
    for (size_t k = blocks > LAG ? blocks - LAG : 0; k < blocks; k++)
        count_slots(table, ring[k % RING], BLOCK);
    put_strays(table, c, &s);
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
    lanes_leave();
}

#undef NAME
#undef PASTE
#undef PASTE2
#undef DTYPE
#undef TYPE
#undef EXACT
