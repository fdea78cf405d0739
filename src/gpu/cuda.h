/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the CUDA runtime share: cuda_find.c (the driver, its devices and their limits)
 * and cuda.c (contexts, queues, memory, programs, launches). */
#ifndef TY_CUDA_H
#define TY_CUDA_H

#include "core/error.h"
#include "gpu/cuda_api.h"
#include "gpu/device.h"

/* Filled once devices have been counted and there are some. */
extern ty_cuda_api ty_cuda;

const char *ty_cuda_words(CUresult code);
tally_status ty_cuda_fail(tally_error *error, const char *call, CUresult code);

uint32_t ty_cuda_count(char *reason, size_t size);
/* Fails with the reason why there is no such device. */
tally_status ty_cuda_describe(uint32_t index, tally_device_info *info, tally_error *error);
/* Fills in what the device can do. */
CUresult ty_cuda_limits(ty_device *device, CUdevice id);

#endif
