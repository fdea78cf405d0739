/* SPDX-License-Identifier: Apache-2.0 */
/* DuckDB's C API of version 1.2.0, the first that extensions can be built against: a later DuckDB
 * loads what is built for an earlier one. */
#ifndef TALLY_DUCKDB_API_H
#define TALLY_DUCKDB_API_H

#define DUCKDB_EXTENSION_NAME              tally
#define DUCKDB_EXTENSION_API_VERSION_MAJOR 1
#define DUCKDB_EXTENSION_API_VERSION_MINOR 2
#define DUCKDB_EXTENSION_API_VERSION_PATCH 0
#include <duckdb_extension.h>

DUCKDB_EXTENSION_EXTERN

#endif
