/*
 * Counting bytes in tables, one store a byte, for processors without AVX-512 and for short inputs.
 * Included by bytes.c and bytes_avx2.c, which compile the same loops for their instructions.
 *
 * Eight tables take turns so that equal neighbours do not wait for each other's store. The store
 * unit is the limit, and what costs no store is free: chunks of one value are found beside it, and
 * blocks that a single value leads are counted without storing that value at all.
 */
#ifndef TY_CPU_BYTES_TABLES_H
#define TY_CPU_BYTES_TABLES_H

#include "cpu/bytes.h"

#include <string.h>

#define TY_INLINE static inline __attribute__((always_inline))

enum {
    TY_CHUNK = 64,       /* bytes looked at for being all one value */
    TY_LED_BLOCK = 1024, /* bytes counted at a time around a leading value */
    TY_LED_SAMPLE = 64,  /* bytes of a block looked at for a leading value */
    TY_LED_ENOUGH = 40,  /* of them, to call it led */
    TY_LED_LEFT = 512,   /* bytes of a led block that may remain for it to have paid */
    TY_REST_MAX = 64,    /* most blocks skipped before looking again */
    TY_SMALL = 8192,     /* bytes up to which 16-bit tables serve */
    TY_TINY = 192,       /* bytes up to which the caller's bins are the table */
};

typedef struct ty_tables {
    uint32_t table[8][256];
    uint64_t total[256];
    uint64_t limit; /* bytes that the tables may take before they are emptied into `total` */
    uint64_t used;  /* bytes taken since */
    uint32_t rest;  /* blocks to count without looking for a leading value */
    uint32_t pause; /* length of the last such rest */
    uint8_t leader; /* value that may lead the next block */
} ty_tables;

TY_INLINE uint64_t ty_load64(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* `table` is an array of eight tables of any counter. */
#define TY_COUNT8(table, word)                                                                     \
    do {                                                                                           \
        const uint64_t w_ = (word);                                                                \
        table[0][w_ & 255]++;                                                                      \
        table[1][w_ >> 8 & 255]++;                                                                 \
        table[2][w_ >> 16 & 255]++;                                                                \
        table[3][w_ >> 24 & 255]++;                                                                \
        table[4][w_ >> 32 & 255]++;                                                                \
        table[5][w_ >> 40 & 255]++;                                                                \
        table[6][w_ >> 48 & 255]++;                                                                \
        table[7][w_ >> 56]++;                                                                      \
    } while (0)

/* The byte in all eight places. */
TY_INLINE uint64_t ty_spread(uint8_t byte)
{
    return byte * UINT64_C(0x0101010101010101);
}

/* 0x80 in each byte of x that is not 0. */
TY_INLINE uint64_t ty_nonzero_bytes(uint64_t x)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    return (((x & low) + low) | x) & ~low;
}

#if defined(__AVX2__) && defined(__BMI2__)
#include <immintrin.h>

TY_INLINE uint64_t ty_equal_mask(const uint8_t *p, uint8_t value)
{
    const __m256i v = _mm256_set1_epi8((char)value);
    const __m256i a = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)p), v);
    const __m256i b = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(p + 32)), v);
    return (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
}

TY_INLINE int ty_chunk_is(const uint8_t *p, uint8_t value)
{
    return ty_equal_mask(p, value) == ~UINT64_C(0);
}

TY_INLINE unsigned ty_sample_equal(const uint8_t *p, uint8_t value)
{
    return (unsigned)_mm_popcnt_u64(ty_equal_mask(p, value));
}
#else
TY_INLINE int ty_chunk_is(const uint8_t *p, uint8_t value)
{
    const uint64_t all = ty_spread(value);
    uint64_t differ = 0;
    for (int i = 0; i < TY_CHUNK; i += 8)
        differ |= ty_load64(p + i) ^ all;
    return differ == 0;
}

