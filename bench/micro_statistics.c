/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of float32 values by the bins of float32 samples in device memory, left there, beside
 * a pass that only reads both, by the device's own clock: JSON lines on standard output. All are
 * compared with the processor's, bit by bit.
 *
 *     micro_statistics cuda|opencl [-m MI] [-r REPEATS] [-i INPUTS] [-b BINS] [-p PHOTOGRAPH]
 *                      [-c PHOTOGRAPH] [-k TEXT] [-v VALUES]
 *
 * MI: 2^20 samples (256). INPUTS and BINS: lists separated by commas; the inputs, of samples, are
 * gpu_inputs.h's. VALUES: uniform between -1 and 1, or normal. Each is measured with a limit given
 * and without.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/statistics.h>

#include "gpu_inputs.h"
#include "micro.h"
#include "micro_read.h"
#include "plan/plan.h"

enum { most_repeats = 31, most_bins = 1 << 20, fields = 6 };

typedef struct bench {
    const char *name, *of;
    tally_context *context, *host;
    ty_device *device;
    void *stream, *queue;
    ty_memory both; /* samples, then values */
    ty_memory samples, values, out[fields];
    float *block; /* both on the host */
    double *want[fields];
    uint64_t n;
    int repeats, failed;
    double read, limit;
    gpu_files files;
} bench;

/* What is asked for: bits of count, sum, mean, m2, min, max. */
static const struct ask {
    const char *name;
    unsigned fields;
} asks[] = {{"count,sum", 3}, {"mean", 5}, {"count,mean,m2", 13}, {"min,max", 48}, {"all", 63}};
enum { ask_count = sizeof asks / sizeof *asks };

/* Whether a list has the word. */
static int wanted(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ','))
            return 1;
    return 0;
}

static tally_statistics arrays_of(void *const *to, unsigned which)
{
    tally_statistics s = TALLY_STATISTICS_INIT;
    s.count = which & 1 ? to[0] : NULL;
    s.sum = which & 2 ? to[1] : NULL;
    s.mean = which & 4 ? to[2] : NULL;
    s.m2 = which & 8 ? to[3] : NULL;
    s.min = which & 16 ? to[4] : NULL;
    s.max = which & 32 ? to[5] : NULL;
    return s;
}

static tally_plan *plan_of(tally_context *context, uint64_t bins, uint64_t n)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1, .n_hint = n};
    tally_plan *plan = NULL;
    tally_error error = {""};
    o.axes[0] = tally_axis_even(bins, 0, gpu_dtype_span(GPU_F32));
    o.dtypes[0] = TALLY_F32;
    must(tally_plan_create(context, &o, &plan, &error), &error);
    return plan;
}

static void call(const bench *b, const tally_plan *plan, unsigned which, int limited)
{
    tally_view view = tally_view_1d((void *)(uintptr_t)b->samples, TALLY_F32, b->n),
               value = tally_view_1d((void *)(uintptr_t)b->values, TALLY_F32, b->n);
    tally_statistics_options o = TALLY_STATISTICS_OPTIONS_INIT;
    void *to[fields];
    tally_error error = {""};
    for (int f = 0; f < fields; f++)
        to[f] = (void *)(uintptr_t)b->out[f];
    const tally_statistics bins = arrays_of(to, which);
    view.device = value.device = b->context->device;
    o.on_device = 1;
    o.stream = b->stream;
    o.limits = limited ? &b->limit : NULL;
    must(tally_bin_statistics(plan, &view, &value, 1, &o, &bins, NULL, &error), &error);
}

static void find_on_host(bench *b, uint64_t bins)
{
    const tally_view view = tally_view_1d(b->block, TALLY_F32, b->n),
                     value = tally_view_1d(b->block + b->n, TALLY_F32, b->n);
    tally_statistics_options o = TALLY_STATISTICS_OPTIONS_INIT;
    tally_error error = {""};
    void *to[fields];
    for (int f = 0; f < fields; f++)
        to[f] = b->want[f];
    const tally_statistics all = arrays_of(to, 63);
    tally_plan *plan = plan_of(b->host, bins, b->n);
    o.limits = &b->limit;
    must(tally_bin_statistics(plan, &view, &value, 1, &o, &all, NULL, &error), &error);
    tally_plan_destroy(plan);
}

/* Whether what the last call left is the processor's. */
static int verify(const bench *b, uint64_t bins, unsigned which)
{
    static double got[most_bins];
    const ty_device_ops *ops = b->device->ops;
    tally_error error = {""};
    int right = 1;
    for (int f = 0; f < fields; f++) {
        if (!(which >> f & 1))
            continue;
        must(ops->download(b->device, b->queue, got, b->out[f], 0, bins * 8, &error), &error);
        must(ops->wait(b->device, b->queue, &error), &error);
        for (uint64_t i = 0; i < bins; i++)
            right &= !memcmp(&got[i], &b->want[f][i], 8) ||
                     (f && got[i] != got[i] && b->want[f][i] != b->want[f][i]);
    }
    return right;
}

