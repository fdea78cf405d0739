/* SPDX-License-Identifier: Apache-2.0 */
/* A libOpenCL for tests: see fake.h. FAKE_OPENCL_PLATFORMS, _NAME, _DRIVER, _VERSION, _PLATFORM,
 * _GROUP, _UNAVAILABLE, _COMPILER (0: none), _BUILD=fail, _FP64 (0: none). */
#define FAKE_NAME "OPENCL"
#include "gpu/opencl_api.h"
#include "fake.h"

enum { bad_value = -30, no_platform = -1001, out_of_order = 1 };

#define ENTER(name)                                                                                \
    do {                                                                                           \
        int code_ = fake_enter(name);                                                              \
        if (code_)                                                                                 \
            return code_;                                                                          \
    } while (0)

/* For calls that return a handle. */
#define ENTER_MAKE(name)                                                                           \
    do {                                                                                           \
        *code = fake_enter(name);                                                                  \
        if (*code)                                                                                 \
            return NULL;                                                                           \
    } while (0)

static cl_int answer(const void *from, size_t bytes, size_t size, void *value, size_t *actual)
{
    if (actual)
        *actual = bytes;
    if (value && size < bytes)
        return bad_value;
    if (value)
        memcpy(value, from, bytes);
    return 0;
}

static cl_int answer_text(const char *text, size_t size, void *value, size_t *actual)
{
    return answer(text, strlen(text) + 1, size, value, actual);
}

FAKE_API cl_int clGetPlatformIDs(cl_uint most, cl_platform_id *platforms, cl_uint *count)
{
    ENTER("clGetPlatformIDs");
    *count = (cl_uint)fake_number("PLATFORMS", 1);
    for (cl_uint i = 0; i < *count && i < most; i++)
        platforms[i] = (cl_platform_id)(uintptr_t)(i + 1);
    return *count ? 0 : no_platform;
}

FAKE_API cl_int clGetPlatformInfo(cl_platform_id platform, cl_uint what, size_t size, void *value,
                                  size_t *actual)
{
    (void)platform;
    (void)what;
    ENTER("clGetPlatformInfo");
    return answer_text(fake_text("PLATFORM", "OpenCL 1.2 fake platform 7"), size, value, actual);
}

FAKE_API cl_int clGetDeviceIDs(cl_platform_id platform, cl_bitfield types, cl_uint most,
                               cl_device_id *devices, cl_uint *count)
{
    (void)platform;
    ENTER("clGetDeviceIDs");
    *count = types & CL_DEVICE_TYPE_GPU ? (cl_uint)fake_number("DEVICES", 1) : 0;
    for (cl_uint i = 0; i < *count && i < most; i++)
        devices[i] = (cl_device_id)(uintptr_t)(i + 1);
    return *count ? 0 : CL_DEVICE_NOT_FOUND;
}

FAKE_API cl_int clGetDeviceInfo(cl_device_id device, cl_uint what, size_t size, void *value,
                                size_t *actual)
{
    cl_ulong number = 0;
    cl_platform_id platform = (cl_platform_id)(uintptr_t)1;
    (void)device;
    ENTER("clGetDeviceInfo");
    switch (what) {
    case CL_DEVICE_NAME:
        return answer_text(fake_text("NAME", "fake GPU"), size, value, actual);
    case CL_DRIVER_VERSION:
        return answer_text(fake_text("DRIVER", "7.1"), size, value, actual);
    case CL_DEVICE_VERSION:
        return answer_text(fake_text("VERSION", "OpenCL 1.2 fake"), size, value, actual);
    case CL_DEVICE_EXTENSIONS:
        return answer_text(fake_text("EXTENSIONS", "cl_khr_fp64"), size, value, actual);
    case CL_DEVICE_PLATFORM:
        return answer(&platform, sizeof platform, size, value, actual);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        number = 4;
        break;
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        number = (cl_ulong)fake_number("GROUP", 1024);
        break;
    case CL_DEVICE_LOCAL_MEM_SIZE:
        number = 48 << 10;
        break;
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        number = (cl_ulong)fake_number("MEMORY", 1L << 30);
        break;
    case CL_DEVICE_AVAILABLE:
        number = !fake_number("UNAVAILABLE", 0);
        break;
    case CL_DEVICE_COMPILER_AVAILABLE:
        number = fake_number("COMPILER", 1) != 0;
        break;
    case CL_DEVICE_DOUBLE_FP_CONFIG:
        number = fake_number("FP64", 1) ? 63 : 0;
        break;
    default:
        return bad_value;
    }
    return answer(&number, size < sizeof number ? size : sizeof number, size, value, actual);
}

