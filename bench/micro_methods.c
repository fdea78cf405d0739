/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of every kernel method on a device, on one buffer of device memory an input, by the
 * device's own clock, beside a pass that only reads: JSON lines on standard output, a table on
 * standard error. The counts of every timed configuration are compared with the processor's.
 *
 *     micro_methods cuda|opencl [-m MIB] [-r REPEATS] [-p PHOTOGRAPH] [-o ONLY,THESE,METHODS]
 *                   [-s bytes|floats] [-e SETTING=VALUE,… of the methods that count floats]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/io.h>

#include "gpu/device.h"
#include "plan/registry.h"
#include "micro.h"
#include "micro_read.h"
#include "plan/plan.h"

typedef struct bench {
    const char *device_name;
    tally_context *context, *host;
    ty_device *device;
    void *queue;
    ty_memory samples;
    size_t bytes;
    unsigned char *data;
    int repeats;
    const char *only, *photograph, *samples_kind, *settings;
    double read_seconds;
} bench;

static void die(const char *what, const tally_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->message);
    exit(1);
}

/* ---- inputs ---- */

static void tile(unsigned char *to, size_t size, const unsigned char *from, size_t period)
{
    for (size_t i = 0; i < size; i += period)
        memcpy(to + i, from, size - i < period ? size - i : period);
}

static unsigned char *read_samples(const char *path, size_t *size)
{
    tally_input *input = NULL;
    tally_error error;
    tally_view view = TALLY_VIEW_INIT;
    unsigned char *bytes = NULL;
    int done = 0;
    *size = 0;
    if (!path || tally_input_open(path, NULL, &input, &error))
        return NULL;
    while (!tally_input_read(input, &view, &done, &error) && !done) {
        size_t n = view.rows * view.columns * view.channels;
        bytes = realloc(bytes, *size + n);
        for (uint64_t r = 0; r < view.rows; r++) {
            size_t line = view.columns * view.channels;
            int64_t stride = view.row_stride_bytes ? view.row_stride_bytes : (int64_t)line;
            memcpy(bytes + *size + r * line, (const char *)view.data + (int64_t)r * stride, line);
        }
        *size += n;
    }
    tally_input_close(input);
    return bytes;
}

/* Letters with the frequencies of English, in words and lines. */
static void fill_text(unsigned char *to, size_t size)
{
    static const char letters[] =
        "eeeeeeeeeeeettttttttaaaaaaaoooooooiiiiiiinnnnnnssssssrrrrrrhhhhhhddddlllluuucccmmm"
        "ffyywwggppbbvkxqjz";
    size_t line = 0, word = 1 + random_next() % 9;
    for (size_t i = 0; i < size; i++) {
        if (!word--) {
            to[i] = line > 70 ? '\n' : random_next() % 12 ? ' ' : ',';
            line = line > 70 ? 0 : line;
            word = 1 + random_next() % 9;
        } else {
            to[i] = (unsigned char)letters[random_next() % (sizeof letters - 1)];
        }
        line++;
    }
}

static int fill(bench *b, const char *name)
{
    enum { period = 16 << 20 };
    unsigned char *first = b->data;
    size_t n = b->bytes < period ? b->bytes : period, size;
    if (!strcmp(name, "zeros")) {
        memset(b->data, 0, b->bytes);
        return 1;
    }
    if (!strcmp(name, "photograph")) {
        unsigned char *samples = read_samples(b->photograph, &size);
        if (samples && size)
            tile(b->data, b->bytes, samples, size);
        free(samples);
        return samples && size;
    }
    int value = 128;
    for (size_t i = 0; i < n; i++) {
        uint64_t r = random_next();
        if (!strcmp(name, "uniform"))
            first[i] = (unsigned char)(r >> 32);
        else if (!strcmp(name, "ramp"))
            first[i] = (unsigned char)i;
        else if (!strcmp(name, "walk"))
            first[i] = (unsigned char)(value = (value + (int)(r >> 32 & 7) - 3) & 255);
        else if (!strcmp(name, "one-in-ten"))
            first[i] = (r >> 40) % 10 ? 17 : (unsigned char)(r >> 32);
        else
            break;
    }
    if (!strcmp(name, "text"))
        fill_text(first, n);
    for (size_t i = n; i < b->bytes; i += n)
        memcpy(b->data + i, first, b->bytes - i < n ? b->bytes - i : n);
    return 1;
}

