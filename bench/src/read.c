/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that only reads: the ceiling that the others are quoted against. */
#include <pthread.h>

#include "bench.h"

enum { MOST_THREADS = 64, THREAD_BYTES = 2 << 20 };

typedef struct part {
    const uint64_t *from;
    size_t words;
    uint64_t sum;
} part;

typedef struct reading {
    part parts[3][MOST_THREADS]; /* of x, y and weights */
    unsigned arrays, threads;
} reading;

#if defined(__x86_64__)
#define WIDE 1
#else
#define WIDE 0
#endif

static inline __attribute__((always_inline)) uint64_t add(const uint64_t *from, size_t words)
{
    uint64_t sum[16] = {0}, all = 0;
    size_t i = 0;
    for (; i + 16 <= words; i += 16)
        for (int k = 0; k < 16; k++)
            sum[k] += from[i + (size_t)k];
    for (; i < words; i++)
        all += from[i];
    for (int k = 0; k < 16; k++)
        all += sum[k];
    return all;
}

static uint64_t add_base(const uint64_t *from, size_t words)
{
    return add(from, words);
}

#if WIDE
__attribute__((target("avx2"))) static uint64_t add_wide(const uint64_t *from, size_t words)
{
    return add(from, words);
}
#endif

static void *run(void *user)
{
    part *p = user;
#if WIDE
    if (__builtin_cpu_supports("avx2")) {
        p->sum = add_wide(p->from, p->words);
        return NULL;
    }
#endif
    p->sum = add_base(p->from, p->words);
    return NULL;
}

static void cut(reading *r, unsigned array, const void *from, double bytes)
{
    size_t words = (size_t)bytes / sizeof(uint64_t), each = words / r->threads;
    for (unsigned t = 0; t < r->threads; t++)
        r->parts[array][t] = (part){(const uint64_t *)from + t * each,
                                    t + 1 < r->threads ? each : words - t * each, 0};
}

static int start(bench_contender *contender, const bench_problem *problem)
{
    reading *r = contender->shared;
    double bytes = (double)problem->n * (double)bench_dtype_bytes(problem->dtype);
    /* A thread is not worth starting for less. */
    r->threads = contender->threads < MOST_THREADS ? contender->threads : MOST_THREADS;
    while (r->threads > 1 && bytes / r->threads < THREAD_BYTES)
        r->threads--;
    r->arrays = 1;
    cut(r, 0, problem->x, bytes);
    if (problem->y)
        cut(r, r->arrays++, problem->y, bytes);
    if (problem->weights)
        cut(r, r->arrays++, problem->weights, (double)problem->n * sizeof(double));
    return 0;
}

static double time_calls(bench_contender *contender, uint64_t calls)
{
    reading *r = contender->shared;
    double begin = bench_clock(contender);
    for (uint64_t c = 0; c < calls; c++)
        for (unsigned a = 0; a < r->arrays; a++) {
            pthread_t threads[MOST_THREADS];
            unsigned started = 1;
            for (; started < r->threads; started++)
                if (pthread_create(&threads[started], NULL, run, &r->parts[a][started]) != 0)
                    break;
            run(&r->parts[a][0]);
            for (unsigned t = started; t < r->threads; t++)
                run(&r->parts[a][t]);
            for (unsigned t = 1; t < started; t++)
                pthread_join(threads[t], NULL);
        }
    return bench_clock(contender) - begin;
}

static void end(bench_contender *contender)
{
    (void)contender;
}

int bench_read_add(bench_contenders *contenders, unsigned threads)
{
    reading *r = calloc(1, sizeof *r);
    bench_contender *contender = r ? bench_contender_add(contenders) : NULL;
    if (!contender) {
        free(r);
        return bench_fail("out of memory");
    }
    snprintf(contender->name, sizeof contender->name, "read");
    contender->threads = threads;
    contender->role = BENCH_READ;
    contender->start = start;
    contender->time = time_calls;
    contender->end = end;
    contender->shared = r;
    return BENCH_OK;
}
