/*
 * order, 10: a sieve before the slices, for few ranks: one reading after which only the keys near
 * the ranks are left, which are then counted and listed as order_slices.cl says.
 *
 * A sample's cell (order_cells.cl) says what is done with it: it is counted to the gap between two
 * edges, or goes through the sieve: it is kept, as a key.
 *
 *     order_sift_table    what is done, for each cell (order_cells.cl)
 *     order_sift_…        the reading
 *     order_sift_end      each rank among the keys that are left, by one group
 *
 * NaN are counted, not kept. So are samples equal to an edge, if many drawn keys are
 * (order_cells_often).
 */
#define ORDER_SIFT_EVEN  0x071c71c7u /* every other counter */
#define ORDER_SIFT_TILES 3           /* after so many, six bits a counter might not do */

#if defined(__OPENCL_VERSION__)
#define ORDER_SIFT_ONE(t) ((t) < 0 ? 0u : 1u << (t))
#else
#define ORDER_SIFT_ONE(t) __funnelshift_lc(0, 1, (ty_u32)(t)) /* 0 from 32 on */
#endif

/* ---- the reading ---- */

/* It runs beside the kernel before, order_slices_map, which takes one group and makes what is
 * needed behind: it waits for that at its end, for all behind wait for this. What it needs itself
 * was done when that began. */

/* Local memory, in words:
 *
 *     0                a byte of each cell
 *     ORDER_SF_EDGE    the edges, as samples are held
 *     ORDER_SF_GAP     the counters, for each lane,
 *     ORDER_SF_EQUAL   and of the samples equal to each edge
 *     ORDER_SF_STAGED  of each crew how many samples it keeps, how many of these are left, and
 *                      where they go
 *     ORDER_SF_STAGE   of each crew samples that are kept, on their way
 */

/* A crew: work-items that keep samples together, so that they wait for each other alone. */
#if TY_WARP == 32
#define ORDER_CREW        32
#define ORDER_CREW_MEET() TY_WARP_SYNC()
#else
#define ORDER_CREW        TY_GROUP_SIZE
#define ORDER_CREW_MEET() TY_BARRIER()
#endif
#define ORDER_CREW_EXTRA (ORDER_CREW * 8 / ORDER_KEY_WORDS) /* besides a tile's */

/* What a work-item holds. */
typedef struct order_sift {
    order_cells cells;
    order_key often, second; /* edges that most samples are equal to, if `equal` is 2 */
    ty_u32 equal;
    int by_value;
    ty_u32 even, odd; /* six bits of each counter with an even and an odd number, */
    ty_u32 tiles;     /* of so many tiles */
    ty_u32 nan;
} order_sift;

TY_FN order_sift order_sift_begin(TY_GLOBAL const ty_u64 *state, TY_GLOBAL const ty_u32 *slices,
                                  TY_LOCAL ty_u32 *area)
{
    TY_LOCAL order_key *edges = (TY_LOCAL order_key *)(area + ORDER_SF_EDGE);
    TY_GLOBAL const ty_u64 *from = state + ORDER_EDGE;
    order_sift s;
    s.cells = order_cells_load(slices + ORDER_S_CELLS);
    s.by_value = ORDER_HAS_VALUES && slices[ORDER_S_BY_VALUE];
    s.equal = slices[ORDER_S_EQUAL];
    s.often = order_held_of((order_key)from[slices[ORDER_S_OFTEN]]);
    s.second = order_held_of((order_key)from[slices[ORDER_S_OFTEN + 1]]);
    s.even = s.odd = s.tiles = s.nan = 0;
    order_slices_load(slices, ORDER_S_TABLE + (s.by_value ? ORDER_SIFT_CELLS / 4 : 0),
                      ORDER_SIFT_CELLS / 4, area);
    for (ty_u32 i = ORDER_SF_GAP + TY_LID; i < ORDER_SF_STAGE; i += TY_GROUP_SIZE)
        area[i] = 0;
    for (ty_u32 e = TY_LID; e < ORDER_NEAR_EDGES; e += TY_GROUP_SIZE)
        edges[e] = order_held_of((order_key)from[e < order_edges_real(state) ? e : 0]);
    TY_BARRIER();
    return s;
}

