/* SPDX-License-Identifier: Apache-2.0 */
/* GIF: every frame as it is stored, the part of the picture that it has, with its colours looked
 * up: R, G, B, and A if a frame has a transparent colour. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/frames.h"

enum { CODES = 4096, BLOCK = 4096, PASSES = 4 };

/* Bytes of the file in order. */
typedef struct ty_gif_bytes {
    uint64_t at; /* of the next */
    size_t used, have;
    unsigned char block[BLOCK];
} ty_gif_bytes;

/* Indices of a frame, unpacked: strings of codes, each a shorter one's and a byte. */
typedef struct ty_lzw {
    unsigned least, width;   /* bits of a code, at first and now */
    unsigned next, previous; /* code that is made next; CODES: there is none before */
    unsigned bits, held;     /* of `held`, not used yet */
    unsigned left;           /* bytes of the sub-block */
    int ended;
    size_t waiting; /* bytes of `stack`, the last is handed out first */
    uint16_t prefix[CODES];
    unsigned char suffix[CODES], stack[CODES + 1];
} ty_lzw;

typedef struct ty_gif_state {
    ty_gif_bytes bytes;
    ty_lzw lzw;
    uint64_t colors_at; /* of the table for all frames */
    unsigned colors;    /* how many it has */
    unsigned char palette[256][4];
    unsigned palette_size;
    unsigned char *indices; /* of a row, or interlaced of all rows */
    int interlaced;
} ty_gif_state;

static int gif_probe(const unsigned char *head, size_t size)
{
    return size >= 6 && (!memcmp(head, "GIF87a", 6) || !memcmp(head, "GIF89a", 6));
}

/* ---- Bytes ---- */

static void go_to(ty_gif_state *g, uint64_t at)
{
    g->bytes.at = at;
    g->bytes.used = g->bytes.have = 0;
}

static tally_status next_bytes(ty_frames *f, unsigned char *to, size_t size, tally_error *error)
{
    ty_gif_bytes *b = &((ty_gif_state *)f->state)->bytes;
    for (; size; size--, b->used++, b->at++) {
        if (b->used == b->have) {
            const uint64_t left = f->in.size > b->at ? f->in.size - b->at : 0;
            b->used = 0;
            b->have = left < BLOCK ? (size_t)left : BLOCK;
            if (!b->have)
                return ty_frames_damaged(f, b->at, "the file ends before the images do", error);
            tally_status status = ty_file_read_at(f->in.name, f->in.file, f->in.start + b->at,
                                                  b->block, b->have, error);
            if (status)
                return status;
        }
        *to++ = b->block[b->used];
    }
    return TALLY_OK;
}

static void pass_over(ty_gif_state *g, size_t size)
{
    ty_gif_bytes *b = &g->bytes;
    if (size <= b->have - b->used) {
        b->used += size;
        b->at += size;
    } else {
        go_to(g, b->at + size);
    }
}

