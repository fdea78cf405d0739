/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of byte images in device memory, an image a histogram, one call: numbers and sizes of
 * images by methods and their settings. JSON lines on standard output, a table on standard error.
 * Counts are compared with the processor's.
 *
 *     micro_images cuda|opencl [-m MIB] [-r REPEATS] [-o CASE] [-w 1] [METHOD[:KEY=VALUE,…]]…
 *
 * -o: only cases whose name begins with one of these (A|B|C); -w: the plans are made and nothing is
 * counted (their kernels are then in the cache).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device.h"
#include "micro.h"
#include "micro_read.h"
#include "plan/plan.h"

enum { most_methods = 24 };

static tally_context *context, *host;
static ty_device *device;
static void *queue;
static size_t bytes = (size_t)704 << 20;
static int repeats = 11, warm;
static const char *name, *only = "";
static unsigned char *data;
static ty_memory there, there_out;
static size_t out_bytes = (size_t)256 << 20;

/* Whether `only` is empty or one of its names, between bars, begins this one. */
static int wanted(const char *what)
{
    for (const char *at = only; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        if (!strncmp(what, at, strcspn(at, "|")))
            return 1;
    }
    return 0;
}

/* ---- cases ---- */

typedef struct kind {
    const char *what;
    uint64_t batches, rows, columns, channels;
    uint64_t row, batch; /* strides in bytes, 0 for no gaps */
    const char *inputs;  /* u: uniform, z: zeros, w: a walk, s: multiples of 32 at random */
} kind;

static const kind kinds[] = {
    {"one of 625 MiB", 1, 1, 655360000, 1, 0, 0, "u"},
    {"10000 of 256x256", 10000, 256, 256, 1, 0, 0, "uzws"},
    {"10000 of 250x250", 10000, 250, 250, 1, 0, 0, "u"},
    {"3000 RGB of 256x256", 3000, 256, 256, 3, 0, 0, "uzw"},
    {"2500 RGBA of 256x256", 2500, 256, 256, 4, 0, 0, "uz"},
    {"100 of 2048x2048", 100, 2048, 2048, 1, 0, 0, "u"},
    {"300 of 512x512", 300, 512, 512, 1, 0, 0, "u"},
    {"40000 of 128x128", 40000, 128, 128, 1, 0, 0, "us"},
    {"60000 of 91x91", 60000, 91, 91, 1, 0, 0, "us"},
    {"100000 of 64x64", 100000, 64, 64, 1, 0, 0, "us"},
    {"100000 of 32x32", 100000, 32, 32, 1, 0, 0, "us"},
    {"1100 of 130x131", 1100, 130, 131, 1, 0, 0, "u"},
    {"600 RGB of 130x131", 600, 130, 131, 3, 0, 0, "u"},
    {"600 RGBA of 130x131", 600, 130, 131, 4, 0, 0, "u"},
    {"3000 crops of 224x224", 3000, 224, 224, 1, 1000, 224000, "u"},
    {"region of 6001", 1, 80000, 6001, 1, 8192, 0, "u"},
    {"one RGB", 1, 1, 218000000, 3, 0, 0, "u"},
};

static void fill(char input)
{
    uint64_t *words = (uint64_t *)(void *)data;
    tally_error error;
    int value = 128;
    for (size_t i = 0; i < 1 << 20; i++)
        words[i] = input == 'u'   ? random_next()
                   : input == 's' ? random_next() & 0xe0e0e0e0e0e0e0e0u
                                  : 0x1111111111111111u;
    for (size_t i = 0; input == 'w' && i < 8 << 20; i++)
        data[i] = (unsigned char)(value = (value + (int)(random_next() >> 32 & 7) - 3) & 255);
    for (size_t i = 8 << 20; i < bytes; i += 8 << 20)
        memcpy(data + i, data, bytes - i < 8 << 20 ? bytes - i : 8 << 20);
    must(device->ops->upload(device, queue, there, 0, data, bytes, &error), &error);
    must(device->ops->wait(device, queue, &error), &error);
}

