/* SPDX-License-Identifier: Apache-2.0 */
/* FITS: images and columns of tables as they are written here, headers that lie. */
#include "input_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PRIMARY "SIMPLE  =                    T"
#define EMPTY   PRIMARY "|BITPIX  = 8|NAXIS   = 0"

/* ---- Files ---- */

static void pad(blob *b, char with)
{
    while (b->size % 2880)
        blob_add(b, &with, 1);
}

/* Cards with | between them, and END. */
static void add_header(blob *b, const char *cards)
{
    char card[81];
    while (*cards) {
        const size_t size = strcspn(cards, "|");
        snprintf(card, sizeof card, "%-80.*s", (int)size, cards);
        blob_add(b, card, 80);
        cards += size + (cards[size] == '|');
    }
    snprintf(card, sizeof card, "%-80s", "END");
    blob_add(b, card, 80);
    pad(b, ' ');
}

static void add_big(blob *b, const void *value, size_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = ((const unsigned char *)
                        value)[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? size - 1 - i : i];
    blob_add(b, bytes, size);
}

static blob file_of(const char *cards, const void *values, size_t size, size_t count)
{
    blob b = {0};
    add_header(&b, cards);
    for (size_t i = 0; i < count; i++)
        add_big(&b, (const unsigned char *)values + i * size, size);
    pad(&b, 0);
    return b;
}

/* ---- Reading ---- */

/* The samples of `file` are these, in chunks of any size and by the view's source. */
static void check_samples(const blob *file, tally_input_options o, tally_dtype dtype,
                          const void *samples, size_t count, const char *what)
{
    const char *path = help_write("made.fits", file->bytes, file->size);
    const size_t size = tally_dtype_bytes(dtype);
    contents c;
    tally_error error = {""};
    tally_input *in = NULL;
    tally_view views[TALLY_MAX_DIMENSIONS];
    o.chunk_bytes = 1 + help_below(3 * count * size);
    const tally_status status = help_read(path, &o, 2, &c, &error);
    if (!CHECK_SAY(!status && c.info.dtype == dtype && c.samples.size == count * size &&
                       !memcmp(c.samples.bytes, samples, count * size),
                   "%s: %s%s", what, error.message, status ? "" : tally_dtype_name(c.info.dtype)))
        return;
    CHECK(!strcmp(c.info.format, "fits"));
    blob_free(&c.samples);
    if (!CHECK(!tally_input_open(path, &o, &in, &error) && !tally_input_view(in, views, &error)))
        return;
    const uint64_t all = views[0].rows * views[0].columns;
    if (!CHECK_SAY(views[0].source && all == count, "%s", what))
        return;
    for (int i = 0; i < 4; i++) {
        unsigned char part[200 * 8];
        const uint64_t at = help_below(all), n = 1 + help_below(all - at < 200 ? all - at : 200);
        CHECK(!views[0].source->read(views[0].source->user, at, n, part, &error) &&
              !memcmp(part, (const unsigned char *)samples + at * size, n * size));
    }
    tally_input_close(in);
}

static const tally_input_options any = TALLY_INPUT_OPTIONS_INIT;

/* ---- Images ---- */

static void test_images(void)
{
    static const struct {
        int bits;
        const char *more;
        tally_dtype stored, dtype;
    } kinds[] = {{8, "", TALLY_U8, TALLY_U8},
                 {8, "|BZERO   = -128", TALLY_U8, TALLY_I8},
                 {16, "", TALLY_I16, TALLY_I16},
                 {16, "|BZERO   = 32768", TALLY_I16, TALLY_U16},
                 {32, "|BSCALE  = 1.0", TALLY_I32, TALLY_I32},
                 {32, "|BZERO   = 2147483648.0 / unsigned", TALLY_I32, TALLY_U32},
                 {64, "", TALLY_I64, TALLY_I64},
                 {64, "|BZERO   = 9.223372036854775808D18", TALLY_I64, TALLY_U64},
                 {-32, "|BLANK   = 5", TALLY_F32, TALLY_F32},
                 {-64, "", TALLY_F64, TALLY_F64}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        unsigned char stored[6 * 7 * 2 * 8], want[sizeof stored];
        const size_t size = tally_dtype_bytes(kinds[i].stored), count = 6 * 7 * 2;
        char cards[400];
        snprintf(cards, sizeof cards,
                 PRIMARY "|BITPIX  = %d|NAXIS   = 3|NAXIS1  = 7|NAXIS2  = 6|NAXIS3  = 2%s",
                 kinds[i].bits, kinds[i].more);
        help_fill(stored, count * size);
        memcpy(want, stored, count * size);
        if (kinds[i].stored != kinds[i].dtype)
            for (size_t k = 0; k < count; k++)
                want[k * size + (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? size - 1 : 0)] ^= 0x80;
        blob file = file_of(cards, stored, size, count);
        check_samples(&file, any, kinds[i].dtype, want, count, cards);
        tally_input_options o = any;
        o.row_begin = 3, o.row_end = 10, o.column_begin = 2, o.column_end = 6;
        const blob all = {want, count * size, 0};
        blob part = help_crop(&all, 7, size, 3, 10, 2, 6);
        check_samples(&file, o, kinds[i].dtype, part.bytes, 28, cards);
        blob_free(&part);
        blob_free(&file);
    }
}

