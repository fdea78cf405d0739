/*
 * order, 9: cells of samples for a sieve (order_sift.cl).
 *
 * Edges around the ranks are known (order_edges). What is between the first and the last of them is
 * divided into cells of equal width, and a byte of each cell says what is to be done with its
 * samples. Where a cell has no edge and no rank is sought there, they are counted to the gap
 * between two edges that they are in. All others are kept.
 *
 * Cells are of equal width in values, as floats are found in them fastest; or in keys: for other
 * types, and where drawn keys say that far fewer samples are kept so, as of values from 1e-30 to
 * 1e30.
 */

/* Three bits of a 32-bit word are a counter of each gap but the last, so a cell's byte is the first
 * of its gap's bits. The last gap has 31, above all counters: what it has is what others have not.
 * Where samples are kept it is negative: the lower bits are an edge that is in the cell, or
 * ORDER_SIFT_NO_EDGE. */
#define ORDER_SIFT_LAST    31
#define ORDER_SIFT_NO_EDGE 127
#define ORDER_SIFT_TRIED   512 /* drawn keys by which the kind of cells is chosen */

/* Cells for what is between the edges. An edge of 0 is no end of this by keys, if a rank is sought
 * behind it, and no number. */
TY_FN order_cells order_cells_between(TY_GLOBAL const ty_u64 *state)
{
    TY_GLOBAL const ty_u64 *edges = state + ORDER_EDGE;
    const ty_u32 count = order_edges_real(state);
    const ty_u32 zero = count && !edges[0];
    const ty_u32 from = zero && count > 1 && state[ORDER_WANTED + 1] ? 1 : 0;
    const order_key first = count ? (order_key)edges[from] : 0;
    const order_key last = count ? (order_key)edges[count - 1] : 0;
    order_cells c;
    order_cells_of_keys(&c, ORDER_SIFT_CELLS, first, last - first);
    c.values.origin = c.values.per = 0;
    if (zero < count)
        c.values = order_values_of(ORDER_VALUE(order_held_of((order_key)edges[zero])),
                                   ORDER_VALUE(order_held_of(last)));
    return c;
}

/* In local memory: of edges the cell of each, by keys and by values, whether the gap before is
 * searched, and the byte of what is there; how many of the drawn keys that are tried are kept; how
 * many drawn keys are below each edge, and how many with those equal to it, and all numbers. */
typedef struct order_edge_cells {
    ty_u32 cell[2][ORDER_SIFT_EDGES];
    ty_u32 wanted[ORDER_SIFT_EDGES + 1];
    ty_i32 gap[ORDER_SIFT_EDGES + 1];
    ty_u32 kept[2];
    ty_u32 below[2 * ORDER_SIFT_EDGES + 1];
} order_edge_cells;

/* The gaps whose samples are counted, before an edge. */
TY_FN ty_u32 order_sift_counted(TY_LOCAL const order_edge_cells *of, ty_u32 edge)
{
    ty_u32 gaps = 0;
    for (ty_u32 e = 0; e < edge; e++)
        gaps += !of->wanted[e];
    return gaps;
}

TY_FN void order_edge_cells_begin(TY_GLOBAL const ty_u64 *state, const order_cells *c,
                                  TY_LOCAL order_edge_cells *of)
{
    const ty_u32 count = order_edges_real(state), last = (ty_u32)state[ORDER_EDGES] - 1;
    for (ty_u32 e = TY_LID; e <= count; e += TY_GROUP_SIZE) {
        const order_key edge = (order_key)state[ORDER_EDGE + e], held = order_held_of(edge);
        of->wanted[e] = (ty_u32)state[ORDER_WANTED + e];
        if (e == count)
            continue;
        of->cell[0][e] = order_cell_of(c, 0, ORDER_SIFT_CELLS, held);
        of->cell[1][e] = edge ? order_cell_of(c, ORDER_HAS_VALUES, ORDER_SIFT_CELLS, held) : 0;
    }
    if (TY_LID < 2)
        of->kept[TY_LID] = 0;
    TY_BARRIER();
    for (ty_u32 e = TY_LID; e <= count; e += TY_GROUP_SIZE)
        of->gap[e] = of->wanted[e] ? ORDER_SIFT_NO_EDGE - 128
                     : e >= last   ? ORDER_SIFT_LAST
                                   : 3 * (ty_i32)order_sift_counted(of, e);
    TY_BARRIER();
}

/* The byte of a cell, which says what is done with its samples. */
TY_FN ty_i32 order_cell_byte(TY_LOCAL const order_edge_cells *of, ty_u32 count, ty_u32 by_value,
                             ty_u32 cell)
{
    ty_u32 edge = 0;
    while (edge < count && of->cell[by_value][edge] < cell)
        edge++;
    return edge < count && of->cell[by_value][edge] == cell ? (ty_i32)edge - 128 : of->gap[edge];
}

