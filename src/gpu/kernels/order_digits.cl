/*
 * order, 3: what needs no drawn keys. `order_kinds` counts samples and NaN; `order_digits` finds
 * ranks by the digits of keys, a group for each batch and channel: for many small ones that local
 * memory does not hold, and for the ranks that were lost; `order_ranks` and `order_finish` make
 * quantiles of ranks.
 */
#define ORDER_CHUNK ((ty_u64)1 << 31) /* samples whose counts fit 32 bits */

/* Batches and channels from number `first` on, `parts` groups for each: state[kinds], … get how
 * many samples count, and how many of them are NaN. */
TY_KERNEL(TY_GROUP_SIZE)
order_kinds(TY_GRID_ARGS(x0), ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 columns,
            ty_u64 n, ty_u64 channels, ty_u64 first, ty_u32 parts, TY_GLOBAL ty_u64 *state,
            ty_u64 kinds TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
    const ty_u32 here = TY_GROUP / parts;
    const ty_u64 g = first + here, b = g / channels;
    order_walk at = order_walk_of(TY_GROUP - here * parts, parts, columns);
    ty_u32 count = 0, nan = 0;
    x0_at += (ty_u64)(channel * (ty_i64)(g - b * channels));
    while (at.i < n) {
        if (ORDER_COUNTS(b, at.row, at.column)) {
            count++;
            nan += ORDER_IS_FLOAT && ORDER_KEY_AT(b, at.row, at.column) == ORDER_NAN;
        }
        ORDER_STEP(at, columns);
    }
    if (TY_LID < 2)
        ty_local[TY_LID] = 0;
    TY_BARRIER();
    TY_ADD_LOCAL(&ty_local[0], count);
    TY_ADD_LOCAL(&ty_local[1], nan);
    TY_BARRIER();
    if (TY_LID < 2 && ty_local[TY_LID])
        TY_ADD_WIDE(state + kinds + 2 * here + TY_LID, (ty_u64)ty_local[TY_LID]);
}

/* What is known of a key, and where it is. */
typedef struct order_digits {
    order_key prefix;    /* its upper digits, at the lower end */
    ty_u64 rank;         /* among the keys of that prefix */
    ty_u64 before, same; /* keys below those of that prefix, and of it */
} order_digits;

/* Adds a digit of the samples [begin, end) that have the prefix to the counters. Returns NaN. */
TY_FN ty_u32 order_count_digit(TY_GRID_ARGS(x0), TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 b,
                               ty_u64 columns, ty_u64 begin, ty_u64 end, ty_u32 digit,
                               order_key prefix, TY_LOCAL ty_u32 *counts)
{
    const ty_u32 shift = digit * ORDER_DIGIT_BITS;
    const ty_u64 step_rows = TY_GROUP_SIZE / columns;
    const ty_u64 step_columns = TY_GROUP_SIZE - step_rows * columns;
    ty_u64 i = begin + TY_LID, row = i / columns, column = i - row * columns;
    ty_u32 nan = 0;
    while (i < end) {
        order_key keys[ORDER_AHEAD];
        ty_u32 counted = 0;
        TY_UNROLL
        for (ty_u32 k = 0; k < ORDER_AHEAD; k++, i += TY_GROUP_SIZE) {
            keys[k] = 0;
            if (i < end && ORDER_COUNTS(b, row, column)) {
                keys[k] = ORDER_KEY_AT(b, row, column);
                counted |= 1u << k;
            }
            TY_STEP(row, column, columns, step_rows, step_columns);
        }
        TY_UNROLL
        for (ty_u32 k = 0; k < ORDER_AHEAD; k++) {
            const int here = counted >> k & 1;
            if (here && keys[k] >> shift >> ORDER_DIGIT_BITS == prefix)
                TY_ADD_LOCAL(&counts[keys[k] >> shift & (ORDER_DIGITS - 1)], 1);
            nan += here && keys[k] == ORDER_NAN;
        }
    }
    return nan;
}

/* The digit that has the rank: own[] are this work-item's counts, `before` is how many there are in
 * earlier ones. The one that has it tells the others. */
TY_FN void order_choose(const ty_u64 *own, ty_u64 before, TY_LOCAL ty_u64 *told, order_digits *d)
{
    for (ty_u32 k = 0; k < ORDER_OWN; k++) {
        if (d->rank >= before && d->rank - before < own[k]) {
            told[0] = TY_LID * ORDER_OWN + k;
            told[1] = before;
            told[2] = own[k];
        }
        before += own[k];
    }
    TY_BARRIER();
    d->prefix = (d->prefix << ORDER_DIGIT_BITS) | (order_key)told[0];
    d->rank -= told[1];
    d->before += told[1];
    d->same = told[2];
}

