/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables; and for blocks that are mostly one value, the leader: compare, keep the others together
 * with PEXT, and count only those.
 */
#include "cpu/bytes.h"

#include "cpu/bytes_tables.h"

#include <immintrin.h>

enum {
    EQUAL_BLOCK = TY_PAIRS_BLOCK, /* bytes counted at a time around a leading value */
    EQUAL_ENOUGH = 22, /* bytes of a sample of 64 that must be one value, for it to lead a block */
    EQUAL_LEFT = 700,  /* other bytes that such a block may hold for it to have paid */
    REST_MAX = 64,     /* most blocks skipped before looking for a leader again */
    SMALL = 8192,      /* bytes up to which no leader is looked for */
};

struct ty_bytes_state {
    ty_tables tables;
    uint32_t rest;  /* blocks to count without looking for a leader */
    uint32_t pause; /* length of the last such rest */
    uint8_t leader; /* value that may lead the next block */
};

static unsigned sample_equal(const uint8_t *p, uint8_t value)
{
    const __m256i v = _mm256_set1_epi8((char)value);
    const __m256i a = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)p), v);
    const __m256i b = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(p + 32)), v);
    const uint64_t equal =
        (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
    return (unsigned)_mm_popcnt_u64(equal);
}

/* Copies the bytes of a block that are not `leader`; returns how many. `others` has 8 to spare. */
static inline size_t gather_others(const uint8_t *p, uint8_t leader, uint8_t *others)
{
    const __m256i v = _mm256_set1_epi8((char)leader);
    size_t left = 0;
    for (int i = 0; i < EQUAL_BLOCK; i += 32) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(p + i));
        const __m256i equal = _mm256_cmpeq_epi8(x, v);
        if ((uint32_t)_mm256_movemask_epi8(equal) == ~UINT32_C(0))
            continue;
        const uint64_t skip[4] = {
            (uint64_t)_mm256_extract_epi64(equal, 0), (uint64_t)_mm256_extract_epi64(equal, 1),
            (uint64_t)_mm256_extract_epi64(equal, 2), (uint64_t)_mm256_extract_epi64(equal, 3)};
        for (int k = 0; k < 4; k++) {
            const uint64_t kept = _pext_u64(ty_load64(p + i + 8 * k), ~skip[k]);
            memcpy(others + left, &kept, 8);
            left += (unsigned)_mm_popcnt_u64(~skip[k]) / 8;
        }
    }
    return left;
}

/* Counts one block, looking for a leader unless looking has not paid lately. */
static inline void count_block(ty_bytes_state *s, const uint8_t *p)
{
    if (s->rest) {
        s->rest--;
        ty_block_add(&s->tables, p);
        return;
    }
    if (sample_equal(p + EQUAL_BLOCK / 2, s->leader) < EQUAL_ENOUGH) {
        s->leader = p[EQUAL_BLOCK - 1];
        ty_block_add(&s->tables, p);
        return;
    }
    uint8_t others[EQUAL_BLOCK + 8];
    const size_t left = gather_others(p, s->leader, others);
    ty_counters_add(s->tables.counters, s->tables.total, others, left);
    s->tables.total[s->leader] += EQUAL_BLOCK - left;
    if (left <= EQUAL_LEFT)
        s->pause = 0;
    else
        s->pause = s->pause == 0 ? 4 : s->pause < REST_MAX ? 2 * s->pause : REST_MAX;
    s->rest = s->pause;
}

static void begin_limited(ty_bytes_state *s, uint32_t limit, size_t n)
{
    ty_tables_begin(&s->tables, limit, n);
    s->rest = s->pause = 0;
    s->leader = 0;
}

static void begin(ty_bytes_state *s)
{
    begin_limited(s, TY_BYTES_LIMIT, 0);
}

static void add(ty_bytes_state *s, const uint8_t *p, size_t n)
{
    while (n) {
        const size_t skip = ty_bytes_periodic(s->tables.total, p, n);
        p += skip;
        n -= skip;
        const size_t now = ty_tables_take(&s->tables, n);
        size_t i = 0;
        for (; i + EQUAL_BLOCK <= now; i += EQUAL_BLOCK)
            count_block(s, p + i);
        ty_counters_add(s->tables.counters, s->tables.total, p + i, now - i);
        p += now;
        n -= now;
    }
}

static void end(ty_bytes_state *s, uint64_t out[256])
{
    ty_tables_end(&s->tables, out);
}

const ty_bytes_stream ty_bytes_stream_avx2 = {sizeof(ty_bytes_state), begin, add, end};

void ty_bytes_avx2_limited(const uint8_t *p, size_t n, uint64_t out[256], uint32_t limit)
{
    ty_bytes_state s;
    begin_limited(&s, limit, n);
    add(&s, p, n);
    end(&s, out);
}

void ty_bytes_avx2(const uint8_t *p, size_t n, uint64_t out[256])
{
    if (n <= SMALL)
        ty_tables_small(p, n, out);
    else
        ty_bytes_avx2_limited(p, n, out, TY_BYTES_LIMIT);
}
