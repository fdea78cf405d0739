/* SPDX-License-Identifier: Apache-2.0 */
/* Source 003: a histogram a thread, 32 threads, two 16-bit counters a word. */
#include "core/error.h"
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    (void)plan;
    ty_geometry_bytes(device, n, 32, 128 * 32 * 4, g);
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    (void)plan;
    (void)device;
    ty_define(defines, "TY_RAW", 1);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    if (ty_plan_device(plan)->local_bytes < 16384)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "it needs 16 KB of local memory; the device has %u bytes",
                        ty_plan_device(plan)->local_bytes);
    return ty_supports_column(plan, error);
}

static tally_status enqueue(ty_call *call, tally_error *error)
{
    return ty_call_count(call, &(ty_counting){.words = 256}, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_nugteren},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .enqueue = enqueue};

const ty_method ty_nugteren = {
    .name = "nugteren",
    .source = "003",
    .summary = "a histogram a thread, 32 threads, two 16-bit counters a word",
    .devices = TY_ON_GPU,
    .dtypes = TY_BYTES,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .supports = supports,
    .backend = &kernels,
};
