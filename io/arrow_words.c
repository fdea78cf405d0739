/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow's text to codes of words: offsets into one buffer, or views, which have short texts in
 * themselves and say in which of several buffers the others are. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/arrow_span.h"
#include "io/words.h"

enum { WINDOW_BYTES = 256 * 1024, VIEW_BYTES = 16, VIEW_SHORT = 12 };

/* Bytes of a buffer that were read last. */
typedef struct ty_arrow_window {
    unsigned char *bytes;
    size_t room, which; /* 0: nothing is in it */
    uint64_t at, size;
    uint64_t end; /* no text of the piece lies behind it */
} ty_arrow_window;

static uint64_t number(const unsigned char *at, unsigned bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

/* A text of `size` bytes, at `at` of buffer `which`. */
static tally_status find_text(const ty_arrow_span *s, ty_arrow_window *w, size_t which, uint64_t at,
                              uint64_t size, const unsigned char **text, tally_error *error)
{
    const uint64_t all = ty_arrow_size(s, which);
    if (at > all || size > all - at)
        return ty_arrow_damaged(s, "a text reaches beyond its buffer", error);
    if (s->block)
        return ty_arrow_look(s, which, at, (size_t)size, NULL, text, error);
    if (w->which == which && at >= w->at && at - w->at <= w->size &&
        size <= w->size - (at - w->at)) {
        *text = w->bytes + (at - w->at);
        return TALLY_OK;
    }
    const uint64_t left = w->end > at && w->end < all ? w->end - at : all - at;
    uint64_t take = left < WINDOW_BYTES ? left : WINDOW_BYTES;
    take = take > size ? take : size;
    w->which = 0;
    if (take > w->room) {
        ty_free(w->bytes);
        w->bytes = take < SIZE_MAX ? ty_malloc((size_t)take) : NULL;
        w->room = w->bytes ? (size_t)take : 0;
        if (!w->bytes)
            return ty_error_memory(error, "texts of an Arrow column", take);
    }
    tally_status status = ty_arrow_look(s, which, at, (size_t)take, w->bytes, text, error);
    w->which = status ? 0 : which;
    w->at = at;
    w->size = take;
    return status;
}

/* Row i of a piece whose offsets or views begin at `from`. */
static tally_status find_row(const ty_arrow_span *s, ty_arrow_window *w, const unsigned char *from,
                             size_t i, const unsigned char **text, uint64_t *size,
                             tally_error *error)
{
    const unsigned width = (unsigned)s->type->bytes;
    const size_t first = 1 + (size_t)s->levels; /* buffer of texts */
    const unsigned char *at = from + i * width;
    if (width == VIEW_BYTES) {
        const uint64_t which = number(at + 8, 4);
        *size = number(at, 4);
        *text = at + 4;
        if (*size <= VIEW_SHORT)
            return TALLY_OK;
        if (which >= s->part->texts)
            return ty_arrow_damaged(s, "a text in a buffer that is not there", error);
        return find_text(s, w, first + (size_t)which, number(at + 12, 4), *size, text, error);
    }
    const uint64_t begin = number(at, width), end = number(at + width, width);
    if (begin > end)
        return ty_arrow_damaged(s, "texts that end before they begin", error);
    *size = end - begin;
    *text = at;
    return *size ? find_text(s, w, first, begin, *size, text, error) : TALLY_OK;
}

tally_status ty_arrow_words_read(const ty_arrow_span *s, uint64_t first, size_t count,
                                 const unsigned char *valid, double *to, tally_error *error)
{
    unsigned char scratch[(TY_ARROW_PIECE + 1) * VIEW_BYTES];
    const unsigned char *from, *text;
    const size_t width = s->type->bytes;
    uint64_t size = 0;
    ty_arrow_window window = {NULL, 0, 0, 0, 0, UINT64_MAX};
    tally_status status = ty_arrow_look(
        s, 0, first * width, (count + (width != VIEW_BYTES)) * width, scratch, &from, error);
    if (!status && width != VIEW_BYTES)
        window.end = number(from + count * width, (unsigned)width);
    for (size_t i = 0; i < count && !status; i++) {
        if (valid && !valid[i])
            continue;
        status = find_row(s, &window, from, i, &text, &size, error);
        const uint32_t code =
            status ? 0 : ty_words_value(s->words, (const char *)text, (size_t)size);
        if (!status && code == TY_WORDS_FAILED)
            status = ty_words_status(s->words, s->index->in.name, s->name, error);
        to[i] = code;
    }
    ty_free(window.bytes);
    return status;
}
