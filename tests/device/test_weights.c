/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of weights that are not small whole numbers: within what fixed point promises of the exact
 * sum (docs/METHODS.md), the same bits whatever the order and whenever, infinities and NaN, and one
 * large weight that the probe does not see.
 *
 *     test_weights [opencl|cuda]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>

#include "check.h"
#include "draw.h"
#include "drivers.h"
#include "open_device.h"

enum { most = (1 << 20) + 12345, bins = 16 };

static tally_context *context;
static unsigned char samples[most];
static union {
    float f32[most];
    double f64[most];
    int64_t i64[most];
} weights;

/* ---- running ---- */

typedef struct sums {
    union {
        double f64[bins];
        int64_t i64[bins];
        tally_wide wide[bins];
    } sum;
    union {
        double squares[bins];
        uint64_t square_bits[bins];
    };
    int64_t flow_sums[8]; /* of weights below, above … the bins, in the sums' type */
    tally_status status;
    tally_error error;
} sums;

static tally_plan *make_plan(tally_dtype dtype, int squares)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_plan *plan = NULL;
    tally_error error = {""};
    o.axes[0] = tally_axis_even(bins, 0, bins);
    o.axes[0].last = TALLY_LAST_OPEN;
    o.dtypes[0] = TALLY_U8;
    o.weight_dtype = dtype;
    o.sum_squares = squares;
    o.method = "weighted";
    tally_status status = tally_plan_create(context, &o, &plan, &error);
    CHECK_SAY(!status, "%s: %s", tally_dtype_name(dtype), error.message);
    return status ? NULL : plan;
}

/* On the device: the samples are copied there, for those of the host go over in pieces. */
static sums run(const tally_plan *plan, tally_dtype dtype, int squares, uint64_t n)
{
    sums s;
    void *there[2] = {NULL, NULL};
    tally_device_info info = {.struct_size = sizeof info};
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    memset(&s, 0, sizeof s);
    tally_view view = tally_view_1d(samples, TALLY_U8, n), w = tally_view_1d(&weights, dtype, n);
    uint64_t bytes = n * tally_dtype_bytes(dtype);
    if (tally_context_device(context, &info, &s.error) ||
        tally_memory_create(context, n, &there[0], &s.error) ||
        tally_memory_create(context, bytes, &there[1], &s.error) ||
        tally_memory_write(context, there[0], 0, samples, n, &s.error) ||
        tally_memory_write(context, there[1], 0, &weights, bytes, &s.error)) {
        CHECK_SAY(0, "memory: %s", s.error.message);
        return s;
    }
    view.data = there[0];
    w.data = there[1];
    view.device = w.device = info.device;
    e.weights = &w;
    out.counts = &s.sum;
    out.sum_squares = squares ? s.squares : NULL;
    out.flow_sums = s.flow_sums;
    s.status = tally_execute(plan, &view, &e, &out, &s.error);
    tally_memory_destroy(context, there[0]);
    tally_memory_destroy(context, there[1]);
    return s;
}

/* ---- what is expected ---- */

/* Each term is off by half the last bit at most: 2^(top + log2 n - kept), where all weights are
 * below 2^top, and the sum is rounded once. */
static void within(const sums *got, const long double *exact, int top, int kept, uint64_t n,
                   const double *sum, const char *what)
{
    char why[128];
    long double last = ldexpl((long double)n, top + (int)ceil(log2((double)n)) - kept);
    int ok = !got->status;
    for (int b = 0; b < bins && ok; b++) {
        long double off = fabsl((long double)sum[b] - exact[b]);
        ok = off <= last + fabsl(exact[b]) * 0x1p-53L;
        snprintf(why, sizeof why, "bin %d: %.20g, exactly %.20Lg", b, sum[b], exact[b]);
    }
    CHECK_SAY(ok, "%s: %s", what, got->status ? got->error.message : why);
}

static void shuffle(uint64_t n, size_t size)
{
    unsigned char *w = (unsigned char *)&weights;
    for (uint64_t i = n - 1; i > 0; i--) {
        uint64_t j = next() % (i + 1), kept;
        unsigned char s = samples[i];
        samples[i] = samples[j];
        samples[j] = s;
        memcpy(&kept, w + i * size, size);
        memcpy(w + i * size, w + j * size, size);
        memcpy(w + j * size, &kept, size);
    }
}

/* Weights over `binades` powers of two below 2^top. */
static void fill(tally_dtype dtype, uint64_t n, int top, int binades)
{
    for (uint64_t i = 0; i < n; i++) {
        double u = 1 - (double)(next() >> 12) * 0x1p-53;
        double w = ldexp(next() & 1 ? u : -u, top - (int)(next() % (unsigned)binades));
        samples[i] = (unsigned char)(next() % (bins + 2));
        if (dtype == TALLY_F32)
            weights.f32[i] = (float)(fabs(w) < ldexp(1, top) * 0.999 ? w : w * 0.9);
        else
            weights.f64[i] = w;
    }
}

