/* SPDX-License-Identifier: Apache-2.0 */
/* Streams (pipes, gzip, zstd), raw data, .npy, and how inputs are told apart. */
#include "input_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tally_input_options raw_options(tally_dtype dtype)
{
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    o.dtype = dtype;
    return o;
}

static int same(const blob *a, const blob *b)
{
    return a->size == b->size && (!a->size || !memcmp(a->bytes, b->bytes, a->size));
}

/* `samples` must come out of `file` read plainly, through a pipe, and compressed either way. */
static void check_all_ways(const blob *file, const blob *samples, tally_input_options o)
{
    static const char *const packings[] = {"", "gzip", "zstd"};
    blob packed[3] = {*file, help_gzip(file->bytes, file->size),
                      help_zstd(file->bytes, file->size)};
    for (int p = 0; p < 3; p++) {
        if (!packed[p].bytes)
            continue;
        tally_error error = {""};
        contents c;
        const char *path = help_write("data", packed[p].bytes, packed[p].size);
        tally_status status = help_read(path, &o, 2, &c, &error);
        CHECK_SAY(!status && same(&c.samples, samples), "%s file: %s", packings[p], error.message);
        CHECK(status || (!strcmp(c.info.compression, packings[p]) && !c.info.is_spooled));
        blob_free(&c.samples);

        o.rewindable = 1;
        status = help_read_piped(packed[p].bytes, packed[p].size, &o, 3, &c, &error);
        CHECK_SAY(!status && same(&c.samples, samples), "%s pipe: %s", packings[p], error.message);
        CHECK(status || (!c.info.is_spooled && c.info.size_bytes == 0)); /* it is small */
        blob_free(&c.samples);

        o.rewindable = 0;
        status = help_read_piped(packed[p].bytes, packed[p].size, &o, 1, &c, &error);
        CHECK_SAY(!status && same(&c.samples, samples), "%s pipe: %s", packings[p], error.message);
        CHECK(status || !c.info.is_spooled);
        blob_free(&c.samples);
        status = help_read_piped(packed[p].bytes, packed[p].size, &o, 2, &c, &error);
        CHECK(status == TALLY_ERROR_UNSUPPORTED && strstr(error.message, "rewindable"));
        if (p)
            blob_free(&packed[p]);
    }
}

/* What of a pipe is too much to be held in memory goes to a file. */
static void test_large_pipe(void)
{
    blob all = {calloc(1, 17 << 20), 17 << 20, 0};
    if (!all.bytes)
        abort();
    help_fill(all.bytes, all.size);
    tally_error error = {""};
    contents c;
    tally_input_options o = raw_options(TALLY_U8);
    o.rewindable = 1;
    tally_status status = help_read_piped(all.bytes, all.size, &o, 2, &c, &error);
    CHECK_SAY(!status && same(&c.samples, &all) && c.info.is_spooled, "%s", error.message);
    blob_free(&c.samples);
    free(all.bytes);
}

static void random_region(tally_input_options *o, uint64_t rows, uint64_t columns)
{
    o->row_begin = help_below(rows);
    o->row_end = help_below(3) ? o->row_begin + 1 + help_below(rows - o->row_begin) : 0;
    o->column_begin = help_below(columns);
    o->column_end = help_below(3) ? o->column_begin + 1 + help_below(columns - o->column_begin) : 0;
}

static void test_raw(void)
{
    for (int i = 0; i < 25; i++) {
        tally_input_options o = raw_options((tally_dtype)(1 + help_below(12)));
        size_t pixel = tally_dtype_bytes(o.dtype);
        uint64_t rows = 1 + help_below(i % 10 ? 50 : 4000), columns = 1;
        o.offset_bytes = help_below(2) ? help_below(300) : 0;
        if (help_below(2)) {
            columns = 1 + help_below(60);
            o.shape[0] = help_below(2) ? rows : 0;
            o.shape[1] = columns;
            o.shape[2] = help_below(6);
            pixel *= o.shape[2] ? o.shape[2] : 1;
        }
        blob file = {0}, want;
        size_t size = (size_t)(o.offset_bytes + rows * columns * pixel);
        file.bytes = malloc(size);
        file.size = size;
        help_fill(file.bytes, size);
        file.bytes[0] = 1; /* not by chance the beginning of something compressed */
        blob data = {file.bytes + o.offset_bytes, size - (size_t)o.offset_bytes, 0};
        if (help_below(2))
            random_region(&o, rows, columns);
        o.chunk_bytes = help_below(3) ? 1 + help_below(30000) : 0;
        want = help_crop(&data, columns, pixel, o.row_begin, o.row_end ? o.row_end : rows,
                         o.column_begin, o.column_end ? o.column_end : columns);
        check_all_ways(&file, &want, o);
        blob_free(&want);
        blob_free(&file);
    }
}

