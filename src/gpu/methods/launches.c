/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/methods/launches.h"

#include "core/error.h"
#include "gpu/call.h"
#include "plan/registry.h"

/* ---- methods of the five texts ---- */

void ty_geometry_by_samples(const tally_plan *plan, const ty_device *device, uint64_t n,
                            uint64_t each, ty_geometry *g)
{
    const uint64_t group = (uint64_t)ty_method_parameter(plan, "group");
    const uint32_t size = (uint32_t)(group < device->group_max ? group : device->group_max);
    const uint64_t samples = size * each, most = (uint64_t)size << 20;
    const uint64_t groups = ((n < most ? n : most) + samples - 1) / samples;
    *g = (ty_geometry){.groups = (uint32_t)(groups ? groups : 1), .group_size = size, .most = most};
}

tally_status ty_supports_group(const tally_plan *plan, tally_error *error)
{
    tally_status status = ty_setting_fits(plan, "group", ty_plan_device(plan)->group_max, error);
    return status ? status : ty_supports_column(plan, error);
}

void ty_define_commit(const tally_plan *plan, ty_defines *defines)
{
    ty_define(defines, "TY_ATOMIC_COMMIT", (uint32_t)ty_method_parameter(plan, "commit"));
}

tally_status ty_count_and_commit(ty_call *call, tally_error *error)
{
    const ty_counting one_table = {.partials = 1, .cleared = 1}, partials = {0};
    return ty_call_count(call, ty_method_parameter(call->plan, "commit") ? &one_table : &partials,
                         error);
}

void ty_geometry_bytes(const ty_device *device, uint64_t n, uint32_t size, uint32_t local,
                       ty_geometry *g)
{
    const uint32_t fit = device->unit_local_bytes / (local + TY_LOCAL_KEPT);
    uint32_t per_unit = device->unit_threads / size;
    per_unit = per_unit < fit ? per_unit : fit;
    per_unit = per_unit < 1 ? 1 : per_unit > 32 ? 32 : per_unit;
    const uint64_t needed = n / ((uint64_t)size * 4) + 1, most = (uint64_t)device->units * per_unit;
    *g = (ty_geometry){.groups = (uint32_t)(needed < most ? needed : most),
                       .group_size = size,
                       .local_bytes = local,
                       .most = UINT64_C(1) << 31};
}

const tally_parameter ty_warps_parameters[] = {{"warps", 1, 32, 6, "warps (histograms) of a group"},
                                               TY_MERGE_PARAMETER,
                                               {NULL, 0, 0, 0, NULL}};

static uint32_t most_warps(const ty_device *device)
{
    const uint32_t items = device->group_max / 32, tables = (device->local_bytes - 4) / 1024;
    return items < tables ? items : tables;
}

static uint32_t warps_of(const tally_plan *plan, const ty_device *device)
{
    const uint32_t warps = (uint32_t)ty_method_parameter(plan, "warps"), most = most_warps(device);
    return warps < most ? warps : most;
}

/* One more word, for the tagged method on devices without warps. */
void ty_geometry_warps(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    const uint32_t warps = warps_of(plan, device);
    ty_geometry_bytes(device, n, warps * 32, warps * 1024 + (device->warp == 32 ? 0 : 4), g);
}

void ty_define_warps(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    ty_define(defines, "TY_WARPS", warps_of(plan, device));
    ty_define(defines, "TY_RAW", 1);
}

tally_status ty_supports_warps(const tally_plan *plan, tally_error *error)
{
    const uint32_t most = most_warps(ty_plan_device(plan));
    if (!most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "method %s needs groups of 32 work-items and 1 KB of local memory",
                        plan->method->name);
    tally_status status = ty_setting_fits(plan, "warps", most, error);
    return status ? status : ty_supports_column(plan, error);
}

tally_status ty_supports_saturating(const tally_plan *plan, tally_error *error)
{
    if (plan->options.counter != TALLY_COUNTER_U16SAT || plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "method %s counts in 16 bits that stick at 65535; ask for --counter u16sat",
                        plan->method->name);
    return ty_supports_column(plan, error);
}

