/* SPDX-License-Identifier: Apache-2.0 */
/* PBM, PGM, PPM (P1 … P6) and PAM (P7); the first image of a file. Samples are as stored: a maxval
 * other than 255 or 65535 scales nothing, a bitmap's samples are 0 (white) and 1 (black). */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/rows.h"
#include "io/stored.h"

enum { TY_PNM_TEXT = 16 * 1024 };

typedef struct ty_pnm_header {
    unsigned kind; /* the digit behind the P */
    uint64_t width, height, depth, maxval;
} ty_pnm_header;

typedef struct ty_pnm_state {
    ty_stream *stream;
    ty_rows rows;
    ty_pnm_header header, first; /* of this image; of the first that is read */
    tally_input_options options; /* region, chunk and page of each */
    uint64_t page;               /* this image, from 1 */
    uint64_t start;              /* the file's byte behind the header */
    unsigned char *packed;       /* P4: one row of bits */
    size_t at, end;              /* text kinds: what of `text` is unread */
    unsigned char text[TY_PNM_TEXT];
} ty_pnm_state;

static int is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* "P1" alone is also how a table's heading may begin: a number or comment must follow. */
static int pnm_probe(const unsigned char *head, size_t size)
{
    if (size < 4 || head[0] != 'P' || head[1] < '1' || head[1] > '7' ||
        (!is_space(head[2]) && head[2] != '#'))
        return 0;
    size_t i = 2;
    while (i < size && is_space(head[i]))
        i++;
    if (i == size)
        return 0;
    if (head[1] == '7')
        return head[2] == '\n' && ((head[i] >= 'A' && head[i] <= 'Z') || head[i] == '#');
    return head[i] == '#' || (head[i] >= '0' && head[i] <= '9');
}

/* ---- The header ---------------------------------------------------------------------------- */

static tally_status damaged_at(const ty_pnm_state *s, const char *what, uint64_t at,
                               tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT, "%s: pnm: %s (near byte %" PRIu64 ")",
                    ty_stream_name(s->stream), what, at);
}

static tally_status damaged(const ty_pnm_state *s, const char *what, tally_error *error)
{
    return damaged_at(s, what, ty_stream_offset(s->stream) - (s->end - s->at), error);
}

/* The next byte, or -1 at the end. */
static tally_status next_byte(ty_pnm_state *s, int *byte, tally_error *error)
{
    unsigned char one;
    size_t got;
    tally_status status = ty_stream_read(s->stream, &one, 1, &got, error);
    *byte = !status && got ? one : -1;
    return status;
}

/* Passes over white space and comments; *byte is the first that is neither. */
static tally_status skip_blank(ty_pnm_state *s, int *byte, tally_error *error)
{
    tally_status status;
    int comment = 0;
    for (;;) {
        status = next_byte(s, byte, error);
        if (status || *byte < 0)
            return status;
        if (*byte == '#')
            comment = 1;
        if (*byte == '\n')
            comment = 0;
        if (!comment && !is_space(*byte))
            return TALLY_OK;
    }
}

/* A decimal number and the one byte of white space behind it. */
static tally_status header_number(ty_pnm_state *s, const char *what, uint64_t most,
                                  uint64_t *number, tally_error *error)
{
    int byte;
    tally_status status = skip_blank(s, &byte, error);
    *number = 0;
    int digits = 0;
    for (; !status && byte >= '0' && byte <= '9'; digits = 1) {
        *number = *number * 10 + (uint64_t)(byte - '0');
        if (*number > most)
            break;
        status = next_byte(s, &byte, error);
    }
    if (status)
        return status;
    if (!digits || *number == 0 || *number > most || !is_space(byte))
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: pnm: its %s is not a number from 1 to %" PRIu64 " (near byte %" PRIu64
                        ")",
                        ty_stream_name(s->stream), what, most, ty_stream_offset(s->stream));
    return TALLY_OK;
}

/* A word of a PAM header: what stands before the next white space, which is consumed. */
static tally_status header_word(ty_pnm_state *s, char word[16], int *last, tally_error *error)
{
    int byte;
    tally_status status = skip_blank(s, &byte, error);
    size_t length = 0;
    while (!status && byte >= 0 && !is_space(byte)) {
        if (length == 15)
            return damaged(s, "a word in its header is too long", error);
        word[length++] = (char)byte;
        status = next_byte(s, &byte, error);
    }
    word[length] = '\0';
    *last = byte;
    return !status && byte < 0 ? damaged(s, "the file ends inside its header", error) : status;
}

