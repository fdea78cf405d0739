/* SPDX-License-Identifier: Apache-2.0 */
#include "io/checksum.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#if TALLY_HAVE_ISAL
#include <isa-l/crc.h>
#elif TALLY_HAVE_ZLIB
#include <zlib.h>
#endif

#include "core/alloc.h"

/* Bytes [begin, end), and their checksum. */
typedef struct ty_span {
    uint64_t begin, end;
    uint32_t value;
} ty_span;

enum { UNKNOWN, RIGHT, WRONG };

struct ty_checksum {
    uint64_t size;
    uint32_t wanted;
    atomic_int found;
    pthread_mutex_t lock; /* of the spans: ascending, none meets the next */
    size_t count, room;
    ty_span *spans;
};

static uint32_t checksum_of(const unsigned char *bytes, size_t size)
{
    uint32_t value = 0;
    while (size) {
        const size_t n = size < (1u << 30) ? size : 1u << 30;
#if TALLY_HAVE_ISAL
        value = crc32_gzip_refl(value, bytes, n);
#elif TALLY_HAVE_ZLIB
        value = (uint32_t)crc32(value, bytes, (unsigned)n);
#else
        (void)bytes; /* RIGHT from the start */
#endif
        bytes += n;
        size -= n;
    }
    return value;
}

int ty_checksum_is(const void *bytes, size_t size, uint32_t wanted)
{
    return (!TALLY_HAVE_ISAL && !TALLY_HAVE_ZLIB) || checksum_of(bytes, size) == wanted;
}

/* Polynomials modulo that of CRC-32, with the factor of x^0 in bit 31. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (; a; a <<= 1) {
        product ^= a >> 31 ? b : 0;
        b = b >> 1 ^ (b & 1 ? 0xedb88320u : 0);
    }
    return product;
}

/* The checksum of two runs of bytes, one behind the other. */
static uint32_t join(uint32_t first, uint32_t second, uint64_t second_size)
{
    uint32_t power = 1u << 31, square = 1u << 23; /* 1; x^8, a byte */
    for (; second_size; second_size >>= 1) {
        power = second_size & 1 ? multiply(power, square) : power;
        square = multiply(square, square);
    }
    return multiply(power, first) ^ second;
}

ty_checksum *ty_checksum_create(uint64_t size, uint32_t wanted)
{
    ty_checksum *c = ty_calloc(1, sizeof *c);
    if (c) {
        c->size = size;
        c->wanted = wanted;
        c->found = TALLY_HAVE_ISAL || TALLY_HAVE_ZLIB ? UNKNOWN : RIGHT;
        pthread_mutex_init(&c->lock, NULL);
    }
    return c;
}

void ty_checksum_free(ty_checksum *c)
{
    if (!c)
        return;
    pthread_mutex_destroy(&c->lock);
    ty_free(c->spans);
    ty_free(c);
}

/* The first span that ends behind `at`. */
static size_t find(const ty_checksum *c, uint64_t at)
{
    size_t low = 0, high = c->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->spans[middle].end > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The first bytes of [at, end) that are in no span; an empty span: there are none. */
static ty_span missing(ty_checksum *c, uint64_t at, uint64_t end)
{
    pthread_mutex_lock(&c->lock);
    size_t i = find(c, at);
    for (; i < c->count && c->spans[i].begin <= at; i++)
        at = c->spans[i].end;
    if (i < c->count && c->spans[i].begin < end)
        end = c->spans[i].begin;
    pthread_mutex_unlock(&c->lock);
    return (ty_span){at < end ? at : end, end, 0};
}

static int make_room(ty_checksum *c)
{
    if (c->count < c->room)
        return 1;
    const size_t room = c->room ? 2 * c->room : 16;
    ty_span *spans = ty_realloc(c->spans, room * sizeof *spans);
    if (spans) {
        c->spans = spans;
        c->room = room;
    }
    return spans != NULL;
}

/* Puts a span between the others, joined with those that it meets; not if another thread has read
 * some of it meanwhile. Nonzero when memory is out. */
static int put(ty_checksum *c, ty_span span)
{
    const size_t i = find(c, span.begin);
    const int before = i && c->spans[i - 1].end == span.begin;
    const int after = i < c->count && c->spans[i].begin == span.end;
    if (i < c->count && c->spans[i].begin < span.end)
        return 0;
    if (!before && !after && !make_room(c))
        return 1;
    ty_span *at = c->spans + i;
    if (before && after) {
        at[-1].value = join(at[-1].value, span.value, span.end - span.begin);
        at[-1].value = join(at[-1].value, at->value, at->end - at->begin);
        at[-1].end = at->end;
        memmove(at, at + 1, (--c->count - i) * sizeof *at);
    } else if (before) {
        at[-1].value = join(at[-1].value, span.value, span.end - span.begin);
        at[-1].end = span.end;
    } else if (after) {
        at->value = join(span.value, at->value, at->end - at->begin);
        at->begin = span.begin;
    } else {
        memmove(at + 1, at, (c->count++ - i) * sizeof *at);
        *at = span;
    }
    if (c->spans->begin == 0 && c->spans->end == c->size)
        atomic_store(&c->found, c->spans->value == c->wanted ? RIGHT : WRONG);
    return 0;
}

ty_checksum_result ty_checksum_add(ty_checksum *c, uint64_t at, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    const uint64_t end = at + size;
    int failed = 0;
    if (!c)
        return TY_CHECKSUM_FINE;
    for (uint64_t done = at; !failed && done < end && atomic_load(&c->found) == UNKNOWN;) {
        ty_span span = missing(c, done, end);
        done = span.end;
        if (span.begin == span.end)
            continue;
        span.value = checksum_of(from + (span.begin - at), (size_t)(span.end - span.begin));
        pthread_mutex_lock(&c->lock);
        failed = put(c, span);
        pthread_mutex_unlock(&c->lock);
    }
    return failed                            ? TY_CHECKSUM_MEMORY
           : atomic_load(&c->found) == WRONG ? TY_CHECKSUM_WRONG
                                             : TY_CHECKSUM_FINE;
}

uint64_t ty_checksum_reached(ty_checksum *c)
{
    pthread_mutex_lock(&c->lock);
    const uint64_t reached = c->count && !c->spans->begin ? c->spans->end : 0;
    pthread_mutex_unlock(&c->lock);
    return reached;
}
