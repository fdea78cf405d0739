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
#define STATISTICS_STATE    2

#define STATISTICS_RARE_WORDS 7      /* of 32 bits, of a slot: three of sums, four of squares */
#define STATISTICS_GIVEN      2048   /* E is given as so much more; 0: it is to be found */
#define STATISTICS_LEAST      (-960) /* E is not below */

/* How a call is: values have limits; NaN is left out; samples in the flows are counted. */
#define STATISTICS_LIMITED 1
#define STATISTICS_SKIP    2
#define STATISTICS_ABOUT   4

#endif
/* SPDX-License-Identifier: Apache-2.0 */
