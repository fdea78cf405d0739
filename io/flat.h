/* SPDX-License-Identifier: Apache-2.0 */
/* FlatBuffers, as Arrow's metadata are written: tables read in place, every step checked. What lies
 * outside the bytes sets `failed`, which stays, and is read as if it were not there. */
#ifndef TY_FLAT_H
#define TY_FLAT_H

#include <stddef.h>
#include <stdint.h>

typedef struct ty_flat {
    const unsigned char *bytes;
    size_t size;
    int failed;
} ty_flat;

/* A table is the place of its first byte; 0 is none. Fields are numbered from 0. */
size_t ty_flat_root(ty_flat *flat);
/* A signed integer of 1, 2, 4 or 8 bytes, or `missing` where the table does not have it. */
int64_t ty_flat_integer(ty_flat *flat, size_t table, unsigned field, size_t bytes, int64_t missing);
/* A field that is a table, or 0. */
size_t ty_flat_table(ty_flat *flat, size_t table, unsigned field);
/* A field that is a list: its `count` elements of `bytes` bytes each, or NULL. */
const unsigned char *ty_flat_list(ty_flat *flat, size_t table, unsigned field, size_t bytes,
                                  size_t *count);
/* Element i, a table, of a list of tables; its elements have 4 bytes. */
size_t ty_flat_list_table(ty_flat *flat, const unsigned char *list, size_t i);

#endif
