/* SPDX-License-Identifier: Apache-2.0 */
/* tally_histogram and tally_axis_find against the reference: on random axes, from many threads, in
 * children, with plans that were kept and arrays that change under them. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execute_help.h"
#include "input_help.h"

enum { MOST_BINS = 300, MOST_SAMPLES = 5000 };

static tally_context *context;
static double edges[MOST_BINS + 1];
static uint16_t categories[256];

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double unit(void)
{
    return (double)(help_random() >> 11) * 0x1p-53;
}

static tally_axis random_axis(tally_dtype dtype)
{
    const uint64_t bins = 1 + help_below(MOST_BINS);
    tally_axis axis = tally_axis_even(bins, -20 * unit(), 0.1 + 100 * unit());
    switch (help_below(dtype == TALLY_U8 ? 5 : 4)) {
    case 1:
        for (uint64_t i = 0; i <= bins; i++)
            edges[i] = floor(1000 * unit()) / 8;
        qsort(edges, bins + 1, sizeof *edges, by_value);
        for (uint64_t i = 1; i <= bins; i++)
            if (edges[i] <= edges[i - 1])
                edges[i] = nextafter(edges[i - 1], INFINITY);
        axis = tally_axis_edges(bins, edges);
        break;
    case 2:
        axis = tally_axis_log(bins, 0.01 + unit(), 2 + 200 * unit());
        break;
    case 3:
        axis = tally_axis_integer(bins, (int64_t)help_below(100) - 50);
        break;
    case 4:
        axis.kind = TALLY_AXIS_CATEGORY;
        axis.categories = categories;
        for (int i = 0; i < 256; i++)
            categories[i] = (uint16_t)(help_below(3) ? help_below(bins) : TALLY_CATEGORY_NONE);
    }
    axis.last = (tally_last_edge)help_below(2);
    axis.under = (tally_flow)help_below(2);
    axis.over = (tally_flow)help_below(2);
    return axis;
}

static size_t random_samples(void *samples, tally_dtype dtype)
{
    const size_t n = (size_t)help_below(help_below(2) ? 20 : MOST_SAMPLES);
    help_fill(samples, n * tally_dtype_bytes(dtype));
    for (size_t i = 0; i < n && dtype == TALLY_F64; i++)
        ((double *)samples)[i] = help_below(20) ? 160 * unit() - 30 : NAN;
    return n;
}

/* What the reference counts. */
static void refer(const void *samples, tally_dtype dtype, size_t n, const tally_axis *axis,
                  uint64_t *counts, tally_flows *flows)
{
    const tally_plan_options options = help_options(dtype, *axis);
    tally_plan *plan = help_plan(context, &options);
    const tally_view view = tally_view_1d(samples, dtype, n);
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = counts;
    output.flows = flows;
    CHECK(!tally_execute_reference(plan, &view, NULL, &output, NULL));
    tally_plan_destroy(plan);
}

static const tally_dtype dtypes[] = {TALLY_U8, TALLY_I16, TALLY_F32, TALLY_F64};

static void test_counts(void)
{
    static double samples[MOST_SAMPLES];
    for (int i = 0; i < 400; i++) {
        const tally_dtype dtype = dtypes[help_below(4)];
        const tally_axis axis = random_axis(dtype);
        for (uint64_t again = 0; again <= help_below(3); again++) {
            uint64_t counts[MOST_BINS], want[MOST_BINS];
            tally_flows flows, want_flows;
            const size_t n = random_samples(samples, dtype);
            if (again &&
                axis.kind == TALLY_AXIS_EDGES) /* what a kept plan copied is of yesterday */
                edges[axis.bins] += 7;
            if (again && axis.kind == TALLY_AXIS_CATEGORY)
                categories[help_below(256)] = 0;
            refer(samples, dtype, n, &axis, want, &want_flows);
            memset(counts, 0xaa, sizeof counts);
            CHECK(!tally_histogram(samples, dtype, n, &axis, counts, again ? NULL : &flows, NULL));
            CHECK_SAY(!memcmp(counts, want, axis.bins * sizeof *counts), "kind %d", axis.kind);
            CHECK(again || !memcmp(&flows, &want_flows, sizeof flows));
        }
    }
}

/* The bin in which the reference counts one sample, as tally_axis_find numbers it. */
static uint64_t counted_in(const void *sample, tally_dtype dtype, const tally_axis *axis)
{
    uint64_t counts[MOST_BINS], bin = 0;
    tally_flows flows;
    refer(sample, dtype, 1, axis, counts, &flows);
    while (bin < axis->bins && !counts[bin])
        bin++;
    return bin < axis->bins ? bin : bin + (flows.under ? 0 : flows.over ? 1 : 2);
}

