/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples added to an output in device memory itself: which calls of a plan that `auto` made are
 * counted so, what those launch, clear and allocate, and atomic additions by several plans and
 * queues at once; all against the reference.
 *
 *     test_in_place [opencl|cuda [SEED]]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>
#include <time.h>

#include "gpu/device.h"
#include "gpu/workspace.h"
#include "check.h"
#include "draw.h"
#include "drivers.h"
#include "open_device.h"
#include "plan/plan.h"

enum { bins = 1 << 16, most = 1 << 15, batches = 3, threads = 4, rounds = 10 };

static tally_context *context;
static void *queue; /* for this test's own copies */
static void *there_samples, *there_mask, *there_counts, *there_flows;
static float samples[most * batches];
static unsigned char mask[most * batches];
static uint64_t counts[bins * batches], want[bins * batches];
static tally_flows flows[batches], want_flows[batches];

/* ---- what a call does on the device ---- */

static ty_device_ops ops, real;
static const void *programs[64];
static const char *kernels[64];
static unsigned launches, clears, allocations;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static tally_status launch(ty_device *device, void *queue, void *program, const char *kernel,
                           const ty_launch *how, tally_error *error)
{
    pthread_mutex_lock(&lock);
    programs[launches % 64] = program;
    kernels[launches % 64] = kernel;
    launches++;
    pthread_mutex_unlock(&lock);
    return real.launch(device, queue, program, kernel, how, error);
}

static tally_status clear(ty_device *device, void *queue, ty_memory memory, size_t offset,
                          size_t bytes, tally_error *error)
{
    pthread_mutex_lock(&lock);
    clears++;
    pthread_mutex_unlock(&lock);
    return real.clear(device, queue, memory, offset, bytes, error);
}

static tally_status alloc(ty_device *device, size_t bytes, ty_memory *memory, tally_error *error)
{
    pthread_mutex_lock(&lock);
    allocations++;
    pthread_mutex_unlock(&lock);
    return real.alloc(device, bytes, memory, error);
}

static const void *program_of(const tally_plan *plan)
{
    return ((const ty_gpu_plan *)plan->state)->program->handle;
}

/* Whether all that was done is one launch of the kernel that adds to the output. */
static int only_adds(const tally_plan *plan)
{
    const tally_plan *other = ((const ty_gpu_plan *)plan->state)->routes[TY_ROUTE_IN_PLACE].plan;
    return launches == 1 && !clears && other && programs[0] == program_of(other) &&
           !strcmp(kernels[0], "count") && !strcmp(tally_plan_method(other), "global-in-place");
}

/* ---- calls ---- */

static void copy(void *there, void *here, size_t bytes, int up)
{
    tally_error error = {""};
    ty_device *device = context->state;
    const ty_memory memory = (ty_memory)(uintptr_t)there;
    if ((up ? real.upload(device, queue, memory, 0, here, bytes, &error)
            : real.download(device, queue, here, memory, 0, bytes, &error)) ||
        real.wait(device, queue, &error)) {
        fprintf(stderr, "copy: %s\n", error.message);
        exit(1);
    }
}

/* Counts whose lower half is about to wrap, some. */
static void fill(void)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        counts[i] = want[i] = i % 3 ? next() >> 20 : next() << 32 | (UINT32_MAX - below(3));
    for (size_t i = 0; i < batches; i++)
        flows[i] = want_flows[i] = (tally_flows){UINT32_MAX, next() >> 20, UINT32_MAX - 1, 8};
    copy(there_counts, counts, sizeof counts, 1);
    copy(there_flows, flows, sizeof flows, 1);
}

static int same(void)
{
    copy(there_counts, counts, sizeof counts, 0);
    copy(there_flows, flows, sizeof flows, 0);
    return !memcmp(counts, want, sizeof want) && !memcmp(flows, want_flows, sizeof flows);
}

typedef struct call {
    tally_view view, mask;
    tally_execute_options options;
    tally_output output;
} call;

