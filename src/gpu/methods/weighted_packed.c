/* SPDX-License-Identifier: Apache-2.0 */
/* weighted-packed: weighted with loads of 16 bytes, for packed samples and weights of float32. */
#include "core/error.h"
#include "gpu/methods/any_layout.h"
#include "gpu/methods/launches.h"
#include "gpu/views.h"
#include "kernel_texts.h"
#include "plan/cost.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"ahead", 1, 8, 4, "loads of samples, and of weights, before a work-item adds"},
    {NULL, 0, 0, 0, NULL}};

static uint64_t local_bytes(const tally_plan *plan, uint32_t copies)
{
    return ((uint64_t)plan->bins + TY_CELLS_EXTRA) * 8 * copies + TY_WEIGHT_FLOWS * 4;
}

static uint32_t copies_of(const tally_plan *plan, const ty_device *device)
{
    enum { most_copies = 32 };
    uint32_t copies = 1;
    while (copies < most_copies && local_bytes(plan, copies * 2) <= device->local_bytes - 1024)
        copies *= 2;
    return copies;
}

/* One group a multiprocessor, as large as may be, has local memory for the most copies. */
static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    (void)n;
    *g = (ty_geometry){.groups = device->units,
                       .group_size = ty_threads(plan, device),
                       .local_bytes = (uint32_t)local_bytes(plan, copies_of(plan, device)),
                       .most = UINT64_C(1) << 31};
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    ty_weighted_define(plan, device, defines);
    ty_define(defines, "TY_PACKED", copies_of(plan, device));
    ty_define(defines, "TY_PACKED_AHEAD", (uint32_t)ty_method_parameter(plan, "ahead"));
    ty_define(defines, "TY_PACKED_GROUP", ty_threads(plan, device));
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    const uint32_t most = ty_plan_device(plan)->local_bytes - 1024;
    if (plan->options.weight_dtype != TALLY_F32 || plan->options.sum_squares ||
        plan->options.dimensions > 1 || plan->weighted == TALLY_RESULT_SUMS_WIDE)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "weighted-packed sums weights of f32, over one dimension, without their "
                        "squares or a weight_limit; weighted sums any");
    if (local_bytes(plan, 1) > most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "weighted-packed keeps all sums in local memory: %u bins at most, not %u",
                        (unsigned)((most - TY_WEIGHT_FLOWS * 4) / 8 - TY_CELLS_EXTRA), plan->bins);
    return ty_weighted_supports(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "packed weights by loads of 16 bytes, others as by weighted";
    return ty_cost_channels(plan, "weighted-packed");
}

static uint64_t histograms(const ty_call *call)
{
    ty_geometry g;
    geometry(call->plan, call->device, call->job->elements, &g);
    return ty_weighted_histograms(call, &g);
}

/* Other layouts are summed as by weighted. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_any_layout l = ty_weighted_layout(call->plan, call->device);
    const int packed = !call->masked && call->columns >= call->begin + call->n &&
                       ty_view_is_words(call, &call->samples[0], call->channel) &&
                       ty_view_is_words(call, &call->weights, call->weight_channel);
    const uint32_t size = l.geometry.group_size;
    /* Its groups always have tables of their own. */
    return packed ? ty_weighted_sum(call, "probe_packed", "count_packed", &call->geometry, size,
                                    l.copies ? l.copies : 1, error)
                  : ty_weighted_sum(call, "probe", "count", &l.geometry, size, l.copies, error);
}

static const ty_gpu_method kernels = {
    .texts = {ty_text_fixed_h, ty_text_weighted, ty_text_weighted_packed},
    .reads = TY_READS_ANY,
    .maps = TY_MAPS_FLOAT32,
    .tables = TY_TABLES_GLOBAL,
    .kernel = "count_packed",
    .geometry = geometry,
    .define = define,
    .histograms = histograms,
    .enqueue = enqueue};

const ty_method ty_weighted_packed = {
    .name = "weighted-packed",
    .source = "tally",
    .summary = "sums of float32 weights, the same bits, by loads of 16 bytes",
    .devices = TY_ON_GPU,
    .dtypes = 1u << TALLY_F32,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = supports,
    .cost = cost,
    .backend = &kernels,
};
