/* SPDX-License-Identifier: Apache-2.0 */
/* A column in dictionaries: how often each of their values is there. */
#ifndef TY_CODES_H
#define TY_CODES_H

#include <stddef.h>
#include <stdint.h>
#include <tally/tally.h>

/* Of a part of a column: a row group, a batch. `counts` and `memory` are released by ty_free. */
typedef struct ty_codes {
    tally_dtype dtype;
    const unsigned char *values; /* `count` of them */
    void *memory;                /* that they are in, if they go with the part; else NULL */
    uint64_t *counts;
    size_t room;         /* numbers that are counted, `count` or more */
    size_t count, turns; /* tables of `counts`, folded into the first by ty_codes_end */
    uint64_t missing;
} ty_codes;

/* Tables for `count` values in `rows` rows; 0: there is nothing to win, or memory is out. */
int ty_codes_begin(ty_codes *codes, size_t count, uint64_t rows);
/* Numbers below `room`. */
void ty_codes_add(ty_codes *codes, const uint32_t *numbers, size_t n);
/* 0: there was a number that no value has. */
int ty_codes_end(ty_codes *codes);

#endif
