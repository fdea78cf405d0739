/*
 * partitioned, the second step: `count`. Memory between the steps is drawn in partitioned.cl.
 *
 * The work of a chunk is a line of numbers: for each partition, one behind the other, its vectors
 * of residuals, one for each segment, and something for its counters. Each group takes an equal
 * share of that line: the end of a partition, perhaps whole ones, the beginning of one. For each
 * partition of its share it
 *   clears the counters,
 *   finds the vectors before each work-item's range of tiles, by a prefix sum,
 *   counts: each sub-group takes an equal share of the group's vectors and finds by binary search
 *           in which tile it begins,
 *   adds the counters to `out`.
 *
 * Local memory, in words:
 *
 *     0                FOUND        what the group has found (enum)
 *     16               COUNT_SIZE   before: vectors before each work-item's range of tiles; also
 *                                   for prefix sums
 *     16 + COUNT_SIZE  2^shift      counters of a partition, at least 32
 */
enum {
    PARTITIONED_PARTITION, /* at which the group is */
    PARTITIONED_BEGIN,     /* where on the line it begins */
    PARTITIONED_WORK,      /* how long it is there */
    PARTITIONED_FILL,      /* zeros that filled segments up: counted, though no samples */
    PARTITIONED_FOUND = 16
};

#if defined(PACKED6_REGIONS)
#define PARTITIONED_LEFT_ARGS , ty_u64 states, ty_u32 all_tiles, ty_u32 before_tile
#else
#define PARTITIONED_LEFT_ARGS
#endif

/* Work-items of a sub-group: they take segments together. */
#if TY_WARP == 32
#define PARTITIONED_SUBGROUP 32
#else
#define PARTITIONED_SUBGROUP 1
#endif
#define PARTITIONED_SUBGROUPS (PARTITIONED_COUNT_SIZE / PARTITIONED_SUBGROUP)

/* A partition of a chunk and the group's counters of it. */
typedef struct partitioned_segments {
    TY_GLOBAL const uint4 *residuals;
    TY_GLOBAL const ty_u32 *list; /* a segment a tile */
    ty_u32 stride, tiles, mask;
    TY_LOCAL ty_u32 *counters;
} partitioned_segments;

/* ---- counting vectors ---- */

TY_FN void partitioned_count_word(ty_u32 word, ty_u32 mask, TY_LOCAL ty_u32 *counters)
{
    TY_LOCAL ty_u8 *bytes = (TY_LOCAL ty_u8 *)counters;
    TY_ADD_LOCAL(bytes + (word << PARTITIONED_WIDE & mask), 1);
    TY_ADD_LOCAL(bytes + (word >> (16 - PARTITIONED_WIDE) & mask), 1);
}

TY_FN void partitioned_count_vector(uint4 v, ty_u32 mask, TY_LOCAL ty_u32 *counters)
{
    partitioned_count_word(v.x, mask, counters);
    partitioned_count_word(v.y, mask, counters);
    partitioned_count_word(v.z, mask, counters);
    partitioned_count_word(v.w, mask, counters);
}

#if TY_WARP == 32
/* The number of the bit that is the set bit number n. */
TY_FN ty_u32 partitioned_set_bit(ty_u32 bits, ty_u32 n)
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

/* Up to 32 segments of a partition, one a lane, in order; those that are empty are left out. */
typedef struct partitioned_lanes {
    ty_u32 begin; /* the partition's vector where the lane's segment begins; ~0: no segment */
    ty_u32 place; /* where vector 0 would be in memory if all of them lay as that segment does */
} partitioned_lanes;

/* Loads PARTITIONED_LOADS rows of 32 vectors, from vector q of the partition on, those below
 * `stop`, before anything that follows. Vector n of a row is lane n's. It belongs to the last
 * segment that begins there or before. */
