/*
 * order, 8: a sieve before the slices, for few ranks: one reading after which only the keys near
 * the ranks are left, which are then counted and listed as order_slices.cl says.
 *
 * Edges around the ranks are known (order_edges). The keys between the first and the last of them
 * are divided into cells of equal width, and a byte of each cell says what is to be done with its
 * keys. Where a cell has no edge and no rank is sought there, its keys are counted to the gap
 * between two edges that they are in. All others go through the sieve: they are kept.
 *
 *     order_sift_table    the bytes
 *     order_sift_…        the reading
 *     order_sift_end      each rank among the keys that are left, by one group
 *
 * NaN are counted, not kept. So are keys equal to an edge, if many drawn keys are
 * (order_slices_often).
 */

/* Three bits of a 32-bit word are a counter of each gap but the last, so a cell's byte is the first
 * of its gap's bits. The last gap has 31, above all counters: what it has is what others have not.
 * Keys that are kept have negative bytes: the lower bits are an edge that is in the cell, or
 * ORDER_SIFT_NO_EDGE. */
#define ORDER_SIFT_LAST    31
#define ORDER_SIFT_NO_EDGE 127
#define ORDER_SIFT_EVEN    0x071c71c7u /* every other counter */
#define ORDER_SIFT_TILES   3           /* after so many, six bits a counter might not do */

#if defined(__OPENCL_VERSION__)
#define ORDER_SIFT_ONE(t) ((t) < 0 ? 0u : 1u << (t))
#else
#define ORDER_SIFT_ONE(t) __funnelshift_lc(0, 1, (ty_u32)(t)) /* 0 from 32 on */
#endif

/* ---- the cells ---- */

/* A cell is the upper bits of a key's distance from the least. */
typedef struct order_cells {
    order_key low;            /* the least; those before are in the first cell too, */
    ty_u32 drop, shift, most; /* and those further than `most` in the last */
} order_cells;

TY_FN ty_u32 order_cell_of(const order_cells *c, order_key key)
{
    const order_key up = key > c->low ? key : c->low;
#if ORDER_KEY_WORDS == 2
    const order_key far_ = (up - c->low) >> c->drop;
    return (ty_u32)(far_ < c->most ? far_ : c->most) >> c->shift;
#else
    const ty_u32 d = up - c->low;
    return (d < c->most ? d : c->most) >> c->shift;
#endif
}

/* The last key of a cell. */
TY_FN order_key order_cell_end(const order_cells *c, ty_u32 cell)
{
    const ty_u32 below = c->shift + c->drop;
    return cell == c->most >> c->shift || cell >= (ORDER_NAN - c->low) >> below
               ? ORDER_NAN
               : c->low + ((order_key)(cell + 1) << below) - 1;
}

/* Cells for the keys between the edges; one before them and one behind, if there are such keys.
 * An edge of 0 is no end of this, if a rank is sought behind it. */
TY_FN order_cells order_cells_begin(TY_GLOBAL const ty_u64 *state)
{
    TY_GLOBAL const ty_u64 *edges = state + ORDER_EDGE;
    const ty_u32 count = order_edges_real(state);
    const ty_u32 from = count > 1 && !edges[0] && state[ORDER_WANTED + 1] ? 1 : 0;
    const order_key first = count ? (order_key)edges[from] : 0;
    const order_key span = count ? (order_key)edges[count - 1] - first : 0;
    order_cells c = {0, 0, 0, 0};
#if ORDER_KEY_WORDS == 2
    const ty_u32 bits = order_bits(span);
    c.drop = bits > 31 ? bits - 31 : 0;
#endif
    while ((span >> c.drop >> c.shift) + 3 > ORDER_SIFT_CELLS - 1)
        c.shift++;
    const order_key width = (order_key)1 << (c.drop + c.shift);
    c.low = first > width ? first - width : 0;
    const ty_u64 end = ((ty_u64)((first + span - c.low) >> c.drop >> c.shift) + 1) << c.shift;
    c.most = end > 0xffffffffu ? 0xffffffffu : (ty_u32)end;
    return c;
}

