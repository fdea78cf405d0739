/* SPDX-License-Identifier: Apache-2.0 */
/* The text decoder, over a stream that is a block of memory: texts written by hand, their layouts
 * and messages. */
#include "text_help.h"

#include <math.h>
#include <stdarg.h>

/* The text's first chosen column must be the numbers up to `END`. */
#define END 987654321.0
static void expect(int line, const char *text, const char *column, ...)
{
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    va_list args;
    va_start(args, column);
    options.columns = &column;
    options.columns_count = column != NULL;
    table t = read_bytes(text, strlen(text), &options);
    CHECK_SAY(!t.status, "line %d: %s", line, t.error.message);
    size_t i = 0;
    for (double x; !t.status && (x = va_arg(args, double)) != END; i++)
        CHECK_SAY(i < t.count && same(t.samples[0][i], x), "line %d: sample %zu is %g, expected %g",
                  line, i, i < t.count ? t.samples[0][i] : -0.0, x);
    CHECK_SAY(t.status || i == t.count, "line %d: %zu samples, expected %zu", line, t.count, i);
    va_end(args);
    table_free(&t);
}

static void refuse_options(int line, const char *text, const tally_input_options *options,
                           tally_status status, const char *message)
{
    table t = read_bytes(text, strlen(text), options);
    CHECK_SAY(t.status == status && strcmp(t.error.message, message) == 0,
              "line %d: %d \"%s\", expected %d \"%s\"", line, t.status, t.error.message, status,
              message);
    table_free(&t);
}

static void refuse(int line, const char *text, const char *column, const char *message)
{
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    options.columns = &column;
    options.columns_count = column != NULL;
    refuse_options(line, text, &options, TALLY_ERROR_FORMAT, message);
}

static void refuse_argument(int line, const char *text, const char *column, const char *message)
{
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    options.columns = &column;
    options.columns_count = column != NULL;
    refuse_options(line, text, &options, TALLY_ERROR_ARGUMENT, message);
}

#define EXPECT(...)   expect(__LINE__, __VA_ARGS__, END)
#define REFUSE(...)   refuse(__LINE__, __VA_ARGS__)
#define ARGUMENT(...) refuse_argument(__LINE__, __VA_ARGS__)

static void test_lines(void)
{
    EXPECT("1\n2\n3\n", NULL, 1.0, 2.0, 3.0);
    EXPECT("1\n2\n3", NULL, 1.0, 2.0, 3.0);
    EXPECT("1\r\n2\r\n\r\n3\r\n", NULL, 1.0, 2.0, 3.0);
    EXPECT("1\r2\r\r3", NULL, 1.0, 2.0, 3.0);
    EXPECT("\n\n  \t\n1\n \n2\n\n", NULL, 1.0, 2.0);
    EXPECT("# heading\n1\n  # more\n2\n#", NULL, 1.0, 2.0);
    EXPECT("#\r1\r#x\r2", NULL, 1.0, 2.0);
    EXPECT("\xef\xbb\xbf"
           "1.5\n-2e3\n",
           NULL, 1.5, -2e3);
    EXPECT("  1\n\t2  \n +3 \n", NULL, 1.0, 2.0, 3.0);
    EXPECT("42", NULL, 42.0);
    /* numbers on one line */
    EXPECT("1 2 3\n", NULL, 1.0, 2.0, 3.0);
    EXPECT("1 2 3", NULL, 1.0, 2.0, 3.0);
    EXPECT(" 1\t2   3 \r\n\n# that was all\n", NULL, 1.0, 2.0, 3.0);
    EXPECT("\n1,2.5,,\"-3\",\n", NULL, 1.0, 2.5, NAN, -3.0);
    EXPECT("1;2;3", "2", 2.0);
    ARGUMENT("1 2 x", NULL, "a.csv: 3 columns (1, 2, 3): choose one with --column");
    ARGUMENT("1,5 2,5", NULL, "a.csv: 2 columns (1, 2): choose one with --column");
    EXPECT("\"1\"\n\"2\"\n", NULL, 1.0, 2.0);
    EXPECT("nan\nNaN\n-inf\nInfinity\n1e400\n", NULL, NAN, NAN, -INFINITY, INFINITY, INFINITY);
    EXPECT("1\nNA\nn/a\nN/A\nnull\nNULL\nNull\n-\n\"\"\n2\n", NULL, 1.0, NAN, NAN, NAN, NAN, NAN,
           NAN, NAN, NAN, 2.0);
}

