/*
 * swizzled-columns: packed columns, and perhaps a mask beside them, read four samples at a time
 * (columns.h) and counted in one scrambled table in local memory as swizzled does it. The table has
 * a word for every cell and one more for what is masked out, so that counting is arithmetic without
 * a branch. What flows mean is settled once a group, when the table is written out as slots.
 *
 * A line of `parts` groups counts a histogram: all their work-items together one row; with TY_ROWS
 * rows that may have gaps between them, 32 work-items a piece of one, or fewer a short one. Columns
 * that do not all begin a vector at the same sample are read a sample at a time.
 *
 * Local memory, in words:
 *
 *     0  cells + 1, in whole rows of 32   a word for every cell, moved in its row by the hash of
 *                                         swizzled.cl; the last cell is what is masked out
 */
#define TY_PIECE 4096u
#if TY_ROWS
#define TY_INDEX ty_u32 /* of a sample in a piece, or in a column */
#else
#define TY_INDEX ty_u64
#endif

/* Cells stay below 2^24, what their biases are multiples of; the keys take it as they take rows. */
#define TY_HASH(row)    ((row) * ((row)*key + more) >> 27)
#define TY_WORD(biased) (((biased) ^ TY_HASH((biased) >> 5)) & 0xffffffu)

/* And behind the counting: how many bins one of this coordinate's spans, which divides a bin's
 * number (right as long as their product is below 2^32); the cell of a bin. */
#define TY_TAIL(d)                                                                                 \
    tail /= bins##d.bins;                                                                          \
    ty_u32 tail##d = tail, inverse##d = 0xffffffffu / tail + 1;
#define TY_CELL_OF_BIN(d)                                                                          \
    {                                                                                              \
        ty_u32 bin = tail##d > 1 ? TY_MUL_HI(rest, inverse##d) : rest;                             \
        rest -= bin * tail##d;                                                                     \
        cell = cell * TY_CELLS_OF(d) + bin + 1;                                                    \
    }

#define TY_COUNT_CELL(kept)                                                                        \
    do {                                                                                           \
        cell = (kept) ? cell : dustbin;                                                            \
        TY_ADD_LOCAL(&ty_local[TY_WORD(cell)], 1);                                                 \
    } while (0)

/* `ahead` units from unit q on, `step` apart, up to the last: behind it that is read again, so that
 * all loads are made without a branch, and not counted. */
