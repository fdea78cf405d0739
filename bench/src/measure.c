/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing: every contender is warmed up, then all take turns, round after round, so that whatever
 * else the machine does falls on all of them. A short call is repeated until the clock has
 * something to see.
 */
#include <math.h>

#include "bench.h"

enum { SLICES = 16, SMALL_ROUNDS = 3 };

typedef struct measuring {
    bench_contenders *contenders;
    const bench_case *wanted;
    bench_problem whole, slice; /* slice: the first samples, for those who are slow */
    double *counts, *reference, *reference_slice;
    uint64_t cells;
    unsigned rounds;
    double *times; /* contenders × rounds */
    double least;  /* seconds that one reading of the clock should span */
} measuring;

static int sorted(const measuring *m)
{
    return strcmp(m->wanted->data, "sorted") == 0;
}

/* The reference's counts of the whole or the slice, counted when first asked for. */
static const double *reference(measuring *m, int whole, tally_error *error)
{
    double **kept = whole ? &m->reference : &m->reference_slice;
    if (*kept)
        return *kept;
    double *made = malloc(m->cells * sizeof *made);
    if (!made) {
        snprintf(error->message, sizeof error->message, "out of memory");
        return NULL;
    }
    if (bench_reference(m->contenders->contexts[0], whole ? &m->whole : &m->slice, sorted(m), made,
                        error)) {
        free(made);
        return NULL;
    }
    return *kept = made;
}

/* Seconds of a call, the second one; negative on failure. */
static double warm_up(bench_contender *contender)
{
    double first = contender->time(contender, 1);
    if (first < 0 || first > BENCH_SLOW)
        return first;
    return contender->time(contender, 1);
}

/* A contender that cannot take the problem is left out with its reason. */
static void ready(measuring *m, bench_contender *contender)
{
    int sliced = m->slice.n < m->whole.n && contender->role == BENCH_PEER;
    contender->ran = contender->same = 0;
    contender->why[0] = '\0';
    for (;;) {
        const bench_problem *problem = sliced ? &m->slice : &m->whole;
        double share = (double)m->whole.n / (double)problem->n;
        double took = contender->start(contender, problem) == 0 ? warm_up(contender) : -1;
        if (took < 0) {
            contender->end(contender);
            return;
        }
        if (!sliced || took * share > BENCH_SLOW) {
            contender->n = problem->n;
            contender->calls = took >= m->least ? 1 : (uint64_t)ceil(m->least / (took + 1e-9));
            contender->ran = 1;
            return;
        }
        contender->end(contender);
        sliced = 0;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(bench_contender *contender, double *times, unsigned rounds)
{
    qsort(times, rounds, sizeof *times, ascending);
    contender->least = times[0];
    contender->most = times[rounds - 1];
    contender->median =
        rounds % 2 ? times[rounds / 2] : (times[rounds / 2 - 1] + times[rounds / 2]) / 2;
}

static void take_turns(measuring *m)
{
    bench_contenders *contenders = m->contenders;
    for (unsigned r = 0; r < m->rounds; r++)
        for (size_t i = 0; i < contenders->count; i++) {
            bench_contender *contender = &contenders->all[i];
            if (!contender->ran)
                continue;
            double took = contender->time(contender, contender->calls);
            if (took < 0) {
                contender->ran = 0;
                contender->end(contender);
                continue;
            }
            m->times[i * m->rounds + r] = took / (double)contender->calls;
        }
    for (size_t i = 0; i < contenders->count; i++)
        if (contenders->all[i].ran)
            summarise(&contenders->all[i], m->times + i * m->rounds, m->rounds);
}

static int compare(measuring *m, bench_contender *contender, tally_error *error)
{
    const double *expected = reference(m, contender->n == m->whole.n, error);
    if (!expected)
        return -1;
    memset(m->counts, 0, m->cells * sizeof *m->counts);
    contender->same = contender->counts(contender, m->counts) == 0;
    for (uint64_t i = 0; i < m->cells && contender->same; i++)
        contender->same = m->counts[i] == expected[i];
    return 0;
}

int bench_measure(bench_contenders *contenders, const bench_case *wanted,
                  const bench_problem *problem, unsigned repeats, int quick, tally_error *error)
{
    measuring m = {
        .contenders = contenders, .wanted = wanted, .whole = *problem, .slice = *problem};
    int failed = 0;
    if (problem->n >= 2 * BENCH_BLOCK) {
        m.slice.n = problem->n / SLICES;
        m.slice.n = m.slice.n < BENCH_BLOCK ? BENCH_BLOCK : m.slice.n;
    }
    m.cells = problem->kind == BENCH_EVEN_2D ? problem->bins * problem->bins : problem->bins;
    m.rounds = problem->n < BENCH_BLOCK && !quick ? SMALL_ROUNDS * repeats : repeats;
    m.least = quick ? 2e-4 : 2e-3;
    m.counts = malloc(m.cells * sizeof *m.counts);
    m.times = malloc(contenders->count * m.rounds * sizeof *m.times);
    if (!m.counts || !m.times) {
        snprintf(error->message, sizeof error->message, "out of memory");
        failed = -1;
    } else {
        bench_python_load(contenders, problem);
        for (size_t i = 0; i < contenders->count; i++)
            ready(&m, &contenders->all[i]);
        take_turns(&m);
    }
    for (size_t i = 0; i < contenders->count && m.counts && m.times; i++) {
        bench_contender *contender = &contenders->all[i];
        if (!contender->ran)
            continue;
        if (!failed && contender->counts)
            failed = compare(&m, contender, error);
        contender->end(contender);
    }
    free(m.counts);
    free(m.times);
    free(m.reference);
    free(m.reference_slice);
    return failed;
}
