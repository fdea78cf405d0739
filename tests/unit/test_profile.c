/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: filled in pieces, merged, saved, joined, refused. `test_profile [SEED]` */
#include "results.h"

#include <time.h>

#include "core/alloc.h"

enum { ROWS = 3000, BINS = 12, VALUES = 2, FIELDS = 5 };

typedef struct table {
    double x[ROWS], values[VALUES][ROWS];
} table;

/* Values far from zero, so that a plain sum of squares would lose them; some NaN, some x outside.
 */
static void fill_table(table *t)
{
    for (int i = 0; i < ROWS; i++) {
        t->x[i] = below(50) ? (double)below(1300) / 100 - 0.5 : NAN;
        for (int v = 0; v < VALUES; v++)
            t->values[v][i] = below(20) ? 1e9 * (v + 1) + (double)below(1000) / 64 : NAN;
    }
}

static tally_plan *make_plan(tally_context **context, uint64_t bins)
{
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    tally_context_options one = TALLY_CONTEXT_OPTIONS_INIT;
    tally_plan *plan = NULL;
    tally_error error = {""};
    one.threads = 1;
    one.device = TALLY_DEVICE_CPU;
    options.axes[0] = tally_axis_even(bins, 0, BINS);
    options.dtypes[0] = TALLY_F64;
    CHECK_SAY(!tally_context_create(&one, context, &error), "%s", error.message);
    CHECK_SAY(!tally_plan_create(*context, &options, &plan, &error), "%s", error.message);
    return plan;
}

static tally_view rows_of(const double *data, int count)
{
    tally_view view = TALLY_VIEW_INIT;
    view.data = data;
    view.dtype = TALLY_F64;
    view.columns = (uint64_t)count;
    return view;
}

/* Arrays for `cells`; free(s.count). */
static tally_statistics make_arrays(uint64_t cells)
{
    tally_statistics s = TALLY_STATISTICS_INIT;
    double *at = calloc((size_t)cells * (FIELDS + 1), sizeof *at),
           **to[] = {&s.sum, &s.mean, &s.m2, &s.min, &s.max};
    s.count = (uint64_t *)(void *)at;
    for (int f = 0; f < FIELDS; f++)
        *to[f] = at + (size_t)(f + 1) * cells;
    return s;
}

/* Adds rows `first` … `end`-1. */
static void add_rows(tally_result *profile, const tally_plan *plan, const table *t, int first,
                     int end)
{
    const uint64_t cells = VALUES * tally_plan_bins(plan);
    tally_statistics bins = make_arrays(cells), flows = make_arrays(4 * VALUES);
    tally_statistics_options how = TALLY_STATISTICS_OPTIONS_INIT;
    tally_error error = {""};
    how.skip_nan = 1;
    const tally_view x = rows_of(t->x + first, end - first),
                     values[] = {rows_of(t->values[0] + first, end - first),
                                 rows_of(t->values[1] + first, end - first)};
    CHECK_SAY(!tally_bin_statistics(plan, &x, values, VALUES, &how, &bins, &flows, &error), "%s",
              error.message);
    CHECK_SAY(!tally_profile_add(profile, &bins, &flows, &error), "%s", error.message);
    CHECK_SAY(!tally_result_note(profile, NULL, NULL, NULL, 0, (uint64_t)(end - first), &error),
              "%s", error.message);
    free(bins.count);
    free(flows.count);
}

static tally_result *make_profile(const tally_plan *plan)
{
    static const char *const names[] = {"y", "z"};
    tally_result *profile = NULL;
    tally_error error = {""};
    CHECK_SAY(!tally_profile_create(plan, "x", VALUES, names, &profile, &error), "%s",
              error.message);
    return profile;
}

/* The cell in long double, in two passes. */
static ty_moments plainly(const table *t, int v, double lo, double hi, int last)
{
    ty_moments m = {0, 0, NAN, NAN, NAN, NAN};
    long double sum = 0, squares = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < ROWS; i++) {
            const double value = t->values[v][i];
            if (!(t->x[i] >= lo && (t->x[i] < hi || (last && t->x[i] == hi))) || isnan(value))
                continue;
            if (pass) {
                squares += (value - sum / m.count) * (value - sum / m.count);
                continue;
            }
            m.count++;
            sum += value;
            m.min = fmin(m.min, value);
            m.max = fmax(m.max, value);
        }
    }
    m.sum = (double)sum;
    m.mean = (double)(sum / m.count);
    m.m2 = (double)squares;
    return m;
}

