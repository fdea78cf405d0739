/*
 * partitioned: more bins than local memory holds. The cells are cut into slices of 2^shift, small enough
 * to count in local memory; samples go there in two steps, a wave of tiles at a time, so that what
 * lies between the steps stays in the device's cache:
 *
 *   split   A group sorts a tile of samples by slice in local memory and writes it out as 16-bit
 *           residuals (the cell inside its slice), with a list of where each slice's segment lies.
 *   count   All slices' segments, one behind the other, are cut into equal lengths, one a group,
 * and these again, one a crew of work-items. A group counts what it has of a slice in local memory
 * and adds it to `out`.
 *
 * No step's cost depends on the data. The sort counts in TY_COLUMNS columns, one a lane, so that
 * the lanes of a warp never meet on one counter; where it then writes, and where `count` counts, an
 * address' bank is changed by a hash with a key of the launch. No group waits for another: steps
 * are launches, each of which begins as the one before ends and waits for it before it touches what
 * that one does.
 */
#define TY_TILE  (TY_GROUP_MAX * TY_PER)
#define TY_FOUND 16 /* words of a group that counts: what it found */

/* A slot in `out` for each number that samples of one column, or of several (partitioned_columns.cl),
 * get: cells where those are cheaper than slots, of which TY_MARK more are told. */
#if defined(TY_DIMS)
#define TY_SLOT(cell, count) (cell)
#elif TY_DTYPE > 2
#define TY_NUMBER(x)         ty_mark_of(x, &bins, &fast, axis)
#define TY_SLOT(cell, count) ty_slot_of_cell(cell, count)
#else
#define TY_MARK              0u
#define TY_NUMBER(x)         ty_slot_of(x, axis)
#define TY_SLOT(cell, count) (cell)
#endif

/* Local memory is 32 banks of 32-bit words: a place in bytes, its word in the same row of 32 moved
 * by a keyed hash of the row. A bijection of the row. */
TY_FN ty_u32 ty_bank_byte(ty_u32 byte, ty_u32 key)
{
    return byte ^ (TY_MUL_HI(byte & ~127u, key) & 124u);
}

/* … of a quad of words, which also moves the words inside it: for residuals, whose order is free.
 */
TY_FN ty_u32 ty_bank_quad(ty_u32 byte, ty_u32 key)
{
    return byte ^ (TY_MUL_HI(byte & ~127u, key) & 112u);
}

/* The residual of a sample, 16 bits: where among a slice's counters its cell is, in bytes, shifted
 * by TY_WIDE to fit; what TY_MASK leaves out is undefined. A slice's cells times an odd number are
 * a bijection that spreads any stride; the product's highest five bits become the bank. */
#define TY_FACTOR(key, shift) (((key) | 1u) << (32 - (shift)))
#define TY_SPREAD(shift)      ((128u << (shift) | 128u) >> TY_WIDE)
#define TY_MASK(shift)        ((4u << ((shift) < 5 ? 5 : (shift))) - 4)
TY_FN ty_u32 ty_residual(ty_u32 number, ty_u32 factor, ty_u32 spread)
{
    return TY_MUL_HI(number * factor, spread);
}

/* A segment of a sorted tile: its start and length in quads of eight residuals, and how many of the
 * last quad are none: zeros, which count as the slice's first cell and are taken off again. */
#define TY_SEGMENT(start, quads, none) ((start) | (quads) << 14 | (none) << 28)
#define TY_SEGMENT_START(segment)      ((segment)&0x3fffu)
#define TY_SEGMENT_QUADS(segment)      ((segment) >> 14 & 0x3fffu)
#define TY_SEGMENT_NONE(segment)       ((segment) >> 28)

/* Exclusive prefix sums of a value a work-item, over the group; `sums` is a word a work-item, and
 * not free before the next barrier. */
TY_FN ty_u32 ty_scan_items(ty_u32 value, TY_LOCAL ty_u32 *sums, ty_u32 size)
{
    ty_u32 lid = TY_LID;
#if TY_WARP == 32
    ty_u32 sum = value;
    TY_UNROLL
    for (ty_u32 d = 1; d < 32; d *= 2) {
        ty_u32 below = TY_SHUFFLE_UP(sum, d);
        sum += (lid & 31) >= d ? below : 0;
    }
    if ((lid & 31) == 31)
        sums[lid / 32] = sum;
    TY_BARRIER();
    ty_u32 before = 0;
    for (ty_u32 w = 0; w < lid / 32; w++)
        before += sums[w];
    (void)size;
    return before + sum - value;
#else
    sums[lid] = value;
    TY_BARRIER();
    if (lid == 0) {
        ty_u32 sum = 0;
        for (ty_u32 i = 0; i < size; i++) {
            ty_u32 v = sums[i];
            sums[i] = sum;
            sum += v;
        }
    }
    TY_BARRIER();
    return sums[lid];
#endif
}

