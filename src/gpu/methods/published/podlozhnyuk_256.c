/* SPDX-License-Identifier: Apache-2.0 */
/* Sources 002 and 003, 256 bins: a histogram a warp, updated by hardware atomics. */
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_counting values = {.words = 256,
                                .merge_width = (uint32_t)ty_method_parameter(call->plan, "merge")};
    return ty_call_count(call, &values, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_podlozhnyuk_256},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = ty_geometry_warps,
                                      .define = ty_define_warps,
                                      .enqueue = enqueue};

const ty_method ty_podlozhnyuk_256 = {
    .name = "podlozhnyuk-256",
    .source = "002 003",
    .summary = "a histogram a warp, updated by hardware atomics",
    .devices = TY_ON_GPU,
    .dtypes = TY_BYTES,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = ty_warps_parameters,
    .supports = ty_supports_warps,
    .backend = &kernels,
};
