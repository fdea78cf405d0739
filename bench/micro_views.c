/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts on a device: channels, regions, batches, masks, joint tables, weights, and small inputs
 * called one after the other; samples and outputs in device memory. JSON lines on standard output,
 * a table on standard error. Counts are compared with the processor's.
 *
 *     micro_views cuda|opencl [-m MIB] [-k KIB] [-r REPEATS] [-o CASE] [-t THREADS] [-a AHEAD]
 *                 [-b 1]
 *
 * MIB or KIB: of a view. CASE: only those whose names begin so, or with one of A|B|C. -b: only the
 * cases that methods for packed columns count, by each of them beside `views`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/method.h"
#include "plan/registry.h"
#include "micro.h"

static tally_context *context, *host;
static ty_device *device;
static void *queue;
static size_t bytes = (size_t)1 << 30; /* of a view */
static int repeats = 9, beside;
static const char *name, *only;
static tally_setting settings[2]; /* of the methods views and weighted, asked for by name then */
static size_t settings_count;
static unsigned char *data, *more;
static ty_memory there, there_more, there_out;
enum { out_bytes = 64 << 20, drawn = 8 << 20 /* bytes of a view, which repeat */ };

static void send(ty_memory memory, const unsigned char *from)
{
    tally_error error;
    must(device->ops->upload(device, queue, memory, 0, from, bytes, &error), &error);
    must(device->ops->wait(device, queue, &error), &error);
}

/* ---- inputs ---- */

static void repeat(unsigned char *to)
{
    for (size_t i = drawn; i < bytes; i += drawn)
        memcpy(to + i, to, bytes - i < drawn ? bytes - i : drawn);
}

static void fill_bytes(const char *input)
{
    uint64_t *words = (uint64_t *)(void *)data;
    int value = 128;
    for (size_t i = 0; i < 1 << 20; i++)
        words[i] = !strcmp(input, "uniform") ? random_next() : 0x1111111111111111u;
    for (size_t i = 0; !strcmp(input, "walk") && i < drawn; i++)
        data[i] = (unsigned char)(value = (value + (int)(random_next() >> 32 & 7) - 3) & 255);
    repeat(data);
    send(there, data);
}

/* float32 or float64. */
static void fill_floats(const char *input, unsigned char *to, ty_memory memory, size_t size)
{
    for (size_t i = 0; i < drawn / size; i++) {
        double u = (double)(random_next() >> 11) * 0x1p-53;
        double x = !strcmp(input, "uniform")  ? u * 0.9999
                   : !strcmp(input, "skewed") ? u * u * u * u * 0.9999
                                              : 0.37;
        float f = (float)x;
        memcpy(to + i * size, size == 4 ? (void *)&f : (void *)&x, size);
    }
    repeat(to);
    send(memory, to);
}

static void fill_mask(void)
{
    for (size_t i = 0; i < bytes; i++)
        more[i] = (unsigned char)((i * 2654435761u) >> 13 & 1);
    send(there_more, more);
}

/* ---- one configuration ---- */

typedef struct setup {
    const char *what, *input;
    tally_plan_options plan;
    tally_view view; /* of every coordinate; data is set here */
    int masked, weighted;
    size_t read; /* bytes that are read */
} setup;

/* Whether there is no `only`, or one of its names, between bars, begins this one. */
static int wanted(const char *what)
{
    for (const char *at = only; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        if (!strncmp(what, at, strcspn(at, "|")))
            return 1;
    }
    return !only;
}

static void views_of(const setup *s, tally_view *views, int on_device)
{
    for (uint32_t d = 0; d < s->plan.dimensions; d++) {
        views[d] = s->view;
        views[d].data = on_device ? (void *)(uintptr_t)(d & 1 ? there_more : there)
                        : d & 1   ? more
                                  : data;
        views[d].device = on_device ? device->ops->type : 0;
    }
}

static tally_view extra_of(const setup *s, tally_dtype dtype, int on_device)
{
    tally_view v = tally_view_1d(on_device ? (void *)(uintptr_t)there_more : (void *)more, dtype,
                                 s->view.columns);
    v.rows = s->view.rows;
    v.batches = s->view.batches;
    v.device = on_device ? device->ops->type : 0;
    return v;
}

