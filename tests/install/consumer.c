/* SPDX-License-Identifier: Apache-2.0 */
/* A user's first program: eight samples in four bins, by the installed header and library. */
#include <stdio.h>
#include <string.h>
#include <tally/tally.h>

int main(void)
{
    const float samples[] = {0, 0.5f, 1, 1.5f, 2.25f, 3, 3.5f, 4};
    const uint64_t expected[] = {2, 2, 1, 3};
    uint64_t counts[4];
    tally_error error;
    tally_context *context = NULL;
    tally_plan *plan = NULL;
    tally_plan_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.dimensions = 1;
    options.axes[0] = tally_axis_even(4, 0, 4);
    options.dtypes[0] = TALLY_F32;
    tally_view view = tally_view_1d(samples, TALLY_F32, sizeof samples / sizeof *samples);
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = counts;
    tally_context_options device = TALLY_CONTEXT_OPTIONS_INIT;
    device.device = TALLY_DEVICE_CPU;
    if (tally_context_create(&device, &context, &error) ||
        tally_plan_create(context, &options, &plan, &error) ||
        tally_execute(plan, &view, NULL, &output, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    tally_plan_destroy(plan);
    tally_context_destroy(context);
    if (memcmp(counts, expected, sizeof counts) != 0) {
        fprintf(stderr, "counts are wrong\n");
        return 1;
    }
    printf("tally %s\n", tally_version());
    return 0;
}
