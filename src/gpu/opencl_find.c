/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL, opened at run time: its library, its devices and what they can do. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dynlib.h"
#include "gpu/opencl.h"

enum { most_devices = 64, group_least = 256 /* what merge.cl is written for */ };

ty_opencl_api ty_cl;

static struct {
    pthread_once_t once;
    cl_platform_id platforms[most_devices];
    cl_device_id devices[most_devices];
    uint32_t count;
    char reason[256];
} found = {.once = PTHREAD_ONCE_INIT};

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

const char *ty_opencl_words(cl_int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == code)
            return errors[i].words;
    }
    return "error";
}

tally_status ty_opencl_fail(tally_error *error, const char *call, cl_int code)
{
    int memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY ||
                 code == CL_INVALID_BUFFER_SIZE;
    return ty_error(error, memory ? TALLY_ERROR_MEMORY : TALLY_ERROR_DEVICE, "OpenCL: %s: %s (%d)",
                    call, ty_opencl_words(code), (int)code);
}

static int open_library(void)
{
    static const char *const candidates[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
#define SYMBOL(name, result, parameters) {#name, offsetof(ty_opencl_api, name), 1},
    static const ty_symbol symbols[] = {TY_OPENCL_FUNCTIONS(SYMBOL){NULL, 0, 0}};
#undef SYMBOL
    return ty_dynlib_open("TALLY_OPENCL_LIBRARY", candidates, symbols, &ty_cl, found.reason,
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
        cl_int code = ty_cl.clGetDeviceIDs(platforms[p], types, most_devices, ids, &n);
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
    cl_int code = ty_cl.clGetPlatformIDs(16, platforms, &platform_count);
    if (code && code != CL_NO_PLATFORM)
        snprintf(found.reason, sizeof found.reason, "clGetPlatformIDs: %s (%d)",
                 ty_opencl_words(code), (int)code);
    else if (code || !platform_count)
        snprintf(found.reason, sizeof found.reason,
                 "libOpenCL is there but no driver is registered with it");
    if (code || !platform_count)
        return;
    code = add_devices(platforms, platform_count, CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR);
    cl_int cpus = add_devices(platforms, platform_count, CL_DEVICE_TYPE_CPU);
    code = code ? code : cpus;
    if (!found.count && code)
        snprintf(found.reason, sizeof found.reason, "clGetDeviceIDs: %s (%d)",
                 ty_opencl_words(code), (int)code);
    else if (!found.count)
        snprintf(found.reason, sizeof found.reason, "OpenCL has %u platform%s but no device",
                 platform_count, platform_count == 1 ? "" : "s");
}

uint32_t ty_opencl_count(char *reason, size_t size)
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
    if (ty_cl.clGetDeviceInfo(id, what, size, &value, NULL))
        return 0;
    return size == sizeof value.u32 ? value.u32 : value.u64;
}

/* A text of the device, cut at `size`; drivers refuse to cut it themselves. */
static void device_text(cl_device_id id, cl_uint what, char *text, size_t size)
{
    char whole[1024];
    if (ty_cl.clGetDeviceInfo(id, what, sizeof whole - 1, whole, NULL))
        snprintf(whole, sizeof whole, "unknown");
    whole[sizeof whole - 1] = '\0';
    snprintf(text, size, "%.*s", (int)size - 1, whole);
}

static int has_extension(cl_device_id id, const char *name)
{
    size_t size = 0;
    if (ty_cl.clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size) || !size)
        return 0;
    char *text = ty_calloc(1, size + 1);
    int has = text && !ty_cl.clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, text, NULL) &&
              strstr(text, name);
    ty_free(text);
    return has;
}

int ty_opencl_usable(cl_device_id id, char *reason, size_t size)
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

tally_status ty_opencl_find(uint32_t index, cl_device_id *id, cl_platform_id *platform,
                            tally_error *error)
{
    char reason[256];
    if (index >= ty_opencl_count(reason, sizeof reason))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "opencl:%u: %s", index,
                        found.count ? "there is no such device" : reason);
    *id = found.devices[index];
    *platform = found.platforms[index];
    return TALLY_OK;
}

tally_status ty_opencl_describe(uint32_t index, tally_device_info *info, tally_error *error)
{
    cl_device_id id = NULL;
    cl_platform_id platform;
    tally_status status = ty_opencl_find(index, &id, &platform, error);
    if (status)
        return status;
    snprintf(info->id, sizeof info->id, "opencl:%u", index);
    device_text(id, CL_DEVICE_NAME, info->name, sizeof info->name);
    info->memory_bytes = device_number(id, CL_DEVICE_GLOBAL_MEM_SIZE, 8);
    info->local_bytes = device_number(id, CL_DEVICE_LOCAL_MEM_SIZE, 8);
    info->available = ty_opencl_usable(id, info->reason, sizeof info->reason);
    char version[64], driver[64];
    device_text(id, CL_DEVICE_VERSION, version, sizeof version);
    device_text(id, CL_DRIVER_VERSION, driver, sizeof driver);
    snprintf(info->driver, sizeof info->driver, "%.58s, driver %.50s", version, driver);
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

int ty_opencl_limits(ty_device *device, cl_device_id id)
{
    char driver[64], version[96], platform[1024];
    cl_platform_id of = NULL;
    if (ty_cl.clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof of, &of, NULL) ||
        ty_cl.clGetPlatformInfo(of, CL_PLATFORM_VERSION, sizeof platform - 1, platform, NULL))
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
    device->has_fence = device->warp == 32; /* by NVIDIA's own instruction; 1.2 has none */
    device->has_fp64 = device_number(id, CL_DEVICE_DOUBLE_FP_CONFIG, 8) != 0;
    device->has_wide_atomics = has_extension(id, "cl_khr_int64_extended_atomics");
    return device->units && device->group_max >= group_least && device->local_bytes;
}
