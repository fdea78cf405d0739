/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells without a branch against bin.h's rule: random even axes, samples on and beside every edge,
 * special values, and on some axes a sweep over the floats. Axes that float32 cannot serve must be
 * refused.
 *
 *     test_float32 [SEED [STRIDE of the sweep]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "binning/float32.h"
#include "draw.h"

#include "../../common/edge_values.h"

static int failed;

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

typedef struct subject {
    ty_axis axis;
    ty_cell_map fast;
    int proved; /* 2: with ties */
} subject;

static int make(tally_axis axis, subject *s)
{
    tally_error error;
    if (ty_axis_resolve(&axis, TALLY_F64, 0, &s->axis, &error))
        return 0;
    s->proved = ty_float32_make(&s->axis, &s->fast)   ? 1
                : ty_float32_ties(&s->axis, &s->fast) ? 2
                                                      : 0;
    if (s->axis.even)
        return 1;
    ty_axis_clear(&s->axis);
    return 0;
}

static void wrong(const subject *s, const char *what, double x, ty_u32 cell)
{
    const ty_bins *b = &s->axis.bins;
    if (failed++ < 10)
        fprintf(stderr, "FAILED: %s: %u bins %.17g … %.17g%s: x %.17g: slot %u, not %u\n", what,
                b->bins, b->lo, b->hi, b->closed ? "]" : ")", x, ty_slot_of_cell(cell, b->bins),
                ty_slot_even(x, b));
}

static void check_float(const subject *s, float x)
{
    const ty_bins *b = &s->axis.bins;
    ty_u32 want = ty_cell_of_slot(ty_slot_even((double)x, b), b->bins);
    ty_u32 cell = ty_cell_f32_wide(x, b, &s->fast);
    if (cell != want)
        wrong(s, "float64 for float32", (double)x, cell);
    cell = s->proved ? ty_cell_f32(x, &s->fast) : want;
    if (cell != want)
        wrong(s, "float32", (double)x, cell);
}

static void check_double(const subject *s, double x)
{
    const ty_bins *b = &s->axis.bins;
    ty_u32 cell = ty_cell_f64(x, b, &s->fast);
    if (ty_slot_of_cell(cell, b->bins) != ty_slot_even(x, b))
        wrong(s, "float64", x, cell);
}

static void check_beside(const subject *s, double edge)
{
    float f = (float)edge;
    check_float(s, f);
    check_float(s, nextafterf(f, INFINITY));
    check_float(s, nextafterf(f, -INFINITY));
    check_double(s, edge);
    check_double(s, nextafter(edge, INFINITY));
    check_double(s, nextafter(edge, -INFINITY));
}

static void check_axis(const subject *s)
{
    static const float special[] = {0.0F,    -0.0F, INFINITY, -INFINITY, NAN,   1e-45F,
                                    -1e-45F, 3e38F, -3e38F,   1,         -1.5F, 1e-38F};
    const ty_bins *b = &s->axis.bins;
    ty_u32 step = b->bins / 3000 + 1;
    for (ty_u32 i = (ty_u32)next() % step; i <= b->bins; i += step)
        check_beside(s, ty_axis_edge(&s->axis, i));
    check_beside(s, b->lo);
    check_beside(s, b->hi);
    check_beside(s, b->lo + (double)b->bins * b->width);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        check_float(s, special[i]);
        check_double(s, (double)special[i]);
    }
    for (int i = 0; i < 500; i++) {
        double x = b->lo + (b->hi - b->lo) * (unit() * 1.2 - 0.1);
        check_float(s, (float)x);
        check_double(s, x);
        check_float(s, float_of((uint32_t)next()));
    }
}

/* The floats beside every edge. */
static void check_all_edges(const subject *s)
{
    for (ty_u32 i = 0; i <= s->axis.bins.bins; i++)
        check_beside(s, ty_axis_edge(&s->axis, i));
    check_axis(s);
}

static tally_axis random_axis(void)
{
    static const double ends[] = {0, 0, 0, 1, -1, -5, 0.1, -0.3, 100, -3.14159, 1e-3, -255};
    static const double widths[] = {1, 10, 6.28318, 255, 256, 1000, 0.7};
    double lo = next() % 2 ? ends[next() % 12] : (unit() - 0.5) * exp2((double)(next() % 20));
    double width = next() % 2 ? widths[next() % 7] : unit() * exp2((double)(next() % 40) - 20);
    uint64_t bins = next() % 3 ? 1 + next() % 300 : 1 + next() % 120000;
    if (!(next() % 4))
        lo = (double)(float)lo;
    tally_axis axis = tally_axis_even(bins, lo, lo + width);
    axis.last = next() % 3 ? TALLY_LAST_CLOSED : TALLY_LAST_OPEN;
    return axis;
}

