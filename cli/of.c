/* SPDX-License-Identifier: Apache-2.0 */
/* `tally run --of`: statistics of one column in each bin of another, as a table, CSV or JSON. */
#include <math.h>

#include "dates.h"
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
    tally_time bin_time, time;        /* of the bins' column, and of the other */
    calendar_precision edges, values; /* that these are shown to */
    int left, width;                  /* columns of the table: of bins, of a value */
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

/* ---- dates and times ---- */

static void find_precisions(profile *p)
{
    double least = INFINITY, most = -INFINITY;
    for (uint64_t i = 0; i < p->bins.cells; i++) {
        if (!p->bins.arrays.count[i])
            continue;
        least = fmin(least, p->bins.arrays.min[i]);
        most = fmax(most, p->bins.arrays.max[i]);
    }
    static const int widths[] = {4, 7, 10, 16, 19, 23, 26, 29};
    const calendar_precision wanted = calendar_as_fine((most - least) / 100, p->time),
                             finest = calendar_finest(p->time);
    p->values = p->time ? wanted < finest ? wanted : finest : CALENDAR_DAYS;
    p->width = widths[p->values] > 12 ? widths[p->values] : 12;
    for (uint64_t i = 0; i <= p->bins.cells; i++) {
        const double width = i < p->bins.cells ? edge(p, i + 1) - edge(p, i) : INFINITY;
        const calendar_precision own = calendar_within(
            edge(p, i), p->bin_time, fmin(width, i ? edge(p, i) - edge(p, i - 1) : width) / 100);
        p->edges = own > p->edges ? own : p->edges;
    }
    p->left = p->bin_time && widths[p->edges] > 11 ? 4 + 2 * widths[p->edges] : 27;
}

static void edge_text(const profile *p, uint64_t i, char text[CLI_DATE_SIZE])
{
    calendar_time at;
    if (p->bin_time && calendar_of(edge(p, i), p->bin_time, &at)) {
        at = calendar_round(at, p->edges);
        calendar_print(&at, p->edges, 0, text);
    } else {
        snprintf(text, CLI_DATE_SIZE, "%.6g", edge(p, i));
    }
}

/* For programs: a time without zeros behind its seconds. */
static void iso_text(double value, tally_time unit, char text[CLI_DATE_SIZE])
{
    const double ticks = (double)calendar_ticks(unit);
    const int is_whole = value == nearbyint(value) && (!ticks || fmod(value, ticks) == 0);
    cli_date_print(value, unit,
                   !is_whole ? calendar_finest(ticks ? unit : TALLY_TIME_SECOND)
                   : ticks   ? CALENDAR_SECONDS
                             : CALENDAR_DAYS,
                   1, text);
}

/* A value as a time, a length of time as one. */
static void table_number(const profile *p, double value, int is_length)
{
    char text[CLI_DATE_SIZE] = "";
    const char *unit;
    if (!isnan(value) && !p->time) {
        snprintf(text, sizeof text, "%.6g", value);
    } else if (!isnan(value) && is_length) {
        const double length = calendar_length(value, p->time, &unit);
        snprintf(text, sizeof text, "%.3g %s", length, unit);
    } else if (!isnan(value)) {
        cli_date_print(value, p->time, p->values, 0, text);
    }
    cli_out(" %*s", is_length ? 12 : p->width, text);
}

static void table_line(const profile *p, const char *name, const line *l)
{
    cli_out("%-*s %12llu", p->left, name, (unsigned long long)l->count);
    table_number(p, l->mean, 0);
    table_number(p, l->error, 1);
    table_number(p, l->sd, 1);
    table_number(p, l->min, 0);
    table_number(p, l->max, 0);
}

static const char *const flow_names[FLOWS] = {"under", "over", "nan"};

