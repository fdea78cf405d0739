/* SPDX-License-Identifier: Apache-2.0 */
/* swizzled: one copy of each counter, where it lies in local memory scrambled by a key. */
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
    {"key", 0, UINT32_MAX, 0, "of the scrambled order, 0 for one drawn at every launch"},
    {"copies", 0, 8, 0, "of each counter, a power of two; 0 for as many as are fastest"},
    {NULL, 0, 0, 0, NULL}};

static uint64_t counter_bytes(const tally_plan *plan)
{
    return ((uint64_t)plan->bins + plan->axes[0].map.exceptions + TY_CELLS_EXTRA + 63) / 64 * 256;
}

/* 16-bit integers are bound by local memory, where lanes meet less often in 8 copies than in one.
 * More bytes than these would leave less first-level cache than that gains. */
static uint32_t copies_of(const tally_plan *plan, const ty_device *device)
{
    enum { most_bytes = 131 << 10 };
    const uint64_t one = counter_bytes(plan);
    const uint32_t set = (uint32_t)ty_method_parameter(plan, "copies");
    const tally_dtype dtype = plan->options.dtypes[0];
    const int whole = dtype == TALLY_U16 || dtype == TALLY_I16;
    const int gains = whole && plan->axes[0].proof && device->capability && one * 8 <= most_bytes;
    const uint32_t most = set ? set : gains ? 8 : 1;
    uint32_t copies = 1;
    while (copies * 2 <= most &&
           one * copies * 2 + ty_lookup_bytes(plan) + 1024 <= device->local_bytes)
        copies *= 2;
    return copies;
}

static uint64_t local_bytes(const tally_plan *plan, const ty_device *device)
{
    return counter_bytes(plan) * copies_of(plan, device) + ty_lookup_bytes(plan);
}

/* Loads that are under way all the time, where counters leave less first-level cache (28 KiB)
 * than all loads of a turn take (walk.h); 0 for all of a turn at once. */
static uint32_t ring_of(const tally_plan *plan, const ty_device *device)
{
    enum { least_bytes = 195 << 10 };
    const tally_dtype dtype = plan->options.dtypes[0];
    const uint32_t ahead = (uint32_t)ty_method_parameter(plan, "ahead"),
                   most = dtype == TALLY_I32 || dtype == TALLY_U32 ? 5 : 4;
    const int serves = device->capability && counter_bytes(plan) > least_bytes &&
                       (most == 5 || dtype == TALLY_F32 || dtype == TALLY_F64);
    return !serves ? 0 : ahead < most ? ahead : most;
}

/* 32-bit integers need more loads under way under NVIDIA's OpenCL. */
static uint32_t ahead_of(const tally_plan *plan, const ty_device *device)
{
    const uint32_t ahead = (uint32_t)ty_method_parameter(plan, "ahead");
    const tally_dtype dtype = plan->options.dtypes[0];
    const int more = ty_is_nvidia_opencl(device) && (dtype == TALLY_I32 || dtype == TALLY_U32);
    return more && ahead <= 8 ? ahead * 3 / 2 : ahead;
}

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_resident(plan, device, n, local_bytes(plan, device), g);
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    const uint32_t ring = ring_of(plan, device);
    ty_define_resident(plan, device, local_bytes(plan, device), ahead_of(plan, device), defines);
    ty_define(defines, "TY_COPIES", copies_of(plan, device));
    if (ring)
        ty_define(defines, "TY_RING", ring);
    else
        ty_define_bound(device, defines);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    const uint64_t most = ty_plan_device(plan)->local_bytes / 256 * 64;
    if (counter_bytes(plan) > ty_plan_device(plan)->local_bytes)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "swizzled keeps a copy of every bin in local memory: %u bins at most, "
                        "not %u",
                        (unsigned)(most - TY_CELLS_EXTRA), plan->bins);
    return ty_supports_column(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "one copy fits local memory, its banks scrambled against any data";
    return ty_cost_lookup(plan, "swizzled", ty_spare_bytes(plan, counter_bytes(plan)));
}

/* Partials of the counts' lower 16 bits, as they lie (kernels/halves.cl); what counts had above
 * them is in the table. */
static tally_status merge_halves(ty_call *call, ty_memory halves, ty_memory table, uint32_t key,
                                 tally_error *error)
{
    const tally_plan *plan = call->plan;
    const uint32_t cells = (uint32_t)plan->slots + plan->axes[0].map.exceptions;
    ty_arg args[7 + TY_STORE_COUNT] = {ty_arg_memory(halves),
                                       ty_arg_u32(call->geometry.groups),
                                       ty_arg_u32((uint32_t)(counter_bytes(plan) / 32)),
                                       ty_arg_u32((uint32_t)plan->slots),
                                       ty_arg_u32(key),
                                       ty_arg_memory(call->w->axes),
                                       ty_arg_memory(table)};
    const unsigned n = ty_call_store(call, args, 7);
    const ty_launch merge = {cells / 128 + (cells % 128 != 0), 256, 8192, args, n, .early = 1};
    void *event = NULL;
    tally_status status = ty_call_merge_begin(call, &event, error);
    if (!status)
        status = ty_call_launch(call, "merge_halves", &merge, error);
    return ty_call_merge_end(call, event, status, error);
}

/* One launch where it can store its counts itself; else each group leaves a partial. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_geometry *g = &call->geometry;
    const int stores = ty_stores_itself(call->plan, call->device, g);
    const uint32_t key = ty_call_key(call);
    ty_memory table, halves = 0;
    tally_status status = ty_call_table(call, &table, error);
    if (!status && !stores)
        status =
            ty_call_partials(call, g->groups * (counter_bytes(call->plan) / 2), &halves, error);
    ty_arg args[TY_COLUMN_COUNT + 1 + TY_FINISH_COUNT];
    unsigned n = ty_call_column(call, stores ? table : halves, 0, args);
    args[n++] = ty_arg_u32(key);
    n = ty_finish(call, stores, table, args, n);
    const ty_launch count = {g->groups, g->group_size, g->local_bytes, args, n, .early = 1};
    if (!status)
        status = ty_call_launch(call, "count", &count, error);
    call->store.fresh &= !stores;
    return status || stores ? status : merge_halves(call, halves, table, key, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_walk_h, ty_text_swizzled, ty_text_halves},
                                      .reads = TY_READS_COLUMN,
                                      .maps = TY_MAPS_EXCEPTIONS,
                                      .tables = TY_TABLES_COPIED,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .enqueue = enqueue};

const ty_method ty_swizzled = {
    .name = "swizzled",
    .source = "tally",
    .summary = "one copy in local memory, its banks scrambled by a key of the launch",
    .devices = TY_ON_GPU,
    .dtypes = TY_NO_BYTES,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = supports,
    .cost = cost,
    .backend = &kernels,
};
