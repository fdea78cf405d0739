/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ty_cell_binary and ty_cell_whole against the rule (bin.h). Floats on random axes whose edges are
 * multiples of a power of two: every kind of float, edges and their neighbours; in the form for
 * devices too, whose rounding is set for it. Integers on any axes.
 *
 *     test_affine32 [SEED]
 */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "binning/affine.h"
#include "draw.h"

#include "../../common/edge_values.h"

enum { axes = 3000, samples = 400 };

/* As fma.rm and min.NaN find it. */
static ty_u32 on_device(float x, const ty_cell_map *f)
{
    volatile float v = x == f->end ? f->within : x;
    int32_t cell, most = (int32_t)f->bins + 2;
    v = v > f->most ? f->most : v;
    fesetround(FE_DOWNWARD);
    volatile float sum = fmaf(v, f->slope, f->phase);
    fesetround(FE_TONEAREST);
    float got = sum;
    memcpy(&cell, &got, sizeof cell);
    cell = isnan(x) || cell > most ? most : cell;
    return cell > 0 ? (ty_u32)cell : 0;
}

static float any_float(void)
{
    uint32_t bits = (uint32_t)next();
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float sample(const ty_bins *b)
{
    static const float special[] = {0.0F,    -0.0F,    INFINITY, -INFINITY,    NAN,
                                    FLT_MAX, -FLT_MAX, FLT_MIN,  FLT_TRUE_MIN, -FLT_TRUE_MIN};
    const ty_u32 at = (ty_u32)(next() % (b->bins + 1));
    float edge = (float)(at == b->bins ? b->hi : b->lo + (double)at * b->width);
    switch (next() % 6) {
    case 0:
        return any_float();
    case 1:
        return special[next() % 10];
    case 2:
        return edge;
    case 3:
        return nextafterf(edge, INFINITY);
    case 4:
        return nextafterf(edge, -INFINITY);
    default:
        return (float)(b->lo + unit() * (b->hi - b->lo));
    }
}

/* As sample.h finds it, and what becomes of a split. */
static ty_u32 whole_cell(tally_dtype dtype, double x, const ty_bins *b, const ty_cell_map *f)
{
    int64_t least = dtype == TALLY_I32 ? (int32_t)f->least : (int64_t)f->least;
    int64_t most = dtype == TALLY_I32 ? (int32_t)f->most_whole : (int64_t)f->most_whole;
    int64_t value = (int64_t)x, held = value < least ? least : value > most ? most : value;
    ty_u32 cell = ty_cell_whole((ty_u32)held - f->base, f), bin = cell;
    if (!f->exceptions)
        return cell;
    cell += (ty_u32)(held >> f->exception_shift);
    if (ty_exceptions_cell(cell, f) != UINT32_MAX)
        return ty_exceptions_cell(cell, f);
    return ty_exception((cell - f->phase_edge - 1) / (f->every + 1), b, f, &bin) == cell
               ? ty_exceptions_cell(bin, f)
               : UINT32_MAX;
}

static double whole_sample(tally_dtype dtype, const ty_bins *b, const ty_cell_map *f)
{
    const double least = dtype == TALLY_I32 ? -0x1p31 : 0, above = least + 0x1p32;
    double x;
    do {
        double edge =
            floor(b->lo + (double)(next() % (b->bins + 1)) * b->width) + (double)(next() % 4) - 1;
        double ends = next() % 2 ? least : above - 1;
        x = next() % 8 == 0 ? ends : next() % 2 ? edge : least + (double)(uint32_t)next();
        if (f->exceptions && next() % 2)
            x = floor(ldexp(x, -(int)f->exception_shift)) * ldexp(1, (int)f->exception_shift) +
                (double)(next() % 3) - 1;
    } while (x < least || x >= above);
    return x;
}

/* Draws a sample; 1 when it is not in the rule's cell, which is said if `tell`. */
static int draw_wrong(tally_dtype dtype, const ty_bins *b, const ty_cell_map *f, int tell)
{
    const int real = dtype == TALLY_F32;
    double x = real ? (double)sample(b) : whole_sample(dtype, b, f);
    ty_u32 want = ty_cell_of_slot(ty_slot_even(x, b), b->bins);
    ty_u32 got = real ? ty_cell_binary((float)x, f) : whole_cell(dtype, x, b, f);
    ty_u32 there = real ? on_device((float)x, f) : got;
    if (got == want && there == want)
        return 0;
    if (tell)
        fprintf(stderr, "FAILED: %s, %u bins %.17g … %.17g: %.17g in cell %u, not %u and %u\n",
                tally_dtype_name(dtype), b->bins, b->lo, b->hi, x, want, got, there);
    return 1;
}

/* 1 when the axis is served, 2 with exceptions. */
static int check_axis(tally_dtype dtype, tally_axis axis, tally_last_edge last, int *failed)
{
    ty_axis resolved;
    ty_cell_map fast;
    axis.last = last;
    memset(&fast, 0, sizeof fast);
    if (ty_axis_resolve(&axis, dtype, 0, &resolved, NULL))
        return 0;
    int served = ty_affine32_make(&resolved, &fast)                  ? 1
                 : ty_affine32_exceptions(&resolved, &fast, 1 << 20) ? 2
                                                                     : 0;
    for (ty_u32 cell = 0; served == 2 && cell <= fast.bins + 1; cell++) {
        if (ty_exceptions_cell(ty_exceptions_number(cell, &fast), &fast) != cell &&
            (*failed)++ < 10)
            fprintf(stderr, "FAILED: cell %u of %u is not its own\n", cell, fast.bins);
    }
    for (int i = 0; served && i < samples; i++)
        *failed += draw_wrong(dtype, &resolved.bins, &fast, *failed < 10);
    ty_axis_clear(&resolved);
    return served;
}

static int check_int(tally_dtype dtype, double lo, uint64_t bins, double width,
                     tally_last_edge last, int *failed)
{
    return check_axis(dtype, tally_axis_even(bins, lo, lo + width * (double)bins), last, failed);
}

/* lo and hi as multiples of 2^-down. */
static int check(int64_t first, uint64_t bins, int down, tally_last_edge last, int *failed)
{
    return check_axis(TALLY_F32,
                      tally_axis_even(bins, ldexp((double)first, -down),
                                      ldexp((double)first + (double)bins, -down)),
                      last, failed);
}

int main(int argc, char **argv)
{
    int failed = 0, served = 0;
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)state);
    for (int i = 0; i < axes; i++) {
        int64_t first = (int64_t)(next() % (1 << (1 + next() % 24)));
        uint64_t bins = 1 + next() % (1u << (next() % 25));
        first = next() % 3 == 0 ? 0 : next() % 2 ? first : -first;
        served += check(first, bins, (int)(next() % 60),
                        next() % 2 ? TALLY_LAST_CLOSED : TALLY_LAST_OPEN, &failed);
    }
    int ints = 0, wholes = 0;
    for (int i = 0; i < axes; i++) {
        tally_dtype dtype = next() % 2 ? TALLY_I32 : TALLY_U32;
        int up = (int)(2 + next() % 24);
        uint64_t bins = 1 + next() % (UINT64_C(1) << (1 + next() % (32 - up)));
        double lo = next() % 3 ? (double)(next() >> 31 >> next() % 33) : 0, width = ldexp(1, up);
        lo -= dtype == TALLY_I32 ? 0x1p31 : 0;
        lo = next() % 4 ? lo : next() % 2 ? -100 : 0;
        const int binary = next() % 2;
        if (!binary) { /* any width; whole ends, or any */
            bins = 1 + bins % 200000;
            width = ldexp(1 + unit(), up);
            width = next() % 3 ? floor(width * (double)bins) / (double)bins : width;
            lo = next() % 8 ? lo : lo + unit();
        }
        int yes = check_int(dtype, lo, bins, width,
                            next() % 2 ? TALLY_LAST_CLOSED : TALLY_LAST_OPEN, &failed);
        ints += yes && binary;
        wholes += yes && !binary;
    }
    if (ints < axes / 8 || wholes < axes / 8 ||
        !check_int(TALLY_I32, 0, 1 << 18, 4096, TALLY_LAST_CLOSED, &failed) ||
        !check_int(TALLY_U32, 0, 1 << 20, 4096, TALLY_LAST_CLOSED, &failed) ||
        !check_int(TALLY_I32, 0, 1000, 0x1p30 / 1000, TALLY_LAST_CLOSED, &failed)) {
        fprintf(stderr, "FAILED: of integers' axes %d and %d are served\n", ints, wholes);
        failed++;
    }
    for (int i = 0; i < axes; i++) { /* ends next to round numbers, served or not */
        static const tally_dtype dtypes[] = {TALLY_I32, TALLY_U32, TALLY_F32};
        const uint64_t bins = 1 + next() % 1000;
        double lo, hi;
        range_near(&state, bins, &lo, &hi);
        check_axis(dtypes[i % 3], tally_axis_even(bins, lo, hi),
                   next() % 2 ? TALLY_LAST_CLOSED : TALLY_LAST_OPEN, &failed);
    }
    /* Edges that should be integers and came out of float64 above some of them. */
    int exceptions = 0;
    for (int i = 0; i < 200; i++) {
        static const uint64_t odd[] = {875, 625, 375, 1000, 3125, 7};
        const tally_dtype dtype = next() % 2 ? TALLY_I32 : TALLY_U32;
        const uint64_t bins = odd[next() % 6] << next() % 8;
        const double span = ldexp(1, 22 + (int)(next() % 11));
        const double lo = dtype == TALLY_U32 || next() % 2 ? 0 : next() % 2 ? -span / 2 : -0x1p31;
        exceptions += check_int(dtype, lo, bins, span / (double)bins,
                                next() % 2 ? TALLY_LAST_CLOSED : TALLY_LAST_OPEN, &failed) == 2;
    }
    if (exceptions < 20 ||
        check_int(TALLY_I32, 0, 56000, 0x1p30 / 56000, TALLY_LAST_OPEN, &failed) != 2 ||
        check_int(TALLY_U32, 0, 56000, 0x1p31 / 56000, TALLY_LAST_CLOSED, &failed) != 2) {
        fprintf(stderr, "FAILED: %d axes of 200 have exceptions\n", exceptions);
        failed++;
    }
    /* Those that many bins have; and ones that must be refused: wider than 1, too many, not of a
     * power of two. */
    for (int down = 17; down <= 23; down++) {
        if (!check(0, UINT64_C(1) << down, down, TALLY_LAST_CLOSED, &failed) ||
            !check(0, UINT64_C(1) << down, 0, TALLY_LAST_OPEN, &failed)) {
            fprintf(stderr, "FAILED: 2^%d bins are not served\n", down);
            failed++;
        }
    }
    if (check(0, 16, -1, TALLY_LAST_OPEN, &failed) ||
        check(1, UINT64_C(1) << 24, 3, TALLY_LAST_OPEN, &failed))
        failed++;
    printf("%d axes, %d, %d and %d served, %d with exceptions, %d wrong\n", 2 * axes, served, ints,
           wholes, exceptions, failed);
    return failed || served < axes / 2;
}
