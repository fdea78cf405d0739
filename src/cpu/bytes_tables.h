/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting bytes in tables, a store a byte or two, for processors without AVX-512 and for short
 * inputs. Included by each bytes_*.c, which compiles the loops for its instructions.
 *
 * The store unit is the limit, so what is not a store is free: chunks that repeat themselves are
 * looked for at no cost. Eight 16-bit counters a value take turns, so that equal neighbours do not
 * wait for each other's store. Two of them lie together: two stores to one cache line may leave in
 * one clock, which neighbours of similar value profit from, and a line then holds 16 values.
 */
#ifndef TY_CPU_BYTES_TABLES_H
#define TY_CPU_BYTES_TABLES_H

#include "cpu/bytes.h"

#include <stddef.h>
#include <string.h>

#define TY_INLINE static inline __attribute__((always_inline))

enum {
    TY_CHUNK = 64,     /* bytes looked at for repeating themselves */
    TY_PERIODS = 4096, /* bytes that 256 must fill by repeating themselves to be counted at once */
    TY_AHEAD_L2 =
        16384, /* bytes ahead of their use at which bytes are asked for, and asked for again */
    TY_AHEAD_L1 = 2048,
    TY_TINY = 128, /* bytes up to which the caller's bins are the table, whatever the data */
    TY_REPEATS_PAID = 4096, /* close repeats in 64 bytes, times bytes, that one table may cost */
};

typedef uint16_t ty_counters[4][256][2];

enum {
    TY_PAIRS_BLOCK = 1024,     /* bytes counted in pairs at a time */
    TY_PAIRS_BLOCKS = 4,       /* of them between decisions, */
    TY_PAIRS_BLOCKS_MOST = 32, /* up to so many while pairs do not pay */
    TY_PAIRS_WORTH = 192 << 10 /* bytes worth clearing the pairs' counters and summing them */
};

typedef struct ty_tables {
    ty_counters counters;
    uint64_t total[256];
    uint32_t limit;         /* what a counter may hold before all are emptied into `total` */
    uint32_t used;          /* what a counter may hold by now */
    uint32_t seen;          /* bytes, up to TY_PAIRS_WORTH: then pairs may be counted */
    uint32_t sample;        /* a random number */
    uint32_t wait;          /* blocks until the next decision */
    uint32_t pause;         /* how many there were after the last */
    uint32_t paired;        /* whether these are counted in pairs */
    uint32_t cleared;       /* whether `pairs` are in use */
    uint8_t pairs[1 << 16]; /* of neighbours */
} ty_tables;

