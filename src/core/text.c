#include "core/text.h"

#include "core/alloc.h"

#include <stdint.h>
#include <string.h>

size_t ty_utf8_length(const char *text, size_t left)
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

char *ty_text_copy(const char *text, size_t size)
{
    if (size > (SIZE_MAX - 1) / 3)
        return NULL;
    size_t need = 0;
    for (size_t i = 0, n; i < size; i += n ? n : 1) {
        n = ty_utf8_length(text + i, size - i);
        need += n ? n : 3;
    }
    char *copy = ty_malloc(need + 1);
    if (!copy)
        return NULL;
    char *to = copy;
    for (size_t i = 0, n; i < size; i += n ? n : 1) {
        n = ty_utf8_length(text + i, size - i);
        memcpy(to, n ? text + i : "\xef\xbf\xbd", n ? n : 3);
        to += n ? n : 3;
    }
    *to = '\0';
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
