/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The methods that `auto` may take on OpenCL and CUDA devices, with more bins than local memory
 * holds, against the reference (up to a million bins) or the processor's counts: numbers of bins
 * around those where the way of counting changes, data that are spread, sorted, all alike, in one
 * slice, outside; settings that make many slices of few bins; several waves.
 *
 *     test_many_bins [SEED [SAMPLES [EVERY]]]     one case in EVERY, by the seed; usually in 2
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drivers.h"
#include "plan/registry.h"
#include "random_case.h"
#include "whole.h"

typedef struct plan_case {
    uint64_t bins;
    tally_dtype dtype;
    tally_setting settings[4];
    uint64_t samples;    /* 0: the usual number */
    uint32_t dimensions; /* of as many bins each; 0: one */
} plan_case;

/* Methods that refuse a case's settings or bins leave it out. */
static const plan_case cases[] = {
    {100000, TALLY_F32, {{0}}, 0, 0},
    {16777216, TALLY_F32, {{0}}, 0, 0},
    {1000000, TALLY_F32, {{0}}, 0, 0},
    {300000, TALLY_I32, {{0}}, 0, 0},
    {131072, TALLY_F64, {{0}}, 0, 0},
    {5000, TALLY_F32, {{"partition", "5"}}, 0, 0},
    {200,
     TALLY_F32,
     {{"partition", "5"}},
     0,
     0}, /* seven slices: a tile's last row of banks is not full */
    {65535, TALLY_F32, {{"partition", "6"}, {"columns", "4"}}, 0, 0},
    {70000, TALLY_U16, {{"partition", "12"}, {"loads", "2"}, {"columns", "8"}}, 0, 0},
    {40000, TALLY_F32, {{"partition", "10"}, {"chunk", "1"}}, 700000, 0},
    {300000, TALLY_I32, {{"columns", "4"}}, 0, 0},
    {131072, TALLY_F64, {{"partition", "9"}}, 0, 0},
    {262144, TALLY_F32, {{"packed6", "2"}}, 700000, 0},
    {131072, TALLY_F64, {{"packed6", "2"}, {"late", "1"}}, 300000, 0},
    {3000, TALLY_I32, {{"packed6", "2"}, {"chunk", "1"}}, 300000, 0},
    {1000, TALLY_F32, {{0}}, 0, 2},
    {1021, TALLY_F64, {{"partition", "12"}, {"columns", "8"}}, 0, 2}, /* 1024 cells of an axis */
    {253, TALLY_U16, {{"partition", "8"}, {"threads", "64"}}, 0, 2},  /* a row is a slice */
    {197, TALLY_F32, {{"partition", "10"}, {"chunk", "1"}}, 700000, 2},
    {37, TALLY_I32, {{"partition", "7"}, {"per-thread", "8"}}, 0, 3},
};

enum {
    kinds = 7,
    common_cases = 1
}; /* a case for every method; the others are partitioned's, and
   joint tables partitioned-columns' */

static uint64_t all_bins(const plan_case *c)
{
    uint64_t all = c->bins;
    for (uint32_t d = 1; d < c->dimensions; d++)
        all *= c->bins;
    return all;
}

/* In units of the axis, [0, 1). */
static double sample(rng *r, unsigned kind, double progress, uint64_t i)
{
    switch (kind) {
    case 0:
        return rng_unit(r) * 1.1 - 0.05;
    case 1:
        return 0.3;
    case 2:
        return progress;
    case 3: /* one slice, different bins */
        return 0.7 + rng_unit(r) * 0.001;
    case 4:
        return i & 1 ? 0.2 : 0.9;
    case 5:
        return rng_below(r, 10) ? 0.6 : rng_unit(r);
    default:
        return i & 1 ? -1 : 2;
    }
}

static void fill(rng *r, const plan_case *c, unsigned kind, void *to, uint64_t n)
{
    uint64_t nans = rng_below(r, 2) ? 100 : n + 1;
    for (uint64_t i = 0; i < n; i++) {
        double x = sample(r, kind, (double)i / (double)n, i) * (double)c->bins;
        if (c->dtype == TALLY_F64)
            ((double *)to)[i] = x;
        else if (c->dtype == TALLY_F32)
            ((float *)to)[i] = i % nans == 50 ? (float)(0.0 / 0.0) : (float)x;
        else if (c->dtype == TALLY_I32)
            ((int32_t *)to)[i] = (int32_t)x;
        else
            ((uint16_t *)to)[i] = (uint16_t)(x < 0 ? 0 : x > 65535 ? 65535 : x);
    }
}

typedef struct answer {
    uint64_t *counts;
    tally_flows flows;
} answer;

static tally_status count(const tally_plan *plan, const tally_view *views, int reference,
                          answer *to, tally_error *error)
{
    tally_output out = TALLY_OUTPUT_INIT;
    memset(&to->flows, 0, sizeof to->flows);
    out.counts = to->counts;
    out.flows = &to->flows;
    return (reference ? tally_execute_reference : tally_execute)(plan, views, NULL, &out, error);
}

static int same(const answer *a, const answer *b, uint64_t bins)
{
    return !memcmp(a->counts, b->counts, (size_t)bins * sizeof *a->counts) &&
           !memcmp(&a->flows, &b->flows, sizeof a->flows);
}

