/*
 * spill16: one copy of the histogram in local memory, two cells a word, scrambled as in
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
 * So that this stays rare, hot pairs are drained: before a period each work-item looks at one of
 * its samples, drawn at random; pairs that several find are listed, and each warp empties these
 * into registers whenever it has counted a chunk. A listed pair then never holds more than one
 * chunk of every warp, and in a period no more than TY_LISTED pairs could overflow. An input that
 * knows the samples drawn would have to know the key.
 *
 * Lanes that meet in one word follow one another, a clock a lane. A warp that meets often looks for
 * the cells it meets in: one is counted in a register (ty_add_led), several in words of the warp
 * (ty_add_tagged), where adding 1 costs the same for any number of lanes.
 */
#if TY_DTYPE == 3 || TY_DTYPE == 4 || TY_DTYPE == 9 || TY_DTYPE == 10
#define TY_RAW16
#undef TY_MARK
#define TY_MARK         0u
#define TY_MARK_OF(x)   ((ty_u32)(ty_u16)(x))
#define TY_RESULT(cell) (cell)
#define TY_SUMS         65536 /* words before the partials: what raw values are added up in */
#else
#define TY_MARK_OF(x)   ty_mark_of(x, &bins, &fast, axis)
#define TY_RESULT(cell) ty_slot_of_cell(cell, bins.bins)
#define TY_SUMS         0
#endif

/* The word of a cell, given as the cell + TY_MARK, in bytes; its sums. */
#define TY_HASH(mark)      (((mark) & ~63u) * (((mark) & ~63u) * key + more) >> 25)
#define TY_PLACE(mark)     (((mark) << 1 ^ TY_HASH(mark)) & 0x3ffffcu)
#define TY_WORD_AT(place)  ((TY_LOCAL ty_u32 *)((TY_LOCAL ty_u8 *)ty_local + (place)))
#define TY_COUNTER(mark)   TY_WORD_AT(TY_PLACE(mark))
#define TY_UNIT(mark)      (((mark) << 16) + 1)
#define TY_BOTH(word)      ((word)&0xffffu)
#define TY_ODD(word, even) (((word) >> 16) - TY_BOTH(word) * (even)&0xffffu)

#define TY_EACH         ((ty_u32)(16 / sizeof(ty_sample)))
#define TY_CHUNK        ((ty_u32)(TY_AHEAD * TY_GROUP_MAX)) /* loads of a group, a turn for each warp */
#define TY_FULL         0x2000u /* pairs that reached this are emptied after a period */
#define TY_LISTED       32      /* pairs that are drained */
#define TY_SUMMED       5       /* words beside */
#define TY_DRAINS(lane) ((lane) < TY_LISTED && (lane) < *listed)

/* A warp's lanes load from TY_FROM places of a chunk, some neighbours from each: samples that are
 * long the same, as sorted ones are, are not the whole warp's at once. */
#if TY_GROUP_MAX % 32
#define TY_TEAM   TY_GROUP_MAX
#define TY_PLACES 1
#else
#define TY_TEAM   32
#define TY_PLACES TY_FROM
#endif
#define TY_BESIDE (TY_TEAM / TY_PLACES)
#define TY_TURNS  (TY_GROUP_MAX / TY_TEAM)

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
#else
#define TY_MARKS(v)                                                                                \
    do {                                                                                           \
        ty_u32 each = 0;                                                                           \
        TY_EAT_QUAD(v);                                                                            \
    } while (0)
#endif

