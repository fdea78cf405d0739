/* SPDX-License-Identifier: Apache-2.0 */
/* `tally quantiles`: exact quantiles of each column or channel. */
#include <math.h>

#include "dates.h"
#include "job.h"

/* Of one column or channel of one file, or of all together. */
typedef struct series {
    char *source, *name; /* owned; either may be empty */
    tally_time time;
    uint64_t samples, missing;
    double *values; /* owned */
} series;

typedef struct job {
    const cli_options *options;
    tally_context *context;
    tally_format format;
    double *q;
    size_t count; /* of q */
    series *all;
    size_t found;
} job;

/* ---- finding ---- */

/* All channels' values; counts: of each the samples that were looked at, and then of each the NaN
 * among them; *elements there are. */
static tally_status search(const job *job, cli_source *source, double *values, uint64_t *counts,
                           uint64_t *elements, tally_error *error)
{
    uint64_t *nan = counts + source->channels;
    tally_quantile_search *search = NULL;
    if (cli_has(job->options, CLI_WEIGHTS))
        return cli_ranks_weighted(job->context, source, job->q, job->count, values, counts, nan,
                                  elements, error);
    tally_status status =
        cli_ranks_search(job->context, source, job->q, job->count, &search, elements, error);
    if (!status)
        status = tally_quantile_search_get(search, values, counts, nan, error);
    tally_quantile_search_destroy(search);
    return status;
}

/* A series for each channel. What of all elements was not looked at, without a mask, is missing. */
static tally_status take(job *job, cli_source *source, tally_error *error)
{
    const size_t channels = (size_t)source->channels, each = job->count;
    uint64_t elements = 0;
    double *values = calloc(channels * each + 1, sizeof *values);
    uint64_t *counts = calloc(2 * channels + 1, sizeof *counts);
    series *more = realloc(job->all, (job->found + channels + 1) * sizeof *more);
    job->all = more ? more : job->all;
    tally_status status = values && counts && more
                              ? search(job, source, values, counts, &elements, error)
                              : cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    const int masked = source->mask.input != NULL;
    for (size_t c = 0; c < channels && !status; c++) {
        const char *path = cli_has(job->options, CLI_EACH) || source->count == 1
                               ? cli_shown(source->paths[0])
                               : "";
        series *s = &more[job->found++];
        *s = (series){.source = strdup(path),
                      .name = strdup(source->names[c] ? source->names[c] : ""),
                      .time = source->times[0],
                      .samples = counts[c] - counts[channels + c],
                      .missing = counts[channels + c] + (masked ? 0 : elements - counts[c]),
                      .values = malloc((each + 1) * sizeof *values)};
        if (!s->source || !s->name || !s->values)
            status = cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
        else
            memcpy(s->values, values + c * each, each * sizeof *values);
    }
    free(values);
    free(counts);
    return status;
}

/* One column's, or all channels'; *status tells a table of several columns from other failures. */
static int find(job *job, const cli_options *options, const char *const *paths, size_t count,
                tally_status *status)
{
    cli_source source;
    cli_progress progress;
    tally_error error = {""};
    const size_t before = job->found;
    cli_progress_start(&progress, options, "reading");
    const int again = !cli_has(options, CLI_WEIGHTS);
    *status = cli_source_open(&source, options, paths, count, again, &progress, &error);
    const int opened = !*status;
    if (opened)
        *status = take(job, &source, &error);
    cli_progress_end(&progress);
    if (!*status && source.rounded)
        cli_note(options, "%s: integers beyond 2^53 were rounded to float64", cli_shown(paths[0]));
    for (size_t i = before; i < job->found && !*status; i++)
        cli_ranks_note(&source, job->all[i].values, job->count);
    if (opened)
        cli_source_close(&source);
    const int table = !opened && *status == TALLY_ERROR_ARGUMENT && !cli_has(options, CLI_COLUMN) &&
                      !cli_has(options, CLI_DTYPE);
    return *status && !table ? cli_fail_status(*status, &error) : CLI_OK;
}

/* Each column by itself, so that each is read in its own type. */
static int find_columns(job *job, const char *const *paths, size_t count, char *const *names,
                        size_t columns)
{
    int code = CLI_OK;
    for (size_t c = 0; c < columns && !code; c++) {
        cli_options one = *job->options;
        tally_status status;
        char *name = cli_column_escaped(names[c]);
        const char *text = name;
        one.values[CLI_COLUMN].texts = &text;
        one.values[CLI_COLUMN].count = 1;
        code = name ? find(job, &one, paths, count, &status) : cli_fail("out of memory");
        free(name);
    }
    return code;
}

/* Of files together. */
static int find_group(job *job, const char *const *paths, size_t count)
{
    const cli_options *options = job->options;
    const char *kept[1];
    char **names = NULL;
    size_t columns = 0, beside = 0;
    tally_status status = TALLY_OK;
    int code = CLI_OK, all = cli_wants_all(options);
    if (!all && cli_has(options, CLI_COLUMN))
        code = cli_columns_parse(options, &names, &columns, &beside);
    /* One column, or raw samples, are read once; columns each by itself. */
    if (!code && strcmp(paths[0], "-") == 0 && columns != 1 && !cli_has(options, CLI_DTYPE)) {
        code = cli_stdin_keep(kept);
        paths = kept;
    }
    if (!code && !all && !columns) {
        code = find(job, options, paths, count, &status);
        all = !code && status; /* a table */
    }
    if (!code && all)
        code = cli_all_columns(options, paths[0], &names, &columns);
    if (!code)
        code = find_columns(job, paths, count, names, columns - beside);
    cli_split_free(names, columns);
    return code;
}

