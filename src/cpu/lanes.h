/*
 * Vectors of float64 with their 32-bit slots, for the instruction set that the including file is
 * compiled for: 8 lanes with AVX-512, 4 with AVX2 and SSE2, else 1.
 *
 *   lanes_f  samples and edges; lanes_i  slots; lanes_set  which lanes satisfied a comparison
 *
 * lanes_clamp leaves NaN as it is, and lanes_round makes INT32_MIN of it, as of all that is past
 * int32. lanes_to_whole is how far the nearest whole number is. lanes_i_one_more adds one in the
 * lanes of a set, lanes_i_put(a, keep, b) is (a & keep) | b. LANES_FUSED says whether lanes_mul_add
 * rounds once. lanes_line_down, where there is one, is a * b + c, of which rounding leaves the
 * whole part as it is, if a * b is exact, c is whole and all are below 2^52.
 */
#ifndef TY_LANES_H
#define TY_LANES_H

#include <stdint.h>
#include <string.h>

#include "core/dtype.h"

#define INLINE static inline __attribute__((always_inline))

/* At the end of a function that is called from outside: wide registers left in use slow down SSE
 * code, and compilers have missed it before a call to a function of their own file. */
#if defined(__AVX__)
#include <immintrin.h>
#define lanes_leave() _mm256_zeroupper()
#else
#define lanes_leave() ((void)0)
#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include <immintrin.h>

enum { LANES = 8, LANES_FUSED = 1 };
typedef __m512d lanes_f;
typedef __m256i lanes_i;
typedef __mmask8 lanes_set;

#define lanes_fill(x)          _mm512_set1_pd(x)
#define lanes_add(a, b)        _mm512_add_pd(a, b)
#define lanes_sub(a, b)        _mm512_sub_pd(a, b)
#define lanes_truncate(a)      _mm512_cvttpd_epi32(a)
#define lanes_to_whole(a)      _mm512_abs_pd(_mm512_reduce_pd(a, 0))
#define lanes_high(a)          _mm512_cvtepi64_epi32(_mm512_srli_epi64(_mm512_castpd_si512(a), 32))
#define lanes_i_sub(a, b)      _mm256_sub_epi32(a, b)
#define lanes_i_and(a, b)      _mm256_and_si256(a, b)
#define lanes_i_xor(a, b)      _mm256_xor_si256(a, b)
#define lanes_i_sign(a)        _mm256_srai_epi32(a, 31)
#define lanes_i_right(a, n)    _mm256_srl_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define lanes_mul(a, b)        _mm512_mul_pd(a, b)
#define lanes_mul_add(a, b, c) _mm512_fmadd_pd(a, b, c)
#define lanes_clamp(x, a, b)   _mm512_max_pd(a, _mm512_min_pd(b, x))
#define lanes_round(a)         _mm512_cvtpd_epi32(a)
#define lanes_choose(s, a, b)  _mm512_mask_mov_pd(b, s, a)
#define lanes_not_below(a, b)  _mm512_cmp_pd_mask(a, b, _CMP_NLT_UQ)
#define lanes_nearest(a)       _mm512_roundscale_pd(a, 0)
#define lanes_below(a, b)      _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)
#define lanes_equal(a, b)      _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ)
#define lanes_size(a)          _mm512_abs_pd(a)
#define lanes_both(s, t)       ((lanes_set)((s) & (t)))
#define lanes_either(s, t)     ((lanes_set)((s) | (t)))
#define lanes_none()           ((lanes_set)0)
#define lanes_any(s)           ((s) != 0)

#define lanes_line_down(a, b, c)                                                                   \
    _mm512_fmadd_round_pd(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)

