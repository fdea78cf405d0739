/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stone's rule: of 1 … max(100, sqrt n) bins, the number whose histogram has the least estimated
 * squared error.
 *
 * All candidates are counted together. Their edges, sorted, make one fine partition; how many
 * samples lie below each edge gives every candidate's counts by subtraction. A pass takes as many
 * candidates as TABLE edges allow, and no more than four passes are needed for the most candidates.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/rules.h"
#include "cpu/stats.h"

/* Edges of one pass: a quarter of 1 + 2 + … + TY_STONE_CANDIDATES, and two candidates' more. */
#define TABLE ((size_t)TY_STONE_CANDIDATES * TY_STONE_CANDIDATES / 8 + 2 * TY_STONE_CANDIDATES)

/* One pass' partition. Slot s holds the samples x with edges[s-1] <= x < edges[s]. */
typedef struct partition {
    const ty_stone *stone;
    size_t edges_count, buckets; /* buckets: a power of two */
    double scale;                /* buckets per unit of x - edges[0] */
    double *edges;               /* sorted, distinct; owned */
    uint32_t *starts;            /* buckets+1: the first edge at or after each bucket; owned */
    uint64_t *slots;             /* edges_count+1; owned */
} partition;

/* Edge i of k+1, with the rounding of numpy.linspace in the type it uses. */
static double edge(const ty_stone *s, uint64_t i, uint64_t k)
{
    if (i == k)
        return ty_rule_round(s->reader->dtype, s->hi);
    if (s->by_range)
        return ty_rule_round(s->reader->dtype, s->lo + (double)i * ((s->hi - s->lo) / (double)k));
    const tally_dtype t = s->reader->dtype;
    double delta = ty_rule_round(t, s->hi - s->lo), n = ty_rule_round(t, (double)k);
    double at = ty_rule_round(t, (double)i), step = ty_rule_round(t, delta / n);
    if (step == 0)
        at = ty_rule_round(t, ty_rule_round(t, at / n) * delta);
    else
        at = ty_rule_round(t, at * step);
    return ty_rule_round(t, s->lo + at);
}

/* Rises with x, so samples and edges of different buckets need no comparison. */
static size_t bucket_of(const partition *p, double x)
{
    double at = (x - p->edges[0]) * p->scale;
    if (at >= (double)p->buckets)
        return p->buckets - 1;
    return at > 0 ? (size_t)at : 0;
}

