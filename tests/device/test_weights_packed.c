/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The method weighted-packed: the same bits as by `weighted` (test_weights says that those are
 * right), flows as the reference's, on random lengths, alignments, axes and weights; by its own
 * kernel whenever samples and weights are packed.
 *
 *     test_weights_packed [opencl|cuda [SEED [SECONDS]]]
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>
#include <time.h>

#include "gpu/device.h"
#include "draw.h"
#include "drivers.h"
#include "open_device.h"
#include "plan/plan.h"

enum { most = 1 << 21, most_bins = 5000, most_batches = 4, most_cells = most_bins * most_batches };

static tally_context *context;
static ty_device_ops ops; /* the device's, with a launch and an allocation of our own */
static tally_status (*launch)(ty_device *, void *, void *, const char *, const ty_launch *,
                              tally_error *);
static tally_status (*alloc)(ty_device *, size_t, ty_memory *, tally_error *);
static void *queue;
static unsigned fast, general;
static unsigned char samples[most * 4], weights[most * 4];

/* Device memory in which nothing is zero: what is read must have been written. */
static tally_status poison(ty_device *device, size_t bytes, ty_memory *memory, tally_error *error)
{
    void *block = malloc(bytes);
    tally_status status = block ? alloc(device, bytes, memory, error) : TALLY_ERROR_MEMORY;
    if (!status)
        status = ops.upload(device, queue, *memory, 0, memset(block, 0xa5, bytes), bytes, error);
    if (!status)
        status = ops.wait(device, queue, error);
    free(block);
    return status;
}

static tally_status look(ty_device *device, void *queue, void *program, const char *kernel,
                         const ty_launch *how, tally_error *error)
{
    fast += !strcmp(kernel, "count_packed");
    general += !strcmp(kernel, "count");
    return launch(device, queue, program, kernel, how, error);
}

/* ---- cases ---- */

typedef struct trial {
    uint64_t n, batches;
    tally_axis axis;
    tally_view view, heavy;
    int packed, weight_kind, sample_kind;
    double edges[most_bins + 1];
} trial;

/* Even axes that float32 decides, others that it does not (docs/KERNELS.md), and
 * uneven ones. */
static tally_axis make_axis(double *edges)
{
    static const struct {
        uint64_t bins;
        double lo, hi;
    } axes[] = {{1, 0, 1},     {2, -1, 1},      {64, 0, 1},    {256, -5, 5},     {364, 0, 1},
                {840, 0, 1},   {1000, -5, 5},   {1700, 0, 17}, {3000, -5, 5},    {4096, 0, 1},
                {4096, -5, 5}, {5000, 1e-3, 7}, {17, -3, 1e5}, {100, 1e30, 2e30}};
    static const uint64_t counts[] = {1, 3, 300, 5000};
    const size_t which = below(sizeof axes / sizeof *axes + 3);
    if (which < sizeof axes / sizeof *axes) {
        tally_axis a = tally_axis_even(axes[which].bins, axes[which].lo, axes[which].hi);
        a.last = below(2) ? TALLY_LAST_OPEN : TALLY_LAST_CLOSED;
        return a;
    }
    const uint64_t bins = counts[below(4)];
    edges[0] = -2;
    for (uint64_t i = 1; i <= bins; i++)
        edges[i] = edges[i - 1] + unit() + 1e-6;
    return tally_axis_edges(bins, edges);
}

static float draw_sample(const trial *t, uint64_t i, double lo, double hi)
{
    const double width = hi - lo;
    switch (t->sample_kind) {
    case 0:
        return (float)(lo + width * 0.37);
    case 1:
        return (float)(lo + width * (double)i / (double)t->n);
    case 2: /* edges of even axes and beside them */
        return (float)(lo + width * (double)below(t->axis.bins + 1) / (double)t->axis.bins);
    case 3: /* all outside */
        return i % 3 == 0 ? NAN : (float)(i % 3 == 1 ? hi + 1 + fabs(hi) : lo - 1 - fabs(lo));
    case 4: /* lanes that meet */
        return (float)(lo + width * (double)(i / 4 % 4) / 4);
    default:
        return below(200) ? (float)(lo + width * (unit() * 1.2 - 0.1))
               : below(2) ? NAN
                          : (float)(below(2) ? INFINITY : -INFINITY);
    }
}

static float draw_weight(int kind, uint64_t i, uint64_t large)
{
    static const float special[] = {INFINITY, -INFINITY, NAN, -NAN, -0.0f, FLT_MAX, -FLT_MAX};
    switch (kind) {
    case 0:
        return (float)unit();
    case 1:
        return (float)ldexp(unit() - 0.5, (int)below(60) - 30);
    case 2:
        return (float)((double)below(1 << 23) * 0x1p-149); /* subnormal */
    case 3:
        return i != large ? 1.0f : large % 2 ? 0x1p40f : FLT_MAX; /* what the probe may miss */
    case 4:
        return below(50) ? (float)(unit() - 0.7) : special[below(7)];
    case 5:
        return (float)((double)below(100) - 30);
    case 6:
        return i % 7 ? -FLT_MAX : FLT_MAX;
    default:
        return below(3) ? special[below(4)] : 0.75f;
    }
}

