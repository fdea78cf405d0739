/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled kernels on disk: $TALLY_CACHE_DIR, else $XDG_CACHE_HOME/tally, else ~/.cache/tally. An
 * entry's name is the SHA-256 of all that decides the code; its content starts with a magic, the
 * key again and the SHA-256 of the code, so that a damaged or foreign file is not taken for one.
 * The directory is the user's alone (0700), and so are its files; what is not is not used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/env.h"
#include "gpu/device.h"
#include "gpu/sha256.h"

static const char magic[8] = "tallyk1";

typedef struct {
    char magic[8];
    unsigned char key[32], digest[32];
} header;

static void hash_text(ty_sha256 *s, const char *text)
{
    ty_sha256_add(s, text, strlen(text) + 1);
}

static void make_key(const char *source, const char *options, const char *signature,
                     unsigned char key[32])
{
    ty_sha256 s;
    ty_sha256_begin(&s);
    hash_text(&s, tally_version());
    hash_text(&s, source);
    hash_text(&s, options);
    hash_text(&s, signature);
    ty_sha256_end(&s, key);
}

static int is_ours_alone(const struct stat *info)
{
    return info->st_uid == geteuid() && !(info->st_mode & 022);
}

static int is_our_folder(const char *path)
{
    struct stat info;
    return !lstat(path, &info) && S_ISDIR(info.st_mode) && is_ours_alone(&info);
}

/* Makes the directory and its parents; says whether it is ours alone. */
static int make_directory(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
    return is_our_folder(path);
}

int ty_cache_folder(char *path, size_t size, int make)
{
    const char *own = ty_env("TALLY_CACHE_DIR"), *xdg = ty_env("XDG_CACHE_HOME"),
               *home = ty_env("HOME");
    int n = own && *own     ? snprintf(path, size, "%s", own)
            : xdg && *xdg   ? snprintf(path, size, "%s/tally", xdg)
            : home && *home ? snprintf(path, size, "%s/.cache/tally", home)
                            : -1;
    return n > 0 && (size_t)n + 80 <= size && (!make || make_directory(path));
}

int ty_cache_open(const char *path, const char **why)
{
    struct stat info;
    char folder[1024];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    /* Without waiting for a writer, where it is a pipe. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *why = NULL;
    if (fd < 0) {
        *why = errno == ENOENT || errno == ENOTDIR ? NULL
               : errno == ELOOP                    ? "it is a symbolic link"
                                                   : strerror(errno);
        return -1;
    }
    if (fstat(fd, &info) || !S_ISREG(info.st_mode))
        *why = "it is no regular file";
    else if (!is_ours_alone(&info))
        *why = "it is not yours, or others may write to it";
    else if (!is_our_folder(folder))
        *why = "its folder is not yours, or others may write to it";
    if (!*why)
        return fd;
    close(fd);
    return -1;
}

int ty_cache_read(int fd, uint64_t offset, void *bytes, size_t size)
{
    for (char *to = bytes; size;) {
        ssize_t n = pread(fd, to, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        to += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 1;
}

static int entry_path(const unsigned char key[32], int make, char *path, size_t size)
{
    if (!ty_cache_folder(path, size, make))
        return 0;
    size_t n = strlen(path);
    path[n++] = '/';
    for (int i = 0; i < 32; i++, n += 2)
        snprintf(path + n, size - (size_t)n, "%02x", key[i]);
    return 1;
}

static void *read_entry(int fd, const unsigned char key[32], size_t *size)
{
    struct stat info;
    header h;
    unsigned char digest[32];
    if (fstat(fd, &info) || info.st_size <= (off_t)sizeof h || info.st_size > (256 << 20) ||
        !ty_cache_read(fd, 0, &h, sizeof h) || memcmp(h.magic, magic, sizeof magic) ||
        memcmp(h.key, key, sizeof h.key))
        return NULL;
    const size_t n = (size_t)info.st_size - sizeof h;
    unsigned char *bytes = ty_malloc(n);
    if (bytes && ty_cache_read(fd, sizeof h, bytes, n)) {
        ty_sha256_of(bytes, n, digest);
        if (!memcmp(digest, h.digest, sizeof digest)) {
            *size = n;
            return bytes;
        }
    }
    ty_free(bytes);
    return NULL;
}

void *ty_cache_get(const char *source, const char *options, const char *signature, size_t *size)
{
    unsigned char key[32];
    char path[1024];
    const char *why;
    make_key(source, options, signature, key);
    int fd = entry_path(key, 0, path, sizeof path) ? ty_cache_open(path, &why) : -1;
    if (fd < 0)
        return NULL;
    void *bytes = read_entry(fd, key, size);
    close(fd);
    return bytes;
}

int ty_cache_write(int fd, const void *bytes, size_t size)
{
    for (const char *from = bytes; size;) {
        ssize_t n = write(fd, from, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        from += n;
        size -= (size_t)n;
    }
    return 1;
}

void ty_cache_put(const char *source, const char *options, const char *signature, const void *bytes,
                  size_t size)
{
    header h;
    char path[1024], temporary[1024 + 16];
    memcpy(h.magic, magic, sizeof magic);
    make_key(source, options, signature, h.key);
    ty_sha256_of(bytes, size, h.digest);
    if (!entry_path(h.key, 1, path, sizeof path))
        return;
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int fd = mkstemp(temporary);
    if (fd < 0)
        return;
    int ok = ty_cache_write(fd, &h, sizeof h) && ty_cache_write(fd, bytes, size);
    ok = !close(fd) && ok;
    if (!ok || rename(temporary, path))
        unlink(temporary);
}
