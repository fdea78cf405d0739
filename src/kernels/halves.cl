/*
 * Adds partials of 16-bit counts up (finish.h) and delivers them: 64 targets a group, of which a
 * work-item loads eight at a time. A sum of lower halves fits 32 bits, for there are fewer partials than
 * 65537. What counts had above their lower halves is in `table`, which is left zero.
 */
TY_KERNEL(256)
merge_halves(TY_GLOBAL const uint4 *partials, ty_u32 count, ty_u32 slots, TY_GLOBAL ty_u32 *table,
             TY_OUTPUT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 column = TY_LID & 7, row = TY_LID >> 3, quads = TY_HALVES_WORDS(slots) / 4;
    ty_u32 at = TY_GROUP * 8 + column, sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    TY_ADMIT();
    TY_AWAIT();
    for (ty_u32 p = row; at < quads && p < count; p += 32) {
        uint4 q = partials[(ty_u64)p * quads + at];
        sums[0] += q.x & 0xffffu;
        sums[1] += q.x >> 16;
        sums[2] += q.y & 0xffffu;
        sums[3] += q.y >> 16;
        sums[4] += q.z & 0xffffu;
        sums[5] += q.z >> 16;
        sums[6] += q.w & 0xffffu;
        sums[7] += q.w >> 16;
    }
    /* Neighbours' words side by side: they meet different banks. */
    for (ty_u32 k = 0; k < 8; k++)
        ty_local[row * 64 + k * 8 + column] = sums[k];
    TY_BARRIER();
    ty_u32 target = TY_GROUP * 64 + TY_LID, word = (TY_LID & 7) * 8 + (TY_LID >> 3);
    if (TY_LID < 64 && target < TY_TARGETS) {
        ty_u64 sum = (ty_u64)TY_TAKE_GLOBAL(table + target) << 16;
        for (ty_u32 r = 0; r < 32; r++)
            sum += ty_local[r * 64 + word];
        ty_deliver(target, sum, counts, first, flows, histogram, bins, how);
    }
}
