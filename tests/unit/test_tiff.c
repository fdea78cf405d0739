/* SPDX-License-Identifier: Apache-2.0 */
/* TIFF: what libtiff or a few lines by hand write is read back sample by sample, whole, in regions
 * and in small chunks. */
#include "input_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if TALLY_HAVE_TIFF
#include <tiffio.h>
#endif

#if TALLY_HAVE_TIFF

typedef struct tiff_case {
    unsigned bits, format, samples, photometric, compression;
    int separate, tiled;
    tally_dtype dtype;
    uint32_t rows, columns;
    const char *mode, *names;
} tiff_case;

/* `count` samples of k->bits, from 8 bytes each, packed as a file's row has them. */
static void pack(const tiff_case *k, const uint64_t *from, size_t count, size_t step,
                 unsigned char *to)
{
    memset(to, 0, (count * k->bits + 7) / 8);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = from[i * step];
        if (k->bits % 8 == 0) {
            memcpy(to + i * k->bits / 8, &value, k->bits / 8); /* little-endian hosts */
            continue;
        }
        for (size_t b = 0; b < k->bits; b++)
            if (value >> (k->bits - 1 - b) & 1)
                to[(i * k->bits + b) / 8] |= (unsigned char)(0x80 >> (i * k->bits + b) % 8);
    }
}

static void write_tiles(TIFF *t, const tiff_case *k, const uint64_t *samples, unsigned plane)
{
    enum { SIDE = 16 };
    unsigned each = k->separate ? 1 : k->samples;
    uint64_t *tile = malloc(SIDE * SIDE * each * sizeof *tile);
    unsigned char *packed = malloc(SIDE * SIDE * each * 8);
    size_t row_bytes = (SIDE * each * k->bits + 7) / 8;
    for (uint32_t y = 0; y < k->rows; y += SIDE) {
        for (uint32_t x = 0; x < k->columns; x += SIDE) {
            for (uint32_t v = 0; v < SIDE; v++) {
                for (uint32_t u = 0; u < SIDE * each; u++) {
                    uint32_t row = y + v < k->rows ? y + v : k->rows - 1;
                    uint32_t column = x + u / each < k->columns ? x + u / each : k->columns - 1;
                    tile[v * SIDE * each + u] =
                        samples[((size_t)row * k->columns + column) * k->samples +
                                (k->separate ? plane : u % each)];
                }
                pack(k, tile + v * SIDE * each, SIDE * each, 1, packed + v * row_bytes);
            }
            if (TIFFWriteTile(t, packed, x, y, 0, (uint16_t)plane) < 0)
                abort();
        }
    }
    free(tile);
    free(packed);
}

static void write_rows(TIFF *t, const tiff_case *k, const uint64_t *samples, unsigned plane)
{
    unsigned each = k->separate ? 1 : k->samples;
    unsigned char *packed = malloc(k->columns * each * 8);
    for (uint32_t y = 0; y < k->rows; y++) {
        const uint64_t *row = samples + (size_t)y * k->columns * k->samples;
        pack(k, row + plane, k->columns * each, k->separate ? k->samples : 1, packed);
        if (TIFFWriteScanline(t, packed, y, (uint16_t)plane) < 0)
            abort();
    }
    free(packed);
}

static void set_fields(TIFF *t, const tiff_case *k, uint16_t palette[3][65536])
{
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, k->columns);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, k->rows);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, k->bits);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, k->format);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, k->samples);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, k->photometric);
    TIFFSetField(t, TIFFTAG_COMPRESSION, k->compression);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG,
                 k->separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    unsigned colors = k->photometric == PHOTOMETRIC_RGB         ? 3
                      : k->photometric == PHOTOMETRIC_SEPARATED ? 4
                                                                : 1;
    uint16_t extra[8] = {EXTRASAMPLE_UNASSALPHA};
    if (k->samples > colors)
        TIFFSetField(t, TIFFTAG_EXTRASAMPLES, k->samples - colors, extra);
    if (k->photometric == PHOTOMETRIC_PALETTE)
        TIFFSetField(t, TIFFTAG_COLORMAP, palette[0], palette[1], palette[2]);
    if (k->tiled) {
        TIFFSetField(t, TIFFTAG_TILEWIDTH, 16);
        TIFFSetField(t, TIFFTAG_TILELENGTH, 16);
    } else {
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 1 + (uint32_t)help_below(k->rows + 3));
        if (k->bits < 8 && help_below(2))
            TIFFSetField(t, TIFFTAG_FILLORDER, FILLORDER_LSB2MSB);
    }
}

