/* `tally bench --figure`: choosing, running, and the files that come out. */
#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "figure.h"

enum { REPEATS = 9, QUICK_REPEATS = 2 };

/* ---- which ---- */

static int list(void)
{
    for (size_t i = 0; i < figure_count; i++) {
        const figure *one = &figure_table[i];
        int wide = 12; /* bytes that fill 12 places */
        for (const char *c = one->source; *c; c++)
            wide += (*c & 0xc0) == 0x80;
        cli_out("%-18s %-*s %s\n", one->name, wide, one->source, one->title);
    }
    return cli_out_end();
}

static int chosen(const cli_options *options, const figure *one)
{
    const char *name = cli_text(options, CLI_FIGURE, "");
    return strcmp(name, "all") == 0 || strcmp(name, one->name) == 0;
}

/* No file that will be written is one that is read. */
static int check_outputs(const cli_options *options, const char *folder)
{
    static const char *const endings[] = {"jsonl", "csv", "svg", "png"};
    int code = CLI_OK;
    for (size_t i = 0; i < figure_count; i++)
        for (size_t e = 0; e < 4 && !code && chosen(options, &figure_table[i]); e++) {
            char path[1024];
            snprintf(path, sizeof path, "%.900s/%s.%s", folder, figure_table[i].name, endings[e]);
            code = cli_output_check(options, path);
        }
    return code;
}

static int check(const cli_options *options)
{
    static const cli_id others[] = {CLI_METHOD, CLI_SET, CLI_ONLY, CLI_CLOCK};
    size_t known = 0;
    for (size_t i = 0; i < figure_count; i++)
        known += (size_t)chosen(options, &figure_table[i]);
    if (!known)
        return cli_usage(options->word, "--figure %s: no such figure; --list names them",
                         cli_text(options, CLI_FIGURE, ""));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cli_has(options, others[i]))
            return cli_usage(options->word, "--%s does not go with --figure",
                             cli_option_row(others[i])->name);
    const char *folder = cli_text(options, CLI_FOLDER, NULL);
    if (cli_has(options, CLI_FROM) && !folder)
        return cli_usage(options->word, "--from needs -o DIR, where the pictures go");
    if (folder && mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cli_fail("%s: %s", folder, strerror(errno));
    return folder ? check_outputs(options, folder) : CLI_OK;
}

/* ---- files ---- */

/* Writes `path` beside its place and renames it when whole. */
static int write_lines(const figure_lines *lines, const char *path, int csv)
{
    char part[1200];
    snprintf(part, sizeof part, "%s.part", path);
    FILE *to = fopen(part, "wb");
    if (!to)
        return cli_fail("%s: %s", path, strerror(errno));
    for (size_t i = 0; i < lines->count && !csv; i++)
        figure_line_print(&lines->all[i], to);
    if (csv)
        figure_lines_csv(lines, to);
    int bad = ferror(to);
    if (fclose(to) != 0 || bad || rename(part, path) != 0) {
        int code = cli_fail("%s: %s", path, strerror(errno));
        remove(part);
        return code;
    }
    return CLI_OK;
}

static int draw(const cli_options *options, const figure *one, const figure_lines *lines)
{
    static int told;
    const char *folder = cli_text(options, CLI_FOLDER, NULL);
    char path[1024];
    if (chart_missing()) {
        if (!told++)
            cli_note(options,
                     "no pictures: %s; `tally bench --figure %s --from LINES -o DIR` draws "
                     "them elsewhere",
                     chart_missing(), cli_text(options, CLI_FIGURE, "all"));
        return CLI_OK;
    }
    snprintf(path, sizeof path, "%.900s/%s.svg", folder, one->name);
    int code = figure_draw(one, lines, path);
    snprintf(path, sizeof path, "%.900s/%s.png", folder, one->name);
    return code ? code : figure_draw(one, lines, path);
}

static int write_all(const cli_options *options, const figure *one, const figure_lines *lines)
{
    const char *folder = cli_text(options, CLI_FOLDER, NULL);
    char path[1024];
    if (!folder) {
        for (size_t i = 0; i < lines->count; i++)
            figure_line_print(&lines->all[i], stdout);
        return fflush(stdout) == 0 ? CLI_OK : cli_fail("standard output: %s", strerror(errno));
    }
    snprintf(path, sizeof path, "%.900s/%s.jsonl", folder, one->name);
    int code = write_lines(lines, path, 0);
    snprintf(path, sizeof path, "%.900s/%s.csv", folder, one->name);
    if (!code)
        code = write_lines(lines, path, 1);
    return code ? code : draw(options, one, lines);
}

/* ---- pictures from lines ---- */

