/* SPDX-License-Identifier: Apache-2.0 */
/* xz, by liblzma. */
#include "io/unpack.h"

#if TALLY_HAVE_LZMA
#include <lzma.h>

#include "core/alloc.h"

/* What a stream may ask for: a dictionary of 1 GiB. xz -9 needs 65 MiB. */
#define MEMORY_MOST ((uint64_t)1100 << 20)

typedef struct ty_xz {
    lzma_stream stream;
    lzma_allocator allocator;
    lzma_ret started;
} ty_xz;

static void *allocate(void *user, size_t count, size_t size)
{
    (void)user;
    return ty_calloc(count, size);
}

static void release(void *user, void *block)
{
    (void)user;
    ty_free(block);
}

static void *xz_open(void)
{
    ty_xz *s = ty_calloc(1, sizeof *s);
    if (s) {
        s->stream = (lzma_stream)LZMA_STREAM_INIT;
        s->allocator.alloc = allocate;
        s->allocator.free = release;
        s->stream.allocator = &s->allocator;
    }
    return s;
}

static void xz_close(void *state)
{
    ty_xz *s = state;
    if (s)
        lzma_end(&s->stream);
    ty_free(s);
}

static void xz_reset(void *state)
{
    ty_xz *s = state;
    s->started = lzma_stream_decoder(&s->stream, MEMORY_MOST, LZMA_TELL_UNSUPPORTED_CHECK);
}

static ty_unpack_result xz_step(void *state, ty_unpack_step *step)
{
    ty_xz *s = state;
    if (s->started != LZMA_OK)
        return TY_UNPACK_MEMORY;
    s->stream.next_in = step->in;
    s->stream.avail_in = step->in_size;
    s->stream.next_out = step->out;
    s->stream.avail_out = step->out_size;
    const lzma_ret code = lzma_code(&s->stream, LZMA_RUN);
    step->in = s->stream.next_in;
    step->in_size = s->stream.avail_in;
    step->out = s->stream.next_out;
    step->out_size = s->stream.avail_out;
    switch (code) {
    case LZMA_OK:
    case LZMA_BUF_ERROR:
        return TY_UNPACK_MORE;
    case LZMA_STREAM_END:
        return TY_UNPACK_END;
    case LZMA_MEM_ERROR:
        return TY_UNPACK_MEMORY;
    case LZMA_MEMLIMIT_ERROR:
        return TY_UNPACK_WINDOW;
    case LZMA_UNSUPPORTED_CHECK:
        step->damage = "a checksum that liblzma has not";
        return TY_UNPACK_DAMAGED;
    case LZMA_FORMAT_ERROR:
        step->damage = "no xz header";
        return TY_UNPACK_DAMAGED;
    default:
        step->damage = "it cannot be unpacked";
        return TY_UNPACK_DAMAGED;
    }
}

static int xz_measure(const unsigned char *at, size_t size, size_t *stored, size_t *most)
{
    (void)at;
    (void)size;
    (void)stored;
    (void)most;
    return 0;
}

static const ty_codec codec = {"xz", 0xfd, xz_open, xz_close, xz_reset, xz_step, xz_measure, NULL};
const ty_codec *const ty_codec_xz = &codec;
#else
const ty_codec *const ty_codec_xz = NULL;
#endif
