/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics. Few samples are kept and sorted so far as is needed. More are counted: passes
 * over the samples, each settling 16 more bits of the wanted samples' keys. Memory: at most four
 * tables of 65536 counters a thread, of at most TY_SELECT_THREADS. */
#ifndef TY_SELECT_H
#define TY_SELECT_H

#include <stddef.h>
#include <tally/tally.h>

#include "cpu/threads.h"

#define TY_SELECT_RANKS   4
#define TY_SELECT_THREADS 16
#define TY_SELECT_FEW     16384 /* samples that are kept: their keys take 128 KiB */

/*
 * Keys are the samples' bits mapped so that they order as the samples do, as unsigned integers; NaN
 * lie beyond the infinities. Differences of integers' keys are the integers' differences.
 */
typedef struct ty_select {
    tally_dtype dtype;
    unsigned width, digit, shift; /* bits: of a key, of a digit, below the digit being counted */
    unsigned ranks, groups;
    uint64_t rank[TY_SELECT_RANKS];   /* among the keys that share the prefix */
    uint64_t prefix[TY_SELECT_RANKS]; /* bits settled so far; at the end the keys */
    unsigned group[TY_SELECT_RANKS];  /* of each rank: which of the distinct prefixes */
    uint64_t head[TY_SELECT_RANKS];   /* the distinct prefixes */
    uint64_t *few;                    /* keys of the samples so far, owned; NULL: counted */
    size_t few_count;
    uint64_t *counts; /* threads × groups × 2^digit, owned; NULL while samples are few */
    unsigned threads; /* tables; the first is the sum once a pass is over */
    ty_pool *pool;    /* NULL: the caller's thread alone; to be set after the start */
} ty_select;

/* Ready for the first pass. On failure nothing is owned. */
tally_status ty_select_start(ty_select *select, tally_dtype dtype, tally_error *error);
void ty_select_clear(ty_select *select);

/* One pass is any number of calls that together offer every sample once, in any order. Samples are
 * packed, of any alignment. */
tally_status ty_select_count(ty_select *select, const void *samples, size_t count,
                             tally_error *error);

/* After the first pass: which samples are wanted, as ranks from 0 in any order, all below the
 * number of samples. */
void ty_select_want(ty_select *select, const uint64_t *ranks, unsigned count);

/* After each pass but before the next: *more says whether another is needed. */
tally_status ty_select_next(ty_select *select, int *more, tally_error *error);

/* When no pass is needed: wanted sample i's key, and a key's sample rounded to float64. */
uint64_t ty_select_key(const ty_select *select, unsigned i);
double ty_select_value(const ty_select *select, uint64_t key);

#endif
