/* SPDX-License-Identifier: Apache-2.0 */
/* `tally run`: count files. */
#include "job.h"
#include "team.h"

static void warn_nothing_finite(const cli_job *job)
{
    tally_result_info info = {.struct_size = sizeof info};
    uint64_t outside = 0, nan = 0;
    tally_result_info_get(job->ours.result, &info);
    for (uint64_t h = 0; h < info.histograms; h++) {
        const tally_flows *flows = tally_result_flows(job->ours.result, h);
        outside += flows->under + flows->over + flows->nan;
        nan += flows->nan;
    }
    const char *path = cli_shown(job->source.paths[0]);
    if (job->elements == 0)
        cli_note(job->options, "%s: no samples", path);
    else if (job->axes.found && outside == info.samples)
        cli_note(job->options,
                 "%s: no sample is finite (%llu NaN, %llu infinite), so the bins are made up", path,
                 (unsigned long long)nan, (unsigned long long)(outside - nan));
}

static void note_rounded(const cli_job *job)
{
    const cli_source *source = &job->source;
    if (source->rounded)
        cli_note(
            job->options,
            "%s: integers beyond 2^53 were rounded to float64: they are exact in columns of "
            "nothing but 64-bit integers, if none is missing beside --mask, --weights or --of; "
            "and of pipes, several files or columns at once if some of the first are so large",
            cli_shown(source->paths[0]));
    if (tally_input_rounded(source->weights.input))
        cli_note(job->options,
                 "%s: weights beyond 2^53 were rounded to float64: they are exact where all are "
                 "64-bit integers",
                 cli_shown(source->weights.path));
    if (cli_has(job->options, CLI_OF))
        cli_of_note(job);
}

static int finish(cli_job *job)
{
    tally_error error = {""};
    const cli_source *source = &job->source;
    tally_device_info device = {.struct_size = sizeof device};
    tally_status status = TALLY_OK;
    for (size_t i = 0; i < source->count && !status; i++)
        status = source->skipped[i]
                     ? TALLY_OK
                     : tally_result_note(job->ours.result, cli_shown(source->paths[i]), NULL, NULL,
                                         0, 0, &error);
    if (!status)
        status = tally_plan_device(job->plan, &device, &error);
    if (!status)
        status = tally_result_note(job->ours.result, NULL, job->options->team ? "mpi" : device.id,
                                   tally_plan_method(job->plan), job->seconds,
                                   job->elements * source->channels, &error);
    for (uint32_t d = 0; d < source->dimensions && !status; d++)
        status = tally_result_time_set(job->ours.result, d, source->times[d], &error);
    if (!status)
        status = tally_result_narrow(job->ours.result, job->counter, &error);
    if (status)
        return cli_fail_status(status, &error);
    warn_nothing_finite(job);
    note_rounded(job);
    double bytes = (double)job->elements * (double)source->kind.channels *
                   (double)tally_dtype_bytes(source->kind.dtype) * source->dimensions;
    cli_say(job->options, "%llu elements in %.6f s of counting (%.2f GB/s)",
            (unsigned long long)job->elements, job->seconds,
            job->seconds > 0 ? bytes / job->seconds * 1e-9 : 0);
    return CLI_OK;
}

/* Bins of words get their names, and an order by what is in them. */
static int name_words(cli_job *job)
{
    tally_error error = {""};
    for (uint32_t d = 0; d < job->source.dimensions; d++) {
        tally_result *named = NULL;
        if (!job->source.words[d])
            continue;
        tally_status status =
            tally_result_words(job->ours.result, d, job->source.words[d], &named, &error);
        if (status)
            return cli_fail_status(status, &error);
        tally_result_destroy(job->ours.result);
        job->ours.result = named;
    }
    return CLI_OK;
}

