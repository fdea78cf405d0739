/* What every counting kernel takes, and how a sample becomes a slot. TY_DTYPE is the type's number,
 * TY_BINNING says how bins are found (bin.h): TY_BY_F32 for methods that ask for it
 * (ty_gpu_method.maps), and for all on devices without float64; TY_BY_AFFINE for the same, of 16-
 * and 32-bit samples; lookup tables of uneven edges by ty_gpu_method.tables. */
#ifndef TY_SAMPLE_H
#define TY_SAMPLE_H

#include "binning/cell.h"
#include "binning/cell_lookup.h"

/* n samples from byte `offset` of `data`; `axis` as cell.h says; `slots` is bins + TY_SLOT_EXTRA;
 * `out`: the partials; `pass`: which launch over the same samples this is, of methods that make
 * several. */
#define TY_COUNT_ARGS                                                                              \
    TY_GLOBAL const ty_u8 *data, ty_u64 offset, ty_u64 n, TY_GLOBAL const ty_u8 *axis,             \
        ty_u32 slots, TY_GLOBAL ty_u32 *out, ty_u32 pass

/* Traits of the samples' dtype, by its number (tally_dtype), 0 or 1. */
#define TY_IS_BYTE     TY_TYPE_IS_BYTE(TY_DTYPE)
#define TY_IS_HALFWORD TY_TYPE_IS_HALFWORD(TY_DTYPE)
#define TY_IS_WHOLE32  TY_TYPE_IS_WHOLE32(TY_DTYPE)
#define TY_IS_WHOLE64  TY_TYPE_IS_WHOLE64(TY_DTYPE)
#define TY_IS_FLOAT32  (TY_DTYPE == TY_F32)
#define TY_IS_FLOAT64  (TY_DTYPE == TY_F64)

#if TY_IS_BYTE
typedef ty_u8 ty_sample;
#elif TY_DTYPE == TY_U16 || TY_TYPE_IS_HALF(TY_DTYPE)
typedef ty_u16 ty_sample;
#elif TY_DTYPE == TY_I16
typedef ty_i16 ty_sample;
#elif TY_DTYPE == TY_U32
typedef ty_u32 ty_sample;
#elif TY_DTYPE == TY_I32
typedef ty_i32 ty_sample;
#elif TY_DTYPE == TY_U64
typedef ty_u64 ty_sample;
#elif TY_DTYPE == TY_I64
typedef ty_i64 ty_sample;
#elif TY_IS_FLOAT32
typedef float ty_sample;
#else
typedef ty_real ty_sample;
#endif

/* The value of a sample, as float32 if its dtype fits one. */
#if TY_DTYPE == TY_F16
/* IEEE binary16: the value moved up 112 binades by a multiplication, which normalises subnormals.
 */
TY_FN float ty_value(ty_sample bits)
{
#if defined(TY_OF_HALF)
    return TY_OF_HALF(bits);
#else
    ty_u32 sign = (ty_u32)(bits & 0x8000u) << 16, rest = (ty_u32)(bits & 0x7fffu) << 13;
    if (rest >= 0x0f800000u)
        return TY_AS_FLOAT(sign | 0x70000000u | rest);
    return TY_AS_FLOAT(sign | rest) * 0x1p112f;
#endif
}
#elif TY_DTYPE == TY_BF16
TY_FN float ty_value(ty_sample bits)
{
    return TY_AS_FLOAT((ty_u32)bits << 16);
}
#elif TY_DTYPE == TY_U16 || TY_DTYPE == TY_I16 || TY_IS_FLOAT32
TY_FN float ty_value(ty_sample x)
{
    return (float)x;
}
#elif !TY_IS_BYTE && !TY_IS_WHOLE64 && !defined(TY_NO_FP64)
TY_FN double ty_value(ty_sample x)
{
    return (double)x;
}
#endif

