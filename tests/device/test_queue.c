/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On the first OpenCL device: a caller's queue, samples in a caller's buffer, batches at odd
 * offsets, launches in small slabs, a row of 2^33 samples, several contexts and threads at once, a
 * device without float64. Counts are the reference's.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "../../common/splitmix.h"
#include "core/dynlib.h"
#include "drivers.h"
#include "gpu/method.h"
#include "gpu/opencl_api.h"
#include "method_plan.h"
#include "plan/registry.h"

enum { most_samples = 40009, batches = 3, most_cells = batches * 512 };

static ty_opencl_api cl;
static unsigned char data[most_samples + 8];

static int load(void)
{
    static const char *const candidates[] = {"libOpenCL.so.1", NULL};
#define SYMBOL(name, result, parameters) {#name, offsetof(ty_opencl_api, name), 1},
    static const ty_symbol symbols[] = {TY_OPENCL_FUNCTIONS(SYMBOL){NULL, 0, 0}};
#undef SYMBOL
    char reason[256];
    return ty_dynlib_open("TALLY_OPENCL_LIBRARY", candidates, symbols, &cl, reason,
                          sizeof reason) != NULL;
}

/* ---- counts ---- */

/* Counts `view` and, as the reference, the same samples on the host. */
static int counts_right(const tally_plan *plan, const tally_view *view, const void *host,
                        void *stream, tally_error *error)
{
    uint64_t got[most_cells] = {0}, want[most_cells] = {0};
    tally_flows flows[batches], true_flows[batches];
    tally_output output = TALLY_OUTPUT_INIT;
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_view there = *view;
    double seconds = 0;
    memset(flows, 0, sizeof flows);
    memset(true_flows, 0, sizeof true_flows);
    options.stream = stream;
    options.device_seconds = &seconds;
    output.counts = got;
    output.flows = flows;
    if (tally_execute(plan, view, &options, &output, error))
        return 0;
    there.data = host;
    there.device = TALLY_DEVICE_CPU;
    output.counts = want;
    output.flows = true_flows;
    if (tally_execute_reference(plan, &there, NULL, &output, error))
        return 0;
    snprintf(error->message, sizeof error->message, "other counts");
    return seconds >= 0 && !memcmp(got, want, sizeof got) &&
           !memcmp(flows, true_flows, sizeof flows);
}

/* ---- a caller's queue and buffer ---- */

typedef struct caller {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem memory;
} caller;

static int open_caller(caller *c, cl_bitfield properties)
{
    cl_platform_id platform;
    cl_uint n;
    cl_int code;
    if (cl.clGetPlatformIDs(1, &platform, &n) ||
        cl.clGetDeviceIDs(platform, 0xffffffff, 1, &c->device, &n))
        return 0;
    c->context = cl.clCreateContext(NULL, 1, &c->device, NULL, NULL, &code);
    c->queue = cl.clCreateCommandQueue(c->context, c->device, properties, &code);
    c->memory = cl.clCreateBuffer(c->context, CL_MEM_READ_WRITE, most_samples, NULL, &code);
    return !code && !cl.clEnqueueWriteBuffer(c->queue, c->memory, CL_TRUE, 0, most_samples, data, 0,
                                             NULL, NULL);
}

static void close_caller(caller *c)
{
    cl.clReleaseMemObject(c->memory);
    cl.clReleaseCommandQueue(c->queue);
    cl.clReleaseContext(c->context);
}

static tally_context *open_context(void *native, tally_error *error)
{
    tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    where.device = TALLY_DEVICE_OPENCL;
    where.native = native;
    return tally_context_create(&where, &context, error) ? NULL : context;
}

