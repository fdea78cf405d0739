/* SPDX-License-Identifier: Apache-2.0 */
/* Density, mean and quantiles of results: against the samples that were counted, sorted, and
 * against the same arithmetic in long double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "execute_help.h"
#include "input_help.h"
#include "io/result.h"

enum { MOST = 400, MOST_BINS = 20 };

typedef struct sample {
    double x, w;
} sample;

static tally_context *context;
static sample samples[MOST];
static size_t count;
static double edges[MOST_BINS + 1];

static int by_value(const void *a, const void *b)
{
    const double x = ((const sample *)a)->x, y = ((const sample *)b)->x;
    return (x > y) - (x < y);
}

static double unit(void)
{
    return (double)(help_random() >> 11) * 0x1p-53;
}

static tally_axis random_axis(void)
{
    const uint64_t bins = 1 + help_below(MOST_BINS);
    tally_axis axis = tally_axis_even(bins, -10 * unit(), 1 + 40 * unit());
    switch (help_below(3)) {
    case 1:
        edges[0] = -3;
        for (uint64_t i = 1; i <= bins; i++)
            edges[i] = edges[i - 1] + 0.01 + 4 * unit();
        axis = tally_axis_edges(bins, edges);
        break;
    case 2:
        axis = tally_axis_integer(bins, (int64_t)help_below(10) - 5);
    }
    axis.under = (tally_flow)help_below(2);
    axis.over = (tally_flow)help_below(2);
    return axis;
}

/* Samples of `dtype`, f64 or i32, weighted by small integers or not, counted. */
static tally_result *count_samples(const tally_axis *axis, tally_dtype dtype, tally_dtype weighted)
{
    double x[MOST], wf[MOST];
    int32_t xi[MOST], wi[MOST];
    const double spread = help_below(3) ? 50 : 8;
    count = (size_t)(1 + help_below(help_below(2) ? 6 : MOST));
    for (size_t i = 0; i < count; i++) {
        samples[i].x = x[i] = spread * unit() - 10;
        if (dtype == TALLY_I32)
            samples[i].x = xi[i] = (int32_t)floor(x[i]);
        samples[i].w = wf[i] = wi[i] = weighted ? (int32_t)help_below(4) : 1;
    }
    tally_plan_options options = help_options(dtype, *axis);
    options.weight_dtype = weighted;
    tally_plan *plan = help_plan(context, &options);
    tally_result *result = NULL;
    CHECK(!tally_result_create(plan, 1, NULL, &result, NULL));
    const tally_view view =
        tally_view_1d(dtype == TALLY_I32 ? (void *)xi : (void *)x, dtype, count);
    const tally_view weights =
        tally_view_1d(weighted == TALLY_I32 ? (void *)wi : (void *)wf, weighted, count);
    tally_execute_options more = TALLY_EXECUTE_OPTIONS_INIT;
    more.weights = weighted ? &weights : NULL;
    const tally_output output = tally_result_output(result);
    CHECK(!tally_execute(plan, &view, &more, &output, NULL));
    tally_plan_destroy(plan);
    qsort(samples, count, sizeof *samples, by_value);
    return result;
}

/* Whether a sample is in a bin, policies applied. */
static int is_in(const tally_axis *axis, double x)
{
    uint64_t bin;
    return !tally_axis_find(axis, x, &bin, NULL) && bin < axis->bins;
}

static int is_between(long double lo, long double x, long double hi)
{
    return x >= lo - 1e-12L * (1 + fabsl(lo)) && x <= hi + 1e-12L * (1 + fabsl(hi));
}

static long double mass(const tally_result *r, uint64_t i)
{
    return r->kind == TALLY_RESULT_SUMS_F64   ? ((double *)r->counts)[i]
           : r->kind == TALLY_RESULT_SUMS_I64 ? (long double)((int64_t *)r->counts)[i]
                                              : (long double)((uint64_t *)r->counts)[i];
}

