/* SPDX-License-Identifier: Apache-2.0 */
/* A public input: options checked, the format told by content, one decoder behind it.
 *
 * With a dtype the data are raw, whatever they look like; without one the first bytes decide. gzip
 * and zstd are undone once in either case. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/input.h"
#include "io/mask.h"
#include "io/number_words.h"
#include "io/rows.h"
#include "io/stored.h"
#include "io/zip.h"

enum { TY_HEAD = 4096 };

struct tally_input {
    ty_pool *pool;       /* NULL: the caller's thread alone */
    ty_stream *file;     /* what the path names */
    ty_seekable archive; /* that file, if `stream` is a part of it */
    ty_stream *stream;   /* `file`, or a part of it */
    const ty_decoder *decoder;
    void *state;
    tally_input_info info;
    tally_input_options options; /* by_columns: what it was opened with */
    char *missing, *inside;      /* copies of theirs */
    ty_number_words numbers;     /* made 0: no column of numbers is to be of words */
    ty_stored stored;            /* the last that tally_input_view gave */
    ty_mask mask;
    int finished;
    tally_status failed; /* of an earlier read; `error` has its message */
    tally_error error;
};

/* The order matters only to text, which takes whatever looks like characters. */
static const ty_decoder *const decoders[] = {
    &ty_png,   &ty_jpeg, &ty_tiff, &ty_npy, &ty_pnm,  &ty_parquet,    &ty_hdf5,
    &ty_arrow, &ty_fits, &ty_gif,  &ty_bmp, &ty_webp, &ty_json_lines, &ty_text};

/* A caller built against an older or newer header has a smaller or larger struct. */
static tally_status copy_options(const tally_input_options *from, tally_input_options *options,
                                 tally_error *error)
{
    memset(options, 0, sizeof *options);
    if (from) {
        if (from->struct_size < offsetof(tally_input_options, chunk_bytes))
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "options->struct_size is %zu; sizeof(tally_input_options) is %zu",
                            from->struct_size, sizeof *options);
        const unsigned char *bytes = (const unsigned char *)from;
        for (size_t i = sizeof *options; i < from->struct_size; i++)
            if (bytes[i])
                return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                                "the input options use a field that this library (%s) does not "
                                "know yet",
                                tally_version());
        memcpy(options, from,
               from->struct_size < sizeof *options ? from->struct_size : sizeof *options);
    }
    options->struct_size = sizeof *options;
    return TALLY_OK;
}

static tally_status check_options(const char *path, const tally_input_options *o,
                                  tally_error *error)
{
    if (o->dtype && !tally_dtype_bytes(o->dtype))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "dtype is %d; %d (u8) to %d (f64) are known",
                        (int)o->dtype, TALLY_U8, TALLY_F64);
    if (o->byte_order < -1 || o->byte_order > 1)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "byte_order is %" PRId32
                        "; 1 is big-endian, -1 little-endian, 0 the host's",
                        o->byte_order);
    if (!o->dtype &&
        (o->shape[0] || o->shape[1] || o->shape[2] || o->offset_bytes || o->byte_order))
        return ty_error(
            error, TALLY_ERROR_ARGUMENT,
            "%s: a shape, an offset or a byte order is for raw data, which need a dtype too", path);
    if (o->dtype && o->columns_count)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: columns are chosen by name in text; with a dtype the data are raw",
                        path);
    if (o->columns_count && !o->columns)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "columns is NULL, columns_count is %" PRIu32,
                        o->columns_count);
    if (o->columns_count > TALLY_MAX_DIMENSIONS)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%" PRIu32 " columns; at most %d are read",
                        o->columns_count, TALLY_MAX_DIMENSIONS);
    for (uint32_t i = 0; i < o->columns_count; i++)
        if (!o->columns[i])
            return ty_error(error, TALLY_ERROR_ARGUMENT, "columns[%" PRIu32 "] is NULL", i);
    if ((o->row_end && o->row_begin >= o->row_end) ||
        (o->column_end && o->column_begin >= o->column_end))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: the region of rows %" PRIu64 ":%" PRIu64 ", columns %" PRIu64
                        ":%" PRIu64 " is empty; an end must lie behind its begin",
                        path, o->row_begin, o->row_end, o->column_begin, o->column_end);
    return TALLY_OK;
}

