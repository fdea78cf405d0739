/* SPDX-License-Identifier: Apache-2.0 */
/* Images of several frames, GIF, APNG and WebP, and BMP: as they are written here, cut and damaged.
 */
#include "input_help.h"

#include <stdio.h>
#include <string.h>

#if TALLY_HAVE_WEBP
#include <webp/encode.h>
#endif
#if TALLY_HAVE_ZLIB
#include <zlib.h>
#endif

enum { WIDTH = 23, HEIGHT = 17, PIXELS = WIDTH * HEIGHT };

static const tally_input_options any = TALLY_INPUT_OPTIONS_INIT;

static void put(blob *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        const unsigned char byte = (unsigned char)(value >> 8 * i);
        blob_add(to, &byte, 1);
    }
}

/* All pages, and one of them: `pages` images one behind the other in `samples`. */
static void check_pages(const char *name, const blob *file, const blob *samples, unsigned pages)
{
    const char *path = help_write(name, file->bytes, file->size);
    const size_t one = samples->size / pages;
    for (unsigned page = 0; page <= pages; page++) {
        contents c;
        tally_error error = {""};
        tally_input_options o = any;
        o.page = page;
        o.chunk_bytes = 1 + help_below(3000);
        const tally_status status = help_read(path, &o, 2, &c, &error);
        const unsigned char *want = samples->bytes + (page ? page - 1 : 0) * one;
        CHECK_SAY(!status && c.samples.size == (page ? one : samples->size) &&
                      !memcmp(c.samples.bytes, want, c.samples.size),
                  "%s, page %u: %s", name, page, error.message);
        blob_free(&c.samples);
    }
    tally_input_options o = any;
    o.page = pages + 1;
    char words[80];
    snprintf(words, sizeof words, "page %u is asked for, but it has %u", pages + 1, pages);
    EXPECT_FAIL(path, &o, TALLY_ERROR_ARGUMENT, words);
}

static void check_hostile(const char *name, const blob *file, size_t least, size_t spare)
{
    help_cut_everywhere(name, file, least, spare, &any);
    help_damage(name, file, &any, 150);
    help_starve(help_write(name, file->bytes, file->size), &any);
}

/* ---- BMP ---- */

/* 8 bits of a sample of `bits` bits. */
static unsigned char widened(unsigned value, unsigned bits)
{
    return (unsigned char)(value * 255 / ((1u << bits) - 1));
}

static void add_pixel(blob *row, blob *samples, unsigned bits, const unsigned char palette[256][4],
                      unsigned x)
{
    unsigned char pixel[4];
    const uint32_t word = (uint32_t)help_random();
    if (bits <= 8) {
        const unsigned index = word & ((1u << bits) - 1), per = 8 / bits;
        if (x % per == 0)
            put(row, 0, 1);
        row->bytes[row->size - 1] |= (unsigned char)(index << ((per - 1 - x % per) * bits));
        for (int c = 0; c < 3; c++)
            pixel[c] = palette[index][2 - c];
    } else if (bits == 16) {
        put(row, word, 2);
        pixel[0] = widened(word >> 10 & 31, 5);
        pixel[1] = widened(word >> 5 & 31, 5);
        pixel[2] = widened(word & 31, 5);
    } else {
        put(row, word, (int)bits / 8);
        for (int c = 0; c < 3; c++)
            pixel[c] = (unsigned char)(word >> (16 - 8 * c));
    }
    blob_add(samples, pixel, 3);
}

