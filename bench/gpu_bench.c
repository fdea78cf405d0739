/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU benchmark: Tally and its peers on the same samples in device memory, timed by events,
 * every count compared; JSON lines on standard output. bench/gpu.sh builds and runs it.
 *
 *     gpu_bench [-p PEERS] [-y PYTHON] [-i PHOTOGRAPH] [-c PHOTOGRAPH] [-t TEXT] [-m MIB]
 *               [-o PARTS] [-d DTYPE] [-l SECONDS]
 *
 * PARTS, of "abcd": a, every type, number of bins and input, on 2 GiB (-m); b, the peers beside it
 * on 256 MiB; c, small and middle sizes; d, uneven edges, beside the peer that takes some. Counts
 * are compared with the processor's, of a block that the samples repeat. What SECONDS leave no
 * time for is named at the end, and the exit status is 3.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/threads.h"
#include "gpu/device.h"
#include "gpu_bench.h"
#include "plan/plan.h"

static const uint64_t all_bins[] = {2,     16,    64,     256,    1024,    2048,    8192,    32768,
                                    56000, 65536, 110000, 262144, 1 << 20, 4 << 20, 16 << 20};
const char *const dtype_names[] = {"u8", "u16", "i32", "f32", "f64"};
static const tally_dtype dtypes[] = {TALLY_U8, TALLY_U16, TALLY_I32, TALLY_F32, TALLY_F64};

enum { bins_count = sizeof all_bins / sizeof *all_bins };

/* The block that samples repeat, and what the peers get at most. */
static const uint64_t block_bytes = 128 << 20, peer_bytes = 256 << 20, uneven_bytes = 16 << 20;

void die(const char *what, const char *words)
{
    fprintf(stderr, "gpu_bench: %s: %s\n", what, words);
    exit(1);
}

/* ---- time ---- */

static const char *const work_names[] = {"inputs", "the processor's counts", "Tally", "peers"};
double spent[works];

/* What -l leaves no time for: configurations of each part and type. */
static double end_at;
static struct {
    char what[24];
    unsigned count;
} cut[32];

static int late(const point *p, const char *part)
{
    char what[24];
    int i = 0;
    if (end_at <= 0 || now() < end_at)
        return 0;
    snprintf(what, sizeof what, "%s %s", part, dtype_names[p->dtype]);
    while (i < 31 && cut[i].count && strcmp(cut[i].what, what) != 0)
        i++;
    snprintf(cut[i].what, sizeof cut[i].what, "%s", what);
    cut[i].count++;
    return 1;
}

/* ---- kernels of the benchmark itself ---- */

static const char own_kernels[] =
    "typedef unsigned long long u64; typedef unsigned int u32;\n"
    "extern \"C\" __global__ void readall(const uint4 *p, u64 n, u32 *out)\n"
    "{ u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;\n"
    "u32 s = 0;\n"
    "for (; i + 3 * step < n; i += 4 * step) {\n"
    "uint4 a = p[i], b = p[i + step], c = p[i + 2 * step], d = p[i + 3 * step];\n"
    "s += (a.x ^ a.y ^ a.z ^ a.w) + (b.x ^ b.y ^ b.z ^ b.w) + (c.x ^ c.y ^ c.z ^ c.w) + "
    "(d.x ^ d.y ^ d.z ^ d.w); }\n"
    "for (; i < n; i += step) { uint4 a = p[i]; s += a.x ^ a.y ^ a.z ^ a.w; }\n"
    "if (s == 0x9e3779b9u) out[0] = s; }\n"
    "extern \"C\" __global__ void repeat(uint4 *p, u64 n, u64 block)\n"
    "{ u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;\n"
    "for (i += block; i < n; i += step) p[i] = p[i % block]; }\n";

static ty_arg memory(ty_memory m)
{
    return (ty_arg){.kind = TY_ARG_MEMORY, .value.memory = m};
}

static ty_arg number(uint64_t n)
{
    return (ty_arg){.kind = TY_ARG_U64, .value.u64 = n};
}

