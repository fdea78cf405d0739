/* OpenCL 1.2, opened at run time. One open device is a context; a queue is a command queue. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "device/device.h"
#include "device/dynlib.h"
#include "device/opencl_api.h"

enum { most_devices = 64, group_least = 256 /* what merge.cl is written for */ };

static ty_opencl_api cl;
static struct {
    pthread_once_t once;
    cl_platform_id platforms[most_devices];
    cl_device_id devices[most_devices];
    uint32_t count;
    char reason[256];
} found = {.once = PTHREAD_ONCE_INIT};

typedef struct {
    cl_device_id id;
    cl_context context;
} opencl_device;

static const struct {
    cl_int code;
    const char *words;
} errors[] = {
    {-1, "device not found"},
    {-2, "device not available"},
    {-3, "compiler not available"},
    {-4, "out of device memory"},
    {-5, "out of resources"},
    {-6, "out of host memory"},
    {-11, "program does not build"},
    {-14, "a command before it failed"},
    {-30, "invalid value"},
    {-33, "invalid device"},
    {-34, "invalid context"},
    {-36, "invalid command queue"},
    {-38, "invalid buffer"},
    {-45, "invalid program"},
    {-46, "invalid kernel name"},
    {-52, "invalid arguments"},
    {-54, "invalid group size"},
    {-55, "invalid item size"},
    {-61, "invalid buffer size"},
    {-1001, "no driver is registered"},
    {-9999, "a kernel read or wrote outside its memory"},
};

static const char *words(cl_int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == code)
            return errors[i].words;
    }
    return "error";
}

static tally_status fail(tally_error *error, const char *call, cl_int code)
{
    int memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY ||
                 code == CL_INVALID_BUFFER_SIZE;
    return ty_error(error, memory ? TALLY_ERROR_MEMORY : TALLY_ERROR_DEVICE, "OpenCL: %s: %s (%d)",
                    call, words(code), (int)code);
}

