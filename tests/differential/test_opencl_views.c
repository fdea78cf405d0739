/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random calls whose samples, mask, weights and outputs lie in device memory against the reference:
 * in any layout by the methods that take any, without gaps by those that count whole columns, and
 * either by what `auto` chooses.
 *
 *     test_opencl_views [SEED [CASES [opencl|cuda [SECONDS]]]]
 *
 * SEED may be - for the clock's. Stops when the SECONDS are over (0: never).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "gpu/device.h"
#include "gpu/method.h"
#include "plan/registry.h"
#include "open_device.h"
#include "plan/plan.h"
#include "there.h"

static tally_context *context;
static ty_device *device;
static void *queue;
static uint64_t refused, counted[4];   /* from the host; from the device; into it; so atomically */
static uint64_t in_columns, elsewhere; /* by methods for packed columns; left to others by these */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(tally_status status, const tally_error *error)
{
    if (!status)
        return;
    fprintf(stderr, "device memory: %s\n", error->message);
    exit(1);
}

/* ---- outputs on the device ---- */

static ty_memory put_block(const void *from, size_t bytes)
{
    tally_error error;
    ty_memory memory = 0;
    must(device->ops->alloc(device, bytes + 8, &memory, &error), &error);
    must(device->ops->upload(device, queue, memory, 0, from, bytes, &error), &error);
    must(device->ops->wait(device, queue, &error), &error);
    return memory;
}

static void get_block(ty_memory memory, void *to, size_t bytes)
{
    tally_error error;
    must(device->ops->download(device, queue, to, memory, 0, bytes, &error), &error);
    must(device->ops->wait(device, queue, &error), &error);
    device->ops->release(device, memory);
}

/* With the weights of samples in no bin in half of the weighted cases: such outputs are made on the
 * host. `want` has them for the others. */
static void run_there(answer *a, const random_case *c, const tally_plan *plan, int accumulate,
                      const answer *want)
{
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    ty_memory counts = put_block(a->counts, a->cells * a->cell_bytes);
    ty_memory flows = put_block(a->flows, a->histograms * sizeof *a->flows);
    ty_memory squares = put_block(a->squares, a->cells * sizeof *a->squares);
    ty_memory flow_sums =
        put_block(a->flow_sums, ANSWER_FLOW_WORDS * a->histograms * sizeof *a->flow_sums);
    const int with_sums = c->has_weights && !accumulate;
    options.mask = c->has_mask ? &c->mask : NULL;
    options.weights = c->has_weights ? &c->weights : NULL;
    output.flow_sums = with_sums ? (void *)(uintptr_t)flow_sums : NULL;
    output.counts = (void *)(uintptr_t)counts;
    output.flows = (tally_flows *)(uintptr_t)flows;
    output.sum_squares = c->plan.sum_squares ? (double *)(uintptr_t)squares : NULL;
    output.accumulate = accumulate;
    output.on_device = 1;
    a->status = tally_execute(plan, c->views, &options, &output, &a->error);
    get_block(counts, a->counts, a->cells * a->cell_bytes);
    get_block(flows, a->flows, a->histograms * sizeof *a->flows);
    get_block(squares, a->squares, a->cells * sizeof *a->squares);
    get_block(flow_sums, a->flow_sums, ANSWER_FLOW_WORDS * a->histograms * sizeof *a->flow_sums);
    if (!with_sums)
        memcpy(a->flow_sums, want->flow_sums,
               ANSWER_FLOW_WORDS * a->histograms * sizeof *a->flow_sums);
}

/* ---- cases ---- */

static int compare(const random_case *c, const tally_plan *plan, int accumulate, int there,
                   const answer *want)
{
    static const char *const where[] = {"samples of the host", "samples of the device",
                                        "output in device memory", "atomic additions there"};
    answer got = answer_make(c, tally_plan_bins(plan), accumulate);
    got.error.message[0] = '\0';
    if (there >= 2)
        run_there(&got, c, plan, accumulate, want);
    else
        answer_run(&got, c, plan, accumulate, 0);
    int ok = answer_same(&got, want) && (got.status == TALLY_OK || got.status == TALLY_ERROR_DATA);
    /* A column is one channel's, and a mask stands beside one. */
    const int reads = ty_gpu_method_of(plan)->reads;
    const int other = there && plan->seconds <= 0 && got.status == TALLY_ERROR_UNSUPPORTED &&
                      c->plan.channels > 1 && (reads != TY_READS_CHANNELS || c->has_mask) &&
                      strstr(got.error.message, "counts samples in device memory that are packed");
    elsewhere += (uint64_t)other;
    ok = ok || other;
    if (!ok)
        fprintf(stderr, "%s, %s: %s: %s; reference: %s: %s\n", tally_plan_method(plan),
                where[there], tally_status_string(got.status), got.error.message,
                tally_status_string(want->status), want->error.message);
    refused += got.status == TALLY_ERROR_DATA;
    counted[there] += !other;
    answer_free(&got);
    return ok;
}

