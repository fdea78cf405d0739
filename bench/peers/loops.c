/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops that people write: one table; four and eight tables in turn, which do not wait for the
 * last store when values repeat; a multiplication by a scale for floating-point samples. Always
 * there, so that a benchmark without any library has something to compare with. Counters of 32
 * bits.
 */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

typedef struct state {
    bench_problem problem;
    uint32_t *table; /* cells of them */
    double *sums;    /* weights only */
    uint64_t cells;
} state;

static void end(void *user)
{
    state *s = user;
    free(s->table);
    free(s->sums);
    free(s);
}

static const char *start(const bench_problem *problem, void **made)
{
    if (problem->n > UINT32_MAX)
        return "its counters have 32 bits";
    state *s = calloc(1, sizeof *s);
    if (!s)
        return "out of memory";
    s->problem = *problem;
    s->cells = problem->kind == BENCH_EVEN_2D ? problem->bins * problem->bins : problem->bins;
    s->table = calloc(s->cells, sizeof *s->table);
    s->sums = problem->kind == BENCH_WEIGHTS ? calloc(s->cells, sizeof *s->sums) : NULL;
    if (!s->table || (problem->kind == BENCH_WEIGHTS && !s->sums)) {
        end(s);
        return "out of memory";
    }
    *made = s;
    return NULL;
}

static const char *start_bytes(const bench_problem *problem, void **made)
{
    if (problem->dtype != BENCH_U8 || problem->kind != BENCH_EVEN || problem->bins != 256)
        return "bytes only";
    return start(problem, made);
}

static const char *start_scale(const bench_problem *problem, void **made)
{
    if (problem->dtype == BENCH_U8 || problem->kind == BENCH_EDGES)
        return "floating-point samples and even bins only";
    return start(problem, made);
}

static const char *start_search(const bench_problem *problem, void **made)
{
    if (problem->dtype == BENCH_U8 || problem->kind != BENCH_EDGES)
        return "uneven bins only";
    return start(problem, made);
}

static void counts(void *user, double *to)
{
    const state *s = user;
    for (uint64_t i = 0; i < s->cells; i++)
        to[i] = s->sums ? s->sums[i] : (double)s->table[i];
}

/* ---- bytes ---- */

static int count_table(void *user)
{
    state *s = user;
    const uint8_t *p = s->problem.x;
    uint32_t h[256] = {0};
    for (uint64_t i = 0; i < s->problem.n; i++)
        h[p[i]]++;
    memcpy(s->table, h, sizeof h);
    return 0;
}

static void fold(uint32_t *to, uint32_t (*h)[256], int tables)
{
    for (int b = 0; b < 256; b++) {
        uint32_t sum = 0;
        for (int k = 0; k < tables; k++)
            sum += h[k][b];
        to[b] = sum;
    }
}

static int count_four(void *user)
{
    state *s = user;
    const uint8_t *p = s->problem.x;
    uint64_t n = s->problem.n, i = 0;
    uint32_t h[4][256];
    memset(h, 0, sizeof h);
    for (; i + 16 <= n; i += 16) {
        uint32_t w[4];
        memcpy(w, p + i, 16);
        for (int k = 0; k < 4; k++) {
            h[0][w[k] & 255]++;
            h[1][w[k] >> 8 & 255]++;
            h[2][w[k] >> 16 & 255]++;
            h[3][w[k] >> 24]++;
        }
    }
    for (; i < n; i++)
        h[0][p[i]]++;
    fold(s->table, h, 4);
    return 0;
}

static int count_eight(void *user)
{
    state *s = user;
    const uint8_t *p = s->problem.x;
    uint64_t n = s->problem.n, i = 0;
    uint32_t h[8][256];
    memset(h, 0, sizeof h);
    for (; i + 64 <= n; i += 64)
        for (int k = 0; k < 64; k += 8) {
            uint64_t w;
            memcpy(&w, p + i + k, 8);
            h[0][w & 255]++;
            h[1][w >> 8 & 255]++;
            h[2][w >> 16 & 255]++;
            h[3][w >> 24 & 255]++;
            h[4][w >> 32 & 255]++;
            h[5][w >> 40 & 255]++;
            h[6][w >> 48 & 255]++;
            h[7][w >> 56]++;
        }
    for (; i < n; i++)
        h[0][p[i]]++;
    fold(s->table, h, 8);
    return 0;
}

/* ---- floating point ---- */

