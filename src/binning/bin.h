/*
 * Which bin: the binning rule's arithmetic, compiled into the kernels and the processor's loops.
 *
 * A slot is a bin 0 … bins-1, or one of the flows right behind them. The rule (docs/BINNING.md):
 * bin i takes x when edge[i] <= x < edge[i+1], exactly, against float64 edges.
 */
#ifndef TY_BIN_H
#define TY_BIN_H

#include "binning/dialect.h"

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

/* x < e, exactly, for 64-bit integers: rounding is monotone, so only equal float64s need a look.
 */
TY_FN int ty_below_i64(ty_i64 x, double e)
{
    double d = (double)x;
    if (d != e)
        return d < e;
    return e >= 9223372036854775808.0 ? 1 : x < (ty_i64)e;
}

TY_FN int ty_below_u64(ty_u64 x, double e)
{
    double d = (double)x;
    if (d != e)
        return d < e;
    return e >= 18446744073709551616.0 ? 1 : x < (ty_u64)e;
}

/* x == e, exactly. */
TY_FN int ty_equal_i64(ty_i64 x, double e)
{
    return (double)x == e && e < 9223372036854775808.0 && x == (ty_i64)e;
}

TY_FN int ty_equal_u64(ty_u64 x, double e)
{
    return (double)x == e && e < 18446744073709551616.0 && x == (ty_u64)e;
}

/* As ty_slot_even, for 64-bit integers: never through a float64 that could round the sample. */
TY_FN ty_u32 ty_slot_even_i64(ty_i64 x, const ty_bins *b)
{
    if (ty_below_i64(x, b->lo))
        return b->bins + TY_SLOT_UNDER;
    if (!ty_below_i64(x, b->hi))
        return ty_equal_i64(x, b->hi) && b->closed ? b->bins - 1 : b->bins + TY_SLOT_OVER;
    double r = TY_RINT(((double)x - b->lo) * b->inverse);
    ty_u32 i = (ty_u32)r - (ty_below_i64(x, b->lo + r * b->width) ? 1u : 0u);
    return i < b->bins ? i : b->bins - 1;
}

TY_FN ty_u32 ty_slot_even_u64(ty_u64 x, const ty_bins *b)
{
    if (ty_below_u64(x, b->lo))
        return b->bins + TY_SLOT_UNDER;
    if (!ty_below_u64(x, b->hi))
        return ty_equal_u64(x, b->hi) && b->closed ? b->bins - 1 : b->bins + TY_SLOT_OVER;
    double r = TY_RINT(((double)x - b->lo) * b->inverse);
    ty_u32 i = (ty_u32)r - (ty_below_u64(x, b->lo + r * b->width) ? 1u : 0u);
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

TY_FN ty_u32 ty_slot_edges_i64(ty_i64 x, const ty_bins *b, TY_TABLE double *edges)
{
    if (ty_below_i64(x, b->lo))
        return b->bins + TY_SLOT_UNDER;
    if (!ty_below_i64(x, b->hi))
        return ty_equal_i64(x, b->hi) && b->closed ? b->bins - 1 : b->bins + TY_SLOT_OVER;
    ty_u32 i = 0, n = b->bins;
    while (n > 1) {
        ty_u32 middle = n / 2;
        i += ty_below_i64(x, edges[i + middle]) ? 0 : middle;
        n -= middle;
    }
    return i;
}

TY_FN ty_u32 ty_slot_edges_u64(ty_u64 x, const ty_bins *b, TY_TABLE double *edges)
{
    if (ty_below_u64(x, b->lo))
        return b->bins + TY_SLOT_UNDER;
    if (!ty_below_u64(x, b->hi))
        return ty_equal_u64(x, b->hi) && b->closed ? b->bins - 1 : b->bins + TY_SLOT_OVER;
    ty_u32 i = 0, n = b->bins;
    while (n > 1) {
        ty_u32 middle = n / 2;
        i += ty_below_u64(x, edges[i + middle]) ? 0 : middle;
        n -= middle;
    }
    return i;
}

#endif

#endif
