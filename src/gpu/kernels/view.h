/*
 * Samples wherever they lie: strides of any size and alignment, several coordinates, a mask. Used
 * instead of sample.h by kernels that are launched by src/gpu/views.c. TY_DIMS is the number of
 * coordinates, TY_DTYPE_d, TY_BINNING_d and TY_POSITIVE_d what sample.h's TY_DTYPE, TY_BINNING and
 * TY_POSITIVE are, for each.
 */
#ifndef TY_VIEW_KERNEL_H
#define TY_VIEW_KERNEL_H

#include "binning/cell.h"
#include "binning/cell_lookup.h"
#include "gpu/kernels/grid.h"

/* TY_SAMPLES_ARGS: a grid for each coordinate, ended by a comma. TY_DIMENSIONS(F): F for each. */
#if TY_DIMS == 1
#define TY_DIMENSIONS(F) F(0)
#elif TY_DIMS == 2
#define TY_DIMENSIONS(F) F(0) F(1)
#elif TY_DIMS == 3
#define TY_DIMENSIONS(F) F(0) F(1) F(2)
#elif TY_DIMS == 4
#define TY_DIMENSIONS(F) F(0) F(1) F(2) F(3)
#elif TY_DIMS == 5
#define TY_DIMENSIONS(F) F(0) F(1) F(2) F(3) F(4)
#elif TY_DIMS == 6
#define TY_DIMENSIONS(F) F(0) F(1) F(2) F(3) F(4) F(5)
#elif TY_DIMS == 7
#define TY_DIMENSIONS(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6)
#else
#define TY_DIMENSIONS(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#endif
#define TY_ONE_GRID(d)  TY_GRID_ARGS(x##d),
#define TY_SAMPLES_ARGS TY_DIMENSIONS(TY_ONE_GRID)

#if !defined(TY_NO_FP64)
/* A sample's bits as float64, for dtypes that it holds exactly. Binary16 is moved up 112 binades by
 * a multiplication, which normalises subnormals. */
TY_FN double ty_value_of(ty_u64 bits, int dtype)
{
    ty_u32 low = (ty_u32)bits, sign = (low & 0x8000u) << 16, rest = (low & 0x7fffu) << 13;
    switch (dtype) {
    case TY_U16:
    case TY_U32:
        return (double)low;
    case TY_I16:
        return (double)(ty_i16)(ty_u16)low;
    case TY_I32:
        return (double)(ty_i32)low;
    case TY_F16:
        return rest >= 0x0f800000u ? (double)TY_AS_FLOAT(sign | 0x70000000u | rest)
                                   : (double)TY_AS_FLOAT(sign | rest) * 0x1p112;
    case TY_BF16:
        return (double)TY_AS_FLOAT(low << 16);
    case TY_F32:
        return (double)TY_AS_FLOAT(low);
    default:
        return TY_AS_DOUBLE(bits);
    }
}
#endif

#if !defined(TY_NO_FP64)
/* The cell of a coordinate, by a lookup table in global memory. */
TY_FN ty_u32 ty_axis_lookup_cell(ty_u64 bits, int dtype, int binning, int positive,
                                 const ty_lookup *g, TY_GLOBAL const ty_u8 *axis)
{
    if (TY_TYPE_IS_WHOLE32(dtype) || TY_TYPE_IS_WHOLE64(dtype))
        return ty_global_cell_whole(bits, g, axis, binning, dtype);
    if (dtype == TY_F64)
        return ty_global_cell_f64(TY_AS_DOUBLE(bits), g, axis, binning, positive);
    return ty_global_cell_f32((float)ty_value_of(bits, dtype), g, axis, binning, positive);
}
#endif

/* A coordinate's slot on its own axis. */
TY_FN ty_u32 ty_axis_slot(ty_u64 bits, int dtype, int binning, int positive,
                          TY_GLOBAL const ty_u8 *axis)
{
    if (TY_TYPE_IS_BYTE(dtype))
        return ((TY_GLOBAL const ty_u32 *)(axis + TY_AXIS_TABLE))[bits];
#if !defined(TY_NO_FP64)
    if (binning == TY_BY_F32) {
        ty_cell_map f = *(TY_GLOBAL const ty_cell_map *)(axis + TY_AXIS_MAP);
        return ty_slot_of_cell(ty_cell_f32((float)ty_value_of(bits, dtype), &f), f.bins);
    }
    ty_bins b = *(TY_GLOBAL const ty_bins *)axis;
    if (TY_IS_GLOBAL_LOOKUP(binning)) {
        ty_lookup g = *(TY_GLOBAL const ty_lookup *)(axis + TY_AXIS_MAP);
        return ty_slot_of_cell(ty_axis_lookup_cell(bits, dtype, binning, positive, &g, axis),
                               b.bins);
    }
    TY_GLOBAL const double *edges = (TY_GLOBAL const double *)(axis + TY_AXIS_TABLE);
    if (dtype == TY_U64)
        return binning ? ty_slot_even_u64(bits, &b) : ty_slot_edges_u64(bits, &b, edges);
    if (dtype == TY_I64)
        return binning ? ty_slot_even_i64((ty_i64)bits, &b)
                       : ty_slot_edges_i64((ty_i64)bits, &b, edges);
    return binning ? ty_slot_even(ty_value_of(bits, dtype), &b)
                   : ty_slot_edges(ty_value_of(bits, dtype), &b, edges);
#else
    (void)binning, (void)positive;
    return 0;
#endif
}

