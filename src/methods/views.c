/* The method that takes any layout: how it is launched. */
#include <stdio.h>

#include "core/error.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/cost.h"
#include "methods/registry.h"

static const ty_parameter parameters[] = {
    {"threads", 32, 1024, 1024, "work-items of a group"},
    {"ahead", 1, 16, 4, "samples of a work-item before it counts"},
    {NULL, 0, 0, 0, NULL}};

/* As many copies of the table as two groups of a unit have room for. */
static void shape(const tally_plan *plan, const ty_device *device, uint64_t n, ty_shape *s)
{
    uint32_t size = (uint32_t)ty_method_parameter(plan, "threads");
    if (device->warp != 32 && size > 64)
        size = 64; /* a device that runs a group as a loop */
    while (size > device->group_max)
        size /= 2;
    ty_shape_standard(plan, device, n, s);
    uint32_t per_unit = device->warp == 32 ? device->unit_threads / size : 4;
    uint32_t half = device->unit_local_bytes / 2 - 1024, most = device->local_bytes - 1024;
    uint64_t bytes = plan->slots * sizeof(uint32_t);
    s->cleared = bytes > most;
    s->group_size = size;
    s->copies = 1;
    if (!s->cleared) {
        uint32_t room = bytes > half || half > most ? most : half;
        while (s->copies < 32 && bytes * s->copies * 2 <= room)
            s->copies *= 2;
        s->local_bytes = (uint32_t)bytes * s->copies;
        uint32_t fit = device->unit_local_bytes / (s->local_bytes + 1024);
        per_unit = per_unit < fit ? per_unit : fit;
    }
    s->groups = device->units * (per_unit ? per_unit : 1);
    snprintf(s->defines, sizeof s->defines, "-DTY_AHEAD=%d -DTY_FAR=%d",
             (int)ty_method_parameter(plan, "ahead"), s->cleared);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    if (plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "views counts samples; weights are summed on the cpu");
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        if (!ty_plan_device(plan)->has_fp64 && tally_dtype_bytes(plan->options.dtypes[d]) > 1)
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "the device has no float64, which exact binning of %s needs",
                            tally_dtype_name(plan->options.dtypes[d]));
    }
    return TALLY_OK;
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = plan->options.dimensions > 1 ? "several coordinates" : "any layout";
    return ty_cost(plan, "views");
}

static const ty_kernel_method kernel = {
    .text = ty_text_views, .shape = shape, .views = 1, .fast = 1};

const ty_method ty_views = {
    "views",
    "tally",
    "any strides, channels, mask and number of coordinates, in one launch",
    TY_ON_OPENCL | TY_ON_CUDA,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    parameters,
    supports,
    cost,
    &kernel,
};
