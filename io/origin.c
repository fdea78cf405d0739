/* SPDX-License-Identifier: Apache-2.0 */
/* Stored bytes, from a file or a pipe. */
#define _FILE_OFFSET_BITS 64

#include "io/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/temp_file.h"

enum {
    TY_PART_BYTES = 256 * 1024, /* read by one of several threads */
    TY_READ_MOST = 1 << 26
};

static tally_status failure(const ty_origin *o, tally_error *error, const char *what, int code)
{
    char text[128];
    return ty_error(error, TALLY_ERROR_IO, "%s: %s at byte %" PRIu64 ": %s", o->name, what,
                    o->position, ty_errno_text(code, text));
}

/* Until the file has something to read. Nonzero: waiting was ended from outside. */
static int await(const ty_origin *o)
{
    struct pollfd wait[2] = {{o->file, POLLIN, 0}, {o->wake, POLLIN, 0}};
    poll(wait, o->wake < 0 ? 1 : 2, -1);
    return o->wake >= 0 && wait[1].revents;
}

/* read(2) until it gives something: interruptions and sources that do not block are waited out. */
static ssize_t read_some(ty_origin *o, void *bytes, size_t size)
{
    if (o->position < o->spool.size)
        return ty_spool_read(&o->spool, bytes, size, o->position);
    for (int stopped = o->wake >= 0 && await(o); !stopped;) {
        ssize_t got = read(o->file, bytes, size);
        if (got >= 0)
            return got;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            stopped = await(o);
        else if (errno != EINTR)
            return -1;
    }
    errno = ECANCELED;
    return -1;
}

/* These bytes were read. */
static tally_status checked(const ty_origin *o, uint64_t at, const void *bytes, size_t size,
                            tally_error *error)
{
    const ty_checksum_result found = ty_checksum_add(o->checksum, at, bytes, size);
    if (found == TY_CHECKSUM_MEMORY)
        return ty_error_memory(error, "a checksum", 0);
    return found ? ty_error(error, TALLY_ERROR_FORMAT,
                            "%s: damaged: its bytes are not those that its ZIP archive has a "
                            "checksum of",
                            o->name)
                 : TALLY_OK;
}

static tally_status was_cut(const ty_origin *o, uint64_t end, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_IO,
                    "%s: was cut while it was read: it ends after %" PRIu64
                    " bytes and had %" PRIu64 " when it was opened; count it again",
                    o->name, end, o->size);
}

/* read(2) gave nothing: that is the end, unless the file was longer when it was opened. */
static tally_status origin_end(ty_origin *o, tally_error *error)
{
    struct stat now;
    o->ended = 1;
    if (o->position >= o->size)
        return TALLY_OK;
    if (fstat(o->file, &now) != 0)
        return failure(o, error, "looking for its end failed", errno);
    /* In /sys files tell a size that they never had; nothing is stored behind it. */
    if (now.st_blocks == 0 && now.st_size - o->start == (off_t)o->size)
        return TALLY_OK;
    return was_cut(o, o->position, error);
}

typedef struct together {
    const ty_origin *origin;
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
        off_t place = all->origin->start + (off_t)(all->origin->position + at);
        ssize_t got = pread(all->origin->file, all->bytes + at, end - at, place);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            all->failed = 1;
        at += got > 0 ? (size_t)got : 0;
    }
}

/* Reads the next `size` bytes by all threads. 0, and nothing has been taken: this source cannot, or
 * reading failed, which reading in order will say. */
static int read_together(ty_origin *o, unsigned char *bytes, size_t size)
{
    together all = {o, bytes, size, 0};
    if (!o->pool || !o->seekable || size < 2 * TY_PART_BYTES || o->size < o->position + size)
        return 0;
    ty_pool_run(o->pool, 0, (unsigned)((size + TY_PART_BYTES - 1) / TY_PART_BYTES), read_part,
                &all);
    return !all.failed && lseek(o->file, (off_t)size, SEEK_CUR) >= 0;
}