static void check_random(int count)
{
    int proved = 0, made = 0;
    for (int i = 0; i < count; i++) {
        subject s;
        if (!make(random_axis(), &s))
            continue;
        check_axis(&s);
        made++;
        proved += s.proved > 0;
        ty_axis_clear(&s.axis);
    }
    printf("%d axes, %d proved for float32\n", made, proved);
    if (made < count / 2 || proved < made / 2) {
        fprintf(stderr, "FAILED: %d of %d axes made, %d proved\n", made, count, proved);
        failed++;
    }
}

/* Axes whose ends are next to round numbers, proved or not. */
static void check_near(int count)
{
    for (int i = 0; i < count; i++) {
        const uint64_t bins = 1 + next() % (next() % 4 ? 300 : 5000);
        subject s;
        double lo, hi;
        range_near(&state, bins, &lo, &hi);
        tally_axis axis = tally_axis_even(bins, lo, hi);
        axis.last = next() % 2 ? TALLY_LAST_CLOSED : TALLY_LAST_OPEN;
        if (!make(axis, &s))
            continue;
        check_all_edges(&s);
        ty_axis_clear(&s.axis);
    }
}

/* The axes that everyone uses are proved, and every float is right on them. */
static void sweep(uint64_t stride)
{
    const tally_axis axes[] = {tally_axis_even(100, 0, 1),    tally_axis_even(256, 0, 256),
                               tally_axis_even(1000, -5, 5),  tally_axis_even(110000, 0, 1),
                               tally_axis_integer(300, -100), tally_axis_even(56000, 0, 1)};
    for (size_t a = 0; a < sizeof axes / sizeof *axes; a++) {
        subject s;
        if (!make(axes[a], &s) || !s.proved) {
            fprintf(stderr, "FAILED: axis %zu of the sweep is not proved\n", a);
            failed++;
            continue;
        }
        for (uint64_t bits = next() % stride; bits < UINT64_C(1) << 32; bits += stride)
            check_float(&s, float_of((uint32_t)bits));
        ty_axis_clear(&s.axis);
    }
}

/*
 * Axes from zero of which some edges that should be floats came out above them. Drawn axes are so
 * once in forty, so the first ones are such axes for certain.
 */
static void check_ties(int count)
{
    static const double ends[] = {1, 256, 65536, 0.5, 1000, 3, 100};
    static const uint64_t tied[] = {64812, 92728, 100704, 104692};
    const int known = sizeof tied / sizeof *tied;
    int ties = 0, unproved = 0;
    for (int i = 0; i < count; i++) {
        subject s;
        uint64_t bins = i < known ? tied[i] : 1 + next() % 120000;
        tally_axis axis = tally_axis_even(bins, 0, ends[i < known ? i : (int)(next() % 7)]);
        axis.last = next() % 2 ? TALLY_LAST_CLOSED : TALLY_LAST_OPEN;
        if (!make(axis, &s)) {
            fprintf(stderr, "FAILED: ties: %llu bins are not even\n", (unsigned long long)bins);
            failed++;
            continue;
        }
        unproved += !s.proved;
        if (s.proved == 2 && ties++ < 40)
            check_all_edges(&s);
        ty_axis_clear(&s.axis);
    }
    printf("%d axes from zero, %d by ties, %d unproved\n", count, ties, unproved);
    if (ties < known || unproved > count / 5) {
        fprintf(stderr, "FAILED: ties: %d of %d axes, %d unproved\n", ties, count, unproved);
        failed++;
    }
}

/* One float on an axis of edges that are written down. */
static void check_on_edges(const ty_axis *axis, const ty_cell_map *fast, float x)
{
    const ty_bins *b = &axis->bins;
    const ty_u32 want = ty_cell_of_slot(ty_slot_edges((double)x, b, axis->edges), b->bins);
    const ty_u32 cell = ty_cell_f32(x, fast);
    if (cell != want && failed++ < 10)
        fprintf(stderr, "FAILED: rounded: %u bins %.17g … %.17g%s: x %.9g: cell %u, not %u\n",
                b->bins, b->lo, b->hi, b->closed ? "]" : ")", (double)x, cell, want);
}

