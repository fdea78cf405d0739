/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured, as a table or as lines of JSON. */
#include <math.h>

#include "bench.h"
#include "lines.h"

static double speed(const bench_contender *contender, const bench_problem *problem)
{
    double bytes = bench_bytes(problem) / (double)problem->n * (double)contender->n;
    return bytes / contender->median * 1e-9;
}

/* The contender of this role on one thread or, `many`, on more. NULL: none, or it did not run. */
static const bench_contender *find(const bench_contenders *contenders, int role, int many)
{
    for (size_t i = 0; i < contenders->count; i++) {
        const bench_contender *contender = &contenders->all[i];
        if ((int)contender->role == role && contender->ran && (contender->threads > 1) == many)
            return contender;
    }
    return NULL;
}

static const bench_contender *best_peer(const bench_contenders *contenders,
                                        const bench_problem *problem)
{
    const bench_contender *best = NULL;
    for (size_t i = 0; i < contenders->count; i++) {
        const bench_contender *contender = &contenders->all[i];
        if (contender->role == BENCH_PEER && contender->ran &&
            (!best || speed(contender, problem) > speed(best, problem)))
            best = contender;
    }
    return best;
}

/* ---- the table ---- */

void bench_show_head(const bench_contenders *contenders)
{
    for (size_t i = 0; i < contenders->skipped_count; i++)
        printf("skipped: %s: %s\n", contenders->skipped[i].name, contenders->skipped[i].reason);
    printf("%-22s %8s %8s %8s %8s   %-28s %8s\n", "", "tally", "", "all", "scaling", "", "");
    printf("%-22s %8s %8s %8s %8s   %-28s %8s\n", "", "GB/s", "of read", "threads", "limit",
           "fastest peer", "tally is");
}

static void show_contender(const bench_contender *contender, const bench_problem *problem)
{
    char name[96];
    snprintf(name, sizeof name, "%s %s", contender->name, contender->call);
    if (!contender->ran) {
        printf("    %-28s   –  %s\n", name, contender->why);
        return;
    }
    printf("    %-28s %6.2f GB/s, median of %.4g … %.4g … %.4g ms%s", name,
           speed(contender, problem), contender->least * 1e3, contender->median * 1e3,
           contender->most * 1e3, contender->threads > 1 ? ", " : "");
    if (contender->threads > 1)
        printf("%u threads", contender->threads);
    if (contender->n != problem->n)
        printf(", on %llu samples", (unsigned long long)contender->n);
    printf("%s\n",
           contender->counts && !contender->same ? ", counts differ from the reference" : "");
}

static void show_tally(const bench_contenders *contenders, const bench_problem *problem)
{
    const bench_contender *one = find(contenders, BENCH_TALLY, 0),
                          *many = find(contenders, BENCH_TALLY, 1);
    const bench_contender *scaling = find(contenders, BENCH_SCALING, 1),
                          *read = find(contenders, BENCH_READ, 0);
    printf(" %8.2f", speed(one, problem));
    printf(" %7.0f%%", read ? 100 * speed(one, problem) / speed(read, problem) : NAN);
    if (many)
        printf(" %7.2fx", one->median / many->median);
    else
        printf(" %8s", "");
    if (scaling)
        printf(" %7.2fx  ", one->median / scaling->median);
    else
        printf(" %8s  ", "");
}

void bench_show_case(const bench_contenders *contenders, const bench_case *wanted,
                     const bench_problem *problem, int verbose, bench_sum *sum)
{
    const bench_contender *tally = find(contenders, BENCH_TALLY, 0),
                          *peer = best_peer(contenders, problem);
    printf("%-22s", wanted->name);
    for (size_t i = 0; i < contenders->count && !tally; i++)
        if (contenders->all[i].role == BENCH_TALLY && contenders->all[i].threads == 1)
            printf(" skipped: %s\n", contenders->all[i].why);
    if (tally)
        show_tally(contenders, problem);
    if (tally && peer) {
        double ratio = speed(tally, problem) / speed(peer, problem);
        char name[96];
        snprintf(name, sizeof name, "%s %s %.2f%s", peer->name, peer->call, speed(peer, problem),
                 peer->same ? "" : " *");
        printf(" %-28s %7.2fx\n", name, ratio);
        sum->log_ratios += log(ratio);
        sum->cases++;
        sum->behind += ratio < 1;
    } else if (tally) {
        printf("\n");
    }
    for (size_t i = 0; i < contenders->count && verbose; i++)
        show_contender(&contenders->all[i], problem);
}

void bench_show_end(const bench_contenders *contenders, const bench_sum *sum)
{
    (void)contenders;
    if (!sum->cases)
        return;
    printf("tally is %.2f times as fast as the fastest peer (geometric mean of %u cases), and "
           "slower in %u\n",
           exp(sum->log_ratios / sum->cases), sum->cases, sum->behind);
    printf(
        "* its counts are not the reference's. GB/s of samples; medians; peers use one thread\n");
}

/* ---- JSON ---- */

void bench_show_json(const bench_contenders *contenders, const bench_case *wanted,
                     const bench_problem *problem)
{
    uint64_t bins = problem->kind == BENCH_EVEN_2D ? problem->bins * problem->bins : problem->bins;
    for (size_t i = 0; i < contenders->count; i++) {
        const bench_contender *one = &contenders->all[i];
        const bench_contender *read = find(contenders, BENCH_READ, one->threads > 1);
        static bench_line line;
        if (!one->ran || !one->counts)
            continue;
        line.count = 0;
        bench_set_text(&line, "device", "cpu");
        bench_set_text(&line, "method", one->call);
        bench_set_text(&line, "dtype", bench_dtype_name(problem->dtype));
        bench_set_number(&line, "n", (double)one->n);
        bench_set_number(&line, "bins", (double)bins);
        bench_set_text(&line, "data", wanted->data);
        bench_set_number(&line, "median_s", one->median);
        bench_set_number(&line, "min_s", one->least);
        bench_set_number(&line, "max_s", one->most);
        bench_set_number(&line, "gbps", speed(one, problem));
        bench_set_number(&line, "fraction_of_read",
                         read ? speed(one, problem) / speed(read, problem) : NAN);
        bench_set_truth(&line, "verified", one->same);
        bench_set_text(&line, "case", wanted->name);
        bench_set_text(&line, "by", one->name);
        bench_set_text(&line, "version", one->version);
        bench_set_text(&line, "clock", one->processor_time ? "cpu" : "wall");
        bench_set_truth(&line, "peer", one->role == BENCH_PEER);
        bench_set_number(&line, "threads", one->threads);
        bench_set_number(&line, "calls", (double)one->calls);
        bench_line_print(&line, stdout);
    }
}
