/*
 * podlozhnyuk-64 (source 002): byte counters, a histogram of 64 bins a work-item. The group's local
 * memory is 64 rows (bins) of one byte a work-item. A work-item's column is its number with two
 * groups of bits swapped, so that TY_BANKS work-items that run together are in as many words of a
 * row. With 16, as published ([5:4] and [3:0]), the half warps of then met 16 banks whatever their
 * data were; of today's 32 lanes, l and l+16 share a bank. With 32 ([6:5] and [4:0]) each has its
 * own. 63 words a work-item keep every counter below 256. Then work-item t < 64 adds up row t,
 * starting 4 bytes after its neighbour, and the group leaves a partial of 64 words.
 *
 *      row 0   | column 0 … TY_GROUP_SIZE-1 |   one byte each
 *      …       |                           |
 *      row 63  |                           |
 *
 * Corrected: any length and alignment; the loose bytes at the ends go to a work-item each, so that
 * no counter gets more than 253.
 */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_LOCAL ty_u8 *bytes = (TY_LOCAL ty_u8 *)ty_local;
    ty_u32 lid = TY_LID, lane = lid & (TY_BANKS - 1);
    ty_u32 column = (lid & ~(4u * TY_BANKS - 1)) | lane << 2 | (lid / TY_BANKS & 3);
    ty_words w = ty_words_of(data + offset, n);
    ty_u64 first = (ty_u64)TY_GROUP * TY_GROUP_SIZE * 63 + lid;
    for (ty_u32 i = 0; i < 16; i++)
        ty_local[i * TY_GROUP_SIZE + lid] = 0;
    TY_BARRIER();
    for (ty_u32 i = 0; i < 63; i++) {
        ty_u64 at = first + (ty_u64)i * TY_GROUP_SIZE;
        if (at < w.count) {
            ty_u32 v = w.word[at];
            bytes[(v >> 2 & 63) * TY_GROUP_SIZE + column]++;
            bytes[(v >> 10 & 63) * TY_GROUP_SIZE + column]++;
            bytes[(v >> 18 & 63) * TY_GROUP_SIZE + column]++;
            bytes[(v >> 26 & 63) * TY_GROUP_SIZE + column]++;
        }
    }
    if (TY_GROUP == 0 && lid < w.head + w.tail)
        bytes[(ty_words_loose(&w, lid) >> 2) * TY_GROUP_SIZE + column]++;
    TY_BARRIER();
    if (lid < 64) {
        ty_u32 sum = 0, at = 4 * lane;
        for (ty_u32 i = 0; i < TY_GROUP_SIZE; i++) {
            sum += bytes[lid * TY_GROUP_SIZE + at];
            at = at + 1 < TY_GROUP_SIZE ? at + 1 : 0;
        }
        out[(ty_u64)TY_GROUP * 64 + lid] = sum;
    }
    (void)axis;
    (void)slots;
    (void)pass;
}
/* SPDX-License-Identifier: Apache-2.0 */
