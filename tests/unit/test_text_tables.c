/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text decoder, over a stream that is a block of memory. `test_text_tables [SEED [TABLES]]`
 *
 * Tables are made at random with their values known, in every delimiter, line end and kind of
 * quoting; then the buffer's boundary at every byte, long lines, and failing allocations.
 */
#include "draw.h"
#include "text_help.h"

#include <math.h>
#include <stdarg.h>

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
        ty_stream stream = {.bytes = text, .size = sizeof text - 1};
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
    ty_stream stream = {.bytes = numbers, .size = size, .fails_at = BUFFER + 1};
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
    printf("seed %" PRIu64 "\n", state);
    test_random(argc > 2 ? atoi(argv[2]) : 5000);
    test_boundary();
    test_long_lines();
    test_failures();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
