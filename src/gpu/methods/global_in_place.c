/* SPDX-License-Identifier: Apache-2.0 */
/*
 * global-in-place: 64-bit atomic additions to the output itself, no partial histograms. A call
 * costs what its samples do, however many bins there are. `auto` goes this way for calls with few
 * samples a bin that add to an output in device memory (gpu/plan.c); by name it serves any call.
 */
#include "core/error.h"
#include "gpu/methods/any_layout.h"
#include "gpu/methods/launches.h"
#include "gpu/views.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    (void)plan;
    ty_geometry_standard(device, n, g);
    g->local_bytes = TY_SLOT_EXTRA * 4;
}

static uint64_t histograms(const ty_call *call)
{
    return ty_view_histograms(call, 1, call->plan->slots, 1);
}

static tally_status enqueue(ty_call *call, tally_error *error)
{
    const uint32_t count = (uint32_t)call->count;
    ty_geometry all;
    ty_geometry_standard(call->device, call->n * count, &all);
    const uint32_t parts = all.groups > count ? all.groups / count : 1;
    ty_arg args[TY_VIEW_ARGS];
    unsigned n = ty_view_extents(call, parts, args, ty_view_grids(call, args));
    args[n++] = ty_arg_u32((uint32_t)call->plan->slots);
    n = ty_call_store(call, args, n);
    const ty_launch launch = {
        count * parts, call->geometry.group_size, call->geometry.local_bytes, args, n, .early = 0};
    tally_status status = ty_store_clear(call, error);
    return status ? status : ty_call_launch(call, "count", &launch, error);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    if (plan->weighted || plan->options.counter != TALLY_COUNTER_U64)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "method global-in-place adds to u64 counts, not to %s",
                        plan->weighted ? "sums of weights" : "narrower counters");
    return ty_any_layout_supports(plan, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_global_in_place},
                                      .reads = TY_READS_ANY,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .histograms = histograms,
                                      .enqueue = enqueue};

const ty_method ty_global_in_place = {
    .name = "global-in-place",
    .source = "tally",
    .summary = "each sample added to the output itself, without partial histograms",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .supports = supports,
    .backend = &kernels,
};