#define lanes_i_fill(x)         _mm256_set1_epi32((int)(x))
#define lanes_i_load(p)         _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define lanes_i_store(p, i)     _mm256_storeu_si256((__m256i *)(void *)(p), i)
#define lanes_i_add(a, b)       _mm256_add_epi32(a, b)
#define lanes_i_mul(a, b)       _mm256_mullo_epi32(a, b)
#define lanes_i_shift(a, n)     _mm256_sll_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define lanes_i_or3(a, b, c)    _mm256_ternarylogic_epi32(a, b, c, 0xfe)
#define lanes_i_put(a, keep, b) _mm256_ternarylogic_epi32(a, keep, b, 0xea)
#define lanes_i_negative(a)     (_mm256_movepi32_mask(a) != 0)
#define lanes_i_least(a, b)     _mm256_min_epu32(a, b)
#define lanes_i_one_more(n, s)  _mm256_mask_add_epi32(n, s, n, _mm256_set1_epi32(1))
#define lanes_i_choose(s, a, b) _mm256_mask_mov_epi32(b, s, a)

#define lanes_load_f64(p) _mm512_loadu_pd(p)
#define lanes_load_f32(p) _mm512_cvtps_pd(_mm256_loadu_ps((const float *)(const void *)(p)))
#define lanes_load_i32(p) _mm512_cvtepi32_pd(lanes_i_load(p))
#define lanes_load_u32(p) _mm512_cvtepu32_pd(lanes_i_load(p))
#define lanes_load_i64(p) _mm512_cvtepi64_pd(_mm512_loadu_si512(p))
#define lanes_load_u64(p) _mm512_cvtepu64_pd(_mm512_loadu_si512(p))
#define LANES_16(p)       _mm_loadu_si128((const __m128i *)(const void *)(p))
#define lanes_load_i16(p) _mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(LANES_16(p)))
#define lanes_load_u16(p) _mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(LANES_16(p)))
#define lanes_load_f16(p) _mm512_cvtps_pd(_mm256_cvtph_ps(LANES_16(p)))
#define lanes_load_bf16(p)                                                                         \
    _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(LANES_16(p)), 16)))

#elif defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>

enum { LANES = 4, LANES_FUSED = 1 };
typedef __m256d lanes_f;
typedef __m128i lanes_i;
typedef __m256d lanes_set;

#define lanes_fill(x)          _mm256_set1_pd(x)
#define lanes_add(a, b)        _mm256_add_pd(a, b)
#define lanes_sub(a, b)        _mm256_sub_pd(a, b)
#define lanes_truncate(a)      _mm256_cvttpd_epi32(a)
#define lanes_to_whole(a)      lanes_size(lanes_sub(a, lanes_nearest(a)))
#define lanes_i_sub(a, b)      _mm_sub_epi32(a, b)
#define lanes_i_and(a, b)      _mm_and_si128(a, b)
#define lanes_i_xor(a, b)      _mm_xor_si128(a, b)
#define lanes_i_sign(a)        _mm_srai_epi32(a, 31)
#define lanes_i_right(a, n)    _mm_srl_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define lanes_mul(a, b)        _mm256_mul_pd(a, b)
#define lanes_mul_add(a, b, c) _mm256_fmadd_pd(a, b, c)
#define lanes_clamp(x, a, b)   _mm256_max_pd(a, _mm256_min_pd(b, x))
#define lanes_round(a)         _mm256_cvtpd_epi32(a)
#define lanes_choose(s, a, b)  _mm256_blendv_pd(b, a, s)
#define lanes_not_below(a, b)  _mm256_cmp_pd(a, b, _CMP_NLT_UQ)
#define lanes_nearest(a)       _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define lanes_below(a, b)      _mm256_cmp_pd(a, b, _CMP_LT_OQ)
#define lanes_equal(a, b)      _mm256_cmp_pd(a, b, _CMP_EQ_OQ)
#define lanes_size(a)          _mm256_andnot_pd(_mm256_set1_pd(-0.0), a)
#define lanes_both(s, t)       _mm256_and_pd(s, t)
#define lanes_either(s, t)     _mm256_or_pd(s, t)
#define lanes_none()           _mm256_setzero_pd()
#define lanes_any(s)           (_mm256_movemask_pd(s) != 0)

#define lanes_line_down(a, b, c) _mm256_add_pd(_mm256_floor_pd(_mm256_mul_pd(a, b)), c)

