/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of several axes joined into one table's, and masks applied. In join_loops.c,
 * compiled once for each instruction set. */
#ifndef TY_JOIN_H
#define TY_JOIN_H

#include <stddef.h>
#include <stdint.h>

/* One more axis of a joint table of `total` bins. */
typedef struct ty_join_axis {
    uint32_t total, bins;
    uint32_t under, over; /* the bin that takes a flow (clamped), else the flow's slot: bins + … */
} ty_join_axis;

typedef struct ty_join_loops {
    /* Joins n slots `more` of one more axis to `slots`. Inside every axis so far: a joint value
     * below total; outside: total + the first flow, but NaN before under and over. No policy FAIL.
     */
    void (*join)(const ty_join_axis *axis, uint32_t *slots, const uint32_t *more, size_t n);
    /* slots[i] = masked where keep[i] is 0. */
    void (*mask)(uint32_t *slots, const uint8_t *keep, size_t n, uint32_t masked);
} ty_join_loops;

/* The last two are there on x86-64. */
extern const ty_join_loops ty_join_base, ty_join_avx2, ty_join_avx512;

/* The fastest that this processor runs. */
const ty_join_loops *ty_join_loops_get(void);

#endif
