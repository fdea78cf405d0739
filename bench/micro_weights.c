/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of f32 weights over f32 samples in device memory, several ways beside each other: every
 * round runs each of them once, by the device's own clock, against a pass that only reads as many
 * bytes. JSON lines on standard output, a table on standard error. All ways must give the same
 * bits, and the first one the processor's sums within what float64 additions are off.
 *
 *     micro_weights cuda|opencl [-m MIB] [-r ROUNDS] [-b BINS,…] [-i INPUT,…] [-w unit|signed]
 *                   [METHOD[:KEY=VALUE,…]]…
 *
 * MIB is the samples', and the weights' again. Without a way: weighted and weighted-packed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device.h"
#include "micro.h"
#include "micro_read.h"
#include "plan/plan.h"

enum { period = 32 << 20, most_ways = 16, most_rounds = 31, most_bins = 1 << 16 };

typedef struct way {
    const char *name;
    char text[128]; /* the name again, cut at its separators */
    tally_plan *plan;
    double seconds[most_rounds];
    double sums[most_bins];
    int right;
} way;

static tally_context *context, *host;
static ty_device *device;
static void *queue;
static float *samples, *weights; /* a period of them, which repeats on the device */
static ty_memory there_samples, there_weights;
static uint64_t n;
static int rounds = 7, way_count, failed;
static way *ways;
static double read_seconds;

/* Whether a list (NULL: everything) has the word. */
static int wanted(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at++) {
        if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
            return 1;
    }
    return !list;
}

/* ---- inputs ---- */

static const char *const inputs[] = {"uniform", "equal", "ninety", "sorted", "stride", "skewed"};
enum { input_count = sizeof inputs / sizeof *inputs };

static double draw(const char *input, uint64_t i, uint64_t count, uint64_t bins)
{
    switch (input[0] == 's' ? input[1] : input[0]) {
    case 'e':
        return 0.37;
    case 'n':
        return random_unit() < 0.9 ? 0.37 : random_unit();
    case 'o':
        return (double)i / (double)count;
    case 't': /* neighbours 32 bins apart */
        return ((double)(i * 32 % bins) + 0.5) / (double)bins;
    case 'k':
        return pow(random_unit(), 8);
    default:
        return random_unit();
    }
}

static void send(ty_memory to, const float *from, uint64_t count)
{
    tally_error error = {""};
    for (uint64_t at = 0; at < n; at += count)
        must(device->ops->upload(device, queue, to, (size_t)at * 4, from,
                                 (size_t)(n - at < count ? n - at : count) * 4, &error),
             &error);
    must(device->ops->wait(device, queue, &error), &error);
}

static void fill(const char *input, uint64_t count, uint64_t bins)
{
    for (uint64_t i = 0; i < count; i++)
        samples[i] = (float)draw(input, i, count, bins);
    send(there_samples, samples, count);
}

/* ---- running ---- */

static tally_plan_options make_options(uint64_t bins)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    o.axes[0] = tally_axis_even(bins, 0, 1);
    o.dtypes[0] = o.weight_dtype = TALLY_F32;
    o.n_hint = n;
    return o;
}

static tally_plan *make_plan(way *w, uint64_t bins)
{
    tally_plan_options o = make_options(bins);
    tally_setting settings[8];
    tally_plan *plan = NULL;
    tally_error error = {""};
    char *rest = NULL;
    snprintf(w->text, sizeof w->text, "%s", w->name);
    o.method = strtok_r(w->text, ":", &rest);
    o.settings = settings;
    for (char *one; o.settings_count < 8 && (one = strtok_r(NULL, ",", &rest));) {
        char *equals = strchr(one, '=');
        if (equals)
            *equals = '\0';
        settings[o.settings_count++] = (tally_setting){one, equals ? equals + 1 : ""};
    }
    must(tally_plan_create(context, &o, &plan, &error), &error);
    return plan;
}

static double run(const tally_plan *plan, const float *x, const float *y, uint64_t count,
                  tally_device_type where, double *sums)
{
    tally_view view = tally_view_1d(x, TALLY_F32, count),
               heavy = tally_view_1d(y, TALLY_F32, count);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    double seconds = 0;
    view.device = heavy.device = where;
    e.weights = &heavy;
    e.device_seconds = where == TALLY_DEVICE_CPU ? NULL : &seconds;
    out.counts = sums;
    must(tally_execute(plan, &view, &e, &out, &error), &error);
    return seconds;
}

/* The processor's sums of a period, as often as it repeats. n is a whole number of periods. */
static int near_host(const double *got, uint64_t count, uint64_t bins)
{
    static double want[most_bins];
    tally_plan_options o = make_options(bins);
    tally_plan *plan = NULL;
    tally_error error = {""};
    int right = 1;
    must(tally_plan_create(host, &o, &plan, &error), &error);
    run(plan, samples, weights, count, TALLY_DEVICE_CPU, want);
    tally_plan_destroy(plan);
    for (uint64_t i = 0; i < bins; i++) {
        const double sum = want[i] * (double)(n / count);
        right &= fabs(got[i] - sum) <= 1e-6 * fmax(fabs(sum), (double)n / (double)bins);
    }
    return right;
}

