/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values on edges and next to them, for random tests: where a way of counting is wrong it is so for
 * samples that are an edge or the value beside one, and on axes whose edges are not quite the round
 * numbers that they should be. `state` is SplitMix64's.
 */
#ifndef EDGE_VALUES_H
#define EDGE_VALUES_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <tally/tally.h>

#include "splitmix.h"

/* The bits of a binary16, rounded towards zero. */
static inline uint16_t value_f16(double x)
{
    const unsigned sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    const double part = frexp(fabs(x), &exponent);
    if (isnan(x))
        return 0x7e00;
    if (isinf(x) || exponent > 16)
        return (uint16_t)(sign | 0x7c00);
    if (exponent < -13)
        return (uint16_t)(sign | (unsigned)ldexp(fabs(x), 24));
    return (uint16_t)(sign | (unsigned)(exponent + 14) << 10 | ((unsigned)(part * 2048) & 1023));
}

/* Writes x as `dtype` holds it, towards zero and within its range, then `step` values up or down;
 * past the ends of 64-bit integers around to the other end, of 16-bit floats to any bits. */
static inline void value_put(void *to, tally_dtype dtype, double x, int step)
{
#define VALUE_PUT(type, least, most)                                                               \
    do {                                                                                           \
        const double wanted = (isnan(x) ? 0 : trunc(x)) + step;                                    \
        const type v = wanted <= (double)(least)  ? (type)(least)                                  \
                       : wanted >= (double)(most) ? (type)(most)                                   \
                                                  : (type)wanted;                                  \
        memcpy(to, &v, sizeof v);                                                                  \
    } while (0)
    switch (dtype) {
    case TALLY_U8:
        VALUE_PUT(uint8_t, 0, UINT8_MAX);
        break;
    case TALLY_I8:
        VALUE_PUT(int8_t, INT8_MIN, INT8_MAX);
        break;
    case TALLY_U16:
        VALUE_PUT(uint16_t, 0, UINT16_MAX);
        break;
    case TALLY_I16:
        VALUE_PUT(int16_t, INT16_MIN, INT16_MAX);
        break;
    case TALLY_U32:
        VALUE_PUT(uint32_t, 0, UINT32_MAX);
        break;
    case TALLY_I32:
        VALUE_PUT(int32_t, INT32_MIN, INT32_MAX);
        break;
    case TALLY_U64: {
        const uint64_t v = (!(x > 0)      ? 0
                            : x >= 0x1p64 ? UINT64_MAX
                                          : (uint64_t)x) +
                           (uint64_t)(int64_t)step;
        memcpy(to, &v, sizeof v);
        break;
    }
    case TALLY_I64: {
        const int64_t whole = isnan(x)      ? 0
                              : x < -0x1p63 ? INT64_MIN
                              : x >= 0x1p63 ? INT64_MAX
                                            : (int64_t)x;
        const uint64_t v = (uint64_t)whole + (uint64_t)(int64_t)step;
        memcpy(to, &v, sizeof v);
        break;
    }
    case TALLY_F16: {
        const uint16_t v = (uint16_t)(value_f16(x) + (unsigned)step);
        memcpy(to, &v, sizeof v);
        break;
    }
    case TALLY_BF16: {
        const float f = (float)x;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        const uint16_t v = (uint16_t)((bits >> 16) + (uint32_t)step);
        memcpy(to, &v, sizeof v);
        break;
    }
    case TALLY_F32: {
        float f = (float)x;
        for (; step; step -= step > 0 ? 1 : -1)
            f = nextafterf(f, step > 0 ? INFINITY : -INFINITY);
        memcpy(to, &f, sizeof f);
        break;
    }
    case TALLY_F64:
        for (; step; step -= step > 0 ? 1 : -1)
            x = nextafter(x, step > 0 ? INFINITY : -INFINITY);
        memcpy(to, &x, sizeof x);
        break;
    }
#undef VALUE_PUT
}

/* x, or what rounding may leave in its place: the float64 or float32 beside it, or x and as much as
 * 3 * 0.1 is above 0.3. */
static inline double value_near(uint64_t *state, double x)
{
    switch (splitmix64(state) % 8) {
    case 0:
        return nextafter(x, INFINITY);
    case 1:
        return nextafter(x, -INFINITY);
    case 2:
        return (double)nextafterf((float)x, INFINITY);
    case 3:
        return (double)nextafterf((float)x, -INFINITY);
    case 4:
        return x + (0.1 * 3 - 0.3);
    case 5:
        return x - (0.1 * 3 - 0.3);
    default:
        return x;
    }
}

/* 0, a small integer, or one at which a type ends or is no longer exact. */
static inline double value_round(uint64_t *state)
{
    static const int powers[] = {7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 64};
    const uint64_t bits = splitmix64(state);
    const double sign = bits & 1 ? -1 : 1;
    switch (bits >> 1 & 7) {
    case 0:
    case 1:
        return sign * (double)(bits >> 32 & 255);
    case 2:
    case 3:
        return sign * ldexp(1, powers[(bits >> 32) % (sizeof powers / sizeof *powers)]);
    case 4:
        return sign * (ldexp(1, powers[(bits >> 32) % 8]) - 1);
    default:
        return 0;
    }
}

/* The ends of `bins` even bins of a round width from or to a round number, either end then moved by
 * value_near: the width stays round where what moved is too small for it. */
static inline void range_near(uint64_t *state, uint64_t bins, double *lo, double *hi)
{
    const uint64_t bits = splitmix64(state);
    const double end = value_round(state);
    const double width = bits & 1   ? 1
                         : bits & 2 ? ldexp(1, (int)(bits >> 32 & 15) - 6)
                         : bits & 4 ? (double)(1 + (bits >> 32 & 1023))
                                    : (double)(1 + (bits >> 32 & 7)) * 0.1;
    *lo = bits & 8 ? end : end - (double)bins * width;
    *hi = bits & 8 ? end + (double)bins * width : end;
    *lo = bits & 16 ? *lo : value_near(state, *lo);
    *hi = bits & 32 ? *hi : value_near(state, *hi);
    if (!(*lo < *hi))
        *hi = nextafter(*lo, INFINITY);
}

/* Ascending edges that are round numbers, next to these, or next to each other; bins+1 of them. */
static inline void edges_near(uint64_t *state, uint64_t bins, double *edges)
{
    double x = value_round(state);
    edges[0] = value_near(state, x);
    for (uint64_t i = 1; i <= bins; i++) {
        const uint64_t bits = splitmix64(state);
        x = bits & 3 ? x + (bits & 4 ? 1 : ldexp(1, (int)(bits >> 32 & 7) - 3)) : x;
        edges[i] = value_near(state, x);
        if (!(edges[i] > edges[i - 1]))
            edges[i] = bits & 8 ? nextafter(edges[i - 1], INFINITY)
                                : (double)nextafterf((float)edges[i - 1], INFINITY);
        if (!(edges[i] > edges[i - 1]))
            edges[i] = nextafter(edges[i - 1], INFINITY);
    }
}

#endif
