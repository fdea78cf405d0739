/* SPDX-License-Identifier: Apache-2.0 */
/* What options say of a text: its delimiter, its headings, its words for missing. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "input_help.h"

#define END 987654321.0

/* Signs of numbers: the decimal one, and the one between thousands, x for none. */
static const char *signs = ".x";

/* The numbers up to END are those of column 2, or of the only column for the delimiter 'x', which
 * stands for none; behind it y or n (headings), then words for missing. */
static void expect_as(int line, const char *text, const char *wish, ...)
{
    static const char *const second[] = {"2"};
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    tally_error error = {""};
    contents c;
    size_t count = 0;
    va_list args;
    options.delimiter = *wish == 'x' ? '\0' : *wish;
    options.header = wish[1] == 'y' ? 1 : wish[1] == 'n' ? -1 : 0;
    options.missing = wish[2] ? wish + 2 : NULL;
    options.columns = second;
    options.columns_count = *wish != 'x';
    options.decimal = *signs;
    options.thousands = (char)(signs[1] == 'x' ? '\0' : signs[1]);
    options.rewindable = 1;
    const char *path = help_write("text", text, strlen(text));
    tally_status status = help_read(path, &options, 2, &c, &error);
    CHECK_SAY(!status, "line %d: %s", line, error.message);
    if (status)
        return;
    va_start(args, wish);
    for (double x, y; (x = va_arg(args, double)) != END; count++) {
        if ((count + 1) * sizeof x > c.samples.size)
            continue;
        memcpy(&y, c.samples.bytes + count * sizeof x, sizeof x);
        CHECK_SAY(x == y || (isnan(x) && isnan(y)), "line %d: sample %zu is %g", line, count, y);
    }
    va_end(args);
    CHECK_SAY(count * sizeof(double) == c.samples.size, "line %d: %zu samples", line,
              c.samples.size / sizeof(double));
    blob_free(&c.samples);
}

#define EXPECT_AS(...) expect_as(__LINE__, __VA_ARGS__, END)

static void test_wishes(void)
{
    EXPECT_AS("a|b\n1|2\n3|\"4\"\n5| 6 \n", "|?", 2.0, 4.0, 6.0);
    EXPECT_AS("1 2\n3\t\t4\n", " n", 2.0, 4.0);
    EXPECT_AS("1;2 3\n4;5 6\n", " n", 3.0, 6.0);
    EXPECT_AS("1\n2\n3\n", "xy", 2.0, 3.0);
    EXPECT_AS("1\n2\n3\n", "xn", 1.0, 2.0, 3.0);
    EXPECT_AS("NA\n2\n3\n", "xn", NAN, 2.0, 3.0);
    EXPECT_AS("-999\n2\n\"-999\"\n?\n-999.0\n <NA> \nNone\n", "x?-999,?", NAN, 2.0, NAN, NAN,
              -999.0, NAN, NAN);
    EXPECT_AS("a,b\n1,\"-999\"\n3,4\n5, gone\n", ",?gone,-999", NAN, 4.0, NAN);
}

