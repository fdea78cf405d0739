/* SPDX-License-Identifier: Apache-2.0 */
/* A user of libtally-io: a result of three samples, saved, read again and compared. */
#include <stdio.h>
#include <string.h>
#include <tally/io.h>

typedef struct text {
    char bytes[4096];
    size_t size;
} text;

static int keep(void *user, const void *bytes, size_t size)
{
    text *t = user;
    if (size > sizeof t->bytes - t->size)
        return 1;
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return 0;
}

int main(void)
{
    const unsigned char samples[] = {0, 1, 1};
    const uint64_t expected[] = {1, 2};
    tally_context_options device = TALLY_CONTEXT_OPTIONS_INIT;
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    tally_view view = tally_view_1d(samples, TALLY_U8, sizeof samples);
    tally_context *context = NULL;
    tally_plan *plan = NULL;
    tally_result *result = NULL, *again = NULL;
    tally_error error;
    text saved = {"", 0};
    options.axes[0] = tally_axis_integer(2, 0);
    options.dtypes[0] = TALLY_U8;
    device.device = TALLY_DEVICE_CPU;
    if (tally_context_create(&device, &context, &error) ||
        tally_plan_create(context, &options, &plan, &error) ||
        tally_result_create(plan, 1, NULL, &result, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    tally_output output = tally_result_output(result);
    const tally_result *one = result;
    if (tally_execute(plan, &view, NULL, &output, &error) ||
        tally_result_write(&one, 1, TALLY_FORMAT_JSON, NULL, keep, &saved, &error) ||
        tally_result_parse(saved.bytes, saved.size, "saved", 0, &again, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    int same = !memcmp(tally_result_counts(again, 0), expected, sizeof expected);
    tally_result_destroy(result);
    tally_result_destroy(again);
    tally_plan_destroy(plan);
    tally_context_destroy(context);
    if (!same) {
        fprintf(stderr, "counts are wrong\n");
        return 1;
    }
    printf("tally %s\n", tally_version());
    return 0;
}
