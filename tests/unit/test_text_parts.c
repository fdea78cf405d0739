/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text read in parts of any size, against the same records read one by one: values to the bit,
 * what is refused and the words for it. `test_text_parts [SEED]`
 *
 * A region of rows is read one by one. Of a text that is good, the region of all its rows must hold
 * the same; of one that is refused, the region of one row more than were read must be refused in
 * the same words.
 */
#define FIRST_CAPACITY buffer_bytes
#define THREAD_BYTES   (buffer_bytes / 2)
#define MARGIN         margin_bytes
#include <stddef.h>
static size_t buffer_bytes, margin_bytes;
#include "draw.h"
#include "memory_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/number.h"

enum { MOST = 1 << 16, VIEWS = 3, NUMBERS = 100000 };

static int failures;
static size_t fails_at;            /* of a stream */
static size_t batches, by_batches; /* and bytes that they read */
static ty_pool *pool;

/* ---- Reading all of a text ---- */

typedef struct table {
    tally_status status;
    tally_error error;
    size_t count;
    double *samples[VIEWS];
} table;

static void table_free(table *t)
{
    for (int v = 0; v < VIEWS; v++)
        free(t->samples[v]);
}

/* All of the decoder's samples from where it is, added to `t`. */
static tally_status read_pass(void *decoder, uint32_t views, table *t)
{
    t->count = 0;
    for (int done = 0;;) {
        tally_view view[VIEWS];
        tally_status status = ty_text.read(decoder, view, &done, &t->error);
        if (status || done)
            return status;
        size_t n = view[0].columns;
        for (uint32_t v = 0; v < views; v++) {
            t->samples[v] = realloc(t->samples[v], (t->count + n) * sizeof(double));
            if (!t->samples[v])
                abort();
            memcpy(t->samples[v] + t->count, view[v].data, n * sizeof(double));
        }
        t->count += n;
    }
}

/* Again what was kept of a text, which must be the same; of the first passes it reads but a chunk.
 */
static void read_again(void *decoder, uint32_t views, const table *first)
{
    tally_view view[VIEWS];
    int done;
    for (int pass = 0; pass < 3; pass++) {
        table t = {.status = TALLY_OK};
        if (ty_text.rewind(decoder, &t.error))
            abort();
        if (pass < 2 && below(2)) {
            ty_text.read(decoder, view, &done, &t.error);
            continue;
        }
        t.status = read_pass(decoder, views, &t);
        int same = t.status == first->status && t.count == first->count;
        for (uint32_t v = 0; same && v < views; v++)
            same = !t.count || !memcmp(t.samples[v], first->samples[v], t.count * sizeof(double));
        if (!same || (t.status && strcmp(t.error.message, first->error.message) != 0)) {
            fprintf(stderr, "pass %d differs: %zu rows, %zu at first\n", pass, t.count,
                    first->count);
            failures++;
        }
        table_free(&t);
    }
}

/* Reads `rows` rows, one by one, or all by parts of `part` bytes if that is not 0. */
static table read_text(const char *text, size_t size, uint32_t views, size_t part, uint64_t rows)
{
    static const char *const columns[VIEWS] = {"2", "3", "1"};
    table t = {.status = TALLY_OK};
    ty_stream stream = {.bytes = text,
                        .size = size,
                        .fails_at = fails_at,
                        .pool = pool,
                        .is_file = part && below(4)};
    tally_input_info info = {.struct_size = sizeof info};
    tally_input_options options = TALLY_INPUT_OPTIONS_INIT;
    void *decoder;
    options.columns = views ? columns : NULL;
    options.columns_count = views;
    options.row_end = part ? 0 : rows;
    options.chunk_bytes = below(2) ? 0 : 1 + below(2000);
    options.rewindable = (int32_t)below(2);
    ty_keep_limit(below(2) ? UINT64_MAX : below(3000)); /* behind it in a file */
    ty_block_part_size(part);
    t.status = ty_text.open(&stream, &options, &decoder, &info, &t.error);
    if (t.status)
        return t;
    t.status = read_pass(decoder, info.dimensions, &t);
    if (options.rewindable)
        read_again(decoder, info.dimensions, &t);
    batches += stream.skipped > 0;
    by_batches += stream.skipped;
    ty_text.close(decoder);
    return t;
}

