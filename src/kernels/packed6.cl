/*
 * packed6: the first way of `partitioned` (partitioned.cl) where six bits of every cell fit local memory. One
 * copy of the histogram a group, five counters a word, its banks scrambled as in swizzled.cl.
 *
 * Every update looks at what its counter was. One that takes it to a multiple of TY_LOT takes so
 * many out again and writes the cell to its lane's log, which is added to `out` later. A counter
 * overflows only if, with lots of 32, others add 32 to it before these are out. An update that
 * finds a counter full sees that it overflows, and was not misled, for no other did before. Then
 * the chunk is taken back, which is exact, for words are numbers modulo 2^32: lots come back from
 * the log, and the same samples are subtracted. It is listed for the waves; where that becomes
 * frequent all groups stop and leave them the rest.
 *
 * So that it stays rare, a group reads TY_FIRST far-apart tiles at a time: what is local for a
 * while is a small part of the samples under way. And each work-item looks at a load drawn at
 * random before it counts: cells that many find have 32-bit counts of their own (TY_HOT); where
 * most loads are of one cell that is not among those, equal samples of a warp go to `out` at once
 * (TY_RUNS). How samples are counted changes the time and no count.
 */
#if defined(TY_FIRST)
#define TY_FIELDS (32 / TY_BITS)
#define TY_MOST   ((1u << TY_BITS) - 1)

/* Counter `field` of word `word` is of cell field * words + word, so that neighbours lie in
 * neighbouring words; `part` is 2^32 / words, rounded up, and exact (methods/partitioned.c).
 *
 * Local memory, in words: the table's cells, their counts, 64 that no one reads, the counters,
 * sums. `origin` is its address and a multiple of 128. */
#define TY_WASTE         (2 * TY_SLOTS)
#define TY_BASE          (TY_WASTE + 64)
#define TY_HASH(word)    (((word) & ~31u) * (((word) & ~31u) * key + more) >> 25)
#define TY_ADDRESS(word) ((((word)*4 + bias) ^ TY_HASH(word)) & ~3u)

#define TY_QUAD_EACH ((ty_u32)(16 / sizeof(ty_sample)))
#define TY_ROW       (TY_SIX / TY_FIRST)                    /* work-items that read a tile */
#define TY_STEPS     (TY_TILE / (TY_QUAD_EACH * TY_ROW))    /* loads of each */
#define TY_SET       4                                      /* of them under way */
#define TY_ROOM      (2 * TY_STEPS * TY_QUAD_EACH * TY_SIX) /* words of a group's log */

#define TY_SLOTS 1024u

#define TY_DRAWS (4 / TY_QUAD_EACH) /* loads that a work-item draws: four samples */
#define TY_DRAWN (TY_SIX * TY_DRAWS)

#define TY_HEAVY            6  /* draws that make a cell worth looking for, */
#define TY_OFTEN            32 /* … too frequent to be added to `out` from all groups at once */
#define TY_NEAR             8  /* of 128 samples that lie together, in one cell: too many */
#define TY_NO_CELL          ~0u
#define TY_HOT_SPREAD(bins) ((ty_u32)((((ty_u64)312 << 32) + 4292887283u) / (bins)) | 1)
#define TY_HOT_SLOT(cell)   (((cell)*spread >> 20) & ~3u) /* bytes */
#define TY_RARE             8 /* give up where one chunk of so many overflows */

/* Sums of a group. */
enum {
    TY_OVERFLOWED, /* the last chunk that did, + 1 */
    TY_GIVEN_UP,
    TY_NEXT,     /* the chunk behind the next */
    TY_CONSTANT, /* draws of a load whose samples are all in one cell */
    TY_TOP,      /* draws of the most frequent cell */
    TY_GATHERED, /* samples of rows whose cells are frequent there only */
    TY_SUMMED
};
enum { TY_PLAIN, TY_HOT, TY_RUNS };

#if TY_WARP == 32
#define TY_ANY_LANE(condition) (TY_WHICH(condition) != 0)
#else
#define TY_ANY_LANE(condition) (condition)
#endif

TY_FN ty_u32 ty_mix(ty_u32 x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Where and by what shift `cell` is counted; `negative` is -words. */
#define TY_PLACE(cell)                                                                             \
    ty_u32 field_ = TY_MUL_HI(cell, part), word_ = field_ * negative + (cell);                     \
    ty_u32 shift_ = field_ * TY_BITS, at_ = TY_ADDRESS(word_)

#define TY_CELLS(v)                                                                                \
    do {                                                                                           \
        ty_quad_marks(v, cells, &bins, &fast, axis);                                               \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < TY_QUAD_EACH; e++)                                                  \
            cells[e] -= TY_MARK;                                                                   \
    } while (0)

