/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of each bin: of values that go with the samples, by the bins of a plan. Part of
 * libtally.
 */
#ifndef TALLY_STATISTICS_H
#define TALLY_STATISTICS_H

#include <tally/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most columns of values in one call. */
#define TALLY_MAX_VALUES 8

/*
 * Where statistics go: arrays of the caller, NULL for those that are not wanted. With w the weights
 * (1 where there are none), v the values:
 *
 *   count           number of values
 *   weight          Σw
 *   weight_squares  Σw²
 *   sum             Σwv
 *   mean            Σwv / Σw
 *   m2              Σw(v - mean)², so m2/count is the variance, and m2/(count - 1) the unbiased one
 *   min, max        an extreme that is zero is +0
 *
 * Where there is no value counts and sums are 0, and mean, m2, min and max NaN.
 */
typedef struct tally_statistics {
    size_t struct_size;
    uint64_t *count;
    double *weight, *weight_squares;
    double *sum, *mean, *m2;
    double *min, *max;
} tally_statistics;

#define TALLY_STATISTICS_INIT                                                                      \
    {                                                                                              \
        sizeof(tally_statistics), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL                   \
    }

typedef struct tally_statistics_options {
    size_t struct_size;
    /* batches × rows × columns of u8, as in tally_execute_options. NULL: all. */
    const tally_view *mask;
    /* Weights of any dtype, extents as the values'. NULL: every weight is 1. */
    const tally_view *weights;
    /* NULL, or for each column of values no less than any |value|: then what is added up are whole
     * numbers (see tally_bin_statistics). Without weights. */
    const double *limits;
    int32_t skip_nan; /* nonzero: values that are NaN are left out, of `count` too */
    int (*progress)(void *user, uint64_t done, uint64_t total); /* as in tally_execute_options */
    void *user;
    /* On a device, as in tally_execute_options: what is done waits for the caller's stream. */
    void *stream;
    int32_t on_device; /* nonzero: the arrays are in device memory (see tally_bin_statistics) */
} tally_statistics_options;

#define TALLY_STATISTICS_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(tally_statistics_options), NULL, NULL, NULL, 0, NULL, NULL, NULL, 0                 \
    }

/*
 * For every bin of `plan`, statistics of the values whose samples are in it. `views`: the samples,
 * as for tally_execute. `values`: values_count views, 1 … TALLY_MAX_VALUES, of any dtypes, each
 * batches × rows × columns (× channels, or 1 for all channels), extents of 1 repeated along the
 * samples'. They lie where the samples do, or all of the call's views have a source. `options` may
 * be NULL.
 *
 * With H = batches × active channels histograms, the batch outermost, arrays of `bins` have
 * values_count × H × bins elements, those of `flows`, which may be NULL, values_count × H × 4: of
 * the samples in no bin, in the order of tally_flows. Both are overwritten.
 *
 * A NaN among the values of a bin makes its sum, mean, m2, min and max NaN, unless skip_nan.
 * Infinite values add up as float64 do: m2 of such a bin is NaN.
 *
 * Sums are of float64 (64-bit integers are rounded to it), in an order that depends on the views'
 * extents and the plan alone: the same bits with any number of threads. They are taken about one of
 * the bin's own values, so that nothing cancels: with n values that span a range of R, the mean is
 * off by at most n × 2^-52 × R and 2^-52 of itself, m2 by n × 2^-50 × n × R²; the usual error is
 * smaller by the square root of n. Where m2 is not asked for and there are no weights, sums are
 * plain: off by at most n × 2^-53 × Σ|v|.
 *
 * With `limits` each value is first rounded to a multiple of 2^-50 of the smallest power of two
 * above its limit (ties to even), which leaves float32 from 2^-26 of the limit as they are. What
 * follows is exact until sum, mean and m2 are rounded, each to 2^-50 of itself: the same bits
 * whatever the order of the samples. It is slower. A value of that power of two or more, or NaN
 * without skip_nan, masked or not, is TALLY_ERROR_DATA. Limits from 1e-250 to 1e150.
 *
 * On a device the samples lie in its memory, there are no weights, and sums are always those of
 * `limits`. Where the caller gives none, these are the largest finite |value| of a column, which a
 * pass of its own finds, or of integers of up to 32 bits above all that the type holds; infinite
 * and NaN values count as said above. Minima and maxima of 64-bit values need 64-bit atomics there.
 *
 * With `on_device` arrays are in the device's memory: under CUDA pointers, under OpenCL memory
 * objects. If there is a stream, the call returns before they are written, waits for nothing, and
 * may be recorded in a graph. What would have been refused then shows in them: where a value was
 * beyond its limit, sums, means and m2 of its column are NaN; plans with TALLY_FLOW_FAIL are
 * TALLY_ERROR_UNSUPPORTED.
 *
 * The plan is on the processor or on one device, has u64 counters and no weight_dtype; else
 * TALLY_ERROR_UNSUPPORTED or TALLY_ERROR_ARGUMENT. Policies of its axes hold: clamped samples
 * belong to the end bins, and TALLY_FLOW_FAIL is TALLY_ERROR_DATA. On failure the outputs are as
 * they were. Thread-safe.
 */
TALLY_API tally_status tally_bin_statistics(const tally_plan *plan, const tally_view *views,
                                            const tally_view *values, uint32_t values_count,
                                            const tally_statistics_options *options,
                                            const tally_statistics *bins,
                                            const tally_statistics *flows, tally_error *error);

/* Adds `n` cells of `from` to those of `into`, as if all values had been in one call; but a cell
 * whose weights add up to 0 has no mean, and adds nothing to mean and m2. Both have the same
 * arrays: count, `weight` if there were weights, mean if m2 is there. TALLY_ERROR_ARGUMENT
 * otherwise, and for a NULL. Thread-safe for different `into`. */
TALLY_API tally_status tally_statistics_merge(const tally_statistics *into,
                                              const tally_statistics *from, uint64_t n,
                                              tally_error *error);

#ifdef __cplusplus
}
#endif

#endif
