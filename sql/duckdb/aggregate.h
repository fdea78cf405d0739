/* SPDX-License-Identifier: Apache-2.0 */
/* What all aggregates share: DuckDB keeps a pointer for each group of a query, NULL before the
 * group's first row, and calls to fill, add up, answer and free what it points to. */
#ifndef TALLY_DUCKDB_AGGREGATE_H
#define TALLY_DUCKDB_AGGREGATE_H

#include "api.h"
#include <tally/tally.h>

/* The first member of what a function is registered with. The calls that return int return 0, and
 * a message, where something is wrong. */
typedef struct aggregate aggregate;
struct aggregate {
    int (*update)(aggregate *a, duckdb_data_chunk chunk, duckdb_aggregate_state *states,
                  tally_error *error);
    int (*merge)(aggregate *a, void **into, const void *from, tally_error *error);
    int (*answer)(aggregate *a, void *group, duckdb_vector result, idx_t row, tally_error *error);
    void (*destroy)(void *group);
};

/* Where a state has its pointer. */
void **aggregate_group(duckdb_aggregate_state state);
/* The type, or lists of it. The caller destroys it. */
duckdb_logical_type aggregate_type(duckdb_type type, int list);
/* Adds a function to the set; takes the types. `a` stays. */
int aggregate_add(duckdb_aggregate_function_set set, const char *name, aggregate *a,
                  duckdb_logical_type *parameters, idx_t count, duckdb_logical_type answer);
/* Registers the set, if all were added to it; takes it. 0 where DuckDB does not. */
int aggregate_register(duckdb_connection connection, duckdb_aggregate_function_set set, int added);

/* Returns 0, the words in `error`. */
int refuse(tally_error *error, const char *words);

#endif
