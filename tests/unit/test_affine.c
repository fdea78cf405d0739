/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line of 16-bit samples: on random and on everyday axes every one of the 65536 values, against
 * the slow reference; or two lines (ty_cell_exceptions), or one and ties (ty_lowered). Axes that
 * everyone uses must be proved.
 *
 *     test_affine [SEED]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "binning/affine.h"
#include "draw.h"

#include "../../common/edge_values.h"

enum { values = 65536, most_bins = 70000 };

static const tally_dtype dtypes[] = {TALLY_U16, TALLY_I16, TALLY_F16, TALLY_BF16};

static int failed;
static tally_context *context;
static uint16_t raw[values];

static float decode(tally_dtype dtype, uint16_t bits)
{
    float sign = bits & 0x8000 ? -1.0F : 1.0F;
    if (dtype == TALLY_BF16) {
        uint32_t word = (uint32_t)bits << 16;
        float value;
        memcpy(&value, &word, sizeof value);
        return value;
    }
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    if (exponent == 31)
        return mantissa ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexpf((float)(mantissa + 1024), exponent - 25)
                            : ldexpf((float)mantissa, -24));
}

static ty_u32
    owner[2 * most_bins]; /* of each cell of ty_cell_exceptions, a cell of ty_cell_affine */

/* Fills it; 0 when a cell has two owners. */
static int fill_owners(const ty_axis *axis, const ty_cell_map *fast)
{
    memset(owner, 0xff, sizeof owner);
    for (ty_u32 cell = 0; cell <= fast->bins + 1; cell++) {
        ty_u32 from, n = ty_exceptions_parts(cell, &axis->bins, fast, &from);
        for (ty_u32 i = from; i < from + n; i++) {
            if (i > fast->bins + fast->exceptions + 1 || owner[i] != UINT32_MAX)
                return 0;
            owner[i] = cell;
        }
    }
    return 1;
}

static ty_u32 cell_of(tally_dtype dtype, uint16_t bits, const ty_cell_map *fast)
{
    if (fast->exceptions)
        return owner[ty_cell_exceptions(dtype == TALLY_I16 ? bits ^ 0x8000u : bits, fast)];
    if (dtype == TALLY_U16)
        return ty_cell_affine(bits, fast);
    if (dtype == TALLY_I16)
        return ty_cell_affine(bits ^ 0x8000u, fast);
    return ty_cell_affine_float(decode(dtype, bits), fast);
}

static void wrong(const char *what, tally_dtype dtype, const tally_axis *axis)
{
    if (failed++ < 10)
        fprintf(stderr, "FAILED: %s %s: %llu bins %.17g … %.17g%s\n", what, tally_dtype_name(dtype),
                (unsigned long long)axis->bins, axis->lo, axis->hi,
                axis->last == TALLY_LAST_OPEN ? ")" : "]");
}

/* What the reference counts of values [from, to): bins, then under, over, NaN. */
static int reference(tally_plan *plan, tally_dtype dtype, uint64_t bins, uint64_t *counts)
{
    tally_view view = tally_view_1d(raw, dtype, values);
    tally_output out = TALLY_OUTPUT_INIT;
    tally_flows flows;
    tally_error error;
    memset(counts, 0, (bins + TY_CELLS_EXTRA) * sizeof *counts);
    out.counts = counts + 1;
    out.flows = &flows;
    if (tally_execute_reference(plan, &view, NULL, &out, &error))
        return 0;
    counts[0] = flows.under;
    counts[bins + 1] = flows.over;
    counts[bins + 2] = flows.nan;
    return 1;
}

/* Values in the order of numbers go to cells that never fall; so equal counts are equal cells. */
static int rises(tally_dtype dtype, const ty_cell_map *fast)
{
    ty_u32 before = 0;
    for (int k = 0; k < values; k++) {
        int lower = k < 32768; /* floats: negative ones are numbered from zero down */
        uint16_t bits = (uint16_t)(dtype == TALLY_U16   ? k
                                   : dtype == TALLY_I16 ? k ^ 0x8000
                                   : lower              ? 65535 - k
                                                        : k - 32768);
        if (dtype >= TALLY_F16 && isnan(decode(dtype, bits)))
            continue;
        ty_u32 cell = cell_of(dtype, bits, fast);
        if (cell < before)
            return 0;
        before = cell;
    }
    return 1;
}

/* How an axis was proved. */
enum { unproved, by_line, by_split, by_ties = 4 };

static int prove(const ty_axis *axis, ty_cell_map *fast, int may)
{
    if ((may & by_line) && ty_affine16_make(axis, fast))
        return fast->tie != 0 ? by_ties : by_line;
    if ((may & by_split) && ty_affine16_exceptions(axis, fast, most_bins))
        return by_split;
    fast->exceptions = 0;
    return unproved;
}

