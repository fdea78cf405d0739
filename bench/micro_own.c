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
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/io.h>

#include "gpu/device.h"
#include "plan/registry.h"
#include "micro.h"
#include "micro_read.h"
#include "plan/plan.h"

enum { period_bytes = 128 << 20, most_repeats = 31, most_sets = 32 };

typedef struct bench {
    const char *name;
    tally_context *context, *host;
    ty_device *device;
    void *queue;
    ty_memory samples;
    size_t bytes, period; /* of the buffer, of what repeats in it */
    unsigned char *data;  /* one period, pinned */
    struct {
        unsigned char *bytes;
        size_t size;
    } files[3]; /* photograph, camera, book */
    int repeats, failed;
    const char *dtypes, *bins, *inputs, *methods;
    const char *sets[most_sets], *set; /* of -s; the one in use */
    int set_count;
    double lo, hi; /* -x */
    const char *axis;
    double *edges; /* of an uneven axis; NULL for an even one */
    double read_seconds;
} bench;

static void die(const char *what, const tally_error *error)
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

/* ---- inputs ---- */

/* What an input is drawn from: sample number i of n, the plan's bins. Returns a place on the axis:
 * 0 its lower end, 1 its upper. */
typedef double draw(const bench *b, uint64_t i, uint64_t n, uint64_t bins);

static double zeros(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return 0;
}

static double equal(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return 0.37;
}

static double uniform(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return random_unit();
}

static double normal(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    double sum = 0;
    (void)b, (void)i, (void)n, (void)bins;
    for (int k = 0; k < 4; k++)
        sum += random_unit();
    return 0.5 + (sum - 2) / 4; /* deviation 0.14 */
}

/* Neighbouring samples k bins apart, each in the middle of its bin. */
static double ramp(uint64_t i, uint64_t bins, uint64_t k)
{
    return ((double)(i * k % bins) + 0.5) / (double)bins;
}

static double ramp1(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)n;
    return ramp(i, bins, 1);
}

static double ramp32(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)n;
    return ramp(i, bins, 32);
}

static double ramp33(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)n;
    return ramp(i, bins, 33);
}

/* The 32 lanes of a warp 1024 bins apart, in loads of four samples. */
static double lanes(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)n;
    return ramp(i / 4 % 32, bins, 1024);
}

static double walk(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    static double at;
    (void)b, (void)n, (void)bins;
    at = i ? at + (random_unit() - 0.5) * 0.01 : 0.5;
    return at = at < 0 ? -at : at >= 1 ? 2 - at - 1e-9 : at;
}

static double sorted(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)bins;
    return (double)i / (double)n;
}

static double two(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)n, (void)bins;
    return i & 1 ? 0.81 : 0.12;
}

static double eight(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)n, (void)bins;
    return (double)(i & 7) * 0.11 + 0.05;
}

/* Two neighbouring bins at random. */
static double coin(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n;
    return ((double)(bins / 3 & ~UINT64_C(1)) + 1.5 - (double)(random_next() >> 63)) / (double)bins;
}

static double third(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return random_next() % 3 ? random_unit() : 0.37;
}

static double grid(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return floor(random_unit() * 100) * 0.01;
}

static double edges(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n;
    return floor(random_unit() * (double)bins) * (1 / (double)bins);
}

static double skewed(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    double u = random_unit(), u2 = u * u, u4 = u2 * u2;
    (void)b, (void)i, (void)n, (void)bins;
    return u4 * u4;
}

static double mostly(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return random_next() % 10 ? 0.37 : random_unit();
}

/* Long runs: hot bins that change. */
static double runs(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    static double at;
    (void)b, (void)n, (void)bins;
    if (i % 100000 == 0)
        at = random_unit();
    return at;
}

static double missing(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return NAN;
}

static double over(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return 1.5;
}

static double strays(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)b, (void)i, (void)n, (void)bins;
    return random_next() % 1000 ? random_unit() * 1.02 - 0.01 : NAN;
}

static double photograph(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)n, (void)bins;
    return (double)b->files[0].bytes[i % b->files[0].size] / 256;
}

static double camera(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)n, (void)bins;
    return (double)b->files[1].bytes[i % b->files[1].size] / 256;
}