#define lanes_i_fill(x)         _mm_set1_epi32((int)(x))
#define lanes_i_load(p)         _mm_loadu_si128((const __m128i *)(const void *)(p))
#define lanes_i_store(p, i)     _mm_storeu_si128((__m128i *)(void *)(p), i)
#define lanes_i_add(a, b)       _mm_add_epi32(a, b)
#define lanes_i_mul(a, b)       _mm_mullo_epi32(a, b)
#define lanes_i_shift(a, n)     _mm_sll_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define lanes_i_or3(a, b, c)    _mm_or_si128(_mm_or_si128(a, b), c)
#define lanes_i_put(a, keep, b) _mm_or_si128(_mm_and_si128(a, keep), b)
#define lanes_i_negative(a)     (_mm_movemask_ps(_mm_castsi128_ps(a)) != 0)
#define lanes_i_least(a, b)     _mm_min_epu32(a, b)
#define lanes_i_one_more(n, s)  _mm_sub_epi32(n, lanes_low(s))

/* The low halves of a set's lanes. */
INLINE __m128i lanes_low(lanes_set s)
{
    __m128 first = _mm_castpd_ps(_mm256_castpd256_pd128(s));
    __m128 second = _mm_castpd_ps(_mm256_extractf128_pd(s, 1));
    return _mm_castps_si128(_mm_shuffle_ps(first, second, _MM_SHUFFLE(2, 0, 2, 0)));
}

INLINE lanes_i lanes_high(lanes_f x)
{
    __m128 first = _mm_castpd_ps(_mm256_castpd256_pd128(x));
    __m128 second = _mm_castpd_ps(_mm256_extractf128_pd(x, 1));
    return _mm_castps_si128(_mm_shuffle_ps(first, second, _MM_SHUFFLE(3, 1, 3, 1)));
}

/* a where s holds, else b. */
INLINE lanes_i lanes_i_choose(lanes_set s, lanes_i a, lanes_i b)
{
    return _mm_blendv_epi8(b, a, lanes_low(s));
}

INLINE lanes_f lanes_load_u64(const unsigned char *p)
{
    /* Both halves exactly, then one addition that rounds once. */
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i high =
        _mm256_xor_si256(_mm256_srli_epi64(x, 32), _mm256_castpd_si256(_mm256_set1_pd(0x1p84)));
    __m256i low = _mm256_blend_epi32(x, _mm256_castpd_si256(_mm256_set1_pd(0x1p52)), 0xaa);
    __m256d h = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(0x1p84 + 0x1p52));
    return _mm256_add_pd(h, _mm256_castsi256_pd(low));
}

INLINE lanes_f lanes_load_i64(const unsigned char *p)
{
    /* As u64, with the high half moved up by 2^63 and down again. */
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i high = _mm256_xor_si256(_mm256_srli_epi64(x, 32),
                                    _mm256_castpd_si256(_mm256_set1_pd(0x1p84 + 0x1p63)));
    __m256i low = _mm256_blend_epi32(x, _mm256_castpd_si256(_mm256_set1_pd(0x1p52)), 0xaa);
    __m256d h = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(0x1p84 + 0x1p63 + 0x1p52));
    return _mm256_add_pd(h, _mm256_castsi256_pd(low));
}

#define lanes_load_f64(p) _mm256_loadu_pd((const double *)(const void *)(p))
#define lanes_load_f32(p) _mm256_cvtps_pd(_mm_loadu_ps((const float *)(const void *)(p)))
#define lanes_load_i32(p) _mm256_cvtepi32_pd(lanes_i_load(p))
#define lanes_load_u32(p)                                                                          \
    _mm256_add_pd(_mm256_cvtepi32_pd(_mm_xor_si128(lanes_i_load(p), lanes_i_fill(INT32_MIN))),     \
                  _mm256_set1_pd(0x1p31))
#define LANES_16(p)       _mm_loadl_epi64((const __m128i *)(const void *)(p))
#define lanes_load_i16(p) _mm256_cvtepi32_pd(_mm_cvtepi16_epi32(LANES_16(p)))
#define lanes_load_u16(p) _mm256_cvtepi32_pd(_mm_cvtepu16_epi32(LANES_16(p)))
#define lanes_load_f16(p) _mm256_cvtps_pd(_mm_cvtph_ps(LANES_16(p)))
#define lanes_load_bf16(p)                                                                         \
    _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(LANES_16(p)), 16)))

