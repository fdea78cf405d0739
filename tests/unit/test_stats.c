/* SPDX-License-Identifier: Apache-2.0 */
/* tally_stats_add against a plain loop, and its promise of equal bits. `test_stats [SEED]` */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/dtype.h"
#include "cpu/features.h"
#include "cpu/stats.h"
#include "cpu/threads.h"
#include "check.h"
#include "draw.h"
#include "plan/plan.h"

static double decode(tally_dtype dtype, const unsigned char *at)
{
    uint64_t bits = 0;
    double x;
    float y;
    memcpy(&bits, at, tally_dtype_bytes(dtype));
    memcpy(&x, at, dtype == TALLY_F64 ? sizeof x : 0);
    memcpy(&y, at, dtype == TALLY_F32 ? sizeof y : 0);
    switch (dtype) {
    case TALLY_I8:
        return (int8_t)bits;
    case TALLY_I16:
        return (int16_t)bits;
    case TALLY_I32:
        return (int32_t)bits;
    case TALLY_I64:
        return (double)(int64_t)bits;
    case TALLY_F16: { /* by the format's definition */
        int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
        double m = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(1024 + fraction, exponent - 25);
        return bits >> 15 ? -m : m;
    }
    case TALLY_BF16:
        return (double)ty_bf16_decode((uint16_t)bits);
    case TALLY_F32:
        return (double)y;
    case TALLY_F64:
        return x;
    default:
        return (double)bits;
    }
}

/* The oracle adds one sample at a time; moments by two passes in long double over `values`. */
typedef struct oracle {
    tally_stats s;
    double *values;
} oracle;

static void oracle_add(oracle *o, tally_dtype dtype, const unsigned char *at)
{
    double x = decode(dtype, at);
    tally_stats *s = &o->s;
    s->samples++;
    if (!isfinite(x)) {
        *(isnan(x) ? &s->nan : x < 0 ? &s->minus_inf : &s->plus_inf) += 1;
        return;
    }
    int64_t integer = 0;
    if (!ty_dtype_is_float(dtype)) {
        uint64_t bits = 0;
        memcpy(&bits, at, tally_dtype_bytes(dtype));
        integer = dtype == TALLY_U64 || dtype == TALLY_I64 ? (int64_t)bits : (int64_t)x;
    }
    int first = !s->finite, u = dtype == TALLY_U64;
    if (first || x < s->min)
        s->min = x;
    if (first || x > s->max)
        s->max = x;
    if (first || (u ? (uint64_t)integer < (uint64_t)s->min_integer : integer < s->min_integer))
        s->min_integer = integer;
    if (first || (u ? (uint64_t)integer > (uint64_t)s->max_integer : integer > s->max_integer))
        s->max_integer = integer;
    o->values[s->finite++] = x;
}

static void check_equal(const oracle *o, const tally_stats *got, int moments, const char *what)
{
    const tally_stats *s = &o->s;
    CHECK_SAY(got->samples == s->samples && got->finite == s->finite && got->nan == s->nan &&
                  got->minus_inf == s->minus_inf && got->plus_inf == s->plus_inf,
              "%s: counts", what);
    CHECK_SAY(got->min == s->min && got->max == s->max, "%s: %g … %g, expected %g … %g", what,
              got->min, got->max, s->min, s->max);
    CHECK_SAY(!(got->min == 0 && signbit(got->min)) && !(got->max == 0 && signbit(got->max)),
              "%s: -0", what);
    CHECK_SAY(got->min_integer == s->min_integer && got->max_integer == s->max_integer,
              "%s: integers", what);
    if (!moments) {
        CHECK_SAY(got->mean == 7 && got->m2 == 8 && got->m3 == 9, "%s: moments were touched", what);
        return;
    }
    long double mean = 0, m2 = 0, m3 = 0, size3 = 0, size1 = 0, n = (long double)s->finite;
    for (uint64_t i = 0; i < s->finite; i++) {
        mean += (long double)o->values[i] / n;
        size1 += fabsl((long double)o->values[i]) / n;
    }
    for (uint64_t i = 0; i < s->finite; i++) {
        long double d = o->values[i] - mean;
        m2 += d * d;
        m3 += d * d * d;
        size3 += fabsl(d * d * d);
    }
    if (!isfinite((double)size3) || (double)m2 < 1e-290 || (double)size3 < 1e-290)
        return; /* the sums leave float64 */
    double eps = 1e-13;
    CHECK_SAY(fabsl(got->mean - mean) <= eps * size1, "%s: mean %.17g, expected %.17Lg", what,
              got->mean, mean);
    CHECK_SAY(fabsl(got->m2 - m2) <= eps * m2 + n * 1e-30 * size1 * size1,
              "%s: m2 %.17g, expected %.17Lg", what, got->m2, m2);
    CHECK_SAY(fabsl(got->m3 - m3) <= 10 * eps * size3 + 1e-15 * size1 * m2,
              "%s: m3 %.17g, expected %.17Lg", what, got->m3, m3);
}

