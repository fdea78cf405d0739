/* SPDX-License-Identifier: Apache-2.0 */
/* Files whose samples threads read themselves: the same as in chunks, from any element on, and
 * where they are lent, also while others wish to cut the file; cut and changed files by their
 * place; which inputs have no such view. */
#define _GNU_SOURCE /* F_SETLEASE */
#include "input_help.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned lent; /* pieces that were lent and compared */

static tally_input *open_view(const char *path, const tally_input_options *o, tally_view *view)
{
    tally_input *in = NULL;
    tally_error error = {""};
    CHECK_SAY(!tally_input_open(path, o, &in, &error), "%s", error.message);
    CHECK(in && !tally_input_view(in, view, &error));
    return in;
}

/* What the view's source gives for random ranges is what chunks are. */
static void check_same(const char *path, const tally_input_options *o)
{
    contents c = {0};
    tally_error error = {""};
    tally_view view;
    CHECK_SAY(!help_read(path, o, 1, &c, &error), "%s", error.message);
    tally_input *in = open_view(path, o, &view);
    CHECK_SAY(view.source != NULL && view.dtype == c.info.dtype, "%s", path);
    const uint64_t elements = view.rows * view.columns;
    const size_t pixel = tally_dtype_bytes(view.dtype) * (size_t)view.channels;
    CHECK(elements * pixel == c.samples.size);
    for (int i = 0; view.source && i < 20; i++) {
        const uint64_t begin = i ? help_below(elements) : 0;
        const uint64_t count = i ? 1 + help_below(elements - begin) : elements;
        unsigned char *to = malloc(count * pixel);
        CHECK_SAY(!view.source->read(view.source->user, begin, count, to, &error), "%s",
                  error.message);
        CHECK_SAY(!memcmp(to, c.samples.bytes + begin * pixel, count * pixel), "%s", path);
        free(to);
        const void *there = view.source->lend(view.source->user, begin, count);
        if (!there)
            continue;
        lent++;
        CHECK_SAY(!memcmp(there, c.samples.bytes + begin * pixel, count * pixel), "%s", path);
        view.source->give_back(view.source->user, there, begin, count);
    }
    tally_input_close(in);
    blob_free(&c.samples);
}

static void check_regions(const char *path, tally_input_options o, uint64_t rows, uint64_t columns)
{
    check_same(path, &o);
    for (int i = 0; i < 5; i++) {
        o.row_begin = help_below(rows);
        o.row_end = o.row_begin + 1 + help_below(rows - o.row_begin);
        o.column_begin = help_below(columns);
        o.column_end = o.column_begin + 1 + help_below(columns - o.column_begin);
        check_same(path, &o);
    }
}

static void test_raw(void)
{
    unsigned char bytes[7 + 60 * 50 * 3 * 4];
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    help_fill(bytes, sizeof bytes);
    const char *path = help_write("raw", bytes, sizeof bytes);
    o.dtype = TALLY_F32;
    o.offset_bytes = 7;
    check_same(path, &o);
    o.shape[0] = 60;
    o.shape[1] = 50;
    o.shape[2] = 3;
    check_regions(path, o, 60, 50);
}

static void test_npy(void)
{
    static const char *const types[] = {"<u2", ">u2", ">f4", "<f8", ">i8", "|u1"};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        char header[100], text[118 + 1];
        unsigned char samples[40 * 30 * 8];
        const size_t size = (size_t)(types[t][2] - '0') * 40 * 30;
        blob file = {0};
        snprintf(header, sizeof header,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (40, 30), }", types[t]);
        snprintf(text, sizeof text, "%-117s\n", header);
        help_fill(samples, sizeof samples);
        blob_add(&file, "\x93NUMPY\1\0\x76\0", 10);
        blob_add(&file, text, 118);
        blob_add(&file, samples, size);
        const tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
        check_regions(help_write("a.npy", file.bytes, file.size), o, 40, 30);
        blob_free(&file);
    }
}

