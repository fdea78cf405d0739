/*
 * Uneven and logarithmic axes: which cell, from a table in local memory, or one in device memory.
 *
 * A sample becomes a key, a 32-bit integer in the samples' order, and every edge a threshold, the
 * least key that is not below it: comparing keys decides exactly as comparing numbers does. The
 * cell (cell.h) is the number of thresholds that are not above the key. A table leads to it from
 * the key's upper bits. There are seven kinds, numbered as TY_BINNING is; binning/lookup.c makes
 * those in local memory, as small as must be:
 *
 *      4: no two thresholds share the upper bits. Their word is
 *              cell << drop, + 2^drop - the threshold's lower bits where one is inside,
 *         to which the key's lower bits are added: past the threshold they carry into the cell.
 *      5: the upper bits' word says where such words for finer cells begin, and how much finer.
 *      6: the upper bits' word is a cell; a binary search among the thresholds behind the table, of
 *         as many steps for every key, tells the rest.
 *      7: entries of 16 bits, found by a float's distance from the first edge or by the upper bits
 *         of a whole number: a cell, whose threshold, the next behind the entries, decides. The few
 *         entries with several thresholds say so, and these are gone through.
 *
 * Keys of 64-bit samples are of 64 bits, and so are their thresholds; what stands above for a key
 * are the 31 bits of it that tell all thresholds apart, and one comparison in full follows.
 *
 * Where no local memory is left, what tells the cell is in device memory (binning/lookup_global.c):
 *
 *      8: edges that follow a logarithm. A polynomial tells a key's logarithm, and a product where
 *         that is among the edges. Only next to an edge, nearer than the plan found the product to
 *         be wrong, the key is compared with its threshold.
 *      9: an entry for the key's upper bits: a cell and the threshold behind it; the few entries
 *         with more thresholds say so, and these are searched.
 *     10: the same, the entry found by the sample's distance from the first edge.
 */
#ifndef TY_CELL_LOOKUP_H
#define TY_CELL_LOOKUP_H

#include "binning/dialect.h"

#define TY_LOOKUP_ONE             4
#define TY_LOOKUP_TWO             5
#define TY_LOOKUP_SEARCH          6
#define TY_LOOKUP_INDEX           7
#define TY_LOOKUP_LOG             8
#define TY_LOOKUP_UPPER           9
#define TY_LOOKUP_LINEAR          10
#define TY_IS_LOOKUP(kind)        ((kind) >= TY_LOOKUP_ONE)
#define TY_IS_GLOBAL_LOOKUP(kind) ((kind) >= TY_LOOKUP_LOG)

typedef struct ty_lookup {
    ty_i32 first, last; /* keys beyond are taken for these: under and over */
    float floor;        /* f32: smaller magnitudes are taken for it, their sign apart */
    ty_u32 drop;        /* lower bits of a key */
    ty_u32 begin;       /* the first upper bits: those of `first` */
    ty_u32 cells;       /* … and how many there are: words at the table's begin */
    ty_u32 copies;      /* log2 of their copies in local memory, for lanes in turn */
    ty_u32 words;       /* of the table, one copy */
    ty_u32 bytes;       /* from the axis' begin to the table */
    /* Bytes in local memory. */
    ty_u32 from;      /* to the lane's word of upper bits 0 */
    ty_u32 stride;    /* from there to the next upper bits' */
    ty_u32 rest;      /* to what follows these words */
    ty_u32 four;      /* of a word; unknown to a compiler, a factor is no shift, which costs more */
    ty_u32 reach;     /* 6: over which the first step goes */
    ty_u32 exact;     /* 64-bit keys: from `rest` to what each cell's keys are not below */
    ty_u32 window;    /* … the lower bits that are left out */
    ty_i64 low, high; /* … first and last */
    ty_u64 floor_bits; /* f64: floor */
    ty_u32 nan;        /* the cell of NaN */
    /* In device memory. */
    ty_u32 least;            /* bytes from the axis' begin to what each cell's keys are not below */
    ty_u32 count;            /* thresholds */
    ty_u32 origin, slope;    /* 8: the logarithm above `origin`, times `slope`: 2^-part cells */
    ty_u32 part, mask, near; /* … its lower bits; up to `near` of them an edge may be above */
    ty_u32 one;              /* … the bits of 1; known to a compiler, they cost an instruction */
    ty_u32 entries;          /* 7, 9, 10 */
    float start, per;        /* 7, 10: the first edge, entries a unit */
    ty_u64 start_bits, per_bits; /* … of f64 */
} ty_lookup;