static int from_file(const cli_options *options)
{
    figure_lines all = {0, 0, NULL};
    int code = figure_lines_read(cli_text(options, CLI_FROM, ""), &all);
    size_t drawn = 0;
    for (size_t i = 0; i < figure_count && !code; i++) {
        figure_lines own = {0, 0, NULL};
        for (size_t k = 0; k < all.count && !code && chosen(options, &figure_table[i]); k++)
            if (strcmp(figure_text(&all.all[k], "figure", ""), figure_table[i].name) == 0)
                code = figure_lines_add(&own, &all.all[k]);
        if (own.count && !code)
            code = draw(options, &figure_table[i], &own);
        drawn += own.count > 0;
        free(own.all);
    }
    free(all.all);
    if (!code && !drawn)
        code = cli_fail("%s: no line of figure %s", cli_text(options, CLI_FROM, ""),
                        cli_text(options, CLI_FIGURE, ""));
    return code;
}

/* ---- measuring ---- */

static int open_device(const cli_options *options, figure_run *run)
{
    static const tally_device_type order[] = {TALLY_DEVICE_CUDA, TALLY_DEVICE_OPENCL};
    tally_context_options wanted = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    const char *name = cli_text(options, CLI_DEVICE, "auto");
    if (!cli_parse_device(name, &wanted.device, &wanted.index))
        return cli_usage(options->word, "--device %s: auto, cuda or opencl", name);
    if (wanted.device == TALLY_DEVICE_CPU)
        return cli_usage(options->word, "--device cpu: the figures are of graphics processors");
    tally_status status = TALLY_ERROR_UNSUPPORTED;
    for (int i = 0; i < 2 && status; i++) {
        tally_context_options one = wanted;
        one.device = wanted.device ? wanted.device : order[i];
        status = tally_context_create(&one, &run->device, &error);
    }
    if (status)
        return cli_fail_status(status, &error);
    wanted = (tally_context_options)TALLY_CONTEXT_OPTIONS_INIT;
    wanted.device = TALLY_DEVICE_CPU;
    wanted.threads = 1;
    run->info.struct_size = sizeof run->info;
    status = tally_context_device(run->device, &run->info, &error);
    if (!status)
        status = tally_context_create(&wanted, &run->host, &error);
    return status ? cli_fail_status(status, &error) : CLI_OK;
}

static int run_one(figure_run *run, const figure *one)
{
    run->figure = one;
    run->lines.count = 0;
    int code = one->run(run);
    cli_progress_wipe();
    if (!code)
        code = write_all(run->options, one, &run->lines);
    if (!code && cli_has(run->options, CLI_FOLDER))
        cli_note(run->options, "%s: %zu lines in %s/%s.jsonl", one->name, run->lines.count,
                 cli_text(run->options, CLI_FOLDER, ""), one->name);
    return code;
}

static int run_all(figure_run *run)
{
    int code = CLI_OK;
    for (int counting = 1; counting >= 0; counting--) {
        run->counting = counting;
        for (size_t i = 0; i < figure_count && !code; i++) {
            run->figure = &figure_table[i];
            if (chosen(run->options, &figure_table[i]))
                code = counting ? figure_table[i].run(run) : run_one(run, &figure_table[i]);
        }
    }
    if (!code && run->done == run->skipped)
        code = cli_fail("nothing could be measured");
    return code ? code : run->wrong ? CLI_FAILED : CLI_OK;
}

int cli_bench_figures(const cli_options *options, const char *folder)
{
    if (cli_has(options, CLI_LIST))
        return list();
    int code = check(options);
    if (code || cli_has(options, CLI_FROM))
        return code ? code : from_file(options);
    figure_run run = {.options = options, .folder = folder, .quick = cli_has(options, CLI_QUICK)};
    cli_progress progress;
    time_t now = time(NULL);
    struct tm utc;
    run.repeats = (unsigned)cli_uint(options, CLI_REPEATS, run.quick ? QUICK_REPEATS : REPEATS);
    run.repeats = run.repeats > 64 ? 64 : run.repeats;
    strftime(run.date, sizeof run.date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    for (size_t i = 0; i < options->values[CLI_PEERS].count && !code; i++)
        code = figure_lines_read(options->values[CLI_PEERS].texts[i], &run.peers);
    if (!code)
        code = open_device(options, &run);
    if (!code) {
        cli_progress_start(&progress, options, "");
        progress.plain = 1;
        run.progress = &progress;
        code = run_all(&run);
        cli_progress_end(&progress);
    }
    if (run.device)
        figure_data_release(&run);
    free(run.expected);
    free(run.lines.all);
    free(run.peers.all);
    tally_context_destroy(run.device);
    tally_context_destroy(run.host);
    return code;
}
