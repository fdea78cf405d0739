/* Source 002, 64 bins: byte counters, a histogram a work-item. */
#include "core/error.h"
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"group", 64, 1024, 192, "work-items of a group, a multiple of 64"}, {NULL, 0, 0, 0, NULL}};

static uint32_t most_size(const ty_device *device)
{
    const uint32_t most = device->group_max & ~63u, fit = device->local_bytes / 64 & ~63u;
    return most < fit ? most : fit;
}

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    const uint32_t set = (uint32_t)ty_method_parameter(plan, "group") & ~63u;
    const uint32_t fit = most_size(device), size = set < fit ? set : fit;
    ty_geometry_bytes(device, n, size, size * 64, g);
    /* A counter has 8 bits: no work-item takes more than 252 samples. */
    g->groups = (uint32_t)((n < g->most ? n : g->most) / ((uint64_t)size * 252) + 1);
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    (void)plan;
    (void)device;
    ty_define(defines, "TY_RAW", 1);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    const uint32_t *slots = plan->axes[0].byte_slots, most = most_size(ty_plan_device(plan));
    for (int i = 0; i < 256; i++) {
        if (slots[i] != slots[i & ~3])
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "podlozhnyuk-64 bins bytes by their top 6 bits: byte values %d and %d "
                            "must share a bin (64 bins from 0 to 256 do)",
                            i & ~3, i);
    }
    if (ty_method_parameter(plan, "group") % 64)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "group=%d: a multiple of 64 is needed",
                        (int)ty_method_parameter(plan, "group"));
    if (!most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "it needs groups of 64 work-items and 4 KB of local memory");
    tally_status status = ty_setting_fits(plan, "group", most, error);
    return status ? status : ty_supports_column(plan, error);
}

/* A partial has a word for each value of the top 6 bits. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    return ty_call_count(call, &(ty_counting){.words = 64, .raw_shift = 2}, error);
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
