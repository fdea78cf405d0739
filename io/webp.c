/* SPDX-License-Identifier: Apache-2.0 */
/* WebP, by libwebp: R, G, B, and A where the file says so; of an animation every frame as it is
 * stored. The container is read here. */
#include "io/frames.h"

#include <string.h>

static int webp_probe(const unsigned char *head, size_t size)
{
    return size >= 12 && !memcmp(head, "RIFF", 4) && !memcmp(head + 8, "WEBP", 4);
}

#if TALLY_HAVE_WEBP

#include <webp/decode.h>

#include "core/alloc.h"
#include "core/error.h"

enum { CHUNK_HEADER = 8, FRAME_HEADER = 16, FIRST_CHUNK = 12, ALPHA = 0x10, ANIMATED = 2 };

typedef struct ty_webp_state {
    unsigned char *pixels; /* of the frame */
} ty_webp_state;

static uint32_t number(const unsigned char *at, int bytes)
{
    uint32_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

static tally_status read_at(const ty_frames *f, uint64_t at, void *into, size_t size,
                            tally_error *error)
{
    if (at > f->in.size || size > f->in.size - at)
        return ty_frames_damaged(f, f->in.size, "the file ends before the images do", error);
    return ty_file_read_at(f->in.name, f->in.file, f->in.start + at, into, size, error);
}

/* The chunk at `at`: its header, and that all of it is there. */
static tally_status read_chunk(const ty_frames *f, uint64_t at, unsigned char head[CHUNK_HEADER],
                               tally_error *error)
{
    tally_status status = read_at(f, at, head, CHUNK_HEADER, error);
    if (!status && number(head + 4, 4) > f->in.size - at - CHUNK_HEADER)
        return ty_frames_damaged(f, at, "a chunk is longer than the file", error);
    return status;
}

static uint64_t next_chunk(uint64_t at, const unsigned char head[CHUNK_HEADER])
{
    const uint64_t size = number(head + 4, 4);
    return at + CHUNK_HEADER + size + (size & 1);
}

/* One image: all of the file. */
static tally_status scan_single(ty_frames *f, tally_error *error)
{
    unsigned char head[64] = {0};
    ty_frame frame = {.at = 0, .size = f->in.size};
    WebPBitstreamFeatures features;
    const size_t size = f->in.size < sizeof head ? (size_t)f->in.size : sizeof head;
    tally_status status = read_at(f, 0, head, size, error);
    if (status)
        return status;
    if (WebPGetFeatures(head, size, &features) != VP8_STATUS_OK || features.width <= 0 ||
        features.height <= 0)
        return ty_frames_damaged(f, FIRST_CHUNK, "its header", error);
    frame.width = (uint64_t)features.width;
    frame.height = (uint64_t)features.height;
    f->channels = features.has_alpha ? 4 : 3;
    return ty_frames_add(f, &frame, error);
}

/* Frames lie inside the canvas. */
static tally_status scan_frames(ty_frames *f, uint64_t end, const unsigned char canvas[6],
                                tally_error *error)
{
    const uint64_t width = UINT64_C(1) + number(canvas, 3),
                   height = UINT64_C(1) + number(canvas + 3, 3);
    tally_status status = TALLY_OK;
    unsigned char head[CHUNK_HEADER], frame[FRAME_HEADER];
    for (uint64_t at = FIRST_CHUNK; at < end && !status; at = next_chunk(at, head)) {
        status = read_chunk(f, at, head, error);
        if (status || memcmp(head, "ANMF", 4) != 0)
            continue;
        if (number(head + 4, 4) < FRAME_HEADER)
            return ty_frames_damaged(f, at, "a frame without an image", error);
        status = read_at(f, at + CHUNK_HEADER, frame, sizeof frame, error);
        const ty_frame one = {.at = at + CHUNK_HEADER + FRAME_HEADER,
                              .size = number(head + 4, 4) - FRAME_HEADER,
                              .width = UINT64_C(1) + number(frame + 6, 3),
                              .height = UINT64_C(1) + number(frame + 9, 3)};
        if (!status && (2 * number(frame, 3) + one.width > width ||
                        2 * number(frame + 3, 3) + one.height > height))
            status = ty_frames_damaged(f, at, "a frame that is larger than the image", error);
        if (!status)
            status = ty_frames_add(f, &one, error);
    }
    return status;
}

static tally_status webp_scan(ty_frames *f, tally_error *error)
{
    unsigned char head[FIRST_CHUNK + CHUNK_HEADER + 10] = {0};
    tally_status status = read_at(f, 0, head, sizeof head, error);
    if (status)
        return status;
    const uint64_t end = UINT64_C(8) + number(head + 4, 4);
    if (end > f->in.size)
        return ty_frames_damaged(f, f->in.size, "the file ends before its images do", error);
    const unsigned flags =
        memcmp(head + FIRST_CHUNK, "VP8X", 4) ? 0 : head[FIRST_CHUNK + CHUNK_HEADER];
    if (!(flags & ANIMATED))
        return scan_single(f, error);
    f->channels = flags & ALPHA ? 4 : 3;
    return scan_frames(f, end, head + FIRST_CHUNK + CHUNK_HEADER + 4, error);
}

static tally_status decode(ty_frames *f, const ty_frame *frame, const unsigned char *bytes,
                           unsigned char *pixels, tally_error *error)
{
    WebPDecoderConfig config;
    const uint64_t row_bytes = frame->width * f->channels;
    if (!WebPInitDecoderConfig(&config))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: libwebp is of another version than its header", f->in.name);
    if (WebPGetFeatures(bytes, (size_t)frame->size, &config.input) != VP8_STATUS_OK ||
        config.input.has_animation || (uint64_t)config.input.width != frame->width ||
        (uint64_t)config.input.height != frame->height)
        return ty_frames_damaged(f, frame->at, "a frame's header", error);
    config.output.colorspace = f->channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = pixels;
    config.output.u.RGBA.stride = (int)row_bytes;
    config.output.u.RGBA.size = (size_t)(row_bytes * frame->height);
    const VP8StatusCode code = WebPDecode(bytes, (size_t)frame->size, &config);
    if (code == VP8_STATUS_OUT_OF_MEMORY)
        return ty_error(error, TALLY_ERROR_MEMORY, "%s: out of memory while decoding a WebP image",
                        f->in.name);
    return code == VP8_STATUS_OK
               ? TALLY_OK
               : ty_frames_damaged(f, frame->at, "an image that cannot be decoded, or is cut,",
                                   error);
}

static tally_status webp_begin(ty_frames *f, const ty_frame *frame, tally_error *error)
{
    ty_webp_state *s = f->state;
    const uint64_t bytes = frame->width * frame->height * f->channels;
    if (bytes > TY_FRAME_MOST || frame->size > TY_FRAME_MOST)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: a WebP image of more than 1 GiB",
                        f->in.name);
    ty_free(s->pixels);
    s->pixels = ty_malloc((size_t)bytes);
    unsigned char *stored = s->pixels ? ty_malloc((size_t)frame->size + 1) : NULL;
    if (!stored)
        return ty_error_memory(error, "a WebP image", bytes + frame->size);
    tally_status status = read_at(f, frame->at, stored, (size_t)frame->size, error);
    if (!status)
        status = decode(f, frame, stored, s->pixels, error);
    ty_free(stored);
    return status;
}

