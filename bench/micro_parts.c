/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples that lie on several devices counted in one call, beside one device's call on its share,
 * in turns, by the clock on the wall; the output in host memory and on the first device; counts are
 * compared. Large shares by throughput, small ones by time. JSON lines on standard output.
 *
 *     micro_parts [-m MIB] [-r REPEATS] [-k KIND]      2048 MiB a device, of cuda
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/device.h"
#include "plan/several.h"
#include "micro.h"

enum { MOST = 16, MOST_BINS = 1 << 20 };

static struct {
    const char *kind;
    unsigned count;
    tally_context *each[MOST], *all;
    void *samples[MOST];
    tally_device_type type;
} devices = {.kind = "cuda"};

static uint64_t want[MOST_BINS], got[MOST_BINS];

static void check(tally_status status, const char *what, const tally_error *error)
{
    if (!status)
        return;
    fprintf(stderr, "micro_parts: %s: %s\n", what, error->message);
    exit(1);
}

static tally_view view_of(unsigned device, uint64_t n)
{
    tally_view view = tally_view_1d(devices.samples[device], TALLY_F32, n);
    view.device = devices.type;
    return view;
}

/* What is timed: one device's share, or all; into host memory or the first device's. */
enum { TRIALS = 5 };
typedef struct trial {
    const char *name;
    tally_plan *plan;
    unsigned first, count; /* devices */
    void *there;           /* NULL: host memory */
    double least, *all;
} trial;

