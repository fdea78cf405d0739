/*
 * Adds the groups' halves up (swizzled.cl) and stores them: 128 cells a group, of which a
 * work-item loads eight at a time, TY_TAKEN partials under way. A sum of lower halves fits 32
 * bits, for there are fewer partials than 65537. What counts had above them is in `table`, in units
 * of 65 536, which is left zero.
 *
 * Local memory: a row of 128 words for each of 16 rows of work-items; word k of the work-item in
 * column c is at k*16 + c of its row, so that neighbours write to different banks.
 */
#define TY_TAKEN 9 /* those of 132 groups at once */

TY_KERNEL_DENSE(256, 4)
merge_halves(TY_GLOBAL const uint4 *partials, ty_u32 count, ty_u32 vectors, ty_u32 slots,
             ty_u32 key, TY_GLOBAL const ty_u8 *axis, TY_GLOBAL ty_u32 *table,
             TY_OUTPUT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    const ty_decider decider = *(TY_GLOBAL const ty_decider *)(axis + TY_AXIS_MAP);
    const swizzled_keys keys = swizzled_keys_of(key, key * 0x9e3779b9u);
    const ty_u32 column = TY_LID & 15, row = TY_LID >> 4, at = TY_GROUP * 16 + column;
    const ty_u32 raw = TY_GROUP * 128 + TY_LID,
                 position = swizzled_word(raw + TY_CELL_BIAS, keys) & 127;
    const ty_u32 target = ty_slot_of_cell(swizzled_cell(raw, &decider), slots - TY_SLOT_EXTRA);
    const int mine = TY_LID < 128 && target < ty_targets(bins, how);
    ty_u32 sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    TY_GRID_TRIGGER();
    TY_GRID_WAIT();
    const ty_u32 above = mine ? TY_READ(table + target) : 0;
    for (ty_u32 p = row; p < count + row; p += TY_TAKEN * 16) {
        uint4 v[TY_TAKEN];
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_TAKEN; k++) {
            v[k].x = v[k].y = v[k].z = v[k].w = 0;
            if (at < vectors && p + k * 16 < count)
                v[k] = TY_PINNED(&partials[(ty_u64)(p + k * 16) * vectors + at]);
        }
        TY_READ_FIRST();
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_TAKEN; k++) {
            const ty_u32 words[4] = {v[k].x, v[k].y, v[k].z, v[k].w};
            TY_UNROLL
            for (ty_u32 i = 0; i < 4; i++) {
                sums[i] += words[i] & 0xffffu;
                sums[4 + i] += words[i] >> 16;
            }
        }
    }
    /* Neighbours' words side by side: they meet different banks. */
    for (ty_u32 k = 0; k < 8; k++)
        ty_local[row * 128 + k * 16 + column] = sums[k];
    TY_BARRIER();
    if (mine) {
        const ty_u32 word =
            (position / 32 % 2 * 4 + position % 4) * 16 + position / 64 * 8 + position % 32 / 4;
        ty_u64 sum = (ty_u64)above << 16;
        for (ty_u32 r = 0; r < 16; r++)
            sum += ty_local[r * 128 + word];
        if (above)
            table[target] = 0;
        ty_store_sum(target, sum, counts, first, flows, histogram, bins, how);
    }
    /* No one reads the partials again: left alone, they go to memory while the next call counts. */
    for (ty_u32 line = TY_LID; line < 2 * count; line += 256) {
        const ty_u32 here = TY_GROUP * 16 + line % 2 * 8;
        if (here < vectors)
            TY_DISCARD(&partials[(ty_u64)(line / 2) * vectors + here]);
    }
    (void)axis;
}
/* SPDX-License-Identifier: Apache-2.0 */
