/*
 * partitioned: for more bins than local memory holds. The bins are cut into partitions of 2^shift
 * bins, few enough to count in local memory. Samples get there in two steps, a chunk of tiles at a
 * time, so that what is written between the steps stays in the device's cache:
 *
 *   split   A work-group sorts a tile of samples by partition in local memory. It writes them out
 *           as 16-bit residuals (the bin inside the partition), with a list that says where each
 *           partition's segment of the tile lies.
 *   count   The segments of all partitions, one behind the other, are cut into shares of equal
 *           work, one a group, and these again, one a sub-group. A group counts what it has of a
 *           partition in local memory and adds the counts to `out`.
 *
 * Kernels, in order: where packed6 counts first, packed6_count and packed6_merge (packed6.cl); for
 * each chunk split and count; rest, for the samples that are no whole tile; for several columns
 * settle. No group waits for another: steps are launches. Each may start as the one before ends,
 * and waits for it (TY_GRID_WAIT) before it touches what that one uses.
 *
 * Files: this one sorts a tile. partitioned_column.cl has split and rest of one column,
 * partitioned_columns.cl those of several, partitioned_count.cl has count.
 *
 * No step's cost depends on the data. The sort counts in PARTITIONED_COLUMNS columns, one a lane of
 * a sub-group, so that lanes never meet on one counter. Where it then writes, and where `count`
 * counts, an address' bank is changed by a hash with a key of the launch.
 *
 * Local memory of split, in words:
 *
 *     0       stride                residuals of the sorted tile, 16 bits each
 *     stride  partitions * COLUMNS  counters: a row a partition, a column a lane. First how many
 *                                   samples there are, then where the next is written, in bytes
 *     then    partitions            the partitions' segments (PARTITIONED_SEGMENT)
 *     then    TY_GROUP_SIZE + 1      for prefix sums
 *
 * Scratch memory in global memory, bytes:
 *
 *     0       residuals of the chunk's tiles, `stride` words each. Every segment is filled up to
 *             whole vectors of eight residuals
 *     lists   the chunk's segments: [partition][tile], a word each
 *     sums    for each chunk of the call: each partition's vectors, then each partition's segments
 *             that are not empty, a word each
 *     states  what packed6 left (partitioned_column.cl)
 *     table   of several columns: the counts of numbers (partitioned_columns.cl)
 */
#define PARTITIONED_TILE (TY_GROUP_SIZE * PARTITIONED_PER) /* samples */

/* What is sorted and counted is a sample's number: of several columns the joint cell; of one column
 * its slot in `out`, or its biased cell (cell.h) where that is cheaper: PARTITIONED_BIAS more. */
#if defined(TY_DIMS)
#define PARTITIONED_SLOT(number, bins) (number)
#elif !TY_IS_BYTE
#define PARTITIONED_BIAS               TY_CELL_BIAS
#define PARTITIONED_SLOT(number, bins) ty_slot_of_cell(number, bins)
#else
#define PARTITIONED_BIAS               0u
#define PARTITIONED_SLOT(number, bins) (number)
#endif

/* ---- residuals ---- */

/* Local memory is 32 banks of 32-bit words. The byte where byte `byte` is kept: its word is moved
 * inside its row of 32 words, by a keyed hash of the row; a bijection. */
TY_FN ty_u32 partitioned_bank(ty_u32 byte, ty_u32 key)
{
    return byte ^ (TY_MUL_HI(byte & ~127u, key) & 124u);
}

/* The same for vectors of four words. It moves vectors as partitioned_bank moves their words, but
 * leaves the words inside a vector in another order: the order of residuals is free. */
TY_FN ty_u32 partitioned_bank_vector(ty_u32 byte, ty_u32 key)
{
    return byte ^ (TY_MUL_HI(byte & ~127u, key) & 112u);
}

/* The residual of a number, 16 bits: where its counter is among those of a partition, in bytes,
 * shifted right by PARTITIONED_WIDE to fit. Bits outside partitioned_mask are undefined. A number
 * is multiplied by an odd factor, modulo the partition's size: a bijection that spreads any stride.
 * The product's highest five bits become the bank. */
TY_FN ty_u32 partitioned_residual(ty_u32 number, ty_u32 factor, ty_u32 spread)
{
    return TY_MUL_HI(number * factor, spread);
}

TY_FN ty_u32 partitioned_factor(ty_u32 key, ty_u32 shift)
{
    return (key | 1u) << (32 - shift);
}

TY_FN ty_u32 partitioned_spread(ty_u32 shift)
{
    return (128u << shift | 128u) >> PARTITIONED_WIDE;
}