/* The columns of a joint table are of one kind, or the second of the next. */
static void fill_columns(rng *r, const plan_case *c, unsigned kind, unsigned char *data,
                         tally_view *views, uint64_t n)
{
    for (uint32_t d = 0; d < (c->dimensions ? c->dimensions : 1); d++) {
        unsigned char *column = data + d * n * 8;
        fill(r, c, d == 1 && rng_below(r, 2) ? (kind + 1) % kinds : kind, column, n);
        views[d] = tally_view_1d(column, c->dtype, n);
    }
}

static int try_data(rng *r, const plan_case *c, const tally_plan *plan, const tally_plan *want_plan,
                    const char *method, uint64_t most)
{
    const uint64_t bins = all_bins(c);
    unsigned char *data = malloc(most * 8 * (c->dimensions ? c->dimensions : 1));
    answer got = {malloc((size_t)bins * 8), {0}}, want = {malloc((size_t)bins * 8), {0}};
    tally_view views[TALLY_MAX_DIMENSIONS];
    int ok = 1;
    for (unsigned kind = 0; kind < kinds && ok; kind += bins >= 1000000 ? kinds - 1 : 1) {
        uint64_t n = kind == 1 ? most / 3 : most - rng_below(r, 5);
        tally_error error = {""};
        fill_columns(r, c, kind, data, views, n);
        ok = !count(plan, views, 0, &got, &error) &&
             !count(want_plan, views, bins <= 1000000 && n < 300000, &want, &error) &&
             same(&got, &want, bins);
        if (!ok)
            printf("FAILED %s, %llu bins, %s, data %u, %llu samples: %s\n", method,
                   (unsigned long long)bins, tally_dtype_name(c->dtype), kind,
                   (unsigned long long)n, error.message[0] ? error.message : "wrong counts");
    }
    free(data);
    free(got.counts);
    free(want.counts);
    return ok;
}

/* 1: counted right, 0: refused, -1: wrong. */
static int try_case(rng *r, const plan_case *c, tally_context *context, tally_context *host,
                    const ty_method *m, uint64_t most)
{
    tally_plan_options o = {.struct_size = sizeof o,
                            .dimensions = c->dimensions ? c->dimensions : 1};
    tally_plan *plan = NULL, *want = NULL;
    tally_error error = {""};
    for (uint32_t d = 0; d < o.dimensions; d++) {
        o.axes[d] = tally_axis_even(c->bins, 0, (double)c->bins);
        o.dtypes[d] = c->dtype;
    }
    tally_plan_options host_options = o;
    o.method = m->name;
    o.settings = c->settings;
    while (o.settings_count < 4 && c->settings[o.settings_count].key)
        o.settings_count++;
    tally_status status = tally_plan_create(context, &o, &plan, &error);
    if (status == TALLY_ERROR_UNSUPPORTED)
        return 0;
    if (status) {
        printf("FAILED %s, %llu bins: %s\n", m->name, (unsigned long long)c->bins, error.message);
        return -1;
    }
    int ok = !tally_plan_create(host, &host_options, &want, &error) &&
             try_data(r, c, plan, want, m->name, c->samples ? c->samples : most);
    tally_plan_destroy(plan);
    tally_plan_destroy(want);
    return ok ? 1 : -1;
}

/* Returns the number of wrong cases; *done counts the right ones. */
static int try_device(rng *r, tally_device_type device, tally_context *host, uint64_t most,
                      size_t every, size_t turn, int *done)
{
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_error error = {""};
    int failed = 0;
    options.device = device;
    if (tally_context_create(&options, &context, &error)) {
        printf("left out: %s\n", error.message);
        return 0;
    }
    for (int m = 0; ty_methods[m]; m++) {
        if (!ty_methods[m]->cost) /* not made for many bins: may take a pass for each */
            continue;
        const int partitioned = !strcmp(ty_methods[m]->name, "partitioned"),
                  joint = !strcmp(ty_methods[m]->name, "partitioned-columns");
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (i >= common_cases &&
                (i % every != turn || !(cases[i].dimensions ? joint : partitioned)))
                continue;
            int got = try_case(r, &cases[i], context, host, ty_methods[m], most);
            *done += got > 0;
            failed += got < 0;
        }
    }
    tally_context_destroy(context);
    return failed;
}

int main(int argc, char **argv)
{
    rng r = {.state = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL) * 1000003};
    uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : 50000;
    const size_t every = argc > 3 ? strtoull(argv[3], NULL, 10) : whole_check() ? 1 : 2;
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *host = NULL;
    int done = 0;
    if (!every)
        return 2;
    const size_t turn = r.state % every;
    printf("seed %llu\n", (unsigned long long)r.state);
    fflush(stdout);
    options.device = TALLY_DEVICE_CPU;
    if (tally_context_create(&options, &host, NULL))
        return 1;
    int failed = try_device(&r, TALLY_DEVICE_OPENCL, host, most, every, turn, &done) +
                 try_device(&r, TALLY_DEVICE_CUDA, host, most, every, turn, &done);
    tally_context_destroy(host);
    printf("%d cases counted right, %d wrong\n", done, failed);
    return failed ? 1 : done ? 0 : 77;
}