static double random_value(const double *own, uint64_t bins)
{
    const double odd[] = {NAN, -NAN, INFINITY, -INFINITY, 0, -0.0, 1e300, -1e300, 5e-324};
    const double edge = own[help_below(bins + 1)];
    switch (help_below(5)) {
    case 0:
        return odd[help_below(9)];
    case 1:
        return edge;
    case 2:
        return nextafter(edge, INFINITY);
    case 3:
        return nextafter(edge, -INFINITY);
    }
    return own[0] + (own[bins] - own[0]) * (1.2 * unit() - 0.1);
}

static void test_find(void)
{
    for (int i = 0; i < 200; i++) {
        const tally_axis axis = random_axis(help_below(2) ? TALLY_U8 : TALLY_F64);
        double own[MOST_BINS + 1];
        tally_axis with_edges = axis;
        CHECK(!tally_axis_edges_get(&axis, own, NULL));
        with_edges.edges = own;
        for (uint64_t e = 0; e <= axis.bins; e++)
            CHECK(tally_axis_edge(&axis, e) == own[e] && tally_axis_edge(&with_edges, e) == own[e]);
        CHECK(isnan(tally_axis_edge(&axis, axis.bins + 1)));
        for (int j = 0; j < 20; j++) {
            uint64_t bin = 99999, same = 99999, want;
            double x = random_value(own, axis.bins);
            if (axis.kind == TALLY_AXIS_CATEGORY) {
                const uint8_t byte = (uint8_t)help_below(256);
                x = byte;
                want = counted_in(&byte, TALLY_U8, &axis);
            } else {
                want = counted_in(&x, TALLY_F64, &axis);
            }
            CHECK(!tally_axis_find(&axis, x, &bin, NULL));
            CHECK(!tally_axis_find(&with_edges, x, &same, NULL));
            CHECK_SAY(bin == want && same == want, "kind %d, %.17g: %d, %d, not %d", axis.kind, x,
                      (int)bin, (int)same, (int)want);
        }
    }
}

static void expect_none(tally_axis axis, double x, tally_status status, const char *words)
{
    uint64_t bin = 77;
    tally_error error = {""};
    const tally_status got = tally_axis_find(&axis, x, &bin, &error);
    CHECK_SAY(got == status && bin == 77 && strstr(error.message, words), "%s", error.message);
}

static void test_find_refuses(void)
{
    tally_axis axis = tally_axis_even(4, 0, 1), letters = axis;
    axis.under = axis.nan = TALLY_FLOW_FAIL;
    expect_none(axis, -1, TALLY_ERROR_DATA, "-1 is in no bin");
    expect_none(axis, NAN, TALLY_ERROR_DATA, "nan is in no bin");
    expect_none(tally_axis_even(0, 0, 1), 0, TALLY_ERROR_ARGUMENT, "0 bins");
    expect_none(tally_axis_even(4, 1, 1), 0, TALLY_ERROR_ARGUMENT, "below the upper");
    expect_none(tally_axis_log(4, 0, 1), 0, TALLY_ERROR_ARGUMENT, "above 0");
    expect_none(tally_axis_integer(4, INT64_MAX), 0, TALLY_ERROR_ARGUMENT, "2^53");
    letters.kind = TALLY_AXIS_CATEGORY;
    expect_none(letters, 0, TALLY_ERROR_ARGUMENT, "categories is NULL");
    letters.categories = categories;
    categories[65] = 4;
    expect_none(letters, 65, TALLY_ERROR_ARGUMENT, "categories[65] is 4");
    expect_none(letters, 65.5, TALLY_ERROR_ARGUMENT, "65.5 is no byte");
    expect_none(letters, NAN, TALLY_ERROR_ARGUMENT, "is no byte");
    axis.struct_size = 1;
    expect_none(axis, 0, TALLY_ERROR_ARGUMENT, "struct_size is 1");
}

