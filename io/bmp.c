/* SPDX-License-Identifier: Apache-2.0 */
/* BMP, as R, G, B, and A where a mask says so: palettes are looked up, samples of 16 bits a pixel
 * are scaled to 8 bits as others do it (255 × value / largest, rounded down). Rows are counted from
 * the top, however they are stored. */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/rows.h"
#include "io/seekable.h"

enum { FILE_HEADER = 14, CORE_HEADER = 12, INFO_HEADER = 40, HEADER_MOST = 124 };
enum { PLAIN = 0, RLE8 = 1, RLE4 = 2, MASKS = 3, MASKS_ALPHA = 6 };

typedef struct ty_bmp_state {
    ty_seekable in;
    ty_rows rows;
    uint64_t width, height;
    int top_down;
    unsigned bits, channels;
    uint64_t data, stride; /* of stored rows */
    unsigned colors;
    unsigned char palette[256][4]; /* B, G, R */
    uint32_t mask[4];              /* R, G, B, A */
    uint64_t row;                  /* next, from the top */
    unsigned char *stored;         /* a row */
} ty_bmp_state;

static uint32_t number(const unsigned char *at, int bytes)
{
    uint32_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

/* "BM" begins text, too: the reserved fields are 0 and the header's size is one of a few. */
static int bmp_probe(const unsigned char *head, size_t size)
{
    if (size < 26 || memcmp(head, "BM", 2) != 0 || number(head + 6, 4) != 0)
        return 0;
    const uint32_t header = number(head + FILE_HEADER, 4);
    return header == CORE_HEADER || (header >= INFO_HEADER && header <= HEADER_MOST);
}

static tally_status damaged(const ty_bmp_state *s, const char *what, uint64_t at,
                            tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT, "%s: bmp: %s (near byte %" PRIu64 ")", s->in.name,
                    what, at);
}

static tally_status read_at(const ty_bmp_state *s, uint64_t at, void *into, size_t size,
                            tally_error *error)
{
    if (at > s->in.size || size > s->in.size - at)
        return damaged(s, "the file ends before the image does", s->in.size, error);
    return ty_file_read_at(s->in.name, s->in.file, s->in.start + at, into, size, error);
}

/* ---- The header ---- */

/* A mask is up to 8 neighbouring bits. */
static int is_mask(uint32_t mask)
{
    while (mask && !(mask & 1))
        mask >>= 1;
    return mask <= 255 && (mask & (mask + 1)) == 0;
}

static tally_status find_masks(ty_bmp_state *s, uint32_t packing, const unsigned char *header,
                               uint32_t header_size, tally_error *error)
{
    static const uint32_t plain[2][4] = {{0x7c00, 0x3e0, 0x1f, 0}, {0xff0000, 0xff00, 0xff, 0}};
    memcpy(s->mask, plain[s->bits == 32], sizeof s->mask);
    if (packing == MASKS || packing == MASKS_ALPHA)
        for (int i = 0; i < 4; i++) /* behind a short header there are three */
            s->mask[i] = i < 3 || packing == MASKS_ALPHA || header_size >= 56
                             ? number(header + INFO_HEADER + 4 * i, 4)
                             : 0;
    for (int i = 0; i < 4; i++)
        if (!is_mask(s->mask[i]) || (i < 3 && !s->mask[i]))
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "%s: a BMP image whose samples are not of 1 to 8 neighbouring bits; "
                            "convert it to PNG: magick FILE out.png",
                            s->in.name);
    s->channels = s->mask[3] ? 4 : 3;
    return TALLY_OK;
}

static tally_status find_palette(ty_bmp_state *s, uint64_t at, uint32_t used, size_t entry,
                                 tally_error *error)
{
    s->colors = used && used < 1u << s->bits ? used : 1u << s->bits;
    /* What a header says is bounded by where the samples begin. */
    if (at > s->data || s->colors * entry > s->data - at)
        s->colors = at > s->data ? 0 : (unsigned)((s->data - at) / entry);
    tally_status status = TALLY_OK;
    for (unsigned i = 0; i < s->colors && !status; i++)
        status = read_at(s, at + i * entry, s->palette[i], 3, error);
    return status;
}

