/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples in the host's memory: counted by the processor, by a CUDA device that they are copied to
 * while it counts what came before, and where `auto` decides, each from a call to filled counts on
 * the host, by the clock on the wall; by the device once more from memory that is pinned. `auto`
 * decides with its device open, which the first plan that has a use for it pays. JSON lines on
 * standard output; all counts are compared.
 *
 *     micro_host [-m MIB] [-r REPEATS] [-t THREADS,…]
 *
 * THREADS: of the processor, 0 for all there are.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tally/tally.h>

enum { most_bins = 1 << 20, most_repeats = 15, period = 8 << 20 };

typedef struct scene {
    tally_dtype dtype;
    uint64_t bins;
    int uneven;
} scene;

static const scene scenes[] = {
    {TALLY_U8, 256, 0},   {TALLY_F32, 2048, 0}, {TALLY_F32, 65536, 0},  {TALLY_F32, most_bins, 0},
    {TALLY_F64, 1000, 0}, {TALLY_F32, 1000, 1}, {TALLY_F64, 100000, 1}, {TALLY_I64, 1000, 1}};
enum { scene_count = sizeof scenes / sizeof *scenes };

static size_t bytes = (size_t)128 << 20;
static int repeats = 5, failed;
static unsigned char *data;
static double edges[most_bins + 1];
static uint64_t want[most_bins], got[most_bins];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what, const char *words)
{
    fprintf(stderr, "micro_host: %s: %s\n", what, words);
    exit(1);
}

/* Uniform samples over the axis: 0 … 1, or whole numbers. */
static void fill(const scene *s)
{
    uint64_t state = 1;
    const size_t size = tally_dtype_bytes(s->dtype);
    for (size_t i = 0; i < period / size; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double unit = (double)(state >> 11) * 0x1p-53;
        const float single = (float)unit;
        const int64_t whole = (int64_t)(state >> 34);
        memcpy(data + i * size,
               s->dtype == TALLY_F64   ? (const void *)&unit
               : s->dtype == TALLY_F32 ? (const void *)&single
               : s->dtype == TALLY_I64 ? (const void *)&whole
                                       : (const void *)((const char *)&state + 7),
               size);
    }
    for (size_t at = period; at < bytes; at += period)
        memcpy(data + at, data, period);
}

static double top_of(const scene *s)
{
    return s->dtype == TALLY_U8 ? 256 : s->dtype == TALLY_I64 ? 1 << 30 : 1;
}

static tally_plan *make_plan(tally_context *context, const scene *s)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    tally_error error = {""};
    for (uint64_t i = 0; s->uneven && i <= s->bins; i++) {
        const double u = (double)i / (double)s->bins;
        edges[i] = u * u * top_of(s);
    }
    o.axes[0] =
        s->uneven ? tally_axis_edges(s->bins, edges) : tally_axis_even(s->bins, 0, top_of(s));
    o.dtypes[0] = s->dtype;
    o.n_hint = bytes / tally_dtype_bytes(s->dtype);
    if (tally_plan_create(context, &o, &plan, &error))
        die("plan", error.message);
    return plan;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median seconds of a call after a first one; slow ones are not repeated. */
static double measure(const tally_plan *plan, const scene *s, uint64_t *counts)
{
    tally_view view = tally_view_1d(data, s->dtype, bytes / tally_dtype_bytes(s->dtype));
    tally_output out = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    double seconds[most_repeats];
    int done = 0;
    out.counts = counts;
    for (int i = -1; i < repeats && (i < 1 || seconds[0] < 0.3); i++) {
        const double begin = now();
        if (tally_execute(plan, &view, NULL, &out, &error))
            die(tally_plan_describe(plan), error.message);
        if (i >= 0)
            seconds[done++] = now() - begin;
    }
    qsort(seconds, (size_t)done, sizeof *seconds, ascending);
    return seconds[done / 2];
}

static tally_context *open_context(tally_device_type device, unsigned threads)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_error error = {""};
    o.device = device;
    o.threads = threads;
    if (tally_context_create(&o, &context, &error)) {
        printf("{\"skipped\":\"%s\"}\n", error.message);
        exit(77);
    }
    return context;
}

