/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG by libjpeg, row by row: grey, R G B, or C M Y K as stored (Adobe's files store them
 * inverted). What libjpeg only warns of, a cut or damaged scan, is an error here. */
#include "io/rows.h"

static int jpeg_probe(const unsigned char *head, size_t size)
{
    return size >= 3 && head[0] == 0xff && head[1] == 0xd8 && head[2] == 0xff;
}

#if TALLY_HAVE_JPEG

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

#include "core/alloc.h"
#include "core/error.h"

enum { TY_JPEG_BUFFER = 32 * 1024, TY_JPEG_SCANS_MOST = 1000 };

/* A progressive image is held whole, as coefficients. */
#define TY_JPEG_WHOLE_MOST (UINT64_C(1) << 30)

typedef struct ty_jpeg_state {
    ty_stream *stream;
    ty_rows rows;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    int made, started;
    uint64_t row;        /* next to decode */
    tally_status status; /* what the running call into libjpeg ended with */
    tally_error *error;
    jmp_buf jump;
    unsigned char buffer[TY_JPEG_BUFFER];
} ty_jpeg_state;

typedef struct ty_jpeg_wish {
    unsigned char *into;
    uint64_t count; /* rows */
} ty_jpeg_wish;

static void fail(ty_jpeg_state *s, tally_status status, const char *words)
{
    s->status = ty_error(s->error, status, "%s: jpeg: %s (near byte %" PRIu64 ", row %" PRIu64 ")",
                         ty_stream_name(s->stream), words,
                         ty_stream_offset(s->stream) - s->source.bytes_in_buffer, s->row);
    longjmp(s->jump, 1);
}

static void on_error(j_common_ptr jpeg)
{
    char words[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, words);
    int code = jpeg->err->msg_code;
    fail(jpeg->client_data,
         code == JERR_OUT_OF_MEMORY ? TALLY_ERROR_MEMORY
         : code == JERR_BAD_PRECISION || code == JERR_SOF_UNSUPPORTED ||
                 code == JERR_CONVERSION_NOTIMPL || code == JERR_NO_BACKING_STORE
             ? TALLY_ERROR_UNSUPPORTED
             : TALLY_ERROR_FORMAT,
         words);
}

/* Level -1 is a warning. Stray bytes in front of the first scan and an unknown revision touch no
 * sample. Bytes left over behind a scan do: its decoding went astray, or stopped early. */
static void on_message(j_common_ptr jpeg, int level)
{
    int code = jpeg->err->msg_code, scans = ((j_decompress_ptr)jpeg)->input_scan_number;
    int harmless = code == JWRN_JFIF_MAJOR || (code == JWRN_EXTRANEOUS_DATA && scans == 0);
    if (level < 0 && !harmless)
        on_error(jpeg);
}

static void on_output(j_common_ptr jpeg)
{
    (void)jpeg;
}

static void on_progress(j_common_ptr jpeg)
{
    if (((j_decompress_ptr)jpeg)->input_scan_number > TY_JPEG_SCANS_MOST)
        fail(jpeg->client_data, TALLY_ERROR_UNSUPPORTED, "more than 1000 scans");
}