static void count(const trial *t, uint64_t n, uint64_t *counts)
{
    tally_view views[MOST];
    tally_part parts[MOST];
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    output.counts = t->there ? t->there : (void *)counts;
    output.on_device = t->there != NULL;
    for (unsigned i = 0; i < t->count; i++) {
        views[i] = view_of(t->first + i, n);
        parts[i] = (tally_part)TALLY_PART_INIT;
        parts[i].device = t->first + i;
        parts[i].views = &views[i];
    }
    check(t->count == 1 ? tally_execute(t->plan, views, NULL, &output, &error)
                        : tally_execute_parts(t->plan, parts, t->count, NULL, &output, &error),
          t->name, &error);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tally_plan *make_plan(tally_context *context, uint64_t bins, uint64_t n)
{
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    tally_plan *plan = NULL;
    tally_error error = {""};
    options.axes[0] = tally_axis_even(bins, 0, 1);
    options.dtypes[0] = TALLY_F32;
    options.n_hint = n;
    check(tally_plan_create(context, &options, &plan, &error), "a plan", &error);
    return plan;
}

/* The sum of every device's own counts. */
static void sum_alone(uint64_t bins, uint64_t n)
{
    memset(want, 0, sizeof want);
    for (unsigned d = 0; d < devices.count; d++) {
        tally_plan *plan = make_plan(devices.each[d], bins, n);
        const tally_view view = view_of(d, n);
        tally_output output = TALLY_OUTPUT_INIT;
        tally_error error = {""};
        output.counts = got;
        check(tally_execute(plan, &view, NULL, &output, &error), "one device", &error);
        for (uint64_t b = 0; b < bins; b++)
            want[b] += got[b];
        tally_plan_destroy(plan);
    }
}

static int is_right(const trial *t, uint64_t bins, uint64_t n)
{
    tally_error error = {""};
    memset(got, 0, sizeof got);
    count(t, n, got);
    if (t->there) {
        ty_device *device = devices.each[0]->state;
        void *queue = NULL;
        tally_status status = device->ops->queue_open(device, NULL, &queue, &error);
        if (!status)
            status = device->ops->download(device, queue, got, (ty_memory)(uintptr_t)t->there, 0,
                                           bins * 8, &error);
        if (!status)
            status = device->ops->wait(device, queue, &error);
        check(status, "reading", &error);
        device->ops->queue_close(device, queue);
    }
    return t->count == 1 || !memcmp(got, want, bins * 8);
}

static int time_bins(uint64_t bins, uint64_t n, int repeats)
{
    void *memory = NULL;
    tally_error error = {""};
    int wrong = 0;
    check(tally_memory_create(devices.each[0], bins * 8, &memory, &error), "memory", &error);
    const unsigned end = devices.count - 1;
    tally_plan *one = make_plan(devices.each[0], bins, n), *all = make_plan(devices.all, bins, n),
               *last = make_plan(devices.each[end], bins, n);
    trial trials[TRIALS] = {{"one, to the host", one, 0, 1, NULL, 0, NULL},
                            {"last, to the host", last, end, 1, NULL, 0, NULL},
                            {"all, to the host", all, 0, devices.count, NULL, 0, NULL},
                            {"one, to a device", one, 0, 1, memory, 0, NULL},
                            {"all, to a device", all, 0, devices.count, memory, 0, NULL}};
    sum_alone(bins, n);
    for (int i = 0; i < TRIALS; i++) {
        trials[i].all = calloc((size_t)repeats, sizeof(double));
        wrong += !is_right(&trials[i], bins, n);
    }
    for (int r = 0; r < repeats; r++)
        for (int i = 0; i < TRIALS; i++) {
            const double begin = now();
            count(&trials[i], n, got);
            trials[i].all[r] = now() - begin;
        }
    for (int i = 0; i < TRIALS; i++) {
        const trial *t = &trials[i];
        const double bytes = 4e-9 * (double)n * t->count;
        qsort(t->all, (size_t)repeats, sizeof *t->all, compare);
        printf("{\"bench\":\"parts\",\"way\":\"%s\",\"devices\":%u,\"dtype\":\"f32\",\"bins\":%llu,"
               "\"bytes_each\":%llu,\"min_s\":%g,\"median_s\":%g,\"gbps\":%.2f,\"same\":%s}\n",
               t->name, t->count, (unsigned long long)bins, (unsigned long long)(4 * n), t->all[0],
               t->all[repeats / 2], bytes / t->all[0], wrong ? "false" : "true");
        fprintf(stderr, "%8llu bins, %11llu samples each, %s: %10.2f us %9.2f GB/s\n",
                (unsigned long long)bins, (unsigned long long)n, t->name, 1e6 * t->all[0],
                bytes / t->all[0]);
        free(t->all);
    }
    tally_plan_destroy(one);
    tally_plan_destroy(all);
    tally_plan_destroy(last);
    tally_memory_destroy(devices.each[0], memory);
    return wrong;
}

/* Every device with samples of its own. */
static void open_devices(uint64_t n)
{
    enum { SOME = 1 << 20 };
    char list[64];
    tally_error error = {""};
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    uint64_t state = 1;
    float *samples = malloc(SOME * sizeof *samples);
    snprintf(list, sizeof list, "%s:*", devices.kind);
    options.devices = list;
    check(samples ? tally_context_create(&options, &devices.all, &error) : TALLY_ERROR_MEMORY, list,
          &error);
    devices.type = strcmp(devices.kind, "cuda") ? TALLY_DEVICE_OPENCL : TALLY_DEVICE_CUDA;
    while (devices.count < MOST && devices.count < ty_several_count(devices.all->several)) {
        const unsigned d = devices.count;
        devices.each[d] = ty_several_context(devices.all->several, d);
        check(tally_memory_create(devices.each[d], n * 4, &devices.samples[d], &error), "memory",
              &error);
        for (uint64_t at = 0; at < n; at += SOME) {
            for (int i = 0; i < SOME; i++) {
                state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
                samples[i] = (float)(state >> 40) * 0x1p-24f;
            }
            check(tally_memory_write(devices.each[d], devices.samples[d], at * 4, samples,
                                     (n - at < SOME ? n - at : SOME) * 4, &error),
                  "samples", &error);
        }
        devices.count++;
    }
    free(samples);
}

int main(int argc, char **argv)
{
    static const uint64_t large[] = {256, 65536, MOST_BINS},
                          small[] = {256, 4096, 65536, MOST_BINS}, few[] = {1024, 1 << 20};
    uint64_t n = (uint64_t)2048 << 18;
    int repeats = 20, option, wrong = 0;
    while ((option = getopt(argc, argv, "m:r:k:")) != -1) {
        if (option == 'm')
            n = strtoull(optarg, NULL, 0) << 18;
        else if (option == 'r')
            repeats = atoi(optarg);
        else if (option == 'k')
            devices.kind = optarg;
        else
            return 2;
    }
    if (!n || repeats < 1)
        return 2;
    open_devices(n);
    if (devices.count < 2)
        fprintf(stderr, "micro_parts: there is one device: nothing to compare it with\n");
    for (size_t b = 0; b < sizeof large / sizeof *large; b++)
        wrong += time_bins(large[b], n, repeats);
    for (size_t b = 0; b < sizeof small / sizeof *small; b++)
        for (size_t f = 0; f < sizeof few / sizeof *few; f++)
            if (few[f] <= n)
                wrong += time_bins(small[b], few[f], 50 * repeats);
    for (unsigned d = 0; d < devices.count; d++)
        tally_memory_destroy(devices.each[d], devices.samples[d]);
    tally_context_destroy(devices.all);
    return wrong != 0;
}
