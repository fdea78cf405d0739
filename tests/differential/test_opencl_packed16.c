/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How `packed16` counts an epoch, and what 6-bit counters leave to the rest of `partitioned`,
 * depends on samples drawn; counts must not. Inputs for each way, inputs that change it from one
 * epoch to the next, cells that want one word of a table, epochs in which counters overflow: with
 * pairs drained and without, and of 6 bits some because they hand over too late (late=1), or all.
 * On the first OpenCL device; counts and flows are the reference's. Nothing here is random.
 *
 *     test_opencl_packed16 [cuda]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers.h"
#include "open_device.h"

#include <tally/tally.h>

enum { bins = 65536, samples = 600011 };

static uint32_t mix(uint64_t i)
{
    uint32_t x = (uint32_t)i * 0x9e3779b9u;
    x = (x ^ x >> 16) * 0x7feb352du;
    return x ^ x >> 15;
}

/* ---- inputs: the bin of sample i ---- */

static uint32_t uniform(uint64_t i)
{
    return mix(i) % bins;
}

static uint32_t equal(uint64_t i)
{
    (void)i;
    return 24248;
}

/* Runs of one bin, some no longer than a load. */
static uint32_t runs(uint64_t i)
{
    return mix(i / (i % 100000 < 50000 ? 700 : 5)) % bins;
}

/* As bytes are. */
static uint32_t bytes(uint64_t i)
{
    return (mix(i) % 64 + mix(i + samples) % 64) * 256;
}

/* A hundred that have no bits in common, a few others later on. */
static uint32_t decimals(uint64_t i)
{
    return i > 400000 && mix(i) % 4096 == 0 ? mix(i + 1) % 70 * 911 : mix(i) % 100 * 65536 / 100;
}

/* As images of 12 bits are; some samples with others at times. */
static uint32_t twelve(uint64_t i)
{
    return i > 200000 && mix(i) % 1000 == 0 ? uniform(i + 1) : mix(i) % 4096;
}

static uint32_t mostly(uint64_t i)
{
    return mix(i) % 10 ? 37 : uniform(i + 1);
}

static uint32_t neighbours(uint64_t i)
{
    return 30000 + mix(i) % 3;
}

/* Three bins that want the same word of the table, which one gets. */
static uint32_t colliding(uint64_t i)
{
    return mix(i) % 3 * 414;
}

/* Each of the others for a while. */
static uint32_t changing(uint64_t i)
{
    static uint32_t (*const bin[])(uint64_t) = {equal, uniform, bytes, runs, mostly, colliding};
    return bin[i / 75000 % 6](i);
}

/* Three bins that want the same word of the table of 6-bit counters: all along, or in one tile. */
static uint32_t crowded(uint64_t i)
{
    return mix(i) % 3 * 1052;
}

static uint32_t crowded_once(uint64_t i)
{
    return i / 2048 == 49 ? crowded(i) : uniform(i);
}

static const struct {
    const char *name;
    uint32_t (*bin)(uint64_t i);
} inputs[] = {{"uniform", uniform},     {"equal", equal},
              {"runs", runs},           {"bytes", bytes},
              {"mostly one", mostly},   {"neighbours", neighbours},
              {"colliding", colliding}, {"changing", changing},
              {"crowded", crowded},     {"crowded once", crowded_once},
              {"decimals", decimals},   {"twelve bits", twelve}};
enum { input_count = sizeof inputs / sizeof *inputs };

/* Periods of one chunk, of several, of the whole; draws that list all pairs, some or none; every
 * way, whatever was drawn. Of 6 bits: lots that fit, lots that do not, tiles of other sizes. */
