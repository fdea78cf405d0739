/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every method of the processor against the reference on calls that are large enough for what small
 * ones never reach: several threads, flushed tables, patterns counted whole, streams of rows.
 *
 *     test_large [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "random_case.h"

typedef struct shape {
    const char *name;
    uint64_t batches, rows, columns, channels, mask;
    int64_t slack; /* bytes between rows */
    int masked;
} shape;

static const shape shapes[] = {
    {"one row", 1, 1, 300007, 1, 0, 0, 0},
    {"rows", 1, 300, 601, 1, 0, 8, 0},
    {"short rows", 1, 4500, 33, 1, 0, 5, 0},
    {"two channels", 1, 1, 150001, 2, 0, 0, 0},
    {"three channels", 1, 411, 401, 3, 0, 0, 0},
    {"four, three counted", 1, 300, 500, 4, 7, 16, 0},
    {"six channels", 1, 1, 140001, 6, 0x2a, 0, 0},
    {"masked", 1, 1, 150001, 1, 0, 0, 1},
    {"masked channels", 1, 280, 500, 3, 5, 3, 1},
    {"batches", 3, 150, 1000, 1, 0, 0, 0},
    {"small batches", 200, 20, 31, 1, 0, 0, 0},
};

static const tally_dtype dtypes[] = {TALLY_U8,  TALLY_I8,   TALLY_U16, TALLY_I16,
                                     TALLY_U32, TALLY_I32,  TALLY_U64, TALLY_I64,
                                     TALLY_F16, TALLY_BF16, TALLY_F32, TALLY_F64};

static void put(void *to, tally_dtype dtype, double u, uint64_t bits)
{
    float f = (float)(u * 400 - 100);
    double d = u * 400 - 100;
    int64_t i = (int64_t)(u * 400 - 100);
    size_t size = tally_dtype_bytes(dtype);
    if (dtype == TALLY_F32)
        memcpy(to, &f, size);
    else if (dtype == TALLY_F64)
        memcpy(to, &d, size);
    else if (size <= 2)
        memcpy(to, &bits, size);
    else
        memcpy(to, &i, size);
}

/* kinds: uniform, nearly constant, two values */
static void fill(rng *r, unsigned char *data, size_t bytes, tally_dtype dtype)
{
    size_t size = tally_dtype_bytes(dtype);
    unsigned kind = (unsigned)rng_below(r, 3);
    for (size_t i = 0; i + size <= bytes; i += size) {
        double u = rng_unit(r);
        uint64_t bits = rng_next(r);
        if (kind == 1 && rng_below(r, 10))
            u = 0.37, bits = 0x1234;
        if (kind == 2)
            u = i / size & 1 ? 0.3 : 0.6, bits = i / size & 1 ? 0x4242 : 0x17;
        put(data + i, dtype, u, bits);
    }
}

static tally_axis make_axis(unsigned which, tally_dtype dtype)
{
    static double edges[258];
    double top = tally_dtype_bytes(dtype) == 2 ? 40000 : 250;
    if (which == 0)
        return tally_axis_even(100, 0, top);
    if (which == 1)
        return tally_axis_even(70001, -50, top);
    for (int i = 0; i < 258; i++)
        edges[i] = -20 + (double)i * (double)i * 0.003;
    return tally_axis_edges(257, edges);
}

typedef struct answer {
    uint64_t *counts;
    tally_flows *flows;
} answer;

static tally_status count(const tally_plan *plan, const tally_view *view, const tally_view *mask,
                          uint64_t histograms, int reference, answer *to)
{
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    options.mask = mask;
    out.counts = to->counts =
        malloc((size_t)(histograms * tally_plan_bins(plan)) * sizeof(uint64_t));
    out.flows = to->flows = calloc(histograms, sizeof *to->flows);
    tally_status status =
        (reference ? tally_execute_reference : tally_execute)(plan, view, &options, &out, &error);
    if (status)
        fprintf(stderr, "%s\n", error.message);
    return status;
}

static void answer_free(answer *a)
{
    free(a->counts);
    free(a->flows);
}

static int run(rng *r, tally_context *context, const shape *s, tally_dtype dtype, uint64_t *done)
{
    size_t size = tally_dtype_bytes(dtype);
    int64_t row = (int64_t)(s->columns * s->channels * size) + s->slack;
    size_t bytes = (size_t)row * s->rows * s->batches;
    unsigned char *data = malloc(bytes + 8), *keep = malloc(s->rows * s->columns);
    size_t off = rng_below(r, 8);
    fill(r, data + off, bytes, dtype);
    for (size_t i = 0; i < s->rows * s->columns; i++)
        keep[i] = (unsigned char)(rng_next(r) & 3);
    tally_view view = tally_view_1d(data + off, dtype, s->columns);
    view.batches = s->batches;
    view.rows = s->rows;
    view.channels = s->channels;
    view.row_stride_bytes = row;
    tally_view mask = tally_view_1d(keep, TALLY_U8, s->columns);
    mask.rows = s->rows;
    tally_axis axis = make_axis((unsigned)rng_below(r, 3), dtype);
    answer want = {NULL, NULL};
    int ok = 1;
    for (uint32_t m = 0; m < tally_method_count() && ok; m++) {
        tally_method_info info = {.struct_size = sizeof info};
        tally_plan_options o;
        tally_plan *plan = NULL;
        answer got = {NULL, NULL};
        tally_method_get(m, &info, NULL);
        memset(&o, 0, sizeof o);
        o.struct_size = sizeof o;
        o.dimensions = 1;
        o.axes[0] = axis;
        o.dtypes[0] = dtype;
        o.channels = s->channels;
        o.channel_mask = s->mask;
        o.method = info.name;
        if (strncmp(info.name, "cpu-", 4) || tally_plan_create(context, &o, &plan, NULL))
            continue;
        uint64_t histograms = s->batches * tally_plan_channels(plan), bins = tally_plan_bins(plan);
        const tally_view *keeps = s->masked ? &mask : NULL;
        if (!want.counts)
            ok = !count(plan, &view, keeps, histograms, 1, &want);
        ok = ok && !count(plan, &view, keeps, histograms, 0, &got) &&
             !memcmp(got.counts, want.counts, (size_t)(histograms * bins) * sizeof *got.counts) &&
             !memcmp(got.flows, want.flows, histograms * sizeof *got.flows);
        if (!ok)
            fprintf(stderr, "FAILED %s, %s, %s, axis of %llu bins\n", info.name, s->name,
                    tally_dtype_name(dtype), (unsigned long long)bins);
        ++*done;
        answer_free(&got);
        tally_plan_destroy(plan);
    }
    answer_free(&want);
    free(data);
    free(keep);
    return ok;
}

int main(int argc, char **argv)
{
    rng r = {.state = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL) * 1000003};
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    uint64_t done = 0, failed = 0;
    printf("seed %llu\n", (unsigned long long)r.state);
    options.device = TALLY_DEVICE_CPU;
    options.threads = 3;
    if (tally_context_create(&options, &context, NULL))
        return 1;
    /* Every shape with every other dtype; which, follows from the seed. */
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        for (unsigned d = (unsigned)rng_below(&r, 2); d < sizeof dtypes / sizeof *dtypes; d += 2)
            failed += !run(&r, context, &shapes[s], dtypes[d], &done);
    }
    tally_context_destroy(context);
    printf("%llu comparisons, %llu failed\n", (unsigned long long)done, (unsigned long long)failed);
    return failed || !done;
}
