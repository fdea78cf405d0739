/* SPDX-License-Identifier: Apache-2.0 */
/* Samples on the device in any layout: what run.c and the methods that read them share. */
#ifndef TY_VIEWS_H
#define TY_VIEWS_H

#include "gpu/call.h"

enum { TY_VIEW_ARGS = 5 * (TALLY_MAX_DIMENSIONS + 2) + 24 }; /* more than any kernel takes */
_Static_assert((int)TY_VIEW_ARGS <= (int)TY_MOST_ARGS, "a launch has room for them");

/* run.c: fills the call's samples, mask and weights from its job's views on the device, and checks
 * that they lie inside the caller's memory objects. */
tally_status ty_views_begin(ty_call *call, tally_error *error);

/* Whether the bytes of a grid lie inside the caller's memory object. */
tally_status ty_view_check(ty_device *device, const ty_grid *grid, const char *what,
                           tally_error *error);
ty_strided ty_view_strided(const ty_grid *grid);

/* Whether the elements of a grid, of four bytes, follow each other and are aligned. */
int ty_view_is_words(const ty_call *call, const ty_strided *grid, int64_t channel);

/* Appends one grid's arguments (TY_GRID_ARGS of kernels/grid.h); returns where they end. */
unsigned ty_view_grid(ty_arg *args, unsigned n, const ty_strided *grid);
/* The arguments of a kernel up to the axes: grids of samples, mask and weights. */
unsigned ty_view_grids(const ty_call *call, ty_arg *args);
/* And those from the axes on, up to `parts`, the groups that share a histogram. */
unsigned ty_view_extents(const ty_call *call, uint32_t parts, ty_arg *args, unsigned n);

/* Groups for each of so many histograms, so that all together fill the device. */
uint32_t ty_view_parts(const ty_geometry *g, uint64_t elements, uint64_t histograms);

/* For histograms(): how many one launch counts, of `parts` partials of `words` words each, so that
 * their memory is bounded; a multiple of `together`. */
uint64_t ty_view_histograms(const ty_call *call, uint64_t parts, uint64_t words, uint64_t together);

#endif
