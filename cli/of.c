/* SPDX-License-Identifier: Apache-2.0 */
/* `tally run --of`: statistics of one column in each bin of another, as a table, CSV or JSON. */
#include <math.h>

#include "job.h"

enum { FLOWS = 3, FIELDS = 5 }; /* below, above, NaN; sum, mean, m2, min, max */

/* Of the bins, or of the samples in none. */
typedef struct statistics {
    tally_statistics arrays;
    uint64_t cells;
    void *memory;
} statistics;

typedef struct profile {
    cli_job *job;
    statistics bins, flows, more_bins, more_flows; /* more: of one chunk */
    int any;
} profile;

static int statistics_make(statistics *s, uint64_t cells)
{
    double *at = calloc((size_t)cells, (FIELDS + 1) * sizeof *at);
    s->memory = at;
    s->cells = cells;
    s->arrays = (tally_statistics)TALLY_STATISTICS_INIT;
    s->arrays.count = s->memory;
    double **const fields[FIELDS] = {&s->arrays.sum, &s->arrays.mean, &s->arrays.m2, &s->arrays.min,
                                     &s->arrays.max};
    for (int f = 0; f < FIELDS && at; f++)
        *fields[f] = at + (size_t)(f + 1) * cells;
    return at != NULL;
}

static int show_progress(void *user, uint64_t done, uint64_t total)
{
    cli_source_progress(user, total ? (double)done / (double)total : 1);
    return 0;
}

static tally_status add_chunk(profile *p, const cli_chunk *chunk, tally_error *error)
{
    tally_statistics_options how = TALLY_STATISTICS_OPTIONS_INIT;
    const statistics *bins = p->any ? &p->more_bins : &p->bins,
                     *flows = p->any ? &p->more_flows : &p->flows;
    how.mask = chunk->has_mask ? &chunk->mask : NULL;
    how.skip_nan = 1;
    if (chunk->views[0].source && p->job->source.progress->on) {
        how.progress = show_progress;
        how.user = &p->job->source;
    }
    tally_status status = tally_bin_statistics(p->job->plan, chunk->views, &chunk->weights, 1, &how,
                                               &bins->arrays, &flows->arrays, error);
    if (!status && p->any)
        status = tally_statistics_merge(&p->bins.arrays, &bins->arrays, bins->cells, error);
    if (!status && p->any)
        status = tally_statistics_merge(&p->flows.arrays, &flows->arrays, flows->cells, error);
    p->any = 1;
    p->job->elements += chunk->elements;
    return status;
}

static int add_all(profile *p)
{
    tally_error error = {""};
    int done = 0;
    tally_status status = TALLY_OK;
    while (!status && !done) {
        cli_chunk chunk;
        status = cli_source_read(&p->job->source, &chunk, &done, &error);
        if (!status && !done)
            status = add_chunk(p, &chunk, &error);
    }
    return status ? cli_fail_status(status, &error) : CLI_OK;
}

/* ---- what is shown ---- */

/* One bin's, or one flow's. */
typedef struct line {
    uint64_t count;
    double sum, mean, error, sd, min, max;
} line;

static line line_of(const statistics *s, uint64_t i)
{
    const tally_statistics *a = &s->arrays;
    const double n = (double)a->count[i];
    line l = {a->count[i], a->sum[i], a->mean[i], NAN, NAN, a->min[i], a->max[i]};
    if (!l.count)
        l.sum = 0, l.mean = l.min = l.max = NAN;
    if (l.count > 1) {
        l.sd = sqrt(a->m2[i] / (n - 1));
        l.error = l.sd / sqrt(n);
    }
    return l;
}

static double edge(const profile *p, uint64_t i)
{
    return tally_axis_edge(&tally_plan_options_get(p->job->plan)->axes[0], i);
}

static int is_closed(const profile *p)
{
    const tally_axis *axis = &tally_plan_options_get(p->job->plan)->axes[0];
    return axis->last == TALLY_LAST_CLOSED && axis->kind != TALLY_AXIS_INTEGER;
}

/* The ends of all means with their errors. */
static void find_scale(const profile *p, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (uint64_t i = 0; i < p->bins.cells; i++) {
        const line l = line_of(&p->bins, i);
        const double error = isfinite(l.error) ? l.error : 0;
        if (!isfinite(l.mean))
            continue;
        *low = fmin(*low, l.mean - error);
        *high = fmax(*high, l.mean + error);
    }
}

/* A mean as a point with its error to both sides. */
static void draw(const line *l, double low, double high)
{
    enum { WIDTH = 24 };
    char text[WIDTH + 1] = "";
    const double error = isfinite(l->error) ? l->error : 0;
    const double scale = high > low ? (WIDTH - 1) / (high - low) : 0;
    if (!isfinite(l->mean))
        return;
    const int at = (int)((l->mean - low) * scale + 0.5),
              from = (int)((l->mean - error - low) * scale + 0.5),
              to = (int)((l->mean + error - low) * scale + 0.5);
    for (int i = 0; i <= to && i < WIDTH; i++)
        text[i] = (char)(i == at ? 'o' : i < from ? ' ' : '-');
    cli_out("  %s", text);
}

static void table_number(double value)
{
    if (isnan(value))
        cli_out(" %12s", "");
    else
        cli_out(" %12.6g", value);
}

static void table_line(const char *name, const line *l)
{
    cli_out("%-27s %12llu", name, (unsigned long long)l->count);
    const double numbers[] = {l->mean, l->error, l->sd, l->min, l->max};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        table_number(numbers[i]);
}

