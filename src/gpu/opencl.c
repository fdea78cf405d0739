/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL 1.2, opened at run time. One open device is a context; a queue is a command queue. */
#include <inttypes.h>
#include <stdio.h>

#include "core/alloc.h"
#include "gpu/opencl.h"

/* The caller's context, or one of our own on device `index`. */
static tally_status open_context(uint32_t index, void *native, ty_opencl_device *own,
                                 tally_error *error)
{
    cl_platform_id platform = NULL;
    tally_status status = ty_opencl_find(index, &own->id, &platform, error);
    if (status)
        return status;
    if (native) {
        TY_CL_TRY(clGetCommandQueueInfo, native, CL_QUEUE_DEVICE, sizeof own->id, &own->id, NULL);
        TY_CL_TRY(clGetCommandQueueInfo, native, CL_QUEUE_CONTEXT, sizeof own->context,
                  &own->context, NULL);
        TY_CL_TRY(clRetainContext, own->context);
        return TALLY_OK;
    }
    intptr_t properties[] = {CL_CONTEXT_PLATFORM, (intptr_t)platform, 0};
    cl_int code;
    own->context = ty_cl.clCreateContext(properties, 1, &own->id, NULL, NULL, &code);
    return code ? ty_opencl_fail(error, "clCreateContext", code) : TALLY_OK;
}

static void close_device(ty_device *device)
{
    ty_opencl_device *own = device->native;
    ty_cl.clReleaseContext(own->context);
    ty_free(own);
    ty_free(device);
}

static tally_status open_device(uint32_t index, void *native, ty_device **device,
                                tally_error *error)
{
    char reason[256];
    ty_device *d = ty_calloc(1, sizeof *d);
    ty_opencl_device *own = ty_calloc(1, sizeof *own);
    tally_status status = d && own ? open_context(index, native, own, error)
                                   : ty_error_memory(error, "a device", sizeof *d);
    if (!status && !ty_opencl_usable(own->id, reason, sizeof reason)) {
        ty_cl.clReleaseContext(own->context);
        status = ty_error(error, TALLY_ERROR_UNSUPPORTED, "opencl:%u: %s", index, reason);
    }
    if (status) {
        ty_free(own);
        ty_free(d);
        return status;
    }
    d->ops = &ty_opencl_ops;
    d->native = own;
    if (!ty_opencl_limits(d, own->id)) {
        close_device(d);
        return ty_error(error, TALLY_ERROR_DEVICE,
                        "OpenCL: clGetDeviceInfo: the driver does not tell the device's limits");
    }
    *device = d;
    return TALLY_OK;
}

/* A queue and the kernel objects launched on it. A queue belongs to one thread at a time, so their
 * arguments are set without a lock, and no object is released while a launch may be pending. A
 * caller's queue is retained meanwhile, so that its handle stays its own. */
enum { queue_kernels = 8 };

typedef struct {
    cl_command_queue queue;
    struct {
        cl_program program;
        const char *name; /* string constants: compared by address */
        cl_kernel kernel;
    } kernels[queue_kernels];
    unsigned kernel_count;
} opencl_queue;

/* A caller's queue must be in order and of the plan's OpenCL context. */
static tally_status check_queue(const ty_opencl_device *own, cl_command_queue queue,
                                tally_error *error)
{
    cl_bitfield properties = 0;
    cl_context context = NULL;
    TY_CL_TRY(clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
              NULL);
    TY_CL_TRY(clGetCommandQueueInfo, queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (properties & CL_QUEUE_OUT_OF_ORDER)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "stream: the command queue runs out of order; an in-order one is needed");
    if (context != own->context)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "stream: the command queue is of another OpenCL context than the plan; "
                        "make the tally context from it (its `native` option)");
    return TALLY_OK;
}

static tally_status queue_open(ty_device *device, void *native, void **queue, tally_error *error)
{
    ty_opencl_device *own = device->native;
    tally_status status = native ? check_queue(own, native, error) : TALLY_OK;
    if (status)
        return status;
    opencl_queue *q = ty_calloc(1, sizeof *q);
    if (!q)
        return ty_error_memory(error, "a queue", sizeof *q);
    cl_int code = CL_SUCCESS;
    q->queue = native;
    if (native)
        code = ty_cl.clRetainCommandQueue(native);
    else
        q->queue = ty_cl.clCreateCommandQueue(own->context, own->id, CL_QUEUE_PROFILING, &code);
    if (code) {
        ty_free(q);
        return ty_opencl_fail(error, native ? "clRetainCommandQueue" : "clCreateCommandQueue",
                              code);
    }
    *queue = q;
    return TALLY_OK;
}

