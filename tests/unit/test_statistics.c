/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of values by bins: known ones, flows, masks, NaN and policies; those of long doubles
 * within the stated error, of whole numbers exactly; the same bits with any number of threads and
 * source, and with limits in any order.
 *
 *     test_statistics [SEED]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "draw.h"
#include "execute_help.h"

enum { most = 300000, most_bins = 400, columns = 2, fields = 8 };

__extension__ typedef __int128 whole;

static double x[most], v[columns][most], w[most];

/* All arrays of a call's answer: doubles but for the counts. */
typedef struct answer {
    uint64_t count[columns * most_bins];
    double of[fields - 1][columns * most_bins];
} answer;

static answer got, other, flows, first;

static tally_statistics fields_of(answer *a)
{
    return (tally_statistics){sizeof(tally_statistics),
                              a->count,
                              a->of[0],
                              a->of[1],
                              a->of[2],
                              a->of[3],
                              a->of[4],
                              a->of[5],
                              a->of[6]};
}

static tally_statistics into(answer *a)
{
    memset(a, 0x5a, sizeof *a);
    return fields_of(a);
}
#define MEAN(a, i) (a).of[3][i]
#define M2(a, i)   (a).of[4][i]

static tally_plan *plan_of(tally_context *context, uint64_t bins)
{
    const tally_plan_options o = help_options(TALLY_F64, tally_axis_even(bins, 0, 1));
    return help_plan(context, &o);
}

/* Of n samples, in memory; the flows too. */
static void find(const tally_plan *plan, size_t n, uint32_t values,
                 const tally_statistics_options *options, answer *to)
{
    const tally_view view = tally_view_1d(x, TALLY_F64, n);
    tally_view y[columns];
    const tally_statistics bins = into(to), out = into(&flows);
    tally_error error = {""};
    for (uint32_t i = 0; i < columns; i++)
        y[i] = tally_view_1d(v[i], TALLY_F64, n);
    CHECK_SAY(!tally_bin_statistics(plan, &view, y, values, options, &bins, &out, &error), "%s",
              error.message);
}

static int same_number(double a, double b)
{
    return a == b || (a != a && b != b);
}

static int same(const answer *a, const answer *b, size_t cells)
{
    int equal = !memcmp(a->count, b->count, cells * sizeof *a->count);
    for (int f = 0; f < fields - 1; f++)
        for (size_t i = 0; i < cells; i++)
            equal &= same_number(a->of[f][i], b->of[f][i]) &&
                     (a->of[f][i] != 0 || signbit(a->of[f][i]) == signbit(b->of[f][i]));
    return equal;
}

static int is(const answer *a, size_t at, uint64_t count, double sum, double mean, double m2,
              double min, double max)
{
    return a->count[at] == count && a->of[0][at] == (double)count &&
           a->of[1][at] == (double)count && same_number(a->of[2][at], sum) &&
           same_number(a->of[3][at], mean) && same_number(a->of[4][at], m2) &&
           same_number(a->of[5][at], min) && same_number(a->of[6][at], max);
}

/* ---- known ones ---- */

enum { few = 9 };
static const double few_x[few] = {0.1, 0.1, 0.6, -1, 2, NAN, 0.2, 1, 0.7};
static const double few_v[few] = {1, 3, 5, 7, 9, 11, 1000, -0.0, 6};
static const unsigned char few_mask[few] = {1, 1, 1, 1, 1, 1, 0, 1, 1};

static void find_few(const tally_plan *plan, const double *values, int skip_nan)
{
    const tally_view view = tally_view_1d(few_x, TALLY_F64, few),
                     y = tally_view_1d(values, TALLY_F64, few),
                     mask = tally_view_1d(few_mask, TALLY_U8, few);
    tally_statistics_options options = TALLY_STATISTICS_OPTIONS_INIT;
    const tally_statistics bins = into(&got), out = into(&flows);
    tally_error error = {""};
    options.mask = &mask;
    options.skip_nan = skip_nan;
    CHECK_SAY(!tally_bin_statistics(plan, &view, &y, 1, &options, &bins, &out, &error), "%s",
              error.message);
}

