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
#define SWIZZLED_PIECE 4096u
#if TY_ROWS
#define SWIZZLED_INDEX ty_u32 /* of a sample in a piece, or in a column */
#else
#define SWIZZLED_INDEX ty_u64
#endif

/* Cells stay below 2^24, what their biases are multiples of; the keys take it as they take rows. */
#define SWIZZLED_HASH(row, key, more) ((row) * ((row)*key + more) >> 27)
#define SWIZZLED_WORD(biased, key, more)                                                           \
    (((biased) ^ SWIZZLED_HASH((biased) >> 5, key, more)) & 0xffffffu)

#define SWIZZLED_COUNT_CELL(cell, kept, dustbin, key, more)                                        \
    do {                                                                                           \
        cell = (kept) ? cell : dustbin;                                                            \
        TY_ADD_LOCAL(&ty_local[SWIZZLED_WORD(cell, key, more)], 1);                                \
    } while (0)

/* `ahead` units from unit q on, `step` apart, up to the last: behind it that is read again, so that
 * all loads are made without a branch, and not counted. Unit 0 begins at sample `head`. */
#define SWIZZLED_COUNT_UNITS(ahead, q, step, last, head, masked, keep, dustbin, key, more)         \
    do {                                                                                           \
        ty_u32 m[TY_AHEAD];                                                                        \
        TY_DIMENSIONS(TY_HOLD)                                                                     \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < (ahead); k++) {                                                     \
            ty_u32 unit = q + k * step < (last) ? q + k * step : (last);                           \
            SWIZZLED_INDEX i = head + (SWIZZLED_INDEX)unit * TY_UNIT;                              \
            TY_DIMENSIONS_2(TY_FETCH, i, k)                                                        \
            m[k] = (masked) ? *(TY_GLOBAL const ty_u32 *)(keep + i) : 0;                           \
        }                                                                                          \
        TY_UNROLL                                                                                  \
        for (ty_u32 k = 0; k < (ahead); k++) {                                                     \
            TY_UNROLL                                                                              \
            for (int j = 0; j < TY_UNIT; j++) {                                                    \
                ty_u32 cell = 0;                                                                   \
                TY_DIMENSIONS_3(TY_JOIN_UNIT, cell, k, j)                                          \
                if (q + k * step <= (last))                                                        \
                    SWIZZLED_COUNT_CELL(cell, !(masked) || (m[k] >> (8 * j) & 0xffu), dustbin,     \
                                        key, more);                                                \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#define SWIZZLED_NO_LAST ~0u
/* Units q, q + step … of so many. What is behind the last whole round is another round, or one unit
 * at a time. */
#define SWIZZLED_WALK_UNITS(q, step, units, head, masked, keep, dustbin, key, more)                \
    do {                                                                                           \
        for (; q + (TY_AHEAD - 1) * step < units; q += TY_AHEAD * step)                            \
            SWIZZLED_COUNT_UNITS(TY_AHEAD, q, step, SWIZZLED_NO_LAST, head, masked, keep, dustbin, \
                                 key, more);                                                       \
        SWIZZLED_WALK_REST(q, step, units, head, masked, keep, dustbin, key, more);                \
    } while (0)
#if TY_ROWS
#define SWIZZLED_WALK_REST(q, step, units, head, masked, keep, dustbin, key, more)                 \
    if (q < units)                                                                                 \
    SWIZZLED_COUNT_UNITS(TY_AHEAD, q, step, units - 1, head, masked, keep, dustbin, key, more)
#else
#define SWIZZLED_WALK_REST(q, step, units, head, masked, keep, dustbin, key, more)                 \
    for (; q < units; q += step)                                                                   \
    SWIZZLED_COUNT_UNITS(1, q, step, SWIZZLED_NO_LAST, head, masked, keep, dustbin, key, more)
#endif

/* Behind the counting: how many bins one of this coordinate's spans, which divides a bin's number
 * (right as long as their product is below 2^32): tail and inverse of columns.h's names; the cell
 * of a bin. */
#define SWIZZLED_TAIL(d, tail)                                                                     \
    tail /= bins##d.bins;                                                                          \
    ty_u32 tail##d = tail, inverse##d = 0xffffffffu / tail + 1;
#define SWIZZLED_CELL_OF_BIN(d, rest, cell)                                                        \
    {                                                                                              \
        ty_u32 bin = tail##d > 1 ? TY_MUL_HI(rest, inverse##d) : rest;                             \
        rest -= bin * tail##d;                                                                     \
        cell = cell * TY_CELLS_OF(d) + bin + 1;                                                    \
    }
/* The axes that TY_TAKE has taken, as arguments. */
#define SWIZZLED_AXIS_ARG(d)  ty_bins bins##d, TY_GLOBAL const ty_u8 *axis##d,
#define SWIZZLED_PASS_AXIS(d) bins##d, axis##d,

/* The group's table into its partial at `out`. Cells that are bins are written, and cleared: what
 * is left in the table is outside some axis. */
TY_FN void swizzled_store(TY_DIMENSIONS(SWIZZLED_AXIS_ARG) TY_LOCAL ty_u32 *table, ty_u32 all,
                          ty_u32 cells, ty_u32 bias, ty_u32 slots, ty_u32 key, ty_u32 more,
                          TY_GLOBAL ty_u32 *out)
{
    ty_u32 tail = all;
    TY_DIMENSIONS_1(SWIZZLED_TAIL, tail)
    for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE) {
        ty_u32 rest = s, cell = 0, sum = 0;
        TY_DIMENSIONS_2(SWIZZLED_CELL_OF_BIN, rest, cell)
        if (s < all) {
            sum = table[SWIZZLED_WORD(cell + bias, key, more)];
            table[SWIZZLED_WORD(cell + bias, key, more)] = 0;
        } else if (s == all + TY_SLOT_MASKED) {
            sum = table[SWIZZLED_WORD(bias + cells, key, more)];
        }
        out[s] = sum;
    }
    TY_GLOBAL_BARRIER();
    TY_BARRIER();
    for (ty_u32 c = TY_LID; c < cells; c += TY_GROUP_SIZE) {
        ty_u32 sum = table[SWIZZLED_WORD(c + bias, key, more)], slot = 0;
        if (sum) {
            TY_SETTLE(slot, c, cells, all)
            TY_ADD_GLOBAL(&out[slot], sum);
        }
    }
}

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
    TY_DIMENSIONS_4(TY_TAKE, list, all, cells, bias)
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
    ty_u32 cuts = (length + SWIZZLED_PIECE - 1) / SWIZZLED_PIECE, me = lid & (step - 1);
    ty_u32 pieces = (ty_u32)(end - begin) / length * cuts;
    ty_u32 piece = ((lid >> 5) * parts + part) * (32 / step) + (lid & 31) / step;
    for (; piece < pieces; piece += parts * (TY_GROUP_SIZE / step)) {
        ty_u32 row = piece / cuts, from = (piece - row * cuts) * SWIZZLED_PIECE;
        ty_u32 n = length - from < SWIZZLED_PIECE ? length - from : SWIZZLED_PIECE;
        ty_u64 at = begin + from;
#else
    {
        ty_u32 row = 0, me = part * TY_GROUP_SIZE + lid, step = parts * TY_GROUP_SIZE;
        ty_u64 at = begin, n = end - begin;
#endif
        ty_u32 head = 0, starts = 0;
        TY_GLOBAL const ty_u8 *keep = TY_GRID_AT(mask, b, row, at);
        TY_DIMENSIONS_3(TY_COLUMN_AT, b, row, at)
        TY_FIND_HEAD(starts, head, h, !masked || ty_unit_starts(keep + h, 1))
        starts = starts && head < n;
        ty_u32 units = starts ? (ty_u32)((n - head) / TY_UNIT) : 0, q = me;
        if (masked)
            SWIZZLED_WALK_UNITS(q, step, units, head, 1, keep, dustbin, key, more);
        else
            SWIZZLED_WALK_UNITS(q, step, units, head, 0, keep, dustbin, key, more);
        /* Samples that are in no unit. */
        head = units ? head : 0;
        for (q = me; q < n - (SWIZZLED_INDEX)units * TY_UNIT; q += step) {
            SWIZZLED_INDEX i = q < head ? q : q + (SWIZZLED_INDEX)units * TY_UNIT;
            ty_u32 cell = 0;
            TY_DIMENSIONS_2(TY_JOIN_ONE, cell, i)
            SWIZZLED_COUNT_CELL(cell, !masked || keep[i], dustbin, key, more);
        }
    }
    TY_BARRIER();
    swizzled_store(TY_DIMENSIONS(SWIZZLED_PASS_AXIS) ty_local, all, cells, bias, slots, key, more,
                   out + (ty_u64)TY_GROUP * slots);
    (void)channel;
    (void)columns;
    (void)copies;
}
/* SPDX-License-Identifier: Apache-2.0 */
