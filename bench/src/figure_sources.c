/* The experiments of sources 000, 001, 002 and 004, and all methods side by side. */
#include <math.h>

#include "figure.h"

/* ---- 000: a tree of flags against atomics ---- */

static int reduce_series(figure_run *run, const char *method, uint64_t bins, int from_host)
{
    char series[64];
    uint64_t most = figure_most(run, from_host ? 100000000 : 1000000000, 10000, TALLY_F32);
    int code = BENCH_OK;
    snprintf(series, sizeof series, "%s, %llu bins%s", strcmp(method, "auto") ? method : "Tally",
             (unsigned long long)bins, from_host ? ", from the host" : "");
    for (uint64_t n = run->quick ? 1000 : 100000; n <= most && !code; n *= 10) {
        figure_try one = {.series = series,
                          .x = (double)n,
                          .method = method,
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

int figure_reduce(figure_run *run)
{
    static const uint64_t bins[] = {16, 64, 256};
    int code = BENCH_OK;
    for (size_t b = 0; b < 3 && !code; b++)
        code = reduce_series(run, "reduce-tree", bins[b], 0);
    for (size_t b = 0; b < 3 && !code; b++)
        code = reduce_series(run, "atomic-local", bins[b], 0);
    if (!code)
        code = reduce_series(run, "atomic-local", 64, 1);
    return code ? code : reduce_series(run, "auto", 64, 0);
}

/* ---- 001: one optimisation after the other, on text ---- */

int figure_optimise(figure_run *run)
{
    static const char *const methods[] = {
        "atomic-global", "coarsened", "private-shared", "private-register", "private-global",
        "aggregated",    "auto"};
    static const char *const labels[] = {"naive",
                                         "coarsened",
                                         "private,\nshared",
                                         "private,\nregisters",
                                         "private,\nglobal copies",
                                         "aggregated",
                                         "Tally"};
    static const char *const data[][2] = {{"a book", "text"}, {"random letters", "letters"}};
    uint64_t n = figure_most(run, UINT64_C(1) << 28, 1 << 18, TALLY_U8);
    int code = BENCH_OK;
    for (size_t d = 0; d < 2; d++) {
        double naive = NAN;
        for (size_t m = 0; m < 7 && !code; m++) {
            figure_try one = {.series = data[d][0],
                              .label = labels[m],
                              .method = methods[m],
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
        const char *series, *method;
        uint64_t bins;
    } all[] = {{"64 bins", "podlozhnyuk-64", 64},
               {"256 bins, tag", "podlozhnyuk-256-tag", 256},
               {"256 bins, atomics", "podlozhnyuk-256", 256}};
    static const char *const data[] = {"uniform", "zeros"};
    uint64_t most = figure_most(run, UINT64_C(1) << 30, 1 << 18, TALLY_U8);
    int code = BENCH_OK;
    for (size_t i = 0; i < 3; i++)
        for (size_t d = 0; d < 2; d++)
            for (uint64_t n = 1 << 16; n <= most && !code; n *= 4) {
                char series[64];
                snprintf(series, sizeof series, "%s, %s", all[i].series, data[d]);
                figure_try one = {.series = series,
                                  .x = (double)n,
                                  .method = all[i].method,
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

/* Updates of global memory: an addition and a minimum a sample, or a bin of each group. */
static void count_updates(figure_run *run, const figure_try *one)
{
    bench_line *line = figure_last(run);
    if (!line || one->on_host)
        return;
    double groups = bench_line_number(line, "groups");
    double each =
        strcmp(one->method, "saturating-global") == 0 ? (double)one->n : groups * (double)one->bins;
    bench_set_number(line, "global_updates", 2 * each);
}

static int saturate(figure_run *run, const char *name, const char *method, uint64_t n,
                    uint64_t bins)
{
    char series[64];
    int on_host = strcmp(method, "saturating-serial") == 0;
    snprintf(series, sizeof series, n < 10000000 ? "%s, %.3g k" : "%s, %.3g G", name,
             (double)n * (n < 10000000 ? 1e-3 : 1e-9));
    figure_try one = {.series = series,
                      .x = (double)bins,
                      .method = method,
                      .data = "uniform",
                      .dtype = TALLY_U16,
                      .n = n,
                      .bins = bins,
                      .hi = (double)bins,
                      .counter = TALLY_COUNTER_U16SAT,
                      .on_host = on_host};
    int code = figure_measure(run, &one);
    if (!code)
        count_updates(run, &one);
    return code;
}

/* Samples depend on the bins: what needs the same ones is measured together. */
int figure_saturating(figure_run *run)
{
    static const char *const kernels[][2] = {{"naive", "saturating-global"},
                                             {"shared", "saturating-shared"},
                                             {"shared, strided", "saturating-shared-strided"}};
    uint64_t most = figure_most(run, 2000000000, 200000, TALLY_U16);
    int code = BENCH_OK;
    for (uint64_t bins = 128; bins <= 2048 && !code; bins *= 2) {
        code = saturate(run, "host", "saturating-serial", run->quick ? 50000 : 100000000, bins);
        for (uint64_t n = most / 2; n <= most && !code; n += most / 2)
            for (size_t k = 0; k < 3 && !code; k++)
                if (k != 1 || bins <= 1024) /* it has a work-item a bin */
                    code = saturate(run, kernels[k][0], kernels[k][1], n, bins);
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
                      .n = figure_most(run, UINT64_C(1) << 29, 1 << 16, TALLY_U8),
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
