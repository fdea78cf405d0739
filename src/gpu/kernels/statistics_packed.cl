/*
 * statistics: packed float32 values of packed float32 samples, by loads of 16 bytes. The table has
 * TY_PACKED copies of every word, by cells (cell.h), which neighbouring lanes take in turn.
 *
 * A slot's words are, one plane of TY_PLANE after the other, its extremes, the number of its
 * values, and a limb each for
 *
 *     p        bits 0 to STATISTICS_LOW, signed; the others, signed (both biased, so as not to be)
 *     p * p    bits 0 to SQUARE_1; SQUARE_1 to SQUARE_2; the others
 *
 * How often a limb's word wraps is counted in the table of rare values. Where no cell has many of
 * the samples there is a shorter way (statistics_brief.cl), which leaves to this one what it cannot
 * do.
 *
 * E may be a guess, by some of the values (STATISTICS_GUESSED). Values that are larger, or that a
 * larger E would round otherwise, are late: statistics_late adds them when E is known. If they are
 * too many, or E is too far from the guess, all is done once more (STATISTICS_AGAIN), by launches
 * that else end at once.
 */
#if !defined(TY_NO_FP64) && TY_PACKED

#define STATISTICS_HIGH   (STATISTICS_BITS - STATISTICS_LOW) /* bits of the upper limb */
#define STATISTICS_LIMBS  (TY_SUMS ? TY_SUMS > 1 ? STATISTICS_LIMBS_MOST : 2 : 0)
#define STATISTICS_SPREAD (TY_PACKED < 32 ? 32 / TY_PACKED - 1 : 0)

/* What a work-item adds to and by. */
typedef struct statistics_packed {
    TY_GLOBAL const ty_u8 *axis;
    ty_bins bins;
    ty_cell_map map;
    ty_lookup lookup;
    statistics_how how;
    float high, low;            /* adding one rounds to a limb's unit */
    float unit;                 /* 2^(STATISTICS_BITS-E) */
    ty_u32 high_bias, low_bias; /* what is taken from their bits */
    ty_u32 crowd, turns;        /* whether there was one, and how many turns had none */
    int again;                  /* whether rare values have been added before */
    TY_LOCAL ty_u32 *table;     /* its copy */
    TY_LOCAL ty_u32 *words;     /* for statistics_brief.cl: the table, the address of the copy, */
    ty_u32 at, added;           /* and how many samples have been added */
} statistics_packed;

/* Values of one cell: their number, limbs, largest key and largest complement of a key. */
typedef struct statistics_few {
    ty_u32 n, limbs[STATISTICS_LIMBS_MOST], max, min;
} statistics_few;

/* What values are rounded and scaled by; a lower limb has low_bits. Where floats are too large or
 * too small for that, all of them are rare, but for zeros among the small. */
TY_FN void statistics_packed_scale(statistics_packed *p, int e, int low_bits)
{
    const ty_u32 rounder = 0x4b400000u; /* 1.5 * 2^23 */
    int zeros = e < -70, in = e <= 100;
    e = zeros ? 0 : e;
    ty_u32 high = in ? rounder + ((ty_u32)(e - STATISTICS_BITS + low_bits) << 23) : 0x7fc00000u,
           low = in ? rounder + ((ty_u32)(e - STATISTICS_BITS) << 23) : 0x7fc00000u;
    p->high = TY_AS_FLOAT(high);
    p->low = TY_AS_FLOAT(low);
    p->unit = TY_AS_FLOAT(in ? (ty_u32)(STATISTICS_BITS - e + 127) << 23 : 0);
    p->high_bias = high - (1u << STATISTICS_HIGH);
    p->low_bias = low - (1u << (STATISTICS_LOW - 1));
    if (TY_SUMS && zeros)
        p->how.limit = TY_AS_FLOAT(1);
}

/* Where a cell's words are in a plane: cells of any equal distance are in different banks. */
TY_FN ty_u32 statistics_packed_at(ty_u32 cell)
{
    return (cell ^ (cell >> 5 & STATISTICS_SPREAD)) * TY_PACKED;
}

