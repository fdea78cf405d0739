/* private-shared (source 001): a histogram a group in local memory, committed at the end. */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    const ty_share own = ty_share_of(n);
    const ty_u32 bins = slots - TY_SLOT_EXTRA;
    ty_outside outside;
    TY_LOCAL_INIT
    ty_outside_none(&outside);
    for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE)
        ty_local[s] = 0;
    TY_BARRIER();
    for (ty_u64 i = own.at; i < own.end; i += own.step) {
        ty_u32 slot = ty_slot_of(TY_SAMPLES(data, offset)[i], axis);
        if (slot < bins)
            TY_ADD_LOCAL(&ty_local[slot], 1);
        else
            ty_outside_count(&outside, slot - bins);
    }
    ty_outside_add(&outside, ty_local + bins);
    TY_BARRIER();
    ty_commit(ty_local, slots, out);
    (void)pass;
}
