/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dladdr */
#include "gpu/kernels_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/env.h"
#include "core/error.h"
#include "gpu/device.h"
#include "gpu/pack.h"
#include "gpu/sha256.h"

/* A kernel's whole block is unpacked for it: of so many bytes that that takes a millisecond or two,
 * and kernels repeat each other. */
enum { block_bytes = 2 << 20, most_blocks = 1024, most_kernels = 65536, most_bytes = 256 << 20 };

static const char magic[8] = "tallyp3";

/* The file: a header, `blocks` of block, `kernels` of kernel, then the blocks' bytes. In the order
 * of the machine's bytes, which the magic's `order` tells. */
typedef struct {
    char magic[8];
    uint32_t order; /* 1 */
    uint32_t blocks, kernels, unused;
    char version[32];
    unsigned char digest[32]; /* of the blocks' and kernels' tables */
} header;

typedef struct {
    uint32_t arch, is_ptx;
    uint64_t offset, packed, size; /* bytes: from the file's start; there; unpacked (pack.h) */
    unsigned char digest[32];      /* of its bytes in the file */
} block;

typedef struct {
    unsigned char key[32];
    uint32_t block, unused;
    uint64_t offset, size; /* in the block */
} kernel;

static struct {
    pthread_mutex_t lock;
    int looked;
    char path[1024], words[1400];
    header head;
    block *blocks; /* NULL: no file */
    kernel *kernels;
    unsigned char *code[most_blocks]; /* read when first asked for */
} file = {.lock = PTHREAD_MUTEX_INITIALIZER};

void ty_kernels_key(const char *source, const char *options, ty_target target,
                    unsigned char key[32])
{
    char name[32];
    const char *const parts[] = {tally_version(), source, options, name};
    ty_sha256 s;
    snprintf(name, sizeof name, "%s_%" PRIu32, target.is_ptx ? "compute" : "sm", target.arch);
    ty_sha256_begin(&s);
    for (int i = 0; i < 4; i++)
        ty_sha256_add(&s, parts[i], strlen(parts[i]) + 1);
    ty_sha256_end(&s, key);
}

/* ---- reading ---- */

/* Where the file is. Static: its first candidate is beside the program, whose name whoever starts
 * it chooses. */
static void find_path(char *path, size_t size)
{
    const char *named = ty_env("TALLY_KERNELS_FILE");
    Dl_info own;
    if (named && *named) {
        snprintf(path, size, "%s", named);
        return;
    }
    *path = '\0';
    if (!ty_env_is_foreign() && dladdr((const void *)(uintptr_t)&ty_kernels_describe, &own) &&
        own.dli_fname) {
        const char *slash = strrchr(own.dli_fname, '/');
        snprintf(path, size, "%.*slibtally-%s.kernels",
                 slash ? (int)(slash + 1 - own.dli_fname) : 0, own.dli_fname, tally_version());
        if (access(path, R_OK) == 0)
            return;
    }
#ifdef TALLY_KERNELS_FOLDER
    snprintf(path, size, "%s/libtally-%s.kernels", TALLY_KERNELS_FOLDER, tally_version());
#endif
}

