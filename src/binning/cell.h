/*
 * Which cell: slots without a branch, for kernels that count at the speed of memory. Cells are
 * slots in the order of the number line, which arithmetic gives for free:
 *
 *      0: under    1 … bins: the bins    bins+1: over    bins+2: NaN
 *
 * ty_cell_f32 decides in float32 alone. Its constants are made and proved by binning/float32.c for
 * every edge of the axis, so it finds what comparing with the float64 edges would find. The others
 * are ty_slot_even with selects in place of branches.
 */
#ifndef TY_CELL_H
#define TY_CELL_H

#include "binning/bin.h"

#define TY_CELLS_EXTRA 3 /* cells of an axis beyond its bins */

/*
 * The constants of the functions below for one axis. Each function uses some of them; the others
 * mean nothing to it.
 *
 * ty_cell_f32: edge number k, counted from the anchor edge, is at from + origin + k*width.
 * Exceptions (ty_cell_exceptions, ty_cell_whole): where some edges are integers that float64 has
 * put a little above, so that the integer belongs to the bin below, each such integer gets a cell
 * of its own. These are every `every`-th edge from edge number `phase_edge` on.
 */
typedef struct ty_cell_map {
    float from;               /* y = x - from is exact for every x near an edge */
    float scale, shift;       /* y*scale + shift: how far along the axis, 0 … 1 */
    float steps;              /* the number of bins */
    float anchor;             /* TY_ROUNDER + the anchor edge's number */
    float width, width_low;   /* of a bin, as the sum of both: 48 bits */
    float origin, origin_low; /* the anchor edge - from, as the sum of both: 48 bits */
    float slack;              /* edge k counts as |k|*slack lower: a sample at it is not below */
    float hi, last;           /* a sample equal to hi counts as `last`; hi is NaN when open */
    float first, above;       /* the first float32 on the axis, and the first above it */
    ty_u32 bins;
    ty_u32 step;       /* integers: 2^32 * cells from one to the next */
    ty_real top;       /* the first float64 above the axis */
    ty_u64 start;      /* integers: 2^32 * the cell of key 0, with its fraction */
    float slope;       /* floats: 1/width */
    float phase;       /* floats: how far 0 is above the edge below it, in bins */
    float most;        /* floats: bins from that edge to the end of the axis */
    ty_u32 zero;       /* floats: the cell above that edge; 32-bit integers: added to the cell */
    ty_u32 base;       /* 32-bit integers: a sample's key is the sample less this, … */
    ty_u32 least;      /* … where samples below `least` count as `least` … */
    ty_u32 most_whole; /* … and samples above `most_whole` as that */
    float end, within; /* floats: a sample equal to end counts as `within`; end is NaN when open */
    ty_u32 exceptions; /* how many, … */
    ty_u32 every;      /* … edges from one to the next, … */
    ty_u32 phase_edge; /* … and the first's edge, below `every` */
    ty_u32 per_edge;   /* 2^32 / every, rounded up */
    ty_u32 more_step;  /* 2^32 * exceptions from one integer to the next; ty_cell_whole: the low
                          half of its 64-bit step */
    ty_u32 more_start; /* 2^32 * the fraction of exceptions at key 0 */
    ty_u32 exception_shift; /* log2 of what they are apart, where every edge is one; else 0 */
    float tie;              /* rounding: edges count as lower by so often the sample's power of two;
                               16-bit floats: see ty_lowered */
} ty_cell_map;

/* Adding 2^23 rounds to a whole number. One more is added, as bin 0 is cell 1. */
#define TY_ROUNDER      8388609.0f
#define TY_ROUNDER_BITS 0x4b000000u /* of 2^23 */

/*
 * Whether x, which is `left` above edge k in the high parts of the constants, is below it. The rest
 * is the low part of the origin, `slack`, and, in programs with TY_TIES, what rounding did to the
 * edges, in proportion to their power of two. To float64: edges that should be float32s came out
 * above these where k times the error of the width is more than half a unit in the last place. To
 * float32: an edge is the float nearest to its place on the map.
 */
#if TY_TIES
TY_FN int ty_below_f32(float left, float x, float k, const ty_cell_map *f)
{
    float edge = TY_FMAF(-TY_FABS(k), f->slack, f->origin_low);
    if (TY_TIES == 1 || f->tie != 0)
        left = TY_FMAF(-TY_AS_FLOAT(TY_FLOAT_BITS(x) & 0x7f800000u), f->tie, left);
    return !(left >= edge); /* of -infinity left is NaN now */
}
#else
#define ty_below_f32(left, x, k, f) ((left) < TY_FMAF(-TY_FABS(k), (f)->slack, (f)->origin_low))
#endif

/* The cell + TY_ROUNDER_BITS, for callers that can subtract it at no cost, of x that is neither NaN
 * nor the hi of a closed axis. */
