/* Results: creating, narrowing, merging, and the saved form there and back. `test_result [SEED]` */
#include "locale_help.h"
#include "results.h"

#include <errno.h>
#include <locale.h>
#include <time.h>
#include <unistd.h>

#include "core/alloc.h"
#include "io/print.h"

static tally_result *simple(uint64_t bins, uint64_t histograms)
{
    tally_axis axis = tally_axis_even(bins, 0, (double)bins);
    ty_result_shape shape = {
        .dimensions = 1, .axes = &axis, .dtype = TALLY_U8, .histograms = histograms};
    tally_result *r = NULL;
    tally_error error = {""};
    CHECK_SAY(ty_result_create(&shape, &r, &error) == TALLY_OK, "%s", error.message);
    return r;
}

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
    tally_result *r = simple(4, 2);
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
    tally_result *r = simple(4, 1);
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
    tally_result *a = simple(3, 2), *b = simple(3, 2);
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
    tally_result *before = simple(3, 2);
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
    tally_result *sum = simple(2, 1), *back = NULL, *part;
    tally_result_info info = {.struct_size = sizeof info};
    tally_error error = {""};
    for (int i = 0; i < 5000; i++) {
        char name[32];
        snprintf(name, sizeof name, "part %d", i / 3); /* each three times */
        part = simple(2, 1);
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

static void test_round_trip(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        tally_result *a = random_result(), *b = NULL;
        tally_error error = {""};
        kept text = written(a, TALLY_FORMAT_JSON, NULL), again = {0};
        tally_status status = tally_result_parse(text.bytes, text.size, "x.json", 0, &b, &error);
        CHECK_SAY(status == TALLY_OK, "%s", error.message);
        if (!status) {
            CHECK_SAY(same_result(a, b), "round %d:\n%s", i, text.bytes);
            again = written(b, TALLY_FORMAT_JSON, NULL);
            CHECK_SAY(again.size == text.size && memcmp(again.bytes, text.bytes, text.size) == 0,
                      "written differently");
        }
        free(text.bytes);
        free(again.bytes);
        tally_result_destroy(a);
        tally_result_destroy(b);
    }
}

static void test_array(void)
{
    tally_result *rs[3], *back = NULL;
    tally_error error = {""};
    kept text = {0};
    for (int i = 0; i < 3; i++)
        rs[i] = random_result();
    CHECK_SAY(tally_result_write((const tally_result *const *)rs, 3, TALLY_FORMAT_JSON, NULL, keep,
                                 &text, &error) == TALLY_OK,
              "%s", error.message);
    for (size_t i = 0; i < 3; i++) {
        CHECK_SAY(tally_result_parse(text.bytes, text.size, "x", i, &back, &error) == TALLY_OK,
                  "%s", error.message);
        CHECK_SAY(same_result(rs[i], back), "element %zu", i);
        tally_result_destroy(back);
    }
    tally_result **all = NULL;
    size_t count = 0;
    CHECK_SAY(tally_result_parse_all(text.bytes, text.size, "x", &all, &count, &error) == TALLY_OK,
              "%s", error.message);
    CHECK_SAY(count == 3, "%zu", count);
    for (size_t i = 0; i < count; i++)
        CHECK_SAY(same_result(rs[i], all[i]), "element %zu of all", i);
    tally_result_destroy_all(all, count);
    for (long n = 0;; n++) {
        ty_alloc_fail_after(n);
        tally_status status =
            tally_result_parse_all(text.bytes, text.size, "x", &all, &count, &error);
        ty_alloc_fail_after(-1);
        if (!status)
            break;
        CHECK_SAY(status == TALLY_ERROR_MEMORY, "allocation %ld: %s", n, error.message);
    }
    tally_result_destroy_all(all, count);
    CHECK_SAY(tally_result_parse_all("[]", 2, "x", &all, &count, &error) == TALLY_OK && !all &&
                  !count,
              "an empty list");
    CHECK_SAY(tally_result_parse_all(text.bytes, text.size - 5, "x", &all, &count, &error) ==
                  TALLY_ERROR_FORMAT,
              "a list that is cut");
    CHECK_SAY(tally_result_parse_all("[7]", 3, "x", &all, &count, &error) == TALLY_ERROR_FORMAT,
              "a list of something else");
    tally_result_destroy_all(NULL, 7);
    CHECK_SAY(tally_result_parse(text.bytes, text.size, "x", 3, &back, &error) ==
                  TALLY_ERROR_ARGUMENT,
              "past the end");
    CHECK_SAY(strstr(error.message, "holds 3 results") != NULL, "%s", error.message);
    CHECK_SAY(tally_result_write((const tally_result *const *)rs, 2, TALLY_FORMAT_CSV, NULL, keep,
                                 &text, &error) == TALLY_ERROR_ARGUMENT,
              "csv takes one");
    for (int i = 0; i < 3; i++)
        tally_result_destroy(rs[i]);
    free(text.bytes);
}

