/* SPDX-License-Identifier: Apache-2.0 */
/* Results: creating, narrowing and merging. `test_result [SEED]` */
#include "results.h"

#include <time.h>

static void test_create(void)
{
    double edges[] = {-1.5, 0.25, 7};
    tally_axis axes[2] = {tally_axis_edges(2, edges), tally_axis_integer(3, -1)};
    const char *names[] = {"x", NULL};
    ty_result_shape shape = {.dimensions = 2,
                             .axes = axes,
                             .kind = TALLY_RESULT_SUMS_F64,
                             .squares = 1,
                             .dtype = TALLY_F32,
                             .histograms = 2,
                             .names = names};
    tally_result *r;
    CHECK_SAY(ty_result_create(&shape, &r, NULL) == TALLY_OK, "create");
    edges[1] = 0; /* the result keeps its own */
    tally_result_info info = {.struct_size = sizeof info};
    CHECK_SAY(tally_result_info_get(r, &info) == TALLY_OK, "info");
    CHECK_SAY(info.bins == 6 && info.dimensions == 2 && info.histograms == 2 && info.has_squares,
              "%" PRIu64 " bins", info.bins);
    CHECK_SAY(tally_result_axis(r, 0)->edges[1] == 0.25, "own edges");
    CHECK_SAY(tally_result_axis(r, 0)->lo == -1.5 && tally_result_axis(r, 0)->hi == 7, "lo, hi");
    CHECK_SAY(tally_axis_edge(tally_result_axis(r, 1), 3) == 2 && !tally_result_axis(r, 1)->edges &&
                  tally_result_axis(r, 1)->last == TALLY_LAST_OPEN,
              "integer axis");
    CHECK_SAY(!tally_result_axis(r, 2) && !tally_result_counts(r, 2) && !tally_result_name(r, 2) &&
                  !tally_result_source(r, 0) && !tally_result_flows(r, 2) &&
                  !tally_result_squares(r, 2),
              "past the end");
    CHECK_SAY(strcmp(tally_result_name(r, 0), "x") == 0 &&
                  strcmp(tally_result_name(r, 1), "1") == 0,
              "names");
    tally_output output = tally_result_output(r);
    CHECK_SAY(output.accumulate && output.counts == tally_result_counts(r, 0) &&
                  output.sum_squares == tally_result_squares(r, 0) &&
                  output.flows == tally_result_flows(r, 0),
              "output");
    CHECK_SAY(
        (const double *)tally_result_counts(r, 1) - (const double *)tally_result_counts(r, 0) == 6,
        "second histogram");
    tally_result_destroy(r);
    tally_error error;
    shape.histograms = 0;
    CHECK_SAY(ty_result_create(&shape, &r, &error) == TALLY_ERROR_ARGUMENT, "no histograms");
    shape.histograms = UINT64_MAX / 2;
    CHECK_SAY(ty_result_create(&shape, &r, &error) == TALLY_ERROR_MEMORY, "too many histograms");
    tally_result_destroy(NULL);
}

/* From a plan, filled by tally_execute, twice. */
static void test_from_plan(void)
{
    static const uint8_t pixels[] = {0, 10, 20, 1, 11, 21, 255, 11, 20};
    static const char *const names[] = {"R", "B"};
    tally_context_options cpu = TALLY_CONTEXT_OPTIONS_INIT;
    tally_plan_options options = {.struct_size = sizeof options,
                                  .dimensions = 1,
                                  .axes = {tally_axis_even(128, 0, 256)},
                                  .dtypes = {TALLY_U8},
                                  .channels = 3,
                                  .channel_mask = 5};
    tally_context *context = NULL;
    tally_plan *plan = NULL;
    tally_result *r = NULL;
    tally_error error = {""};
    cpu.device = TALLY_DEVICE_CPU;
    CHECK_SAY(tally_context_create(&cpu, &context, &error) == TALLY_OK, "%s", error.message);
    CHECK_SAY(tally_plan_create(context, &options, &plan, &error) == TALLY_OK, "%s", error.message);
    CHECK_SAY(tally_result_create(plan, 3, NULL, &r, &error) == TALLY_ERROR_ARGUMENT,
              "3 of 2 channels");
    CHECK_SAY(tally_result_create(plan, 2, names, &r, &error) == TALLY_OK, "%s", error.message);
    tally_view view = tally_view_1d(pixels, TALLY_U8, 3);
    view.channels = 3;
    tally_output output = tally_result_output(r);
    for (int i = 0; i < 2; i++)
        CHECK_SAY(tally_execute(plan, &view, NULL, &output, &error) == TALLY_OK, "%s",
                  error.message);
    const uint64_t *red = tally_result_counts(r, 0), *blue = tally_result_counts(r, 1);
    CHECK_SAY(red[0] == 4 && red[127] == 2 && blue[10] == 6, "%" PRIu64 " %" PRIu64 " %" PRIu64,
              red[0], red[127], blue[10]);
    CHECK_SAY(ty_result_samples(r) == 12 && r->dtype == TALLY_U8, "%" PRIu64, ty_result_samples(r));
    tally_plan_destroy(plan); /* the result outlives it */
    tally_context_destroy(context);
    CHECK_SAY(strcmp(tally_result_name(r, 1), "B") == 0 && tally_axis_edge(&r->axes[0], 128) == 256,
              "its own copies");
    tally_result_destroy(r);
}

