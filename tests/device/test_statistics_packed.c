/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of bins of packed float32 on a device, which have kernels of their own, are the
 * processor's with limits, to the bit: at any alignment, where the largest value is guessed, and by
 * the brief way, as far as it goes.
 *
 *     test_statistics_packed [opencl|cuda [SEED [CASES]]]
 */
#include "statistics_help.h"

/* At any alignment. */
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

int main(int argc, char **argv)
{
    uint64_t seed;
    int cases;
    if (!begin(argc, argv, &seed, &cases))
        return 77;
    for (int way = 0; way < 7 && !failures; way++)
        check_guess(way);
    for (int shape = 0; shape < 9 && !failures; shape++)
        check_brief(shape);
    for (int i = 0; i < cases && failures < 20; i++) {
        state = seed + (uint64_t)i;
        check_packed(i % 3 ? 100 : 4096);
    }
    return end();
}