static tally_status pam_header(ty_pnm_state *s, ty_pnm_header *h, tally_error *error)
{
    char word[16];
    int last = 0;
    for (;;) {
        tally_status status = header_word(s, word, &last, error);
        if (status)
            return status;
        if (!strcmp(word, "ENDHDR"))
            break;
        if (!strcmp(word, "WIDTH"))
            status = header_number(s, "width", UINT32_MAX, &h->width, error);
        else if (!strcmp(word, "HEIGHT"))
            status = header_number(s, "height", UINT32_MAX, &h->height, error);
        else if (!strcmp(word, "DEPTH"))
            status = header_number(s, "depth", 65535, &h->depth, error);
        else if (!strcmp(word, "MAXVAL"))
            status = header_number(s, "maxval", 65535, &h->maxval, error);
        else if (strcmp(word, "TUPLTYPE") != 0)
            return damaged(s, "an unknown word in its header", error);
        else
            while (!status && last != '\n' && last >= 0) /* a description: to the end of the line */
                status = next_byte(s, &last, error);
        if (status)
            return status;
    }
    if (last != '\n')
        return damaged(s, "ENDHDR must end its line", error);
    if (!h->width || !h->height || !h->depth || !h->maxval)
        return damaged(s, "its header lacks one of WIDTH, HEIGHT, DEPTH and MAXVAL", error);
    return TALLY_OK;
}

static tally_status read_header(ty_pnm_state *s, ty_pnm_header *h, tally_error *error)
{
    int byte = 0;
    memset(h, 0, sizeof *h);
    s->at = s->end = 0;
    tally_status status = next_byte(s, &byte, error);
    if (!status)
        status = next_byte(s, &byte, error);
    if (status)
        return status;
    if (byte < '1' || byte > '7')
        return damaged(s, "changed while it was being read", error);
    h->kind = (unsigned)(byte - '0');
    if (h->kind == 7)
        return pam_header(s, h, error);
    h->depth = h->kind == 3 || h->kind == 6 ? 3 : 1;
    h->maxval = 1;
    status = header_number(s, "width", UINT32_MAX, &h->width, error);
    if (!status)
        status = header_number(s, "height", UINT32_MAX, &h->height, error);
    if (!status && h->kind != 1 && h->kind != 4)
        status = header_number(s, "maxval", 65535, &h->maxval, error);
    return status;
}

/* ---- Samples ------------------------------------------------------------------------------- */

static tally_status text_byte(ty_pnm_state *s, int *byte, tally_error *error)
{
    if (s->at == s->end) {
        s->at = s->end = 0;
        size_t got;
        tally_status status = ty_stream_read(s->stream, s->text, sizeof s->text, &got, error);
        if (status)
            return status;
        s->end = got;
    }
    *byte = s->at < s->end ? s->text[s->at++] : -1;
    return TALLY_OK;
}

/* One sample in decimal, or -1 at the end. A bitmap's digits need no space between them. */
static tally_status text_sample(ty_pnm_state *s, int *sample, tally_error *error)
{
    int byte = -1, comment = 0;
    tally_status status;
    do {
        status = text_byte(s, &byte, error);
        comment = byte == '#' || (comment && byte != '\n' && byte >= 0);
    } while (!status && (comment || is_space(byte)));
    *sample = -1;
    if (status || byte < 0)
        return status;
    if (byte < '0' || byte > '9')
        return damaged(s, "a sample is no number", error);
    *sample = byte - '0';
    if (s->header.kind == 1)
        return *sample > 1 ? damaged(s, "a bitmap's sample is neither 0 nor 1", error) : TALLY_OK;
    for (;;) {
        status = text_byte(s, &byte, error);
        if (status)
            return status;
        if (byte < '0' || byte > '9')
            break;
        *sample = *sample * 10 + (byte - '0');
        if ((unsigned)*sample > s->header.maxval)
            break;
    }
    if ((unsigned)*sample > s->header.maxval)
        return damaged(s, "a sample is above the maxval", error);
    if (byte == '#') {
        s->at--;
        return TALLY_OK;
    }
    return byte < 0 || is_space(byte) ? TALLY_OK : damaged(s, "a sample is no number", error);
}

