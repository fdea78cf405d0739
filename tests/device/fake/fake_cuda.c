/* SPDX-License-Identifier: Apache-2.0 */
/* A libcuda for tests: see fake.h. FAKE_CUDA_DRIVER (13000), _CAPABILITY (90), _NAME. A stream, a
 * module and the like need a current context, as the driver's do; streams and memory that are used
 * belong to it. FAKE_CUDA_PEERS=0: no device reaches another's memory. */
#define FAKE_NAME   "CUDA"
#define FAKE_DEVICE current_device()
#include "gpu/cuda_api.h"
static int current_device(void);
#include "fake.h"

enum { no_device = 100, bad_context = 201, bad_image = 200, bad_peer = 217 };

/* The contexts pushed on this thread. */
static _Thread_local fake_object *stack[8];
static _Thread_local int current;
static fake_object *primary[64];
static unsigned char reached[64][64]; /* whose memory a context reaches */

static int current_device(void)
{
    return current ? stack[current - 1]->number : -1;
}

#define ENTER(name)                                                                                \
    do {                                                                                           \
        int code_ = fake_enter(name);                                                              \
        if (code_)                                                                                 \
            return code_;                                                                          \
    } while (0)

#define ENTER_CURRENT(name)                                                                        \
    do {                                                                                           \
        ENTER(name);                                                                               \
        if (!current)                                                                              \
            return bad_context;                                                                    \
    } while (0)

FAKE_API CUresult cuGetErrorName(CUresult code, const char **text)
{
    (void)code;
    *text = "CUDA_ERROR_FAKE";
    return 0;
}

FAKE_API CUresult cuGetErrorString(CUresult code, const char **text)
{
    *text = code == no_device                  ? "no CUDA-capable device is detected"
            : code == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory"
                                               : "the fake driver's words";
    return 0;
}

FAKE_API CUresult cuInit(unsigned flags)
{
    (void)flags;
    ENTER("cuInit");
    return 0;
}

FAKE_API CUresult cuDriverGetVersion(int *version)
{
    ENTER("cuDriverGetVersion");
    *version = (int)fake_number("DRIVER", 13000);
    return 0;
}

FAKE_API CUresult cuDeviceGetCount(int *count)
{
    ENTER("cuDeviceGetCount");
    *count = (int)fake_number("DEVICES", 1);
    return *count ? 0 : no_device;
}

FAKE_API CUresult cuDeviceGet(CUdevice *device, int index)
{
    ENTER("cuDeviceGet");
    *device = index;
    return 0;
}

FAKE_API CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    (void)device;
    ENTER("cuDeviceGetName");
    snprintf(name, (size_t)size, "%s", fake_text("NAME", "fake GPU"));
    return 0;
}

FAKE_API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    (void)device;
    ENTER("cuDeviceTotalMem");
    *bytes = (size_t)fake_number("MEMORY", 1L << 30);
    return 0;
}

FAKE_API CUresult cuDeviceGetAttribute(int *value, int what, CUdevice device)
{
    int capability = (int)fake_number("CAPABILITY", 90);
    (void)device;
    ENTER("cuDeviceGetAttribute");
    *value = what == CU_THREADS_PER_BLOCK            ? 1024
             : what == CU_WARP_SIZE                  ? 32
             : what == CU_MULTIPROCESSORS            ? 4
             : what == CU_THREADS_PER_MULTIPROCESSOR ? 2048
             : what == CU_CAPABILITY_MAJOR           ? capability / 10
             : what == CU_CAPABILITY_MINOR           ? capability % 10
             : what == CU_SHARED_PER_MULTIPROCESSOR  ? 228 << 10
             : what == CU_SHARED_PER_BLOCK_OPTIN     ? 227 << 10
                                                     : 0;
    return 0;
}

FAKE_API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    ENTER("cuDevicePrimaryCtxRetain");
    if (primary[device])
        primary[device]->references++;
    else
        primary[device] = fake_new(FAKE_CONTEXT, 0);
    primary[device]->number = device;
    *context = (CUcontext)primary[device];
    return 0;
}

