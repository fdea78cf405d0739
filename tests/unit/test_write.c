/* SPDX-License-Identifier: Apache-2.0 */
/* Results as tables, CSV, npy and pictures. `test_write [SEED]` */
#include "results.h"

#include <time.h>

#include "core/alloc.h"
#include "io/print.h"

#if TALLY_HAVE_CAIRO
#include <cairo.h>
#endif

static tally_result *make(tally_axis axis, tally_dtype dtype, uint64_t histograms,
                          const char *const *names)
{
    ty_result_shape shape = {
        .dimensions = 1, .axes = &axis, .dtype = dtype, .histograms = histograms, .names = names};
    tally_result *r = NULL;
    tally_error error = {""};
    CHECK_SAY(ty_result_create(&shape, &r, &error) == TALLY_OK, "%s", error.message);
    return r;
}

static void expect(const tally_result *r, tally_format format, const tally_write_options *options,
                   const char *text)
{
    kept k = written(r, format, options);
    CHECK_SAY(strcmp(k.bytes, text) == 0, "is\n%s\nshould be\n%s", k.bytes, text);
    free(k.bytes);
}

/* ---- CSV, npy ---- */

static void test_csv(void)
{
    static const char *const names[] = {"R", "a,\"b\""};
    tally_result *r = make(tally_axis_even(2, 0, 0.2), TALLY_F32, 2, names);
    uint64_t *counts = r->counts;
    counts[0] = 1;
    counts[1] = UINT64_MAX;
    counts[3] = 4;
    r->flows[0] = (tally_flows){5, 6, 7, 8};
    expect(r, TALLY_FORMAT_CSV, NULL,
           "histogram,lo,hi,count\n"
           "R,0,0.1,1\nR,0.1,0.2,18446744073709551615\n"
           "R,-inf,0,5\nR,0.2,inf,6\nR,nan,nan,7\nR,,,8\n"
           "\"a,\"\"b\"\"\",0,0.1,0\n\"a,\"\"b\"\"\",0.1,0.2,4\n");
    tally_result_destroy(r);

    tally_axis axes[2] = {tally_axis_integer(2, -1), tally_axis_even(2, 0, 1)};
    ty_result_shape shape = {.dimensions = 2,
                             .axes = axes,
                             .kind = TALLY_RESULT_SUMS_F64,
                             .squares = 1,
                             .histograms = 1};
    CHECK_SAY(ty_result_create(&shape, &r, NULL) == TALLY_OK, "create");
    double sums[] = {0.1, -2, INFINITY, NAN}, squares[] = {1, 2, 3.5, 4};
    memcpy(r->counts, sums, sizeof sums);
    memcpy(r->squares, squares, sizeof squares);
    r->flows[0].under = 3; /* samples, not sums */
    expect(r, TALLY_FORMAT_CSV, NULL,
           "histogram,lo0,hi0,lo1,hi1,sum,sum_squares\n"
           ",-1,0,0,0.5,0.1,1\n,-1,0,0.5,1,-2,2\n,0,1,0,0.5,inf,3.5\n,0,1,0.5,1,nan,4\n");
    tally_result_destroy(r);
}

static void check_npy(const tally_result *r, const char *header, const void *data, size_t size)
{
    kept k = written(r, TALLY_FORMAT_NPY, NULL);
    const unsigned char *b = (const unsigned char *)k.bytes;
    CHECK_SAY(k.size > 10 && memcmp(b, "\x93NUMPY\x01\x00", 8) == 0, "magic");
    size_t length = b[8] + 256u * b[9];
    CHECK_SAY((length + 10) % 64 == 0 && b[9 + length] == '\n', "header of %zu", length);
    CHECK_SAY(strncmp(k.bytes + 10, header, strlen(header)) == 0, "%.100s", k.bytes + 10);
    CHECK_SAY(k.size == 10 + length + size && memcmp(b + 10 + length, data, size) == 0, "%zu bytes",
              k.size);
    free(k.bytes);
}

