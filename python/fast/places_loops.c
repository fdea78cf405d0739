/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of samples in vectors (places_loops.h). */
#include "places_loops.h"

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
typedef double lanes __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t lane_masks __attribute__((vector_size(VECTOR_BYTES)));
enum { LANES = VECTOR_BYTES / sizeof(double) };
_Static_assert(PLACES_VECTOR % LANES == 0, "a block is whole vectors");

/* Numbers below 2^51 that are added to it lose their fractions, and are in its last bits. */
static const double rounder = 0x1.8p52;
#define LANES_OF(x) ((lanes){0} + (x))

static lanes load(const double *from)
{
    lanes x;
    memcpy(&x, from, sizeof x);
    return x;
}

static int all_set(lane_masks m)
{
    int64_t all = -1;
    for (int i = 0; i < LANES; i++)
        all &= m[i];
    return all != 0;
}

static double sum_of(lanes x)
{
    double sum = 0;
    for (int i = 0; i < LANES; i++)
        sum += x[i];
    return sum;
}

/* Numbers that are nearer to zero than that, which NaN is not. (Two such comparisons in one
 * condition would cost far more.) */
static lane_masks are_near(lanes x, double distance)
{
    const lane_masks no_sign = (lane_masks){0} + INT64_MAX;
    return (lane_masks)((lanes)((lane_masks)x & no_sign) < distance);
}

/* What is between two numbers; NaN becomes the lower one. */
static lanes clamped(lanes x, lanes least, lanes most)
{
#if defined(__AVX2__)
    return (lanes)_mm256_min_pd(_mm256_max_pd((__m256d)x, (__m256d)least), (__m256d)most);
#elif defined(__SSE2__)
    return (lanes)_mm_min_pd(_mm_max_pd((__m128d)x, (__m128d)least), (__m128d)most);
#else
    const lane_masks above = (lane_masks)(x > least);
    x = (lanes)((above & (lane_masks)x) | (~above & (lane_masks)least));
    const lane_masks below = (lane_masks)(x < most);
    return (lanes)((below & (lane_masks)x) | (~below & (lane_masks)most));
#endif
}

static int guess_inside(const even_cells *axis, const double *x, uint64_t n, double *cells)
{
    const even_cells a = *axis;
    const double middle = a.last / 2;
    lane_masks sure = ~(lane_masks){0}, inside = sure;
    for (uint64_t i = 0; i < n; i += LANES) {
        const lanes at = (load(x + i) - a.lo) * a.scale + 0.5, cell = at + rounder - rounder;
        sure &= are_near(at - cell, a.sure);
        inside &= are_near(cell - middle, middle);
        memcpy(cells + i, &cell, sizeof cell);
    }
    return all_set(sure & inside);
}

static int guess_any(const even_cells *axis, const double *x, uint64_t n, double *cells)
{
    const even_cells a = *axis;
    const lanes first = LANES_OF(0.0), last = LANES_OF(a.last);
    lane_masks sure = ~(lane_masks){0};
    for (uint64_t i = 0; i < n; i += LANES) {
        const lanes at = clamped((load(x + i) - a.lo) * a.scale + 0.5, first, last),
                    cell = at + rounder - rounder;
        sure &= are_near(at - cell, a.sure);
        memcpy(cells + i, &cell, sizeof cell);
    }
    return all_set(sure);
}

static int take_flows(double last_cell, const double *x, const double *cells, uint64_t n,
                      double *inside, flows_found *found)
{
    const lanes first = LANES_OF(0.0), last = LANES_OF(last_cell);
    lanes under = first, over = first;
    lane_masks number = ~(lane_masks){0};
    for (uint64_t i = 0; i < n; i += LANES) {
        const lanes v = load(x + i), at = load(cells + i);
        lanes is = load(inside + i);
        const lanes low = (lanes)((lane_masks)(at <= first) & (lane_masks)is),
                    high = (lanes)((lane_masks)(at >= last) & (lane_masks)is);
        under += low;
        over += high;
        number &= v == v;
        is -= low + high;
        memcpy(inside + i, &is, sizeof is);
    }
    const flows_found more = {(uint64_t)sum_of(under), (uint64_t)sum_of(over), !all_set(number)};
    found->under += more.under;
    found->over += more.over;
    found->nan |= more.nan;
    return more.under || more.over || more.nan;
}

static void join(double *all, double extent, const double *more, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        all[i] = all[i] * extent + more[i];
}

static void to_integers(const double *x, uint64_t n, int64_t *to)
{
    const lane_masks zero = (lane_masks)LANES_OF(rounder);
    for (uint64_t i = 0; i < n; i += LANES) {
        const lane_masks integers = (lane_masks)(load(x + i) + rounder) - zero;
        memcpy(to + i, &integers, sizeof integers);
    }
}

#define PASTE(isa)     places_##isa
#define TABLE_FOR(isa) PASTE(isa)
const places_loops TABLE_FOR(TY_ISA) = {guess_inside, guess_any, take_flows, join, to_integers};
