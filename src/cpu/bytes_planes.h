/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of bytes_avx512.c: bytes are split into four streams by their two top bits, and full
 * blocks of a stream are counted by the parities of their six low bit planes.
 */
#ifndef TY_CPU_BYTES_PLANES_H
#define TY_CPU_BYTES_PLANES_H

#include "cpu/bytes_tables.h"

#include <immintrin.h>

enum {
    TY_PLANE = 9,              /* vectors of a plane; odd, see ty_parity_count() */
    TY_BLOCK = TY_PLANE * 512, /* bytes counted at a time */
    TY_WALK = 32,              /* steps through the 64 subsets, two at a step */
    TY_STEPS = 2 * TY_WALK,    /* most vectors split while a block is counted */
    TY_BATCH = 16,             /* most vectors split at a time otherwise */
    TY_FULL = TY_BLOCK + 2048, /* a stream this full is counted before more is split */
    TY_STREAM_BYTES = TY_FULL + 64 * TY_STEPS, /* so a stream never holds more */
    TY_LITTLE = 1200,        /* bytes at the end that tables count sooner than a block */
    TY_PLANES_WORTH = 12288, /* bytes from which the engine beats tables */
};

typedef struct ty_planes {
    __m512i parity[4][64];      /* sums of each stream's parity counts, in order of the walk */
    __m512i plane[6][TY_PLANE]; /* bits of the block being counted, XORed along the second index */
    uint64_t blocks[4];         /* blocks counted of each stream */
    uint64_t repeated[256];     /* counts of repeated bytes that were not split */
    size_t fill[4];             /* bytes waiting in each stream */
    uint8_t stream[4][TY_STREAM_BYTES + 64] __attribute__((aligned(64)));
} ty_planes;

typedef struct ty_cursor {
    uint8_t *s0, *s1, *s2, *s3;
} ty_cursor;

TY_INLINE ty_cursor ty_planes_open(ty_planes *e)
{
    return (ty_cursor){e->stream[0] + e->fill[0], e->stream[1] + e->fill[1],
                       e->stream[2] + e->fill[2], e->stream[3] + e->fill[3]};
}

TY_INLINE void ty_planes_close(ty_planes *e, ty_cursor c)
{
    e->fill[0] = (size_t)(c.s0 - e->stream[0]);
    e->fill[1] = (size_t)(c.s1 - e->stream[1]);
    e->fill[2] = (size_t)(c.s2 - e->stream[2]);
    e->fill[3] = (size_t)(c.s3 - e->stream[3]);
}

/*
 * The bytes of v at `keep`, moved together. Written out because Zen 4 lets the instruction wait for
 * the last value of its destination, zeroing or not: 5 clocks where 1.3 would do, unless the
 * register is cleared before.
 */
TY_INLINE __m512i ty_compress(__mmask64 keep, __m512i v)
{
    __m512i packed;
    __asm__("vpxord %0, %0, %0\n\tvpcompressb %1, %0%{%2%}%{z%}"
            : "=&v"(packed)
            : "v"(v), "Yk"(keep));
    return packed;
}

/* Appends to each stream the bytes of v at `valid` that belong there. */
TY_INLINE void ty_planes_split_vector(ty_cursor *c, __m512i v, __mmask64 valid)
{
    const __m512i low = _mm512_set1_epi8(0x3f), high = _mm512_set1_epi8((char)0xc0);
    const __mmask64 k0 = _mm512_mask_cmple_epu8_mask(valid, v, low);
    const __mmask64 k1 = _mm512_mask_cmpgt_epi8_mask(valid, v, low);  /* signed: 0x40..0x7f */
    const __mmask64 k2 = _mm512_mask_cmplt_epi8_mask(valid, v, high); /* signed: 0x80..0xbf */
    const __mmask64 k3 = _mm512_mask_cmpge_epu8_mask(valid, v, high);
    const uint64_t n0 = (uint64_t)_mm_popcnt_u64(k0), n1 = (uint64_t)_mm_popcnt_u64(k1),
                   n2 = (uint64_t)_mm_popcnt_u64(k2), n = (uint64_t)_mm_popcnt_u64(valid);
    _mm512_storeu_si512(c->s0, ty_compress(k0, v));
    _mm512_storeu_si512(c->s1, ty_compress(k1, v));
    _mm512_storeu_si512(c->s2, ty_compress(k2, v));
    _mm512_storeu_si512(c->s3, ty_compress(k3, v));
    c->s0 += n0;
    c->s1 += n1;
    c->s2 += n2;
    c->s3 += n - n0 - n1 - n2;
}

TY_INLINE void ty_planes_split_full(ty_cursor *c, const uint8_t *p)
{
    ty_planes_split_vector(c, _mm512_loadu_si512(p), ~(__mmask64)0);
}