/* Formats that are not read, by their first bytes, and what makes one that is of them. Some begin
 * as text may, too: these are looked for in what is no text. */
static const struct {
    const char *magic;
    unsigned short size, at, is_clear;
    const char *what, *instead;
} strangers[] = {
    {"%PDF-", 5, 0, 1, "a PDF document", "pdfimages takes its pictures out, pdftotext its text"},
    {"WAVE", 4, 8, 0, "a WAV sound", "sox FILE -t raw - gives raw samples (--dtype i16)"},
    {"ftyp", 4, 4, 0, "an HEIF or AVIF image, or a film", "convert it to PNG: magick FILE out.png"},
    {"\0\0\0\x0cjP  ", 8, 0, 0, "a JPEG 2000 image",
     "convert it: opj_decompress -i FILE -o out.png"},
    {"\xff\x0a", 2, 0, 0, "a JPEG XL image", "convert it to PNG: djxl FILE out.png"},
    {"v/1\x01", 4, 0, 0, "an OpenEXR image", "convert it to TIFF: magick FILE out.tiff"},
    {"PF\n", 3, 0, 0, "a PFM image", "convert it to TIFF: magick FILE out.tiff"},
    {"Pf\n", 3, 0, 0, "a PFM image", "convert it to TIFF: magick FILE out.tiff"},
    {"\xd0\xcf\x11\xe0", 4, 0, 0, "an old Office document", "save a spreadsheet as CSV"},
    {"SQLite format 3", 16, 0, 0, "an SQLite database",
     "sqlite3 -csv FILE 'SELECT ...' | tally - counts a query"},
    {"CDF\1", 4, 0, 0, "a netCDF-3 file", "nccopy -k nc4 FILE out.nc makes netCDF-4 of it"},
    {"CDF\2", 4, 0, 0, "a netCDF-3 file", "nccopy -k nc4 FILE out.nc makes netCDF-4 of it"},
    {"CDF\5", 4, 0, 0, "a netCDF-3 file", "nccopy -k nc4 FILE out.nc makes netCDF-4 of it"},
    {"\x0e\x03\x13\x01", 4, 0, 0, "an HDF4 file", "h4toh5 FILE makes HDF5 of it"},
    {"MATLAB 5.0 MAT-file", 19, 0, 0, "a MATLAB file before 7.3", "save it with -v7.3"},
    {"FEA1", 4, 0, 0, "a Feather file of version 1", "write it as version 2, or as Parquet"},
    {"ORC", 3, 0, 0, "an ORC file", "write it as Parquet"},
    {"Obj\1", 4, 0, 0, "an Avro file", "write it as Parquet"},
    {"7z\xbc\xaf", 4, 0, 0, "a 7z archive", "unpack it: 7z x FILE"},
    {"ustar", 5, 257, 0, "a tar archive", "tar -xOf FILE NAME | tally - counts a file of it"},
    {"\x04\x22\x4d\x18", 4, 0, 0, "compressed by LZ4", "pipe it through lz4 -dc"},
};

/* Refuses a format that is known and not read; `clear`: only those that no text begins as. */
static tally_status refuse_stranger(const char *name, const unsigned char *head, size_t size,
                                    int clear, tally_error *error)
{
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if ((strangers[i].is_clear || !clear) && size >= strangers[i].at + strangers[i].size &&
            !memcmp(head + strangers[i].at, strangers[i].magic, strangers[i].size))
            return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: %s, which is not read; %s", name,
                            strangers[i].what, strangers[i].instead);
    const char *hint = ty_json_array_hint(head, size);
    return hint ? ty_error(error, TALLY_ERROR_UNSUPPORTED,
                           "%s: a JSON array, which is not read; %s", name, hint)
                : TALLY_OK;
}

