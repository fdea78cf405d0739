/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float32 arithmetic that decides as the float64 edges do.
 *
 * ty_cell_f32 finds the nearest edge r, then whether x lies below it. Both steps are monotone in x:
 * every operation is, and rounding keeps order. Let T[j] be the smallest float32 that is not below
 * edge j. Bin j takes the floats from T[j] to the one before T[j+1], so all of them are decided
 * rightly if, for every edge j,
 *
 *      at T[j]:             r >= j, and with r = j "not below"
 *      at the float before: r <= j, and with r = j "below",
 *
 * which is four evaluations an edge. What is proved here is proved for every device, for each
 * operation is correctly rounded everywhere.
 *
 * Edge j is origin + k*width, k counted from an anchor edge. Float32 has 24 bits, so origin and
 * width are split in two, and subtracting the parts of the edge from x in the right order is exact
 * near the edge. The anchor is the edge nearest to zero. If it is within a bin of zero, k*width
 * goes first: what is left is about a bin, and has no bits below 2^-24 bins. Else the anchor is an
 * end of the axis and goes first (`from`, a multiple of the coarsest unit among the axis' floats,
 * so that x - from needs no more bits than x).
 *
 * Where an edge should be a float but its float64 arithmetic rounded away from it, while at another
 * edge it rounded back, no affine map fits: such axes, one in thirty, have ty_float32_ties if they
 * begin at zero (most: an open end may spoil it), or are left to float64.
 */
#include "binning/float32.h"

#include "binning/affine.h"
#include "core/alloc.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { most_bins = 1 << 22, most_rounded = 1 << 20, most_tries = 40 };

float ty_float_at_least(double e)
{
    float f = (float)e;
    return (double)f < e ? nextafterf(f, INFINITY) : f;
}

/* ty_cell_f32's nearest edge and its decision there. */
static float nearest(const ty_cell_map *f, float y)
{
    return TY_FMAF(TY_SATURATE(TY_FMAF(y, f->scale, f->shift)), f->steps, TY_ROUNDER);
}

static int below(const ty_cell_map *f, float y, float k)
{
    float left = TY_FMAF(-k, f->width, y) - f->origin;
    return ty_below_f32(TY_FMAF(-k, f->width_low, left), y + f->from, k, f);
}

static int is_proven(const ty_axis *axis, const ty_cell_map *f)
{
    ty_u32 n = axis->bins.bins;
    for (ty_u32 j = 0; j <= n; j++) {
        float first = ty_float_at_least(ty_axis_edge(axis, j)),
              before = nextafterf(first, -INFINITY);
        float u = TY_ROUNDER + (float)j, k = u - f->anchor;
        if (j == n && first == f->hi) /* hi itself is taken for `last` */
            first = nextafterf(first, INFINITY);
        first -= f->from;
        before -= f->from;
        if (!(nearest(f, first) >= u && nearest(f, before) <= u && !below(f, first, k) &&
              below(f, before, k)))
            return 0;
    }
    return 1;
}

/* c rounded to a multiple of the unit in the last place of floats as large as `largest`. */
static float coarse(double c, double largest)
{
    int exponent;
    frexp(largest, &exponent);
    double unit = ldexp(1, exponent - FLT_MANT_DIG);
    return (float)(nearbyint(c / unit) * unit);
}

/* The edge next to zero. */
static ty_u32 anchor_of(const ty_bins *b)
{
    if (b->lo >= 0)
        return 0;
    return b->hi <= 0 ? b->bins : (ty_u32)nearbyint(-b->lo * b->inverse);
}

/* The anchor edge is at `origin`. */
static void make_constants(const ty_bins *b, ty_u32 anchor, double origin, ty_cell_map *f)
{
    int inside = fabs(origin) < b->width;
    f->from = inside ? 0 : coarse(origin, fmax(fabs(b->lo), fabs(b->hi)));
    origin -= (double)f->from;
    f->origin = inside ? (float)origin : 0;
    f->origin_low = (float)(origin - (double)f->origin);
    f->width = (float)b->width;
    f->width_low = (float)(b->width - (double)f->width);
    f->steps = (float)b->bins;
    f->anchor = TY_ROUNDER + (float)anchor;
    f->scale = (float)(1 / (b->hi - b->lo));
    f->shift = (float)((f->from - b->lo) / (b->hi - b->lo));
}

/* A sample equal to hi is over by the arithmetic: where the last bin is closed it is taken for the
 * first float of that bin. */
