/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of Hist.fill that are in no bin: how many, which, and their weights. */
#include <math.h>
#include <string.h>

#include "fill.h"

/* ---- samples in no bin ---- */

static int is_closed(const tally_axis *axis)
{
    return axis->kind != TALLY_AXIS_INTEGER && axis->last == TALLY_LAST_CLOSED;
}

/* The largest number in a bin of axis d. */
static double last_inside(const filler *f, uint32_t d)
{
    return is_closed(&f->axes[PLAIN][d]) ? f->hi[d] : nextafter(f->hi[d], -INFINITY);
}

enum { LOOKED_AT = 128 };

/* Takes those of n samples, an even number, that are under or over on one axis from the points that
 * are in bins on all axes before it: inside[i] is 1 for such a point, else 0. Adds up how many are
 * under, and says how many are left. Returns 0 if there are NaN. */
static int look_at(const double *x, uint64_t n, double lo, double last, double *inside,
                   uint64_t *under, uint64_t *left)
{
    const lanes los = {lo, lo}, lasts = {last, last};
    lanes low_sum = {0}, is_sum = {0};
    lane_masks nan = {0};
    for (uint64_t i = 0; i < n; i += LANES) {
        lanes v, is;
        memcpy(&v, x + i, sizeof v);
        memcpy(&is, inside + i, sizeof is);
        const lanes low = (lanes)((lane_masks)(v < los) & (lane_masks)is);
        const lanes high = (lanes)((lane_masks)(v > lasts) & (lane_masks)is);
        low_sum += low;
        is -= low + high;
        is_sum += is;
        nan |= v != v;
        memcpy(inside + i, &is, sizeof is);
    }
    *under += (uint64_t)(low_sum[0] + low_sum[1]);
    *left = (uint64_t)(is_sum[0] + is_sum[1]);
    return !(nan[0] | nan[1]);
}

/* The same of one point after the other, where some are NaN: NaN on any axis, else by the first
 * axis. */
static void look_closely(const filling *w, uint64_t begin, uint64_t n, tally_flows *flows)
{
    for (uint64_t i = begin; i < begin + n; i++) {
        double memory;
        int under = 0, over = 0, nan = 0;
        for (uint32_t d = 0; d < w->f->dimensions; d++) {
            const double x = *array_doubles(&w->samples[d], i, 1, &memory);
            nan |= x != x;
            under |= !over && x < w->f->lo[d];
            over |= !under && x > last_inside(w->f, d);
        }
        flows->nan += (uint64_t)nan;
        flows->under += (uint64_t)(under && !nan);
        flows->over += (uint64_t)(over && !nan);
    }
}

void outside_count(filling *w, uint64_t first, uint64_t all)
{
    double memory[AT_ONCE], inside[AT_ONCE];
    const uint64_t end = first + all - all % LANES;
    look_closely(w, end, all % LANES, &w->flows);
    for (uint64_t begin = first; begin < end; begin += AT_ONCE) {
        const uint64_t n = end - begin < AT_ONCE ? end - begin : AT_ONCE;
        uint64_t under = 0, left = n;
        int numbers = 1;
        for (uint64_t i = 0; i < AT_ONCE; i++)
            inside[i] = 1;
        for (uint32_t d = 0; d < w->f->dimensions; d++) {
            const double *x = array_doubles(&w->samples[d], begin, n, memory);
            numbers &= look_at(x, n, w->f->lo[d], last_inside(w->f, d), inside, &under, &left);
        }
        if (!numbers) {
            look_closely(w, begin, n, &w->flows);
            continue;
        }
        w->flows.under += under;
        w->flows.over += n - under - left;
    }
}

/* Adds v² to *under where x < lo, to *over where x > last. */
__attribute__((always_inline)) static inline void
square_pair(const double *x, const double *v, lanes lo, lanes last, lanes *under, lanes *over)
{
    lanes at, square;
    memcpy(&at, x, sizeof at);
    memcpy(&square, v, sizeof square);
    square *= square;
    *under += (lanes)((lane_masks)(at < lo) & (lane_masks)square);
    *over += (lanes)((lane_masks)(at > last) & (lane_masks)square);
}