static tally_status webp_row(ty_frames *f, const ty_frame *frame, unsigned char *into,
                             tally_error *error)
{
    const size_t bytes = (size_t)frame->width * f->channels;
    (void)error;
    if (into)
        memcpy(into, ((ty_webp_state *)f->state)->pixels + f->row * bytes, bytes);
    return TALLY_OK;
}

static void webp_close(void *state)
{
    ty_free(((ty_webp_state *)state)->pixels);
}

static const ty_frames_format format = {"webp",   webp_scan,  webp_begin,
                                        webp_row, webp_close, sizeof(ty_webp_state)};

static tally_status webp_open(ty_stream *stream, const tally_input_options *options, void **state,
                              tally_input_info *info, tally_error *error)
{
    return ty_frames_open(&format, stream, options, state, info, error);
}

const ty_decoder ty_webp = {
    .format = "webp",
    .has_pages = 1,
    .probe = webp_probe,
    .open = webp_open,
    .read = ty_frames_read,
    .rewind = ty_frames_rewind,
    .channel_name = ty_frames_channel_name,
    .close = ty_frames_close,
};

#else

static tally_status webp_open(ty_stream *stream, const tally_input_options *options, void **state,
                              tally_input_info *info, tally_error *error)
{
    (void)options;
    (void)state;
    (void)info;
    return ty_rows_no_library(stream, "WebP", "libwebp", error);
}

const ty_decoder ty_webp = {
    .format = "webp", .has_pages = 1, .probe = webp_probe, .open = webp_open};

#endif
