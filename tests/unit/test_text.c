/*
 * The text decoder, over a stream that is a block of memory. `test_text [SEED]`
 *
 * Tables are made at random with their values known, in every delimiter, line end and kind of
 * quoting; then layouts, messages, the buffer's boundary at every byte, and failing allocations.
 */
/* The decoder over a stream of our own: its source once more, with the stream's functions renamed.
 */
#define ty_stream_read memory_read
#define ty_stream_name memory_name
#define ty_stream_grew memory_grew
#define ty_stream_pool memory_pool
#define ty_text        text_in_memory
#define THREAD_BYTES   ((size_t)256 << 10) /* as large as the first buffer, BUFFER */
#include "check.h"
#include "draw.h"
#include "io/text.c"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER (256 << 10) /* the decoder's first buffer */

/* ---- A stream in memory ---- */

struct ty_stream {
    const char *bytes;
    size_t size, at;
    size_t fails_at; /* a read that would pass this fails; 0: none */
};

tally_status ty_stream_read(ty_stream *stream, void *bytes, size_t size, size_t *got,
                            tally_error *error)
{
    size_t left = stream->size - stream->at;
    *got = size < left ? size : left;
    if (stream->fails_at && stream->at + *got > stream->fails_at) {
        if (error)
            strcpy(error->message, "the disk is on fire");
        return TALLY_ERROR_IO;
    }
    memcpy(bytes, stream->bytes + stream->at, *got);
    stream->at += *got;
    return TALLY_OK;
}

ty_pool *ty_stream_pool(const ty_stream *stream)
{
    (void)stream;
    return NULL;
}

const char *ty_stream_name(const ty_stream *stream)
{
    (void)stream;
    return "a.csv";
}

int ty_stream_grew(const ty_stream *stream)
{
    (void)stream;
    return 0;
}

/* ---- Reading all of a text ---- */

typedef struct table {
    tally_status status;
    tally_error error;
    uint32_t views;
    size_t count; /* samples of each view */
    double *samples[8];
    char names[8][64];
} table;

static void table_free(table *t)
{
    for (uint32_t v = 0; v < t->views; v++)
        free(t->samples[v]);
}

static void append(table *t, const tally_view *views, uint64_t most)
{
    uint64_t n = views[0].columns;
    CHECK_SAY(n > 0 && n <= most, "a chunk of %" PRIu64 ", at most %" PRIu64, n, most);
    for (uint32_t v = 0; v < t->views; v++) {
        CHECK_SAY(views[v].dtype == TALLY_F64 && views[v].rows == 1 && views[v].columns == n &&
                      views[v].channels == 1 && views[v].batches == 1 &&
                      views[v].struct_size == sizeof *views,
                  "view %u", v);
        t->samples[v] = realloc(t->samples[v], (t->count + n) * sizeof(double));
        if (!t->samples[v])
            abort();
        memcpy(t->samples[v] + t->count, views[v].data, n * sizeof(double));
    }
    t->count += n;
}

static tally_status read_all(void *decoder, table *t, uint64_t chunk_bytes)
{
    uint64_t most = (chunk_bytes ? chunk_bytes : 4 << 20) / 8 / t->views;
    t->count = 0;
    for (int done = 0;;) {
        tally_view views[8];
        tally_status status = ty_text.read(decoder, views, &done, &t->error);
        if (status || done)
            return status;
        append(t, views, most ? most : 1);
    }
}

/* Reads `text` to its end, rewinds and reads it again, which must give the same. */
static table read_bytes(const char *text, size_t size, const tally_input_options *options)
{
    table t = {.views = 0};
    char *copy = malloc(size ? size : 1); /* just as long, for the sanitizer */
    if (!copy)
        abort();
    memcpy(copy, text, size);
    ty_stream stream = {copy, size, 0, 0};
    tally_input_info info = {.struct_size = sizeof info};
    tally_input_options none = TALLY_INPUT_OPTIONS_INIT;
    void *decoder = NULL;
    options = options ? options : &none;
    t.status = ty_text.open(&stream, options, &decoder, &info, &t.error);
    if (!t.status) {
        CHECK_SAY(info.dtype == TALLY_F64 && info.rows == 0 && info.channels == 1 && !info.is_image,
                  "info");
        t.views = info.dimensions;
        for (uint32_t v = 0; v < t.views; v++) {
            const char *name = ty_text.channel_name(decoder, v);
            snprintf(t.names[v], sizeof t.names[v], "%s", name ? name : "(none)");
        }
        CHECK_SAY(!ty_text.channel_name(decoder, t.views), "a name past the last");
        t.status = read_all(decoder, &t, options->chunk_bytes);
        size_t count = t.count;
        double *first = t.samples[0];
        stream.at = 0;
        t.samples[0] = NULL;
        tally_status status = ty_text.rewind(decoder, &t.error);
        if (!status)
            status = read_all(decoder, &t, options->chunk_bytes);
        CHECK_SAY(status == t.status && t.count == count, "rewound: %zu, was %zu", t.count, count);
        CHECK_SAY(!count || memcmp(first, t.samples[0], count * sizeof *first) == 0, "rewound");
        free(first);
        ty_text.close(decoder);
    }
    free(copy);
    return t;
}

