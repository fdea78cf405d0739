/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of methods for many bins on a device, by the device's own clock, on samples made there,
 * beside a pass that only reads: JSON lines on standard output, a table on standard error. The
 * counts of every timed configuration are compared with those of atomic-global, or of views for
 * joint tables, which is timed once beside it.
 *
 *     micro_bins cuda|opencl [-m MIB] [-r REPEATS] [-b BINS,…] [-j DIMENSIONS] [-i INPUT,…]
 *                            [-d f32|f64|i32|u16|u8] [-o SAMPLES] [-f FILE] [-w WIDTH]
 *                            METHOD…
 *
 * MIB are of all columns; BINS are of an axis, and inputs are over the bins of the joint table. -o:
 * each column begins so many samples later in its memory than the one before (cuda). -f: the file
 * whose bytes, over and over, scaled to the range, are the input "bytes". -w: of a bin, 1. A METHOD
 * may carry its settings: partitioned:columns=16,loads=2.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/device.h"
#include "micro_read.h"
#include "plan/plan.h"

typedef struct bench {
    const char *device_name, *inputs;
    tally_context *context;
    ty_device *device;
    void *queue, *fill;
    uint32_t dimensions;
    ty_memory samples[TALLY_MAX_DIMENSIONS], file;
    uint64_t file_bytes;
    uint64_t bytes, n, later;
    tally_dtype dtype;
    int repeats;
    double width, read_seconds;
    const char *list, *path; /* numbers of bins; a file of samples, or NULL */
} bench;

static void die(const char *what, const tally_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->message);
    exit(1);
}

/* Sample i of an input: bin number `b`, on an axis of `side` bins that has `tail` behind it, plus a
 * quarter, where the type has one so far out. */
static const char kernels[] =
    "#if defined(__OPENCL_VERSION__)\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "typedef ulong u64; typedef uint u32; typedef ushort u16; typedef uchar u8;\n"
    "#define GLOBAL __global\n"
    "#define ENTRY __kernel void\n"
    "#define LOCAL , __local u32 *unused\n" /* what every launch has behind its arguments */
    "#define ID get_global_id(0)\n"
    "#define SIZE get_global_size(0)\n"
    "#else\n"
    "typedef unsigned long long u64; typedef unsigned int u32;\n"
    "typedef unsigned short u16; typedef unsigned char u8;\n"
    "#define GLOBAL\n"
    "#define ENTRY extern \"C\" __global__ void\n"
    "#define LOCAL\n"
    "#define ID ((u64)blockIdx.x * blockDim.x + threadIdx.x)\n"
    "#define SIZE ((u64)gridDim.x * blockDim.x)\n"
    "#endif\n"
    "#if defined(__CUDACC__)\n"
    "__device__\n"
    "#endif\n"
    "static inline u64 mix(u64 z)\n"
    "{ z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull; z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;\n"
    "return z ^ (z >> 31); }\n"
    "ENTRY fill(GLOBAL SAMPLE *to, u64 n, u64 bins, u32 kind, u32 slice, u64 side,\n"
    "u64 tail, GLOBAL const unsigned char *bytes, u64 size LOCAL)\n"
    "{ for (u64 i = ID; i < n; i += SIZE) {\n"
    "u64 z = mix(i * 0x9E3779B97F4A7C15ull + 0x1234567ull), b = 0; u32 out = 0;\n"
    "double u = (double)(z >> 11) * 0x1p-53;\n"
    "if (kind == 0) b = bins / 3;\n"
    "if (kind == 1) b = (u64)(u * bins);\n"
    "if (kind == 2) { double s = 0; for (int k = 0; k < 12; k++)\n"
    "s += (double)(mix(z + k) >> 11) * 0x1p-53; s = (s - 6) / 12 + 0.5;\n"
    "b = (u64)(s * bins); }\n"
    "if (kind == 3) b = i % bins;\n"
    "if (kind == 4) b = i * 32 % bins;\n"
    "if (kind == 5) b = i * slice % bins;\n"
    "if (kind == 6) b = (u64)(0.5 * bins + 0.4 * bins * sin((double)(i >> 6) * 1e-5) +\n"
    "(double)(z & 63)) % bins;\n"
    "if (kind == 7) b = (u64)((double)i / n * bins);\n"
    "if (kind == 8) b = i & 1 ? bins / 7 : bins - 9;\n"
    "if (kind == 9) b = (u64)(u * u * u * u * u * u * u * u * bins);\n"
    "if (kind == 10) b = (z & 1023) < 921 ? bins / 5 : mix(z) % bins;\n"
    "if (kind == 11) b = z & 1 ? bins / 2 / slice * slice + (z >> 8 & 63) : mix(z) % bins;\n"
    "if (kind == 12) out = 1;\n"
    "if (kind == 13) b = (bins / 2 / slice * slice + (z >> 8) % slice) % bins;\n"
    "if (kind == 14) b = ((i & 31) * slice + (z >> 8) % slice) % bins;\n"
    "if (kind == 15) b = (bins / 2 / slice * slice + i * 32 % slice) % bins;\n"
    "if (kind == 16) b = bytes[i % size] * bins / 256;\n"
    "if (kind == 17) b = (mix(i >> 12) % bins) ^ (i & 1);\n"
    "if (kind == 18) b = mix((i >> 15) * 8 + (z & 7)) % bins;\n"
    "if (b >= bins) b = bins - 1;\n"
    "b = b / tail % side;\n"
    "double x = out ? -1.0 - (double)(z & 1) + (double)(z & 2) * bins : ((double)b + QUARTER) * "
    "WIDTH;\n"
    "to[i] = (SAMPLE)x; } }\n";

