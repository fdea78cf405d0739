/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors for the instruction set that the including file is compiled for. Samples on an axis are
 * taken as float64 or, where that is enough, as float32 with twice as many to a vector:
 *
 *   type   lanes with       AVX-512  AVX2  SSE2,  none of them
 *                                          NEON
 *   f64x   float64             8       4     4      1
 *   u32h   uint32, F64_LANES   8       4     4      1
 *   f32x   float32            16       8     4      1
 *   u32x   uint32, F32_LANES  16       8     4      1
 *
 * f64x_mask says for which lanes of a f64x a comparison holds. Integers wrap; they are unsigned but
 * in what has i32 in its name and u32h_sign_mask. Where names do not say it all:
 *
 *   f64x_clamp(x, a, b)           NaN stays NaN; f32x_clamp does the same
 *   f64x_round_i32(x)             to nearest, ties to even; INT32_MIN of NaN and beyond int32
 *   f64x_truncate_i32(x)          the same toward zero
 *   f64x_nearest(x)               as a float64; of x within int32
 *   f64x_whole_distance(x)        how far the nearest whole number is; of x within int32
 *   f64x_not_below(x, y)          true of NaN, too
 *   f64x_high_u32(x)              the upper halves of the lanes' bits
 *   f64x_affine_floor(a, b, c)    floor(a * b) + c, if a * b is exact, c is whole and all are below
 *                                 2^52; not for every instruction set
 *   f64x_of_f32x(x, i)            lanes i to i + F64_LANES - 1
 *   f64x_load_TYPE(p)             F64_LANES samples at any address; f32x_load_TYPE: F32_LANES
 *   u32h_select(mask, a, b)       a where the mask holds, else b
 *   u32h_increment(x, mask)       one more where the mask holds
 *   u32h_sign_mask(x)             all bits where the top one is set, else none
 *   u32x_and_or(a, keep, b)       (a & keep) | b
 *   u32x_select_equal(x, y, a, b) a where x and y are equal, else b
 *   u32x_any_top_bit(x)           whether the top bit of any lane is set; u32h_any_top_bit likewise
 *
 * F64_FUSED and F32_FUSED say whether mul_add rounds once.
 */
#ifndef TY_SIMD_H
#define TY_SIMD_H

#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "core/dtype.h"

#define INLINE static inline __attribute__((always_inline))

/* At the end of a function that is called from outside: wide registers left in use slow down SSE
 * code, and compilers have missed it before a call to a function of their own file. */
#if defined(__AVX__)
#define simd_leave() _mm256_zeroupper()
#else
#define simd_leave() ((void)0)
#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define SIMD_AVX512
#elif defined(__AVX2__) && defined(__FMA__)
#define SIMD_AVX2
#elif defined(__SSE2__)
#define SIMD_SSE2
#elif defined(__aarch64__)
#define SIMD_NEON
#endif

#if defined(SIMD_AVX2) || defined(SIMD_SSE2)
/* Four uint32: both have the same for them. */
typedef __m128i u32h;
#define u32h_fill(x)           _mm_set1_epi32((int)(x))
#define u32h_load(p)           _mm_loadu_si128((const __m128i *)(const void *)(p))
#define u32h_store(p, i)       _mm_storeu_si128((__m128i *)(void *)(p), i)
#define u32h_add(a, b)         _mm_add_epi32(a, b)
#define u32h_sub(a, b)         _mm_sub_epi32(a, b)
#define u32h_and(a, b)         _mm_and_si128(a, b)
#define u32h_xor(a, b)         _mm_xor_si128(a, b)
#define u32h_or3(a, b, c)      _mm_or_si128(_mm_or_si128(a, b), c)
#define u32h_any_top_bit(a)    (_mm_movemask_ps(_mm_castsi128_ps(a)) != 0)
#define u32h_sign_mask(a)      _mm_srai_epi32(a, 31)
#define u32h_shift_right(a, n) _mm_srl_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define u32h_shift_left(a, n)  _mm_sll_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define F64_LOAD_16(p)         _mm_loadl_epi64((const __m128i *)(const void *)(p))
#endif

#if defined(SIMD_AVX512)

