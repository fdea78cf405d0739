/*
 * saturating-shared and saturating-shared-strided (source 004): a saturating histogram a group in
 * local memory, added to global memory saturating. In the first a group has one work-item a bin,
 * which commits it; in the second TY_COMMITTERS work-items commit bins that lie that far apart.
 * The host decides how many groups share the samples: as many as the device holds, or, as
 * published, so many that each work-item counts one.
 *
 * TY_CLEAR_WHOLE: every work-item clears the whole table, as published.
 *
 * Corrected: the source has a barrier inside the branch that checks for the end, and so leaves the
 * tail to chance.
 */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    ty_u64 step = (ty_u64)TY_GROUPS * TY_GROUP_SIZE;
    ty_u32 bins = slots - TY_SLOT_EXTRA, apart = TY_CLEAR_WHOLE ? 1 : TY_GROUP_SIZE;
    TY_LOCAL_INIT
    for (ty_u32 s = TY_CLEAR_WHOLE ? 0 : TY_LID; s < slots; s += apart)
        ty_local[s] = 0;
    TY_BARRIER();
    for (ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID; i < n; i += step) {
        ty_u32 slot = ty_slot_of(TY_SAMPLES(data, offset)[i], axis);
        TY_ADD_LOCAL(&ty_local[slot], 1);
        if (slot < bins)
            TY_MIN_LOCAL(&ty_local[slot], 65535);
    }
    TY_BARRIER();
    if (TY_LID < TY_COMMITTERS) {
        for (ty_u32 s = TY_LID; s < bins; s += TY_COMMITTERS) {
            TY_ADD_GLOBAL(&out[s], ty_local[s]);
            TY_MIN_GLOBAL(&out[s], 65535);
        }
    }
    if (TY_LID < TY_SLOT_EXTRA && ty_local[bins + TY_LID])
        TY_ADD_GLOBAL(&out[bins + TY_LID], ty_local[bins + TY_LID]);
    (void)pass;
}
/* SPDX-License-Identifier: Apache-2.0 */
