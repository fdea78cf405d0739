/*
 * trish (source 003): a histogram a thread of 8-bit counters, four to a word, no atomics, no branch
 * that depends on the data. 64 rows of one word a thread:
 *
 *      word (bin/4)*T + thread:  | bin 4r+3 | bin 4r+2 | bin 4r+1 | bin 4r |   8 bits each
 *
 * so thread t stays in bank t. Every floor(63/k)*k words, before a counter can pass 255, the
 * block adds the rows up: thread t takes row t (of 64; with more threads, a stretch of its
 * columns), starting at its own column and running round, the four counters as two alternating
 * pairs of 16 bits, and clears it. Its four sums stay in registers. A word of data is binned as two
 * pairs as well: row and shift are found for two bytes at once. A turn bins TY_K words of a thread,
 * unrolled, of which TY_BATCH at a time are read before they are binned.
 *
 * TY_PAIRS 0 adds a row's four counters up one by one, TY_ACCUMULATE 0 leaves the row sums and
 * their barriers out, which is for timing only (wrong counts): the paper's ablations.
 *
 * Corrected: any length and alignment; the grid follows the device.
 */
#define TY_PARTS (TY_GROUP_SIZE / 64)
/* Turns from one row sum to the next. */
#define TY_TURNS (TY_ACCUMULATE ? 63u / TY_K : ~0u)

/* Bins bytes 0 and 2, then 1 and 3: (b & 0xfc) * T/4 is the row's first word, (b & 3) * 8 the
 * shift. */
TY_FN void trish_bin_pair(ty_u32 pair, TY_LOCAL ty_u32 *column)
{
    ty_u32 rows = (pair & 0x00fc00fcu) * (TY_GROUP_SIZE / 4), shifts = (pair & 0x00030003u) << 3;
    column[rows & 0xffff] += 1u << (shifts & 31);
    column[rows >> 16] += 1u << (shifts >> 16);
}

TY_FN void trish_bin_word(ty_u32 v, TY_LOCAL ty_u32 *column)
{
    trish_bin_pair(v & 0x00ff00ffu, column);
    trish_bin_pair(v >> 8 & 0x00ff00ffu, column);
}

/* A thread's words of a turn, which lie TY_GROUP_SIZE apart. */
TY_FN void trish_bin_turn(TY_GLOBAL const ty_u32 *word, TY_LOCAL ty_u32 *column)
{
    TY_UNROLL
    for (ty_u32 j = 0; j < TY_K; j += TY_BATCH) {
        ty_u32 v[TY_BATCH];
        TY_UNROLL
        for (ty_u32 i = 0; i < TY_BATCH && j + i < TY_K; i++)
            v[i] = TY_READ(word + (j + i) * TY_GROUP_SIZE);
        TY_READ_FIRST();
        TY_UNROLL
        for (ty_u32 i = 0; i < TY_BATCH && j + i < TY_K; i++)
            trish_bin_word(v[i], column);
    }
}

/* Adds a word's four counters to the sums: as pairs, two to a word, or each to its own. */
TY_FN void trish_add_counters(ty_u32 v, ty_u32 sums[4])
{
#if TY_PAIRS
    sums[0] += v & 0x00ff00ffu;
    sums[1] += v >> 8 & 0x00ff00ffu;
#else
    TY_UNROLL
    for (ty_u32 i = 0; i < 4; i++)
        sums[i] += v >> 8 * i & 0xff;
#endif
}

/*
 * Adds up and clears 64 words of a row, from the `first` on and round: four sums of at most 64 *
 * 253, a pair in 32 bits. In pieces, for the addresses of all 64 would be kept in registers between
 * calls.
 */
#define TY_PIECE 16

TY_FN void trish_add_row(TY_LOCAL ty_u32 *row, ty_u32 first, ty_u32 own[4])
{
    ty_u32 sums[4] = {0, 0, 0, 0};
    TY_ROLLED
    for (ty_u32 i = 0; i < 64; i += TY_PIECE) {
        ty_u32 v[TY_PIECE];
        TY_UNROLL
        for (ty_u32 j = 0; j < TY_PIECE; j++)
            v[j] = row[(first + i + j) & 63];
        TY_UNROLL
        for (ty_u32 j = 0; j < TY_PIECE; j++) {
            row[(first + i + j) & 63] = 0;
            trish_add_counters(v[j], sums);
        }
    }
    TY_UNROLL
    for (ty_u32 i = 0; i < 4; i++)
        own[i] += TY_PAIRS ? sums[i & 1] >> 16 * (i >> 1) & 0xffff : sums[i];
}

TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, own[4] = {0, 0, 0, 0};
    TY_LOCAL ty_u32 *column = ty_local + lid;
    TY_LOCAL ty_u32 *row = ty_local + (lid & 63) * TY_GROUP_SIZE + (lid & ~63u);
    ty_words w = ty_words_of(data + offset, n);
    /* A launch's samples fit 32 bits, and their words leave room for a step beyond the end. */
    ty_u32 words = (ty_u32)w.count, turn = TY_K * TY_GROUP_SIZE, step = turn * TY_GROUPS;
    ty_u32 at = turn * TY_GROUP;
    for (ty_u32 i = 0; i < 64; i++)
        column[i * TY_GROUP_SIZE] = 0;
    /* Loose bytes: one a thread, and 252 + 1 still fit a counter. */
    if (TY_GROUP == 0 && lid < w.head + w.tail) {
        ty_u32 b = ty_words_loose(&w, lid);
        column[(b >> 2) * TY_GROUP_SIZE] += 1u << (b & 3) * 8;
    }
    /* The rows are added up at the end of a round that every work-item runs alike. */
    do {
        for (ty_u32 i = 0; i < TY_TURNS && at < words; i++, at += step) {
            if (at + turn <= words) {
                trish_bin_turn(w.word + at + lid, column);
            } else { /* the last, incomplete turn */
                for (ty_u32 word = at + lid; word < words; word += TY_GROUP_SIZE)
                    trish_bin_word(w.word[word], column);
            }
        }
        TY_BARRIER();
        trish_add_row(row, lid, own);
        TY_BARRIER();
    } while (at < words);
    TY_GLOBAL ty_u32 *to = out + ((ty_u64)TY_GROUP * TY_PARTS + lid / 64) * 256 + (lid & 63) * 4;
    for (ty_u32 i = 0; i < 4; i++)
        to[i] = own[i];
    (void)axis;
    (void)slots;
    (void)pass;
}
/* SPDX-License-Identifier: Apache-2.0 */