/* Counts a load's cells in their counters, but those that are `hot`. No update is behind a branch:
 * these add nothing to a word of the lane. */
#define TY_ADD_CELLS(hot)                                                                          \
    do {                                                                                           \
        ty_u32 where[TY_QUAD_EACH], shift[TY_QUAD_EACH];                                           \
        ty_u32 unit[TY_QUAD_EACH], old[TY_QUAD_EACH];                                              \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < TY_QUAD_EACH; e++) {                                                \
            TY_PLACE(cells[e]);                                                                    \
            where[e] = (hot) ? waste : at_;                                                        \
            shift[e] = shift_;                                                                     \
            unit[e] = 1u << shift_;                                                                \
            old[e] = TY_FETCH_ADD_AT(table, where[e], (hot) ? 0 : unit[e]);                        \
        }                                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < TY_QUAD_EACH; e++) {                                                \
            const ty_u32 was = old[e] >> shift[e];                                                 \
            if ((was & (TY_LOT - 1)) == TY_LOT - 1) {                                              \
                TY_ADD_AT(table, where[e], (0u - TY_LOT) * unit[e]);                               \
                *TY_LOGGED(logged) = cells[e];                                                     \
                logged += 4 * TY_SIX;                                                              \
                full |= was;                                                                       \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* … of which many are in the table: those by adding 1, which the hardware combines among lanes. */
#define TY_ADD_HOT()                                                                               \
    do {                                                                                           \
        ty_u32 slot[TY_QUAD_EACH], cold[TY_QUAD_EACH], any = 0;                                    \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < TY_QUAD_EACH; e++) {                                                \
            slot[e] = origin + TY_HOT_SLOT(cells[e]);                                              \
            cold[e] = TY_LOAD_AT(table, slot[e]) ^ cells[e];                                       \
            any |= cold[e];                                                                        \
        }                                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < TY_QUAD_EACH; e++)                                                  \
            TY_INC_AT(table, (cold[e] ? origin + 4 * TY_SLOTS : slot[e]) + 4 * TY_SLOTS);          \
        if (any)                                                                                   \
            TY_ADD_CELLS(!cold[e]);                                                                \
    } while (0)

/* Adds a load's cells to `out`: equal ones of a warp, or of a lane, at once. */
TY_FN void ty_add_runs(ty_u32 *cells, TY_GLOBAL ty_u32 *out, ty_u32 bins)
{
#if TY_WARP == 32
    for (ty_u32 i = 0; i < 8; i++) {
        ty_u32 mine = TY_NO_CELL, n = 0;
        TY_UNROLL
        for (ty_u32 e = 0; e < TY_QUAD_EACH; e++)
            mine = cells[e] != TY_NO_CELL ? cells[e] : mine;
        const ty_u32 some = TY_WHICH(mine != TY_NO_CELL);
        if (!some)
            break;
        const ty_u32 one = TY_SHUFFLE(mine, TY_SET_BITS((some & (0u - some)) - 1));
        TY_UNROLL
        for (ty_u32 e = 0; e < TY_QUAD_EACH; e++) {
            n += TY_SET_BITS(TY_WHICH(cells[e] == one));
            cells[e] = cells[e] == one ? TY_NO_CELL : cells[e];
        }
        if ((TY_LID & 31) == 0)
            TY_ADD_GLOBAL(&out[ty_slot_of_cell(one, bins)], n);
    }
#endif
    for (ty_u32 e = 0; e < TY_QUAD_EACH; e++) {
        ty_u32 n = 0;
        for (ty_u32 f = 0; f < TY_QUAD_EACH; f++)
            n = cells[f] != cells[e] ? n : f < e ? n + TY_QUAD_EACH : n + 1;
        if (cells[e] != TY_NO_CELL && n <= TY_QUAD_EACH - e)
            TY_ADD_GLOBAL(&out[ty_slot_of_cell(cells[e], bins)], n);
    }
}

/* A statement for the cells of each load of a chunk, as many loads always under way; up to where
 * the warp sees an overflow. */
#define TY_FOR_LOADS(statement)                                                                    \
    TY_ROLLED                                                                                      \
    while (counted < steps) {                                                                      \
        TY_GLOBAL const uint4 *then =                                                              \
            counted + TY_SET < TY_STEPS ? from + (counted + TY_SET) * TY_ROW : behind;             \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < TY_SET; k++) {                                                      \
            TY_CELLS(v[k]);                                                                        \
            v[k] = TY_PINNED(then + k * TY_ROW);                                                   \
            TY_PIN(k, zero)                                                                        \
            statement;                                                                             \
        }                                                                                          \
        counted += TY_SET;                                                                         \
        if (TY_ANY_LANE((full & TY_MOST) == TY_MOST))                                              \
            break;                                                                                 \
    }

