/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every refusal of a call, by status and message, by the methods and by the reference: outputs stay
 * as they were. Wrong views, masks, weights and outputs; policies that fail; counters and sums that
 * would wrap.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "execute_help.h"
#include "input_help.h"

static tally_context *context;

#define ARGUMENT    TALLY_ERROR_ARGUMENT
#define UNSUPPORTED TALLY_ERROR_UNSUPPORTED
#define DATA        TALLY_ERROR_DATA

static const double samples[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 5};

static tally_plan *plan_of(tally_dtype dtype, tally_axis axis)
{
    tally_plan_options o = help_options(dtype, axis);
    return help_plan(context, &o);
}

static tally_plan *standard(void)
{
    return plan_of(TALLY_F64, tally_axis_even(10, 0, 10));
}

static void test_null(void)
{
    tally_plan *plan = standard();
    tally_view v = tally_view_1d(samples, TALLY_F64, 12);
    EXPECT_NO_RUN(NULL, &v, NULL, NULL, ARGUMENT, "plan is NULL");
    EXPECT_NO_RUN(plan, NULL, NULL, NULL, ARGUMENT, "views is NULL");
    CHECK(tally_execute(plan, &v, NULL, NULL, NULL) == ARGUMENT);
    CHECK(tally_execute_reference(plan, &v, NULL, NULL, NULL) == ARGUMENT);
    tally_plan_destroy(plan);
}

static void test_views(void)
{
    tally_plan *plan = standard();
    const tally_view good = tally_view_1d(samples, TALLY_F64, 12);
    tally_view v = good;
    v.struct_size = 4;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "view 0: struct_size is 4");
    v = good;
    v.dtype = (tally_dtype)0;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "view 0: unknown dtype 0");
    v.dtype = (tally_dtype)99;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "view 0: unknown dtype 99");
    v.dtype = TALLY_I64;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "its dtype is i64, the plan's is f64");
    v = good;
    v.channels = 2;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "it has 2 channels, the plan 1");
    v = good;
    v.data = NULL;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "data is NULL");
    v = good;
    v.device = TALLY_DEVICE_CUDA;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, UNSUPPORTED, "another device");
    v.device = (tally_device_type)77;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, UNSUPPORTED, "another device");
    tally_plan_destroy(plan);
}

/* Extents that no memory holds, with nothing behind them that could be read by mistake. */
static void test_extents(void)
{
    tally_plan *plan = standard();
    tally_view v = tally_view_1d(samples, TALLY_F64, UINT64_C(1) << 60);
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "2^62 bytes");
    v.columns = UINT64_MAX;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "2^62 bytes");
    v.columns = 12;
    v.rows = UINT64_C(1) << 58;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "2^62 bytes");
    v.rows = 2;
    v.row_stride_bytes = INT64_MIN;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "2^62 bytes");
    v = tally_view_1d(samples, TALLY_F64, UINT64_C(1) << 40);
    v.rows = UINT64_C(1) << 40;
    v.row_stride_bytes = v.column_stride_bytes = 1;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "rows * columns pass 2^64");
    v.rows = UINT64_C(1) << 14;
    v.batches = UINT64_C(1) << 20;
    v.batch_stride_bytes = 1;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "batches * elements pass 2^64");
    v.columns = v.rows = 1;
    v.batches = UINT64_C(1) << 61;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, TALLY_ERROR_MEMORY, "out of memory");
    tally_plan_destroy(plan);
}