static void check_near(const ty_moments *found, const ty_moments *want, const char *what)
{
    CHECK_SAY(found->count == want->count, "%s: %" PRIu64 " values of %" PRIu64, what, found->count,
              want->count);
    CHECK_SAY(!want->count || (found->min == want->min && found->max == want->max), "%s", what);
    CHECK_SAY(!want->count || fabs(found->mean - want->mean) <= 1e-15 * fabs(want->mean), "%s: %g",
              what, found->mean - want->mean);
    CHECK_SAY(fabs(found->sum - want->sum) <= 1e-13 * fabs(want->sum), "%s: sum", what);
    CHECK_SAY(!want->count || fabs(found->m2 - want->m2) <= 1e-6 * want->m2, "%s: %.17g, not %.17g",
              what, found->m2, want->m2);
}

static void check_profile(const tally_result *r, const table *t, const char *what)
{
    const double width = (double)BINS / (double)r->bins;
    for (uint64_t h = 0; h < VALUES; h++) {
        for (uint64_t i = 0; i < r->bins; i++) {
            const ty_moments found = ty_profile_moments(r, h, i, i + 1),
                             want = plainly(t, (int)h, (double)i * width, (double)(i + 1) * width,
                                            i + 1 == r->bins);
            check_near(&found, &want, what);
        }
        const ty_moments under = ty_profile_flow(r, h, 0),
                         want = plainly(t, (int)h, -INFINITY, 0, 0);
        check_near(&under, &want, "below");
        CHECK_SAY(r->flows[h].under == under.count, "flows are those of the values");
    }
    CHECK_SAY(ty_result_samples(r) == ROWS, "%" PRIu64 " samples", ty_result_samples(r));
}

/* Pieces in one profile; parts that are saved, read and merged, to the same bits as in memory. */
static void test_pieces(void)
{
    tally_context *context = NULL;
    tally_plan *plan = make_plan(&context, BINS);
    table *t = malloc(sizeof *t);
    tally_error error = {""};
    fill_table(t);
    tally_result *whole = make_profile(plan), *pieces = make_profile(plan),
                 *merged = make_profile(plan), *read = make_profile(plan);
    add_rows(whole, plan, t, 0, ROWS);
    check_profile(whole, t, "whole");
    for (int at = 0; at < ROWS;) {
        const int end = at + 1 + (int)below((uint64_t)(ROWS - at));
        tally_result *part = make_profile(plan), *back = NULL;
        add_rows(pieces, plan, t, at, end);
        add_rows(part, plan, t, at, end);
        kept text = written(part, TALLY_FORMAT_JSON, NULL);
        CHECK_SAY(!tally_result_parse(text.bytes, text.size, "part", 0, &back, &error), "%s",
                  error.message);
        CHECK_SAY(same_result(part, back), "saved and read");
        CHECK_SAY(!tally_result_merge(merged, part, &error), "%s", error.message);
        CHECK_SAY(!tally_result_merge(read, back, &error), "%s", error.message);
        free(text.bytes);
        tally_result_destroy(part);
        tally_result_destroy(back);
        at = end;
    }
    check_profile(pieces, t, "pieces");
    check_profile(merged, t, "merged");
    CHECK_SAY(same_result(merged, read), "the same bits by way of files");
    const tally_statistics a = tally_profile_bins(merged, 0), b = tally_profile_bins(pieces, 0);
    CHECK_SAY(memcmp(a.m2, b.m2, BINS * sizeof *a.m2) == 0, "the same bits as in one profile");
    tally_result *wide = NULL;
    CHECK_SAY(!tally_result_rebin(whole, 0, 3, &wide, &error), "%s", error.message);
    check_profile(wide, t, "joined");
    CHECK_SAY(strcmp(tally_profile_column(wide), "x") == 0, "and named");
    tally_result_destroy(wide);
    tally_result_destroy(whole);
    tally_result_destroy(pieces);
    tally_result_destroy(merged);
    tally_result_destroy(read);
    free(t);
    tally_plan_destroy(plan);
    tally_context_destroy(context);
}

static void refuse_merge(tally_result *into, const tally_result *from, const char *says)
{
    tally_error error = {""};
    CHECK_SAY(tally_result_merge(into, from, &error) == TALLY_ERROR_ARGUMENT &&
                  strstr(error.message, says),
              "%s: %s", says, error.message);
}

