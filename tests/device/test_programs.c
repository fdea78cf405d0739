/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue remembers the functions that it launches, and a program may lie in memory where a closed
 * one lay: its functions are looked up anew. The stand-in for CUDA ends a test that launches what
 * was closed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "gpu/device.h"
#include "plan/plan.h"

/* Builds a program, launches its function and closes it. */
static int come_and_go(ty_device *device, void *queue, tally_error *error)
{
    void *program = NULL;
    int cached = 0;
    ty_arg number = ty_arg_u64(1);
    ty_launch launch = {1, 32, 0, &number, 1, 0};
    int failed = device->ops->build(device, "", "", &program, &cached, error) ||
                 device->ops->launch(device, queue, program, "work", &launch, error) ||
                 device->ops->wait(device, queue, error);
    device->ops->program_close(device, program);
    return !failed;
}

int main(void)
{
    tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_error error = {""};
    void *queue = NULL;
    where.device = TALLY_DEVICE_CUDA;
    setenv("TALLY_CUDA_LIBRARY", FAKE_FOLDER "/libcuda.so.1", 1);
    setenv("TALLY_NVRTC_LIBRARY", FAKE_FOLDER "/libnvrtc.so.13", 1);
    setenv("TALLY_CACHE_DIR", "/dev/null", 1);
    if (!CHECK_SAY(!tally_context_create(&where, &context, &error), "%s", error.message))
        return 1;
    ty_device *device = context->state;
    CHECK_SAY(!device->ops->queue_open(device, NULL, &queue, &error), "%s", error.message);
    for (int i = 0; i < 20; i++)
        CHECK_SAY(come_and_go(device, queue, &error), "program %d: %s", i, error.message);
    device->ops->queue_close(device, queue);
    tally_context_destroy(context);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
