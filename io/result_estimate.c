/* SPDX-License-Identifier: Apache-2.0 */
/* What counts say of the samples: density, mean and quantiles. */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "core/error.h"
#include "io/result.h"

static tally_status check_histogram(const tally_result *result, uint64_t h, tally_error *error)
{
    ty_result_settle(result);
    if (h >= result->histograms)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "histogram %" PRIu64 "; the result has %" PRIu64 ", from 0", h,
                        result->histograms);
    if (!ty_counter_saturates(result->counter) || result->kind != TALLY_RESULT_COUNTS)
        return TALLY_OK;
    const uint64_t limit = ty_counter_limit(result->counter);
    for (uint64_t i = 0; i < result->bins; i++)
        if (((const uint64_t *)result->counts)[h * result->bins + i] >= limit)
            return ty_error(error, TALLY_ERROR_DATA,
                            "bin %" PRIu64 ": its count is stuck at %" PRIu64
                            "; count with wider counters",
                            i, limit);
    return TALLY_OK;
}

/* A count to its last bit. */
static long double mass(const tally_result *result, uint64_t h, uint64_t bin)
{
    const uint64_t at = h * result->bins + bin;
    if (result->kind == TALLY_RESULT_SUMS_F64)
        return ((const double *)result->counts)[at];
    if (result->kind == TALLY_RESULT_SUMS_I64)
        return (long double)((const int64_t *)result->counts)[at];
    return (long double)((const uint64_t *)result->counts)[at];
}

/* Of all bins; above 0 and finite. */
static tally_status find_total(const tally_result *result, uint64_t h, int signs,
                               long double *total, tally_error *error)
{
    *total = 0;
    for (uint64_t i = 0; i < result->bins; i++) {
        const long double m = mass(result, h, i);
        if (!isfinite(m) || (m < 0 && !signs))
            return ty_error(error, TALLY_ERROR_DATA,
                            "bin %" PRIu64 ": its sum of weights is %Lg; %s", i, m,
                            isfinite(m) ? "none may be negative" : "all must be finite");
        *total += m;
    }
    if (!(*total > 0 && *total <= DBL_MAX))
        return ty_error(error, TALLY_ERROR_DATA, "the bins add up to %Lg; it must be above 0",
                        *total);
    return TALLY_OK;
}

tally_status tally_result_density(const tally_result *result, uint64_t h, double *density,
                                  tally_error *error)
{
    long double total;
    if (!result || !density)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", result ? "density" : "result");
    tally_status status = check_histogram(result, h, error);
    if (!status)
        status = find_total(result, h, 1, &total, error);
    if (status)
        return status;
    for (uint64_t i = 0; i < result->bins; i++) {
        long double volume = 1;
        uint64_t rest = i;
        for (uint32_t d = result->dimensions; d-- > 0;) {
            const tally_axis *axis = &result->axes[d];
            const uint64_t bin = rest % axis->bins;
            volume *= (long double)tally_axis_edge(axis, bin + 1) - tally_axis_edge(axis, bin);
            rest /= axis->bins;
        }
        density[i] = (double)(mass(result, h, i) / total / volume);
    }
    return TALLY_OK;
}

/* One axis with an order, and sums that none of them makes less. */
static tally_status check_line(const tally_result *result, uint64_t h, long double *total,
                               tally_error *error)
{
    if (result->dimensions != 1)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the result has %u axes; tally_result_project leaves one",
                        result->dimensions);
    if (result->axes[0].kind == TALLY_AXIS_CATEGORY || result->labels[0])
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the axis is of categories, which have no values");
    tally_status status = check_histogram(result, h, error);
    return status ? status : find_total(result, h, 0, total, error);
}

/* Where the samples of a bin are: at its lower edge where they are integers in bins of one integer,
 * else between its edges; beyond them in an end bin that others were clamped into. */