/* ---- one configuration ---- */

typedef struct job {
    const char *method, *input, *set; /* set: "k=31" or "" */
    tally_dtype dtype;
    uint64_t bins;
    double hi;
    tally_counter counter;
    int timing_only;
} job;

static tally_plan_options make_options(const job *j, tally_setting *setting, char *text,
                                       size_t size)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    o.axes[0] = tally_axis_even(j->bins, 0, j->hi);
    o.dtypes[0] = j->dtype;
    o.counter = j->counter;
    o.method = j->method;
    o.timing_only = j->timing_only;
    char *rest = NULL;
    snprintf(text, size, "%s", j->set);
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(one, '=');
        *equals = '\0';
        setting[o.settings_count++] = (tally_setting){one, equals + 1};
    }
    o.settings = setting;
    return o;
}

static void *count_on_host(bench *b, const job *j, size_t bytes)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    tally_error error = {""};
    void *counts = calloc(j->bins, bytes);
    tally_output out = TALLY_OUTPUT_INIT;
    o.axes[0] = tally_axis_even(j->bins, 0, j->hi);
    o.dtypes[0] = j->dtype;
    o.counter = j->counter;
    o.n_hint = b->bytes / tally_dtype_bytes(j->dtype);
    tally_view view = tally_view_1d(b->data, j->dtype, o.n_hint);
    out.counts = counts;
    if (tally_plan_create(b->host, &o, &plan, &error) ||
        tally_execute(plan, &view, NULL, &out, &error))
        die("host", &error);
    tally_plan_destroy(plan);
    return counts;
}

static void report(const bench *b, const job *j, double *seconds, int verified)
{
    qsort(seconds, (size_t)b->repeats, sizeof *seconds, ascending);
    double median = seconds[b->repeats / 2], gbps = (double)b->bytes / median * 1e-9;
    printf("{\"device\":\"%s\",\"name\":\"%s\",\"method\":\"%s\",\"set\":\"%s\",\"dtype\":\"%s\","
           "\"n\":%llu,"
           "\"bins\":%llu,\"data\":\"%s\",\"median_s\":%.9f,\"min_s\":%.9f,\"max_s\":%.9f,"
           "\"repeats\":%d,"
           "\"gbps\":%.2f,\"fraction_of_read\":%.4f,\"verified\":%s}\n",
           b->device_name, b->device->name, j->method, j->set, tally_dtype_name(j->dtype),
           (unsigned long long)(b->bytes / tally_dtype_bytes(j->dtype)),
           (unsigned long long)j->bins, j->input, median, seconds[0], seconds[b->repeats - 1],
           b->repeats, gbps, b->read_seconds / median, verified ? "true" : "false");
    fflush(stdout);
    fprintf(stderr, " %8.1f%s", gbps, verified ? "" : "!");
}

/* Returns 0 when the method refuses; a slow one is timed fewer times. */
static int time_job(bench *b, const job *j, const void *want, size_t bytes)
{
    tally_setting setting[8];
    char text[128];
    tally_plan_options o = make_options(j, setting, text, sizeof text);
    tally_plan *plan = NULL;
    tally_error error = {""};
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    double seconds[32], one = 0;
    int repeats = b->repeats;
    if (tally_plan_create(b->context, &o, &plan, &error)) {
        fprintf(stderr, " %8s", "-");
        return 0;
    }
    void *counts = calloc(j->bins, bytes);
    tally_view view = tally_view_1d((void *)(uintptr_t)b->samples, j->dtype,
                                    b->bytes / tally_dtype_bytes(j->dtype));
    view.device = b->device->ops->type;
    out.counts = counts;
    e.device_seconds = &one;
    for (int i = -1; i < b->repeats; i++) {
        if (tally_execute(plan, &view, &e, &out, &error))
            die(j->method, &error);
        if (i >= 0)
            seconds[i] = one;
        else if (one > 0.2)
            b->repeats = one > 5 ? 1 : 3;
    }
    report(b, j, seconds, !memcmp(counts, want, bytes * j->bins));
    b->repeats = repeats;
    free(counts);
    tally_plan_destroy(plan);
    return 1;
}

