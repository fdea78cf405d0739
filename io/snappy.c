/* A block is its size as a varint, then elements: literal bytes, or copies of what was unpacked
 * before, told apart by the lowest two bits of their first byte. */
#include <string.h>

#include "io/snappy.h"
#include "io/thrift.h"

/* The little-endian number of `bytes` bytes, 1 to 4, at t->at. */
static inline size_t take(ty_thrift *t, unsigned bytes)
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

enum { WIDE = 16 }; /* bytes that a wide copy may write, and read, behind the last */

/* `step` bytes at a time, 8 or 16, which do not overlap. */
static inline void copy_wide(unsigned char *to, const unsigned char *from, size_t length,
                             size_t step)
{
    for (size_t i = 0; i < length; i += step)
        memcpy(to + i, from + i, step);
}

/* `length` bytes from `distance` before `to`, which may overlap: what is copied may be copied
 * again. There are `room` bytes to write at `to`. */
static inline void copy_again(unsigned char *to, size_t distance, size_t length, size_t room)
{
    const unsigned char *from = to - distance;
    if (distance >= 16 && room >= length + WIDE) {
        copy_wide(to, from, length, 16);
    } else if (distance >= 8 && room >= length + WIDE) {
        copy_wide(to, from, length, 8);
    } else {
        for (size_t i = 0; i < length; i++)
            to[i] = from[i];
    }
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
            if (length <= 64 && (size_t)(t.end - t.at) >= length + WIDE &&
                (size_t)(end - to) >= length + WIDE)
                copy_wide(to, t.at, length, 16);
            else
                memcpy(to, t.at, length);
            t.at += length;
        } else {
            if (!distance || distance > (size_t)(to - into))
                return 1;
            copy_again(to, distance, length, (size_t)(end - to));
        }
        to += length;
    }
    return t.failed || to != end;
}