TY_FN void partitioned_load_rows(uint4 *v, const partitioned_segments *s,
                                 const partitioned_lanes *lanes, ty_u32 q, ty_u32 stop)
{
    ty_u32 lane = TY_LID & 31, at[PARTITIONED_LOADS];
    ty_u32 begun = TY_SET_BITS(TY_BALLOT(lanes->begin <= q)) - 1;
    if (TY_BALLOT(lanes->begin - q - 1 < PARTITIONED_LOADS * 32 - 1)) {
        TY_UNROLL
        for (ty_u32 k = 0; k < PARTITIONED_LOADS; k++) {
            /* Bit i: a segment begins at the row's vector i > 0. */
            ty_u32 row = q + k * 32, after = lanes->begin - row;
            begun = k ? TY_SET_BITS(TY_BALLOT(lanes->begin <= row)) - 1 : begun;
            ty_u32 bits = TY_ANY_BITS(after - 1 < 31 ? 1u << after : 0);
            ty_u32 of = begun + TY_SET_BITS(bits & ((2u << lane) - 1));
            at[k] = TY_SHUFFLE(lanes->place, of & 31) + row + lane;
        }
    } else { /* one segment */
        ty_u32 first = TY_SHUFFLE(lanes->place, begun & 31) + q + lane;
        TY_UNROLL
        for (ty_u32 k = 0; k < PARTITIONED_LOADS; k++)
            at[k] = first + k * 32;
    }
    TY_UNROLL
    for (ty_u32 k = 0; k < PARTITIONED_LOADS; k++) {
        if (q + k * 32 + lane < stop)
            v[k] = s->residuals[at[k]];
    }
    TY_READ_FIRST();
}

TY_FN void partitioned_count_rows(const uint4 *v, ty_u32 q, ty_u32 stop, ty_u32 mask,
                                  TY_LOCAL ty_u32 *counters)
{
    TY_UNROLL
    for (ty_u32 k = 0; k < PARTITIONED_LOADS; k++) {
        if (q + k * 32 + (TY_LID & 31) < stop)
            partitioned_count_vector(v[k], mask, counters);
    }
}

/* Counts vectors q to `stop`, with rows loaded while those before are counted. */
TY_FN void partitioned_count_range(const partitioned_segments *s, const partitioned_lanes *lanes,
                                   ty_u32 q, ty_u32 stop, ty_u32 mask)
{
    const ty_u32 step = PARTITIONED_LOADS * 32;
    uint4 v[PARTITIONED_LOADS], w[PARTITIONED_LOADS];
    if (q < stop)
        partitioned_load_rows(v, s, lanes, q, stop);
    TY_ROLLED
    while (q < stop) {
        if (q + step < stop)
            partitioned_load_rows(w, s, lanes, q + step, stop);
        partitioned_count_rows(v, q, stop, mask, s->counters);
        q += step;
        if (q + step < stop)
            partitioned_load_rows(v, s, lanes, q + step, stop);
        if (q < stop)
            partitioned_count_rows(w, q, stop, mask, s->counters);
        q += step;
    }
}

/* Counts vectors `from` to `to` of a partition, in the order of tiles, by one sub-group; tile
 * `tile` begins with vector `before`. Each lane knows a tile's segment, and all go through the
 * vectors together, wherever segments end. Returns the zeros that filled up the segments whose last
 * vector is among them. */
TY_FN ty_u32 partitioned_count_vectors(const partitioned_segments *s, ty_u32 tile, ty_u32 before,
                                       ty_u32 from, ty_u32 to)
{
    ty_u32 lane = TY_LID % 32, fill = 0, mask = s->mask;
    ty_u32 next = from < to && tile + lane < s->tiles ? s->list[tile + lane] : 0;
    TY_OPAQUE(mask);
    TY_ROLLED
    while (before < to && tile < s->tiles) {
        ty_u32 t = tile + lane, segment = next;
        ty_u32 length = PARTITIONED_SEGMENT_VECTORS(segment), end = length;
        next = t + 32 < s->tiles ? s->list[t + 32] : 0;
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
        fill += is && end <= to ? PARTITIONED_SEGMENT_FILL(segment) : 0;
        /* The segments that have vectors to count go to the first lanes. */
        ty_u32 there = TY_BALLOT(is), of = partitioned_set_bit(there, lane);
        ty_u32 place = t * (s->stride / 4) + PARTITIONED_SEGMENT_START(segment) - begin;
        ty_u32 listed = TY_SHUFFLE(begin, of);
        partitioned_lanes lanes;
        lanes.begin = lane < TY_SET_BITS(there) ? listed : ~0u;
        lanes.place = TY_SHUFFLE(place, of);
        partitioned_count_range(s, &lanes, q, stop, mask);
        tile += 32;
    }
    return fill;
}
#else
/* The same by one work-item. */
TY_FN ty_u32 partitioned_count_vectors(const partitioned_segments *s, ty_u32 tile, ty_u32 before,
                                       ty_u32 from, ty_u32 to)
{
    ty_u32 fill = 0;
    for (; before < to && tile < s->tiles; tile++) {
        const ty_u32 segment = s->list[tile], begin = before > from ? before : from;
        TY_GLOBAL const uint4 *vectors = s->residuals + (ty_u64)tile * (s->stride / 4) +
                                         PARTITIONED_SEGMENT_START(segment) - before;
        before += PARTITIONED_SEGMENT_VECTORS(segment);
        const ty_u32 end = before < to ? before : to;
        fill += begin < end && end == before ? PARTITIONED_SEGMENT_FILL(segment) : 0;
        for (ty_u32 q = begin; q < end; q++)
            partitioned_count_vector(vectors[q], s->mask, s->counters);
    }
    return fill;
}
#endif

