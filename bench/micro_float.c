/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point samples on one thread: the processor's methods through tally_execute beside the
 * usual scalar loop, in one run, on inputs of every kind. GB/s of samples from the fastest of the
 * repeats, and the ratio to the faster of the two scalar loops (which do not keep the exact rule).
 *
 *     micro_float [--samples=N] [--repeats=N] [--dtype=f32|f64] [--bins=N] [--input=NAME] [METHOD
 * …]
 */
#include "micro.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tally/tally.h>

/* One thread's own time, so that a busy machine disturbs less. */
static double spent(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double normal(void)
{
    return sqrt(-2 * log(random_unit() + 1e-300)) * cos(6.283185307179586 * random_unit());
}

/* The range is 0 … 1. */
static const char *const inputs[] = {"uniform", "normal", "lognormal", "equal",  "two",
                                     "skewed",  "sorted", "edges",     "outside"};
enum { INPUTS = sizeof inputs / sizeof *inputs };

static double draw(unsigned input, uint64_t i, uint64_t n, uint64_t bins)
{
    double u = random_unit();
    switch (input) {
    case 1:
        return 0.5 + normal() / 6;
    case 2:
        return exp(normal()) / 20;
    case 3:
        return 0.37;
    case 4:
        return i & 1 ? 0.25 : 0.75;
    case 5:
        return u < 0.9 ? 0.37 : random_unit();
    case 6:
        return (double)i / (double)n;
    case 7:
        return floor(u * (double)bins) / (double)bins;
    case 8:
        return 2 * u - 0.5;
    default:
        return u;
    }
}

#define PEER(name, type, real)                                                                     \
    static __attribute__((noinline)) void name(const void *samples, size_t n, uint64_t bins,       \
                                               uint64_t *h)                                        \
    {                                                                                              \
        const type *x = samples;                                                                   \
        real lo = 0, hi = 1, scale = (real)bins / (hi - lo);                                       \
        for (size_t i = 0; i < n; i++) {                                                           \
            real v = (real)x[i];                                                                   \
            if (v >= lo && v < hi)                                                                 \
                h[(size_t)(int)((v - lo) * scale)]++;                                              \
        }                                                                                          \
    }
PEER(peer_f32, float, double)
PEER(peer_f32_short, float, float)
PEER(peer_f64, double, double)

typedef struct setup {
    uint64_t samples, bins;
    unsigned repeats, dtype; /* 0: both */
    int input;               /* -1: all */
    const char *methods[8];
    unsigned count;
} setup;

static double best_of(unsigned repeats, void (*run)(void *), void *arg)
{
    double best = 1e9;
    for (unsigned i = 0; i < repeats; i++) {
        double begin = spent();
        run(arg);
        double time = spent() - begin;
        best = time < best ? time : best;
    }
    return best;
}

typedef struct work {
    const void *samples;
    size_t n;
    uint64_t bins, *counts;
    tally_flows flows;
    const tally_plan *plan;
    tally_view view;
    void (*peer)(const void *, size_t, uint64_t, uint64_t *);
} work;

static void run_peer(void *arg)
{
    work *w = arg;
    memset(w->counts, 0, (size_t)w->bins * sizeof *w->counts);
    w->peer(w->samples, w->n, w->bins, w->counts);
}

static void run_plan(void *arg)
{
    work *w = arg;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_error error;
    out.counts = w->counts;
    out.flows = &w->flows;
    if (tally_execute(w->plan, &w->view, NULL, &out, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
}

static tally_plan *make_plan(tally_context *context, const char *method, tally_dtype dtype,
                             uint64_t bins, uint64_t n)
{
    tally_plan_options o;
    tally_plan *plan = NULL;
    memset(&o, 0, sizeof o);
    o.struct_size = sizeof o;
    o.dimensions = 1;
    o.axes[0] = tally_axis_even(bins, 0, 1);
    o.dtypes[0] = dtype;
    o.n_hint = n;
    o.method = method;
    return tally_plan_create(context, &o, &plan, NULL) ? NULL : plan;
}

/* One line: the peers, then every method. */
static void run_line(const setup *s, tally_context *context, tally_dtype dtype, uint64_t bins,
                     unsigned input, const void *samples)
{
    size_t size = tally_dtype_bytes(dtype);
    uint64_t *want = calloc((size_t)bins + 1, sizeof *want);
    work w = {.samples = samples, .n = s->samples, .bins = bins};
    w.counts = calloc((size_t)bins + 1, sizeof *w.counts);
    w.view = tally_view_1d(samples, dtype, s->samples);
    double bytes = (double)s->samples * (double)size;
    w.peer = dtype == TALLY_F32 ? peer_f32 : peer_f64;
    double peer = best_of(s->repeats, run_peer, &w), other = peer;
    if (dtype == TALLY_F32) {
        w.peer = peer_f32_short;
        other = best_of(s->repeats, run_peer, &w);
    }
    double best = other < peer ? other : peer;
    printf("%-4s %8llu %-9s %6.2f %6.2f", tally_dtype_name(dtype), (unsigned long long)bins,
           inputs[input], bytes / peer * 1e-9, bytes / other * 1e-9);
    for (unsigned m = 0; m < s->count; m++) {
        tally_plan *plan = make_plan(context, s->methods[m], dtype, bins, s->samples);
        if (!plan) {
            printf(" |    -     -");
            continue;
        }
        w.plan = plan;
        double time = best_of(s->repeats, run_plan, &w);
        printf(" | %6.2f %5.2f", bytes / time * 1e-9, best / time);
        tally_output out = TALLY_OUTPUT_INIT;
        out.counts = want;
        if (!m)
            tally_execute_reference(plan, &w.view, NULL, &out, NULL);
        if (memcmp(want, w.counts, (size_t)bins * sizeof *want)) {
            printf(" WRONG COUNTS\n");
            exit(1);
        }
        tally_plan_destroy(plan);
    }
    printf("\n");
    fflush(stdout);
    free(w.counts);
    free(want);
}

static void run_dtype(const setup *s, tally_context *context, tally_dtype dtype)
{
    static const uint64_t all[] = {10, 100, 256, 1024, 2048, 16384, 65536, 1048576};
    void *samples = malloc((size_t)s->samples * 8);
    for (unsigned b = 0; b < sizeof all / sizeof *all; b++) {
        uint64_t bins = s->bins ? s->bins : all[b];
        for (unsigned input = 0; input < INPUTS; input++) {
            if (s->input >= 0 && (unsigned)s->input != input)
                continue;
            for (uint64_t i = 0; i < s->samples; i++) {
                double x = draw(input, i, s->samples, bins);
                if (dtype == TALLY_F32)
                    ((float *)samples)[i] = (float)x;
                else
                    ((double *)samples)[i] = x;
            }
            run_line(s, context, dtype, bins, input, samples);
        }
        if (s->bins)
            break;
    }
    free(samples);
}

static int parse(setup *s, const char *word)
{
    if (!strncmp(word, "--samples=", 10))
        s->samples = strtoull(word + 10, NULL, 10);
    else if (!strncmp(word, "--repeats=", 10))
        s->repeats = (unsigned)strtoul(word + 10, NULL, 10);
    else if (!strncmp(word, "--bins=", 7))
        s->bins = strtoull(word + 7, NULL, 10);
    else if (!strncmp(word, "--dtype=", 8))
        s->dtype = tally_dtype_parse(word + 8);
    else if (!strncmp(word, "--input=", 8)) {
        for (s->input = 0; s->input < INPUTS && strcmp(inputs[s->input], word + 8);)
            s->input++;
        return s->input < INPUTS;
    } else if (word[0] != '-' && s->count < 8)
        s->methods[s->count++] = word;
    else
        return 0;
    return 1;
}

int main(int argc, char **argv)
{
    setup s = {.samples = 8 << 20, .repeats = 7, .input = -1};
    for (int i = 1; i < argc; i++) {
        if (!parse(&s, argv[i])) {
            fprintf(stderr, "%s: not understood\n", argv[i]);
            return 2;
        }
    }
    if (!s.count)
        s.methods[s.count++] = "auto";
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context;
    options.device = TALLY_DEVICE_CPU;
    options.threads = 1;
    if (tally_context_create(&options, &context, NULL))
        return 1;
    printf("%-4s %8s %-9s %6s %6s", "", "bins", "input", "f64", "f32");
    for (unsigned m = 0; m < s.count; m++)
        printf(" | %12.12s", s.methods[m]);
    printf("\n");
    if (!s.dtype || s.dtype == TALLY_F32)
        run_dtype(&s, context, TALLY_F32);
    if (!s.dtype || s.dtype == TALLY_F64)
        run_dtype(&s, context, TALLY_F64);
    tally_context_destroy(context);
    return 0;
}
