/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every refusal of contexts, axes and plans, by status and message. Calls: test_refusals.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "execute_help.h"
#include "input_help.h"

static tally_context *context;

#define ARGUMENT    TALLY_ERROR_ARGUMENT
#define UNSUPPORTED TALLY_ERROR_UNSUPPORTED

static void expect_no_context(const tally_context_options *options, tally_status status,
                              const char *words)
{
    tally_context *none = context, *c = none;
    tally_error error = {""};
    CHECK_SAY(tally_context_create(options, &c, &error) == status, "%s", error.message);
    CHECK_SAY(strstr(error.message, words) != NULL, "%s in: %s", words, error.message);
    CHECK(c == none);
    CHECK(tally_context_create(options, &c, NULL) == status);
}

static void test_contexts(void)
{
    tally_context_options good = TALLY_CONTEXT_OPTIONS_INIT, o = good;
    tally_error error = {""};
    CHECK(tally_context_create(&good, NULL, &error) == ARGUMENT);
    CHECK(strstr(error.message, "context is NULL") != NULL);
    o.struct_size = 8;
    expect_no_context(&o, ARGUMENT, "struct_size is 8");
    o = good;
    o.device = (tally_device_type)3;
    expect_no_context(&o, ARGUMENT, "device type 3");
    o.device = (tally_device_type)99;
    expect_no_context(&o, ARGUMENT, "device type 99");
    o.device = (tally_device_type)-1;
    expect_no_context(&o, ARGUMENT, "device type -1");
    o.device = TALLY_DEVICE_CPU;
    o.index = 1;
    expect_no_context(&o, UNSUPPORTED, "cpu:1");
    o.index = -1;
    expect_no_context(&o, UNSUPPORTED, "cpu:-1");
    o.index = 0;
    o.native = &o;
    expect_no_context(&o, ARGUMENT, "TALLY_DEVICE_CUDA or TALLY_DEVICE_OPENCL");
    o.device = TALLY_DEVICE_AUTO;
    expect_no_context(&o, ARGUMENT, "TALLY_DEVICE_CUDA or TALLY_DEVICE_OPENCL");
    tally_context_destroy(NULL);
    tally_plan_destroy(NULL);
}

static void test_devices(void)
{
    tally_device_info info = {.struct_size = sizeof info};
    CHECK(tally_device_get(0, NULL, NULL) == ARGUMENT);
    CHECK(tally_device_get(tally_device_count(), &info, NULL) == ARGUMENT);
    CHECK(tally_context_device(NULL, &info, NULL) == ARGUMENT);
    CHECK(tally_context_device(context, NULL, NULL) == ARGUMENT);
    CHECK(tally_context_device(context, &info, NULL) == TALLY_OK);
    CHECK(info.device == TALLY_DEVICE_CPU && info.available && info.name[0]);
    for (uint32_t i = 0; i < tally_device_count(); i++) {
        CHECK(tally_device_get(i, &info, NULL) == TALLY_OK);
        CHECK(!info.available == !!info.reason[0]); /* who is missing says why */
    }
    info.struct_size = 0;
    CHECK(tally_device_get(0, &info, NULL) == ARGUMENT);
    CHECK(tally_context_device(context, &info, NULL) == ARGUMENT);
}

static void test_methods(void)
{
    tally_method_info info = {.struct_size = sizeof info};
    CHECK(tally_method_get(0, NULL, NULL) == ARGUMENT);
    CHECK(tally_method_get(tally_method_count(), &info, NULL) == ARGUMENT);
    info.struct_size = 1;
    CHECK(tally_method_get(0, &info, NULL) == ARGUMENT);
}

static void test_names(void)
{
    CHECK(tally_dtype_bytes((tally_dtype)0) == 0 && tally_dtype_bytes((tally_dtype)13) == 0 &&
          tally_dtype_bytes((tally_dtype)-1) == 0);
    CHECK(tally_dtype_name((tally_dtype)0) == NULL && tally_dtype_name((tally_dtype)13) == NULL);
    CHECK(tally_dtype_parse("f65") == 0 && tally_dtype_parse("") == 0);
    for (int d = TALLY_U8; d <= TALLY_F64; d++)
        CHECK((int)tally_dtype_parse(tally_dtype_name((tally_dtype)d)) == d);
    for (int s = -1; s < 12; s++)
        CHECK(tally_status_string((tally_status)s)[0] != '\0');
    CHECK(tally_rule_parse("nonsense") == -1 && tally_format_parse("nonsense") == -1);
}

