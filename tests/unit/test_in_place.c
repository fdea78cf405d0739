/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples added to what an output holds: a call touches what its samples do and no more, a count
 * that passes its counter takes everything back, and calls at the same time lose nothing if they
 * add atomically.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "execute_help.h"
#include "input_help.h"

static tally_context *context;

enum { SAMPLES = 300000 };
static float data[SAMPLES];

static const size_t cell_bytes[] = {8, 4, 2, 1};

static void *filled(size_t bytes, int with)
{
    unsigned char *block = malloc(bytes);
    if (!block)
        abort();
    memset(block, with ? 53 : 0, bytes);
    for (size_t i = 0; with && i < bytes; i += 64) /* some narrow counters are full */
        block[i] = 255;
    return block;
}

static tally_status run(const tally_plan *plan, const tally_view *v, void *counts,
                        tally_flows *flows, int accumulate, int reference, tally_error *error)
{
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = counts;
    output.flows = flows;
    output.accumulate = accumulate;
    return reference ? tally_execute_reference(plan, v, NULL, &output, error)
                     : tally_execute(plan, v, NULL, &output, error);
}

/* Every counter, with so many bins that threads share them and with few: as the reference. */
static void test_counters(const char *method, uint64_t bins)
{
    for (int counter = 0; counter < 4; counter++) {
        for (int accumulate = 0; accumulate < 2; accumulate++) {
            tally_plan_options o = help_options(TALLY_F32, tally_axis_even(bins, -100, 100));
            o.counter = (tally_counter)counter;
            o.method = method;
            tally_plan *plan = help_plan(context, &o);
            const size_t bytes = (size_t)bins * cell_bytes[counter];
            void *got = filled(bytes, 1), *want = filled(bytes, 1);
            tally_flows flows[2] = {{1, 2, 3, 4}, {1, 2, 3, 4}};
            tally_view v = tally_view_1d(data, TALLY_F32, SAMPLES);
            CHECK(run(plan, &v, got, &flows[0], accumulate, 0, NULL) == TALLY_OK);
            CHECK(run(plan, &v, want, &flows[1], accumulate, 1, NULL) == TALLY_OK);
            CHECK_SAY(!memcmp(got, want, bytes), "%s, %llu bins, counter %d, accumulate %d", method,
                      (unsigned long long)bins, counter, accumulate);
            CHECK(!memcmp(&flows[0], &flows[1], sizeof *flows));
            tally_plan_destroy(plan);
            free(got);
            free(want);
        }
    }
}

/* The last sample's count is full: what the others added is gone again. */
static void test_full(tally_counter counter, uint64_t bins)
{
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(bins, -100, 100));
    o.counter = counter;
    o.method = "cpu-in-place";
    tally_plan *plan = help_plan(context, &o);
    const size_t bytes = (size_t)bins * cell_bytes[counter];
    const uint64_t full = bins / 2;
    unsigned char *got = filled(bytes, 0), *want = filled(bytes, 0);
    tally_flows flows[2] = {{1, 2, 3, 4}, {1, 2, 3, 4}};
    tally_view v = tally_view_1d(data, TALLY_F32, SAMPLES);
    tally_error error = {""};
    data[SAMPLES - 1] = 0; /* the bin in the middle */
    memset(got + full * cell_bytes[counter], 255, cell_bytes[counter]);
    memcpy(want, got, bytes);
    CHECK(run(plan, &v, got, &flows[0], 1, 0, &error) == TALLY_ERROR_DATA);
    CHECK_SAY(strstr(error.message, "passes") != NULL, "%s", error.message);
    CHECK(!memcmp(got, want, bytes) && !memcmp(&flows[0], &flows[1], sizeof *flows));
    tally_plan_destroy(plan);
    free(got);
    free(want);
}

