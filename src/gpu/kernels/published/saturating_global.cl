/*
 * saturating-global (source 004): an atomic addition to global memory, then an atomic minimum with
 * 65535. The counter is 32 bits wide and every addition is followed by its own minimum, so it
 * passes the limit by at most the work-items in flight and ends at the right value for any n.
 *
 * Corrected: the source clears the table from every work-item. Flows are counted without a limit.
 */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    ty_u64 step = (ty_u64)TY_GROUPS * TY_GROUP_SIZE;
    ty_u32 bins = slots - TY_SLOT_EXTRA;
    TY_LOCAL_INIT
    for (ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID; i < n; i += step) {
        ty_u32 slot = ty_slot_of(TY_SAMPLES(data, offset)[i], axis);
        TY_ADD_GLOBAL(&out[slot], 1);
        if (slot < bins)
            TY_MIN_GLOBAL(&out[slot], 65535);
    }
    (void)pass;
    (void)ty_local;
}
/* SPDX-License-Identifier: Apache-2.0 */
