/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that are opened at run time: one binary runs with and without them. */
#ifndef TY_DYNLIB_H
#define TY_DYNLIB_H

#include <stddef.h>

/* A function to look up: its name, and the offset of its pointer in the caller's table. */
typedef struct ty_symbol {
    const char *name;
    size_t offset;
    int required;
} ty_symbol;

/*
 * Opens the first of `candidates` (NULL at the end) that is there and fills `table` with the
 * symbols (a NULL name at the end); a missing optional one stays NULL. Returns a handle that is
 * never closed (drivers do not survive it), or NULL with the reason in `reason`.
 *
 * The environment variable `variable`, if not NULL, may name the library to open instead of the
 * candidates; "none" stands for a machine without it.
 */
void *ty_dynlib_open(const char *variable, const char *const *candidates, const ty_symbol *symbols,
                     void *table, char *reason, size_t size);

#endif
