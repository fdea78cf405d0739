/* SPDX-License-Identifier: Apache-2.0 */
/* Random results, a sink that keeps bytes, and checks that count failures: for the result tests. */
#ifndef TY_TEST_RESULTS_H
#define TY_TEST_RESULTS_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/profile.h"
#include "io/result.h"
#include "check.h"
#include "draw.h"

/* Any finite float64. */
static inline double random_double(void)
{
    double value;
    do {
        uint64_t bits = next();
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

/* Takes everything; fails with `code` once more than `limit` bytes came (limit 0: never). */
typedef struct kept {
    char *bytes;
    size_t size, room, limit;
    int code;
} kept;

static inline int keep(void *user, const void *bytes, size_t size)
{
    kept *k = user;
    if (k->limit && k->size + size > k->limit)
        return k->code;
    if (k->size + size + 1 > k->room) {
        k->room = (k->size + size + 1) * 2;
        k->bytes = realloc(k->bytes, k->room);
        if (!k->bytes)
            abort();
    }
    memcpy(k->bytes + k->size, bytes, size);
    k->size += size;
    k->bytes[k->size] = '\0';
    return 0;
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* `bins`+1 increasing edges of every size. */
static inline void random_edges(double *edges, uint64_t bins)
{
    int wide = below(2) == 0;
    for (uint64_t i = 0; i <= bins; i++)
        edges[i] = wide ? random_double() : (double)(int64_t)below(100000) / 7;
    qsort(edges, bins + 1, sizeof *edges, compare_doubles);
    for (uint64_t i = 1; i <= bins; i++)
        if (edges[i] <= edges[i - 1])
            edges[i] = nextafter(edges[i - 1], INFINITY);
}

/* An axis that points to `edges` (room for bins+1) and `categories`. */
static inline tally_axis random_axis(uint64_t bins, double *edges, uint16_t *categories)
{
    tally_axis axis = TALLY_AXIS_INIT;
    switch (below(5)) {
    case 0:
        axis = tally_axis_even(bins, -(double)below(1000) / 3, 1 + (double)below(1000) / 3);
        break;
    case 1:
        random_edges(edges, bins);
        axis = tally_axis_edges(bins, edges);
        break;
    case 2:
        axis = tally_axis_log(bins, 1e-3 * (1 + (double)below(10)), 1e3 * (1 + (double)below(10)));
        break;
    case 3:
        axis = tally_axis_integer(bins, (int64_t)below(1000) - 500);
        break;
    default:
        axis.kind = TALLY_AXIS_CATEGORY;
        axis.bins = bins;
        axis.categories = categories;
        for (int i = 0; i < 256; i++)
            categories[i] = below(3) ? (uint16_t)below(bins) : TALLY_CATEGORY_NONE;
    }
    axis.last = (tally_last_edge)below(2);
    axis.under = (tally_flow)below(3);
    axis.over = (tally_flow)below(3);
    axis.nan = below(2) ? TALLY_FLOW_FAIL : TALLY_FLOW_COUNT;
    return axis;
}

static inline void fill_random(tally_result *r)
{
    uint64_t cells = r->histograms * r->bins;
    for (uint64_t i = 0; i < cells; i++) {
        uint64_t bits = next() >> below(64);
        double sum = below(8) == 0   ? (below(2) ? INFINITY : -INFINITY)
                     : below(8) == 0 ? NAN
                                     : random_double();
        memcpy((char *)r->counts + i * 8,
               r->kind == TALLY_RESULT_SUMS_F64 ? (void *)&sum : (void *)&bits, 8);
        if (r->squares)
            r->squares[i] = fabs(random_double());
    }
    for (uint64_t h = 0; h < r->histograms; h++)
        r->flows[h] = (tally_flows){below(5), below(1000000), next() >> 8, below(2)};
    for (uint64_t i = 0; r->flow_sums && i < 4 * r->histograms; i++) {
        uint64_t bits = next() >> (4 + below(60)); /* so that some of them add up */
        double sum = below(8) == 0 ? NAN : random_double();
        memcpy((char *)r->flow_sums + i * 8,
               r->kind == TALLY_RESULT_SUMS_F64 ? (void *)&sum : (void *)&bits, 8);
    }
}

/* Statistics that the counts allow. */
static inline void fill_profile(tally_result *r)
{
    uint64_t *counts = r->counts;
    for (uint64_t i = 0; i < r->histograms * r->bins; i++)
        counts[i] = below(4) ? counts[i] >> 8 : 0; /* so that some bins are empty, and all add up */
    for (int flows = 0; flows < 2; flows++) {
        const uint64_t cells = r->histograms * (flows ? 4 : r->bins);
        double *at = flows ? r->flow_statistics : r->statistics;
        const uint64_t *of = flows ? (const uint64_t *)r->flows : counts;
        for (uint64_t i = 0; i < TY_PROFILE_FIELDS * cells; i++) {
            const uint64_t f = i / cells;
            if (of[i % cells])
                at[i] = below(9) == 0 ? (below(2) ? INFINITY : NAN)
                        : f == 2      ? fabs(random_double())
                                      : random_double();
        }
    }
}

static inline void random_quantiles(tally_result *r)
{
    double q[3], values[4 * 3];
    for (int i = 0; i < 3; i++)
        q[i] = below(3) ? (double)below(1001) / 1000 : 0.5;
    for (int i = 0; i < 12; i++)
        values[i] = below(6) ? random_double() : below(2) ? NAN : -INFINITY;
    tally_error error = {""};
    CHECK_SAY(!tally_result_quantiles_set(r, 1 + (uint32_t)below(3), q, values, &error), "%s",
              error.message);
}

/* A result of any shape, filled, with notes; destroy it. */
static inline tally_result *random_result(void)
{
    static const char *const odd_names[] = {
        "R", "", "a \"b\"\\\n\t", "\xc3\xa4\xe2\x82\xac", "\x01\xff", "\xf0\x9f\x98\x80", NULL};
    tally_axis axes[4];
    double edges[4][65];
    uint16_t categories[4][256];
    const char *names[4];
    ty_result_shape shape = {.dimensions = 1 + (uint32_t)below(3), .axes = axes, .names = names};
    for (uint32_t d = 0; d < shape.dimensions; d++)
        axes[d] = random_axis(1 + below(shape.dimensions > 1 ? 8 : 64), edges[d], categories[d]);
    shape.kind = (tally_result_kind)below(3);
    shape.squares = shape.kind != TALLY_RESULT_COUNTS && below(2);
    shape.flow_sums = shape.kind != TALLY_RESULT_COUNTS && below(3);
    shape.dtype = (tally_dtype)below(13);
    shape.histograms = 1 + below(4);
    for (uint64_t h = 0; h < shape.histograms; h++)
        names[h] = odd_names[below(7)];
    if (shape.kind == TALLY_RESULT_COUNTS && shape.dimensions == 1 &&
        axes[0].kind != TALLY_AXIS_CATEGORY && below(2))
        shape.column = odd_names[below(6)];
    for (uint64_t h = 0; h < shape.histograms && shape.column; h++)
        shape.value_times[h] = below(3) ? TALLY_TIME_NONE : (tally_time)below(6);
    tally_result *r = NULL;
    tally_error error = {""};
    if (ty_result_create(&shape, &r, &error)) {
        printf("random result: %s\n", error.message);
        exit(1);
    }
    fill_random(r);
    if (r->column)
        fill_profile(r);
    for (uint64_t i = below(3); i > 0; i--)
        tally_result_note(r, odd_names[below(6)], below(2) ? "cpu" : NULL, below(2) ? "m-1" : NULL,
                          (double)below(1000) / 7, below(100), NULL);
    if (shape.kind == TALLY_RESULT_COUNTS && shape.dimensions == 1 && !shape.column &&
        axes[0].kind != TALLY_AXIS_CATEGORY && below(2))
        random_quantiles(r);
    if (shape.kind == TALLY_RESULT_COUNTS && !shape.column && below(3) == 0)
        tally_result_narrow(r, (tally_counter)(2 + below(2)), NULL);
    return r;
}

static inline int same_axis(const tally_axis *a, const tally_axis *b)
{
    return a->kind == b->kind && a->bins == b->bins && a->lo == b->lo && a->hi == b->hi &&
           (a->kind != TALLY_AXIS_INTEGER || a->first == b->first) && a->under == b->under &&
           a->over == b->over && a->nan == b->nan && a->last == b->last && !a->edges == !b->edges &&
           (!a->edges || memcmp(a->edges, b->edges, (a->bins + 1) * sizeof *a->edges) == 0) &&
           !a->categories == !b->categories &&
           (!a->categories || memcmp(a->categories, b->categories, 512) == 0);
}

static inline int same_sums(const double *a, const double *b, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
            return 0;
    return 1;
}

static inline int same_result(const tally_result *a, const tally_result *b)
{
    uint64_t cells = a->histograms * a->bins;
    if (a->dimensions != b->dimensions || a->kind != b->kind || a->counter != b->counter ||
        a->dtype != b->dtype || a->histograms != b->histograms || a->bins != b->bins ||
        a->seconds != b->seconds || a->sources_count != b->sources_count ||
        a->sources_total != b->sources_total || strcmp(a->device, b->device) != 0 ||
        strcmp(a->method, b->method) != 0 || !a->squares != !b->squares ||
        ty_result_samples(a) != ty_result_samples(b))
        return 0;
    for (uint32_t d = 0; d < a->dimensions; d++)
        if (!same_axis(&a->axes[d], &b->axes[d]))
            return 0;
    for (uint32_t i = 0; i < a->sources_count; i++)
        if (strcmp(a->sources[i], b->sources[i]) != 0)
            return 0;
    for (uint64_t h = 0; h < a->histograms; h++)
        if (strcmp(a->names[h], b->names[h]) != 0)
            return 0;
    if (memcmp(a->flows, b->flows, a->histograms * sizeof *a->flows) != 0)
        return 0;
    if (a->squares && !same_sums(a->squares, b->squares, cells))
        return 0;
    if (!a->column != !b->column ||
        (a->column && (strcmp(a->column, b->column) != 0 ||
                       memcmp(a->value_times, b->value_times, sizeof a->value_times) != 0 ||
                       !same_sums(a->statistics, b->statistics, TY_PROFILE_FIELDS * cells) ||
                       !same_sums(a->flow_statistics, b->flow_statistics,
                                  TY_PROFILE_FIELDS * 4 * a->histograms))))
        return 0;
    if (a->quantiles != b->quantiles || !same_sums(a->q, b->q, (a->histograms + 1) * a->quantiles))
        return 0;
    if (!a->flow_sums != !b->flow_sums ||
        (a->flow_sums && a->kind == TALLY_RESULT_SUMS_F64 &&
         !same_sums(a->flow_sums, b->flow_sums, 4 * a->histograms)) ||
        (a->flow_sums && a->kind == TALLY_RESULT_SUMS_I64 &&
         memcmp(a->flow_sums, b->flow_sums, 32 * a->histograms) != 0))
        return 0;
    return a->kind == TALLY_RESULT_SUMS_F64 ? same_sums(a->counts, b->counts, cells)
                                            : memcmp(a->counts, b->counts, cells * 8) == 0;
}

/* The result in `format` as text; free k.bytes. */
static inline kept written(const tally_result *r, tally_format format,
                           const tally_write_options *options)
{
    kept k = {0};
    tally_error error = {""};
    tally_status status = tally_result_write(&r, 1, format, options, keep, &k, &error);
    CHECK_SAY(status == TALLY_OK, "%s", error.message);
    return k;
}

/* Zeros in even bins of width 1. */
static inline tally_result *simple_result(uint64_t bins, uint64_t histograms)
{
    tally_axis axis = tally_axis_even(bins, 0, (double)bins);
    ty_result_shape shape = {
        .dimensions = 1, .axes = &axis, .dtype = TALLY_U8, .histograms = histograms};
    tally_result *r = NULL;
    tally_error error = {""};
    CHECK_SAY(ty_result_create(&shape, &r, &error) == TALLY_OK, "%s", error.message);
    return r;
}

#endif