/* Random bits, moderate values, or values that sit on special ones. */
static void fill(unsigned char *bytes, size_t count, tally_dtype dtype)
{
    size_t size = tally_dtype_bytes(dtype);
    uint64_t kind = below(4), rare = kind == 3 ? 1000000 : 1 + below(5000);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = next();
        double x = (double)(int64_t)next() * 0x1p-60;
        float y = (float)x;
        uint32_t word;
        memcpy(&word, &y, sizeof word);
        if (kind && dtype == TALLY_F64)
            memcpy(&bits, &x, sizeof bits);
        else if (kind && dtype == TALLY_F32)
            bits = word;
        else if (kind && dtype == TALLY_BF16)
            bits = word >> 16;
        else if (kind && dtype == TALLY_F16)
            bits = (bits & 0x83ff) | (bits >> 20 & 0xf) << 10;
        else if (kind == 2)
            bits = bits % 5 - 2;
        if (!below(rare)) {
            const uint64_t special[] = {0,
                                        UINT64_C(1) << 63,
                                        UINT64_C(0x7ff) << 52,
                                        UINT64_C(0xfff) << 52,
                                        UINT64_C(0x7ff8) << 48,
                                        1};
            const uint64_t exponent = dtype == TALLY_F32   ? UINT64_C(0x7f800000)
                                      : dtype == TALLY_F16 ? UINT64_C(0x7c00)
                                                           : UINT64_C(0x7f80);
            bits = special[below(6)];
            if (dtype != TALLY_F64 && ty_dtype_is_float(dtype))
                bits = below(2) << (8 * size - 1) | (below(3) ? exponent : 0) | below(2);
        }
        memcpy(bytes + i * size, &bits, size);
    }
}

static size_t extent(void)
{
    return below(3) ? 1 + below(4) : below(2) ? 1 : 1 + below(6000);
}

/* One random view, mask and channel. Strides may be negative and odd; storage is exactly large
 * enough. */
