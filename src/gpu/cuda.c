/* NVIDIA's driver API, opened at run time. One open device is a context (the device's primary one
 * unless the caller names another); a queue is a stream. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "gpu/cuda_api.h"
#include "gpu/device.h"
#include "gpu/dynlib.h"
#include "gpu/kernels_file.h"

static ty_cuda_api cu;
static struct {
    pthread_once_t once;
    uint32_t count;
    int version;
    char reason[256];
} found = {.once = PTHREAD_ONCE_INIT};

typedef struct {
    CUdevice id;
    CUcontext context;
    int borrowed;
} cuda_device;

/* A stream, and the functions launched on it with the shared memory that they have: a queue belongs
 * to one thread at a time, so they need no lock. */
enum { queue_functions = 8 };

typedef struct {
    CUstream stream;
    int borrowed;
    struct {
        CUmodule module;
        const char *name; /* string constants: compared by address */
        CUfunction function;
        uint32_t local_bytes;
        int awaits; /* it has TY_GRID_WAIT: code for older architectures has none */
    } functions[queue_functions];
    unsigned function_count;
} cuda_queue;

static const char *words(CUresult code)
{
    const char *text = NULL;
    return cu.error_string && !cu.error_string(code, &text) && text ? text : "unknown error";
}

static tally_status fail(tally_error *error, const char *call, CUresult code)
{
    const char *name = NULL;
    if (!cu.error_name || cu.error_name(code, &name) || !name)
        name = "CUDA_ERROR";
    return ty_error(error,
                    code == CUDA_ERROR_OUT_OF_MEMORY ? TALLY_ERROR_MEMORY : TALLY_ERROR_DEVICE,
                    "CUDA: %s: %s (%s, %d)", call, words(code), name, code);
}

static void find_devices(void)
{
    static const char *const candidates[] = {"libcuda.so.1", "libcuda.so", NULL};
#define SYMBOL(symbol, name, parameters)   {symbol, offsetof(ty_cuda_api, name), 1},
#define OPTIONAL(symbol, name, parameters) {symbol, offsetof(ty_cuda_api, name), 0},
    static const ty_symbol symbols[] = {TY_CUDA_FUNCTIONS(SYMBOL)
                                            TY_CUDA_OPTIONAL(OPTIONAL){NULL, 0, 0}};
#undef SYMBOL
#undef OPTIONAL
    int count = 0;
    if (!ty_dynlib_open("TALLY_CUDA_LIBRARY", candidates, symbols, &cu, found.reason,
                        sizeof found.reason))
        return;
    CUresult code = cu.init(0);
    if (!code)
        code = cu.driver_version(&found.version);
    if (!code)
        code = cu.device_count(&count);
    if (code || count <= 0)
        snprintf(found.reason, sizeof found.reason, "the driver finds no device: %s",
                 words(code ? code : CUDA_ERROR_NO_DEVICE));
    else
        found.count = (uint32_t)count;
}

static uint32_t count_devices(char *reason, size_t size)
{
    pthread_once(&found.once, find_devices);
    if (!found.count)
        snprintf(reason, size, "%s", found.reason);
    return found.count;
}

/* An attribute; the first failure is kept in *code. */
static uint32_t attribute(CUdevice id, int what, CUresult *code)
{
    int value = 0;
    CUresult own = cu.device_attribute(&value, what, id);
    if (own && !*code)
        *code = own;
    return own || value < 0 ? 0 : (uint32_t)value;
}

