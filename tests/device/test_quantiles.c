/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantiles, those with weights and order statistics of samples on a device are the processor's, to
 * the bit: every type, masks, strides, batches, channels; samples of every kind, searched in the
 * ways of many; edges so near that ranks are lost; answers left on the device.
 *
 *     test_quantiles [opencl|cuda [SEED [CASES]]]
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tally/quantile.h>

#include "check.h"
#include "core/dtype.h"
#include "draw.h"
#include "drivers.h"
#include "gpu/order.h"
#include "open_device.h"
#include "there.h"
#include "plan/plan.h"

enum { most = 150000, most_ranks = 300 };

static tally_context *device;
static const ty_order_sizes standard = {1 << 17, 1 << 20, 88,      1 << 14, 1 << 20,
                                        64,      1 << 12, 1 << 24, 1,       1 << 27};

/* One sample's bits; kinds make easy and hard cases. */
static uint64_t draw_sample(tally_dtype dtype, int kind, uint64_t i, uint64_t n)
{
    const uint64_t special[] = {0,
                                UINT64_MAX,
                                1,
                                INT64_MAX,
                                (uint64_t)INT64_MIN,
                                INT32_MAX,
                                0x80000000,
                                0xff,
                                0x80,
                                0x7fff,
                                0x8000,
                                0x7f800000,
                                0xff800000,
                                0x7fc00000,
                                UINT64_C(0x7ff0) << 48,
                                UINT64_C(0xfff0) << 48,
                                UINT64_C(0x7ff8) << 48,
                                0x7c00,
                                0xfc00,
                                0x7e00,
                                0x7f80,
                                0xff80};
    double x = unit() * unit() * 1e3 - 100;
    float y;
    uint64_t bits = next();
    if (kind == 1) /* few different ones */
        bits = below(10), x = (double)bits;
    else if (kind == 2) /* ascending */
        bits = i, x = (double)i;
    else if (kind == 3) /* all equal but few */
        bits = below(1000) ? 7 : bits, x = bits == 7 ? 7 : x;
    else if (kind == 4) /* two far heaps */
        bits = i < n / 2 ? below(9) : ~below(9), x = i < n / 2 ? unit() : 1e30 * (1 + unit());
    else if (kind == 5) /* limits, infinities, NaN, zeros */
        return special[below(sizeof special / sizeof *special)];
    if (kind == 6 || !ty_dtype_is_float(dtype)) /* any bits */
        return bits;
    if (dtype == TALLY_F64) {
        memcpy(&bits, &x, sizeof bits);
        return bits;
    }
    y = (float)x;
    bits = 0;
    memcpy(&bits, &y, sizeof y);
    return dtype == TALLY_BF16 ? bits >> 16 : dtype == TALLY_F16 ? next() & 0x83ff : bits;
}

static void fill(unsigned char *samples, tally_dtype dtype, int kind, uint64_t n)
{
    const size_t size = tally_dtype_bytes(dtype);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t bits = draw_sample(dtype, kind, i, n);
        memcpy(samples + i * size, &bits, size);
    }
}

/* Sizes that send few samples the ways of many, or the standard ones. */
static void draw_sizes(void)
{
    ty_order_sizes_used = standard;
    if (!below(4))
        return;
    ty_order_sizes_used.draw = 2048 << below(3);
    ty_order_sizes_used.most = below(2) ? 2048 : 65536;
    ty_order_sizes_used.width = below(4) ? 88 : below(2) ? 8 : 0;
    ty_order_sizes_used.small = below(4) ? 0 : 1000;
    ty_order_sizes_used.many = below(3) ? 1000000 : 2;
    ty_order_sizes_used.sifted = below(3) ? 0 : UINT64_MAX;
    ty_order_sizes_used.listed = below(2) ? 1 << 12 : 0;
    ty_order_sizes_used.middle = below(2) ? 1 << 27 : 0;
}

/* A view of random shape of at most n samples. */
static tally_view draw_view(tally_dtype dtype, uint64_t n, void *memory)
{
    const int64_t size = (int64_t)tally_dtype_bytes(dtype);
    const uint64_t gap = below(3) ? 0 : below(3);
    tally_view view = tally_view_1d(memory, dtype, n);
    if (below(2))
        return view;
    view.channels = 1 + below(below(3) ? 1 : 3);
    view.batches = 1 + below(below(2) ? 1 : 7);
    view.rows = 1 + below(below(2) ? 1 : 9);
    view.columns = n / (view.channels * view.batches * view.rows);
    view.columns -= view.columns > gap ? gap : 0;
    view.channel_stride_bytes = size;
    view.column_stride_bytes = size * (int64_t)view.channels;
    view.row_stride_bytes = view.column_stride_bytes * (int64_t)(view.columns + gap);
    view.batch_stride_bytes = view.row_stride_bytes * (int64_t)view.rows;
    return view;
}