/* A statement for each mark of the loads v; those of the first are there. */
#define TY_FOR_MARKS(statement)                                                                    \
    do {                                                                                           \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < TY_AHEAD; k++) {                                                    \
            if (k)                                                                                 \
                TY_MARKS(v[k]);                                                                    \
            TY_UNROLL                                                                              \
            for (ty_u32 e = 0; e < TY_EACH; e++) {                                                 \
                ty_u32 mark = marks[e];                                                            \
                statement;                                                                         \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#if defined(TY_BALLOT)
#define TY_OFTEN  5                    /* lanes on one cell that are too many */
#define TY_STAY   (TY_AHEAD * TY_EACH) /* samples of a chunk that keep a tag, 1 in 32 */
#define TY_COLD   0xffffe000u          /* no cell */
#define TY_TAG(m) ((m) << 13)          /* above the samples of a tagged cell in a chunk */

/* What a warp knows of the cells it meets in, and where it counts them. */
typedef struct ty_heat {
    ty_u32 leader, second; /* the only such cells, or TY_COLD */
    ty_u32 tags;           /* if there are more, with tags: an odd number that scatters these */
    ty_u32 turn;
    ty_u32 own, waste; /* places: of the lane's of the warp's 32 words, of one that no one reads */
} ty_heat;

/* Of the warp's words the one that may have a cell's tag. */
#define TY_WARM(h, mark) (((h)->own & ~127u) + ((mark) * (h)->tags >> 27) * 4)

/* Samples of the leader go to the lane's word. */
TY_FN void ty_add_led(TY_LOCAL ty_u32 *ty_local, const ty_heat *h, ty_u32 mark, ty_u32 key,
                      ty_u32 more)
{
    ty_u32 place = TY_PLACE(mark); /* asked for first: a branch costs more */
    place = mark == h->leader ? h->own : place;
    TY_ADD_LOCAL(TY_WORD_AT(place), TY_UNIT(mark));
}

/* Those of two leaders to words of two lanes, 16 for each leader. */
TY_FN void ty_add_two(TY_LOCAL ty_u32 *ty_local, const ty_heat *h, ty_u32 mark, ty_u32 key,
                      ty_u32 more)
{
    ty_u32 first = (h->own & ~127u) + ((TY_LID & 31) >> 1) * 4;
    ty_u32 place = TY_PLACE(mark);
    place = mark == h->second ? first + 64 : place;
    place = mark == h->leader ? first : place;
    TY_ADD_LOCAL(TY_WORD_AT(place), TY_UNIT(mark));
}

/* Both words are updated, one of them the waste: a branch costs more. */
TY_FN void ty_add_tagged(TY_LOCAL ty_u32 *ty_local, const ty_heat *h, ty_u32 mark, ty_u32 key,
                         ty_u32 more)
{
    ty_u32 place = TY_PLACE(mark), at = TY_WARM(h, mark);
    int tagged = *TY_WORD_AT(at) - TY_TAG(mark) < TY_TAG(1);
    place = tagged ? h->waste : place;
    at = tagged ? at : h->waste;
    TY_ADD_LOCAL(TY_WORD_AT(at), 1);
    TY_ADD_LOCAL(TY_WORD_AT(place), TY_UNIT(mark));
}

/* Tags up to four cells that lanes meet in and that are not tagged. All have looked before any
 * writes. */
TY_FN void ty_tag(TY_LOCAL ty_u32 *ty_local, ty_heat *h, ty_u32 probe)
{
    TY_LOCAL ty_u32 *at = TY_WORD_AT(TY_WARM(h, probe));
    ty_u32 turn = h->turn >> 10;
    TY_ROLLED
    for (ty_u32 round = 0; round < 4; round++) {
        ty_u32 there = *at, open = TY_BALLOT(there != TY_TAG(probe));
        if (TY_POPCOUNT(open) < TY_OFTEN)
            break;
        ty_u32 from = (TY_LAST(open >> (turn & 31) | open << (-turn & 31)) + turn) & 31;
        if (TY_POPCOUNT(TY_BALLOT(probe == TY_SHUFFLE(probe, from))) < TY_OFTEN)
            break;
        int mine = from == (TY_LID & 31);
        int again = TY_BALLOT(mine && there != TY_COLD) && turn % 4 == 0;
        TY_WARP_SYNC();
        if (again) {
            *TY_WORD_AT(h->own) = TY_COLD; /* two in one place: scatter them otherwise */
            h->tags = h->turn | 1;
            TY_WARP_SYNC();
            return;
        }
        if (mine)
            *at = TY_TAG(probe);
        TY_WARP_SYNC();
        turn = turn * 5 + 1;
    }
}

/* Before a chunk: whether the lanes' samples at one place meet often. Which place and lane that
 * is about changes with `turn`, so that no input can hide. */
TY_FN void ty_look(TY_LOCAL ty_u32 *ty_local, ty_heat *h, const ty_u32 *marks, ty_u32 key,
                   ty_u32 more)
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
    if (TY_POPCOUNT(TY_BALLOT(probe[0] == guess)) < TY_OFTEN || guess == h->leader ||
        guess == h->second)
        return;
    if (!h->tags && h->leader == TY_COLD) {
        h->leader = guess;
        return;
    }
    if (!h->tags && h->second == TY_COLD) {
        h->second = guess;
        return;
    }
    if (!h->tags) {
        h->tags = h->turn | 1;
        *TY_WORD_AT(h->own) = TY_COLD;
        TY_WARP_SYNC();
        if ((TY_LID & 31) == 0) { /* one lane: where both have the same word, it is the leader's */
            *TY_WORD_AT(TY_WARM(h, h->second)) = TY_TAG(h->second);
            *TY_WORD_AT(TY_WARM(h, h->leader)) = TY_TAG(h->leader);
        }
        TY_WARP_SYNC();
    }
    h->leader = h->second = TY_COLD;
    ty_tag(ty_local, h, probe[0]);
}

/* After a chunk: what was met of the leaders goes to their pairs; a leader that was met too seldom
 * is none. */
TY_FN void ty_end_led(TY_LOCAL ty_u32 *ty_local, ty_heat *h, ty_u32 key, ty_u32 more)
{
    TY_LOCAL ty_u32 *own = TY_WORD_AT(h->own);
    TY_WARP_SYNC();
    int two = h->second != TY_COLD;
    ty_u32 met = TY_BALLOT(TY_BOTH(*own) > 1);
    TY_ADD_LOCAL(TY_COUNTER(two && (TY_LID & 31) >= 16 ? h->second : h->leader), *own);
    *own = 0;
    TY_WARP_SYNC();
    int stays = TY_POPCOUNT(met & 0xffffu) >= 8, second_stays = TY_POPCOUNT(met >> 16) >= 8;
    h->leader = stays ? h->leader : two && second_stays ? h->second : TY_COLD;
    h->second = stays && second_stays ? h->second : TY_COLD;
}

/* The same of the tagged cells: a lane has one of the warp's words. */
TY_FN void ty_end_tagged(TY_LOCAL ty_u32 *ty_local, ty_heat *h, ty_u32 key, ty_u32 more)
{
    TY_LOCAL ty_u32 *own = TY_WORD_AT(h->own);
    TY_WARP_SYNC();
    ty_u32 mark = TY_MARK + *own / TY_TAG(1), met = *own % TY_TAG(1);
    if (met)
        TY_ADD_LOCAL(TY_COUNTER(mark), TY_UNIT(mark) * met);
    ty_u32 kept = TY_BALLOT(met >= TY_STAY);
    h->tags = TY_POPCOUNT(kept) > 2 ? h->tags : 0;
    if (!h->tags && kept) {
        ty_u32 last = TY_LAST(kept), rest = kept & ~(1u << last);
        h->leader = TY_SHUFFLE(mark, last);
        ty_u32 other = TY_SHUFFLE(mark, rest ? TY_LAST(rest) : 0);
        h->second = rest ? other : TY_COLD;
    }
    *own = !h->tags ? 0 : met >= TY_STAY ? TY_TAG(mark) : TY_COLD;
    TY_WARP_SYNC();
}

/* Counts the loads v of a warp. */
#define TY_COUNT_CHUNK()                                                                           \
    do {                                                                                           \
        ty_look(ty_local, &heat, marks, key, more);                                                \
        if (heat.second != TY_COLD) {                                                              \
            TY_FOR_MARKS(ty_add_two(ty_local, &heat, mark, key, more));                            \
            ty_end_led(ty_local, &heat, key, more);                                                \
        } else if (heat.leader != TY_COLD) {                                                       \
            TY_FOR_MARKS(ty_add_led(ty_local, &heat, mark, key, more));                            \
            ty_end_led(ty_local, &heat, key, more);                                                \
        } else if (heat.tags) {                                                                    \
            TY_FOR_MARKS(ty_add_tagged(ty_local, &heat, mark, key, more));                         \
            ty_end_tagged(ty_local, &heat, key, more);                                             \
        } else {                                                                                   \
            TY_FOR_MARKS(TY_ADD_LOCAL(TY_COUNTER(mark), TY_UNIT(mark)));                           \
        }                                                                                          \
    } while (0)
#else
#define TY_COUNT_CHUNK() TY_FOR_MARKS(TY_ADD_LOCAL(TY_COUNTER(mark), TY_UNIT(mark)))
#endif

TY_FN uint4 ty_zeros(void)
{
    uint4 v;
    v.x = v.y = v.z = v.w = 0;
    return v;
}

/* Lists a pair, if it is not the one that its slot listed last: the hottest are listed first. */
TY_FN void ty_list(TY_LOCAL ty_u32 *found, TY_LOCAL ty_u32 *listed, TY_LOCAL ty_u32 *list,
                   ty_u32 pair)
{
    if (TY_SWAP_LOCAL(found, pair | 0x80000000u) != (pair | 0x80000000u)) {
        ty_u32 i = TY_ADD_LOCAL(listed, 1);
        if (i < TY_LISTED)
            list[i] = pair;
    }
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

TY_KERNEL_DENSE(TY_GROUP_MAX, TY_DENSE)
count(TY_COUNT_ARGS, ty_u32 key, ty_u32 period, ty_u32 hits,
      TY_GLOBAL ty_u32 *partials TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
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
    TY_LOCAL ty_u32 *found = ty_local + words, *owed = found + TY_GROUP_MAX, *seen = owed + 1,
                    *full = owed + 2, *listed = owed + 3, *left = owed + 4,
                    *list = owed + TY_SUMMED;
    ty_span span = ty_span_of(data, offset, n);
    ty_u32 lane = lid % TY_TEAM, all = span.count / TY_CHUNK;
    ty_u32 chunks = (all + TY_GROUPS - 1 - TY_GROUP) / TY_GROUPS;
    TY_GLOBAL const uint4 *quads = span.quads + (ty_u64)TY_GROUP * TY_CHUNK;
    const ty_u64 step = (ty_u64)TY_GROUPS * TY_CHUNK;
    ty_u32 first = lane / TY_BESIDE * (TY_CHUNK / TY_PLACES) + lane % TY_BESIDE;
#if defined(TY_BALLOT)
    ty_heat heat = {TY_COLD,
                    TY_COLD,
                    0,
                    ty_mix(key ^ TY_GROUP * 32 ^ lid / 32),
                    (words + lid) * 4,
                    (words + TY_GROUP_MAX + TY_SUMMED + TY_LISTED + lane) * 4};
#endif
    for (ty_u32 w = lid; w < words / 4; w += TY_GROUP_MAX)
        ((TY_LOCAL uint4 *)ty_local)[w] = ty_zeros();
    if (lid < TY_SUMMED)
        owed[lid] = 0;
    TY_BARRIER();
#if TY_EVEN == 2 && !defined(TY_RAW16) && defined(__CUDACC__)
    /* Zeros that the compiler does not know of keep these in registers of their own, where it would
     * move them there for each sample. */
    fast.steps = TY_AS_FLOAT(TY_FLOAT_BITS(fast.steps) + ty_local[lid]);
    fast.slack = TY_AS_FLOAT(TY_FLOAT_BITS(fast.slack) + ty_local[lid]);
    fast.scale = TY_AS_FLOAT(TY_FLOAT_BITS(fast.scale) + ty_local[lid]);
    TY_BARRIER();
#endif
    /* What is no whole chunk. */
    for (ty_u32 q = all * TY_CHUNK + TY_GROUP * TY_GROUP_MAX + lid; q < span.count;
         q += TY_GROUPS * TY_GROUP_MAX) {
        ty_u32 marks[TY_EACH], each = 0;
        uint4 v = span.quads[q];
        TY_EAT_QUAD(v);
        for (ty_u32 e = 0; e < TY_EACH; e++)
            TY_ADD_LOCAL(TY_COUNTER(marks[e]), TY_UNIT(marks[e]));
        TY_ADD_LOCAL(owed, TY_EACH);
    }
    ty_u32 periods = (chunks + period - 1) / period;
    period = (chunks + periods - 1) / (periods ? periods : 1);

    ty_u32 at = 0, mode = TY_FORWARD, careful = 0, both = 0, odd = 0;
    while (at < chunks) {
        ty_u32 end = mode == TY_CAREFUL ? at + 1 : chunks - at < period ? chunks : at + period;
        ty_u32 counted = 0, sum = 0, any = 0, unit = mode == TY_BACK ? 0u - 1u : 1u;
        found[lid] = 0;
        if (lid == 0) {
            *listed = mode == TY_FORWARD ? 0 : *listed;
            *left = (end - at) * TY_TURNS;
        }
        TY_BARRIER();
        ty_u32 pair = 0, slot = 0, heat_of = 0;
        if (mode == TY_FORWARD && hits) {
            ty_u32 draw = ty_mix(key ^ ty_mix(at * 0x10001u + TY_GROUP * TY_GROUP_MAX + lid));
            ty_u32 j = (ty_u32)((ty_u64)draw * ((end - at) * TY_CHUNK) >> 32);
            ty_u64 q = (at + j / TY_CHUNK) * step + TY_GROUP * TY_CHUNK + j % TY_CHUNK;
            pair = TY_MARK_OF(span.first[span.head + q * TY_EACH + draw % TY_EACH]) & ~1u;
            slot = (ty_u32)((ty_u64)ty_mix(pair + key) * TY_GROUP_MAX >> 32);
            TY_ADD_LOCAL(&found[slot], 1);
        }
        TY_BARRIER();
        if (mode == TY_FORWARD && hits)
            heat_of = found[slot];
        TY_BARRIER();
        if (heat_of && heat_of >= 2 * hits)
            ty_list(&found[slot], listed, list, pair);
        TY_BARRIER();
        if (heat_of && heat_of >= hits && heat_of < 2 * hits)
            ty_list(&found[slot], listed, list, pair);
        TY_BARRIER();
#if defined(TY_BALLOT)
        found[lid] = 0; /* from here on the warps' words */
        heat.leader = heat.second = TY_COLD;
        heat.tags = 0;
        TY_WARP_SYNC();
#endif
        ty_i32 turn = (ty_i32)((end - at + 1) * TY_TURNS - 1 - lid / TY_TEAM);
        while ((turn = ty_turn(left, turn)) >= 0) {
            ty_u32 chunk = at + (ty_u32)turn / TY_TURNS;
            TY_GLOBAL const uint4 *from =
                quads + chunk * step + first + (ty_u32)turn % TY_TURNS * (TY_AHEAD * TY_BESIDE);
            ty_u32 marks[TY_EACH];
            counted += TY_AHEAD * TY_EACH;
            if (mode == TY_FORWARD) {
                uint4 v[TY_AHEAD];
                TY_UNROLL
                for (ty_u32 k = 0; k < TY_AHEAD; k++)
                    v[k] = from[k * TY_BESIDE];
                TY_MARKS(v[0]);
                TY_COUNT_CHUNK();
            } else {
                TY_ROLLED
                for (ty_u32 k = 0; k < TY_AHEAD; k++) {
                    ty_u32 each = 0;
                    uint4 v = from[k * TY_BESIDE];
                    TY_EAT_QUAD(v);
                    for (ty_u32 e = 0; e < TY_EACH; e++)
                        TY_ADD_LOCAL(TY_COUNTER(marks[e]), TY_UNIT(marks[e]) * unit);
                }
            }
            if (mode == TY_FORWARD && TY_DRAINS(lane)) {
                ty_u32 even = list[lane], word = TY_SWAP_LOCAL(TY_COUNTER(even), 0);
                both += TY_BOTH(word);
                odd += TY_ODD(word, even);
            }
        }
        if (mode == TY_BACK && TY_DRAINS(lane))
            TY_ADD_LOCAL(TY_COUNTER(list[lane]), both * TY_UNIT(list[lane]) + (odd << 16));
        TY_BARRIER();
        for (ty_u32 w = lid; w < words / 4; w += TY_GROUP_MAX) {
            uint4 v = ((TY_LOCAL uint4 *)ty_local)[w];
            sum += TY_BOTH(v.x) + TY_BOTH(v.y) + TY_BOTH(v.z) + TY_BOTH(v.w);
            any |= v.x | v.y | v.z | v.w;
        }
        TY_ADD_LOCAL(seen, sum);
        TY_ADD_LOCAL(owed, unit * (counted - both)); /* mode BACK put them into the table */
        if (any & (0x10000u - TY_FULL))
            TY_ADD_LOCAL(full, 1);
        TY_BARRIER();
        ty_u32 right = *owed == *seen, empty = *full;
        TY_BARRIER();
        if (lid == 0)
            *seen = *full = 0;
        if (mode == TY_FORWARD && !right) {
            mode = TY_BACK;
        } else if (mode == TY_BACK) {
            mode = TY_CAREFUL;
            careful = end;
            both = odd = 0;
        } else {
            if (both != odd)
                TY_ADD_GLOBAL(&out[TY_RESULT(list[lane] - TY_MARK)], both - odd);
            if (odd)
                TY_ADD_GLOBAL(&out[TY_RESULT(list[lane] + 1 - TY_MARK)], odd);
            both = odd = 0;
            for (ty_u32 c = 2 * lid; empty && c < cells; c += 2 * TY_GROUP_MAX) {
                ty_u32 word = *TY_COUNTER(c + TY_MARK), of_odd = TY_ODD(word, c);
                if (TY_BOTH(word) >= TY_FULL) {
                    *TY_COUNTER(c + TY_MARK) = 0;
                    TY_ADD_LOCAL(owed, 0u - TY_BOTH(word));
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
    partials += TY_SUMS + (ty_u64)TY_GROUP * words;
    for (ty_u32 w = lid; w < words / 4; w += TY_GROUP_MAX)
        ((TY_GLOBAL uint4 *)partials)[w] = ((TY_LOCAL uint4 *)ty_local)[w];
    if (TY_GROUP == 0 && lid < span.head + span.tail)
        TY_ADD_GLOBAL(&out[TY_RESULT(TY_MARK_OF(ty_span_odd(span, lid)) - TY_MARK)], 1);
    (void)slots;
    (void)pass;
}

/* The groups' words, added to `out`. A group has 32 of them: 8 work-items, four words each, add up
 * every 32nd partial; then a work-item adds up a word. The words are where `count` had them. */
TY_KERNEL(256)
gather(TY_GLOBAL const ty_u32 *partials, ty_u32 count, ty_u32 words, TY_GLOBAL const ty_u8 *axis,
       TY_GLOBAL ty_u32 *out, ty_u32 key TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, more = key * 0x9e3779b9u;
#if defined(TY_RAW16)
    ty_u32 cells = 65536;
    (void)axis;
#else
    ty_bins bins = *(TY_GLOBAL const ty_bins *)axis;
    ty_u32 cells = bins.bins + TY_CELLS_EXTRA;
#endif
    TY_GLOBAL const uint4 *from =
        (TY_GLOBAL const uint4 *)(partials + TY_SUMS) + TY_GROUP * 8 + lid % 8;
    ty_u32 row = TY_GROUP * 64, shift = TY_HASH(row + TY_MARK) >> 2;
    ty_u32 even[4], both[4] = {0, 0, 0, 0}, odd[4] = {0, 0, 0, 0};
    for (ty_u32 i = 0; i < 4; i++)
        even[i] = row + ((lid % 8 * 4 + i) ^ shift) * 2;
    TY_UNROLL4
    for (ty_u32 p = lid / 8; p < count; p += 32) {
        uint4 v = from[(ty_u64)p * (words / 4)];
        ty_u32 word[4] = {v.x, v.y, v.z, v.w};
        TY_UNROLL
        for (ty_u32 i = 0; i < 4; i++) {
            both[i] += TY_BOTH(word[i]);
            odd[i] += TY_ODD(word[i], even[i]);
        }
    }
    for (ty_u32 i = 0; i < 4; i++) {
        ty_local[lid / 8 * 65 + (even[i] - row)] = both[i] - odd[i];
        ty_local[lid / 8 * 65 + (even[i] - row) + 1] = odd[i];
    }
    TY_BARRIER();
    if (lid < 64 && row + lid < cells) {
        ty_u32 sum = 0;
        for (ty_u32 r = 0; r < 32; r++)
            sum += ty_local[r * 65 + lid];
        out[TY_RESULT(row + lid)] += sum;
    }
}

#if defined(TY_RAW16)
/* Raw values to slots: a work-item adds up 32 neighbours, which mostly share a slot. */
TY_KERNEL(64)
fold(TY_GLOBAL const ty_u32 *raw, TY_GLOBAL const ty_u8 *axis, TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 value = (TY_GROUP * 64 + TY_LID) * 32, last = 0, sum = 0;
    for (ty_u32 i = 0; i < 32; i++) {
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