static void test_pnm(void)
{
    static const char *const heads[] = {"P5 40 30 255\n", "P6\n# c\n40 30\n65535\n",
                                        "P7\nWIDTH 40\nHEIGHT 30\nDEPTH 4\nMAXVAL 255\nENDHDR\n"};
    static const size_t sizes[] = {1, 6, 4};
    const tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    for (int k = 0; k < 3; k++) {
        unsigned char samples[40 * 30 * 6];
        blob file = {0};
        help_fill(samples, sizeof samples);
        blob_text(&file, heads[k]);
        blob_add(&file, samples, 40 * 30 * sizes[k]);
        check_regions(help_write("a.pnm", file.bytes, file.size), o, 30, 40);
        blob_free(&file);
    }
    /* A sample above the maxval, and one too few. */
    tally_error error = {""};
    tally_view view;
    unsigned char to[8];
    tally_input *in = open_view(help_write("b.pgm", "P5 4 1 9\n\1\2\3\12", 13), NULL, &view);
    CHECK(view.source &&
          view.source->read(view.source->user, 0, 4, to, &error) == TALLY_ERROR_FORMAT &&
          strstr(error.message, "above the maxval (near byte 9)"));
    CHECK(view.source && !view.source->read(view.source->user, 0, 3, to, &error));
    CHECK(view.source && !view.source->lend(view.source->user, 0, 4));
    tally_input_close(in);
    in = open_view(help_write("c.pgm", "P5 4 1 9\n\1\2\3", 12), NULL, &view);
    CHECK(!view.source);
    tally_input_close(in);
}

/* Uncompressed strips in any order, by hand: 2 rows of 3 u16 in each of 3 strips. */
static void test_tiff(void)
{
    for (int big = 0; big < 2; big++) {
        blob file = {0};
        unsigned char strips[3 * 12];
        const uint32_t at[3] = {8 + 24, 8, 8 + 12}, entries = 9, table = 8 + 36;
        const uint32_t fields[9][4] = {{256, 4, 1, 3}, {257, 4, 1, 6}, {258, 3, 1, 16},
                                       {259, 3, 1, 1}, {262, 3, 1, 1}, {273, 4, 3, 0},
                                       {277, 3, 1, 1}, {278, 4, 1, 2}, {279, 4, 3, 0}};
        help_fill(strips, sizeof strips);
#define PUT(value, bytes)                                                                          \
    for (unsigned b_ = 0; b_ < (bytes); b_++)                                                      \
    blob_add(                                                                                      \
        &file,                                                                                     \
        &(unsigned char){(unsigned char)((uint32_t)(value) >> 8 * (big ? (bytes)-1 - b_ : b_))},   \
        1)
        blob_text(&file, big ? "MM" : "II");
        PUT(42, 2);
        PUT(table, 4);
        blob_add(&file, strips, sizeof strips);
        PUT(entries, 2);
        const uint32_t behind = table + 2 + entries * 12 + 4;
        for (unsigned i = 0; i < entries; i++) {
            PUT(fields[i][0], 2);
            PUT(fields[i][1], 2);
            PUT(fields[i][2], 4);
            if (fields[i][2] == 3)
                PUT(behind + (fields[i][0] == 279 ? 12 : 0), 4);
            else if (fields[i][1] == 3) {
                PUT(fields[i][3], 2);
                PUT(0, 2);
            } else
                PUT(fields[i][3], 4);
        }
        PUT(0, 4);
        for (int i = 0; i < 3; i++)
            PUT(at[i], 4);
        for (int i = 0; i < 3; i++)
            PUT(12, 4);
        const tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
        const char *path = help_write("a.tif", file.bytes, file.size);
        tally_input *in = NULL;
        tally_error error = {""};
        if (tally_input_open(path, &o, &in, &error) == TALLY_ERROR_UNSUPPORTED)
            printf("%s\n", error.message);
        else
            check_regions(path, o, 6, 3);
        tally_input_close(in);
        blob_free(&file);
    }
}

