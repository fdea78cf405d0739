/* The experiments of source 003: TRISH, compared with Podlozhnyuk's and Nugteren's methods. */
#include <math.h>

#include "figure.h"

static figure_try bytes(const char *series, const char *method, const char *data, uint64_t n)
{
    return (figure_try){.series = series,
                        .method = method,
                        .data = data,
                        .dtype = TALLY_U8,
                        .n = n,
                        .bins = 256,
                        .hi = 256};
}

/* Every line's speed by that of the line with k = 31. */
static void relate(figure_run *run)
{
    double base = NAN;
    for (size_t i = 0; i < run->lines.count && !run->counting; i++)
        if (strcmp(bench_line_text(&run->lines.all[i], "set", ""), "k=31") == 0)
            base = bench_line_number(&run->lines.all[i], "gbps");
    for (size_t i = 0; i < run->lines.count && !run->counting; i++)
        bench_set_number(&run->lines.all[i], "relative",
                         bench_line_number(&run->lines.all[i], "gbps") / base);
}

/* Figure 4: every k, and how much of a row sum's capacity it uses. */
int figure_trish_k(figure_run *run)
{
    static const unsigned few[] = {1, 31, 32, 63};
    uint64_t n = figure_most(run, UINT64_C(1) << 28, 1 << 18, TALLY_U8);
    unsigned count = run->quick ? 4 : 63;
    int code = BENCH_OK;
    for (unsigned i = 0; i < count && !code; i++) {
        unsigned k = run->quick ? few[i] : i + 1;
        char set[16];
        figure_try one = bytes("TRISH", "trish", "uniform", n);
        snprintf(set, sizeof set, "k=%u", k);
        one.set = set;
        one.x = k;
        code = figure_measure(run, &one);
        if (figure_last(run))
            bench_set_number(figure_last(run), "efficiency", 63 / k * k / 63.0);
    }
    relate(run);
    return code;
}

/* Figure 6: size and data. */
int figure_trish_throughput(figure_run *run)
{
    static const struct {
        const char *series, *method, *data;
    } all[] = {{"TRISH, uniform", "trish", "uniform"},
               {"POD, linear", "podlozhnyuk-256", "ramp"},
               {"POD, uniform", "podlozhnyuk-256", "uniform"},
               {"POD, zeros", "podlozhnyuk-256", "zeros"},
               {"POD tagged, linear", "podlozhnyuk-256-tag", "ramp"},
               {"POD tagged, uniform", "podlozhnyuk-256-tag", "uniform"},
               {"POD tagged, zeros", "podlozhnyuk-256-tag", "zeros"},
               {"NUG, uniform", "nugteren", "uniform"},
               {"Tally, uniform", "auto", "uniform"}};
    uint64_t most = figure_most(run, UINT64_C(1) << 32, 1 << 18, TALLY_U8);
    int code = BENCH_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (uint64_t n = 8192; n <= most && !code; n *= n < UINT64_C(1) << 28 ? 2 : 4) {
            if (run->quick && n != 8192 && n * 4 <= most)
                continue;
            figure_try one = bytes(all[i].series, all[i].method, all[i].data, n);
            one.x = (double)n;
            code = figure_measure(run, &one);
        }
    return code;
}

/* Figure 7: photographs. */
int figure_trish_images(figure_run *run)
{
    static const char *const images[] = {"camera", "coins", "cat", "cat-rgba"};
    static const char *const methods[][2] = {
        {"TRISH", "trish"}, {"POD", "podlozhnyuk-256"}, {"NUG", "nugteren"}, {"Tally", "auto"}};
    int code = BENCH_OK;
    for (size_t i = 0; i < 4; i++)
        for (size_t m = 0; m < 4; m++)
            for (uint64_t side = 256; side <= 16384 && !code; side *= 2) {
                uint64_t n = side * side * (i == 3 ? 4 : 1);
                if (n > figure_most(run, UINT64_C(1) << 30, 1 << 18, TALLY_U8) ||
                    (run->quick && side == 512))
                    break;
                figure_try one = bytes(methods[m][0], methods[m][1], images[i], n);
                one.panel = images[i];
                one.x = (double)side;
                code = figure_measure(run, &one);
            }
    return code;
}

/* Section 6.2: what accumulating costs, and what k and occupancy bring. */
int figure_trish_ablation(figure_run *run)
{
    static const struct {
        const char *label, *set;
        int timing_only;
    } all[] = {{"k = 31\n3 blocks", "blocks-per-sm=3", 0},
               {"no row sums\n3 blocks", "accumulate=0,blocks-per-sm=3", 1},
               {"k = 1\n3 blocks", "k=1,blocks-per-sm=3", 0},
               {"k = 31\n2 blocks", "blocks-per-sm=2", 0},
               {"k = 31\n1 block", "blocks-per-sm=1", 0},
               {"k = 31\n6 blocks", "blocks-per-sm=6", 0},
               {"k = 31\nall that fit", "", 0},
               {"no row sums\nall that fit", "accumulate=0", 1},
               {"k = 1\nall that fit", "k=1", 0}};
    uint64_t n = figure_most(run, UINT64_C(1) << 28, 1 << 18, TALLY_U8);
    double base = NAN;
    int code = BENCH_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !code; i++) {
        figure_try one = bytes("TRISH", "trish", "uniform", n);
        one.label = all[i].label;
        one.set = all[i].set;
        one.timing_only = all[i].timing_only;
        code = figure_measure(run, &one);
        if (!figure_last(run))
            continue;
        base = i ? base : bench_line_number(figure_last(run), "gbps");
        bench_set_number(figure_last(run), "relative",
                         bench_line_number(figure_last(run), "gbps") / base);
    }
    return code;
}

/* Table 1: the three methods, as the profiler sees them. */
int figure_trish_table(figure_run *run)
{
    static const char *const methods[][2] = {
        {"TRISH", "trish"}, {"POD", "podlozhnyuk-256"}, {"NUG", "nugteren"}};
    uint64_t n = figure_most(run, UINT64_C(1) << 28, 1 << 18, TALLY_U8);
    double base = NAN;
    int code = BENCH_OK;
    for (size_t m = 0; m < 3 && !code; m++) {
        figure_try one = bytes("measured", methods[m][1], "uniform", n);
        one.label = methods[m][0];
        code = figure_measure(run, &one);
        if (!figure_last(run))
            continue;
        base = m ? base : bench_line_number(figure_last(run), "median_s");
        bench_set_number(figure_last(run), "ratio",
                         bench_line_number(figure_last(run), "median_s") / base);
    }
    return code;
}
