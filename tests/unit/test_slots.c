/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every instruction set's loops against bin.h's rule, one sample at a time: edges and their
 * neighbours, zeros, denormals, infinities, NaN, integer extremes, on ordinary and nasty axes.
 *
 *     test_slots [SEED [AXES]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "binning/axis.h"
#include "core/dtype.h"
#include "cpu/buckets.h"
#include "cpu/even.h"
#include "cpu/features.h"
#include "draw.h"

#include "../../common/edge_values.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { MOST = 20000 };

/* The rule, from the bits of one sample. */
static uint32_t expected(const ty_axis *a, const void *at)
{
    union {
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
        float f32;
        double f64;
    } v;
    memcpy(&v, at, tally_dtype_bytes(a->dtype));
    const ty_bins *b = &a->bins;
    switch (a->dtype) {
    case TALLY_U16:
        return a->even ? ty_slot_even(v.u16, b) : ty_slot_edges(v.u16, b, a->edges);
    case TALLY_I16:
        return a->even ? ty_slot_even(v.i16, b) : ty_slot_edges(v.i16, b, a->edges);
    case TALLY_U32:
        return a->even ? ty_slot_even(v.u32, b) : ty_slot_edges(v.u32, b, a->edges);
    case TALLY_I32:
        return a->even ? ty_slot_even(v.i32, b) : ty_slot_edges(v.i32, b, a->edges);
    case TALLY_U64:
        return a->even ? ty_slot_even_u64(v.u64, b) : ty_slot_edges_u64(v.u64, b, a->edges);
    case TALLY_I64:
        return a->even ? ty_slot_even_i64(v.i64, b) : ty_slot_edges_i64(v.i64, b, a->edges);
    case TALLY_F16:
        return a->even ? ty_slot_even(ty_f16_decode(v.u16), b)
                       : ty_slot_edges(ty_f16_decode(v.u16), b, a->edges);
    case TALLY_BF16:
        return a->even ? ty_slot_even(ty_bf16_decode(v.u16), b)
                       : ty_slot_edges(ty_bf16_decode(v.u16), b, a->edges);
    case TALLY_F32:
        return a->even ? ty_slot_even(v.f32, b) : ty_slot_edges(v.f32, b, a->edges);
    default:
        return a->even ? ty_slot_even(v.f64, b) : ty_slot_edges(v.f64, b, a->edges);
    }
}

/* How far from an edge, as a power of two of a bin, samples of kind 9 are; one for a whole axis, so
 * that speculation just pays for some. */
static int distance;

static void sample(const ty_axis *a, unsigned kind, void *to)
{
    static const double special[] = {0.0,     -0.0,   INFINITY, -INFINITY, NAN,    5e-324,
                                     -5e-324, 1e-310, 1e308,    -1e308,    1e-45,  -1e-45,
                                     3.4e38,  1,      -1,       0x1p53,    0x1p63, 0x1p64,
                                     -0x1p63, 65504,  0x1p31,   -0x1p31,   0x1p32, 2147483647};
    size_t size = tally_dtype_bytes(a->dtype);
    uint64_t bits = next();
    switch (kind) {
    case 0: /* edges, and steps beside them */
        value_put(to, a->dtype, ty_axis_edge(a, below((uint64_t)a->bins.bins + 1)),
                  (int)below(5) - 2);
        break;
    case 1:
        value_put(to, a->dtype, below(2) ? a->bins.hi : a->bins.lo, (int)below(5) - 2);
        break;
    case 2:
        memcpy(to, &bits, size);
        break;
    case 3:
        value_put(to, a->dtype, special[below(sizeof special / sizeof *special)],
                  (int)below(3) - 1);
        break;
    case 4: /* the last edge as computed, which may lie beyond hi */
        value_put(to, a->dtype, a->bins.lo + (double)a->bins.bins * a->bins.width,
                  (int)below(5) - 2);
        break;
    case 8: /* inside, and hi itself: no other sample makes the loops look twice */
        value_put(to, a->dtype,
                  below(4) ? a->bins.lo + (a->bins.hi - a->bins.lo) * unit() : a->bins.hi, 0);
        break;
    case 9: {
        double near = a->bins.width * ldexp(1 + unit(), -distance);
        value_put(to, a->dtype,
                  ty_axis_edge(a, below((uint64_t)a->bins.bins + 1)) + (below(2) ? near : -near),
                  0);
        break;
    }
    case 5: /* far outside */
        value_put(to, a->dtype, a->bins.lo + (a->bins.hi - a->bins.lo) * (unit() * 9 - 4) * 0x1p10,
                  0);
        break;
    default:
        value_put(to, a->dtype, a->bins.lo + (a->bins.hi - a->bins.lo) * unit(), 0);
        break;
    }
}

/* Even edges rounded to float32, or each moved by up to a part of a bin. */
static void nearly_even(uint64_t bins, double lo, double *edges)
{
    const double width = below(2) ? unit() : exp2((double)below(20) - 10) / (double)bins;
    const double most = below(2) ? 0 : ldexp(1, -(int)below(30) - 9);
    const int narrow = below(2);
    for (uint64_t i = 0; i <= bins; i++) {
        const double edge = lo + ((double)i + (unit() - 0.5) * 2 * most) * width;
        edges[i] = narrow ? (double)(float)edge : edge;
    }
}

/* Edges at random, in clusters, in powers, nearly even; or a log axis. */
static tally_axis uneven_axis(uint64_t bins, double lo)
{
    static double edges[2001];
    double scale = exp2((double)below(40) - 20);
    unsigned kind = (unsigned)below(8);
    if (kind == 4)
        return tally_axis_log(bins, below(2) ? scale : value_near(&state, scale),
                              value_near(&state, scale * (1.5 + unit() * 1e6)));
    edges[0] = kind == 3 ? -scale : lo;
    if (kind == 5)
        edges_near(&state, bins, edges);
    if (kind > 5)
        nearly_even(bins, fabs(lo) < 1e3 ? lo : 0, edges);
    for (uint64_t i = 1; i <= bins && kind < 5; i++) {
        double step = kind == 0   ? unit()
                      : kind == 1 ? (below(20) ? 1e-9 : 1)
                      : kind == 2 ? exp2((double)i * 0.05)
                                  : 1;
        edges[i] = edges[i - 1] + step * scale;
        if (!(edges[i] > edges[i - 1]))
            edges[i] = nextafter(edges[i - 1], INFINITY);
    }
    tally_axis axis = tally_axis_edges(bins, edges);
    axis.last = below(3) ? TALLY_LAST_CLOSED : TALLY_LAST_OPEN;
    return axis;
}

/* An axis whose last edge, computed as the others are, lies above hi. */
static tally_axis spilling_axis(uint64_t bins)
{
    for (;;) {
        double lo = (unit() - 0.5) * exp2((double)below(12)), hi = lo + (1 + unit()) * 50;
        if (lo + (double)bins * ((hi - lo) / (double)bins) > hi)
            return tally_axis_even(bins, lo, hi);
        bins++;
    }
}

/* An axis whose edges are multiples of a width that is a power of two, wide or narrow. */
static tally_axis binary_axis(uint64_t bins)
{
    const double width = exp2(10 - (double)below(60)),
                 lo = below(2) ? (double)below(1 << 20) - (1 << 19) : 0;
    return tally_axis_even(bins, lo * width, (lo + (double)bins) * width);
}

static tally_axis random_axis(tally_dtype dtype)
{
    static const double ends[] = {0, 1, -1, 0.1, -0.3, 1e-3, 255, 256, 65536, 1e6, -1e9, 3.3, 7e15};
    double lo = below(2) ? ends[below(sizeof ends / sizeof *ends)]
                         : (unit() - 0.5) * exp2((double)below(60) - 20);
    double width = below(3) ? exp2((double)below(60) - 30) * (below(2) ? 1 : 1 + unit())
                            : (double)(1 + below(1000));
    uint64_t bins = below(3) ? 1 + below(300) : 1 + below(below(20) ? 100000 : 500000);
    if (!below(4)) {
        if (dtype == TALLY_U64 || dtype == TALLY_I64) {
            lo = (dtype == TALLY_U64 ? 1 : -1) * exp2((double)(40 + below(24)));
            width = exp2((double)(43 + below(22)));
        } else if (!below(3)) {
            lo *= 1e290;
            width *= fmax(fabs(lo), 1e280);
        }
    }
    if (!below(10))
        width = fabs(lo) * (double)bins * exp2(-(double)(38 + below(9)));
    if (!below(3))
        return uneven_axis(bins % 2000 + 1, lo);
    tally_axis axis = !below(6) ? tally_axis_integer(bins, (int64_t)below(3000) - 1000)
                                : tally_axis_even(bins, lo, lo + (width > 0 ? width : 1));
    if (!below(3)) {
        double hi;
        range_near(&state, bins, &lo, &hi);
        axis = tally_axis_even(bins, lo, hi);
    } else if (!below(10))
        axis = spilling_axis(bins);
    else if (!below(8))
        axis = binary_axis(bins);
    axis.last = below(3) ? TALLY_LAST_CLOSED : TALLY_LAST_OPEN;
    return axis;
}

typedef struct variant {
    const char *name;
    const ty_even_loops *even;
    const ty_buckets_loops *buckets;
} variant;

static unsigned variants(variant *v)
{
    unsigned n = 0;
    v[n++] = (variant){"base", &ty_even_base, &ty_buckets_base};
#if defined(__x86_64__)
    uint32_t features = ty_cpu_features();
    if ((features & TY_CPU_LEVEL_AVX2) == TY_CPU_LEVEL_AVX2)
        v[n++] = (variant){"avx2", &ty_even_avx2, &ty_buckets_avx2};
    if ((features & TY_CPU_LEVEL_AVX512) == TY_CPU_LEVEL_AVX512)
        v[n++] = (variant){"avx512", &ty_even_avx512, &ty_buckets_avx512};
#endif
    return n;
}

/* Whether wide registers were left in use: the loops would slow down a caller's SSE code. */
static int left_wide(void)
{
#if defined(__x86_64__)
    uint32_t a, b, c, d, low, high;
    if (!(ty_cpu_features() & TY_CPU_AVX2) || !__get_cpuid_count(13, 1, &a, &b, &c, &d) ||
        !(a >> 2 & 1))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
    return (low & 0x44) != 0; /* upper halves of YMM, of ZMM 0 … 15 */
#else
    return 0;
#endif
}

static int check_slots(const char *name, ty_slots_fn fn, const ty_axis *a, const unsigned char *x,
                       size_t n, const uint32_t *want)
{
    static uint32_t got[MOST + 1];
    got[n] = 12345;
    fn(a, x, n, got);
    if (left_wide()) {
        fprintf(stderr, "FAILED %s %s: wide registers left in use\n", name,
                tally_dtype_name(a->dtype));
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (got[i] != want[i]) {
            fprintf(stderr, "FAILED %s %s [%.17g, %.17g] bins %u sample %zu of %zu: %u, not %u\n",
                    name, tally_dtype_name(a->dtype), a->bins.lo, a->bins.hi, a->bins.bins, i, n,
                    got[i], want[i]);
            return 0;
        }
    }
    if (got[n] != 12345)
        fprintf(stderr, "FAILED %s %s: wrote past the end\n", name, tally_dtype_name(a->dtype));
    return got[n] == 12345;
}

static int check_add(const char *name, ty_add_fn fn, const ty_axis *a, const unsigned char *x,
                     size_t n, const uint32_t *want)
{
    unsigned shift = (unsigned)below(4);
    size_t slots = (size_t)a->bins.bins + TY_SLOT_EXTRA;
    uint32_t *table = calloc((slots << shift) + TY_ADD_SPARE, sizeof *table);
    fn(a, x, n, table, shift);
    const int wide = left_wide();
    for (size_t i = 0; i < n; i++)
        table[(size_t)ty_cell_of_slot(want[i], a->bins.bins) << shift]--;
    int ok = !wide;
    if (wide)
        fprintf(stderr, "FAILED %s %s: wide registers left in use\n", name,
                tally_dtype_name(a->dtype));
    for (size_t s = 0; s < slots && ok; s++) {
        uint32_t left = 0;
        for (size_t k = 0; k < (size_t)1 << shift; k++)
            left += table[(s << shift) + k];
        ok = !left;
        if (left)
            fprintf(stderr,
                    "FAILED %s %s [%.17g, %.17g] bins %u add shift %u: place %zu off by %d\n", name,
                    tally_dtype_name(a->dtype), a->bins.lo, a->bins.hi, a->bins.bins, shift, s,
                    (int)left);
    }
    for (size_t k = 0; k < TY_ADD_SPARE && ok; k++) {
        ok = !table[(slots << shift) + k];
        if (!ok)
            fprintf(stderr, "FAILED %s %s: a spare counter is not 0\n", name,
                    tally_dtype_name(a->dtype));
    }
    free(table);
    return ok;
}

static int check_axis(tally_dtype dtype, tally_axis axis, uint64_t *checked)
{
    static unsigned char buffer[MOST * 8 + 8];
    static uint32_t want[MOST];
    ty_axis a;
    if (ty_axis_resolve(&axis, dtype, 0, &a, NULL))
        return 1;
    size_t size = tally_dtype_bytes(dtype), n = below(3)   ? below(3000)
                                                : below(2) ? below(200)
                                                           : below(MOST);
    unsigned char *x = buffer + below(8);
    unsigned kind = (unsigned)below(10), mixed = (unsigned)below(2);
    const unsigned often = below(2) ? 0 : (unsigned)below(11); /* of ten, samples like another */
    uint64_t frequent[1] = {0};
    distance = (int)below(45);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits[1];
        sample(&a, mixed ? (unsigned)below(10) : kind, bits);
        if (i % 6000 == 0)
            *frequent = *bits;
        else if (below(10) < often)
            *bits = *frequent;
        memcpy(x + i * size, bits, size);
        want[i] = expected(&a, x + i * size);
    }
    variant v[3];
    unsigned count = variants(v);
    ty_buckets_make(&a, &a.buckets, NULL);
    int ok = check_slots("pick", ty_slots_pick(&a), &a, x, n, want);
    for (unsigned k = 0; k < count && ok; k++) {
        const int even = ty_even_serves(&a);
        ty_slots_fn slots = even        ? v[k].even->slots[dtype]
                            : a.buckets ? v[k].buckets->slots[dtype]
                                        : NULL;
        if (!slots)
            break;
        a.affine.proven = 0;
        if (even && (dtype == TALLY_F32 || dtype == TALLY_F64) && below(3)) {
            v[k].even->prove(&a);
            checked[dtype == TALLY_F32 ? 2 : 3] += (uint64_t)a.affine.proven;
            ok = !left_wide();
        }
        ok = ok && check_slots(v[k].name, slots, &a, x, n, want) &&
             (!even || check_add(v[k].name, v[k].even->add[dtype], &a, x, n, want));
        checked[even ? 0 : 1] += n;
    }
    ty_buckets_free(a.buckets);
    ty_axis_clear(&a);
    return ok;
}