/* How many edges are <= x. */
static size_t slot(const partition *p, double x)
{
    size_t at = bucket_of(p, x), begin = p->starts[at], end = p->starts[at + 1];
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (p->edges[middle] <= x)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static int compare(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Sorts the edges, drops repeats and lays the starts. */
static void arrange(partition *p)
{
    qsort(p->edges, p->edges_count, sizeof *p->edges, compare);
    size_t kept = 1;
    for (size_t i = 1; i < p->edges_count; i++) {
        if (p->edges[i] != p->edges[kept - 1])
            p->edges[kept++] = p->edges[i];
    }
    p->edges_count = kept;
    double span = p->edges[kept - 1] - p->edges[0];
    p->scale = isfinite(span) && span > 0 ? (double)p->buckets / span : 0;
    size_t at = 0;
    for (size_t i = 0; i < kept; i++) {
        for (size_t here = bucket_of(p, p->edges[i]); at <= here; at++)
            p->starts[at] = (uint32_t)i;
    }
    for (; at <= p->buckets; at++)
        p->starts[at] = (uint32_t)kept;
}

static void release(partition *p)
{
    ty_free(p->edges);
    ty_free(p->starts);
    ty_free(p->slots);
}

/* The edges of candidates first … last. On failure nothing is owned. */
static tally_status prepare(partition *p, const ty_stone *stone, uint64_t first, uint64_t last,
                            tally_error *error)
{
    size_t count = 2;
    for (uint64_t k = first; k <= last; k++)
        count += (size_t)k - 1;
    *p = (partition){.stone = stone, .buckets = 1};
    while (p->buckets < count)
        p->buckets *= 2;
    p->edges = ty_malloc(count * sizeof *p->edges);
    p->starts = ty_malloc((p->buckets + 1) * sizeof *p->starts);
    p->slots = ty_calloc(count + 1, sizeof *p->slots);
    if (!p->edges || !p->starts || !p->slots) {
        release(p);
        return ty_error_memory(error, "the bin rule stone",
                               count * 16 + p->buckets * sizeof *p->starts);
    }
    p->edges[p->edges_count++] = edge(stone, 0, 1);
    p->edges[p->edges_count++] = edge(stone, 1, 1);
    for (uint64_t k = first; k <= last; k++) {
        for (uint64_t i = 1; i < k; i++)
            p->edges[p->edges_count++] = edge(stone, i, k);
    }
    arrange(p);
    return TALLY_OK;
}

/* 64-bit integers are compared with edges by their float64 values, as NumPy does. */
static tally_status take(void *arg, const void *samples, size_t count, tally_error *error)
{
    (void)error;
    partition *p = arg;
    const ty_stats_loops *loops = ty_stats_loops_get();
    const tally_dtype dtype = p->stone->reader->dtype;
    const size_t size = tally_dtype_bytes(dtype);
    double values[TY_STATS_BLOCK];
    for (size_t at = 0; at < count; at += TY_STATS_BLOCK) {
        size_t n = count - at < TY_STATS_BLOCK ? count - at : TY_STATS_BLOCK;
        loops->decode(dtype, (const unsigned char *)samples + at * size, n, values);
        for (size_t i = 0; i < n; i++)
            p->slots[slot(p, values[i])]++;
    }
    return TALLY_OK;
}

/*
 * NumPy's estimate for k bins, times the square of the count of samples (and the span, for dtypes
 * whose arithmetic NumPy does not round): exact for a few samples, where equal estimates are common
 * and must come out equal, so that the fewest bins win. `slots` are running totals by now.
 */
static double estimate(const partition *p, uint64_t k)
{
    const ty_stone *s = p->stone;
    const double n = (double)s->samples;
    double squares = 0;
    uint64_t before = 0;
    for (uint64_t i = 1; i <= k; i++) {
        uint64_t until = s->samples;
        if (i < k) /* slot() - 1 is the edge itself, and slots 0 … edge hold what is below it */
            until = p->slots[slot(p, edge(s, i, k)) - 1];
        double count = until > before ? (double)(until - before) : 0;
        squares += count * count;
        before = until;
    }
    const tally_dtype dtype = s->reader->dtype;
    double risk = 2 * n * n - (n + 1) * squares;
    if (!ty_dtype_is_float(dtype) || dtype == TALLY_F64)
        return risk * (double)k;
    return risk / ty_rule_round(dtype, s->span / ty_rule_round(dtype, (double)k));
}

tally_status ty_stone_bins(const ty_stone *stone, uint64_t *bins, tally_error *error)
{
    uint64_t most = (uint64_t)sqrt((double)stone->samples);
    most = most < 100 ? 100 : most;
    most = most < TY_STONE_CANDIDATES ? most : TY_STONE_CANDIDATES;
    double best = INFINITY;
    *bins = 1;
    for (uint64_t first = 1; first <= most;) {
        uint64_t last = first;
        for (size_t edges = (size_t)first; last < most && edges + last + 1 <= TABLE; last++)
            edges += (size_t)last + 1;
        partition p;
        tally_status status = prepare(&p, stone, first, last, error);
        if (status)
            return status;
        status = ty_sample_reader_pass(stone->reader, take, &p, error);
        for (size_t i = 1; i <= p.edges_count; i++)
            p.slots[i] += p.slots[i - 1];
        for (uint64_t k = first; !status && k <= last; k++) {
            double error_of_k = estimate(&p, k);
            if (error_of_k < best) {
                best = error_of_k;
                *bins = k;
            }
        }
        release(&p);
        if (status)
            return status;
        first = last + 1;
    }
    return TALLY_OK;
}
