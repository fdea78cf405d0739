/* SPDX-License-Identifier: Apache-2.0 */
/* Source 004: atomic addition to global memory, then atomic minimum. */
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    (void)plan;
    ty_geometry_standard(device, n, g);
}

/* One table in global memory that all groups add to. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    return ty_call_count(call, &(ty_counting){.partials = 1, .cleared = 1}, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_saturating_global},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .enqueue = enqueue};

const ty_method ty_saturating_global = {
    .name = "saturating-global",
    .source = "004",
    .summary = "atomic addition to global memory, then atomic minimum",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .supports = ty_supports_saturating,
    .backend = &kernels,
};
