/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a quantile lies among n samples in order, x[0] … x[n-1], and what is between two of them:
 * by NumPy's arithmetic, step for step, so that the same neighbours are found. For the host and for
 * kernels.
 */
#ifndef TY_PLACE_H
#define TY_PLACE_H

#include "binning/dialect.h"

/* tally_quantile_method's numbers. */
#define TY_PLACE_LINEAR           0
#define TY_PLACE_LOWER            1
#define TY_PLACE_HIGHER           2
#define TY_PLACE_NEAREST          3
#define TY_PLACE_MIDPOINT         4
#define TY_PLACE_INVERTED_CDF     5
#define TY_PLACE_AVERAGED_CDF     6
#define TY_PLACE_CLOSEST          7
#define TY_PLACE_INTERPOLATED_CDF 8
#define TY_PLACE_HAZEN            9
#define TY_PLACE_WEIBULL          10
#define TY_PLACE_MEDIAN_UNBIASED  11
#define TY_PLACE_NORMAL_UNBIASED  12

#if !defined(TY_NO_FP64)
/* Between two samples: x[low] + (x[high] - x[low]) * part. */
typedef struct ty_place {
    ty_u64 low, high;
    double part;
} ty_place;

TY_FN ty_place ty_place_at(ty_u64 low, ty_u64 high, double part)
{
    ty_place place;
    place.low = low;
    place.high = high;
    place.part = part;
    return place;
}

/* Hyndman and Fan's continuous definitions: q's place, from 0. */
TY_FN double ty_place_of(double n, double q, double alpha, double beta)
{
    return n * q + (alpha + q * (1 - alpha - beta)) - 1;
}

/* The next sample, but the one before where `before` holds of the exact place. */
TY_FN ty_place ty_place_one(double at, int before, ty_u64 n)
{
    double index = floor(at) + (before ? 0 : 1);
    index = index < 0 ? 0 : index > (double)(n - 1) ? (double)(n - 1) : index;
    return ty_place_at((ty_u64)index, (ty_u64)index, 0);
}

TY_FN ty_place ty_place_between(double at, double part, ty_u64 n)
{
    if (at >= (double)(n - 1))
        return ty_place_at(n - 1, n - 1, 0);
    if (at < 0)
        return ty_place_at(0, 0, 0);
    return ty_place_at((ty_u64)at, (ty_u64)at + 1, part);
}

/* n is at least 1. */
TY_FN ty_place ty_place_find(ty_u32 method, double q, ty_u64 n)
{
    const double count = (double)n;
    double at = (count - 1) * q;
    switch (method) {
    case TY_PLACE_LOWER:
        return ty_place_one(floor(at), 1, n);
    case TY_PLACE_HIGHER:
        return ty_place_one(ceil(at), 1, n);
    case TY_PLACE_NEAREST:
        return ty_place_one(rint(at), 1, n);
    case TY_PLACE_MIDPOINT:
        at = 0.5 * (floor(at) + ceil(at));
        return ty_place_between(at, at == floor(at) ? 0 : 0.5, n);
    case TY_PLACE_INVERTED_CDF:
        at = count * q - 1;
        return ty_place_one(at, at == floor(at), n);
    case TY_PLACE_CLOSEST:
        at = count * q - 1 - 0.5;
        return ty_place_one(at, at == floor(at) && fmod(floor(at), 2.0) != 0, n);
    case TY_PLACE_AVERAGED_CDF:
        at = count * q - 1;
        return ty_place_between(at, at == floor(at) ? 0.5 : 1, n);
    case TY_PLACE_INTERPOLATED_CDF:
        at = ty_place_of(count, q, 0, 1);
        break;
    case TY_PLACE_HAZEN:
        at = ty_place_of(count, q, 0.5, 0.5);
        break;
    case TY_PLACE_WEIBULL:
        at = ty_place_of(count, q, 0, 0);
        break;
    case TY_PLACE_MEDIAN_UNBIASED:
        at = ty_place_of(count, q, 1 / 3.0, 1 / 3.0);
        break;
    case TY_PLACE_NORMAL_UNBIASED:
        at = ty_place_of(count, q, 3 / 8.0, 3 / 8.0);
        break;
    default:
        break;
    }
    return ty_place_between(at, at - floor(at), n);
}

/* From the nearer end. Equal ends are not subtracted, for they may be infinite. */
TY_FN double ty_place_mix(double low, double high, double part)
{
    if (low == high || part == 0)
        return low;
    const double gap = high - low;
    return part >= 0.5 ? high - gap * (1 - part) : low + gap * part;
}
#endif

#endif