static tally_status run(const setup *s, const tally_plan *plan, int on_device, void *counts,
                        double *seconds, tally_error *error)
{
    tally_view views[TALLY_MAX_DIMENSIONS], mask = extra_of(s, TALLY_U8, on_device);
    tally_view weights =
        extra_of(s, s->plan.weight_dtype ? s->plan.weight_dtype : TALLY_U8, on_device);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    views_of(s, views, on_device);
    e.mask = s->masked ? &mask : NULL;
    e.weights = s->weighted ? &weights : NULL;
    e.device_seconds = on_device ? seconds : NULL;
    out.counts = counts;
    out.on_device = on_device;
    return tally_execute(plan, views, &e, &out, error);
}

/* The right counts, from the processor; free() them. */
static uint64_t *right_counts(const setup *s, size_t *cells)
{
    tally_plan_options o = s->plan;
    tally_plan *plan = NULL;
    tally_error error = {""};
    o.struct_size = sizeof o;
    must(tally_plan_create(host, &o, &plan, &error), &error);
    *cells = (size_t)(s->view.batches * tally_plan_bins(plan) * tally_plan_channels(plan));
    uint64_t *want = calloc(*cells, 8);
    must(run(s, plan, 0, want, NULL, &error), &error);
    tally_plan_destroy(plan);
    return want;
}

static int is_right(const setup *s, const uint64_t *want, size_t cells)
{
    tally_error error = {""};
    uint64_t *got = calloc(cells, 8);
    int same = 1;
    must(device->ops->download(device, queue, got, there_out, 0, cells * 8, &error), &error);
    must(device->ops->wait(device, queue, &error), &error);
    for (size_t i = 0; i < cells; i++) {
        double a, b;
        memcpy(&a, &got[i], 8);
        memcpy(&b, &want[i], 8);
        /* Sums in fixed point and in float64: relative to 1, what most bins hold at least. */
        same &= got[i] == want[i] || (s->weighted && fabs(a - b) < 1e-6 * fmax(fabs(b), 1));
    }
    free(got);
    return same;
}

static void say(const setup *s, const tally_plan *plan, double *seconds, int same)
{
    qsort(seconds, (size_t)repeats, sizeof *seconds, ascending);
    double median = seconds[repeats / 2];
    printf("{\"device\":\"%s\",\"name\":\"%s\",\"case\":\"%s\",\"data\":\"%s\",\"method\":\"%s\","
           "\"bins\":%llu,\"read_bytes\":%zu,\"median_s\":%.9f,\"min_s\":%.9f,\"max_s\":%.9f,"
           "\"repeats\":%d,\"gbps\":%.2f,\"verified\":%s}\n",
           name, device->name, s->what, s->input, tally_plan_method(plan),
           (unsigned long long)tally_plan_bins(plan), s->read, median, seconds[0],
           seconds[repeats - 1], repeats, (double)s->read / median * 1e-9, same ? "true" : "false");
    fprintf(stderr, "%-24s %-10s %-16s %8.1f GB/s %9.1f us%s\n", s->what, s->input,
            tally_plan_method(plan), (double)s->read / median * 1e-9, median * 1e6,
            same ? "" : "  WRONG");
}

/* By a method, or what settings or `auto` choose (beside others `views`, by which `auto` counts
 * layouts); *want is made when it is first needed. Returns whether the method counts such a case.
 */
static int time_method(const setup *s, const char *method, uint64_t **want, size_t *cells)
{
    tally_plan *plan = NULL;
    tally_error error = {""};
    tally_plan_options o = s->plan;
    double seconds[32] = {0};
    o.struct_size = sizeof o;
    o.settings = settings;
    o.settings_count = settings_count;
    if (method || beside || settings_count)
        o.method = method ? method : s->weighted ? "weighted" : "views";
    tally_status status = tally_plan_create(context, &o, &plan, &error);
    for (int i = -1; i < repeats && !status; i++)
        status = run(s, plan, 1, (void *)(uintptr_t)there_out, &seconds[i < 0 ? 0 : i], &error);
    if (status != TALLY_ERROR_UNSUPPORTED)
        must(status, &error);
    else if (!method)
        fprintf(stderr, "%-24s %-10s %s\n", s->what, s->input, error.message);
    if (!status) {
        *want = *want ? *want : right_counts(s, cells);
        say(s, plan, seconds, is_right(s, *want, *cells));
    }
    tally_plan_destroy(plan);
    return !status;
}

