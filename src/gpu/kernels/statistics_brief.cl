/*
 * statistics: the shorter way of adding packed float32 values (statistics_packed.cl), where no cell
 * has many of the samples. A slot's words are, behind its extremes, their bounds (upper halves of
 * floats, one not above the largest and one not below the smallest value), and sums of
 *
 *     p's lower limb + 1.5 * 2^23 of its units, the bits of this float: they count the values, too
 *     p's upper limb + 1.5 * 2^23 of its units, likewise
 *     p * p; p * p >> SQUARE_1; p * p >> SQUARE_2, 32 bits of each
 *
 * made without a look at what was there, so that words wrap. If a copy of a cell has less than
 * STATISTICS_BRIEF values, its words still say how many, and what their sums are. If it has more,
 * they say too few, and the numbers of all copies are less than what was added: then the group
 * throws the sums away. It adds some rounds, looks how many values a copy has at most, and goes on
 * until these are nearly too many; then it reads the table out and begins anew, or stops, and
 * leaves the rest to statistics_count_packed, as it does with values that are not aligned as
 * vectors.
 */
#if !defined(TY_NO_FP64) && TY_PACKED && TY_SUMS > 1

#define STATISTICS_BRIEF_LOW (STATISTICS_BITS - 21) /* bits of the lower limb */
#define STATISTICS_BRIEF     1024u
#define STATISTICS_AIM       (STATISTICS_BRIEF / 4 * 3) /* values at which it is read out */
#define STATISTICS_FIRST     1           /* rounds before the first look at the numbers, */
#define STATISTICS_OFTEN     32          /* and before others, for samples may change */
#define STATISTICS_WORTH     32          /* rounds; reading the table out takes two or three */
#define STATISTICS_EMPTY     0xff807f80u /* bounds of no value: -inf, inf */

/* Bounds of values, by their largest key and largest complement of a key; that of the largest is
 * the upper half. An extreme that is zero may have either sign (statistics.h). */
TY_FN ty_u32 statistics_bounds(ty_u32 max, ty_u32 min)
{
    ty_u32 most = max >> 31 ? max ^ 0x80000000u : ~max;
    ty_u32 least = min >> 31 ? min : ~min ^ 0x80000000u;
    if (most >> 31)
        most += 0xffffu;
    if (!(least >> 31))
        least += 0xffffu;
    return (most & 0xffff0000u) | least >> 16;
}

/* Adds to a cell's extremes a value that is beyond their bounds. */
TY_FN void statistics_brief_extreme(TY_LOCAL ty_u32 *to, ty_u32 bits)
{
    ty_u32 key = bits ^ ((ty_u32)((ty_i32)bits >> 31) | 0x80000000u);
    ty_u32 max = *(volatile TY_LOCAL ty_u32 *)to,
           min = *(volatile TY_LOCAL ty_u32 *)(to + TY_PLANE);
    if (key > max)
        TY_MAX_LOCAL(to, key);
    if (~key > min)
        TY_MAX_LOCAL(to + TY_PLANE, ~key);
    if ((key > max) | (~key > min))
        TY_SWAP_LOCAL(to + 2 * TY_PLANE,
                      statistics_bounds(key > max ? key : max, ~key > min ? ~key : min));
}

/* From the first word of a copy to that of its bounds (0), limbs of p (1, 2) and squares (3 to 5),
 * in bytes. */
#define STATISTICS_AT(plane) (4 * (2 * STATISTICS_KEY_WORDS + (plane)) * TY_PLANE)

/* Adds a value to a cell's sums, or 0 if it is not usual; returns whether it is. */
TY_FN int statistics_brief_put(ty_u32 to, ty_u32 bits, const statistics_packed *p)
{
    float v = TY_AS_FLOAT(bits), high = v + p->high, rest = v - (high - p->high);
    float low = rest + p->low;
    int is = (TY_FABS(v) < p->how.limit) & (rest == low - p->low);
    TY_ADD_AT(p->words, to + STATISTICS_AT(1), TY_FLOAT_BITS(is ? low : p->low));
    TY_ADD_AT(p->words, to + STATISTICS_AT(2), TY_FLOAT_BITS(is ? high : p->high));
    ty_u32 size = (ty_u32)(TY_FABS(is ? v : 0) * p->unit);
    ty_u64 square = (ty_u64)size * size;
    TY_ADD_AT(p->words, to + STATISTICS_AT(3), (ty_u32)square);
    TY_ADD_AT(p->words, to + STATISTICS_AT(4), (ty_u32)(square >> STATISTICS_SQUARE_1));
    TY_ADD_AT(p->words, to + STATISTICS_AT(5), (ty_u32)(square >> STATISTICS_SQUARE_2));
    return is;
}

