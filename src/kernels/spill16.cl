/*
 * spill16: one copy of the histogram in local memory, two 16-bit counters a word, scrambled as in
 * swizzled.cl. Samples of two bytes are counted as raw values (65 536 cells; `fold` applies the axis),
 * others as cells of the axis.
 *
 * No update looks at what it returns. A group counts a period of its samples, then adds all counters
 * up: a counter that passed 65 535 has lost 65 536 or carried 1 for it, so the sum is right if and only
 * if no counter did. If it is wrong, the period is taken back (the same samples subtracted, which is
 * exact, for words are numbers modulo 2^32) and counted again in pieces that cannot overflow.
 *
 * So that this stays rare, hot cells are drained while the period is counted: before it each work-item
 * looks at one of its samples, drawn at random, and where several find the same cell some of them
 * empty that counter into a register after every few loads. An input that knows the samples drawn
 * would have to know the key.
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

/* The word of a cell, given as the cell + TY_MARK; and the cell's place in it. */
#define TY_HASH(row) ((row) * ((row)*key + more) >> 25)
#define TY_COUNTER(mark)                                                                           \
    ((TY_LOCAL ty_u32 *)((TY_LOCAL ty_u8 *)ty_local +                                              \
                         ((((mark) << 1) ^ TY_HASH((mark) & ~63u)) & 0x3ffffcu)))
#define TY_HALF(mark) (((mark)&1) << 4)

#define TY_EAT(x) marks[each++] = TY_MARK_OF(x)

#define TY_EACH ((ty_u32)(16 / sizeof(ty_sample)))
#define TY_COLD 0xffffffffu /* no cell to drain */
#define TY_FULL 0x4000u     /* counters that reached this are emptied after a period */

enum { TY_FORWARD, TY_BACK, TY_CAREFUL };

