/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order statistics of samples that come block by block, in as many passes over them as it takes.
 * The first pass keeps the samples' keys (cpu/order.h) while they fit into the memory that is
 * given, and then one pass is all. Else it counts them by their upper bits. A rank is then known to
 * be among the keys of one cell of that table: the next pass keeps those, or where they do not fit
 * counts them by the bits that follow, and so on.
 */
#ifndef TY_SELECT_H
#define TY_SELECT_H

#include <stdatomic.h>

#include "core/gather.h"

typedef struct ty_select {
    ty_gather gather;
    int phase;             /* what the pass does: see select.c */
    uint64_t memory;       /* bytes of keys that are kept; as much again is for tables */
    atomic_ullong offered; /* keys of the first pass */
    unsigned shift, cells; /* of the tables: bits below a cell; how many */
    uint64_t **tables;     /* a worker's: for each bracket its cells; NULL until it counts */
    uint64_t count, nan;   /* of the first pass */
    unsigned ranks, open;  /* wanted; not yet found */
    uint64_t *rank;        /* in order */
    int64_t *key;          /* of each, when it is found */
    unsigned *opened;      /* which are open, in order */
} ty_select;

/* Ready for the first pass, by so many workers. On failure nothing is owned. */
tally_status ty_select_start(ty_select *select, tally_dtype dtype, unsigned workers,
                             uint64_t memory, tally_error *error);
void ty_select_clear(ty_select *select);

/* One pass is any number of calls that together offer every sample once, in any order: at most
 * TY_ORDER_BLOCK packed samples, of any alignment, that count where `mask`, unless NULL, is not
 * zero. Threads at once are different workers. */
void ty_select_add(ty_select *select, unsigned worker, const void *samples,
                   const unsigned char *mask, size_t count);

/* After each pass, once: adds up what the workers found. */
tally_status ty_select_end(ty_select *select, tally_error *error);
/* After the end of the first pass: which samples are wanted, as ranks from 0 that ascend, all below
 * `count` less `nan`. Again: instead of those before, where no pass has been begun since. */
tally_status ty_select_want(ty_select *select, const uint64_t *ranks, unsigned count,
                            tally_error *error);
/* Then, and after the end of each further pass: *more says whether another is needed. */
tally_status ty_select_next(ty_select *select, int *more, tally_error *error);

#endif