static void test_raw_errors(void)
{
    unsigned char bytes[100] = {7};
    tally_input_options o = raw_options(TALLY_F64);
    const char *path = help_write("hundred", bytes, 100);
    EXPECT_FAIL(path, &o, TALLY_ERROR_FORMAT, "4 of 8 bytes are left over");
    o.offset_bytes = 101;
    EXPECT_FAIL(path, &o, TALLY_ERROR_FORMAT, "begin at byte 101");
    o.offset_bytes = 100;
    EXPECT_FAIL(path, &o, TALLY_ERROR_FORMAT, "hundred: empty");
    o = raw_options(TALLY_U8);
    o.shape[0] = 10;
    o.shape[1] = 11;
    EXPECT_FAIL(path, &o, TALLY_ERROR_FORMAT, "takes 110 bytes, but 100");
    o.shape[1] = 9;
    EXPECT_FAIL(path, &o, TALLY_ERROR_FORMAT, "more data follow the 90 bytes");
    o.shape[0] = UINT64_C(1) << 40;
    o.shape[1] = UINT64_C(1) << 40;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "more bytes than 64 bits");
    o = raw_options(TALLY_U8);
    o.shape[2] = UINT64_C(1) << 40;
    contents c;
    CHECK(help_read_piped(bytes, 100, &o, 1, &c, NULL) == TALLY_ERROR_UNSUPPORTED);
    o = raw_options(TALLY_U8);
    o.row_begin = 5;
    o.row_end = 101;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "rows 5:101 is empty or outside its 0:100");
    o.row_end = 5;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "is empty");
    o = raw_options((tally_dtype)13);
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "dtype is 13");
    path = help_write("nothing", bytes, 0);
    EXPECT_FAIL(path, NULL, TALLY_ERROR_FORMAT, "nothing: empty");
    o = raw_options(TALLY_U16);
    EXPECT_FAIL(path, &o, TALLY_ERROR_FORMAT, "nothing: empty");

    /* Through a pipe the size is found out only at the end. */
    tally_error error = {""};
    o.shape[0] = 60;
    CHECK(help_read_piped(bytes, 100, &o, 1, &c, &error) == TALLY_ERROR_FORMAT &&
          strstr(error.message, "standard input: the samples end after 100 of 120"));
    o.shape[0] = 40;
    CHECK(help_read_piped(bytes, 100, &o, 1, &c, &error) == TALLY_ERROR_FORMAT &&
          strstr(error.message, "more data follow"));
    o.shape[0] = 0;
    CHECK(help_read_piped(bytes, 99, &o, 1, &c, &error) == TALLY_ERROR_FORMAT &&
          strstr(error.message, "1 of 2 bytes are left over"));
    o.row_end = 51;
    CHECK(help_read_piped(bytes, 100, &o, 1, &c, &error) == TALLY_ERROR_ARGUMENT &&
          strstr(error.message, "it has 50"));
}

/* ---- npy ----------------------------------------------------------------------------------- */

static blob npy_file(int version, const char *header, const void *data, size_t size)
{
    blob b = {0};
    size_t length = strlen(header);
    unsigned char start[12] = {0x93,
                               'N',
                               'U',
                               'M',
                               'P',
                               'Y',
                               (unsigned char)version,
                               0,
                               (unsigned char)length,
                               (unsigned char)(length >> 8)};
    blob_add(&b, start, version == 1 ? 10 : 12);
    blob_text(&b, header);
    blob_add(&b, data, size);
    return b;
}

