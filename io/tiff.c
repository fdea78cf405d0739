/* SPDX-License-Identifier: Apache-2.0 */
/* TIFF by libtiff, strip row by strip row or tile row by tile row, page after page.
 * Samples are as stored, whatever the photometric says: white-is-zero is not inverted. Palettes
 * become R, G, B of 8 bits; 1, 2 and 4 bits are scaled to 8 as in PNG; 9 to 15 bits stay in u16.
 *
 * libtiff wants to seek: what is compressed or comes from a pipe is copied to a temporary file
 * first. Planes stored apart are read through a handle each, so that all advance together. */
#define _FILE_OFFSET_BITS 64

#include "io/rows.h"
#include "io/stored.h"
#include "io/tiff_file.h"

#include <string.h>

static int tiff_probe(const unsigned char *head, size_t size)
{
    return size >= 4 && (!memcmp(head, "II*\0", 4) || !memcmp(head, "MM\0*", 4) ||
                         !memcmp(head, "II+\0", 4) || !memcmp(head, "MM\0+", 4));
}

#if TY_TIFF

#include <inttypes.h>

#include "core/alloc.h"
#include "core/error.h"

/* ---- What the image is --------------------------------------------------------------------- */

static tally_dtype sample_dtype(const ty_tiff_state *s)
{
    static const struct {
        uint16_t format, bits;
        tally_dtype dtype;
    } known[] = {{SAMPLEFORMAT_UINT, 8, TALLY_U8},     {SAMPLEFORMAT_UINT, 16, TALLY_U16},
                 {SAMPLEFORMAT_UINT, 32, TALLY_U32},   {SAMPLEFORMAT_UINT, 64, TALLY_U64},
                 {SAMPLEFORMAT_INT, 8, TALLY_I8},      {SAMPLEFORMAT_INT, 16, TALLY_I16},
                 {SAMPLEFORMAT_INT, 32, TALLY_I32},    {SAMPLEFORMAT_INT, 64, TALLY_I64},
                 {SAMPLEFORMAT_IEEEFP, 16, TALLY_F16}, {SAMPLEFORMAT_IEEEFP, 32, TALLY_F32},
                 {SAMPLEFORMAT_IEEEFP, 64, TALLY_F64}, {SAMPLEFORMAT_UINT, 1, TALLY_U8},
                 {SAMPLEFORMAT_UINT, 2, TALLY_U8},     {SAMPLEFORMAT_UINT, 4, TALLY_U8}};
    if (s->palette[0])
        return s->format == SAMPLEFORMAT_UINT && s->bits <= 16 ? TALLY_U8 : (tally_dtype)0;
    if (s->format == SAMPLEFORMAT_UINT && s->bits > 8 && s->bits < 16)
        return TALLY_U16;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].format == s->format && known[i].bits == s->bits)
            return known[i].dtype;
    return (tally_dtype)0;
}

/* White or black is zero, RGB, inks, a palette, or YCbCr that libtiff's JPEG turns into RGB. */
static tally_status check_photometric(ty_tiff_state *s, tally_error *error)
{
    TIFF *tiff = s->planes[0].tiff;
    if (!ty_libtiff.GetField(tiff, TIFFTAG_PHOTOMETRIC, &s->photometric))
        s->photometric = s->samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    switch (s->photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MASK:
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_SEPARATED:
        return TALLY_OK;
    case PHOTOMETRIC_YCBCR:
        if (s->compression == COMPRESSION_JPEG && !s->separate && s->samples == 3 && s->bits == 8) {
            ty_libtiff.SetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
            s->photometric = PHOTOMETRIC_RGB;
            return TALLY_OK;
        }
        return ty_tiff_unsupported(s, "YCbCr samples and compression", s->compression, error);
    case PHOTOMETRIC_PALETTE:
        break;
    default:
        return ty_tiff_unsupported(s, "photometric", s->photometric, error);
    }
    if (s->samples != 1)
        return ty_tiff_unsupported(s, "a palette and samples per pixel of", s->samples, error);
    if (s->bits > 16 || !ty_libtiff.GetField(tiff, TIFFTAG_COLORMAP, &s->palette[0], &s->palette[1],
                                             &s->palette[2]))
        return ty_tiff_failed(s, "its palette is missing", error);
    for (int c = 0; c < 3; c++)
        for (uint32_t i = 0; i < UINT32_C(1) << s->bits; i++)
            if (s->palette[c][i] > 255)
                s->palette_shift = 8;
    return TALLY_OK;
}

