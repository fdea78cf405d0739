/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of bins of samples on a device beside the processor's with limits, which they are to
 * the bit: values of every type and kind, what a call asks for, its answers and their comparison.
 */
#ifndef STATISTICS_HELP_H
#define STATISTICS_HELP_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tally/statistics.h>

#include "check.h"
#include "core/dtype.h"
#include "draw.h"
#include "drivers.h"
#include "open_device.h"
#include "there.h"

enum { most_columns = 3, fields = 7, most_memories = TALLY_MAX_DIMENSIONS + 1 + most_columns };

static tally_context *device, *host;

/* ---- values ---- */

/* How values are drawn. */
typedef struct kind {
    int bits, scale; /* of a float: its exponent's range, and where it lies */
    int odd;         /* one in so many is infinite or NaN; 0: none */
    int equal;
} kind;

static inline uint64_t draw_bits(tally_dtype dtype, const kind *k)
{
    static const uint64_t f64[] = {UINT64_C(0x7ff8) << 48, UINT64_C(0x7ff0) << 48,
                                   UINT64_C(0xfff0) << 48},
                          f32[] = {0x7fc00000, 0x7f800000, 0xff800000},
                          f16[] = {0x7e00, 0x7c00, 0xfc00};
    const double x = k->equal ? ldexp(0.7, k->scale)
                              : ldexp(2 * unit() - 1, k->scale - (int)below((uint64_t)k->bits + 1));
    const float y = (float)x;
    const int odd = k->odd && !below((uint64_t)k->odd);
    const uint64_t which = below(3);
    uint64_t bits = k->equal ? 77 : next() >> below(64);
    uint32_t low;
    memcpy(&low, &y, sizeof low);
    if (dtype == TALLY_F64)
        memcpy(&bits, &x, sizeof bits);
    switch (dtype) {
    case TALLY_F64:
        return odd ? f64[which] : bits;
    case TALLY_F32:
        return odd ? f32[which] : low;
    case TALLY_BF16:
        return odd ? f32[which] >> 16 : low >> 16;
    case TALLY_F16:
        return odd ? f16[which] : next() & (k->equal ? 0 : 0xbbff);
    default:
        return bits;
    }
}

