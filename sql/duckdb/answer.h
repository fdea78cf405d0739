/* SPDX-License-Identifier: Apache-2.0 */
/* What a group has counted, written into DuckDB's result vector. */
#ifndef TALLY_DUCKDB_ANSWER_H
#define TALLY_DUCKDB_ANSWER_H

#include "arguments.h"

/* The type that functions of this signature return. The caller destroys it. */
duckdb_logical_type answer_type(const signature *s);
/* Row `row` of `result`; NULL where `g` is NULL. 0 when there is no memory. */
int answer_write(const signature *s, const group *g, duckdb_vector result, idx_t row);

/* A list of `count` values of 8 bytes. 0 when there is no memory. */
int answer_list(duckdb_vector result, idx_t row, const void *values, uint64_t count);
void answer_null(duckdb_vector result, idx_t row);

#endif
