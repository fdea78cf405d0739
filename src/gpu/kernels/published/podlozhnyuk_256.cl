/*
 * podlozhnyuk-256 (sources 002 and 003, there POD): a histogram of 256 words a warp in local
 * memory, updated by hardware atomics; the group adds its warps' histograms and leaves a partial.
 *
 *      warp 0   | bin 0 … bin 255 |
 *      …
 *      warp W-1 | bin 0 … bin 255 |
 *
 * Corrected: any length and alignment.
 */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_LOCAL ty_u32 *own = ty_local + (TY_LID / 32) * 256;
    ty_words w = ty_words_of(data + offset, n);
    ty_u64 step = (ty_u64)TY_GROUPS * TY_GROUP_SIZE;
    for (ty_u32 i = TY_LID; i < TY_WARPS * 256; i += TY_GROUP_SIZE)
        ty_local[i] = 0;
    TY_BARRIER();
    for (ty_u64 i = (ty_u64)TY_GROUP * TY_GROUP_SIZE + TY_LID; i < w.count; i += step) {
        ty_u32 v = w.word[i];
        TY_ADD_LOCAL(&own[v & 255], 1);
        TY_ADD_LOCAL(&own[v >> 8 & 255], 1);
        TY_ADD_LOCAL(&own[v >> 16 & 255], 1);
        TY_ADD_LOCAL(&own[v >> 24], 1);
    }
    if (TY_GROUP == 0 && TY_LID < w.head + w.tail)
        TY_ADD_LOCAL(&own[ty_words_loose(&w, TY_LID)], 1);
    TY_BARRIER();
    for (ty_u32 bin = TY_LID; bin < 256; bin += TY_GROUP_SIZE) {
        ty_u32 sum = 0;
        for (ty_u32 warp = 0; warp < TY_WARPS; warp++)
            sum += ty_local[warp * 256 + bin];
        out[(ty_u64)TY_GROUP * 256 + bin] = sum;
    }
    (void)axis;
    (void)slots;
    (void)pass;
}
/* SPDX-License-Identifier: Apache-2.0 */
