/* SPDX-License-Identifier: Apache-2.0 */
/* One point: plan, warm-up, repeats, comparison with the reference, a line. */
#include <math.h>

#include "figure.h"

enum { MOST_SETTINGS = 8, MERGE_REPEATS = 5 };

/* Seconds that a point's repeats may take. */
static double budget(const figure_run *run)
{
    return run->quick ? 0.01 : 0.25;
}

uint64_t figure_most(const figure_run *run, uint64_t full, uint64_t quick, tally_dtype dtype)
{
    uint64_t fits = run->info.memory_bytes / 5 / tally_dtype_bytes(dtype);
    uint64_t most = run->quick ? quick : full;
    uint64_t given = (run->options->mib << 20) / tally_dtype_bytes(dtype);
    if (given && given < most)
        most = given;
    return most < fits ? most : fits;
}

bench_line *figure_last(figure_run *run)
{
    return run->lines.count && !run->counting ? &run->lines.all[run->lines.count - 1] : NULL;
}

/* ---- plans ---- */

typedef struct point {
    figure_run *run;
    const figure_try *wanted;
    tally_context *context;
    tally_plan *plan;
    void *host_samples;
    tally_view view;
    void *counts;
    size_t count_bytes; /* of one counter */
    double seconds[FIGURE_MOST_REPEATS], calls[FIGURE_MOST_REPEATS];
    unsigned repeats;
    uint16_t categories[256];
    tally_setting settings[MOST_SETTINGS];
    char pieces[128];
} point;

static tally_axis axis_of(point *p)
{
    if (p->wanted->hi > 0)
        return tally_axis_even(p->wanted->bins, 0, p->wanted->hi);
    tally_axis axis = TALLY_AXIS_INIT;
    axis.kind = TALLY_AXIS_CATEGORY;
    axis.bins = tally_categories_letters("abcdefghijklmnopqrstuvwxyz", 26, 4, p->categories);
    axis.categories = p->categories;
    return axis;
}

/* "k=31,threads=64" into settings. */
static size_t split_settings(point *p)
{
    size_t count = 0;
    snprintf(p->pieces, sizeof p->pieces, "%s", p->wanted->set ? p->wanted->set : "");
    for (char *at = p->pieces; *at && count < MOST_SETTINGS;) {
        char *end = at + strcspn(at, ","), *equal = strchr(at, '=');
        char *more = *end ? end + 1 : end;
        *end = '\0';
        *equal = '\0';
        p->settings[count++] = (tally_setting){at, equal + 1};
        at = more;
    }
    return count;
}

static tally_status make_plan(point *p, tally_error *error)
{
    const figure_try *w = p->wanted;
    tally_plan_options options = {.struct_size = sizeof options, .dimensions = 1};
    options.axes[0] = axis_of(p);
    options.dtypes[0] = w->dtype;
    options.counter = w->counter;
    options.method = w->method;
    options.n_hint = w->n;
    options.timing_only = w->timing_only;
    options.settings_count = split_settings(p);
    options.settings = p->settings;
    tally_status status = tally_plan_create(p->context, &options, &p->plan, error);
    if (status)
        return status;
    p->count_bytes = w->counter == TALLY_COUNTER_U16SAT ? 2 : 8;
    p->counts = calloc(tally_plan_bins(p->plan), p->count_bytes);
    return p->counts ? TALLY_OK : TALLY_ERROR_MEMORY;
}

static tally_status look(point *p, tally_error *error)
{
    const figure_try *w = p->wanted;
    const figure_data *data = &p->run->data;
    tally_status status = figure_data_need(p->run, w, error);
    if (status)
        return status;
    if (w->from_host || w->on_host) {
        p->host_samples = figure_data_host(data, w);
        p->view = tally_view_1d(p->host_samples, w->dtype, w->n);
        return p->host_samples ? TALLY_OK : TALLY_ERROR_MEMORY;
    }
    p->view = tally_view_1d(data->memory, w->dtype, w->n);
    p->view.device = p->run->info.device;
    return TALLY_OK;
}

/* ---- time ---- */

static tally_status call(point *p, double *merging, double *device, double *wall,
                         tally_error *error)
{
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = p->counts;
    how.device_seconds = device;
    how.merge_seconds = merging;
    double begin = bench_seconds();
    tally_status status = tally_execute(p->plan, &p->view, &how, &output, error);
    *wall = bench_seconds() - begin;
    return status;
}

