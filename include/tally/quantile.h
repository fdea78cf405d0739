/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact quantiles: samples by their rank, found without sorting. Part of libtally; samples in host
 * memory, or with a source, are counted on the processor, samples on a device there.
 */
#ifndef TALLY_QUANTILE_H
#define TALLY_QUANTILE_H

#include <tally/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where quantile q lies among n samples in order, x[0] … x[n-1], and what is between two of them:
 * the methods of NumPy's `quantile`, of the same names there (Hyndman and Fan 1996, 1 to 9). */
typedef enum tally_quantile_method {
    TALLY_QUANTILE_LINEAR = 0, /* 7: at q*(n-1), between its neighbours in proportion */
    TALLY_QUANTILE_LOWER = 1,  /* the sample at q*(n-1) or the one before */
    TALLY_QUANTILE_HIGHER = 2,
    TALLY_QUANTILE_NEAREST = 3,  /* of halves the even one */
    TALLY_QUANTILE_MIDPOINT = 4, /* the mean of lower and higher */
    TALLY_QUANTILE_INVERTED_CDF = 5,
    TALLY_QUANTILE_AVERAGED_INVERTED_CDF = 6,
    TALLY_QUANTILE_CLOSEST_OBSERVATION = 7,
    TALLY_QUANTILE_INTERPOLATED_INVERTED_CDF = 8,
    TALLY_QUANTILE_HAZEN = 9,
    TALLY_QUANTILE_WEIBULL = 10,
    TALLY_QUANTILE_MEDIAN_UNBIASED = 11,
    TALLY_QUANTILE_NORMAL_UNBIASED = 12
} tally_quantile_method;

/* "linear" … "normal_unbiased", or NULL; and back: -1 when `name` is none. Thread-safe. */
TALLY_API const char *tally_quantile_method_name(tally_quantile_method method);
TALLY_API int tally_quantile_method_parse(const char *name);

typedef struct tally_quantile_options {
    size_t struct_size;
    tally_quantile_method method; /* of tally_quantiles */
    int32_t skip_nan;             /* nonzero: NaN are left out; 0: a group with one has NaN only */
    /* batches × rows × columns of u8, channels 1: a sample counts where it is nonzero. NULL: all.
     * Dimensions of extent 1 are repeated along the samples'. It lies where the samples do. */
    const tally_view *mask;
    void *stream; /* of samples on a device: cudaStream_t or cl_command_queue; NULL: one of ours */
    /* tally_quantiles: `out` is memory of the samples' device, which has float64. On a stream the
     * call then returns before the answer is there, and a CUDA graph can record it. */
    int32_t on_device;
} tally_quantile_options;

#define TALLY_QUANTILE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(tally_quantile_options), (tally_quantile_method)0, 0, NULL, NULL, 0                 \
    }

/*
 * Quantiles q[0] … q[count-1], each from 0 to 1, of each batch and channel of `view`: out has
 * batches × channels × count values, the channels of a batch together. Samples are compared
 * exactly; a quantile that is a sample is that sample rounded to float64, one between two of them
 * is computed from both in float64 as NumPy does. NaN for a group without samples.
 * `context`: of samples on a device a context of that device; else it gives its threads, or is
 * NULL: the calling thread alone. The answer is the same with any. Takes memory where the samples
 * are for a part of them, on the processor in bad cases for all; samples with a source are read as
 * tally_quantile_search does it, in TALLY_QUANTILE_MEMORY, and a mask then has a source, too.
 * TALLY_ERROR_ARGUMENT for a q outside 0 … 1, TALLY_ERROR_MEMORY, what a source returns; then `out`
 * is as it was, unless it is on the device. Thread-safe.
 */
TALLY_API tally_status tally_quantiles(tally_context *context, const tally_view *view,
                                       const double *q, uint32_t count,
                                       const tally_quantile_options *options, double *out,
                                       tally_error *error);

/*
 * The samples themselves: of each batch and channel those of rank ranks[0] … ranks[count-1], in any
 * order, 0 the smallest. `out` has batches × channels × count samples of the view's dtype. NaN come
 * after all numbers, -0.0 before 0.0; skip_nan has no meaning here. `nan`, unless NULL, gets the
 * number of NaN of each batch and channel. TALLY_ERROR_ARGUMENT for a rank that is not below the
 * number of samples; the rest as tally_quantiles.
 */
TALLY_API tally_status tally_order_statistics(tally_context *context, const tally_view *view,
                                              const uint64_t *ranks, uint32_t count,
                                              const tally_quantile_options *options, void *out,
                                              uint64_t *nan, tally_error *error);

