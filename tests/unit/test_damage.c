/* SPDX-License-Identifier: Apache-2.0 */
/* Damage that an image library only warns of, or forgets: refused, in every pass alike. */
#include "execute_help.h"
#include "input_help.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if TALLY_HAVE_ZLIB
#include <zlib.h>
#endif
#if TALLY_HAVE_JPEG
#include <jpeglib.h>
#endif
#if TALLY_HAVE_TIFF
#include <tiffio.h>
#endif

#if TALLY_HAVE_PNG || TALLY_HAVE_JPEG || TALLY_HAVE_TIFF

/* What one pass over `in` ends with, and all that it read. */
static tally_status read_on(tally_input *in, blob *samples, tally_error *error)
{
    tally_view view;
    for (int done = 0;;) {
        tally_status status = tally_input_read(in, &view, &done, error);
        if (status || done)
            return status;
        blob_add(samples, view.data,
                 (size_t)(view.rows * view.columns * view.channels) *
                     tally_dtype_bytes(view.dtype));
    }
}

/* Three passes end alike. Returns how; `words` must be in the message of a failure. */
static tally_status judge(const char *name, const blob *file, const char *words)
{
    const char *path = help_write(name, file->bytes, file->size);
    tally_error first = {""}, error = {""};
    tally_input *in = NULL;
    blob samples = {0};
    tally_status status = tally_input_open(path, NULL, &in, &first);
    if (!status) {
        status = read_on(in, &samples, &first);
        for (int pass = 1; pass < 3; pass++) {
            blob again = {0};
            tally_status other = tally_input_rewind(in, &error);
            if (!other)
                other = read_on(in, &again, &error);
            int same = other == status && again.size == samples.size &&
                       (!again.size || !memcmp(again.bytes, samples.bytes, again.size)) &&
                       (!status || !strcmp(first.message, error.message));
            CHECK_SAY(same, "%s: %s: %s; pass %d: %s: %s", name, tally_status_string(status),
                      first.message, pass, tally_status_string(other), error.message);
            blob_free(&again);
        }
        tally_input_close(in);
    }
    CHECK_SAY(!status || strstr(first.message, words), "%s: %s", name, first.message);
    blob_free(&samples);
    return status;
}

#endif

/* ---- PNG, written by hand ---- */

#if TALLY_HAVE_PNG && TALLY_HAVE_ZLIB

static void add_number(blob *b, uint32_t value)
{
    const unsigned char bytes[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
                                    (unsigned char)(value >> 8), (unsigned char)value};
    blob_add(b, bytes, 4);
}

static void add_chunk(blob *b, const char *name, const void *bytes, size_t size)
{
    add_number(b, (uint32_t)size);
    size_t from = b->size;
    blob_add(b, name, 4);
    blob_add(b, bytes, size);
    add_number(b, (uint32_t)crc32(0, b->bytes + from, (uInt)(size + 4)));
}

enum { SIDE = 20 }; /* rows and columns */

typedef struct png_case {
    int color, interlaced;
    unsigned palette, transparent; /* entries of PLTE and tRNS */
    unsigned highest;              /* sample */
    int rows;                      /* in the data */
    int adler, extra;              /* a wrong checksum; bytes behind the data */
} png_case;

