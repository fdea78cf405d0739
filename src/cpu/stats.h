/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over packed samples behind tally_stats_add: stats_loops.c, compiled once for each
 * instruction set. */
#ifndef TY_STATS_H
#define TY_STATS_H

#include <stddef.h>
#include <tally/tally.h>

/* Most samples of one call of `decode` and `moments`. */
#define TY_STATS_BLOCK 2048

/* `samples` may have any alignment; 1 <= count. */
typedef struct ty_stats_loops {
    /* Sets every field of `stats` but struct_size and the moments. An extreme of zero is +0. */
    void (*extremes)(tally_dtype dtype, const void *samples, size_t count, tally_stats *stats);
    /* Samples as float64: exactly, but for 64-bit integers, which are rounded to nearest. */
    void (*decode)(tally_dtype dtype, const void *samples, size_t count, double *values);
    /* Sets mean, m2 and m3. The sums' order is fixed: every instruction set gives the same bits. */
    void (*moments)(const double *values, size_t count, tally_stats *stats);
} ty_stats_loops;

/* The last two are there on x86-64. */
extern const ty_stats_loops ty_stats_base, ty_stats_avx2, ty_stats_avx512;

/* The fastest that this processor runs. */
const ty_stats_loops *ty_stats_loops_get(void);

#endif