/* Weights, of the samples in no bin too, are added in the samples' order. */
static void test_weights(tally_dtype dtype, int accumulate)
{
    enum { BINS = 5000, N = 4000 };
    static double doubles[N], sums[2][BINS], squares[2][BINS], flow_sums[2][4];
    static float floats[N];
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(BINS, -80, 80));
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_flows flows[2] = {{1, 2, 3, 4}, {1, 2, 3, 4}};
    o.axes[0].under = TALLY_FLOW_CLAMP;
    o.weight_dtype = dtype;
    o.sum_squares = 1;
    for (size_t i = 0; i < N; i++)
        doubles[i] = floats[i] = (float)help_below(1000) / 8;
    tally_view v = tally_view_1d(data, TALLY_F32, N),
               w = tally_view_1d(dtype == TALLY_F32 ? (void *)floats : (void *)doubles, dtype, N);
    e.weights = &w;
    tally_plan *plan = help_plan(context, &o);
    for (int reference = 0; reference < 2; reference++) {
        tally_output output = TALLY_OUTPUT_INIT;
        for (int i = 0; i < BINS; i++)
            sums[reference][i] = squares[reference][i] = i;
        flow_sums[reference][1] = 7;
        output.counts = sums[reference];
        output.sum_squares = squares[reference];
        output.flows = &flows[reference];
        output.flow_sums = flow_sums[reference];
        output.accumulate = accumulate;
        CHECK((reference ? tally_execute_reference(plan, &v, &e, &output, NULL)
                         : tally_execute(plan, &v, &e, &output, NULL)) == TALLY_OK);
    }
    CHECK(!memcmp(sums[0], sums[1], sizeof *sums) && !memcmp(squares[0], squares[1], sizeof *sums));
    CHECK(!memcmp(&flows[0], &flows[1], sizeof *flows));
    CHECK(!memcmp(flow_sums[0], flow_sums[1], sizeof *flow_sums) && flow_sums[0][1] > 7);
    tally_plan_destroy(plan);
}

/* Integers of every type, some sums on their way past int64 and back: as the reference, or refused
 * with the output as it was. */
static void test_integers(tally_dtype dtype, int accumulate, int squares, int fits)
{
    enum { BINS = 5000, N = 2000 };
    static int64_t sums[2][BINS], flow_sums[2][4], before[BINS];
    static double squared[2][BINS];
    static unsigned char weights[N * 8];
    const size_t size = tally_dtype_bytes(dtype);
    const int wide = dtype == TALLY_I64;
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(BINS, -80, 80));
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_flows flows[2] = {{1, 2, 3, 4}, {1, 2, 3, 4}};
    tally_status status[2];
    tally_error errors[2] = {{""}, {""}};
    o.axes[0].over = help_below(2) ? TALLY_FLOW_CLAMP : TALLY_FLOW_COUNT;
    o.weight_dtype = dtype;
    o.sum_squares = squares;
    for (size_t i = 0; i < sizeof weights; i++) { /* those that fit no flow are not negative */
        const int top_byte = i % size + 1 == size;
        weights[i] = (unsigned char)help_below(top_byte && !fits ? 128 : 256);
        weights[i] = size == 8 && i % 8 > 4 ? 0 : weights[i];
    }
    const int64_t top = INT64_MAX, orders[3][4] = {{top, top, -top, -top},
                                                   {-top, top, -top, top},
                                                   {top, top, top, top}};
    /* Of one bin and of a flow: both pass int64 and come back; or only one does, and stays. */
    for (size_t i = 0; wide && i < 8; i++) {
        const int order = fits ? 0 : squares == (i < 4) ? 1 : 2;
        memcpy(weights + (N / 2 + i) * 8, &orders[order][i % 4], 8);
        data[N / 2 + i] = i < 4 ? 1 : NAN;
    }
    tally_view v = tally_view_1d(data, TALLY_F32, N), w = tally_view_1d(weights, dtype, N);
    e.weights = &w;
    tally_plan *plan = help_plan(context, &o);
    for (int reference = 0; reference < 2; reference++) {
        tally_output output = TALLY_OUTPUT_INIT;
        for (int i = 0; i < BINS; i++)
            squared[reference][i] = (double)(before[i] = sums[reference][i] = i - 100);
        memset(flow_sums[reference], 0, sizeof *flow_sums);
        flow_sums[reference][0] = fits || dtype == TALLY_I64 ? 7 : INT64_MAX;
        output.counts = sums[reference];
        output.sum_squares = squares ? squared[reference] : NULL;
        output.flows = &flows[reference];
        output.flow_sums = flow_sums[reference];
        output.accumulate = accumulate;
        status[reference] = reference ? tally_execute_reference(plan, &v, &e, &output, &errors[1])
                                      : tally_execute(plan, &v, &e, &output, &errors[0]);
    }
    const int refused = !fits && (wide || accumulate);
    CHECK_SAY(status[0] == status[1] && status[0] == (refused ? TALLY_ERROR_DATA : TALLY_OK),
              "%s: %s", tally_dtype_name(dtype), errors[0].message);
    CHECK_SAY(!strcmp(errors[0].message, errors[1].message), "%s", errors[0].message);
    CHECK_SAY(!memcmp(sums[0], refused ? before : sums[1], sizeof *sums), "%s, %d, %d",
              tally_dtype_name(dtype), accumulate, squares);
    for (int i = 0; i < BINS; i++) /* added in another order */
        CHECK(fabs(squared[0][i] - squared[1][i]) <= 1e-12 * fabs(squared[1][i]));
    CHECK(!memcmp(&flows[0], &flows[1], sizeof *flows));
    CHECK(!memcmp(flow_sums[0], flow_sums[1], sizeof *flow_sums));
    tally_plan_destroy(plan);
}