static void test_npy(void)
{
    tally_result *r = make(tally_axis_even(3, 0, 1), TALLY_U8, 1, NULL);
    uint64_t *counts = r->counts;
    counts[0] = 258;
    counts[2] = UINT64_MAX;
    unsigned char wide[24] = {2, 1}, narrow[6] = {2, 1, 0, 0, 255, 255}, bytes[3] = {255, 0, 255};
    memset(wide + 16, 255, 8);
    check_npy(r, "{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }", wide, 24);
    tally_result_narrow(r, TALLY_COUNTER_U16SAT, NULL);
    check_npy(r, "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }", narrow, 6);
    tally_result_narrow(r, TALLY_COUNTER_U8SAT, NULL);
    check_npy(r, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", bytes, 3);
    tally_result_destroy(r);

    tally_axis axes[2] = {tally_axis_even(2, 0, 1), tally_axis_even(3, 0, 1)};
    ty_result_shape shape = {
        .dimensions = 2, .axes = axes, .kind = TALLY_RESULT_SUMS_F64, .histograms = 2};
    CHECK_SAY(ty_result_create(&shape, &r, NULL) == TALLY_OK, "create");
    unsigned char one[96] = {0};
    ((double *)r->counts)[0] = 1;
    one[6] = 0xf0;
    one[7] = 0x3f;
    check_npy(r, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 3), }", one, 96);
    tally_result_destroy(r);
}

/* ---- Tables ---- */

static void test_table(void)
{
    tally_write_options options = TALLY_WRITE_OPTIONS_INIT;
    tally_result *r = make(tally_axis_even(4, 0, 1), TALLY_F32, 1, NULL);
    uint64_t *counts = r->counts;
    counts[0] = 1;
    counts[1] = 500;
    counts[3] = 1500;
    r->flows[0] = (tally_flows){.over = 3, .nan = 12};
    tally_result_note(r, "a.npy", "cpu", "tables", 0.0123, 0, NULL);
    options.width = 50;
    expect(r, TALLY_FORMAT_TABLE, &options,
           "a.npy\n"
           "f32 · 2,016 samples · 4 bins\n"
           "\n"
           "       value  count    share\n"
           "[0.00, 0.25)      1    0.05%  ▏\n"
           "[0.25, 0.50)    500   24.80%  ██████▋\n"
           "[0.50, 0.75)      0    0.00%\n"
           "[0.75, 1.00]  1,500   74.40%  ████████████████████\n"
           "       above      3    0.15%\n"
           "         NaN     12    0.60%\n"
           "in bins: mean 0.624 to 0.875, median 0.75 to 1,\nfrom 0\n");
    options.ascii = 1;
    options.max_rows = 2;
    expect(r, TALLY_FORMAT_TABLE, &options,
           "a.npy\n"
           "f32, 2,016 samples, 4 bins, 2 a row\n"
           "\n"
           "     value  count    share\n"
           "[0.0, 0.5)    501   24.85%  #######\n"
           "[0.5, 1.0]  1,500   74.40%  ######################\n"
           "     above      3    0.15%\n"
           "       NaN     12    0.60%\n"
           "in bins: mean 0.624 to 0.875, median 0.75 to 1,\nfrom 0\n");
    options.log_counts = 1;
    expect(r, TALLY_FORMAT_TABLE, &options,
           "a.npy\n"
           "f32, 2,016 samples, 4 bins, 2 a row\n"
           "bars are logarithmic\n"
           "\n"
           "     value  count    share\n"
           "[0.0, 0.5)    501   24.85%  ###################\n"
           "[0.5, 1.0]  1,500   74.40%  ######################\n"
           "     above      3    0.15%\n"
           "       NaN     12    0.60%\n"
           "in bins: mean 0.624 to 0.875, median 0.75 to 1,\nfrom 0\n");
    tally_result_destroy(r);

    r = make(tally_axis_integer(3, -1), TALLY_I8, 1, NULL);
    ((uint64_t *)r->counts)[1] = 2;
    options = (tally_write_options)TALLY_WRITE_OPTIONS_INIT;
    options.width = 40;
    expect(r, TALLY_FORMAT_TABLE, &options,
           "i8 · 2 samples · 3 bins\n"
           "\n"
           "value  count    share\n"
           "   -1      0    0.00%\n"
           "    0      2  100.00%  █████████████████\n"
           "    1      0    0.00%\n"
           "mean 0, sd 0, median 0, min 0, max 0\n");
    tally_result_destroy(r);
}

