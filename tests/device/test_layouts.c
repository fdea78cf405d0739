/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `auto` counts layouts by: which method it takes for a plan and, in device memory, which of
 * its kernels counts a call, by the launches that are seen; every call against the reference.
 *
 *     test_layouts [opencl|cuda [SEED]]
 *
 * Oclgrind 21.10 says (--uninitialized) of lane-private-pixels' last loop that the counts it adds
 * to were never written, in the scenes with a mask. They were, a barrier before and by the same
 * work-item: it says so too where that loop stores nothing but zeros there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>
#include <time.h>

#include "gpu/device.h"
#include "gpu/call.h"
#include "draw.h"
#include "drivers.h"
#include "open_device.h"
#include "plan/cost.h"
#include "plan/plan.h"

enum { most = 1 << 14, room = most * 8 * 5, most_cells = 1 << 14 };

/* How the samples lie. */
typedef enum layout { packed, strided, region, narrow, thin } layout;

typedef struct scene {
    const char *what;
    tally_dtype dtypes[3]; /* as many as there are dimensions */
    tally_dtype weight;    /* or 0 */
    uint64_t bins;         /* of an axis */
    uint64_t channels, channel_mask, batches;
    int masked;
    layout layout, mask_layout;
    const char *method, *by; /* of the plan; of a call in device memory */
} scene;

static const char columns[] = "swizzled-columns", pixels[] = "lane-private-pixels",
                  lanes[] = "lane-private", in_rows[] = "swizzled-rows", views[] = "views";

static const scene scenes[] = {
    {"bytes", {TALLY_U8}, 0, 256, 1, 0, 1, 0, packed, packed, lanes, lanes},
    {"a mask", {TALLY_U8}, 0, 256, 1, 0, 1, 1, packed, packed, lanes, pixels},
    {"a mask, batches", {TALLY_U8}, 0, 256, 1, 0, 3, 1, packed, packed, lanes, pixels},
    {"a mask with gaps", {TALLY_U8}, 0, 256, 1, 0, 1, 1, packed, strided, lanes, views},
    {"every other byte", {TALLY_U8}, 0, 256, 1, 0, 1, 0, strided, packed, lanes, views},
    {"a region", {TALLY_U8}, 0, 256, 1, 0, 1, 0, region, packed, lanes, views},
    {"a region with a mask", {TALLY_U8}, 0, 256, 1, 0, 1, 1, region, region, lanes, in_rows},
    {"two channels", {TALLY_U8}, 0, 256, 2, 0, 1, 0, packed, packed, pixels, pixels},
    {"RGB", {TALLY_I8}, 0, 100, 3, 0, 1, 0, packed, packed, pixels, pixels},
    {"RGB images", {TALLY_I8}, 0, 100, 3, 0, 3, 0, packed, packed, pixels, views},
    {"R and B of RGBA", {TALLY_U8}, 0, 256, 4, 5, 1, 0, packed, packed, pixels, pixels},
    {"A of RGBA", {TALLY_U8}, 0, 256, 4, 8, 1, 0, packed, packed, pixels, pixels},
    {"RGB with a mask", {TALLY_I8}, 0, 100, 3, 0, 1, 1, packed, packed, pixels, views},
    {"RGB, a region", {TALLY_I8}, 0, 100, 3, 0, 1, 0, region, packed, pixels, views},
    {"five channels", {TALLY_U8}, 0, 256, 5, 0, 1, 0, packed, packed, views, views},
    {"u16 RGB", {TALLY_U16}, 0, 100, 3, 0, 1, 0, packed, packed, views, views},
    {"f32, a region", {TALLY_F32}, 0, 100, 1, 0, 1, 0, region, packed, lanes, in_rows},
    {"f32, batches", {TALLY_F32}, 0, 100, 1, 0, 3, 0, packed, packed, lanes, columns},
    {"byte batches", {TALLY_U8}, 0, 256, 1, 0, 3, 0, packed, packed, lanes, views},
    {"f32, narrow rows", {TALLY_F32}, 0, 100, 1, 0, 2, 0, narrow, packed, lanes, in_rows},
    {"f32, narrow rows, a mask", {TALLY_F32}, 0, 100, 1, 0, 1, 1, narrow, narrow, lanes, in_rows},
    {"f32, short rows", {TALLY_F32}, 0, 100, 1, 0, 1, 0, thin, packed, lanes, views},
    {"f32 with a mask, a region", {TALLY_F32}, 0, 100, 1, 0, 1, 1, region, region, lanes, in_rows},
    {"f32 × u8, a region",
     {TALLY_F32, TALLY_U8},
     0,
     30,
     1,
     0,
     1,
     0,
     region,
     packed,
     columns,
     in_rows},
    {"f32 with a mask", {TALLY_F32}, 0, 100, 1, 0, 1, 1, packed, packed, lanes, columns},
    {"every other f32", {TALLY_F32}, 0, 100, 1, 0, 1, 1, strided, packed, lanes, views},
    {"f32 × f32", {TALLY_F32, TALLY_F32}, 0, 30, 1, 0, 1, 0, packed, packed, columns, columns},
    {"f32 × f32, a mask",
     {TALLY_F32, TALLY_F32},
     0,
     30,
     1,
     0,
     2,
     1,
     packed,
     packed,
     columns,
     columns},
    {"f32 × f32, gaps", {TALLY_F32, TALLY_F32}, 0, 30, 1, 0, 1, 0, strided, packed, columns, views},
    {"u8 × f64 × u16",
     {TALLY_U8, TALLY_F64, TALLY_U16},
     0,
     9,
     1,
     0,
     1,
     0,
     packed,
     packed,
     columns,
     columns},
    {"f32 weights",
     {TALLY_F32},
     TALLY_F32,
     100,
     1,
     0,
     1,
     0,
     packed,
     packed,
     "weighted-packed",
     "weighted-packed"},
    {"f32 weights, gaps",
     {TALLY_F32},
     TALLY_F32,
     100,
     1,
     0,
     1,
     1,
     strided,
     packed,
     "weighted-packed",
     "weighted-packed"},
    {"f64 weights",
     {TALLY_F32},
     TALLY_F64,
     100,
     1,
     0,
     1,
     0,
     packed,
     packed,
     "weighted",
     "weighted"},
};
enum { scene_count = sizeof scenes / sizeof *scenes };