/* An axis that no plan and no list of edges may be made from. */
static void bad_axis_of(tally_axis axis, tally_dtype dtype, tally_status status, const char *words,
                        int line)
{
    tally_plan_options o = help_options(dtype, axis);
    help_expect_no_plan(context, &o, status, words, __FILE__, line);
    if (status == ARGUMENT && axis.bins < 1000) {
        double edges[1001] = {42};
        tally_error error = {""};
        check_that(tally_axis_edges_get(&axis, edges, &error) == status, words, __FILE__, line,
                   "edges: %s", error.message);
        check_that(edges[0] == 42, "edges untouched", __FILE__, line, " ");
    }
}
#define BAD_AXIS(axis, words)           bad_axis_of((axis), TALLY_F64, ARGUMENT, (words), __LINE__)
#define BAD_AXIS_OF(axis, dtype, words) bad_axis_of((axis), (dtype), ARGUMENT, (words), __LINE__)

static void test_ranges(void)
{
    BAD_AXIS(tally_axis_even(0, 0, 1), "0 bins");
    BAD_AXIS(tally_axis_even(UINT64_C(1) << 40, 0, 1), "1099511627776 bins");
    BAD_AXIS(tally_axis_even((UINT64_C(1) << 31) + 1, 0, 1), "2^31");
    BAD_AXIS(tally_axis_even(UINT64_MAX, 0, 1), "2^31");
    BAD_AXIS(tally_axis_even(10, 2, 1), "below the upper");
    BAD_AXIS(tally_axis_even(10, 1, 1), "below the upper");
    BAD_AXIS(tally_axis_even(10, NAN, 1), "finite");
    BAD_AXIS(tally_axis_even(10, 0, NAN), "finite");
    BAD_AXIS(tally_axis_even(10, -INFINITY, 0), "finite");
    BAD_AXIS(tally_axis_even(10, 0, INFINITY), "finite");
    BAD_AXIS(tally_axis_even(10, -1.7e308, 1.7e308), "past float64's largest");
    BAD_AXIS(tally_axis_even(100, 1, 1 + 1e-15), "cannot tell");
    BAD_AXIS(tally_axis_even(3, 0, 5e-324), "cannot tell");
    BAD_AXIS_OF(tally_axis_even(100, 1, 1 + 1e-15), TALLY_U8, "cannot tell");
    BAD_AXIS(tally_axis_log(10, 0, 1), "above 0");
    BAD_AXIS(tally_axis_log(10, -1, 1), "above 0");
    BAD_AXIS(tally_axis_log(10, 2, 1), "below the upper");
    BAD_AXIS(tally_axis_log(10, 1, NAN), "finite");
    BAD_AXIS(tally_axis_log(10, 1, INFINITY), "finite");
    BAD_AXIS(tally_axis_log(100, 1, 1 + 1e-15), "fewer bins");
    BAD_AXIS(tally_axis_log(2, 1e-300, 1e300), "too wide for a log axis");
}

static void test_tables(void)
{
    const double equal[] = {0, 1, 1, 2}, down[] = {0, 2, 1, 3}, nan[] = {0, NAN, 2, 3};
    const double inf[] = {0, 1, 2, INFINITY}, zeros[] = {-1, -0.0, 0.0, 1};
    uint16_t categories[256] = {0};
    BAD_AXIS(tally_axis_edges(3, NULL), "edges is NULL");
    BAD_AXIS(tally_axis_edges(3, equal), "edge 2 (1) is not above edge 1 (1)");
    BAD_AXIS(tally_axis_edges(3, down), "not above");
    BAD_AXIS(tally_axis_edges(3, nan), "edge 1 is nan");
    BAD_AXIS(tally_axis_edges(3, inf), "edge 3 is inf");
    BAD_AXIS(tally_axis_edges(3, zeros), "not above");
    tally_axis axis = tally_axis_integer(4, 0);
    axis.kind = TALLY_AXIS_CATEGORY;
    BAD_AXIS_OF(axis, TALLY_U8, "categories is NULL");
    axis.categories = categories;
    bad_axis_of(axis, TALLY_I8, UNSUPPORTED, "need u8 samples, not i8", __LINE__);
    bad_axis_of(axis, TALLY_F64, UNSUPPORTED, "need u8 samples, not f64", __LINE__);
    categories[200] = 4;
    BAD_AXIS_OF(axis, TALLY_U8, "categories[200] is 4");
    categories[200] = TALLY_CATEGORY_NONE - 1;
    BAD_AXIS_OF(axis, TALLY_U8, "categories[200] is 65534");
    CHECK(tally_axis_edges_get(NULL, (double[2]){0, 0}, NULL) == ARGUMENT);
    CHECK(tally_axis_edges_get(&axis, NULL, NULL) == ARGUMENT);
}