FAKE_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    int code = fake_enter("cuDevicePrimaryCtxRelease");
    fake_object *own = fake_is(primary[device], FAKE_CONTEXT, "cuDevicePrimaryCtxRelease");
    if (own->references == 1) {
        primary[device] = NULL;
        memset(reached[device], 0, sizeof reached[device]);
    }
    fake_release(own);
    return code;
}

FAKE_API CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    ENTER("cuCtxPushCurrent");
    if (current == 8)
        fake_die("cuCtxPushCurrent", "too many");
    stack[current++] = fake_is(context, FAKE_CONTEXT, "cuCtxPushCurrent");
    return 0;
}

FAKE_API CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    int code = fake_enter("cuCtxPopCurrent");
    if (current < 1)
        fake_die("cuCtxPopCurrent", "none is current");
    *context = (CUcontext)stack[--current];
    return code;
}

FAKE_API CUresult cuCtxGetDevice(CUdevice *device)
{
    ENTER_CURRENT("cuCtxGetDevice");
    *device = current_device();
    return 0;
}

FAKE_API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice other)
{
    ENTER("cuDeviceCanAccessPeer");
    *can = device != other && fake_number("PEERS", 1);
    return 0;
}

FAKE_API CUresult cuCtxEnablePeerAccess(CUcontext other, unsigned flags)
{
    ENTER_CURRENT("cuCtxEnablePeerAccess");
    const int peer = fake_is(other, FAKE_CONTEXT, "cuCtxEnablePeerAccess")->number;
    if (flags || peer == current_device() || !fake_number("PEERS", 1))
        return bad_peer;
    const int before = reached[current_device()][peer];
    reached[current_device()][peer] = 1;
    return before ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : 0;
}

/* ---- memory ---- */

/* A device pointer is the block's; the objects are found by it. */
static struct {
    fake_object *object;
} buffers[1024];
static pthread_mutex_t buffers_lock = PTHREAD_MUTEX_INITIALIZER;
enum { most_buffers = sizeof buffers / sizeof *buffers };

/* Under the lock; -1: none. */
static int seek(CUdeviceptr at)
{
    for (int i = 0; i < most_buffers; i++) {
        const fake_object *o = buffers[i].object;
        CUdeviceptr start = o ? (CUdeviceptr)(uintptr_t)o->block : 0;
        if (o && at >= start && at < start + o->bytes)
            return i;
    }
    return -1;
}

static int find(CUdeviceptr at, const char *call)
{
    const int found = seek(at);
    if (found < 0)
        fake_die(call, "not device memory");
    return found;
}

/* Of the context of that device. */
static void check_range(int device, CUdeviceptr at, size_t bytes, const char *call)
{
    pthread_mutex_lock(&buffers_lock);
    const fake_object *o = buffers[find(at, call)].object;
    if (!bytes || at + bytes > (CUdeviceptr)(uintptr_t)o->block + o->bytes)
        fake_die(call, "outside the memory");
    if (o->number != device)
        fake_die(call, "memory of another device");
    pthread_mutex_unlock(&buffers_lock);
}

/* A stream of the current context. */
static fake_object *own_stream(CUstream stream, const char *call)
{
    fake_object *q = fake_is(stream, FAKE_QUEUE, call);
    if (q->of && q->of != stack[current - 1])
        fake_die(call, "a stream of another context");
    return q;
}

