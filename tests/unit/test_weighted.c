/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantiles of samples with weights against sorting: every type of samples and weights, masks,
 * strides, batches and channels, weights of one row or column, any number of threads to the same
 * bits; what is refused; memory that runs out.
 *
 *     test_weighted [SEED [CASES]]
 */
#include <limits.h>

#include "core/alloc.h"
#include "quantile_help.h"

__extension__ typedef unsigned __int128 u128;

enum { most = 150000, most_q = 40, most_groups = 64 };

/* ---- the answer by sorting ---- */

typedef struct pair {
    unsigned char sample[8];
    long double weight;
    u128 units;
} pair;

typedef struct group {
    pair *pairs;
    uint64_t count, nan;
    long double heaviest;
} group;

static const unsigned char *at(const tally_view *view, uint64_t b, uint64_t r, uint64_t c,
                               uint64_t channel)
{
    return (const unsigned char *)view->data + (int64_t)b * view->batch_stride_bytes +
           (int64_t)r * view->row_stride_bytes + (int64_t)c * view->column_stride_bytes +
           (int64_t)channel * view->channel_stride_bytes;
}

static long double weight_at(tally_dtype dtype, const void *from)
{
    uint64_t u = 0;
    float f;
    double d;
    memcpy(&u, from, tally_dtype_bytes(dtype));
    memcpy(&f, &u, sizeof f);
    memcpy(&d, &u, sizeof d);
    return dtype == TALLY_F32 ? (long double)f : dtype == TALLY_F64 ? (long double)d : u;
}

/* What counts of one batch and channel, in order; NaN left out with `skip`. */
static void sort_group(const tally_view *view, const tally_view *weights, const tally_view *mask,
                       uint64_t b, uint64_t channel, int skip, group *g)
{
    const size_t size = tally_dtype_bytes(view->dtype);
    int exponent = 63;
    g->count = g->nan = 0;
    g->heaviest = 0;
    for (uint64_t r = 0; r < view->rows; r++)
        for (uint64_t c = 0; c < view->columns; c++) {
            const void *sample = at(view, b, r, c, channel);
            const int nan = is_nan(view->dtype, sample);
            if (mask && !((const char *)mask->data)[r * view->columns + c])
                continue;
            g->nan += nan != 0;
            if (nan && skip)
                continue;
            pair *p = &g->pairs[g->count++];
            memcpy(p->sample, sample, size);
            p->weight =
                weight_at(weights->dtype,
                          at(weights, weights->batches > 1 ? b : 0, weights->rows > 1 ? r : 0,
                             weights->columns > 1 ? c : 0, weights->channels > 1 ? channel : 0));
            g->heaviest = p->weight > g->heaviest ? p->weight : g->heaviest;
        }
    if (ty_dtype_is_float(weights->dtype))
        frexpl(g->heaviest, &exponent);
    for (uint64_t i = 0; i < g->count; i++) {
        const long double units = rintl(ldexpl(g->pairs[i].weight, 63 - exponent));
        g->pairs[i].units = units < 1 && g->pairs[i].weight > 0 ? 1 : (u128)units;
    }
    sorted_dtype = view->dtype;
    qsort(g->pairs, g->count, sizeof *g->pairs, by_sample);
}

/* The first that reaches q; NULL: NaN. */
static const unsigned char *wanted(const group *g, int skip, double q)
{
    u128 total = 0, sum = 0;
    if (!g->count || (g->nan && !skip))
        return NULL;
    for (uint64_t i = 0; i < g->count; i++)
        total += g->pairs[i].units;
    for (uint64_t i = 0; i < g->count; i++) {
        sum += g->pairs[i].units;
        if (sum && (double)sum / (double)total >= q)
            return g->pairs[i].sample;
    }
    return NULL;
}

/* ---- cases ---- */