static tally_status describe(uint32_t index, tally_device_info *info, tally_error *error)
{
    char reason[256];
    CUdevice id;
    size_t memory = 0;
    if (index >= count_devices(reason, sizeof reason))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "cuda:%u: %s", index,
                        found.count ? "there is no such device" : reason);
    snprintf(info->id, sizeof info->id, "cuda:%u", index);
    CUresult code = cu.device_get(&id, (int)index);
    if (!code)
        code = cu.device_name(info->name, (int)sizeof info->name, id);
    if (!code)
        code = cu.device_memory(&memory, id);
    uint32_t local = code ? 0 : attribute(id, CU_SHARED_PER_BLOCK_OPTIN, &code);
    uint32_t major = code ? 0 : attribute(id, CU_CAPABILITY_MAJOR, &code);
    uint32_t minor = code ? 0 : attribute(id, CU_CAPABILITY_MINOR, &code);
    if (code)
        return fail(error, "cuDeviceGet", code);
    info->memory_bytes = memory;
    info->local_bytes = local;
    info->available = 1;
    if (major < 7) {
        info->available = 0;
        snprintf(info->reason, sizeof info->reason,
                 "too old: its compute capability is %u.%u; 7.0, the first with independent warps, "
                 "is needed",
                 major, minor);
    } else if (!ty_kernels_serve(major * 10 + minor) &&
               !ty_nvrtc_version(info->reason, sizeof info->reason)) {
        info->available = 0;
    }
    char none[256];
    const char *compiler = ty_nvrtc_version(none, sizeof none);
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d, NVRTC %s", found.version / 1000,
             found.version % 1000 / 10, compiler ? compiler : "none");
    return TALLY_OK;
}

static CUresult read_limits(ty_device *device, CUdevice id)
{
    size_t memory = 0;
    CUresult code = cu.device_name(device->name, (int)sizeof device->name, id);
    if (!code)
        code = cu.device_memory(&memory, id);
    device->memory_bytes = memory;
    device->units = attribute(id, CU_MULTIPROCESSORS, &code);
    device->group_max = attribute(id, CU_THREADS_PER_BLOCK, &code);
    device->local_bytes = attribute(id, CU_SHARED_PER_BLOCK_OPTIN, &code);
    device->unit_local_bytes = attribute(id, CU_SHARED_PER_MULTIPROCESSOR, &code);
    device->unit_threads = attribute(id, CU_THREADS_PER_MULTIPROCESSOR, &code);
    device->warp = attribute(id, CU_WARP_SIZE, &code);
    device->capability =
        attribute(id, CU_CAPABILITY_MAJOR, &code) * 10 + attribute(id, CU_CAPABILITY_MINOR, &code);
    device->has_fp64 = device->has_fence = 1;
    snprintf(device->signature, sizeof device->signature, "cuda|sm_%u|driver %d",
             device->capability, found.version);
    return code;
}

static _Thread_local const void *entered; /* the device whose context this thread has entered */

/* Runs `call` with the device's context current on this thread. */
#define WITH(device, code, call)                                                                   \
    do {                                                                                           \
        CUcontext popped_;                                                                         \
        const int inside_ = entered == (device)->native;                                           \
        (code) = inside_ ? 0 : cu.context_push(((cuda_device *)(device)->native)->context);        \
        if (!(code)) {                                                                             \
            (code) = (call);                                                                       \
            if (!inside_)                                                                          \
                cu.context_pop(&popped_);                                                          \
        }                                                                                          \
    } while (0)

/* Where it fails, every operation goes on trying for itself. */
static void enter(ty_device *device)
{
    if (!entered && !cu.context_push(((cuda_device *)device->native)->context))
        entered = device->native;
}

static void leave(ty_device *device)
{
    CUcontext popped;
    if (entered == device->native)
        cu.context_pop(&popped);
    entered = NULL;
}

static CUresult open_context(uint32_t index, void *native, cuda_device *own)
{
    CUresult code;
    if (native) {
        CUcontext popped;
        own->context = native;
        own->borrowed = 1;
        code = cu.context_push(own->context);
        if (!code) {
            code = cu.context_device(&own->id);
            cu.context_pop(&popped);
        }
        return code;
    }
    code = cu.device_get(&own->id, (int)index);
    return code ? code : cu.primary_retain(&own->context, own->id);
}

static void close_device(ty_device *device)
{
    cuda_device *own = device->native;
    if (!own->borrowed)
        cu.primary_release(own->id);
    ty_free(own);
    ty_free(device);
}

static tally_status open_device(uint32_t index, void *native, ty_device **device,
                                tally_error *error)
{
    char reason[256];
    tally_device_info info = {.struct_size = sizeof info};
    if (index >= count_devices(reason, sizeof reason))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "cuda:%u: %s", index,
                        found.count ? "there is no such device" : reason);
    tally_status status = describe(index, &info, error);
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
        status = fail(error, "cuDevicePrimaryCtxRetain", code);
    if (status) {
        ty_free(own);
        ty_free(d);
        return status;
    }
    d->ops = &ty_cuda_ops;
    d->native = own;
    if ((code = read_limits(d, own->id))) {
        close_device(d);
        return fail(error, "cuDeviceGetAttribute", code);
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
        WITH(device, code, cu.stream_create(&q->stream, CU_STREAM_NON_BLOCKING));
    if (code) {
        ty_free(q);
        return fail(error, "cuStreamCreate", code);
    }
    *queue = q;
    return TALLY_OK;
}

