/* SPDX-License-Identifier: Apache-2.0 */
/* ZIP archives, as npz files are: what is in them is read as if it lay outside; directories that
 * lie are refused. */
#include "input_help.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if TALLY_HAVE_ZLIB
#include <zlib.h>
#endif

static void put(blob *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        const unsigned char byte = (unsigned char)(value >> 8 * i);
        blob_add(to, &byte, 1);
    }
}

/* ---- Archives ---- */

typedef struct entry {
    const char *name;
    int method;
    uint64_t at, stored, size;
    uint32_t check;
    int wide; /* sizes and place are zip64's */
} entry;

typedef struct archive {
    blob bytes;
    entry entries[8];
    unsigned count;
} archive;

static uint32_t check_of(const blob *b)
{
#if TALLY_HAVE_ZLIB
    return (uint32_t)crc32(0, b->bytes, (unsigned)b->size);
#else
    (void)b;
    return 0;
#endif
}

/* Deflated without header, from a gzip member. */
static blob deflated(const blob *b)
{
    blob out = {0}, packed = help_gzip(b->bytes, b->size);
    if (packed.size)
        blob_add(&out, packed.bytes + 10, packed.size - 18);
    blob_free(&packed);
    return out;
}

static void add_file(archive *a, const char *name, const blob *b, int method, int wide)
{
    blob packed = {0};
    entry *e = a->entries + a->count++;
    if (method == 8)
        packed = deflated(b);
    else
        blob_add(&packed, b->bytes, b->size);
    *e = (entry){name, method, a->bytes.size, packed.size, b->size, check_of(b), wide};
    const size_t extra = help_below(2) ? 0 : 4 + help_below(40);
    put(&a->bytes, 0x04034b50, 4);
    put(&a->bytes, 20, 2);
    put(&a->bytes, 0, 2);
    put(&a->bytes, (uint64_t)method, 2);
    put(&a->bytes, 0, 4);
    put(&a->bytes, e->check, 4);
    put(&a->bytes, wide ? UINT32_MAX : e->stored, 4);
    put(&a->bytes, wide ? UINT32_MAX : e->size, 4);
    put(&a->bytes, strlen(name), 2);
    put(&a->bytes, extra, 2);
    blob_text(&a->bytes, name);
    if (extra) {
        put(&a->bytes, 0x9999, 2);
        put(&a->bytes, extra - 4, 2);
        for (size_t i = 4; i < extra; i++)
            put(&a->bytes, 0, 1);
    }
    blob_add(&a->bytes, packed.bytes, packed.size);
    blob_free(&packed);
}

static void add_record(blob *to, const entry *e)
{
    put(to, 0x02014b50, 4);
    put(to, 45, 2);
    put(to, 45, 2);
    put(to, 0, 2);
    put(to, (uint64_t)e->method, 2);
    put(to, 0, 4);
    put(to, e->check, 4);
    put(to, e->wide ? UINT32_MAX : e->stored, 4);
    put(to, e->wide ? UINT32_MAX : e->size, 4);
    put(to, strlen(e->name), 2);
    put(to, e->wide ? 4 + 6 + 4 + 24 : 0, 2);
    put(to, 3, 2); /* a comment */
    put(to, 0, 8);
    put(to, e->wide ? UINT32_MAX : e->at, 4);
    blob_text(to, e->name);
    if (e->wide) {
        put(to, 0x5455, 2); /* another field in front */
        put(to, 6, 2);
        put(to, 0, 6);
        put(to, 1, 2);
        put(to, 24, 2);
        put(to, e->size, 8);
        put(to, e->stored, 8);
        put(to, e->at, 8);
    }
    blob_text(to, "abc");
}

