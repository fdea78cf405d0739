/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cell that each sample of Hist.fill is in. Cells are numbered by their place in the arrays,
 * flow bins and all.
 *
 * On an even axis s(x) = (x - lo) × scale + 1/2 is nearly a cell's number and a fraction from -1/2
 * to 1/2. Rounded as it is, s never falls when x rises. So a sample whose fraction is further from
 * the ends than that of any edge is surely in the cell that s says; others are compared with the
 * edges.
 */
#include <math.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "fill.h"

/* Numbers below 2^51 that are added to it lose their fractions, and are in its last bits. */
static const double rounder = 0x1.8p52;
#define LANES_OF(x) ((lanes){x, x})

/* How far the edges' s are from where they should be. */
static double find_apart(const finder *f)
{
    double apart = 0;
    for (uint64_t i = 1; i < f->extent; i++) {
        const double off = fabs((f->edges[i] - f->lo) * f->scale + 0.5 - ((double)i - 0.5));
        apart = off <= apart ? apart : off; /* NaN stays */
    }
    return 2 * apart + 0x1p-50;
}

void finder_among(finder *f, const double *edges, uint64_t extent)
{
    const double lo = edges[1];
    *f = (finder){.way = UNEVEN,
                  .extent = extent,
                  .edges = edges,
                  .lo = lo,
                  .scale = (double)(extent - 2) / (edges[extent - 1] - lo)};
    f->apart = find_apart(f);
    f->way = f->apart < 0.25 ? EVEN : UNEVEN;
}

void finder_make(finder *f, const filler *of, uint32_t d)
{
    const tally_axis *ended = &of->axes[ENDED][d];
    if (ended->kind == TALLY_AXIS_INTEGER)
        *f = (finder){.way = WHOLE, .extent = ended->bins, .lo = (double)of->axes[PLAIN][d].first};
    else
        finder_among(f, ended->edges, ended->bins);
}

/* Numbers that are nearer to zero than that, which NaN is not. (Two such comparisons in one
 * condition would cost far more.) */
static inline lane_masks are_near(lanes x, double distance)
{
    const lane_masks no_sign = {INT64_MAX, INT64_MAX};
    return (lane_masks)((lanes)((lane_masks)x & no_sign) < distance);
}

/* What is between two numbers; NaN becomes the lower one. */
static inline lanes clamped(lanes x, lanes least, lanes most)
{
#if defined(__SSE2__)
    return (lanes)_mm_min_pd(_mm_max_pd((__m128d)x, (__m128d)least), (__m128d)most);
#else
    const lane_masks above = (lane_masks)(x > least);
    x = (lanes)((above & (lane_masks)x) | (~above & (lane_masks)least));
    const lane_masks below = (lane_masks)(x < most);
    return (lanes)((below & (lane_masks)x) | (~below & (lane_masks)most));
#endif
}

/* The cells of an even number of samples: 0 if not all are in bins, or one is unsure. */
static int guess_inside(const finder *f, const double *x, uint64_t n, double *cells)
{
    const double middle = ((double)f->extent - 1) / 2, lo = f->lo, scale = f->scale,
                 most = 0.5 - f->apart;
    lane_masks sure = {-1, -1}, inside = {-1, -1};
    for (uint64_t i = 0; i < n; i += LANES) {
        lanes at;
        memcpy(&at, x + i, sizeof at);
        at = (at - lo) * scale + 0.5;
        const lanes cell = at + rounder - rounder;
        sure &= are_near(at - cell, most);
        inside &= are_near(cell - middle, middle);
        memcpy(cells + i, &cell, sizeof cell);
    }
    return (sure[0] & sure[1] & inside[0] & inside[1]) != 0;
}

/* The same of any samples: NaN are under. */
static int guess_any(const finder *f, const double *x, uint64_t n, double *cells)
{
    const lanes first = LANES_OF(0), last = LANES_OF((double)f->extent - 1);
    const double lo = f->lo, scale = f->scale, most = 0.5 - f->apart;
    lane_masks sure = {-1, -1};
    for (uint64_t i = 0; i < n; i += LANES) {
        lanes at;
        memcpy(&at, x + i, sizeof at);
        at = clamped((at - lo) * scale + 0.5, first, last);
        const lanes cell = at + rounder - rounder;
        sure &= are_near(at - cell, most);
        memcpy(cells + i, &cell, sizeof cell);
    }
    return (sure[0] & sure[1]) != 0;
}

static void find_edges(const finder *f, const double *x, uint64_t n, double *cells)
{
    int64_t found[AT_ONCE];
    edges_find(x, n, f->edges + 1, f->extent - 1, 0, found);
    for (uint64_t i = 0; i < n; i++)
        cells[i] = (double)found[i];
}

static void find_whole(const finder *f, const double *x, uint64_t n, double *cells)
{
    const double under = f->lo - 1, over = f->lo + (double)f->extent - 2;
    for (uint64_t i = 0; i < n; i++) {
        const double above = x[i] > under ? x[i] : under, at = above < over ? above : over;
        const int64_t whole = (int64_t)at;
        cells[i] = (double)(whole - (at < (double)whole) - (int64_t)under);
    }
}

