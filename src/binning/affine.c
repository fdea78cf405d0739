/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of 16- and 32-bit samples by an affine map, proved for every value that a sample can have.
 *
 * Integers. Let a value's key k be how far it is above its type's least, and X[j] the first key
 * that is not below edge j (above it, for the end of a closed axis). Cell j+1 begins at X[j], so
 *
 *      cell(k) = (k*step + start) >> 32
 *
 * is right for all 65536 keys if, for every edge j with J = (j+1) * 2^32,
 *
 *      X[j] * step + start >= J     where X[j] is a key
 *      (X[j]-1) * step + start < J  where X[j] is above the first one,
 *
 * what comes out below 0 or above bins+1 being held there. For a given step these bound start from
 * both sides. The margin between the bounds is a concave function of the step, made of straight
 * pieces: from a step without margin the pieces there say on which side there may be some, and
 * where the two pieces found last meet is the next step to try.
 *
 * Floats: the map in float32, from the bins' width; then all 65536 values are looked at. Where
 * samples should be edges these are told apart as float64 does (ty_lowered).
 */
#include "binning/affine.h"

#include <math.h>
#include <string.h>

enum { keys = 65536, most_bins = 1 << 20, most_tries = 40 };

static int is_integer(tally_dtype dtype)
{
    return dtype == TALLY_U16 || dtype == TALLY_I16;
}

int ty_affine16_serves(tally_dtype dtype)
{
    return is_integer(dtype) || dtype == TALLY_F16 || dtype == TALLY_BF16;
}

/* ---- integers ---- */

/* The key of an integer, 0 … 65536. */
static int64_t key_of(const ty_axis *axis, double x)
{
    double key = x - (axis->dtype == TALLY_I16 ? -32768 : 0);
    return key <= 0 ? 0 : key >= keys ? keys : (int64_t)key;
}

/* The first key of cell j+1. */
static int64_t first_key(const ty_axis *axis, ty_u32 j)
{
    const ty_bins *b = &axis->bins;
    double edge = ty_axis_edge(axis, j);
    return key_of(axis, j == b->bins && b->closed ? floor(edge) + 1 : ceil(edge));
}

/* Whether an edge would be an integer but for rounding. */
static int is_whole(const ty_axis *axis, ty_u32 j)
{
    const double edge = ty_axis_edge(axis, j), most = is_integer(axis->dtype) ? 0x1p-30 : 0x1p-14;
    return fabs(edge - nearbyint(edge)) < most;
}

/* The first key of cell j+1 where integers that are edges lie below them. */
static int64_t key_above(const ty_axis *axis, ty_u32 j)
{
    return is_whole(axis, j) ? key_of(axis, nearbyint(ty_axis_edge(axis, j)) + 1)
                             : first_key(axis, j);
}

/* The integer that is edge j. */
static int64_t whole_key(const ty_axis *axis, ty_u32 j)
{
    return key_of(axis, nearbyint(ty_axis_edge(axis, j)));
}

/* Edges `first`, first + every, … up to the last one: where the first, second, … cell begins. */
typedef struct starts {
    const ty_axis *axis;
    int64_t (*key)(const ty_axis *, ty_u32);
    ty_u32 first, every;
} starts;

/* What a step leaves to start: low <= start < high; and the keys at which the bounds are met. */
typedef struct margin {
    int64_t step, low, high, low_key, high_key;
} margin;

static margin margin_of(const starts *s, int64_t step)
{
    const int64_t one = INT64_C(1) << 32, none = INT64_C(1) << 60;
    margin r = {step, -none, none, 0, 0};
    int64_t cell = one;
    for (ty_u32 j = s->first; j <= s->axis->bins.bins; j += s->every, cell += one) {
        int64_t key = s->key(s->axis, j), low = cell - key * step, high = low + step;
        if (key < keys && low > r.low) {
            r.low = low;
            r.low_key = key;
        }
        if (key > 0 && high < r.high) {
            r.high = high;
            r.high_key = key - 1;
        }
    }
    return r;
}

/* The margin grows by so much where the step does by one. */
static int64_t slope(const margin *r)
{
    return r->low_key - r->high_key;
}