TY_FN ty_u32 ty_mix(ty_u32 x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Adds `times` to a cell. */
TY_FN void ty_add_mark(TY_LOCAL ty_u32 *ty_local, ty_u32 mark, ty_u32 times, ty_u32 key, ty_u32 more)
{
    TY_ADD_LOCAL(TY_COUNTER(mark), (mark & 1) * (times * 0xffffu) + times);
}

/*
 * Adds `unit` for each mark of load k. Updates of one word by several lanes follow one another, so
 * where a warp can vote, one lane's mark (which one, changes with `turn`) is looked for in the
 * others, at every fourth load; while it is frequent there, lanes with equal marks are added at once.
 */
TY_FN void ty_add_marks(TY_LOCAL ty_u32 *ty_local, const ty_u32 *marks, ty_u32 k, ty_u32 turn,
                        ty_u32 *often, ty_u32 unit, ty_u32 key, ty_u32 more)
{
#if defined(TY_BALLOT)
    if (k % 4 == 0) {
        ty_u32 probe = marks[k % TY_EACH];
        *often = TY_POPCOUNT(TY_BALLOT(probe == TY_SHUFFLE(probe, turn))) >= 4;
    }
    if (*often) {
        TY_UNROLL
        for (ty_u32 e = 0; e < TY_EACH; e++) {
            ty_u32 peers = TY_MATCH(marks[e]);
            if ((peers & ((1u << (TY_LID & 31)) - 1)) == 0)
                ty_add_mark(ty_local, marks[e], unit * TY_POPCOUNT(peers), key, more);
        }
        return;
    }
#endif
    TY_UNROLL
    for (ty_u32 e = 0; e < TY_EACH; e++)
        ty_add_mark(ty_local, marks[e], unit, key, more);
    (void)k;
    (void)turn;
    (void)often;
}

/* Counts chunks [at, end) of TY_AHEAD loads a work-item; expects the names above and in count(). */
#define TY_COUNT_CHUNKS(at, end)                                                                   \
    for (ty_u32 chunk = (at); chunk < (end); chunk++) {                                            \
        ty_u32 q = first + chunk * (TY_AHEAD * step);                                              \
        if ((q | 31) + (TY_AHEAD - 1) * step < span.count) { /* by warps, which may vote */        \
            uint4 v[TY_AHEAD];                                                                     \
            ty_u32 often = 0;                                                                      \
            TY_UNROLL                                                                              \
            for (ty_u32 k = 0; k < TY_AHEAD; k++)                                                  \
                v[k] = span.quads[q + k * step];                                                   \
            turn = turn * 0x2c1b3c6du + 0x297a2d39u;                                               \
            TY_UNROLL                                                                              \
            for (ty_u32 k = 0; k < TY_AHEAD; k++) {                                                \
                ty_u32 marks[TY_EACH], each = 0;                                                   \
                TY_EAT_QUAD(v[k]);                                                                 \
                ty_add_marks(ty_local, marks, k, turn >> 27, &often, unit, key, more);             \
            }                                                                                      \
            counted += TY_AHEAD * TY_EACH;                                                         \
        } else {                                                                                   \
            for (; q < span.count && q < first + (chunk + 1) * (TY_AHEAD * step); q += step) {     \
                uint4 v = span.quads[q];                                                           \
                ty_u32 marks[TY_EACH], each = 0;                                                   \
                TY_EAT_QUAD(v);                                                                    \
                for (ty_u32 e = 0; e < TY_EACH; e++)                                               \
                    ty_add_mark(ty_local, marks[e], unit, key, more);                              \
                counted += TY_EACH;                                                                \
            }                                                                                      \
        }                                                                                          \
        if (hot != TY_COLD && mode == TY_FORWARD)                                                  \
            drained += TY_AND_LOCAL(TY_COUNTER(hot), ~(0xffffu << TY_HALF(hot))) >> TY_HALF(hot) & \
                       0xffffu;                                                                    \
    }

TY_KERNEL_DENSE(TY_GROUP_MAX, TY_DENSE)
count(TY_COUNT_ARGS, ty_u32 key, ty_u32 period, ty_u32 hits, TY_GLOBAL ty_u32 *partials TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, more = key * 0x9e3779b9u, unit = 1, turn = ty_mix(key);
#if defined(TY_RAW16)
    ty_u32 cells = 65536;
#else
    ty_bins bins = *(TY_GLOBAL const ty_bins *)axis;
    ty_fast fast = *(TY_GLOBAL const ty_fast *)(axis + TY_AXIS_FAST);
    ty_u32 cells = bins.bins + TY_CELLS_EXTRA;
#endif
    ty_u32 words = (cells + 63) / 64 * 32;
    TY_LOCAL ty_u32 *found = ty_local + words, *owed = found + TY_GROUP_MAX, *seen = owed + 1,
                    *full = owed + 2;
    ty_span span = ty_span_of(data, offset, n);
    ty_u32 step = TY_GROUPS * TY_GROUP_MAX, first = TY_GROUP * TY_GROUP_MAX + lid;
    ty_u32 chunks = (span.count + TY_AHEAD * step - 1) / (TY_AHEAD * step);
    for (ty_u32 w = lid; w < words; w += TY_GROUP_MAX)
        ty_local[w] = 0;
    if (lid < 3)
        owed[lid] = 0;

    ty_u32 at = 0, mode = TY_FORWARD, careful = 0, hot = TY_COLD, drained = 0;
    while (at < chunks) {
        ty_u32 end = mode == TY_CAREFUL ? at + 1 : chunks - at < period ? chunks : at + period;
        ty_u32 counted = 0, sum = 0, any = 0;
        found[lid] = 0;
        TY_BARRIER();
        if (mode == TY_FORWARD && hits) {
            ty_u32 draw = ty_mix(key ^ ty_mix(at * 0x10001u + first));
            ty_u32 j = (ty_u32)((ty_u64)draw * ((end - at) * TY_AHEAD * TY_GROUP_MAX) >> 32);
            ty_u32 q = first - lid + j % TY_GROUP_MAX + (at * TY_AHEAD + j / TY_GROUP_MAX) * step;
            hot = TY_COLD;
            drained = 0;
            if (q < span.count) {
                ty_u32 mark =
                    TY_MARK_OF(span.first[span.head + (ty_u64)q * TY_EACH + draw % TY_EACH]);
                ty_u32 same = TY_ADD_LOCAL(
                    &found[(ty_u32)((ty_u64)ty_mix(mark + key) * TY_GROUP_MAX >> 32)], 1);
                /* Those that find a power of two before them: few, and at least one. */
                hot = same + 1 >= hits && (same & (same + 1)) == 0 ? mark : TY_COLD;
            }
        }
        unit = mode == TY_BACK ? 0u - 1u : 1u;
        TY_COUNT_CHUNKS(at, end);
        if (mode == TY_BACK && hot != TY_COLD)
            TY_ADD_LOCAL(TY_COUNTER(hot), drained << TY_HALF(hot));
        TY_BARRIER();
        for (ty_u32 w = lid; w < words; w += TY_GROUP_MAX) {
            ty_u32 v = ty_local[w];
            sum += (v & 0xffffu) + (v >> 16);
            any |= v;
        }
        TY_ADD_LOCAL(seen, sum);
        TY_ADD_LOCAL(owed, unit * (counted - drained)); /* mode BACK put `drained` into the table */
        if (any & (TY_FULL * 0x30003u))
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
            hot = TY_COLD;
            drained = 0;
        } else {
            if (hot != TY_COLD)
                TY_ADD_GLOBAL(&out[TY_RESULT(hot - TY_MARK)], drained);
            hot = TY_COLD;
            drained = 0;
            for (ty_u32 c = lid; empty && c < cells; c += TY_GROUP_MAX) {
                ty_u32 shift = TY_HALF(c), v = *TY_COUNTER(c + TY_MARK) >> shift & 0xffffu;
                if (v >= TY_FULL) {
                    TY_ADD_LOCAL(TY_COUNTER(c + TY_MARK), 0u - (v << shift));
                    TY_ADD_LOCAL(owed, 0u - v);
                    TY_ADD_GLOBAL(&out[TY_RESULT(c)], v);
                }
            }
            at = end;
            mode = mode == TY_CAREFUL && at < careful ? TY_CAREFUL : TY_FORWARD;
        }
    }
    TY_BARRIER();
    partials += TY_SUMS + (ty_u64)TY_GROUP * words;
    for (ty_u32 w = lid; w < words; w += TY_GROUP_MAX)
        partials[w] = *TY_COUNTER(2 * w + TY_MARK);
    if (TY_GROUP == 0 && lid < span.head + span.tail)
        TY_ADD_GLOBAL(&out[TY_RESULT(TY_MARK_OF(ty_span_odd(span, lid)) - TY_MARK)], 1);
    (void)slots;
    (void)pass;
}