static const char *const flow_names[FLOWS] = {"under", "over", "nan"};

static void write_table(const profile *p)
{
    const char *const *names = (const char *const *)p->job->source.columns;
    char name[80];
    double low, high;
    find_scale(p, &low, &high);
    cli_out_shown(names[1]);
    cli_out(" in bins of ");
    cli_out_shown(names[0]);
    cli_out("\n%-27s %12s %12s %12s %12s %12s %12s\n", "", "n", "mean", "+-", "sd", "min", "max");
    for (uint64_t i = 0; i < p->bins.cells; i++) {
        const line l = line_of(&p->bins, i);
        snprintf(name, sizeof name, "[%.6g, %.6g%c", edge(p, i), edge(p, i + 1),
                 i + 1 == p->bins.cells && is_closed(p) ? ']' : ')');
        table_line(name, &l);
        draw(&l, low, high);
        cli_out("\n");
    }
    for (uint64_t f = 0; f < FLOWS; f++) {
        const line l = line_of(&p->flows, f);
        if (!l.count)
            continue;
        table_line(flow_names[f], &l);
        cli_out("\n");
    }
}

static void csv_number(double value)
{
    cli_out(",");
    if (isfinite(value))
        cli_out_json_real(value);
    else if (isinf(value))
        cli_out(value > 0 ? "inf" : "-inf");
}

static void write_csv(const profile *p)
{
    if (!cli_has(p->job->options, CLI_NO_HEADER))
        cli_out("low,high,count,mean,error,sd,sum,min,max\n");
    for (uint64_t i = 0; i < p->bins.cells; i++) {
        const line l = line_of(&p->bins, i);
        cli_out_json_real(edge(p, i));
        csv_number(edge(p, i + 1));
        cli_out(",%llu", (unsigned long long)l.count);
        const double numbers[] = {l.mean, l.error, l.sd, l.sum, l.min, l.max};
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
            csv_number(numbers[n]);
        cli_out("\n");
    }
}

static void json_line(const line *l)
{
    static const char *const names[] = {"mean", "error", "sd", "sum", "min", "max"};
    const double numbers[] = {l->mean, l->error, l->sd, l->sum, l->min, l->max};
    cli_out("\"count\":%llu", (unsigned long long)l->count);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        cli_out(",\"%s\":", names[i]);
        cli_out_json_real(numbers[i]);
    }
    cli_out("}");
}

static void write_json(const profile *p)
{
    const char *const *names = (const char *const *)p->job->source.columns;
    cli_out("{\"kind\":\"profile\",\"column\":");
    cli_out_json_string(names[0]);
    cli_out(",\"of\":");
    cli_out_json_string(names[1]);
    cli_out(",\"samples\":%llu,\"last_closed\":%s,\n\"bins\":[",
            (unsigned long long)p->job->elements, is_closed(p) ? "true" : "false");
    for (uint64_t i = 0; i < p->bins.cells; i++) {
        const line l = line_of(&p->bins, i);
        cli_out("%s\n{\"low\":", i ? "," : "");
        cli_out_json_real(edge(p, i));
        cli_out(",\"high\":");
        cli_out_json_real(edge(p, i + 1));
        cli_out(",");
        json_line(&l);
    }
    cli_out("]");
    for (uint64_t f = 0; f < FLOWS; f++) {
        const line l = line_of(&p->flows, f);
        cli_out(",\n\"%s\":{", flow_names[f]);
        json_line(&l);
    }
    cli_out("}\n");
}

static int write_profile(const profile *p)
{
    cli_target target;
    const int code = cli_target_get(p->job->options, 0, &target);
    if (code)
        return code;
    if (target.format == TALLY_FORMAT_TABLE)
        write_table(p);
    else if (target.format == TALLY_FORMAT_CSV)
        write_csv(p);
    else
        write_json(p);
    return cli_out_end();
}

int cli_of_check(const cli_options *options, const cli_target *target, uint32_t axes)
{
    if (!cli_has(options, CLI_OF))
        return CLI_OK;
    if (axes != 1)
        return cli_usage(options->word, "--of: one column is binned; %u are named", axes);
    if (target->path || target->format == TALLY_FORMAT_NPY || target->format == TALLY_FORMAT_PNG ||
        target->format == TALLY_FORMAT_SVG)
        return cli_usage(options->word,
                         "--of writes a table, csv or json to standard output; -f names which");
    return CLI_OK;
}

int cli_of(cli_job *job)
{
    profile p = {.job = job};
    const uint64_t bins = tally_plan_bins(job->plan);
    int code = CLI_OK;
    if (job->source.times[0] != TALLY_TIME_NONE)
        return cli_fail("%s: --of bins numbers; %s holds dates or times",
                        cli_shown(job->source.paths[0]), job->source.columns[0]);
    if (!statistics_make(&p.bins, bins) || !statistics_make(&p.more_bins, bins) ||
        !statistics_make(&p.flows, FLOWS + 1) || !statistics_make(&p.more_flows, FLOWS + 1))
        code = cli_fail("out of memory");
    if (!code)
        code = add_all(&p);
    cli_progress_end(job->source.progress);
    if (!code)
        code = write_profile(&p);
    free(p.bins.memory);
    free(p.more_bins.memory);
    free(p.flows.memory);
    free(p.more_flows.memory);
    return code;
}