/* The counters go to local memory before they are full. */
TY_FN void order_sift_counts(order_sift *s, TY_LOCAL ty_u32 *area)
{
    const ty_u32 lane = TY_LID % ORDER_SIFT_LANES;
    TY_UNROLL
    for (ty_u32 field = 0; field < ORDER_SIFT_FIELDS; field++)
        TY_ADD_LOCAL(&area[ORDER_SF_GAP + field * ORDER_SIFT_LANES + lane],
                     (field & 1 ? s->odd : s->even) >> 6 * (field / 2) & 63);
    s->even = s->odd = s->tiles = 0;
}

/* Adds the counters of at most seven samples to those of six bits. */
TY_FN void order_sift_widen(order_sift *s, ty_u32 sum)
{
    s->even += sum & ORDER_SIFT_EVEN;
    s->odd += sum >> 3 & ORDER_SIFT_EVEN;
}

/* What is done with a sample; `two`: the two edges that most are equal to have counters. */
TY_FN ty_i32 order_sift_byte(const order_sift *s, const int by_value, const int two, order_key x,
                             TY_LOCAL const ty_u32 *area)
{
    ty_i32 byte =
        ((TY_LOCAL const ty_i8 *)area)[order_cell_of(&s->cells, by_value, ORDER_SIFT_CELLS, x)];
    if (two) {
        byte = x == s->second ? 3 * ORDER_SIFT_SECOND : byte;
        byte = x == s->often ? 3 * ORDER_SIFT_OFTEN : byte;
    }
    return byte;
}

/* Counts a work-item's samples. Returns those that are kept: a bit of each, the first one's being
 * the upper one. */
TY_FN ty_u32 order_sift_count(const order_key *x, order_sift *s, const int by_value, const int two,
                              TY_LOCAL const ty_u32 *area)
{
    enum { together = 6 };
    ty_u32 kept = 0, sum = 0;
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++) {
        const ty_i32 byte = order_sift_byte(s, by_value, two, x[j], area);
        sum += ORDER_SIFT_ONE(byte);
        kept = kept << 1 | (ty_u32)byte >> 31;
        if (j % together == together - 1 || j == ORDER_EACH - 1) {
            order_sift_widen(s, sum);
            sum = 0;
        }
    }
    return kept;
}

/* Samples that do not count, and NaN, are taken back from the counters and from those kept. */
TY_FN ty_u32 order_sift_back(const order_key *x, ty_u32 counts, ty_u32 kept, order_sift *s,
                             TY_LOCAL const ty_u32 *area)
{
    for (ty_u32 j = 0; j < ORDER_EACH; j++) {
        const ty_u32 one =
            ORDER_SIFT_ONE(order_sift_byte(s, s->by_value, s->equal == 2, x[j], area));
        const int here = counts >> j & 1, is_nan = here && order_held_is_nan(x[j]);
        if (here && !is_nan)
            continue;
        s->even -= one & ORDER_SIFT_EVEN;
        s->odd -= one >> 3 & ORDER_SIFT_EVEN;
        s->nan += is_nan;
        kept &= ~(1u << (ORDER_EACH - 1 - j));
    }
    return kept;
}

/* Where the samples of the work-item's crew wait, and what is known of them. */
TY_FN TY_LOCAL order_key *order_sift_stage(TY_LOCAL ty_u32 *area)
{
    return (TY_LOCAL order_key *)(area + ORDER_SF_STAGE) +
           TY_LID / ORDER_CREW * (ORDER_CREW * ORDER_EACH + ORDER_CREW_EXTRA);
}

TY_FN TY_LOCAL ty_u32 *order_sift_staged(TY_LOCAL ty_u32 *area)
{
    return area + ORDER_SF_STAGED + TY_LID / ORDER_CREW * 4;
}

/* Of the work-item's share of `fill` staged samples those equal to an edge are counted; returns
 * them, a bit of each. Such an edge is the one that the cell's byte names. */
