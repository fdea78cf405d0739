/* SPDX-License-Identifier: Apache-2.0 */
/* Source 003, TRISH: a histogram a thread of 8-bit counters, row sums in registers. */
#include "core/error.h"
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/cost.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"k", 1, 63, 31, "words a thread bins before it loops"},
    {"threads", 64, 256, 64, "threads of a block: 64, 128 or 256"},
    {"blocks-per-sm", 0, 32, 0, "blocks on a multiprocessor; 0: all that fit, to 768 threads"},
    {"batch", 0, 63, 0, "words read before they are binned: 4 as published; 0: all k"},
    {"pairs", 0, 1, 1, "0 adds the counters of a row up one by one, not as pairs"},
    {"accumulate", 0, 1, 1, "0 leaves the row sums out: timing only, wrong counts"},
    {NULL, 0, 0, 0, NULL}};

/* Threads of a multiprocessor: with 80 registers each, which k = 63 takes, more would not fit; and
 * measured on an H200, more only contend. */
enum { most_threads = 768 };

/* Fewer blocks a multiprocessor than would fit are had by padding the local memory, as in the
 * paper. */
static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    const uint32_t size = (uint32_t)ty_method_parameter(plan, "threads");
    const uint32_t wanted = (uint32_t)ty_method_parameter(plan, "blocks-per-sm");
    const uint64_t needed = n / ((uint64_t)size * 4) + 1, most = device->units * (uint64_t)wanted;
    ty_geometry_bytes(device, n, size, size * 256, g);
    if (wanted) {
        uint32_t share = device->unit_local_bytes / wanted;
        share = share < device->local_bytes ? share : device->local_bytes;
        if (share > g->local_bytes + TY_LOCAL_KEPT)
            g->local_bytes = (share - TY_LOCAL_KEPT) & ~15u;
        g->groups = (uint32_t)(needed < most ? needed : most);
    } else if (g->groups > device->units * (most_threads / size)) {
        g->groups = device->units * (most_threads / size);
    }
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    const uint32_t k = (uint32_t)ty_method_parameter(plan, "k");
    const uint32_t batch = (uint32_t)ty_method_parameter(plan, "batch");
    (void)device;
    ty_define(defines, "TY_K", k);
    ty_define(defines, "TY_BATCH", batch && batch < k ? batch : k);
    ty_define(defines, "TY_PAIRS", (uint32_t)ty_method_parameter(plan, "pairs"));
    ty_define(defines, "TY_ACCUMULATE", (uint32_t)ty_method_parameter(plan, "accumulate"));
    ty_define(defines, "TY_RAW", 1);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    const uint32_t size = (uint32_t)ty_method_parameter(plan, "threads");
    if (size != 64 && size != 128 && size != 256)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "trish: threads=%u: 64, 128 or 256", size);
    if (size > ty_plan_device(plan)->group_max || size * 256 > ty_plan_device(plan)->local_bytes)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "trish: threads=%u need groups of so many and %u bytes of local memory",
                        size, size * 256);
    if (!ty_method_parameter(plan, "accumulate") && !plan->options.timing_only)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "trish: accumulate=0 gives wrong counts; it is for timing only (tally-bench)");
    return ty_supports_column(plan, error);
}

/* 64 threads share a partial. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_geometry *g = &call->geometry;
    const ty_counting values = {.partials = g->groups * (g->group_size / 64), .words = 256};
    return ty_call_count(call, &values, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "bytes: deterministic, independent of the data";
    return ty_cost(plan, "trish");
}

static const ty_gpu_method kernels = {.texts = {ty_text_trish},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .enqueue = enqueue};

const ty_method ty_trish = {
    .name = "trish",
    .source = "003",
    .summary = "a histogram a thread of 8-bit counters, row sums in registers",
    .devices = TY_ON_GPU,
    .dtypes = TY_BYTES,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = supports,
    .cost = cost,
    .backend = &kernels,
};
