/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outputs in device memory: every counter and policy against the reference, on our queue and on a
 * caller's, which the call does not wait for; under CUDA recorded in a graph and replayed.
 *
 *     test_output [opencl|cuda]
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/quantile.h>
#include <unistd.h>

#include "check.h"
#include "drivers.h"
#include "core/alloc.h"
#include "gpu/device.h"
#include "gpu/opencl_api.h"
#include "plan/plan.h"

enum { most = 20011, most_bins = 1000 };

static int cuda;
static tally_context *context;
static ty_device *device;
static void *stream, *ours; /* the caller's, and a queue for this test's own copies */
static void *beside;        /* another of the caller's */
static int fence;           /* groups may deliver together (finish.h), whatever the device says */
static ty_memory samples;
static union {
    unsigned char u8[most];
    float f32[most];
} data;

/* ---- a driver's own stream, and how to keep it from running ---- */

static atomic_int gate;

static void *symbol(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen(cuda ? "libcuda.so.1" : "libOpenCL.so.1", RTLD_NOW);
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        printf("skipped: no %s\n", name);
        exit(77);
    }
    return found;
}

#define CALL(result, name, parameters) (__extension__(result(*) parameters) symbol(name))

static void wait_for_gate(void *unused)
{
    (void)unused;
    while (!atomic_load(&gate))
        usleep(100);
}

static void *held; /* OpenCL: the event that the queue waits for */

static void hold(void)
{
    atomic_store(&gate, 0);
    if (cuda) {
        CALL(int, "cuLaunchHostFunc", (void *, void (*)(void *), void *))
        (stream, wait_for_gate, NULL);
        return;
    }
    cl_context own = NULL;
    int code;
    CALL(int, "clGetCommandQueueInfo", (void *, cl_uint, size_t, void *, size_t *))
    (stream, CL_QUEUE_CONTEXT, sizeof own, &own, NULL);
    held = CALL(void *, "clCreateUserEvent", (void *, int *))(own, &code);
    CALL(int, "clEnqueueBarrierWithWaitList", (void *, cl_uint, void **, void **))
    (stream, 1, &held, NULL);
}

static void let_go(void)
{
    atomic_store(&gate, 1);
    if (cuda)
        return;
    CALL(int, "clSetUserEventStatus", (void *, int))(held, 0);
    CALL(int, "clReleaseEvent", (void *))(held);
}

static void finish(void *which)
{
    CALL(int, cuda ? "cuStreamSynchronize" : "clFinish", (void *))(which);
}

static void finish_stream(void)
{
    finish(stream);
}

/* The context of the device's index 0, current on this thread (CUDA), and a stream. */
static int open_all(void)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    int code = 0;
    if (cuda) {
        void *primary = NULL;
        code |= CALL(int, "cuInit", (unsigned))(0);
        code |= CALL(int, "cuDevicePrimaryCtxRetain", (void **, int))(&primary, 0);
        code |= CALL(int, "cuCtxSetCurrent", (void *))(primary);
        code |= CALL(int, "cuStreamCreate", (void **, unsigned))(&stream, 1);
        code |= CALL(int, "cuStreamCreate", (void **, unsigned))(&beside, 1);
    } else {
        void *platform, *id, *own;
        cl_uint n;
        code |= CALL(int, "clGetPlatformIDs", (cl_uint, void **, cl_uint *))(1, &platform, &n);
        code |=
            code ? 1
                 : CALL(int, "clGetDeviceIDs", (void *, cl_bitfield, cl_uint, void **, cl_uint *))(
                       platform, 0xffffffff, 1, &id, &n);
        if (!code) {
            own =
                CALL(void *, "clCreateContext", (void *, cl_uint, void **, void *, void *, int *))(
                    NULL, 1, &id, NULL, NULL, &code);
            stream = CALL(void *, "clCreateCommandQueue",
                          (void *, void *, cl_bitfield, int *))(own, id, 0, &code);
            beside = CALL(void *, "clCreateCommandQueue",
                          (void *, void *, cl_bitfield, int *))(own, id, 0, &code);
        }
        o.native = stream;
    }
    o.device = cuda ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    if (code || tally_context_create(&o, &context, &error)) {
        printf("skipped: %s\n", error.message);
        return 0;
    }
    device = context->state;
    return !device->ops->queue_open(device, NULL, &ours, &error) &&
           !device->ops->alloc(device, sizeof data, &samples, &error);
}

/* ---- one call, there and by the reference ---- */

typedef struct setup {
    const char *method;
    tally_dtype dtype;
    uint64_t bins, n;
    tally_counter counter;
    tally_flow under, over, nan;
    int accumulate, flows, on_stream;
} setup;