static tally_status read_fields(ty_tiff_state *s, tally_error *error)
{
    TIFF *tiff = s->planes[0].tiff;
    uint16_t planar = PLANARCONFIG_CONTIG, extra_count = 0, *extra = NULL;
    if (!ty_libtiff.GetField(tiff, TIFFTAG_IMAGEWIDTH, &s->width) ||
        !ty_libtiff.GetField(tiff, TIFFTAG_IMAGELENGTH, &s->height) || !s->width || !s->height)
        return ty_tiff_failed(s, "its width or height is missing", error);
    ty_libtiff.GetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &s->samples);
    ty_libtiff.GetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &s->bits);
    ty_libtiff.GetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &s->format);
    ty_libtiff.GetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &s->compression);
    ty_libtiff.GetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
    if (ty_libtiff.GetField(tiff, TIFFTAG_EXTRASAMPLES, &extra_count, &extra) && extra_count == 1)
        s->alpha = extra[0] != EXTRASAMPLE_UNSPECIFIED;
    if (s->format == SAMPLEFORMAT_VOID)
        s->format = SAMPLEFORMAT_UINT;
    if (!s->samples)
        return ty_tiff_failed(s, "it has no samples per pixel", error);
    s->tiled = ty_libtiff.IsTiled(tiff);
    s->separate = planar == PLANARCONFIG_SEPARATE && s->samples > 1;
    if (s->separate && s->samples > TY_TIFF_PLANES)
        return ty_tiff_unsupported(s, "separate planes, in number", s->samples, error);
    if (s->compression == COMPRESSION_OJPEG || !ty_libtiff.IsCODECConfigured(s->compression))
        return ty_tiff_unsupported(s, "compression", s->compression, error);
    tally_status status = check_photometric(s, error);
    if (!status && !sample_dtype(s))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: TIFF samples of format %u and %u bits are not read",
                        ty_stream_name(s->stream), s->format, s->bits);
    s->plane_count = s->separate ? s->samples : 1;
    s->plane_samples = s->separate ? 1 : s->samples;
    return status;
}

/* Sizes of strips and tiles, checked against what the fields say. */
static tally_status measure(ty_tiff_state *s, tally_error *error)
{
    TIFF *tiff = s->planes[0].tiff;
    uint64_t row_bits = (uint64_t)s->width * s->plane_samples * s->bits;
    uint32_t width = 0, rows = 0;
    s->plane_row_bytes = (row_bits + 7) / 8;
    if (!s->tiled) {
        ty_libtiff.GetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
        s->strip_rows = rows ? rows : UINT32_MAX;
        s->plane_bytes = s->plane_row_bytes;
        return ty_libtiff.ScanlineSize64(tiff) == s->plane_row_bytes
                   ? TALLY_OK
                   : ty_tiff_failed(s, "its rows have no usable size", error);
    }
    ty_libtiff.GetField(tiff, TIFFTAG_TILEWIDTH, &width);
    ty_libtiff.GetField(tiff, TIFFTAG_TILELENGTH, &rows);
    s->tile_width = width;
    s->tile_rows = rows;
    s->tile_row_bytes = ty_libtiff.TileRowSize64(tiff);
    s->tiles_across = width ? (s->width + (uint64_t)width - 1) / width : 0;
    if (!rows || !s->tiles_across ||
        s->tile_row_bytes * 8 != (uint64_t)width * s->plane_samples * s->bits ||
        ty_libtiff.TileSize64(tiff) != s->tile_row_bytes * rows)
        return ty_tiff_failed(s, "its tiles have no usable size", error);
    if (ty_rows_multiply(s->tile_row_bytes * s->tiles_across, rows, &s->plane_bytes) ||
        s->plane_bytes > (uint64_t)TY_TIFF_MOST)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: a row of TIFF tiles of more than %" PRId64 " bytes is not read",
                        ty_stream_name(s->stream), TY_TIFF_MOST);
    return TALLY_OK;
}