static void check_mean(const tally_result *r)
{
    const tally_axis *axis = tally_result_axis(r, 0);
    long double sum = 0, total = 0, middle = 0;
    tally_estimate mean = {7, 8, 9};
    tally_error error = {""};
    const int exact = axis->kind == TALLY_AXIS_INTEGER && r->dtype == TALLY_I32;
    for (size_t i = 0; i < count; i++)
        if (is_in(axis, samples[i].x)) {
            sum += (long double)samples[i].x * samples[i].w;
            total += samples[i].w;
        }
    for (uint64_t i = 0; i < r->bins; i++)
        middle +=
            mass(r, i) *
            (exact ? tally_axis_edge(axis, i)
                   : ((long double)tally_axis_edge(axis, i) + tally_axis_edge(axis, i + 1)) / 2);
    const tally_status status = tally_result_mean(r, 0, &mean, &error);
    if (!(total > 0)) {
        CHECK_SAY(status == TALLY_ERROR_DATA && mean.value == 7 && error.message[0], "empty");
        return;
    }
    CHECK_SAY(!status, "%s", error.message);
    CHECK_SAY(is_between(mean.lo, sum / total, mean.hi), "%g %Lg %g", mean.lo, sum / total,
              mean.hi);
    CHECK_SAY(is_between(middle / total, mean.value, middle / total), "%g, not %Lg", mean.value,
              middle / total);
    const int clamps = axis->under == TALLY_FLOW_CLAMP || axis->over == TALLY_FLOW_CLAMP;
    CHECK(!exact || clamps || (mean.lo == mean.hi && mean.lo == mean.value));
}

static void check_quantile(const tally_result *r, double q)
{
    const tally_axis *axis = tally_result_axis(r, 0);
    long double all = 0, below = 0;
    size_t first = 0; /* the sample that the quantile is */
    tally_estimate got = {7, 8, 9};
    tally_error error = {""};
    int inside = 0;
    for (size_t i = 0; i < count; i++) {
        all += samples[i].w;
        inside |= samples[i].w > 0 && is_in(axis, samples[i].x);
    }
    const double wanted = q * (double)all;
    while (first + 1 < count && (samples[first].w == 0 || below + samples[first].w < wanted))
        below += samples[first++].w;
    while (samples[first].w == 0 && first)
        first--;
    const tally_status status = tally_result_quantile(r, 0, q, &got, &error);
    const double x = samples[first].x;
    if (!inside || !is_in(axis, x)) {
        CHECK_SAY(status == TALLY_ERROR_DATA && got.value == 7 && error.message[0], "%g: %g", q, x);
        return;
    }
    CHECK_SAY(!status, "%s", error.message);
    CHECK_SAY(x >= got.lo && x <= got.hi, "%g: %g is not in %g … %g", q, x, got.lo, got.hi);
    uint64_t bin;
    CHECK(!tally_axis_find(axis, x, &bin, NULL));
    const int exact = axis->kind == TALLY_AXIS_INTEGER && r->dtype == TALLY_I32;
    long double before = tally_result_flows(r, 0)->under ? ty_result_flow(r, 0, 0) : 0;
    for (uint64_t i = 0; i < bin; i++)
        before += mass(r, i);
    const long double part = fmaxl((wanted - before) / mass(r, bin), 0),
                      lo = tally_axis_edge(axis, bin);
    const long double want = exact ? lo : lo + part * (tally_axis_edge(axis, bin + 1) - lo);
    if (!exact || (got.lo == got.hi))
        CHECK_SAY(is_between(want, got.value, want), "%g: %.17g, not %.17Lg", q, got.value, want);
}

static void check_density(const tally_result *r)
{
    double density[MOST_BINS];
    long double total = 0, area = 0;
    for (uint64_t i = 0; i < r->bins; i++)
        total += mass(r, i);
    const tally_status status = tally_result_density(r, 0, density, NULL);
    CHECK(status == (total > 0 ? TALLY_OK : TALLY_ERROR_DATA));
    for (uint64_t i = 0; i < r->bins && !status; i++) {
        const long double width =
            (long double)tally_axis_edge(&r->axes[0], i + 1) - tally_axis_edge(&r->axes[0], i);
        CHECK(is_between(density[i], mass(r, i) / total / width, density[i]));
        area += density[i] * width;
    }
    CHECK(status || is_between(1, area, 1));
}