static const tally_dtype weight_dtypes[] = {TALLY_U8,  TALLY_I8,  TALLY_U16, TALLY_I16, TALLY_U32,
                                            TALLY_I32, TALLY_U64, TALLY_I64, TALLY_F32, TALLY_F64};

/* No weight, ones, few, of any size that fits, far apart. */
static void draw_weight(tally_dtype dtype, int kind, void *to)
{
    const unsigned bits = 8 * (unsigned)tally_dtype_bytes(dtype);
    const int is_signed =
        dtype == TALLY_I8 || dtype == TALLY_I16 || dtype == TALLY_I32 || dtype == TALLY_I64;
    uint64_t u = kind == 0 ? 1 : kind == 1 ? below(3) : next() >> (64 - bits) >> is_signed;
    double d = kind == 0   ? 1
               : kind == 1 ? (double)below(3) / 8
               : kind == 2 ? unit()
                           : ldexp(unit(), (int)below(200) - 100);
    float f = (float)d;
    if (kind == 4 && below(4))
        u = 0, d = 0, f = -0.0F;
    if (dtype == TALLY_F64)
        memcpy(to, &d, sizeof d);
    else if (dtype == TALLY_F32)
        memcpy(to, &f, sizeof f);
    else
        memcpy(to, &u, tally_dtype_bytes(dtype));
}

/* Weights in the samples' shape, or with some extents of 1. */
static tally_view draw_weights(const tally_view *view, void *memory)
{
    const tally_dtype dtype = weight_dtypes[below(10)];
    const size_t size = tally_dtype_bytes(dtype);
    const int kind = (int)below(5);
    tally_view w = *view;
    w.data = memory;
    w.dtype = dtype;
    w.batches = below(3) ? view->batches : 1;
    w.channels = below(2) ? view->channels : 1;
    w.rows = below(4) ? view->rows : 1;
    w.columns = below(8) ? view->columns : 1;
    w.channel_stride_bytes = (int64_t)size;
    w.column_stride_bytes = (int64_t)(size * w.channels);
    w.row_stride_bytes = w.column_stride_bytes * (int64_t)w.columns;
    w.batch_stride_bytes = w.row_stride_bytes * (int64_t)w.rows;
    const uint64_t n = w.batches * w.rows * w.columns * w.channels;
    for (uint64_t i = 0; i < n; i++)
        draw_weight(dtype, kind, (unsigned char *)memory + i * size);
    return w;
}

static void check_case(uint64_t number, unsigned char *memory, unsigned char *heavy,
                       unsigned char *bytes, group *g)
{
    const tally_dtype dtype = dtypes[below(12)];
    const uint64_t n = below(3) ? below(300) : below(8) ? below(40000) : most - below(9);
    const int kind = (int)below(7);
    const size_t size = tally_dtype_bytes(dtype);
    tally_view view = draw_view(dtype, n, memory + below(2)),
               mask = tally_view_1d(bytes, TALLY_U8, view.columns);
    const tally_view weights = draw_weights(&view, heavy + below(2));
    tally_quantile_options options = TALLY_QUANTILE_OPTIONS_INIT;
    tally_error error = {""};
    static unsigned char got[2][most_groups * most_q * 8];
    double q[most_q];
    const uint32_t count = 1 + (uint32_t)below(below(2) ? 3 : most_q);
    tally_status failed = TALLY_OK;
    for (uint64_t i = 0; i < n; i++)
        draw_sample(dtype, kind, i, n, (unsigned char *)(uintptr_t)view.data + i * size);
    mask.rows = view.rows;
    for (uint64_t i = 0; i < view.rows * view.columns; i++)
        bytes[i] = (unsigned char)(below(3) ? below(255) : 0);
    options.mask = below(3) ? NULL : &mask;
    options.skip_nan = (int32_t)below(2);
    for (uint32_t i = 0; i < count; i++)
        q[i] = below(4) ? unit() : (double)below(9) / 8;
    memset(got, 0x55, sizeof got);
    const tally_status status = tally_weighted_quantiles(context, &view, &weights, q, count,
                                                         &options, got[0], &error),
                       alone = tally_weighted_quantiles(NULL, &view, &weights, q, count, &options,
                                                        got[1], NULL);
    CHECK(alone == status && !memcmp(got[0], got[1], sizeof got[0]));
    for (uint64_t b = 0; b < view.batches; b++)
        for (uint64_t c = 0; c < view.channels; c++) {
            sort_group(&view, &weights, options.mask, b, c, options.skip_nan, g);
            if (g->count ? g->heaviest == 0 : !ty_dtype_is_float(dtype))
                failed = TALLY_ERROR_DATA;
            for (uint32_t i = 0; i < count && !status; i++) {
                const unsigned char *want = wanted(g, options.skip_nan, q[i]),
                                    *is = got[0] + ((b * view.channels + c) * count + i) * size;
                CHECK_SAY(want ? !memcmp(is, want, size) : is_nan(dtype, is),
                          "case %llu, %s with %s, n %llu, q %.17g", (unsigned long long)number,
                          tally_dtype_name(dtype), tally_dtype_name(weights.dtype),
                          (unsigned long long)g->count, q[i]);
            }
        }
    CHECK_SAY(status == failed, "case %llu: %d and not %d: %s", (unsigned long long)number, status,
              failed, error.message);
    for (size_t i = 0; status && i < sizeof got[0]; i++)
        CHECK(got[0][i] == 0x55);
}

