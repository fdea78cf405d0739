/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/pack.h"

#include <string.h>

#include "core/alloc.h"

enum { extra = 15, least_repeat = 3 }; /* a step's m counts from least_repeat - 1 on */

/* ---- unpacking ---- */

typedef struct reader {
    const unsigned char *at, *end;
    int failed;
} reader;

static size_t get_number(reader *r)
{
    size_t number = 0;
    for (unsigned shift = 0; shift < 35 && r->at < r->end; shift += 7) {
        const unsigned char byte = *r->at++;
        number |= (size_t)(byte & 127) << shift;
        if (byte < 128)
            return number;
    }
    r->failed = 1;
    return 0;
}

/* The bytes may overlap what they are repeated from. */
static void repeat(unsigned char *to, size_t distance, size_t length)
{
    while (length) {
        const size_t n = length < distance ? length : distance;
        memcpy(to, to - distance, n);
        to += n;
        length -= n;
        distance += n;
    }
}

int ty_unpack(const unsigned char *from, size_t packed, unsigned char *to, size_t size)
{
    reader r = {from, from + packed, 0};
    size_t done = 0, distance = 0;
    while (r.at < r.end) {
        const unsigned char step = *r.at++;
        size_t plain = step >> 4, length = step & 15;
        plain += plain == extra ? get_number(&r) : 0;
        if (r.failed || plain > (size_t)(r.end - r.at) || plain > size - done)
            return 0;
        memcpy(to + done, r.at, plain);
        r.at += plain;
        done += plain;
        if (!length)
            continue;
        length += (length == extra ? get_number(&r) : 0) + least_repeat - 1;
        const size_t own = get_number(&r);
        distance = own ? own : distance;
        if (r.failed || !distance || distance > done || length > size - done)
            return 0;
        repeat(to + done, distance, length);
        done += length;
    }
    return done == size;
}

/* ---- packing ---- */

enum {
    hash_bits = 18,
    hashed_bytes = 8, /* a repetition at a distance of its own is no shorter */
    tries = 96,       /* earlier places with the same hash that are looked at */
    enough = 4096     /* a repetition so long is taken as it is */
};

typedef struct packer {
    const unsigned char *from;
    unsigned char *to;
    size_t size, done;         /* bytes of `from`; of `to` */
    size_t distance;           /* the last step's */
    uint32_t *latest, *before; /* 1 + the last place with a hash; with the same as a place */
} packer;

typedef struct repetition {
    size_t length, distance; /* length 0: none */
} repetition;

static uint32_t hash_at(const unsigned char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return (uint32_t)(bytes * UINT64_C(0x9e3779b97f4a7c15) >> (64 - hash_bits));
}

static void put_number(packer *p, size_t number)
{
    for (; number >= 128; number >>= 7)
        p->to[p->done++] = (unsigned char)(number | 128);
    p->to[p->done++] = (unsigned char)number;
}

static void put_step(packer *p, size_t at, size_t plain, repetition r)
{
    const size_t length = r.length ? r.length - least_repeat + 1 : 0;
    const size_t l = plain < extra ? plain : extra, m = length < extra ? length : extra;
    p->to[p->done++] = (unsigned char)(l << 4 | m);
    if (l == extra)
        put_number(p, plain - extra);
    memcpy(p->to + p->done, p->from + at, plain);
    p->done += plain;
    if (m == extra)
        put_number(p, length - extra);
    if (m)
        put_number(p, r.distance == p->distance ? 0 : r.distance);
    p->distance = m ? r.distance : p->distance;
}

static size_t common(const packer *p, size_t earlier, size_t at)
{
    size_t n = 0;
    while (at + n < p->size && p->from[earlier + n] == p->from[at + n])
        n++;
    return n;
}

/* The best repetition that begins at `at`: the last step's distance costs two bytes less. */
static repetition find(const packer *p, size_t at)
{
    repetition best = {0, 0};
    size_t worth = hashed_bytes - 1;
    if (p->distance && p->distance <= at) {
        const size_t n = common(p, at - p->distance, at);
        if (n >= least_repeat) {
            best = (repetition){n, p->distance};
            worth = n + 2;
        }
    }
    if (at + hashed_bytes > p->size)
        return best;
    uint32_t place = p->latest[hash_at(p->from + at)];
    for (int i = 0; place && i < tries && best.length < enough; i++) {
        const size_t n = common(p, place - 1, at);
        if (n > worth) {
            best = (repetition){n, at - (place - 1)};
            worth = n;
        }
        place = p->before[place - 1];
    }
    return best;
}

static void note(packer *p, size_t at)
{
    if (at + hashed_bytes > p->size)
        return;
    uint32_t *latest = &p->latest[hash_at(p->from + at)];
    p->before[at] = *latest;
    *latest = (uint32_t)at + 1;
}

static void pack(packer *p)
{
    size_t plain = 0, at = 0; /* bytes from `plain` on are as they are */
    while (at < p->size) {
        const repetition r = find(p, at);
        note(p, at);
        /* A longer one may begin a byte later. */
        if (!r.length ||
            (r.length < enough && at + 1 < p->size && find(p, at + 1).length > r.length + 1)) {
            at++;
            continue;
        }
        put_step(p, plain, at - plain, r);
        for (size_t i = 1; i < r.length; i++)
            note(p, at + i);
        at += r.length;
        plain = at;
    }
    if (plain < p->size)
        put_step(p, plain, p->size - plain, (repetition){0, 0});
}

unsigned char *ty_pack(const unsigned char *from, size_t size, size_t *packed)
{
    packer p = {.from = from, .size = size};
    if (size <= ty_pack_most) {
        p.to = ty_malloc(size + size / 64 + 16);
        p.latest = ty_calloc((size_t)1 << hash_bits, sizeof *p.latest);
        p.before = ty_calloc(size + 1, sizeof *p.before);
    }
    const int whole = p.to && p.latest && p.before;
    if (whole)
        pack(&p);
    ty_free(p.latest);
    ty_free(p.before);
    if (!whole) {
        ty_free(p.to);
        return NULL;
    }
    *packed = p.done;
    return p.to;
}
