/* SPDX-License-Identifier: Apache-2.0 */
/* Devices by NVIDIA's driver API. One open device is a context (the device's primary one
 * unless the caller names another); a queue is a stream. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "gpu/cuda.h"
#include "gpu/kernels_file.h"

typedef struct {
    CUdevice id;
    CUcontext context;
    int borrowed;
    unsigned char reach[64]; /* other devices, by number: 1 out of reach, 2 in reach */
} cuda_device;

/* A stream, and the functions launched on it with the shared memory that they have: a queue belongs
 * to one thread at a time, so they need no lock. */
enum { queue_functions = 8 };

typedef struct {
    CUstream stream;
    CUevent mark; /* for those that follow; NULL until there are some */
    int borrowed;
    struct {
        CUmodule module;
        const char *name; /* string constants: compared by address */
        CUfunction function;
        uint32_t local_bytes;
        int awaits; /* it has TY_GRID_WAIT: code for older architectures has none */
    } functions[queue_functions];
    unsigned function_count, closed; /* modules closed when they were found */
} cuda_queue;

/* A new module may lie where a closed one lay: functions found before it was closed are not its. */
static atomic_uint modules_closed;

static _Thread_local const void *entered; /* the device whose context this thread has entered */

/* Runs `call` with the device's context current on this thread. */
#define WITH(device, code, call)                                                                   \
    do {                                                                                           \
        CUcontext popped_;                                                                         \
        const int inside_ = entered == (device)->native;                                           \
        (code) = inside_ ? 0 : ty_cuda.context_push(((cuda_device *)(device)->native)->context);   \
        if (!(code)) {                                                                             \
            (code) = (call);                                                                       \
            if (!inside_)                                                                          \
                ty_cuda.context_pop(&popped_);                                                     \
        }                                                                                          \
    } while (0)

/* Where it fails, every operation goes on trying for itself. */
static void enter(ty_device *device)
{
    if (!entered && !ty_cuda.context_push(((cuda_device *)device->native)->context))
        entered = device->native;
}

static void leave(ty_device *device)
{
    CUcontext popped;
    if (entered == device->native)
        ty_cuda.context_pop(&popped);
    entered = NULL;
}

static CUresult open_context(uint32_t index, void *native, cuda_device *own)
{
    CUresult code;
    if (native) {
        CUcontext popped;
        own->context = native;
        own->borrowed = 1;
        code = ty_cuda.context_push(own->context);
        if (!code) {
            code = ty_cuda.context_device(&own->id);
            ty_cuda.context_pop(&popped);
        }
        return code;
    }
    code = ty_cuda.device_get(&own->id, (int)index);
    return code ? code : ty_cuda.primary_retain(&own->context, own->id);
}

static void close_device(ty_device *device)
{
    cuda_device *own = device->native;
    if (!own->borrowed)
        ty_cuda.primary_release(own->id);
    ty_free(own);
    ty_free(device);
}

static tally_status open_device(uint32_t index, void *native, ty_device **device,
                                tally_error *error)
{
    tally_device_info info = {.struct_size = sizeof info};
    tally_status status = ty_cuda_describe(index, &info, error);
    if (status)
        return status;
    if (!info.available)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "cuda:%u: %s", index, info.reason);
    ty_device *d = ty_calloc(1, sizeof *d);
    cuda_device *own = ty_calloc(1, sizeof *own);
    CUresult code = 0;
    if (!d || !own)
        status = ty_error_memory(error, "a device", sizeof *d);
    else if ((code = open_context(index, native, own)))
        status = ty_cuda_fail(error, "cuDevicePrimaryCtxRetain", code);
    if (status) {
        ty_free(own);
        ty_free(d);
        return status;
    }
    d->ops = &ty_cuda_ops;
    d->native = own;
    if ((code = ty_cuda_limits(d, own->id))) {
        close_device(d);
        return ty_cuda_fail(error, "cuDeviceGetAttribute", code);
    }
    *device = d;
    return TALLY_OK;
}

