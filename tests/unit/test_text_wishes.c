/* What options say of a text: its delimiter, its headings, its words for missing. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "input_help.h"

#define END 987654321.0

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

static void test_refused(void)
{
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    const char *path = help_write("refused", "x\n1\n", 4);
    o.header = -1;
    EXPECT_FAIL(path, &o, TALLY_ERROR_FORMAT, ":1:1: expected a number, found 'x'");
    o.header = 2;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "header is 2; -1, 0 and 1 are known");
    o.header = 0;
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
