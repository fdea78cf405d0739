/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TALLY_FLOW_BIN: joint tables on random axes against cells found one by one with tally_axis_find
 * on the axes as they were asked for, by `auto`, the reference and the first OpenCL device; and
 * that results with such axes project, and are saved and read, as others are.
 *
 *     test_flow_bins [SEED]
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/io.h>
#include <time.h>

#include "check.h"
#include "draw.h"
#include "drivers.h"
#include "open_device.h"

enum { most_axes = 3, most_bins = 9, samples = 500, cases = 600, cases_on_opencl = 4 };
enum { most_cells = (most_bins + 2) * (most_bins + 2) * (most_bins + 2) };

/* Of types that float64 holds. */
static const tally_dtype dtypes[] = {TALLY_U8, TALLY_I16, TALLY_I32, TALLY_F32, TALLY_F64};

typedef union sample {
    uint8_t u8;
    int16_t i16;
    int32_t i32;
    float f32;
    double f64;
} sample;

typedef struct test_case {
    tally_plan_options options;
    double edges[most_axes][most_bins + 1];
    uint16_t categories[most_axes][256];
    unsigned char data[most_axes][samples * 8];
    double values[most_axes][samples]; /* what is in `data` */
    tally_view views[most_axes];
    uint64_t cells[most_axes]; /* bins and flow bins */
} test_case;

static uint64_t got[most_cells], wanted[most_cells];

static tally_flow some_policy(void)
{
    return below(2) ? TALLY_FLOW_BIN : below(2) ? TALLY_FLOW_COUNT : TALLY_FLOW_CLAMP;
}

static tally_axis some_axis(test_case *c, int d, tally_dtype dtype)
{
    const uint64_t bins = 1 + below(most_bins);
    const double lo = below(2) ? (double)below(50) : -100 * unit(),
                 hi = lo + (below(8) ? 1 + 200 * unit() : 1e-7);
    tally_axis axis = tally_axis_even(bins, lo, hi);
    switch (below(dtype == TALLY_U8 ? 5 : 4)) {
    case 0:
        for (uint64_t i = 0; i <= bins; i++)
            c->edges[d][i] = lo + (double)(i * i) + unit() / 2;
        axis = tally_axis_edges(bins, c->edges[d]);
        break;
    case 1:
        axis = tally_axis_log(bins, 0.01 + unit(), 2 + 200 * unit());
        break;
    case 2:
        axis = tally_axis_integer(bins, (int64_t)below(20) - 10);
        break;
    case 4:
        axis.kind = TALLY_AXIS_CATEGORY;
        axis.categories = c->categories[d];
        for (int i = 0; i < 256; i++)
            c->categories[d][i] = below(2) ? TALLY_CATEGORY_NONE : (uint16_t)below(bins);
        break;
    }
    axis.last = below(2) ? TALLY_LAST_OPEN : TALLY_LAST_CLOSED;
    axis.under = some_policy();
    axis.over = some_policy();
    if (axis.kind == TALLY_AXIS_CATEGORY && axis.under == TALLY_FLOW_BIN)
        axis.under = TALLY_FLOW_COUNT;
    return axis;
}

/* Edges, their neighbours, and anything. */
static double some_value(const tally_axis *axis, tally_dtype dtype)
{
    static const double odd[] = {-INFINITY, INFINITY, NAN, -DBL_MAX, DBL_MAX, 0};
    const double lo = tally_axis_edge(axis, 0), hi = tally_axis_edge(axis, axis->bins);
    const double edge = tally_axis_edge(axis, below(axis->bins + 1));
    const int floats = dtype >= TALLY_F32;
    switch (below(6)) {
    case 0:
        return edge;
    case 1:
        return floats ? nextafter(edge, below(2) ? INFINITY : -INFINITY) : edge + 1;
    case 2:
        return floats ? odd[below(6)] : edge - 1;
    default:
        return lo + (hi - lo) * (unit() * 1.6 - 0.3);
    }
}

/* As the type holds it. */
static double store(void *to, uint64_t i, tally_dtype dtype, double x)
{
    sample s = {.f64 = x};
    double kept = x;
    if (dtype == TALLY_U8)
        kept = s.u8 = (uint8_t)fmin(fmax(x, 0), 255);
    else if (dtype == TALLY_I16)
        kept = s.i16 = (int16_t)fmin(fmax(x, INT16_MIN), INT16_MAX);
    else if (dtype == TALLY_I32)
        kept = s.i32 = (int32_t)fmin(fmax(x, INT32_MIN), INT32_MAX);
    else if (dtype == TALLY_F32)
        kept = s.f32 = (float)fmin(fmax(x, -FLT_MAX), FLT_MAX);
    const size_t size = tally_dtype_bytes(dtype);
    if (dtype == TALLY_F32 && !isfinite(x))
        kept = s.f32 = (float)x;
    memcpy((unsigned char *)to + i * size, &s, size);
    return kept;
}

