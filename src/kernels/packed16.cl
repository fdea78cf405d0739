/*
 * packed16: one copy of the histogram in local memory, two cells a word, scrambled as in
 * swizzled.cl. Samples of two bytes are counted as raw values (65 536 cells; `fold` applies the
 * axis), others as cells of the axis.
 *
 * The lower half of a word counts the samples of both cells, the upper half adds up the cells'
 * numbers modulo 2^16, so that an update adds (cell << 16) + 1: one instruction less than choosing
 * a half. The odd cell has upper - lower * even samples.
 *
 * No update looks at what it returns. A group counts a period of its samples, then adds the lower
 * halves up: one that passed 65 535 has lost 65 536, so the sum is right if and only if none did.
 * If it is wrong, the period is taken back (the same samples subtracted, which is exact, for words
 * are numbers modulo 2^32) and counted again in pieces that cannot overflow.
 *
 * So that this stays rare, hot pairs are drained: before a period each work-item looks at one load
 * drawn at random; pairs that many find are listed, and every fourth chunk empties these when it is
 * counted. A listed pair then hardly holds more than four chunks and one of every warp, half of
 * what it can. An input that knows the samples drawn would have to know the key.
 *
 * Lanes that meet in one word follow one another, a clock a lane, unless they add 1, which the
 * hardware combines. What was drawn tells how to count a period (ty_form): as it comes; with a word
 * for each lane that takes the cell in which a warp meets now (TY_COUNT_LED); hot cells, which are
 * in a table, by adding 1, of two-byte samples to one of several copies (TY_COUNT_HOT); or runs of
 * one cell by their length (TY_COUNT_RUNS). How a period is counted changes its time and no count.
 */
TY_FN uint4 ty_zeros(void)
{
    uint4 v;
    v.x = v.y = v.z = v.w = 0;
    return v;
}

/* Words of a group beside its counters: what `count` owes and has seen, … */
enum {
    TY_OWED,
    TY_SEEN,
    TY_IS_FULL,
    TY_LIST_LENGTH,
    TY_LEFT,      /* turns */
    TY_CONSTANT,  /* draws of a load whose samples are all in one cell */
    TY_MET,       /* draws of a sample in whose cell another lane's is */
    TY_MASS,      /* draws in cells of the table */
    TY_TOP,       /* of them in the most frequent one, 2^17 times, and that cell */
    TY_OUT,       /* draws of pairs to be drained whose cells are not in the table */
    TY_ENTERED,   /* hot values that have copied counters */
    TY_COPIED_TO, /* copies that these have, as a power of two */
    TY_SUMMED
};

/* One of two places in the table, for a pair. The second ones are in a table of their own where
 * there is room, so that a draw adds 1 there too, which the hardware combines among lanes. */
#define TY_PAIR_SLOT(cell, way)                                                                    \
    ((ty_u32)((ty_u64)ty_mix(((cell) >> 1) + key + (way)*0x632be5abu) * TY_GROUP_MAX >> 32))
#define TY_APART  (TY_TOLD && TY_COUNTS >= TY_GROUP_MAX && TY_HOT_CELLS >= TY_GROUP_MAX)
#define TY_SECOND (TY_APART ? TY_COUNTS : 0)

/* What a pair that many drew is listed by: the hottest is the largest. */
#define TY_WANTED(e) (0x80000000u | (TY_TOLD ? found[e] << 16 : 0u) | cell[e] >> 1)

/* Where a group's chunk begins, of `all`: each round of chunks is dealt from another group on, so
 * that samples that repeat do not leave some groups the slow part of them. */
TY_FN ty_u64 ty_place(ty_u32 round, ty_u32 all, ty_u32 key)
{
    ty_u32 first = round * TY_GROUPS, from = TY_MUL_HI(key + round * 0x9e3779b9u, TY_GROUPS);
    ty_u32 group = TY_GROUP + (first + TY_GROUPS <= all ? from : 0u);
    return (ty_u64)(first + (group < TY_GROUPS ? group : group - TY_GROUPS)) * TY_CHUNK;
}

/* The load that a work-item draws from some chunks. Two draw from one row, whose samples lanes
 * would count at once, and each two from a part of their own, so that no part is left out and a
 * warp asks for few pages of memory. */
