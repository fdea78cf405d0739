/* SPDX-License-Identifier: Apache-2.0 */
/* The bin rules and their quantiles against sorting and plain loops. `test_rules [SEED]` */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/order.h"
#include "core/select.h"
#include "check.h"
#include "draw.h"

static double normal(void)
{
    double s = -6;
    for (int i = 0; i < 12; i++)
        s += unit();
    return s;
}

/* ---- chunks over an array ---- */

typedef struct source {
    const unsigned char *data;
    tally_dtype dtype;
    size_t count, at, step;
    int ended, reads, rewinds;
    int fail_read, fail_rewind; /* returned by the call of that kind, if not 0 */
    int silent;                 /* fails without a message */
    int liar;                   /* other samples after a rewind */
    int apart;                  /* a sample's size lies between two */
} source;

static int fail(const source *s, int value, tally_error *error)
{
    if (!s->silent)
        strcpy(error->message, "the disk is on fire");
    return value;
}

static int next_chunk(void *user, tally_view *view, tally_error *error)
{
    static const double other[] = {-1e300, 1e300};
    source *s = user;
    s->reads++;
    if (s->fail_read && s->at)
        return fail(s, s->fail_read, error);
    if (s->liar && s->rewinds && s->at < s->count) {
        *view = tally_view_1d(other, TALLY_F64, 2);
        s->at = s->count;
        return 1;
    }
    if (s->at == s->count && s->ended)
        return 0;
    size_t n = s->count - s->at < s->step ? s->count - s->at : s->step;
    if (!below(4))
        n = 0; /* an empty chunk is no end */
    size_t size = tally_dtype_bytes(s->dtype);
    const size_t stride = s->apart ? 2 * size : size;
    *view = tally_view_1d(n ? s->data + s->at * stride : NULL, s->dtype, n);
    view->column_stride_bytes = (int64_t)stride;
    s->at += n;
    s->ended = s->at == s->count;
    return 1;
}

static int again(void *user, tally_error *error)
{
    source *s = user;
    if (s->fail_rewind)
        return fail(s, s->fail_rewind, error);
    s->at = 0;
    s->ended = 0;
    s->rewinds++;
    return 0;
}

typedef struct answer {
    tally_status status;
    uint64_t bins;
    double lo, hi;
    tally_error error;
} answer;

static tally_context *context; /* of several threads, or NULL */

static answer ask(source *s, tally_rule rule, const double *range, int skip)
{
    answer a = {.error = {""}};
    tally_chunks chunks = {next_chunk, again, s};
    tally_axis axis = tally_axis_even(77, 7, 8);
    const tally_rule_options options = {sizeof options, rule, range, skip};
    a.status = tally_rule_bins(context, chunks, s->dtype, &options, &axis, &a.error);
    if (a.status)
        CHECK_SAY(axis.bins == 77 && axis.lo == 7 && axis.hi == 8 && a.error.message[0],
                  "a failure wrote");
    CHECK_SAY(axis.struct_size == sizeof axis && axis.kind == TALLY_AXIS_EVEN, "the axis");
    a.bins = axis.bins;
    a.lo = axis.lo;
    a.hi = axis.hi;
    return a;
}

/* ---- order statistics ---- */

static int64_t load_integer(tally_dtype dtype, const unsigned char *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, tally_dtype_bytes(dtype));
    return dtype == TALLY_I8    ? (int8_t)bits
           : dtype == TALLY_I16 ? (int16_t)bits
           : dtype == TALLY_I32 ? (int32_t)bits
                                : (int64_t)bits;
}

static tally_dtype sorting;

static double load_float(const unsigned char *at)
{
    double x;
    float y;
    uint16_t h;
    memcpy(&h, at, sizeof h);
    if (sorting == TALLY_F16)
        return (double)ty_f16_decode(h);
    if (sorting == TALLY_BF16)
        return (double)ty_bf16_decode(h);
    if (sorting == TALLY_F32) {
        memcpy(&y, at, sizeof y);
        return (double)y;
    }
    memcpy(&x, at, sizeof x);
    return x;
}

