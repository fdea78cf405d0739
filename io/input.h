/* SPDX-License-Identifier: Apache-2.0 */
/* How bytes become views: stream (file, pipe, gzip, zstd) -> decoder (one a format) -> tally_input.
 */
#ifndef TY_INPUT_H
#define TY_INPUT_H

#include <stddef.h>
#include <tally/io.h>

#include "cpu/threads.h"

/* ---- stream.c: decompressed bytes in order ---- */
typedef struct ty_stream ty_stream;

/* Opens `path` ("-" is standard input), looks at the first bytes and undoes gzip or zstd (any
 * number of members or frames). A regular file is read up to the size that it has now; one that is
 * cut before that is reached fails with TALLY_ERROR_IO. With `keep` a source that cannot seek is
 * spooled as it is read, so that it can be rewound: to memory, from 16 MiB on to a temporary file.
 */
tally_status ty_stream_open(const char *path, int keep, ty_stream **stream, tally_error *error);
void ty_stream_close(ty_stream *stream);
/* Up to `size` bytes (as many as asked unless the end comes first) into `bytes`; *got says how
 * many, 0 at the end. Truncated or damaged compressed data fail with the place. */
tally_status ty_stream_read(ty_stream *stream, void *bytes, size_t size, size_t *got,
                            tally_error *error);
/* Looks ahead without consuming: at most 64 KiB. */
tally_status ty_stream_peek(ty_stream *stream, const unsigned char **bytes, size_t size,
                            size_t *got, tally_error *error);
tally_status ty_stream_rewind(ty_stream *stream, tally_error *error);
/* The threads that a stream reads with, where its source can be read in parts at once, and that
 * decoders may use; NULL, as at first: the caller's alone. */
void ty_stream_pool_set(ty_stream *stream, ty_pool *pool);
ty_pool *ty_stream_pool(const ty_stream *stream);
/* From now on a thread may read and unpack ahead of its caller, where the source is a pipe or
 * compressed; not to be forgotten (below) any more. */
void ty_stream_run_ahead(ty_stream *stream);
/* It will not be rewound: what was kept for that is dropped. */
void ty_stream_forget(ty_stream *stream);
const char *
ty_stream_name(const ty_stream *stream); /* for messages: the path, or "standard input" */
const char *ty_stream_compression(const ty_stream *stream); /* "gzip", "zstd", "xz" or "" */
uint64_t ty_stream_offset(const ty_stream *stream);         /* decoded bytes consumed */
uint64_t ty_stream_stored(const ty_stream *stream);         /* stored bytes consumed */
uint64_t ty_stream_size(const ty_stream *stream);           /* stored bytes in all, 0 unknown */
/* Nonzero when the file is longer now than when it was opened; the stream ends where it ended then.
 */
int ty_stream_grew(const ty_stream *stream);
int ty_stream_is_spooled(const ty_stream *stream);
/* Passes over `bytes` decoded bytes, by seeking where that is possible; *skipped says how many
 * there were. */
tally_status ty_stream_skip(ty_stream *stream, uint64_t bytes, uint64_t *skipped,
                            tally_error *error);
/* A file with all of the stream's bytes, and how many they are, that a format which has to seek
 * made of it (io/seekable.h); -1: none. It is the stream's from then on. */
int ty_stream_copy(const ty_stream *stream, uint64_t *size);
void ty_stream_copy_set(ty_stream *stream, int file, uint64_t size);
/* The descriptor, for pread, of a source that is stored as it is read and can seek, and where in it
 * the stream begins; -1 for any other. It stays the stream's. */
int ty_stream_file(const ty_stream *stream, uint64_t *start);
/* Bytes [offset, offset + size) of such a source, by any number of threads at once, wherever
 * reading in order is. Fails as that does, by the place, where the file was cut. */
tally_status ty_stream_read_at(const ty_stream *stream, uint64_t offset, void *bytes, size_t size,
                               tally_error *error);
/* Such bytes where they lie in memory, after ty_stream_map; NULL: they are to be read. To be
 * returned soon (io/mapping.h). By any number of threads at once. */
void ty_stream_map(ty_stream *stream);
const void *ty_stream_lend(const ty_stream *stream, uint64_t offset, size_t size);
void ty_stream_give_back(const ty_stream *stream, const void *bytes, size_t size);

/* A decoder has all that it needs of a file that is stored in an archive: what little is left is
 * read for the checksum. */