/* The same on the device. */
static tally_view there(const tally_view *view, void *memory)
{
    tally_view moved = *view;
    moved.data = memory;
    moved.device = device->device;
    return moved;
}

static int same(double a, double b)
{
    return (a == b && signbit(a) == signbit(b)) || (isnan(a) && isnan(b));
}

typedef struct memories {
    unsigned char *samples, *mask, *weights; /* of the host */
    void *there, *mask_there, *weights_there, *out;
    double *want, *got;
    size_t answers;
} memories;

static void check_quantiles(const memories *m, const tally_view *view,
                            const tally_quantile_options *options,
                            const tally_quantile_options *options_there)
{
    const tally_view moved = there(view, m->there);
    const uint64_t groups = view->batches * view->channels;
    tally_quantile_options o = *options_there;
    tally_error error = {""};
    double q[most_ranks];
    uint32_t count = 1 + (uint32_t)below(below(3) ? 3 : below(3) ? 20 : most_ranks);
    count = groups * count > m->answers ? (uint32_t)(m->answers / groups) : count;
    for (uint32_t i = 0; i < count; i++)
        q[i] = below(8) ? unit() : (double)below(3) / 2;
    CHECK_SAY(!tally_quantiles(NULL, view, q, count, options, m->want, &error), "%s",
              error.message);
    o.on_device = view->columns ? (int32_t)below(2) : 0;
    CHECK_SAY(!tally_quantiles(device, &moved, q, count, &o, o.on_device ? m->out : m->got, &error),
              "%s", error.message);
    if (o.on_device)
        there_get(device, m->got, m->out, groups * count * sizeof *m->got);
    for (uint64_t i = 0; i < groups * count; i++)
        CHECK_SAY(same(m->got[i], m->want[i]),
                  "%s %s%s n %llu, group %llu, q %.17g: %.17g and not %.17g",
                  tally_dtype_name(view->dtype), tally_quantile_method_name(o.method),
                  o.on_device ? " there" : "", (unsigned long long)(view->rows * view->columns),
                  (unsigned long long)(i / count), q[i % count], m->got[i], m->want[i]);
}

static void check_ranks(const memories *m, const tally_view *view,
                        const tally_quantile_options *options,
                        const tally_quantile_options *options_there)
{
    const tally_view moved = there(view, m->there);
    const uint64_t groups = view->batches * view->channels, n = view->rows * view->columns;
    uint64_t ranks[most_ranks], nan[64], nan_there[64];
    tally_error error = {""};
    uint32_t count = (uint32_t)below(below(3) ? 5 : most_ranks);
    count = groups * count > m->answers ? (uint32_t)(m->answers / groups) : count;
    count = n ? count : 0;
    const int extremes = below(3) == 0; /* alone */
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = !extremes && below(5) ? below(n) : below(2) ? 0 : n - 1;
    const tally_status status =
        tally_order_statistics(NULL, view, ranks, count, options, m->want, nan, &error);
    CHECK_SAY(tally_order_statistics(device, &moved, ranks, count, options_there, m->got, nan_there,
                                     &error) == status,
              "%s", error.message);
    if (status) /* a rank above what the mask leaves */
        return;
    const size_t size = tally_dtype_bytes(view->dtype);
    const char *want = (const char *)m->want, *got = (const char *)m->got;
    for (uint64_t i = 0; i < groups * count; i++)
        CHECK_SAY(!memcmp(want + i * size, got + i * size, size),
                  "%s: group %llu, number %llu of %u, rank %llu of %llu",
                  tally_dtype_name(view->dtype), (unsigned long long)(i / count),
                  (unsigned long long)(i % count), count, (unsigned long long)ranks[i % count],
                  (unsigned long long)n);
    for (uint64_t g = 0; g < groups; g++)
        CHECK_SAY(nan[g] == nan_there[g], "%s: %llu NaN and not %llu",
                  tally_dtype_name(view->dtype), (unsigned long long)nan_there[g],
                  (unsigned long long)nan[g]);
}