static int same(double a, double b)
{
    return a == b || (a != a && b != b);
}

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

/* ---- Cases by hand ---- */

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
    EXPECT("bob,1\nal,2\n", "2", 1.0, 2.0);
    EXPECT("bob,1\nal,2\n7,3\n", "2", 1.0, 2.0, 3.0);
    EXPECT("day,v\n2024-01-01 10:00,1\n2024-01-01 11:00,2\n", "v", 1.0, 2.0);
    EXPECT("year,2019,2020\nx,1,2\ny,3,4\n", "2", 2019.0, 1.0, 3.0); /* no sign of a header */
    EXPECT("k,2\n5,1\n6,3\n", "2", 1.0, 3.0); /* a heading, before a number */
    EXPECT("\"a,b\",\"c \"\"d\"\"\"\n1,2\n", "c \"d\"", 2.0);
    EXPECT("\"a\nb\",c\n1,\"2\"\n\"3\" , \"4\"\n", "c", 2.0, 4.0);
    EXPECT("\"a\r\nb\";c\r\n1;2\r\n", "a\r\nb", 1.0);
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

#define THOUSANDS "; numbers are written without, as 1234 (and with a decimal point)"

static void test_messages(void)
{
    REFUSE("", NULL, "a.csv: empty: no numbers");
    REFUSE("\n \n# x\n\xef", NULL, "a.csv:4:1: expected a number, found '\\xef'");
    REFUSE("\n \n# x\n", NULL, "a.csv: empty: no numbers");
    REFUSE("\xef\xbb\xbf", NULL, "a.csv: empty: no numbers");
    REFUSE("1\n2\nabc\n", NULL, "a.csv:3:1: expected a number, found 'abc'");
    REFUSE("abc", NULL, "a.csv:1:1: expected a number, found 'abc'");
    REFUSE("price\nabc\n1\n", NULL, "a.csv:2:1: expected a number, found 'abc'");
    REFUSE("n,price\nx,y\nz,1\n", "price", "a.csv:2:3: expected a number, found 'y'");
    REFUSE("n,price\nx,\"1,234\"\n", "price",
           "a.csv:2:3: expected a number, found '1,234': a comma between thousands" THOUSANDS);
    REFUSE(
        "price\n1\n-1,234,567.5\n", NULL,
        "a.csv:3:1: expected a number, found '-1,234,567.5': a comma between thousands" THOUSANDS);
    REFUSE("a;b\n1;2\n3;1,5\n", "b",
           "a.csv:3:3: expected a number, found '1,5'; decimal commas are not supported, write a "
           "decimal point");
    REFUSE("\xef\xbb\xbf  abc\n", NULL, "a.csv:1:3: expected a number, found 'abc'");
    REFUSE("1\r\n\r\n# c\r2 3\n", NULL, "a.csv:4:1: expected a number, found '2 3'");
    REFUSE("a,b\n1,2\n3, 4x \n", "b", "a.csv:3:4: expected a number, found '4x'");
    REFUSE("a,b\n1,2\n\"x\ny\n\",\"4\"5\n", "b", "a.csv:5:3: expected a number, found '\"4\"5'");
    REFUSE("a,b\n1,2\n\"x\r\ny\r\",\"q\"\n", "b", "a.csv:5:3: expected a number, found 'q'");
    REFUSE("1\n0x10\n", NULL, "a.csv:2:1: expected a number, found '0x10'");
    REFUSE("1\n1e\n", NULL, "a.csv:2:1: expected a number, found '1e'");
    REFUSE("1\n\xc3\xa9\x01\xff|\n", NULL,
           "a.csv:2:1: expected a number, found '\xc3\xa9\\x01\\xff|'");
    REFUSE("1\n0123456789012345678901234567890123456789012\n1x3456789012345678901234567890123456789"
           "0x\n",
           NULL,
           "a.csv:3:1: expected a number, found '1x34567890123456789012345678901234567890...'");
    REFUSE("x;y\n1;2\n1,5;2\n", "x",
           "a.csv:3:1: expected a number, found '1,5'; decimal commas are not supported, write a "
           "decimal point");
    REFUSE("x;y\n1,5;2,25\n", "y",
           "a.csv:2:5: expected a number, found '2,25'; decimal commas are not supported, write a "
           "decimal point");
    REFUSE("a,b,c\n1,2,3\n4,5\n", "a",
           "a.csv:3: 2 fields, expected 3 as in the first line (the header)");
    REFUSE("1,2\n4,5\n6\n", "1", "a.csv:3: 1 field, expected 2 as in the first line");
    REFUSE("1,2\n4,5\n6,7,8\n", "1", "a.csv:3: 3 fields, expected 2 as in the first line");
    REFUSE("a,b\n1\n", "a", "a.csv:2: 1 field, expected 2 as in the first line (the header)");
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
    ARGUMENT("1,2\n", "x", "a.csv: no column 'x'; there is no header row, choose by number: 1, 2");
    ARGUMENT("a,b,a\n1,2,3\n", "a",
             "a.csv: columns 1 and 3 are both called 'a'; choose one by its number");
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
                           "a.csv:8:1: expected a number, found 'z'");
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