static void queue_close(ty_device *device, void *queue)
{
    cuda_queue *q = queue;
    CUresult code;
    if (q && !q->borrowed) {
        WITH(device, code, cu.stream_destroy(q->stream));
        (void)code;
    }
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
            return fail(error, name, code_);                                                       \
    } while (0)

static tally_status wait_queue(ty_device *device, void *queue, tally_error *error)
{
    TRY(device, "cuStreamSynchronize", cu.stream_wait(raw(queue)));
    return TALLY_OK;
}

static tally_status wait_all(ty_device *device, tally_error *error)
{
    TRY(device, "cuCtxSynchronize", cu.context_wait());
    return TALLY_OK;
}

static tally_status recording(ty_device *device, void *native, int *is, tally_error *error)
{
    int state = CU_CAPTURE_NONE;
    TRY(device, "cuStreamIsCapturing", cu.stream_capturing(native, &state));
    *is = state != CU_CAPTURE_NONE;
    return TALLY_OK;
}

static int relax(int mode)
{
    int value = mode < 0 ? CU_CAPTURE_MODE_RELAXED : mode;
    return cu.capture_mode(&value) ? CU_CAPTURE_MODE_GLOBAL : value;
}

static tally_status alloc(ty_device *device, size_t bytes, ty_memory *memory, tally_error *error)
{
    CUdeviceptr at = 0;
    CUresult code;
    WITH(device, code, cu.memory_alloc(&at, bytes ? bytes : 4));
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        return ty_error(error, TALLY_ERROR_MEMORY,
                        "CUDA: cuMemAlloc: %zu bytes of device memory: %s (%d)", bytes, words(code),
                        code);
    if (code)
        return fail(error, "cuMemAlloc", code);
    *memory = at;
    return TALLY_OK;
}

static void release(ty_device *device, ty_memory memory)
{
    CUresult code = 0;
    if (memory)
        WITH(device, code, cu.memory_free(memory));
    (void)code;
}

static tally_status upload(ty_device *device, void *queue, ty_memory to, size_t offset,
                           const void *from, size_t bytes, tally_error *error)
{
    if (bytes)
        TRY(device, "cuMemcpyHtoDAsync", cu.upload(to + offset, from, bytes, raw(queue)));
    return TALLY_OK;
}

static tally_status download(ty_device *device, void *queue, void *to, ty_memory from,
                             size_t offset, size_t bytes, tally_error *error)
{
    if (bytes)
        TRY(device, "cuMemcpyDtoHAsync", cu.download(to, from + offset, bytes, raw(queue)));
    return TALLY_OK;
}

static tally_status clear(ty_device *device, void *queue, ty_memory memory, size_t offset,
                          size_t bytes, tally_error *error)
{
    if (bytes)
        TRY(device, "cuMemsetD8Async", cu.clear(memory + offset, 0, bytes, raw(queue)));
    return TALLY_OK;
}

static tally_status pinned_alloc(ty_device *device, size_t bytes, void **block, tally_error *error)
{
    *block = NULL;
    TRY(device, "cuMemHostAlloc", cu.host_alloc(block, bytes ? bytes : 1, 0));
    return TALLY_OK;
}

static void pinned_free(ty_device *device, void *block)
{
    CUresult code = 0;
    if (block)
        WITH(device, code, cu.host_free(block));
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
    return !cu.pointer_attributes(3, what, values, from) && type == CU_MEMORY_HOST &&
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
        WITH(device, code, cu.module_load(module, bytes));
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
    WITH(device, code, cu.module_load(module, bytes));
    if (!code)
        ty_cache_put(source, options, signature, bytes, size);
    ty_free(bytes);
    return code ? fail(error, "cuModuleLoadData", code) : TALLY_OK;
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
    if (program)
        WITH(device, code, cu.module_unload(program));
    (void)code;
}

