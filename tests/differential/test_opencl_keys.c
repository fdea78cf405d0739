/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key that a launch draws scrambles where kernels write in local memory; counts must not depend
 * on it. Methods that have one, at 100 000 bins and more, under every key of a fixed list, on
 * sorted samples and on samples laid out against the method. Counts and flows are the
 * reference's. Nothing here is random.
 *
 *     test_opencl_keys [opencl|cuda]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers.h"
#include "open_device.h"

#include <tally/tally.h>

enum {
    tile = 2048, /* samples that `partitioned` sorts at once, by the settings below */
    slice = 16384,
    samples = 12 * tile + 777,
    most_bins = 110003
};

typedef struct plan_case {
    const char *method;
    uint64_t bins;
    int keys;
    tally_setting settings[5]; /* and the key */
} plan_case;

/* Of partitioned 7 and 13 slices: a tile's last row of banks is not full, and samples can reach it.
 */
static const plan_case cases[] = {
    {"partitioned", 100003, 32, {{"partition", "14"}, {"threads", "64"}, {"per-thread", "32"}}},
    {"partitioned", 100003, 32, {{"partition", "13"}, {"threads", "64"}, {"per-thread", "32"}}},
    {"partitioned", 110003, 8, {{"packed6", "2"}, {"threads", "64"}, {"per-thread", "8"}}},
    {"packed16", 110003, 8, {{"threads", "64"}}},
    {"packed16", 110003, 8, {{"threads", "64"}, {"hits", "1"}, {"epoch", "9000"}}},
    {"swizzled", 56003, 8, {{"threads", "64"}}},
    {"swizzled", 100003, 8, {{"threads", "64"}}},
};

/* ---- inputs: the bin of sample i ---- */

static uint64_t sorted(uint64_t i, uint64_t bins)
{
    return i * bins / samples;
}

/* Each tile on its own, over few slices. */
static uint64_t sorted_tiles(uint64_t i, uint64_t bins)
{
    uint64_t from = i / tile % 5 * slice;
    return (from + i % tile * (2 * slice + 40) / tile) % bins;
}

/* All slices but one get a single sample of a tile, so that each has a quad nearly empty. */
static uint64_t remainders(uint64_t i, uint64_t bins)
{
    uint64_t slices = bins / slice + 1, most = i / tile % slices, at = i % tile;
    uint64_t s = at < slices ? at : most;
    return (s * slice + (at * 5 + i / tile) % 1000) % bins;
}

static uint64_t one_bank(uint64_t i, uint64_t bins)
{
    return i * 32 % bins;
}

static uint64_t equal(uint64_t i, uint64_t bins)
{
    return i < samples / 2 ? bins - 1 : bins / 3;
}

static const struct {
    const char *name;
    uint64_t (*bin)(uint64_t i, uint64_t bins);
} inputs[] = {{"sorted", sorted},
              {"sorted tiles", sorted_tiles},
              {"remainders", remainders},
              {"one bank", one_bank},
              {"equal", equal}};
enum { input_count = sizeof inputs / sizeof *inputs };

/* ---- counting ---- */

typedef struct answer {
    uint64_t counts[most_bins];
    tally_flows flows;
} answer;

static float data[input_count][samples];
static answer want[input_count], got;
static int checks, failed;

static void fill(uint64_t bins)
{
    for (int k = 0; k < input_count; k++) {
        for (uint64_t i = 0; i < samples; i++)
            data[k][i] = (float)inputs[k].bin(i, bins) + 0.5f;
        data[k][100] = -1;
        data[k][3000] = (float)(2 * most_bins);
    }
}

static tally_status count(const tally_plan *plan, int input, int reference, answer *to)
{
    tally_view view = tally_view_1d(data[input], TALLY_F32, samples);
    tally_output out = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    memset(to, 0, sizeof *to);
    out.counts = to->counts;
    out.flows = &to->flows;
    tally_status status =
        (reference ? tally_execute_reference : tally_execute)(plan, &view, NULL, &out, &error);
    if (status)
        fprintf(stderr, "FAILED: %s: %s\n", tally_plan_method(plan), error.message);
    return status;
}

/* All ones, single bits, and numbers spread over the rest. */
static uint32_t key_of(int i)
{
    uint32_t spread = (uint32_t)i * 0x9e3779b9u;
    return i == 0 ? 0xffffffffu : i < 5 ? 1u << (i * 9 - 5) : spread ^ spread >> 15;
}

static tally_status make_plan(tally_context *context, const plan_case *c, uint32_t key,
                              tally_plan **plan, tally_error *error)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_setting settings[6];
    char text[16];
    snprintf(text, sizeof text, "%u", key);
    for (int i = 0; c->settings[i].key; i++)
        settings[o.settings_count++] = c->settings[i];
    settings[o.settings_count++] = (tally_setting){"key", text};
    o.settings = settings;
    o.axes[0] = tally_axis_even(c->bins, 0, (double)c->bins);
    o.dtypes[0] = TALLY_F32;
    o.method = c->method;
    return tally_plan_create(context, &o, plan, error);
}

static void check_key(const tally_plan *plan, const plan_case *c, uint32_t key)
{
    for (int k = 0; k < input_count; k++) {
        checks++;
        if (!count(plan, k, 0, &got) && !memcmp(&got, &want[k], sizeof got))
            continue;
        failed++;
        fprintf(stderr, "FAILED: %s, %llu bins, key %u, %s\n", c->method,
                (unsigned long long)c->bins, key, inputs[k].name);
    }
}

static void check_case(tally_context *device, const plan_case *c)
{
    tally_error error = {""};
    fill(c->bins);
    for (int i = 0; i < c->keys; i++) {
        tally_plan *plan = NULL;
        tally_status status = make_plan(device, c, key_of(i), &plan, &error);
        if (status) {
            printf("left out: %s\n", error.message);
            failed += status != TALLY_ERROR_UNSUPPORTED;
            return;
        }
        for (int k = 0; i == 0 && k < input_count; k++)
            failed += count(plan, k, 1, &want[k]) != TALLY_OK;
        check_key(plan, c, key_of(i));
        tally_plan_destroy(plan);
    }
}

int main(int argc, char **argv)
{
    tally_context *device = open_device(argc > 1 ? argv[1] : NULL);
    if (!device)
        return 77;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(device, &cases[i]);
    tally_context_destroy(device);
    printf("%d checks, %d failed\n", checks, failed);
    return failed ? 1 : checks ? 0 : 77;
}
