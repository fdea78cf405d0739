/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over samples for their order statistics: workers turn blocks of them into keys
 * (cpu/order.h), count how many lie below and inside brackets of keys, and keep those inside, or
 * all. What all workers found together then settles ranks.
 */
#ifndef TY_GATHER_H
#define TY_GATHER_H

#include "cpu/order.h"

/* What a worker has found; of one thread at a time. */
typedef struct ty_gather_worker {
    void *keys; /* kept */
    size_t count, capacity;
    ty_order_bracket *brackets;
    uint64_t samples, nan; /* that count */
    int failed;            /* no memory */
} ty_gather_worker;

typedef struct ty_gather {
    const ty_order_loops *loops;
    tally_dtype dtype;
    int wide; /* keys of 8 bytes, else of 4 */
    unsigned bracket_count;
    ty_gather_worker *workers;
    unsigned worker_count;
} ty_gather;

/* On failure nothing is owned. */
tally_status ty_gather_make(ty_gather *gather, tally_dtype dtype, unsigned workers,
                            tally_error *error);
void ty_gather_free(ty_gather *gather);

/* Empties the workers for another pass, with brackets in order and apart, or none. */
tally_status ty_gather_begin(ty_gather *gather, const ty_order_bracket *brackets, unsigned count,
                             tally_error *error);

/* Keys of at most TY_ORDER_BLOCK packed samples whose byte of `mask`, NULL for all, is not zero;
 * returns how many, and adds NaN among them to *nan. */
size_t ty_gather_load(const ty_gather *gather, const void *samples, const unsigned char *mask,
                      size_t count, void *keys, uint64_t *nan);

/* Keeps so many keys, at most TY_ORDER_BLOCK; or counts them by the worker's brackets and keeps
 * those inside. */
void ty_gather_keep(const ty_gather *gather, ty_gather_worker *worker, const void *keys,
                    size_t count);
void ty_gather_scan(const ty_gather *gather, ty_gather_worker *worker, const void *keys,
                    size_t count);

/* After a pass: adds up what the workers counted and kept in the first of them. */
tally_status ty_gather_join(ty_gather *gather, tally_error *error);
/* The bracket that has rank r, from *b on, which is moved to it; none: NULL. */
const ty_order_bracket *ty_gather_find(const ty_gather *gather, unsigned *b, uint64_t r);
/* The keys of `ranks`, which ascend, among all that were kept; these are moved about. */
void ty_gather_select(const ty_gather *gather, const uint64_t *ranks, unsigned count,
                      int64_t *keys);
/* Keys of `ranks`, which ascend, by what was counted and kept. `among` and `places` have space for
 * as many. 0: a rank is in no bracket. */
int ty_gather_resolve(const ty_gather *gather, const uint64_t *ranks, unsigned count,
                      uint64_t *among, int64_t *places, int64_t *keys);

#endif