TY_FN ty_u32 order_sift_equal(const order_sift *s, TY_LOCAL const order_key *stage, ty_u32 fill,
                              TY_LOCAL ty_u32 *area)
{
    TY_LOCAL const order_key *edges = (TY_LOCAL const order_key *)(area + ORDER_SF_EDGE);
    ty_u32 equal = 0, bit = 1;
    for (ty_u32 k = TY_LID % ORDER_CREW; k < fill; k += ORDER_CREW, bit *= 2) {
        const ty_i32 byte = order_sift_byte(s, s->by_value, 0, stage[k], area);
        const ty_u32 edge = (ty_u32)byte & (ORDER_NEAR_EDGES - 1);
        if (stage[k] != edges[edge])
            continue;
        equal |= bit;
        TY_ADD_LOCAL(&area[ORDER_SF_EQUAL + edge * ORDER_SIFT_LANES + TY_LID % ORDER_SIFT_LANES],
                     1);
    }
    return equal;
}

/* Writes the samples that a crew keeps, as keys, if another tile's might not fit, or at the end. */
TY_FN void order_sift_flush(TY_GLOBAL ty_u64 *state, const order_sift *s, TY_GLOBAL order_key *out,
                            ty_u64 most, int last, TY_LOCAL ty_u32 *area)
{
    TY_LOCAL const order_key *stage = order_sift_stage(area);
    TY_LOCAL ty_u32 *staged = order_sift_staged(area);
    const ty_u32 mine = TY_LID % ORDER_CREW;
    ORDER_CREW_MEET();
    const ty_u32 fill = staged[0];
    ORDER_CREW_MEET();
    if (fill <= ORDER_CREW_EXTRA && !last)
        return;
    const ty_u32 equal = s->equal ? order_sift_equal(s, stage, fill, area) : 0;
    const ty_u32 share = fill > mine ? (fill - mine - 1) / ORDER_CREW + 1 : 0;
    ty_u32 at = TY_ADD_LOCAL(&staged[1], share - ORDER_POPCOUNT(equal)), step = 1;
    ORDER_CREW_MEET();
    if (mine == 0) {
        const ty_u32 all = staged[1], before = all ? TY_ADD_GLOBAL(state + ORDER_KEPT, all) : 0;
        if (before + all < before)
            state[ORDER_OVER] = 1;
        staged[2] = before;
        staged[0] = staged[1] = 0;
    }
    ORDER_CREW_MEET();
    const ty_u64 base = staged[2];
    if (!s->equal)
        at = mine, step = ORDER_CREW;
    for (ty_u32 i = 0; i < share; i++) {
        if (equal >> i & 1)
            continue;
        if (base + at < most)
            out[base + at] = order_key_of_held(stage[mine + i * ORDER_CREW]);
        at += step;
    }
    ORDER_CREW_MEET();
}

/* A work-item's samples of a tile: those with a bit in `counts`; `some_nan`: there may be NaN. */
TY_FN void order_sift_tile(const order_key *x, ty_u32 counts, int some_nan, order_sift *s,
                           TY_LOCAL ty_u32 *area)
{
    ty_u32 kept;
    if (ORDER_HAS_VALUES && s->by_value)
        kept = s->equal == 2 ? order_sift_count(x, s, ORDER_HAS_VALUES, 1, area)
                             : order_sift_count(x, s, ORDER_HAS_VALUES, 0, area);
    else
        kept =
            s->equal == 2 ? order_sift_count(x, s, 0, 1, area) : order_sift_count(x, s, 0, 0, area);
    if (counts != (1u << ORDER_EACH) - 1 || some_nan)
        kept = order_sift_back(x, counts, kept, s, area);
    if (kept) {
        TY_LOCAL order_key *to =
            order_sift_stage(area) + TY_ADD_LOCAL(order_sift_staged(area), ORDER_POPCOUNT(kept));
        TY_UNROLL
        for (ty_u32 j = 0; j < ORDER_EACH; j++)
            if (kept >> (ORDER_EACH - 1 - j) & 1)
                *to++ = x[j];
    }
    if (++s->tiles == ORDER_SIFT_TILES)
        order_sift_counts(s, area);
}