static void test_layouts(void)
{
    EXPECT("a,b\n1,2\n3,4\n", "b", 2.0, 4.0);
    EXPECT("a,b\n1,2\n3,4\n", "1", 1.0, 3.0);
    EXPECT("1,2\n3,4\n", "2", 2.0, 4.0);
    EXPECT("a\tb\n1\t2\n\t4\n", "a", 1.0, NAN);
    EXPECT("a;b\n1;2\n3;4\n", "b", 2.0, 4.0);
    EXPECT("a b\n1 2\n3   4\n", "b", 2.0, 4.0);
    EXPECT("  1 \t 2 \n\t3 4\n5 6\n", "2", 2.0, 4.0, 6.0);
    EXPECT("1\t \n2\n\t3\n4\n", NULL, 1.0, 2.0, 3.0, 4.0);
    EXPECT("a, b ,c\n1, 2 ,3\n , ,\n", "b", 2.0, NAN);
    EXPECT("x\n1\n2\n", NULL, 1.0, 2.0);
    EXPECT("x\n1\n2\n", "x", 1.0, 2.0);
    EXPECT("height in cm\n1\n2\n", NULL, 1.0, 2.0);
    EXPECT("name,v\nbob,1\nal,2\n", "v", 1.0, 2.0);
    EXPECT("name|v\nbob a|1\nal|2\n", "v", 1.0, 2.0);
    EXPECT("\"name\"|\"v\"\n\"bob\"|\"NA\"\n", "v", NAN);
    EXPECT(" id | v \n 1 | 2\n 3 | 4\n", "v", 2.0, 4.0);
    EXPECT("1,a|b,2\n2,c|d,3\n", "3", 2.0, 3.0);
    EXPECT("v,w\n1,a|b\n2,c|d\n", "v", 1.0, 2.0);
    EXPECT("1\n#N/A\n# no value\n#N/A or so\n#N/A \n2\n#N/A", NULL, 1.0, NAN, NAN, 2.0, NAN);
    EXPECT("v,w\n#N/A,1\n#DIV/0!,2\n#1,3\n", "w", 1.0, 2.0);
    EXPECT("bob,1\nal,2\n", "2", 1.0, 2.0);
    EXPECT("bob,1\nal,2\n7,3\n", "2", 1.0, 2.0, 3.0);
    EXPECT("day,v\n2024-01-01 10:00,1\n2024-01-01 11:00,2\n", "v", 1.0, 2.0);
    EXPECT("x,2019,2020\ny,1,2\nz,3,4\n", "2", 1.0, 3.0); /* years in a row */
    EXPECT("x,2019,2020\ny,1,2\nz,3,4\n", "2020", 2.0, 4.0);
    EXPECT(";2020;y;2019\nx;1;;2\ny;3;;4\n", "2", 1.0, 3.0);
    EXPECT("x,2019,2020\ny,1999,2000\nz,3,4\n", "2", 2019.0, 1999.0, 3.0); /* data have such */
    EXPECT("x,2019,2021\ny,1,2\nz,3,4\n", "2", 2019.0, 1.0, 3.0);
    EXPECT("x,1,2\ny,4,2\n", "2", 1.0, 4.0);
    EXPECT("x,2019,2020,7\ny,1,2,3\n", "2", 2019.0, 1.0);
    EXPECT("2018,2019,2020\n1,2,3\n", "2", 2019.0, 2.0);
    EXPECT("k,2\n5,1\n6,3\n", "2", 1.0, 3.0); /* a heading, before a number */
    EXPECT("\"a,b\",\"c \"\"d\"\"\"\n1,2\n", "c \"d\"", 2.0);
    EXPECT("\"a\nb\",c\n1,\"2\"\n\"3\" , \"4\"\n", "c", 2.0, 4.0);
    EXPECT("\"a\r\nb\";c\r\n1;2\r\n", "a\r\nb", 1.0);
    EXPECT("\"a\",\"b\",\"c\",\"d\",\"e\"\n\"-1\",\"x\",\"y\",\"z\",\"NA\"\n", "e", NAN);
    EXPECT("\"a b\" \"c\"\n\"x y\" 2\n\"x\",z 3\n", "c", 2.0, 3.0);
    EXPECT("n,word 0\n0.5,w; |a .\n", "n", 0.5);
    EXPECT("1 a,b\n2 c,d\n", "1", 1.0, 2.0);                 /* by blanks half are numbers */
    EXPECT("Day 1\t5\tDay\nDay 2\t6\tDay\n", "2", 5.0, 6.0); /* as many are text by tabs */
    EXPECT("Day\tn\nDay 1\t5\nDay 2\t6\n", "2", 5.0, 6.0);
    EXPECT("1 2\t3\n4 5\t6\n", "2", 2.0, 5.0);
    EXPECT("t,v 0\n1970-01-01 00:00:01.5,6%\n", "t", 1.5e6); /* its time of day is cut */
    EXPECT("1970-01-01 10:00;a;7:00\n", "1", 36e9);
    EXPECT("1970-01-01 10:00 7,5\n1970-01-01 11:00 8,5\n", "1", 0.0, 0.0);
    EXPECT("1970-01-01 7,5\n1970-01-02 8,5\n", "1", 0.0, 864e8);
    EXPECT("6,5 1970-01-01 10:00\n7,5 1970-01-02 11:00\n", "2", 0.0, 864e8);
    EXPECT("a b,c 2\nb c 3\nd e 4\nf g 5\n", "3", 2.0, 3.0, 4.0, 5.0);
    EXPECT("h - \"GET /a\" 200 \"M (X; L) (K, l)\"\nh - \"GET /b\" 404 \"M (X; L) (K, l)\"\n", "4",
           200.0, 404.0); /* other delimiters are within quotes */
    EXPECT("5\" nail;2\n6\" nail;3\n", "2", 2.0, 3.0);
    EXPECT("1,a;b\n", "1", 1.0);
    EXPECT("1;a;b;c;3,5\n2;c;d;c;4,5\n", "1", 1.0, 2.0); /* commas in numbers */
    EXPECT("1|a|b|c|3,500\n", "1", 1.0);
    EXPECT("sep=;\r\na;b,c\r\n1;2\r\n", "b,c", 2.0);
    EXPECT("\xef\xbb\xbfsep=,\n1,2;3\n4,5;6\n", "1", 1.0, 4.0);
    EXPECT("sep=;x\n1;2\n", "sep=", 1.0);
    EXPECT("1;1.234,5\n2;2.345,6\n", "1", 1.0, 2.0);
    EXPECT("n;a;b;c;p, EUR\n1;a;b;c;3,5\n2;a;b;c;3,7\n", "n", 1.0, 2.0);
    EXPECT("1;a;a;b,3\n2;a;a;b,3\n2;c;c;4,5\n", "2", 3.0, 3.0, 5.0);
    EXPECT("t,v\n\"x, \"\"y\"\"\n z\",1\nw,2\n", "v", 1.0, 2.0);
    EXPECT("a,b\n1,2,\n3,4,\n", "b", 2.0, 4.0);
    EXPECT("a,b,\n1,2,\n3,4,\n", "b", 2.0, 4.0);
    EXPECT(",\n1,2\n,\n", "2", NAN, 2.0, NAN);
    EXPECT("\t\n1\t2\n\t\n", "2", 2.0, NAN);
    EXPECT("a,b\n\n#c,d\n1,2\n", "a", 1.0);
    EXPECT("caf\xc3\xa9,b\n1,2\n", "caf\xc3\xa9", 1.0);
    EXPECT("x;y\n1.5;a,b\n2.5;c,d\n", "x", 1.5, 2.5);
    EXPECT("1, 2, 3\n4, 5, 6\n", "3", 3.0, 6.0);
    EXPECT("-\n1\n", NULL, NAN, 1.0);
}