FAKE_API CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes)
{
    int i = 0;
    ENTER_CURRENT("cuMemAlloc");
    if (!fake_memory_left(bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&buffers_lock);
    while (i < most_buffers - 1 && buffers[i].object)
        i++;
    buffers[i].object = fake_new(FAKE_BUFFER, bytes);
    buffers[i].object->number = current_device();
    *at = (CUdeviceptr)(uintptr_t)buffers[i].object->block;
    pthread_mutex_unlock(&buffers_lock);
    return 0;
}

/* A copy under way keeps the driver from taking the memory: the tests' streams are waited for. */
FAKE_API CUresult cuMemFree_v2(CUdeviceptr at)
{
    int code = fake_enter("cuMemFree");
    pthread_mutex_lock(&buffers_lock);
    const int i = find(at, "cuMemFree");
    fake_release(buffers[i].object);
    buffers[i].object = NULL;
    pthread_mutex_unlock(&buffers_lock);
    return code ? code : current ? 0 : bad_context;
}

FAKE_API CUresult cuMemHostAlloc(void **block, size_t bytes, unsigned flags)
{
    (void)flags;
    ENTER_CURRENT("cuMemHostAlloc");
    /* Room for the object ahead of the block, so that it is found again. */
    fake_object *o = fake_new(FAKE_HOST_MEMORY, bytes + sizeof o);
    memcpy(o->block, &o, sizeof o);
    *block = o->block + sizeof o;
    return 0;
}

FAKE_API CUresult cuMemFreeHost(void *block)
{
    fake_object *o;
    int code = fake_enter("cuMemFreeHost");
    memcpy(&o, (unsigned char *)block - sizeof o, sizeof o);
    fake_release(fake_is(o, FAKE_HOST_MEMORY, "cuMemFreeHost"));
    return code ? code : current ? 0 : bad_context;
}

/* What cuMemHostAlloc gave is the host's and pinned; of anything else all is zero. */
FAKE_API CUresult cuPointerGetAttributes(unsigned count, int *what, void **values, CUdeviceptr at)
{
    const unsigned char *block = (const unsigned char *)(uintptr_t)at;
    ENTER_CURRENT("cuPointerGetAttributes");
    pthread_mutex_lock(&fake.lock);
    const fake_object *o = fake.all;
    while (o && (o->kind != FAKE_HOST_MEMORY || block < o->block || block >= o->block + o->bytes))
        o = o->next;
    for (unsigned i = 0; i < count; i++) {
        if (what[i] == CU_POINTER_MEMORY_TYPE)
            *(unsigned *)values[i] = o ? CU_MEMORY_HOST : 0;
        else if (what[i] == CU_POINTER_RANGE_START)
            *(CUdeviceptr *)values[i] = o ? (CUdeviceptr)(uintptr_t)(o->block + sizeof o) : 0;
        else
            *(size_t *)values[i] = o ? o->bytes - sizeof o : 0;
    }
    pthread_mutex_unlock(&fake.lock);
    return 0;
}

FAKE_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                                       CUstream stream)
{
    ENTER_CURRENT("cuMemcpyHtoDAsync");
    check_range(current_device(), to, bytes, "cuMemcpyHtoDAsync");
    fake_later(own_stream(stream, "cuMemcpyHtoDAsync"), (void *)(uintptr_t)to, from, bytes);
    return 0;
}

FAKE_API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    ENTER_CURRENT("cuMemcpyDtoHAsync");
    check_range(current_device(), from, bytes, "cuMemcpyDtoHAsync");
    fake_later(own_stream(stream, "cuMemcpyDtoHAsync"), to, (void *)(uintptr_t)from, bytes);
    return 0;
}

FAKE_API CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t bytes,
                                  CUstream stream)
{
    (void)value;
    ENTER_CURRENT("cuMemsetD8Async");
    check_range(current_device(), at, bytes, "cuMemsetD8Async");
    fake_later(own_stream(stream, "cuMemsetD8Async"), (void *)(uintptr_t)at, NULL, bytes);
    return 0;
}

/* ---- streams, modules, events ---- */

FAKE_API CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    (void)flags;
    ENTER_CURRENT("cuStreamCreate");
    fake_object *q = fake_new(FAKE_QUEUE, 0);
    q->of = stack[current - 1];
    *stream = (CUstream)q;
    return 0;
}

FAKE_API CUresult cuStreamDestroy_v2(CUstream stream)
{
    int code = fake_enter("cuStreamDestroy");
    fake_release(fake_is(stream, FAKE_QUEUE, "cuStreamDestroy"));
    return code ? code : current ? 0 : bad_context;
}

FAKE_API CUresult cuStreamSynchronize(CUstream stream)
{
    int code = fake_enter("cuStreamSynchronize");
    fake_object *q = fake_is(stream, FAKE_QUEUE, "cuStreamSynchronize");
    if (code)
        fake_drop(q);
    fake_finish(q);
    return code ? code : current ? 0 : bad_context;
}

