/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops of statistics by bins: moments by their definition; compiled for each instruction set
 * they give the same bits as the baseline's, of infinities and zeros of both signs too, but for the
 * sign of NaN, which clang leaves to the order of operands.
 *
 *     test_statistics_loops [SEED]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "cpu/features.h"
#include "cpu/statistics.h"
#include "draw.h"

enum { slot_count = 64, most = 1024, table = slot_count * TY_WEIGHTED_GROUP, all = 8 * table };

static uint32_t slots[most];
static double v[most], w[most];
static _Alignas(64) double want[all], have[all];

/* Samples in two calls, `grouped` or not. */
static void run_moments(const ty_statistics_loops *loops, size_t n, int grouped, int large,
                        int fresh, double *to)
{
    const size_t first = n / 2 & ~(size_t)3, group = grouped ? TY_MOMENTS_GROUP : 0;
    const ty_ahead ahead[2] = {{(uintptr_t)v, sizeof *v}, {(uintptr_t)w, sizeof *w}};
    loops->moments(to, group, large, &fresh, ahead, slots, v, first);
    loops->moments(to, group, large, &fresh, ahead, slots + first, v + first, n - first);
}

/* Moments by their definition: a slot's first value, if it is finite, is what all are taken about.
 */
static void define_moments(size_t n, int grouped, double *to)
{
    const size_t size = grouped ? TY_MOMENTS_GROUP : TY_MOMENTS_FIELDS,
                 about = grouped ? TY_GROUP_ABOUT : 3;
    for (size_t i = 0; i < n; i++) {
        double *const slot = to + slots[i] * size, *const k = slot + about,
                      *const entry = slot + (grouped ? i % 4 * TY_MOMENTS_FIELDS : 0);
        if (*k == 0 && !signbit(*k))
            *k = isfinite(v[i]) && v[i] != 0 ? v[i] : -0.0;
        const double d = v[i] - *k;
        entry[0] += 1;
        entry[1] += d;
        entry[2] += d * d;
    }
}

static void draw(size_t n, int round)
{
    for (size_t i = 0; i < n; i++) {
        slots[i] = (uint32_t)below(round % 3 ? slot_count : 1 + slot_count * (i + 1) / (n + 1));
        v[i] = 10 * (double)(1 + below(4)) + 3 * (unit() - 0.5);
        v[i] = below(round % 4 ? 1000000 : 20) ? v[i] : below(2) ? NAN : INFINITY;
        v[i] = below(8) ? v[i] : round % 2 ? -0.0 : 0;
        w[i] = below(40) ? unit() * 3 : 0;
    }
}

static int same(double x, double y)
{
    return x == y ? !signbit(x) == !signbit(y) : isnan(x) && isnan(y);
}

/* Whatever is expected, and in either table. */
static void check_moments(const ty_statistics_loops *loops, size_t n, const char *name)
{
    for (int way = 0; way < 8; way++) {
        const int grouped = way & 1, large = way >> 1 & 1, fresh = way >> 2;
        memset(want, 0, sizeof want);
        memset(have, 0, sizeof have);
        define_moments(n, grouped, want);
        run_moments(loops, n, grouped, large, fresh, have);
        for (int i = 0; i < table; i++)
            CHECK_SAY(same(want[i], have[i]), "%s, moments, way %d, field %d: %.17g, not %.17g",
                      name, way, i, have[i], want[i]);
    }
}

#if defined(__x86_64__)
/* All loops, with few slots, each in its own group, and with many. */
static void run_loops(const ty_statistics_loops *loops, size_t n, double *to)
{
    memset(to, 0, all * sizeof *to);
    for (size_t large = 0; large < 2; large++) {
        double *at = to + large * 4 * table;
        const size_t groups[] = {TY_SUMS_GROUP, TY_MOMENTS_GROUP, TY_WEIGHTED_GROUP,
                                 TY_EXTREMES_GROUP};
#define GROUP(kind) (large ? 0 : groups[kind])
        loops->sums(at, GROUP(0), (int)large, slots, v, n);
        run_moments(loops, n, !large, (int)large, 1, at + table);
        loops->weighted(at + 2 * table, GROUP(2), (int)large, slots, v, w, n);
        loops->extremes(at + 3 * table, GROUP(3), (int)large, slots, v, n);
#undef GROUP
    }
}

static void compare(const ty_statistics_loops *loops, size_t n, const char *name)
{
    CHECK_SAY(ty_statistics_base.any_nan(v, n) == loops->any_nan(v, n), "%s", name);
    run_loops(loops, n, have);
    for (int i = 0; i < all; i++)
        CHECK_SAY(same(want[i], have[i]), "%s, field %d: %.17g, not %.17g", name, i, have[i],
                  want[i]);
}

static void check_set(const ty_statistics_loops *loops, size_t n, const char *name)
{
    check_moments(loops, n, name);
    run_loops(&ty_statistics_base, n, want);
    compare(loops, n, name);
}
#endif

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)state);
    for (int round = 0; round < 100; round++) {
        const size_t n = (size_t)below(most + 1);
        draw(n, round);
        check_moments(&ty_statistics_base, n, "base");
#if defined(__x86_64__)
        const uint32_t f = ty_cpu_features();
        if ((f & TY_CPU_LEVEL_AVX2) == TY_CPU_LEVEL_AVX2)
            check_set(&ty_statistics_avx2, n, "avx2");
        if ((f & TY_CPU_LEVEL_AVX512) == TY_CPU_LEVEL_AVX512)
            check_set(&ty_statistics_avx512, n, "avx512");
#endif
    }
    printf("%d checks, %d failed\n", checks, failures);
    return failures ? 1 : 0;
}