/* Any weight of a type; sometimes one that is none. */
static uint64_t draw_weight(tally_dtype dtype, int kind)
{
    double d = kind == 0 ? 1 : kind == 1 ? (double)below(3) : ldexp(unit(), (int)below(200) - 100);
    uint64_t bits = kind == 0 ? 1 : kind == 1 ? below(3) : next() >> 1;
    float f = (float)d;
    if (kind == 3 && !below(100))
        d = below(2) ? (double)NAN : -1, f = (float)d;
    if (dtype == TALLY_F64)
        memcpy(&bits, &d, sizeof d);
    else if (dtype == TALLY_F32)
        memcpy(&bits, &f, sizeof f);
    else if (kind > 1 && dtype != TALLY_U64)
        bits >>= 64 - 8 * tally_dtype_bytes(dtype);
    return bits;
}

/* Weights in the samples' shape, or one for all channels, batches or rows, here and there. */
static tally_view draw_weights(const memories *m, const tally_view *view)
{
    static const tally_dtype dtypes[] = {TALLY_F32, TALLY_F64, TALLY_U8,  TALLY_I32, TALLY_U64,
                                         TALLY_I8,  TALLY_U16, TALLY_I16, TALLY_U32, TALLY_I64};
    const tally_dtype dtype = dtypes[below(10)];
    const int64_t size = (int64_t)tally_dtype_bytes(dtype);
    const int kind = (int)below(4);
    tally_view w = tally_view_1d(m->weights, dtype, view->columns);
    w.batches = below(3) ? view->batches : 1;
    w.channels = below(2) ? view->channels : 1;
    w.rows = below(4) ? view->rows : 1;
    w.channel_stride_bytes = size;
    w.column_stride_bytes = size * (int64_t)w.channels;
    w.row_stride_bytes = w.column_stride_bytes * (int64_t)w.columns;
    w.batch_stride_bytes = w.row_stride_bytes * (int64_t)w.rows;
    const uint64_t n = w.batches * w.rows * w.columns * w.channels;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t bits = draw_weight(dtype, kind);
        memcpy(m->weights + i * (uint64_t)size, &bits, (size_t)size);
    }
    CHECK(!tally_memory_write(device, m->weights_there, 0, m->weights, n * (uint64_t)size, NULL));
    return w;
}

static void check_weighted(const memories *m, const tally_view *view,
                           const tally_quantile_options *options,
                           const tally_quantile_options *options_there)
{
    const tally_view moved = there(view, m->there), w = draw_weights(m, view),
                     w_there = there(&w, m->weights_there);
    const size_t size = tally_dtype_bytes(view->dtype);
    const uint64_t groups = view->batches * view->channels;
    const uint64_t many = view->rows * view->columns < 1000 ? most_ranks : 8;
    const uint32_t count = 1 + (uint32_t)below(below(2) ? 2 : many);
    double q[most_ranks];
    tally_error want = {""}, got = {""};
    for (uint32_t i = 0; i < count; i++)
        q[i] = below(8) ? unit() : (double)below(3) / 2;
    const tally_status here = tally_weighted_quantiles(NULL, view, &w, q, count, options, m->want,
                                                       &want),
                       status = tally_weighted_quantiles(device, &moved, &w_there, q, count,
                                                         options_there, m->got, &got);
    CHECK_SAY(status == here, "%s with %s: %d and not %d: %s; %s", tally_dtype_name(view->dtype),
              tally_dtype_name(w.dtype), status, here, got.message, want.message);
    for (uint64_t i = 0; i < groups * count && !status && !here; i++)
        CHECK_SAY(!memcmp((const char *)m->got + i * size, (const char *)m->want + i * size, size),
                  "%s with %s: group %llu of %llu, q %.17g", tally_dtype_name(view->dtype),
                  tally_dtype_name(w.dtype), (unsigned long long)(i / count),
                  (unsigned long long)(view->rows * view->columns), q[i % count]);
}

static void check_case(const memories *m, tally_dtype dtype)
{
    const int kind = (int)below(7);
    const uint64_t n = below(8) ? below(below(2) ? 20000 : 2000) : below(most);
    tally_view view = draw_view(dtype, n, m->samples), mask = TALLY_VIEW_INIT, mask_there;
    tally_quantile_options options = TALLY_QUANTILE_OPTIONS_INIT, options_there = options;
    tally_error error = {""};
    draw_sizes();
    fill(m->samples, dtype, kind, n);
    options.method = (tally_quantile_method)below(13);
    options.skip_nan = (int32_t)below(2);
    options_there = options;
    if (!below(4)) {
        const uint64_t share = below(4);
        mask = tally_view_1d(m->mask, TALLY_U8, view.columns);
        mask.rows = view.rows;
        mask.row_stride_bytes = (int64_t)view.columns;
        for (uint64_t i = 0; i < view.rows * view.columns; i++)
            m->mask[i] = share ? !below(share) : 0;
        mask_there = there(&mask, m->mask_there);
        options.mask = &mask;
        options_there.mask = &mask_there;
        CHECK(!tally_memory_write(device, m->mask_there, 0, m->mask, view.rows * view.columns,
                                  &error));
    }
    CHECK(
        !tally_memory_write(device, m->there, 0, m->samples, n * tally_dtype_bytes(dtype), &error));
    const uint64_t what = below(4);
    if (what > 1)
        check_quantiles(m, &view, &options, &options_there);
    else if (what)
        check_weighted(m, &view, &options, &options_there);
    else
        check_ranks(m, &view, &options, &options_there);
}

