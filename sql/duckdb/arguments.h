/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of one call of an aggregate, as DuckDB hands them over: a chunk of rows. */
#ifndef TALLY_DUCKDB_ARGUMENTS_H
#define TALLY_DUCKDB_ARGUMENTS_H

#include "aggregate.h"
#include "../group/group.h"

/* What a SQL function takes and returns: dimensions columns of samples, then lo, hi and bins (or a
 * list of edges) for each, then weights. */
typedef struct signature {
    uint32_t dimensions;
    tally_dtype dtype;
    int edges;    /* axes by edges */
    int weighted; /* the last argument is a weight */
    int whole;    /* returns a struct with edges and flows, not only the counts */
} signature;

typedef struct arguments {
    const signature *signature;
    rows rows;
    uint8_t present[most_rows];
    struct axis_arguments {
        const double *lo, *hi;
        const int32_t *bins;
        const duckdb_list_entry *lists; /* of edges, in `values` */
        const double *values;
    } axes[most_dimensions];
    int alike; /* all rows have the first row's axes */
} arguments;

/* 1: all `count` values of `size` bytes have the bits of the first. */
int is_constant(const void *values, size_t size, uint64_t count);
/* Reads the chunk; 0 and a message where an argument is NULL that must not be. */
int arguments_read(arguments *a, const signature *s, duckdb_data_chunk chunk, tally_error *error);
/* The axes of row i: `axes` points into the chunk. 0 and a message where they are none. */
int arguments_axes(const arguments *a, uint64_t i, tally_axis *axes, tally_error *error);

#endif