static void make_call(call *c, uint64_t n, uint64_t of, int masked, int accumulate, int on_device)
{
    tally_view v = tally_view_1d(on_device ? there_samples : samples, TALLY_F32, n);
    v.batches = of;
    v.batch_stride_bytes = most * sizeof(float);
    v.device = on_device ? context->device : TALLY_DEVICE_CPU;
    c->view = c->mask = v;
    c->mask.data = on_device ? there_mask : mask;
    c->mask.dtype = TALLY_U8;
    c->mask.batch_stride_bytes = most;
    c->options = (tally_execute_options)TALLY_EXECUTE_OPTIONS_INIT;
    c->options.mask = masked ? &c->mask : NULL;
    c->output = (tally_output)TALLY_OUTPUT_INIT;
    c->output.counts = on_device ? there_counts : want;
    c->output.flows = on_device ? there_flows : want_flows;
    c->output.accumulate = accumulate;
    c->output.on_device = on_device;
}

static void expect(const tally_plan *plan, uint64_t n, uint64_t of, int masked, int accumulate)
{
    call c;
    tally_error error = {""};
    make_call(&c, n, of, masked, accumulate != 0, 0);
    CHECK_SAY(!tally_execute_reference(plan, &c.view, &c.options, &c.output, &error),
              "reference: %s", error.message);
}

static tally_plan *make_plan(const char *method, tally_flow under, tally_flow over)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    tally_error error = {""};
    o.axes[0] = tally_axis_even(bins, 0, 1);
    o.axes[0].under = under;
    o.axes[0].over = over;
    o.dtypes[0] = TALLY_F32;
    o.method = method;
    const tally_status status = tally_plan_create(context, &o, &plan, &error);
    CHECK_SAY(!status, "a plan: %s", error.message);
    if (status)
        exit(1);
    return plan;
}

static int run(const tally_plan *plan, const call *c, tally_error *error)
{
    launches = clears = allocations = 0;
    return tally_execute(plan, &c->view, &c->options, &c->output, error);
}

/* Few samples are added to the output by one launch, whatever their layout; many are not. */
static void test_few(void)
{
    for (unsigned k = 0; k < 16; k++) {
        tally_error error = {""};
        const uint64_t n = k == 15 ? 1 : below(bins / 4), of = k % 4 == 3 ? batches : 1;
        const int masked = (int)(k >> 2 & 1);
        const tally_flow under = k & 1 ? TALLY_FLOW_CLAMP : TALLY_FLOW_COUNT,
                         over = k & 2 ? TALLY_FLOW_CLAMP : TALLY_FLOW_COUNT;
        call c;
        tally_plan *plan = make_plan("auto", under, over);
        fill();
        make_call(&c, n, of, masked, TALLY_ACCUMULATE_ADD, 1);
        for (int i = 0; i < 2; i++) {
            CHECK_SAY(!run(plan, &c, &error), "a call: %s", error.message);
            CHECK_SAY(only_adds(plan) || !n, "few samples: one launch, nothing cleared: %s",
                      error.message);
            CHECK_SAY(i == 0 || !allocations, "a repeated call allocates nothing: %s",
                      error.message);
            expect(plan, n, of, masked, 1);
        }
        CHECK_SAY(same(), "few samples: counts: %s", error.message);
        tally_plan_destroy(plan);
    }
}

static void test_others(void)
{
    tally_error error = {""};
    call c;
    tally_plan *plan = make_plan("auto", TALLY_FLOW_COUNT, TALLY_FLOW_COUNT);
    fill();
    make_call(&c, most, 1, 0, TALLY_ACCUMULATE_ADD, 1);
    CHECK_SAY(!run(plan, &c, &error) && !only_adds(plan), "many samples: %s", error.message);
    expect(plan, most, 1, 0, 1);
    CHECK_SAY(same(), "many samples: counts: %s", error.message);
    make_call(&c, 100, 1, 0, TALLY_ACCUMULATE_NONE, 1);
    CHECK_SAY(!run(plan, &c, &error) && !only_adds(plan), "an output that is overwritten: %s",
              error.message);
    expect(plan, 100, 1, 0, 0);
    CHECK_SAY(same(), "an output that is overwritten: counts: %s", error.message);
    tally_plan_destroy(plan);
    plan = make_plan("atomic-global", TALLY_FLOW_COUNT, TALLY_FLOW_COUNT);
    make_call(&c, 100, 1, 0, TALLY_ACCUMULATE_ADD, 1);
    CHECK_SAY(!run(plan, &c, &error) && !only_adds(plan), "a method by name: %s", error.message);
    make_call(&c, 100, 1, 0, TALLY_ACCUMULATE_ATOMIC, 1);
    CHECK_SAY(!run(plan, &c, &error) && only_adds(plan), "which does not add atomically: %s",
              error.message);
    tally_plan_destroy(plan);
}