static void test_several_views(void)
{
    tally_plan_options o = help_options(TALLY_F64, tally_axis_even(4, 0, 10));
    o.dimensions = 2;
    o.axes[1] = tally_axis_even(3, 0, 10);
    o.dtypes[1] = TALLY_F32;
    tally_plan *plan = help_plan(context, &o);
    const float second[12] = {0};
    tally_view v[2] = {tally_view_1d(samples, TALLY_F64, 12), tally_view_1d(second, TALLY_F32, 11)};
    EXPECT_NO_RUN(plan, v, NULL, NULL, ARGUMENT, "view 1: 1x1x11x1");
    v[1].columns = 6;
    v[1].rows = 2;
    EXPECT_NO_RUN(plan, v, NULL, NULL, ARGUMENT, "view 1: 1x2x6x1");
    v[1] = tally_view_1d(samples, TALLY_F64, 12);
    EXPECT_NO_RUN(plan, v, NULL, NULL, ARGUMENT, "view 1: its dtype is f64");
    v[1] = tally_view_1d(second, TALLY_F32, 12);
    v[1].struct_size++;
    EXPECT_NO_RUN(plan, v, NULL, NULL, ARGUMENT, "view 1: struct_size");
    tally_plan_destroy(plan);
}

static void test_options(void)
{
    tally_plan *plan = standard();
    const tally_view v = tally_view_1d(samples, TALLY_F64, 12);
    const unsigned char bytes[12] = {1};
    const tally_view good = tally_view_1d(bytes, TALLY_U8, 12);
    tally_view mask = good;
    tally_execute_options o = TALLY_EXECUTE_OPTIONS_INIT;
    o.struct_size = 1;
    EXPECT_NO_RUN(plan, &v, &o, NULL, ARGUMENT, "execute options: struct_size is 1");
    o.struct_size = sizeof o;
    o.stream = &mask;
    EXPECT_NO_RUN(plan, &v, &o, NULL, ARGUMENT, "stream");
    o.stream = NULL;
    o.mask = &mask;
    mask.dtype = TALLY_I8;
    EXPECT_NO_RUN(plan, &v, &o, NULL, ARGUMENT, "mask: its dtype is i8, expected u8");
    mask = good;
    mask.columns = 11;
    EXPECT_NO_RUN(plan, &v, &o, NULL, ARGUMENT, "mask: 1x1x11x1");
    mask = good;
    mask.channels = 2;
    EXPECT_NO_RUN(plan, &v, &o, NULL, ARGUMENT, "mask: 1x1x12x2");
    mask = good;
    mask.data = NULL;
    EXPECT_NO_RUN(plan, &v, &o, NULL, ARGUMENT, "mask: data is NULL");
    mask = good;
    mask.struct_size = 0;
    EXPECT_NO_RUN(plan, &v, &o, NULL, ARGUMENT, "mask: struct_size is 0");
    mask = good;
    mask.device = TALLY_DEVICE_CUDA;
    EXPECT_NO_RUN(plan, &v, &o, NULL, UNSUPPORTED, "mask: ");
    o.mask = NULL;
    o.weights = &v;
    EXPECT_NO_RUN(plan, &v, &o, NULL, ARGUMENT, "the plan has no weight_dtype");
    tally_plan_destroy(plan);
}

static void drop_squares(tally_output *output)
{
    output->sum_squares = NULL;
}

static void add_squares(tally_output *output)
{
    output->sum_squares = output->counts;
}

static void test_weight_views(void)
{
    tally_plan_options p = help_options(TALLY_F64, tally_axis_even(10, 0, 10));
    p.weight_dtype = TALLY_F64;
    p.sum_squares = 1;
    tally_plan *plan = help_plan(context, &p);
    const tally_view v = tally_view_1d(samples, TALLY_F64, 12);
    tally_view weights = v;
    tally_execute_options o = TALLY_EXECUTE_OPTIONS_INIT;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "no weights are given");
    EXPECT_NO_RUN(plan, &v, &o, NULL, ARGUMENT, "no weights are given");
    o.weights = &weights;
    EXPECT_NO_RUN(plan, &v, &o, drop_squares, ARGUMENT, "sum_squares is NULL");
    weights.dtype = TALLY_I64;
    EXPECT_NO_RUN(plan, &v, &o, NULL, ARGUMENT, "weights: its dtype is i64, expected f64");
    weights.dtype = TALLY_F64;
    weights.rows = 2;
    weights.columns = 6;
    EXPECT_NO_RUN(plan, &v, &o, NULL, ARGUMENT, "weights: 1x2x6x1");
    weights = v;
    weights.device = TALLY_DEVICE_OPENCL;
    EXPECT_NO_RUN(plan, &v, &o, NULL, UNSUPPORTED, "weights: ");
    tally_plan_destroy(plan);
}

