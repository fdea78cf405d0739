/* SPDX-License-Identifier: Apache-2.0 */
/* Sources 001 and 004: one work-item a sample, atomics straight to global memory. */
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/cost.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {{"group", 1, 1024, 256, "work-items of a group"},
                                             {NULL, 0, 0, 0, NULL}};

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_by_samples(plan, device, n, 1, g);
    g->local_bytes = TY_OUTSIDE_BYTES;
}

/* One table in global memory that all groups add to. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    return ty_call_count(call, &(ty_counting){.partials = 1, .cleared = 1}, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "any number of bins";
    return ty_cost(plan, "atomic-global");
}

static const ty_gpu_method kernels = {.texts = {ty_text_lecture_h, ty_text_atomic_global},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .enqueue = enqueue};

const ty_method ty_atomic_global = {
    .name = "atomic-global",
    .source = "001 004",
    .summary = "one work-item a sample, atomics straight to global memory",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = ty_supports_group,
    .cost = cost,
    .backend = &kernels,
};
