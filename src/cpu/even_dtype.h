/*
 * The loops for one dtype; included once for each by even_loops.h with
 *   DTYPE     its name, TYPE the C type of its bits
 *   INTEGERS  1 if it is one
 *   NARROW    defined if float32 holds every sample
 *   SURE      defined if even_sure.h places some of them
 *   EXACT     64-bit integers: bin.h's rule
 */
#define PASTE2(a, b) a##_##b
#define PASTE(a, b)  PASTE2(a, b)
#define NAME(f)      PASTE(f, DTYPE)

#if defined(EXACT)
/* The places of a block in which some sample may meet an edge only by its rounding. */
static __attribute__((noinline)) void NAME(decide)(const unsigned char *from, const consts *c,
                                                   uint32_t *counters)
{
    const uint32_t bins = c->bins.bins;
    for (uint32_t i = 0; i < BLOCK; i++) {
        TYPE x;
        memcpy(&x, from + i * sizeof x, sizeof x);
        counters[i] =
            ty_place_of(EXACT(x, &c->bins), bins) << c->shift | (i & ((1u << c->shift) - 1));
    }
}
#endif

/* What is done while block k's places are found. Samples that are half as long take most requests
 * themselves: asking for their counters as well gained nothing. */
INLINE beside NAME(beside)(const hot *h, uint32_t ring[RING][BLOCK], size_t k)
{
    const int far = sizeof(TYPE) == 8 && h->far;
    return (beside){h->table, ring[(k - LAG) % RING], far ? ring[(k - SOON) % RING] : NULL};
}