enum { setting_most = 10 };
static const struct {
    const char *method;
    tally_setting set[setting_most][3];
} methods[] = {{"packed16",
                {{{"epoch", "2097152"}, {"hits", "0"}},
                 {{"epoch", "200000"}, {"hits", "0"}},
                 {{"epoch", "200000"}, {"hits", "1048576"}},
                 {{"epoch", "2097152"}, {"hits", "1048576"}},
                 {{"epoch", "2097152"}, {"hits", "2"}},
                 {{"epoch", "1"}, {"hits", "1"}},
                 {{"epoch", "200000"}, {"form", "1"}},
                 {{"epoch", "200000"}, {"form", "2"}},
                 {{"epoch", "200000"}, {"form", "3"}},
                 {{"epoch", "200000"}, {"form", "4"}}}},
               {"partitioned",
                {{{"packed6", "2"}},
                 {{"packed6", "2"}, {"late", "1"}},
                 {{"packed6", "2"}, {"late", "1"}, {"chunk", "1"}},
                 {{"packed6", "2"}, {"late", "1"}, {"per-thread", "8"}}}}};

static float floats[samples];
static uint16_t words[samples];
static uint64_t want[bins], got[bins];
static int checks, failed;

static tally_status count(const tally_plan *plan, tally_dtype dtype, int reference, uint64_t *to,
                          tally_flows *flows)
{
    const void *data = dtype == TALLY_F32 ? (const void *)floats : words;
    tally_view view = tally_view_1d((void *)(uintptr_t)data, dtype, samples);
    tally_output out = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    memset(flows, 0, sizeof *flows);
    out.counts = to;
    out.flows = flows;
    tally_status status =
        (reference ? tally_execute_reference : tally_execute)(plan, &view, NULL, &out, &error);
    if (status)
        fprintf(stderr, "FAILED: %s\n", error.message);
    return status;
}

static void fill(int input)
{
    for (uint64_t i = 0; i < samples; i++) {
        const uint32_t bin = inputs[input].bin(i);
        words[i] = (uint16_t)bin;
        floats[i] = (float)bin + 0.5f;
    }
    floats[17] = -1;
    floats[samples - 3] = 2 * bins;
}

static void check(const tally_plan *plan, tally_dtype dtype, const char *method, int input,
                  int setting)
{
    static tally_flows wanted;
    tally_flows flows;
    checks++;
    if (setting == 0 && count(plan, dtype, 1, want, &wanted)) {
        failed++;
        return;
    }
    if (!count(plan, dtype, 0, got, &flows) && !memcmp(got, want, sizeof got) &&
        !memcmp(&flows, &wanted, sizeof flows))
        return;
    failed++;
    fprintf(stderr, "FAILED: %s, %s, %s, setting %d\n", method, tally_dtype_name(dtype),
            inputs[input].name, setting);
}

static void check_all(tally_context *device, int method, tally_dtype dtype)
{
    tally_plan *plans[setting_most] = {NULL};
    tally_error error = {""};
    tally_status status = TALLY_OK;
    for (int s = 0; s < setting_most && methods[method].set[s][0].key && !status; s++) {
        tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
        o.axes[0] = tally_axis_even(bins, 0, bins);
        o.dtypes[0] = dtype;
        o.method = methods[method].method;
        o.settings = methods[method].set[s];
        while (o.settings_count < 3 && o.settings[o.settings_count].key)
            o.settings_count++;
        status = tally_plan_create(device, &o, &plans[s], &error);
    }
    if (status) {
        printf("left out: %s\n", error.message);
        failed += status != TALLY_ERROR_UNSUPPORTED;
    }
    for (int k = 0; k < input_count && !status; k++) {
        fill(k);
        for (int s = 0; s < setting_most && plans[s]; s++)
            check(plans[s], dtype, methods[method].method, k, s);
    }
    for (int s = 0; s < setting_most; s++)
        tally_plan_destroy(plans[s]);
}

int main(int argc, char **argv)
{
    tally_context *device = open_device(argc > 1 ? argv[1] : NULL);
    if (!device)
        return 77;
    check_all(device, 0, TALLY_F32);
    check_all(device, 0, TALLY_U16);
    check_all(device, 1, TALLY_F32);
    tally_context_destroy(device);
    printf("%d checks, %d failed\n", checks, failed);
    return failed ? 1 : checks ? 0 : 77;
}
