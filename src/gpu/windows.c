/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of core/dynlib.c, cache.c and kernels_file.c on Windows, where Tally counts on the
 * processor alone: no driver is found, which every device is told, and nothing of theirs is kept.
 */
#include <stdio.h>

#include "core/dynlib.h"
#include "gpu/device.h"
#include "gpu/kernels_file.h"

void *ty_dynlib_open(const char *variable, const char *const *candidates, const ty_symbol *symbols,
                     void *table, char *reason, size_t size)
{
    (void)variable;
    (void)candidates;
    (void)symbols;
    (void)table;
    snprintf(reason, size, "on Windows Tally counts on the processor alone");
    return NULL;
}

int ty_cache_folder(char *path, size_t size, int make)
{
    (void)path;
    (void)size;
    (void)make;
    return 0;
}

int ty_cache_open(const char *path, const char **why)
{
    (void)path;
    *why = NULL;
    return -1;
}

void *ty_cache_get(const char *source, const char *options, const char *signature, size_t *size)
{
    (void)source;
    (void)options;
    (void)signature;
    (void)size;
    return NULL;
}

void ty_cache_put(const char *source, const char *options, const char *signature, const void *bytes,
                  size_t size)
{
    (void)source;
    (void)options;
    (void)signature;
    (void)bytes;
    (void)size;
}

int ty_kernels_serve(uint32_t capability)
{
    (void)capability;
    return 0;
}

void *ty_kernels_get(const char *source, const char *options, uint32_t capability, int is_ptx,
                     size_t *size)
{
    (void)source;
    (void)options;
    (void)capability;
    (void)is_ptx;
    (void)size;
    return NULL;
}

const char *ty_kernels_describe(void)
{
    return "none: on Windows Tally counts on the processor alone";
}