/* A slice's counters are shared by so many neighbouring work-items, each with four. */
#if TY_WARP == 32
#define TY_PARTS (TY_COLUMNS / 4)
#else
#define TY_PARTS 1
#endif
#define TY_WIDTH (TY_COLUMNS / TY_PARTS)

/* Sums over the parts of a slice up to and with this one; *total is that of all. */
TY_FN ty_u32 ty_parts(ty_u32 sum, ty_u32 part, ty_u32 *total)
{
#if TY_PARTS > 1
    TY_UNROLL
    for (ty_u32 d = 1; d < TY_PARTS; d *= 2) {
        ty_u32 below = TY_SHUFFLE_UP(sum, d);
        sum += part >= d ? below : 0;
    }
    *total = TY_SHUFFLE(sum, (TY_LID & 31) | (TY_PARTS - 1));
#else
    *total = sum;
    (void)part;
#endif
    return sum;
}

/* Quad c of this work-item's counters of slice s. */
TY_FN TY_LOCAL uint4 *ty_counters(TY_LOCAL ty_u32 *cell, ty_u32 s, ty_u32 c)
{
    ty_u32 part = TY_LID % TY_PARTS;
    return (TY_LOCAL uint4 *)(cell + s * TY_COLUMNS + part * TY_WIDTH) + c;
}

/* Their sum; of no slice none. */
TY_FN ty_u32 ty_part(TY_LOCAL ty_u32 *cell, ty_u32 slices, ty_u32 s)
{
    ty_u32 sum = 0;
    TY_UNROLL
    for (ty_u32 c = 0; s < slices && c < TY_WIDTH / 4; c++) {
        uint4 v = *ty_counters(cell, s, c);
        sum += v.x + v.y + v.z + v.w;
    }
    return sum;
}

/* Exclusive prefix sums, over the teams of TY_PARTS work-items, of a value that all of a team have;
 * *total is the sum. `sums` is a word a work-item and one more. */
TY_FN ty_u32 ty_scan_teams(ty_u32 value, TY_LOCAL ty_u32 *sums, ty_u32 *total)
{
    ty_u32 before;
#if TY_WARP == 32
    ty_u32 lane = TY_LID & 31, warp = TY_LID / 32, sum = value;
    TY_UNROLL
    for (ty_u32 d = TY_PARTS; d < 32; d *= 2) {
        ty_u32 below = TY_SHUFFLE_UP(sum, d);
        sum += lane >= d ? below : 0;
    }
    if (lane == 31)
        sums[warp] = sum;
    TY_BARRIER();
    ty_u32 all = lane < TY_GROUP_MAX / 32 ? sums[lane] : 0;
    TY_UNROLL
    for (ty_u32 d = 1; d < TY_GROUP_MAX / 32; d *= 2) {
        ty_u32 below = TY_SHUFFLE_UP(all, d);
        all += lane >= d ? below : 0;
    }
    *total = TY_SHUFFLE(all, TY_GROUP_MAX / 32 - 1);
    before = TY_SHUFFLE(all, warp ? warp - 1 : 0);
    before = (warp ? before : 0) + sum - value;
#else
    before = ty_scan_items(value, sums, TY_GROUP_MAX);
    if (TY_LID == TY_GROUP_MAX - 1)
        sums[TY_GROUP_MAX] = before + value;
    TY_BARRIER();
    *total = sums[TY_GROUP_MAX];
#endif
    return before;
}

/* The counts in `cell`, rows of TY_COLUMNS a slice, to the places where each will be written in the
 * sorted tile, in bytes. A team takes a slice and every so manyth after it, and slices lie in the
 * tile team by team; the last quad of a slice is filled up. entry[s] becomes the slice's
 * TY_SEGMENT; returned is the tile's length in quads. */
