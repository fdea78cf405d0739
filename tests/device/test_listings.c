/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The methods of the five texts, set as those ran them, against the texts' own arithmetic: each
 * listing written again for one thread that plays all work-items, on input for which the listing's
 * result is defined. And the launches are the published ones.
 *
 *     test_listings [opencl|cuda [SEED]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "drivers.h"
#include "draw.h"
#include "open_device.h"

enum { most_bins = 2048, most_settings = 4 };

static tally_context *context;

/* A plan of one axis with settings "KEY=VALUE,…"; NULL, which is a failure, where it is refused. */
static tally_plan *plan_of(const char *method, const char *settings, tally_dtype dtype,
                           tally_axis axis, tally_counter counter)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1, .timing_only = 1};
    tally_setting list[most_settings];
    tally_plan *plan = NULL;
    tally_error error = {""};
    char words[96];
    snprintf(words, sizeof words, "%s", settings);
    for (char *at = strtok(words, ","); at; at = strtok(NULL, ",")) {
        char *equal = strchr(at, '=');
        *equal = '\0';
        list[o.settings_count++] = (tally_setting){at, equal + 1};
    }
    o.axes[0] = axis;
    o.dtypes[0] = dtype;
    o.counter = counter;
    o.method = method;
    o.settings = list;
    if (tally_plan_create(context, &o, &plan, &error))
        fprintf(stderr, "%s\n", error.message);
    CHECK_SAY(plan != NULL, "a plan: %s: %s", method, settings);
    return plan;
}

/* The groups of a launch for n samples. */
static uint32_t groups_of(const tally_plan *plan, uint64_t n)
{
    tally_kernel_info info = {.struct_size = sizeof info};
    return tally_plan_kernel(plan, n, &info, NULL) ? 0 : info.groups;
}

static int run(const tally_plan *plan, const void *samples, tally_dtype dtype, uint64_t n,
               void *counts, tally_flows *flows)
{
    tally_output out = TALLY_OUTPUT_INIT;
    tally_view view = tally_view_1d(samples, dtype, n);
    tally_error error = {""};
    out.counts = counts;
    out.flows = flows;
    if (!tally_execute(plan, &view, NULL, &out, &error))
        return 1;
    fprintf(stderr, "%s\n", error.message);
    return 0;
}

/* ---- 000: a tree of flags for each interval ---- */

/* One launch of the post's kernel for [a, b), and the host's sum of the groups' sums. */
static uint64_t listing_000(const float *x, uint64_t n, uint64_t group_size, float a, float b)
{
    float local_sums[256];
    uint64_t sum = 0;
    for (uint64_t group = 0; group * group_size < n; group++) {
        for (uint64_t lid = 0; lid < group_size; lid++) {
            const uint64_t gid = group * group_size + lid;
            local_sums[lid] = gid < n && x[gid] >= a && x[gid] < b ? 1.0f : 0.0f;
        }
        for (uint64_t stride = group_size / 2; stride > 0; stride /= 2)
            for (uint64_t lid = 0; lid < stride; lid++)
                local_sums[lid] += local_sums[lid + stride];
        sum += (uint64_t)local_sums[0];
    }
    return sum;
}

static void test_tree(void)
{
    enum { n = 30000, bins = 10 };
    static const struct {
        const char *settings;
        int uneven;
    } all[] = {{"compares=1,host=1", 0}, {"compares=1,group=64", 1}, {"host=1", 1}};
    static float samples[n];
    double edges[bins + 1];
    for (int i = 0; i <= bins; i++)
        edges[i] = i / 8.0 + (i % 3 ? 1 / 64.0 : 0);
    for (int i = 0; i < n; i++) /* edges and what is next to them, often */
        samples[i] = below(2) ? (float)below(700) / 512.0f
                              : (float)(unit() * 1.5 - 0.1) * (below(99) ? 1.0f : NAN);
    for (size_t s = 0; s < sizeof all / sizeof *all; s++) {
        tally_axis axis =
            all[s].uneven ? tally_axis_edges(bins, edges) : tally_axis_even(bins, 0, bins / 8.0);
        uint64_t got[bins] = {0};
        tally_flows flows = {0, 0, 0, 0};
        axis.last = TALLY_LAST_OPEN;
        tally_plan *plan =
            plan_of("reduce-tree", all[s].settings, TALLY_F32, axis, TALLY_COUNTER_U64);
        int ok = plan && run(plan, samples, TALLY_F32, n, got, &flows);
        for (int b = 0; b < bins && ok; b++) {
            const double low = all[s].uneven ? edges[b] : b / 8.0;
            const double high = all[s].uneven ? edges[b + 1] : (b + 1) / 8.0;
            ok = got[b] == listing_000(samples, n, 256, (float)low, (float)high);
        }
        CHECK_SAY(ok, "counts as the listing's: reduce-tree %s", all[s].settings);
        CHECK_SAY(flows.under && flows.over && flows.nan, "flows: reduce-tree %s", all[s].settings);
        tally_plan_destroy(plan);
    }
}