static void queue_close(ty_device *device, void *queue)
{
    (void)device;
    opencl_queue *q = queue;
    if (!q)
        return;
    for (unsigned i = 0; i < q->kernel_count; i++)
        ty_cl.clReleaseKernel(q->kernels[i].kernel);
    ty_cl.clReleaseCommandQueue(q->queue);
    ty_free(q);
}

static cl_command_queue raw(void *queue)
{
    return ((opencl_queue *)queue)->queue;
}

static tally_status wait_queue(ty_device *device, void *queue, tally_error *error)
{
    (void)device;
    TY_CL_TRY(clFinish, raw(queue));
    return TALLY_OK;
}

static void *native(void *queue)
{
    return raw(queue);
}

static cl_mem buffer(ty_memory memory)
{
    return (cl_mem)(uintptr_t)memory;
}

static tally_status alloc(ty_device *device, size_t bytes, ty_memory *memory, tally_error *error)
{
    ty_opencl_device *own = device->native;
    cl_int code;
    cl_mem mem =
        ty_cl.clCreateBuffer(own->context, CL_MEM_READ_WRITE, bytes ? bytes : 4, NULL, &code);
    if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_INVALID_BUFFER_SIZE)
        return ty_error(error, TALLY_ERROR_MEMORY,
                        "OpenCL: clCreateBuffer: %zu bytes of device memory: %s (%d)", bytes,
                        ty_opencl_words(code), (int)code);
    if (code)
        return ty_opencl_fail(error, "clCreateBuffer", code);
    *memory = (ty_memory)(uintptr_t)mem;
    return TALLY_OK;
}

static void release(ty_device *device, ty_memory memory)
{
    (void)device;
    if (memory)
        ty_cl.clReleaseMemObject(buffer(memory));
}

static tally_status extent(ty_device *device, ty_memory memory, uint64_t *bytes, tally_error *error)
{
    (void)device;
    size_t size = 0;
    TY_CL_TRY(clGetMemObjectInfo, buffer(memory), CL_MEM_SIZE, sizeof size, &size, NULL);
    *bytes = size;
    return TALLY_OK;
}

static tally_status upload(ty_device *device, void *queue, ty_memory to, size_t offset,
                           const void *from, size_t bytes, tally_error *error)
{
    (void)device;
    if (bytes)
        TY_CL_TRY(clEnqueueWriteBuffer, raw(queue), buffer(to), CL_FALSE, offset, bytes, from, 0,
                  NULL, NULL);
    return TALLY_OK;
}

static tally_status download(ty_device *device, void *queue, void *to, ty_memory from,
                             size_t offset, size_t bytes, tally_error *error)
{
    (void)device;
    if (bytes)
        TY_CL_TRY(clEnqueueReadBuffer, raw(queue), buffer(from), CL_FALSE, offset, bytes, to, 0,
                  NULL, NULL);
    return TALLY_OK;
}

static tally_status clear(ty_device *device, void *queue, ty_memory memory, size_t offset,
                          size_t bytes, tally_error *error)
{
    static const uint32_t zero = 0;
    const size_t each = (offset | bytes) % sizeof zero ? 1 : sizeof zero; /* both its multiples */
    (void)device;
    if (bytes)
        TY_CL_TRY(clEnqueueFillBuffer, raw(queue), buffer(memory), &zero, each, offset, bytes, 0,
                  NULL, NULL);
    return TALLY_OK;
}

static tally_status pinned_alloc(ty_device *device, size_t bytes, void **block, tally_error *error)
{
    (void)device;
    *block = ty_aligned(4096, bytes);
    return *block ? TALLY_OK : ty_error_memory(error, "samples on their way", bytes);
}

static void pinned_free(ty_device *device, void *block)
{
    (void)device;
    ty_free(block);
}