/* ---- contexts, queues, buffers ---- */

FAKE_API cl_context clCreateContext(const intptr_t *properties, cl_uint count,
                                    const cl_device_id *devices, void *notify, void *user,
                                    cl_int *code)
{
    (void)properties;
    (void)count;
    (void)devices;
    (void)notify;
    (void)user;
    ENTER_MAKE("clCreateContext");
    return (cl_context)fake_new(FAKE_CONTEXT, 0);
}

FAKE_API cl_int clRetainContext(cl_context context)
{
    ENTER("clRetainContext");
    fake_is(context, FAKE_CONTEXT, "clRetainContext")->references++;
    return 0;
}

FAKE_API cl_int clReleaseContext(cl_context context)
{
    int code = fake_enter("clReleaseContext");
    fake_release(fake_is(context, FAKE_CONTEXT, "clReleaseContext"));
    return code;
}

FAKE_API cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                               cl_bitfield properties, cl_int *code)
{
    (void)device;
    (void)properties;
    ENTER_MAKE("clCreateCommandQueue");
    fake_object *q = fake_new(FAKE_QUEUE, 0);
    q->of = fake_is(context, FAKE_CONTEXT, "clCreateCommandQueue");
    return (cl_command_queue)q;
}

FAKE_API cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_uint what, size_t size,
                                      void *value, size_t *actual)
{
    cl_device_id device = (cl_device_id)(uintptr_t)1;
    cl_bitfield properties = fake_number("OUT_OF_ORDER", 0) ? out_of_order : 0;
    ENTER("clGetCommandQueueInfo");
    fake_object *q = fake_is(queue, FAKE_QUEUE, "clGetCommandQueueInfo");
    if (what == CL_QUEUE_CONTEXT)
        return answer(&q->of, sizeof q->of, size, value, actual);
    if (what == CL_QUEUE_DEVICE)
        return answer(&device, sizeof device, size, value, actual);
    return answer(&properties, sizeof properties, size, value, actual);
}

FAKE_API cl_int clRetainCommandQueue(cl_command_queue queue)
{
    int code = fake_enter("clRetainCommandQueue");
    if (!code)
        fake_is(queue, FAKE_QUEUE, "clRetainCommandQueue")->references++;
    return code;
}

FAKE_API cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    int code = fake_enter("clReleaseCommandQueue");
    fake_release(fake_is(queue, FAKE_QUEUE, "clReleaseCommandQueue"));
    return code;
}

FAKE_API cl_mem clCreateBuffer(cl_context context, cl_bitfield flags, size_t bytes, void *host,
                               cl_int *code)
{
    (void)flags;
    (void)host;
    ENTER_MAKE("clCreateBuffer");
    fake_is(context, FAKE_CONTEXT, "clCreateBuffer");
    *code = !bytes                    ? CL_INVALID_BUFFER_SIZE
            : fake_memory_left(bytes) ? 0
                                      : CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return *code ? NULL : (cl_mem)fake_new(FAKE_BUFFER, bytes);
}

FAKE_API cl_int clReleaseMemObject(cl_mem memory)
{
    int code = fake_enter("clReleaseMemObject");
    fake_release(fake_is(memory, FAKE_BUFFER, "clReleaseMemObject"));
    return code;
}

FAKE_API cl_int clGetMemObjectInfo(cl_mem memory, cl_uint what, size_t size, void *value,
                                   size_t *actual)
{
    (void)what;
    ENTER("clGetMemObjectInfo");
    size_t bytes = fake_is(memory, FAKE_BUFFER, "clGetMemObjectInfo")->bytes;
    return answer(&bytes, sizeof bytes, size, value, actual);
}