TY_INLINE uint32_t ty_load32(const uint8_t *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

TY_INLINE uint64_t ty_load64(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

TY_INLINE void ty_count4(uint16_t (*counters)[256][2], uint32_t word)
{
    counters[0][word & 255][0]++;
    counters[0][word >> 8 & 255][1]++;
    counters[1][word >> 16 & 255][0]++;
    counters[1][word >> 24][1]++;
}

TY_INLINE void ty_count8(ty_counters counters, const uint8_t *p)
{
    ty_count4(counters, ty_load32(p));
    ty_count4(counters + 2, ty_load32(p + 4));
}

/* Counts fewer than eight bytes, each in another counter. */
TY_INLINE void ty_count_rest(ty_counters counters, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        counters[i / 2][p[i]][i % 2]++;
}

/* Whether p[0..TY_CHUNK) is its first eight bytes over and over. */
TY_INLINE int ty_chunk_repeats(const uint8_t *p)
{
    const uint64_t first = ty_load64(p);
    uint64_t differ = 0;
    for (int i = 8; i < TY_CHUNK; i += 8)
        differ |= ty_load64(p + i) ^ first;
    return differ == 0;
}

/* Counts a chunk that repeats its first eight bytes. */
TY_INLINE void ty_chunk_count(uint64_t total[256], const uint8_t *p)
{
    if (ty_load64(p) == p[0] * UINT64_C(0x0101010101010101))
        total[p[0]] += TY_CHUNK;
    else
        for (int i = 0; i < 8; i++)
            total[p[i]] += TY_CHUNK / 8;
}

/* Asks for the line in two steps, the second cache far ahead and the first nearer; past the end of
 * the input it asks in vain. */
TY_INLINE void ty_fetch_ahead(const uint8_t *p)
{
    __builtin_prefetch((const void *)((uintptr_t)p + TY_AHEAD_L2), 0, 2);
    __builtin_prefetch((const void *)((uintptr_t)p + TY_AHEAD_L1), 0, 3);
}

/*
 * Counts without looking closer what p[0..n) starts with that is its first 256 bytes over and over,
 * as ramps are; returns how many bytes that was.
 */
static __attribute__((noinline)) size_t ty_bytes_periodic(uint64_t total[256], const uint8_t *p,
                                                          size_t n)
{
    if (n < TY_PERIODS || memcmp(p, p + 256, TY_CHUNK) != 0)
        return 0;
    size_t i = 256;
    while (i + 256 <= n && memcmp(p + i, p, 256) == 0)
        i += 256;
    if (i < TY_PERIODS)
        return 0;
    for (int k = 0; k < 256; k++)
        total[p[k]] += i / 256;
    return i;
}

/*
 * Counts bytes in counters and in totals. No counter grows by more than one for each eight bytes,
 * or part of eight.
 */
TY_INLINE void ty_counters_add(ty_counters counters, uint64_t total[256], const uint8_t *p,
                               size_t n)
{
    for (; n >= TY_CHUNK; p += TY_CHUNK, n -= TY_CHUNK) {
        ty_fetch_ahead(p);
        if (ty_chunk_repeats(p)) {
            ty_chunk_count(total, p);
            continue;
        }
        for (int i = 0; i < TY_CHUNK; i += 8)
            ty_count8(counters, p + i);
    }
    for (; n >= 8; p += 8, n -= 8)
        ty_count8(counters, p);
    ty_count_rest(counters, p, n);
}

/*
 * Neighbours counted as pairs: one store for two bytes, in more counters than the first cache
 * holds, which still takes less time than two stores. Not where pairs repeat: an 8-bit counter's
 * next increment waits seven clocks for the one before. A piece somewhere in a block says for some
 * more.
 */
TY_INLINE int ty_pairs_pay(ty_tables *t, const uint8_t *p)
{
    enum { LOOKED_AT = 32, BEHIND = 3, MOST = 24 };
    uint16_t pair[LOOKED_AT + BEHIND + 5], same = 0;
    t->sample = t->sample * 1664525u + 1013904223u;
    memcpy(pair, p + (t->sample >> 25) * 6, sizeof pair);
    for (int i = 0; i < LOOKED_AT; i++)
        same = (uint16_t)(same + (pair[i] == pair[i + 1] ? 3 : 0) + (pair[i] == pair[i + 2]) +
                          (pair[i] == pair[i + 3]));
    return same <= MOST;
}

TY_INLINE void ty_pairs_add(ty_tables *t, const uint8_t *p)
{
    for (const uint8_t *end = p + TY_PAIRS_BLOCK; p < end; p += TY_CHUNK) {
        ty_fetch_ahead(p);
        for (int i = 0; i < TY_CHUNK; i += 8) {
            uint64_t word = ty_load64(p + i);
            for (int k = 0; k < 4; k++, word >>= 16) {
                const unsigned pair = word & 0xffff;
                if (__builtin_expect(++t->pairs[pair] == 0, 0)) {
                    t->total[pair & 255] += 256;
                    t->total[pair >> 8] += 256;
                }
            }
        }
    }
}

static __attribute__((noinline)) void ty_pairs_sum(const ty_tables *t, uint64_t out[256])
{
    uint16_t second[256] = {0};
    for (int a = 0; a < 256; a++) {
        const uint8_t *row = t->pairs + 256 * a;
        uint32_t first = 0;
        for (int b = 0; b < 256; b++)
            first += row[b];
        for (int b = 0; b < 256; b++)
            second[b] = (uint16_t)(second[b] + row[b]);
        out[a] += first;
    }
    for (int b = 0; b < 256; b++)
        out[b] += second[b];
}

TY_INLINE void ty_pairs_see(ty_tables *t, size_t n)
{
    t->seen += (uint32_t)(n < TY_PAIRS_WORTH - t->seen ? n : TY_PAIRS_WORTH - t->seen);
}

/* Whether to count a block, and some more, in pairs. */
TY_INLINE uint32_t ty_pairs_choose(ty_tables *t, const uint8_t *p)
{
    if (t->seen < TY_PAIRS_WORTH || !ty_pairs_pay(t, p))
        return 0;
    if (!t->cleared)
        memset(t->pairs, 0, sizeof t->pairs);
    return t->cleared = 1;
}

/* Counts TY_PAIRS_BLOCK bytes. */
TY_INLINE void ty_block_add(ty_tables *t, const uint8_t *p)
{
    if (t->wait == 0) {
        t->paired = ty_pairs_choose(t, p);
        t->pause = t->paired || !t->pause            ? TY_PAIRS_BLOCKS
                   : t->pause < TY_PAIRS_BLOCKS_MOST ? 2 * t->pause
                                                     : t->pause;
        t->wait = t->pause;
    }
    t->wait--;
    if (t->paired)
        ty_pairs_add(t, p);
    else
        ty_counters_add(t->counters, t->total, p, TY_PAIRS_BLOCK);
}

/* Adds each value's eight counters to its bin. Two of them together must fit 16 bits. */
TY_INLINE void ty_counters_sum(ty_counters counters, uint64_t out[256])
{
    for (int i = 0; i < 256; i++) {
        uint32_t pair[4];
        for (int k = 0; k < 4; k++)
            memcpy(&pair[k], counters[k][i], sizeof pair[k]);
        const uint32_t a = pair[0] + pair[1], b = pair[2] + pair[3];
        out[i] += (a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16);
    }
}

/* For n bytes; 0: not known. */
static inline void ty_tables_begin(ty_tables *t, uint32_t limit, size_t n)
{
    memset(t, 0, offsetof(ty_tables, pairs));
    t->limit = limit;
    if (n >= TY_PAIRS_WORTH)
        t->seen = TY_PAIRS_WORTH;
}

/* How many of n bytes to count next; empties the counters first where they are full. */
TY_INLINE size_t ty_tables_take(ty_tables *t, size_t n)
{
    if (t->used == t->limit) {
        ty_counters_sum(t->counters, t->total);
        memset(t->counters, 0, sizeof t->counters);
        t->used = 0;
    }
    const size_t most = 8 * (size_t)(t->limit - t->used);
    if (n > most)
        n = most;
    ty_pairs_see(t, n);
    t->used += (uint32_t)((n + 7) / 8);
    return n;
}

static inline void ty_tables_end(ty_tables *t, uint64_t out[256])
{
    ty_counters_sum(t->counters, out);
    if (t->cleared)
        ty_pairs_sum(t, out);
    for (int i = 0; i < 256; i++)
        out[i] += t->total[i];
}

/* How many of the 64 pairs of neighbours and of neighbours' neighbours in p[0..32) differ. */
TY_INLINE unsigned ty_sample_differing(const uint8_t *p)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t different = 0; /* of 8 pairs in each byte */
    for (int i = 0; i < 32; i += 8) {
        const uint64_t w = ty_load64(p + i);
        const uint64_t x = w ^ (w << 8 | w >> 56), y = w ^ (w << 16 | w >> 48);
        different += ((((x & low) + low) | x) & ~low) >> 7;
        different += ((((y & low) + low) | y) & ~low) >> 7;
    }
    return (unsigned)(different * UINT64_C(0x0101010101010101) >> 56);
}

/*
 * Whether p[0..n), n at least 96, repeat so seldom that one table, which then waits for its stores,
 * is quicker than clearing and summing several. Two of three samples decide.
 */
TY_INLINE int ty_one_table_pays(const uint8_t *p, size_t n)
{
    const size_t most = TY_REPEATS_PAID / n;
    return (64 - ty_sample_differing(p) <= most) +
               (64 - ty_sample_differing(p + n / 2 - 16) <= most) +
               (64 - ty_sample_differing(p + n - 32) <= most) >=
           2;
}

/* One table: the caller's bins. */
TY_INLINE void ty_tables_direct(const uint8_t *p, size_t n, uint64_t out[256])
{
    for (; n >= 8; p += 8, n -= 8) {
        const uint32_t a = ty_load32(p), b = ty_load32(p + 4);
        out[a & 255]++;
        out[a >> 8 & 255]++;
        out[a >> 16 & 255]++;
        out[a >> 24]++;
        out[b & 255]++;
        out[b >> 8 & 255]++;
        out[b >> 16 & 255]++;
        out[b >> 24]++;
    }
    for (; n; p++, n--)
        out[*p]++;
}

/* A few KiB: clearing and summing counters would show, so they are used only if data repeat. */
TY_INLINE void ty_tables_small(const uint8_t *p, size_t n, uint64_t out[256])
{
    if (n <= TY_TINY || ty_one_table_pays(p, n)) {
        ty_tables_direct(p, n, out);
        return;
    }
    ty_counters counters;
    memset(counters, 0, sizeof counters);
    ty_counters_add(counters, out, p, n);
    ty_counters_sum(counters, out);
}

#endif