static void check_npy(const char *descr, tally_dtype dtype, int swap)
{
    size_t size = tally_dtype_bytes(dtype);
    uint64_t shape[4] = {1 + help_below(40), 1 + help_below(40), 1 + help_below(4), 7};
    unsigned dimensions = (unsigned)help_below(5);
    char header[256], list[128] = "";
    uint64_t total = 1;
    for (unsigned d = 0; d < dimensions; d++) {
        total *= shape[d];
        snprintf(list + strlen(list), sizeof list - strlen(list), "%llu%s",
                 (unsigned long long)shape[d], d + 1 < dimensions || d == 0 ? ", " : "");
    }
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }   \n",
             descr, list);
    blob stored = {malloc(total * size), total * size, 0}, samples = {0};
    help_fill(stored.bytes, stored.size);
    blob_add(&samples, stored.bytes, stored.size);
    for (size_t i = 0; swap && i < samples.size; i++)
        samples.bytes[i] = stored.bytes[i - i % size + (size - 1 - i % size)];
    blob file = npy_file(1 + (int)help_below(3), header, stored.bytes, stored.size);
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    o.chunk_bytes = help_below(2) ? 1 + help_below(9000) : 0;
    check_all_ways(&file, &samples, o);
    const char *path = help_write("array", file.bytes, file.size);
    contents c;
    tally_error error = {""};
    uint64_t rows = dimensions ? shape[0] : 1, columns = dimensions > 1 ? shape[1] : 1;
    uint64_t channels = dimensions > 2 ? shape[2] : 1;
    if (!help_read(path, &o, 1, &c, &error) && dimensions < 4) {
        CHECK(c.info.rows == rows && c.info.columns == columns && c.info.channels == channels &&
              c.info.dtype == dtype && !strcmp(c.info.format, "npy"));
        blob_free(&c.samples);
        random_region(&o, rows, columns);
        blob want = help_crop(&samples, columns, (size_t)channels * size, o.row_begin,
                              o.row_end ? o.row_end : rows, o.column_begin,
                              o.column_end ? o.column_end : columns);
        CHECK_SAY(!help_read(path, &o, 2, &c, &error) && same(&c.samples, &want), "%s",
                  error.message);
        blob_free(&want);
    }
    blob_free(&c.samples);
    blob_free(&stored);
    blob_free(&samples);
    blob_free(&file);
}