enum { F64_LANES = 8, F64_FUSED = 1 };
typedef __m512d f64x;
typedef __m256i u32h;
typedef __mmask8 f64x_mask;

#define f64x_fill(x)           _mm512_set1_pd(x)
#define f64x_add(a, b)         _mm512_add_pd(a, b)
#define f64x_sub(a, b)         _mm512_sub_pd(a, b)
#define f64x_truncate_i32(a)   _mm512_cvttpd_epi32(a)
#define f64x_whole_distance(a) _mm512_abs_pd(_mm512_reduce_pd(a, 0))
#define f64x_high_u32(a)       _mm512_cvtepi64_epi32(_mm512_srli_epi64(_mm512_castpd_si512(a), 32))
#define u32h_sub(a, b)         _mm256_sub_epi32(a, b)
#define u32h_and(a, b)         _mm256_and_si256(a, b)
#define u32h_xor(a, b)         _mm256_xor_si256(a, b)
#define u32h_or3(a, b, c)      _mm256_ternarylogic_epi32(a, b, c, 0xfe)
#define u32h_any_top_bit(a)    (_mm256_movemask_ps(_mm256_castsi256_ps(a)) != 0)
#define u32h_sign_mask(a)      _mm256_srai_epi32(a, 31)
#define u32h_shift_right(a, n) _mm256_srl_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define f64x_mul(a, b)         _mm512_mul_pd(a, b)
#define f64x_mul_add(a, b, c)  _mm512_fmadd_pd(a, b, c)
#define f64x_clamp(x, a, b)    _mm512_max_pd(a, _mm512_min_pd(b, x))
#define f64x_round_i32(a)      _mm512_cvtpd_epi32(a)
#define f64x_select(s, a, b)   _mm512_mask_mov_pd(b, s, a)
#define f64x_not_below(a, b)   _mm512_cmp_pd_mask(a, b, _CMP_NLT_UQ)
#define f64x_nearest(a)        _mm512_roundscale_pd(a, 0)
#define f64x_below(a, b)       _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)
#define f64x_equal(a, b)       _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ)
#define f64x_abs(a)            _mm512_abs_pd(a)
#define f64x_mask_and(s, t)    ((f64x_mask)((s) & (t)))
#define f64x_mask_or(s, t)     ((f64x_mask)((s) | (t)))
#define f64x_mask_none()       ((f64x_mask)0)
#define f64x_mask_any(s)       ((s) != 0)

#define f64x_affine_floor(a, b, c)                                                                 \
    _mm512_fmadd_round_pd(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)

#define u32h_fill(x)          _mm256_set1_epi32((int)(x))
#define u32h_load(p)          _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define u32h_store(p, i)      _mm256_storeu_si256((__m256i *)(void *)(p), i)
#define u32h_add(a, b)        _mm256_add_epi32(a, b)
#define u32h_shift_left(a, n) _mm256_sll_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define u32h_min(a, b)        _mm256_min_epu32(a, b)
#define u32h_increment(n, s)  _mm256_mask_add_epi32(n, s, n, _mm256_set1_epi32(1))
#define u32h_select(s, a, b)  _mm256_mask_mov_epi32(b, s, a)

#define f64x_load_f64(p) _mm512_loadu_pd(p)
#define f64x_load_f32(p) _mm512_cvtps_pd(_mm256_loadu_ps((const float *)(const void *)(p)))
#define f64x_load_i32(p) _mm512_cvtepi32_pd(u32h_load(p))
#define f64x_load_u32(p) _mm512_cvtepu32_pd(u32h_load(p))
#define f64x_load_i64(p) _mm512_cvtepi64_pd(_mm512_loadu_si512(p))
#define f64x_load_u64(p) _mm512_cvtepu64_pd(_mm512_loadu_si512(p))
#define F64_LOAD_16(p)   _mm_loadu_si128((const __m128i *)(const void *)(p))
#define f64x_load_i16(p) _mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(F64_LOAD_16(p)))
#define f64x_load_u16(p) _mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(F64_LOAD_16(p)))
#define f64x_load_f16(p) _mm512_cvtps_pd(_mm256_cvtph_ps(F64_LOAD_16(p)))
#define f64x_load_bf16(p)                                                                          \
    _mm512_cvtps_pd(                                                                               \
        _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(F64_LOAD_16(p)), 16)))

