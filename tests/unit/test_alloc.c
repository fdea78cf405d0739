/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of memory: every allocation of every part fails in turn. Each time the status is
 * TALLY_ERROR_MEMORY, the message says so and outputs stay as they were; that nothing leaks is for
 * the address sanitizer and valgrind to see. Once memory runs out for real, under a limit.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/alloc.h"
#include "execute_help.h"
#include "input_help.h"
#include "plan/plan.h"

/* fontconfig keeps what it read until the process ends, some of it where LSan does not look. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig";
}

/* Something that allocates and cleans up after itself. */
typedef tally_status (*step)(const void *arg, tally_error *error);

/* Counts the allocations of one run that ends in `last`, then fails them one after the other. */
static void starve(const char *what, step run, const void *arg, tally_status last)
{
    tally_error error = {""};
    long before = ty_alloc_count();
    ty_alloc_fail_after(LONG_MAX);
    tally_status status = run(arg, &error);
    ty_alloc_fail_after(-1);
    long count = ty_alloc_count() - before;
    CHECK_SAY(status == last, "%s: %s: %s", what, tally_status_string(status), error.message);
    for (long k = 0; k < count; k++) {
        error.message[0] = '\0';
        ty_alloc_fail_after(k);
        status = run(arg, &error);
        ty_alloc_fail_after(-1);
        CHECK_SAY(status == TALLY_ERROR_MEMORY, "%s: allocation %ld of %ld: %s: %s", what, k, count,
                  tally_status_string(status), error.message);
        CHECK_SAY(strstr(error.message, "memory") != NULL, "%s: %s", what, error.message);
        ty_alloc_fail_after(k);
        status = run(arg, NULL);
        ty_alloc_fail_after(-1);
        CHECK(status == TALLY_ERROR_MEMORY);
    }
}

static tally_context *context; /* of three threads */

static tally_status open_context(const void *arg, tally_error *error)
{
    tally_context *const none = (tally_context *)&error;
    tally_context *c = none;
    tally_status status = tally_context_create(arg, &c, error);
    CHECK(!status == (c != none));
    if (!status)
        tally_context_destroy(c);
    return status;
}

static tally_status make_plan(const void *arg, tally_error *error)
{
    tally_plan *const none = (tally_plan *)&error;
    tally_plan *plan = none;
    tally_status status = tally_plan_create(context, arg, &plan, error);
    CHECK(!status == (plan != none));
    if (!status)
        tally_plan_destroy(plan);
    return status;
}

static tally_status list_edges(const void *arg, tally_error *error)
{
    double edges[8] = {42};
    tally_status status = tally_axis_edges_get(arg, edges, error);
    CHECK(!status || edges[0] == 42);
    return status;
}

static void test_plans(void)
{
    const double edges[5] = {0, 1, 3, 7, 20};
    uint16_t categories[256] = {0};
    tally_axis axes[6] = {tally_axis_even(4, 0, 1),         tally_axis_integer(4, 0),
                          tally_axis_log(4, 1, 1000),       tally_axis_edges(4, edges),
                          tally_axis_even(4, 1, 1 + 2e-15), tally_axis_integer(4, 0)};
    axes[5].kind = TALLY_AXIS_CATEGORY;
    axes[5].categories = categories;
    static const tally_dtype dtypes[] = {TALLY_U8, TALLY_I16, TALLY_U64, TALLY_F32};
    for (int a = 0; a < 6; a++) {
        starve("edges", list_edges, &axes[a], TALLY_OK);
        for (int d = 0; d < (a == 5 ? 1 : 4); d++) {
            tally_plan_options o = help_options(dtypes[d], axes[a]);
            o.channels = d == 1 ? 5 : 0;
            o.weight_dtype = d == 2 ? TALLY_F64 : (tally_dtype)0;
            starve("plan", make_plan, &o, TALLY_OK);
        }
    }
    tally_plan_options o = help_options(TALLY_U8, axes[2]);
    o.dimensions = 4;
    for (int d = 1; d < 4; d++) {
        o.axes[d] = axes[d];
        o.dtypes[d] = dtypes[d];
    }
    starve("4-D plan", make_plan, &o, TALLY_OK);
    const tally_setting settings[2] = {{"one", "1"}, {"two", "2"}};
    o.settings = settings;
    o.settings_count = 2;
    starve("settings", make_plan, &o, TALLY_ERROR_ARGUMENT); /* what memory suffices to refuse */
}