/* Where the straight pieces left and right of the largest margin meet. */
static int64_t between(const margin *left, const margin *right)
{
    double rise = (double)slope(left), fall = (double)slope(right);
    double grown = (double)(right->high - right->low) - (double)(left->high - left->low);
    double at = (grown + rise * (double)left->step - fall * (double)right->step) / (rise - fall);
    int64_t step = (int64_t)nearbyint(at);
    step = step > left->step ? step : left->step + 1;
    return step < right->step ? step : right->step - 1;
}

/* A map that finds the cells; 0 if there is none. */
static int find_affine(const starts *s, int64_t *step, int64_t *start)
{
    double ideal = 0x1p32 / (s->axis->bins.width * s->every);
    if (ideal > 0x1.001p32)
        return 0; /* bins narrower than an integer */
    int64_t most = UINT32_MAX, first = (int64_t)nearbyint(ideal);
    margin r = margin_of(s, first < most ? first : most), left = {0}, right = {0};
    left.step = right.step = -1;
    for (int i = 0; i < most_tries && r.low >= r.high; i++) {
        *(slope(&r) > 0 ? &left : &right) = r;
        if (!slope(&r))
            return 0;
        if (left.step < 0)
            r = margin_of(s, 0);
        else if (right.step < 0)
            r = margin_of(s, most);
        else if (right.step - left.step > 1)
            r = margin_of(s, between(&left, &right));
        else
            return 0;
    }
    *step = r.step;
    *start = r.low + (r.high - r.low) / 2;
    return r.low < r.high;
}

static int integer_affine(const ty_axis *axis, ty_cell_map *fast)
{
    const starts all = {axis, first_key, 0, 1};
    int64_t step, start;
    if (!find_affine(&all, &step, &start))
        return 0;
    fast->step = (ty_u32)step;
    fast->start = (ty_u64)start;
    return 1;
}

/* ---- integers, with exceptions ---- */

/* Which edges should be integers; 0 if not one in every so many is. */
static int find_exceptions(const ty_axis *axis, ty_cell_map *fast)
{
    const ty_u32 edges = axis->bins.bins + 1;
    ty_u32 first = edges, every = edges + 1;
    fast->exceptions = 0;
    for (ty_u32 j = 0; j < edges; j++) {
        if (!is_whole(axis, j))
            continue;
        if (++fast->exceptions == 1)
            first = j;
        else if (fast->exceptions == 2)
            every = j - first;
        else if (j != first + (fast->exceptions - 1) * every)
            return 0;
    }
    fast->every = every;
    fast->phase_edge = first;
    fast->per_edge = (ty_u32)(UINT32_MAX / every + 1);
    return fast->exceptions > 0 && every > 1 && first < every;
}

/* Whether every key's cells are those that its bin's consist of. */
static int exceptions_proved(const ty_axis *axis, const ty_cell_map *fast)
{
    const ty_u32 over = fast->bins + 1;
    ty_u32 cell = 0, from, n = ty_exceptions_parts(cell, &axis->bins, fast, &from);
    for (int64_t key = 0; key < keys; key++) {
        while (cell < over && key >= first_key(axis, cell)) {
            const ty_u32 end = from + n;
            n = ty_exceptions_parts(++cell, &axis->bins, fast, &from);
            if (from < end)
                return 0;
        }
        const ty_u32 found = ty_cell_exceptions((ty_u32)key, fast);
        if (found < from || found >= from + n)
            return 0;
    }
    /* What is behind the last key has cells too. */
    for (ty_u32 end = from + n; cell < over; end = from + n) {
        n = ty_exceptions_parts(++cell, &axis->bins, fast, &from);
        if (from < end)
            return 0;
    }
    return from + n <= over + fast->exceptions + 1;
}

/* Without a second product, where they are multiples of a power of two, and without holding cells
 * between the axis' ends, where no integer lies outside. */
