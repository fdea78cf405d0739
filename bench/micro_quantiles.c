/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact quantiles of samples in device memory, left there, beside a pass that only reads the same
 * bytes, by the device's own clock: JSON lines on standard output. Every answer is compared with
 * the processor's, bit by bit.
 *
 *     micro_quantiles cuda|opencl [-m MI] [-r REPEATS] [-i INPUTS] [-d DTYPES] [-p PHOTOGRAPH]
 *                     [-c PHOTOGRAPH] [-k TEXT]
 *
 * MI: 2^20 samples of a large view (256). INPUTS and DTYPES: lists separated by commas; the inputs
 * are gpu_inputs.h's, and of floats three that are hard to divide: "sizes", finite ones whose bits
 * are random; "beside", two neighbours, but one in ten as before; "outliers", from 1000 to 1001,
 * but one in a thousand as before. Measured are 1, 9 and 100 quantiles of the large view, and for
 * uniform samples one of 10 Mi samples, and the medians of 10 000 rows of 10 000.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/quantile.h>

#include "gpu_inputs.h"
#include "micro.h"
#include "micro_read.h"
#include "plan/plan.h"

enum { most_quantiles = 100, most_repeats = 31, most_answers = 10000, row = 10000 };

typedef struct bench {
    const char *name;
    tally_context *context, *host;
    ty_device *device;
    void *stream, *queue;
    ty_memory samples, out;
    void *block; /* the samples on the host */
    uint64_t n;
    int repeats, failed;
    gpu_files files;
} bench;

/* Whether a list has the word. */
static int wanted(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ','))
            return 1;
    return 0;
}

static const tally_view *view_of(tally_view *view, const bench *b, tally_dtype dtype, uint64_t n,
                                 uint64_t rows, int there)
{
    *view = tally_view_1d(there ? (void *)(uintptr_t)b->samples : b->block, dtype, n / rows);
    view->batches = rows;
    view->batch_stride_bytes = (int64_t)(n / rows * tally_dtype_bytes(dtype));
    view->device = there ? b->context->device : TALLY_DEVICE_CPU;
    return view;
}

/* Whether what the last call left is the processor's answer. */
static int verify(const bench *b, const tally_view *view, const double *q, uint32_t count)
{
    static double want[most_answers], got[most_answers];
    const ty_device_ops *ops = b->device->ops;
    const size_t bytes = view->batches * count * sizeof *got;
    tally_error error = {""};
    must(tally_quantiles(b->host, view, q, count, NULL, want, &error), &error);
    must(ops->download(b->device, b->queue, got, b->out, 0, bytes, &error), &error);
    must(ops->wait(b->device, b->queue, &error), &error);
    return !memcmp(want, got, bytes);
}

static void measure(bench *b, const char *input, tally_dtype dtype, uint64_t n, uint64_t rows,
                    uint32_t count)
{
    const ty_device_ops *ops = b->device->ops;
    const uint64_t bytes = n * tally_dtype_bytes(dtype);
    tally_quantile_options o = TALLY_QUANTILE_OPTIONS_INIT;
    double q[most_quantiles], answers[most_answers], seconds[most_repeats], call = INFINITY;
    tally_view there, here;
    tally_error error = {""};
    for (uint32_t i = 0; i < count; i++)
        q[i] = (i + 1) / (count + 1.0);
    view_of(&there, b, dtype, n, rows, 1);
    o.stream = b->stream;
    for (int r = -1; r < b->repeats; r++) {
        void *from, *to;
        o.on_device = 1;
        must(ops->event_record(b->device, b->queue, &from, &error), &error);
        must(tally_quantiles(b->context, &there, q, count, &o, (double *)(uintptr_t)b->out, &error),
             &error);
        must(ops->event_record(b->device, b->queue, &to, &error), &error);
        must(ops->wait(b->device, b->queue, &error), &error);
        if (r >= 0)
            seconds[r] = ops->elapsed(b->device, from, to);
        ops->event_close(b->device, from);
        ops->event_close(b->device, to);
        o.on_device = 0;
        const double begin = now();
        must(tally_quantiles(b->context, &there, q, count, &o, answers, &error), &error);
        call = fmin(call, now() - begin);
    }
    const int right = verify(b, view_of(&here, b, dtype, n, rows, 0), q, count);
    const double read = micro_read_seconds(b->device, b->queue, b->samples, bytes);
    qsort(seconds, (size_t)b->repeats, sizeof *seconds, ascending);
    const double median = seconds[b->repeats / 2];
    b->failed |= !right;
    printf("{\"device\":\"%s\",\"name\":\"%s\",\"dtype\":\"%s\",\"n\":%llu,\"rows\":%llu,"
           "\"data\":\"%s\",\"quantiles\":%u,\"median_s\":%.9f,\"min_s\":%.9f,\"max_s\":%.9f,"
           "\"repeats\":%d,\"call_s\":%.9f,\"gbps\":%.2f,\"read_s\":%.9f,"
           "\"fraction_of_read\":%.4f,\"verified\":%s}\n",
           b->name, b->device->name, tally_dtype_name(dtype), (unsigned long long)n,
           (unsigned long long)rows, input, count, median, seconds[0], seconds[b->repeats - 1],
           b->repeats, call, (double)bytes / median * 1e-9, read, read / median,
           right ? "true" : "false");
    fflush(stdout);
}

static const char *const hard_inputs[] = {"sizes", "beside", "outliers", NULL};

