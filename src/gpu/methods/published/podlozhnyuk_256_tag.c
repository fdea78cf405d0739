/* SPDX-License-Identifier: Apache-2.0 */
/* Source 002, 256 bins: a histogram a warp, collisions settled by a tag, no atomics. */
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

/* A warp's counter has 27 bits. */
static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_warps(plan, device, n, g);
    const uint64_t most = (uint64_t)g->groups * (g->group_size / 32) << 25;
    if (g->most > most)
        g->most = most;
}

static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_counting values = {.words = 256,
                                .merge_width = (uint32_t)ty_method_parameter(call->plan, "merge")};
    return ty_call_count(call, &values, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_podlozhnyuk_256_tag},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = ty_define_warps,
                                      .enqueue = enqueue};

const ty_method ty_podlozhnyuk_256_tag = {
    .name = "podlozhnyuk-256-tag",
    .source = "002",
    .summary = "a histogram a warp, collisions settled by a tag, no atomics",
    .devices = TY_ON_GPU,
    .dtypes = TY_BYTES,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = ty_warps_parameters,
    .supports = ty_supports_warps,
    .backend = &kernels,
};