static void wrong_size(tally_output *output)
{
    output->struct_size = 2;
}

static void no_counts(tally_output *output)
{
    output->counts = NULL;
}

static void on_device(tally_output *output)
{
    output->on_device = 1;
}

static void accumulate(tally_output *output)
{
    output->accumulate = 1;
}

static void test_outputs(void)
{
    tally_plan *plan = standard();
    const tally_view v = tally_view_1d(samples, TALLY_F64, 12);
    EXPECT_NO_RUN(plan, &v, NULL, wrong_size, ARGUMENT, "output: struct_size is 2");
    EXPECT_NO_RUN(plan, &v, NULL, no_counts, ARGUMENT, "output: counts is NULL");
    EXPECT_NO_RUN(plan, &v, NULL, on_device, ARGUMENT, "device memory");
    EXPECT_NO_RUN(plan, &v, NULL, add_squares, ARGUMENT, "sum_squares is given");
    tally_plan_destroy(plan);
}

/* One policy that fails: by the method chosen, by each other one, with and without a mask. */
static void flow_fails(tally_axis axis, double bad, const char *words)
{
    double x[7] = {1, 2, 3, 4, bad, 5, 6};
    unsigned char keep[7] = {1, 1, 1, 1, 0, 1, 1};
    tally_view v = tally_view_1d(x, TALLY_F64, 7), mask = tally_view_1d(keep, TALLY_U8, 7);
    tally_execute_options o = TALLY_EXECUTE_OPTIONS_INIT;
    tally_plan_options p = help_options(TALLY_F64, axis);
    static const char *const methods[] = {"auto", "cpu-tables", "cpu-overlap", "cpu-in-place",
                                          "serial"};
    for (int m = 0; m < 5; m++) {
        p.method = methods[m];
        tally_plan *plan = help_plan(context, &p);
        EXPECT_NO_RUN(plan, &v, NULL, NULL, DATA, words);
        EXPECT_NO_RUN(plan, &v, NULL, accumulate, DATA, words);
        sheet s;
        tally_output output = help_sheet(&s, 0);
        o.mask = &mask; /* what is masked breaks no policy */
        CHECK(tally_execute(plan, &v, &o, &output, NULL) == TALLY_OK);
        CHECK(s.flows[0].masked == 1 && s.flows[0].under + s.flows[0].over + s.flows[0].nan == 0);
        tally_plan_destroy(plan);
    }
    p.method = NULL;
    p.weight_dtype = TALLY_F64;
    tally_plan *plan = help_plan(context, &p);
    o.mask = NULL;
    o.weights = &v;
    EXPECT_NO_RUN(plan, &v, &o, NULL, DATA, words);
    tally_plan_destroy(plan);
}

static void test_flows(void)
{
    tally_axis axis = tally_axis_even(10, 0, 10);
    axis.under = TALLY_FLOW_FAIL;
    flow_fails(axis, -0.5, "1 samples are below 0");
    flow_fails(axis, -INFINITY, "1 samples are below 0");
    axis.under = TALLY_FLOW_CLAMP;
    axis.over = TALLY_FLOW_FAIL;
    flow_fails(axis, 10.5, "1 samples are above 10");
    axis.last = TALLY_LAST_OPEN;
    flow_fails(axis, 10, "1 samples are above 10");
    axis.nan = TALLY_FLOW_FAIL;
    flow_fails(axis, NAN, "1 samples are NaN");
}

/* Batch 0 is fine and batch 1 is not: neither is written. */
static void test_later_batch(void)
{
    tally_axis axis = tally_axis_even(10, 0, 10);
    axis.over = TALLY_FLOW_FAIL;
    tally_plan *plan = plan_of(TALLY_F64, axis);
    double x[6] = {1, 2, 3, 4, 5, 11};
    tally_view v = tally_view_1d(x, TALLY_F64, 3);
    v.batches = 2;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, DATA, "above 10");
    tally_plan_destroy(plan);
}