static void test_known(tally_context *context)
{
    double values[few];
    tally_plan *plan = plan_of(context, 3);
    find_few(plan, few_v, 0);
    CHECK(is(&got, 0, 2, 4, 2, 2, 1, 3));
    CHECK(is(&got, 1, 1, 5, 5, 0, 5, 5));
    CHECK(is(&got, 2, 2, 6, 3, 18, 0, 6) && !signbit(got.of[5][2]));
    for (int f = 0; f < 3; f++)
        CHECK(is(&flows, (size_t)f, 1, 7 + 2 * f, 7 + 2 * f, 0, 7 + 2 * f, 7 + 2 * f));
    CHECK(is(&flows, 3, 1, 1000, 1000, 0, 1000, 1000));
    memcpy(values, few_v, sizeof values);
    values[1] = NAN;
    find_few(plan, values, 0);
    CHECK(is(&got, 0, 2, NAN, NAN, NAN, NAN, NAN) && is(&got, 1, 1, 5, 5, 0, 5, 5));
    find_few(plan, values, 1);
    CHECK(is(&got, 0, 1, 1, 1, 0, 1, 1) && is(&got, 1, 1, 5, 5, 0, 5, 5));
    values[2] = NAN;
    find_few(plan, values, 1);
    CHECK(is(&got, 1, 0, 0, NAN, NAN, NAN, NAN));
    values[1] = INFINITY;
    find_few(plan, values, 0);
    CHECK(is(&got, 0, 2, INFINITY, INFINITY, NAN, 1, INFINITY));
    values[0] = INFINITY;
    find_few(plan, values, 0);
    CHECK(is(&got, 0, 2, INFINITY, INFINITY, NAN, INFINITY, INFINITY));
    tally_plan_destroy(plan);
}

static void test_policies(tally_context *context)
{
    tally_plan_options o = help_options(TALLY_F64, tally_axis_even(3, 0, 1));
    const tally_view view = tally_view_1d(few_x, TALLY_F64, few),
                     y = tally_view_1d(few_v, TALLY_F64, few);
    o.axes[0].under = o.axes[0].over = TALLY_FLOW_CLAMP;
    tally_plan *plan = help_plan(context, &o);
    find_few(plan, few_v, 0);
    CHECK(is(&got, 0, 3, 11, 11 / 3.0, 56 / 3.0, 1, 7) || fabs(M2(got, 0) - 56 / 3.0) < 1e-14);
    CHECK(is(&got, 2, 3, 15, 5, 42, 0, 9) && is(&flows, 0, 0, 0, NAN, NAN, NAN, NAN));
    tally_plan_destroy(plan);
    o.axes[0].under = o.axes[0].over = TALLY_FLOW_BIN;
    plan = help_plan(context, &o);
    find_few(plan, few_v, 0);
    CHECK(is(&got, 0, 1, 7, 7, 0, 7, 7) && is(&got, 1, 2, 4, 2, 2, 1, 3) &&
          is(&got, 4, 1, 9, 9, 0, 9, 9));
    tally_plan_destroy(plan);
    o.axes[0].over = TALLY_FLOW_FAIL;
    plan = help_plan(context, &o);
    const tally_statistics bins = into(&got);
    tally_error error = {""};
    CHECK(tally_bin_statistics(plan, &view, &y, 1, NULL, &bins, NULL, &error) == TALLY_ERROR_DATA &&
          strstr(error.message, "above"));
    for (size_t i = 0; i < sizeof got; i++)
        CHECK(((const unsigned char *)&got)[i] == 0x5a);
    tally_plan_destroy(plan);
}

/* ---- against other arithmetic ---- */