static tally_status refuse_packing(const ty_bmp_state *s, uint32_t packing, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                    "%s: a BMP image of %u bits, packed by method %" PRIu32
                    "%s; convert it to PNG: magick FILE out.png",
                    s->in.name, s->bits, packing,
                    packing == RLE8 || packing == RLE4 ? " (run lengths)" : "");
}

static tally_status find_extent(ty_bmp_state *s, const unsigned char *header, int is_core,
                                tally_error *error)
{
    const int32_t width = is_core ? (int32_t)number(header + 4, 2) : (int32_t)number(header + 4, 4);
    const int32_t height =
        is_core ? (int32_t)number(header + 6, 2) : (int32_t)number(header + 8, 4);
    if (width <= 0 || !height || height == INT32_MIN)
        return damaged(s, "an image without extent", FILE_HEADER, error);
    s->width = (uint64_t)width;
    s->top_down = height < 0;
    s->height = (uint64_t)(height < 0 ? -height : height);
    s->stride = (s->width * s->bits + 31) / 32 * 4;
    if (s->data > s->in.size || s->stride * s->height > s->in.size - s->data)
        return ty_error(
            error, TALLY_ERROR_FORMAT,
            "%s: bmp: its header promises %" PRIu64 " bytes of samples, but %" PRIu64 " follow",
            s->in.name, s->stride * s->height, s->data > s->in.size ? 0 : s->in.size - s->data);
    return TALLY_OK;
}

static tally_status read_header(ty_bmp_state *s, tally_error *error)
{
    unsigned char head[FILE_HEADER + 4], header[HEADER_MOST] = {0};
    tally_status status = read_at(s, 0, head, sizeof head, error);
    if (status)
        return status;
    const uint32_t size = number(head + FILE_HEADER, 4);
    const int is_core = size == CORE_HEADER;
    if (!is_core && (size < INFO_HEADER || size > HEADER_MOST))
        return damaged(s, "an unknown header", FILE_HEADER, error);
    status = read_at(s, FILE_HEADER, header, size, error);
    if (status)
        return status;
    const uint32_t packing = is_core ? 0 : number(header + 16, 4);
    s->data = number(head + 10, 4);
    s->bits = number(header + (is_core ? 10 : 14), 2);
    s->channels = 3;
    const int has_masks = packing == MASKS || packing == MASKS_ALPHA;
    if (has_masks && size == INFO_HEADER) /* they follow it */
        status = read_at(s, FILE_HEADER + INFO_HEADER, header + INFO_HEADER,
                         packing == MASKS ? 12 : 16, error);
    if (status)
        return status;
    if (packing != PLAIN && (!has_masks || (s->bits != 16 && s->bits != 32)))
        return refuse_packing(s, packing, error);
    if (s->bits == 16 || s->bits == 32)
        status = find_masks(s, packing, header, size, error);
    else if (s->bits == 1 || s->bits == 4 || s->bits == 8)
        status = find_palette(s, FILE_HEADER + (uint64_t)size, is_core ? 0 : number(header + 32, 4),
                              is_core ? 3 : 4, error);
    else if (s->bits != 24)
        return refuse_packing(s, packing, error);
    return status ? status : find_extent(s, header, is_core, error);
}

/* ---- Rows ---- */

static tally_status expand_palette(const ty_bmp_state *s, uint64_t at, unsigned char *into,
                                   tally_error *error)
{
    const unsigned per_byte = 8 / s->bits, low = (1u << s->bits) - 1;
    for (uint64_t x = 0; x < s->width; x++, into += 3) {
        const unsigned shift = (per_byte - 1 - (unsigned)(x % per_byte)) * s->bits;
        const unsigned index = s->stored[x / per_byte] >> shift & low;
        if (index >= s->colors)
            return damaged(s, "a colour that the palette has not", at + x / per_byte, error);
        for (int c = 0; c < 3; c++)
            into[c] = s->palette[index][2 - c];
    }
    return TALLY_OK;
}

