/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of bytes_planes.h for a few KiB: every stream is complete before it is counted, so a
 * block is just as long as it has to be, parity counts are stored instead of added, and nothing is
 * cleared.
 */
#ifndef TY_CPU_BYTES_FEW_H
#define TY_CPU_BYTES_FEW_H

#include "cpu/bytes_planes.h"

enum {
    TY_GROUP = 512,       /* bytes that fill a vector of each plane */
    TY_FEW = 2048,        /* bytes from which this beats tables */
    TY_FEW_MOST = 16384,  /* bytes that one ty_few takes */
    TY_FEW_WORTH = 65536, /* bytes up to which several in turn beat ty_planes */
    TY_FEW_TAIL = 48,     /* bytes of a stream counted one by one sooner than a group */
};

typedef struct ty_few {
    __m512i parity[64]; /* by subset of planes */
    __m512i plane[6][TY_PLANE];
    uint8_t stream[4][TY_FEW_MOST + TY_GROUP] __attribute__((aligned(64)));
} ty_few;

/* The set bits of x[0..groups) in each lane, given z[k] = x[0]^…^x[k]; see ty_parity_count(). */
TY_INLINE __m512i ty_few_parity(const __m512i z[TY_PLANE], int groups)
{
    __m512i twice = _mm512_setzero_si512();
#pragma GCC unroll 16
    for (int k = 0; k + 2 < groups; k += 2)
        twice = _mm512_add_epi64(
            twice, _mm512_popcnt_epi64(_mm512_ternarylogic_epi64(z[k], z[k + 1], z[k + 2], 0x74)));
    if (groups % 2 == 0)
        twice = _mm512_add_epi64(
            twice, _mm512_popcnt_epi64(_mm512_andnot_si512(z[groups - 1], z[groups - 2])));
    return _mm512_add_epi64(_mm512_popcnt_epi64(z[groups - 1]), _mm512_add_epi64(twice, twice));
}

/* Counts the parities of `groups` vectors a plane, a constant; the first block sets the sums. */
TY_INLINE void ty_few_walk(ty_few *e, int groups, int first)
{
    __m512i z[TY_PLANE], y[TY_PLANE];
#pragma GCC unroll 16
    for (int k = 0; k < groups; k++)
        z[k] = _mm512_setzero_si512();
    for (unsigned it = 0; it < TY_WALK; it++) {
        const __m512i *flip = e->plane[it ? __builtin_ctz(it) + 1 : 0];
        __m512i *parity = e->parity + 2 * (it ^ it / 2);
#pragma GCC unroll 16
        for (int k = 0; k < groups; k++) {
            z[k] = it ? _mm512_xor_si512(z[k], flip[k]) : z[k];
            y[k] = _mm512_xor_si512(z[k], e->plane[0][k]);
        }
        const __m512i a = ty_few_parity(z, groups), b = ty_few_parity(y, groups);
        parity[0] = first ? a : _mm512_add_epi64(parity[0], a);
        parity[1] = first ? b : _mm512_add_epi64(parity[1], b);
    }
}

static void ty_few_fill(ty_few *e, const uint8_t *p, int groups)
{
    __m512i running[6];
    for (int j = 0; j < 6; j++)
        running[j] = _mm512_setzero_si512();
    for (int k = 0; k < groups; k++) {
        __m512i plane[6];
        ty_transpose(p + TY_GROUP * k, plane);
        for (int j = 0; j < 6; j++) {
            running[j] = _mm512_xor_si512(running[j], plane[j]);
            _mm512_store_si512(&e->plane[j][k], running[j]);
        }
    }
}

/* The parities of a stream's first block; those after it are full. */
static void ty_few_first(ty_few *e, const uint8_t *p, int groups)
{
    ty_few_fill(e, p, groups);
    switch (groups) {
    case 1:
        ty_few_walk(e, 1, 1);
        break;
    case 2:
        ty_few_walk(e, 2, 1);
        break;
    case 3:
        ty_few_walk(e, 3, 1);
        break;
    case 4:
        ty_few_walk(e, 4, 1);
        break;
    case 5:
        ty_few_walk(e, 5, 1);
        break;
    case 6:
        ty_few_walk(e, 6, 1);
        break;
    case 7:
        ty_few_walk(e, 7, 1);
        break;
    case 8:
        ty_few_walk(e, 8, 1);
        break;
    default:
        ty_few_walk(e, TY_PLANE, 1);
    }
}

