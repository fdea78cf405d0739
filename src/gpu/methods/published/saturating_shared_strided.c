/* SPDX-License-Identifier: Apache-2.0 */
/* Source 004: saturating-shared with a strided merge, for any number of bins. */
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"threads", 32, 1024, 256, "work-items of a group"},
    {"elements", 0, 65536, 0, "samples a work-item counts: 1 as published; 0 fills the device"},
    {"clear", 0, 1, 0, "1: every work-item clears the whole table, as published"},
    {NULL, 0, 0, 0, NULL}};

static uint32_t size_of(const tally_plan *plan, const ty_device *device)
{
    const uint32_t size = (uint32_t)ty_method_parameter(plan, "threads");
    return size < device->group_max ? size : device->group_max;
}

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_saturating(plan, device, n, size_of(plan, device), g);
}

/* As published, bins / threads work-items commit, each bins that lie so far apart. */
static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    const uint32_t size = size_of(plan, device), committers = plan->bins / size;
    ty_define_saturating(plan, committers < 1 ? 1 : committers > size ? size : committers, defines);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    tally_status status = ty_setting_fits(plan, "threads", ty_plan_device(plan)->group_max, error);
    if (!status)
        status = ty_supports_saturating(plan, error);
    return status ? status : ty_supports_local(plan, error);
}

/* One table in global memory that all groups add to. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    return ty_call_count(call, &(ty_counting){.partials = 1, .cleared = 1}, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_saturating_shared},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .enqueue = enqueue};

const ty_method ty_saturating_shared_strided = {
    .name = "saturating-shared-strided",
    .source = "004",
    .summary = "the same with a strided merge, for any number of bins",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = supports,
    .backend = &kernels,
};
