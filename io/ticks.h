/* SPDX-License-Identifier: Apache-2.0 */
/* Where an axis of a picture has its ticks, and what stands beside them. */
#ifndef TY_TICKS_H
#define TY_TICKS_H

#include <stddef.h>

#define TY_TICKS_MOST  24
#define TY_TICKS_LABEL 64
#define TY_TICKS_MINOR 128

typedef struct ty_ticks {
    int count;
    double values[TY_TICKS_MOST];
    char labels[TY_TICKS_MOST][TY_TICKS_LABEL]; /* UTF-8 */
    int minor_count;                            /* logarithmic: the marks between, without labels */
    double minor[TY_TICKS_MINOR];
} ty_ticks;

/* At most `most` (2 … TY_TICKS_MOST) multiples of 1, 2 or 5 times a power of ten in lo … hi, where
 * lo < hi. With `counts` large numbers read "20 M", else "2×10⁷"; `whole`: no fractions. */
void ty_ticks_linear(double lo, double hi, int most, int counts, int whole, ty_ticks *ticks);

/* Powers of ten in lo … hi, 0 < lo < hi; 1, 2 and 5 times them when the range is short. */
void ty_ticks_log(double lo, double hi, int most, ty_ticks *ticks);

#endif
