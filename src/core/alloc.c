/* SPDX-License-Identifier: Apache-2.0 */
#include "core/alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/system.h"

#ifdef _WIN32
/* What has an alignment there is freed by a function of its own: everything is given one. */
#define malloc(bytes)         _aligned_malloc(bytes, 16)
#define calloc(count, size)   cleared(count, size)
#define realloc(block, bytes) _aligned_realloc(block, bytes, 16)
#define free(block)           _aligned_free(block)

static void *cleared(size_t count, size_t size)
{
    size_t bytes;
    void *block = __builtin_mul_overflow(count, size, &bytes) ? NULL : _aligned_malloc(bytes, 16);
    return block ? memset(block, 0, bytes) : NULL;
}

static int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    *block = _aligned_malloc(bytes, alignment);
    return !*block;
}
#endif

static atomic_long remaining = -1;
static atomic_int only_one = 0; /* the first that fails switches the hook off */
static atomic_long asked = 0;
static atomic_ullong asked_bytes = 0;

void ty_alloc_fail_after(long after)
{
    atomic_store(&only_one, 0);
    atomic_store(&remaining, after);
}

void ty_alloc_fail_once(long after)
{
    atomic_store(&only_one, 1);
    atomic_store(&remaining, after);
}

long ty_alloc_count(void)
{
    return atomic_load(&asked);
}

unsigned long long ty_alloc_bytes(void)
{
    return atomic_load(&asked_bytes);
}

/* One relaxed load in ordinary use; the counting happens only while a test has armed the hook. */
static int refused(size_t bytes)
{
    long left = atomic_load_explicit(&remaining, memory_order_relaxed);
    if (left < 0)
        return 0;
    atomic_fetch_add(&asked, 1);
    atomic_fetch_add(&asked_bytes, bytes);
    while (left > 0) {
        if (atomic_compare_exchange_weak(&remaining, &left, left - 1))
            return 0;
    }
    if (left == 0 && atomic_load(&only_one))
        atomic_store(&remaining, -1);
    return left == 0;
}

void *ty_malloc(size_t bytes)
{
    return refused(bytes) ? NULL : malloc(bytes ? bytes : 1);
}

void *ty_calloc(size_t count, size_t size)
{
    return refused(count * size) ? NULL : calloc(count ? count : 1, size ? size : 1);
}

void *ty_realloc(void *block, size_t bytes)
{
    return refused(bytes) ? NULL : realloc(block, bytes ? bytes : 1);
}

void *ty_aligned(size_t alignment, size_t bytes)
{
    void *block = NULL;
    if (refused(bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    return posix_memalign(&block, alignment, bytes ? bytes : alignment) ? NULL : block;
}

void *ty_large(size_t bytes)
{
    const size_t page = (size_t)2 << 20;
    const int large = bytes >= 2 * page;
    void *block = ty_aligned(large ? page : 64, bytes);
    if (block && large)
        ty_system_huge_pages(block, bytes & ~(page - 1));
    return block;
}

void ty_free(void *block)
{
    free(block);
}