static blob make_bmp(unsigned bits, int is_core, int top_down, blob *samples)
{
    unsigned char palette[256][4];
    blob file = {0}, rows[HEIGHT] = {{0}};
    const unsigned colors = bits <= 8 ? 1u << bits : 0, entry = is_core ? 3 : 4;
    help_fill(palette, sizeof palette);
    blob_text(&file, "BM");
    put(&file, 0, 8);
    put(&file, 14 + (is_core ? 12 : 40) + (uint64_t)colors * entry, 4);
    put(&file, is_core ? 12 : 40, 4);
    put(&file, WIDTH, is_core ? 2 : 4);
    put(&file, (uint64_t)(int64_t)(top_down ? -HEIGHT : HEIGHT), is_core ? 2 : 4);
    put(&file, 1, 2);
    put(&file, bits, 2);
    if (!is_core)
        put(&file, 0, 8), put(&file, 0, 8), put(&file, 0, 8);
    for (unsigned i = 0; i < colors; i++)
        blob_add(&file, palette[i], entry);
    for (int y = 0; y < HEIGHT; y++) {
        for (unsigned x = 0; x < WIDTH; x++)
            add_pixel(&rows[y], samples, bits, (const unsigned char(*)[4])palette, x);
        while (rows[y].size % 4)
            put(&rows[y], 0, 1);
    }
    for (int y = 0; y < HEIGHT; y++)
        blob_add(&file, rows[top_down ? y : HEIGHT - 1 - y].bytes, rows[0].size);
    for (int y = 0; y < HEIGHT; y++)
        blob_free(&rows[y]);
    return file;
}

static void test_bmp(void)
{
    static const unsigned depths[] = {1, 4, 8, 16, 24, 32};
    for (int i = 0; i < 24; i++) {
        const unsigned bits = depths[i / 4];
        const int is_core = i & 1, top_down = !is_core && i & 2;
        blob samples = {0}, file = make_bmp(bits, is_core, top_down, &samples);
        help_check_image(help_write("a.bmp", file.bytes, file.size), "bmp", &samples, TALLY_U8,
                         HEIGHT, WIDTH, 3, "RGB");
        if (i % 4 == 0)
            check_hostile("b.bmp", &file, 26, 0);
        blob_free(&samples);
        blob_free(&file);
    }
    blob samples = {0}, file = make_bmp(8, 0, 0, &samples);
    file.bytes[30] = 1;
    EXPECT_FAIL(help_write("rle.bmp", file.bytes, file.size), NULL, TALLY_ERROR_UNSUPPORTED,
                "run lengths");
    file.bytes[30] = 0;
    file.bytes[21] = 0x7f; /* the width */
    EXPECT_FAIL(help_write("large.bmp", file.bytes, file.size), NULL, TALLY_ERROR_FORMAT,
                "promises");
    file.bytes[21] = 0;
    file.bytes[46] = 3; /* colours */
    EXPECT_FAIL(help_write("few.bmp", file.bytes, file.size), NULL, TALLY_ERROR_FORMAT,
                "the palette has not");
    blob_free(&samples);
    blob_free(&file);
}

/* Samples of masks: 5, 6 and 5 bits behind a short header; R, G, B and A in a long one. */
static void test_bmp_masks(void)
{
    for (int is_long = 0; is_long < 2; is_long++) {
        blob file = {0}, samples = {0};
        blob_text(&file, "BM");
        put(&file, 0, 8);
        put(&file, 14 + (is_long ? 56 : 52), 4);
        put(&file, is_long ? 56 : 40, 4);
        put(&file, WIDTH, 4);
        put(&file, (uint64_t)-HEIGHT, 4);
        put(&file, 1, 2);
        put(&file, is_long ? 32 : 16, 2);
        put(&file, 3, 4);
        put(&file, 0, 8), put(&file, 0, 8), put(&file, 0, 4);
        put(&file, is_long ? 0xff : 0xf800, 4);
        put(&file, is_long ? 0xff00 : 0x7e0, 4);
        put(&file, is_long ? 0xff0000 : 0x1f, 4);
        if (is_long)
            put(&file, 0xff000000u, 4);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                const uint32_t word = (uint32_t)help_random();
                const unsigned char pixel[3] = {widened(word >> 11 & 31, 5),
                                                widened(word >> 5 & 63, 6), widened(word & 31, 5)};
                put(&file, word, is_long ? 4 : 2);
                if (is_long)
                    put(&samples, word, 4);
                else
                    blob_add(&samples, pixel, 3);
            }
            put(&file, 0, is_long ? 0 : WIDTH % 2 * 2);
        }
        help_check_image(help_write("masks.bmp", file.bytes, file.size), "bmp", &samples, TALLY_U8,
                         HEIGHT, WIDTH, is_long ? 4 : 3, is_long ? "RGBA" : "RGB");
        blob_free(&file);
        blob_free(&samples);
    }
}

