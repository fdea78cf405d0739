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

static const ty_codec codec = {"zstd", 0, zstd_open, zstd_close, zstd_reset, zstd_step};
const ty_codec *const ty_codec_zstd = &codec;
#else
const ty_codec *const ty_codec_zstd = NULL;
#endif