static tally_status queue_open(ty_device *device, void *native, void **queue, tally_error *error)
{
    cuda_queue *q = ty_calloc(1, sizeof *q);
    if (!q)
        return ty_error_memory(error, "a queue", sizeof *q);
    CUresult code = 0;
    q->borrowed = native != NULL;
    q->stream = native;
    if (!native)
        WITH(device, code, ty_cuda.stream_create(&q->stream, CU_STREAM_NON_BLOCKING));
    if (code) {
        ty_free(q);
        return ty_cuda_fail(error, "cuStreamCreate", code);
    }
    *queue = q;
    return TALLY_OK;
}

static void queue_close(ty_device *device, void *queue)
{
    cuda_queue *q = queue;
    CUresult code = 0;
    if (q && q->mark)
        WITH(device, code, ty_cuda.event_destroy(q->mark));
    if (q && !q->borrowed)
        WITH(device, code, ty_cuda.stream_destroy(q->stream));
    (void)code;
    ty_free(q);
}

static CUstream raw(void *queue)
{
    return ((cuda_queue *)queue)->stream;
}

#define TRY(device, name, call)                                                                    \
    do {                                                                                           \
        CUresult code_;                                                                            \
        WITH(device, code_, call);                                                                 \
        if (code_)                                                                                 \
            return ty_cuda_fail(error, name, code_);                                               \
    } while (0)

static tally_status wait_queue(ty_device *device, void *queue, tally_error *error)
{
    TRY(device, "cuStreamSynchronize", ty_cuda.stream_wait(raw(queue)));
    return TALLY_OK;
}

static tally_status wait_all(ty_device *device, tally_error *error)
{
    TRY(device, "cuCtxSynchronize", ty_cuda.context_wait());
    return TALLY_OK;
}

static tally_status recording(ty_device *device, void *native, int *is, tally_error *error)
{
    int state = CU_CAPTURE_NONE;
    TRY(device, "cuStreamIsCapturing", ty_cuda.stream_capturing(native, &state));
    *is = state != CU_CAPTURE_NONE;
    return TALLY_OK;
}

static void *native(void *queue)
{
    return raw(queue);
}

/* With the context current. */
static CUresult set_mark(cuda_queue *q)
{
    CUresult code = q->mark ? 0 : ty_cuda.event_create(&q->mark, CU_EVENT_DISABLE_TIMING);
    return code ? code : ty_cuda.event_record(q->mark, q->stream);
}

static tally_status follow(ty_device *device, void *queue, ty_device *other, void *before,
                           tally_error *error)
{
    cuda_queue *q = before;
    TRY(other, "cuEventRecord", set_mark(q));
    TRY(device, "cuStreamWaitEvent", ty_cuda.stream_follow(raw(queue), q->mark, 0));
    return TALLY_OK;
}

static int reaches(ty_device *device, ty_device *other)
{
    cuda_device *own = device->native;
    const cuda_device *peer = other->native;
    CUresult code = 0;
    int can = 0;
    unsigned char *known = (unsigned)peer->id < sizeof own->reach ? &own->reach[peer->id] : NULL;
    if (known && __atomic_load_n(known, __ATOMIC_RELAXED))
        return *known == 2;
    if (ty_cuda.can_reach(&can, own->id, peer->id) || !can)
        code = 1;
    else
        WITH(device, code, ty_cuda.reach(peer->context, 0));
    can = !code || code == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    if (known)
        __atomic_store_n(known, can ? 2 : 1, __ATOMIC_RELAXED);
    return can;
}

static int relax(int mode)
{
    int value = mode < 0 ? CU_CAPTURE_MODE_RELAXED : mode;
    return ty_cuda.capture_mode(&value) ? CU_CAPTURE_MODE_GLOBAL : value;
}