static tally_plan *make_plan(const setup *s, tally_error *error)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    o.axes[0] = tally_axis_even(s->bins, 20, 240);
    o.axes[0].under = s->under;
    o.axes[0].over = s->over;
    o.axes[0].nan = s->nan;
    o.dtypes[0] = s->dtype;
    o.counter = s->counter;
    o.method = s->method;
    return tally_plan_create(context, &o, &plan, error) ? NULL : plan;
}

static void move(ty_memory memory, void *host, size_t bytes, int up)
{
    tally_error error = {""};
    const ty_device_ops *ops = device->ops;
    if ((up ? ops->upload(device, ours, memory, 0, host, bytes, &error)
            : ops->download(device, ours, host, memory, 0, bytes, &error)) ||
        ops->wait(device, ours, &error)) {
        printf("copy: %s\n", error.message);
        exit(1);
    }
}

typedef struct room {
    ty_memory counts, flows;
    unsigned char host[most_bins * 8], want[most_bins * 8];
    tally_flows host_flows, want_flows;
} room;

static room there;

static void fill_room(void)
{
    for (size_t i = 0; i < sizeof there.host; i++)
        there.host[i] = there.want[i] = i % 8 ? 0 : (unsigned char)(i * 31 / 8);
    there.host_flows = there.want_flows = (tally_flows){5, 6, 7, 8};
    move(there.counts, there.host, sizeof there.host, 1);
    move(there.flows, &there.host_flows, sizeof there.host_flows, 1);
}

static tally_output output_of(const setup *s, int on_device)
{
    tally_output out = TALLY_OUTPUT_INIT;
    out.counts = on_device ? (void *)(uintptr_t)there.counts : (void *)there.want;
    out.flows = !s->flows   ? NULL
                : on_device ? (tally_flows *)(uintptr_t)there.flows
                            : &there.want_flows;
    out.accumulate = s->accumulate;
    out.on_device = on_device;
    return out;
}

static tally_view view_of(const setup *s)
{
    tally_view view = tally_view_1d((void *)(uintptr_t)samples, s->dtype, s->n);
    view.device = device->ops->type;
    return view;
}

static int same(void)
{
    move(there.counts, there.host, sizeof there.host, 0);
    move(there.flows, &there.host_flows, sizeof there.host_flows, 0);
    return !memcmp(there.host, there.want, sizeof there.want) &&
           !memcmp(&there.host_flows, &there.want_flows, sizeof there.want_flows);
}

static void try_setup(const tally_plan *plan, const setup *s)
{
    tally_error error = {""}, wrong = {""};
    char what[160];
    tally_output out = output_of(s, 1), want = output_of(s, 0);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_view view = view_of(s), host = tally_view_1d(&data, s->dtype, s->n);
    snprintf(what, sizeof what, "%s %s %llu bins, %llu samples, counter %d, flows %d%d%d%s%s%s",
             s->method, tally_dtype_name(s->dtype), (unsigned long long)s->bins,
             (unsigned long long)s->n, (int)s->counter, (int)s->under, (int)s->over, (int)s->nan,
             s->accumulate ? ", accumulate" : "", s->flows ? ", flows" : "",
             s->on_stream ? ", stream" : "");
    fill_room();
    const int has = device->has_fence;
    device->has_fence |= fence;
    e.stream = s->on_stream ? stream : NULL;
    tally_status status = tally_execute(plan, &view, &e, &out, &error);
    if (s->on_stream)
        finish_stream();
    tally_status expected = tally_execute_reference(plan, &host, NULL, &want, &wrong);
    device->has_fence = has;
    CHECK_SAY(status == expected && same(), "%s: %s", what, error.message);
}

/* The last eight of each with the last group of several delivering, which OpenCL 1.2 does not
 * promise and PoCL's processors do. */
