/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Oclgrind's runtime with one function changed: it does not see what clEnqueueFillBuffer clears,
 * and would report every read of it as uninitialised. Here zeros are written instead.
 */
#include <stdlib.h>

#include "gpu/opencl_api.h"

cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem, cl_uint, size_t, size_t, const void *,
                            cl_uint, const cl_event *, cl_event *);

__attribute__((visibility("default"))) cl_int
clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern, size_t period,
                    size_t offset, size_t bytes, cl_uint events, const cl_event *list,
                    cl_event *event)
{
    (void)pattern;
    (void)period;
    void *zeros = calloc(1, bytes);
    cl_int code = zeros ? clEnqueueWriteBuffer(queue, memory, CL_TRUE, offset, bytes, zeros, events,
                                               list, event)
                        : CL_OUT_OF_HOST_MEMORY;
    free(zeros);
    return code;
}
