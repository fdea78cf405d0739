/* Kernel methods of our own: how each is launched. */
#include <stdio.h>

#include "core/error.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/cost.h"
#include "methods/registry.h"

#define ON_DEVICES (TY_ON_OPENCL | TY_ON_CUDA)

static uint32_t sample_bytes(const tally_plan *plan)
{
    return tally_dtype_bytes(plan->options.dtypes[0]);
}

/* A group of at most `threads` work-items with `local` bytes, and `blocks-per-sm` of them on a
 * multiprocessor if they fit; no more than 16 bytes of samples for each work-item. One large group
 * with many loads ahead is the fastest on an H200 (docs/PERFORMANCE_GPU.md), and leaves the fewest
 * partials. */
static void own_shape(const tally_plan *plan, const ty_device *device, uint64_t n, uint32_t local,
                      ty_shape *shape)
{
    uint32_t size = (uint32_t)ty_method_parameter(plan, "threads") & ~31u;
    if (device->warp != 32 && size > 64)
        size = 64;
    while (size > device->group_max)
        size /= 2;
    ty_shape_standard(plan, device, n, shape);
    uint32_t per_unit = device->unit_local_bytes / (local + 1024);
    uint32_t fit = device->unit_threads / size;
    uint32_t set = (uint32_t)ty_method_parameter(plan, "blocks-per-sm");
    per_unit = per_unit < fit ? per_unit : fit;
    per_unit = set < per_unit ? set : per_unit;
    per_unit = per_unit < 1 ? 1 : per_unit;
    uint64_t needed = n * sample_bytes(plan) / ((uint64_t)size * 16) + 1;
    uint64_t most = (uint64_t)device->units * per_unit;
    shape->groups = (uint32_t)(needed < most ? needed : most);
    shape->group_size = size;
    shape->local_bytes = local;
    shape->partials = shape->groups;
    snprintf(shape->defines, sizeof shape->defines, "-DTY_AHEAD=%d -DTY_DENSE=%u",
             (int)ty_method_parameter(plan, "ahead"), per_unit);
}

/* ---- lane-private ---- */

static uint32_t lane_private_cells(const tally_plan *plan)
{
    return sample_bytes(plan) == 1 ? 256 : plan->bins + TY_CELLS_EXTRA;
}

static const ty_parameter lane_private_parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"blocks-per-sm", 1, 32, 1, "groups on a multiprocessor, if they fit"},
    {"ahead", 1, 16, 8, "loads of a work-item before it counts"},
    {NULL, 0, 0, 0, NULL}};

static void lane_private_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                               ty_shape *shape)
{
    own_shape(plan, device, n, lane_private_cells(plan) * 128, shape);
    if (sample_bytes(plan) == 1) {
        shape->cells = 256;
        shape->raw_shift = 0;
    }
}

static tally_status lane_private_supports(const tally_plan *plan, tally_error *error)
{
    uint64_t most = ty_plan_device(plan)->local_bytes / 128;
    if (lane_private_cells(plan) > most)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "lane-private keeps 32 copies of every bin in local memory: %u bins at most, "
            "not %u",
            (unsigned)(most - TY_CELLS_EXTRA), plan->bins);
    return ty_kernel_supports(plan, error);
}

static double lane_private_cost(const tally_plan *plan, const char **why)
{
    *why = "32 copies fit local memory: no conflict, whatever the data";
    return ty_cost(plan, "lane-private");
}

static const ty_kernel_method lane_private = {
    .text = ty_text_lane_private, .fast = 1, .shape = lane_private_shape};

const ty_method ty_lane_private = {
    "lane-private",
    "tally",
    "32 interleaved copies: a warp never meets a bank twice",
    ON_DEVICES,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    lane_private_parameters,
    lane_private_supports,
    lane_private_cost,
    &lane_private,
};

/* ---- swizzled ---- */

static const ty_parameter swizzled_parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"blocks-per-sm", 1, 32, 1, "groups on a multiprocessor, if they fit"},
    {"ahead", 1, 16, 8, "loads of a work-item before it counts"},
    {"key", 0, UINT32_MAX, 0, "of the scrambled order, 0 for one drawn at every launch"},
    {NULL, 0, 0, 0, NULL}};

static uint64_t swizzled_bytes(const tally_plan *plan)
{
    return ((uint64_t)plan->bins + TY_CELLS_EXTRA + 31) / 32 * 128;
}

static void swizzled_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                           ty_shape *shape)
{
    own_shape(plan, device, n, (uint32_t)swizzled_bytes(plan), shape);
}

static tally_status swizzled_supports(const tally_plan *plan, tally_error *error)
{
    uint64_t most = ty_plan_device(plan)->local_bytes / 128 * 32;
    if (swizzled_bytes(plan) > ty_plan_device(plan)->local_bytes)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "swizzled keeps a copy of every bin in local memory: %u bins at most, "
                        "not %u",
                        (unsigned)(most - TY_CELLS_EXTRA), plan->bins);
    return ty_kernel_supports(plan, error);
}

static double swizzled_cost(const tally_plan *plan, const char **why)
{
    *why = "one copy fits local memory, its banks scrambled against any data";
    return ty_cost(plan, "swizzled");
}

static const ty_kernel_method swizzled = {
    .text = ty_text_swizzled, .fast = 1, .keyed = 1, .shape = swizzled_shape};

const ty_method ty_swizzled = {
    "swizzled",
    "tally",
    "one copy in local memory, its banks scrambled by a key of the launch",
    ON_DEVICES,
    UINT32_MAX & ~(1u << TALLY_U8 | 1u << TALLY_I8),
    1,
    TY_MAX_BINS,
    swizzled_parameters,
    swizzled_supports,
    swizzled_cost,
    &swizzled,
};
