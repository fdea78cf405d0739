/* private-shared (source 001): a histogram a group in local memory, committed at the end. The
 * commit leaves the group's table as a partial; the merge kernel adds them up. */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    ty_u64 step = (ty_u64)TY_GROUPS * TY_GROUP_SIZE;
    TY_LOCAL_INIT
    for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE)
        ty_local[s] = 0;
    TY_BARRIER();
    for (ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID; i < n; i += step)
        TY_ADD_LOCAL(&ty_local[ty_slot_of(TY_SAMPLES(data, offset)[i], axis)], 1);
    TY_BARRIER();
    for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE)
        out[(ty_u64)TY_GROUP * slots + s] = ty_local[s];
    (void)pass;
}