/* Copy k of those of all cells. */
TY_FN ty_u32 statistics_packed_copy(ty_u32 k)
{
    return statistics_packed_at(k / TY_PACKED) + k % TY_PACKED;
}

TY_FN ty_u32 statistics_packed_cell(ty_u32 x, const statistics_packed *p)
{
    return ty_axis_biased_cell(x, TY_F32, TY_BINNING_0, TY_POSITIVE_0, &p->bins, &p->map,
                               &p->lookup, p->axis) -
           TY_AXIS_BIAS(TY_BINNING_0);
}

/* The limbs of a value. Adding 1.5 * 2^23 units rounds to a limb's unit, and leaves the limb in the
 * sum's low bits. A value that is not usual, for bits are left or it is beyond the limit, counts as
 * 0 until statistics_packed_rare. */
TY_FN statistics_few statistics_packed_of(ty_u32 bits, const statistics_packed *p, int *usual)
{
    statistics_few one;
    float v = TY_AS_FLOAT(bits), high = v + p->high, rest = v - (high - p->high);
    float low = rest + p->low;
    int is = TY_FABS(v) < p->how.limit;
    if (TY_SUMS)
        is &= rest == low - p->low;
    one.n = 1;
    if (TY_SUMS) {
        one.limbs[0] = is ? TY_FLOAT_BITS(low) - p->low_bias : 1u << (STATISTICS_LOW - 1);
        one.limbs[1] = is ? TY_FLOAT_BITS(high) - p->high_bias : 1u << STATISTICS_HIGH;
    }
    if (TY_SUMS > 1) {
        ty_u32 size = (ty_u32)(TY_FABS(is ? v : 0) * p->unit);
        ty_u64 square = (ty_u64)size * size;
        one.limbs[2] = (ty_u32)square & ((1u << STATISTICS_SQUARE_1) - 1);
        one.limbs[3] = (ty_u32)(square >> STATISTICS_SQUARE_1) &
                       ((1u << (STATISTICS_SQUARE_2 - STATISTICS_SQUARE_1)) - 1);
        one.limbs[4] = (ty_u32)(square >> STATISTICS_SQUARE_2);
    }
    one.max = TY_EXTREMES && is ? bits ^ ((ty_u32)((ty_i32)bits >> 31) | 0x80000000u) : 0;
    one.min = TY_EXTREMES && is ? ~one.max : 0;
    *usual = is;
    return one;
}

/* Adds to a cell; returns whether a limb's word wrapped. *old is what these words were. */
TY_FN int statistics_packed_put(ty_u32 cell, const statistics_few *few, const statistics_packed *p,
                                ty_u32 *old)
{
    TY_LOCAL ty_u32 *to = p->table + statistics_packed_at(cell);
    int wrapped = 0;
    if (TY_EXTREMES) {
        ty_u32 max = *(volatile TY_LOCAL ty_u32 *)to,
               min = *(volatile TY_LOCAL ty_u32 *)(to + TY_PLANE);
        if ((few->max > max) | (few->min > min)) {
            TY_MAX_LOCAL(to, few->max);
            TY_MAX_LOCAL(to + TY_PLANE, few->min);
        }
        to += 2 * TY_PLANE;
    }
    TY_ADD_LOCAL(to, few->n);
    TY_UNROLL
    for (int k = 0; k < STATISTICS_LIMBS; k++)
        old[k] = TY_ADD_LOCAL(to + (k + 1) * TY_PLANE, few->limbs[k]);
    TY_UNROLL
    for (int k = 0; k < STATISTICS_LIMBS; k++)
        wrapped |= old[k] + few->limbs[k] < old[k];
    return wrapped;
}

