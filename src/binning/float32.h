/* SPDX-License-Identifier: Apache-2.0 */
/* The constants of ty_cell_f32 for an axis, and the proof that they decide every sample rightly. */
#ifndef TY_FLOAT32_H
#define TY_FLOAT32_H

#include "binning/axis.h"
#include "binning/cell.h"

/* Fills `fast`; returns 1 when ty_cell_f32 finds the cell of every float32 as the float64 edges
 * would. Else only the axis' bounds are set, for the functions that decide in float64. Looks at
 * every edge: some milliseconds for 100 000. */
int ty_float32_make(const ty_axis *axis, ty_cell_map *fast);

/* Where that finds none, for axes from zero: with `tie`, for programs with TY_TIES. */
int ty_float32_ties(const ty_axis *axis, ty_cell_map *fast);

/* For edges that are rounded to float32 and nearly even: where they are the floats nearest to an
 * affine map, its constants, for programs with TY_TIES. */
int ty_float32_rounded(const ty_axis *axis, ty_cell_map *fast);
/* Whether that may be so, in no time. */
int ty_float32_may_be_rounded(const ty_axis *axis);

/* Whether all values of the dtype are float32s. */
int ty_float32_serves(tally_dtype dtype);

/* Finds the fastest arithmetic that is right for an axis of a kernel's plan, and sets `proof`: an
 * affine map (binning/affine.h) if the kernel takes those of 16-bit samples (`affine` 1) or of 32
 * bits too (2), with up to so many exceptions; else float32, if it serves the dtype. */
void ty_axis_prove(ty_axis *axis, int affine, ty_u32 exceptions);

/* The smallest float32 that is not below e. */
float ty_float_at_least(double e);

/* How the axis' cells are found, in a few words. */
const char *ty_axis_proof_words(const ty_axis *axis);

#endif