/* Three batches of bytes in the caller's buffer, an odd number apart: every alignment of a word. */
static void test_buffer(tally_context *context, caller *c)
{
    static const char *const methods[] = {"private-shared",
                                          "podlozhnyuk-64",
                                          "podlozhnyuk-256",
                                          "nugteren",
                                          "trish",
                                          "partitioned",
                                          NULL};
    tally_error error = {""};
    for (int m = 0; methods[m]; m++) {
        tally_plan *plan = make_plan(context, methods[m], TALLY_U8, &error);
        CHECK_SAY(plan != NULL, "%s: %s", methods[m], error.message);
        for (uint64_t n = 12999; plan && n < 13004; n++) {
            tally_view view = tally_view_1d(c->memory, TALLY_U8, n);
            view.device = TALLY_DEVICE_OPENCL;
            view.batches = batches;
            view.batch_stride_bytes = 13003;
            CHECK_SAY(counts_right(plan, &view, data, c->queue, &error), "%s: %s", methods[m],
                      error.message);
            CHECK_SAY(counts_right(plan, &view, data, NULL, &error), "%s: %s", methods[m],
                      error.message);
        }
        tally_plan_destroy(plan);
    }
}

static void test_refusals(tally_context *context, caller *c)
{
    tally_error error = {""};
    tally_plan *plan = make_plan(context, "private-shared", TALLY_U16, &error);
    uint64_t counts[most_cells];
    tally_output output = TALLY_OUTPUT_INIT;
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_view view = tally_view_1d(c->memory, TALLY_U16, most_samples / 2 + 1);
    caller other;
    CHECK_SAY(plan != NULL, "a plan: %s", error.message);
    output.counts = counts;
    view.device = TALLY_DEVICE_OPENCL;
    CHECK_SAY(tally_execute(plan, &view, NULL, &output, &error) == TALLY_ERROR_ARGUMENT &&
                  strstr(error.message, "not all inside"),
              "a view that passes the buffer's end: %s", error.message);
    view = tally_view_1d(c->memory, TALLY_U16, 100);
    view.device = TALLY_DEVICE_OPENCL;
    view.batches = 2;
    view.batch_stride_bytes = 301;
    CHECK_SAY(tally_execute(plan, &view, NULL, &output, &error) == TALLY_ERROR_UNSUPPORTED &&
                  strstr(error.message, "aligned"),
              "samples that are not aligned: %s", error.message);
    view.batches = 1;
    if (open_caller(&other, 0)) {
        options.stream = other.queue;
        CHECK_SAY(tally_execute(plan, &view, &options, &output, &error) == TALLY_ERROR_ARGUMENT,
                  "a queue of another context: %s", error.message);
        close_caller(&other);
    }
    cl_int code;
    cl_command_queue loose =
        cl.clCreateCommandQueue(c->context, c->device, CL_QUEUE_OUT_OF_ORDER, &code);
    options.stream = loose;
    if (!code) {
        CHECK_SAY(tally_execute(plan, &view, &options, &output, &error) ==
                          TALLY_ERROR_UNSUPPORTED &&
                      strstr(error.message, "out of order"),
                  "a queue that runs out of order: %s", error.message);
        cl.clReleaseCommandQueue(loose);
    }
    options.stream = c->queue;
    CHECK_SAY(counts_right(plan, &view, data, c->queue, &error), "and the plan still works: %s",
              error.message);
    tally_plan_destroy(plan);
}

/* ---- slabs ---- */

static const ty_gpu_method *inner;

static void small_slabs(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    inner->geometry(plan, device, n, g);
    if (g->most > 9001)
        g->most = 9001;
}

static int counts_right_in_slabs(tally_plan *plan, const tally_view *view, tally_error *error)
{
    const ty_method *m = plan->method;
    ty_method own = *m;
    ty_gpu_method kernel = *(const ty_gpu_method *)m->backend;
    inner = m->backend;
    kernel.geometry = small_slabs;
    own.backend = &kernel;
    plan->method = &own;
    const int right = counts_right(plan, view, view->data, NULL, error);
    plan->method = m;
    return right;
}

/* Every method with launches of 9001 samples at most: as 2^32 samples are counted in slabs of 2^31.
 */