/* The byte of a cell, which says what is done with its keys. */
TY_FN ty_i32 order_cell_byte(TY_GLOBAL const ty_u64 *state, const order_cells *c, ty_u32 cell)
{
    TY_GLOBAL const ty_u64 *edges = state + ORDER_EDGE;
    const ty_u32 count = order_edges_real(state), last = (ty_u32)state[ORDER_EDGES] - 1;
    const order_key begin = cell ? order_cell_end(c, cell - 1) + 1 : 0;
    const order_key end = order_cell_end(c, cell);
    ty_u32 edge, gap = 0;
    if (cell > c->most >> c->shift)
        return ORDER_SIFT_LAST; /* no key has it */
    ORDER_BELOW(edges, count, begin, 0, edge);
    if (edge < count && edges[edge] <= end)
        return -128 + (ty_i32)edge;
    if (state[ORDER_WANTED + edge])
        return -128 + ORDER_SIFT_NO_EDGE;
    for (ty_u32 k = 0; k < edge; k++)
        gap += !state[ORDER_WANTED + k];
    return edge == last ? ORDER_SIFT_LAST : 3 * (ty_i32)gap;
}

/* Whether there are not too many edges and gaps, as of quantiles, whose ranks are in pairs. */
TY_FN int order_sift_fits(TY_GLOBAL const ty_u64 *state)
{
    const ty_u32 edges = (ty_u32)state[ORDER_EDGES];
    ty_u32 gaps = 0;
    for (ty_u32 e = 0; e + 1 < edges && e < ORDER_SIFT_EDGES; e++)
        gaps += !state[ORDER_WANTED + e];
    return edges <= ORDER_SIFT_EDGES && gaps <= ORDER_SIFT_GAPS;
}

TY_KERNEL(TY_GROUP_SIZE)
order_sift_table(TY_GLOBAL ty_u64 *state, ty_u64 slices_at TY_LOCAL_ARG)
{
    TY_LOCAL_INIT(void) ty_local;
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    ORDER_BEGIN();
    if (!state[ORDER_N])
        return;
    const int fits = order_sift_fits(state);
    const order_cells c = order_cells_begin(state);
    for (ty_u32 i = TY_GROUP * TY_GROUP_SIZE + TY_LID; fits && i < ORDER_SIFT_CELLS;
         i += TY_GROUPS * TY_GROUP_SIZE)
        ((TY_GLOBAL ty_u8 *)(slices + ORDER_S_TABLE))[i] = (ty_u8)order_cell_byte(state, &c, i);
    if (TY_GROUP || TY_LID)
        return;
    order_slices_set_key(slices, ORDER_S_CELL_LOW, c.low);
    slices[ORDER_S_CELL_DROP] = c.drop;
    slices[ORDER_S_CELL_SHIFT] = c.shift;
    slices[ORDER_S_CELL_MOST] = c.most;
    slices[ORDER_S_FITS] = (ty_u32)fits;
}

/* ---- the reading ---- */

/* Local memory, in words:
 *
 *     0                a byte of each cell
 *     ORDER_SF_EDGE    the edges
 *     ORDER_SF_GAP     a counter of each gap for each lane,
 *     ORDER_SF_EQUAL   and of the keys equal to each edge
 *     ORDER_SF_STAGED  of each crew how many keys it keeps, and where they go
 *     ORDER_SF_LOW     the least key of the cells
 *     ORDER_SF_STAGE   of each crew keys that are kept, on their way
 */

/* A crew: work-items that keep keys together, so that they wait for each other alone. */
#if TY_WARP == 32
#define ORDER_CREW        32
#define ORDER_CREW_MEET() TY_WARP_SYNC()
#else
#define ORDER_CREW        TY_GROUP_SIZE
#define ORDER_CREW_MEET() TY_BARRIER()
#endif
#define ORDER_CREW_EXTRA (ORDER_SIFT_EXTRA / (TY_GROUP_SIZE / ORDER_CREW) / ORDER_KEY_WORDS)

/* The cells, with their least key from local memory: what was worked out by them before is not kept
 * in registers, which are needed for other things. */
TY_FN order_cells order_cells_again(const order_cells *cells, TY_LOCAL const ty_u32 *area)
{
    order_cells c = *cells;
    c.low = *(TY_LOCAL const order_key *)(area + ORDER_SF_LOW);
    return c;
}

/* What a work-item holds. */
typedef struct order_sift {
    order_cells cells;
    order_key often, second; /* edges that many keys are equal to, if `equal` */
    ty_u32 equal;
    ty_u32 even, odd, tiles; /* six bits of each gap with an even and an odd number; their tiles */
    ty_u32 nan, is_often, is_second; /* keys so far */
} order_sift;

