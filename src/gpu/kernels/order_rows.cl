/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order, 4: many small groups of samples, each searched by a group of work-items that keeps its
 * keys in local memory. Ranks are found by digits, the upper first. Where the digits so far leave
 * few keys, these are looked at together; the key of the rank behind, which the second rank of a
 * quantile often is, is found on the way.
 *
 * Local memory, in words:
 *
 *     0               a counter for each digit
 *     ORDER_ROW_TOLD  what one work-item tells the others
 *     ORDER_ROW_SUMS  a sum of each work-item, and sums of ORDER_PART of them
 *     ORDER_ROW_KEYS  the keys, then the largest key up to a multiple of 16 bytes
 */
#define ORDER_ROW_TOLD  ORDER_DIGITS
#define ORDER_ROW_SUMS  (ORDER_ROW_TOLD + 4)
#define ORDER_ROW_PARTS (ORDER_ROW_SUMS + TY_GROUP_SIZE)
#define ORDER_ROW_KEYS  (ORDER_DIGITS + ORDER_ROW_FIXED(TY_GROUP_SIZE))
#define ORDER_ROW_LEFT  1024                  /* where the few keys that are left lie, in words */
#define ORDER_FEW_LEFT  64                    /* so many are few */
#define ORDER_VECTOR    (4 / ORDER_KEY_WORDS) /* keys of 16 bytes */

/* A key that is sought: the first key that has its upper digits, its rank among those that have
 * them, how many keys are below these, and how many there are. */
typedef struct order_upper {
    order_key first;
    ty_u32 rank, before, same;
} order_upper;

/* A work-item's own counters; returns the sum of those before. */
TY_FN ty_u32 order_own_counts(TY_LOCAL ty_u32 *area, ty_u32 *own)
{
    ty_u32 sum = 0;
    TY_UNROLL
    for (ty_u32 k = 0; k < ORDER_OWN / 4; k++) {
        const uint4 four = ((TY_LOCAL const uint4 *)area)[TY_LID * (ORDER_OWN / 4) + k];
        own[4 * k] = four.x;
        own[4 * k + 1] = four.y;
        own[4 * k + 2] = four.z;
        own[4 * k + 3] = four.w;
        sum += four.x + four.y + four.z + four.w;
    }
    return order_sum_before(sum, area + ORDER_ROW_SUMS, area + ORDER_ROW_PARTS);
}

/* One more digit: the one that has the rank. */
TY_FN void order_choose_digit(order_upper *d, ty_u32 digit, const ty_u32 *own, ty_u32 before,
                              TY_LOCAL ty_u32 *area)
{
    TY_LOCAL ty_u32 *told = area + ORDER_ROW_TOLD;
    TY_UNROLL
    for (ty_u32 k = 0; k < ORDER_OWN; k++) {
        if (d->rank - before < own[k]) {
            told[0] = TY_LID * ORDER_OWN + k;
            told[1] = before;
            told[2] = own[k];
        }
        before += own[k];
    }
    TY_BARRIER();
    d->first += (order_key)told[0] << order_shift(digit);
    d->rank -= told[1];
    d->before += told[1];
    d->same = told[2];
}

TY_FN void order_row_clear(TY_LOCAL ty_u32 *counts)
{
    const uint4 none = {0, 0, 0, 0};
    TY_BARRIER(); /* they have been read */
    TY_UNROLL
    for (ty_u32 k = 0; k < ORDER_OWN / 4; k++)
        ((TY_LOCAL uint4 *)counts)[k * TY_GROUP_SIZE + TY_LID] = none;
    TY_BARRIER();
}

/* `count` keys to local memory. */
TY_FN void order_row_write(TY_LOCAL uint4 *to, const order_key *x, const ty_u32 count)
{
    TY_UNROLL
    for (ty_u32 k = 0; k < count / ORDER_VECTOR; k++) {
        uint4 v;
#if ORDER_KEY_WORDS == 2
        v.x = (ty_u32)x[2 * k];
        v.y = (ty_u32)(x[2 * k] >> 32);
        v.z = (ty_u32)x[2 * k + 1];
        v.w = (ty_u32)(x[2 * k + 1] >> 32);
#else
        v.x = x[4 * k];
        v.y = x[4 * k + 1];
        v.z = x[4 * k + 2];
        v.w = x[4 * k + 3];
#endif
        to[k] = v;
    }
}

/* Samples [0, n) of batch b to local memory; their first digit is counted. Returns NaN. `packed`:
 * they follow each other, and the first is at a multiple of 16 bytes. */