static void describe_source(const cli_job *job)
{
    const cli_source *source = &job->source;
    cli_say(job->options, "%s: %s%s%s, %s, %llu channel(s)", cli_shown(source->paths[0]),
            source->kind.format, *source->kind.compression ? " in " : "", source->kind.compression,
            tally_dtype_name(source->kind.dtype), (unsigned long long)source->kind.channels);
}

static void describe_plan(const cli_job *job)
{
    const uint64_t n = cli_source_hint(&job->source);
    uint64_t host, device;
    cli_say(job->options, "%s", tally_plan_describe(job->plan));
    if (n && !tally_plan_memory(job->plan, n, &host, &device, NULL))
        cli_say(job->options,
                "to count %llu elements at once takes %llu bytes, and %llu of the device",
                (unsigned long long)n, (unsigned long long)host, (unsigned long long)device);
}

/* Whether files that failed were left out of others that were counted. */
static int some_counted(const cli_job *job)
{
    size_t skipped = 0;
    for (size_t i = 0; i < job->source.count; i++)
        skipped += job->source.skipped[i];
    return cli_has(job->options, CLI_KEEP_GOING) && skipped && skipped < job->source.count;
}

enum { CLI_AGAIN = -1 }; /* besides exit codes: integers were rounded, which need not be */

/* What files are read from: their paths, or a column of a source that is shared. */
typedef struct files {
    const char *const *paths;
    size_t count;
    cli_source *lender; /* NULL: none */
    uint32_t pick;
} files;

static tally_status open_files(cli_job *job, const files *from, int need, cli_progress *progress,
                               tally_error *error)
{
    return from->lender ? cli_source_borrow(&job->source, from->lender, from->pick, job->options,
                                            progress, error)
                        : cli_source_open(&job->source, job->options, from->paths, from->count,
                                          need, progress, error);
}

/* Whether text that was counted may be counted once more, which may find a column of integers. */
static int may_read_again(const cli_job *job)
{
    const cli_source *source = &job->source;
    return source->count == 1 && source->sizes[0] && strcmp(source->paths[0], "-") != 0 &&
           source->dimensions == 1 && !source->mask.input && !cli_source_weight_dtype(source) &&
           !cli_has(job->options, CLI_OF) && !job->options->team && !job->options->all_integers;
}

/* One histogram of the files; *result is the caller's, and there for CLI_OK, and for CLI_FAILED if
 * files were left out. *failed: the file that kept it from being counted at all, or their count.
 * CLI_AGAIN: a column that is shared is to be counted from its paths; another, by itself, with
 * all_integers. */