TY_FN order_sift order_sift_begin(TY_GLOBAL const ty_u64 *state, TY_GLOBAL const ty_u32 *slices,
                                  TY_LOCAL ty_u32 *area)
{
    TY_LOCAL order_key *edges = (TY_LOCAL order_key *)(area + ORDER_SF_EDGE);
    order_sift s;
    s.cells.low = order_slices_key(slices, ORDER_S_CELL_LOW);
    s.cells.drop = slices[ORDER_S_CELL_DROP];
    s.cells.shift = slices[ORDER_S_CELL_SHIFT];
    s.cells.most = slices[ORDER_S_CELL_MOST];
    s.equal = slices[ORDER_S_EQUAL];
    s.often = (order_key)state[ORDER_EDGE + slices[ORDER_S_OFTEN]];
    s.second = (order_key)state[ORDER_EDGE + slices[ORDER_S_OFTEN + 1]];
    s.even = s.odd = s.tiles = s.nan = s.is_often = s.is_second = 0;
    order_slices_load(slices, ORDER_S_TABLE, ORDER_SIFT_CELLS / 4, area);
    for (ty_u32 i = ORDER_SF_GAP + TY_LID; i < ORDER_SF_LOW; i += TY_GROUP_SIZE)
        area[i] = 0;
    if (TY_LID == 0)
        *(TY_LOCAL order_key *)(area + ORDER_SF_LOW) = s.cells.low;
    for (ty_u32 e = TY_LID; e < ORDER_NEAR_EDGES; e += TY_GROUP_SIZE)
        edges[e] = (order_key)state[ORDER_EDGE + (e < order_edges_real(state) ? e : 0)];
    TY_BARRIER();
    return s;
}

/* The counters go to local memory before they are full. */
TY_FN void order_sift_counts(order_sift *s, TY_LOCAL ty_u32 *area)
{
    const ty_u32 lane = TY_LID % ORDER_SIFT_LANES;
    TY_UNROLL
    for (ty_u32 gap = 0; gap < ORDER_SIFT_GAPS; gap++)
        TY_ADD_LOCAL(&area[ORDER_SF_GAP + gap * ORDER_SIFT_LANES + lane],
                     (gap & 1 ? s->odd : s->even) >> 6 * (gap / 2) & 63);
    s->even = s->odd = s->tiles = 0;
}

/* Adds the counters of at most seven keys to those of six bits. */
TY_FN void order_sift_widen(order_sift *s, ty_u32 sum)
{
    s->even += sum & ORDER_SIFT_EVEN;
    s->odd += sum >> 3 & ORDER_SIFT_EVEN;
}

/* Counts a work-item's keys to the gaps that they are in. Returns those that are kept: a bit of
 * each, the first key's being the upper one. */
TY_FN ty_u32 order_sift_gaps(const order_key *x, order_sift *s, TY_LOCAL const ty_u32 *area)
{
    enum { together = 6 };
    TY_LOCAL const ty_i8 *table = (TY_LOCAL const ty_i8 *)area;
    ty_u32 kept = 0, sum = 0;
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++) {
        const ty_i32 byte = table[order_cell_of(&s->cells, x[j])];
        sum += ORDER_SIFT_ONE(byte);
        kept = kept << 1 | (ty_u32)byte >> 31;
        if (j % together == together - 1 || j == ORDER_EACH - 1) {
            order_sift_widen(s, sum);
            sum = 0;
        }
    }
    return kept;
}

/* The same, but keys equal to an edge are counted too, and left out. An edge is looked up for all
 * keys: only the cells of edges have keys that are equal to one. */
TY_FN ty_u32 order_sift_edges(const order_key *x, order_sift *s, TY_LOCAL ty_u32 *area)
{
    enum { together = 4 };
    TY_LOCAL const ty_i8 *table = (TY_LOCAL const ty_i8 *)area;
    TY_LOCAL const order_key *edges = (TY_LOCAL const order_key *)(area + ORDER_SF_EDGE);
    const ty_u32 mine = TY_LOCAL_ADDRESS(area) + 4 * (ORDER_SF_EQUAL + TY_LID % ORDER_SIFT_LANES);
    const order_cells c = order_cells_again(&s->cells, area);
    ty_u32 kept = 0;
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j += together) {
        ty_u32 edge[together], sum = 0, equal = 0;
        TY_UNROLL
        for (ty_u32 k = 0; k < together; k++) {
            const ty_i32 byte = table[order_cell_of(&c, x[j + k])];
            sum += ORDER_SIFT_ONE(byte);
            kept = kept << 1 | (ty_u32)byte >> 31;
            edge[k] = (ty_u32)byte & (ORDER_NEAR_EDGES - 1);
        }
        order_sift_widen(s, sum);
        TY_UNROLL
        for (ty_u32 k = 0; k < together; k++)
            equal = equal << 1 | (x[j + k] == edges[edge[k]]);
        TY_UNROLL
        for (ty_u32 k = 0; k < together; k++)
            TY_INC_AT_IF(area, mine + 4 * ORDER_SIFT_LANES * edge[k],
                         equal >> (together - 1 - k) & 1);
        kept &= ~equal;
    }
    return kept;
}

