/* SPDX-License-Identifier: Apache-2.0 */
/* tally_merge(histogram): the sum of histograms on the same bins: of lists of counts or of sums,
 * and of tally_histogram's structs of one axis, whose edges must be the same. */
#ifndef TALLY_DUCKDB_MERGE_H
#define TALLY_DUCKDB_MERGE_H

#include "answer.h"

/* 0 where DuckDB takes no such function. */
int merge_register(duckdb_connection connection);

#endif
