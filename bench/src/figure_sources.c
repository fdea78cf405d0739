/* SPDX-License-Identifier: Apache-2.0 */
/* The experiments of sources 000, 001, 002 and 004, and all methods side by side. */
#include <math.h>

#include "figure.h"

/* ---- 000: a tree of flags against atomics ---- */

static int reduce_series(figure_run *run, const char *name, const char *method, const char *set,
                         uint64_t bins, int from_host)
{
    char series[64];
    uint64_t most = figure_most(run, 100000000, 1000, TALLY_F32);
    int code = BENCH_OK;
    snprintf(series, sizeof series, "%s, %llu bins%s", name, (unsigned long long)bins,
             from_host ? ", from the host" : "");
    for (uint64_t n = run->quick ? 1000 : 100000; n <= most && !code; n *= 10) {
        figure_try one = {.series = series,
                          .x = (double)n,
                          .method = method,
                          .set = set,
                          .data = "uniform",
                          .dtype = TALLY_F32,
                          .n = n,
                          .bins = bins,
                          .hi = 1,
                          .from_host = from_host};
        code = figure_measure(run, &one);
    }
    return code;
}

/* With the samples in device memory, and copied there by each call. */
int figure_reduce(figure_run *run)
{
    static const struct {
        const char *name, *method, *set;
    } all[] = {{"tree, as published", "reduce-tree", "compares=1,host=1"},
               {"tree", "reduce-tree", ""},
               {"atomics", "atomic-local", ""}};
    static const uint64_t bins[] = {16, 64, 256};
    int code = BENCH_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t b = 0; b < 3 && !code; b++)
            code = reduce_series(run, all[i].name, all[i].method, all[i].set, bins[b], 0);
    for (size_t i = 0; i < sizeof all / sizeof *all && !code; i++)
        code = reduce_series(run, all[i].name, all[i].method, all[i].set, 64, 1);
    for (int from_host = 0; from_host < 2 && !code; from_host++)
        code = reduce_series(run, "Tally", "auto", "", 64, from_host);
    return code;
}

/* ---- 001: one optimisation after the other, on text ---- */

int figure_optimise(figure_run *run)
{
    static const struct {
        const char *label, *method, *set;
    } all[] = {{"naive", "atomic-global", ""},
               {"coarsened", "coarsened", ""},
               {"coarsened,\nin a row", "coarsened", "contiguous=1"},
               {"private,\nshared", "private-shared", "commit=1"},
               {"shared,\nmerged", "private-shared", ""},
               {"private,\nregisters", "private-register", "commit=1"},
               {"private,\nglobal copies", "private-global", ""},
               {"aggregated", "aggregated", "commit=1"},
               {"aggregated,\nin a row", "aggregated", "contiguous=1,commit=1"},
               {"Tally", "auto", ""}};
    static const char *const data[][2] = {
        {"a book", "text"}, {"random letters", "letters"}, {"letters in runs", "runs"}};
    uint64_t n = figure_most(run, UINT64_C(1) << 28, 1 << 18, TALLY_U8);
    int code = BENCH_OK;
    for (size_t d = 0; d < 3; d++) {
        double naive = NAN;
        for (size_t m = 0; m < sizeof all / sizeof *all && !code; m++) {
            figure_try one = {.series = data[d][0],
                              .label = all[m].label,
                              .method = all[m].method,
                              .set = all[m].set,
                              .data = data[d][1],
                              .dtype = TALLY_U8,
                              .n = n,
                              .bins = 7};
            code = figure_measure(run, &one);
            if (!figure_last(run))
                continue;
            naive = m ? naive : bench_line_number(figure_last(run), "median_s");
            bench_set_number(figure_last(run), "speedup",
                             naive / bench_line_number(figure_last(run), "median_s"));
        }
    }
    return code;
}

/* ---- 002: 64 and 256 bins ---- */

int figure_whitepaper(figure_run *run)
{
    static const struct {
        const char *series, *method, *set;
        uint64_t bins;
    } all[] = {{"64 bins", "podlozhnyuk-64", "merge=1", 64},
               {"64 bins, 32 banks", "podlozhnyuk-64", "banks=32,merge=1", 64},
               {"64 bins, our merge", "podlozhnyuk-64", "", 64},
               {"256 bins, tag", "podlozhnyuk-256-tag", "merge=1", 256},
               {"256 bins, atomics", "podlozhnyuk-256", "merge=1", 256},
               {"256 bins, our merge", "podlozhnyuk-256", "", 256}};
    static const char *const data[] = {"uniform", "zeros"};
    uint64_t most = figure_most(run, UINT64_C(1) << 30, 1 << 18, TALLY_U8);
    int code = BENCH_OK;
    for (size_t d = 0; d < 2; d++)
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            for (uint64_t n = 1 << 16; n <= most && !code; n *= 4) {
                char series[64];
                snprintf(series, sizeof series, "%s, %s", all[i].series, data[d]);
                figure_try one = {.series = series,
                                  .x = (double)n,
                                  .method = all[i].method,
                                  .set = all[i].set,
                                  .data = data[d],
                                  .dtype = TALLY_U8,
                                  .n = n,
                                  .bins = all[i].bins,
                                  .hi = 256,
                                  .merge = 1};
                code = figure_measure(run, &one);
            }
    return code;
}