/* Every loop in the type of the samples: rounding may misplace what is near an edge. */
#define LOOPS(T)                                                                                   \
    static void scale_##T(state *s)                                                                \
    {                                                                                              \
        const bench_problem *p = &s->problem;                                                      \
        const T *x = p->x, lo = (T)p->lo, most = (T)p->bins;                                       \
        const T scale = (T)((double)p->bins / (p->hi - p->lo));                                    \
        uint32_t *h = s->table;                                                                    \
        for (uint64_t i = 0; i < p->n; i++) {                                                      \
            T t = (x[i] - lo) * scale;                                                             \
            if (t >= 0 && t < most)                                                                \
                h[(int32_t)t]++;                                                                   \
        }                                                                                          \
    }                                                                                              \
    static void weights_##T(state *s)                                                              \
    {                                                                                              \
        const bench_problem *p = &s->problem;                                                      \
        const T *x = p->x, lo = (T)p->lo, most = (T)p->bins;                                       \
        const T scale = (T)((double)p->bins / (p->hi - p->lo));                                    \
        for (uint64_t i = 0; i < p->n; i++) {                                                      \
            T t = (x[i] - lo) * scale;                                                             \
            if (t >= 0 && t < most)                                                                \
                s->sums[(int32_t)t] += p->weights[i];                                              \
        }                                                                                          \
    }                                                                                              \
    static void joint_##T(state *s)                                                                \
    {                                                                                              \
        const bench_problem *p = &s->problem;                                                      \
        const T *x = p->x, *y = p->y, lo = (T)p->lo, most = (T)p->bins;                            \
        const T scale = (T)((double)p->bins / (p->hi - p->lo));                                    \
        uint32_t *h = s->table;                                                                    \
        for (uint64_t i = 0; i < p->n; i++) {                                                      \
            T t = (x[i] - lo) * scale, u = (y[i] - lo) * scale;                                    \
            if (t >= 0 && t < most && u >= 0 && u < most)                                          \
                h[(uint64_t)(int32_t)t * p->bins + (uint64_t)(int32_t)u]++;                        \
        }                                                                                          \
    }                                                                                              \
    static void search_##T(state *s)                                                               \
    {                                                                                              \
        const bench_problem *p = &s->problem;                                                      \
        const T *x = p->x;                                                                         \
        const double *edges = p->edges;                                                            \
        uint32_t *h = s->table;                                                                    \
        for (uint64_t i = 0; i < p->n; i++) {                                                      \
            const double v = (double)x[i];                                                         \
            const double *at = edges;                                                              \
            if (!(v >= edges[0] && v < edges[p->bins]))                                            \
                continue;                                                                          \
            for (uint64_t left = p->bins; left > 1;) {                                             \
                uint64_t half = left / 2;                                                          \
                at = at[half] <= v ? at + half : at;                                               \
                left -= half;                                                                      \
            }                                                                                      \
            h[at - edges]++;                                                                       \
        }                                                                                          \
    }

LOOPS(float)
LOOPS(double)

static int count_scale(void *user)
{
    state *s = user;
    int narrow = s->problem.dtype == BENCH_F32;
    memset(s->table, 0, s->cells * sizeof *s->table);
    if (s->sums)
        memset(s->sums, 0, s->cells * sizeof *s->sums);
    if (s->problem.kind == BENCH_WEIGHTS)
        narrow ? weights_float(s) : weights_double(s);
    else if (s->problem.kind == BENCH_EVEN_2D)
        narrow ? joint_float(s) : joint_double(s);
    else
        narrow ? scale_float(s) : scale_double(s);
    return 0;
}

static int count_search(void *user)
{
    state *s = user;
    memset(s->table, 0, s->cells * sizeof *s->table);
    s->problem.dtype == BENCH_F32 ? search_float(s) : search_double(s);
    return 0;
}

static const bench_peer peers[] = {
    {"loop", "one table", "", start_bytes, count_table, counts, end},
    {"loop", "four tables", "", start_bytes, count_four, counts, end},
    {"loop", "eight tables", "", start_bytes, count_eight, counts, end},
    {"loop", "scale", "", start_scale, count_scale, counts, end},
    {"loop", "search", "", start_search, count_search, counts, end},
};

__attribute__((visibility("default"))) const bench_peer *tally_bench_peers(size_t *count);

const bench_peer *tally_bench_peers(size_t *count)
{
    *count = sizeof peers / sizeof *peers;
    return peers;
}
