/* SPDX-License-Identifier: Apache-2.0 */
/* Source 003, its "Future Directions": TRISH for any type and at most 256 bins. */
#include "core/error.h"
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"k", 1, 32, 8, "samples a thread reads before it bins them"}, {NULL, 0, 0, 0, NULL}};

enum { threads = 64, most_tall = 64 };

/* Four slots a row, those of samples outside the bins too. */
static uint32_t rows_of(const tally_plan *plan)
{
    return ((uint32_t)plan->slots + 3) / 4;
}

/* How many of them are added up at a time. */
static uint32_t tall_of(const tally_plan *plan)
{
    uint32_t tall = 1;
    while (tall < rows_of(plan) && tall < most_tall)
        tall *= 2;
    return tall;
}

static uint32_t local_bytes(const tally_plan *plan)
{
    return rows_of(plan) * threads * 4;
}

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_bytes(device, n, threads, local_bytes(plan), g);
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    (void)device;
    ty_define(defines, "TY_K", (uint32_t)ty_method_parameter(plan, "k"));
    ty_define(defines, "TY_ROWS", rows_of(plan));
    ty_define(defines, "TY_TALL", tall_of(plan));
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    const ty_device *device = ty_plan_device(plan);
    if (threads > device->group_max || local_bytes(plan) > device->local_bytes)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "trish-bins needs groups of %d work-items and, for %u bins, %u bytes of "
                        "local memory",
                        threads, plan->bins, local_bytes(plan));
    return ty_supports_column(plan, error);
}

/* Threads that add up a row's first columns leave a partial, those of its next another. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_counting stretches = {.partials =
                                       call->geometry.groups * (threads / tall_of(call->plan))};
    return ty_call_count(call, &stretches, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_trish_bins},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .enqueue = enqueue};

const ty_method ty_trish_bins = {
    .name = "trish-bins",
    .source = "003",
    .summary = "trish for any type and at most 256 bins, as its paper foresees",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = 256,
    .parameters = parameters,
    .supports = supports,
    .backend = &kernels,
};