/* float64 tells integers apart up to 2^53, both edges of the last bin included. */
static void test_integers(void)
{
    const int64_t limit = INT64_C(1) << 53;
    double edges[3];
    tally_axis good = tally_axis_integer(2, limit - 2), low = tally_axis_integer(2, -limit);
    CHECK(tally_axis_edges_get(&good, edges, NULL) == TALLY_OK && edges[2] == (double)limit);
    CHECK(tally_axis_edges_get(&low, edges, NULL) == TALLY_OK && edges[0] == (double)-limit);
    BAD_AXIS(tally_axis_integer(2, limit - 1), "2^53");
    BAD_AXIS(tally_axis_integer(1, limit), "2^53");
    BAD_AXIS(tally_axis_integer(1, limit + 1), "2^53");
    BAD_AXIS(tally_axis_integer(2, -limit - 1), "2^53");
    BAD_AXIS(tally_axis_integer(2, -limit - 2), "2^53");
    BAD_AXIS(tally_axis_integer(1, INT64_MIN), "2^53");
    BAD_AXIS(tally_axis_integer(1, INT64_MAX), "2^53");
}

static void test_policies(void)
{
    tally_axis good = tally_axis_even(4, 0, 1), a = good;
    a.struct_size--;
    BAD_AXIS(a, "struct_size");
    a = good;
    a.kind = (tally_axis_kind)17;
    BAD_AXIS(a, "unknown kind 17");
    a = good;
    a.nan = TALLY_FLOW_CLAMP;
    BAD_AXIS(a, "NaN is nearest to no bin");
    a.nan = (tally_flow)3;
    BAD_AXIS(a, "policy");
    a = good;
    a.under = (tally_flow)-1;
    BAD_AXIS(a, "policy");
    a = good;
    a.over = (tally_flow)7;
    BAD_AXIS(a, "policy");
    a = good;
    a.last = (tally_last_edge)2;
    BAD_AXIS(a, "policy");
}

static tally_plan_options standard(void)
{
    return help_options(TALLY_F64, tally_axis_even(10, 0, 10));
}

#define BAD_PLAN(options, status, words) EXPECT_NO_PLAN(context, &(options), (status), (words))

static void test_plan_options(void)
{
    tally_plan_options o = standard();
    tally_plan *plan;
    CHECK(tally_plan_create(NULL, &o, &plan, NULL) == ARGUMENT);
    CHECK(tally_plan_create(context, NULL, &plan, NULL) == ARGUMENT);
    CHECK(tally_plan_create(context, &o, NULL, NULL) == ARGUMENT);
    o.struct_size = 0;
    BAD_PLAN(o, ARGUMENT, "struct_size is 0");
    o = standard();
    o.dimensions = 0;
    BAD_PLAN(o, ARGUMENT, "0 dimensions");
    o.dimensions = TALLY_MAX_DIMENSIONS + 1;
    BAD_PLAN(o, ARGUMENT, "9 dimensions");
    o = standard();
    o.counter = (tally_counter)4;
    BAD_PLAN(o, ARGUMENT, "counter 4");
    o.counter = (tally_counter)-1;
    BAD_PLAN(o, ARGUMENT, "counter -1");
    o = standard();
    o.dtypes[0] = (tally_dtype)0;
    BAD_PLAN(o, ARGUMENT, "axis 0: unknown dtype 0");
    o.dtypes[0] = (tally_dtype)13;
    BAD_PLAN(o, ARGUMENT, "axis 0: unknown dtype 13");
    o = standard();
    o.dimensions = 2;
    o.axes[1] = o.axes[0];
    BAD_PLAN(o, ARGUMENT, "axis 1: unknown dtype 0");
    o.dtypes[1] = TALLY_U8;
    o.channels = 3;
    BAD_PLAN(o, ARGUMENT, "3 channels in 2 dimensions");
    o.channels = 1;
    o.axes[0].bins = o.axes[1].bins = 65536;
    BAD_PLAN(o, ARGUMENT, "product passes 2^31");
    o.axes[1].bins = 0;
    BAD_PLAN(o, ARGUMENT, "axis 1: 0 bins");
}

