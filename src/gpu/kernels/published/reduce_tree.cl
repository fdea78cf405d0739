/*
 * reduce-tree (source 000): no atomics at all. One launch an interval: every work-item puts 1 into
 * local memory if its sample lies in the interval, else 0; a binomial tree halves the flags to one
 * sum a group; the host's merge adds the groups' sums. So n samples are read once for every
 * interval.
 *
 * Corrected: the source reads x[gid] before it checks gid < n, and its tree needs a group size that
 * is a power of two. Here the last stride is rounded up, so any size works, and flows are intervals
 * too.
 */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID;
    ty_u32 left = TY_GROUP_SIZE;
    TY_LOCAL_INIT
    ty_local[TY_LID] = i < n && ty_slot_of(TY_SAMPLES(data, offset)[i], axis) == pass ? 1 : 0;
    while (left > 1) {
        ty_u32 stride = (left + 1) / 2;
        TY_BARRIER();
        if (TY_LID + stride < left)
            ty_local[TY_LID] += ty_local[TY_LID + stride];
        left = stride;
    }
    if (TY_LID == 0)
        out[(ty_u64)TY_GROUP * slots + pass] = ty_local[0];
}
