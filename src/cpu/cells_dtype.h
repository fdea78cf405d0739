/* The loops for one dtype, DTYPE by name and TYPE in C; included once for each by cells_loops.h. */
#define PASTE2(a, b) a##_##b
#define PASTE(a, b)  PASTE2(a, b)
#define NAME(f)      PASTE(f, DTYPE)

INLINE double NAME(value)(const unsigned char *from, size_t i)
{
    TYPE x;
    memcpy(&x, from + i * sizeof x, sizeof x);
    return (double)x;
}

/*
 * Cells of BLOCK samples. Meanwhile BLOCK earlier samples, whose cells are known, are placed: their
 * slots written to `slots`, or counted in `table`; `earlier` may be NULL.
 */
INLINE void NAME(block)(const unsigned char *from, const consts *c, ty_cells_scale scale,
                        uint32_t steps, uint32_t *cells, const unsigned char *earlier,
                        const uint32_t *known, uint32_t *table, uint32_t *slots)
{
    for (int i = 0; i < BLOCK; i += LANES) {
        lanes_f x = PASTE(lanes_load, DTYPE)(from + (size_t)i * sizeof(TYPE));
        lanes_i_store(cells + i, cell_of(x, c, scale));
        for (int k = i; earlier && k < i + LANES; k++) {
            uint32_t s = slot_of(NAME(value)(earlier, (size_t)k), known[k], c, steps);
            if (table)
                table[((size_t)s << c->shift) + ((size_t)k & ((1u << c->shift) - 1))]++;
            else
                slots[k] = s;
        }
    }
}

/* Places n samples, at most BLOCK, whose cells are known. */
static void NAME(place)(const unsigned char *from, size_t n, const consts *c, const uint32_t *known,
                        uint32_t *table, uint32_t *slots)
{
    for (size_t k = 0; k < n; k++) {
        uint32_t s = slot_of(NAME(value)(from, k), known[k], c, c->steps);
        if (table)
            table[(size_t)s << c->shift]++;
        else
            slots[k] = s;
    }
}

/* Fewer than BLOCK samples, by way of a whole block. */
static void NAME(rest)(const unsigned char *from, size_t n, const consts *c, uint32_t *table,
                       uint32_t *slots)
{
    unsigned char whole[BLOCK * sizeof(TYPE)];
    uint32_t cells[BLOCK];
    memcpy(whole, from, n * sizeof(TYPE));
    for (size_t i = n; i < BLOCK; i++)
        memcpy(whole + i * sizeof(TYPE), from, sizeof(TYPE));
    NAME(block)(whole, c, c->scale, 1, cells, NULL, NULL, NULL, NULL);
    NAME(place)(from, n, c, cells, table, slots);
}

/* With a table: counts; else `slots` gets n slots. */
INLINE void NAME(stream)(const unsigned char *from, size_t n, const consts *c, ty_cells_scale scale,
                         uint32_t steps, uint32_t *table, uint32_t *slots)
{
    _Alignas(64) uint32_t ring[RING][BLOCK];
    const size_t step = BLOCK * sizeof(TYPE), blocks = n / BLOCK;
    for (size_t k = 0; k < blocks; k++, from += step) {
        for (size_t i = 0; i < step; i += 64)
            __builtin_prefetch(from + AHEAD + i);
        uint32_t *cells = ring[k % RING];
        if (k < LAG) {
            NAME(block)(from, c, scale, steps, cells, NULL, NULL, NULL, NULL);
        } else {
            NAME(block)
            (from, c, scale, steps, cells, from - LAG * step, ring[(k - LAG) % RING], table, slots);
            if (!table)
                slots += BLOCK;
        }
    }
    for (size_t k = blocks > LAG ? blocks - LAG : 0; k < blocks; k++) {
        NAME(place)(from - (blocks - k) * step, BLOCK, c, ring[k % RING], table, slots);
        if (!table)
            slots += BLOCK;
    }
    if (n % BLOCK)
        NAME(rest)(from, n % BLOCK, c, table, slots);
}

static void NAME(run)(const ty_axis *axis, const void *samples, size_t n, uint32_t *table,
                      unsigned shift, uint32_t *slots)
{
    const consts c = consts_of(axis, shift);
    if (c.scale == TY_CELLS_LINEAR && c.steps == 1)
        NAME(stream)(samples, n, &c, TY_CELLS_LINEAR, 1, table, slots);
    else if (c.scale == TY_CELLS_LINEAR)
        NAME(stream)(samples, n, &c, TY_CELLS_LINEAR, c.steps, table, slots);
    else if (c.steps == 1)
        NAME(stream)(samples, n, &c, TY_CELLS_BITS, 1, table, slots);
    else
        NAME(stream)(samples, n, &c, TY_CELLS_BITS, c.steps, table, slots);
}

static void NAME(slots)(const ty_axis *axis, const void *samples, size_t n, uint32_t *slots)
{
    NAME(run)(axis, samples, n, NULL, 0, slots);
}

static void NAME(add)(const ty_axis *axis, const void *samples, size_t n, uint32_t *table,
                      unsigned shift)
{
    NAME(run)(axis, samples, n, table, shift, NULL);
}

#undef NAME
#undef PASTE
#undef PASTE2
#undef DTYPE
#undef TYPE