static void test_notes_and_samples(void)
{
    tally_result *r = simple_result(4, 2);
    uint64_t *counts = r->counts;
    tally_error error;
    counts[0] = 5;
    counts[7] = 6;
    r->flows[1] = (tally_flows){1, 2, 3, 4};
    CHECK_SAY(tally_result_note(r, "a.png", "cpu", "tables", 0.5, 999, NULL) == TALLY_OK, "note");
    CHECK_SAY(tally_result_note(r, "b.png", NULL, NULL, 0.25, 1, NULL) == TALLY_OK, "note");
    tally_result_info info = {.struct_size = sizeof info};
    tally_result_info_get(r, &info);
    CHECK_SAY(info.samples == 21, "%" PRIu64, info.samples);
    CHECK_SAY(info.sources == 2 && info.seconds == 0.75 && strcmp(info.device, "cpu") == 0 &&
                  strcmp(info.method, "tables") == 0,
              "notes");
    CHECK_SAY(strcmp(tally_result_source(r, 1), "b.png") == 0, "source");
    CHECK_SAY(tally_result_note(r, NULL, NULL, NULL, -1, 0, &error) == TALLY_ERROR_ARGUMENT,
              "seconds");
    CHECK_SAY(tally_result_note(r, NULL, NULL, NULL, NAN, 0, &error) == TALLY_ERROR_ARGUMENT,
              "seconds");
    counts[1] = UINT64_MAX;
    CHECK_SAY(ty_result_samples(r) == UINT64_MAX, "the total sticks");
    tally_result_destroy(r);
}

static void test_narrow(void)
{
    tally_result *r = simple_result(4, 1);
    uint64_t *counts = r->counts;
    tally_error error = {""};
    counts[0] = 70000;
    counts[1] = 300;
    counts[2] = UINT64_C(1) << 32;
    CHECK_SAY(tally_result_narrow(r, TALLY_COUNTER_U32, &error) == TALLY_ERROR_ARGUMENT, "u32");
    CHECK_SAY(strstr(error.message, "bin 2: 4294967296") != NULL, "%s", error.message);
    CHECK_SAY(counts[0] == 70000 && counts[2] == UINT64_C(1) << 32, "a refusal changes nothing");
    uint64_t samples = ty_result_samples(r);
    CHECK_SAY(tally_result_narrow(r, TALLY_COUNTER_U16SAT, &error) == TALLY_OK, "u16sat");
    CHECK_SAY(counts[0] == 65535 && counts[1] == 300 && counts[2] == 65535 && counts[3] == 0,
              "stuck");
    CHECK_SAY(ty_result_samples(r) == samples, "samples stay known");
    CHECK_SAY(tally_result_narrow(r, TALLY_COUNTER_U64, &error) == TALLY_ERROR_ARGUMENT,
              "no way back");
    CHECK_SAY(tally_result_narrow(r, TALLY_COUNTER_U8SAT, &error) == TALLY_OK && counts[1] == 255,
              "u8sat");
    CHECK_SAY(tally_result_narrow(r, (tally_counter)4, &error) == TALLY_ERROR_ARGUMENT,
              "no counter");
    tally_result_destroy(r);
}

