/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text.h"

#include "core/alloc.h"
#include "../../common/printable.h"

#include <stdint.h>
#include <string.h>

char *ty_text_copy(const char *text, size_t size)
{
    if (size > (SIZE_MAX - 1) / 3)
        return NULL;
    size_t need = 0;
    for (size_t i = 0, n; i < size; i += n ? n : 1) {
        n = utf8_length(text + i, size - i);
        need += n ? n : 3;
    }
    char *copy = ty_malloc(need + 1);
    if (!copy)
        return NULL;
    char *to = copy;
    for (size_t i = 0, n; i < size; i += n ? n : 1) {
        n = utf8_length(text + i, size - i);
        memcpy(to, n ? text + i : "\xef\xbf\xbd", n ? n : 3);
        to += n ? n : 3;
    }
    *to = '\0';
    return copy;
}

char *ty_text_printable(const char *text)
{
    const size_t size = strlen(text), most = 4 * size + 1; /* a byte is \\xHH at most */
    char *copy = size < SIZE_MAX / 4 ? ty_malloc(most) : NULL;
    if (copy)
        printable(text, size, copy, most);
    return copy;
}

int ty_text_fit(const char *text, int most)
{
    int length = 0;
    while (length < most && text[length])
        length++;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}
