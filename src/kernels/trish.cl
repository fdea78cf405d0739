/*
 * trish (source 003): a histogram a thread of 8-bit counters, four to a word, no atomics, no branch
 * that depends on the data. 64 rows of one word a thread:
 *
 *      word (bin/4)*T + thread:  | bin 4r+3 | bin 4r+2 | bin 4r+1 | bin 4r |   8 bits each
 *
 * so thread t stays in bank t. Every floor(63/k)*k words, before a counter can pass 255, the
 * block adds the rows up: thread t takes row t (of 64; with more threads, a stretch of its columns),
 * starting at its own column and running round, the four counters as two alternating pairs of 16 bits,
 * and clears it. Its four sums stay in registers. A word of data is binned as two pairs as well: row
 * and shift are found for two bytes at once. TY_K words are read and binned a turn, unrolled.
 *
 * TY_ACCUMULATE 0 leaves the row sums out: the paper's ablation, for timing only (wrong counts).
 *
 * Corrected: any length and alignment; the grid follows the device.
 */
#define TY_PARTS (TY_GROUP_MAX / 64)

/* Bins bytes 0 and 2, then 1 and 3: (b & 0xfc) * T/4 is the row's first word, (b & 3) * 8 the shift. */
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

/* Row sums: 64 columns of at most 252 stay below 2^16. */
#define TY_ACCUMULATE_ROWS()                                                                       \
    do {                                                                                           \
        TY_BARRIER();                                                                              \
        ty_u32 even_ = 0, odd_ = 0;                                                                \
        TY_LOCAL ty_u32 *row_ = ty_local + (lid & 63) * TY_GROUP_MAX + (lid & ~63u);               \
        TY_UNROLL                                                                                  \
        for (ty_u32 i_ = 0; i_ < 64; i_++) {                                                       \
            ty_u32 at_ = (lid + i_) & 63, v_ = row_[at_];                                          \
            even_ += v_ & 0x00ff00ffu;                                                             \
            odd_ += v_ >> 8 & 0x00ff00ffu;                                                         \
            row_[at_] = 0;                                                                         \
        }                                                                                          \
        own0 += even_ & 0xffff;                                                                    \
        own1 += odd_ & 0xffff;                                                                     \
        own2 += even_ >> 16;                                                                       \
        own3 += odd_ >> 16;                                                                        \
        TY_BARRIER();                                                                              \
    } while (0)

#if TY_BLOCKS
TY_KERNEL_DENSE(TY_GROUP_MAX, TY_BLOCKS)
#else
TY_KERNEL(TY_GROUP_MAX)
#endif
count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, own0 = 0, own1 = 0, own2 = 0, own3 = 0;
    TY_LOCAL ty_u32 *column = ty_local + lid;
    ty_words w = ty_words_of(data + offset, n);
    ty_u64 turn = (ty_u64)TY_K * TY_GROUP_MAX, step = turn * TY_GROUPS;
    ty_u64 at = turn * TY_GROUP;
    int loose = TY_GROUP == 0 && lid < w.head + w.tail;
    for (ty_u32 i = 0; i < 64; i++)
        column[i * TY_GROUP_MAX] = 0;
    /* The rows are added up at the end of a round that every work-item runs alike. */
    do {
        for (ty_u32 i = 0; i < 63 / TY_K && at < w.count; i++, at += step) {
            if (at + turn <= w.count) {
                ty_u32 v[TY_K];
                TY_UNROLL
                for (ty_u32 j = 0; j < TY_K; j++)
                    v[j] = w.word[at + j * TY_GROUP_MAX + lid];
                TY_UNROLL
                for (ty_u32 j = 0; j < TY_K; j++)
                    ty_bin_word(v[j], column);
            } else { /* the last, incomplete turn */
                for (ty_u64 word = at + lid; word < w.count; word += TY_GROUP_MAX)
                    ty_bin_word(w.word[word], column);
            }
        }
        /* Loose bytes: one a thread, and 252 + 1 still fit a counter. */
        if (loose) {
            ty_u32 b = ty_words_loose(&w, lid);
            column[(b >> 2) * TY_GROUP_MAX] += 1u << (b & 3) * 8;
            loose = 0;
        }
        if (TY_ACCUMULATE || at >= w.count)
            TY_ACCUMULATE_ROWS();
    } while (at < w.count);
    TY_GLOBAL ty_u32 *to =
        out + ((ty_u64)TY_GROUP * TY_PARTS + lid / 64) * 256 + (lid & 63) * 4;
    to[0] = own0;
    to[1] = own1;
    to[2] = own2;
    to[3] = own3;
    (void)axis;
    (void)slots;
    (void)pass;
}
