/* Source 001: private-shared with runs of equal bins combined. */
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

/* A grid that fills the device, each group with the plan's slots in local memory. */
static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_standard(device, n, g);
    g->local_bytes = (uint32_t)plan->slots * 4;
}

/* A partial a group, merged by a launch of its own. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    return ty_call_count(call, &(ty_counting){0}, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_aggregated},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .enqueue = enqueue};

const ty_method ty_aggregated = {
    .name = "aggregated",
    .source = "001",
    .summary = "runs of equal bins combined, over private-shared",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .supports = ty_supports_local,
    .backend = &kernels,
};
