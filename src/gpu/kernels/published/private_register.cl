/*
 * private-register (source 001): a private histogram a work-item in registers, added to the group's
 * in local memory, then to the launch's. TY_CELLS is the number of slots.
 *
 * Corrected: the source indexes its register array by the sample's bin, which is only known at run
 * time and sends the array to slow memory. Here every register is named by a constant: each sample
 * is compared with every slot. So the work grows with the bins, and the method is for few of them.
 * No register is spilled, for the compiler is not asked to make room for a second group
 * (tests/unit/test_nvrtc.c sees to it).
 */
TY_KERNEL_DENSE(TY_GROUP_SIZE, 1) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    ty_u64 step = (ty_u64)TY_GROUPS * TY_GROUP_SIZE;
    ty_u32 own[TY_CELLS];
    TY_LOCAL_INIT
    for (ty_u32 s = TY_LID; s < TY_CELLS; s += TY_GROUP_SIZE)
        ty_local[s] = 0;
    TY_BARRIER();
    TY_UNROLL
    for (ty_u32 s = 0; s < TY_CELLS; s++)
        own[s] = 0;
    for (ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID; i < n; i += step) {
        ty_u32 slot = ty_slot_of(TY_SAMPLES(data, offset)[i], axis);
        TY_UNROLL
        for (ty_u32 s = 0; s < TY_CELLS; s++)
            own[s] += slot == s ? 1 : 0;
    }
    TY_UNROLL
    for (ty_u32 s = 0; s < TY_CELLS; s++) {
        if (own[s])
            TY_ADD_LOCAL(&ty_local[s], own[s]);
    }
    TY_BARRIER();
    for (ty_u32 s = TY_LID; s < TY_CELLS; s += TY_GROUP_SIZE)
        out[(ty_u64)TY_GROUP * TY_CELLS + s] = ty_local[s];
    (void)slots;
    (void)pass;
}
