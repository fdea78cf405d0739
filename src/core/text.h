/* SPDX-License-Identifier: Apache-2.0 */
/* Strings that end up in results: always valid UTF-8. */
#ifndef TY_TEXT_H
#define TY_TEXT_H

#include <stddef.h>

/* A copy of `size` bytes with each byte that is not part of valid UTF-8 replaced by U+FFFD, and a
 * NUL after it. Released by ty_free; NULL when memory is out. */
char *ty_text_copy(const char *text, size_t size);

/* A copy as it is shown (common/printable.h). Released by ty_free; NULL when memory is out. */
char *ty_text_printable(const char *text);

/* Bytes of the longest beginning of valid UTF-8 `text` that is whole characters and at most `most`
 * bytes: for printf's %.*s. */
int ty_text_fit(const char *text, int most);

#endif
