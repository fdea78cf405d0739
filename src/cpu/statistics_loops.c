/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values added to tables of statistics (statistics.h). All fields of a slot are next to each other:
 * a sample takes one vector load, addition and store, in one cache line.
 */
#include "cpu/isa.h"
#include "cpu/simd.h"
#include "cpu/statistics.h"

/* Samples between the one that is added and the one whose entry is asked for. */
enum { AHEAD = 24 };

/* `body` for each i below n, `entry` being the sample's; a constant shift and no prefetching where
 * they need not be, so that compilers drop what goes with them. */
#define EACH(fields, body)                                                                         \
    do {                                                                                           \
        size_t i = 0;                                                                              \
        if (large) {                                                                               \
            for (; i + AHEAD < n; i++) {                                                           \
                double *const entry = table + (fields) * (size_t)slots[i];                         \
                __builtin_prefetch(table + (fields) * (size_t)slots[i + AHEAD], 1, 3);             \
                body;                                                                              \
            }                                                                                      \
        }                                                                                          \
        if (shift) {                                                                               \
            for (; i < n; i++) {                                                                   \
                double *const entry = table + (fields) * (((size_t)slots[i] << 2) + (i & 3));      \
                body;                                                                              \
            }                                                                                      \
        } else {                                                                                   \
            for (; i < n; i++) {                                                                   \
                double *const entry = table + (fields) * (size_t)slots[i];                         \
                body;                                                                              \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void sums(double *restrict table, unsigned shift, int large, const uint32_t *restrict slots,
                 const double *restrict values, size_t n)
{
#if defined(__SSE2__)
    const __m128d one = _mm_set1_pd(1);
    EACH(TY_SUMS_FIELDS,
         _mm_store_pd(entry, _mm_add_pd(_mm_load_pd(entry), _mm_loadh_pd(one, &values[i]))));
#else
    EACH(TY_SUMS_FIELDS, (entry[0] += 1, entry[1] += values[i]));
#endif
}

/* What a slot's values are taken about: the first of them, or 0 if that is not finite. */
INLINE double about(double value)
{
    return value - value == 0 ? value : 0;
}

/* Whether a number of values is 0: its bits are compared, in one instruction. */
INLINE int is_zero(const double *n)
{
    uint64_t bits;
    memcpy(&bits, n, sizeof bits);
    return !bits;
}

#if defined(__AVX__)

/* Adds (w, wd, wd², 0). */
INLINE void add_moments(double *entry, double value, __m256d w)
{
    const __m256d one = _mm256_set1_pd(1),
                  d = _mm256_sub_pd(_mm256_set1_pd(value), _mm256_broadcast_sd(&entry[3]));
    const __m256d powers = _mm256_mul_pd(_mm256_blend_pd(one, d, 6), _mm256_blend_pd(one, d, 4));
    const __m256d more = _mm256_blend_pd(_mm256_mul_pd(powers, w), _mm256_setzero_pd(), 8);
    _mm256_store_pd(entry, _mm256_add_pd(_mm256_load_pd(entry), more));
}

#define ADD_MOMENTS(entry, value, weight) add_moments(entry, value, _mm256_set1_pd(weight))

#else

INLINE void add_moments(double *entry, double value, double w)
{
    const double d = value - entry[3];
    entry[0] += w;
    entry[1] += d * w;
    entry[2] += d * d * w;
}

#define ADD_MOMENTS(entry, value, weight) add_moments(entry, value, weight)

#endif

static void moments(double *restrict table, unsigned shift, int large,
                    const uint32_t *restrict slots, const double *restrict values, size_t n)
{
    EACH(TY_MOMENTS_FIELDS, {
        if (__builtin_expect(is_zero(&entry[0]), 0))
            entry[3] = about(values[i]);
        ADD_MOMENTS(entry, values[i], 1);
    });
    simd_leave();
}

static void weighted(double *restrict table, unsigned shift, int large,
                     const uint32_t *restrict slots, const double *restrict values,
                     const double *restrict weights, size_t n)
{
    EACH(TY_WEIGHTED_FIELDS, {
        const double w = weights[i];
        if (__builtin_expect(is_zero(&entry[5]), 0))
            entry[3] = about(values[i]);
        ADD_MOMENTS(entry, values[i], w);
        entry[4] += w * w;
        entry[5] += 1;
    });
    simd_leave();
}

static void extremes(double *restrict table, unsigned shift, int large,
                     const uint32_t *restrict slots, const double *restrict values, size_t n)
{
#if defined(__SSE2__)
    const __m128d minus = _mm_set_pd(0.0, -0.0);
    EACH(TY_EXTREMES_FIELDS, {
        const __m128d both = _mm_xor_pd(_mm_set1_pd(values[i]), minus);
        _mm_store_pd(entry, _mm_max_pd(both, _mm_load_pd(entry)));
    });
#else
    EACH(TY_EXTREMES_FIELDS, {
        entry[0] = -values[i] > entry[0] ? -values[i] : entry[0];
        entry[1] = values[i] > entry[1] ? values[i] : entry[1];
    });
#endif
}

static int any_nan(const double *values, size_t n)
{
    int found = 0;
    for (size_t i = 0; i < n; i++)
        found |= values[i] != values[i];
    return found;
}

const ty_statistics_loops TY_ISA_TABLE(ty_statistics) = {sums, moments, weighted, extremes,
                                                         any_nan};
