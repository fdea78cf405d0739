/* SPDX-License-Identifier: Apache-2.0 */
/* The part of OpenCL 1.2 that opencl*.c call, declared here so that no SDK is needed to build. The
 * numbers are the standard's. */
#ifndef TY_OPENCL_API_H
#define TY_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_ulong cl_bitfield;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

enum {
    CL_SUCCESS = 0,
    CL_DEVICE_NOT_FOUND = -1,
    CL_BUILD_PROGRAM_FAILURE = -11,
    CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_INVALID_BUFFER_SIZE = -61,
    CL_NO_PLATFORM = -1001,
    CL_PLATFORM_NAME = 0x0902,
    CL_PLATFORM_VERSION = 0x0901,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
    CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
    CL_DEVICE_AVAILABLE = 0x1027,
    CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    CL_DEVICE_NAME = 0x102b,
    CL_DRIVER_VERSION = 0x102d,
    CL_DEVICE_VERSION = 0x102f,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_PLATFORM = 0x1031,
    CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
    CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV = 0x4000,
    CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV = 0x4001,
    CL_DEVICE_WARP_SIZE_NV = 0x4003,
    CL_CONTEXT_PLATFORM = 0x1084,
    CL_QUEUE_CONTEXT = 0x1090,
    CL_QUEUE_DEVICE = 0x1091,
    CL_QUEUE_PROPERTIES = 0x1093,
    CL_MEM_SIZE = 0x1102,
    CL_PROGRAM_BINARY_SIZES = 0x1165,
    CL_PROGRAM_BINARIES = 0x1166,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_WORK_GROUP_SIZE = 0x11b0,
    CL_KERNEL_LOCAL_MEM_SIZE = 0x11b2,
    CL_KERNEL_PRIVATE_MEM_SIZE = 0x11b4,
    CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283
};

#define CL_DEVICE_TYPE_CPU         ((cl_bitfield)2)
#define CL_DEVICE_TYPE_GPU         ((cl_bitfield)4)
#define CL_DEVICE_TYPE_ACCELERATOR ((cl_bitfield)8)
#define CL_QUEUE_OUT_OF_ORDER      ((cl_bitfield)1)
#define CL_QUEUE_PROFILING         ((cl_bitfield)2)
#define CL_MEM_READ_WRITE          ((cl_bitfield)1)
#define CL_TRUE                    1u
#define CL_FALSE                   0u

/* name, result, parameters: expanded into a table of pointers and a list of symbols. */
#define TY_OPENCL_FUNCTIONS(F)                                                                     \
    F(clGetPlatformIDs, cl_int, (cl_uint, cl_platform_id *, cl_uint *))                            \
    F(clGetPlatformInfo, cl_int, (cl_platform_id, cl_uint, size_t, void *, size_t *))              \
    F(clGetDeviceIDs, cl_int, (cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *))   \
    F(clGetDeviceInfo, cl_int, (cl_device_id, cl_uint, size_t, void *, size_t *))                  \
    F(clCreateContext, cl_context,                                                                 \
      (const intptr_t *, cl_uint, const cl_device_id *, void *, void *, cl_int *))                 \
    F(clRetainContext, cl_int, (cl_context))                                                       \
    F(clReleaseContext, cl_int, (cl_context))                                                      \
    F(clCreateCommandQueue, cl_command_queue, (cl_context, cl_device_id, cl_bitfield, cl_int *))   \
    F(clGetCommandQueueInfo, cl_int, (cl_command_queue, cl_uint, size_t, void *, size_t *))        \
    F(clRetainCommandQueue, cl_int, (cl_command_queue))                                            \
    F(clReleaseCommandQueue, cl_int, (cl_command_queue))                                           \
    F(clCreateBuffer, cl_mem, (cl_context, cl_bitfield, size_t, void *, cl_int *))                 \
    F(clReleaseMemObject, cl_int, (cl_mem))                                                        \
    F(clGetMemObjectInfo, cl_int, (cl_mem, cl_uint, size_t, void *, size_t *))                     \
    F(clEnqueueReadBuffer, cl_int,                                                                 \
      (cl_command_queue, cl_mem, cl_uint, size_t, size_t, void *, cl_uint, const cl_event *,       \
       cl_event *))                                                                                \
    F(clEnqueueWriteBuffer, cl_int,                                                                \
      (cl_command_queue, cl_mem, cl_uint, size_t, size_t, const void *, cl_uint, const cl_event *, \
       cl_event *))                                                                                \
    F(clEnqueueFillBuffer, cl_int,                                                                 \
      (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const cl_event *,  \
       cl_event *))                                                                                \
    F(clCreateProgramWithSource, cl_program,                                                       \
      (cl_context, cl_uint, const char **, const size_t *, cl_int *))                              \
    F(clCreateProgramWithBinary, cl_program,                                                       \
      (cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **,          \
       cl_int *, cl_int *))                                                                        \
    F(clBuildProgram, cl_int,                                                                      \
      (cl_program, cl_uint, const cl_device_id *, const char *, void *, void *))                   \
    F(clGetProgramInfo, cl_int, (cl_program, cl_uint, size_t, void *, size_t *))                   \
    F(clGetProgramBuildInfo, cl_int,                                                               \
      (cl_program, cl_device_id, cl_uint, size_t, void *, size_t *))                               \
    F(clReleaseProgram, cl_int, (cl_program))                                                      \
    F(clCreateKernel, cl_kernel, (cl_program, const char *, cl_int *))                             \
    F(clReleaseKernel, cl_int, (cl_kernel))                                                        \
    F(clSetKernelArg, cl_int, (cl_kernel, cl_uint, size_t, const void *))                          \
    F(clGetKernelWorkGroupInfo, cl_int,                                                            \
      (cl_kernel, cl_device_id, cl_uint, size_t, void *, size_t *))                                \
    F(clEnqueueNDRangeKernel, cl_int,                                                              \
      (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *,       \
       cl_uint, const cl_event *, cl_event *))                                                     \
    F(clEnqueueMarkerWithWaitList, cl_int,                                                         \
      (cl_command_queue, cl_uint, const cl_event *, cl_event *))                                   \
    F(clWaitForEvents, cl_int, (cl_uint, const cl_event *))                                        \
    F(clGetEventProfilingInfo, cl_int, (cl_event, cl_uint, size_t, void *, size_t *))              \
    F(clReleaseEvent, cl_int, (cl_event))                                                          \
    F(clFinish, cl_int, (cl_command_queue))

#define TY_MEMBER(name, result, parameters) result(*name) parameters;
typedef struct ty_opencl_api {
    TY_OPENCL_FUNCTIONS(TY_MEMBER)
} ty_opencl_api;
#undef TY_MEMBER

#endif
