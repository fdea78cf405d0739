/*
 * atomic-local (source 000): a group counts its samples, one a work-item, in local memory by atomic
 * increments, then adds every bin to global memory atomically.
 *
 * Corrected: the source clears and commits bin `lid` only, so it needs as many work-items as bins,
 * and a value below lo or above hi writes outside its table; here bins are shared out by strides,
 * and such values have slots of their own.
 */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID;
    TY_LOCAL_INIT
    for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE)
        ty_local[s] = 0;
    TY_BARRIER();
    if (i < n)
        TY_ADD_LOCAL(&ty_local[ty_slot_of(TY_SAMPLES(data, offset)[i], axis)], 1);
    TY_BARRIER();
    for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE) {
        if (ty_local[s])
            TY_ADD_GLOBAL(&out[s], ty_local[s]);
    }
    (void)pass;
}
/* SPDX-License-Identifier: Apache-2.0 */