static tally_status make_plane_buffers(ty_tiff_state *s, tally_error *error)
{
    uint64_t tile = s->tiled ? s->tile_row_bytes * s->tile_rows : 0;
    if (tile && !(s->tile = ty_malloc((size_t)tile)))
        return ty_error_memory(error, "a TIFF tile", tile);
    for (unsigned i = 0; i < s->plane_count; i++) {
        s->planes[i].rows = ty_malloc((size_t)s->plane_bytes);
        if (!s->planes[i].rows)
            return ty_error_memory(error, "rows of a TIFF image", s->plane_bytes);
    }
    return TALLY_OK;
}

/* ---- Rows of one plane --------------------------------------------------------------------- */

static tally_status read_tiles(ty_tiff_state *s, unsigned plane, uint64_t row, tally_error *error)
{
    ty_tiff_plane *p = &s->planes[plane];
    uint64_t band = s->tile_row_bytes * s->tiles_across;
    uint64_t first = row - row % s->tile_rows;
    tmsize_t size = (tmsize_t)(s->tile_row_bytes * s->tile_rows);
    for (uint64_t t = 0; t < s->tiles_across; t++) {
        uint32_t tile = ty_libtiff.ComputeTile(p->tiff, (uint32_t)(t * s->tile_width),
                                               (uint32_t)first, 0, (uint16_t)plane);
        /* Where nothing is packed libtiff reads on, behind a tile's own bytes. */
        const uint64_t least = s->compression == COMPRESSION_NONE ? (uint64_t)size : 1;
        const uint64_t bytes = ty_libtiff.GetStrileByteCount(p->tiff, tile);
        if (!s->words[0] && bytes < least)
            return ty_tiff_too_short(s, bytes, first, error);
        if (ty_libtiff.ReadEncodedTile(p->tiff, tile, s->tile, size) != size || s->words[0])
            return ty_tiff_failed(s, "a tile cannot be decoded", error);
        for (uint64_t y = 0; y < s->tile_rows; y++)
            memcpy(p->rows + y * band + t * s->tile_row_bytes, s->tile + y * s->tile_row_bytes,
                   (size_t)s->tile_row_bytes);
    }
    p->first = first;
    p->end = first + s->tile_rows;
    return TALLY_OK;
}

/* An uncompressed strip is read a row at a time from where it lies: libtiff would take all of it
 * into memory, and many writers make the whole image one strip. */
static tally_status read_stored_row(ty_tiff_state *s, unsigned plane, uint64_t row,
                                    unsigned char *into, tally_error *error)
{
    ty_tiff_plane *p = &s->planes[plane];
    uint32_t strip = ty_libtiff.ComputeStrip(p->tiff, (uint32_t)row, (uint16_t)plane);
    uint64_t begin = ty_libtiff.GetStrileOffset(p->tiff, strip);
    uint64_t bytes = ty_libtiff.GetStrileByteCount(p->tiff, strip);
    uint64_t offset = row % s->strip_rows * s->plane_row_bytes;
    if (!s->words[0] && bytes < offset + s->plane_row_bytes)
        return ty_tiff_too_short(s, bytes, row, error);
    if (s->words[0] || begin > (uint64_t)INT64_MAX - bytes ||
        !ty_tiff_read_at(p, begin + offset, into, (tmsize_t)s->plane_row_bytes))
        return ty_tiff_failed(s, "the file ends before the image does", error);
    uint16_t order = FILLORDER_MSB2LSB;
    ty_libtiff.GetFieldDefaulted(p->tiff, TIFFTAG_FILLORDER, &order);
    if (order == FILLORDER_LSB2MSB)
        ty_libtiff.ReverseBits(into, (tmsize_t)s->plane_row_bytes);
    if (ty_libtiff.IsByteSwapped(p->tiff) && s->bits % 8 == 0)
        ty_rows_swap(into, s->plane_row_bytes * 8 / s->bits, s->bits / 8);
    return TALLY_OK;
}