static void test_merge(void)
{
    tally_result *a = simple_result(3, 2), *b = simple_result(3, 2);
    uint64_t *ca = a->counts, *cb = b->counts;
    for (int i = 0; i < 6; i++) {
        ca[i] = (uint64_t)i;
        cb[i] = 100;
    }
    a->flows[0].nan = 1;
    b->flows[0] = (tally_flows){1, 2, 3, 4};
    tally_result_note(a, "a", "cpu", "m", 1, 0, NULL);
    tally_result_note(b, "b", "cuda:0", "m", 2, 0, NULL);
    tally_error error = {""};
    CHECK_SAY(tally_result_merge(a, b, &error) == TALLY_OK, "%s", error.message);
    CHECK_SAY(ca[0] == 100 && ca[5] == 105 && a->flows[0].nan == 4 && a->flows[0].masked == 4,
              "sums");
    CHECK_SAY(a->sources_count == 2 && strcmp(a->sources[1], "b") == 0, "sources");
    CHECK_SAY(strcmp(a->device, "mixed") == 0 && strcmp(a->method, "m") == 0 && a->seconds == 3,
              "notes");
    CHECK_SAY(tally_result_merge(a, a, &error) == TALLY_OK && ca[5] == 210 && a->sources_count == 2,
              "with itself");

    ca[4] = UINT64_MAX - 99;
    tally_result *before = simple_result(3, 2);
    memcpy(before->counts, a->counts, 48);
    CHECK_SAY(tally_result_merge(a, b, &error) == TALLY_ERROR_ARGUMENT, "overflow");
    CHECK_SAY(strstr(error.message, "histogram 1, bin 1") != NULL, "%s", error.message);
    CHECK_SAY(memcmp(before->counts, a->counts, 48) == 0 && a->sources_total == 4,
              "nothing changed");
    ca[4] = UINT64_MAX - 100;
    CHECK_SAY(tally_result_merge(a, b, &error) == TALLY_OK && ca[4] == UINT64_MAX,
              "up to the limit");
    a->flows[1].under = UINT64_MAX;
    b->flows[1].under = 1;
    ca[4] = 0;
    CHECK_SAY(tally_result_merge(a, b, &error) == TALLY_ERROR_ARGUMENT, "flows overflow");
    a->flows[1].under = 0;

    CHECK_SAY(tally_result_narrow(a, TALLY_COUNTER_U8SAT, &error) == TALLY_OK, "%s", error.message);
    CHECK_SAY(tally_result_merge(a, b, &error) == TALLY_ERROR_ARGUMENT, "counters differ");
    CHECK_SAY(strstr(error.message, "u8sat") != NULL, "%s", error.message);
    CHECK_SAY(tally_result_narrow(b, TALLY_COUNTER_U8SAT, &error) == TALLY_OK, "%s", error.message);
    uint64_t samples = ty_result_samples(a) + ty_result_samples(b);
    CHECK_SAY(tally_result_merge(a, b, &error) == TALLY_OK, "%s", error.message);
    CHECK_SAY(ca[5] == 255 && ca[4] == 100 && ty_result_samples(a) == samples, "saturating");
    tally_result_destroy(a);
    tally_result_destroy(b);
    tally_result_destroy(before);
}

