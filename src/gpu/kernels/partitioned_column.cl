/*
 * partitioned, of one column: `split`, which sorts tiles of samples, and `rest`, which counts the
 * samples that are no whole tile straight into `out`. Memory is drawn in partitioned.cl. A tile is
 * PARTITIONED_TILE samples, in loads of 16 bytes from the first sample that is aligned to that on.
 */
#define PARTITIONED_EACH       (16 / (ty_u32)sizeof(ty_sample)) /* samples of a load */
#define PARTITIONED_ITEM_LOADS (PARTITIONED_PER / PARTITIONED_EACH)
#define PARTITIONED_UNDER_WAY  (TY_AHEAD > PARTITIONED_EACH ? TY_AHEAD / PARTITIONED_EACH : 1)

/* The samples before the first aligned one. */
TY_FN ty_u32 partitioned_head(TY_GLOBAL const ty_sample *x)
{
    return (ty_u32)((0 - (ty_u64)x) & 15) / (ty_u32)sizeof(ty_sample);
}

/* The loads of a tile. */
TY_FN TY_GLOBAL const uint4 *partitioned_loads(TY_GLOBAL const ty_u8 *data, ty_u64 offset,
                                               ty_u32 tile)
{
    TY_GLOBAL const ty_sample *x = TY_SAMPLES(data, offset);
    return (TY_GLOBAL const uint4 *)(x + partitioned_head(x) + (ty_u64)tile * PARTITIONED_TILE);
}

/* What numbering and counting a sample takes. */
typedef struct partitioned_taker {
#if !TY_IS_BYTE
    const ty_bins *bins;
    const ty_decider *decider;
#endif
    TY_GLOBAL const ty_u8 *axis;
    const partitioned_sort *sort;
    ty_u32 column;
} partitioned_taker;

/* A sample's number. */
TY_FN ty_u32 partitioned_number(const partitioned_taker *t, ty_sample x)
{
#if TY_IS_BYTE
    return ty_slot_of(x, t->axis);
#else
    return ty_biased_cell_of(x, t->bins, t->decider, t->axis);
#endif
}

/* Numbers sample *n of a tile, and counts its partition. */
TY_FN void partitioned_take(const partitioned_taker *t, ty_u32 *number, ty_u32 *n, ty_sample x)
{
    const partitioned_sort *s = t->sort;
    number[*n] = partitioned_number(t, x);
    TY_ADD_LOCAL(partitioned_counter(s->memory, number[(*n)++], s->shift, t->column), 1);
}

/* Sorts the tile at `from` as number `tile` of `tiles`; `kept` as in partitioned_sort_tile. Samples
 * are numbered and counted by partition as they are loaded. */
TY_FN void partitioned_split_tile(const partitioned_sort *s, TY_GLOBAL const uint4 *from,
                                  TY_GLOBAL const ty_u8 *axis, ty_u32 tile, ty_u32 tiles,
                                  ty_u32 kept)
{
    ty_u32 number[PARTITIONED_PER], n = 0;
    ty_u32 column = partitioned_column(s->stride, PARTITIONED_BIAS, s->shift);
#if !TY_IS_BYTE
    ty_bins bins = *(TY_GLOBAL const ty_bins *)axis;
    ty_decider decider = *(TY_GLOBAL const ty_decider *)(axis + TY_AXIS_MAP);
#endif
    uint4 v[PARTITIONED_UNDER_WAY];
    from += TY_LID;
    TY_UNROLL
    for (ty_u32 k = 0; k < PARTITIONED_UNDER_WAY; k++)
        v[k] = TY_STREAM(&from[k * TY_GROUP_SIZE]);
    partitioned_clear(s);
    TY_OPAQUE(column);
#if TY_IS_BYTE
    const partitioned_taker taker = {axis, s, column};
#else
    const partitioned_taker taker = {&bins, &decider, axis, s, column};
#endif
    TY_UNROLL
    for (ty_u32 k = 0; k < PARTITIONED_ITEM_LOADS; k++) {
        uint4 now = v[k % PARTITIONED_UNDER_WAY];
        if (k + PARTITIONED_UNDER_WAY < PARTITIONED_ITEM_LOADS)
            v[k % PARTITIONED_UNDER_WAY] =
                TY_STREAM(&from[(k + PARTITIONED_UNDER_WAY) * TY_GROUP_SIZE]);
#if TY_BINNING == TY_LOOKUP_LOG && !TY_IS_BYTE /* a load's samples together (sample.h) */
        ty_vector_cells(now, &number[n], &bins, &decider, axis);
        TY_UNROLL
        for (ty_u32 e = 0; e < PARTITIONED_EACH; e++)
            TY_ADD_LOCAL(partitioned_counter(s->memory, number[n++], s->shift, column), 1);
#else
        TY_EACH_SAMPLE(now, partitioned_take, &taker, number, &n);
#endif
    }
    partitioned_sort_tile(s, number, column, tile, tiles, kept);
}

#if defined(PACKED6_REGIONS)
/*
 * packed6 (packed6.cl) may have counted most of the samples before. The tiles lie in
 * PACKED6_REGIONS regions of equal length. A stripe is a tile of each region; the last stripe is
 * what is behind the regions. packed6 takes stripes in order, by tickets. Those that it could not
 * count are listed, and where it gives up no more are taken. So the stripes in the list are left,
 * and all from PACKED6_DONE on. Its state, words of the scratch memory:
 */
enum {
    PACKED6_TICKETS, /* stripes taken; PACKED6_STOPPED or more when it gave up */
    PACKED6_LISTED,  /* stripes in the list */
    PACKED6_DONE,    /* the first stripe that was not taken */
    PACKED6_LIST     /* the list begins here */
};
#define PACKED6_STOPPED            0x40000000u
#define PARTITIONED_STRIPES(tiles) (((tiles) + PACKED6_REGIONS - 1) / PACKED6_REGIONS)

