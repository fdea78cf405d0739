/*
 * Which bin: the binning rule's arithmetic, compiled into the kernels and the processor's loops.
 *
 * A slot is a bin 0 … bins-1, or one of the flows right behind them. The rule (docs/BINNING.md):
 * bin i takes x when edge[i] <= x < edge[i+1], exactly, against float64 edges.
 */
#ifndef TY_BIN_H
#define TY_BIN_H

#include "binning/dialect.h"

/* Types of samples, numbered as tally_dtype, and what is asked of them. */
#define TY_U8                  1
#define TY_I8                  2
#define TY_U16                 3
#define TY_I16                 4
#define TY_U32                 5
#define TY_I32                 6
#define TY_U64                 7
#define TY_I64                 8
#define TY_F16                 9
#define TY_BF16                10
#define TY_F32                 11
#define TY_F64                 12
#define TY_TYPE_IS_BYTE(t)     ((t) == TY_U8 || (t) == TY_I8)
#define TY_TYPE_IS_HALF(t)     ((t) == TY_F16 || (t) == TY_BF16)
#define TY_TYPE_IS_HALFWORD(t) ((t) == TY_U16 || (t) == TY_I16 || TY_TYPE_IS_HALF(t))
#define TY_TYPE_IS_WHOLE32(t)  ((t) == TY_U32 || (t) == TY_I32)
#define TY_TYPE_IS_WHOLE64(t)  ((t) == TY_U64 || (t) == TY_I64)

/* How a program finds bins; above these, from TY_LOOKUP_ONE on, by a lookup table (cell_lookup.h).
 */
#define TY_BY_EDGES  0 /* by a search in the table of edges */
#define TY_BY_F64    1 /* by float64 arithmetic; bytes by a table of slots */
#define TY_BY_F32    2 /* by float32 arithmetic that was proved for the axis */
#define TY_BY_AFFINE 3 /* by an affine map that was proved for every value */

/* Slots behind the bins. */
#define TY_SLOT_UNDER  0
#define TY_SLOT_OVER   1
#define TY_SLOT_NAN    2
#define TY_SLOT_MASKED 3
#define TY_SLOT_FAILED 4 /* several dimensions: a coordinate broke TALLY_FLOW_FAIL */
#define TY_SLOT_EXTRA  5

#if defined(TY_NO_FP64)
typedef ty_u64 ty_real; /* as large, and never read */
#else
typedef double ty_real;
#endif

/* An axis as plain data. */
typedef struct ty_bins {
    ty_real lo, hi;  /* first and last edge */
    ty_real width;   /* even: (hi-lo)/bins */
    ty_real inverse; /* even: 1/width */
    ty_u32 bins;     /* at most 2^31 */
    ty_u32 closed;   /* 1: x == hi belongs to the last bin */
} ty_bins;

#if !defined(TY_NO_FP64)

/*
 * Even bins, for x that float64 holds exactly. Needs a healthy axis (ty_axis checks it): the edges'
 * rounding and the index' error together stay below middle a bin, so the true bin is r or r-1 for
 * the nearest edge r, and one comparison with that edge, computed as the specification says,
 * decides.
 */
TY_FN ty_u32 ty_slot_even(double x, const ty_bins *b)
{
    if (!(x >= b->lo))
        return b->bins + (x < b->lo ? TY_SLOT_UNDER : TY_SLOT_NAN);
    if (x >= b->hi)
        return x == b->hi && b->closed ? b->bins - 1 : b->bins + TY_SLOT_OVER;
    double r = TY_RINT((x - b->lo) * b->inverse);
    double edge = b->lo + r * b->width;
    ty_u32 i = (ty_u32)r - (x < edge ? 1u : 0u);
    return i < b->bins ? i : b->bins - 1;
}

/* Any axis, by its table of bins+1 edges: binary search for the last edge that is not above x. */
TY_FN ty_u32 ty_slot_edges(double x, const ty_bins *b, TY_TABLE double *edges)
{
    if (!(x >= b->lo))
        return b->bins + (x < b->lo ? TY_SLOT_UNDER : TY_SLOT_NAN);
    if (x >= b->hi)
        return x == b->hi && b->closed ? b->bins - 1 : b->bins + TY_SLOT_OVER;
    ty_u32 i = 0, n = b->bins;
    while (n > 1) {
        ty_u32 middle = n / 2;
        i += x >= edges[i + middle] ? middle : 0;
        n -= middle;
    }
    return i;
}

/*
 * The same for 64-bit integers, of both kinds: never through a float64 that could round the sample.
 * x < e and x == e are exact: rounding is monotone, so only equal float64s need a look. `limit` is
 * the least float64 above the type.
 */
#define TY_SLOTS_OF_WHOLE64(kind, type, limit)                                                     \
    TY_FN int ty_below_##kind(type x, double e)                                                    \
    {                                                                                              \
        double d = (double)x;                                                                      \
        if (d != e)                                                                                \
            return d < e;                                                                          \
        return e >= (limit) ? 1 : x < (type)e;                                                     \
    }                                                                                              \
                                                                                                   \
    TY_FN int ty_equal_##kind(type x, double e)                                                    \
    {                                                                                              \
        return (double)x == e && e < (limit) && x == (type)e;                                      \
    }                                                                                              \
                                                                                                   \
    TY_FN ty_u32 ty_slot_even_##kind(type x, const ty_bins *b)                                     \
    {                                                                                              \
        if (ty_below_##kind(x, b->lo))                                                             \
            return b->bins + TY_SLOT_UNDER;                                                        \
        if (!ty_below_##kind(x, b->hi))                                                            \
            return ty_equal_##kind(x, b->hi) && b->closed ? b->bins - 1 : b->bins + TY_SLOT_OVER;  \
        double r = TY_RINT(((double)x - b->lo) * b->inverse);                                      \
        ty_u32 i = (ty_u32)r - (ty_below_##kind(x, b->lo + r * b->width) ? 1u : 0u);               \
        return i < b->bins ? i : b->bins - 1;                                                      \
    }                                                                                              \
                                                                                                   \
    TY_FN ty_u32 ty_slot_edges_##kind(type x, const ty_bins *b, TY_TABLE double *edges)            \
    {                                                                                              \
        if (ty_below_##kind(x, b->lo))                                                             \
            return b->bins + TY_SLOT_UNDER;                                                        \
        if (!ty_below_##kind(x, b->hi))                                                            \
            return ty_equal_##kind(x, b->hi) && b->closed ? b->bins - 1 : b->bins + TY_SLOT_OVER;  \
        ty_u32 i = 0, n = b->bins;                                                                 \
        while (n > 1) {                                                                            \
            ty_u32 middle = n / 2;                                                                 \
            i += ty_below_##kind(x, edges[i + middle]) ? 0 : middle;                               \
            n -= middle;                                                                           \
        }                                                                                          \
        return i;                                                                                  \
    }

TY_SLOTS_OF_WHOLE64(i64, ty_i64, 9223372036854775808.0)
TY_SLOTS_OF_WHOLE64(u64, ty_u64, 18446744073709551616.0)

#endif

#endif
/* SPDX-License-Identifier: Apache-2.0 */