/*
 * Quantiles of samples with weights, by the rule of NumPy's `quantile` for them, "inverted_cdf":
 * q[i]'s is the first sample, in order, with which the weights summed up so far are above 0 and,
 * divided by the sum of all in float64, no less than q[i]. `out` has batches × channels × count
 * samples of the view's dtype: NaN for a group with one, unless skip_nan, or without samples.
 * `weights`: integers, f32 or f64, batches × rows × columns × channels, extents of 1 repeated along
 * the samples', where these are: not with a source. Integers are summed as they are. Floats are
 * first rounded to whole units (ties to even, but what is above 0 to at least one): 2^-63 of the
 * smallest power of two above the group's largest. Sums are integers of 128 bits, so the answer has
 * the same bits for any number of threads and on any device, where a batch has less than 2^32
 * samples and the host waits. `options`: mask, skip_nan and stream; `method` means nothing here.
 * TALLY_ERROR_DATA for a weight that counts and is negative, infinite or NaN, for weights that are
 * all 0, and for a group of integers without samples; the rest as tally_quantiles.
 */
TALLY_API tally_status tally_weighted_quantiles(tally_context *context, const tally_view *view,
                                                const tally_view *weights, const double *q,
                                                uint32_t count,
                                                const tally_quantile_options *options, void *out,
                                                tally_error *error);

/* ---- Samples that come in pieces ---- */

/* Memory that a search takes unless it is told otherwise: of the channels together, about. */
#define TALLY_QUANTILE_MEMORY (UINT64_C(256) << 20)

typedef struct tally_quantile_search_options {
    size_t struct_size;
    tally_dtype dtype;
    uint64_t channels;
    uint64_t channel_mask; /* bit c: channel c is looked at; 0: all are */
    tally_quantile_method method;
    int32_t skip_nan;
    uint64_t
        memory_bytes; /* 0: TALLY_QUANTILE_MEMORY; at least 1 MiB a looked at channel is taken */
} tally_quantile_search_options;

#define TALLY_QUANTILE_SEARCH_OPTIONS_INIT                                                         \
    {                                                                                              \
        sizeof(tally_quantile_search_options), (tally_dtype)0, 1, 0, (tally_quantile_method)0, 0,  \
            0                                                                                      \
    }

/*
 * Quantiles of samples that memory need not hold: of files, of a stream that can be read again.
 * They are offered in passes, each of all samples, in pieces of any size and order:
 *
 *     int more = 1;
 *     while (!status && more) {
 *         for (each piece)
 *             status = status ? status : tally_quantile_search_add(search, &view, NULL, &error);
 *         if (!status)
 *             status = tally_quantile_search_next(search, &more, &error);
 *     }
 *     … tally_quantile_search_get(search, out, NULL, NULL, &error);
 *
 * One pass is enough for as many samples as the keys of which fit into a quarter of the memory: 16
 * Mi of up to 4 bytes, 8 Mi of 8 bytes by TALLY_QUANTILE_MEMORY. Two, the first of which counts the
 * upper 16 bits of every sample, are for most data, and 16-bit samples take one again; each further
 * one settles as many bits. One thread at a time; calls use all of the context's.
 */
typedef struct tally_quantile_search tally_quantile_search;

/* `context`: gives its threads and outlives the search; NULL: the calling thread alone. q[0] …
 * q[count-1] are copied. Release with tally_quantile_search_destroy. */
TALLY_API tally_status tally_quantile_search_create(tally_context *context,
                                                    const tally_quantile_search_options *options,
                                                    const double *q, uint32_t count,
                                                    tally_quantile_search **search,
                                                    tally_error *error);
/* NULL is fine. */
TALLY_API void tally_quantile_search_destroy(tally_quantile_search *search);
/* A piece: all batches, rows and columns of `view`, which is in host memory or has a source, where
 * `mask`, unless NULL, is not zero: a view as in tally_quantile_options, or with a source as well.
 * After a failure the search can only be destroyed. */
TALLY_API tally_status tally_quantile_search_add(tally_quantile_search *search,
                                                 const tally_view *view, const tally_view *mask,
                                                 tally_error *error);
/* After a pass: *more is nonzero if there must be another. TALLY_ERROR_DATA where the samples have
 * changed since the pass before. */
TALLY_API tally_status tally_quantile_search_next(tally_quantile_search *search, int *more,
                                                  tally_error *error);
/* When no more is needed. Of each looked at channel its `count` quantiles to `out`, by the rules of
 * tally_quantiles; and, unless NULL, how many samples count and how many of them are NaN. */
TALLY_API tally_status tally_quantile_search_get(const tally_quantile_search *search, double *out,
                                                 uint64_t *samples, uint64_t *nan,
                                                 tally_error *error);

#ifdef __cplusplus
}
#endif

#endif
