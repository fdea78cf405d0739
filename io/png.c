/* SPDX-License-Identifier: Apache-2.0 */
/* PNG by libpng, row by row. Samples are as stored: no gamma, no colour profile, no transparent
 * colour. Palettes become R, G, B (and A where the palette has it); grey of 1, 2 and 4 bits is
 * scaled to 8. Interlaced images are decoded whole. Of an animation all pictures are read, as they
 * are stored. */
#include "io/rows.h"

static int png_probe(const unsigned char *head, size_t size)
{
    return size >= 4 && head[0] == 0x89 && head[1] == 'P' && head[2] == 'N' && head[3] == 'G';
}

#if TALLY_HAVE_PNG

#include <inttypes.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/png_frames.h"

/* What an interlaced image may take when decoded. */
#define TY_PNG_WHOLE_MOST (UINT64_C(1) << 30)

typedef struct ty_png_state {
    ty_stream *stream;
    ty_png_frames frames;
    tally_input_options options; /* region, chunk and page of each */
    ty_rows rows;
    png_structp png;
    png_infop info;
    png_uint_32 width, height;
    int depth, color; /* as stored */
    unsigned channels;
    uint64_t stored_bytes;  /* of a row as libpng gives it: samples, or a palette's indices */
    unsigned char *indices; /* of the row, when there is a palette */
    unsigned char palette[256][4];
    unsigned palette_size;
    unsigned char *whole; /* interlaced: all rows, once they are decoded, stored_bytes each */
    uint64_t row;         /* next to decode */
    int interlaced, whole_ready, no_memory;
    tally_status status; /* what the running call into libpng ended with */
    tally_error *error;
    jmp_buf jump;
} ty_png_state;

typedef struct ty_png_wish {
    unsigned char *into;
    uint64_t count; /* rows */
} ty_png_wish;

static void on_error(png_structp png, png_const_charp words)
{
    ty_png_state *s = png_get_error_ptr(png);
    if (!s->status && s->no_memory)
        s->status =
            ty_error(s->error, TALLY_ERROR_MEMORY, "out of memory while decoding a PNG image");
    if (!s->status)
        s->status = ty_error(s->error, TALLY_ERROR_FORMAT,
                             "%s: png: %s (near byte %" PRIu64 ", row %" PRIu64 ")",
                             ty_stream_name(s->stream), words, ty_stream_offset(s->stream), s->row);
    longjmp(s->jump, 1);
}

/* Samples would be guessed: a wrong checksum or too much at the end of the image's data; a palette
 * that is not as it should be. Bytes behind the end of complete, checked data are none of it, and
 * without a palette its chunks touch no sample. */
static void on_warning(png_structp png, png_const_charp words)
{
    const ty_png_state *s = png_get_error_ptr(png);
    int palette = s->info && png_get_color_type(png, s->info) == PNG_COLOR_TYPE_PALETTE &&
                  (strncmp(words, "PLTE", 4) == 0 || strncmp(words, "tRNS", 4) == 0);
    int data = strncmp(words, "IDAT", 4) == 0 && !strstr(words, "Extra compressed data");
    if (palette || data)
        png_error(png, words);
}

static png_voidp on_malloc(png_structp png, png_alloc_size_t size)
{
    ty_png_state *s = png_get_mem_ptr(png);
    void *block = ty_malloc(size);
    if (!block)
        s->no_memory = 1;
    return block;
}

static void on_free(png_structp png, png_voidp block)
{
    (void)png;
    ty_free(block);
}

static void on_read(png_structp png, png_bytep bytes, size_t size)
{
    ty_png_state *s = png_get_io_ptr(png);
    size_t got;
    s->status = ty_png_frames_read(&s->frames, bytes, size, &got, s->error);
    if (s->status)
        png_error(png, "reading failed");
    if (got < size)
        png_error(png, "the file ends before the image does");
}

/* Runs `work`, which libpng may leave by longjmp. */
static tally_status guarded(ty_png_state *s, void (*work)(ty_png_state *, const ty_png_wish *),
                            const ty_png_wish *wish, tally_error *error)
{
    s->error = error;
    s->status = TALLY_OK;
    s->no_memory = 0;
    if (setjmp(s->jump) == 0)
        work(s, wish);
    return s->status;
}

