/* statistics: a call's cells made into the caller's arrays on the device, by the arithmetic of
 * plan/statistics.c (of_exact), so that the bits are the same. */
#if !defined(TY_NO_FP64)

/* Bits of `wanted`: arrays of bins in the order of the arguments; then the same of flows. */
#define STATISTICS_ARRAYS 8

#define STATISTICS_NAN TY_AS_DOUBLE((ty_u64)0x7ff8 << 48)

TY_FN ty_wide statistics_wide(ty_u64 low, ty_u64 high)
{
    ty_wide w = {low, high};
    return w;
}

TY_FN ty_wide statistics_product(ty_u64 x, ty_u64 y)
{
    ty_u64 a = x & 0xffffffffu, b = x >> 32, c = y & 0xffffffffu, d = y >> 32;
    ty_u64 low = a * c, one = b * c + (low >> 32), two = a * d + (one & 0xffffffffu);
    return statistics_wide(two << 32 | (low & 0xffffffffu), b * d + (one >> 32) + (two >> 32));
}

/* 192 bits, which wrap. */
typedef struct statistics_long {
    ty_wide low;
    ty_u64 high;
} statistics_long;

TY_FN int statistics_below(ty_wide a, ty_wide b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

TY_FN statistics_long statistics_plus(statistics_long x, ty_wide low, ty_u64 high)
{
    statistics_long sum = {ty_wide_add(x.low, low), x.high + high};
    sum.high += statistics_below(sum.low, low) ? 1 : 0;
    return sum;
}

/* Adds x * y, or takes it away. */
TY_FN statistics_long statistics_plus_product(statistics_long to, ty_wide x, ty_u64 y, int minus)
{
    ty_wide below = statistics_product(x.low, y), above = statistics_product(x.high, y);
    statistics_long p = {below, above.high};
    p = statistics_plus(p, statistics_wide(0, above.low), 0);
    if (minus) { /* the complement, and 1 */
        p.low = statistics_wide(~p.low.low, ~p.low.high);
        p.high = ~p.high;
        p = statistics_plus(p, statistics_wide(1, 0), 0);
    }
    return statistics_plus(to, p.low, p.high);
}

/* x / n for n below 2^63; *rest gets what is left. */
TY_FN ty_wide statistics_divide(ty_wide x, ty_u64 n, ty_u64 *rest)
{
    ty_wide q = {0, 0};
    ty_u64 left = 0;
    for (int i = 0; i < 128; i++) {
        left = left << 1 | x.high >> 63;
        x = statistics_wide(x.low << 1, x.high << 1 | x.low >> 63);
        q = statistics_wide(q.low << 1, q.high << 1 | q.low >> 63);
        if (left >= n) {
            left -= n;
            q.low |= 1;
        }
    }
    *rest = left;
    return q;
}

/* The nearest float64, of numbers that are not negative. */
TY_FN double statistics_double(ty_wide x)
{
    if (x.high >> 63)
        return 2.0 * ty_wide_value(
                         statistics_wide(x.low >> 1 | x.high << 63 | (x.low & 1), x.high >> 1), 0);
    return ty_wide_value(x, 0);
}

/* x * 2^k, rounded once, for x that are 0 or not far from 1 or above. */
TY_FN double statistics_scaled(double x, int k)
{
    for (; k < -900; k += 900) {
        if (k < -1800)
            return 0.0 * x;
        x *= ty_power(-900);
    }
    for (; k > 900; k -= 900)
        x *= ty_power(900);
    return x * ty_power(k);
}

TY_FN double statistics_mean(ty_u64 n, ty_wide sum)
{
    int negative = (int)(sum.high >> 63);
    ty_u64 rest;
    ty_wide whole = statistics_divide(negative ? ty_wide_negate(sum) : sum, n, &rest);
    double mean = (double)whole.low + (double)rest / (double)n;
    return negative ? -mean : mean;
}

/* The sum of (q - mean)^2 for q = p + 2^51, of which all are whole and none is negative. */
TY_FN double statistics_m2(ty_u64 n, ty_wide sum, statistics_long squares)
{
    ty_u64 sign = sum.high >> 63 ? ~(ty_u64)0 : 0, rest;
    ty_wide all = ty_wide_add(sum, statistics_wide(n << 51, n >> 13));
    ty_wide whole = statistics_divide(all, n, &rest), squared = statistics_product(rest, rest);
    statistics_long about = squares;
    about = statistics_plus(about, statistics_wide(sum.low << 52, sum.high << 52 | sum.low >> 12),
                            sum.high >> 12 | sign << 52);
    about = statistics_plus(about, statistics_wide(0, n << 38), n >> 26);
    about = statistics_plus_product(about, all, 2 * whole.low, 1);
    about = statistics_plus_product(about, statistics_product(whole.low, whole.low), n, 0);
    if (!about.high && !about.low.high) {
        ty_wide product = statistics_product(about.low.low, n);
        product = ty_wide_add(product, ty_wide_negate(squared));
        return statistics_double(product) / (double)n;
    }
    double high = (double)about.high * ty_power(128), low = statistics_double(about.low);
    double off = statistics_double(squared) / (double)n;
    return high + low - off;
}

TY_FN double statistics_of_key(ty_u64 key)
{
    ty_u64 top = (ty_u64)1 << (8 * sizeof(statistics_key) - 1);
    if (TY_VALUE >= TY_F16) {
        ty_u64 bits = key & top ? key ^ top : ~key;
        return STATISTICS_WIDE ? TY_AS_DOUBLE(bits) : (double)TY_AS_FLOAT((ty_u32)bits);
    }
    if (STATISTICS_SIGNED)
        return STATISTICS_WIDE ? (double)(ty_i64)(key ^ top) : (double)(ty_i32)(ty_u32)(key ^ top);
    return (double)key;
}

/* Cells of one target put together. */
TY_FN void statistics_gather(ty_u64 *into, TY_GLOBAL const ty_u64 *cell)
{
    statistics_long squares = {{into[STATISTICS_SQUARES], into[STATISTICS_SQUARES + 1]},
                               into[STATISTICS_SQUARES + 2]};
    ty_wide sum = ty_wide_add(statistics_wide(into[STATISTICS_SUM], into[STATISTICS_SUM + 1]),
                              statistics_wide(cell[STATISTICS_SUM], cell[STATISTICS_SUM + 1]));
    squares = statistics_plus(
        squares, statistics_wide(cell[STATISTICS_SQUARES], cell[STATISTICS_SQUARES + 1]),
        cell[STATISTICS_SQUARES + 2]);
    into[STATISTICS_N] += cell[STATISTICS_N];
    into[STATISTICS_SUM] = sum.low;
    into[STATISTICS_SUM + 1] = sum.high;
    into[STATISTICS_SQUARES] = squares.low.low;
    into[STATISTICS_SQUARES + 1] = squares.low.high;
    into[STATISTICS_SQUARES + 2] = squares.high;
    for (int k = STATISTICS_LARGEST; k <= STATISTICS_COMPLEMENT; k++)
        into[k] = cell[k] > into[k] ? cell[k] : into[k];
    into[STATISTICS_ODD] |= cell[STATISTICS_ODD];
}

/* What a target's statistics are, in the order of the arrays, from the sum on. */
TY_FN void statistics_find(const ty_u64 *cell, int e, int beyond, double *found)
{
    ty_u64 n = cell[STATISTICS_N], odd = cell[STATISTICS_ODD];
    ty_wide sum = statistics_wide(cell[STATISTICS_SUM], cell[STATISTICS_SUM + 1]);
    statistics_long squares = {{cell[STATISTICS_SQUARES], cell[STATISTICS_SQUARES + 1]},
                               cell[STATISTICS_SQUARES + 2]};
    double inf = TY_AS_DOUBLE((ty_u64)0x7ff << 52);
    found[0] = 0.0;
    for (int k = 1; k < 5; k++)
        found[k] = STATISTICS_NAN;
    if (n && TY_EXTREMES && !(odd & 4)) {
        found[3] = 0.0 + statistics_of_key(cell[STATISTICS_COMPLEMENT] ^
                                           (statistics_key) ~(statistics_key)0);
        found[4] = 0.0 + statistics_of_key(cell[STATISTICS_LARGEST]);
    }
    if (odd || beyond) {
        found[0] = odd == 1 && !beyond ? inf : odd == 2 && !beyond ? -inf : STATISTICS_NAN;
        found[1] = found[0];
    } else if (TY_SUMS ? n != 0 : 0) {
        found[0] = ty_wide_value(sum, e - 50);
        found[1] = statistics_scaled(statistics_mean(n, sum), e - 50);
        if (TY_SUMS > 1)
            found[2] = statistics_scaled(statistics_m2(n, sum, squares), 2 * (e - 50));
    }
}

#define STATISTICS_OUTPUT(x)                                                                       \
    TY_GLOBAL ty_u64 *x##_count, TY_GLOBAL double *x##_weight, TY_GLOBAL double *x##_squares,      \
        TY_GLOBAL double *x##_sum, TY_GLOBAL double *x##_mean, TY_GLOBAL double *x##_m2,           \
        TY_GLOBAL double *x##_min, TY_GLOBAL double *x##_max

#define STATISTICS_WRITE(x, first)                                                                 \
    do {                                                                                           \
        if (wanted >> (first)&1)                                                                   \
            x##_count[at] = n;                                                                     \
        if (wanted >> ((first) + 1) & 1)                                                           \
            x##_weight[at] = (double)n;                                                            \
        if (wanted >> ((first) + 2) & 1)                                                           \
            x##_squares[at] = (double)n;                                                           \
        if (wanted >> ((first) + 3) & 1)                                                           \
            x##_sum[at] = found[0];                                                                \
        if (wanted >> ((first) + 4) & 1)                                                           \
            x##_mean[at] = found[1];                                                               \
        if (wanted >> ((first) + 5) & 1)                                                           \
            x##_m2[at] = found[2];                                                                 \
        if (wanted >> ((first) + 6) & 1)                                                           \
            x##_min[at] = found[3];                                                                \
        if (wanted >> ((first) + 7) & 1)                                                           \
            x##_max[at] = found[4];                                                                \
    } while (0)

/* A work-item for each bin and flow of each of a column's histograms, whose rows of the arrays
 * begin at `row`. */
TY_KERNEL(256)
statistics_finish(TY_GLOBAL const ty_u64 *totals, ty_u64 cells_at, ty_u64 state_at, ty_u32 slots,
                  ty_u64 histograms, ty_u64 row, ty_u32 how, ty_u32 given, ty_u32 wanted,
                  STATISTICS_OUTPUT(bin), STATISTICS_OUTPUT(flow) TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 bins = slots - TY_SLOT_EXTRA;
    ty_u64 i = (ty_u64)TY_GROUP * 256 + TY_LID, h = i / (bins + 4);
    ty_u32 target = (ty_u32)(i - h * (bins + 4));
    TY_GLOBAL const ty_u64 *cells = totals + cells_at + h * slots * STATISTICS_CELL;
    ty_u64 cell[STATISTICS_CELL], n, at;
    double found[5];
    (void)ty_local;
    if (h >= histograms)
        return;
    for (int k = 0; k < STATISTICS_CELL; k++)
        cell[k] = 0;
    if (!(target == bins + TY_SLOT_UNDER && (how & TY_OUT_CLAMP_UNDER)) &&
        !(target == bins + TY_SLOT_OVER && (how & TY_OUT_CLAMP_OVER)))
        statistics_gather(cell, cells + (ty_u64)target * STATISTICS_CELL);
    if (target == 0 && (how & TY_OUT_CLAMP_UNDER))
        statistics_gather(cell, cells + (ty_u64)(bins + TY_SLOT_UNDER) * STATISTICS_CELL);
    if (target == bins - 1 && (how & TY_OUT_CLAMP_OVER))
        statistics_gather(cell, cells + (ty_u64)(bins + TY_SLOT_OVER) * STATISTICS_CELL);
    statistics_find(cell, statistics_exponent(given, 0, totals + state_at),
                    totals[state_at + STATISTICS_BEYOND] != 0, found);
    n = cell[STATISTICS_N];
    if (target < bins) {
        at = (row + h) * bins + target;
        STATISTICS_WRITE(bin, 0);
    } else {
        at = (row + h) * 4 + (target - bins);
        STATISTICS_WRITE(flow, STATISTICS_ARRAYS);
    }
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