/* ---- tables ---- */

static const char *const byte_inputs[] = {"zeros", "uniform",    "ramp",      "walk",
                                          "text",  "photograph", "one-in-ten"};
enum { input_count = sizeof byte_inputs / sizeof *byte_inputs };

typedef struct row {
    const char *method, *set;
    uint64_t bins;
    tally_counter counter;
    int timing_only;
} row;

static const row byte_rows[] = {
    {"reduce-tree", "", 256, 0, 0},
    {"atomic-local", "", 256, 0, 0},
    {"atomic-global", "", 256, 0, 0},
    {"coarsened", "", 256, 0, 0},
    {"private-shared", "", 256, 0, 0},
    {"private-register", "", 16, 0, 0},
    {"private-global", "", 256, 0, 0},
    {"aggregated", "", 256, 0, 0},
    {"podlozhnyuk-64", "", 64, 0, 0},
    {"podlozhnyuk-256-tag", "", 256, 0, 0},
    {"podlozhnyuk-256", "", 256, 0, 0},
    {"nugteren", "", 256, 0, 0},
    {"lane-private", "", 256, 0, 0},
    {"trish", "", 256, 0, 0},
    {"trish", "blocks-per-sm=3", 256, 0, 0},
    {"trish", "blocks-per-sm=6", 256, 0, 0},
    {"trish", "k=1", 256, 0, 0},
    {"trish", "k=15", 256, 0, 0},
    {"trish", "k=21", 256, 0, 0},
    {"trish", "k=63", 256, 0, 0},
    {"trish", "threads=128", 256, 0, 0},
    {"trish", "threads=256", 256, 0, 0},
    {"trish", "accumulate=0", 256, 0, 1},
    {"saturating-global", "", 256, TALLY_COUNTER_U16SAT, 0},
    {"saturating-shared", "", 256, TALLY_COUNTER_U16SAT, 0},
    {"saturating-shared-strided", "", 256, TALLY_COUNTER_U16SAT, 0},
};

static int wanted(const bench *b, const char *method)
{
    if (!b->only)
        return 1;
    const char *at = strstr(b->only, method);
    size_t n = strlen(method);
    return at && (at == b->only || at[-1] == ',') && (!at[n] || at[n] == ',');
}

static void upload(bench *b)
{
    tally_error error;
    if (b->device->ops->upload(b->device, b->queue, b->samples, 0, b->data, b->bytes, &error) ||
        b->device->ops->wait(b->device, b->queue, &error))
        die("upload", &error);
}

static void bench_bytes(bench *b)
{
    for (int i = 0; i < input_count; i++) {
        void *usual = NULL; /* 256 bins, 64-bit: most rows' counts */
        if (!fill(b, byte_inputs[i])) {
            fprintf(stderr, "%s: skipped, no photograph given\n", byte_inputs[i]);
            continue;
        }
        upload(b);
        fprintf(stderr, "%s\n", byte_inputs[i]);
        for (size_t r = 0; r < sizeof byte_rows / sizeof *byte_rows; r++) {
            const row *w = &byte_rows[r];
            size_t bytes = w->counter ? 2 : 8;
            job j = {w->method, byte_inputs[i], w->set,        TALLY_U8, w->bins,
                     256,       w->counter,     w->timing_only};
            if (!wanted(b, w->method))
                continue;
            int is_usual = w->bins == 256 && bytes == 8;
            void *want = is_usual && usual ? usual : count_on_host(b, &j, bytes);
            fprintf(stderr, "  %-26s %-16s", w->method, w->set);
            time_job(b, &j, want, bytes);
            fprintf(stderr, "\n");
            if (is_usual)
                usual = want;
            else
                free(want);
        }
        free(usual);
    }
}