static void start(ty_png_state *s, const ty_png_wish *unused)
{
    (void)unused;
    s->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, s, on_error, on_warning, s, on_malloc,
                                      on_free);
    if (s->png)
        s->info = png_create_info_struct(s->png);
    if (!s->info) {
        s->status =
            ty_error(s->error, TALLY_ERROR_MEMORY, "out of memory while decoding a PNG image");
        return;
    }
    png_set_read_fn(s->png, s, on_read);
    png_set_user_limits(s->png, 0x7fffffff, 0x7fffffff);
    png_set_crc_action(s->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
#ifdef PNG_HANDLE_AS_UNKNOWN_SUPPORTED
    /* Texts, profiles and the like: not looked into, so that they cannot do harm. */
    png_set_keep_unknown_chunks(s->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
#endif
    png_read_info(s->png, s->info);
    s->width = png_get_image_width(s->png, s->info);
    s->height = png_get_image_height(s->png, s->info);
    s->depth = png_get_bit_depth(s->png, s->info);
    s->color = png_get_color_type(s->png, s->info);
    s->interlaced = png_get_interlace_type(s->png, s->info) != PNG_INTERLACE_NONE;
    s->channels = png_get_channels(s->png, s->info);
    if (s->color == PNG_COLOR_TYPE_PALETTE)
        s->channels = png_get_valid(s->png, s->info, PNG_INFO_tRNS) ? 4 : 3;
}

/* Indices past the palette's end are refused; libpng would make them black. */
static void read_palette(ty_png_state *s)
{
    png_colorp colors = NULL;
    png_bytep alphas = NULL;
    int count = 0, alpha_count = 0;
    png_get_PLTE(s->png, s->info, &colors, &count);
    if (s->channels == 4)
        png_get_tRNS(s->png, s->info, &alphas, &alpha_count, NULL);
    s->palette_size = (unsigned)count;
    for (int i = 0; i < count; i++) {
        unsigned char *to = s->palette[i];
        to[0] = colors[i].red;
        to[1] = colors[i].green;
        to[2] = colors[i].blue;
        to[3] = i < alpha_count ? alphas[i] : 255;
    }
}

/* Sets the conversions; libpng makes its row buffers here, so the extents have been checked. */
static void prepare(ty_png_state *s, const ty_png_wish *unused)
{
    (void)unused;
    s->stored_bytes = s->rows.row_bytes;
    if (s->color == PNG_COLOR_TYPE_PALETTE) {
        png_set_packing(s->png); /* a byte for each index */
        read_palette(s);
        s->stored_bytes = s->width;
    } else if (s->depth < 8) {
        png_set_expand_gray_1_2_4_to_8(s->png);
    }
    if (s->depth == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(s->png);
    if (s->interlaced)
        png_set_interlace_handling(s->png);
    png_read_update_info(s->png, s->info);
    if (png_get_rowbytes(s->png, s->info) != s->stored_bytes)
        png_error(s->png, "the library's rows have an unexpected size");
}

static void decode_whole(ty_png_state *s, const ty_png_wish *unused)
{
    (void)unused;
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++)
        for (s->row = 0; s->row < s->height; s->row++)
            png_read_row(s->png, s->whole + s->row * s->stored_bytes, NULL);
    png_read_end(s->png, NULL);
    s->row = 0;
    s->whole_ready = 1;
}

/* A row of a palette's indices as colours. */
static void expand(ty_png_state *s, const unsigned char *from, unsigned char *to)
{
    for (png_uint_32 x = 0; x < s->width; x++, to += s->channels) {
        if (from[x] >= s->palette_size) {
            s->status =
                ty_error(s->error, TALLY_ERROR_FORMAT,
                         "%s: png: column %" PRIu32 " has colour %u, but its palette has "
                         "%u (row %" PRIu64 ")",
                         ty_stream_name(s->stream), (uint32_t)x, from[x], s->palette_size, s->row);
            longjmp(s->jump, 1);
        }
        memcpy(to, s->palette[from[x]], s->channels);
    }
}

/* The next row as it is handed out. */
static void decode_row(ty_png_state *s, unsigned char *into)
{
    int palette = s->color == PNG_COLOR_TYPE_PALETTE;
    unsigned char *stored = s->whole_ready ? s->whole + s->row * s->stored_bytes
                            : palette      ? s->indices
                                           : into;
    if (!s->whole_ready)
        png_read_row(s->png, stored, NULL);
    if (into && palette)
        expand(s, stored, into);
    else if (into && s->whole_ready)
        memcpy(into, stored, s->stored_bytes);
}

static void decode_rows(ty_png_state *s, const ty_png_wish *wish)
{
    for (uint64_t i = 0; i < wish->count; i++, s->row++)
        decode_row(s, wish->into ? wish->into + i * s->rows.row_bytes : NULL);
    if (s->row == s->height && !s->whole_ready)
        png_read_end(s->png, NULL);
}

/* Memory for what libpng decodes into, where that is not what is handed out. */
static tally_status make_buffer(unsigned char **buffer, uint64_t size, tally_error *error)
{
    if (!*buffer)
        *buffer = ty_malloc((size_t)size);
    return *buffer ? TALLY_OK : ty_error_memory(error, "rows of a PNG image", size);
}

static tally_status take(void *state, unsigned char *into, uint64_t bytes, uint64_t *got,
                         tally_error *error)
{
    ty_png_state *s = state;
    ty_png_wish wish = {into, bytes / s->rows.row_bytes};
    tally_status status = TALLY_OK;
    *got = bytes;
    if (s->interlaced && !s->whole_ready) {
        status = make_buffer(&s->whole, s->stored_bytes * s->height, error);
        if (!status)
            status = guarded(s, decode_whole, NULL, error);
    } else if (!s->interlaced && s->color == PNG_COLOR_TYPE_PALETTE) {
        status = make_buffer(&s->indices, s->stored_bytes, error);
    }
    return status ? status : guarded(s, decode_rows, &wish, error);
}

static void png_close(void *state)
{
    ty_png_state *s = state;
    if (!s)
        return;
    if (s->png)
        png_destroy_read_struct(&s->png, &s->info, NULL);
    ty_rows_close(&s->rows);
    ty_free(s->whole);
    ty_free(s->indices);
    ty_free(s);
}

/* The image that comes next. */
static tally_status begin_image(ty_png_state *s, tally_input_info *info, tally_error *error)
{
    png_destroy_read_struct(&s->png, &s->info, NULL);
    ty_rows_close(&s->rows);
    ty_free(s->whole);
    ty_free(s->indices);
    s->whole = s->indices = NULL;
    s->whole_ready = 0;
    s->row = 0;
    tally_status status = guarded(s, start, NULL, error);
    if (status)
        return status;
    info->dtype = s->depth == 16 ? TALLY_U16 : TALLY_U8;
    info->rows = s->height;
    info->columns = s->width;
    info->channels = s->channels;
    info->is_image = 1;
    status = ty_rows_open(&s->rows, ty_stream_name(s->stream), 0, &s->options, info, error);
    if (status)
        return status;
    if (s->interlaced && s->rows.row_bytes * s->height > TY_PNG_WHOLE_MOST)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: an interlaced PNG image of %" PRIu64 " bytes must be decoded whole, "
                        "and at most %" PRIu64 " are; store it without interlacing",
                        ty_stream_name(s->stream), s->rows.row_bytes * s->height,
                        TY_PNG_WHOLE_MOST);
    return guarded(s, prepare, NULL, error);
}