/* The bits of a counter's byte; a partition has at least 32 counters. */
TY_FN ty_u32 partitioned_mask(ty_u32 shift)
{
    return (4u << (shift < 5 ? 5 : shift)) - 4;
}

/* A segment of a sorted tile, packed: its start and length in vectors of eight residuals, and how
 * many residuals of the last vector fill it up. Those are zeros, which `count` counts as the
 * partition's first bin and subtracts again. */
#define PARTITIONED_SEGMENT(start, vectors, fill) ((start) | (vectors) << 14 | (fill) << 28)
#define PARTITIONED_SEGMENT_START(segment)        ((segment)&0x3fffu)
#define PARTITIONED_SEGMENT_VECTORS(segment)      ((segment) >> 14 & 0x3fffu)
#define PARTITIONED_SEGMENT_FILL(segment)         ((segment) >> 28)

/* ---- prefix sums ---- */

/* Exclusive prefix sums of a value a work-item, over the group; `sums` is a word a work-item, and
 * not free before the next barrier. */
TY_FN ty_u32 partitioned_scan_items(ty_u32 value, TY_LOCAL ty_u32 *sums, ty_u32 size)
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

/* A partition's counters are shared by a team of neighbouring work-items, PARTITIONED_WIDTH each.
 */
#if TY_WARP == 32
#define PARTITIONED_TEAM (PARTITIONED_COLUMNS / 4)
#else
#define PARTITIONED_TEAM 1
#endif
#define PARTITIONED_WIDTH (PARTITIONED_COLUMNS / PARTITIONED_TEAM)

/* Inclusive prefix sums of a value a work-item, over its team; *total is the team's sum. */
TY_FN ty_u32 partitioned_scan_team(ty_u32 sum, ty_u32 member, ty_u32 *total)
{
#if PARTITIONED_TEAM > 1
    TY_UNROLL
    for (ty_u32 d = 1; d < PARTITIONED_TEAM; d *= 2) {
        ty_u32 below = TY_SHUFFLE_UP(sum, d);
        sum += member >= d ? below : 0;
    }
    *total = TY_SHUFFLE(sum, (TY_LID & 31) | (PARTITIONED_TEAM - 1));
#else
    *total = sum;
    (void)member;
#endif
    return sum;
}

/* Exclusive prefix sums of a value a team, which all its members pass, over the teams; *total is
 * the sum of all. `sums` is a word a work-item and one more. */
TY_FN ty_u32 partitioned_scan_teams(ty_u32 value, TY_LOCAL ty_u32 *sums, ty_u32 *total)
{
    ty_u32 before;
#if TY_WARP == 32
    ty_u32 lane = TY_LID & 31, warp = TY_LID / 32, sum = value;
    TY_UNROLL
    for (ty_u32 d = PARTITIONED_TEAM; d < 32; d *= 2) {
        ty_u32 below = TY_SHUFFLE_UP(sum, d);
        sum += lane >= d ? below : 0;
    }
    if (lane == 31)
        sums[warp] = sum;
    TY_BARRIER();
    ty_u32 all = lane < TY_GROUP_SIZE / 32 ? sums[lane] : 0;
    TY_UNROLL
    for (ty_u32 d = 1; d < TY_GROUP_SIZE / 32; d *= 2) {
        ty_u32 below = TY_SHUFFLE_UP(all, d);
        all += lane >= d ? below : 0;
    }
    *total = TY_SHUFFLE(all, TY_GROUP_SIZE / 32 - 1);
    before = TY_SHUFFLE(all, warp ? warp - 1 : 0);
    before = (warp ? before : 0) + sum - value;
#else
    before = partitioned_scan_items(value, sums, TY_GROUP_SIZE);
    if (TY_LID == TY_GROUP_SIZE - 1)
        sums[TY_GROUP_SIZE] = before + value;
    TY_BARRIER();
    *total = sums[TY_GROUP_SIZE];
#endif
    return before;
}

/* ---- the sort ---- */

/* What the phases of a sort share. */
typedef struct partitioned_sort {
    TY_GLOBAL ty_u8 *scratch; /* with what at which byte is said above */
    ty_u64 lists, sums;
    ty_u32 stride, partitions, shift, key;
    TY_LOCAL ty_u32 *memory; /* the group's */
} partitioned_sort;

TY_FN partitioned_sort partitioned_sort_of(TY_GLOBAL ty_u8 *scratch, ty_u32 stride, ty_u64 lists,
                                           ty_u64 sums, ty_u32 partitions, ty_u32 shift, ty_u32 key,
                                           TY_LOCAL ty_u32 *memory)
{
    partitioned_sort s;
    s.scratch = scratch;
    s.lists = lists;
    s.sums = sums;
    s.stride = stride;
    s.partitions = partitions;
    s.shift = shift;
    s.key = key;
    s.memory = memory;
    return s;
}