static void test_npy(void)
{
    static const struct {
        const char *kind;
        tally_dtype dtype;
    } kinds[] = {{"u2", TALLY_U16}, {"i2", TALLY_I16}, {"u4", TALLY_U32},
                 {"i4", TALLY_I32}, {"u8", TALLY_U64}, {"i8", TALLY_I64},
                 {"f2", TALLY_F16}, {"f4", TALLY_F32}, {"f8", TALLY_F64}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char descr[8];
        snprintf(descr, sizeof descr, "<%s", kinds[i].kind);
        check_npy(descr, kinds[i].dtype, __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__);
        snprintf(descr, sizeof descr, ">%s", kinds[i].kind);
        check_npy(descr, kinds[i].dtype, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    }
    check_npy("|u1", TALLY_U8, 0);
    check_npy("|i1", TALLY_I8, 0);
    check_npy("|b1", TALLY_U8, 0);
}

static void test_npy_headers(void)
{
    static const struct {
        const char *header;
        tally_status status;
        const char *words;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", TALLY_OK, ""},
        {"{\"shape\":(2L,),\"fortran_order\":True,\"descr\":\"<f4\"}", TALLY_OK, ""},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", TALLY_OK,
         ""}, /* more follows */
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5), }", TALLY_OK, ""},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2, 1), }", TALLY_OK, ""},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", TALLY_ERROR_FORMAT,
         "promises 12 bytes of samples, but 8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976,), }",
         TALLY_ERROR_FORMAT, "promises 4611686018427387904 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
         TALLY_ERROR_FORMAT, "more samples than 64 bits"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 1), }",
         TALLY_ERROR_FORMAT, "64 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
         TALLY_ERROR_FORMAT, "below 2^64"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", TALLY_ERROR_UNSUPPORTED,
         "complex numbers"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", TALLY_ERROR_UNSUPPORTED,
         "Python objects"},
        {"{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", TALLY_ERROR_UNSUPPORTED,
         "'<U5' (strings)"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", TALLY_ERROR_UNSUPPORTED,
         "unusual size"},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (1,), }", TALLY_ERROR_UNSUPPORTED,
         "'|f4'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
         TALLY_ERROR_UNSUPPORTED, "structured"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2, 2), }", TALLY_ERROR_UNSUPPORTED,
         "ascontiguousarray"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", TALLY_ERROR_FORMAT,
         "',' after the only extent"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", TALLY_ERROR_FORMAT,
         "expected an extent"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", TALLY_ERROR_FORMAT,
         "True or False"},
        {"{'descr': '<f4', 'fortran_order': False, }", TALLY_ERROR_FORMAT, "before the end"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
         TALLY_ERROR_FORMAT, "once"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", TALLY_ERROR_FORMAT,
         "nothing more"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", TALLY_ERROR_FORMAT, "'}'"},
        {"__import__('os')", TALLY_ERROR_FORMAT, "at byte 10: expected '{'"},
        {"", TALLY_ERROR_FORMAT, "'{'"}};
    unsigned char data[8] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        blob file = npy_file(1, cases[i].header, data, sizeof data);
        const char *path = help_write("array", file.bytes, file.size);
        if (cases[i].status) {
            EXPECT_FAIL(path, NULL, cases[i].status, cases[i].words);
        } else {
            contents c;
            tally_error error = {""};
            CHECK_SAY(!help_read(path, NULL, 2, &c, &error), "%s: %s", cases[i].header,
                      error.message);
            blob_free(&c.samples);
        }
        blob_free(&file);
    }
    EXPECT_FAIL(help_write("array", "\x93NUMPY\x04\0\0\0", 10), NULL, TALLY_ERROR_UNSUPPORTED,
                "version 4.0");
    EXPECT_FAIL(help_write("array", "\x93NUMPY\x02\0\0\0\x02\0", 12), NULL, TALLY_ERROR_FORMAT,
                "at most 65536");
    blob file = npy_file(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (4, 1), }", data, 8);
    help_cut_everywhere("cut.npy", &file, 0, 0, NULL);
    help_damage("bad.npy", &file, NULL, 300);
    help_starve(help_write("array", file.bytes, file.size), NULL);
    blob_free(&file);
    file = npy_file(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 4), }", data, 8);
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    o.row_end = 1;
    EXPECT_FAIL(help_write("array", file.bytes, file.size), &o, TALLY_ERROR_UNSUPPORTED,
                "Fortran order");
    blob_free(&file);
}

/* ---- Compression and opening --------------------------------------------------------------- */

static void check_raw(const blob *file, const blob *samples, const char *what)
{
    tally_input_options o = raw_options(TALLY_U8);
    contents c;
    tally_error error = {""};
    const char *path = help_write("packed", file->bytes, file->size);
    CHECK_SAY(!help_read(path, &o, 2, &c, &error) && same(&c.samples, samples), "%s: %s", what,
              error.message);
    blob_free(&c.samples);
}

