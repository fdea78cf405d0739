/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order, 5: two ranks by digits, all groups of work-items together: of packed samples of a middle
 * number. order_select counts a digit of all keys that have the upper ones; before, every group
 * finds out from the counts of the last digit which these are. order_select_end does so after the
 * last.
 *
 * Both ranks mostly have the same upper digits; where they differ, each has counters of its own.
 *
 * Local memory: as order_rows has it while the digit is chosen; then counters, in `copies`, which
 * keep lanes out of each other's way.
 */
#define ORDER_LOADS_AHEAD 8 /* of 16 bytes */

/* The digits above `digit` of the keys of both ranks, and the ranks among the keys that have them.
 * Group 0 writes them down for the next digit. Whether there is a rank. */
TY_FN int order_select_upper(TY_GLOBAL ty_u64 *state, TY_GLOBAL const ty_u32 *counts, ty_u64 ranks,
                             ty_u32 rank_count, ty_i32 digit, order_upper *u, TY_LOCAL ty_u32 *area)
{
    const ty_u32 above = (ty_u32)(digit + 1);
    TY_GLOBAL ty_u64 *mine = state + ORDER_UPPER + above * 2 * ORDER_SLOTS;
    TY_GLOBAL const ty_u64 *before_it = mine + 2 * ORDER_SLOTS;
    TY_GLOBAL const ty_u32 *from = counts + 4 + above * ORDER_SLOTS * ORDER_DIGITS;
    const int first = above == ORDER_DIGITS_ALL;
    const ty_u64 low = state[ranks], high = state[ranks + rank_count - 1];
    ty_u32 own[ORDER_OWN], before = 0;
    if (low == ORDER_NO_RANK)
        return 0;
    TY_UNROLL
    for (ty_u32 r = 0; r < ORDER_SLOTS; r++) {
        u[r].first = first ? 0 : (order_key)before_it[r];
        u[r].rank = (ty_u32)(!first ? before_it[ORDER_SLOTS + r] : r ? high : low);
        u[r].before = u[r].same = 0;
    }
    const int two = u[0].first != u[1].first;
    TY_UNROLL
    for (ty_u32 r = 0; r < ORDER_SLOTS; r++) {
        if (first)
            break;
        if (!r || two) {
            for (ty_u32 i = TY_LID; i < ORDER_DIGITS; i += TY_GROUP_SIZE)
                area[i] = from[r * ORDER_DIGITS + i];
            TY_BARRIER();
            before = order_own_counts(area, own);
        }
        order_choose_digit(&u[r], above, own, before, area);
        TY_BARRIER(); /* what was told has been read */
    }
    if (TY_GROUP == 0 && TY_LID < ORDER_SLOTS) {
        mine[TY_LID] = TY_LID ? u[1].first : u[0].first;
        mine[ORDER_SLOTS + TY_LID] = TY_LID ? u[1].rank : u[0].rank;
    }
    return 1;
}

/* What a work-item holds of a count: the keys of each rank that are counted, from first[] on and
 * `more` further; where its copy begins, in bytes. */
typedef struct order_select_count {
    ty_u32 shift, copies, mine;
    order_key first[ORDER_SLOTS], more;
} order_select_count;

/* `two`: both are to be counted. */
TY_FN void order_select_key(const order_select_count *s, const int two, order_key key,
                            TY_LOCAL ty_u32 *area)
{
    const order_key further = key - s->first[0], other = key - s->first[1];
    const ty_u32 size = 4 * s->copies;
    TY_INC_AT_IF(area, s->mine + (ty_u32)(further >> s->shift) * size, further <= s->more);
    if (two && other <= s->more)
        TY_INC_AT(area, s->mine + ((ty_u32)(other >> s->shift) + ORDER_DIGITS) * size);
}