/* Values by hand: numpy.quantile(…, weights=…, method="inverted_cdf"). */
static void check_known(void)
{
    const int64_t x[] = {30, INT64_MAX, 10, INT64_MAX - 1};
    const double weights[] = {0.2, 0.4, 0, 0.4}, q[] = {0, 0.2, 0.2000001, 0.6, 0.7, 1};
    const int64_t want[] = {30, 30, INT64_MAX - 1, INT64_MAX - 1, INT64_MAX, INT64_MAX};
    const uint64_t heavy[] = {UINT64_MAX, UINT64_MAX, 0, 2};
    const double tiny[] = {1e-300, 1e300, 0, 0};
    int64_t out[6];
    tally_view view = tally_view_1d(x, TALLY_I64, 4), w = tally_view_1d(weights, TALLY_F64, 4);
    CHECK(!tally_weighted_quantiles(NULL, &view, &w, q, 6, NULL, out, NULL));
    CHECK(!memcmp(out, want, sizeof out));
    w = tally_view_1d(heavy, TALLY_U64, 4); /* a sum beyond 64 bits */
    CHECK(!tally_weighted_quantiles(NULL, &view, &w, (double[]){0.5, 0.51}, 2, NULL, out, NULL));
    CHECK(out[0] == 30 && out[1] == INT64_MAX);
    w = tally_view_1d(tiny, TALLY_F64, 4); /* less than a unit is one */
    CHECK(!tally_weighted_quantiles(NULL, &view, &w, q, 2, NULL, out, NULL));
    CHECK(out[0] == 30 && out[1] == INT64_MAX);
    CHECK(!tally_weighted_quantiles(NULL, &view, &w, NULL, 0, NULL, NULL, NULL));
}

