/* private-global (source 001): several copies of the histogram in different regions of global
 * memory, each shared by the groups of one residue, so that fewer meet at an address; merged
 * afterwards. TY_COPIES is their number. */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    TY_GLOBAL ty_u32 *copy = out + (ty_u64)(TY_GROUP % TY_COPIES) * slots;
    const ty_share own = ty_share_of(n);
    const ty_u32 bins = slots - TY_SLOT_EXTRA;
    ty_outside outside;
    TY_LOCAL_INIT
    ty_outside_none(&outside);
    for (ty_u64 i = own.at; i < own.end; i += own.step) {
        ty_u32 slot = ty_slot_of(TY_SAMPLES(data, offset)[i], axis);
        if (slot < bins)
            TY_ADD_GLOBAL(&copy[slot], 1);
        else
            ty_outside_count(&outside, slot - bins);
    }
    ty_outside_commit(&outside, ty_local, copy + bins);
    (void)pass;
}
/* SPDX-License-Identifier: Apache-2.0 */
