/* SPDX-License-Identifier: Apache-2.0 */
/* TALLY_DEVICE_AUTO: plans stay on the processor or go to a stand-in CUDA device by what the tables
 * of speeds say, and a device that does not work changes nothing. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "plan/cost.h"
#include "plan/plan.h"

static long opened(void)
{
    void *handle = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW);
    long (*calls)(const char *) = NULL;
    *(void **)&calls = dlsym(handle, "fake_calls");
    return calls("cuDevicePrimaryCtxRetain");
}

static tally_context *open_with(tally_device_type device, double gbps, unsigned threads)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_error error = {""};
    o.device = device;
    o.threads = threads;
    CHECK_SAY(tally_context_create(&o, &context, &error) == TALLY_OK, "a context: %s",
              error.message);
    /* The processor counts at this speed. */
    for (uint32_t i = 0; context && i < context->tuning->count; i++) {
        context->tuning->rates[i].gbps = gbps;
        context->tuning->rates[i].call_us = 0;
    }
    return context;
}

/* Where a plan for n float samples is made, and what it says. */
static void expect(tally_context *context, uint64_t n, const char *method, const char *device,
                   const char *said)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    tally_device_info where = {.struct_size = sizeof where};
    tally_error error = {""};
    o.axes[0] = tally_axis_even(1000, 0, 1);
    o.dtypes[0] = TALLY_F32;
    o.n_hint = n;
    o.method = method;
    CHECK_SAY(tally_plan_create(context, &o, &plan, &error) == TALLY_OK, "a plan: %s",
              error.message);
    if (!plan)
        return;
    CHECK_SAY(tally_plan_device(plan, &where, &error) == TALLY_OK && !strcmp(where.id, device),
              "%s: %s", device, tally_plan_describe(plan));
    CHECK_SAY(strstr(tally_plan_describe(plan), said) != NULL, "%s: %s", said,
              tally_plan_describe(plan));
    tally_plan_destroy(plan);
}

static void test_choice(void)
{
    const uint64_t many = 1000000000; /* 4 GB: 0.333 s on the way by the default 12 GB/s a thread */
    tally_context *slow = open_with(TALLY_DEVICE_AUTO, 1, 1),
                  *fast = open_with(TALLY_DEVICE_AUTO, 100, 1),
                  *only = open_with(TALLY_DEVICE_CPU, 1, 1),
                  *several = open_with(TALLY_DEVICE_AUTO, 1, 7);
    expect(fast, many, NULL, "cpu", "on cpu");
    expect(slow, 1000000, NULL, "cpu", "on cpu");
    expect(slow, many, "cpu-tables", "cpu", "asked for by name");
    expect(only, many, NULL, "cpu", "on cpu");
    CHECK_SAY(opened() == 0, "the driver is not touched before there is a use for it: ");
    expect(slow, many, NULL, "cuda:0", "host data take, on their way, 0.333");
    expect(slow, 1000000, NULL, "cuda:0", "on cuda"); /* it is open now */
    expect(slow, 1000, NULL, "cpu", "cuda would take, with the data's way there,");
    expect(slow, many, NULL, "cuda:0", "on cuda");
    CHECK_SAY(opened() == 1, "one device for all plans: ");
    expect(several, many, NULL, "cuda:0", "host data take, on their way, 0.0931"); /* 43 GB/s */
    tally_context_destroy(several);
    tally_context_destroy(slow);
    tally_context_destroy(fast);
    tally_context_destroy(only);
}

/* In a process of its own, with a driver of another kind. */
static void apart(const char *variable, const char *value, void (*run)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv(variable, value, 1);
        checks = failures = 0;
        run();
        exit(failures != 0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK_SAY(status == 0, "%s: %s", variable, value);
}

static void test_no_use(void)
{
    tally_context *slow = open_with(TALLY_DEVICE_AUTO, 1, 1);
    for (int i = 0; i < 2; i++)
        expect(slow, 1000000000, NULL, "cpu", "on cpu");
    tally_context_destroy(slow);
}

/* A device whose kernels cannot be had. */
static void test_no_kernel(void)
{
    tally_context *slow = open_with(TALLY_DEVICE_AUTO, 1, 1);
    expect(slow, 1000000000, NULL, "cpu", "cuda has no kernel for it");
    tally_context_destroy(slow);
}

int main(void)
{
    setenv("TALLY_CUDA_LIBRARY", FAKE_FOLDER "/libcuda.so.1", 1);
    setenv("TALLY_NVRTC_LIBRARY", FAKE_FOLDER "/libnvrtc.so.13", 1);
    setenv("TALLY_OPENCL_LIBRARY", "none", 1);
    setenv("TALLY_KERNELS_FILE", "none", 1);
    setenv("TALLY_CACHE_DIR", "/dev/null/none", 1);
    apart("FAKE_CUDA_DEVICES", "0", test_no_use);
    apart("TALLY_CUDA_LIBRARY", "none", test_no_use);
    apart("FAKE_CUDA_CAPABILITY", "61", test_no_use);
    apart("FAKE_NVRTC_BUILD", "tally.cu(4): error", test_no_kernel);
    test_choice();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