TY_FN ty_u32 ty_place(TY_LOCAL ty_u32 *cell, ty_u32 slices, TY_LOCAL ty_u32 *entry,
                      TY_LOCAL ty_u32 *work, TY_LOCAL ty_u8 *sorted, ty_u32 key)
{
    ty_u32 part = TY_LID % TY_PARTS, first = TY_LID / TY_PARTS, teams = TY_GROUP_MAX / TY_PARTS;
    ty_u32 ahead = TY_WARP == 32 ? first % (32 / TY_PARTS) : 0; /* a warp's teams go together */
    ty_u32 quads = 0, all, total;
    TY_ROLLED
    for (ty_u32 s = first; s - ahead < slices; s += teams) {
        ty_parts(ty_part(cell, slices, s), part, &total);
        quads += (total + 7) / 8;
    }
    quads = ty_scan_teams(quads, work, &all);
    TY_ROLLED
    for (ty_u32 s = first; s - ahead < slices; s += teams) {
        ty_u32 sum = ty_part(cell, slices, s), below = ty_parts(sum, part, &total) - sum;
        ty_u32 at = quads * 16 + below * 2, next = quads + (total + 7) / 8;
        TY_UNROLL
        for (ty_u32 c = 0; s < slices && c < TY_WIDTH / 4; c++) {
            uint4 v = *ty_counters(cell, s, c);
            ty_u32 y = at + v.x * 2, z = y + v.y * 2, w = z + v.z * 2;
            uint4 places = {at, y, z, w};
            at = w + v.w * 2;
            *ty_counters(cell, s, c) = places;
        }
        for (ty_u32 k = quads * 8 + total + part; k < next * 8; k += TY_PARTS)
            *(TY_LOCAL ty_u16 *)(sorted + ty_bank_byte(k * 2, key)) = 0;
        if (part == 0 && s < slices)
            entry[s] = TY_SEGMENT(quads, next - quads, (next - quads) * 8 - total);
        quads = next;
    }
    return all;
}

/* Updates that return something wait for it: so many are made before the first is used. */
#define TY_BATCH 8
#define TY_OWN(number)                                                                             \
    ((TY_LOCAL ty_u32 *)(sorted + (((number) >> shift) * (TY_COLUMNS * 4) + own)))

/* A work-item's own counter of slice 0, in bytes: where TY_OWN counts from for numbers that are
 * `mark` more. */
TY_FN ty_u32 ty_own(ty_u32 stride, ty_u32 mark, ty_u32 shift)
{
    return (stride + (TY_LID & (TY_COLUMNS - 1)) - (mark >> shift) * (ty_u32)TY_COLUMNS) * 4;
}

/* The counters, behind a tile's `stride` words of residuals, are made zero. */
TY_FN void ty_clear(TY_LOCAL ty_u32 *ty_local, ty_u32 stride, ty_u32 slices)
{
    uint4 zero = {0, 0, 0, 0};
    TY_ROLLED
    for (ty_u32 c = TY_LID; c < slices * (TY_COLUMNS / 4); c += TY_GROUP_MAX)
        ((TY_LOCAL uint4 *)(ty_local + stride))[c] = zero;
    TY_BARRIER();
}

/* Sorts tile `tile` of `tiles`, whose numbers are counted: to residuals at the start of `scratch`,
 * `stride` words a tile, to the list [slice][tile] of segments at byte `lists`, and to two numbers
 * a slice at byte `sums`: its segments' lengths, summed, and behind those of all slices how many
 * are not empty. `kept` is all ones, or 0 for a tile that is none: its segments are empty. */
TY_FN void ty_sort(const ty_u32 *number, ty_u32 tile, ty_u32 tiles, ty_u32 kept, ty_u32 own,
                   TY_GLOBAL ty_u8 *scratch, ty_u32 stride, ty_u64 lists, ty_u64 sums,
                   ty_u32 slices, ty_u32 shift, ty_u32 key, TY_LOCAL ty_u32 *ty_local)
{
    ty_u32 lid = TY_LID;
    TY_LOCAL ty_u8 *sorted = (TY_LOCAL ty_u8 *)ty_local;
    TY_LOCAL ty_u32 *cell = ty_local + stride, *entry = cell + slices * TY_COLUMNS;
    TY_AWAIT(); /* before this writes over what `count` reads */
    TY_BARRIER();
    ty_u32 quads = ty_place(cell, slices, entry, entry + slices, sorted, key);
    TY_BARRIER();
    TY_OPAQUE(own); /* computed again, not kept */
    TY_OPAQUE(shift);
    ty_u32 factor = TY_FACTOR(key, shift), spread = TY_SPREAD(shift);
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_PER; k += TY_BATCH) {
        ty_u32 at[TY_BATCH];
        TY_UNROLL
        for (ty_u32 j = 0; j < TY_BATCH; j++)
            at[j] = TY_ADD_LOCAL(TY_OWN(number[k + j]), 2);
        TY_UNROLL
        for (ty_u32 j = 0; j < TY_BATCH; j++)
            *(TY_LOCAL ty_u16 *)(sorted + ty_bank_byte(at[j], key)) =
                (ty_u16)ty_residual(number[k + j], factor, spread);
    }
    TY_BARRIER();
    TY_ROLLED
    for (ty_u32 s = lid; s < slices; s += TY_GROUP_MAX) {
        ty_u32 segment = entry[s] & kept, length = TY_SEGMENT_QUADS(segment);
        ((TY_GLOBAL ty_u32 *)(scratch + lists))[(ty_u64)s * tiles + tile] = segment;
        if (length) {
            TY_GLOBAL ty_u32 *sum = (TY_GLOBAL ty_u32 *)(scratch + sums) + s;
            TY_ADD_GLOBAL(sum, length);
            TY_ADD_GLOBAL(sum + slices, 1);
        }
    }
    TY_GLOBAL uint4 *to = (TY_GLOBAL uint4 *)scratch + (ty_u64)tile * (stride / 4);
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_PER / 8; k++) {
        ty_u32 q = k * TY_GROUP_MAX + lid;
        to[q] = *(TY_LOCAL uint4 *)(sorted + ty_bank_quad(q * 16, key));
    }
    TY_ROLLED
    for (ty_u32 q = TY_TILE / 8 + lid; q < quads; q += TY_GROUP_MAX)
        to[q] = *(TY_LOCAL uint4 *)(sorted + ty_bank_quad(q * 16, key));
}