static tally_status alloc(ty_device *device, size_t bytes, ty_memory *memory, tally_error *error)
{
    CUdeviceptr at = 0;
    CUresult code;
    WITH(device, code, ty_cuda.memory_alloc(&at, bytes ? bytes : 4));
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        return ty_error(error, TALLY_ERROR_MEMORY,
                        "CUDA: cuMemAlloc: %zu bytes of device memory: %s (%d)", bytes,
                        ty_cuda_words(code), code);
    if (code)
        return ty_cuda_fail(error, "cuMemAlloc", code);
    *memory = at;
    return TALLY_OK;
}

static void release(ty_device *device, ty_memory memory)
{
    CUresult code = 0;
    if (memory)
        WITH(device, code, ty_cuda.memory_free(memory));
    (void)code;
}

static tally_status upload(ty_device *device, void *queue, ty_memory to, size_t offset,
                           const void *from, size_t bytes, tally_error *error)
{
    if (bytes)
        TRY(device, "cuMemcpyHtoDAsync", ty_cuda.upload(to + offset, from, bytes, raw(queue)));
    return TALLY_OK;
}

static tally_status download(ty_device *device, void *queue, void *to, ty_memory from,
                             size_t offset, size_t bytes, tally_error *error)
{
    if (bytes)
        TRY(device, "cuMemcpyDtoHAsync", ty_cuda.download(to, from + offset, bytes, raw(queue)));
    return TALLY_OK;
}

static tally_status clear(ty_device *device, void *queue, ty_memory memory, size_t offset,
                          size_t bytes, tally_error *error)
{
    if (bytes)
        TRY(device, "cuMemsetD8Async", ty_cuda.clear(memory + offset, 0, bytes, raw(queue)));
    return TALLY_OK;
}

static tally_status pinned_alloc(ty_device *device, size_t bytes, void **block, tally_error *error)
{
    *block = NULL;
    TRY(device, "cuMemHostAlloc", ty_cuda.host_alloc(block, bytes ? bytes : 1, 0));
    return TALLY_OK;
}

static void pinned_free(ty_device *device, void *block)
{
    CUresult code = 0;
    if (block)
        WITH(device, code, ty_cuda.host_free(block));
    (void)code;
}

/* With the context current. Of memory that is not the driver's all is zero: asked for one attribute
 * it would be an error. */
static int covers(CUdeviceptr from, size_t bytes)
{
    unsigned type = 0;
    CUdeviceptr start = 0;
    size_t size = 0;
    int what[] = {CU_POINTER_MEMORY_TYPE, CU_POINTER_RANGE_START, CU_POINTER_RANGE_SIZE};
    void *values[] = {&type, &start, &size};
    return !ty_cuda.pointer_attributes(3, what, values, from) && type == CU_MEMORY_HOST &&
           start <= from && from - start <= size && size - (from - start) >= bytes;
}

static int pinned(ty_device *device, const void *block, size_t bytes)
{
    int is = 0;
    CUresult code;
    WITH(device, code, (is = covers((CUdeviceptr)(uintptr_t)block, bytes), 0));
    return !code && is;
}

/* A module of `bytes`, which are released. */
static CUresult load(ty_device *device, void *bytes, CUmodule *module)
{
    CUresult code = 1;
    if (bytes)
        WITH(device, code, ty_cuda.module_load(module, bytes));
    ty_free(bytes);
    return code;
}

/* What compiled code in the cache depends on besides text and options. Opens the compiler's library
 * for its version, which takes longer than most launches. */
static void sign(const ty_device *device, char *signature, size_t size)
{
    char reason[256];
    const char *compiler = ty_nvrtc_version(reason, sizeof reason);
    snprintf(signature, size, "%s|nvrtc %s", device->signature, compiler ? compiler : "none");
}