static void test_joint_flows(void)
{
    tally_plan_options o = help_options(TALLY_F64, tally_axis_even(4, 0, 10));
    o.dimensions = 2;
    o.axes[1] = tally_axis_even(3, 0, 10);
    o.dtypes[1] = TALLY_F64;
    double x[3] = {1, 2, 3}, y[3] = {1, 2, 3};
    tally_view v[2] = {tally_view_1d(x, TALLY_F64, 3), tally_view_1d(y, TALLY_F64, 3)};
    o.axes[1].over = TALLY_FLOW_FAIL;
    o.axes[1].nan = TALLY_FLOW_FAIL;
    tally_plan *plan = help_plan(context, &o);
    sheet s;
    tally_output output = help_sheet(&s, 0);
    x[0] = 11; /* the first axis only counts */
    y[1] = -1;
    CHECK(tally_execute(plan, v, NULL, &output, NULL) == TALLY_OK);
    CHECK(s.flows[0].over == 1 && s.flows[0].under == 1 && s.flows[0].nan == 0);
    y[0] = 11; /* the second one fails, though the first is outside already */
    EXPECT_NO_RUN(plan, v, NULL, NULL, DATA, "1 samples are NaN or outside");
    y[0] = NAN;
    EXPECT_NO_RUN(plan, v, NULL, NULL, DATA, "1 samples are NaN or outside");
    x[0] = NAN; /* the first one only counts it; the second still fails */
    EXPECT_NO_RUN(plan, v, NULL, NULL, DATA, "1 samples are NaN or outside");
    tally_plan_destroy(plan);
}

/* Accumulating where the counter is nearly full: `room` samples still fit, one more does not. */
static void narrow_counter(tally_counter counter, uint64_t full, unsigned room)
{
    tally_axis axis = tally_axis_even(2, 0, 10);
    axis.under = TALLY_FLOW_CLAMP;
    tally_plan_options p = help_options(TALLY_F64, axis);
    p.counter = counter;
    tally_plan *plan = help_plan(context, &p);
    double x[8] = {-1, 1, 2, 3, -2, 0, 1, 2};
    for (int reference = 0; reference < 2; reference++) {
        sheet s, before;
        tally_output output = help_sheet(&s, 0);
        tally_error error = {""};
        output.accumulate = 1;
        if (counter == TALLY_COUNTER_U32)
            s.counts.u32[0] = (uint32_t)full;
        else
            s.counts.u64[0] = full;
        memset(s.flows, 0, sizeof s.flows);
        before = s;
        tally_view v = tally_view_1d(x, TALLY_F64, room + 1);
        tally_status status = reference ? tally_execute_reference(plan, &v, NULL, &output, &error)
                                        : tally_execute(plan, &v, NULL, &output, &error);
        CHECK(status == DATA && !memcmp(&s, &before, sizeof s));
        CHECK_SAY(strstr(error.message, "bin 0") != NULL, "%s", error.message);
        v.columns = room;
        status = reference ? tally_execute_reference(plan, &v, NULL, &output, &error)
                           : tally_execute(plan, &v, NULL, &output, &error);
        CHECK(status == TALLY_OK);
        CHECK((counter == TALLY_COUNTER_U32 ? s.counts.u32[0] : s.counts.u64[0]) == full + room);
    }
    tally_plan_destroy(plan);
}

/* 2^32 samples could pass a u32 counter; nothing is read to say so. */
static void test_u32(void)
{
    tally_plan_options p = help_options(TALLY_F64, tally_axis_even(2, 0, 10));
    p.counter = TALLY_COUNTER_U32;
    tally_plan *plan = help_plan(context, &p);
    tally_view v = tally_view_1d(samples, TALLY_F64, UINT64_C(1) << 16);
    v.column_stride_bytes = v.row_stride_bytes = 1;
    v.rows = UINT64_C(1) << 16;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, UNSUPPORTED, "u32 counter");
    tally_plan_destroy(plan);
    narrow_counter(TALLY_COUNTER_U32, UINT32_MAX - 3, 3);
    narrow_counter(TALLY_COUNTER_U64, UINT64_MAX - 4, 4);
}

