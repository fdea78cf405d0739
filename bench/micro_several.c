/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples in the host's memory counted by contexts of one and of several devices, in turns, by the
 * clock on the wall; counts are compared. JSON lines on standard output.
 *
 *     micro_several [-m MIB] [-r REPEATS] LIST OF DEVICES…       cpu cuda:0 'cuda:*' 'cuda:*,cpu'
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tally/tally.h>

#include "micro.h"

enum { most_lists = 16, most_bins = 1 << 20 };

static const uint64_t all_bins[] = {256, 65536, most_bins};
static tally_context *contexts[most_lists];
static uint64_t want[most_bins], got[most_bins];

static void check(tally_status status, const char *what, const tally_error *error)
{
    if (!status)
        return;
    fprintf(stderr, "micro_several: %s: %s\n", what, error->message);
    exit(1);
}

/* Seconds of one call. */
static double count(const tally_plan *plan, const float *samples, uint64_t n, uint64_t *counts)
{
    const tally_view view = tally_view_1d(samples, TALLY_F32, n);
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    const double begin = now();
    output.counts = counts;
    check(tally_execute(plan, &view, NULL, &output, &error), "counting", &error);
    return now() - begin;
}

static int time_bins(char **lists, int count_of, uint64_t bins, const float *samples, uint64_t n,
                     int repeats)
{
    tally_plan *plans[most_lists];
    double best[most_lists];
    int wrong = 0;
    for (int i = 0; i < count_of; i++) {
        tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
        tally_error error = {""};
        options.axes[0] = tally_axis_even(bins, 0, 1);
        options.dtypes[0] = TALLY_F32;
        options.n_hint = n;
        check(tally_plan_create(contexts[i], &options, &plans[i], &error), lists[i], &error);
        best[i] = count(plans[i], samples, n, i ? got : want);
        wrong += i && memcmp(got, want, bins * sizeof *got) != 0;
    }
    for (int r = 0; r < repeats; r++)
        for (int i = 0; i < count_of; i++) {
            const double seconds = count(plans[i], samples, n, got);
            best[i] = seconds < best[i] ? seconds : best[i];
            wrong += memcmp(got, want, bins * sizeof *got) != 0;
        }
    for (int i = 0; i < count_of; i++) {
        printf("{\"devices\":\"%s\",\"dtype\":\"f32\",\"bins\":%llu,\"bytes\":%llu,\"min_s\":%g,"
               "\"gbps\":%.2f,"
               "\"same\":%s}\n",
               lists[i], (unsigned long long)bins, (unsigned long long)(n * 4), best[i],
               (double)n * 4e-9 / best[i], wrong ? "false" : "true");
        fprintf(stderr, "%8llu bins  %-16s %8.2f GB/s\n", (unsigned long long)bins, lists[i],
                (double)n * 4e-9 / best[i]);
        tally_plan_destroy(plans[i]);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    uint64_t n = (uint64_t)2048 << 18, state = 1;
    int repeats = 5, option, wrong = 0;
    while ((option = getopt(argc, argv, "m:r:")) != -1) {
        if (option == 'm')
            n = strtoull(optarg, NULL, 0) << 18;
        else if (option == 'r')
            repeats = atoi(optarg);
        else
            return 2;
    }
    char **lists = argv + optind;
    const int count_of = argc - optind;
    float *samples = malloc(n * sizeof *samples);
    if (!samples || count_of < 1 || count_of > most_lists)
        return 2;
    for (uint64_t i = 0; i < n; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        samples[i] = (float)(state >> 40) * 0x1p-24f;
    }
    for (int i = 0; i < count_of; i++) {
        tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
        tally_error error = {""};
        options.devices = lists[i];
        check(tally_context_create(&options, &contexts[i], &error), lists[i], &error);
    }
    for (size_t b = 0; b < sizeof all_bins / sizeof *all_bins; b++)
        wrong += time_bins(lists, count_of, all_bins[b], samples, n, repeats);
    for (int i = 0; i < count_of; i++)
        tally_context_destroy(contexts[i]);
    free(samples);
    return wrong != 0;
}
