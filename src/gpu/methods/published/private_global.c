/* SPDX-License-Identifier: Apache-2.0 */
/* Source 001: copies of the histogram in global memory, then merged. */
#include "core/error.h"
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"copies", 1, 4096, 64, "copies of the histogram in global memory"}, {NULL, 0, 0, 0, NULL}};

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    (void)plan;
    ty_geometry_standard(device, n, g);
    g->local_bytes = TY_OUTSIDE_BYTES;
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    (void)device;
    ty_define(defines, "TY_COPIES", (uint32_t)ty_method_parameter(plan, "copies"));
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    const uint64_t copies = (uint64_t)ty_method_parameter(plan, "copies");
    if (copies * plan->slots > UINT64_C(1) << 28)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%u bins in %u copies pass 1 GiB of tables; ask for fewer copies",
                        plan->bins, (unsigned)copies);
    return ty_supports_column(plan, error);
}

static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_counting copies = {.partials = (uint32_t)ty_method_parameter(call->plan, "copies"),
                                .cleared = 1};
    return ty_call_count(call, &copies, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_lecture_h, ty_text_private_global},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .enqueue = enqueue};

const ty_method ty_private_global = {
    .name = "private-global",
    .source = "001",
    .summary = "copies in different regions of global memory, then merged",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = supports,
    .backend = &kernels,
};