static int count_files(const cli_options *options, tally_context *context, const files *from,
                       tally_result **result, size_t *failed)
{
    cli_job job = {.options = options, .context = context};
    const size_t count = from->count;
    tally_error error = {""};
    cli_progress progress;
    int need = cli_axes_need_data(options) || cli_has(options, CLI_RANKS) ||
               (options->team && cli_has(options, CLI_WEIGHTS));
    cli_counter_get(options, &job.counter);
    double started = cli_seconds();
    *failed = count;
    cli_progress_start(&progress, options, need ? "reading" : "counting");
    tally_status status = open_files(&job, from, need, &progress, &error);
    if (status) {
        *failed = 0;
        return cli_progress_end(&progress), cli_fail_status(status, &error);
    }
    if (job.source.kind.table && options->team) {
        cli_source_close(&job.source);
        return cli_fail("%s is a table: several processes count columns that --column names",
                        cli_shown(from->paths[0]));
    }
    if (job.source.kind.table) {
        int shown = cli_glance(&job.source);
        cli_source_close(&job.source);
        return shown;
    }
    describe_source(&job);
    int code = cli_axes_make(options, &job.source, context, &job.axes);
    if (code && job.source.failed)
        *failed = job.source.current;
    if (!code)
        code = cli_job_plan(&job);
    if (!code)
        code = cli_has(options, CLI_OF) ? cli_of_make(&job) : cli_tallied_make(&job, &job.ours);
    if (!code && cli_has(options, CLI_VERIFY))
        code = cli_tallied_make(&job, &job.reference);
    if (!code && cli_has(options, CLI_BY))
        code = cli_by_start(&job);
    int left_out = CLI_OK;
    if (!code) {
        describe_plan(&job);
        progress.what = "counting";
        code = cli_has(options, CLI_OF) ? cli_of_add(&job) : cli_job_count(&job);
        if (code == CLI_FAILED && some_counted(&job))
            left_out = code, code = CLI_OK;
    }
    if (!code && cli_has(options, CLI_RANKS)) {
        progress.what = "quantiles";
        code = cli_ranks_add(&job);
    }
    cli_progress_end(&progress);
    if (!code && job.source.rounded && (from->lender || may_read_again(&job)))
        code = CLI_AGAIN;
    cli_tallied_take(&job, &job.ours);
    cli_tallied_take(&job, &job.reference);
    if (!code && job.reference.result)
        code = cli_verify(&job);
    if (!code && options->team) {
        code = cli_team_add(&job);
        cli_tallied_take(&job, &job.ours);
    }
    if (!code)
        code = finish(&job);
    if (!code)
        code = job.by_flows ? cli_by_finish(&job) : name_words(&job);
    if (!code)
        cli_say(options, "%.3f s in all", cli_seconds() - started);
    free(job.by_flows);
    cli_source_close(&job.source);
    cli_axes_release(&job.axes);
    tally_plan_destroy(job.plan);
    if (!code) {
        *result = job.ours.result;
        job.ours.result = NULL;
    }
    cli_tallied_release(&job.ours);
    cli_tallied_release(&job.reference);
    return code ? code : left_out;
}

/* The same without the files that fail before anything is counted, if that is asked for: the others
 * are begun anew. */
static int count_group(const cli_options *options, tally_context *context, const char *const *paths,
                       size_t count, tally_result **result)
{
    size_t failed = count, left = count;
    const char **kept = calloc(count, sizeof *kept);
    if (!kept)
        return cli_fail("out of memory");
    memcpy(kept, paths, count * sizeof *kept);
    int code = CLI_OK;
    do {
        const files from = {.paths = kept, .count = left};
        cli_options exact = *options;
        int now = count_files(options, context, &from, result, &failed);
        exact.all_integers = 1;
        if (now == CLI_AGAIN) {
            cli_say(options, "%s: integers beyond 2^53 were rounded: it is read as integers",
                    cli_shown(kept[0]));
            now = count_files(&exact, context, &from, result, &failed);
        }
        code = code ? code : now;
        if (failed < left)
            memmove(kept + failed, kept + failed + 1, (--left - failed) * sizeof *kept);
        else
            left = 0;
    } while (left && cli_has(options, CLI_KEEP_GOING));
    free(kept);
    return code;
}

/* --separate: the columns, without the weights'; names[0 ... `made`) are the caller's. */
static int find_columns(const cli_options *options, const char *path, char ***names, size_t *made,
                        size_t *columns)
{
    if (cli_wants_all(options)) {
        const int code = cli_all_columns(options, path, names, made);
        *columns = *made;
        return code;
    }
    size_t beside;
    const int code = cli_columns_parse(options, names, made, &beside);
    *columns = *made - beside;
    return code;
}

/* One column by itself, of `lender` if there is one. */
static int count_column(const cli_options *options, tally_context *context, const files *from,
                        const char *column, tally_result **result)
{
    cli_options one = *options;
    char *name = cli_column_escaped(column);
    const char *text = name;
    size_t failed;
    one.values[CLI_COLUMN].texts = &text;
    one.values[CLI_COLUMN].count = 1;
    int code = name ? CLI_AGAIN : cli_fail("out of memory");
    if (name && from->lender)
        code = count_files(&one, context, from, result, &failed);
    if (code == CLI_AGAIN)
        code = count_group(&one, context, from->paths, from->count, result);
    free(name);
    return code;
}

