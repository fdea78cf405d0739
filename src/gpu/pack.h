/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packing of the kernels file: texts of kernels, or their machine code, that repeat each other over
 * hundreds of kilobytes.
 *
 * Packed bytes are steps until all are there. A step is a byte, 16*l + m, then
 *
 *     if l is 15, a number to be added to it; l bytes as they are;
 *     if m is 15, a number to be added to it; if m is not 0, a distance: the m + 2 bytes that are
 * so far back are repeated. A distance of 0 is the step's before.
 *
 * Numbers are written seven bits a byte, the lowest first, 128 added to all bytes but the last.
 */
#ifndef TY_PACK_H
#define TY_PACK_H

#include <stddef.h>
#include <stdint.h>

/* At most so many bytes are packed or unpacked at once. */
enum { ty_pack_most = 1 << 30 };

/* Packs `size` bytes into new memory (ty_free) of *packed bytes; NULL: out of memory. */
unsigned char *ty_pack(const unsigned char *from, size_t size, size_t *packed);

/* 1: the bytes that `packed` bytes become are exactly `size`, and are at `to`. 0: they are no such
 * bytes, and what is at `to` is undefined. Reads and writes nothing else, whatever `from` is. */
int ty_unpack(const unsigned char *from, size_t packed, unsigned char *to, size_t size);

#endif
