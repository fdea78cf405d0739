/* SPDX-License-Identifier: Apache-2.0 */
/* Source 002, 64 bins: byte counters, a histogram a work-item. */
#include "core/error.h"
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"group", 64, 1024, 192, "work-items of a group, a multiple of 4 x banks"},
    {"banks", 16, 32, 16, "banks that neighbours are spread over: 16 as published, or 32"},
    TY_MERGE_PARAMETER,
    {NULL, 0, 0, 0, NULL}};

/* Groups are multiples of so many. */
static uint32_t swapped(const tally_plan *plan)
{
    return 4 * (uint32_t)ty_method_parameter(plan, "banks");
}

static uint32_t most_size(const tally_plan *plan, const ty_device *device)
{
    const uint32_t items = device->group_max, fit = device->local_bytes / 64;
    const uint32_t most = items < fit ? items : fit;
    return most - most % swapped(plan);
}

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    const uint32_t set = (uint32_t)ty_method_parameter(plan, "group");
    const uint32_t fit = most_size(plan, device);
    const uint32_t size = set < fit ? set - set % swapped(plan) : fit;
    ty_geometry_bytes(device, n, size, size * 64, g);
    /* A counter has 8 bits: no work-item takes more than 252 samples. */
    g->groups = (uint32_t)((n < g->most ? n : g->most) / ((uint64_t)size * 252) + 1);
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    (void)device;
    ty_define(defines, "TY_BANKS", (uint32_t)ty_method_parameter(plan, "banks"));
    ty_define(defines, "TY_RAW", 1);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    const uint32_t *slots = plan->axes[0].byte_slots, banks = swapped(plan) / 4;
    const uint32_t most = most_size(plan, ty_plan_device(plan));
    const char *group = ty_plan_setting(plan, "group");
    for (int i = 0; i < 256; i++) {
        if (slots[i] != slots[i & ~3])
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "podlozhnyuk-64 bins bytes by their top 6 bits: byte values %d and %d "
                            "must share a bin (64 bins from 0 to 256 do)",
                            i & ~3, i);
    }
    if (banks != 16 && banks != 32)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "banks=%u: 16 or 32", banks);
    if (group && ty_method_parameter(plan, "group") % (4 * banks))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "group=%s: a multiple of %u is needed",
                        group, 4 * banks);
    if (!most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "it needs groups of %u work-items and as many times 64 bytes of local "
                        "memory",
                        4 * banks);
    tally_status status = ty_setting_fits(plan, "group", most, error);
    return status ? status : ty_supports_column(plan, error);
}

/* A partial has a word for each value of the top 6 bits. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_counting values = {.words = 64,
                                .raw_shift = 2,
                                .merge_width = (uint32_t)ty_method_parameter(call->plan, "merge")};
    return ty_call_count(call, &values, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_podlozhnyuk_64},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .enqueue = enqueue};

const ty_method ty_podlozhnyuk_64 = {
    .name = "podlozhnyuk-64",
    .source = "002",
    .summary = "byte counters, a histogram a work-item, 64 bins",
    .devices = TY_ON_GPU,
    .dtypes = TY_BYTES,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = supports,
    .backend = &kernels,
};