static int exceptions_shifted(const ty_axis *axis, ty_cell_map *fast, int64_t start)
{
    const int64_t first = whole_key(axis, fast->phase_edge);
    const int64_t width =
        fast->exceptions > 1 ? whole_key(axis, fast->phase_edge + fast->every) - first : 0;
    fast->exception_shift = 1;
    while (width > INT64_C(1) << fast->exception_shift)
        fast->exception_shift++;
    fast->start =
        (ty_u64)start + ((ty_u64)(1 - first / (INT64_C(1) << fast->exception_shift)) << 32);
    if (width == INT64_C(1) << fast->exception_shift && first % width == 0 &&
        exceptions_proved(axis, fast))
        return 1;
    fast->exception_shift = 0;
    return 0;
}

int ty_affine16_exceptions(const ty_axis *axis, ty_cell_map *fast, ty_u32 most)
{
    const int served = axis->even && is_integer(axis->dtype) && axis->bins.bins <= keys;
    if (!served || !find_exceptions(axis, fast) || fast->exceptions > most)
        return 0;
    const starts all = {axis, key_above, 0, 1};
    const starts whole = {axis, whole_key, fast->phase_edge, fast->every};
    int64_t step, start, more_step, more_start;
    if (!find_affine(&all, &step, &start))
        return 0;
    fast->bins = axis->bins.bins;
    fast->step = (ty_u32)step;
    if (exceptions_shifted(axis, fast, start))
        return 1;
    if (!find_affine(&whole, &more_step, &more_start))
        return 0;
    fast->more_step = (ty_u32)more_step;
    fast->more_start = (ty_u32)((ty_u64)more_start & UINT32_MAX);
    fast->start = (ty_u64)start + ((ty_u64)more_start - fast->more_start);
    return exceptions_proved(axis, fast);
}

/* ---- floats ---- */

static float value_of(tally_dtype dtype, ty_u32 bits)
{
    ty_u32 word = bits << 16;
    if (dtype == TALLY_F16) {
        ty_u32 rest = (bits & 0x7fffu) << 13;
        word = (bits & 0x8000u) << 16 | rest;
        if (rest >= 0x0f800000u)
            word |= 0x70000000u;
    }
    float value;
    memcpy(&value, &word, sizeof value);
    return dtype == TALLY_F16 && fabsf(value) < 0x1p16F ? value * 0x1p112F : value;
}

static int float_proved(const ty_axis *axis, const ty_cell_map *fast)
{
    const ty_bins *b = &axis->bins;
    for (ty_u32 bits = 0; bits < keys; bits++) {
        float x = value_of(axis->dtype, bits);
        ty_u32 want = ty_cell_of_slot(ty_slot_even((double)x, b), b->bins);
        if (ty_cell_affine_float(x, fast) != want)
            return 0;
    }
    return 1;
}

/* The edge next to zero, from which bins are counted: values near zero are closest together. */
static ty_u32 edge_next_to_zero(const ty_bins *b)
{
    double zero = -b->lo * b->inverse;
    return !(zero > 0) ? 0 : zero >= b->bins ? b->bins : (ty_u32)nearbyint(zero);
}

/* A little up or down, for edges that are samples' values and came out on the wrong side. */
static int float_tried(const ty_axis *axis, ty_cell_map *fast, float phase)
{
    static const float aside[] = {0, 1, -1, 2, -2};
    for (int i = 0; i < 25; i++) {
        fast->slope = (float)axis->bins.inverse * (1 + aside[i % 5] * 0x1p-23F);
        fast->phase = phase + aside[i / 5] * 0x1p-22F * fmaxf(1, fabsf(phase));
        if (float_proved(axis, fast))
            return 1;
    }
    return 0;
}

/* Where that is not enough, for axes from zero: some such edges up and others not. */
static int float_ties(const ty_axis *axis, ty_cell_map *fast)
{
    const ty_bins *b = &axis->bins;
    const double above = TY_FMA((double)b->bins, b->width, -b->hi) / b->hi;
    fast->tie = (float)(above * 0x1p29);
    if (b->lo == 0 && above > 0 && float_tried(axis, fast, 0))
        return 1;
    fast->tie = 0;
    return 0;
}

