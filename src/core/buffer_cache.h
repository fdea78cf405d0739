/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for large tables that outlives a call: new pages cost as much as counting some millions of
 * samples, so a context keeps the buffer that its last call used for the next.
 */
#ifndef TY_BUFFER_CACHE_H
#define TY_BUFFER_CACHE_H

#include <stddef.h>

typedef struct ty_buffer {
    size_t bytes;
    size_t clean; /* so many of the first are zeros; whoever writes there keeps it true */
    void *data;   /* aligned to 64 bytes */
} ty_buffer;

/* Keeps one buffer between calls; all zeros is an empty one. Calls that overlap find it empty and
 * get memory of their own. Any thread may use one at any time, but for ty_buffer_cache_clear. */
typedef struct ty_buffer_cache {
    _Atomic(ty_buffer *) buffer;
} ty_buffer_cache;

/* From this size on buffers are kept. */
enum { TY_BUFFER_KEPT_LEAST = 128 << 10 };

/* What is asked of the system for so many bytes. */
size_t ty_buffer_bytes(size_t bytes);

/* A buffer of at least `bytes`, the kept one if it is large enough; NULL when memory is out. The
 * caller gives it back by ty_buffer_return. */
ty_buffer *ty_buffer_take(ty_buffer_cache *cache, size_t bytes);

/* Keeps the buffer, or frees it where it is small or too large to hold on to. NULL is fine. */
void ty_buffer_return(ty_buffer_cache *cache, ty_buffer *buffer);

/* Frees what is kept. */
void ty_buffer_cache_clear(ty_buffer_cache *cache);

#endif