static const char *const inputs[] = {"equal",   "uniform",    "normal",      "ramp",
                                     "ramp-32", "ramp-slice", "walk",        "sorted",
                                     "two",     "power-8",    "nine-in-ten", "hot-in-slice",
                                     "outside", "one-slice",  "period-32",   "one-slice-32",
                                     "bytes",   "pairs",      "eights"};
enum { input_count = sizeof inputs / sizeof *inputs };

static void build(bench *b)
{
    tally_error error = {""};
    int cached;
    static const char *const types[] = {[TALLY_U8] = "u8",
                                        [TALLY_U16] = "u16",
                                        [TALLY_I32] = "int",
                                        [TALLY_F32] = "float",
                                        [TALLY_F64] = "double"};
    char options[128];
    snprintf(options, sizeof options, "-DSAMPLE=%s -DQUARTER=%s -DWIDTH=%.17g", types[b->dtype],
             b->dtype < TALLY_F32 ? "0" : "0.25", b->width);
    if (b->device->ops->build(b->device, kernels, options, &b->fill, &cached, &error))
        die("kernels", &error);
}

static uint64_t all_bins(const bench *b, uint64_t side)
{
    uint64_t bins = 1;
    for (uint32_t d = 0; d < b->dimensions; d++)
        bins *= side;
    return bins;
}

/* The first sample of column d. */
static ty_memory column(const bench *b, uint32_t d)
{
    return b->samples[d] + d * b->later * tally_dtype_bytes(b->dtype);
}

static void fill(bench *b, int kind, uint64_t side)
{
    tally_error error = {""};
    uint64_t tail = 1, bins = all_bins(b, side);
    for (uint32_t d = b->dimensions; d--; tail *= side) {
        ty_arg args[] = {ty_arg_memory(column(b, d)),
                         ty_arg_u64(b->n),
                         ty_arg_u64(bins),
                         ty_arg_u32((uint32_t)kind),
                         ty_arg_u32(8192),
                         ty_arg_u64(side),
                         ty_arg_u64(tail),
                         ty_arg_memory(b->file ? b->file : b->samples[0]),
                         ty_arg_u64(b->file ? b->file_bytes : 1)};
        ty_launch launch = {b->device->units * 8, 256, 0, args, 9, 0};
        if (b->device->ops->launch(b->device, b->queue, b->fill, "fill", &launch, &error) ||
            b->device->ops->wait(b->device, b->queue, &error))
            die("fill", &error);
    }
}

static void read_file(bench *b, const char *path)
{
    enum { most = 1 << 24 };
    tally_error error = {""};
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = malloc(most);
    b->file_bytes = file && bytes ? fread(bytes, 1, most, file) : 0;
    if (!b->file_bytes) {
        fprintf(stderr, "%s: nothing read\n", path);
        exit(1);
    }
    fclose(file);
    if (b->device->ops->alloc(b->device, b->file_bytes, &b->file, &error) ||
        b->device->ops->upload(b->device, b->queue, b->file, 0, bytes, b->file_bytes, &error) ||
        b->device->ops->wait(b->device, b->queue, &error))
        die(path, &error);
    free(bytes);
}

/* ---- one configuration ---- */

typedef struct config {
    char text[128]; /* "name:key=value,…", cut up */
    const char *method, *set;
    tally_setting settings[8];
    unsigned count;
} config;