/* `n` samples once, fewer than 2^32. Returns NaN, with `all`. */
TY_FN ty_u32 order_select_all(TY_GLOBAL const ty_u8 *samples, ty_u32 n, const order_select_count *s,
                              const int all, const int two, TY_LOCAL ty_u32 *area)
{
    const ty_u32 each = 16 / ORDER_SIZE, start = (0u - (ty_u32)(ty_u64)samples & 15u) / ORDER_SIZE;
    const ty_u32 head = start < n ? start : n;
    const ty_u32 full = (n - head) / each, rest = n - full * each;
    const ty_u32 step = TY_GROUPS * TY_GROUP_SIZE, first = TY_GROUP * TY_GROUP_SIZE + TY_LID;
    TY_GLOBAL const uint4 *vectors = (TY_GLOBAL const uint4 *)(samples + head * ORDER_SIZE);
    ty_u32 nan = 0;
    for (ty_u32 v = first; v < full; v += ORDER_LOADS_AHEAD * step) {
        uint4 four[ORDER_LOADS_AHEAD];
        TY_UNROLL
        for (ty_u32 k = 0; k < ORDER_LOADS_AHEAD; k++)
            four[k] = vectors[v + k * step < full ? v + k * step : v];
        TY_UNROLL
        for (ty_u32 k = 0; k < ORDER_LOADS_AHEAD; k++) {
            const ty_u32 words[4] = {four[k].x, four[k].y, four[k].z, four[k].w};
            if (v + k * step >= full)
                break;
            TY_UNROLL
            for (ty_u32 j = 0; j < each; j++) {
                const order_key key = ORDER_KEY_IN(words, j);
                order_select_key(s, two, key, area);
                nan += all && ORDER_IS_FLOAT && key == ORDER_NAN;
            }
        }
    }
    for (ty_u32 e = first; e < rest; e += step) {
        const ty_u32 i = e < head ? e : e + full * each;
        const order_key key =
            order_key_of(ty_word_at(samples + (ty_u64)i * ORDER_SIZE, ORDER_SIZE));
        order_select_key(s, two, key, area);
        nan += all && ORDER_IS_FLOAT && key == ORDER_NAN;
    }
    return nan;
}

/* The group's counts to those of all, two at a time; `counters` in all copies. */
TY_FN void order_select_add(TY_LOCAL const ty_u32 *counts, ty_u32 counters, ty_u32 copies,
                            TY_GLOBAL ty_u32 *sums)
{
    for (ty_u32 pair = TY_LID; pair < counters / copies / 2; pair += TY_GROUP_SIZE) {
        ty_u32 low = 0, high = 0;
        for (ty_u32 k = 0; k < copies; k++) {
            low += counts[2 * pair * copies + k];
            high += counts[(2 * pair + 1) * copies + k];
        }
        if (low || high)
            TY_ADD_WIDE((TY_GLOBAL ty_u64 *)sums + pair, low | (ty_u64)high << 32);
    }
}

/* `copies`: of the counters of one rank, a power of two from 2 on. */
TY_FN void order_select_digit(TY_GLOBAL const ty_u8 *samples, ty_u32 n, TY_GLOBAL ty_u64 *state,
                              TY_GLOBAL ty_u32 *counts, ty_u64 ranks, ty_u32 rank_count,
                              ty_u32 digit, ty_u32 copies, TY_LOCAL ty_u32 *area)
{
    const ty_u32 counters = ORDER_DIGITS * copies;
    const uint4 zero = {0, 0, 0, 0};
    const int all = digit + 1 == ORDER_DIGITS_ALL;
    order_upper u[ORDER_SLOTS];
    order_select_count s;
    ty_u32 nan = 0;
    if (!order_select_upper(state, counts, ranks, rank_count, (ty_i32)digit, u, area))
        return;
    s.shift = order_shift(digit);
    s.more = order_more(digit + 1);
    s.first[0] = u[0].first;
    s.first[1] = u[1].first;
    const int two = u[0].first != u[1].first;
    s.copies = copies >> two;
    s.mine = TY_LOCAL_ADDRESS(area) + 4 * (TY_LID & (s.copies - 1));
    for (ty_u32 i = TY_LID; i < counters / 4; i += TY_GROUP_SIZE)
        ((TY_LOCAL uint4 *)area)[i] = zero;
    TY_BARRIER();
    if (all)
        nan = order_select_all(samples, n, &s, 1, 0, area);
    else if (two)
        order_select_all(samples, n, &s, 0, 1, area);
    else
        order_select_all(samples, n, &s, 0, 0, area);
    if (nan)
        TY_ADD_GLOBAL(counts, nan);
    TY_BARRIER();
    order_select_add(area, counters, s.copies, counts + 4 + digit * ORDER_SLOTS * ORDER_DIGITS);
}

TY_KERNEL_DENSE(TY_GROUP_SIZE, 3)
order_select(TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n, TY_GLOBAL ty_u64 *state,
             TY_GLOBAL ty_u32 *counts, ty_u64 ranks, ty_u32 rank_count, ty_u32 digit,
             ty_u32 copies TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
    order_select_digit(data + offset, (ty_u32)n, state, counts, ranks, rank_count, digit, copies,
                       ty_local);
}

/* By one group. */
TY_KERNEL(TY_GROUP_SIZE)
order_select_end(TY_GLOBAL ty_u64 *state, TY_GLOBAL const ty_u32 *counts, ty_u64 ranks,
                 ty_u32 rank_count, ty_u64 found, ty_u64 nan TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    order_upper u[ORDER_SLOTS];
    ORDER_BEGIN();
    if (order_select_upper(state, counts, ranks, rank_count, -1, u, ty_local) &&
        TY_LID < rank_count)
        state[found + TY_LID] = TY_LID ? u[1].first : u[0].first;
    if (TY_LID == 0)
        state[nan] = counts[0];
}
/* SPDX-License-Identifier: Apache-2.0 */