/* The group's log at a number of bytes; what the lane has there, added to `out`, some at a time. */
#define TY_LOGGED(byte) ((TY_GLOBAL ty_u32 *)((TY_GLOBAL ty_u8 *)log + (byte)))
TY_FN void ty_add_log(TY_GLOBAL const ty_u32 *log, ty_u32 logged, TY_GLOBAL ty_u32 *out,
                      ty_u32 bins)
{
    for (ty_u32 i = TY_LID * 4; i < logged; i += 8 * 4 * TY_SIX) {
        ty_u32 cells[8];
        TY_UNROLL
        for (ty_u32 k = 0; k < 8; k++)
            cells[k] = i + k * 4 * TY_SIX < logged ? *TY_LOGGED(i + k * 4 * TY_SIX) : TY_NO_CELL;
        TY_UNROLL
        for (ty_u32 k = 0; k < 8; k++) {
            if (cells[k] != TY_NO_CELL)
                TY_ADD_GLOBAL(&out[ty_slot_of_cell(cells[k], bins)], TY_LOT);
        }
    }
}

/* Lists a chunk, if it is one, for the waves; returns how many were listed before. */
TY_FN ty_u32 ty_leave(TY_GLOBAL ty_u32 *state, ty_u32 chunk, ty_u32 chunks)
{
    const ty_u32 listed = chunk < chunks ? TY_ADD_GLOBAL(&state[TY_LISTED], 1) : 0;
    if (chunk < chunks)
        state[TY_LIST + listed] = chunk;
    return listed;
}

