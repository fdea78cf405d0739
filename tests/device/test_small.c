/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a repeated call on a caller's stream asks of a CUDA driver, by the stand-in that counts
 * calls: one launch where one will do, nothing allocated, compiled, copied or waited for; the same
 * while a graph records.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/alloc.h"
#include "gpu/device.h"
#include "plan/plan.h"

enum { most_bytes = 64 << 20 };

static struct {
    void (*begin)(void);
    long (*calls)(const char *name);
    void *(*stream)(void);
    void (*stream_close)(void *stream);
} fake;

static int open_fake(void)
{
    void *handle = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    if (!handle)
        return 0;
    *(void **)&fake.begin = dlsym(handle, "fake_begin");
    *(void **)&fake.calls = dlsym(handle, "fake_calls");
    *(void **)&fake.stream = dlsym(handle, "fake_stream");
    *(void **)&fake.stream_close = dlsym(handle, "fake_stream_close");
    setenv("TALLY_CUDA_LIBRARY", FAKE_FOLDER "/libcuda.so.1", 1);
    setenv("TALLY_NVRTC_LIBRARY", FAKE_FOLDER "/libnvrtc.so.13", 1);
    setenv("TALLY_KERNELS_FILE", "none", 1);
    setenv("TALLY_CACHE_DIR", "/dev/null", 1);
    return 1;
}

/* All calls of the driver that a repeated call may make: entering and leaving its context, asking
 * the stream whether it records, and the launches. */
static int only_launches(long launches, char *words, size_t size)
{
    static const char *const once[] = {"cuCtxPushCurrent", "cuCtxPopCurrent",
                                       "cuStreamIsCapturing"};
    int ok = fake.calls("cuLaunchKernelEx") == launches && fake.calls(NULL) == launches + 3;
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        ok &= fake.calls(once[i]) == 1;
    snprintf(words, size, "%ld launches of %ld calls where %ld of %ld are expected",
             fake.calls("cuLaunchKernelEx"), fake.calls(NULL), launches, launches + 3);
    return ok;
}

/* Three calls of so many bytes; the third's must be those. */
static void try_size(tally_context *context, const tally_plan *plan, void *memory, void *counts,
                     uint64_t bytes, long launches)
{
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    const tally_dtype dtype = plan->options.dtypes[0];
    char what[96], words[128];
    tally_view view = tally_view_1d(memory, dtype, bytes / tally_dtype_bytes(dtype));
    snprintf(what, sizeof what, "%s, %u bins, %llu bytes", tally_dtype_name(dtype), plan->bins,
             (unsigned long long)bytes);
    view.device = context->device;
    e.stream = fake.stream();
    out.counts = counts;
    out.on_device = 1;
    long allocated = 0;
    for (int i = 0; i < 3; i++) {
        fake.begin();
        allocated = ty_alloc_count();
        CHECK_SAY(!tally_execute(plan, &view, &e, &out, &error), "%s: %s", what, error.message);
    }
    CHECK_SAY(only_launches(launches, words, sizeof words), "%s: %s", what, words);
    CHECK_SAY(ty_alloc_count() == allocated, "%s: %s", what, "memory of the host is allocated");
    setenv("FAKE_CUDA_CAPTURING", "1", 1);
    fake.begin();
    CHECK_SAY(!tally_execute(plan, &view, &e, &out, &error), "%s: %s", what, error.message);
    snprintf(words, sizeof words, "%ld launches in a graph", fake.calls("cuLaunchKernel"));
    CHECK_SAY(fake.calls("cuLaunchKernel") == launches, "%s: %s", what, words);
    setenv("FAKE_CUDA_CAPTURING", "0", 1);
    void *stream = e.stream;
    e.stream = NULL; /* so that nothing is under way on it */
    CHECK_SAY(!tally_execute(plan, &view, &e, &out, &error), "%s: %s", what, error.message);
    fake.stream_close(stream);
}

int main(void)
{
    static const struct {
        tally_dtype dtype;
        uint64_t bins;
        long launches;
    } plans[] = {{TALLY_U8, 256, 1},   {TALLY_U8, 100, 1},    {TALLY_F32, 1024, 1},
                 {TALLY_F32, 4096, 1}, {TALLY_F32, 16384, 2}, {TALLY_F64, 1000, 1}};
    static const uint64_t sizes[] = {4096, 65536, 1 << 20, 4 << 20, 16 << 20, most_bytes};
    tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_error error = {""};
    void *memory = NULL, *counts = NULL;
    where.device = TALLY_DEVICE_CUDA;
    if (!open_fake() || tally_context_create(&where, &context, &error) ||
        tally_memory_create(context, most_bytes, &memory, &error) ||
        tally_memory_create(context, 65536 * 8, &counts, &error)) {
        printf("FAILED: the stand-in: %s\n", error.message);
        return 1;
    }
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
        tally_plan *plan = NULL;
        o.axes[0] = tally_axis_even(plans[p].bins, 0, plans[p].dtype == TALLY_U8 ? 256 : 1);
        o.dtypes[0] = plans[p].dtype;
        CHECK_SAY(!tally_plan_create(context, &o, &plan, &error), "a plan: %s", error.message);
        for (size_t i = 0; plan && i < sizeof sizes / sizeof *sizes; i++)
            try_size(context, plan, memory, counts, sizes[i], plans[p].launches);
        tally_plan_destroy(plan);
    }
    tally_memory_destroy(context, memory);
    tally_memory_destroy(context, counts);
    tally_context_destroy(context);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