#if !defined(TY_DIMS)
/* Samples come sixteen bytes at a time, from the first that lie so. */
#define TY_EACH  (16 / (ty_u32)sizeof(ty_sample))
#define TY_LOADS (TY_PER / TY_EACH)
#define TY_UNDER (TY_AHEAD > TY_EACH ? TY_AHEAD / TY_EACH : 1) /* way */
#define TY_EAT(x)                                                                                  \
    do {                                                                                           \
        number[i] = TY_NUMBER(x);                                                                  \
        TY_ADD_LOCAL(TY_OWN(number[i]), 1);                                                        \
        i++;                                                                                       \
    } while (0)
#if TY_EVEN == TY_BY_LOG && TY_DTYPE > 2 /* a load's samples together (sample.h) */
#define TY_NUMBER_QUAD(v)                                                                          \
    do {                                                                                           \
        ty_quad_marks(v, &number[i], &bins, &fast, axis);                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 e = 0; e < TY_EACH; e++)                                                       \
            TY_ADD_LOCAL(TY_OWN(number[i++]), 1);                                                  \
    } while (0)
#else
#define TY_NUMBER_QUAD(v) TY_EAT_QUAD(v)
#endif
TY_FN ty_u32 ty_head(TY_GLOBAL const ty_sample *x)
{
    return (ty_u32)((0 - (ty_u64)x) & 15) / (ty_u32)sizeof(ty_sample);
}

/* Where a tile's samples begin. */
TY_FN TY_GLOBAL const uint4 *ty_quads(TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u32 tile)
{
    TY_GLOBAL const ty_sample *x = TY_SAMPLES(data, offset);
    return (TY_GLOBAL const uint4 *)(x + ty_head(x) + (ty_u64)tile * TY_TILE);
}

/* Sorts the tile `from` as number `tile` of `tiles`. */
TY_FN void ty_split_tile(TY_GLOBAL const uint4 *from, ty_u32 tile, ty_u32 tiles, ty_u32 kept,
                         TY_GLOBAL const ty_u8 *axis, TY_GLOBAL ty_u8 *scratch, ty_u32 stride,
                         ty_u64 lists, ty_u64 sums, ty_u32 slices, ty_u32 shift, ty_u32 key,
                         TY_LOCAL ty_u32 *ty_local)
{
    TY_LOCAL ty_u8 *sorted = (TY_LOCAL ty_u8 *)ty_local;
    ty_u32 number[TY_PER], i = 0, own = ty_own(stride, TY_MARK, shift);
#if TY_DTYPE > 2
    ty_bins bins = *(TY_GLOBAL const ty_bins *)axis;
    ty_decider fast = *(TY_GLOBAL const ty_decider *)(axis + TY_AXIS_FAST);
#endif
    uint4 v[TY_UNDER];
    from += TY_LID;
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_UNDER; k++)
        v[k] = TY_STREAM(&from[k * TY_GROUP_MAX]);
    ty_clear(ty_local, stride, slices);
    TY_OPAQUE(own);
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_LOADS; k++) {
        uint4 now = v[k % TY_UNDER];
        if (k + TY_UNDER < TY_LOADS)
            v[k % TY_UNDER] = TY_STREAM(&from[(k + TY_UNDER) * TY_GROUP_MAX]);
        TY_NUMBER_QUAD(now);
    }
    ty_sort(number, tile, tiles, kept, own, scratch, stride, lists, sums, slices, shift, key,
            ty_local);
}

#if defined(TY_FIRST)
/*
 * A first way (packed6.cl) may have counted most of the samples. The tiles lie in TY_FIRST
 * stretches; a chunk is a tile of each, the last one what is behind them. The first way takes
 * chunks in order, by tickets; what it could not count is listed, and where it gives up no more are
 * taken. So chunks are left: those listed, and all from TY_DONE on.
 */