/* ---- 004: 16-bit counters that stick ---- */

/* Bin 0 passes 65535 by far, bins 1, 2 and 3 end at 65536, 65535 and 65534; the others are few. */
static uint64_t fill_sticking(uint16_t *samples, uint64_t bins)
{
    static const uint32_t counts[] = {80000, 65536, 65535, 65534};
    uint64_t n = 0;
    for (uint16_t b = 0; b < 4; b++)
        for (uint32_t i = 0; i < counts[b]; i++)
            samples[n++] = b;
    while (n % 4096)
        samples[n++] = (uint16_t)(4 + below(bins - 4));
    for (uint64_t i = n - 1; i > 0; i--) {
        const uint64_t other = below(i + 1);
        const uint16_t kept = samples[i];
        samples[i] = samples[other];
        samples[other] = kept;
    }
    return n;
}

static void add_sticking(uint32_t *to, uint32_t value)
{
    *to += value;
    *to = *to < 65535 ? *to : 65535;
}

/* The shared kernels: `threads` work-items a block, a sample each, every block commits all bins. */
static void listing_004(const uint16_t *samples, uint64_t n, uint64_t bins, uint64_t threads,
                        uint16_t *counts)
{
    static uint32_t histogram[most_bins], local[most_bins];
    memset(histogram, 0, sizeof histogram);
    for (uint64_t block = 0; block < n / threads; block++) {
        memset(local, 0, sizeof local);
        for (uint64_t t = 0; t < threads; t++)
            add_sticking(&local[samples[block * threads + t]], 1);
        for (uint64_t b = 0; b < bins; b++)
            add_sticking(&histogram[b], local[b]);
    }
    for (uint64_t b = 0; b < bins; b++)
        counts[b] = (uint16_t)histogram[b];
}

static void test_saturating(const char *method, uint64_t bins, uint64_t threads)
{
    static uint16_t samples[300000], want[most_bins], got[most_bins];
    static const char *const settings[] = {"elements=1", "", "elements=1,clear=1", "elements=5"};
    const size_t wanted = bins == 64 ? 4 : 1; /* n · bins writes are many */
    const uint64_t n = fill_sticking(samples, bins);
    listing_004(samples, n, bins, threads, want);
    CHECK_SAY(want[0] == 65535 && want[2] == 65535 && want[3] == 65534 && want[5] < 65534,
              "not every bin of the input saturates: %s: %s", method, "");
    for (size_t s = 0; s < wanted; s++) {
        tally_plan *plan = plan_of(method, settings[s], TALLY_U16, tally_axis_integer(bins, 0),
                                   TALLY_COUNTER_U16SAT);
        if (!plan)
            continue;
        CHECK_SAY(run(plan, samples, TALLY_U16, n, got, NULL) &&
                      !memcmp(got, want, bins * sizeof *got),
                  "counts as the listing's: %s: %s", method, settings[s]);
        if (!strncmp(settings[s], "elements=1", 10))
            CHECK_SAY(groups_of(plan, n) == n / threads, "a block for so many samples: %s: %s",
                      method, settings[s]);
        tally_plan_destroy(plan);
    }
}

/* ---- 001: letters a-z, four to a bin ---- */

enum { letter_bins = 7, work_items = 37 };

/* The notes' listings: what is outside the alphabet is skipped. Work-item t of so many takes t, t +
 * work_items …, or a stretch of its own, and adds up what follows in one bin before it adds that.
 */