static tally_context *context;
static ty_tuning rates, *own_rates;
static ty_device_ops ops; /* the device's, with launches of our own */
typedef tally_status launcher(ty_device *, void *, void *, const char *, const ty_launch *,
                              tally_error *);
static launcher *launch;
static const void *seen; /* the program of the last launch that counted */
static uint64_t rows;    /* of a region */

static tally_status look(ty_device *device, void *queue, void *program, const char *kernel,
                         const ty_launch *how, tally_error *error)
{
    seen = strncmp(kernel, "count", 5) ? seen : program;
    return launch(device, queue, program, kernel, how, error);
}

/* ---- samples ---- */

typedef struct grid {
    unsigned char bytes[room];
    tally_view view;
    void *there;
} grid;

static grid samples[3], mask, weights;

static void put_value(unsigned char *to, tally_dtype dtype, int small)
{
    double value = small ? (double)below(5) : (double)below(1000) / 1000 * 1.1 - 0.05;
    float single = (float)value;
    uint64_t word = below(UINT64_C(1) << 56);
    const size_t size = tally_dtype_bytes(dtype);
    const void *from = dtype == TALLY_F32   ? (const void *)&single
                       : dtype == TALLY_F64 ? (const void *)&value
                                            : (const void *)&word;
    memcpy(to, from, size);
}

/* n samples of every batch, laid out and sent. Weights are small whole numbers, so that no sum
 * depends on its order. */