#define TRY(call, ...)                                                                             \
    do {                                                                                           \
        cl_int code_ = cl.call(__VA_ARGS__);                                                       \
        if (code_)                                                                                 \
            return fail(error, #call, code_);                                                      \
    } while (0)

static int open_library(void)
{
    static const char *const candidates[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
#define SYMBOL(name, result, parameters) {#name, offsetof(ty_opencl_api, name), 1},
    static const ty_symbol symbols[] = {TY_OPENCL_FUNCTIONS(SYMBOL){NULL, 0, 0}};
#undef SYMBOL
    return ty_dynlib_open("TALLY_OPENCL_LIBRARY", candidates, symbols, &cl, found.reason,
                          sizeof found.reason) != NULL;
}

static int known(cl_device_id id)
{
    for (uint32_t i = 0; i < found.count; i++) {
        if (found.devices[i] == id)
            return 1;
    }
    return 0;
}

/* Returns the last failure other than that a platform has none. A device may be of several types.
 */
static cl_int add_devices(const cl_platform_id *platforms, cl_uint count, cl_bitfield types)
{
    cl_int failure = CL_SUCCESS;
    for (cl_uint p = 0; p < count && p < 16; p++) {
        cl_uint n = 0;
        cl_device_id ids[most_devices];
        cl_int code = cl.clGetDeviceIDs(platforms[p], types, most_devices, ids, &n);
        if (code && code != CL_DEVICE_NOT_FOUND)
            failure = code;
        for (cl_uint i = 0; !code && i < n && i < most_devices && found.count < most_devices; i++) {
            if (known(ids[i]))
                continue;
            found.platforms[found.count] = platforms[p];
            found.devices[found.count++] = ids[i];
        }
    }
    return failure;
}

/* GPUs come first, so that opencl:0 is one where there is one. */
static void find_devices(void)
{
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    if (!open_library())
        return;
    cl_int code = cl.clGetPlatformIDs(16, platforms, &platform_count);
    if (code && code != CL_NO_PLATFORM)
        snprintf(found.reason, sizeof found.reason, "clGetPlatformIDs: %s (%d)", words(code),
                 (int)code);
    else if (code || !platform_count)
        snprintf(found.reason, sizeof found.reason,
                 "libOpenCL is there but no driver is registered with it");
    if (code || !platform_count)
        return;
    code = add_devices(platforms, platform_count, CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR);
    cl_int cpus = add_devices(platforms, platform_count, CL_DEVICE_TYPE_CPU);
    code = code ? code : cpus;
    if (!found.count && code)
        snprintf(found.reason, sizeof found.reason, "clGetDeviceIDs: %s (%d)", words(code),
                 (int)code);
    else if (!found.count)
        snprintf(found.reason, sizeof found.reason, "OpenCL has %u platform%s but no device",
                 platform_count, platform_count == 1 ? "" : "s");
}

static uint32_t count_devices(char *reason, size_t size)
{
    pthread_once(&found.once, find_devices);
    if (!found.count)
        snprintf(reason, size, "%s", found.reason);
    return found.count;
}

static cl_ulong device_number(cl_device_id id, cl_uint what, size_t size)
{
    union {
        cl_uint u32;
        cl_ulong u64;
    } value = {.u64 = 0};
    if (cl.clGetDeviceInfo(id, what, size, &value, NULL))
        return 0;
    return size == sizeof value.u32 ? value.u32 : value.u64;
}

/* A text of the device, cut at `size`; drivers refuse to cut it themselves. */
static void device_text(cl_device_id id, cl_uint what, char *text, size_t size)
{
    char whole[1024];
    if (cl.clGetDeviceInfo(id, what, sizeof whole - 1, whole, NULL))
        snprintf(whole, sizeof whole, "unknown");
    whole[sizeof whole - 1] = '\0';
    snprintf(text, size, "%.*s", (int)size - 1, whole);
}

static int has_extension(cl_device_id id, const char *name)
{
    size_t size = 0;
    if (cl.clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size) || !size)
        return 0;
    char *text = ty_calloc(1, size + 1);
    int has = text && !cl.clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, text, NULL) &&
              strstr(text, name);
    ty_free(text);
    return has;
}

/* Whether the device can be used at all; if not, `reason` says why. */
static int usable(cl_device_id id, char *reason, size_t size)
{
    char version[64];
    int major = 0, minor = 0;
    device_text(id, CL_DEVICE_VERSION, version, sizeof version);
    cl_ulong group = device_number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, 8);
    if (!device_number(id, CL_DEVICE_AVAILABLE, 4))
        snprintf(reason, size, "its driver says that it is not available");
    else if (!device_number(id, CL_DEVICE_COMPILER_AVAILABLE, 4))
        snprintf(reason, size, "its driver has no compiler");
    else if (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2 || major * 10 + minor < 12)
        snprintf(reason, size, "too old: its version is %s; OpenCL 1.2 is needed", version);
    else if (group < group_least)
        snprintf(reason, size, "its groups have %llu work-items at most; %d are needed",
                 (unsigned long long)group, group_least);
    else if (!device_number(id, CL_DEVICE_MAX_COMPUTE_UNITS, 4) ||
             !device_number(id, CL_DEVICE_LOCAL_MEM_SIZE, 8))
        snprintf(reason, size, "its driver does not tell its limits");
    else
        return 1;
    return 0;
}

static tally_status describe(uint32_t index, tally_device_info *info, tally_error *error)
{
    char reason[256];
    if (index >= count_devices(reason, sizeof reason))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "opencl:%u: %s", index,
                        found.count ? "there is no such device" : reason);
    cl_device_id id = found.devices[index];
    snprintf(info->id, sizeof info->id, "opencl:%u", index);
    device_text(id, CL_DEVICE_NAME, info->name, sizeof info->name);
    info->memory_bytes = device_number(id, CL_DEVICE_GLOBAL_MEM_SIZE, 8);
    info->local_bytes = device_number(id, CL_DEVICE_LOCAL_MEM_SIZE, 8);
    info->available = usable(id, info->reason, sizeof info->reason);
    return TALLY_OK;
}