/* A value as the processor takes it. */
static inline double value_at(const tally_view *v, uint64_t b, uint64_t r, uint64_t c,
                              uint64_t channel)
{
    uint64_t bits = 0;
    memcpy(&bits, random_case_at(v, b, r, c, channel), tally_dtype_bytes(v->dtype));
    switch (v->dtype) {
    case TALLY_F64: {
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    case TALLY_F32: {
        float x;
        memcpy(&x, &bits, sizeof x);
        return (double)x;
    }
    case TALLY_F16:
        return (double)ty_f16_decode((uint16_t)bits);
    case TALLY_BF16:
        return (double)ty_bf16_decode((uint16_t)bits);
    case TALLY_I64:
        return (double)(int64_t)bits;
    default:
        return (double)bits;
    }
}

#define EACH(v)                                                                                    \
    for (uint64_t b = 0; b < (v)->batches; b++)                                                    \
        for (uint64_t r = 0; r < (v)->rows; r++)                                                   \
            for (uint64_t c = 0; c < (v)->columns; c++)                                            \
                for (uint64_t h = 0; h < (v)->channels; h++)

/* A column for samples of a shape, some extents 1, some gaps; its memory is the caller's. */
static inline unsigned char *make_values(const tally_view *shape, tally_dtype dtype, const kind *k,
                                         tally_view *v)
{
    const int64_t size = (int64_t)tally_dtype_bytes(dtype);
    const uint64_t start = below(4) ? 0 : below(16), gap = below(3) ? 0 : below(9);
    *v = *shape;
    v->dtype = dtype;
    v->source = NULL;
    v->channels = below(3) ? shape->channels : 1;
    v->batches = below(4) ? shape->batches : 1;
    v->rows = below(6) ? shape->rows : 1;
    v->channel_stride_bytes = size;
    v->column_stride_bytes = size * (int64_t)v->channels + (below(5) ? 0 : (int64_t)below(9));
    v->row_stride_bytes = v->column_stride_bytes * (int64_t)v->columns + (int64_t)gap;
    v->batch_stride_bytes = v->row_stride_bytes * (int64_t)v->rows + (int64_t)gap;
    unsigned char *memory =
        calloc(1, (size_t)v->batch_stride_bytes * (v->batches + 1) + start + 16);
    if (!memory)
        exit(1);
    v->data = memory + start;
    EACH(v)
    {
        const uint64_t bits = draw_bits(dtype, k);
        memcpy(random_case_at(v, b, r, c, h), &bits, (size_t)size);
    }
    return memory;
}

/* ---- answers ---- */

typedef struct answer {
    uint64_t *count;
    double *of[fields]; /* weight, weight_squares, sum, mean, m2, min, max */
    size_t cells;
} answer;

static inline answer make_answer(size_t cells)
{
    answer a = {.cells = cells};
    a.count = malloc(cells * 8 + 1);
    for (int f = 0; f < fields; f++)
        a.of[f] = malloc(cells * 8 + 1);
    return a;
}

static inline void drop_answer(answer *a)
{
    free(a->count);
    for (int f = 0; f < fields; f++)
        free(a->of[f]);
}

/* Those of the arrays that `wanted` has a bit for; the count always. */
static inline tally_statistics into(const answer *a, unsigned wanted)
{
    tally_statistics s = TALLY_STATISTICS_INIT;
    double **const to[fields] = {&s.weight, &s.weight_squares, &s.sum, &s.mean, &s.m2, &s.min,
                                 &s.max};
    memset(a->count, 0x5a, a->cells * 8);
    s.count = wanted & 128 ? NULL : a->count;
    for (int f = 0; f < fields; f++) {
        memset(a->of[f], 0x5a, a->cells * 8);
        *to[f] = wanted >> f & 1 ? a->of[f] : NULL;
    }
    return s;
}

static inline int same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

/* Whether `got` is what sums of whole numbers (`want`) and of float64 (`odd`, where infinite or NaN
 * values are) say. */
static inline void compare(const answer *got, const answer *want, const answer *odd,
                           unsigned wanted, const char *text)
{
    for (size_t i = 0; i < got->cells && failures < 20; i++) {
        CHECK_SAY(wanted & 128 || got->count[i] == odd->count[i],
                  "%s: cell %zu has %llu and not %llu", text, i, (unsigned long long)got->count[i],
                  (unsigned long long)odd->count[i]);
        const int finite = isfinite(odd->of[2][i]) || !odd->count[i];
        for (int f = 0; f < fields; f++) {
            const answer *by = f < 2 || f > 4 || !finite ? odd : want;
            CHECK_SAY(!(wanted >> f & 1) || same(got->of[f][i], by->of[f][i]),
                      "%s: cell %zu, field %d: %.17g and not %.17g", text, i, f, got->of[f][i],
                      by->of[f][i]);
        }
    }
}

/* ---- cases ---- */

typedef struct call {
    random_case c;
    tally_view values[most_columns], plain[most_columns];
    unsigned char *memory[2 * most_columns];
    uint32_t count;
    double limits[most_columns], used[most_columns]; /* the caller's, and those that serve */
    tally_statistics_options options;
    unsigned wanted; /* as of into(); 0: drawn */
} call;

/* The same values, but none of them infinite or NaN; NaN stays where it is left out. Sets what the
 * device takes for a limit if it has none. */
static inline void make_plain(call *x, uint32_t i)
{
    static const int whole_bits[] = {0, 8, 8, 16, 16, 32, 32};
    const tally_view *v = &x->values[i];
    tally_view *p = &x->plain[i];
    const size_t size = tally_dtype_bytes(v->dtype);
    double most = 0;
    int64_t low, high;
    *p = *v;
    there_span(v, &low, &high);
    x->memory[most_columns + i] = malloc((size_t)high + 1);
    if (!x->memory[most_columns + i])
        exit(1);
    memcpy(x->memory[most_columns + i], v->data, (size_t)high);
    p->data = x->memory[most_columns + i];
    EACH(v)
    {
        const double y = value_at(v, b, r, c, h);
        if (isfinite(y))
            most = fmax(most, fabs(y));
        else if (!(x->options.skip_nan && isnan(y)))
            memset(random_case_at(p, b, r, c, h), 0, size);
    }
    x->used[i] = v->dtype <= TALLY_I32 ? ldexp(0.75, whole_bits[v->dtype]) : most > 0 ? most : 1;
}

static inline void make_call(call *x, uint64_t seed)
{
    static const int scales[] = {3, 3, 60, -50, 0};
    memset(x, 0, sizeof *x);
    if (random_case_make(&x->c, seed, CASE_UNWEIGHTED | (below(3) ? CASE_SMALL : 0), NULL))
        exit(1);
    x->c.plan.counter = TALLY_COUNTER_U64;
    x->c.plan.method = NULL;
    x->count = below(3) ? 1 : 1 + (uint32_t)below(most_columns);
    x->options = (tally_statistics_options)TALLY_STATISTICS_OPTIONS_INIT;
    x->options.skip_nan = (int32_t)below(2);
    x->options.mask = x->c.has_mask ? &x->c.mask : NULL;
    const int limited = below(2) != 0;
    for (uint32_t i = 0; i < x->count; i++) {
        const kind k = {below(3) ? 4 : 60, scales[below(5)], below(3) ? 0 : 50, !below(8)};
        const tally_dtype dtype =
            below(2) ? below(2) ? TALLY_F32 : TALLY_F64 : (tally_dtype)(TALLY_U8 + (int)below(12));
        x->memory[i] = make_values(&x->c.views[0], dtype, &k, &x->values[i]);
        make_plain(x, i);
        x->limits[i] = x->used[i] * (below(6) ? 1 + 3 * unit() : 0.4);
    }
    if (limited)
        x->options.limits = x->limits;
}

static inline void drop_call(call *x)
{
    random_case_free(&x->c);
    for (int i = 0; i < 2 * most_columns; i++)
        free(x->memory[i]);
}

static inline tally_plan *plan_of(tally_context *context, const tally_plan_options *o)
{
    tally_plan *plan = NULL;
    tally_error error = {""};
    tally_plan_create(context, o, &plan, &error); /* not of every axis that is drawn */
    return plan;
}

/* Copies of the case's views on the device; 0 if they cannot be there. */
static inline int move(const call *x, tally_view *views, tally_view *values, tally_view *mask,
                       void **memory)
{
    int n = 0, there = 1;
    for (uint32_t d = 0; d < x->c.plan.dimensions; d++) {
        views[d] = x->c.views[d];
        there &= there_put(device, &views[d], &memory[n++]);
    }
    for (uint32_t i = 0; i < x->count; i++) {
        values[i] = x->values[i];
        there &= there_put(device, &values[i], &memory[n++]);
    }
    *mask = x->c.mask;
    if (x->c.has_mask)
        there &= there_put(device, mask, &memory[n++]);
    return there;
}

/* Arrays in device memory for those of an answer; back: what is there, freed. */
static inline tally_statistics there(const answer *a, unsigned wanted)
{
    tally_statistics s = into(a, wanted);
    void **const arrays[fields + 1] = {
        (void **)&s.count, (void **)&s.weight, (void **)&s.weight_squares,
        (void **)&s.sum,   (void **)&s.mean,   (void **)&s.m2,
        (void **)&s.min,   (void **)&s.max};
    tally_error error = {""};
    for (int i = 0; i <= fields; i++)
        if (*arrays[i])
            CHECK_SAY(!tally_memory_create(device, a->cells * 8 + 8, arrays[i], &error), "%s",
                      error.message);
    return s;
}

static inline void back(const answer *a, const tally_statistics *s)
{
    void *const arrays[fields + 1] = {
        s->count, s->weight, s->weight_squares, s->sum, s->mean, s->m2, s->min, s->max};
    for (int i = 0; i <= fields; i++) {
        if (arrays[i] && a->cells)
            there_get(device, i ? (void *)a->of[i - 1] : (void *)a->count, arrays[i], a->cells * 8);
        tally_memory_destroy(device, arrays[i]);
    }
}

/* The same left on the device. `want`: what a call into host memory gives. */
static inline void check_there(const call *x, const tally_plan *plan, const tally_view *views,
                               const tally_view *values, tally_statistics_options o,
                               tally_status want, const answer *bins, const answer *flows,
                               unsigned wanted)
{
    tally_error error = {""};
    tally_statistics at = there(&bins[0], wanted), out = there(&flows[0], wanted);
    o.on_device = 1;
    const tally_status got =
        tally_bin_statistics(plan, views, values, x->count, &o, &at, &out, &error);
    const int refused = got == TALLY_ERROR_UNSUPPORTED && strstr(error.message, "a policy");
    CHECK_SAY(!got || refused, "%s: %s", x->c.text, error.message);
    back(&bins[0], &at);
    back(&flows[0], &out);
    if (!got && !want) {
        compare(&bins[0], &bins[1], &bins[2], wanted, x->c.text);
        compare(&flows[0], &flows[1], &flows[2], wanted, "flows");
    }
}

static inline void check_call(const call *x, const tally_plan *plan, const tally_plan *reference)
{
    static const unsigned wishes[] = {255 & ~128u, 127, 4, 24, 96, 96 | 128, 3, 108};
    const unsigned wanted = x->wanted ? x->wanted : wishes[below(sizeof wishes / sizeof *wishes)];
    const size_t rows = x->count * x->c.histograms;
    answer bins[3], flows[3];
    tally_view views[TALLY_MAX_DIMENSIONS], values[most_columns], mask;
    void *memory[most_memories] = {NULL};
    tally_statistics_options o = x->options;
    tally_error error = {""}, other = {""};
    for (int i = 0; i < 3; i++) {
        bins[i] = make_answer(rows * tally_plan_bins(plan));
        flows[i] = make_answer(rows * 4);
    }
    tally_statistics at = into(&bins[1], 127), out = into(&flows[1], 127);
    tally_status want = TALLY_OK;
    if (o.limits) /* of the values as they are: whether one is beyond */
        want =
            tally_bin_statistics(reference, x->c.views, x->values, x->count, &o, &at, &out, &error);
    o.limits = x->options.limits ? x->limits : x->used;
    if (!want)
        want =
            tally_bin_statistics(reference, x->c.views, x->plain, x->count, &o, &at, &out, &error);
    at = into(&bins[2], 127), out = into(&flows[2], 127);
    o.limits = NULL;
    if (!want)
        want =
            tally_bin_statistics(reference, x->c.views, x->values, x->count, &o, &at, &out, &error);
    o = x->options;
    const int none = (wanted & 255) == (96 | 128); /* limits are of sums and counts */
    if (move(x, views, values, &mask, memory) && !(none && want)) {
        o.mask = x->c.has_mask ? &mask : NULL;
        at = into(&bins[0], wanted), out = into(&flows[0], wanted);
        const tally_status got =
            tally_bin_statistics(plan, views, values, x->count, &o, &at, &out, &other);
        CHECK_SAY(got == want, "%s: %s (%s)", x->c.text, other.message, error.message);
        if (!got && !want) {
            compare(&bins[0], &bins[1], &bins[2], wanted, x->c.text);
            compare(&flows[0], &flows[1], &flows[2], wanted, "flows");
        }
        check_there(x, plan, views, values, o, want, bins, flows, wanted);
    }
    for (int i = 0; i < 3; i++) {
        drop_answer(&bins[i]);
        drop_answer(&flows[i]);
    }
    for (int i = 0; i < most_memories; i++)
        tally_memory_destroy(device, memory[i]);
}

/* By a plan on the device and one on the host; then the call is dropped. */
static inline void check_made(call *x)
{
    tally_plan *plan = plan_of(device, &x->c.plan), *reference = plan_of(host, &x->c.plan);
    if (plan && reference)
        check_call(x, plan, reference);
    tally_plan_destroy(plan);
    tally_plan_destroy(reference);
    drop_call(x);
}

/* ---- the test ---- */

/* Begins a test of [opencl|cuda [SEED [CASES]]]; 0: there is no such device. */
static inline int begin(int argc, char **argv, uint64_t *seed, int *cases)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    *seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261123;
    *cases = argc > 3 ? atoi(argv[3]) : 16;
    device = open_device(argc > 1 ? argv[1] : NULL);
    if (!device)
        return 0;
    o.device = TALLY_DEVICE_CPU;
    o.threads = 1;
    CHECK_SAY(!tally_context_create(&o, &host, &error), "%s", error.message);
    printf("seed %llu\n", (unsigned long long)*seed);
    state = *seed;
    return 1;
}

/* Ends it: returns the program's exit code. */
static inline int end(void)
{
    tally_context_destroy(host);
    tally_context_destroy(device);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}

#endif