static void test_refusals(void)
{
    tally_error error = {""};
    call c;
    tally_plan *plan = make_plan("auto", TALLY_FLOW_FAIL, TALLY_FLOW_COUNT);
    fill();
    make_call(&c, 100, 1, 0, TALLY_ACCUMULATE_ATOMIC, 1);
    CHECK_SAY(run(plan, &c, &error) == TALLY_ERROR_UNSUPPORTED &&
                  strstr(error.message, "TALLY_FLOW_FAIL") && !launches && same(),
              "atomic additions that may fail: %s", error.message);
    tally_plan_destroy(plan);
    plan = make_plan("auto", TALLY_FLOW_COUNT, TALLY_FLOW_COUNT);
    c.view.data = samples;
    c.view.device = TALLY_DEVICE_CPU;
    CHECK_SAY(run(plan, &c, &error) == TALLY_ERROR_UNSUPPORTED &&
                  strstr(error.message, "in device memory") && !launches && same(),
              "atomic additions of the host's samples: %s", error.message);
    tally_plan_destroy(plan);
}

/* ---- atomic additions ---- */

static void *work(void *plan)
{
    tally_error error = {""};
    call c;
    int bad = 0;
    make_call(&c, most, batches, 1, TALLY_ACCUMULATE_ATOMIC, 1);
    for (int i = 0; i < rounds; i++)
        bad |= tally_execute(plan, &c.view, &c.options, &c.output, &error) != TALLY_OK;
    return bad ? &failures : NULL;
}

/* Threads, each with a queue, of two plans, add to one output. */
static void test_atomic(void)
{
    tally_error error = {""};
    tally_plan *plans[2] = {make_plan("auto", TALLY_FLOW_COUNT, TALLY_FLOW_CLAMP),
                            make_plan("global-in-place", TALLY_FLOW_COUNT, TALLY_FLOW_CLAMP)};
    pthread_t ids[threads];
    int bad = 0;
    fill();
    for (int i = 0; i < threads; i++)
        bad |= pthread_create(&ids[i], NULL, work, plans[i % 2]) != 0;
    for (int i = 0; i < threads && !bad; i++) {
        void *result = NULL;
        bad |= pthread_join(ids[i], &result) || result;
    }
    for (int i = 0; i < threads * rounds; i++)
        expect(plans[0], most, batches, 1, 1);
    CHECK_SAY(!bad && same(), "two plans on several queues: %s", error.message);
    tally_plan_destroy(plans[0]);
    tally_plan_destroy(plans[1]);
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL) * 1000003;
    tally_error error = {""};
    state = seed;
    printf("seed %llu\n", (unsigned long long)seed);
    if (!(context = open_device(argc > 1 ? argv[1] : "opencl")))
        return 77;
    ty_device *device = context->state;
    real = ops = *device->ops;
    ops.launch = launch;
    ops.clear = clear;
    ops.alloc = alloc;
    device->ops = &ops;
    if (real.queue_open(device, NULL, &queue, &error))
        return 1;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const float x = (float)(unit() * 1.1 - 0.05);
        samples[i] = i % 5 ? x : i % 2 ? 0.5f : -__builtin_inff();
        samples[i] = i % 101 ? samples[i] : __builtin_nanf("");
        mask[i] = below(4) != 0;
    }
    if (tally_memory_create(context, sizeof samples, &there_samples, &error) ||
        tally_memory_create(context, sizeof mask, &there_mask, &error) ||
        tally_memory_create(context, sizeof counts, &there_counts, &error) ||
        tally_memory_create(context, sizeof flows, &there_flows, &error))
        return 1;
    copy(there_samples, samples, sizeof samples, 1);
    copy(there_mask, mask, sizeof mask, 1);
    test_few();
    test_others();
    test_refusals();
    test_atomic();
    void *all[] = {there_samples, there_mask, there_counts, there_flows};
    for (int i = 0; i < 4; i++)
        tally_memory_destroy(context, all[i]);
    real.queue_close(device, queue);
    tally_context_destroy(context);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