static void complain(const char *text, size_t size, size_t part, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "parts of %zu: ", part);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    if (size < 4000)
        fprintf(stderr, "----\n%.*s\n----\n", (int)size, text);
    if (++failures > 5)
        exit(1);
}

static void compare(const char *text, size_t size, uint32_t views, size_t part)
{
    table t = read_text(text, size, views, part, 0);
    if (t.status || t.count) {
        table s = read_text(text, size, views, 0, t.count + (t.status != TALLY_OK));
        if (s.status != t.status || (t.status && strcmp(s.error.message, t.error.message) != 0))
            complain(text, size, part, "\"%s\", one by one \"%s\"", t.error.message,
                     s.error.message);
        else if (!t.status && s.count != t.count)
            complain(text, size, part, "%zu rows, one by one %zu", t.count, s.count);
        for (uint32_t v = 0; !t.status && !s.status && v < (views ? views : 1); v++)
            if (s.count == t.count &&
                memcmp(s.samples[v], t.samples[v], t.count * sizeof(double)) != 0)
                complain(text, size, part, "view %u differs", v);
        table_free(&s);
    }
    table_free(&t);
}

static void check(const char *text, size_t size, uint32_t views, size_t part)
{
    margin_bytes = 1 + below(100);
    buffer_bytes = part < 1 << 20 ? 200 + below(400) : 1 << 20; /* the layout is told from it */
    compare(text, size, views, part);
}

/* ---- Texts ---- */

typedef struct text {
    char *bytes;
    size_t size;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    t->size += (size_t)vsnprintf(t->bytes + t->size, MOST - t->size, format, list);
    va_end(list);
}

static void put_number(text *t)
{
    static const char *const words[] = {"", "nan", "-", "NA", "-inf", "1e5", "+2.5", "-.5", "7."};
    if (below(2000) == 0)
        put(t, "%s", below(2) ? "." : "-");
    else if (below(6) == 0)
        put(t, "%s", words[below(sizeof words / sizeof *words)]);
    else
        put(t, "%.*f", (int)below(8), (unit() - 0.3) * pow(10, (double)below(9)));
}

/* A field, unusual with `odd` in 100; `any`: it need not be a number. */
static void put_field(text *t, char delimiter, unsigned odd, int any)
{
    if (below(100) >= odd) {
        put_number(t);
    } else if (below(3) == 0) {
        put(t, "%*s", (int)below(3), "");
        put_number(t);
        put(t, "%*s", (int)below(3), "");
    } else {
        put(t, "\"");
        if (!any || below(3) == 0)
            put_number(t);
        else
            for (unsigned n = below(4); n--;)
                put(t, "%s", below(2) ? "\n" : below(2) ? "\"\"" : below(2) ? "x" : "\r\n");
        if (any && below(3) == 0)
            put(t, "%c", delimiter);
        put(t, "\"%s", !any || below(8) ? "" : "x");
    }
}

static text make_text(char delimiter, const char *line_end, unsigned fields, unsigned odd)
{
    text t = {malloc(MOST), 0};
    if (!t.bytes)
        abort();
    for (unsigned f = 0; f < fields; f++)
        put(&t, "%s%c%s", below(2) ? "" : " ", 'a' + (char)f,
            f + 1 < fields ? (char[]){delimiter, 0} : "");
    put(&t, "%s", line_end);
    for (unsigned f = 0; f < fields; f++)
        put(&t, "%u%s", f, f + 1 < fields ? (char[]){delimiter, 0} : "");
    put(&t, "%s", line_end);
    for (unsigned rows = below(60); rows--;) {
        if (below(100) < odd)
            put(&t, "%s", below(2) ? "" : below(2) ? "# it's \"so" : " \t");
        for (unsigned f = 0; f < fields; f++) {
            put_field(&t, delimiter, odd, f >= VIEWS);
            if (f + 1 < fields)
                put(&t, "%c", delimiter);
        }
        put(&t, "%s", rows || below(2) ? line_end : "");
    }
    return t;
}

