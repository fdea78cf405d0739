/* SPDX-License-Identifier: Apache-2.0 */
/* GSL: gsl_histogram and gsl_histogram2d. Samples become double, as its interface has it. */
#include <gsl/gsl_histogram.h>
#include <gsl/gsl_histogram2d.h>
#include <gsl/gsl_version.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

typedef struct state {
    bench_problem problem;
    gsl_histogram *one;
    gsl_histogram2d *two;
} state;

static void end(void *user)
{
    state *s = user;
    if (s->one)
        gsl_histogram_free(s->one);
    if (s->two)
        gsl_histogram2d_free(s->two);
    free(s);
}

static const char *start(const bench_problem *p, void **made)
{
    state *s = calloc(1, sizeof *s);
    if (!s)
        return "out of memory";
    s->problem = *p;
    if (p->kind == BENCH_EVEN_2D) {
        s->two = gsl_histogram2d_alloc(p->bins, p->bins);
        if (s->two)
            gsl_histogram2d_set_ranges_uniform(s->two, p->lo, p->hi, p->lo, p->hi);
    } else {
        s->one = gsl_histogram_alloc(p->bins);
        if (s->one && p->kind == BENCH_EDGES)
            gsl_histogram_set_ranges(s->one, p->edges, p->bins + 1);
        else if (s->one)
            gsl_histogram_set_ranges_uniform(s->one, p->lo, p->hi);
    }
    if (!s->one && !s->two) {
        end(s);
        return "out of memory";
    }
    *made = s;
    return NULL;
}

#define LOOP(T)                                                                                    \
    static void count_##T(state *s)                                                                \
    {                                                                                              \
        const T *x = s->problem.x, *y = s->problem.y;                                              \
        const uint64_t n = s->problem.n;                                                           \
        if (s->two)                                                                                \
            for (uint64_t i = 0; i < n; i++)                                                       \
                gsl_histogram2d_increment(s->two, (double)x[i], (double)y[i]);                     \
        else if (s->problem.kind == BENCH_WEIGHTS)                                                 \
            for (uint64_t i = 0; i < n; i++)                                                       \
                gsl_histogram_accumulate(s->one, (double)x[i], s->problem.weights[i]);             \
        else                                                                                       \
            for (uint64_t i = 0; i < n; i++)                                                       \
                gsl_histogram_increment(s->one, (double)x[i]);                                     \
    }

LOOP(uint8_t)
LOOP(float)
LOOP(double)

static int count(void *user)
{
    state *s = user;
    if (s->two)
        gsl_histogram2d_reset(s->two);
    else
        gsl_histogram_reset(s->one);
    switch (s->problem.dtype) {
    case BENCH_U8:
        count_uint8_t(s);
        break;
    case BENCH_F32:
        count_float(s);
        break;
    case BENCH_F64:
        count_double(s);
        break;
    }
    return 0;
}

static void counts(void *user, double *to)
{
    const state *s = user;
    const uint64_t bins = s->problem.bins;
    memcpy(to, s->two ? s->two->bin : s->one->bin, (s->two ? bins * bins : bins) * sizeof *to);
}

static const bench_peer peers[] = {{"gsl", "histogram", GSL_VERSION, start, count, counts, end}};

__attribute__((visibility("default"))) const bench_peer *tally_bench_peers(size_t *count);

const bench_peer *tally_bench_peers(size_t *count_of)
{
    *count_of = sizeof peers / sizeof *peers;
    return peers;
}