#define TY_DRAWN(at, end)                                                                          \
    (span.quads +                                                                                  \
     ty_drawn(ty_mix(key ^ ty_mix((at)*0x10001u + (TY_GROUP * TY_GROUP_MAX + lid) / 2)), at, end,  \
              all, key))
TY_FN ty_u64 ty_drawn(ty_u32 draw, ty_u32 at, ty_u32 end, ty_u32 all, ty_u32 key)
{
    const ty_u32 loads = (end - at) * TY_CHUNK / (TY_GROUP_MAX / 2);
    ty_u32 j = TY_LID / 2 * loads + (ty_u32)((ty_u64)draw * loads >> 32);
    j ^= TY_TEAM == 32 && TY_LID % 2 ? 1 + draw % 31 : 0;
    return ty_place(at + j / TY_CHUNK, all, key) + j % TY_CHUNK;
}

enum { TY_PLAIN, TY_RUNS, TY_HOT, TY_LED };

#if defined(TY_RAW16)
/* As many copies as so many hot values have room for, and some more that are met. */
TY_FN ty_u32 ty_copied(ty_u32 known)
{
    ty_u32 copied = 5;
    while (copied > 2 && TY_HOT_WORDS >> copied < known + 16)
        copied--;
    return copied;
}
#endif

/* How a period is counted, by what was drawn from it. */
TY_FN ty_u32 ty_form(TY_LOCAL const ty_u32 *sums, ty_u32 asked)
{
    const ty_u32 draws = TY_EACH * TY_GROUP_MAX;
    const ty_u32 others = sums[TY_MASS] - (sums[TY_TOP] >> 17);
#if defined(TY_RAW16)
    /* Hardly a value that is not known, and 32 copies for each: no lanes meet. */
    const int known = sums[TY_MASS] * 128 >= draws * 127 && others * 8 >= draws &&
                      ty_copied(sums[TY_ENTERED]) == 5;
#else
    const int known = 0;
#endif
    if (asked)
        return asked - 1;
    if (sums[TY_CONSTANT] * 8 >= TY_GROUP_MAX * 7)
        return TY_RUNS;
    if (known ||
        (sums[TY_MET] * 32 >= TY_GROUP_MAX && sums[TY_MASS] * 8 >= draws * 7 &&
         others * 8 >= draws) ||
        (sums[TY_MET] * 6 >= TY_GROUP_MAX && others * 4 >= draws))
        return TY_HOT;
    return sums[TY_MET] * 50 >= TY_GROUP_MAX ? TY_LED : TY_PLAIN;
}

/* A warp's turn, of those that no other took; below 0 when there is none. */
TY_FN ty_i32 ty_turn(TY_LOCAL ty_u32 *left, ty_i32 turn)
{
#if defined(TY_BALLOT)
    if ((TY_LID & 31) == 0)
        turn = (ty_i32)(TY_DEC_LOCAL(left) - 1);
    return (ty_i32)TY_SHUFFLE(turn, 0);
#else
    (void)left;
    return turn - TY_TURNS;
#endif
}

/* Where a lane's loads of a turn begin, TY_TEAM apart. */
#define TY_FROM(turn)                                                                              \
    (span.quads + ty_place(at + (ty_u32)(turn) / TY_TURNS, all, key) + lane +                      \
     (ty_u32)(turn) % TY_TURNS * (TY_AHEAD * TY_TEAM))

/* So many at a time of all, at most `most`, each time as many. */
TY_FN ty_u32 ty_equal(ty_u32 all, ty_u32 most)
{
    ty_u32 times = (all + most - 1) / most;
    return times ? (all + times - 1) / times : 1;
}

/* 16 bytes of a group's partial: whole lines. */
#define TY_QUADS(words) (((words) / 8 + 7) & ~7u)

/* The even cell of word i of eight, where a group leaves them. */
#define TY_PAIR_AT(i) (row + ((w % 4 * 8 + (i)) ^ shift) * 2)