static double weight(tally_dtype dtype, uint64_t i)
{
    return dtype == TALLY_F32 ? (double)weights.f32[i] : weights.f64[i];
}

static int same_bits(const sums *a, const sums *b)
{
    return a->status == b->status && !memcmp(a->sum.i64, b->sum.i64, sizeof a->sum.i64) &&
           !memcmp(a->square_bits, b->square_bits, sizeof a->square_bits);
}

static void test_floats(tally_dtype dtype)
{
    static const struct {
        uint64_t n;
        int top, binades;
    } cases[] = {{1, 5, 1}, {1000, 3, 40}, {70000, -130, 15}, {70000, 120, 60}, {most, 0, 20}};
    tally_plan *plan = make_plan(dtype, 1);
    for (size_t c = 0; plan && c < sizeof cases / sizeof *cases; c++) {
        const uint64_t n = cases[c].n;
        const int top = cases[c].top, kept = dtype == TALLY_F32 ? 62 : 94;
        long double exact[bins] = {0}, squares[bins] = {0};
        char what[80];
        fill(dtype, n, top, cases[c].binades);
        for (uint64_t i = 0; i < n; i++) {
            double w = weight(dtype, i);
            if (samples[i] < bins) {
                exact[samples[i]] += (long double)w;
                squares[samples[i]] += (long double)(w * w);
            }
        }
        sums one = run(plan, dtype, 1, n), two = run(plan, dtype, 1, n);
        snprintf(what, sizeof what, "%s, %llu weights below 2^%d", tally_dtype_name(dtype),
                 (unsigned long long)n, top);
        /* Long double adds up with 64 bits: that much is not the device's error. */
        int slack = n > 1 << 20 ? 3 : 0;
        within(&one, exact, top + slack, kept < 60 + slack ? kept : 60, n, one.sum.f64, what);
        within(&one, squares, 2 * (top + slack), 60, n, one.squares, what);
        CHECK_SAY(same_bits(&one, &two), "%s: %s", what, "other bits in another run");
        if (n <= 1 << 20) {
            shuffle(n, tally_dtype_bytes(dtype));
            two = run(plan, dtype, 1, n);
            CHECK_SAY(same_bits(&one, &two), "%s: %s", what, "other bits in another order");
        }
    }
    tally_plan_destroy(plan);
}

/* All weights 1 but one, which no line of the probe holds. */
static void test_unseen(tally_dtype dtype)
{
    tally_plan *plan = make_plan(dtype, 0);
    memset(samples, 3, sizeof samples);
    for (uint64_t at = 700; plan && at < most; at = at * 3 + 1000) {
        for (uint64_t i = 0; i < most; i++) {
            if (dtype == TALLY_F32)
                weights.f32[i] = i == at ? 0x1p30f : 1;
            else
                weights.f64[i] = i == at ? 0x1p60 : 1;
        }
        sums s = run(plan, dtype, 0, most);
        double want = dtype == TALLY_F32 ? 0x1p30 + most - 1 : 0x1p60 + most - 1;
        CHECK_SAY(!s.status && s.sum.f64[3] == want && s.sum.f64[2] == 0, "one large weight: %s",
                  s.error.message);
    }
    tally_plan_destroy(plan);
}

static void test_special(tally_dtype dtype)
{
    static const double special[] = {INFINITY, -INFINITY, NAN, INFINITY, -INFINITY, -0.0};
    tally_plan *plan = make_plan(dtype, 1);
    memset(samples, 0, sizeof samples);
    for (int i = 0; i < 12; i++) {
        double w = i < 6 ? special[i] : 2.5;
        samples[i] = (unsigned char)(i < 3 ? i : i < 5 ? 3 : i == 5 ? 4 : i - 6);
        if (dtype == TALLY_F32)
            weights.f32[i] = (float)w;
        else
            weights.f64[i] = w;
    }
    sums s = plan ? run(plan, dtype, 1, 12) : (sums){.status = TALLY_ERROR_INTERNAL};
    CHECK_SAY(!s.status && s.sum.f64[0] == INFINITY && s.sum.f64[1] == -INFINITY &&
                  isnan(s.sum.f64[2]) && isnan(s.sum.f64[3]) && s.sum.f64[4] == 2.5,
              "infinite and NaN weights: %s", s.error.message);
    CHECK_SAY(s.squares[0] == INFINITY && s.squares[1] == INFINITY && isnan(s.squares[2]) &&
                  s.squares[3] == INFINITY && s.squares[4] == 6.25,
              "their squares: %s", s.error.message);
    tally_plan_destroy(plan);
}