/* The samples pinned, or as they were, in the device's primary context. */
static void pin(int is)
{
    static void *context;
    int (*retain)(void **, int), (*enter)(void *), (*give)(void *),
        (*take)(void *, size_t, unsigned);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&enter = dlsym(driver, "cuCtxSetCurrent");
    *(void **)&take = dlsym(driver, "cuMemHostRegister_v2");
    *(void **)&give = dlsym(driver, "cuMemHostUnregister");
    if ((!context && retain(&context, 0)) || enter(context) ||
        (is ? take(data, bytes, 0) : give(data)))
        die("memory", "not pinned");
}

enum { on_cpu, on_cuda, on_auto, places };

/* With the device of `auto` open: a plan that nobody would count here. */
static void open_contexts(unsigned threads, tally_context *contexts[places])
{
    const size_t own = bytes;
    contexts[on_cpu] = open_context(TALLY_DEVICE_CPU, threads);
    contexts[on_cuda] = open_context(TALLY_DEVICE_CUDA, threads);
    contexts[on_auto] = open_context(TALLY_DEVICE_AUTO, threads);
    bytes = (size_t)1 << 40;
    tally_plan_destroy(make_plan(contexts[on_auto], &(scene){TALLY_F64, 100000, 1}));
    bytes = own;
}

static void run(const scene *s, unsigned threads, tally_context *const contexts[places])
{
    double seconds[places], pinned = 0;
    char words[1024] = "";
    int right = 1;
    for (int i = 0; i < places; i++) {
        tally_plan *plan = make_plan(contexts[i], s);
        seconds[i] = measure(plan, s, i ? got : want);
        right &= !i || !memcmp(got, want, s->bins * sizeof *got);
        if (i == on_cuda) {
            pin(1);
            pinned = measure(plan, s, got);
            right &= !memcmp(got, want, s->bins * sizeof *got);
            pin(0);
        }
        snprintf(words, sizeof words, "%s", tally_plan_describe(plan));
        tally_plan_destroy(plan);
    }
    failed += !right;
    printf("{\"threads\":%u,\"dtype\":\"%s\",\"bins\":%llu,\"axis\":\"%s\",\"bytes\":%zu,"
           "\"cpu_s\":%.6f,\"cuda_s\":%.6f,\"pinned_s\":%.6f,\"auto_s\":%.6f,\"auto\":\"%s\","
           "\"repeats\":%d,"
           "\"verified\":%s,\"plan\":\"%s\"}\n",
           threads, tally_dtype_name(s->dtype), (unsigned long long)s->bins,
           s->uneven ? "uneven" : "even", bytes, seconds[on_cpu], seconds[on_cuda], pinned,
           seconds[on_auto], strstr(words, " on cuda") ? "cuda" : "cpu", repeats,
           right ? "true" : "false", words);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *threads = "1,4,0";
    for (int i = 1; i + 1 < argc; i += 2) {
        switch (argv[i][0] == '-' ? argv[i][1] : 0) {
        case 'm':
            bytes = (size_t)strtoull(argv[i + 1], NULL, 10) << 20;
            break;
        case 'r':
            repeats = atoi(argv[i + 1]);
            break;
        case 't':
            threads = argv[i + 1];
            break;
        default:
            die(argv[i], "no such option");
        }
    }
    repeats = repeats < 1 ? 1 : repeats > most_repeats ? most_repeats : repeats;
    bytes = bytes < period ? period : bytes - bytes % period;
    data = malloc(bytes);
    if (!data)
        die("memory", "out of it");
    for (const char *at = threads; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const unsigned count = (unsigned)strtoul(at, NULL, 10);
        tally_context *contexts[places];
        open_contexts(count, contexts);
        for (int k = 0; k < scene_count; k++) {
            fill(&scenes[k]);
            run(&scenes[k], count, contexts);
        }
        for (int i = 0; i < places; i++)
            tally_context_destroy(contexts[i]);
    }
    free(data);
    return failed != 0;
}
