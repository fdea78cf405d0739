/*
 * Sums that do not depend on their order: terms become whole multiples of 2^base, added up as 64 or
 * 96-bit integers in 32-bit words, with the carry found from the word that an addition returns.
 */
#ifndef TY_FIXED_H
#define TY_FIXED_H

#include "gpu/kernels/view.h"

#if !defined(TY_NO_FP64)

/* The number of an active channel, which is behind the axes (view.h). */
TY_FN ty_i64 ty_channel_of(TY_GLOBAL const ty_u8 *axis, ty_u64 active)
{
    for (int d = 0; d < TY_DIMS; d++)
        axis = ty_axis_next(axis);
    return ((TY_GLOBAL const ty_u32 *)axis)[active];
}

/* An integer of 128 bits, two's complement. */
typedef struct ty_wide {
    ty_u64 low, high;
} ty_wide;

TY_FN ty_wide ty_wide_add(ty_wide a, ty_wide b)
{
    ty_wide sum = {a.low + b.low, a.high + b.high};
    sum.high += sum.low < a.low ? 1 : 0;
    return sum;
}

TY_FN ty_wide ty_wide_negate(ty_wide a)
{
    ty_wide n = {0 - a.low, ~a.high};
    n.high += a.low == 0 ? 1 : 0;
    return n;
}

/* 2^k, -1074 <= k <= 1023. */
TY_FN double ty_power(int k)
{
    return TY_AS_DOUBLE(k >= -1022 ? (ty_u64)(k + 1023) << 52 : (ty_u64)1 << (k + 1074));
}

/* x / 2^base, rounded to nearest, ties to even. The quotient must be below 2^117. */
TY_FN ty_wide ty_wide_of(double x, int base)
{
    ty_u64 bits = TY_BITS_OF(x), exponent = bits >> 52 & 2047;
    ty_u64 m = (bits & 0xfffffffffffffu) | (exponent ? (ty_u64)1 << 52 : 0);
    int shift = (int)(exponent ? exponent : 1) - 1075 - base;
    ty_wide w = {m, 0};
    if (shift < -54) {
        w.low = 0;
    } else if (shift < 0) {
        ty_u64 rest = m & (((ty_u64)1 << -shift) - 1), middle = (ty_u64)1 << (-shift - 1);
        w.low = m >> -shift;
        w.low += rest > middle || (rest == middle && (w.low & 1)) ? 1 : 0;
    } else if (shift) {
        w.low = m << shift;
        w.high = m >> (64 - shift);
    }
    return bits >> 63 ? ty_wide_negate(w) : w;
}

/* w * 2^base, rounded once to the nearest float64, ties to even. */
TY_FN double ty_wide_value(ty_wide w, int base)
{
    ty_u64 negative = w.high >> 63;
    if (negative)
        w = ty_wide_negate(w);
    if (!(w.low | w.high))
        return 0.0;
    int top = 0, cut;
    for (int step = 64; step > 0; step /= 2) {
        int at = top + step;
        if (at < 64 ? (w.low >> at | w.high) != 0 : w.high >> (at - 64) != 0)
            top = at;
    }
    cut = top - 52 > -1074 - base ? top - 52 : -1074 - base;
    ty_u64 m = w.low;
    if (cut > top + 1)
        return 0.0;
    if (cut > 0) {
        ty_wide rest = w, middle = {0, 0};
        if (cut < 64) {
            m = w.low >> cut | w.high << (64 - cut);
            rest.high = 0;
            rest.low = w.low & (((ty_u64)1 << cut) - 1);
            middle.low = (ty_u64)1 << (cut - 1);
        } else {
            m = cut < 128 ? w.high >> (cut - 64) : 0;
            rest.high = cut < 128 ? w.high & (((ty_u64)1 << (cut - 64)) - 1) : w.high;
            middle.high = cut > 64 ? (ty_u64)1 << (cut - 65) : 0;
            middle.low = cut > 64 ? 0 : (ty_u64)1 << 63;
        }
        int above = rest.high > middle.high || (rest.high == middle.high && rest.low > middle.low);
        int tie = rest.high == middle.high && rest.low == middle.low;
        m += above || (tie && (m & 1)) ? 1 : 0;
    } else {
        cut = 0;
    }
    /* The product is exact: m has 53 bits and the last one is worth 2^-1074 or more. */
    int scale = base + cut;
    double value = (double)m;
    if (scale > 1023) {
        value *= ty_power(1023);
        scale -= 1023;
        scale = scale < 1023 ? scale : 1023;
    }
    value *= ty_power(scale);
    return negative ? -value : value;
}

#endif

#endif
/* SPDX-License-Identifier: Apache-2.0 */
