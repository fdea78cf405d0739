/* SPDX-License-Identifier: Apache-2.0 */
/* NULL for every pointer that a public function takes: refused with a message, answered with NULL
 * or 0, or fine where the header says so; never a crash. Every function of the header is met. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tally/parts.h>
#include <tally/quantile.h>
#include <tally/statistics.h>

#include "execute_help.h"
#include "input_help.h"

static char met[32768]; /* the calls' texts */
static tally_error error;

static void meet(const char *call)
{
    if (!strstr(met, call))
        strcat(strcat(met, call), "\n");
    error.message[0] = '\0';
}

/* TALLY_ERROR_ARGUMENT and a message. */
#define REFUSED(...)                                                                               \
    do {                                                                                           \
        meet(#__VA_ARGS__);                                                                        \
        tally_status got = (__VA_ARGS__);                                                          \
        CHECK_SAY(got == TALLY_ERROR_ARGUMENT && error.message[0], "%s: %s, \"%s\"", #__VA_ARGS__, \
                  tally_status_string(got), error.message);                                        \
    } while (0)

/* The same without a place for a message. */
#define REFUSED_SILENTLY(...)                                                                      \
    do {                                                                                           \
        meet(#__VA_ARGS__);                                                                        \
        CHECK_SAY((__VA_ARGS__) == TALLY_ERROR_ARGUMENT, "%s", #__VA_ARGS__);                      \
    } while (0)

/* An answer that says that there is none. */
#define ANSWERS(answer, ...)                                                                       \
    do {                                                                                           \
        meet(#__VA_ARGS__);                                                                        \
        CHECK_SAY((__VA_ARGS__) == (answer), "%s", #__VA_ARGS__);                                  \
    } while (0)

/* Nothing to check but that it returns. */
#define RETURNS(...)                                                                               \
    do {                                                                                           \
        meet(#__VA_ARGS__);                                                                        \
        __VA_ARGS__;                                                                               \
    } while (0)

static int no_bytes(void *user, const void *bytes, size_t size)
{
    (void)user, (void)bytes, (void)size;
    return 0;
}

static int no_chunk(void *user, tally_view *view, tally_error *why)
{
    (void)user, (void)view, (void)why;
    return 0;
}

static int no_rewind(void *user, tally_error *why)
{
    (void)user, (void)why;
    return 0;
}

static void axes_and_names(void)
{
    const tally_axis axis = tally_axis_even(4, 0, 1), no_edges = tally_axis_edges(2, NULL);
    double edges[8];
    uint64_t bin, counts[4];
    uint16_t categories[256];
    RETURNS((void)tally_status_string((tally_status)99));
    RETURNS((void)tally_version());
    RETURNS((void)tally_io_libraries());
    ANSWERS(0u, tally_dtype_bytes((tally_dtype)99));
    ANSWERS(NULL, tally_dtype_name((tally_dtype)99));
    ANSWERS((tally_dtype)0, tally_dtype_parse(NULL));
    ANSWERS(-1, tally_rule_parse(NULL));
    ANSWERS(-1, tally_format_parse(NULL));
    RETURNS((void)tally_view_1d(NULL, TALLY_U8, 0));
    RETURNS((void)tally_axis_even(1, 0, 1));
    RETURNS((void)tally_axis_integer(1, 0));
    RETURNS((void)tally_axis_log(1, 1, 2));
    RETURNS((void)tally_axis_edges(1, NULL));
    ANSWERS(0u, tally_categories_letters(NULL, 4, 1, categories));
    ANSWERS(0u, tally_categories_letters("abcd", 4, 1, NULL));
    REFUSED(tally_axis_edges_get(NULL, edges, &error));
    REFUSED(tally_axis_edges_get(&axis, NULL, &error));
    REFUSED(tally_axis_edges_get(&no_edges, edges, &error));
    REFUSED_SILENTLY(tally_axis_edges_get(NULL, NULL, NULL));
    ANSWERS(1, isnan(tally_axis_edge(NULL, 0)) && isnan(tally_axis_edge(&no_edges, 0)));
    REFUSED(tally_axis_find(NULL, 0, &bin, &error));
    REFUSED(tally_axis_find(&axis, 0, NULL, &error));
    REFUSED(tally_axis_find(&no_edges, 0, &bin, &error));
    REFUSED_SILENTLY(tally_axis_find(NULL, 0, NULL, NULL));
    REFUSED(tally_histogram(NULL, TALLY_U8, 4, &axis, counts, NULL, &error));
    REFUSED(tally_histogram("abcd", TALLY_U8, 4, NULL, counts, NULL, &error));
    REFUSED(tally_histogram("abcd", TALLY_U8, 4, &axis, NULL, NULL, &error));
    REFUSED(tally_histogram("abcd", TALLY_U8, 4, &no_edges, counts, NULL, &error));
    REFUSED_SILENTLY(tally_histogram(NULL, TALLY_U8, 0, NULL, NULL, NULL, NULL));
}

static void contexts(tally_context *context)
{
    tally_device_info info = {.struct_size = sizeof info};
    tally_method_info method = {.struct_size = sizeof method};
    char path[1024];
    void *memory = NULL;
    const int byte = 0;
    REFUSED(tally_context_create(NULL, NULL, &error));
    REFUSED_SILENTLY(tally_context_create(NULL, NULL, NULL));
    RETURNS(tally_context_destroy(NULL));
    RETURNS((void)tally_device_count());
    RETURNS((void)tally_method_count());
    RETURNS((void)tally_kernels_describe());
    REFUSED(tally_device_get(0, NULL, &error));
    REFUSED_SILENTLY(tally_device_get(UINT32_MAX, &info, NULL));
    REFUSED(tally_method_get(0, NULL, &error));
    REFUSED_SILENTLY(tally_method_get(UINT32_MAX, &method, NULL));
    REFUSED(tally_context_device(NULL, &info, &error));
    REFUSED(tally_context_device(context, NULL, &error));
    REFUSED_SILENTLY(tally_context_device(NULL, NULL, NULL));
    REFUSED(tally_memory_create(NULL, 1, &memory, &error));
    REFUSED(tally_memory_create(context, 1, NULL, &error));
    REFUSED_SILENTLY(tally_memory_create(NULL, 1, NULL, NULL));
    CHECK(!tally_memory_create(context, 1, &memory, NULL));
    REFUSED(tally_memory_write(NULL, memory, 0, &byte, 1, &error));
    REFUSED(tally_memory_write(context, NULL, 0, &byte, 1, &error));
    REFUSED(tally_memory_write(context, memory, 0, NULL, 1, &error));
    REFUSED_SILENTLY(tally_memory_write(NULL, NULL, 0, NULL, 1, NULL));
    RETURNS(tally_memory_destroy(context, NULL));
    RETURNS(tally_memory_destroy(NULL, NULL));
    tally_memory_destroy(context, memory);
    REFUSED(tally_tune(NULL, NULL, NULL, path, &error));
    REFUSED(tally_tune(context, NULL, NULL, NULL, &error));
    REFUSED_SILENTLY(tally_tune(NULL, NULL, NULL, NULL, NULL));
}

static void plans(tally_context *context)
{
    uint64_t host_bytes, device_bytes;
    const unsigned char x[4] = {0, 1, 2, 3};
    uint64_t counts[4];
    tally_plan_options options = help_options(TALLY_U8, tally_axis_even(4, 0, 4));
    tally_plan *plan = help_plan(context, &options), *none = NULL;
    tally_device_info info = {.struct_size = sizeof info};
    tally_kernel_info kernel = {.struct_size = sizeof kernel};
    tally_view view = tally_view_1d(x, TALLY_U8, 4), empty = tally_view_1d(NULL, TALLY_U8, 4);
    tally_output output = TALLY_OUTPUT_INIT, nowhere = TALLY_OUTPUT_INIT;
    output.counts = counts;
    REFUSED(tally_plan_create(NULL, &options, &none, &error));
    REFUSED(tally_plan_create(context, NULL, &none, &error));
    REFUSED(tally_plan_create(context, &options, NULL, &error));
    REFUSED_SILENTLY(tally_plan_create(NULL, NULL, NULL, NULL));
    options.settings_count = 1;
    REFUSED(tally_plan_create(context, &options, &none, &error));
    options.settings_count = 0;
    options.axes[0].kind = TALLY_AXIS_CATEGORY;
    REFUSED(tally_plan_create(context, &options, &none, &error));
    RETURNS(tally_plan_destroy(NULL));
    ANSWERS(NULL, tally_plan_method(NULL));
    ANSWERS(0u, tally_plan_bins(NULL));
    ANSWERS(NULL, tally_plan_options_get(NULL));
    ANSWERS(0u, tally_plan_channels(NULL));
    ANSWERS(NULL, tally_plan_describe(NULL));
    REFUSED(tally_plan_device(NULL, &info, &error));
    REFUSED(tally_plan_device(plan, NULL, &error));
    REFUSED_SILENTLY(tally_plan_device(NULL, NULL, NULL));
    REFUSED(tally_plan_kernel(NULL, 1, &kernel, &error));
    REFUSED(tally_plan_kernel(plan, 1, NULL, &error));
    REFUSED_SILENTLY(tally_plan_kernel(NULL, 1, NULL, NULL));
    REFUSED(tally_plan_memory(NULL, 1, &host_bytes, &device_bytes, &error));
    REFUSED(tally_plan_memory(plan, 1, NULL, &device_bytes, &error));
    REFUSED(tally_plan_memory(plan, 1, &host_bytes, NULL, &error));
    REFUSED_SILENTLY(tally_plan_memory(NULL, 1, NULL, NULL, NULL));
    REFUSED(tally_execute(NULL, &view, NULL, &output, &error));
    REFUSED(tally_execute(plan, NULL, NULL, &output, &error));
    REFUSED(tally_execute(plan, &view, NULL, NULL, &error));
    REFUSED(tally_execute(plan, &empty, NULL, &output, &error));
    REFUSED(tally_execute(plan, &view, NULL, &nowhere, &error));
    REFUSED_SILENTLY(tally_execute(NULL, NULL, NULL, NULL, NULL));
    REFUSED(tally_execute_reference(NULL, &view, NULL, &output, &error));
    REFUSED(tally_execute_reference(plan, NULL, NULL, &output, &error));
    REFUSED(tally_execute_reference(plan, &view, NULL, NULL, &error));
    REFUSED(tally_execute_reference(plan, &empty, NULL, &output, &error));
    REFUSED(tally_execute_reference(plan, &view, NULL, &nowhere, &error));
    REFUSED_SILENTLY(tally_execute_reference(NULL, NULL, NULL, NULL, NULL));
    tally_part part = TALLY_PART_INIT;
    REFUSED(tally_execute_parts(plan, &part, 1, NULL, &output, &error)); /* without views */
    part.views = &view;
    REFUSED(tally_execute_parts(NULL, &part, 1, NULL, &output, &error));
    REFUSED(tally_execute_parts(plan, NULL, 1, NULL, &output, &error));
    REFUSED(tally_execute_parts(plan, &part, 0, NULL, &output, &error));
    REFUSED(tally_execute_parts(plan, &part, 1, NULL, NULL, &error));
    REFUSED(tally_execute_parts(plan, &part, 1, NULL, &nowhere, &error));
    REFUSED_SILENTLY(tally_execute_parts(NULL, NULL, 0, NULL, NULL, NULL));
    tally_plan_destroy(plan);
}

static void bin_statistics(tally_context *context)
{
    const unsigned char x[4] = {0, 1, 2, 3};
    const tally_view view = tally_view_1d(x, TALLY_U8, 4), empty = tally_view_1d(NULL, TALLY_U8, 4);
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    tally_plan *plan = NULL;
    tally_statistics none = TALLY_STATISTICS_INIT, some = none, unset = {0};
    double mean[4];
    options.axes[0] = tally_axis_even(4, 0, 4);
    options.dtypes[0] = TALLY_U8;
    CHECK(!tally_plan_create(context, &options, &plan, &error));
    some.mean = mean;
    REFUSED(tally_bin_statistics(NULL, &view, &view, 1, NULL, &some, NULL, &error));
    REFUSED(tally_bin_statistics(plan, NULL, &view, 1, NULL, &some, NULL, &error));
    REFUSED(tally_bin_statistics(plan, &empty, &view, 1, NULL, &some, NULL, &error));
    REFUSED(tally_bin_statistics(plan, &view, NULL, 1, NULL, &some, NULL, &error));
    REFUSED(tally_bin_statistics(plan, &view, &empty, 1, NULL, &some, NULL, &error));
    REFUSED(tally_bin_statistics(plan, &view, &view, 1, NULL, NULL, NULL, &error));
    REFUSED(tally_bin_statistics(plan, &view, &view, 1, NULL, &unset, NULL, &error));
    REFUSED_SILENTLY(tally_bin_statistics(NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL));
    CHECK(!tally_bin_statistics(plan, &view, &view, 1, NULL, &none, NULL, NULL));
    REFUSED(tally_statistics_merge(NULL, &some, 4, &error));
    REFUSED(tally_statistics_merge(&some, NULL, 4, &error));
    REFUSED(tally_statistics_merge(&some, &some, 4, &error));
    REFUSED_SILENTLY(tally_statistics_merge(NULL, NULL, 4, NULL));
    tally_plan_destroy(plan);
}

static void quantiles(void)
{
    const unsigned char x[4] = {0, 1, 2, 3};
    const tally_view view = tally_view_1d(x, TALLY_U8, 4), empty = tally_view_1d(NULL, TALLY_U8, 4);
    const double q = 0.5;
    const uint64_t rank = 0;
    double out;
    unsigned char sample;
    ANSWERS(NULL, tally_quantile_method_name((tally_quantile_method)99));
    ANSWERS(-1, tally_quantile_method_parse(NULL));
    REFUSED(tally_quantiles(NULL, NULL, &q, 1, NULL, &out, &error));
    REFUSED(tally_quantiles(NULL, &empty, &q, 1, NULL, &out, &error));
    REFUSED(tally_quantiles(NULL, &view, NULL, 1, NULL, &out, &error));
    REFUSED(tally_quantiles(NULL, &view, &q, 1, NULL, NULL, &error));
    REFUSED_SILENTLY(tally_quantiles(NULL, NULL, NULL, 1, NULL, NULL, NULL));
    REFUSED(tally_order_statistics(NULL, NULL, &rank, 1, NULL, &sample, NULL, &error));
    REFUSED(tally_order_statistics(NULL, &empty, &rank, 1, NULL, &sample, NULL, &error));
    REFUSED(tally_order_statistics(NULL, &view, NULL, 1, NULL, &sample, NULL, &error));
    REFUSED(tally_order_statistics(NULL, &view, &rank, 1, NULL, NULL, NULL, &error));
    REFUSED_SILENTLY(tally_order_statistics(NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL));
    REFUSED(tally_weighted_quantiles(NULL, NULL, &view, &q, 1, NULL, &sample, &error));
    REFUSED(tally_weighted_quantiles(NULL, &view, NULL, &q, 1, NULL, &sample, &error));
    REFUSED(tally_weighted_quantiles(NULL, &view, &view, NULL, 1, NULL, &sample, &error));
    REFUSED(tally_weighted_quantiles(NULL, &view, &view, &q, 1, NULL, NULL, &error));
    REFUSED_SILENTLY(tally_weighted_quantiles(NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL));
    tally_quantile_search_options how = TALLY_QUANTILE_SEARCH_OPTIONS_INIT;
    tally_quantile_search *search = NULL;
    int more = 1;
    how.dtype = TALLY_U8;
    REFUSED(tally_quantile_search_create(NULL, NULL, &q, 1, &search, &error));
    REFUSED(tally_quantile_search_create(NULL, &how, NULL, 1, &search, &error));
    REFUSED(tally_quantile_search_create(NULL, &how, &q, 1, NULL, &error));
    REFUSED_SILENTLY(tally_quantile_search_create(NULL, NULL, NULL, 1, NULL, NULL));
    CHECK(!tally_quantile_search_create(NULL, &how, &q, 1, &search, &error));
    REFUSED(tally_quantile_search_get(search, &out, NULL, NULL, &error));
    CHECK(!tally_quantile_search_add(search, &view, NULL, &error));
    REFUSED(tally_quantile_search_next(search, NULL, &error));
    CHECK(!tally_quantile_search_next(search, &more, &error) && !more);
    REFUSED(tally_quantile_search_get(search, NULL, NULL, NULL, &error));
    REFUSED(tally_quantile_search_get(NULL, &out, NULL, NULL, &error));
    REFUSED(tally_quantile_search_add(search, &view, NULL, &error)); /* needs no more */
    tally_quantile_search_destroy(search);
    CHECK(!tally_quantile_search_create(NULL, &how, &q, 1, &search, &error));
    REFUSED(tally_quantile_search_add(search, NULL, NULL, &error));
    REFUSED(tally_quantile_search_add(NULL, &view, NULL, &error));
    REFUSED(tally_quantile_search_next(NULL, &more, &error));
    tally_quantile_search_destroy(search);
    RETURNS(tally_quantile_search_destroy(NULL));
}

static void wide_sums(void)
{
    tally_wide sum = {1, 0};
    double rounded;
    RETURNS(tally_wide_add(NULL, &sum, 1));
    RETURNS(tally_wide_add(&sum, NULL, 1));
    CHECK(sum.low == 1);
    REFUSED(tally_wide_round(NULL, 1, 1, &rounded, &error));
    REFUSED(tally_wide_round(&sum, 1, 1, NULL, &error));
    REFUSED_SILENTLY(tally_wide_round(NULL, 1, 1, NULL, NULL));
}

static void statistics(tally_context *context)
{
    const unsigned char x[4] = {0, 1, 2, 3};
    const tally_view view = tally_view_1d(x, TALLY_U8, 4);
    const tally_chunks chunks = {no_chunk, no_rewind, NULL}, unread = {NULL, no_rewind, NULL},
                       once = {no_chunk, NULL, NULL};
    tally_stats stats = TALLY_STATS_INIT, more = TALLY_STATS_INIT;
    tally_axis axis;
    REFUSED(tally_stats_add(context, NULL, NULL, 0, 1, &stats, &error));
    REFUSED(tally_stats_add(context, &view, NULL, 0, 1, NULL, &error));
    REFUSED_SILENTLY(tally_stats_add(NULL, NULL, NULL, 0, 1, NULL, NULL));
    CHECK(!tally_stats_add(NULL, &view, NULL, 0, 1, &stats, NULL) && stats.samples == 4);
    RETURNS(tally_stats_merge(NULL, &stats, TALLY_U8));
    RETURNS(tally_stats_merge(&more, NULL, TALLY_U8));
    RETURNS(tally_stats_merge(NULL, NULL, TALLY_U8));
    CHECK(more.samples == 0 && stats.samples == 4);
    ANSWERS(TALLY_OK, tally_rule_bins(NULL, chunks, TALLY_U8, NULL, &axis, &error));
    REFUSED(tally_rule_bins(context, unread, TALLY_U8, NULL, &axis, &error));
    REFUSED(tally_rule_bins(context, once, TALLY_U8, NULL, &axis, &error));
    REFUSED(tally_rule_bins(context, chunks, TALLY_U8, NULL, NULL, &error));
    REFUSED_SILENTLY(tally_rule_bins(NULL, unread, TALLY_U8, NULL, NULL, NULL));
}

static void results(tally_context *context)
{
    tally_plan_options options = help_options(TALLY_U8, tally_axis_even(4, 0, 4));
    tally_plan *plan = help_plan(context, &options);
    tally_result *result = NULL, *none = NULL, **all = NULL;
    size_t count = 0;
    tally_result_info info = {.struct_size = sizeof info};
    const uint32_t axes[1] = {0};
    double density[4];
    tally_estimate estimate;
    const tally_result *holes[2] = {NULL, NULL};
    const char *path = help_path("nulls.json");
    REFUSED(tally_result_create(NULL, 1, NULL, &none, &error));
    REFUSED(tally_result_create(plan, 1, NULL, NULL, &error));
    REFUSED_SILENTLY(tally_result_create(NULL, 1, NULL, NULL, NULL));
    CHECK(!tally_result_create(plan, 1, NULL, &result, NULL));
    RETURNS(tally_result_destroy(NULL));
    ANSWERS(NULL, tally_result_output(NULL).counts);
    REFUSED_SILENTLY(tally_result_info_get(NULL, &info));
    REFUSED_SILENTLY(tally_result_info_get(result, NULL));
    ANSWERS(NULL, tally_result_axis(NULL, 0));
    ANSWERS(NULL, tally_result_name(NULL, 0));
    ANSWERS(NULL, tally_result_source(NULL, 0));
    ANSWERS(NULL, tally_result_counts(NULL, 0));
    ANSWERS(NULL, tally_result_flows(NULL, 0));
    ANSWERS(NULL, tally_result_squares(NULL, 0));
    ANSWERS(NULL, tally_result_flow_sums(NULL, 0));
    REFUSED(tally_result_note(NULL, "a", "b", "c", 1, 1, &error));
    REFUSED_SILENTLY(tally_result_note(NULL, NULL, NULL, NULL, 1, 1, NULL));
    CHECK(!tally_result_note(result, NULL, NULL, NULL, 1, 1, NULL));
    REFUSED(tally_result_narrow(NULL, TALLY_COUNTER_U32, &error));
    REFUSED_SILENTLY(tally_result_narrow(NULL, TALLY_COUNTER_U32, NULL));
    REFUSED(tally_result_merge(NULL, result, &error));
    REFUSED(tally_result_merge(result, NULL, &error));
    REFUSED_SILENTLY(tally_result_merge(NULL, NULL, NULL));
    REFUSED(tally_result_project(NULL, axes, 1, &none, &error));
    REFUSED(tally_result_project(result, NULL, 1, &none, &error));
    REFUSED(tally_result_project(result, axes, 1, NULL, &error));
    REFUSED_SILENTLY(tally_result_project(NULL, NULL, 1, NULL, NULL));
    REFUSED(tally_result_rebin(NULL, 0, 2, &none, &error));
    REFUSED(tally_result_rebin(result, 0, 2, NULL, &error));
    REFUSED_SILENTLY(tally_result_rebin(NULL, 0, 2, NULL, NULL));
    REFUSED(tally_result_density(NULL, 0, density, &error));
    REFUSED(tally_result_density(result, 0, NULL, &error));
    REFUSED_SILENTLY(tally_result_density(NULL, 0, NULL, NULL));
    REFUSED(tally_result_mean(NULL, 0, &estimate, &error));
    REFUSED(tally_result_mean(result, 0, NULL, &error));
    REFUSED_SILENTLY(tally_result_mean(NULL, 0, NULL, NULL));
    REFUSED(tally_result_quantile(NULL, 0, 0.5, &estimate, &error));
    REFUSED(tally_result_quantile(result, 0, 0.5, NULL, &error));
    REFUSED_SILENTLY(tally_result_quantile(NULL, 0, 0.5, NULL, NULL));
    for (int format = TALLY_FORMAT_TABLE; format <= TALLY_FORMAT_SVG; format++) {
        const tally_format f = (tally_format)format;
        const tally_result *const whole = result;
        REFUSED(tally_result_write(NULL, 1, f, NULL, no_bytes, NULL, &error));
        REFUSED(tally_result_write(holes, 1, f, NULL, no_bytes, NULL, &error));
        REFUSED(tally_result_write(holes, 2, f, NULL, no_bytes, NULL, &error));
        REFUSED(tally_result_write(&whole, 1, f, NULL, NULL, NULL, &error));
        REFUSED(tally_result_save(NULL, 1, f, NULL, path, &error));
        REFUSED(tally_result_save(holes, 1, f, NULL, path, &error));
        REFUSED(tally_result_save(&whole, 1, f, NULL, NULL, &error));
    }
    REFUSED_SILENTLY(tally_result_write(NULL, 1, TALLY_FORMAT_JSON, NULL, NULL, NULL, NULL));
    REFUSED_SILENTLY(tally_result_save(NULL, 1, TALLY_FORMAT_JSON, NULL, NULL, NULL));
    CHECK(help_files() == 0);
    REFUSED(tally_result_parse(NULL, 1, "x", 0, &none, &error));
    REFUSED(tally_result_parse("{}", 2, "x", 0, NULL, &error));
    REFUSED_SILENTLY(tally_result_parse(NULL, 1, NULL, 0, NULL, NULL));
    RETURNS((void)tally_result_parse("{}", 2, NULL, 0, &none, &error));
    REFUSED(tally_result_parse_all(NULL, 1, "x", &all, &count, &error));
    REFUSED(tally_result_parse_all("[]", 2, "x", NULL, &count, &error));
    REFUSED(tally_result_parse_all("[]", 2, "x", &all, NULL, &error));
    REFUSED_SILENTLY(tally_result_parse_all(NULL, 1, NULL, NULL, NULL, NULL));
    RETURNS(tally_result_destroy_all(NULL, 2));
    CHECK(!none);
    tally_result_destroy(result);
    tally_plan_destroy(plan);
}

static void words(tally_context *context)
{
    tally_plan_options options = help_options(TALLY_U8, tally_axis_integer(4, 0));
    tally_plan *plan = help_plan(context, &options);
    tally_result *result = NULL, *none = NULL;
    tally_words *codes = NULL;
    const tally_flows flows = {0};
    REFUSED(tally_words_create(NULL, &error));
    REFUSED_SILENTLY(tally_words_create(NULL, NULL));
    CHECK(!tally_words_create(&codes, NULL));
    RETURNS(tally_words_destroy(NULL));
    ANSWERS(0u, tally_words_count(NULL));
    REFUSED(tally_words_add(NULL, "a", 1, &error));
    REFUSED(tally_words_add(codes, NULL, 1, &error));
    REFUSED_SILENTLY(tally_words_add(NULL, NULL, 0, NULL));
    RETURNS((void)tally_words_text(codes, 0, NULL));
    RETURNS((void)tally_words_text(NULL, 0, NULL));
    CHECK(!tally_result_create(plan, 1, NULL, &result, NULL));
    REFUSED(tally_result_words(NULL, 0, codes, &none, &error));
    REFUSED(tally_result_words(result, 0, NULL, &none, &error));
    REFUSED(tally_result_words(result, 0, codes, NULL, &error));
    REFUSED_SILENTLY(tally_result_words(NULL, 0, NULL, NULL, NULL));
    REFUSED(tally_result_top(NULL, 0, 1, &none, &error));
    REFUSED(tally_result_top(result, 0, 1, NULL, &error));
    REFUSED_SILENTLY(tally_result_top(NULL, 0, 1, NULL, NULL));
    REFUSED(tally_result_by(NULL, codes, &flows, 0, &none, &error));
    REFUSED(tally_result_by(result, NULL, &flows, 0, &none, &error));
    REFUSED(tally_result_by(result, codes, NULL, 0, &none, &error));
    REFUSED(tally_result_by(result, codes, &flows, 0, NULL, &error));
    REFUSED_SILENTLY(tally_result_by(NULL, NULL, NULL, 0, NULL, NULL));
    ANSWERS(NULL, tally_result_label(NULL, 0, 0));
    ANSWERS(NULL, tally_result_label(result, 0, 0));
    ANSWERS(TALLY_TIME_NONE, tally_result_time(NULL, 0));
    ANSWERS(TALLY_TIME_NONE, tally_result_time(result, 9));
    ANSWERS(TALLY_TIME_NONE, tally_input_time(NULL, 0));
    ANSWERS(0, tally_input_rounded(NULL));
    REFUSED(tally_result_time_set(NULL, 0, TALLY_TIME_DAY, &error));
    REFUSED(tally_result_quantiles_set(NULL, 0, NULL, NULL, &error));
    REFUSED(tally_result_quantiles_set(result, 1, NULL, NULL, &error));
    ANSWERS(0, tally_result_quantiles_get(NULL, 0, NULL, NULL));
    REFUSED(tally_profile_create(NULL, "x", 1, NULL, &none, &error));
    REFUSED(tally_profile_create(plan, NULL, 1, NULL, &none, &error));
    REFUSED(tally_profile_create(plan, "x", 1, NULL, NULL, &error));
    REFUSED(tally_profile_add(NULL, NULL, NULL, &error));
    REFUSED(tally_profile_add(result, NULL, NULL, &error));
    ANSWERS(NULL, tally_profile_bins(NULL, 0).count);
    ANSWERS(NULL, tally_profile_flows(result, 0).mean);
    ANSWERS(NULL, tally_profile_column(NULL));
    ANSWERS(NULL, tally_profile_column(result));
    ANSWERS(TALLY_TIME_NONE, tally_profile_time(NULL, 0));
    REFUSED(tally_profile_time_set(NULL, 0, TALLY_TIME_DAY, &error));
    REFUSED(tally_profile_time_set(result, 0, TALLY_TIME_DAY, &error));
    ANSWERS(0, tally_statistic_parse(NULL));
    REFUSED(tally_result_time_set(result, 9, TALLY_TIME_DAY, &error));
    REFUSED(tally_result_time_set(result, 0, (tally_time)9, &error));
    CHECK(!none);
    tally_result_destroy(result);
    tally_words_destroy(codes);
    tally_plan_destroy(plan);
}

static void summaries(void)
{
    const char *table = help_write("table.csv", "a,b\n1,2\n3,4\n", 12);
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    tally_write_options unset = {0};
    tally_input *input = NULL;
    tally_summary *summary = NULL, *none = NULL;
    options.whole_table = 1;
    CHECK(!tally_input_open(table, &options, &input, NULL));
    REFUSED(tally_summary_create(NULL, "a", &none, &error));
    REFUSED(tally_summary_create(input, NULL, &none, &error));
    REFUSED(tally_summary_create(input, "a", NULL, &error));
    REFUSED_SILENTLY(tally_summary_create(NULL, NULL, NULL, NULL));
    CHECK(!tally_summary_create(input, "a", &summary, NULL));
    tally_input_close(input);
    REFUSED(tally_summary_open(NULL, &options, &none, &error));
    REFUSED(tally_summary_open(table, NULL, &none, &error));
    REFUSED(tally_summary_open(table, &options, NULL, &error));
    REFUSED_SILENTLY(tally_summary_open(NULL, NULL, NULL, NULL));
    RETURNS(tally_summary_destroy(NULL));
    const tally_summary *const whole = summary, *const holes[] = {summary, NULL};
    const char *path = help_path("nulls.json");
    const int files = help_files();
    for (int format = TALLY_FORMAT_TABLE; format <= TALLY_FORMAT_SVG; format++) {
        const tally_format f = (tally_format)format;
        REFUSED(tally_summary_write(NULL, 1, f, NULL, no_bytes, NULL, &error));
        REFUSED(tally_summary_write(holes, 2, f, NULL, no_bytes, NULL, &error));
        REFUSED(tally_summary_write(&whole, 1, f, NULL, NULL, NULL, &error));
        REFUSED(tally_summary_write(&whole, 1, f, &unset, no_bytes, NULL, &error));
        REFUSED(tally_summary_save(NULL, 1, f, NULL, path, &error));
        REFUSED(tally_summary_save(holes, 2, f, NULL, path, &error));
        REFUSED(tally_summary_save(&whole, 1, f, NULL, NULL, &error));
    }
    REFUSED_SILENTLY(tally_summary_write(NULL, 1, TALLY_FORMAT_JSON, NULL, NULL, NULL, NULL));
    REFUSED_SILENTLY(tally_summary_save(NULL, 1, TALLY_FORMAT_JSON, NULL, NULL, NULL));
    CHECK(help_files() == files && !none);
    tally_summary_destroy(summary);
}

static void inputs(void)
{
    const unsigned char x[4] = {0, 1, 2, 3};
    const char *path = help_write("four.raw", x, sizeof x);
    const tally_view view = tally_view_1d(x, TALLY_U8, 4);
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    tally_input_info info = {.struct_size = sizeof info};
    tally_input *input = NULL;
    tally_view views[TALLY_MAX_DIMENSIONS];
    int done;
    options.dtype = TALLY_U8;
    REFUSED(tally_input_open(NULL, &options, &input, &error));
    REFUSED(tally_input_open(path, &options, NULL, &error));
    REFUSED_SILENTLY(tally_input_open(NULL, NULL, NULL, NULL));
    options.columns_count = 1;
    REFUSED(tally_input_open(path, &options, &input, &error));
    options.columns_count = 0;
    CHECK(!tally_input_open(path, &options, &input, NULL));
    RETURNS(tally_input_close(NULL));
    REFUSED_SILENTLY(tally_input_info_get(NULL, &info));
    REFUSED_SILENTLY(tally_input_info_get(input, NULL));
    ANSWERS(NULL, tally_input_channel_name(NULL, 0));
    REFUSED(tally_input_read(NULL, views, &done, &error));
    REFUSED(tally_input_read(input, NULL, &done, &error));
    REFUSED(tally_input_read(input, views, NULL, &error));
    REFUSED_SILENTLY(tally_input_read(NULL, NULL, NULL, NULL));
    REFUSED(tally_input_view(NULL, views, &error));
    REFUSED_SILENTLY(tally_input_view(NULL, views, NULL));
    REFUSED(tally_input_mask(NULL, views, &error));
    REFUSED(tally_input_mask(input, NULL, &error));
    REFUSED_SILENTLY(tally_input_mask(NULL, NULL, NULL));
    int32_t counted;
    REFUSED(tally_input_count(NULL, NULL, NULL, &counted, &error));
    REFUSED(tally_input_stats(NULL, NULL, NULL, &counted, &error));
    REFUSED(tally_input_stats(input, NULL, NULL, &counted, &error));
    REFUSED(tally_input_rewind(NULL, &error));
    REFUSED_SILENTLY(tally_input_rewind(NULL, NULL));
    ANSWERS(0u, tally_input_position(NULL));
    ANSWERS(0u, tally_input_file_length(NULL));
    REFUSED(tally_image_save(NULL, &view, &error));
    REFUSED(tally_image_save(help_path("x.png"), NULL, &error));
    REFUSED_SILENTLY(tally_image_save(NULL, NULL, NULL));
    tally_input_close(input);
}

/* Functions of the header that none of the calls was to. */
static void check_all_met(void)
{
    const char *source = getenv("SRCDIR");
    const char *const headers[] = {"tally.h", "rules.h",   "quantile.h", "statistics.h",
                                   "parts.h", "methods.h", "io.h"};
    char path[1024], name[80];
    int functions = 0;
    if (!source) {
        printf("SRCDIR is not set: the header is not looked at\n");
        return;
    }
    for (size_t h = 0; h < sizeof headers / sizeof *headers; h++) {
        snprintf(path, sizeof path, "%s/include/tally/%s", source, headers[h]);
        blob header = help_load(path);
        blob_add(&header, "", 1);
        for (const char *at = (char *)header.bytes; (at = strstr(at, "\nTALLY_API ")) != NULL;
             at++) {
            const char *end = strchr(at, '('), *begin = end;
            while (begin[-1] == '_' || (begin[-1] >= 'a' && begin[-1] <= 'z') ||
                   (begin[-1] >= '0' && begin[-1] <= '9'))
                begin--;
            snprintf(name, sizeof name, "%.*s(", (int)(end - begin), begin);
            CHECK_SAY(strstr(met, name) != NULL, "%s) is not called here", name);
            functions++;
        }
        blob_free(&header);
    }
    CHECK(functions > 60);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    tally_context *context = help_context(1);
    axes_and_names();
    contexts(context);
    plans(context);
    quantiles();
    bin_statistics(context);
    wide_sums();
    statistics(context);
    results(context);
    words(context);
    summaries();
    inputs();
    tally_context_destroy(context);
    check_all_met();
    return help_end();
}