void ty_geometry_saturating(const tally_plan *plan, const ty_device *device, uint64_t n,
                            uint32_t size, ty_geometry *g)
{
    const uint64_t each = (uint64_t)ty_method_parameter(plan, "elements");
    ty_geometry_standard(device, n, g);
    uint64_t items = (uint64_t)g->groups * g->group_size;
    if (each)
        items = ((n < g->most ? n : g->most) + each - 1) / each;
    g->groups = (uint32_t)((items + size - 1) / size);
    g->groups += g->groups == 0;
    g->group_size = size;
    g->local_bytes = (uint32_t)plan->slots * 4;
}

void ty_define_saturating(const tally_plan *plan, uint32_t committers, ty_defines *defines)
{
    ty_define(defines, "TY_COMMITTERS", committers);
    ty_define(defines, "TY_CLEAR_WHOLE", (uint32_t)ty_method_parameter(plan, "clear"));
}

/* ---- methods of our own ---- */

uint32_t ty_lookup_bytes(const tally_plan *plan)
{
    const ty_lookup *g = &plan->axes[0].lookup;
    return TY_IS_GLOBAL_LOOKUP(plan->axes[0].lookup_kind)
               ? 0
               : (g->words - g->cells + (g->cells << g->copies)) * 4;
}

uint64_t ty_spare_bytes(const tally_plan *plan, uint64_t counters)
{
    const uint32_t local = ty_plan_device(plan)->local_bytes;
    return counters + 1024 < local ? local - 1024 - counters : 0;
}

uint32_t ty_threads(const tally_plan *plan, const ty_device *device)
{
    uint32_t size = (uint32_t)ty_method_parameter(plan, "threads") & ~31u;
    if (device->warp != 32 && size > 64)
        size = 64; /* a device that runs a group as a loop */
    while (size > device->group_max)
        size /= 2;
    return size;
}

static uint32_t resident(const tally_plan *plan, const ty_device *device, uint32_t size,
                         uint64_t local)
{
    const uint32_t fit = device->unit_threads / size;
    const uint32_t set = (uint32_t)ty_method_parameter(plan, "blocks-per-sm");
    uint32_t per_unit = device->unit_local_bytes / ((uint32_t)local + 1024);
    per_unit = per_unit < fit ? per_unit : fit;
    per_unit = set < per_unit ? set : per_unit;
    return per_unit < 1 ? 1 : per_unit;
}

/* One large group with many loads ahead is the fastest on an H200, and leaves the fewest partials
 * (docs/KERNELS.md). */
void ty_geometry_resident(const tally_plan *plan, const ty_device *device, uint64_t n,
                          uint64_t local, ty_geometry *g)
{
    const uint32_t size = ty_threads(plan, device);
    const uint64_t needed = n * ty_sample_bytes(plan) / ((uint64_t)size * 16) + 1;
    const uint64_t most = (uint64_t)device->units * resident(plan, device, size, local);
    *g = (ty_geometry){.groups = (uint32_t)(needed < most ? needed : most),
                       .group_size = size,
                       .local_bytes = (uint32_t)local,
                       .most = UINT64_C(1) << 31};
}

void ty_define_resident(const tally_plan *plan, const ty_device *device, uint64_t local,
                        uint32_t ahead, ty_defines *defines)
{
    ty_define(defines, "TY_AHEAD", ahead);
    ty_define(defines, "TY_DENSE", resident(plan, device, ty_threads(plan, device), local));
}

void ty_define_bound(const ty_device *device, ty_defines *defines)
{
    if (ty_is_nvidia_opencl(device))
        ty_define(defines, "TY_BOUNDED", 1);
}

int ty_stores_itself(const tally_plan *plan, const ty_device *device, const ty_geometry *g)
{
    enum { most_slots = 4096 + TY_SLOT_EXTRA };
    return plan->slots <= most_slots && (g->groups == 1 || device->has_fence);
}

unsigned ty_finish(const ty_call *call, int stores, ty_memory table, ty_arg *args, unsigned n)
{
    args[n++] = ty_arg_u32((uint32_t)stores);
    args[n++] = ty_arg_memory(table);
    return ty_call_store(call, args, n);
}
