/* Stored bytes in order, from a file or a pipe, with gzip and zstd undone. Plain read(2) and no
 * mapping: a file cut short while it is mapped would raise SIGBUS. */
#define _FILE_OFFSET_BITS 64

#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if TALLY_HAVE_ZLIB
#include <zlib.h>
#endif
#if TALLY_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include "core/alloc.h"
#include "core/error.h"
#include "io/spool.h"
#include "io/temp_file.h"

enum {
    TY_STORED_BUFFER = 256 * 1024,
    TY_AHEAD_BUFFER = 64 * 1024,
    TY_PART_BYTES = 256 * 1024, /* read by one of several threads */
    TY_READ_MOST = 1 << 26
};

typedef enum ty_packing { TY_PLAIN, TY_GZIP, TY_ZSTD } ty_packing;

struct ty_stream {
    char *name;
    int file;
    int owned; /* close `file` at the end */
    int seekable;
    int keep;
    ty_pool *pool;
    int ended;     /* the source gave its last byte */
    off_t start;   /* where in the file the stream begins */
    uint64_t size; /* stored bytes when it was opened, 0 unknown; what is added later is not read */
    ty_spool spool;
    uint64_t position; /* stored bytes taken from the source */
    uint64_t offset;   /* decoded bytes handed out */
    ty_packing packing;
    int between; /* compressed: no member or frame is open */
    size_t stored_at, stored_end;
    size_t ahead_at, ahead_end;
#if TALLY_HAVE_ZLIB
    z_stream inflater;
    int has_inflater;
#endif
#if TALLY_HAVE_ZSTD
    ZSTD_DCtx *unzstd;
#endif
    unsigned char stored[TY_STORED_BUFFER]; /* compressed bytes, or those looked at to find out */
    unsigned char ahead[TY_AHEAD_BUFFER];   /* decoded bytes not handed out yet */
};

static tally_status failure(const ty_stream *s, tally_error *error, const char *what, int code)
{
    char text[128];
    return ty_error(error, TALLY_ERROR_IO, "%s: %s at byte %" PRIu64 ": %s", s->name, what,
                    s->position, ty_errno_text(code, text));
}

/* ---- The source: stored bytes -------------------------------------------------------------- */

/* read(2) until it gives something: interruptions and sources that do not block are waited out. */
static ssize_t read_some(ty_stream *s, void *bytes, size_t size)
{
    for (;;) {
        ssize_t got = s->position < s->spool.size
                          ? ty_spool_read(&s->spool, bytes, size, s->position)
                          : read(s->file, bytes, size);
        if (got >= 0)
            return got;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd wait = {s->file, POLLIN, 0};
            poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return -1;
        }
    }
}

static tally_status was_cut(const ty_stream *s, uint64_t end, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_IO,
                    "%s: was cut while it was read: it ends after %" PRIu64
                    " bytes and had %" PRIu64 " when it was opened; count it again",
                    s->name, end, s->size);
}

/* read(2) gave nothing: that is the end, unless the file was longer when it was opened. */
static tally_status source_end(ty_stream *s, tally_error *error)
{
    struct stat now;
    s->ended = 1;
    if (s->position >= s->size)
        return TALLY_OK;
    if (fstat(s->file, &now) != 0)
        return failure(s, error, "looking for its end failed", errno);
    /* In /sys files tell a size that they never had; nothing is stored behind it. */
    if (now.st_blocks == 0 && now.st_size - s->start == (off_t)s->size)
        return TALLY_OK;
    return was_cut(s, s->position, error);
}

typedef struct together {
    const ty_stream *stream;
    unsigned char *bytes;
    size_t size;
    atomic_int failed;
} together;

static void read_part(void *arg, unsigned part, unsigned worker)
{
    together *all = arg;
    size_t at = (size_t)part * TY_PART_BYTES, end = at + TY_PART_BYTES;
    (void)worker;
    if (end > all->size)
        end = all->size;
    while (at < end && !all->failed) {
        off_t place = all->stream->start + (off_t)(all->stream->position + at);
        ssize_t got = pread(all->stream->file, all->bytes + at, end - at, place);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            all->failed = 1;
        at += got > 0 ? (size_t)got : 0;
    }
}

/* Reads the next `size` bytes by all threads. 0, and nothing has been taken: this source cannot, or
 * reading failed, which reading in order will say. */