/* Integers with a value for missing: to 2^53, but where a mask is asked for. */
static void test_exact(void)
{
    static const struct {
        const char *zero;
        int64_t stored;
        double value;
        int step; /* to one that float64 has not */
    } cases[] = {{"0", (int64_t)1 << 53, 0x1p53, 1},
                 {"0", -((int64_t)1 << 53), -0x1p53, -1},
                 {"9223372036854775808", INT64_MIN + ((int64_t)1 << 53), 0x1p53, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char cards[300];
        int64_t stored = cases[i].stored;
        snprintf(cards, sizeof cards,
                 PRIMARY "|BITPIX  = 64|NAXIS   = 1|NAXIS1  = 1|BLANK   = 9|BZERO   = %s",
                 cases[i].zero);
        blob file = file_of(cards, &stored, 8, 1);
        check_samples(&file, any, TALLY_F64, &cases[i].value, 1, cards);
        blob_free(&file);
        stored += cases[i].step;
        file = file_of(cards, &stored, 8, 1);
        EXPECT_FAIL(help_write("large.fits", file.bytes, file.size), NULL, TALLY_ERROR_UNSUPPORTED,
                    "beyond 2^53");
        tally_input_options o = any;
        const uint64_t whole = (uint64_t)stored ^ (i == 2 ? UINT64_C(1) << 63 : 0);
        o.masked = 1;
        check_samples(&file, o, i == 2 ? TALLY_U64 : TALLY_I64, &whole, 1, "masked");
        help_starve(help_path("made.fits"), &o);
        blob_free(&file);
    }
}

static void test_scaled(void)
{
    enum { COUNT = 9000 }; /* more than is read at once */
    static int16_t stored[COUNT];
    static double want[COUNT];
    for (int i = 0; i < COUNT; i++) {
        stored[i] = (int16_t)help_below(2000);
        want[i] = stored[i] == 77 ? (double)NAN : 10.5 + 0.25 * stored[i];
    }
    blob file = file_of(
        PRIMARY
        "|BITPIX  = 16|NAXIS   = 1|NAXIS1  = 9000|BSCALE  = 2.5E-01|BZERO   = 10.5|BLANK   = 77",
        stored, 2, COUNT);
    check_samples(&file, any, TALLY_F64, want, COUNT, "scaled");
    blob_free(&file);
    for (int i = 0; i < COUNT; i++)
        want[i] = stored[i] == 77 ? (double)NAN : 32768.0 + stored[i];
    file = file_of(PRIMARY "|BITPIX  = 16|NAXIS   = 1|NAXIS1  = 9000|BZERO   = 32768|BLANK   = 77",
                   stored, 2, COUNT);
    check_samples(&file, any, TALLY_F64, want, COUNT, "unsigned with a blank");
    blob_free(&file);
    test_exact();
}

/* ---- Tables ---- */

#define TABLE(rows, width, fields)                                                                 \
    "XTENSION= 'BINTABLE'|BITPIX  = 8|NAXIS   = 2|NAXIS1  = " width "|NAXIS2  = " rows             \
    "|PCOUNT  = 0|GCOUNT  = 1|TFIELDS = " fields

/* 300 rows of a byte, an i16 with a missing value, a scaled i32, text, f32, a truth value, a
 * vector, an unsigned i64, and what is between them. */
static blob make_table(float *f32, double *i16, double *i32, double *truth, uint64_t *u64)
{
    blob b = {0};
    add_header(&b, EMPTY);
    add_header(
        &b,
        TABLE("300", "40",
              "8") "|EXTNAME = 'Events  '|TTYPE1  = 'byte'|TFORM1  = 'B'"
                   "|TTYPE2  = 'it''s'|TFORM2  = '1I'|TNULL2  = 3|TTYPE3  = 'scaled'|TFORM3  = "
                   "'J'|TSCAL3  = 0.5"
                   "|TZERO3  = -1|TTYPE4  = 'text'|TFORM4  = '3A'|TTYPE5  = 'float'|TFORM5  = '1E'"
                   "|TTYPE6  = 'true'|TFORM6  = 'L'|TTYPE7  = 'vector'|TFORM7  = '2D'|TTYPE8  = "
                   "'u64'|TFORM8  = 'K'"
                   "|TZERO8  = 9223372036854775808");
    for (int row = 0; row < 300; row++) {
        const unsigned char byte = (unsigned char)help_below(256),
                            logical = (unsigned char)"TF\0"[help_below(3)];
        const int16_t two = (int16_t)help_below(9);
        const int32_t four = (int32_t)help_random();
        const double zeros[2] = {0, 0};
        const int64_t eight = (int64_t)help_random();
        f32[row] = (float)help_below(1000) / 8;
        i16[row] = two == 3 ? (double)NAN : two;
        i32[row] = -1 + 0.5 * four;
        truth[row] = logical == 'T' ? 1 : logical == 'F' ? 0 : (double)NAN;
        u64[row] = (uint64_t)eight ^ UINT64_C(1) << 63;
        blob_add(&b, &byte, 1);
        add_big(&b, &two, 2);
        add_big(&b, &four, 4);
        blob_text(&b, "abc");
        add_big(&b, f32 + row, 4);
        blob_add(&b, &logical, 1);
        blob_add(&b, zeros, 16);
        add_big(&b, &eight, 8);
        blob_add(&b, "?", 1); /* a row is longer than its fields */
    }
    pad(&b, 0);
    return b;
}

static void expect_column(const char *path, const char *name, tally_status status,
                          const char *words)
{
    tally_input_options o = any;
    o.columns = &name;
    o.columns_count = 1;
    EXPECT_FAIL(path, &o, status, words);
}

/* Of made.fits. */
static void check_booleans(void)
{
    const char *const names[] = {"float", "true"};
    tally_input_options o = any;
    o.columns = names;
    o.columns_count = 2;
    contents c;
    tally_error error = {""};
    if (CHECK_SAY(!help_read(help_path("made.fits"), &o, 1, &c, &error), "%s", error.message)) {
        CHECK(c.info.booleans == 2);
        blob_free(&c.samples);
    }
}

static void test_table(void)
{
    static float f32[300];
    static double i16[300], i32[300], truth[300];
    static uint64_t u64[300];
    static const char *const names[] = {"float", "it's", "scaled", "true", "u64"};
    const void *const samples[] = {f32, i16, i32, truth, u64};
    static const tally_dtype dtypes[] = {TALLY_F32, TALLY_F64, TALLY_F64, TALLY_F64, TALLY_U64};
    blob file = make_table(f32, i16, i32, truth, u64);
    tally_input_options o = any;
    for (int i = 0; i < 5; i++) {
        o.columns = names + i;
        o.columns_count = 1;
        check_samples(&file, o, dtypes[i], samples[i], 300, names[i]);
        o.row_begin = 20, o.row_end = 290;
        check_samples(&file, o, dtypes[i],
                      (const char *)samples[i] + 20 * tally_dtype_bytes(dtypes[i]), 270, names[i]);
        o.row_begin = o.row_end = 0;
    }
    const char *const two[] = {"3", "float"};
    o.columns = two;
    o.columns_count = 2; /* the first of the views is compared */
    check_samples(&file, o, TALLY_F64, i32, 300, "two columns");
    check_booleans();
    tally_input *in = NULL;
    tally_view views[2];
    tally_error error = {""};
    double second[300];
    if (CHECK_SAY(!tally_input_open(help_path("made.fits"), &o, &in, &error) &&
                      !tally_input_view(in, views, &error) && views[1].source &&
                      !views[1].source->read(views[1].source->user, 0, 300, second, &error),
                  "%s", error.message))
        for (int i = 0; i < 300; i++)
            CHECK(second[i] == (double)f32[i] || (isnan(second[i]) && isnan(f32[i])));
    tally_input_close(in);
    const char *const both[] = {"u64", "float"};
    o.columns = both;
    const char *path = help_write("table.fits", file.bytes, file.size);
    EXPECT_FAIL(path, &o, TALLY_ERROR_UNSUPPORTED, "beyond 2^53");
    EXPECT_FAIL(path, NULL, TALLY_ERROR_ARGUMENT,
                "byte, it's, scaled, text, float, true, vector, u64");
    expect_column(path, "text", TALLY_ERROR_UNSUPPORTED, "column 'text' holds text");
    expect_column(path, "vector", TALLY_ERROR_UNSUPPORTED, "holds several values a row");
    expect_column(path, "Byte", TALLY_ERROR_ARGUMENT, "no column 'Byte'");
    o.columns = names + 2;
    o.columns_count = 1;
    help_starve(path, &o);
    help_damage("damaged.fits", &file, &o, 300);
    blob_free(&file);
}

/* ---- Choices ---- */

static void test_choices(void)
{
    const float one[2] = {1, 2};
    const int16_t two[3] = {3, 4, 5};
    blob b = {0};
    add_header(&b, EMPTY);
    add_header(&b,
               "XTENSION= 'IMAGE   '|BITPIX  = -32|NAXIS   = 1|NAXIS1  = 2|EXTNAME = 'SCI     '");
    for (int i = 0; i < 2; i++)
        add_big(&b, one + i, 4);
    pad(&b, 0);
    const size_t first = b.size;
    add_header(&b, "XTENSION= 'IMAGE'|BITPIX  = 16|NAXIS   = 1|NAXIS1  = 3|EXTNAME = 'dq'");
    for (int i = 0; i < 3; i++)
        add_big(&b, two + i, 2);
    pad(&b, 0);
    tally_input_options o = any;
    o.inside = "sci";
    check_samples(&b, o, TALLY_F32, one, 2, "SCI");
    o.inside = "2";
    check_samples(&b, o, TALLY_I16, two, 3, "2");
    o.inside = "0";
    const char *path = help_write("several.fits", b.bytes, b.size);
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT,
                "no data are called '0' in it; there are: 1 SCI (image), 2 dq (image)");
    EXPECT_FAIL(path, NULL, TALLY_ERROR_ARGUMENT,
                "several images and tables: 1 SCI (image), 2 dq (image); choose one");
    o.inside = "dq";
    memcpy(b.bytes + first + 10, "'FOREIGN'", 9);
    EXPECT_FAIL(help_write("kind.fits", b.bytes, b.size), &o, TALLY_ERROR_UNSUPPORTED,
                "kind that is not read");
    o.inside = "sci";
    b.size = first;
    check_samples(&b, any, TALLY_F32, one, 2, "only");
    blob_add(&b, b.bytes + 2880, first - 2880);
    EXPECT_FAIL(help_write("same.fits", b.bytes, b.size), &o, TALLY_ERROR_ARGUMENT,
                "several of this name");
    blob_free(&b);
}

