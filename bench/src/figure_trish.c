/* SPDX-License-Identifier: Apache-2.0 */
/* The experiments of source 003: TRISH, compared with Podlozhnyuk's and Nugteren's methods. */
#include <math.h>

#include "figure.h"

/* The paper's means are of 100 runs. */
static figure_try bytes(const char *series, const char *method, const char *data, uint64_t n)
{
    return (figure_try){.series = series,
                        .method = method,
                        .data = data,
                        .dtype = TALLY_U8,
                        .n = n,
                        .bins = 256,
                        .hi = 256,
                        .every_run = 1};
}

/* As the paper ran it: three blocks a multiprocessor, words binned in batches of four. */
#define AS_PUBLISHED "batch=4,blocks-per-sm=3"

/* Ways of running TRISH. */
static const struct {
    const char *name, *set;
} ways[] = {{"TRISH, as published", AS_PUBLISHED},
            {"TRISH, 3 blocks", "blocks-per-sm=3"},
            {"TRISH, batches", "batch=4"},
            {"TRISH", ""}};
enum { WAYS = sizeof ways / sizeof *ways };

/* ---- figure 4 ---- */

/* The speeds of a series by that of its line at k = 31. */
static void relate(figure_run *run, const char *series)
{
    double base = NAN;
    for (int give = 0; give < 2 && !run->counting; give++)
        for (size_t i = 0; i < run->lines.count; i++) {
            bench_line *line = &run->lines.all[i];
            if (strcmp(bench_line_text(line, "series", ""), series) != 0)
                continue;
            if (give)
                bench_set_number(line, "relative", bench_line_number(line, "gbps") / base);
            else if (bench_line_number(line, "x") == 31)
                base = bench_line_number(line, "gbps");
        }
}

/* Every k, and how much of a row sum's capacity it uses. */
int figure_trish_k(figure_run *run)
{
    static const unsigned few[] = {1, 31, 32, 63};
    uint64_t n = figure_most(run, UINT64_C(1) << 28, 1 << 18, TALLY_U8);
    unsigned count = run->quick ? 4 : 63;
    int code = BENCH_OK;
    for (size_t w = 0; w < WAYS && !code; w++) {
        for (unsigned i = 0; i < count && !code; i++) {
            unsigned k = run->quick ? few[i] : i + 1;
            char set[64];
            figure_try one = bytes(ways[w].name, "trish", "uniform", n);
            snprintf(set, sizeof set, "k=%u%s%s", k, *ways[w].set ? "," : "", ways[w].set);
            one.set = set;
            one.x = k;
            code = figure_measure(run, &one);
            if (figure_last(run))
                bench_set_number(figure_last(run), "efficiency", 63 / k * k / 63.0);
        }
        relate(run, ways[w].name);
    }
    return code;
}

/* ---- figures 6 and 7 ---- */

static const struct {
    const char *series, *method, *set;
} rivals[] = {{"TRISH", "trish", ""},         {"TRISH, as published", "trish", AS_PUBLISHED},
              {"POD", "podlozhnyuk-256", ""}, {"NUG", "nugteren", ""},
              {"Tally", "auto", ""},          {"POD, tagged", "podlozhnyuk-256-tag", ""}};
enum { ON_SIZES = 6, ON_IMAGES = 5 }; /* of them: the tag is not on images */

static int rival(figure_run *run, size_t r, figure_try *one)
{
    one->series = rivals[r].series;
    one->method = rivals[r].method;
    one->set = rivals[r].set;
    return figure_measure(run, one);
}

/* Size and data: 2^13 to 2^28 words, as the paper's axis. */
int figure_trish_throughput(figure_run *run)
{
    static const char *const data[] = {"uniform", "zeros", "linear"};
    uint64_t most = figure_most(run, UINT64_C(1) << 30, 1 << 18, TALLY_U8);
    int code = BENCH_OK;
    for (size_t d = 0; d < 3; d++)
        for (size_t r = 0; r < ON_SIZES; r++)
            for (uint64_t n = 1 << 15; n <= most && !code; n *= run->quick ? 8 : 2) {
                figure_try one = bytes(NULL, NULL, data[d], n);
                one.panel = data[d];
                one.x = (double)n;
                code = rival(run, r, &one);
            }
    return code;
}