tally_status ty_stream_check(const ty_stream *stream, tally_error *error);

struct ty_stored; /* io/stored.h */
struct ty_codes;  /* io/codes.h */

/* ---- decoders: npy.c raw.c text.c png.c jpeg.c tiff.c pnm.c parquet.c hdf5.c
 * arrow.c json_lines.c fits.c gif.c bmp.c webp.c
 * ---- */
typedef struct ty_decoder {
    const char *format;
    int has_columns; /* they are chosen by name or number (tally_input_options.columns) */
    int has_pages;   /* several images (tally_input_options.page) */
    int has_inside;  /* what is read may be named (tally_input_options.inside) */
    /* Nonzero when the first bytes are this format's. NULL: only on request (raw). */
    int (*probe)(const unsigned char *head, size_t size);
    /* Reads the header. Fills dtype, rows, columns, channels, dimensions, is_image of `info` and
     * *state. The stream belongs to the caller and outlives the state. */
    tally_status (*open)(ty_stream *stream, const tally_input_options *options, void **state,
                         tally_input_info *info, tally_error *error);
    /* As tally_input_read. */
    tally_status (*read)(void *state, tally_view *views, int *done, tally_error *error);
    /* Start over. The stream has just been rewound, unless the decoder keeps what it read. */
    tally_status (*rewind)(void *state, tally_error *error);
    const char *(*channel_name)(const void *state, uint64_t channel); /* may be NULL */
    void (*close)(void *state);
    /* Nonzero: it keeps what it has read, and goes on from there; the stream is never rewound.
     * NULL: it does not. */
    int (*keeps)(const void *state);
    /* Of a view with codes of words their texts, else NULL. NULL: it has none. */
    tally_words *(*words)(const void *state, uint32_t view);
    /* As tally_input_rounded. NULL: none ever is. */
    int (*rounded)(const void *state);
    /* The unit of a view's times. NULL: it has none. */
    tally_time (*time)(const void *state, uint32_t view);
    /* Where samples lie in the file as they are handed out, but for the order of their bytes: fills
     * *stored and returns 1; else 0. NULL: never. */
    int (*stored)(const void *state, struct ty_stored *stored);
    /* Views with sources of its own, as tally_input_view. NULL: it has none. */
    tally_status (*view)(void *state, tally_view *views, tally_error *error);
    /* Parts of a single column that may be in dictionaries, 0: none; the rows of each; and how
     * often its values are there, by any thread, 0: it is to be read. NULL: it has none. */
    unsigned (*code_parts)(void *state);
    uint64_t (*code_rows)(const void *state, unsigned part);
    int (*count_codes)(const void *state, unsigned part, struct ty_codes *codes);
    /* With tally_input_options.masked: 1 for each of the elements read last that has values in all
     * views, else 0; NULL: no value is ever missing so. And the same of elements [begin, begin +
     * count) of `view`, by any thread: mask[i] becomes 0, or stays. */
    const unsigned char *(*mask)(const void *state);
    tally_status (*mask_part)(const void *state, uint64_t begin, uint64_t count,
                              unsigned char *mask, tally_error *error);
} ty_decoder;

/* ---- input.c ---- */

/* As the decoder's words; the threads that read it, NULL: the caller's alone. */
tally_words *ty_input_words(const tally_input *input, uint32_t view);
int ty_input_makes_words(const tally_input *input); /* of numbers */
ty_pool *ty_input_pool(const tally_input *input);
const ty_decoder *ty_input_decoder(const tally_input *input, void **state);

/* Of an input that was opened with whole_table 2 and has columns that are opened one by one: opens
 * one, by name or number, in place of the last; TALLY_ERROR_ARGUMENT: there is none. NULL: none. */
int ty_input_is_by_columns(const tally_input *input);
tally_status ty_input_column(tally_input *input, const char *column, tally_words *const *words,
                             tally_error *error);
void ty_input_column_close(tally_input *input);
const char *ty_input_name(const tally_input *input); /* for messages */

extern const ty_decoder ty_npy, ty_raw, ty_text, ty_png, ty_jpeg, ty_tiff, ty_pnm, ty_parquet,
    ty_hdf5, ty_arrow, ty_json_lines, ty_fits, ty_gif, ty_bmp, ty_webp;

/* Of the first bytes of a JSON array, what would convert it; of others NULL. */
const char *ty_json_array_hint(const unsigned char *head, size_t size);

#endif