/* Where the count of a field goes: of a gap, or of the samples equal to an edge. */
TY_FN ty_u32 order_sift_place(TY_GLOBAL const ty_u64 *state, TY_GLOBAL const ty_u32 *slices,
                              ty_u32 equal, ty_u32 field)
{
    const ty_u32 last = (ty_u32)state[ORDER_EDGES] - 1;
    const ty_u32 often = slices[ORDER_S_OFTEN], second = slices[ORDER_S_OFTEN + 1];
    ty_u32 edge = 0, before = 0;
    if (equal == 2 && field == ORDER_SIFT_OFTEN)
        return 2 * often + 1;
    if (equal == 2 && field == ORDER_SIFT_SECOND && second != often)
        return 2 * second + 1;
    while (edge < last && (state[ORDER_WANTED + edge] || before++ < field))
        edge++;
    return 2 * edge;
}

/* The group's counts to those of all; what the last gap has is known without. */
TY_FN void order_sift_add(TY_GLOBAL ty_u64 *state, TY_GLOBAL ty_u32 *slices, order_sift *s,
                          TY_LOCAL ty_u32 *area)
{
    order_sift_counts(s, area);
    if (s->nan)
        TY_ADD_WIDE(state + ORDER_NANS, (ty_u64)s->nan);
    TY_BARRIER();
    for (ty_u32 i = TY_LID; i < ORDER_SIFT_FIELDS + ORDER_SIFT_EDGES; i += TY_GROUP_SIZE) {
        const int is_edge = i >= ORDER_SIFT_FIELDS;
        ty_u32 sum = 0;
        for (ty_u32 k = 0; k < ORDER_SIFT_LANES; k++)
            sum += area[ORDER_SF_GAP + i * ORDER_SIFT_LANES + k];
        if (sum)
            TY_ADD_WIDE(state + ORDER_CELL +
                            (is_edge ? 2 * (i - ORDER_SIFT_FIELDS) + 1
                                     : order_sift_place(state, slices, s->equal, i)),
                        (ty_u64)sum);
    }
}

#define ORDER_SIFT_TILE(x, counts, some_nan)                                                       \
    do {                                                                                           \
        order_sift_tile(x, counts, some_nan, &s, ty_local);                                        \
        order_sift_flush(state, &s, out, most, 0, ty_local);                                       \
    } while (0)

TY_KERNEL_DENSE(TY_GROUP_SIZE, 4)
order_sift_packed(TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n, TY_GLOBAL ty_u64 *state,
                  ty_u64 slices_at, TY_GLOBAL order_key *out, ty_u64 most TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    TY_GRID_TRIGGER();
    if (state[ORDER_N] && slices[ORDER_S_FITS]) {
        order_sift s = order_sift_begin(state, slices, ty_local);
        ORDER_READ_PACKED(data, offset, n, order_load_held, order_held, ORDER_SIFT_TILE);
        order_sift_flush(state, &s, out, most, 1, ty_local);
        order_sift_add(state, slices, &s, ty_local);
    }
    TY_GRID_WAIT();
}

TY_KERNEL_DENSE(TY_GROUP_SIZE, 4)
order_sift_view(TY_GRID_ARGS(x0), TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 b, ty_u64 columns,
                ty_u64 n, TY_GLOBAL ty_u64 *state, ty_u64 slices_at, TY_GLOBAL order_key *out,
                ty_u64 most TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    TY_GRID_TRIGGER();
    if (state[ORDER_N] && slices[ORDER_S_FITS]) {
        order_sift s = order_sift_begin(state, slices, ty_local);
        ORDER_READ_VIEW(order_held, ORDER_SIFT_TILE);
        order_sift_flush(state, &s, out, most, 1, ty_local);
        order_sift_add(state, slices, &s, ty_local);
    }
    TY_GRID_WAIT();
}

/* ---- after it ---- */

/* Local memory: of each edge its key, the keys in the gap before, and those equal to it that were
 * left out; and the slice of these. */
