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

/* `body` for each i below n, `entry` being the sample's; no prefetching where there need not be. */
#define AT(size, offset, body)                                                                     \
    {                                                                                              \
        double *const entry = table + (size) * (size_t)slots[i] + (offset);                        \
        body;                                                                                      \
    }
#define EACH(fields, body)                                                                         \
    do {                                                                                           \
        size_t i = 0;                                                                              \
        if (group_size) {                                                                          \
            for (; i + 4 <= n; i++) {                                                              \
                AT(group_size, 0 * (fields), body)                                                 \
                i++;                                                                               \
                AT(group_size, 1 * (fields), body)                                                 \
                i++;                                                                               \
                AT(group_size, 2 * (fields), body)                                                 \
                i++;                                                                               \
                AT(group_size, 3 * (fields), body)                                                 \
            }                                                                                      \
            for (; i < n; i++)                                                                     \
                AT(group_size, (i & 3) * (fields), body)                                           \
            break;                                                                                 \
        }                                                                                          \
        for (; large && i + AHEAD < n; i++) {                                                      \
            __builtin_prefetch(table + (fields) * (size_t)slots[i + AHEAD], 1, 3);                 \
            AT(fields, 0, body)                                                                    \
        }                                                                                          \
        for (; i < n; i++)                                                                         \
            AT(fields, 0, body)                                                                    \
    } while (0)

static void sums(double *restrict table, size_t group_size, int large,
                 const uint32_t *restrict slots, const double *restrict values, size_t n)
{
#if defined(__SSE2__)
    const __m128d one = _mm_set1_pd(1);
    EACH(TY_SUMS_FIELDS,
         _mm_store_pd(entry, _mm_add_pd(_mm_load_pd(entry), _mm_loadh_pd(one, &values[i]))));
#else
    EACH(TY_SUMS_FIELDS, (entry[0] += 1, entry[1] += values[i]));
#endif
}

/* What a slot's values are taken about: the first of them, or 0 if that is not finite. A zero is
 * -0, for the bits of 0 are those of none yet. */
INLINE double about_of(double value)
{
    return value - value == 0 && value != 0 ? value : -0.0;
}

static __attribute__((noinline, cold)) void set_about(double *k, const double *value)
{
    *k = about_of(*value);
}

INLINE int is_unset(const double *k)
{
    uint64_t bits;
    memcpy(&bits, k, sizeof bits);
    return !bits;
}

/* (1, d, d², -0), which leaves k as it is. */
#if defined(__AVX512VL__)

INLINE __m256d powers_of(const double *value, __m256d k)
{
    enum { POWERS = 6, SQUARE = 4 };
    const __m256d ones = _mm256_setr_pd(1, 0, 0, -0.0),
                  d = _mm256_mask_sub_pd(ones, POWERS, _mm256_broadcast_sd(value), k);
    return _mm256_mask_mul_pd(d, SQUARE, d, d);
}

/* Adds (w, wd, wd², -0, w², 1, 0, 0). */
INLINE void add_weighted(double *entry, const double *value, const double *k, const double *weight)
{
    enum { POWERS = 6, SQUARE = 4, WEIGHT = 16, SUMS = 23 };
    const __m512d ones = _mm512_setr_pd(1, 0, 0, -0.0, 0, 1, 0, 0), w = _mm512_set1_pd(*weight),
                  d = _mm512_mask_sub_pd(_mm512_mask_mov_pd(ones, WEIGHT, w), POWERS,
                                         _mm512_set1_pd(*value), _mm512_set1_pd(*k)),
                  powers = _mm512_mask_mul_pd(d, SQUARE, d, d);
    _mm512_store_pd(
        entry, _mm512_add_pd(_mm512_mask_mul_pd(powers, SUMS, powers, w), _mm512_load_pd(entry)));
}

#elif defined(__AVX2__)

INLINE __m256d powers_of(const double *value, __m256d k)
{
    const __m256d one = _mm256_set1_pd(1), d = _mm256_sub_pd(_mm256_broadcast_sd(value), k);
    const __m256d powers = _mm256_mul_pd(_mm256_blend_pd(one, d, 6), _mm256_blend_pd(one, d, 4));
    return _mm256_blend_pd(powers, _mm256_set1_pd(-0.0), 8);
}

INLINE void add_weighted(double *entry, const double *value, const double *k, const double *weight)
{
    const __m256d w = _mm256_setr_pd(*weight, *weight, *weight, 0);
    _mm256_store_pd(entry, _mm256_add_pd(_mm256_mul_pd(powers_of(value, _mm256_broadcast_sd(k)), w),
                                         _mm256_load_pd(entry)));
    entry[4] += *weight * *weight;
    entry[5] += 1;
}

#endif

#if defined(__AVX2__)

INLINE void add_moments(double *entry, const double *value, const double *k)
{
    _mm256_store_pd(entry,
                    _mm256_add_pd(powers_of(value, _mm256_broadcast_sd(k)), _mm256_load_pd(entry)));
}

/* The same to an entry whose k is `about` if there is none yet, without branches, for many bins:
 * who comes first there is not to be foreseen. All is stored at once, for the load of a vector
 * waits for a store of a part of it. */
INLINE void add_settling(double *entry, const double *value, const double *about)
{
    __m256d k = _mm256_broadcast_sd(entry + 3);
    const __m256i unset = _mm256_cmpeq_epi64(_mm256_castpd_si256(k), _mm256_setzero_si256());
    k = _mm256_blendv_pd(k, _mm256_broadcast_sd(about), _mm256_castsi256_pd(unset));
    const __m256d sums = _mm256_add_pd(powers_of(value, k), _mm256_load_pd(entry));
    _mm256_store_pd(entry, _mm256_blend_pd(sums, k, 8));
}