FAKE_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    ENTER_CURRENT("cuStreamWaitEvent");
    const fake_object *e = fake_is(event, FAKE_EVENT, "cuStreamWaitEvent");
    if (flags || !e->of)
        fake_die("cuStreamWaitEvent", "an event that was not recorded");
    if (e->of != (fake_object *)stream)
        fake_follow(own_stream(stream, "cuStreamWaitEvent"), e->of);
    return 0;
}

/* FAKE_CUDA_CAPTURING: every stream records a graph. */
FAKE_API CUresult cuStreamIsCapturing(CUstream stream, int *state)
{
    ENTER_CURRENT("cuStreamIsCapturing");
    fake_is(stream, FAKE_QUEUE, "cuStreamIsCapturing");
    *state = fake_number("CAPTURING", 0) ? 1 : CU_CAPTURE_NONE;
    return 0;
}

FAKE_API CUresult cuThreadExchangeStreamCaptureMode(int *mode)
{
    static _Thread_local int own = CU_CAPTURE_MODE_GLOBAL;
    int before = own;
    ENTER("cuThreadExchangeStreamCaptureMode");
    own = *mode;
    *mode = before;
    return 0;
}

FAKE_API CUresult cuCtxSynchronize(void)
{
    int code = fake_enter("cuCtxSynchronize");
    for (fake_object *o = fake.all; o; o = o->next) {
        if (o->kind == FAKE_QUEUE && (!current || !o->of || o->of == stack[current - 1]))
            fake_finish(o);
    }
    return code ? code : current ? 0 : bad_context;
}

/* A module lies where one that was unloaded lay, if there is such a place; its functions, which all
 * are one here, lie elsewhere. */
static fake_object *modules[1024];

FAKE_API CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    ENTER_CURRENT("cuModuleLoadData");
    if (memcmp(image, "fake cubin", 10) != 0)
        return bad_image;
    fake_object *functions = fake_new(FAKE_PROGRAM, 0);
    unsigned i = 0;
    pthread_mutex_lock(&fake.lock);
    while (i < 1023 && modules[i])
        i++;
    if (modules[i])
        fake_die("cuModuleLoadData", "more modules than the stand-in has room for");
    modules[i] = functions;
    pthread_mutex_unlock(&fake.lock);
    *module = (CUmodule)&modules[i];
    return 0;
}

FAKE_API CUresult cuModuleUnload(CUmodule module)
{
    int code = fake_enter("cuModuleUnload");
    fake_object **at = (fake_object **)module;
    fake_release(fake_is(*at, FAKE_PROGRAM, "cuModuleUnload"));
    pthread_mutex_lock(&fake.lock);
    *at = NULL;
    pthread_mutex_unlock(&fake.lock);
    return code ? code : current ? 0 : bad_context;
}

/* A kernel that a test runs by itself, on the launch's arguments, for these here count nothing. */
static struct {
    const char *name;
    void (*run)(void **arguments);
    CUfunction functions[16]; /* of that name, one a program */
    unsigned count;
} own_kernel;

FAKE_API void fake_kernel(const char *name, void (*run)(void **arguments))
{
    own_kernel.name = name;
    own_kernel.run = run;
}

FAKE_API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    ENTER_CURRENT("cuModuleGetFunction");
    *function = (CUfunction)fake_is(*(fake_object **)module, FAKE_PROGRAM, "cuModuleGetFunction");
    if (own_kernel.name && !strcmp(name, own_kernel.name) && own_kernel.count < 16)
        own_kernel.functions[own_kernel.count++] = *function;
    return 0;
}

FAKE_API CUresult cuFuncGetAttribute(int *value, int what, CUfunction function)
{
    ENTER_CURRENT("cuFuncGetAttribute");
    fake_is(function, FAKE_PROGRAM, "cuFuncGetAttribute");
    *value = what == CU_FUNCTION_PTX_VERSION ? (int)fake_number("CAPABILITY", 90) : 0;
    return 0;
}

