/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts at their limits: the ends of int64 and uint64, counters that stick, more than 2^32 samples
 * of one value streamed and in one call, and 32-bit partials emptied before they can wrap.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "execute_help.h"
#include "input_help.h"
#include "plan/registry.h"

static tally_context *context;

enum { REPEATS = 301, MOST_BINS = 8 };

/* A sample and the slot it must fall into; -1 under, -2 over. */
typedef struct {
    uint64_t bits;
    int slot;
} expectation;

/* Each sample by itself, many times over, by every method of the processor and every kind of axis
 * that has these edges. */
static void check_slots(tally_dtype dtype, const tally_axis *axes, int count,
                        const expectation *want, int n)
{
    uint64_t x[REPEATS];
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < REPEATS; i++)
            x[i] = want[k].bits;
        for (int m = 0; ty_methods[m]; m++) {
            for (int a = 0; a < count; a++) {
                tally_plan_options o = help_options(dtype, axes[a]);
                tally_plan *plan = NULL;
                sheet s;
                tally_output output = help_sheet(&s, 0);
                tally_view v = tally_view_1d(x, dtype, REPEATS);
                o.method = ty_methods[m]->name;
                if (tally_plan_create(context, &o, &plan, NULL))
                    continue;
                CHECK(tally_execute(plan, &v, NULL, &output, NULL) == TALLY_OK);
                uint64_t got = want[k].slot == -1   ? s.flows[0].under
                               : want[k].slot == -2 ? s.flows[0].over
                                                    : s.counts.u64[want[k].slot];
                CHECK_SAY(got == REPEATS, "%s %s axis %d bits %#llx slot %d: %llu", o.method,
                          tally_dtype_name(dtype), a, (unsigned long long)want[k].bits,
                          want[k].slot, (unsigned long long)got);
                tally_plan_destroy(plan);
            }
        }
    }
}

#define I64(x) ((uint64_t)(int64_t)(x))

/* The whole span overflows int64; samples beside an edge round onto it in float64. */
static void test_i64(void)
{
    const int64_t quarter = INT64_C(1) << 62, exact = INT64_C(1) << 53;
    const double edges[5] = {-0x1p63, -0x1p62, 0, 0x1p62, 0x1p63};
    const tally_axis whole[2] = {tally_axis_even(4, -0x1p63, 0x1p63), tally_axis_edges(4, edges)};
    const expectation want[] = {{I64(INT64_MIN), 0},    {I64(INT64_MIN + 1), 0},
                                {I64(-quarter - 1), 0}, {I64(-quarter), 1},
                                {I64(-1), 1},           {0, 2},
                                {I64(quarter - 1), 2},  {I64(quarter), 3},
                                {I64(INT64_MAX), 3}};
    check_slots(TALLY_I64, whole, 2, want, sizeof want / sizeof *want);
    const double few[3] = {-0x1p53, 0, 0x1p53};
    tally_axis closed[4] = {tally_axis_even(2, -0x1p53, 0x1p53), tally_axis_edges(2, few)};
    const expectation ends[] = {{I64(-exact - 1), -1},
                                {I64(-exact), 0},
                                {I64(exact - 1), 1},
                                {I64(exact), 1},
                                {I64(exact + 1), -2}};
    check_slots(TALLY_I64, closed, 2, ends, sizeof ends / sizeof *ends);
    closed[0].last = closed[1].last = TALLY_LAST_OPEN;
    const expectation open[] = {{I64(exact - 1), 1}, {I64(exact), -2}};
    check_slots(TALLY_I64, closed, 2, open, sizeof open / sizeof *open);
}

static void test_u64(void)
{
    const uint64_t quarter = UINT64_C(1) << 62, half = UINT64_C(1) << 63;
    const double edges[5] = {0, 0x1p62, 0x1p63, 0x1.8p63, 0x1p64};
    const tally_axis whole[2] = {tally_axis_even(4, 0, 0x1p64), tally_axis_edges(4, edges)};
    const expectation want[] = {
        {0, 0},    {quarter - 1, 0},        {quarter, 1},        {half - 1, 1},
        {half, 2}, {half + quarter - 1, 2}, {half + quarter, 3}, {UINT64_MAX, 3}};
    check_slots(TALLY_U64, whole, 2, want, sizeof want / sizeof *want);
    const double few[3] = {0x1p62, 0x1.8p62, 0x1p63};
    const tally_axis half_way[2] = {tally_axis_even(2, 0x1p62, 0x1p63), tally_axis_edges(2, few)};
    const expectation ends[] = {{quarter - 1, -1}, {quarter, 0},   {half - 1, 1},
                                {half, 1},         {half + 1, -2}, {UINT64_MAX, -2}};
    check_slots(TALLY_U64, half_way, 2, ends, sizeof ends / sizeof *ends);
}