static int read_together(ty_stream *s, unsigned char *bytes, size_t size)
{
    together all = {s, bytes, size, 0};
    if (!s->pool || !s->seekable || size < 2 * TY_PART_BYTES || s->size < s->position + size)
        return 0;
    ty_pool_run(s->pool, 0, (unsigned)((size + TY_PART_BYTES - 1) / TY_PART_BYTES), read_part,
                &all);
    return !all.failed && lseek(s->file, (off_t)size, SEEK_CUR) >= 0;
}

/* One piece of the stored bytes; *got is 0 at the end. */
static tally_status source_read(ty_stream *s, unsigned char *bytes, size_t size, size_t *got,
                                tally_error *error)
{
    *got = 0;
    int from_spool = s->position < s->spool.size;
    if (from_spool && size > s->spool.size - s->position)
        size = (size_t)(s->spool.size - s->position);
    if (s->size && size > s->size - s->position)
        size = (size_t)(s->size - s->position);
    if (!size || (s->ended && !from_spool))
        return TALLY_OK;
    if (size > TY_READ_MOST)
        size = TY_READ_MOST;
    ssize_t have = read_together(s, bytes, size) ? (ssize_t)size : read_some(s, bytes, size);
    if (have < 0)
        return failure(s, error, "reading failed", errno);
    if (have == 0) {
        if (from_spool)
            return ty_error(error, TALLY_ERROR_IO, "%s: its temporary copy was cut short", s->name);
        return source_end(s, error);
    }
    if (!from_spool && s->keep && !s->seekable) {
        tally_status status = ty_spool_append(&s->spool, s->name, bytes, (size_t)have, error);
        if (status)
            return status;
    }
    s->position += (uint64_t)have;
    *got = (size_t)have;
    return TALLY_OK;
}

static tally_status plain_read(ty_stream *s, unsigned char *bytes, size_t size, size_t *got,
                               tally_error *error)
{
    *got = s->stored_end - s->stored_at < size ? s->stored_end - s->stored_at : size;
    if (*got)
        memcpy(bytes, s->stored + s->stored_at, *got);
    s->stored_at += *got;
    while (*got < size) {
        size_t have;
        tally_status status = source_read(s, bytes + *got, size - *got, &have, error);
        if (status)
            return status;
        if (!have)
            break;
        *got += have;
    }
    return TALLY_OK;
}

/* ---- Compression --------------------------------------------------------------------------- */

#if TALLY_HAVE_ZLIB || TALLY_HAVE_ZSTD

/* More stored bytes if none are left; none after it means the end. */
static tally_status refill(ty_stream *s, tally_error *error)
{
    if (s->stored_at < s->stored_end)
        return TALLY_OK;
    s->stored_at = s->stored_end = 0;
    return source_read(s, s->stored, sizeof s->stored, &s->stored_end, error);
}

static tally_status damaged(const ty_stream *s, tally_error *error, const char *what)
{
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: %s data are damaged near stored byte %" PRIu64 ": %s", s->name,
                    ty_stream_compression(s), ty_stream_stored(s), what);
}

static tally_status cut_short(const ty_stream *s, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: %s data end at stored byte %" PRIu64 " before they are complete", s->name,
                    ty_stream_compression(s), ty_stream_stored(s));
}

#endif

#if TALLY_HAVE_ZLIB

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

static tally_status gzip_start(ty_stream *s, tally_error *error)
{
    s->inflater.zalloc = inflater_alloc;
    s->inflater.zfree = inflater_free;
    s->has_inflater = inflateInit2(&s->inflater, 15 + 16) == Z_OK;
    return s->has_inflater ? TALLY_OK : ty_error_memory(error, "undoing gzip", 48 * 1024);
}

/* Between members: another one, zeros up to the end (as tapes and gzip itself have it), or garbage.
 * *more is nonzero when a member begins. */
static tally_status gzip_next_member(ty_stream *s, int *more, tally_error *error)
{
    *more = 0;
    int zeros = 0;
    for (;;) {
        tally_status status = refill(s, error);
        if (status)
            return status;
        if (s->stored_at == s->stored_end)
            return TALLY_OK;
        unsigned char byte = s->stored[s->stored_at];
        if (byte == 0) {
            zeros = 1;
            s->stored_at++;
            continue;
        }
        if (zeros || byte != 0x1f)
            return damaged(s, error, "something that is not gzip follows the compressed data");
        *more = 1;
        s->between = 0;
        inflateReset(&s->inflater);
        return TALLY_OK;
    }
}

