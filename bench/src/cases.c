/* SPDX-License-Identifier: Apache-2.0 */
/* Which cases there are. */
#include <fnmatch.h>

#include "bench.h"

static const char *const byte_data[] = {"zeros",  "uniform", "photograph", "text", "ramp",
                                        "ninety", "two",     "sorted",     "walk"};
static const char *const real_data[] = {"uniform", "normal", "lognormal", "equal"};
static const uint64_t real_bins[] = {10, 256, 2048, 65536, 1048576};

enum { BYTE_DATA = 9, REAL_DATA = 4, REAL_BINS = 5, MOST_CASES = 128 };

typedef struct list {
    bench_case *cases;
    size_t count;
    const bench_options *options;
    int quick;
} list;

const char *bench_dtype_name(bench_dtype dtype)
{
    return dtype == BENCH_U8 ? "u8" : dtype == BENCH_F32 ? "f32" : "f64";
}

size_t bench_dtype_bytes(bench_dtype dtype)
{
    return dtype == BENCH_U8 ? 1 : dtype == BENCH_F32 ? 4 : 8;
}

/* A pattern stands for the names that it matches, whole or up to a hyphen. */
static int wanted(const bench_options *options, const char *name)
{
    const char *const *patterns = options->only.texts;
    size_t count = options->only.count;
    for (size_t i = 0; i < count; i++) {
        char longer[256];
        snprintf(longer, sizeof longer, "%s-*", patterns[i]);
        if (fnmatch(patterns[i], name, 0) == 0 || fnmatch(longer, name, 0) == 0)
            return 1;
    }
    return count == 0;
}

static void add(list *to, const bench_case *one)
{
    if (to->count < MOST_CASES && wanted(to->options, one->name))
        to->cases[to->count++] = *one;
}

static void add_bytes(list *to)
{
    static const struct {
        const char *name;
        uint64_t n;
    } sizes[] = {{"4KiB", 4 << 10},
                 {"64KiB", 64 << 10},
                 {"1MiB", 1 << 20},
                 {"64MiB", 64 << 20},
                 {"256MiB", 256 << 20}};
    for (size_t s = 0; s < (to->quick ? 3 : 5); s++)
        for (size_t d = 0; d < BYTE_DATA; d++) {
            bench_case one = {"", byte_data[d], BENCH_EVEN, BENCH_U8, sizes[s].n, 256};
            snprintf(one.name, sizeof one.name, "u8-%s-%s", byte_data[d], sizes[s].name);
            add(to, &one);
        }
}

/* 128 MiB, several times a last-level cache. */
static uint64_t samples(const list *to, bench_dtype dtype)
{
    return to->quick ? 256 << 10 : (uint64_t)(128 << 20) / bench_dtype_bytes(dtype);
}

static void add_even(list *to, bench_dtype dtype)
{
    for (size_t d = 0; d < REAL_DATA; d++)
        for (size_t b = 0; b < REAL_BINS; b++) {
            bench_case one = {"",    real_data[d],       BENCH_EVEN,
                              dtype, samples(to, dtype), real_bins[b]};
            if (to->quick && (b % 2 == 0 || d % 3))
                continue;
            snprintf(one.name, sizeof one.name, "%s-%llu-%s", bench_dtype_name(dtype),
                     (unsigned long long)real_bins[b], real_data[d]);
            add(to, &one);
        }
}

static void add_others(list *to, bench_dtype dtype)
{
    static const struct {
        const char *name;
        bench_kind kind;
        uint64_t bins;
    } kinds[] = {
        {"edges", BENCH_EDGES, 256}, {"2d", BENCH_EVEN_2D, 100}, {"weights", BENCH_WEIGHTS, 256}};
    for (size_t d = 0; d < 2; d++)
        for (size_t k = 0; k < 3; k++) {
            bench_case one = {"",    real_data[d],       kinds[k].kind,
                              dtype, samples(to, dtype), kinds[k].bins};
            if (kinds[k].kind == BENCH_WEIGHTS && (d > 0 || dtype != BENCH_F64))
                continue;
            snprintf(one.name, sizeof one.name, "%s-%s-%s", kinds[k].name, bench_dtype_name(dtype),
                     real_data[d]);
            add(to, &one);
        }
}

bench_case *bench_cases(const bench_options *options, size_t *count)
{
    list made = {calloc(MOST_CASES, sizeof(bench_case)), 0, options, options->quick};
    *count = 0;
    if (!made.cases)
        return NULL;
    add_bytes(&made);
    add_even(&made, BENCH_F32);
    add_even(&made, BENCH_F64);
    add_others(&made, BENCH_F32);
    add_others(&made, BENCH_F64);
    *count = made.count;
    return made.cases;
}
