/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own kernel methods on inputs of every kind, by the device's own clock, as fractions of a pass
 * that only reads in the same run: JSON lines on standard output, the worst input of each
 * configuration on standard error. All counts are compared with the processor's.
 *
 *     micro_own cuda|opencl [-m MIB] [-r REPEATS] [-t DTYPES] [-b BINS] [-i INPUTS] [-o METHODS]
 *               [-s KEY=VALUE,…[/KEY=VALUE,…]…] [-x LO:HI] [-a AXIS] [-d MIB]
 *               [-p PHOTOGRAPH] [-c PHOTOGRAPH] [-k TEXT]
 *
 * Samples repeat after the MiB of -d, so that a short run need not make so many.
 * Lists are separated by commas; without one everything is measured. Every method is measured with
 * each of the settings of -s that it takes; `auto`, if named, is what that takes. AXIS: even; log,
 * 1e-3 … 1e3; square, cubic, random: uneven edges, by powers of their number on [0, 1] and [-5, 5],
 * and drawn on [-5, 5]; -x does not change these. Inputs fill the bins of uneven axes as they fill
 * even ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/registry.h"
#include "micro.h"
#include "micro_read.h"
#include "own_inputs.h"
#include "plan/plan.h"

enum { period_bytes = 128 << 20, most_repeats = 31 };

void die(const char *what, const tally_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->message);
    exit(1);
}

/* Whether a list (NULL: everything) has the word. */
static int wanted(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at++) {
        if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ','))
            return 1;
    }
    return !list;
}

/* ---- one configuration ---- */

static tally_plan_options make_options(const bench *b, tally_dtype dtype, uint64_t bins)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    double lo, hi;
    ends(b, dtype, &lo, &hi);
    o.axes[0] = b->edges ? tally_axis_edges(bins, b->edges) : tally_axis_even(bins, lo, hi);
    o.dtypes[0] = dtype;
    o.n_hint = b->bytes / tally_dtype_bytes(dtype);
    return o;
}

/* What the whole buffer must give: a period's counts as often as it is repeated. */
static uint64_t *count_on_host(bench *b, tally_dtype dtype, uint64_t bins)
{
    tally_plan_options o = make_options(b, dtype, bins);
    tally_plan *plan = NULL;
    tally_error error = {""};
    uint64_t *counts = calloc(bins + 1, sizeof *counts);
    tally_output out = TALLY_OUTPUT_INIT;
    tally_flows flows;
    tally_view view = tally_view_1d(b->data, dtype, b->period / tally_dtype_bytes(dtype));
    out.counts = counts;
    out.flows = &flows;
    if (!counts || tally_plan_create(b->host, &o, &plan, &error) ||
        tally_execute(plan, &view, NULL, &out, &error))
        die("host", &error);
    counts[bins] = flows.nan * 3 + flows.over * 5 + flows.under * 7;
    for (uint64_t i = 0; i <= bins; i++)
        counts[i] *= b->bytes / b->period;
    tally_plan_destroy(plan);
    return counts;
}

static double report(const bench *b, const char *method, tally_dtype dtype, uint64_t bins,
                     const char *input, double *seconds, int verified)
{
    qsort(seconds, (size_t)b->repeats, sizeof *seconds, ascending);
    double median = seconds[b->repeats / 2];
    printf("{\"device\":\"%s\",\"name\":\"%s\",\"method\":\"%s\",\"set\":\"%s\",\"axis\":\"%s\","
           "\"dtype\":\"%s\","
           "\"n\":%llu,\"bins\":%llu,\"data\":\"%s\",\"median_s\":%.9f,\"min_s\":%.9f,"
           "\"max_s\":%.9f,\"repeats\":%d,\"gbps\":%.2f,\"fraction_of_read\":%.4f,"
           "\"verified\":%s}\n",
           b->name, b->device->name, method, b->set, b->axis, tally_dtype_name(dtype),
           (unsigned long long)(b->bytes / tally_dtype_bytes(dtype)), (unsigned long long)bins,
           input, median, seconds[0], seconds[b->repeats - 1], b->repeats,
           (double)b->bytes / median * 1e-9, b->read_seconds / median, verified ? "true" : "false");
    fflush(stdout);
    return b->read_seconds / median;
}

static size_t parse_settings(const char *set, char *text, size_t size, tally_setting *settings)
{
    size_t count = 0;
    char *rest = NULL;
    snprintf(text, size, "%s", set ? set : "");
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(one, '=');
        if (!equals || count == 8)
            continue;
        *equals = '\0';
        settings[count++] = (tally_setting){one, equals + 1};
    }
    return count;
}

