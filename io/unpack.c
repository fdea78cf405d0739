/* SPDX-License-Identifier: Apache-2.0 */
#include "io/unpack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

enum { STORED_BUFFER = 256 * 1024 };

const char *ty_packing_name(ty_packing packing)
{
    static const char *const names[] = {"", "gzip", "zstd", "xz", "bzip2", "deflate"};
    return names[packing];
}

uint64_t ty_unpack_stored(const ty_unpack *u)
{
    const size_t left = u->end - u->at; /* some of it may be an origin's own */
    return u->origin->position > left ? u->origin->position - left : 0;
}

static tally_status damaged(const ty_unpack *u, tally_error *error, const char *what)
{
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: %s data are damaged near stored byte %" PRIu64 ": %s", u->origin->name,
                    ty_packing_name(u->packing), ty_unpack_stored(u), what);
}

static tally_status followed(const ty_unpack *u, tally_error *error)
{
    char what[80];
    snprintf(what, sizeof what, "something that is not %s follows the compressed data",
             ty_packing_name(u->packing));
    return damaged(u, error, what);
}

static tally_status cut_short(const ty_unpack *u, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: %s data end at stored byte %" PRIu64 " before they are complete",
                    u->origin->name, ty_packing_name(u->packing), ty_unpack_stored(u));
}

static tally_status failed(const ty_unpack *u, ty_unpack_result result, const char *damage,
                           tally_error *error)
{
    const char *name = u->origin->name;
    if (result == TY_UNPACK_MEMORY)
        return ty_error(error, TALLY_ERROR_MEMORY, "%s: out of memory while undoing %s", name,
                        ty_packing_name(u->packing));
    if (result == TY_UNPACK_WINDOW)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: its %s; pipe it through %s", name,
                        u->packing == TY_XZ ? "xz dictionary is larger than 1 GiB"
                                            : "zstd window is larger than 128 MiB",
                        u->packing == TY_XZ ? "xz -dc" : "zstd -dc --long=31");
    return damaged(u, error, damage);
}

/* ---- Reading ---- */

static tally_status plain_read(ty_unpack *u, unsigned char *bytes, size_t size, size_t *got,
                               tally_error *error)
{
    *got = u->end - u->at < size ? u->end - u->at : size;
    if (*got)
        memcpy(bytes, u->stored + u->at, *got);
    u->at += *got;
    while (*got < size) {
        size_t have;
        tally_status status = ty_origin_read(u->origin, bytes + *got, size - *got, &have, error);
        if (status)
            return status;
        *got += have;
        if (!have || u->by_piece)
            break;
    }
    return TALLY_OK;
}

/* More stored bytes if none are left; none after it means the end. */
static tally_status refill(ty_unpack *u, tally_error *error)
{
    if (u->at < u->end)
        return TALLY_OK;
    u->at = u->end = 0;
    return ty_origin_read(u->origin, u->stored, STORED_BUFFER, &u->end, error);
}

tally_status ty_unpack_fill(ty_unpack *u, tally_error *error)
{
    for (size_t have = 1; have && u->end < u->room; u->end += have) {
        tally_status status =
            ty_origin_read(u->origin, u->stored + u->end, u->room - u->end, &have, error);
        if (status)
            return status;
    }
    return TALLY_OK;
}

/* Between members: another one, the end, or garbage. Zeros up to the end are let pass where the
 * codec says so, as tapes and gzip itself have them. *more is nonzero when a member begins. */
static tally_status next_member(ty_unpack *u, int *more, tally_error *error)
{
    int zeros = 0;
    *more = 0;
    for (;;) {
        tally_status status = refill(u, error);
        if (status || u->at == u->end)
            return status;
        if (!u->codec->padded)
            break;
        if (!u->stored[u->at]) {
            zeros = 1;
            u->at++;
            continue;
        }
        if (zeros || u->stored[u->at] != u->codec->padded)
            return followed(u, error);
        break;
    }
    *more = 1;
    u->between = 0;
    u->codec->reset(u->state);
    return TALLY_OK;
}