FAKE_API CUresult cuFuncSetAttribute(CUfunction function, int what, int value)
{
    (void)what;
    (void)value;
    ENTER_CURRENT("cuFuncSetAttribute");
    fake_is(function, FAKE_PROGRAM, "cuFuncSetAttribute");
    return 0;
}

FAKE_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                              int size, size_t local)
{
    ENTER_CURRENT("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    fake_is(function, FAKE_PROGRAM, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    *blocks = size > 0 && local <= 227 << 10 ? 2048 / size : 0;
    return 0;
}

/* The memory that a kernel reads, its first argument if that is any, has to be in the context's
 * reach. */
static void check_reach(const char *name, CUdeviceptr at)
{
    pthread_mutex_lock(&buffers_lock);
    const int found = seek(at), here = current_device();
    const int device = found < 0 ? here : buffers[found].object->number;
    if (device != here && !reached[here][device])
        fake_die(name, "memory out of reach");
    pthread_mutex_unlock(&buffers_lock);
}

/* Checks a launch, and runs the kernel if it is the test's own. */
static void launched(const char *name, CUfunction function, const unsigned grid[3],
                     const unsigned block[3], unsigned local, CUstream stream, void **arguments)
{
    fake_is(function, FAKE_PROGRAM, name);
    own_stream(stream, name);
    if (!grid[0] || !block[0] || block[0] > 1024 || grid[1] * grid[2] * block[1] * block[2] != 1 ||
        local > 227 << 10 || !arguments)
        fake_die(name, "sizes");
    check_reach(name, *(const CUdeviceptr *)arguments[0]);
    for (unsigned i = 0; i < own_kernel.count; i++) {
        if (function == own_kernel.functions[i]) {
            own_kernel.run(arguments);
            break;
        }
    }
}

FAKE_API CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z,
                                 unsigned size, unsigned sy, unsigned sz, unsigned local,
                                 CUstream stream, void **arguments, void **extra)
{
    const unsigned grid[3] = {x, y, z}, block[3] = {size, sy, sz};
    (void)extra;
    ENTER_CURRENT("cuLaunchKernel");
    launched("cuLaunchKernel", function, grid, block, local, stream, arguments);
    return 0;
}

FAKE_API CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                                   void **arguments, void **extra)
{
    (void)extra;
    ENTER_CURRENT("cuLaunchKernelEx");
    launched("cuLaunchKernelEx", function, config->grid, config->block, config->local_bytes,
             config->stream, arguments);
    if (config->attribute_count != 1 ||
        config->attributes[0].id != CU_LAUNCH_PROGRAMMATIC_SERIALIZATION)
        fake_die("cuLaunchKernelEx", "attributes");
    return 0;
}

FAKE_API CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    (void)flags;
    ENTER_CURRENT("cuEventCreate");
    *event = (CUevent)fake_new(FAKE_EVENT, 0);
    return 0;
}

FAKE_API CUresult cuEventRecord(CUevent event, CUstream stream)
{
    ENTER_CURRENT("cuEventRecord");
    fake_is(event, FAKE_EVENT, "cuEventRecord");
    ((fake_object *)event)->of = own_stream(stream, "cuEventRecord");
    return 0;
}

FAKE_API CUresult cuEventSynchronize(CUevent event)
{
    ENTER_CURRENT("cuEventSynchronize");
    fake_finish(fake_is(fake_is(event, FAKE_EVENT, "cuEventSynchronize")->of, FAKE_QUEUE,
                        "cuEventSynchronize"));
    return 0;
}

FAKE_API CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to)
{
    ENTER_CURRENT("cuEventElapsedTime");
    fake_is(from, FAKE_EVENT, "cuEventElapsedTime");
    fake_is(to, FAKE_EVENT, "cuEventElapsedTime");
    *milliseconds = 1;
    return 0;
}

FAKE_API CUresult cuEventDestroy_v2(CUevent event)
{
    int code = fake_enter("cuEventDestroy");
    fake_release(fake_is(event, FAKE_EVENT, "cuEventDestroy"));
    return code ? code : current ? 0 : bad_context;
}
