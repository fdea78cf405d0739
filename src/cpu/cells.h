/*
 * Uneven edges found by cell: the axis is cut into many cells of a monotone scale, each of which
 * knows the bin at its beginning; what is left is to compare with the few edges inside the cell.
 */
#ifndef TY_CELLS_H
#define TY_CELLS_H

#include <string.h>

#include "cpu/cpu.h"

/* How a sample finds its cell. Both ways are monotone in the sample, whatever they round; edges are
 * put in cells by the same steps, so an edge of a lower cell is below the sample for certain. */
typedef enum ty_cells_scale {
    TY_CELLS_LINEAR, /* (x - lo) * factor, truncated */
    TY_CELLS_BITS    /* the upper 32 bits of x as float64, in order: even steps within a binade */
} ty_cells_scale;

/* Most edges inside one cell that are worth comparing with. */
enum { TY_CELLS_STEPS = 8 };

typedef struct ty_cells {
    ty_cells_scale scale;
    double lo, factor;
    uint32_t first_bits, drop; /* BITS: those of lo; low bits to drop */
    uint32_t count;            /* of cells; behind them one each for under, over, NaN */
    uint32_t steps;            /* most edges inside a cell, 1 … TY_CELLS_STEPS */
    uint32_t *first;           /* count + 3: the slot at a cell's beginning */
    double *edges;             /* the axis' edges but the last, then NaN */
} ty_cells;

/* The cells of an axis; *cells is NULL if it has no table of edges, or they are so crowded that a
 * binary search serves better. */
tally_status ty_cells_make(const ty_axis *axis, ty_cells **cells, tally_error *error);
void ty_cells_free(ty_cells *cells);

/* By dtype, for axes whose `cells` are made; NULL for dtypes that are not served. */
typedef struct ty_cells_loops {
    ty_slots_fn slots[TALLY_F64 + 1];
} ty_cells_loops;

extern const ty_cells_loops ty_cells_base, ty_cells_avx2,
    ty_cells_avx512; /* the last two on x86-64 */

/* The fastest that this processor runs. */
const ty_cells_loops *ty_cells_loops_get(void);

/* The ordered upper half of a float64, -0 as 0. */
static inline uint32_t ty_cells_bits(double x)
{
    uint64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    uint32_t high = (uint32_t)(bits >> 32);
    return high ^ (uint32_t)((int32_t)high >> 31 & INT32_MAX);
}

#endif