#else

INLINE void add_moments(double *entry, const double *value, const double *k)
{
    const double d = *value - *k;
    entry[0] += 1;
    entry[1] += d;
    entry[2] += d * d;
}

INLINE void add_settling(double *entry, const double *value, const double *about)
{
    uint64_t k, bits;
    memcpy(&k, entry + 3, sizeof k);
    memcpy(&bits, about, sizeof bits);
    k |= bits & -(uint64_t)!k;
    memcpy(entry + 3, &k, sizeof k);
    add_moments(entry, value, entry + 3);
}

INLINE void add_weighted(double *entry, const double *value, const double *k, const double *weight)
{
    const double d = *value - *k;
    entry[0] += *weight;
    entry[1] += d * *weight;
    entry[2] += d * d * *weight;
    entry[4] += *weight * *weight;
    entry[5] += 1;
}

#endif

/* Asks for values that come later, if they lie where all do. */
INLINE void fetch_values(const double *from)
{
    enum { AHEAD_BYTES = 16384 };
    __builtin_prefetch((const void *)((uintptr_t)from + AHEAD_BYTES), 0, 2);
}

/* Samples by four, so that little is done for one but the addition. */
INLINE void add_four(double *const at[4], size_t step, size_t k, const double *values)
{
    fetch_values(values);
    if (__builtin_expect(is_unset(&at[0][k]) || is_unset(&at[1][k]) || is_unset(&at[2][k]) ||
                             is_unset(&at[3][k]),
                         0))
        for (size_t t = 0; t < 4; t++)
            if (is_unset(&at[t][k]))
                set_about(&at[t][k], &values[t]);
    for (size_t t = 0; t < 4; t++)
        add_moments(at[t] + t * step, &values[t], &at[t][k]);
}

INLINE void add_one(double *entry, double *k, const double *value)
{
    if (is_unset(k))
        set_about(k, value);
    add_moments(entry, value, k);
}

static void grouped_moments(double *restrict table, const uint32_t *restrict slots,
                            const double *restrict values, size_t n)
{
    enum { SOME = 256, BYTES = TY_MOMENTS_GROUP * sizeof(double) };
    uint32_t offsets[SOME];
    for (size_t some; n; n -= some, slots += some, values += some) {
        size_t i = 0;
        some = n < SOME ? n : SOME;
        for (size_t j = 0; j < some; j++)
            offsets[j] = slots[j] * BYTES;
#define ENTRY(j) ((double *)(void *)((char *)table + offsets[j]))
        for (; i + 4 <= some; i += 4) {
            double *const at[4] = {ENTRY(i), ENTRY(i + 1), ENTRY(i + 2), ENTRY(i + 3)};
            add_four(at, TY_MOMENTS_FIELDS, TY_GROUP_ABOUT, values + i);
        }
        for (; i < some; i++)
            add_one(ENTRY(i) + (i & 3) * TY_MOMENTS_FIELDS, ENTRY(i) + TY_GROUP_ABOUT, &values[i]);
#undef ENTRY
    }
}

#define ENTRY(j) (table + TY_MOMENTS_FIELDS * (size_t)slots[j])
/* Of a `large` table (statistics.h). */
static void far_moments(double *restrict table, const uint32_t *restrict slots,
                        const double *restrict values, size_t n)
{
    enum { SOME = 256 };
    double abouts[SOME];
    for (size_t some; n; n -= some, slots += some, values += some) {
        const size_t ahead = n > AHEAD ? n - AHEAD : 0; /* that have one to ask for */
        size_t i = 0;
        some = n < SOME ? n : SOME;
        for (size_t j = 0; j < some; j += 8)
            fetch_values(&values[j]);
        for (size_t j = 0; j < some; j++)
            abouts[j] = about_of(values[j]);
        for (; i < some && i < ahead; i++) {
            __builtin_prefetch(ENTRY(i + AHEAD), 1, 3);
            add_settling(ENTRY(i), &values[i], &abouts[i]);
        }
        for (; i < some; i++)
            add_settling(ENTRY(i), &values[i], &abouts[i]);
    }
}

static void moments(double *restrict table, size_t group_size, int large,
                    const uint32_t *restrict slots, const double *restrict values, size_t n)
{
    size_t i = 0;
    if (group_size || large) {
        (group_size ? grouped_moments : far_moments)(table, slots, values, n);
        simd_leave();
        return;
    }
    for (; i + 4 <= n; i += 4) {
        double *const at[4] = {ENTRY(i), ENTRY(i + 1), ENTRY(i + 2), ENTRY(i + 3)};
        add_four(at, 0, 3, values + i);
    }
    for (; i < n; i++)
        add_one(ENTRY(i), ENTRY(i) + 3, &values[i]);
    simd_leave();
}
#undef ENTRY

static void weighted(double *restrict table, size_t group_size, int large,
                     const uint32_t *restrict slots, const double *restrict values,
                     const double *restrict weights, size_t n)
{
    EACH(TY_WEIGHTED_FIELDS, {
        if (__builtin_expect(is_unset(&entry[3]), 0))
            set_about(&entry[3], &values[i]);
        add_weighted(entry, &values[i], &entry[3], &weights[i]);
    });
    simd_leave();
}

static void extremes(double *restrict table, size_t group_size, int large,
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