/* ---- shares of a group ---- */

/* The work of partition p: its vectors, one for each of its segments, which must be found, and
 * something for clearing and adding its counters. */
TY_FN ty_u32 partitioned_work(TY_GLOBAL const ty_u32 *sum, ty_u32 p, ty_u32 partitions,
                              ty_u32 shift)
{
    return sum[p] ? sum[p] + sum[partitions + p] + (1u << shift) / 4 : 0;
}

/* Each work-item knows partitions `first` to `last`, of which the first begins at `at` on the line:
 * the one that has the partition at `place` says so in `found`. */
TY_FN void partitioned_find(TY_GLOBAL const ty_u32 *sum, ty_u32 first, ty_u32 last, ty_u32 at,
                            ty_u32 partitions, ty_u32 shift, ty_u32 place, TY_LOCAL ty_u32 *found)
{
    TY_ROLLED
    for (ty_u32 p = first; p < last; p++) {
        ty_u32 work = partitioned_work(sum, p, partitions, shift);
        if (place - at < work) {
            found[PARTITIONED_PARTITION] = p;
            found[PARTITIONED_BEGIN] = at;
            found[PARTITIONED_WORK] = work;
            found[PARTITIONED_FILL] = 0;
        }
        at += work;
    }
}

/* Clears a partition's counters. */
TY_FN void partitioned_clear_counters(TY_LOCAL ty_u32 *counters, ty_u32 mask)
{
    uint4 zero = {0, 0, 0, 0};
    TY_ROLLED
    for (ty_u32 c = TY_LID; c <= mask / 16; c += PARTITIONED_COUNT_SIZE)
        ((TY_LOCAL uint4 *)counters)[c] = zero;
}

/* Adds them to `out`, less the zeros that filled up segments. */
TY_FN void partitioned_add_counters(TY_LOCAL const ty_u32 *counters, ty_u32 partition, ty_u32 shift,
                                    ty_u32 fill, ty_u32 bins, TY_GLOBAL ty_u32 *out, ty_u32 key)
{
    ty_u32 factor = partitioned_factor(key, shift), spread = partitioned_spread(shift);
    ty_u32 mask = partitioned_mask(shift);
    TY_UNROLL4
    for (ty_u32 c = TY_LID; c < 1u << shift; c += PARTITIONED_COUNT_SIZE) {
        ty_u32 byte = partitioned_residual(c, factor, spread) << PARTITIONED_WIDE & mask;
        ty_u32 counted = counters[byte / 4] - (c ? 0 : fill);
        if (counted)
            TY_ADD_GLOBAL(&out[PARTITIONED_SLOT((partition << shift) + c, bins)], counted);
    }
    (void)bins;
}

/* Index of the last of `size` rising numbers, a power of two, that is not above x. */
TY_FN ty_u32 partitioned_search(TY_LOCAL const ty_u32 *numbers, ty_u32 size, ty_u32 x)
{
    ty_u32 at = 0;
    for (ty_u32 step = size / 2; step; step /= 2)
        at += at + step < size && numbers[at + step] <= x ? step : 0;
    return at;
}

/* Counts vectors `first` to `last` of a partition by the group, whose counters are not clear yet.
 * All work-items come here, also for none, and there is a barrier behind what they have written. */