static void expand_masks(const ty_bmp_state *s, unsigned char *into)
{
    const unsigned bytes = s->bits / 8;
    for (uint64_t x = 0; x < s->width; x++) {
        const uint32_t pixel = number(s->stored + x * bytes, (int)bytes);
        for (unsigned c = 0; c < s->channels; c++) {
            const int shift = __builtin_ctz(s->mask[c]);
            *into++ =
                (unsigned char)(((pixel & s->mask[c]) >> shift) * 255 / (s->mask[c] >> shift));
        }
    }
}

static tally_status read_row(ty_bmp_state *s, unsigned char *into, tally_error *error)
{
    const uint64_t row = s->top_down ? s->row : s->height - 1 - s->row;
    const uint64_t at = s->data + row * s->stride;
    tally_status status = read_at(s, at, s->stored, (size_t)s->stride, error);
    if (status)
        return status;
    if (s->bits <= 8)
        return expand_palette(s, at, into, error);
    if (s->bits != 24) {
        expand_masks(s, into);
        return TALLY_OK;
    }
    for (uint64_t i = 0; i < 3 * s->width; i += 3) {
        into[i] = s->stored[i + 2];
        into[i + 1] = s->stored[i + 1];
        into[i + 2] = s->stored[i];
    }
    return TALLY_OK;
}

static tally_status take(void *state, unsigned char *into, uint64_t bytes, uint64_t *got,
                         tally_error *error)
{
    ty_bmp_state *s = state;
    tally_status status = TALLY_OK;
    for (*got = 0; *got < bytes && s->row < s->height && !status;
         *got += s->rows.row_bytes, s->row++)
        if (into)
            status = read_row(s, into + *got, error);
    return status;
}

/* ---- The decoder ---- */

static void bmp_close(void *state)
{
    ty_bmp_state *s = state;
    ty_rows_close(&s->rows);
    ty_free(s->stored);
    ty_free(s);
}

static tally_status open_image(ty_bmp_state *s, ty_stream *stream,
                               const tally_input_options *options, tally_input_info *info,
                               tally_error *error)
{
    tally_status status = ty_seekable_open(stream, &s->in, error);
    if (!status)
        status = read_header(s, error);
    if (status)
        return status;
    info->dtype = TALLY_U8;
    info->rows = s->height;
    info->columns = s->width;
    info->channels = s->channels;
    info->is_image = 1;
    status = ty_rows_open(&s->rows, s->in.name, 0, options, info, error);
    if (status)
        return status;
    s->stored = ty_malloc((size_t)s->stride);
    return s->stored ? TALLY_OK : ty_error_memory(error, "a row of an image", s->stride);
}

static tally_status bmp_open(ty_stream *stream, const tally_input_options *options, void **state,
                             tally_input_info *info, tally_error *error)
{
    ty_bmp_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "an image", sizeof *s);
    tally_status status = open_image(s, stream, options, info, error);
    if (status)
        bmp_close(s);
    else
        *state = s;
    return status;
}

static tally_status bmp_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_bmp_state *s = state;
    return ty_rows_read(&s->rows, take, s, views, done, error);
}

static tally_status bmp_rewind(void *state, tally_error *error)
{
    ty_bmp_state *s = state;
    (void)error;
    s->row = 0;
    ty_rows_rewind(&s->rows);
    return TALLY_OK;
}

static const char *bmp_name(const void *state, uint64_t channel)
{
    return ty_rows_channel_name(((const ty_bmp_state *)state)->channels, channel);
}

const ty_decoder ty_bmp = {
    .format = "bmp",
    .probe = bmp_probe,
    .open = bmp_open,
    .read = bmp_read,
    .rewind = bmp_rewind,
    .channel_name = bmp_name,
    .close = bmp_close,
};