static void test_random(tally_context *context)
{
    tally_dtype dtype = (tally_dtype)(1 + below(12));
    size_t size = tally_dtype_bytes(dtype), e[4] = {1 + below(4), extent(), extent(), 1 + below(3)};
    while (e[1] * e[2] > 60000)
        e[1] = 1 + e[1] / 2;
    int64_t stride[4];
    size_t span = size, gap = below(2) ? 0 : below(7);
    for (int d = 3; d >= 0; d--) {
        stride[d] = (int64_t)(span + (d == 3 ? 0 : gap));
        span = (size_t)stride[d] * (e[d] - 1) + span;
    }
    unsigned char *storage = malloc(span + 1), *data = storage + 1;
    for (size_t i = 0; i + size <= span; i += 1 + (i + 2 * size <= span ? size - 1 : 0))
        fill(data + i, 1, dtype);
    size_t packed = size * e[0] * e[1] * e[2] * e[3];
    if (!gap)
        fill(data, packed / size, dtype);
    unsigned char *base = data;
    for (int d = 0; d < 4; d++) {
        if (e[d] > 1 && !below(4)) {
            base += stride[d] * (int64_t)(e[d] - 1);
            stride[d] = -stride[d];
        }
    }
    tally_view view = TALLY_VIEW_INIT, mask = TALLY_VIEW_INIT;
    view.data = base;
    view.dtype = dtype;
    view.batches = e[0], view.rows = e[1], view.columns = e[2], view.channels = e[3];
    view.batch_stride_bytes = stride[0], view.row_stride_bytes = stride[1];
    view.column_stride_bytes = stride[2], view.channel_stride_bytes = stride[3];
    size_t m[3];
    for (int d = 0; d < 3; d++)
        m[d] = below(3) ? e[d] : 1;
    unsigned char *bytes = malloc(m[0] * m[1] * m[2]);
    for (size_t i = 0; i < m[0] * m[1] * m[2]; i++)
        bytes[i] = below(3) ? (unsigned char)next() : 0;
    mask.data = bytes, mask.dtype = TALLY_U8;
    mask.batches = m[0], mask.rows = m[1], mask.columns = m[2];
    int masked = below(2) != 0, moments = below(2) != 0;
    const uint64_t channel = below(4) ? below(e[3]) : TALLY_ALL_CHANNELS;
    const size_t first = channel < e[3] ? channel : 0, last = channel < e[3] ? channel : e[3] - 1;
    oracle o = {TALLY_STATS_INIT, malloc(8 * e[0] * e[1] * e[2] * e[3])};
    unsigned char *same = malloc(size * e[0] * e[1] * e[2] * e[3]);
    size_t kept = 0;
    for (size_t b = 0; b < e[0]; b++) {
        for (size_t r = 0; r < e[1]; r++) {
            for (size_t c = 0; c < e[2]; c++) {
                size_t at =
                    ((m[0] > 1 ? b : 0) * m[1] + (m[1] > 1 ? r : 0)) * m[2] + (m[2] > 1 ? c : 0);
                const unsigned char *x =
                    base + stride[0] * (int64_t)b + stride[1] * (int64_t)r + stride[2] * (int64_t)c;
                for (size_t i = first; i <= last && (!masked || bytes[at]); i++) {
                    oracle_add(&o, dtype, x + stride[3] * (int64_t)i);
                    memcpy(same + kept++ * size, x + stride[3] * (int64_t)i, size);
                }
            }
        }
    }
    tally_stats got = TALLY_STATS_INIT;
    got.mean = 7, got.m2 = 8, got.m3 = 9;
    tally_error error = {""};
    tally_status status =
        tally_stats_add(context, &view, masked ? &mask : NULL, channel, moments, &got, &error);
    char what[100];
    snprintf(what, sizeof what, "%s %zux%zux%zux%zu%s", tally_dtype_name(dtype), e[0], e[1], e[2],
             e[3], masked ? " masked" : "");
    CHECK_SAY(!status, "%s: %s", what, error.message);
    check_equal(&o, &got, moments, what);
    if (!masked && first == last) { /* the same samples, packed: the same bits */
        tally_view flat = tally_view_1d(same, dtype, kept);
        tally_stats again = TALLY_STATS_INIT, once = TALLY_STATS_INIT;
        CHECK_SAY(!tally_stats_add(NULL, &flat, NULL, 0, 1, &again, &error), "%s", error.message);
        CHECK_SAY(!tally_stats_add(context, &view, NULL, channel, 1, &once, &error), "%s",
                  error.message);
        CHECK_SAY(!memcmp(&again, &once, sizeof once) || once.mean != once.mean,
                  "%s: packed and strided differ", what);
    }
    free(storage);
    free(bytes);
    free(o.values);
    free(same);
}

/* Every table gives the same bits as the base one. */
static void test_tables(void)
{
#if defined(__x86_64__)
    uint32_t f = ty_cpu_features();
    const ty_stats_loops *tables[] = {
        (f & TY_CPU_LEVEL_AVX2) == TY_CPU_LEVEL_AVX2 ? &ty_stats_avx2 : NULL,
        (f & TY_CPU_LEVEL_AVX512) == TY_CPU_LEVEL_AVX512 ? &ty_stats_avx512 : NULL};
    static unsigned char bytes[8 * 9000 + 8];
    for (int round = 0; round < 600; round++) {
        tally_dtype dtype = (tally_dtype)(1 + below(12));
        size_t n = 1 + below(below(2) ? 40 : 9000), block = n < TY_STATS_BLOCK ? n : TY_STATS_BLOCK;
        unsigned char *x = bytes + below(8);
        fill(x, n, dtype);
        double values[2][TY_STATS_BLOCK];
        tally_stats want = TALLY_STATS_INIT;
        ty_stats_base.extremes(dtype, x, n, &want);
        ty_stats_base.decode(dtype, x, block, values[0]);
        for (size_t i = 0; i < block; i++) {
            double y = decode(dtype, x + i * tally_dtype_bytes(dtype));
            CHECK_SAY(isnan(y) ? isnan(values[0][i]) : !memcmp(&y, &values[0][i], sizeof y),
                      "%s: %g decoded as %g", tally_dtype_name(dtype), y, values[0][i]);
        }
        ty_stats_base.moments(values[0], block, &want);
        for (int t = 0; t < 2; t++) {
            tally_stats got = TALLY_STATS_INIT;
            if (!tables[t])
                continue;
            tables[t]->extremes(dtype, x, n, &got);
            tables[t]->decode(dtype, x, block, values[1]);
            tables[t]->moments(values[0], block, &got);
            int odd = got.mean != got.mean || !isfinite(got.m3); /* a NaN's bits may differ */
            CHECK_SAY(odd || !memcmp(&got, &want, sizeof got), "%s n=%zu: table %d differs",
                      tally_dtype_name(dtype), n, t);
            for (size_t i = 0; i < block; i++)
                CHECK_SAY(isnan(values[0][i]) ? isnan(values[1][i])
                                              : !memcmp(&values[0][i], &values[1][i], 8),
                          "%s: decode differs", tally_dtype_name(dtype));
        }
    }
    if (!tables[1])
        printf("this processor has not all instruction sets: some tables were not compared\n");
#endif
}