enum { F32_LANES = 16, F32_FUSED = 1 };
typedef __m512 f32x;
typedef __m512i u32x;

#define f32x_fill(x)                  _mm512_set1_ps((float)(x))
#define f32x_mul_add(a, b, c)         _mm512_fmadd_ps(a, b, c)
#define f32x_clamp(x, low, high)      _mm512_max_ps(low, _mm512_min_ps(high, x))
#define f32x_round_i32(x)             _mm512_cvtps_epi32(x)
#define u32x_fill(x)                  _mm512_set1_epi32((int)(x))
#define u32x_load(p)                  _mm512_loadu_si512(p)
#define u32x_store(p, i)              _mm512_storeu_si512(p, i)
#define u32x_add(a, b)                _mm512_add_epi32(a, b)
#define u32x_sub(a, b)                _mm512_sub_epi32(a, b)
#define u32x_and(a, b)                _mm512_and_si512(a, b)
#define u32x_or3(a, b, c)             _mm512_ternarylogic_epi32(a, b, c, 0xfe)
#define u32x_and_or(a, keep, b)       _mm512_ternarylogic_epi32(a, keep, b, 0xea)
#define u32x_shift_right(a, n)        _mm512_srl_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define u32x_any_top_bit(a)           (_mm512_movepi32_mask(a) != 0)
#define u32x_select_equal(x, y, a, b) _mm512_mask_mov_epi32(b, _mm512_cmpeq_epi32_mask(x, y), a)
#define u32x_max_i32(a, b)            _mm512_max_epi32(a, b)
#define f32x_bits(x)                  _mm512_castps_si512(x)
#define f32x_of_bits(i)               _mm512_castsi512_ps(i)
#define f32x_add(a, b)                _mm512_add_ps(a, b)
#define f64x_of_f32x(x, i)                                                                         \
    _mm512_cvtps_pd((i) ? _mm512_extractf32x8_ps(x, 1) : _mm512_castps512_ps256(x))
#define f32x_load_f32(p) _mm512_loadu_ps(p)
#define F32_LOAD_16(p)   _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define f32x_load_u16(p) _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(F32_LOAD_16(p)))
#define f32x_load_i16(p) _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(F32_LOAD_16(p)))
#define f32x_load_f16(p) _mm512_cvtph_ps(F32_LOAD_16(p))
#define f32x_load_bf16(p)                                                                          \
    _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(F32_LOAD_16(p)), 16))

#elif defined(SIMD_AVX2)

enum { F64_LANES = 4, F64_FUSED = 1 };
typedef __m256d f64x;
typedef __m256d f64x_mask;

#define f64x_fill(x)           _mm256_set1_pd(x)
#define f64x_add(a, b)         _mm256_add_pd(a, b)
#define f64x_sub(a, b)         _mm256_sub_pd(a, b)
#define f64x_truncate_i32(a)   _mm256_cvttpd_epi32(a)
#define f64x_whole_distance(a) f64x_abs(f64x_sub(a, f64x_nearest(a)))
#define f64x_mul(a, b)         _mm256_mul_pd(a, b)
#define f64x_mul_add(a, b, c)  _mm256_fmadd_pd(a, b, c)
#define f64x_clamp(x, a, b)    _mm256_max_pd(a, _mm256_min_pd(b, x))
#define f64x_round_i32(a)      _mm256_cvtpd_epi32(a)
#define f64x_select(s, a, b)   _mm256_blendv_pd(b, a, s)
#define f64x_not_below(a, b)   _mm256_cmp_pd(a, b, _CMP_NLT_UQ)
#define f64x_nearest(a)        _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define f64x_below(a, b)       _mm256_cmp_pd(a, b, _CMP_LT_OQ)
#define f64x_equal(a, b)       _mm256_cmp_pd(a, b, _CMP_EQ_OQ)
#define f64x_abs(a)            _mm256_andnot_pd(_mm256_set1_pd(-0.0), a)
#define f64x_mask_and(s, t)    _mm256_and_pd(s, t)
#define f64x_mask_or(s, t)     _mm256_or_pd(s, t)
#define f64x_mask_none()       _mm256_setzero_pd()
#define f64x_mask_any(s)       (_mm256_movemask_pd(s) != 0)

