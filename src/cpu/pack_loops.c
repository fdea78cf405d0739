/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes brought together (pack.h); most loops are vectorised by the compiler. */
#include "cpu/pack.h"
#include "cpu/isa.h"

#if defined(__AVX512VBMI2__)
#include <immintrin.h>
#endif

/* Vectors of 64 elements first, if there are shuffles for them; `i` says where the loops go on. */
#if defined(__AVX512VBMI__)

enum { AHEAD = 4096 }; /* bytes asked for before their use */

#define LOAD(k)     (__builtin_prefetch(from + AHEAD + (k)*64), _mm512_loadu_si512(from + (k)*64))
#define STORE(t, v) _mm512_storeu_si512((t) + i, v)

/* The even (first 0) or odd (1) bytes of two vectors. */
static inline __m512i every_other(unsigned first)
{
    uint8_t at[64];
    for (unsigned k = 0; k < 64; k++)
        at[k] = (uint8_t)(first + 2 * k);
    return _mm512_loadu_si512(at);
}

static inline size_t split2_vectors(const uint8_t *from, size_t elements, uint8_t *to0,
                                    uint8_t *to1)
{
    const __m512i even = every_other(0), odd = every_other(1);
    size_t i = 0;
    for (; i + 64 <= elements; i += 64, from += 128) {
        __m512i a = LOAD(0), b = LOAD(1);
        STORE(to0, _mm512_permutex2var_epi8(a, even, b));
        STORE(to1, _mm512_permutex2var_epi8(a, odd, b));
    }
    return i;
}

/* Of 192 bytes, channel c takes from the first two vectors while its indices stay below 128. */
static inline size_t split3_vectors(const uint8_t *from, size_t elements, uint8_t *to0,
                                    uint8_t *to1, uint8_t *to2)
{
    uint8_t *to[3] = {to0, to1, to2};
    __m512i low[3], high[3];
    for (unsigned c = 0; c < 3; c++) {
        uint8_t a[64], b[64];
        for (unsigned k = 0; k < 64; k++) {
            unsigned at = c + 3 * k;
            a[k] = (uint8_t)(at & 127);
            b[k] = (uint8_t)(at < 128 ? k : 64 + at - 128);
        }
        low[c] = _mm512_loadu_si512(a);
        high[c] = _mm512_loadu_si512(b);
    }
    size_t i = 0;
    for (; i + 64 <= elements; i += 64, from += 192) {
        __m512i x = LOAD(0), y = LOAD(1), z = LOAD(2);
        for (int c = 0; c < 3; c++) {
            __m512i first = _mm512_permutex2var_epi8(x, low[c], y);
            STORE(to[c], _mm512_permutex2var_epi8(first, high[c], z));
        }
    }
    return i;
}

static inline size_t split4_vectors(const uint8_t *from, size_t elements, uint8_t *to0,
                                    uint8_t *to1, uint8_t *to2, uint8_t *to3)
{
    const __m512i even = every_other(0), odd = every_other(1);
    size_t i = 0;
    for (; i + 64 <= elements; i += 64, from += 256) {
        __m512i a = LOAD(0), b = LOAD(1), c = LOAD(2), d = LOAD(3);
        __m512i e0 = _mm512_permutex2var_epi8(a, even, b), o0 = _mm512_permutex2var_epi8(a, odd, b);
        __m512i e1 = _mm512_permutex2var_epi8(c, even, d), o1 = _mm512_permutex2var_epi8(c, odd, d);
        STORE(to0, _mm512_permutex2var_epi8(e0, even, e1));
        STORE(to1, _mm512_permutex2var_epi8(o0, even, o1));
        STORE(to2, _mm512_permutex2var_epi8(e0, odd, e1));
        STORE(to3, _mm512_permutex2var_epi8(o0, odd, o1));
    }
    return i;
}

#undef LOAD
#undef STORE
#else
#define split2_vectors(from, elements, a, b)       ((size_t)0)
#define split3_vectors(from, elements, a, b, c)    ((size_t)0)
#define split4_vectors(from, elements, a, b, c, d) ((size_t)0)
#endif

static void split2(const uint8_t *restrict from, size_t elements, uint8_t *restrict to0,
                   uint8_t *restrict to1)
{
    for (size_t i = split2_vectors(from, elements, to0, to1); i < elements; i++) {
        to0[i] = from[2 * i];
        to1[i] = from[2 * i + 1];
    }
}

static void split3(const uint8_t *restrict from, size_t elements, uint8_t *restrict to0,
                   uint8_t *restrict to1, uint8_t *restrict to2)
{
    for (size_t i = split3_vectors(from, elements, to0, to1, to2); i < elements; i++) {
        to0[i] = from[3 * i];
        to1[i] = from[3 * i + 1];
        to2[i] = from[3 * i + 2];
    }
}

static void split4(const uint8_t *restrict from, size_t elements, uint8_t *restrict to0,
                   uint8_t *restrict to1, uint8_t *restrict to2, uint8_t *restrict to3)
{
    for (size_t i = split4_vectors(from, elements, to0, to1, to2, to3); i < elements; i++) {
        to0[i] = from[4 * i];
        to1[i] = from[4 * i + 1];
        to2[i] = from[4 * i + 2];
        to3[i] = from[4 * i + 3];
    }
}

static size_t keep(const uint8_t *restrict from, const uint8_t *restrict mask, size_t n,
                   uint8_t *restrict to)
{
    size_t kept = 0, i = 0;
#if defined(__AVX512VBMI2__)
    for (; i + 64 <= n; i += 64) {
        __m512i m = _mm512_loadu_si512(mask + i);
        __mmask64 k = _mm512_test_epi8_mask(m, m);
        _mm512_storeu_si512(to + kept, _mm512_maskz_compress_epi8(k, _mm512_loadu_si512(from + i)));
        kept += (size_t)_mm_popcnt_u64(k);
    }
#endif
    for (; i < n; i++) {
        to[kept] = from[i];
        kept += mask[i] != 0;
    }
    return kept;
}

const ty_pack_loops TY_ISA_TABLE(ty_pack) = {split2, split3, split4, keep};
