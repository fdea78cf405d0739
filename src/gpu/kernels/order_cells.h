/*
 * Cells of equal width: in keys, or, of float32 and float64, in values. All that has to be true of
 * cells is that samples ascend as their cells do.
 */
#ifndef TY_ORDER_CELLS_H
#define TY_ORDER_CELLS_H

#include "gpu/kernels/order.h"

#if TY_DTYPE == TY_F32
#define ORDER_HAS_VALUES  1
#define ORDER_VALUE(held) TY_AS_FLOAT(held)
#define ORDER_VALUE_FINE  0x1p-20f /* how far apart values should be, by their size */
typedef float order_float;
#elif TY_DTYPE == TY_F64 && !defined(TY_NO_FP64)
#define ORDER_HAS_VALUES  1
#define ORDER_VALUE(held) TY_AS_DOUBLE(held)
#define ORDER_VALUE_FINE  0x1p-49
typedef double order_float;
#else
#define ORDER_HAS_VALUES  0
#define ORDER_VALUE(held) 0.0f
#define ORDER_VALUE_FINE  0.0f
typedef float order_float;
#endif

typedef struct order_values {
    order_float origin; /* where cells begin */
    float per;          /* 1 by the width of all; 0: there are no cells */
} order_values;

/* Cells for values from `first` to `last`, and some before and behind. There are none if an end is
 * infinite or NaN, say. */
TY_FN order_values order_values_of(order_float first, order_float last)
{
    const order_float large = (first < 0 ? -first : first) + (last < 0 ? -last : last);
    order_float beside = (last - first) / 2048;
    order_values v;
    beside = beside > large * ORDER_VALUE_FINE ? beside : large * ORDER_VALUE_FINE;
    beside = beside > 0x1p-100f ? beside : 0x1p-100f;
    v.origin = first - beside;
    v.per = (float)(1 / (last + beside - v.origin));
    if (!ORDER_HAS_VALUES || !(v.per > 0x1p-120f))
        v.origin = v.per = 0;
    return v;
}

/* The cell of a value, of so many, a power of two. Each step rounds, but larger numbers never to
 * smaller ones. NaN are in the first cell. */
TY_FN ty_u32 order_value_cell(const order_values *v, const ty_u32 cells, order_float value)
{
    const float share = TY_SATURATE((float)(value - v->origin) * v->per);
    return TY_FLOAT_BITS(TY_FMAF(share, (float)(cells - 1), 0x1p23f)) & (cells - 1);
}

/* Cells by keys, and by values if there are. By keys, a cell is the upper bits of a key's distance
 * from the least. */
typedef struct order_cells {
    order_key low;            /* the least; those before are in the first cell too, */
    ty_u32 drop, shift, most; /* and those further than `most` in the last */
    order_values values;
} order_cells;

TY_FN ty_u32 order_cell_by_key(const order_cells *c, order_key key)
{
    const order_key up = key > c->low ? key : c->low;
#if ORDER_KEY_WORDS == 2
    const order_key far_ = (up - c->low) >> c->drop;
    return (ty_u32)(far_ < c->most ? far_ : c->most) >> c->shift;
#else
    const ty_u32 d = up - c->low;
    return (d < c->most ? d : c->most) >> c->shift;
#endif
}

TY_FN ty_u32 order_cell_of(const order_cells *c, const int by_value, const ty_u32 cells,
                           order_key held)
{
    return by_value ? order_value_cell(&c->values, cells, ORDER_VALUE(held))
                    : order_cell_by_key(c, order_key_of_held(held));
}

/* Bits of a number. */
TY_FN ty_u32 order_bits(order_key x)
{
    ty_u32 bits = 0;
    TY_UNROLL
    for (ty_u32 half_ = 16 * ORDER_KEY_WORDS; half_; half_ /= 2)
        if (x >> half_) {
            bits += half_;
            x >>= half_;
        }
    return bits + (x != 0);
}

/* Cells by keys for those from `first` on, up to `span` further; one before and one behind, if
 * there is anything. */
TY_FN void order_cells_of_keys(order_cells *c, const ty_u32 cells, order_key first, order_key span)
{
    c->drop = c->shift = 0;
#if ORDER_KEY_WORDS == 2
    const ty_u32 bits = order_bits(span);
    c->drop = bits > 31 ? bits - 31 : 0;
#endif
    while ((span >> c->drop >> c->shift) + 3 > cells - 1)
        c->shift++;
    const order_key width = (order_key)1 << (c->drop + c->shift);
    c->low = first > width ? first - width : 0;
    const ty_u64 end = ((ty_u64)((first + span - c->low) >> c->drop >> c->shift) + 1) << c->shift;
    c->most = end > 0xffffffffu ? 0xffffffffu : (ty_u32)end;
}

/* ORDER_CELLS_WORDS words of global memory, the first at a multiple of 8 bytes. */
TY_FN order_cells order_cells_load(TY_GLOBAL const ty_u32 *from)
{
    order_cells c;
    c.low = *(TY_GLOBAL const order_key *)from;
    c.values.origin = *(TY_GLOBAL const order_float *)(from + 2);
    c.values.per = *(TY_GLOBAL const float *)(from + 4);
    c.drop = from[5];
    c.shift = from[6];
    c.most = from[7];
    return c;
}

TY_FN void order_cells_store(TY_GLOBAL ty_u32 *to, const order_cells *c)
{
    *(TY_GLOBAL order_key *)to = c->low;
    *(TY_GLOBAL order_float *)(to + 2) = c->values.origin;
    *(TY_GLOBAL float *)(to + 4) = c->values.per;
    to[5] = c->drop;
    to[6] = c->shift;
    to[7] = c->most;
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