static tally_status gzip_read(ty_stream *s, unsigned char *bytes, size_t size, size_t *got,
                              tally_error *error)
{
    z_stream *z = &s->inflater;
    *got = 0;
    while (*got < size) {
        int more = 1;
        tally_status status = s->between ? gzip_next_member(s, &more, error) : refill(s, error);
        if (status || !more)
            return status;
        if (s->stored_at == s->stored_end)
            return cut_short(s, error);
        size_t room = size - *got < TY_READ_MOST ? size - *got : TY_READ_MOST;
        z->next_in = s->stored + s->stored_at;
        z->avail_in = (uInt)(s->stored_end - s->stored_at);
        z->next_out = bytes + *got;
        z->avail_out = (uInt)room;
        int code = inflate(z, Z_NO_FLUSH);
        s->stored_at = s->stored_end - z->avail_in;
        *got += room - z->avail_out;
        if (code == Z_MEM_ERROR)
            return ty_error_memory(error, "undoing gzip", 32 * 1024);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return damaged(s, error, z->msg ? z->msg : "it cannot be inflated");
        s->between = code == Z_STREAM_END;
    }
    return TALLY_OK;
}

#endif

#if TALLY_HAVE_ZSTD

static tally_status zstd_start(ty_stream *s, tally_error *error)
{
    s->unzstd = ZSTD_createDCtx();
    return s->unzstd ? TALLY_OK : ty_error_memory(error, "undoing zstd", 128 * 1024);
}

static tally_status zstd_failure(const ty_stream *s, size_t code, tally_error *error)
{
    ZSTD_ErrorCode kind = ZSTD_getErrorCode(code);
    if (kind == ZSTD_error_memory_allocation)
        return ty_error(error, TALLY_ERROR_MEMORY, "%s: out of memory while undoing zstd", s->name);
    if (kind == ZSTD_error_frameParameter_windowTooLarge)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "%s: its zstd window is larger than 128 MiB; pipe it through zstd -dc --long=31",
            s->name);
    return damaged(s, error, ZSTD_getErrorName(code));
}

static tally_status zstd_read(ty_stream *s, unsigned char *bytes, size_t size, size_t *got,
                              tally_error *error)
{
    ZSTD_outBuffer out = {bytes, size, 0};
    *got = 0;
    while (out.pos < size) {
        tally_status status = refill(s, error);
        if (status)
            return status;
        int end = s->stored_at == s->stored_end;
        if (end && s->between)
            break;
        ZSTD_inBuffer in = {s->stored, s->stored_end, s->stored_at};
        size_t before = out.pos;
        size_t code = ZSTD_decompressStream(s->unzstd, &out, &in);
        s->stored_at = in.pos;
        if (ZSTD_isError(code))
            return zstd_failure(s, code, error);
        s->between = code == 0;
        if (end && !s->between && out.pos == before)
            return cut_short(s, error);
    }
    *got = out.pos;
    return TALLY_OK;
}

#endif

static tally_status packing_start(ty_stream *s, tally_error *error)
{
    s->between = 1;
    if (s->packing == TY_PLAIN)
        return TALLY_OK;
    if (s->packing == TY_GZIP) {
#if TALLY_HAVE_ZLIB
        return gzip_start(s, error);
#else
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "%s: compressed with gzip; this build has no gzip support (zlib was not there "
            "at build time)",
            s->name);
#endif
    }
#if TALLY_HAVE_ZSTD
    return zstd_start(s, error);
#else
    return ty_error(
        error, TALLY_ERROR_UNSUPPORTED,
        "%s: compressed with zstd; this build has no zstd support (libzstd was not there "
        "at build time)",
        s->name);
#endif
}

/* Decoded bytes, as many as asked unless the end comes first. */
static tally_status produce(ty_stream *s, unsigned char *bytes, size_t size, size_t *got,
                            tally_error *error)
{
#if TALLY_HAVE_ZLIB
    if (s->packing == TY_GZIP)
        return gzip_read(s, bytes, size, got, error);
#endif
#if TALLY_HAVE_ZSTD
    if (s->packing == TY_ZSTD)
        return zstd_read(s, bytes, size, got, error);
#endif
    return plain_read(s, bytes, size, got, error);
}

/* ---- Opening ------------------------------------------------------------------------------- */

static tally_status find_packing(ty_stream *s, tally_error *error)
{
    while (s->stored_end < 4) {
        size_t have;
        tally_status status = source_read(s, s->stored + s->stored_end,
                                          sizeof s->stored - s->stored_end, &have, error);
        if (status)
            return status;
        if (!have)
            break;
        s->stored_end += have;
    }
    const unsigned char *head = s->stored;
    if (s->stored_end >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8)
        s->packing = TY_GZIP;
    if (s->stored_end >= 4 && !memcmp(head, "\x28\xb5\x2f\xfd", 4))
        s->packing = TY_ZSTD;
    if (s->stored_end >= 4 && (head[0] & 0xf0) == 0x50 && !memcmp(head + 1, "\x2a\x4d\x18", 3))
        s->packing = TY_ZSTD; /* a frame that decoders skip */
    return TALLY_OK;
}