/* Whole widths from whole numbers, to an open end that is a little above or below one: the integer
 * there is in the last bin, or not. */
static uint64_t check_whole_widths(uint64_t *checked)
{
    static const double ends[][2] = {
        {-288, .1 * 3 - .3}, {-288, .3 - .1 * 3}, {-288, 5e-324}, {-0x1p40, 288 + 0x1p-20}};
    uint64_t failed = 0;
    for (size_t i = 0; i < 4 * sizeof ends / sizeof *ends; i++) {
        tally_axis axis = tally_axis_even(i % 4 == 3 ? 2 : 288, ends[i % 4][0], ends[i % 4][1]);
        axis.last = TALLY_LAST_OPEN;
        for (int dtype = TALLY_U16; dtype <= TALLY_F64; dtype++)
            failed += !check_axis((tally_dtype)dtype, axis, checked);
    }
    return failed;
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL) * 1000003;
    uint64_t axes = argc > 2 ? strtoull(argv[2], NULL, 10) : 5000, checked[4] = {0}, failed = 0;
    printf("seed %llu, %llu axes\n", (unsigned long long)state, (unsigned long long)axes);
    failed = check_whole_widths(checked);
    for (uint64_t i = 0; i < axes && failed < 10; i++) {
        uint64_t seed = state;
        const tally_dtype dtype = (tally_dtype)(TALLY_U16 + below(TALLY_F64 - TALLY_U16 + 1));
        if (!check_axis(dtype, random_axis(dtype), checked)) {
            fprintf(stderr, "  seed %llu\n", (unsigned long long)seed);
            failed++;
        }
    }
    printf(
        "%llu samples checked on even axes, %llu on others; %llu and %llu axes proved for float32 "
        "and float64, %llu failed\n",
        (unsigned long long)checked[0], (unsigned long long)checked[1],
        (unsigned long long)checked[2], (unsigned long long)checked[3], (unsigned long long)failed);
    /* The loops for any processor prove no float64. */
    variant v[3];
    const uint64_t least = variants(v) > 1 ? axes / 200 : 0;
    return failed || checked[0] < axes || checked[1] < axes || checked[2] < axes / 100 ||
           checked[3] < least;
}