/* Labels: the last bin's bracket, clamped ends, integers, the dtype's own limit. */
static void test_labels(void)
{
    uint16_t categories[256];
    tally_axis letters = TALLY_AXIS_INIT, clamped = tally_axis_even(2, 0, 1);
    letters.kind = TALLY_AXIS_CATEGORY;
    letters.bins = tally_categories_letters("ACGTN\n", 6, 2, categories);
    letters.categories = categories;
    clamped.under = clamped.over = TALLY_FLOW_CLAMP;
    tally_axis open = tally_axis_even(2, 0, 1);
    open.last = TALLY_LAST_OPEN;
    struct {
        tally_axis axis;
        tally_dtype dtype;
        const char *rows[2]; /* first and last */
    } cases[] = {
        {open, TALLY_F32, {"\n[0.0, 0.5) ", "\n[0.5, 1.0) "}},
        {clamped, TALLY_F32, {"\n(-inf, 0.5) ", "\n [0.5, inf) "}},
        {tally_axis_even(2, 0, 256), TALLY_U8, {"\n  0 … 127 ", "\n128 … 255 "}},
        {tally_axis_even(2, 0, 10), TALLY_I32, {"\n 0 …  4 ", "\n 5 … 10 "}},
        {tally_axis_even(2, 0, 256), TALLY_F32, {"\n[  0, 128) ", "\n[128, 256] "}},
        {letters, TALLY_U8, {"\n   A C ", "\n\\x0a N "}},
        {tally_axis_log(2, 1e-9, 1e9), TALLY_F64, {"\n[1e-9,    1) ", "\n[   1,  1e9] "}},
        {tally_axis_even(3, 0, 1), TALLY_F64, {"\n[0.000, 0.333) ", "\n[0.667, 1.000] "}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tally_result *r = make(cases[i].axis, cases[i].dtype, 1, NULL);
        kept k = written(r, TALLY_FORMAT_TABLE, NULL);
        for (int j = 0; j < 2; j++)
            CHECK_SAY(strstr(k.bytes, cases[i].rows[j]) != NULL, "case %zu: no%s in\n%s", i,
                      cases[i].rows[j], k.bytes);
        free(k.bytes);
        tally_result_destroy(r);
    }
}

/* Whatever the result: valid text without control characters, lines no wider than asked (when that
 * is wide enough), and escape codes only when colour is asked for. */
static void check_table(const char *text, const tally_write_options *options)
{
    size_t columns = 0, widest = 0;
    int escapes = 0;
    for (const char *p = text; *p; p++) {
        if (*p == '\033') {
            escapes++;
            p += strcspn(p, "m");
            continue;
        }
        CHECK_SAY((unsigned char)*p >= 0x20 || *p == '\n', "control character %d", *p);
        columns += ((unsigned char)*p & 0xc0) != 0x80;
        columns = *p == '\n' ? 0 : columns;
        widest = columns > widest ? columns : widest;
    }
    CHECK_SAY(!escapes == !options->color || !*text, "%d escapes", escapes);
    CHECK_SAY(widest <= options->width, "%zu columns of %u:\n%s", widest, options->width, text);
}

static void test_random_tables(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        tally_result *r = random_result();
        tally_write_options options = TALLY_WRITE_OPTIONS_INIT;
        options.width = 130 + (uint32_t)below(70);
        options.max_rows = 1 + (uint32_t)below(40);
        options.color = (int)below(2);
        options.ascii = (int)below(2);
        options.log_counts = !r->column && below(2);
        options.statistics = r->column && below(2) ? 1 + (uint32_t)below(255) : 0;
        options.width += r->column ? 140 : 0; /* a column for each statistic, of any size */
        kept k = written(r, TALLY_FORMAT_TABLE, &options);
        check_table(k.bytes, &options);
        options.width = 1 + (uint32_t)below(20); /* too narrow is ugly, not wrong */
        kept narrow = written(r, TALLY_FORMAT_TABLE, &options);
        free(narrow.bytes);
        free(k.bytes);
        k = written(r, TALLY_FORMAT_CSV, NULL);
        uint64_t lines = 0;
        for (const char *p = k.bytes; *p; p++)
            lines += *p == '\n';
        CHECK_SAY(lines >= 1 + r->bins * r->histograms, "%" PRIu64 " lines", lines);
        free(k.bytes);
        tally_result_destroy(r);
    }
}

