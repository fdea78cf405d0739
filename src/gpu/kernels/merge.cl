/*
 * The partial histograms of a launch, added up in 64 bits and stored (output.h). A group has
 * `wide` targets (1, 2 … 256), of which 256/wide rows of work-items add up every so many partials.
 * Several histograms have `blocks` groups and `count` partials each, one behind the other.
 *
 * Where a kernel counted raw bytes (TY_RAW), `cells` are their values: slot s is the sum of those
 * that runs[s] … runs[s+1]-1 number in the list behind the `slots`+1 numbers.
 *
 * Local memory, in words:
 *
 *       0  256   lower words of the work-items' sums
 *     256  256   upper words
 */

/* One cell of the partials `row`, row + rows, … */
TY_FN ty_u64 merge_cell_sum(TY_GLOBAL const ty_u32 *partials, ty_u32 count, ty_u32 row, ty_u32 rows,
                            ty_u32 cells, ty_u32 cell)
{
    ty_u64 sum = 0;
    for (ty_u32 p = row; p < count; p += rows)
        sum += partials[(ty_u64)p * cells + cell];
    return sum;
}

TY_FN ty_u64 merge_slot_sum(TY_GLOBAL const ty_u32 *partials, ty_u32 count, ty_u32 row, ty_u32 rows,
                            ty_u32 cells, TY_GLOBAL const ty_u32 *runs, ty_u32 slots, ty_u32 slot)
{
#if TY_RAW
    ty_u64 sum = 0;
    ty_u32 length = runs[slot + 1] - runs[slot];
    TY_GLOBAL const ty_u32 *list = runs + slots + 1 + runs[slot];
    /* A row takes every so many of the run's cells in all partials: a run may be long. */
    for (ty_u32 i = row; i < length * count; i += rows) {
        ty_u32 p = i / length;
        sum += partials[(ty_u64)p * cells + list[i - p * length]];
    }
    return sum;
#else
    (void)runs;
    (void)slots;
    return merge_cell_sum(partials, count, row, rows, cells, slot);
#endif
}

/* A sum is kept as two words, for the group's memory is only promised to be aligned for one. */
TY_FN ty_u64 merge_sum_get(TY_LOCAL const ty_u32 *sums, ty_u32 i)
{
    return sums[i] | (ty_u64)sums[256 + i] << 32;
}

TY_FN void merge_sum_put(TY_LOCAL ty_u32 *sums, ty_u32 i, ty_u64 sum)
{
    sums[i] = (ty_u32)sum;
    sums[256 + i] = (ty_u32)(sum >> 32);
}

/* Two groups a unit: there are few, and their registers need not be spilled for more. */
TY_KERNEL_DENSE(256, 2)
merge(TY_GLOBAL const ty_u32 *partials, ty_u32 count, ty_u32 cells, ty_u32 slots, ty_u32 wide,
      ty_u32 blocks, TY_GLOBAL const ty_u32 *runs, TY_OUTPUT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 here = TY_GROUP / blocks, targets = ty_targets(bins, how);
    ty_u32 target = (TY_GROUP - here * blocks) * wide + (TY_LID & (wide - 1));
    ty_u32 row = TY_LID / wide, rows = 256 / wide;
    ty_u64 sum = 0;
    TY_GRID_TRIGGER();
    TY_GRID_WAIT();
    partials += (ty_u64)here * count * cells;
    first += (ty_u64)here * bins;
    histogram += here;
    if (target < targets)
        sum = merge_slot_sum(partials, count, row, rows, cells, runs, slots, target);
    if (ty_takes_under(target, how))
        sum += merge_slot_sum(partials, count, row, rows, cells, runs, slots, bins + TY_SLOT_UNDER);
    if (ty_takes_over(target, bins, how))
        sum += merge_slot_sum(partials, count, row, rows, cells, runs, slots, bins + TY_SLOT_OVER);
    merge_sum_put(ty_local, TY_LID, sum);
    for (ty_u32 stride = 128; stride >= wide; stride /= 2) {
        TY_BARRIER();
        if (TY_LID < stride)
            merge_sum_put(ty_local, TY_LID,
                          merge_sum_get(ty_local, TY_LID) +
                              merge_sum_get(ty_local, TY_LID + stride));
    }
    if (TY_LID < wide && target < targets)
        ty_store_sum(target, merge_sum_get(ty_local, TY_LID), counts, first, flows, histogram, bins,
                     how);
}

/* Adds what another device counted, brought here, to all histograms of an output, `blocks` groups
 * each. */
TY_KERNEL(256)
merge_outputs(TY_GLOBAL const ty_u8 *brought, TY_GLOBAL const ty_u64 *brought_flows, ty_u32 blocks,
              TY_OUTPUT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT(void) ty_local;
    ty_u32 here = TY_GROUP / blocks, target = (TY_GROUP - here * blocks) * 256 + TY_LID;
    first += (ty_u64)here * bins;
    histogram += here;
    if (target < ty_targets(bins, how))
        ty_store_sum(
            target, ty_stored(target, brought, (ty_u64)here * bins, brought_flows, here, bins, how),
            counts, first, flows, histogram, bins, how);
}
/* SPDX-License-Identifier: Apache-2.0 */
