/* SPDX-License-Identifier: Apache-2.0 */
#include "io/labels.h"

#include <stdio.h>
#include <string.h>

#include "../common/printable.h"
#include "core/alloc.h"

ty_labels *ty_labels_create(uint64_t count, size_t bytes)
{
    if (count > SIZE_MAX / 32 || bytes > SIZE_MAX / 2)
        return NULL;
    const size_t head = sizeof(ty_labels) + (size_t)count * sizeof(size_t);
    ty_labels *labels = ty_large(head + bytes);
    if (!labels)
        return NULL;
    memset(labels, 0, sizeof *labels);
    atomic_init(&labels->owners, 1);
    labels->text = (char *)labels + head;
    return labels;
}

ty_labels *ty_labels_share(ty_labels *labels)
{
    if (labels)
        atomic_fetch_add(&labels->owners, 1);
    return labels;
}

void ty_labels_release(ty_labels *labels)
{
    if (labels && atomic_fetch_sub(&labels->owners, 1) == 1)
        ty_free(labels);
}

/* How many of the bytes, from the first on, are surely ASCII. */
static size_t plain_bytes(const char *text, size_t size)
{
    size_t i = 0;
    for (uint64_t x; i + 8 <= size; i += 8) {
        memcpy(&x, text + i, 8);
        if (x & UINT64_C(0x8080808080808080))
            break;
    }
    return i;
}

size_t ty_label_bytes(const char *text, size_t size)
{
    const size_t plain = plain_bytes(text, size);
    size_t bytes = 1 + plain;
    for (size_t i = plain, n; i < size; i += n ? n : 1) {
        n = utf8_length(text + i, size - i);
        bytes += n ? n : 4;
    }
    return bytes;
}

void ty_labels_add(ty_labels *labels, const char *text, size_t size)
{
    char *to = labels->text + labels->used;
    const size_t plain = plain_bytes(text, size);
    labels->at[labels->count++] = labels->used;
    memcpy(to, text, plain);
    to += plain;
    for (size_t i = plain, n; i < size; i += n ? n : 1) {
        n = utf8_length(text + i, size - i);
        if (n)
            memcpy(to, text + i, n);
        else
            snprintf(to, 5, "\\x%02x", (unsigned)(unsigned char)text[i]);
        to += n ? n : 4;
    }
    *to++ = '\0';
    labels->used = (size_t)(to - labels->text);
}