static void test_refuses(void)
{
    const float samples[] = {0, 0.5f, 2};
    uint64_t counts[2] = {7, 8};
    tally_flows flows = {1, 2, 3, 4};
    tally_error error = {""};
    tally_axis axis = tally_axis_even(2, 0, 1);
    axis.over = TALLY_FLOW_FAIL;
    for (int again = 0; again < 2; again++)
        CHECK(tally_histogram(samples, TALLY_F32, 3, &axis, counts, &flows, &error) ==
                  TALLY_ERROR_DATA &&
              error.message[0]);
    axis.struct_size = 8;
    CHECK(tally_histogram(samples, TALLY_F32, 3, &axis, counts, &flows, &error) ==
              TALLY_ERROR_ARGUMENT &&
          strstr(error.message, "struct_size"));
    axis = tally_axis_even(2, 0, 1);
    CHECK(tally_histogram(samples, (tally_dtype)99, 3, &axis, counts, &flows, &error) ==
          TALLY_ERROR_ARGUMENT);
    CHECK(counts[0] == 7 && counts[1] == 8 && flows.under == 1 && flows.masked == 4);
}

/* More bins than are kept, and a table of edges for them. */
static void test_many_bins(void)
{
    const uint64_t bins = 100000;
    const float samples[] = {0.5f, 1, 99999.5f, 100001};
    uint64_t *counts = malloc(bins * sizeof *counts);
    double *own = malloc((bins + 1) * sizeof *own);
    if (!counts || !own)
        abort();
    for (uint64_t i = 0; i <= bins; i++)
        own[i] = (double)i;
    const tally_axis axis = tally_axis_edges(bins, own);
    for (int again = 0; again < 2; again++) {
        tally_flows flows;
        CHECK(!tally_histogram(samples, TALLY_F32, 4, &axis, counts, &flows, NULL));
        CHECK(counts[0] == 1 && counts[1] == 1 && counts[bins - 1] == 1 && flows.over == 1);
    }
    free(counts);
    free(own);
}

/* More axes than plans are kept for, and one that is asked for by all. */
static int counts_right(unsigned i)
{
    static const uint8_t bytes[] = {0, 1, 1, 2, 250, 3, 3, 3};
    uint64_t counts[64];
    tally_flows flows;
    const uint64_t bins = i % 3 ? 4 + i % 23 : 40;
    const tally_axis axis = tally_axis_integer(bins, 0);
    return !tally_histogram(bytes, TALLY_U8, sizeof bytes, &axis, counts, &flows, NULL) &&
           counts[0] == 1 && counts[1] == 2 && counts[2] == 1 && counts[3] == 3 && flows.over == 1;
}

static int stop;

static void *count_often(void *arg)
{
    long wrong = 0;
    (void)arg;
    for (unsigned i = 0; i < 3000 || (!__atomic_load_n(&stop, __ATOMIC_RELAXED) && i < 300000); i++)
        wrong += !counts_right(i);
    return (void *)wrong;
}

static void test_threads(void)
{
    pthread_t threads[6];
    stop = 1;
    for (int i = 0; i < 6; i++)
        CHECK(!pthread_create(&threads[i], NULL, count_often, NULL));
    for (int i = 0; i < 6; i++) {
        void *wrong = &stop;
        CHECK(!pthread_join(threads[i], &wrong) && !wrong);
    }
}

/* Enough samples that the context's threads take part. */
static int counts_many(void)
{
    const size_t n = 4 << 20;
    float *samples = calloc(n, sizeof *samples);
    uint64_t counts[4] = {0};
    const tally_axis axis = tally_axis_even(4, 0, 1);
    const int right = samples &&
                      !tally_histogram(samples, TALLY_F32, n, &axis, counts, NULL, NULL) &&
                      counts[0] == n;
    free(samples);
    return right;
}

/* A child counts whatever the parent's other threads were at. */
static void test_fork(void)
{
    pthread_t busy;
    if (help_is_slow()) /* sanitizers have locks of their own */
        return;
    CHECK(counts_many());
    __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
    CHECK(!pthread_create(&busy, NULL, count_often, NULL));
    fflush(stdout);
    for (int i = 0; i < 20; i++) {
        int status = -1;
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);
            _exit(counts_right(0) && counts_right(1) && counts_many() ? 0 : 1);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK_SAY(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", (unsigned)status);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(busy, NULL);
    CHECK(counts_many());
}

/* No driver is opened. */
static void test_no_driver(void)
{
    blob maps = {0};
    char line[4096];
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file))
        blob_text(&maps, line);
    if (file)
        fclose(file);
    blob_add(&maps, "", 1);
    CHECK(!strstr((char *)maps.bytes, "libOpenCL") && !strstr((char *)maps.bytes, "libcuda"));
    blob_free(&maps);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    CHECK(counts_right(0) && counts_many());
    test_no_driver();
    context = help_context(1);
    test_counts();
    test_find();
    test_find_refuses();
    test_refuses();
    test_many_bins();
    test_threads();
    test_fork();
    tally_context_destroy(context);
    return help_end();
}
