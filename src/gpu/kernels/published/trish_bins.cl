/*
 * trish-bins (source 003, "Future Directions"): TRISH for samples of any type and at most 256 bins.
 * Of each thread a column of 8-bit counters, four to a word, for the slots: the bins, and behind
 * them those of samples outside.
 *
 *      word row*64 + thread:  | slot 4r+3 | slot 4r+2 | slot 4r+1 | slot 4r |     TY_ROWS rows
 *
 * Every floor(252/k)*k samples, before a counter can pass 255, the rows are added up and cleared:
 * TY_TALL rows (a power of two) at a time, each by 64 / TY_TALL threads, TY_TALL columns a thread,
 * starting at its own column and running round, as pairs of 16 bits. The sums stay in registers.
 */
#define TY_ROUNDS    ((TY_ROWS + TY_TALL - 1) / TY_TALL)
#define TY_STRETCHES (64 / TY_TALL)

TY_FN void trish_count_slot(ty_u32 slot, TY_LOCAL ty_u32 *column)
{
    column[(slot >> 2) * 64] += 1u << (slot & 3) * 8;
}

/* Adds up and clears a thread's columns of a row. */
TY_FN void trish_add_stretch(TY_LOCAL ty_u32 *stretch, ty_u32 first, ty_u32 own[4])
{
    ty_u32 even = 0, odd = 0;
    for (ty_u32 i = 0; i < TY_TALL; i++) {
        TY_LOCAL ty_u32 *word = stretch + ((first + i) & (TY_TALL - 1));
        even += *word & 0x00ff00ffu;
        odd += *word >> 8 & 0x00ff00ffu;
        *word = 0;
    }
    own[0] += even & 0xffff;
    own[1] += odd & 0xffff;
    own[2] += even >> 16;
    own[3] += odd >> 16;
}

TY_KERNEL(64) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    const ty_u32 lid = TY_LID, row = lid % TY_TALL, stretch = lid / TY_TALL;
    const ty_u32 turn = TY_K * 64, step = turn * TY_GROUPS, samples = (ty_u32)n; /* n <= 2^31 */
    TY_GLOBAL const ty_sample *from = TY_SAMPLES(data, offset);
    TY_LOCAL ty_u32 *column = ty_local + lid;
    ty_u32 own[TY_ROUNDS][4], at = turn * TY_GROUP;
    TY_UNROLL
    for (ty_u32 i = 0; i < TY_ROUNDS * 4; i++)
        own[i / 4][i % 4] = 0;
    for (ty_u32 i = 0; i < TY_ROWS; i++)
        column[i * 64] = 0;
    /* The rows are added up at the end of a round that every work-item runs alike. */
    do {
        for (ty_u32 i = 0; i < 252 / TY_K && at < samples; i++, at += step) {
            if (at + turn <= samples) {
                ty_sample x[TY_K];
                ty_u32 slot[TY_K];
                TY_UNROLL
                for (ty_u32 j = 0; j < TY_K; j++)
                    x[j] = from[at + j * 64 + lid];
                TY_READ_FIRST();
                TY_UNROLL
                for (ty_u32 j = 0; j < TY_K; j++) {
                    slot[j] = ty_slot_of(x[j], axis);
                    TY_OPAQUE(slot[j]); /* or what finds slots is mixed with what counts them */
                }
                TY_UNROLL
                for (ty_u32 j = 0; j < TY_K; j++)
                    trish_count_slot(slot[j], column);
            } else { /* the last, incomplete turn */
                for (ty_u32 s = at + lid; s < samples; s += 64)
                    trish_count_slot(ty_slot_of(from[s], axis), column);
            }
        }
        TY_BARRIER();
        TY_UNROLL
        for (ty_u32 i = 0; i < TY_ROUNDS; i++) {
            if (i * TY_TALL + row < TY_ROWS)
                trish_add_stretch(ty_local + (i * TY_TALL + row) * 64 + stretch * TY_TALL, row,
                                  own[i]);
        }
        TY_BARRIER();
    } while (at < samples);
    out += ((ty_u64)TY_GROUP * TY_STRETCHES + stretch) * slots;
    TY_UNROLL
    for (ty_u32 i = 0; i < TY_ROUNDS * 4; i++) {
        const ty_u32 slot = (i / 4 * TY_TALL + row) * 4 + i % 4;
        if (slot < slots)
            out[slot] = own[i / 4][i % 4];
    }
    (void)pass;
}
/* SPDX-License-Identifier: Apache-2.0 */
