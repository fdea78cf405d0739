/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops for one dtype; included once for each by even_loops.c with
 *   DTYPE     its name, TYPE the C type of its bits
 *   INTEGERS  1 if it is one
 *   NARROW    defined if float32 holds every sample
 *   AFFINE    defined if even_affine.h finds the cells of some
 *   EXACT     64-bit integers: the function of binning/bin.h that decides one sample
 */
#define PASTE2(a, b) a##_##b
#define PASTE(a, b)  PASTE2(a, b)
#define NAME(f)      PASTE(f, DTYPE)

#if defined(EXACT)
/* The counters of a block in which some sample may equal an edge only because it was rounded to
 * float64. */
static __attribute__((noinline)) void NAME(decide)(const unsigned char *from, const consts *c,
                                                   uint32_t *counters)
{
    const uint32_t bins = c->bins.bins;
    for (uint32_t i = 0; i < BLOCK; i++) {
        TYPE x;
        memcpy(&x, from + i * sizeof x, sizeof x);
        counters[i] =
            ty_cell_of_slot(EXACT(x, &c->bins), bins) << c->shift | (i & ((1u << c->shift) - 1));
    }
}
#endif

/* What is counted while block k is looked up. Counters of samples below 8 bytes are not prefetched:
 * that gained nothing. */
INLINE pending NAME(pending)(const heavy_hitter *h, uint32_t ring[RING][BLOCK], size_t k)
{
    const int scattered = sizeof(TYPE) == 8 && h->scattered;
    return (pending){h->table, ring[(k - LAG) % RING], scattered ? ring[(k - SOON) % RING] : NULL};
}

/* The counters of BLOCK samples by the rule: compared with their nearest edge, which is computed or
 * found in a `table`. */
