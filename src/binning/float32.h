/* The constants of ty_cell_f32 for an axis, and the proof that they decide every sample rightly. */
#ifndef TY_FAST_MAKE_H
#define TY_FAST_MAKE_H

#include "binning/axis.h"
#include "binning/cell.h"

/* Fills `fast`; returns 1 when ty_cell_f32 finds the cell of every float32 as the float64 edges
 * would. Else only the axis' bounds are set, for the functions that decide in float64. Looks at
 * every edge: some milliseconds for 100 000. */
int ty_fast_make(const ty_axis *axis, ty_fast *fast);

/* Where that finds none, for axes from zero: with `tie`, for programs with TY_TIES. */
int ty_fast_ties(const ty_axis *axis, ty_fast *fast);

/* Whether all values of the dtype are float32s. */
int ty_fast_serves(tally_dtype dtype);

/* Resolves an axis of a kernel's plan: by a line (binning/affine.h) if the kernel takes one, by two
 * if it has room for so many `splits`, else by float32, if these serve the dtype and are proved. */
void ty_fast_resolve(ty_axis *axis, int line, ty_u32 splits);

/* The smallest float32 that is not below e. */
float ty_float_at_least(double e);

/* How the axis' cells are found, in a few words. */
const char *ty_fast_words(const ty_axis *axis);

#endif
