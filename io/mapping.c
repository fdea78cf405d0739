/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE       /* F_SETLEASE, F_SETSIG */
#define _FILE_OFFSET_BITS 64

#include "io/mapping.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

#include "core/alloc.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* of Linux 5.14 */
#endif

struct ty_mapping {
    unsigned char *bytes;
    uint64_t size;
    uintptr_t page; /* bytes of one */
    int file;
    pid_t process; /* a child's lease would be this one's */
    pthread_mutex_t lock;
    unsigned lent;
};

/* File systems of this machine alone, which know all who write. */
static int is_local(int file)
{
#ifdef __linux__
    static const uint32_t local[] = {
        0xef53,     /* ext2, ext3, ext4 */
        0x58465342, /* xfs */
        0x9123683e, /* btrfs */
        0xf2f52010, /* f2fs */
        0x01021994, /* tmpfs */
        0x794c7630, /* overlayfs */
    };
    struct statfs about;
    if (fstatfs(file, &about) != 0)
        return 0;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if ((uint32_t)about.f_type == local[i])
            return 1;
#else
    (void)file;
#endif
    return 0;
}

ty_mapping *ty_mapping_make(int file, uint64_t size)
{
    if (!size || size > SIZE_MAX || !is_local(file))
        return NULL;
    ty_mapping *m = ty_calloc(1, sizeof *m);
    void *bytes = m ? mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
    if (bytes == MAP_FAILED) {
        ty_free(m);
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    /* What the cache lacks is read by 2 MiB, and mapped by as much. MADV_SEQUENTIAL is for one
     * thread: with two, files come to lie in single pages, which take ten times as long to map. */
    madvise(bytes, (size_t)size, MADV_HUGEPAGE);
#endif
    m->bytes = bytes;
    m->size = size;
    m->page = (uintptr_t)sysconf(_SC_PAGESIZE);
    m->file = file;
    m->process = getpid();
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

void ty_mapping_free(ty_mapping *m)
{
    if (!m)
        return;
    munmap(m->bytes, (size_t)m->size);
    pthread_mutex_destroy(&m->lock);
    ty_free(m);
}

/* The lease, of a file that is as long as it was. A lease that somebody waits for is asked about
 * before bytes are lent; nobody needs the signal, which would be SIGIO and end the process. So it
 * is one that is ignored where nobody handles it, until it is sent to nobody. */
static int take_lease(const ty_mapping *m)
{
#ifdef F_SETLEASE
    struct stat now;
    if (fcntl(m->file, F_SETSIG, SIGURG) != 0 || fcntl(m->file, F_SETLEASE, F_RDLCK) != 0)
        return 0;
    if (fcntl(m->file, F_SETOWN, 0) == 0 && fstat(m->file, &now) == 0 &&
        (uint64_t)now.st_size >= m->size)
        return 1;
    fcntl(m->file, F_SETLEASE, F_UNLCK);
#else
    (void)m;
#endif
    return 0;
}

static int hold(ty_mapping *m)
{
    pthread_mutex_lock(&m->lock);
    const int held = m->lent ? fcntl(m->file, F_GETLEASE) == F_RDLCK : take_lease(m);
    m->lent += held != 0;
    pthread_mutex_unlock(&m->lock);
    return held;
}

static void let_go(ty_mapping *m)
{
    pthread_mutex_lock(&m->lock);
    if (--m->lent == 0)
        fcntl(m->file, F_SETLEASE, F_UNLCK);
    pthread_mutex_unlock(&m->lock);
}

/* From the page where `bytes` begin to the one where what follows them begins. */
static void advise(const ty_mapping *m, const unsigned char *bytes, size_t size, int advice,
                   int *failed)
{
    const uintptr_t skip = (uintptr_t)bytes % m->page;
    *failed = madvise((void *)(uintptr_t)(bytes - skip), size + skip, advice) != 0;
}

const void *ty_mapping_lend(ty_mapping *m, uint64_t at, size_t size)
{
    if (!m || at > m->size || size > m->size - at || getpid() != m->process || !hold(m))
        return NULL;
    /* Reads what is not there yet; what the disk cannot read fails here, without SIGBUS. */
    int failed;
    advise(m, m->bytes + at, size, MADV_POPULATE_READ, &failed);
    if (!failed)
        return m->bytes + at;
    let_go(m);
    return NULL;
}

void ty_mapping_return(ty_mapping *m, const void *bytes, size_t size)
{
    /* But for the page where what follows begins, which may be the first of a huge one: without it
     * the others would be mapped one by one. */
    const size_t rest = (uintptr_t)((const unsigned char *)bytes + size) % m->page;
    int failed;
    if (size > rest)
        advise(m, bytes, size - rest, MADV_DONTNEED, &failed);
    let_go(m);
}