static void listing_001(const unsigned char *samples, int n, int contiguous, uint64_t *counts)
{
    const int each = (n + work_items - 1) / work_items;
    memset(counts, 0, letter_bins * sizeof *counts);
    for (int t = 0; t < work_items; t++) {
        const int first = contiguous ? t * each : t, step = contiguous ? 1 : work_items;
        const int end = contiguous && first + each < n ? first + each : n;
        int accumulator = 0, previous = -1;
        for (int i = first; i < end; i += step) {
            const int letter = samples[i] - 'a', bin = letter / 4;
            if (letter < 0 || letter >= 26)
                continue;
            if (bin != previous && accumulator)
                counts[previous] += (uint64_t)accumulator;
            accumulator = bin == previous ? accumulator + 1 : 1;
            previous = bin;
        }
        if (accumulator)
            counts[previous] += (uint64_t)accumulator;
    }
}

static void test_letters(void)
{
    enum { n = 30011 };
    static const struct {
        const char *method, *settings;
    } all[] = {{"atomic-global", ""},
               {"coarsened", ""},
               {"coarsened", "elements=7,contiguous=1"},
               {"private-shared", "commit=1"},
               {"private-register", "commit=1"},
               {"private-global", "copies=5"},
               {"aggregated", ""},
               {"aggregated", "contiguous=1"},
               {"aggregated", "contiguous=1,commit=1"}};
    static const double edges[] = {'a', 'e', 'i', 'm', 'q', 'u', 'y', 'z' + 1};
    static unsigned char samples[n];
    tally_axis axis = tally_axis_edges(letter_bins, edges);
    uint64_t under = 0, over = 0;
    axis.last = TALLY_LAST_OPEN;
    for (int i = 0; i < n; i++) {
        samples[i] = i && below(3) ? samples[i - 1] : (unsigned char)(' ' + below(96)); /* runs */
        under += samples[i] < 'a';
        over += samples[i] > 'z';
    }
    for (size_t s = 0; s < sizeof all / sizeof *all; s++) {
        uint64_t want[letter_bins], got[letter_bins];
        tally_flows flows = {0, 0, 0, 0};
        tally_plan *plan =
            plan_of(all[s].method, all[s].settings, TALLY_U8, axis, TALLY_COUNTER_U64);
        listing_001(samples, n, strstr(all[s].settings, "contiguous") != NULL, want);
        CHECK_SAY(plan && run(plan, samples, TALLY_U8, n, got, &flows) &&
                      !memcmp(got, want, sizeof got),
                  "counts as the listing's: %s: %s", all[s].method, all[s].settings);
        CHECK_SAY(flows.under == under && flows.over == over, "what the listing skips: %s: %s",
                  all[s].method, all[s].settings);
        tally_plan_destroy(plan);
    }
}

/* ---- 002: 64 and 256 bins ---- */

static void test_whitepaper(void)
{
    enum { n = 100000 };
    static const struct {
        const char *method, *settings;
        unsigned bins;
    } all[] = {{"podlozhnyuk-64", "merge=1", 64},
               {"podlozhnyuk-64", "banks=32,merge=1", 64},
               {"podlozhnyuk-64", "banks=32,group=256", 64},
               {"podlozhnyuk-256", "merge=1", 256},
               {"podlozhnyuk-256-tag", "merge=1", 256}};
    static unsigned char samples[n];
    for (int i = 0; i < n; i++)
        samples[i] = (unsigned char)(i < n / 2 ? 255 : below(256)); /* 252 of one a work-item */
    for (size_t s = 0; s < sizeof all / sizeof *all; s++) {
        const unsigned bins = all[s].bins;
        uint64_t want[256] = {0}, got[256];
        tally_plan *plan = plan_of(all[s].method, all[s].settings, TALLY_U8,
                                   tally_axis_even(bins, 0, 256), TALLY_COUNTER_U64);
        for (int i = 0; i < n; i++)
            want[samples[i] / (256 / bins)]++;
        CHECK_SAY(plan && run(plan, samples, TALLY_U8, n, got, NULL) &&
                      !memcmp(got, want, bins * sizeof *got),
                  "counts as the listing's: %s: %s", all[s].method, all[s].settings);
        tally_plan_destroy(plan);
    }
}

/* ---- 003: TRISH, counters of 8 bits ---- */

enum { trish_threads = 64, trish_rows = 64 };

/* Every thread's words, of four counters each, without row sums on the way: a counter that passes
 * 255 runs over into its neighbour, and out of the last. */