/* Batches of n from byte `from` on, gaps between them; now and then not aligned as words. */
static tally_view lay_out(const trial *t, unsigned char *data, int *packed)
{
    const uint64_t gap = below(12) ? 4 * below(5) : below(16);
    tally_view v = tally_view_1d(data, TALLY_F32, t->n);
    v.batches = t->batches;
    v.batch_stride_bytes = (int64_t)(t->n * 4 + gap);
    *packed &= gap % 4 == 0 || t->batches == 1;
    if (t->batches == 1)
        v.batch_stride_bytes = 0;
    return v;
}

static void make_trial(trial *t, int large)
{
    static const uint64_t edges[] = {1, 2, 3, 4, 5, 15, 16, 17, 1023, 1024, 1025, 2047, 2048, 2049};
    t->batches = large || below(2) ? 1 : 1 + below(most_batches);
    t->n = large      ? (1 << 20) + below(most - (1 << 20))
           : below(3) ? 1 + below(below(4) ? 20000 : 200000)
                      : edges[below(sizeof edges / sizeof *edges)];
    t->axis = make_axis(t->edges);
    t->axis.under = below(2) ? TALLY_FLOW_CLAMP : TALLY_FLOW_COUNT;
    t->axis.over = below(2) ? TALLY_FLOW_CLAMP : TALLY_FLOW_COUNT;
    t->packed = 1;
    t->sample_kind = (int)below(8);
    t->weight_kind = (int)below(large ? 6 : 8);
    t->view = lay_out(t, samples, &t->packed);
    t->heavy = lay_out(t, weights, &t->packed);
    const double lo = t->axis.kind == TALLY_AXIS_EDGES ? t->edges[0] : t->axis.lo;
    const double hi = t->axis.kind == TALLY_AXIS_EDGES ? t->edges[t->axis.bins] : t->axis.hi;
    for (uint64_t b = 0; b < t->batches; b++) {
        const uint64_t odd = below(t->n);
        for (uint64_t i = 0; i < t->n; i++) {
            const float x = draw_sample(t, i, lo, hi), w = draw_weight(t->weight_kind, i, odd);
            memcpy(samples + b * (uint64_t)t->view.batch_stride_bytes + i * 4, &x, 4);
            memcpy(weights + b * (uint64_t)t->heavy.batch_stride_bytes + i * 4, &w, 4);
        }
    }
}

/* ---- running ---- */

typedef struct sums {
    union {
        double sum[most_cells];
        uint64_t bits[most_cells];
    };
    tally_flows flows[most_batches];
    tally_status status;
    tally_error error;
} sums;

static sums ours, theirs, reference;

static tally_plan *make_plan(const trial *t, const char *method, tally_error *error)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    o.axes[0] = t->axis;
    o.dtypes[0] = TALLY_F32;
    o.weight_dtype = TALLY_F32;
    o.method = method;
    return tally_plan_create(context, &o, &plan, error) ? NULL : plan;
}

/* NULL views' memory: samples of the host. */
static void run(sums *s, const tally_plan *plan, const trial *t, void *const there[2],
                int by_reference)
{
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_view view = t->view, heavy = t->heavy;
    memset(s, 0, sizeof *s);
    if (there[0]) {
        view.data = there[0];
        heavy.data = there[1];
        view.device = heavy.device = context->device;
    }
    e.weights = &heavy;
    out.counts = s->sum;
    out.flows = s->flows;
    s->status =
        (by_reference ? tally_execute_reference : tally_execute)(plan, &view, &e, &out, &s->error);
}

static int same(const sums *a, const sums *b, size_t cells)
{
    return a->status == b->status && !memcmp(a->bits, b->bits, cells * sizeof *a->bits) &&
           !memcmp(a->flows, b->flows, sizeof a->flows);
}

/* Infinities and NaN where the reference has them, else what it has within what its own float64
 * additions and the fixed point may be off. */
static int alike(const sums *got, const sums *want, const trial *t, size_t cells)
{
    double largest = 0;
    for (uint64_t i = 0; i < t->n * t->batches; i++) {
        float w;
        memcpy(&w, weights + i / t->n * (uint64_t)t->heavy.batch_stride_bytes + i % t->n * 4, 4);
        largest = isfinite(w) && fabs((double)w) > largest ? fabs((double)w) : largest;
    }
    const double n = (double)t->n, bound = n * n * largest * (0x1p-52 + 0x1p-57);
    int ok = got->status == want->status && !memcmp(got->flows, want->flows, sizeof got->flows);
    for (size_t i = 0; i < cells && ok; i++) {
        const double a = got->sum[i], b = want->sum[i];
        ok = isnan(b) ? isnan(a) : isinf(b) ? a == b : fabs(a - b) <= bound;
    }
    return ok;
}