/* A stripe's tile in a region, of `tiles`; `tiles` or more if it has none. Data that repeats must
 * not come together from all regions, so each begins at another tile, by a hash, and goes round. */
TY_FN ty_u32 partitioned_packed6_tile(ty_u32 stripe, ty_u32 region, ty_u32 tiles, ty_u32 key)
{
    const ty_u32 each = tiles / PACKED6_REGIONS;
    const ty_u32 from = (key ^ region * 0x9e3779b9u) * 0x2c1b3c6du;
    ty_u32 at = stripe + TY_MUL_HI(from, each);
    at = at < each ? at : at - each;
    return stripe < each    ? region * each + at
           : stripe == each ? each * PACKED6_REGIONS + region
                            : tiles;
}

/* How many tiles are left of `tiles`, not counting the first `before` of those, but no more than
 * `most`. */
TY_FN ty_u32 partitioned_packed6_left(TY_GLOBAL const ty_u32 *state, ty_u32 tiles, ty_u32 before,
                                      ty_u32 most)
{
    const ty_u32 stripes = state[PACKED6_LISTED] + PARTITIONED_STRIPES(tiles) - state[PACKED6_DONE];
    const ty_u32 left = stripes * PACKED6_REGIONS;
    return left < before ? 0 : left - before < most ? left - before : most;
}

/* Tile i of those that are left; `tiles` or more if a stripe has none there. */
TY_FN ty_u32 partitioned_packed6_left_tile(TY_GLOBAL const ty_u32 *state, ty_u32 i, ty_u32 tiles,
                                           ty_u32 key)
{
    const ty_u32 n = i / PACKED6_REGIONS, region = i % PACKED6_REGIONS;
    const ty_u32 stripe = n < state[PACKED6_LISTED]
                              ? state[PACKED6_LIST + n]
                              : state[PACKED6_DONE] + n - state[PACKED6_LISTED];
    return partitioned_packed6_tile(stripe, region, tiles, key);
}

/* Sorts the tiles that are left of a chunk: at most `most`, from number `before` on. There may be
 * none, so fewer groups are launched than there may be tiles. Where there are more tiles than
 * groups, seven in eight tiles are sorted by groups that take eight each, the others one a group.
 */
TY_KERNEL_DENSE(TY_GROUP_SIZE, TY_DENSE)
split(TY_GLOBAL const ty_u8 *data, ty_u64 offset, TY_GLOBAL const ty_u8 *axis,
      TY_GLOBAL ty_u8 *scratch, ty_u32 stride, ty_u64 lists, ty_u64 sums, ty_u32 partitions,
      ty_u32 shift, ty_u32 key, ty_u64 states, ty_u32 all, ty_u32 before, ty_u32 most TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GRID_TRIGGER();
    const partitioned_sort s =
        partitioned_sort_of(scratch, stride, lists, sums, partitions, shift, key, ty_local);
    TY_GLOBAL const ty_u32 *state = (TY_GLOBAL const ty_u32 *)(scratch + states);
    const ty_u32 tiles = partitioned_packed6_left(state, all, before, most);
    const ty_u32 eights = tiles > TY_GROUPS ? tiles / 64 * 7 : 0;
    const ty_u32 own = TY_GROUP < eights ? 8 : 1;
    const ty_u32 from = TY_GROUP < eights ? TY_GROUP * 8 : eights * 7 + TY_GROUP;
    TY_ROLLED
    for (ty_u32 i = from; i < from + own && i < tiles; i++) {
        ty_u32 tile = partitioned_packed6_left_tile(state, before + i, all, key);
        ty_u32 kept = tile < all ? ~0u : 0;
        tile = kept ? tile : 0;
        partitioned_split_tile(&s, partitioned_loads(data, offset, tile), axis, i, tiles, kept);
        TY_BARRIER();
    }
    TY_GRID_WAIT(); /* also without tiles: what waits for this launch relies on those before it */
}
#else
/* Sorts tile TY_GROUP of the samples from `offset` on. */
TY_KERNEL_DENSE(TY_GROUP_SIZE, TY_DENSE)
split(TY_GLOBAL const ty_u8 *data, ty_u64 offset, TY_GLOBAL const ty_u8 *axis,
      TY_GLOBAL ty_u8 *scratch, ty_u32 stride, ty_u64 lists, ty_u64 sums, ty_u32 partitions,
      ty_u32 shift, ty_u32 key TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GRID_TRIGGER();
    const partitioned_sort s =
        partitioned_sort_of(scratch, stride, lists, sums, partitions, shift, key, ty_local);
    partitioned_split_tile(&s, partitioned_loads(data, offset, TY_GROUP), axis, TY_GROUP, TY_GROUPS,
                           ~0u);
}
#endif

/* Counts the n samples outside the tiles, which hold `inside`: before the first and behind the
 * last. */
TY_KERNEL(TY_GROUP_SIZE)
rest(TY_GLOBAL const ty_u8 *data, ty_u64 offset, TY_GLOBAL const ty_u8 *axis, ty_u64 inside,
     ty_u32 n, TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 i = TY_GROUP * TY_GROUP_SIZE + TY_LID;
    TY_GLOBAL const ty_sample *x = TY_SAMPLES(data, offset);
    if (i < n)
        TY_ADD_GLOBAL(&out[ty_slot_of(x[i < partitioned_head(x) ? i : inside + i], axis)], 1);
    (void)ty_local;
}
/* SPDX-License-Identifier: Apache-2.0 */
