/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation for the whole library, in one place so that a test can make any one of them fail. */
#ifndef TY_ALLOC_H
#define TY_ALLOC_H

#include <stddef.h>

/* Each returns NULL when memory is out or the size overflows; the result is released by ty_free. */
void *ty_malloc(size_t bytes);
void *ty_calloc(size_t count, size_t size);
void *ty_realloc(void *block, size_t bytes);
/* `alignment` is a power of two, at least sizeof(void *); the bytes are not cleared. */
void *ty_aligned(size_t alignment, size_t bytes);
/* For what is read and written all over: in huge pages if it is large. Aligned to 64 bytes. */
void *ty_large(size_t bytes);
void ty_free(void *block);

/* Test hook: the next `after` allocations succeed and all later ones fail; a negative value
 * switches the hook off. Process-wide and atomic. ty_alloc_count says how many were asked for so
 * far while it was on, ty_alloc_bytes their bytes. */
void ty_alloc_fail_after(long after);
/* The same, but of the later ones only the first fails: that of large blocks, say. */
void ty_alloc_fail_once(long after);
long ty_alloc_count(void);
unsigned long long ty_alloc_bytes(void);

#endif