TY_INLINE unsigned ty_sample_equal(const uint8_t *p, uint8_t value)
{
    const uint64_t all = ty_spread(value);
    uint64_t differ = 0;
    for (int i = 0; i < TY_LED_SAMPLE; i += 8)
        differ += ty_nonzero_bytes(ty_load64(p + i) ^ all) >> 7;
    return TY_LED_SAMPLE - (unsigned)(differ * UINT64_C(0x0101010101010101) >> 56);
}
#endif

TY_INLINE void ty_tables_plain(ty_tables *t, const uint8_t *p, size_t n)
{
    for (; n >= TY_CHUNK; p += TY_CHUNK, n -= TY_CHUNK) {
        if (ty_chunk_is(p, p[0])) {
            t->table[0][p[0]] += TY_CHUNK;
            continue;
        }
        for (int i = 0; i < TY_CHUNK; i += 8)
            TY_COUNT8(t->table, ty_load64(p + i));
    }
    for (; n >= 8; p += 8, n -= 8)
        TY_COUNT8(t->table, ty_load64(p));
    for (; n; p++, n--)
        t->table[n & 7][*p]++;
}

#if defined(__AVX2__) && defined(__BMI2__)
/* Counts a led block; returns the number of bytes that were not `leader`. */
TY_INLINE size_t ty_tables_led(ty_tables *t, const uint8_t *p, uint8_t leader)
{
    const __m256i v = _mm256_set1_epi8((char)leader);
    uint8_t others[TY_LED_BLOCK + 8];
    size_t left = 0;
    for (int i = 0; i < TY_LED_BLOCK; i += 32) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(p + i));
        const __m256i equal = _mm256_cmpeq_epi8(x, v);
        if ((uint32_t)_mm256_movemask_epi8(equal) == ~UINT32_C(0))
            continue;
        uint64_t skip[4];
        _mm256_storeu_si256((__m256i *)skip, equal);
        for (int k = 0; k < 4; k++) {
            const uint64_t kept = _pext_u64(ty_load64(p + i + 8 * k), ~skip[k]);
            memcpy(others + left, &kept, 8);
            left += (unsigned)_mm_popcnt_u64(~skip[k]) / 8;
        }
    }
    ty_tables_plain(t, others, left);
    t->total[leader] += TY_LED_BLOCK - left;
    return left;
}
#else
/* Counts one byte of x that is not 0, if there is one, in the bin it has XORed with the leader. */
#define TY_COUNT_OTHER(table, x, marks, leader)                                                    \
    do {                                                                                           \
        const unsigned at_ = (unsigned)__builtin_ctzll((marks) | UINT64_C(1) << 63) & 56;          \
        table[((x) >> at_ & 255) ^ (leader)]++;                                                    \
        (x) &= ~(UINT64_C(255) << at_);                                                            \
        (marks) &= (marks)-1;                                                                      \
    } while (0)

/* Counts a led block; returns the number of bytes that were not `leader`. */
TY_INLINE size_t ty_tables_led(ty_tables *t, const uint8_t *p, uint8_t leader)
{
    const uint64_t all = ty_spread(leader);
    size_t left = 0, counted = 0;
    for (int i = 0; i < TY_LED_BLOCK; i += 8) {
        uint64_t x = ty_load64(p + i) ^ all;
        uint64_t marks = ty_nonzero_bytes(x);
        uint32_t(*table)[256] = t->table + (i >> 2 & 6);
        left += (marks >> 7) * UINT64_C(0x0101010101010101) >> 56;
        TY_COUNT_OTHER(table[0], x, marks, leader);
        TY_COUNT_OTHER(table[1], x, marks, leader);
        counted += 2;
        while (marks) {
            TY_COUNT_OTHER(table[0], x, marks, leader);
            counted++;
        }
    }
    /* Where a word had fewer than two others, the leader's bin was counted in their stead. */
    t->total[leader] += TY_LED_BLOCK - counted;
    return left;
}
#endif

static void ty_tables_flush(ty_tables *t)
{
    for (int i = 0; i < 256; i++) {
        uint64_t sum = 0;
        for (int k = 0; k < 8; k++)
            sum += t->table[k][i];
        t->total[i] += sum;
    }
    memset(t->table, 0, sizeof t->table);
    t->used = 0;
}

