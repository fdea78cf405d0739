/* atomic-global (sources 001 and 004): one work-item a sample, one atomic addition to global
 * memory. */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID;
    TY_LOCAL_INIT
    if (i < n)
        TY_ADD_GLOBAL(&out[ty_slot_of(TY_SAMPLES(data, offset)[i], axis)], 1);
    (void)slots;
    (void)pass;
    (void)ty_local;
}