static void launch(bench *b, const char *kernel, const ty_arg *args)
{
    tally_error error = {""};
    ty_launch l = {b->device->units * 8, 256, 0, args, 3, 0};
    if (b->device->ops->launch(b->device, b->queue, b->program, kernel, &l, &error))
        die(kernel, error.message);
}

static void wait_for(bench *b)
{
    tally_error error = {""};
    if (b->device->ops->wait(b->device, b->queue, &error))
        die("device", error.message);
}

/* Seconds of one pass that only reads. */
static double time_reading(bench *b, uint64_t bytes)
{
    const ty_device_ops *ops = b->device->ops;
    double seconds[9];
    ty_arg args[] = {memory(b->samples), number(bytes / 16), memory(b->read_out)};
    for (int i = -1; i < 9; i++) {
        void *from, *to;
        ops->event_record(b->device, b->queue, &from, NULL);
        launch(b, "readall", args);
        ops->event_record(b->device, b->queue, &to, NULL);
        wait_for(b);
        if (i >= 0)
            seconds[i] = ops->elapsed(b->device, from, to);
        ops->event_close(b->device, from);
        ops->event_close(b->device, to);
    }
    qsort(seconds, 9, sizeof *seconds, ascending);
    return seconds[4];
}

/* ---- samples ---- */

/* Moves a block's samples of [0, 1) from even bins into those between the point's edges. */
static void move_samples(bench *b, const point *p)
{
    float *narrow = (float *)(void *)b->block;
    double *wide = (double *)(void *)b->block;
    for (uint64_t i = 0; i < b->block_made / gpu_dtype_bytes(p->dtype); i++) {
        double at = (p->dtype == GPU_F64 ? wide[i] : (double)narrow[i]) * (double)p->bins;
        double bin = floor(fmin(fmax(at, 0), (double)(p->bins - 1)));
        const double *edge = p->edges + (size_t)bin;
        double x = edge[0] + (edge[1] - edge[0]) * (at - bin);
        x = p->dtype == GPU_F64 ? x : (double)(float)x;
        x = x < edge[1] ? x : edge[0]; /* rounded up to the next bin */
        if (p->dtype == GPU_F64)
            wide[i] = x;
        else
            narrow[i] = (float)x;
    }
}

/* Puts the point's input into device memory. 0 when it cannot be made. */
static int make_samples(bench *b, const point *p)
{
    tally_error error = {""};
    uint64_t bytes = p->n * gpu_dtype_bytes(p->dtype), most = p->edges ? uneven_bytes : block_bytes;
    const double begin = now();
    b->block_made = bytes < most ? bytes : most;
    if (!gpu_input_fill(b->host->pool, p->input, p->dtype, p->bins, &b->files, b->block,
                        b->block_made / gpu_dtype_bytes(p->dtype)))
        return 0;
    if (p->edges)
        move_samples(b, p);
    if (b->device->ops->upload(b->device, b->queue, b->samples, 0, b->block, b->block_made, &error))
        die("upload", error.message);
    if (bytes > b->block_made) {
        ty_arg args[] = {memory(b->samples), number(bytes / 16), number(b->block_made / 16)};
        launch(b, "repeat", args);
    }
    wait_for(b);
    spent[on_inputs] += now() - begin;
    return 1;
}

static tally_plan_options options_of(const point *p)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    o.axes[0] = p->edges ? tally_axis_edges(p->bins, p->edges)
                         : tally_axis_even(p->bins, 0, gpu_dtype_span(p->dtype));
    o.dtypes[0] = dtypes[p->dtype];
    o.n_hint = p->n;
    return o;
}