#define f64x_affine_floor(a, b, c) _mm256_add_pd(_mm256_floor_pd(_mm256_mul_pd(a, b)), c)

#define u32h_min(a, b)       _mm_min_epu32(a, b)
#define u32h_increment(n, s) _mm_sub_epi32(n, f64x_mask_low(s))

/* The low halves of a mask's lanes. */
INLINE __m128i f64x_mask_low(f64x_mask s)
{
    __m128 first = _mm_castpd_ps(_mm256_castpd256_pd128(s));
    __m128 second = _mm_castpd_ps(_mm256_extractf128_pd(s, 1));
    return _mm_castps_si128(_mm_shuffle_ps(first, second, _MM_SHUFFLE(2, 0, 2, 0)));
}

INLINE u32h f64x_high_u32(f64x x)
{
    __m128 first = _mm_castpd_ps(_mm256_castpd256_pd128(x));
    __m128 second = _mm_castpd_ps(_mm256_extractf128_pd(x, 1));
    return _mm_castps_si128(_mm_shuffle_ps(first, second, _MM_SHUFFLE(3, 1, 3, 1)));
}

/* a where s holds, else b. */
INLINE u32h u32h_select(f64x_mask s, u32h a, u32h b)
{
    return _mm_blendv_epi8(b, a, f64x_mask_low(s));
}

INLINE f64x f64x_load_u64(const unsigned char *p)
{
    /* Both halves exactly, then one addition that rounds once. */
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i high =
        _mm256_xor_si256(_mm256_srli_epi64(x, 32), _mm256_castpd_si256(_mm256_set1_pd(0x1p84)));
    __m256i low = _mm256_blend_epi32(x, _mm256_castpd_si256(_mm256_set1_pd(0x1p52)), 0xaa);
    __m256d h = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(0x1p84 + 0x1p52));
    return _mm256_add_pd(h, _mm256_castsi256_pd(low));
}

INLINE f64x f64x_load_i64(const unsigned char *p)
{
    /* As u64, with the high half moved up by 2^63 and down again. */
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i high = _mm256_xor_si256(_mm256_srli_epi64(x, 32),
                                    _mm256_castpd_si256(_mm256_set1_pd(0x1p84 + 0x1p63)));
    __m256i low = _mm256_blend_epi32(x, _mm256_castpd_si256(_mm256_set1_pd(0x1p52)), 0xaa);
    __m256d h = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(0x1p84 + 0x1p63 + 0x1p52));
    return _mm256_add_pd(h, _mm256_castsi256_pd(low));
}

#define f64x_load_f64(p) _mm256_loadu_pd((const double *)(const void *)(p))
#define f64x_load_f32(p) _mm256_cvtps_pd(_mm_loadu_ps((const float *)(const void *)(p)))
#define f64x_load_i32(p) _mm256_cvtepi32_pd(u32h_load(p))
#define f64x_load_u32(p)                                                                           \
    _mm256_add_pd(_mm256_cvtepi32_pd(_mm_xor_si128(u32h_load(p), u32h_fill(INT32_MIN))),           \
                  _mm256_set1_pd(0x1p31))
#define f64x_load_i16(p) _mm256_cvtepi32_pd(_mm_cvtepi16_epi32(F64_LOAD_16(p)))
#define f64x_load_u16(p) _mm256_cvtepi32_pd(_mm_cvtepu16_epi32(F64_LOAD_16(p)))
#define f64x_load_f16(p) _mm256_cvtps_pd(_mm_cvtph_ps(F64_LOAD_16(p)))
#define f64x_load_bf16(p)                                                                          \
    _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(F64_LOAD_16(p)), 16)))

enum { F32_LANES = 8, F32_FUSED = 1 };
typedef __m256 f32x;
typedef __m256i u32x;