INLINE void NAME(by_rule_inline)(const unsigned char *from, const consts *c, int table,
                                 uint32_t *counters, pending b)
{
#if defined(EXACT)
    f64x_mask ties = f64x_mask_none();
#endif
    for (int i = 0; i < BLOCK; i += F64_LANES) {
        f64x x = PASTE(f64x_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        f64x t = f64x_clamp(f64x_mul_add(x, c->inverse, c->offset), c->none, c->all);
        f64x r = f64x_nearest(t);
        f64x edge = table ? nearest_edges(t, c) : f64x_add(c->lo, f64x_mul(r, c->width));
        edge = f64x_select(f64x_below(r, c->all), edge, c->end);
        /* The nearest edge begins bin r, which is cell r + 1. Of NaN both are past all cells. */
        u32h s = u32h_increment(f64x_round_i32(t), f64x_not_below(x, edge));
        u32h_store(counters + i, counters_of(u32h_min(s, c->nan), i, c));
#if defined(EXACT)
        /* Rounded to float64 a sample may equal an edge that it does not equal itself. */
        ties = f64x_mask_or(ties,
                            f64x_mask_and(f64x_mask_or(f64x_equal(x, edge), f64x_equal(x, c->hi)),
                                          f64x_below(f64x_fill(0x1p53 - 1), f64x_abs(x))));
#endif
        count_pending(&b, i, F64_LANES);
    }
#if defined(EXACT)
    if (__builtin_expect(f64x_mask_any(ties), 0))
        NAME(decide)(from, c, counters);
#endif
}

/* A function of its own, so that its constants take no registers from speculation. */
static __attribute__((noinline)) void NAME(by_rule)(const unsigned char *from, const consts *c,
                                                    uint32_t *counters)
{
    if (c->edges)
        NAME(by_rule_inline)(from, c, 1, counters, none_pending);
    else
        NAME(by_rule_inline)(from, c, 0, counters, none_pending);
}

/* Looks up blocks k … end - 1, the first of which is at `from`, without speculation, and counts
 * those LAG before. */
static __attribute__((noinline)) void
NAME(counting)(const unsigned char *from, const consts *c, const ty_affine *map,
               uint32_t ring[RING][BLOCK], const heavy_hitter *heavy, size_t k, size_t end)
{
    const size_t step = BLOCK * sizeof(TYPE);
#if defined(AFFINE)
    const affine_consts s = affine_of(map, &c->bins, c->shift);
    for (; map->proven && k < end; k++, from += step) {
        uint32_t *now = ring[k % RING];
        const pending b = NAME(pending)(heavy, ring, k);
        fetch_ahead(from, step);
        if (s.shift)
            PASTE(affine_block, DTYPE)(from, &s, 0, now, only_count(b));
        else if (b.soon)
            PASTE(affine_block, DTYPE)(from, &s, 1, now, b);
        else
            PASTE(affine_block, DTYPE)(from, &s, 1, now, only_count(b));
        if (heavy->cell != NO_CELL)
            heavy_redirect(heavy, now);
    }
#else
    (void)map;
#endif
    const consts local = *c; /* which no store can change, so that it stays in registers */
    for (; k < end; k++, from += step) {
        uint32_t *now = ring[k % RING];
        const pending b = NAME(pending)(heavy, ring, k);
        fetch_ahead(from, step);
        if (c->edges)
            NAME(by_rule_inline)(from, &local, 1, now, only_count(b));
        else if (b.soon)
            NAME(by_rule_inline)(from, &local, 0, now, b);
        else
            NAME(by_rule_inline)(from, &local, 0, now, only_count(b));
        if (heavy->cell != NO_CELL)
            heavy_redirect(heavy, now);
    }
}

/* By speculation; returns whether a sample is in doubt. */
INLINE int NAME(speculate_f64)(const unsigned char *from, const speculator_f64 *g,
                               uint32_t *counters, pending b)
{
    f64x_mask doubt = f64x_mask_none();
    for (int i = 0; i < BLOCK; i += F64_LANES) {
        f64x x = PASTE(f64x_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        u32h_store(counters + i, speculate_cells_f64(x, g, i, &doubt));
        count_pending(&b, i, F64_LANES);
    }
    return f64x_mask_any(doubt);
}

#if defined(NARROW)
INLINE int NAME(speculate_f32)(const unsigned char *from, const speculator_f32 *g,
                               uint32_t *counters, pending b)
{
    u32x doubt = u32x_fill(0);
    for (int i = 0; i < BLOCK; i += F32_LANES) {
        f32x x = PASTE(f32x_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        u32x_store(counters + i, speculate_cells_f32(x, g, i, &doubt));
        count_pending(&b, i, F32_LANES);
    }
    return u32x_any_top_bit(doubt);
}
#endif

INLINE speculators NAME(speculators)(const ty_axis *axis, int first, unsigned shift)
{
    const ty_bins *b = &axis->bins;
    speculators g;
    scale s;
#if defined(NARROW)
    s = scale_of(b, first, INTEGERS && axis->even, 0x1p-24, F32_FUSED);
    s.error += axis->edge_error;
    g.how = BY_F32;
    if (speculator_f32_of(&s, b, shift, &g.by_f32))
        return g;
#endif
    s = scale_of(b, first, INTEGERS && axis->even, 0x1p-53, F64_FUSED);
    s.error += axis->edge_error;
    g.how = speculator_f64_of(&s, b, shift, &g.by_f64) ? BY_F64 : BY_RULE;
    return g;
}

/* By whichever speculation there is; returns whether a sample is in doubt. */
INLINE int NAME(speculate)(const unsigned char *from, const speculators *g, uint32_t *counters,
                           pending b)
{
#if defined(NARROW)
    if (g->how == BY_F32)
        return NAME(speculate_f32)(from, &g->by_f32, counters, b);
#endif
    if (b.soon)
        return NAME(speculate_f64)(from, &g->by_f64, counters, b);
    return NAME(speculate_f64)(from, &g->by_f64, counters, only_count(b));
}

/* Fewer than BLOCK samples, by way of a whole block; counters from n on mean nothing. */
static __attribute__((noinline)) void NAME(rest)(const unsigned char *from, size_t n,
                                                 const consts *c, uint32_t *counters)
{
    unsigned char whole[BLOCK * sizeof(TYPE)];
    memcpy(whole, from, n * sizeof(TYPE));
    for (size_t i = n; i < BLOCK; i++)
        memcpy(whole + i * sizeof(TYPE), from, sizeof(TYPE));
    NAME(by_rule)(whole, c, counters);
}

/* The cells of n samples, without speculation. */
static __attribute__((noinline)) void
NAME(cells_by_rule)(const ty_axis *axis, const unsigned char *from, size_t n, uint32_t *cells)
{
    const consts c = consts_of(axis, 0);
#if defined(AFFINE)
    const affine_consts affine = affine_of(&axis->affine, &axis->bins, 0);
    for (; axis->affine.proven && n >= BLOCK; n -= BLOCK, from += BLOCK * sizeof(TYPE)) {
        fetch_ahead(from, BLOCK * sizeof(TYPE));
        PASTE(affine_block, DTYPE)(from, &affine, 1, cells, none_pending);
        cells += BLOCK;
    }
#endif
    for (; n >= BLOCK; n -= BLOCK, from += BLOCK * sizeof(TYPE), cells += BLOCK) {
        fetch_ahead(from, BLOCK * sizeof(TYPE));
        NAME(by_rule)(from, &c, cells);
    }
    if (n) {
        _Alignas(64) uint32_t last[BLOCK];
        NAME(rest)(from, n, &c, last);
        memcpy(cells, last, n * sizeof *cells);
    }
}

/* The slots of BLOCK samples, if all are in bins and beyond doubt; else returns 0. */
INLINE int NAME(inside)(const unsigned char *from, const speculators *g, uint32_t bins,
                        uint32_t *slots)
{
    u32h outside = u32h_fill(0);
    f64x_mask doubt = f64x_mask_none();
#if defined(NARROW)
    if (g->how == BY_F32) {
        u32x beyond = u32x_fill(0);
        for (int i = 0; i < BLOCK; i += F32_LANES) {
            const f32x x = PASTE(f32x_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
            u32x_store(slots + i, speculate_slots_f32(x, &g->by_f32, u32x_fill(bins - 1), &beyond));
        }
        return !u32x_any_top_bit(beyond);
    }
#endif
    for (int i = 0; i < BLOCK; i += F64_LANES) {
        const f64x x = PASTE(f64x_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        u32h_store(slots + i,
                   speculate_slots_f64(x, &g->by_f64, u32h_fill(bins - 1), &doubt, &outside));
    }
    return !f64x_mask_any(doubt) && !u32h_any_top_bit(outside);
}

/* The cells of n samples; a function of its own, so that its constants take no registers from what
 * is inside. Cells become slots when all are stored, for a vector's load waits for stores of its
 * halves. */
static __attribute__((noinline)) void
NAME(slots_of_cells)(const ty_axis *axis, const unsigned char *from, size_t n, uint32_t *slots)
{
    const speculators g = NAME(speculators)(axis, 1, 0);
    size_t i = 0;
    for (unsigned missed = 0; i + BLOCK <= n && g.how != BY_RULE && missed <= MISSES_IN_CALL;
         i += BLOCK, from += BLOCK * sizeof(TYPE)) {
        fetch_ahead(from, BLOCK * sizeof(TYPE));
        if (__builtin_expect(NAME(speculate)(from, &g, slots + i, none_pending), 0)) {
            NAME(cells_by_rule)(axis, from, BLOCK, slots + i);
            missed++;
        }
    }
    if (i < n)
        NAME(cells_by_rule)(axis, from, n - i, slots + i);
    for (i = 0; i + BLOCK <= n; i += BLOCK)
        cells_to_slots(slots + i, axis->bins.bins);
    cells_to_slots_rest(slots + i, n - i, axis->bins.bins);
}

/* Calls are short: what only the rule needs is prepared when it is used. */
static void NAME(slots)(const ty_axis *axis, const void *samples, size_t n, uint32_t *slots)
{
    const speculators g = NAME(speculators)(axis, 0, 0);
    const unsigned char *from = samples;
    for (unsigned missed = 0; n >= BLOCK && g.how != BY_RULE && missed <= MISSES_IN_CALL;
         n -= BLOCK, from += BLOCK * sizeof(TYPE), slots += BLOCK) {
        fetch_ahead(from, BLOCK * sizeof(TYPE));
        if (__builtin_expect(!NAME(inside)(from, &g, axis->bins.bins, slots), 0)) {
            NAME(slots_of_cells)(axis, from, BLOCK, slots);
            missed++;
        }
    }
    if (n)
        NAME(slots_of_cells)(axis, from, n, slots);
    simd_leave();
}

static void NAME(add)(const ty_axis *axis, const void *samples, size_t n, uint32_t *table,
                      unsigned shift)
{
    _Alignas(64) uint32_t ring[RING][BLOCK];
    const consts c = consts_of(axis, shift);
    const speculators g = NAME(speculators)(axis, 1, shift);
    const unsigned char *from = samples;
    const size_t step = BLOCK * sizeof(TYPE), blocks = n / BLOCK;
    history past = {0, 0, 0};
    heavy_hitter heavy = {
        table, NO_CELL, (1u << shift) - 1, (axis->bins.bins + TY_SLOT_EXTRA) << shift, 0, 0};
    /* Where all samples are equal only the arithmetic takes time, and speculation has less. */
    const int certain = g.how == BY_RULE || (g.how == BY_F64 && axis->affine.proven);
    for (size_t k = 0, next; k < blocks; k = next, from += step) {
        uint32_t *now = ring[k % RING];
        next = k + 1;
        if (k < LAG) {
            NAME(by_rule)(from, &c, now);
        } else if ((certain && !(heavy.equal && g.how == BY_F64)) || past.rest) {
            /* Until the group ends. */
            next = (k | (GROUP - 1)) + 1;
            next = next < blocks ? next : blocks;
            NAME(counting)(from, &c, &axis->affine, ring, &heavy, k, next);
            from += (next - k - 1) * step;
        } else {
            fetch_ahead(from, step);
            if (__builtin_expect(NAME(speculate)(from, &g, now, NAME(pending)(&heavy, ring, k)),
                                 0)) {
                NAME(by_rule)(from, &c, now);
                past.missed++;
            }
            if (heavy.cell != NO_CELL)
                heavy_redirect(&heavy, now);
        }
        if (next % GROUP == 0) {
            history_group(&past);
            if (shift <= HEAVY_SHIFT)
                heavy_choose(&heavy, ring, next - 1);
        }
    }
    for (size_t k = blocks > LAG ? blocks - LAG : 0; k < blocks; k++)
        count_all(table, ring[k % RING], BLOCK);
    heavy_settle(&heavy);
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
#undef AFFINE
#undef EXACT
