/* SPDX-License-Identifier: Apache-2.0 */
/* Columns chosen by the caller, of a table of any format: by heading, matched whole and
 * case-sensitively, or else by number from 1. */
#ifndef TY_COLUMNS_H
#define TY_COLUMNS_H

#include <tally/io.h>

typedef struct ty_columns {
    const char *file;            /* for messages */
    const char *const *headings; /* `count` of them, or NULL: only numbers choose */
    uint32_t count;
} ty_columns;

/* The column called `name`, from 0. */
tally_status ty_columns_find(const ty_columns *columns, const char *name, uint32_t *column,
                             tally_error *error);
/* Several columns, and none was asked for: says which there are. */
tally_status ty_columns_refuse_none(const ty_columns *columns, tally_error *error);

#endif