/* The low six bit planes of p[0..512), the samples in the same shuffled order in each. */
TY_INLINE void ty_transpose(const uint8_t *p, __m512i plane[6])
{
    /* gf2p8affine with the bytes as the matrix turns 8 bytes into 8 rows of bits. */
    const __m512i basis = _mm512_set1_epi64((int64_t)0x8040201008040201ull);
    /* Rows 0..3 (low) or 4..7 (high) of 16 groups of 8 bytes, two vectors at once. */
    const __m512i low = _mm512_set_epi64(0x7b736b635b534b43, 0x3b332b231b130b03, 0x7a726a625a524a42,
                                         0x3a322a221a120a02, 0x7971696159514941, 0x3931292119110901,
                                         0x7870686058504840, 0x3830282018100800);
    const __m512i high = _mm512_add_epi8(low, _mm512_set1_epi8(4));
    __m512i l[4], h[4];
    for (int k = 0; k < 4; k++) {
        const __m512i a = _mm512_gf2p8affine_epi64_epi8(basis, _mm512_loadu_si512(p + 128 * k), 0);
        const __m512i b =
            _mm512_gf2p8affine_epi64_epi8(basis, _mm512_loadu_si512(p + 128 * k + 64), 0);
        l[k] = _mm512_permutex2var_epi8(a, low, b);
        h[k] = _mm512_permutex2var_epi8(a, high, b);
    }
    const __m512i l02 = _mm512_shuffle_i64x2(l[0], l[1], 0x88);
    const __m512i l13 = _mm512_shuffle_i64x2(l[0], l[1], 0xdd);
    const __m512i m02 = _mm512_shuffle_i64x2(l[2], l[3], 0x88);
    const __m512i m13 = _mm512_shuffle_i64x2(l[2], l[3], 0xdd);
    plane[0] = _mm512_shuffle_i64x2(l02, m02, 0x88);
    plane[2] = _mm512_shuffle_i64x2(l02, m02, 0xdd);
    plane[1] = _mm512_shuffle_i64x2(l13, m13, 0x88);
    plane[3] = _mm512_shuffle_i64x2(l13, m13, 0xdd);
    const __m512i h02 = _mm512_shuffle_i64x2(h[0], h[1], 0x88);
    const __m512i h13 = _mm512_shuffle_i64x2(h[0], h[1], 0xdd);
    const __m512i g02 = _mm512_shuffle_i64x2(h[2], h[3], 0x88);
    const __m512i g13 = _mm512_shuffle_i64x2(h[2], h[3], 0xdd);
    plane[4] = _mm512_shuffle_i64x2(h02, g02, 0x88);
    plane[5] = _mm512_shuffle_i64x2(h13, g13, 0x88);
}

/*
 * Adds to each 64-bit lane of `sum` the set bits of x[0..TY_PLANE), given z[k] = x[0]^…^x[k].
 * Three z in a row give the carry of one x plus the next two, by one look-up of three inputs
 * (x[2] + x[0] + x[1] for the first, z standing in for the sum bit carried so far after it), so
 * TY_PLANE vectors cost TY_PLANE/2 carries of weight two and one rest of weight one.
 */
TY_INLINE __m512i ty_parity_count(const __m512i z[TY_PLANE], __m512i sum)
{
    __m512i carries = _mm512_setzero_si512();
#pragma GCC unroll 16
    for (int k = 0; k + 2 < TY_PLANE; k += 2) {
        const __m512i carry = _mm512_ternarylogic_epi64(z[k], z[k + 1], z[k + 2], 0x74);
        carries = _mm512_add_epi64(carries, _mm512_popcnt_epi64(carry));
    }
    sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(z[TY_PLANE - 1]));
    return _mm512_add_epi64(sum, _mm512_add_epi64(carries, carries));
}

/* Moves z to the subset of step `it`: all planes of the Gray code of `it`, shifted by plane 0. */
TY_INLINE void ty_walk_to(const ty_planes *e, unsigned it, __m512i z[TY_PLANE])
{
    if (it == 0)
        return;
    const __m512i *flip = e->plane[__builtin_ctz(it) + 1];
#pragma GCC unroll 16
    for (int k = 0; k < TY_PLANE; k++)
        z[k] = _mm512_xor_si512(z[k], flip[k]);
}

/* Counts the step's subset with plane 0 as well. */
TY_INLINE __m512i ty_parity_count_flipped(const ty_planes *e, const __m512i z[TY_PLANE],
                                          __m512i sum)
{
    __m512i y[TY_PLANE];
#pragma GCC unroll 16
    for (int k = 0; k < TY_PLANE; k++)
        y[k] = _mm512_xor_si512(z[k], e->plane[0][k]);
    return ty_parity_count(y, sum);
}

