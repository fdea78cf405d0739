/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory kept between calls: methods with tables of every size, cancelled calls and weighted ones
 * take turns on one context, and each must count as if it were the first, into an output full of
 * something else; and what is left behind is what it is said to be. The argument is a seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer_cache.h"
#include "execute_help.h"
#include "input_help.h"
#include "plan/plan.h"

enum { SAMPLES = 1 << 19, MOST_BINS = 300000, CALLS = 30 };

static unsigned char *data;
static uint64_t *want, *counts;
static double *weights;

static int stop(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    (void)done;
    (void)total;
    return 1;
}

static void one_call(tally_context *context)
{
    static const tally_dtype dtypes[] = {TALLY_U8, TALLY_U16, TALLY_F32, TALLY_F64};
    static const uint64_t bins[] = {10, 5000, 70000, MOST_BINS};
    const tally_dtype dtype = dtypes[help_below(4)];
    const double hi = dtype < TALLY_F16 ? 40000 : 0.9;
    tally_plan_options o = help_options(dtype, tally_axis_even(bins[help_below(4)], 0, hi));
    if (!help_below(4))
        o.weight_dtype = TALLY_F64;
    const int cancelled = !help_below(4);
    tally_plan *plan = help_plan(context, &o);
    const uint64_t n = 1 + help_below(help_below(2) ? SAMPLES : 2000),
                   cells = tally_plan_bins(plan);
    tally_view view = tally_view_1d(data, dtype, n), w = tally_view_1d(weights, TALLY_F64, n);
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_flows flows, want_flows;
    how.weights = o.weight_dtype ? &w : NULL;
    tally_output output = {sizeof output, want, &want_flows, NULL, 0, 0, NULL};
    CHECK(!tally_execute_reference(plan, &view, &how, &output, NULL));
    memset(counts, 0xa5, cells * sizeof *counts);
    output.counts = counts;
    output.flows = &flows;
    how.progress = cancelled ? stop : NULL;
    tally_status status = tally_execute(plan, &view, &how, &output, NULL);
    if (cancelled) {
        CHECK(status == TALLY_ERROR_CANCELLED && counts[0] == UINT64_C(0xa5a5a5a5a5a5a5a5));
        how.progress = NULL;
        status = tally_execute(plan, &view, &how, &output, NULL);
    }
    CHECK(!status && !memcmp(&flows, &want_flows, sizeof flows));
    CHECK(!memcmp(counts, want, cells * sizeof *counts));
    tally_plan_destroy(plan);
}

static void buffers_are_kept(void)
{
    ty_buffer_cache cache = {NULL};
    ty_buffer *first = ty_buffer_take(&cache, TY_BUFFER_KEPT_LEAST), *second;
    CHECK(first && first->bytes >= TY_BUFFER_KEPT_LEAST && !first->clean);
    memset(first->data, 0, first->bytes);
    first->clean = 1000;
    second = ty_buffer_take(&cache, TY_BUFFER_KEPT_LEAST); /* while the first is in use */
    CHECK(second && second != first);
    ty_buffer_return(&cache, second);
    ty_buffer_return(&cache, first);
    CHECK(ty_buffer_take(&cache, TY_BUFFER_KEPT_LEAST) == first && first->clean == 1000);
    ty_buffer_return(&cache, first);
    ty_buffer *larger = ty_buffer_take(&cache, (size_t)8 << 20);
    CHECK(larger && larger->bytes >= (size_t)8 << 20 && !larger->clean);
    ty_buffer_return(&cache, larger);
    ty_buffer *small = ty_buffer_take(&cache, 100);
    CHECK(small && small->bytes >= 100 && small != larger);
    ty_buffer_return(&cache, small);
    CHECK(!ty_buffer_take(&cache, SIZE_MAX - 64));
    ty_buffer_return(&cache, NULL);
    ty_buffer_cache_clear(&cache);
}

/* What a buffer says to be zeros is: after calls into one full of something else, some of whose
 * threads find nothing to do because the first part's end cancels the call. Returns how many there
 * were. */
static unsigned clean_is_clean(tally_context *context)
{
    enum { BINS = 20000 };
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(BINS, 0, 0.9));
    tally_plan *plan = help_plan(context, &o);
    tally_view view = tally_view_1d(data, TALLY_F32, 2 * SAMPLES);
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_flows flows;
    tally_output output = {sizeof output, counts, &flows, NULL, 0, 0, NULL};
    unsigned idle = 0;
    for (int i = 0; i < CALLS; i++) {
        ty_buffer *buffer = ty_buffer_take(&context->tables, (size_t)1 << 20);
        CHECK(buffer != NULL);
        memset(buffer->data, 0xa5, buffer->bytes);
        buffer->clean = 0;
        ty_buffer_return(&context->tables, buffer);
        how.progress = i % 4 ? stop : NULL;
        tally_status status = tally_execute(plan, &view, &how, &output, NULL);
        CHECK(status == (how.progress ? TALLY_ERROR_CANCELLED : TALLY_OK));
        buffer = ty_buffer_take(&context->tables, (size_t)1 << 20);
        size_t zeros = 0;
        while (zeros < buffer->clean && !((unsigned char *)buffer->data)[zeros])
            zeros++;
        CHECK(zeros == buffer->clean);
        idle += buffer->clean < (size_t)3 * BINS * sizeof(uint32_t);
        ty_buffer_return(&context->tables, buffer);
    }
    tally_plan_destroy(plan);
    return idle;
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    data = malloc((size_t)SAMPLES * 8);
    weights = malloc(SAMPLES * sizeof *weights);
    want = malloc(MOST_BINS * sizeof *want);
    counts = malloc(MOST_BINS * sizeof *counts);
    if (!data || !weights || !want || !counts)
        return 1;
    for (size_t i = 0; i < SAMPLES; i++) {
        /* In (0, 1) as either floating-point type. */
        const uint32_t low = (uint32_t)help_below(UINT32_C(1) << 30),
                       high = 0x3f000000 + low % 0xf00000;
        memcpy(data + 8 * i, &low, sizeof low);
        memcpy(data + 8 * i + 4, &high, sizeof high);
        weights[i] = (double)help_below(1000);
    }
    buffers_are_kept();
    for (uint32_t threads = 1; threads <= 3; threads++) {
        tally_context *context = help_context(threads);
        for (int i = 0; i < (help_is_slow() ? CALLS / 4 : CALLS); i++)
            one_call(context);
        tally_context_destroy(context);
    }
    tally_context *context = help_context(3);
    printf("%u calls with a thread that found nothing to do\n", clean_is_clean(context));
    tally_context_destroy(context);
    free(data);
    free(weights);
    free(want);
    free(counts);
    return help_end();
}