TY_KERNEL_DENSE(TY_GROUP_MAX, TY_DENSE)
count(TY_COUNT_ARGS, ty_u32 key, ty_u32 period, ty_u32 hits, ty_u32 asked,
      TY_GLOBAL ty_u32 *partials, ty_u32 how TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_ADMIT();
    ty_u32 lid = TY_LID, more = key * 0x9e3779b9u;
#if defined(TY_RAW16)
    ty_u32 cells = 65536;
#else
    ty_bins bins = *(TY_GLOBAL const ty_bins *)axis;
    ty_decider fast = *(TY_GLOBAL const ty_decider *)(axis + TY_AXIS_FAST);
    ty_u32 cells = bins.bins + TY_CELLS_EXTRA;
#if TY_EVEN == 2
    float unusual = fast.hi == fast.hi ? fast.hi : TY_AS_FLOAT(0x7f800000u);
    ty_u32 at_unusual = ty_mark_f32(unusual, &fast);
#endif
#endif
    ty_u32 words = (cells + 63) / 64 * 32;
    ty_u32 origin = (TY_LOCAL_ADDRESS(ty_local) + 127) & ~127u;
    ty_u32 two = 2, upper = 65536, one = 1;
    ty_u32 bias = origin + TY_BASE * 4 - 2 * TY_MARK, waste = origin + (TY_WASTE + lid % 32) * 4;
    ty_u32 spread = TY_SPREAD(cells - TY_OUTSIDE);
    TY_LOCAL ty_u32 *table = ty_local + (origin - TY_LOCAL_ADDRESS(ty_local)) / 4;
    TY_LOCAL ty_u32 *counters = table + TY_BASE, *sums = counters + words, *list = sums + TY_SUMMED,
                    *drained =
                        list + TY_LISTED; /* samples of both cells of a pair, of the odd one */
    ty_span span = ty_span_of(data, offset, n);
    ty_u32 lane = lid % TY_TEAM, all = span.count / TY_CHUNK;
    ty_u32 chunks = (all + TY_GROUPS - 1 - TY_GROUP) / TY_GROUPS;
#if defined(TY_BALLOT)
    ty_heat heat = {TY_NO_CELL, ty_mix(key ^ TY_GROUP * 32 ^ lid / 32)};
    ty_u32 own = origin + lid * 4;
#endif
    for (ty_u32 w = lid; w < words / 4; w += TY_GROUP_MAX)
        ((TY_LOCAL uint4 *)counters)[w] = ty_zeros();
    if (lid < TY_SUMMED)
        sums[lid] = 0;
    if (lid < 32)
        table[TY_WASTE + lid] = 0;
    TY_AWAIT();
    TY_BARRIER();
    /* Zeros that the compiler does not know of keep these in registers of their own, where it would
     * move them there for each sample; and make products of shifts, which the busy units do. */
#if defined(TY_RAW16) && defined(__CUDACC__)
    two += counters[lid % 32];
    upper += counters[lid % 32];
    one += counters[lid % 32];
    bias += counters[lid % 32];
    TY_OPAQUE(two);
    TY_OPAQUE(upper);
    TY_OPAQUE(one);
    TY_OPAQUE(bias);
    TY_BARRIER();
#elif TY_EVEN == 2 && !defined(TY_RAW16) && defined(__CUDACC__)
    fast.steps = TY_AS_FLOAT(TY_FLOAT_BITS(fast.steps) + counters[lid % 32]);
    fast.slack = TY_AS_FLOAT(TY_FLOAT_BITS(fast.slack) + counters[lid % 32]);
    fast.scale = TY_AS_FLOAT(TY_FLOAT_BITS(fast.scale) + counters[lid % 32]);
    TY_BARRIER();
#endif
    /* What is no whole chunk. */
    for (ty_u32 q = all * TY_CHUNK + TY_GROUP * TY_GROUP_MAX + lid; q < span.count;
         q += TY_GROUPS * TY_GROUP_MAX) {
        ty_u32 marks[TY_EACH], each = 0;
        uint4 v = span.quads[q];
        TY_EAT_QUAD(v);
        for (ty_u32 e = 0; e < TY_EACH; e++)
            TY_COUNT(marks[e], 1);
        TY_ADD_LOCAL(&sums[TY_OWED], TY_EACH);
    }
    period = ty_equal(chunks, period);
    /* Where hardly any pair must be drained, longer. */
    ty_u32 reach = TY_LONG > 1 ? ty_equal(chunks, period * TY_LONG) : period;

    ty_u32 at = 0, mode = TY_FORWARD, careful = 0, form = TY_PLAIN;
    while (at < chunks) {
        ty_u32 end = mode == TY_CAREFUL ? at + 1 : chunks - at < reach ? chunks : at + reach;
        /* Draws, half as many as of a pair that could overflow. */
        ty_u32 many = hits ? hits * TY_EACH : 32768 / (reach * TY_AHEAD);
        many = many > 8 ? many : 8;
        ty_u32 counted = 0, sum = 0, any = 0, unit = mode == TY_BACK ? 0u - 1u : 1u;
        int draws = mode == TY_FORWARD;
        /* The first turns' loads, 8 a line: memory has nothing to do while the group draws. */
        if (draws && lane < TY_AHEAD * TY_TEAM / 8)
            TY_PREFETCH(TY_FROM((end - at) * TY_TURNS - 1 - lid / TY_TEAM) + lane * 7);
        table[lid] = table[TY_SECOND + lid] = 0;
        for (ty_u32 i = lid; i < 2 * TY_LISTED; i += TY_GROUP_MAX)
            drained[i] = 0;
        if (lid == 0) {
            sums[TY_LIST_LENGTH] = 0;
            sums[TY_LEFT] = (end - at) * TY_TURNS;
            sums[TY_CONSTANT] = sums[TY_MET] = sums[TY_MASS] = 0;
            sums[TY_TOP] = sums[TY_OUT] = sums[TY_ENTERED] = 0;
        }
        TY_BARRIER();
        ty_u32 cell[TY_EACH], found[TY_EACH], lost = 0;
        TY_UNROLL
        for (ty_u32 e = 0; e < TY_EACH; e++)
            cell[e] = found[e] = 0;
        if (draws) {
            ty_u32 marks[TY_EACH], each = 0;
            uint4 v = *TY_DRAWN(at, end);
            TY_EAT_QUAD(v);
            int same = 1;
            TY_UNROLL
            for (ty_u32 e = 0; e < TY_EACH; e++) {
                same &= marks[e] == marks[0];
                cell[e] = marks[e] - TY_MARK;
                TY_ADD_LOCAL(&table[TY_PAIR_SLOT(cell[e], 0)], 1);
                TY_ADD_LOCAL(&table[TY_SECOND + TY_PAIR_SLOT(cell[e], 1)], TY_APART ? 1 : 0x10000);
            }
            if (same)
                TY_ADD_LOCAL(&sums[TY_CONSTANT], 1);
#if defined(TY_BALLOT)
            if (TY_SHUFFLE(cell[0], (lid ^ 1) & 31) == cell[0])
                TY_ADD_LOCAL(&sums[TY_MET], 1);
#endif
        }
        TY_BARRIER();
        /* How many drew a pair: the fewer of those in two words, which others rarely share. */
        TY_UNROLL
        for (ty_u32 e = 0; e < TY_EACH; e++) {
            ty_u32 one = table[TY_PAIR_SLOT(cell[e], 0)] & 0xffffu;
            ty_u32 other = table[TY_SECOND + TY_PAIR_SLOT(cell[e], 1)] >> (TY_APART ? 0 : 16);
            found[e] = !draws ? 0 : one < other ? one : other;
        }
        TY_BARRIER();
        /* Of each word's pairs that many drew the hottest is listed, then of those that are left.
         */
        ty_u32 winner = 0;
        for (ty_u32 round = 0; round < 2; round++) {
            TY_UNROLL
            for (ty_u32 e = 0; e < TY_EACH; e++) {
                const int again = TY_TOLD && e && cell[e] == cell[0]; /* one is enough */
                if (found[e] >= many && !again && (round == 0 || (lost >> e & 1)))
                    TY_MAX_LOCAL(&table[TY_PAIR_SLOT(cell[e], round)], TY_WANTED(e));
            }
            TY_BARRIER();
            ty_u32 last = winner;
            winner = table[lid];
            if (winner >> 31 && winner != last) {
                ty_u32 i = TY_ADD_LOCAL(&sums[TY_LIST_LENGTH], 1);
                if (i < TY_LISTED)
                    list[i] = (winner & 0xffffu) * 2 + TY_MARK;
            }
            TY_UNROLL
            for (ty_u32 e = 0; e < TY_EACH; e++) {
                if (table[TY_PAIR_SLOT(cell[e], 0)] != TY_WANTED(e))
                    lost |= 1u << e;
            }
            TY_BARRIER();
        }
#if !defined(TY_BALLOT)
        table[lid] = cell[0];
        TY_BARRIER();
        if (draws && table[lid ^ 1] == cell[0])
            TY_ADD_LOCAL(&sums[TY_MET], 1);
        TY_BARRIER();
#endif
        table[lid] = 0;
        if (lid < TY_HOT_CELLS)
            table[TY_COUNTS + lid] = 0;
        TY_BARRIER();
        /* Of each word of the table the cell that most drew, then how many. */
        TY_UNROLL
        for (ty_u32 e = 0; e < TY_EACH; e++) {
            if (found[e] && !(TY_TOLD && e && cell[e] == cell[0]))
                TY_MAX_LOCAL(&table[TY_SLOT(cell[e] + TY_MARK)], found[e] << 17 | cell[e]);
        }
        TY_BARRIER();
        TY_UNROLL
        for (ty_u32 e = 0; e < TY_EACH; e++) {
            ty_u32 i = TY_SLOT(cell[e] + TY_MARK);
            if (found[e] && (table[i] & 0x1ffffu) == cell[e])
                TY_ADD_LOCAL(&table[TY_COUNTS + i], 1);
            else if (found[e] >= many)
                TY_ADD_LOCAL(&sums[TY_OUT], 1);
        }
        TY_BARRIER();
        ty_u32 listed = sums[TY_LIST_LENGTH];
        ty_u32 drew = lid < TY_HOT_CELLS ? table[TY_COUNTS + lid] : 0;
        ty_u32 which = 0;
        if (drew >= TY_KNOWN) {
            which = TY_ADD_LOCAL(&sums[TY_ENTERED], 1);
            TY_ADD_LOCAL(&sums[TY_MASS], drew);
            TY_MAX_LOCAL(&sums[TY_TOP], drew << 17 | (table[lid] & 0x1ffffu));
        }
        TY_BARRIER();
        form = mode == TY_FORWARD ? ty_form(sums, asked) : form;
        /* What may overflow is in the table. */
        const int kept = form == TY_HOT && !sums[TY_OUT] && TY_ROOM(sums[TY_ENTERED]);
#if defined(TY_RAW16)
        const ty_u32 copied = ty_copied(sums[TY_ENTERED]);
        if (lid == 0 && draws)
            sums[TY_COPIED_TO] = copied;
#endif
        if (lid == 0 && kept)
            sums[TY_LIST_LENGTH] = 0;
        if (draws && !kept && reach > period && listed > TY_LISTED / 16) {
            reach = period;
            end = at; /* nothing is counted: anew, for less */
            if (lid == 0)
                sums[TY_LEFT] = 0;
        }
        if (form != TY_HOT) {
            table[lid] = 0; /* from here on the warps' words */
        } else if (lid < TY_HOT_CELLS) {
#if defined(TY_RAW16)
            const int enters = drew >= TY_KNOWN && which < TY_HOT_WORDS >> copied;
            table[lid] = enters ? table[lid] << 16 | which : TY_EMPTY(lid);
#else
            table[lid] = drew >= TY_KNOWN ? (table[lid] & 0x1ffffu) + TY_MARK : TY_NO_CELL;
#endif
            table[TY_COUNTS + lid] = 0;
        }
        for (ty_u32 i = lid; form == TY_HOT && i < TY_HOT_WORDS; i += TY_GROUP_MAX)
            table[TY_HOT_BASE + i] = 0;
#if defined(TY_BALLOT)
        heat.leader = TY_TOLD && form == TY_LED && sums[TY_TOP]
                          ? (sums[TY_TOP] & 0x1ffffu) + TY_MARK
                          : TY_NO_CELL;
#endif
        TY_BARRIER();
        ty_i32 turn = (ty_i32)((end - at + 1) * TY_TURNS - 1 - lid / TY_TEAM);
        turn = ty_turn(&sums[TY_LEFT], turn);
        if (mode == TY_FORWARD && turn >= 0) {
            uint4 v[TY_AHEAD];
            TY_GLOBAL const uint4 *from = TY_FROM(turn);
            TY_UNROLL
            for (ty_u32 k = 0; k < TY_AHEAD; k++)
                v[k] = TY_PINNED(from + k * TY_TEAM);
            while (turn >= 0) {
                ty_u32 marks[TY_EACH];
                ty_i32 next = ty_turn(&sums[TY_LEFT], turn);
                TY_GLOBAL const uint4 *behind = next >= 0 ? TY_FROM(next) : from;
                counted += TY_AHEAD * TY_EACH;
                if (form == TY_HOT)
                    TY_COUNT_HOT();
                else if (form == TY_RUNS)
                    TY_COUNT_RUNS();
                else
                    TY_COUNT_PLAIN();
                TY_ROLLED
                for (ty_u32 i = turn % TY_DRAIN ? TY_LISTED : lane;
                     i < TY_LISTED && i < sums[TY_LIST_LENGTH]; i += TY_TEAM) {
                    ty_u32 even = list[i], word = TY_SWAP_LOCAL(TY_COUNTER(even), 0);
                    TY_ADD_LOCAL(&drained[2 * i], TY_BOTH(word));
                    TY_ADD_LOCAL(&drained[2 * i + 1], TY_ODD(word, even));
                }
                if (turn < 2 * TY_TURNS && turn >= TY_TURNS && end < chunks)
                    TY_PREFETCH(TY_DRAWN(end, chunks - end < reach ? chunks : end + reach));
                from = behind;
                turn = next;
            }
        }
        for (; turn >= 0; turn = ty_turn(&sums[TY_LEFT], turn)) {
            TY_GLOBAL const uint4 *from = TY_FROM(turn);
            counted += TY_AHEAD * TY_EACH;
            TY_ROLLED
            for (ty_u32 k = 0; k < TY_AHEAD; k++) {
                ty_u32 marks[TY_EACH], each = 0;
                uint4 v = from[k * TY_TEAM];
                TY_EAT_QUAD(v);
                for (ty_u32 e = 0; e < TY_EACH; e++)
                    TY_COUNT(marks[e], unit);
            }
        }
        TY_BARRIER();
        for (ty_u32 w = lid; w < words / 4; w += TY_GROUP_MAX) {
            uint4 v = ((TY_LOCAL uint4 *)counters)[w];
            sum += TY_BOTH(v.x) + TY_BOTH(v.y) + TY_BOTH(v.z) + TY_BOTH(v.w);
            any |= v.x | v.y | v.z | v.w;
        }
        ty_u32 hot = 0, hots = mode == TY_FORWARD && form == TY_HOT ? TY_HOT_CELLS : 0;
        for (ty_u32 i = lid; i < hots; i += TY_GROUP_MAX) {
            ty_u32 value;
            hot += TY_HOT_COUNT(i, &value);
        }
        for (ty_u32 i = lid; i < TY_LISTED; i += TY_GROUP_MAX)
            sum += drained[2 * i];
        TY_ADD_LOCAL(&sums[TY_SEEN], sum + hot);
        TY_ADD_LOCAL(&sums[TY_OWED], unit * counted);
        if (any & (0x10000u - TY_FULL))
            TY_ADD_LOCAL(&sums[TY_IS_FULL], 1);
        TY_BARRIER();
        ty_u32 right = sums[TY_OWED] == sums[TY_SEEN], empty = sums[TY_IS_FULL];
        TY_BARRIER();
        if (lid == 0)
            sums[TY_SEEN] = sums[TY_IS_FULL] = 0;
        if (mode == TY_FORWARD && !right) {
            mode = TY_BACK;
            for (ty_u32 i = lid; i < hots; i += TY_GROUP_MAX) {
                ty_u32 value, one_hot = TY_HOT_COUNT(i, &value);
                if (one_hot)
                    TY_COUNT(value, one_hot);
            }
            for (ty_u32 i = lid; i < TY_LISTED; i += TY_GROUP_MAX) {
                if (drained[2 * i])
                    TY_ADD_LOCAL(TY_COUNTER(list[i]),
                                 drained[2 * i] * TY_UNIT(list[i]) + (drained[2 * i + 1] << 16));
            }
        } else if (mode == TY_BACK) {
            mode = TY_CAREFUL;
            careful = end;
            reach = period;
        } else {
            if (hot)
                TY_ADD_LOCAL(&sums[TY_OWED], 0u - hot);
            for (ty_u32 i = lid; i < hots; i += TY_GROUP_MAX) {
                ty_u32 value, one_hot = TY_HOT_COUNT(i, &value);
                if (one_hot)
                    TY_ADD_GLOBAL(&out[TY_RESULT(value - TY_MARK)], one_hot);
            }
            for (ty_u32 i = lid; i < TY_LISTED; i += TY_GROUP_MAX) {
                ty_u32 of_both = drained[2 * i], of_odd = drained[2 * i + 1];
                if (of_both) {
                    TY_ADD_LOCAL(&sums[TY_OWED], 0u - of_both);
                    TY_ADD_GLOBAL(&out[TY_RESULT(list[i] - TY_MARK)], of_both - of_odd);
                }
                if (of_odd)
                    TY_ADD_GLOBAL(&out[TY_RESULT(list[i] + 1 - TY_MARK)], of_odd);
            }
            for (ty_u32 c = 2 * lid; empty && c < cells; c += 2 * TY_GROUP_MAX) {
                ty_u32 word = *TY_COUNTER(c + TY_MARK), of_odd = TY_ODD(word, c);
                if (TY_BOTH(word) >= TY_FULL) {
                    *TY_COUNTER(c + TY_MARK) = 0;
                    TY_ADD_LOCAL(&sums[TY_OWED], 0u - TY_BOTH(word));
                    TY_ADD_GLOBAL(&out[TY_RESULT(c)], TY_BOTH(word) - of_odd);
                    if (of_odd)
                        TY_ADD_GLOBAL(&out[TY_RESULT(c + 1)], of_odd);
                }
            }
            at = end;
            mode = mode == TY_CAREFUL && at < careful ? TY_CAREFUL : TY_FORWARD;
        }
    }
    TY_BARRIER();
#if !defined(TY_RAW16)
    /* A clamped flow's samples are its bin's. */
    if (lid < 2 && (how & (lid ? TY_OUT_CLAMP_OVER : TY_OUT_CLAMP_UNDER))) {
        ty_u32 cell = lid ? bins.bins + 1 : 0, word = *TY_COUNTER(cell + TY_MARK);
        ty_u32 found = TY_ODD(word, cell & ~1u);
        found = cell & 1 ? found : TY_BOTH(word) - found;
        TY_ADD_GLOBAL(&out[TY_RESULT(cell)], found);
        TY_COUNT(cell + TY_MARK, 0u - found);
    }
    TY_BARRIER();
#endif
    /* Counters leave as bytes, as they lie; what is above these is added to `out` at once. */
    TY_GLOBAL uint4 *to =
        (TY_GLOBAL uint4 *)(partials + TY_SUMS) + (ty_u64)TY_GROUP * TY_QUADS(words);
    for (ty_u32 w = lid; w < words / 8; w += TY_GROUP_MAX) {
        ty_u32 row = w / 4 * 64, shift = TY_HASH(row + TY_MARK) >> 2, bytes[4] = {0, 0, 0, 0};
        uint4 v = ((TY_LOCAL uint4 *)counters)[w * 2], u = ((TY_LOCAL uint4 *)counters)[w * 2 + 1];
        ty_u32 eight[8] = {v.x, v.y, v.z, v.w, u.x, u.y, u.z, u.w}, above = 0;
        TY_UNROLL
        for (ty_u32 i = 0; i < 8; i++) {
            ty_u32 of_odd = TY_ODD(eight[i], TY_PAIR_AT(i)), of_even = TY_BOTH(eight[i]) - of_odd;
            above |= of_even | of_odd;
            bytes[i / 2] |= ((of_even & 255u) | (of_odd & 255u) << 16) << i % 2 * 8;
        }
        v.x = bytes[0];
        v.y = bytes[1];
        v.z = bytes[2];
        v.w = bytes[3];
        to[w] = v;
        TY_ROLLED
        for (ty_u32 i = above > 255 ? 0 : 8; i < 8; i++) {
            ty_u32 word = counters[w * 8 + i], cell = TY_PAIR_AT(i);
            ty_u32 of_odd = TY_ODD(word, cell), of_even = TY_BOTH(word) - of_odd;
            if (of_even > 255)
                TY_ADD_GLOBAL(&out[TY_RESULT(cell)], of_even & ~255u);
            if (of_odd > 255)
                TY_ADD_GLOBAL(&out[TY_RESULT(cell + 1)], of_odd & ~255u);
        }
    }
    if (TY_GROUP == 0 && lid < span.head + span.tail)
        TY_ADD_GLOBAL(&out[TY_RESULT(TY_MARK_OF(ty_span_odd(span, lid)) - TY_MARK)], 1);
    (void)slots;
    (void)pass;
    (void)how;
}

