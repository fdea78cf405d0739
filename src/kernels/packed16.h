/* packed16 (packed16.cl): where what lies in local memory, and the ways to count a chunk. */
#ifndef TY_PACKED16_H
#define TY_PACKED16_H

#if TY_DTYPE == 3 || TY_DTYPE == 4 || TY_DTYPE == 9 || TY_DTYPE == 10
#define TY_RAW16
#undef TY_MARK
#define TY_MARK         0u
#define TY_MARK_OF(x)   ((ty_u32)(ty_u16)(x))
#define TY_RESULT(cell) (cell)
#define TY_OUTSIDE      0
#define TY_SUMS         65536 /* words before the partials: what raw values are added up in */
#else
#define TY_MARK_OF(x)   ty_mark_of(x, &bins, &fast, axis)
#define TY_RESULT(cell) ty_target_of(ty_slot_of_cell(cell, bins.bins), bins.bins, how)
#define TY_OUTSIDE      TY_CELLS_EXTRA /* cells that are no bins */
#define TY_SUMS         0
#endif

/* Local memory, in words: a table of TY_GROUP_MAX, of which 2^TY_SLOTS may be hot cells, what is
 * counted of these (in the table's other half where there is one), 32 that no one reads, the
 * copied counters of hot values, the counters, sums, the list of pairs. `origin` is the table's
 * address and a multiple of 128, `bias` the counters' less twice TY_MARK: the address of a cell,
 * given as the cell + TY_MARK, takes no more than its place. */
#define TY_HOT_CELLS        (1 << TY_SLOTS)
#define TY_COUNTS           (2 * TY_HOT_CELLS <= TY_GROUP_MAX ? TY_GROUP_MAX - TY_HOT_CELLS : TY_GROUP_MAX)
#define TY_WASTE            (TY_COUNTS + TY_HOT_CELLS)
#define TY_HOT_BASE         ((TY_WASTE + 63) & ~31)
#define TY_BASE             (TY_HOT_BASE + TY_HOT_WORDS)
#define TY_HOT_AT           (origin + TY_HOT_BASE * 4)
#define TY_HASH(mark)       (((mark) & ~63u) * (((mark) & ~63u) * key + more) >> 25)
#define TY_ADDRESS(mark)    ((((mark)*two + bias) ^ TY_HASH(mark)) & ~3u)
#define TY_WORD_AT(address) ((TY_LOCAL ty_u32 *)((TY_LOCAL ty_u8 *)table + ((address)-origin)))
#define TY_COUNTER(mark)    TY_WORD_AT(TY_ADDRESS(mark))
#define TY_COUNT(mark, n)   TY_ADD_AT(table, TY_ADDRESS(mark), TY_UNIT(mark) * (n))
#define TY_UNIT(mark)       ((mark)*upper + one)
#define TY_BOTH(word)       ((word)&0xffffu)
#define TY_ODD(word, even)  (((word) >> 16) - TY_BOTH(word) * (even)&0xffffu)

#define TY_EACH   ((ty_u32)(16 / sizeof(ty_sample)))
#define TY_CHUNK  ((ty_u32)(TY_AHEAD * TY_GROUP_MAX)) /* loads of a group, a turn for each warp */
#define TY_FULL   0x2000u /* pairs that reached this are emptied after a period */
#define TY_LISTED 64      /* pairs that are drained */
#define TY_DRAIN  4       /* turns from one that drains them to the next */
#define TY_KNOWN  3       /* draws that put a cell into the table */

#define TY_TEAM  (TY_GROUP_MAX % 32 ? TY_GROUP_MAX : 32) /* lanes that take a turn */
#define TY_TURNS (TY_GROUP_MAX / TY_TEAM)

/* Periods are so much longer where hardly a pair is to be drained. */
#if defined(TY_RAW16)
#define TY_LONG 4
#else
#define TY_LONG 1
#endif

/* Whether what was drawn names a warp's first leader, and draws spare hot words: 32-bit integers
 * lose 3 % of skewed samples' speed by it, float64 was not measured. */
#if defined(TY_RAW16) || TY_DTYPE == 11
#define TY_TOLD 1
#else
#define TY_TOLD 0
#endif

enum { TY_FORWARD, TY_BACK, TY_CAREFUL };

