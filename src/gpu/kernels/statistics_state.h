/* What a call of statistics leaves on the device, and how it is told to add (statistics.cl). */
#ifndef TY_STATISTICS_STATE_H
#define TY_STATISTICS_STATE_H

#include "binning/dialect.h"

/* Words of 64 bits for each slot of each histogram and column. */
#define STATISTICS_N          0 /* number of values */
#define STATISTICS_SUM        1 /* two: their sum, in units of 2^(E-50) */
#define STATISTICS_SQUARES    3 /* three: that of their squares */
#define STATISTICS_LARGEST    6 /* their largest key */
#define STATISTICS_COMPLEMENT 7 /* the largest complement of their keys */
#define STATISTICS_ODD        8 /* what was met: 1 inf, 2 -inf, 4 NaN */
#define STATISTICS_CELL       9

#define STATISTICS_FLOWS 8 /* of a histogram: samples of each flow, where they are wanted */

/* Of a column. */
#define STATISTICS_BEYOND   0 /* whether a value was beyond its limit */
#define STATISTICS_EXPONENT 1 /* the largest, as float64 stores it, if it is looked for */
#define STATISTICS_GUESS    2 /* the largest of some values, as that */
#define STATISTICS_LATE     3 /* number of values put off until E is known */
#define STATISTICS_STATE    4

#define STATISTICS_LATE_GROUPS 8     /* of statistics_late */
#define STATISTICS_LATE_MOST   16384 /* if as many are put off, the guess does not hold */

/* Words of 64 bits of a slot's rare values, and how often the words of each limb wrapped; those
 * before the first slot are LATE_MOST values put off: their slot, and in the lower half the value.
 */
#define STATISTICS_RARE_SUM     0
#define STATISTICS_RARE_SQUARES 2
#define STATISTICS_WRAPS        6
#define STATISTICS_LIMBS_MOST   5
#define STATISTICS_RARE_WORDS   (STATISTICS_WRAPS + STATISTICS_LIMBS_MOST)
#define STATISTICS_GIVEN        2048   /* E is given as so much more; 0: it is to be found */
#define STATISTICS_LEAST        (-960) /* E is not below */

/* How a call is: values have limits; NaN is left out; samples in the flows are counted; E is a
 * guess; this is once more, for a guess that did not hold; this is the rest, of what the brief way
 * could not do. */
#define STATISTICS_LIMITED 1
#define STATISTICS_SKIP    2
#define STATISTICS_ABOUT   4
#define STATISTICS_GUESSED 8
#define STATISTICS_AGAIN   16
#define STATISTICS_REST    32

#endif
/* SPDX-License-Identifier: Apache-2.0 */