#elif defined(__SSE2__)

#include <emmintrin.h>

/* Two vectors of two, so that the slots fill one of four. */
enum { LANES = 4, LANES_FUSED = 0 };
typedef struct lanes_f {
    __m128d a, b;
} lanes_f;
typedef lanes_f lanes_set;
typedef __m128i lanes_i;

#define LANES_PAIR(name, ...)                                                                      \
    INLINE lanes_f name(lanes_f x, lanes_f y)                                                      \
    {                                                                                              \
        return (lanes_f){__VA_ARGS__(x.a, y.a), __VA_ARGS__(x.b, y.b)};                            \
    }
LANES_PAIR(lanes_add, _mm_add_pd)
LANES_PAIR(lanes_sub, _mm_sub_pd)
LANES_PAIR(lanes_mul, _mm_mul_pd)
LANES_PAIR(lanes_min, _mm_min_pd)
LANES_PAIR(lanes_max, _mm_max_pd)
LANES_PAIR(lanes_below, _mm_cmplt_pd)
LANES_PAIR(lanes_not_below, _mm_cmpnlt_pd)
LANES_PAIR(lanes_equal, _mm_cmpeq_pd)
LANES_PAIR(lanes_both, _mm_and_pd)
LANES_PAIR(lanes_either, _mm_or_pd)
LANES_PAIR(lanes_without, _mm_andnot_pd)
#undef LANES_PAIR

#define lanes_mul_add(a, b, c) lanes_add(lanes_mul(a, b), c)
#define lanes_clamp(x, a, b)   lanes_max(a, lanes_min(b, x))
#define lanes_choose(s, a, b)  lanes_either(lanes_both(s, a), lanes_without(s, b))
#define lanes_size(x)          lanes_without(lanes_fill(-0.0), x)
#define lanes_to_whole(a)      lanes_size(lanes_sub(a, lanes_nearest(a)))
#define lanes_none()           lanes_fill(0)
#define lanes_any(s)           (_mm_movemask_pd(_mm_or_pd((s).a, (s).b)) != 0)

INLINE lanes_f lanes_fill(double x)
{
    return (lanes_f){_mm_set1_pd(x), _mm_set1_pd(x)};
}

INLINE lanes_f lanes_nearest(lanes_f x)
{
    return (lanes_f){_mm_cvtepi32_pd(_mm_cvtpd_epi32(x.a)), _mm_cvtepi32_pd(_mm_cvtpd_epi32(x.b))};
}

#define lanes_i_fill(x)         _mm_set1_epi32((int)(x))
#define lanes_i_load(p)         _mm_loadu_si128((const __m128i *)(const void *)(p))
#define lanes_i_store(p, i)     _mm_storeu_si128((__m128i *)(void *)(p), i)
#define lanes_i_add(a, b)       _mm_add_epi32(a, b)
#define lanes_i_sub(a, b)       _mm_sub_epi32(a, b)
#define lanes_i_and(a, b)       _mm_and_si128(a, b)
#define lanes_i_xor(a, b)       _mm_xor_si128(a, b)
#define lanes_i_sign(a)         _mm_srai_epi32(a, 31)
#define lanes_i_right(a, n)     _mm_srl_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define lanes_i_shift(a, n)     _mm_sll_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define lanes_i_or3(a, b, c)    _mm_or_si128(_mm_or_si128(a, b), c)
#define lanes_i_put(a, keep, b) _mm_or_si128(_mm_and_si128(a, keep), b)
#define lanes_i_negative(a)     (_mm_movemask_ps(_mm_castsi128_ps(a)) != 0)

INLINE lanes_i lanes_i_mul(lanes_i a, lanes_i b)
{
    __m128i even = _mm_mul_epu32(a, b);
    __m128i odd = _mm_mul_epu32(_mm_srli_epi64(a, 32), _mm_srli_epi64(b, 32));
    return _mm_unpacklo_epi32(_mm_shuffle_epi32(even, _MM_SHUFFLE(0, 0, 2, 0)),
                              _mm_shuffle_epi32(odd, _MM_SHUFFLE(0, 0, 2, 0)));
}

