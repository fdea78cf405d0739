/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE       /* O_TMPFILE */
#define _FILE_OFFSET_BITS 64

#include "io/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/env.h"
#include "core/error.h"
#include "io/temp_file.h"

#define HELD_MOST ((uint64_t)16 << 20) /* in memory */

/* `ending`, for mkstemp, in the folder for temporary files; to be released. */
static char *make_path(const char *ending, tally_error *error)
{
    const char *folder = ty_env("TMPDIR");
    if (!folder || !folder[0])
        folder = "/tmp";
    const size_t length = strlen(folder), more = strlen(ending) + 1;
    char *path = ty_malloc(length + more);
    if (!path) {
        ty_error_memory(error, "a temporary file's name", length + more);
        return NULL;
    }
    memcpy(path, folder, length);
    memcpy(path + length, ending, more);
    return path;
}

int ty_spool_file(tally_error *error)
{
    int file = -1;
    char text[128], *path = make_path("/", error);
    if (!path)
        return -1;
#ifdef O_TMPFILE
    file = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    ty_free(path);
    if (file >= 0 || !(path = make_path("/tally-XXXXXX", error)))
        return file;
    file = mkstemp(path);
    if (file < 0) {
        const int why = errno;
        *strrchr(path, '/') = '\0';
        ty_error(error, TALLY_ERROR_IO,
                 "no temporary file in %s: %s; set TMPDIR to a folder with room", path,
                 ty_errno_text(why, text));
    } else {
        unlink(path);
        fcntl(file, F_SETFD, FD_CLOEXEC);
    }
    ty_free(path);
    return file;
}

char *ty_spool_name(int file, tally_error *error)
{
    char from[32], text[128], *folder = make_path("/tally-XXXXXX/copy", error);
    if (!folder)
        return NULL;
    char *const end = strrchr(folder, '/');
    snprintf(from, sizeof from, "/proc/self/fd/%d", file);
    *end = '\0';
    const int made = mkdtemp(folder) != NULL;
    *end = '/';
    if (made && linkat(AT_FDCWD, from, AT_FDCWD, folder, AT_SYMLINK_FOLLOW) == 0)
        return folder;
    const int why = errno;
    *end = '\0';
    if (made)
        rmdir(folder);
    ty_error(error, TALLY_ERROR_IO, "a copy in %s can have no name: %s; save it to a file", folder,
             ty_errno_text(why, text));
    ty_free(folder);
    return NULL;
}

void ty_spool_unname(char *name)
{
    unlink(name);
    *strrchr(name, '/') = '\0';
    rmdir(name);
    ty_free(name);
}

static tally_status write_at(const ty_spool *spool, const char *name, const unsigned char *bytes,
                             size_t size, uint64_t offset, tally_error *error)
{
    char text[128];
    while (size) {
        ssize_t put = pwrite(spool->file, bytes, size, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return ty_error(error, TALLY_ERROR_IO,
                            "%s: copying it to a temporary file (in TMPDIR) failed at byte %" PRIu64
                            ": %s",
                            name, offset, ty_errno_text(put < 0 ? errno : EIO, text));
        bytes += put;
        size -= (size_t)put;
        offset += (uint64_t)put;
    }
    return TALLY_OK;
}

static tally_status move_to_file(ty_spool *spool, const char *name, tally_error *error)
{
    spool->file = ty_spool_file(error);
    if (spool->file < 0)
        return TALLY_ERROR_IO;
    tally_status status = write_at(spool, name, spool->held, (size_t)spool->size, 0, error);
    ty_free(spool->held);
    spool->held = NULL;
    spool->room = 0;
    return status;
}

tally_status ty_spool_append(ty_spool *spool, const char *name, const unsigned char *bytes,
                             size_t size, tally_error *error)
{
    uint64_t all = spool->size + size;
    tally_status status = TALLY_OK;
    if (spool->file < 0 && all > HELD_MOST)
        status = move_to_file(spool, name, error);
    if (status)
        return status;
    if (spool->file < 0 && all > spool->room) {
        size_t room = 2 * (size_t)all;
        unsigned char *held = ty_realloc(spool->held, room);
        if (!held)
            return ty_error_memory(error, "a copy of a pipe", room);
        spool->held = held;
        spool->room = room;
    }
    if (spool->file < 0)
        memcpy(spool->held + spool->size, bytes, size);
    else
        status = write_at(spool, name, bytes, size, spool->size, error);
    if (!status)
        spool->size = all;
    return status;
}

ssize_t ty_spool_read(const ty_spool *spool, void *bytes, size_t size, uint64_t offset)
{
    if (spool->file >= 0)
        return pread(spool->file, bytes, size, (off_t)offset);
    if (size > spool->size - offset)
        size = (size_t)(spool->size - offset);
    memcpy(bytes, spool->held + offset, size);
    return (ssize_t)size;
}

void ty_spool_clear(ty_spool *spool)
{
    if (spool->file >= 0)
        close(spool->file);
    ty_free(spool->held);
    *spool = (ty_spool)TY_SPOOL_INIT;
}
