/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantiles and order statistics against sorting: every type, samples of every kind, masks,
 * strides, batches and channels, threads; every method by its definition; memory that runs out.
 *
 *     test_quantile [SEED [CASES]]
 */
#include <limits.h>
#include <string.h>
#include <tally/tally.h>

#include "core/alloc.h"
#include "quantile_help.h"

enum { most = 150000, most_ranks = 64 };

typedef struct group {
    unsigned char *samples; /* in order */
    uint64_t count, nan;
} group;

/* What counts of one batch and channel, sorted. */
static void sort_group(const tally_view *view, const tally_view *mask, uint64_t batch,
                       uint64_t channel, group *g)
{
    const size_t size = tally_dtype_bytes(view->dtype);
    g->count = g->nan = 0;
    for (uint64_t r = 0; r < view->rows; r++)
        for (uint64_t c = 0; c < view->columns; c++) {
            const char *at = (const char *)view->data + (int64_t)batch * view->batch_stride_bytes +
                             (int64_t)r * view->row_stride_bytes +
                             (int64_t)c * view->column_stride_bytes +
                             (int64_t)channel * view->channel_stride_bytes;
            if (mask && !((const char *)mask->data)[r * view->columns + c])
                continue;
            memcpy(g->samples + g->count++ * size, at, size);
            g->nan += is_nan(view->dtype, at);
        }
    sorted_dtype = view->dtype;
    qsort(g->samples, g->count, size, by_sample);
}

/* The definitions, from a sorted group of n numbers. */
static double value_at(const group *g, tally_dtype dtype, double index)
{
    double x;
    ty_stats_loops_get()->decode(dtype, g->samples + (size_t)index * tally_dtype_bytes(dtype), 1,
                                 &x);
    return x;
}

static double between(const group *g, tally_dtype dtype, double n, double at)
{
    if (at <= 0)
        return value_at(g, dtype, 0);
    if (at >= n - 1)
        return value_at(g, dtype, n - 1);
    const double a = value_at(g, dtype, floor(at)), b = value_at(g, dtype, floor(at) + 1),
                 t = at - floor(at);
    if (a == b || t == 0)
        return a;
    return t >= 0.5 ? b - (b - a) * (1 - t) : a + (b - a) * t;
}

static double wanted(const group *g, tally_dtype dtype, double n, tally_quantile_method method,
                     double q)
{
    const double at = (n - 1) * q, step = n * q - 1;
    switch (method) {
    case TALLY_QUANTILE_LINEAR:
        return between(g, dtype, n, at);
    case TALLY_QUANTILE_LOWER:
        return value_at(g, dtype, floor(at));
    case TALLY_QUANTILE_HIGHER:
        return value_at(g, dtype, ceil(at));
    case TALLY_QUANTILE_NEAREST:
        return value_at(g, dtype, rint(at));
    case TALLY_QUANTILE_MIDPOINT:
        return between(g, dtype, n, (floor(at) + ceil(at)) / 2);
    case TALLY_QUANTILE_INVERTED_CDF:
        return value_at(g, dtype, fmax(0, ceil(step)));
    default:
        return between(g, dtype, n, step); /* interpolated_inverted_cdf */
    }
}

static int same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void check_group(const char *what, const tally_view *view, const group *g, int skip,
                        tally_quantile_method method, const double *q, uint32_t count,
                        const double *got)
{
    const uint64_t n = skip ? g->count - g->nan : g->count;
    for (uint32_t i = 0; i < count; i++) {
        const double want =
            !n || (g->nan && !skip) ? NAN : wanted(g, view->dtype, (double)n, method, q[i]);
        CHECK_SAY(same(got[i], want), "%s %s %s: q %.17g of %llu: %.17g, not %.17g", what,
                  tally_dtype_name(view->dtype), tally_quantile_method_name(method), q[i],
                  (unsigned long long)n, got[i], want);
    }
}