/* Pictures, tiled to the paper's sizes. */
int figure_trish_images(figure_run *run)
{
    static const char *const images[] = {"camera", "cat", "phantom", "cat-rgba"};
    int code = BENCH_OK;
    for (size_t i = 0; i < 4; i++)
        for (uint64_t side = 256; side <= (run->quick ? 256 : 4096); side *= 2)
            for (size_t r = 0; r < ON_IMAGES && !code; r++) {
                uint64_t n = side * side * (i == 3 ? 4 : 1);
                if (n > figure_most(run, UINT64_C(1) << 30, 1 << 18, TALLY_U8))
                    continue;
                figure_try one = bytes(NULL, NULL, images[i], n);
                one.panel = images[i];
                one.side = side;
                one.x = (double)side;
                code = rival(run, r, &one);
            }
    return code;
}

/* ---- section 6.2 ---- */

static double speed(const figure_run *run, size_t line)
{
    return bench_line_number(&run->lines.all[line], "gbps");
}

/* What accumulating costs, by pairs and by bytes, and what k and occupancy bring; as published,
 * then with all that fit. The factor of instruction-level parallelism as the paper derives it,
 * which adds what leaving the row sums out brings at k = 31 to the speed at k = 1, and of k = 1
 * without row sums. */
int figure_trish_ablation(figure_run *run)
{
    enum { FULL, NO_SUMS, ONE, ONE_NO_SUMS, WHOLE = 4 };
    static const struct {
        const char *label, *set;
        int timing_only;
    } all[] = {{"k = 31\n3 blocks", AS_PUBLISHED, 0},
               {"k = 31\nno sums\n3 blocks", "accumulate=0," AS_PUBLISHED, 1},
               {"k = 1\n3 blocks", "k=1," AS_PUBLISHED, 0},
               {"k = 1\nno sums\n3 blocks", "k=1,accumulate=0," AS_PUBLISHED, 1},
               {"k = 31\nall that fit", "", 0},
               {"k = 31\nno sums\nall that fit", "accumulate=0", 1},
               {"k = 1\nall that fit", "k=1", 0},
               {"k = 1\nno sums\nall that fit", "k=1,accumulate=0", 1},
               {"k = 31\nbyte sums\n3 blocks", "pairs=0," AS_PUBLISHED, 0},
               {"k = 31\n2 blocks", "batch=4,blocks-per-sm=2", 0},
               {"k = 31\n1 block", "batch=4,blocks-per-sm=1", 0}};
    uint64_t n = figure_most(run, UINT64_C(1) << 28, 1 << 18, TALLY_U8);
    int code = BENCH_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !code; i++) {
        figure_try one = bytes("TRISH", "trish", "uniform", n);
        one.label = all[i].label;
        one.set = all[i].set;
        one.timing_only = all[i].timing_only;
        code = figure_measure(run, &one);
        if (figure_last(run))
            bench_set_number(figure_last(run), "relative", speed(run, i) / speed(run, 0));
    }
    for (size_t at = 0; !run->counting && at < 2 * WHOLE && at + WHOLE <= run->lines.count;
         at += WHOLE) {
        double full = speed(run, at + FULL), bare = speed(run, at + NO_SUMS);
        bench_set_number(&run->lines.all[at + ONE], "ilp_factor",
                         bare / (speed(run, at + ONE) + bare - full));
        bench_set_number(&run->lines.all[at + ONE_NO_SUMS], "ilp_factor",
                         bare / speed(run, at + ONE_NO_SUMS));
    }
    return code;
}

/* ---- table 1 ---- */

/* The methods as the profiler sees them: bench/counters.sh adds its counters. */
int figure_trish_table(figure_run *run)
{
    static const struct {
        const char *label, *method, *set;
    } all[] = {{"TRISH,\nas published", "trish", AS_PUBLISHED},
               {"TRISH", "trish", ""},
               {"POD", "podlozhnyuk-256", ""},
               {"NUG", "nugteren", ""}};
    uint64_t n = figure_most(run, UINT64_C(1) << 28, 1 << 18, TALLY_U8);
    double base = NAN;
    int code = BENCH_OK;
    for (size_t m = 0; m < 4 && !code; m++) {
        figure_try one = bytes("measured", all[m].method, "uniform", n);
        one.label = all[m].label;
        one.set = all[m].set;
        code = figure_measure(run, &one);
        if (!figure_last(run))
            continue;
        base = m ? base : bench_line_number(figure_last(run), "median_s");
        bench_set_number(figure_last(run), "ratio",
                         bench_line_number(figure_last(run), "median_s") / base);
    }
    return code;
}
