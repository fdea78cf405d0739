/* SPDX-License-Identifier: Apache-2.0 */
/* The file that libtiff reads: its calls back, its messages, its handles. */
#define _FILE_OFFSET_BITS 64

#include "io/tiff_file.h"

#if TY_TIFF

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"

/* ---- libtiff's side ------------------------------------------------------------------------ */

static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list args)
{
    ty_tiff_state *s = user;
    (void)tiff;
    (void)module;
    if (!s->words[0])
        vsnprintf(s->words, sizeof s->words, format, args);
    return 1;
}

/* Whether a warning tells of samples that would be guessed: in the directory, a tag that matters
 * and is passed over (libtiff then takes a palette's indices for grey without a word), or a file
 * cut short; among the samples, all but the one about an old way of writing LZW. */
static int is_harmful(const ty_tiff_state *s, const char *words)
{
    static const char *const tags[] = {
        "ColorMap",     "BitsPerSample", "Compression", "ExtraSamples", "FillOrder",
        "Predictor",    "SampleFormat",  "Photometric", "Planar",       "RowsPerStrip",
        "DataType",     "T4Options",     "T6Options",   "JPEGTables",   "SamplesPerPixel",
        "StripOffsets", "TileOffsets",   "TileWidth",   "TileLength"};
    if (s->decoding)
        return strncmp(words, "Old-style LZW", 13) != 0;
    if (!strstr(words, "ignored"))
        return 0;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (strstr(words, tags[i]))
            return 1;
    return strstr(words, "IO error") != NULL;
}

static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list args)
{
    ty_tiff_state *s = user;
    char words[sizeof s->words];
    (void)tiff;
    (void)module;
    vsnprintf(words, sizeof words, format, args);
    if (!s->words[0] && is_harmful(s, words))
        memcpy(s->words, words, sizeof words);
    return 1;
}

static tmsize_t on_read(thandle_t handle, void *bytes, tmsize_t size)
{
    ty_tiff_plane *p = handle;
    unsigned char *to = bytes;
    tmsize_t done = 0;
    while (done < size) {
        ssize_t got = pread(p->owner->in.file, to + done, (size_t)(size - done),
                            (off_t)(p->owner->in.start + p->at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += got;
        p->at += (uint64_t)got;
    }
    return done;
}

static tmsize_t on_write(thandle_t handle, void *bytes, tmsize_t size)
{
    (void)handle;
    (void)bytes;
    (void)size;
    return -1;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence)
{
    ty_tiff_plane *p = handle;
    uint64_t from = whence == SEEK_CUR ? p->at : whence == SEEK_END ? p->owner->in.size : 0;
    uint64_t to = from + offset;
    if (to > (uint64_t)INT64_MAX - p->owner->in.start)
        return (toff_t)-1;
    return p->at = to;
}

static int on_close(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t on_size(thandle_t handle)
{
    return ((ty_tiff_plane *)handle)->owner->in.size;
}

tally_status ty_tiff_failed(const ty_tiff_state *s, const char *what, tally_error *error)
{
    /* "Out of memory", "Not enough memory", "No space for …" */
    int memory = (strstr(s->words, "emory") || strstr(s->words, "No space")) &&
                 !strstr(s->words, "beyond the"); /* our own limit, which a damaged file passes */
    return ty_error(error, memory ? TALLY_ERROR_MEMORY : TALLY_ERROR_FORMAT,
                    "%s: tiff: %s (row %" PRIu64 ")", ty_stream_name(s->stream),
                    s->words[0] ? s->words : what, s->row);
}

tally_status ty_tiff_too_short(const ty_tiff_state *s, uint64_t bytes, uint64_t row,
                               tally_error *error)
{
    const char *name = ty_stream_name(s->stream), *what = s->tiled ? "tile" : "strip";
    return bytes ? ty_error(error, TALLY_ERROR_FORMAT,
                            "%s: tiff: a %s is shorter than its rows (row %" PRIu64 ")", name, what,
                            row)
                 : ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "%s: a sparse TIFF image, without the %s at row %" PRIu64
                            ", which is not read; write it whole: gdal_translate FILE out.tif",
                            name, what, row);
}

tally_status ty_tiff_unsupported(const ty_tiff_state *s, const char *what, unsigned value,
                                 tally_error *error)
{
    return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: a TIFF image with %s %u is not read",
                    ty_stream_name(s->stream), what, value);
}

tally_status ty_tiff_check_memory(const ty_tiff_state *s, tally_error *error)
{
    uint64_t tags = s->in.size < (4 << 20) ? s->in.size : 4 << 20;
    size_t need = (size_t)(2 * tags + (64 << 10));
    void *block = ty_malloc(need);
    ty_free(block);
    return block ? TALLY_OK : ty_error_memory(error, "a TIFF directory", need);
}

tally_status ty_tiff_open_plane(ty_tiff_state *s, ty_tiff_plane *p, tally_error *error)
{
    tally_status status = ty_tiff_check_memory(s, error);
    if (status)
        return status;
    p->owner = s;
    p->at = p->first = p->end = p->next = 0;
    TIFFOpenOptions *options = ty_libtiff.OpenOptionsAlloc();
    if (!options)
        return ty_error(error, TALLY_ERROR_MEMORY, "out of memory while decoding a TIFF image");
    ty_libtiff.OpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)TY_TIFF_MOST);
    ty_libtiff.OpenOptionsSetErrorHandlerExtR(options, on_error, s);
    ty_libtiff.OpenOptionsSetWarningHandlerExtR(options, on_warning, s);
    p->tiff = ty_libtiff.ClientOpenExt(ty_stream_name(s->stream), "rm", p, on_read, on_write,
                                       on_seek, on_close, on_size, NULL, NULL, options);
    ty_libtiff.OpenOptionsFree(options);
    return p->tiff && !s->words[0] ? TALLY_OK
                                   : ty_tiff_failed(s, "its directory cannot be read", error);
}

int ty_tiff_read_at(ty_tiff_plane *p, uint64_t at, void *bytes, tmsize_t size)
{
    on_seek(p, at, SEEK_SET);
    return on_read(p, bytes, size) == size;
}

#endif