static blob make_tiff(const char *path, const tiff_case *k)
{
    static uint16_t palette[3][65536];
    help_fill(palette, sizeof palette);
    TIFF *t = TIFFOpen(path, k->mode);
    if (!t)
        abort();
    set_fields(t, k, palette);
    size_t count = (size_t)k->rows * k->columns * k->samples;
    uint64_t *samples = malloc(count * sizeof *samples);
    blob want = {0};
    for (size_t i = 0; i < count; i++) {
        samples[i] = help_random() >> (64 - k->bits);
        uint64_t shown = samples[i];
        if (k->photometric == PHOTOMETRIC_PALETTE) {
            for (int c = 0; c < 3; c++) {
                unsigned char byte = (unsigned char)(palette[c][shown] >> 8);
                blob_add(&want, &byte, 1);
            }
            continue;
        }
        if (k->bits < 8)
            shown = shown * 255 / ((1u << k->bits) - 1);
        blob_add(&want, &shown, tally_dtype_bytes(k->dtype)); /* little-endian hosts */
    }
    for (unsigned plane = 0; plane < (k->separate ? k->samples : 1); plane++) {
        if (k->tiled)
            write_tiles(t, k, samples, plane);
        else
            write_rows(t, k, samples, plane);
    }
    TIFFClose(t);
    free(samples);
    return want;
}

static void test_tiff(void)
{
    static const struct {
        unsigned bits, format;
        tally_dtype dtype;
    } kinds[] = {{1, 1, TALLY_U8},   {2, 1, TALLY_U8},   {4, 1, TALLY_U8},   {8, 1, TALLY_U8},
                 {16, 1, TALLY_U16}, {32, 1, TALLY_U32}, {64, 1, TALLY_U64}, {8, 2, TALLY_I8},
                 {16, 2, TALLY_I16}, {32, 2, TALLY_I32}, {64, 2, TALLY_I64}, {16, 3, TALLY_F16},
                 {32, 3, TALLY_F32}, {64, 3, TALLY_F64}, {12, 1, TALLY_U16}, {10, 1, TALLY_U16},
                 {9, 1, TALLY_U16},  {15, 1, TALLY_U16}};
    static const struct {
        unsigned samples, photometric;
        const char *names;
    } shapes[] = {{1, PHOTOMETRIC_MINISBLACK, "grey"},  {1, PHOTOMETRIC_MINISWHITE, "grey"},
                  {2, PHOTOMETRIC_MINISBLACK, "greyA"}, {3, PHOTOMETRIC_RGB, "RGB"},
                  {4, PHOTOMETRIC_RGB, "RGBA"},         {4, PHOTOMETRIC_SEPARATED, "CMYK"},
                  {6, PHOTOMETRIC_MINISBLACK, "grey"},  {1, PHOTOMETRIC_PALETTE, "RGB"}};
    static const unsigned packings[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_PACKBITS,
                                        COMPRESSION_ADOBE_DEFLATE};
    static const char *const modes[] = {"wl", "wb", "wl8", "wb8"};
    for (int i = 0; i < 150; i++) {
        size_t kind = (size_t)i % (sizeof kinds / sizeof *kinds), shape = help_below(8);
        tiff_case k = {kinds[kind].bits,
                       kinds[kind].format,
                       shapes[shape].samples,
                       shapes[shape].photometric,
                       packings[help_below(4)],
                       (int)help_below(2),
                       (int)help_below(2),
                       kinds[kind].dtype,
                       1 + (uint32_t)help_below(40),
                       1 + (uint32_t)help_below(40),
                       modes[help_below(4)],
                       shapes[shape].names};
        if (k.photometric == PHOTOMETRIC_PALETTE) {
            if (k.format != 1 || k.bits > 16 || k.bits == 9)
                continue;
            k.dtype = TALLY_U8;
        }
        unsigned channels = k.photometric == PHOTOMETRIC_PALETTE ? 3 : k.samples;
        const char *path = help_path("image");
        blob samples = make_tiff(path, &k);
        help_check_image(path, "tiff", &samples, k.dtype, k.rows, k.columns, channels, k.names);
        if (i < 40) {
            blob file = help_load(path);
            help_starve(path, NULL);
            /* The last 8 bytes may be no more than where the next page would be. */
            help_cut_everywhere("cut", &file, 0, 8, NULL);
            help_damage("bad", &file, NULL, 60);
            blob_free(&file);
        }
        blob_free(&samples);
    }
}

