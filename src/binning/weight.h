/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights as whole numbers of units, for quantiles: integers as they are, floats in units of 2^-63
 * of the smallest power of two above the largest, by integer arithmetic alone. For the host and for
 * kernels.
 */
#ifndef TY_WEIGHT_H
#define TY_WEIGHT_H

#include "binning/bin.h"

/* From the bits of a weight at the lower end: its magnitude, whose order is that of weights. For
 * floats bits, for integers the number. */
TY_FN ty_u64 ty_weight_magnitude(ty_u64 bits, ty_u32 dtype)
{
    return dtype == TY_F32   ? bits & 0x7fffffffu
           : dtype == TY_F64 ? bits & ~((ty_u64)1 << 63)
                             : bits;
}

/* Whether it is below 0, infinite or NaN. */
TY_FN int ty_weight_is_bad(ty_u64 bits, ty_u32 dtype)
{
    const ty_u64 magnitude = ty_weight_magnitude(bits, dtype);
    switch (dtype) {
    case TY_I8:
        return bits >> 7 & 1;
    case TY_I16:
        return bits >> 15 & 1;
    case TY_I32:
        return bits >> 31 & 1;
    case TY_I64:
        return (int)(bits >> 63);
    case TY_F32:
        return magnitude >= 0x7f800000u || (bits != magnitude && magnitude != 0);
    case TY_F64:
        return magnitude >= (ty_u64)0x7ff << 52 || (bits != magnitude && magnitude != 0);
    default:
        return 0;
    }
}

/* A float's magnitude as *whole × 2^(what is returned). */
TY_FN ty_i32 ty_weight_parts(ty_u64 magnitude, ty_u32 dtype, ty_u64 *whole)
{
    const ty_u32 bits = dtype == TY_F32 ? 23 : 52, binade = (ty_u32)(magnitude >> bits);
    *whole = magnitude & (((ty_u64)1 << bits) - 1);
    if (binade)
        *whole |= (ty_u64)1 << bits;
    return (ty_i32)(binade ? binade : 1) - (dtype == TY_F32 ? 150 : 1075);
}

/* The e of the unit 2^e, from the largest magnitude; 0 of integers. */
TY_FN ty_i32 ty_weight_unit(ty_u64 heaviest, ty_u32 dtype)
{
    ty_u64 whole;
    if (dtype != TY_F32 && dtype != TY_F64)
        return 0;
    ty_i32 unit = ty_weight_parts(heaviest, dtype, &whole);
    for (; whole && whole < (ty_u64)1 << 62; whole *= 2)
        unit--;
    return unit;
}

/* The number of units 2^unit, below 2^63 for floats: the nearest, of halves the even one, but at
 * least one of what is above 0. */
TY_FN ty_u64 ty_weight_units(ty_u64 magnitude, ty_u32 dtype, ty_i32 unit)
{
    ty_u64 whole;
    if (dtype != TY_F32 && dtype != TY_F64)
        return magnitude;
    const ty_i32 up = ty_weight_parts(magnitude, dtype, &whole) - unit;
    if (up >= 0)
        return whole << up;
    if (up < -63)
        return whole != 0;
    const ty_u64 half_ = (ty_u64)1 << (-up - 1), rest = whole & (2 * half_ - 1);
    ty_u64 units = whole >> (-up - 1) >> 1;
    units += rest > half_ || (rest == half_ && (units & 1));
    return units ? units : whole != 0;
}

#endif