static uint32_t function_number(CUfunction function, int what)
{
    int value = 0;
    return cu.function_attribute(&value, what, function) || value < 0 ? 0 : (uint32_t)value;
}

/* With the context current. Shared memory above 48 KB has to be asked for; it is always the most
 * that there is, for another queue may have been told so already. */
static CUresult set_local(const ty_device *device, CUfunction function, uint32_t bytes)
{
    return bytes > 48 << 10
               ? cu.function_set(function, CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)device->local_bytes)
               : 0;
}

static CUresult read_stats(const ty_device *device, CUmodule module, const char *kernel,
                           ty_kernel_stats *stats)
{
    CUfunction function;
    CUresult code = cu.module_function(&function, module, kernel);
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
        code = cu.occupancy(&groups, function, (int)stats->launched_size, stats->launched_local);
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
    unsigned i = 0;
    CUfunction function;
    while (i < q->function_count &&
           (q->functions[i].module != module || q->functions[i].name != name))
        i++;
    if (i == queue_functions)
        i = q->function_count = 0;
    *number = i;
    if (i < q->function_count && q->functions[i].local_bytes >= local_bytes)
        return 0;
    CUresult code = cu.module_function(&function, module, name);
    if (!code)
        code = set_local(device, function, local_bytes);
    if (code)
        return code;
    q->functions[i].module = module;
    q->functions[i].name = name;
    q->functions[i].function = function;
    q->functions[i].local_bytes = local_bytes;
    q->functions[i].awaits =
        cu.launch_with && function_number(function, CU_FUNCTION_PTX_VERSION) >= 90;
    q->function_count = i < q->function_count ? q->function_count : i + 1;
    return 0;
}

static tally_status launch(ty_device *device, void *queue, void *program, const char *kernel,
                           const ty_launch *l, tally_error *error)
{
    enum { most_args = 64 };
    cuda_queue *q = queue;
    unsigned number = 0;
    void *pointers[most_args];
    CUresult code;
    if (l->arg_count > most_args)
        return ty_error(error, TALLY_ERROR_INTERNAL, "%s: more than 64 arguments", kernel);
    for (unsigned i = 0; i < l->arg_count; i++)
        pointers[i] = (void *)&l->args[i].value;
    WITH(device, code, find_function(device, q, program, kernel, l->local_bytes, &number));
    if (!code && l->early && q->functions[number].awaits) {
        CUlaunchAttribute serial = {.id = CU_LAUNCH_PROGRAMMATIC_SERIALIZATION, .value.on = 1};
        CUlaunchConfig config = {
            {l->groups, 1, 1}, {l->group_size, 1, 1}, l->local_bytes, q->stream, &serial, 1};
        WITH(device, code, cu.launch_with(&config, q->functions[number].function, pointers, NULL));
    } else if (!code) {
        WITH(device, code,
             cu.launch(q->functions[number].function, l->groups, 1, 1, l->group_size, 1, 1,
                       l->local_bytes, q->stream, pointers, NULL));
    }
    return code ? fail(error, kernel, code) : TALLY_OK;
}

static CUresult record(CUevent *event, CUstream stream)
{
    CUresult code = cu.event_create(event, 0);
    if (code)
        return code;
    code = cu.event_record(*event, stream);
    if (code)
        cu.event_destroy(*event);
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
    TRY(device, "cuEventSynchronize", cu.event_wait(event));
    return TALLY_OK;
}

static double elapsed(ty_device *device, void *from, void *to)
{
    float milliseconds = 0;
    CUresult code;
    WITH(device, code, cu.event_elapsed(&milliseconds, from, to));
    return code ? 0 : milliseconds * 1e-3;
}

static void event_close(ty_device *device, void *event)
{
    CUresult code = 0;
    if (event)
        WITH(device, code, cu.event_destroy(event));
    (void)code;
}

const ty_device_ops ty_cuda_ops = {
    "cuda",        TALLY_DEVICE_CUDA,
    count_devices, describe,
    open_device,   close_device,
    queue_open,    queue_close,
    wait_queue,    wait_all,
    recording,     relax,
    enter,         leave,
    alloc,         release,
    NULL,          upload,
    download,      clear,
    pinned_alloc,  pinned_free,
    pinned,        build,
    program_close, stats,
    launch,        event_record,
    event_wait,    elapsed,
    event_close,
};
