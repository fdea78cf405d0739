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

INLINE __m256d powers_of(__m256d value, __m256d k)
{
    enum { POWERS = 6, SQUARE = 4 };
    const __m256d ones = _mm256_setr_pd(1, 0, 0, -0.0),
                  d = _mm256_mask_sub_pd(ones, POWERS, value, k);
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

INLINE __m256d powers_of(__m256d value, __m256d k)
{
    const __m256d one = _mm256_set1_pd(1), d = _mm256_sub_pd(value, k);
    const __m256d powers = _mm256_mul_pd(_mm256_blend_pd(one, d, 6), _mm256_blend_pd(one, d, 4));
    return _mm256_blend_pd(powers, _mm256_set1_pd(-0.0), 8);
}

INLINE void add_weighted(double *entry, const double *value, const double *k, const double *weight)
{
    const __m256d w = _mm256_setr_pd(*weight, *weight, *weight, 0);
    _mm256_store_pd(
        entry, _mm256_add_pd(
                   _mm256_mul_pd(powers_of(_mm256_broadcast_sd(value), _mm256_broadcast_sd(k)), w),
                   _mm256_load_pd(entry)));
    entry[4] += *weight * *weight;
    entry[5] += 1;
}

#endif

#if defined(__AVX2__)

INLINE void add_moments(double *entry, const double *value, const double *k)
{
    _mm256_store_pd(entry,
                    _mm256_add_pd(powers_of(_mm256_broadcast_sd(value), _mm256_broadcast_sd(k)),
                                  _mm256_load_pd(entry)));
}

#else

INLINE void add_moments(double *entry, const double *value, const double *k)
{
    const double d = *value - *k;
    entry[0] += 1;
    entry[1] += d;
    entry[2] += d * d;
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

/* Asks for what comes after eight samples, and goes on to the next eight. */
INLINE void fetch_eight(ty_ahead ahead[2])
{
    for (int k = 0; k < 2; k++) {
        __builtin_prefetch((const void *)ahead[k].at, 0, 2);
        ahead[k].at += 8 * ahead[k].each;
    }
}

/*
 * Moments: a slot has `size` doubles, its k is `about` behind the first of them, and entries for
 * samples taken in turn are `step` apart.
 *
 * A run of samples is added as if all its slots had a k. If some had none, their sums were 0 before
 * it: they become 0 again, and those samples are added anew, one after the other.
 */
typedef struct moments_table {
    double *fields;
    size_t size, step, about;
} moments_table;

enum { RUN = 256 };

INLINE double *slot_of(const moments_table *to, uint32_t slot)
{
    return to->fields + slot * to->size;
}

#if defined(__AVX2__)
INLINE void add_vector(double *to, __m256d more)
{
    _mm256_store_pd(to, _mm256_add_pd(more, _mm256_load_pd(to)));
}
#endif

#if defined(__AVX512VL__)
/* Samples 2 t and 2 t + 1 of eight: what is added is found for both at once. */
#define ADD_TWO(t)                                                                                 \
    {                                                                                              \
        double *const one = slot_of(to, (uint32_t)two[t]), *const other = slot_of(                 \
                                                               to, (uint32_t)(two[t] >> 32));      \
        const __m512d k = _mm512_mask_broadcastsd_pd(                                              \
                          _mm512_broadcastsd_pd(_mm_load_sd(one + to->about)), OTHER,              \
                          _mm_load_sd(other + to->about)),                                         \
                      value = _mm512_permutexvar_pd(                                               \
                          _mm512_setr_epi64(2 * (t), 2 * (t), 2 * (t), 2 * (t), 2 * (t) + 1,       \
                                            2 * (t) + 1, 2 * (t) + 1, 2 * (t) + 1),                \
                          eight),                                                                  \
                      d = _mm512_mask_sub_pd(ones, POWERS, value, k),                              \
                      powers = _mm512_mask_mul_pd(d, SQUARES, d, d);                               \
        least[t] = _mm512_min_epu64(least[t], _mm512_castpd_si512(k));                             \
        add_vector(one + 2 * (t) % 4 * to->step, _mm512_castpd512_pd256(powers));                  \
        add_vector(other + (2 * (t) + 1) % 4 * to->step, _mm512_extractf64x4_pd(powers, 1));       \
    }

/* Adds n samples, a multiple of eight, with few loads, which bound how fast that is; returns
 * whether a slot had no k. */
INLINE int add_eights(const moments_table *to, ty_ahead ahead[2], const uint32_t *slots,
                      const double *values, size_t n)
{
    enum { OTHER = 0xf0, POWERS = 0x66, SQUARES = 0x44 };
    const __m512d ones = _mm512_setr_pd(1, 0, 0, -0.0, 1, 0, 0, -0.0);
    __m512i least[4];
    for (int t = 0; t < 4; t++)
        least[t] = _mm512_set1_epi64(-1);
    for (size_t i = 0; i < n; i += 8) {
        const __m512d eight = _mm512_loadu_pd(&values[i]);
        uint64_t two[4]; /* slots in each */
        memcpy(two, &slots[i], sizeof two);
        fetch_eight(ahead);
        ADD_TWO(0)
        ADD_TWO(1)
        ADD_TWO(2)
        ADD_TWO(3)
    }
    const __m512i all = _mm512_min_epu64(_mm512_min_epu64(least[0], least[1]),
                                         _mm512_min_epu64(least[2], least[3]));
    return _mm512_testn_epi64_mask(all, all) != 0;
}

#elif defined(__AVX2__)
/* Sample t of four. */
#define ADD_ONE(t, at)                                                                             \
    {                                                                                              \
        double *const slot = slot_of(to, (uint32_t)(at));                                          \
        const __m256d k = _mm256_broadcast_sd(slot + to->about);                                   \
        unset = _mm256_or_si256(unset, _mm256_cmpeq_epi64(_mm256_castpd_si256(k), none));          \
        add_vector(slot + (t)*to->step, powers_of(_mm256_permute4x64_pd(four, (t)*0x55), k));      \
    }

INLINE int add_eights(const moments_table *to, ty_ahead ahead[2], const uint32_t *slots,
                      const double *values, size_t n)
{
    const __m256i none = _mm256_setzero_si256();
    __m256i unset = none;
    for (size_t i = 0; i < n; i += 4) {
        const __m256d four = _mm256_loadu_pd(&values[i]);
        uint64_t two[2];
        memcpy(two, &slots[i], sizeof two);
        if (i % 8 == 0)
            fetch_eight(ahead);
        ADD_ONE(0, two[0])
        ADD_ONE(1, two[0] >> 32)
        ADD_ONE(2, two[1])
        ADD_ONE(3, two[1] >> 32)
    }
    return !_mm256_testz_si256(unset, unset);
}

#else
INLINE int add_eights(const moments_table *to, ty_ahead ahead[2], const uint32_t *slots,
                      const double *values, size_t n)
{
    int unset = 0;
    for (size_t i = 0; i < n; i++) {
        double *const slot = slot_of(to, slots[i]), *const k = slot + to->about;
        if (i % 8 == 0)
            fetch_eight(ahead);
        unset |= is_unset(k);
        add_moments(slot + i % 4 * to->step, &values[i], k);
    }
    return unset;
}
#endif

/* Gives the slots of a run a k where they have none, without branches, for which comes first is not
 * to be foreseen; how many had none. `later`, if not NULL, are as many that are asked for. */
INLINE size_t settle(const moments_table *to, const uint32_t *slots, const uint32_t *later,
                     const double *values, size_t n)
{
    size_t unset = 0;
    uint64_t abouts[RUN];
    for (size_t i = 0; i < n; i++) {
        const double about = about_of(values[i]);
        memcpy(&abouts[i], &about, sizeof about);
    }
    for (size_t i = 0; i < n; i++) {
        double *const at = slot_of(to, slots[i]) + to->about;
        uint64_t k;
        if (later)
            __builtin_prefetch(slot_of(to, later[i]), 1, 3);
        memcpy(&k, at, sizeof k);
        const uint64_t none = -(uint64_t)!k; /* all bits or none */
        unset += none & 1;
        k |= abouts[i] & none;
        memcpy(at, &k, sizeof k);
    }
    return unset;
}

INLINE void add_one(const moments_table *to, size_t i, const uint32_t *slots, const double *values)
{
    double *const slot = slot_of(to, slots[i]), *const k = slot + to->about;
    if (is_unset(k))
        *k = about_of(values[i]);
    add_moments(slot + i % 4 * to->step, &values[i], k);
}

/* Of a run whose samples were added, those that went to slots without a k; how many. */
static __attribute__((noinline)) size_t add_anew(const moments_table *to, const uint32_t *slots,
                                                 const double *values, size_t n)
{
    uint32_t anew[RUN];
    size_t some = 0;
    for (size_t i = 0; i < n; i++) {
        double *const slot = slot_of(to, slots[i]);
        anew[some] = (uint32_t)i;
        if (!is_unset(slot + to->about))
            continue;
        memset(slot, 0, to->size * sizeof *slot);
        some++;
    }
    for (size_t i = 0; i < some; i++)
        add_one(to, anew[i], slots, values);
    return some;
}

INLINE void add_runs(const moments_table *to, int large, int *fresh, const ty_ahead ahead[2],
                     const uint32_t *slots, const double *values, size_t n)
{
    ty_ahead now[2] = {ahead[0], ahead[1]};
    enum { FEW = 4 }; /* samples that are added anew faster than all slots are looked at before */
    for (size_t i = 0; large && i < RUN && i < n; i++)
        __builtin_prefetch(slot_of(to, slots[i]), 1, 3);
    for (size_t some; n >= 8; n -= some, slots += some, values += some) {
        some = n < RUN ? n & ~(size_t)7 : RUN;
        if (large && n >= 2 * some)
            *fresh = settle(to, slots, slots + some, values, some) > FEW;
        else if (*fresh)
            *fresh = settle(to, slots, NULL, values, some) > FEW;
        if (__builtin_expect(add_eights(to, now, slots, values, some), 0))
            *fresh = add_anew(to, slots, values, some) > FEW;
    }
    for (size_t i = 0; i < n; i++)
        add_one(to, i, slots, values);
}

static void moments(double *restrict table, size_t group_size, int large, int *fresh,
                    const ty_ahead ahead[2], const uint32_t *restrict slots,
                    const double *restrict values, size_t n)
{
    const moments_table grouped = {table, TY_MOMENTS_GROUP, TY_MOMENTS_FIELDS, TY_GROUP_ABOUT},
                        single = {table, TY_MOMENTS_FIELDS, 0, 3};
    if (group_size)
        add_runs(&grouped, 0, fresh, ahead, slots, values, n);
    else
        add_runs(&single, large, fresh, ahead, slots, values, n);
    simd_leave();
}

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