static const char sample_json[] =
    "{\"schema\":\"tally/"
    "1\",\"source\":[\"photo.png\"],\"dtype\":\"u8\",\"samples\":17,\"device\":\"cpu\","
    "\"method\":\"cpu-tables\",\"seconds\":0.0004,\n"
    "\"axes\":[{\"kind\":\"even\",\"bins\":4,\"lo\":0,\"hi\":1,\"edges\":[0,0.25,0.5,0.75,1]}],\n"
    "\"histograms\":[{\"name\":\"R\",\"counts\":[1,2,3,4],\"underflow\":1,\"overflow\":2,\"nan\":1,"
    "\"masked\":3}]}\n";

/* `from` in sample_json becomes `to`; the error is at `place` and has `says` in it. */
static const struct {
    const char *from, *to, *place, *says;
} damages[] = {
    {"tally/1", "tally/2", ":1:11:", "tally/1"},
    {"\"schema\":\"tally/1\",", "", ":1:1:", "no \"schema\""},
    {"\"u8\"", "\"u9\"", ":1:52:", "dtype must be one of \"u8\", \"i8\""},
    {"17", "18", ":1:67:", "samples is 18, but bins and flows add up to 17"},
    {"17", "17.0", ":1:67:", "samples must be an integer"},
    {"0.0004", "-1", ":1:117:", "seconds"},
    {"0.0004", "1e999", ":1:117:", "seconds"},
    {"[\"photo.png\"]", "\"photo.png\"", ":1:30:", "source is a string; it must be an array"},
    {"[\"photo.png\"]", "[1]", ":1:31:", "source is a number; it must be a string"},
    {"\"even\"", "\"odd\"", ":2:17:", "kind must be one of \"even\", \"edges\""},
    {"\"bins\":4", "\"bins\":1152921504606846976",
     ":2:73:", "edges has 5 numbers, but bins is 1152921504606846976"},
    {"\"bins\":4", "\"bins\":18446744073709551615", ":2:74:", "edges has 5 numbers"},
    {"\"bins\":4", "\"bins\":18446744073709551616", ":2:31:", "bins must be an integer"},
    {"\"bins\":4", "\"bins\":-4", ":2:31:", "bins must be an integer"},
    {"\"bins\":4,", "", ":2:9:", "an axis has no \"bins\""},
    {"\"lo\":0", "\"lo\":0.1", ":2:38:", "lo is 0.10000000000000001, but the first edge is 0"},
    {"\"hi\":1", "\"hi\":\"1\"", ":2:45:", "hi must be a number"},
    {"0.5,0.75", "0.75,0.5", ":2:68:", "edge 3 is 0.5, not above the one before, 0.75"},
    {"0.25,0.5", "0.25,0.25", ":2:63:", "edge 2 is 0.25, not above"},
    {"0.25,0.5", "0.26,0.5", ":2:9:", "edge 1 is 0.26000000000000001, but this even axis has 0.25"},
    {"0.25,0.5", "0.25,[0.5]", ":2:63:", "an edge must be a number"},
    {"\"even\"", "\"log\"", ":2:9:", "a log axis starts above 0"},
    {"\"even\"", "\"integer\"", ":2:9:", "needs \"first\""},
    {"\"even\"", "\"category\"", ":2:9:", "needs \"categories\""},
    {"[0,0.25,0.5,0.75,1]", "[0,0.25,0.5,0.75,1],\"under\":\"drop\"",
     ":2:83:", "under must be one of \"count\", \"clamp\", \"fail\""},
    {"[0,0.25,0.5,0.75,1]", "[0,0.25,0.5,0.75,1],\"nan\":\"clamp\"", ":2:81:", "nan must be"},
    {"[1,2,3,4]", "[1,2,3]", ":3:36:", "counts has 3 numbers, but the axes have 4 bins"},
    {"[1,2,3,4]", "[1,2,3,4,5]", ":3:36:", "counts has 5 numbers"},
    {"[1,2,3,4]", "[1,-2,3,4]", ":3:39:", "a count must be an integer from 0"},
    {"[1,2,3,4]", "[1,2.5,3,4]", ":3:39:", "a count must be"},
    {"[1,2,3,4]", "[1,18446744073709551616,3,4]", ":3:39:", "a count must be"},
    {"[1,2,3,4]", "{\"1\":2}", ":3:36:", "counts is an object; it must be an array"},
    {"\"nan\":1,", "", ":3:15:", "a histogram has no \"nan\""},
    {"\"nan\":1", "\"nan\":-1", ":3:79:", "nan must be an integer"},
    {"\"R\"", "7", ":3:23:", "name is a number; it must be a string"},
    {"\"R\"", "\"R\\u0000\"", ":3:23:", "U+0000"},
    {"\"R\"", "\"\\ud800\"", ":3:24:", "not an escape"},
    {"\"R\"", "\"\xff\"", ":3:24:", "not valid UTF-8"},
    {"\"R\"", "\"\n\"", ":3:24:", "control character"},
    {"\"device\"", "\"dtype\"", ":1:70:", "\"dtype\" is here a second time"},
    {"\"device\":", "\"counter\":", ":1:80:", "counter must be one of"},
    {"\"device\":\"cpu\"", "\"counter\":\"u8sat\",\"weights\":\"f64\"", ":1:80:", "no counter"},
    {"]}\n", "]}]\n", ":3:94:", "more text after the end"},
    {"]}\n", "]\n", ":4:1:", "the text is cut off before '}'"},
    {"[1,2,3,4]", "[1,2,3,4,]", ":3:45:", "not a JSON value"},
    {"[1,2,3,4]", "[1,02,3,4]", ":3:39:", "not a JSON number"},
    {"[1,2,3,4]", "[1 2,3,4]", ":3:39:", "expected ',' or ']'"},
    {"\"schema\":", "'schema':", ":1:2:", "expected a key"},
    {"\"schema\":", "\"schema\"", ":1:10:", "expected ':'"},
};

