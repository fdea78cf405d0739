/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the OpenCL runtime share: opencl_find.c (the library, its devices and their
 * limits), opencl_build.c (programs) and opencl.c (contexts, queues, memory, launches). */
#ifndef TY_OPENCL_H
#define TY_OPENCL_H

#include "core/error.h"
#include "gpu/device.h"
#include "gpu/opencl_api.h"

/* Filled once devices have been counted and there are some. */
extern ty_opencl_api ty_cl;

/* ty_device.native */
typedef struct ty_opencl_device {
    cl_device_id id;
    cl_context context;
} ty_opencl_device;

const char *ty_opencl_words(cl_int code);
tally_status ty_opencl_fail(tally_error *error, const char *call, cl_int code);

#define TY_CL_TRY(call, ...)                                                                       \
    do {                                                                                           \
        cl_int code_ = ty_cl.call(__VA_ARGS__);                                                    \
        if (code_)                                                                                 \
            return ty_opencl_fail(error, #call, code_);                                            \
    } while (0)

/* ---- opencl_find.c ---- */

uint32_t ty_opencl_count(char *reason, size_t size);
tally_status ty_opencl_describe(uint32_t index, tally_device_info *info, tally_error *error);
/* Device `index` and its platform; fails with the reason why there is none. */
tally_status ty_opencl_find(uint32_t index, cl_device_id *id, cl_platform_id *platform,
                            tally_error *error);
/* Whether the device can be used at all; if not, `reason` says why. */
int ty_opencl_usable(cl_device_id id, char *reason, size_t size);
/* Fills in what the device can do; nonzero when its driver told all that is needed. */
int ty_opencl_limits(ty_device *device, cl_device_id id);

/* ---- opencl_build.c: these rows of ty_device_ops ---- */

tally_status ty_opencl_build(ty_device *device, const char *source, const char *options,
                             void **program, int *cached, tally_error *error);
/* The PTX of a program, its kernel `count` bounded to TY_DENSE groups on a multiprocessor
 * (ty_free); NULL for other text and without memory. */
char *ty_opencl_bound(const char *ptx, const char *options);
void ty_opencl_program_close(ty_device *device, void *program);
tally_status ty_opencl_stats(ty_device *device, void *program, const char *kernel,
                             ty_kernel_stats *stats, tally_error *error);

#endif