/* Adds n samples' values; returns a bit for each that was not usual. */
TY_FN ty_u32 statistics_brief_some(const ty_u32 *x, const ty_u32 *v, int n,
                                   const statistics_packed *p)
{
    ty_u32 to[4], bounds[4], rare = 0;
    TY_UNROLL
    for (int k = 0; k < n; k++)
        to[k] = p->at + 4 * statistics_packed_at(statistics_packed_cell(x[k], p));
    TY_UNROLL
    for (int k = 0; k < (TY_EXTREMES ? n : 0); k++)
        bounds[k] = TY_LOAD_AT(p->words, to[k] + STATISTICS_AT(0));
    TY_UNROLL
    for (int k = 0; k < (TY_EXTREMES ? n : 0); k++)
        if ((TY_AS_FLOAT(v[k]) > TY_AS_FLOAT(bounds[k] & 0xffff0000u)) |
            (TY_AS_FLOAT(v[k]) < TY_AS_FLOAT(bounds[k] << 16))) /* not NaN */
            statistics_brief_extreme(p->table + (to[k] - p->at) / 4, v[k]);
    TY_UNROLL
    for (int k = 0; k < n; k++)
        rare |= statistics_brief_put(to[k], v[k], p) ? 0 : 1u << k;
    return rare;
}

/* Adds a value that was not usual, which has been counted as 0. */
TY_FN void statistics_brief_rare(ty_u32 x, ty_u32 value, statistics_packed *p)
{
    ty_u32 cell = statistics_packed_cell(x, p), at = statistics_packed_at(cell);
    float v = TY_AS_FLOAT(value);
    statistics_packed_meet(value, ty_slot_of_cell(cell, p->bins.bins), p->table + at, p);
    if (v == v || !(p->how.flags & STATISTICS_SKIP))
        return;
    p->added--;
    TY_ADD_AT(p->words, p->at + 4 * at + STATISTICS_AT(1), 0 - TY_FLOAT_BITS(p->low));
    TY_ADD_AT(p->words, p->at + 4 * at + STATISTICS_AT(2), 0 - TY_FLOAT_BITS(p->high));
}

/* `rounds` times `ahead` vectors from q on by the brief way. What is used up is loaded anew at
 * once. */
TY_FN void statistics_brief_rounds(const statistics_share *s, ty_u32 q, ty_u32 rounds, ty_u32 ahead,
                                   statistics_packed *p)
{
    TY_GLOBAL const uint4 *light = (TY_GLOBAL const uint4 *)s->light,
                          *heavy = (TY_GLOBAL const uint4 *)s->heavy;
    uint4 own[TY_PACKED_AHEAD], other[TY_PACKED_AHEAD];
    p->added += rounds * 4 * ahead;
    TY_UNROLL
    for (ty_u32 k = 0; k < ahead && rounds; k++) {
        own[k] = light[q + k * s->step];
        other[k] = heavy[q + k * s->step];
    }
    for (; rounds; rounds--) {
        TY_UNROLL
        for (ty_u32 k = 0; k < ahead; k++, q += s->step) {
            ty_u32 x[4] = {own[k].x, own[k].y, own[k].z, own[k].w};
            ty_u32 v[4] = {other[k].x, other[k].y, other[k].z, other[k].w};
            ty_u32 next = q + ahead * s->step, rest = statistics_brief_some(x, v, 4, p);
            if (rounds > 1) {
                own[k] = light[next];
                other[k] = heavy[next];
            }
            TY_ROLLED
            for (; rest; rest &= rest - 1) {
                ty_u64 at = 4 * (ty_u64)q + TY_SET_BITS((rest & (0 - rest)) - 1);
                statistics_brief_rare(s->light[at], s->heavy[at], p);
            }
        }
    }
}