/* ---- Tables at random ---- */

static int pick(int n)
{
    return (int)(next() % (uint64_t)n);
}

typedef struct made {
    char *text;
    size_t size;
    int columns, rows;
    double *values; /* rows × columns; NaN also for text, which is in columns of text only */
    int is_text[12];
} made;

static void put(made *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    m->size += (size_t)vsprintf(m->text + m->size, format, args);
    va_end(args);
}

static void put_blanks(made *m, char delimiter, int least)
{
    for (int i = pick(8) ? least : least + pick(3); i > 0; i--)
        put(m, "%c",
            delimiter == '\t' || delimiter == ' ' || m->columns == 1 || pick(2) ? ' ' : '\t');
}

static double put_value(made *m, char delimiter)
{
    static const char *const missing[] = {"NA", "n/a", "null", "nan", "-", ""};
    static const char *const formats[] = {"%.0f", "%.17g", "%.3f", "%.5e", "%+.2f", "\"%.4f\""};
    int i = pick(20);
    if (i == 0) {
        const char *word = missing[pick(delimiter == ' ' ? 5 : 6)];
        put(m, pick(3) && (*word || m->columns > 1) ? "%s" : "\"%s\"", word);
        return NAN;
    }
    const char *format = formats[pick(6)];
    double x = ((double)next() / 1e15 - 9000) * (pick(3) ? 1 : 1e-9);
    size_t at = m->size;
    put(m, format, x);
    return strtod(m->text + at + (*format == '"'), NULL);
}

static void put_text(made *m, char delimiter, char quote)
{
    static const char *const words[] = {"alpha", "b", "x1", "1x", "na-no"};
    static const char *const quoted[] = {"p,q",  "p\tq",      "p;q",    "p q",
                                         "a\nb", "\"\"q\"\"", "1\r\n2", "#"};
    if (quote || pick(3) == 0)
        put(m, "\"%s\"", quoted[pick(8)]);
    else
        put(m, "%s", words[pick(5)]);
    (void)delimiter;
}