/* A table without rows has no samples, as an empty file of other formats, but what has some comes
 * first. */
static void test_no_rows(void)
{
    static const char *const primaries[] = {EMPTY, PRIMARY "|BITPIX  = 16|NAXIS   = 1|NAXIS1  = 2"};
    const int16_t two[2] = {1, 2};
    for (int with = 0; with < 2; with++) {
        tally_input_options o = any;
        contents c;
        tally_error error = {""};
        blob b = with ? file_of(primaries[1], two, 2, 2) : file_of(EMPTY, NULL, 0, 0);
        add_header(&b, TABLE("0", "4", "1") "|TTYPE1  = 'a'|TFORM1  = 'J'|EXTNAME = 'T'");
        if (with)
            check_samples(&b, any, TALLY_I16, two, 2, "beside a table without rows");
        const char *path = help_write("empty.fits", b.bytes, b.size);
        o.inside = with ? "t" : NULL;
        if (CHECK_SAY(!help_read(path, &o, 1, &c, &error), "%s", error.message)) {
            CHECK(c.info.dtype == TALLY_I32 && !c.samples.size);
            blob_free(&c.samples);
        }
        blob_free(&b);
    }
}

/* ---- What is refused ---- */

static void refuse(const char *cards, const char *second, tally_status status, const char *words)
{
    blob b = {0};
    char zeros[100] = "";
    add_header(&b, cards);
    if (second)
        add_header(&b, second);
    blob_add(&b, zeros, sizeof zeros);
    pad(&b, 0);
    EXPECT_FAIL(help_write("refused.fits", b.bytes, b.size), NULL, status, words);
    blob_free(&b);
}