/* Notes the words that wrapped. */
TY_FN void statistics_packed_wrap(ty_u32 cell, const statistics_few *few,
                                  const statistics_packed *p, const ty_u32 *old)
{
    ty_u32 slot = ty_slot_of_cell(cell, p->bins.bins);
    TY_UNROLL
    for (int k = 0; k < STATISTICS_LIMBS; k++)
        if (old[k] + few->limbs[k] < old[k])
            TY_ADD_WIDE(p->how.rare + (STATISTICS_WRAPS + k) * p->how.slots + slot, 1);
}

/* Adds a value that was not usual to the rare ones, and to the extremes. */
TY_FN void statistics_packed_meet(ty_u32 value, ty_u32 slot, TY_LOCAL ty_u32 *to,
                                  const statistics_packed *p)
{
    statistics_term t = statistics_rare(value, slot, &p->how);
    if (TY_EXTREMES && t.n) {
        TY_MAX_LOCAL(to, t.max);
        TY_MAX_LOCAL(to + TY_PLANE, t.min);
    }
}

/* What there is to do for a value that was not usual, and has been counted as 0. */
TY_FN void statistics_packed_rare(ty_u32 x, ty_u32 value, const statistics_packed *p)
{
    ty_u32 cell = statistics_packed_cell(x, p), slot = ty_slot_of_cell(cell, p->bins.bins);
    TY_LOCAL ty_u32 *to = p->table + statistics_packed_at(cell);
    float v = TY_AS_FLOAT(value);
    if (!p->again)
        statistics_packed_meet(value, slot, to, p);
    to += STATISTICS_KEY_WORDS * 2 * TY_PLANE;
    if (v == v || !(p->how.flags & STATISTICS_SKIP))
        return;
    TY_ADD_LOCAL(to, ~0u); /* it is not counted: away with it */
    if (TY_SUMS) {
        ty_u32 low = 1u << (STATISTICS_LOW - 1), high = 1u << STATISTICS_HIGH;
        TY_GLOBAL ty_u64 *wraps = p->how.rare + STATISTICS_WRAPS * p->how.slots + slot;
        if (TY_ADD_LOCAL(to + TY_PLANE, 0 - low) < low)
            TY_ADD_WIDE(wraps, ~(ty_u64)0);
        if (TY_ADD_LOCAL(to + 2 * TY_PLANE, 0 - high) < high)
            TY_ADD_WIDE(wraps + p->how.slots, ~(ty_u64)0);
    }
}

#if TY_WARP == 32 && TY_PACKED < 8
#define STATISTICS_CROWDS  1
#define STATISTICS_CROWD   16 /* lanes in two cells that it pays to put together first, */
#define STATISTICS_SECOND  4  /* of which so many are in the second, or only the first counts */
#define STATISTICS_NO_CELL ~0u
#define STATISTICS_LOOK    4 /* turns; where there is no crowd, one of them looks for one */

TY_FN ty_u32 statistics_warp_sum(ty_u32 x)
{
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, x);
#else
    for (ty_u32 d = 1; d < 32; d *= 2)
        x += TY_SHUFFLE(x, (TY_LID & 31) ^ d);
    return x;
#endif
}

TY_FN ty_u32 statistics_warp_max(ty_u32 x)
{
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, x);
#else
    for (ty_u32 d = 1; d < 32; d *= 2) {
        ty_u32 other = TY_SHUFFLE(x, (TY_LID & 31) ^ d);
        x = other > x ? other : x;
    }
    return x;
#endif
}

TY_FN void statistics_few_join(statistics_few *all, const statistics_few *one)
{
    all->n += one->n;
    TY_UNROLL
    for (int k = 0; k < STATISTICS_LIMBS; k++)
        all->limbs[k] += one->limbs[k];
    all->max = one->max > all->max ? one->max : all->max;
    all->min = one->min > all->min ? one->min : all->min;
}

/* A warp's, in every lane. */
TY_FN void statistics_few_of_warp(statistics_few *all)
{
    all->n = statistics_warp_sum(all->n);
    TY_UNROLL
    for (int k = 0; k < STATISTICS_LIMBS; k++)
        all->limbs[k] = statistics_warp_sum(all->limbs[k]);
    if (TY_EXTREMES) {
        all->max = statistics_warp_max(all->max);
        all->min = statistics_warp_max(all->min);
    }
}