static double book(const bench *b, uint64_t i, uint64_t n, uint64_t bins)
{
    (void)n, (void)bins;
    return (double)b->files[2].bytes[i % b->files[2].size] / 256;
}

static const struct {
    const char *name;
    draw *make;
    int by_bins; /* depends on the number of bins */
} inputs[] = {{"zeros", zeros, 0},
              {"equal", equal, 0},
              {"uniform", uniform, 0},
              {"normal", normal, 0},
              {"ramp1", ramp1, 1},
              {"ramp32", ramp32, 1},
              {"ramp33", ramp33, 1},
              {"lanes1024", lanes, 1},
              {"walk", walk, 0},
              {"sorted", sorted, 0},
              {"two", two, 0},
              {"eight", eight, 0},
              {"coin", coin, 1},
              {"third", third, 0},
              {"grid", grid, 0},
              {"edges", edges, 1},
              {"skewed", skewed, 0},
              {"mostly", mostly, 0},
              {"runs", runs, 0},
              {"nan", missing, 0},
              {"over", over, 0},
              {"strays", strays, 0},
              {"photograph", photograph, 0},
              {"camera", camera, 0},
              {"book", book, 0}};
enum { input_count = sizeof inputs / sizeof *inputs, file_inputs = input_count - 3 };

/* The axis' ends for a dtype. */
static void ends(const bench *b, tally_dtype dtype, double *lo, double *hi)
{
    *lo = b->lo < b->hi ? b->lo : dtype == TALLY_I16 ? -32768 : 0;
    *hi = b->lo < b->hi        ? b->hi
          : dtype == TALLY_U8  ? 256
          : dtype == TALLY_U16 ? 65536
          : dtype == TALLY_I16 ? 32768
          : dtype >= TALLY_F16 ? 1
                               : 3e6;
}

/* The next float16 towards zero; what overflows or is none keeps being so. */
static uint16_t half_of(double x)
{
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    const double size = fabs(x);
    if (x != x)
        return 0x7e00;
    if (size >= 65536)
        return sign | 0x7c00;
    if (size < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)(size * 0x1p24));
    const int exponent = ilogb(size);
    return (uint16_t)(sign | (exponent + 15) << 10 | ((int)ldexp(size, 10 - exponent) & 1023));
}

static uint16_t brain_of(double x)
{
    const float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return x != x ? 0x7fc0 : (uint16_t)(bits >> 16);
}

/* Edge i of n of an uneven axis, but for whole numbers from 0 to 3e6. */
static double uneven_edge(const bench *b, uint64_t i, uint64_t n)
{
    double u = (double)i / (double)n, x = 2 * u - 1;
    return !strcmp(b->axis, "square")  ? u * u
           : !strcmp(b->axis, "cubic") ? x * x * x * 4 + x
                                       : 10 * random_unit() - 5;
}

/* The edges of an axis that is not even, for the number of bins. */
static void make_edges(bench *b, tally_dtype dtype, uint64_t bins)
{
    tally_axis log =
        tally_axis_log(bins, dtype >= TALLY_F16 ? 1e-3 : 1, dtype >= TALLY_F16 ? 1e3 : 3e6);
    tally_error error;
    free(b->edges);
    b->edges = NULL;
    if (!strcmp(b->axis, "even"))
        return;
    b->edges = malloc((bins + 1) * sizeof *b->edges);
    if (!b->edges || (!strcmp(b->axis, "log") && tally_axis_edges_get(&log, b->edges, &error)))
        die("edges", &error);
    if (!strcmp(b->axis, "log"))
        return;
    for (uint64_t i = 0; i <= bins; i++)
        b->edges[i] = uneven_edge(b, i, bins);
    qsort(b->edges, bins + 1, sizeof *b->edges, ascending);
    double lo = b->edges[0], width = b->edges[bins] - lo;
    for (uint64_t i = 0; i <= bins; i++) {
        if (dtype < TALLY_F16)
            b->edges[i] = floor((b->edges[i] - lo) / width * 3e6);
        if (i && !(b->edges[i] > b->edges[i - 1]))
            b->edges[i] =
                dtype < TALLY_F16 ? b->edges[i - 1] + 1 : nextafter(b->edges[i - 1], INFINITY);
    }
}

