/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that a device, and nobody else, reads: written past the caches. */
#ifndef TY_COPY_H
#define TY_COPY_H

#include <stddef.h>

/* memcpy. What it has written is in memory when it returns, for any other thread to hand on. */
void ty_copy_past(void *to, const void *from, size_t bytes);

#if defined(__x86_64__)
void ty_copy_past_avx512(void *to, const void *from, size_t bytes);
#endif

/* How far ahead it asks for what it will read: one thread alone keeps too little on its way. */
enum { TY_COPY_AHEAD = 8 << 10, TY_COPY_LINE = 64 };

#endif