/* Local memory of a whole unit. OpenCL only tells what a group may have; for NVIDIA's devices the
 * vendor's tables say the rest, by compute capability. */
static uint32_t unit_local(cl_device_id id, uint32_t group_local)
{
    static const struct {
        uint32_t capability, kilobytes;
    } units[] = {{70, 96},  {75, 64},  {80, 164},  {86, 100}, {87, 164},
                 {89, 100}, {90, 228}, {100, 228}, {120, 100}};
    uint32_t capability =
        (uint32_t)(10 * device_number(id, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, 4) +
                   device_number(id, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, 4));
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i].capability == capability)
            return units[i].kilobytes << 10;
    }
    return group_local;
}

/* Nonzero when the driver told them all. */
static int read_limits(ty_device *device, cl_device_id id)
{
    char driver[64], version[96], platform[1024];
    cl_platform_id of = NULL;
    if (cl.clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof of, &of, NULL) ||
        cl.clGetPlatformInfo(of, CL_PLATFORM_VERSION, sizeof platform - 1, platform, NULL))
        snprintf(platform, sizeof platform, "unknown");
    platform[sizeof platform - 1] = '\0';
    device_text(id, CL_DEVICE_NAME, device->name, sizeof device->name);
    device_text(id, CL_DRIVER_VERSION, driver, sizeof driver);
    device_text(id, CL_DEVICE_VERSION, version, sizeof version);
    snprintf(device->signature, sizeof device->signature, "opencl|%.60s|%s|%s|%.90s", device->name,
             driver, version, platform);
    device->memory_bytes = device_number(id, CL_DEVICE_GLOBAL_MEM_SIZE, 8);
    device->units = (uint32_t)device_number(id, CL_DEVICE_MAX_COMPUTE_UNITS, 4);
    device->group_max = (uint32_t)device_number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, 8);
    cl_ulong local = device_number(id, CL_DEVICE_LOCAL_MEM_SIZE, 8);
    device->local_bytes = local < UINT32_MAX ? (uint32_t)local : UINT32_MAX;
    device->unit_local_bytes = unit_local(id, device->local_bytes);
    device->warp = has_extension(id, "cl_nv_device_attribute_query") &&
                           device_number(id, CL_DEVICE_WARP_SIZE_NV, 4) == 32
                       ? 32
                       : 1;
    device->unit_threads = device->warp == 32 ? 2048 : device->group_max;
    device->has_fp64 = device_number(id, CL_DEVICE_DOUBLE_FP_CONFIG, 8) != 0;
    return device->units && device->group_max >= group_least && device->local_bytes;
}

static tally_status open_context(uint32_t index, void *native, opencl_device *own,
                                 tally_error *error)
{
    if (native) {
        TRY(clGetCommandQueueInfo, native, CL_QUEUE_DEVICE, sizeof own->id, &own->id, NULL);
        TRY(clGetCommandQueueInfo, native, CL_QUEUE_CONTEXT, sizeof own->context, &own->context,
            NULL);
        TRY(clRetainContext, own->context);
        return TALLY_OK;
    }
    own->id = found.devices[index];
    intptr_t properties[] = {CL_CONTEXT_PLATFORM, (intptr_t)found.platforms[index], 0};
    cl_int code;
    own->context = cl.clCreateContext(properties, 1, &own->id, NULL, NULL, &code);
    return code ? fail(error, "clCreateContext", code) : TALLY_OK;
}

static void close_device(ty_device *device)
{
    opencl_device *own = device->native;
    cl.clReleaseContext(own->context);
    ty_free(own);
    ty_free(device);
}

