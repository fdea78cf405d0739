/*
 * Uneven and logarithmic axes: which cell, without a branch, from a table in local memory.
 *
 * A sample becomes a key, a 32-bit integer in the samples' order, and every edge a threshold, the
 * least key that is not below it: comparing keys decides exactly as comparing numbers does. The
 * cell (fast.h) is the number of thresholds that are not above the key. The table tells it by the
 * key's upper bits; TY_EVEN says how (core/guide.c makes it, as small as local memory asks for):
 *
 *      4: no two thresholds share the upper bits. Their word is
 *              cell << drop, + 2^drop - the threshold's lower bits where one is inside,
 *         to which the key's lower bits are added: past the threshold they carry into the cell.
 *      5: the upper bits' word says where such words for finer cells begin, and how much finer.
 *      6: the upper bits' word is a cell; a binary search among the thresholds behind the table, of
 * as many steps for every key, tells the rest.
 *
 * Keys of 64-bit samples are of 64 bits, and so are their thresholds; what stands above for a key
 * are the 31 bits of it that tell all thresholds apart, and one comparison in full follows.
 */
#ifndef TY_GUIDE_H
#define TY_GUIDE_H

#include "dialect.h"

#define TY_BY_LOOK   4
#define TY_BY_LOOKS  5
#define TY_BY_SEARCH 6

typedef struct ty_guide {
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
    ty_u32 unused;
} ty_guide;

/* Where a guide lies in local memory: from byte `to` on. */
TY_FN void ty_guide_place(ty_guide *g, ty_u32 to, ty_u32 lane)
{
    g->stride = g->four << g->copies;
    g->from = to - g->begin * g->stride + (lane & ((1u << g->copies) - 1)) * 4;
    g->rest = to + g->cells * g->stride;
}

/* `positive`: all thresholds are above 0, where bits are in order, and below where not. */
TY_FN ty_i32 ty_key_f32(float x, const ty_guide *g, int positive)
{
    if (positive)
        return (ty_i32)TY_FLOAT_BITS(x);
    x += 0.0f; /* -0 becomes 0 */
    ty_i32 sign = (ty_i32)TY_FLOAT_BITS(x) >> 31;
    return (ty_i32)(TY_FLOAT_BITS(TY_MAX_ABS(x, g->floor)) - TY_FLOAT_BITS(g->floor)) ^ sign;
}

#define TY_GUIDE_WORD(table, at) (*(TY_LOCAL const ty_u32 *)((table) + (at)))

/* The cell of a key between first and last. */
TY_FN ty_u32 ty_guide_cell(ty_i32 key, const ty_guide *g, TY_LOCAL const ty_u8 *table, int way)
{
    ty_u32 word = TY_GUIDE_WORD(table, (ty_u32)(key >> g->drop) * g->stride + g->from);
    if (way == TY_BY_SEARCH) {
        ty_u32 begin = g->rest - 4, at = begin + word * 4;
        TY_ROLLED
        for (ty_u32 step = g->reach; step >= 4; step >>= 1)
            at += (ty_i32)TY_GUIDE_WORD(table, at + step) <= key ? step : 0u;
        return (at - begin) / 4;
    }
    if (way == TY_BY_LOOK)
        return (word + (ty_u32)key) >> g->drop;
    ty_u32 low = (ty_u32)key & ((1u << g->drop) - 1);
    word = TY_GUIDE_WORD(table, (low >> (word & 31)) * g->four + g->rest + (word >> 5));
    return (word + low) >> g->drop;
}

TY_FN ty_u32 ty_guide_cell_32(ty_i32 key, const ty_guide *g, TY_LOCAL const ty_u8 *table, int way)
{
    key = key > g->first ? key : g->first;
    key = key < g->last ? key : g->last;
    return ty_guide_cell(key, g, table, way);
}

TY_FN ty_u32 ty_guide_cell_64(ty_i64 key, const ty_guide *g, TY_LOCAL const ty_u8 *table, int way)
{
    TY_LOCAL const ty_i64 *least = (TY_LOCAL const ty_i64 *)(table + (g->rest + g->exact));
    key = key > g->low ? key : g->low;
    key = key < g->high ? key : g->high;
    ty_u32 cell =
        ty_guide_cell((ty_i32)(((ty_u64)key - (ty_u64)g->low) >> g->window), g, table, way);
    return cell - (key < least[cell] ? 1u : 0u);
}

#if !defined(TY_NO_FP64)
TY_FN ty_i64 ty_key_f64(double x, const ty_guide *g, int positive)
{
    ty_u64 bits = TY_BITS_OF(positive ? x : x + 0.0);
    if (positive)
        return (ty_i64)bits;
    ty_i64 sign = (ty_i64)bits >> 63;
    bits &= 0x7fffffffffffffffu;
    return (ty_i64)((bits > g->floor_bits ? bits : g->floor_bits) - g->floor_bits) ^ sign;
}
#endif

#endif