/* Floats in so many bins over [0, 1), for the methods that take them. */
static void bench_floats(bench *b, uint64_t bins)
{
    static const char *const inputs[] = {"uniform", "equal", "skewed"};
    float *x = (float *)(void *)b->data;
    size_t n = b->bytes / sizeof *x, period = (size_t)4 << 20;
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < n && k < period; k++) {
            double u = (double)(random_next() >> 11) * 0x1p-53, v = u * u * u * u;
            x[k] = (float)(i == 0 ? u : i == 1 ? 0.37 : v * v);
            x[k] = x[k] < 1 ? x[k] : 0.999f;
        }
        for (size_t k = period; k < n; k += period)
            memcpy(x + k, x, (n - k < period ? n - k : period) * sizeof *x);
        upload(b);
        fprintf(stderr, "f32 %s, %llu bins\n", inputs[i], (unsigned long long)bins);
        for (int m = 0; ty_methods[m]; m++) {
            const ty_method *t = ty_methods[m];
            int saturating = !strncmp(t->name, "saturating", 10);
            job j = {t->name,
                     inputs[i],
                     b->settings ? b->settings : "",
                     TALLY_F32,
                     bins,
                     1,
                     saturating ? TALLY_COUNTER_U16SAT : TALLY_COUNTER_U64,
                     0};
            size_t bytes = saturating ? 2 : 8;
            if ((t->devices & TY_ON_CPU) || !(t->dtypes >> TALLY_F32 & 1) || !wanted(b, t->name) ||
                !strcmp(t->name, "reduce-tree"))
                continue;
            void *want = count_on_host(b, &j, bytes);
            fprintf(stderr, "  %-43s", t->name);
            time_job(b, &j, want, bytes);
            fprintf(stderr, "\n");
            free(want);
        }
    }
}

int main(int argc, char **argv)
{
    bench b = {.bytes = (size_t)1 << 30, .repeats = 9};
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    b.device_name = argc > 1 ? argv[1] : "opencl";
    for (int i = 2; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "-m"))
            b.bytes = strtoull(argv[i + 1], NULL, 10) << 20;
        else if (!strcmp(argv[i], "-r"))
            b.repeats = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "-p"))
            b.photograph = argv[i + 1];
        else if (!strcmp(argv[i], "-s"))
            b.samples_kind = argv[i + 1];
        else if (!strcmp(argv[i], "-o"))
            b.only = argv[i + 1];
        else if (!strcmp(argv[i], "-e"))
            b.settings = argv[i + 1];
    }
    b.repeats = b.repeats < 1 ? 1 : b.repeats > 31 ? 31 : b.repeats;
    o.device = !strcmp(b.device_name, "cuda") ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    if (tally_context_create(&o, &b.context, &error)) {
        printf("{\"device\":\"%s\",\"skipped\":\"%s\"}\n", b.device_name, error.message);
        return 77;
    }
    o.device = TALLY_DEVICE_CPU;
    if (tally_context_create(&o, &b.host, &error))
        die("cpu", &error);
    b.device = b.context->state;
    b.data = malloc(b.bytes);
    if (!b.data || b.device->ops->queue_open(b.device, NULL, &b.queue, &error) ||
        b.device->ops->alloc(b.device, b.bytes, &b.samples, &error))
        die("memory", &error);
    fill(&b, "uniform");
    upload(&b);
    b.read_seconds = micro_read_seconds(b.device, b.queue, b.samples, b.bytes);
    printf(
        "{\"device\":\"%s\",\"name\":\"%s\",\"method\":\"read-only\",\"n\":%zu,\"median_s\":%.9f,"
        "\"gbps\":%.2f}\n",
        b.device_name, b.device->name, b.bytes, b.read_seconds,
        (double)b.bytes / b.read_seconds * 1e-9);
    fprintf(stderr, "%s (%s), %zu MiB, reading %.1f GB/s\n", b.device->name, b.device_name,
            b.bytes >> 20, (double)b.bytes / b.read_seconds * 1e-9);
    if (!b.samples_kind || !strcmp(b.samples_kind, "bytes"))
        bench_bytes(&b);
    if (!b.samples_kind || !strcmp(b.samples_kind, "floats")) {
        bench_floats(&b, 256);
        bench_floats(&b, 2048);
    }
    b.device->ops->release(b.device, b.samples);
    b.device->ops->queue_close(b.device, b.queue);
    free(b.data);
    tally_context_destroy(b.context);
    tally_context_destroy(b.host);
    return 0;
}