typedef struct {
    tally_plan *plan;
    tally_view views[2];
    tally_execute_options options;
    int reference;
} call;

static tally_status execute(const void *arg, tally_error *error)
{
    static sheet s;
    const call *c = arg;
    tally_output output = help_sheet(&s, tally_plan_options_get(c->plan)->sum_squares);
    ty_buffer_cache_clear(&context->tables); /* each call as if it were the first */
    ty_buffer_cache_clear(&context->totals);
    tally_status status =
        c->reference ? tally_execute_reference(c->plan, c->views, &c->options, &output, error)
                     : tally_execute(c->plan, c->views, &c->options, &output, error);
    CHECK(!status == !help_untouched(&s));
    return status;
}

/* By every method, and once by the reference, to which all are one. */
static void starve_call(const tally_plan_options *o, call *c)
{
    int reference_done = 0;
    for (uint32_t m = 0; m < tally_method_count(); m++) {
        tally_method_info info = {.struct_size = sizeof info};
        tally_plan_options options = *o;
        tally_method_get(m, &info, NULL);
        options.method = info.name;
        if (tally_plan_create(context, &options, &c->plan, NULL))
            continue;
        for (c->reference = 0; c->reference < 2 - reference_done; c->reference++)
            starve(info.name, execute, c, TALLY_OK);
        reference_done = 1;
        tally_plan_destroy(c->plan);
    }
}

/* Views of every layout: packed, rows apart, channels, batches; small, and large enough for
 * threads. */
static void test_calls(tally_dtype dtype, const unsigned char *data, uint64_t elements)
{
    const int64_t size = (int64_t)tally_dtype_bytes(dtype);
    const unsigned char *mask_bytes = data;
    for (int layout = 0; layout < 12; layout++) {
        tally_plan_options o = help_options(dtype, tally_axis_even(20, 0, 100));
        tally_view mask = tally_view_1d(mask_bytes, TALLY_U8, elements / 12), weights = mask;
        call c = {.options = TALLY_EXECUTE_OPTIONS_INIT};
        tally_view *v = &c.views[0];
        *v = tally_view_1d(data, dtype, elements / 12);
        if (layout & 1) {
            v->rows = 2;
            v->row_stride_bytes = size * (int64_t)(elements / 12 + 1);
        }
        if (layout & 2)
            o.channels = v->channels = 3;
        if (layout & 4)
            v->batches = 2;
        if (layout >= 8)
            c.options.mask = &mask;
        if (layout >= 10) {
            weights.dtype = o.weight_dtype = layout == 10 ? TALLY_I8 : TALLY_U8;
            o.sum_squares = layout == 11;
            c.options.weights = &weights;
        }
        starve_call(&o, &c);
    }
    tally_plan_options o = help_options(dtype, tally_axis_even(5, 0, 100));
    call c = {.options = TALLY_EXECUTE_OPTIONS_INIT};
    o.dimensions = 2;
    o.axes[1] = tally_axis_log(5, 1, 100);
    o.dtypes[1] = dtype;
    c.views[0] = c.views[1] = tally_view_1d(data, dtype, elements / 2);
    starve_call(&o, &c);
}

/* ---- results ---- */

static tally_plan *result_plan;
static tally_result *filled;

static tally_status create_result(const void *arg, tally_error *error)
{
    static const char *const names[2] = {"R", NULL};
    tally_result *const none = (tally_result *)&error;
    tally_result *r = none;
    (void)arg;
    tally_status status = tally_result_create(result_plan, 2, names, &r, error);
    CHECK(!status == (r != none));
    if (status)
        return status;
    status = tally_result_note(r, "a file", "cpu", "by hand", 1, 2, error);
    if (!status)
        status = tally_result_merge(r, filled, error);
    if (!status)
        status = tally_result_narrow(r, TALLY_COUNTER_U16SAT, error);
    tally_result_destroy(r);
    return status;
}

static int swallow(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)user += size;
    return 0;
}