static blob make_png(const png_case *k)
{
    unsigned char palette[768], alpha[300], rows[2 * SIDE * (SIDE * 4 + 1)], packed[8192];
    unsigned char head[13] = {0,
                              0,
                              0,
                              SIDE,
                              0,
                              0,
                              0,
                              SIDE,
                              8,
                              (unsigned char)k->color,
                              0,
                              0,
                              (unsigned char)k->interlaced};
    const size_t channels = k->color == 6 ? 4 : 1;
    size_t size = (size_t)k->rows * (SIDE * channels + 1);
    uLongf length = sizeof packed;
    blob b = {0};
    memset(palette, 9, sizeof palette);
    memset(alpha, 7, sizeof alpha);
    memset(rows, 0, sizeof rows); /* filter 0 in front of each row, also of a pass */
    if (!k->interlaced)
        rows[(size_t)(SIDE - 1) * (SIDE * channels + 1) + 5] = (unsigned char)k->highest;
    else
        rows[1] = (unsigned char)k->highest; /* the first pass's first pixel */
    if (compress(packed, &length, rows, size) != Z_OK)
        abort();
    packed[length - 1] ^= (unsigned char)k->adler;
    memset(packed + length, 1, (size_t)k->extra);
    blob_add(&b, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(&b, "IHDR", head, sizeof head);
    if (k->palette)
        add_chunk(&b, "PLTE", palette, (size_t)3 * k->palette);
    if (k->transparent)
        add_chunk(&b, "tRNS", alpha, k->transparent);
    add_chunk(&b, "IDAT", packed, length + (size_t)k->extra);
    add_chunk(&b, "IEND", "", 0);
    return b;
}

static void test_png(void)
{
    static const struct {
        png_case k;
        tally_status want;
        const char *words;
    } cases[] = {
        {{3, 0, 5, 0, 4, SIDE, 0, 0}, TALLY_OK, ""},
        {{3, 0, 5, 0, 5, SIDE, 0, 0}, TALLY_ERROR_FORMAT, "colour 5, but its palette has 5"},
        {{3, 0, 5, 2, 255, SIDE, 0, 0}, TALLY_ERROR_FORMAT, "colour 255, but its palette has 5"},
        {{3, 1, 5, 0, 4, 2 * SIDE, 0, 0}, TALLY_ERROR_FORMAT, "Too much image data"},
        {{3, 0, 5, 5, 4, SIDE, 0, 0}, TALLY_OK, ""},
        {{3, 0, 5, 6, 4, SIDE, 0, 0}, TALLY_ERROR_FORMAT, "tRNS"},
        {{0, 0, 0, 0, 4, SIDE, 0, 0}, TALLY_OK, ""},
        {{0, 0, 0, 0, 4, SIDE, 1, 0}, TALLY_ERROR_FORMAT, "incorrect data check"},
        {{0, 0, 0, 0, 4, SIDE + 1, 0, 0}, TALLY_ERROR_FORMAT, "Too much image data"},
        {{0, 0, 0, 0, 4, SIDE, 0, 3}, TALLY_OK, ""}, /* behind checked data */
        {{0, 0, 0, 0, 4, SIDE - 1, 0, 0}, TALLY_ERROR_FORMAT, "ot enough image data"},
        {{0, 0, 5, 0, 4, SIDE, 0, 0}, TALLY_OK, ""}, /* a palette of grey: of no use */
        {{6, 0, 0, 3, 4, SIDE, 0, 0}, TALLY_OK, ""}, /* as is a colour that stands for alpha */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[32];
        snprintf(name, sizeof name, "case%zu.png", i);
        blob file = make_png(&cases[i].k);
        tally_status status = judge(name, &file, cases[i].words);
        CHECK_SAY(status == cases[i].want, "%s: %s", name, tally_status_string(status));
        blob_free(&file);
    }
}

#endif

/* ---- JPEG ---- */

#if TALLY_HAVE_JPEG

static blob make_jpeg(void)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char row[3 * 64], *memory = NULL;
    unsigned long size = 0;
    JSAMPROW at = row;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &memory, &size);
    jpeg.image_width = jpeg.image_height = 64;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg.write_JFIF_header = FALSE; /* which would say what the colours are */
    jpeg.write_Adobe_marker = TRUE;
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < 64) {
        help_fill(row, sizeof row);
        jpeg_write_scanlines(&jpeg, &at, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    blob b = {0};
    blob_add(&b, memory, size);
    free(memory);
    return b;
}

/* `file` with `bytes` put in at `at`. */
static blob insert(const blob *file, size_t at, const char *bytes)
{
    blob b = {0};
    blob_add(&b, file->bytes, at);
    blob_text(&b, bytes);
    blob_add(&b, file->bytes + at, file->size - at);
    return b;
}

static void test_jpeg(void)
{
    blob file = make_jpeg(), changed;
    size_t adobe = 0;
    for (size_t i = 0; i + 5 < file.size && !adobe; i++)
        adobe = memcmp(file.bytes + i, "Adobe", 5) == 0 ? i : 0;
    CHECK(!judge("good.jpg", &file, ""));
    changed = insert(&file, 18, "stray"); /* between the first two segments */
    CHECK(!judge("stray.jpg", &changed, ""));
    blob_free(&changed);
    changed = insert(&file, file.size - 2, "left over");
    CHECK(judge("left.jpg", &changed, "extraneous bytes") == TALLY_ERROR_FORMAT);
    blob_free(&changed);
    CHECK(adobe > 0);
    file.bytes[adobe + 11] = 5; /* a colour transform that is none: YCbCr would be guessed */
    CHECK(judge("adobe.jpg", &file, "Adobe") == TALLY_ERROR_FORMAT);
    blob_free(&file);
}

#endif

/* ---- TIFF ---- */

#if TALLY_HAVE_TIFF && TIFFLIB_VERSION >= 20221213

/* `note` letters of description; NULL if libtiff cannot compress so. */
static blob make_tiff(uint16_t compression, int tiled, size_t note)
{
    const char *path = help_path("made.tif");
    blob file = {0};
    unsigned char samples[3 * 64 * 64];
    char *words = malloc(note + 1);
    TIFF *t = TIFFIsCODECConfigured(compression) ? TIFFOpen(path, "w") : NULL;
    if (!t || !words) {
        free(words);
        return file;
    }
    memset(words, 'x', note);
    words[note] = '\0';
    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (unsigned char)(i / 7 + help_below(20));
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 192);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, 128);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(t, TIFFTAG_COMPRESSION, compression);
    if (note)
        TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, words);
    if (tiled) {
        TIFFSetField(t, TIFFTAG_TILEWIDTH, 64);
        TIFFSetField(t, TIFFTAG_TILELENGTH, 64);
    } else {
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 16);
    }
    for (uint32_t i = 0; i < (tiled ? 6u : 8u); i++)
        CHECK((tiled ? TIFFWriteEncodedTile(t, i, samples, sizeof samples)
                     : TIFFWriteEncodedStrip(t, i, samples, 192 * 16 * 3)) > 0);
    TIFFClose(t);
    free(words);
    file = help_load(path);
    return file;
}