static void write_table(const profile *p)
{
    const char *const *names = (const char *const *)p->job->source.columns;
    char name[2 * CLI_DATE_SIZE + 8], lo[CLI_DATE_SIZE], hi[CLI_DATE_SIZE];
    double low, high;
    find_scale(p, &low, &high);
    cli_out_shown(names[1]);
    cli_out(" in bins of ");
    cli_out_shown(names[0]);
    cli_out("\n%-*s %12s %*s %12s %12s %*s %*s\n", p->left, "", "n", p->width, "mean", "+-", "sd",
            p->width, "min", p->width, "max");
    for (uint64_t i = 0; i < p->bins.cells; i++) {
        const line l = line_of(&p->bins, i);
        edge_text(p, i, lo);
        edge_text(p, i + 1, hi);
        snprintf(name, sizeof name, "[%s, %s%c", lo, hi,
                 i + 1 == p->bins.cells && is_closed(p) ? ']' : ')');
        table_line(p, name, &l);
        draw(&l, low, high);
        cli_out("\n");
    }
    for (uint64_t f = 0; f < FLOWS; f++) {
        const line l = line_of(&p->flows, f);
        if (!l.count)
            continue;
        table_line(p, flow_names[f], &l);
        cli_out("\n");
    }
}

/* A value for programs; a length of time in seconds, a date in quotes. */
static void put_value(double value, tally_time time, int is_length, const char *quote,
                      const char *none)
{
    char text[CLI_DATE_SIZE];
    if (!isfinite(value)) {
        cli_out("%s", none);
    } else if (time && !is_length) {
        iso_text(value, time, text);
        cli_out("%s%s%s", quote, text, quote);
    } else {
        cli_out_json_real(time ? value * calendar_nanoseconds(time) / 1e9 : value);
    }
}

enum { VALUES = 6 };
static const char *const value_names[VALUES] = {"mean", "error", "sd", "sum", "min", "max"};

/* As they are named; of times there is no sum. */
static void values_of(const profile *p, const line *l, double values[VALUES])
{
    const double all[VALUES] = {l->mean, l->error, l->sd, p->time ? NAN : l->sum, l->min, l->max};
    memcpy(values, all, sizeof all);
}

static int is_length(int value)
{
    return value == 1 || value == 2;
}

static void csv_number(double value, tally_time time, int length)
{
    put_value(value, time, length, "", !isinf(value) ? "" : value > 0 ? "inf" : "-inf");
}

static void write_csv(const profile *p)
{
    double values[VALUES];
    if (!cli_has(p->job->options, CLI_NO_HEADER))
        cli_out("low,high,count,mean,error,sd,sum,min,max\n");
    for (uint64_t i = 0; i < p->bins.cells; i++) {
        const line l = line_of(&p->bins, i);
        csv_number(edge(p, i), p->bin_time, 0);
        cli_out(",");
        csv_number(edge(p, i + 1), p->bin_time, 0);
        cli_out(",%llu", (unsigned long long)l.count);
        values_of(p, &l, values);
        for (int n = 0; n < VALUES; n++) {
            cli_out(",");
            csv_number(values[n], p->time, is_length(n));
        }
        cli_out("\n");
    }
}

static void json_line(const profile *p, const line *l)
{
    double values[VALUES];
    cli_out("\"count\":%llu", (unsigned long long)l->count);
    values_of(p, l, values);
    for (int n = 0; n < VALUES; n++) {
        cli_out(",\"%s\":", value_names[n]);
        put_value(values[n], p->time, is_length(n), "\"", "null");
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
        put_value(edge(p, i), p->bin_time, 0, "\"", "null");
        cli_out(",\"high\":");
        put_value(edge(p, i + 1), p->bin_time, 0, "\"", "null");
        cli_out(",");
        json_line(p, &l);
    }
    cli_out("]");
    for (uint64_t f = 0; f < FLOWS; f++) {
        const line l = line_of(&p->flows, f);
        cli_out(",\n\"%s\":{", flow_names[f]);
        json_line(p, &l);
    }
    cli_out("}\n");
}

static int write_profile(profile *p)
{
    cli_target target;
    find_precisions(p);
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
    profile p = {.job = job, .bin_time = job->source.times[0], .time = job->source.times[1]};
    const uint64_t bins = tally_plan_bins(job->plan);
    int code = CLI_OK;
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