static cl_int set_args(cl_kernel k, const ty_launch *launch)
{
    cl_int code = CL_SUCCESS;
    for (unsigned i = 0; i < launch->arg_count && !code; i++) {
        const ty_arg *a = &launch->args[i];
        cl_mem mem = buffer(a->value.memory);
        if (a->kind == TY_ARG_MEMORY)
            code = ty_cl.clSetKernelArg(k, i, sizeof mem, a->value.memory ? &mem : NULL);
        else if (a->kind == TY_ARG_U32)
            code = ty_cl.clSetKernelArg(k, i, sizeof a->value.u32, &a->value.u32);
        else
            code = ty_cl.clSetKernelArg(k, i, sizeof a->value.u64, &a->value.u64);
    }
    if (!code)
        code = ty_cl.clSetKernelArg(k, launch->arg_count,
                                    launch->local_bytes ? launch->local_bytes : 4, NULL);
    return code;
}

/* The queue's kernel object of that name; when the table is full, the pending launches are waited
 * for and it starts again. */
static cl_int find_kernel(opencl_queue *q, cl_program program, const char *name, cl_kernel *kernel)
{
    for (unsigned i = 0; i < q->kernel_count; i++) {
        if (q->kernels[i].program == program && q->kernels[i].name == name) {
            *kernel = q->kernels[i].kernel;
            return CL_SUCCESS;
        }
    }
    if (q->kernel_count == queue_kernels) {
        cl_int code = ty_cl.clFinish(q->queue);
        if (code)
            return code;
        while (q->kernel_count)
            ty_cl.clReleaseKernel(q->kernels[--q->kernel_count].kernel);
    }
    cl_int code;
    *kernel = ty_cl.clCreateKernel(program, name, &code);
    if (code)
        return code;
    q->kernels[q->kernel_count].program = program;
    q->kernels[q->kernel_count].name = name;
    q->kernels[q->kernel_count++].kernel = *kernel;
    return CL_SUCCESS;
}

static tally_status launch_kernel(ty_device *device, void *queue, void *program, const char *kernel,
                                  const ty_launch *launch, tally_error *error)
{
    (void)device;
    cl_kernel k;
    cl_int code = find_kernel(queue, program, kernel, &k);
    if (code)
        return ty_opencl_fail(error, "clCreateKernel", code);
    code = set_args(k, launch);
    if (code)
        return ty_opencl_fail(error, "clSetKernelArg", code);
    size_t global = (size_t)launch->groups * launch->group_size, local = launch->group_size;
    char what[128];
    code = ty_cl.clEnqueueNDRangeKernel(raw(queue), k, 1, NULL, &global, &local, 0, NULL, NULL);
    if (!code)
        return TALLY_OK;
    snprintf(what, sizeof what, "%s: %zu work-items in groups of %zu with %" PRIu32 " bytes",
             kernel, global, local, launch->local_bytes);
    return ty_opencl_fail(error, what, code);
}

static tally_status event_record(ty_device *device, void *queue, void **event, tally_error *error)
{
    (void)device;
    cl_event e;
    TY_CL_TRY(clEnqueueMarkerWithWaitList, raw(queue), 0, NULL, &e);
    *event = e;
    return TALLY_OK;
}

static tally_status event_wait(ty_device *device, void *event, tally_error *error)
{
    const cl_event e = event;
    (void)device;
    TY_CL_TRY(clWaitForEvents, 1, &e);
    return TALLY_OK;
}

static double elapsed(ty_device *device, void *from, void *to)
{
    (void)device;
    cl_ulong a = 0, b = 0;
    if (ty_cl.clGetEventProfilingInfo(from, CL_PROFILING_COMMAND_END, sizeof a, &a, NULL) ||
        ty_cl.clGetEventProfilingInfo(to, CL_PROFILING_COMMAND_END, sizeof b, &b, NULL) || b < a)
        return 0; /* a caller's queue may be without profiling */
    return (double)(b - a) * 1e-9;
}

static void event_close(ty_device *device, void *event)
{
    (void)device;
    if (event)
        ty_cl.clReleaseEvent(event);
}

const ty_device_ops ty_opencl_ops = {
    "opencl",
    TALLY_DEVICE_OPENCL,
    ty_opencl_count,
    ty_opencl_describe,
    open_device,
    close_device,
    queue_open,
    queue_close,
    wait_queue,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    native,
    NULL,
    NULL,
    alloc,
    release,
    extent,
    upload,
    download,
    clear,
    pinned_alloc,
    pinned_free,
    NULL,
    ty_opencl_build,
    ty_opencl_program_close,
    ty_opencl_stats,
    launch_kernel,
    event_record,
    event_wait,
    elapsed,
    event_close,
};