static void test_all_integers(void)
{
    for (int dtype = TALLY_U8; dtype <= TALLY_I64; dtype++)
        for (int i = 0; i < 8; i++)
            test_integers((tally_dtype)dtype, i & 1, i >> 1 & 1, i >> 2);
}

static int stop(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    (void)done;
    (void)total;
    return 1;
}

/* A policy that one sample breaks, and a caller who cancels. */
static void test_refused(void)
{
    enum { BINS = 1 << 20 };
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(BINS, -100, 100));
    uint64_t *got = filled(BINS * 8, 1), *want = filled(BINS * 8, 1);
    tally_view v = tally_view_1d(data, TALLY_F32, SAMPLES);
    tally_output output = TALLY_OUTPUT_INIT;
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    output.counts = got;
    for (int accumulate = 0; accumulate < 2; accumulate++) {
        tally_plan *plan = help_plan(context, &o);
        output.accumulate = accumulate;
        e.progress = stop;
        CHECK(tally_execute(plan, &v, &e, &output, NULL) == TALLY_ERROR_CANCELLED);
        CHECK(!memcmp(got, want, BINS * 8));
        tally_plan_destroy(plan);
        o.axes[0].over = TALLY_FLOW_FAIL;
        plan = help_plan(context, &o);
        CHECK(tally_execute(plan, &v, NULL, &output, NULL) == TALLY_ERROR_DATA);
        CHECK(!memcmp(got, want, BINS * 8));
        tally_plan_destroy(plan);
        o.axes[0].over = TALLY_FLOW_COUNT;
    }
    free(got);
    free(want);
}

static uint64_t resident(void)
{
    unsigned long long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%llu %llu", &all, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A hundred samples, or their weights, in 2^28 bins: the pages of so many counts are touched, and
 * no table is made. */
static void test_touches_little(tally_dtype weight_dtype)
{
    static int64_t ones[100]; /* bits of small numbers in all types */
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    const uint64_t bins = UINT64_C(1) << 28, bytes = bins * 8;
    void *counts = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (counts == MAP_FAILED || help_is_slow()) {
        printf("skipped: an output of 2 GiB\n");
        return;
    }
    madvise(counts, (size_t)bytes, MADV_NOHUGEPAGE);
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(bins, -100, 100));
    o.weight_dtype = weight_dtype;
    tally_plan *plan = help_plan(context, &o);
    tally_view v = tally_view_1d(data, TALLY_F32, 100), w = tally_view_1d(ones, weight_dtype, 100);
    e.weights = weight_dtype ? &w : NULL;
    output.counts = counts;
    output.accumulate = 1;
    const uint64_t before = resident();
    CHECK(tally_execute(plan, &v, &e, &output, NULL) == TALLY_OK);
    const uint64_t after = resident();
    CHECK_SAY(after < before + (2 << 20), "%llu bytes", (unsigned long long)(after - before));
    tally_plan_destroy(plan);
    munmap(counts, (size_t)bytes);
}

/* ---- many calls at once ---- */

enum { CALLERS = 6, ROUNDS = 20 };

typedef struct caller {
    const tally_plan *plan;
    uint64_t *counts;
    tally_flows *flows;
    uint64_t n;
    int failed;
} caller;