TY_FN ty_u32 order_row_stage(TY_GRID_ARGS(x0), TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 b,
                             ty_u64 columns, ty_u32 n, ty_u32 packed, TY_LOCAL ty_u32 *counts,
                             TY_LOCAL order_key *keys)
{
    enum { each = 16 / ORDER_SIZE };
    const ty_u32 shift = order_shift(ORDER_DIGITS_ALL - 1);
    TY_GLOBAL const uint4 *vectors = (TY_GLOBAL const uint4 *)TY_GRID_AT(x0, b, 0, 0);
    const ty_u32 count = packed ? n / each : 0;
    const ty_u64 step_rows = TY_GROUP_SIZE / columns;
    const ty_u64 step_columns = TY_GROUP_SIZE - step_rows * columns;
    ty_u32 i = count * each + TY_LID;
    ty_u64 row = i / columns, column = i - row * columns;
    const ty_u32 base = TY_LOCAL_ADDRESS(counts);
    ty_u32 nan = 0;
    TY_UNROLL4
    for (ty_u32 v = TY_LID; v < count; v += TY_GROUP_SIZE) {
        const uint4 four = TY_STREAM(vectors + v);
        const ty_u32 words[4] = {four.x, four.y, four.z, four.w};
        order_key x[each];
        TY_UNROLL
        for (ty_u32 j = 0; j < each; j++) {
            x[j] = ORDER_KEY_IN(words, j);
            nan += ORDER_IS_FLOAT && x[j] == ORDER_NAN;
            TY_INC_AT(counts, base + 4 * (ty_u32)(x[j] >> shift));
        }
        order_row_write((TY_LOCAL uint4 *)keys + v * (each / ORDER_VECTOR), x, each);
    }
    for (; i < n; i += TY_GROUP_SIZE) {
        keys[i] = ORDER_NAN;
        if (ORDER_COUNTS(b, row, column)) {
            keys[i] = ORDER_KEY_AT(b, row, column);
            nan += ORDER_IS_FLOAT && keys[i] == ORDER_NAN;
            TY_ADD_LOCAL(&counts[keys[i] >> shift], 1);
        }
        TY_STEP(row, column, columns, step_rows, step_columns);
    }
    if (TY_LID < (0u - n & (ORDER_VECTOR - 1)))
        keys[n + TY_LID] = ORDER_NAN;
    TY_BARRIER();
    return nan;
}

/* The next ORDER_AHEAD keys of a work-item, from vector `at` on; behind all the largest key. */
TY_FN void order_row_read(TY_LOCAL const uint4 *keys, ty_u32 vectors, ty_u32 at, order_key *x)
{
    TY_UNROLL
    for (ty_u32 k = 0; k < ORDER_AHEAD / ORDER_VECTOR; k++, at += TY_GROUP_SIZE) {
        const uint4 v = keys[at < vectors ? at : 0];
        const ty_u32 none = at < vectors ? 0u : 0xffffffffu;
#if ORDER_KEY_WORDS == 2
        x[2 * k] = (v.x | none) | (ty_u64)(v.y | none) << 32;
        x[2 * k + 1] = (v.z | none) | (ty_u64)(v.w | none) << 32;
#else
        x[4 * k] = v.x | none;
        x[4 * k + 1] = v.y | none;
        x[4 * k + 2] = v.z | none;
        x[4 * k + 3] = v.w | none;
#endif
    }
}

#define ORDER_ROW_LOOP(vectors)                                                                    \
    for (ty_u32 at = TY_LID; at < (vectors); at += ORDER_AHEAD / ORDER_VECTOR * TY_GROUP_SIZE)

/* Counts a digit of the keys that have the upper ones. */
TY_FN void order_row_count(const order_upper *d, ty_u32 digit, ty_u32 vectors,
                           TY_LOCAL ty_u32 *area)
{
    TY_LOCAL const uint4 *keys = (TY_LOCAL const uint4 *)(area + ORDER_ROW_KEYS);
    const ty_u32 shift = order_shift(digit), base = TY_LOCAL_ADDRESS(area);
    const order_key more = order_more(digit + 1);
    order_row_clear(area);
    ORDER_ROW_LOOP(vectors)
    {
        order_key x[ORDER_AHEAD];
        order_row_read(keys, vectors, at, x);
        TY_UNROLL
        for (ty_u32 k = 0; k < ORDER_AHEAD; k++) {
            const order_key further = x[k] - d->first;
            TY_INC_AT_IF(area, base + 4 * (ty_u32)(further >> shift), further <= more);
        }
    }
    TY_BARRIER();
}

/* What is in local memory while a key is taken: told[0] is the key, told[1] the one behind; `left`
 * are the few keys, of which the largest key of all, that stands for what is behind the row too, is
 * none. */
typedef struct order_row_few {
    TY_LOCAL order_key *told, *left;
    TY_LOCAL ty_u32 *count;
} order_row_few;

/* The keys that have the upper digits are left. Returns the least key above them. */
TY_FN order_key order_row_sift(const order_upper *d, ty_u32 digits_left, ty_u32 vectors,
                               const order_row_few *few, TY_LOCAL ty_u32 *area)
{
    TY_LOCAL const uint4 *keys = (TY_LOCAL const uint4 *)(area + ORDER_ROW_KEYS);
    const order_key more = order_more(digits_left), top = d->first + more;
    order_key further = ORDER_NAN; /* than the one behind top; keys up to there wrap around */
    ORDER_ROW_LOOP(vectors)
    {
        order_key x[ORDER_AHEAD];
        order_row_read(keys, vectors, at, x);
        TY_UNROLL
        for (ty_u32 k = 0; k < ORDER_AHEAD; k++) {
            const order_key this_far = x[k] - top - 1;
            further = this_far < further ? this_far : further;
            if (digits_left && x[k] - d->first <= more && x[k] != ORDER_NAN)
                few->left[TY_ADD_LOCAL(few->count, 1)] = x[k];
        }
    }
    further = order_least(further, (TY_LOCAL order_key *)area) + top + 1;
    return further > top ? further : ORDER_NAN;
}

