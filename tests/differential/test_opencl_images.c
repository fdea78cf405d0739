/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of byte images in device memory against the reference: numbers of images, sizes, strides,
 * channels and alignments at random, by a few plans, each made once. Outputs on the host and in
 * device memory; the device's memory ends where the samples do.
 *
 *     test_opencl_images [SEED [SECONDS [opencl|cuda [METHOD]]]]
 *
 * SEED may be - for the clock's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/device.h"
#include "plan/plan.h"
#include "random_case.h"
#include "open_device.h"

static tally_context *context, *host;
static ty_device *device;
static void *queue;
static int on_cuda;

static void must(tally_status status, const tally_error *error)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- plans ---- */

static const struct {
    uint64_t channels, mask, bins;
    double lo, hi;
    tally_dtype dtype;
    tally_counter counter;
    tally_flow under, over;
} kinds[] = {
    {1, 0, 256, 0, 256, TALLY_U8, TALLY_COUNTER_U64, 0, 0},
    {1, 0, 300, 20, 200, TALLY_U8, TALLY_COUNTER_U32, TALLY_FLOW_CLAMP, 0},
    {1, 0, 7, -100, 60, TALLY_I8, TALLY_COUNTER_U16SAT, TALLY_FLOW_CLAMP, TALLY_FLOW_CLAMP},
    {2, 0, 256, 0, 256, TALLY_U8, TALLY_COUNTER_U32, 0, 0},
    {3, 0, 256, 0, 256, TALLY_U8, TALLY_COUNTER_U64, 0, 0},
    {3, 5, 1, 10, 30, TALLY_I8, TALLY_COUNTER_U8SAT, TALLY_FLOW_CLAMP, TALLY_FLOW_CLAMP},
    {4, 0, 64, 0, 256, TALLY_U8, TALLY_COUNTER_U64, 0, 0},
    {4, 10, 256, -128, 128, TALLY_I8, TALLY_COUNTER_U32, 0, 0},
};
enum { kind_count = sizeof kinds / sizeof *kinds };

static tally_plan *make_plan(tally_context *where, unsigned kind, const char *method)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    tally_error error = {""};
    o.axes[0] = tally_axis_even(kinds[kind].bins, kinds[kind].lo, kinds[kind].hi);
    o.axes[0].under = kinds[kind].under;
    o.axes[0].over = kinds[kind].over;
    o.dtypes[0] = kinds[kind].dtype;
    o.channels = kinds[kind].channels;
    o.channel_mask = kinds[kind].mask;
    o.counter = kinds[kind].counter;
    o.method = method;
    must(tally_plan_create(where, &o, &plan, &error), &error);
    return plan;
}

/* ---- views ---- */

/* A batch's samples are bytes low … high of it; all batches' together, low … high of the view. */
static void span(const tally_view *v, int64_t *low, int64_t *high)
{
    const int64_t rows = (int64_t)(v->rows - 1) * v->row_stride_bytes;
    const int64_t batches = (int64_t)(v->batches - 1) * v->batch_stride_bytes;
    *low = (rows < 0 ? rows : 0) + (batches < 0 ? batches : 0);
    *high =
        (rows > 0 ? rows : 0) + (batches > 0 ? batches : 0) + (int64_t)(v->columns * v->channels);
}

static tally_view random_view(rng *r, unsigned kind)
{
    static const uint64_t most[] = {4, 40, 200, 900};
    tally_view v = TALLY_VIEW_INIT;
    v.dtype = kinds[kind].dtype;
    v.channels = kinds[kind].channels;
    v.rows = 1 + rng_below(r, most[rng_below(r, 4)]);
    v.columns = 1 + rng_below(r, most[rng_below(r, 4)]);
    v.batches = 1 + rng_below(r, rng_below(r, 3) ? 20 : 3);
    /* So many that a GPU's groups go from image to image. */
    const int many = on_cuda && rng_below(r, 32) == 0;
    if (many) {
        v.rows = 100 + rng_below(r, 100);
        v.columns = 165 + rng_below(r, 90);
        v.batches = 1060 + rng_below(r, 200);
    }
    const int64_t length = (int64_t)(v.columns * v.channels), gap = (int64_t)rng_below(r, 40);
    v.column_stride_bytes = (int64_t)v.channels;
    v.channel_stride_bytes = 1;
    v.row_stride_bytes = length + (!many && rng_below(r, 2) ? gap : 0);
    if (!many && rng_below(r, 8) == 0)
        v.row_stride_bytes = 1 + (int64_t)rng_below(r, 20); /* rows that overlap */
    if (on_cuda && !many && rng_below(r, 4) == 0)
        v.row_stride_bytes = -v.row_stride_bytes;
    const int64_t rows = v.row_stride_bytes * (int64_t)v.rows;
    v.batch_stride_bytes = (rows < 0 ? -rows : rows) + length + (int64_t)rng_below(r, 40);
    if (rng_below(r, 2) && v.row_stride_bytes == length)
        v.batch_stride_bytes = rows;
    return v;
}

/* ---- cases ---- */

typedef struct blocks {
    void *counts, *flows;
    size_t counts_bytes, flows_bytes;
} blocks;

