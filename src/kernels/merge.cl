/* Partial histograms of a launch, added to 64-bit totals. Work-items run along the cells, so that
 * neighbours read neighbours; groups share out the partials, and each adds its share once. */
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