/* Rounds from ... to - 1; at the end the vectors and samples, too, that are no whole round. */
TY_FN void statistics_brief_all(const statistics_share *s, ty_u32 from, ty_u32 to,
                                statistics_packed *p)
{
    ty_u32 end = s->first + to * s->round, loose = s->head + (s->n - s->head) % 4;
    statistics_brief_rounds(s, s->first + from * s->round, to - from, TY_PACKED_AHEAD, p);
    if (to < s->rounds)
        return;
    statistics_brief_rounds(s, end, end < s->vectors ? (s->vectors - end - 1) / s->step + 1 : 0, 1,
                            p);
    for (ty_u32 j = s->first; j < loose; j += s->step) {
        ty_u64 at = j < s->head ? (ty_u64)j - s->head : (ty_u64)s->vectors * 4 + j - s->head;
        ty_u32 x = s->light[at], v = s->heavy[at];
        p->added++;
        if (statistics_brief_some(&x, &v, 1, p))
            statistics_brief_rare(x, v, p);
    }
}

/* ---- what was added ---- */

/* The number of values of a copy by its word of lower limbs, if less than STATISTICS_BRIEF; else
 * some other number that is less. Each value added one odd number to the upper ten bits (those
 * of 1.5 * 2^23 units, or of NaN), and a limb of at most 2^10; together these are less than half of
 * such a bit. */
TY_FN ty_u32 statistics_brief_n(ty_u32 word, const statistics_packed *p)
{
    ty_u32 odd = TY_FLOAT_BITS(p->low) >> 22, inverse = odd;
    inverse *= 2 - odd * inverse; /* of 6 bits */
    inverse *= 2 - odd * inverse; /* of 12 */
    return ((word + (1u << 21)) >> 22) * inverse & 1023;
}

/* What a copy's words say, added to *all; `from`: its word of lower limbs. */
TY_FN void statistics_brief_read(TY_LOCAL const ty_u32 *from, const statistics_packed *p,
                                 statistics_total *all)
{
    ty_u32 n = statistics_brief_n(from[0], p);
    ty_i32 low = (ty_i32)(from[0] - n * TY_FLOAT_BITS(p->low)),
           high = (ty_i32)(from[TY_PLANE] - n * TY_FLOAT_BITS(p->high));
    all->n += n;
    all->sum.low += (ty_u64)(ty_i64)low + ((ty_u64)(ty_i64)high << STATISTICS_BRIEF_LOW);
    ty_u32 top = from[4 * TY_PLANE];
    ty_u32 middle = from[3 * TY_PLANE] - (top << (STATISTICS_SQUARE_2 - STATISTICS_SQUARE_1));
    ty_u32 last = from[2 * TY_PLANE] - (from[3 * TY_PLANE] << STATISTICS_SQUARE_1);
    ty_wide square = {(ty_u64)last + ((ty_u64)middle << STATISTICS_SQUARE_1), 0}, upper = {top, 0};
    upper = statistics_shifted(upper, STATISTICS_SQUARE_2);
    all->square = ty_wide_add(all->square, ty_wide_add(square, upper));
}

/* The most values of a copy of a cell; or ~0 if a copy has too many, for then the numbers do not
 * make up what was added. */
TY_FN ty_u32 statistics_brief_most(TY_LOCAL ty_u32 *table, ty_u32 cells, const statistics_packed *p)
{
    TY_LOCAL ty_u32 *shared = table + STATISTICS_WORDS * TY_PLANE;
    ty_u32 most = 0, missed = p->added;
    if (TY_LID < 2)
        shared[TY_LID] = 0;
    TY_BARRIER();
    for (ty_u32 k = TY_LID; k < cells; k += TY_PACKED_GROUP) {
        ty_u32 at = statistics_packed_copy(k) + STATISTICS_AT(1) / 4;
        ty_u32 n = statistics_brief_n(table[at], p);
        missed -= n;
        most = n > most ? n : most;
    }
    TY_MAX_LOCAL(shared, most);
    TY_ADD_LOCAL(shared + 1, missed);
    TY_BARRIER();
    return shared[1] ? ~0u : shared[0];
}