static tally_status read_stored(ty_origin *o, unsigned char *bytes, size_t size, size_t *got,
                                tally_error *error)
{
    *got = 0;
    int from_spool = o->position < o->spool.size;
    if (from_spool && size > o->spool.size - o->position)
        size = (size_t)(o->spool.size - o->position);
    if (o->size && size > o->size - o->position)
        size = (size_t)(o->size - o->position);
    if (!size || (o->ended && !from_spool))
        return TALLY_OK;
    if (size > TY_READ_MOST)
        size = TY_READ_MOST;
    ssize_t have = read_together(o, bytes, size) ? (ssize_t)size : read_some(o, bytes, size);
    if (have < 0)
        return failure(o, error, "reading failed", errno);
    if (have == 0) {
        if (from_spool)
            return ty_error(error, TALLY_ERROR_IO, "%s: its temporary copy was cut short", o->name);
        return origin_end(o, error);
    }
    if (!from_spool && o->keep && !o->seekable) {
        tally_status status = ty_spool_append(&o->spool, o->name, bytes, (size_t)have, error);
        if (status)
            return status;
    }
    o->position += (uint64_t)have;
    *got = (size_t)have;
    return checked(o, o->position - (uint64_t)have, bytes, (size_t)have, error);
}

/* What is left of `all` bytes, of which there are `*left`. */
static size_t take_wrap(const unsigned char *all, size_t count, size_t *left, unsigned char *bytes,
                        size_t size)
{
    const size_t n = size < *left ? size : *left;
    memcpy(bytes, all + count - *left, n);
    *left -= n;
    return n;
}

tally_status ty_origin_read(ty_origin *o, unsigned char *bytes, size_t size, size_t *got,
                            tally_error *error)
{
    ty_wrap *w = &o->wrap;
    *got = o->is_wrapped ? take_wrap(w->head, sizeof w->head, &w->head_left, bytes, size) : 0;
    if (*got)
        return TALLY_OK;
    tally_status status = read_stored(o, bytes, size, got, error);
    if (!status && !*got && o->is_wrapped)
        *got = take_wrap(w->tail, sizeof w->tail, &w->tail_left, bytes, size);
    return status;
}

tally_status ty_origin_skip(ty_origin *o, uint64_t bytes, tally_error *error)
{
    if (lseek(o->file, (off_t)bytes, SEEK_CUR) < 0)
        return failure(o, error, "seeking failed", errno);
    o->position += bytes;
    return TALLY_OK;
}

tally_status ty_origin_rewind(ty_origin *o, tally_error *error)
{
    if (o->seekable) {
        if (lseek(o->file, o->start, SEEK_SET) < 0)
            return failure(o, error, "seeking to the start failed", errno);
        o->ended = 0;
    } else if (!o->keep && o->position) {
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: cannot be read a second time, as it is no regular file and was opened "
                        "without `rewindable`",
                        o->name);
    }
    o->position = 0;
    o->wrap.head_left = sizeof o->wrap.head;
    o->wrap.tail_left = sizeof o->wrap.tail;
    return TALLY_OK;
}