/* One more digit, of samples [0, n). Returns NaN. */
TY_FN ty_u32 order_next_digit(TY_GRID_ARGS(x0), TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 b,
                              ty_u64 columns, ty_u64 n, ty_u32 digit, order_digits *d,
                              TY_LOCAL ty_u32 *counts)
{
    TY_LOCAL ty_u64 *sums = (TY_LOCAL ty_u64 *)(counts + ORDER_DIGITS);
    TY_LOCAL ty_u64 *parts = sums + TY_GROUP_SIZE, *told = parts + ORDER_PART;
    ty_u64 own[ORDER_OWN], sum = 0;
    ty_u32 nan = 0;
    for (ty_u32 k = 0; k < ORDER_OWN; k++)
        own[k] = 0;
    for (ty_u64 at = 0; at == 0 || at < n; at += ORDER_CHUNK) {
        TY_BARRIER(); /* what was counted or told before has been read */
        for (ty_u32 k = TY_LID; k < ORDER_DIGITS; k += TY_GROUP_SIZE)
            counts[k] = 0;
        TY_BARRIER();
        nan += order_count_digit(TY_PASS_GRID(x0) TY_PASS_GRID(mask) masked, b, columns, at,
                                 n - at < ORDER_CHUNK ? n : at + ORDER_CHUNK, digit, d->prefix,
                                 counts);
        TY_BARRIER();
        for (ty_u32 k = 0; k < ORDER_OWN; k++)
            own[k] += counts[TY_LID * ORDER_OWN + k];
    }
    for (ty_u32 k = 0; k < ORDER_OWN; k++)
        sum += own[k];
    if (TY_LID < 3)
        told[TY_LID] = 0;
    order_choose(own, order_sum_before_wide(sum, sums, parts), told, d);
    return nan;
}

/* The work-item's least key above `key`, of samples [0, n). */
TY_FN order_key order_above(TY_GRID_ARGS(x0), TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 b,
                            ty_u64 columns, ty_u64 n, order_key key)
{
    const ty_u64 step_rows = TY_GROUP_SIZE / columns;
    const ty_u64 step_columns = TY_GROUP_SIZE - step_rows * columns;
    ty_u64 row = TY_LID / columns, column = TY_LID - row * columns;
    order_key own = ORDER_NAN;
    TY_UNROLL4
    for (ty_u64 i = TY_LID; i < n; i += TY_GROUP_SIZE) {
        if (ORDER_COUNTS(b, row, column)) {
            const order_key x = ORDER_KEY_AT(b, row, column);
            own = x > key && x < own ? x : own;
        }
        TY_STEP(row, column, columns, step_rows, step_columns);
    }
    return own;
}

/* Batches and channels from number `first` on; with `lost` only ranks that were lost there. NaN are
 * counted, unless `lost`, where there is a rank. The rank behind one that was found, as the second
 * of a quantile often is, takes one more pass. Local memory: a counter for each digit, 64-bit sums
 * of the work-items, what is told. */
TY_KERNEL(TY_GROUP_SIZE)
order_by_digits(TY_GRID_ARGS(x0), ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 columns,
                ty_u64 n, ty_u64 channels, ty_u64 first, TY_GLOBAL ty_u64 *state, ty_u64 ranks,
                ty_u64 found, ty_u64 nans, ty_u32 rank_count, ty_u32 lost TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
    const ty_u64 g = first + TY_GROUP, b = g / channels, at = (ty_u64)TY_GROUP * rank_count;
    order_digits d = {0, 0, 0, 0};
    ty_u32 nan = 0, have = 0, counted = 0; /* whether d is a key, whether all of them are counted */
    if (lost && !state[ORDER_FAILED])
        return;
    x0_at += (ty_u64)(channel * (ty_i64)(g - b * channels));
    for (ty_u32 r = 0; r < rank_count; r++) {
        const ty_u64 rank = state[ranks + at + r];
        const int wanted = rank != ORDER_NO_RANK && (!lost || state[ORDER_WHAT + r] == ORDER_LOST);
        const int known = have && rank >= d.before && rank - d.before < d.same;
        const int behind = counted && rank == d.before + d.same;
        order_digits next = {0, rank, 0, 0};
        for (ty_u32 digit = wanted && !known && !behind ? ORDER_DIGITS_ALL : 0; digit--;) {
            const ty_u32 seen = order_next_digit(TY_PASS_GRID(x0) TY_PASS_GRID(mask) masked, b,
                                                 columns, n, digit, &next, ty_local);
            nan += have || digit + 1 < ORDER_DIGITS_ALL ? 0 : seen;
        }
        if (wanted && behind) {
            const order_key above =
                order_above(TY_PASS_GRID(x0) TY_PASS_GRID(mask) masked, b, columns, n, d.prefix);
            d.prefix = order_least(above, (TY_LOCAL order_key *)ty_local);
            d.before = rank, d.same = 1;
            counted = 0;
        } else if (wanted && !known) {
            d = next;
            have = counted = 1;
        }
        if (TY_LID == 0 && (wanted || !lost))
            state[found + at + r] = wanted ? d.prefix : ORDER_NAN;
    }
    TY_BARRIER();
    if (TY_LID == 0)
        ty_local[0] = 0;
    TY_BARRIER();
    TY_ADD_LOCAL(&ty_local[0], nan);
    TY_BARRIER();
    if (!lost && TY_LID == 0)
        state[nans + TY_GROUP] = ORDER_IS_FLOAT ? ty_local[0] : 0;
}

