/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), for the cache's keys. */
#ifndef TY_SHA256_H
#define TY_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct ty_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} ty_sha256;

void ty_sha256_begin(ty_sha256 *s);
void ty_sha256_add(ty_sha256 *s, const void *bytes, size_t size);
void ty_sha256_end(ty_sha256 *s, unsigned char digest[32]);

/* All three. */
void ty_sha256_of(const void *bytes, size_t size, unsigned char digest[32]);

#endif