/* Whether many of a warp's samples are of two cells, and which. Asked of one sample of each lane,
 * at four places in turn: samples may alternate, or vectors differ. */
TY_FN int statistics_is_crowd(const ty_u32 *x, const statistics_packed *p, ty_u32 *cells)
{
    enum { last = 4 * (TY_PACKED_AHEAD - 1) };
    ty_u32 one = TY_LID & 2 ? x[last] : x[0], next = TY_LID & 2 ? x[last + 1] : x[1], same;
    ty_u32 cell = statistics_packed_cell(TY_LID & 1 ? next : one, p);
    cells[0] = TY_SHUFFLE(cell, 0);
    same = TY_BALLOT(cell == cells[0]);
    cells[1] = TY_SHUFFLE(cell, TY_SET_BITS(same & ~(same + 1)));
    ty_u32 first = TY_SET_BITS(same), second = TY_SET_BITS(TY_BALLOT(cell == cells[1]) & ~same);
    if (second < STATISTICS_SECOND)
        cells[1] = STATISTICS_NO_CELL;
    return first + second >= STATISTICS_CROWD;
}

/* As statistics_packed_some of a turn's samples, but adds those of two cells only, put together
 * first by the work-item and by the warp; *others gets a bit for each sample that is of neither, if
 * its limbs are too many to be added here. */
TY_FN ty_u32 statistics_packed_crowd(const ty_u32 *x, const ty_u32 *v, const ty_u32 *cells,
                                     const statistics_packed *p, ty_u32 *others)
{
    statistics_few all[2] = {{0}, {0}};
    ty_u32 rare = 0, old[STATISTICS_LIMBS_MOST], lane = TY_LID & 31;
    TY_UNROLL
    for (ty_u32 k = 0; k < 4 * TY_PACKED_AHEAD; k++) {
        int usual;
        ty_u32 cell = statistics_packed_cell(x[k], p);
        statistics_few one = statistics_packed_of(v[k], p, &usual);
        rare |= usual ? 0 : 1u << k;
        if (cell == cells[0])
            statistics_few_join(&all[0], &one);
        else if (cell == cells[1])
            statistics_few_join(&all[1], &one);
        else if (STATISTICS_LIMBS > 2)
            *others |= 1u << k;
        else if (statistics_packed_put(cell, &one, p, old))
            statistics_packed_wrap(cell, &one, p, old);
    }
    statistics_few_of_warp(&all[0]);
    if (lane == 0 && statistics_packed_put(cells[0], &all[0], p, old))
        statistics_packed_wrap(cells[0], &all[0], p, old);
    if (cells[1] == STATISTICS_NO_CELL)
        return rare;
    statistics_few_of_warp(&all[1]);
    if (lane == 1 && statistics_packed_put(cells[1], &all[1], p, old))
        statistics_packed_wrap(cells[1], &all[1], p, old);
    return rare;
}
#else
#define STATISTICS_CROWDS 0
#endif

/* Adds n samples' values; returns a bit for each that was not usual. */
TY_FN ty_u32 statistics_packed_some(const ty_u32 *x, const ty_u32 *v, int n,
                                    const statistics_packed *p)
{
    statistics_few few[4];
    ty_u32 cells[4], old[4][STATISTICS_LIMBS_MOST], rare = 0;
    int wrapped = 0;
    TY_UNROLL
    for (int k = 0; k < n; k++) {
        int usual;
        cells[k] = statistics_packed_cell(x[k], p);
        few[k] = statistics_packed_of(v[k], p, &usual);
        rare |= usual ? 0 : 1u << k;
    }
    TY_UNROLL
    for (int k = 0; k < n; k++)
        wrapped |= statistics_packed_put(cells[k], &few[k], p, old[k]);
    if (wrapped) {
        TY_UNROLL
        for (int k = 0; k < n; k++)
            statistics_packed_wrap(cells[k], &few[k], p, old[k]);
    }
    return rare;
}

