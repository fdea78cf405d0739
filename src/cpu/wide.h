/*
 * Vectors of float32 with as many 32-bit integers, as lanes.h has them of float64: 16 with AVX-512,
 * 8 with AVX2, 4 with SSE2, else 1. wide_i_same(x, y, a, b) is a in the lanes where x and y are the
 * same, else b; wide_i_most compares as signed integers; wide_lanes(x, i) are lanes i … as float64.
 */
#ifndef TY_WIDE_H
#define TY_WIDE_H

#include "cpu/lanes.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

enum { WIDE = 16, WIDE_FUSED = 1 };
typedef __m512 wide_f;
typedef __m512i wide_i;

#define wide_fill(x)             _mm512_set1_ps((float)(x))
#define wide_mul_add(a, b, c)    _mm512_fmadd_ps(a, b, c)
#define wide_clamp(x, low, high) _mm512_max_ps(low, _mm512_min_ps(high, x))
#define wide_round(x)            _mm512_cvtps_epi32(x)
#define wide_i_fill(x)           _mm512_set1_epi32((int)(x))
#define wide_i_load(p)           _mm512_loadu_si512(p)
#define wide_i_store(p, i)       _mm512_storeu_si512(p, i)
#define wide_i_add(a, b)         _mm512_add_epi32(a, b)
#define wide_i_sub(a, b)         _mm512_sub_epi32(a, b)
#define wide_i_and(a, b)         _mm512_and_si512(a, b)
#define wide_i_or3(a, b, c)      _mm512_ternarylogic_epi32(a, b, c, 0xfe)
#define wide_i_put(a, keep, b)   _mm512_ternarylogic_epi32(a, keep, b, 0xea)
#define wide_i_right(a, n)       _mm512_srl_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define wide_i_negative(a)       (_mm512_movepi32_mask(a) != 0)
#define wide_i_same(x, y, a, b)  _mm512_mask_mov_epi32(b, _mm512_cmpeq_epi32_mask(x, y), a)
#define wide_i_most(a, b)        _mm512_max_epi32(a, b)
#define wide_bits(x)             _mm512_castps_si512(x)
#define wide_of_bits(i)          _mm512_castsi512_ps(i)
#define wide_add(a, b)           _mm512_add_ps(a, b)
#define wide_lanes(x, i)                                                                           \
    _mm512_cvtps_pd((i) ? _mm512_extractf32x8_ps(x, 1) : _mm512_castps512_ps256(x))
#define wide_load_f32(p) _mm512_loadu_ps(p)
#define WIDE_16(p)       _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define wide_load_u16(p) _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(WIDE_16(p)))
#define wide_load_i16(p) _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(WIDE_16(p)))
#define wide_load_f16(p) _mm512_cvtph_ps(WIDE_16(p))
#define wide_load_bf16(p)                                                                          \
    _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(WIDE_16(p)), 16))

#elif defined(__AVX2__) && defined(__FMA__)

enum { WIDE = 8, WIDE_FUSED = 1 };
typedef __m256 wide_f;
typedef __m256i wide_i;

#define wide_fill(x)             _mm256_set1_ps((float)(x))
#define wide_mul_add(a, b, c)    _mm256_fmadd_ps(a, b, c)
#define wide_clamp(x, low, high) _mm256_max_ps(low, _mm256_min_ps(high, x))
#define wide_round(x)            _mm256_cvtps_epi32(x)
#define wide_i_fill(x)           _mm256_set1_epi32((int)(x))
#define wide_i_load(p)           _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define wide_i_store(p, i)       _mm256_storeu_si256((__m256i *)(void *)(p), i)
#define wide_i_add(a, b)         _mm256_add_epi32(a, b)
#define wide_i_sub(a, b)         _mm256_sub_epi32(a, b)
#define wide_i_and(a, b)         _mm256_and_si256(a, b)
#define wide_i_or3(a, b, c)      _mm256_or_si256(_mm256_or_si256(a, b), c)
#define wide_i_put(a, keep, b)   _mm256_or_si256(_mm256_and_si256(a, keep), b)
#define wide_i_right(a, n)       _mm256_srl_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define wide_i_negative(a)       (_mm256_movemask_ps(_mm256_castsi256_ps(a)) != 0)
#define wide_i_same(x, y, a, b)  _mm256_blendv_epi8(b, a, _mm256_cmpeq_epi32(x, y))
#define wide_i_most(a, b)        _mm256_max_epi32(a, b)
#define wide_bits(x)             _mm256_castps_si256(x)
#define wide_of_bits(i)          _mm256_castsi256_ps(i)
#define wide_add(a, b)           _mm256_add_ps(a, b)
#define wide_lanes(x, i)                                                                           \
    _mm256_cvtps_pd((i) ? _mm256_extractf128_ps(x, 1) : _mm256_castps256_ps128(x))
