/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual devices: they are not there: what the launches of kernels need to know of an
 * architecture. */
#include "gpu/device.h"

const uint32_t ty_architectures[] = {75, 80, 86, 89, 90, 100, 120, 0};

/* Limits as in the CUDA programming guide's table of compute capabilities. */
ty_device ty_device_virtual(uint32_t capability)
{
    ty_device d = {.ops = &ty_cuda_ops,
                   .units = 80,
                   .group_max = 1024,
                   .warp = 32,
                   .has_fp64 = 1,
                   .has_fence = 1,
                   .has_wide_atomics = 1};
    d.capability = capability;
    d.local_bytes = capability == 75                        ? 64 << 10
                    : capability == 80                      ? 163 << 10
                    : capability == 90 || capability == 100 ? 227 << 10
                                                            : 99 << 10;
    d.unit_local_bytes = d.local_bytes + (capability == 75 ? 0 : 1024);
    d.unit_threads = capability == 75                                            ? 1024
                     : capability == 80 || capability == 90 || capability == 100 ? 2048
                                                                                 : 1536;
    return d;
}