static void measure(bench *b, const char *input, uint64_t bins, const struct ask *ask, int limited)
{
    const ty_device_ops *ops = b->device->ops;
    double seconds[most_repeats];
    tally_error error = {""};
    tally_plan *plan = plan_of(b->context, bins, b->n);
    for (int r = -1; r < b->repeats; r++) {
        void *from, *to;
        must(ops->event_record(b->device, b->queue, &from, &error), &error);
        call(b, plan, ask->fields, limited);
        must(ops->event_record(b->device, b->queue, &to, &error), &error);
        must(ops->wait(b->device, b->queue, &error), &error);
        if (r >= 0)
            seconds[r] = ops->elapsed(b->device, from, to);
        ops->event_close(b->device, from);
        ops->event_close(b->device, to);
    }
    const int right = verify(b, bins, ask->fields);
    tally_plan_destroy(plan);
    qsort(seconds, (size_t)b->repeats, sizeof *seconds, ascending);
    const double median = seconds[b->repeats / 2];
    b->failed |= !right;
    printf(
        "{\"device\":\"%s\",\"name\":\"%s\",\"case\":\"statistics\",\"dtype\":\"f32\",\"n\":%llu,"
        "\"bins\":%llu,\"data\":\"%s\",\"values\":\"%s\",\"found\":\"%s\",\"limits\":%s,\"median_"
        "s\":%.9f,"
        "\"min_s\":%.9f,\"max_s\":%.9f,\"repeats\":%d,\"gbps\":%.2f,\"read_s\":%.9f,"
        "\"fraction_of_read\":%.4f,\"verified\":%s}\n",
        b->name, b->device->name, (unsigned long long)b->n, (unsigned long long)bins, input, b->of,
        ask->name, limited ? "true" : "false", median, seconds[0], seconds[b->repeats - 1],
        b->repeats, (double)b->n * 8 / median * 1e-9, b->read, b->read / median,
        right ? "true" : "false");
    fflush(stdout);
}

static void measure_input(bench *b, const char *input, const char *bins_list)
{
    const ty_device_ops *ops = b->device->ops;
    tally_error error = {""};
    if (!gpu_input_fill(b->host->pool, input, GPU_F32, 4096, &b->files, b->block, b->n)) {
        fprintf(stderr, "%s: there is no such input\n", input);
        return;
    }
    must(ops->upload(b->device, b->queue, b->samples, 0, b->block, b->n * 4, &error), &error);
    must(ops->wait(b->device, b->queue, &error), &error);
    for (const char *at = bins_list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const uint64_t bins = strtoull(at, NULL, 10);
        if (!bins || bins > most_bins)
            continue;
        find_on_host(b, bins);
        for (int a = 0; a < ask_count; a++)
            for (int limited = 1; limited >= (asks[a].fields == 48); limited--)
                measure(b, input, bins, &asks[a], limited);
    }
}

/* The same in every run. */
static void draw_values(bench *b, float *to)
{
    const double pi = acos(-1);
    const int normal = !strcmp(b->of, "normal");
    for (uint64_t i = 0; i < b->n; i++) {
        const double u = random_unit();
        to[i] = (float)(normal ? sqrt(-2 * log1p(-u)) * cos(pi * random_unit()) : 2 * u - 1);
        b->limit = fmax(b->limit, fabs((double)to[i]));
    }
}

static void prepare(bench *b)
{
    const ty_device_ops *ops = b->device->ops;
    tally_error error = {""};
    must(ops->queue_open(b->device, b->stream, &b->queue, &error), &error);
    must(ops->alloc(b->device, b->n * 8, &b->both, &error), &error);
    b->read = micro_read_seconds(b->device, b->queue, b->both, b->n * 8);
    ops->release(b->device, b->both);
    must(ops->alloc(b->device, b->n * 4, &b->samples, &error), &error);
    must(ops->alloc(b->device, b->n * 4, &b->values, &error), &error);
    for (int f = 0; f < fields; f++) {
        must(ops->alloc(b->device, most_bins * 8, &b->out[f], &error), &error);
        if (!(b->want[f] = malloc(most_bins * 8)))
            exit(1);
    }
    if (!(b->block = malloc(b->n * 8)))
        exit(1);
    draw_values(b, b->block + b->n);
    must(ops->upload(b->device, b->queue, b->values, 0, b->block + b->n, b->n * 4, &error), &error);
    must(ops->wait(b->device, b->queue, &error), &error);
}

int main(int argc, char **argv)
{
    const char *inputs = "uniform,zeros,sorted,camera,normal,lognormal,gridded,ninety,two,walk",
               *bins = "100,4096,65536";
    bench b = {
        .name = argc > 1 ? argv[1] : "", .of = "uniform", .n = UINT64_C(256) << 20, .repeats = 7};
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
        case 'b':
            bins = argv[i + 1];
            break;
        case 'p':
            b.files.photograph = gpu_read_photograph(argv[i + 1]);
            break;
        case 'c':
            b.files.camera = gpu_read_photograph(argv[i + 1]);
            break;
        case 'v':
            b.of = argv[i + 1];
            break;
        case 'k':
            b.files.book = gpu_read_file(argv[i + 1]);
            break;
        default:
            fprintf(stderr, "micro_statistics: %s is no option\n", argv[i]);
            return 2;
        }
    }
    if (strcmp(b.of, "uniform") && strcmp(b.of, "normal")) {
        fprintf(stderr, "micro_statistics: values are uniform or normal, not %s\n", b.of);
        return 2;
    }
    if (b.repeats < 1 || b.repeats > most_repeats || !b.n)
        return 2;
    o.device = !strcmp(b.name, "cuda") ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    must(tally_context_create(&o, &b.context, &error), &error);
    o.device = TALLY_DEVICE_CPU;
    must(tally_context_create(&o, &b.host, &error), &error);
    b.device = b.context->state;
    b.stream = !strcmp(b.name, "cuda") ? (void *)2 : NULL; /* CU_STREAM_PER_THREAD */
    prepare(&b);
    for (int i = 0; gpu_inputs[i]; i++)
        if (wanted(inputs, gpu_inputs[i]))
            measure_input(&b, gpu_inputs[i], bins);
    b.device->ops->queue_close(b.device, b.queue);
    tally_context_destroy(b.host);
    tally_context_destroy(b.context);
    return b.failed;
}