#define MISSING "; --na takes words for missing"
#define THOUSANDS                                                                                  \
    "; numbers are written without, as 1234 (and with a decimal point), "                          \
    "or --thousands , or --decimal , says how"

static void test_messages(void)
{
    REFUSE("", NULL, "a.csv: empty: no numbers");
    REFUSE("\n \n# x\n\xef", NULL, "a.csv:4:1: expected a number, found '\\xef'" MISSING);
    REFUSE("\n \n# x\n", NULL, "a.csv: empty: no numbers");
    REFUSE("\xef\xbb\xbf", NULL, "a.csv: empty: no numbers");
    REFUSE("1\n2\nabc\n", NULL, "a.csv:3:1: expected a number, found 'abc'" MISSING);
    REFUSE("1\n#REF!\n", NULL, "a.csv:2:1: expected a number, found '#REF!'" MISSING);
    REFUSE("sep=;\n1;2\nx;3\n", "1", "a.csv:3:1: expected a number, found 'x'" MISSING);
    REFUSE("sep=;\n", NULL, "a.csv: empty: no numbers");
    REFUSE("abc", NULL, "a.csv:1:1: expected a number, found 'abc'" MISSING);
    REFUSE("price\nabc\n1\n", NULL, "a.csv:2:1: expected a number, found 'abc'" MISSING);
    REFUSE("n,price\nx,y\nz,1\n", "price", "a.csv:2:3: expected a number, found 'y'" MISSING);
    REFUSE("n,price\nx,\"1,234\"\n", "price",
           "a.csv:2:3: expected a number, found '1,234': a comma between thousands" THOUSANDS);
    REFUSE(
        "price\n1\n-1,234,567.5\n", NULL,
        "a.csv:3:1: expected a number, found '-1,234,567.5': a comma between thousands" THOUSANDS);
    REFUSE("a;b\n1;2\n3;1,5\n", "b",
           "a.csv:3:3: expected a number, found '1,5': a decimal comma; write a decimal "
           "point, or give --decimal ,");
    REFUSE("a;b\nx;1.234,5\n", "b",
           "a.csv:2:3: expected a number, found '1.234,5': a decimal comma behind points; "
           "--decimal , --thousands . reads it");
    REFUSE("a;b\nx;1 234\n", "b",
           "a.csv:2:3: expected a number, found '1 234': blanks between thousands; "
           "--thousands space reads them");
    REFUSE("1\n\u22121.5\n", NULL,
           "a.csv:2:1: expected a number, found '\u22121.5': its sign is U+2212, which is no - as "
           "numbers begin with");
    REFUSE("a;b\nx;1'234.5\n", "b",
           "a.csv:2:3: expected a number, found '1'234.5': signs between thousands; "
           "--thousands \"'\" reads them");
    REFUSE("\xef\xbb\xbf  abc\n", NULL, "a.csv:1:3: expected a number, found 'abc'" MISSING);
    REFUSE("1\r\n\r\n# c\r2 3\n", NULL, "a.csv:4:1: expected a number, found '2 3'" MISSING);
    REFUSE("a,b\n1,2\n3, 4x \n", "b", "a.csv:3:4: expected a number, found '4x'" MISSING);
    REFUSE("a,b\n1,2\n\"x\ny\n\",\"4\"5\n", "b",
           "a.csv:5:3: expected a number, found '\"4\"5'" MISSING);
    REFUSE("a,b\n1,2\n\"x\r\ny\r\",\"q\"\n", "b",
           "a.csv:5:3: expected a number, found 'q'" MISSING);
    REFUSE("1\n0x10\n", NULL, "a.csv:2:1: expected a number, found '0x10'" MISSING);
    REFUSE("1\n1e\n", NULL, "a.csv:2:1: expected a number, found '1e'" MISSING);
    REFUSE("1\n\xc3\xa9\x01\xff|\n", NULL,
           "a.csv:2:1: expected a number, found '\xc3\xa9\\x01\\xff|'" MISSING);
    REFUSE("1\n0123456789012345678901234567890123456789012\n1x3456789012345678901234567890123456789"
           "0x\n",
           NULL,
           "a.csv:3:1: expected a number, found "
           "'1x34567890123456789012345678901234567890...'" MISSING);
    REFUSE("x;y\n1;2\n1,5;2\n", "x",
           "a.csv:3:1: expected a number, found '1,5': a decimal comma; write a decimal "
           "point, or give --decimal ,");
    REFUSE("x;y\n1,5;2,25\n", "y",
           "a.csv:2:5: expected a number, found '2,25': a decimal comma; write a decimal "
           "point, or give --decimal ,");
    REFUSE("a,b,c\n1,2,3\n4,5\n", "a",
           "a.csv:3: 2 fields, expected 3 as in the first line (the header)");
    REFUSE("1,2\n4,5\n6\n", "1", "a.csv:3: 1 field, expected 2 as in the first line");
    REFUSE("1,2\n4,5\n6,7,8\n", "1", "a.csv:3: 3 fields, expected 2 as in the first line");
    REFUSE("a,b\n1\n", "a", "a.csv:2: 1 field, expected 2 as in the first line (the header)");
    REFUSE("x, y\n1, a\n2, b,5\n", "x",
           "a.csv:3: 3 fields, expected 2 as in the first line (the header)");
    REFUSE("1;3,5\n2;7,25\n8;8,5;1\n", "1", "a.csv:3: 3 fields, expected 2 as in the first line");
    REFUSE("1 2\n3 4\n5\n", "1", "a.csv:3: 1 field, expected 2 as in the first line");
    REFUSE("a,b\n1,2\n3,\"4\n5,6\n", "a", "a.csv:3:3: the quote that opens here is never closed");
    REFUSE("\"1\n2\n", NULL, "a.csv:1:1: the quote that opens here is never closed");
    ARGUMENT("a,b\n1,2\n", NULL, "a.csv: 2 columns (a, b): choose one with --column");
    ARGUMENT("1 2 3\n4 5 6\n", NULL, "a.csv: 3 columns (1, 2, 3): choose one with --column");
    ARGUMENT("a,b\n1,2\n", "c", "a.csv: no column 'c'; there are: a, b");
    ARGUMENT("a,\n1,2\n", "", "a.csv: no column ''; there are: a, 2");
    ARGUMENT("a,b\n1,2\n", "3", "a.csv: no column '3'; there are: a, b");
    ARGUMENT("a,b\n1,2\n", "0", "a.csv: no column '0'; there are: a, b");
    ARGUMENT("a,b\n1,2\n", "1x", "a.csv: no column '1x'; there are: a, b");
    ARGUMENT("a,b\n1,2\n", "A", "a.csv: no column 'A'; there are: a, b");
    ARGUMENT(
        "1,2\n", "x",
        "a.csv: no column 'x'; no headings were found (text: --header yes), choose by number: 1, "
        "2");
    ARGUMENT("a,b,a\n1,2,3\n", "a",
             "a.csv: columns 1 and 3 are both called 'a'; choose one by its number");
}