/* Bytes that mean something, where others were. */
static void damage(text *t, unsigned times)
{
    static const char bytes[] = "\"\"\n\r,;\t #x\0\xff";
    while (times-- && t->size > 20)
        t->bytes[20 + below(t->size - 20)] = bytes[below(sizeof bytes - 1)];
}

static void test_random(int n)
{
    static const char delimiters[] = {',', ';', '\t', ' '};
    static const char *const line_ends[] = {"\n", "\r\n", "\r"};
    for (int i = 0; i < n; i++) {
        unsigned fields = (unsigned)(3 + below(5)), odd = below(2) ? 0 : (unsigned)below(30);
        if (below(20) == 0)
            fields = 60 + (unsigned)below(20);
        if (below(6) == 0)
            fields = 1;
        text t = make_text(delimiters[below(4)], line_ends[below(3)], fields, odd);
        damage(&t, below(2) ? 0 : (unsigned)below(4));
        uint32_t views = fields == 1 ? 0 : (uint32_t)(1 + below(VIEWS));
        check(t.bytes, t.size, views, 1 + below(8));
        check(t.bytes, t.size, views, 1 + below(200));
        check(t.bytes, t.size, views, 1 << 20);
        free(t.bytes);
    }
}

/* The records of `given` once more between plain ones, behind what is read before batches begin. */
static text make_long(const char *given)
{
    const char *line_end = strstr(given, "\r\n") ? "\r\n" : strchr(given, '\n') ? "\n" : "\r";
    const char *records = strstr(given, line_end) + strlen(line_end);
    text t = {malloc(MOST), 0};
    if (!t.bytes)
        abort();
    put(&t, "a,b,c%s", line_end);
    for (int i = 0; i < 150; i++)
        put(&t, "%d,,7%s%s", i, line_end, i == 120 ? records : "");
    return t;
}

/* A border at every byte. */
static void test_borders(void)
{
    static const char *const texts[] = {
        "a,b,c\n1,2,3\n4,\"5\",6\n\"7\n,\"\"\",8,9\n\n# \"\n10,11,\"1\r\n2\"\n13,14,15\n",
        "a,b,c\r\n1,2,3\r\n4,\"5\",6\r\n\"7\r\n,\"\"\",8,9\r\n\r\n10,11,\"1\r2\"\r\n13,14,15\r\n",
        "a,b,c\r1,2,3\r4,\"5\",6\r\"7\r,\"\"\",8,9\r\r10,11,\"1\r2\"\r13,14,15\r",
        "a,b,c\n1,2,3\n5\",4,6\nx\",7,8\n\"9,10,11\n\",1,2\n\"\"\"x\",3,4\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t size = strlen(texts[i]);
        for (size_t part = 1; part <= size + 1; part++) {
            check(texts[i], size, 1, part);
            check(texts[i], size, 3, part);
        }
        text t = make_long(texts[i]);
        for (size_t part = 1; part <= 150; part++)
            check(t.bytes, t.size, 1 + part % 3, part);
        free(t.bytes);
    }
}

/* ---- What ends a batch ---- */

static text make_rows(int rows, const char *row)
{
    text t = {malloc(MOST), 0};
    if (!t.bytes)
        abort();
    put(&t, "a,b,c\r\n");
    while (rows--)
        put(&t, "%s\r\n", row);
    return t;
}

