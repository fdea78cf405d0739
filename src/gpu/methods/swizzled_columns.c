/* SPDX-License-Identifier: Apache-2.0 */
/* swizzled-columns: packed coordinates in columns of their own, a mask too, and a joint table in
 * local memory, its order scrambled by a key. */
#include "core/error.h"
#include "gpu/methods/columns.h"
#include "gpu/methods/launches.h"
#include "gpu/views.h"
#include "kernel_texts.h"
#include "plan/cost.h"
#include "plan/registry.h"

enum { most_cells = 1 << 17 }; /* swizzled_columns.cl divides numbers below it */

const tally_parameter ty_columns_parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"blocks-per-sm", 1, 32, 1, "groups on a multiprocessor, if they fit"},
    {"ahead", 1, 16, 4, "loads of 16 bytes, of all columns together, before a work-item counts"},
    {"key", 0, UINT32_MAX, 0, "of the scrambled order, 0 for one drawn at every launch"},
    {NULL, 0, 0, 0, NULL}};

/* A word for every combination of the axes' cells, and one for masked samples. */
static uint64_t local_bytes(const tally_plan *plan)
{
    uint64_t cells = 1;
    for (uint32_t d = 0; d < plan->options.dimensions && cells <= most_cells; d++)
        cells *= (uint64_t)plan->axes[d].bins.bins + TY_CELLS_EXTRA;
    return (cells + 32) / 32 * 128;
}

/* Four samples of every column at a time; half as many where cells take float64, and its registers.
 */
static uint32_t ahead_of(const tally_plan *plan)
{
    uint32_t units = (uint32_t)ty_method_parameter(plan, "ahead") * 4 / ty_plan_bytes(plan);
    int all_proved = 1;
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        all_proved &= plan->axes[d].proof != TY_UNPROVEN;
    units /= all_proved ? 1 : 2;
    return units < 1 ? 1 : units > 16 ? 16 : units;
}

void ty_columns_geometry(const tally_plan *plan, const ty_device *device, uint64_t n,
                         ty_geometry *g)
{
    ty_geometry_resident(plan, device, n, local_bytes(plan), g);
}

void ty_columns_define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    ty_define_resident(plan, device, local_bytes(plan), ahead_of(plan), defines);
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    ty_columns_define(plan, device, defines);
    if (plan->options.dimensions == 1 || ty_sample_bytes(plan) != 2)
        ty_define_bound(device, defines);
}

tally_status ty_columns_supports(const tally_plan *plan, tally_error *error)
{
    const ty_device *device = ty_plan_device(plan);
    const uint64_t words = (device->local_bytes - 1024) / 4; /* some runtimes refuse all of it */
    if (plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s counts samples, not weights",
                        plan->method->name);
    if (!device->has_fp64)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s counts on devices that have float64",
                        plan->method->name);
    if (local_bytes(plan) / 4 > (words < most_cells ? words : most_cells))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s keeps every axis' bins and %u more of each in local memory: "
                        "together they are more than the %u words that a group has",
                        plan->method->name, TY_CELLS_EXTRA, (unsigned)words);
    return TALLY_OK;
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "packed columns, one joint table in local memory, its banks scrambled";
    return ty_cost(plan, "swizzled-columns");
}

uint64_t ty_columns_histograms(const ty_call *call)
{
    ty_geometry g;
    ty_columns_geometry(call->plan, call->device, call->job->elements, &g);
    const uint32_t parts = ty_view_parts(&g, call->job->elements, call->job->histograms);
    return ty_view_histograms(call, parts, call->plan->slots, 1);
}

tally_status ty_columns_enqueue(ty_call *call, tally_error *error)
{
    const ty_geometry *g = &call->geometry;
    const uint32_t slots = (uint32_t)call->plan->slots;
    ty_partials p = {
        .count = ty_view_parts(g, call->n, call->count), .words = slots, .raw_shift = -1};
    tally_status status =
        ty_call_partials(call, call->count * p.count * slots * 4, &p.memory, error);
    ty_arg args[TY_VIEW_ARGS];
    unsigned n = ty_view_extents(call, p.count, args, ty_view_grids(call, args));
    args[n++] = ty_arg_u32(slots);
    args[n++] = ty_arg_u32(1);
    args[n++] = ty_arg_memory(p.memory);
    args[n++] = ty_arg_u32(ty_call_key(call));
    const ty_launch count = {
        (uint32_t)call->count * p.count, g->group_size, g->local_bytes, args, n, .early = 0};
    if (!status)
        status = ty_call_launch(call, "count", &count, error);
    return status ? status : ty_call_merge(call, &p, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_columns_h, ty_text_swizzled_columns},
                                      .reads = TY_READS_MASKED,
                                      .maps = TY_MAPS_FLOAT32,
                                      .tables = TY_TABLES_GLOBAL,
                                      .kernel = "count",
                                      .geometry = ty_columns_geometry,
                                      .define = define,
                                      .histograms = ty_columns_histograms,
                                      .enqueue = ty_columns_enqueue};

const ty_method ty_swizzled_columns = {
    .name = "swizzled-columns",
    .source = "tally",
    .summary = "packed coordinates side by side, a mask too: a joint table in local memory",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = ty_columns_parameters,
    .supports = ty_columns_supports,
    .cost = cost,
    .backend = &kernels,
};
