/* statistics: partials added to a call's cells (statistics.cl). */
#if !defined(TY_NO_FP64)

/* Of one slot. */
typedef struct statistics_total {
    ty_u64 n, max, min;
    ty_wide sum, square;
} statistics_total;

/* `words` words, `stride` apart; the sign of a sum's last word is that of all. */
TY_FN ty_wide statistics_get(TY_GLOBAL const ty_u32 *from, ty_u32 stride, int words, int is_signed)
{
    ty_wide w = {from[0] | (ty_u64)from[stride] << 32, 0};
    ty_u64 sign = is_signed && from[(words - 1) * stride] >> 31 ? ~(ty_u64)0 : 0;
    w.high = sign;
    if (words > 2)
        w.high = from[2 * stride] | sign << 32;
    if (words > 3)
        w.high = from[2 * stride] | (ty_u64)from[3 * stride] << 32;
    return w;
}

TY_FN void statistics_join(statistics_total *t, const statistics_total *more)
{
    t->n += more->n;
    t->max = more->max > t->max ? more->max : t->max;
    t->min = more->min > t->min ? more->min : t->min;
    t->sum = ty_wide_add(t->sum, more->sum);
    t->square = ty_wide_add(t->square, more->square);
}

TY_FN statistics_total statistics_of_partial(TY_GLOBAL const ty_u32 *partial, ty_u32 slots,
                                             ty_u32 slot)
{
    TY_GLOBAL const statistics_key *keys = (TY_GLOBAL const statistics_key *)partial;
    TY_GLOBAL const ty_u32 *words = partial + 2 * STATISTICS_KEY_WORDS * slots + slot;
    statistics_total t = {0, 0, 0, {0, 0}, {0, 0}};
    if (TY_EXTREMES) {
        t.max = keys[slot];
        t.min = keys[slots + slot];
    }
    t.n = words[0];
    if (TY_SUMS)
        t.sum = statistics_get(words + slots, slots, STATISTICS_SUM_WORDS, 1);
    if (TY_SUMS > 1)
        t.square = statistics_get(words + (1 + STATISTICS_SUM_WORDS) * slots, slots,
                                  STATISTICS_SQUARE_WORDS, 0);
    return t;
}

/* Adds x * 2^shift, of 192 bits. */
TY_FN void statistics_add_long(TY_GLOBAL ty_u64 *to, ty_wide x, ty_u32 shift)
{
    ty_u32 s = shift & 63;
    ty_u64 w[3] = {x.low << s, x.high << s, 0};
    if (s) {
        w[1] |= x.low >> (64 - s);
        w[2] = x.high >> (64 - s);
    }
    if (shift >= 64) {
        w[2] = w[1];
        w[1] = w[0];
        w[0] = 0;
    }
    ty_wide low = {to[0], to[1]}, more = {w[0], w[1]}, sum = ty_wide_add(low, more);
    to[2] += w[2] + (sum.high < low.high || (sum.high == low.high && sum.low < low.low) ? 1 : 0);
    to[0] = sum.low;
    to[1] = sum.high;
}

TY_FN ty_wide statistics_shifted(ty_wide x, ty_u32 shift)
{
    ty_wide w = {x.low << shift, x.high << shift};
    w.high |= shift ? x.low >> (64 - shift) : 0;
    return w;
}

TY_FN ty_wide statistics_shifted_down(ty_wide x, ty_u32 shift)
{
    ty_wide w = {x.low >> shift, (ty_u64)((ty_i64)x.high >> shift)};
    w.low |= shift ? x.high << (64 - shift) : 0;
    return w;
}

/* A slot's rare values of all copies. */
TY_FN void statistics_gather_rare(ty_u64 *all, TY_GLOBAL const ty_u64 *rare, ty_u32 slots,
                                  ty_u32 copies)
{
    for (ty_u32 k = 0; k < STATISTICS_RARE_WORDS; k++) {
        all[k] = 0;
        for (ty_u32 j = 0; j < copies; j++)
            all[k] += rare[(j * STATISTICS_RARE_WORDS + k) * slots];
    }
}

TY_FN ty_wide statistics_rare_sum(const ty_u64 *rare)
{
    ty_wide low = {rare[0], 0}, high = {rare[1], rare[1] >> 63 ? ~(ty_u64)0 : 0};
    return ty_wide_add(low, statistics_shifted(high, 26));
}

TY_FN ty_wide statistics_rare_square(const ty_u64 *rare)
{
    ty_wide all = {0, 0};
    for (int k = 3; k >= 0; k--) {
        ty_wide limb = {rare[STATISTICS_RARE_SQUARES + k], 0};
        all = ty_wide_add(statistics_shifted(all, 28), limb);
    }
    return all;
}

#if TY_PACKED
/* What words that wrapped stand for, in the units of terms. */
TY_FN void statistics_add_wraps(statistics_total *t, const ty_u64 *wraps)
{
    const ty_u32 at[] = {0, STATISTICS_LOW, 0, STATISTICS_SQUARE_1, STATISTICS_SQUARE_2};
    TY_UNROLL
    for (int k = 0; k < (TY_SUMS > 1 ? 5 : TY_SUMS * 2); k++) {
        ty_wide one = {wraps[k] << 32, 0};
        one = statistics_shifted(one, at[k]);
        if (k < 2)
            t->sum = ty_wide_add(t->sum, one);
        else
            t->square = ty_wide_add(t->square, one);
    }
}
#endif

