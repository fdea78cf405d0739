/* SPDX-License-Identifier: Apache-2.0 */
/* The CRC-32 of bytes that are read in any order, by any number of threads: of the pieces, joined
 * where they meet. */
#ifndef TY_CHECKSUM_H
#define TY_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct ty_checksum ty_checksum;

/* Of `size` bytes that should have `wanted`. NULL: memory is out. */
ty_checksum *ty_checksum_create(uint64_t size, uint32_t wanted);
void ty_checksum_free(ty_checksum *checksum); /* NULL is fine */
/* TY_CHECKSUM_WRONG: all bytes have been read, and they are others. */
typedef enum ty_checksum_result {
    TY_CHECKSUM_FINE,
    TY_CHECKSUM_WRONG,
    TY_CHECKSUM_MEMORY
} ty_checksum_result;

/* Bytes [at, at + size) were read; those that were before are passed over. `checksum` may be NULL.
 * In a build with neither ISA-L nor zlib all is fine. */
ty_checksum_result ty_checksum_add(ty_checksum *checksum, uint64_t at, const void *bytes,
                                   size_t size);
/* Whether all of `bytes` have the checksum `wanted`; in a build with neither library they do. */
int ty_checksum_is(const void *bytes, size_t size, uint32_t wanted);
/* How many bytes were read from the first on without a gap. */
uint64_t ty_checksum_reached(ty_checksum *checksum);

#endif
