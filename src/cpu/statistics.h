/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of values by the slots of their samples: the tables that are added to, and the loops
 * in statistics_loops.c, compiled once for each instruction set. */
#ifndef TY_STATISTICS_H
#define TY_STATISTICS_H

#include "plan/plan.h"

/* What a table has for each slot. In each, n is a number of values. */
typedef enum ty_statistics_kind {
    TY_STATISTICS_NONE,     /* only extremes */
    TY_STATISTICS_SUMS,     /* n, Σv */
    TY_STATISTICS_MOMENTS,  /* n, Σd, Σd², k: d = v - k, k the first, or -0; 0: none yet */
    TY_STATISTICS_WEIGHTED, /* Σw, Σwd, Σwd², k, Σw², n, and two that stay 0 */
    TY_STATISTICS_EXACT     /* a ty_exact: with limits, and on a device */
} ty_statistics_kind;

enum { TY_SUMS_FIELDS = 2, TY_MOMENTS_FIELDS = 4, TY_WEIGHTED_FIELDS = 8, TY_EXTREMES_FIELDS = 2 };

/* A slot may have four entries, for samples taken in turn. Behind those of moments is their k,
 * which then no sample's store touches. */
enum {
    TY_SUMS_GROUP = 4 * TY_SUMS_FIELDS,
    TY_GROUP_ABOUT = 4 * TY_MOMENTS_FIELDS,
    TY_MOMENTS_GROUP = 5 * TY_MOMENTS_FIELDS,
    TY_WEIGHTED_GROUP = 4 * TY_WEIGHTED_FIELDS,
    TY_EXTREMES_GROUP = 4 * TY_EXTREMES_FIELDS
};

__extension__ typedef unsigned __int128 ty_u128;

/* Values q as whole numbers that are not negative, below 2^52: squares is without its carries. */
typedef struct ty_exact {
    ty_u128 sum, squares;
    uint64_t carries, n;
} ty_exact;

/* Values are whole multiples q - TY_EXACT_ZERO of 2^(exponent - TY_EXACT_BITS). */
#define TY_EXACT_BITS 50
#define TY_EXACT_ZERO (UINT64_C(1) << 51)

/* Of one call; a worker's state is `values` tables for each active channel, and of extremes as many
 * again behind them. */
typedef struct ty_statistics {
    ty_grid values[TALLY_MAX_VALUES];
    uint32_t count; /* of values */
    ty_statistics_kind kind;
    int extremes, skip_nan;
    int limited;                     /* values have limits */
    uint32_t sums;                   /* on a device: 0; 1: of values; 2: of their squares too */
    int exponents[TALLY_MAX_VALUES]; /* TY_STATISTICS_EXACT: values are below 2^exponent */
    uint64_t entries;                /* of a table: the plan's slots, and one for what is skipped */
    int grouped;                     /* a slot has four of them */
    /* The totals: count × histograms × entries, one each; of the kind's fields. Commit clears them.
     */
    void *totals;
    double *extreme_totals; /* pairs: -min, max; or NULL */
    /* On a device: where statistics go if they stay there, else NULL. */
    const tally_statistics *bins, *flows;
    unsigned char *odds; /* of a device: what was met, 1 inf, 2 -inf, 4 NaN; else NULL */
} ty_statistics;

/* Bytes of a kind's fields. */
size_t ty_statistics_bytes(ty_statistics_kind kind);

/* Chooses the tables' layout, when all but that and the totals is set. */
void ty_statistics_lay_out(ty_statistics *s, const tally_plan *plan);

/* Adds the values of `from` to `into`. */
void ty_statistics_add(ty_statistics_kind kind, void *into, const void *from);
void ty_extremes_add(double *into, const double *from);

/* An address that is read later, and asked for while samples are added: `each` further on for each.
 */
typedef struct ty_ahead {
    uintptr_t at, each; /* they wrap where a view runs backwards */
} ty_ahead;

/* `slots` are of n samples, each with a value, which go to their slots' entries, the four of a
 * group in turn where group_size, in doubles, is not 0. `large`: the table is in no near cache.
 * Every instruction set gives the same bits. */
typedef struct ty_statistics_loops {
    void (*sums)(double *table, size_t group_size, int large, const uint32_t *slots,
                 const double *values, size_t n);
    /* `fresh`: whether many samples are expected to be the first of their slots; it is learned. */
    void (*moments)(double *table, size_t group_size, int large, int *fresh,
                    const ty_ahead ahead[2], const uint32_t *slots, const double *values, size_t n);
    void (*weighted)(double *table, size_t group_size, int large, const uint32_t *slots,
                     const double *values, const double *weights, size_t n);
    /* Values that are NaN change nothing; a NaN in the table stays. */
    void (*extremes)(double *table, size_t group_size, int large, const uint32_t *slots,
                     const double *values, size_t n);
    int (*any_nan)(const double *values, size_t n);
} ty_statistics_loops;

/* The last two are there on x86-64. */
extern const ty_statistics_loops ty_statistics_base, ty_statistics_avx2, ty_statistics_avx512;

/* The fastest that this processor runs. */
const ty_statistics_loops *ty_statistics_loops_get(void);

#endif
