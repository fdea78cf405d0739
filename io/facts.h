/* SPDX-License-Identifier: Apache-2.0 */
/* What counts say of the samples in bins, in a line. */
#ifndef TY_FACTS_H
#define TY_FACTS_H

#include "io/label.h"

typedef struct ty_facts {
    uint64_t count;                              /* samples in bins */
    double mean, deviation, least, median, most; /* NaN: not known */
    int is_exact;                                /* else within their bins */
    int is_median_exact;                         /* though the others need not be */
    int is_partly;                               /* there are samples below or above the bins */
    double blur;                                 /* how wide a sample's bin is, on average */
    double means[2], medians[2];                 /* between which they are */
    int is_mean_wide, is_median_wide;            /* said as these, for bins are wide */
    tally_time time;                             /* of times, in this unit */
} ty_facts;

/* Of histogram `h`; 0 where that has no such facts: it is of words or bytes, of several axes, of
 * sums or saturated counts, or empty. */
int ty_facts_of(const tally_result *result, uint64_t h, ty_facts *facts);

#define TY_FACTS_SIZE 320
/* "mean 154.2, sd 95.2, median 137, from 20 to 667", with ≈ where they are not exact, and "mean 41
 * to 365, median 20 to 344" where bins are wide. */
void ty_facts_print(const ty_facts *facts, int ascii, char text[TY_FACTS_SIZE]);

/* Five significant digits, or all of an integer below 10^7. */
void ty_print_short(double value, char text[TY_LABEL_SIZE]);
/* Twelve significant digits, or a time; nothing of NaN. */
void ty_print_exact(double value, tally_time time, char text[TY_LABEL_SIZE]);

#endif
