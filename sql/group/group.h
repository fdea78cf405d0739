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

enum { most_dimensions = 3, most_rows = 2048, most_waiting = 1024 };

/* Axes and the plan that counts on them; shared by groups and threads, never changed. */
typedef struct layout {
    atomic_uint users;
    uint32_t dimensions;
    int weighted;
    tally_dtype dtype; /* of samples, in all dimensions */
    size_t bytes;      /* of a sample */
    tally_axis axes[most_dimensions];
    double *edges[most_dimensions]; /* of axes by edges */
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

/* Rows that come one by one wait, without NULLs, until most_waiting are counted together. */
typedef struct group {
    layout *layout;
    uint64_t room; /* for so many that wait */
    rows waiting;
    amount *cells;
    amount flows[flow_count];
    uint64_t nulls; /* rows */
} group;

/* An empty group on `l`, which it retains; NULL when there is no memory. */
group *group_create(layout *l);
void group_destroy(group *g); /* NULL is fine */
/* Adds rows begin to end - 1. */
tally_status group_add(group *g, const rows *r, uint64_t begin, uint64_t end, tally_error *error);
/* Counts what waits: then cells and flows are those of all rows. */
tally_status group_finish(group *g, tally_error *error);
/* Adds what `from` has; their axes must be the same. */
tally_status group_merge(group *into, const group *from, tally_error *error);

#endif
