/* SPDX-License-Identifier: Apache-2.0 */
/* The part of CUDA's driver API that cuda*.c call, declared here so that no toolkit is needed to
 * build. The numbers are the driver's. */
#ifndef TY_CUDA_API_H
#define TY_CUDA_API_H

#include <stddef.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUevent_st *CUevent;

enum {
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,

    CU_THREADS_PER_BLOCK = 1,
    CU_WARP_SIZE = 10,
    CU_MULTIPROCESSORS = 16,
    CU_THREADS_PER_MULTIPROCESSOR = 39,
    CU_CAPABILITY_MAJOR = 75,
    CU_CAPABILITY_MINOR = 76,
    CU_SHARED_PER_MULTIPROCESSOR = 81,
    CU_SHARED_PER_BLOCK_OPTIN = 97,

    CU_FUNCTION_THREADS = 0,
    CU_FUNCTION_SHARED = 1,
    CU_FUNCTION_LOCAL = 3,
    CU_FUNCTION_REGISTERS = 4,
    CU_FUNCTION_PTX_VERSION = 5,
    CU_FUNCTION_MAX_DYNAMIC_SHARED = 8,
    CU_FUNCTION_CARVEOUT = 9,

    CU_POINTER_MEMORY_TYPE = 2,
    CU_POINTER_RANGE_START = 11,
    CU_POINTER_RANGE_SIZE = 12,
    CU_MEMORY_HOST = 1,

    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_CAPTURE_NONE = 0,
    CU_CAPTURE_MODE_GLOBAL = 0,
    CU_CAPTURE_MODE_RELAXED = 2,

    CU_LAUNCH_PROGRAMMATIC_SERIALIZATION = 6
};

/* name in the library, member, parameters */
#define TY_CUDA_FUNCTIONS(F)                                                                       \
    F("cuInit", init, (unsigned))                                                                  \
    F("cuDriverGetVersion", driver_version, (int *))                                               \
    F("cuGetErrorName", error_name, (CUresult, const char **))                                     \
    F("cuGetErrorString", error_string, (CUresult, const char **))                                 \
    F("cuDeviceGetCount", device_count, (int *))                                                   \
    F("cuDeviceGet", device_get, (CUdevice *, int))                                                \
    F("cuDeviceGetName", device_name, (char *, int, CUdevice))                                     \
    F("cuDeviceTotalMem_v2", device_memory, (size_t *, CUdevice))                                  \
    F("cuDeviceGetAttribute", device_attribute, (int *, int, CUdevice))                            \
    F("cuDevicePrimaryCtxRetain", primary_retain, (CUcontext *, CUdevice))                         \
    F("cuDevicePrimaryCtxRelease_v2", primary_release, (CUdevice))                                 \
    F("cuCtxPushCurrent_v2", context_push, (CUcontext))                                            \
    F("cuCtxPopCurrent_v2", context_pop, (CUcontext *))                                            \
    F("cuCtxGetDevice", context_device, (CUdevice *))                                              \
    F("cuMemAlloc_v2", memory_alloc, (CUdeviceptr *, size_t))                                      \
    F("cuMemFree_v2", memory_free, (CUdeviceptr))                                                  \
    F("cuMemHostAlloc", host_alloc, (void **, size_t, unsigned))                                   \
    F("cuMemFreeHost", host_free, (void *))                                                        \
    F("cuPointerGetAttributes", pointer_attributes, (unsigned, int *, void **, CUdeviceptr))       \
    F("cuMemcpyHtoDAsync_v2", upload, (CUdeviceptr, const void *, size_t, CUstream))               \
    F("cuMemcpyDtoHAsync_v2", download, (void *, CUdeviceptr, size_t, CUstream))                   \
    F("cuDeviceCanAccessPeer", can_reach, (int *, CUdevice, CUdevice))                             \
    F("cuCtxEnablePeerAccess", reach, (CUcontext, unsigned))                                       \
    F("cuMemsetD8Async", clear, (CUdeviceptr, unsigned char, size_t, CUstream))                    \
    F("cuStreamCreate", stream_create, (CUstream *, unsigned))                                     \
    F("cuStreamDestroy_v2", stream_destroy, (CUstream))                                            \
    F("cuStreamSynchronize", stream_wait, (CUstream))                                              \
    F("cuStreamWaitEvent", stream_follow, (CUstream, CUevent, unsigned))                           \
    F("cuStreamIsCapturing", stream_capturing, (CUstream, int *))                                  \
    F("cuThreadExchangeStreamCaptureMode", capture_mode, (int *))                                  \
    F("cuCtxSynchronize", context_wait, (void))                                                    \
    F("cuModuleLoadData", module_load, (CUmodule *, const void *))                                 \
    F("cuModuleUnload", module_unload, (CUmodule))                                                 \
    F("cuModuleGetFunction", module_function, (CUfunction *, CUmodule, const char *))              \
    F("cuFuncGetAttribute", function_attribute, (int *, int, CUfunction))                          \
    F("cuFuncSetAttribute", function_set, (CUfunction, int, int))                                  \
    F("cuOccupancyMaxActiveBlocksPerMultiprocessor", occupancy, (int *, CUfunction, int, size_t))  \
    F("cuLaunchKernel", launch,                                                                    \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
       void **, void **))                                                                          \
    F("cuEventCreate", event_create, (CUevent *, unsigned))                                        \
    F("cuEventRecord", event_record, (CUevent, CUstream))                                          \
    F("cuEventSynchronize", event_wait, (CUevent))                                                 \
    F("cuEventElapsedTime", event_elapsed, (float *, CUevent, CUevent))                            \
    F("cuEventDestroy_v2", event_destroy, (CUevent))

typedef struct CUlaunchAttribute {
    int id;
    char unused[4];
    union {
        char bytes[64];
        int on;
    } value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig {
    unsigned grid[3], block[3], local_bytes;
    CUstream stream;
    CUlaunchAttribute *attributes;
    unsigned attribute_count;
} CUlaunchConfig;

/* Those that older drivers lack. */
#define TY_CUDA_OPTIONAL(F)                                                                        \
    F("cuLaunchKernelEx", launch_with, (const CUlaunchConfig *, CUfunction, void **, void **))

#define TY_MEMBER(symbol, name, parameters) CUresult(*name) parameters;
typedef struct ty_cuda_api {
    TY_CUDA_FUNCTIONS(TY_MEMBER) TY_CUDA_OPTIONAL(TY_MEMBER)
} ty_cuda_api;
#undef TY_MEMBER

#endif