/* Adds a slot's total, whose terms are in units of 2^shift, and rare values, whose are in those of
 * 2^-finer, to its cell. */
TY_FN void statistics_store(TY_GLOBAL ty_u64 *cell, const statistics_total *t, ty_u32 shift,
                            ty_u32 finer, const ty_u64 *rare)
{
    ty_wide sum = statistics_shifted(t->sum, shift),
            had = {cell[STATISTICS_SUM], cell[STATISTICS_SUM + 1]};
    cell[STATISTICS_N] += t->n;
    statistics_add_long(cell + STATISTICS_SQUARES, t->square, 2 * shift);
    if (TY_SUMS && STATISTICS_FLOAT)
        sum = ty_wide_add(sum, statistics_shifted_down(statistics_rare_sum(rare), finer));
    if (TY_SUMS > 1 && STATISTICS_FLOAT) {
        ty_wide square = statistics_rare_square(rare);
        statistics_add_long(cell + STATISTICS_SQUARES, statistics_shifted_down(square, 2 * finer),
                            0);
    }
    had = ty_wide_add(had, sum);
    cell[STATISTICS_SUM] = had.low;
    cell[STATISTICS_SUM + 1] = had.high;
    if (t->max > cell[STATISTICS_LARGEST])
        cell[STATISTICS_LARGEST] = t->max;
    if (t->min > cell[STATISTICS_COMPLEMENT])
        cell[STATISTICS_COMPLEMENT] = t->min;
}

/* A group has 32 slots, eight of its work-items each. */
TY_KERNEL(256)
statistics_fold(TY_GLOBAL const ty_u32 *partials, ty_u32 count, ty_u32 slots, ty_u32 blocks,
                ty_u32 given, ty_u32 flags, TY_GLOBAL ty_u64 *totals, ty_u64 cells_at,
                ty_u64 state_at, TY_GLOBAL ty_u64 *rare, ty_u64 rare_at,
                ty_u32 rare_copies TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_LOCAL ty_u64 *shared = (TY_LOCAL ty_u64 *)ty_local;
    ty_u32 lid = TY_LID, here = TY_GROUP / blocks;
    ty_u32 slot = (TY_GROUP - here * blocks) * 32 + (lid & 31);
    int e = statistics_exponent(given, 0, totals + state_at);
    ty_u32 shift = STATISTICS_FLOAT             ? 50 - STATISTICS_BITS
                   : STATISTICS_WIDE || e >= 50 ? 0
                   : e < 0                      ? 50
                                                : (ty_u32)(50 - e);
    ty_u32 finer = (ty_u32)(e - statistics_exponent(given, flags, totals + state_at));
    statistics_total t = {0, 0, 0, {0, 0}, {0, 0}};
    int wanted = slot < slots;
    rare = statistics_rare_of(rare + rare_at, here, 0, rare_copies, slots) + slot;
#if TY_PACKED
    if (flags & (STATISTICS_GUESSED | STATISTICS_AGAIN)) {
        int holds = statistics_guess_holds(totals + state_at);
        for (ty_u32 k = lid / 32; k < STATISTICS_RARE_WORDS * rare_copies && !holds && slot < slots;
             k += 8)
            if (flags & STATISTICS_GUESSED)
                rare[k * slots] = 0; /* for the next pass */
        wanted &= holds != ((flags & STATISTICS_AGAIN) != 0);
    }
#endif
    partials += (ty_u64)here * count * STATISTICS_PARTIAL(slots);
    for (ty_u32 p = lid / 32; p < count && wanted; p += 8) {
        statistics_total one =
            statistics_of_partial(partials + (ty_u64)p * STATISTICS_PARTIAL(slots), slots, slot);
        statistics_join(&t, &one);
    }
    shared[lid] = t.n;
    shared[256 + lid] = t.max;
    shared[512 + lid] = t.min;
    shared[768 + lid] = t.sum.low;
    shared[1024 + lid] = t.sum.high;
    shared[1280 + lid] = t.square.low;
    shared[1536 + lid] = t.square.high;
    TY_BARRIER();
    for (ty_u32 from = lid + 32; from < 256 && lid < 32; from += 32) {
        statistics_total one = {shared[from],
                                shared[256 + from],
                                shared[512 + from],
                                {shared[768 + from], shared[1024 + from]},
                                {shared[1280 + from], shared[1536 + from]}};
        statistics_join(&t, &one);
    }
    if (lid < 32 && wanted) {
        ty_u64 others[STATISTICS_RARE_WORDS] = {0};
        if (TY_SUMS && STATISTICS_FLOAT)
            statistics_gather_rare(others, rare, slots, rare_copies);
#if TY_PACKED
        statistics_add_wraps(&t, others + STATISTICS_WRAPS);
#endif
        statistics_store(totals + cells_at + ((ty_u64)here * slots + slot) * STATISTICS_CELL, &t,
                         shift - finer, finer, others);
    }
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