static void test_weights(void)
{
    tally_plan_options o = standard();
    o.weight_dtype = (tally_dtype)77;
    BAD_PLAN(o, ARGUMENT, "weight dtype 77");
    o.weight_dtype = TALLY_F16;
    BAD_PLAN(o, UNSUPPORTED, "f16 weights");
    o.weight_dtype = TALLY_BF16;
    BAD_PLAN(o, UNSUPPORTED, "bf16 weights");
    o.weight_dtype = TALLY_F32;
    o.counter = TALLY_COUNTER_U32;
    BAD_PLAN(o, ARGUMENT, "narrower counter");
    o = standard();
    o.sum_squares = 1;
    BAD_PLAN(o, ARGUMENT, "sum_squares without weights");
}

static void test_channels(void)
{
    tally_plan_options o = standard();
    o.channels = 65537;
    BAD_PLAN(o, ARGUMENT, "65537 channels");
    o.channels = UINT64_MAX;
    BAD_PLAN(o, ARGUMENT, "channels; at most 65536");
    o.channels = 3;
    o.channel_mask = 8;
    BAD_PLAN(o, ARGUMENT, "channel_mask 0x8");
    o.channel_mask = 9;
    BAD_PLAN(o, ARGUMENT, "channel_mask 0x9");
    o.channels = 0;
    o.channel_mask = 2;
    BAD_PLAN(o, ARGUMENT, "past the 1 there are");
}

static void test_method_choice(void)
{
    tally_plan_options o = standard();
    o.method = "no-such";
    BAD_PLAN(o, ARGUMENT, "'no-such'");
    o.method = "";
    BAD_PLAN(o, ARGUMENT, "no method is named ''");
    o.method = "cpu-weights";
    BAD_PLAN(o, UNSUPPORTED, "cpu-weights sums weights");
    o.method = "cpu-bytes";
    BAD_PLAN(o, UNSUPPORTED, "not f64");
    o.method = "atomic-global";
    BAD_PLAN(o, UNSUPPORTED, "not on this device");
    o.method = "cpu-tables";
    o.weight_dtype = TALLY_F64;
    BAD_PLAN(o, UNSUPPORTED, "cpu-weights");
}

static void test_settings(void)
{
    tally_plan_options o = standard();
    tally_setting bad[] = {{"copies", "4"}, {NULL, "1"}};
    o.method = "cpu-tables";
    o.settings = bad;
    o.settings_count = 1;
    BAD_PLAN(o, ARGUMENT, "no setting 'copies'");
    o.method = NULL;
    BAD_PLAN(o, ARGUMENT, "no method that serves the plan takes the setting copies=4");
    o.method = "cpu-tables";
    o.settings_count = 2;
    BAD_PLAN(o, ARGUMENT, "setting 1: key or value is NULL");
    bad[1] = (tally_setting){"copies", NULL};
    BAD_PLAN(o, ARGUMENT, "setting 1: key or value is NULL");
    o.settings = NULL;
    BAD_PLAN(o, ARGUMENT, "settings is NULL");
    o.settings = bad;
    o.settings_count = SIZE_MAX / 2 + 2;
    BAD_PLAN(o, ARGUMENT, "settings; at most");
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    context = help_context(2);
    test_contexts();
    test_devices();
    test_methods();
    test_names();
    test_ranges();
    test_tables();
    test_integers();
    test_policies();
    test_plan_options();
    test_weights();
    test_channels();
    test_method_choice();
    test_settings();
    tally_context_destroy(context);
    return help_end();
}