/* Ends it: with a directory of `count` entries, of which `count` are said to be. */
static void add_end(archive *a, int wide)
{
    const uint64_t at = a->bytes.size;
    for (unsigned i = 0; i < a->count; i++)
        add_record(&a->bytes, a->entries + i);
    const uint64_t size = a->bytes.size - at, end = a->bytes.size;
    if (wide) {
        put(&a->bytes, 0x06064b50, 4);
        put(&a->bytes, 44, 8);
        put(&a->bytes, 45, 4);
        put(&a->bytes, 0, 8);
        put(&a->bytes, a->count, 8);
        put(&a->bytes, a->count, 8);
        put(&a->bytes, size, 8);
        put(&a->bytes, at, 8);
        put(&a->bytes, 0x07064b50, 4);
        put(&a->bytes, 0, 4);
        put(&a->bytes, end, 8);
        put(&a->bytes, 1, 4);
    }
    put(&a->bytes, 0x06054b50, 4);
    put(&a->bytes, 0, 4);
    put(&a->bytes, wide ? UINT16_MAX : a->count, 2);
    put(&a->bytes, wide ? UINT16_MAX : a->count, 2);
    put(&a->bytes, wide ? UINT32_MAX : size, 4);
    put(&a->bytes, wide ? UINT32_MAX : at, 4);
    put(&a->bytes, 5, 2);
    blob_text(&a->bytes, "PK\5\6!"); /* a comment like an end */
}

static blob array_of(size_t rows)
{
    blob b = {0};
    char head[128] = "\x93NUMPY\1", *text = head + 10;
    const int length = snprintf(
        text, 100, "{'descr': '<u2', 'fortran_order': False, 'shape': (%zu, 4), }\n", rows);
    head[8] = (char)length;
    head[7] = 0;
    blob_add(&b, head, 10 + (size_t)length);
    for (size_t i = 0; i < rows; i++)
        put(&b, i % 7 + (help_random() & 0x00ff00ff00ff00ffu), 8);
    return b;
}

static archive make(const blob *arrays, int methods, int wide)
{
    archive a = {0};
    static const char *const names[] = {"one.npy", "folder/two.npy", "x:y.npy"};
    for (int i = 0; i < 3; i++)
        add_file(&a, names[i], arrays + i, methods >> i & 1 ? 8 : 0, wide);
    add_end(&a, wide);
    return a;
}

/* ---- Tests ---- */

static void check_array(const char *file, const char *inside, const blob *array, uint32_t threads)
{
    char path[512];
    contents c;
    tally_error error = {""};
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    o.threads = threads;
    o.chunk_bytes = 20000;
    snprintf(path, sizeof path, "%s:%s", file, inside);
    const size_t from = 10 + array->bytes[8];
    const tally_status status = help_read(path, &o, 2, &c, &error);
    CHECK_SAY(!status && !strcmp(c.info.format, "npy") && c.samples.size == array->size - from &&
                  !memcmp(c.samples.bytes, array->bytes + from, c.samples.size),
              "%s: %s", path, error.message);
    if (!status)
        blob_free(&c.samples);
}

static unsigned lends;

/* Every thread reads its own part of what is stored. */
static void check_view(const char *file, const char *inside, const blob *array, int stored)
{
    char path[512];
    tally_view view;
    tally_input *in = NULL;
    tally_error error = {""};
    uint16_t samples[40];
    const size_t from = 10 + array->bytes[8];
    snprintf(path, sizeof path, "%s:%s", file, inside);
    if (!CHECK(!tally_input_open(path, NULL, &in, &error) && !tally_input_view(in, &view, &error)))
        return;
    CHECK(!view.source == !stored);
    for (int i = 0; view.source && i < 5; i++) {
        const uint64_t at = help_below(view.rows * view.columns - 10);
        CHECK(!view.source->read(view.source->user, at, 10, samples, &error));
        CHECK(!memcmp(samples, array->bytes + from + 2 * at, 20));
        const void *lent = view.source->lend(view.source->user, at, 10);
        if (lent) { /* file systems of which it is not are left out */
            CHECK(!memcmp(lent, array->bytes + from + 2 * at, 20));
            view.source->give_back(view.source->user, lent, at, 10);
            lends++;
        }
    }
    tally_input_close(in);
}