#define f32x_fill(x)                  _mm256_set1_ps((float)(x))
#define f32x_mul_add(a, b, c)         _mm256_fmadd_ps(a, b, c)
#define f32x_clamp(x, low, high)      _mm256_max_ps(low, _mm256_min_ps(high, x))
#define f32x_round_i32(x)             _mm256_cvtps_epi32(x)
#define u32x_fill(x)                  _mm256_set1_epi32((int)(x))
#define u32x_load(p)                  _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define u32x_store(p, i)              _mm256_storeu_si256((__m256i *)(void *)(p), i)
#define u32x_add(a, b)                _mm256_add_epi32(a, b)
#define u32x_sub(a, b)                _mm256_sub_epi32(a, b)
#define u32x_and(a, b)                _mm256_and_si256(a, b)
#define u32x_or3(a, b, c)             _mm256_or_si256(_mm256_or_si256(a, b), c)
#define u32x_and_or(a, keep, b)       _mm256_or_si256(_mm256_and_si256(a, keep), b)
#define u32x_shift_right(a, n)        _mm256_srl_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define u32x_any_top_bit(a)           (_mm256_movemask_ps(_mm256_castsi256_ps(a)) != 0)
#define u32x_select_equal(x, y, a, b) _mm256_blendv_epi8(b, a, _mm256_cmpeq_epi32(x, y))
#define u32x_max_i32(a, b)            _mm256_max_epi32(a, b)
#define f32x_bits(x)                  _mm256_castps_si256(x)
#define f32x_of_bits(i)               _mm256_castsi256_ps(i)
#define f32x_add(a, b)                _mm256_add_ps(a, b)
#define f64x_of_f32x(x, i)                                                                         \
    _mm256_cvtps_pd((i) ? _mm256_extractf128_ps(x, 1) : _mm256_castps256_ps128(x))
#define f32x_load_f32(p) _mm256_loadu_ps((const float *)(const void *)(p))
#define F32_LOAD_16(p)   _mm_loadu_si128((const __m128i *)(const void *)(p))
#define f32x_load_u16(p) _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(F32_LOAD_16(p)))
#define f32x_load_i16(p) _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(F32_LOAD_16(p)))
#define f32x_load_f16(p) _mm256_cvtph_ps(F32_LOAD_16(p))
#define f32x_load_bf16(p)                                                                          \
    _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(F32_LOAD_16(p)), 16))

#elif defined(SIMD_SSE2)

/* Two vectors of two, so that the slots fill one of four. */
enum { F64_LANES = 4, F64_FUSED = 0 };
typedef struct f64x {
    __m128d a, b;
} f64x;
typedef f64x f64x_mask;

#define F64X_PAIR(name, ...)                                                                       \
    INLINE f64x name(f64x x, f64x y)                                                               \
    {                                                                                              \
        return (f64x){__VA_ARGS__(x.a, y.a), __VA_ARGS__(x.b, y.b)};                               \
    }
F64X_PAIR(f64x_add, _mm_add_pd)
F64X_PAIR(f64x_sub, _mm_sub_pd)
F64X_PAIR(f64x_mul, _mm_mul_pd)
F64X_PAIR(f64x_min, _mm_min_pd)
F64X_PAIR(f64x_max, _mm_max_pd)
F64X_PAIR(f64x_below, _mm_cmplt_pd)
F64X_PAIR(f64x_not_below, _mm_cmpnlt_pd)
F64X_PAIR(f64x_equal, _mm_cmpeq_pd)
F64X_PAIR(f64x_mask_and, _mm_and_pd)
F64X_PAIR(f64x_mask_or, _mm_or_pd)
F64X_PAIR(f64x_and_not, _mm_andnot_pd)
#undef F64X_PAIR

#define f64x_mul_add(a, b, c)  f64x_add(f64x_mul(a, b), c)
#define f64x_clamp(x, a, b)    f64x_max(a, f64x_min(b, x))
#define f64x_select(s, a, b)   f64x_mask_or(f64x_mask_and(s, a), f64x_and_not(s, b))
#define f64x_abs(x)            f64x_and_not(f64x_fill(-0.0), x)
#define f64x_whole_distance(a) f64x_abs(f64x_sub(a, f64x_nearest(a)))
#define f64x_mask_none()       f64x_fill(0)
#define f64x_mask_any(s)       (_mm_movemask_pd(_mm_or_pd((s).a, (s).b)) != 0)