/* Whether columns of a file may be parsed together. */
static int may_share(const cli_options *options, size_t count)
{
    return count == 1 && !options->team && !cli_has(options, CLI_WEIGHTS) &&
           !cli_has(options, CLI_MASK) && !cli_has(options, CLI_BY);
}

/* Each column by itself, into results[0 ...]; *done counts them. As many as an input brings are
 * parsed together. */
static int count_columns(const cli_options *options, tally_context *context,
                         const char *const *paths, size_t count, char *const *names, size_t columns,
                         tally_result **results, size_t *done)
{
    int code = CLI_OK;
    size_t together = TALLY_MAX_DIMENSIONS;
    for (size_t c = 0; c < columns && !code; c += together) {
        cli_source shared;
        cli_progress progress;
        together = columns - c < TALLY_MAX_DIMENSIONS ? columns - c : TALLY_MAX_DIMENSIONS;
        cli_progress_start(&progress, options, "reading");
        const int is_shared =
            may_share(options, count) && together > 1 &&
            cli_source_share(&shared, options, paths, names + c, together, &progress);
        cli_progress_end(&progress);
        for (size_t i = 0; i < together && !code; i++) {
            const files from = {paths, count, is_shared ? &shared : NULL, (uint32_t)i};
            code = count_column(options, context, &from, names[c + i], &results[*done]);
            *done += results[*done] != NULL;
        }
        if (is_shared)
            cli_source_close(&shared);
    }
    return code;
}

static int count_groups(const cli_options *options, tally_context *context, cli_target *target)
{
    static const char *const standard_input[] = {"-"};
    const char *const *paths = options->operand_count ? options->operands : standard_input;
    size_t count = options->operand_count ? options->operand_count : 1;
    const int separate = cli_has(options, CLI_SEPARATE);
    size_t groups = cli_has(options, CLI_EACH) ? count : 1;
    char **names = NULL;
    size_t made = 0, columns = 0, done = 0;
    const char *kept[1];
    if (separate && count == 1 && strcmp(*paths, "-") == 0) {
        const int code = cli_stdin_keep(kept);
        if (code)
            return code;
        paths = kept;
    }
    int code = separate ? find_columns(options, paths[0], &names, &made, &columns) : CLI_OK;
    const size_t most = groups > columns ? groups : columns;
    tally_result **results = calloc(most, sizeof(tally_result *));
    code = code || results ? code : cli_fail("out of memory");
    const int going = cli_has(options, CLI_KEEP_GOING);
    for (size_t g = 0; g < groups && (!code || (going && results)); g++) {
        const int now =
            separate
                ? count_columns(options, context, paths, count, names, columns, results, &done)
                : count_group(options, context, paths + g, groups > 1 ? 1 : count, &results[done]);
        code = code ? code : now;
        done += !separate && results[done] != NULL;
    }
    target->write.array = cli_has(options, CLI_EACH) || separate;
    if (results && done && (!code || going) && cli_team_writes(options)) {
        const int written = cli_results_write(target, results, done);
        code = code ? code : written;
    }
    for (size_t g = 0; results && g < most; g++)
        tally_result_destroy(results[g]);
    free(results);
    cli_split_free(names, made);
    return code;
}

int cli_run(const cli_options *given)
{
    cli_options with_all = *given;
    const cli_options *options = &with_all;
    with_all.values[CLI_SEPARATE].count += (size_t)cli_wants_all(given);
    cli_target target = {.format = TALLY_FORMAT_TABLE};
    tally_context *context = NULL;
    int code = cli_run_check(options, &target);
    if (code)
        return code;
    code = cli_context_open(options, &context);
    if (code)
        return code;
    code = count_groups(options, context, &target);
    tally_context_destroy(context);
    if ((code == CLI_FAILED || code == CLI_UNSUPPORTED) && !options->team)
        cli_run_hint(options);
    return code;
}
