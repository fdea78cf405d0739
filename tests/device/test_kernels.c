/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel method at small sizes, beside the edges of words, groups and buffers; a method that
 * needs no atomics, run again and again; more samples than 32 bits count.
 *
 *     test_kernels [opencl|cuda [small|tag|many [METHOD | -METHOD [RUNS [SEED]]]]]
 *
 * small: for checkers that run a kernel a thousand times slower. tag: RUNS random inputs whose
 * lanes often meet, by podlozhnyuk-256-tag. many: 2^32 + 3145805 bytes of one value in device
 * memory, for a GPU. METHOD: that one only, or all but that one. Without arguments: small, and some
 * of tag.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>
#include <time.h>

#include "check.h"
#include "draw.h"
#include "drivers.h"
#include "method_plan.h"

enum { most_bytes = 20011, slots_most = 256 };

static tally_context *context;
static tally_device_type device = TALLY_DEVICE_OPENCL;
static const char *wanted = "";
/* The methods that kernels count by; NULL at the end, "" for one that is not asked for. */
static const char *method_at(uint32_t i)
{
    tally_method_info info = {.struct_size = sizeof info};
    if (tally_method_get(i, &info, NULL))
        return NULL;
    int named = *wanted == '-' ? strcmp(info.name, wanted + 1) != 0
                               : !*wanted || !strcmp(info.name, wanted);
    const char *kind = device == TALLY_DEVICE_CUDA ? "cuda" : "opencl";
    return named && strstr(info.devices, kind) ? info.name : "";
}

/* "method trish counts u8 i8, not f32"; and the one that sums weights. */
static int takes_others(const tally_error *error)
{
    return strstr(error->message, " counts ") || strstr(error->message, "sums weights");
}

/* Whether the plan counts the view as the reference does. */
static int right(const tally_plan *plan, const tally_view *view, tally_error *error)
{
    uint64_t got[slots_most] = {0}, want[slots_most] = {0};
    tally_flows flows = {0, 0, 0, 0}, true_flows = flows;
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = got;
    output.flows = &flows;
    if (tally_execute(plan, view, NULL, &output, error))
        return 0;
    output.counts = want;
    output.flows = &true_flows;
    if (tally_execute_reference(plan, view, NULL, &output, error))
        return 0;
    snprintf(error->message, sizeof error->message, "other counts");
    return !memcmp(got, want, sizeof got) && !memcmp(&flows, &true_flows, sizeof flows);
}

/* ---- small ---- */

static void small_method(const char *method, tally_dtype dtype, const void *data, size_t size)
{
    static const uint64_t lengths[] = {0, 1, 3, 63, 64, 65, 255, 1021, 5003};
    tally_error error = {""};
    char what[96];
    tally_plan *plan = make_plan(context, method, dtype, &error);
    if (!plan) {
        int refused = takes_others(&error) || strstr(error.message, "work-item a bin") ||
                      strstr(error.message, "no float64");
        CHECK_SAY(refused, "%s: %s: %s", method, tally_dtype_name(dtype), error.message);
        return;
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint64_t first = i % 4;
        tally_view view = tally_view_1d((const char *)data + first * size, dtype, lengths[i]);
        snprintf(what, sizeof what, "%llu of %s from %llu", (unsigned long long)lengths[i],
                 tally_dtype_name(dtype), (unsigned long long)first);
        CHECK_SAY(right(plan, &view, &error), "%s: %s: %s", method, what, error.message);
    }
    tally_plan_destroy(plan);
}

static void small(void)
{
    static unsigned char bytes[most_bytes];
    static float floats[most_bytes];
    for (size_t i = 0; i < most_bytes; i++) {
        bytes[i] = (unsigned char)(below(3) ? below(256) : 77);
        floats[i] = (float)below(300 * 16) / 16 - 20;
    }
    for (uint32_t i = 0; method_at(i); i++) {
        if (!*method_at(i))
            continue;
        small_method(method_at(i), TALLY_U8, bytes, 1);
        small_method(method_at(i), TALLY_F32, floats, sizeof *floats);
    }
}

/* ---- tag ---- */

/* Few values or many, runs of one or a mixture: lanes of a warp meet in every number. */
static uint64_t tag_input(unsigned char *data)
{
    uint64_t n = below(most_bytes), values = 1 + below(below(2) ? 4 : 256), stay = 1 + below(40);
    unsigned char value = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!below(stay))
            value = (unsigned char)(below(values) * 37);
        data[i] = value;
    }
    return n;
}

