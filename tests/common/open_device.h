/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OPEN_DEVICE_H
#define OPEN_DEVICE_H

#include <stdio.h>
#include <string.h>
#include <tally/tally.h>

/* The device "cuda", or OpenCL's first, for NULL too; NULL, and the reason printed, where there is
 * none. */
static inline tally_context *open_device(const char *name)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_error error = {""};
    o.device = name && !strcmp(name, "cuda") ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    if (tally_context_create(&o, &context, &error))
        printf("skipped: %s\n", error.message);
    return context;
}

#endif
