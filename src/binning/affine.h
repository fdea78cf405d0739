/* The constants of ty_cell_line and ty_cell_line_float for an axis of 16-bit samples, and their
 * proof. */
#ifndef TY_LINE_H
#define TY_LINE_H

#include "binning/axis.h"

/* Whether samples of the dtype have 16 bits. */
int ty_line_serves(tally_dtype dtype);

/* Fills what the line needs of `fast`; returns 1 when it finds the cell of every value that the
 * axis' dtype has, as the edges would. Below a millisecond, but for bins about as narrow as the
 * integers are apart: some. */
int ty_line_make(const ty_axis *axis, ty_fast *fast);

/* Where that finds none, for integers: by two lines, and up to `most` cells more (ty_cell_split).
 */
int ty_line_split(const ty_axis *axis, ty_fast *fast, ty_u32 most);

/* The constants of ty_cell_binary, which are right for every value by construction, or of
 * ty_cell_whole, which are proved by every edge; returns 0 for axes that they do not serve. Methods
 * whose `fast` is 2 take them. */
int ty_line_32_serves(tally_dtype dtype);
int ty_line_32(const ty_axis *axis, ty_fast *fast);

/* Where that finds none, for integers: by a line and a shift, and up to `most` cells more. */
int ty_line_32_split(const ty_axis *axis, ty_fast *fast, ty_u32 most);

#endif