TY_FN void partitioned_count_share(const partitioned_segments *s, ty_u32 first, ty_u32 last,
                                   TY_LOCAL ty_u32 *found, TY_LOCAL ty_u32 *before)
{
    const ty_u32 range = (s->tiles + PARTITIONED_COUNT_SIZE - 1) / PARTITIONED_COUNT_SIZE;
    ty_u32 lid = TY_LID, vectors = 0;
    if (first < last) {
        partitioned_clear_counters(s->counters, s->mask);
        for (ty_u32 t = lid * range; t < (lid + 1) * range && t < s->tiles; t++)
            vectors += PARTITIONED_SEGMENT_VECTORS(s->list[t]);
    }
    vectors = partitioned_scan_items(vectors, before, PARTITIONED_COUNT_SIZE);
    TY_BARRIER();
    before[lid] = vectors;
    TY_BARRIER();
    if (first < last) {
        ty_u32 share = (last - first + PARTITIONED_SUBGROUPS - 1) / PARTITIONED_SUBGROUPS;
        ty_u32 from = first + lid / PARTITIONED_SUBGROUP * share;
        ty_u32 to = from + share < last ? from + share : last;
        ty_u32 near = partitioned_search(before, PARTITIONED_COUNT_SIZE, from);
        ty_u32 fill = partitioned_count_vectors(s, near * range, before[near], from, to);
        if (fill)
            TY_ADD_LOCAL(&found[PARTITIONED_FILL], fill);
    }
    TY_BARRIER();
}

/* Counts what `split` wrote of a chunk of `tiles` into the table at byte `table` of `out`. */
TY_KERNEL(PARTITIONED_COUNT_SIZE)
count(TY_GLOBAL const ty_u8 *scratch, ty_u32 stride, ty_u64 lists, ty_u64 sums, ty_u32 tiles,
      ty_u32 partitions, ty_u32 shift, ty_u32 bins, TY_GLOBAL ty_u32 *out, ty_u64 table,
      ty_u32 key PARTITIONED_LEFT_ARGS TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, mask = partitioned_mask(shift), all = 0;
    ty_u32 each = (partitions + PARTITIONED_COUNT_SIZE - 1) / PARTITIONED_COUNT_SIZE;
    ty_u32 from = lid * each, to = from + each < partitions ? from + each : partitions;
    TY_LOCAL ty_u32 *found = ty_local, *before = found + PARTITIONED_FOUND;
    TY_LOCAL ty_u32 *counters = before + PARTITIONED_COUNT_SIZE;
    TY_GLOBAL const ty_u32 *sum = (TY_GLOBAL const ty_u32 *)(scratch + sums);
    TY_GRID_TRIGGER();
    TY_GRID_WAIT();
#if defined(PACKED6_REGIONS)
    tiles = partitioned_packed6_left((TY_GLOBAL const ty_u32 *)(scratch + states), all_tiles,
                                     before_tile, tiles);
#endif
    TY_ROLLED
    for (ty_u32 p = from; p < to; p++)
        all += partitioned_work(sum, p, partitions, shift);
    ty_u32 begin = partitioned_scan_items(all, before, PARTITIONED_COUNT_SIZE);
    if (lid == PARTITIONED_COUNT_SIZE - 1)
        found[0] = begin + all;
    TY_BARRIER();
    all = found[0];
    ty_u32 place = (ty_u32)((ty_u64)all * TY_GROUP / TY_GROUPS);
    ty_u32 stop = (ty_u32)((ty_u64)all * (TY_GROUP + 1) / TY_GROUPS);
    out += table / 4;
    TY_BARRIER();
    TY_ROLLED
    while (place < stop) {
        partitioned_find(sum, from, to, begin, partitions, shift, place, found);
        TY_BARRIER();
        ty_u32 partition = found[PARTITIONED_PARTITION], at = found[PARTITIONED_BEGIN];
        ty_u32 work = found[PARTITIONED_WORK], vectors = sum[partition];
        ty_u32 end = at + work < stop ? at + work : stop;
        /* The group's share of the work as vectors. */
        ty_u32 first = (ty_u32)((ty_u64)(place - at) * vectors / work);
        ty_u32 last = (ty_u32)((ty_u64)(end - at) * vectors / work);
        TY_GLOBAL const ty_u32 *list =
            (TY_GLOBAL const ty_u32 *)(scratch + lists) + (ty_u64)partition * tiles;
        const partitioned_segments s = {
            (TY_GLOBAL const uint4 *)scratch, list, stride, tiles, mask, counters};
        place = end;
        partitioned_count_share(&s, first, last, found, before);
        if (first < last)
            partitioned_add_counters(counters, partition, shift, found[PARTITIONED_FILL], bins, out,
                                     key);
        TY_BARRIER();
    }
}
/* SPDX-License-Identifier: Apache-2.0 */
