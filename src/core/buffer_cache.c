/* SPDX-License-Identifier: Apache-2.0 */
#include "core/buffer_cache.h"

#include <stdatomic.h>
#include <stdint.h>

#include "core/alloc.h"
#include "core/system.h"

/* In front of a buffer's memory is its description. */
enum { HEAD = 64 };
_Static_assert(sizeof(ty_buffer) <= HEAD, "it fits");

/* What a context may hold on to; the pages that large buffers ask for. */
static const size_t most_kept = (size_t)64 << 20, page = (size_t)2 << 20;

size_t ty_buffer_bytes(size_t bytes)
{
    const int large = bytes >= TY_BUFFER_KEPT_LEAST;
    return large ? (bytes + HEAD + page - 1) & ~(page - 1) : bytes + HEAD;
}

static ty_buffer *make(size_t bytes)
{
    const int large = bytes >= TY_BUFFER_KEPT_LEAST;
    if (bytes > SIZE_MAX / 4)
        return NULL;
    const size_t all = ty_buffer_bytes(bytes);
    ty_buffer *buffer = ty_aligned(large ? page : 64, all);
    if (!buffer)
        return NULL;
    if (large)
        ty_system_huge_pages(buffer, all);
    *buffer = (ty_buffer){all - HEAD, 0, (unsigned char *)buffer + HEAD};
    return buffer;
}

ty_buffer *ty_buffer_take(ty_buffer_cache *cache, size_t bytes)
{
    if (bytes < TY_BUFFER_KEPT_LEAST)
        return make(bytes);
    ty_buffer *buffer = atomic_exchange(&cache->buffer, NULL);
    if (buffer && buffer->bytes >= bytes)
        return buffer;
    ty_free(buffer);
    return make(bytes);
}

void ty_buffer_return(ty_buffer_cache *cache, ty_buffer *buffer)
{
    if (buffer && buffer->bytes >= TY_BUFFER_KEPT_LEAST && buffer->bytes <= most_kept)
        buffer = atomic_exchange(&cache->buffer, buffer);
    ty_free(buffer);
}

void ty_buffer_cache_clear(ty_buffer_cache *cache)
{
    ty_free(atomic_exchange(&cache->buffer, NULL));
}
