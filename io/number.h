/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal text -> float64, correctly rounded (half to even), whatever the length and the locale. */
#ifndef TY_NUMBER_H
#define TY_NUMBER_H

#include <stdint.h>

/*
 * Parses the number that starts at `p`, reading nothing at or past `end`: an optional sign, then
 * digits with an optional point (a digit on at least one side) and an optional exponent, or inf,
 * infinity or nan in any case. No leading white space, no hexadecimal, no digit separators. Too
 * large is infinity, too small is zero, signs are kept. Returns the position after the longest
 * number, or NULL, leaving *value alone, when there is none. Thread-safe; expects the default
 * rounding mode.
 */
const char *ty_number_parse(const char *p, const char *end, double *value);

/* number_exact.c, for when 64 bits and a power do not decide: bits of the float64 nearest to
 * w × 10^exponent, w above 0; and to the digits in [p, end), a point among them passed over,
 * × 10^exponent, where `exponent` belongs to the last digit. */
#define TY_NUMBER_INFINITY (UINT64_C(0x7ff) << 52)
uint64_t ty_number_exact(uint64_t w, int64_t exponent);
uint64_t ty_number_exact_text(const char *p, const char *end, int64_t exponent);

/* number_table.c: [q - FIRST] is the high and low word of 10^q scaled into [2^127, 2^128), rounded
 * down for q >= 0 and up for q < 0. */
#define TY_NUMBER_POWER_FIRST (-342)
#define TY_NUMBER_POWER_LAST  308
extern const uint64_t ty_number_powers[TY_NUMBER_POWER_LAST - TY_NUMBER_POWER_FIRST + 1][2];

#endif
