/* SPDX-License-Identifier: Apache-2.0 */
/* bzip2, by libbz2. */
#include "io/unpack.h"

#if TALLY_HAVE_BZIP2
#include <bzlib.h>
#include <limits.h>

#include "core/alloc.h"

typedef struct ty_bzip2 {
    bz_stream stream;
    int started; /* what starting it gave */
    int is_open;
} ty_bzip2;

static void *allocate(void *user, int count, int size)
{
    (void)user;
    return ty_calloc((size_t)count, (size_t)size);
}

static void release(void *user, void *block)
{
    (void)user;
    ty_free(block);
}

static void *bzip2_open(void)
{
    ty_bzip2 *s = ty_calloc(1, sizeof *s);
    if (s) {
        s->stream.bzalloc = allocate;
        s->stream.bzfree = release;
    }
    return s;
}

static void end_stream(ty_bzip2 *s)
{
    if (s->is_open)
        BZ2_bzDecompressEnd(&s->stream);
    s->is_open = 0;
}

static void bzip2_close(void *state)
{
    ty_bzip2 *s = state;
    if (s)
        end_stream(s);
    ty_free(s);
}

static void bzip2_reset(void *state)
{
    ty_bzip2 *s = state;
    end_stream(s);
    s->started = BZ2_bzDecompressInit(&s->stream, 0, 0);
    s->is_open = s->started == BZ_OK;
}

static ty_unpack_result bzip2_step(void *state, ty_unpack_step *step)
{
    ty_bzip2 *s = state;
    if (s->started != BZ_OK)
        return TY_UNPACK_MEMORY;
    const unsigned in = step->in_size < UINT_MAX ? (unsigned)step->in_size : UINT_MAX;
    const unsigned out = step->out_size < UINT_MAX ? (unsigned)step->out_size : UINT_MAX;
    s->stream.next_in = (char *)(uintptr_t)step->in;
    s->stream.avail_in = in;
    s->stream.next_out = (char *)step->out;
    s->stream.avail_out = out;
    const int code = BZ2_bzDecompress(&s->stream);
    step->in += in - s->stream.avail_in;
    step->in_size -= in - s->stream.avail_in;
    step->out += out - s->stream.avail_out;
    step->out_size -= out - s->stream.avail_out;
    switch (code) {
    case BZ_OK:
        return TY_UNPACK_MORE;
    case BZ_STREAM_END:
        return TY_UNPACK_END;
    case BZ_MEM_ERROR:
        return TY_UNPACK_MEMORY;
    case BZ_DATA_ERROR_MAGIC:
        step->damage = "no bzip2 header";
        return TY_UNPACK_DAMAGED;
    default:
        step->damage = "it cannot be unpacked";
        return TY_UNPACK_DAMAGED;
    }
}

static int bzip2_measure(const unsigned char *at, size_t size, size_t *stored, size_t *most)
{
    (void)at;
    (void)size;
    (void)stored;
    (void)most;
    return 0;
}

static const ty_codec codec = {"bzip2",     'B',        bzip2_open,    bzip2_close,
                               bzip2_reset, bzip2_step, bzip2_measure, NULL};
const ty_codec *const ty_codec_bzip2 = &codec;
#else
const ty_codec *const ty_codec_bzip2 = NULL;
#endif
