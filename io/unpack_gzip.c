/* SPDX-License-Identifier: Apache-2.0 */
/* gzip, by ISA-L where it was there at build time, else by zlib. */
#include "io/unpack.h"

#include <string.h>

#include "core/alloc.h"

#if TALLY_HAVE_ISAL
#include <isa-l/igzip_lib.h>

/* The header is read by its own function: isal_inflate forgets its fields where it is cut. */
typedef struct inflater {
    struct inflate_state state;
    struct isal_gzip_header header;
    int in_header;
} inflater;

static void *gzip_open(void)
{
    return ty_malloc(sizeof(inflater));
}

static void gzip_close(void *state)
{
    ty_free(state);
}

static void gzip_reset(void *state)
{
    inflater *i = state;
    isal_inflate_init(&i->state);
    i->state.crc_flag = ISAL_GZIP_NO_HDR_VER;
    isal_gzip_header_init(&i->header);
    i->in_header = 1;
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

static int inflate_some(inflater *i)
{
    if (i->in_header) {
        const int code = isal_read_gzip_header(&i->state, &i->header);
        if (code != ISAL_DECOMP_OK)
            return code;
        i->in_header = 0;
    }
    return isal_inflate(&i->state);
}

static ty_unpack_result gzip_step(void *state, ty_unpack_step *step)
{
    inflater *i = state;
    struct inflate_state *s = &i->state;
    const uint32_t most = 1u << 30;
    const uint32_t in = step->in_size < most ? (uint32_t)step->in_size : most;
    const uint32_t out = step->out_size < most ? (uint32_t)step->out_size : most;
    s->next_in = (uint8_t *)(uintptr_t)step->in;
    s->avail_in = in;
    s->next_out = step->out;
    s->avail_out = out;
    const int code = inflate_some(i);
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
static unsigned number16(const unsigned char *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

/* BGZF: members of up to 64 KiB whose header has their stored size in an extra field, BC. */
static int gzip_measure(const unsigned char *at, size_t size, size_t *stored, size_t *most)
{
    enum { HEADER = 12, TRAILER = 8, MOST = 1 << 16 };
    *most = 0;
    if (size < HEADER)
        return at[0] == 0x1f ? -1 : 0;
    if (memcmp(at, "\x1f\x8b\x08\x04", 4) != 0)
        return 0;
    const size_t end = HEADER + number16(at + 10);
    if (size < end)
        return -1;
    for (size_t field = HEADER; field + 4 <= end; field += 4 + number16(at + field + 2)) {
        if (memcmp(at + field, "BC\2\0", 4) != 0 || field + 6 > end)
            continue;
        *stored = number16(at + field + 4) + 1u;
        if (*stored < end + TRAILER)
            return 0;
        if (size < *stored)
            return 1;
        const unsigned char *length = at + *stored - 4;
        *most = number16(length) | (size_t)number16(length + 2) << 16;
        return *most <= MOST;
    }
    return 0;
}

static int gzip_whole(void *state, const unsigned char *in, size_t in_size, unsigned char *out,
                      size_t out_size, size_t *got)
{
    ty_unpack_step step = {in, in_size, out, out_size, ""};
    gzip_reset(state);
    const ty_unpack_result result = gzip_step(state, &step);
    *got = out_size - step.out_size;
    return result != TY_UNPACK_END || step.in_size;
}

static const ty_codec codec = {"gzip",     0x1f,      gzip_open,    gzip_close,
                               gzip_reset, gzip_step, gzip_measure, gzip_whole};
const ty_codec *const ty_codec_gzip = &codec;
#else
const ty_codec *const ty_codec_gzip = NULL;
#endif