static void check_refusals(void)
{
    const float x[] = {1, 2, 3}, fine[] = {1, 2, 3};
    const uint16_t half[] = {0, 0, 0};
    const int8_t below_zero[] = {1, INT8_MIN, 3};
    const float bad[][3] = {{1, -1, 1}, {NAN, 1, 1}, {1, 1, INFINITY}, {0, -0.0F, 0}};
    const unsigned char bytes[] = {1, 0, 1};
    const tally_view view = tally_view_1d(x, TALLY_F32, 3),
                     good = tally_view_1d(fine, TALLY_F32, 3),
                     mask = tally_view_1d(bytes, TALLY_U8, 3);
    tally_quantile_options options = TALLY_QUANTILE_OPTIONS_INIT;
    tally_error error;
    const double q = 0.5;
    float out = -5;
#define REFUSED(v, w, o, code, text)                                                               \
    CHECK_SAY(tally_weighted_quantiles(NULL, v, w, &q, 1, o, &out, &error) == (code) &&            \
                  strstr(error.message, text) && out == -5,                                        \
              "%s", error.message)
    for (int i = 0; i < 4; i++) {
        const tally_view w = tally_view_1d(bad[i], TALLY_F32, 3);
        REFUSED(&view, &w, NULL, TALLY_ERROR_DATA,
                i < 3 ? "one is negative" : "all of batch 0, channel 0 are 0");
    }
    tally_view w = tally_view_1d(below_zero, TALLY_I8, 3);
    REFUSED(&view, &w, NULL, TALLY_ERROR_DATA, "one is negative");
    options.mask = &mask;
    CHECK(!tally_weighted_quantiles(NULL, &view, &w, &q, 1, &options, &out, NULL) && out == 3);
    out = -5;
    w = tally_view_1d(fine, TALLY_F32, 2);
    REFUSED(&view, &w, NULL, TALLY_ERROR_ARGUMENT, "weights: 1x1x2 for samples of 1x1x3");
    w = tally_view_1d(half, TALLY_F16, 3);
    REFUSED(&view, &w, NULL, TALLY_ERROR_UNSUPPORTED, "f16");
    w = good;
    w.channels = 2;
    REFUSED(&view, &w, NULL, TALLY_ERROR_ARGUMENT, "weights: 2 channels");
    const tally_source source = {sizeof source, NULL, NULL, NULL, NULL, 0, NULL};
    w = good;
    w.data = NULL;
    w.source = &source;
    CHECK(tally_weighted_quantiles(NULL, &view, &w, &q, 1, NULL, &out, NULL));
    CHECK(tally_weighted_quantiles(NULL, &view, &good, (double[]){NAN}, 1, NULL, &out, NULL) ==
          TALLY_ERROR_ARGUMENT);
    w = tally_view_1d(NULL, TALLY_F32, 0);
    REFUSED(&view, &w, NULL, TALLY_ERROR_ARGUMENT, "weights: 1x1x0");
    const tally_view integers = tally_view_1d(bytes, TALLY_U8, 0);
    REFUSED(&integers, &w, NULL, TALLY_ERROR_DATA, "no sample counts");
    CHECK(!tally_weighted_quantiles(NULL, &w, &w, &q, 1, NULL, &out, NULL) && isnan(out));
}

static void check_memory(unsigned char *memory, unsigned char *heavy)
{
    const tally_view view = tally_view_1d(memory, TALLY_F64, most),
                     w = tally_view_1d(heavy, TALLY_F32, most);
    const double q[] = {0.1, 0.9};
    double out[2] = {-5, -5};
    for (uint64_t i = 0; i < most; i++) {
        draw_sample(TALLY_F64, 0, i, most, memory + 8 * i);
        draw_weight(TALLY_F32, 2, heavy + 4 * i);
    }
    for (long k = 0;; k++) {
        tally_error error = {""};
        ty_alloc_fail_after(k);
        tally_status status = tally_weighted_quantiles(context, &view, &w, q, 2, NULL, out, &error);
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
    const uint64_t cases = begin("test_weighted", argc, argv, 20261127);
    unsigned char *memory = malloc(8 * most + 8), *heavy = malloc(8 * most + 8),
                  *bytes = malloc(most);
    group g = {.pairs = malloc(most * sizeof(pair))};
    if (!memory || !heavy || !bytes || !g.pairs)
        return 1;
    check_known();
    check_refusals();
    for (uint64_t i = 0; i < cases; i++)
        check_case(i, memory, heavy, bytes, &g);
    check_memory(memory, heavy);
    free(memory);
    free(heavy);
    free(bytes);
    free(g.pairs);
    return end();
}