/* How the axis was proved, of the ways that it may be, if it could be made. */
static int check(tally_axis axis, tally_dtype dtype, int may, int *made)
{
    static uint64_t want[most_bins + TY_CELLS_EXTRA], got[most_bins + TY_CELLS_EXTRA];
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    ty_axis resolved;
    ty_cell_map fast;
    o.axes[0] = axis;
    o.dtypes[0] = dtype;
    memset(&fast, 0, sizeof fast);
    if (ty_axis_resolve(&axis, dtype, 0, &resolved, NULL))
        return 0;
    int proved = 0;
    if (resolved.even && !tally_plan_create(context, &o, &plan, NULL)) {
        uint64_t bins = resolved.bins.bins;
        ++*made;
        proved = prove(&resolved, &fast, may);
        if (proved == by_split && !fill_owners(&resolved, &fast))
            wrong("a cell of two bins,", dtype, &axis);
        memset(got, 0, sizeof got);
        for (int i = 0; proved && i < values; i++) {
            ty_u32 cell = cell_of(dtype, raw[i], &fast);
            if (cell < bins + TY_CELLS_EXTRA)
                got[cell]++;
        }
        if (proved &&
            (!reference(plan, dtype, bins, want) ||
             memcmp(got, want, (bins + TY_CELLS_EXTRA) * sizeof *got) || !rises(dtype, &fast)))
            wrong("counts differ,", dtype, &axis);
    }
    tally_plan_destroy(plan);
    ty_axis_clear(&resolved);
    return proved;
}

static tally_axis random_axis(tally_dtype dtype)
{
    static const double ends[] = {0, 0, 1, -1, -5, 0.1, 100, -3.14159, 1000, -32768, -255, 4096};
    static const double widths[] = {1, 10, 255, 256, 1000, 1023, 4095, 4096, 65535, 65536};
    double lo = next() % 2 ? ends[next() % 12] : (unit() - 0.5) * exp2((double)(next() % 18));
    double width = next() % 2 ? widths[next() % 10] : unit() * exp2((double)(next() % 18));
    uint64_t bins = next() % 3 ? 1 + next() % 300 : 1 + next() % 60000;
    if (dtype < TALLY_F16 && next() % 2) { /* whole ends, as a range that was found has */
        lo = floor(lo);
        width = ceil(width);
    }
    if (dtype < TALLY_F16 && (double)bins > width)
        bins = 1 + bins % (uint64_t)(width + 1);
    tally_axis axis = tally_axis_even(bins, lo, lo + width);
    axis.last = next() % 3 ? TALLY_LAST_CLOSED : TALLY_LAST_OPEN;
    return axis;
}

static void check_random(int count)
{
    for (int d = 0; d < 4; d++) {
        int made = 0, proved = 0;
        clock_t begin = clock();
        for (int i = 0; i < count; i++)
            proved +=
                check(random_axis(dtypes[d]), dtypes[d], by_line | by_split, &made) != unproved;
        printf("%s: %d axes, %d proved, %.2f s\n", tally_dtype_name(dtypes[d]), made, proved,
               (double)(clock() - begin) / CLOCKS_PER_SEC);
        if (made < count / 2 || proved < made / 2) {
            fprintf(stderr, "FAILED: %s: %d axes of %d, %d proved\n", tally_dtype_name(dtypes[d]),
                    made, count, proved);
            failed++;
        }
    }
}

/* Ends next to round numbers, proved or not. */
static void check_near(int count)
{
    for (int i = 0; i < count; i++) {
        const tally_dtype dtype = dtypes[i % 4];
        const uint64_t bins = 1 + next() % 1000;
        double lo, hi;
        int made = 0;
        range_near(&state, bins, &lo, &hi);
        tally_axis axis = tally_axis_even(bins, lo, hi);
        axis.last = next() % 2 ? TALLY_LAST_CLOSED : TALLY_LAST_OPEN;
        check(axis, dtype, by_line | by_split, &made);
    }
}

static tally_axis closed(uint64_t bins, double lo, double hi)
{
    tally_axis axis = tally_axis_even(bins, lo, hi);
    axis.last = TALLY_LAST_CLOSED;
    return axis;
}

static void expect(tally_axis axis, tally_dtype dtype, int proved)
{
    int made = 0;
    if (check(axis, dtype, by_line | by_split, &made) != proved || !made)
        wrong(proved ? "not proved," : "must not be proved,", dtype, &axis);
}