static int float_affine(const ty_axis *axis, ty_cell_map *fast)
{
    const ty_bins *b = &axis->bins;
    ty_u32 zero = edge_next_to_zero(b);
    double phase = -ty_axis_edge(axis, zero) * b->inverse;
    if (fabs(phase) > 0x1p20 || b->width < 0x1p-100 || b->width > 0x1p100)
        return 0;
    fast->zero = zero + 1;
    fast->most = (float)(b->bins - zero);
    fast->end = fast->within = NAN;
    if (b->closed) {
        fast->end = (float)b->hi;
        fast->within = (float)(b->hi - b->width / 2);
        if ((double)fast->end != b->hi)
            fast->end = NAN;
    }
    fast->tie = 0;
    return float_tried(axis, fast, (float)phase) || float_ties(axis, fast);
}

/* ---- float32 on edges that are multiples of a power of two ---- */

static int is_binary(const ty_bins *b, int *exponent)
{
    const int is = frexp(b->width, exponent) == 0.5;
    --*exponent; /* bins are 2^exponent wide */
    return is;
}

static int binary_float(const ty_bins *b, ty_cell_map *fast)
{
    int exponent;
    double first = b->lo / b->width, last = b->hi / b->width;
    if (!is_binary(b, &exponent) || exponent > 0 || exponent < -100 || first != floor(first) ||
        last != first + b->bins || fmax(fabs(first), fabs(last)) >= 0x1p24 || b->bins >= 1u << 24)
        return 0;
    fast->scale = (float)ldexp(1, -exponent);
    fast->slope = (float)ldexp(1, -exponent - 149);
    fast->zero = (ty_u32)(1 - (int)first);
    fast->phase = (float)ldexp(1 - first, -149);
    fast->most = (float)b->hi;
    fast->end = b->closed ? (float)b->hi : NAN;
    fast->within = (float)(b->hi - b->width);
    return 1;
}

/* ---- 32-bit integers ---- */

/* Samples are held between the last below the axis, or the type's least, and the first above it.
 * Where edges are a power of two apart all but these are like the first. */
typedef struct held {
    int64_t from, to, base;
    int exact;
} held;

/* The first integer of cell j+1. */
static int64_t first_whole(const ty_axis *axis, ty_u32 j)
{
    const ty_bins *b = &axis->bins;
    double edge = ty_axis_edge(axis, j);
    return (int64_t)(j == b->bins && b->closed ? floor(edge) + 1 : ceil(edge));
}

/* The edge to be looked at after edge j. */
static ty_u64 edge_after(ty_u64 j, const held *h, const ty_bins *b)
{
    return h->exact && j + 1 < b->bins ? b->bins - 1 : j + 1;
}

/* 2^64 bins / (hi - lo), rounded down; below 2^62. Less by one where an integer is the end of the
 * last bin and in it: over all bins that is less than a sample, and enough to leave it below. */
static ty_u64 long_step(const ty_bins *b)
{
    int exponent;
    const ty_u64 span = (ty_u64)ldexp(frexp(b->hi - b->lo, &exponent), 53);
    ty_u64 rest = b->bins, step = 0;
    for (int i = 64 + 53 - exponent; i > 0; i--) {
        const int fits = 2 * rest >= span;
        rest = 2 * rest - (fits ? span : 0);
        step = 2 * step + (ty_u64)fits;
    }
    return step - (b->closed && b->hi == floor(b->hi) ? 1 : 0);
}

static ty_u32 cell_of_whole(int64_t x, const held *h, const ty_cell_map *fast)
{
    return ty_cell_whole((ty_u32)(x - h->base), fast);
}

/* Cells never fall, so that they are right if those on both sides of every edge are. */
static int whole_proved(const ty_axis *axis, const held *h, const ty_cell_map *fast)
{
    ty_u32 below = 0;
    if (h->to - h->base > UINT32_MAX ||
        (ty_u64)(h->to - h->base) * fast->more_step > UINT64_MAX - fast->start)
        return 0; /* what overflows may fall */
    for (ty_u64 j = 0; j <= axis->bins.bins; j = edge_after(j, h, &axis->bins)) {
        const ty_u32 cell = (ty_u32)j + 1;
        const int64_t first = first_whole(axis, (ty_u32)j);
        below = first <= h->from ? cell : below;
        if ((first >= h->from && first <= h->to && cell_of_whole(first, h, fast) != cell) ||
            (first > h->from && first - 1 <= h->to &&
             cell_of_whole(first - 1, h, fast) != cell - 1))
            return 0;
    }
    return h->exact || cell_of_whole(h->from, h, fast) == below;
}