static tally_status unknown_format(const char *name, const unsigned char *head, size_t size,
                                   tally_error *error)
{
    char hex[16 * 3 + 1] = "";
    if (size >= 2 && (memcmp(head, "\xff\xfe", 2) == 0 || memcmp(head, "\xfe\xff", 2) == 0))
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: UTF-16 text; UTF-8 is read: iconv -f UTF-16 -t UTF-8 makes it", name);
    for (size_t i = 0; i < size && i < 16; i++)
        snprintf(hex + 3 * i, 4, " %02x", head[i]);
    return ty_error(
        error, TALLY_ERROR_FORMAT,
        "%s: not a format that is known: it begins with%s; PNG, JPEG, TIFF, PNM, GIF, BMP, WebP, "
        "npy, "
        "npz, FITS, Parquet, Arrow, HDF5, JSON lines and text (CSV, TSV, numbers) are told by "
        "their content; raw "
        "data need a dtype "
        "(--dtype)",
        name, hex);
}

static tally_status find_decoder(tally_input *in, const tally_input_options *options,
                                 tally_error *error)
{
    const unsigned char *head;
    size_t size;
    const char *name = ty_stream_name(in->stream);
    tally_status status =
        ty_stream_peek(in->stream, &head, options->dtype ? 1 : TY_HEAD, &size, error);
    if (status)
        return status;
    if (!size)
        return ty_error(error, TALLY_ERROR_FORMAT, "%s: empty", name);
    if (options->dtype)
        in->decoder = &ty_raw;
    else if ((status = refuse_stranger(name, head, size, 1, error)))
        return status;
    for (size_t i = 0; !in->decoder && i < sizeof decoders / sizeof *decoders; i++)
        if (decoders[i]->probe(head, size))
            in->decoder = decoders[i];
    if (!in->decoder) {
        status = refuse_stranger(name, head, size, 0, error);
        return status ? status : unknown_format(name, head, size, error);
    }
    if (options->page > 1 && !in->decoder->has_pages)
        return ty_error(
            error, TALLY_ERROR_ARGUMENT,
            "%s: page %" PRIu64
            " is asked for; TIFF, PNM, PNG, GIF and WebP may have several, and this is %s",
            name, options->page, in->decoder->format);
    if (options->inside && !in->decoder->has_inside)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: this is %s, and has nothing called '%s' in it", name,
                        in->decoder->format, options->inside);
    if (options->columns_count && !in->decoder->has_columns)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: columns are chosen by name in tables, and this is %s; choose channels "
                        "or a region instead",
                        name, in->decoder->format);
    if ((options->delimiter || options->header ||
         (options->missing && in->decoder != &ty_json_lines)) &&
        in->decoder != &ty_text)
        return ty_error(
            error, TALLY_ERROR_ARGUMENT,
            "%s: a delimiter, a header and words for missing are of text, and this is %s", name,
            in->decoder->format);
    return TALLY_OK;
}

static int keeps(const tally_input *in)
{
    return in->decoder->keeps && in->decoder->keeps(in->state);
}

/* How many views a read hands out. */
static uint32_t views_of(const tally_input *in)
{
    return in->info.table ? in->info.table : in->info.dimensions;
}

/* Opens the stream; what the path names inside the file goes to the options. */
static tally_status open_stream(tally_input *in, const char *path, tally_input_options *options,
                                tally_error *error)
{
    const size_t length = options->inside ? strlen(path) : tally_input_file_length(path);
    if (!path[length])
        return ty_stream_open(path, options->rewindable, &in->file, error);
    char *file = ty_malloc(length + 1);
    if (!file)
        return ty_error_memory(error, "a path", length + 1);
    memcpy(file, path, length);
    file[length] = '\0';
    options->inside = path + length + 1;
    tally_status status = ty_stream_open(file, options->rewindable, &in->file, error);
    ty_free(file);
    return status;
}