/* By the rule: the counters of BLOCK samples. */
INLINE void NAME(block)(const unsigned char *from, const consts *c, uint32_t *counters, beside b)
{
#if defined(EXACT)
    f64x_mask ties = f64x_mask_none();
#endif
    for (int i = 0; i < BLOCK; i += F64_LANES) {
        f64x x = PASTE(f64x_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        f64x t = f64x_clamp(f64x_mul_add(x, c->inverse, c->offset), c->none, c->all);
        f64x r = f64x_nearest(t), edge = f64x_add(c->lo, f64x_mul(r, c->width));
        edge = f64x_select(f64x_below(r, c->all), edge, c->end);
        /* The nearest edge begins bin r, at place r + 1; of a NaN both are far off. */
        u32h s = u32h_increment(f64x_round_i32(t), f64x_not_below(x, edge));
        u32h_store(counters + i, counters_of(u32h_min(s, c->nan), i, c));
#if defined(EXACT)
        /* Rounded to float64 a sample may meet an edge that it does not equal. */
        ties = f64x_mask_or(ties,
                            f64x_mask_and(f64x_mask_or(f64x_equal(x, edge), f64x_equal(x, c->hi)),
                                          f64x_below(f64x_fill(0x1p53 - 1), f64x_abs(x))));
#endif
        do_beside(&b, i, F64_LANES);
    }
#if defined(EXACT)
    if (__builtin_expect(f64x_mask_any(ties), 0))
        NAME(decide)(from, c, counters);
#endif
}

/* Apart, so that their constants take no registers from the guesses. */
static __attribute__((noinline)) void NAME(alone)(const unsigned char *from, const consts *c,
                                                  uint32_t *counters)
{
    NAME(block)(from, c, counters, nothing);
}

/* Blocks k … end - 1, the first of which is at `from`; those LAG before are counted meanwhile. */
static __attribute__((noinline)) void NAME(counting)(const unsigned char *from, const consts *c,
                                                     const ty_sure *sure,
                                                     uint32_t ring[RING][BLOCK], const hot *hot,
                                                     size_t k, size_t end)
{
    const size_t step = BLOCK * sizeof(TYPE);
#if defined(SURE)
    const sure_lanes s = sure_of(sure, &c->bins, c->shift);
    for (; sure->proved && k < end; k++, from += step) {
        uint32_t *now = ring[k % RING];
        const beside b = NAME(beside)(hot, ring, k);
        fetch_ahead(from, step);
        if (s.shift)
            PASTE(sure_block, DTYPE)(from, &s, 0, now, only_count(b));
        else if (b.soon)
            PASTE(sure_block, DTYPE)(from, &s, 1, now, b);
        else
            PASTE(sure_block, DTYPE)(from, &s, 1, now, only_count(b));
        if (hot->place != NOT_HOT)
            hot_redirect(hot, now);
    }
#else
    (void)sure;
#endif
    const consts local = *c; /* in registers: no store is taken to change it */
    for (; k < end; k++, from += step) {
        uint32_t *now = ring[k % RING];
        const beside b = NAME(beside)(hot, ring, k);
        fetch_ahead(from, step);
        if (b.soon)
            NAME(block)(from, &local, now, b);
        else
            NAME(block)(from, &local, now, only_count(b));
        if (hot->place != NOT_HOT)
            hot_redirect(hot, now);
    }
}

/* By a guess; returns whether it may be wrong for some sample. */
INLINE int NAME(guess_lanes)(const unsigned char *from, const guess_lanes *g, uint32_t *counters,
                             beside b)
{
    f64x_mask note = f64x_mask_none();
    for (int i = 0; i < BLOCK; i += F64_LANES) {
        f64x x = PASTE(f64x_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        u32h_store(counters + i, guess_places_lanes(x, g, i, &note));
        do_beside(&b, i, F64_LANES);
    }
    return f64x_mask_any(note);
}

#if defined(NARROW)
INLINE int NAME(guess_wide)(const unsigned char *from, const guess_wide *g, uint32_t *counters,
                            beside b)
{
    u32x note = u32x_fill(0);
    for (int i = 0; i < BLOCK; i += F32_LANES) {
        f32x x = PASTE(f32x_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        u32x_store(counters + i, guess_places_wide(x, g, i, &note));
        do_beside(&b, i, F32_LANES);
    }
    return u32x_any_top_bit(note);
}
#endif

INLINE guesses NAME(guesses)(const ty_axis *axis, unsigned shift)
{
    const ty_bins *b = &axis->bins;
    guesses g;
    scale s;
#if defined(NARROW)
    s = scale_of(b, INTEGERS, 0x1p-24, F32_FUSED);
    g.how = BY_WIDE;
    if (guess_of_wide(&s, b, shift, &g.wide))
        return g;
#endif
    s = scale_of(b, INTEGERS, 0x1p-53, F64_FUSED);
    g.how = guess_of_lanes(&s, b, shift, &g.lanes) ? BY_LANES : BY_RULE;
    return g;
}

/* By the guess, which there is; returns whether it missed. */
INLINE int NAME(guess)(const unsigned char *from, const guesses *g, uint32_t *counters, beside b)
{
#if defined(NARROW)
    if (g->how == BY_WIDE)
        return NAME(guess_wide)(from, &g->wide, counters, b);
#endif
    if (b.soon)
        return NAME(guess_lanes)(from, &g->lanes, counters, b);
    return NAME(guess_lanes)(from, &g->lanes, counters, only_count(b));
}

/* Fewer than BLOCK samples, by way of a whole block; the further counters are no one's. */
static __attribute__((noinline)) void NAME(rest)(const unsigned char *from, size_t n,
                                                 const consts *c, uint32_t *counters)
{
    unsigned char whole[BLOCK * sizeof(TYPE)];
    memcpy(whole, from, n * sizeof(TYPE));
    for (size_t i = n; i < BLOCK; i++)
        memcpy(whole + i * sizeof(TYPE), from, sizeof(TYPE));
    NAME(alone)(whole, c, counters);
}

static __attribute__((noinline)) void
NAME(slots_by_rule)(const ty_axis *axis, const unsigned char *from, size_t n, uint32_t *slots)
{
    const consts c = consts_of(axis, 0);
#if defined(SURE)
    const sure_lanes sure = sure_of(&axis->sure, &axis->bins, 0);
    for (; axis->sure.proved && n >= BLOCK; n -= BLOCK, from += BLOCK * sizeof(TYPE)) {
        fetch_ahead(from, BLOCK * sizeof(TYPE));
        PASTE(sure_block, DTYPE)(from, &sure, 1, slots, nothing);
        places_to_slots(slots, c.bins.bins);
        slots += BLOCK;
    }
#endif
    for (; n >= BLOCK; n -= BLOCK, from += BLOCK * sizeof(TYPE), slots += BLOCK) {
        fetch_ahead(from, BLOCK * sizeof(TYPE));
        NAME(alone)(from, &c, slots);
        places_to_slots(slots, c.bins.bins);
    }
    if (n) {
        _Alignas(64) uint32_t last[BLOCK];
        NAME(rest)(from, n, &c, last);
        places_to_slots(last, c.bins.bins);
        memcpy(slots, last, n * sizeof *slots);
    }
}

/* Calls are short: what the rule alone needs is made only for it. */
static void NAME(slots)(const ty_axis *axis, const void *samples, size_t n, uint32_t *slots)
{
    enum { MISSES_MOST = 2 };
    const guesses g = NAME(guesses)(axis, 0);
    const unsigned char *from = samples;
    for (unsigned missed = 0; n >= BLOCK && g.how != BY_RULE && missed <= MISSES_MOST;
         n -= BLOCK, from += BLOCK * sizeof(TYPE), slots += BLOCK) {
        fetch_ahead(from, BLOCK * sizeof(TYPE));
        if (__builtin_expect(NAME(guess)(from, &g, slots, nothing), 0)) {
            NAME(slots_by_rule)(axis, from, BLOCK, slots);
            missed++;
        } else {
            places_to_slots(slots, axis->bins.bins);
        }
    }
    if (n)
        NAME(slots_by_rule)(axis, from, n, slots);
    simd_leave();
}

static void NAME(add)(const ty_axis *axis, const void *samples, size_t n, uint32_t *table,
                      unsigned shift)
{
    _Alignas(64) uint32_t ring[RING][BLOCK];
    const consts c = consts_of(axis, shift);
    const guesses g = NAME(guesses)(axis, shift);
    const unsigned char *from = samples;
    const size_t step = BLOCK * sizeof(TYPE), blocks = n / BLOCK;
    course way = {0, 0, 0};
    hot hot = {table, NOT_HOT, (1u << shift) - 1, (axis->bins.bins + TY_SLOT_EXTRA) << shift, 0, 0};
    /* Equal samples wait for nothing but the arithmetic, and a guess has less of it. */
    const int certain = g.how == BY_RULE || (g.how == BY_LANES && axis->sure.proved);
    for (size_t k = 0, next; k < blocks; k = next, from += step) {
        uint32_t *now = ring[k % RING];
        next = k + 1;
        if (k < LAG) {
            NAME(alone)(from, &c, now);
        } else if ((certain && !(hot.equal && g.how == BY_LANES)) || way.rest) {
            /* To the group's end. */
            next = (k | (GROUP - 1)) + 1;
            next = next < blocks ? next : blocks;
            NAME(counting)(from, &c, &axis->sure, ring, &hot, k, next);
            from += (next - k - 1) * step;
        } else {
            fetch_ahead(from, step);
            if (__builtin_expect(NAME(guess)(from, &g, now, NAME(beside)(&hot, ring, k)), 0)) {
                NAME(alone)(from, &c, now);
                way.missed++;
            }
            if (hot.place != NOT_HOT)
                hot_redirect(&hot, now);
        }
        if (next % GROUP == 0) {
            course_group(&way);
            if (shift <= HOT_SHIFT)
                hot_choose(&hot, ring, next - 1);
        }
    }
    for (size_t k = blocks > LAG ? blocks - LAG : 0; k < blocks; k++)
        count_all(table, ring[k % RING], BLOCK);
    hot_settle(&hot);
    n %= BLOCK;
    if (n) {
        NAME(rest)(from, n, &c, ring[0]);
        for (size_t i = 0; i < n; i++)
            table[ring[0][i]]++;
    }
    simd_leave();
}

#undef NAME
#undef PASTE
#undef PASTE2
#undef DTYPE
#undef TYPE
#undef INTEGERS
#undef NARROW
#undef SURE
#undef EXACT