static void check_rounded_axis(const ty_axis *axis, const ty_cell_map *fast)
{
    static const float special[] = {0.0F,    -0.0F, INFINITY, -INFINITY, NAN,   1e-45F,
                                    -1e-45F, 3e38F, -3e38F,   1,         -1.5F, 1e-38F};
    const ty_bins *b = &axis->bins;
    for (ty_u32 j = 0; j <= b->bins; j++) {
        float below = (float)axis->edges[j], above = below;
        for (int i = 0; i < 3; i++) {
            check_on_edges(axis, fast, below);
            check_on_edges(axis, fast, above);
            below = nextafterf(below, -INFINITY);
            above = nextafterf(above, INFINITY);
        }
        check_on_edges(axis, fast, (float)(axis->edges[j] + (unit() - 0.5) * b->width));
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        check_on_edges(axis, fast, special[i]);
    for (int i = 0; i < 300; i++)
        check_on_edges(axis, fast, float_of((uint32_t)next()));
}

/* Even edges rounded to float32, as NumPy's for float32 samples are. */
static void check_rounded(int count)
{
    static double edges[120002];
    int made = 0, proved = 0;
    for (int i = 0; i < count; i++) {
        const tally_axis even = random_axis();
        tally_axis axis = tally_axis_edges(even.bins, edges);
        ty_axis resolved;
        ty_cell_map fast;
        const double step = (even.hi - even.lo) / (double)even.bins;
        for (uint64_t j = 0; j <= even.bins; j++)
            edges[j] = (double)(float)(j < even.bins ? even.lo + (double)j * step : even.hi);
        axis.last = even.last;
        if (ty_axis_resolve(&axis, TALLY_F32, 0, &resolved, NULL))
            continue;
        if (!resolved.even && ty_float32_may_be_rounded(&resolved)) {
            made++;
            if (ty_float32_rounded(&resolved, &fast)) {
                proved++;
                check_rounded_axis(&resolved, &fast);
            }
        }
        ty_axis_clear(&resolved);
    }
    printf("%d axes of rounded edges, %d proved\n", made, proved);
    if (made < count / 3 || proved < made * 9 / 10) {
        fprintf(stderr, "FAILED: rounded: %d of %d axes, %d proved\n", made, count, proved);
        failed++;
    }
}

/* Axes that float32 cannot serve must not pass for proved. */
static void check_refusals(void)
{
    const tally_axis axes[] = {
        tally_axis_even(1000000, 1000, 1001), /* bins narrower than floats */
        tally_axis_even(5000000, 0, 1),       /* more bins than float32 has whole numbers */
        tally_axis_even(10, -1e-30, 1e-30),   /* near the smallest floats */
        tally_axis_even(10, 0, 1e300),
    };
    for (size_t a = 0; a < sizeof axes / sizeof *axes; a++) {
        subject s;
        if (!make(axes[a], &s) || s.proved) {
            fprintf(stderr, "FAILED: axis %zu must not be proved\n", a);
            failed++;
        } else {
            check_axis(&s);
            ty_axis_clear(&s.axis);
        }
    }
}

static void check_numbering(void)
{
    for (ty_u32 bins = 1; bins < 5; bins++) {
        for (ty_u32 cell = 0; cell < bins + TY_CELLS_EXTRA; cell++)
            failed += ty_cell_of_slot(ty_slot_of_cell(cell, bins), bins) != cell;
        failed += ty_slot_of_cell(0, bins) != bins + TY_SLOT_UNDER ||
                  ty_slot_of_cell(1, bins) != 0 ||
                  ty_slot_of_cell(bins + 1, bins) != bins + TY_SLOT_OVER ||
                  ty_slot_of_cell(bins + 2, bins) != bins + TY_SLOT_NAN;
    }
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)state);
    check_numbering();
    check_refusals();
    check_ties(300);
    check_rounded(200);
    check_random(400);
    check_near(800);
    sweep(argc > 2 ? strtoull(argv[2], NULL, 0) : 1009);
    printf(failed ? "FAILED: %d checks\n" : "all right\n", failed);
    return failed ? 1 : 0;
}
