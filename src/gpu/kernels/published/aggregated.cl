/*
 * aggregated (source 001): over private-shared, a work-item combines the samples of one bin that
 * come to it one after another into one update.
 *
 * Corrected: in the source a value outside the alphabet leaves the run of the bin before it open,
 * which is right only because the run is flushed later; here such a value has a slot of its own and
 * ends the run like any other.
 */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    ty_u64 step = (ty_u64)TY_GROUPS * TY_GROUP_SIZE;
    ty_u32 run = 0, previous = 0;
    TY_LOCAL_INIT
    for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE)
        ty_local[s] = 0;
    TY_BARRIER();
    for (ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID; i < n; i += step) {
        ty_u32 slot = ty_slot_of(TY_SAMPLES(data, offset)[i], axis);
        if (slot == previous) {
            run++;
        } else {
            if (run)
                TY_ADD_LOCAL(&ty_local[previous], run);
            previous = slot;
            run = 1;
        }
    }
    if (run)
        TY_ADD_LOCAL(&ty_local[previous], run);
    TY_BARRIER();
    for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE)
        out[(ty_u64)TY_GROUP * slots + s] = ty_local[s];
    (void)pass;
}