tally_status ty_unpack_read(ty_unpack *u, unsigned char *bytes, size_t size, size_t *got,
                            tally_error *error)
{
    *got = 0;
    if (!u->codec)
        return plain_read(u, bytes, size, got, error);
    while (*got < size) {
        int more = 1;
        tally_status status = u->between ? next_member(u, &more, error) : refill(u, error);
        if (status || !more)
            return status;
        ty_unpack_step step = {u->stored + u->at, u->end - u->at, bytes + *got, size - *got, ""};
        const int ended = !step.in_size;
        const ty_unpack_result result = u->codec->step(u->state, &step);
        const size_t wrote = size - *got - step.out_size;
        u->at = u->end - step.in_size;
        *got += wrote;
        if (result != TY_UNPACK_MORE && result != TY_UNPACK_END)
            return failed(u, result, step.damage, error);
        u->between = result == TY_UNPACK_END;
        if (ended && !u->between && !wrote)
            return cut_short(u, error);
        size_t stored, most;
        if (u->between && *got && u->by_piece && u->at < u->end &&
            u->codec->measure(u->stored + u->at, u->end - u->at, &stored, &most))
            break;
    }
    return TALLY_OK;
}

tally_status ty_unpack_jump(ty_unpack *u, uint64_t bytes, uint64_t *jumped, tally_error *error)
{
    const ty_origin *o = u->origin;
    const uint64_t held = u->end - u->at;
    *jumped = 0;
    if (u->codec || !o->seekable || !o->size)
        return TALLY_OK;
    const uint64_t left = held + (o->position < o->size ? o->size - o->position : 0);
    const uint64_t jump = bytes < left ? bytes : left;
    u->at += (size_t)(jump < held ? jump : held);
    *jumped = jump;
    return jump > held ? ty_origin_skip(u->origin, jump - held, error) : TALLY_OK;
}

void ty_unpack_rewind(ty_unpack *u)
{
    u->at = u->end = 0;
    u->between = 1;
}

/* ---- Opening ---- */

static tally_status find_packing(ty_unpack *u, tally_error *error)
{
    while (u->end < 10) {
        size_t have;
        tally_status status =
            ty_origin_read(u->origin, u->stored + u->end, u->room - u->end, &have, error);
        if (status)
            return status;
        if (!have)
            break;
        u->end += have;
    }
    const unsigned char *head = u->stored;
    if (u->end >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8)
        u->packing = TY_GZIP;
    if (u->end >= 4 && !memcmp(head, "\x28\xb5\x2f\xfd", 4))
        u->packing = TY_ZSTD;
    if (u->end >= 4 && (head[0] & 0xf0) == 0x50 && !memcmp(head + 1, "\x2a\x4d\x18", 3))
        u->packing = TY_ZSTD; /* a frame that decoders skip */
    if (u->end >= 6 && !memcmp(head,
                               "\xfd"
                               "7zXZ\0",
                               6))
        u->packing = TY_XZ;
    if (u->end >= 10 && !memcmp(head, "BZh", 3) && head[3] >= '1' && head[3] <= '9' &&
        (!memcmp(head + 4, "\x31\x41\x59\x26\x53\x59", 6) ||
         !memcmp(head + 4, "\x17\x72\x45\x38\x50\x90", 6))) /* of nothing */
        u->packing = TY_BZIP2;
    if (u->origin->is_wrapped)
        u->packing = TY_DEFLATE;
    return TALLY_OK;
}

tally_status ty_unpack_open(ty_unpack *u, ty_origin *origin, tally_error *error)
{
    u->origin = origin;
    u->packing = TY_PLAIN;
    u->codec = NULL;
    u->state = NULL;
    ty_unpack_rewind(u);
    u->room = STORED_BUFFER;
    u->stored = ty_malloc(u->room);
    if (!u->stored)
        return ty_error_memory(error, "an input's buffers", u->room);
    tally_status status = find_packing(u, error);
    if (status || u->packing == TY_PLAIN)
        return status;
    const ty_codec *const codecs[] = {NULL,        ty_codec_gzip,  ty_codec_zstd,
                                      ty_codec_xz, ty_codec_bzip2, ty_codec_gzip};
    static const char *const libraries[] = {"", "zlib", "libzstd", "liblzma", "libbz2", "zlib"};
    u->codec = codecs[u->packing];
    if (!u->codec)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: compressed with %s; this build has no %s support (%s was not there "
                        "at build time)",
                        origin->name, ty_packing_name(u->packing), ty_packing_name(u->packing),
                        libraries[u->packing]);
    u->state = u->codec->open();
    return u->state ? TALLY_OK : ty_error_memory(error, "undoing a compression", 128 * 1024);
}

void ty_unpack_close(ty_unpack *u)
{
    ty_free(u->stored);
    if (u->codec)
        u->codec->close(u->state);
}
