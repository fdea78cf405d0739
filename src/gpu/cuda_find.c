/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's driver, opened at run time; its devices and what they can do. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "core/dynlib.h"
#include "gpu/cuda.h"
#include "gpu/kernels_file.h"

ty_cuda_api ty_cuda;
static struct {
    pthread_once_t once;
    uint32_t count;
    int version;
    char reason[256];
} found = {.once = PTHREAD_ONCE_INIT};

const char *ty_cuda_words(CUresult code)
{
    const char *text = NULL;
    return ty_cuda.error_string && !ty_cuda.error_string(code, &text) && text ? text
                                                                              : "unknown error";
}

tally_status ty_cuda_fail(tally_error *error, const char *call, CUresult code)
{
    const char *name = NULL;
    if (!ty_cuda.error_name || ty_cuda.error_name(code, &name) || !name)
        name = "CUDA_ERROR";
    return ty_error(error,
                    code == CUDA_ERROR_OUT_OF_MEMORY ? TALLY_ERROR_MEMORY : TALLY_ERROR_DEVICE,
                    "CUDA: %s: %s (%s, %d)", call, ty_cuda_words(code), name, code);
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
    if (!ty_dynlib_open("TALLY_CUDA_LIBRARY", candidates, symbols, &ty_cuda, found.reason,
                        sizeof found.reason))
        return;
    CUresult code = ty_cuda.init(0);
    if (!code)
        code = ty_cuda.driver_version(&found.version);
    if (!code)
        code = ty_cuda.device_count(&count);
    if (code || count <= 0)
        snprintf(found.reason, sizeof found.reason, "the driver finds no device: %s",
                 ty_cuda_words(code ? code : CUDA_ERROR_NO_DEVICE));
    else
        found.count = (uint32_t)count;
}

uint32_t ty_cuda_count(char *reason, size_t size)
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
    CUresult own = ty_cuda.device_attribute(&value, what, id);
    if (own && !*code)
        *code = own;
    return own || value < 0 ? 0 : (uint32_t)value;
}

tally_status ty_cuda_describe(uint32_t index, tally_device_info *info, tally_error *error)
{
    char reason[256];
    CUdevice id;
    size_t memory = 0;
    if (index >= ty_cuda_count(reason, sizeof reason))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "cuda:%u: %s", index,
                        found.count ? "there is no such device" : reason);
    snprintf(info->id, sizeof info->id, "cuda:%u", index);
    CUresult code = ty_cuda.device_get(&id, (int)index);
    if (!code)
        code = ty_cuda.device_name(info->name, (int)sizeof info->name, id);
    if (!code)
        code = ty_cuda.device_memory(&memory, id);
    uint32_t local = code ? 0 : attribute(id, CU_SHARED_PER_BLOCK_OPTIN, &code);
    uint32_t major = code ? 0 : attribute(id, CU_CAPABILITY_MAJOR, &code);
    uint32_t minor = code ? 0 : attribute(id, CU_CAPABILITY_MINOR, &code);
    if (code)
        return ty_cuda_fail(error, "cuDeviceGet", code);
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

CUresult ty_cuda_limits(ty_device *device, CUdevice id)
{
    size_t memory = 0;
    CUresult code = ty_cuda.device_name(device->name, (int)sizeof device->name, id);
    if (!code)
        code = ty_cuda.device_memory(&memory, id);
    device->memory_bytes = memory;
    device->units = attribute(id, CU_MULTIPROCESSORS, &code);
    device->group_max = attribute(id, CU_THREADS_PER_BLOCK, &code);
    device->local_bytes = attribute(id, CU_SHARED_PER_BLOCK_OPTIN, &code);
    device->unit_local_bytes = attribute(id, CU_SHARED_PER_MULTIPROCESSOR, &code);
    device->unit_threads = attribute(id, CU_THREADS_PER_MULTIPROCESSOR, &code);
    device->warp = attribute(id, CU_WARP_SIZE, &code);
    device->capability =
        attribute(id, CU_CAPABILITY_MAJOR, &code) * 10 + attribute(id, CU_CAPABILITY_MINOR, &code);
    device->has_fp64 = device->has_fence = device->has_wide_atomics = 1;
    snprintf(device->signature, sizeof device->signature, "cuda|sm_%u|driver %d",
             device->capability, found.version);
    return code;
}