static made make_table(void)
{
    static const char delimiters[] = "\t;, ";
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    made m = {.columns = 1 + pick(12), .rows = 3 + pick(60)};
    char delimiter = delimiters[pick(4)];
    const char *end = ends[pick(3)];
    int header = pick(2), noise = pick(2);
    m.text = malloc(200000);
    m.values = malloc(sizeof(double) * (size_t)(m.rows * m.columns));
    if (!m.text || !m.values)
        abort();
    if (pick(4) == 0)
        put(&m, "\xef\xbb\xbf");
    for (int c = 0; c < m.columns; c++)
        m.is_text[c] = m.columns > 1 && c > 0 && pick(4) == 0;
    for (int r = -header; r < m.rows; r++) {
        if (noise && pick(6) == 0)
            put(&m, "%s%s", pick(2) ? "" : " # \"1,2;", end);
        for (int c = 0; c < m.columns; c++) {
            put_blanks(&m, delimiter, c && delimiter == ' ');
            if (c && delimiter != ' ') {
                put(&m, "%c", delimiter);
                put_blanks(&m, delimiter, 0);
            }
            double value = NAN;
            if (r < 0)
                put(&m, pick(2) ? "h%d" : "\"h%d\"", c);
            else if (m.is_text[c])
                put_text(&m, delimiter, 0);
            else if (r < 3 && c == 0) /* so that the first rows show what the columns are */
                put(&m, "%d", r), value = r;
            else
                value = put_value(&m, delimiter);
            if (r >= 0)
                m.values[r * m.columns + c] = value;
        }
        if (delimiter != '\t')
            put_blanks(&m, delimiter, 0);
        if (r < m.rows - 1 || pick(2))
            put(&m, "%s", end);
    }
    return m;
}

static void check_made(const made *m, const tally_input_options *options, const int *chosen)
{
    table t = read_bytes(m->text, m->size, options);
    uint64_t last = options->row_end ? options->row_end : (uint64_t)m->rows;
    CHECK_SAY(!t.status && t.count == last - options->row_begin,
              "seed state %" PRIu64 ": %s; %zu rows of %d:\n%.*s", state, t.error.message, t.count,
              m->rows, (int)m->size, m->text);
    for (uint32_t v = 0; !t.status && v < t.views; v++) {
        for (size_t i = 0; i < t.count && i < last - options->row_begin; i++) {
            double x = m->values[(options->row_begin + i) * (size_t)m->columns + (size_t)chosen[v]];
            CHECK_SAY(same(x, t.samples[v][i]), "row %zu column %d: %.17g, expected %.17g\n%.*s", i,
                      chosen[v], t.samples[v][i], x, (int)m->size, m->text);
        }
    }
    table_free(&t);
}

static void test_random(int n)
{
    for (int i = 0; i < n; i++) {
        made m = make_table();
        char numbers[4][16];
        const char *columns[4];
        int chosen[4], count = 1 + pick(4);
        for (int k = 0; k < count; k++) {
            do
                chosen[k] = pick(m.columns);
            while (m.is_text[chosen[k]]);
            sprintf(numbers[k], "%d", chosen[k] + 1);
            columns[k] = numbers[k];
        }
        tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
        options.columns = columns;
        options.columns_count = (uint32_t)count;
        options.chunk_bytes = pick(2) ? 0 : 1 + (uint64_t)pick(500);
        if (pick(3) == 0) {
            options.row_begin = (uint64_t)pick(m.rows);
            options.row_end =
                pick(2) ? 0
                        : options.row_begin + 1 + next() % ((uint64_t)m.rows - options.row_begin);
        }
        check_made(&m, &options, chosen);
        free(m.text);
        free(m.values);
    }
}

/* ---- The buffer ---- */

static void test_boundary(void)
{
    static const char body[] =
        "1.25,\"a\r\n\"\"b\",3\r\n\r\n# x\r-4e-1 , NA,\"5\"\r\n6,c,infinity\r\n";
    static char text[2 * BUFFER];
    const char *columns[] = {"3", "1"};
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    options.columns = columns;
    options.columns_count = 2;
    for (size_t k = 0; k <= sizeof body; k++) {
        size_t size = BUFFER - k - 9;
        memcpy(text, "9,9,9\r\n#", 8);
        memset(text + 8, '"', size);
        text[8 + size] = '\r';
        memcpy(text + 9 + size, body, sizeof body - 1);
        table t = read_bytes(text, 9 + size + sizeof body - 1, &options);
        static const double expected[2][4] = {{9, 3, 5, INFINITY}, {9, 1.25, -0.4, 6}};
        CHECK_SAY(!t.status && t.count == 4, "%zu: %s", k, t.error.message);
        for (int v = 0; !t.status && v < 2; v++)
            CHECK_SAY(memcmp(t.samples[v], expected[v], sizeof expected[v]) == 0, "%zu: view %d", k,
                      v);
        table_free(&t);
    }
    for (size_t k = 0; k < 40; k++) { /* one column, the fast way */
        size_t size = 0;
        memset(text, ' ', k);
        size = k;
        for (int i = 0; i < 30000; i++)
            size += (size_t)sprintf(text + size, "%d.%05d%s", i, i, i % 3 ? "\n" : "\r\n");
        table t = read_bytes(text, size, NULL);
        CHECK_SAY(!t.status && t.count == 30000, "%zu: %s, %zu", k, t.error.message, t.count);
        for (int i = 0; !t.status && i < 30000; i++)
            CHECK_SAY(fabs(t.samples[0][i] - i - i * 1e-5) < 1e-9, "%d: %g", i, t.samples[0][i]);
        table_free(&t);
    }
}