/* The axes that everyone uses. */
static void check_everyday(void)
{
    static const uint64_t bins[] = {1, 2, 10, 16, 64, 100, 256, 1000, 1024, 2048, 8192, 32768};
    for (size_t i = 0; i < sizeof bins / sizeof *bins; i++) {
        const uint64_t n = bins[i];
        const tally_axis whole[] = {tally_axis_even(n, 0, 65536), closed(n, 0, 65535),
                                    tally_axis_even(n, 0, 60000), closed(n, 3, 60002)};
        const tally_axis real[] = {closed(n, 0, 1), tally_axis_even(n, 0, 1), closed(n, -5, 5),
                                   closed(n, -1, 1), closed(n, 0.25, 1000)};
        for (int a = 0; a < 4; a++) {
            tally_axis low = whole[a];
            low.lo -= 32768;
            low.hi -= 32768;
            expect(whole[a], TALLY_U16, 1);
            expect(low, TALLY_I16, 1);
        }
        expect(tally_axis_integer(n, 0), TALLY_U16, 1);
        expect(tally_axis_integer(n, -100), TALLY_I16, 1);
        for (int a = 0; n <= 2048 && a < 5; a++) {
            expect(real[a], TALLY_F16, 1);
            expect(real[a], TALLY_BF16, 1);
        }
    }
    expect(tally_axis_even(56000, 0, 60000), TALLY_U16, 1);
    expect(closed(56000, 0, 65535), TALLY_U16, 1);
    expect(tally_axis_integer(65536, 0), TALLY_U16, 1);
    expect(tally_axis_integer(65536, -32768), TALLY_I16, 1);
    /* Axes that lie beside the values, and ends that are no values. */
    expect(closed(10, 1e5, 2e5), TALLY_U16, 1);
    expect(closed(10, -1e6, -1e5), TALLY_I16, 1);
    expect(closed(7, -1e6, 1e6), TALLY_I16, 1);
}

/* Edges that are integers but for rounding, some above themselves. */
static void check_exceptions(int count)
{
    static const double spans[] = {65536, 60000, 32768, 1000, 65535, 255};
    int made = 0, proved = 0;
    ty_axis whole;
    ty_cell_map fast = {0};
    tally_axis all = tally_axis_even(56000, 0, 65536);
    if (ty_axis_resolve(&all, TALLY_U16, 0, &whole, NULL) ||
        !ty_affine16_exceptions(&whole, &fast, most_bins) || fast.exception_shift != 10)
        wrong("not by shifting,", TALLY_U16, &all);
    ty_axis_clear(&whole);
    expect(tally_axis_even(56000, 0, 65536), TALLY_U16, by_split);
    expect(closed(56000, 0, 65536), TALLY_U16, by_split);
    expect(tally_axis_even(50000, -32768, 32768), TALLY_I16, by_split);
    expect(tally_axis_even(2000, 0, 1000), TALLY_U16, unproved); /* narrower than integers */
    /* … and where a line would do. */
    for (int i = 0; i < count; i++) {
        const tally_dtype dtype = dtypes[next() % 2];
        const double span = spans[next() % 6], least = dtype == TALLY_I16 ? -32768 : 0;
        const double lo = least + (next() % 2 ? 0 : (double)(next() % 3000) - 1000);
        tally_axis axis = tally_axis_even(1 + next() % (uint64_t)span, lo, lo + span);
        axis.last = next() % 2 ? TALLY_LAST_CLOSED : TALLY_LAST_OPEN;
        proved += check(axis, dtype, by_split, &made) == by_split;
    }
    printf("exceptions: %d axes, %d proved\n", made, proved);
    if (proved < count / 4) {
        fprintf(stderr, "FAILED: exceptions: %d of %d proved\n", proved, count);
        failed++;
    }
}

/* Floats that should be edges, some of which float64 has above them. */
static void check_ties(void)
{
    static const uint64_t bins[] = {56000, 50000, 14000, 12000};
    static const double ends[] = {1, 2, 0.5, 64};
    int ties = 0;
    for (int i = 0; i < 32; i++) {
        const double hi = ends[i / 4 % 4];
        const tally_axis axis =
            i / 16 ? closed(bins[i % 4], 0, hi) : tally_axis_even(bins[i % 4], 0, hi);
        for (int d = 2; d < 4; d++) {
            int made = 0;
            const int proved = check(axis, dtypes[d], by_line, &made);
            if (!proved)
                wrong("not proved,", dtypes[d], &axis);
            ties += proved == by_ties;
        }
    }
    expect(tally_axis_even(56000, 0, 1), TALLY_F16, by_ties);
    expect(closed(56000, 0, 1), TALLY_BF16, by_ties);
    printf("ties: %d of 64 axes\n", ties);
}

int main(int argc, char **argv)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    o.device = TALLY_DEVICE_CPU;
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)state);
    if (tally_context_create(&o, &context, NULL))
        return 1;
    for (int i = 0; i < values; i++)
        raw[i] = (uint16_t)i;
    check_everyday();
    check_exceptions(60);
    check_ties();
    check_random(100);
    check_near(80);
    tally_context_destroy(context);
    printf(failed ? "FAILED: %d checks\n" : "all right\n", failed);
    return failed ? 1 : 0;
}