/* Samples in and around the bins; values near a level of each bin, far away from 0. */
static void draw(size_t n, double level, double width)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = unit() * 1.1 - 0.05;
        v[0][i] = level * (1 + floor(x[i] * 4)) + width * (unit() - 0.5);
        v[1][i] = ldexp(unit() - 0.5, (int)below(40) - 20);
        w[i] = unit() * 3;
    }
}

/* Sums in long double, of the values in bin `b` of `bins`; weighted if asked for. */
typedef struct sums {
    long double n, weight, sum, m2, size, min, max;
} sums;

static sums sum_up(size_t n, uint64_t bins, uint64_t b, const double *values, int weighted)
{
    sums s = {0, 0, 0, 0, 0, INFINITY, -INFINITY};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++) {
            const long double y = values[i], a = weighted ? w[i] : 1;
            if (!(x[i] >= 0 && x[i] <= 1) ||
                (x[i] == 1 ? bins - 1 : (uint64_t)(x[i] * (double)bins)) != b)
                continue;
            if (pass) {
                s.m2 += a * (y - s.sum / s.weight) * (y - s.sum / s.weight);
                continue;
            }
            s.n++;
            s.weight += a;
            s.sum += a * y;
            s.size += fabsl(a * y);
            s.min = fminl(s.min, y);
            s.max = fmaxl(s.max, y);
        }
    return s;
}

static void compare(size_t n, uint64_t bins, int weighted)
{
    for (uint32_t c = 0; c < columns; c++)
        for (uint64_t b = 0; b < bins; b++) {
            const sums want = sum_up(n, bins, b, v[c], weighted);
            const size_t at = c * bins + b;
            const long double range = want.max - want.min, mean = want.sum / want.weight;
            const double *sum = &got.of[2][at];
            CHECK((long double)got.count[at] == want.n && got.of[5][at] == (double)want.min &&
                  got.of[6][at] == (double)want.max);
            CHECK_SAY(fabsl(MEAN(got, at) - mean) <=
                          want.n * 0x1p-52L * range + 0x1p-52L * fabsl(mean),
                      "mean %.17g, not %.17Lg", MEAN(got, at), mean);
            CHECK_SAY(fabsl(M2(got, at) - want.m2) <=
                          0x1p-50L * want.n * want.weight * range * range,
                      "m2 %.17g, not %.17Lg", M2(got, at), want.m2);
            CHECK_SAY(fabsl(*sum - want.sum) <= (want.n + 2) * 0x1p-52L * want.size,
                      "sum %.17g, not %.17Lg", *sum, want.sum);
            /* Far below what one value of so many is rounded by, about 0: nothing cancels. */
            CHECK_SAY(fabsl(M2(got, at) - want.m2) <= 1e-11L * want.m2 || want.n < 2,
                      "m2 %.17g, not %.17Lg", M2(got, at), want.m2);
        }
}

static void test_accuracy(tally_context *context)
{
    const size_t n = 4000;
    for (int round = 0; round < 6; round++) {
        const uint64_t bins = 4 << below(3);
        tally_plan *plan = plan_of(context, bins);
        const tally_view weights = tally_view_1d(w, TALLY_F64, n);
        tally_statistics_options options = TALLY_STATISTICS_OPTIONS_INIT;
        draw(n, round ? 1e6 : 1e9, 1);
        find(plan, n, columns, NULL, &got);
        compare(n, bins, 0);
        options.weights = &weights;
        find(plan, n, columns, &options, &got);
        compare(n, bins, 1);
        /* What is taken about zero stays so. */
        for (size_t i = 0; i < n; i++)
            v[0][i] = i < n / 2 ? (double)i * 0 : below(1000);
        find(plan, n, columns, NULL, &got);
        compare(n, bins, 0);
        tally_plan_destroy(plan);
    }
}