static void check_ranks(const tally_view *view, const tally_quantile_options *options, group *g)
{
    const size_t size = tally_dtype_bytes(view->dtype);
    const uint32_t count = 1 + (uint32_t)below(below(3) ? 4 : most_ranks);
    static unsigned char got[64 * most_ranks * 8];
    uint64_t ranks[most_ranks], nan[64], least = UINT64_MAX;
    tally_error error = {""};
    for (uint64_t b = 0; b < view->batches; b++) {
        sort_group(view, options->mask, b, 0, g);
        least = g->count < least ? g->count : least;
    }
    if (!least)
        return;
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = below(4) ? below(least) : below(2) ? 0 : least - 1;
    CHECK_SAY(!tally_order_statistics(below(2) ? context : NULL, view, ranks, count, options, got,
                                      nan, &error),
              "%s", error.message);
    for (uint64_t b = 0; b < view->batches; b++)
        for (uint64_t c = 0; c < view->channels; c++) {
            const uint64_t at = b * view->channels + c;
            sort_group(view, options->mask, b, c, g);
            CHECK(nan[at] == g->nan);
            for (uint32_t i = 0; i < count; i++) {
                const void *one = got + (at * count + i) * size,
                           *two = g->samples + ranks[i] * size;
                CHECK_SAY(!memcmp(one, two, size) ||
                              (is_nan(view->dtype, one) && is_nan(view->dtype, two)),
                          "%s: rank %llu of %llu", tally_dtype_name(view->dtype),
                          (unsigned long long)ranks[i], (unsigned long long)g->count);
            }
        }
}

static void check_case(uint64_t number, unsigned char *memory, unsigned char *bytes, group *g)
{
    const tally_dtype dtype = dtypes[below(12)];
    const uint64_t n = below(3) ? below(300) : below(8) ? below(40000) : most - below(9);
    const int kind = (int)below(7);
    const size_t size = tally_dtype_bytes(dtype);
    unsigned char *data = memory + (below(2) ? 0 : 1); /* any alignment */
    tally_view view = draw_view(dtype, n, data),
               mask = tally_view_1d(bytes, TALLY_U8, view.columns);
    tally_quantile_options options = TALLY_QUANTILE_OPTIONS_INIT;
    tally_error error = {""};
    double q[8], got[64 * 8];
    char what[32];
    for (uint64_t i = 0; i < n; i++)
        draw_sample(dtype, kind, i, n, data + i * size);
    mask.rows = view.rows;
    for (uint64_t i = 0; i < view.rows * view.columns; i++)
        bytes[i] = (unsigned char)(below(3) ? below(255) : 0);
    options.mask = below(3) ? NULL : &mask;
    options.skip_nan = (int32_t)below(2);
    const tally_quantile_method methods[] = {
        TALLY_QUANTILE_LINEAR,       TALLY_QUANTILE_LOWER,
        TALLY_QUANTILE_HIGHER,       TALLY_QUANTILE_NEAREST,
        TALLY_QUANTILE_INVERTED_CDF, TALLY_QUANTILE_INTERPOLATED_INVERTED_CDF,
        TALLY_QUANTILE_LINEAR};
    options.method = methods[below(7)];
    for (int i = 0; i < 8; i++)
        q[i] = below(4) ? unit() : (double)below(5) / 4;
    snprintf(what, sizeof what, "case %llu, kind %d", (unsigned long long)number, kind);
    CHECK_SAY(!tally_quantiles(below(2) ? context : NULL, &view, q, 8, &options, got, &error),
              "%s: %s", what, error.message);
    for (uint64_t b = 0; b < view.batches; b++)
        for (uint64_t c = 0; c < view.channels; c++) {
            sort_group(&view, options.mask, b, c, g);
            check_group(what, &view, g, options.skip_nan, options.method, q, 8,
                        got + 8 * (b * view.channels + c));
        }
    check_ranks(&view, &options, g);
}

/* Values from the texts and by hand. */
static void check_known(void)
{
    const double x[] = {3, 1, 4, 1, 5, 9, 2, 6}, half[] = {0.5}, all[] = {0, 0.25, 0.5, 1};
    const double even[] = {4, 2}, endless[] = {INFINITY, INFINITY, 1};
    const int64_t large[] = {INT64_MAX, INT64_MAX - 1, INT64_MIN};
    const uint64_t middle = 1;
    double out[4];
    int64_t sample;
    tally_view view = tally_view_1d(x, TALLY_F64, 8);
    CHECK(!tally_quantiles(NULL, &view, all, 4, NULL, out, NULL));
    CHECK(out[0] == 1 && out[1] == 1.75 && out[2] == 3.5 && out[3] == 9);
    const double wanted_half[] = {3.5, 3, 4, 4, 3.5, 3, 3.5, 3, 3, 3.5, 3.5, 3.5, 3.5};
    for (int m = 0; tally_quantile_method_name((tally_quantile_method)m); m++) {
        tally_quantile_options options = TALLY_QUANTILE_OPTIONS_INIT;
        options.method = (tally_quantile_method)m;
        CHECK(!tally_quantiles(NULL, &view, half, 1, &options, out, NULL));
        CHECK_SAY(out[0] == wanted_half[m], "%s: %g",
                  tally_quantile_method_name((tally_quantile_method)m), out[0]);
        CHECK(tally_quantile_method_parse(tally_quantile_method_name((tally_quantile_method)m)) ==
              m);
    }
    CHECK(tally_quantile_method_parse("none") == -1 && tally_quantile_method_parse(NULL) == -1);
    view = tally_view_1d(even, TALLY_F64, 2);
    CHECK(!tally_quantiles(NULL, &view, half, 1, NULL, out, NULL) && out[0] == 3);
    view = tally_view_1d(endless, TALLY_F64, 3);
    CHECK(!tally_quantiles(NULL, &view, (double[]){0.75}, 1, NULL, out, NULL) &&
          out[0] == (double)INFINITY);
    view = tally_view_1d(large, TALLY_I64, 3);
    CHECK(!tally_order_statistics(NULL, &view, &middle, 1, NULL, &sample, NULL, NULL) &&
          sample == INT64_MAX - 1);
    view = tally_view_1d(NULL, TALLY_F32, 0);
    CHECK(!tally_quantiles(NULL, &view, half, 1, NULL, out, NULL) && isnan(out[0]));
    CHECK(!tally_quantiles(NULL, &view, half, 0, NULL, NULL, NULL));
}