/* The number of blank columns before the row's bar says nothing; its length must follow the counts.
 */
static void test_bars_follow_counts(void)
{
    tally_result *r = make(tally_axis_integer(20, 0), TALLY_I32, 1, NULL);
    uint64_t *counts = r->counts;
    for (int i = 0; i < 20; i++)
        counts[i] = below(1000000);
    counts[3] = 1;
    counts[4] = 0;
    kept k = written(r, TALLY_FORMAT_TABLE, NULL);
    size_t eighths[20] = {0};
    const char *line = strstr(k.bytes, "share\n") + 6;
    for (int i = 0; i < 20; i++, line = strchr(line, '\n') + 1)
        for (const char *p = line; *p != '\n'; p++)
            if (strncmp(p, "\u2588", 2) == 0) /* U+2588 … U+258f: 8 … 1 eighths */
                eighths[i] += 8 - ((unsigned char)p[2] - 0x88);
    CHECK_SAY(eighths[4] == 0 && eighths[3] == 1, "empty and smallest: %zu, %zu", eighths[4],
              eighths[3]);
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 20; j++)
            CHECK_SAY(counts[i] < counts[j] || eighths[i] >= eighths[j], "rows %d and %d", i, j);
    free(k.bytes);
    tally_result_destroy(r);
}

/* ---- Pictures ---- */

#if TALLY_HAVE_CAIRO

/* fontconfig keeps its configuration to the end of the process, and loses sight of a part of it. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig";
}

typedef struct reading {
    const char *bytes;
    size_t left;
} reading;

static cairo_status_t hand_out(void *user, unsigned char *bytes, unsigned size)
{
    reading *r = user;
    if (size > r->left)
        return CAIRO_STATUS_READ_ERROR;
    memcpy(bytes, r->bytes, size);
    r->bytes += size;
    r->left -= size;
    return CAIRO_STATUS_SUCCESS;
}

static uint32_t pixel(cairo_surface_t *picture, int x, int y)
{
    uint32_t value;
    memcpy(&value,
           cairo_image_surface_get_data(picture) +
               (size_t)y * (size_t)cairo_image_surface_get_stride(picture) + (size_t)x * 4,
           4);
    return value & 0xffffff;
}

static cairo_surface_t *picture_of(const tally_result *r, const tally_write_options *options)
{
    kept k = written(r, TALLY_FORMAT_PNG, options);
    reading from = {k.bytes, k.size};
    cairo_surface_t *picture = cairo_image_surface_create_from_png_stream(hand_out, &from);
    CHECK_SAY(cairo_surface_status(picture) == CAIRO_STATUS_SUCCESS && from.left == 0,
              "a whole PNG");
    free(k.bytes);
    return picture;
}

/* Pixels that are neither white nor grey, in percent of the rectangle. */
static int colored(cairo_surface_t *picture, int x0, int y0, int x1, int y1)
{
    int count = 0;
    for (int y = y0; y < y1; y++) {
        for (int x = x0; x < x1; x++) {
            uint32_t p = pixel(picture, x, y);
            int red = (int)(p >> 16), blue = (int)(p & 255);
            count += blue - red > 30 || red - blue > 30;
        }
    }
    return count * 100 / ((x1 - x0) * (y1 - y0));
}