static void *call(void *arg)
{
    caller *c = arg;
    tally_view v = tally_view_1d(data, TALLY_F32, c->n);
    for (int i = 0; i < ROUNDS; i++)
        c->failed |= run(c->plan, &v, c->counts, c->flows, TALLY_ACCUMULATE_ATOMIC, 0, NULL) != 0;
    return NULL;
}

/* Half the calls are in place, half by tables. */
static void test_atomic(uint64_t bins, int clamp)
{
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(bins, -80, 80));
    tally_context *other = help_context(2);
    o.axes[0].under = o.axes[0].over = clamp ? TALLY_FLOW_CLAMP : TALLY_FLOW_COUNT;
    tally_plan *plans[2] = {help_plan(context, &o), NULL};
    o.method = "cpu-tables";
    plans[1] = help_plan(other, &o);
    uint64_t *counts = filled((size_t)bins * 8, 0), *want = filled((size_t)bins * 8, 0);
    tally_flows flows[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    pthread_t threads[CALLERS];
    caller callers[CALLERS];
    int wrong = 0;
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (caller){plans[i & 1], counts, &flows[0], 2000, 0};
        CHECK(pthread_create(&threads[i], NULL, call, &callers[i]) == 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        wrong |= callers[i].failed;
    }
    tally_view v = tally_view_1d(data, TALLY_F32, 2000);
    CHECK(!wrong && run(plans[0], &v, want, &flows[1], 0, 1, NULL) == TALLY_OK);
    for (uint64_t i = 0; i < bins; i++)
        wrong |= counts[i] != want[i] * CALLERS * ROUNDS;
    CHECK_SAY(!wrong, "%llu bins", (unsigned long long)bins);
    CHECK(flows[0].under == flows[1].under * CALLERS * ROUNDS &&
          flows[0].over == flows[1].over * CALLERS * ROUNDS && (clamp || flows[0].over));
    free(counts);
    free(want);
    tally_plan_destroy(plans[0]);
    tally_plan_destroy(plans[1]);
    tally_context_destroy(other);
}

static void add_otherwise(tally_output *output)
{
    output->accumulate = 3;
}

static void add_atomically(tally_output *output)
{
    output->accumulate = TALLY_ACCUMULATE_ATOMIC;
}

static void test_refusals(void)
{
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(10, -100, 100));
    tally_view v = tally_view_1d(data, TALLY_F32, 10);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_plan *plan = help_plan(context, &o);
    EXPECT_NO_RUN(plan, &v, NULL, add_otherwise, TALLY_ERROR_ARGUMENT, "accumulate is 3");
    tally_plan_destroy(plan);
    o.counter = TALLY_COUNTER_U32;
    plan = help_plan(context, &o);
    EXPECT_NO_RUN(plan, &v, NULL, add_atomically, TALLY_ERROR_UNSUPPORTED, "narrower counters");
    tally_plan_destroy(plan);
    o.counter = TALLY_COUNTER_U64;
    o.weight_dtype = TALLY_F32;
    e.weights = &v;
    plan = help_plan(context, &o);
    EXPECT_NO_RUN(plan, &v, &e, add_atomically, TALLY_ERROR_UNSUPPORTED, "sums of weights");
    tally_plan_destroy(plan);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    context = help_context(4);
    for (size_t i = 0; i < SAMPLES; i++)
        data[i] = (float)help_below(240000) / 1000 - 120;
    for (int big = 0; big < 2; big++) {
        const uint64_t bins = big ? UINT64_C(1) << 22 : 1000;
        test_counters(big ? "auto" : "cpu-in-place", bins);
        test_full(TALLY_COUNTER_U64, bins);
        test_full(TALLY_COUNTER_U32, bins);
    }
    for (int accumulate = 0; accumulate < 2; accumulate++) {
        test_weights(TALLY_F32, accumulate);
        test_weights(TALLY_F64, accumulate);
    }
    test_refused();
    test_all_integers();
    test_touches_little((tally_dtype)0);
    test_touches_little(TALLY_I32);
    test_touches_little(TALLY_F64);
    for (int clamp = 0; clamp < 2; clamp++) {
        test_atomic(40, clamp);
        test_atomic(5000, clamp);
    }
    test_refusals();
    tally_context_destroy(context);
    return help_end();
}
