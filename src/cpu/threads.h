/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads that the caller joins: a call never waits for a thread to start, and completes
 * even if none can be started. */
#ifndef TY_THREADS_H
#define TY_THREADS_H

typedef struct ty_pool ty_pool;

/* `threads` in all, the caller's included; 0 for one a processor this process may use. No thread is
 * started before the first call that has two parts. NULL when memory is out. */
ty_pool *ty_pool_create(unsigned threads);
void ty_pool_destroy(ty_pool *pool); /* no call may be in progress */
unsigned ty_pool_threads(const ty_pool *pool);

/* Runs task(arg, part, worker) for part 0 … parts-1, in any order and on any thread, and returns
 * when all are done. At most `workers` threads take part (0: as many as there are). `worker` is
 * below that, 0 is the calling thread, and two parts of one call with the same worker do not
 * overlap. Safe from several threads at once, from inside a task, and after fork. */
void ty_pool_run(ty_pool *pool, unsigned workers, unsigned parts,
                 void (*task)(void *arg, unsigned part, unsigned worker), void *arg);

#endif