/* The first image that is wanted. */
static tally_status open_image(ty_png_state *s, tally_input_info *info, tally_error *error)
{
    int more = 1;
    uint64_t page = 1;
    ty_png_frames_start(&s->frames, s->stream);
    tally_status status = begin_image(s, info, error);
    while (!status && page < s->options.page &&
           !(status = ty_png_frames_next(&s->frames, &more, error))) {
        if (!more)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "%s: page %" PRIu64 " is asked for, but it has %" PRIu64,
                            ty_stream_name(s->stream), s->options.page, page);
        status = begin_image(s, info, error);
        page++;
    }
    return status;
}

static tally_status png_open(ty_stream *stream, const tally_input_options *options, void **state,
                             tally_input_info *info, tally_error *error)
{
    ty_png_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "an input", sizeof *s);
    s->stream = stream;
    s->options = *options;
    tally_status status = open_image(s, info, error);
    if (status)
        png_close(s);
    else
        *state = s;
    return status;
}

static tally_status png_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_png_state *s = state;
    for (;;) {
        int more;
        tally_input_info info;
        tally_status status = ty_rows_read(&s->rows, take, s, views, done, error);
        if (status || !*done || s->options.page)
            return status;
        status = ty_png_frames_next(&s->frames, &more, error);
        if (status || !more || (status = begin_image(s, &info, error)))
            return status;
    }
}

static tally_status png_rewind(void *state, tally_error *error)
{
    ty_png_state *s = state;
    tally_input_info info;
    ty_rows_rewind(&s->rows);
    s->row = 0;
    if (s->whole_ready && !s->frames.is_animated)
        return TALLY_OK;
    const int depth = s->depth, color = s->color;
    const unsigned channels = s->channels;
    const int was_animated = s->frames.is_animated;
    const png_uint_32 width = s->width, height = s->height;
    tally_status status = open_image(s, &info, error);
    if (!status && (s->depth != depth || s->color != color || s->channels != channels ||
                    (!was_animated && (s->width != width || s->height != height))))
        status = ty_error(error, TALLY_ERROR_FORMAT, "%s: changed while it was being read",
                          ty_stream_name(s->stream));
    return status;
}

static const char *png_name(const void *state, uint64_t channel)
{
    return ty_rows_channel_name(((const ty_png_state *)state)->channels, channel);
}

const ty_decoder ty_png = {
    .format = "png",
    .has_pages = 1,
    .probe = png_probe,
    .open = png_open,
    .read = png_read,
    .rewind = png_rewind,
    .channel_name = png_name,
    .close = png_close,
};

#else

static tally_status png_open(ty_stream *stream, const tally_input_options *options, void **state,
                             tally_input_info *info, tally_error *error)
{
    (void)options;
    (void)state;
    (void)info;
    return ty_rows_no_library(stream, "PNG", "libpng", error);
}

const ty_decoder ty_png = {
    .format = "png",
    .has_pages = 1,
    .probe = png_probe,
    .open = png_open,
};

#endif
