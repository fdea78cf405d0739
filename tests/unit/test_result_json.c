/* SPDX-License-Identifier: Apache-2.0 */
/* The saved form of results, there and back, and damaged. `test_result_json [SEED]` */
#include "locale_help.h"
#include "results.h"

#include <errno.h>
#include <locale.h>
#include <time.h>
#include <unistd.h>

#include "core/alloc.h"
#include "io/print.h"

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
    {"\"masked\":3", "\"masked\":3,\"summary\":{\"quantiles\":[{\"q\":2,\"value\":0}]}",
     ":3:115:", "q[0] is 2; 0 to 1 are quantiles"},
    {"\"masked\":3", "\"masked\":3,\"summary\":{\"quantiles\":[{\"q\":0.5}]}",
     ":3:116:", "a quantile has no \"value\""},
    {"\"masked\":3", "\"masked\":3,\"summary\":{\"quantiles\":[{\"q\":0.5,\"value\":\"nan\"}]}",
     ":3:133:", "value must be a number"},
    {"\"masked\":3", "\"masked\":3,\"summary\":{\"quantiles\":{}}", ":3:115:", "must be an array"},
    {"\"masked\":3", "\"masked\":3,\"summary\":[]", ":3:102:", "summary is an array"},
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
    tally_result *r = simple_result(5000, 2);
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
