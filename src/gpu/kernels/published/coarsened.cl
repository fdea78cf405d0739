/* coarsened (source 001): several samples a work-item, a grid apart so that neighbours read
 * neighbours, or in a row; atomics to global memory. The host launches n / elements work-items. */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    const ty_share own = ty_share_of(n);
    const ty_u32 bins = slots - TY_SLOT_EXTRA;
    ty_outside outside;
    TY_LOCAL_INIT
    ty_outside_none(&outside);
    for (ty_u64 i = own.at; i < own.end; i += own.step) {
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