/* Each changes one thing that keeps two results from adding up; `says` is in the message. */
/* However much is merged, some names and their number are kept. */
static void test_sources(void)
{
    tally_result *sum = simple_result(2, 1), *back = NULL, *part;
    tally_result_info info = {.struct_size = sizeof info};
    tally_error error = {""};
    for (int i = 0; i < 5000; i++) {
        char name[32];
        snprintf(name, sizeof name, "part %d", i / 3); /* each three times */
        part = simple_result(2, 1);
        CHECK_SAY(tally_result_note(part, name, NULL, NULL, 0, 0, NULL) == TALLY_OK, "note");
        CHECK_SAY(tally_result_merge(sum, part, &error) == TALLY_OK, "%s", error.message);
        tally_result_destroy(part);
    }
    for (int i = 0; i < 10; i++)
        CHECK_SAY(tally_result_merge(sum, sum, &error) == TALLY_OK, "%s", error.message);
    tally_result_info_get(sum, &info);
    CHECK_SAY(info.sources == TALLY_MAX_SOURCES && info.sources_total == 5000 * 1024,
              "%u of %" PRIu64, info.sources, info.sources_total);
    for (uint32_t i = 0; i < info.sources; i++) {
        char name[32];
        snprintf(name, sizeof name, "part %u", i);
        CHECK_SAY(strcmp(tally_result_source(sum, i), name) == 0, "%s",
                  tally_result_source(sum, i));
    }
    CHECK_SAY(!tally_result_source(sum, info.sources), "one more name");
    kept text = written(sum, TALLY_FORMAT_JSON, NULL);
    CHECK_SAY(strstr(text.bytes, ",\"sources\":5120000") != NULL, "%.900s", text.bytes);
    CHECK_SAY(text.size < 2000, "%zu bytes", text.size);
    CHECK_SAY(tally_result_parse(text.bytes, text.size, "x", 0, &back, &error) == TALLY_OK, "%s",
              error.message);
    CHECK_SAY(same_result(sum, back), "read back");
    sum->sources_total = UINT64_MAX - 1;
    CHECK_SAY(tally_result_merge(sum, back, &error) == TALLY_OK && sum->sources_total == UINT64_MAX,
              "the number sticks");
    tally_result_destroy(back);
    tally_result_destroy(sum);
    free(text.bytes);

    /* As written before there was a number: thousands of names. */
    kept old = {0};
    static const char head[] = "{\"schema\":\"tally/1\",\"source\":[\"a\"", name[] = ",\"b\"",
                      tail[] = "],\"axes\":[{\"kind\":\"even\",\"bins\":1,\"lo\":0,\"hi\":1,"
                               "\"edges\":[0,1]}],\"histograms\":[{\"name\":\"\",\"counts\":[7],"
                               "\"underflow\":0,\"overflow\":0,\"nan\":0,\"masked\":0}]}";
    keep(&old, head, sizeof head - 1);
    for (int i = 0; i < 3000; i++)
        keep(&old, name, sizeof name - 1);
    keep(&old, tail, sizeof tail - 1);
    CHECK_SAY(tally_result_parse(old.bytes, old.size, "x", 0, &back, &error) == TALLY_OK, "%s",
              error.message);
    tally_result_info_get(back, &info);
    CHECK_SAY(info.sources == 2 && info.sources_total == 3001, "%u of %" PRIu64, info.sources,
              info.sources_total);
    tally_result_destroy(back);
    free(old.bytes);
}

static void test_merge_refusals(void)
{
    double edges[] = {0, 1, 2, 3}, moved[] = {0, 1, 2.0000000000000004, 3};
    static const char *const x[] = {"x"}, *const y[] = {"y"};
    tally_axis base = tally_axis_edges(3, edges);
    struct {
        tally_axis axis;
        const char *const *names;
        tally_result_kind kind;
        const char *says;
    } cases[] = {
        {tally_axis_even(3, 0, 3), x, 0, "the kind is edges in the first and even"},
        {tally_axis_edges(3, moved), x, 0, "edge 2 is 2 in the first and 2.0000000000000004"},
        {tally_axis_edges(2, edges), x, 0, "3 bins in the first and 2"},
        {base, y, 0, "named \"x\" in the first and \"y\""},
        {base, x, TALLY_RESULT_SUMS_I64, "holds u64 and the second i64 sums"},
        {base, x, 0, "the last edge is closed in the first and open"},
        {base, x, 0, "below is count in the first and clamp"}};
    cases[5].axis.last = TALLY_LAST_OPEN;
    cases[6].axis.under = TALLY_FLOW_CLAMP;
    ty_result_shape shape = {.dimensions = 1, .axes = &base, .histograms = 1, .names = x};
    tally_result *a, *b;
    CHECK_SAY(ty_result_create(&shape, &a, NULL) == TALLY_OK, "create");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tally_error error = {""};
        shape.axes = &cases[i].axis;
        shape.names = cases[i].names;
        shape.kind = cases[i].kind;
        CHECK_SAY(ty_result_create(&shape, &b, NULL) == TALLY_OK, "create");
        CHECK_SAY(tally_result_merge(a, b, &error) == TALLY_ERROR_ARGUMENT, "case %zu", i);
        CHECK_SAY(strstr(error.message, cases[i].says) != NULL, "case %zu: %s", i, error.message);
        tally_result_destroy(b);
    }
    tally_result_destroy(a);
}

