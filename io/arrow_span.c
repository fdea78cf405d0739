/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow's buffers, in the file or unpacked in memory. Compressed ones are unpacked once for all
 * threads that read a batch. */
#include <inttypes.h>
#include <string.h>

#if TALLY_HAVE_ZSTD
#include <zstd.h>
#endif
#if TALLY_HAVE_LZ4
#include <lz4frame.h>
#endif

#include "core/alloc.h"
#include "core/error.h"
#include "io/arrow_span.h"

tally_status ty_arrow_damaged(const ty_arrow_span *s, const char *what, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: column '%s': %s, in the buffer at byte %" PRIu64, s->index->in.name,
                    s->name, what, s->part->data.at);
}

/* ---- Unpacking ---- */

#if TALLY_HAVE_LZ4
static int unpack_lz4(const unsigned char *from, size_t packed, unsigned char *into, size_t size)
{
    LZ4F_dctx *state;
    size_t at = 0, done = 0, left = 1;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&state, LZ4F_VERSION)))
        return 1;
    while (left && !LZ4F_isError(left)) {
        size_t take = packed - at, give = size - done;
        left = LZ4F_decompress(state, into + done, &give, from + at, &take, NULL);
        at += take;
        done += give;
        if (!take && !give)
            break;
    }
    LZ4F_freeDecompressionContext(state);
    return left || done != size;
}
#endif

/* Nonzero when damaged. */
static int unpack(ty_arrow_codec codec, const unsigned char *from, size_t packed,
                  unsigned char *into, size_t size)
{
#if TALLY_HAVE_ZSTD
    if (codec == TY_ARROW_ZSTD)
        return ZSTD_decompress(into, size, from, packed) != size;
#endif
#if TALLY_HAVE_LZ4
    if (codec == TY_ARROW_LZ4)
        return unpack_lz4(from, packed, into, size);
#endif
    (void)from;
    (void)packed;
    (void)into;
    return codec != TY_ARROW_NONE || size;
}

/* A buffer begins with the number of bytes that it unpacks to, or -1: it is not packed. */
static tally_status unpack_buffer(const ty_arrow_span *s, const ty_arrow_buffer *buffer,
                                  unsigned char **bytes, uint64_t *size, tally_error *error)
{
    const ty_seekable *in = &s->index->in;
    if (buffer->size < 8)
        return buffer->size ? ty_arrow_damaged(s, "a packed buffer is cut", error) : TALLY_OK;
    if (buffer->size > SIZE_MAX)
        return ty_error_memory(error, "a packed Arrow buffer", buffer->size);
    unsigned char *stored = ty_malloc((size_t)buffer->size);
    if (!stored)
        return ty_error_memory(error, "a packed Arrow buffer", buffer->size);
    tally_status status = ty_file_read_at(in->name, in->file, in->start + buffer->at, stored,
                                          (size_t)buffer->size, error);
    const uint64_t packed = buffer->size - 8;
    uint64_t all = 0;
    if (!status)
        memcpy(&all, stored, sizeof all);
    const int is_packed = all != UINT64_MAX;
    all = is_packed ? all : packed;
    if (!status && all / TY_ARROW_RATIO > packed + 1)
        status = ty_arrow_damaged(s, "more values than its packed bytes can hold", error);
    if (!status && !(*bytes = ty_malloc(all ? (size_t)all : 1)))
        status = ty_error_memory(error, "an Arrow buffer", all);
    if (!status && !is_packed)
        memcpy(*bytes, stored + 8, (size_t)all);
    else if (!status && all &&
             unpack(s->part->codec, stored + 8, (size_t)packed, *bytes, (size_t)all))
        status = ty_arrow_damaged(s, "its packed bytes are damaged", error);
    *size = all;
    ty_free(stored);
    return status;
}

tally_status ty_arrow_block_make(const ty_arrow_span *s, ty_arrow_block *block, tally_error *error)
{
    const size_t levels = s->part->missing ? s->levels : 0, behind = 1 + (size_t)s->levels;
    const size_t count = behind + s->part->texts;
    block->buffers = ty_calloc(count, sizeof *block->buffers);
    block->sizes = ty_calloc(count, sizeof *block->sizes);
    if (!block->buffers || !block->sizes)
        return ty_error_memory(error, "an Arrow batch", count * sizeof *block->buffers);
    block->count = count;
    const ty_arrow_buffer *valid = s->index->valid;
    tally_status status = unpack_buffer(s, &s->part->data, block->buffers, block->sizes, error);
    for (size_t l = 0; l < levels && !status; l++)
        status = unpack_buffer(s, valid + s->part->valid + l, block->buffers + 1 + l,
                               block->sizes + 1 + l, error);
    for (size_t t = 0; t < s->part->texts && !status; t++)
        status = unpack_buffer(s, valid + s->part->text + t, block->buffers + behind + t,
                               block->sizes + behind + t, error);
    return status;
}

void ty_arrow_block_clear(ty_arrow_block *block)
{
    for (size_t i = 0; i < block->count; i++)
        ty_free(block->buffers[i]);
    ty_free(block->buffers);
    ty_free(block->sizes);
    block->buffers = NULL;
    block->sizes = NULL;
    block->count = 0;
}

static const ty_arrow_buffer *buffer_of(const ty_arrow_span *s, size_t which)
{
    const ty_arrow_part *part = s->part;
    if (!which)
        return &part->data;
    return s->index->valid +
           (which <= s->levels ? part->valid + which - 1 : part->text + which - 1 - s->levels);
}

uint64_t ty_arrow_size(const ty_arrow_span *s, size_t which)
{
    return s->block ? s->block->sizes[which] : buffer_of(s, which)->size;
}

tally_status ty_arrow_look(const ty_arrow_span *s, size_t which, uint64_t at, size_t size,
                           unsigned char *scratch, const unsigned char **bytes, tally_error *error)
{
    const uint64_t there = ty_arrow_size(s, which);
    if (at > there || size > there - at)
        return ty_arrow_damaged(s, "its values are cut", error);
    *bytes = scratch;
    if (s->block) {
        *bytes = s->block->buffers[which] + at;
        return TALLY_OK;
    }
    const ty_seekable *in = &s->index->in;
    return ty_file_read_at(in->name, in->file, in->start + buffer_of(s, which)->at + at, scratch,
                           size, error);
}