/* Whatever is made of a damaged file, every pass makes the same of it. */
static void test_tiff(void)
{
    static const uint16_t compressions[] = {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE,
                                            COMPRESSION_PACKBITS, COMPRESSION_JPEG};
    int refused = 0;
    for (size_t c = 0; c < 4; c++)
        for (int tiled = 0; tiled < 2; tiled++) {
            blob file = make_tiff(compressions[c], tiled, 0);
            if (!file.size)
                continue;
            CHECK(!judge("whole.tif", &file, ""));
            for (int i = 0; i < 60; i++) {
                blob bad = {0};
                blob_add(&bad, file.bytes, file.size);
                size_t at = 8 + (size_t)help_below(file.size - 8 - 16);
                for (size_t k = 0; k < 1 + help_below(16); k++)
                    bad.bytes[at + k] = (unsigned char)help_random();
                refused += judge("bad.tif", &bad, "bad.tif: ") != TALLY_OK;
                blob_free(&bad);
            }
            blob_free(&file);
        }
    CHECK_SAY(refused > 0, "nothing was found");
}

/* `what` of `size` bytes in the file from `from` on; 0 for none. */
static size_t find(const blob *file, size_t from, const char *what, size_t size)
{
    for (size_t i = from; i + size <= file->size; i++)
        if (memcmp(file->bytes + i, what, size) == 0)
            return i;
    return 0;
}

