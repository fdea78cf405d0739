/* Source 001: a histogram a work-item in registers, then shared, then global memory. */
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

enum { most_bins = 32 };

/* A grid that fills the device, each group with the plan's slots in local memory. */
static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_standard(device, n, g);
    g->local_bytes = (uint32_t)plan->slots * 4;
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    (void)device;
    ty_define(defines, "TY_CELLS", (uint32_t)plan->slots);
}

/* A partial a group, merged by a launch of its own. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    return ty_call_count(call, &(ty_counting){0}, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_private_register},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .enqueue = enqueue};

const ty_method ty_private_register = {
    .name = "private-register",
    .source = "001",
    .summary = "a histogram a work-item in registers, then shared, then global",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = most_bins,
    .supports = ty_supports_column,
    .backend = &kernels,
};
