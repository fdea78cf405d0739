/*
 * private-register (source 001): a private histogram a work-item in registers, added to the group's
 * in local memory, then to the launch's. TY_CELLS is the number of bins.
 *
 * Corrected: the source indexes its register array by the sample's bin, which is only known at run
 * time and sends the array to slow memory. Here every register is named by a constant: each sample
 * is compared with every bin. So the work grows with the bins, and the method is for few of them.
 * No register is spilled, for the compiler is not asked to make room for a second group
 * (tests/unit/test_nvrtc.c sees to it).
 */
TY_KERNEL_DENSE(TY_GROUP_SIZE, 1) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    const ty_share share = ty_share_of(n);
    ty_u32 own[TY_CELLS];
    ty_outside outside;
    TY_LOCAL_INIT
    ty_outside_none(&outside);
    for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE)
        ty_local[s] = 0;
    TY_BARRIER();
    TY_UNROLL
    for (ty_u32 s = 0; s < TY_CELLS; s++)
        own[s] = 0;
    for (ty_u64 i = share.at; i < share.end; i += share.step) {
        ty_u32 slot = ty_slot_of(TY_SAMPLES(data, offset)[i], axis);
        if (slot < TY_CELLS) {
            TY_UNROLL
            for (ty_u32 s = 0; s < TY_CELLS; s++)
                own[s] += slot == s ? 1 : 0;
        } else {
            ty_outside_count(&outside, slot - TY_CELLS);
        }
    }
    TY_UNROLL
    for (ty_u32 s = 0; s < TY_CELLS; s++) {
        if (own[s])
            TY_ADD_LOCAL(&ty_local[s], own[s]);
    }
    ty_outside_add(&outside, ty_local + TY_CELLS);
    TY_BARRIER();
    ty_commit(ty_local, slots, out);
    (void)pass;
}
/* SPDX-License-Identifier: Apache-2.0 */
