/* SPDX-License-Identifier: Apache-2.0 */
/* PNG, JPEG and PNM: what the format's own library or a few lines by hand write is read back
 * sample by sample, whole, in regions and in small chunks, and refused when it is cut or damaged.
 */
#include "input_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if TALLY_HAVE_PNG
#include <png.h>
#endif
#if TALLY_HAVE_JPEG
#include <jpeglib.h>
#endif

/* ---- PNG ----------------------------------------------------------------------------------- */

#if TALLY_HAVE_PNG

typedef struct png_case {
    int depth, color, interlaced, transparent;
    uint32_t rows, columns;
} png_case;

/* Writes random stored rows and returns the samples that must be read. */
static blob make_png(const char *path, const png_case *k)
{
    blob samples = {0};
    png_color palette[256];
    png_byte alpha[256];
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    FILE *f = fopen(path, "wb");
    if (!f || setjmp(png_jmpbuf(png)))
        abort();
    png_init_io(png, f);
    png_set_IHDR(png, info, k->columns, k->rows, k->depth, k->color,
                 k->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    help_fill(palette, sizeof palette);
    help_fill(alpha, sizeof alpha);
    png_color_16 key = {0, 1, 1, 1, 1};
    if (k->color == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 1 << k->depth);
    if (k->transparent)
        png_set_tRNS(png, info, alpha, k->color == PNG_COLOR_TYPE_PALETTE ? 1 << k->depth : 1,
                     &key);
    png_set_gAMA(png, info, 0.3); /* must change nothing */
    png_write_info(png, info);
    size_t row_bytes = png_get_rowbytes(png, info);
    unsigned channels = png_get_channels(png, info);
    blob rows = {malloc(row_bytes * k->rows), row_bytes * k->rows, 0};
    png_bytep *pointers = malloc(k->rows * sizeof *pointers);
    help_fill(rows.bytes, rows.size);
    for (uint32_t y = 0; y < k->rows; y++) {
        pointers[y] = rows.bytes + y * row_bytes;
        for (uint32_t i = 0; i < k->columns * channels; i++) {
            const unsigned char *at = pointers[y];
            unsigned bit = i * (unsigned)k->depth % 8, value = 0;
            uint16_t wide = (uint16_t)(k->depth == 16 ? at[2 * i] << 8 | at[2 * i + 1] : 0);
            if (k->depth <= 8)
                value = at[i * (unsigned)k->depth / 8] >> (8 - k->depth - (int)bit) &
                        ((1u << k->depth) - 1);
            unsigned char grey = (unsigned char)(value * 255 / ((1u << k->depth) - 1));
            if (k->depth == 16)
                blob_add(&samples, &wide, 2);
            else if (k->color == PNG_COLOR_TYPE_PALETTE)
                blob_add(&samples, &palette[value], 3);
            else
                blob_add(&samples, &grey, 1);
            if (k->color == PNG_COLOR_TYPE_PALETTE && k->transparent)
                blob_add(&samples, &alpha[value], 1);
        }
    }
    png_write_image(png, pointers);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(f);
    free(pointers);
    blob_free(&rows);
    return samples;
}

static void test_png(void)
{
    static const struct {
        int color, depths;
        unsigned channels;
        const char *names;
    } kinds[] = {{PNG_COLOR_TYPE_GRAY, 1 | 2 | 4 | 8 | 16, 1, "grey"},
                 {PNG_COLOR_TYPE_GRAY_ALPHA, 8 | 16, 2, "greyA"},
                 {PNG_COLOR_TYPE_RGB, 8 | 16, 3, "RGB"},
                 {PNG_COLOR_TYPE_RGB_ALPHA, 8 | 16, 4, "RGBA"},
                 {PNG_COLOR_TYPE_PALETTE, 1 | 2 | 4 | 8, 3, "RGB"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int depth = 1; depth <= 16; depth *= 2) {
            for (int variant = 0; variant < 4 && kinds[i].depths & depth; variant++) {
                png_case k = {depth,
                              kinds[i].color,
                              variant & 1,
                              variant >> 1,
                              1 + (uint32_t)help_below(30),
                              1 + (uint32_t)help_below(30)};
                if (k.transparent && (k.color & PNG_COLOR_MASK_ALPHA))
                    continue;
                int added = k.transparent && k.color == PNG_COLOR_TYPE_PALETTE;
                const char *path = help_path("image");
                blob samples = make_png(path, &k);
                help_check_image(path, "png", &samples, depth == 16 ? TALLY_U16 : TALLY_U8, k.rows,
                                 k.columns, kinds[i].channels + (unsigned)added,
                                 added ? "RGBA" : kinds[i].names);
                blob file = help_load(path);
                help_starve(path, NULL);
                help_cut_everywhere("cut", &file, 0, 0, NULL);
                help_damage("bad", &file, NULL, 30);
                blob_free(&file);
                blob_free(&samples);
            }
        }
    }
}

static void test_png_errors(void)
{
    png_case k = {8, PNG_COLOR_TYPE_GRAY, 0, 0, 9, 9};
    const char *path = help_path("crc");
    blob samples = make_png(path, &k), file = help_load(path);
    /* The signature, IHDR (13 bytes), its CRC; then gAMA. */
    file.bytes[30] ^= 1;
    EXPECT_FAIL(help_write("crc", file.bytes, file.size), NULL, TALLY_ERROR_FORMAT,
                "png: IHDR: CRC error");
    file.bytes[30] ^= 1;
    file.bytes[45] ^= 1;
    EXPECT_FAIL(help_write("crc", file.bytes, file.size), NULL, TALLY_ERROR_FORMAT, "CRC error");
    blob_free(&file);
    blob_free(&samples);
    /* Extents that a header merely claims, with a right CRC: a huge row, a huge interlaced image.
     */
    static const unsigned char row[] =
        "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\xff\xff\xff\0\0\0\x01\x08\x02"
        "\0\0\0\x7e\x31\x07\xfd\0\0\0\0IDAT";
    blob wide = {0};
    blob_add(&wide, row, sizeof row - 1);
    for (int adam = 0; adam < 2; adam++) {
        unsigned char head[25];
        memcpy(head, row + 8, sizeof head);
        if (adam)
            memcpy(head + 8, "\0\0\xff\xff\0\0\xff\xff\x08\x02\0\0\x01", 13);
        uint32_t crc = 0xffffffff;
        for (int i = 4; i < 21; i++) {
            crc ^= head[i];
            for (int bit = 0; bit < 8; bit++)
                crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
        crc = ~crc;
        for (int i = 0; i < 4; i++)
            head[21 + i] = (unsigned char)(crc >> (24 - 8 * i));
        memcpy(wide.bytes + 8, head, sizeof head);
        EXPECT_FAIL(help_write("wide", wide.bytes, wide.size), NULL, TALLY_ERROR_UNSUPPORTED,
                    adam ? "without interlacing" : "bytes a row");
    }
    blob_free(&wide);
}

#endif

/* ---- JPEG ---------------------------------------------------------------------------------- */

#if TALLY_HAVE_JPEG

static void make_jpeg(const char *path, unsigned rows, unsigned columns, int channels,
                      int progressive, unsigned restart)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    FILE *f = fopen(path, "wb");
    unsigned char *row = malloc(columns * 4);
    if (!f || !row)
        abort();
    jpeg_stdio_dest(&jpeg, f);
    jpeg.image_width = columns;
    jpeg.image_height = rows;
    jpeg.input_components = channels;
    jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    if (channels == 4 && help_below(2))
        jpeg_set_colorspace(&jpeg, JCS_YCCK);
    jpeg.restart_interval = restart;
    if (progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < rows) {
        help_fill(row, columns * 4);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(f);
    free(row);
}

static blob decode_jpeg(const blob *file)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    blob out = {0};
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, file->bytes, file->size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg_start_decompress(&jpeg);
    size_t row_bytes = jpeg.output_width * (size_t)jpeg.output_components;
    JSAMPROW row = malloc(row_bytes);
    while (jpeg.output_scanline < jpeg.output_height) {
        jpeg_read_scanlines(&jpeg, &row, 1);
        blob_add(&out, row, row_bytes);
    }
    free(row);
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return out;
}

static void test_jpeg(void)
{
    static const char *const names[] = {"", "grey", "", "RGB", "CMYK"};
    for (int i = 0; i < 12; i++) {
        int channels = "\1\3\4"[i % 3];
        unsigned rows = 1 + (unsigned)help_below(50), columns = 1 + (unsigned)help_below(50);
        const char *path = help_path("image");
        make_jpeg(path, rows, columns, channels, i >= 6, help_below(2) ? 3 : 0);
        blob file = help_load(path), samples = decode_jpeg(&file);
        help_check_image(path, "jpeg", &samples, TALLY_U8, rows, columns, (unsigned)channels,
                         names[channels]);
        help_starve(path, NULL);
        help_cut_everywhere("cut", &file, 0, 0, NULL);
        help_damage("bad", &file, NULL, 100);
        /* The scan cut in the middle, its end mark kept: libjpeg would only warn and make up rows.
         */
        if (file.size > 1500) {
            size_t half = file.size - 400;
            memcpy(file.bytes + half, "\xff\xd9", 2);
            EXPECT_FAIL(help_write("half", file.bytes, half + 2), NULL, TALLY_ERROR_FORMAT,
                        "half: jpeg: ");
        }
        blob_free(&file);
        blob_free(&samples);
    }
}

/* A progressive image whose last scan is missing, with its end mark in place, is not the image. */
static void test_jpeg_missing_scan(void)
{
    const char *path = help_path("scans");
    make_jpeg(path, 20, 30, 1, 1, 0);
    blob file = help_load(path);
    size_t last = 0, tables = 0;
    for (size_t i = 0; i + 1 < file.size; i++) {
        if (file.bytes[i] == 0xff && file.bytes[i + 1] == 0xc4)
            tables = i;
        if (file.bytes[i] == 0xff && file.bytes[i + 1] == 0xda)
            last = tables;
    }
    CHECK(last > 0);
    memcpy(file.bytes + last, "\xff\xd9", 2);
    EXPECT_FAIL(help_write("scans", file.bytes, last + 2), NULL, TALLY_ERROR_FORMAT,
                "scans are missing");
    blob_free(&file);
}

/* A second frame header between the scans overwrites what libjpeg knows of the first: the damage is
 * found, and found again after a rewind. */
static void test_jpeg_two_headers(void)
{
    const char *path = help_path("two");
    make_jpeg(path, 20, 30, 1, 1, 0);
    blob file = help_load(path), twice = {0};
    size_t frame = 0, scan = 0;
    for (size_t i = 0; i + 1 < file.size; i++) {
        if (!frame && file.bytes[i] == 0xff && file.bytes[i + 1] == 0xc2)
            frame = i;
        if (frame && !scan && i > frame + 13 && file.bytes[i] == 0xff && file.bytes[i + 1] == 0xda)
            scan = i;
    }
    /* 13 bytes: marker, length 11, precision, height, width, one component. */
    size_t end = scan + 10;
    while (end + 1 < file.size && (file.bytes[end] != 0xff || file.bytes[end + 1] < 0xc0))
        end++;
    blob_add(&twice, file.bytes, end);
    blob_add(&twice, file.bytes + frame, 13);
    twice.bytes[end + 6] = 99; /* another height */
    blob_add(&twice, file.bytes + end, file.size - end);
    path = help_write("two", twice.bytes, twice.size);
    tally_input *in = NULL;
    tally_error error = {""};
    CHECK(frame && scan && tally_input_open(path, NULL, &in, &error) == TALLY_OK);
    for (int pass = 0; pass < 2; pass++) {
        tally_view view;
        int done = 0;
        CHECK_SAY(tally_input_read(in, &view, &done, &error) == TALLY_ERROR_FORMAT &&
                      strstr(error.message, "two SOF markers"),
                  "%s", error.message);
        CHECK_SAY(tally_input_rewind(in, &error) == TALLY_OK, "%s", error.message);
    }
    tally_input_close(in);
    blob_free(&file);
    blob_free(&twice);
}

#endif

/* ---- PNM ----------------------------------------------------------------------------------- */

static void check_pnm(const char *text, const char *want, size_t size, tally_dtype dtype,
                      uint64_t rows, uint64_t columns, unsigned channels, const char *names)
{
    blob samples = {0}, file = {0};
    blob_add(&samples, want, size);
    blob_text(&file, text);
    help_check_image(help_write("pnm", file.bytes, file.size), "pnm", &samples, dtype, rows,
                     columns, channels, names);
    help_damage("bad", &file, NULL, 200);
    help_starve(help_write("pnm", file.bytes, file.size), NULL);
    blob_free(&samples);
    blob_free(&file);
}

static void test_pnm_text(void)
{
    check_pnm("P1\n# a\n3 2\n101\n0 #x\n 1 1", "\1\0\1\0\1\1", 6, TALLY_U8, 2, 3, 1, "grey");
    check_pnm("P2 2 2 9 1 2\n3 # nine\n9#end", "\1\2\3\x09", 4, TALLY_U8, 2, 2, 1, "grey");
    uint16_t wide[3] = {300, 0, 256};
    check_pnm("P3\n1\n1\n300\n300 0 256\n", (const char *)wide, 6, TALLY_U16, 1, 1, 3, "RGB");
    check_pnm("P4 9 2\n\xaa\x80\x55\x7f", "\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0", 18, TALLY_U8, 2,
              9, 1, "grey");
    check_pnm("P5 2 1 200 \xc8z", "\xc8z", 2, TALLY_U8, 1, 2, 1, "grey");
    check_pnm("P6 1 2 255\nabcdef more", "abcdef", 6, TALLY_U8, 2, 1, 3, "RGB");
    check_pnm(
        "P7\nWIDTH 1\n# c\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\nabcd",
        "abcd", 4, TALLY_U8, 2, 1, 2, "greyA");
    static const struct {
        const char *text;
        const char *words;
    } bad[] = {{"P2 2 2 9 1 2 3", "after 3 of 4 bytes"},
               {"P2 2 1 9 1 10", "above the maxval"},
               {"P2 2 1 9 1 x", "no number"},
               {"P1 2 1 12", "neither 0 nor 1"},
               {"P5 2 1 200 \xc9z", "above the maxval"},
               {"P5 0 1 200 z", "width is not a number from 1"},
               {"P5 1 1 65536 zz", "maxval is not a number from 1 to 65535"},
               {"P5 99999999999 1 255 z", "width is not a number"},
               {"P5 4294967295 4294967295 255 z", "bytes a row"},
               {"P5 4 1 255z", "maxval is not"},
               {"P7\nWIDTH 1\nHEIGHT 1\nMAXVAL 255\nENDHDR\nz", "lacks one of"},
               {"P7\nWIDTH 1\nCOLOUR 1\nENDHDR\nz", "unknown word"},
               {"P7\nWIDTH 1", "width is not"},
               {"P7\nTUPLTYPE X", "ends inside its header"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_FAIL(help_write("bad", bad[i].text, strlen(bad[i].text)), NULL,
                    strstr(bad[i].words, "row") ? TALLY_ERROR_UNSUPPORTED : TALLY_ERROR_FORMAT,
                    bad[i].words);
}

static void test_pnm_random(void)
{
    for (int i = 0; i < 20; i++) {
        unsigned kind = 5 + (unsigned)help_below(3), maxval = help_below(2) ? 255 : 65535;
        unsigned channels = kind == 5 ? 1 : kind == 6 ? 3 : 1 + (unsigned)help_below(4);
        uint64_t rows = 1 + help_below(30), columns = 1 + help_below(30);
        blob file = {0}, samples = {0};
        char head[128];
        if (kind == 7)
            snprintf(head, sizeof head, "P7\nHEIGHT %d\nWIDTH %d\nMAXVAL %u\nDEPTH %u\nENDHDR\n",
                     (int)rows, (int)columns, maxval, channels);
        else
            snprintf(head, sizeof head, "P%u\n%d %d\n%u\n", kind, (int)columns, (int)rows, maxval);
        blob_text(&file, head);
        for (uint64_t n = rows * columns * channels; n; n--) {
            unsigned char bytes[2];
            help_fill(bytes, 2);
            uint16_t wide = (uint16_t)(bytes[0] << 8 | bytes[1]);
            blob_add(&file, bytes, maxval > 255 ? 2 : 1);
            blob_add(&samples, maxval > 255 ? (void *)&wide : (void *)bytes, maxval > 255 ? 2 : 1);
        }
        help_check_image(help_write("pnm", file.bytes, file.size), "pnm", &samples,
                         maxval > 255 ? TALLY_U16 : TALLY_U8, rows, columns, channels,
                         (const char *[]){"grey", "greyA", "RGB", "RGBA"}[channels - 1]);
        help_cut_everywhere("cut", &file, 0, 0, NULL);
        blob_free(&file);
        blob_free(&samples);
    }
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
#if TALLY_HAVE_PNG
    test_png();
    test_png_errors();
#else
    printf("png: skipped: not in this build\n");
    EXPECT_FAIL(help_write("x", "\x89PNG\r\n\x1a\n", 8), NULL, TALLY_ERROR_UNSUPPORTED, "libpng");
#endif
#if TALLY_HAVE_JPEG
    test_jpeg();
    test_jpeg_two_headers();
    test_jpeg_missing_scan();
#else
    printf("jpeg: skipped: not in this build\n");
    EXPECT_FAIL(help_write("x", "\xff\xd8\xff\xe0", 4), NULL, TALLY_ERROR_UNSUPPORTED, "libjpeg");
#endif
    test_pnm_text();
    test_pnm_random();
    return help_end();
}