static void test_all(void)
{
    static const struct {
        const char *method;
        tally_dtype dtype;
        uint64_t bins;
    } plans[] = {{"private-shared", TALLY_U8, 256},  {"lane-private", TALLY_U8, 1000},
                 {"lane-private", TALLY_U8, 7},      {"podlozhnyuk-64", TALLY_U8, 55},
                 {"lane-private", TALLY_F32, 50},    {"swizzled", TALLY_F32, 700},
                 {"private-global", TALLY_F32, 333}, {"atomic-global", TALLY_F32, 1}};
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        for (unsigned counter = 0; counter < 4; counter++) {
            setup s = {plans[p].method,
                       plans[p].dtype,
                       plans[p].bins,
                       most,
                       (tally_counter)counter,
                       0,
                       0,
                       0,
                       0,
                       1,
                       0};
            for (unsigned policy = 0; policy < 3; policy++) {
                tally_error error = {""};
                s.under = (tally_flow)(policy == 2 ? 0 : policy);
                s.over = (tally_flow)(policy % 3);
                tally_plan *plan = make_plan(&s, &error);
                if (!plan && strstr(error.message, "podlozhnyuk"))
                    continue;
                CHECK_SAY(plan != NULL, "%s: %s", s.method, error.message);
                for (unsigned bits = 0; plan && bits < 16; bits++) {
                    static const uint64_t sizes[] = {most, 0, 1, 4099};
                    s.accumulate = (int)(bits & 1);
                    s.flows = (int)(bits >> 1 & 1);
                    s.on_stream = (int)(bits >> 2 & 1);
                    fence = (int)(bits >> 3);
                    s.n = sizes[(bits + counter) % 4];
                    try_setup(plan, &s);
                }
                tally_plan_destroy(plan);
            }
        }
    }
}

/* The stream cannot run while the calls are made, and nothing is allocated once they repeat. */
static void test_asynchronous(void)
{
    setup s = {"lane-private", TALLY_U8, 256, most, 0, 0, 0, 0, 1, 1, 1};
    tally_error error = {""};
    tally_plan *plan = make_plan(&s, &error);
    CHECK_SAY(plan != NULL, "a plan: %s", error.message);
    if (!plan)
        return;
    fill_room();
    tally_output out = output_of(&s, 1), want = output_of(&s, 0);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_view view = view_of(&s), host = tally_view_1d(&data, s.dtype, s.n);
    e.stream = stream;
    CHECK_SAY(!tally_execute(plan, &view, &e, &out, &error), "the first call: %s", error.message);
    finish_stream();
    tally_execute_reference(plan, &host, NULL, &want, &error);
    hold();
    long before = ty_alloc_count();
    for (int i = 0; i < 20; i++)
        CHECK_SAY(!tally_execute(plan, &view, &e, &out, &error),
                  "a call on a stream that waits: %s", error.message);
    CHECK_SAY(ty_alloc_count() == before, "nothing is allocated: %s", error.message);
    let_go();
    finish_stream();
    for (int i = 0; i < 20; i++)
        tally_execute_reference(plan, &host, NULL, &want, &error);
    CHECK_SAY(same(), "twenty calls add up: %s", error.message);
    /* The workspace goes from the stream to our own queue and back. */
    hold();
    CHECK_SAY(!tally_execute(plan, &view, &e, &out, &error), "a call under way: %s", error.message);
    let_go();
    e.stream = NULL;
    finish_stream();
    CHECK_SAY(!tally_execute(plan, &view, &e, &out, &error), "a call beside it: %s", error.message);
    for (int i = 0; i < 2; i++)
        tally_execute_reference(plan, &host, NULL, &want, &error);
    CHECK_SAY(same(), "both add up: %s", error.message);
    e.stream = stream;
    hold();
    CHECK_SAY(!tally_execute(plan, &view, &e, &out, &error), "a call under way: %s", error.message);
    let_go();
    tally_plan_destroy(plan); /* waits */
    finish_stream();
}

static int stop(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    return done == 0 && total == most;
}

static void test_refusals(void)
{
    setup s = {"private-shared", TALLY_U8, 256, most, 0, 0, 0, 0, 0, 1, 0};
    tally_error error = {""};
    tally_plan *plan = make_plan(&s, &error);
    CHECK_SAY(plan != NULL, "a plan: %s", error.message);
    if (!plan)
        return;
    fill_room();
    tally_output out = output_of(&s, 1);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_view view = view_of(&s);
    e.progress = stop;
    CHECK_SAY(tally_execute(plan, &view, &e, &out, &error) == TALLY_ERROR_CANCELLED && same(),
              "cancelled ahead: %s", error.message);
    view = tally_view_1d(&data, s.dtype, s.n);
    e.progress = NULL;
    tally_output want = output_of(&s, 0);
    CHECK_SAY(!tally_execute(plan, &view, &e, &out, &error) &&
                  !tally_execute_reference(plan, &view, NULL, &want, &error) && same(),
              "samples of the host: %s", error.message);
    if (cuda)
        out.counts = (char *)out.counts + 4;
    else
        view.batches = 9, view.columns = 100;
    CHECK_SAY(tally_execute(plan, &view, &e, &out, &error) == TALLY_ERROR_ARGUMENT &&
                  strstr(error.message, cuda ? "aligned" : "do not fit"),
              "an output that cannot be: %s", error.message);
    tally_plan_destroy(plan);
}