static tally_estimate reach(const tally_result *result, uint64_t bin)
{
    const tally_axis *axis = &result->axes[0];
    const int exact =
        axis->kind == TALLY_AXIS_INTEGER && result->dtype >= TALLY_U8 && result->dtype <= TALLY_I64;
    tally_estimate r = {0, tally_axis_edge(axis, bin),
                        tally_axis_edge(axis, exact ? bin : bin + 1)};
    r.value = r.lo + (r.hi - r.lo) / 2;
    if (!isfinite(r.hi - r.lo))
        r.value = r.lo / 2 + r.hi / 2;
    if (bin == 0 && axis->under == TALLY_FLOW_CLAMP)
        r.lo = -INFINITY;
    if (bin == axis->bins - 1 && axis->over == TALLY_FLOW_CLAMP)
        r.hi = INFINITY;
    return r;
}

tally_status tally_result_mean(const tally_result *result, uint64_t h, tally_estimate *mean,
                               tally_error *error)
{
    long double total, value = 0, lo = 0, hi = 0;
    if (!result || !mean)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", result ? "mean" : "result");
    tally_status status = check_line(result, h, &total, error);
    if (status)
        return status;
    for (uint64_t i = 0; i < result->bins; i++) {
        const long double share = mass(result, h, i) / total;
        const tally_estimate r = reach(result, i);
        if (share > 0) {
            value += share * r.value;
            lo += share * r.lo;
            hi += share * r.hi;
        }
    }
    *mean = (tally_estimate){(double)value, (double)lo, (double)hi};
    return TALLY_OK;
}

static tally_status outside(const tally_result *result, double q, int over, tally_error *error)
{
    const tally_axis *axis = &result->axes[0];
    return ty_error(error, TALLY_ERROR_DATA,
                    "quantile %g is among the samples %s %.17g, which are in no bin", q,
                    over ? "above" : "below", tally_axis_edge(axis, over ? axis->bins : 0));
}

typedef struct ranks {
    double wanted;
    long double below; /* the first bin */
    int above;         /* whether there are samples above the last one */
} ranks;

/* 0 where it is above the last bin. */
static int find_quantile(const tally_result *result, uint64_t h, const ranks *ranks,
                         tally_estimate *quantile)
{
    long double below = ranks->below, part = 0;
    uint64_t found = result->bins;
    for (uint64_t i = 0; i < result->bins; i++) {
        const long double here = mass(result, h, i);
        if (!(here > 0))
            continue;
        found = i;
        part = (ranks->wanted - below) / here;
        if (part <= 1)
            break;
        below += here;
    }
    if (part > 1 && ranks->above)
        return 0;
    *quantile = reach(result, found);
    const tally_axis *axis = &result->axes[0];
    part = fminl(fmaxl(part, 0), 1); /* ranks past 2^53 and sums are rounded */
    if (quantile->lo < quantile->hi)
        quantile->value = (double)(tally_axis_edge(axis, found) * (1 - part) +
                                   tally_axis_edge(axis, found + 1) * part);
    return 1;
}

tally_status tally_result_quantile(const tally_result *result, uint64_t h, double q,
                                   tally_estimate *quantile, tally_error *error)
{
    long double total;
    if (!result || !quantile)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", result ? "quantile" : "result");
    if (!(q >= 0 && q <= 1))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "q is %g; quantiles are from 0 to 1", q);
    tally_status status = check_line(result, h, &total, error);
    if (status)
        return status;
    const long double under = ty_result_flow_count(result, h, 0) ? ty_result_flow(result, h, 0) : 0;
    const long double over = ty_result_flow_count(result, h, 1) ? ty_result_flow(result, h, 1) : 0;
    if (!(under >= 0 && over >= 0 && isfinite(under + over)))
        return ty_error(error, TALLY_ERROR_DATA,
                        "the weights of the samples outside the bins are %s",
                        isnan(under + over) ? "unknown" : "negative or infinite");
    const long double all = under + total + over;
    const double wanted = q * (double)all;
    if (under > 0 && wanted <= under)
        return outside(result, q, 0, error);
    return find_quantile(result, h, &(ranks){wanted, under, over > 0}, quantile)
               ? TALLY_OK
               : outside(result, q, 1, error);
}