/* Strips decode in order only: rows before the wanted one of its strip are dropped. */
static tally_status read_strip_row(ty_tiff_state *s, unsigned plane, uint64_t row,
                                   unsigned char *into, tally_error *error)
{
    ty_tiff_plane *p = &s->planes[plane];
    if (s->compression == COMPRESSION_NONE)
        return read_stored_row(s, plane, row, into, error);
    uint64_t strip_first = row - row % s->strip_rows;
    if (p->next < strip_first || p->next > row)
        p->next = strip_first;
    for (; p->next <= row; p->next++)
        if (ty_libtiff.ReadScanline(p->tiff, into, (uint32_t)p->next, (uint16_t)plane) != 1 ||
            s->words[0])
            return ty_tiff_failed(s, "a row cannot be decoded", error);
    return TALLY_OK;
}

/* ---- Rows handed out ----------------------------------------------------------------------- */

/* Sample `i` of packed samples of at most 16 bits; whole bytes are in host order. */
static unsigned get_bits(const unsigned char *from, uint64_t i, unsigned bits)
{
    if (bits == 8)
        return from[i];
    if (bits == 16) {
        uint16_t sample;
        memcpy(&sample, from + 2 * i, 2);
        return sample;
    }
    uint64_t first = i * bits, last = first + bits - 1;
    uint32_t window = 0;
    for (uint64_t b = first / 8; b <= last / 8; b++)
        window = window << 8 | from[b];
    return window >> (7 - last % 8) & ((1u << bits) - 1);
}

static void expand_palette(const ty_tiff_state *s, const unsigned char *from, unsigned char *to)
{
    for (uint32_t x = 0; x < s->width; x++) {
        unsigned index = get_bits(from, x, s->bits);
        for (int c = 0; c < 3; c++)
            *to++ = (unsigned char)(s->palette[c][index] >> s->palette_shift);
    }
}

/* One plane's row into its place among the interleaved samples. */
static void spread(const ty_tiff_state *s, unsigned plane, const unsigned char *from,
                   unsigned char *to)
{
    uint64_t count = (uint64_t)s->width * s->plane_samples;
    size_t size = tally_dtype_bytes(s->out.dtype), step = size * s->plane_count;
    to += plane * size;
    if (s->bits % 8 == 0 && step == size) {
        memcpy(to, from, (size_t)count * size);
    } else if (s->bits % 8 == 0) {
        for (uint64_t i = 0; i < count; i++, from += size, to += step)
            memcpy(to, from, size);
    } else if (size == 1) {
        unsigned scale = 255u / ((1u << s->bits) - 1);
        for (uint64_t i = 0; i < count; i++, to += step)
            *to = (unsigned char)(get_bits(from, i, s->bits) * scale);
    } else {
        for (uint64_t i = 0; i < count; i++, to += step) {
            uint16_t sample = (uint16_t)get_bits(from, i, s->bits);
            memcpy(to, &sample, 2);
        }
    }
}