/* Turns the first block of stream s into planes. */
TY_INLINE void ty_planes_fill(ty_planes *e, int s)
{
    __m512i running[6];
    for (int j = 0; j < 6; j++)
        running[j] = _mm512_setzero_si512();
    for (int k = 0; k < TY_PLANE; k++) {
        __m512i plane[6];
        ty_transpose(e->stream[s] + 512 * k, plane);
        for (int j = 0; j < 6; j++) {
            running[j] = _mm512_xor_si512(running[j], plane[j]);
            _mm512_store_si512(&e->plane[j][k], running[j]);
        }
    }
}

/* Turns the first block of stream s into planes and moves what is behind it to the front, before
 * more is split: it is little now. */
TY_INLINE void ty_planes_take(ty_planes *e, int s)
{
    ty_planes_fill(e, s);
    e->blocks[s]++;
    e->fill[s] -= TY_BLOCK;
    for (size_t k = 0; k < e->fill[s]; k += 64)
        _mm512_store_si512((void *)(e->stream[s] + k),
                           _mm512_load_si512(e->stream[s] + TY_BLOCK + k));
}

/*
 * Counts the first block of stream s, which must hold one, and splits as it goes `vectors` vectors
 * from p (even, at most TY_STEPS, and only while no stream is TY_FULL).
 */
static __attribute__((noinline)) void ty_planes_count(ty_planes *e, int s, const uint8_t *p,
                                                      size_t vectors)
{
    ty_planes_take(e, s);
    __m512i z[TY_PLANE];
#pragma GCC unroll 16
    for (int k = 0; k < TY_PLANE; k++)
        z[k] = _mm512_setzero_si512();
    __m512i *parity = e->parity[s];
    ty_cursor c = ty_planes_open(e);
    unsigned it = 0;
    for (; it < vectors / 2; it++, p += 128, parity += 2) {
        ty_walk_to(e, it, z);
        ty_fetch_ahead(p);
        ty_planes_split_full(&c, p);
        parity[0] = ty_parity_count(z, parity[0]);
        ty_fetch_ahead(p + 64);
        ty_planes_split_full(&c, p + 64);
        parity[1] = ty_parity_count_flipped(e, z, parity[1]);
    }
    for (; it < TY_WALK; it++, parity += 2) {
        ty_walk_to(e, it, z);
        parity[0] = ty_parity_count(z, parity[0]);
        parity[1] = ty_parity_count_flipped(e, z, parity[1]);
    }
    ty_planes_close(e, c);
}

static void ty_planes_begin(ty_planes *e)
{
    memset(e->parity, 0, sizeof e->parity);
    memset(e->blocks, 0, sizeof e->blocks);
    memset(e->fill, 0, sizeof e->fill);
    memset(e->repeated, 0, sizeof e->repeated);
}

TY_INLINE int ty_planes_fullest(const ty_planes *e)
{
    const int a = e->fill[1] > e->fill[0], b = 2 + (e->fill[3] > e->fill[2]);
    return e->fill[b] > e->fill[a] ? b : a;
}

/* Splits up to `vectors` vectors from p, not more than fit; returns how many. */
TY_INLINE size_t ty_planes_split(ty_planes *e, const uint8_t *p, size_t vectors)
{
    if (vectors > TY_BATCH)
        vectors = TY_BATCH;
    ty_cursor c = ty_planes_open(e);
    for (size_t i = 0; i < vectors; i++) {
        ty_fetch_ahead(p + 64 * i);
        ty_planes_split_full(&c, p + 64 * i);
    }
    ty_planes_close(e, c);
    return vectors;
}

TY_INLINE int ty_same_vector(const uint8_t *p, const uint8_t *q)
{
    return _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(p), _mm512_loadu_si512(q)) == 0;
}

/*
 * Counts without splitting the vectors that p[0..n), n at least 64, starts with and that are the
 * same eight bytes over and over; returns how many bytes that was.
 */
TY_INLINE size_t ty_planes_repeated(ty_planes *e, const uint8_t *p, size_t n)
{
    const __m512i first = _mm512_set1_epi64((int64_t)ty_load64(p));
    size_t i = 0;
    if (_mm512_cmpneq_epi64_mask(_mm512_loadu_si512(p), first) != 0)
        return 0;
    for (i = 64; i + 256 <= n; i += 256) {
        __m512i differ = _mm512_xor_si512(_mm512_loadu_si512(p + i), first);
        for (int k = 64; k < 256; k += 64) /* 0xf6: a | (b ^ c) */
            differ = _mm512_ternarylogic_epi64(differ, _mm512_loadu_si512(p + i + k), first, 0xf6);
        if (_mm512_test_epi64_mask(differ, differ) != 0)
            break;
    }
    while (i + 64 <= n && _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(p + i), first) == 0)
        i += 64;
    for (int k = 0; k < 8; k++)
        e->repeated[p[k]] += i / 8;
    return i;
}