static char *damaged(const char *from, const char *to)
{
    const char *at = strstr(sample_json, from);
    if (!at)
        abort();
    char *text = malloc(sizeof sample_json + strlen(to));
    sprintf(text, "%.*s%s%s", (int)(at - sample_json), sample_json, to, at + strlen(from));
    return text;
}

static void test_damage(void)
{
    tally_error error = {""};
    tally_result *r = NULL;
    CHECK_SAY(tally_result_parse(sample_json, strlen(sample_json), "h.json", 0, &r, &error) ==
                  TALLY_OK,
              "%s", error.message);
    tally_result_destroy(r);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char *text = damaged(damages[i].from, damages[i].to);
        tally_status status = tally_result_parse(text, strlen(text), "h.json", 0, &r, &error);
        CHECK_SAY(status == TALLY_ERROR_FORMAT, "case %zu gives %d: %s", i, status, text);
        char start[40];
        snprintf(start, sizeof start, "h.json%s ", damages[i].place);
        CHECK_SAY(strncmp(error.message, start, strlen(start)) == 0, "case %zu: not at %s %s", i,
                  damages[i].place, error.message);
        CHECK_SAY(strstr(error.message, damages[i].says) != NULL, "case %zu: %s", i, error.message);
        if (!status)
            tally_result_destroy(r);
        free(text);
    }
    for (size_t n = 0; n + 1 < strlen(sample_json); n++) {
        char *cut = malloc(n ? n : 1); /* exactly: a read past the end is seen by the sanitizer */
        memcpy(cut, sample_json, n);
        CHECK_SAY(tally_result_parse(cut, n, NULL, 0, &r, NULL) == TALLY_ERROR_FORMAT, "cut at %zu",
                  n);
        free(cut);
    }
}

static void test_lenient(void)
{
    static const char *const fine[][2] = {
        {"\"schema\":", "\"later\":{\"a\":[1,{}]},\"\\u0073chema\":"},
        {"\"samples\":17,", ""},
        {"\"seconds\":0.0004,", ""},
        {"\"dtype\":\"u8\"", "\"dtype\":null"},
        {"{\"schema\"", "\xef\xbb\xbf {\t\"schema\""},
        {"\"R\"", "\"\\ud83d\\ude00\\u20ac\\n\""}};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        char *text = damaged(fine[i][0], fine[i][1]);
        tally_error error = {""};
        tally_result *r = NULL;
        CHECK_SAY(tally_result_parse(text, strlen(text), NULL, 0, &r, &error) == TALLY_OK,
                  "%zu: %s", i, error.message);
        if (r && i == 5)
            CHECK_SAY(strcmp(r->names[0], "\xf0\x9f\x98\x80\xe2\x82\xac\n") == 0, "%s",
                      r->names[0]);
        CHECK_SAY(r && ty_result_samples(r) == 17, "samples");
        tally_result_destroy(r);
        free(text);
    }
    char deep[200];
    for (int n = 64; n <= 65; n++) {
        memset(deep, '[', sizeof deep);
        memset(deep + n, ']', (size_t)n);
        tally_error error = {""};
        tally_result *r;
        CHECK_SAY(tally_result_parse(deep, 2 * (size_t)n, NULL, 0, &r, &error) ==
                      TALLY_ERROR_FORMAT,
                  "deep");
        CHECK_SAY(!strstr(error.message, "inside each other") == (n == 64), "%d: %s", n,
                  error.message);
    }
}