/* ---- GIF ---- */

typedef struct bits {
    blob bytes;
    unsigned held, count;
} bits;

static void put_code(bits *b, unsigned code)
{
    b->held |= code << b->count;
    for (b->count += 9; b->count >= 8; b->count -= 8, b->held >>= 8)
        put(&b->bytes, b->held & 255, 1);
}

/* Codes of single indices, cleared before they need more bits; `times` of them. */
static blob gif_data(const unsigned char *indices, size_t count)
{
    bits b = {{0}, 0, 0};
    blob out = {0};
    put(&out, 8, 1);
    for (size_t i = 0; i < count; i++) {
        if (i % 200 == 0)
            put_code(&b, 256);
        put_code(&b, indices[i]);
    }
    put_code(&b, 257);
    put(&b.bytes, b.held, 1);
    for (size_t at = 0; at < b.bytes.size;) {
        const size_t left = b.bytes.size - at, n = 1 + help_below(left < 255 ? left : 255);
        put(&out, n, 1);
        blob_add(&out, b.bytes.bytes + at, n);
        at += n;
    }
    put(&out, 0, 1);
    blob_free(&b.bytes);
    return out;
}

/* A frame with a palette of its own if `own`; transparent colour 5 if `clear`. */
static void add_gif_frame(blob *file, blob *samples, unsigned char palette[256][3], int own,
                          int clear, int interlaced, unsigned channels)
{
    static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    unsigned char indices[PIXELS], rows[PIXELS], other[256][3];
    help_fill(indices, sizeof indices);
    help_fill(other, sizeof other);
    blob_add(file, "!\xfe\3abc\2de\0", 10); /* a comment */
    if (clear)
        blob_add(file, "!\xf9\4\1\0\0\5\0", 8);
    put(file, ',', 1);
    put(file, 0, 4);
    put(file, WIDTH, 2);
    put(file, HEIGHT, 2);
    put(file, (own ? 0x87 : 0) | (interlaced ? 0x40 : 0), 1);
    if (own)
        blob_add(file, other, sizeof other);
    size_t used = 0;
    for (int pass = 0; pass < 4 && interlaced; pass++)
        for (int y = first[pass]; y < HEIGHT; y += step[pass], used += WIDTH)
            memcpy(rows + used, indices + y * WIDTH, WIDTH);
    blob data = gif_data(interlaced ? rows : indices, PIXELS);
    blob_add(file, data.bytes, data.size);
    blob_free(&data);
    for (int i = 0; i < PIXELS; i++) {
        blob_add(samples, own ? other[indices[i]] : palette[indices[i]], 3);
        if (channels == 4)
            put(samples, clear && indices[i] == 5 ? 0 : 255, 1);
    }
}

static void test_gif(void)
{
    for (int kind = 0; kind < 6; kind++) {
        unsigned char palette[256][3];
        const unsigned channels = kind & 1 ? 4 : 3;
        blob file = {0}, samples = {0};
        help_fill(palette, sizeof palette);
        blob_text(&file, "GIF89a");
        put(&file, WIDTH, 2);
        put(&file, HEIGHT, 2);
        put(&file, 0x87, 1);
        put(&file, 0, 2);
        blob_add(&file, palette, sizeof palette);
        const int frames = kind < 2 ? 1 : 3;
        for (int i = 0; i < frames; i++)
            add_gif_frame(&file, &samples, palette, i == 1, channels == 4 && i == frames - 1,
                          kind & 2, channels);
        put(&file, ';', 1);
        if (frames == 1)
            help_check_image(help_write("a.gif", file.bytes, file.size), "gif", &samples, TALLY_U8,
                             HEIGHT, WIDTH, channels, channels == 4 ? "RGBA" : "RGB");
        check_pages("b.gif", &file, &samples, (unsigned)frames);
        check_hostile("c.gif", &file, 6, 0);
        blob_free(&file);
        blob_free(&samples);
    }
    blob lie = {0};
    blob_add(&lie, "GIF89a\1\0\1\0\x80\0\0abcdef,\0\0\0\0\xff\xff\xff\xff\x40\2\2\x4c\1\0;", 34);
    EXPECT_FAIL(help_write("lie.gif", lie.bytes, lie.size), NULL, TALLY_ERROR_FORMAT,
                "larger than its data can be");
    blob_free(&lie);
}