TY_KERNEL_DENSE(TY_SIX, 1)
first(TY_GLOBAL const ty_u8 *data, ty_u64 offset, TY_GLOBAL const ty_u8 *axis,
      TY_GLOBAL ty_u32 *out, TY_GLOBAL ty_u8 *scratch, ty_u64 states, ty_u32 whole, ty_u32 words,
      ty_u32 part, ty_u32 key, ty_u32 zero TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    const ty_u32 lid = TY_LID, more = key * 0x9e3779b9u, stretch = lid / TY_ROW;
    const ty_u32 negative = 0 - words;
    const ty_bins bins = *(TY_GLOBAL const ty_bins *)axis;
    const ty_decider fast = *(TY_GLOBAL const ty_decider *)(axis + TY_AXIS_FAST);
    const ty_u32 origin = (TY_LOCAL_ADDRESS(ty_local) + 127) & ~127u, bias = origin + TY_BASE * 4,
                 waste = origin + (TY_WASTE + 32 + lid % 32) * 4;
    const ty_u32 stored = (words + 31) & ~31u, spread = TY_HOT_SPREAD(bins.bins);
    TY_LOCAL ty_u32 *table = ty_local + (origin - TY_LOCAL_ADDRESS(ty_local)) / 4;
    TY_LOCAL ty_u32 *counters = table + TY_BASE, *sums = counters + stored;
    TY_GLOBAL ty_u32 *state = (TY_GLOBAL ty_u32 *)(scratch + states);
    TY_GLOBAL ty_u32 *log =
        (TY_GLOBAL ty_u32 *)scratch + (ty_u64)TY_GROUPS * stored + (ty_u64)TY_GROUP * TY_ROOM;
    TY_GLOBAL const uint4 *quads = ty_quads(data, offset, 0);
    const ty_u32 chunks = TY_CHUNKS(whole), tile_quads = TY_TILE / TY_QUAD_EACH;

    ty_u32 cells[TY_QUAD_EACH], seen[4], drawn[4], found[4];
    for (ty_u32 w = lid; w < TY_BASE + stored + TY_SUMMED; w += TY_SIX)
        table[w] = 0;
    ty_u32 begun = 0;
    if (lid == 0)
        begun = TY_ADD_GLOBAL(&state[TY_TICKETS], 2);
    TY_BARRIER();

    /* Draws, counted in words where the counters will be: loads from all over in the lower half,
     * rows of 32 loads in the upper one. */
    const int in_row = (lid & 32) != 0;
    TY_UNROLL
    for (ty_u32 d = 0; d < TY_DRAWS; d++) {
        const ty_u64 all = (ty_u64)whole * tile_quads;
        const ty_u32 place = (in_row ? lid & ~31u : lid) * TY_DRAWS + (in_row ? 0 : d);
        const ty_u64 at = (place * all + (ty_mix(key ^ ty_mix(place)) * all >> 32)) / TY_DRAWN;
        const uint4 v =
            quads[in_row ? at / (32 * TY_DRAWS) * (32 * TY_DRAWS) + d * 32 + (lid & 31) : at];
        int same = 1;
        TY_CELLS(v);
        TY_UNROLL
        for (ty_u32 e = 0; e < TY_QUAD_EACH; e++) {
            const ty_u32 i = d * TY_QUAD_EACH + e;
            same &= cells[e] == cells[0];
            seen[i] = cells[e];
            drawn[i] = TY_MUL_HI(ty_mix(cells[e] ^ key), stored);
            TY_ADD_LOCAL(&counters[drawn[i]], in_row ? 0x10000 : 1);
        }
        if (same)
            TY_ADD_LOCAL(&sums[TY_CONSTANT], 1);
    }
    if (lid == 0)
        sums[TY_NEXT] = begun;
    TY_BARRIER();
    TY_UNROLL
    for (ty_u32 i = 0; i < 4; i++) {
        const ty_u32 in_rows = counters[drawn[i]] >> 16;
        found[i] = counters[drawn[i]] & 0xffffu;
        TY_MAX_LOCAL(&table[TY_HOT_SLOT(seen[i]) / 4], (found[i] + in_rows) << 19 | seen[i]);
        TY_MAX_LOCAL(&sums[TY_TOP], found[i]);
        if (in_row && in_rows > 4 * found[i] + TY_NEAR)
            TY_ADD_LOCAL(&sums[TY_GATHERED], 1);
    }
    TY_BARRIER();
    TY_UNROLL
    for (ty_u32 i = 0; i < 4; i++)
        TY_AND_LOCAL(&counters[drawn[i]], 0);
    for (ty_u32 i = lid; i < TY_SLOTS; i += TY_SIX)
        table[i] = table[i] ? table[i] & 0x7ffffu : TY_NO_CELL;
    ty_u32 form = sums[TY_TOP] >= TY_HEAVY ? TY_HOT : TY_PLAIN;
    ty_u32 chunk = sums[TY_NEXT], next = chunk + 1, logged = lid * 4;
    if (sums[TY_CONSTANT] * 8 >= TY_DRAWN * 7 && sums[TY_TOP] < TY_OFTEN)
        form = TY_RUNS;
    const int tries = form == TY_RUNS || sums[TY_GATHERED] <= TY_SIX;
    chunk = tries ? chunk : TY_STOPPED; /* all groups see the same */
    TY_BARRIER();

    ty_u32 tile = ty_tile(chunk, stretch, whole, key);
    TY_GLOBAL const uint4 *from = quads + (ty_u64)tile * tile_quads + lid % TY_ROW;
    uint4 v[TY_SET];
    if (tile < whole) {
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_SET; k++)
            v[k] = TY_PINNED(from + k * TY_ROW);
    }
    TY_ROLLED
    while (chunk < chunks) {
        const ty_u32 before = logged, steps = tile < whole ? TY_STEPS : 0;
        const ty_u32 after = ty_tile(next, stretch, whole, key);
        TY_GLOBAL const uint4 *behind =
            after < whole ? quads + (ty_u64)after * tile_quads + lid % TY_ROW : from;
        ty_u32 full = 0, taken = 0, counted = 0;
        if (lid == 0)
            taken = TY_ADD_GLOBAL(&state[TY_TICKETS], 1);
        if (form == TY_PLAIN) {
            TY_FOR_LOADS(TY_ADD_CELLS(0))
        } else if (form == TY_HOT) {
            TY_FOR_LOADS(TY_ADD_HOT())
        } else {
            TY_FOR_LOADS(ty_add_runs(cells, out, bins.bins))
        }
        if (counted < steps) {
            TY_UNROLL
            for (ty_u32 k = 0; k < TY_SET; k++)
                v[k] = TY_PINNED(behind + k * TY_ROW);
        }
        if ((full & TY_MOST) == TY_MOST)
            TY_MAX_LOCAL(&sums[TY_OVERFLOWED], chunk + 1);
        if (lid == 0)
            sums[TY_NEXT] = taken;
        TY_BARRIER();
        const int back = sums[TY_OVERFLOWED] == chunk + 1;
        taken = sums[TY_NEXT];
        if (back) {
            while (logged > before) {
                logged -= 4 * TY_SIX;
                TY_PLACE(*TY_LOGGED(logged));
                TY_ADD_AT(table, at_, TY_LOT << shift_);
            }
            TY_ROLLED
            for (ty_u32 s = 0; s < counted; s++) {
                TY_CELLS(from[s * TY_ROW]);
                for (ty_u32 e = 0; e < TY_QUAD_EACH; e++) {
                    const ty_u32 slot = origin + TY_HOT_SLOT(cells[e]);
                    TY_PLACE(cells[e]);
                    if (form == TY_HOT && TY_LOAD_AT(table, slot) == cells[e])
                        TY_ADD_AT(table, slot + 4 * TY_SLOTS, ~0u);
                    else
                        TY_ADD_AT(table, at_, 0u - (1u << shift_));
                }
            }
        }
        if (back && lid == 0) {
            const ty_u32 listed = ty_leave(state, chunk, chunks);
            const int often = (listed + 1) * TY_RARE > next;
            const ty_u32 done = often ? TY_MAX_GLOBAL(&state[TY_TICKETS], TY_STOPPED)
                                      : TY_ADD_GLOBAL(&state[TY_TICKETS], 0);
            if (often && done < chunks)
                state[TY_DONE] = done;
            if (often || done >= TY_STOPPED) {
                ty_leave(state, next, chunks);
                ty_leave(state, taken, chunks);
                sums[TY_GIVEN_UP] = 1;
            }
        }
        if (taken >= chunks && taken < TY_STOPPED && lid == 0)
            state[TY_DONE] = chunks;
        if (TY_ANY_LANE(logged >= 2 * TY_ROOM)) {
            ty_add_log(log, logged, out, bins.bins);
            logged = lid * 4;
        }
        from = behind;
        tile = after;
        chunk = next;
        next = taken;
        TY_BARRIER();
        chunk = sums[TY_GIVEN_UP] ? TY_STOPPED : chunk;
    }
    ty_add_log(log, logged, out, bins.bins);
    for (ty_u32 i = lid; i < TY_SLOTS; i += TY_SIX) {
        if (form == TY_HOT && table[TY_SLOTS + i])
            TY_ADD_GLOBAL(&out[ty_slot_of_cell(table[i], bins.bins)], table[TY_SLOTS + i]);
    }
    TY_GLOBAL uint4 *to = (TY_GLOBAL uint4 *)scratch + (ty_u64)TY_GROUP * (stored / 4);
    for (ty_u32 w = lid; tries && w < stored / 4; w += TY_SIX)
        to[w] = ((TY_LOCAL uint4 *)counters)[w];
}