/* The groups' counters added up, of raw values in `out`, of cells with what is in `table` and
 * delivered (output.h); the table is left zero. A group has 256 of them: 16 work-items, 16 bytes
 * each, add up every 16th partial, TY_TAKEN on their way at a time; then a work-item adds up a
 * cell. The words are where `count` had them.
 */
#define TY_TAKEN  9 /* those of 132 groups at once */
#define TY_STRIDE 272
#if defined(TY_RAW16)
#define TY_GATHER_ARGS TY_GLOBAL ty_u32 *out
#else
#define TY_GATHER_ARGS ty_u32 slots, TY_GLOBAL ty_u32 *table, TY_OUTPUT_ARGS
#endif
TY_KERNEL_DENSE(256, 4)
gather(TY_GLOBAL const ty_u32 *partials, ty_u32 count, ty_u32 words, ty_u32 key,
       TY_GATHER_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 column = TY_LID % 16, row = TY_LID / 16, more = key * 0x9e3779b9u;
    ty_u32 each = TY_QUADS(words);
    ty_u32 at = TY_GROUP * 16 + column, cell = TY_GROUP * 256 + TY_LID;
    TY_GLOBAL const uint4 *from = (TY_GLOBAL const uint4 *)(partials + TY_SUMS) + at;
    ty_u32 sums[8] = {0, 0, 0, 0, 0, 0, 0, 0}; /* of an even cell and, above it, the odd one */
    TY_ADMIT();
    TY_AWAIT();
#if !defined(TY_RAW16)
    ty_u32 target = ty_slot_of_cell(cell, slots - TY_SLOT_EXTRA);
    ty_u32 above = target < TY_TARGETS ? TY_READ(table + target) : 0;
#endif
    for (ty_u32 p = row; p < count + row; p += TY_TAKEN * 16) {
        uint4 v[TY_TAKEN];
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_TAKEN; k++) {
            v[k] = ty_zeros();
            if (at < words / 8 && p + k * 16 < count)
                v[k] = TY_PINNED(&from[(ty_u64)(p + k * 16) * each]);
        }
        TY_READ_FIRST();
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_TAKEN; k++) {
            ty_u32 word[4] = {v[k].x, v[k].y, v[k].z, v[k].w};
            TY_UNROLL
            for (ty_u32 i = 0; i < 8; i++)
                sums[i] += word[i / 2] >> i % 2 * 8 & 0xff00ffu;
        }
    }
    for (ty_u32 i = 0; i < 8; i++) {
        ty_local[row * TY_STRIDE + i * 34 + column] = sums[i] & 0xffffu;
        ty_local[row * TY_STRIDE + i * 34 + 17 + column] = sums[i] >> 16;
    }
    TY_BARRIER();
    ty_u32 shift = TY_HASH((cell & ~63u) + TY_MARK) >> 2, word = (cell % 64 / 2) ^ shift;
    ty_u32 sum = 0, place = word % 8 * 34 + cell % 2 * 17 + TY_LID / 64 * 4 + word / 8;
    for (ty_u32 r = 0; r < 16; r++)
        sum += ty_local[r * TY_STRIDE + place];