static tally_status open_device(uint32_t index, void *native, ty_device **device,
                                tally_error *error)
{
    char reason[256];
    if (index >= count_devices(reason, sizeof reason))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "opencl:%u: %s", index,
                        found.count ? "there is no such device" : reason);
    ty_device *d = ty_calloc(1, sizeof *d);
    opencl_device *own = ty_calloc(1, sizeof *own);
    tally_status status = d && own ? open_context(index, native, own, error)
                                   : ty_error_memory(error, "a device", sizeof *d);
    if (!status && !usable(own->id, reason, sizeof reason)) {
        cl.clReleaseContext(own->context);
        status = ty_error(error, TALLY_ERROR_UNSUPPORTED, "opencl:%u: %s", index, reason);
    }
    if (status) {
        ty_free(own);
        ty_free(d);
        return status;
    }
    d->ops = &ty_opencl_ops;
    d->native = own;
    if (!read_limits(d, own->id)) {
        close_device(d);
        return ty_error(error, TALLY_ERROR_DEVICE,
                        "OpenCL: clGetDeviceInfo: the driver does not tell the device's limits");
    }
    *device = d;
    return TALLY_OK;
}

/* A queue and the kernel objects launched on it. A queue belongs to one thread at a time, so their
 * arguments are set without a lock, and no object is released while a launch may be pending. The
 * queue itself is not released when it is the caller's. */
enum { queue_kernels = 8 };

typedef struct {
    cl_command_queue queue;
    int borrowed;
    struct {
        cl_program program;
        const char *name; /* string constants: compared by address */
        cl_kernel kernel;
    } kernels[queue_kernels];
    unsigned kernel_count;
} opencl_queue;