static void tag(unsigned long runs)
{
    static unsigned char data[most_bytes + 4];
    tally_error error = {""};
    tally_plan *plan = make_plan(context, "podlozhnyuk-256-tag", TALLY_U8, &error);
    CHECK_SAY(plan != NULL, "podlozhnyuk-256-tag: plan: %s", error.message);
    unsigned wrong = 0;
    for (unsigned long r = 0; plan && r < runs; r++) {
        uint64_t got[256] = {0}, want[256] = {0};
        tally_output output = TALLY_OUTPUT_INIT;
        unsigned char *first = data + below(4);
        uint64_t n = tag_input(first);
        tally_view view = tally_view_1d(first, TALLY_U8, n);
        output.counts = got;
        for (uint64_t i = 0; i < n; i++)
            want[first[i]]++;
        wrong += tally_execute(plan, &view, NULL, &output, &error) != TALLY_OK ||
                 memcmp(got, want, sizeof got) != 0;
    }
    CHECK_SAY(!wrong, "podlozhnyuk-256-tag: counts were lost: %s", error.message);
    printf("podlozhnyuk-256-tag: %lu random runs, %u wrong\n", runs, wrong);
    tally_plan_destroy(plan);
}

/* ---- many ---- */

static void many_method(const char *method, void *memory, uint64_t n, unsigned char value)
{
    uint64_t got[slots_most] = {0};
    double seconds = 0;
    tally_flows flows = {0, 0, 0, 0};
    tally_output output = TALLY_OUTPUT_INIT;
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_error error = {"other counts"};
    tally_plan *plan = make_plan(context, method, TALLY_U8, &error);
    if (!plan && takes_others(&error))
        return;
    tally_view view = tally_view_1d(memory, TALLY_U8, n);
    view.device = device;
    output.counts = got;
    output.flows = &flows;
    options.device_seconds = &seconds;
    int ok = plan && !tally_execute(plan, &view, &options, &output, &error);
    uint64_t bins = plan ? tally_plan_bins(plan) : 1, bin = value * bins / 256, others = 0;
    if (ok && !strncmp(method, "saturating", 10)) {
        const uint16_t *counts = (const uint16_t *)(const void *)got;
        for (uint64_t b = 0; b < bins; b++)
            others += b == bin ? 0 : counts[b];
        ok = counts[bin] == UINT16_MAX && !others;
    } else if (ok) {
        for (uint64_t b = 0; b < bins; b++)
            others += b == bin ? 0 : got[b];
        ok = got[bin] == n && !others;
    }
    ok = ok && !flows.under && !flows.over && !flows.nan && !flows.masked;
    CHECK_SAY(ok, "%s: %s: %s", method, "more than 2^32 samples", error.message);
    printf("%-26s %.3f s%s\n", method, seconds, ok ? "" : ", wrong");
    tally_plan_destroy(plan);
}

/* One value, so that one counter passes 2^32. */
static int many(void)
{
    enum { value = 200, piece = 64 << 20 };
    uint64_t n = (UINT64_C(1) << 32) + 3145805;
    tally_device_info info = {.struct_size = sizeof info};
    tally_error error = {""};
    void *memory = NULL;
    if (tally_context_device(context, &info, &error) || info.memory_bytes < 3 * n ||
        strstr(info.driver, "PoCL")) {
        printf("skipped: it is for a GPU with 12 GiB\n");
        return 77;
    }
    unsigned char *some = malloc(piece);
    if (!some || tally_memory_create(context, n, &memory, &error)) {
        fprintf(stderr, "FAILED: memory: %s\n", error.message);
        free(some);
        return 1;
    }
    memset(some, value, piece);
    for (uint64_t at = 0; at < n && !failures; at += piece)
        CHECK_SAY(
            !tally_memory_write(context, memory, at, some, n - at < piece ? n - at : piece, &error),
            "memory: write: %s", error.message);
    for (uint32_t i = 0; method_at(i); i++) {
        if (*method_at(i))
            many_method(method_at(i), memory, n, value);
    }
    tally_memory_destroy(context, memory);
    free(some);
    return 0;
}

int main(int argc, char **argv)
{
    tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    const char *what = argc > 2 ? argv[2] : "";
    unsigned long runs = argc > 4 ? strtoul(argv[4], NULL, 10) : 200;
    int code = 0;
    device = argc > 1 && !strcmp(argv[1], "cuda") ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    wanted = argc > 3 ? argv[3] : "";
    state = argc > 5 ? strtoull(argv[5], NULL, 10) : (uint64_t)time(NULL);
    where.device = device;
    if (tally_context_create(&where, &context, &error)) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    printf("seed %llu\n", (unsigned long long)state);
    if (!strcmp(what, "small"))
        small();
    if (!*what || !strcmp(what, "tag"))
        tag(runs);
    if (!strcmp(what, "many"))
        code = many();
    tally_context_destroy(context);
    printf("%u checks, %u failed\n", checks, failures);
    return failures ? 1 : code;
}