/* ---- what is shown ---- */

static void print_value(const series *s, double value, int iso, char text[CLI_DATE_SIZE])
{
    if (isnan(value))
        strcpy(text, "");
    else if (s->time && isfinite(value))
        cli_date_print(value, s->time, calendar_finest(s->time), iso, text);
    else if (value == nearbyint(value) && fabs(value) <= 0x1p64)
        snprintf(text, CLI_DATE_SIZE, "%.0f", value); /* all digits, as of an id */
    else
        snprintf(text, CLI_DATE_SIZE, "%.12g", value);
}

static void print_label(const job *job, const series *s, char *to, size_t size)
{
    const int both = cli_has(job->options, CLI_EACH) && *s->source && *s->name;
    snprintf(to, size, "%s%s%s", both || !*s->name ? s->source : "", both ? " " : "", s->name);
}

/* A line for each quantile, a column for each series. */
static void write_table(const job *job)
{
    char text[512];
    for (size_t i = 0; i < job->found; i++) {
        const series *s = &job->all[i];
        print_label(job, s, text, sizeof text);
        cli_out("%s", i ? "\n" : "");
        cli_out_shown(text);
        cli_out("\n%10s  %llu", "samples", (unsigned long long)s->samples);
        if (s->missing)
            cli_out("\n%10s  %llu", "missing", (unsigned long long)s->missing);
        for (size_t k = 0; k < job->count; k++) {
            print_value(s, s->values[k], 0, text);
            cli_out("\n%10.6g  %s", job->q[k], text);
        }
        cli_out("\n");
    }
}

static void csv_text(const char *text)
{
    const int quoted = strpbrk(text, ",\"\n\r") != NULL;
    cli_out("%s", quoted ? "\"" : "");
    for (; *text; text++) {
        if (*text == '"')
            cli_out("\"");
        cli_out_bytes(text, 1);
    }
    cli_out("%s", quoted ? "\"" : "");
}

static void program_value(const series *s, double value, const char *quote)
{
    char text[CLI_DATE_SIZE];
    if (isfinite(value) && !s->time) {
        cli_out_json_real(value);
        return;
    }
    print_value(s, value, 1, text);
    cli_out("%s%s%s", quote, text, quote);
}

static void write_csv(const job *job)
{
    cli_out("source,column,samples,missing,quantile,value\n");
    for (size_t i = 0; i < job->found; i++)
        for (size_t k = 0; k < job->count; k++) {
            const series *s = &job->all[i];
            csv_text(s->source);
            cli_out(",");
            csv_text(s->name);
            cli_out(",%llu,%llu,", (unsigned long long)s->samples, (unsigned long long)s->missing);
            cli_out_json_real(job->q[k]);
            cli_out(",");
            program_value(s, s->values[k], "");
            cli_out("\n");
        }
}

static void write_json(const job *job)
{
    cli_out("[");
    for (size_t i = 0; i < job->found; i++) {
        const series *s = &job->all[i];
        cli_out("%s{\"kind\":\"quantiles\",\"source\":", i ? ",\n" : "");
        cli_out_json_string(s->source);
        cli_out(",\"column\":");
        cli_out_json_string(s->name);
        cli_out(",\"samples\":%llu,\"missing\":%llu,\"between\":\"%s\",\"quantiles\":[",
                (unsigned long long)s->samples, (unsigned long long)s->missing,
                cli_text(job->options, CLI_BETWEEN,
                         cli_has(job->options, CLI_WEIGHTS) ? "inverted_cdf" : "linear"));
        for (size_t k = 0; k < job->count; k++) {
            cli_out("%s{\"q\":", k ? "," : "");
            cli_out_json_real(job->q[k]);
            cli_out(",\"value\":");
            if (isnan(s->values[k]))
                cli_out("null");
            else
                program_value(s, s->values[k], "\"");
            cli_out("}");
        }
        cli_out("]}");
    }
    cli_out("]\n");
}

static int find_groups(job *job)
{
    static const char *const standard_input[] = {"-"};
    const cli_options *options = job->options;
    const char *const *paths = options->operand_count ? options->operands : standard_input;
    const size_t count = options->operand_count ? options->operand_count : 1;
    const int each = cli_has(options, CLI_EACH);
    int code = CLI_OK;
    for (size_t g = 0; g < (each ? count : 1) && !code; g++)
        code = find_group(job, paths + g, each ? 1 : count);
    return code;
}

int cli_quantiles(const cli_options *options)
{
    cli_target target = {.format = TALLY_FORMAT_TABLE};
    job job = {.options = options};
    int code = cli_run_check(options, &target);
    if (!code)
        code = cli_ranks_parse(options, "0,0.01,0.25,0.5,0.75,0.99,1", &job.q, &job.count);
    if (!code)
        code = cli_context_open(options, &job.context);
    if (!code)
        code = find_groups(&job);
    if (!code) {
        if (target.format == TALLY_FORMAT_TABLE)
            write_table(&job);
        else if (target.format == TALLY_FORMAT_CSV)
            write_csv(&job);
        else
            write_json(&job);
        code = cli_out_end();
    } else if (code == CLI_FAILED) {
        cli_run_hint(options);
    }
    for (size_t i = 0; i < job.found; i++) {
        free(job.all[i].source);
        free(job.all[i].name);
        free(job.all[i].values);
    }
    free(job.all);
    free(job.q);
    tally_context_destroy(job.context);
    return code;
}