static void test_picture_content(void)
{
    tally_result *r = make(tally_axis_even(2, 0, 1), TALLY_F32, 1, NULL);
    ((uint64_t *)r->counts)[1] = 10;
    cairo_surface_t *picture = picture_of(r, NULL);
    CHECK_SAY(cairo_image_surface_get_width(picture) == 1000 &&
                  cairo_image_surface_get_height(picture) == 600,
              "size");
    CHECK_SAY(colored(picture, 150, 150, 450, 500) == 0, "the empty bin is empty");
    CHECK_SAY(colored(picture, 600, 150, 900, 500) == 100, "the full bin is full");
    cairo_surface_destroy(picture);

    /* Uneven bins of equal density are equally high, whatever their counts. */
    tally_result_destroy(r);
    double edges[] = {0, 1, 10};
    r = make(tally_axis_edges(2, edges), TALLY_F32, 1, NULL);
    ((uint64_t *)r->counts)[0] = 100;
    ((uint64_t *)r->counts)[1] = 900;
    picture = picture_of(r, NULL);
    CHECK_SAY(colored(picture, 100, 200, 140, 500) == 100 &&
                  colored(picture, 300, 200, 900, 500) == 100,
              "densities");
    cairo_surface_destroy(picture);
    tally_result_destroy(r);

    /* One bin in 65 536 that holds something is still seen. */
    r = make(tally_axis_even(65536, 0, 65536), TALLY_U16, 1, NULL);
    ((uint64_t *)r->counts)[40000] = 7;
    picture = picture_of(r, NULL);
    int seen = 0;
    for (int x = 100; x < 970; x++)
        seen += colored(picture, x, 150, x + 1, 450) == 100;
    CHECK_SAY(seen == 1 || seen == 2, "%d columns", seen);
    cairo_surface_destroy(picture);
    tally_result_destroy(r);
}

static void test_pictures(int rounds)
{
    test_picture_content();
    for (int i = 0; i < rounds; i++) {
        tally_result *r = random_result();
        tally_write_options options = TALLY_WRITE_OPTIONS_INIT;
        options.width = 200 + (uint32_t)below(900);
        options.height = 150 + (uint32_t)below(600);
        options.log_counts = !r->column && below(2);
        options.statistics = !r->column || below(3) == 0 ? 0
                             : below(3)                  ? 1u << below(8)
                                        : TALLY_STATISTIC_MEAN | TALLY_STATISTIC_ERROR;
        options.title =
            below(2) ? "\xff\x01 a very long title that goes on and on \xe2\x82\xac and on" : NULL;
        const tally_result *one = r;
        tally_error error = {""};
        kept k = {0};
        tally_format format = below(2) ? TALLY_FORMAT_PNG : TALLY_FORMAT_SVG;
        tally_status status = tally_result_write(&one, 1, format, &options, keep, &k, &error);
        if (r->dimensions > 2 || (r->dimensions == 2 && r->histograms > 1)) {
            CHECK_SAY(status == TALLY_ERROR_UNSUPPORTED && strstr(error.message, "pict"), "%s",
                      error.message);
        } else {
            CHECK_SAY(status == TALLY_OK, "%s", error.message);
            CHECK_SAY(!status &&
                          (format == TALLY_FORMAT_PNG
                               ? memcmp(k.bytes, "\x89PNG\r\n\x1a\n", 8) == 0
                               : strncmp(k.bytes, "<?xml", 5) == 0 && strstr(k.bytes, "</svg>")),
                      "the format's own words");
        }
        free(k.bytes);
        tally_result_destroy(r);
    }
    tally_result *r = make(tally_axis_even(2, 0, 1), TALLY_F32, 1, NULL);
    const tally_result *one = r;
    tally_write_options options = TALLY_WRITE_OPTIONS_INIT;
    tally_error error = {""};
    kept k = {.limit = 1000, .code = 28};
    CHECK_SAY(tally_result_write(&one, 1, TALLY_FORMAT_PNG, NULL, keep, &k, &error) ==
                  TALLY_ERROR_IO,
              "a sink that fails");
    CHECK_SAY(strstr(error.message, strerror(28)) != NULL, "%s", error.message);
    CHECK_SAY(tally_result_write(&one, 1, TALLY_FORMAT_SVG, NULL, keep, &k, &error) ==
                  TALLY_ERROR_IO,
              "a sink that fails");
    options.width = 100;
    CHECK_SAY(tally_result_write(&one, 1, TALLY_FORMAT_PNG, &options, keep, &k, &error) ==
                  TALLY_ERROR_ARGUMENT,
              "too small");
    free(k.bytes);
    tally_result_destroy(r);
}

