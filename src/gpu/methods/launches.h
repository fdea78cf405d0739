/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that several methods have in common. */
#ifndef TY_LAUNCHES_H
#define TY_LAUNCHES_H

#include "gpu/method.h"

#define TY_ON_GPU   (TY_ON_OPENCL | TY_ON_CUDA)
#define TY_BYTES    (1u << TALLY_U8 | 1u << TALLY_I8)
#define TY_NO_BYTES (UINT32_MAX & ~TY_BYTES)

/* ---- methods of the five texts ---- */

/* Groups of the setting "group" work-items, as many as n samples need with `each` samples a
 * work-item, at most 2^20 of them a launch; and supports() for it. */
void ty_geometry_by_samples(const tally_plan *plan, const ty_device *device, uint64_t n,
                            uint64_t each, ty_geometry *g);
tally_status ty_supports_group(const tally_plan *plan, tally_error *error);

/* The kernels of source 001 (kernels/published/lecture.h): words of local memory for samples
 * outside the bins; and the setting "commit", by which tables in local memory get into global
 * memory. */
enum { TY_OUTSIDE_BYTES = 16 };
void ty_define_commit(const tally_plan *plan, ty_defines *defines);
struct ty_call;
tally_status ty_count_and_commit(struct ty_call *call, tally_error *error);
#define TY_COMMIT_HELP "1: tables added to one by atomics, as published; 0: merged afterwards"

/* A grid that fills the device with groups of `size` that read bytes, and `local` bytes each. */
void ty_geometry_bytes(const ty_device *device, uint64_t n, uint32_t size, uint32_t local,
                       ty_geometry *g);
/* Local memory that the hardware and the runtime keep of each group's: 1 KB, and OpenCL a few. */
enum { TY_LOCAL_KEPT = 1024 + 128 };

/* The setting "merge" of source 002: its merge kernel has a group a bin, whose work-items read
 * words that lie a partial apart. ty_counting.merge_width. */
#define TY_MERGE_PARAMETER                                                                         \
    {                                                                                              \
        "merge", 0, 1, 0, "1: merged by a group a bin, as published; 0: by groups as fit the work" \
    }

/* podlozhnyuk-256 and its tagged form: groups of the setting "warps". */
void ty_geometry_warps(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g);
void ty_define_warps(const tally_plan *plan, const ty_device *device, ty_defines *defines);
tally_status ty_supports_warps(const tally_plan *plan, tally_error *error);
extern const struct tally_parameter ty_warps_parameters[];

/* saturating-*: 16-bit counters that stick. */
tally_status ty_supports_saturating(const tally_plan *plan, tally_error *error);
/* Groups of `size` work-items with the plan's slots in local memory: as many as fill the device, or
 * as n samples need with the setting "elements" samples a work-item. */
void ty_geometry_saturating(const tally_plan *plan, const ty_device *device, uint64_t n,
                            uint32_t size, ty_geometry *g);
/* TY_COMMITTERS, and by the setting "clear" TY_CLEAR_WHOLE. */
void ty_define_saturating(const tally_plan *plan, uint32_t committers, ty_defines *defines);

/* ---- methods of our own ---- */

static inline uint32_t ty_sample_bytes(const tally_plan *plan)
{
    return (uint32_t)tally_dtype_bytes(plan->options.dtypes[0]);
}

/* Bytes of a lookup table for uneven edges in local memory, behind the counters. */
uint32_t ty_lookup_bytes(const tally_plan *plan);
/* What counters leave of local memory for one; a runtime may keep a KiB. */
uint64_t ty_spare_bytes(const tally_plan *plan, uint64_t counters);

/* The setting "threads", a multiple of 32 that the device allows. */
uint32_t ty_threads(const tally_plan *plan, const ty_device *device);
/* Groups of so many work-items with `local` bytes, and the setting "blocks-per-sm" of them on a
 * multiprocessor if they fit; no more than 16 bytes of samples for each work-item. */
void ty_geometry_resident(const tally_plan *plan, const ty_device *device, uint64_t n,
                          uint64_t local, ty_geometry *g);
/* TY_AHEAD, loads under way, and TY_DENSE, those groups of a multiprocessor. */
void ty_define_resident(const tally_plan *plan, const ty_device *device, uint64_t local,
                        uint32_t ahead, ty_defines *defines);

static inline int ty_is_nvidia_opencl(const ty_device *device)
{
    return device->warp == 32 && !device->capability;
}
/* Under NVIDIA's OpenCL the kernel gets the registers that CUDA gives it (gpu/opencl_build.c):
 * asked for where that was measured to be faster. */
void ty_define_bound(const ty_device *device, ty_defines *defines);

/* Whether a launch stores its counts itself (kernels/finish.h): where one group is all, or the last
 * of several can know that it is; a table of more slots takes that one longer than a merge. */
int ty_stores_itself(const tally_plan *plan, const ty_device *device, const ty_geometry *g);

/* TY_FINISH_ARGS of kernels/finish.h. */
enum { TY_FINISH_COUNT = 8 };
unsigned ty_finish(const struct ty_call *call, int stores, ty_memory table, ty_arg *args,
                   unsigned n);

#endif
