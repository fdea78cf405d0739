/* coarsened (source 001): several samples a work-item, a grid apart so that neighbours read
 * neighbours; atomics to global memory. The host launches n / elements work-items. */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    ty_u64 step = (ty_u64)TY_GROUPS * TY_GROUP_SIZE;
    TY_LOCAL_INIT
    for (ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID; i < n; i += step)
        TY_ADD_GLOBAL(&out[ty_slot_of(TY_SAMPLES(data, offset)[i], axis)], 1);
    (void)slots;
    (void)pass;
    (void)ty_local;
}
