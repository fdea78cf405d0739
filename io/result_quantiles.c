/* SPDX-License-Identifier: Apache-2.0 */
/* Exact quantiles that a result carries beside its counts. */
#include "io/result.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

static tally_status check(const tally_result *r, uint32_t count, const double *q,
                          const double *values, tally_error *error)
{
    if (!r || (count && (!q || !values)))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL",
                        !r   ? "result"
                        : !q ? "q"
                             : "values");
    for (uint32_t i = 0; i < count; i++)
        if (!(q[i] >= 0 && q[i] <= 1))
            return ty_error(error, TALLY_ERROR_ARGUMENT, "q[%u] is %g; 0 to 1 are quantiles", i,
                            q[i]);
    if (count && (r->dimensions != 1 || r->labels[0] || r->axes[0].kind == TALLY_AXIS_CATEGORY ||
                  r->kind != TALLY_RESULT_COUNTS || r->column))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "quantiles are of counts on one axis of numbers, which this result is not");
    return TALLY_OK;
}

tally_status tally_result_quantiles_set(tally_result *result, uint32_t count, const double *q,
                                        const double *values, tally_error *error)
{
    tally_status status = check(result, count, q, values, error);
    if (status)
        return status;
    const size_t each = count * sizeof *q, histograms = (size_t)result->histograms;
    double *both = NULL;
    if (count) {
        if (histograms < SIZE_MAX / each - 1)
            both = ty_malloc((histograms + 1) * each);
        if (!both)
            return ty_error_memory(error, "quantiles", each);
        memcpy(both, q, each);
        memcpy(both + count, values, histograms * each);
    }
    ty_free(result->q);
    result->q = both;
    result->quantiles = count;
    return TALLY_OK;
}

uint32_t tally_result_quantiles_get(const tally_result *result, uint64_t h, const double **q,
                                    const double **values)
{
    const uint32_t count = result && h < result->histograms ? result->quantiles : 0;
    if (q)
        *q = count ? result->q : NULL;
    if (values)
        *values = count ? result->q + (h + 1) * count : NULL;
    return count;
}

int ty_result_median(const tally_result *result, uint64_t h, double *median)
{
    const double *q, *values;
    const uint32_t count = tally_result_quantiles_get(result, h, &q, &values);
    for (uint32_t i = 0; i < count; i++) {
        *median = values[i];
        if (q[i] == 0.5 && isfinite(*median))
            return 1;
    }
    return 0;
}