static void ty_few_next(ty_few *e, const uint8_t *p)
{
    ty_few_fill(e, p, TY_PLANE);
    ty_few_walk(e, TY_PLANE, 0);
}

/* Within each vector: lanes whose index has bit d get the difference from their partner, the others
 * the sum. */
TY_INLINE __m512i ty_butterfly(__m512i x, __m512i partner, __mmask8 upper)
{
    return _mm512_mask_sub_epi64(_mm512_add_epi64(x, partner), upper, partner, x);
}

/* Adds the counts of `samples` samples of six bits, whose parity counts e holds, to out. */
static void ty_few_transform(const ty_few *e, uint64_t samples, uint64_t out[64])
{
    __m512i w[8];
    for (int i = 0; i < 8; i++) {
        __m512i x = ty_lane_sums(e->parity + 8 * i);
        x = ty_butterfly(x, _mm512_permutex_epi64(x, 0xb1), 0xaa);
        x = ty_butterfly(x, _mm512_permutex_epi64(x, 0x4e), 0xcc);
        w[i] = ty_butterfly(x, _mm512_shuffle_i64x2(x, x, 0x4e), 0xf0);
    }
#pragma GCC unroll 3
    for (int d = 1; d < 8; d *= 2)
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++)
            if (!(i & d)) {
                const __m512i x = w[i], y = w[i + d];
                w[i] = _mm512_add_epi64(x, y);
                w[i + d] = _mm512_sub_epi64(x, y);
            }
    /* The counts' transform is samples - 2·odd, and twice transformed is 64-fold. */
    for (int i = 0; i < 8; i++)
        _mm512_storeu_si512(out + 8 * i, _mm512_sub_epi64(_mm512_loadu_si512(out + 8 * i),
                                                          _mm512_srai_epi64(w[i], 5)));
    out[0] += samples;
}

/* Counts the n bytes of stream s. */
static void ty_few_stream(ty_few *e, int s, size_t n, uint64_t out[256])
{
    uint8_t *p = e->stream[s];
    size_t tail = n % TY_GROUP;
    if (tail <= TY_FEW_TAIL) {
        for (n -= tail; tail; tail--)
            out[p[n + tail - 1]]++;
    }
    if (n == 0)
        return;
    const size_t groups = (n + TY_GROUP - 1) / TY_GROUP, first = (groups - 1) % TY_PLANE + 1;
    const size_t padding = groups * TY_GROUP - n;
    for (size_t i = n; i < groups * TY_GROUP; i += 64)
        _mm512_storeu_si512(p + i, _mm512_setzero_si512());
    ty_few_first(e, p, (int)first);
    for (size_t k = first; k < groups; k += TY_PLANE)
        ty_few_next(e, p + k * TY_GROUP);
    ty_few_transform(e, n + padding, out + 64 * s);
    out[64 * s] -= padding;
}

/* Adds the counts of p[0..n), n at most TY_FEW_MOST. */
static void ty_few_count(const uint8_t *p, size_t n, uint64_t out[256])
{
    ty_few e;
    ty_cursor c = {e.stream[0], e.stream[1], e.stream[2], e.stream[3]};
    for (; n >= 64; p += 64, n -= 64)
        ty_planes_split_full(&c, p);
    if (n) {
        const __mmask64 valid = _bzhi_u64(~UINT64_C(0), (unsigned)n);
        ty_planes_split_vector(&c, _mm512_maskz_loadu_epi8(valid, p), valid);
    }
    const uint8_t *end[4] = {c.s0, c.s1, c.s2, c.s3};
    for (int s = 0; s < 4; s++)
        ty_few_stream(&e, s, (size_t)(end[s] - e.stream[s]), out);
}

#endif