/* A group's share of the samples, from a vector's start on, and a work-item's first vector. */
typedef struct statistics_share {
    TY_GLOBAL const ty_u32 *light, *heavy; /* samples, values */
    ty_u32 n, head, vectors, first, step;  /* head: samples before the first vector */
    ty_u32 rounds, round; /* in which all work-items have TY_PACKED_AHEAD vectors; vectors of one */
    int aligned;          /* whether values are as vectors */
} statistics_share;

TY_FN statistics_share statistics_share_of(TY_GLOBAL const ty_u32 *light,
                                           TY_GLOBAL const ty_u32 *heavy, ty_u32 n, ty_u32 part,
                                           ty_u32 parts)
{
    statistics_share s;
    s.head = (ty_u32)((0 - (ty_u64)light) & 15) / 4;
    s.head = s.head > n ? n : s.head;
    s.light = light + s.head;
    s.heavy = heavy + s.head;
    s.n = n;
    s.vectors = (n - s.head) / 4;
    s.first = part * TY_PACKED_GROUP + TY_LID;
    s.step = parts * TY_PACKED_GROUP;
    s.round = TY_PACKED_AHEAD * s.step;
    s.rounds = s.vectors / s.round; /* the others are of all groups, too */
    s.aligned = ((ty_u64)s.heavy & 15) == 0;
    return s;
}

/* Vector q of samples and values; these are aligned as words. */
TY_FN void statistics_load(const statistics_share *s, ty_u32 q, ty_u32 *x, ty_u32 *v)
{
    TY_GLOBAL const ty_u32 *from = s->heavy + 4 * (ty_u64)q;
    uint4 own = ((TY_GLOBAL const uint4 *)s->light)[q];
    x[0] = own.x, x[1] = own.y, x[2] = own.z, x[3] = own.w;
    if (s->aligned) {
        uint4 other = *(TY_GLOBAL const uint4 *)from;
        v[0] = other.x, v[1] = other.y, v[2] = other.z, v[3] = other.w;
    } else {
        v[0] = from[0], v[1] = from[1], v[2] = from[2], v[3] = from[3];
    }
}

/* `vectors` vectors from q on; `together`: a whole warp has them. What waits for the others is read
 * again. */
TY_FN void statistics_packed_turn(const statistics_share *s, ty_u32 q, ty_u32 vectors, int together,
                                  statistics_packed *p)
{
    enum { some = TY_SUMS > 1 ? 2 : 4 };
    ty_u32 x[4 * TY_PACKED_AHEAD], v[4 * TY_PACKED_AHEAD], rare = 0, others = 0;
    TY_UNROLL
    for (ty_u32 k = 0; k < vectors; k++)
        statistics_load(s, q + k * s->step, x + 4 * k, v + 4 * k);
#if STATISTICS_CROWDS
    ty_u32 cells[2];
    if (together && (p->crowd || p->turns++ % STATISTICS_LOOK == 0))
        p->crowd = statistics_is_crowd(x, p, cells);
    if (together && p->crowd)
        rare = statistics_packed_crowd(x, v, cells, p, &others);
#endif
    if (!(together && p->crowd)) {
        TY_UNROLL
        for (ty_u32 k = 0; k < 4 * vectors; k += some)
            rare |= statistics_packed_some(x + k, v + k, some, p) << k;
    }
    TY_ROLLED
    for (ty_u32 rest = rare | others; rest; rest &= rest - 1) {
        ty_u32 bit = rest & (0 - rest), k = TY_SET_BITS(bit - 1);
        ty_u64 at = 4 * (ty_u64)(q + k / 4 * s->step) + k % 4;
        ty_u32 one = s->light[at], value = s->heavy[at];
        if (STATISTICS_CROWDS && (others & bit))
            statistics_packed_some(&one, &value, 1, p);
        if (rare & bit)
            statistics_packed_rare(one, value, p);
    }
}