static void time_setup(const setup *s)
{
    uint64_t *want = NULL;
    size_t cells = 0;
    int others = 0;
    if (!wanted(s->what) || !s->read)
        return;
    for (int i = 0; beside && ty_methods[i]; i++) {
        const ty_method *m = ty_methods[i];
        if (m->devices & (TY_ON_OPENCL | TY_ON_CUDA) &&
            ((const ty_gpu_method *)m->backend)->reads > TY_READS_COLUMN &&
            ((const ty_gpu_method *)m->backend)->reads < TY_READS_ANY)
            others += time_method(s, m->name, &want, &cells);
    }
    if (others || !beside)
        time_method(s, NULL, &want, &cells);
    free(want);
}

/* ---- small inputs: calls on one stream, one behind the other ---- */

static void *own_stream(void)
{
    return *(void **)queue; /* both runtimes' queues begin with the native one */
}

static void time_small(const char *method, tally_dtype dtype, uint64_t bins, size_t size)
{
    enum { calls = 2000 };
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    tally_error error = {""};
    if (only && strcmp(only, "small") != 0)
        return;
    o.axes[0] = tally_axis_even(bins, 0, dtype == TALLY_U8 ? 256 : 1);
    o.dtypes[0] = dtype;
    o.method = method;
    o.n_hint = size / tally_dtype_bytes(dtype);
    must(tally_plan_create(context, &o, &plan, &error), &error);
    tally_view view = tally_view_1d((void *)(uintptr_t)there, dtype, o.n_hint);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    view.device = device->ops->type;
    out.counts = (void *)(uintptr_t)there_out;
    out.on_device = 1;
    e.stream = own_stream();
    double best = 1e9, issue = 1e9;
    for (int r = 0; r < 5; r++) {
        double begin = now();
        for (int i = 0; i < calls; i++)
            must(tally_execute(plan, &view, &e, &out, &error), &error);
        double issued = (now() - begin) / calls;
        must(device->ops->wait(device, queue, &error), &error);
        double each = (now() - begin) / calls;
        best = each < best ? each : best;
        issue = issued < issue ? issued : issue;
    }
    printf("{\"device\":\"%s\",\"name\":\"%s\",\"case\":\"back-to-back\",\"method\":\"%s\","
           "\"dtype\":\"%s\",\"bins\":%llu,\"read_bytes\":%zu,\"call_s\":%.9f,\"issue_s\":%.9f}\n",
           name, device->name, tally_plan_method(plan), tally_dtype_name(dtype),
           (unsigned long long)bins, size, best, issue);
    fprintf(stderr, "back-to-back %-14s %s %6llu bins %9zu bytes %8.2f us a call (%.2f to issue)\n",
            tally_plan_method(plan), tally_dtype_name(dtype), (unsigned long long)bins, size,
            best * 1e6, issue * 1e6);
    tally_plan_destroy(plan);
}

static tally_view make_view(tally_dtype dtype, uint64_t batches, uint64_t rows, uint64_t columns,
                            uint64_t channels)
{
    tally_view v = tally_view_1d(data, dtype, columns);
    v.batches = batches;
    v.rows = rows;
    v.channels = channels;
    return v;
}

static void time_bytes(const char *input)
{
    setup s = {.input = input, .plan = {.dimensions = 1}};
    s.plan.axes[0] = tally_axis_even(256, 0, 256);
    s.plan.dtypes[0] = TALLY_U8;
    fill_bytes(input);
    for (uint64_t channels = 1; channels <= 4; channels++) {
        static const char *const names[] = {"", "one channel", "two channels", "RGB", "RGBA"};
        s.what = names[channels];
        s.plan.channels = channels;
        s.view = make_view(TALLY_U8, 1, 1, bytes / channels, channels);
        s.read = bytes / channels * channels;
        time_setup(&s);
    }
    s.what = "RGB of RGBA";
    s.plan.channel_mask = 7;
    time_setup(&s);
    s.what = "A of RGBA";
    s.plan.channel_mask = 8;
    time_setup(&s);
    s.plan.channels = 1;
    s.plan.channel_mask = 0;
    s.what = "region";
    s.view = make_view(TALLY_U8, 1, bytes / 8192, 6001, 1);
    s.view.row_stride_bytes = 8192;
    s.read = bytes / 8192 * 6001;
    time_setup(&s);
    s.what = "10000 images";
    s.view = make_view(TALLY_U8, 10000, 256, 256, 1);
    s.read = (size_t)10000 << 16;
    if (s.read <= bytes)
        time_setup(&s);
    s.what = "3000 RGB images";
    s.plan.channels = 3;
    s.view = make_view(TALLY_U8, 3000, 256, 256, 3);
    s.read = (size_t)3000 * 3 << 16;
    if (s.read <= bytes)
        time_setup(&s);
    s.plan.channels = 1;
    s.what = "mask";
    s.masked = 1;
    s.view = make_view(TALLY_U8, 1, 1, bytes, 1);
    s.read = bytes * 2;
    time_setup(&s);
}

