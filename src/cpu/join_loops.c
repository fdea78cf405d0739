/* SPDX-License-Identifier: Apache-2.0 */
/* Joint slots and masks (join.h); the loops are vectorised by the compiler. */
#include "cpu/join.h"
#include "cpu/isa.h"

#include "binning/bin.h"

static void join(const ty_join_axis *axis, uint32_t *restrict slots, const uint32_t *restrict more,
                 size_t n)
{
    const ty_join_axis a = *axis;
    for (size_t i = 0; i < n; i++) {
        uint32_t s = more[i], old = slots[i];
        s = s == a.bins + TY_SLOT_UNDER ? a.under : s;
        s = s == a.bins + TY_SLOT_OVER ? a.over : s;
        uint32_t within = s < a.bins ? old * a.bins + s : a.total + (s - a.bins);
        uint32_t without = s == a.bins + TY_SLOT_NAN ? a.total + TY_SLOT_NAN : old;
        slots[i] = old < a.total ? within : without;
    }
}

static void mask(uint32_t *restrict slots, const uint8_t *restrict keep, size_t n, uint32_t masked)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t drop = -(uint32_t)(keep[i] == 0);
        slots[i] = (slots[i] & ~drop) | (masked & drop);
    }
}

const ty_join_loops TY_ISA_TABLE(ty_join) = {join, mask};