/* What was opened is cut: by the place, wherever a part begins. */
static void test_cut(void)
{
    static unsigned char bytes[100000], to[100000];
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    tally_error error = {""};
    tally_view view;
    help_fill(bytes, sizeof bytes);
    o.dtype = TALLY_U8;
    const char *path = help_write("cut", bytes, sizeof bytes);
    tally_input *in = open_view(path, &o, &view);
    CHECK(!truncate(path, 70000));
    for (uint64_t begin = 0; view.source && begin < 100000; begin += 10000) {
        const tally_status status = view.source->read(view.source->user, begin, 10000, to, &error);
        CHECK_SAY(status == (begin < 70000 ? TALLY_OK : TALLY_ERROR_IO), "%d", (int)status);
    }
    CHECK_SAY(
        NULL != strstr(error.message,
                       "cut: was cut while it was read: it ends after 70000 bytes and had 100000"),
        "%s", error.message);
    tally_input_close(in);
}

/* ---- Lent bytes ---------------------------------------------------------------------------- */

/* Whether leases are to be had where the tests' files are. */
static int has_leases(const char *path)
{
    const int file = open(path, O_RDONLY);
    const int has = fcntl(file, F_SETLEASE, F_RDLCK) == 0;
    close(file);
    return has;
}

static void *cut_file(void *path)
{
    CHECK(!truncate(path, 5000));
    return NULL;
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Who wants to cut the file waits until lent bytes are returned, and gets in then. */
static void check_cutter(const char *path, const tally_source *s, const unsigned char *bytes)
{
    pthread_t cutter;
    tally_error error = {""};
    unsigned char to[10];
    const void *one = s->lend(s->user, 0, 100000), *two = s->lend(s->user, 50000, 10);
    CHECK(one && two && !pthread_create(&cutter, NULL, cut_file, (void *)(uintptr_t)path));
    if (!one || !two)
        return;
    const void *more = one;
    for (int i = 0; i < 5000 && more; i++) {
        more = s->lend(s->user, 7, 9);
        if (more)
            s->give_back(s->user, more, 7, 9);
        pause_shortly();
    }
    CHECK(!more && !memcmp(one, bytes, 100000));
    s->give_back(s->user, one, 0, 100000);
    CHECK(!memcmp(two, bytes + 50000, 10));
    s->give_back(s->user, two, 50000, 10);
    CHECK(!pthread_join(cutter, NULL));
    CHECK(!s->lend(s->user, 0, 10));
    CHECK(s->read(s->user, 50000, 10, to, &error) == TALLY_ERROR_IO &&
          strstr(error.message, "lent: was cut"));
}

static void test_lent(void)
{
    static unsigned char bytes[100000];
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    tally_view view;
    int state = 1;
    help_fill(bytes, sizeof bytes);
    o.dtype = TALLY_U8;
    const char *path = help_write("lent", bytes, sizeof bytes);
    if (!has_leases(path)) {
        printf("no leases here: nothing is lent\n");
        CHECK(!lent);
        return;
    }
    CHECK(lent > 0);
    tally_input *in = open_view(path, &o, &view);
    const tally_source *s = view.source;
    int writer = open(path, O_WRONLY);
    CHECK(!s->lend(s->user, 0, 10));
    close(writer);
    const void *there = s->lend(s->user, 99990, 10);
    CHECK(there && !memcmp(there, bytes + 99990, 10));
    const pid_t child = fork();
    if (!child)
        _exit(s->lend(s->user, 0, 10) != NULL);
    CHECK(waitpid(child, &state, 0) == child && state == 0);
    CHECK(open(path, O_WRONLY | O_NONBLOCK) < 0 && errno == EWOULDBLOCK);
    CHECK(!s->lend(s->user, 0, 10)); /* somebody may wait */
    s->give_back(s->user, there, 99990, 10);
    writer = open(path, O_WRONLY | O_NONBLOCK);
    CHECK(writer >= 0);
    close(writer);
    check_cutter(path, s, bytes);
    tally_input_close(in);
}

typedef struct cut_at {
    const char *path;
    int done;
} cut_at;

static int cut_once(void *user, uint64_t done, uint64_t total)
{
    cut_at *c = user;
    (void)total;
    if (!c->done++)
        CHECK(!truncate(c->path, (off_t)done));
    return 0;
}

/* Cut while it is counted: an error with the place, and no counts, unless other threads have read
 * all before. */
static void check_cut_counting(uint32_t threads)
{
    enum { BYTES = 40 << 20 };
    uint64_t counts[256] = {0};
    tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
    tally_plan_options o = TALLY_PLAN_OPTIONS_INIT;
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_input_options raw = TALLY_INPUT_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_context *context = NULL;
    tally_plan *plan = NULL;
    tally_error error = {""};
    tally_view view;
    raw.dtype = o.dtypes[0] = TALLY_U8;
    where.threads = threads;
    o.axes[0] = tally_axis_even(256, 0, 256);
    cut_at cut = {help_write("counted", "", 0), 0};
    CHECK(!truncate(cut.path, BYTES));
    CHECK(!tally_context_create(&where, &context, &error));
    CHECK(!tally_plan_create(context, &o, &plan, &error));
    how.progress = cut_once;
    how.user = &cut;
    out.counts = counts;
    tally_input *in = open_view(cut.path, &raw, &view);
    const tally_status status = tally_execute(plan, &view, &how, &out, &error);
    CHECK_SAY((threads > 1 && !status && counts[0] == BYTES) ||
                  (status == TALLY_ERROR_IO && strstr(error.message, "counted: was cut") &&
                   strstr(error.message, "had 41943040 when") && !counts[0]),
              "%d: %s", (int)status, error.message);
    tally_input_close(in);
    tally_plan_destroy(plan);
    tally_context_destroy(context);
}

static void test_none(void)
{
    static const char text[] = "1\n2\n3\n";
    tally_input_options raw = TALLY_INPUT_OPTIONS_INIT;
    tally_view view;
    tally_input *in = open_view(help_write("t.txt", text, 6), NULL, &view);
    CHECK(!view.source);
    CHECK(tally_input_view(in, NULL, NULL) == TALLY_ERROR_ARGUMENT);
    tally_input_close(in);
    CHECK(tally_input_view(NULL, &view, NULL) == TALLY_ERROR_ARGUMENT);
    blob packed = help_gzip(text, 6);
    raw.dtype = TALLY_U8;
    if (packed.size) {
        in = open_view(help_write("t.gz", packed.bytes, packed.size), &raw, &view);
        CHECK(!view.source);
        tally_input_close(in);
    }
    blob_free(&packed);
    in = open_view("/dev/zero", &raw, &view);
    CHECK(!view.source);
    tally_input_close(in);
}

/* Several images in a file: all of one kind are read, or the one that is asked for. */
static void check_pages(const char *path, uint64_t page, const void *want, size_t size)
{
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    contents c = {0};
    tally_error error = {""};
    o.page = page;
    CHECK_SAY(!help_read(path, &o, 2, &c, &error), "%s", error.message);
    CHECK_SAY(c.samples.size == size && !memcmp(c.samples.bytes, want, size), "%s, page %llu", path,
              (unsigned long long)page);
    blob_free(&c.samples);
}

static void test_pnm_pages(void)
{
    static const char file[] = "P5 2 2 255\nabcdP5 3 1 255\nefgP4 4 1\n\x50P5\n1 1\n9\n\7";
    static const unsigned char all[] = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 0, 1, 0, 1, 7};
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    tally_view view;
    const char *path = help_write("p.pgm", file, sizeof file - 1);
    tally_input *in = open_view(path, &o, &view);
    CHECK(!view.source);
    tally_input_close(in);
    check_pages(path, 0, all, sizeof all);
    check_pages(path, 1, "abcd", 4);
    check_pages(path, 2, "efg", 3);
    check_pages(path, 3, "\0\1\0\1", 4);
    check_pages(path, 4, "\7", 1);
    o.page = 5;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "page 5 is asked for, but it has 4");
    o.page = 2;
    EXPECT_FAIL(help_write("t.txt", "1\n2\n", 4), &o, TALLY_ERROR_ARGUMENT, "may have several");
    o.page = 0;
    EXPECT_FAIL(help_write("q.ppm", "P5 1 1 255\naP6 1 1 255\nabc", 26), &o,
                TALLY_ERROR_UNSUPPORTED, "image 2 has 3 channel(s) of u8, the first 1 of u8");
    EXPECT_FAIL(help_write("q.ppm", "P5 1 1 255\naP5 2 1 255\nb", 24), &o, TALLY_ERROR_FORMAT,
                "the samples end");
    /* A region is of each image; what is no image behind the last one is no matter. */
    o.row_end = 1;
    contents c = {0};
    tally_error error = {""};
    path = help_write("r.pgm", "P5 2 2 255\nabcdP5 2 3 255\nefghij\n", 34);
    CHECK_SAY(!help_read(path, &o, 2, &c, &error), "%s", error.message);
    CHECK(c.samples.size == 4 && !memcmp(c.samples.bytes, "abef", 4));
    blob_free(&c.samples);
}