/* ---- graphs ---- */

typedef struct graph {
    void *recorded, *ready;
} graph;

static void begin_graph(void)
{
    CHECK_SAY(!CALL(int, "cuStreamBeginCapture_v2", (void *, int))(stream, 0), "record");
}

static graph end_graph(void)
{
    graph g = {NULL, NULL};
    CHECK_SAY(!CALL(int, "cuStreamEndCapture", (void *, void **))(stream, &g.recorded), "end");
    CHECK_SAY(!CALL(int, "cuGraphInstantiateWithFlags",
                    (void **, void *, unsigned long long))(&g.ready, g.recorded, 0),
              "instantiate");
    return g;
}

static void run_graph(const graph *g)
{
    CHECK_SAY(!CALL(int, "cuGraphLaunch", (void *, void *))(g->ready, stream), "replay");
}

static void close_graph(const graph *g)
{
    CALL(int, "cuGraphExecDestroy", (void *))(g->ready);
    CALL(int, "cuGraphDestroy", (void *))(g->recorded);
}

/* Recorded once, replayed with other samples; between the replays the plan runs as usual. */
static void test_graph(void)
{
    setup s = {"lane-private", TALLY_U8, 256, most, 0, 0, 0, 0, 1, 1, 1};
    tally_error error = {""};
    tally_plan *plan = make_plan(&s, &error);
    CHECK_SAY(plan != NULL, "a plan: %s", error.message);
    if (!plan)
        return;
    fill_room();
    tally_output out = output_of(&s, 1), want = output_of(&s, 0);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_view view = view_of(&s), host = tally_view_1d(&data, s.dtype, s.n);
    uint64_t counts[256];
    tally_output usual = TALLY_OUTPUT_INIT;
    usual.counts = counts;
    e.stream = stream;
    begin_graph();
    CHECK_SAY(!tally_execute(plan, &view, &e, &out, &error), "a call while the stream records: %s",
              error.message);
    CHECK_SAY(tally_execute(plan, &view, &e, &usual, &error) == TALLY_ERROR_UNSUPPORTED &&
                  strstr(error.message, "recording"),
              "an output in host memory while the stream records: %s", error.message);
    graph g = end_graph();
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < sizeof data.u8; k++)
            data.u8[k] = (unsigned char)(data.u8[k] * 5 + 3);
        move(samples, &data, sizeof data, 1);
        run_graph(&g);
        CHECK_SAY(!tally_execute(plan, &view, &e, &usual, &error), "a usual call: %s",
                  error.message);
        finish_stream();
        tally_execute_reference(plan, &host, NULL, &want, &error);
    }
    CHECK_SAY(same(), "the replays' counts: %s", error.message);
    close_graph(&g);
    tally_plan_destroy(plan);
}

/* Each way of finding them: one reading, digits, levels of a sample's edges. */
static void test_quantile_graphs(uint64_t n, uint32_t count)
{
    static const double q[] = {0.5, 0, 0.01, 0.1, 0.25, 0.7, 0.9, 0.999, 1};
    double want[9], got[9];
    float *x = ty_calloc(n, sizeof *x);
    ty_memory there_x = 0, out = 0;
    tally_error error = {""};
    tally_quantile_options o = TALLY_QUANTILE_OPTIONS_INIT;
    if (!x || device->ops->alloc(device, n * sizeof *x, &there_x, &error) ||
        device->ops->alloc(device, sizeof got, &out, &error))
        CHECK_SAY(0, "memory: %s", error.message);
    const tally_view host = tally_view_1d(x, TALLY_F32, n);
    tally_view view = host;
    view.device = device->ops->type;
    view.data = (const void *)(uintptr_t)there_x;
    o.on_device = 1;
    o.stream = stream;
    begin_graph();
    CHECK_SAY(!tally_quantiles(context, &view, q, count, &o, (double *)(uintptr_t)out, &error),
              "quantiles while the stream records: %s", error.message);
    graph g = end_graph();
    for (int i = 0; i < 3; i++) {
        for (uint64_t k = 0; k < n; k++)
            x[k] = (float)((k * 2654435761u + (uint64_t)i * 977) % 100000007 >> (i == 1 ? 20 : 0));
        move(there_x, x, n * sizeof *x, 1);
        run_graph(&g);
        finish_stream();
        move(out, got, sizeof got, 0);
        CHECK_SAY(!tally_quantiles(NULL, &host, q, count, NULL, want, &error) &&
                      !memcmp(got, want, count * sizeof *got),
                  "%u replayed quantiles of %llu samples: the first %.17g, not %.17g: %s", count,
                  (unsigned long long)n, got[0], want[0], error.message);
    }
    close_graph(&g);
    device->ops->release(device, there_x);
    device->ops->release(device, out);
    ty_free(x);
}