/* Whole numbers, by their own sums of 128 bits; all but the last roundings are exact. */
static void test_exact(tally_context *context)
{
    const uint64_t bins = 5;
    const size_t n = 3000;
    const double limits[columns] = {3e4, 1};
    tally_statistics_options options = TALLY_STATISTICS_OPTIONS_INIT;
    tally_plan *plan = plan_of(context, bins);
    options.limits = limits;
    draw(n, 1000, 1);
    for (size_t i = 0; i < n; i++)
        v[1][i] = i % 3 ? 0.75 : ldexp(unit() - 0.5, -(int)below(60));
    find(plan, n, columns, &options, &got);
    for (uint32_t c = 0; c < columns; c++)
        for (uint64_t b = 0; b < bins; b++) {
            whole sum = 0, squares = 0, number = 0;
            const int unit_of = (c ? 1 : 15) - 50;
            for (size_t i = 0; i < n; i++)
                if (x[i] >= 0 && x[i] < 1 && (uint64_t)(x[i] * (double)bins) == b) {
                    const whole q = (whole)nearbyint(ldexp(v[c][i], -unit_of));
                    sum += q;
                    number++;
                }
            const whole level = sum / number;
            for (size_t i = 0; i < n; i++)
                if (x[i] >= 0 && x[i] < 1 && (uint64_t)(x[i] * (double)bins) == b) {
                    const whole q = (whole)nearbyint(ldexp(v[c][i], -unit_of)) - level;
                    squares += q * q;
                }
            const long double rest = (long double)(sum - level * number),
                              m2 = (long double)squares - rest * rest / (long double)number;
            const size_t at = c * bins + b;
            CHECK(got.count[at] == (uint64_t)number);
            CHECK(got.of[2][at] == ldexp((double)sum, unit_of));
            CHECK(fabsl(MEAN(got, at) - ldexpl((long double)sum / number, unit_of)) <=
                  0x1p-50L * fabs(MEAN(got, at)));
            CHECK(fabsl(M2(got, at) - ldexpl(m2, 2 * unit_of)) <= 0x1p-50L * M2(got, at));
        }
    v[0][7] = 32768;
    const tally_statistics out = into(&other);
    const tally_view view = tally_view_1d(x, TALLY_F64, n), y = tally_view_1d(v[0], TALLY_F64, n);
    tally_error error = {""};
    CHECK(tally_bin_statistics(plan, &view, &y, 1, &options, &out, NULL, &error) ==
              TALLY_ERROR_DATA &&
          strstr(error.message, "limit"));
    tally_plan_destroy(plan);
}

/* ---- the same bits ---- */

static void shuffle(size_t n)
{
    for (size_t i = n; i > 1; i--) {
        const size_t j = (size_t)below(i);
        double *arrays[3] = {x, v[0], v[1]};
        for (int a = 0; a < 3; a++) {
            const double t = arrays[a][i - 1];
            arrays[a][i - 1] = arrays[a][j];
            arrays[a][j] = t;
        }
    }
}

typedef struct reading {
    const double *from;
} reading;

static tally_status read_column(void *user, uint64_t begin, uint64_t count, void *to,
                                tally_error *error)
{
    (void)error;
    memcpy(to, ((const reading *)user)->from + begin, count * sizeof(double));
    return TALLY_OK;
}

static void find_read(const tally_plan *plan, size_t n, answer *to)
{
    reading readings[1 + columns] = {{x}, {v[0]}, {v[1]}};
    tally_source sources[1 + columns];
    tally_view views[1 + columns];
    const tally_statistics bins = into(to);
    tally_error error = {""};
    for (int i = 0; i < 1 + columns; i++) {
        sources[i] = (tally_source)TALLY_SOURCE_INIT;
        sources[i].read = read_column;
        sources[i].user = &readings[i];
        views[i] = tally_view_1d(NULL, TALLY_F64, n);
        views[i].source = &sources[i];
    }
    CHECK_SAY(!tally_bin_statistics(plan, views, views + 1, columns, NULL, &bins, NULL, &error),
              "%s", error.message);
    const tally_view y = tally_view_1d(v[0], TALLY_F64, n);
    CHECK(tally_bin_statistics(plan, views, &y, 1, NULL, &bins, NULL, &error) ==
          TALLY_ERROR_ARGUMENT);
}