/* The key of the rank, of those that have the digits found, `digits_left` others being left: few
 * keys, or all the same. *behind gets the key of the rank behind it, or behind them. */
TY_FN order_key order_row_take(order_upper *d, ty_u32 digits_left, ty_u32 vectors,
                               order_key *behind, TY_LOCAL ty_u32 *area)
{
    const order_row_few few = {(TY_LOCAL order_key *)(area + ORDER_ROW_TOLD),
                               (TY_LOCAL order_key *)(area + ORDER_ROW_LEFT),
                               area + ORDER_ROW_SUMS};
    TY_BARRIER(); /* what was told has been read */
    if (TY_LID == 0)
        *few.count = 0;
    TY_BARRIER();
    *behind = order_row_sift(d, digits_left, vectors, &few, area);
    if (!digits_left)
        return d->first;
    const ty_u32 count = *few.count;
    if (TY_LID == 0) {
        few.told[0] = ORDER_NAN;
        few.told[1] = d->rank + 1 < d->same ? ORDER_NAN : *behind;
    }
    TY_BARRIER();
    if (TY_LID < count) {
        const order_key x = few.left[TY_LID];
        ty_u32 ahead = 0;
        for (ty_u32 k = 0; k < count; k++)
            ahead += ORDER_AHEAD_OF(few.left[k], x, k < TY_LID);
        if (ahead - d->rank < 2)
            few.told[ahead - d->rank] = x;
    }
    TY_BARRIER();
    *behind = few.told[1];
    d->before += d->rank;
    d->same = 1;
    return few.told[0];
}

/* The key of d->rank; `counted`: the counters hold the first digit. */
TY_FN order_key order_row_find(order_upper *d, int counted, ty_u32 vectors, order_key *behind,
                               TY_LOCAL ty_u32 *area)
{
    ty_u32 digit = ORDER_DIGITS_ALL;
    do {
        ty_u32 own[ORDER_OWN];
        digit--;
        if (!counted)
            order_row_count(d, digit, vectors, area);
        const ty_u32 before = order_own_counts(area, own);
        order_choose_digit(d, digit, own, before, area);
        counted = 0;
    } while (digit && d->same > ORDER_FEW_LEFT);
    return order_row_take(d, digit, vectors, behind, area);
}

/* Batches and channels from number `first` on; NaN are counted. */
TY_KERNEL_DENSE(TY_GROUP_SIZE, 4)
order_rows(TY_GRID_ARGS(x0), ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 columns,
           ty_u64 n, ty_u64 channels, ty_u64 first, TY_GLOBAL ty_u64 *state, ty_u64 ranks,
           ty_u64 found, ty_u64 nans, ty_u32 rank_count, ty_u32 packed TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ORDER_BEGIN();
    const ty_u64 g = first + TY_GROUP, b = g / channels, at = (ty_u64)TY_GROUP * rank_count;
    const ty_u32 vectors = ((ty_u32)n + ORDER_VECTOR - 1) / ORDER_VECTOR;
    order_upper d = {0, 0, 0, 0};
    order_key key = ORDER_NAN, next = ORDER_NAN;
    int counted = 1, behind = 0; /* whether `next` is the key of the rank behind */
    ty_u32 nan;
    x0_at += (ty_u64)(channel * (ty_i64)(g - b * channels));
    order_row_clear(ty_local);
    nan = order_row_stage(TY_PASS_GRID(x0) TY_PASS_GRID(mask) masked, b, columns, (ty_u32)n, packed,
                          ty_local, (TY_LOCAL order_key *)(ty_local + ORDER_ROW_KEYS));
    for (ty_u32 r = 0; r < rank_count; r++) {
        const ty_u64 rank = state[ranks + at + r];
        if (rank != ORDER_NO_RANK && behind && rank == (ty_u64)d.before + d.same) {
            key = next;
            behind = 0;
            d.before = (ty_u32)rank, d.same = 1;
        } else if (rank != ORDER_NO_RANK && (ty_u32)rank - d.before >= d.same) {
            const order_upper sought = {0, (ty_u32)rank, 0, 0};
            d = sought;
            key = order_row_find(&d, counted, vectors, &next, ty_local);
            counted = 0;
            behind = 1;
        }
        if (TY_LID == 0)
            state[found + at + r] = rank != ORDER_NO_RANK ? key : ORDER_NAN;
    }
    TY_BARRIER();
    if (TY_LID == 0)
        ty_local[0] = 0;
    TY_BARRIER();
    if (nan)
        TY_ADD_LOCAL(&ty_local[0], nan);
    TY_BARRIER();
    if (TY_LID == 0)
        state[nans + TY_GROUP] = ty_local[0];
}
/* SPDX-License-Identifier: Apache-2.0 */