/* The slot of one sample, without a lookup table. */
#define TY_SEARCHED (TY_BINNING == TY_BY_EDGES || TY_IS_LOOKUP(TY_BINNING))
TY_FN ty_u32 ty_slot_of(ty_sample x, TY_GLOBAL const ty_u8 *axis)
{
#if TY_IS_BYTE
    return ((TY_GLOBAL const ty_u32 *)(axis + TY_AXIS_TABLE))[x];
#elif defined(TY_NO_FP64) || (TY_BINNING == TY_BY_F32 && TY_TIES)
    /* By the float32 arithmetic that was proved for the axis: without float64 plans of others are
     * refused; edges that are rounded to float32 are nowhere else but in their table. */
    const ty_cell_map f = *(TY_GLOBAL const ty_cell_map *)(axis + TY_AXIS_MAP);
    return ty_slot_of_cell(ty_cell_f32(ty_value(x), &f), f.bins);
#else
    ty_bins b = *(TY_GLOBAL const ty_bins *)axis;
    TY_GLOBAL const double *edges = (TY_GLOBAL const double *)(axis + TY_AXIS_TABLE);
#if TY_DTYPE == TY_U64
    return TY_SEARCHED ? ty_slot_edges_u64(x, &b, edges) : ty_slot_even_u64(x, &b);
#elif TY_DTYPE == TY_I64
    return TY_SEARCHED ? ty_slot_edges_i64(x, &b, edges) : ty_slot_even_i64(x, &b);
#else
    return TY_SEARCHED ? ty_slot_edges((double)ty_value(x), &b, edges)
                       : ty_slot_even((double)ty_value(x), &b);
#endif
#endif
}

#if !TY_IS_BYTE
/* What decides cells, held in registers, and the table that it reads: the axis, or a lookup
 * table copied to local memory from word `to` on. */
#if TY_IS_GLOBAL_LOOKUP(TY_BINNING)
typedef ty_lookup ty_decider;
#define TY_WHERE                       TY_GLOBAL const ty_u8 *
#define TY_WHERE_OF(decider, axis, to) (axis)
#elif TY_IS_LOOKUP(TY_BINNING)
typedef ty_lookup ty_decider;
#define TY_WHERE                       TY_LOCAL const ty_u8 *
#define TY_LOOKUP_CELL(bits, key)      ty_lookup_cell_##bits(key, f, axis, TY_BINNING)
#define TY_WHERE_OF(decider, axis, to) ty_lookup_copy(&(decider), axis, ty_local, to)
TY_FN TY_WHERE ty_lookup_copy(ty_lookup *g, TY_GLOBAL const ty_u8 *axis, TY_LOCAL ty_u32 *all,
                              ty_u32 to)
{
    TY_GLOBAL const ty_u32 *words = (TY_GLOBAL const ty_u32 *)(axis + g->bytes);
    const ty_u32 copied = g->cells << g->copies;
    ty_lookup_locate(g, to * 4, TY_LID);
    for (ty_u32 w = TY_LID; w < copied; w += TY_GROUP_SIZE)
        all[to + w] = words[w >> g->copies];
    for (ty_u32 w = TY_LID; w < g->words - g->cells; w += TY_GROUP_SIZE)
        all[to + copied + w] = words[g->cells + w];
    return (TY_LOCAL const ty_u8 *)all;
}
#else
typedef ty_cell_map ty_decider;
#define TY_WHERE                       TY_GLOBAL const ty_u8 *
#define TY_WHERE_OF(decider, axis, to) (axis)
#endif
#if TY_EXCEPTIONS
#define TY_CELL_AFFINE(key, f) ty_cell_exceptions(key, f)
#else
#define TY_CELL_AFFINE(key, f) ty_cell_affine(key, f)
#endif

#define TY_IN_STEPS (TY_BINNING == TY_LOOKUP_LOG || TY_BINNING == TY_LOOKUP_INDEX)
#if TY_IN_STEPS
#if TY_DTYPE == TY_U32
#define TY_KEY_OF(x) ((ty_i32)((x) ^ 0x80000000u))
#elif TY_DTYPE == TY_I32
#define TY_KEY_OF(x) (x)
#elif TY_DTYPE == TY_U64
#define TY_KEY_OF(x) ((ty_i64)((x) ^ (ty_u64)1 << 63))
#elif TY_DTYPE == TY_I64
#define TY_KEY_OF(x) (x)
#elif TY_IS_FLOAT64
#define TY_KEY_OF(x) ty_key_f64(x, g, TY_POSITIVE)
#else
#define TY_KEY_OF(x) ty_key_f32(ty_value(x), g, TY_POSITIVE)
#endif
#endif
#if TY_BINNING == TY_LOOKUP_LOG
/* A sample's position by logarithm (cell_lookup.h), and from that its cell. */
TY_FN ty_u32 ty_log_position_of(ty_sample x, const ty_lookup *g)
{
#if TY_IS_WHOLE64 || TY_IS_FLOAT64
    return ty_log_position_64(TY_KEY_OF(x), g, g->low, g->high, TY_DTYPE);
#else
    return ty_log_position_32(TY_KEY_OF(x), g, g->first, g->last, TY_DTYPE);
#endif
}

