/* SPDX-License-Identifier: Apache-2.0 */
/* The result that a plan fills. */
#include "io/result.h"

#include <inttypes.h>

#include "core/error.h"

tally_status tally_result_create(const tally_plan *plan, uint64_t histograms,
                                 const char *const *names, tally_result **result,
                                 tally_error *error)
{
    if (!plan || !result)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", plan ? "result" : "plan");
    const tally_plan_options *options = tally_plan_options_get(plan);
    uint64_t channels = tally_plan_channels(plan);
    if (!histograms || histograms % channels != 0)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "histograms is %" PRIu64 "; the plan counts %" PRIu64
                        " for each batch, so it must be a multiple of that",
                        histograms, channels);
    ty_result_shape shape = {
        .dimensions = options->dimensions,
        .axes = options->axes,
        .squares = options->sum_squares != 0,
        .flow_sums = options->weight_dtype != 0,
        .weight_limit = options->weight_limit,
        .dtype = options->dtypes[0],
        .histograms = histograms,
        .names = names,
    };
    if (options->weight_dtype)
        shape.kind =
            options->weight_dtype >= TALLY_F16 ? TALLY_RESULT_SUMS_F64 : TALLY_RESULT_SUMS_I64;
    return ty_result_create(&shape, result, error);
}
