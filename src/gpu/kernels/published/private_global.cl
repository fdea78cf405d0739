/* private-global (source 001): several copies of the histogram in different regions of global
 * memory, each shared by the groups of one residue, so that fewer meet at an address; merged
 * afterwards. TY_COPIES is their number. */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    ty_u64 step = (ty_u64)TY_GROUPS * TY_GROUP_SIZE;
    TY_GLOBAL ty_u32 *own = out + (ty_u64)(TY_GROUP % TY_COPIES) * slots;
    TY_LOCAL_INIT
    for (ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID; i < n; i += step)
        TY_ADD_GLOBAL(&own[ty_slot_of(TY_SAMPLES(data, offset)[i], axis)], 1);
    (void)pass;
    (void)ty_local;
}