/* The directory before the samples, as no writer of the tests' library has it. */
static void test_tiff_by_hand(void)
{
    unsigned char file[8 + 2 + 12 * 8 + 4 + 6] = "II*\0\x08\0\0\0\x08\0";
    static const uint16_t fields[8][3] = {{256, 3, 3}, {257, 3, 2},   {258, 3, 8}, {259, 3, 1},
                                          {262, 3, 1}, {273, 3, 110}, {278, 3, 2}, {279, 3, 6}};
    for (int i = 0; i < 8; i++) {
        unsigned char *at = file + 10 + 12 * i;
        at[0] = (unsigned char)fields[i][0];
        at[1] = (unsigned char)(fields[i][0] >> 8);
        at[2] = (unsigned char)fields[i][1];
        at[4] = 1;
        at[8] = (unsigned char)fields[i][2];
    }
    memcpy(file + 110, "\1\2\3\4\5\6", 6);
    blob whole = {file, sizeof file, 0}, samples = {file + 110, 6, 0};
    help_check_image(help_write("hand", file, sizeof file), "tiff", &samples, TALLY_U8, 2, 3, 1,
                     "grey");
    help_cut_everywhere("cut", &whole, 0, 0, NULL);
    help_damage("bad", &whole, NULL, 1000);
    file[10 + 12 * 3 + 8] = 6; /* old-style JPEG */
    EXPECT_FAIL(help_write("hand", file, sizeof file), NULL, TALLY_ERROR_UNSUPPORTED,
                "compression 6");
    file[10 + 12 * 3 + 8] = 1;
    file[10 + 12 * 4 + 8] = 8; /* CIE L*a*b* */
    EXPECT_FAIL(help_write("hand", file, sizeof file), NULL, TALLY_ERROR_UNSUPPORTED,
                "photometric 8");
    file[10 + 12 * 4 + 8] = 1;
    file[10 + 12 * 2 + 8] = 24;
    EXPECT_FAIL(help_write("hand", file, sizeof file), NULL, TALLY_ERROR_UNSUPPORTED, "24 bits");
}

/* 16 rows of 32, of which the second tile, or all behind the first strip, is left out. */
static blob make_sparse(int tiled, unsigned packing, int whole)
{
    unsigned char bytes[256];
    const char *path = help_path("sparse");
    tiff_case k = {8,  1,    1,     PHOTOMETRIC_MINISBLACK, packing, 0, tiled, TALLY_U8, 16,
                   32, "wl", "grey"};
    TIFF *t = TIFFOpen(path, k.mode);
    if (!t)
        abort();
    memset(bytes, 7, sizeof bytes);
    set_fields(t, &k, NULL);
    if (!tiled)
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 8);
    for (uint32_t i = 0; i < 1 + (uint32_t)whole; i++)
        if ((tiled ? TIFFWriteEncodedTile(t, i, bytes, 256)
                   : TIFFWriteEncodedStrip(t, i, bytes, 256)) < 0)
            abort();
    TIFFClose(t);
    return help_load(path);
}

/* What is left out, or short, is not read from elsewhere in the file. */
static void test_sparse(void)
{
    static const unsigned packings[] = {COMPRESSION_NONE, COMPRESSION_ADOBE_DEFLATE};
    for (int i = 0; i < 4; i++) {
        blob file = make_sparse(i & 1, packings[i / 2], 0);
        if (i == 2) /* strips that libtiff decodes */
            EXPECT_FAIL(help_path("sparse"), NULL, TALLY_ERROR_FORMAT, "strip byte count 0");
        else
            EXPECT_FAIL(help_path("sparse"), NULL, TALLY_ERROR_UNSUPPORTED, "a sparse TIFF image");
        blob_free(&file);
    }
    blob file = make_sparse(1, COMPRESSION_NONE, 1);
    static const unsigned char sizes[] = {0x45, 1, 3, 0, 2, 0, 0, 0, 0, 1, 0, 1};
    size_t at = 0;
    while (at + sizeof sizes < file.size && memcmp(file.bytes + at, sizes, sizeof sizes) != 0)
        at++;
    if (CHECK(at + sizeof sizes < file.size)) {
        file.bytes[at + 8] = 255; /* of 256 bytes */
        file.bytes[at + 9] = 0;
        EXPECT_FAIL(help_write("short", file.bytes, file.size), NULL, TALLY_ERROR_FORMAT,
                    "a tile is shorter than its rows (row 0)");
    }
    blob_free(&file);
}

#endif

int main(int argc, char **argv)
{
    help_begin(argc, argv);
#if TALLY_HAVE_TIFF
    test_tiff();
    test_tiff_by_hand();
    test_sparse();
#else
    printf("tiff: skipped: not in this build\n");
    EXPECT_FAIL(help_write("x", "II*\0", 4), NULL, TALLY_ERROR_UNSUPPORTED, "libtiff");
#endif
    return help_end();
}