static int lay_out(grid *g, tally_dtype dtype, uint64_t n, uint64_t batches, uint64_t channels,
                   layout how, int small)
{
    const int64_t size = tally_dtype_bytes(dtype), pixel = size * (int64_t)channels;
    tally_error error;
    tally_view *v = &g->view;
    *v = tally_view_1d(g->bytes, dtype, n);
    v->channels = channels;
    v->channel_stride_bytes = size;
    v->column_stride_bytes = how == strided ? pixel * 2 : pixel;
    const uint64_t columns_there = how == region   ? n / rows
                                   : how == narrow ? 40
                                   : how == thin   ? 20
                                                   : n;
    v->rows = n / columns_there;
    v->columns = columns_there;
    v->row_stride_bytes = (int64_t)v->columns * pixel;
    v->row_stride_bytes += how == packed || how == strided ? 0 : pixel * (int64_t)(1 + below(9));
    v->batches = batches;
    v->batch_stride_bytes = (int64_t)v->rows * v->row_stride_bytes * (how == strided ? 2 : 1);
    const int64_t bytes = v->batch_stride_bytes * (int64_t)batches;
    for (int64_t at = 0; at < bytes; at += size)
        put_value(g->bytes + at, dtype, small);
    return !tally_memory_create(context, (uint64_t)bytes, &g->there, &error) &&
           !tally_memory_write(context, g->there, 0, g->bytes, (uint64_t)bytes, &error);
}

static int lay_out_all(const scene *s, uint64_t n)
{
    int ok = 1;
    for (int d = 0; d < 3 && s->dtypes[d]; d++)
        ok &= lay_out(&samples[d], s->dtypes[d], n, s->batches, s->channels, s->layout, 0);
    const uint64_t counted = samples[0].view.columns * samples[0].view.rows;
    ok = ok && lay_out(&mask, TALLY_U8, counted, s->batches, 1, s->mask_layout, 1);
    ok = ok && (!s->weight || lay_out(&weights, s->weight, counted, s->batches, 1, packed, 1));
    return ok;
}

static void give_back(void)
{
    grid *all[] = {&samples[0], &samples[1], &samples[2], &mask, &weights};
    for (int i = 0; i < 5; i++) {
        tally_memory_destroy(context, all[i]->there);
        all[i]->there = NULL;
    }
}

/* ---- calls ---- */

typedef struct answer {
    uint64_t counts[most_cells];
    tally_flows flows[16];
    tally_status status;
    tally_error error;
} answer;

static tally_view of(const grid *g, int on_device)
{
    tally_view v = g->view;
    v.data = on_device ? g->there : g->bytes;
    v.device = on_device ? context->device : TALLY_DEVICE_CPU;
    return v;
}

static void run(answer *a, const scene *s, const tally_plan *plan, int on_device)
{
    tally_view all[3], keep = of(&mask, on_device), heavy = of(&weights, on_device);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    memset(a, 0, sizeof *a);
    for (int d = 0; d < 3; d++)
        all[d] = of(&samples[d], on_device);
    e.mask = s->masked ? &keep : NULL;
    e.weights = s->weight ? &heavy : NULL;
    out.counts = a->counts;
    out.flows = a->flows;
    a->status =
        (on_device ? tally_execute : tally_execute_reference)(plan, all, &e, &out, &a->error);
}

/* The method whose program counted last. */
static const char *counted_by(const tally_plan *plan)
{
    const ty_gpu_plan *own = plan->state;
    if (seen == own->program->handle)
        return plan->method->name;
    for (int i = 0; i < TY_ROUTES; i++) {
        const tally_plan *other = own->routes[i].plan;
        if (other && seen == ((const ty_gpu_plan *)other->state)->program->handle)
            return other->method->name;
    }
    return "none";
}

static int try_call(const scene *s, const tally_plan *plan, uint64_t n)
{
    static answer got, want;
    rows = 2 + below(3);
    int ok = lay_out_all(s, n);
    if (ok) {
        seen = NULL;
        run(&got, s, plan, 1);
        run(&want, s, plan, 0);
        ok = got.status == TALLY_OK && want.status == TALLY_OK &&
             !memcmp(got.counts, want.counts, sizeof got.counts) &&
             !memcmp(got.flows, want.flows, sizeof got.flows) && !strcmp(counted_by(plan), s->by) &&
             (!strcmp(s->by, s->method) || strstr(tally_plan_describe(plan), s->by));
    }
    if (!ok)
        fprintf(stderr, "FAILED: %s, %llu samples: %s %s, counted by %s, not by %s (%s)\n", s->what,
                (unsigned long long)n, got.error.message, want.error.message, counted_by(plan),
                s->by, tally_plan_describe(plan));
    give_back();
    return ok;
}

