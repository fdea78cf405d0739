/* SPDX-License-Identifier: Apache-2.0 */
/* Even axes on vectors: samples to slots, and slots straight into a table. In even_loops.c,
 * compiled once for each instruction set. */
#ifndef TY_EVEN_H
#define TY_EVEN_H

#include "cpu/cpu.h"

/* By dtype; NULL for one-byte dtypes. */
typedef struct ty_even_loops {
    ty_slots_fn slots[TALLY_F64 + 1];
    ty_add_fn add[TALLY_F64 + 1];
    /* Sets axis->affine, for float32 and float64. Looks at every edge. */
    void (*prove)(ty_axis *axis);
} ty_even_loops;

/* The last two are there on x86-64. */
extern const ty_even_loops ty_even_base, ty_even_avx2, ty_even_avx512;

/* The fastest that this processor runs. */
const ty_even_loops *ty_even_loops_get(void);

/*
 * Whether the loops give ty_slot_even's answer for the axis, or, of nearly even edges (axis.h),
 * ty_slot_edges': they compare with the table's edge. They take the nearest edge from
 * x*inverse - lo*inverse, whose two roundings more than ty_slot_even's need bins no narrower than
 * 2^-46 of the largest edge; and their slots are signed, with room to tell a sample far outside.
 */
int ty_even_serves(const ty_axis *axis);

#endif
