/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hist.fill of means. Few samples are added to their cells one after the other (Welford's way).
 * Many go to the library, whose statistics of all cells are then added to those that are there.
 */
#include <string.h>

#include "fill.h"

/* A histogram's arrays, or statistics to add to them. (A histogram has its sums of weights where
 * without weights it has numbers.) */
typedef struct moments {
    int64_t step; /* of all, from one to the next, in elements */
    int64_t *n;
    double *weights, *squares, *means, *deltas;
} moments;

static moments cells_of(const filling *w)
{
    void *sums = (void *)(uintptr_t)w->sums.data;
    return (moments){.step = w->sums.stride ? w->sums.stride / (int64_t)sizeof(double) : 1,
                     .n = sums,
                     .weights = sums,
                     .squares = (double *)(uintptr_t)w->squares.data,
                     .means = (double *)(uintptr_t)w->means.data,
                     .deltas = (double *)(uintptr_t)w->deltas.data};
}

/* ---- one after the other ---- */

static inline void fetch(const moments *to, int64_t cell)
{
    if (cell < 0)
        return;
    __builtin_prefetch(to->n + cell, 1);
    __builtin_prefetch(to->deltas + cell, 1);
}

/* Where `later` is not NULL it is as many cells that are asked for. */
static void add_values(const moments *to, const int64_t *cells, const int64_t *later,
                       const double *values, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        const int64_t cell = cells[i] * to->step;
        if (later)
            fetch(to, later[i] * to->step);
        if (cell < 0)
            continue;
        const double share = 1 / (double)++to->n[cell], apart = values[i] - to->means[cell],
                     mean = to->means[cell] + apart * share;
        to->means[cell] = mean;
        to->deltas[cell] += apart * (values[i] - mean);
    }
}

/* Weights are not negative. */
static void add_weighted(const moments *to, const int64_t *cells, const int64_t *later,
                         const double *values, const double *weights, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        const int64_t cell = cells[i] * to->step;
        const double weight = weights[i];
        if (later)
            fetch(to, later[i] * to->step);
        if (cell < 0)
            continue;
        const double all = to->weights[cell] + weight, share = all == 0 ? 0 : weight / all,
                     apart = values[i] - to->means[cell], mean = to->means[cell] + apart * share;
        to->weights[cell] = all;
        to->squares[cell] += weight * weight;
        to->means[cell] = mean;
        to->deltas[cell] += weight * apart * (values[i] - mean);
    }
}

/* Samples begin … begin+n-1, at most AT_ONCE, whose cells are known; `later` as in add_values. */
static void add_block(const filling *w, const moments *to, const int64_t *cells,
                      const int64_t *later, uint64_t begin, uint64_t n)
{
    double values[AT_ONCE], weights[AT_ONCE];
    const double *v = array_doubles(&w->values, begin, n, values), *each = weights;
    if (w->f->storage == MEANS) {
        add_values(to, cells, later, v, n);
        return;
    }
    if (w->weight.data == &w->scalar) {
        for (uint64_t i = 0; i < n; i++)
            weights[i] = w->scalar;
    } else {
        each = array_doubles(&w->weight, begin, n, weights);
    }
    add_weighted(to, cells, later, v, each, n);
}

/* Cells that are in no near cache are asked for a block before theirs: they come from memory many
 * at once. */
static void add_each(filling *w)
{
    enum { NEAR = 1 << 18 }; /* bytes of cells that stay in a near cache */
    int64_t memory[2][AT_ONCE] = {{0}}, *cells = memory[0], *later = memory[1];
    const moments to = cells_of(w);
    const int far = w->sums.n * (uint64_t)to.step * sizeof(double) > NEAR;
    const uint64_t all = w->samples[0].n;
    PyThreadState *state = lock_release(all);
    uint64_t n = all < AT_ONCE ? all : AT_ONCE;
    places_find(w, 0, n, cells);
    for (uint64_t begin = 0, next; begin < all; begin = next) {
        int64_t *const added = cells;
        const uint64_t now = n;
        next = begin + n;
        n = all - next < AT_ONCE ? all - next : AT_ONCE;
        if (n)
            places_find(w, next, n, later);
        add_block(w, &to, cells, far && n ? later : NULL, begin, now);
        cells = later;
        later = added;
    }
    lock_acquire(state);
}

/* ---- by the library ---- */

/* Statistics of n cells, packed in one allocation, which `n` begins. */
static int make(moments *m, uint64_t n, int weighted)
{
    double *memory = PyMem_Malloc((weighted ? 5 : 3) * n * sizeof *memory);
    *m = (moments){
        .step = 1, .n = (int64_t *)(void *)memory, .means = memory + n, .deltas = memory + 2 * n};
    if (weighted) {
        m->weights = memory + 3 * n;
        m->squares = memory + 4 * n;
    }
    return memory != NULL;
}

static tally_statistics statistics_of(const moments *m)
{
    return (tally_statistics){.struct_size = sizeof(tally_statistics),
                              .count = (uint64_t *)(void *)m->n,
                              .weight = m->weights,
                              .weight_squares = m->squares,
                              .mean = m->means,
                              .m2 = m->deltas};
}

/* n packed statistics from i on to cells that are there. */
static void join(const moments *to, int64_t cell, const moments *from, uint64_t i, uint64_t n,
                 int weighted)
{
    const moments m = *to, f = *from;
    cell *= m.step;
    for (const uint64_t end = i + n; i < end; i++, cell += m.step) {
        const double more = weighted ? f.weights[i] : (double)f.n[i],
                     has = weighted ? m.weights[cell] : (double)m.n[cell], all = has + more;
        if (more == 0)
            continue;
        const double share = all == 0 ? 0 : more / all, apart = f.means[i] - m.means[cell];
        m.deltas[cell] += f.deltas[i] + apart * apart * has * share;
        m.means[cell] = all == 0 ? 0 : m.means[cell] + apart * share;
        if (weighted) {
            m.weights[cell] = all;
            m.squares[cell] += f.squares[i];
        } else {
            m.n[cell] += f.n[i];
        }
    }
}