/* Narrower dtypes at both ends on an axis of their whole range. */
static void test_narrow_dtypes(void)
{
    const tally_axis i32 = tally_axis_even(2, -0x1p31, 0x1p31), u32 = tally_axis_even(2, 0, 0x1p32);
    const tally_axis i16 = tally_axis_even(2, -32768, 32768), u16 = tally_axis_even(2, 0, 65536);
    const tally_axis i8 = tally_axis_even(2, -128, 128), u8 = tally_axis_even(2, 0, 256);
    uint32_t x[4] = {0, UINT32_MAX, UINT32_C(1) << 31, (UINT32_C(1) << 31) - 1};
    const struct {
        tally_dtype dtype;
        const tally_axis *axis;
        unsigned bits;
    } kinds[] = {{TALLY_I32, &i32, 32}, {TALLY_U32, &u32, 32}, {TALLY_I16, &i16, 16},
                 {TALLY_U16, &u16, 16}, {TALLY_I8, &i8, 8},    {TALLY_U8, &u8, 8}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        tally_plan_options o = help_options(kinds[k].dtype, *kinds[k].axis);
        tally_plan *plan = help_plan(context, &o);
        unsigned char packed[16];
        for (int i = 0; i < 4; i++) { /* little endian, as the dtypes are */
            uint32_t v = x[i] >> (i > 1 ? 32 - kinds[k].bits : 0);
            memcpy(packed + i * (kinds[k].bits / 8), &v, kinds[k].bits / 8);
        }
        sheet s;
        tally_output output = help_sheet(&s, 0);
        tally_view v = tally_view_1d(packed, kinds[k].dtype, 4);
        CHECK(tally_execute(plan, &v, NULL, &output, NULL) == TALLY_OK);
        CHECK_SAY(s.counts.u64[0] == 2 && s.counts.u64[1] == 2, "%s: %llu %llu",
                  tally_dtype_name(kinds[k].dtype), (unsigned long long)s.counts.u64[0],
                  (unsigned long long)s.counts.u64[1]);
        tally_plan_destroy(plan);
    }
}

/* Counters stick at their limit: in one call, accumulating, and with clamped flows. */
static void check_sticking(tally_counter counter, uint64_t limit)
{
    static unsigned char x[70000];
    tally_axis axis = tally_axis_even(2, 1, 3);
    axis.under = TALLY_FLOW_CLAMP;
    tally_plan_options o = help_options(TALLY_U8, axis);
    o.counter = counter;
    tally_plan *plan = help_plan(context, &o);
    sheet s;
    tally_output output = help_sheet(&s, 0);
#define COUNT(i) (counter == TALLY_COUNTER_U8SAT ? s.counts.u8[i] : s.counts.u16[i])
    memset(x, 1, sizeof x);
    x[0] = 2;
    tally_view v = tally_view_1d(x, TALLY_U8, limit); /* one in bin 1, limit-1 in bin 0 */
    CHECK(tally_execute(plan, &v, NULL, &output, NULL) == TALLY_OK);
    CHECK(COUNT(0) == limit - 1 && COUNT(1) == 1);
    output.accumulate = 1;
    x[1] = 0; /* clamped into bin 0 */
    v.columns = 2;
    CHECK(tally_execute(plan, &v, NULL, &output, NULL) == TALLY_OK);
    CHECK(COUNT(0) == limit && COUNT(1) == 2);
    CHECK(tally_execute(plan, &v, NULL, &output, NULL) == TALLY_OK);
    CHECK(COUNT(0) == limit && COUNT(1) == 3);
    output.accumulate = 0;
    v.columns = limit + 2;
    CHECK(tally_execute(plan, &v, NULL, &output, NULL) == TALLY_OK);
    CHECK(COUNT(0) == limit && COUNT(1) == 1);
#undef COUNT
    tally_plan_destroy(plan);
}