static void ty_tables_begin(ty_tables *t, uint64_t limit)
{
    memset(t, 0, sizeof *t);
    t->limit = limit;
}

/* Counts one block, looking for a leading value unless looking has not paid lately. */
TY_INLINE void ty_tables_block(ty_tables *t, const uint8_t *p)
{
    if (t->rest) {
        t->rest--;
    } else if (ty_sample_equal(p + TY_LED_BLOCK / 2, t->leader) < TY_LED_ENOUGH) {
        t->leader = p[TY_LED_BLOCK - 1];
    } else if (ty_tables_led(t, p, t->leader) <= TY_LED_LEFT) {
        t->pause = 0;
        return;
    } else {
        t->pause = t->pause ? 2 * t->pause : 4;
        if (t->pause > TY_REST_MAX)
            t->pause = TY_REST_MAX;
        t->rest = t->pause;
        return;
    }
    ty_tables_plain(t, p, TY_LED_BLOCK);
}

static void ty_tables_add(ty_tables *t, const uint8_t *p, size_t n)
{
    while (n) {
        if (t->used == t->limit)
            ty_tables_flush(t);
        const size_t now = n < t->limit - t->used ? n : (size_t)(t->limit - t->used);
        size_t i = 0;
        for (; i + TY_LED_BLOCK <= now; i += TY_LED_BLOCK)
            ty_tables_block(t, p + i);
        ty_tables_plain(t, p + i, now - i);
        t->used += now;
        p += now;
        n -= now;
    }
}

static void ty_tables_end(ty_tables *t, uint64_t out[256])
{
    ty_tables_flush(t);
    for (int i = 0; i < 256; i++)
        out[i] += t->total[i];
}

/* Short inputs: clearing and summing the tables must not cost more than counting. */
TY_INLINE void ty_tables_small(const uint8_t *p, size_t n, uint64_t out[256])
{
    if (n <= TY_TINY) {
        for (size_t i = 0; i < n; i++)
            out[p[i]]++;
        return;
    }
    uint16_t table[8][256];
    memset(table, 0, sizeof table);
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        TY_COUNT8(table, ty_load64(p + i));
    for (; i < n; i++)
        table[i & 7][p[i]]++;
    for (int b = 0; b < 256; b++) {
        uint32_t sum = 0;
        for (int k = 0; k < 8; k++)
            sum += table[k][b];
        out[b] += sum;
    }
}

TY_INLINE void ty_tables_count(const uint8_t *p, size_t n, uint64_t out[256], uint64_t limit)
{
    if (n <= TY_SMALL && n <= limit) {
        ty_tables_small(p, n, out);
        return;
    }
    ty_tables t;
    ty_tables_begin(&t, limit);
    ty_tables_add(&t, p, n);
    ty_tables_end(&t, out);
}

/* The functions that a file of this template exports, under the name of its instructions. */
#define TY_TABLES_DEFINE(isa)                                                                      \
    static void begin(ty_bytes_state *state)                                                       \
    {                                                                                              \
        ty_tables_begin((ty_tables *)state, TY_BYTES_LIMIT);                                       \
    }                                                                                              \
    static void add(ty_bytes_state *state, const uint8_t *p, size_t n)                             \
    {                                                                                              \
        ty_tables_add((ty_tables *)state, p, n);                                                   \
    }                                                                                              \
    static void end(ty_bytes_state *state, uint64_t out[256])                                      \
    {                                                                                              \
        ty_tables_end((ty_tables *)state, out);                                                    \
    }                                                                                              \
    const ty_bytes_stream ty_bytes_stream_##isa = {sizeof(ty_tables), begin, add, end};            \
    void ty_bytes_##isa(const uint8_t *p, size_t n, uint64_t out[256])                             \
    {                                                                                              \
        ty_tables_count(p, n, out, TY_BYTES_LIMIT);                                                \
    }                                                                                              \
    void ty_bytes_##isa##_limited(const uint8_t *p, size_t n, uint64_t out[256], uint32_t limit)   \
    {                                                                                              \
        ty_tables_count(p, n, out, limit);                                                         \
    }

#endif