INLINE f64x f64x_fill(double x)
{
    return (f64x){_mm_set1_pd(x), _mm_set1_pd(x)};
}

INLINE f64x f64x_nearest(f64x x)
{
    return (f64x){_mm_cvtepi32_pd(_mm_cvtpd_epi32(x.a)), _mm_cvtepi32_pd(_mm_cvtpd_epi32(x.b))};
}

INLINE u32h u32h_pick(__m128i s, u32h a, u32h b)
{
    return _mm_or_si128(_mm_and_si128(s, a), _mm_andnot_si128(s, b));
}

/* SSE2 compares signed lanes only. */
INLINE u32h u32h_min(u32h a, u32h b)
{
    __m128i top = u32h_fill(INT32_MIN);
    return u32h_pick(_mm_cmpgt_epi32(_mm_xor_si128(a, top), _mm_xor_si128(b, top)), b, a);
}

#define u32h_increment(n, s) _mm_sub_epi32(n, f64x_mask_low(s))

INLINE __m128i f64x_mask_low(f64x_mask s)
{
    return _mm_castps_si128(
        _mm_shuffle_ps(_mm_castpd_ps(s.a), _mm_castpd_ps(s.b), _MM_SHUFFLE(2, 0, 2, 0)));
}

#define u32h_select(s, a, b) u32h_pick(f64x_mask_low(s), a, b)

INLINE u32h f64x_round_i32(f64x x)
{
    return _mm_unpacklo_epi64(_mm_cvtpd_epi32(x.a), _mm_cvtpd_epi32(x.b));
}

INLINE u32h f64x_truncate_i32(f64x x)
{
    return _mm_unpacklo_epi64(_mm_cvttpd_epi32(x.a), _mm_cvttpd_epi32(x.b));
}

INLINE u32h f64x_high_u32(f64x x)
{
    return _mm_castps_si128(
        _mm_shuffle_ps(_mm_castpd_ps(x.a), _mm_castpd_ps(x.b), _MM_SHUFFLE(3, 1, 3, 1)));
}

INLINE f64x f64x_load_f64(const unsigned char *p)
{
    return (f64x){_mm_loadu_pd((const double *)(const void *)p),
                  _mm_loadu_pd((const double *)(const void *)(p + 16))};
}

INLINE f64x f64x_of_f32(__m128 x)
{
    return (f64x){_mm_cvtps_pd(x), _mm_cvtps_pd(_mm_movehl_ps(x, x))};
}

INLINE f64x f64x_of_i32(__m128i x)
{
    return (f64x){_mm_cvtepi32_pd(x), _mm_cvtepi32_pd(_mm_unpackhi_epi64(x, x))};
}

#define f64x_load_f32(p) f64x_of_f32(_mm_loadu_ps((const float *)(const void *)(p)))
#define f64x_load_i32(p) f64x_of_i32(u32h_load(p))
#define f64x_load_u32(p)                                                                           \
    f64x_add(f64x_of_i32(_mm_xor_si128(u32h_load(p), u32h_fill(INT32_MIN))), f64x_fill(0x1p31))
#define f64x_load_u16(p) f64x_of_i32(_mm_unpacklo_epi16(F64_LOAD_16(p), _mm_setzero_si128()))
#define f64x_load_i16(p)                                                                           \
    f64x_of_i32(_mm_srai_epi32(_mm_unpacklo_epi16(_mm_setzero_si128(), F64_LOAD_16(p)), 16))
#define f64x_load_bf16(p)                                                                          \
    f64x_of_f32(_mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), F64_LOAD_16(p))))

#define F64X_GATHER(name, type, decode)                                                            \
    INLINE f64x f64x_load_##name(const unsigned char *p)                                           \
    {                                                                                              \
        type x[4];                                                                                 \
        memcpy(x, p, sizeof x);                                                                    \
        return (f64x){_mm_set_pd((double)decode(x[1]), (double)decode(x[0])),                      \
                      _mm_set_pd((double)decode(x[3]), (double)decode(x[2]))};                     \
    }