/* Little-endian TIFF pages of u8 or u16, one strip each; `kind` is the subfile type. */
static uint32_t add_page(blob *file, uint32_t width, uint32_t height, uint32_t bits, uint32_t kind,
                         const void *samples, int last)
{
    const uint32_t size = width * height * bits / 8, data = (uint32_t)file->size;
    blob_add(file, samples, size);
    if (file->size % 2)
        blob_add(file, "", 1);
    const uint32_t table = (uint32_t)file->size, entries = 9;
    const uint32_t fields[9][3] = {{254, 4, kind}, {256, 4, width},  {257, 4, height},
                                   {258, 3, bits}, {259, 3, 1},      {262, 3, 1},
                                   {273, 4, data}, {278, 4, height}, {279, 4, size}};
    unsigned char bytes[2 + 9 * 12 + 4] = {(unsigned char)entries};
    for (unsigned i = 0; i < entries; i++) {
        const uint32_t words[3] = {fields[i][0] | fields[i][1] << 16, 1, fields[i][2]};
        memcpy(bytes + 2 + 12 * i, words, 12);
    }
    const uint32_t next = last ? 0 : table + (uint32_t)sizeof bytes;
    memcpy(bytes + sizeof bytes - 4, &next, 4);
    blob_add(file, bytes, sizeof bytes);
    return table;
}