/* Threads with a stream of their own each would need more drivers' calls; on one stream they share.
 */
static void *work(void *plan)
{
    setup s = {"lane-private", TALLY_U8, 256, most, 0, 0, 0, 0, 1, 1, 1};
    tally_error error = {""};
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = output_of(&s, 1);
    tally_view view = view_of(&s);
    int bad = 0;
    e.stream = stream;
    for (int i = 0; i < 25; i++)
        bad |= tally_execute(plan, &view, &e, &out, &error) != 0;
    return bad ? &failures : NULL;
}

/* Calls of one plan on two streams at once meet in no table. */
static void test_streams(void)
{
    setup s = {"lane-private", TALLY_U8, 256, most, 0, 0, 0, 0, 1, 0, 1};
    tally_error error = {""};
    tally_plan *plan = make_plan(&s, &error);
    static uint64_t counts[2][256], want[256];
    ty_memory memory[2] = {0, 0};
    const int has = device->has_fence;
    int bad = !plan;
    device->has_fence = 1;
    for (int i = 0; i < 2; i++) {
        bad |= device->ops->alloc(device, sizeof counts[i], &memory[i], &error) != 0;
        if (!bad)
            move(memory[i], counts[i], sizeof counts[i], 1);
    }
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = output_of(&s, 1);
    tally_view view = view_of(&s), host = tally_view_1d(&data, s.dtype, s.n);
    for (int i = 0; i < 200 && !bad; i++) {
        e.stream = i & 1 ? beside : stream;
        out.counts = (void *)(uintptr_t)memory[i & 1];
        bad |= tally_execute(plan, &view, &e, &out, &error) != 0;
    }
    finish(stream);
    finish(beside);
    out = output_of(&s, 0);
    out.counts = want;
    for (int i = 0; i < 100 && !bad; i++)
        tally_execute_reference(plan, &host, NULL, &out, &error);
    for (int i = 0; i < 2; i++) {
        if (!bad)
            move(memory[i], counts[i], sizeof counts[i], 0);
        bad |= memcmp(counts[i], want, sizeof want) != 0;
        device->ops->release(device, memory[i]);
    }
    CHECK_SAY(!bad, "two streams at once: %s", error.message);
    device->has_fence = has;
    tally_plan_destroy(plan);
}

static void test_threads(void)
{
    setup s = {"lane-private", TALLY_U8, 256, most, 0, 0, 0, 0, 1, 1, 1};
    tally_error error = {""};
    tally_plan *plan = make_plan(&s, &error);
    pthread_t ids[4];
    int bad = !plan;
    fill_room();
    for (int i = 0; i < 4 && !bad; i++)
        bad |= pthread_create(&ids[i], NULL, work, plan) != 0;
    for (int i = 0; i < 4 && !bad; i++) {
        void *result;
        bad |= pthread_join(ids[i], &result) || result;
    }
    finish_stream();
    tally_view host = tally_view_1d(&data, s.dtype, s.n);
    tally_output want = output_of(&s, 0);
    for (int i = 0; i < 100 && !bad; i++)
        tally_execute_reference(plan, &host, NULL, &want, &error);
    CHECK_SAY(!bad && same(), "four threads on one stream and one plan: %s", error.message);
    tally_plan_destroy(plan);
}

int main(int argc, char **argv)
{
    tally_error error = {""};
    cuda = argc > 1 && !strcmp(argv[1], "cuda");
    if (!open_all())
        return 77;
    for (size_t i = 0; i < most; i++) {
        float x = (float)(i * 2654435761u % 26000) / 100.f;
        data.f32[i] = i % 97 ? x : i % 2 ? 20 : 240;
    }
    if (device->ops->alloc(device, sizeof there.host, &there.counts, &error) ||
        device->ops->alloc(device, sizeof there.host_flows, &there.flows, &error))
        return 1;
    move(samples, &data, sizeof data, 1);
    test_all();
    test_asynchronous();
    test_refusals();
    test_threads();
    test_streams();
    if (cuda) {
        test_graph();
        test_quantile_graphs(1000, 9);
        test_quantile_graphs(3000000, 1);
        test_quantile_graphs(3000000, 9);
    }
    device->ops->release(device, samples);
    device->ops->release(device, there.counts);
    device->ops->release(device, there.flows);
    device->ops->queue_close(device, ours);
    tally_context_destroy(context);
    printf("%s: %d checks, %d failed\n", cuda ? "cuda" : "opencl", checks, failures);
    return failures != 0;
}
