/* Partial histograms of a launch, added to 64-bit totals. */

/* Many cells: a work-item a cell, so that neighbours read neighbours. */
TY_KERNEL(256) merge(TY_GLOBAL const ty_u32 *partials, ty_u32 count, ty_u32 cells,
                     TY_GLOBAL ty_u64 *totals TY_LOCAL_ARG)
{
    ty_u32 cell = TY_GROUP * 256 + TY_LID;
    TY_LOCAL_INIT
    if (cell < cells) {
        ty_u64 sum = 0;
        for (ty_u32 p = 0; p < count; p++)
            sum += partials[(ty_u64)p * cells + cell];
        totals[cell] += sum;
    }
    (void)ty_local;
}

/* Many partials: a group a cell, its work-items' sums added up by a tree. A sum is kept as two words,
 * for the group's memory is only promised to be aligned for one. */
TY_FN ty_u64 ty_sum_get(TY_LOCAL const ty_u32 *sums, ty_u32 i)
{
    return sums[i] | (ty_u64)sums[256 + i] << 32;
}

TY_FN void ty_sum_put(TY_LOCAL ty_u32 *sums, ty_u32 i, ty_u64 sum)
{
    sums[i] = (ty_u32)sum;
    sums[256 + i] = (ty_u32)(sum >> 32);
}

TY_KERNEL(256) merge_rows(TY_GLOBAL const ty_u32 *partials, ty_u32 count, ty_u32 cells,
                          TY_GLOBAL ty_u64 *totals TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u64 sum = 0;
    for (ty_u32 p = TY_LID; p < count; p += 256)
        sum += partials[(ty_u64)p * cells + TY_GROUP];
    ty_sum_put(ty_local, TY_LID, sum);
    for (ty_u32 stride = 128; stride > 0; stride /= 2) {
        TY_BARRIER();
        if (TY_LID < stride)
            ty_sum_put(ty_local, TY_LID,
                       ty_sum_get(ty_local, TY_LID) + ty_sum_get(ty_local, TY_LID + stride));
    }
    if (TY_LID == 0)
        totals[TY_GROUP] += ty_sum_get(ty_local, 0);
}
