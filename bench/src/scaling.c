/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine gives to several at once: as many callers as threads, each a Tally of its own on
 * one thread with its own share of the samples. No more than that can threads gain.
 */
#include <pthread.h>

#include "bench.h"

enum { MOST_CALLERS = 64, CALLER_BYTES = 2 << 20 };

typedef struct caller {
    bench_contender contender;
    uint64_t calls;
    double took;
} caller;

typedef struct scaling {
    caller callers[MOST_CALLERS];
    unsigned most, used; /* used: from start to end */
    double *counts;      /* of one caller */
    uint64_t cells;
} scaling;

static bench_problem share(const bench_problem *whole, uint64_t begin, uint64_t end)
{
    bench_problem part = *whole;
    size_t offset = begin * bench_dtype_bytes(whole->dtype);
    part.n = end - begin;
    part.x = (const char *)whole->x + offset;
    part.y = whole->y ? (const char *)whole->y + offset : NULL;
    part.weights = whole->weights ? whole->weights + begin : NULL;
    return part;
}

static void end(bench_contender *contender)
{
    scaling *a = contender->shared;
    for (; a->used > 0; a->used--)
        a->callers[a->used - 1].contender.end(&a->callers[a->used - 1].contender);
    free(a->counts);
    a->counts = NULL;
}

static int start(bench_contender *contender, const bench_problem *problem)
{
    scaling *a = contender->shared;
    uint64_t worth = (uint64_t)bench_bytes(problem) / CALLER_BYTES;
    unsigned callers = worth < a->most ? (unsigned)worth : a->most;
    if (callers < 2) {
        snprintf(contender->why, sizeof contender->why, "too little for several");
        return -1;
    }
    a->cells = problem->kind == BENCH_EVEN_2D ? problem->bins * problem->bins : problem->bins;
    a->counts = malloc(a->cells * sizeof *a->counts);
    if (!a->counts) {
        snprintf(contender->why, sizeof contender->why, "out of memory");
        return -1;
    }
    for (unsigned t = 0; t < callers; t++) {
        bench_contender *part = &a->callers[t].contender;
        bench_problem own =
            share(problem, problem->n * t / callers, problem->n * (t + 1) / callers);
        if (part->start(part, &own)) {
            snprintf(contender->why, sizeof contender->why, "%s", part->why);
            return -1;
        }
        a->used++;
    }
    contender->threads = callers;
    snprintf(contender->call, sizeof contender->call, "%s", a->callers[0].contender.call);
    return 0;
}

static void *run(void *user)
{
    caller *c = user;
    c->took = c->contender.time(&c->contender, c->calls);
    return NULL;
}

static double time_calls(bench_contender *contender, uint64_t calls)
{
    scaling *a = contender->shared;
    pthread_t threads[MOST_CALLERS];
    unsigned started = 1;
    double begin = bench_clock(contender);
    for (unsigned t = 0; t < a->used; t++)
        a->callers[t].calls = calls;
    for (; started < a->used; started++)
        if (pthread_create(&threads[started], NULL, run, &a->callers[started]) != 0)
            break;
    run(&a->callers[0]);
    for (unsigned t = 1; t < started; t++)
        pthread_join(threads[t], NULL);
    double took = bench_clock(contender) - begin;
    for (unsigned t = 0; t < started; t++)
        if (a->callers[t].took < 0)
            took = -1;
    if (started < a->used || took < 0) {
        snprintf(contender->why, sizeof contender->why, "not all callers ran");
        return -1;
    }
    return took;
}

static int counts(bench_contender *contender, double *to)
{
    scaling *a = contender->shared;
    for (unsigned t = 0; t < a->used; t++) {
        if (a->callers[t].contender.counts(&a->callers[t].contender, a->counts))
            return -1;
        for (uint64_t i = 0; i < a->cells; i++)
            to[i] = (t ? to[i] : 0) + a->counts[i];
    }
    return 0;
}

static void release(bench_contender *contender)
{
    scaling *a = contender->shared;
    for (unsigned t = 0; t < a->most; t++)
        free(a->callers[t].contender.shared);
    free(a);
}

int bench_scaling_add(bench_contenders *contenders, const bench_options *options,
                      tally_context *context, unsigned callers)
{
    scaling *a = calloc(1, sizeof *a);
    bench_contender *contender = a ? bench_contender_add(contenders) : NULL;
    if (!contender) {
        free(a);
        return bench_fail("out of memory");
    }
    snprintf(contender->name, sizeof contender->name, "scaling");
    snprintf(contender->version, sizeof contender->version, "%s", tally_version());
    contender->role = BENCH_SCALING;
    contender->start = start;
    contender->time = time_calls;
    contender->counts = counts;
    contender->end = end;
    contender->release = release;
    contender->shared = a;
    contender->threads = callers < MOST_CALLERS ? callers : MOST_CALLERS;
    for (; a->most < contender->threads; a->most++)
        if (bench_tally_make(&a->callers[a->most].contender, options, context, 1))
            return BENCH_FAILED;
    return BENCH_OK;
}