/* A caller's queue must be in order and of the plan's OpenCL context. */
static tally_status check_queue(const opencl_device *own, cl_command_queue queue,
                                tally_error *error)
{
    cl_bitfield properties = 0;
    cl_context context = NULL;
    TRY(clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    TRY(clGetCommandQueueInfo, queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
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
    opencl_device *own = device->native;
    tally_status status = native ? check_queue(own, native, error) : TALLY_OK;
    if (status)
        return status;
    opencl_queue *q = ty_calloc(1, sizeof *q);
    if (!q)
        return ty_error_memory(error, "a queue", sizeof *q);
    q->borrowed = native != NULL;
    cl_int code = CL_SUCCESS;
    q->queue =
        native ? native : cl.clCreateCommandQueue(own->context, own->id, CL_QUEUE_PROFILING, &code);
    if (code) {
        ty_free(q);
        return fail(error, "clCreateCommandQueue", code);
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
        cl.clReleaseKernel(q->kernels[i].kernel);
    if (!q->borrowed)
        cl.clReleaseCommandQueue(q->queue);
    ty_free(q);
}

static cl_command_queue raw(void *queue)
{
    return ((opencl_queue *)queue)->queue;
}

static tally_status wait_queue(ty_device *device, void *queue, tally_error *error)
{
    (void)device;
    TRY(clFinish, raw(queue));
    return TALLY_OK;
}

static cl_mem buffer(ty_memory memory)
{
    return (cl_mem)(uintptr_t)memory;
}

static tally_status alloc(ty_device *device, size_t bytes, ty_memory *memory, tally_error *error)
{
    opencl_device *own = device->native;
    cl_int code;
    cl_mem mem = cl.clCreateBuffer(own->context, CL_MEM_READ_WRITE, bytes ? bytes : 4, NULL, &code);
    if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_INVALID_BUFFER_SIZE)
        return ty_error(error, TALLY_ERROR_MEMORY,
                        "OpenCL: clCreateBuffer: %zu bytes of device memory: %s (%d)", bytes,
                        words(code), (int)code);
    if (code)
        return fail(error, "clCreateBuffer", code);
    *memory = (ty_memory)(uintptr_t)mem;
    return TALLY_OK;
}

static void release(ty_device *device, ty_memory memory)
{
    (void)device;
    if (memory)
        cl.clReleaseMemObject(buffer(memory));
}

static tally_status extent(ty_device *device, ty_memory memory, uint64_t *bytes, tally_error *error)
{
    (void)device;
    size_t size = 0;
    TRY(clGetMemObjectInfo, buffer(memory), CL_MEM_SIZE, sizeof size, &size, NULL);
    *bytes = size;
    return TALLY_OK;
}

static tally_status upload(ty_device *device, void *queue, ty_memory to, size_t offset,
                           const void *from, size_t bytes, tally_error *error)
{
    (void)device;
    if (bytes)
        TRY(clEnqueueWriteBuffer, raw(queue), buffer(to), CL_FALSE, offset, bytes, from, 0, NULL,
            NULL);
    return TALLY_OK;
}

static tally_status download(ty_device *device, void *queue, void *to, ty_memory from,
                             size_t offset, size_t bytes, tally_error *error)
{
    (void)device;
    if (bytes)
        TRY(clEnqueueReadBuffer, raw(queue), buffer(from), CL_FALSE, offset, bytes, to, 0, NULL,
            NULL);
    return TALLY_OK;
}

static tally_status clear(ty_device *device, void *queue, ty_memory memory, size_t offset,
                          size_t bytes, tally_error *error)
{
    static const uint32_t zero = 0;
    (void)device;
    if (bytes)
        TRY(clEnqueueFillBuffer, raw(queue), buffer(memory), &zero, sizeof zero, offset, bytes, 0,
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

static tally_status build_log(const opencl_device *own, cl_program program, cl_int code,
                              tally_error *error)
{
    char log[800] = "";
    size_t size = 0;
    char *whole = NULL;
    if (!cl.clGetProgramBuildInfo(program, own->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) && size)
        whole = ty_malloc(size + 1);
    if (whole &&
        !cl.clGetProgramBuildInfo(program, own->id, CL_PROGRAM_BUILD_LOG, size, whole, NULL)) {
        whole[size] = '\0';
        snprintf(log, sizeof log, "%s", whole);
    }
    ty_free(whole);
    return ty_error(error, TALLY_ERROR_DEVICE, "OpenCL: the kernel does not build (%d): %s",
                    (int)code, log);
}

static cl_program load_binary(const opencl_device *own, const void *bytes, size_t size,
                              const char *options)
{
    cl_int status = 0, code = 0;
    const unsigned char *binary = bytes;
    cl_program program =
        cl.clCreateProgramWithBinary(own->context, 1, &own->id, &size, &binary, &status, &code);
    if (code || status) {
        if (!code)
            cl.clReleaseProgram(program);
        return NULL;
    }
    if (!cl.clBuildProgram(program, 1, &own->id, options, NULL, NULL))
        return program;
    cl.clReleaseProgram(program);
    return NULL;
}

static void save_binary(const ty_device *device, cl_program program, const char *source,
                        const char *options)
{
    size_t size = 0;
    if (cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) || !size)
        return;
    unsigned char *bytes = ty_malloc(size);
    if (bytes && !cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL))
        ty_cache_put(source, options, device->signature, bytes, size);
    ty_free(bytes);
}

static tally_status build(ty_device *device, const char *source, const char *options,
                          void **program, int *cached, tally_error *error)
{
    opencl_device *own = device->native;
    char flags[1024];
    size_t size;
    int n = snprintf(flags, sizeof flags, "-cl-std=CL1.2 %s", options);
    if (n < 0 || (size_t)n >= sizeof flags)
        return ty_error(error, TALLY_ERROR_INTERNAL, "a kernel's options are too long");
    void *bytes = ty_cache_get(source, flags, device->signature, &size);
    *program = bytes ? load_binary(own, bytes, size, flags) : NULL;
    ty_free(bytes);
    *cached = *program != NULL;
    if (*cached)
        return TALLY_OK;
    cl_int code;
    cl_program p = cl.clCreateProgramWithSource(own->context, 1, &source, NULL, &code);
    if (code)
        return fail(error, "clCreateProgramWithSource", code);
    code = cl.clBuildProgram(p, 1, &own->id, flags, NULL, NULL);
    if (code) {
        tally_status status = build_log(own, p, code, error);
        cl.clReleaseProgram(p);
        return status;
    }
    save_binary(device, p, source, flags);
    *program = p;
    return TALLY_OK;
}

static void program_close(ty_device *device, void *program)
{
    (void)device;
    if (program)
        cl.clReleaseProgram(program);
}

static tally_status stats(ty_device *device, void *program, const char *kernel,
                          ty_kernel_stats *stats, tally_error *error)
{
    opencl_device *own = device->native;
    cl_int code;
    cl_kernel k = cl.clCreateKernel(program, kernel, &code);
    if (code)
        return fail(error, "clCreateKernel", code);
    size_t group = 0;
    cl_ulong local = 0, spill = 0;
    cl.clGetKernelWorkGroupInfo(k, own->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    cl.clGetKernelWorkGroupInfo(k, own->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    cl.clGetKernelWorkGroupInfo(k, own->id, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof spill, &spill, NULL);
    *stats = (ty_kernel_stats){0, (uint32_t)spill, (uint32_t)local, (uint32_t)group};
    cl.clReleaseKernel(k);
    return TALLY_OK;
}

static cl_int set_args(cl_kernel k, const ty_launch *launch)
{
    cl_int code = CL_SUCCESS;
    for (unsigned i = 0; i < launch->arg_count && !code; i++) {
        const ty_arg *a = &launch->args[i];
        cl_mem mem = buffer(a->value.memory);
        if (a->kind == TY_ARG_MEMORY)
            code = cl.clSetKernelArg(k, i, sizeof mem, a->value.memory ? &mem : NULL);
        else if (a->kind == TY_ARG_U32)
            code = cl.clSetKernelArg(k, i, sizeof a->value.u32, &a->value.u32);
        else
            code = cl.clSetKernelArg(k, i, sizeof a->value.u64, &a->value.u64);
    }
    if (!code)
        code = cl.clSetKernelArg(k, launch->arg_count,
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
        cl_int code = cl.clFinish(q->queue);
        if (code)
            return code;
        while (q->kernel_count)
            cl.clReleaseKernel(q->kernels[--q->kernel_count].kernel);
    }
    cl_int code;
    *kernel = cl.clCreateKernel(program, name, &code);
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
        return fail(error, "clCreateKernel", code);
    code = set_args(k, launch);
    if (code)
        return fail(error, "clSetKernelArg", code);
    size_t global = (size_t)launch->groups * launch->group_size, local = launch->group_size;
    TRY(clEnqueueNDRangeKernel, raw(queue), k, 1, NULL, &global, &local, 0, NULL, NULL);
    return TALLY_OK;
}

static tally_status mark(ty_device *device, void *queue, void **event, tally_error *error)
{
    (void)device;
    cl_event e;
    TRY(clEnqueueMarkerWithWaitList, raw(queue), 0, NULL, &e);
    *event = e;
    return TALLY_OK;
}

static double elapsed(ty_device *device, void *from, void *to)
{
    (void)device;
    cl_ulong a = 0, b = 0;
    if (cl.clGetEventProfilingInfo(from, CL_PROFILING_COMMAND_END, sizeof a, &a, NULL) ||
        cl.clGetEventProfilingInfo(to, CL_PROFILING_COMMAND_END, sizeof b, &b, NULL) || b < a)
        return 0; /* a caller's queue may be without profiling */
    return (double)(b - a) * 1e-9;
}

static void mark_close(ty_device *device, void *event)
{
    (void)device;
    if (event)
        cl.clReleaseEvent(event);
}

const ty_device_ops ty_opencl_ops = {
    "opencl",      TALLY_DEVICE_OPENCL,
    count_devices, describe,
    open_device,   close_device,
    queue_open,    queue_close,
    wait_queue,    alloc,
    release,       extent,
    upload,        download,
    clear,         pinned_alloc,
    pinned_free,   build,
    program_close, stats,
    launch_kernel, mark,
    elapsed,       mark_close,
};