/* Words that are known when the kernel is put on the queue. */
TY_KERNEL(TY_GROUP_SIZE)
order_put(TY_GLOBAL ty_u64 *state, ty_u64 at, ty_u32 count, ty_u64 w0, ty_u64 w1, ty_u64 w2,
          ty_u64 w3, ty_u64 w4, ty_u64 w5, ty_u64 w6, ty_u64 w7, ty_u64 w8, ty_u64 w9, ty_u64 w10,
          ty_u64 w11, ty_u64 w12, ty_u64 w13, ty_u64 w14, ty_u64 w15 TY_LOCAL_ARG)
{
    TY_LOCAL_INIT(void) ty_local;
    ORDER_BEGIN();
#define ORDER_PUT(k)                                                                               \
    if (TY_LID == 0 && (k) < count)                                                                \
    state[at + (k)] = w##k
    ORDER_PUT(0);
    ORDER_PUT(1);
    ORDER_PUT(2);
    ORDER_PUT(3);
    ORDER_PUT(4);
    ORDER_PUT(5);
    ORDER_PUT(6);
    ORDER_PUT(7);
    ORDER_PUT(8);
    ORDER_PUT(9);
    ORDER_PUT(10);
    ORDER_PUT(11);
    ORDER_PUT(12);
    ORDER_PUT(13);
    ORDER_PUT(14);
    ORDER_PUT(15);
}

#if !defined(TY_NO_FP64)
/* The ranks on both sides of `quantiles` quantiles of each of `all` batches and channels, and how
 * far from the lower each lies. `counted`: samples that count, and NaN, which are left out with
 * `skip`, are at `kinds`; else `elements` is their number. */
TY_KERNEL(TY_GROUP_SIZE)
order_ranks(TY_GLOBAL ty_u64 *state, ty_u64 q, ty_u32 quantiles, ty_u64 all, ty_u32 method,
            ty_u64 elements, ty_u64 kinds, ty_u32 counted, ty_u32 skip, ty_u64 ranks,
            ty_u64 parts TY_LOCAL_ARG)
{
    TY_LOCAL_INIT(void) ty_local;
    ORDER_BEGIN();
    const ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID, g = i / quantiles;
    if (g >= all)
        return;
    const ty_u64 number = i - g * quantiles;
    const ty_u64 n =
        !counted ? elements : state[kinds + 2 * g] - (skip ? state[kinds + 2 * g + 1] : 0);
    ty_place place = {ORDER_NO_RANK, ORDER_NO_RANK, 0};
    if (n)
        place = ty_place_find(method, TY_AS_DOUBLE(state[q + number]), n);
    state[ranks + 2 * i] = place.low;
    state[ranks + 2 * i + 1] = place.high;
    state[parts + i] = TY_BITS_OF(place.part);
}

/* Quantiles from the keys of their ranks. NaN where there is no rank, or any NaN that is not left
 * out. */
TY_KERNEL(TY_GROUP_SIZE)
order_finish(TY_GLOBAL const ty_u64 *state, ty_u32 quantiles, ty_u64 all, ty_u32 skip, ty_u64 ranks,
             ty_u64 parts, ty_u64 found, ty_u64 nans, TY_GLOBAL ty_u64 *out, ty_u64 first,
             ty_u64 stride TY_LOCAL_ARG)
{
    TY_LOCAL_INIT(void) ty_local;
    ORDER_BEGIN();
    const ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID, g = i / quantiles;
    if (g >= all)
        return;
    const double low = order_value((order_key)state[found + 2 * i]);
    const double high = order_value((order_key)state[found + 2 * i + 1]);
    const int none = state[ranks + 2 * i] == ORDER_NO_RANK || (!skip && state[nans + g]);
    const double mixed = ty_place_mix(low, high, TY_AS_DOUBLE(state[parts + i]));
    out[first + g * stride + (i - g * quantiles)] = none ? (ty_u64)0x7ff8 << 48 : TY_BITS_OF(mixed);
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
