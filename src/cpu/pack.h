/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes brought together for counting: one channel of several, or those that a mask keeps. */
#ifndef TY_PACK_H
#define TY_PACK_H

#include <stddef.h>
#include <stdint.h>

typedef struct ty_pack_loops {
    /* Elements of 2, 3 or 4 bytes each, one buffer a byte; the buffers do not overlap. */
    void (*split2)(const uint8_t *from, size_t elements, uint8_t *to0, uint8_t *to1);
    void (*split3)(const uint8_t *from, size_t elements, uint8_t *to0, uint8_t *to1, uint8_t *to2);
    void (*split4)(const uint8_t *from, size_t elements, uint8_t *to0, uint8_t *to1, uint8_t *to2,
                   uint8_t *to3);
    /* Copies from[i] where keep[i] is nonzero; returns how many. `to` has room for n + 64 and may
     * not overlap the others. */
    size_t (*keep)(const uint8_t *from, const uint8_t *keep, size_t n, uint8_t *to);
} ty_pack_loops;

/* The last two are there on x86-64. */
extern const ty_pack_loops ty_pack_base, ty_pack_avx2, ty_pack_avx512;

/* The fastest that this processor runs. */
const ty_pack_loops *ty_pack_loops_get(void);

#endif