/* The same bits whatever the number of threads; chunks merged agree with the whole. */
static void test_threads(void)
{
    size_t n = 5000000;
    float *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)below(1000) * 0.1f + 1000;
    x[n - 1] = -5;
    x[n / 2] = 1e9f;
    tally_view view = tally_view_1d(x, TALLY_F32, n);
    for (int moments = 0; moments < 2; moments++) {
        tally_stats one = TALLY_STATS_INIT, chunks = TALLY_STATS_INIT;
        CHECK_SAY(!tally_stats_add(NULL, &view, NULL, 0, moments, &one, NULL), "add");
        CHECK_SAY(one.min == -5 && one.max == 1e9 && one.finite == n, "extremes");
        for (unsigned threads = 1; threads <= 8; threads += 3) {
            tally_context context = {.pool = ty_pool_create(threads)};
            tally_stats many = TALLY_STATS_INIT;
            CHECK_SAY(!tally_stats_add(&context, &view, NULL, 0, moments, &many, NULL), "add");
            CHECK_SAY(!memcmp(&one, &many, sizeof one), "%u threads differ", threads);
            ty_pool_destroy(context.pool);
        }
        for (size_t at = 0, step; at < n; at += step) {
            step = 1 + below(n / 3);
            step = step < n - at ? step : n - at;
            tally_view part = tally_view_1d(x + at, TALLY_F32, step);
            tally_stats some = TALLY_STATS_INIT;
            CHECK_SAY(!tally_stats_add(NULL, &part, NULL, 0, moments, &some, NULL), "add");
            tally_stats_merge(&chunks, &some, TALLY_F32);
        }
        CHECK_SAY(chunks.finite == n && chunks.min == -5 && chunks.max == 1e9, "chunks");
        CHECK_SAY(fabs(chunks.mean - one.mean) <= 1e-13 * fabs(one.mean), "chunks' mean");
        CHECK_SAY(fabs(chunks.m2 - one.m2) <= 1e-12 * one.m2, "chunks' m2");
        CHECK_SAY(fabs(chunks.m3 - one.m3) <= 1e-12 * fabs(one.m3), "chunks' m3");
    }
    free(x);
}

