/* SPDX-License-Identifier: Apache-2.0 */
#include "output_help.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

int cuda;
tally_context *context;
ty_device *device;
void *stream, *second_stream;
ty_memory samples;
union sample_data data;
output_memory there;

static void *ours; /* a queue for this test's own copies */

void *symbol(const char *name)
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

void finish(void *which)
{
    CALL(int, cuda ? "cuStreamSynchronize" : "clFinish", (void *))(which);
}

void finish_stream(void)
{
    finish(stream);
}

/* The context of the device's index 0, current on this thread (CUDA), and a stream. */
int open_all(int argc, char **argv)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    int code = 0;
    cuda = argc > 1 && !strcmp(argv[1], "cuda");
    if (cuda) {
        void *primary = NULL;
        code |= CALL(int, "cuInit", (unsigned))(0);
        code |= CALL(int, "cuDevicePrimaryCtxRetain", (void **, int))(&primary, 0);
        code |= CALL(int, "cuCtxSetCurrent", (void *))(primary);
        code |= CALL(int, "cuStreamCreate", (void **, unsigned))(&stream, 1);
        code |= CALL(int, "cuStreamCreate", (void **, unsigned))(&second_stream, 1);
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
            second_stream = CALL(void *, "clCreateCommandQueue",
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
    const ty_device_ops *ops = device->ops;
    if (ops->queue_open(device, NULL, &ours, &error) ||
        ops->alloc(device, sizeof data, &samples, &error) ||
        ops->alloc(device, sizeof there.host, &there.counts, &error) ||
        ops->alloc(device, sizeof there.host_flows, &there.flows, &error)) {
        printf("memory: %s\n", error.message);
        exit(1);
    }
    for (size_t i = 0; i < most; i++) {
        float x = (float)(i * 2654435761u % 26000) / 100.f;
        data.f32[i] = i % 97 ? x : i % 2 ? 20 : 240;
    }
    move(samples, &data, sizeof data, 1);
    return 1;
}

int close_all(void)
{
    device->ops->release(device, samples);
    device->ops->release(device, there.counts);
    device->ops->release(device, there.flows);
    device->ops->queue_close(device, ours);
    tally_context_destroy(context);
    printf("%s: %d checks, %d failed\n", cuda ? "cuda" : "opencl", checks, failures);
    return failures != 0;
}

tally_plan *make_plan(const setup *s, tally_error *error)
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

void move(ty_memory memory, void *host, size_t bytes, int up)
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

void fill_outputs(void)
{
    for (size_t i = 0; i < sizeof there.host; i++)
        there.host[i] = there.want[i] = i % 8 ? 0 : (unsigned char)(i * 31 / 8);
    there.host_flows = there.want_flows = (tally_flows){5, 6, 7, 8};
    move(there.counts, there.host, sizeof there.host, 1);
    move(there.flows, &there.host_flows, sizeof there.host_flows, 1);
}

tally_output output_of(const setup *s, int on_device)
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

tally_view view_of(const setup *s)
{
    tally_view view = tally_view_1d((void *)(uintptr_t)samples, s->dtype, s->n);
    view.device = device->ops->type;
    return view;
}

int same(void)
{
    move(there.counts, there.host, sizeof there.host, 0);
    move(there.flows, &there.host_flows, sizeof there.host_flows, 0);
    return !memcmp(there.host, there.want, sizeof there.want) &&
           !memcmp(&there.host_flows, &there.want_flows, sizeof there.want_flows);
}