static void test_long_lines(void)
{
    size_t room = (size_t)70 << 20;
    char *text = malloc(room);
    if (!text)
        abort();
    const char *column = "2";
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    options.columns = &column;
    options.columns_count = 1;
    /* a field of 3 MiB in the third row, and a header of 300 KiB */
    size_t size = 0;
    for (int i = 0; i < 2; i++) {
        text[size++] = 'n';
        memset(text + size, 'x', 300 << 10);
        size += i ? 3 << 20 : 300 << 10;
        memset(text + size - (i ? 3 << 20 : 0), 'x', i ? 3 << 20 : 0);
        size += (size_t)sprintf(text + size, ",%s\nq,1\n", i ? "2" : "v");
    }
    table t = read_bytes(text, size, &options);
    CHECK_SAY(!t.status && t.count == 3 && t.samples[0][1] == 2, "%s", t.error.message);
    table_free(&t);
    /* beyond the cap */
    memcpy(text, "a,b\n1,2\n", 8);
    memset(text + 8, 'x', room - 8);
    t = read_bytes(text, room, &options);
    CHECK_SAY(t.status == TALLY_ERROR_FORMAT &&
                  strcmp(t.error.message,
                         "a.csv:3: a line of more than 64 MiB, or a quote that is not "
                         "closed; lines end in LF, CR LF or CR") == 0,
              "%s", t.error.message);
    table_free(&t);
    free(text);
}

/* ---- Failures from outside ---- */

static void test_failures(void)
{
    static const char text[] = "a,\"b\"\n1,2\n3,4\n";
    const char *columns[] = {"b", "a"};
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    options.columns = columns;
    options.columns_count = 2;
    int failed = 0;
    for (long after = 0;; after++) {
        ty_stream stream = {text, sizeof text - 1, 0, 0};
        tally_input_info info = {.struct_size = sizeof info};
        tally_error error = {""};
        void *decoder = NULL;
        ty_alloc_fail_after(after);
        tally_status status = ty_text.open(&stream, &options, &decoder, &info, &error);
        ty_alloc_fail_after(-1);
        if (!status) {
            ty_text.close(decoder);
            break;
        }
        failed++;
        CHECK_SAY(status == TALLY_ERROR_MEMORY && strstr(error.message, "out of memory") &&
                      !decoder,
                  "allocation %ld: %d %s", after, status, error.message);
    }
    CHECK_SAY(failed >= 8, "only %d allocations", failed);

    size_t size = 2 * BUFFER;
    char *numbers = malloc(size);
    if (!numbers)
        abort();
    for (size_t i = 0; i < size; i += 2)
        memcpy(numbers + i, "1\n", 2);
    ty_stream stream = {numbers, size, 0, BUFFER + 1};
    tally_input_info info = {.struct_size = sizeof info};
    tally_error error = {""};
    tally_input_options none = TALLY_INPUT_OPTIONS_INIT;
    void *decoder;
    CHECK_SAY(!ty_text.open(&stream, &none, &decoder, &info, &error), "%s", error.message);
    tally_view view;
    int done;
    CHECK_SAY(ty_text.read(decoder, &view, &done, &error) == TALLY_ERROR_IO &&
                  strcmp(error.message, "the disk is on fire") == 0,
              "%s", error.message);
    CHECK_SAY(ty_text.rewind(decoder, NULL) == TALLY_ERROR_IO, "rewound into a failing stream");
    ty_text.close(decoder);
    free(numbers);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : 20240607;
    printf("test_text: seed %" PRIu64 "\n", state);
    test_lines();
    test_layouts();
    test_messages();
    test_list();
    test_names();
    test_region();
    test_probe();
    test_random(5000);
    test_boundary();
    test_long_lines();
    test_failures();
    printf("test_text: %d failures\n", failures);
    return failures != 0;
}