/* ---- APNG ---- */

#if TALLY_HAVE_ZLIB && TALLY_HAVE_PNG
static void put_big(blob *to, uint32_t value)
{
    for (int i = 24; i >= 0; i -= 8)
        put(to, value >> i, 1);
}

static void add_chunk(blob *file, const char *type, const void *bytes, size_t size)
{
    put_big(file, (uint32_t)size);
    const size_t at = file->size;
    blob_text(file, type);
    blob_add(file, bytes, size);
    put_big(file, (uint32_t)crc32(0, file->bytes + at, (unsigned)(4 + size)));
}

static void add_control(blob *file, uint32_t *sequence, uint32_t width, uint32_t height)
{
    blob c = {0};
    put_big(&c, (*sequence)++);
    put_big(&c, width);
    put_big(&c, height);
    put(&c, 0, 8);
    put(&c, 0, 6);
    add_chunk(file, "fcTL", c.bytes, c.size);
    blob_free(&c);
}

/* Random rows, in chunks of any size: IDAT, or fdAT of an animation. */
static void add_frame(blob *file, blob *samples, uint32_t *sequence, unsigned height,
                      int is_palette, const unsigned char *palette)
{
    unsigned char rows[HEIGHT * (1 + 3 * WIDTH)];
    const size_t row = (is_palette ? 1 : 3) * (size_t)WIDTH;
    unsigned char *at = rows;
    for (unsigned y = 0; y < height; y++, at += 1 + row) {
        *at = 0;
        help_fill(at + 1, row);
        for (size_t x = 0; x < row; x++)
            if (is_palette)
                blob_add(samples, palette + 3 * at[1 + x], 3);
            else
                blob_add(samples, at + 1 + x, 1);
    }
    unsigned char packed[sizeof rows + 200];
    uLongf size = sizeof packed;
    CHECK(compress(packed, &size, rows, (uLong)(at - rows)) == Z_OK);
    for (size_t done = 0, n; done < size; done += n) {
        n = 1 + help_below(size - done);
        blob c = {0};
        if (sequence)
            put_big(&c, (*sequence)++);
        blob_add(&c, packed + done, n);
        add_chunk(file, sequence ? "fdAT" : "IDAT", c.bytes, c.size);
        blob_free(&c);
    }
}

/* `shown`: the first image is a frame. */
static blob make_apng(int shown, int is_palette, unsigned promised, blob *samples)
{
    blob file = {0}, header = {0};
    unsigned char palette[768];
    uint32_t sequence = 0;
    help_fill(palette, sizeof palette);
    blob_add(&file, "\x89PNG\r\n\x1a\n", 8);
    put_big(&header, WIDTH);
    put_big(&header, HEIGHT);
    put(&header, 8, 1);
    put(&header, is_palette ? 3 : 2, 1);
    put(&header, 0, 3);
    add_chunk(&file, "IHDR", header.bytes, header.size);
    header.size = 0;
    put_big(&header, promised);
    put_big(&header, 0);
    add_chunk(&file, "acTL", header.bytes, header.size);
    if (is_palette)
        add_chunk(&file, "PLTE", palette, sizeof palette);
    if (shown)
        add_control(&file, &sequence, WIDTH, HEIGHT);
    add_frame(&file, samples, NULL, HEIGHT, is_palette, palette);
    add_chunk(&file, "tEXt", "a\0b", 3);
    for (int i = shown; i < 3; i++) {
        add_control(&file, &sequence, WIDTH, HEIGHT);
        add_frame(&file, samples, &sequence, HEIGHT, is_palette, palette);
    }
    add_chunk(&file, "IEND", "", 0);
    blob_free(&header);
    return file;
}