#if defined(TY_RAW16)
    out[cell] += sum;
#else
    if (above)
        table[target] = 0;
    if (target < TY_TARGETS)
        ty_deliver(target, (ty_u64)above + sum, counts, first, flows, histogram, bins, how);
#endif
    /* No one reads the partials again: left alone, they go to memory while the next call counts. */
    from -= column;
    for (ty_u32 line = TY_LID; line < 2 * count; line += 256) {
        if (TY_GROUP * 16 + line % 2 * 8 < each)
            TY_DISCARD(&from[(ty_u64)(line / 2) * each + line % 2 * 8]);
    }
}

#if defined(TY_RAW16)
/* Raw values to slots: a work-item adds up 8 neighbours, which mostly share a slot. */
TY_KERNEL(64)
fold(TY_GLOBAL const ty_u32 *raw, TY_GLOBAL const ty_u8 *axis, TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 value = (TY_GROUP * 64 + TY_LID) * 8, last = 0, sum = 0;
    TY_ADMIT();
    TY_AWAIT();
    for (ty_u32 i = 0; i < 8; i++) {
        ty_u32 slot = ty_slot_of((ty_sample)(value + i), axis);
        if (sum && slot != last) {
            TY_ADD_GLOBAL(&out[last], sum);
            sum = 0;
        }
        last = slot;
        sum += raw[value + i];
    }
    if (sum)
        TY_ADD_GLOBAL(&out[last], sum);
    (void)ty_local;
}
#endif