static void make_case(test_case *c)
{
    c->options = (tally_plan_options)TALLY_PLAN_OPTIONS_INIT;
    c->options.dimensions = 1 + (uint32_t)below(most_axes);
    for (uint32_t d = 0; d < c->options.dimensions; d++) {
        const tally_dtype dtype = dtypes[below(sizeof dtypes / sizeof *dtypes)];
        tally_axis *axis = &c->options.axes[d];
        *axis = some_axis(c, (int)d, dtype);
        c->options.dtypes[d] = dtype;
        c->cells[d] = axis->bins + (axis->under == TALLY_FLOW_BIN) + (axis->over == TALLY_FLOW_BIN);
        for (uint64_t i = 0; i < samples; i++)
            c->values[d][i] = store(c->data[d], i, dtype, some_value(axis, dtype));
        c->views[d] = tally_view_1d(c->data[d], dtype, samples);
    }
}

/* Element i by the axes as they were asked for. */
static void count_one(const test_case *c, uint64_t i, tally_flows *flows)
{
    uint64_t cell = 0, outside = 0;
    int nan = 0;
    for (uint32_t d = 0; d < c->options.dimensions; d++) {
        const tally_axis *axis = &c->options.axes[d];
        uint64_t slot = 0, first = axis->under == TALLY_FLOW_BIN;
        CHECK(!tally_axis_find(axis, c->values[d][i], &slot, NULL));
        nan |= slot == axis->bins + 2;
        if (slot == axis->bins && axis->under == TALLY_FLOW_BIN)
            slot = 0;
        else if (slot == axis->bins + 1 && axis->over == TALLY_FLOW_BIN)
            slot = first + axis->bins;
        else if (slot < axis->bins)
            slot += first;
        else if (!outside)
            outside = 1 + slot - axis->bins;
        cell = cell * c->cells[d] + slot;
    }
    flows->nan += (uint64_t)nan;
    flows->under += !nan && outside == 1;
    flows->over += !nan && outside == 2;
    wanted[cell < most_cells && !nan && !outside ? cell : 0] += !nan && !outside;
}

static void check_plan(const test_case *c, tally_context *context, int reference,
                       const tally_flows *flows)
{
    tally_plan *plan = NULL;
    tally_error error = {""};
    tally_flows seen;
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = got;
    output.flows = &seen;
    uint64_t cells = 1;
    for (uint32_t d = 0; d < c->options.dimensions; d++)
        cells *= c->cells[d];
    if (!CHECK_SAY(!tally_plan_create(context, &c->options, &plan, &error), "%s", error.message))
        return;
    CHECK_SAY(tally_plan_bins(plan) == cells, "%" PRIu64 " bins", tally_plan_bins(plan));
    CHECK_SAY(!(reference ? tally_execute_reference : tally_execute)(plan, c->views, NULL, &output,
                                                                     &error),
              "%s", error.message);
    CHECK_SAY(!memcmp(&seen, flows, sizeof seen), "flows %" PRIu64 " %" PRIu64 " %" PRIu64,
              seen.under, seen.over, seen.nan);
    for (uint64_t i = 0; i < cells; i++)
        if (!CHECK_SAY(got[i] == wanted[i], "cell %" PRIu64 ": %" PRIu64 ", not %" PRIu64, i,
                       got[i], wanted[i]))
            break;
    tally_plan_destroy(plan);
}

static int keep(void *user, const void *bytes, size_t size)
{
    char *text = user;
    const size_t length = strlen(text);
    if (length + size >= 100000)
        return 1;
    memcpy(text + length, bytes, size);
    text[length + size] = 0;
    return 0;
}

