/* SPDX-License-Identifier: Apache-2.0 */
#define _CRT_RAND_S
#include "core/system.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

unsigned ty_system_processors(void)
{
    DWORD_PTR ours = 0, all = 0;
    GetProcessAffinityMask(GetCurrentProcess(), &ours, &all);
    return ours ? (unsigned)__builtin_popcountll(ours) : 1;
}

uint64_t ty_system_memory(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : 0;
}

uint64_t ty_system_cache(void)
{
    return 0;
}

int ty_system_random(void *bytes, size_t size)
{
    unsigned word;
    for (size_t at = 0; at < size; at += sizeof word) {
        if (rand_s(&word))
            return 0;
        memcpy((char *)bytes + at, &word, size - at < sizeof word ? size - at : sizeof word);
    }
    return 1;
}

/* Large pages there are a privilege, and never swapped: nothing to ask for by the way. */
void ty_system_huge_pages(void *block, size_t bytes)
{
    (void)block;
    (void)bytes;
}

int ty_system_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
    return pthread_create(thread, NULL, run, arg);
}

/* Nothing forks there. */
int ty_system_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void))
{
    (void)before;
    (void)after;
    (void)in_child;
    return 0;
}
