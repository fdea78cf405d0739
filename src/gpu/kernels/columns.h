/*
 * Packed columns side by side, for kernels that count cells: four samples of every column are read
 * together, in whole vectors, and the axes' cells (cell.h) become one,
 *
 *      cell = (cell_0 * (bins_1 + 3) + cell_1) * (bins_2 + 3) + …
 *
 * flows among them, by arithmetic without a branch. What flows mean is settled when cells become
 * slots. Cells carry a bias, a multiple of 2^24.
 */
#ifndef TY_COLUMNS_H
#define TY_COLUMNS_H

#include "gpu/kernels/view.h"

#if !defined(TY_NO_FP64)

#define TY_UNIT 4 /* samples that are read together */

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

/* Those of a sample in memory: what is packed is aligned to its size. */
TY_FN ty_u64 ty_one_read(TY_GLOBAL const ty_u8 *p, int size)
{
    return size == 1   ? *p
           : size == 2 ? *(TY_GLOBAL const ty_u16 *)p
           : size == 4 ? *(TY_GLOBAL const ty_u32 *)p
                       : *(TY_GLOBAL const ty_u64 *)p;
}

TY_FN ty_u32 ty_unit_starts(TY_GLOBAL const ty_u8 *p, int size)
{
    return ((ty_u64)p & (ty_u64)(size < 4 ? size * TY_UNIT - 1 : 15)) == 0;
}

/* TY_DIMENSIONS (view.h) with more arguments: F(d, a, …) for each coordinate d. */
#if TY_DIMS > 1
#define TY_FROM_1(x) x
#else
#define TY_FROM_1(x)
#endif
#if TY_DIMS > 2
#define TY_FROM_2(x) x
#else
#define TY_FROM_2(x)
#endif
#if TY_DIMS > 3
#define TY_FROM_3(x) x
#else
#define TY_FROM_3(x)
#endif
#if TY_DIMS > 4
#define TY_FROM_4(x) x
#else
#define TY_FROM_4(x)
#endif
#if TY_DIMS > 5
#define TY_FROM_5(x) x
#else
#define TY_FROM_5(x)
#endif
#if TY_DIMS > 6
#define TY_FROM_6(x) x
#else
#define TY_FROM_6(x)
#endif
#if TY_DIMS > 7
#define TY_FROM_7(x) x
#else
#define TY_FROM_7(x)
#endif
#define TY_DIMENSIONS_1(F, a)                                                                      \
    F(0, a)                                                                                        \
    TY_FROM_1(F(1, a))                                                                             \
    TY_FROM_2(F(2, a))                                                                             \
    TY_FROM_3(F(3, a)) TY_FROM_4(F(4, a)) TY_FROM_5(F(5, a)) TY_FROM_6(F(6, a)) TY_FROM_7(F(7, a))
#define TY_DIMENSIONS_2(F, a, b)                                                                   \
    F(0, a, b)                                                                                     \
    TY_FROM_1(F(1, a, b))                                                                          \
    TY_FROM_2(F(2, a, b))                                                                          \
    TY_FROM_3(F(3, a, b))                                                                          \
    TY_FROM_4(F(4, a, b)) TY_FROM_5(F(5, a, b)) TY_FROM_6(F(6, a, b)) TY_FROM_7(F(7, a, b))
#define TY_DIMENSIONS_3(F, a, b, c)                                                                \
    F(0, a, b, c)                                                                                  \
    TY_FROM_1(F(1, a, b, c))                                                                       \
    TY_FROM_2(F(2, a, b, c))                                                                       \
    TY_FROM_3(F(3, a, b, c))                                                                       \
    TY_FROM_4(F(4, a, b, c))                                                                       \
    TY_FROM_5(F(5, a, b, c)) TY_FROM_6(F(6, a, b, c)) TY_FROM_7(F(7, a, b, c))
#define TY_DIMENSIONS_4(F, a, b, c, e)                                                             \
    F(0, a, b, c, e)                                                                               \
    TY_FROM_1(F(1, a, b, c, e))                                                                    \
    TY_FROM_2(F(2, a, b, c, e))                                                                    \
    TY_FROM_3(F(3, a, b, c, e))                                                                    \
    TY_FROM_4(F(4, a, b, c, e))                                                                    \
    TY_FROM_5(F(5, a, b, c, e)) TY_FROM_6(F(6, a, b, c, e)) TY_FROM_7(F(7, a, b, c, e))