/* Adds what a work-item has from round `from` on; rare values of rounds before `met` have been
 * added already (~0: all have). */
TY_FN void statistics_packed_all(const statistics_share *s, ty_u32 from, ty_u32 met,
                                 statistics_packed *p)
{
    ty_u32 q = s->first + from * s->round, loose = s->head + (s->n - s->head) % 4;
    for (; (q | 31) + s->round - s->step < s->vectors; q += s->round) {
        p->again = TY_SUMS > 1 && from++ < met;
        statistics_packed_turn(s, q, TY_PACKED_AHEAD, 1, p);
    }
    p->again = TY_SUMS > 1 && met == ~0u;
    for (; q < s->vectors; q += s->step)
        statistics_packed_turn(s, q, 1, 0, p);
    for (ty_u32 j = s->first; j < loose; j += s->step) {
        ty_u64 at = j < s->head ? (ty_u64)j - s->head : (ty_u64)s->vectors * 4 + j - s->head;
        ty_u32 x = s->light[at], v = s->heavy[at];
        if (statistics_packed_some(&x, &v, 1, p))
            statistics_packed_rare(x, v, p);
    }
}

/* What a copy's words say, added to *all; `from`: its words behind the extremes. */
TY_FN void statistics_packed_read(TY_LOCAL const ty_u32 *from, statistics_total *all)
{
    ty_u64 sums[STATISTICS_LIMBS_MOST], n = from[0];
    for (int k = 0; k < STATISTICS_LIMBS; k++)
        sums[k] = from[(k + 1) * TY_PLANE];
    all->n += n;
    if (TY_SUMS)
        all->sum.low += sums[0] + (sums[1] << STATISTICS_LOW) -
                        n * (((ty_u64)1 << STATISTICS_BITS) + (1u << (STATISTICS_LOW - 1)));
    if (TY_SUMS > 1) {
        ty_wide square = {sums[2] + (sums[3] << STATISTICS_SQUARE_1), 0}, top = {sums[4], 0};
        top = statistics_shifted(top, STATISTICS_SQUARE_2);
        all->square = ty_wide_add(all->square, ty_wide_add(square, top));
    }
}

/* A slot's numbers into the group's partial. */
TY_FN void statistics_packed_write(TY_GLOBAL ty_u32 *out, ty_u32 slot, ty_u32 slots,
                                   const statistics_total *all)
{
    if (TY_EXTREMES) {
        out[slot] = (ty_u32)all->max;
        out[slots + slot] = (ty_u32)all->min;
        out += 2 * slots;
    }
    out += slot;
    out[0] = (ty_u32)all->n;
    if (TY_SUMS)
        statistics_words(out + slots, slots, 2, all->sum);
    if (TY_SUMS > 1)
        statistics_words(out + 3 * slots, slots, 3, all->square);
}

/* A slot's copies into the group's partial, or with `add` to what is there. */
TY_FN void statistics_packed_leave(TY_LOCAL const ty_u32 *table, ty_u32 slot, ty_u32 slots, int add,
                                   TY_GLOBAL ty_u32 *out)
{
    ty_u32 bins = slots - TY_SLOT_EXTRA, cell = ty_cell_of_slot(slot, bins);
    statistics_total all = {0, 0, 0, {0, 0}, {0, 0}};
    if (add)
        all = statistics_of_partial(out, slots, slot);
    for (ty_u32 j = 0; j < TY_PACKED && cell < bins + TY_CELLS_EXTRA; j++) {
        TY_LOCAL const ty_u32 *from = table + statistics_packed_at(cell) + j;
        if (TY_EXTREMES) {
            all.max = from[0] > all.max ? from[0] : all.max;
            all.min = from[TY_PLANE] > all.min ? from[TY_PLANE] : all.min;
        }
        statistics_packed_read(from + 2 * STATISTICS_KEY_WORDS * TY_PLANE, &all);
    }
    statistics_packed_write(out, slot, slots, &all);
}

