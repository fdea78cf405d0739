/*
 * partitioned-columns: what `partitioned` does for one column, for several packed columns and
 * perhaps a mask (columns.h). partitioned.cl says how samples are sorted and draws the memory, and
 * partitioned_count.cl counts.
 *
 * A sample's number is its joint cell; one more number is for what is masked out. Kernels, in
 * order: split and count for each chunk, rest for the samples that are no whole tile; they count
 * numbers in a table of the scratch memory (a word a number). Then settle adds the table to `out`,
 * where joint cells become slots: what under- and overflows mean is decided there, once a call.
 *
 * Where all columns have a vector that begins at the same sample, and there is no mask, samples are
 * read TY_UNIT at a time in vectors; else one by one.
 */

/* The samples of batch b from sample `at` on: a kernel's arguments, from which are taken
 *   the axes and their joint table: how many bins, how many cells, what these are biased by;
 *   the columns (columns.h), `keep`, the mask's byte of sample 0, and whether and at which sample
 *   vectors begin. */
#define PARTITIONED_SAMPLES_ARGS                                                                   \
    TY_SAMPLES_ARGS ty_i64 channel, TY_GRID_ARGS(mask), ty_u32 masked,                             \
        TY_GLOBAL const ty_u8 *axis, ty_u64 b, ty_u64 at
#define PARTITIONED_TAKE_AXES(axis, all, cells, bias)                                              \
    ty_u32 all = 1, cells = 1, bias = 0;                                                           \
    TY_GLOBAL const ty_u8 *list = axis;                                                            \
    TY_DIMENSIONS_4(TY_TAKE, list, all, cells, bias)
#define PARTITIONED_TAKE_COLUMNS(b, at, mask, masked, keep, starts, head)                          \
    ty_u32 row = 0, head = 0, starts = 0;                                                          \
    TY_DIMENSIONS_3(TY_COLUMN_AT, b, row, at)                                                      \
    TY_GLOBAL const ty_u8 *keep = TY_GRID_AT(mask, b, row, at);                                    \
    TY_FIND_HEAD(starts, head, h, !masked)                                                         \
    head = starts ? head : 0;

#define PARTITIONED_UNITS          (PARTITIONED_PER / TY_UNIT) /* of a work-item */
#define PARTITIONED_MOVE(d, ahead) column##d += ahead * TY_SIZE(d);

/* Sorts tile TY_GROUP of the samples. */
TY_KERNEL_DENSE(TY_GROUP_SIZE, TY_DENSE)
split(PARTITIONED_SAMPLES_ARGS, TY_GLOBAL ty_u8 *scratch, ty_u32 stride, ty_u64 lists, ty_u64 sums,
      ty_u32 partitions, ty_u32 shift, ty_u32 key TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    TY_GRID_TRIGGER();
    PARTITIONED_TAKE_AXES(axis, all, cells, bias)
    PARTITIONED_TAKE_COLUMNS(b, at, mask, masked, keep, starts, head)
    const partitioned_sort s =
        partitioned_sort_of(scratch, stride, lists, sums, partitions, shift, key, ty_local);
    ty_u32 number[PARTITIONED_PER], n = 0, own = partitioned_column(stride, bias, shift);
    partitioned_clear(&s);
    TY_OPAQUE(own);
    if (starts) {
        ty_u64 ahead = head + (ty_u64)TY_GROUP * PARTITIONED_TILE + TY_LID * TY_UNIT;
        TY_DIMENSIONS_1(PARTITIONED_MOVE, ahead)
        TY_DIMENSIONS(TY_HOLD)
        TY_UNROLL
        for (ty_u32 k = 0; k < TY_AHEAD; k++) {
            ty_u32 i = k * TY_GROUP_SIZE * TY_UNIT;
            TY_DIMENSIONS_2(TY_FETCH, i, k)
        }
        TY_UNROLL
        for (ty_u32 u = 0; u < PARTITIONED_UNITS; u++) {
            ty_u32 k = u % TY_AHEAD;
            TY_UNROLL
            for (int j = 0; j < TY_UNIT; j++) {
                ty_u32 cell = 0;
                TY_DIMENSIONS_3(TY_JOIN_UNIT, cell, k, j)
                number[n++] = cell;
                TY_ADD_LOCAL(partitioned_counter(ty_local, cell, shift, own), 1);
            }
            if (u + TY_AHEAD < PARTITIONED_UNITS) {
                ty_u32 i = (u + TY_AHEAD) * TY_GROUP_SIZE * TY_UNIT;
                TY_DIMENSIONS_2(TY_FETCH, i, k)
                TY_READ_FIRST(); /* else loads are moved up until registers are spilled */
            }
        }
    } else {
        ty_u64 ahead = (ty_u64)TY_GROUP * PARTITIONED_TILE + TY_LID;
        TY_DIMENSIONS_1(PARTITIONED_MOVE, ahead)
        keep += ahead; /* without a mask this is column 0 */
        TY_UNROLL
        for (ty_u32 k = 0; k < PARTITIONED_PER; k++) {
            ty_u32 i = k * TY_GROUP_SIZE, cell = 0;
            TY_READ_FIRST(); /* one after the other takes fewer registers */
            TY_DIMENSIONS_2(TY_JOIN_ONE, cell, i)
            cell = !masked | (keep[i] != 0) ? cell : bias + cells;
            number[n++] = cell;
            TY_ADD_LOCAL(partitioned_counter(ty_local, cell, shift, own), 1);
        }
    }
    partitioned_sort_tile(&s, number, own, TY_GROUP, TY_GROUPS, ~0u);
    (void)channel;
}

/* Counts the n samples outside the tiles, which hold `inside`: before the first and behind the
 * last. */
TY_KERNEL(TY_GROUP_SIZE)
rest(PARTITIONED_SAMPLES_ARGS, ty_u64 inside, ty_u32 n, TY_GLOBAL ty_u8 *scratch,
     ty_u64 table TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u64 i = TY_GROUP * TY_GROUP_SIZE + TY_LID;
    PARTITIONED_TAKE_AXES(axis, all, cells, bias)
    PARTITIONED_TAKE_COLUMNS(b, at, mask, masked, keep, starts, head)
    if (i < n) {
        ty_u32 cell = 0;
        i = i < head ? i : inside + i;
        TY_DIMENSIONS_2(TY_JOIN_ONE, cell, i)
        cell = !masked || keep[i] ? cell - bias : cells;
        TY_ADD_GLOBAL((TY_GLOBAL ty_u32 *)(scratch + table) + cell, 1);
    }
    (void)channel;
    (void)ty_local;
}

/* Adds the table of numbers up in `out`. */
TY_KERNEL(TY_GROUP_SIZE)
settle(TY_GLOBAL const ty_u8 *axis, TY_GLOBAL const ty_u8 *scratch, ty_u64 table,
       TY_GLOBAL ty_u32 *out TY_LOCAL_ARG)
{
    TY_LOCAL_INIT
    ty_u32 c = TY_GROUP * TY_GROUP_SIZE + TY_LID, slot;
    PARTITIONED_TAKE_AXES(axis, all, cells, bias)
    ty_u32 sum = c <= cells ? ((TY_GLOBAL const ty_u32 *)(scratch + table))[c] : 0;
    if (sum) {
        TY_SETTLE(slot, c, cells, all)
        slot = c < cells ? slot : all + TY_SLOT_MASKED;
        TY_ADD_GLOBAL(&out[slot], sum);
    }
    (void)bias;
    (void)ty_local;
}
/* SPDX-License-Identifier: Apache-2.0 */