/* The fraction of reading, or -1 when the method refuses. */
static double time_one(bench *b, const char *method, tally_dtype dtype, uint64_t bins,
                       const char *input, const uint64_t *want)
{
    tally_plan_options o = make_options(b, dtype, bins);
    tally_setting settings[8];
    char text[256];
    tally_plan *plan = NULL;
    tally_error error = {""};
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_flows flows;
    double seconds[most_repeats], one = 0;
    int right = 1;
    o.method = strcmp(method, "auto") != 0 ? method : NULL;
    o.settings = settings;
    o.settings_count = parse_settings(b->set, text, sizeof text, settings);
    if (tally_plan_create(b->context, &o, &plan, &error)) {
        if (!strstr(error.message, "at most") && !strstr(error.message, "has no setting"))
            fprintf(stderr, "%s: %s\n", method, error.message);
        return -1;
    }
    uint64_t *counts = calloc(bins + 1, sizeof *counts);
    tally_view view =
        tally_view_1d((void *)(uintptr_t)b->samples, dtype, b->bytes / tally_dtype_bytes(dtype));
    view.device = b->device->ops->type;
    out.counts = counts;
    out.flows = &flows;
    e.device_seconds = &one;
    for (int i = -1; i < b->repeats; i++) {
        if (tally_execute(plan, &view, &e, &out, &error))
            die(method, &error);
        counts[bins] = flows.nan * 3 + flows.over * 5 + flows.under * 7;
        right &= !memcmp(counts, want, (bins + 1) * sizeof *counts);
        if (i >= 0)
            seconds[i] = one;
    }
    b->failed += !right;
    double fraction = report(b, tally_plan_method(plan), dtype, bins, input, seconds, right);
    free(counts);
    tally_plan_destroy(plan);
    return right ? fraction : 0;
}

/* ---- everything ---- */

static const uint64_t all_bins[] = {2,     16,    64,    100,   256,    1024,   2048,   8192,
                                    16384, 32768, 56000, 65536, 110000, 262144, 1 << 20};
enum { bins_count = sizeof all_bins / sizeof *all_bins, most_methods = 8 };

static const char *const own_methods[] = {"lane-private", "swizzled", "packed16", "partitioned",
                                          "auto"};
enum { method_count = sizeof own_methods / sizeof *own_methods };

typedef struct worst {
    double fraction;
    const char *input;
} worst;

typedef worst table[most_sets][bins_count][method_count];

static void bench_bins(bench *b, tally_dtype dtype, int input, int k, table t)
{
    uint64_t *want = count_on_host(b, dtype, all_bins[k]);
    for (int i = 0; i < b->set_count * method_count; i++) {
        int m = i % method_count, s = i / method_count;
        const ty_method *method = ty_method_find(own_methods[m]);
        const int chosen = b->methods && !strcmp(own_methods[m], "auto");
        if (!wanted(b->methods, own_methods[m]) ||
            (!chosen && (!method || !(method->dtypes >> dtype & 1))))
            continue;
        b->set = b->sets[s];
        double f = time_one(b, own_methods[m], dtype, all_bins[k], own_inputs[input].name, want);
        worst *w = &t[s][k][m];
        if (f >= 0 && (!w->input || f < w->fraction))
            *w = (worst){f, own_inputs[input].name};
    }
    free(want);
}

static void bench_input(bench *b, tally_dtype dtype, int input, table t)
{
    int filled = 0;
    for (int k = 0; k < bins_count; k++) {
        char number[24];
        snprintf(number, sizeof number, "%llu", (unsigned long long)all_bins[k]);
        if (!wanted(b->bins, number) || (dtype == TALLY_U8 && all_bins[k] > 256) ||
            ((dtype == TALLY_U16 || dtype == TALLY_I16) && all_bins[k] > 65536))
            continue;
        make_edges(b, dtype, all_bins[k]);
        if (!filled || own_inputs[input].by_bins || b->edges)
            fill(b, input, dtype, all_bins[k]);
        filled = 1;
        bench_bins(b, dtype, input, k, t);
    }
}

static void print_table(const bench *b, worst t[bins_count][method_count])
{
    fprintf(stderr, "%10s", "bins");
    for (int m = 0; m < method_count; m++)
        fprintf(stderr, " %24s", own_methods[m]);
    for (int k = 0; k < bins_count; k++) {
        int any = 0;
        for (int m = 0; m < method_count; m++)
            any |= t[k][m].input != NULL;
        if (any)
            fprintf(stderr, "\n%10llu", (unsigned long long)all_bins[k]);
        for (int m = 0; any && m < method_count; m++) {
            const worst *w = &t[k][m];
            if (w->input)
                fprintf(stderr, " %10s %5.1f %% %5.0f", w->input, w->fraction * 100,
                        w->fraction * (double)b->bytes / b->read_seconds * 1e-9);
            else
                fprintf(stderr, " %24s", "-");
        }
    }
    fprintf(stderr, "\n");
}

