/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pixels of the host on their way to a device: all channels that are counted go together, so that
 * a source is asked for each pixel once. Counts, sums and flows of every channel against the
 * reference, with masks and weights, also past the ring of pinned memory.
 *
 *     test_pixels [opencl|cuda [SEED]]
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "drivers.h"
#include "open_device.h"
#include "random_case.h"

enum { most_pixels = 6000000, most_channels = 8, bins = 90 };
enum { SAMPLES, MASK, WEIGHTS, VIEWS };

static unsigned char *memory[VIEWS];
static rng state;

/* ---- sources ---- */

typedef struct reading {
    const unsigned char *from;
    uint64_t bytes;         /* of an element */
    atomic_ullong elements; /* that were asked for */
} reading;

static tally_status read_elements(void *user, uint64_t begin, uint64_t n, void *to,
                                  tally_error *error)
{
    reading *r = user;
    (void)error;
    r->elements += n;
    memcpy(to, r->from + begin * r->bytes, n * r->bytes);
    return TALLY_OK;
}

/* ---- a case ---- */

typedef struct pixels {
    uint64_t n, channels, counted;
    int masked, read;
    tally_dtype weight; /* 0: none */
    uint64_t weights;   /* their channels */
    double limit;
    int squares;
    const char *method;
} pixels;

typedef struct answer {
    tally_wide counts[most_channels * bins]; /* or 8 bytes each */
    tally_flows flows[most_channels];
    tally_wide flow_sums[most_channels * 4];
    double squares[most_channels * bins];
} answer;

static tally_status count(const pixels *p, const tally_plan *plan, int reference, answer *a,
                          reading readings[VIEWS], tally_error *error)
{
    const tally_dtype dtypes[VIEWS] = {TALLY_U16, TALLY_U8, p->weight};
    const uint64_t channels[VIEWS] = {p->channels, 1, p->weights};
    tally_view views[VIEWS];
    tally_source sources[VIEWS];
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    for (int v = 0; v < VIEWS; v++) {
        views[v] = tally_view_1d(memory[v], dtypes[v], p->n);
        views[v].channels = channels[v];
        readings[v] = (reading){memory[v], channels[v] * tally_dtype_bytes(dtypes[v]), 0};
        sources[v] = (tally_source)TALLY_SOURCE_INIT;
        sources[v].read = read_elements;
        sources[v].user = &readings[v];
        views[v].data = p->read && !reference ? NULL : memory[v];
        views[v].source = p->read && !reference ? &sources[v] : NULL;
    }
    memset(a, 0, sizeof *a);
    how.mask = p->masked ? &views[MASK] : NULL;
    how.weights = p->weight ? &views[WEIGHTS] : NULL;
    output.counts = a->counts;
    output.flows = a->flows;
    output.flow_sums = p->weight ? a->flow_sums : NULL;
    output.sum_squares = p->squares ? a->squares : NULL;
    return (reference ? tally_execute_reference : tally_execute)(plan, views, &how, &output, error);
}

static int read_once(const pixels *p, const reading readings[VIEWS])
{
    const uint64_t n = p->read ? p->n : 0;
    return readings[SAMPLES].elements == n && readings[MASK].elements == (p->masked ? n : 0) &&
           readings[WEIGHTS].elements == (p->weight ? n : 0);
}

static void try(tally_context *context, const pixels *p)
{
    static answer got, want;
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_error error = {""};
    tally_plan *plan = NULL;
    reading readings[VIEWS];
    o.channels = p->channels;
    o.channel_mask = p->counted;
    o.weight_dtype = p->weight;
    o.weight_limit = p->limit;
    o.sum_squares = p->squares;
    o.method = p->method;
    o.axes[0] = tally_axis_even(bins, 5, 95);
    o.dtypes[0] = TALLY_U16;
    tally_status status = tally_plan_create(context, &o, &plan, &error);
    status = status ? status : count(p, plan, 1, &want, readings, &error);
    status = status ? status : count(p, plan, 0, &got, readings, &error);
    CHECK_SAY(!status && !memcmp(&got, &want, sizeof got) && read_once(p, readings),
              "%s: %" PRIu64 " pixels%s, channels %" PRIx64 " of %" PRIu64
              "%s, weights %s × %" PRIu64 " up to %g%s; read %llu; %s",
              p->method ? p->method : "auto", p->n, p->read ? " read" : "", p->counted, p->channels,
              p->masked ? ", masked" : "", p->weight ? tally_dtype_name(p->weight) : "none",
              p->weights, p->limit, p->squares ? ", squares" : "",
              status ? 0ULL : readings[SAMPLES].elements, error.message);
    tally_plan_destroy(plan);
}

/* Every combination, of a few pixels. */
static void try_all(tally_context *context)
{
    static const tally_dtype weights[] = {0, 0, TALLY_I32, TALLY_F32};
    static const char *const methods[] = {"atomic-global", "views"};
    for (unsigned i = 0; i < 32; i++) {
        pixels p = {.n = 1 + rng_below(&state, 30000), .read = i >> 4 & 1};
        p.channels = 2 + rng_below(&state, most_channels - 1);
        p.counted = 1 + rng_below(&state, (1u << p.channels) - 1);
        p.masked = i >> 2 & 1;
        p.weight = weights[i & 3];
        p.method = p.weight ? "weighted" : methods[i & 1];
        p.weights = i >> 3 & 1 ? 1 : p.channels;
        p.limit = p.weight == TALLY_F32 && i >> 3 & 1 ? 200 : 0;
        p.squares = p.weight == TALLY_F32 && p.limit == 0;
        try(context, &p);
    }
}

/* More than the ring holds. */
static void try_long(tally_context *context)
{
    const pixels plain = {most_pixels, 3, 7, 0, 1, 0, 1, 0, 0, "atomic-global"};
    const pixels masked = {most_pixels, 3, 6, 1, 1, 0, 1, 0, 0, "atomic-global"};
    const pixels shown = {most_pixels, 3, 5, 1, 1, 0, 1, 0, 0, "views"};
    const pixels heavy = {most_pixels / 2, 2, 3, 0, 1, TALLY_I32, 2, 0, 0, "weighted"};
    try(context, &plain);
    try(context, &masked);
    try(context, &shown);
    try(context, &heavy);
}

/* Samples from 0 to 99; small whole weights in float32, whose bits are integers too. */
static int fill(void)
{
    const size_t samples = (size_t)most_pixels * 3;
    for (int v = 0; v < VIEWS; v++)
        if (!(memory[v] = malloc(samples * sizeof(float))))
            return 0;
    for (size_t i = 0; i < samples; i++) {
        const float weight = (float)((int)rng_below(&state, 399) - 199);
        ((uint16_t *)(void *)memory[SAMPLES])[i] = (uint16_t)rng_below(&state, 100);
        memory[MASK][i] = rng_below(&state, 3) ? 200 : 0;
        memcpy(memory[WEIGHTS] + sizeof weight * i, &weight, sizeof weight);
    }
    return 1;
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "opencl";
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261129;
    tally_context *context = open_device(device);
    state = (rng){.state = seed};
    if (!context)
        return 77;
    if (!fill())
        return 1;
    try_all(context);
    try_long(context);
    tally_context_destroy(context);
    for (int v = 0; v < VIEWS; v++)
        free(memory[v]);
    printf("%s, seed %" PRIu64 ": %d checks, %d failed\n", device, seed, checks, failures);
    return failures != 0;
}
