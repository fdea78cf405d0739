/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL programs: built from text, or from the binary that an earlier build left in the cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "gpu/opencl.h"

static tally_status build_log(const ty_opencl_device *own, cl_program program, cl_int code,
                              tally_error *error)
{
    char log[800] = "";
    size_t size = 0;
    char *whole = NULL;
    if (!ty_cl.clGetProgramBuildInfo(program, own->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) &&
        size)
        whole = ty_malloc(size + 1);
    if (whole &&
        !ty_cl.clGetProgramBuildInfo(program, own->id, CL_PROGRAM_BUILD_LOG, size, whole, NULL)) {
        whole[size] = '\0';
        snprintf(log, sizeof log, "%s", whole);
    }
    ty_free(whole);
    return ty_error(error, TALLY_ERROR_DEVICE, "OpenCL: the kernel does not build (%d): %s",
                    (int)code, log);
}

static cl_program load_binary(const ty_opencl_device *own, const void *bytes, size_t size,
                              const char *options)
{
    cl_int status = 0, code = 0;
    const unsigned char *binary = bytes;
    cl_program program =
        ty_cl.clCreateProgramWithBinary(own->context, 1, &own->id, &size, &binary, &status, &code);
    if (code || status) {
        if (!code)
            ty_cl.clReleaseProgram(program);
        return NULL;
    }
    if (!ty_cl.clBuildProgram(program, 1, &own->id, options, NULL, NULL))
        return program;
    ty_cl.clReleaseProgram(program);
    return NULL;
}

/* A program's binary (ty_free), ended by a zero; NULL where there is none. */
static char *take_binary(cl_program program, size_t *size)
{
    *size = 0;
    if (ty_cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL) ||
        !*size)
        return NULL;
    char *bytes = ty_calloc(1, *size + 1);
    if (bytes && !ty_cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL))
        return bytes;
    ty_free(bytes);
    return NULL;
}

/*
 * NVIDIA's OpenCL C has no word for how many groups a multiprocessor should hold (TY_KERNEL_DENSE),
 * without which its assembler takes 32 registers for a kernel and moves loads down to their use.
 * Its binaries are PTX, which has one. Programs built with TY_BOUNDED get it, TY_DENSE groups,
 * behind the size of `count`'s groups.
 */
char *ty_opencl_bound(const char *ptx, const char *options)
{
    const char *dense = strstr(options, "-DTY_DENSE=");
    const char *entry = strstr(ptx, ".entry count(");
    const char *size = entry ? strstr(entry, ".reqntid") : NULL;
    const char *line = size ? strchr(size, '\n') : NULL;
    const size_t most = strlen(ptx) + 40;
    char *bound = dense && line ? ty_malloc(most) : NULL;
    if (bound)
        snprintf(bound, most, "%.*s\n.minnctapersm %u%s", (int)(line - ptx), ptx,
                 (unsigned)strtoul(dense + strlen("-DTY_DENSE="), NULL, 10), line);
    return bound;
}

/* What the driver made, bounded if it is to be, goes to the cache; returns the program to use.
 * Where no cache is, no binary is asked for: PoCL compiles every kernel once more to give one. */
static cl_program finish_program(const ty_device *device, cl_program program, const char *source,
                                 const char *options)
{
    size_t size;
    char folder[1024];
    const int bounded = strstr(options, "-DTY_BOUNDED=") != NULL;
    if (!bounded && !ty_cache_folder(folder, sizeof folder, 1))
        return program;
    char *bytes = take_binary(program, &size);
    char *bound = bytes && bounded ? ty_opencl_bound(bytes, options) : NULL;
    cl_program better =
        bound ? load_binary(device->native, bound, strlen(bound) + 1, options) : NULL;
    if (better) {
        ty_cl.clReleaseProgram(program);
        ty_cache_put(source, options, device->signature, bound, strlen(bound) + 1);
    } else if (bytes) {
        ty_cache_put(source, options, device->signature, bytes, size);
    }
    ty_free(bound);
    ty_free(bytes);
    return better ? better : program;
}

tally_status ty_opencl_build(ty_device *device, const char *source, const char *options,
                             void **program, int *cached, tally_error *error)
{
    ty_opencl_device *own = device->native;
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
    cl_program p = ty_cl.clCreateProgramWithSource(own->context, 1, &source, NULL, &code);
    if (code)
        return ty_opencl_fail(error, "clCreateProgramWithSource", code);
    code = ty_cl.clBuildProgram(p, 1, &own->id, flags, NULL, NULL);
    if (code) {
        tally_status status = build_log(own, p, code, error);
        ty_cl.clReleaseProgram(p);
        return status;
    }
    *program = finish_program(device, p, source, flags);
    return TALLY_OK;
}

void ty_opencl_program_close(ty_device *device, void *program)
{
    (void)device;
    if (program)
        ty_cl.clReleaseProgram(program);
}

tally_status ty_opencl_stats(ty_device *device, void *program, const char *kernel,
                             ty_kernel_stats *stats, tally_error *error)
{
    ty_opencl_device *own = device->native;
    cl_int code;
    cl_kernel k = ty_cl.clCreateKernel(program, kernel, &code);
    if (code)
        return ty_opencl_fail(error, "clCreateKernel", code);
    size_t group = 0;
    cl_ulong local = 0, spill = 0;
    ty_cl.clGetKernelWorkGroupInfo(k, own->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group,
                                   NULL);
    ty_cl.clGetKernelWorkGroupInfo(k, own->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local,
                                   NULL);
    ty_cl.clGetKernelWorkGroupInfo(k, own->id, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof spill, &spill,
                                   NULL);
    stats->spill_bytes = (uint32_t)spill;
    stats->static_local_bytes = (uint32_t)local;
    stats->group_max = (uint32_t)group;
    ty_cl.clReleaseKernel(k);
    return TALLY_OK;
}