/* 3 × 2 bins; the flows of each axis are the ends of its projection, from a saved result too. */
static void check_result(tally_context *context)
{
    static const float x[] = {-1, 0, 1, 3, 3.5f, 1, 9, -2}, y[] = {0, 5, 1, 2, -7, -1, 9, 2};
    static const uint64_t of_x[] = {2, 1, 2, 0, 3}, of_y[] = {2, 1, 1, 4};
    static char text[100000];
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    tally_plan *plan = NULL;
    tally_result *result = NULL, *saved = NULL, *projected = NULL;
    tally_error error = {""};
    options.dimensions = 2;
    options.axes[0] = tally_axis_even(3, 0, 3);
    options.axes[0].last = TALLY_LAST_OPEN;
    options.axes[1] = tally_axis_integer(2, 0);
    for (int d = 0; d < 2; d++) {
        options.axes[d].under = options.axes[d].over = TALLY_FLOW_BIN;
        options.dtypes[d] = TALLY_F32;
    }
    const tally_view views[] = {tally_view_1d(x, TALLY_F32, 8), tally_view_1d(y, TALLY_F32, 8)};
    CHECK_SAY(!tally_plan_create(context, &options, &plan, &error) &&
                  !tally_result_create(plan, 1, NULL, &result, &error),
              "%s", error.message);
    const tally_output output = tally_result_output(result);
    CHECK_SAY(!tally_execute(plan, views, NULL, &output, &error), "%s", error.message);
    const tally_result *results[] = {result};
    CHECK_SAY(!tally_result_write(results, 1, TALLY_FORMAT_JSON, NULL, keep, text, &error) &&
                  !tally_result_parse(text, strlen(text), "saved", 0, &saved, &error) &&
                  !tally_result_merge(saved, result, &error),
              "%s", error.message);
    for (uint32_t d = 0; d < 2; d++) {
        const uint64_t *sums = d ? of_y : of_x, n = d ? 4 : 5;
        CHECK_SAY(!tally_result_project(saved, &d, 1, &projected, &error), "%s", error.message);
        const uint64_t *counts = tally_result_counts(projected, 0);
        for (uint64_t i = 0; i < n; i++)
            CHECK_SAY(counts[i] == 2 * sums[i], "axis %u, bin %" PRIu64 ": %" PRIu64, d, i,
                      counts[i]);
        tally_result_destroy(projected);
    }
    text[0] = 0;
    tally_write_options how = TALLY_WRITE_OPTIONS_INIT;
    how.ascii = 1;
    CHECK(!tally_result_project(result, (uint32_t[]){0}, 1, &projected, &error));
    results[0] = projected;
    CHECK_SAY(!tally_result_write(results, 1, TALLY_FORMAT_TABLE, &how, keep, text, &error) &&
                  strstr(text, "(-inf,  0)") && strstr(text, "[ 3, inf)"),
              "\n%s", text);
    tally_result_destroy(projected);
    tally_result_destroy(saved);
    tally_result_destroy(result);
    tally_plan_destroy(plan);
}

static void check_refused(tally_context *context, tally_axis axis, tally_dtype dtype,
                          const char *words)
{
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    tally_plan *plan = NULL;
    tally_error error = {""};
    options.axes[0] = axis;
    options.dtypes[0] = dtype;
    CHECK_SAY(tally_plan_create(context, &options, &plan, &error) && strstr(error.message, words),
              "\"%s\" has no \"%s\"", error.message, words);
    tally_plan_destroy(plan);
}

static void check_refusals(tally_context *context)
{
    uint16_t categories[256] = {0};
    uint64_t counts[3];
    double edges[4];
    tally_error error = {""};
    tally_axis axis = tally_axis_even(1, -DBL_MAX / 2, 0);
    axis.under = axis.over = TALLY_FLOW_BIN;
    axis.lo = -0x1p60;
    axis.hi = -0x1p59;
    check_refused(context, axis, TALLY_I64, "below 2^53");
    axis.lo = -DBL_MAX;
    axis.hi = 0;
    check_refused(context, axis, TALLY_F64, "takes what is below");
    axis.lo = 0;
    axis.hi = DBL_MAX;
    check_refused(context, axis, TALLY_F64, "takes what is above");
    axis.hi = 1;
    axis.bins = UINT64_C(1) << 31;
    check_refused(context, axis, TALLY_F64, "at most 2^31");
    axis.bins = 3;
    CHECK(!tally_axis_edges_get(&axis, edges, &error) && edges[0] == 0 && edges[3] == 1);
    CHECK(tally_histogram(edges, TALLY_F64, 4, &axis, counts, NULL, &error) ==
              TALLY_ERROR_ARGUMENT &&
          strstr(error.message, "flow bins"));
    axis.nan = TALLY_FLOW_BIN;
    check_refused(context, axis, TALLY_F64, "NaN");
    axis.nan = TALLY_FLOW_COUNT;
    axis.kind = TALLY_AXIS_CATEGORY;
    axis.categories = categories;
    check_refused(context, axis, TALLY_U8, "below categories");
    axis = tally_axis_integer(3, -(INT64_C(1) << 53));
    axis.under = TALLY_FLOW_BIN;
    check_refused(context, axis, TALLY_I32, "2^53");
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    static test_case c;
    tally_context *cpu = NULL, *device = open_device("opencl");
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    options.device = TALLY_DEVICE_CPU;
    options.threads = 1;
    printf("seed %" PRIu64 "\n", seed);
    state = seed;
    if (!CHECK(!tally_context_create(&options, &cpu, NULL)))
        return 1;
    for (int i = 0; i < cases; i++) {
        tally_flows flows = {0, 0, 0, 0};
        make_case(&c);
        memset(wanted, 0, sizeof wanted);
        for (uint64_t e = 0; e < samples; e++)
            count_one(&c, e, &flows);
        check_plan(&c, cpu, 0, &flows);
        check_plan(&c, cpu, 1, &flows);
        if (device && i < cases_on_opencl)
            check_plan(&c, device, 0, &flows);
    }
    check_result(cpu);
    check_refusals(cpu);
    tally_context_destroy(device);
    tally_context_destroy(cpu);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