TY_FN ty_u32 ty_log_cell_of(ty_sample x, ty_u32 position, const ty_lookup *g,
                            TY_GLOBAL const ty_u8 *axis)
{
#if TY_IS_WHOLE64
    return ty_log_cell_64(TY_KEY_OF(x), position, g, axis);
#elif TY_IS_FLOAT64
    ty_u32 cell = ty_log_cell_64(TY_KEY_OF(x), position, g, axis);
    return x == x ? cell : g->nan;
#elif TY_IS_WHOLE32
    return ty_log_cell_32(TY_KEY_OF(x), position, g, axis);
#else
    ty_u32 cell = ty_log_cell_32(TY_KEY_OF(x), position, g, axis);
    return ty_value(x) == ty_value(x) ? cell : g->nan;
#endif
}
#endif

#if TY_BINNING == TY_LOOKUP_INDEX
/* A sample's cell, or the least it may be; and from that its cell. */
TY_FN ty_u32 ty_index_least_of(ty_sample x, const ty_lookup *g, TY_WHERE table, ty_u32 *crowded)
{
#if TY_IS_WHOLE32
    return ty_index_least(TY_KEY_OF(x), ty_upper_entry_32(TY_KEY_OF(x), g), g, table, crowded);
#else
    return ty_index_least(TY_KEY_OF(x), ty_linear_entry_f32(ty_value(x), g), g, table, crowded);
#endif
}

TY_FN ty_u32 ty_index_cell_of(ty_sample x, ty_u32 cell, const ty_lookup *g, TY_WHERE table)
{
    return ty_index_cell(TY_KEY_OF(x), cell, g, table);
}

TY_FN ty_u32 ty_known_of(ty_sample x, ty_u32 cell, const ty_lookup *g)
{
#if TY_IS_WHOLE32
    (void)x;
    (void)g;
    return cell;
#else
    return ty_value(x) == ty_value(x) ? cell : g->nan;
#endif
}
#endif

