/* Strings that end up in results: always valid UTF-8. */
#ifndef TY_TEXT_H
#define TY_TEXT_H

#include <stddef.h>

/* Bytes of the UTF-8 sequence that starts at `text` (1 … 4), or 0 if the `left` bytes start with
 * none: overlong forms, surrogates and values past U+10FFFF are none. */
size_t ty_utf8_length(const char *text, size_t left);

/* A copy of `size` bytes with each byte that is not part of valid UTF-8 replaced by U+FFFD, and a
 * NUL after it. Released by ty_free; NULL when memory is out. */
char *ty_text_copy(const char *text, size_t size);

/* Bytes of the longest beginning of valid UTF-8 `text` that is whole characters and at most `most`
 * bytes: for printf's %.*s. */
int ty_text_fit(const char *text, int most);

#endif