/* Any number of threads, in memory and read. */
static void test_threads(void)
{
    const size_t n = help_is_slow() ? 150000 : most;
    const uint64_t bins = 100;
    draw(n, 1000, 1);
    for (uint32_t threads = 1; threads < 5; threads++) {
        tally_context *context = help_context(threads);
        tally_plan *plan = plan_of(context, bins);
        find(plan, n, columns, NULL, threads == 1 ? &first : &got);
        CHECK(threads == 1 || same(&first, &got, columns * bins));
        find_read(plan, n, &got);
        CHECK(same(&first, &got, columns * bins));
        tally_plan_destroy(plan);
        tally_context_destroy(context);
    }
}

/* With limits, any order of the samples. */
static void test_order(void)
{
    static const double limits[columns] = {1e4, 1e6};
    const size_t n = help_is_slow() ? 150000 : most;
    const uint64_t bins = 300;
    tally_statistics_options options = TALLY_STATISTICS_OPTIONS_INIT;
    options.limits = limits;
    draw(n, 1000, 1);
    for (uint32_t threads = 1; threads < 4; threads++) {
        tally_context *context = help_context(threads);
        tally_plan *plan = plan_of(context, bins);
        find(plan, n, 1, &options, threads == 1 ? &first : &got);
        CHECK(threads == 1 || same(&first, &got, bins));
        shuffle(n);
        tally_plan_destroy(plan);
        tally_context_destroy(context);
    }
}

/* Many bins and few samples, without extremes: by another way, into the totals at once. */
static void test_many_bins(tally_context *context)
{
    const uint64_t bins = 380;
    const size_t n = 5000;
    static double means[4 * most_bins], m2s[4 * most_bins];
    static uint64_t counts[4 * most_bins];
    tally_plan_options o = help_options(TALLY_F64, tally_axis_even(bins, 0, 1));
    tally_statistics some = TALLY_STATISTICS_INIT;
    tally_error error = {""};
    o.dimensions = 2;
    o.axes[1] = tally_axis_even(4, 0, 1);
    o.dtypes[1] = TALLY_F64;
    tally_plan *plan = help_plan(context, &o), *rows = plan_of(context, bins);
    draw(n, 1000, 1);
    const tally_view views[2] = {tally_view_1d(x, TALLY_F64, n), tally_view_1d(w, TALLY_F64, n)},
                     y = tally_view_1d(v[0], TALLY_F64, n);
    some.count = counts;
    some.mean = means;
    some.m2 = m2s;
    for (size_t i = 0; i < n; i++)
        w[i] = unit();
    CHECK_SAY(!tally_bin_statistics(plan, views, &y, 1, NULL, &some, NULL, &error), "%s",
              error.message);
    find(rows, n, 1, NULL, &got);
    for (uint64_t b = 0; b < bins; b++) {
        double sum = 0, m2 = 0;
        uint64_t number = 0;
        for (uint64_t i = 4 * b; i < 4 * b + 4; i++) {
            number += counts[i];
            sum += counts[i] ? means[i] * (double)counts[i] : 0;
        }
        for (uint64_t i = 4 * b; i < 4 * b + 4; i++)
            m2 += counts[i] ? m2s[i] + (double)counts[i] * pow(means[i] - MEAN(got, b), 2) : 0;
        CHECK(number == got.count[b]);
        CHECK(!number || (fabs(sum - got.of[2][b]) <= 1e-12 * sum &&
                          fabs(m2 - M2(got, b)) <= 1e-9 * M2(got, b)));
    }
    tally_plan_destroy(plan);
    tally_plan_destroy(rows);
}

/* ---- more than one dimension, channels, batches, merging ---- */