#else

static void test_pictures(int rounds)
{
    tally_result *r = make(tally_axis_even(2, 0, 1), TALLY_F32, 1, NULL);
    const tally_result *one = r;
    tally_error error = {""};
    kept k = {0};
    (void)rounds;
    CHECK_SAY(tally_result_write(&one, 1, TALLY_FORMAT_PNG, NULL, keep, &k, &error) ==
                      TALLY_ERROR_UNSUPPORTED &&
                  strstr(error.message, "cairo"),
              "%s", error.message);
    printf("skipped: what pictures show: built without cairo\n");
    tally_result_destroy(r);
}

#endif

/* ---- All formats ---- */

static void test_formats(void)
{
    static const char *const names[] = {"table", "csv", "json", "npy", "png", "svg"};
    for (int i = 0; i < 6; i++)
        CHECK_SAY(tally_format_parse(names[i]) == i, "%s", names[i]);
    CHECK_SAY(tally_format_parse("PNG") == -1 && tally_format_parse("") == -1 &&
                  tally_format_parse(NULL) == -1,
              "no format");
    tally_result *r = make(tally_axis_even(2, 0, 1), TALLY_F32, 1, NULL);
    const tally_result *one = r;
    kept k = {0};
    tally_error error = {""};
    tally_write_options options = {0}; /* struct_size forgotten */
    CHECK_SAY(tally_result_write(&one, 1, TALLY_FORMAT_CSV, &options, keep, &k, &error) ==
                  TALLY_ERROR_ARGUMENT,
              "struct_size");
    CHECK_SAY(tally_result_write(&one, 1, (tally_format)6, NULL, keep, &k, &error) ==
                  TALLY_ERROR_ARGUMENT,
              "format");
    CHECK_SAY(tally_result_write(&one, 0, TALLY_FORMAT_JSON, NULL, keep, &k, &error) ==
                  TALLY_ERROR_ARGUMENT,
              "no result");
    tally_write_options older = TALLY_WRITE_OPTIONS_INIT;
    older.struct_size = offsetof(tally_write_options, statistics);
    older.statistics = 0xffff; /* what an older program has behind its own */
    CHECK_SAY(k.size == 0, "nothing was written");
    CHECK_SAY(tally_result_write(&one, 1, TALLY_FORMAT_CSV, &older, keep, &k, &error) == TALLY_OK,
              "options of an older header: %s", error.message);
    older.struct_size--;
    CHECK_SAY(tally_result_write(&one, 1, TALLY_FORMAT_CSV, &older, keep, &k, &error) ==
                  TALLY_ERROR_ARGUMENT,
              "options of none");
    free(k.bytes);
    tally_result_destroy(r);
}

static void test_memory(void)
{
    tally_result *r = random_result();
    const tally_result *one = r;
    for (int format = TALLY_FORMAT_TABLE; format <= TALLY_FORMAT_NPY; format++) {
        for (long n = 0;; n++) {
            tally_error error = {""};
            kept k = {0};
            ty_alloc_fail_after(n);
            tally_status status =
                tally_result_write(&one, 1, (tally_format)format, NULL, keep, &k, &error);
            ty_alloc_fail_after(-1);
            free(k.bytes);
            if (!status || (status == TALLY_ERROR_UNSUPPORTED && r->column))
                break;
            CHECK_SAY(status == TALLY_ERROR_MEMORY, "allocation %ld: %s", n, error.message);
        }
    }
    tally_result_destroy(r);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", state);
    test_formats();
    test_csv();
    test_npy();
    test_table();
    test_labels();
    test_random_tables(300);
    test_bars_follow_counts();
    test_pictures(150);
    for (int i = 0; i < 10; i++)
        test_memory();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