static tally_status compile(ty_device *device, const char *source, const char *options,
                            const char *signature, CUmodule *module, tally_error *error)
{
    char reason[256];
    void *bytes;
    size_t size;
    CUresult code;
    if (!ty_nvrtc_version(reason, sizeof reason))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s; nor was the kernel compiled with Tally: %s", reason,
                        ty_kernels_describe());
    tally_status status =
        ty_nvrtc_compile(source, options, device->capability, &bytes, &size, NULL, error);
    if (status)
        return status;
    WITH(device, code, ty_cuda.module_load(module, bytes));
    if (!code)
        ty_cache_put(source, options, signature, bytes, size);
    ty_free(bytes);
    return code ? ty_cuda_fail(error, "cuModuleLoadData", code) : TALLY_OK;
}

/* The machine code that the build of Tally made, or an earlier run; then the build's PTX, which the
 * driver assembles; at last the compiler. What does not load is as if it were not there. */
static tally_status build(ty_device *device, const char *source, const char *options,
                          void **program, int *origin, tally_error *error)
{
    const uint32_t capability = device->capability;
    char signature[sizeof device->signature + 48];
    CUmodule module = NULL;
    size_t size;
    tally_status status = TALLY_OK;
    *origin = TY_FROM_FILE;
    if (load(device, ty_kernels_get(source, options, capability, 0, &size), &module)) {
        sign(device, signature, sizeof signature);
        *origin = TY_FROM_CACHE;
        if (load(device, ty_cache_get(source, options, signature, &size), &module)) {
            *origin = TY_FROM_FILE;
            if (load(device, ty_kernels_get(source, options, capability, 1, &size), &module)) {
                *origin = TY_COMPILED;
                status = compile(device, source, options, signature, &module, error);
            }
        }
    }
    *program = module;
    return status;
}

static void program_close(ty_device *device, void *program)
{
    CUresult code = 0;
    atomic_fetch_add(&modules_closed, 1);
    if (program)
        WITH(device, code, ty_cuda.module_unload(program));
    (void)code;
}

static uint32_t function_number(CUfunction function, int what)
{
    int value = 0;
    return ty_cuda.function_attribute(&value, what, function) || value < 0 ? 0 : (uint32_t)value;
}

/* With the context current. Shared memory above 48 KB has to be asked for; it is always the most
 * that there is, for another queue may have been told so already. */
static CUresult set_local(const ty_device *device, CUfunction function, uint32_t bytes)
{
    return bytes > 48 << 10 ? ty_cuda.function_set(function, CU_FUNCTION_MAX_DYNAMIC_SHARED,
                                                   (int)device->local_bytes)
                            : 0;
}

static CUresult read_stats(const ty_device *device, CUmodule module, const char *kernel,
                           ty_kernel_stats *stats)
{
    CUfunction function;
    CUresult code = ty_cuda.module_function(&function, module, kernel);
    if (code)
        return code;
    stats->registers = function_number(function, CU_FUNCTION_REGISTERS);
    stats->spill_bytes = function_number(function, CU_FUNCTION_LOCAL);
    stats->static_local_bytes = function_number(function, CU_FUNCTION_SHARED);
    stats->group_max = function_number(function, CU_FUNCTION_THREADS);
    if (!stats->launched_size)
        return code;
    int groups = 0;
    code = set_local(device, function, stats->launched_local);
    if (!code)
        code =
            ty_cuda.occupancy(&groups, function, (int)stats->launched_size, stats->launched_local);
    stats->groups_per_unit = (uint32_t)groups;
    return code;
}

static tally_status stats(ty_device *device, void *program, const char *kernel,
                          ty_kernel_stats *stats, tally_error *error)
{
    TRY(device, kernel, read_stats(device, program, kernel, stats));
    return TALLY_OK;
}

/* The function of that name with room for that much shared memory, looked up once a queue: its
 * number there. */
