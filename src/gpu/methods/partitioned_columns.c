/* SPDX-License-Identifier: Apache-2.0 */
/* partitioned-columns: partitioned for joint tables, of packed coordinates in columns of their own.
 */
#include "core/error.h"
#include "gpu/methods/launches.h"
#include "gpu/methods/partitioned.h"
#include "kernel_texts.h"
#include "plan/cost.h"
#include "plan/registry.h"

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    ty_partitioned_layout l;
    if (plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "partitioned-columns counts samples, not weights");
    if (!ty_plan_device(plan)->has_fp64)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "partitioned-columns counts on devices that have float64");
    if (ty_partitioned_cells(plan) >= TY_PARTITIONED_MOST_CELLS)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "partitioned-columns counts every axis' bins and %u more of each: together "
                        "they are not below %u",
                        TY_CELLS_EXTRA, (unsigned)TY_PARTITIONED_MOST_CELLS);
    ty_partitioned_layout_make(plan, ty_plan_device(plan), &l);
    return ty_partitioned_fits(plan, &l, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "samples are sorted by partitions of the joint table, so that every count is made in "
           "local memory";
    /* One column is for partitioned; its kernels are not compiled ahead. */
    return plan->options.dimensions > 1 ? ty_cost(plan, "partitioned-columns") : ty_unknown_seconds;
}

static const ty_gpu_method kernels = {.texts = {ty_text_columns_h, ty_text_partitioned,
                                                ty_text_partitioned_columns,
                                                ty_text_partitioned_count},
                                      .reads = TY_READS_MASKED,
                                      .maps = TY_MAPS_FLOAT32,
                                      .tables = TY_TABLES_GLOBAL,
                                      .geometry = ty_partitioned_geometry,
                                      .define = ty_partitioned_define,
                                      .enqueue = ty_partitioned_enqueue};

const ty_method ty_partitioned_columns = {
    .name = "partitioned-columns",
    .source = "tally",
    .summary =
        "packed coordinates side by side, a mask too: a joint table counted as by partitioned",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = ty_partitioned_parameters,
    .supports = supports,
    .cost = cost,
    .backend = &kernels,
};
