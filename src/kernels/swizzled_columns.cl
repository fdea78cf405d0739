/*
 * swizzled-columns: coordinates packed side by side, and perhaps a mask beside them, read in whole
 * vectors, four samples of every column at a time, and counted in one scrambled table in local memory
 * as swizzled does it. The table has a cell for every combination of the axes' cells (fast.h), flows among them,
 *
 *      cell = (cell_0 * (bins_1 + 3) + cell_1) * (bins_2 + 3) + …
 *
 * and one more for what is masked out, so that counting is arithmetic without a branch. What flows
 * mean is settled once a group, when the table is written out as slots.
 *
 * A line of `parts` groups counts a histogram: all their work-items together one row; with TY_ROWS
 * rows that may have gaps between them, every 32 work-items a piece of one. Columns that do not all
 * begin a vector at the same sample are read a sample at a time.
 */
#define TY_UNIT 4 /* samples that are read together */
#if TY_ROWS
#define TY_PIECE 4096u
#define TY_TEAM  32u
#else
#define TY_TEAM (parts * TY_GROUP_MAX)
#endif

/* A unit of one column as 32-bit words. */
TY_FN void ty_unit_read(TY_GLOBAL const ty_u8 *p, int size, ty_u32 *w)
{
    if (size == 1) {
        w[0] = *(TY_GLOBAL const ty_u32 *)p;
    } else if (size == 2) {
        uint2 v = *(TY_GLOBAL const uint2 *)p;
        w[0] = v.x;
        w[1] = v.y;
    } else {
        TY_UNROLL
        for (int k = 0; k < size / 4; k++) {
            uint4 v = ((TY_GLOBAL const uint4 *)p)[k];
            w[4 * k] = v.x;
            w[4 * k + 1] = v.y;
            w[4 * k + 2] = v.z;
            w[4 * k + 3] = v.w;
        }
    }
}

/* The bits of its sample j. */
TY_FN ty_u64 ty_unit_bits(const ty_u32 *w, int size, int j)
{
    return size == 1   ? w[0] >> (8 * j) & 0xffu
           : size == 2 ? w[j / 2] >> (16 * (j & 1)) & 0xffffu
           : size == 4 ? w[j]
                       : (ty_u64)w[2 * j] | (ty_u64)w[2 * j + 1] << 32;
}

TY_FN ty_u32 ty_unit_starts(TY_GLOBAL const ty_u8 *p, int size)
{
    return ((ty_u64)p & (ty_u64)(size < 4 ? size * TY_UNIT - 1 : 15)) == 0;
}

/* Cells carry a mark, a multiple of 2^24, which they stay below; the keys take it as they take rows. */
#define TY_HASH(row)  ((row) * ((row)*key + more) >> 27)
#define TY_WORD(mark) (((mark) ^ TY_HASH((mark) >> 5)) & 0xffffffu)

#define TY_SIZE(d)     ty_dtype_size(TY_DTYPE_##d)
#define TY_CELLS_OF(d) (bins##d.bins + TY_CELLS_EXTRA)

/* What is done for each coordinate: its axis taken up; where a piece's column begins; whether a unit
 * may start at its sample h; unit q + k*step read; a sample's cell joined, from a unit or from memory. */