/* A place between 0 and 1, or somewhat outside, on the axis. */
static double on_axis(const bench *b, double place, double lo, double hi, uint64_t bins)
{
    if (!b->edges || !(place >= 0 && place < 1))
        return b->edges ? b->edges[0] + place * (b->edges[bins] - b->edges[0])
                        : lo + place * (hi - lo);
    double at = place * (double)bins;
    uint64_t i = (uint64_t)at;
    i = i < bins ? i : bins - 1;
    return b->edges[i] + (at - (double)i) * (b->edges[i + 1] - b->edges[i]);
}

static void put(tally_dtype dtype, unsigned char *to, uint64_t i, double x)
{
    double whole = x == x ? floor(x) : 0;
    switch (dtype) {
    case TALLY_U8:
        to[i] = (unsigned char)(whole < 0 ? 0 : whole > 255 ? 255 : whole);
        break;
    case TALLY_U16:
        ((uint16_t *)(void *)to)[i] = (uint16_t)(whole < 0 ? 0 : whole > 65535 ? 65535 : whole);
        break;
    case TALLY_I16:
        ((int16_t *)(void *)to)[i] = (int16_t)(whole < -32768  ? -32768
                                               : whole > 32767 ? 32767
                                                               : whole);
        break;
    case TALLY_F16:
        ((uint16_t *)(void *)to)[i] = half_of(x);
        break;
    case TALLY_BF16:
        ((uint16_t *)(void *)to)[i] = brain_of(x);
        break;
    case TALLY_I32:
        ((int32_t *)(void *)to)[i] = (int32_t)whole;
        break;
    case TALLY_F32:
        ((float *)(void *)to)[i] = (float)x;
        break;
    default:
        ((double *)(void *)to)[i] = x;
        break;
    }
}

static void fill(bench *b, int input, tally_dtype dtype, uint64_t bins)
{
    uint64_t n = b->period / tally_dtype_bytes(dtype);
    double lo, hi;
    tally_error error;
    ends(b, dtype, &lo, &hi);
    for (uint64_t i = 0; i < n; i++)
        put(dtype, b->data, i, on_axis(b, inputs[input].make(b, i, n, bins), lo, hi, bins));
    for (size_t at = 0; at < b->bytes; at += b->period) {
        if (b->device->ops->upload(b->device, b->queue, b->samples, at, b->data, b->period, &error))
            die("upload", &error);
    }
    if (b->device->ops->wait(b->device, b->queue, &error))
        die("upload", &error);
}

static void keep(bench *b, int file, const void *from, size_t size)
{
    b->files[file].bytes = realloc(b->files[file].bytes, b->files[file].size + size);
    if (!b->files[file].bytes)
        exit(1);
    memcpy(b->files[file].bytes + b->files[file].size, from, size);
    b->files[file].size += size;
}

static void load_photograph(bench *b, int file, const char *path)
{
    tally_input *input = NULL;
    tally_error error;
    tally_view view = TALLY_VIEW_INIT;
    int done = 0;
    if (!path || tally_input_open(path, NULL, &input, &error))
        return;
    while (!tally_input_read(input, &view, &done, &error) && !done) {
        size_t line = view.columns * view.channels;
        int64_t stride = view.row_stride_bytes ? view.row_stride_bytes : (int64_t)line;
        for (uint64_t r = 0; r < view.rows; r++)
            keep(b, file, (const char *)view.data + (int64_t)r * stride, line);
    }
    tally_input_close(input);
}

static void load_text(bench *b, int file, const char *path)
{
    char block[65536];
    size_t size;
    FILE *from = path ? fopen(path, "rb") : NULL;
    while (from && (size = fread(block, 1, sizeof block, from)) > 0)
        keep(b, file, block, size);
    if (from)
        fclose(from);
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
        double f = time_one(b, own_methods[m], dtype, all_bins[k], inputs[input].name, want);
        worst *w = &t[s][k][m];
        if (f >= 0 && (!w->input || f < w->fraction))
            *w = (worst){f, inputs[input].name};
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
        if (!filled || inputs[input].by_bins || b->edges)
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
    for (int i = 0; i < input_count; i++) {
        int whole = dtype < TALLY_F16, file = i - file_inputs;
        if (wanted(b->inputs, inputs[i].name) && !(whole && !strcmp(inputs[i].name, "nan")) &&
            (file < 0 || b->files[file].size))
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