/* A few samples far above all others, which the drawn ones seldom foresee, and whose lower halves
 * are the others'. */
static void check_far(const memories *m)
{
    enum { n = 120000, few = 5, count = 40 };
    const tally_view view = tally_view_1d(m->samples, TALLY_U64, n), moved = there(&view, m->there);
    uint64_t samples[n / 1000], ranks[count];
    tally_error error = {""};
    ty_order_sizes_used = standard;
    for (uint32_t i = 0; i < n; i += n / 1000) {
        for (uint32_t k = 0; k < n / 1000; k++)
            samples[k] = below(2000) + (i + k < few ? (1 + below(1000)) << 40 : 0);
        memcpy(m->samples + i * sizeof *samples, samples, sizeof samples);
    }
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = n - 1 - (i < 2 * few ? i : i * (n / count));
    CHECK(!tally_memory_write(device, m->there, 0, m->samples, n * sizeof *samples, &error));
    CHECK(!tally_order_statistics(NULL, &view, ranks, count, NULL, m->want, NULL, &error));
    CHECK_SAY(!tally_order_statistics(device, &moved, ranks, count, NULL, m->got, NULL, &error),
              "%s", error.message);
    CHECK(!memcmp(m->want, m->got, count * sizeof *samples));
}

/* One number for the sieve, of few ranks: all different; ten; two, with their neighbours far away
 * or beside them, and some others; some NaN; all near each other, but few; of all sizes; some
 * infinite; too small for full precision; one value and others around it; five values. */
enum { SIEVE_KINDS = 11 };
static double sieve_number(int kind)
{
    const uint64_t part = below(100);
    if (kind == 1)
        return (double)below(10);
    if (kind == 2 && part < 90)
        return part & 1 ? 3 : 5;
    if (kind == 3 && part < 90)
        return part & 1 ? 1 : 1 + 0x1p-23;
    if (kind == 4 && part < 30)
        return NAN;
    if (kind == 5)
        return below(1000) ? 1000 + unit() : (unit() - 0.5) * 1e30;
    if (kind == 6)
        return (part & 1 ? -1 : 1) * exp(unit() * 160 - 80);
    if (kind == 7 && (part < 5 || part > 60))
        return part < 5 ? -INFINITY : INFINITY;
    if (kind == 8)
        return (unit() - 0.3) * 1e-40;
    if (kind == 9)
        return part < 14 ? 0 : unit() - 0.4;
    if (kind == 10)
        return part < 99 ? (double)(part / 20) * 0.1 : unit();
    return unit() * 10 - 2;
}

/* Few samples by the ways of many: by a sieve, or with `slices` alone. With width 0 the sieve loses
 * most ranks; else none is lost, but where no slices part two values of
 * most samples. */
static void check_sieve(const memories *m, tally_dtype dtype, int kind, uint32_t width, int slices)
{
    enum { n = 120000, most_parts = 30 };
    static const double few[] = {0, 0.3, 0.5, 0.95};
    const uint32_t pairs = slices ? most_parts : below(2) ? 9 : 4, count = 2 * pairs;
    const size_t size = tally_dtype_bytes(dtype);
    const tally_view view = tally_view_1d(m->samples, dtype, n), moved = there(&view, m->there);
    const double part = below(3) * 0.5; /* the least, all alike, the largest */
    uint64_t ranks[2 * most_parts];
    tally_error error = {""};
    ty_order_sizes_used = standard;
    ty_order_sizes_used.small = ty_order_sizes_used.middle = 0;
    ty_order_sizes_used.sifted = slices ? UINT64_MAX : 0;
    ty_order_sizes_used.draw = ty_order_sizes_used.most = 1 << 15;
    ty_order_sizes_used.width = width;
    ty_order_sizes_used.rescue = !width || (slices && kind == 3 && dtype == TALLY_F64);
    for (uint32_t i = 0; i < n; i++) {
        const double x = sieve_number(kind);
        const float y = (float)x;
        memcpy(m->samples + i * size, size == 8 ? (const void *)&x : (const void *)&y, size);
    }
    for (uint32_t i = 0; i < count; i++)
        ranks[i] =
            (uint64_t)((pairs == 4 ? few[i / 2] : (i / 2 + part) / pairs) * (n - 2)) + (i & 1);
    CHECK(!tally_memory_write(device, m->there, 0, m->samples, n * size, &error));
    CHECK(!tally_order_statistics(NULL, &view, ranks, count, NULL, m->want, NULL, &error));
    CHECK_SAY(!tally_order_statistics(device, &moved, ranks, count, NULL, m->got, NULL, &error),
              "%s", error.message);
    CHECK_SAY(!memcmp(m->want, m->got, count * size), "%s kind %d width %u slices %d",
              tally_dtype_name(dtype), kind, width, slices);
}