static cl_int copy(const char *call, cl_command_queue queue, cl_mem memory, size_t offset,
                   size_t bytes, void *to, const void *from, cl_uint waits)
{
    fake_object *q = fake_is(queue, FAKE_QUEUE, call), *m = fake_is(memory, FAKE_BUFFER, call);
    if (!bytes || offset > m->bytes || bytes > m->bytes - offset)
        fake_die(call, "outside the buffer");
    fake_later(q, to ? to : m->block + offset, to ? m->block + offset : from, bytes);
    if (waits)
        fake_finish(q);
    return 0;
}

FAKE_API cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_uint waits,
                                    size_t offset, size_t bytes, void *to, cl_uint events,
                                    const cl_event *list, cl_event *event)
{
    (void)events;
    (void)list;
    (void)event;
    ENTER("clEnqueueReadBuffer");
    return copy("clEnqueueReadBuffer", queue, memory, offset, bytes, to, NULL, waits);
}

FAKE_API cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_uint waits,
                                     size_t offset, size_t bytes, const void *from, cl_uint events,
                                     const cl_event *list, cl_event *event)
{
    (void)events;
    (void)list;
    (void)event;
    ENTER("clEnqueueWriteBuffer");
    return copy("clEnqueueWriteBuffer", queue, memory, offset, bytes, NULL, from, waits);
}

FAKE_API cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern,
                                    size_t period, size_t offset, size_t bytes, cl_uint events,
                                    const cl_event *list, cl_event *event)
{
    (void)pattern;
    (void)events;
    (void)list;
    (void)event;
    ENTER("clEnqueueFillBuffer");
    if (bytes % period || offset % period)
        fake_die("clEnqueueFillBuffer", "not a multiple of the pattern");
    return copy("clEnqueueFillBuffer", queue, memory, offset, bytes, NULL, NULL, 0);
}

FAKE_API cl_int clFinish(cl_command_queue queue)
{
    int code = fake_enter("clFinish");
    fake_object *q = fake_is(queue, FAKE_QUEUE, "clFinish");
    if (code)
        fake_drop(q);
    fake_finish(q);
    return code;
}

/* ---- programs and kernels ---- */

static cl_program program_of(const void *bytes, size_t size)
{
    fake_object *p = fake_new(FAKE_PROGRAM, size + 1);
    memcpy(p->block, bytes, size);
    p->block[size] = '\0';
    return (cl_program)p;
}

FAKE_API cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                              const size_t *sizes, cl_int *code)
{
    (void)count;
    (void)sizes;
    ENTER_MAKE("clCreateProgramWithSource");
    fake_is(context, FAKE_CONTEXT, "clCreateProgramWithSource");
    return program_of(texts[0], strlen(texts[0]));
}

FAKE_API cl_program clCreateProgramWithBinary(cl_context context, cl_uint count,
                                              const cl_device_id *devices, const size_t *sizes,
                                              const unsigned char **binaries, cl_int *statuses,
                                              cl_int *code)
{
    (void)count;
    (void)devices;
    ENTER_MAKE("clCreateProgramWithBinary");
    fake_is(context, FAKE_CONTEXT, "clCreateProgramWithBinary");
    statuses[0] = 0;
    return program_of(binaries[0], sizes[0]);
}

FAKE_API cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                               const char *options, void *notify, void *user)
{
    (void)count;
    (void)devices;
    (void)options;
    (void)notify;
    (void)user;
    ENTER("clBuildProgram");
    fake_is(program, FAKE_PROGRAM, "clBuildProgram");
    return *fake_text("BUILD", "") ? CL_BUILD_PROGRAM_FAILURE : 0;
}

FAKE_API cl_int clGetProgramInfo(cl_program program, cl_uint what, size_t size, void *value,
                                 size_t *actual)
{
    ENTER("clGetProgramInfo");
    fake_object *p = fake_is(program, FAKE_PROGRAM, "clGetProgramInfo");
    size_t bytes = p->bytes - 1;
    if (what == CL_PROGRAM_BINARY_SIZES)
        return answer(&bytes, sizeof bytes, size, value, actual);
    memcpy(*(unsigned char **)value, p->block, bytes);
    return 0;
}