static tally_status write_result(const void *arg, tally_error *error)
{
    const tally_result *one = filled;
    size_t size = 0;
    return tally_result_write(&one, 1, *(const tally_format *)arg, NULL, swallow, &size, error);
}

static tally_status save_result(const void *arg, tally_error *error)
{
    const tally_result *one = filled;
    const char *path = help_path("saved");
    int before = help_files();
    tally_status status = tally_result_save(&one, 1, *(const tally_format *)arg, NULL, path, error);
    CHECK_SAY(help_files() == before + !status, "%d files, %d before", help_files(), before);
    unlink(path);
    return status;
}

static tally_status parse_result(const void *arg, tally_error *error)
{
    const blob *text = arg;
    tally_result *const none = (tally_result *)&error;
    tally_result *r = none;
    tally_status status =
        tally_result_parse((const char *)text->bytes, text->size, "it", 0, &r, error);
    CHECK(!status == (r != none));
    if (!status)
        tally_result_destroy(r);
    return status;
}

#define GROUPS                                                                                     \
    "{\"schema\":\"tally/1\",\"by\":\"g,x\",\"axes\":[{\"kind\":\"integer\",\"bins\":2,"           \
    "\"lo\":0,\"hi\":2,\"edges\":[0,1,2],\"first\":0}],\"histograms\":["
#define GROUP(name)                                                                                \
    "{\"name\":\"" name "\",\"counts\":[1,2],"                                                     \
    "\"underflow\":0,\"overflow\":0,\"nan\":0,\"masked\":0}"

/* Of two results with groups of their own. */
static tally_status merge_groups(const void *arg, tally_error *error)
{
    static const char one[] = GROUPS GROUP("a") "," GROUP("b") "]}", two[] = GROUPS GROUP("c") "]}";
    tally_result *a = NULL, *b = NULL;
    tally_result_info info = TALLY_RESULT_INFO_INIT;
    (void)arg;
    tally_status status = tally_result_parse(one, strlen(one), "one", 0, &a, error);
    if (!status)
        status = tally_result_parse(two, strlen(two), "two", 0, &b, error);
    if (!status)
        status = tally_result_merge(a, b, error);
    CHECK(!a || (!tally_result_info_get(a, &info) && info.histograms == (status ? 2 : 3)));
    tally_result_destroy(a);
    tally_result_destroy(b);
    return status;
}

static void test_results(const unsigned char *data)
{
    starve("groups", merge_groups, NULL, TALLY_OK);
    tally_plan_options o = help_options(TALLY_U8, tally_axis_log(9, 1, 200));
    o.channels = 2;
    result_plan = help_plan(context, &o);
    tally_view v = tally_view_1d(data, TALLY_U8, 500);
    v.channels = 2;
    static const char *const names[2] = {"R", NULL};
    CHECK(tally_result_create(result_plan, 2, names, &filled, NULL) == TALLY_OK);
    tally_output output = tally_result_output(filled);
    CHECK(tally_execute(result_plan, &v, NULL, &output, NULL) == TALLY_OK);
    starve("result", create_result, NULL, TALLY_OK);
    for (int f = TALLY_FORMAT_TABLE; f <= TALLY_FORMAT_SVG; f++) {
        tally_format format = (tally_format)f;
        tally_error error = {""};
        tally_status last = write_result(&format, &error);
        CHECK(last == TALLY_OK || last == TALLY_ERROR_UNSUPPORTED); /* pictures need cairo */
        starve("write", write_result, &format, last);
        starve("save", save_result, &format, last);
    }
    const tally_result *one = filled;
    const char *path = help_path("saved");
    CHECK(tally_result_save(&one, 1, TALLY_FORMAT_JSON, NULL, path, NULL) == TALLY_OK);
    blob text = help_load(path);
    starve("parse", parse_result, &text, TALLY_OK);
    blob_free(&text);
    unlink(path);
    tally_result_destroy(filled);
    tally_plan_destroy(result_plan);
}

/* ---- ranges, rules, files ---- */

typedef struct {
    const float *at;
    uint64_t left;
} chunk_source;

static const float *rule_data;
enum { RULE_DATA = 3000 };