static void test_arrays(const blob *arrays)
{
    static const char *const names[] = {"one", "folder/two.npy", "x:y"};
    for (int methods = 0; methods < 8; methods++) {
        archive a = make(arrays, methods, methods & 1);
        const char *path = help_write("some.npz", a.bytes.bytes, a.bytes.size);
        for (int i = 0; i < 3; i++) {
            if (methods >> i & 1 && !TALLY_HAVE_ZLIB)
                continue;
            check_array(path, names[i], arrays + i, 1);
            check_array(path, names[i], arrays + i, 3);
            check_view(path, names[i], arrays + i, !(methods >> i & 1));
        }
        EXPECT_FAIL(path, NULL, TALLY_ERROR_ARGUMENT, "one, folder/two, x:y; choose one as ");
        char other[300];
        snprintf(other, sizeof other, "%s:three", path);
        EXPECT_FAIL(other, NULL, TALLY_ERROR_ARGUMENT,
                    "nothing is called 'three' in it; there are: one");
        blob_free(&a.bytes);
    }
}

/* All of it in parts of any size and order, some twice: 0 if a part was refused. */
static int read_parts(const char *path, uint64_t elements)
{
    tally_view view;
    tally_input *in = NULL;
    tally_error error = {""};
    static uint16_t samples[110000 * 4];
    int good = 1;
    if (!CHECK(!tally_input_open(path, NULL, &in, &error) && !tally_input_view(in, &view, &error) &&
               view.source))
        return 0;
    const uint64_t part = 1 + help_below(elements / 20), parts = (elements + part - 1) / part;
    for (uint64_t i = 0, at = help_below(parts); i < 2 * parts && good; i++) {
        at = i % 2 ? parts - 1 - at : (at + 1) % parts; /* from both ends */
        uint64_t n = (elements - at * part < part ? elements - at * part : part) + help_below(9);
        n = n > elements - at * part ? elements - at * part : n;
        const void *lent =
            help_below(2) ? view.source->lend(view.source->user, at * part, n) : NULL;
        if (lent)
            view.source->give_back(view.source->user, lent, at * part, n);
        else
            good = !view.source->read(view.source->user, at * part, n, samples, &error);
    }
    for (uint64_t at = 0; at < parts && good; at++)
        good = !view.source->read(view.source->user, at * part,
                                  elements - at * part < part ? elements - at * part : part,
                                  samples, &error);
    CHECK(good || strstr(error.message, "has a checksum of"));
    tally_input_close(in);
    return good;
}

/* Bytes of a stored file that are others than the archive says are an error, once all were read. */
static void test_checksums(const blob *array)
{
    const uint64_t elements = (array->size - 10 - array->bytes[8]) / 2;
    for (int right = 0; right < 2; right++) {
        archive a = {0};
        tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
        add_file(&a, "only.npy", array, 0, 0);
        a.entries[0].check ^= right ? 0 : 1u << help_below(32);
        add_end(&a, 0);
        const char *path = help_write("sum.npz", a.bytes.bytes, a.bytes.size);
        for (int i = 0; i < 4; i++)
            CHECK(read_parts(path, elements) == right);
        for (o.threads = 1; o.threads < 4 && !right; o.threads += 2)
            EXPECT_FAIL(path, &o, TALLY_ERROR_FORMAT, "has a checksum of");
        blob_free(&a.bytes);
    }
}

/* The only file of any format, also from a pipe; raw data if it is named. */
static void test_only(const blob *array)
{
    const size_t from = 10 + array->bytes[8];
    for (int method = 0; method <= (TALLY_HAVE_ZLIB ? 8 : 0); method += 8) {
        archive a = {0};
        contents c;
        tally_error error = {""};
        add_file(&a, "only.npy", array, method, 0);
        add_end(&a, 0);
        if (CHECK_SAY(!help_read_piped(a.bytes.bytes, a.bytes.size, NULL, 1, &c, &error), "%s",
                      error.message)) {
            CHECK(c.samples.size == array->size - from &&
                  !strcmp(c.info.compression, method ? "deflate" : ""));
            blob_free(&c.samples);
        }
        const char *path = help_write("only.npz", a.bytes.bytes, a.bytes.size);
        tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
        o.dtype = TALLY_U8;
        o.inside = "only.npy";
        CHECK(!help_read(path, &o, 1, &c, &error) && c.samples.size == array->size);
        blob_free(&c.samples);
        o.inside = NULL;
        CHECK(!help_read(path, &o, 1, &c, &error) && c.samples.size == a.bytes.size);
        blob_free(&c.samples);
        help_starve(path, NULL);
        blob_free(&a.bytes);
    }
}