static void make_last(const ty_axis *axis, ty_cell_map *f)
{
    float hi = (float)axis->bins.hi;
    if (axis->bins.closed && (double)hi == axis->bins.hi) {
        f->hi = hi;
        f->last = ty_float_at_least(ty_axis_edge(axis, axis->bins.bins - 1));
    }
}

static void make_bounds(const ty_axis *axis, ty_cell_map *fast)
{
    const ty_bins *b = &axis->bins;
    memset(fast, 0, sizeof *fast);
    fast->bins = b->bins;
    fast->top = b->closed ? nextafter(b->hi, INFINITY) : b->hi;
    fast->first = ty_float_at_least(b->lo);
    fast->above = ty_float_at_least(fast->top);
}

int ty_float32_make(const ty_axis *axis, ty_cell_map *fast)
{
    const ty_bins *b = &axis->bins;
    double largest = fmax(fabs(b->lo), fabs(b->hi));
    make_bounds(axis, fast);
    if (!axis->even || b->bins > most_bins || largest > 0x1p100 || b->width < 0x1p-80 ||
        b->width < largest * 0x1p-24)
        return 0;
    const ty_u32 anchor = anchor_of(b);
    make_constants(b, anchor, ty_axis_edge(axis, anchor), fast);
    fast->hi = fast->last = NAN;
    make_last(axis, fast);
    if (fast->last == fast->hi)
        return 0; /* no float but hi in the last bin */
    /* Edges that are floats must not come out above themselves: lower all by a little. */
    for (int step = 51; step >= 44; step--) {
        if (is_proven(axis, fast))
            return 1;
        fast->slack = (float)ldexp(b->width, -step);
    }
    return 0;
}

/*
 * What is left of a float32 that should be edge k is k*off, were the width known exactly; the
 * float64 edge is above it by k*above, if that is more than half a unit in the last place of
 * float64. In [0, 1) that is 2^-53 of the edge's power of two.
 */
int ty_float32_ties(const ty_axis *axis, ty_cell_map *fast)
{
    const ty_bins *b = &axis->bins;
    if (!axis->even || b->lo != 0 || !(fast->steps > 0) || fast->last == fast->hi)
        return 0;
    double above = TY_FMA((double)b->bins, b->width, -b->hi) / (double)b->bins;
    double off = b->width - (double)fast->width - (double)fast->width_low - above;
    for (double scale = 0.5; above > 0 && scale <= 64; scale *= 2) {
        fast->slack = -(float)(off + scale * above);
        fast->tie = -(float)(scale * 0x1p-53);
        if (is_proven(axis, fast))
            return 1;
    }
    fast->tie = 0;
    return 0;
}

/*
 * Edges rounded to float32. Edge j is the float nearest to origin + (j - anchor) * width if that is
 * between least[j] and most[j], halfway to the floats beside it. For a given origin these bound the
 * width from both sides. The margin between the bounds is a concave function of the origin: which
 * edges bound the width says on which side of an origin without margin there may be some.
 */
typedef struct rounded {
    ty_u32 bins, anchor;
    double *least, *most;
    double origin, width;
} rounded;

/* The even axis with the ends of edges. */
static ty_bins evened(const ty_axis *axis)
{
    ty_bins b = axis->bins;
    b.width = (b.hi - b.lo) / (double)b.bins;
    b.inverse = 1 / b.width;
    return b;
}

int ty_float32_may_be_rounded(const ty_axis *axis)
{
    const ty_bins b = evened(axis);
    const double largest = fmax(fabs(b.lo), fabs(b.hi));
    return axis->rounding > 0 && b.bins > 1 && b.bins <= most_rounded && largest <= 0x1p100 &&
           b.width >= 0x1p-80 && b.width >= largest * 0x1p-22 &&
           axis->rounding <= largest * b.inverse * 0x1.1p-23 + 0x1p-39;
}

/* Sets the width for an origin; the margin's sign, and in *slope which way it grows. */
static int bound_width(rounded *r, double *slope)
{
    double least = -INFINITY, most = INFINITY, from = 1, to = 1;
    for (ty_u32 j = 0; j <= r->bins; j++) {
        if (j == r->anchor)
            continue;
        const double away = (double)j - (double)r->anchor;
        const double a = (r->least[j] - r->origin) / away, z = (r->most[j] - r->origin) / away;
        const double low = away > 0 ? a : z, high = away > 0 ? z : a;
        if (low > least) {
            least = low;
            from = away;
        }
        if (high < most) {
            most = high;
            to = away;
        }
    }
    r->width = least + (most - least) / 2;
    *slope = 1 / from - 1 / to;
    return least < most;
}