static int read_chunk(void *user, tally_view *view, tally_error *error)
{
    chunk_source *s = user;
    (void)error;
    if (!s->left)
        return 0;
    uint64_t n = s->left < 1000 ? s->left : 1000;
    *view = tally_view_1d(s->at, TALLY_F32, n);
    s->at += n;
    s->left -= n;
    return 1;
}

static int rewind_chunks(void *user, tally_error *error)
{
    chunk_source *s = user;
    (void)error;
    *s = (chunk_source){rule_data, RULE_DATA};
    return 0;
}

static tally_status apply_rule(const void *arg, tally_error *error)
{
    chunk_source source = {rule_data, RULE_DATA};
    tally_chunks chunks = {read_chunk, rewind_chunks, &source};
    tally_axis axis = tally_axis_even(42, 42, 43), before = axis;
    const tally_rule_options options = {sizeof options, *(const tally_rule *)arg, NULL, 0};
    tally_status status = tally_rule_bins(context, chunks, TALLY_F32, &options, &axis, error);
    CHECK(!status || !memcmp(&axis, &before, sizeof axis));
    return status;
}

static tally_status find_range(const void *arg, tally_error *error)
{
    tally_stats stats = TALLY_STATS_INIT, before = stats;
    tally_status status = tally_stats_add(context, arg, NULL, 0, 1, &stats, error);
    CHECK(!status || !memcmp(&stats, &before, sizeof stats));
    return status;
}

static void test_rules(const unsigned char *data, uint64_t bytes)
{
    static float values[RULE_DATA];
    for (int i = 0; i < RULE_DATA; i++)
        values[i] = (float)help_below(1000000) / 1000;
    rule_data = values;
    for (int rule = TALLY_RULE_AUTO; rule <= TALLY_RULE_SQRT; rule++) {
        tally_rule r = (tally_rule)rule;
        starve("rule", apply_rule, &r, TALLY_OK);
    }
    tally_view v = tally_view_1d(data, TALLY_U8, bytes);
    starve("range", find_range, &v, TALLY_OK);
    v = tally_view_1d(values, TALLY_F32, RULE_DATA);
    starve("range", find_range, &v, TALLY_OK);
}

static tally_status save_image(const void *arg, tally_error *error)
{
    const char *path = help_path(arg);
    static unsigned char pixels[300];
    tally_view v = tally_view_1d(pixels, TALLY_U8, 10);
    v.rows = 10;
    v.channels = 3;
    int before = help_files();
    tally_status status = tally_image_save(path, &v, error);
    CHECK(help_files() == before + !status);
    unlink(path);
    return status;
}

static int append(void *user, const void *bytes, size_t size)
{
    strncat(user, bytes, size);
    return 0;
}

static char summary_text[4000];

/* Writes summary_text if it is empty, else compares with it. */
static tally_status summarize(const void *arg, tally_error *error)
{
    char text[sizeof summary_text] = "";
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    tally_summary *const none = (tally_summary *)&options, *summary = none;
    options.threads = 1;
    tally_status status = tally_summary_open(arg, &options, &summary, error);
    CHECK(!status == (summary != none));
    ty_alloc_fail_after(-1);
    if (!status) {
        const tally_summary *one = summary;
        CHECK(!tally_summary_write(&one, 1, TALLY_FORMAT_JSON, NULL, append,
                                   *summary_text ? text : summary_text, NULL));
        CHECK_SAY(!*text || !strcmp(text, summary_text), "%s", text);
    }
    if (!status)
        tally_summary_destroy(summary);
    return status;
}

/* An allocation that fails alone, as one of many bytes may, is no column without words either. */
static void test_summary(void)
{
    char table[4000] = "name,value\n";
    for (int i = 0; i < 300; i++)
        sprintf(table + strlen(table), "%c,%d\n", i < 200 ? 'a' : 'b' + i % 20, i);
    const char *path = help_write("table.csv", table, strlen(table));
    starve("summary", summarize, path, TALLY_OK);
    const long before = ty_alloc_count();
    ty_alloc_fail_after(LONG_MAX);
    summarize(path, NULL);
    for (long count = ty_alloc_count() - before, k = 0; k < count; k++) {
        ty_alloc_fail_once(k);
        const tally_status status = summarize(path, NULL);
        CHECK(!status || status == TALLY_ERROR_MEMORY);
    }
}

