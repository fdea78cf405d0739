/* SPDX-License-Identifier: Apache-2.0 */
/* Source 001: private-shared with runs of equal bins combined. */
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"contiguous", 0, 1, 0, "1: a work-item's samples lie in a row; 0: a grid apart"},
    {"commit", 0, 1, 0, TY_COMMIT_HELP},
    {NULL, 0, 0, 0, NULL}};

/* A grid that fills the device, each group with the plan's slots in local memory. */
static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_standard(device, n, g);
    g->local_bytes = (uint32_t)plan->slots * 4;
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    (void)device;
    ty_define(defines, "TY_CONTIGUOUS", (uint32_t)ty_method_parameter(plan, "contiguous"));
    ty_define_commit(plan, defines);
}

static const ty_gpu_method kernels = {.texts = {ty_text_lecture_h, ty_text_aggregated},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .enqueue = ty_count_and_commit};

const ty_method ty_aggregated = {
    .name = "aggregated",
    .source = "001",
    .summary = "runs of equal bins combined, over private-shared",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = ty_supports_local,
    .backend = &kernels,
};