static CUresult find_function(const ty_device *device, cuda_queue *q, CUmodule module,
                              const char *name, uint32_t local_bytes, unsigned *number)
{
    unsigned i = 0, closed = atomic_load(&modules_closed);
    CUfunction function;
    if (q->closed != closed)
        q->function_count = 0;
    q->closed = closed;
    while (i < q->function_count &&
           (q->functions[i].module != module || q->functions[i].name != name))
        i++;
    if (i == queue_functions)
        i = q->function_count = 0;
    *number = i;
    if (i < q->function_count && q->functions[i].local_bytes >= local_bytes)
        return 0;
    CUresult code = ty_cuda.module_function(&function, module, name);
    if (!code)
        code = set_local(device, function, local_bytes);
    if (code)
        return code;
    q->functions[i].module = module;
    q->functions[i].name = name;
    q->functions[i].function = function;
    q->functions[i].local_bytes = local_bytes;
    q->functions[i].awaits =
        ty_cuda.launch_with && function_number(function, CU_FUNCTION_PTX_VERSION) >= 90;
    q->function_count = i < q->function_count ? q->function_count : i + 1;
    return 0;
}

static tally_status launch(ty_device *device, void *queue, void *program, const char *kernel,
                           const ty_launch *l, tally_error *error)
{
    cuda_queue *q = queue;
    unsigned number = 0;
    void *pointers[TY_MOST_ARGS];
    CUresult code;
    if (l->arg_count > TY_MOST_ARGS)
        return ty_error(error, TALLY_ERROR_INTERNAL, "%s: more than %d arguments", kernel,
                        TY_MOST_ARGS);
    for (unsigned i = 0; i < l->arg_count; i++)
        pointers[i] = (void *)&l->args[i].value;
    WITH(device, code, find_function(device, q, program, kernel, l->local_bytes, &number));
    if (!code && l->early && q->functions[number].awaits) {
        CUlaunchAttribute serial = {.id = CU_LAUNCH_PROGRAMMATIC_SERIALIZATION, .value.on = 1};
        CUlaunchConfig config = {
            {l->groups, 1, 1}, {l->group_size, 1, 1}, l->local_bytes, q->stream, &serial, 1};
        WITH(device, code,
             ty_cuda.launch_with(&config, q->functions[number].function, pointers, NULL));
    } else if (!code) {
        WITH(device, code,
             ty_cuda.launch(q->functions[number].function, l->groups, 1, 1, l->group_size, 1, 1,
                            l->local_bytes, q->stream, pointers, NULL));
    }
    return code ? ty_cuda_fail(error, kernel, code) : TALLY_OK;
}

static CUresult record(CUevent *event, CUstream stream)
{
    CUresult code = ty_cuda.event_create(event, 0);
    if (code)
        return code;
    code = ty_cuda.event_record(*event, stream);
    if (code)
        ty_cuda.event_destroy(*event);
    return code;
}

static tally_status event_record(ty_device *device, void *queue, void **event, tally_error *error)
{
    CUevent e = NULL;
    TRY(device, "cuEventRecord", record(&e, raw(queue)));
    *event = e;
    return TALLY_OK;
}

static tally_status event_wait(ty_device *device, void *event, tally_error *error)
{
    TRY(device, "cuEventSynchronize", ty_cuda.event_wait(event));
    return TALLY_OK;
}

static double elapsed(ty_device *device, void *from, void *to)
{
    float milliseconds = 0;
    CUresult code;
    WITH(device, code, ty_cuda.event_elapsed(&milliseconds, from, to));
    return code ? 0 : milliseconds * 1e-3;
}

static void event_close(ty_device *device, void *event)
{
    CUresult code = 0;
    if (event)
        WITH(device, code, ty_cuda.event_destroy(event));
    (void)code;
}

const ty_device_ops ty_cuda_ops = {
    "cuda",        TALLY_DEVICE_CUDA,
    ty_cuda_count, ty_cuda_describe,
    open_device,   close_device,
    queue_open,    queue_close,
    wait_queue,    wait_all,
    recording,     relax,
    enter,         leave,
    native,        follow,
    reaches,       alloc,
    release,       NULL,
    upload,        download,
    clear,         pinned_alloc,
    pinned_free,   pinned,
    build,         program_close,
    stats,         launch,
    event_record,  event_wait,
    elapsed,       event_close,
};