F64X_GATHER(i64, int64_t, )
F64X_GATHER(u64, uint64_t, )
F64X_GATHER(f16, uint16_t, ty_f16_decode)
#undef F64X_GATHER

enum { F32_LANES = 4, F32_FUSED = 0 };
typedef __m128 f32x;
typedef __m128i u32x;

#define f32x_fill(x)                  _mm_set1_ps((float)(x))
#define f32x_mul_add(a, b, c)         _mm_add_ps(_mm_mul_ps(a, b), c)
#define f32x_clamp(x, low, high)      _mm_max_ps(low, _mm_min_ps(high, x))
#define f32x_round_i32(x)             _mm_cvtps_epi32(x)
#define u32x_fill(x)                  u32h_fill(x)
#define u32x_load(p)                  u32h_load(p)
#define u32x_store(p, i)              u32h_store(p, i)
#define u32x_add(a, b)                u32h_add(a, b)
#define u32x_sub(a, b)                u32h_sub(a, b)
#define u32x_and(a, b)                u32h_and(a, b)
#define u32x_or3(a, b, c)             u32h_or3(a, b, c)
#define u32x_and_or(a, keep, b)       _mm_or_si128(_mm_and_si128(a, keep), b)
#define u32x_shift_right(a, n)        u32h_shift_right(a, n)
#define u32x_any_top_bit(a)           u32h_any_top_bit(a)
#define u32x_select_equal(x, y, a, b) u32h_pick(_mm_cmpeq_epi32(x, y), a, b)
#define u32x_max_i32(a, b)            u32h_pick(_mm_cmpgt_epi32(a, b), a, b)
#define f32x_bits(x)                  _mm_castps_si128(x)
#define f32x_of_bits(i)               _mm_castsi128_ps(i)
#define f32x_add(a, b)                _mm_add_ps(a, b)
#define f64x_of_f32x(x, i)            f64x_of_f32(x)
#define f32x_load_f32(p)              _mm_loadu_ps((const float *)(const void *)(p))

#define f32x_load_u16(p) _mm_cvtepi32_ps(_mm_unpacklo_epi16(F64_LOAD_16(p), _mm_setzero_si128()))
#define f32x_load_i16(p)                                                                           \
    _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(_mm_setzero_si128(), F64_LOAD_16(p)), 16))
#define f32x_load_bf16(p) _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), F64_LOAD_16(p)))

INLINE f32x f32x_load_f16(const unsigned char *p)
{
    uint16_t x[4];
    memcpy(x, p, sizeof x);
    return _mm_set_ps(ty_f16_decode(x[3]), ty_f16_decode(x[2]), ty_f16_decode(x[1]),
                      ty_f16_decode(x[0]));
}

#elif defined(SIMD_NEON)
#include "cpu/simd_neon.h"
#else

enum { F64_LANES = 1, F64_FUSED = 0 };
typedef double f64x;
typedef uint32_t u32h;
typedef int f64x_mask;

#define f64x_fill(x)           (x)
#define f64x_add(a, b)         ((a) + (b))
#define f64x_sub(a, b)         ((a) - (b))
#define f64x_whole_distance(a) f64x_abs(f64x_sub(a, f64x_nearest(a)))
#define u32h_sub(a, b)         ((a) - (b))
#define u32h_and(a, b)         ((a) & (b))
#define u32h_xor(a, b)         ((a) ^ (b))
#define u32h_or3(a, b, c)      ((a) | (b) | (c))
#define u32h_any_top_bit(a)    ((a) >> 31 != 0)
#define u32h_sign_mask(a)      ((uint32_t)((int32_t)(a) >> 31))
#define u32h_shift_right(a, n) ((a) >> (n))

INLINE uint32_t f64x_truncate_i32(double x)
{
    return x > -2e9 && x < 2e9 ? (uint32_t)(int32_t)x : UINT32_C(1) << 31;
}

