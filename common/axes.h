/* SPDX-License-Identifier: Apache-2.0 */
/* The bins that the command and tally-mpi make of what samples were found to be. Those that may
 * refuse return 0 then, and write why. */
#ifndef COMMON_AXES_H
#define COMMON_AXES_H

#include <math.h>
#include <stdio.h>

#include <tally/tally.h>

enum { AXES_LOG_BINS = 64, AXES_MOST_INTEGERS = 1 << 24, AXES_WHY = 240 };

/* Where samples of a type may lie, if that is what bins reach over unless a range is given: the
 * number of bins then, else 0. */
static inline uint64_t axes_natural(tally_dtype dtype, int is_image, double range[2])
{
    if (dtype == TALLY_U8) {
        range[0] = 0, range[1] = 256;
        return 256;
    }
    if (dtype == TALLY_I8) {
        range[0] = -128, range[1] = 128;
        return 256;
    }
    if (dtype == TALLY_U16 && is_image) {
        range[0] = 0, range[1] = 65536;
        return 256;
    }
    return 0;
}

/* Smallest and largest finite sample as float64, never inside of what they are. */
static inline void axes_found(const tally_stats *stats, tally_dtype dtype, double *lo, double *hi)
{
    *lo = stats->min;
    *hi = stats->max;
    if (dtype == TALLY_I64) {
        if (*lo >= 0x1p63 || (int64_t)*lo > stats->min_integer)
            *lo = nextafter(*lo, -INFINITY);
        if (*hi < 0x1p63 && (int64_t)*hi < stats->max_integer)
            *hi = nextafter(*hi, INFINITY);
    } else if (dtype == TALLY_U64) {
        if (*lo >= 0x1p64 || (uint64_t)*lo > (uint64_t)stats->min_integer)
            *lo = nextafter(*lo, -INFINITY);
        if (*hi < 0x1p64 && (uint64_t)*hi < (uint64_t)stats->max_integer)
            *hi = nextafter(*hi, INFINITY);
    }
}

/* Bins whose number nobody gave are no narrower than steps of float64. */
static inline void axes_widen_bins(tally_axis *axis)
{
    const double size = fmax(fabs(axis->lo), fabs(axis->hi));
    const double most = floor((axis->hi - axis->lo) / (nextafter(size, INFINITY) - size));
    if (most >= 1 && most < (double)axis->bins)
        axis->bins = (uint64_t)most;
}

/* A bin for each integer from lo to hi; or so many equal ones from lo on. */
static inline int axes_integers(double lo, double hi, uint64_t bins, tally_axis *axis, char *why)
{
    if (!(lo >= -0x1p53 && (bins ? lo <= 0x1p53 - (double)bins : hi < 0x1p53))) {
        snprintf(why, AXES_WHY,
                 "--integer: the data reach from %.17g to %.17g, but bins for single integers stop "
                 "at 2^53; --categories counts each value, --bins N without --integer equal bins",
                 lo, hi);
        return 0;
    }
    if (!bins && hi - lo + 1 > AXES_MOST_INTEGERS) {
        snprintf(why, AXES_WHY,
                 "--integer: %.0f to %.0f would be %.0f bins, more than %d; give --range, or "
                 "--bins N for equal bins",
                 lo, hi, hi - lo + 1, AXES_MOST_INTEGERS);
        return 0;
    }
    *axis = tally_axis_integer(bins ? bins : (uint64_t)(hi - lo) + 1, (int64_t)lo);
    return 1;
}

/* Bins that grow by one factor from the smallest sample to the largest; lo > hi: there is none. */
static inline int axes_ratios(double lo, double hi, uint64_t bins, tally_axis *axis, char *why)
{
    if (lo > hi)
        lo = 1, hi = 10;
    if (!(lo > 0)) {
        snprintf(why, AXES_WHY,
                 "--log: the smallest sample is %.17g; it needs samples above zero, or --range LO "
                 "HI to leave the others out",
                 lo);
        return 0;
    }
    if (lo == hi)
        lo /= 2, hi *= 2;
    *axis = tally_axis_log(bins ? bins : AXES_LOG_BINS, lo, hi);
    return 1;
}

#endif