/* What is refused, and that nothing is written then. */
static void check_refusals(const memories *m)
{
    const tally_view host = tally_view_1d(m->samples, TALLY_F32, 10);
    const tally_view moved = there(&host, m->there);
    tally_quantile_options o = TALLY_QUANTILE_OPTIONS_INIT;
    tally_error error = {""};
    const double q = 0.5;
    double out = 7;
    CHECK(tally_quantiles(NULL, &moved, &q, 1, NULL, &out, &error) == TALLY_ERROR_UNSUPPORTED);
    o.on_device = 1;
    CHECK(tally_quantiles(device, &host, &q, 1, &o, &out, &error) == TALLY_ERROR_ARGUMENT);
    const uint64_t rank = 3;
    CHECK(tally_order_statistics(device, &moved, &rank, 1, &o, &out, NULL, &error) ==
          TALLY_ERROR_UNSUPPORTED);
    CHECK(tally_weighted_quantiles(device, &moved, &moved, &q, 1, &o, &out, &error) ==
          TALLY_ERROR_UNSUPPORTED);
    o.on_device = 0;
    CHECK(tally_weighted_quantiles(device, &moved, &host, &q, 1, &o, &out, &error) ==
          TALLY_ERROR_UNSUPPORTED);
    const tally_view mask = tally_view_1d(m->mask, TALLY_U8, 10);
    o.on_device = 0;
    o.mask = &mask;
    CHECK(tally_quantiles(device, &moved, &q, 1, &o, &out, &error) == TALLY_ERROR_UNSUPPORTED);
    CHECK(out == 7);
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261123;
    const int cases = argc > 3 ? atoi(argv[3]) : 36;
    static const tally_dtype dtypes[] = {TALLY_F32, TALLY_F64, TALLY_U8,  TALLY_I32,
                                         TALLY_F16, TALLY_U64, TALLY_I8,  TALLY_U16,
                                         TALLY_I16, TALLY_U32, TALLY_I64, TALLY_BF16};
    memories m = {.answers = 40000};
    tally_error error = {""};
    device = open_device(argc > 1 ? argv[1] : NULL);
    if (!device)
        return 77;
    state = seed;
    printf("seed %llu\n", (unsigned long long)seed);
    m.samples = calloc(most, 8);
    m.mask = calloc(most, 1);
    m.weights = calloc(most, 8);
    m.want = calloc(m.answers, 8);
    m.got = calloc(m.answers, 8);
    if (!m.samples || !m.mask || !m.weights || !m.want || !m.got ||
        tally_memory_create(device, most * 8, &m.there, &error) ||
        tally_memory_create(device, most, &m.mask_there, &error) ||
        tally_memory_create(device, most * 8, &m.weights_there, &error) ||
        tally_memory_create(device, m.answers * 8, &m.out, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    check_refusals(&m);
    for (int i = 0; i < 4; i++)
        check_far(&m);
    for (int i = 0; i < 6 * SIEVE_KINDS; i++)
        check_sieve(&m, i & 1 ? TALLY_F64 : TALLY_F32, i / 2 % SIEVE_KINDS,
                    i / 2 / SIEVE_KINDS == 1 ? 0 : 88, i / 2 / SIEVE_KINDS == 2);
    /* A type after the other, as each has kernels to compile; most cases are of the first two. */
    for (int i = 0; i < cases; i++)
        check_case(&m, dtypes[i < cases / 3 ? i & 1 : (unsigned)i % 12]);
    tally_memory_destroy(device, m.there);
    tally_memory_destroy(device, m.mask_there);
    tally_memory_destroy(device, m.weights_there);
    tally_memory_destroy(device, m.out);
    free(m.samples);
    free(m.mask);
    free(m.weights);
    free(m.want);
    free(m.got);
    tally_context_destroy(device);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