static tally_plan *weighted(tally_dtype dtype, int clamp)
{
    tally_axis axis = tally_axis_even(10, 0, 10);
    axis.under = axis.over = clamp ? TALLY_FLOW_CLAMP : TALLY_FLOW_COUNT;
    tally_plan_options p = help_options(TALLY_F64, axis);
    p.weight_dtype = dtype;
    return help_plan(context, &p);
}

static void test_sums(void)
{
    int64_t w[4] = {INT64_MAX, 1, 0, 0};
    uint64_t u[4] = {UINT64_C(1) << 63, 0, 0, 0};
    double x[4] = {5, 5, 1, 2};
    tally_view v = tally_view_1d(x, TALLY_F64, 4), weights = tally_view_1d(w, TALLY_I64, 4);
    tally_view unsigned_weights = tally_view_1d(u, TALLY_U64, 4);
    tally_execute_options o = TALLY_EXECUTE_OPTIONS_INIT;
    o.weights = &weights;
    tally_plan *plan = weighted(TALLY_I64, 0), *clamping = weighted(TALLY_I64, 1),
               *wide = weighted(TALLY_U64, 0);
    EXPECT_NO_RUN(plan, &v, &o, NULL, DATA, "int64");
    w[0] = INT64_MIN;
    w[1] = -1;
    EXPECT_NO_RUN(plan, &v, &o, NULL, DATA, "int64");
    w[0] = INT64_MAX;
    w[1] = 1;
    x[0] = 9; /* two bins now, until the second is clamped into the first */
    x[1] = 11;
    EXPECT_NO_RUN(clamping, &v, &o, NULL, DATA, "int64");
    x[0] = 0;
    x[1] = -1;
    EXPECT_NO_RUN(clamping, &v, &o, NULL, DATA, "int64");
    o.weights = &unsigned_weights;
    EXPECT_NO_RUN(wide, &v, &o, NULL, DATA, "int64");
    sheet s;
    tally_output output = help_sheet(&s, 0);
    u[0]--;
    CHECK(tally_execute(wide, &v, &o, &output, NULL) == TALLY_OK);
    CHECK(s.counts.i64[0] == INT64_MAX && s.counts.i64[1] == 0);
    memset(&s, 0, sizeof s);
    s.counts.i64[0] = 1;
    output.accumulate = 1;
    CHECK(tally_execute(wide, &v, &o, &output, NULL) == DATA);
    CHECK(s.counts.i64[0] == 1);
    s.counts.i64[0] = -1;
    CHECK(tally_execute(wide, &v, &o, &output, NULL) == TALLY_OK);
    CHECK(s.counts.i64[0] == INT64_MAX - 1);
    tally_plan_destroy(plan);
    tally_plan_destroy(clamping);
    tally_plan_destroy(wide);
}

/* Weights of samples that no bin gets may be anything. */
static void test_uncounted_weights(void)
{
    int64_t w[8] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 5};
    double x[8] = {NAN, NAN, -1, -1, 11, 11, 3, 3};
    unsigned char keep[8] = {1, 1, 1, 1, 1, 1, 0, 1};
    tally_view v = tally_view_1d(x, TALLY_F64, 8), weights = tally_view_1d(w, TALLY_I64, 8),
               mask = tally_view_1d(keep, TALLY_U8, 8);
    tally_execute_options o = TALLY_EXECUTE_OPTIONS_INIT;
    tally_plan *plan = weighted(TALLY_I64, 0);
    tally_error error = {""};
    o.weights = &weights;
    o.mask = &mask;
    for (int reference = 0; reference < 2; reference++) {
        sheet s;
        tally_output output = help_sheet(&s, 0);
        CHECK_SAY((reference ? tally_execute_reference(plan, &v, &o, &output, &error)
                             : tally_execute(plan, &v, &o, &output, &error)) == TALLY_OK,
                  "%s", error.message);
        CHECK(s.counts.i64[3] == 5 && s.counts.i64[0] == 0 && s.counts.i64[9] == 0);
        CHECK(s.flows[0].nan == 2 && s.flows[0].under == 2 && s.flows[0].over == 2 &&
              s.flows[0].masked == 1);
    }
    tally_plan_destroy(plan);
}