INLINE lanes_i lanes_i_pick(__m128i s, lanes_i a, lanes_i b)
{
    return _mm_or_si128(_mm_and_si128(s, a), _mm_andnot_si128(s, b));
}

/* SSE2 compares signed lanes only. */
INLINE lanes_i lanes_i_least(lanes_i a, lanes_i b)
{
    __m128i top = lanes_i_fill(INT32_MIN);
    return lanes_i_pick(_mm_cmpgt_epi32(_mm_xor_si128(a, top), _mm_xor_si128(b, top)), b, a);
}

#define lanes_i_one_more(n, s) _mm_sub_epi32(n, lanes_low(s))

INLINE __m128i lanes_low(lanes_set s)
{
    return _mm_castps_si128(
        _mm_shuffle_ps(_mm_castpd_ps(s.a), _mm_castpd_ps(s.b), _MM_SHUFFLE(2, 0, 2, 0)));
}

#define lanes_i_choose(s, a, b) lanes_i_pick(lanes_low(s), a, b)

INLINE lanes_i lanes_round(lanes_f x)
{
    return _mm_unpacklo_epi64(_mm_cvtpd_epi32(x.a), _mm_cvtpd_epi32(x.b));
}

INLINE lanes_i lanes_truncate(lanes_f x)
{
    return _mm_unpacklo_epi64(_mm_cvttpd_epi32(x.a), _mm_cvttpd_epi32(x.b));
}

INLINE lanes_i lanes_high(lanes_f x)
{
    return _mm_castps_si128(
        _mm_shuffle_ps(_mm_castpd_ps(x.a), _mm_castpd_ps(x.b), _MM_SHUFFLE(3, 1, 3, 1)));
}

INLINE lanes_f lanes_load_f64(const unsigned char *p)
{
    return (lanes_f){_mm_loadu_pd((const double *)(const void *)p),
                     _mm_loadu_pd((const double *)(const void *)(p + 16))};
}

INLINE lanes_f lanes_of_f32(__m128 x)
{
    return (lanes_f){_mm_cvtps_pd(x), _mm_cvtps_pd(_mm_movehl_ps(x, x))};
}

INLINE lanes_f lanes_of_i32(__m128i x)
{
    return (lanes_f){_mm_cvtepi32_pd(x), _mm_cvtepi32_pd(_mm_unpackhi_epi64(x, x))};
}

#define LANES_16(p)       _mm_loadl_epi64((const __m128i *)(const void *)(p))
#define lanes_load_f32(p) lanes_of_f32(_mm_loadu_ps((const float *)(const void *)(p)))
#define lanes_load_i32(p) lanes_of_i32(lanes_i_load(p))
#define lanes_load_u32(p)                                                                          \
    lanes_add(lanes_of_i32(_mm_xor_si128(lanes_i_load(p), lanes_i_fill(INT32_MIN))),               \
              lanes_fill(0x1p31))
#define lanes_load_u16(p) lanes_of_i32(_mm_unpacklo_epi16(LANES_16(p), _mm_setzero_si128()))
#define lanes_load_i16(p)                                                                          \
    lanes_of_i32(_mm_srai_epi32(_mm_unpacklo_epi16(_mm_setzero_si128(), LANES_16(p)), 16))
#define lanes_load_bf16(p)                                                                         \
    lanes_of_f32(_mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), LANES_16(p))))

#define LANES_GATHER(name, type, decode)                                                           \
    INLINE lanes_f lanes_load_##name(const unsigned char *p)                                       \
    {                                                                                              \
        type x[4];                                                                                 \
        memcpy(x, p, sizeof x);                                                                    \
        return (lanes_f){_mm_set_pd((double)decode(x[1]), (double)decode(x[0])),                   \
                         _mm_set_pd((double)decode(x[3]), (double)decode(x[2]))};                  \
    }
