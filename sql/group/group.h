/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one group of a query has counted, and the axes it counts on. The axes come with every row,
 * as arguments of the SQL function; rows of a group must agree on them.
 */
#ifndef TALLY_SQL_GROUP_H
#define TALLY_SQL_GROUP_H

#include <stdatomic.h>
#include <stdint.h>
#include <tally/tally.h>

enum { most_dimensions = 3, most_rows = 2048, most_listed_bins = 65536 };

/* Axes and the plan that counts on them; shared by groups and threads, never changed. */
typedef struct layout {
    atomic_uint users;
    uint32_t dimensions;
    int weighted;
    tally_axis axes[most_dimensions];
    double scale[most_dimensions];  /* bins / (hi - lo): the first guess of a bin; even axes */
    double *edges[most_dimensions]; /* bins + 1; NULL: an even axis of more than most_listed_bins */
    uint64_t cells;
    tally_plan *plan;
} layout;

/* Copies `axes` (edges too) and makes the plan for samples of `dtype`. NULL and a message where the
 * axes are none. The caller is its first user. */
layout *layout_create(uint32_t dimensions, const tally_axis *axes, tally_dtype dtype, int weighted,
                      tally_error *error);
layout *layout_retain(layout *l);
void layout_release(layout *l); /* NULL is fine */
int layout_is(const layout *l, const tally_axis *axes);

/* Rows of one chunk, as columns: samples of each axis, weights, which rows have a NULL. */
typedef struct rows {
    uint64_t count;
    tally_dtype dtype;
    const void *samples[most_dimensions];
    const double *weights;
    const uint8_t *present; /* NULL: all are */
} rows;

/* Sums of weights where the function has weights, else numbers of rows: both are 8 bytes. */
typedef union amount {
    uint64_t count;
    double sum;
} amount;

enum { flow_under, flow_over, flow_nan, flow_count };

typedef struct group {
    layout *layout;
    amount *cells;
    amount flows[flow_count];
    uint64_t nulls; /* rows */
} group;

/* An empty group on `l`, which it retains; NULL when there is no memory. */
group *group_create(layout *l);
void group_destroy(group *g); /* NULL is fine */
/* Counts all rows. */
tally_status group_add_rows(group *g, const rows *r, tally_error *error);
/* Counts row i. */
void group_add_row(group *g, const rows *r, uint64_t i);
/* Adds what `from` has; their axes must be the same. */
void group_merge(group *into, const group *from);

#endif