/* The map zero + ((key*step + start) >> 64) of samples held so, where first(axis, j) is the first
 * integer of cell j+1. Where the type has it key 0 is five eighths of a bin below the first edge,
 * so that start is less than half a cell. */
static int held_affine(const ty_axis *axis, const held *h,
                       int64_t (*first)(const ty_axis *, ty_u32), ty_cell_map *fast)
{
    const ty_bins *b = &axis->bins;
    const ty_u64 step = long_step(b);
    int64_t low = INT64_MIN, high = INT64_MAX;
    for (ty_u64 j = 0; j <= b->bins; j = edge_after(j, h, b)) {
        /* (j + 1) * 2^64 less the key's product: what start has to be at least. */
        const int64_t need = (int64_t)(0 - (ty_u64)(first(axis, (ty_u32)j) - h->base) * step);
        low = need > low ? need : low;
        const int64_t end = (int64_t)((ty_u64)need + step);
        high = end < high ? end : high;
    }
    if (low >= high)
        return 0;
    fast->start = (ty_u64)low + ((ty_u64)high - (ty_u64)low) / 2;
    fast->step = (ty_u32)(step >> 32);
    fast->more_step = (ty_u32)step;
    fast->base = (ty_u32)h->base;
    fast->zero = 0;
    const int64_t inside = first(axis, 0);
    fast->zero = cell_of_whole(inside > h->from ? inside : h->from, h, fast) ? 0 : 1;
    fast->least = (ty_u32)h->from;
    fast->most_whole = (ty_u32)h->to;
    return 1;
}

/* Whether all edges are far inside int64: the integers next to them can be reckoned with. */
static int is_near(const ty_axis *axis)
{
    return fabs(axis->bins.lo) <= 0x1p40 && fabs(axis->bins.hi) <= 0x1p40;
}

/* Samples from just below the axis to just above it, as far as the type has them; 0 for axes that
 * no map is tried for. */
static int hold(const ty_axis *axis, int64_t below, int64_t above, held *h)
{
    const ty_bins *b = &axis->bins;
    const int64_t least = axis->dtype == TALLY_I32 ? INT32_MIN : 0, most = least + UINT32_MAX;
    int exponent, exact = is_binary(b, &exponent) && b->lo == floor(b->lo);
    if (b->width < 4 || (b->bins > most_bins && !exact))
        return 0;
    *h = (held){below, above, below - (int64_t)(b->width * 0.625), exact};
    h->from = h->from > least ? h->from : least;
    h->to = h->to < most ? h->to : most;
    if (h->base < least && h->to - h->base > UINT32_MAX)
        h->base = least;
    return h->from < h->to && h->base <= below + 1;
}

static int whole_affine(const ty_axis *axis, ty_cell_map *fast)
{
    held h;
    return is_near(axis) &&
           hold(axis, first_whole(axis, 0) - 1, first_whole(axis, axis->bins.bins), &h) &&
           held_affine(axis, &h, first_whole, fast) && whole_proved(axis, &h, fast);
}

/* ---- 32-bit integers, with exceptions ---- */

/* The first integer of cell j+1 where integers that are edges lie below them. */
static int64_t first_above(const ty_axis *axis, ty_u32 j)
{
    return is_whole(axis, j) ? (int64_t)nearbyint(ty_axis_edge(axis, j)) + 1 : first_whole(axis, j);
}

/* Whether a sample is in one of the cells that a usual one consists of. */
static int exceptions_right(const ty_axis *axis, const held *h, const ty_cell_map *fast, int64_t x,
                            ty_u32 cell)
{
    ty_u32 from;
    const ty_u32 n = ty_exceptions_parts(cell, &axis->bins, fast, &from);
    const ty_u32 is = cell_of_whole(x, h, fast) + (ty_u32)(ty_u64)(x >> fast->exception_shift);
    return is >= from && is < from + n;
}

