/* SPDX-License-Identifier: Apache-2.0 */
/* What the bin rules share. */
#ifndef TY_RULES_H
#define TY_RULES_H

#include <tally/tally.h>

#include "core/sample_reader.h"

/*
 * NumPy's arithmetic is in the data's type where both operands have it: its f16 and f32 results are
 * rounded after each operation. This rounds one float64 result likewise (to f32 for bf16, which
 * NumPy has not); a value beyond the type's range stays as it is, where NumPy would fail.
 */
double ty_rule_round(tally_dtype dtype, double x);

/* Most candidates that Stone's rule tries: NumPy's limit up to 2^24 samples. */
#define TY_STONE_CANDIDATES 4096

typedef struct ty_stone {
    ty_sample_reader *reader; /* its range is lo … hi, if it filters */
    double lo, hi;            /* of every candidate's edges */
    double span;              /* of the samples, above 0 */
    int by_range;             /* lo and hi are the caller's, thus float64 in NumPy */
    uint64_t samples;
} ty_stone;

/* The number of bins with the least estimated error; reads the samples up to four times. */
tally_status ty_stone_bins(const ty_stone *stone, uint64_t *bins, tally_error *error);

#endif
