/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of our own where random cases hardly go: 16-bit counters that overflow, with hot cells
 * drained and without, epochs of every length, keys fixed and drawn, samples on the edges. Counts
 * and flows are the reference's. With fewer SAMPLES, for checkers of memory, two inputs are
 * counted once, and nothing overflows.
 *
 *     test_own [SEED [opencl|cuda [SAMPLES]]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counted.h"
#include "draw.h"
#include "drivers.h"
#include "open_device.h"

#include <tally/tally.h>

enum { most_samples = 400007 };

static tally_context *device, *host;
static int checks, failed, left_out;
static uint64_t samples = most_samples;
static union {
    uint16_t u16[most_samples];
    uint32_t u32[most_samples];
    float f32[most_samples];
    double f64[most_samples];
} data;

/* ---- inputs, on an axis from 0 to 1 ---- */

static double equal(uint64_t i)
{
    (void)i;
    return 0.37;
}

static double two(uint64_t i)
{
    return i & 1 ? 0.81 : 0.12;
}

static double neighbours(uint64_t i) /* both halves of one word overflow */
{
    return i % 3 ? 0.5001 : 0.5006;
}

static double mostly(uint64_t i)
{
    (void)i;
    return next() % 10 ? 0.37 : unit();
}

static double runs(uint64_t i)
{
    static double at;
    if (i % 100000 == 0)
        at = unit();
    return at;
}

static double strays(uint64_t i)
{
    (void)i;
    return next() % 100 ? unit() * 1.2 - 0.1 : NAN;
}

static double grid(uint64_t i)
{
    (void)i;
    return (double)(next() % 101) / 100;
}

static const struct {
    const char *name;
    double (*draw)(uint64_t i);
} inputs[] = {{"equal", equal},   {"two", two},   {"neighbours", neighbours},
              {"mostly", mostly}, {"runs", runs}, {"strays", strays},
              {"grid", grid}};

static void fill(tally_dtype dtype, double (*draw)(uint64_t))
{
    for (uint64_t i = 0; i < samples; i++) {
        double x = draw(i);
        if (dtype == TALLY_U16)
            data.u16[i] = (uint16_t)(x >= 0 && x <= 1 ? x * 65535 : 7);
        else if (dtype == TALLY_F32)
            data.f32[i] = (float)x;
        else
            data.f64[i] = x;
    }
}

/* ---- counting ---- */

/* NULL where the device has too little local memory. */
static tally_plan *make_plan(tally_context *context, const char *method, const char *set,
                             tally_dtype dtype, uint64_t bins)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_setting settings[8];
    char text[128], *rest = NULL;
    snprintf(text, sizeof text, "%s", set);
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(one, '=');
        *equals = '\0';
        settings[o.settings_count++] = (tally_setting){one, equals + 1};
    }
    o.settings = settings;
    o.axes[0] = tally_axis_even(bins, 0, dtype == TALLY_U16 ? 65535 : 1);
    o.dtypes[0] = dtype;
    o.method = method;
    return plan_by(context, &o);
}

static tally_view view_from(uint64_t skip, tally_dtype dtype)
{
    return tally_view_1d((char *)&data + skip * tally_dtype_bytes(dtype), dtype, samples - skip);
}

static void compare(const char *method, const char *set, tally_dtype dtype, uint64_t bins,
                    uint64_t skip, const char *input, const answer *want)
{
    static answer got;
    const tally_view view = view_from(skip, dtype);
    tally_plan *plan = make_plan(device, method, set, dtype, bins);
    left_out += !plan;
    /* Once more from what the first count left on the device, with one of the inputs. */
    const int times = !plan ? 0 : samples == most_samples && !strcmp(input, "mostly") ? 2 : 1;
    for (int i = 0; i < times; i++) {
        count(plan, 0, &view, &got);
        checks++;
        if (memcmp(&got, want, sizeof got)) {
            failed++;
            fprintf(stderr, "FAILED: %s %s, %s, %llu bins, %s from %llu on\n", method, set,
                    tally_dtype_name(dtype), (unsigned long long)bins, input,
                    (unsigned long long)skip);
        }
    }
    tally_plan_destroy(plan);
}

static const char *const packed16_sets[] = {
    "",                              /* hot cells are drained */
    "hits=1048576",                  /* they are not: epochs overflow and are counted again */
    "hits=1048576,epoch=1073741824", /* all in one epoch */
    "hits=1,epoch=70000,key=1",      /* whatever is drawn is drained; some epochs overflow */
    "epoch=1,key=4294967295",        /* every piece is an epoch */
};
static const char *const swizzled_sets[] = {
    "", "key=1", "key=2654435769", "key=4294967295,ahead=1", "copies=8", "copies=4,key=3"};

static void check_input(tally_dtype dtype, uint64_t bins, size_t input)
{
    static answer want;
    uint64_t skip = next() % 8;
    fill(dtype, inputs[input].draw);
    const tally_view view = view_from(skip, dtype);
    tally_plan *plan = make_plan(host, "serial", "", dtype, bins);
    count(plan, 0, &view, &want);
    tally_plan_destroy(plan);
    for (size_t i = 0; i < sizeof packed16_sets / sizeof *packed16_sets; i++)
        compare("packed16", packed16_sets[i], dtype, bins, skip, inputs[input].name, &want);
    for (size_t i = 0; i < sizeof swizzled_sets / sizeof *swizzled_sets; i++)
        compare("swizzled", swizzled_sets[i], dtype, bins, skip, inputs[input].name, &want);
}