#define TY_SIZE(d)     ty_dtype_size(TY_DTYPE_##d)
#define TY_CELLS_OF(d) (bins##d.bins + TY_CELLS_EXTRA)

/* What is done for each coordinate d, by TY_DIMENSIONS. Names that end in its number are what these
 * define: x (the kernel's arguments), bins, map, lookup and axis by TY_TAKE, column by
 * TY_COLUMN_AT, w by TY_HOLD. All else is an argument. */

/* The axis taken up from `list`, which goes on to the next one; the numbers of bins and of cells,
 * and what these are biased by, so far. */
#define TY_TAKE(d, list, all, cells, bias)                                                         \
    ty_bins bins##d = *(TY_GLOBAL const ty_bins *)list;                                            \
    ty_cell_map map##d = *(TY_GLOBAL const ty_cell_map *)(list + TY_AXIS_MAP);                     \
    ty_lookup lookup##d = *(TY_GLOBAL const ty_lookup *)(list + TY_AXIS_MAP);                      \
    TY_GLOBAL const ty_u8 *axis##d = list;                                                         \
    list = ty_axis_next(list);                                                                     \
    all *= bins##d.bins;                                                                           \
    cells *= TY_CELLS_OF(d);                                                                       \
    bias = bias * TY_CELLS_OF(d) + TY_AXIS_BIAS(TY_BINNING_##d);
/* The column from sample `at` of a row of batch b on. */
#define TY_COLUMN_AT(d, b, row, at) TY_GLOBAL const ty_u8 *column##d = TY_GRID_AT(x##d, b, row, at);
/* Whether a unit may start at its sample h. */
#define TY_START(d, starts, h) starts &= ty_unit_starts(column##d + h * TY_SIZE(d), TY_SIZE(d));
/* Space for the units under way; unit k of them read from sample i on. */
#define TY_HOLD(d)        ty_u32 w##d[TY_AHEAD][8];
#define TY_FETCH(d, i, k) ty_unit_read(column##d + i * TY_SIZE(d), TY_SIZE(d), w##d[k]);
/* A sample's cell joined to `cell`: sample j of unit k, or sample i in memory. */
#define TY_JOIN_CELL(d, cell, bits)                                                                \
    cell = cell * TY_CELLS_OF(d) + ty_axis_biased_cell(bits, TY_DTYPE_##d, TY_BINNING_##d,         \
                                                       TY_POSITIVE_##d, &bins##d, &map##d,         \
                                                       &lookup##d, axis##d);
#define TY_JOIN_UNIT(d, cell, k, j) TY_JOIN_CELL(d, cell, ty_unit_bits(w##d[k], TY_SIZE(d), j))
#define TY_JOIN_ONE(d, cell, i)                                                                    \
    TY_JOIN_CELL(d, cell, ty_one_read(column##d + i * TY_SIZE(d), TY_SIZE(d)))

/* Where units start: at sample `head`, if `starts` is true then; `also` is what else has to be true
 * of sample h. */
#define TY_FIND_HEAD(starts, head, h, also)                                                        \
    for (ty_u32 h = 0; h < TY_UNIT && !starts; h++) {                                              \
        starts = (also);                                                                           \
        TY_DIMENSIONS_2(TY_START, starts, h)                                                       \
        head = h;                                                                                  \
    }

/* `slot` becomes that of cell c of all `cells`, of `all` bins. */
#define TY_JOIN_SLOT(d, j, tail, rest)                                                             \
    {                                                                                              \
        tail /= TY_CELLS_OF(d);                                                                    \
        ty_u32 own = rest / tail;                                                                  \
        rest -= own * tail;                                                                        \
        ty_join(&j, ty_slot_of_cell(own, bins##d.bins), axis##d);                                  \
    }
#define TY_SETTLE(slot, c, cells, all)                                                             \
    {                                                                                              \
        ty_joint j = {0, 0, 0, 0};                                                                 \
        ty_u32 tail = cells, rest = (c);                                                           \
        TY_DIMENSIONS_3(TY_JOIN_SLOT, j, tail, rest)                                               \
        slot = TY_DIMS == 1 ? ty_slot_of_cell(c, all) : ty_joint_slot(j, all);                     \
    }

#endif

#endif
/* SPDX-License-Identifier: Apache-2.0 */
