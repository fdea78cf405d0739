/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ty_number_parse against strtod and against answers known without it.
 *
 *     test_number [seed [scale]]
 *
 * Every text is parsed alone, with nothing readable counted on past its end, and with more text
 * behind it, much and little, for these take different paths through the parser.
 */
#include "draw.h"
#include "io/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 4096

static long cases, failures;

static int pick(int n)
{
    return (int)(next() % (uint64_t)n);
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int same(double a, double b)
{
    return a != a ? b != b && bits_of(a) >> 63 == bits_of(b) >> 63 : bits_of(a) == bits_of(b);
}

static void fail(const char *text, const char *how, double got, double expected)
{
    if (failures++ < 20)
        fprintf(stderr, "%.200s%s (%s): %a, expected %a\n", text, strlen(text) > 200 ? "..." : "",
                how, got, expected);
}

/* `text` is a number from its first byte to its last, and that number is `expected`. */
static void check(const char *text, double expected)
{
    static const char behind[] = "\n-12.5e3,77777777.7777777,8888888888888888888,,,,,";
    static char buffer[TEXT + sizeof behind];
    size_t size = strlen(text);
    double x = -1;
    cases++;
    const char *after = ty_number_parse(text, text + size, &x);
    if (after != text + size || !same(x, expected))
        fail(text, "alone", x, expected);
    memcpy(buffer, text, size);
    memcpy(buffer + size, behind, sizeof behind);
    x = -1;
    after = ty_number_parse(buffer, buffer + size + sizeof behind - 1, &x);
    if (after != buffer + size || !same(x, expected))
        fail(text, "followed", x, expected);
    size_t all = size + (size_t)pick(40);
    char *copy = malloc(all); /* just as long, for the sanitizer */
    if (!copy)
        abort();
    memcpy(copy, buffer, all);
    x = -1;
    after = ty_number_parse(copy, copy + all, &x);
    if (after != copy + size || !same(x, expected))
        fail(text, "near the end", x, expected);
    free(copy);
}

static void check_strtod(const char *text)
{
    check(text, strtod(text, NULL));
}

/* The number at the start of `text` ends after `size` bytes; 0: there is none. */
static void check_end(const char *text, size_t size)
{
    size_t all = strlen(text);
    char *copy = malloc(all ? all : 1); /* just as long, for the sanitizer */
    double x = 12345;
    if (!copy)
        abort();
    memcpy(copy, text, all);
    cases++;
    const char *after = ty_number_parse(copy, copy + all, &x);
    if (size ? after != copy + size : after != NULL || x != 12345)
        fail(text, "end", after ? (double)(after - copy) : -1, (double)size);
    free(copy);
    if (all < 100 && all > 0 && text[all - 1] != ' ') {
        char longer[160];
        snprintf(longer, sizeof longer, "%s                                        ", text);
        check_end(longer, size);
    }
}

static void test_syntax(void)
{
    static const struct {
        const char *text;
        size_t size;
    } ends[] = {
        {"", 0},
        {"-", 0},
        {"+", 0},
        {".", 0},
        {"-.", 0},
        {"e5", 0},
        {".e5", 0},
        {"--1", 0},
        {"+-1", 0},
        {" 1", 0},
        {"abc", 0},
        {"in", 0},
        {"na", 0},
        {"-i", 0},
        {"\xff", 0},
        {"-\xb9", 0},
        {"1", 1},
        {"1.", 2},
        {".5", 2},
        {"-.5", 3},
        {"+.5", 3},
        {"1e", 1},
        {"1e+", 1},
        {"1e-", 1},
        {"1ex", 1},
        {"1e5", 3},
        {"1e+5", 4},
        {"1.e5", 4},
        {"1.5e", 3},
        {"1.5e-", 3},
        {"1.5.5", 3},
        {"1,5", 1},
        {"0x10", 1},
        {"1e5.5", 3},
        {"infinit", 3},
        {"infinity", 8},
        {"infinityx", 8},
        {"-INF", 4},
        {"+Inf1", 4},
        {"nan", 3},
        {"NaN(1)", 3},
        {"-nanx", 4},
        {"1_0", 1},
        {"12:30", 2},
        {"1/2", 1},
        {"1\xb9", 1},
        {"12345678\xb9", 8},
        {"1.2\xb9", 3},
        {"1.\xb9", 2},
        {"1e\xb9", 1},
        {"1-2", 1},
        {"1.5-2", 3},
        {"123456789-2", 9},
        {"00", 2},
        {"-0", 2},
        {"12345678", 8},
        {"1234567.", 8},
        {"12345678.", 9},
        {"1.2345678e", 9},
        {"1:", 1},
        {"-.5;", 3},
        {"-1.5.5", 4},
        {"-1234567890123.5.5", 16},
        {"1234567890123456.25.5", 19},
        {"1.5e+1", 6},
        {"1.5e+1a", 6},
        {"1.5e-100:", 8},
        {"123456789e", 9},
        {"123456789e5", 11},
        {"1.2345678901234567e", 18},
        {"1234567/", 7},
        {"12345678/", 8},
        {"123456789012:", 12},
        {"1.23456789/5", 10},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        check_end(ends[i].text, ends[i].size);
    check("-0", -0.0);
    check("-0.0e5", -0.0);
    check("+0", 0.0);
    check("0e999999999999999999999", 0.0);
    check("-1e999999999999999999999", -HUGE_VAL);
    check("1e-999999999999999999999", 0.0);
    check("infinity", HUGE_VAL);
    check("-iNf", -HUGE_VAL);
    check("nan", double_of(UINT64_C(0x7ff8) << 48));
    check("-NAN", double_of(UINT64_C(0xfff8) << 48));
}

/* Every byte at every place of numbers of each shape: the number must end where strtod's does. */
static void test_bytes(void)
{
    static const char *const shapes[] = {
        "-12345.5",
        "1.5e+12 ",
        "-1.25E-03,",
        "1.0e5",
        "12345678.5e1",
        "1234567890123",
        "12345678901234567890",
        "0.12345678901234567",
        "1.234567890123456789e-300",
        "infinity",
        "-nan",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (size_t at = 1; shapes[i][at]; at++) {
            for (int byte = 1; byte < 256; byte++) {
                char text[80], *end;
                snprintf(text, sizeof text, "%s", shapes[i]);
                text[at] = (char)byte;
                double x = -1, expected = strtod(text, &end);
                if ((byte | 0x20) == 'x' || strchr(text, '('))
                    continue;
                size_t size = strlen(text);
                for (int longer = 0; longer < 2; longer++) {
                    const char *after = ty_number_parse(text, text + size, &x);
                    cases++;
                    if (end == text ? after != NULL : after != end || !same(x, expected))
                        fail(text, longer ? "byte, followed" : "byte", x, expected);
                    memset(text + size, ';', sizeof text - 1 - size);
                    text[size = sizeof text - 1] = '\0';
                }
            }
        }
    }
}

static void test_edges(void)
{
    static const char *const texts[] = {
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "17976931348623157e292",
        "1e308",
        "1e309",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.225073858507201e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "5e-324",
        "2e-324",
        "3e-324",
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740993.0000000000000000001",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999",
        "10000000000000000000",
        "9223372036854775808",
        "1e22",
        "1e23",
        "8.5e22",
        "9007199254740992e22",
        "123456789012345678e-3",
        "0.1",
        "0.3",
        "2.5",
        "0.000000000000000000000000000000123456789",
        "7.2057594037927933e16",
        "3.0517578125e-5",
        "1.00000000000000011102230246251565",
        "1.00000000000000011102230246251566",
        "1.00000000000000033306690738754695",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char negative[100];
        check_strtod(texts[i]);
        snprintf(negative, sizeof negative, "-%s", texts[i]);
        check_strtod(negative);
    }
    for (int q = -400; q <= 400; q++) {
        static const char *const heads[] = {"1",
                                            "9",
                                            "-3.5",
                                            "9999999999999999999",
                                            "18446744073709551615",
                                            "12345678901234567890123"};
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
            char text[64];
            snprintf(text, sizeof text, "%se%d", heads[i], q);
            check_strtod(text);
        }
    }
}

static void test_shapes(int n)
{
    static const char *const formats[] = {"%.0f",  "%.1f", "%.2f",  "%.6f",  "%.9f",  "%.17f",
                                          "%g",    "%.9g", "%.15g", "%.17g", "%.6e",  "%.16e",
                                          "%.20e", "%E",   "%.3g",  "%.25g", "%+.4f", "%012.3f"};
    for (int i = 0; i < n; i++) {
        char text[512];
        double x = (double)(int64_t)next() / (double)(UINT64_C(1) << pick(64));
        snprintf(text, sizeof text, formats[pick(sizeof formats / sizeof *formats)], x);
        check_strtod(text);
    }
    for (int i = 0; i < n; i++) { /* any float64, and text that reads back as it */
        char text[64];
        double x = double_of(next());
        if (x - x != 0)
            continue;
        snprintf(text, sizeof text, "%.17g", x);
        check(text, x);
        snprintf(text, sizeof text, "%.*e", pick(16), x);
        check_strtod(text);
    }
    for (int i = 0; i < n; i++) {
        char text[64];
        snprintf(text, sizeof text, "%" PRIu64, next() >> pick(64));
        check_strtod(text);
        snprintf(text, sizeof text, "%s%" PRIu64 "e%d", pick(2) ? "-" : "", next() >> pick(64),
                 pick(720) - 380);
        check_strtod(text);
    }
}

static char *put_digits(char *p, int count, int style)
{
    for (int i = 0; i < count; i++)
        *p++ = (char)('0' + (style == 0   ? pick(10)
                             : style == 1 ? 9
                             : style == 2 ? 0
                                          : pick(2) * 9));
    return p;
}

static void test_digits(int n, int most)
{
    for (int i = 0; i < n; i++) {
        char text[TEXT], *p = text;
        int whole = pick(most), places = pick(most);
        if (pick(2))
            *p++ = "-+"[pick(2)];
        if (pick(3) == 0)
            p = put_digits(p, pick(most), 2);
        p = put_digits(p, whole, pick(4));
        if (pick(4)) {
            *p++ = '.';
            if (pick(3) == 0)
                p = put_digits(p, pick(most), 2);
            p = put_digits(p, places, pick(4));
        }
        p = put_digits(p, 1, 0);
        if (pick(2))
            p += sprintf(p, "%c%s%d", "eE"[pick(2)],
                         pick(2)   ? ""
                         : pick(2) ? "-"
                                   : "+",
                         pick(4) ? pick(25) : pick(400));
        *p = '\0';
        check_strtod(text);
    }
}

/* Every number of digits in front of the point and behind it, every kind of exponent. */
static void test_layouts(int n)
{
    static const char *const exponents[] = {"",     "e0",    "e+05", "E-07",  "e12",  "e-22",
                                            "e+22", "e+024", "e-30", "e+300", "e-310"};
    for (int i = 0; i < n; i++) {
        for (int whole = 0; whole <= 22; whole++) {
            for (int places = -1; places <= 22; places++) { /* -1: no point */
                if (whole + places < 1)
                    continue;
                char text[80], *p = text;
                if (pick(2))
                    *p++ = '-';
                p = put_digits(p, whole, pick(8) ? 0 : pick(4));
                if (places >= 0)
                    *p++ = '.';
                p = put_digits(p, places < 0 ? 0 : places, pick(8) ? 0 : pick(4));
                const char *exponent = exponents[pick(2) ? 0 : pick(11)];
                snprintf(p, sizeof text - (size_t)(p - text), "%s", exponent);
                check_strtod(text);
            }
        }
    }
}

/* Writes m × 2^e exactly: digits, then "e" and an exponent. Base 10^9, by schoolbook arithmetic. */
static size_t write_exact(uint64_t m, int e, char *text, int *exponent)
{
    uint32_t limbs[160] = {(uint32_t)(m % 1000000000), (uint32_t)(m / 1000000000 % 1000000000),
                           (uint32_t)(m / UINT64_C(1000000000000000000))};
    int size = 3;
    *exponent = e < 0 ? e : 0; /* m 2^e = m 5^-e 10^e */
    for (int left = abs(e); left > 0;) {
        int step = left < 10 ? left : 10;
        uint64_t factor = 1, carry = 0;
        for (int i = 0; i < step; i++)
            factor *= e < 0 ? 5 : 2;
        for (int i = 0; i < size; i++) {
            carry += limbs[i] * factor;
            limbs[i] = (uint32_t)(carry % 1000000000);
            carry /= 1000000000;
        }
        if (carry)
            limbs[size++] = (uint32_t)carry;
        left -= step;
    }
    while (size > 1 && limbs[size - 1] == 0)
        size--;
    char *p = text + sprintf(text, "%" PRIu32, limbs[size - 1]);
    for (int i = size - 2; i >= 0; i--)
        p += sprintf(p, "%09" PRIu32, limbs[i]);
    return (size_t)(p - text);
}

/* The midpoint above the finite positive float64 `bits`, exactly, and a hair beside it: the answers
 * are known without strtod. */
static void test_midpoint(uint64_t bits)
{
    static char digits[1600], text[TEXT];
    int exponent, biased = (int)(bits >> 52);
    uint64_t m = bits & ((UINT64_C(1) << 52) - 1);
    if (biased)
        m |= UINT64_C(1) << 52;
    size_t size = write_exact(2 * m + 1, (biased ? biased : 1) - 1076, digits, &exponent);
    double low = double_of(bits), high = double_of(bits + 1);
    snprintf(text, sizeof text, "%se%d", digits, exponent);
    check(text, bits & 1 ? high : low);
    snprintf(text, sizeof text, "%.*s.%se%d", (int)(size > 1), digits, digits + 1,
             exponent + (int)size - 1);
    check(text, bits & 1 ? high : low);
    int zeros = pick(1200);
    snprintf(text, sizeof text, "%s.%0*de%d", digits, zeros + 1, 1, exponent);
    check(text, high);
    digits[size - 1]--; /* not a 0, except in some large integers */
    snprintf(text, sizeof text, "%s.%.*s9e%d", digits, zeros % 30, "999999999999999999999999999999",
             exponent);
    if (digits[size - 1] >= '0')
        check(text, low);
}

static void test_midpoints(int n)
{
    static const uint64_t special[] = {0,
                                       1,
                                       2,
                                       3,
                                       (UINT64_C(1) << 52) - 2,
                                       (UINT64_C(1) << 52) - 1,
                                       UINT64_C(1) << 52,
                                       (UINT64_C(1) << 52) + 1,
                                       (UINT64_C(2046) << 52) - 1,
                                       UINT64_C(2046) << 52,
                                       (UINT64_C(2047) << 52) - 1,
                                       (UINT64_C(2047) << 52) - 2};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        test_midpoint(special[i]);
    for (int i = 0; i < n; i++) {
        uint64_t fraction = next() >> 12;
        switch (pick(4)) {
        case 0: /* any exponent */
            test_midpoint((uint64_t)pick(2047) << 52 | fraction);
            break;
        case 1: /* few digits: about 1 to 2^70, 20 digits and fewer */
            test_midpoint((uint64_t)(1023 + pick(70)) << 52 | fraction);
            break;
        case 2: /* subnormal */
            test_midpoint(fraction >> pick(52));
            break;
        case 3: /* a short fraction, 2^-6 to 2^58 */
            test_midpoint((uint64_t)(1017 + pick(64)) << 52 | (fraction >> 30 << 30));
            break;
        }
    }
}

/* w 10^q as close to a tie as 64-bit w allow: midpoints cut to 17 to 19 digits, and their
 * neighbours. */
static void test_near(int n)
{
    for (int i = 0; i < n; i++) {
        char digits[1600], text[64];
        int exponent, keep = 15 + pick(5);
        uint64_t bits = (uint64_t)pick(2047) << 52 | next() >> 12;
        int biased = (int)(bits >> 52);
        uint64_t m = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(biased > 0) << 52;
        size_t size = write_exact(2 * m + 1, (biased ? biased : 1) - 1076, digits, &exponent);
        if (size < (size_t)keep)
            continue;
        digits[keep] = '\0';
        uint64_t w = strtoull(digits, NULL, 10);
        for (int d = -1; d <= 1; d++) {
            snprintf(text, sizeof text, "%" PRIu64 "e%d", w + (uint64_t)d,
                     exponent + (int)size - keep);
            check_strtod(text);
        }
    }
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : 20240607;
    int scale = argc > 2 ? atoi(argv[2]) : 100;
    printf("test_number: seed %" PRIu64 "\n", state);
    test_syntax();
    test_bytes();
    test_edges();
    test_shapes(4000 * scale);
    test_digits(5000 * scale, 12);
    test_digits(2000 * scale, 30);
    test_digits(100 * scale, 900);
    test_layouts(5 * scale);
    test_midpoints(150 * scale);
    test_near(400 * scale);
    printf("test_number: %ld texts, %ld failures\n", cases, failures);
    return failures != 0;
}