static void expect(const archive *a, tally_status status, const char *words)
{
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    o.inside = "one";
    EXPECT_FAIL(help_write("bad.npz", a->bytes.bytes, a->bytes.size), &o, status, words);
}

/* One thing is not true. */
static void test_lies(const blob *array)
{
    for (int lie = 0; lie < 9; lie++) {
        archive a = {0};
        tally_status status = TALLY_ERROR_FORMAT;
        const char *words = "damaged";
        add_file(&a, "one.npy", array, TALLY_HAVE_ZLIB && lie < 3 ? 8 : 0, 0);
        add_file(&a, "two.npy", array, 0, 0);
        entry *e = a.entries;
        if (lie == 0)
            e->size += 1;
        else if (lie == 1)
            e->size = (uint64_t)1 << 31, words = "2147483648 bytes cannot be ";
        else if (lie == 2)
            e->check ^= 1;
        else if (lie == 3)
            e->size += 1, words = "packed ones";
        else if (lie == 4)
            e[1].at = e[0].at + 1, words = "lie over each other";
        else if (lie == 5)
            e->stored = e->size = array->size + 2000, words = "lie over each other";
        else if (lie == 6)
            e[1].name = "one.npy", status = TALLY_ERROR_UNSUPPORTED,
            words = "two files in it are called 'one'";
        else if (lie == 7)
            a.bytes.bytes[26]++, words = "a file of this ZIP archive";
        else
            e->wide = 1, e->at = (uint64_t)1 << 62, words = "lie over each other";
        add_end(&a, 0);
        if (TALLY_HAVE_ZLIB || lie > 2)
            expect(&a, status, words);
        blob_free(&a.bytes);
    }
}

static void test_refused(const blob *array)
{
    archive a = {0};
    add_file(&a, "one.npy", array, 12, 0);
    add_end(&a, 0);
    expect(&a, TALLY_ERROR_UNSUPPORTED, "method 12");
    blob_free(&a.bytes);
    archive b = {0};
    add_file(&b, "one.npy", array, 0, 0);
    b.bytes.bytes[6] |= 1;
    add_end(&b, 0);
    expect(&b, TALLY_ERROR_UNSUPPORTED, "encrypted");
    blob_free(&b.bytes);
    archive none = {0};
    add_end(&none, 0);
    expect(&none, TALLY_ERROR_FORMAT, "no file is in this ZIP archive");
    blob_free(&none.bytes);
    archive empty = {0};
    const blob nothing = {0};
    add_file(&empty, "one.npy", &nothing, 0, 0);
    add_end(&empty, 0);
    expect(&empty, TALLY_ERROR_FORMAT, "empty");
    blob_free(&empty.bytes);
}

static void test_damage(const blob *array)
{
    for (int times = 0; times < 4; times++) {
        archive a = {0};
        tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
        o.inside = "one";
        add_file(&a, "one.npy", array, times % 2 && TALLY_HAVE_ZLIB ? 8 : 0, times > 1);
        add_end(&a, times > 1);
        help_cut_everywhere("cut.npz", &a.bytes, 4, 0, &o);
        help_damage("damaged.npz", &a.bytes, &o, 200);
        blob_free(&a.bytes);
    }
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    blob arrays[3], small = array_of(5), large = array_of(100000 + (size_t)help_below(10000));
    for (int i = 0; i < 3; i++)
        arrays[i] = array_of(3000 + (size_t)help_below(4000));
    test_arrays(arrays);
    test_only(arrays);
    if (TALLY_HAVE_ZLIB)
        test_checksums(&large);
    test_lies(arrays);
    test_refused(&small);
    test_damage(&small);
    for (int i = 0; i < 3; i++)
        blob_free(arrays + i);
    blob_free(&small);
    blob_free(&large);
    printf("%u parts lent\n", lends);
    return help_end();
}