INLINE uint32_t f64x_high_u32(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint32_t)(bits >> 32);
}
#define f64x_mul(a, b)         ((a) * (b))
#define f64x_mul_add(a, b, c)  ((a) * (b) + (c))
#define f64x_clamp(x, a, b)    ((x) < (a) ? (a) : (x) > (b) ? (b) : (x))
#define f64x_select(s, a, b)   ((s) ? (a) : (b))
#define f64x_not_below(a, b)   (!((a) < (b)))
#define f64x_nearest(a)        __builtin_rint(a)
#define f64x_below(a, b)       ((a) < (b))
#define f64x_equal(a, b)       ((a) == (b))
#define f64x_abs(a)            __builtin_fabs(a)
#define f64x_mask_and(s, t)    ((s) & (t))
#define f64x_mask_or(s, t)     ((s) | (t))
#define f64x_mask_none()       0
#define f64x_mask_any(s)       ((s) != 0)

#define u32h_fill(x)          ((uint32_t)(x))
#define u32h_add(a, b)        ((a) + (b))
#define u32h_shift_left(a, n) ((a) << (n))
#define u32h_min(a, b)        ((a) < (b) ? (a) : (b))
#define u32h_increment(n, s)  ((n) + (uint32_t)(s))
#define u32h_select(s, a, b)  ((s) ? (a) : (b))

INLINE u32h u32h_load(const void *p)
{
    u32h i;
    memcpy(&i, p, sizeof i);
    return i;
}

INLINE void u32h_store(void *p, u32h i)
{
    memcpy(p, &i, sizeof i);
}

INLINE u32h f64x_round_i32(double x)
{
    double r = __builtin_rint(x);
    return r > -2e9 && r < 2e9 ? (uint32_t)(int32_t)r : UINT32_C(1) << 31;
}

#define F64X_LOAD(name, type, decode)                                                              \
    INLINE f64x f64x_load_##name(const unsigned char *p)                                           \
    {                                                                                              \
        type x;                                                                                    \
        memcpy(&x, p, sizeof x);                                                                   \
        return (double)decode(x);                                                                  \
    }
F64X_LOAD(u16, uint16_t, )
F64X_LOAD(i16, int16_t, )
F64X_LOAD(u32, uint32_t, )
F64X_LOAD(i32, int32_t, )
F64X_LOAD(u64, uint64_t, )
F64X_LOAD(i64, int64_t, )
F64X_LOAD(f16, uint16_t, ty_f16_decode)
F64X_LOAD(bf16, uint16_t, ty_bf16_decode)
F64X_LOAD(f32, float, )
F64X_LOAD(f64, double, )
#undef F64X_LOAD

enum { F32_LANES = 1, F32_FUSED = 0 };
typedef float f32x;
typedef uint32_t u32x;

INLINE float f32x_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE uint32_t f32x_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#define f32x_fill(x)                  ((float)(x))
#define f32x_mul_add(a, b, c)         ((a) * (b) + (c))
#define f32x_clamp(x, low, high)      ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
#define f32x_round_i32(x)             f64x_round_i32(x)
#define u32x_fill(x)                  u32h_fill(x)
#define u32x_load(p)                  u32h_load(p)
#define u32x_store(p, i)              u32h_store(p, i)
#define u32x_add(a, b)                u32h_add(a, b)
#define u32x_sub(a, b)                u32h_sub(a, b)
#define u32x_and(a, b)                u32h_and(a, b)
#define u32x_or3(a, b, c)             u32h_or3(a, b, c)
#define u32x_and_or(a, keep, b)       (((a) & (keep)) | (b))
#define u32x_shift_right(a, n)        u32h_shift_right(a, n)
#define u32x_any_top_bit(a)           u32h_any_top_bit(a)
#define u32x_select_equal(x, y, a, b) ((x) == (y) ? (a) : (b))
#define u32x_max_i32(a, b)            ((int32_t)(a) > (int32_t)(b) ? (a) : (b))
#define f32x_add(a, b)                ((a) + (b))
#define f64x_of_f32x(x, i)            ((double)(x))
#define f32x_load_u16(p)              ((float)f64x_load_u16(p))
#define f32x_load_i16(p)              ((float)f64x_load_i16(p))
#define f32x_load_f16(p)              ((float)f64x_load_f16(p))
#define f32x_load_bf16(p)             ((float)f64x_load_bf16(p))
#define f32x_load_f32(p)              ((float)f64x_load_f32(p))

#endif

#endif