static void test_apng(void)
{
    for (int kind = 0; kind < 4; kind++) {
        const int shown = kind & 1;
        blob samples = {0}, file = make_apng(shown, kind / 2, 3, &samples);
        check_pages("a.png", &file, &samples, shown ? 3 : 4);
        check_hostile("b.png", &file, 30, 0);
        /* The chunks are there by their numbers. */
        for (size_t at = 60, met = 0; at < file.size - 8; at++)
            if (!memcmp(file.bytes + at, "fdAT", 4) && met++ == 1) {
                file.bytes[at + 7] ^= 1;
                EXPECT_FAIL(help_write("c.png", file.bytes, file.size), NULL, TALLY_ERROR_FORMAT,
                            "not in order");
                file.bytes[at + 7] ^= 1;
                file.bytes[at + 9] ^= 1;
                EXPECT_FAIL(help_write("c.png", file.bytes, file.size), NULL, TALLY_ERROR_FORMAT,
                            "png: ");
            }
        blob_free(&samples);
        blob_free(&file);
    }
    blob samples = {0}, file = make_apng(1, 0, 4, &samples);
    EXPECT_FAIL(help_write("few.png", file.bytes, file.size), NULL, TALLY_ERROR_FORMAT,
                "not as many frames");
    blob_free(&samples);
    blob_free(&file);
}
#endif

/* ---- WebP ---- */

#if TALLY_HAVE_WEBP
static void add_riff(blob *file, const char *type, const blob *data)
{
    blob_text(file, type);
    put(file, data->size, 4);
    blob_add(file, data->bytes, data->size);
    put(file, 0, (int)(data->size % 2));
}

/* Its chunk of pixels: a lossless image, without the header of a file. */
static blob webp_image(blob *samples, unsigned channels)
{
    unsigned char pixels[PIXELS * 4];
    uint8_t *out = NULL;
    blob b = {0};
    help_fill(pixels, sizeof pixels);
    for (int i = 0; channels == 4 && i < PIXELS; i++)
        pixels[4 * i + 3] |= 1; /* colours under nothing are not kept */
    const size_t size = channels == 4
                            ? WebPEncodeLosslessRGBA(pixels, WIDTH, HEIGHT, WIDTH * 4, &out)
                            : WebPEncodeLosslessRGB(pixels, WIDTH, HEIGHT, WIDTH * 3, &out);
    CHECK(size > 20);
    blob_add(samples, pixels, (size_t)PIXELS * channels);
    blob_add(&b, out, size);
    WebPFree(out);
    return b;
}

static blob webp_animation(blob *samples, unsigned channels, int frames)
{
    blob chunks = {0}, file = {0}, part = {0};
    put(&part, 2 | (channels == 4 ? 16 : 0), 4);
    put(&part, WIDTH - 1, 3);
    put(&part, HEIGHT - 1, 3);
    blob_text(&chunks, "WEBP");
    add_riff(&chunks, "VP8X", &part);
    part.size = 0;
    put(&part, 0, 6);
    add_riff(&chunks, "ANIM", &part);
    for (int i = 0; i < frames; i++) {
        blob image = webp_image(samples, channels);
        part.size = 0;
        put(&part, 0, 6);
        put(&part, WIDTH - 1, 3);
        put(&part, HEIGHT - 1, 3);
        put(&part, 0, 4);
        blob_add(&part, image.bytes + 12, image.size - 12);
        add_riff(&chunks, "ANMF", &part);
        blob_free(&image);
    }
    add_riff(&file, "RIFF", &chunks);
    blob_free(&chunks);
    blob_free(&part);
    return file;
}

static void test_webp(void)
{
    for (unsigned channels = 3; channels <= 4; channels++) {
        blob samples = {0}, file = webp_image(&samples, channels);
        help_check_image(help_write("a.webp", file.bytes, file.size), "webp", &samples, TALLY_U8,
                         HEIGHT, WIDTH, channels, channels == 4 ? "RGBA" : "RGB");
        check_hostile("b.webp", &file, 12, 0);
        blob_free(&file);
        samples.size = 0;
        file = webp_animation(&samples, channels, 3);
        check_pages("c.webp", &file, &samples, 3);
        check_hostile("d.webp", &file, 12, 0);
        blob_free(&file);
        blob_free(&samples);
    }
}
#endif

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    test_bmp();
    test_bmp_masks();
    test_gif();
#if TALLY_HAVE_ZLIB && TALLY_HAVE_PNG
    test_apng();
#endif
#if TALLY_HAVE_WEBP
    test_webp();
#endif
    return help_end();
}
