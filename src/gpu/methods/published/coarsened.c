/* SPDX-License-Identifier: Apache-2.0 */
/* Source 001: several samples a work-item, atomics to global memory. */
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"group", 1, 1024, 256, "work-items of a group"},
    {"elements", 1, 65536, 16, "samples a work-item counts"},
    {"contiguous", 0, 1, 0, "1: a work-item's samples lie in a row; 0: a grid apart"},
    {NULL, 0, 0, 0, NULL}};

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_by_samples(plan, device, n, (uint64_t)ty_method_parameter(plan, "elements"), g);
    g->local_bytes = TY_OUTSIDE_BYTES;
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    (void)device;
    ty_define(defines, "TY_CONTIGUOUS", (uint32_t)ty_method_parameter(plan, "contiguous"));
}

/* One table in global memory that all groups add to. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    return ty_call_count(call, &(ty_counting){.partials = 1, .cleared = 1}, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_lecture_h, ty_text_coarsened},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .enqueue = enqueue};

const ty_method ty_coarsened = {
    .name = "coarsened",
    .source = "001",
    .summary = "several samples a work-item, atomics to global memory",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = ty_supports_group,
    .backend = &kernels,
};