enum {
    TY_TICKETS, /* taken; TY_STOPPED or more when it gave up */
    TY_LISTED,  /* how many chunks are in the list, … */
    TY_DONE,    /* the first chunk that was not taken */
    TY_LIST     /* … which begins here */
};
#define TY_STOPPED       0x40000000u
#define TY_CHUNKS(tiles) (((tiles) + TY_FIRST - 1) / TY_FIRST)

/* A chunk's tile in a stretch, below `whole` if there is one. What repeats must not come together
 * from all stretches, so each begins elsewhere in its own. */
TY_FN ty_u32 ty_tile(ty_u32 chunk, ty_u32 stretch, ty_u32 whole, ty_u32 key)
{
    const ty_u32 each = whole / TY_FIRST, from = (key ^ stretch * 0x9e3779b9u) * 0x2c1b3c6du;
    ty_u32 at = chunk + TY_MUL_HI(from, each);
    at = at < each ? at : at - each;
    return chunk < each ? stretch * each + at : chunk == each ? each * TY_FIRST + stretch : whole;
}

/* Tiles that are left of `whole` from number `before` on, but no more than `most`. */
TY_FN ty_u32 ty_left(TY_GLOBAL const ty_u32 *state, ty_u32 whole, ty_u32 before, ty_u32 most)
{
    ty_u32 left = (state[TY_LISTED] + TY_CHUNKS(whole) - state[TY_DONE]) * TY_FIRST;
    return left < before ? 0 : left - before < most ? left - before : most;
}

/* Sorts these. */
TY_KERNEL_DENSE(TY_GROUP_MAX, TY_DENSE)
split(TY_GLOBAL const ty_u8 *data, ty_u64 offset, TY_GLOBAL const ty_u8 *axis,
      TY_GLOBAL ty_u8 *scratch, ty_u32 stride, ty_u64 lists, ty_u64 sums, ty_u32 slices,
      ty_u32 shift, ty_u32 key, ty_u64 states, ty_u32 whole, ty_u32 before,
      ty_u32 most TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_ADMIT();
    TY_GLOBAL const ty_u32 *state = (TY_GLOBAL const ty_u32 *)(scratch + states);
    const ty_u32 tiles = ty_left(state, whole, before, most);
    const ty_u32 more = tiles > TY_GROUPS ? tiles / 64 * 7 : 0, stays = TY_GROUP < more ? 8 : 1;
    const ty_u32 from = TY_GROUP < more ? TY_GROUP * 8 : more * 7 + TY_GROUP;
    TY_ROLLED
    for (ty_u32 i = from; i < from + stays && i < tiles; i++) {
        ty_u32 n = (before + i) / TY_FIRST, stretch = (before + i) % TY_FIRST;
        ty_u32 chunk =
            n < state[TY_LISTED] ? state[TY_LIST + n] : state[TY_DONE] + n - state[TY_LISTED];
        ty_u32 tile = ty_tile(chunk, stretch, whole, key), kept = tile < whole ? ~0u : 0;
        tile = kept ? tile : 0;
        ty_split_tile(ty_quads(data, offset, tile), i, tiles, kept, axis, scratch, stride, lists,
                      sums, slices, shift, key, ty_local);
        TY_BARRIER();
    }
    TY_AWAIT(); /* so that what follows this follows what was before it */
}
#else
/* Sorts tile TY_GROUP of the samples from `offset` on. */
TY_KERNEL_DENSE(TY_GROUP_MAX, TY_DENSE)
split(TY_GLOBAL const ty_u8 *data, ty_u64 offset, TY_GLOBAL const ty_u8 *axis,
      TY_GLOBAL ty_u8 *scratch, ty_u32 stride, ty_u64 lists, ty_u64 sums, ty_u32 slices,
      ty_u32 shift, ty_u32 key TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_ADMIT();
    ty_split_tile(ty_quads(data, offset, TY_GROUP), TY_GROUP, TY_GROUPS, ~0u, axis, scratch, stride,
                  lists, sums, slices, shift, key, ty_local);
}
#endif

/* The samples outside the tiles, which hold `inside` of them: `n` before the first and behind the
 * last. */
TY_KERNEL(TY_GROUP_MAX)
rest(TY_GLOBAL const ty_u8 *data, ty_u64 offset, TY_GLOBAL const ty_u8 *axis, ty_u64 inside,
     ty_u32 n, TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 i = TY_GROUP * TY_GROUP_MAX + TY_LID;
    TY_GLOBAL const ty_sample *x = TY_SAMPLES(data, offset);
    if (i < n)
        TY_ADD_GLOBAL(&out[ty_slot_of(x[i < ty_head(x) ? i : inside + i], axis)], 1);
    (void)ty_local;
}
#endif