/* The methods that count packed columns only, in turn. */
static const ty_method *packed_method(uint64_t turn)
{
    const ty_method *found[16];
    unsigned n = 0;
    for (int i = 0; ty_methods[i] && n < 16; i++) {
        const ty_method *m = ty_methods[i];
        if (m->devices & (TY_ON_OPENCL | TY_ON_CUDA) &&
            ((const ty_gpu_method *)m->backend)->reads > TY_READS_COLUMN &&
            ((const ty_gpu_method *)m->backend)->reads < TY_READS_ANY)
            found[n++] = m;
    }
    if (!n) {
        fprintf(stderr, "no method counts packed columns\n");
        exit(1);
    }
    return found[turn % n];
}

static int run_case(uint64_t seed)
{
    static const tally_setting small[4][3] = {
        {{"partition", "4"}, {"threads", "32"}, {"per-thread", "8"}},
        {{"partition", "8"}, {"threads", "64"}, {"per-thread", "16"}},
        {{"partition", "11"}, {"threads", "32"}, {"columns", "4"}},
        {{"partition", "6"}, {"per-thread", "8"}, {"ahead", "64"}}};
    random_case c;
    tally_plan *plan = NULL;
    tally_error error = {""};
    void *memory[TALLY_MAX_DIMENSIONS + 2] = {NULL};
    const int accumulate = (int)(seed & 1), packed = (int)(seed >> 2 & 1),
              by_name = packed && !(seed & 2);
    int ok = 1, there = 1, n = 0;
    const ty_method *method = packed_method(seed >> 3);
    unsigned flags = packed ? CASE_PACKED | CASE_UNWEIGHTED : 0;
    if (packed && !(method->dtypes >> TALLY_F32 & 1))
        flags |= CASE_BYTES;
    if (random_case_make(&c, seed, flags, NULL))
        return 0;
    if (by_name && !strcmp(method->name, "partitioned-columns")) { /* many slices, many tiles */
        c.plan.settings = small[seed >> 8 & 3];
        c.plan.settings_count = 3;
    }
    const int wide = !c.has_weights && c.plan.counter == TALLY_COUNTER_U64;
    c.plan.method = by_name                   ? method->name
                    : seed & 2                ? "auto"
                    : c.has_weights           ? "weighted"
                    : wide && (seed >> 3 & 1) ? "global-in-place"
                                              : "views";
    tally_status status = tally_plan_create(context, &c.plan, &plan, &error);
    if (status) {
        ok = (by_name && status == TALLY_ERROR_UNSUPPORTED) ||
             (status == TALLY_ERROR_ARGUMENT && !strncmp(error.message, "axis", 4));
        if (!ok)
            fprintf(stderr, "plan: %s\n", error.message);
    } else {
        in_columns += (uint64_t)by_name;
        answer want = answer_make(&c, tally_plan_bins(plan), accumulate);
        answer_run(&want, &c, plan, accumulate, 1);
        ok = compare(&c, plan, accumulate, 0, &want);
        for (unsigned d = 0; d < c.plan.dimensions && there; d++)
            there = there_put(context, &c.views[d], &memory[n++]);
        if (there && c.has_mask)
            there = there_put(context, &c.mask, &memory[n++]);
        if (there && c.has_weights)
            there = there_put(context, &c.weights, &memory[n++]);
        const int atomic = accumulate && wide && !ty_plan_may_fail(plan);
        ok = ok && (!there || (compare(&c, plan, accumulate, 1, &want) &&
                               compare(&c, plan, accumulate, 2, &want) &&
                               (!atomic || compare(&c, plan, TALLY_ACCUMULATE_ATOMIC, 3, &want))));
        answer_free(&want);
    }
    if (!ok)
        fprintf(stderr, "FAILED seed %llu: %s\n", (unsigned long long)seed, c.text);
    for (int i = 0; i < n; i++)
        tally_memory_destroy(context, memory[i]);
    tally_plan_destroy(plan);
    random_case_free(&c);
    return ok;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 && strcmp(argv[1], "-") ? strtoull(argv[1], NULL, 10)
                                                     : (uint64_t)time(NULL) * 1000003;
    uint64_t cases = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000, tried = 0, failed = 0;
    const char *name = argc > 3 ? argv[3] : "opencl";
    double seconds = argc > 4 ? strtod(argv[4], NULL) : argc > 2 ? 0 : 4, begin = now();
    tally_error error = {""};
    printf("%s, seed %llu\n", name, (unsigned long long)seed);
    fflush(stdout);
    if (!(context = open_device(name)))
        return 77;
    device = context->state;
    must(device->ops->queue_open(device, NULL, &queue, &error), &error);
    while (tried < cases && failed < 5 &&
           (seconds <= 0 || !in_columns || !counted[3] || now() - begin < seconds))
        failed += !run_case(seed + tried++);
    device->ops->queue_close(device, queue);
    tally_context_destroy(context);
    printf(
        "%llu cases: %llu from the host, %llu from the device, %llu into it, %llu atomically "
        "(%llu refused by a policy), %llu in columns, %llu left by these, %llu failed\n",
        (unsigned long long)tried, (unsigned long long)counted[0], (unsigned long long)counted[1],
        (unsigned long long)counted[2], (unsigned long long)counted[3], (unsigned long long)refused,
        (unsigned long long)in_columns, (unsigned long long)elsewhere, (unsigned long long)failed);
    return failed || !tried || !counted[1] || !counted[2] || !counted[3] || !in_columns;
}