/* The cell of one sample + TY_CELL_BIAS, its axis held in registers. */
#if TY_BINNING == TY_BY_F32
#define TY_CELL_BIAS TY_ROUNDER_BITS
#else
#define TY_CELL_BIAS 0u
#endif
TY_FN ty_u32 ty_biased_cell_of(ty_sample x, const ty_bins *b, const ty_decider *f, TY_WHERE axis)
{
#if TY_BINNING == TY_LOOKUP_INDEX
    ty_u32 crowded = 0, cell = ty_index_least_of(x, f, axis, &crowded);
    return ty_known_of(x, crowded ? ty_index_cell_of(x, cell, f, axis) : cell, f);
#elif TY_BINNING == TY_LOOKUP_LOG
    return ty_log_cell_of(x, ty_log_position_of(x, f), f, axis);
#elif TY_IS_GLOBAL_LOOKUP(TY_BINNING)
#if TY_IS_WHOLE32 || TY_IS_WHOLE64
    return ty_global_cell_whole(x, f, axis, TY_BINNING, TY_DTYPE);
#elif TY_IS_FLOAT64
    return ty_global_cell_f64(x, f, axis, TY_BINNING, TY_POSITIVE);
#else
    return ty_global_cell_f32(ty_value(x), f, axis, TY_BINNING, TY_POSITIVE);
#endif
#elif TY_IS_LOOKUP(TY_BINNING) && TY_IS_WHOLE32
    return TY_LOOKUP_CELL(32, (ty_i32)(x ^ (TY_DTYPE == TY_U32 ? 0x80000000u : 0u)));
#elif TY_IS_LOOKUP(TY_BINNING) && TY_IS_WHOLE64
    return TY_LOOKUP_CELL(64, (ty_i64)(x ^ (TY_DTYPE == TY_U64 ? (ty_u64)1 << 63 : 0)));
#elif TY_IS_LOOKUP(TY_BINNING)
    ty_u32 cell = TY_IS_FLOAT64
                      ? TY_LOOKUP_CELL(64, ty_key_f64((double)ty_value(x), f, TY_POSITIVE))
                      : TY_LOOKUP_CELL(32, ty_key_f32((float)ty_value(x), f, TY_POSITIVE));
    return ty_value(x) == ty_value(x) ? cell : f->nan;
#elif TY_BINNING == TY_BY_F32
    return ty_biased_cell_f32(ty_value(x), f);
#elif TY_BINNING == TY_BY_AFFINE && TY_IS_FLOAT32
    return ty_cell_binary(ty_value(x), f);
#elif TY_BINNING == TY_BY_AFFINE && TY_IS_WHOLE32
    const ty_sample least = (ty_sample)f->least, most = (ty_sample)f->most_whole;
    ty_sample held = x > least ? x : least;
    held = held < most ? held : most;
#if TY_EXCEPTIONS
    return ty_cell_whole((ty_u32)held - f->base, f) + (ty_u32)(held >> TY_EXCEPTION_SHIFT);
#else
    return ty_cell_whole((ty_u32)held - f->base, f);
#endif
#elif TY_BINNING == TY_BY_AFFINE && TY_TYPE_IS_HALF(TY_DTYPE)
    return ty_cell_affine_float(ty_value(x), f);
#elif TY_BINNING == TY_BY_AFFINE
    return TY_CELL_AFFINE(TY_DTYPE == TY_I16 ? (ty_u16)x ^ 0x8000u : (ty_u16)x, f);
#elif TY_BINNING == TY_BY_EDGES || TY_IS_WHOLE64
    return ty_cell_of_slot(ty_slot_of(x, axis), b->bins);
#elif TY_IS_WHOLE32 || TY_IS_FLOAT64
    return ty_cell_f64(ty_value(x), b, f);
#else
    return ty_cell_f32_wide(ty_value(x), b, f);
#endif
}

/* Those of n samples, a constant. Where few samples need more than a first step, the next is made
 * only if one of them does. */
TY_FN void ty_biased_cells_of(const ty_sample *x, ty_u32 *cells, ty_u32 n, const ty_bins *b,
                              const ty_decider *f, TY_WHERE axis)
{
#if TY_BINNING == TY_LOOKUP_LOG
    ty_u32 position[8], near = 0;
    TY_UNROLL
    for (ty_u32 e = 0; e < n; e++) {
        position[e] = ty_log_position_of(x[e], f);
        near |= TY_IS_NEAR(position[e], f);
        cells[e] = position[e] >> f->part;
    }
    if (near) {
        TY_UNROLL
        for (ty_u32 e = 0; e < n; e++)
            cells[e] = ty_log_cell_of(x[e], position[e], f, axis);
    }
    (void)b;
#elif TY_BINNING == TY_LOOKUP_INDEX
    ty_u32 crowded = 0;
    TY_UNROLL
    for (ty_u32 e = 0; e < n; e++)
        cells[e] = ty_index_least_of(x[e], f, axis, &crowded);
    if (crowded) {
        TY_UNROLL
        for (ty_u32 e = 0; e < n; e++)
            cells[e] = ty_index_cell_of(x[e], cells[e], f, axis);
    }
    TY_UNROLL
    for (ty_u32 e = 0; e < n; e++)
        cells[e] = ty_known_of(x[e], cells[e], f);
    (void)b;
#else
    TY_UNROLL
    for (ty_u32 e = 0; e < n; e++)
        cells[e] = ty_biased_cell_of(x[e], b, f, axis);
#endif
}

TY_FN ty_u32 ty_cell_of(ty_sample x, const ty_bins *b, const ty_decider *f, TY_WHERE axis)
{
    return ty_biased_cell_of(x, b, f, axis) - TY_CELL_BIAS;
}
#endif

#define TY_SAMPLES(data, offset) ((TY_GLOBAL const ty_sample *)((data) + (offset)))

#endif
/* SPDX-License-Identifier: Apache-2.0 */