TY_FN ty_u32 ty_mix(ty_u32 x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* The marks of the samples of one load. In float32 NaN and the upper end of a closed axis need two
 * instructions each: one comparison finds both, and only loads that have them pay for more. */
#define TY_EAT(x) marks[each++] = TY_MARK_OF(x)
#if TY_EVEN == 2 && !defined(TY_RAW16)
#define TY_UNUSUAL(x) (!((x) < unusual) && !((x) > unusual))
#define TY_MARKS(v)                                                                                \
    do {                                                                                           \
        float x_[4] = {TY_AS_FLOAT((v).x), TY_AS_FLOAT((v).y), TY_AS_FLOAT((v).z),                 \
                       TY_AS_FLOAT((v).w)};                                                        \
        int any_ = 0;                                                                              \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < 4; e++) {                                                           \
            marks[e] = ty_mark_f32_usual(x_[e], &fast);                                            \
            any_ |= TY_UNUSUAL(x_[e]);                                                             \
        }                                                                                          \
        if (any_) {                                                                                \
            TY_UNROLL                                                                              \
            for (ty_u32 e = 0; e < 4; e++) {                                                       \
                if (TY_UNUSUAL(x_[e]))                                                             \
                    marks[e] = x_[e] == unusual ? at_unusual : TY_MARK + bins.bins + 2;            \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#elif TY_EVEN == TY_BY_LOG && !defined(TY_RAW16)
#define TY_MARKS(v) ty_quad_marks(v, marks, &bins, &fast, axis)
#elif defined(TY_RAW16)
/* Each a word of its own: left alone, the compiler makes more of the halves of a word. */
#define TY_MARKS(v)                                                                                \
    do {                                                                                           \
        ty_u32 each = 0;                                                                           \
        TY_EAT_QUAD(v);                                                                            \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < TY_EACH; e++)                                                       \
            TY_OPAQUE(marks[e]);                                                                   \
    } while (0)
#else
#define TY_MARKS(v)                                                                                \
    do {                                                                                           \
        ty_u32 each = 0;                                                                           \
        TY_EAT_QUAD(v);                                                                            \
    } while (0)
#endif

/* A statement for each load of a chunk, whose marks are in `marks`. As soon as a load has come the
 * one in its place of the next chunk is asked for, so that as many are on their way all the time:
 * where all of a chunk are asked for at once, they do not fit the first-level cache that counters
 * leave, and all warps wait. */
#define TY_FOR_LOADS(statement)                                                                    \
    do {                                                                                           \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < TY_AHEAD; k++) {                                                    \
            TY_MARKS(v[k]);                                                                        \
            v[k] = TY_PINNED(behind + k * TY_TEAM);                                                \
            TY_PIN(k, pass)                                                                        \
            statement;                                                                             \
        }                                                                                          \
    } while (0)

/* A statement for each mark of a chunk. */
#define TY_EACH_MARK(statement)                                                                    \
    TY_UNROLL                                                                                      \
    for (ty_u32 e = 0; e < TY_EACH; e++) {                                                         \
        ty_u32 mark = marks[e];                                                                    \
        statement;                                                                                 \
    }
#define TY_FOR_MARKS(statement) TY_FOR_LOADS(TY_EACH_MARK(statement))

/* The word of the table that may have a cell: by its place on the axis times 191.03, so that
 * neighbours come apart, that the values of bytes, of decimals, of most grids of up to 300 values
 * have words of their own, even where they are rounded to cells, and those near each other banks of
 * their own. */
#define TY_SPREAD(bins) ((ty_u32)((((ty_u64)191 << 32) + 143650911u) / (bins)) | 1)
#define TY_SLOT(mark)   ((mark)*spread >> (32 - TY_SLOTS))
#define TY_NO_CELL      0xffffe000u

#if defined(TY_RAW16)
/* Counts a load's marks of which many are in the table, whose words have a hot value in the upper
 * half and in the lower one which of the copied counters is its, 2^copied copies side by side that
 * the lanes take in turn; as that is the word without the value, comparing finds it. The word of no
 * value has one that belongs elsewhere, and TY_FREE, or one less where a value came and no counter
 * was left: one of the others' samples may enter a free one. */
#define TY_FREE        0xffffu
#define TY_EMPTY(slot) ((slot) ? TY_FREE : 0x80000000u | TY_FREE)
#define TY_ENTER(at, value)                                                                        \
    do {                                                                                           \
        ty_u32 none_ = TY_EMPTY(TY_SLOT(value));                                                   \
        if (TY_SWAP_LOCAL_IF(TY_WORD_AT(at), none_, none_ - 1) == none_) {                         \
            ty_u32 i_ = TY_ADD_LOCAL(&sums[TY_ENTERED], 1);                                        \
            if (i_ < TY_HOT_WORDS >> copied_)                                                      \
                TY_SWAP_LOCAL(TY_WORD_AT(at), (value) << 16 | i_);                                 \
        }                                                                                          \
    } while (0)
#define TY_ADD_HOT()                                                                               \
    do {                                                                                           \
        ty_u32 at_[TY_EACH], word_[TY_EACH], cold_ = 0;                                            \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < TY_EACH; e++) {                                                     \
            at_[e] = origin + TY_SLOT(marks[e]) * 4;                                               \
            word_[e] = TY_LOAD_AT(table, at_[e]);                                                  \
        }                                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < TY_EACH; e++) {                                                     \
            word_[e] ^= marks[e] * upper;                                                          \
            cold_ |= word_[e];                                                                     \
        }                                                                                          \
        if (!(cold_ >> 16)) {                                                                      \
            TY_UNROLL                                                                              \
            for (ty_u32 e = 0; e < TY_EACH; e++)                                                   \
                TY_INC_AT(table, word_[e] * step_ + mine_);                                        \
        } else {                                                                                   \
            if ((word_[k % TY_EACH] & 0xffffu) == TY_FREE)                                         \
                TY_ENTER(at_[k % TY_EACH], marks[k % TY_EACH]);                                    \
            TY_UNROLL                                                                              \
            for (ty_u32 e = 0; e < TY_EACH; e++) {                                                 \
                int is_ = !(word_[e] >> 16);                                                       \
                ty_u32 address_ = TY_ADDRESS(marks[e]);                                            \
                TY_INC_AT(table, is_ ? word_[e] * step_ + mine_ : origin + 4 * TY_WASTE);          \
                address_ = is_ ? waste : address_;                                                 \
                TY_ADD_AT(table, address_, TY_UNIT(marks[e]));                                     \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#define TY_COUNT_HOT()                                                                             \
    do {                                                                                           \
        const ty_u32 copied_ = sums[TY_COPIED_TO], step_ = 4u << copied_;                          \
        const ty_u32 mine_ = TY_HOT_AT + (lid & ((1u << copied_) - 1)) * 4;                        \
        TY_FOR_LOADS(TY_ADD_HOT());                                                                \
    } while (0)
#else
/* Counts a load's marks of which many are in the table: those there by adding 1, which the hardware
 * combines among lanes, the others in their pairs. Loads that are all in the table, as most are,
 * take no select. One of the others' samples gets the word of the table that it would have, if that
 * has no cell. */
#define TY_ADD_HOT()                                                                               \
    do {                                                                                           \
        ty_u32 at_[TY_EACH], cell_[TY_EACH], cold_ = 0;                                            \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < TY_EACH; e++) {                                                     \
            at_[e] = origin + TY_SLOT(marks[e]) * 4;                                               \
            cell_[e] = TY_LOAD_AT(table, at_[e]);                                                  \
        }                                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < TY_EACH; e++)                                                       \
            cold_ |= cell_[e] ^ marks[e];                                                          \
        if (!cold_) {                                                                              \
            TY_UNROLL                                                                              \
            for (ty_u32 e = 0; e < TY_EACH; e++)                                                   \
                TY_INC_AT(table, at_[e] + 4 * TY_COUNTS);                                          \
        } else {                                                                                   \
            if (cell_[k % TY_EACH] == TY_NO_CELL)                                                  \
                TY_SWAP_LOCAL_IF(TY_WORD_AT(at_[k % TY_EACH]), TY_NO_CELL, marks[k % TY_EACH]);    \
            TY_UNROLL                                                                              \
            for (ty_u32 e = 0; e < TY_EACH; e++) {                                                 \
                int is_ = cell_[e] == marks[e];                                                    \
                ty_u32 address_ = TY_ADDRESS(marks[e]);                                            \
                TY_INC_AT(table, (is_ ? at_[e] : origin + 4 * TY_HOT_CELLS) + 4 * TY_COUNTS);      \
                address_ = is_ ? waste : address_;                                                 \
                TY_ADD_AT(table, address_, TY_UNIT(marks[e]));                                     \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#define TY_COUNT_HOT() TY_FOR_LOADS(TY_ADD_HOT())
#endif

#if defined(TY_RAW16)
#define TY_ROOM(known) ((known) <= TY_HOT_WORDS / 4)
#else
#define TY_ROOM(known) 1
#define TY_HOT_COUNT(i, value)                                                                     \
    (*(value) = table[i], *(value) == TY_NO_CELL ? 0 : table[TY_COUNTS + (i)])
#endif

#if defined(TY_RAW16)
#define TY_HOT_COUNT(i, value) ty_hot_count(table, i, sums[TY_COPIED_TO], value)
/* What was counted of the table's word i, and its value; 0 where it has none. */
TY_FN ty_u32 ty_hot_count(TY_LOCAL const ty_u32 *table, ty_u32 i, ty_u32 copied, ty_u32 *value)
{
    const ty_u32 which = table[i] & 0xffffu;
    ty_u32 sum = 0;
    *value = table[i] >> 16;
    for (ty_u32 k = 0; which < TY_HOT_WORDS >> copied && k < 1u << copied; k++)
        sum += table[TY_HOT_BASE + (which << copied | ((TY_LID + k) & ((1u << copied) - 1)))];
    return sum;
}
#endif

/* Counts samples of which neighbours are mostly equal: how often in turn, then all at once. */
#define TY_ADD_RUN()                                                                               \
    do {                                                                                           \
        int same_ = 1;                                                                             \
        last_ = run_ ? last_ : marks[0];                                                           \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < TY_EACH; e++)                                                       \
            same_ &= marks[e] == last_;                                                            \
        if (same_) {                                                                               \
            run_ += TY_EACH;                                                                       \
        } else {                                                                                   \
            TY_UNROLL                                                                              \
            for (ty_u32 e = 0; e < TY_EACH; e++) {                                                 \
                if (marks[e] != last_) {                                                           \
                    TY_COUNT(last_, run_);                                                         \
                    last_ = marks[e];                                                              \
                    run_ = 0;                                                                      \
                }                                                                                  \
                run_++;                                                                            \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#define TY_COUNT_RUNS()                                                                            \
    do {                                                                                           \
        ty_u32 last_ = TY_MARK, run_ = 0;                                                          \
        TY_FOR_LOADS(TY_ADD_RUN());                                                                \
        TY_COUNT(last_, run_);                                                                     \
    } while (0)

#if defined(TY_BALLOT)
#define TY_OFTEN 5 /* lanes on one cell that are too many */

/* What a warp knows of the cells it meets in, and where it counts them. */
typedef struct ty_heat {
    ty_u32 leader; /* such a cell, or TY_NO_CELL */
    ty_u32 turn;
} ty_heat;

/* After a chunk: whether the lanes' samples at one place meet often. Which place and lane that
 * is about changes with `turn`, so that no input can hide. */
TY_FN void ty_look(ty_heat *h, const ty_u32 *marks)
{
    ty_u32 probe[TY_EACH];
    h->turn = h->turn * 0x2c1b3c6du + 0x297a2d39u;
    TY_UNROLL
    for (ty_u32 e = 0; e < TY_EACH; e++)
        probe[e] = marks[e];
    TY_UNROLL
    for (ty_u32 apart = TY_EACH / 2; apart; apart /= 2) {
        TY_UNROLL
        for (ty_u32 e = 0; e < apart; e++)
            probe[e] = h->turn & apart << 20 ? probe[e + apart] : probe[e];
    }
    ty_u32 guess = TY_SHUFFLE(probe[0], h->turn >> 27);
    if (TY_POPCOUNT(TY_BALLOT(probe[0] == guess)) >= TY_OFTEN)
        h->leader = guess;
}

/* Samples of the leader go to the lane's word of the table. An address asked for first: a branch
 * costs more. After a chunk the word goes to the leader's pair; a leader met too seldom is none. */
#define TY_COUNT_LED()                                                                             \
    do {                                                                                           \
        TY_FOR_MARKS(ty_u32 address_ = TY_ADDRESS(mark);                                           \
                     address_ = mark == heat.leader ? own : address_;                              \
                     TY_ADD_AT(table, address_, TY_UNIT(mark)));                                   \
        ty_u32 own_ = TY_BOTH(table[lid]), met_ = TY_BALLOT(own_ > 1);                             \
        table[lid] = 0;                                                                            \
        own_ = TY_SUM_LANES(own_);                                                                 \
        if (lane == 0)                                                                             \
            TY_ADD_AT(table, TY_ADDRESS(heat.leader), TY_UNIT(heat.leader) * own_);                \
        heat.leader = TY_POPCOUNT(met_) >= 16 ? heat.leader : TY_NO_CELL;                          \
    } while (0)

#define TY_COUNT_PLAIN()                                                                           \
    do {                                                                                           \
        if (heat.leader != TY_NO_CELL)                                                             \
            TY_COUNT_LED();                                                                        \
        else                                                                                       \
            TY_FOR_MARKS(TY_COUNT(mark, 1));                                                       \
        if (form == TY_LED && heat.leader == TY_NO_CELL)                                           \
            ty_look(&heat, marks);                                                                 \
    } while (0)
#else
#define TY_COUNT_PLAIN() TY_FOR_MARKS(TY_COUNT(mark, 1))
#endif

#endif