static void test_packed(blob (*pack)(const void *, size_t), const char *name)
{
    tally_input_options o = raw_options(TALLY_U8);
    unsigned char bytes[3000];
    help_fill(bytes, sizeof bytes);
    memset(bytes + 500, 'x', 1000);
    blob whole = {0}, first = pack(bytes, 1000), second = pack(bytes + 1000, 2000), file = {0};
    if (!first.bytes) {
        printf("%s: skipped: not in this build\n", name);
        return;
    }
    blob_add(&whole, bytes, sizeof bytes);
    blob_add(&file, first.bytes, first.size);
    help_cut_everywhere("cut", &file, 4, 0, &o);
    help_damage("bad", &file, &o, 300);
    blob_add(&file, second.bytes, second.size);
    check_raw(&file, &whole, "two members");
    blob garbage = {0};
    blob_add(&garbage, file.bytes, file.size);
    blob_text(&garbage, "garbage");
    EXPECT_FAIL(help_write("garbage", garbage.bytes, garbage.size), &o, TALLY_ERROR_FORMAT,
                "damaged near stored byte");
    /* A checksum is verified though the samples themselves are all there. */
    size_t check_at = first.size - (name[0] == 'g' ? 8 : 4);
    first.bytes[check_at] ^= 1;
    EXPECT_FAIL(help_write("crc", first.bytes, first.size), &o, TALLY_ERROR_FORMAT, name);
    o.shape[0] = 1000;
    EXPECT_FAIL(help_write("crc", first.bytes, first.size), &o, TALLY_ERROR_FORMAT, name);
    o.shape[0] = 0;
    help_starve(help_write("packed", file.bytes, file.size), &o);
    /* An empty member between full ones, and nothing but one. */
    blob none = pack("", 0);
    EXPECT_FAIL(help_write("none", none.bytes, none.size), &o, TALLY_ERROR_FORMAT, "none: empty");
    blob_add(&none, file.bytes, file.size);
    check_raw(&none, &whole, "an empty member first");
    /* Decoded size far above the stored one: streamed. */
    size_t huge = 3 << 20;
    unsigned char *zeros = calloc(huge, 1);
    blob bomb = pack(zeros, huge), all = {zeros, huge, 0};
    check_raw(&bomb, &all, "zeros");
    blob_free(&bomb);
    blob_free(&all);
    blob_free(&none);
    blob_free(&garbage);
    blob_free(&file);
    blob_free(&first);
    blob_free(&second);
    blob_free(&whole);
}

static void test_padding(void)
{
#if TALLY_HAVE_ZLIB
    unsigned char zeros[70] = {0};
    blob text = {0};
    blob_text(&text, "hello");
    blob file = help_gzip(text.bytes, text.size);
    blob_add(&file, zeros, sizeof zeros);
    check_raw(&file, &text, "zeros behind gzip data");
    blob_text(&file, "x");
    tally_input_options o = raw_options(TALLY_U8);
    EXPECT_FAIL(help_write("padded", file.bytes, file.size), &o, TALLY_ERROR_FORMAT, "not gzip");
    blob_free(&file);
    blob_free(&text);
#endif
#if TALLY_HAVE_ZSTD
    blob words = {0}, frames = {0};
    blob_text(&words, "hello");
    blob frame = help_zstd(words.bytes, words.size);
    blob_add(&frames, "\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
    blob_add(&frames, frame.bytes, frame.size);
    blob_add(&frames, "\x5f\x2a\x4d\x18\0\0\0\0", 8);
    check_raw(&frames, &words, "frames to skip");
    blob_free(&words);
    blob_free(&frames);
    blob_free(&frame);
#endif
}

static void test_open(void)
{
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    char long_name[64];
    snprintf(long_name, sizeof long_name, "%s", help_path("absent"));
    EXPECT_FAIL(long_name, NULL, TALLY_ERROR_IO, "absent: cannot be opened: No such file");
    EXPECT_FAIL("/tmp", NULL, TALLY_ERROR_IO, "/tmp: is a directory");
    EXPECT_FAIL("", NULL, TALLY_ERROR_IO, "No such file");
    const char *path = help_write("noise", "\x01\x02\xfe\x00\x07\x80", 6);
    EXPECT_FAIL(path, NULL, TALLY_ERROR_FORMAT, "01 02 fe 00 07 80");
    EXPECT_FAIL(path, NULL, TALLY_ERROR_FORMAT, "--dtype");
    o.shape[1] = 3;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "need a dtype");
    const char *columns[] = {"a", NULL};
    o = raw_options(TALLY_U8);
    o.columns = columns;
    o.columns_count = 1;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "columns are chosen by name in text");
    o.dtype = (tally_dtype)0;
    EXPECT_FAIL(help_write("p5", "P5 1 1 255 x", 12), &o, TALLY_ERROR_ARGUMENT, "this is pnm");
    o.columns_count = 2;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "columns[1] is NULL");
    o = raw_options(TALLY_U16);
    o.byte_order = 2;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "byte_order is 2; 1 is big-endian");
    o = raw_options(TALLY_U8);
    o.struct_size = 4;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "struct_size is 4");
    struct {
        tally_input_options o;
        uint64_t newer;
    } newer = {raw_options(TALLY_U8), 0};
    newer.o.struct_size = sizeof newer;
    contents c;
    CHECK(help_read(path, &newer.o, 1, &c, NULL) == TALLY_OK && c.samples.size == 6);
    blob_free(&c.samples);
    newer.newer = 1;
    EXPECT_FAIL(path, &newer.o, TALLY_ERROR_UNSUPPORTED, "does not know yet");
    CHECK(tally_input_open(NULL, NULL, NULL, NULL) == TALLY_ERROR_ARGUMENT);
    CHECK(tally_input_position(NULL) == 0 && !tally_input_channel_name(NULL, 0));
    tally_input_close(NULL);

    /* What was said of a damaged file is said again, and rewinding starts over. */
    tally_input *in = NULL;
    tally_error error = {""}, again = {""};
    tally_view view;
    int done = 0;
    path = help_write("short", "P5 3 3 255\nabcdefgh", 19);
    CHECK(tally_input_open(path, NULL, &in, &error) == TALLY_OK);
    CHECK(tally_input_read(in, &view, &done, &error) == TALLY_ERROR_FORMAT);
    CHECK(tally_input_read(in, &view, &done, &again) == TALLY_ERROR_FORMAT);
    CHECK(strstr(error.message, "after 8 of 9 bytes") && !strcmp(error.message, again.message));
    tally_input_close(in);
    path = help_write("repaired", "1\nx\n3\n", 6);
    CHECK(tally_input_open(path, NULL, &in, &error) == TALLY_OK);
    CHECK(tally_input_read(in, &view, &done, &error) == TALLY_OK && view.columns == 1);
    CHECK(tally_input_read(in, &view, &done, &error) == TALLY_ERROR_FORMAT);
    help_write("repaired", "1\n2\n3\n", 6);
    CHECK(tally_input_rewind(in, &error) == TALLY_OK);
    CHECK(tally_input_read(in, &view, &done, &error) == TALLY_OK && !done && view.columns == 3);
    tally_input_close(in);
}