static blocks make_blocks(const tally_view *v, const tally_plan *plan, unsigned kind)
{
    static const size_t sizes[] = {8, 4, 2, 1};
    const size_t histograms = (size_t)(v->batches * tally_plan_channels(plan));
    blocks b = {.counts_bytes =
                    histograms * (size_t)tally_plan_bins(plan) * sizes[kinds[kind].counter],
                .flows_bytes = histograms * sizeof(tally_flows)};
    b.counts = calloc(1, b.counts_bytes);
    b.flows = calloc(1, b.flows_bytes);
    if (!b.counts || !b.flows)
        exit(1);
    memset(b.counts, 1, b.counts_bytes);
    return b;
}

static void free_blocks(blocks *b)
{
    free(b->counts);
    free(b->flows);
}

static void *put(const void *from, size_t bytes, size_t skip)
{
    tally_error error;
    void *memory = NULL;
    must(tally_memory_create(context, bytes + skip, &memory, &error), &error);
    must(tally_memory_write(context, memory, skip, from, bytes, &error), &error);
    return memory;
}

static void get(void *memory, void *to, size_t bytes)
{
    tally_error error;
    must(device->ops->download(device, queue, to, (ty_memory)(uintptr_t)memory, 0, bytes, &error),
         &error);
    must(device->ops->wait(device, queue, &error), &error);
    tally_memory_destroy(context, memory);
}

static void run(const tally_plan *plan, const tally_view *v, blocks *b, int accumulate, int there)
{
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    out.accumulate = accumulate;
    out.on_device = there;
    out.counts = there ? put(b->counts, b->counts_bytes, 0) : b->counts;
    out.flows = there ? put(b->flows, b->flows_bytes, 0) : b->flows;
    must(v->device ? tally_execute(plan, v, &options, &out, &error)
                   : tally_execute_reference(plan, v, &options, &out, &error),
         &error);
    if (!there)
        return;
    get(out.counts, b->counts, b->counts_bytes);
    get(out.flows, b->flows, b->flows_bytes);
}

static int run_case(uint64_t seed, unsigned kind, const tally_plan *plan, const tally_plan *right)
{
    rng r = {.state = seed};
    tally_view v = random_view(&r, kind);
    const int accumulate = (int)rng_below(&r, 2), narrow = (int)rng_below(&r, 2);
    const size_t skip = on_cuda ? rng_below(&r, 16) : 0;
    int64_t low, high;
    int ok = 1;
    span(&v, &low, &high);
    const size_t bytes = (size_t)(high - low);
    unsigned char *data = malloc(bytes);
    for (size_t i = 0; data && i < bytes; i++)
        data[i] = narrow ? 64 : (unsigned char)rng_next(&r);
    void *memory = put(data, bytes, skip);
    blocks want = make_blocks(&v, plan, kind);
    v.data = data - low;
    run(right, &v, &want, accumulate, 0);
    v.data = on_cuda ? (unsigned char *)memory + skip - low : memory;
    v.device = on_cuda ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    for (int there = 0; there < 2 && ok; there++) {
        blocks got = make_blocks(&v, plan, kind);
        run(plan, &v, &got, accumulate, there);
        ok = !memcmp(got.counts, want.counts, want.counts_bytes) &&
             !memcmp(got.flows, want.flows, want.flows_bytes);
        if (!ok)
            fprintf(stderr,
                    "FAILED seed %llu, kind %u: %llu images of %llu rows of %llu x %llu bytes, "
                    "strides %lld and %lld, accumulate %d, output %s\n",
                    (unsigned long long)seed, kind, (unsigned long long)v.batches,
                    (unsigned long long)v.rows, (unsigned long long)v.columns,
                    (unsigned long long)v.channels, (long long)v.batch_stride_bytes,
                    (long long)v.row_stride_bytes, accumulate, there ? "there" : "here");
        free_blocks(&got);
    }
    free_blocks(&want);
    tally_memory_destroy(context, memory);
    free(data);
    return ok;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 && strcmp(argv[1], "-") ? strtoull(argv[1], NULL, 10)
                                                     : (uint64_t)time(NULL) * 1000003;
    const double seconds = argc > 2 ? strtod(argv[2], NULL) : 4;
    const char *name = argc > 3 ? argv[3] : "opencl", *method = argc > 4 ? argv[4] : "views";
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    uint64_t tried = 0, failed = 0;
    on_cuda = !strcmp(name, "cuda");
    printf("%s, %s, seed %llu\n", name, method, (unsigned long long)seed);
    fflush(stdout);
    if (!(context = open_device(name)))
        return 77;
    device = context->state;
    must(device->ops->queue_open(device, NULL, &queue, &error), &error);
    o.device = TALLY_DEVICE_CPU;
    must(tally_context_create(&o, &host, &error), &error);
    /* The kinds from a random one on, as many as the seconds allow: compiling takes most of them.
     */
    const double start = now();
    for (unsigned k = 0; k < kind_count && failed < 5 && (!k || now() - start < seconds); k++) {
        const unsigned kind = (unsigned)((seed + k) % kind_count);
        tally_plan *plan = make_plan(context, kind, method), *right = make_plan(host, kind, NULL);
        const double begin = now();
        while (failed < 5 && now() - begin < seconds / kind_count)
            failed += !run_case(seed + tried++, kind, plan, right);
        tally_plan_destroy(plan);
        tally_plan_destroy(right);
    }
    device->ops->queue_close(device, queue);
    tally_context_destroy(context);
    tally_context_destroy(host);
    printf("%llu cases, %llu failed\n", (unsigned long long)tried, (unsigned long long)failed);
    return failed || !tried;
}
