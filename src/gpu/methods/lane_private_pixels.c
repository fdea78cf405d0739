/* SPDX-License-Identifier: Apache-2.0 */
/* lane-private-pixels: packed bytes of up to four channels in one read, or of one with a mask. */
#include "core/error.h"
#include "gpu/methods/launches.h"
#include "gpu/views.h"
#include "kernel_texts.h"
#include "plan/cost.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"blocks-per-sm", 1, 32, 1, "groups on a multiprocessor, if they fit"},
    {"ahead", 2, 16, 8, "loads of a work-item before it counts, its mask's among them"},
    {NULL, 0, 0, 0, NULL}};

/* Copies of each counter, a row of them for masked samples too; 0 where too few fit. */
static uint32_t copies_of(const tally_plan *plan, const ty_device *device)
{
    const uint64_t row = (plan->channels * 256 + 1) * sizeof(uint32_t);
    uint32_t copies = 32;
    while (copies >= 4 && row * copies > device->local_bytes - 1024)
        copies /= 2;
    return copies >= 4 ? copies : 0;
}

static uint32_t local_bytes(const tally_plan *plan, const ty_device *device)
{
    return ((uint32_t)plan->channels * 256 + 1) * copies_of(plan, device) * 4;
}

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_resident(plan, device, n, local_bytes(plan, device), g);
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    const uint32_t copies = copies_of(plan, device);
    uint32_t shift = 2;
    while (4u * copies > 1u << shift)
        shift++;
    ty_define_resident(plan, device, local_bytes(plan, device),
                       (uint32_t)ty_method_parameter(plan, "ahead"), defines);
    ty_define(defines, "TY_PIXEL", (uint32_t)plan->channels);
    ty_define(defines, "TY_LANES", copies);
    ty_define(defines, "TY_SHIFT", shift);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    if (plan->weighted || plan->options.dimensions > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "lane-private-pixels counts samples of one dimension, without weights");
    if (plan->channels > 4 || !copies_of(plan, ty_plan_device(plan)))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "lane-private-pixels keeps 4 to 32 copies of 256 counters for each of up "
                        "to 4 channels in local memory, not of %u channels in %u bytes",
                        (unsigned)plan->channels, ty_plan_device(plan)->local_bytes);
    return TALLY_OK;
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "packed bytes of all channels in one read";
    return ty_cost_channels(plan, "lane-private-pixels");
}

/* All active channels of a batch are counted by the same groups, but for samples of the host, which
 * arrive a channel at a time. */
static uint64_t together(const ty_call *call)
{
    return call->job->view_device != TALLY_DEVICE_CPU ? call->plan->active_count : 1;
}

static uint64_t histograms(const ty_call *call)
{
    const uint64_t images = call->job->histograms / together(call);
    ty_geometry g;
    geometry(call->plan, call->device, call->job->elements, &g);
    return ty_view_histograms(call, ty_view_parts(&g, call->job->elements, images),
                              call->plan->slots, together(call));
}

static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_geometry *g = &call->geometry;
    const uint32_t slots = (uint32_t)call->plan->slots;
    const uint32_t images = (uint32_t)(call->count / together(call));
    ty_partials p = {.count = ty_view_parts(g, call->n, images), .words = slots, .raw_shift = -1};
    tally_status status =
        ty_call_partials(call, call->count * p.count * slots * 4, &p.memory, error);
    ty_arg args[TY_VIEW_ARGS];
    unsigned n = ty_view_extents(call, p.count, args, ty_view_grids(call, args));
    args[n++] = ty_arg_u32(slots);
    args[n++] = ty_arg_u32(1);
    args[n++] = ty_arg_memory(p.memory);
    const ty_launch count = {images * p.count, g->group_size, g->local_bytes, args, n, .early = 0};
    if (!status)
        status = ty_call_launch(call, "count", &count, error);
    return status ? status : ty_call_merge(call, &p, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_columns_h, ty_text_lane_private_pixels},
                                      .reads = TY_READS_CHANNELS,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .histograms = histograms,
                                      .enqueue = enqueue};

const ty_method ty_lane_private_pixels = {
    .name = "lane-private-pixels",
    .source = "tally",
    .summary = "packed bytes of up to four channels at once, or of one with a mask",
    .devices = TY_ON_GPU,
    .dtypes = TY_BYTES,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = supports,
    .cost = cost,
    .backend = &kernels,
};
