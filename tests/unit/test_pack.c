/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packing (gpu/pack.h): what was packed is unpacked to the same bytes; anything else is refused or
 * becomes some bytes, and no other memory is read or written (the sanitizers watch).
 *
 *     test_pack [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "draw.h"
#include "gpu/pack.h"

static int checks, failed;

static void check(int ok, const char *what, size_t size)
{
    checks++;
    if (!ok) {
        failed++;
        fprintf(stderr, "FAILED: %s, %zu bytes\n", what, size);
    }
}

/* In memory of its own size, so that a byte too many is seen. */
static int unpacks(const unsigned char *from, size_t packed, const unsigned char *want, size_t size)
{
    unsigned char *copy = malloc(packed + !packed), *to = malloc(size + !size);
    if (!copy || !to)
        exit(1);
    memcpy(copy, from, packed);
    const int ok = ty_unpack(copy, packed, to, size) && !memcmp(to, want, size);
    free(copy);
    free(to);
    return ok;
}

/* Packed bytes, which the caller frees; they become `from` again, and no other number of bytes. */
static unsigned char *round_trip(const unsigned char *from, size_t size, size_t *packed)
{
    unsigned char *own = malloc(size + !size);
    if (!own)
        exit(1);
    memcpy(own, from, size);
    unsigned char *to = ty_pack(own, size, packed);
    check(to != NULL, "packed", size);
    if (!to)
        exit(1);
    check(*packed <= size + size / 64 + 16, "hardly longer", size);
    check(unpacks(to, *packed, from, size), "the same again", size);
    unsigned char *other = malloc(size + 1);
    if (!other)
        exit(1);
    check(!ty_unpack(to, *packed, other, size + 1), "not a byte more", size);
    check(!size || !ty_unpack(to, *packed, other, size - 1), "not a byte less", size);
    free(other);
    free(own);
    return to;
}

/* Bytes like those of kernels: lines that come again with another number in them. */
static void fill(unsigned char *to, size_t size, int kind)
{
    for (size_t i = 0; i < size;) {
        char line[64];
        int n = 0;
        if (kind == 0)
            n = snprintf(line, sizeof line, "add.u32 %%r%u, %%r%u, %u;\n", (unsigned)(unit() * 99),
                         (unsigned)(unit() * 9), (unsigned)(unit() * 3));
        else if (kind == 1)
            line[n++] = (char)(unsigned char)(unit() * 256);
        else if (kind == 2)
            line[n++] = 'x';
        else
            line[n++] = (char)(i % 7 + (unit() < 0.01));
        for (int k = 0; k < n && i < size; k++)
            to[i++] = (unsigned char)line[k];
    }
}

/* Bytes of any kind from several stretches. */
static void fill_mixed(unsigned char *to, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t n = (size_t)(unit() * 3000) + 1;
        n = n < size - at ? n : size - at;
        fill(to + at, n, (int)(unit() * 4));
        at += n;
    }
}

static void test_kinds(void)
{
    enum { most = 300000 };
    unsigned char *bytes = malloc(most);
    size_t packed;
    if (!bytes)
        exit(1);
    for (int kind = 0; kind < 4; kind++) {
        for (size_t size = 0; size < 40; size++) {
            fill(bytes, size, kind);
            ty_free(round_trip(bytes, size, &packed));
        }
        fill(bytes, most, kind);
        ty_free(round_trip(bytes, most, &packed));
        if (kind != 1)
            check(packed < (kind ? most / 20 : most / 3), "much shorter", packed);
    }
    for (int i = 0; i < 40; i++) {
        const size_t size = (size_t)(unit() * unit() * 60000);
        fill_mixed(bytes, size);
        ty_free(round_trip(bytes, size, &packed));
    }
    free(bytes);
}

/* Two halves of a block that are the same, a megabyte apart. */
static void test_distance(void)
{
    enum { half = 1 << 20 };
    unsigned char *bytes = malloc(2 * half);
    size_t packed;
    if (!bytes)
        exit(1);
    fill(bytes, half, 1);
    memcpy(bytes + half, bytes, half);
    ty_free(round_trip(bytes, 2 * half, &packed));
    check(packed < half + half / 32, "the second half is a repetition", packed);
    free(bytes);
}

static void test_damage(void)
{
    unsigned char bytes[2000], to[2000], other[2400];
    for (int i = 0; i < 3000; i++) {
        size_t size = (size_t)(unit() * sizeof bytes), packed;
        fill_mixed(bytes, size);
        unsigned char *p = ty_pack(bytes, size, &packed);
        if (!p || packed > sizeof other)
            exit(1);
        memcpy(other, p, packed);
        ty_free(p);
        for (int k = (int)(unit() * 4); k >= 0 && packed; k--)
            other[(size_t)(unit() * (double)packed)] = (unsigned char)(unit() * 256);
        if (unit() < 0.3)
            packed = (size_t)(unit() * (double)packed);
        unsigned char *own = malloc(packed + !packed);
        if (!own)
            exit(1);
        memcpy(own, other, packed);
        memset(to, 0x5a, sizeof to);
        size = (size_t)(unit() * sizeof to);
        ty_unpack(own, packed, to, size);
        size_t after = size;
        while (after < sizeof to && to[after] == 0x5a)
            after++;
        check(after == sizeof to, "nothing is written behind the end", size);
        free(own);
    }
}

/* Steps that no packer writes. */
static void test_refusals(void)
{
    static const struct {
        const char *what;
        unsigned char bytes[12];
        size_t packed, size;
    } cases[] = {
        {"no bytes", {0}, 0, 1},
        {"a repetition of nothing", {0x01, 1}, 2, 3},
        {"a distance before the first byte", {0x11, 'a', 2}, 3, 4},
        {"the distance of no step", {0x11, 'a', 0}, 3, 4},
        {"more bytes as they are than there are", {0x30, 'a', 'b'}, 3, 3},
        {"a number without an end", {0xf0, 128, 128, 128}, 4, 100},
        {"a number of six bytes", {0xf0, 129, 128, 128, 128, 128, 0, 'a'}, 8, 100},
        {"a length that is nearly all addresses", {0x1f, 'a', 255, 255, 255, 255, 127, 1}, 8, 30},
        {"a step without its number", {0x1f, 'a'}, 2, 30},
    };
    unsigned char to[128];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(!ty_unpack(cases[i].bytes, cases[i].packed, to, cases[i].size), cases[i].what,
              cases[i].packed);
    static const unsigned char fine[] = {0x21, 'a', 'b', 2, 0x12, 'c', 0};
    check(unpacks(fine, sizeof fine, (const unsigned char *)"abababcacac" + 0, 10) == 0,
          "another text", sizeof fine);
    check(unpacks(fine, sizeof fine, (const unsigned char *)"ababacacac", 10), "steps by hand",
          sizeof fine);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 20261122;
    printf("seed %llu\n", (unsigned long long)state);
    test_kinds();
    test_distance();
    test_damage();
    test_refusals();
    printf("%d checks, %d failed\n", checks, failed);
    return failed != 0;
}
