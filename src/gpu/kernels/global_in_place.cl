/*
 * global-in-place: each sample of any layout (view.h) is added to its count in the output itself.
 * The call's histograms have `parts` groups each. What is in no bin is added up in the group's
 * memory first, for all of it goes to a few words.
 * Local memory: a word for each of the TY_SLOT_EXTRA slots that are no bin.
 */
TY_KERNEL(TY_GROUP_SIZE)
count(TY_SAMPLES_ARGS ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked,
      TY_GLOBAL const ty_u8 *axis, ty_u64 columns, ty_u64 begin, ty_u64 end, ty_u64 numbered,
      ty_u32 actives, ty_u32 parts, ty_u32 slots, TY_OUTPUT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 here = TY_GROUP / parts, outside = slots - TY_SLOT_EXTRA;
    ty_u64 b = (numbered + here) / actives, step = (ty_u64)parts * TY_GROUP_SIZE;
    ty_u64 from = begin + (ty_u64)(TY_GROUP - here * parts) * TY_GROUP_SIZE + TY_LID;
    TY_GLOBAL const ty_u8 *list = axis;
    for (int d = 0; d < TY_DIMS; d++)
        list = ty_axis_next(list);
    ty_i64 offset = channel * ((TY_GLOBAL const ty_u32 *)list)[numbered + here - b * actives];
    TY_GLOBAL ty_u64 *to = (TY_GLOBAL ty_u64 *)counts + first + (ty_u64)here * bins;
    for (ty_u32 f = TY_LID; f < TY_SLOT_EXTRA; f += TY_GROUP_SIZE)
        ty_local[f] = 0;
    TY_BARRIER();
    for (ty_u64 i = from; i < end; i += step) {
        ty_u64 row = i / columns, column = i - row * columns;
        ty_u32 slot = ty_view_slot(TY_PASS_SAMPLES offset, b, row, column, outside, axis);
        if (masked && !*TY_GRID_AT(mask, b, row, column))
            slot = outside + TY_SLOT_MASKED;
        if (slot == outside + TY_SLOT_UNDER && (how & TY_OUT_CLAMP_UNDER))
            slot = 0;
        if (slot == outside + TY_SLOT_OVER && (how & TY_OUT_CLAMP_OVER))
            slot = outside - 1;
        if (slot < outside)
            TY_ADD_WIDE(&to[slot], 1);
        else
            TY_ADD_LOCAL(&ty_local[slot - outside], 1);
    }
    TY_BARRIER();
    /* An output for the host has its flows behind the bins. */
    for (ty_u32 f = TY_LID; f < TY_SLOT_EXTRA; f += TY_GROUP_SIZE) {
        if (ty_local[f] && bins == slots)
            TY_ADD_WIDE(&to[outside + f], ty_local[f]);
        else if (ty_local[f] && f < 4 && (how & TY_OUT_FLOWS))
            TY_ADD_WIDE(&flows[(histogram + here) * 4 + f], ty_local[f]);
    }
}
/* SPDX-License-Identifier: Apache-2.0 */