static tally_status take_text(ty_pnm_state *s, unsigned char *into, uint64_t bytes, uint64_t *got,
                              tally_error *error)
{
    size_t size = tally_dtype_bytes(s->rows.dtype);
    for (*got = 0; *got < bytes; *got += size) {
        int sample;
        tally_status status = text_sample(s, &sample, error);
        if (status || sample < 0)
            return status;
        if (!into)
            continue;
        uint16_t wide = (uint16_t)sample;
        if (size == 1)
            into[*got] = (unsigned char)sample;
        else
            memcpy(into + *got, &wide, 2);
    }
    return TALLY_OK;
}

static tally_status take_bits(ty_pnm_state *s, unsigned char *into, uint64_t bytes, uint64_t *got,
                              tally_error *error)
{
    uint64_t width = s->header.width, packed = (width + 7) / 8;
    for (*got = 0; *got < bytes; *got += width) {
        size_t have;
        tally_status status = ty_stream_read(s->stream, s->packed, (size_t)packed, &have, error);
        if (status || have < packed)
            return status;
        for (uint64_t x = 0; into && x < width; x++)
            into[*got + x] = s->packed[x / 8] >> (7 - x % 8) & 1;
    }
    return TALLY_OK;
}

static tally_status check_samples(const ty_pnm_state *s, const unsigned char *samples,
                                  uint64_t count, size_t size, uint64_t at, tally_error *error)
{
    uint64_t maxval = s->header.maxval;
    unsigned largest = 0;
    if (maxval == (size == 1 ? 255 : 65535))
        return TALLY_OK;
    for (uint64_t i = 0; i < count; i++) {
        uint16_t wide = samples[i * size];
        if (size == 2)
            memcpy(&wide, samples + i * 2, 2);
        largest = wide > largest ? wide : largest;
    }
    return largest > maxval ? damaged_at(s, "a sample is above the maxval", at, error) : TALLY_OK;
}

static tally_status take(void *state, unsigned char *into, uint64_t bytes, uint64_t *got,
                         tally_error *error)
{
    ty_pnm_state *s = state;
    if (s->header.kind <= 3)
        return take_text(s, into, bytes, got, error);
    if (s->header.kind == 4)
        return take_bits(s, into, bytes, got, error);
    if (!into)
        return ty_stream_skip(s->stream, bytes, got, error);
    size_t have = 0, size = tally_dtype_bytes(s->rows.dtype);
    tally_status status = ty_stream_read(s->stream, into, (size_t)bytes, &have, error);
    *got = have;
    if (status)
        return status;
    if (size == 2 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        ty_rows_swap(into, have / 2, 2);
    return check_samples(s, into, have / size, size, ty_stream_offset(s->stream), error);
}

/* ---- The decoder --------------------------------------------------------------------------- */

static void pnm_close(void *state)
{
    ty_pnm_state *s = state;
    if (!s)
        return;
    ty_rows_close(&s->rows);
    ty_free(s->packed);
    ty_free(s);
}

static tally_dtype dtype_of(const ty_pnm_header *h)
{
    return h->maxval > 255 ? TALLY_U16 : TALLY_U8;
}

/* The image whose header has been read. */
static tally_status begin_image(ty_pnm_state *s, tally_input_info *info, tally_error *error)
{
    s->start = ty_stream_offset(s->stream);
    info->dtype = dtype_of(&s->header);
    info->rows = s->header.height;
    info->columns = s->header.width;
    info->channels = s->header.depth;
    info->is_image = 1;
    ty_rows_close(&s->rows);
    ty_free(s->packed);
    s->packed = NULL;
    tally_status status =
        ty_rows_open(&s->rows, ty_stream_name(s->stream), 0, &s->options, info, error);
    if (status || s->header.kind != 4)
        return status;
    size_t packed = (size_t)((s->header.width + 7) / 8);
    s->packed = ty_malloc(packed);
    return s->packed ? TALLY_OK : ty_error_memory(error, "a row of a bitmap", packed);
}

/* Passes over what is left of an image and reads the header of the next; *more is 0 if there is
 * none. Kinds of text have one image in a file, and whatever follows is no matter. */
static tally_status next_header(ty_pnm_state *s, int *more, tally_error *error)
{
    const unsigned char *head;
    const ty_rows *r = &s->rows;
    uint64_t skipped = 0;
    size_t got = 0;
    *more = 0;
    if (s->header.kind < 4)
        return TALLY_OK;
    const uint64_t left = r->row < r->rows ? r->rows - r->row : 0;
    const uint64_t bytes = left * (s->packed ? (s->header.width + 7) / 8 : r->row_bytes);
    tally_status status = ty_stream_skip(s->stream, bytes, &skipped, error);
    if (!status && skipped == bytes)
        status = ty_stream_peek(s->stream, &head, 3, &got, error);
    if (status || got < 3 || head[0] != 'P' || head[1] < '4' || head[1] > '7' ||
        (!is_space(head[2]) && head[2] != '#'))
        return status;
    *more = 1;
    s->page++;
    return read_header(s, &s->header, error);
}

/* The first image that is wanted. */
static tally_status open_image(ty_pnm_state *s, tally_input_info *info, tally_error *error)
{
    int more = 1;
    s->page = 1;
    tally_status status = read_header(s, &s->header, error);
    if (!status)
        status = begin_image(s, info, error);
    while (!status && more && s->page < s->options.page) {
        status = next_header(s, &more, error);
        if (!status && more)
            status = begin_image(s, info, error);
    }
    if (!status && !more)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: page %" PRIu64 " is asked for, but it has %" PRIu64,
                        ty_stream_name(s->stream), s->options.page, s->page);
    return status;
}