/* A file in an archive is read as if it lay outside; raw data are one only if they name it. */
static tally_status enter_archive(tally_input *in, tally_input_options *options, tally_error *error)
{
    const unsigned char *head;
    size_t size;
    in->stream = in->file;
    if (options->dtype && !options->inside)
        return TALLY_OK;
    tally_status status = ty_stream_peek(in->file, &head, 4, &size, error);
    if (status || !ty_zip_probe(head, size))
        return status;
    in->stream = NULL;
    status = ty_zip_open(in->file, options->inside, &in->archive, &in->stream, error);
    options->inside = NULL;
    return status;
}

/* Bytes of the stream are read from its start, unless a copy of them is. */
static tally_status start_again(tally_input *in, tally_error *error)
{
    uint64_t size;
    return ty_stream_copy(in->stream, &size) < 0 ? ty_stream_rewind(in->stream, error) : TALLY_OK;
}

static tally_status open_decoder(tally_input *in, const tally_input_options *options,
                                 tally_error *error)
{
    in->info = (tally_input_info){.struct_size = sizeof in->info,
                                  .format = in->decoder->format,
                                  .compression = ty_stream_compression(in->stream),
                                  .size_bytes = ty_stream_size(in->file),
                                  .dimensions = 1};
    return in->decoder->open(in->stream, options, &in->state, &in->info, error);
}

static void close_decoder(tally_input *in)
{
    if (in->state)
        in->decoder->close(in->state);
    in->state = NULL;
}

/* Columns of numbers that all_words makes ones of words. */
static void make_words(tally_input *in, const tally_input_options *options)
{
    ty_number_words *w = &in->numbers;
    if (!options->all_words || !options->words || in->info.table || in->info.channels != 1)
        return;
    *w = (ty_number_words){.name = ty_stream_name(in->stream), .count = in->info.dimensions};
    for (uint32_t d = 0; d < w->count; d++) {
        if (!options->words[d] || in->info.words >> d & 1)
            continue;
        w->views[d].words = options->words[d];
        w->views[d].time = tally_input_time(in, d);
        w->views[d].is_boolean = in->info.booleans >> d & 1;
        w->made |= UINT32_C(1) << d;
    }
    if (w->made)
        in->info.dtype = TALLY_F64;
    in->info.words |= w->made;
}

/* What could not be opened without columns, as in->error says, has them opened one by one. */
static tally_status begin_columns(tally_input *in, const tally_input_options *options,
                                  tally_error *error)
{
    const char *missing = options->missing, *inside = options->inside;
    close_decoder(in);
    if ((missing && !(in->missing = ty_text_copy(missing, strlen(missing)))) ||
        (inside && !(in->inside = ty_text_copy(inside, strlen(inside)))))
        return ty_error_memory(error, "an input's options", 0);
    in->options = *options;
    in->options.missing = in->missing;
    in->options.inside = in->inside;
    in->options.whole_table = 0;
    in->info.table = 1;
    in->failed = TALLY_ERROR_ARGUMENT;
    return TALLY_OK;
}

int ty_input_is_by_columns(const tally_input *input)
{
    return input->options.struct_size != 0;
}

const char *ty_input_name(const tally_input *input)
{
    return ty_stream_name(input->file);
}

void ty_input_column_close(tally_input *input)
{
    close_decoder(input);
    input->failed = TALLY_ERROR_ARGUMENT;
    ty_error(&input->error, TALLY_ERROR_ARGUMENT, "%s: its columns are read one by one",
             ty_stream_name(input->file));
}

tally_status ty_input_column(tally_input *in, const char *column, tally_words *const *words,
                             tally_error *error)
{
    tally_input_options options = in->options;
    options.columns = &column;
    options.columns_count = 1;
    options.words = words;
    close_decoder(in);
    in->failed = TALLY_OK;
    in->finished = 0;
    tally_status status = start_again(in, error);
    if (!status)
        status = open_decoder(in, &options, error);
    if (status) {
        close_decoder(in);
        in->failed = status;
        in->error = *error;
    }
    return status;
}