/* The next page's directory lies behind its samples, so that links are set afterwards. */
static void link_pages(blob *file, const uint32_t *tables, int count)
{
    memcpy(file->bytes + 4, &tables[0], 4);
    for (int i = 0; i + 1 < count; i++)
        memcpy(file->bytes + tables[i] + 2 + 9 * 12, &tables[i + 1], 4);
}

static void test_tiff_pages(void)
{
    blob file = {0};
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    tally_input *in = NULL;
    tally_error error = {""};
    uint32_t tables[4];
    blob_add(&file, "II*\0\0\0\0\0", 8);
    tables[0] = add_page(&file, 3, 2, 8, 0, "abcdef", 0);
    tables[1] = add_page(&file, 1, 1, 8, 1, "x", 0); /* a smaller copy */
    tables[2] = add_page(&file, 2, 2, 8, 2, "ghij", 1);
    link_pages(&file, tables, 3);
    const char *path = help_write("p.tif", file.bytes, file.size);
    if (tally_input_open(path, &o, &in, &error) == TALLY_ERROR_UNSUPPORTED) {
        printf("%s\n", error.message);
        blob_free(&file);
        return;
    }
    tally_input_close(in);
    check_pages(path, 0, "abcdefghij", 10);
    check_pages(path, 1, "abcdef", 6);
    check_pages(path, 2, "ghij", 4);
    o.page = 3;
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, "page 3 is asked for, but it has 2");
    o.page = 0;
    /* Another type, and pages that go round in a ring. */
    tables[3] = add_page(&file, 1, 1, 16, 0, "kl", 1);
    link_pages(&file, tables, 4);
    EXPECT_FAIL(help_write("m.tif", file.bytes, file.size), &o, TALLY_ERROR_UNSUPPORTED,
                "page 3 has 1 channel(s) of u16, the first 1 of u8");
    memcpy(file.bytes + tables[2] + 2 + 9 * 12, &tables[0], 4);
    EXPECT_FAIL(help_write("l.tif", file.bytes, file.size), &o, TALLY_ERROR_FORMAT, "tiff");
    blob_free(&file);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    test_raw();
    test_npy();
    test_pnm();
    test_tiff();
    test_cut();
    test_lent();
    check_cut_counting(1);
    check_cut_counting(3);
    test_none();
    test_pnm_pages();
    test_tiff_pages();
    return help_end();
}
