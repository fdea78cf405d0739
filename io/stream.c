/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in order, from a file, a part of one, or a pipe (origin.c), compression undone
 * (unpack.c). */
#define _FILE_OFFSET_BITS 64

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/unpack.h"

enum {
    TY_PEEK_BUFFER = 64 * 1024,
    TY_AHEAD_FROM = 256 * 1024 /* bytes handed out: a small input is not worth a thread */
};

struct ty_stream {
    ty_origin origin;
    uint64_t offset; /* bytes handed out */
    size_t peek_at, peek_end;
    unsigned char peeked[TY_PEEK_BUFFER]; /* not handed out yet */
    ty_unpack unpack;
    int may_run_ahead;
    ty_ahead *ahead; /* NULL: whoever reads also unpacks */
    int copy;        /* a file with all of it; -1: none */
    uint64_t copied; /* its bytes */
};

/* ---- Opening ------------------------------------------------------------------------------- */

/* Of a path, or of a part of a file if `member` is not NULL. */
static tally_status open_stream(const char *path, int keep, const ty_member *member,
                                ty_stream **stream, tally_error *error)
{
    ty_stream *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "an input's buffers", sizeof *s);
    s->copy = -1;
    tally_status status = member ? ty_origin_open_member(&s->origin, member, error)
                                 : ty_origin_open(&s->origin, path, keep, error);
    if (!status)
        status = ty_unpack_open(&s->unpack, &s->origin, error);
    if (status)
        ty_stream_close(s);
    else
        *stream = s;
    return status;
}

tally_status ty_stream_open(const char *path, int keep, ty_stream **stream, tally_error *error)
{
    return open_stream(path, keep, NULL, stream, error);
}

tally_status ty_stream_open_member(const ty_member *member, ty_stream **stream, tally_error *error)
{
    return open_stream(NULL, 0, member, stream, error);
}

void ty_stream_forget(ty_stream *stream)
{
    ty_spool_clear(&stream->origin.spool);
    stream->origin.keep = 0;
}

void ty_stream_close(ty_stream *stream)
{
    if (!stream)
        return;
    ty_ahead_stop(stream->ahead);
    ty_unpack_close(&stream->unpack);
    ty_origin_close(&stream->origin);
    if (stream->copy >= 0)
        close(stream->copy);
    ty_free(stream);
}

/* ---- Reading ------------------------------------------------------------------------------- */

/* As many bytes as asked unless the end comes first. */
static tally_status produce(ty_stream *s, unsigned char *bytes, size_t size, size_t *got,
                            tally_error *error)
{
    ty_pool *pool = s->origin.pool;
    if (s->may_run_ahead && !s->ahead && s->offset >= TY_AHEAD_FROM && pool &&
        ty_pool_threads(pool) > 1 && (s->unpack.codec || !s->origin.seekable)) {
        s->ahead = ty_ahead_start(&s->unpack, pool);
        s->may_run_ahead = s->ahead != NULL;
    }
    return s->ahead ? ty_ahead_read(s->ahead, bytes, size, got, error)
                    : ty_unpack_read(&s->unpack, bytes, size, got, error);
}

tally_status ty_stream_read(ty_stream *s, void *bytes, size_t size, size_t *got, tally_error *error)
{
    unsigned char *to = bytes;
    size_t done = 0;
    *got = 0;
    while (done < size) {
        size_t have = s->peek_end - s->peek_at;
        if (have) {
            size_t take = have < size - done ? have : size - done;
            memcpy(to + done, s->peeked + s->peek_at, take);
            s->peek_at += take;
            done += take;
            continue;
        }
        /* Large wishes go straight to their place, small ones through the buffer. */
        int direct = size - done >= sizeof s->peeked;
        tally_status status = direct ? produce(s, to + done, size - done, &have, error)
                                     : produce(s, s->peeked, sizeof s->peeked, &have, error);
        if (status)
            return status;
        if (!have)
            break;
        if (direct) {
            done += have;
        } else {
            s->peek_at = 0;
            s->peek_end = have;
        }
    }
    s->offset += done;
    *got = done;
    return TALLY_OK;
}

tally_status ty_stream_peek(ty_stream *s, const unsigned char **bytes, size_t size, size_t *got,
                            tally_error *error)
{
    if (size > sizeof s->peeked)
        size = sizeof s->peeked;
    size_t have = s->peek_end - s->peek_at;
    if (have < size) {
        memmove(s->peeked, s->peeked + s->peek_at, have);
        s->peek_at = 0;
        s->peek_end = have;
        size_t more;
        tally_status status = produce(s, s->peeked + have, size - have, &more, error);
        if (status)
            return status;
        s->peek_end = have += more;
    }
    *bytes = s->peeked + s->peek_at;
    *got = have < size ? have : size;
    return TALLY_OK;
}

