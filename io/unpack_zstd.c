/* SPDX-License-Identifier: Apache-2.0 */
#include "io/unpack.h"

#if TALLY_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

static void *zstd_open(void)
{
    return ZSTD_createDCtx();
}

static void zstd_close(void *state)
{
    ZSTD_freeDCtx(state);
}

static void zstd_reset(void *state)
{
    ZSTD_DCtx_reset(state, ZSTD_reset_session_only);
}

static ty_unpack_result zstd_step(void *state, ty_unpack_step *step)
{
    ZSTD_outBuffer out = {step->out, step->out_size, 0};
    ZSTD_inBuffer in = {step->in, step->in_size, 0};
    const size_t code = ZSTD_decompressStream(state, &out, &in);
    step->in += in.pos;
    step->in_size -= in.pos;
    step->out += out.pos;
    step->out_size -= out.pos;
    if (!ZSTD_isError(code))
        return code ? TY_UNPACK_MORE : TY_UNPACK_END;
    step->damage = ZSTD_getErrorName(code);
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        return TY_UNPACK_MEMORY;
    case ZSTD_error_frameParameter_windowTooLarge:
        return TY_UNPACK_WINDOW;
    default:
        return TY_UNPACK_DAMAGED;
    }
}

static size_t number(const unsigned char *at, unsigned bytes)
{
    size_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (size_t)at[i] << 8 * i;
    return value;
}

/* A frame's size is the sum of its blocks'. */
static int zstd_measure(const unsigned char *at, size_t size, size_t *stored, size_t *most)
{
    static const unsigned char dictionary_bytes[4] = {0, 1, 2, 4}, size_bytes[4] = {0, 2, 4, 8};
    enum { BLOCK_MOST = 128 << 10 };
    *most = 0;
    if (size < 8)
        return -1;
    if ((number(at, 4) & 0xfffffff0) == 0x184d2a50) {
        *stored = 8 + number(at + 4, 4); /* a frame that decoders skip */
        return 1;
    }
    if (number(at, 4) != 0xfd2fb528)
        return 0;
    const unsigned kind = at[4], single = kind >> 5 & 1, sized = kind >> 6;
    size_t next = 5u + !single + dictionary_bytes[kind & 3] + (sized ? size_bytes[sized] : single);
    for (int last = 0; !last;) {
        if (size < next + 3)
            return -1;
        const size_t block = number(at + next, 3), bytes = block >> 3;
        const unsigned type = block >> 1 & 3;
        last = block & 1;
        next += 3 + (type == 1 ? 1 : bytes);
        *most += type == 2 ? BLOCK_MOST : bytes;
        if (type == 3)
            return 0;
    }
    *stored = next + (kind & 4);
    return 1;
}

static int zstd_whole(void *state, const unsigned char *in, size_t in_size, unsigned char *out,
                      size_t out_size, size_t *got)
{
    *got = ZSTD_decompressDCtx(state, out, out_size, in, in_size);
    return ZSTD_isError(*got) != 0;
}

static const ty_codec codec = {"zstd",     0,         zstd_open,    zstd_close,
                               zstd_reset, zstd_step, zstd_measure, zstd_whole};
const ty_codec *const ty_codec_zstd = &codec;
#else
const ty_codec *const ty_codec_zstd = NULL;
#endif