/* NULL, or what is wrong with the index at the file's start. */
static const char *read_index(int fd, uint64_t bytes)
{
    header *h = &file.head;
    unsigned char digest[32];
    if (!ty_cache_read(fd, 0, h, sizeof *h) || memcmp(h->magic, magic, sizeof magic) ||
        h->order != 1)
        return "it is no kernels file of this machine's kind";
    h->version[sizeof h->version - 1] = '\0';
    if (strcmp(h->version, tally_version()) != 0)
        return "it is another version's";
    if (h->blocks > most_blocks || h->kernels > most_kernels)
        return "its index is damaged";
    size_t first = h->blocks * sizeof(block), second = h->kernels * sizeof(kernel);
    file.blocks = ty_malloc(first + second + 1);
    if (!file.blocks)
        return "memory is out";
    file.kernels = (kernel *)(void *)(file.blocks + h->blocks);
    if (!ty_cache_read(fd, sizeof *h, file.blocks, first + second))
        return "its index is cut off";
    ty_sha256_of(file.blocks, first + second, digest);
    if (memcmp(digest, h->digest, sizeof digest) != 0)
        return "its index is damaged";
    for (uint32_t i = 0; i < h->blocks; i++) {
        const block *b = &file.blocks[i];
        if (b->size > most_bytes || b->packed > bytes || b->offset > bytes - b->packed)
            return "it is cut off";
    }
    for (uint32_t i = 0; i < h->kernels; i++) {
        const kernel *k = &file.kernels[i];
        if (k->block >= h->blocks || k->size > file.blocks[k->block].size ||
            k->offset > file.blocks[k->block].size - k->size)
            return "its index is damaged";
    }
    return NULL;
}

/* "none: PATH: why". */
static void refuse(const char *why)
{
    ty_free(file.blocks);
    file.blocks = NULL;
    snprintf(file.words, sizeof file.words, "none: %s: %s", file.path, why);
}

static int same_target(const block *a, const block *b)
{
    return a->arch == b->arch && a->is_ptx == b->is_ptx;
}

static void say_content(void)
{
    int n = snprintf(file.words, sizeof file.words, "%s: %" PRIu32 " kernels for", file.path,
                     file.head.kernels);
    for (uint32_t i = 0; i < file.head.blocks && n > 0 && (size_t)n < sizeof file.words; i++) {
        if (!i || !same_target(&file.blocks[i], &file.blocks[i - 1]))
            n += snprintf(file.words + n, sizeof file.words - (size_t)n, " %s_%" PRIu32,
                          file.blocks[i].is_ptx ? "compute" : "sm", file.blocks[i].arch);
    }
}

/* With the lock held: the file is looked for once a process. */
static void look(void)
{
    struct stat info;
    if (file.looked)
        return;
    file.looked = 1;
    find_path(file.path, sizeof file.path);
    if (!strcmp(file.path, "none")) {
        snprintf(file.words, sizeof file.words, "none: switched off by TALLY_KERNELS_FILE=none");
        return;
    }
    int fd = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info) || !S_ISREG(info.st_mode)) {
        refuse(fd < 0 ? strerror(errno) : "it is no file");
    } else {
        const char *wrong = read_index(fd, (uint64_t)info.st_size);
        if (wrong)
            refuse(wrong);
        else
            say_content();
    }
    if (fd >= 0)
        close(fd);
}

/* NULL, or what is wrong with a block; `code` gets it, `packed` its bytes in the file. */
static const char *read_block(const block *b, unsigned char *packed, unsigned char *code)
{
    unsigned char digest[32];
    int fd = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int read = fd >= 0 && ty_cache_read(fd, b->offset, packed, b->packed);
    if (fd >= 0)
        close(fd);
    if (!read)
        return "its code cannot be read";
    ty_sha256_of(packed, b->packed, digest);
    const int sound =
        !memcmp(digest, b->digest, sizeof digest) && ty_unpack(packed, b->packed, code, b->size);
    return sound ? NULL : "its code is damaged";
}

/* With the lock held: block `i`, or NULL, and the file is not used any more. */
static const unsigned char *load_block(uint32_t i)
{
    const block *b = &file.blocks[i];
    if (file.code[i])
        return file.code[i];
    unsigned char *packed = ty_malloc(b->packed + 1), *code = ty_malloc(b->size + 1);
    const char *wrong = packed && code ? read_block(b, packed, code) : "memory is out";
    ty_free(packed);
    if (wrong) {
        ty_free(code);
        refuse(wrong);
        return NULL;
    }
    return file.code[i] = code;
}

/* Machine code runs on its own architecture and on later ones of the same generation; PTX on every
 * later one. */