static tally_status measure(point *p, tally_error *error)
{
    double device, wall, spent = 0;
    tally_status status = call(p, NULL, &device, &wall, error);
    if (!status && wall < budget(p->run))
        status = call(p, NULL, &device, &wall, error);
    p->repeats = 0;
    while (!status && p->repeats < p->run->repeats &&
           (p->repeats == 0 || p->wanted->every_run || spent < budget(p->run))) {
        status = call(p, NULL, &device, &wall, error);
        p->seconds[p->repeats] = p->wanted->from_host || p->wanted->on_host ? wall : device;
        p->calls[p->repeats++] = wall;
        spent += wall;
    }
    return status;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double mean(const double *values, unsigned count)
{
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

/* The time of merging, in that of counting. */
static tally_status measure_merge(point *p, bench_line *line, tally_error *error)
{
    double shares[MERGE_REPEATS], merging, device, wall;
    for (int i = 0; i < MERGE_REPEATS; i++) {
        tally_status status = call(p, &merging, &device, &wall, error);
        if (status)
            return status;
        shares[i] = merging / (device - merging);
    }
    bench_set_number(line, "merge_of_counting", median(shares, MERGE_REPEATS));
    return TALLY_OK;
}

/* ---- counts ---- */

static tally_status count_reference(point *p, uint64_t n, uint64_t *to, tally_error *error)
{
    tally_plan_options options = {.struct_size = sizeof options, .dimensions = 1};
    tally_plan *plan = NULL;
    options.axes[0] = axis_of(p);
    options.dtypes[0] = p->wanted->dtype;
    tally_status status = tally_plan_create(p->run->host, &options, &plan, error);
    tally_view view = tally_view_1d(p->run->data.period, p->wanted->dtype, n);
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = to;
    if (!status)
        status = tally_execute_reference(plan, &view, NULL, &output, error);
    tally_plan_destroy(plan);
    return status;
}

/* The reference's counts of the period, kept while data and axis stay the same. */
static tally_status expect_period(point *p, uint64_t bins, tally_error *error)
{
    figure_run *run = p->run;
    char name[96];
    snprintf(name, sizeof name, "%s|%llu|%g", run->data.made, (unsigned long long)bins,
             p->wanted->hi);
    if (strcmp(name, run->expected_for) == 0)
        return TALLY_OK;
    free(run->expected);
    run->expected_for[0] = '\0';
    run->expected = calloc(bins, sizeof *run->expected);
    if (!run->expected)
        return TALLY_ERROR_MEMORY;
    tally_status status = count_reference(p, run->data.samples, run->expected, error);
    if (!status)
        snprintf(run->expected_for, sizeof run->expected_for, "%s", name);
    return status;
}

/* n samples are so many periods and a rest: the reference counts the period and the rest. */
static tally_status compare(point *p, int *same, tally_error *error)
{
    uint64_t bins = tally_plan_bins(p->plan), n = p->wanted->n, period = p->run->data.samples;
    uint64_t *rest = calloc(bins, sizeof *rest);
    tally_status status = rest ? TALLY_OK : TALLY_ERROR_MEMORY;
    if (!status && n >= period)
        status = expect_period(p, bins, error);
    if (!status && n % period)
        status = count_reference(p, n % period, rest, error);
    *same = 1;
    for (uint64_t b = 0; b < bins && !status && *same; b++) {
        uint64_t want = rest[b] + (n >= period ? n / period * p->run->expected[b] : 0), got;
        if (p->count_bytes == 2) {
            want = want > UINT16_MAX ? UINT16_MAX : want;
            got = ((const uint16_t *)p->counts)[b];
        } else {
            got = ((const uint64_t *)p->counts)[b];
        }
        *same = got == want;
    }
    free(rest);
    return status;
}

/* ---- the line ---- */

static void describe(const figure_run *run, const figure_try *w, bench_line *line)
{
    line->count = 0;
    bench_set_text(line, "figure", run->figure->name);
    bench_set_text(line, "source", run->figure->source);
    if (w->panel)
        bench_set_text(line, "panel", w->panel);
    bench_set_text(line, "series", w->series);
    if (w->label)
        bench_set_text(line, "label", w->label);
    else
        bench_set_number(line, "x", w->x);
    bench_set_text(line, "device", w->on_host ? "cpu" : run->info.id);
    bench_set_text(line, "name", w->on_host ? "" : run->info.name);
    bench_set_text(line, "driver", w->on_host ? "" : run->info.driver);
    bench_set_text(line, "method", w->method ? w->method : "auto");
    bench_set_text(line, "set", w->set ? w->set : "");
    bench_set_text(line, "dtype", tally_dtype_name(w->dtype));
    bench_set_number(line, "n", (double)w->n);
    bench_set_number(line, "bins", (double)w->bins);
    bench_set_text(line, "data", w->data);
}

static void describe_kernel(point *p, bench_line *line)
{
    tally_kernel_info info = {.struct_size = sizeof info};
    if (p->wanted->on_host || tally_plan_kernel(p->plan, p->wanted->n, &info, NULL))
        return;
    bench_set_number(line, "groups", info.groups);
    bench_set_number(line, "group_size", info.group_size);
    bench_set_number(line, "local_bytes", info.local_bytes);
    bench_set_number(line, "registers", info.registers ? info.registers : NAN);
    bench_set_number(line, "spill_bytes", info.registers ? info.spill_bytes : NAN);
    bench_set_number(line, "units", info.units ? info.units : NAN);
    if (info.groups_per_unit) { /* as launched: no more groups than there are */
        double each = (double)info.groups / info.units, most = info.groups_per_unit;
        bench_set_number(line, "groups_per_unit", most);
        bench_set_number(line, "occupancy",
                         (each < most ? each : most) * info.group_size / info.unit_threads);
    }
}

static void describe_times(point *p, int same, bench_line *line)
{
    const figure_try *w = p->wanted;
    double bytes = (double)w->n * (double)tally_dtype_bytes(w->dtype);
    double middle = median(p->seconds, p->repeats);
    bench_set_text(line, "method", tally_plan_method(p->plan));
    bench_set_text(line, "clock", w->from_host || w->on_host ? "wall" : "device");
    bench_set_number(line, "median_s", middle);
    bench_set_number(line, "mean_s", mean(p->seconds, p->repeats));
    bench_set_number(line, "min_s", p->seconds[0]);
    bench_set_number(line, "max_s", p->seconds[p->repeats - 1]);
    bench_set_number(line, "call_s", median(p->calls, p->repeats));
    bench_set_number(line, "repeats", p->repeats);
    bench_set_number(line, "gbps", bytes / middle * 1e-9);
    bench_set_number(line, "samples_per_s", (double)w->n / middle);
    bench_set_number(line, "equal_neighbours", p->run->data.equal);
    bench_set_truth(line, "verified", same);
    if (w->timing_only)
        bench_set_truth(line, "timing_only", 1);
    describe_kernel(p, line);
}

static int finish(point *p, tally_status status, int same, bench_line *line,
                  const tally_error *error)
{
    figure_run *run = p->run;
    if (status == TALLY_ERROR_UNSUPPORTED) {
        bench_set_text(line, "skipped", error->message);
        run->skipped++;
        bench_note(run->options, "skipped: %s: %s: %s", run->figure->name, p->wanted->series,
                   error->message);
    } else if (status) {
        return bench_fail("%s: %s: %s", run->figure->name, p->wanted->series,
                          error->message[0] ? error->message : tally_status_string(status));
    } else if (!same && !p->wanted->timing_only) {
        run->wrong++;
        bench_fail("%s: %s: counts differ from the reference", run->figure->name,
                   p->wanted->series);
    }
    bench_set_text(line, "date", run->date);
    bench_set_text(line, "version", tally_version());
    bench_set_text(line, "commit", TALLY_COMMIT);
    if (run->quick)
        bench_set_truth(line, "quick", 1);
    return bench_lines_add(&run->lines, line);
}

int figure_measure(figure_run *run, const figure_try *wanted)
{
    tally_error error = {""};
    int same = 0;
    if (run->counting) {
        run->points++;
        return BENCH_OK;
    }
    point *p = calloc(1, sizeof *p);
    bench_line *line = calloc(1, sizeof *line);
    if (!p || !line) {
        free(p);
        free(line);
        return bench_fail("out of memory");
    }
    bench_progress_show(run->figure->name, run->done++, run->points);
    p->run = run;
    p->wanted = wanted;
    p->context = wanted->on_host ? run->host : run->device;
    describe(run, wanted, line);
    tally_status status = look(p, &error);
    if (!status)
        status = make_plan(p, &error);
    if (!status)
        status = measure(p, &error);
    if (!status)
        status = compare(p, &same, &error);
    if (!status) {
        describe_times(p, same, line);
        if (wanted->merge)
            status = measure_merge(p, line, &error);
    }
    int code = finish(p, status, same, line, &error);
    tally_plan_destroy(p->plan);
    free(p->host_samples);
    free(p->counts);
    free(p);
    free(line);
    return code;
}
