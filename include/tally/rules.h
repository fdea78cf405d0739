/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges and bin rules: what a pass over samples tells of them, and the axis that a rule of NumPy's
 * chooses. Part of libtally; samples in host memory or with a source.
 */
#ifndef TALLY_RULES_H
#define TALLY_RULES_H

#include <tally/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One pass over a channel's samples: what a range and most bin rules need. Starts cleared; adds
 * up over chunks with tally_stats_merge. Sums are of finite samples in float64. */
typedef struct tally_stats {
    size_t struct_size;
    uint64_t samples; /* all, masked ones not */
    uint64_t finite;
    uint64_t nan, minus_inf, plus_inf;
    double min, max; /* of the finite samples, rounded to float64; 0 if there are none */
    int64_t min_integer, max_integer; /* exact for integer dtypes; u64: the bits of the value */
    double mean, m2, m3;              /* mean, Σ(x-mean)², Σ(x-mean)³ */
} tally_stats;

#define TALLY_STATS_INIT                                                                           \
    {                                                                                              \
        sizeof(tally_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                    \
    }

#define TALLY_ALL_CHANNELS UINT64_MAX

/* Reads `view` once (all batches and rows of channel `channel`, or with TALLY_ALL_CHANNELS of all
 * of them together), adding to `stats`, in a fixed order: the same view gives the same bits. `mask`
 * may be NULL. `moments` 0 leaves mean, m2, m3 alone. `context` NULL: on the calling thread alone.
 */
TALLY_API tally_status tally_stats_add(tally_context *context, const tally_view *view,
                                       const tally_view *mask, uint64_t channel, int moments,
                                       tally_stats *stats, tally_error *error);
/* Adds `from` to `into`; nothing if either is NULL. */
TALLY_API void tally_stats_merge(tally_stats *into, const tally_stats *from, tally_dtype dtype);

typedef enum tally_rule {
    TALLY_RULE_AUTO = 0,
    TALLY_RULE_FD = 1,
    TALLY_RULE_DOANE = 2,
    TALLY_RULE_SCOTT = 3,
    TALLY_RULE_STONE = 4,
    TALLY_RULE_RICE = 5,
    TALLY_RULE_STURGES = 6,
    TALLY_RULE_SQRT = 7
} tally_rule;

/* -1 when `name` is no rule's. */
TALLY_API int tally_rule_parse(const char *name);

/* No rule chooses more bins than this, whatever the data. */
#define TALLY_RULE_MAX_BINS UINT64_C(1048576)

/* Something that can be read again and again: `read` hands out the next chunk as a view (columns of
 * one channel; valid until the next call) and returns 1, or 0 at the end, or a negative value on
 * failure; `rewind` starts over and returns 0. */
typedef struct tally_chunks {
    int (*read)(void *user, tally_view *view, tally_error *error);
    int (*rewind)(void *user, tally_error *error);
    void *user;
} tally_chunks;

typedef struct tally_rule_options {
    size_t struct_size;
    tally_rule rule;
    /* lo and hi: only samples between them count, and they are the axis' ends. NULL: the smallest
     * and the largest sample, widened by 0.5 each way when equal; 0 … 1 for no finite sample. */
    const double *range;
    int32_t skip_nonfinite; /* leave out infinite samples and NaN when no range is given */
} tally_rule_options;

#define TALLY_RULE_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(tally_rule_options), (tally_rule)0, NULL, 0                                         \
    }

/* The even axis that NumPy's rule chooses: bins, lo and hi. `options` may be NULL. Memory is
 * bounded whatever the data: quantiles are found by counting. Returns TALLY_ERROR_DATA when a
 * sample is infinite or NaN, no range is given and skip_nonfinite is 0, as NumPy does. Reads the
 * chunks up to five times. `context` may be NULL, as for tally_stats_add. */
TALLY_API tally_status tally_rule_bins(tally_context *context, tally_chunks chunks,
                                       tally_dtype dtype, const tally_rule_options *options,
                                       tally_axis *axis, tally_error *error);

#ifdef __cplusplus
}
#endif

#endif