typedef struct order_sifted {
    ty_u64 edge[ORDER_SIFT_EDGES], gap[ORDER_SIFT_EDGES], equal[ORDER_SIFT_EDGES];
    ty_u32 slice[ORDER_SIFT_EDGES];
} order_sifted;

TY_FN void order_sifted_begin(TY_GLOBAL const ty_u64 *state, TY_GLOBAL ty_u32 *slices,
                              TY_LOCAL order_sifted *s)
{
    TY_GLOBAL const uint2 *buckets = (TY_GLOBAL const uint2 *)(slices + ORDER_S_BUCKET);
    const ty_u32 edges = (ty_u32)state[ORDER_EDGES];
    const order_map m = order_map_of(slices);
    for (ty_u32 e = TY_LID; e < ORDER_SIFT_EDGES; e += TY_GROUP_SIZE) {
        ty_u32 slice = ~0u;
        s->edge[e] = state[ORDER_EDGE + e];
        s->gap[e] = e < edges ? state[ORDER_CELL + 2 * e] : 0;
        s->equal[e] = e < edges ? state[ORDER_CELL + 2 * e + 1] : 0;
        if (s->equal[e])
            ORDER_MAP(&m, buckets, (order_key)s->edge[e], slice);
        s->slice[e] = slices[ORDER_S_EDGE + e] = slice;
    }
    TY_BARRIER();
}

/* A rank among the keys that are left: less those in gaps that are before its edges. If it is none
 * of them, it is lost. */
TY_FN void order_sifted_rank(TY_GLOBAL ty_u64 *state, TY_LOCAL const order_sifted *s, ty_u32 r,
                             ty_u64 left)
{
    const ty_u64 from = state[ORDER_FROM + r], rank = state[ORDER_RANK + r];
    ty_u64 before = 0;
    for (ty_u32 e = 0; e < ORDER_SIFT_EDGES; e++)
        before += s->edge[e] <= from ? s->gap[e] : 0;
    if (rank - before < left)
        state[ORDER_RANK + r] = rank - before;
    else
        state[ORDER_WHAT + r] = state[ORDER_FAILED] = ORDER_LOST;
}

/* `most` keys could be kept. Where there were more, all samples are counted in slices. */
TY_KERNEL(TY_GROUP_SIZE)
order_sift_end(TY_GLOBAL ty_u64 *state, ty_u64 slices_at, ty_u64 most, ty_u32 ranks TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    TY_LOCAL order_sifted *s = (TY_LOCAL order_sifted *)ty_local;
    ORDER_BEGIN();
    if (!state[ORDER_N] || !slices[ORDER_S_FITS])
        return;
    const ty_u64 kept = state[ORDER_KEPT], nan = state[ORDER_NANS];
    order_sifted_begin(state, slices, s);
    if (kept > most || state[ORDER_OVER])
        return;
    ty_u64 left = kept + nan, gaps = 0;
    for (ty_u32 e = 0; e < ORDER_SIFT_EDGES; e++) {
        left += s->equal[e];
        gaps += s->gap[e];
    }
    TY_BARRIER();
    if (TY_LID == 0)
        s->gap[state[ORDER_EDGES] - 1] = state[ORDER_COUNT] - left - gaps;
    TY_BARRIER();
    for (ty_u32 r = TY_LID; r < ranks; r += TY_GROUP_SIZE)
        if (state[ORDER_WHAT + r] == ORDER_SOUGHT)
            order_sifted_rank(state, s, r, left);
    for (ty_u32 e = TY_LID; e < ORDER_SIFT_EDGES; e += TY_GROUP_SIZE)
        if (s->equal[e])
            TY_ADD_WIDE(order_slices_counts(slices) + s->slice[e], s->equal[e]);
    TY_WHOLE_BARRIER();
    if (TY_LID == 0) {
        slices[ORDER_S_SIFTED] = 1;
        order_slices_counts(slices)[slices[ORDER_S_SLICES] - 1] += nan;
    }
}
/* SPDX-License-Identifier: Apache-2.0 */
