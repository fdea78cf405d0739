/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory that the caller keeps, the two clocks of a call, and what is told of a kernel: on
 * the processor, and on each OpenCL and CUDA device there is. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "drivers.h"

#include <tally/tally.h>

enum { samples = 70001, half = 30000 };

static unsigned char data[samples];

static void check_clocks(tally_plan *plan, const tally_view *view, const uint64_t *expected)
{
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    uint64_t counts[256];
    double seconds = -1, merging = -1;
    output.counts = counts;
    how.device_seconds = &seconds;
    how.merge_seconds = &merging;
    CHECK(tally_execute(plan, view, &how, &output, &error) == TALLY_OK);
    CHECK(memcmp(counts, expected, sizeof counts) == 0);
    if (view->device == TALLY_DEVICE_CPU) {
        CHECK(seconds == 0 && merging == 0);
    } else {
        CHECK(seconds > 0 && merging > 0 && merging < seconds);
    }
}

static void check_kernel(tally_plan *plan, tally_device_type device)
{
    tally_error error = {""};
    tally_kernel_info info = {.struct_size = sizeof info};
    tally_status status = tally_plan_kernel(plan, samples, &info, &error);
    if (device == TALLY_DEVICE_CPU) {
        CHECK(status == TALLY_ERROR_UNSUPPORTED && strstr(error.message, "is no kernel"));
        return;
    }
    CHECK(status == TALLY_OK && info.groups > 0 && info.group_size > 0 && info.units > 0);
    CHECK(info.local_bytes >= 256 * 4 && info.unit_threads > 0);
    info.struct_size = 1;
    CHECK(tally_plan_kernel(plan, samples, &info, &error) == TALLY_ERROR_ARGUMENT);
    CHECK(tally_plan_kernel(NULL, samples, &info, &error) == TALLY_ERROR_ARGUMENT);
}

/* The samples go over in two pieces; memory past them is not read. */
static void check_on(tally_context *context, tally_device_type device, const uint64_t *expected)
{
    tally_error error = {""};
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    void *memory = NULL;
    o.axes[0] = tally_axis_even(256, 0, 256);
    o.dtypes[0] = TALLY_U8;
    o.method = device == TALLY_DEVICE_CPU ? NULL : "private-shared";
    CHECK(tally_plan_create(context, &o, &plan, &error) == TALLY_OK);
    CHECK(tally_memory_create(context, samples + 100, &memory, &error) == TALLY_OK);
    CHECK(tally_memory_write(context, memory, half, data + half, samples - half, &error) ==
          TALLY_OK);
    CHECK(tally_memory_write(context, memory, 0, data, half, &error) == TALLY_OK);
    CHECK(tally_memory_write(context, memory, 5, NULL, 0, &error) == TALLY_OK);
    CHECK(tally_memory_write(context, memory, 5, NULL, 1, &error) == TALLY_ERROR_ARGUMENT);
    CHECK(tally_memory_create(context, 0, &memory, &error) == TALLY_ERROR_ARGUMENT);
    CHECK(tally_memory_create(NULL, 1, &memory, &error) == TALLY_ERROR_ARGUMENT);
    tally_view view = tally_view_1d(memory, TALLY_U8, samples);
    view.device = device;
    if (plan && memory) {
        check_clocks(plan, &view, expected);
        check_kernel(plan, device);
    }
    if (error.message[0] && failures)
        printf("%s\n", error.message);
    tally_memory_destroy(context, memory);
    tally_memory_destroy(context, NULL);
    tally_plan_destroy(plan);
}

int main(void)
{
    uint64_t expected[256] = {0};
    for (int i = 0; i < samples; i++) {
        data[i] = (unsigned char)((unsigned)i * 2654435761u >> 24);
        expected[data[i]]++;
    }
    for (uint32_t i = 0; i < tally_device_count(); i++) {
        tally_device_info info = {.struct_size = sizeof info};
        tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
        tally_context *context = NULL;
        tally_error error = {""};
        CHECK(tally_device_get(i, &info, &error) == TALLY_OK);
        if (!info.available) {
            printf("%s: skipped: %s\n", info.id, info.reason);
            continue;
        }
        CHECK((info.device == TALLY_DEVICE_CPU) == !info.driver[0]);
        where.device = info.device;
        where.index = info.index;
        CHECK(tally_context_create(&where, &context, &error) == TALLY_OK);
        if (context)
            check_on(context, info.device, expected);
        tally_context_destroy(context);
        printf("%s (%s): checked\n", info.id, info.driver);
    }
    return failures != 0;
}