static void report(way *w, const char *name, const char *input, uint64_t bins)
{
    qsort(w->seconds, (size_t)rounds, sizeof *w->seconds, ascending);
    const double median = w->seconds[rounds / 2], gb = (double)n * 8 * 1e-9;
    printf("{\"device\":\"%s\",\"name\":\"%s\",\"case\":\"weights\",\"way\":\"%s\",\"data\":\"%s\","
           "\"n\":%llu,\"bins\":%llu,\"median_s\":%.9f,\"min_s\":%.9f,\"max_s\":%.9f,"
           "\"repeats\":%d,\"gbps\":%.2f,\"fraction_of_read\":%.4f,\"verified\":%s}\n",
           name, device->name, w->name, input, (unsigned long long)n, (unsigned long long)bins,
           median, w->seconds[0], w->seconds[rounds - 1], rounds, gb / median,
           read_seconds / median, w->right ? "true" : "false");
    fflush(stdout);
    fprintf(stderr, "%6llu %-8s %-48s %8.1f GB/s %5.1f %% of read%s\n", (unsigned long long)bins,
            input, w->name, gb / median, 100 * read_seconds / median, w->right ? "" : "  WRONG");
    failed += !w->right;
}

static void bench(const char *name, const char *input, uint64_t count, uint64_t bins)
{
    const float *x = (const float *)(uintptr_t)there_samples,
                *y = (const float *)(uintptr_t)there_weights;
    for (int k = 0; k < way_count; k++)
        ways[k].plan = make_plan(&ways[k], bins);
    for (int r = -1; r < rounds; r++) {
        for (int k = 0; k < way_count; k++) {
            way *w = &ways[k];
            double seconds = run(w->plan, x, y, n, device->ops->type, w->sums);
            if (r >= 0)
                w->seconds[r] = seconds;
            w->right = (r < 0 || w->right) &&
                       !memcmp(w->sums, ways[0].sums, (size_t)bins * sizeof *w->sums);
        }
    }
    ways[0].right = near_host(ways[0].sums, count, bins);
    for (int k = 0; k < way_count; k++) {
        ways[k].right &= ways[0].right;
        report(&ways[k], name, input, bins);
        tally_plan_destroy(ways[k].plan);
    }
}

/* ---- the command ---- */

typedef struct wishes {
    const char *bins, *inputs;
    int is_signed;
} wishes;

static wishes parse(int argc, char **argv)
{
    static const char *const usual[] = {"weighted", "weighted-packed"};
    wishes w = {"64,256,4096", NULL, 0};
    n = (uint64_t)1 << 28;
    for (int i = 2; i < argc; i++) {
        const char key = argv[i][0] == '-' && i + 1 < argc ? argv[i][1] : '\0';
        const char *value = key ? argv[++i] : argv[i];
        if (key == 'm')
            n = strtoull(value, NULL, 10) << 18;
        else if (key == 'r')
            rounds = atoi(value);
        else if (key == 'b')
            w.bins = value;
        else if (key == 'i')
            w.inputs = value;
        else if (key == 'w')
            w.is_signed = !strcmp(value, "signed");
        else if (way_count < most_ways)
            ways[way_count++].name = value;
    }
    if (!way_count) {
        for (; way_count < 2; way_count++)
            ways[way_count].name = usual[way_count];
    }
    rounds = rounds < 1 ? 1 : rounds > most_rounds ? most_rounds : rounds;
    n = n ? n : 1;
    return w;
}

static void bench_input(const char *name, const char *input, const char *list, uint64_t count)
{
    static const uint64_t all_bins[] = {64, 256, 1024, 4096, 16384};
    int filled = 0;
    for (size_t b = 0; b < sizeof all_bins / sizeof *all_bins; b++) {
        char text[24];
        snprintf(text, sizeof text, "%llu", (unsigned long long)all_bins[b]);
        if (!wanted(list, text))
            continue;
        if (!filled || !strcmp(input, "stride"))
            fill(input, count, all_bins[b]);
        filled = 1;
        if (read_seconds <= 0)
            read_seconds = 2 * micro_read_seconds(device, queue, there_samples, n * 4);
        bench(name, input, count, all_bins[b]);
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "opencl";
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    ways = calloc(most_ways, sizeof *ways);
    if (!ways)
        return 1;
    const wishes w = parse(argc, argv);
    const uint64_t count = n < period ? n : period;
    n = n / count * count;
    o.device = !strcmp(name, "cuda") ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    if (tally_context_create(&o, &context, &error)) {
        printf("{\"device\":\"%s\",\"skipped\":\"%s\"}\n", name, error.message);
        free(ways);
        return 77;
    }
    o.device = TALLY_DEVICE_CPU;
    must(tally_context_create(&o, &host, &error), &error);
    device = context->state;
    samples = malloc((size_t)count * 4);
    weights = malloc((size_t)count * 4);
    if (!samples || !weights)
        return 1;
    must(device->ops->queue_open(device, NULL, &queue, &error), &error);
    must(device->ops->alloc(device, (size_t)n * 4, &there_samples, &error), &error);
    must(device->ops->alloc(device, (size_t)n * 4, &there_weights, &error), &error);
    for (uint64_t i = 0; i < count; i++)
        weights[i] = (float)(w.is_signed ? random_unit() - 0.5 : random_unit());
    send(there_weights, weights, count);
    for (int i = 0; i < input_count; i++) {
        if (wanted(w.inputs, inputs[i]))
            bench_input(name, inputs[i], w.bins, count);
    }
    device->ops->release(device, there_samples);
    device->ops->release(device, there_weights);
    device->ops->queue_close(device, queue);
    tally_context_destroy(context);
    tally_context_destroy(host);
    free(samples);
    free(weights);
    free(ways);
    return failed != 0;
}