typedef struct table {
    const char *what;
    uint32_t dimensions;
    tally_dtype dtype;
    uint64_t side; /* bins of an axis */
} table;

/* Coordinates in turn from the two views there are. */
static void time_table(const char *input, const table *t)
{
    setup s = {.what = t->what, .input = input, .plan = {.dimensions = t->dimensions}};
    const size_t size = tally_dtype_bytes(t->dtype);
    const double end = t->dtype == TALLY_U8 ? 256 : t->dtype == TALLY_U16 ? 65536 : 1;
    s.view = make_view(t->dtype, 1, 1, bytes / size, 1);
    s.read = bytes * t->dimensions;
    for (uint32_t d = 0; d < t->dimensions; d++) {
        s.plan.dtypes[d] = t->dtype;
        s.plan.axes[d] = tally_axis_even(t->side, 0, end);
    }
    time_setup(&s);
}

static void time_tables(const char *input, tally_dtype dtype)
{
    static const table tables[] = {
        {"2-D 100x100", 2, TALLY_F32, 100},     {"2-D 200x200", 2, TALLY_F32, 200},
        {"2-D 237x237", 2, TALLY_F32, 237},     {"2-D 512x512", 2, TALLY_F32, 512},
        {"2-D 1024x1024", 2, TALLY_F32, 1024},  {"3-D 30x30x30", 3, TALLY_F32, 30},
        {"2-D f64 100x100", 2, TALLY_F64, 100}, {"2-D f64 200x200", 2, TALLY_F64, 200},
        {"2-D f64 512x512", 2, TALLY_F64, 512}, {"2-D f64 1024x1024", 2, TALLY_F64, 1024}};
    const size_t size = tally_dtype_bytes(dtype);
    fill_floats(input, data, there, size);
    fill_floats(input, more, there_more, size);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (tables[i].dtype == dtype)
            time_table(input, &tables[i]);
    }
}

/* Of integers: bytes as they come. */
static void time_integers(const char *input)
{
    static const table tables[] = {{"2-D u8 64x64", 2, TALLY_U8, 64},
                                   {"2-D u8 200x200", 2, TALLY_U8, 200},
                                   {"2-D u16 100x100", 2, TALLY_U16, 100},
                                   {"3-D u8 30x30x30", 3, TALLY_U8, 30}};
    fill_bytes(input);
    memcpy(more, data + bytes / 2, bytes - bytes / 2);
    memcpy(more + (bytes - bytes / 2), data, bytes / 2);
    send(there_more, more);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        time_table(input, &tables[i]);
}

static void time_mask(const char *what, const char *input, tally_dtype dtype, uint64_t bins)
{
    setup s = {.what = what, .input = input, .plan = {.dimensions = 1}, .masked = 1};
    const size_t size = tally_dtype_bytes(dtype);
    s.view = make_view(dtype, 1, 1, bytes / size, 1);
    s.plan.dtypes[0] = dtype;
    s.plan.axes[0] = tally_axis_even(bins, 0, dtype == TALLY_U16 ? 65536 : 1);
    s.read = bytes + bytes / size;
    time_setup(&s);
}

/* Rows of so many samples, with gaps between them or in images of 256 rows. */
static void time_rows(const char *what, const char *input, uint32_t dimensions, uint64_t columns,
                      uint64_t gap, int images)
{
    setup s = {.what = what, .input = input, .plan = {.dimensions = dimensions}};
    const uint64_t rows = bytes / 4 / (columns + gap);
    s.view = images ? make_view(TALLY_F32, rows / 256, 256, columns, 1)
                    : make_view(TALLY_F32, 1, rows, columns, 1);
    s.view.row_stride_bytes = (int64_t)(columns + gap) * 4;
    s.view.batch_stride_bytes = s.view.row_stride_bytes * 256;
    for (uint32_t d = 0; d < dimensions; d++) {
        s.plan.dtypes[d] = TALLY_F32;
        s.plan.axes[d] = tally_axis_even(100, 0, 1);
    }
    s.read = (size_t)(s.view.batches * s.view.rows * columns) * 4 * dimensions;
    time_setup(&s);
}

