/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign text (names of files and columns, values quoted from files, a driver's words) as people
 * are shown it: valid UTF-8 that prints stays; everything that could drive a terminal or make text
 * look like other text is written out: \n, \x1b for a control character or a byte that is no UTF-8,
 * \u202e for a character that turns the direction of text or has no width.
 */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 sequence that starts at `text` (1 … 4), or 0 if the `left` bytes start with
 * none: overlong forms, surrogates and values past U+10FFFF are none. */
static inline size_t utf8_length(const char *text, size_t left)
{
    const unsigned char *b = (const unsigned char *)text;
    if (left == 0)
        return 0;
    if (b[0] < 0x80)
        return 1;
    size_t length = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    if (b[0] < 0xc2 || b[0] > 0xf4 || left < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    if ((b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f) ||
        (b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] > 0x8f))
        return 0;
    return length;
}

static inline uint32_t utf8_value(const char *text, size_t length)
{
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t value = (unsigned char)text[0] & first[length];
    for (size_t i = 1; i < length; i++)
        value = value << 6 | ((unsigned char)text[i] & 0x3f);
    return value;
}

/* Control characters; marks, overrides and isolates of direction; line and paragraph separators;
 * what has no width (but joiners, which letters and emoji need); tags. */
static inline int printable_hides(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200b || c == 0x200e ||
           c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
           c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

enum { PRINTABLE_MOST = 12 }; /* bytes that one character takes, with a NUL */

/* The first character of the `left` bytes at `text`, as it is shown, to `to`. Returns the bytes of
 * `text` that it was, at least 1; `left` is not 0. */
static inline size_t printable_one(const char *text, size_t left, char to[PRINTABLE_MOST])
{
    const size_t length = utf8_length(text, left);
    const uint32_t c = length ? utf8_value(text, length) : 0;
    if (length && !printable_hides(c)) {
        memcpy(to, text, length);
        to[length] = '\0';
        return length;
    }
    if (length && (c == '\n' || c == '\t' || c == '\r'))
        snprintf(to, PRINTABLE_MOST, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    else if (length <= 1)
        snprintf(to, PRINTABLE_MOST, "\\x%02x", (unsigned)(unsigned char)*text);
    else
        snprintf(to, PRINTABLE_MOST, c > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)c);
    return length ? length : 1;
}

/* `size` bytes of text as they are shown, cut after a whole character where `room` bytes, the NUL
 * among them, are too few. `room` is at least 1. Returns how many of the bytes it took. */
static inline size_t printable(const char *text, size_t size, char *to, size_t room)
{
    char one[PRINTABLE_MOST];
    size_t at = 0;
    while (at < size) {
        const size_t took = printable_one(text + at, size - at, one), need = strlen(one);
        if (need >= room)
            break;
        memcpy(to, one, need);
        to += need;
        room -= need;
        at += took;
    }
    *to = '\0';
    return at;
}

#endif