static void on_source(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

static boolean on_fill(j_decompress_ptr jpeg)
{
    ty_jpeg_state *s = jpeg->client_data;
    size_t got;
    s->source.bytes_in_buffer = 0;
    s->status = ty_stream_read(s->stream, s->buffer, sizeof s->buffer, &got, s->error);
    if (s->status)
        longjmp(s->jump, 1);
    if (!got)
        fail(s, TALLY_ERROR_FORMAT, "the file ends before the image does");
    s->source.next_input_byte = s->buffer;
    s->source.bytes_in_buffer = got;
    return TRUE;
}

static void on_skip(j_decompress_ptr jpeg, long count)
{
    ty_jpeg_state *s = jpeg->client_data;
    while (count > 0 && (size_t)count > s->source.bytes_in_buffer) {
        count -= (long)s->source.bytes_in_buffer;
        on_fill(jpeg);
    }
    if (count > 0) {
        s->source.next_input_byte += count;
        s->source.bytes_in_buffer -= (size_t)count;
    }
}

/* Runs `work`, which libjpeg may leave by longjmp. */
static tally_status guarded(ty_jpeg_state *s, void (*work)(ty_jpeg_state *, const ty_jpeg_wish *),
                            const ty_jpeg_wish *wish, tally_error *error)
{
    s->error = error;
    s->status = TALLY_OK;
    if (setjmp(s->jump) == 0)
        work(s, wish);
    return s->status;
}

static void start(ty_jpeg_state *s, const ty_jpeg_wish *unused)
{
    (void)unused;
    memset(&s->jpeg, 0, sizeof s->jpeg);
    s->started = 0;
    s->row = 0;
    s->jpeg.err = jpeg_std_error(&s->errors);
    s->errors.error_exit = on_error;
    s->errors.emit_message = on_message;
    s->errors.output_message = on_output;
    s->jpeg.client_data = s;
    s->made = 1; /* jpeg_destroy is safe from here on, whatever fails */
    jpeg_create_decompress(&s->jpeg);
    s->jpeg.client_data = s;
    s->jpeg.mem->max_memory_to_use = (long)TY_JPEG_WHOLE_MOST;
    s->progress.progress_monitor = on_progress;
    s->jpeg.progress = &s->progress;
    memset(&s->source, 0, sizeof s->source);
    s->source.init_source = on_source;
    s->source.fill_input_buffer = on_fill;
    s->source.skip_input_data = on_skip;
    s->source.resync_to_restart = jpeg_resync_to_restart;
    s->source.term_source = on_source;
    s->jpeg.src = &s->source;
    jpeg_read_header(&s->jpeg, TRUE);
    if (s->jpeg.jpeg_color_space == JCS_CMYK || s->jpeg.jpeg_color_space == JCS_YCCK)
        s->jpeg.out_color_space = JCS_CMYK;
    else if (s->jpeg.num_components == 1)
        s->jpeg.out_color_space = JCS_GRAYSCALE;
    else
        s->jpeg.out_color_space = JCS_RGB;
}

static unsigned output_channels(const ty_jpeg_state *s)
{
    J_COLOR_SPACE space = s->jpeg.out_color_space;
    return space == JCS_GRAYSCALE ? 1 : space == JCS_CMYK ? 4 : 3;
}

/* A progressive image sends each coefficient's high bits first: bits that never came, as in a file
 * cut between two scans, are no error to libjpeg. A band that was never begun may be empty. */
static void check_scans(ty_jpeg_state *s)
{
    for (int c = 0; s->jpeg.coef_bits && c < s->jpeg.num_components; c++) {
        int missing = s->jpeg.coef_bits[c][0] != 0;
        for (int k = 1; k < DCTSIZE2; k++)
            missing |= s->jpeg.coef_bits[c][k] > 0;
        if (missing)
            fail(s, TALLY_ERROR_FORMAT, "scans are missing at the end of the image");
    }
}

static void decode_rows(ty_jpeg_state *s, const ty_jpeg_wish *wish)
{
    if (!s->started) {
        jpeg_start_decompress(&s->jpeg);
        s->started = 1;
        if ((uint64_t)s->jpeg.output_width * (unsigned)s->jpeg.output_components !=
                s->rows.row_bytes ||
            s->jpeg.output_height != s->rows.rows)
            fail(s, TALLY_ERROR_FORMAT, "its header changes on the way");
        check_scans(s);
    }
    for (uint64_t i = 0; i < wish->count; i++, s->row++) {
        JSAMPROW row = wish->into ? wish->into + i * s->rows.row_bytes : s->rows.buffer;
        if (jpeg_read_scanlines(&s->jpeg, &row, 1) != 1)
            fail(s, TALLY_ERROR_FORMAT, "a row is missing");
    }
    if (s->row == s->jpeg.output_height)
        jpeg_finish_decompress(&s->jpeg);
}

static tally_status take(void *state, unsigned char *into, uint64_t bytes, uint64_t *got,
                         tally_error *error)
{
    ty_jpeg_state *s = state;
    ty_jpeg_wish wish = {into, bytes / s->rows.row_bytes};
    *got = bytes;
    return guarded(s, decode_rows, &wish, error);
}

static void jpeg_close(void *state)
{
    ty_jpeg_state *s = state;
    if (!s)
        return;
    if (s->made)
        jpeg_destroy_decompress(&s->jpeg);
    ty_rows_close(&s->rows);
    ty_free(s);
}

static tally_status check_image(const ty_jpeg_state *s, tally_error *error)
{
    const char *name = ty_stream_name(s->stream);
    int components = s->jpeg.num_components;
    if (components == 2 || components > 4)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: a JPEG image of %d components; 1, 3 and 4 are read", name, components);
    uint64_t held =
        (uint64_t)s->jpeg.image_width * s->jpeg.image_height * (unsigned)components * sizeof(JCOEF);
    if (jpeg_has_multiple_scans((j_decompress_ptr)&s->jpeg) && held > TY_JPEG_WHOLE_MOST)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: a progressive JPEG image must be held whole, in %" PRIu64
                        " bytes, and at most %" PRIu64 " are; store it as baseline JPEG",
                        name, held, TY_JPEG_WHOLE_MOST);
    return TALLY_OK;
}

