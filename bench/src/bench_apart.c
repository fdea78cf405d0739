/*
 * What the machine gives to several at once: as many callers as threads, each a Tally of its own on
 * one thread with its own share of the samples. No more than that can threads gain.
 */
#include <pthread.h>

#include "bench.h"

enum { MOST_CALLERS = 64, CALLER_BYTES = 2 << 20 };

typedef struct caller {
    bench_way way;
    uint64_t calls;
    double took;
} caller;

typedef struct apart {
    caller callers[MOST_CALLERS];
    unsigned most, used; /* used: from start to end */
    double *counts;      /* of one caller */
    uint64_t cells;
} apart;

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

static void end(bench_way *way)
{
    apart *a = way->shared;
    for (; a->used > 0; a->used--)
        a->callers[a->used - 1].way.end(&a->callers[a->used - 1].way);
    free(a->counts);
    a->counts = NULL;
}

static int start(bench_way *way, const bench_problem *problem)
{
    apart *a = way->shared;
    uint64_t worth = (uint64_t)bench_bytes(problem) / CALLER_BYTES;
    unsigned callers = worth < a->most ? (unsigned)worth : a->most;
    if (callers < 2) {
        snprintf(way->why, sizeof way->why, "too little for several");
        return -1;
    }
    a->cells = problem->kind == BENCH_EVEN_2D ? problem->bins * problem->bins : problem->bins;
    a->counts = malloc(a->cells * sizeof *a->counts);
    if (!a->counts) {
        snprintf(way->why, sizeof way->why, "out of memory");
        return -1;
    }
    for (unsigned t = 0; t < callers; t++) {
        bench_way *part = &a->callers[t].way;
        bench_problem own =
            share(problem, problem->n * t / callers, problem->n * (t + 1) / callers);
        if (part->start(part, &own)) {
            snprintf(way->why, sizeof way->why, "%s", part->why);
            return -1;
        }
        a->used++;
    }
    way->threads = callers;
    snprintf(way->call, sizeof way->call, "%s", a->callers[0].way.call);
    return 0;
}

static void *run(void *user)
{
    caller *c = user;
    c->took = c->way.time(&c->way, c->calls);
    return NULL;
}

static double time_calls(bench_way *way, uint64_t calls)
{
    apart *a = way->shared;
    pthread_t threads[MOST_CALLERS];
    unsigned started = 1;
    double begin = bench_clock(way);
    for (unsigned t = 0; t < a->used; t++)
        a->callers[t].calls = calls;
    for (; started < a->used; started++)
        if (pthread_create(&threads[started], NULL, run, &a->callers[started]) != 0)
            break;
    run(&a->callers[0]);
    for (unsigned t = 1; t < started; t++)
        pthread_join(threads[t], NULL);
    double took = bench_clock(way) - begin;
    for (unsigned t = 0; t < started; t++)
        if (a->callers[t].took < 0)
            took = -1;
    if (started < a->used || took < 0) {
        snprintf(way->why, sizeof way->why, "not all callers ran");
        return -1;
    }
    return took;
}

static int counts(bench_way *way, double *to)
{
    apart *a = way->shared;
    for (unsigned t = 0; t < a->used; t++) {
        if (a->callers[t].way.counts(&a->callers[t].way, a->counts))
            return -1;
        for (uint64_t i = 0; i < a->cells; i++)
            to[i] = (t ? to[i] : 0) + a->counts[i];
    }
    return 0;
}

static void release(bench_way *way)
{
    apart *a = way->shared;
    for (unsigned t = 0; t < a->most; t++)
        free(a->callers[t].way.shared);
    free(a);
}

int bench_apart_add(bench_ways *ways, const cli_options *options, tally_context *context,
                    unsigned callers)
{
    apart *a = calloc(1, sizeof *a);
    bench_way *way = a ? bench_way_add(ways) : NULL;
    if (!way) {
        free(a);
        return cli_fail("out of memory");
    }
    snprintf(way->name, sizeof way->name, "apart");
    snprintf(way->version, sizeof way->version, "%s", tally_version());
    way->role = BENCH_APART;
    way->start = start;
    way->time = time_calls;
    way->counts = counts;
    way->end = end;
    way->release = release;
    way->shared = a;
    way->threads = callers < MOST_CALLERS ? callers : MOST_CALLERS;
    for (; a->most < way->threads; a->most++)
        if (bench_ours_make(&a->callers[a->most].way, options, context, 1))
            return CLI_FAILED;
    return CLI_OK;
}
