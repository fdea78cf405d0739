/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that find cells of uneven and logarithmic edges by a lookup table
 * (src/binning/cell_lookup.h), in local memory or in the device's: edges of every spacing, so
 * crowded that only a search is left, or few and many thousands; samples of every type on the
 * edges, next to them, anywhere, NaN and infinite. Counts and flows are the reference's, and every
 * kind of table must have been taken. With fewer SAMPLES, for checkers of memory, fewer plans.
 *
 *     test_edges [SEED [opencl|cuda [SAMPLES]]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../common/edge_values.h"
#include "counted.h"
#include "draw.h"
#include "drivers.h"
#include "open_device.h"

#include <tally/tally.h>

enum { most_samples = 60013, few_bins = 3000, kinds = 6, rounded = 6 };

static tally_context *device;
static int checks, failed, left_out;
static uint64_t samples = most_samples;
static unsigned taken[8];
static uint64_t data[most_samples + 8];
static double edges[most_bins + 1];

/* ---- edges ---- */

/* What a type has values for on both sides. */
static double scale_of(tally_dtype dtype)
{
    return dtype == TALLY_F16 || dtype == TALLY_U16 || dtype == TALLY_I16 ? 3e4
           : dtype >= TALLY_BF16                                          ? 1e6
                                                                          : 2e9;
}

/* Edge i of n, between 0 and 1. */
static double spaced(int kind, double u)
{
    double x = 2 * u - 1;
    switch (kind) {
    case 0: /* logarithmic */
        return exp2(-16 * (1 - u));
    case 1: /* both sides of 0, dense beside it */
        return x * x * x;
    case 2:
        return 2 * unit() - 1;
    case 3: /* many in few places */
        return (double)(next() % 5) / 5 + unit() * 1e-3;
    case 4: /* several between neighbouring float32s */
        return 0.5 + u * 1e-6;
    default: /* far more than the type's range */
        return x * 1e3;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint64_t draw_edges(tally_dtype dtype, int kind, uint64_t most)
{
    uint64_t n = 2 + next() % (next() % 2 ? 300 : most - 1), kept = 0;
    if (kind == rounded) { /* even, then rounded to float32 */
        const double lo = next() % 2 ? 0 : unit() - 0.5, width = 0.5 + unit();
        for (uint64_t i = 0; i < n; i++)
            edges[i] = (double)(float)(lo + (double)i * (width / (double)(n - 1)));
        return n;
    }
    if (next() % 4 == 0) { /* round numbers and what is next to them */
        edges_near(&state, n - 1, edges);
        return n;
    }
    for (uint64_t i = 0; i < n; i++)
        edges[i] = spaced(kind, (double)i / (double)(n - 1)) * scale_of(dtype);
    if (kind == 1)
        edges[n / 2] = 0;
    qsort(edges, n, sizeof *edges, ascending);
    for (uint64_t i = 0; i < n; i++) {
        if (!kept || edges[i] > edges[kept - 1])
            edges[kept++] = edges[i];
    }
    return kept;
}

/* ---- samples ---- */

/* x, or a value beside it, or any bits. */
static void put(tally_dtype dtype, uint64_t i, double x)
{
    const size_t size = tally_dtype_bytes(dtype);
    const uint64_t any = next();
    const int step = (int)(next() % 3) - 1;
    unsigned char *to = (unsigned char *)data + i * size;
    if (next() % 16 == 0)
        memcpy(to, &any, size);
    else
        value_put(to, dtype, x, step);
}

static void fill(tally_dtype dtype, uint64_t count)
{
    const double width = edges[count - 1] - edges[0];
    for (uint64_t i = 0; i < samples; i++) {
        double x = next() % 2 ? edges[next() % count] : edges[0] + (unit() * 1.1 - 0.05) * width;
        put(dtype, i, next() % 64 ? x : 0 * x);
    }
}

/* ---- counting ---- */

static void note_kind(const tally_plan *plan)
{
    const char *words = tally_plan_describe(plan);
    static const char *const said[] = {"in two looks", "short search",   "entries and thresholds",
                                       "by logarithm", "keys in device", "entries in device"};
    unsigned lookup = strstr(words, "by a table") ? 1 : 0;
    for (unsigned i = 0; i < 6; i++)
        lookup = strstr(words, said[i]) ? 2 + i : lookup;
    taken[lookup]++;
}

static void check(tally_dtype dtype, int kind, const char *method, uint64_t most)
{
    static answer got, want;
    uint64_t edge_count = draw_edges(dtype, kind, most), skip = next() % 8;
    if (edge_count < 2)
        return;
    tally_axis axis = tally_axis_edges(edge_count - 1, edges);
    axis.last = next() % 2 ? TALLY_LAST_OPEN : TALLY_LAST_CLOSED;
    fill(dtype, edge_count);
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1, .method = method};
    o.axes[0] = axis;
    o.dtypes[0] = dtype;
    tally_plan *plan = plan_by(device, &o);
    left_out += !plan;
    if (!plan)
        return;
    tally_view view =
        tally_view_1d((char *)data + skip * tally_dtype_bytes(dtype), dtype, samples - skip);
    count(plan, 1, &view, &want);
    count(plan, 0, &view, &got);
    note_kind(plan);
    checks++;
    if (memcmp(&got, &want, sizeof got)) {
        failed++;
        fprintf(stderr, "FAILED: %s, %s, %llu bins, edges of kind %d: %s\n", method,
                tally_dtype_name(dtype), (unsigned long long)edge_count - 1, kind,
                tally_plan_describe(plan));
    }
    tally_plan_destroy(plan);
}

/* Not by a table: NumPy's edges of float32 samples. */
static void check_rounded(void)
{
    static const char *const methods[] = {"lane-private", "swizzled", "packed16", "partitioned"};
    unsigned tables[8];
    memcpy(tables, taken, sizeof tables);
    for (int m = 0; m < 4; m++)
        check(TALLY_F32, rounded, methods[m], few_bins);
    tables[0] = taken[0];
    if (memcmp(tables, taken, sizeof tables)) {
        failed++;
        fprintf(stderr, "FAILED: rounded edges were found by a table\n");
    }
}

/* Methods that leave no local memory: each takes compiling, so that three of them have one
 * spacing each, and one has every kind of table. */
static void check_global(int few)
{
    static const char *const methods[] = {"packed16", "views", "swizzled-columns"};
    static const tally_dtype dtypes[] = {TALLY_F32, TALLY_F64, TALLY_I32, TALLY_U64, TALLY_BF16};
    for (int kind = 0; kind < 3; kind++)
        check(TALLY_F32, kind, "partitioned", most_bins);
    if (few)
        return;
    check(dtypes[1 + next() % 4], (int)(next() % kinds), "partitioned", most_bins);
    for (int m = 0; m < 3; m++)
        check(dtypes[next() % 5], (int)(next() % kinds), methods[m], m == 2 ? few_bins : most_bins);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    if (argc > 3)
        samples = strtoull(argv[3], NULL, 10) % most_samples + 8;
    if (!(device = open_device(argc > 2 ? argv[2] : NULL)))
        return 77;
    printf("seed %llu\n", (unsigned long long)state);
    const int few = samples < most_samples;
    for (int kind = 0; kind < kinds; kind++) {
        for (int again = 0; again < (few ? 2 : 6); again++)
            check(TALLY_F32, kind, again ? "swizzled" : "lane-private", few_bins);
        for (int again = 0; again < (few ? 1 : 4); again++)
            check(again % 2 ? TALLY_F64 : TALLY_I32, kind, "swizzled", few_bins);
    }
    /* Each takes compiling, whose kernels sanitizers do not see: one spacing of edges a type. */
    static const tally_dtype others[] = {TALLY_U16, TALLY_U32, TALLY_I64, TALLY_F16};
    for (int i = 0; i < 4 && !few; i++)
        check(others[i], (int)(next() % kinds), "swizzled", few_bins);
    check_global(few);
    check_rounded();
    for (int i = 0; i < 30 && !few && !left_out && !taken[4]; i++)
        check(TALLY_F32, 2, "swizzled", (uint64_t)few_bins * (1 + i % 6));
    for (int i = 0; i < 30 && !few && !left_out && !(taken[5] && taken[6] && taken[7]); i++)
        check(TALLY_F32, i % 3, "partitioned", most_bins);
    printf("%d checks, %d failed; plans of one look %u, of two %u, searched %u, by index %u, in "
           "device memory by logarithm %u, by key %u, by distance %u, without a table %u; "
           "left out for lack of local memory %d\n",
           checks, failed, taken[1], taken[2], taken[3], taken[4], taken[5], taken[6], taken[7],
           taken[0], left_out);
    int all = 1;
    for (int w = 1; w < 8; w++)
        all &= taken[w] != 0;
    if (!few && !left_out && !all) {
        fprintf(stderr, "FAILED: a kind of lookup table was not taken\n");
        failed++;
    }
    tally_context_destroy(device);
    return failed != 0;
}