static tally_plan_options options_of(const scene *s)
{
    tally_plan_options o = {.struct_size = sizeof o};
    for (; o.dimensions < 3 && s->dtypes[o.dimensions]; o.dimensions++) {
        const tally_dtype dtype = s->dtypes[o.dimensions];
        const double end = dtype == TALLY_U16 ? 65536 : dtype >= TALLY_F32 ? 1 : 256;
        o.dtypes[o.dimensions] = dtype;
        o.axes[o.dimensions] = tally_axis_even(s->bins, dtype == TALLY_I8 ? -100 : 0, end);
    }
    o.weight_dtype = s->weight;
    o.channels = s->channels;
    o.channel_mask = s->channel_mask;
    o.n_hint = UINT64_C(1) << 28;
    return o;
}

/* Methods that this device cannot run are not expected of it. */
static int can_run(const scene *s, const char *name)
{
    tally_plan_options o = options_of(s);
    tally_plan *plan = NULL;
    o.method = name;
    const tally_status status = ty_plan_resolve(context, &o, 0, &plan, NULL);
    tally_plan_destroy(plan);
    return !status;
}

static int try_scene(const scene *s)
{
    tally_plan_options o = options_of(s);
    tally_plan *plan = NULL;
    tally_error error = {""};
    int ok = !tally_plan_create(context, &o, &plan, &error) &&
             !strcmp(tally_plan_method(plan), s->method);
    if (!ok)
        fprintf(stderr, "FAILED: %s: %s, not %s\n", s->what,
                plan ? tally_plan_describe(plan) : error.message, s->method);
    ok = ok &&
         try_call(s, plan, (s->layout == packed || s->layout == strided ? 40 : 512) + below(60)) &&
         try_call(s, plan, most - below(2000));
    tally_plan_destroy(plan);
    return ok;
}

/* `swizzled` reads what `lane-private` does, and is the faster with few samples on some devices. */
static int is_choice(const char *got, const char *method)
{
    return !strcmp(got, method) || (method == lanes && !strcmp(got, "swizzled"));
}

/* A hundred samples as well as many, by the rates of either kind of device. */
static int same_choice(const scene *s, const char *arch, uint64_t n)
{
    tally_plan_options o = options_of(s);
    tally_plan *plan = NULL;
    o.n_hint = n;
    ty_tuning_default(arch, &rates);
    const int ok = !ty_plan_resolve(context, &o, 0, &plan, NULL) &&
                   is_choice(tally_plan_method(plan), s->method);
    if (!ok)
        fprintf(stderr, "FAILED: %s by the rates of %s for %llu samples: %s\n", s->what, arch,
                (unsigned long long)n, plan ? tally_plan_describe(plan) : "");
    tally_plan_destroy(plan);
    return ok;
}

static int open_seen(const char *name)
{
    if (!(context = open_device(name)))
        return 0;
    ty_device *device = context->state;
    ops = *device->ops;
    launch = ops.launch;
    ops.launch = look;
    device->ops = &ops;
    own_rates = context->tuning;
    context->tuning = &rates;
    return 1;
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL) * 1000003;
    int failed = 0, tried = 0;
    state = seed;
    printf("seed %llu\n", (unsigned long long)seed);
    if (!open_seen(argc > 1 ? argv[1] : "opencl"))
        return 77;
    for (int i = 0; i < scene_count; i++) {
        const scene *s = &scenes[i];
        if (!can_run(s, s->method) || !can_run(s, s->by))
            continue;
        tried++;
        failed += !same_choice(s, "opencl", 100) + !same_choice(s, "opencl", 1 << 30) +
                  !same_choice(s, "cuda", 100) + !same_choice(s, "cuda", 1 << 30);
        failed += !try_scene(s);
    }
    context->tuning = own_rates;
    tally_context_destroy(context);
    printf("%d of %d scenes, %d failed\n", tried, scene_count, failed);
    return failed || !tried;
}