/* Past 2^32 samples of one value in chunks of 64 MiB. */
static void test_streamed(void)
{
    const size_t bytes = (size_t)64 << 20;
    unsigned char *x = malloc(bytes);
    if (!x)
        abort();
    memset(x, 7, bytes);
    tally_plan_options o = help_options(TALLY_U8, tally_axis_integer(256, 0));
    tally_plan *plan = help_plan(context, &o);
    uint64_t counts[256] = {0};
    tally_flows flows = {0, 0, 0, 0};
    tally_output output = {sizeof output, counts, &flows, NULL, 1, 0, NULL};
    tally_view v = tally_view_1d(x, TALLY_U8, bytes);
    for (int i = 0; i < 70; i++)
        CHECK(tally_execute(plan, &v, NULL, &output, NULL) == TALLY_OK);
    CHECK(counts[7] == (uint64_t)bytes * 70 && counts[7] > UINT32_MAX);
    CHECK(counts[6] == 0 && counts[8] == 0 && !flows.over);
    tally_plan_destroy(plan);
    free(x);
}

/* `rows` × 2^20 samples in one call on one thread: rows that overlap all but one byte. */
static void one_call(const char *method, tally_dtype dtype, uint64_t bins, uint64_t rows)
{
    const uint64_t columns = UINT64_C(1) << 20, size = tally_dtype_bytes(dtype);
    unsigned char *x = calloc((columns + rows) * size, 1);
    uint64_t *counts = calloc(bins, sizeof *counts);
    if (!x || !counts)
        abort();
    tally_context *one = help_context(1);
    tally_plan_options o = help_options(dtype, tally_axis_even(bins, 0, (double)bins));
    o.method = method;
    tally_plan *plan = help_plan(one, &o);
    tally_output output = {sizeof output, counts, NULL, NULL, 0, 0, NULL};
    tally_view v = tally_view_1d(x, dtype, columns);
    v.rows = rows;
    v.row_stride_bytes = (int64_t)size;
    tally_error error = {""};
    CHECK_SAY(tally_execute(plan, &v, NULL, &output, &error) == TALLY_OK, "%s", error.message);
    CHECK_SAY(counts[0] == rows * columns && counts[0] > UINT32_MAX, "%s: %llu of %llu", method,
              (unsigned long long)counts[0], (unsigned long long)(rows * columns));
    tally_plan_destroy(plan);
    tally_context_destroy(one);
    free(x);
    free(counts);
}

/* Methods whose states take few elements between flushes: nothing is lost, nothing doubled. */
static void check_flushes(tally_dtype dtype, uint64_t most)
{
    enum { N = 300000 };
    static uint32_t x[N];
    help_fill(x, sizeof x);
    for (int m = 0; ty_methods[m]; m++) {
        tally_plan_options o = help_options(dtype, tally_axis_even(50, 0, 200));
        tally_plan *plan = NULL;
        o.method = ty_methods[m]->name;
        if (tally_plan_create(context, &o, &plan, NULL))
            continue;
        ty_cpu_plan *state = plan->state;
        ty_cpu_method method = *state->method;
        if (!method.whole) {
            sheet got, want;
            tally_output a = help_sheet(&got, 0), b = help_sheet(&want, 0);
            tally_view v = tally_view_1d(x, dtype, N / 2);
            v.batches = 2;
            method.most = most;
            state->method = &method;
            CHECK(tally_execute(plan, &v, NULL, &a, NULL) == TALLY_OK);
            CHECK(tally_execute_reference(plan, &v, NULL, &b, NULL) == TALLY_OK);
            CHECK_SAY(!memcmp(&got, &want, sizeof got), "%s, most %llu", o.method,
                      (unsigned long long)most);
        }
        tally_plan_destroy(plan);
    }
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    context = help_context(3);
    test_i64();
    test_u64();
    test_narrow_dtypes();
    check_sticking(TALLY_COUNTER_U16SAT, UINT16_MAX);
    check_sticking(TALLY_COUNTER_U8SAT, UINT8_MAX);
    const uint64_t most[] = {1, 2, 7, 1000, 1024, 4097, 149999, 150000};
    for (size_t i = help_is_slow() ? 3 : 0; i < sizeof most / sizeof *most; i++) {
        check_flushes(TALLY_U8, most[i]);
        check_flushes(TALLY_F32, most[i]);
    }
    if (help_is_slow()) {
        printf("a sanitizer or valgrind: no calls past 2^32 samples\n");
    } else {
        test_streamed();
        /* Bytes, and the 32-bit tables that the other methods have in common. */
        one_call("auto", TALLY_U8, 256, 4097);
        one_call("cpu-overlap", TALLY_F32, 100000, 4097);
    }
    tally_context_destroy(context);
    return help_end();
}
