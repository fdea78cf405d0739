/* SPDX-License-Identifier: Apache-2.0 */
/* Source 000: counts in local memory by atomics, every bin then to global memory. */
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {{"group", 1, 1024, 256, "work-items of a group"},
                                             {NULL, 0, 0, 0, NULL}};

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_by_samples(plan, device, n, 1, g);
    g->local_bytes = (uint32_t)plan->slots * 4;
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    tally_status status = ty_supports_group(plan, error);
    return status ? status : ty_supports_local(plan, error);
}

/* One table in global memory that all groups add to. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    return ty_call_count(call, &(ty_counting){.partials = 1, .cleared = 1}, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_atomic_local},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .enqueue = enqueue};

const ty_method ty_atomic_local = {
    .name = "atomic-local",
    .source = "000",
    .summary = "counts in local memory by atomics, then every bin to global",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = supports,
    .backend = &kernels,
};