/* With a mask beside the samples, or weights. */
static void time_floats(const char *input)
{
    static const uint64_t bins[] = {64, 1024, 4096, 65536};
    static const char *const names[] = {"weights 64", "weights 1024", "weights 4096",
                                        "weights 65536"};
    setup s = {.input = input, .plan = {.dimensions = 1}, .weighted = 1};
    fill_mask();
    if (beside) {
        fill_floats(input, data, there, 8);
        time_mask("f64 mask", input, TALLY_F64, 1024);
        fill_bytes(input);
        time_mask("u16 mask", input, TALLY_U16, 1024);
    }
    fill_floats(input, data, there, 4);
    time_mask("f32 mask", input, TALLY_F32, 1024);
    time_mask("f32 mask 16384", input, TALLY_F32, 16384);
    time_mask("f32 mask 57000", input, TALLY_F32, 57000);
    fill_floats(input, more, there_more, 4);
    time_rows("f32 region of 20", input, 1, 20, 5, 0);
    time_rows("f32 region of 64", input, 1, 64, 3, 0);
    time_rows("f32 region of 128", input, 1, 128, 8, 0);
    time_rows("f32 region of 400", input, 1, 400, 7, 0);
    time_rows("f32 region of 1000", input, 1, 1000, 1, 0);
    time_rows("f32 region of 3840", input, 1, 3840, 256, 0);
    time_rows("f32 region of 100000", input, 1, 100000, 1, 0);
    time_rows("2-D region of 3840", input, 2, 3840, 256, 0);
    time_rows("f32 images of 256", input, 1, 256, 0, 1);
    time_rows("f32 images of 16", input, 1, 16, 0, 1);
    s.view = make_view(TALLY_F32, 1, 1, bytes / 4, 1);
    s.plan.dtypes[0] = s.plan.weight_dtype = TALLY_F32;
    s.read = bytes * 2;
    for (int i = 0; i < 4 && !beside; i++) {
        s.what = names[i];
        s.plan.axes[0] = tally_axis_even(bins[i], 0, 1);
        time_setup(&s);
    }
}

int main(int argc, char **argv)
{
    static const char *const inputs[] = {"uniform", "zeros", "walk"};
    static const char *const float_inputs[] = {"uniform", "equal", "skewed"};
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    name = argc > 1 ? argv[1] : "opencl";
    for (int i = 2; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "-m"))
            bytes = strtoull(argv[i + 1], NULL, 10) << 20;
        else if (!strcmp(argv[i], "-k"))
            bytes = strtoull(argv[i + 1], NULL, 10) << 10;
        else if (!strcmp(argv[i], "-r"))
            repeats = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "-o"))
            only = argv[i + 1];
        else if (!strcmp(argv[i], "-b"))
            beside = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "-t") || !strcmp(argv[i], "-a"))
            settings[settings_count++ & 1] =
                (tally_setting){argv[i][1] == 't' ? "threads" : "ahead", argv[i + 1]};
    }
    settings_count = settings_count < 2 ? settings_count : 2;
    repeats = repeats < 1 ? 1 : repeats > 31 ? 31 : repeats;
    const size_t room = bytes < drawn ? drawn : bytes;
    o.device = !strcmp(name, "cuda") ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    if (tally_context_create(&o, &context, &error)) {
        printf("{\"device\":\"%s\",\"skipped\":\"%s\"}\n", name, error.message);
        return 77;
    }
    o.device = TALLY_DEVICE_CPU;
    must(tally_context_create(&o, &host, &error), &error);
    device = context->state;
    data = malloc(room);
    more = malloc(room);
    if (!data || !more)
        return 1;
    must(device->ops->queue_open(device, NULL, &queue, &error), &error);
    must(device->ops->alloc(device, room, &there, &error), &error);
    must(device->ops->alloc(device, room, &there_more, &error), &error);
    must(device->ops->alloc(device, out_bytes, &there_out, &error), &error);
    fill_mask();
    for (int i = 0; i < 3; i++)
        time_bytes(inputs[i]);
    for (size_t size = 4 << 10; !beside && size <= bytes && size <= 64 << 20; size *= 4)
        time_small("lane-private", TALLY_U8, 256, size);
    for (int i = 0; i < 3; i++) {
        time_integers(inputs[i]);
        time_tables(float_inputs[i], TALLY_F32);
        time_tables(float_inputs[i], TALLY_F64);
        time_floats(float_inputs[i]);
    }
    device->ops->release(device, there);
    device->ops->release(device, there_more);
    device->ops->release(device, there_out);
    device->ops->queue_close(device, queue);
    free(data);
    free(more);
    tally_context_destroy(context);
    tally_context_destroy(host);
    return 0;
}
