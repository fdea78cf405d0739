/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of float weights with a limit: the same bits whatever the split, the order and the threads,
 * by every method, and those of exact arithmetic; what is no limit, and what is beyond one.
 *
 *     test_wide [SEED]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../common/splitmix.h"
#include "check.h"
#include "execute_help.h"

enum { bins = 5, most = 200000 };

__extension__ typedef __int128 whole;

static uint64_t state;
static float samples[most];
static double weights[most];
static float floats[most];

static double unit(void)
{
    return splitmix64_unit(&state);
}

/* From tiny to just below 2^exponent, of both signs. */
static void draw(int exponent)
{
    for (int i = 0; i < most; i++) {
        samples[i] = (float)(unit() * (bins + 2) - 1);
        weights[i] = ldexp(unit() * 2 - 1, exponent - (int)(splitmix64(&state) % 90));
        floats[i] = (float)weights[i];
    }
}

typedef struct sums {
    tally_wide bins[bins], flows[4];
} sums;

static tally_plan_options options_of(tally_dtype dtype, double limit)
{
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(bins, 0, bins));
    o.weight_dtype = dtype;
    o.weight_limit = limit;
    return o;
}

static void add(const tally_plan *plan, uint64_t begin, uint64_t end, sums *to)
{
    const tally_dtype dtype = tally_plan_options_get(plan)->weight_dtype;
    const tally_view view = tally_view_1d(samples + begin, TALLY_F32, end - begin);
    const void *from = dtype == TALLY_F32 ? (const void *)(floats + begin) : weights + begin;
    const tally_view w = tally_view_1d(from, dtype, end - begin);
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    how.weights = &w;
    output.counts = to->bins;
    output.flow_sums = to->flows;
    output.accumulate = 1;
    tally_status status = tally_execute(plan, &view, &how, &output, &error);
    CHECK_SAY(!status, "%s", error.message);
}

/* One call; parts that begin anywhere, each apart, added from the last; on `threads` threads. */
static sums in_parts(tally_dtype dtype, double limit, uint32_t threads, int parts,
                     const char *method)
{
    tally_context *context = help_context(threads);
    tally_plan_options o = options_of(dtype, limit);
    sums all;
    memset(&all, 0, sizeof all);
    o.method = method;
    tally_plan *plan = help_plan(context, &o);
    for (uint64_t end = most, begin; end > 0; end = begin, parts--) {
        sums part;
        memset(&part, 0, sizeof part);
        begin = parts > 1 ? splitmix64(&state) % end : 0;
        add(plan, begin, end, &part);
        tally_wide_add(all.bins, part.bins, bins);
        tally_wide_add(all.flows, part.flows, 4);
    }
    tally_plan_destroy(plan);
    tally_context_destroy(context);
    return all;
}

static void check_splits(tally_dtype dtype, int exponent)
{
    const double limit = ldexp(0.75, exponent);
    const sums one = in_parts(dtype, limit, 1, 1, NULL);
    whole exact[bins + 4] = {0};
    for (int i = 0; i < most; i++) {
        const double w = dtype == TALLY_F32 ? (double)floats[i] : weights[i];
        const int to = samples[i] < 0 ? bins : samples[i] > bins ? bins + 1 : (int)samples[i];
        exact[to == bins && samples[i] >= 0 && samples[i] <= bins ? bins - 1 : to] +=
            llrintl(ldexpl(w, 63 - exponent));
    }
    for (int b = 0; b < bins + 2; b++) {
        const tally_wide *got = b < bins ? &one.bins[b] : &one.flows[b - bins];
        double rounded = NAN;
        CHECK_SAY(got->low == (uint64_t)exact[b] && got->high == (int64_t)(exact[b] >> 64),
                  "slot %d", b);
        CHECK(!tally_wide_round(got, 1, limit, &rounded, NULL));
        CHECK_SAY(rounded == ldexp((double)exact[b], exponent - 63), "slot %d: %.17g", b, rounded);
    }
    static const char *const methods[] = {NULL, "cpu-weights", "cpu-in-place"};
    for (uint32_t i = 0; i < 3; i++) {
        const sums other = in_parts(dtype, limit, 1 + 2 * i, 1 + 5 * (int)i, methods[i]);
        CHECK_SAY(!memcmp(&one, &other, sizeof one), "%s, way %u", tally_dtype_name(dtype), i);
    }
}

