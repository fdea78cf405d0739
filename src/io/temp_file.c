/* The XSI strerror_r is the portable one. */
#undef _GNU_SOURCE

#include "io/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"

enum { TY_TEMP_BUFFER = 64 * 1024, TY_TEMP_TRIES = 100 };

struct ty_temp {
    char *target;    /* the real path, links followed */
    char *temporary; /* NULL: the target is written directly */
    int file;
    int failed; /* errno of the first failure, else 0 */
    size_t used;
    unsigned char buffer[TY_TEMP_BUFFER];
};

const char *ty_errno_text(int code, char text[128])
{
    if (strerror_r(code, text, 128) != 0)
        snprintf(text, 128, "error %d", code);
    return text;
}

static tally_status failure(tally_error *error, const char *path, const char *what, int code)
{
    char text[128];
    return ty_error(error, code == ENOMEM ? TALLY_ERROR_MEMORY : TALLY_ERROR_IO, "%s: %s: %s", path,
                    what, ty_errno_text(code, text));
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = ty_malloc(size);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

/* The path that is to be replaced: behind all links, or `path` itself when there is nothing yet. */
static char *real_target(const char *path)
{
    char *real = realpath(path, NULL);
    if (!real)
        return copy_text(path);
    char *copy = copy_text(real);
    free(real); /* made by the C library, not by ty_malloc */
    return copy;
}

/* Creates "TARGET.tmp-HEX" with `mode` less the umask. mkstemp would give 0600, and asking for the
 * umask is not thread-safe. */
static int create_beside(ty_temp *temp, mode_t mode)
{
    static atomic_uint serial;
    size_t room = strlen(temp->target) + sizeof ".tmp-0123456789abcdef";
    temp->temporary = ty_malloc(room);
    if (!temp->temporary)
        return ENOMEM;
    for (int i = 0; i < TY_TEMP_TRIES; i++) {
        struct timespec now = {0, 0};
        clock_gettime(CLOCK_REALTIME, &now);
        uint64_t tag =
            (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 40;
        tag = (tag + atomic_fetch_add(&serial, 1u)) * UINT64_C(0x9e3779b97f4a7c15);
        snprintf(temp->temporary, room, "%s.tmp-%016" PRIx64, temp->target, tag);
        temp->file = open(temp->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (temp->file >= 0)
            return 0;
        if (errno != EEXIST && errno != EINTR)
            break;
    }
    int code = errno;
    ty_free(temp->temporary);
    temp->temporary = NULL;
    return code;
}

static int open_target(ty_temp *temp)
{
    struct stat old;
    if (stat(temp->target, &old) != 0)
        return errno == ENOENT ? create_beside(temp, 0666) : errno;
    if (S_ISDIR(old.st_mode))
        return EISDIR;
    if (!S_ISREG(old.st_mode)) {
        temp->file = open(temp->target, O_WRONLY | O_CLOEXEC);
        return temp->file < 0 ? errno : 0;
    }
    /* Renaming needs no right to the old file; a file made read-only is meant to stay as it is. */
    if (access(temp->target, W_OK) != 0)
        return errno;
    int code = create_beside(temp, 0600);
    if (!code && fchmod(temp->file, old.st_mode & 0777) != 0)
        code = errno;
    return code;
}

tally_status ty_temp_open(const char *path, ty_temp **temp, tally_error *error)
{
    if (!path || !path[0])
        return ty_error(error, TALLY_ERROR_ARGUMENT, "the path of the file to write is empty");
    ty_temp *t = ty_malloc(sizeof *t);
    if (!t)
        return ty_error_memory(error, "the output file's buffer", sizeof *t);
    t->temporary = NULL;
    t->file = -1;
    t->failed = 0;
    t->used = 0;
    t->target = real_target(path);
    int code = t->target ? open_target(t) : ENOMEM;
    if (code) {
        ty_temp_discard(t);
        return failure(error, path, "cannot be written", code);
    }
    *temp = t;
    return TALLY_OK;
}

static int write_all(ty_temp *t, const unsigned char *bytes, size_t size)
{
    while (size) {
        ssize_t put = write(t->file, bytes, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return t->failed = put < 0 ? errno : EIO;
        bytes += put;
        size -= (size_t)put;
    }
    return 0;
}

static int flush(ty_temp *t)
{
    size_t used = t->used;
    t->used = 0;
    return write_all(t, t->buffer, used);
}

int ty_temp_write(void *temp, const void *bytes, size_t size)
{
    ty_temp *t = temp;
    if (t->failed)
        return t->failed;
    if (size > sizeof t->buffer - t->used && flush(t))
        return t->failed;
    if (size > sizeof t->buffer)
        return write_all(t, bytes, size);
    if (size)
        memcpy(t->buffer + t->used, bytes, size);
    t->used += size;
    return 0;
}

tally_status ty_temp_commit(ty_temp *temp, tally_error *error)
{
    int code = temp->failed;
    if (!code)
        code = flush(temp);
    /* Network file systems report a full disk only here. */
    if (close(temp->file) != 0 && !code && errno != EINTR)
        code = errno;
    temp->file = -1;
    tally_status status = TALLY_OK;
    if (code)
        status = failure(error, temp->target, "writing failed", code);
    else if (temp->temporary && rename(temp->temporary, temp->target) != 0)
        status = failure(error, temp->target, "cannot be put in place", errno);
    if (!status) {
        ty_free(temp->temporary);
        temp->temporary = NULL;
    }
    ty_temp_discard(temp);
    return status;
}

void ty_temp_discard(ty_temp *temp)
{
    if (!temp)
        return;
    if (temp->file >= 0)
        close(temp->file);
    if (temp->temporary)
        unlink(temp->temporary);
    ty_free(temp->temporary);
    ty_free(temp->target);
    ty_free(temp);
}