static unsigned number(const unsigned char *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

static unsigned table_colors(unsigned flags)
{
    return flags & 0x80 ? 2u << (flags & 7) : 0;
}

/* ---- The frames ---- */

/* Passes over sub-blocks up to the empty one; *size is their bytes. */
static tally_status pass_blocks(ty_frames *f, uint64_t *size, tally_error *error)
{
    unsigned char length = 1;
    tally_status status = TALLY_OK;
    *size = 0;
    while (!status && length) {
        status = next_bytes(f, &length, 1, error);
        if (!status)
            pass_over(f->state, length);
        *size += length;
    }
    return status;
}

static tally_status scan_extension(ty_frames *f, int *transparent, tally_error *error)
{
    unsigned char head[2] = {0}, control[4] = {0};
    uint64_t size;
    tally_status status = next_bytes(f, head, 2, error);
    if (!status && head[0] == 0xf9 && head[1] == 4) {
        status = next_bytes(f, control, 4, error);
        *transparent = control[0] & 1 ? control[3] : -1;
    } else if (!status) {
        pass_over(f->state, head[1]);
        if (!head[1])
            return TALLY_OK;
    }
    return status ? status : pass_blocks(f, &size, error);
}

static tally_status scan_image(ty_frames *f, int transparent, tally_error *error)
{
    unsigned char head[9] = {0}, least = 0;
    ty_gif_state *g = f->state;
    ty_frame frame = {.at = g->bytes.at, .transparent = transparent};
    tally_status status = next_bytes(f, head, sizeof head, error);
    if (status)
        return status;
    frame.width = number(head + 4);
    frame.height = number(head + 6);
    pass_over(g, (size_t)3 * table_colors(head[8]));
    status = next_bytes(f, &least, 1, error);
    if (!status)
        status = pass_blocks(f, &frame.size, error);
    if (status)
        return status;
    if (!frame.width || !frame.height || !(table_colors(head[8]) | g->colors) || least < 2 ||
        least > 8)
        return ty_frames_damaged(f, frame.at, "an image without extent, colours or codes", error);
    /* A code has 3 bits at least and stands for 4096 indices at most. */
    if (frame.width * frame.height / CODES > frame.size * 8 / 3)
        return ty_frames_damaged(f, frame.at, "an image that is larger than its data can be",
                                 error);
    f->channels = transparent >= 0 ? 4 : f->channels;
    return ty_frames_add(f, &frame, error);
}

static tally_status gif_scan(ty_frames *f, tally_error *error)
{
    ty_gif_state *g = f->state;
    unsigned char head[13] = {0}, mark = 0;
    int transparent = -1;
    tally_status status = next_bytes(f, head, sizeof head, error);
    if (status)
        return status;
    f->channels = 3;
    g->colors = table_colors(head[10]);
    g->colors_at = g->bytes.at;
    pass_over(g, (size_t)3 * g->colors);
    for (;;) {
        status = next_bytes(f, &mark, 1, error);
        if (status || mark == ';')
            return status;
        if (mark == '!') {
            status = scan_extension(f, &transparent, error);
        } else if (mark == ',') {
            status = scan_image(f, transparent, error);
            transparent = -1;
        } else {
            status =
                ty_frames_damaged(f, g->bytes.at - 1, "neither an image nor an extension", error);
        }
        if (status)
            return status;
    }
}

/* ---- Indices ---- */

static tally_status next_code(ty_frames *f, unsigned *code, tally_error *error)
{
    ty_gif_state *g = f->state;
    ty_lzw *z = &g->lzw;
    while (z->bits < z->width) {
        unsigned char byte;
        tally_status status = TALLY_OK;
        if (!z->left && !z->ended) {
            status = next_bytes(f, &byte, 1, error);
            z->left = status ? 0 : byte;
            z->ended = !z->left;
        }
        if (!status && z->ended)
            status = ty_frames_damaged(f, g->bytes.at, "an image's data end before it does", error);
        if (!status)
            status = next_bytes(f, &byte, 1, error);
        if (status)
            return status;
        z->left--;
        z->held |= (unsigned)byte << z->bits;
        z->bits += 8;
    }
    *code = z->held & ((1u << z->width) - 1);
    z->held >>= z->width;
    z->bits -= z->width;
    return TALLY_OK;
}

static void clear_codes(ty_lzw *z)
{
    z->width = z->least + 1;
    z->next = (1u << z->least) + 2;
    z->previous = CODES;
}

/* The string of a code on the stack, its first byte on top; 0: there is no such code. */
static int push_string(ty_lzw *z, unsigned code)
{
    const unsigned clear = 1u << z->least;
    unsigned at = code;
    z->waiting = 0;
    if (code > z->next || (code == z->next && z->previous == CODES) ||
        (z->previous == CODES && code >= clear))
        return 0;
    if (code == z->next) { /* the one that it makes: the previous string and its first byte */
        at = z->previous;
        z->waiting = 1;
    }
    for (; at > clear; at = z->prefix[at])
        z->stack[z->waiting++] = z->suffix[at];
    z->stack[z->waiting++] = (unsigned char)at;
    if (code == z->next)
        z->stack[0] = (unsigned char)at;
    if (z->previous != CODES && z->next < CODES) {
        z->prefix[z->next] = (uint16_t)z->previous;
        z->suffix[z->next++] = (unsigned char)at;
        if (z->next == 1u << z->width && z->width < 12)
            z->width++;
    }
    z->previous = code;
    return 1;
}

static tally_status next_indices(ty_frames *f, unsigned char *to, size_t count, tally_error *error)
{
    ty_gif_state *g = f->state;
    ty_lzw *z = &g->lzw;
    while (count) {
        if (z->waiting) {
            *to++ = z->stack[--z->waiting];
            count--;
            continue;
        }
        unsigned code;
        tally_status status = next_code(f, &code, error);
        if (status)
            return status;
        if (code == 1u << z->least)
            clear_codes(z);
        else if (code == (1u << z->least) + 1)
            return ty_frames_damaged(f, g->bytes.at, "an image's data end before it does", error);
        else if (!push_string(z, code))
            return ty_frames_damaged(f, g->bytes.at, "an image's data are no codes", error);
    }
    return TALLY_OK;
}

/* ---- Rows ---- */

static tally_status read_palette(ty_frames *f, unsigned flags, int transparent, tally_error *error)
{
    ty_gif_state *g = f->state;
    tally_status status = TALLY_OK;
    const uint64_t behind = g->bytes.at;
    const unsigned own = table_colors(flags);
    g->palette_size = own ? own : g->colors;
    if (!own)
        go_to(g, g->colors_at);
    for (unsigned i = 0; i < g->palette_size && !status; i++) {
        status = next_bytes(f, g->palette[i], 3, error);
        g->palette[i][3] = (int)i == transparent ? 0 : 255;
    }
    if (!own)
        go_to(g, behind);
    return status;
}

/* Interlaced rows: every eighth, those between, and so on. */
static tally_status read_interlaced(ty_frames *f, const ty_frame *frame, tally_error *error)
{
    static const unsigned char first[PASSES] = {0, 4, 2, 1}, step[PASSES] = {8, 8, 4, 2};
    ty_gif_state *g = f->state;
    tally_status status = TALLY_OK;
    for (int pass = 0; pass < PASSES; pass++)
        for (uint64_t y = first[pass]; y < frame->height && !status; y += step[pass])
            status = next_indices(f, g->indices + y * frame->width, (size_t)frame->width, error);
    return status;
}

static tally_status gif_begin(ty_frames *f, const ty_frame *frame, tally_error *error)
{
    ty_gif_state *g = f->state;
    unsigned char head[9] = {0}, least = 0;
    go_to(g, frame->at);
    tally_status status = next_bytes(f, head, sizeof head, error);
    if (!status)
        status = read_palette(f, head[8], frame->transparent, error);
    if (!status)
        status = next_bytes(f, &least, 1, error);
    if (status)
        return status;
    g->interlaced = head[8] & 0x40;
    g->lzw.bits = g->lzw.held = g->lzw.left = 0;
    g->lzw.ended = 0;
    g->lzw.waiting = 0;
    g->lzw.least = least;
    clear_codes(&g->lzw);
    const uint64_t bytes = frame->width * (g->interlaced ? frame->height : 1);
    if (least < 2 || least > 8 || number(head + 4) != frame->width ||
        number(head + 6) != frame->height)
        return ty_frames_damaged(f, frame->at, "changed while it was being read", error);
    if (bytes > TY_FRAME_MOST)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "%s: an interlaced GIF image of more than 1 GiB; store it without interlacing",
            f->in.name);
    ty_free(g->indices);
    g->indices = ty_malloc((size_t)bytes);
    if (!g->indices)
        return ty_error_memory(error, "the rows of a GIF image", bytes);
    return g->interlaced ? read_interlaced(f, frame, error) : TALLY_OK;
}

