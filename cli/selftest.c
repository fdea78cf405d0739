/* SPDX-License-Identifier: Apache-2.0 */
/* `tally selftest`: every method on every device against the reference. */
#include <time.h>

#include "../common/random_case.h"
#include "../common/random_settings.h"
#include "cli.h"

enum { LEAST_CASES = 10, MOST_MISSES = 3000 };

typedef struct tested {
    char device[32];
    const char *method;
    uint64_t cases, failed;
    char skipped[300]; /* why, or empty */
} tested;

typedef struct job {
    const cli_options *options;
    uint64_t seed, cases; /* cases 0: by time */
    double share;         /* seconds a pair */
    tested *rows;
    size_t count;
    size_t live;            /* pairs whose device is there */
    tally_device_type only; /* --device */
    int32_t only_index;     /* -1: any */
    const char *only_method;
    cli_device_list list;
} job;

/* ---- one case ---- */

/* The two outputs of a case: as computed and as the reference has it. */
typedef struct outputs {
    tally_output output;
    size_t counts_bytes, cells;
} outputs;

static size_t counter_bytes(const tally_plan_options *plan)
{
    static const size_t sizes[] = {8, 4, 2, 1};
    return plan->weight_limit != 0 ? sizeof(tally_wide)
           : plan->weight_dtype    ? 8
                                   : sizes[plan->counter];
}

static int outputs_make(outputs *out, const random_case *test, uint64_t bins, int accumulate)
{
    out->output = (tally_output)TALLY_OUTPUT_INIT;
    out->cells = (size_t)(test->histograms * bins);
    out->counts_bytes = out->cells * counter_bytes(&test->plan);
    out->output.accumulate = accumulate;
    out->output.counts = calloc(out->counts_bytes + 1, 1);
    out->output.flows = calloc((size_t)test->histograms + 1, sizeof(tally_flows));
    if (test->plan.sum_squares)
        out->output.sum_squares = calloc(out->cells + 1, sizeof(double));
    if (test->plan.weight_dtype)
        out->output.flow_sums =
            calloc((size_t)test->histograms + 1, 4 * counter_bytes(&test->plan));
    if (!out->output.counts || !out->output.flows ||
        (test->plan.sum_squares && !out->output.sum_squares) ||
        (test->plan.weight_dtype && !out->output.flow_sums))
        return 0;
    /* Something to add to, or to overwrite: small whole numbers. */
    const size_t size = counter_bytes(&test->plan);
    const int real = test->plan.weight_dtype >= TALLY_F16 && size == sizeof(double);
    for (size_t i = 0; i < out->cells; i++) {
        const tally_wide whole = {.low = i % 100};
        const double number = (double)whole.low;
        memcpy((unsigned char *)out->output.counts + i * size,
               real ? (const void *)&number : (const void *)&whole, size);
        if (out->output.sum_squares)
            out->output.sum_squares[i] = number;
    }
    return 1;
}

static void outputs_release(outputs *out)
{
    free(out->output.counts);
    free(out->output.flows);
    free(out->output.sum_squares);
    free(out->output.flow_sums);
}

/* What differs, or NULL. */
static const char *difference(const outputs *a, const outputs *b, const random_case *test)
{
    if (test->plan.weight_dtype >= TALLY_F16 && test->plan.weight_limit == 0) {
        const double *x = a->output.counts, *y = b->output.counts;
        for (size_t i = 0; i < a->cells; i++)
            if (x[i] != y[i])
                return "sums";
    } else if (memcmp(a->output.counts, b->output.counts, a->counts_bytes) != 0) {
        return test->plan.weight_dtype ? "sums" : "counts";
    }
    if (memcmp(a->output.flows, b->output.flows, (size_t)test->histograms * sizeof(tally_flows)) !=
        0)
        return "samples in no bin";
    /* Sums of whole numbers, to which nothing was added: the same bits. */
    if (test->plan.weight_dtype &&
        memcmp(a->output.flow_sums, b->output.flow_sums,
               (size_t)test->histograms * 4 * counter_bytes(&test->plan)) != 0)
        return "weights of samples in no bin";
    for (size_t i = 0; test->plan.sum_squares && i < a->cells; i++)
        if (a->output.sum_squares[i] != b->output.sum_squares[i])
            return "sums of squares";
    return NULL;
}

