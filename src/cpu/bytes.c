/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/bytes_tables.h"

enum { SMALL = 8192 }; /* bytes up to which runs are not looked for */

struct ty_bytes_state {
    ty_tables tables;
};

static void begin(ty_bytes_state *s)
{
    ty_tables_begin(&s->tables, TY_BYTES_LIMIT, 0);
}

static void add_tables(ty_tables *t, const uint8_t *p, size_t n)
{
    while (n) {
        const size_t skip = ty_bytes_periodic(t->total, p, n);
        p += skip;
        n -= skip;
        const size_t now = ty_tables_take(t, n);
        size_t i = 0;
        for (; i + TY_PAIRS_BLOCK <= now; i += TY_PAIRS_BLOCK)
            ty_block_add(t, p + i);
        ty_counters_add(t->counters, t->total, p + i, now - i);
        p += now;
        n -= now;
    }
}

static void add(ty_bytes_state *s, const uint8_t *p, size_t n)
{
    add_tables(&s->tables, p, n);
}

static void end(ty_bytes_state *s, uint64_t out[256])
{
    ty_tables_end(&s->tables, out);
}

const ty_bytes_stream ty_bytes_stream_portable = {sizeof(ty_bytes_state), begin, add, end};

void ty_bytes_portable_limited(const uint8_t *p, size_t n, uint64_t out[256], uint32_t limit)
{
    ty_tables t;
    ty_tables_begin(&t, limit, n);
    add_tables(&t, p, n);
    ty_tables_end(&t, out);
}

void ty_bytes_portable(const uint8_t *p, size_t n, uint64_t out[256])
{
    if (n <= SMALL)
        ty_tables_small(p, n, out);
    else
        ty_bytes_portable_limited(p, n, out, TY_BYTES_LIMIT);
}

const ty_bytes_variant ty_bytes_variants[] = {
#if defined(__x86_64__)
    {"avx512", TY_CPU_LEVEL_AVX512, ty_bytes_avx512, &ty_bytes_stream_avx512},
    {"avx2", TY_CPU_LEVEL_AVX2, ty_bytes_avx2, &ty_bytes_stream_avx2},
#endif
    {"portable", 0, ty_bytes_portable, &ty_bytes_stream_portable},
};
const size_t ty_bytes_variant_count = sizeof ty_bytes_variants / sizeof *ty_bytes_variants;

const ty_bytes_variant *ty_bytes_choose(uint32_t features)
{
    const ty_bytes_variant *variant = ty_bytes_variants;
    while ((features & variant->features) != variant->features)
        variant++;
    return variant;
}

size_t ty_bytes_state_bytes(void)
{
    size_t most = 0;
    for (size_t i = 0; i < ty_bytes_variant_count; i++)
        if (ty_bytes_variants[i].stream->state_bytes > most)
            most = ty_bytes_variants[i].stream->state_bytes;
    return most;
}
