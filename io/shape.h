/* SPDX-License-Identifier: Apache-2.0 */
/* What an array's shape means, of any format that has arrays.
 *
 * () is one sample; (n,) a column of n; (h,w) rows and columns; (h,w,c) has c channels, if c is 1 …
 * 4 or at most 16 and below h and w. Anything else is one column of samples in the order of the
 * file, without a region, and so is Fortran order in two and more dimensions; three with channels
 * are refused in Fortran order, for there the channels lie apart.
 *
 * Where columns are chosen, by number, (n,k) is a table of n rows and (n,) one of one column. */
#ifndef TY_SHAPE_H
#define TY_SHAPE_H

#include "io/input.h"

typedef struct ty_shape {
    const uint64_t *extents;
    unsigned dimensions;
    int fortran;
} ty_shape;

/* Columns chosen of a table whose rows are elements of as many channels. */
typedef struct ty_picks {
    uint32_t count; /* 0: none are */
    uint32_t columns[TALLY_MAX_DIMENSIONS];
} ty_picks;

/* Fills rows, columns and channels of `info`, as ty_rows_open takes them, and *picks. */
tally_status ty_shape_find(const ty_shape *shape, const char *name,
                           const tally_input_options *options, ty_picks *picks,
                           tally_input_info *info, tally_error *error);
/* For `info` behind ty_rows_open: a dimension for each column chosen. */
void ty_picks_note(const ty_picks *picks, tally_input_info *info);
/* The view of all columns, views[0], to one of each that is chosen. */
void ty_picks_split(const ty_picks *picks, tally_view *views);

#endif