static void test_refusals(void)
{
    static const char *const names[] = {"y", "z"}, *const others[] = {"y", "w"};
    tally_context *context = NULL, *second = NULL;
    tally_plan *plan = make_plan(&context, BINS), *wide = make_plan(&second, BINS / 2);
    tally_result *r = make_profile(plan), *other = NULL, *plain = NULL;
    tally_error error = {""};
    tally_write_options options = TALLY_WRITE_OPTIONS_INIT;
    tally_profile_create(plan, "t", VALUES, names, &other, &error);
    refuse_merge(r, other, "in bins of \"x\" and the second of \"t\"");
    tally_result_destroy(other);
    tally_profile_create(plan, "x", VALUES, others, &other, &error);
    refuse_merge(r, other, "named \"z\" in the first and \"w\"");
    tally_result_destroy(other);
    tally_profile_create(plan, "x", 1, names, &other, &error);
    refuse_merge(r, other, "2 histograms and the second 1");
    tally_result_destroy(other);
    other = make_profile(wide);
    refuse_merge(r, other, "12 bins in the first and 6");
    tally_result_destroy(other);
    other = make_profile(plan);
    CHECK_SAY(!tally_profile_time_set(other, 1, TALLY_TIME_SECOND, &error), "%s", error.message);
    CHECK_SAY(tally_profile_time(other, 1) == TALLY_TIME_SECOND, "the unit");
    refuse_merge(r, other, "times in none in the first and s");
    CHECK_SAY(!tally_result_create(plan, VALUES, names, &plain, &error), "%s", error.message);
    refuse_merge(r, plain, "the first is a profile");
    refuse_merge(plain, r, "the second is a profile");

    const tally_statistics none = TALLY_STATISTICS_INIT;
    CHECK_SAY(tally_profile_add(r, &none, &none, &error) == TALLY_ERROR_ARGUMENT, "no arrays");
    tally_statistics bins = tally_profile_bins(other, 0), flows = tally_profile_flows(other, 0);
    flows.max = NULL;
    CHECK_SAY(tally_profile_add(r, &bins, &flows, &error) == TALLY_ERROR_ARGUMENT,
              "one is missing");
    flows = tally_profile_flows(other, 0);
    bins.count[3] = 2;
    tally_profile_bins(r, 0).count[3] = UINT64_MAX - 1;
    CHECK_SAY(tally_profile_add(r, &bins, &flows, &error) == TALLY_ERROR_DATA, "too many");
    CHECK_SAY(tally_profile_add(plain, &bins, &flows, &error) == TALLY_ERROR_ARGUMENT, "plain");
    CHECK_SAY(tally_result_narrow(r, TALLY_COUNTER_U32, &error) == TALLY_ERROR_ARGUMENT, "narrow");
    CHECK_SAY(!tally_result_output(r).counts, "counts alone are not added");
    CHECK_SAY(tally_result_quantiles_set(r, 1, (double[]){0.5}, (double[]){1, 2}, &error) ==
                  TALLY_ERROR_ARGUMENT,
              "quantiles");
    const struct {
        const tally_result *of;
        tally_format format;
        uint32_t statistics;
        int log;
        tally_status status;
    } writes[] = {{plain, TALLY_FORMAT_CSV, 4, 0, TALLY_ERROR_ARGUMENT},
                  {r, TALLY_FORMAT_CSV, 256, 0, TALLY_ERROR_ARGUMENT},
                  {r, TALLY_FORMAT_JSON, 4, 0, TALLY_ERROR_ARGUMENT},
                  {r, TALLY_FORMAT_NPY, 0, 0, TALLY_ERROR_UNSUPPORTED},
                  {r, TALLY_FORMAT_SVG, 5, 0, TALLY_ERROR_ARGUMENT},
                  {r, TALLY_FORMAT_TABLE, 0, 1, TALLY_ERROR_ARGUMENT}};
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        kept k = {0};
        options.statistics = writes[i].statistics;
        options.log_counts = writes[i].log;
        CHECK_SAY(tally_result_write(&writes[i].of, 1, writes[i].format, &options, keep, &k,
                                     &error) == writes[i].status &&
                      !k.size,
                  "%zu: %s", i, error.message);
    }
    tally_result_destroy(other);
    tally_result_destroy(plain);
    tally_result_destroy(r);
    tally_plan_destroy(wide);
    tally_plan_destroy(plan);
    tally_context_destroy(second);
    tally_context_destroy(context);
}

