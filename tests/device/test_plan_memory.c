/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_plan_memory on a device, against the memory that the first call of a plan really asks for:
 * few bins and many, samples of the host.
 *
 *     test_plan_memory [opencl|cuda]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/workspace.h"
#include "drivers.h"
#include "open_device.h"
#include "plan/plan.h"

enum { most = 1 << 16, most_bins = 1 << 16 };

static tally_context *context;
static ty_device_ops ops, real;
static uint64_t device_bytes, pinned_bytes;
static unsigned checks, failed;
static float samples[most], weights[most];
static double counts[most_bins], squares[most_bins];

static tally_status alloc(ty_device *device, size_t bytes, ty_memory *memory, tally_error *error)
{
    device_bytes += bytes;
    return real.alloc(device, bytes, memory, error);
}

static tally_status pinned_alloc(ty_device *device, size_t bytes, void **block, tally_error *error)
{
    pinned_bytes += bytes;
    return real.pinned_alloc(device, bytes, block, error);
}

static void try_plan(const char *method, tally_dtype dtype, uint64_t bins, tally_dtype weight,
                     uint64_t n, uint64_t channels)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1, .channels = channels};
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_plan *plan = NULL;
    tally_error error = {""};
    uint64_t host = 0, there = 0;
    o.axes[0] = tally_axis_even(bins, 0, 1);
    o.dtypes[0] = dtype;
    o.weight_dtype = weight;
    o.sum_squares = weight == TALLY_F32;
    o.method = method;
    if (tally_plan_create(context, &o, &plan, &error))
        return;
    tally_view v = tally_view_1d(samples, dtype, n), w = tally_view_1d(weights, weight, n);
    v.channels = channels;
    e.weights = weight ? &w : NULL;
    out.counts = counts;
    out.sum_squares = o.sum_squares ? squares : NULL;
    ty_workspaces_unpark(context->state); /* what earlier plans have left */
    device_bytes = pinned_bytes = 0;
    tally_status status = tally_plan_memory(plan, n, &host, &there, &error);
    const int silent = !device_bytes && !pinned_bytes;
    status = status ? status : tally_execute(plan, &v, &e, &out, &error);
    checks++;
    if (status || !silent || there != device_bytes || host < pinned_bytes ||
        host > pinned_bytes + channels * (bins + 64) * 8 * 2 + (2 << 20)) {
        failed++;
        fprintf(
            stderr,
            "FAILED: %s, %s, %llu bins, %llu × %llu samples: %llu bytes there and %llu of the host "
            "are said, %llu and %llu pinned asked for%s: %s\n",
            tally_plan_method(plan), tally_dtype_name(dtype), (unsigned long long)bins,
            (unsigned long long)n, (unsigned long long)channels, (unsigned long long)there,
            (unsigned long long)host, (unsigned long long)device_bytes,
            (unsigned long long)pinned_bytes, silent ? "" : " (saying takes memory)",
            error.message);
    }
    tally_plan_destroy(plan);
}

int main(int argc, char **argv)
{
    if (!(context = open_device(argc > 1 ? argv[1] : "opencl")))
        return 77;
    ty_device *device = context->state;
    real = ops = *device->ops;
    ops.alloc = alloc;
    ops.pinned_alloc = pinned_alloc;
    device->ops = &ops;
    for (size_t i = 0; i < most; i++)
        samples[i] = (float)(i % 1009) / 1009, weights[i] = (float)(i % 7);
    /* One of each way to keep partial histograms. */
    static const struct {
        const char *method;
        tally_dtype dtype, weight;
        uint64_t bins, n, channels;
    } plans[] = {{"atomic-global", TALLY_F32, 0, most_bins, 100, 1},
                 {"atomic-global", TALLY_F32, 0, most_bins, 0, 1},
                 {"private-shared", TALLY_U8, 0, 64, most, 1},
                 {"lane-private", TALLY_U8, 0, 64, most, 1},
                 {"packed16", TALLY_F32, 0, 20000, most, 1},
                 {"partitioned", TALLY_F32, 0, most_bins, most, 1},
                 {"views", TALLY_F32, 0, most_bins, most, 1},
                 {"global-in-place", TALLY_F32, 0, most_bins, most, 1},
                 {"weighted", TALLY_F32, TALLY_I32, 1000, most, 1},
                 {"weighted", TALLY_F32, TALLY_F32, most_bins, 100, 1},
                 {"lane-private", TALLY_U8, 0, 64, most / 3, 3},
                 {"weighted", TALLY_F32, TALLY_I32, 1000, most / 4, 4}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        try_plan(plans[i].method, plans[i].dtype, plans[i].bins, plans[i].weight, plans[i].n,
                 plans[i].channels);
    tally_context_destroy(context);
    printf("%u plans, %u failed\n", checks, failed);
    return failed || checks < 6;
}
