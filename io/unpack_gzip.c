/* gzip, by ISA-L where it was there at build time, else by zlib. */
#include "io/unpack.h"

#include <string.h>

#include "core/alloc.h"

#if TALLY_HAVE_ISAL
#include <isa-l/igzip_lib.h>

static void *gzip_open(void)
{
    return ty_malloc(sizeof(struct inflate_state));
}

static void gzip_close(void *state)
{
    ty_free(state);
}

static void gzip_reset(void *state)
{
    struct inflate_state *s = state;
    isal_inflate_init(s);
    s->crc_flag = ISAL_GZIP;
}

static const char *damage(int code)
{
    switch (code) {
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
        return "no gzip header";
    case ISAL_INCORRECT_CHECKSUM:
        return "wrong checksum or length";
    default:
        return "it cannot be inflated";
    }
}

static ty_unpack_result gzip_step(void *state, ty_unpack_step *step)
{
    struct inflate_state *s = state;
    const uint32_t most = 1u << 30;
    const uint32_t in = step->in_size < most ? (uint32_t)step->in_size : most;
    const uint32_t out = step->out_size < most ? (uint32_t)step->out_size : most;
    s->next_in = (uint8_t *)(uintptr_t)step->in;
    s->avail_in = in;
    s->next_out = step->out;
    s->avail_out = out;
    const int code = isal_inflate(s);
    step->in += in - s->avail_in;
    step->in_size -= in - s->avail_in;
    step->out += out - s->avail_out;
    step->out_size -= out - s->avail_out;
    if (code < 0) {
        step->damage = damage(code);
        return TY_UNPACK_DAMAGED;
    }
    return s->block_state == ISAL_BLOCK_FINISH ? TY_UNPACK_END : TY_UNPACK_MORE;
}

#elif TALLY_HAVE_ZLIB
#include <zlib.h>

static void *inflater_alloc(void *user, uInt count, uInt size)
{
    (void)user;
    return ty_calloc(count, size);
}

static void inflater_free(void *user, void *block)
{
    (void)user;
    ty_free(block);
}

static void *gzip_open(void)
{
    z_stream *z = ty_calloc(1, sizeof *z);
    if (!z)
        return NULL;
    z->zalloc = inflater_alloc;
    z->zfree = inflater_free;
    if (inflateInit2(z, 15 + 16) == Z_OK)
        return z;
    ty_free(z);
    return NULL;
}

static void gzip_close(void *state)
{
    if (state)
        inflateEnd(state);
    ty_free(state);
}

static void gzip_reset(void *state)
{
    inflateReset(state);
}

static ty_unpack_result gzip_step(void *state, ty_unpack_step *step)
{
    z_stream *z = state;
    const uInt most = 1u << 30;
    const uInt in = step->in_size < most ? (uInt)step->in_size : most;
    const uInt out = step->out_size < most ? (uInt)step->out_size : most;
    z->next_in = (Bytef *)(uintptr_t)step->in;
    z->avail_in = in;
    z->next_out = step->out;
    z->avail_out = out;
    const int code = inflate(z, Z_NO_FLUSH);
    step->in += in - z->avail_in;
    step->in_size -= in - z->avail_in;
    step->out += out - z->avail_out;
    step->out_size -= out - z->avail_out;
    step->damage = z->msg ? z->msg : "it cannot be inflated";
    if (code == Z_MEM_ERROR)
        return TY_UNPACK_MEMORY;
    if (code == Z_STREAM_END)
        return TY_UNPACK_END;
    return code == Z_OK || code == Z_BUF_ERROR ? TY_UNPACK_MORE : TY_UNPACK_DAMAGED;
}
#endif

#if TALLY_HAVE_ISAL || TALLY_HAVE_ZLIB
static const ty_codec codec = {"gzip", 1, gzip_open, gzip_close, gzip_reset, gzip_step};
const ty_codec *const ty_codec_gzip = &codec;
#else
const ty_codec *const ty_codec_gzip = NULL;
#endif