static tally_status pnm_open(ty_stream *stream, const tally_input_options *options, void **state,
                             tally_input_info *info, tally_error *error)
{
    ty_pnm_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "an input", sizeof *s);
    s->stream = stream;
    if (options)
        s->options = *options;
    tally_status status = open_image(s, info, error);
    s->first = s->header;
    if (status)
        pnm_close(s);
    else
        *state = s;
    return status;
}

/* Images of one kind are as one after the other. */
static tally_status pnm_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_pnm_state *s = state;
    for (;;) {
        tally_input_info info;
        int more = 0;
        tally_status status = ty_rows_read(&s->rows, take, s, views, done, error);
        if (status || !*done || s->options.page)
            return status;
        status = next_header(s, &more, error);
        if (status || !more)
            return status;
        if (dtype_of(&s->header) != dtype_of(&s->first) || s->header.depth != s->first.depth)
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "%s: image %" PRIu64 " has %" PRIu64
                            " channel(s) of %s, the first %" PRIu64
                            " of %s; images of one kind add up, --page N reads one of them",
                            ty_stream_name(s->stream), s->page, s->header.depth,
                            tally_dtype_name(dtype_of(&s->header)), s->first.depth,
                            tally_dtype_name(dtype_of(&s->first)));
        if ((status = begin_image(s, &info, error)))
            return status;
    }
}

static tally_status pnm_rewind(void *state, tally_error *error)
{
    ty_pnm_state *s = state;
    tally_input_info info;
    const ty_pnm_header *now = &s->header, *old = &s->first;
    tally_status status = open_image(s, &info, error);
    if (!status &&
        (now->kind != old->kind || now->width != old->width || now->height != old->height ||
         now->depth != old->depth || now->maxval != old->maxval))
        status = ty_error(error, TALLY_ERROR_FORMAT, "%s: changed while it was being read",
                          ty_stream_name(s->stream));
    return status;
}

static const char *pnm_name(const void *state, uint64_t channel)
{
    return ty_rows_channel_name(((const ty_pnm_state *)state)->header.depth, channel);
}

static tally_status check_stored(const void *state, const void *samples, uint64_t count,
                                 uint64_t at, tally_error *error)
{
    const ty_pnm_state *s = state;
    return check_samples(s, samples, count, tally_dtype_bytes(s->rows.dtype), at, error);
}

static int pnm_stored(const void *state, ty_stored *stored)
{
    const ty_pnm_state *s = state;
    ty_stored_make(stored, s->stream, &s->rows);
    stored->start = s->start;
    stored->swap = s->rows.dtype == TALLY_U16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 2 : 0;
    stored->check = check_stored;
    stored->state = s;
    /* What follows may be another image. */
    return s->header.kind > 4 && (s->options.page || ty_stream_size(s->stream) - s->start ==
                                                         s->rows.rows * s->rows.row_bytes);
}

const ty_decoder ty_pnm = {
    .format = "pnm",
    .has_pages = 1,
    .probe = pnm_probe,
    .open = pnm_open,
    .read = pnm_read,
    .rewind = pnm_rewind,
    .channel_name = pnm_name,
    .close = pnm_close,
    .stored = pnm_stored,
};
