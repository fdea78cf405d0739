/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of bins of samples on a device are the processor's with limits, to the bit: random
 * axes, layouts, masks and policies, values of every type and kind, tables in local and in global
 * memory; and what is refused.
 *
 *     test_statistics [opencl|cuda [SEED [CASES]]]
 */
#include "statistics_help.h"

static void check_case(uint64_t seed)
{
    call x;
    make_call(&x, seed);
    if (getenv("TALLY_TEST_VERBOSE"))
        printf("%s, %u of %s\n", x.c.text, x.count, tally_dtype_name(x.values[0].dtype));
    check_made(&x);
}

/* As many arguments as a kernel can have. */
static void check_most_dimensions(void)
{
    enum { n = 300 };
    static float samples[TALLY_MAX_DIMENSIONS][n], values[n];
    static unsigned char there[n];
    call x = {.count = 1, .options = TALLY_STATISTICS_OPTIONS_INIT};
    random_case *c = &x.c;
    snprintf(c->text, sizeof c->text, "%d dimensions", TALLY_MAX_DIMENSIONS);
    c->plan =
        (tally_plan_options){.struct_size = sizeof c->plan, .dimensions = TALLY_MAX_DIMENSIONS};
    c->histograms = 1;
    for (int d = 0; d < TALLY_MAX_DIMENSIONS; d++) {
        c->plan.axes[d] = tally_axis_even(2, 0, 1);
        c->plan.dtypes[d] = TALLY_F32;
        for (int i = 0; i < n; i++)
            samples[d][i] = (float)unit();
        c->views[d] = tally_view_1d(samples[d], TALLY_F32, n);
    }
    for (int i = 0; i < n; i++) {
        values[i] = (float)(2 * unit() - 1);
        there[i] = below(3) != 0;
    }
    c->has_mask = 1;
    c->mask = tally_view_1d(there, TALLY_U8, n);
    x.options.mask = &c->mask;
    x.values[0] = tally_view_1d(values, TALLY_F32, n);
    make_plain(&x, 0);
    check_made(&x);
}

static void check_refusals(void)
{
    const float x[4] = {0};
    const tally_view view = tally_view_1d(x, TALLY_F32, 4);
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_view there = view;
    tally_statistics_options options = TALLY_STATISTICS_OPTIONS_INIT;
    tally_error error = {""};
    void *memory = NULL;
    answer a = make_answer(5);
    const tally_statistics bins = into(&a, 127);
    o.axes[0] = tally_axis_even(5, 0, 1);
    o.dtypes[0] = TALLY_F32;
    tally_plan *plan = plan_of(device, &o);
    there_put(device, &there, &memory);
    CHECK(tally_bin_statistics(plan, &view, &view, 1, NULL, &bins, NULL, &error) ==
              TALLY_ERROR_UNSUPPORTED &&
          strstr(error.message, "a plan on the processor"));
    CHECK(tally_bin_statistics(plan, &there, &view, 1, NULL, &bins, NULL, &error) ==
          TALLY_ERROR_UNSUPPORTED);
    options.weights = &there;
    CHECK(tally_bin_statistics(plan, &there, &there, 1, &options, &bins, NULL, &error) ==
              TALLY_ERROR_UNSUPPORTED &&
          strstr(error.message, "weights"));
    tally_memory_destroy(device, memory);
    tally_plan_destroy(plan);
    drop_answer(&a);
}

int main(int argc, char **argv)
{
    uint64_t seed;
    int cases;
    if (!begin(argc, argv, &seed, &cases))
        return 77;
    check_refusals();
    check_most_dimensions();
    for (int i = 0; i < cases && failures < 20; i++) {
        state = seed + (uint64_t)i;
        check_case(next());
    }
    return end();
}