LANES_GATHER(i64, int64_t, )
LANES_GATHER(u64, uint64_t, )
LANES_GATHER(f16, uint16_t, ty_f16_decode)
#undef LANES_GATHER

#else

enum { LANES = 1, LANES_FUSED = 0 };
typedef double lanes_f;
typedef uint32_t lanes_i;
typedef int lanes_set;

#define lanes_fill(x)          (x)
#define lanes_add(a, b)        ((a) + (b))
#define lanes_sub(a, b)        ((a) - (b))
#define lanes_to_whole(a)      lanes_size(lanes_sub(a, lanes_nearest(a)))
#define lanes_i_sub(a, b)      ((a) - (b))
#define lanes_i_and(a, b)      ((a) & (b))
#define lanes_i_xor(a, b)      ((a) ^ (b))
#define lanes_i_sign(a)        ((uint32_t)((int32_t)(a) >> 31))
#define lanes_i_right(a, n)    ((a) >> (n))

INLINE uint32_t lanes_truncate(double x)
{
    return x > -2e9 && x < 2e9 ? (uint32_t)(int32_t)x : UINT32_C(1) << 31;
}

INLINE uint32_t lanes_high(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint32_t)(bits >> 32);
}
#define lanes_mul(a, b)        ((a) * (b))
#define lanes_mul_add(a, b, c) ((a) * (b) + (c))
#define lanes_clamp(x, a, b)   ((x) < (a) ? (a) : (x) > (b) ? (b) : (x))
#define lanes_choose(s, a, b)  ((s) ? (a) : (b))
#define lanes_not_below(a, b)  (!((a) < (b)))
#define lanes_nearest(a)       __builtin_rint(a)
#define lanes_below(a, b)      ((a) < (b))
#define lanes_equal(a, b)      ((a) == (b))
#define lanes_size(a)          __builtin_fabs(a)
#define lanes_both(s, t)       ((s) & (t))
#define lanes_either(s, t)     ((s) | (t))
#define lanes_none()           0
#define lanes_any(s)           ((s) != 0)

#define lanes_i_fill(x)         ((uint32_t)(x))
#define lanes_i_add(a, b)       ((a) + (b))
#define lanes_i_mul(a, b)       ((a) * (b))
#define lanes_i_shift(a, n)     ((a) << (n))
#define lanes_i_or3(a, b, c)    ((a) | (b) | (c))
#define lanes_i_put(a, keep, b) (((a) & (keep)) | (b))
#define lanes_i_negative(a)     ((a) >> 31 != 0)
#define lanes_i_least(a, b)     ((a) < (b) ? (a) : (b))
#define lanes_i_one_more(n, s)  ((n) + (uint32_t)(s))
#define lanes_i_choose(s, a, b) ((s) ? (a) : (b))

INLINE lanes_i lanes_i_load(const void *p)
{
    lanes_i i;
    memcpy(&i, p, sizeof i);
    return i;
}

INLINE void lanes_i_store(void *p, lanes_i i)
{
    memcpy(p, &i, sizeof i);
}

INLINE lanes_i lanes_round(double x)
{
    double r = __builtin_rint(x);
    return r > -2e9 && r < 2e9 ? (uint32_t)(int32_t)r : UINT32_C(1) << 31;
}

#define LANES_LOAD(name, type, decode)                                                             \
    INLINE lanes_f lanes_load_##name(const unsigned char *p)                                       \
    {                                                                                              \
        type x;                                                                                    \
        memcpy(&x, p, sizeof x);                                                                   \
        return (double)decode(x);                                                                  \
    }
LANES_LOAD(u16, uint16_t, )
LANES_LOAD(i16, int16_t, )
LANES_LOAD(u32, uint32_t, )
LANES_LOAD(i32, int32_t, )
LANES_LOAD(u64, uint64_t, )
LANES_LOAD(i64, int64_t, )
LANES_LOAD(f16, uint16_t, ty_f16_decode)
LANES_LOAD(bf16, uint16_t, ty_bf16_decode)
LANES_LOAD(f32, float, )
LANES_LOAD(f64, double, )
#undef LANES_LOAD

#endif

#endif
