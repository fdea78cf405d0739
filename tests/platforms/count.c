/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count tally|plain TYPE SAMPLES: that many samples of one of a few types in 256 bins, by the
 * library on one thread or by a plain loop. scripts/platforms.sh counts the instructions that each
 * takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tally/tally.h>

enum { MOST = 147456, BINS = 256 };

#define PLAIN(type)                                                                                \
    static void plain_##type(const type *x, size_t n, uint64_t *counts, uint64_t *outside)         \
    {                                                                                              \
        const double lo = 0, hi = 256, scale = BINS / (hi - lo);                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            const double v = (double)x[i];                                                         \
            if (v >= lo && v < hi)                                                                 \
                counts[(size_t)((v - lo) * scale)]++;                                              \
            else                                                                                   \
                ++*outside;                                                                        \
        }                                                                                          \
    }
PLAIN(uint16_t)
PLAIN(float)
PLAIN(double)

static void plain_u8(const uint8_t *x, size_t n, uint64_t *counts)
{
    for (size_t i = 0; i < n; i++)
        counts[x[i]]++;
}

int main(int argc, char **argv)
{
    static union {
        uint8_t u8[MOST];
        uint16_t u16[MOST];
        float f32[MOST];
        double f64[MOST];
    } x;
    static uint64_t counts[BINS];
    uint64_t outside = 0, sum = 0;
    const size_t n = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    const tally_dtype dtype = argc == 4 ? tally_dtype_parse(argv[2]) : (tally_dtype)0;
    if (!n || n > MOST || !dtype)
        return 2;
    for (uint32_t i = 0, seed = 1; i < MOST;
         i++) { /* every byte, a float between edges now and then */
        seed = seed * 1664525 + 1013904223;
        const uint32_t v = seed >> 24;
        if (dtype == TALLY_U8)
            x.u8[i] = (uint8_t)v;
        else if (dtype == TALLY_U16)
            x.u16[i] = (uint16_t)v;
        else if (dtype == TALLY_F32)
            x.f32[i] = (float)v + 0.25f;
        else
            x.f64[i] = v + 0.25;
    }
    if (!strcmp(argv[1], "tally")) {
        tally_context_options how = TALLY_CONTEXT_OPTIONS_INIT;
        tally_plan_options what = TALLY_PLAN_OPTIONS_INIT;
        tally_context *context = NULL;
        tally_plan *plan = NULL;
        tally_flows flows;
        tally_output output = {sizeof output, counts, &flows, NULL, 0, 0, NULL};
        const tally_view view = tally_view_1d(&x, dtype, n);
        tally_error error;
        how.device = TALLY_DEVICE_CPU;
        how.threads = 1;
        what.axes[0] = tally_axis_even(BINS, 0, 256);
        what.dtypes[0] = dtype;
        if (tally_context_create(&how, &context, &error) ||
            tally_plan_create(context, &what, &plan, &error) ||
            tally_execute(plan, &view, NULL, &output, &error)) {
            fprintf(stderr, "%s\n", error.message);
            return 1;
        }
        tally_plan_destroy(plan);
        tally_context_destroy(context);
    } else if (dtype == TALLY_U8)
        plain_u8(x.u8, n, counts);
    else if (dtype == TALLY_U16)
        plain_uint16_t(x.u16, n, counts, &outside);
    else if (dtype == TALLY_F32)
        plain_float(x.f32, n, counts, &outside);
    else
        plain_double(x.f64, n, counts, &outside);
    for (int i = 0; i < BINS; i++)
        sum += counts[i];
    return sum + outside != n;
}
