/* A block is its size as a varint, then elements: literal bytes, or copies of what was unpacked
 * before, told apart by the lowest two bits of their first byte. */
#include <string.h>

#include "io/snappy.h"
#include "io/thrift.h"

/* The little-endian number of `bytes` bytes, 1 to 4, at t->at. */
static size_t take(ty_thrift *t, unsigned bytes)
{
    size_t value = 0;
    if ((size_t)(t->end - t->at) < bytes) {
        t->failed = 1;
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        value |= (size_t)t->at[i] << 8 * i;
    t->at += bytes;
    return value;
}

/* `length` bytes from `distance` before `to`, which may overlap: what is copied may be copied
 * again. */
static void copy_again(unsigned char *to, size_t distance, size_t length)
{
    const unsigned char *from = to - distance;
    if (distance >= length) {
        memcpy(to, from, length);
        return;
    }
    for (size_t i = 0; i < length; i++)
        to[i] = from[i];
}

int ty_snappy_unpack(const unsigned char *packed, size_t packed_size, unsigned char *into,
                     size_t size)
{
    ty_thrift t = {packed, packed + packed_size, 0};
    unsigned char *to = into, *const end = into + size;
    if (ty_thrift_varint(&t) != size)
        return 1;
    while (t.at < t.end) {
        const unsigned tag = *t.at++;
        size_t length = tag >> 2, distance = 0;
        switch (tag & 3) {
        case 0: /* a literal; lengths above 60 follow in 1 to 4 bytes */
            length = length < 60 ? length : take(&t, (unsigned)length - 59);
            length++;
            break;
        case 1: /* 4 to 11 bytes, from up to 2047 before */
            distance = (size_t)(tag >> 5) << 8 | take(&t, 1);
            length = (tag >> 2 & 7) + 4;
            break;
        default:
            distance = take(&t, (tag & 3) == 2 ? 2 : 4);
            length++;
        }
        if (t.failed || length > (size_t)(end - to))
            return 1;
        if ((tag & 3) == 0) {
            if (length > (size_t)(t.end - t.at))
                return 1;
            memcpy(to, t.at, length);
            t.at += length;
        } else {
            if (!distance || distance > (size_t)(to - into))
                return 1;
            copy_again(to, distance, length);
        }
        to += length;
    }
    return t.failed || to != end;
}
