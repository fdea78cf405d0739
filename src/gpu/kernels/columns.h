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
#if TY_ROWS
#define TY_INDEX ty_u32 /* of a sample in a piece of a row, or in a column */
#else
#define TY_INDEX ty_u64
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

#define TY_SIZE(d) ty_dtype_size(TY_DTYPE_##d)

/* The axes as cells are made with them, and of their joint table: how many bins and cells there
 * are, and what its cells are biased by. */
typedef struct ty_axes {
    ty_bins bins[TY_DIMS];
    ty_cell_map map[TY_DIMS];
    ty_lookup lookup[TY_DIMS];
    TY_GLOBAL const ty_u8 *axis[TY_DIMS];
    ty_u32 all, cells, bias;
} ty_axes;

/* Takes up axis d, and returns where the next one is. */
TY_FN TY_GLOBAL const ty_u8 *ty_axes_add(ty_axes *to, int d, ty_u32 bias,
                                         TY_GLOBAL const ty_u8 *axis)
{
    to->bins[d] = *(TY_GLOBAL const ty_bins *)axis;
    to->map[d] = *(TY_GLOBAL const ty_cell_map *)(axis + TY_AXIS_MAP);
    to->lookup[d] = *(TY_GLOBAL const ty_lookup *)(axis + TY_AXIS_MAP);
    to->axis[d] = axis;
    ty_u32 cells = to->bins[d].bins + TY_CELLS_EXTRA;
    to->all *= to->bins[d].bins;
    to->cells *= cells;
    to->bias = to->bias * cells + bias;
    return ty_axis_next(axis);
}

TY_FN void ty_axes_take(TY_GLOBAL const ty_u8 *axis, ty_axes *to)
{
    to->all = to->cells = 1;
    to->bias = 0;
#define TY_TAKE(d) axis = ty_axes_add(to, d, TY_AXIS_BIAS(TY_BINNING_##d), axis);
    TY_DIMENSIONS(TY_TAKE)
}

/* The slot of a cell of the joint table, without its bias. */
TY_FN ty_u32 ty_axes_slot(const ty_axes *a, ty_u32 cell)
{
    ty_joint j = {0, 0, 0, 0};
    ty_u32 tail = a->cells, rest = cell;
    TY_UNROLL
    for (int d = 0; d < TY_DIMS; d++) {
        tail /= a->bins[d].bins + TY_CELLS_EXTRA;
        ty_u32 own = rest / tail;
        rest -= own * tail;
        ty_join(&j, ty_slot_of_cell(own, a->bins[d].bins), a->axis[d]);
    }
    return TY_DIMS == 1 ? ty_slot_of_cell(cell, a->all) : ty_joint_slot(j, a->all);
}

/* Each column from some sample on. */
typedef struct ty_columns {
    TY_GLOBAL const ty_u8 *column[TY_DIMS];
} ty_columns;

/* From sample `at` of a row of batch b on. */
TY_FN void ty_columns_at(TY_SAMPLES_ARGS ty_u64 b, ty_u32 row, ty_u64 at, ty_columns *to)
{
#define TY_COLUMN_AT(d) to->column[d] = TY_GRID_AT(x##d, b, row, at);
    TY_DIMENSIONS(TY_COLUMN_AT)
}

TY_FN void ty_columns_move(ty_columns *c, ty_u64 samples)
{
#define TY_MOVE(d) c->column[d] += samples * TY_SIZE(d);
    TY_DIMENSIONS(TY_MOVE)
}

/* Whether units may start at sample h. */
TY_FN ty_u32 ty_columns_start(const ty_columns *c, ty_u32 h)
{
    ty_u32 starts = 1;
#define TY_START(d) starts &= ty_unit_starts(c->column[d] + h * TY_SIZE(d), TY_SIZE(d));
    TY_DIMENSIONS(TY_START)
    return starts;
}

/* A unit of every column. */
typedef struct ty_unit {
    ty_u32 words[TY_DIMS][8];
} ty_unit;

/* The one that begins at sample i. */
TY_FN void ty_columns_read(const ty_columns *c, TY_INDEX i, ty_unit *to)
{
#define TY_READ_UNIT(d) ty_unit_read(c->column[d] + i * TY_SIZE(d), TY_SIZE(d), to->words[d]);
    TY_DIMENSIONS(TY_READ_UNIT)
}

/* A joint cell, biased, with that of coordinate d: of the sample with these bits. */
#define TY_JOIN_CELL(cell, d, bits, a)                                                             \
    ((cell) * ((a)->bins[d].bins + TY_CELLS_EXTRA) +                                               \
     ty_axis_biased_cell(bits, TY_DTYPE_##d, TY_BINNING_##d, TY_POSITIVE_##d, &(a)->bins[d],       \
                         &(a)->map[d], &(a)->lookup[d], (a)->axis[d]))

/* The biased cell of a unit's sample j. */
TY_FN ty_u32 ty_unit_cell(const ty_axes *a, const ty_unit *unit, int j)
{
    ty_u32 cell = 0;
#define TY_JOIN_UNIT(d)                                                                            \
    cell = TY_JOIN_CELL(cell, d, ty_unit_bits(unit->words[d], TY_SIZE(d), j), a);
    TY_DIMENSIONS(TY_JOIN_UNIT)
    return cell;
}

/* … and of sample i in memory. */
TY_FN ty_u32 ty_columns_cell(const ty_axes *a, const ty_columns *c, TY_INDEX i)
{
    ty_u32 cell = 0;
#define TY_JOIN_ONE(d)                                                                             \
    cell = TY_JOIN_CELL(cell, d, ty_one_read(c->column[d] + i * TY_SIZE(d), TY_SIZE(d)), a);
    TY_DIMENSIONS(TY_JOIN_ONE)
    return cell;
}

#endif

#endif