/* Sums of integers merge up to either end of int64, and not past it. */
static void test_merge_sums(void)
{
    static const struct {
        int64_t first, second;
        int fits;
    } cases[] = {{INT64_MAX - 5, 5, 1},  {INT64_MAX - 5, 6, 0},  {5, INT64_MAX - 5, 1},
                 {INT64_MIN + 5, -5, 1}, {INT64_MIN + 5, -6, 0}, {-1, INT64_MAX, 1},
                 {-1, INT64_MIN, 0},     {INT64_MIN, 0, 1},      {INT64_MIN, INT64_MAX, 1}};
    const tally_axis axis = tally_axis_even(1, 0, 1);
    const ty_result_shape shape = {
        .dimensions = 1, .axes = &axis, .histograms = 1, .kind = TALLY_RESULT_SUMS_I64};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tally_result *a = NULL, *b = NULL;
        CHECK(!ty_result_create(&shape, &a, NULL) && !ty_result_create(&shape, &b, NULL));
        memcpy(a->counts, &cases[i].first, sizeof(int64_t));
        memcpy(b->counts, &cases[i].second, sizeof(int64_t));
        const tally_status status = tally_result_merge(a, b, NULL);
        const int64_t want = cases[i].fits ? cases[i].first + cases[i].second : cases[i].first;
        CHECK_SAY(status == (cases[i].fits ? TALLY_OK : TALLY_ERROR_ARGUMENT) &&
                      !memcmp(a->counts, &want, sizeof want),
                  "case %zu: %s", i, tally_status_string(status));
        tally_result_destroy(a);
        tally_result_destroy(b);
    }
}

static void test_quantiles(void)
{
    const double q[] = {0.25, 0.5}, values[] = {1, 2, 3, NAN}, *at = values, *found = values;
    tally_result *r = simple_result(4, 2), *other = simple_result(4, 2);
    tally_error error = {""};
    CHECK_SAY(!tally_result_quantiles_get(r, 0, &at, &found) && !at && !found, "none yet");
    CHECK_SAY(!tally_result_quantiles_set(r, 2, q, values, &error), "%s", error.message);
    CHECK_SAY(tally_result_quantiles_get(r, 1, &at, &found) == 2 && at[1] == 0.5 && found[0] == 3 &&
                  isnan(found[1]),
              "the second histogram's");
    CHECK_SAY(!tally_result_quantiles_get(r, 2, NULL, NULL), "there is no third one");
    kept text = written(r, TALLY_FORMAT_JSON, NULL);
    CHECK_SAY(strstr(text.bytes, "\"summary\":{\"quantiles\":[{\"q\":0.25,\"value\":3},"
                                 "{\"q\":0.5,\"value\":null}]}") != NULL,
              "%s", text.bytes);
    free(text.bytes);
    ((uint64_t *)r->counts)[3] = 7; /* between 3 and 4: the guess would be 3.5 */
    text = written(r, TALLY_FORMAT_JSON, NULL);
    CHECK_SAY(strstr(text.bytes, "\"median\":2,") != NULL, "%s", text.bytes);
    free(text.bytes);
    text = written(r, TALLY_FORMAT_TABLE, NULL);
    CHECK_SAY(strstr(text.bytes, "median 2, ") &&
                  strstr(text.bytes, "quantiles 0.25: 1, 0.5: 2\n") &&
                  strstr(text.bytes, "quantiles 0.25: 3, 0.5: -\n"),
              "%s", text.bytes);
    free(text.bytes);
    /* All histograms have the same, or none has any. */
    text = written(r, TALLY_FORMAT_JSON, NULL);
    char *second = strstr(strstr(text.bytes, "\"q\":0.5") + 1, "\"q\":0.5");
    second[6] = '7'; /* 0.7 */
    tally_result *back = NULL;
    CHECK_SAY(tally_result_parse(text.bytes, text.size, "x", 0, &back, &error) ==
                      TALLY_ERROR_FORMAT &&
                  strstr(error.message, "the same quantiles"),
              "%s", error.message);
    free(text.bytes);
    CHECK_SAY(tally_result_quantiles_set(r, 1, (double[]){1.5}, values, &error) ==
                      TALLY_ERROR_ARGUMENT &&
                  strstr(error.message, "q[0] is 1.5"),
              "%s", error.message);
    CHECK_SAY(tally_result_quantiles_set(r, 2, q, NULL, &error) == TALLY_ERROR_ARGUMENT, "NULL");
    CHECK_SAY(tally_result_quantiles_get(r, 0, NULL, NULL) == 2, "refused, and as it was");
    CHECK_SAY(!tally_result_merge(r, other, &error) &&
                  !tally_result_quantiles_get(r, 0, NULL, NULL),
              "a sum has none");
    r->kind = TALLY_RESULT_SUMS_F64;
    CHECK_SAY(tally_result_quantiles_set(r, 2, q, values, &error) == TALLY_ERROR_ARGUMENT, "sums");
    r->kind = TALLY_RESULT_COUNTS;
    tally_result_destroy(r);
    tally_result_destroy(other);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", state);
    test_create();
    test_from_plan();
    test_notes_and_samples();
    test_narrow();
    test_merge();
    test_sources();
    test_merge_refusals();
    test_merge_sums();
    test_quantiles();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
