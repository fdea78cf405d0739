/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "core/system.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

unsigned ty_system_processors(void)
{
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set))
        return (unsigned)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

uint64_t ty_system_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

uint64_t ty_system_cache(void)
{
    long cache = 0;
#ifdef _SC_LEVEL1_DCACHE_SIZE
    cache = sysconf(_SC_LEVEL1_DCACHE_SIZE);
#endif
    return cache > 0 ? (uint64_t)cache : 0;
}

int ty_system_random(void *bytes, size_t size)
{
    ssize_t got;
    do
        got = getrandom(bytes, size, GRND_NONBLOCK);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

void ty_system_huge_pages(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    madvise(block, bytes, MADV_HUGEPAGE);
#else
    (void)block;
    (void)bytes;
#endif
}

int ty_system_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int refused = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return refused;
}

int ty_system_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void))
{
    return pthread_atfork(before, after, in_child);
}
