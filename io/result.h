/* SPDX-License-Identifier: Apache-2.0 */
/* What is inside a tally_result, for the code that fills, merges, writes, reads and draws it. */
#ifndef TY_RESULT_H
#define TY_RESULT_H

#include <tally/io.h>

#include "io/labels.h"

struct tally_result {
    uint32_t dimensions;
    /* `edges` (bins+1, of EDGES and LOG) and, for CATEGORY, `categories` (256) point into the
     * result's own memory; edges of other kinds are computed (tally_axis_edge). lo and hi are the
     * first and last edge for every kind; INTEGER and CATEGORY are TALLY_LAST_OPEN. */
    tally_axis axes[TALLY_MAX_DIMENSIONS];
    tally_result_kind kind;
    tally_counter counter;
    tally_dtype dtype;
    uint64_t histograms;
    uint64_t bins;  /* of one histogram */
    uint64_t noted; /* samples as the caller said; what counts once they are narrowed or sums */
    double seconds; /* 0 unknown */
    char *device;   /* "" unknown */
    char *method;   /* "" unknown */
    /* The first different ones of sources_total. */
    char *sources[TALLY_MAX_SOURCES];
    uint32_t sources_count;
    uint64_t sources_total;
    char **names;                            /* histograms of them, never NULL */
    ty_labels *labels[TALLY_MAX_DIMENSIONS]; /* a label for each bin of an axis whose bins are words
                                                (INTEGER from 0); else NULL */
    tally_time times[TALLY_MAX_DIMENSIONS];  /* of axes of times their unit */
    /* Of tally_result_by, else NULL: the columns, of groups and of samples; and how many groups the
     * last histogram stands for together, 0: each has its own. Then they are counts, no profile. */
    char *by;
    uint64_t others;
    void *counts;       /* histograms × bins of uint64_t, double or int64_t by `kind` */
    double *squares;    /* histograms × bins, or NULL */
    tally_flows *flows; /* histograms of them */
    void *flow_sums;    /* histograms × 4 sums of weights, as `counts`; NULL: counts, or unknown */
    /* Of a profile, else NULL: what is binned; five arrays of histograms × bins, as
     * ty_profile_cells has them, five of histograms × 4; and what values count, if they are times.
     */
    char *column;
    double *statistics, *flow_statistics;
    tally_time value_times[TALLY_MAX_VALUES];
    /* Exact quantiles that were found beside the counts: at q[0 … quantiles), then histograms × as
     * many values, in one block; NULL: none. */
    double *q;
    uint32_t quantiles;
    /* Of a plan with weight_limit, else 0 and NULL: the sums as they are added up, histograms ×
     * bins and × 4. `counts` and `flow_sums` are what ty_result_settle has rounded last. */
    double weight_limit;
    tally_wide *wide, *wide_flows;
    /* Of one that Python's Hist saved: "means" (with categories or without) or "categories", which
     * counts leave out, so that it is not added, nor saved without its means; else NULL. */
    const char *only_python;
};

typedef struct ty_result_shape {
    uint32_t dimensions;
    const tally_axis *axes; /* valid; of LOG edges are computed where they are NULL */
    tally_result_kind kind;
    int squares, flow_sums;
    double weight_limit; /* 0: none; then with flow_sums */
    tally_dtype dtype;
    uint64_t histograms;
    /* May be NULL or have NULL entries: "" for the only histogram, else its number from 0. */
    const char *const *names;
    ty_labels *labels[TALLY_MAX_DIMENSIONS]; /* as in tally_result, which shares them */
    tally_time times[TALLY_MAX_DIMENSIONS];
    const char *by; /* as in tally_result */
    uint64_t others;
    /* A profile's, of one axis and at most TALLY_MAX_VALUES histograms of counts; else NULL. */
    const char *column;
    tally_time value_times[TALLY_MAX_VALUES];
} ty_result_shape;

/* An all-zero result that owns copies of everything else in `shape`. */
tally_status ty_result_create(const ty_result_shape *shape, tally_result **result,
                              tally_error *error);

/* result_fold.c: a new result in which bin i of an axis adds to bin to[i] of as many as there are
 * labels, on an integer axis from 0. */
tally_status ty_result_move_bins(const tally_result *result, uint32_t axis, const uint64_t *to,
                                 ty_labels *labels, tally_result **moved, tally_error *error);

/* result_words.c: whether the labels of an axis are the same in both, or can be made so; an error
 * if not. Then both with the labels of either, and bins sorted again. */
tally_status ty_result_check_labels(const tally_result *a, const tally_result *b, uint32_t axis,
                                    int *same, tally_error *error);
tally_status ty_result_unite(const tally_result *a, const tally_result *b, uint32_t axis,
                             tally_result **new_a, tally_result **new_b, tally_error *error);
tally_status ty_result_sort_labels(const tally_result *result, uint32_t axis, tally_result **sorted,
                                   tally_error *error);

/* result_groups.c, of two with `by`: whether they have the same groups in the same order; an error
 * if they cannot be made so. Then both with the groups of either, the most samples first. */
tally_status ty_result_check_groups(const tally_result *a, const tally_result *b, int *same,
                                    tally_error *error);
tally_status ty_result_unite_groups(const tally_result *a, const tally_result *b,
                                    tally_result **new_a, tally_result **new_b, tally_error *error);

/* Rounds wide sums anew, which may have been added to. Whoever is asked what a result holds calls
 * it. */
void ty_result_settle(const tally_result *result);

/* Memory, zeroed and aligned for vector code; ty_free. */
void *ty_result_zeroes(uint64_t count, size_t size);

/* result_quantiles.c: the exact median of histogram h; 0: it is not known. */
int ty_result_median(const tally_result *result, uint64_t h, double *median);

/* a + b, or 2^64-1 when that is more. */
uint64_t ty_add_sticky(uint64_t a, uint64_t b);

/* Adds what `from` notes (sources, device, method, seconds, samples) to `into`; on failure nothing.
 */
tally_status ty_result_add_notes(tally_result *into, const tally_result *from, tally_error *error);

/* Whether a source of this name would be kept: it is another than those that are, and they are not
 * too many. */
int ty_result_source_is_new(const tally_result *result, const char *name);

/* Σ over histograms of bins and flows for exact counts, else, and of profiles, what was noted;
 * 2^64-1 when it would pass that. */
uint64_t ty_result_samples(const tally_result *result);

/* A count, or sum, as float64: for shares and drawing, not for saving. */
double ty_result_value(const tally_result *result, uint64_t h, uint64_t bin);

double ty_bin_width(const tally_axis *axis, uint64_t bin);

/* Of the samples in no bin, by flow: 0 below, 1 above, 2 NaN, 3 masked. How many they are, and what
 * they would add to a bin: as many, or the sum of their weights, NaN where that is unknown. */
uint64_t ty_result_flow_count(const tally_result *result, uint64_t h, int flow);
double ty_result_flow(const tally_result *result, uint64_t h, int flow);

/* The largest count that `counter` holds. */
uint64_t ty_counter_limit(tally_counter counter);
int ty_counter_saturates(tally_counter counter);

/* The names used in files and messages: "even" …, "count" …, "u64" …; NULL for none. */
const char *ty_axis_kind_name(tally_axis_kind kind);
const char *ty_flow_name(tally_flow flow);
const char *ty_counter_name(tally_counter counter);

#endif
