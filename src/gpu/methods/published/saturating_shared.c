/* SPDX-License-Identifier: Apache-2.0 */
/* Source 004: a saturating histogram a group, one work-item a bin. */
#include "core/error.h"
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"elements", 0, 65536, 0, "samples a work-item counts: 1 as published; 0 fills the device"},
    {"clear", 0, 1, 0, "1: every work-item clears the whole table, as published"},
    {NULL, 0, 0, 0, NULL}};

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_saturating(plan, device, n, plan->bins, g);
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    (void)device;
    ty_define_saturating(plan, plan->bins, defines);
}

/* No group has more work-items than 1 024, and so no more bins. */
static tally_status supports(const tally_plan *plan, tally_error *error)
{
    const uint32_t bins = plan->bins, most = ty_plan_device(plan)->group_max;
    if (bins & (bins - 1) || bins > most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "saturating-shared has one work-item a bin: 64, 128, 256, 512 or 1024, and "
                        "at most the %u of the device's groups, not %u; saturating-shared-strided "
                        "takes any number",
                        most, bins);
    tally_status status = ty_supports_saturating(plan, error);
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

const ty_method ty_saturating_shared = {
    .name = "saturating-shared",
    .source = "004",
    .summary = "a saturating histogram a group, one work-item a bin",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 64,
    .bins_max = 1024,
    .parameters = parameters,
    .supports = supports,
    .backend = &kernels,
};