/* ---- methods ---- */

static struct {
    const char *text;
    char words[128];
    tally_setting settings[8];
    size_t count;
} methods[most_methods];
static int method_count;

static void add_method(const char *text)
{
    if (method_count == most_methods)
        return;
    methods[method_count].text = text;
    snprintf(methods[method_count].words, sizeof methods->words, "%s", text);
    char *at = strchr(methods[method_count].words, ':');
    while (at && methods[method_count].count < 8) {
        char *equal = strchr(at + 1, '=');
        *at = '\0';
        if (!equal)
            break;
        *equal = '\0';
        methods[method_count].settings[methods[method_count].count++] =
            (tally_setting){at + 1, equal + 1};
        at = strchr(equal + 1, ',');
    }
    method_count++;
}

static tally_plan *make_plan(tally_context *where, const kind *k, int method)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1, .channels = k->channels};
    tally_plan *plan = NULL;
    tally_error error = {""};
    o.axes[0] = tally_axis_even(256, 0, 256);
    o.dtypes[0] = TALLY_U8;
    if (method >= 0) {
        o.method = methods[method].words;
        o.settings = methods[method].settings;
        o.settings_count = methods[method].count;
    }
    tally_status status = tally_plan_create(where, &o, &plan, &error);
    if (status)
        fprintf(stderr, "%s: %s\n", methods[method].text, error.message);
    return plan;
}

/* ---- one case ---- */

static tally_status run(const kind *k, const tally_plan *plan, int on_device, void *counts,
                        double *seconds, tally_error *error)
{
    tally_view v = tally_view_1d(data, TALLY_U8, k->columns);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    v.rows = k->rows;
    v.batches = k->batches;
    v.channels = k->channels;
    v.row_stride_bytes = (int64_t)k->row;
    v.batch_stride_bytes = (int64_t)k->batch;
    if (on_device) {
        v.data = (void *)(uintptr_t)there;
        v.device = device->ops->type;
    }
    e.device_seconds = seconds;
    out.counts = counts;
    out.on_device = on_device;
    return tally_execute(plan, &v, &e, &out, error);
}

static int is_right(const uint64_t *want, size_t cells)
{
    tally_error error = {""};
    uint64_t *got = calloc(cells, 8);
    must(device->ops->download(device, queue, got, there_out, 0, cells * 8, &error), &error);
    must(device->ops->wait(device, queue, &error), &error);
    int same = !memcmp(got, want, cells * 8);
    free(got);
    return same;
}

/* `ceiling`: 10^9 bytes a second of a pass that only reads as much. */
static void time_method(const kind *k, char input, int method, const uint64_t *want, size_t cells,
                        double ceiling)
{
    tally_plan *plan = make_plan(context, k, method);
    tally_error error = {""};
    double seconds[32] = {0};
    tally_status status = plan ? TALLY_OK : TALLY_ERROR_UNSUPPORTED;
    for (int i = -1; i < repeats && !status; i++) {
        double *to = &seconds[i < 0 ? 0 : i];
        *to = 0;
        status = run(k, plan, 1, (void *)(uintptr_t)there_out, to, &error);
    }
    if (!status) {
        const size_t read = (size_t)(k->batches * k->rows * k->columns * k->channels);
        const int same = is_right(want, cells);
        qsort(seconds, (size_t)repeats, sizeof *seconds, ascending);
        const double median = seconds[repeats / 2], gbps = (double)read / median * 1e-9;
        printf(
            "{\"device\":\"%s\",\"name\":\"%s\",\"case\":\"%s\",\"data\":\"%c\",\"method\":\"%s\","
            "\"read_bytes\":%zu,\"median_s\":%.9f,\"min_s\":%.9f,\"max_s\":%.9f,\"repeats\":%d,"
            "\"gbps\":%.2f,\"reading\":%.2f,\"verified\":%s}\n",
            name, device->name, k->what, input, methods[method].text, read, median, seconds[0],
            seconds[repeats - 1], repeats, gbps, ceiling, same ? "true" : "false");
        fflush(stdout);
        fprintf(stderr, "%-22s %c %-50s %7.1f GB/s %5.1f %% %8.1f us%s\n", k->what, input,
                methods[method].text, gbps, 100 * gbps / ceiling, median * 1e6,
                same ? "" : "  WRONG");
    } else if (plan) {
        fprintf(stderr, "%-22s %c %-50s %.60s\n", k->what, input, methods[method].text,
                error.message);
    }
    tally_plan_destroy(plan);
}