static void test_numbers(int rounds)
{
    char text[TY_NUMBER_SIZE], other[TY_NUMBER_SIZE], *end;
    static const struct {
        double value;
        const char *text;
    } known[] = {{0, "0"},
                 {-0.0, "-0"},
                 {0.1, "0.1"},
                 {1e21, "1e21"},
                 {1e16, "10000000000000000"},
                 {5e-324, "5e-324"},
                 {1.0 / 3, "0.3333333333333333"},
                 {-2.5e-7, "-2.5e-7"},
                 {123456.75, "123456.75"},
                 {0x1p53, "9007199254740992"},
                 {1.7976931348623157e308, "1.7976931348623157e308"},
                 {0.00001, "0.00001"},
                 {255, "255"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, "nan"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = ty_print_shortest(known[i].value, text);
        CHECK_SAY(strcmp(text, known[i].text) == 0 && length == strlen(text), "%s is %s",
                  known[i].text, text);
    }
    for (int i = 0; i < rounds; i++) {
        double value = i % 2 ? random_double() : (double)(int64_t)next() / 1e6;
        ty_print_shortest(value, text);
        CHECK_SAY(strtod(text, &end) == value && !*end, "%a prints as %s", value, text);
        /* One digit less no longer reads back: count the digits, ask printf for one fewer. */
        int digits = 0, zeros = 0;
        for (const char *p = text; *p && *p != 'e'; p++) {
            if (*p >= '1' && *p <= '9') {
                digits += zeros + 1;
                zeros = 0;
            } else if (*p == '0' && digits) {
                zeros++;
            }
        }
        if (digits > 1) {
            snprintf(other, sizeof other, "%.*e", digits - 2, value);
            CHECK_SAY(strtod(other, NULL) != value, "%s is shorter than %s", other, text);
        }
    }
    ty_print_grouped(1234567, text);
    CHECK_SAY(strcmp(text, "1,234,567") == 0, "%s", text);
    ty_print_fixed(-1234.5678, 2, text);
    CHECK_SAY(strcmp(text, "-1234.57") == 0, "%s", text);
}

/* Numbers keep their point, in and out, in a locale that has a comma. */
static void test_locale(void)
{
    enum { COUNT = 500 };
    static double values[COUNT];
    static char texts[COUNT][3][TY_NUMBER_SIZE];
    char text[TY_NUMBER_SIZE];
    for (int i = 0; i < COUNT; i++) {
        values[i] = i % 2 ? random_double() : (double)(int64_t)next() / 1e6;
        ty_print_shortest(values[i], texts[i][0]);
        ty_print_fixed(values[i], 3, texts[i][1]);
        ty_print_scientific(values[i], 5, texts[i][2]);
    }
    if (!comma_locale()) {
        printf("skipped: numbers under a decimal comma: no such locale, and localedef made none\n");
        return;
    }
    snprintf(text, sizeof text, "%.1f", 0.5);
    CHECK_SAY(strcmp(text, "0,5") == 0, "the locale is in force: %s", text);
    for (int i = 0; i < COUNT; i++) {
        ty_print_shortest(values[i], text);
        CHECK_SAY(strcmp(text, texts[i][0]) == 0, "%s became %s", texts[i][0], text);
        ty_print_fixed(values[i], 3, text);
        CHECK_SAY(strcmp(text, texts[i][1]) == 0, "%s became %s", texts[i][1], text);
        ty_print_scientific(values[i], 5, text);
        CHECK_SAY(strcmp(text, texts[i][2]) == 0, "%s became %s", texts[i][2], text);
    }
    test_round_trip(20);
    setlocale(LC_ALL, "C");
}

/* Every allocation fails once: MEMORY each time, nothing leaks (the sanitizer looks), inputs stay.
 */
static void test_memory(void)
{
    tally_result *a = random_result();
    tally_error error;
    kept text = written(a, TALLY_FORMAT_JSON, NULL);
    tally_result *b = NULL, *c = NULL;
    int refused = 0;
    for (long n = 0; n < 1000; n++) {
        ty_alloc_fail_after(n);
        tally_status status = tally_result_parse(text.bytes, text.size, "x", 0, &b, &error);
        ty_alloc_fail_after(-1);
        if (!status)
            break;
        CHECK_SAY(status == TALLY_ERROR_MEMORY, "allocation %ld: %s", n, error.message);
        refused++;
    }
    CHECK_SAY(refused > 5, "%d", refused);
    CHECK_SAY(tally_result_parse(text.bytes, text.size, "x", 0, &c, &error) == TALLY_OK, "parse");
    for (uint64_t i = 0; i < b->bins * b->histograms; i++)
        ((uint64_t *)b->counts)[i] = 0;
    for (uint64_t i = 0; b->flow_sums && i < 4 * b->histograms; i++)
        ((uint64_t *)b->flow_sums)[i] = 0;
    b->noted = 0;
    tally_result_note(b, "more", "other", "x", 0, 0, NULL);
    for (long n = 0; n < 1000; n++) {
        ty_alloc_fail_after(n);
        tally_status status = tally_result_merge(c, b, &error);
        ty_alloc_fail_after(-1);
        CHECK_SAY(!status || status == TALLY_ERROR_MEMORY, "allocation %ld: %s", n, error.message);
        if (status != TALLY_ERROR_MEMORY)
            break;
        CHECK_SAY(same_result(a, c), "a failed merge changes nothing");
    }
    uint32_t sources = c->sources_count;
    for (long n = 0; n < 1000; n++) {
        ty_alloc_fail_after(n);
        tally_status status = tally_result_note(c, "s", "d", "m", 1, 1, &error);
        ty_alloc_fail_after(-1);
        if (!status)
            break;
        CHECK_SAY(status == TALLY_ERROR_MEMORY && c->sources_count == sources, "allocation %ld", n);
    }
    tally_result_destroy(a);
    tally_result_destroy(b);
    tally_result_destroy(c);
    free(text.bytes);
}

static void test_sinks(void)
{
    tally_result *r = simple(5000, 2);
    kept k = {.limit = 20000, .code = EPIPE};
    tally_error error = {""};
    const tally_result *one = r;
    CHECK_SAY(tally_result_write(&one, 1, TALLY_FORMAT_JSON, NULL, keep, &k, &error) ==
                  TALLY_ERROR_IO,
              "a sink that fails");
    CHECK_SAY(strstr(error.message, strerror(EPIPE)) != NULL, "%s", error.message);
    CHECK_SAY(tally_result_write(&one, 1, TALLY_FORMAT_JSON, NULL, NULL, &k, &error) ==
                  TALLY_ERROR_ARGUMENT,
              "no sink");
    free(k.bytes);

    char folder[] = "/tmp/tally-test-XXXXXX", path[80];
    CHECK_SAY(mkdtemp(folder) != NULL, "mkdtemp");
    snprintf(path, sizeof path, "%s/r.json", folder);
    CHECK_SAY(tally_result_save(&one, 1, TALLY_FORMAT_JSON, NULL, path, &error) == TALLY_OK, "%s",
              error.message);
    FILE *file = fopen(path, "rb");
    CHECK_SAY(file != NULL, "%s", path);
    if (file) {
        char *text = malloc(1 << 20);
        size_t size = fread(text, 1, 1 << 20, file);
        tally_result *back = NULL;
        fclose(file);
        CHECK_SAY(tally_result_parse(text, size, path, 0, &back, &error) == TALLY_OK, "%s",
                  error.message);
        CHECK_SAY(back && same_result(r, back), "saved and read");
        tally_result_destroy(back);
        free(text);
    }
    remove(path);
    CHECK_SAY(rmdir(folder) == 0, "nothing else is left in the folder");
    snprintf(path, sizeof path, "%s/none/r.json", folder);
    CHECK_SAY(tally_result_save(&one, 1, TALLY_FORMAT_JSON, NULL, path, &error) == TALLY_ERROR_IO,
              "no folder");
    CHECK_SAY(strstr(error.message, path) != NULL, "%s", error.message);
    tally_result_destroy(r);
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
    test_round_trip(300);
    test_array();
    test_damage();
    test_lenient();
    test_numbers(20000);
    test_locale();
    for (int i = 0; i < 10; i++)
        test_memory();
    test_sinks();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