/* Words alone: a first record whose fields never come again is headings, if a column's all do. */
static void test_headings_of_words(void)
{
    static const struct {
        const char *first, *second;
        int rows, headings;
    } cases[] = {{"who,size", "n1,big", 30, 1}, {"who,small", "n1,big", 30, 0},
                 {"n1,size", "n1,big", 30, 0},  {"who,size", "n1,huge", 30, 0},
                 {"who,size", "n1,", 30, 0},    {"who,size", "n1,big", 15, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        char *p = text + sprintf(text, "%s\n%s\n", cases[i].first, cases[i].second);
        for (int row = 2; row < cases[i].rows; row++)
            p += sprintf(p, "n%d,%s\n", row, i == 4 ? "" : row % 3 ? "small" : "big");
        const char *column = "3";
        tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
        options.columns = &column;
        options.columns_count = 1;
        table t = read_bytes(text, (size_t)(p - text), &options);
        CHECK_SAY((strstr(t.error.message, "there are: ") != NULL) == cases[i].headings,
                  "case %zu: %s", i, t.error.message);
        table_free(&t);
    }
}

static void test_list(void)
{
    static char text[9000];
    char *p = text;
    for (int i = 0; i < 1000; i++)
        p += sprintf(p, "%sc%d", i ? "," : "", i);
    *p++ = '\n';
    for (int i = 0; i < 1000; i++)
        p += sprintf(p, "%s1", i ? "," : "");
    table t = read_bytes(text, (size_t)(p - text), NULL);
    static const char start[] = "a.csv: 1000 columns (c0, c1, c2, ",
                      end[] = ", ...): choose one with --column";
    CHECK_SAY(t.status == TALLY_ERROR_ARGUMENT &&
                  strncmp(t.error.message, start, sizeof start - 1) == 0 &&
                  strstr(t.error.message, end),
              "%s", t.error.message);
}

static void test_names(void)
{
    const char *columns[] = {"z w", "1", "2", "z w"};
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    options.columns = columns;
    options.columns_count = 4;
    static const char text[] = "caf\xe9,,\"z w\"\n1,2,3\n4,5,6\n";
    table t = read_bytes(text, sizeof text - 1, &options);
    CHECK_SAY(!t.status && t.views == 4 && t.count == 2, "%s", t.error.message);
    if (t.status)
        return;
    CHECK_SAY(strcmp(t.names[0], "z w") == 0 && strcmp(t.names[1], "caf\xef\xbf\xbd") == 0 &&
                  strcmp(t.names[2], "column 2") == 0 && strcmp(t.names[3], "z w") == 0,
              "names %s, %s, %s, %s", t.names[0], t.names[1], t.names[2], t.names[3]);
    CHECK_SAY(t.samples[0][1] == 6 && t.samples[1][1] == 4 && t.samples[2][1] == 5 &&
                  t.samples[3][1] == 6,
              "values");
    table_free(&t);
    t = read_bytes("1\n2\n", 4, NULL);
    CHECK_SAY(!t.status && strcmp(t.names[0], "(none)") == 0, "name of the only column");
    table_free(&t);
}

static void test_region(void)
{
    static const char text[] = "a,b\nx,1\n# c\ny,2\n3,3\n\n4,4\nz,5\n";
    for (int whole = 0; whole < 2; whole++) {
        const char *column = whole ? "b" : "a";
        tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
        options.columns = &column;
        options.columns_count = 1;
        options.chunk_bytes = 16;
        options.row_begin = 2;
        options.row_end = 4;
        table t = read_bytes(text, sizeof text - 1, &options);
        CHECK_SAY(!t.status && t.count == 2 && t.samples[0][0] == 3 && t.samples[0][1] == 4, "%s",
                  t.error.message);
        table_free(&t);
        options.row_end = 6;
        if (whole)
            refuse_options(__LINE__, text, &options, TALLY_ERROR_ARGUMENT,
                           "a.csv: the region of rows 2:6 is outside its 5 rows");
        else
            refuse_options(__LINE__, text, &options, TALLY_ERROR_FORMAT,
                           "a.csv:8:1: expected a number, found 'z'" MISSING);
        options.row_end = 0;
        options.row_begin = 5;
        refuse_options(__LINE__, text, &options, TALLY_ERROR_ARGUMENT,
                       "a.csv: the region of rows 5: is outside its 5 rows");
        options.column_end = 1;
        refuse_options(__LINE__, text, &options, TALLY_ERROR_ARGUMENT,
                       "a.csv: a region of columns is for images; choose columns of text by name "
                       "or number (--column)");
    }
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    options.row_begin = 1;
    options.row_end = 3;
    table t = read_bytes("1\n2\n3\nx", 7, &options);
    CHECK_SAY(!t.status && t.count == 2 && t.samples[0][0] == 2 && t.samples[0][1] == 3, "%s",
              t.error.message);
    table_free(&t);
}

static void test_probe(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        int is_text;
    } heads[] = {
        {"", 0, 1},
        {"1,2\r\n\t3", 7, 1},
        {"\xef\xbb\xbf"
         "1",
         4, 1},
        {"a\0b", 3, 0},
        {"\x89PNG\r\n\x1a\n", 8, 0},
        {"\x7f"
         "ELF",
         4, 0},
        {"temp \xb0"
         "C\n1\n2\n",
         12, 1},
        {"\xff\xfe\xfd\xfc", 4, 0},
        {"\xe2\x82\xac", 3, 1},
        {"1\n2\n3\n4\xe2\x82", 9, 1},
        {"1\x1b[0m", 5, 0},
        {"\xc0\xaf\xed\xa0\x80", 5, 0},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        CHECK_SAY(ty_text.probe((const unsigned char *)heads[i].bytes, heads[i].size) ==
                      heads[i].is_text,
                  "head %zu", i);
}

int main(void)
{
    test_lines();
    test_layouts();
    test_messages();
    test_list();
    test_headings_of_words();
    test_names();
    test_region();
    test_probe();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