/* The counts that all must have: of the block, times its repeats. */
static void count_wanted(bench *b, const point *p)
{
    tally_plan_options o = options_of(p);
    tally_plan *plan = NULL;
    tally_error error = {""};
    tally_output out = TALLY_OUTPUT_INIT;
    uint64_t samples = b->block_made / gpu_dtype_bytes(p->dtype), times = p->n / samples;
    tally_view view = tally_view_1d(b->block, o.dtypes[0], samples);
    const double begin = now();
    out.counts = b->wanted;
    if (p->n % samples)
        die("sizes", "not a whole number of blocks");
    if (tally_plan_create(b->host, &o, &plan, &error) ||
        tally_execute(plan, &view, NULL, &out, &error))
        die("the processor's counts", error.message);
    tally_plan_destroy(plan);
    for (uint64_t i = 0; i < p->bins; i++)
        b->wanted[i] *= times;
    spent[on_host] += now() - begin;
}

uint64_t differing(const bench *b, uint64_t bins)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < bins; i++)
        n += b->wanted[i] != b->got[i];
    return n;
}

/* ---- results ---- */

static int wrong, measured;

void report(const point *p, const char *part, const char *by, const char *call, const char *version,
            timing *t)
{
    double bytes = (double)(p->n * gpu_dtype_bytes(p->dtype));
    qsort(t->seconds, (size_t)t->repeats, sizeof *t->seconds, ascending);
    double median = t->seconds[t->repeats / 2];
    printf("{\"part\":\"%s\",\"by\":\"%s\",\"call\":\"%s\",\"version\":\"%s\",\"dtype\":\"%s\","
           "\"bins\":%llu,\"data\":\"%s\",%s%s%s\"n\":%llu,\"bytes\":%.0f,\"median_s\":%.9f,"
           "\"min_s\":%.9f,\"max_s\":%.9f,\"repeats\":%d,\"gbps\":%.2f,\"fraction_of_read\":%.4f,"
           "\"same\":%s,\"bins_differing\":%llu}\n",
           part, by, call, version, dtype_names[p->dtype], (unsigned long long)p->bins, p->input,
           p->axis ? "\"axis\":\"" : "", p->axis ? p->axis : "", p->axis ? "\"," : "",
           (unsigned long long)p->n, bytes, median, t->seconds[0], t->seconds[t->repeats - 1],
           t->repeats, bytes / median * 1e-9, p->read_seconds / median,
           t->differing ? "false" : "true", (unsigned long long)t->differing);
    fflush(stdout);
    if (!strcmp(by, "Tally")) {
        measured++;
        wrong += t->differing != 0;
    }
}

unsigned calls_for(double seconds, unsigned most)
{
    return seconds * most < 0.02 ? most : seconds < 0.02 ? (unsigned)(0.02 / seconds) : 1;
}

int repeats_for(double seconds)
{
    return seconds < 0.02 ? most_repeats : seconds < 0.2 ? 3 : 1;
}

/* ---- Tally ---- */

/* Calls one after another on a stream, counts to device memory: seconds a call, by events. Negative
 * when this device or method cannot. */
static double time_stream(bench *b, tally_plan *plan, const tally_view *view, unsigned calls)
{
    const ty_device_ops *ops = b->device->ops;
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    void *from = NULL, *to = NULL;
    double seconds = -1;
    tally_status status = TALLY_OK;
    e.stream = (void *)2; /* CU_STREAM_PER_THREAD */
    out.counts = (void *)(uintptr_t)b->counts_memory;
    out.on_device = 1;
    void *queue = NULL;
    if (ops->queue_open(b->device, e.stream, &queue, NULL))
        return -1;
    ops->event_record(b->device, queue, &from, NULL);
    for (unsigned i = 0; i < calls && !status; i++)
        status = tally_execute(plan, view, &e, &out, NULL);
    ops->event_record(b->device, queue, &to, NULL);
    if (!ops->wait(b->device, queue, NULL) && !status)
        seconds = ops->elapsed(b->device, from, to) / calls;
    ops->event_close(b->device, from);
    ops->event_close(b->device, to);
    ops->queue_close(b->device, queue);
    return seconds;
}

static double time_once(tally_plan *plan, const tally_view *view, uint64_t *counts)
{
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    double seconds = 0;
    out.counts = counts;
    e.device_seconds = &seconds;
    if (tally_execute(plan, view, &e, &out, &error))
        die(tally_plan_describe(plan), error.message);
    return seconds;
}

