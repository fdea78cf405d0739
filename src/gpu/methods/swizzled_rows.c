/* SPDX-License-Identifier: Apache-2.0 */
/* swizzled-rows: swizzled-columns for rows with gaps between them, 32 work-items a piece of a row.
 */
#include "gpu/methods/columns.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/cost.h"
#include "plan/registry.h"

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    ty_columns_define(plan, device, defines);
    if (ty_sample_bytes(plan) == 8)
        ty_define_bound(device, defines);
    ty_define(defines, "TY_ROWS", 1);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "packed rows, one joint table in local memory, its banks scrambled";
    return ty_cost(plan, "swizzled-rows");
}

static const ty_gpu_method kernels = {.texts = {ty_text_columns_h, ty_text_swizzled_columns},
                                      .reads = TY_READS_ROWS,
                                      .maps = TY_MAPS_FLOAT32,
                                      .tables = TY_TABLES_GLOBAL,
                                      .kernel = "count",
                                      .geometry = ty_columns_geometry,
                                      .define = define,
                                      .histograms = ty_columns_histograms,
                                      .enqueue = ty_columns_enqueue};

const ty_method ty_swizzled_rows = {
    .name = "swizzled-rows",
    .source = "tally",
    .summary = "the same for rows with gaps between them, 32 work-items a piece of a row",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = ty_columns_parameters,
    .supports = ty_columns_supports,
    .cost = cost,
    .backend = &kernels,
};