/* The nearest float64 of any 128 bits, as the compiler rounds them. */
static void check_rounding(void)
{
    for (int i = 0; i < 20000; i++) {
        const int shift = (int)(splitmix64(&state) % 126);
        const uint64_t high = splitmix64(&state), low = splitmix64(&state);
        whole x = (whole)(int64_t)high * ((whole)1 << 63) + (whole)(low >> 1);
        x >>= shift;
        if (i % 4 == 0) /* near and at a tie */
            x = ((x >> 41) | 1) * ((whole)1 << 40) + (i % 8 ? 0 : i % 3 - 1);
        const tally_wide w = {(uint64_t)x, (int64_t)(x >> 64)};
        double got = NAN;
        CHECK(!tally_wide_round(&w, 1, 0.75, &got, NULL));
        CHECK_SAY(got == ldexp((double)x, -63), "%016llx%016llx: %.17g", (unsigned long long)w.high,
                  (unsigned long long)w.low, got);
    }
}

static void beyond(double w, int refused)
{
    tally_context *context = help_context(1);
    tally_plan_options o = options_of(TALLY_F64, 3);
    tally_plan *plan = help_plan(context, &o);
    const double x = 1;
    const tally_view view = tally_view_1d(&x, TALLY_F32, 1),
                     weight = tally_view_1d(&w, TALLY_F64, 1);
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    how.weights = &weight;
    if (refused) {
        EXPECT_NO_RUN(plan, &view, &how, NULL, TALLY_ERROR_DATA, "weight_limit of 3");
    } else {
        sheet s;
        tally_output output = help_sheet(&s, 0);
        CHECK_SAY(!tally_execute(plan, &view, &how, &output, NULL), "%g", w);
    }
    tally_plan_destroy(plan);
    tally_context_destroy(context);
}

static void check_refusals(void)
{
    tally_context *context = help_context(1);
    static const double limits[] = {-1, NAN, INFINITY, 1e-251};
    for (int i = 0; i < 4; i++) {
        tally_plan_options o = options_of(TALLY_F64, limits[i]);
        double to;
        EXPECT_NO_PLAN(context, &o, TALLY_ERROR_ARGUMENT, "weight_limit is");
        CHECK(tally_wide_round(&(tally_wide){1, 0}, 1, limits[i], &to, NULL) ==
              TALLY_ERROR_ARGUMENT);
    }
    tally_plan_options o = options_of(TALLY_I32, 1);
    EXPECT_NO_PLAN(context, &o, TALLY_ERROR_ARGUMENT, "f32 and f64");
    o = options_of(TALLY_F64, 1);
    o.sum_squares = 1;
    EXPECT_NO_PLAN(context, &o, TALLY_ERROR_UNSUPPORTED, "squares as weights");
    tally_context_destroy(context);
    beyond(4, 1);
    beyond(-4, 1);
    beyond(NAN, 1);
    beyond(-INFINITY, 1);
    beyond(nextafter(4, 0), 0);
    beyond(-3.5, 0);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)state);
    static const int exponents[] = {0, 11, -800, 1000};
    for (int i = 0; i < 4; i++) {
        draw(exponents[i]);
        check_splits(TALLY_F64, exponents[i]);
        if (abs(exponents[i]) < 100)
            check_splits(TALLY_F32, exponents[i]);
    }
    check_rounding();
    check_refusals();
    printf("%d checks\n", checks);
    return failures != 0;
}
