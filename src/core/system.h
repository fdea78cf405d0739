/* SPDX-License-Identifier: Apache-2.0 */
/* What only the system knows or gives beyond C and its threads: system.c asks POSIX,
 * system_windows.c Windows. */
#ifndef TY_SYSTEM_H
#define TY_SYSTEM_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Processors that this process may run on, at least 1. */
unsigned ty_system_processors(void);
/* The machine's memory in bytes, and a processor's nearest cache of data; 0: unknown. */
uint64_t ty_system_memory(void);
uint64_t ty_system_cache(void);
/* Fills the bytes with noise that nobody can guess; 0: there is none, or not yet. */
int ty_system_random(void *bytes, size_t size);
/* Asks for huge pages behind a block; only speed hangs on it. */
void ty_system_huge_pages(void *block, size_t bytes);
/* pthread_create, and signals stay with the program's own threads. */
int ty_system_thread(pthread_t *thread, void *(*run)(void *), void *arg);
/* pthread_atfork. */
int ty_system_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void));

#endif