static void run_tally(bench *b, const point *p, const char *part, unsigned calls)
{
    tally_plan_options o = options_of(p);
    tally_plan *plan = NULL;
    tally_error error = {""};
    timing t = {.repeats = 0};
    tally_view view = tally_view_1d((void *)(uintptr_t)b->samples, o.dtypes[0], p->n);
    const double begin = now();
    view.device = TALLY_DEVICE_CUDA;
    if (tally_plan_create(b->context, &o, &plan, &error))
        die("plan", error.message);
    double first = time_once(plan, &view, b->got);
    t.differing = differing(b, p->bins);
    calls = calls_for(first, calls);
    int slow = first > 0.1, many = !slow && time_stream(b, plan, &view, calls) > 0;
    t.repeats = slow ? 1 : repeats_for(first);
    t.seconds[0] = first;
    for (int i = 0; i < t.repeats && !slow; i++)
        t.seconds[i] = many ? time_stream(b, plan, &view, calls) : time_once(plan, &view, b->got);
    report(p, part, "Tally", tally_plan_method(plan), tally_version(), &t);
    tally_plan_destroy(plan);
    spent[on_tally] += now() - begin;
}

/* ---- the parts ---- */

/* Whether values of the type can fill so many bins. */
static int fits(gpu_dtype dtype, uint64_t bins)
{
    return (double)bins <= gpu_dtype_span(dtype) || dtype >= GPU_F32;
}

static int skips(const bench *b, gpu_dtype dtype)
{
    return b->only_dtype && strcmp(b->only_dtype, dtype_names[dtype]) != 0;
}

/* Inputs that are the same whatever the bins are made once a type. */
static int by_bins(const char *input)
{
    return !strcmp(input, "ramp") || !strcmp(input, "stride") || !strcmp(input, "bank");
}

/* Every type, number of bins and input, on all the memory. */
static void part_all(bench *b)
{
    double read = b->read_seconds;
    for (int d = 0; d < 5; d++) {
        for (int i = 0; gpu_inputs[i] && !skips(b, d); i++) {
            int made = 0;
            for (int k = 0; k < bins_count; k++) {
                point p = {(gpu_dtype)d, b->bytes / gpu_dtype_bytes(d),
                           all_bins[k],  gpu_inputs[i],
                           read,         NULL,
                           NULL};
                if (!fits(d, p.bins) || late(&p, "all"))
                    continue;
                if (!made || by_bins(p.input))
                    made = make_samples(b, &p);
                if (!made)
                    break;
                count_wanted(b, &p);
                run_tally(b, &p, "all", 1);
            }
        }
    }
}

/* Python's peers get the block only, which is half as long. */
static void beside_peers(bench *b, const point *p, int in_python)
{
    point half = *p;
    count_wanted(b, p);
    run_tally(b, p, "peers", 1);
    /* CUB 3.0.1 ends with 16 Mi bins in an illegal address, whatever the type. */
    for (int w = 0; w < b->peer_count && p->bins < 16 << 20; w++)
        run_peer(b, p, "peers", w, 1);
    if (!in_python || !b->to_python)
        return;
    half.n /= 2;
    half.read_seconds /= 2;
    for (uint64_t i = 0; i < p->bins; i++)
        b->wanted[i] /= 2;
    run_python(b, &half, "peers");
}

/* The peers, where a call of theirs takes no longer than a few tenths of a second. */
static void part_peers(bench *b)
{
    static const char *const inputs[] = {"zeros", "uniform", "ramp", "skewed", "photograph"};
    double read = time_reading(b, peer_bytes);
    for (int d = 0; d < 5; d++) {
        for (int i = 0; i < 5 && !skips(b, d); i++) {
            int made = 0;
            for (int k = 0; k < bins_count; k++) {
                point p = {(gpu_dtype)d, peer_bytes / gpu_dtype_bytes(d),
                           all_bins[k],  inputs[i],
                           read,         NULL,
                           NULL};
                int few = p.bins == 256 || p.bins == 2048 || p.bins == 65536 || p.bins == 1 << 20;
                int some =
                    few || p.bins == 16 || p.bins == 8192 || p.bins == 262144 || p.bins == 16 << 20;
                if (!some || !fits(d, p.bins) || late(&p, "peers"))
                    continue;
                if (!made || by_bins(p.input))
                    made = make_samples(b, &p);
                if (!made)
                    break;
                beside_peers(b, &p, few && i < 2);
            }
        }
    }
}