#define TY_TAKE(d)                                                                                 \
    ty_bins bins##d = *(TY_GLOBAL const ty_bins *)list;                                            \
    ty_fast fast##d = *(TY_GLOBAL const ty_fast *)(list + TY_AXIS_FAST);                           \
    TY_GLOBAL const ty_u8 *axis##d = list, *column##d;                                             \
    list = ty_axis_next(list);                                                                     \
    all *= bins##d.bins;                                                                           \
    cells *= TY_CELLS_OF(d);                                                                       \
    mark = mark * TY_CELLS_OF(d) + TY_AXIS_MARK(TY_EVEN_##d);
#define TY_PLACE(d) column##d = TY_GRID_AT(x##d, b, row, at);
#define TY_START(d) starts &= ty_unit_starts(column##d + h * TY_SIZE(d), TY_SIZE(d));
#define TY_HOLD(d)  ty_u32 w##d[TY_AHEAD][8];
#define TY_FETCH(d) ty_unit_read(column##d + i * TY_SIZE(d), TY_SIZE(d), w##d[k]);
#define TY_JOIN_UNIT(d)                                                                            \
    cell = cell * TY_CELLS_OF(d) + ty_axis_mark(ty_unit_bits(w##d[k], TY_SIZE(d), j),              \
                                                TY_DTYPE_##d, TY_EVEN_##d, &bins##d, &fast##d,     \
                                                axis##d);
#define TY_JOIN_ONE(d)                                                                             \
    cell = cell * TY_CELLS_OF(d) + ty_axis_mark(ty_word_at(column##d + i * TY_SIZE(d), TY_SIZE(d)), \
                                                TY_DTYPE_##d, TY_EVEN_##d, &bins##d, &fast##d,     \
                                                axis##d);

/* And behind the counting: how many bins one of this coordinate's spans, which divides a bin's number
 * (right as long as their product is below 2^32); the cell of a bin; the slot of a cell. */
#define TY_TAIL(d)                                                                                 \
    tail /= bins##d.bins;                                                                          \
    ty_u32 tail##d = tail, inverse##d = 0xffffffffu / tail + 1;
#define TY_CELL_OF_BIN(d)                                                                          \
    {                                                                                              \
        ty_u32 bin = tail##d > 1 ? TY_MUL_HI(rest, inverse##d) : rest;                             \
        rest -= bin * tail##d;                                                                     \
        cell = cell * TY_CELLS_OF(d) + bin + 1;                                                    \
    }
#define TY_SLOT_OF_CELL(d)                                                                         \
    {                                                                                              \
        tail /= TY_CELLS_OF(d);                                                                    \
        ty_u32 own = rest / tail;                                                                  \
        rest -= own * tail;                                                                        \
        ty_join(&j, ty_slot_of_cell(own, bins##d.bins), axis##d);                                  \
    }

#define TY_COUNT_CELL(kept)                                                                        \
    do {                                                                                           \
        cell = (kept) ? cell : dustbin;                                                            \
        TY_ADD_LOCAL(&ty_local[TY_WORD(cell)], 1);                                                 \
    } while (0)

/* `ahead` units from unit q on, `step` apart. */
#define TY_COUNT_UNITS(ahead, masked)                                                              \
    do {                                                                                           \
        ty_u32 m[TY_AHEAD];                                                                        \
        TY_DIMENSIONS(TY_HOLD)                                                                     \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < (ahead); k++) {                                                     \
            ty_u64 i = head + (ty_u64)(q + k * step) * TY_UNIT;                                    \
            TY_DIMENSIONS(TY_FETCH)                                                                \
            m[k] = (masked) ? *(TY_GLOBAL const ty_u32 *)(keep + i) : 0;                           \
        }                                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < (ahead); k++) {                                                     \
            TY_UNROLL                                                                              \
            for (int j = 0; j < TY_UNIT; j++) {                                                    \
                ty_u32 cell = 0;                                                                   \
                TY_DIMENSIONS(TY_JOIN_UNIT)                                                        \
                TY_COUNT_CELL(!(masked) || (m[k] >> (8 * j) & 0xffu));                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#define TY_WALK_UNITS(masked)                                                                      \
    do {                                                                                           \
        for (; q + (TY_AHEAD - 1) * step < units; q += TY_AHEAD * step)                            \
            TY_COUNT_UNITS(TY_AHEAD, masked);                                                      \
        for (; q < units; q += step)                                                               \
            TY_COUNT_UNITS(1, masked);                                                             \
    } while (0)

TY_KERNEL_DENSE(TY_GROUP_MAX, TY_DENSE) count(TY_SAMPLES_ARGS ty_i64 channel, TY_GRID_ARGS(mask),
                                              ty_u32 masked, TY_GLOBAL const ty_u8 *axis,
                                              ty_u64 columns, ty_u64 begin, ty_u64 end,
                                              ty_u64 first, ty_u32 actives, ty_u32 parts,
                                              ty_u32 slots, ty_u32 copies, TY_GLOBAL ty_u32 *out,
                                              ty_u32 key TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, more = key * 0x9e3779b9u;
    ty_u32 all = 1, cells = 1, mark = 0, part = TY_GROUP - here * parts;
    ty_u64 b = (first + here) / actives;
    TY_GLOBAL const ty_u8 *list = axis;
    TY_DIMENSIONS(TY_TAKE)
    ty_u32 dustbin = mark + cells;
    for (ty_u32 k = lid; k < ((cells + 32) & ~31u); k += TY_GROUP_MAX)
        ty_local[k] = 0;
    TY_BARRIER();
#if TY_ROWS
    ty_u32 cuts = (ty_u32)((columns + TY_PIECE - 1) / TY_PIECE), me = lid & 31;
    ty_u32 pieces = (ty_u32)(end / columns) * cuts, piece = (lid >> 5) * parts + part;
    for (; piece < pieces; piece += parts * (TY_GROUP_MAX / 32)) {
        ty_u32 row = piece / cuts;
        ty_u64 at = (ty_u64)(piece - row * cuts) * TY_PIECE;
        ty_u64 n = columns - at < TY_PIECE ? columns - at : TY_PIECE;
#else
    {
        ty_u32 row = 0, me = part * TY_GROUP_MAX + lid;
        ty_u64 at = begin, n = end - begin;
#endif
        ty_u32 step = TY_TEAM, head = 0, starts = 0;
        TY_GLOBAL const ty_u8 *keep = TY_GRID_AT(mask, b, row, at);
        TY_DIMENSIONS(TY_PLACE)
        for (ty_u32 h = 0; h < TY_UNIT && !starts; h++) {
            starts = !masked || ty_unit_starts(keep + h, 1);
            TY_DIMENSIONS(TY_START)
            head = h;
        }
        starts = starts && head < n;
        ty_u32 units = starts ? (ty_u32)((n - head) / TY_UNIT) : 0, q = me;
        if (masked)
            TY_WALK_UNITS(1);
        else
            TY_WALK_UNITS(0);
        /* Samples that are in no unit. */
        head = units ? head : 0;
        for (q = me; q < n - (ty_u64)units * TY_UNIT; q += step) {
            ty_u64 i = q < head ? q : q + (ty_u64)units * TY_UNIT;
            ty_u32 cell = 0;
            TY_DIMENSIONS(TY_JOIN_ONE)
            TY_COUNT_CELL(!masked || keep[i]);
        }
    }
    TY_BARRIER();
    /* Cells that are bins are written, and cleared: what is left in the table is outside some axis. */
    ty_u32 tail = all;
    TY_DIMENSIONS(TY_TAIL)
    out += (ty_u64)TY_GROUP * slots;
    for (ty_u32 s = lid; s < slots; s += TY_GROUP_MAX) {
        ty_u32 rest = s, cell = 0, sum = 0;
        TY_DIMENSIONS(TY_CELL_OF_BIN)
        if (s < all) {
            sum = ty_local[TY_WORD(cell + mark)];
            ty_local[TY_WORD(cell + mark)] = 0;
        } else if (s == all + TY_SLOT_MASKED) {
            sum = ty_local[TY_WORD(dustbin)];
        }
        out[s] = sum;
    }
    TY_GLOBAL_BARRIER();
    TY_BARRIER();
    for (ty_u32 c = lid; c < cells; c += TY_GROUP_MAX) {
        ty_u32 sum = ty_local[TY_WORD(c + mark)], rest = c;
        if (sum) {
            ty_joint j = {0, 0, 0, 0};
            tail = cells;
            TY_DIMENSIONS(TY_SLOT_OF_CELL)
            TY_ADD_GLOBAL(&out[TY_DIMS == 1 ? ty_slot_of_cell(c, all) : ty_joint_slot(j, all)], sum);
        }
    }
    (void)channel;
    (void)columns;
    (void)copies;
}
