/* SPDX-License-Identifier: Apache-2.0 */
/* Results that have statistics of values in their bins. */
#ifndef TY_PROFILE_H
#define TY_PROFILE_H

#include "io/result.h"

enum { TY_STATISTICS = 8, TY_STATISTICS_ALL = 255, TY_PROFILE_FIELDS = 5 };

/* What is kept of every cell beside its count: in this order "sum", "mean", "m2", "min", "max". */
extern const char *const ty_profile_fields[TY_PROFILE_FIELDS];
/* Field f of histogram h's bins, or, with `flows`, of its flows. */
double *ty_profile_field(const tally_result *r, int f, uint64_t h, int flows);

/* Of one cell or of several together; sum 0, all else NaN, where there is no value. */
typedef struct ty_moments {
    uint64_t count;
    double sum, mean, m2, min, max;
} ty_moments;

/* Of bins first … end-1 of histogram h, or of one of its flows. */
ty_moments ty_profile_moments(const tally_result *r, uint64_t h, uint64_t first, uint64_t end);
ty_moments ty_profile_flow(const tally_result *r, uint64_t h, int flow);

/* Statistic i is bit i of tally_statistic. NaN where it is not known: there are too few values, or
 * it is a sum or a variance of `times`. */
const char *ty_statistic_name(int i);
double ty_statistic_of(const ty_moments *moments, int i, tally_time times);
/* Whether it is a length of time, where values are times. */
int ty_statistic_is_length(int i);

/* For result.c: makes `r` the profile that `shape` says, all but empty. */
tally_status ty_profile_own(const ty_result_shape *shape, tally_result *r, tally_error *error);
/* For merging: TALLY_ERROR_ARGUMENT if they are no profiles of the same columns; adds all bins. */
tally_status ty_profile_check_same(const tally_result *into, const tally_result *from,
                                   tally_error *error);
void ty_profile_merge(tally_result *into, const tally_result *from);
/* Adds a bin of one result to one of another: `cell` is histogram × bins + bin. */
void ty_profile_add_cell(tally_result *into, uint64_t to, const tally_result *from, uint64_t cell);

#endif
