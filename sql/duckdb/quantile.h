/* SPDX-License-Identifier: Apache-2.0 */
/* tally_quantile(x, q): the exact quantile q of x, 0 to 1, between its neighbours in proportion, as
 * quantile_cont; tally_quantile(x, [q0, q1, …]): a list of them. NULLs are left out; NaN gives NaN.
 */
#ifndef TALLY_DUCKDB_QUANTILE_H
#define TALLY_DUCKDB_QUANTILE_H

#include "answer.h"

/* 0 where DuckDB takes no such function. */
int quantile_register(duckdb_connection connection);

#endif