#if defined(TY_FIRST)
#define TY_LEFT_ARGS , ty_u64 states, ty_u32 whole, ty_u32 before_tile
#define TY_TAKE_LEFT                                                                               \
    tiles = ty_left((TY_GLOBAL const ty_u32 *)(scratch + states), whole, before_tile, tiles);
#else
#define TY_LEFT_ARGS
#define TY_TAKE_LEFT
#endif

#define TY_COUNT_BYTE(byte) TY_ADD_LOCAL((TY_LOCAL ty_u8 *)cell + ((byte)&mask), 1)
#define TY_COUNT_PAIR(w)                                                                           \
    do {                                                                                           \
        TY_COUNT_BYTE((w) << TY_WIDE);                                                             \
        TY_COUNT_BYTE((w) >> (16 - TY_WIDE));                                                      \
    } while (0)

/* Work-items that take segments together. */
#if TY_WARP == 32
#define TY_CREW 32
#else
#define TY_CREW 1
#endif
#define TY_CREWS (TY_COUNTERS / TY_CREW)

/* Where the last of `size` rising numbers that is not above x is. */
TY_FN ty_u32 ty_last_within(TY_LOCAL const ty_u32 *numbers, ty_u32 size, ty_u32 x)
{
    ty_u32 at = 0;
    for (ty_u32 step = size / 2; step; step /= 2)
        at += at + step < size && numbers[at + step] <= x ? step : 0;
    return at;
}

#if TY_WARP == 32
/* Where the bit number n of those that are set is. */
TY_FN ty_u32 ty_bit_at(ty_u32 bits, ty_u32 n)
{
    ty_u32 at = 0;
    TY_UNROLL
    for (ty_u32 d = 16; d; d /= 2) {
        ty_u32 below = TY_SET_BITS(bits >> at & ((1u << d) - 1));
        at += n >= below ? d : 0;
        n -= n >= below ? below : 0;
    }
    return at;
}

/* Loads TY_QUADS rows of 32 quads, from quad q of a slice on, before anything that follows; lane n
 * knows where the segment number n of some begins, and in what place of the memory quad 0 would
 * lie, were it all like that. */
TY_FN void ty_load_rows(uint4 *v, TY_GLOBAL const uint4 *quads, ty_u32 q, ty_u32 stop, ty_u32 begin,
                        ty_u32 place)
{
    ty_u32 lane = TY_LID & 31, at[TY_QUADS];
    ty_u32 begun = TY_SET_BITS(TY_WHICH(begin <= q)) - 1;
    if (TY_WHICH(begin - q - 1 < TY_QUADS * 32 - 1)) {
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_QUADS; k++) {
            /* A quad is of the last segment that begins there or before. */
            ty_u32 row = q + k * 32, after = begin - row;
            begun = k ? TY_SET_BITS(TY_WHICH(begin <= row)) - 1 : begun;
            ty_u32 bits = TY_ANY_BITS(after - 1 < 31 ? 1u << after : 0);
            ty_u32 of = begun + TY_SET_BITS(bits & ((2u << lane) - 1));
            at[k] = TY_SHUFFLE(place, of & 31) + row + lane;
        }
    } else {
        ty_u32 first = TY_SHUFFLE(place, begun & 31) + q + lane;
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_QUADS; k++)
            at[k] = first + k * 32;
    }
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_QUADS; k++) {
        if (q + k * 32 + lane < stop)
            v[k] = quads[at[k]];
    }
    TY_READ_FIRST();
}

TY_FN void ty_count_rows(const uint4 *v, ty_u32 q, ty_u32 stop, ty_u32 mask, TY_LOCAL ty_u32 *cell)
{
    TY_UNROLL
    for (ty_u32 k = 0; k < TY_QUADS; k++) {
        if (q + k * 32 + (TY_LID & 31) < stop) {
            TY_COUNT_PAIR(v[k].x);
            TY_COUNT_PAIR(v[k].y);
            TY_COUNT_PAIR(v[k].z);
            TY_COUNT_PAIR(v[k].w);
        }
    }
}
#endif

/* Counts quads `from` to `to` of a slice's, in the order of tiles, by one crew; tile `tile` begins
 * with quad `before`. With warps each lane knows a tile, and all go through the quads side by side,
 * wherever segments end, with TY_QUADS loads under way: of 32 quads a lane's is of the last tile
 * that begins there or before. Returns the zeros that filled up the segments whose last quad was
 * among them. */
