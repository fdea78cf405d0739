/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of Hist.fill share. A filler holds the axes of a histogram and plans on them; the
 * cells, which are the bins with a flow bin at both ends of every axis, are the caller's arrays.
 */
#ifndef TALLY_PYTHON_FILL_H
#define TALLY_PYTHON_FILL_H

#include "fast.h"
#include "places_loops.h"

/* Of an axis: its bins; these and the flow bins. */
typedef enum form { PLAIN, ENDED, FORMS } form;

/* What a histogram's cells hold: as tally.Hist.storage. */
typedef enum storage { COUNTS, SUMS, SQUARES, MEANS, WEIGHTED_MEANS } storage;

enum { MOST_OWN_PLANS = 16, NAME_BYTES = 12 };

typedef struct own_plan {
    tally_plan *plan;
    unsigned char key[NAME_BYTES];
    unsigned users;
} own_plan;

/* How the cells of samples are found on an axis (places.c): by an even axis' s(x), among integers,
 * or among edges. */
typedef enum finder_way { EVEN, WHOLE, UNEVEN } finder_way;

typedef struct finder {
    finder_way way;
    uint64_t extent;     /* cells */
    const double *edges; /* extent + 1 of them; not of WHOLE */
    double lo, scale;    /* EVEN; WHOLE: the first bin's lo */
    double apart;        /* EVEN: how far the edges' s may be from where they should be */
} finder;

typedef struct filler {
    uint32_t dimensions;
    storage storage;
    int int64; /* whether 64-bit integers compare with all edges as float64s do */
    double lo[TALLY_MAX_DIMENSIONS], hi[TALLY_MAX_DIMENSIONS];
    int circular[TALLY_MAX_DIMENSIONS]; /* samples are brought from lo to hi by whole turns */
    tally_axis axes[FORMS][TALLY_MAX_DIMENSIONS]; /* with edges of their own */
    finder finders[TALLY_MAX_DIMENSIONS];
    own_plan plans[MOST_OWN_PLANS];
    unsigned oldest;
} filler;

/* One call. */
typedef struct filling {
    filler *f;
    array samples[TALLY_MAX_DIMENSIONS];
    double *turned[TALLY_MAX_DIMENSIONS]; /* samples on circular axes, or NULL */
    array weight; /* of storages with weights: one a sample, or `scalar` for all */
    double scalar;
    array values; /* of means: what they are the means of */
    array sums, squares, means, deltas;
    tally_flows flows;
    int mixed[TALLY_MAX_DIMENSIONS]; /* places.c: the last samples were not all surely in bins */
    int large;                       /* one of the arrays is: the call may be stopped */
} filling;

/* Numbers that stay in registers, as sums in an array would not, and what comparing them gives. */
typedef double lanes __attribute__((vector_size(16)));
typedef int64_t lane_masks __attribute__((vector_size(16)));
/* Samples that are looked at at once. */
enum { AT_ONCE = 512, LANES = sizeof(lanes) / sizeof(double) };

/* ---- fillers (filler.c) ---- */

/* NULL: it is none, of which an error tells. */
filler *filler_of(PyObject *capsule);
/* Whether all axes have so few bins that it costs little to count with flow bins beside them. */
int filler_is_short(const filler *f);
/* Around a call of the library: its plan and views, and without the interpreter's lock where that
 * pays; NULL, and nothing to end, where there is no plan. */
own_plan *filler_begin(const filling *w, form form, tally_view *views, PyThreadState **state);
void filler_end(own_plan *own, PyThreadState *state);

/* ---- samples in no bin (outside.c) ---- */

/* Adds up the flows of n samples. */
void outside_count(filling *w, uint64_t begin, uint64_t n);
/* The numbers of samples begin … begin+n-1 that are under or over, to `list`; how many. */
uint64_t outside_list(const filling *w, uint64_t begin, uint64_t n, uint32_t *list);
/* Whether more than a sixteenth of the first samples are in no bin: it costs less then to count all
 * into all cells. */
int outside_are_many(const filling *w);
/* Those samples alone, with what goes with them, as float64 in memory that begins with the first
 * axis' ones; w->flows say how many they are at most. 0: no memory. */
int outside_take(const filling *w, filling *outside);
/* Of one axis: the squared weights of the samples under and over. */
void outside_squares(const filling *w, double *squares);

/* ---- cells of samples (places.c) ---- */

/* Of an axis, or of `extent` cells between edges, the first and the last of which are the outermost
 * float64s. */
void finder_make(finder *f, const filler *of, uint32_t d);
void finder_among(finder *f, const double *edges, uint64_t extent);
/* Chooses loops for the processor, less what a list like TALLY_DISABLE_CPU names. */
void places_bind(const char *without);
/* n samples with what fills their last vector up. */
static inline uint64_t places_whole(uint64_t n)
{
    return (n + PLACES_VECTOR - 1) / PLACES_VECTOR * PLACES_VECTOR;
}
/* As array_doubles, and copies of the last one behind them to places_whole(n). */
const double *places_doubles(const array *a, uint64_t begin, uint64_t n, double *to);
/* The cells of n samples, whole vectors of at most AT_ONCE; those of NaN are any. 1 if all are
 * known to be in bins. *mixed, 0 at first, is kept for the next ones, which are expected to be
 * alike. */
int finder_find(const finder *f, int *mixed, const double *x, uint64_t n, double *cells);
/* Those on one more axis joined to what is there; and such numbers, below 2^51, as integers. All
 * arrays have room for places_whole(n). */
void cells_join(double *all, uint64_t extent, const double *more, uint64_t n);
void cells_to_integers(const double *x, uint64_t n, int64_t *to);
enum { NO_CELL = -1 };
/* The cells of samples begin … begin+n-1, at most AT_ONCE, NO_CELL of NaN; adds up the flows. */
void places_find(filling *w, uint64_t begin, uint64_t n, int64_t *cells);

/* ---- circular axes (circular.c) ---- */

/* Puts in place of the samples on circular axis d others, as float64 in memory of their own, that
 * lie from one end to the other; infinite ones are infinite. 0: no memory. */
int circular_turn(filling *w, uint32_t d);

/* Has a signal of the main thread stop the library's call, which runs without the interpreter's
 * lock: `user` is a PyThreadState **. (fill.c) */
int fill_stopped(void *user, uint64_t done, uint64_t total);

/* ---- means (means.c) ---- */

/* 1, or 0 and nothing is changed. */
int means_add(filling *w);

#endif