/* Every value of 16 bits, or of 32 those beside multiples of 2^24 and any, some of them thousands
 * of times, on axes of so many bins that edges which should be samples came out of float64 above
 * some of them (ty_cell_exceptions, ty_lowered). */
static void check_exceptions(void)
{
    static const struct {
        tally_dtype dtype;
        uint64_t bins;
        double lo, hi;
        tally_last_edge last;
    } axes[] = {{TALLY_U16, 56000, 0, 65536, TALLY_LAST_OPEN},
                {TALLY_U16, 50000, 0, 65536, TALLY_LAST_CLOSED},
                {TALLY_I16, 56000, -32768, 32768, TALLY_LAST_CLOSED},
                {TALLY_F16, 56000, 0, 1, TALLY_LAST_OPEN},
                {TALLY_BF16, 56000, 0, 1, TALLY_LAST_CLOSED},
                {TALLY_BF16, 50000, 0, 64, TALLY_LAST_OPEN},
                {TALLY_I32, 56000, 0, 0x1p30, TALLY_LAST_OPEN},
                {TALLY_I32, 50000, -0x1p31, 0x1p31, TALLY_LAST_CLOSED},
                {TALLY_U32, 56000, 0, 0x1p32, TALLY_LAST_CLOSED},
                /* Ends that are rounding's residue. */
                {TALLY_I16, 288, -288, .1 * 3 - .3, TALLY_LAST_OPEN},
                {TALLY_I32, 72, -288, .1 * 3 - .3, TALLY_LAST_OPEN},
                {TALLY_U32, 1000, -5000, 0x1p-1074, TALLY_LAST_OPEN}};
    static uint64_t want[56000], got[56000];
    for (size_t a = 0; a < sizeof axes / sizeof *axes; a++) {
        for (uint64_t i = 0; i < most_samples; i++) {
            const uint64_t draw = next();
            if (axes[a].dtype == TALLY_I32 || axes[a].dtype == TALLY_U32)
                data.u32[i] = (uint32_t)(draw % 4 == 0   ? (draw >> 40 << 24) + draw / 4 % 3 - 1
                                         : draw % 4 == 1 ? (draw >> 40) % 600 - 300
                                                         : draw >> 32);
            else
                data.u16[i] = (uint16_t)(i < 65536  ? i
                                         : draw % 2 ? draw >> 32
                                                    : (draw >> 32) % 64 * 1024);
        }
        tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
        tally_view view = tally_view_1d(&data, axes[a].dtype, most_samples);
        tally_output out = TALLY_OUTPUT_INIT;
        tally_flows flows[2];
        tally_error error = {""};
        tally_plan *plan = NULL;
        o.axes[0] = tally_axis_even(axes[a].bins, axes[a].lo, axes[a].hi);
        o.axes[0].last = axes[a].last;
        o.dtypes[0] = axes[a].dtype;
        for (int ours = 0; ours < 2; ours++) {
            o.method = ours ? "swizzled" : "serial";
            tally_status status = tally_plan_create(ours ? device : host, &o, &plan, &error);
            if (status && (!ours || status != TALLY_ERROR_UNSUPPORTED))
                die(o.method, &error);
            if (status) {
                left_out++;
                return;
            }
            out.counts = ours ? got : want;
            out.flows = &flows[ours];
            if (tally_execute(plan, &view, NULL, &out, &error))
                die(o.method, &error);
            tally_plan_destroy(plan);
        }
        checks++;
        if (memcmp(got, want, axes[a].bins * sizeof *got) ||
            memcmp(&flows[0], &flows[1], sizeof *flows)) {
            failed++;
            fprintf(stderr, "FAILED: swizzled, %s, %llu bins, ties\n",
                    tally_dtype_name(axes[a].dtype), (unsigned long long)axes[a].bins);
        }
    }
}

int main(int argc, char **argv)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    if (argc > 3)
        samples = strtoull(argv[3], NULL, 10) % most_samples + 8;
    if (!(device = open_device(argc > 2 ? argv[2] : NULL)))
        return 77;
    o.device = TALLY_DEVICE_CPU;
    if (tally_context_create(&o, &host, &error))
        die("cpu", &error);
    printf("seed %llu\n", (unsigned long long)state);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        if (samples < most_samples && i != 3 && i != 5)
            continue;
        check_input(TALLY_F32, 1000, i);
        if (i < 4)
            check_input(TALLY_U16, 100, i);
    }
    check_input(TALLY_F64, 2999, 6);
    if (samples == most_samples)
        check_exceptions();
    printf("%d checks, %d failed; %d plans left out for lack of local memory\n", checks, failed,
           left_out);
    tally_context_destroy(device);
    tally_context_destroy(host);
    return failed || !checks;
}