/* Packed statistics of the bins, or, ENDED, of all cells, to the cells from axis d and `cell` on;
 * what is left of them. */
static uint64_t join_all(const filling *w, form form, uint32_t d, int64_t cell, const moments *to,
                         const moments *from, uint64_t at)
{
    const int weighted = w->f->storage == WEIGHTED_MEANS;
    const uint64_t n = w->f->axes[form][d].bins;
    int64_t step = 1;
    for (uint32_t e = d + 1; e < w->f->dimensions; e++)
        step *= (int64_t)w->f->finders[e].extent;
    cell += form == PLAIN ? step : 0;
    if (d + 1 == w->f->dimensions) {
        join(to, cell, from, at, n, weighted);
        return at + n;
    }
    for (uint64_t i = 0; i < n; i++, cell += step)
        at = join_all(w, form, d + 1, cell, to, from, at);
    return at;
}

static int find_statistics(filling *w, form form, const moments *bins, const moments *flows)
{
    tally_view views[TALLY_MAX_DIMENSIONS], values = array_view(&w->values),
                                            weights = array_view(&w->weight);
    const tally_statistics to = statistics_of(bins), outside = statistics_of(flows);
    PyThreadState *state = NULL;
    const tally_statistics_options options = {.struct_size = sizeof options,
                                              .weights = bins->weights ? &weights : NULL,
                                              .progress = w->large ? fill_stopped : NULL,
                                              .user = &state};
    own_plan *own = filler_begin(w, form, views, &state);
    if (!own)
        return 0;
    const tally_status status =
        lib.bin_statistics(own->plan, views, &values, 1, &options, &to, &outside, NULL);
    filler_end(own, state);
    return !status;
}

/* The samples in no bin: of one axis by their statistics, else one after the other. 0: no memory,
 * and nothing is changed. */
static int add_flows(filling *w, const moments *to, uint64_t bins, const moments *flows)
{
    const int weighted = w->f->storage == WEIGHTED_MEANS;
    filling outside;
    w->flows = (tally_flows){.under = (uint64_t)flows->n[0],
                             .over = (uint64_t)flows->n[1],
                             .nan = (uint64_t)flows->n[2]};
    if (!w->flows.under && !w->flows.over)
        return 1;
    if (w->f->dimensions == 1) {
        join(to, 0, flows, 0, 1, weighted);
        join(to, (int64_t)bins + 1, flows, 1, 1, weighted);
        return 1;
    }
    if (!outside_take(w, &outside))
        return 0;
    add_each(&outside);
    PyMem_Free((void *)(uintptr_t)outside.samples[0].data);
    return 1;
}

/* 0: nothing is changed. */
static int add_found(filling *w, form form, uint64_t cells)
{
    enum { FLOWS = 4 };
    const int weighted = w->f->storage == WEIGHTED_MEANS;
    const moments to = cells_of(w);
    moments found, outside;
    if (!make(&found, cells + FLOWS, weighted))
        return 0;
    outside = (moments){.step = 1,
                        .n = found.n + cells,
                        .means = found.means + cells,
                        .deltas = found.deltas + cells};
    if (weighted) {
        outside.weights = found.weights + cells;
        outside.squares = found.squares + cells;
    }
    const int good = find_statistics(w, form, &found, &outside) &&
                     (form == ENDED || add_flows(w, &to, cells, &outside));
    PyThreadState *state = lock_release(w->samples[0].n);
    if (good)
        join_all(w, form, 0, 0, &to, &found, 0);
    if (good && form == ENDED)
        outside_count(w, 0, w->samples[0].n);
    lock_acquire(state);
    PyMem_Free(found.n);
    return good;
}

/* ---- which ---- */

/* Whether no weight is negative or NaN. */
static int are_weights(const filling *w)
{
    double memory[AT_ONCE];
    int good = 1;
    for (uint64_t begin = 0; begin < w->weight.n; begin += AT_ONCE) {
        const uint64_t left = w->weight.n - begin, n = left < AT_ONCE ? left : AT_ONCE;
        const double *x = array_doubles(&w->weight, begin, n, memory);
        for (uint64_t i = 0; i < n; i++)
            good &= x[i] >= 0;
    }
    return good;
}

/* The least number of samples that the library adds faster: it goes through all cells. It gains
 * less where it has weights. */
static uint64_t least_found(const filling *w, uint64_t cells)
{
    enum { FEW_SAMPLES = 4096, FEW_WEIGHTED = 8192, A_CELL = 5, A_WEIGHTED_CELL = 24 };
    return w->f->storage == WEIGHTED_MEANS ? FEW_WEIGHTED + A_WEIGHTED_CELL * cells
                                           : FEW_SAMPLES + A_CELL * cells;
}

int means_add(filling *w)
{
    const int many = w->f->dimensions > 1 && outside_are_many(w);
    const form form = w->large && many && filler_is_short(w->f) ? ENDED : PLAIN;
    uint64_t cells = 1;
    for (uint32_t d = 0; d < w->f->dimensions; d++)
        cells *= w->f->axes[form][d].bins;
    if (w->f->storage == WEIGHTED_MEANS && !are_weights(w))
        return 0;
    if (w->large || (!many && w->samples[0].n >= least_found(w, cells)))
        return add_found(w, form, cells);
    add_each(w);
    return 1;
}