/* The counters of `count` groups, added to `out`. A group has two rows of 32 words: 64 work-items,
 * and each four of these share the groups' counters. */
TY_KERNEL(256)
gather(TY_GLOBAL const ty_u8 *scratch, ty_u64 states, ty_u32 count, TY_GLOBAL const ty_u8 *axis,
       TY_GLOBAL ty_u32 *out, ty_u32 words, ty_u32 key TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    const ty_u32 lid = TY_LID, more = key * 0x9e3779b9u, word = TY_GROUP * 64 + lid % 64;
    const ty_u32 stored = (words + 31) & ~31u;
    const ty_u32 bins = ((TY_GLOBAL const ty_bins *)axis)->bins;
    const ty_u32 place = word ^ (TY_HASH(word) >> 2 & 31u);
    TY_GLOBAL const ty_u32 *partials = (TY_GLOBAL const ty_u32 *)scratch;
    TY_GLOBAL const ty_u32 *state = (TY_GLOBAL const ty_u32 *)(scratch + states);
    ty_u32 sum[TY_FIELDS] = {0};
    count =
        state[TY_LISTED] < state[TY_DONE] ? count : 0; /* all was taken back, or nothing taken */
    for (ty_u32 p = lid / 64; word < words && p < count; p += 4) {
        const ty_u32 w = partials[(ty_u64)p * stored + place];
        TY_UNROLL
        for (ty_u32 f = 0; f < TY_FIELDS; f++)
            sum[f] += w >> f * TY_BITS & TY_MOST;
    }
    for (ty_u32 f = 0; f < TY_FIELDS; f++)
        ty_local[f * 256 + lid] = sum[f];
    TY_BARRIER();
    for (ty_u32 i = lid; i < 64 * TY_FIELDS; i += 256) {
        const ty_u32 w = TY_GROUP * 64 + i % 64, cell = i / 64 * words + w;
        TY_LOCAL const ty_u32 *four = ty_local + i / 64 * 256 + i % 64;
        if (w < words && cell < bins + TY_CELLS_EXTRA)
            out[ty_slot_of_cell(cell, bins)] += four[0] + four[64] + four[128] + four[192];
    }
}
#endif
