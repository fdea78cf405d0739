/* SPDX-License-Identifier: Apache-2.0 */
/* The XSI strerror_r is the portable one. */
#undef _GNU_SOURCE

#include "io/temp_file.h"

#include <dirent.h>
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

#if !defined O_TMPFILE && defined __O_TMPFILE /* Linux has it whatever the C library shows */
#define O_TMPFILE __O_TMPFILE
#endif

enum {
    TY_TEMP_BUFFER = 64 * 1024,
    TY_TEMP_TRIES = 100,
    TY_TEMP_LINKS = 40,   /* one behind the other, as Linux */
    TY_TEMP_PATH = 4096,  /* of what a link holds */
    TY_TEMP_STALE = 3600, /* seconds without a write */
    TY_TEMP_DIGITS = 16
};

struct ty_temp {
    char *target;    /* the real path, links followed */
    char *temporary; /* a name beside it; NULL: the target is written directly */
    size_t room;     /* bytes of `temporary` */
    int is_named;    /* a file of that name is there */
    int is_unnamed;  /* the file gets a name when it is whole */
    int is_new;      /* there was no target when it was opened */
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

/* Bytes of `path` in front of its last part: up to the slash, with it. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* What the link at `path` says, as a path; NULL with errno when it is no link. */
static char *read_link(const char *path)
{
    size_t folder = folder_length(path);
    char *text = ty_malloc(folder + TY_TEMP_PATH);
    if (!text) {
        errno = ENOMEM;
        return NULL;
    }
    ssize_t size = readlink(path, text + folder, TY_TEMP_PATH);
    if (size < 0 || size == TY_TEMP_PATH) {
        int code = size < 0 ? errno : ENAMETOOLONG;
        ty_free(text);
        errno = code;
        return NULL;
    }
    text[folder + (size_t)size] = '\0';
    if (text[folder] == '/')
        memmove(text, text + folder, (size_t)size + 1);
    else
        memcpy(text, path, folder);
    return text;
}

/* The path that is to be replaced: behind all links, also when nothing is there yet. NULL with
 * errno. */
static char *real_target(const char *path)
{
    char *real = realpath(path, NULL), *at = copy_text(real ? real : path);
    int found = real != NULL;
    free(real); /* made by the C library, not by ty_malloc */
    if (!at)
        errno = ENOMEM;
    for (int i = 0; at && !found; i++) {
        char *next = i < TY_TEMP_LINKS ? read_link(at) : NULL;
        if (!next && i < TY_TEMP_LINKS && (errno == EINVAL || errno == ENOENT))
            return at; /* no link */
        int code = i < TY_TEMP_LINKS ? errno : ELOOP;
        ty_free(at);
        at = next;
        errno = code;
    }
    return at;
}

/* Makes up another "TARGET.tmp-HEX". */
static void make_name(ty_temp *temp)
{
    static atomic_uint serial;
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t tag = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 40;
    tag = (tag + atomic_fetch_add(&serial, 1u)) * UINT64_C(0x9e3779b97f4a7c15);
    snprintf(temp->temporary, temp->room, "%s.tmp-%016" PRIx64, temp->target, tag);
}

int ty_temp_always_named;

#if defined O_TMPFILE

/* Gives the file a name: 0, or an errno value. */
static int link_file(int file, const char *name)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

/* A file without a name in the target's folder, which is gone when the process ends however it
 * ends; -1 where there is no such thing. */
static int open_unnamed(ty_temp *temp, mode_t mode)
{
    char *folder = temp->temporary; /* for now */
    size_t length = folder_length(temp->target);
    memcpy(folder, temp->target, length);
    memcpy(folder + length, ".", 2);
    int trial = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600), file = -1;
    if (trial >= 0 && !ty_temp_always_named)
        file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    /* Whether it can get a name later is tried on the other. */
    make_name(temp);
    int code = file >= 0 ? link_file(trial, temp->temporary) : 0;
    if (file >= 0 && !code)
        unlink(temp->temporary);
    if (code) {
        close(file);
        file = -1;
    }
    if (trial >= 0)
        close(trial);
    return file;
}

#else

static int link_file(int file, const char *name)
{
    (void)file;
    (void)name;
    return ENOSYS;
}

static int open_unnamed(ty_temp *temp, mode_t mode)
{
    (void)temp;
    (void)mode;
    return -1;
}

#endif

/* Whether `name` is one that make_name makes up for a target called `base`. */
static int is_ours(const char *name, const char *base)
{
    size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || strncmp(name + length, ".tmp-", 5) != 0)
        return 0;
    name += length + 5;
    return strlen(name) == TY_TEMP_DIGITS && strspn(name, "0123456789abcdef") == TY_TEMP_DIGITS;
}

