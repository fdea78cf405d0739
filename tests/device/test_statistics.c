/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of bins of samples on a device are the processor's with limits, to the bit: random
 * axes, layouts, masks and policies, values of every type and kind, tables in local and in global
 * memory; and what is refused.
 *
 *     test_statistics [opencl|cuda [SEED [CASES]]]
 */
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

static uint64_t draw_bits(tally_dtype dtype, const kind *k)
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
static double value_at(const tally_view *v, uint64_t b, uint64_t r, uint64_t c, uint64_t channel)
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
static unsigned char *make_values(const tally_view *shape, tally_dtype dtype, const kind *k,
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

static answer make_answer(size_t cells)
{
    answer a = {.cells = cells};
    a.count = malloc(cells * 8 + 1);
    for (int f = 0; f < fields; f++)
        a.of[f] = malloc(cells * 8 + 1);
    return a;
}

static void drop_answer(answer *a)
{
    free(a->count);
    for (int f = 0; f < fields; f++)
        free(a->of[f]);
}

/* Those of the arrays that `wanted` has a bit for; the count always. */
static tally_statistics into(const answer *a, unsigned wanted)
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

static int same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

/* Whether `got` is what sums of whole numbers (`want`) and of float64 (`odd`, where infinite or NaN
 * values are) say. */
static void compare(const answer *got, const answer *want, const answer *odd, unsigned wanted,
                    const char *text)
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
static void make_plain(call *x, uint32_t i)
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

static void make_call(call *x, uint64_t seed)
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

static void drop_call(call *x)
{
    random_case_free(&x->c);
    for (int i = 0; i < 2 * most_columns; i++)
        free(x->memory[i]);
}

static tally_plan *plan_of(tally_context *context, const tally_plan_options *o)
{
    tally_plan *plan = NULL;
    tally_error error = {""};
    tally_plan_create(context, o, &plan, &error); /* not of every axis that is drawn */
    return plan;
}

/* Copies of the case's views on the device; 0 if they cannot be there. */
static int move(const call *x, tally_view *views, tally_view *values, tally_view *mask,
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
static tally_statistics there(const answer *a, unsigned wanted)
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

static void back(const answer *a, const tally_statistics *s)
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
static void check_there(const call *x, const tally_plan *plan, const tally_view *views,
                        const tally_view *values, tally_statistics_options o, tally_status want,
                        const answer *bins, const answer *flows, unsigned wanted)
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

static void check_call(const call *x, const tally_plan *plan, const tally_plan *reference)
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
static void check_made(call *x)
{
    tally_plan *plan = plan_of(device, &x->c.plan), *reference = plan_of(host, &x->c.plan);
    if (plan && reference)
        check_call(x, plan, reference);
    tally_plan_destroy(plan);
    tally_plan_destroy(reference);
    drop_call(x);
}

static void check_case(uint64_t seed)
{
    call x;
    make_call(&x, seed);
    if (getenv("TALLY_TEST_VERBOSE"))
        printf("%s, %u of %s\n", x.c.text, x.count, tally_dtype_name(x.values[0].dtype));
    check_made(&x);
}

/* Packed float32, which have a kernel of their own, at any alignment. */
static void check_packed(uint64_t bins)
{
    enum { most = 2 * 20000 + 8 };
    static float samples[most], values[most];
    const kind k = {(int)below(12), 3, below(2) ? 0 : 3000, 0};
    const uint64_t n = below(8) ? below(20000) : 0, skip = below(4), other = below(4);
    const int equal = !below(4), ascending = !below(4);
    call x = {.count = 1, .options = TALLY_STATISTICS_OPTIONS_INIT};
    random_case *c = &x.c;
    snprintf(c->text, sizeof c->text, "packed, %llu bins, %llu", (unsigned long long)bins,
             (unsigned long long)n);
    c->plan = (tally_plan_options){.struct_size = sizeof c->plan, .dimensions = 1};
    c->plan.axes[0] = tally_axis_even(bins, 0, 1);
    c->plan.dtypes[0] = TALLY_F32;
    c->histograms = 2; /* the second is aligned in another way */
    for (uint64_t i = 0; i < most; i++) {
        const uint32_t bits = (uint32_t)draw_bits(TALLY_F32, &k);
        samples[i] = (float)(equal       ? 0.5
                             : ascending ? (double)i / (double)n
                             : below(99) ? unit() * 1.02 - 0.01
                                         : NAN);
        memcpy(&values[i], &bits, sizeof bits);
    }
    c->views[0] = tally_view_1d(samples, TALLY_F32, n);
    x.values[0] = tally_view_1d(values, TALLY_F32, n);
    c->views[0].batches = x.values[0].batches = 2;
    c->views[0].batch_stride_bytes = (int64_t)(n + skip) * 4;
    x.values[0].batch_stride_bytes = (int64_t)(n + other) * 4;
    x.options.skip_nan = (int32_t)below(2);
    make_plain(&x, 0);
    x.limits[0] = x.used[0] * 1.5;
    x.options.limits = below(2) && !k.odd ? x.limits : NULL;
    check_made(&x);
}

/* A value of those whose largest is guessed: `way` says what the guess meets. */
static float guessed_value(int way, uint64_t i)
{
    const double x = 2 * unit() - 1;
    const int odd = way == 4 && i % 1000 == 7;
    switch (way) {
    case 1: /* a few above it, */
        return (float)(i % 99991 ? x * 0.99 : 8 * x);
    case 2: /* one far above it */
        return (float)(i == 1234567 ? 1e6 : x);
    case 3: /* and a few so fine that they are rounded in another way, in bins of their own, */
        return (float)(i % 999983 == 5 ? 1.5
                       : i % 1000 == 3 ? ldexp(x, -30 - (int)below(30))
                       : i % 1000 == 1 ? 0.99 * x
                                       : 0);
    case 5: /* or many */
        return (float)ldexp(x, -(int)below(60));
    case 6: /* and nothing but zeros drawn */
        return i == 7654321 % ((1 << 22) + 1) ? 1e-40f : 0.0f;
    default:
        return odd ? i % 3 ? i % 2 ? INFINITY : -INFINITY : NAN : (float)x;
    }
}

static void check_guess(int way)
{
    const uint64_t n = ((uint64_t)1 << 22) + 1 + below(5000);
    const int shape = (int)below(4);
    call x = {.count = 1, .options = TALLY_STATISTICS_OPTIONS_INIT};
    random_case *c = &x.c;
    float *samples = malloc(n * 4), *values = malloc(n * 4);
    if (!samples || !values)
        exit(1);
    snprintf(c->text, sizeof c->text, "a guess, way %d, samples %d, %llu", way, shape,
             (unsigned long long)n);
    c->plan = (tally_plan_options){.struct_size = sizeof c->plan, .dimensions = 1};
    c->plan.axes[0] = tally_axis_even(below(2) ? 100 : 4096, 0, 1);
    c->plan.dtypes[0] = TALLY_F32;
    c->histograms = 1;
    for (uint64_t i = 0; i < n; i++) {
        samples[i] = (float)(shape == 0   ? 0.5
                             : shape == 1 ? below(2) ? 0.25 : 0.75
                             : shape == 2 ? (double)i / (double)n
                                          : unit());
        values[i] = guessed_value(way, i);
    }
    c->views[0] = tally_view_1d(samples, TALLY_F32, n);
    x.values[0] = tally_view_1d(values, TALLY_F32, n);
    x.options.skip_nan = (int32_t)below(2);
    make_plain(&x, 0);
    check_made(&x);
    free(samples);
    free(values);
}

/* One of n samples, of a shape that lets the brief way be taken to some point. */
static double brief_sample(int shape, uint64_t i, uint64_t n)
{
    const uint64_t turn = n / 5 * 2;
    const double u = unit();
    switch (shape) {
    case 0:
        return 1.02 * u - 0.01;
    case 1:
        return u * u * u;
    case 2:
        return i < turn ? u : 0.7; /* one cell */
    case 3:
        return (double)(i * 7 / n) / 8 + u / 100;
    case 4:
        return below(10) ? u : 0.3;
    case 5:
        return i < turn ? 0.5 : u;
    case 6:
        return i < n / 10 * 9 ? u : 0.2;
    case 7: /* many in no bin */
        return below(3) ? u : below(2) ? below(2) ? -1 : 2 : NAN;
    default:
        return u;
    }
}

static double brief_value(int way, int sign)
{
    const double u = unit(), w = 2 * unit() - 1;
    switch (way) {
    case 0:
        return w;
    case 1:
        return (double)below(21) - 10;
    case 2:
        return below(3) ? below(2) ? -0.0 : 0.0 : sign * u;
    case 3:
        return ldexp(w, -(int)below(40));
    case 4:
        return 1000 + w;
    default:
        return -1 - u;
    }
}

/* Two or three histograms of n samples in all: batches, or channels one behind the other, which may
 * not be aligned as the first is. */
static uint64_t part_brief(call *x, uint64_t n)
{
    const uint64_t parts = 2 + below(2), each = n / parts - 3;
    const int channels = (int)below(2);
    tally_view *const views[] = {&x->c.views[0], &x->values[0]};
    for (int i = 0; i < 2; i++) {
        const int64_t stride = (int64_t)(each + below(4)) * 4;
        views[i]->columns = each;
        views[i]->column_stride_bytes = 4;
        *(channels ? &views[i]->channels : &views[i]->batches) = parts;
        *(channels ? &views[i]->channel_stride_bytes : &views[i]->batch_stride_bytes) = stride;
    }
    if (channels)
        x->c.plan.channels = parts;
    return parts;
}

/* So many samples that the brief way is taken, if their shape lets it: it may stop at once, on the
 * way, or add again what it could not tell; of the last shape there are so many that it reads its
 * table out and goes on. */
static void check_brief(int shape)
{
    static const uint64_t bins[] = {4096, 100, 12, 3000};
    static const int scales[] = {0, 0, 0, 0, -75, -100, -140, 103, 116}; /* not 0: all are rare */
    static const uint64_t odds[] = {0, 0, 1000, 3};
    tally_device_info info = TALLY_DEVICE_INFO_INIT;
    tally_context_device(device, &info, NULL);
    const int large = strstr(info.driver, "CUDA") || strstr(info.name, "NVIDIA");
    const uint64_t many = shape < 8 ? large ? 15000000 : 150000 : large ? 80000000 : 2000000;
    const uint64_t n = many + below(5000);
    const int way = (int)below(6), sign = below(2) ? 1 : -1, scale = scales[below(9)];
    const uint64_t odd = odds[below(4)];
    call x = {.count = 1, .options = TALLY_STATISTICS_OPTIONS_INIT, .wanted = below(4) ? 127 : 16};
    random_case *c = &x.c;
    float *samples = malloc(n * 4), *values = malloc(n * 4);
    if (!samples || !values)
        exit(1);
    c->plan = (tally_plan_options){.struct_size = sizeof c->plan, .dimensions = 1};
    c->plan.axes[0] = tally_axis_even(shape < 8 ? bins[below(4)] : 24, 0, 1);
    c->plan.dtypes[0] = TALLY_F32;
    for (uint64_t i = 0; i < n; i++) {
        samples[i] = (float)brief_sample(shape, i, n);
        values[i] = (float)ldexp(brief_value(way, sign), scale);
        if (odd && !below(odd))
            values[i] = below(2) ? NAN : below(2) ? INFINITY : -INFINITY;
    }
    c->views[0] = tally_view_1d(samples, TALLY_F32, n);
    x.values[0] = tally_view_1d(values, TALLY_F32, n);
    c->histograms = below(2) ? 1 : part_brief(&x, n);
    snprintf(c->text, sizeof c->text, "brief, samples %d, values %d * 2^%d, %llu in %llu", shape,
             way, scale, (unsigned long long)n, (unsigned long long)c->histograms);
    x.options.skip_nan = (int32_t)below(2);
    make_plain(&x, 0);
    x.limits[0] = x.used[0] * (below(8) ? 1.5 : 0.4);
    x.options.limits = below(2) && !odd ? x.limits : NULL;
    check_made(&x);
    free(samples);
    free(values);
}

/* As many arguments as a kernel can have. */
static void check_most_dimensions(void)
{
    enum { n = 300 };
    static float samples[TALLY_MAX_DIMENSIONS][n], values[n];
    static unsigned char there[n];
    call x = {.count = 1, .options = TALLY_STATISTICS_OPTIONS_INIT};
    random_case *c = &x.c;
    snprintf(c->text, sizeof c->text, "%d dimensions", TALLY_MAX_DIMENSIONS);
    c->plan =
        (tally_plan_options){.struct_size = sizeof c->plan, .dimensions = TALLY_MAX_DIMENSIONS};
    c->histograms = 1;
    for (int d = 0; d < TALLY_MAX_DIMENSIONS; d++) {
        c->plan.axes[d] = tally_axis_even(2, 0, 1);
        c->plan.dtypes[d] = TALLY_F32;
        for (int i = 0; i < n; i++)
            samples[d][i] = (float)unit();
        c->views[d] = tally_view_1d(samples[d], TALLY_F32, n);
    }
    for (int i = 0; i < n; i++) {
        values[i] = (float)(2 * unit() - 1);
        there[i] = below(3) != 0;
    }
    c->has_mask = 1;
    c->mask = tally_view_1d(there, TALLY_U8, n);
    x.options.mask = &c->mask;
    x.values[0] = tally_view_1d(values, TALLY_F32, n);
    make_plain(&x, 0);
    check_made(&x);
}

static void check_refusals(void)
{
    const float x[4] = {0};
    const tally_view view = tally_view_1d(x, TALLY_F32, 4);
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_view there = view;
    tally_statistics_options options = TALLY_STATISTICS_OPTIONS_INIT;
    tally_error error = {""};
    void *memory = NULL;
    answer a = make_answer(5);
    const tally_statistics bins = into(&a, 127);
    o.axes[0] = tally_axis_even(5, 0, 1);
    o.dtypes[0] = TALLY_F32;
    tally_plan *plan = plan_of(device, &o);
    there_put(device, &there, &memory);
    CHECK(tally_bin_statistics(plan, &view, &view, 1, NULL, &bins, NULL, &error) ==
              TALLY_ERROR_UNSUPPORTED &&
          strstr(error.message, "a plan on the processor"));
    CHECK(tally_bin_statistics(plan, &there, &view, 1, NULL, &bins, NULL, &error) ==
          TALLY_ERROR_UNSUPPORTED);
    options.weights = &there;
    CHECK(tally_bin_statistics(plan, &there, &there, 1, &options, &bins, NULL, &error) ==
              TALLY_ERROR_UNSUPPORTED &&
          strstr(error.message, "weights"));
    tally_memory_destroy(device, memory);
    tally_plan_destroy(plan);
    drop_answer(&a);
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261123;
    const int cases = argc > 3 ? atoi(argv[3]) : 16;
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    device = open_device(argc > 1 ? argv[1] : NULL);
    if (!device)
        return 77;
    o.device = TALLY_DEVICE_CPU;
    o.threads = 1;
    CHECK_SAY(!tally_context_create(&o, &host, &error), "%s", error.message);
    printf("seed %llu\n", (unsigned long long)seed);
    check_refusals();
    state = seed;
    for (int way = 0; way < 7 && !failures; way++)
        check_guess(way);
    for (int shape = 0; shape < 9 && !failures; shape++)
        check_brief(shape);
    check_most_dimensions();
    for (int i = 0; i < cases && failures < 20; i++) {
        state = seed + (uint64_t)i;
        check_case(next());
        check_packed(i % 3 ? 100 : 4096);
    }
    tally_context_destroy(host);
    tally_context_destroy(device);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