static tally_status decode_row(ty_tiff_state *s, uint64_t row, unsigned char *into,
                               tally_error *error)
{
    /* Stored as it is handed out: no copy. */
    if (!s->tiled && s->plane_count == 1 && !s->palette[0] && s->bits % 8 == 0)
        return read_strip_row(s, 0, row, into, error);
    for (unsigned i = 0; i < s->plane_count; i++) {
        ty_tiff_plane *p = &s->planes[i];
        const unsigned char *from = p->rows;
        tally_status status = TALLY_OK;
        if (!s->tiled)
            status = read_strip_row(s, i, row, p->rows, error);
        else if (row < p->first || row >= p->end)
            status = read_tiles(s, i, row, error);
        if (status)
            return status;
        if (s->tiled)
            from += (row - p->first) * s->tile_row_bytes * s->tiles_across;
        if (s->palette[0])
            expand_palette(s, from, into);
        else
            spread(s, i, from, into);
    }
    return TALLY_OK;
}

static tally_status take(void *state, unsigned char *into, uint64_t bytes, uint64_t *got,
                         tally_error *error)
{
    ty_tiff_state *s = state;
    uint64_t count = bytes / s->out.row_bytes;
    tally_status status = TALLY_OK;
    s->decoding = 1;
    for (uint64_t i = 0; i < count && into && !status; i++, s->row++)
        status = decode_row(s, s->row, into + i * s->out.row_bytes, error);
    if (!into)
        s->row += count;
    *got = bytes;
    if (status || s->in.is_copy)
        return status;
    /* The samples come by pread: the stream is moved along so that it shows how far we are. */
    uint64_t to = (uint64_t)((double)s->in.size * (double)s->row / s->height), skipped;
    if (to > ty_stream_offset(s->stream))
        status = ty_stream_skip(s->stream, to - ty_stream_offset(s->stream), &skipped, error);
    return status;
}

static void close_planes(ty_tiff_state *s)
{
    for (unsigned i = 0; i < TY_TIFF_PLANES; i++) {
        if (s->planes[i].tiff)
            ty_libtiff.Close(s->planes[i].tiff);
        s->planes[i].tiff = NULL;
    }
}

static void tiff_close(void *state)
{
    ty_tiff_state *s = state;
    if (!s)
        return;
    close_planes(s);
    for (unsigned i = 0; i < TY_TIFF_PLANES; i++)
        ty_free(s->planes[i].rows);
    ty_rows_close(&s->out);
    ty_free(s->tile);
    ty_free(s);
}

/* ---- Pages --------------------------------------------------------------------------------- */

/* Handle 0 is at a page: its fields, the other handles, and buffers. */
static tally_status load_page(ty_tiff_state *s, tally_input_info *info, tally_error *error)
{
    const tdir_t directory = ty_libtiff.CurrentDirectory(s->planes[0].tiff);
    for (unsigned i = 0; i < TY_TIFF_PLANES; i++) {
        ty_free(s->planes[i].rows);
        s->planes[i].rows = NULL;
        s->planes[i].first = s->planes[i].end = s->planes[i].next = 0;
        if (i && s->planes[i].tiff)
            ty_libtiff.Close(s->planes[i].tiff);
        s->planes[i].tiff = i ? NULL : s->planes[i].tiff;
    }
    ty_free(s->tile);
    s->tile = NULL;
    ty_rows_close(&s->out);
    s->palette[0] = NULL;
    s->row = 0;
    s->palette_shift = s->decoding = s->alpha = 0;
    tally_status status = read_fields(s, error);
    if (status)
        return status;
    info->dtype = sample_dtype(s);
    info->rows = s->height;
    info->columns = s->width;
    info->channels = s->palette[0] ? 3 : s->samples;
    info->is_image = 1;
    status = ty_rows_open(&s->out, ty_stream_name(s->stream), 0, &s->options, info, error);
    for (unsigned i = 1; i < s->plane_count && !status; i++) {
        status = ty_tiff_open_plane(s, &s->planes[i], error);
        if (!status && directory && !ty_libtiff.SetDirectory(s->planes[i].tiff, directory))
            status = ty_tiff_failed(s, "its directory cannot be read", error);
    }
    if (!status)
        status = measure(s, error);
    return status ? status : make_plane_buffers(s, error);
}