TY_FN ty_u32 ty_count_quads(TY_GLOBAL const uint4 *quads, ty_u32 stride,
                            TY_GLOBAL const ty_u32 *list, ty_u32 tiles, ty_u32 tile, ty_u32 before,
                            ty_u32 from, ty_u32 to, ty_u32 mask, TY_LOCAL ty_u32 *cell)
{
    ty_u32 lane = TY_LID % TY_CREW, none = 0;
    ty_u32 next = from < to && tile + lane < tiles ? list[tile + lane] : 0;
    TY_OPAQUE(mask);
    TY_ROLLED
    while (before < to && tile < tiles) {
        ty_u32 t = tile + lane, segment = next, length = TY_SEGMENT_QUADS(segment), end = length;
        next = t + TY_CREW < tiles ? list[t + TY_CREW] : 0;
#if TY_WARP == 32
        TY_UNROLL
        for (ty_u32 d = 1; d < 32; d *= 2) {
            ty_u32 below = TY_SHUFFLE_UP(end, d);
            end += lane >= d ? below : 0;
        }
        ty_u32 q = before > from ? before : from;
        end += before;
        before = TY_SHUFFLE(end, 31);
        ty_u32 stop = before < to ? before : to;
        ty_u32 begin = end - length, is = begin < to && end > from && length;
        none += is && end <= to ? TY_SEGMENT_NONE(segment) : 0;
        /* Quad q lies `begin` before that in the slice's; tiles that are none go last. */
        ty_u32 there = TY_WHICH(is), of = ty_bit_at(there, lane);
        ty_u32 place = t * (stride / 4) + TY_SEGMENT_START(segment) - begin;
        ty_u32 listed = TY_SHUFFLE(begin, of);
        begin = lane < TY_SET_BITS(there) ? listed : ~0u;
        place = TY_SHUFFLE(place, of);
        uint4 v[TY_QUADS], w[TY_QUADS];
        if (q < stop)
            ty_load_rows(v, quads, q, stop, begin, place);
        TY_ROLLED
        while (q < stop) {
            if (q + TY_QUADS * 32 < stop)
                ty_load_rows(w, quads, q + TY_QUADS * 32, stop, begin, place);
            ty_count_rows(v, q, stop, mask, cell);
            q += TY_QUADS * 32;
            if (q + TY_QUADS * 32 < stop)
                ty_load_rows(v, quads, q + TY_QUADS * 32, stop, begin, place);
            if (q < stop)
                ty_count_rows(w, q, stop, mask, cell);
            q += TY_QUADS * 32;
        }
#else
        ty_u32 begin = before > from ? before : from;
        TY_GLOBAL const uint4 *quad =
            quads + (ty_u64)t * (stride / 4) + TY_SEGMENT_START(segment) - before;
        before += end;
        end = before < to ? before : to;
        none += begin < end && end == before ? TY_SEGMENT_NONE(segment) : 0;
        for (ty_u32 q = begin; q < end; q++) {
            uint4 v = quad[q];
            TY_COUNT_PAIR(v.x);
            TY_COUNT_PAIR(v.y);
            TY_COUNT_PAIR(v.z);
            TY_COUNT_PAIR(v.w);
        }
#endif
        tile += TY_CREW;
    }
    return none;
}

/* What slice s takes on the line that groups share out: its quads, what it costs to find its
 * segments, and to begin and end with its counters. */
TY_FN ty_u32 ty_extent(TY_GLOBAL const ty_u32 *sum, ty_u32 s, ty_u32 slices, ty_u32 shift)
{
    return sum[s] ? sum[s] + sum[slices + s] + (1u << shift) / 4 : 0;
}

/* Finds which of the slices `first` to `last`, of which the first begins at `at`, is at a place. */
TY_FN void ty_find_slice(TY_GLOBAL const ty_u32 *sum, ty_u32 first, ty_u32 last, ty_u32 at,
                         ty_u32 slices, ty_u32 shift, ty_u32 place, TY_LOCAL ty_u32 *found)
{
    TY_ROLLED
    for (ty_u32 s = first; s < last; s++) {
        ty_u32 extent = ty_extent(sum, s, slices, shift);
        if (place - at < extent) {
            found[0] = s;
            found[1] = at;
            found[2] = extent;
            found[3] = 0;
        }
        at += extent;
    }
}

/* Makes a slice's counters zero. */
TY_FN void ty_clear_cells(TY_LOCAL ty_u32 *cell, ty_u32 mask)
{
    uint4 zero = {0, 0, 0, 0};
    TY_ROLLED
    for (ty_u32 c = TY_LID; c <= mask / 16; c += TY_COUNTERS)
        ((TY_LOCAL uint4 *)cell)[c] = zero;
}