static tally_status open_source(ty_stream *s, const char *path, tally_error *error)
{
    char text[128];
    int standard = !strcmp(path, "-");
    s->owned = !standard;
    s->file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat about;
    if (s->file < 0 || fstat(s->file, &about) != 0)
        return ty_error(error, TALLY_ERROR_IO, "%s: cannot be opened: %s", s->name,
                        ty_errno_text(errno, text));
    if (S_ISDIR(about.st_mode))
        return ty_error(error, TALLY_ERROR_IO, "%s: is a directory; name a file", s->name);
    /* Some character devices claim to seek and do not. */
    s->start = S_ISREG(about.st_mode) || S_ISBLK(about.st_mode) ? lseek(s->file, 0, SEEK_CUR) : -1;
    s->seekable = s->start >= 0;
    if (S_ISREG(about.st_mode) && s->seekable && about.st_size > s->start)
        s->size = (uint64_t)(about.st_size - s->start);
#if defined(POSIX_FADV_SEQUENTIAL)
    if (s->seekable)
        posix_fadvise(s->file, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
    return TALLY_OK;
}

tally_status ty_stream_open(const char *path, int keep, ty_stream **stream, tally_error *error)
{
    const char *name = strcmp(path, "-") ? path : "standard input";
    ty_stream *s = ty_calloc(1, sizeof *s);
    char *copy = ty_malloc(strlen(name) + 1);
    if (!s || !copy) {
        ty_free(s);
        ty_free(copy);
        return ty_error_memory(error, "an input's buffers", sizeof *s);
    }
    memcpy(copy, name, strlen(name) + 1);
    s->name = copy;
    s->file = -1;
    s->spool = (ty_spool)TY_SPOOL_INIT;
    s->keep = keep;
    tally_status status = open_source(s, path, error);
    if (!status)
        status = find_packing(s, error);
    if (!status)
        status = packing_start(s, error);
    if (status)
        ty_stream_close(s);
    else
        *stream = s;
    return status;
}

void ty_stream_forget(ty_stream *stream)
{
    ty_spool_clear(&stream->spool);
    stream->keep = 0;
}

void ty_stream_close(ty_stream *stream)
{
    if (!stream)
        return;
#if TALLY_HAVE_ZLIB
    if (stream->has_inflater)
        inflateEnd(&stream->inflater);
#endif
#if TALLY_HAVE_ZSTD
    ZSTD_freeDCtx(stream->unzstd);
#endif
    if (stream->owned && stream->file >= 0)
        close(stream->file);
    ty_stream_forget(stream);
    ty_free(stream->name);
    ty_free(stream);
}

/* ---- Reading ------------------------------------------------------------------------------- */

tally_status ty_stream_read(ty_stream *s, void *bytes, size_t size, size_t *got, tally_error *error)
{
    unsigned char *to = bytes;
    size_t done = 0;
    *got = 0;
    while (done < size) {
        size_t have = s->ahead_end - s->ahead_at;
        if (have) {
            size_t take = have < size - done ? have : size - done;
            memcpy(to + done, s->ahead + s->ahead_at, take);
            s->ahead_at += take;
            done += take;
            continue;
        }
        /* Large wishes go straight to their place, small ones through the buffer. */
        int direct = size - done >= sizeof s->ahead;
        tally_status status = direct ? produce(s, to + done, size - done, &have, error)
                                     : produce(s, s->ahead, sizeof s->ahead, &have, error);
        if (status)
            return status;
        if (!have)
            break;
        if (direct) {
            done += have;
        } else {
            s->ahead_at = 0;
            s->ahead_end = have;
        }
    }
    s->offset += done;
    *got = done;
    return TALLY_OK;
}

tally_status ty_stream_peek(ty_stream *s, const unsigned char **bytes, size_t size, size_t *got,
                            tally_error *error)
{
    if (size > sizeof s->ahead)
        size = sizeof s->ahead;
    size_t have = s->ahead_end - s->ahead_at;
    if (have < size) {
        memmove(s->ahead, s->ahead + s->ahead_at, have);
        s->ahead_at = 0;
        s->ahead_end = have;
        size_t more;
        tally_status status = produce(s, s->ahead + have, size - have, &more, error);
        if (status)
            return status;
        s->ahead_end = have += more;
    }
    *bytes = s->ahead + s->ahead_at;
    *got = have < size ? have : size;
    return TALLY_OK;
}

tally_status ty_stream_skip(ty_stream *s, uint64_t bytes, uint64_t *skipped, tally_error *error)
{
    uint64_t done = s->ahead_end - s->ahead_at < bytes ? s->ahead_end - s->ahead_at : bytes;
    s->ahead_at += (size_t)done;
    *skipped = 0;
    if (s->packing == TY_PLAIN && s->seekable && s->size && done < bytes) {
        uint64_t held = s->stored_end - s->stored_at;
        uint64_t left = held + (s->position < s->size ? s->size - s->position : 0);
        uint64_t jump = bytes - done < left ? bytes - done : left;
        if (jump > held) {
            if (lseek(s->file, (off_t)(jump - held), SEEK_CUR) < 0)
                return failure(s, error, "seeking failed", errno);
            s->position += jump - held;
        }
        s->stored_at += (size_t)(jump < held ? jump : held);
        done += jump;
    }
    while (done < bytes && s->ahead_at == s->ahead_end) {
        size_t have;
        tally_status status = produce(s, s->ahead, sizeof s->ahead, &have, error);
        if (status)
            return status;
        if (!have)
            break;
        s->ahead_end = have;
        s->ahead_at = bytes - done < have ? (size_t)(bytes - done) : have;
        done += s->ahead_at;
    }
    s->offset += done;
    *skipped = done;
    return TALLY_OK;
}

tally_status ty_stream_rewind(ty_stream *s, tally_error *error)
{
    if (s->seekable) {
        if (lseek(s->file, s->start, SEEK_SET) < 0)
            return failure(s, error, "seeking to the start failed", errno);
        s->ended = 0;
    } else if (!s->keep && s->position) {
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: cannot be read a second time, as it is no regular file and was opened "
                        "without `rewindable`",
                        s->name);
    }
    s->position = s->offset = 0;
    s->stored_at = s->stored_end = s->ahead_at = s->ahead_end = 0;
    s->between = 1;
#if TALLY_HAVE_ZSTD
    if (s->unzstd)
        ZSTD_DCtx_reset(s->unzstd, ZSTD_reset_session_only);
#endif
    return TALLY_OK;
}