#define wide_load_f32(p) _mm256_loadu_ps((const float *)(const void *)(p))
#define WIDE_16(p)       _mm_loadu_si128((const __m128i *)(const void *)(p))
#define wide_load_u16(p) _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(WIDE_16(p)))
#define wide_load_i16(p) _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(WIDE_16(p)))
#define wide_load_f16(p) _mm256_cvtph_ps(WIDE_16(p))
#define wide_load_bf16(p)                                                                          \
    _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(WIDE_16(p)), 16))

#elif defined(__SSE2__)

enum { WIDE = 4, WIDE_FUSED = 0 };
typedef __m128 wide_f;
typedef __m128i wide_i;

#define wide_fill(x)             _mm_set1_ps((float)(x))
#define wide_mul_add(a, b, c)    _mm_add_ps(_mm_mul_ps(a, b), c)
#define wide_clamp(x, low, high) _mm_max_ps(low, _mm_min_ps(high, x))
#define wide_round(x)            _mm_cvtps_epi32(x)
#define wide_i_fill(x)           lanes_i_fill(x)
#define wide_i_load(p)           lanes_i_load(p)
#define wide_i_store(p, i)       lanes_i_store(p, i)
#define wide_i_add(a, b)         lanes_i_add(a, b)
#define wide_i_sub(a, b)         lanes_i_sub(a, b)
#define wide_i_and(a, b)         lanes_i_and(a, b)
#define wide_i_or3(a, b, c)      lanes_i_or3(a, b, c)
#define wide_i_put(a, keep, b)   lanes_i_put(a, keep, b)
#define wide_i_right(a, n)       lanes_i_right(a, n)
#define wide_i_negative(a)       lanes_i_negative(a)
#define wide_i_same(x, y, a, b)  lanes_i_pick(_mm_cmpeq_epi32(x, y), a, b)
#define wide_i_most(a, b)        lanes_i_pick(_mm_cmpgt_epi32(a, b), a, b)
#define wide_bits(x)             _mm_castps_si128(x)
#define wide_of_bits(i)          _mm_castsi128_ps(i)
#define wide_add(a, b)           _mm_add_ps(a, b)
#define wide_lanes(x, i)         lanes_of_f32(x)
#define wide_load_f32(p)         _mm_loadu_ps((const float *)(const void *)(p))
#define wide_load_u16(p)         _mm_cvtepi32_ps(_mm_unpacklo_epi16(LANES_16(p), _mm_setzero_si128()))
#define wide_load_i16(p)                                                                           \
    _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(_mm_setzero_si128(), LANES_16(p)), 16))
#define wide_load_bf16(p) _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), LANES_16(p)))

INLINE wide_f wide_load_f16(const unsigned char *p)
{
    uint16_t x[4];
    memcpy(x, p, sizeof x);
    return _mm_set_ps(ty_f16_decode(x[3]), ty_f16_decode(x[2]), ty_f16_decode(x[1]),
                      ty_f16_decode(x[0]));
}

#else

enum { WIDE = 1, WIDE_FUSED = 0 };
typedef float wide_f;
typedef uint32_t wide_i;

INLINE float wide_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE uint32_t wide_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#define wide_fill(x)             ((float)(x))
#define wide_mul_add(a, b, c)    ((a) * (b) + (c))
#define wide_clamp(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
#define wide_round(x)            lanes_round(x)
#define wide_i_fill(x)           lanes_i_fill(x)
#define wide_i_load(p)           lanes_i_load(p)
#define wide_i_store(p, i)       lanes_i_store(p, i)
#define wide_i_add(a, b)         lanes_i_add(a, b)
#define wide_i_sub(a, b)         lanes_i_sub(a, b)
#define wide_i_and(a, b)         lanes_i_and(a, b)
#define wide_i_or3(a, b, c)      lanes_i_or3(a, b, c)
#define wide_i_put(a, keep, b)   lanes_i_put(a, keep, b)
#define wide_i_right(a, n)       lanes_i_right(a, n)
#define wide_i_negative(a)       lanes_i_negative(a)
#define wide_i_same(x, y, a, b)  ((x) == (y) ? (a) : (b))
#define wide_i_most(a, b)        ((int32_t)(a) > (int32_t)(b) ? (a) : (b))
#define wide_add(a, b)           ((a) + (b))
#define wide_lanes(x, i)         ((double)(x))
#define wide_load_u16(p)         ((float)lanes_load_u16(p))
#define wide_load_i16(p)         ((float)lanes_load_i16(p))
#define wide_load_f16(p)         ((float)lanes_load_f16(p))
#define wide_load_bf16(p)        ((float)lanes_load_bf16(p))
#define wide_load_f32(p)         ((float)lanes_load_f32(p))

#endif

#endif
