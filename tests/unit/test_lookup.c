/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookup tables of uneven edges against bin.h's rule: random edges of every kind, evenly and
 * unevenly spaced, clustered, next to each other, next to zero and at the ends of the types, by
 * each kind of table; samples on every edge, next to it, and at random.
 *
 *     test_lookup [SEED]
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "binning/lookup.h"
#include "draw.h"

#include "../../common/edge_values.h"

enum { most_bins = 4000 };

static int failed;
static unsigned made[11], checks;

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* ---- axes ---- */

static double edge_at(int kind, double at)
{
    double x = 2 * at - 1;
    switch (kind) {
    case 0:
        return at;
    case 1:
        return 10 * x;
    case 2:
        return at * at * 1000;
    case 3:
        return x * x * x * 5;
    case 4:
        return exp(at * 40 - 20);
    case 5:
        return x * 3e38;
    case 6:
        return 7 + at * 1e-3;
    case 7:
        return x * 1e-40; /* denormal as float32 */
    case 8:
        return x * 1e39; /* some beyond float32 */
    case 9:
        return floor(x * 1e4);
    case 10:
        return floor(x * 2147483648.0) + (at > 0.9 ? 0.5 : 0);
    case 11:
        return floor(at * 4294967296.0);
    default:
        return floor(x * 0x1p63) * (at > 0.5 ? 2 : 1);
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Edges, their number below `most_bins`; fewer than 2 if the draw was a poor one. */
static uint32_t draw_edges(double *edges)
{
    uint32_t n = (uint32_t)(2 + next() % (next() % 4 ? 300 : most_bins - 2)), kept = 0;
    int kind = (int)(next() % 13), spacing = (int)(next() % 4), zero = next() % 2;
    double centre = unit();
    if (next() % 4 == 0) {
        edges_near(&state, n - 1, edges);
        return n;
    }
    for (uint32_t i = 0; i < n; i++) {
        double at = spacing == 0   ? (double)i / n
                    : spacing == 1 ? unit()
                    : spacing == 2 ? centre + (double)(next() % 4096) * 1e-7
                                   : (i % 8 ? (double)(next() % 5) / 5 + unit() * 1e-4 : unit());
        edges[i] = edge_at(kind, at);
    }
    if (zero)
        edges[0] = 0;
    if (next() % 4 == 0 && n > 8) { /* next to each other as float32 */
        for (uint32_t i = 1; i < 6; i++)
            edges[i] = (double)nextafterf((float)edges[i - 1], INFINITY);
    }
    qsort(edges, n, sizeof *edges, ascending);
    for (uint32_t i = 0; i < n; i++) {
        if (isfinite(edges[i]) && (!kept || edges[i] > edges[kept - 1]))
            edges[kept++] = edges[i];
    }
    return kept;
}

/* ---- samples ---- */

/* … of a float its value tells more. */
static uint32_t far_cell_of(const ty_axis *a, int64_t key, double x)
{
    const unsigned char *table = (const unsigned char *)a->lookup_words;
    ty_lookup g = a->lookup;
    g.bytes = 0;
    if (a->dtype == TALLY_F32)
        return ty_global_cell_f32((float)x, &g, table, a->lookup_kind, a->positive);
    if (a->dtype == TALLY_F64)
        return ty_global_cell_f64(x, &g, table, a->lookup_kind, a->positive);
    if (tally_dtype_bytes(a->dtype) == 4)
        return ty_global_cell_32((int32_t)key, 0, &g, table, a->lookup_kind, (int)a->dtype);
    return ty_global_cell_64(key, 0, &g, table, a->lookup_kind, (int)a->dtype);
}

static uint32_t cell_of(const ty_axis *a, int64_t key, double x)
{
    ty_lookup g = a->lookup;
    if (TY_IS_GLOBAL_LOOKUP(a->lookup_kind))
        return far_cell_of(a, key, x);
    const unsigned char *table = (const unsigned char *)a->lookup_words;
    g.copies = 0; /* as the table lies here */
    ty_lookup_locate(&g, 0, 0);
    if (a->lookup_kind == TY_LOOKUP_INDEX) {
        uint32_t at = a->dtype == TALLY_F32 ? ty_linear_entry_f32((float)x, &g)
                                            : ty_upper_entry_32((int32_t)key, &g);
        uint32_t crowded = 0, cell = ty_index_least((int32_t)key, at, &g, table, &crowded);
        return crowded ? ty_index_cell((int32_t)key, cell, &g, table) : cell;
    }
    return tally_dtype_bytes(a->dtype) == 8
               ? ty_lookup_cell_64(key, &g, table, a->lookup_kind)
               : ty_lookup_cell_32((int32_t)key, &g, table, a->lookup_kind);
}

static void check(const ty_axis *a, double x, uint32_t slot, int64_t key)
{
    uint32_t want = ty_cell_of_slot(slot, a->bins.bins), cell = cell_of(a, key, x);
    checks++;
    if (cell != want && failed++ < 10)
        fprintf(stderr, "FAILED: %s, kind %d, %u bins %.17g … %.17g: x %.17g: cell %u, not %u\n",
                tally_dtype_name(a->dtype), a->lookup_kind, a->bins.bins, a->bins.lo, a->bins.hi, x,
                cell, want);
}

static void check_float(const ty_axis *a, double x)
{
    if (a->dtype == TALLY_F32)
        check(a, (double)(float)x, ty_slot_edges((double)(float)x, &a->bins, a->edges),
              ty_key_f32((float)x, &a->lookup, a->positive));
    else
        check(a, x, ty_slot_edges(x, &a->bins, a->edges), ty_key_f64(x, &a->lookup, a->positive));
}

/* The 32 or 64 lower bits as the dtype has them. */
static void check_integer(const ty_axis *a, uint64_t x)
{
    const ty_bins *b = &a->bins;
    if (a->dtype == TALLY_I32)
        check(a, (double)(int32_t)x, ty_slot_edges((double)(int32_t)x, b, a->edges), (int32_t)x);
    else if (a->dtype == TALLY_U32)
        check(a, (double)(uint32_t)x, ty_slot_edges((double)(uint32_t)x, b, a->edges),
              (int32_t)((uint32_t)x ^ 0x80000000u));
    else if (a->dtype == TALLY_I64)
        check(a, (double)(int64_t)x, ty_slot_edges_i64((int64_t)x, b, a->edges), (int64_t)x);
    else
        check(a, (double)x, ty_slot_edges_u64(x, b, a->edges), (int64_t)(x ^ UINT64_C(1) << 63));
}

static uint64_t integer_of(const ty_axis *a, double x)
{
    if (a->dtype == TALLY_U64)
        return x < 0 ? 0 : x >= 0x1p64 ? UINT64_MAX : (uint64_t)x;
    return x < -0x1p63 ? UINT64_C(1) << 63 : x >= 0x1p63 ? INT64_MAX : (uint64_t)(int64_t)x;
}

static void check_near(const ty_axis *a, double e)
{
    if (a->dtype == TALLY_F32) {
        float f = (float)e;
        check_float(a, (double)nextafterf(f, -INFINITY));
        check_float(a, (double)f);
        check_float(a, (double)nextafterf(f, INFINITY));
    } else if (a->dtype == TALLY_F64) {
        check_float(a, nextafter(e, -INFINITY));
        check_float(a, e);
        check_float(a, nextafter(e, INFINITY));
    } else {
        for (uint64_t k = 0; k < 4; k++)
            check_integer(a, integer_of(a, e) + k - 1);
    }
}

static void check_axis(const ty_axis *a)
{
    static const double special[] = {0.0,    -0.0,   INFINITY, -INFINITY,    1e-45,
                                     -1e-45, 5e-324, -5e-324,  3.4028234e38, -3.4028234e38};
    made[a->lookup_kind]++;
    for (uint32_t i = 0; i <= a->bins.bins; i++)
        check_near(a, a->edges[i]);
    for (int i = 0; i < 300; i++) {
        double x = a->bins.lo + (unit() * 1.2 - 0.1) * (a->bins.hi - a->bins.lo);
        float f = float_of((uint32_t)next());
        if (a->dtype == TALLY_F32 || a->dtype == TALLY_F64) {
            check_float(a, i < 10 ? special[i] : f == f ? (double)f : 0);
            check_float(a, x);
        } else {
            check_integer(a, next() >> next() % 64);
            check_integer(a, integer_of(a, x));
        }
    }
}

static void try_axis(double *edges, uint32_t count)
{
    static const tally_dtype dtypes[] = {TALLY_F32, TALLY_F64, TALLY_I32,
                                         TALLY_U32, TALLY_I64, TALLY_U64};
    static const uint32_t rooms[] = {1 << 18, 50000, 2000};
    tally_axis axis = tally_axis_edges(count - 1, edges);
    tally_dtype dtype = dtypes[next() % 6];
    tally_error error = {""};
    axis.last = next() % 2 ? TALLY_LAST_OPEN : TALLY_LAST_CLOSED;
    for (int kind = 0; kind <= TY_LOOKUP_INDEX; kind = kind ? kind + 1 : TY_LOOKUP_ONE) {
        ty_axis a;
        uint32_t most = rooms[next() % 3];
        if (ty_axis_resolve(&axis, dtype, 0, &a, &error) ||
            ty_lookup_make(&a, most, next() % 2, kind, &error)) {
            fprintf(stderr, "FAILED: %s\n", error.message);
            exit(1);
        }
        if (a.lookup_kind)
            check_axis(&a);
        else
            made[0]++;
        const ty_lookup *g = &a.lookup;
        const uint64_t words = g->words - g->cells + ((uint64_t)g->cells << g->copies);
        if (a.lookup_kind && (words > most || (kind && a.lookup_kind != kind)))
            failed++;
        ty_axis_clear(&a);
    }
}

/* By each kind in global memory. */
static void try_far(const double *edges, uint32_t count)
{
    static const tally_dtype dtypes[] = {TALLY_F32, TALLY_F64, TALLY_I32,
                                         TALLY_U32, TALLY_I64, TALLY_U64};
    tally_axis axis = tally_axis_edges(count - 1, edges);
    tally_dtype dtype = dtypes[next() % 6];
    tally_error error = {""};
    axis.last = next() % 2 ? TALLY_LAST_OPEN : TALLY_LAST_CLOSED;
    for (int kind = 0; kind <= TY_LOOKUP_LINEAR; kind = kind ? kind + 1 : TY_LOOKUP_LOG) {
        ty_axis a;
        if (ty_axis_resolve(&axis, dtype, 0, &a, &error) ||
            ty_lookup_global_make(&a, kind, &error)) {
            fprintf(stderr, "FAILED: %s\n", error.message);
            exit(1);
        }
        if (a.lookup_kind)
            check_axis(&a);
        /* Numbers of every type are above a lower edge. */
        if ((kind && a.lookup_kind && a.lookup_kind != kind) ||
            (!kind && !a.lookup_kind && edges[0] < 1e9)) {
            fprintf(stderr, "FAILED: kind %d asked for, %d made\n", kind, a.lookup_kind);
            failed++;
        }
        ty_axis_clear(&a);
    }
}

/* By logarithm and drawn, some as long as they are made for. */
static void try_large(void)
{
    enum { most = 300000 };
    static double edges[most];
    for (int i = 0; i < 60; i++) {
        uint32_t count = 2 + (uint32_t)(next() % (i < 4 ? most : 300)), kept = 0;
        double low = exp(unit() * 30 - 15), high = low * exp(unit() * 30);
        for (uint32_t k = 0; k < count; k++)
            edges[k] = i % 2 ? unit() * 10 - 5 : low * pow(high / low, (double)k / count);
        qsort(edges, count, sizeof *edges, ascending);
        for (uint32_t k = 0; k < count; k++) {
            if (!kept || edges[k] > edges[kept - 1])
                edges[kept++] = edges[k];
        }
        if (kept > 1)
            try_far(edges, kept);
    }
}

/* What ty_log_of promises: it never falls, over a binade and into the next, and is right. */
static void check_log(void)
{
    uint32_t before = ty_log_of(0, 0x3f800000);
    for (uint32_t m = 0; m < 1u << 24; m++) {
        const uint32_t is = ty_log_of(m, 0x3f800000);
        const double log = log2(1 + (m & 0x7fffff) * 0x1p-23) + (m >> 23);
        if ((is < before || fabs(is - ty_log_of(0, 0x3f800000) - ldexp(log, 23)) > 8) &&
            failed++ < 10)
            fprintf(stderr, "FAILED: the logarithm of %u is %u behind %u\n", m, is, before);
        before = is;
    }
}

int main(int argc, char **argv)
{
    static double edges[most_bins];
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL);
    state = seed;
    printf("seed %" PRIu64 "\n", seed);
    for (int i = 0; i < 600; i++) {
        uint32_t count = draw_edges(edges);
        if (count > 1) {
            try_axis(edges, count);
            try_far(edges, count);
        }
    }
    try_large();
    check_log();
    printf("%u checks; %u axes without a table, %u of one look, %u of two, %u searched, %u by "
           "index, in device memory %u by logarithm, %u by key, %u by distance\n",
           checks, made[0], made[4], made[5], made[6], made[7], made[8], made[9], made[10]);
    if (!made[0] || made[4] < 100 || made[5] < 100 || made[6] < 100 || made[7] < 20 ||
        made[8] < 10 || made[9] < 100 || made[10] < 100) {
        fprintf(stderr, "FAILED: too few axes of a kind\n");
        failed++;
    }
    return failed != 0;
}
