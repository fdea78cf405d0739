/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of integer weights against sums in 128 bits, by every method of the processor and of the
 * first OpenCL device that sums weights, and by the reference: parts of a sum pass int64 and come
 * back, wholes are the last that fit or the first that do not, with what was there before, clamped
 * flows and the flows' own sums. Only the whole decides, in any order.
 *
 *     test_sums [SEED [cpu|opencl|cuda]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "draw.h"
#include "open_device.h"

enum { bins = 3, slots = bins + 4, most = 60000, most_batches = 2 };
enum { under = bins, over, nan, masked };

__extension__ typedef __int128 wide;

static unsigned char samples[most], mask[most];
static uint64_t weights[most];
static int failed;

typedef struct test_case {
    tally_dtype dtype;
    tally_axis axis;
    uint64_t n, batches; /* n: of all batches */
    int has_mask, accumulate, flow_sums;
    int64_t there[most_batches * slots]; /* bins and flows */
} test_case;

/* The slot of element i. */
static int slot_of(const test_case *c, uint64_t i)
{
    if (c->has_mask && !mask[i])
        return masked;
    return samples[i] == 0 ? under : samples[i] <= bins ? samples[i] - 1 : over;
}

static wide value_of(const test_case *c, uint64_t i)
{
    return c->dtype == TALLY_U64 ? (wide)weights[i] : (wide)(int64_t)weights[i];
}

/* Where the sample's weight ends. */
static int target_of(const test_case *c, uint64_t i)
{
    const int slot = slot_of(c, i);
    return slot == under && c->axis.under == TALLY_FLOW_CLAMP ? 0
           : slot == over && c->axis.over == TALLY_FLOW_CLAMP ? bins - 1
                                                              : slot;
}

/* Some weight between least and most of the type that leads from `sum` towards `to`. */
static uint64_t step_towards(const test_case *c, wide sum, wide to)
{
    const wide least = c->dtype == TALLY_U64 ? 0 : (wide)INT64_MIN,
               last = c->dtype == TALLY_U64 ? (wide)UINT64_MAX : (wide)INT64_MAX;
    wide step = to - sum;
    step = step < least ? least : step > last ? last : step;
    return (uint64_t)step;
}

/* Samples and weights at random; then the last samples lead the sum of every bin to a limit or,
 * in one batch of four, to just past it. */
static void draw_batch(const test_case *c, uint64_t batch)
{
    const uint64_t each = c->n / c->batches, first = batch * each, led = below(8) ? 600 : 0;
    const unsigned kind = (unsigned)below(4);
    const int past = below(4) == 0;
    wide sums[slots], limits[bins];
    for (int t = 0; t < slots; t++)
        sums[t] = c->accumulate ? c->there[batch * slots + (unsigned)t] : 0;
    for (int t = 0; t < bins; t++)
        limits[t] = below(3) == 0   ? 0
                    : below(2) == 0 ? (wide)INT64_MAX + past
                                    : (wide)INT64_MIN - past;
    for (uint64_t i = first; i < first + each; i++) {
        const uint64_t any = next();
        samples[i] = (unsigned char)(below(8) ? 1 + below(bins) : below(bins + 2));
        mask[i] = below(8) != 0;
        weights[i] = kind == 0                 ? any
                     : kind == 1               ? any >> 50
                     : c->dtype == TALLY_U64   ? any >> 20
                     : kind == 2 && i % 2 == 0 ? (uint64_t)INT64_MAX
                     : kind == 2               ? (uint64_t)-INT64_MAX
                                               : (uint64_t)((int64_t)any >> 2);
        if (i + led >= first + each) {
            samples[i] = (unsigned char)(1 + i % bins);
            mask[i] = 1;
            weights[i] = step_towards(c, sums[i % bins], limits[i % bins]);
        }
        sums[target_of(c, i)] += value_of(c, i);
    }
}

/* What must come out: the sums and whether they are refused. */
static int expect(const test_case *c, int64_t *out)
{
    wide sums[most_batches * slots] = {0};
    int refused = 0;
    for (uint64_t i = 0; i < c->n; i++)
        sums[i / (c->n / c->batches) * slots + (uint64_t)target_of(c, i)] += value_of(c, i);
    for (uint64_t i = 0; i < c->batches * slots; i++) {
        if (i % slots >= bins && !c->flow_sums)
            continue;
        sums[i] += c->accumulate ? c->there[i] : 0;
        refused |= sums[i] < INT64_MIN || sums[i] > INT64_MAX;
        out[i] = (int64_t)sums[i];
    }
    return refused;
}

static void draw_case(test_case *c)
{
    memset(c, 0, sizeof *c);
    c->dtype = below(3) ? TALLY_I64 : TALLY_U64;
    c->axis = tally_axis_even(bins, 1, bins + 1);
    c->axis.last = TALLY_LAST_OPEN;
    c->axis.under = below(3) ? TALLY_FLOW_COUNT : TALLY_FLOW_CLAMP;
    c->axis.over = below(3) ? TALLY_FLOW_COUNT : TALLY_FLOW_CLAMP;
    c->batches = 1 + below(most_batches);
    c->n = (below(4) ? 1 + below(400) : 1 + below(most / most_batches)) * c->batches;
    c->has_mask = below(3) == 0;
    c->accumulate = below(2) == 0;
    c->flow_sums = below(3) == 0;
    for (int i = 0; i < most_batches * slots; i++)
        c->there[i] = below(3) ? (int64_t)next() >> below(64) : below(2) ? INT64_MIN : INT64_MAX;
    for (uint64_t b = 0; b < c->batches; b++)
        draw_batch(c, b);
}

static void check(const tally_plan *plan, const test_case *c, int reference, const char *what)
{
    int64_t want[most_batches * slots] = {0}, counts[most_batches * bins],
                                flow_sums[most_batches * 4];
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    tally_view views[3] = {tally_view_1d(samples, TALLY_U8, c->n / c->batches),
                           tally_view_1d(mask, TALLY_U8, c->n / c->batches),
                           tally_view_1d(weights, c->dtype, c->n / c->batches)};
    for (int v = 0; v < 3; v++)
        views[v].batches = c->batches;
    const int refused = expect(c, want);
    for (uint64_t b = 0; b < c->batches; b++) {
        memcpy(counts + b * bins, c->there + b * slots, sizeof *counts * bins);
        memcpy(flow_sums + b * 4, c->there + b * slots + bins, sizeof *flow_sums * 4);
    }
    how.mask = c->has_mask ? &views[1] : NULL;
    how.weights = &views[2];
    output.counts = counts;
    output.flow_sums = c->flow_sums ? flow_sums : NULL;
    output.accumulate = c->accumulate;
    tally_status status =
        (reference ? tally_execute_reference : tally_execute)(plan, views, &how, &output, &error);
    int ok = status == (refused ? TALLY_ERROR_DATA : TALLY_OK);
    for (uint64_t b = 0; b < c->batches && ok; b++) {
        const int64_t *to = (refused ? c->there : want) + b * slots;
        ok = !memcmp(counts + b * bins, to, sizeof *counts * bins) &&
             (!c->flow_sums || !memcmp(flow_sums + b * 4, to + bins, sizeof *flow_sums * 4));
    }
    if (!ok && failed++ < 10)
        fprintf(stderr, "FAILED: %s: %llu %s weights in %llu batches%s%s%s: %s: %s, %s wanted\n",
                what, (unsigned long long)c->n, tally_dtype_name(c->dtype),
                (unsigned long long)c->batches, c->has_mask ? ", masked" : "",
                c->accumulate ? ", added" : "", c->flow_sums ? ", flows too" : "",
                tally_status_string(status), error.message, refused ? "refused" : "sums");
}

/* Every method of the device that sums such weights; returns how many there are. */
static int check_case(tally_context *context, const test_case *c)
{
    int methods = 0;
    for (uint32_t m = 0; m < tally_method_count(); m++) {
        tally_method_info info = {.struct_size = sizeof info};
        tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
        tally_plan *plan = NULL;
        tally_error error = {""};
        tally_method_get(m, &info, NULL);
        o.axes[0] = c->axis;
        o.dtypes[0] = TALLY_U8;
        o.weight_dtype = c->dtype;
        o.method = info.name;
        tally_status status = tally_plan_create(context, &o, &plan, &error);
        if (status == TALLY_ERROR_UNSUPPORTED)
            continue;
        if (status) {
            fprintf(stderr, "FAILED: %s: %s\n", info.name, error.message);
            failed++;
            continue;
        }
        methods++;
        check(plan, c, 0, info.name);
        check(plan, c, 1, "the reference");
        tally_plan_destroy(plan);
    }
    return methods;
}

/* Rows that go up and down again, so many that devices get them in parts, which end anywhere. */
static void check_long(tally_context *context, const char *name)
{
    enum { rows = 100 };
    int64_t counts[bins] = {0};
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    tally_plan *plan = NULL;
    tally_view view = tally_view_1d(samples, TALLY_U8, most - rows),
               row = tally_view_1d(weights, TALLY_I64, most - rows);
    memset(samples, 1, sizeof samples);
    for (int i = 0; i < most - rows; i++)
        weights[i] = (uint64_t)(i < (most - rows) / 2 ? INT64_MAX : -INT64_MAX);
    weights[0] -= 7;
    view.rows = rows;
    view.row_stride_bytes = 1;
    o.axes[0] = tally_axis_even(bins, 1, bins + 1);
    o.dtypes[0] = TALLY_U8;
    o.weight_dtype = TALLY_I64;
    how.weights = &row;
    output.counts = counts;
    tally_status status = tally_plan_create(context, &o, &plan, &error);
    if (!status)
        status = tally_execute(plan, &view, &how, &output, &error);
    if (status || counts[0] != -7 * rows || counts[1]) {
        failed++;
        fprintf(stderr, "FAILED: %s: long rows: %s: %lld\n", name, error.message,
                (long long)counts[0]);
    }
    tally_plan_destroy(plan);
}

static void check_device(tally_context *context, const char *name, int cases)
{
    int methods = 0, refused = 0;
    for (int i = 0; i < cases; i++) {
        test_case c;
        int64_t sums[most_batches * slots];
        draw_case(&c);
        refused += expect(&c, sums);
        methods += check_case(context, &c);
    }
    check_long(context, name);
    printf("%s: %d cases, %d refused, %d calls\n", name, cases, refused, methods);
    failed += !methods || refused < cases / 10 || refused > cases - cases / 10;
}

int main(int argc, char **argv)
{
    const char *device = argc > 2 ? argv[2] : NULL;
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_error error = {""};
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)state);
    o.device = TALLY_DEVICE_CPU;
    for (o.threads = 1; o.threads <= 3 && (!device || !strcmp(device, "cpu")); o.threads += 2) {
        if (tally_context_create(&o, &context, &error)) {
            fprintf(stderr, "FAILED: %s\n", error.message);
            return 1;
        }
        check_device(context, "cpu", 500);
        tally_context_destroy(context);
    }
    if ((!device || strcmp(device, "cpu") != 0) && (context = open_device(device)) != NULL) {
        check_device(context, "device", 60);
        tally_context_destroy(context);
    }
    return failed != 0;
}
