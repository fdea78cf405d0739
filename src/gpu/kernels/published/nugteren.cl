/*
 * nugteren (source 003, there NUG): a histogram a thread, 32 threads a block, two 16-bit counters a
 * word: 128 words a thread, interleaved so that thread t's words all lie in bank t. The block adds
 * up its threads' counters and leaves a partial; the merge is the published tail kernel.
 *
 *      word (bin/2)*32 + thread:  | count of bin odd | count of bin even |
 *
 * Corrected: the published code is compiled for 2048×2048 bytes; here a thread adds its counters up
 * before one can pass 65535, so any length does.
 */
#define NUGTEREN_BIN_ONE(b) ty_local[((b) >> 1) * 32 + TY_LID] += 1u << ((b)&1) * 16

TY_KERNEL(32) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 own[8];
    ty_words w = ty_words_of(data + offset, n);
    ty_u64 step = (ty_u64)TY_GROUPS * 32, at = (ty_u64)TY_GROUP * 32;
    ty_u32 first = 1;
    TY_UNROLL
    for (ty_u32 i = 0; i < 8; i++)
        own[i] = 0;
    for (ty_u32 i = 0; i < 128; i++)
        ty_local[i * 32 + TY_LID] = 0;
    while (at < w.count || first) {
        /* 16382 words and a loose byte are 65529 counts at most. */
        for (ty_u32 turn = 0; turn < 16382 && at < w.count; turn++, at += step) {
            if (at + TY_LID < w.count) {
                ty_u32 v = w.word[at + TY_LID];
                NUGTEREN_BIN_ONE(v & 255);
                NUGTEREN_BIN_ONE(v >> 8 & 255);
                NUGTEREN_BIN_ONE(v >> 16 & 255);
                NUGTEREN_BIN_ONE(v >> 24);
            }
        }
        if (first && TY_GROUP == 0 && TY_LID < w.head + w.tail)
            NUGTEREN_BIN_ONE(ty_words_loose(&w, TY_LID));
        first = 0;
        TY_BARRIER();
        /* Thread t adds up bins 8t … 8t+7: four rows, starting at its own column. */
        TY_UNROLL
        for (ty_u32 row = 0; row < 4; row++) {
            ty_u32 low = 0, high = 0;
            for (ty_u32 i = 0; i < 32; i++) {
                ty_u32 cell = (TY_LID * 4 + row) * 32 + ((TY_LID + i) & 31);
                ty_u32 v = ty_local[cell];
                low += v & 0xffff;
                high += v >> 16;
                ty_local[cell] = 0;
            }
            own[2 * row] += low;
            own[2 * row + 1] += high;
        }
        TY_BARRIER();
    }
    TY_UNROLL
    for (ty_u32 i = 0; i < 8; i++)
        out[(ty_u64)TY_GROUP * 256 + TY_LID * 8 + i] = own[i];
    (void)axis;
    (void)slots;
    (void)pass;
}
/* SPDX-License-Identifier: Apache-2.0 */
