/* SPDX-License-Identifier: Apache-2.0 */
/* A TIFF image's state, and the file as libtiff reads it. Only with libtiff 4.5 or later: before,
 * messages go to handlers of the whole process, which are not a library's to change. */
#ifndef TY_TIFF_FILE_H
#define TY_TIFF_FILE_H

#include "io/rows.h"
#include "io/seekable.h"

#if TALLY_HAVE_TIFF
#include <tiffio.h>
#endif
#if TALLY_HAVE_TIFF && TIFFLIB_VERSION >= 20221213
#define TY_TIFF 1
#else
#define TY_TIFF 0
#endif

#if TY_TIFF

#include "io/tiff_library.h"

enum { TY_TIFF_PLANES = 16 };

/* What a row of tiles, or one compressed strip, may take. */
#define TY_TIFF_MOST (INT64_C(1) << 30)

typedef struct ty_tiff_state ty_tiff_state;

/* One handle: the whole image, or one of the planes stored apart. */
typedef struct ty_tiff_plane {
    ty_tiff_state *owner;
    TIFF *tiff;
    uint64_t at;         /* libtiff's place in the file */
    unsigned char *rows; /* a row of tiles, or one row of a strip; as stored but in host order */
    uint64_t first, end; /* image rows that `rows` holds */
    uint64_t next;       /* strips: the row that the handle decodes next */
} ty_tiff_plane;

struct ty_tiff_state {
    ty_stream *stream;
    ty_rows out;
    tally_input_options options; /* region, chunk and page of each page */
    tally_input_info first;      /* dtype, extents and channels of the first page that is read */
    uint64_t page;               /* from 1, of those that are no smaller copies or masks */
    ty_seekable in;              /* what libtiff reads */
    uint32_t width, height;
    uint16_t samples, bits, format, photometric, compression;
    int separate, tiled, alpha;
    uint16_t *palette[3];
    int palette_shift;                   /* 8, or 0 for files that hold 8-bit palettes */
    unsigned plane_count, plane_samples; /* samples of one element in one plane */
    ty_tiff_plane planes[TY_TIFF_PLANES];
    uint64_t strip_rows, plane_row_bytes; /* bytes of a row in one plane, as stored */
    uint64_t plane_bytes;                 /* of a plane's `rows` */
    uint64_t tile_width, tile_rows, tile_row_bytes, tiles_across;
    unsigned char *tile;
    const uint64_t *strip_at, *strip_size; /* libtiff's */
    uint64_t row;                          /* next to hand out */
    int decoding;                          /* warnings now mean damaged samples */
    char words[512];
};

/* The failure of a row, in libtiff's words if it said something, else `what`. */
tally_status ty_tiff_failed(const ty_tiff_state *s, const char *what, tally_error *error);
/* A strip or tile that begins at `row` has only `bytes` bytes; 0: it was left out, as GDAL may. */
tally_status ty_tiff_too_short(const ty_tiff_state *s, uint64_t bytes, uint64_t row,
                               tally_error *error);
tally_status ty_tiff_unsupported(const ty_tiff_state *s, const char *what, unsigned value,
                                 tally_error *error);
/* libtiff 4.5 crashes when there is no memory for the copy that it makes of a tag. So that this is
 * found out first, what a directory may take must be there now. */
tally_status ty_tiff_check_memory(const ty_tiff_state *s, tally_error *error);
tally_status ty_tiff_open_plane(ty_tiff_state *s, ty_tiff_plane *p, tally_error *error);
/* `size` bytes of the file from `at` on. 0 if they are not there. */
int ty_tiff_read_at(ty_tiff_plane *p, uint64_t at, void *bytes, tmsize_t size);

#endif
#endif