static void parse(const char *word, config *c)
{
    char *rest = NULL;
    memset(c, 0, sizeof *c);
    snprintf(c->text, sizeof c->text, "%s", word);
    c->set = strchr(word, ':') ? strchr(word, ':') + 1 : "";
    c->method = strtok_r(c->text, ":", &rest);
    for (char *one; c->count < 8 && (one = strtok_r(NULL, ",", &rest));) {
        char *equals = strchr(one, '=');
        if (!equals)
            exit(2);
        *equals = '\0';
        c->settings[c->count++] = (tally_setting){one, equals + 1};
    }
}

static tally_plan *make_plan(bench *b, const config *c, uint64_t side)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = b->dimensions};
    tally_plan *plan = NULL;
    tally_error error = {""};
    for (uint32_t d = 0; d < b->dimensions; d++) {
        o.axes[d] = tally_axis_even(side, 0, (double)side * b->width);
        o.dtypes[d] = b->dtype;
    }
    o.method = c->method;
    o.settings = c->settings;
    o.settings_count = c->count;
    if (tally_plan_create(b->context, &o, &plan, &error))
        fprintf(stderr, "%s: %s\n", c->method, error.message);
    return plan;
}

/* One call's device seconds; its counts into `counts`. */
static double run(bench *b, const tally_plan *plan, uint64_t *counts, tally_flows *flows)
{
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    double seconds = 0;
    tally_view views[TALLY_MAX_DIMENSIONS];
    for (uint32_t d = 0; d < b->dimensions; d++) {
        views[d] = tally_view_1d((void *)(uintptr_t)column(b, d), b->dtype, b->n);
        views[d].device = b->device->ops->type;
    }
    out.counts = counts;
    out.flows = flows;
    e.device_seconds = &seconds;
    if (tally_execute(plan, views, &e, &out, &error))
        die("execute", &error);
    return seconds;
}

static void time_config(bench *b, const config *c, const tally_plan *plan, int input, uint64_t bins,
                        const uint64_t *want, const tally_flows *want_flows, uint64_t *counts)
{
    double seconds[32];
    tally_flows flows = {0};
    for (int i = -1; i < b->repeats; i++)
        seconds[i < 0 ? 0 : i] = run(b, plan, counts, &flows);
    int ok = !memcmp(counts, want, (size_t)bins * sizeof *counts) &&
             !memcmp(&flows, want_flows, sizeof flows);
    qsort(seconds, (size_t)b->repeats, sizeof *seconds, ascending);
    double median = seconds[b->repeats / 2], gbps = (double)b->bytes / median * 1e-9;
    printf("{\"device\":\"%s\",\"name\":\"%s\",\"method\":\"%s\",\"set\":\"%s\",\"dtype\":\"%s\","
           "\"n\":%llu,\"dimensions\":%u,\"bins\":%llu,\"data\":\"%s\",\"median_s\":%.9f,\"min_s\":"
           "%.9f,"
           "\"max_s\":%.9f,\"repeats\":%d,\"gbps\":%.2f,\"fraction_of_read\":%.4f,"
           "\"verified\":%s}\n",
           b->device_name, b->device->name, c->method, c->set, tally_dtype_name(b->dtype),
           (unsigned long long)b->n, b->dimensions, (unsigned long long)bins, inputs[input], median,
           seconds[0], seconds[b->repeats - 1], b->repeats, gbps, b->read_seconds / median,
           ok ? "true" : "false");
    fprintf(stderr, " %7.1f%s", gbps, ok ? "" : "!");
}

static int wanted(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
        if (strcspn(at, ",") == size && !strncmp(at, word, size))
            return 1;
    }
    return !list;
}

static void bench_bins(bench *b, uint64_t side, char **words, int count)
{
    config configs[16],
        global = {.method = b->dimensions > 1 ? "views" : "atomic-global", .set = ""};
    tally_plan *plans[16], *check = make_plan(b, &global, side);
    const uint64_t bins = all_bins(b, side);
    uint64_t *want = malloc(bins * 8), *counts = malloc(bins * 8);
    for (int c = 0; c < count; c++) {
        parse(words[c], &configs[c]);
        plans[c] = make_plan(b, &configs[c], side);
    }
    for (int kind = 0; kind < input_count; kind++) {
        tally_flows flows = {0};
        if (!wanted(b->inputs, inputs[kind]) || (!strcmp(inputs[kind], "bytes") && !b->file))
            continue;
        fill(b, kind, side);
        fprintf(stderr, "%9llu %-13s", (unsigned long long)bins, inputs[kind]);
        double seconds = run(b, check, want, &flows);
        fprintf(stderr, " %7.1f |", (double)b->bytes / seconds * 1e-9);
        for (int c = 0; c < count; c++) {
            if (plans[c])
                time_config(b, &configs[c], plans[c], kind, bins, want, &flows, counts);
        }
        fprintf(stderr, "\n");
        fflush(stdout);
    }
    for (int c = 0; c < count; c++)
        tally_plan_destroy(plans[c]);
    tally_plan_destroy(check);
    free(want);
    free(counts);
}

