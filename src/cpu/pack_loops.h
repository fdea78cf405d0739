/* The text of every ty_pack_* table; the loops are vectorised by the compiler. The including file
 * names the table by TY_PACK_TABLE. */
#include "cpu/pack.h"

#if defined(__AVX512VBMI2__)
#include <immintrin.h>
#endif

static void split2(const uint8_t *restrict from, size_t elements, uint8_t *restrict to0,
                   uint8_t *restrict to1)
{
    for (size_t i = 0; i < elements; i++) {
        to0[i] = from[2 * i];
        to1[i] = from[2 * i + 1];
    }
}

static void split3(const uint8_t *restrict from, size_t elements, uint8_t *restrict to0,
                   uint8_t *restrict to1, uint8_t *restrict to2)
{
    for (size_t i = 0; i < elements; i++) {
        to0[i] = from[3 * i];
        to1[i] = from[3 * i + 1];
        to2[i] = from[3 * i + 2];
    }
}

static void split4(const uint8_t *restrict from, size_t elements, uint8_t *restrict to0,
                   uint8_t *restrict to1, uint8_t *restrict to2, uint8_t *restrict to3)
{
    for (size_t i = 0; i < elements; i++) {
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

const ty_pack_loops TY_PACK_TABLE = {split2, split3, split4, keep};
