/* SPDX-License-Identifier: Apache-2.0 */
/* A block is its size as a varint, then elements: literal bytes, or copies of what was unpacked
 * before, told apart by the lowest two bits of their first byte, the tag. */
#include <stdint.h>
#include <string.h>

#include "io/snappy.h"
#include "io/thrift.h"

/* While so many bytes are left on both sides, elements of up to 64 bytes are copied by whole
 * blocks, which read and write more than is theirs. */
enum { SLACK = 160 };

typedef struct unpacking {
    const unsigned char *at, *end; /* what is packed */
    unsigned char *into, *to, *stop;
} unpacking;

/* What a copy's tag says: the distance's upper bits, and the length. */
typedef struct copy {
    uint16_t high, length;
} copy;

#define IS_NEAR(t) (((t)&3) == 1)
#define COPY(t)                                                                                    \
    {                                                                                              \
        IS_NEAR(t) ? ((t)&0xe0) << 3 : 0, IS_NEAR(t) ? ((t) >> 2 & 7) + 4 : ((t) >> 2) + 1         \
    }
#define COPIES_4(t)  COPY(t), COPY((t) + 1), COPY((t) + 2), COPY((t) + 3)
#define COPIES_16(t) COPIES_4(t), COPIES_4((t) + 4), COPIES_4((t) + 8), COPIES_4((t) + 12)
#define COPIES_64(t) COPIES_16(t), COPIES_16((t) + 16), COPIES_16((t) + 32), COPIES_16((t) + 48)

static const copy copies[256] = {COPIES_64(0), COPIES_64(64), COPIES_64(128), COPIES_64(192)};

/* The little-endian number of 2 bytes. */
static inline size_t take2(const unsigned char *at)
{
    return at[0] | (size_t)at[1] << 8;
}

static inline void copy8(unsigned char *to, const unsigned char *from)
{
    memcpy(to, from, 8);
}

/* Up to 64 bytes from `distance` before `to`: what is copied may be copied again. */
static inline void copy_again(unsigned char *to, size_t distance, size_t length)
{
    const unsigned char *from = to - distance, *end = to + length;
    if (distance >= 16) {
        memcpy(to, from, 16);
        for (to += 16, from += 16; to < end; to += 16, from += 16)
            memcpy(to, from, 16);
        return;
    }
    for (; distance < 8; distance *= 2) { /* of every 8 bytes `distance` are right */
        copy8(to, from);
        to += distance;
    }
    for (; to < end; to += 8, from += 8)
        copy8(to, from);
}

/* Elements, a literal and a copy at a time, as long as there is SLACK and they are short. A literal
 * is mostly followed by a copy, which the processor foretells; not so whether that is of one byte
 * of distance or of two, which take the same way. 1: damaged. */
static int unpack_short(unpacking *u)
{
    static const size_t masks[2] = {0xffff, 0xff};
    const unsigned char *at = u->at, *const last = u->end - SLACK, *const into = u->into;
    unsigned char *to = u->to, *const stop = u->stop - SLACK;
    int damaged = 0;
    while (at <= last && to <= stop) {
        unsigned tag = *at;
        size_t length;
        if (!(tag & 3)) {
            length = (tag >> 2) + 1;
            memcpy(to, at + 1, 16);
            if (length > 16) {
                if (length > 60)
                    break;
                memcpy(to + 16, at + 17, 48);
            }
            to += length;
            at += 1 + length;
            tag = *at; /* mostly of a copy; SLACK has it */
            if (!(tag & 3))
                continue;
        }
        const copy c = copies[tag];
        const size_t near = tag & 1;
        size_t distance = (take2(at + 1) & masks[near]) | c.high;
        if ((tag & 3) == 3) {
            distance = take2(at + 1) | take2(at + 3) << 16;
            at += 5;
        } else {
            at += 3;
            at -= near;
        }
        if (distance - 1 >= (size_t)(to - into)) {
            damaged = 1;
            break;
        }
        copy_again(to, distance, c.length);
        to += c.length;
    }
    u->at = at;
    u->to = to;
    return damaged;
}

/* One element of any length, at the end as well. 1: damaged. */
static int unpack_one(unpacking *u)
{
    const unsigned tag = *u->at++, kind = tag & 3;
    const size_t more =
        kind ? (size_t)(kind == 3 ? 4 : kind) : (tag >> 2 > 59 ? (tag >> 2) - 59 : 0);
    size_t number = 0, length = kind ? copies[tag].length : (tag >> 2) + 1;
    if ((size_t)(u->end - u->at) < more)
        return 1;
    for (size_t i = 0; i < more; i++)
        number |= (size_t)u->at[i] << 8 * i;
    u->at += more;
    if (!kind && more)
        length = number + 1;
    if (length > (size_t)(u->stop - u->to))
        return 1;
    if (!kind) {
        if (length > (size_t)(u->end - u->at))
            return 1;
        memcpy(u->to, u->at, length);
        u->at += length;
    } else {
        const size_t distance = number | copies[tag].high;
        if (distance - 1 >= (size_t)(u->to - u->into))
            return 1;
        for (size_t i = 0; i < length; i++)
            u->to[i] = (u->to - distance)[i];
    }
    u->to += length;
    return 0;
}

int ty_snappy_unpack(const unsigned char *packed, size_t packed_size, unsigned char *into,
                     size_t size)
{
    ty_thrift t = {packed, packed + packed_size, 0};
    if (ty_thrift_varint(&t) != size || t.failed)
        return 1;
    unpacking u = {t.at, t.end, into, into, into + size};
    while (u.at < u.end) {
        if (u.end - u.at > SLACK && u.stop - u.to > SLACK && unpack_short(&u))
            return 1;
        if (unpack_one(&u))
            return 1;
    }
    return u.to != u.stop;
}