/* 0 for options that cannot be. */
static int parse_options(bench *b, int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "m:r:b:d:i:j:o:f:w:")) != -1) {
        switch (option) {
        case 'm':
            b->bytes = strtoull(optarg, NULL, 10) << 20;
            break;
        case 'r':
            b->repeats = atoi(optarg);
            break;
        case 'b':
            b->list = optarg;
            break;
        case 'd':
            b->dtype = !strcmp(optarg, "f64")   ? TALLY_F64
                       : !strcmp(optarg, "i32") ? TALLY_I32
                       : !strcmp(optarg, "u16") ? TALLY_U16
                       : !strcmp(optarg, "u8")  ? TALLY_U8
                                                : TALLY_F32;
            break;
        case 'o':
            b->later = strtoull(optarg, NULL, 10);
            break;
        case 'w':
            b->width = strtod(optarg, NULL);
            break;
        case 'f':
            b->path = optarg;
            break;
        case 'i':
            b->inputs = optarg;
            break;
        case 'j':
            b->dimensions = (uint32_t)atoi(optarg);
            break;
        default:
            return 0;
        }
    }
    if (b->repeats < 1 || b->repeats > 32 || argc - optind > 16 || b->later > 16 ||
        b->dimensions < 1 || b->dimensions > TALLY_MAX_DIMENSIONS)
        return 0;
    return 1;
}

static void bench_all(bench *b, char **methods, int count)
{
    tally_error error = {""};
    b->n = b->bytes / tally_dtype_bytes(b->dtype) / b->dimensions;
    b->bytes = b->n * tally_dtype_bytes(b->dtype) * b->dimensions;
    if (b->device->ops->queue_open(b->device, NULL, &b->queue, &error))
        die("device", &error);
    for (uint32_t d = 0; d < b->dimensions; d++) {
        if (b->device->ops->alloc(b->device, b->bytes / b->dimensions + 4096, &b->samples[d],
                                  &error))
            die("device", &error);
    }
    if (b->path)
        read_file(b, b->path);
    build(b);
    fill(b, 1, 1 << 10);
    b->read_seconds = b->dimensions * micro_read_seconds(b->device, b->queue, b->samples[0],
                                                         b->bytes / b->dimensions);
    fprintf(stderr, "%s: reading %.1f GB/s\n%23s %7s |", b->device->name,
            (double)b->bytes / b->read_seconds * 1e-9, "", "global");
    for (int i = 0; i < count; i++)
        fprintf(stderr, " %s", methods[i]);
    fprintf(stderr, "\n");
    const char *list = b->list;
    for (char *end; *list; list = *end ? end + 1 : end)
        bench_bins(b, strtoull(list, &end, 10), methods, count);
    for (uint32_t d = 0; d < b->dimensions; d++)
        b->device->ops->release(b->device, b->samples[d]);
    if (b->file)
        b->device->ops->release(b->device, b->file);
    b->device->ops->program_close(b->device, b->fill);
    b->device->ops->queue_close(b->device, b->queue);
}

int main(int argc, char **argv)
{
    bench b = {.dimensions = 1,
               .repeats = 7,
               .width = 1,
               .bytes = UINT64_C(2) << 30,
               .dtype = TALLY_F32,
               .list = "65536,110000,131072,262144,1048576,4194304,16777216"};
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    if (argc < 2)
        return 2;
    b.device_name = argv[1];
    options.device = strcmp(argv[1], "cuda") ? TALLY_DEVICE_OPENCL : TALLY_DEVICE_CUDA;
    argc--, argv++;
    if (!parse_options(&b, argc, argv))
        return 2;
    if (tally_context_create(&options, &b.context, &error))
        die(b.device_name, &error);
    b.device = b.context->state;
    bench_all(&b, argv + optind, argc - optind);
    tally_context_destroy(b.context);
    return 0;
}