FAKE_API cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_uint what,
                                      size_t size, void *value, size_t *actual)
{
    (void)device;
    (void)what;
    ENTER("clGetProgramBuildInfo");
    fake_is(program, FAKE_PROGRAM, "clGetProgramBuildInfo");
    return answer_text(fake_text("BUILD", ""), size, value, actual);
}

FAKE_API cl_int clReleaseProgram(cl_program program)
{
    int code = fake_enter("clReleaseProgram");
    fake_release(fake_is(program, FAKE_PROGRAM, "clReleaseProgram"));
    return code;
}

FAKE_API cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code)
{
    ENTER_MAKE("clCreateKernel");
    fake_object *p = fake_is(program, FAKE_PROGRAM, "clCreateKernel");
    *code = strstr((char *)p->block, name) ? 0 : -46;
    return *code ? NULL : (cl_kernel)fake_new(FAKE_KERNEL, 0);
}

FAKE_API cl_int clReleaseKernel(cl_kernel kernel)
{
    int code = fake_enter("clReleaseKernel");
    fake_release(fake_is(kernel, FAKE_KERNEL, "clReleaseKernel"));
    return code;
}

FAKE_API cl_int clSetKernelArg(cl_kernel kernel, cl_uint i, size_t size, const void *value)
{
    ENTER("clSetKernelArg");
    fake_is(kernel, FAKE_KERNEL, "clSetKernelArg")->arguments |= UINT64_C(1) << i;
    return size ? 0 : value ? -51 : -52;
}

FAKE_API cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_uint what,
                                         size_t size, void *value, size_t *actual)
{
    cl_ulong number = what == CL_KERNEL_WORK_GROUP_SIZE ? 1024 : 0;
    (void)device;
    ENTER("clGetKernelWorkGroupInfo");
    fake_is(kernel, FAKE_KERNEL, "clGetKernelWorkGroupInfo");
    return answer(&number, sizeof number, size, value, actual);
}

FAKE_API cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                       const size_t *offset, const size_t *global,
                                       const size_t *local, cl_uint events, const cl_event *list,
                                       cl_event *event)
{
    (void)dimensions;
    (void)offset;
    (void)events;
    (void)list;
    (void)event;
    ENTER("clEnqueueNDRangeKernel");
    fake_is(queue, FAKE_QUEUE, "clEnqueueNDRangeKernel");
    uint64_t set = fake_is(kernel, FAKE_KERNEL, "clEnqueueNDRangeKernel")->arguments;
    if (!set || (set & (set + 1)))
        fake_die("clEnqueueNDRangeKernel", "arguments are not set");
    if (!local[0] || local[0] > 1024 || !global[0] || global[0] % local[0])
        fake_die("clEnqueueNDRangeKernel", "sizes");
    return 0;
}

FAKE_API cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint events,
                                            const cl_event *list, cl_event *event)
{
    (void)events;
    (void)list;
    ENTER("clEnqueueMarkerWithWaitList");
    fake_object *of = fake_is(queue, FAKE_QUEUE, "clEnqueueMarkerWithWaitList");
    *event = (cl_event)fake_new(FAKE_EVENT, 0);
    ((fake_object *)*event)->of = of;
    return 0;
}

FAKE_API cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
    ENTER("clWaitForEvents");
    for (cl_uint i = 0; i < count; i++)
        fake_finish(fake_is(fake_is(events[i], FAKE_EVENT, "clWaitForEvents")->of, FAKE_QUEUE,
                            "clWaitForEvents"));
    return 0;
}

FAKE_API cl_int clGetEventProfilingInfo(cl_event event, cl_uint what, size_t size, void *value,
                                        size_t *actual)
{
    cl_ulong number = 5;
    (void)what;
    ENTER("clGetEventProfilingInfo");
    fake_is(event, FAKE_EVENT, "clGetEventProfilingInfo");
    return answer(&number, sizeof number, size, value, actual);
}

FAKE_API cl_int clReleaseEvent(cl_event event)
{
    int code = fake_enter("clReleaseEvent");
    fake_release(fake_is(event, FAKE_EVENT, "clReleaseEvent"));
    return code;
}

/* Every function of Tally's table is here, with its type. */
#define SAME(name, result, parameters) name,
FAKE_API const ty_opencl_api fake_table = {TY_OPENCL_FUNCTIONS(SAME)};