/* As whole_proved: neither the map nor the shift ever falls, nor do the cells of one overlap the
 * next one's. */
static int exceptions_whole_proved(const ty_axis *axis, const held *h, const ty_cell_map *fast)
{
    const ty_u32 over = axis->bins.bins + 1;
    ty_u32 below = 0, end = 0;
    if (h->to - h->base > UINT32_MAX ||
        (ty_u64)(h->to - h->base) * fast->more_step > UINT64_MAX - fast->start)
        return 0;
    for (ty_u32 cell = 0; cell <= over; cell++) {
        ty_u32 from;
        const ty_u32 n = ty_exceptions_parts(cell, &axis->bins, fast, &from);
        if (from < end)
            return 0;
        end = from + n;
    }
    for (ty_u32 j = 0; j < over; j++) {
        const int64_t first = first_whole(axis, j);
        below = first <= h->from ? j + 1 : below;
        if ((first >= h->from && first <= h->to &&
             !exceptions_right(axis, h, fast, first, j + 1)) ||
            (first > h->from && first - 1 <= h->to &&
             !exceptions_right(axis, h, fast, first - 1, j)))
            return 0;
    }
    return end <= over + fast->exceptions + 1 && exceptions_right(axis, h, fast, h->from, below) &&
           exceptions_right(axis, h, fast, h->to,
                            h->to < first_whole(axis, over - 1) ? over - 1 : over);
}

/* Only where the integers are multiples of their distance, a power of two. */
static int whole_exceptions(const ty_axis *axis, ty_cell_map *fast, ty_u32 most)
{
    const ty_u32 bins = axis->bins.bins;
    held h;
    if (!is_near(axis) || !find_exceptions(axis, fast) || fast->exceptions > most ||
        fast->exceptions < 2)
        return 0;
    const int64_t one = first_above(axis, fast->phase_edge) - 1;
    const int64_t width = first_above(axis, fast->phase_edge + fast->every) - 1 - one;
    const int64_t below = first_above(axis, 0) - (is_whole(axis, 0) ? 2 : 1);
    fast->exception_shift = 1;
    while (width > INT64_C(1) << fast->exception_shift)
        fast->exception_shift++;
    if (width != INT64_C(1) << fast->exception_shift || one % width != 0 ||
        !hold(axis, below, first_above(axis, bins), &h) || h.exact ||
        !held_affine(axis, &h, first_above, fast))
        return 0;
    fast->zero += 1 - (ty_u32)(ty_u64)(one >> fast->exception_shift);
    return exceptions_whole_proved(axis, &h, fast);
}

int ty_affine32_exceptions(const ty_axis *axis, ty_cell_map *fast, ty_u32 most)
{
    fast->bins = axis->bins.bins;
    if (axis->even && (axis->dtype == TALLY_I32 || axis->dtype == TALLY_U32) &&
        axis->bins.bins <= most_bins && whole_exceptions(axis, fast, most))
        return 1;
    fast->exceptions = 0;
    return 0;
}

int ty_affine32_serves(tally_dtype dtype)
{
    return dtype == TALLY_F32 || dtype == TALLY_I32 || dtype == TALLY_U32;
}

int ty_affine32_make(const ty_axis *axis, ty_cell_map *fast)
{
    if (!axis->even || !ty_affine32_serves(axis->dtype))
        return 0;
    fast->bins = axis->bins.bins;
    return axis->dtype == TALLY_F32 ? binary_float(&axis->bins, fast) : whole_affine(axis, fast);
}

int ty_affine16_make(const ty_axis *axis, ty_cell_map *fast)
{
    fast->bins = axis->bins.bins;
    if (!axis->even || !ty_affine16_serves(axis->dtype) || axis->bins.bins > most_bins)
        return 0;
    return is_integer(axis->dtype) ? integer_affine(axis, fast) : float_affine(axis, fast);
}