static void report(const tested *row, const job *job, uint64_t number, const random_case *test,
                   const random_settings *settings, const char *what)
{
    char words[400];
    snprintf(words, sizeof words, "%s", test->text);
    random_settings_say(settings, words, sizeof words);
    cli_fail("%s %s: case %llu of seed %llu: %s (%s)", row->device, row->method,
             (unsigned long long)number, (unsigned long long)job->seed, what, words);
}

/* What is wrong with the plan's counts, or NULL. Calls that a policy of the case refuses are
 * refused by the reference too. */
static const char *compare(const tally_plan *plan, const random_case *test, int accumulate,
                           tally_error *error)
{
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    const uint64_t bins = tally_plan_bins(plan);
    outputs ours = {.cells = 0}, theirs = {.cells = 0};
    const char *what = "out of memory";
    how.mask = test->has_mask ? &test->mask : NULL;
    how.weights = test->has_weights ? &test->weights : NULL;
    if (outputs_make(&ours, test, bins, accumulate) &&
        outputs_make(&theirs, test, bins, accumulate)) {
        tally_error other = {""};
        const tally_status status = tally_execute(plan, test->views, &how, &ours.output, error);
        const tally_status wanted =
            tally_execute_reference(plan, test->views, &how, &theirs.output, &other);
        what = difference(&ours, &theirs, test);
        if (status != wanted) {
            *error = status ? *error : other;
            what = error->message;
        }
    }
    outputs_release(&ours);
    outputs_release(&theirs);
    return what;
}

/* What is wrong with the method's counts of a case, or NULL; a status that says that it does not
 * serve the case. Axes that float64 cannot hold are served by none. */
static const char *judge(tally_context *context, const tally_method_info *method, random_case *test,
                         int accumulate, tally_status *status, tally_error *error)
{
    tally_plan *plan = NULL;
    const char *what = NULL;
    *status = tally_plan_create(context, &test->plan, &plan, error);
    if (*status == TALLY_ERROR_ARGUMENT && !strncmp(error->message, "axis", 4))
        *status = TALLY_ERROR_UNSUPPORTED;
    if (*status)
        what = error->message;
    else if (strcmp(tally_plan_method(plan), method->name) != 0)
        what = "the plan took another method";
    else
        what = compare(plan, test, accumulate, error);
    tally_plan_destroy(plan);
    return what;
}

/* 1 counted (and noted in `row`), 0 the method does not serve this case. */
static int run_case(const job *job, tally_context *context, const tally_method_info *method,
                    uint64_t number, tested *row, tally_error *why)
{
    random_case test;
    random_settings settings = {.count = 0};
    rng random = {.state = job->seed ^ (number * UINT64_C(0x2545f4914f6cdd1d))};
    const uint64_t seed = rng_next(&random);
    tally_status status = TALLY_OK;
    tally_error error = {""};
    const char *what = "out of memory";
    if (!random_case_make(&test, seed, 0, method)) {
        uint64_t bins = 1;
        for (uint32_t d = 0; d < test.plan.dimensions; d++)
            bins *= test.plan.axes[d].bins;
        random_settings_draw(&settings, seed, method->parameters, bins);
        test.plan.method = method->name;
        test.plan.settings = settings.list;
        test.plan.settings_count = settings.count;
        what = judge(context, method, &test, (int)(seed & 1), &status, &error);
    }
    const int served = status != TALLY_ERROR_UNSUPPORTED;
    if (!served)
        *why = error;
    row->cases += (uint64_t)served;
    if (served && what && ++row->failed <= 3)
        report(row, job, number, &test, &settings, what);
    random_case_free(&test);
    return served;
}

