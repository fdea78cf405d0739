/* SPDX-License-Identifier: Apache-2.0 */
/* lane-private: copies of each counter, interleaved so that the lanes of a warp do not meet. */
#include "core/error.h"
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/cost.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"blocks-per-sm", 1, 32, 1, "groups on a multiprocessor, if they fit"},
    {"ahead", 1, 16, 8, "loads of a work-item before it counts"},
    {NULL, 0, 0, 0, NULL}};

static int is_bytes(const tally_plan *plan)
{
    return ty_sample_bytes(plan) == 1;
}

/* Bytes are counted as they are; other samples as cells of the axis. */
static uint32_t counters_of(const tally_plan *plan)
{
    return is_bytes(plan) ? 256 : plan->bins + TY_CELLS_EXTRA;
}

/* 32 copies of every counter, or 16 where these do not fit. */
static uint32_t copies_of(const tally_plan *plan, const ty_device *device)
{
    return counters_of(plan) <= device->local_bytes / 128 ? 32 : 16;
}

static uint64_t counter_bytes(const tally_plan *plan, const ty_device *device)
{
    return (uint64_t)counters_of(plan) * copies_of(plan, device) * 4;
}

/* Slots of bytes that a group sums up in words of their own, if these fit. */
static uint32_t slot_words(const tally_plan *plan, const ty_device *device)
{
    enum { most_slots = 72 };
    const uint64_t bytes = counter_bytes(plan, device) + ty_lookup_bytes(plan) + most_slots * 4;
    return is_bytes(plan) && bytes + 1024 <= device->local_bytes ? most_slots : 0;
}

static uint64_t local_bytes(const tally_plan *plan, const ty_device *device)
{
    return counter_bytes(plan, device) + ty_lookup_bytes(plan) + slot_words(plan, device) * 4;
}

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_resident(plan, device, n, local_bytes(plan, device), g);
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    ty_define_resident(plan, device, local_bytes(plan, device),
                       (uint32_t)ty_method_parameter(plan, "ahead"), defines);
    ty_define(defines, "TY_COPIES", copies_of(plan, device));
    ty_define(defines, "TY_FEW_SLOTS", slot_words(plan, device));
    if (ty_sample_bytes(plan) != 2)
        ty_define_bound(device, defines);
    if (is_bytes(plan))
        ty_define(defines, "TY_RAW", 1);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    const uint64_t most = ty_plan_device(plan)->local_bytes / 64;
    if (counters_of(plan) > most)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "lane-private keeps 16 copies of every bin in local memory: %u bins at most, "
            "not %u",
            (unsigned)(most - TY_CELLS_EXTRA), plan->bins);
    return ty_supports_column(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    const ty_device *device = ty_plan_device(plan);
    *why = copies_of(plan, device) == 32
               ? "32 copies fit local memory: no conflict, whatever the data"
               : "16 copies fit local memory: two at a bank at most, whatever the data";
    return ty_cost_lookup(plan, "lane-private", ty_spare_bytes(plan, counter_bytes(plan, device)));
}

/* One launch where it can store its counts itself; else each group leaves a partial. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_geometry *g = &call->geometry;
    const int stores = ty_stores_itself(call->plan, call->device, g);
    ty_partials p = {.count = g->groups,
                     .words = is_bytes(call->plan) ? 256 : (uint32_t)call->plan->slots,
                     .raw_shift = is_bytes(call->plan) ? 0 : -1};
    tally_status status = TALLY_OK;
    if (stores)
        status = ty_call_table(call, &p.memory, error);
    else
        status = ty_call_partials(call, (uint64_t)p.count * p.words * 4, &p.memory, error);
    ty_arg args[TY_COLUMN_COUNT + TY_FINISH_COUNT];
    const unsigned n =
        ty_finish(call, stores, p.memory, args, ty_call_column(call, p.memory, 0, args));
    const ty_launch count = {g->groups, g->group_size, g->local_bytes, args, n, .early = 1};
    if (!status)
        status = ty_call_launch(call, "count", &count, error);
    call->store.fresh &= !stores;
    return status || stores ? status : ty_call_merge(call, &p, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_walk_h, ty_text_lane_private},
                                      .reads = TY_READS_COLUMN,
                                      .maps = TY_MAPS_16,
                                      .tables = TY_TABLES_LOCAL,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .enqueue = enqueue};

const ty_method ty_lane_private = {
    .name = "lane-private",
    .source = "tally",
    .summary = "32 interleaved copies, or 16: a warp never meets a bank more than twice",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = supports,
    .cost = cost,
    .backend = &kernels,
};