static void test_known(void)
{
    tally_stats s = TALLY_STATS_INIT, t = TALLY_STATS_INIT;
    int64_t i[] = {INT64_MIN, INT64_MAX, INT64_MAX - 1};
    uint64_t u[] = {UINT64_MAX, 1, UINT64_MAX - 1};
    tally_view view = tally_view_1d(i, TALLY_I64, 3);
    CHECK_SAY(!tally_stats_add(NULL, &view, NULL, 0, 0, &s, NULL), "i64");
    CHECK_SAY(s.min_integer == INT64_MIN && s.max_integer == INT64_MAX && s.min == -0x1p63, "i64");
    view = tally_view_1d(u, TALLY_U64, 3);
    CHECK_SAY(!tally_stats_add(NULL, &view, NULL, 0, 0, &t, NULL), "u64");
    CHECK_SAY(t.min_integer == 1 && (uint64_t)t.max_integer == UINT64_MAX && t.max == 0x1p64,
              "u64");
    const int64_t parts[2] = {-5, 5};
    for (int k = 0; k < 4; k++) { /* merged across the sign bit, both ways round */
        tally_dtype dtype = k & 1 ? TALLY_U64 : TALLY_I64;
        tally_stats sides[2] = {TALLY_STATS_INIT, TALLY_STATS_INIT};
        for (int j = 0; j < 2; j++) {
            view = tally_view_1d(&parts[k >> 1 ^ j], dtype, 1);
            CHECK_SAY(!tally_stats_add(NULL, &view, NULL, 0, 0, &sides[j], NULL), "part");
        }
        tally_stats_merge(&sides[0], &sides[1], dtype);
        int64_t lo = k & 1 ? 5 : -5, hi = -lo;
        CHECK_SAY(
            sides[0].min_integer == lo && sides[0].max_integer == hi && sides[0].min < sides[0].max,
            "merge %d: %" PRId64 " … %" PRId64, k, sides[0].min_integer, sides[0].max_integer);
    }
    double f[] = {0.1, 0.1, 0.1, NAN, 0.1, -INFINITY, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    s = (tally_stats)TALLY_STATS_INIT;
    view = tally_view_1d(f, TALLY_F64, 12);
    CHECK_SAY(!tally_stats_add(NULL, &view, NULL, 0, 1, &s, NULL), "f64");
    CHECK_SAY(s.mean == 0.1 && s.m2 == 0 && s.m3 == 0, "equal samples have no spread");
    CHECK_SAY(s.finite == 10 && s.nan == 1 && s.minus_inf == 1 && s.plus_inf == 0, "kinds");
    double tiny[] = {5e-324, -5e-324, -0.0};
    s = (tally_stats)TALLY_STATS_INIT;
    view = tally_view_1d(tiny, TALLY_F64, 3);
    CHECK_SAY(!tally_stats_add(NULL, &view, NULL, 0, 0, &s, NULL), "tiny");
    CHECK_SAY(s.min == -5e-324 && s.max == 5e-324, "subnormals");
    view = tally_view_1d(tiny + 2, TALLY_F64, 1);
    s = (tally_stats)TALLY_STATS_INIT;
    CHECK_SAY(!tally_stats_add(NULL, &view, NULL, 0, 0, &s, NULL), "-0");
    CHECK_SAY(s.min == 0 && !signbit(s.min) && !signbit(s.max), "-0 is reported as 0");
    view = tally_view_1d(NULL, TALLY_F64, 0);
    t = s;
    CHECK_SAY(!tally_stats_add(NULL, &view, NULL, 0, 1, &s, NULL), "empty");
    CHECK_SAY(!memcmp(&s, &t, sizeof s), "an empty view changes nothing");
}

static void refuse(tally_status want, const tally_view *view, const tally_view *mask,
                   uint64_t channel, tally_stats *stats, const char *words)
{
    tally_error error = {""};
    tally_status got = tally_stats_add(NULL, view, mask, channel, 1, stats, &error);
    CHECK_SAY(got == want && strstr(error.message, words), "expected %d '%s', got %d '%s'", want,
              words, got, error.message);
    CHECK_SAY(tally_stats_add(NULL, view, mask, channel, 1, stats, NULL) == want, "error NULL");
}

static void test_refusals(void)
{
    float x[12] = {0};
    unsigned char m[12] = {0};
    tally_stats s = TALLY_STATS_INIT, wrong = TALLY_STATS_INIT;
    tally_view view = tally_view_1d(x, TALLY_F32, 12), mask = tally_view_1d(m, TALLY_U8, 12), v;
    wrong.struct_size = 1;
    refuse(TALLY_ERROR_ARGUMENT, NULL, NULL, 0, &s, "NULL");
    refuse(TALLY_ERROR_ARGUMENT, &view, NULL, 0, NULL, "stats");
    refuse(TALLY_ERROR_ARGUMENT, &view, NULL, 0, &wrong, "struct_size");
    refuse(TALLY_ERROR_ARGUMENT, &view, NULL, 1, &s, "channel 1");
    v = mask;
    v.columns = 11;
    refuse(TALLY_ERROR_ARGUMENT, &view, &v, 0, &s, "1x1x11 for samples of 1x1x12");
    v = mask;
    v.dtype = TALLY_I8;
    refuse(TALLY_ERROR_ARGUMENT, &view, &v, 0, &s, "must be u8");
    v = mask;
    v.device = TALLY_DEVICE_CUDA;
    refuse(TALLY_ERROR_UNSUPPORTED, &view, &v, 0, &s, "mask");
    v = view;
    v.device = TALLY_DEVICE_OPENCL;
    refuse(TALLY_ERROR_UNSUPPORTED, &v, NULL, 0, &s, "device 4");
    v = view;
    v.rows = v.columns = UINT64_C(1) << 40;
    v.row_stride_bytes = v.column_stride_bytes = 1;
    refuse(TALLY_ERROR_ARGUMENT, &v, NULL, 0, &s, "2^64");
    CHECK_SAY(s.samples == 0, "a refusal changed the statistics");
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", state);
    tally_context context = {.pool = ty_pool_create(2)};
    test_known();
    test_refusals();
    for (int i = 0; i < 400; i++)
        test_random(below(2) ? &context : NULL);
    test_tables();
    test_threads();
    ty_pool_destroy(context.pool);
    printf("%d failures\n", failures);
    return failures != 0;
}