/* What both kernels begin with; `here`: which histogram of the launch's. */
#define STATISTICS_PACKED_BEGIN(p, share, here, low_bits)                                          \
    ty_u32 here = TY_GROUP / parts, part = TY_GROUP - here * parts;                                \
    ty_u64 b = (first + here) / actives;                                                           \
    ty_i64 number = ty_channel_of(axis, first + here - b * actives);                               \
    statistics_packed p;                                                                           \
    statistics_share share = statistics_share_of(                                                  \
        (TY_GLOBAL const ty_u32 *)(TY_GRID_AT(x0, b, 0, 0) + channel * number + begin * 4),        \
        (TY_GLOBAL const ty_u32 *)(TY_GRID_AT(values, b, 0, 0) + value_channel * number +          \
                                   begin * 4),                                                     \
        (ty_u32)(end - begin), part, parts);                                                       \
    p.axis = axis;                                                                                 \
    p.bins = *(TY_GLOBAL const ty_bins *)axis;                                                     \
    p.map = *(TY_GLOBAL const ty_cell_map *)(axis + TY_AXIS_MAP);                                  \
    p.lookup = *(TY_GLOBAL const ty_lookup *)(axis + TY_AXIS_MAP);                                 \
    p.how = statistics_begin(given, flags, totals + state_at);                                     \
    p.how.slots = slots;                                                                           \
    p.how.cells = totals + cells_at + (ty_u64)here * slots * STATISTICS_CELL;                      \
    p.how.rare = statistics_rare_of(rare + rare_at, here, part, rare_copies, slots);               \
    p.how.late = rare + rare_at - STATISTICS_LATE_MOST;                                            \
    p.how.first = here * slots;                                                                    \
    p.table = ty_local + (TY_LID & (TY_PACKED - 1));                                               \
    p.crowd = p.turns = 0;                                                                         \
    p.again = 0;                                                                                   \
    statistics_packed_scale(&p, statistics_exponent(given, flags, totals + state_at), low_bits);   \
    (void)mask, (void)mask_at, (void)mask_batch, (void)mask_row, (void)mask_column, (void)masked;  \
    (void)flows_at, (void)columns, (void)copies, (void)x0_row, (void)x0_column, (void)values_row;  \
    (void)values_column

/* Where a group's stop is, behind all partials: how many rounds statistics_count_brief has left in
 * the partial (~0: all there is), and of how many it has added the rare values (~0: of all). */
#define STATISTICS_STOP(out) ((out) + (ty_u64)TY_GROUPS * STATISTICS_PARTIAL(slots) + 2 * TY_GROUP)

/* As statistics_count, by the same arguments: rows follow each other without a gap. */
TY_KERNEL_DENSE(TY_PACKED_GROUP, 1) statistics_count_packed(STATISTICS_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 cells = (slots - TY_SLOT_EXTRA + TY_CELLS_EXTRA) * TY_PACKED, from = 0, met = 0;
    if (flags & STATISTICS_REST) {
        from = STATISTICS_STOP(out)[0];
        met = STATISTICS_STOP(out)[1];
    }
    if (from == ~0u || ((flags & STATISTICS_AGAIN) && statistics_guess_holds(totals + state_at)))
        return;
    STATISTICS_PACKED_BEGIN(p, share, here, STATISTICS_LOW);
    for (ty_u32 k = TY_LID; k < cells; k += TY_PACKED_GROUP)
        for (ty_u32 w = 0; w < STATISTICS_WORDS; w++)
            ty_local[statistics_packed_copy(k) + w * TY_PLANE] = 0;
    TY_BARRIER();
    statistics_packed_all(&share, from, met, &p);
    TY_BARRIER();
    for (ty_u32 s = TY_LID; s < slots; s += TY_PACKED_GROUP)
        statistics_packed_leave(ty_local, s, slots, met > 0,
                                out + (ty_u64)TY_GROUP * STATISTICS_PARTIAL(slots));
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