static void test_batches(void)
{
    buffer_bytes = 200;
    margin_bytes = 64;
    /* Line ends in quotes: it is known where parts begin, and so batches read most of the text. */
    text t = make_rows(1000, "1,2,\"3\n4\n5\n6\n7\n8\n9\n1\n2\n3\n4\n5\n6\"");
    const size_t before = by_batches, texts = batches;
    for (int i = 0; i < 20; i++)
        compare(t.bytes, t.size, 1, 70);
    if (by_batches - before < (batches - texts) * t.size * 3 / 4)
        complain(t.bytes, t.size, 70, "%zu bytes in batches", by_batches - before);
    free(t.bytes);
    /* Far more rows than those before let expect. */
    t = make_rows(20, "1,2,333333333333333333333333333333333333333333333333333333333333");
    for (int i = 0; i < 5000; i++)
        put(&t, ",%d,\r\n", i % 10);
    for (int i = 0; i < 20; i++)
        compare(t.bytes, t.size, 3, 150);
    free(t.bytes);
    /* A CR that is the last byte at hand. */
    for (int size = 280; size < 320; size++) {
        t = make_rows(10, "1,2,3");
        put(&t, "%0*d,2,3\r\n", size, 1);
        for (int i = 0; i < 400; i++)
            put(&t, "1,%s,3\r\n", i == 300 ? "x" : "2");
        for (int i = 0; i < 4; i++)
            compare(t.bytes, t.size, 1, 50);
        free(t.bytes);
    }
}

static void test_failure(void)
{
    text t = make_rows(1000, "1,2,3");
    fails_at = t.size * 3 / 4;
    for (int i = 0; i < 50; i++) {
        table got = read_text(t.bytes, t.size, 1, 70, 0);
        if (got.status != TALLY_ERROR_IO || got.count > fails_at / 7)
            complain(t.bytes, t.size, 70, "%zu rows of a file that cannot be read: %s", got.count,
                     got.error.message);
        table_free(&got);
    }
    fails_at = 0;
    free(t.bytes);
}

/* ---- Numbers ---- */

static void put_digits(text *t, unsigned most)
{
    for (unsigned n = below(most + 1); n--;)
        put(t, "%u", below(3) ? (unsigned)below(10) : below(2) ? 9 : 0);
}

/* Every field as the parser of single numbers has it, to the bit. */
static void test_numbers(void)
{
    text t = {malloc(64 * NUMBERS), 0};
    double *expected = malloc(NUMBERS * sizeof *expected);
    if (!t.bytes || !expected)
        abort();
    char *at = t.bytes;
    at += sprintf(at, "a;b;c\n");
    for (size_t i = 0; i < NUMBERS; i++) {
        char bytes[64];
        text number = {bytes, 0};
        const char *end = NULL;
        while (!end || end != bytes + number.size) {
            number.size = 0;
            put(&number, "%s", below(3) ? "" : below(4) ? "-" : "+");
            put_digits(&number, 9);
            put(&number, "%s", below(3) ? "." : "");
            put_digits(&number, below(2) ? 6 : 12);
            if (below(10) == 0)
                put(&number, "e%d", (int)below(60) - 30);
            end = ty_number_parse(bytes, bytes + number.size, expected + i);
        }
        at += sprintf(at, i % 2 ? "x;%.*s;y\n" : "\"x\";\"%.*s\";\n", (int)number.size, bytes);
    }
    t.size = (size_t)(at - t.bytes);
    buffer_bytes = 1 << 18;
    table got = read_text(t.bytes, t.size, 1, 1 << 16, 0);
    if (got.status || got.count != NUMBERS)
        complain(t.bytes, t.size, 0, "%zu numbers: %s", got.count, got.error.message);
    for (size_t i = 0; i < got.count && !got.status; i++)
        if (memcmp(got.samples[0] + i, expected + i, sizeof *expected) != 0)
            complain(t.bytes, t.size, 0, "number %zu is %.17g, not %.17g", i, got.samples[0][i],
                     expected[i]);
    table_free(&got);
    free(expected);
    free(t.bytes);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261122;
    printf("test_text_parts: seed %" PRIu64 "\n", state);
    pool = ty_pool_create(3);
    test_borders();
    test_batches();
    test_failure();
    test_random(argc > 2 ? atoi(argv[2]) : 1500);
    test_numbers();
    if (pool)
        ty_pool_destroy(pool);
    printf("test_text_parts: %zu texts with batches, of %zu bytes, %d failures\n", batches,
           by_batches, failures);
    failures += !batches;
    return failures != 0;
}
