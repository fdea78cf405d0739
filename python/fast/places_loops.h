/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of places.c over blocks of samples, compiled once for each instruction set: all give the
 * same bits. */
#ifndef TALLY_PYTHON_PLACES_LOOPS_H
#define TALLY_PYTHON_PLACES_LOOPS_H

#include <stdint.h>

/* Loops go over whole vectors: their n is a multiple of that. */
enum { PLACES_VECTOR = 4 };

/* Cells of an even axis: s(x) = (x - lo) × scale + 1/2, rounded, from 0 to last. A sample is surely
 * in that cell if s is nearer to it than `sure`. */
typedef struct even_cells {
    double lo, scale, last, sure;
} even_cells;

/* How many samples are under and over, and whether any is NaN. */
typedef struct flows_found {
    uint64_t under, over;
    int nan;
} flows_found;

typedef struct places_loops {
    /* The cells of samples: 0 if not all are in bins, or one is unsure. */
    int (*guess_inside)(const even_cells *axis, const double *x, uint64_t n, double *cells);
    /* The same of any samples: NaN are under. 0 if one is unsure. */
    int (*guess_any)(const even_cells *axis, const double *x, uint64_t n, double *cells);
    /* Takes those in the first or the last cell from the points that are in bins on all axes
     * before: inside[i] is 1 for such a point, else 0. Adds up what they are; 1 if there is any. */
    int (*take_flows)(double last, const double *x, const double *cells, uint64_t n, double *inside,
                      flows_found *found);
    /* all[i] × extent + more[i] in place of all[i] */
    void (*join)(double *all, double extent, const double *more, uint64_t n);
    /* Whole numbers below 2^51 as integers. */
    void (*to_integers)(const double *x, uint64_t n, int64_t *to);
} places_loops;

/* The last two are there on x86-64. */
extern const places_loops places_base, places_avx2, places_avx512;

#endif
