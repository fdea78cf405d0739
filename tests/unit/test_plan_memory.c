/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_plan_memory on the processor, against the bytes that a call really asks for: every method,
 * bins, samples, weights and counters.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execute_help.h"
#include "input_help.h"
#include "core/alloc.h"
#include "cpu/cpu.h"
#include "plan/registry.h"
#include "plan/plan.h"

enum { SAMPLES = 1 << 20, BINS = 1 << 20, SLACK = 64 << 10 };

static float samples[SAMPLES];
static int64_t weights[SAMPLES];
static double counts[BINS], squares[BINS];

/* Bytes that one call asks for. */
static uint64_t asked(const tally_plan *plan, uint64_t n)
{
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_view v = tally_view_1d(samples, plan->options.dtypes[0], n),
               w = tally_view_1d(weights, plan->options.weight_dtype, n);
    tally_error error = {""};
    e.weights = plan->weighted ? &w : NULL;
    out.counts = counts;
    out.sum_squares = plan->options.sum_squares ? squares : NULL;
    ty_alloc_fail_after(LONG_MAX);
    const uint64_t before = ty_alloc_bytes();
    const tally_status status = tally_execute(plan, &v, &e, &out, &error);
    const uint64_t bytes = ty_alloc_bytes() - before;
    ty_alloc_fail_after(-1);
    CHECK_SAY(!status || status == TALLY_ERROR_DATA, "%s", error.message);
    return bytes;
}

/* A context of its own for each call: one keeps memory for the next. */
static void try_call(tally_plan_options *o, unsigned threads, uint64_t n, unsigned *plans)
{
    tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_plan *plan = NULL;
    tally_error error = {""};
    uint64_t host = 1, device = 1;
    where.device = TALLY_DEVICE_CPU;
    where.threads = threads;
    CHECK(!tally_context_create(&where, &context, &error));
    if (!tally_plan_create(context, o, &plan, &error)) {
        host = device = 7;
        CHECK(tally_plan_memory(plan, UINT64_MAX, &host, &device, &error) && host + device == 14);
        CHECK_SAY(!tally_plan_memory(plan, n, &host, &device, &error), "%s", error.message);
        const uint64_t real = asked(plan, n);
        const ty_cpu_method *method = ((const ty_cpu_plan *)plan->state)->method;
        CHECK_SAY(real <= host + SLACK && (method->straight || host <= real + SLACK),
                  "%s: %llu bytes are said, %llu were asked for", tally_plan_describe(plan),
                  (unsigned long long)host, (unsigned long long)real);
        CHECK(!device);
        ++*plans;
    }
    tally_plan_destroy(plan);
    tally_context_destroy(context);
}

int main(int argc, char **argv)
{
    static const struct {
        tally_dtype dtype, weight;
        tally_counter counter;
        int squares;
    } kinds[] = {{TALLY_F32, 0, TALLY_COUNTER_U64, 0},
                 {TALLY_U8, 0, TALLY_COUNTER_U64, 0},
                 {TALLY_F32, 0, TALLY_COUNTER_U16SAT, 0},
                 {TALLY_F32, TALLY_F32, 0, 0},
                 {TALLY_F32, TALLY_F64, 0, 1},
                 {TALLY_F32, TALLY_I64, 0, 0}};
    static const uint64_t bins[] = {10, 70000, BINS}, n[] = {0, 1, 1000, SAMPLES};
    unsigned plans = 0;
    help_begin(argc, argv);
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (float)(i % 1009) / 1009;
    /* Where it is slow one in 5: each kind, and each number of bins with each of samples. */
    const unsigned step = help_is_slow() ? 5 : 1;
    for (unsigned i = 0; i < 12 * 6; i += step) {
        const unsigned k = i / 12;
        tally_plan_options o = help_options(kinds[k].dtype, tally_axis_even(bins[i % 3], 0, 1));
        o.weight_dtype = kinds[k].weight;
        o.counter = kinds[k].counter;
        o.sum_squares = kinds[k].squares;
        for (int m = -1; m < 0 || ty_methods[m]; m++) {
            o.method = m < 0 ? "auto" : ty_methods[m]->name;
            if (m < 0 || (ty_methods[m]->devices & TY_ON_CPU))
                try_call(&o, 1 + i % 2 * 3, n[i / 3 % 4], &plans);
        }
    }
    CHECK_SAY(plans > 100 / step, "%u plans", plans);
    uint64_t bytes;
    tally_error error = {""};
    CHECK(tally_plan_memory(NULL, 1, &bytes, &bytes, &error) == TALLY_ERROR_ARGUMENT);
    return help_end();
}