static int runs(const block *b, uint32_t capability)
{
    return b->arch <= capability && (b->is_ptx || b->arch / 10 == capability / 10);
}

static const kernel *find_kernel(const unsigned char key[32], uint32_t in)
{
    for (uint32_t i = 0; i < file.head.kernels; i++) {
        if (file.kernels[i].block == in && !memcmp(file.kernels[i].key, key, 32))
            return &file.kernels[i];
    }
    return NULL;
}

/* With the lock held: a copy of the kernel in the newest block that runs and has it. */
static void *get(const char *source, const char *options, uint32_t capability, int is_ptx,
                 size_t *size)
{
    const kernel *best = NULL;
    uint32_t arch = 0;
    unsigned char key[32];
    const block *keyed = NULL; /* whose target's the key is */
    for (uint32_t i = 0; i < file.head.blocks; i++) {
        const block *b = &file.blocks[i];
        if (!runs(b, capability) || !b->is_ptx != !is_ptx || b->arch < arch)
            continue;
        if (!keyed || !same_target(b, keyed))
            ty_kernels_key(source, options, (ty_target){b->arch, is_ptx}, key);
        keyed = b;
        const kernel *k = find_kernel(key, i);
        best = k ? k : best;
        arch = k ? b->arch : arch;
    }
    const unsigned char *code = best ? load_block(best->block) : NULL;
    void *copy = code ? ty_malloc(best->size + 1) : NULL;
    if (!copy)
        return NULL;
    memcpy(copy, code + best->offset, best->size);
    ((char *)copy)[best->size] = '\0';
    *size = best->size;
    return copy;
}

void *ty_kernels_get(const char *source, const char *options, uint32_t capability, int is_ptx,
                     size_t *size)
{
    void *code = NULL;
    pthread_mutex_lock(&file.lock);
    look();
    if (file.blocks)
        code = get(source, options, capability, is_ptx, size);
    pthread_mutex_unlock(&file.lock);
    return code;
}

int ty_kernels_serve(uint32_t capability)
{
    int serves = 0;
    pthread_mutex_lock(&file.lock);
    look();
    for (uint32_t i = 0; file.blocks && i < file.head.blocks; i++)
        serves |= runs(&file.blocks[i], capability);
    pthread_mutex_unlock(&file.lock);
    return serves;
}

const char *ty_kernels_describe(void)
{
    pthread_mutex_lock(&file.lock);
    look(); /* writes the words once */
    pthread_mutex_unlock(&file.lock);
    return file.words;
}

void ty_kernels_forget(void)
{
    pthread_mutex_lock(&file.lock);
    for (int i = 0; i < most_blocks; i++) {
        ty_free(file.code[i]);
        file.code[i] = NULL;
    }
    ty_free(file.blocks);
    file.blocks = NULL;
    file.looked = 0;
    pthread_mutex_unlock(&file.lock);
}

/* ---- writing ---- */

/* Everything of the file in memory: small, and written in one go. */
typedef struct {
    header head;
    block blocks[most_blocks];
    kernel *kernels;
    void *stored[most_blocks];
} image;

static tally_status add_block(image *m, const ty_kernel_entry *first, size_t count,
                              tally_error *error)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += first[i].size;
    unsigned char *code = ty_malloc(size + 1);
    if (!code)
        return ty_error_memory(error, "kernels", size);
    block *b = &m->blocks[m->head.blocks];
    *b = (block){.arch = first->target.arch, .is_ptx = (uint32_t) !!first->target.is_ptx};
    for (size_t i = 0; i < count; i++) {
        kernel *k = &m->kernels[m->head.kernels++];
        memset(k, 0, sizeof *k);
        memcpy(k->key, first[i].key, sizeof k->key);
        k->block = m->head.blocks;
        k->offset = b->size;
        k->size = first[i].size;
        memcpy(code + b->size, first[i].code, first[i].size);
        b->size += first[i].size;
    }
    size_t packed = 0;
    m->stored[m->head.blocks] = ty_pack(code, size, &packed);
    ty_free(code);
    if (!m->stored[m->head.blocks++])
        return ty_error_memory(error, "packed kernels", size);
    b->packed = packed;
    return TALLY_OK;
}