/* Guesses are right or in the next cell: compared with the edges. (Infinity is beyond the last.) */
static void settle(const finder *f, const double *x, uint64_t n, double *cells)
{
    const int64_t last = (int64_t)f->extent - 1;
    for (uint64_t i = 0; i < n; i++) {
        const int64_t guess = (int64_t)cells[i],
                      cell = guess + (x[i] >= f->edges[guess + 1]) - (x[i] < f->edges[guess]);
        cells[i] = cell < 0 ? 0.0 : (double)(cell < last ? cell : last);
    }
}

int finder_find(const finder *f, int *mixed, const double *x, uint64_t n, double *cells)
{
    if (f->way == EVEN) {
        if (!*mixed && guess_inside(f, x, n, cells))
            return 1;
        *mixed = !guess_any(f, x, n, cells);
        if (*mixed)
            settle(f, x, n, cells);
    } else if (f->way == WHOLE) {
        find_whole(f, x, n, cells);
    } else {
        find_edges(f, x, n, cells);
    }
    return 0;
}

const double *even_doubles(const array *a, uint64_t begin, uint64_t n, double *to)
{
    const double *x = array_doubles(a, begin, n, to);
    if (n % LANES == 0)
        return x;
    memmove(to, x, n * sizeof *to);
    to[n] = to[n - 1];
    return to;
}

/* How many samples are under and over, and whether any is NaN. */
typedef struct flows_found {
    uint64_t under, over;
    int nan;
} flows_found;

/* Takes those in the first or the last cell from the points that are in bins on all axes before:
 * inside[i] is 1 for such a point, else 0. Adds up how many are under and over, notes NaN; 1 if any
 * is. */
static int take_flows(const finder *f, const double *x, const double *cells, uint64_t n,
                      double *inside, flows_found *found)
{
    const lanes first = LANES_OF(0), last = LANES_OF((double)f->extent - 1);
    lanes under = LANES_OF(0), over = under;
    lane_masks nan = {0};
    for (uint64_t i = 0; i < n; i += LANES) {
        lanes v, at, is;
        memcpy(&v, x + i, sizeof v);
        memcpy(&at, cells + i, sizeof at);
        memcpy(&is, inside + i, sizeof is);
        const lanes low = (lanes)((lane_masks)(at <= first) & (lane_masks)is),
                    high = (lanes)((lane_masks)(at >= last) & (lane_masks)is);
        under += low;
        over += high;
        nan |= v != v;
        is -= low + high;
        memcpy(inside + i, &is, sizeof is);
    }
    const flows_found more = {(uint64_t)(under[0] + under[1]), (uint64_t)(over[0] + over[1]),
                              (nan[0] | nan[1]) != 0};
    found->under += more.under;
    found->over += more.over;
    found->nan |= more.nan;
    return more.under || more.over || more.nan;
}

void cells_to_integers(const double *x, uint64_t n, int64_t *to)
{
    const lanes all = LANES_OF(rounder);
    for (uint64_t i = 0; i < n; i += LANES) {
        lanes at;
        memcpy(&at, x + i, sizeof at);
        const lane_masks integers = (lane_masks)(at + rounder) - (lane_masks)all;
        memcpy(to + i, &integers, sizeof integers);
    }
}

/* Takes the samples that are NaN out. */
static void take_out(const double *x, uint64_t n, int64_t *cells)
{
    for (uint64_t i = 0; i < n; i++)
        cells[i] = x[i] != x[i] ? NO_CELL : cells[i];
}

/* The flows of samples some of which are NaN on some axis. */
static void count_closely(filling *w, uint64_t begin, uint64_t n, int64_t *cells)
{
    double memory[AT_ONCE];
    outside_count(w, begin, n);
    for (uint32_t d = 0; d < w->f->dimensions; d++)
        take_out(array_doubles(&w->samples[d], begin, n, memory), n, cells);
}

void places_find(filling *w, uint64_t begin, uint64_t n, int64_t *cells)
{
    double memory[AT_ONCE], found[AT_ONCE], all[AT_ONCE], inside[AT_ONCE];
    const uint64_t even = n + n % LANES;
    flows_found flows = {0};
    int some = 0;
    for (uint32_t d = 0; d < w->f->dimensions; d++) {
        const double *x = even_doubles(&w->samples[d], begin, n, memory);
        double *to = d ? found : all;
        if (!finder_find(&w->f->finders[d], &w->mixed[d], x, even, to)) {
            for (uint64_t i = 0; !some && i < even; i++)
                inside[i] = 1;
            if (!some && n < even)
                inside[n] = 0;
            some = 1;
            w->mixed[d] |= take_flows(&w->f->finders[d], x, to, even, inside, &flows);
        }
        const double extent = (double)w->f->finders[d].extent;
        for (uint64_t i = 0; d && i < even; i++)
            all[i] = all[i] * extent + found[i];
    }
    cells_to_integers(all, even, cells);
    if (flows.nan) {
        count_closely(w, begin, n, cells);
        return;
    }
    w->flows.under += flows.under;
    w->flows.over += flows.over;
}