/* ---- 004: counters that stick ---- */

/* What a launch reads and writes of global memory, each atomic as a read and a write: an addition
 * and a minimum for a sample, or for a bin of each group. */
static void count_traffic(figure_run *run, const figure_try *one)
{
    bench_line *line = figure_last(run);
    if (!line)
        return;
    double n = (double)one->n, seconds = bench_line_number(line, "median_s");
    bench_set_number(line, "billion_s", seconds / n * 1e9);
    if (one->on_host)
        return;
    double groups = bench_line_number(line, "groups");
    double atomics =
        2 * (strcmp(one->method, "saturating-global") == 0 ? n : groups * (double)one->bins);
    bench_set_number(line, "reads_a_sample", (n + atomics) / n);
    bench_set_number(line, "writes_a_sample", atomics / n);
}

static int saturate(figure_run *run, const char *name, const char *method, const char *set,
                    const char *data, uint64_t bins)
{
    int on_host = strcmp(method, "saturating-serial") == 0, all = strcmp(data, "uniform") == 0;
    uint64_t n = on_host ? 20000000 : all ? 1000000000 : 200000000;
    figure_try one = {.panel = data,
                      .series = name,
                      .x = (double)bins,
                      .method = method,
                      .set = set,
                      .data = data,
                      .dtype = TALLY_F32,
                      .n = figure_most(run, n, 20000, TALLY_F32),
                      .bins = bins,
                      .hi = 1,
                      .counter = TALLY_COUNTER_U16SAT,
                      .on_host = on_host};
    int code = figure_measure(run, &one);
    if (!code)
        count_traffic(run, &one);
    return code;
}

/* The two kernels of the report, which takes the second where a group has too few work-items for
 * the first; and the second for all numbers of bins. */
int figure_saturating(figure_run *run)
{
    static const char *const data[] = {"uniform", "rare"};
    enum { MOST_ITEMS = 1024 };
    int code = BENCH_OK;
    for (size_t d = 0; d < 2; d++)
        for (uint64_t bins = 64; bins <= 2048 && !code; bins *= run->quick ? 32 : 2) {
            const char *shared =
                bins > MOST_ITEMS ? "saturating-shared-strided" : "saturating-shared";
            const char *const all[][3] = {
                {"host", "saturating-serial", ""},
                {"naive", "saturating-global", ""},
                {"optimized, as published", shared, "elements=1,clear=1"},
                {"optimized, cleared once", shared, "elements=1"},
                {"groups that stay", shared, ""},
                {"groups that stay, strided", "saturating-shared-strided", ""}};
            for (size_t k = 0; k < sizeof all / sizeof *all && !code; k++)
                if (k != 4 || bins <= MOST_ITEMS) /* else the next is the same */
                    code = saturate(run, all[k][0], all[k][1], all[k][2], data[d], bins);
        }
    return code;
}

/* ---- all of them ---- */

static const char *group_of(const char *source)
{
    static const char *const groups[][2] = {
        {"000", "a post, two reductions"}, {"001", "lecture notes"},    {"002", "whitepaper, 2009"},
        {"003", "TRISH paper, 2012"},      {"004", "lab report, 2020"}, {"tally", "Tally's own"}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strncmp(source, groups[i][0], strlen(groups[i][0])) == 0)
            return groups[i][1];
    return source;
}

static int today_method(figure_run *run, const char *name, const char *label, const char *group,
                        const char *data)
{
    int saturating = strncmp(name, "saturating", 10) == 0;
    uint64_t bins = strcmp(name, "podlozhnyuk-64") == 0     ? 64
                    : strcmp(name, "private-register") == 0 ? 16
                                                            : 256;
    figure_try one = {.series = group,
                      .label = label,
                      .method = name,
                      .data = data,
                      .dtype = TALLY_U8,
                      .n = figure_most(run, UINT64_C(1) << 28, 1 << 16, TALLY_U8),
                      .bins = bins,
                      .hi = 256,
                      .counter = saturating ? TALLY_COUNTER_U16SAT : TALLY_COUNTER_U64};
    return figure_measure(run, &one);
}

int figure_today(figure_run *run)
{
    static const char *const data[] = {"zeros", "uniform", "ramp", "ninety", "text", "camera"};
    const char *kind = run->info.device == TALLY_DEVICE_CUDA ? "cuda" : "opencl";
    int code = BENCH_OK;
    for (size_t d = 0; d < (run->quick ? 2 : 6) && !code; d++) {
        for (uint32_t m = 0; m < tally_method_count() && !code; m++) {
            tally_method_info info = {.struct_size = sizeof info};
            if (tally_method_get(m, &info, NULL) == TALLY_OK && strstr(info.devices, kind) &&
                strstr(info.dtypes, "u8") && strcmp(info.name, "weighted") != 0)
                code = today_method(run, info.name, info.name, group_of(info.source), data[d]);
        }
        if (!code)
            code = today_method(run, "auto", "auto", "Tally's own", data[d]);
    }
    return code;
}