/* Standard input that is a file is read from where it stands, and rewinds to there. */
static void test_offset_stdin(void)
{
    tally_input_options o = raw_options(TALLY_U8);
    contents c;
    int old = dup(STDIN_FILENO);
    const char *path = help_write("behind", "0123456789", 10);
    if (!freopen(path, "rb", stdin) || lseek(STDIN_FILENO, 4, SEEK_SET) != 4)
        abort();
    CHECK(help_read("-", &o, 2, &c, NULL) == TALLY_OK);
    CHECK(c.samples.size == 6 && !memcmp(c.samples.bytes, "456789", 6) && c.info.size_bytes == 6);
    blob_free(&c.samples);
    dup2(old, STDIN_FILENO);
    close(old);
}

/* A row far longer than a chunk, and a file far larger: memory is the chunk's. */
static void test_large(void)
{
    tally_input_options o = raw_options(TALLY_U16);
    const char *path = help_write("sparse", "", 0);
    if (truncate(path, (off_t)3 << 30)) {
        printf("large file: skipped: it cannot be made here\n");
        return;
    }
    o.shape[0] = 3;
    o.shape[1] = (UINT64_C(1) << 30) / 2;
    o.row_begin = 2;
    o.column_begin = o.shape[1] - 5000000;
    contents c;
    CHECK(help_read(path, &o, 2, &c, NULL) == TALLY_OK && c.samples.size == 10000000);
    CHECK(c.chunks == 3 && c.info.columns == 5000000 && c.info.rows == 1);
    blob_free(&c.samples);
    unlink(path);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    test_large_pipe();
    test_raw();
    test_raw_errors();
    test_npy();
    test_npy_headers();
    test_packed(help_gzip, "gzip");
    test_packed(help_zstd, "zstd");
    test_padding();
    test_open();
    test_offset_stdin();
    test_large();
    return help_end();
}