/* Of the keys that are kept, those equal to the two edges that most keys are equal to are counted
 * and left out. */
TY_FN ty_u32 order_sift_often(const order_key *x, ty_u32 kept, order_sift *s)
{
    order_key other = 0;
    ty_u32 often = 0, second = 0;
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++)
        other |= x[j] ^ s->often;
    if (!other) {
        s->is_often += ORDER_POPCOUNT(kept);
        return 0;
    }
    TY_UNROLL
    for (ty_u32 j = 0; j < ORDER_EACH; j++) {
        const ty_u32 bit = 1u << (ORDER_EACH - 1 - j);
        if (x[j] == s->often)
            often |= bit;
        if (x[j] == s->second)
            second |= bit;
    }
    often &= kept;
    second &= kept & ~often;
    s->is_often += ORDER_POPCOUNT(often);
    s->is_second += ORDER_POPCOUNT(second);
    return kept & ~(often | second);
}

/* Where the keys of the work-item's crew wait, and how many there are. */
TY_FN TY_LOCAL order_key *order_sift_stage(TY_LOCAL ty_u32 *area)
{
    return (TY_LOCAL order_key *)(area + ORDER_SF_STAGE) +
           TY_LID / ORDER_CREW * (ORDER_CREW * ORDER_EACH + ORDER_CREW_EXTRA);
}

TY_FN TY_LOCAL ty_u32 *order_sift_staged(TY_LOCAL ty_u32 *area)
{
    return area + ORDER_SF_STAGED + TY_LID / ORDER_CREW * 2;
}

/* Writes the keys that a crew keeps if another tile's might not fit, or at the end. */
TY_FN void order_sift_flush(TY_GLOBAL ty_u64 *state, TY_GLOBAL order_key *out, ty_u64 most,
                            int last, TY_LOCAL ty_u32 *area)
{
    TY_LOCAL const order_key *stage = order_sift_stage(area);
    TY_LOCAL ty_u32 *staged = order_sift_staged(area);
    const ty_u32 mine = TY_LID % ORDER_CREW;
    ORDER_CREW_MEET();
    const ty_u32 fill = staged[0];
    ORDER_CREW_MEET();
    if (fill <= ORDER_CREW_EXTRA && !last)
        return;
    if (mine == 0) {
        const ty_u32 before = fill ? TY_ADD_GLOBAL(state + ORDER_KEPT, fill) : 0;
        if (before + fill < before)
            state[ORDER_OVER] = 1;
        staged[1] = before;
        staged[0] = 0;
    }
    ORDER_CREW_MEET();
    const ty_u32 base = staged[1];
    for (ty_u32 k = mine; k < fill; k += ORDER_CREW)
        if ((ty_u64)base + k < most)
            out[(ty_u64)base + k] = stage[k];
    ORDER_CREW_MEET();
}

/* Keys that do not count, and NaN, are taken back from the counters and from those kept. */
TY_FN ty_u32 order_sift_back(const order_key *x, ty_u32 counts, ty_u32 kept, order_sift *s,
                             TY_LOCAL const ty_u32 *area)
{
    TY_LOCAL const ty_i8 *table = (TY_LOCAL const ty_i8 *)area;
    const order_cells c = order_cells_again(&s->cells, area);
    for (ty_u32 j = 0; j < ORDER_EACH; j++) {
        const ty_u32 one = ORDER_SIFT_ONE(table[order_cell_of(&c, x[j])]);
        const int here = counts >> j & 1, is_nan = ORDER_IS_FLOAT && here && x[j] == ORDER_NAN;
        if (here && !is_nan)
            continue;
        s->even -= one & ORDER_SIFT_EVEN;
        s->odd -= one >> 3 & ORDER_SIFT_EVEN;
        s->nan += is_nan;
        kept &= ~(1u << (ORDER_EACH - 1 - j));
    }
    return kept;
}

