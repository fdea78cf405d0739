/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of float weights as whole numbers of 128 bits (tally_wide). */
#ifndef TY_WIDE_H
#define TY_WIDE_H

#include <tally/tally.h>

/* The e of the smallest power of two, 2^e, above `limit`: weights are below it, the unit is
 * 2^(e-63). TALLY_ERROR_ARGUMENT for what is no limit. */
tally_status ty_wide_exponent(double limit, int *exponent, tally_error *error);

/* The nearest float64 of a sum of such units. */
double ty_wide_value(tally_wide sum, int exponent);

#endif
