/* Kernel methods of our own: how each is launched. */
#include <stdio.h>

#include "core/error.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/cost.h"
#include "methods/registry.h"

#define ON_DEVICES (TY_ON_OPENCL | TY_ON_CUDA)

static uint32_t lane_private_cells(const tally_plan *plan)
{
    return tally_dtype_bytes(plan->options.dtypes[0]) == 1 ? 256 : (uint32_t)plan->slots;
}

static const ty_parameter lane_private_parameters[] = {
    {"threads", 64, 1024, 512, "work-items of a group, a multiple of 32"},
    {"blocks-per-sm", 0, 32, 0, "groups on a multiprocessor, 0 for 2 (bytes) or all that fit"},
    {"ahead", 1, 16, 8, "loads of a work-item before it counts"},
    {NULL, 0, 0, 0, NULL}};

/* As many groups a multiprocessor as its work-items and local memory allow. */
static void lane_private_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                               ty_shape *shape)
{
    uint32_t cells = lane_private_cells(plan), local = cells * 128;
    uint32_t size = (uint32_t)ty_method_parameter(plan, "threads") & ~31u;
    uint32_t wanted = (uint32_t)ty_method_parameter(plan, "blocks-per-sm");
    if (device->warp != 32 && size > 64)
        size = 64;
    while (size > device->group_max)
        size /= 2;
    ty_shape_standard(plan, device, n, shape);
    uint32_t per_unit = device->unit_local_bytes / (local + 1024);
    uint32_t fit = device->unit_threads / size;
    per_unit = per_unit < fit ? per_unit : fit;
    if (!wanted && tally_dtype_bytes(plan->options.dtypes[0]) == 1)
        wanted = 2; /* measured on an H200: with 8 loads ahead more only cost */
    per_unit = wanted && wanted < per_unit ? wanted : per_unit;
    per_unit = per_unit < 1 ? 1 : per_unit;
    uint64_t needed = n * tally_dtype_bytes(plan->options.dtypes[0]) / ((uint64_t)size * 16) + 1;
    uint64_t most = (uint64_t)device->units * per_unit;
    shape->groups = (uint32_t)(needed < most ? needed : most);
    shape->group_size = size;
    shape->local_bytes = local;
    shape->partials = shape->groups;
    shape->cells = cells;
    shape->raw_shift = tally_dtype_bytes(plan->options.dtypes[0]) == 1 ? 0 : -1;
    snprintf(shape->defines, sizeof shape->defines, "-DTY_AHEAD=%d -DTY_DENSE=%u",
             (int)ty_method_parameter(plan, "ahead"), per_unit);
}

static tally_status lane_private_supports(const tally_plan *plan, tally_error *error)
{
    uint64_t most = ty_plan_device(plan)->local_bytes / 128;
    if (lane_private_cells(plan) > most)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "lane-private keeps 32 copies of every bin in local memory: %u bins at most, "
            "not %u",
            (unsigned)(most - TY_SLOT_EXTRA), plan->bins);
    return ty_kernel_supports(plan, error);
}

static double lane_private_cost(const tally_plan *plan, const char **why)
{
    *why = "32 copies fit local memory: no conflict, whatever the data";
    return ty_cost(plan, "lane-private");
}

static const ty_kernel_method lane_private = {.text = ty_text_lane_private,
                                              .shape = lane_private_shape};

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