static void test_shapes(tally_context *context)
{
    enum { rows = 6, across = 10, cells = 2 * 3 };
    float a[2][rows][across], b[2][rows][across];
    int16_t y[rows][across];
    double mean[2 * cells], want[2 * cells] = {0};
    uint64_t count[2 * cells], number[2 * cells] = {0};
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(2, 0, 1));
    o.dimensions = 2;
    o.axes[1] = tally_axis_even(3, 0, 1);
    o.dtypes[1] = TALLY_F32;
    tally_plan *plan = help_plan(context, &o);
    tally_view views[2] = {tally_view_1d(a, TALLY_F32, across),
                           tally_view_1d(b, TALLY_F32, across)},
               values = tally_view_1d(y, TALLY_I16, across);
    views[0].batches = views[1].batches = 2;
    views[0].rows = views[1].rows = values.rows = rows;
    values.rows = rows;
    for (int h = 0; h < 2; h++)
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < across; c++) {
                a[h][r][c] = (float)unit();
                b[h][r][c] = (float)unit();
                y[r][c] = h ? y[r][c] : (int16_t)(below(65536) - 32768);
                const int cell = h * cells + (int)(a[h][r][c] * 2) * 3 + (int)(b[h][r][c] * 3);
                want[cell] += y[r][c];
                number[cell]++;
            }
    tally_statistics bins = TALLY_STATISTICS_INIT;
    tally_error error = {""};
    bins.mean = mean;
    bins.count = count;
    CHECK_SAY(!tally_bin_statistics(plan, views, &values, 1, NULL, &bins, NULL, &error), "%s",
              error.message);
    for (int i = 0; i < 2 * cells; i++)
        CHECK(count[i] == number[i] &&
              (number[i] ? mean[i] == want[i] / (double)number[i] : mean[i] != mean[i]));
    tally_plan_destroy(plan);
}

static void test_merge(tally_context *context)
{
    const size_t n = 3000, cut = 1 + (size_t)below(n - 1);
    const uint64_t bins = 20;
    tally_plan *plan = plan_of(context, bins);
    static double kept_x[3000], kept_v[3000];
    tally_error error = {""};
    draw(n, 1000, 1);
    find(plan, n, 1, NULL, &first);
    memcpy(kept_x, x, sizeof kept_x);
    memcpy(kept_v, v[0], sizeof kept_v);
    find(plan, cut, 1, NULL, &got);
    memmove(x, kept_x + cut, (n - cut) * sizeof *x);
    memmove(v[0], kept_v + cut, (n - cut) * sizeof *x);
    find(plan, n - cut, 1, NULL, &other);
    const tally_statistics to = fields_of(&got), from = fields_of(&other);
    CHECK_SAY(!tally_statistics_merge(&to, &from, bins, &error), "%s", error.message);
    for (uint64_t b = 0; b < bins; b++) {
        CHECK(got.count[b] == first.count[b] && same_number(got.of[5][b], first.of[5][b]) &&
              same_number(got.of[6][b], first.of[6][b]));
        for (int f = 2; f < 5; f++)
            CHECK(fabs(got.of[f][b] - first.of[f][b]) <= 1e-12 * fabs(first.of[f][b]));
    }
    tally_statistics fewer = from;
    fewer.min = NULL;
    CHECK(tally_statistics_merge(&to, &fewer, bins, &error) == TALLY_ERROR_ARGUMENT);
    tally_plan_destroy(plan);
}

