/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles' tests: their begin and end, samples of every type and of easy and hard kinds, views of
 * them, their order. */
#ifndef QUANTILE_HELP_H
#define QUANTILE_HELP_H

#include <float.h>
#include <math.h>
#include <string.h>
#include <tally/tally.h>

#include "check.h"
#include "core/dtype.h"
#include "cpu/stats.h"
#include "draw.h"
#include "execute_help.h"

static const tally_dtype dtypes[] = {TALLY_U8,  TALLY_I8,   TALLY_U16, TALLY_I16,
                                     TALLY_U32, TALLY_I32,  TALLY_U64, TALLY_I64,
                                     TALLY_F16, TALLY_BF16, TALLY_F32, TALLY_F64};

static tally_dtype sorted_dtype;
static tally_context *context; /* of three threads */

/* Begins a test of [SEED [CASES]]: returns the number of cases. */
static inline uint64_t begin(const char *name, int argc, char **argv, uint64_t seed)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : seed;
    printf("%s: seed %llu\n", name, (unsigned long long)state);
    context = help_context(3);
    return argc > 2 ? strtoull(argv[2], NULL, 0) : 250;
}

/* Ends it: returns the program's exit code. */
static inline int end(void)
{
    tally_context_destroy(context);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}

/* How samples order: numbers, then NaN; -0.0 before 0.0. */
static inline int by_sample(const void *a, const void *b)
{
    if (sorted_dtype == TALLY_U64 || sorted_dtype == TALLY_I64) {
        int64_t x, y;
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        if (sorted_dtype == TALLY_U64)
            return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
        return (x > y) - (x < y);
    }
    double x, y;
    ty_stats_loops_get()->decode(sorted_dtype, a, 1, &x);
    ty_stats_loops_get()->decode(sorted_dtype, b, 1, &y);
    if (isnan(x) || isnan(y))
        return !isnan(y) - !isnan(x);
    if (x == y)
        return (signbit(x) == 0) - (signbit(y) == 0);
    return (x > y) - (x < y);
}

static inline int is_nan(tally_dtype dtype, const void *sample)
{
    double x = 0;
    if (ty_dtype_is_float(dtype))
        ty_stats_loops_get()->decode(dtype, sample, 1, &x);
    return isnan(x) != 0;
}

/* One sample of the kind; kinds make easy and hard cases of all sizes. */
static inline void draw_sample(tally_dtype dtype, int kind, uint64_t i, uint64_t n, void *to)
{
    const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, DBL_MIN, -DBL_MAX};
    uint64_t bits = next();
    double x = unit() * unit() * 1e3 - 100;
    float y;
    if (kind == 1) /* few different ones */
        x = (double)below(5), bits = below(5);
    else if (kind == 2) /* ascending */
        x = (double)i, bits = i;
    else if (kind == 3) /* nearly all equal */
        x = below(200) ? 7 : x, bits = below(200) ? 7 : bits;
    else if (kind == 4) /* special values */
        x = special[below(8)];
    else if (kind == 5) /* two far heaps */
        x = i < n / 2 ? unit() : 1e30 * (1 + unit()), bits = i < n / 2 ? below(9) : ~below(9);
    if (kind == 6 || !ty_dtype_is_float(dtype)) { /* any bits */
        memcpy(to, &bits, tally_dtype_bytes(dtype));
    } else if (dtype == TALLY_F64) {
        memcpy(to, &x, sizeof x);
    } else {
        y = (float)x;
        memcpy(&bits, &y, sizeof y);
        if (dtype == TALLY_BF16)
            bits = (bits >> 16) & 0xffff;
        else if (dtype == TALLY_F16)
            bits = isnan(y) ? 0x7e00 : (uint64_t)(signbit(y) ? 0x8000 : 0) | (below(0x7c01));
        memcpy(to, &bits, tally_dtype_bytes(dtype));
    }
}

/* A view of random shape over `memory`, all strides set, and what it needs. */
static inline tally_view draw_view(tally_dtype dtype, uint64_t n, void *memory)
{
    const int64_t size = (int64_t)tally_dtype_bytes(dtype);
    tally_view view = tally_view_1d(memory, dtype, n);
    view.channels = 1 + below(below(3) ? 1 : 3);
    view.batches = 1 + below(below(2) ? 1 : 7);
    view.rows = 1 + below(below(2) ? 1 : 9);
    view.columns = n / (view.channels * view.batches * view.rows);
    view.channel_stride_bytes = size;
    view.column_stride_bytes = size * (int64_t)view.channels;
    view.row_stride_bytes = view.column_stride_bytes * (int64_t)view.columns;
    view.batch_stride_bytes = view.row_stride_bytes * (int64_t)view.rows;
    return view;
}

#endif
