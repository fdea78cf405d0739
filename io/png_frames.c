/* SPDX-License-Identifier: Apache-2.0 */
#include "io/png_frames.h"

#include <inttypes.h>
#include <string.h>

#include "core/error.h"

static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static uint32_t number(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* PNG's CRC-32 with `size` more bytes, without the turn at begin and end. */
static uint32_t add_check(uint32_t check, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        static const uint32_t quarters[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                              0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                              0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                              0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
        check ^= bytes[i];
        check = check >> 4 ^ quarters[check & 15];
        check = check >> 4 ^ quarters[check & 15];
    }
    return check;
}

static uint32_t check_of(const unsigned char *bytes, size_t size)
{
    return ~add_check(UINT32_MAX, bytes, size);
}

static tally_status damaged(const ty_png_frames *f, const char *what, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT, "%s: png: %s (near byte %" PRIu64 ")",
                    ty_stream_name(f->stream), what, ty_stream_offset(f->stream));
}

static void make_ready(ty_png_frames *f, const unsigned char *bytes, size_t size)
{
    memcpy(f->ready + f->end, bytes, size);
    f->end += size;
}

void ty_png_frames_start(ty_png_frames *f, ty_stream *stream)
{
    memset(f, 0, sizeof *f);
    f->stream = stream;
    f->left = sizeof signature;
}

/* ---- Chunks ---- */

/* The rest of a chunk of `size` bytes of data, behind its first 8, to `chunk`. What is not there is
 * left to who reads on. */
static tally_status read_rest(ty_png_frames *f, unsigned char *chunk, size_t size, int *is_whole,
                              tally_error *error)
{
    size_t got;
    tally_status status = ty_stream_read(f->stream, chunk + 8, size + 4, &got, error);
    *is_whole = got == size + 4;
    make_ready(f, chunk, 8 + got);
    return status;
}

/* A chunk that each image needs. */
static tally_status keep_chunk(ty_png_frames *f, const unsigned char head[8], unsigned char *kept,
                               size_t room, size_t *kept_size, tally_error *error)
{
    const uint32_t size = number(head);
    int is_whole;
    if (size > room - 12)
        return damaged(f, "a chunk that is too long", error);
    memcpy(kept, head, 8);
    tally_status status = read_rest(f, kept, size, &is_whole, error);
    *kept_size = 12 + (size_t)size;
    return status;
}

static tally_status check_sequence(ty_png_frames *f, const unsigned char *at, tally_error *error)
{
    return number(at) == f->sequence++
               ? TALLY_OK
               : damaged(f, "the animation's chunks are not in order", error);
}

/* fcTL: a frame begins. Behind an image's data it ends that. */
static tally_status begin_frame(ty_png_frames *f, const unsigned char head[8], tally_error *error)
{
    static const unsigned char last[12] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
    unsigned char chunk[8 + 26 + 4];
    size_t got;
    memcpy(chunk, head, 8);
    tally_status status = ty_stream_read(f->stream, chunk + 8, 30, &got, error);
    if (!status &&
        (number(head) != 26 || got < 30 || check_of(chunk + 4, 30) != number(chunk + 34)))
        status = damaged(f, "a frame's header is damaged, or cut", error);
    if (!status)
        status = check_sequence(f, chunk + 8, error);
    if (status)
        return status;
    f->met++;
    f->width = number(chunk + 12);
    f->height = number(chunk + 16);
    if (!f->has_data && f->met > 1)
        return damaged(f, "a frame without data", error);
    if (!f->has_data)
        return memcmp(chunk + 12, f->header + 8, 8)
                   ? damaged(f, "the first frame has another extent than the image", error)
                   : TALLY_OK;
    f->has_next = f->ended = 1;
    make_ready(f, last, sizeof last);
    return TALLY_OK;
}

/* fdAT: a frame's data, which become IDAT. */
static tally_status begin_data(ty_png_frames *f, const unsigned char head[8], tally_error *error)
{
    unsigned char start[8] = {0, 0, 0, 0, 'I', 'D', 'A', 'T'}, sequence[4];
    size_t got;
    tally_status status = ty_stream_read(f->stream, sequence, 4, &got, error);
    if (!status && (number(head) < 4 || got < 4 || !f->is_frame))
        status = damaged(f, "a frame's data are damaged, or cut", error);
    if (!status)
        status = check_sequence(f, sequence, error);
    if (status)
        return status;
    put(start, number(head) - 4);
    make_ready(f, start, sizeof start);
    f->left = number(head) - 4;
    f->is_renamed = f->has_data = 1;
    f->check_in = add_check(add_check(UINT32_MAX, head + 4, 4), sequence, 4);
    f->check_out = add_check(UINT32_MAX, start + 4, 4);
    return TALLY_OK;
}