/* Values of which some are infinite are merged to what they are in one call, in either order. */
static void test_infinite(tally_context *context)
{
    static const double parts[][2] = {{1, 2},         {INFINITY, 3},         {INFINITY, INFINITY},
                                      {-INFINITY, 3}, {-INFINITY, INFINITY}, {NAN, 4}};
    enum { count = sizeof parts / sizeof *parts };
    tally_plan *plan = plan_of(context, 1);
    x[0] = x[1] = x[2] = x[3] = 0.5;
    for (int i = 0; i < count * count; i++) {
        memcpy(v[0], parts[i % count], sizeof *parts);
        memcpy(v[0] + 2, parts[i / count], sizeof *parts);
        find(plan, 4, 1, NULL, &first);
        find(plan, 2, 1, NULL, &got);
        memcpy(v[0], parts[i / count], sizeof *parts);
        find(plan, 2, 1, NULL, &other);
        const tally_statistics to = fields_of(&got), from = fields_of(&other);
        CHECK(!tally_statistics_merge(&to, &from, 1, NULL) && same(&got, &first, 1));
    }
    tally_plan_destroy(plan);
}

/* Also where the weights add up to less than 0, in bins that are not grouped. */
static void test_infinite_weighted(tally_context *context)
{
    const double values[] = {INFINITY, 1}, weights[] = {1, -3};
    const tally_view view = tally_view_1d(x, TALLY_F64, 2), y = tally_view_1d(values, TALLY_F64, 2),
                     z = tally_view_1d(weights, TALLY_F64, 2);
    const tally_statistics_options options = {sizeof options, .weights = &z};
    static double mean[1100], m2[1100];
    const tally_statistics bins = {sizeof bins, .mean = mean, .m2 = m2};
    tally_plan *plan = plan_of(context, 1100);
    x[0] = x[1] = 0;
    CHECK(!tally_bin_statistics(plan, &view, &y, 1, &options, &bins, NULL, NULL));
    CHECK(mean[0] == -INFINITY && isnan(m2[0]));
    tally_plan_destroy(plan);
}

static void test_refusals(tally_context *context)
{
    double y[4] = {0};
    const tally_view view = tally_view_1d(x, TALLY_F64, 4), values = tally_view_1d(y, TALLY_F64, 4),
                     shorter = tally_view_1d(y, TALLY_F64, 3);
    tally_plan_options o = help_options(TALLY_F64, tally_axis_even(3, 0, 1));
    tally_plan *plan = help_plan(context, &o);
    const tally_statistics bins = into(&got);
    tally_statistics_options options = TALLY_STATISTICS_OPTIONS_INIT;
    const double bad = 0;
    tally_error error = {""};
#define REFUSED(status, words, ...)                                                                \
    CHECK_SAY(tally_bin_statistics(__VA_ARGS__, &error) == (status) &&                             \
                  strstr(error.message, words),                                                    \
              "%s", error.message)
    REFUSED(TALLY_ERROR_ARGUMENT, "values 0", plan, &view, &shorter, 1, NULL, &bins, NULL);
    REFUSED(TALLY_ERROR_ARGUMENT, "0 columns", plan, &view, &values, 0, NULL, &bins, NULL);
    REFUSED(TALLY_ERROR_ARGUMENT, "9 columns", plan, &view, &values, 9, NULL, &bins, NULL);
    options.limits = &bad;
    REFUSED(TALLY_ERROR_ARGUMENT, "limits[0]", plan, &view, &values, 1, &options, &bins, NULL);
    options.limits = y;
    options.weights = &values;
    REFUSED(TALLY_ERROR_UNSUPPORTED, "weights", plan, &view, &values, 1, &options, &bins, NULL);
    tally_plan_destroy(plan);
    o.weight_dtype = TALLY_F64;
    plan = help_plan(context, &o);
    REFUSED(TALLY_ERROR_ARGUMENT, "weight_dtype", plan, &view, &values, 1, NULL, &bins, NULL);
    tally_plan_destroy(plan);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)state);
    tally_context *context = help_context(2);
    test_known(context);
    test_policies(context);
    test_accuracy(context);
    test_exact(context);
    test_threads();
    test_order();
    test_many_bins(context);
    test_shapes(context);
    test_merge(context);
    test_infinite(context);
    test_infinite_weighted(context);
    test_refusals(context);
    tally_context_destroy(context);
    printf("%d checks, %d failed\n", checks, failures);
    return failures ? 1 : 0;
}
