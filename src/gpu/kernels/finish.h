/*
 * What becomes of a group's counts. With `finish` the groups add them to `table`, a word for each
 * of the plan's slots, and the last of them to be done stores it (output.h): one launch is all.
 * Who is the last says a ticket in the word behind the table; all words are 0 before the launch and
 * behind it. Else every group leaves a partial in `out`, to be added up by a launch of its own.
 *
 * A kernel leaves its partials where `finish` is 0; else it adds to the table at ty_target_of, and
 * all its work-items call ty_store_table.
 */
#ifndef TY_FINISH_H
#define TY_FINISH_H

#include "gpu/kernels/output.h"

#define TY_FINISH_ARGS                                                                             \
    ty_u32 finish, TY_GLOBAL ty_u32 *table, TY_GLOBAL ty_u8 *counts, ty_u64 first,                 \
        TY_GLOBAL ty_u64 *flows, ty_u64 histogram, ty_u32 wide, ty_u32 how

/* Where a slot's samples are stored: those of clamped flows in bins. */
TY_FN ty_u32 ty_target_of(ty_u32 slot, ty_u32 bins, ty_u32 how)
{
    if (slot == bins + TY_SLOT_UNDER && (how & TY_OUT_CLAMP_UNDER))
        return 0;
    return slot == bins + TY_SLOT_OVER && (how & TY_OUT_CLAMP_OVER) ? bins - 1 : slot;
}

#define TY_TAKES 4 /* words of the table that a work-item has under way at a time */

/* Behind the last addition to the table: the last group to be done stores it. `ticket` is a word of
 * local memory that nothing else is in any more. */
TY_FN void ty_store_table(TY_LOCAL ty_u32 *ticket, ty_u32 slots, TY_FINISH_ARGS)
{
    if (finish)
        TY_DEVICE_FENCE(); /* what was added is seen by whoever draws a later ticket */
    TY_WHOLE_BARRIER();
    if (finish && TY_LID == 0)
        *ticket = TY_ADD_GLOBAL(table + slots, 1);
    TY_BARRIER();
    if (finish && *ticket == TY_GROUPS - 1) {
        ty_u32 targets = ty_targets(wide, how);
        TY_DEVICE_FENCE();
        for (ty_u32 t = TY_LID; t <= slots; t += TY_TAKES * TY_GROUP_SIZE) {
            ty_u32 sums[TY_TAKES];
            TY_UNROLL
            for (ty_u32 k = 0; k < TY_TAKES; k++)
                if (t + k * TY_GROUP_SIZE <= slots)
                    sums[k] = TY_TAKE_GLOBAL(table + t + k * TY_GROUP_SIZE);
            TY_UNROLL
            for (ty_u32 k = 0; k < TY_TAKES; k++)
                if (t + k * TY_GROUP_SIZE < targets)
                    ty_store_sum(t + k * TY_GROUP_SIZE, sums[k], counts, first, flows, histogram,
                                 wide, how);
        }
    }
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
