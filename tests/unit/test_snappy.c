/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snappy's blocks: elements put together at random, unpacked to what they mean; and blocks that are
 * cut, of another size, or copy from before their beginning, which are refused. Buffers end where
 * the bytes do, for checkers of memory.
 *
 *     test_snappy [SEED]
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "draw.h"
#include "io/snappy.h"

enum { most = 4000 };

typedef struct made {
    unsigned char packed[3 * most], plain[most];
    size_t packed_size, size;
} made;

static void put(made *m, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        m->packed[m->packed_size++] = (unsigned char)(value >> 8 * i);
}

static void put_literal(made *m, size_t length)
{
    const unsigned bytes = length <= 60 ? 0 : length <= 256 ? 1 + below(4) : 2 + below(3);
    put(m, (bytes ? 59 + bytes : length - 1) << 2, 1);
    put(m, length - 1, bytes);
    for (size_t i = 0; i < length; i++)
        put(m, m->plain[m->size++] = (unsigned char)next(), 1);
}

static void put_copy(made *m, size_t distance, size_t length)
{
    const int kind =
        length >= 4 && length <= 11 && distance < 2048 ? 1 + (int)below(3) : 2 + (int)below(2);
    if (kind == 1)
        put(m, 1 | (length - 4) << 2 | distance >> 8 << 5, 1);
    else
        put(m, (uint64_t)kind | (length - 1) << 2, 1);
    put(m, distance & (kind == 1 ? 255 : UINT32_MAX), kind == 1 ? 1 : kind == 2 ? 2 : 4);
    for (size_t i = 0; i < length; i++, m->size++)
        m->plain[m->size] = m->plain[m->size - distance];
}

/* The first two bytes are the size. */
static void make(made *m)
{
    const size_t wanted = 200 + below(most - 600);
    m->packed_size = 2;
    m->size = 0;
    put_literal(m, 1 + below(20));
    while (m->size < wanted) {
        if (below(3) == 0)
            put_literal(m, below(5) ? 1 + below(64) : 1 + below(300));
        else
            put_copy(m, 1 + below(below(2) && m->size > 20 ? 20 : m->size), 1 + below(64));
    }
    m->packed[0] = (unsigned char)(m->size | 128);
    m->packed[1] = (unsigned char)(m->size >> 7);
}

/* What unpacking gives; `into` has `size` bytes. */
static int unpack(const unsigned char *packed, size_t packed_size, unsigned char *into, size_t size)
{
    unsigned char *from = malloc(packed_size ? packed_size : 1), *to = malloc(size);
    memcpy(from, packed, packed_size);
    memset(to, 0xa5, size);
    const int bad = ty_snappy_unpack(from, packed_size, to, size);
    memcpy(into, to, size);
    free(from);
    free(to);
    return bad;
}

static void check_made(void)
{
    static made m;
    static unsigned char got[most + 1];
    make(&m);
    CHECK_SAY(!unpack(m.packed, m.packed_size, got, m.size) && !memcmp(got, m.plain, m.size),
              "%zu bytes", m.size);
    CHECK(unpack(m.packed, m.packed_size - 1 - below(m.packed_size - 3), got, m.size));
    CHECK(unpack(m.packed, m.packed_size, got, m.size - 1));
    CHECK(unpack(m.packed, m.packed_size, got, m.size + 1));
    m.packed[m.packed_size] = 0; /* a literal that is missing */
    CHECK(unpack(m.packed, m.packed_size + 1, got, m.size));
}

/* "abcd", then 4 bytes from `distance` before; each form of a copy. */
static void check_distances(void)
{
    for (unsigned distance = 0; distance < 9; distance++) {
        const unsigned char forms[3][11] = {
            {8, 3 << 2, 'a', 'b', 'c', 'd', 1, (unsigned char)distance},
            {8, 3 << 2, 'a', 'b', 'c', 'd', 2 | 3 << 2, (unsigned char)distance, 0},
            {8, 3 << 2, 'a', 'b', 'c', 'd', 3 | 3 << 2, (unsigned char)distance, 0, 0, 0}};
        const size_t sizes[] = {8, 9, 11};
        for (int f = 0; f < 3; f++) {
            unsigned char got[8];
            const int bad = unpack(forms[f], sizes[f], got, sizeof got);
            CHECK_SAY(bad == (distance < 1 || distance > 4), "form %d, distance %u", f, distance);
            CHECK(bad || distance > 4 || got[4] == got[4 - distance]);
        }
    }
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", state);
    for (int i = 0; i < 3000; i++)
        check_made();
    check_distances();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
