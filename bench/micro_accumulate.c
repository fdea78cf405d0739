/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call costs that adds samples to a histogram of many bins: even axes from 0 to 1, uniform
 * float32 samples, u64 counts. On a graphics processor samples and counts lie in its memory.
 * Medians of seconds a call by the wall clock and of processor time, JSON lines on standard output.
 *
 *     micro_accumulate [cpu|opencl|cuda] [-m METHOD] [-o 0|1|2] [-b BINS,…] [-n SAMPLES,…] [-t
 * THREADS]
 */
#define _GNU_SOURCE
#include <string.h>

#include "micro.h"

enum { most_values = 16, rounds = 15 };

typedef struct settings {
    tally_device_type device;
    const char *method;
    int accumulate, threads;
    uint64_t bins[most_values], samples[most_values];
} settings;

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *place(tally_context *context, const settings *s, size_t bytes, const void *from)
{
    tally_error error = {""};
    void *at = NULL;
    if (s->device == TALLY_DEVICE_CPU) {
        at = calloc(bytes, 1);
        if (!at)
            exit(1);
        memcpy(at, from, bytes);
    } else {
        must(tally_memory_create(context, bytes, &at, &error), &error);
        must(tally_memory_write(context, at, 0, from, bytes, &error), &error);
    }
    return at;
}

static void measure(tally_context *context, const settings *s, uint64_t bins, uint64_t n)
{
    tally_error error = {""};
    tally_plan_options o;
    tally_view view = TALLY_VIEW_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_plan *plan = NULL;
    double wall[rounds], processor[rounds];
    float *samples = malloc((size_t)n * sizeof *samples);
    void *zeros = calloc((size_t)bins, 8);
    if (!samples || !zeros)
        exit(1);
    for (uint64_t i = 0; i < n; i++)
        samples[i] = (float)random_unit();
    view.dtype = TALLY_F32;
    view.device = s->device;
    view.columns = n;
    memset(&o, 0, sizeof o);
    o.struct_size = sizeof o;
    o.dimensions = 1;
    o.axes[0] = tally_axis_even(bins, 0, 1);
    o.dtypes[0] = TALLY_F32;
    o.n_hint = n;
    o.method = s->method;
    must(tally_plan_create(context, &o, &plan, &error), &error);
    view.data = place(context, s, (size_t)n * sizeof *samples, samples);
    out.counts = place(context, s, (size_t)bins * 8, zeros);
    out.on_device = s->device != TALLY_DEVICE_CPU;
    out.accumulate = s->accumulate;
    for (int r = -2; r < rounds; r++) {
        const double begin = now(), spent = processor_seconds();
        uint64_t calls = 0;
        while (!calls || (now() - begin < 1e-3 && r >= 0)) {
            must(tally_execute(plan, &view, NULL, &out, &error), &error);
            calls++;
        }
        if (r < 0)
            continue;
        wall[r] = (now() - begin) / (double)calls;
        processor[r] = (processor_seconds() - spent) / (double)calls;
    }
    qsort(wall, rounds, sizeof *wall, ascending);
    qsort(processor, rounds, sizeof *processor, ascending);
    printf("{\"bins\":%llu,\"samples\":%llu,\"accumulate\":%d,\"method\":\"%s\",\"seconds\":%.4g,"
           "\"processor_seconds\":%.4g,\"ns_a_sample\":%.3g}\n",
           (unsigned long long)bins, (unsigned long long)n, s->accumulate, tally_plan_method(plan),
           wall[rounds / 2], processor[rounds / 2], wall[rounds / 2] * 1e9 / (double)n);
    fflush(stdout);
    if (s->device == TALLY_DEVICE_CPU) {
        free((void *)view.data);
        free(out.counts);
    } else {
        tally_memory_destroy(context, (void *)view.data);
        tally_memory_destroy(context, out.counts);
    }
    tally_plan_destroy(plan);
    free(samples);
    free(zeros);
}

static void take_list(const char *text, uint64_t *values)
{
    memset(values, 0, most_values * sizeof *values);
    for (int i = 0; i < most_values && *text; i++) {
        char *end;
        values[i] = strtoull(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
    }
}

int main(int argc, char **argv)
{
    settings s = {TALLY_DEVICE_CPU, NULL, 1, 0, {0}, {0}};
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_error error = {""};
    take_list("1000,100000,1000000,10000000,67108864", s.bins);
    take_list("100,10000,1000000", s.samples);
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (argv[i][0] != '-') {
            s.device = !strcmp(argv[i], "cuda")     ? TALLY_DEVICE_CUDA
                       : !strcmp(argv[i], "opencl") ? TALLY_DEVICE_OPENCL
                                                    : TALLY_DEVICE_CPU;
            continue;
        }
        switch (argv[i++][1]) {
        case 'm':
            s.method = value;
            break;
        case 'o':
            s.accumulate = (int)strtol(value, NULL, 10);
            break;
        case 'b':
            take_list(value, s.bins);
            break;
        case 'n':
            take_list(value, s.samples);
            break;
        default:
            s.threads = (int)strtol(value, NULL, 10);
        }
    }
    options.device = s.device;
    options.threads = (uint32_t)s.threads;
    if (tally_context_create(&options, &context, &error)) {
        printf("{\"skipped\":\"%s\"}\n", error.message);
        return 77;
    }
    for (int b = 0; b < most_values && s.bins[b]; b++)
        for (int n = 0; n < most_values && s.samples[n]; n++)
            measure(context, &s, s.bins[b], s.samples[n]);
    tally_context_destroy(context);
    return 0;
}