/* ---- one device and method ---- */

static void run_pair(const job *job, tally_context *context, const tally_method_info *method,
                     tested *row)
{
    double started = cli_seconds();
    uint64_t misses = 0;
    tally_error why = {""};
    for (uint64_t number = 0;; number++) {
        if (job->cases && row->cases >= job->cases)
            break;
        if (!job->cases && row->cases >= LEAST_CASES && cli_seconds() - started >= job->share)
            break;
        if (run_case(job, context, method, number, row, &why))
            misses = 0;
        else if (++misses >= MOST_MISSES)
            break;
    }
    if (row->cases == 0)
        snprintf(row->skipped, sizeof row->skipped, "no case fits: %.200s", why.message);
    cli_say(job->options, "%s %s: %llu cases in %.2f s", row->device, row->method,
            (unsigned long long)row->cases, cli_seconds() - started);
}

static const char *type_name(tally_device_type type)
{
    return type == TALLY_DEVICE_CPU ? "cpu" : type == TALLY_DEVICE_CUDA ? "cuda" : "opencl";
}

static int serves(const tally_method_info *method, const tally_device_info *device, const job *job)
{
    if (job->only && job->only_index >= 0 && device->index != job->only_index)
        return 0;
    if (job->only_method && strcmp(method->name, job->only_method) != 0)
        return 0;
    return has_word(method->devices, type_name(device->device));
}

typedef void (*pair_action)(job *job, const tally_device_info *device, tally_context *context,
                            const tally_method_info *method, const char *missing);

/* Calls `act` for every device and method wanted; opens the devices if `open`. */
static void each_pair(job *job, int open, pair_action act)
{
    for (size_t d = 0; d < job->list.count; d++) {
        const tally_device_info device = job->list.devices[d];
        tally_context_options wanted = TALLY_CONTEXT_OPTIONS_INIT;
        tally_context *context = NULL;
        tally_error error = {""};
        wanted.device = device.device;
        wanted.index = device.index;
        wanted.threads = (uint32_t)cli_uint(job->options, CLI_THREADS, 0);
        const char *missing = device.available ? NULL : device.reason;
        if (open && device.available && tally_context_create(&wanted, &context, &error) != TALLY_OK)
            missing = error.message;
        for (uint32_t m = 0; m < tally_method_count(); m++) {
            tally_method_info method = {.struct_size = sizeof method};
            if (tally_method_get(m, &method, &error) == TALLY_OK && serves(&method, &device, job))
                act(job, &device, context, &method, missing);
        }
        tally_context_destroy(context);
    }
}

static void count_pair(job *job, const tally_device_info *device, tally_context *context,
                       const tally_method_info *method, const char *missing)
{
    (void)device, (void)context, (void)method;
    job->count++;
    job->live += missing == NULL;
}

static void test_pair(job *job, const tally_device_info *device, tally_context *context,
                      const tally_method_info *method, const char *missing)
{
    tested *row = &job->rows[job->count++];
    snprintf(row->device, sizeof row->device, "%s", device->id);
    row->method = method->name;
    if (missing)
        snprintf(row->skipped, sizeof row->skipped, "%s", missing);
    else
        run_pair(job, context, method, row);
}

/* ---- the report ---- */

static void show_json(const job *job)
{
    cli_out("[");
    for (size_t i = 0; i < job->count; i++) {
        const tested *row = &job->rows[i];
        cli_out("%s{\"device\":", i ? ",\n" : "");
        cli_out_json_string(row->device);
        cli_out(",\"method\":");
        cli_out_json_string(row->method);
        cli_out(",\"cases\":%llu,\"failed\":%llu,\"skipped\":", (unsigned long long)row->cases,
                (unsigned long long)row->failed);
        if (row->skipped[0])
            cli_out_json_string(row->skipped);
        else
            cli_out("null");
        cli_out(",\"seed\":%llu}", (unsigned long long)job->seed);
    }
    cli_out("]\n");
}