/* Whether cells are by values: whether of drawn keys about as few are kept so as by keys. */
TY_FN void order_cells_choose(TY_GLOBAL const order_key *keys, ty_u32 count, ty_u32 edges,
                              const order_cells *c, TY_GLOBAL ty_u32 *slices,
                              TY_LOCAL order_edge_cells *of)
{
    ty_u32 kept[2] = {0, 0};
    for (ty_u32 i = TY_LID; i < ORDER_SIFT_TRIED; i += TY_GROUP_SIZE) {
        const order_key held = order_held_of(keys[(ty_u64)i * count / ORDER_SIFT_TRIED]);
        kept[0] += order_cell_byte(of, edges, 0, order_cell_of(c, 0, ORDER_SIFT_CELLS, held)) < 0;
        kept[1] += order_cell_byte(of, edges, 1,
                                   order_cell_of(c, ORDER_HAS_VALUES, ORDER_SIFT_CELLS, held)) < 0;
    }
    TY_ADD_LOCAL(&of->kept[0], kept[0]);
    TY_ADD_LOCAL(&of->kept[1], kept[1]);
    TY_BARRIER();
    if (TY_GROUP == 0 && TY_LID == 0)
        slices[ORDER_S_BY_VALUE] =
            c->values.per != 0 && of->kept[1] <= of->kept[0] + ORDER_SIFT_TRIED / 64;
}

/* Which edges many drawn keys are equal to: the two that most are, and whether samples equal to
 * edges are left out of those that are kept (1), of these two before others (2), which takes two
 * counters that gaps have not. */
TY_FN void order_cells_often(TY_GLOBAL const ty_u64 *state, TY_GLOBAL const order_key *keys,
                             ty_u32 count, ty_u32 edges, TY_GLOBAL ty_u32 *slices,
                             TY_LOCAL order_edge_cells *of)
{
    TY_LOCAL const ty_u32 *below = of->below;
    const ty_u32 last = (ty_u32)state[ORDER_EDGES] - 1;
    ty_u32 first = 0, second, all = 0, most[2] = {0, 0};
    for (ty_u32 i = TY_LID; i <= 2 * edges; i += TY_GROUP_SIZE) {
        const order_key edge = i < 2 * edges ? (order_key)state[ORDER_EDGE + i / 2] : ORDER_NAN;
        ORDER_BELOW(keys, count, edge, i & 1, of->below[i]);
    }
    TY_BARRIER();
    for (ty_u32 e = 0; e < edges; e++) {
        const ty_u32 equal = below[2 * e + 1] - below[2 * e];
        all += equal;
        if (equal > most[0])
            most[0] = equal, first = e;
    }
    second = first;
    for (ty_u32 e = 0; e < edges && order_sift_counted(of, last) <= ORDER_SIFT_SECOND; e++) {
        const ty_u32 equal = below[2 * e + 1] - below[2 * e];
        if (e != first && (second == first || equal > most[1]))
            most[1] = equal, second = e;
    }
    if (TY_GROUP == 0 && TY_LID == 0) {
        slices[ORDER_S_EQUAL] =
            most[0] > below[2 * edges] / 8 ? 2 : all > below[2 * edges] / 64 + 3 * edges;
        slices[ORDER_S_OFTEN] = first;
        slices[ORDER_S_OFTEN + 1] = second;
    }
}

/* `count` drawn keys, ascending, from `from` on. */
TY_KERNEL(TY_GROUP_SIZE)
order_sift_table(TY_GLOBAL ty_u64 *state, ty_u64 slices_at, TY_GLOBAL const order_key *drawn_keys,
                 ty_u64 from, ty_u32 count TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GLOBAL ty_u32 *slices = (TY_GLOBAL ty_u32 *)(state + slices_at);
    TY_GLOBAL ty_u8 *table = (TY_GLOBAL ty_u8 *)(slices + ORDER_S_TABLE);
    TY_LOCAL order_edge_cells *of = (TY_LOCAL order_edge_cells *)ty_local;
    ORDER_BEGIN();
    const ty_u32 edges = order_edges_real(state), last = (ty_u32)state[ORDER_EDGES] - 1;
    if (!state[ORDER_N])
        return;
    ty_u32 fits = last < ORDER_SIFT_EDGES;
    if (fits) {
        const order_cells c = order_cells_between(state);
        order_edge_cells_begin(state, &c, of);
        fits = order_sift_counted(of, last) <= ORDER_SIFT_GAPS;
        for (ty_u32 i = TY_GROUP * TY_GROUP_SIZE + TY_LID; i < 2 * ORDER_SIFT_CELLS;
             i += TY_GROUPS * TY_GROUP_SIZE)
            table[i] =
                (ty_u8)order_cell_byte(of, edges, i / ORDER_SIFT_CELLS, i % ORDER_SIFT_CELLS);
        order_cells_choose(drawn_keys + from, count, edges, &c, slices, of);
        order_cells_often(state, drawn_keys + from, count, edges, slices, of);
        if (TY_GROUP == 0 && TY_LID == 0)
            order_cells_store(slices + ORDER_S_CELLS, &c);
    }
    if (TY_GROUP == 0 && TY_LID == 0)
        slices[ORDER_S_FITS] = fits;
}
/* SPDX-License-Identifier: Apache-2.0 */