static tally_status open_input(tally_input *in, const char *path, tally_input_options *options,
                               tally_error *error)
{
    if (options->threads != 1 && !(in->pool = ty_pool_create(options->threads)))
        return ty_error_memory(error, "threads", 0);
    tally_status status = open_stream(in, path, options, error);
    if (!status)
        status = enter_archive(in, options, error);
    if (!status)
        ty_stream_pool_set(in->stream, in->pool);
    if (!status)
        status = find_decoder(in, options, error);
    if (status)
        return status;
    tally_error unsaid;
    status = open_decoder(in, options, &in->error);
    if (status == TALLY_ERROR_ARGUMENT && options->whole_table > 1 && in->decoder->has_columns &&
        !options->columns_count && !start_again(in, &unsaid))
        return begin_columns(in, options, error);
    if (status)
        return ty_error(error, status, "%s", in->error.message);
    make_words(in, options);
    if (keeps(in))
        ty_stream_forget(in->stream);
    ty_stream_run_ahead(in->stream);
    return status;
}

tally_status tally_input_open(const char *path, const tally_input_options *options,
                              tally_input **input, tally_error *error)
{
    tally_input_options o;
    if (!path || !input)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", path ? "input" : "path");
    tally_status status = copy_options(options, &o, error);
    if (!status)
        status = check_options(path, &o, error);
    if (status)
        return status;
    tally_input *in = ty_calloc(1, sizeof *in);
    if (!in)
        return ty_error_memory(error, "an input", sizeof *in);
    status = open_input(in, path, &o, error);
    if (status)
        tally_input_close(in);
    else
        *input = in;
    return status;
}

void tally_input_close(tally_input *input)
{
    if (!input)
        return;
    close_decoder(input);
    ty_number_words_close(&input->numbers);
    ty_free(input->missing);
    ty_free(input->inside);
    if (input->stream != input->file)
        ty_stream_close(input->stream);
    ty_stream_close(input->file);
    if (input->pool)
        ty_pool_destroy(input->pool);
    ty_free(input);
}

tally_status tally_input_info_get(const tally_input *input, tally_input_info *info)
{
    if (!input || !info || info->struct_size < sizeof info->struct_size)
        return TALLY_ERROR_ARGUMENT;
    tally_input_info now = input->info;
    size_t size = info->struct_size;
    now.is_spooled = ty_stream_is_spooled(input->stream);
    memset(info, 0, size);
    memcpy(info, &now, size < sizeof now ? size : sizeof now);
    info->struct_size = size;
    return TALLY_OK;
}

/* NULL for a channel that has no name: those of raw data and arrays. */
const char *tally_input_channel_name(const tally_input *input, uint64_t channel)
{
    if (!input || !input->state || !input->decoder->channel_name)
        return NULL;
    return input->decoder->channel_name(input->state, channel);
}

/* Compressed data carry checksums at their end, where a decoder that has all its samples would not
 * look. */
static tally_status drain(tally_input *in, tally_error *error)
{
    uint64_t skipped = 1;
    tally_status status = TALLY_OK;
    while (!status && skipped && in->info.compression[0])
        status = ty_stream_skip(in->stream, UINT64_C(1) << 30, &skipped, error);
    return status ? status : ty_stream_check(in->stream, error);
}

/* What was read, as words where it is to be. */
static tally_status hand_out(tally_input *in, tally_view *views, tally_error *error)
{
    ty_mask_chunk(&in->mask, in->decoder, in->state, views);
    if (!in->numbers.made)
        return TALLY_OK;
    const unsigned char *mask = in->mask.view.data;
    in->mask.view = (tally_view)TALLY_VIEW_INIT;
    return ty_number_words_read(&in->numbers, views, mask, error);
}

