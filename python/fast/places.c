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

#include "fill.h"

/* What the processor has of that for which places_loops.c is compiled (cmake/TallyIsa.cmake), as
 * far as one that has the rest may lack it. */
static const places_loops *loops;

void places_bind(const char *without)
{
    loops = &places_base;
#if defined(__x86_64__)
    if (without && strstr(without, "avx2"))
        return;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("fma"))
        return;
    loops = &places_avx2;
    if ((!without || !strstr(without, "avx512")) && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("gfni"))
        loops = &places_avx512;
#else
    (void)without;
#endif
}

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
        const even_cells axis = {f->lo, f->scale, (double)f->extent - 1, 0.5 - f->apart};
        if (!*mixed && loops->guess_inside(&axis, x, n, cells))
            return 1;
        *mixed = !loops->guess_any(&axis, x, n, cells);
        if (*mixed)
            settle(f, x, n, cells);
    } else if (f->way == WHOLE) {
        find_whole(f, x, n, cells);
    } else {
        find_edges(f, x, n, cells);
    }
    return 0;
}

const double *places_doubles(const array *a, uint64_t begin, uint64_t n, double *to)
{
    enum { LATER = 2048, LINE = 8 }; /* samples: that are asked for; of a line of the cache */
    const double *x = array_doubles(a, begin, n, to);
    for (uint64_t i = 0; x != to && begin + n + LATER <= a->n && i < n; i += LINE)
        __builtin_prefetch(x + LATER + i, 0, 2);
    const uint64_t whole = places_whole(n);
    if (n == whole)
        return x;
    memmove(to, x, n * sizeof *to);
    for (uint64_t i = n; i < whole; i++)
        to[i] = to[n - 1];
    return to;
}

void cells_join(double *all, uint64_t extent, const double *more, uint64_t n)
{
    loops->join(all, (double)extent, more, places_whole(n));
}

void cells_to_integers(const double *x, uint64_t n, int64_t *to)
{
    loops->to_integers(x, places_whole(n), to);
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
    const uint64_t whole = places_whole(n);
    flows_found flows = {0};
    int some = 0;
    for (uint32_t d = 0; d < w->f->dimensions; d++) {
        const finder *f = &w->f->finders[d];
        const double *x = places_doubles(&w->samples[d], begin, n, memory);
        double *to = d ? found : all;
        if (!finder_find(f, &w->mixed[d], x, whole, to)) {
            for (uint64_t i = 0; !some && i < whole; i++)
                inside[i] = 1;
            for (uint64_t i = n; !some && i < whole; i++)
                inside[i] = 0;
            some = 1;
            w->mixed[d] |= loops->take_flows((double)f->extent - 1, x, to, whole, inside, &flows);
        }
        if (d)
            cells_join(all, f->extent, found, n);
    }
    cells_to_integers(all, n, cells);
    if (flows.nan) {
        count_closely(w, begin, n, cells);
        return;
    }
    w->flows.under += flows.under;
    w->flows.over += flows.over;
}