static void test_random(void)
{
    static const tally_dtype weights[] = {(tally_dtype)0, TALLY_F64, TALLY_I32};
    static const double plain[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 1};
    for (int i = 0; i < 600; i++) {
        const tally_axis axis = random_axis();
        tally_result *r =
            count_samples(&axis, help_below(2) ? TALLY_F64 : TALLY_I32, weights[help_below(3)]);
        check_mean(r);
        check_density(r);
        for (int j = 0; j < 7; j++)
            check_quantile(r, plain[j]);
        for (int j = 0; j < 5; j++)
            check_quantile(r, unit());
        tally_result_destroy(r);
    }
}

static tally_result *of(tally_axis *axes, uint32_t dimensions, tally_result_kind kind)
{
    tally_result *r = NULL;
    const ty_result_shape shape = {
        .dimensions = dimensions, .axes = axes, .kind = kind, .histograms = 2};
    if (ty_result_create(&shape, &r, NULL))
        abort();
    return r;
}

static void expect(const tally_result *r, uint64_t h, double q, tally_status status,
                   const char *words)
{
    tally_estimate e;
    tally_error error = {""};
    CHECK_SAY(tally_result_quantile(r, h, q, &e, &error) == status && strstr(error.message, words),
              "%s", error.message);
}

static void test_refuses(void)
{
    static uint16_t categories[256];
    tally_axis axes[] = {tally_axis_even(2, 0, 1), tally_axis_even(2, 0, 1)};
    double density[4];
    tally_estimate e;
    tally_error error = {""};
    tally_result *r = of(axes, 2, TALLY_RESULT_COUNTS);
    expect(r, 0, 0.5, TALLY_ERROR_ARGUMENT, "2 axes");
    ((uint64_t *)r->counts)[5] = 2; /* histogram 1, bin 1: 0 … 0.5 by 0.5 … 1 */
    CHECK(!tally_result_density(r, 1, density, NULL) && density[0] == 0 && density[1] == 4);
    CHECK(tally_result_density(r, 0, density, &error) == TALLY_ERROR_DATA);
    CHECK(tally_result_density(r, 2, density, &error) == TALLY_ERROR_ARGUMENT);
    CHECK(density[1] == 4);
    tally_result_destroy(r);
    r = of(axes, 1, TALLY_RESULT_COUNTS);
    expect(r, 2, 0.5, TALLY_ERROR_ARGUMENT, "has 2");
    expect(r, 0, -0.1, TALLY_ERROR_ARGUMENT, "from 0 to 1");
    expect(r, 0, NAN, TALLY_ERROR_ARGUMENT, "from 0 to 1");
    expect(r, 0, 0.5, TALLY_ERROR_DATA, "above 0");
    ((uint64_t *)r->counts)[1] = 255;
    r->flows[0].under = 255;
    expect(r, 0, 0.5, TALLY_ERROR_DATA, "below 0");
    CHECK(!tally_result_quantile(r, 0, 1, &e, NULL) && e.value == 1 && e.lo == 0.5 && e.hi == 1);
    r->flows[0].over = 1;
    expect(r, 0, 1, TALLY_ERROR_DATA, "above 1");
    r->counter = TALLY_COUNTER_U8SAT;
    expect(r, 0, 0.9, TALLY_ERROR_DATA, "stuck at 255");
    CHECK(tally_result_mean(r, 0, &e, NULL) == TALLY_ERROR_DATA);
    tally_result_destroy(r);
    r = of(axes, 1, TALLY_RESULT_SUMS_F64);
    double *sums = r->counts;
    sums[0] = 2;
    sums[1] = -1;
    expect(r, 0, 0.5, TALLY_ERROR_DATA, "negative");
    CHECK(!tally_result_density(r, 0, density, NULL) && density[0] == 4 && density[1] == -2);
    sums[1] = NAN;
    expect(r, 0, 0.5, TALLY_ERROR_DATA, "finite");
    sums[1] = 1;
    r->flows[0].under = 1; /* of unknown weight */
    expect(r, 0, 0.5, TALLY_ERROR_DATA, "unknown");
    tally_result_destroy(r);
    axes[0].kind = TALLY_AXIS_CATEGORY;
    axes[0].categories = categories;
    r = of(axes, 1, TALLY_RESULT_COUNTS);
    expect(r, 0, 0.5, TALLY_ERROR_ARGUMENT, "categories");
    tally_result_destroy(r);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    context = help_context(1);
    test_random();
    test_refuses();
    tally_context_destroy(context);
    return help_end();
}
