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
 * pairs as well: row and shift are found for two bytes at once. TY_K words are read, then binned, a
 * turn, unrolled.
 *
 * TY_ACCUMULATE 0 leaves the row sums out: the paper's ablation, for timing only (wrong counts).
 *
 * Corrected: any length and alignment; the grid follows the device.
 */
#define TY_PARTS (TY_GROUP_MAX / 64)

/* Bins bytes 0 and 2, then 1 and 3: (b & 0xfc) * T/4 is the row's first word, (b & 3) * 8 the
 * shift. */
TY_FN void ty_bin_pair(ty_u32 pair, TY_LOCAL ty_u32 *column)
{
    ty_u32 rows = (pair & 0x00fc00fcu) * (TY_GROUP_MAX / 4), shifts = (pair & 0x00030003u) << 3;
    column[rows & 0xffff] += 1u << (shifts & 31);
    column[rows >> 16] += 1u << (shifts >> 16);
}

TY_FN void ty_bin_word(ty_u32 v, TY_LOCAL ty_u32 *column)
{
    ty_bin_pair(v & 0x00ff00ffu, column);
    ty_bin_pair(v >> 8 & 0x00ff00ffu, column);
}

/*
 * Adds up and clears 64 words of a row, from the `first` on and round: four sums of at most 64 *
 * 253, two to a word. In pieces, for the addresses of all 64 would be kept in registers between
 * calls.
 */
#define TY_PIECE 16

TY_FN void ty_add_row(TY_LOCAL ty_u32 *row, ty_u32 first, ty_u32 own[4])
{
    ty_u32 even = 0, odd = 0;
    TY_ROLLED
    for (ty_u32 i = 0; i < 64; i += TY_PIECE) {
        ty_u32 v[TY_PIECE];
        TY_UNROLL
        for (ty_u32 j = 0; j < TY_PIECE; j++)
            v[j] = row[(first + i + j) & 63];
        TY_UNROLL
        for (ty_u32 j = 0; j < TY_PIECE; j++) {
            row[(first + i + j) & 63] = 0;
            even += v[j] & 0x00ff00ffu;
            odd += v[j] >> 8 & 0x00ff00ffu;
        }
    }
    own[0] += even & 0xffff;
    own[1] += odd & 0xffff;
    own[2] += even >> 16;
    own[3] += odd >> 16;
}

TY_KERNEL(TY_GROUP_MAX) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, own[4] = {0, 0, 0, 0};
    TY_LOCAL ty_u32 *column = ty_local + lid;
    TY_LOCAL ty_u32 *row = ty_local + (lid & 63) * TY_GROUP_MAX + (lid & ~63u);
    ty_words w = ty_words_of(data + offset, n);
    /* A launch's samples fit 32 bits, and their words leave room for a step beyond the end. */
    ty_u32 words = (ty_u32)w.count, turn = TY_K * TY_GROUP_MAX, step = turn * TY_GROUPS;
    ty_u32 at = turn * TY_GROUP;
    for (ty_u32 i = 0; i < 64; i++)
        column[i * TY_GROUP_MAX] = 0;
    /* Loose bytes: one a thread, and 252 + 1 still fit a counter. */
    if (TY_GROUP == 0 && lid < w.head + w.tail) {
        ty_u32 b = ty_words_loose(&w, lid);
        column[(b >> 2) * TY_GROUP_MAX] += 1u << (b & 3) * 8;
    }
    /* The rows are added up at the end of a round that every work-item runs alike. */
    do {
        for (ty_u32 i = 0; i < 63 / TY_K && at < words; i++, at += step) {
            if (at + turn <= words) {
                ty_u32 v[TY_K];
                TY_UNROLL
                for (ty_u32 j = 0; j < TY_K; j++)
                    v[j] = TY_READ(w.word + at + j * TY_GROUP_MAX + lid);
                TY_READ_FIRST();
                TY_UNROLL
                for (ty_u32 j = 0; j < TY_K; j++)
                    ty_bin_word(v[j], column);
            } else { /* the last, incomplete turn */
                for (ty_u32 word = at + lid; word < words; word += TY_GROUP_MAX)
                    ty_bin_word(w.word[word], column);
            }
        }
        TY_BARRIER();
        if (TY_ACCUMULATE || at >= words)
            ty_add_row(row, lid, own);
        TY_BARRIER();
    } while (at < words);
    TY_GLOBAL ty_u32 *to = out + ((ty_u64)TY_GROUP * TY_PARTS + lid / 64) * 256 + (lid & 63) * 4;
    for (ty_u32 i = 0; i < 4; i++)
        to[i] = own[i];
    (void)axis;
    (void)slots;
    (void)pass;
}