static void test_slabs(tally_context *context)
{
    tally_error error = {""};
    for (int i = 0; ty_methods[i]; i++) {
        const ty_method *m = ty_methods[i];
        if (!(m->devices & TY_ON_OPENCL) || !strncmp(m->name, "weighted", 8)) /* see test_weights */
            continue;
        /* The first that the device has local memory for. */
        static const tally_dtype dtypes[] = {TALLY_U8, TALLY_U16, TALLY_F32, TALLY_I32};
        tally_dtype dtype = TALLY_U8;
        tally_plan *plan = NULL;
        for (size_t d = 0; !plan && d < sizeof dtypes / sizeof *dtypes; d++)
            plan = make_plan(context, m->name, dtype = dtypes[d], &error);
        CHECK_SAY(plan != NULL, "%s: %s", m->name, error.message);
        if (!plan)
            continue;
        size_t size = tally_dtype_bytes(dtype);
        tally_view view = tally_view_1d(data + size, dtype, most_samples / size - 1);
        CHECK_SAY(counts_right_in_slabs(plan, &view, &error), "%s: %s", m->name, error.message);
        tally_plan_destroy(plan);
    }
}

/* ---- a row that is longer than a launch ---- */

enum { at_arg = 1, columns_arg = 13, begin_arg = 14, end_arg = 15, most_args = 48 };

static const ty_device_ops *real;

/* As if the samples were those from 2^32 on of a row of 2^33: of one dimension's arguments, where
 * the row is, how long, and what of it a launch counts. */
static tally_status launch_far(ty_device *device, void *queue, void *program, const char *kernel,
                               const ty_launch *launch, tally_error *error)
{
    const uint64_t far = UINT64_C(1) << 32;
    ty_arg args[most_args];
    ty_launch moved = *launch;
    if (!strcmp(kernel, "count") && launch->arg_count <= most_args) {
        memcpy(args, launch->args, launch->arg_count * sizeof *args);
        args[at_arg].value.u64 -= far * sizeof(uint16_t);
        args[columns_arg].value.u64 = far * 2;
        args[begin_arg].value.u64 += far;
        args[end_arg].value.u64 += far;
        moved.args = args;
    }
    return real->launch(device, queue, program, kernel, &moved, error);
}

static void test_long_row(tally_context *context)
{
    static const char *const methods[] = {"swizzled-columns", "swizzled-rows", "views", NULL};
    ty_device *device = context->state;
    ty_device_ops ops = *device->ops;
    tally_error error = {""};
    ops.launch = launch_far;
    real = device->ops;
    device->ops = &ops;
    for (int i = 0; methods[i]; i++) {
        tally_plan *plan = make_plan(context, methods[i], TALLY_U16, &error);
        tally_view view = tally_view_1d(data, TALLY_U16, most_samples / 2);
        CHECK_SAY(plan && counts_right_in_slabs(plan, &view, &error), "%s: %s", methods[i],
                  error.message);
        tally_plan_destroy(plan);
    }
    device->ops = real;
}

/* Counts of a group past 16 bits, most of them of one value. */
static void test_halves(tally_context *context)
{
    static uint16_t many[400000];
    tally_error error = {""};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        many[i] = (uint16_t)(i % 7 ? 40 : i % 600);
    tally_plan *plan = make_plan(context, "swizzled", TALLY_U16, &error);
    tally_view view = tally_view_1d(many, TALLY_U16, sizeof many / sizeof *many);
    CHECK_SAY(plan && counts_right(plan, &view, many, NULL, &error), "halves: %s", error.message);
    tally_plan_destroy(plan);
}

/* ---- threads ---- */

typedef struct {
    const tally_plan *plan; /* shared */
    tally_context *own;     /* of this thread's own context */
    int bad;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    tally_error error = {""};
    tally_plan *plan = make_plan(w->own, "private-shared", TALLY_U8, &error);
    w->bad = plan == NULL;
    for (int i = 0; i < 10 && !w->bad; i++) {
        uint64_t n = most_samples - 1 - (uint64_t)i * 101;
        tally_view view = tally_view_1d(data + i % 3, TALLY_U8, n - 2);
        w->bad |= !counts_right(w->plan, &view, view.data, NULL, &error);
        w->bad |= !counts_right(plan, &view, view.data, NULL, &error);
    }
    tally_plan_destroy(plan);
    return NULL;
}