/* Calls one after another on sizes from 4 KiB on. */
static void part_sizes(bench *b)
{
    static const struct {
        gpu_dtype dtype;
        uint64_t bins;
    } kinds[] = {{GPU_U8, 256}, {GPU_F32, 1024}, {GPU_F32, 65536}, {GPU_F32, 1 << 20}};
    static const char *const inputs[] = {"zeros", "uniform", "photograph"};
    for (int shift = 12; shift <= 31 && UINT64_C(1) << shift <= b->bytes; shift += 2) {
        uint64_t bytes = UINT64_C(1) << shift;
        double read = time_reading(b, bytes);
        unsigned calls = shift < 24 ? 100 : shift < 28 ? 20 : 3;
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < 3 && !skips(b, kinds[k].dtype); i++) {
                point p = {kinds[k].dtype,
                           bytes / gpu_dtype_bytes(kinds[k].dtype),
                           kinds[k].bins,
                           inputs[i],
                           read,
                           NULL,
                           NULL};
                if (late(&p, "sizes") || !make_samples(b, &p))
                    continue;
                count_wanted(b, &p);
                run_tally(b, &p, "sizes", calls);
                for (int w = 0; w < b->peer_count; w++) {
                    if (strcmp(b->peers[w]->call, "HistogramRange") != 0)
                        run_peer(b, &p, "sizes", w, calls);
                }
            }
        }
    }
}

/* Edges by logarithm, 1e-3 … 1e3, or drawn between 0 and 1; numbers of the samples' type. */
static double *make_edges(gpu_dtype dtype, uint64_t bins, int drawn)
{
    double *edges = malloc((bins + 1) * sizeof *edges), at = 0;
    uint64_t state = 88172645463325252u;
    if (!edges)
        die("edges", "out of memory");
    for (uint64_t i = 0; i <= bins; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        at -= log((double)((state >> 11) + 1) * 0x1p-53);
        edges[i] = drawn ? at / (double)bins : 1e-3 * pow(1e6, (double)i / (double)bins);
        if (dtype == GPU_F32)
            edges[i] = (double)(float)edges[i];
        if (i && edges[i] <= edges[i - 1])
            edges[i] = dtype == GPU_F32 ? (double)nextafterf((float)edges[i - 1], INFINITY)
                                        : nextafter(edges[i - 1], INFINITY);
    }
    return edges;
}

/* Uneven edges, beside the one peer that takes some. */
static void part_edges(bench *b)
{
    static const char *const inputs[] = {"zeros", "uniform", "ramp", "skewed"};
    static const uint64_t bins[] = {1024, 8192, 65536, 262144, 1 << 20};
    double read = time_reading(b, peer_bytes);
    for (int d = GPU_F32; d <= GPU_F64; d++) {
        for (int k = 0; k < 10 && !skips(b, d); k++) {
            const int drawn = k % 2;
            double *edges = make_edges((gpu_dtype)d, bins[k / 2], drawn);
            for (int i = 0; i < 4; i++) {
                point p = {(gpu_dtype)d, peer_bytes / gpu_dtype_bytes(d), bins[k / 2], inputs[i],
                           read,         drawn ? "drawn" : "log",         edges};
                if (late(&p, "edges") || !make_samples(b, &p))
                    continue;
                count_wanted(b, &p);
                run_tally(b, &p, "edges", 1);
                for (int w = 0; w < b->peer_count; w++) {
                    if (!strcmp(b->peers[w]->call, "HistogramRange"))
                        run_peer(b, &p, "edges", w, 1);
                }
            }
            free(edges);
        }
    }
}