tally_status ty_stream_skip(ty_stream *s, uint64_t bytes, uint64_t *skipped, tally_error *error)
{
    uint64_t done = s->peek_end - s->peek_at < bytes ? s->peek_end - s->peek_at : bytes;
    s->peek_at += (size_t)done;
    *skipped = 0;
    if (done < bytes) {
        uint64_t jumped;
        tally_status status = ty_unpack_jump(&s->unpack, bytes - done, &jumped, error);
        if (status)
            return status;
        done += jumped;
    }
    while (done < bytes && s->peek_at == s->peek_end) {
        size_t have;
        tally_status status = produce(s, s->peeked, sizeof s->peeked, &have, error);
        if (status)
            return status;
        if (!have)
            break;
        s->peek_end = have;
        s->peek_at = bytes - done < have ? (size_t)(bytes - done) : have;
        done += s->peek_at;
    }
    s->offset += done;
    *skipped = done;
    return TALLY_OK;
}

tally_status ty_stream_rewind(ty_stream *s, tally_error *error)
{
    ty_ahead_stop(s->ahead);
    s->ahead = NULL;
    tally_status status = ty_origin_rewind(&s->origin, error);
    if (status)
        return status;
    ty_unpack_rewind(&s->unpack);
    s->offset = 0;
    s->peek_at = s->peek_end = 0;
    return TALLY_OK;
}

/* ---- What it is ---------------------------------------------------------------------------- */

const char *ty_stream_name(const ty_stream *stream)
{
    return stream->origin.name;
}

const char *ty_stream_compression(const ty_stream *stream)
{
    return ty_packing_name(stream->unpack.packing);
}

uint64_t ty_stream_offset(const ty_stream *stream)
{
    return stream->offset;
}

uint64_t ty_stream_stored(const ty_stream *stream)
{
    if (!stream->unpack.codec)
        return stream->offset;
    return stream->ahead ? ty_ahead_stored(stream->ahead) : ty_unpack_stored(&stream->unpack);
}

uint64_t ty_stream_size(const ty_stream *stream)
{
    return stream->origin.size;
}

int ty_stream_grew(const ty_stream *stream)
{
    const ty_origin *o = &stream->origin;
    struct stat now;
    return o->size && !o->is_member && fstat(o->file, &now) == 0 &&
           now.st_size - o->start > (off_t)o->size;
}

void ty_stream_pool_set(ty_stream *stream, ty_pool *pool)
{
    stream->origin.pool = pool;
}

void ty_stream_run_ahead(ty_stream *stream)
{
    stream->may_run_ahead = 1;
}

ty_pool *ty_stream_pool(const ty_stream *stream)
{
    return stream->origin.pool;
}

int ty_stream_is_spooled(const ty_stream *stream)
{
    return stream->ahead ? ty_ahead_is_spooled(stream->ahead) : stream->origin.spool.file >= 0;
}

int ty_stream_copy(const ty_stream *stream, uint64_t *size)
{
    *size = stream->copied;
    return stream->copy;
}

void ty_stream_copy_set(ty_stream *stream, int file, uint64_t size)
{
    stream->copy = file;
    stream->copied = size;
}

int ty_stream_file(const ty_stream *stream, uint64_t *start)
{
    if (!stream->origin.seekable || stream->unpack.codec)
        return -1;
    *start = (uint64_t)stream->origin.start;
    return stream->origin.file;
}

tally_status ty_stream_read_at(const ty_stream *stream, uint64_t offset, void *bytes, size_t size,
                               tally_error *error)
{
    return ty_origin_read_at(&stream->origin, offset, bytes, size, error);
}

int ty_stream_is_alone(const ty_stream *stream)
{
    return stream->origin.owned;
}

void ty_stream_map(ty_stream *stream)
{
    ty_origin *o = &stream->origin;
    const int whole = o->owned && !o->start;
    if (!o->mapping && (whole || o->is_alone) && o->seekable && !stream->unpack.codec)
        o->mapping = ty_mapping_make(o->file, (uint64_t)o->start + o->size);
}

const void *ty_stream_lend(const ty_stream *stream, uint64_t offset, size_t size)
{
    return ty_origin_lend(&stream->origin, offset, size);
}

tally_status ty_stream_check(const ty_stream *stream, tally_error *error)
{
    return ty_origin_check(&stream->origin, error);
}

void ty_stream_give_back(const ty_stream *stream, const void *bytes, size_t size)
{
    ty_mapping_return(stream->origin.mapping, bytes, size);
}

size_t tally_input_file_length(const char *path)
{
    struct stat about;
    const size_t all = path ? strlen(path) : 0;
    if (!all || !strchr(path, ':') || stat(path, &about) == 0)
        return all;
    char *file = ty_malloc(all + 1);
    size_t length = all;
    if (file) {
        memcpy(file, path, all + 1);
        for (char *at = file; length == all && (at = strchr(at, ':')); *at++ = ':') {
            *at = '\0';
            if (stat(file, &about) == 0 && S_ISREG(about.st_mode) && at[1])
                length = (size_t)(at - file);
        }
    }
    ty_free(file);
    return length;
}
