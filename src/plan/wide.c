/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of float weights as whole numbers of 128 bits: the unit, additions, rounding. */
#include "plan/wide.h"

#include <math.h>

#include "core/error.h"

#define LEAST_LIMIT 1e-250

tally_status ty_wide_exponent(double limit, int *exponent, tally_error *error)
{
    if (!(limit >= LEAST_LIMIT) || isinf(limit))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "weight_limit is %.17g; it must be finite, and at least %g", limit,
                        LEAST_LIMIT);
    frexp(limit, exponent);
    return TALLY_OK;
}

void tally_wide_add(tally_wide *into, const tally_wide *from, uint64_t n)
{
    for (uint64_t i = 0; i < n && into && from; i++) {
        const uint64_t low = into[i].low + from[i].low, carry = low < from[i].low;
        into[i].high = (int64_t)((uint64_t)into[i].high + (uint64_t)from[i].high + carry);
        into[i].low = low;
    }
}

/* The nearest float64 of |sum|, ties to even: what is cut off leaves a bit that says so. */
static double nearest(uint64_t low, uint64_t high)
{
    if (!high)
        return (double)low;
    const int shift = 64 - __builtin_clzll(high);
    const uint64_t cut = low << (64 - shift);
    const uint64_t top = shift < 64 ? high << (64 - shift) | low >> shift : high;
    return ldexp((double)(top | (cut != 0)), shift);
}

double ty_wide_value(tally_wide sum, int exponent)
{
    const int negative = sum.high < 0;
    uint64_t low = sum.low, high = (uint64_t)sum.high;
    if (negative) {
        high = ~high + !low;
        low = -low;
    }
    const double size = ldexp(nearest(low, high), exponent - 63);
    return negative ? -size : size;
}

tally_status tally_wide_round(const tally_wide *sums, uint64_t n, double weight_limit, double *to,
                              tally_error *error)
{
    int exponent;
    if (n && (!sums || !to))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", sums ? "to" : "sums");
    tally_status status = ty_wide_exponent(weight_limit, &exponent, error);
    for (uint64_t i = 0; i < n && !status; i++)
        to[i] = ty_wide_value(sums[i], exponent);
    return status;
}