tally_status ty_origin_read_at(const ty_origin *o, uint64_t offset, void *bytes, size_t size,
                               tally_error *error)
{
    unsigned char *to = bytes;
    uint64_t at = offset;
    char text[128];
    while (size) {
        ssize_t got =
            pread(o->file, to, size < TY_READ_MOST ? size : TY_READ_MOST, o->start + (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ty_error(error, TALLY_ERROR_IO, "%s: reading failed at byte %" PRIu64 ": %s",
                            o->name, at, ty_errno_text(errno, text));
        if (got == 0) {
            struct stat now;
            const int known = fstat(o->file, &now) == 0 && now.st_size >= o->start;
            return was_cut(o, known ? (uint64_t)(now.st_size - o->start) : at, error);
        }
        to += got;
        at += (uint64_t)got;
        size -= (size_t)got;
    }
    return checked(o, offset, bytes, (size_t)(at - offset), error);
}

const void *ty_origin_lend(const ty_origin *o, uint64_t offset, size_t size)
{
    tally_error unsaid; /* it is said where the bytes are read instead */
    const void *bytes = ty_mapping_lend(o->mapping, (uint64_t)o->start + offset, size);
    if (!bytes || !checked(o, offset, bytes, size, &unsaid))
        return bytes;
    ty_mapping_return(o->mapping, bytes, size);
    return NULL;
}

tally_status ty_origin_check(const ty_origin *o, tally_error *error)
{
    enum { REST_MOST = 1 << 20, PIECE = 16 << 10 };
    unsigned char bytes[PIECE];
    tally_status status = TALLY_OK;
    uint64_t at = o->checksum ? ty_checksum_reached(o->checksum) : 0;
    while (!status && at && at < o->size && o->size - at <= REST_MOST) {
        const size_t n = o->size - at < PIECE ? (size_t)(o->size - at) : PIECE;
        status = ty_origin_read_at(o, at, bytes, n, error);
        at += n;
    }
    return status;
}

/* ---- Opening ---- */

static tally_status open_file(ty_origin *o, const char *path, tally_error *error)
{
    char text[128];
    const int standard = !strcmp(path, "-");
    o->owned = !standard;
    o->file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat about;
    if (o->file < 0 || fstat(o->file, &about) != 0)
        return ty_error(error, TALLY_ERROR_IO, "%s: cannot be opened: %s", o->name,
                        ty_errno_text(errno, text));
    if (S_ISDIR(about.st_mode))
        return ty_error(error, TALLY_ERROR_IO, "%s: is a directory; name a file", o->name);
    /* Some character devices claim to seek and do not. */
    o->start = S_ISREG(about.st_mode) || S_ISBLK(about.st_mode) ? lseek(o->file, 0, SEEK_CUR) : -1;
    o->seekable = o->start >= 0;
    if (S_ISREG(about.st_mode) && o->seekable && about.st_size > o->start)
        o->size = (uint64_t)(about.st_size - o->start);
#if defined(POSIX_FADV_SEQUENTIAL)
    if (o->seekable)
        posix_fadvise(o->file, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
    return TALLY_OK;
}

static tally_status begin(ty_origin *o, const char *name, int keep, tally_error *error)
{
    const size_t size = strlen(name) + 1;
    *o = (ty_origin){.file = -1, .wake = -1, .spool = TY_SPOOL_INIT, .keep = keep};
    o->name = ty_malloc(size);
    if (!o->name)
        return ty_error_memory(error, "an input's name", size);
    memcpy(o->name, name, size);
    return TALLY_OK;
}

tally_status ty_origin_open(ty_origin *o, const char *path, int keep, tally_error *error)
{
    const int standard = !strcmp(path, "-") || !strcmp(path, "/dev/fd/0");
    tally_status status = begin(o, standard ? "standard input" : path, keep, error);
    return status ? status : open_file(o, path, error);
}

/* Little-endian. */
static void put32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

tally_status ty_origin_open_member(ty_origin *o, const ty_member *member, tally_error *error)
{
    static const unsigned char gzip[sizeof o->wrap.head] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    tally_status status = begin(o, member->name, 0, error);
    if (status)
        return status;
    o->file = member->file;
    o->start = (off_t)member->start;
    o->size = member->size;
    o->seekable = o->is_member = 1;
    o->is_alone = member->is_alone;
    o->is_wrapped = member->is_deflated;
    if (!o->is_wrapped && !(o->checksum = ty_checksum_create(member->size, member->check)))
        return ty_error_memory(error, "a checksum", 0);
    memcpy(o->wrap.head, gzip, sizeof gzip);
    put32(o->wrap.tail, member->check);
    put32(o->wrap.tail + 4, (uint32_t)member->unpacked);
    return ty_origin_rewind(o, error);
}

void ty_origin_close(ty_origin *o)
{
    ty_mapping_free(o->mapping);
    ty_checksum_free(o->checksum);
    if (o->owned && o->file >= 0)
        close(o->file);
    ty_spool_clear(&o->spool);
    ty_free(o->name);
}