/* `from` in the saved form becomes `to`; the error has `says` in it. */
static void test_damage(void)
{
    static const char *const damages[][3] = {
        {"\"column\":\"x\"", "\"column\":7", "column is a number"},
        {"\"kind\":\"profile\",\"column\":\"x\",", "", "statistics without \"column\""},
        {"\"statistics\":{\"sum\"", "\"statistics\":{\"total\"", "statistics has no \"sum\""},
        {"\"sum\":[0,0,0", "\"sum\":[0,0", "sum of statistics has 11 numbers; 12 are needed"},
        {"\"sum\":[0,0,0,0]", "\"sum\":[0,0,0]", "sum of flow_statistics has 3"},
        {"\"sum\":[0,0,0,0,", "\"sum\":[0,0,1,0,", "sum of no value must be 0"},
        {"\"mean\":[null,null", "\"mean\":[null,2", "mean of no value must be null"},
        {"\"min\":[null", "\"min\":[\"nan\"", "min must be numbers"},
        {"\"counts\":[0,0,0,", "\"counts\":[0,0,-3,", "a count must be"},
        {"\"flow_statistics\"", "\"flows\"", "has statistics and flow_statistics"},
        {"\"name\":\"z\"", "\"name\":\"z\",\"time\":\"week\"", "time must be one of"},
        {"\"kind\":\"profile\"", "\"weights\":\"f64\"", "a profile has one axis"},
        {"\"counts\":[0,0,0,0,0,0,0,0,0,0,0,0],\"underflow\":0,\"overflow\":0,\"nan\":0,\"masked\":"
         "0,\"statistics\":{\"sum\":[0,0,0,0,0,0,0,0,0,0,0,0],\"mean\":[null,null,null,null,null,"
         "null,null,null,null,null,null,null],\"m2\":[null",
         "\"counts\":[3,0,0,0,0,0,0,0,0,0,0,0],\"underflow\":0,\"overflow\":0,\"nan\":0,\"masked\":"
         "0,\"statistics\":{\"sum\":[0,0,0,0,0,0,0,0,0,0,0,0],\"mean\":[5,null,null,null,null,"
         "null,null,null,null,null,null,null],\"m2\":[-1",
         "m2 is a sum of squares"}};
    tally_context *context = NULL;
    tally_plan *plan = make_plan(&context, BINS);
    tally_result *r = make_profile(plan);
    kept text = written(r, TALLY_FORMAT_JSON, NULL);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const char *at = strstr(text.bytes, damages[i][0]);
        tally_result *back = NULL;
        tally_error error = {""};
        if (!at) {
            CHECK_SAY(0, "no %s in %s", damages[i][0], text.bytes);
            continue;
        }
        char *damaged = malloc(text.size + strlen(damages[i][1]) + 1);
        sprintf(damaged, "%.*s%s%s", (int)(at - text.bytes), text.bytes, damages[i][1],
                at + strlen(damages[i][0]));
        CHECK_SAY(tally_result_parse(damaged, strlen(damaged), "p", 0, &back, &error) ==
                          TALLY_ERROR_FORMAT &&
                      strstr(error.message, damages[i][2]),
                  "%zu: %s", i, error.message);
        tally_result_destroy(back);
        free(damaged);
    }
    free(text.bytes);
    tally_result_destroy(r);
    tally_plan_destroy(plan);
    tally_context_destroy(context);
}

static void test_memory(void)
{
    tally_context *context = NULL;
    tally_plan *plan = make_plan(&context, BINS);
    tally_result *r = make_profile(plan), *made = NULL;
    kept text = written(r, TALLY_FORMAT_JSON, NULL);
    tally_status status = TALLY_ERROR_MEMORY;
    for (long n = 0; status == TALLY_ERROR_MEMORY; n++) {
        tally_error error = {""};
        ty_alloc_fail_after(n);
        status = tally_result_parse(text.bytes, text.size, "p", 0, &made, &error);
        ty_alloc_fail_after(-1);
        CHECK_SAY(!status || status == TALLY_ERROR_MEMORY, "%ld: %s", n, error.message);
    }
    CHECK_SAY(same_result(r, made), "read at last");
    tally_result_destroy(made);
    tally_result_destroy(r);
    free(text.bytes);
    tally_plan_destroy(plan);
    tally_context_destroy(context);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", state);
    for (int i = 0; i < 10; i++)
        test_pieces();
    test_refusals();
    test_damage();
    test_memory();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