static void test_threads(tally_context *context)
{
    enum { threads = 4 };
    tally_error error = {""};
    pthread_t ids[threads];
    worker workers[threads];
    tally_plan *plan = make_plan(context, "trish", TALLY_U8, &error);
    int bad = 0;
    for (int i = 0; i < threads; i++) {
        workers[i] = (worker){plan, open_context(NULL, &error), 0};
        bad |= !workers[i].own || pthread_create(&ids[i], NULL, work, &workers[i]);
    }
    for (int i = 0; i < threads && !bad; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < threads; i++) {
        bad |= workers[i].bad;
        tally_context_destroy(workers[i].own);
    }
    CHECK_SAY(!bad, "four threads, each with a context of its own and a plan that all share: %s",
              error.message);
    tally_plan_destroy(plan);
}

/* Every method on floats near the edges of an even axis, and what float32 is not proved for. */
static void test_no_float64(tally_context *context)
{
    ty_device *device = context->state;
    const int has = device->has_fp64;
    tally_error error = {""};
    static float floats[most_samples];
    uint64_t random = 9;
    for (int i = 0; i < most_samples; i++) {
        const double edge = (double)(splitmix64(&random) % 260) - 2;
        const int step = (int)(splitmix64(&random) % 3) - 1;
        floats[i] = i % 1000 == 0 ? NAN : step ? nextafterf((float)edge, step * 1e9f) : (float)edge;
    }
    device->has_fp64 = 0;
    int counted = 0;
    for (int i = 0; ty_methods[i]; i++) {
        const ty_method *m = ty_methods[i];
        if (!(m->devices & TY_ON_OPENCL))
            continue;
        tally_plan *plan = make_plan(context, m->name, TALLY_F32, &error);
        const tally_view view = tally_view_1d(floats, TALLY_F32, most_samples - 8);
        if (plan)
            CHECK_SAY(counts_right(plan, &view, floats, NULL, &error), "%s without float64: %s",
                      m->name, error.message);
        counted += plan != NULL;
        tally_plan_destroy(plan);
    }
    static const tally_dtype others[] = {TALLY_U8, TALLY_U16, TALLY_I16};
    for (int d = 0; d < 3; d++) {
        tally_plan *plan = make_plan(context, "private-shared", others[d], &error);
        const tally_view view = tally_view_1d(data, others[d], most_samples / 2);
        CHECK_SAY(plan && counts_right(plan, &view, data, NULL, &error), "%s without float64: %s",
                  tally_dtype_name(others[d]), error.message);
        tally_plan_destroy(plan);
    }
    CHECK_SAY(counted >= 12, "%d methods count floats without float64", counted);
    /* Every second float: packed on the way to the device. */
    tally_plan *plan = make_plan(context, "private-shared", TALLY_F32, &error);
    tally_view apart = tally_view_1d(floats, TALLY_F32, 1000);
    apart.column_stride_bytes = 8;
    CHECK_SAY(plan && counts_right(plan, &apart, floats, NULL, &error),
              "floats apart, without float64: %s", error.message);
    tally_plan_destroy(plan);
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    plan = NULL;
    o.axes[0] = tally_axis_even(7, 0, 0.7);
    o.method = "atomic-global";
    for (int kind = 0; kind < 3; kind++) {
        static const double edges[] = {0, 1, 2.5};
        o.dtypes[0] = kind ? TALLY_F32 : TALLY_F64;
        if (kind == 2)
            o.axes[0] = tally_axis_edges(2, edges);
        else if (kind == 1)
            o.axes[0] = tally_axis_even(1 << 23, 0, 0.7);
        CHECK_SAY(tally_plan_create(context, &o, &plan, &error) == TALLY_ERROR_UNSUPPORTED &&
                      strstr(error.message, "no float64"),
                  "without float64, kind %d: %s", kind, error.message);
    }
    device->has_fp64 = has;
}

int main(void)
{
    tally_error error = {""};
    caller c;
    tally_context *context = open_context(NULL, &error);
    if (!context || !load()) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)((i * i >> 3) ^ i * 7);
    if (!open_caller(&c, 0))
        return 1;
    test_slabs(context);
    test_long_row(context);
    test_halves(context);
    test_threads(context);
    test_no_float64(context);
    tally_context_destroy(context);
    context = open_context(c.queue, &error);
    CHECK_SAY(context != NULL, "a context around a caller's queue: %s", error.message);
    if (context) {
        test_buffer(context, &c);
        test_refusals(context, &c);
    }
    tally_context_destroy(context);
    close_caller(&c);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