/* The checksum of renamed data; a wrong one stays wrong. */
static tally_status end_data(ty_png_frames *f, tally_error *error)
{
    unsigned char check[4];
    size_t got;
    tally_status status = ty_stream_read(f->stream, check, 4, &got, error);
    if (!status && (got < 4 || number(check) != ~f->check_in))
        status = damaged(f, "a frame's data are damaged, or cut", error);
    put(check, ~f->check_out);
    f->is_renamed = 0;
    make_ready(f, check, sizeof check);
    return status;
}

static tally_status begin_animation(ty_png_frames *f, const unsigned char head[8],
                                    tally_error *error)
{
    unsigned char chunk[8 + 8 + 4];
    int is_whole;
    if (number(head) != 8)
        return damaged(f, "the animation's header is damaged", error);
    memcpy(chunk, head, 8);
    tally_status status = read_rest(f, chunk, 8, &is_whole, error);
    f->is_animated = is_whole;
    f->promised = is_whole ? number(chunk + 8) : 0;
    return status;
}

static tally_status begin_chunk(ty_png_frames *f, tally_error *error)
{
    unsigned char head[8];
    size_t got;
    f->at = f->end = 0;
    tally_status status = ty_stream_read(f->stream, head, sizeof head, &got, error);
    if (status || got < sizeof head) { /* libpng says that it ends */
        f->ended = 1;
        return status;
    }
    const char *type = (const char *)head + 4;
    size_t size;
    if (!memcmp(type, "IHDR", 4) && !f->has_data)
        return keep_chunk(f, head, f->header, sizeof f->header, &size, error);
    if (!memcmp(type, "PLTE", 4) && !f->has_data)
        return keep_chunk(f, head, f->palette, sizeof f->palette, &f->palette_size, error);
    if (!memcmp(type, "tRNS", 4) && !f->has_data)
        return keep_chunk(f, head, f->alphas, sizeof f->alphas, &f->alphas_size, error);
    if (!memcmp(type, "acTL", 4) && !f->has_data && !f->is_animated)
        return begin_animation(f, head, error);
    if (f->is_animated && !memcmp(type, "fcTL", 4))
        return begin_frame(f, head, error);
    if (f->is_animated && !memcmp(type, "fdAT", 4))
        return begin_data(f, head, error);
    if (f->is_frame && !memcmp(type, "IDAT", 4))
        return damaged(f, "an image's data among a frame's", error);
    f->has_data |= !memcmp(type, "IDAT", 4);
    make_ready(f, head, sizeof head);
    f->left = (uint64_t)number(head) + 4;
    if (memcmp(type, "IEND", 4) != 0)
        return TALLY_OK;
    f->ended = 1;
    return f->is_animated && f->met != f->promised
               ? damaged(f, "not as many frames as the animation's header says", error)
               : TALLY_OK;
}

/* ---- Bytes ---- */

tally_status ty_png_frames_read(ty_png_frames *f, unsigned char *bytes, size_t size, size_t *got,
                                tally_error *error)
{
    tally_status status = TALLY_OK;
    for (*got = 0; *got < size && !status;) {
        size_t n = f->end - f->at < size - *got ? f->end - f->at : size - *got;
        memcpy(bytes + *got, f->ready + f->at, n);
        f->at += n;
        *got += n;
        if (n)
            continue;
        if (f->left) {
            const size_t most = f->left < size - *got ? (size_t)f->left : size - *got;
            status = ty_stream_read(f->stream, bytes + *got, most, &n, error);
            if (f->is_renamed) {
                f->check_in = add_check(f->check_in, bytes + *got, n);
                f->check_out = add_check(f->check_out, bytes + *got, n);
            }
            *got += n;
            f->left -= n;
            if (!status && n < most)
                return TALLY_OK;
        } else if (f->is_renamed) {
            f->at = f->end = 0;
            status = end_data(f, error);
        } else if (f->ended) {
            return TALLY_OK;
        } else {
            status = begin_chunk(f, error);
        }
    }
    return status;
}

tally_status ty_png_frames_next(ty_png_frames *f, int *more, tally_error *error)
{
    unsigned char rest[4096];
    size_t got = 1;
    tally_status status = TALLY_OK;
    *more = 0;
    while (!status && got && f->is_animated)
        status = ty_png_frames_read(f, rest, sizeof rest, &got, error);
    if (status || !f->has_next)
        return status;
    *more = f->is_frame = 1;
    f->has_next = f->ended = f->has_data = 0;
    f->at = f->end = 0;
    put(f->header + 8, f->width);
    put(f->header + 12, f->height);
    put(f->header + 21, check_of(f->header + 4, 17));
    make_ready(f, signature, sizeof signature);
    make_ready(f, f->header, sizeof f->header);
    make_ready(f, f->palette, f->palette_size);
    make_ready(f, f->alphas, f->alphas_size);
    return TALLY_OK;
}