static int put(void *there[2], const trial *t)
{
    const unsigned char *from[2] = {samples, weights};
    const tally_view *views[2] = {&t->view, &t->heavy};
    tally_error error;
    for (int i = 0; i < 2; i++) {
        const uint64_t bytes = t->n * 4 + (t->batches - 1) * (uint64_t)views[i]->batch_stride_bytes;
        if (tally_memory_create(context, bytes, &there[i], &error) ||
            tally_memory_write(context, there[i], 0, from[i], bytes, &error))
            return 0;
    }
    return 1;
}

static int compare(const trial *t, const tally_plan *mine, const tally_plan *other,
                   void *const there[2])
{
    const size_t cells = (size_t)(tally_plan_bins(mine) * t->batches);
    const unsigned before = fast, before_general = general;
    void *const host[2] = {NULL, NULL};
    run(&ours, mine, t, there, 0);
    const int by_own = fast > before && general == before_general;
    run(&theirs, other, t, there, 0);
    run(&reference, other, t, host, 1);
    int ok = by_own == (t->packed || !there[0]) && same(&ours, &theirs, cells) &&
             alike(&ours, &reference, t, cells);
    if (!ok)
        fprintf(stderr, "%s, by %s kernel: %s\n", there[0] ? "device" : "host",
                by_own ? "its own" : "the general", ours.error.message);
    return ok;
}

static int try_one(int large, unsigned kinds[3])
{
    static trial t;
    void *there[2] = {NULL, NULL}, *const host[2] = {NULL, NULL};
    tally_error error = {""};
    make_trial(&t, large);
    tally_plan *mine = make_plan(&t, "weighted-packed", &error),
               *other = make_plan(&t, "weighted", &error);
    int ok = mine && other && put(there, &t);
    if (ok) {
        tally_kernel_info info = {.struct_size = sizeof info};
        ok = !tally_plan_kernel(mine, t.n, &info, &error) && info.group_size && info.local_bytes;
        kinds[mine->axes[0].proof ? 2 : mine->axes[0].even]++;
        ok = ok && compare(&t, mine, other, there);
        ok = ok && (large || compare(&t, mine, other, host));
    }
    if (!ok)
        fprintf(stderr, "FAILED: %llu batches of %llu, %llu bins, samples %d, weights %d: %s\n",
                (unsigned long long)t.batches, (unsigned long long)t.n,
                (unsigned long long)t.axis.bins, t.sample_kind, t.weight_kind, error.message);
    tally_memory_destroy(context, there[0]);
    tally_memory_destroy(context, there[1]);
    tally_plan_destroy(mine);
    tally_plan_destroy(other);
    return ok;
}

/* ---- what it does not sum ---- */

static int refuses(tally_dtype dtype, tally_dtype weight, int squares, uint64_t bins,
                   const char *words)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    tally_error error = {""};
    o.axes[0] = tally_axis_even(bins, 0, 1);
    o.dtypes[0] = dtype;
    o.weight_dtype = weight;
    o.sum_squares = squares;
    o.method = "weighted-packed";
    int ok = tally_plan_create(context, &o, &plan, &error) == TALLY_ERROR_UNSUPPORTED &&
             strstr(error.message, words);
    if (!ok)
        fprintf(stderr, "FAILED: refused for \"%s\": %s\n", words, error.message);
    tally_plan_destroy(plan);
    return ok;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    tally_error error = {""};
    const char *name = argc > 1 ? argv[1] : "opencl";
    const double seconds = argc > 3 ? strtod(argv[3], NULL) : 4;
    unsigned failed = 0, tried = 0, kinds[3] = {0, 0, 0};
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL) * 1000003;
    printf("%s, seed %llu\n", name, (unsigned long long)state);
    fflush(stdout);
    if (!(context = open_device(name)))
        return 77;
    ty_device *device = context->state;
    ops = *device->ops;
    launch = ops.launch;
    alloc = ops.alloc;
    ops.launch = look;
    ops.alloc = poison;
    device->ops = &ops;
    if (ops.queue_open(device, NULL, &queue, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    failed += !refuses(TALLY_U8, TALLY_F32, 0, 16, "counts f32, not u8");
    failed += !refuses(TALLY_F32, TALLY_F64, 0, 16, "weights of f32");
    failed += !refuses(TALLY_F32, TALLY_F32, 1, 16, "squares");
    failed += !refuses(TALLY_F32, (tally_dtype)0, 0, 16, "weights of f32");
    failed += !refuses(TALLY_F32, TALLY_F32, 0, 1 << 28, "bins at most");
    for (double begin = now(); failed < 5 && (tried < 30 || now() - begin < seconds); tried++)
        failed += !try_one(tried % 16 == 3, kinds);
    ops.queue_close(device, queue);
    tally_context_destroy(context);
    printf("%u cases, %u launches, axes of edges %u, by float64 %u, by float32 %u; %u failed\n",
           tried, fast, kinds[0], kinds[1], kinds[2], failed);
    return failed || !fast || !general || !kinds[0] || !kinds[1] || !kinds[2];
}