tally_status tally_input_read(tally_input *input, tally_view *views, int *done, tally_error *error)
{
    if (!input || !views || !done)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL",
                        !input   ? "input"
                        : !views ? "views"
                                 : "done");
    *done = input->finished;
    if (!input->failed && !input->finished) {
        input->failed = input->decoder->read(input->state, views, done, &input->error);
        if (!input->failed && *done)
            input->failed = drain(input, &input->error);
        else if (!input->failed)
            input->failed = hand_out(input, views, &input->error);
        input->finished = *done;
    }
    if (input->failed)
        return ty_error(error, input->failed, "%s", input->error.message);
    return TALLY_OK;
}

tally_status tally_input_rewind(tally_input *input, tally_error *error)
{
    if (!input)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "input is NULL");
    if (!input->state)
        return ty_error(error, input->failed, "%s", input->error.message);
    tally_status status = keeps(input) ? TALLY_OK : ty_stream_rewind(input->stream, error);
    if (status)
        return status;
    input->finished = 0;
    input->failed = input->decoder->rewind(input->state, &input->error);
    if (input->failed)
        return ty_error(error, input->failed, "%s", input->error.message);
    return TALLY_OK;
}

/* An element larger than this is read in chunks: threads would take parts of thousands. */
enum { TY_ELEMENT_MOST = 1024 };

tally_status tally_input_view(tally_input *input, tally_view *views, tally_error *error)
{
    uint64_t start;
    if (!input || !views)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", input ? "views" : "input");
    ty_stored *s = &input->stored;
    for (uint32_t d = 0; d < input->info.dimensions; d++)
        views[d] = (tally_view)TALLY_VIEW_INIT;
    if (input->numbers.made)
        return TALLY_OK;
    if (!input->failed && input->decoder->view) {
        const tally_status status = input->decoder->view(input->state, views, error);
        if (!status)
            ty_mask_whole(&input->mask, input->decoder, input->state, views);
        return status;
    }
    if (input->failed || !input->decoder->stored || ty_stream_file(input->stream, &start) < 0 ||
        !input->decoder->stored(input->state, s) || s->rows->pixel_bytes > TY_ELEMENT_MOST)
        return TALLY_OK;
    /* One that is too short is refused by the decoder, which knows how. */
    const uint64_t size = ty_stream_size(input->stream);
    if (!s->find && (size < s->start || size - s->start < s->rows->rows * s->rows->row_bytes))
        return TALLY_OK;
    s->source.user = s;
    ty_stream_map(input->stream);
    ty_stored_view(s, views);
    return TALLY_OK;
}

tally_status tally_input_mask(const tally_input *input, tally_view *mask, tally_error *error)
{
    if (!input || !mask)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", input ? "mask" : "input");
    *mask = input->mask.view;
    return TALLY_OK;
}

uint64_t tally_input_position(const tally_input *input)
{
    return input ? ty_stream_stored(input->stream) : 0;
}

tally_time tally_input_time(const tally_input *input, uint32_t view)
{
    return input && input->state && input->decoder->time && view < views_of(input) &&
                   !(input->numbers.made >> view & 1)
               ? input->decoder->time(input->state, view)
               : TALLY_TIME_NONE;
}

int32_t tally_input_rounded(const tally_input *input)
{
    if (input && input->numbers.rounded)
        return 1;
    return input && input->state && input->decoder->rounded &&
           input->decoder->rounded(input->state);
}

tally_words *ty_input_words(const tally_input *input, uint32_t view)
{
    return input->decoder->words ? input->decoder->words(input->state, view) : NULL;
}

int ty_input_makes_words(const tally_input *input)
{
    return input->numbers.made != 0;
}

ty_pool *ty_input_pool(const tally_input *input)
{
    return input->pool;
}

const ty_decoder *ty_input_decoder(const tally_input *input, void **state)
{
    *state = input->state;
    return input->decoder;
}