static void ty_planes_add(ty_planes *e, const uint8_t *p, size_t n)
{
    while (n >= 64) {
        size_t skip = ty_planes_repeated(e, p, n);
        if (skip == 0 && n >= TY_PERIODS && ty_same_vector(p, p + 256))
            skip = ty_bytes_periodic(e->repeated, p, n);
        p += skip;
        n -= skip;
        if (n < 64)
            break;
        const int s = ty_planes_fullest(e);
        size_t vectors = n / 64;
        if (e->fill[s] < TY_BLOCK) {
            vectors = ty_planes_split(e, p, vectors);
        } else {
            vectors = vectors > TY_STEPS ? TY_STEPS : vectors & ~(size_t)1;
            if (e->fill[s] >= TY_FULL)
                vectors = 0;
            ty_planes_count(e, s, p, vectors);
        }
        p += 64 * vectors;
        n -= 64 * vectors;
    }
    if (n) {
        const int s = ty_planes_fullest(e);
        if (e->fill[s] >= TY_FULL)
            ty_planes_count(e, s, NULL, 0);
        const __mmask64 valid = _bzhi_u64(~UINT64_C(0), (unsigned)n);
        ty_cursor c = ty_planes_open(e);
        ty_planes_split_vector(&c, _mm512_maskz_loadu_epi8(valid, p), valid);
        ty_planes_close(e, c);
    }
}

/* Counts what is left of stream s: little in `counters`, more as a block made up with zeros. */
static void ty_planes_drain(ty_planes *e, int s, ty_counters counters, uint64_t out[256])
{
    while (e->fill[s] >= TY_BLOCK)
        ty_planes_count(e, s, NULL, 0);
    if (e->fill[s] <= TY_LITTLE) {
        ty_counters_add(counters, out, e->stream[s], e->fill[s]);
        return;
    }
    const size_t padding = TY_BLOCK - e->fill[s];
    memset(e->stream[s] + e->fill[s], 0, padding);
    e->fill[s] = TY_BLOCK;
    ty_planes_count(e, s, NULL, 0);
    out[64 * s] -= padding;
}

/* The sums of eight vectors' lanes. */
TY_INLINE __m512i ty_lane_sums(const __m512i v[8])
{
    __m512i pair[4], quad[2];
    for (int i = 0; i < 4; i++)
        pair[i] = _mm512_add_epi64(_mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]),
                                   _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]));
    for (int i = 0; i < 2; i++)
        quad[i] = _mm512_add_epi64(_mm512_shuffle_i64x2(pair[2 * i], pair[2 * i + 1], 0x88),
                                   _mm512_shuffle_i64x2(pair[2 * i], pair[2 * i + 1], 0xdd));
    return _mm512_add_epi64(_mm512_shuffle_i64x2(quad[0], quad[1], 0x88),
                            _mm512_shuffle_i64x2(quad[0], quad[1], 0xdd));
}

/* Adds the 64 counts whose transform the parity counts of stream s are. */
static void ty_planes_transform(const ty_planes *e, int s, uint64_t out[64])
{
    int64_t odd[64], w[64];
    for (int i = 0; i < 64; i += 8)
        _mm512_storeu_si512(odd + i, ty_lane_sums(e->parity[s] + i));
    const int64_t samples = (int64_t)(e->blocks[s] * TY_BLOCK);
    for (unsigned i = 0; i < 64; i++) {
        const unsigned step = i / 2, subset = 2 * (step ^ step / 2) | (i & 1);
        w[subset] = samples - 2 * odd[i];
    }
    for (int d = 1; d < 64; d *= 2)
        for (int a = 0; a < 64; a += 2 * d)
            for (int b = a; b < a + d; b++) {
                const int64_t x = w[b], y = w[b + d];
                w[b] = x + y;
                w[b + d] = x - y;
            }
    for (int j = 0; j < 64; j++)
        out[j] += (uint64_t)(w[j] / 64);
}

static void ty_planes_end(ty_planes *e, uint64_t out[256])
{
    ty_counters counters;
    memset(counters, 0, sizeof counters);
    for (int s = 0; s < 4; s++) {
        ty_planes_drain(e, s, counters, out);
        if (e->blocks[s])
            ty_planes_transform(e, s, out + 64 * s);
    }
    ty_counters_sum(counters, out);
    for (int i = 0; i < 256; i++)
        out[i] += e->repeated[i];
}

#endif