/* On to the next page; *more is 0 if there is none. Smaller copies and masks are none. */
static tally_status next_page(ty_tiff_state *s, int *more, tally_error *error)
{
    TIFF *tiff = s->planes[0].tiff;
    uint32_t kind = 0;
    *more = 0;
    do {
        if (ty_libtiff.LastDirectory(tiff))
            return TALLY_OK;
        s->decoding = 0;
        tally_status status = ty_tiff_check_memory(s, error);
        if (status)
            return status;
        if (!ty_libtiff.ReadDirectory(tiff) || s->words[0])
            return ty_tiff_failed(s, "the directory of a further page cannot be read", error);
        kind = 0;
        ty_libtiff.GetField(tiff, TIFFTAG_SUBFILETYPE, &kind);
    } while (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK));
    s->page++;
    *more = 1;
    return TALLY_OK;
}

/* The first page that is wanted. */
static tally_status open_pages(ty_tiff_state *s, tally_input_info *info, tally_error *error)
{
    int more = 1;
    s->page = 1;
    s->words[0] = '\0';
    s->decoding = 0;
    tally_status status = ty_tiff_open_plane(s, &s->planes[0], error);
    while (!status && more && s->page < s->options.page)
        status = next_page(s, &more, error);
    if (!status && !more)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: page %" PRIu64 " is asked for, but it has %" PRIu64,
                        ty_stream_name(s->stream), s->options.page, s->page);
    return status ? status : load_page(s, info, error);
}

static tally_status open_image(ty_tiff_state *s, const tally_input_options *options,
                               tally_input_info *info, tally_error *error)
{
    if (options)
        s->options = *options;
    tally_status status = ty_seekable_open(s->stream, &s->in, error);
    if (!status)
        status = open_pages(s, info, error);
    s->first = *info;
    return status;
}

static tally_status tiff_open(ty_stream *stream, const tally_input_options *options, void **state,
                              tally_input_info *info, tally_error *error)
{
    const char *failure = ty_tiff_library_open();
    if (failure)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: a TIFF image, and libtiff cannot be used: %s", ty_stream_name(stream),
                        failure);
    ty_tiff_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "an input", sizeof *s);
    s->stream = stream;
    tally_status status = open_image(s, options, info, error);
    if (status)
        tiff_close(s);
    else
        *state = s;
    return status;
}

/* Pages of one kind are as one image after the other. */
static tally_status begin_next(ty_tiff_state *s, int *more, tally_error *error)
{
    tally_input_info info = s->first;
    *more = 0;
    if (s->options.page)
        return TALLY_OK;
    tally_status status = next_page(s, more, error);
    if (!status && *more)
        status = load_page(s, &info, error);
    if (!status && (info.dtype != s->first.dtype || info.channels != s->first.channels))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: page %" PRIu64 " has %" PRIu64 " channel(s) of %s, the first %" PRIu64
                        " of %s; pages of one kind add up, --page N reads one of them",
                        ty_stream_name(s->stream), s->page, info.channels,
                        tally_dtype_name(info.dtype), s->first.channels,
                        tally_dtype_name(s->first.dtype));
    return status;
}

static tally_status tiff_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_tiff_state *s = state;
    for (int more = 1;;) {
        tally_status status = ty_rows_read(&s->out, take, s, views, done, error);
        if (status || !*done)
            return status;
        status = begin_next(s, &more, error);
        if (status || !more)
            return status;
    }
}

/* New handles: libtiff's remember some damage, and another pass would find other, or none. */
static tally_status tiff_rewind(void *state, tally_error *error)
{
    ty_tiff_state *s = state;
    tally_input_info info = s->first;
    close_planes(s);
    tally_status status = open_pages(s, &info, error);
    if (!status && (info.dtype != s->first.dtype || info.rows != s->first.rows ||
                    info.columns != s->first.columns || info.channels != s->first.channels))
        status = ty_error(error, TALLY_ERROR_FORMAT, "%s: changed while it was being read",
                          ty_stream_name(s->stream));
    return status;
}