static int compare(const void *a, const void *b)
{
    if (ty_dtype_is_float(sorting)) {
        double x = load_float(a), y = load_float(b);
        return (x > y) - (x < y);
    }
    int64_t x = load_integer(sorting, a), y = load_integer(sorting, b);
    if (sorting == TALLY_U64)
        return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
    return (x > y) - (x < y);
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void test_select(void)
{
    for (int round = 0; round < 300; round++) {
        tally_dtype dtype = sorting = (tally_dtype)(1 + below(12));
        size_t size = tally_dtype_bytes(dtype);
        const size_t n = 1 + below(round % 10 == 9 ? 30000 : below(2) ? 6 : 3000);
        unsigned char *x = malloc(n * size + 1), *sorted = malloc(n * size);
        uint64_t keep = below(3) ? ~UINT64_C(0) : next() & next();
        for (size_t i = 0; i < n; i++) {
            uint64_t bits = next() & keep;
            memcpy(x + 1 + i * size, &bits, size);
            memcpy(sorted, x + 1 + i * size, size);
            i -= ty_dtype_is_float(dtype) && isnan(load_float(sorted));
        }
        memcpy(sorted, x + 1, n * size);
        qsort(sorted, n, size, compare);
        ty_select s;
        const uint64_t memory = below(2) ? 1 << 20 : below(20000);
        const unsigned workers = 1 + below(3);
        CHECK_SAY(!ty_select_start(&s, dtype, workers, memory, NULL), "start");
        uint64_t ranks[4] = {below(n), below(n), below(n), below(n)};
        qsort(ranks, 4, sizeof *ranks, ascending);
        int more = 1, passes = 0;
        for (; more && !failures; passes++) {
            for (size_t at = 0, part; at < n; at += part) {
                part = 1 + below(TY_ORDER_BLOCK);
                part = part < n - at ? part : n - at;
                ty_select_add(&s, below(workers), x + 1 + at * size, NULL, part);
            }
            CHECK_SAY(!ty_select_end(&s, NULL), "end");
            if (!passes)
                CHECK_SAY(s.count == n && !ty_select_want(&s, ranks, 4, NULL), "want");
            CHECK_SAY(!ty_select_next(&s, &more, NULL), "next");
        }
        CHECK_SAY(n <= memory / (size == 8 ? 8 : 4) ? passes == 1 : passes <= (int)size * 4,
                  "%d passes", passes);
        for (unsigned i = 0; i < 4; i++) {
            const unsigned char *want = sorted + ranks[i] * size;
            double value = ty_order_value(dtype, s.key[i]), expected;
            if (ty_dtype_is_float(dtype))
                expected = load_float(want);
            else if (dtype == TALLY_U64)
                expected = (double)(uint64_t)load_integer(dtype, want);
            else
                expected = (double)load_integer(dtype, want);
            CHECK_SAY(value == expected, "%s: rank %" PRIu64 " of %zu is %.17g, found %.17g",
                      tally_dtype_name(dtype), ranks[i], n, expected, value);
            if (!ty_dtype_is_float(dtype) && i)
                CHECK_SAY((uint64_t)s.key[i] - (uint64_t)s.key[i - 1] ==
                              (uint64_t)load_integer(dtype, want) -
                                  (uint64_t)load_integer(dtype, sorted + ranks[i - 1] * size),
                          "keys' difference");
        }
        ty_select_clear(&s);
        free(x);
        free(sorted);
    }
}

/* ---- the rules, spelled out for sorted float64 values ---- */

static double percentile(const double *x, size_t n, double q)
{
    double at = (double)(n - 1) * q, t = at - floor(at);
    size_t i = (size_t)at, j = i + 1 < n ? i + 1 : n - 1;
    return t < 0.5 ? x[i] + (x[j] - x[i]) * t : x[j] - (x[j] - x[i]) * (1 - t);
}

static double stone_width(const double *x, size_t n, double lo, double hi)
{
    double best = INFINITY, span = x[n - 1] - x[0];
    int most = (int)fmax(100, floor(sqrt((double)n))), bins = 1;
    for (int k = 1; k <= most; k++) {
        double squares = 0;
        size_t at = 0;
        for (int i = 0; i < k; i++) {
            double end = i + 1 == k ? INFINITY : lo + (i + 1) * ((hi - lo) / k);
            size_t count = 0;
            for (; at < n && x[at] < end; at++)
                count++;
            squares += (double)count * (double)count;
        }
        double risk = (2 * (double)n * (double)n - ((double)n + 1) * squares) * k;
        if (risk < best) {
            best = risk;
            bins = k;
        }
    }
    return span / bins;
}

static double plain_width(const double *x, size_t count, tally_rule rule, double lo, double hi)
{
    double n = (double)count, span = x[count - 1] - x[0];
    double sturges = span / (log2(n) + 1), square = span / sqrt(n), mean = 0, m2 = 0, m3 = 0;
    double fd = 2 * (percentile(x, count, 0.75) - percentile(x, count, 0.25)) * pow(n, -1.0 / 3.0);
    for (size_t i = 0; i < count; i++)
        mean += x[i] / n;
    for (size_t i = 0; i < count; i++) {
        m2 += (x[i] - mean) * (x[i] - mean) / n;
        m3 += (x[i] - mean) * (x[i] - mean) * (x[i] - mean) / n;
    }
    double sg1 = sqrt(6 * (n - 2) / ((n + 1) * (n + 3)));
    switch (rule) {
    case TALLY_RULE_AUTO:
        return fmin(fmax(fd, square / 2), sturges);
    case TALLY_RULE_FD:
        return fd;
    case TALLY_RULE_DOANE:
        if (count < 3)
            return 0;
        return span / (1 + log2(n) + log2(1 + fabs(m3) / (m2 * sqrt(m2)) / sg1));
    case TALLY_RULE_SCOTT:
        return pow(24 * sqrt(acos(-1)) / n, 1.0 / 3.0) * sqrt(m2);
    case TALLY_RULE_STONE:
        return stone_width(x, count, lo, hi);
    case TALLY_RULE_RICE:
        return span / (2 * pow(n, 1.0 / 3.0));
    case TALLY_RULE_STURGES:
        return sturges;
    default:
        return square;
    }
}

static void test_rule(void)
{
    static const tally_dtype dtypes[] = {TALLY_F64, TALLY_F64, TALLY_I32, TALLY_I16,
                                         TALLY_U8,  TALLY_I64, TALLY_U64, TALLY_U32};
    tally_dtype dtype = dtypes[below(8)];
    size_t n = below(3) ? 1 + below(600) : 1 + below(5), size = tally_dtype_bytes(dtype),
           inside = 0;
    unsigned char *data = malloc(n * size);
    double *x = malloc(n * sizeof *x), range[2];
    uint64_t kind = below(5);
    double scale = dtype == TALLY_U8 ? 20 : kind & 1 ? 3 : 1000, shift = kind * 10.0;
    for (size_t i = 0; i < n; i++) {
        double v = kind == 4 ? (double)below(3) : kind == 3 ? unit() * unit() : normal();
        v = v * scale + shift;
        if (dtype != TALLY_F64) {
            int64_t whole = (int64_t)fabs(v);
            if (dtype == TALLY_U8)
                whole &= 255;
            memcpy(data + i * size, &whole, size);
            v = (double)whole;
        } else {
            memcpy(data + i * size, &v, size);
        }
        x[i] = v;
    }
    int ranged = !below(3);
    sorting = TALLY_F64;
    qsort(x, n, sizeof *x, compare);
    range[0] = x[below(n)] - (double)below(2) * 0.25;
    range[1] = range[0] + (double)below(40) * 0.5;
    tally_rule rule = (tally_rule)below(8);
    source s = {.data = data, .dtype = dtype, .count = n, .step = 1 + below(below(2) ? 9 : 500)};
    answer a = ask(&s, rule, ranged ? range : NULL, (int)below(2));
    double lo = x[0], hi = x[n - 1];
    if (ranged)
        lo = range[0], hi = range[1];
    if (lo == hi)
        lo -= 0.5, hi += 0.5;
    for (size_t i = 0; i < n; i++) {
        if (!ranged || (x[i] >= lo && x[i] <= hi))
            x[inside++] = x[i];
    }
    double ratio = 0, span = ranged ? hi - lo : x[n - 1] - x[0];
    if (inside && x[inside - 1] > x[0]) {
        double width = plain_width(x, inside, rule, lo, hi);
        if (dtype != TALLY_F64 && width > 0 && width < 1)
            width = 1;
        ratio = width > 0 ? span / width : 0;
    }
    double bins = fmax(1, ceil(ratio));
    /* The plain moments' own rounding may push a ratio over an integer. */
    int loose = rule == TALLY_RULE_SCOTT || rule == TALLY_RULE_DOANE;
    int close = loose && fabs(ratio - rint(ratio)) < 1e-9 * ratio;
    CHECK_SAY(!a.status, "%s", a.error.message);
    CHECK_SAY((double)a.bins == bins || close,
              "rule %d %s n=%zu: %" PRIu64 " bins, expected %g (%.17g)", rule,
              tally_dtype_name(dtype), n, a.bins, bins, ratio);
    CHECK_SAY(a.lo == lo && a.hi == hi, "rule %d %s n=%zu: %g … %g, expected %g … %g", rule,
              tally_dtype_name(dtype), n, a.lo, a.hi, lo, hi);
    CHECK_SAY(s.rewinds < 4 && (rule <= TALLY_RULE_FD || rule == TALLY_RULE_STONE || !s.rewinds),
              "rule %d rewound %d times", rule, s.rewinds);
    free(data);
    free(x);
}

/* ---- fixed cases ---- */

static source over(const void *data, tally_dtype dtype, size_t count)
{
    return (source){.data = data, .dtype = dtype, .count = count, .step = 3};
}

static void expect(source s, tally_rule rule, const double *range, int skip, uint64_t bins,
                   double lo, double hi, const char *what)
{
    answer a = ask(&s, rule, range, skip);
    CHECK_SAY(!a.status && a.bins == bins && a.lo == lo && a.hi == hi,
              "%s, rule %d: %" PRIu64 " bins %.17g … %.17g %s, expected %" PRIu64
              " bins %.17g … %.17g",
              what, rule, a.bins, a.lo, a.hi, a.error.message, bins, lo, hi);
}

static void test_known(void)
{
    double same[] = {2.5, 2.5, 2.5, 2.5, 2.5}, huge[] = {1e300, 1e300},
           odd[] = {NAN, INFINITY, NAN};
    double mixed[] = {NAN, 1, INFINITY, 2, -INFINITY}, range[] = {10, 20}, point[] = {3, 3};
    double far[] = {-1e308, 1e308, 0, 1};
    int64_t wide[] = {INT64_MIN + 1, INT64_MAX, INT64_MIN + 1, 0};
    int64_t between[] = {5, (INT64_C(1) << 53) + 1, 5};
    uint64_t top[] = {UINT64_MAX, UINT64_MAX - 1, (UINT64_C(1) << 53) + 3};
    for (int r = 0; r < 8; r++) {
        tally_rule rule = (tally_rule)r;
        expect(over(NULL, TALLY_F64, 0), rule, NULL, 0, 1, 0, 1, "no samples");
        expect(over(odd, TALLY_F64, 3), rule, NULL, 1, 1, 0, 1, "no finite sample");
        expect(over(same, TALLY_F64, 5), rule, NULL, 0, 1, 2, 3, "equal");
        expect(over(same, TALLY_F64, 1), rule, NULL, 0, 1, 2, 3, "one");
        expect(over(same, TALLY_F64, 5), rule, range, 0, 1, 10, 20, "none inside");
        expect(over(same, TALLY_F64, 5), rule, point, 0, 1, 2.5, 3.5, "a point for a range");
        expect(over(huge, TALLY_F64, 2), rule, NULL, 0, 1, nextafter(1e300, 0),
               nextafter(1e300, 2e300), "huge");
        source s = over(mixed, TALLY_F64, 5);
        answer a = ask(&s, rule, NULL, 0);
        CHECK_SAY(a.status == TALLY_ERROR_DATA &&
                      strstr(a.error.message, "1 of 5 samples are NaN and 2 infinite"),
                  "%s", a.error.message);
        s = over(far, TALLY_F64, 4);
        a = ask(&s, rule, NULL, 0);
        CHECK_SAY(!a.status && a.bins >= 1 && a.lo == -1e308 && a.hi == 1e308, "far: %s",
                  a.error.message);
        s = over(wide, TALLY_I64, 4);
        a = ask(&s, rule, NULL, 0);
        CHECK_SAY(!a.status && a.lo == -0x1p63 && a.hi == 0x1p63 && a.bins >= 1 && a.bins < 100,
                  "wide: %s %" PRIu64, a.error.message, a.bins);
        s = over(top, TALLY_U64, 3);
        a = ask(&s, rule, NULL, 0);
        CHECK_SAY(!a.status && a.lo == 0x1p53 + 2 && a.hi == 0x1p64, "top: %.17g", a.lo);
        for (int t = 0; t < 2; t++) { /* rounded to nearest, the greatest would be left out */
            s = over(between, t ? TALLY_U64 : TALLY_I64, 3);
            a = ask(&s, rule, NULL, 0);
            CHECK_SAY(!a.status && a.lo == 5 && a.hi == 0x1p53 + 2, "between: %.17g", a.hi);
        }
    }
    expect(over(mixed, TALLY_F64, 5), TALLY_RULE_SQRT, NULL, 1, 2, 1, 2, "skipped");
    expect(over(top, TALLY_U64, 2), TALLY_RULE_SQRT, NULL, 0, 1, nextafter(0x1p64, 0), 0x1p64,
           "neighbours");
    /* Nearly all samples at one place and one far away: fd would want 2e11 bins. */
    double *x = malloc(1000 * sizeof *x);
    for (int i = 0; i < 1000; i++)
        x[i] = i * 1e-9;
    x[999] = 1e3;
    expect(over(x, TALLY_F64, 1000), TALLY_RULE_FD, NULL, 0, TALLY_RULE_MAX_BINS, 0, 1e3, "capped");
    expect(over(x, TALLY_F64, 1000), TALLY_RULE_AUTO, NULL, 0, 64, 0, 1e3, "sqrt's half");
    free(x);
}

/* More candidates than 100: sqrt(n) of them. */
static void test_stone(void)
{
    size_t n = 40000;
    double *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = below(2) ? normal() : (double)below(150) * 0.05;
    sorting = TALLY_F64;
    source s = {.data = (unsigned char *)x, .dtype = TALLY_F64, .count = n, .step = 5000};
    answer a = ask(&s, TALLY_RULE_STONE, NULL, 0);
    qsort(x, n, sizeof *x, compare);
    double want = ceil((x[n - 1] - x[0]) / stone_width(x, n, x[0], x[n - 1]));
    CHECK_SAY((double)a.bins == want && want > 100, "stone: %" PRIu64 " bins, expected %g", a.bins,
              want);
    free(x);
}

static int next_pixels(void *user, tally_view *view, tally_error *error)
{
    static int left = 1;
    (void)error;
    *view = tally_view_1d(user, TALLY_F64, 16);
    view->channels = 3;
    return left--;
}

static void test_failures(void)
{
    enum { many = (1 << 18) + 64 }; /* more than are kept */
    static double x[many];
    for (int i = 0; i < many; i++)
        x[i] = unit();
    source s = over(x, TALLY_F64, 64);
    for (int status = 1; status <= 11; status++) {
        tally_status want = status <= 9 ? (tally_status)status : TALLY_ERROR_IO;
        s = over(x, TALLY_F64, 64);
        s.fail_read = -status;
        answer a = ask(&s, TALLY_RULE_SQRT, NULL, 0);
        CHECK_SAY(a.status == want && !strcmp(a.error.message, "the disk is on fire"), "read");
        s = over(x, TALLY_F64, many);
        s.fail_rewind = -status;
        s.silent = 1;
        a = ask(&s, TALLY_RULE_FD, NULL, 0);
        CHECK_SAY(a.status == want && strstr(a.error.message, "rewind returned"), "%s",
                  a.error.message);
    }
    s = over(x, TALLY_F64, many);
    s.liar = 1;
    answer a = ask(&s, TALLY_RULE_FD, NULL, 0);
    CHECK_SAY(a.status == TALLY_ERROR_DATA && strstr(a.error.message, "changed"), "%s",
              a.error.message);
    tally_axis axis;
    double bad[] = {2, 1}, nan[] = {NAN, 1};
    tally_rule_options unknown = {sizeof unknown, (tally_rule)8, NULL, 0},
                       descends = {sizeof descends, TALLY_RULE_AUTO, bad, 0},
                       not_number = {sizeof not_number, TALLY_RULE_AUTO, nan, 0},
                       unsized = {1, TALLY_RULE_AUTO, NULL, 0};
    tally_chunks chunks = {next_chunk, again, &s}, none = {NULL, again, &s},
                 pixels = {next_pixels, again, x};
    s = over(x, TALLY_F64, 64);
    CHECK_SAY(tally_rule_bins(NULL, none, TALLY_F64, NULL, &axis, NULL) == 1, "read NULL");
    CHECK_SAY(tally_rule_bins(NULL, chunks, 0, NULL, &axis, NULL) == 1, "dtype 0");
    CHECK_SAY(tally_rule_bins(NULL, chunks, TALLY_F64, &unknown, &axis, NULL) == 1, "rule 8");
    CHECK_SAY(tally_rule_bins(NULL, chunks, TALLY_F64, &descends, &axis, NULL) == 1, "range");
    CHECK_SAY(tally_rule_bins(NULL, chunks, TALLY_F64, &not_number, &axis, NULL) == 1, "NaN range");
    CHECK_SAY(tally_rule_bins(NULL, chunks, TALLY_F64, &unsized, &axis, NULL) == 1, "struct_size");
    CHECK_SAY(tally_rule_bins(NULL, chunks, TALLY_F64, NULL, NULL, NULL) == 1, "axis NULL");
    CHECK_SAY(tally_rule_bins(NULL, chunks, TALLY_F32, NULL, &axis, NULL) == 1,
              "a chunk of another dtype");
    CHECK_SAY(tally_rule_bins(NULL, pixels, TALLY_F64, NULL, &axis, NULL) == 1, "three channels");
    /* Every allocation may fail. */
    for (int r = -1; r < 8; r++) {
        const tally_rule rule = r < 0 ? TALLY_RULE_FD : (tally_rule)r;
        long failed = -1;
        do {
            s = over(x, TALLY_F64, r < 0 ? many : 64);
            ty_alloc_fail_after(++failed);
            a = ask(&s, rule, NULL, 0);
            ty_alloc_fail_after(-1);
            CHECK_SAY(!a.status || a.status == TALLY_ERROR_MEMORY, "rule %d: %s", r,
                      a.error.message);
        } while (a.status && failed < 99);
        CHECK_SAY(r < 0 ? !a.status
                        : failed == (rule <= TALLY_RULE_FD      ? 7
                                     : rule == TALLY_RULE_STONE ? 3
                                                                : 0),
                  "rule %d allocates %ld times", r, failed);
    }
}

static void test_parse(void)
{
    const char *names[] = {"auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"};
    for (int i = 0; i < 8; i++)
        CHECK_SAY(tally_rule_parse(names[i]) == i, "%s", names[i]);
    CHECK_SAY(tally_rule_parse("Scott") == -1 && tally_rule_parse("") == -1 &&
                  tally_rule_parse(NULL) == -1,
              "unknown names");
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Many samples by several threads are what one thread finds, whatever is left out and wherever
 * chunks end. */
static void test_threads(void)
{
    static const double range[2] = {-0.5, 0.75};
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *several = NULL;
    options.device = TALLY_DEVICE_CPU;
    options.threads = 3;
    CHECK_SAY(!tally_context_create(&options, &several, NULL), "a context");
    for (int round = 0; round < 24; round++) {
        const tally_dtype dtypes[] = {TALLY_F32, TALLY_F64, TALLY_I64, TALLY_I16};
        const size_t n = 30000 + below(170000);
        source s = {.dtype = dtypes[round % 4], .count = n, .step = 1 + below(2 * n)};
        const size_t size = tally_dtype_bytes(s.dtype);
        unsigned char *x = malloc(n * size), *wide = calloc(n, 2 * size);
        for (size_t i = 0; i < n; i++) {
            const double value = below(round < 12 ? 3000 : 9) ? normal()
                                 : below(2)                   ? NAN
                                                              : INFINITY;
            const float single = (float)value;
            const int64_t whole = (int64_t)(next() >> 32);
            const int16_t small = (int16_t)next();
            memcpy(x + i * size,
                   s.dtype == TALLY_F32   ? (const void *)&single
                   : s.dtype == TALLY_F64 ? (const void *)&value
                   : s.dtype == TALLY_I64 ? (const void *)&whole
                                          : (const void *)&small,
                   size);
            memcpy(wide + 2 * i * size, x + i * size, size);
        }
        s.data = x;
        for (int rule = 0; rule <= TALLY_RULE_SQRT; rule++) {
            if (rule == TALLY_RULE_STONE && round)
                continue;
            answer got[2];
            for (int k = 0; k < 2; k++) {
                source same = s;
                same.apart = k && round & 1;
                same.data = same.apart ? wide : x;
                context = k ? several : NULL;
                got[k] = ask(&same, (tally_rule)rule, round % 3 ? NULL : range, 1);
            }
            CHECK_SAY(got[0].status == got[1].status && got[0].bins == got[1].bins &&
                          bits_of(got[0].lo) == bits_of(got[1].lo) &&
                          bits_of(got[0].hi) == bits_of(got[1].hi),
                      "rule %d of %zu %s: %" PRIu64 " and %" PRIu64 " bins", rule, n,
                      tally_dtype_name(s.dtype), got[0].bins, got[1].bins);
        }
        free(wide);
        free(x);
    }
    context = NULL;
    tally_context_destroy(several);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", state);
    test_parse();
    test_select();
    test_known();
    for (int i = 0; i < 3000; i++)
        test_rule();
    test_stone();
    test_threads();
    test_failures();
    printf("%d failures\n", failures);
    return failures != 0;
}