/* The groups' counters, added to `out`. A group has 16 words, of which 16 rows of work-items add up
 * every 16th partial each. */
TY_KERNEL(256) gather(TY_GLOBAL const ty_u32 *partials, ty_u32 count, ty_u32 words,
                      TY_GLOBAL const ty_u8 *axis, TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
#if defined(TY_RAW16)
    ty_u32 cells = 65536;
    (void)axis;
#else
    ty_bins bins = *(TY_GLOBAL const ty_bins *)axis;
    ty_u32 cells = bins.bins + TY_CELLS_EXTRA;
#endif
    ty_u32 word = TY_GROUP * 16 + (TY_LID & 15), low = 0, high = 0;
    for (ty_u32 p = TY_LID / 16; p < count; p += 16) {
        ty_u32 v = partials[TY_SUMS + (ty_u64)p * words + word];
        low += v & 0xffffu;
        high += v >> 16;
    }
    ty_local[TY_LID] = low;
    ty_local[256 + TY_LID] = high;
    for (ty_u32 stride = 128; stride >= 16; stride /= 2) {
        TY_BARRIER();
        if (TY_LID < stride) {
            ty_local[TY_LID] += ty_local[TY_LID + stride];
            ty_local[256 + TY_LID] += ty_local[256 + TY_LID + stride];
        }
    }
    if (TY_LID < 16 && 2 * word < cells)
        out[TY_RESULT(2 * word)] += ty_local[TY_LID];
    if (TY_LID < 16 && 2 * word + 1 < cells)
        out[TY_RESULT(2 * word + 1)] += ty_local[256 + TY_LID];
}

#if defined(TY_RAW16)
/* Raw values to slots: a work-item adds up 32 neighbours, which mostly share a slot. */
TY_KERNEL(64) fold(TY_GLOBAL const ty_u32 *raw, TY_GLOBAL const ty_u8 *axis,
                   TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
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