/* Puts what the copies of a slot say into the group's partial, or with `add` to what is there, and
 * clears them; without `sums` the extremes alone. */
TY_FN void statistics_brief_leave(TY_LOCAL ty_u32 *table, ty_u32 slot, ty_u32 slots, int add,
                                  int sums, TY_GLOBAL ty_u32 *out, const statistics_packed *p)
{
    ty_u32 bins = slots - TY_SLOT_EXTRA, cell = ty_cell_of_slot(slot, bins);
    statistics_total all = {0, 0, 0, {0, 0}, {0, 0}};
    if (add)
        all = statistics_of_partial(out, slots, slot);
    for (ty_u32 j = 0; j < TY_PACKED && cell < bins + TY_CELLS_EXTRA; j++) {
        TY_LOCAL ty_u32 *from = table + statistics_packed_at(cell) + j,
                        *words = from + STATISTICS_AT(1) / 4;
        if (TY_EXTREMES) {
            all.max = from[0] > all.max ? from[0] : all.max;
            all.min = from[TY_PLANE] > all.min ? from[TY_PLANE] : all.min;
        }
        if (sums)
            statistics_brief_read(words, p, &all);
        for (int k = 0; k < STATISTICS_LIMBS; k++)
            words[k * TY_PLANE] = 0;
    }
    statistics_packed_write(out, slot, slots, &all);
}

/* Clears copy k of all cells'. */
TY_FN void statistics_brief_clear(TY_LOCAL ty_u32 *table, ty_u32 k)
{
    TY_LOCAL ty_u32 *one = table + statistics_packed_copy(k);
    for (ty_u32 w = 0; w < STATISTICS_WORDS; w++)
        one[w * TY_PLANE] = TY_EXTREMES && w == 2 ? STATISTICS_EMPTY : 0;
}

/* As statistics_count_packed, before it: as many rounds as there is use in. */
TY_KERNEL_DENSE(TY_PACKED_GROUP, 1) statistics_count_brief(STATISTICS_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 cells = (slots - TY_SLOT_EXTRA + TY_CELLS_EXTRA) * TY_PACKED;
    ty_u32 at = 0, to = STATISTICS_FIRST, kept = 0; /* kept: rounds that are in the partial */
    int add = 0, go_on, done = 0, holds = 1;
    TY_GLOBAL ty_u32 *stop = STATISTICS_STOP(out);
    if ((flags & STATISTICS_AGAIN) && statistics_guess_holds(totals + state_at))
        return;
    STATISTICS_PACKED_BEGIN(p, share, here, STATISTICS_BRIEF_LOW);
    out += (ty_u64)TY_GROUP * STATISTICS_PARTIAL(slots);
    p.words = ty_local;
    p.at = TY_LOCAL_ADDRESS(ty_local) + 4 * (TY_LID & (TY_PACKED - 1));
    p.added = 0;
    for (ty_u32 k = TY_LID; k < cells; k += TY_PACKED_GROUP)
        statistics_brief_clear(ty_local, k);
    TY_BARRIER();
    go_on = share.aligned;
    while (go_on) {
        to = to < share.rounds ? to : share.rounds;
        statistics_brief_all(&share, at, to, &p);
        TY_BARRIER();
        ty_u32 most = statistics_brief_most(ty_local, cells, &p);
        ty_u32 enough = most ? (to - kept) * STATISTICS_AIM / most : share.rounds;
        holds = most != ~0u;
        done = to == share.rounds;
        go_on = holds && !done && (enough >= STATISTICS_WORTH || enough >= share.rounds - kept);
        if (!go_on || to - kept >= enough) {
            for (ty_u32 k = TY_LID; k < slots; k += TY_PACKED_GROUP)
                statistics_brief_leave(ty_local, k, slots, add, holds, out, &p);
            kept = holds ? to : kept;
            add = 1;
            p.added = 0;
        }
        at = to;
        to = kept + enough < at + STATISTICS_OFTEN ? kept + enough : at + STATISTICS_OFTEN;
        TY_BARRIER();
    }
    if (TY_LID == 0) {
        stop[0] = done && holds ? ~0u : kept;
        stop[1] = done ? ~0u : at;
    }
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