/* 10^9 bytes a second of a pass that only reads; its kernel is forgotten with its queue. */
static double reading(size_t size)
{
    tally_error error;
    void *own = NULL;
    must(device->ops->queue_open(device, NULL, &own, &error), &error);
    const double seconds = micro_read_seconds(device, own, there, size);
    device->ops->queue_close(device, own);
    return (double)size / seconds * 1e-9;
}

static void time_kind(const kind *k, char input)
{
    tally_plan *right = make_plan(host, k, -1);
    const size_t cells = (size_t)(k->batches * 256 * k->channels);
    const uint64_t row = k->row ? k->row : k->columns * k->channels,
                   batch = k->batch ? k->batch : row * k->rows;
    tally_error error = {""};
    if (batch * k->batches <= bytes && cells * 8 <= out_bytes) {
        const size_t read = (size_t)(k->batches * k->rows * k->columns * k->channels);
        const double ceiling = reading(read);
        uint64_t *want = calloc(cells, 8);
        must(run(k, right, 0, want, NULL, &error), &error);
        for (int m = 0; m < method_count; m++)
            time_method(k, input, m, want, cells, ceiling);
        free(want);
    }
    tally_plan_destroy(right);
}

int main(int argc, char **argv)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    name = argc > 1 ? argv[1] : "opencl";
    for (int i = 2; i < argc; i++) {
        if (argv[i][0] != '-' || i + 1 == argc)
            add_method(argv[i]);
        else if (argv[i][1] == 'm')
            bytes = strtoull(argv[++i], NULL, 10) << 20;
        else if (argv[i][1] == 'r')
            repeats = atoi(argv[++i]);
        else if (argv[i][1] == 'o')
            only = argv[++i];
        else if (argv[i][1] == 'w')
            warm = atoi(argv[++i]);
    }
    if (!method_count)
        add_method("auto");
    repeats = repeats < 1 ? 1 : repeats > 31 ? 31 : repeats;
    bytes = bytes < 16 << 20 ? 16 << 20 : bytes;
    o.device = !strcmp(name, "cuda") ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    if (tally_context_create(&o, &context, &error)) {
        printf("{\"device\":\"%s\",\"skipped\":\"%s\"}\n", name, error.message);
        return 77;
    }
    for (int i = 0; warm && i < (int)(sizeof kinds / sizeof *kinds); i++) {
        for (int m = 0; wanted(kinds[i].what) && m < method_count; m++)
            tally_plan_destroy(make_plan(context, &kinds[i], m));
    }
    if (warm)
        return 0;
    o.device = TALLY_DEVICE_CPU;
    must(tally_context_create(&o, &host, &error), &error);
    device = context->state;
    data = malloc(bytes);
    if (!data)
        return 1;
    must(device->ops->queue_open(device, NULL, &queue, &error), &error);
    must(device->ops->alloc(device, bytes, &there, &error), &error);
    must(device->ops->alloc(device, out_bytes, &there_out, &error), &error);
    for (const char *input = "uzws"; *input; input++) {
        int filled = 0;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            if (!strchr(kinds[i].inputs, *input) || !wanted(kinds[i].what))
                continue;
            if (!filled++)
                fill(*input);
            time_kind(&kinds[i], *input);
        }
    }
    device->ops->release(device, there);
    device->ops->release(device, there_out);
    device->ops->queue_close(device, queue);
    free(data);
    tally_context_destroy(context);
    tally_context_destroy(host);
    return 0;
}