#if !defined(TY_NO_FP64)
/* The cell (cell.h) of a coordinate + what this is too much by, for kernels that count cells; its
 * axis held in registers. */
#define TY_AXIS_BIAS(binning) ((binning) == TY_BY_F32 ? TY_ROUNDER_BITS : 0u)
TY_FN ty_u32 ty_axis_biased_cell(ty_u64 bits, int dtype, int binning, int positive,
                                 const ty_bins *b, const ty_cell_map *f, const ty_lookup *g,
                                 TY_GLOBAL const ty_u8 *axis)
{
    if (TY_IS_GLOBAL_LOOKUP(binning) && !TY_TYPE_IS_BYTE(dtype))
        return ty_axis_lookup_cell(bits, dtype, binning, positive, g, axis);
    if (binning == TY_BY_F32)
        return ty_biased_cell_f32((float)ty_value_of(bits, dtype), f);
    if (binning && (TY_TYPE_IS_WHOLE32(dtype) || dtype == TY_F64))
        return ty_cell_f64(ty_value_of(bits, dtype), b, f);
    if (binning && !TY_TYPE_IS_BYTE(dtype) && !TY_TYPE_IS_WHOLE64(dtype))
        return ty_cell_f32_wide((float)ty_value_of(bits, dtype), b, f);
    return ty_cell_of_slot(ty_axis_slot(bits, dtype, binning, positive, axis), b->bins);
}
#endif

/* An axis has, at byte 48, its policies (tally_flow) for under, over and NaN and where the next
 * axis is, in steps of 64 bytes. Behind the last axis are the numbers of the active channels. */
TY_FN TY_GLOBAL const ty_u8 *ty_axis_next(TY_GLOBAL const ty_u8 *axis)
{
    return axis + (ty_u64)((TY_GLOBAL const ty_u32 *)axis)[15] * 64;
}

/* A joint slot in the making: the bin so far, and what its coordinates were besides. */
typedef struct ty_joint {
    ty_u32 bin, outside; /* outside: 1 + the first flow that is no bin, or 0 */
    ty_u32 nan, failed;
} ty_joint;

TY_FN void ty_join(ty_joint *j, ty_u32 slot, TY_GLOBAL const ty_u8 *axis)
{
    TY_GLOBAL const ty_u32 *about = (TY_GLOBAL const ty_u32 *)axis;
    ty_u32 bins = about[8];
    if (slot >= bins) {
        ty_u32 flow = slot - bins, policy = about[12 + flow];
        if (policy == 1) {
            slot = flow == TY_SLOT_UNDER ? 0 : bins - 1;
        } else {
            j->failed |= policy == 2;
            j->nan |= flow == TY_SLOT_NAN;
            j->outside = j->outside ? j->outside : 1 + flow;
            slot = 0;
        }
    }
    j->bin = j->bin * bins + slot;
}

TY_FN ty_u32 ty_joint_slot(ty_joint j, ty_u32 all)
{
    return j.failed    ? all + TY_SLOT_FAILED
           : j.nan     ? all + TY_SLOT_NAN
           : j.outside ? all + j.outside - 1
                       : j.bin;
}

/* The slot of the element at a batch, row and column; `all` is the product of the axes' bins. */
TY_FN ty_u32 ty_view_slot(TY_SAMPLES_ARGS ty_i64 channel, ty_u64 b, ty_u64 r, ty_u64 c, ty_u32 all,
                          TY_GLOBAL const ty_u8 *axis)
{
#if TY_DIMS == 1
    (void)all;
    return ty_axis_slot(ty_word_at(TY_GRID_AT(x0, b, r, c) + channel, ty_dtype_size(TY_DTYPE_0)),
                        TY_DTYPE_0, TY_BINNING_0, TY_POSITIVE_0, axis);
#else
    ty_joint j = {0, 0, 0, 0};
#define TY_JOIN(d)                                                                                 \
    ty_join(&j,                                                                                    \
            ty_axis_slot(ty_word_at(TY_GRID_AT(x##d, b, r, c), ty_dtype_size(TY_DTYPE_##d)),       \
                         TY_DTYPE_##d, TY_BINNING_##d, TY_POSITIVE_##d, axis),                     \
            axis);                                                                                 \
    axis = ty_axis_next(axis);
    TY_DIMENSIONS(TY_JOIN)
    (void)channel;
    return ty_joint_slot(j, all);
#endif
}
#define TY_PASS_ONE(d)  TY_PASS_GRID(x##d)
#define TY_PASS_SAMPLES TY_DIMENSIONS(TY_PASS_ONE)

/* The slot of batch b's element at a row and column, of so many bins. */
#define TY_MASKED_SLOT(slot, b, row, column, offset, mask, masked, bins, axis)                     \
    do {                                                                                           \
        (slot) = ty_view_slot(TY_PASS_SAMPLES offset, b, row, column, bins, axis);                 \
        if ((masked) && !*TY_GRID_AT(mask, b, row, column))                                        \
            (slot) = (bins) + TY_SLOT_MASKED;                                                      \
    } while (0)

#endif
/* SPDX-License-Identifier: Apache-2.0 */