TY_FN ty_u32 ty_biased_cell_f32_usual(float x, const ty_cell_map *f)
{
    float y = x - f->from;
    float u = TY_FMAF(TY_SATURATE(TY_FMAF(y, f->scale, f->shift)), f->steps, TY_ROUNDER);
    float k = u - f->anchor;
    /* y - k*width - origin: what is left is small against the edge, so nothing is rounded away. */
    float left = TY_FMAF(-k, f->width, y) - f->origin;
    u -= ty_below_f32(TY_FMAF(-k, f->width_low, left), x, k, f) ? 1.0f : 0.0f;
    return TY_FLOAT_BITS(u);
}

TY_FN ty_u32 ty_biased_cell_f32(float x, const ty_cell_map *f)
{
    ty_u32 mark = ty_biased_cell_f32_usual(x == f->hi ? f->last : x, f);
    return x == x ? mark : TY_ROUNDER_BITS + f->bins + 2;
}

TY_FN ty_u32 ty_cell_f32(float x, const ty_cell_map *f)
{
    return ty_biased_cell_f32(x, f) - TY_ROUNDER_BITS;
}

/*
 * 16-bit samples have so few values that binning/affine.c proves an affine map for each of them.
 *
 * Integers: the upper half of one product, held between the cells outside. `key` is the value above
 * the type's least.
 */
TY_FN ty_u32 ty_cell_affine(ty_u32 key, const ty_cell_map *f)
{
    int cell = (int)TY_MAD_UPPER(key, f->step, f->start), most = (int)f->bins + 1;
    cell = cell < most ? cell : most;
    return (ty_u32)(cell > 0 ? cell : 0);
}

/* Where some edges that should be integers came out of float64 above them and others did not, no
 * affine map finds both. These integers, the exceptions, get cells of their own, each below the
 * cell of the edge's bin: one map takes them all for below their edges, and another counts them,
 * for which shifting them is enough if they are a power of two apart. */
#if !defined(TY_EXCEPTION_SHIFT)
#define TY_EXCEPTION_SHIFT f->exception_shift /* a kernel's option has the same number */
#endif
TY_FN ty_u32 ty_cell_exceptions(ty_u32 key, const ty_cell_map *f)
{
    if (TY_EXCEPTION_SHIFT)
        return TY_MAD_UPPER(key, f->step, f->start) + (key >> TY_EXCEPTION_SHIFT);
    ty_u32 below = TY_MAD_UPPER(key, f->step, f->start);
    int cell = (int)TY_MAD_UPPER(key, f->more_step, (ty_u64)below << 32 | f->more_start);
    int most = (int)(f->bins + f->exceptions) + 1;
    cell = cell < most ? cell : most;
    return (ty_u32)(cell > 0 ? cell : 0);
}

#if !defined(TY_NO_FP64)
/* Whether an edge that should be an integer has it below itself. */
TY_FN ty_u32 ty_edge_lowers(ty_u32 edge, const ty_bins *b)
{
    const ty_u32 last = edge == b->bins;
    double e = last ? b->hi : b->lo + (double)edge * b->width;
    return e > TY_RINT(e) || (last && b->closed && e == TY_RINT(e)) ? 1u : 0u;
}
#endif

/* Of both numberings: the usual cell's number where there are exceptions, … */
TY_FN ty_u32 ty_exceptions_number(ty_u32 cell, const ty_cell_map *f)
{
    return cell + TY_MUL_HI(cell + f->every - 1 - f->phase_edge, f->per_edge);
}

/* … and a usual cell's own; 2^32 - 1 of an exception's. */
TY_FN ty_u32 ty_exceptions_cell(ty_u32 cell, const ty_cell_map *f)
{
    const ty_u32 first = f->phase_edge + 1, period = f->every + 1;
    if (cell < first)
        return cell;
    const ty_u32 before = (cell - first) / period;
    if (before >= f->exceptions)
        return cell - f->exceptions;
    return (cell - first) % period ? cell - before - 1 : 0xffffffffu;
}

#if !defined(TY_NO_FP64)
/* The cell of exception k, and in *bin the cell, in this numbering, whose bin its samples belong
 * to. */
TY_FN ty_u32 ty_exception(ty_u32 k, const ty_bins *b, const ty_cell_map *f, ty_u32 *bin)
{
    const ty_u32 edge = f->phase_edge + k * f->every, cell = edge + 1 + k;
    *bin = ty_edge_lowers(edge, b) ? cell - 1 : cell + 1;
    return cell;
}

/* The cells `from` … `from` + n - 1 that a cell of ty_cell_affine's consists of; returns n. */
TY_FN ty_u32 ty_exceptions_parts(ty_u32 cell, const ty_bins *b, const ty_cell_map *f, ty_u32 *from)
{
    const ty_u32 phase = (cell + f->every - 1 - f->phase_edge) % f->every;
    ty_u32 n = 1;
    *from = ty_exceptions_number(cell, f);
    if (phase == 0 && cell > 0 && !ty_edge_lowers(cell - 1, b)) {
        --*from;
        n++;
    }
    if (phase == f->every - 1 && cell <= b->bins && ty_edge_lowers(cell, b))
        n++;
    return n;
}