/* Sets where the table lies in local memory: from byte `to` on. */
TY_FN void ty_lookup_locate(ty_lookup *g, ty_u32 to, ty_u32 lane)
{
    g->stride = g->four << g->copies;
    g->from = to - g->begin * g->stride + (lane & ((1u << g->copies) - 1)) * 4;
    g->rest = to + g->cells * g->stride;
}

/* `positive`: all thresholds are above 0, where bits are in order, and below where not. */
TY_FN ty_i32 ty_key_f32(float x, const ty_lookup *g, int positive)
{
    if (positive)
        return (ty_i32)TY_FLOAT_BITS(x);
    x += 0.0f; /* -0 becomes 0 */
    ty_i32 sign = (ty_i32)TY_FLOAT_BITS(x) >> 31;
    return (ty_i32)(TY_FLOAT_BITS(TY_MAX_ABS(x, g->floor)) - TY_FLOAT_BITS(g->floor)) ^ sign;
}

#define TY_LOOKUP_WORD(table, at) (*(TY_LOCAL const ty_u32 *)((table) + (at)))

/* The cell of a key between first and last. */
TY_FN ty_u32 ty_lookup_cell(ty_i32 key, const ty_lookup *g, TY_LOCAL const ty_u8 *table, int kind)
{
    ty_u32 word = TY_LOOKUP_WORD(table, (ty_u32)(key >> g->drop) * g->stride + g->from);
    if (kind == TY_LOOKUP_SEARCH) {
        ty_u32 begin = g->rest - 4, at = begin + word * 4;
        TY_ROLLED
        for (ty_u32 step = g->reach; step >= 4; step >>= 1)
            at += (ty_i32)TY_LOOKUP_WORD(table, at + step) <= key ? step : 0u;
        return (at - begin) / 4;
    }
    if (kind == TY_LOOKUP_ONE)
        return (word + (ty_u32)key) >> g->drop;
    ty_u32 low = (ty_u32)key & ((1u << g->drop) - 1);
    word = TY_LOOKUP_WORD(table, (low >> (word & 31)) * g->four + g->rest + (word >> 5));
    return (word + low) >> g->drop;
}

TY_FN ty_u32 ty_lookup_cell_32(ty_i32 key, const ty_lookup *g, TY_LOCAL const ty_u8 *table,
                               int kind)
{
    key = key > g->first ? key : g->first;
    key = key < g->last ? key : g->last;
    return ty_lookup_cell(key, g, table, kind);
}

TY_FN ty_u32 ty_lookup_cell_64(ty_i64 key, const ty_lookup *g, TY_LOCAL const ty_u8 *table,
                               int kind)
{
    TY_LOCAL const ty_i64 *least = (TY_LOCAL const ty_i64 *)(table + (g->rest + g->exact));
    key = key > g->low ? key : g->low;
    key = key < g->high ? key : g->high;
    ty_u32 cell =
        ty_lookup_cell((ty_i32)(((ty_u64)key - (ty_u64)g->low) >> g->window), g, table, kind);
    return cell - (key < least[cell] ? 1u : 0u);
}

/* ---- in device memory ---- */

/* The logarithm to base 2 of a positive float32 that is not denormal, in 2^-23 and more by a
 * constant, modulo 2^32. A larger number's is never smaller (tests/unit/test_lookup.c tries all).
 */
TY_FN ty_u32 ty_log_of(ty_u32 bits, ty_u32 one)
{
    float t = TY_AS_FLOAT((bits & 0x7fffffu) | one) - 1.5f;
    float y = TY_FMAF(t, 0.0147787211f, -0.0251232032f);
    y = TY_FMAF(t, y, 0.0374629386f);
    y = TY_FMAF(t, y, -0.0705896765f);
    y = TY_FMAF(t, y, 0.142526373f);
    y = TY_FMAF(t, y, -0.320632339f);
    y = TY_FMAF(t, y, 0.961795986f);
    y = TY_FMAF(t, y, 1.58496273f); /* 1 … 2 */
    return (bits & 0xff800000u) + TY_FLOAT_BITS(y);
}

/* The bits of a key as a float32, of a wide one's exponent the lower eight: for ty_log_of. */
TY_FN ty_u32 ty_log_bits_32(ty_i32 key, int dtype)
{
    return dtype == TY_U32   ? TY_FLOAT_BITS((float)((ty_u32)key ^ 0x80000000u))
           : dtype == TY_I32 ? TY_FLOAT_BITS((float)key)
                             : (ty_u32)key;
}