static tally_status make_image(image *m, const ty_kernel_entry *entries, size_t count,
                               tally_error *error)
{
    tally_status status = TALLY_OK;
    if (count > most_kernels)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%zu kernels; at most %d", count,
                        most_kernels);
    m->kernels = ty_calloc(count + 1, sizeof *m->kernels);
    if (!m->kernels)
        return ty_error_memory(error, "an index", count * sizeof *m->kernels);
    for (size_t i = 0, n; i < count && !status; i += n) {
        size_t bytes = entries[i].size;
        for (n = 1; i + n < count && bytes + entries[i + n].size <= block_bytes &&
                    entries[i + n].target.arch == entries[i].target.arch &&
                    !entries[i + n].target.is_ptx == !entries[i].target.is_ptx;)
            bytes += entries[i + n++].size;
        status = m->head.blocks == most_blocks
                     ? ty_error(error, TALLY_ERROR_ARGUMENT, "more than %d blocks", most_blocks)
                     : add_block(m, entries + i, n, error);
    }
    return status;
}

/* Offsets and digests, when all sizes are known. */
static void seal(image *m)
{
    ty_sha256 s;
    uint64_t at =
        sizeof m->head + m->head.blocks * sizeof(block) + m->head.kernels * sizeof(kernel);
    memcpy(m->head.magic, magic, sizeof magic);
    m->head.order = 1;
    snprintf(m->head.version, sizeof m->head.version, "%s", tally_version());
    for (uint32_t i = 0; i < m->head.blocks; i++) {
        m->blocks[i].offset = at;
        at += m->blocks[i].packed;
        ty_sha256_of(m->stored[i], m->blocks[i].packed, m->blocks[i].digest);
    }
    ty_sha256_begin(&s);
    ty_sha256_add(&s, m->blocks, m->head.blocks * sizeof(block));
    ty_sha256_add(&s, m->kernels, m->head.kernels * sizeof(kernel));
    ty_sha256_end(&s, m->head.digest);
}

static int write_image(const image *m, int fd)
{
    int ok = ty_cache_write(fd, &m->head, sizeof m->head) &&
             ty_cache_write(fd, m->blocks, m->head.blocks * sizeof(block)) &&
             ty_cache_write(fd, m->kernels, m->head.kernels * sizeof(kernel));
    for (uint32_t i = 0; i < m->head.blocks; i++)
        ok = ok && ty_cache_write(fd, m->stored[i], m->blocks[i].packed);
    return ok && !fchmod(fd, 0644);
}

tally_status ty_kernels_save(const char *path, const ty_kernel_entry *entries, size_t count,
                             tally_error *error)
{
    char temporary[1024];
    image *m = ty_calloc(1, sizeof *m);
    if (!m)
        return ty_error_memory(error, "a kernels file", sizeof *m);
    tally_status status = make_image(m, entries, count, error);
    int n = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (!status && (n < 0 || (size_t)n >= sizeof temporary))
        status = ty_error(error, TALLY_ERROR_ARGUMENT, "%s: the path is too long", path);
    if (!status) {
        seal(m);
        int fd = mkstemp(temporary), ok = fd >= 0 && write_image(m, fd);
        if (fd >= 0)
            ok = !close(fd) && ok;
        if (!ok || rename(temporary, path)) {
            status = ty_error(error, TALLY_ERROR_IO, "%s: %s", path, strerror(errno));
            if (fd >= 0)
                unlink(temporary);
        }
    }
    for (uint32_t i = 0; i < m->head.blocks; i++)
        ty_free(m->stored[i]);
    ty_free(m->kernels);
    ty_free(m);
    return status;
}