#endif

/* Where bins from zero on should end at samples, their width in float64 is a little too large, and
 * the product rounds up, above the sample, if the sample's mantissa is large enough. `tie` is that
 * error for the width of a float32's mantissa, so that the product here rounds up for the same
 * samples: these are moved to the float32 below. */
TY_FN float ty_lowered(float x, const ty_cell_map *f)
{
    float product = TY_FMAF(x, f->tie, x);
    return x - TY_SATURATE(product - x); /* of infinity and NaN 0 is taken */
}

/* Floats. */
TY_FN ty_u32 ty_cell_affine_float(float x, const ty_cell_map *f)
{
    float v = x == f->end ? f->within : x;
#if TY_TIES
    if (TY_TIES == 1 || f->tie != 0)
        v = ty_lowered(v, f);
#endif
    float p = TY_FMAF(v, f->slope, f->phase);
#if defined(TY_FLOOR_BITS)
    int cell = TY_FLOOR_BITS(TY_MIN_NAN(p, f->most), f->zero), most = (int)f->bins + 2;
    cell = cell < most ? cell : most;
    return (ty_u32)(cell > 0 ? cell : 0);
#else
    float least = 0.0f - (float)f->zero;
    p = p > least ? p : least; /* so that NaN becomes least */
    p = p < f->most ? p : f->most;
    ty_u32 cell = (ty_u32)((int)TY_FLOOR(p) + (int)f->zero);
    return x == x ? cell : f->bins + 2;
#endif
}

/* Of float32 where edges are multiples of a power of two, fewer than 2^24 bins: one fused
 * multiply-add finds the cell exactly, rounded down to whole numbers as floats below 2^-125 are. */
TY_FN ty_u32 ty_cell_binary(float x, const ty_cell_map *f)
{
    float v = x == f->end ? f->within : x;
#if defined(TY_FLOOR_BITS)
    int cell = ty_floor_fma(TY_MIN_NAN(v, f->most), f->slope, f->phase), most = (int)f->bins + 2;
    cell = cell < most ? cell : most;
    return (ty_u32)(cell > 0 ? cell : 0);
#else
    float p = (v < f->most ? v : f->most) * f->scale;
    int cell = (int)TY_FLOOR(p > -0x1p25f ? p : -0x1p25f) + (int)f->zero;
    return x == x ? (ty_u32)(cell > 0 ? cell : 0) : f->bins + 2;
#endif
}

/* 32-bit integers, bins at least 4 wide, of `key`, what the sample is above f->base: an affine
 * map with 64 bits behind the point, whose products overflow nowhere. With exceptions, the sample
 * shifted by exception_shift is added. */
TY_FN ty_u32 ty_cell_whole(ty_u32 key, const ty_cell_map *f)
{
    ty_u32 low = TY_MAD_UPPER(key, f->more_step, f->start);
    return TY_MAD_UPPER(key, f->step, (ty_u64)f->zero << 32 | low);
}

#if !defined(TY_NO_FP64)
/* For x on a healthy even axis (bin.h); others get some cell 0 … bins. */
TY_FN ty_u32 ty_cell_inside(double x, const ty_bins *b)
{
    double u = TY_FMA(x - b->lo, b->inverse, 6755399441055744.0);
    double r = u - 6755399441055744.0;
    ty_u32 cell = TY_LOW_WORD(u) + (x < b->lo + r * b->width ? 0u : 1u);
    return cell < b->bins ? cell : b->bins;
}

TY_FN ty_u32 ty_cell_f64(double x, const ty_bins *b, const ty_cell_map *f)
{
    ty_u32 cell = ty_cell_inside(x, b);
    cell = x < b->lo ? 0 : cell;
    cell = x >= f->top ? b->bins + 1 : cell;
    return x == x ? cell : b->bins + 2;
}

/* The same for a float32, whose bounds need no float64. */
TY_FN ty_u32 ty_cell_f32_wide(float x, const ty_bins *b, const ty_cell_map *f)
{
    ty_u32 cell = ty_cell_inside((double)x, b);
    cell = x < f->first ? 0 : cell;
    cell = x >= f->above ? b->bins + 1 : cell;
    return x == x ? cell : b->bins + 2;
}

#endif

/* An axis as kernels read it: ty_bins, at these bytes ty_cell_map, or ty_lookup, and a table
 * (one-byte dtypes: the 256 slots; else the edges, or nothing). */
#define TY_AXIS_MAP   64
#define TY_AXIS_TABLE 256

/* Between the two numberings. */
TY_FN ty_u32 ty_cell_of_slot(ty_u32 slot, ty_u32 bins)
{
    return slot < bins ? slot + 1 : slot == bins + TY_SLOT_UNDER ? 0 : slot;
}

TY_FN ty_u32 ty_slot_of_cell(ty_u32 cell, ty_u32 bins)
{
    return cell == 0 ? bins + TY_SLOT_UNDER : cell <= bins ? cell - 1 : cell;
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