/* What libtiff and libjpeg only warn of: a scan that ends early, of which the rest would be grey.
 */
static void test_tiff_scan(void)
{
    for (int tiled = 0; tiled < 2; tiled++) {
        blob file = make_tiff(COMPRESSION_JPEG, tiled, 0);
        size_t scan = file.size ? find(&file, 0, "\xff\xda", 2) : 0;
        CHECK(!file.size || scan > 0);
        if (scan) {
            memcpy(file.bytes + scan + 60, "\xff\xd9", 2);
            CHECK(judge("scan.tif", &file, "") == TALLY_ERROR_FORMAT);
        }
        blob_free(&file);
    }
}

/* A palette that libtiff passes over, taking its indices for grey. */
static void test_tiff_palette(void)
{
    const char *path = help_path("palette.tif");
    unsigned char rows[16 * 16];
    uint16_t colors[3][256];
    TIFF *t = TIFFOpen(path, "wl");
    help_fill(rows, sizeof rows);
    help_fill(colors, sizeof colors);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 16);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, 16);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_PALETTE);
    TIFFSetField(t, TIFFTAG_COLORMAP, colors[0], colors[1], colors[2]);
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 16);
    CHECK(TIFFWriteEncodedStrip(t, 0, rows, sizeof rows) > 0);
    TIFFClose(t);
    blob file = help_load(path);
    CHECK(!judge("palette.tif", &file, ""));
    size_t tag = find(&file, 0, "\x40\x01\x03\x00\x00\x03\x00\x00", 8);
    CHECK(tag > 0);
    file.bytes[tag + 5] = 2; /* 512 numbers instead of 768 */
    CHECK(judge("short.tif", &file, "ColorMap") == TALLY_ERROR_FORMAT);
    blob_free(&file);
}

/* In a child with `bytes` of address space more than now: it opens, or memory is out. */
static int open_in(const char *path, uint64_t bytes)
{
    unsigned long long pages = 0;
    tally_error error = {""};
    tally_input *in = NULL;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%llu", &pages) != 1)
        return 2;
    fclose(f);
    const rlim_t most = (rlim_t)(pages * (uint64_t)sysconf(_SC_PAGESIZE) + bytes);
    const struct rlimit limit = {most, most};
    if (setrlimit(RLIMIT_AS, &limit))
        return 3;
    tally_status status = tally_input_open(path, NULL, &in, &error);
    if (status && status != TALLY_ERROR_MEMORY)
        fprintf(stderr, "%s\n", error.message);
    tally_input_close(in);
    return status && status != TALLY_ERROR_MEMORY;
}

static void test_tiff_memory(void)
{
    blob file = make_tiff(COMPRESSION_NONE, 0, 300000);
    char path[256];
    if (help_is_slow() || !file.size) {
        printf("a sanitizer or valgrind: no limit on the address space\n");
        blob_free(&file);
        return;
    }
    snprintf(path, sizeof path, "%s", help_write("noted.tif", file.bytes, file.size));
    CHECK(!judge("noted.tif", &file, ""));
    blob_free(&file);
    fflush(stdout);
    for (uint64_t more = 0; more < 2 << 20; more += 16 << 10) {
        pid_t child = fork();
        if (child == 0)
            _exit(open_in(path, more));
        int status = -1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK_SAY(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%llu bytes: status %#x",
                  (unsigned long long)more, (unsigned)status);
    }
}

#endif

int main(int argc, char **argv)
{
    help_begin(argc, argv);
#if TALLY_HAVE_PNG && TALLY_HAVE_ZLIB
    test_png();
#endif
#if TALLY_HAVE_JPEG
    test_jpeg();
#endif
#if TALLY_HAVE_TIFF && TIFFLIB_VERSION >= 20221213
    TIFFSetWarningHandler(NULL);
    test_tiff();
    test_tiff_scan();
    test_tiff_palette();
    test_tiff_memory();
#endif
    return help_end();
}
