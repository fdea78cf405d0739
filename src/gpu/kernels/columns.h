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

#define TY_SIZE(d)     ty_dtype_size(TY_DTYPE_##d)
#define TY_CELLS_OF(d) (bins##d.bins + TY_CELLS_EXTRA)

/* What is done for each coordinate: its axis taken up from `list`; its column from sample `at` of a
 * row of batch b on; whether a unit may start at its sample h; unit k under way read from sample i
 * on; a sample's cell joined, from a unit or from memory. */
#define TY_TAKE(d)                                                                                 \
    ty_bins bins##d = *(TY_GLOBAL const ty_bins *)list;                                            \
    ty_cell_map map##d = *(TY_GLOBAL const ty_cell_map *)(list + TY_AXIS_MAP);                     \
    ty_lookup lookup##d = *(TY_GLOBAL const ty_lookup *)(list + TY_AXIS_MAP);                      \
    TY_GLOBAL const ty_u8 *axis##d = list;                                                         \
    list = ty_axis_next(list);                                                                     \
    all *= bins##d.bins;                                                                           \
    cells *= TY_CELLS_OF(d);                                                                       \
    bias = bias * TY_CELLS_OF(d) + TY_AXIS_BIAS(TY_BINNING_##d);
#define TY_COLUMN_AT(d) TY_GLOBAL const ty_u8 *column##d = TY_GRID_AT(x##d, b, row, at);
#define TY_START(d)     starts &= ty_unit_starts(column##d + h * TY_SIZE(d), TY_SIZE(d));
#define TY_HOLD(d)      ty_u32 w##d[TY_AHEAD][8];
#define TY_FETCH(d)     ty_unit_read(column##d + i * TY_SIZE(d), TY_SIZE(d), w##d[k]);
#define TY_JOIN_CELL(d, bits)                                                                      \
    cell = cell * TY_CELLS_OF(d) + ty_axis_biased_cell(bits, TY_DTYPE_##d, TY_BINNING_##d,         \
                                                       TY_POSITIVE_##d, &bins##d, &map##d,         \
                                                       &lookup##d, axis##d);
#define TY_JOIN_UNIT(d) TY_JOIN_CELL(d, ty_unit_bits(w##d[k], TY_SIZE(d), j))
#define TY_JOIN_ONE(d)  TY_JOIN_CELL(d, ty_one_read(column##d + i * TY_SIZE(d), TY_SIZE(d)))

/* Where units start: at sample `head`, if `starts` is true then; `also` is what else has to be true
 * of sample h. */
#define TY_FIND_HEAD(also)                                                                         \
    for (ty_u32 h = 0; h < TY_UNIT && !starts; h++) {                                              \
        starts = (also);                                                                           \
        TY_DIMENSIONS(TY_START)                                                                    \
        head = h;                                                                                  \
    }

/* `slot` becomes that of cell c of all `cells`. */
#define TY_JOIN_SLOT(d)                                                                            \
    {                                                                                              \
        tail /= TY_CELLS_OF(d);                                                                    \
        ty_u32 own = rest / tail;                                                                  \
        rest -= own * tail;                                                                        \
        ty_join(&j, ty_slot_of_cell(own, bins##d.bins), axis##d);                                  \
    }
#define TY_SETTLE(c)                                                                               \
    {                                                                                              \
        ty_joint j = {0, 0, 0, 0};                                                                 \
        ty_u32 tail = cells, rest = (c);                                                           \
        TY_DIMENSIONS(TY_JOIN_SLOT)                                                                \
        slot = TY_DIMS == 1 ? ty_slot_of_cell(c, all) : ty_joint_slot(j, all);                     \
    }

#endif

#endif