static void test_whole(void)
{
    tally_plan *plan = make_plan(TALLY_I64, 0);
    memset(samples, 1, sizeof samples);
    weights.i64[0] = INT64_MAX;
    weights.i64[1] = INT64_MAX;
    weights.i64[2] = INT64_MIN;
    weights.i64[3] = -5;
    if (!plan)
        return;
    sums s = run(plan, TALLY_I64, 0, 4);
    CHECK_SAY(!s.status && s.sum.i64[1] == INT64_MAX - 6, "a sum that comes back into int64: %s",
              s.error.message);
    s = run(plan, TALLY_I64, 0, 2);
    CHECK_SAY(s.status == TALLY_ERROR_DATA && strstr(s.error.message, "int64"),
              "a sum that passes int64: %s", s.error.message);
    memset(samples, bins, sizeof samples); /* outside */
    s = run(plan, TALLY_I64, 0, 4);
    CHECK_SAY(!s.status && s.flow_sums[1] == INT64_MAX - 6 && !s.flow_sums[0], "a flow's sum: %s",
              s.error.message);
    s = run(plan, TALLY_I64, 0, 2);
    CHECK_SAY(s.status == TALLY_ERROR_DATA && strstr(s.error.message, "int64"),
              "a flow's sum that passes int64: %s", s.error.message);
    tally_plan_destroy(plan);
    memset(samples, 1, sizeof samples);
    plan = make_plan(TALLY_I64, 1);
    weights.i64[0] = 3;
    s = run(plan, TALLY_I64, 1, 1);
    CHECK_SAY(!s.status && s.squares[1] == 9, "a small square among 64-bit weights: %s",
              s.error.message);
    tally_plan_destroy(plan);
}

/* With a limit, the sums of the host, to the bit; a weight beyond it is told, wherever it is. */
static void test_limited(tally_dtype dtype)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_plan *plan = NULL, *reference = NULL;
    tally_context *host = NULL;
    tally_error error = {""};
    sums want;
    memset(&want, 0, sizeof want);
    o.axes[0] = tally_axis_even(bins, 1, bins + 1);
    o.dtypes[0] = TALLY_U8;
    o.weight_dtype = dtype;
    o.weight_limit = 3000;
    for (int i = 0; i < most; i++) {
        const double w = ldexp(unit() * 2 - 1, 12 - (int)(next() % 60));
        samples[i] = (unsigned char)(next() % (bins + 3));
        if (dtype == TALLY_F32)
            weights.f32[i] = (float)w;
        else
            weights.f64[i] = w;
    }
    const tally_view view = tally_view_1d(samples, TALLY_U8, most),
                     w = tally_view_1d(&weights, dtype, most);
    e.weights = &w;
    out.counts = &want.sum;
    out.flow_sums = want.flow_sums;
    CHECK_SAY(!tally_plan_create(context, &o, &plan, &error), "%s", error.message);
    CHECK_SAY(!tally_context_create(&(tally_context_options){sizeof(tally_context_options),
                                                             TALLY_DEVICE_CPU, 0, 1, NULL, NULL},
                                    &host, &error) &&
                  !tally_plan_create(host, &o, &reference, &error) &&
                  !tally_execute(reference, &view, &e, &out, &error),
              "%s", error.message);
    sums s = run(plan, dtype, 0, most);
    CHECK_SAY(!s.status && !memcmp(&s.sum, &want.sum, sizeof s.sum) &&
                  !memcmp(s.flow_sums, want.flow_sums, sizeof s.flow_sums),
              "%s with a limit: %s", tally_dtype_name(dtype), s.error.message);
    samples[most - 7] = 0; /* outside */
    if (dtype == TALLY_F32)
        weights.f32[most - 7] = 4096;
    else
        weights.f64[most - 7] = NAN;
    s = run(plan, dtype, 0, most);
    CHECK_SAY(s.status == TALLY_ERROR_DATA && strstr(s.error.message, "weight_limit"),
              "beyond the limit: %s", s.error.message);
    tally_plan_destroy(plan);
    tally_plan_destroy(reference);
    tally_context_destroy(host);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "opencl";
    if (!(context = open_device(name)))
        return 77;
    test_floats(TALLY_F32);
    test_floats(TALLY_F64);
    test_unseen(TALLY_F32);
    test_unseen(TALLY_F64);
    test_special(TALLY_F32);
    test_special(TALLY_F64);
    test_whole();
    test_limited(TALLY_F32);
    test_limited(TALLY_F64);
    tally_context_destroy(context);
    printf("%s: %d checks, %d failed\n", name, checks, failures);
    return failures != 0;
}
