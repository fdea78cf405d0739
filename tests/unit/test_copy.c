/* SPDX-License-Identifier: Apache-2.0 */
/* Copies past the caches: all bytes, at any alignment and length, and no other. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/copy.h"

enum { most = 40000, margin = 256 };

int main(void)
{
    static _Alignas(64) unsigned char from[most + margin], to[most + 2 * margin];
    uint64_t state = 20261121, failed = 0, checks = 0;
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 2654435761u >> 13);
    for (int i = 0; i < 3000; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const size_t n = i < 200 ? (size_t)i : (state >> 20) % most, a = (state >> 40) % 70;
        const size_t b = i % 2 ? (state >> 50) % 130 : (state >> 50) % 2 * 64;
        memset(to, 0xa5, sizeof to);
        ty_copy_past(to + margin + b, from + a, n);
        int bad = memcmp(to + margin + b, from + a, n) != 0;
        for (size_t k = 0; k < margin; k++)
            bad |= to[b + k] != 0xa5 ||
                   (margin + b + n + k < sizeof to && to[margin + b + n + k] != 0xa5);
        checks++;
        failed += bad != 0;
        if (bad)
            fprintf(stderr, "FAILED: %zu bytes from %zu to %zu\n", n, a, b);
    }
    printf("seed 20261121: %llu checks, %llu failed\n", (unsigned long long)checks,
           (unsigned long long)failed);
    return failed != 0;
}