/* Bits of a sample of a hard input, from random ones; `low` of a float's are below its exponent. */
static uint64_t hard_bits(const char *input, uint64_t random, uint32_t low, uint64_t one)
{
    const uint64_t bits = random & ~((uint64_t)1 << low); /* not infinite, nor NaN */
    if (input[0] == 'b')
        return random % 10 ? one + (random >> 8 & 1) : bits;
    if (input[0] == 'o' && random % 1000) /* 2^9 times 1.953125 and more */
        return one + ((uint64_t)9 << low) + ((uint64_t)61 << (low - 6)) +
               (random >> 16 & (((uint64_t)1 << (low - 9)) - 1));
    return bits;
}

static int fill_hard(const char *input, tally_dtype dtype, void *block, uint64_t n)
{
    if (dtype != TALLY_F32 && dtype != TALLY_F64)
        return 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        if (dtype == TALLY_F64)
            ((uint64_t *)block)[i] = hard_bits(input, z ^ z >> 31, 52, UINT64_C(0x3ff) << 52);
        else
            ((uint32_t *)block)[i] = (uint32_t)hard_bits(input, z ^ z >> 31, 23, 0x7fu << 23);
    }
    return 1;
}

static int is_hard(const char *input)
{
    for (int i = 0; hard_inputs[i]; i++)
        if (!strcmp(input, hard_inputs[i]))
            return 1;
    return 0;
}

static void measure_input(bench *b, const char *input, tally_dtype dtype)
{
    static const uint32_t counts[] = {1, 9, most_quantiles};
    const gpu_dtype kind = dtype == TALLY_F32   ? GPU_F32
                           : dtype == TALLY_F64 ? GPU_F64
                           : dtype == TALLY_I32 ? GPU_I32
                           : dtype == TALLY_U16 ? GPU_U16
                                                : GPU_U8;
    const uint64_t small = UINT64_C(10) << 20, square = (uint64_t)row * row;
    const double begin = now();
    tally_error error = {""};
    const int filled =
        is_hard(input) ? fill_hard(input, dtype, b->block, b->n)
                       : gpu_input_fill(b->host->pool, input, kind, 256, &b->files, b->block, b->n);
    if (!filled) {
        fprintf(stderr, "%s: there is no such input\n", input);
        return;
    }
    must(b->device->ops->upload(b->device, b->queue, b->samples, 0, b->block,
                                b->n * tally_dtype_bytes(dtype), &error),
         &error);
    must(b->device->ops->wait(b->device, b->queue, &error), &error);
    if (!strcmp(input, "uniform") && b->n >= small)
        measure(b, input, dtype, small, 1, 1);
    if (!strcmp(input, "uniform") && b->n >= square)
        measure(b, input, dtype, square, row, 1);
    for (int c = 0; c < 3; c++)
        measure(b, input, dtype, b->n, 1, counts[c]);
    fprintf(stderr, "%s %s: %.1f s\n", input, tally_dtype_name(dtype), now() - begin);
}

int main(int argc, char **argv)
{
    static const tally_dtype dtypes[] = {TALLY_F32, TALLY_F64, TALLY_I32, TALLY_U16, TALLY_U8};
    const char *inputs = "uniform,zeros,sorted,camera,normal,lognormal,gridded,ninety,two,walk,"
                         "sizes,beside,outliers";
    const char *wanted_dtypes = "f32,f64";
    bench b = {.name = argc > 1 ? argv[1] : "", .n = UINT64_C(256) << 20, .repeats = 7};
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    for (int i = 2; i + 1 < argc; i += 2) {
        switch (argv[i][0] == '-' ? argv[i][1] : 0) {
        case 'm':
            b.n = strtoull(argv[i + 1], NULL, 10) << 20;
            break;
        case 'r':
            b.repeats = atoi(argv[i + 1]);
            break;
        case 'i':
            inputs = argv[i + 1];
            break;
        case 'd':
            wanted_dtypes = argv[i + 1];
            break;
        case 'p':
            b.files.photograph = gpu_read_photograph(argv[i + 1]);
            break;
        case 'c':
            b.files.camera = gpu_read_photograph(argv[i + 1]);
            break;
        case 'k':
            b.files.book = gpu_read_file(argv[i + 1]);
            break;
        default:
            fprintf(stderr, "micro_quantiles: %s is no option\n", argv[i]);
            return 2;
        }
    }
    if (b.repeats < 1 || b.repeats > most_repeats || !b.n)
        return 2;
    o.device = !strcmp(b.name, "cuda") ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    must(tally_context_create(&o, &b.context, &error), &error);
    o.device = TALLY_DEVICE_CPU;
    must(tally_context_create(&o, &b.host, &error), &error);
    b.device = b.context->state;
    const ty_device_ops *ops = b.device->ops;
    b.stream = !strcmp(b.name, "cuda") ? (void *)2 : NULL; /* CU_STREAM_PER_THREAD */
    must(ops->queue_open(b.device, b.stream, &b.queue, &error), &error);
    const int wide = wanted(wanted_dtypes, "f64");
    must(ops->pinned_alloc(b.device, b.n * (wide ? 8 : 4), &b.block, &error), &error);
    must(ops->alloc(b.device, b.n * (wide ? 8 : 4), &b.samples, &error), &error);
    must(ops->alloc(b.device, most_answers * 8, &b.out, &error), &error);
    const char *const *const lists[] = {gpu_inputs, hard_inputs};
    for (size_t d = 0; d < 2 * sizeof dtypes / sizeof *dtypes; d++)
        for (int i = 0; lists[d % 2][i] && wanted(wanted_dtypes, tally_dtype_name(dtypes[d / 2]));
             i++)
            if (wanted(inputs, lists[d % 2][i]))
                measure_input(&b, lists[d % 2][i], dtypes[d / 2]);
    ops->release(b.device, b.samples);
    ops->release(b.device, b.out);
    ops->pinned_free(b.device, b.block);
    ops->queue_close(b.device, b.queue);
    tally_context_destroy(b.host);
    tally_context_destroy(b.context);
    return b.failed;
}