/* A work-item's column of counters, in bytes; numbers are `bias` more than counters tell. */
TY_FN ty_u32 partitioned_column(ty_u32 stride, ty_u32 bias, ty_u32 shift)
{
    const ty_u32 column = TY_LID & (PARTITIONED_COLUMNS - 1);
    return (stride + column - (bias >> shift) * (ty_u32)PARTITIONED_COLUMNS) * 4;
}

/* A work-item's own counter of a number's partition. */
TY_FN TY_LOCAL ty_u32 *partitioned_counter(TY_LOCAL ty_u32 *memory, ty_u32 number, ty_u32 shift,
                                           ty_u32 column)
{
    const ty_u32 row = (number >> shift) * (PARTITIONED_COLUMNS * 4);
    return (TY_LOCAL ty_u32 *)((TY_LOCAL ty_u8 *)memory + (row + column));
}

/* Clears the counters. */
TY_FN void partitioned_clear(const partitioned_sort *s)
{
    uint4 zero = {0, 0, 0, 0};
    TY_ROLLED
    for (ty_u32 c = TY_LID; c < s->partitions * (PARTITIONED_COLUMNS / 4); c += TY_GROUP_SIZE)
        ((TY_LOCAL uint4 *)(s->memory + s->stride))[c] = zero;
    TY_BARRIER();
}

/* Vector c of this work-item's counters of partition p. */
TY_FN TY_LOCAL uint4 *partitioned_counters(TY_LOCAL ty_u32 *counters, ty_u32 p, ty_u32 c)
{
    ty_u32 member = TY_LID % PARTITIONED_TEAM;
    return (TY_LOCAL uint4 *)(counters + p * PARTITIONED_COLUMNS + member * PARTITIONED_WIDTH) + c;
}

/* Their sum; 0 where there is no partition p. */
TY_FN ty_u32 partitioned_counted(TY_LOCAL ty_u32 *counters, ty_u32 partitions, ty_u32 p)
{
    ty_u32 sum = 0;
    TY_UNROLL
    for (ty_u32 c = 0; p < partitions && c < PARTITIONED_WIDTH / 4; c++) {
        uint4 v = *partitioned_counters(counters, p, c);
        sum += v.x + v.y + v.z + v.w;
    }
    return sum;
}

/* Turns the counts in `counters` into the bytes of the sorted tile where each counter's first
 * residual will be written. Team t takes partitions t, t + teams, …, and the partitions lie in the
 * tile team by team. The last vector of each is filled up with zeros. entry[p] becomes partition
 * p's segment; returned is the tile's length in vectors. */
TY_FN ty_u32 partitioned_arrange(const partitioned_sort *s, TY_LOCAL ty_u32 *counters,
                                 TY_LOCAL ty_u32 *entry, TY_LOCAL ty_u32 *work)
{
    TY_LOCAL ty_u8 *sorted = (TY_LOCAL ty_u8 *)s->memory;
    ty_u32 member = TY_LID % PARTITIONED_TEAM, first = TY_LID / PARTITIONED_TEAM;
    ty_u32 teams = TY_GROUP_SIZE / PARTITIONED_TEAM, partitions = s->partitions;
    /* The teams of a sub-group run as many rounds as its first, since they shuffle together. */
    ty_u32 ahead = TY_WARP == 32 ? first % (32 / PARTITIONED_TEAM) : 0;
    ty_u32 vectors = 0, all, total;
    TY_ROLLED
    for (ty_u32 p = first; p - ahead < partitions; p += teams) {
        partitioned_scan_team(partitioned_counted(counters, partitions, p), member, &total);
        vectors += (total + 7) / 8;
    }
    vectors = partitioned_scan_teams(vectors, work, &all);
    TY_ROLLED
    for (ty_u32 p = first; p - ahead < partitions; p += teams) {
        ty_u32 sum = partitioned_counted(counters, partitions, p);
        ty_u32 below = partitioned_scan_team(sum, member, &total) - sum;
        ty_u32 at = vectors * 16 + below * 2, next = vectors + (total + 7) / 8;
        TY_UNROLL
        for (ty_u32 c = 0; p < partitions && c < PARTITIONED_WIDTH / 4; c++) {
            uint4 v = *partitioned_counters(counters, p, c);
            ty_u32 y = at + v.x * 2, z = y + v.y * 2, w = z + v.z * 2;
            uint4 begins = {at, y, z, w};
            at = w + v.w * 2;
            *partitioned_counters(counters, p, c) = begins;
        }
        for (ty_u32 k = vectors * 8 + total + member; k < next * 8; k += PARTITIONED_TEAM)
            *(TY_LOCAL ty_u16 *)(sorted + partitioned_bank(k * 2, s->key)) = 0;
        if (member == 0 && p < partitions)
            entry[p] = PARTITIONED_SEGMENT(vectors, next - vectors, (next - vectors) * 8 - total);
        vectors = next;
    }
    return all;
}

