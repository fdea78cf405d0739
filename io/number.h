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

/* number_table.c: [q - FIRST] is the high and low word of 10^q scaled into [2^127, 2^128), rounded
 * down for q >= 0 and up for q < 0. */
#define TY_NUMBER_POWER_FIRST (-342)
#define TY_NUMBER_POWER_LAST  308
extern const uint64_t ty_number_powers[TY_NUMBER_POWER_LAST - TY_NUMBER_POWER_FIRST + 1][2];

#endif