const char *ty_stream_name(const ty_stream *stream)
{
    return stream->name;
}

const char *ty_stream_compression(const ty_stream *stream)
{
    return stream->packing == TY_GZIP ? "gzip" : stream->packing == TY_ZSTD ? "zstd" : "";
}

uint64_t ty_stream_offset(const ty_stream *stream)
{
    return stream->offset;
}

uint64_t ty_stream_stored(const ty_stream *stream)
{
    if (stream->packing == TY_PLAIN)
        return stream->offset;
    return stream->position - (stream->stored_end - stream->stored_at);
}

uint64_t ty_stream_size(const ty_stream *stream)
{
    return stream->size;
}

int ty_stream_grew(const ty_stream *stream)
{
    struct stat now;
    return stream->size && fstat(stream->file, &now) == 0 &&
           now.st_size - stream->start > (off_t)stream->size;
}

void ty_stream_pool_set(ty_stream *stream, ty_pool *pool)
{
    stream->pool = pool;
}

ty_pool *ty_stream_pool(const ty_stream *stream)
{
    return stream->pool;
}

int ty_stream_is_spooled(const ty_stream *stream)
{
    return stream->spool.file >= 0;
}

int ty_stream_file(const ty_stream *stream, uint64_t *start)
{
    if (!stream->seekable || stream->packing != TY_PLAIN)
        return -1;
    *start = (uint64_t)stream->start;
    return stream->file;
}

tally_status ty_stream_read_at(const ty_stream *s, uint64_t offset, void *bytes, size_t size,
                               tally_error *error)
{
    unsigned char *to = bytes;
    uint64_t at = offset;
    char text[128];
    while (size) {
        ssize_t got =
            pread(s->file, to, size < TY_READ_MOST ? size : TY_READ_MOST, s->start + (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ty_error(error, TALLY_ERROR_IO, "%s: reading failed at byte %" PRIu64 ": %s",
                            s->name, at, ty_errno_text(errno, text));
        if (got == 0) {
            struct stat now;
            const int known = fstat(s->file, &now) == 0 && now.st_size >= s->start;
            return was_cut(s, known ? (uint64_t)(now.st_size - s->start) : at, error);
        }
        to += got;
        at += (uint64_t)got;
        size -= (size_t)got;
    }
    return TALLY_OK;
}
