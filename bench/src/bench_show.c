/* What was measured, as a table or as lines of JSON. */
#include <math.h>

#include "bench.h"

static double speed(const bench_way *way, const bench_problem *problem)
{
    double bytes = bench_bytes(problem) / (double)problem->n * (double)way->n;
    return bytes / way->median * 1e-9;
}

/* The way of this role on one thread or, `many`, on more. NULL: none, or it did not run. */
static const bench_way *find(const bench_ways *ways, int role, int many)
{
    for (size_t i = 0; i < ways->count; i++) {
        const bench_way *way = &ways->all[i];
        if ((int)way->role == role && way->ran && (way->threads > 1) == many)
            return way;
    }
    return NULL;
}

static const bench_way *best_peer(const bench_ways *ways, const bench_problem *problem)
{
    const bench_way *best = NULL;
    for (size_t i = 0; i < ways->count; i++) {
        const bench_way *way = &ways->all[i];
        if (way->role == BENCH_PEER && way->ran &&
            (!best || speed(way, problem) > speed(best, problem)))
            best = way;
    }
    return best;
}

/* ---- the table ---- */

void bench_show_head(const bench_ways *ways)
{
    for (size_t i = 0; i < ways->skipped_count; i++)
        cli_out("skipped: %s: %s\n", ways->skipped[i].name, ways->skipped[i].reason);
    cli_out("%-22s %8s %8s %8s %8s   %-28s %8s\n", "", "tally", "", "all", "several", "", "");
    cli_out("%-22s %8s %8s %8s %8s   %-28s %8s\n", "", "GB/s", "of read", "threads", "apart",
            "fastest peer", "tally is");
}

static void show_way(const bench_way *way, const bench_problem *problem)
{
    char name[96];
    snprintf(name, sizeof name, "%s %s", way->name, way->call);
    if (!way->ran) {
        cli_out("    %-28s   –  %s\n", name, way->why);
        return;
    }
    cli_out("    %-28s %6.2f GB/s, median of %.4g … %.4g … %.4g ms%s", name, speed(way, problem),
            way->least * 1e3, way->median * 1e3, way->most * 1e3, way->threads > 1 ? ", " : "");
    if (way->threads > 1)
        cli_out("%u threads", way->threads);
    if (way->n != problem->n)
        cli_out(", on %llu samples", (unsigned long long)way->n);
    cli_out("%s\n", way->counts && !way->same ? ", counts differ from the reference" : "");
}

static void show_ours(const bench_ways *ways, const bench_problem *problem)
{
    const bench_way *one = find(ways, BENCH_OURS, 0), *many = find(ways, BENCH_OURS, 1);
    const bench_way *apart = find(ways, BENCH_APART, 1), *read = find(ways, BENCH_READ, 0);
    cli_out(" %8.2f", speed(one, problem));
    cli_out(" %7.0f%%", read ? 100 * speed(one, problem) / speed(read, problem) : NAN);
    if (many)
        cli_out(" %7.2fx", one->median / many->median);
    else
        cli_out(" %8s", "");
    if (apart)
        cli_out(" %7.2fx  ", one->median / apart->median);
    else
        cli_out(" %8s  ", "");
}

void bench_show_case(const bench_ways *ways, const bench_case *wanted, const bench_problem *problem,
                     int verbose, bench_sum *sum)
{
    const bench_way *ours = find(ways, BENCH_OURS, 0), *peer = best_peer(ways, problem);
    cli_out("%-22s", wanted->name);
    for (size_t i = 0; i < ways->count && !ours; i++)
        if (ways->all[i].role == BENCH_OURS && ways->all[i].threads == 1)
            cli_out(" skipped: %s\n", ways->all[i].why);
    if (ours)
        show_ours(ways, problem);
    if (ours && peer) {
        double ratio = speed(ours, problem) / speed(peer, problem);
        char name[96];
        snprintf(name, sizeof name, "%s %s %.2f%s", peer->name, peer->call, speed(peer, problem),
                 peer->same ? "" : " *");
        cli_out(" %-28s %7.2fx\n", name, ratio);
        sum->log_ratios += log(ratio);
        sum->cases++;
        sum->behind += ratio < 1;
    } else if (ours) {
        cli_out("\n");
    }
    for (size_t i = 0; i < ways->count && verbose; i++)
        show_way(&ways->all[i], problem);
}

void bench_show_end(const bench_ways *ways, const bench_sum *sum)
{
    (void)ways;
    if (!sum->cases)
        return;
    cli_out("tally is %.2f times as fast as the fastest peer (geometric mean of %u cases), and "
            "slower in %u\n",
            exp(sum->log_ratios / sum->cases), sum->cases, sum->behind);
    cli_out(
        "* its counts are not the reference's. GB/s of samples; medians; peers use one thread\n");
}

/* ---- JSON ---- */

static void string(const char *key, const char *value)
{
    cli_out(",\"%s\":", key);
    cli_out_json_string(value);
}

static void real(const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    cli_out(",\"%s\":%s", key, isfinite(value) ? text : "null");
}

void bench_show_json(const bench_ways *ways, const bench_case *wanted, const bench_problem *problem)
{
    uint64_t bins = problem->kind == BENCH_EVEN_2D ? problem->bins * problem->bins : problem->bins;
    for (size_t i = 0; i < ways->count; i++) {
        const bench_way *way = &ways->all[i];
        const bench_way *read = find(ways, BENCH_READ, way->threads > 1);
        if (!way->ran || !way->counts)
            continue;
        cli_out("{\"device\":\"cpu\"");
        string("method", way->call);
        string("dtype", bench_dtype_name(problem->dtype));
        cli_out(",\"n\":%llu,\"bins\":%llu", (unsigned long long)way->n, (unsigned long long)bins);
        string("data", wanted->data);
        real("median_s", way->median);
        real("min_s", way->least);
        real("max_s", way->most);
        real("gbps", speed(way, problem));
        real("fraction_of_read", read ? speed(way, problem) / speed(read, problem) : NAN);
        cli_out(",\"verified\":%s", way->same ? "true" : "false");
        string("case", wanted->name);
        string("by", way->name);
        string("version", way->version);
        string("clock", way->processor_time ? "cpu" : "wall");
        cli_out(",\"peer\":%s,\"threads\":%u,\"calls\":%llu}\n",
                way->role == BENCH_PEER ? "true" : "false", way->threads,
                (unsigned long long)way->calls);
    }
}
