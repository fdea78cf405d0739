/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over samples behind order statistics: order_loops.c, compiled once for each instruction
 * set. */
#ifndef TY_ORDER_LOOPS_H
#define TY_ORDER_LOOPS_H

#include <stddef.h>
#include <tally/tally.h>

/* Most samples of a call of `load`, most keys of a call of `scan`. */
#define TY_ORDER_BLOCK 1024
/* `scan` may write so many keys past those that it keeps. */
#define TY_ORDER_SLACK 16

/* Bytes that `select` works in, or none. */
#define TY_ORDER_SCRATCH (65536 * 5)

/* Keys lo <= hi, and how many keys are below lo, up to lo, strictly between, and up to hi. Those
 * strictly between are kept. */
typedef struct ty_order_bracket {
    int64_t lo, hi;
    uint64_t below_lo, to_lo, inside, to_hi;
} ty_order_bracket;

/*
 * Keys are signed integers that order as the samples do, int32_t for samples of up to 4 bytes, else
 * int64_t (`wide`). NaN are all the largest key, which no number has.
 */
typedef struct ty_order_loops {
    /* Returns the number of NaN. */
    size_t (*load)(tally_dtype dtype, const void *samples, size_t count, void *keys);
    /* Keys whose mask is nonzero to the front; returns how many. */
    size_t (*pick)(int wide, void *keys, const unsigned char *mask, size_t count);
    /* Adds to the brackets' numbers, keeps keys at `to`, and returns how many. */
    size_t (*scan)(int wide, const void *keys, size_t count, ty_order_bracket *brackets,
                   unsigned bracket_count, void *to);
    /* The keys of `ranks`, which ascend; those of `keys` are moved about. With `scratch`, which
     * pays for many ranks of many keys, fewer than 2^32 keys. */
    void (*select)(int wide, void *keys, size_t count, const uint64_t *ranks, unsigned rank_count,
                   int64_t *found, void *scratch);
} ty_order_loops;

/* The last two are there on x86-64. */
extern const ty_order_loops ty_order_base, ty_order_avx2, ty_order_avx512;

/* The fastest that this processor runs. */
const ty_order_loops *ty_order_loops_get(void);

#endif