/* Nothing to count is fine, whatever is missing; outputs are cleared, or kept when accumulating. */
static void test_empty(void)
{
    tally_plan *plan = standard();
    const uint64_t extents[4][3] = {{1, 1, 0}, {1, 0, 5}, {1, 0, 0}, {0, 3, 5}};
    for (int i = 0; i < 4; i++) {
        tally_view v = tally_view_1d(NULL, TALLY_F64, extents[i][2]);
        v.rows = extents[i][1];
        v.batches = extents[i][0];
        sheet s;
        tally_output output = help_sheet(&s, 0);
        output.accumulate = 1;
        CHECK(tally_execute(plan, &v, NULL, &output, NULL) == TALLY_OK);
        CHECK(help_untouched(&s));
        output.accumulate = 0;
        CHECK(tally_execute(plan, &v, NULL, &output, NULL) == TALLY_OK);
        CHECK(v.batches ? s.counts.u64[9] == 0 && s.flows[0].nan == 0 : help_untouched(&s));
        output.counts = NULL;
        CHECK(tally_execute(plan, &v, NULL, &output, NULL) == (v.batches ? ARGUMENT : TALLY_OK));
    }
    tally_plan_destroy(plan);
}

static tally_status read_nothing(void *user, uint64_t begin, uint64_t count, void *to,
                                 tally_error *error)
{
    (void)user, (void)begin, (void)count, (void)to, (void)error;
    return DATA;
}

static const void *lend_nothing(void *user, uint64_t begin, uint64_t count)
{
    (void)user;
    (void)begin;
    (void)count;
    return NULL;
}

static void test_sources(void)
{
    tally_plan_options o = help_options(TALLY_F64, tally_axis_even(10, 0, 10));
    o.weight_dtype = TALLY_F64;
    tally_plan *plan = standard(), *weighted = help_plan(context, &o);
    tally_execute_options with = TALLY_EXECUTE_OPTIONS_INIT;
    tally_source source = TALLY_SOURCE_INIT;
    tally_view v = tally_view_1d(NULL, TALLY_F64, 12), w = tally_view_1d(samples, TALLY_F64, 12);
    v.source = &source;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "its source's read is NULL");
    source.read = read_nothing;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, DATA, "without a message");
    source.struct_size = 4;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "TALLY_SOURCE_INIT");
    source.struct_size = sizeof source;
    source.lend = lend_nothing;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "give_back is NULL");
    source.lend = NULL;
    v.column_stride_bytes = 8;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "no data, device or strides");
    v.column_stride_bytes = 0;
    v.data = samples;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "no data, device or strides");
    v.data = NULL;
    v.batches = 2;
    EXPECT_NO_RUN(plan, &v, NULL, NULL, ARGUMENT, "one batch");
    v.batches = 1;
    with.weights = &w;
    EXPECT_NO_RUN(weighted, &v, &with, NULL, ARGUMENT, "1 of 2 views have a source");
    w = v;
    w.columns = 1;
    EXPECT_NO_RUN(weighted, &v, &with, NULL, ARGUMENT, "the samples' rows and columns");
    tally_plan_destroy(weighted);
    tally_plan_destroy(plan);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    context = help_context(2);
    test_null();
    test_views();
    test_sources();
    test_extents();
    test_several_views();
    test_options();
    test_weight_views();
    test_outputs();
    test_flows();
    test_later_batch();
    test_joint_flows();
    test_u32();
    test_sums();
    test_uncounted_weights();
    test_empty();
    tally_context_destroy(context);
    return help_end();
}