static void listing_003(const unsigned char *samples, uint64_t n, uint64_t k, uint64_t blocks,
                        uint64_t *counts)
{
    const uint64_t turn = k * trish_threads;
    uint32_t *tables = calloc(blocks * trish_threads * trish_rows, sizeof *tables);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t word = i / 4, block = word / turn % blocks, thread = word % trish_threads;
        tables[(block * trish_threads + thread) * trish_rows + samples[i] / 4] +=
            UINT32_C(1) << samples[i] % 4 * 8;
    }
    memset(counts, 0, 256 * sizeof *counts);
    for (uint64_t i = 0; i < blocks * trish_threads * 256; i++)
        counts[i % 256] += tables[i / 4] >> i % 4 * 8 & 255;
    free(tables);
}

static void test_trish(void)
{
    static const char *const settings[] = {"k=31,batch=4,blocks-per-sm=3", "k=1,pairs=0",
                                           "k=31,accumulate=0,blocks-per-sm=1",
                                           "k=1,accumulate=0,blocks-per-sm=1"};
    static const unsigned k[] = {31, 1, 31, 1};
    tally_plan *one_a_unit =
        plan_of("trish", settings[3], TALLY_U8, tally_axis_integer(256, 0), TALLY_COUNTER_U64);
    /* Three quarters of 1 000 bytes a thread are of one value, where a multiprocessor has one
     * block. */
    const uint64_t n = groups_of(one_a_unit, UINT64_C(1) << 30) * trish_threads * UINT64_C(1000);
    unsigned char *samples = malloc(n);
    for (uint64_t i = 0; i < n; i++)
        samples[i] = (unsigned char)(below(4) ? below(256) : 77);
    tally_plan_destroy(one_a_unit);
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        const int whole = strstr(settings[s], "accumulate") == NULL;
        uint64_t want[256] = {0}, got[256], exact[256] = {0};
        tally_plan *plan =
            plan_of("trish", settings[s], TALLY_U8, tally_axis_integer(256, 0), TALLY_COUNTER_U64);
        for (uint64_t i = 0; i < n; i++)
            exact[samples[i]]++;
        if (!whole)
            listing_003(samples, n, k[s], plan ? groups_of(plan, n) : 1, want);
        CHECK_SAY(whole || memcmp(want, exact, sizeof want), "counters overflow: trish: %s",
                  settings[s]);
        CHECK_SAY(plan && run(plan, samples, TALLY_U8, n, got, NULL) &&
                      !memcmp(got, whole ? exact : want, sizeof got),
                  "counts as the listing's: trish: %s", settings[s]);
        tally_plan_destroy(plan);
    }
    free(samples);
}

/* The paper's future work: any type, at most 256 bins. More than 255 of one bin a thread. */
static void test_trish_bins(void)
{
    enum { n = 200000 };
    static const struct {
        const char *settings;
        unsigned bins;
    } all[] = {{"k=1", 2}, {"", 100}, {"k=31", 256}};
    float *samples = malloc(n * sizeof *samples);
    for (size_t s = 0; s < sizeof all / sizeof *all; s++) {
        const unsigned bins = all[s].bins;
        uint64_t want[256] = {0}, got[256], under = 0, over = 0;
        tally_flows flows = {0, 0, 0, 0};
        for (int i = 0; i < n; i++) {
            const int bin = below(4) ? (int)bins - 1 : (int)below(bins + 2) - 1;
            samples[i] = (float)bin + 0.5f;
            under += bin < 0;
            over += bin == (int)bins;
            if (bin >= 0 && bin < (int)bins)
                want[bin]++;
        }
        tally_plan *plan = plan_of("trish-bins", all[s].settings, TALLY_F32,
                                   tally_axis_even(bins, 0, bins), TALLY_COUNTER_U64);
        CHECK_SAY(plan && run(plan, samples, TALLY_F32, n, got, &flows) &&
                      !memcmp(got, want, bins * sizeof *got) && flows.under == under &&
                      flows.over == over,
                  "counts: trish-bins: %s", all[s].settings);
        tally_plan_destroy(plan);
    }
    free(samples);
}

/* ---- all ---- */

int main(int argc, char **argv)
{
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL) * 1000003;
    printf("seed %llu\n", (unsigned long long)state);
    fflush(stdout);
    context = open_device(argc > 1 ? argv[1] : NULL);
    if (!context)
        return 77;
    test_saturating("saturating-shared", 64, 64);
    test_saturating("saturating-shared", 1024, 1024);
    test_saturating("saturating-shared-strided", 2048, 256);
    test_tree();
    test_letters();
    test_whitepaper();
    test_trish();
    test_trish_bins();
    tally_context_destroy(context);
    printf("%u checks, %u failed\n", checks, failures);
    return failures || !checks;
}
