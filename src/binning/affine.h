/* SPDX-License-Identifier: Apache-2.0 */
/* Affine maps of 16- and 32-bit samples to cells: their constants, and the proof that they find
 * what the edges would. */
#ifndef TY_AFFINE_H
#define TY_AFFINE_H

#include "binning/axis.h"

/* Whether samples of the dtype have 16 bits. */
int ty_affine16_serves(tally_dtype dtype);

/* Fills what ty_cell_affine or ty_cell_affine_float needs of `fast`; returns 1 when that finds the
 * cell of every value that the axis' dtype has. Below a millisecond, but for bins about as narrow
 * as the integers are apart: some. */
int ty_affine16_make(const ty_axis *axis, ty_cell_map *fast);

/* Where that finds none, for integers: with up to `most` exceptions (ty_cell_exceptions). */
int ty_affine16_exceptions(const ty_axis *axis, ty_cell_map *fast, ty_u32 most);

/* The constants of ty_cell_binary, which are right for every value by construction, or of
 * ty_cell_whole, which are proved by every edge; returns 0 for axes that they do not serve. */
int ty_affine32_serves(tally_dtype dtype);
int ty_affine32_make(const ty_axis *axis, ty_cell_map *fast);

/* Where that finds none, for integers: with up to `most` exceptions, counted by a shift. */
int ty_affine32_exceptions(const ty_axis *axis, ty_cell_map *fast, ty_u32 most);

#endif