static void test_refused(void)
{
    const tally_status f = TALLY_ERROR_FORMAT, u = TALLY_ERROR_UNSUPPORTED;
    refuse(EMPTY, NULL, f, "no data are in");
    refuse(PRIMARY "|NAXIS   = 1|NAXIS1  = 2", NULL, f, "BITPIX is none of");
    refuse(PRIMARY "|BITPIX  = 12|NAXIS   = 1|NAXIS1  = 2", NULL, f, "BITPIX is none of");
    refuse(PRIMARY "|BITPIX  = 16|NAXIS   = 2|NAXIS1  = 2", NULL, f, "not as many axes");
    refuse(PRIMARY "|BITPIX  = 16|NAXIS   = 1|NAXIS1  = -2", NULL, f, "no number that it can be");
    refuse(PRIMARY "|BITPIX  = 16|NAXIS   = 1|NAXIS1  = 2.0", NULL, f, "no number that it can be");
    refuse(PRIMARY "|BITPIX  = 16|NAXIS   = 40|NAXIS1  = 2", NULL, f,
           "NAXIS is missing or above 32");
    refuse(PRIMARY "|BITPIX  = 16|NAXIS   = 1|NAXIS1  = 5000", NULL, f,
           "promises 10000 bytes of data, but 2880 follow");
    refuse(PRIMARY
           "|BITPIX  = 64|NAXIS   = 2|NAXIS1  = 9223372036854775807|NAXIS2  = 9223372036854775807",
           NULL, f, "promises more than");
    refuse(PRIMARY "|BITPIX  = 16|NAXIS   = 1|NAXIS1  = 4|BSCALE  = 'two'", NULL, f,
           "BSCALE is no number");
    refuse(PRIMARY
           "|BITPIX  = 16|NAXIS   = 2|NAXIS1  = 0|NAXIS2  = 5|GROUPS  = T|GCOUNT  = 1|PCOUNT  = 0",
           NULL, u, "random groups");
    refuse(EMPTY, TABLE("2", "4", "1") "|TFORM1  = '1PB(3)'|ZIMAGE  = T", u, "funpack");
    refuse(EMPTY,
           "XTENSION= 'TABLE'|BITPIX  = 8|NAXIS   = 2|NAXIS1  = 4|NAXIS2  = 2|TFIELDS = 1|TFORM1  "
           "= 'I4'",
           u, "a table in text");
    refuse(EMPTY, TABLE("2", "4", "1") "|TFORM1  = '1D'", f, "longer than a row");
    refuse(EMPTY, TABLE("2", "4", "1") "|TTYPE1  = 'a'", f, "columns that are missing");
    refuse(EMPTY, TABLE("2", "4", "1") "|TFORM1  = '1Z'", f, "unknown type");
    refuse(EMPTY, TABLE("2", "4", "1000") "|TFORM1  = 'J'", f, "TFIELDS");
    refuse(EMPTY, TABLE("2", "4", "0"), f, "no columns");
    refuse(EMPTY, "BITPIX  = 8|NAXIS   = 0", f, "is no extension");
    refuse(PRIMARY "|BITPIX  = 16|NAXIS   = 1|NAXIS1  = 2|COMMENT a\ttab", NULL, f,
           "plain characters");
}

static void test_cut(void)
{
    static int16_t stored[3000];
    blob file = file_of(PRIMARY "|BITPIX  = 16|NAXIS   = 1|NAXIS1  = 3000", stored, 2, 3000);
    help_cut_everywhere("cut.fits", &file, 30, file.size - 2880 - 6000, &any);
    /* What is behind the samples is not missed. */
    file.size = 2880 + 6000;
    check_samples(&file, any, TALLY_I16, stored, 3000, "without its end");
    help_damage("damaged.fits", &file, &any, 200);
    blob_free(&file);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    test_images();
    test_scaled();
    test_table();
    test_choices();
    test_no_rows();
    test_refused();
    test_cut();
    return help_end();
}