/* Updates that return something wait for it: so many are made before the first is used. */
#define PARTITIONED_BATCH 8

/* Writes each sample's residual where its counter says. */
TY_FN void partitioned_place(const partitioned_sort *s, const ty_u32 *number, ty_u32 column)
{
    TY_LOCAL ty_u8 *sorted = (TY_LOCAL ty_u8 *)s->memory;
    ty_u32 shift = s->shift;
    TY_OPAQUE(column); /* computed again, not kept */
    TY_OPAQUE(shift);
    ty_u32 factor = partitioned_factor(s->key, shift), spread = partitioned_spread(shift);
    TY_UNROLL
    for (ty_u32 k = 0; k < PARTITIONED_PER; k += PARTITIONED_BATCH) {
        ty_u32 at[PARTITIONED_BATCH];
        TY_UNROLL
        for (ty_u32 j = 0; j < PARTITIONED_BATCH; j++)
            at[j] = TY_ADD_LOCAL(partitioned_counter(s->memory, number[k + j], shift, column), 2);
        TY_UNROLL
        for (ty_u32 j = 0; j < PARTITIONED_BATCH; j++)
            *(TY_LOCAL ty_u16 *)(sorted + partitioned_bank(at[j], s->key)) =
                (ty_u16)partitioned_residual(number[k + j], factor, spread);
    }
}

/* Writes the list of segments and adds to the sums of the partitions. */
TY_FN void partitioned_store_lists(const partitioned_sort *s, TY_LOCAL const ty_u32 *entry,
                                   ty_u32 tile, ty_u32 tiles, ty_u32 kept)
{
    TY_ROLLED
    for (ty_u32 p = TY_LID; p < s->partitions; p += TY_GROUP_SIZE) {
        ty_u32 segment = entry[p] & kept, vectors = PARTITIONED_SEGMENT_VECTORS(segment);
        ((TY_GLOBAL ty_u32 *)(s->scratch + s->lists))[(ty_u64)p * tiles + tile] = segment;
        if (vectors) {
            TY_GLOBAL ty_u32 *sum = (TY_GLOBAL ty_u32 *)(s->scratch + s->sums) + p;
            TY_ADD_GLOBAL(sum, vectors);
            TY_ADD_GLOBAL(sum + s->partitions, 1);
        }
    }
}

/* Writes the sorted tile. */
TY_FN void partitioned_store_tile(const partitioned_sort *s, ty_u32 tile, ty_u32 vectors)
{
    TY_LOCAL ty_u8 *sorted = (TY_LOCAL ty_u8 *)s->memory;
    TY_GLOBAL uint4 *to = (TY_GLOBAL uint4 *)s->scratch + (ty_u64)tile * (s->stride / 4);
    TY_UNROLL
    for (ty_u32 k = 0; k < PARTITIONED_PER / 8; k++) {
        ty_u32 v = k * TY_GROUP_SIZE + TY_LID;
        to[v] = *(TY_LOCAL uint4 *)(sorted + partitioned_bank_vector(v * 16, s->key));
    }
    TY_ROLLED
    for (ty_u32 v = PARTITIONED_TILE / 8 + TY_LID; v < vectors; v += TY_GROUP_SIZE)
        to[v] = *(TY_LOCAL uint4 *)(sorted + partitioned_bank_vector(v * 16, s->key));
}

/* Sorts a work-item's `number`s, which are counted, as tile `tile` of `tiles`. `kept` is all ones,
 * or 0 for a tile that is none: its segments are empty. */
TY_FN void partitioned_sort_tile(const partitioned_sort *s, const ty_u32 *number, ty_u32 column,
                                 ty_u32 tile, ty_u32 tiles, ty_u32 kept)
{
    TY_LOCAL ty_u32 *counters = s->memory + s->stride;
    TY_LOCAL ty_u32 *entry = counters + s->partitions * PARTITIONED_COLUMNS;
    TY_GRID_WAIT(); /* before this writes over what `count` reads */
    TY_BARRIER();
    const ty_u32 vectors = partitioned_arrange(s, counters, entry, entry + s->partitions);
    TY_BARRIER();
    partitioned_place(s, number, column);
    TY_BARRIER();
    partitioned_store_lists(s, entry, tile, tiles, kept);
    partitioned_store_tile(s, tile, vectors);
}
/* SPDX-License-Identifier: Apache-2.0 */