#define TY_COUNT_UNITS(ahead, masked, last)                                                        \
    do {                                                                                           \
        ty_u32 m[TY_AHEAD];                                                                        \
        TY_DIMENSIONS(TY_HOLD)                                                                     \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < (ahead); k++) {                                                     \
            ty_u32 unit = q + k * step < (last) ? q + k * step : (last);                           \
            TY_INDEX i = head + (TY_INDEX)unit * TY_UNIT;                                          \
            TY_DIMENSIONS(TY_FETCH)                                                                \
            m[k] = (masked) ? *(TY_GLOBAL const ty_u32 *)(keep + i) : 0;                           \
        }                                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < (ahead); k++) {                                                     \
            TY_UNROLL                                                                              \
            for (int j = 0; j < TY_UNIT; j++) {                                                    \
                ty_u32 cell = 0;                                                                   \
                TY_DIMENSIONS(TY_JOIN_UNIT)                                                        \
                if (q + k * step <= (last))                                                        \
                    TY_COUNT_CELL(!(masked) || (m[k] >> (8 * j) & 0xffu));                         \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#define TY_NO_LAST ~0u
#if TY_ROWS
#define TY_WALK_UNITS(masked)                                                                      \
    do {                                                                                           \
        for (; q + (TY_AHEAD - 1) * step < units; q += TY_AHEAD * step)                            \
            TY_COUNT_UNITS(TY_AHEAD, masked, TY_NO_LAST);                                          \
        if (q < units)                                                                             \
            TY_COUNT_UNITS(TY_AHEAD, masked, units - 1);                                           \
    } while (0)
#else
#define TY_WALK_UNITS(masked)                                                                      \
    do {                                                                                           \
        for (; q + (TY_AHEAD - 1) * step < units; q += TY_AHEAD * step)                            \
            TY_COUNT_UNITS(TY_AHEAD, masked, TY_NO_LAST);                                          \
        for (; q < units; q += step)                                                               \
            TY_COUNT_UNITS(1, masked, TY_NO_LAST);                                                 \
    } while (0)
#endif

TY_KERNEL_DENSE(TY_GROUP_SIZE, TY_DENSE)
count(TY_SAMPLES_ARGS ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked,
      TY_GLOBAL const ty_u8 *axis, ty_u64 columns, ty_u64 begin, ty_u64 end, ty_u64 first,
      ty_u32 actives, ty_u32 parts, ty_u32 slots, ty_u32 copies, TY_GLOBAL ty_u32 *out,
      ty_u32 key TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 lid = TY_LID, here = TY_GROUP / parts, more = key * 0x9e3779b9u;
    ty_u32 all = 1, cells = 1, bias = 0, part = TY_GROUP - here * parts;
    ty_u64 b = (first + here) / actives;
    TY_GLOBAL const ty_u8 *list = axis;
    TY_DIMENSIONS(TY_TAKE)
    ty_u32 dustbin = bias + cells;
    for (ty_u32 k = lid; k < ((cells + 32) & ~31u); k += TY_GROUP_SIZE)
        ty_local[k] = 0;
    TY_BARRIER();
#if TY_ROWS
    /* Whole rows, which one launch counts, or a part of a row that is alone and longer. */
    ty_u32 length = (ty_u32)(end - begin < columns ? end - begin : columns);
    ty_u32 step = 32; /* work-items of a piece: fewer where rows have no work for so many */
    while (step > 4 && length < step * TY_UNIT * TY_AHEAD)
        step /= 2;
    ty_u32 cuts = (length + TY_PIECE - 1) / TY_PIECE, me = lid & (step - 1);
    ty_u32 pieces = (ty_u32)(end - begin) / length * cuts;
    ty_u32 piece = ((lid >> 5) * parts + part) * (32 / step) + (lid & 31) / step;
    for (; piece < pieces; piece += parts * (TY_GROUP_SIZE / step)) {
        ty_u32 row = piece / cuts, from = (piece - row * cuts) * TY_PIECE;
        ty_u32 n = length - from < TY_PIECE ? length - from : TY_PIECE;
        ty_u64 at = begin + from;
#else
    {
        ty_u32 row = 0, me = part * TY_GROUP_SIZE + lid, step = parts * TY_GROUP_SIZE;
        ty_u64 at = begin, n = end - begin;
#endif
        ty_u32 head = 0, starts = 0;
        TY_GLOBAL const ty_u8 *keep = TY_GRID_AT(mask, b, row, at);
        TY_DIMENSIONS(TY_COLUMN_AT)
        TY_FIND_HEAD(!masked || ty_unit_starts(keep + h, 1))
        starts = starts && head < n;
        ty_u32 units = starts ? (ty_u32)((n - head) / TY_UNIT) : 0, q = me;
        if (masked)
            TY_WALK_UNITS(1);
        else
            TY_WALK_UNITS(0);
        /* Samples that are in no unit. */
        head = units ? head : 0;
        for (q = me; q < n - (TY_INDEX)units * TY_UNIT; q += step) {
            TY_INDEX i = q < head ? q : q + (TY_INDEX)units * TY_UNIT;
            ty_u32 cell = 0;
            TY_DIMENSIONS(TY_JOIN_ONE)
            TY_COUNT_CELL(!masked || keep[i]);
        }
    }
    TY_BARRIER();
    /* Cells that are bins are written, and cleared: what is left in the table is outside some axis.
     */
    ty_u32 tail = all;
    TY_DIMENSIONS(TY_TAIL)
    out += (ty_u64)TY_GROUP * slots;
    for (ty_u32 s = lid; s < slots; s += TY_GROUP_SIZE) {
        ty_u32 rest = s, cell = 0, sum = 0;
        TY_DIMENSIONS(TY_CELL_OF_BIN)
        if (s < all) {
            sum = ty_local[TY_WORD(cell + bias)];
            ty_local[TY_WORD(cell + bias)] = 0;
        } else if (s == all + TY_SLOT_MASKED) {
            sum = ty_local[TY_WORD(dustbin)];
        }
        out[s] = sum;
    }
    TY_GLOBAL_BARRIER();
    TY_BARRIER();
    for (ty_u32 c = lid; c < cells; c += TY_GROUP_SIZE) {
        ty_u32 sum = ty_local[TY_WORD(c + bias)], slot = 0;
        if (sum) {
            TY_SETTLE(c)
            TY_ADD_GLOBAL(&out[slot], sum);
        }
    }
    (void)channel;
    (void)columns;
    (void)copies;
}