/* Removes what killed processes left behind: temporary files of this target and user that nobody
 * has written to for an hour. */
static void sweep(const ty_temp *temp)
{
    size_t length = folder_length(temp->target);
    char *path = temp->temporary; /* for now */
    memcpy(path, temp->target, length);
    memcpy(path + length, ".", 2);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct stat file;
        if (!is_ours(entry->d_name, temp->target + length))
            continue;
        memcpy(path + length, entry->d_name, strlen(entry->d_name) + 1);
        if (lstat(path, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
            time(NULL) - file.st_mtime > TY_TEMP_STALE)
            unlink(path);
    }
    if (folder)
        closedir(folder);
}

/* Creates the temporary file with `mode` less the umask. mkstemp would give 0600, and asking for
 * the umask is not thread-safe. */
static int create(ty_temp *temp, mode_t mode)
{
    temp->room = strlen(temp->target) + sizeof ".tmp-0123456789abcdef";
    temp->temporary = ty_malloc(temp->room);
    if (!temp->temporary)
        return ENOMEM;
    temp->file = open_unnamed(temp, mode);
    temp->is_unnamed = temp->file >= 0;
    if (temp->is_unnamed)
        return 0;
    sweep(temp);
    for (int i = 0; i < TY_TEMP_TRIES; i++) {
        make_name(temp);
        temp->file = open(temp->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        temp->is_named = temp->file >= 0;
        if (temp->is_named)
            return 0;
        if (errno != EEXIST && errno != EINTR)
            break;
    }
    return errno;
}

static int open_target(ty_temp *temp)
{
    struct stat old;
    if (stat(temp->target, &old) != 0) {
        temp->is_new = errno == ENOENT;
        return temp->is_new ? create(temp, 0666) : errno;
    }
    if (S_ISDIR(old.st_mode))
        return EISDIR;
    if (!S_ISREG(old.st_mode)) {
        temp->file = open(temp->target, O_WRONLY | O_CLOEXEC);
        return temp->file < 0 ? errno : 0;
    }
    /* Renaming needs no right to the old file; a file made read-only is meant to stay as it is. */
    if (access(temp->target, W_OK) != 0)
        return errno;
    int code = create(temp, 0600);
    if (!code && fchmod(temp->file, old.st_mode & 0777) != 0)
        code = errno;
    return code;
}

tally_status ty_temp_open(const char *path, ty_temp **temp, tally_error *error)
{
    if (!path || !path[0])
        return ty_error(error, TALLY_ERROR_ARGUMENT, "the path of the file to write is empty");
    ty_temp *t = ty_calloc(1, sizeof *t);
    if (!t)
        return ty_error_memory(error, "the output file's buffer", sizeof *t);
    t->file = -1;
    errno = ENOMEM;
    t->target = real_target(path);
    int code = t->target ? open_target(t) : errno;
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

/* Brings the whole file to the target's place: 0, or an errno value. */
static int put_in_place(ty_temp *t)
{
    int code = t->is_unnamed && t->is_new ? link_file(t->file, t->target) : EEXIST;
    if (code != EEXIST)
        return code;
    /* A link replaces nothing: it gets another name first, which is renamed. */
    for (int i = 0; i < TY_TEMP_TRIES && t->is_unnamed && code == EEXIST; i++) {
        make_name(t);
        code = link_file(t->file, t->temporary);
        t->is_named = code == 0;
    }
    if (t->is_unnamed && code)
        return code;
    if (rename(t->temporary, t->target) != 0)
        return errno;
    t->is_named = 0;
    return 0;
}

tally_status ty_temp_commit(ty_temp *temp, tally_error *error)
{
    int code = temp->failed;
    if (!code)
        code = flush(temp);
    /* Network file systems, which have no files without names, report a full disk only here. */
    if (!temp->is_unnamed) {
        if (close(temp->file) != 0 && !code && errno != EINTR)
            code = errno;
        temp->file = -1;
    }
    tally_status status = TALLY_OK;
    if (code)
        status = failure(error, temp->target, "writing failed", code);
    else if (temp->temporary && (code = put_in_place(temp)) != 0)
        status = failure(error, temp->target, "cannot be put in place", code);
    ty_temp_discard(temp);
    return status;
}

void ty_temp_discard(ty_temp *temp)
{
    if (!temp)
        return;
    if (temp->file >= 0)
        close(temp->file);
    if (temp->is_named)
        unlink(temp->temporary);
    ty_free(temp->temporary);
    ty_free(temp->target);
    ty_free(temp);
}