static void bench_dtype(bench *b, tally_dtype dtype)
{
    static table t;
    memset(t, 0, sizeof t);
    if (!wanted(b->dtypes, tally_dtype_name(dtype)))
        return;
    for (int i = 0; i < own_input_count; i++) {
        int whole = dtype < TALLY_F16, file = i - own_file_inputs;
        if (wanted(b->inputs, own_inputs[i].name) &&
            !(whole && !strcmp(own_inputs[i].name, "nan")) && (file < 0 || b->files[file].size))
            bench_input(b, dtype, i, t);
    }
    for (int s = 0; s < b->set_count; s++) {
        fprintf(stderr, "%s %s: worst input of each\n", tally_dtype_name(dtype), b->sets[s]);
        print_table(b, t[s]);
    }
}

static void parse_sets(bench *b, char *text)
{
    char *rest = NULL;
    for (char *one = strtok_r(text, "/", &rest); one && b->set_count < most_sets;
         one = strtok_r(NULL, "/", &rest))
        b->sets[b->set_count++] = one;
}

static void parse(bench *b, int argc, char **argv, const char **paths)
{
    for (int i = 2; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        switch (argv[i][0] == '-' ? argv[i][1] : 0) {
        case 'm':
            b->bytes = (size_t)(strtoull(value, NULL, 10) << 20);
            break;
        case 'r':
            b->repeats = atoi(value);
            break;
        case 't':
            b->dtypes = value;
            break;
        case 'b':
            b->bins = value;
            break;
        case 'i':
            b->inputs = value;
            break;
        case 'o':
            b->methods = value;
            break;
        case 's':
            parse_sets(b, argv[i + 1]);
            break;
        case 'x':
            sscanf(value, "%lf:%lf", &b->lo, &b->hi);
            break;
        case 'd':
            b->period = (size_t)(strtoull(value, NULL, 10) << 20);
            break;
        case 'a':
            b->axis = value;
            break;
        case 'p':
            paths[0] = value;
            break;
        case 'c':
            paths[1] = value;
            break;
        case 'k':
            paths[2] = value;
            break;
        default:
            fprintf(stderr, "%s: unknown option\n", argv[i]);
            exit(2);
        }
    }
    if (!b->set_count)
        b->sets[b->set_count++] = "";
    b->repeats = b->repeats < 1 ? 1 : b->repeats > most_repeats ? most_repeats : b->repeats;
    b->period = b->bytes < b->period ? b->bytes : b->period;
    b->bytes -= b->bytes % b->period;
}

int main(int argc, char **argv)
{
    static const tally_dtype dtypes[] = {TALLY_U8,   TALLY_U16, TALLY_I16, TALLY_F16,
                                         TALLY_BF16, TALLY_I32, TALLY_F32, TALLY_F64};
    bench b = {.bytes = (size_t)2 << 30, .period = period_bytes, .repeats = 7, .axis = "even"};
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    const char *paths[3] = {NULL, NULL, NULL};
    void *block = NULL;
    b.name = argc > 1 ? argv[1] : "opencl";
    parse(&b, argc, argv, paths);
    o.device = !strcmp(b.name, "cuda") ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    if (tally_context_create(&o, &b.context, &error)) {
        printf("{\"device\":\"%s\",\"skipped\":\"%s\"}\n", b.name, error.message);
        return 77;
    }
    o.device = TALLY_DEVICE_CPU;
    if (tally_context_create(&o, &b.host, &error))
        die("cpu", &error);
    b.device = b.context->state;
    if (b.device->ops->pinned_alloc(b.device, b.period, &block, &error) ||
        b.device->ops->queue_open(b.device, NULL, &b.queue, &error) ||
        b.device->ops->alloc(b.device, b.bytes, &b.samples, &error))
        die("memory", &error);
    b.data = block;
    load_photograph(&b, 0, paths[0]);
    load_photograph(&b, 1, paths[1]);
    load_text(&b, 2, paths[2]);
    fill(&b, 2, TALLY_F32, 256);
    b.read_seconds = micro_read_seconds(b.device, b.queue, b.samples, b.bytes);
    printf(
        "{\"device\":\"%s\",\"name\":\"%s\",\"method\":\"read-only\",\"n\":%zu,\"median_s\":%.9f,"
        "\"gbps\":%.2f}\n",
        b.name, b.device->name, b.bytes, b.read_seconds, (double)b.bytes / b.read_seconds * 1e-9);
    fprintf(stderr, "%s (%s), %zu MiB, reading %.1f GB/s\n", b.device->name, b.name, b.bytes >> 20,
            (double)b.bytes / b.read_seconds * 1e-9);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        bench_dtype(&b, dtypes[i]);
    b.device->ops->release(b.device, b.samples);
    b.device->ops->queue_close(b.device, b.queue);
    b.device->ops->pinned_free(b.device, block);
    for (int i = 0; i < 3; i++)
        free(b.files[i].bytes);
    free(b.edges);
    tally_context_destroy(b.context);
    tally_context_destroy(b.host);
    return b.failed ? 1 : 0;
}