/* ---- start and end ---- */

static void open_device(bench *b)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    int origin;
    o.device = TALLY_DEVICE_CUDA;
    if (tally_context_create(&o, &b->context, &error)) {
        printf("{\"skipped\":\"%s\"}\n", error.message);
        exit(77);
    }
    o.device = TALLY_DEVICE_CPU;
    if (tally_context_create(&o, &b->host, &error))
        die("cpu", error.message);
    b->device = b->context->state;
    b->wanted = malloc(sizeof *b->wanted * (16 << 20));
    b->got = malloc(sizeof *b->got * (16 << 20));
    if (!b->wanted || !b->got)
        die("host", "out of memory");
    const ty_device_ops *ops = b->device->ops;
    if (ops->pinned_alloc(b->device, block_bytes, (void **)&b->block, &error) ||
        ops->queue_open(b->device, NULL, &b->queue, &error) ||
        ops->alloc(b->device, b->bytes, &b->samples, &error) ||
        ops->alloc(b->device, 64, &b->read_out, &error) ||
        ops->alloc(b->device, (size_t)8 * (16 << 20), &b->counts_memory, &error) ||
        ops->build(b->device, own_kernels, "-DOWN=1", &b->program, &origin, &error))
        die("device", error.message);
}

static void print_header(const bench *b)
{
    char day[32];
    time_t now = time(NULL);
    tally_device_info about = {.struct_size = sizeof about};
    const char *commit = getenv("COMMIT");
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));
    tally_context_device(b->context, &about, NULL);
    printf("{\"header\":1,\"name\":\"%s\",\"driver\":\"%s\",\"bytes\":%llu,\"read_gbps\":%.2f,"
           "\"tally\":\"%s\",\"commit\":\"%s\",\"date\":\"%s\"}\n",
           about.name, about.driver, (unsigned long long)b->bytes,
           (double)b->bytes / b->read_seconds * 1e-9, tally_version(), commit ? commit : "", day);
}

int main(int argc, char **argv)
{
    bench b = {.bytes = (uint64_t)2 << 30};
    const char *parts = "abcd", *peers = NULL, *python = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        switch (argv[i][0] == '-' ? argv[i][1] : 0) {
        case 'p':
            peers = value;
            break;
        case 'y':
            python = value;
            break;
        case 'i':
            b.files.photograph = gpu_read_photograph(value);
            break;
        case 'c':
            b.files.camera = gpu_read_photograph(value);
            break;
        case 't':
            b.files.book = gpu_read_file(value);
            break;
        case 'm':
            b.bytes = strtoull(value, NULL, 10) << 20;
            break;
        case 'o':
            parts = value;
            break;
        case 'd':
            b.only_dtype = value;
            break;
        case 'l':
            end_at = now() + strtod(value, NULL);
            break;
        default:
            die(argv[i], "no such option");
        }
    }
    if (b.bytes < peer_bytes || b.bytes % peer_bytes)
        die("-m", "a multiple of 256");
    open_device(&b);
    if (peers)
        open_peers(&b, peers);
    open_python(&b, python);
    b.read_seconds = time_reading(&b, b.bytes);
    print_header(&b);
    if (strchr(parts, 'c'))
        part_sizes(&b);
    if (strchr(parts, 'b'))
        part_peers(&b);
    if (strchr(parts, 'd'))
        part_edges(&b);
    if (strchr(parts, 'a'))
        part_all(&b);
    for (int i = 0; i < works; i++)
        fprintf(stderr, "%s%.1f s on %s", i ? ", " : "", spent[i], work_names[i]);
    for (int i = 0; cut[i].count; i++)
        fprintf(stderr, "%s%u of %s", i ? ", " : "\nno time was left for ", cut[i].count,
                cut[i].what);
    fprintf(stderr, "\ngpu_bench: %d configurations of Tally, %d wrong\n", measured, wrong);
    return wrong || !measured ? 1 : cut[0].count ? 3 : 0;
}