static void test_signs(void)
{
    signs = ",x";
    EXPECT_AS("a;b\n1;2,5\n3;-4,25e2\n5;,5\n5;7\n", ";?", 2.5, -425.0, 0.5, 7.0);
    EXPECT_AS("1,5\n-2\n\"3,5\"\n", "xn", 1.5, -2.0, 3.5);
    EXPECT_AS("1,5 2,5\n3,5 4,5\n", " n", 2.5, 4.5);
    signs = ",.";
    EXPECT_AS("1.234,5\n-12.345.678\n999,999\n1.000\nNA\n", "xn", 1234.5, -12345678.0, 999.999,
              1000.0, NAN);
    signs = ".,";
    EXPECT_AS("1,\"1,234.5\"\n2,\"12,345\"\n3,\" 7 \"\n4,\"1,000\"\n", ",n", 1234.5, 12345.0, 7.0,
              1000.0);
    signs = ". ";
    EXPECT_AS("1 234\n12 345 678.5\n9\n", "xn", 1234.0, 12345678.5, 9.0);
    EXPECT_AS("1\u00a0234\n12\u202f345\u202f678.5\n-9\u00a0000\n", "xn", 1234.0, 12345678.5,
              -9000.0);
    signs = ",.";
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    o.decimal = ',';
    o.thousands = '.';
    static const char *const wrong[] = {"1.5",   "1.23,4", "12.34", "1234.567", ".123", "1.2345,6",
                                        "1,5.3", "1..234", "1,2,3", "1.234.",   "-.5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[40];
        const int size = snprintf(text, sizeof text, "1\n2\n%s\n", wrong[i]);
        const char *path = help_write("signs", text, (size_t)size);
        EXPECT_FAIL(path, &o, TALLY_ERROR_FORMAT, ":3:1: expected a number, found '");
    }
    o.thousands = ',';
    EXPECT_FAIL(help_write("signs", "1\n", 2), &o, TALLY_ERROR_ARGUMENT,
                "decimal is ',' and thousands ','");
    signs = ".x";
}

/* Rows that begin with a name, below one heading fewer; quotes with white space in and around. */
static void test_row_names(void)
{
    EXPECT_AS("\"x\" \"y\"\n\"1\" 1.5 2\n\"2\" 2.5 3\n", " ?", 1.5, 2.5);
    EXPECT_AS("x,y\na,1.5,2\nb,2.5,3\n", ",?", 1.5, 2.5);
    EXPECT_AS("a,b\n1, \" 2\t\" \n3,\"4 \"\n", ",?", 2.0, 4.0);
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    static const char *const y[] = {"y"}, *const row[] = {"row"};
    contents c;
    tally_error error = {""};
    const char *path = help_write("rows", "x y\nr1 1.5 2\nr2 2.5 3\n", 22);
    double sample;
    o.columns = y;
    o.columns_count = 1;
    CHECK_SAY(!help_read(path, &o, 1, &c, &error), "%s", error.message);
    memcpy(&sample, (char *)c.samples.bytes + 8, sizeof sample);
    CHECK_SAY(c.samples.size == 16 && sample == 3, "y is %g", sample);
    blob_free(&c.samples);
    o.columns = row;
    EXPECT_FAIL(path, &o, TALLY_ERROR_FORMAT, ":2:1: expected a number, found 'r1'");
    /* Records of other widths are no row names. */
    EXPECT_FAIL(help_write("rows", "x y\nr1 1.5 2\n7 8\n", 17), &o, TALLY_ERROR_ARGUMENT,
                "no column 'row'");
}

static void test_refused(void)
{
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    const char *path = help_write("refused", "x\n1\n", 4);
    o.header = -1;
    EXPECT_FAIL(path, &o, TALLY_ERROR_FORMAT, ":1:1: expected a number, found 'x'");
    o.header = 2;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "header is 2; -1, 0 and 1 are known");
    o.header = 0;
    o.integers = (tally_integers)3;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "integers is 3");
    o.integers = TALLY_INTEGERS_LARGE;
    for (const char *c = "\"#+-.a0\n"; *c; c++) {
        o.delimiter = *c;
        EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "delimiter is character");
    }
    o.delimiter = ',';
    path = help_write("grey", "P5 1 1 255\nx", 12);
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "are of text, and this is pnm");
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    test_wishes();
    test_signs();
    test_row_names();
    test_refused();
    const char *path = help_write("starved", "a|b\n1|-9\n2|3\n", 13);
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    static const char *const second[] = {"b"};
    o.delimiter = '|';
    o.missing = "-9";
    o.columns = second;
    o.columns_count = 1;
    o.rewindable = 1;
    help_starve(path, &o);
    return help_end();
}