void outside_squares(const filling *w, double *squares)
{
    double x_memory[AT_ONCE], v_memory[AT_ONCE];
    const uint64_t all = w->samples[0].n;
    const double lo = w->f->lo[0], last = last_inside(w->f, 0);
    const lanes los = {lo, lo}, lasts = {last, last};
    lanes under[2] = {{0}}, over[2] = {{0}};
    if (w->weight.data == &w->scalar) {
        squares[0] = (double)w->flows.under * (w->scalar * w->scalar);
        squares[1] = (double)w->flows.over * (w->scalar * w->scalar);
        return;
    }
    for (uint64_t begin = 0; begin < all; begin += AT_ONCE) {
        const uint64_t n = all - begin < AT_ONCE ? all - begin : AT_ONCE;
        const double *x = array_doubles(&w->samples[0], begin, n, x_memory);
        const double *v = array_doubles(&w->weight, begin, n, v_memory);
        uint64_t i = 0;
        for (; i + 2 * LANES <= n; i += 2 * LANES) {
            square_pair(x + i, v + i, los, lasts, &under[0], &over[0]);
            square_pair(x + i + LANES, v + i + LANES, los, lasts, &under[1], &over[1]);
        }
        for (; i < n; i++) {
            under[0][0] += x[i] < lo ? v[i] * v[i] : 0.0;
            over[0][0] += x[i] > last ? v[i] * v[i] : 0.0;
        }
    }
    under[0] += under[1];
    over[0] += over[1];
    squares[0] = under[0][0] + under[0][1];
    squares[1] = over[0][0] + over[0][1];
}

/* By numbers as wide as the samples, of which the compiler makes vectors: 1, or 0 of what is
 * outside. */
uint64_t outside_list(const filling *w, uint64_t begin, uint64_t n, uint32_t *list)
{
    double memory[AT_ONCE], inside[AT_ONCE];
    uint64_t m = 0;
    for (uint64_t i = 0; i < n; i++)
        inside[i] = 1;
    for (uint32_t d = 0; d < w->f->dimensions; d++) {
        const double *x = array_doubles(&w->samples[d], begin, n, memory);
        const double lo = w->f->lo[d], last = last_inside(w->f, d);
        for (uint64_t i = 0; i < n; i++) {
            const double low = x[i] < lo ? 0.0 : inside[i];
            inside[i] = x[i] > last ? 0.0 : low;
        }
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &inside[i], sizeof bits);
        list[m] = (uint32_t)i;
        m += !bits;
    }
    return m;
}

int outside_are_many(const filling *w)
{
    uint32_t list[LOOKED_AT];
    const uint64_t n = w->samples[0].n < LOOKED_AT ? w->samples[0].n : LOOKED_AT;
    return outside_list(w, 0, n, list) > n / 16;
}

/* The listed samples of an array behind the n that `to` has. */
static void append(array *to, uint64_t n, const array *from, uint64_t begin, uint64_t count,
                   const uint32_t *list, uint64_t m)
{
    double memory[AT_ONCE];
    const double *x = array_doubles(from, begin, count, memory);
    double *at = (double *)(uintptr_t)to->data + n;
    for (uint64_t i = 0; i < m; i++)
        at[i] = x[list[i]];
}

int outside_take(const filling *w, filling *outside)
{
    const uint32_t dimensions = w->f->dimensions;
    const int weighted = w->f->storage && w->weight.data != &w->scalar,
              means = w->f->storage >= MEANS;
    const uint64_t n = w->flows.under + w->flows.over + w->flows.nan, all = w->samples[0].n;
    double *memory = PyMem_Malloc((dimensions + (uint64_t)(weighted + means)) * n * sizeof *memory);
    uint32_t list[AT_ONCE];
    uint64_t found = 0;
    if (!memory)
        return 0;
    *outside = *w;
    outside->weight.data = &outside->scalar;
    for (uint32_t d = 0; d < dimensions; d++)
        outside->samples[d] = (array){.data = memory + d * n, .dtype = TALLY_F64, .n = n};
    if (means)
        outside->values = (array){.data = memory + dimensions * n, .dtype = TALLY_F64, .n = n};
    if (weighted)
        outside->weight = (array){
            .data = memory + (dimensions + (uint64_t)means) * n, .dtype = TALLY_F64, .n = n};
    for (uint64_t begin = 0; begin < all; begin += AT_ONCE) {
        const uint64_t count = all - begin < AT_ONCE ? all - begin : AT_ONCE;
        const uint64_t m = outside_list(w, begin, count, list);
        if (found + m > n) /* they change meanwhile */
            break;
        for (uint32_t d = 0; d < dimensions; d++)
            append(&outside->samples[d], found, &w->samples[d], begin, count, list, m);
        if (means)
            append(&outside->values, found, &w->values, begin, count, list, m);
        if (weighted)
            append(&outside->weight, found, &w->weight, begin, count, list, m);
        found += m;
    }
    for (uint32_t d = 0; d < dimensions; d++)
        outside->samples[d].n = found;
    outside->weight.n = weighted ? found : 1;
    return 1;
}