static tally_status gif_row(ty_frames *f, const ty_frame *frame, unsigned char *into,
                            tally_error *error)
{
    ty_gif_state *g = f->state;
    const unsigned char *from = g->indices + (g->interlaced ? f->row * frame->width : 0);
    tally_status status =
        g->interlaced ? TALLY_OK : next_indices(f, g->indices, (size_t)frame->width, error);
    for (uint64_t x = 0; x < frame->width && into && !status; x++, into += f->channels) {
        if (from[x] >= g->palette_size)
            return ty_frames_damaged(f, g->bytes.at, "a colour that the palette has not", error);
        memcpy(into, g->palette[from[x]], f->channels);
    }
    return status;
}

static void gif_close(void *state)
{
    ty_free(((ty_gif_state *)state)->indices);
}

static const ty_frames_format format = {"gif",   gif_scan,  gif_begin,
                                        gif_row, gif_close, sizeof(ty_gif_state)};

static tally_status gif_open(ty_stream *stream, const tally_input_options *options, void **state,
                             tally_input_info *info, tally_error *error)
{
    return ty_frames_open(&format, stream, options, state, info, error);
}

const ty_decoder ty_gif = {
    .format = "gif",
    .has_pages = 1,
    .probe = gif_probe,
    .open = gif_open,
    .read = ty_frames_read,
    .rewind = ty_frames_rewind,
    .channel_name = ty_frames_channel_name,
    .close = ty_frames_close,
};
