/* atomic-global (sources 001 and 004): one work-item a sample, one atomic addition to global
 * memory. */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    const ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID;
    const ty_u32 bins = slots - TY_SLOT_EXTRA;
    ty_outside outside;
    TY_LOCAL_INIT
    ty_outside_none(&outside);
    if (i < n) {
        ty_u32 slot = ty_slot_of(TY_SAMPLES(data, offset)[i], axis);
        if (slot < bins)
            TY_ADD_GLOBAL(&out[slot], 1);
        else
            ty_outside_count(&outside, slot - bins);
    }
    ty_outside_commit(&outside, ty_local, out + bins);
    (void)pass;
}
/* SPDX-License-Identifier: Apache-2.0 */