/* ---- Strips that need no decoding ---------------------------------------------------------- */

static tally_status find_stored(const void *state, uint64_t byte, uint64_t *at, uint64_t *length,
                                tally_error *error)
{
    const ty_tiff_state *s = state;
    const uint64_t strip_bytes = s->strip_rows * s->plane_row_bytes, strip = byte / strip_bytes;
    const uint64_t offset = byte % strip_bytes, begin = s->strip_at[strip];
    const uint64_t left = s->height * s->plane_row_bytes - byte;
    *length = strip_bytes - offset < left ? strip_bytes - offset : left;
    *at = begin + offset;
    return s->strip_size[strip] < offset + *length || begin > s->in.size ||
                   s->in.size - begin < offset + *length
               ? ty_tiff_too_short(s, s->strip_size[strip], byte / s->plane_row_bytes, error)
               : TALLY_OK;
}

static int tiff_stored(const void *state, ty_stored *stored)
{
    ty_tiff_state *s = (ty_tiff_state *)state;
    TIFF *tiff = s->planes[0].tiff;
    uint16_t order = FILLORDER_MSB2LSB;
    if ((!s->options.page && !ty_libtiff.LastDirectory(tiff)) || s->in.is_copy || s->tiled ||
        s->plane_count > 1 || s->palette[0] || s->bits % 8 || s->compression != COMPRESSION_NONE)
        return 0;
    ty_libtiff.GetFieldDefaulted(tiff, TIFFTAG_FILLORDER, &order);
    if (order != FILLORDER_MSB2LSB || s->strip_rows > UINT64_MAX / s->plane_row_bytes ||
        ty_libtiff.NumberOfStrips(tiff) != (s->height + s->strip_rows - 1) / s->strip_rows ||
        !ty_libtiff.GetField(tiff, TIFFTAG_STRIPOFFSETS, &s->strip_at) ||
        !ty_libtiff.GetField(tiff, TIFFTAG_STRIPBYTECOUNTS, &s->strip_size) || !s->strip_at ||
        !s->strip_size)
        return 0;
    ty_stored_make(stored, s->stream, &s->out);
    stored->find = find_stored;
    stored->state = s;
    stored->swap = ty_libtiff.IsByteSwapped(tiff) && s->bits > 8 ? s->bits / 8 : 0;
    return 1;
}

static const char *tiff_name(const void *state, uint64_t channel)
{
    static const char *const inks[4] = {"C", "M", "Y", "K"};
    const ty_tiff_state *s = state;
    unsigned colors = s->photometric == PHOTOMETRIC_SEPARATED              ? 4
                      : s->photometric == PHOTOMETRIC_RGB || s->palette[0] ? 3
                                                                           : 1;
    if (channel == colors && s->alpha && s->samples == colors + 1)
        return "A";
    if (channel >= colors || s->out.channels < colors)
        return NULL;
    return colors == 4 ? inks[channel] : ty_rows_channel_name(colors, channel);
}

const ty_decoder ty_tiff = {
    .format = "tiff",
    .has_pages = 1,
    .probe = tiff_probe,
    .open = tiff_open,
    .read = tiff_read,
    .rewind = tiff_rewind,
    .channel_name = tiff_name,
    .close = tiff_close,
    .stored = tiff_stored,
};

#else

static tally_status tiff_open(ty_stream *stream, const tally_input_options *options, void **state,
                              tally_input_info *info, tally_error *error)
{
    (void)options;
    (void)state;
    (void)info;
    return ty_rows_no_library(stream, "TIFF", "libtiff 4.5 or later", error);
}

const ty_decoder ty_tiff = {
    .format = "tiff",
    .has_pages = 1,
    .probe = tiff_probe,
    .open = tiff_open,
};

#endif
