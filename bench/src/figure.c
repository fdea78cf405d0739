/* SPDX-License-Identifier: Apache-2.0 */
/* `tally-bench --figure`: choosing, running, and the files that come out. */
#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#include "bench.h"
#include "figure.h"

enum { REPEATS = 100, QUICK_REPEATS = 2 }; /* 100: the sources' means are of so many */

/* ---- which ---- */

static int list(void)
{
    for (size_t i = 0; i < figure_count; i++) {
        const figure *one = &figure_table[i];
        int wide = 12; /* bytes that fill 12 places */
        for (const char *c = one->source; *c; c++)
            wide += (*c & 0xc0) == 0x80;
        printf("%-18s %-*s %s\n", one->name, wide, one->source, one->title);
    }
    return bench_out_end();
}

static int chosen(const bench_options *options, const figure *one)
{
    return strcmp(options->figure, "all") == 0 || strcmp(options->figure, one->name) == 0;
}

static int check(const bench_options *options)
{
    const struct {
        const char *name;
        int given;
    } others[] = {{"method", options->method != NULL},
                  {"set", options->set.count > 0},
                  {"only", options->only.count > 0},
                  {"clock", options->clock != NULL}};
    size_t known = 0;
    for (size_t i = 0; i < figure_count; i++)
        known += (size_t)chosen(options, &figure_table[i]);
    if (!known)
        return bench_usage("--figure %s: no such figure; --list names them", options->figure);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given)
            return bench_usage("--%s does not go with --figure", others[i].name);
    if (options->output && mkdir(options->output, 0777) != 0 && errno != EEXIST)
        return bench_fail("%s: %s", options->output, strerror(errno));
    return BENCH_OK;
}

/* ---- files ---- */

/* Writes `path`.part and renames it when it is whole. */
static int write_lines(const bench_lines *lines, const char *path, int csv)
{
    char part[1200];
    snprintf(part, sizeof part, "%s.part", path);
    FILE *to = fopen(part, "wb");
    if (!to)
        return bench_fail("%s: %s", path, strerror(errno));
    for (size_t i = 0; i < lines->count && !csv; i++)
        bench_line_print(&lines->all[i], to);
    if (csv)
        bench_lines_csv(lines, to);
    int bad = ferror(to);
    if (fclose(to) != 0 || bad || rename(part, path) != 0) {
        int code = bench_fail("%s: %s", path, strerror(errno));
        remove(part);
        return code;
    }
    return BENCH_OK;
}

static int write_all(const bench_options *options, const figure *one, const bench_lines *lines)
{
    const char *folder = options->output;
    char path[1024];
    if (!folder) {
        for (size_t i = 0; i < lines->count; i++)
            bench_line_print(&lines->all[i], stdout);
        return bench_out_end();
    }
    snprintf(path, sizeof path, "%.900s/%s.jsonl", folder, one->name);
    int code = write_lines(lines, path, 0);
    snprintf(path, sizeof path, "%.900s/%s.csv", folder, one->name);
    return code ? code : write_lines(lines, path, 1);
}

/* ---- measuring ---- */

static int open_device(const bench_options *options, figure_run *run)
{
    static const tally_device_type order[] = {TALLY_DEVICE_CUDA, TALLY_DEVICE_OPENCL};
    tally_context_options wanted = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    const char *name = options->device ? options->device : "auto";
    if (!parse_device(name, &wanted.device, &wanted.index))
        return bench_usage("--device %s: auto, cuda or opencl", name);
    if (wanted.device == TALLY_DEVICE_CPU)
        return bench_usage("--device cpu: the figures are of graphics processors");
    tally_status status = TALLY_ERROR_UNSUPPORTED;
    for (int i = 0; i < 2 && status; i++) {
        tally_context_options one = wanted;
        one.device = wanted.device ? wanted.device : order[i];
        status = tally_context_create(&one, &run->device, &error);
    }
    if (status)
        return bench_fail_status(status, &error);
    wanted = (tally_context_options)TALLY_CONTEXT_OPTIONS_INIT;
    wanted.device = TALLY_DEVICE_CPU;
    wanted.threads = 1;
    run->info.struct_size = sizeof run->info;
    status = tally_context_device(run->device, &run->info, &error);
    if (!status)
        status = tally_context_create(&wanted, &run->host, &error);
    return status ? bench_fail_status(status, &error) : BENCH_OK;
}

static int run_one(figure_run *run, const figure *one)
{
    run->figure = one;
    run->lines.count = 0;
    int code = one->run(run);
    if (!code)
        code = write_all(run->options, one, &run->lines);
    if (!code && run->options->output)
        bench_note(run->options, "%s: %zu lines in %s/%s.jsonl", one->name, run->lines.count,
                   run->options->output, one->name);
    return code;
}

static int run_all(figure_run *run)
{
    int code = BENCH_OK;
    for (int counting = 1; counting >= 0; counting--) {
        run->counting = counting;
        for (size_t i = 0; i < figure_count && !code; i++) {
            run->figure = &figure_table[i];
            if (chosen(run->options, &figure_table[i]))
                code = counting ? figure_table[i].run(run) : run_one(run, &figure_table[i]);
        }
    }
    if (!code && run->done == run->skipped)
        code = bench_fail("nothing could be measured");
    return code ? code : run->wrong ? BENCH_FAILED : BENCH_OK;
}

int figure_run_all(const bench_options *options)
{
    if (options->list)
        return list();
    int code = check(options);
    if (code)
        return code;
    char folder[600];
    bench_find_folder(folder, sizeof folder);
    figure_run run = {.options = options, .folder = folder, .quick = options->quick};
    time_t now = time(NULL);
    struct tm utc;
    run.repeats = options->repeats ? (unsigned)options->repeats
                  : run.quick      ? QUICK_REPEATS
                                   : REPEATS;
    run.repeats = run.repeats < FIGURE_MOST_REPEATS ? run.repeats : FIGURE_MOST_REPEATS;
    strftime(run.date, sizeof run.date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    code = open_device(options, &run);
    if (!code) {
        bench_progress_start(options);
        code = run_all(&run);
        bench_progress_end();
    }
    if (run.device)
        figure_data_release(&run);
    free(run.expected);
    free(run.lines.all);
    tally_context_destroy(run.device);
    tally_context_destroy(run.host);
    return code;
}