/* A work-item's keys of a tile: those with a bit in `counts`; `some_nan`: there may be NaN. */
TY_FN void order_sift_keys(const order_key *x, ty_u32 counts, int some_nan, order_sift *s,
                           TY_LOCAL ty_u32 *area)
{
    const int whole = counts == (1u << ORDER_EACH) - 1;
    ty_u32 kept;
    if (s->equal == 2 && whole)
        kept = order_sift_edges(x, s, area);
    else
        kept = order_sift_gaps(x, s, area);
    if (!whole || some_nan)
        kept = order_sift_back(x, counts, kept, s, area);
    if (s->equal == 1 && kept)
        kept = order_sift_often(x, kept, s);
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

/* The group's counts to those of all; what the last gap has is known without. */
TY_FN void order_sift_add(TY_GLOBAL ty_u64 *state, TY_GLOBAL ty_u32 *slices, order_sift *s,
                          TY_LOCAL ty_u32 *area)
{
    const ty_u32 last = (ty_u32)state[ORDER_EDGES] - 1;
    const ty_u32 often = slices[ORDER_S_OFTEN], second = slices[ORDER_S_OFTEN + 1];
    order_sift_counts(s, area);
    if (s->nan)
        TY_ADD_WIDE(state + ORDER_NANS, (ty_u64)s->nan);
    if (s->is_often)
        TY_ADD_LOCAL(&area[ORDER_SF_EQUAL + often * ORDER_SIFT_LANES], s->is_often);
    if (s->is_second)
        TY_ADD_LOCAL(&area[ORDER_SF_EQUAL + second * ORDER_SIFT_LANES], s->is_second);
    TY_BARRIER();
    for (ty_u32 i = TY_LID; i < ORDER_SIFT_GAPS + ORDER_SIFT_EDGES; i += TY_GROUP_SIZE) {
        ty_u32 sum = 0, edge = 0, before = 0;
        for (ty_u32 k = 0; k < ORDER_SIFT_LANES; k++)
            sum += area[ORDER_SF_GAP + i * ORDER_SIFT_LANES + k];
        while (edge < last && (state[ORDER_WANTED + edge] || before++ < i))
            edge++; /* of the i-th gap that is not searched */
        if (sum)
            TY_ADD_WIDE(state + ORDER_CELL +
                            (i < ORDER_SIFT_GAPS ? 2 * edge : 2 * (i - ORDER_SIFT_GAPS) + 1),
                        (ty_u64)sum);
    }
}

#define ORDER_SIFT_TILE(x, counts, some_nan)                                                       \
    do {                                                                                           \
        order_sift_keys(x, counts, some_nan, &s, ty_local);                                        \
        order_sift_flush(state, out, most, 0, ty_local);                                           \
    } while (0)

TY_KERNEL_DENSE(TY_GROUP_SIZE, 4)
order_sift_packed(TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n, TY_GLOBAL ty_u64 *state,
                  ty_u64 slices_at, TY_GLOBAL order_key *out, ty_u64 most TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    ORDER_BEGIN();
    if (!state[ORDER_N] || !slices[ORDER_S_FITS])
        return;
    order_sift s = order_sift_begin(state, slices, ty_local);
    ORDER_READ_PACKED(data, offset, n, order_load_numbers, ORDER_SIFT_TILE);
    order_sift_flush(state, out, most, 1, ty_local);
    order_sift_add(state, slices, &s, ty_local);
}

TY_KERNEL_DENSE(TY_GROUP_SIZE, 4)
order_sift_view(TY_GRID_ARGS(x0), TY_GRID_ARGS(mask), ty_u32 masked, ty_u64 b, ty_u64 columns,
                ty_u64 n, TY_GLOBAL ty_u64 *state, ty_u64 slices_at, TY_GLOBAL order_key *out,
                ty_u64 most TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    ORDER_BEGIN();
    if (!state[ORDER_N] || !slices[ORDER_S_FITS])
        return;
    order_sift s = order_sift_begin(state, slices, ty_local);
    ORDER_READ_VIEW(ORDER_SIFT_TILE);
    order_sift_flush(state, out, most, 1, ty_local);
    order_sift_add(state, slices, &s, ty_local);
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

/* Whether each edge that keys were left out at has a slice of its own. */
TY_FN int order_sifted_apart(TY_LOCAL const order_sifted *s)
{
    ty_u32 before = ~0u;
    int apart = 1;
    for (ty_u32 e = 0; e < ORDER_SIFT_EDGES; e++)
        if (s->equal[e]) {
            apart &= s->slice[e] != before;
            before = s->slice[e];
        }
    return apart;
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

/* `most` keys could be kept. Where there were more, or two edges share a slice, all samples are
 * counted in slices. */
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
    if (kept > most || state[ORDER_OVER] || !order_sifted_apart(s))
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
            order_slices_counts(slices)[s->slice[e]] = s->equal[e];
    TY_WHOLE_BARRIER();
    if (TY_LID == 0) {
        slices[ORDER_S_SIFTED] = 1;
        order_slices_counts(slices)[slices[ORDER_S_SLICES] - 1] += nan;
    }
}
/* SPDX-License-Identifier: Apache-2.0 */