/* Adds them to `out`, less the zeros that filled up segments. */
TY_FN void ty_add_cells(TY_LOCAL const ty_u32 *cell, ty_u32 slice, ty_u32 shift, ty_u32 zeros,
                        ty_u32 bins, TY_GLOBAL ty_u32 *out, ty_u32 key)
{
    ty_u32 factor = TY_FACTOR(key, shift), spread = TY_SPREAD(shift), mask = TY_MASK(shift);
    TY_UNROLL4
    for (ty_u32 c = TY_LID; c < 1u << shift; c += TY_COUNTERS) {
        ty_u32 byte = ty_residual(c, factor, spread) << TY_WIDE & mask;
        ty_u32 counted = cell[byte / 4] - (c ? 0 : zeros);
        if (counted)
            TY_ADD_GLOBAL(&out[TY_SLOT((slice << shift) + c, bins)], counted);
    }
    (void)bins;
}

/* Counts what `split` left of a wave of tiles into a table at byte `table` of `out`. Slices lie one
 * behind the other; the groups share this line out evenly, and in a slice the crews of a group its
 * quads. */
TY_KERNEL(TY_COUNTERS)
count(TY_GLOBAL const ty_u8 *scratch, ty_u32 stride, ty_u64 lists, ty_u64 sums, ty_u32 tiles,
      ty_u32 slices, ty_u32 shift, ty_u32 bins, TY_GLOBAL ty_u32 *out, ty_u64 table,
      ty_u32 key TY_LEFT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, crew = lid / TY_CREW, mask = TY_MASK(shift), all = 0;
    ty_u32 each = (slices + TY_COUNTERS - 1) / TY_COUNTERS, from = lid * each;
    ty_u32 to = from + each < slices ? from + each : slices;
    TY_LOCAL ty_u32 *found = ty_local, *before = found + TY_FOUND, *cell = before + TY_COUNTERS;
    TY_GLOBAL const ty_u32 *sum = (TY_GLOBAL const ty_u32 *)(scratch + sums);
    TY_ADMIT();
    TY_AWAIT();
    TY_TAKE_LEFT
    const ty_u32 chunk = (tiles + TY_COUNTERS - 1) / TY_COUNTERS;
    TY_ROLLED
    for (ty_u32 s = from; s < to; s++)
        all += ty_extent(sum, s, slices, shift);
    ty_u32 part = ty_scan_items(all, before, TY_COUNTERS);
    if (lid == TY_COUNTERS - 1)
        found[0] = part + all;
    TY_BARRIER();
    all = found[0];
    ty_u32 place = (ty_u32)((ty_u64)all * TY_GROUP / TY_GROUPS);
    ty_u32 stop = (ty_u32)((ty_u64)all * (TY_GROUP + 1) / TY_GROUPS);
    out += table / 4;
    TY_BARRIER();
    TY_ROLLED
    while (place < stop) {
        ty_find_slice(sum, from, to, part, slices, shift, place, found);
        TY_BARRIER();
        ty_u32 slice = found[0], at = found[1], extent = found[2], length = sum[slice];
        ty_u32 end = at + extent < stop ? at + extent : stop;
        /* The group's quads, of the slice's; each tile's before it, of every so manyth. */
        ty_u32 first = (ty_u32)((ty_u64)(place - at) * length / extent);
        ty_u32 last = (ty_u32)((ty_u64)(end - at) * length / extent);
        ty_u32 quads = 0;
        TY_GLOBAL const ty_u32 *list =
            (TY_GLOBAL const ty_u32 *)(scratch + lists) + (ty_u64)slice * tiles;
        place = end;
        if (first < last) {
            ty_clear_cells(cell, mask);
            for (ty_u32 t = lid * chunk; t < (lid + 1) * chunk && t < tiles; t++)
                quads += TY_SEGMENT_QUADS(list[t]);
        }
        quads = ty_scan_items(quads, before, TY_COUNTERS);
        TY_BARRIER();
        before[lid] = quads;
        TY_BARRIER();
        if (first < last) {
            ty_u32 share = (last - first + TY_CREWS - 1) / TY_CREWS, own = first + crew * share;
            ty_u32 near = ty_last_within(before, TY_COUNTERS, own);
            ty_u32 none = ty_count_quads((TY_GLOBAL const uint4 *)scratch, stride, list, tiles,
                                         near * chunk, before[near], own,
                                         own + share < last ? own + share : last, mask, cell);
            if (none)
                TY_ADD_LOCAL(&found[3], none);
        }
        TY_BARRIER();
        if (first < last)
            ty_add_cells(cell, slice, shift, found[3], bins, out, key);
        TY_BARRIER();
    }
}