/* By halving where the origin may be. */
static int find_map(rounded *r)
{
    double low = r->least[r->anchor], high = r->most[r->anchor], slope;
    for (int i = 0; i < most_tries; i++) {
        r->origin = low + (high - low) / 2;
        if (bound_width(r, &slope))
            return 1;
        if (slope > 0)
            low = r->origin;
        else
            high = r->origin;
    }
    return 0;
}

/* Halfway to the floats beside each edge; 0 if one is no float. */
static int find_limits(const ty_axis *axis, rounded *r)
{
    for (ty_u32 j = 0; j <= r->bins; j++) {
        const double edge = ty_axis_edge(axis, j);
        const float e = (float)edge;
        if ((double)e != edge)
            return 0;
        r->least[j] = edge - (edge - (double)nextafterf(e, -INFINITY)) / 2;
        r->most[j] = edge + ((double)nextafterf(e, INFINITY) - edge) / 2;
    }
    return 1;
}

int ty_float32_rounded(const ty_axis *axis, ty_cell_map *fast)
{
    ty_bins map = evened(axis);
    rounded r = {.bins = map.bins, .anchor = anchor_of(&map)};
    int found = 0;
    make_bounds(axis, fast);
    if (axis->even || !ty_float32_may_be_rounded(axis))
        return 0;
    r.least = ty_malloc(2 * ((size_t)r.bins + 1) * sizeof *r.least);
    if (r.least) {
        r.most = r.least + r.bins + 1;
        found = find_limits(axis, &r) && find_map(&r);
    }
    ty_free(r.least);
    if (!found)
        return 0;
    map.width = r.width;
    map.lo = r.origin - (double)r.anchor * r.width;
    map.hi = map.lo + (double)r.bins * r.width;
    make_constants(&map, r.anchor, r.origin, fast);
    fast->tie = -0x1p-24F;
    fast->hi = fast->last = NAN;
    make_last(axis, fast);
    if (fast->last != fast->hi && is_proven(axis, fast))
        return 1;
    make_bounds(axis, fast);
    return 0;
}

int ty_float32_serves(tally_dtype dtype)
{
    const uint32_t float32s =
        1u << TALLY_U16 | 1u << TALLY_I16 | 1u << TALLY_F16 | 1u << TALLY_BF16 | 1u << TALLY_F32;
    return float32s >> dtype & 1;
}

void ty_axis_prove(ty_axis *axis, int affine, ty_u32 exceptions)
{
    axis->proof = TY_UNPROVEN;
    make_bounds(axis, &axis->map);
    if ((affine && (ty_affine16_make(axis, &axis->map) ||
                    (exceptions && ty_affine16_exceptions(axis, &axis->map, exceptions)))) ||
        (affine > 1 && (ty_affine32_make(axis, &axis->map) ||
                        (exceptions && ty_affine32_exceptions(axis, &axis->map, exceptions)))))
        axis->proof = TY_PROVEN_AFFINE;
    else if (ty_float32_serves(axis->dtype) && (ty_float32_make(axis, &axis->map) ||
                                                (affine && (ty_float32_ties(axis, &axis->map) ||
                                                            ty_float32_rounded(axis, &axis->map)))))
        axis->proof = TY_PROVEN_F32;
}

const char *ty_axis_proof_words(const ty_axis *axis)
{
    if (axis->byte_slots)
        return "slots of the 256 values from a table";
    if (axis->lookup_kind)
        return axis->lookup_kind == TY_LOOKUP_ONE   ? "slots by a table of keys"
               : axis->lookup_kind == TY_LOOKUP_TWO ? "slots by a table of keys, in two looks"
               : axis->lookup_kind == TY_LOOKUP_SEARCH
                   ? "slots by a table of keys and a short search"
               : axis->lookup_kind == TY_LOOKUP_INDEX ? "slots by a table of entries and thresholds"
               : axis->lookup_kind == TY_LOOKUP_LOG   ? "slots by logarithm"
               : axis->lookup_kind == TY_LOOKUP_UPPER
                   ? "slots by a table of keys in device memory"
                   : "slots by a table of entries in device memory";
    if (!axis->even && axis->proof == TY_UNPROVEN)
        return "slots by searching the edges";
    if (axis->proof == TY_PROVEN_AFFINE && axis->map.exceptions)
        return "slots by an affine map with exceptions, proved for every value";
    if (axis->proof == TY_PROVEN_AFFINE)
        return "slots by an affine map, proved for every value";
    return axis->proof ? "slots by float32, proved for every edge" : "slots by float64";
}