static tally_status open_image(ty_jpeg_state *s, const tally_input_options *options,
                               tally_input_info *info, tally_error *error)
{
    tally_status status = guarded(s, start, NULL, error);
    if (!status)
        status = check_image(s, error);
    if (status)
        return status;
    info->dtype = TALLY_U8;
    info->rows = s->jpeg.image_height;
    info->columns = s->jpeg.image_width;
    info->channels = output_channels(s);
    info->is_image = 1;
    return ty_rows_open(&s->rows, ty_stream_name(s->stream), 0, options, info, error);
}

static tally_status jpeg_open(ty_stream *stream, const tally_input_options *options, void **state,
                              tally_input_info *info, tally_error *error)
{
    ty_jpeg_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "an input", sizeof *s);
    s->stream = stream;
    tally_status status = open_image(s, options, info, error);
    if (status)
        jpeg_close(s);
    else
        *state = s;
    return status;
}

static tally_status jpeg_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_jpeg_state *s = state;
    return ty_rows_read(&s->rows, take, s, views, done, error);
}

static tally_status jpeg_rewind(void *state, tally_error *error)
{
    ty_jpeg_state *s = state;
    jpeg_destroy_decompress(&s->jpeg);
    ty_rows_rewind(&s->rows);
    tally_status status = guarded(s, start, NULL, error);
    /* Not compared with the old header in `jpeg`: a damaged file may have overwritten it. */
    if (!status && (s->jpeg.image_width != s->rows.columns ||
                    s->jpeg.image_height != s->rows.rows || output_channels(s) != s->rows.channels))
        status = ty_error(error, TALLY_ERROR_FORMAT, "%s: changed while it was being read",
                          ty_stream_name(s->stream));
    return status ? status : check_image(s, error);
}

static const char *jpeg_name(const void *state, uint64_t channel)
{
    static const char *const inks[4] = {"C", "M", "Y", "K"};
    uint64_t channels = ((const ty_jpeg_state *)state)->rows.channels;
    return channels == 4 && channel < 4 ? inks[channel] : ty_rows_channel_name(channels, channel);
}

const ty_decoder ty_jpeg = {
    .format = "jpeg",
    .probe = jpeg_probe,
    .open = jpeg_open,
    .read = jpeg_read,
    .rewind = jpeg_rewind,
    .channel_name = jpeg_name,
    .close = jpeg_close,
};

#else

static tally_status jpeg_open(ty_stream *stream, const tally_input_options *options, void **state,
                              tally_input_info *info, tally_error *error)
{
    (void)options;
    (void)state;
    (void)info;
    return ty_rows_no_library(stream, "JPEG", "libjpeg", error);
}

const ty_decoder ty_jpeg = {
    .format = "jpeg",
    .probe = jpeg_probe,
    .open = jpeg_open,
};

#endif
