/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel method on the first OpenCL device, each with bytes and floats, even bins and uneven
 * edges, against the reference: a fixed list of plans, so that each kernel is built a known number
 * of times. In the usual check each method has one of the four, by the seed. Random samples,
 * channels and masks; for random plans see test_methods.
 *
 *     test_opencl [SEED [SECONDS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "plan/registry.h"
#include "whole.h"

static tally_context *context;
static double end_at; /* no further plans from then on; 0: never */
static unsigned late; /* plans left out for it */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* 64 bins that every method can count, of which four neighbouring bytes share one; 256 and 16 for
 * methods that want so many. */
static const uint64_t bin_counts[] = {64, 256, 16};

static tally_axis make_axis(int uneven, uint64_t bins, double *edges)
{
    if (!uneven)
        return tally_axis_even(bins, 0, 256);
    /* Bytes 4i to 4i+3 stay together, bins of three widths. */
    for (uint64_t i = 0; i <= bins; i++)
        edges[i] = (double)(i * (256 / bins)) + (bins <= 64 && i % 3 == 1 ? -0.5 : 0);
    return tally_axis_edges(bins, edges);
}

static void fill(rng *r, tally_dtype dtype, void *to, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        float f = (float)(rng_unit(r) * 280 - 10);
        f = rng_below(r, 50) ? f : (float)rng_below(r, 257); /* at an edge */
        if (dtype == TALLY_U8)
            ((unsigned char *)to)[i] = (unsigned char)rng_next(r);
        else
            ((float *)to)[i] = rng_below(r, 400) ? f : (float)(0.0 / 0.0);
    }
}

/* The plan's answers for one to a few thousand samples, in channels and under a mask too. */
static int counts_right(rng *r, random_case *c, const tally_plan *plan)
{
    static const uint64_t sizes[] = {0, 1, 255, 4096, 20011};
    static union {
        unsigned char u8[20011 * 2];
        float f32[20011 * 2];
    } data;
    static unsigned char mask[20011];
    static float reals[20011];
    const int real = c->plan.weight_dtype == TALLY_F32;
    int ok = 1;
    fill(r, c->plan.dtypes[0], &data, 20011 * 2);
    for (uint64_t i = 0; i < sizeof mask; i++)
        reals[i] = mask[i] = (unsigned char)(rng_next(r) & 1);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && ok; s++) {
        c->views[0] = tally_view_1d(&data, c->plan.dtypes[0], sizes[s]);
        c->views[0].channels = c->plan.channels;
        c->mask = tally_view_1d(mask, TALLY_U8, sizes[s]);
        c->weights = real ? tally_view_1d(reals, TALLY_F32, sizes[s]) : c->mask; /* any numbers */
        for (c->has_mask = 0; c->has_mask < 2 && ok; c->has_mask++) {
            answer got = answer_make(c, tally_plan_bins(plan), 1);
            answer want = answer_make(c, tally_plan_bins(plan), 1);
            answer_run(&got, c, plan, 1, 0);
            answer_run(&want, c, plan, 1, 1);
            ok = got.status == TALLY_OK && answer_same(&got, &want);
            if (!ok)
                printf("%llu samples%s: %s %s\n", (unsigned long long)sizes[s],
                       c->has_mask ? ", mask" : "", tally_status_string(got.status),
                       got.error.message);
            answer_free(&got);
            answer_free(&want);
        }
    }
    return ok;
}

/* One method, dtype and kind of axis, with the first number of bins and counter that it serves.
 * Returns 1 when it counted right, 0 when it was refused, -1 on failure. */
static int try_plan(rng *r, const char *method, tally_dtype dtype, int uneven, tally_error *error)
{
    double edges[257];
    for (size_t b = 0; b < sizeof bin_counts / sizeof *bin_counts; b++) {
        for (int sticks = 0; sticks < 2; sticks++) {
            random_case c;
            tally_plan *plan = NULL;
            memset(&c, 0, sizeof c);
            c.plan.struct_size = sizeof c.plan;
            c.plan.dimensions = 1;
            c.plan.axes[0] = make_axis(uneven, bin_counts[b], edges);
            c.plan.dtypes[0] = dtype;
            c.plan.channels = 2;
            c.plan.channel_mask = 2;
            c.plan.counter = sticks ? TALLY_COUNTER_U16SAT : TALLY_COUNTER_U64;
            c.plan.method = method;
            c.histograms = 1;
            c.has_weights = !strncmp(method, "weighted", 8);
            c.plan.weight_dtype = !c.has_weights                ? (tally_dtype)0
                                  : !strcmp(method, "weighted") ? TALLY_U8
                                                                : TALLY_F32;
            tally_status status = tally_plan_create(context, &c.plan, &plan, error);
            if (status == TALLY_ERROR_UNSUPPORTED)
                continue;
            int ok = status ? 0 : counts_right(r, &c, plan);
            if (!ok)
                printf("FAILED %s %s %s, %llu bins: %s\n", method, tally_dtype_name(dtype),
                       uneven ? "edges" : "even", (unsigned long long)bin_counts[b],
                       status ? error->message : "wrong counts");
            tally_plan_destroy(plan);
            return ok ? 1 : -1;
        }
    }
    return 0;
}

/* How many of the four combinations the method counted, or of the first that it serves from
 * `turn` on; -1 if one was wrong. */
static int try_method(rng *r, const ty_method *m, unsigned turn)
{
    static const tally_dtype dtypes[] = {TALLY_U8, TALLY_F32};
    int counted = 0;
    tally_error error = {""};
    for (unsigned i = turn; i < turn + 4 && (!counted || whole_check()); i++) {
        const tally_dtype dtype = dtypes[i & 1];
        if (!(m->dtypes >> dtype & 1))
            continue;
        if (counted && end_at > 0 && now() > end_at) {
            late++;
            continue;
        }
        int got = try_plan(r, m->name, dtype, i >> 1 & 1, &error);
        if (got < 0)
            return -1;
        counted += got;
    }
    if (!counted)
        printf("FAILED %s served nothing: %s\n", m->name, error.message);
    return counted ? counted : -1;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL) * 1000003;
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 0;
    rng r = {.state = seed};
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    int methods = 0, plans = 0, failed = 0;
    options.device = TALLY_DEVICE_OPENCL;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    if (tally_context_create(&options, &context, &error)) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    end_at = seconds > 0 ? now() + seconds : 0;
    for (int m = 0; ty_methods[m]; m++) {
        if (!(ty_methods[m]->devices & TY_ON_OPENCL))
            continue;
        int counted = try_method(&r, ty_methods[m], (unsigned)(seed + (unsigned)m) & 3);
        methods++;
        plans += counted > 0 ? counted : 0;
        failed += counted < 0;
    }
    tally_context_destroy(context);
    printf("%d methods, %d plans counted, %u left out for lack of time, %d methods failed\n",
           methods, plans, late, failed);
    return failed || !methods;
}
