/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller's streams, for which a call does not wait: one that is held, several at once, threads
 * that share one; under CUDA recorded in a graph and replayed.
 *
 *     test_streams [opencl|cuda]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <tally/quantile.h>
#include <unistd.h>

#include "check.h"
#include "drivers.h"
#include "core/alloc.h"
#include "output_help.h"

/* ---- how to keep a stream from running ---- */

static atomic_int gate;

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

/* ---- calls on streams ---- */

/* The stream cannot run while the calls are made, and nothing is allocated once they repeat. */
static void test_asynchronous(void)
{
    setup s = {"lane-private", TALLY_U8, 256, most, 0, 0, 0, 0, 1, 1, 1};
    tally_error error = {""};
    tally_plan *plan = make_plan(&s, &error);
    CHECK_SAY(plan != NULL, "a plan: %s", error.message);
    if (!plan)
        return;
    fill_outputs();
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
    CHECK_SAY(!tally_execute(plan, &view, &e, &out, &error), "a call on our own queue: %s",
              error.message);
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

/* A thread's calls; all threads share one stream. */
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
        e.stream = i & 1 ? second_stream : stream;
        out.counts = (void *)(uintptr_t)memory[i & 1];
        bad |= tally_execute(plan, &view, &e, &out, &error) != 0;
    }
    finish(stream);
    finish(second_stream);
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
    fill_outputs();
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
    fill_outputs();
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

int main(int argc, char **argv)
{
    if (!open_all(argc, argv))
        return 77;
    test_asynchronous();
    test_threads();
    test_streams();
    if (cuda) {
        test_graph();
        test_quantile_graphs(1000, 9);
        test_quantile_graphs(3000000, 1);
        test_quantile_graphs(3000000, 9);
    }
    return close_all();
}