static void test_files(void)
{
    tally_input_options raw = TALLY_INPUT_OPTIONS_INIT;
    unsigned char bytes[5000];
    const char *numbers = "time,value\n1,2.5\n2,3.5\n3,-1e3\n";
    help_fill(bytes, sizeof bytes);
    raw.dtype = TALLY_U16;
    help_starve(help_write("raw", bytes, sizeof bytes), &raw);
    raw.rewindable = 1;
    raw.chunk_bytes = 100;
    help_starve(help_write("raw", bytes, sizeof bytes), &raw);
    tally_input_options text = TALLY_INPUT_OPTIONS_INIT;
    const char *columns[] = {"value", "1"};
    text.columns = columns;
    text.columns_count = 2;
    help_starve(help_write("text.csv", numbers, strlen(numbers)), &text);
    starve("ppm", save_image, "image.ppm", TALLY_OK);
    tally_error error = {""};
    starve("png", save_image, "image.png", save_image("image.png", &error));
}

/* ---- for real ---- */

/* In a child with little address space: what does not fit is refused, what does still works, even
 * when no thread can be started. */
static int live_in(uint64_t bytes)
{
    static unsigned char x[4 << 20];
    const struct rlimit limit = {bytes, bytes};
    tally_context *c = help_context(8);
    tally_plan_options o = help_options(TALLY_U8, tally_axis_even(UINT64_C(1) << 28, 0, 256));
    tally_plan *plan = NULL;
    tally_error error = {""};
    sheet s;
    tally_output output = help_sheet(&s, 0);
    tally_view v = tally_view_1d(x, TALLY_U8, sizeof x);
    o.method = "cpu-tables";
    if (setrlimit(RLIMIT_AS, &limit) || tally_plan_create(c, &o, &plan, &error))
        return 10;
    if (tally_execute(plan, &v, NULL, &output, &error) != TALLY_ERROR_MEMORY || !help_untouched(&s))
        return 11;
    tally_result *result = NULL;
    if (tally_result_create(plan, 1, NULL, &result, &error) != TALLY_ERROR_MEMORY)
        return 12;
    tally_plan_destroy(plan);
    o.axes[0] = tally_axis_log(UINT64_C(1) << 28, 1, 1e9);
    if (tally_plan_create(c, &o, &plan, &error) != TALLY_ERROR_MEMORY ||
        !strstr(error.message, "2147483656 bytes"))
        return 13;
    o.axes[0] = tally_axis_even(16, 0, 256);
    if (tally_plan_create(c, &o, &plan, &error) || tally_execute(plan, &v, NULL, &output, &error))
        return 14;
    tally_plan_destroy(plan);
    tally_context_destroy(c);
    return s.counts.u64[0] == sizeof x ? 0 : 15;
}

static uint64_t address_space(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%llu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void test_limit(void)
{
    uint64_t used = address_space();
    if (help_is_slow() || !used) {
        printf("a sanitizer, valgrind or an emulator: no limit on the address space\n");
        return;
    }
    fflush(stdout);
    for (uint64_t room = 4 << 20; room <= 256 << 20; room *= 8) {
        pid_t child = fork();
        if (child == 0)
            _exit(live_in(used + room));
        int status = -1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK_SAY(WIFEXITED(status) && WEXITSTATUS(status) == 0, "room %llu: status %#x",
                  (unsigned long long)room, (unsigned)status);
    }
}

int main(int argc, char **argv)
{
    const uint64_t bytes = 4 << 20;
    help_begin(argc, argv);
    unsigned char *data = malloc(bytes * 8);
    if (!data)
        abort();
    help_fill(data, bytes * 8);
    test_limit();
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    options.threads = 3;
    starve("context", open_context, &options, TALLY_OK);
    context = help_context(3);
    test_plans();
    test_calls(TALLY_U8, data, 1200);
    test_calls(TALLY_F32, data, 1200);
    test_calls(TALLY_U8, data, help_is_slow() ? 200000 : bytes);
    test_calls(TALLY_F32, data, help_is_slow() ? 200000 : bytes);
    test_results(data);
    test_rules(data, bytes);
    test_files();
    test_summary();
    tally_context_destroy(context);
    free(data);
    return help_end();
}