static void show_table(const job *job)
{
    uint64_t cases = 0, failed = 0;
    cli_out("%-10s %-26s %8s %8s\n", "device", "method", "cases", "failed");
    for (size_t i = 0; i < job->count; i++) {
        const tested *row = &job->rows[i];
        size_t alike = 1;
        while (row->skipped[0] && i + alike < job->count &&
               strcmp(row[alike].device, row->device) == 0 &&
               strcmp(row[alike].skipped, row->skipped) == 0)
            alike++;
        if (alike > 1)
            cli_out("%-10s %zu methods skipped: %s\n", row->device, alike, row->skipped);
        else if (row->skipped[0])
            cli_out("%-10s %-26s skipped: %s\n", row->device, row->method, row->skipped);
        else
            cli_out("%-10s %-26s %8llu %8llu\n", row->device, row->method,
                    (unsigned long long)row->cases, (unsigned long long)row->failed);
        i += alike - 1;
        cases += row->cases;
        failed += row->failed;
    }
    cli_out("%llu cases, %llu failed, seed %llu\n", (unsigned long long)cases,
            (unsigned long long)failed, (unsigned long long)job->seed);
}

static int find_wishes(job *job)
{
    const cli_options *options = job->options;
    const char *device = cli_text(options, CLI_DEVICE, "auto");
    const char *seed = cli_text(options, CLI_SEED, NULL);
    double seconds = 5;
    if (!parse_device(device, &job->only, &job->only_index))
        return cli_usage(options->word, "--device %s: auto, cpu, cuda, opencl, cuda:N or opencl:N",
                         device);
    if (!strchr(device, ':'))
        job->only_index = -1;
    job->only_method = cli_text(options, CLI_METHOD, NULL);
    if (job->only_method && strcmp(job->only_method, "auto") == 0)
        job->only_method = NULL;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    rng random = {.state = (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec};
    job->seed = seed ? cli_uint(options, CLI_SEED, 0) : rng_next(&random) >> 32;
    job->cases = cli_uint(options, CLI_CASES, 0);
    if (cli_has(options, CLI_SECONDS))
        cli_parse_real(cli_text(options, CLI_SECONDS, "5"), &seconds);
    if (seconds <= 0)
        return cli_usage(options->word, "--seconds %s: more than zero",
                         cli_text(options, CLI_SECONDS, ""));
    int code = cli_devices_find(job->only, &job->list);
    if (code)
        return code;
    each_pair(job, 0, count_pair);
    if (job->count == 0)
        return cli_usage(options->word, "no method %s on device %s; `tally methods` lists them",
                         job->only_method ? job->only_method : "at all", device);
    job->share = seconds / (double)(job->live ? job->live : 1);
    return CLI_OK;
}

static int test_all(job *job)
{
    uint64_t cases = 0, failed = 0;
    job->rows = calloc(job->count, sizeof *job->rows);
    if (!job->rows)
        return cli_fail("out of memory");
    job->count = 0;
    each_pair(job, 1, test_pair);
    for (size_t i = 0; i < job->count; i++) {
        cases += job->rows[i].cases;
        failed += job->rows[i].failed;
    }
    if (strcmp(cli_text(job->options, CLI_LIST_FORMAT, "table"), "json") == 0)
        show_json(job);
    else
        show_table(job);
    int code = cli_out_end();
    if (!cases)
        code = cli_fail("nothing could be tested: %s", job->rows[0].skipped);
    return failed ? CLI_FAILED : code;
}

int cli_selftest(const cli_options *options)
{
    job job = {.options = options};
    int code = find_wishes(&job);
    if (!code)
        code = test_all(&job);
    free(job.rows);
    free(job.list.devices);
    return code;
}