static void check_refusals(void)
{
    const float x[] = {1, 2};
    tally_view view = tally_view_1d(x, TALLY_F32, 2);
    tally_quantile_options options = TALLY_QUANTILE_OPTIONS_INIT;
    tally_error error;
    double out[] = {-5};
    const uint64_t rank = 2;
    CHECK(tally_quantiles(NULL, &view, (double[]){1.5}, 1, NULL, out, &error) ==
          TALLY_ERROR_ARGUMENT);
    CHECK(tally_quantiles(NULL, &view, (double[]){NAN}, 1, NULL, out, &error) ==
          TALLY_ERROR_ARGUMENT);
    CHECK(tally_quantiles(NULL, &view, NULL, 1, NULL, out, &error) == TALLY_ERROR_ARGUMENT);
    CHECK(tally_quantiles(NULL, &view, (double[]){1}, 1, NULL, NULL, &error) ==
          TALLY_ERROR_ARGUMENT);
    CHECK(tally_order_statistics(NULL, &view, &rank, 1, NULL, out, NULL, &error) ==
          TALLY_ERROR_ARGUMENT);
    CHECK_SAY(strstr(error.message, "rank 2 of 2") != NULL, "%s", error.message);
    options.method = (tally_quantile_method)13;
    CHECK(tally_quantiles(NULL, &view, (double[]){1}, 1, &options, out, &error) ==
          TALLY_ERROR_ARGUMENT);
    options.struct_size = 1;
    CHECK(tally_quantiles(NULL, &view, (double[]){1}, 1, &options, out, &error) ==
          TALLY_ERROR_ARGUMENT);
    view.device = TALLY_DEVICE_CUDA;
    CHECK(tally_quantiles(NULL, &view, (double[]){1}, 1, NULL, out, &error) ==
          TALLY_ERROR_UNSUPPORTED);
    CHECK(out[0] == -5);
}

static void check_memory(unsigned char *memory)
{
    tally_view view = tally_view_1d(memory, TALLY_F32, most);
    const double q[] = {0.1, 0.9};
    double out[2] = {-5, -5};
    memset(memory, 0, 4 * most);
    for (uint64_t i = 0; i < most; i++)
        draw_sample(TALLY_F32, 0, i, most, memory + 4 * i);
    for (long k = 0;; k++) {
        tally_error error = {""};
        ty_alloc_fail_after(k);
        tally_status status = tally_quantiles(context, &view, q, 2, NULL, out, &error);
        ty_alloc_fail_after(-1);
        if (!status)
            break;
        CHECK_SAY(status == TALLY_ERROR_MEMORY && strstr(error.message, "memory"), "%ld: %s", k,
                  error.message);
        CHECK(out[0] == -5 && out[1] == -5);
        if (!CHECK(k < 1000))
            break;
    }
}

int main(int argc, char **argv)
{
    const uint64_t cases = begin("test_quantile", argc, argv, 20261123);
    unsigned char *memory = malloc(8 * most + 8), *bytes = malloc(most);
    group g = {.samples = malloc(8 * most)};
    if (!memory || !bytes || !g.samples)
        return 1;
    check_known();
    check_refusals();
    for (uint64_t i = 0; i < cases; i++)
        check_case(i, memory, bytes, &g);
    check_memory(memory);
    free(memory);
    free(bytes);
    free(g.samples);
    return end();
}