TY_FN ty_u32 ty_log_bits_64(ty_i64 key, int dtype)
{
    return dtype == TY_U64   ? TY_FLOAT_BITS((float)((ty_u64)key ^ (ty_u64)1 << 63))
           : dtype == TY_I64 ? TY_FLOAT_BITS((float)key)
                             : (ty_u32)((ty_u64)key >> 29);
}

/* Where among the edges a logarithm is: in cells, `part` bits of them behind the point. */
TY_FN ty_u32 ty_log_position(ty_u32 bits, const ty_lookup *g)
{
    return TY_MUL_HI(ty_log_of(bits, g->one) - g->origin, g->slope);
}

#define TY_WORDS_AT(type, axis, byte) ((TY_GLOBAL const type *)((axis) + (byte)))

/* The same for keys of 32 and of 64 bits. By logarithm, in two steps: where a key is among the
 * edges, and from that its cell, for keys next to an edge; those beyond the edges are next to the
 * last. The search behind an entry whose first threshold the key is not below; an entry, which is
 * the number of thresholds before it, upon that log2 of those in it, and the first of these. */
#define TY_IS_NEAR(position, g) (((position) & (g)->mask) <= (g)->near)
#define TY_MORE                 27
#define TY_GLOBAL_CELLS(bits)                                                                      \
    TY_FN ty_u32 ty_log_position_##bits(ty_i##bits key, const ty_lookup *g, ty_i##bits first,      \
                                        ty_i##bits last, int dtype)                                \
    {                                                                                              \
        key = key > first ? key : first;                                                           \
        key = key < last ? key : last;                                                             \
        return ty_log_position(ty_log_bits_##bits(key, dtype), g);                                 \
    }                                                                                              \
    TY_FN ty_u32 ty_log_cell_##bits(ty_i##bits key, ty_u32 position, const ty_lookup *g,           \
                                    TY_GLOBAL const ty_u8 *axis)                                   \
    {                                                                                              \
        ty_u32 cell = position >> g->part;                                                         \
        ty_i##bits least = key;                                                                    \
        if (TY_IS_NEAR(position, g))                                                               \
            least = TY_WORDS_AT(ty_i##bits, axis, g->least)[cell];                                 \
        return cell - (key < least ? 1u : 0u);                                                     \
    }                                                                                              \
    TY_FN ty_u32 ty_entry_cell_##bits(ty_i##bits key, ty_u32 entry, ty_i##bits bound,              \
                                      const ty_lookup *g, TY_GLOBAL const ty_u8 *axis)             \
    {                                                                                              \
        ty_u32 cell = entry & ((1u << TY_MORE) - 1);                                               \
        if (key < bound)                                                                           \
            return cell;                                                                           \
        cell++;                                                                                    \
        TY_ROLLED                                                                                  \
        for (ty_u32 step = (1u << (entry >> TY_MORE)) >> 1; step; step >>= 1) {                    \
            ty_u32 next = cell + step;                                                             \
            if (next <= g->count && key >= TY_WORDS_AT(ty_i##bits, axis, g->least)[next])          \
                cell = next;                                                                       \
        }                                                                                          \
        return cell;                                                                               \
    }
TY_GLOBAL_CELLS(32)
TY_GLOBAL_CELLS(64)

/* Which entry. */
TY_FN ty_u32 ty_upper_entry_32(ty_i32 key, const ty_lookup *g)
{
    key = key > g->first ? key : g->first;
    key = key < g->last ? key : g->last;
    return ((ty_u32)key - (ty_u32)g->first) >> g->drop;
}

TY_FN ty_u32 ty_upper_entry_64(ty_i64 key, const ty_lookup *g)
{
    key = key > g->low ? key : g->low;
    key = key < g->high ? key : g->high;
    return (ty_u32)(((ty_u64)key - (ty_u64)g->low) >> g->drop);
}

/* A sum and a product, each rounded, keep the order of samples; NaN comes first. */
TY_FN ty_u32 ty_linear_entry_f32(float x, const ty_lookup *g)
{
    float most = (float)(g->entries - 1), at = (x - g->start) * g->per;
    at = at > 0 ? at : 0;
    return (ty_u32)(at < most ? at : most);
}

/* 7: the cell of a key whose entry is `at`, but where *crowded is made true: the least it may be.
 */
#define TY_CROWDED 0x8000u
TY_FN ty_u32 ty_index_least(ty_i32 key, ty_u32 at, const ty_lookup *g, TY_LOCAL const ty_u8 *table,
                            ty_u32 *crowded)
{
    ty_u32 entry = *(TY_LOCAL const ty_u16 *)(table + (at * 2 + g->from));
    ty_u32 cell = entry & (TY_CROWDED - 1);
    ty_u32 above = key >= (ty_i32)TY_LOOKUP_WORD(table, cell * 4 + g->rest + 4);
    *crowded |= entry & (above * TY_CROWDED);
    return cell + above;
}

TY_FN ty_u32 ty_index_cell(ty_i32 key, ty_u32 cell, const ty_lookup *g, TY_LOCAL const ty_u8 *table)
{
    TY_ROLLED
    while (cell < g->count && key >= (ty_i32)TY_LOOKUP_WORD(table, cell * 4 + g->rest + 4))
        cell++;
    return cell;
}

/* The cell of a key; by TY_LOOKUP_LINEAR its entry is `at`. */
TY_FN ty_u32 ty_global_cell_32(ty_i32 key, ty_u32 at, const ty_lookup *g,
                               TY_GLOBAL const ty_u8 *axis, int kind, int dtype)
{
    if (kind == TY_LOOKUP_LOG)
        return ty_log_cell_32(key, ty_log_position_32(key, g, g->first, g->last, dtype), g, axis);
    at = kind == TY_LOOKUP_LINEAR ? at : ty_upper_entry_32(key, g);
    ty_u64 entry = TY_WORDS_AT(ty_u64, axis, g->bytes)[at];
    return ty_entry_cell_32(key, (ty_u32)entry, (ty_i32)(entry >> 32), g, axis);
}

TY_FN ty_u32 ty_global_cell_64(ty_i64 key, ty_u32 at, const ty_lookup *g,
                               TY_GLOBAL const ty_u8 *axis, int kind, int dtype)
{
    if (kind == TY_LOOKUP_LOG)
        return ty_log_cell_64(key, ty_log_position_64(key, g, g->low, g->high, dtype), g, axis);
    at = kind == TY_LOOKUP_LINEAR ? at : ty_upper_entry_64(key, g);
    TY_GLOBAL const ty_i64 *entry = TY_WORDS_AT(ty_i64, axis, g->bytes) + 2 * (ty_u64)at;
    return ty_entry_cell_64(key, (ty_u32)entry[0], entry[1], g, axis);
}

#if !defined(TY_NO_FP64)
TY_FN ty_u32 ty_linear_entry_f64(double x, const ty_lookup *g)
{
    double most = (double)(g->entries - 1);
    double at = (x - TY_AS_DOUBLE(g->start_bits)) * TY_AS_DOUBLE(g->per_bits);
    at = at > 0 ? at : 0;
    return (ty_u32)(at < most ? at : most);
}

TY_FN ty_i64 ty_key_f64(double x, const ty_lookup *g, int positive)
{
    ty_u64 bits = TY_BITS_OF(positive ? x : x + 0.0);
    if (positive)
        return (ty_i64)bits;
    ty_i64 sign = (ty_i64)bits >> 63;
    bits &= 0x7fffffffffffffffu;
    return (ty_i64)((bits > g->floor_bits ? bits : g->floor_bits) - g->floor_bits) ^ sign;
}

TY_FN ty_u32 ty_global_cell_f64(double x, const ty_lookup *g, TY_GLOBAL const ty_u8 *axis, int kind,
                                int positive)
{
    ty_u32 at = kind == TY_LOOKUP_LINEAR ? ty_linear_entry_f64(x, g) : 0;
    ty_u32 cell = ty_global_cell_64(ty_key_f64(x, g, positive), at, g, axis, kind, 12);
    return x == x ? cell : g->nan;
}
#endif

TY_FN ty_u32 ty_global_cell_f32(float x, const ty_lookup *g, TY_GLOBAL const ty_u8 *axis, int kind,
                                int positive)
{
    ty_u32 at = kind == TY_LOOKUP_LINEAR ? ty_linear_entry_f32(x, g) : 0;
    ty_u32 cell = ty_global_cell_32(ty_key_f32(x, g, positive), at, g, axis, kind, 11);
    return x == x ? cell : g->nan;
}

/* … of a whole number's 32 or 64 bits. */
TY_FN ty_u32 ty_global_cell_whole(ty_u64 bits, const ty_lookup *g, TY_GLOBAL const ty_u8 *axis,
                                  int kind, int dtype)
{
    if (TY_TYPE_IS_WHOLE32(dtype))
        return ty_global_cell_32((ty_i32)((ty_u32)bits ^ (dtype == TY_U32 ? 0x80000000u : 0u)), 0,
                                 g, axis, kind, dtype);
    return ty_global_cell_64((ty_i64)(bits ^ (dtype == TY_U64 ? (ty_u64)1 << 63 : 0)), 0, g, axis,
                             kind, dtype);
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
