/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/system.h"

enum { most_threads = 1024 };

/* One ty_pool_run in progress; lives on its caller's stack. */
typedef struct call {
    void (*task)(void *arg, unsigned part, unsigned worker);
    void *arg;
    unsigned parts, next; /* next unclaimed part */
    unsigned unfinished;  /* parts not done yet */
    unsigned workers;     /* numbers handed out */
    unsigned limit;       /* most of them */
    struct call *older;
} call;

struct ty_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    call *calls; /* with unclaimed parts, newest first */
    pthread_t *started;
    unsigned threads, running; /* wanted, the caller's included; started */
    int stop, begun;
    pid_t owner; /* threads do not survive a fork */
};

ty_pool *ty_pool_create(unsigned threads)
{
    ty_pool *pool = ty_calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->threads = threads ? threads : ty_system_processors();
    if (pool->threads > most_threads)
        pool->threads = most_threads;
    pool->started = ty_calloc(pool->threads, sizeof *pool->started);
    if (!pool->started) {
        ty_free(pool);
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->owner = getpid();
    return pool;
}

unsigned ty_pool_threads(const ty_pool *pool)
{
    return pool->threads;
}

static void unlink_call(ty_pool *pool, call *c)
{
    call **at = &pool->calls;
    while (*at && *at != c)
        at = &(*at)->older;
    if (*at)
        *at = c->older;
}

/* With the lock held: takes parts of `c` until none is unclaimed. */
static void help(ty_pool *pool, call *c)
{
    unsigned worker = c->workers++;
    while (c->next < c->parts) {
        unsigned part = c->next++;
        if (c->next == c->parts)
            unlink_call(pool, c);
        pthread_mutex_unlock(&pool->lock);
        c->task(c->arg, part, worker);
        pthread_mutex_lock(&pool->lock);
        if (!--c->unfinished) {
            pthread_cond_broadcast(&pool->done);
            return; /* the caller may have returned: c is gone */
        }
    }
}

static void *serve(void *arg)
{
    ty_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        call *c = pool->calls;
        while (c && c->workers == c->limit)
            c = c->older;
        if (pool->stop)
            break;
        if (c)
            help(pool, c);
        else
            pthread_cond_wait(&pool->work, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* With the lock held. */
static void start_threads(ty_pool *pool)
{
    pool->begun = 1;
    while (pool->running + 1 < pool->threads) {
        if (ty_system_thread(&pool->started[pool->running], serve, pool))
            break;
        pool->running++;
    }
}

void ty_pool_run(ty_pool *pool, unsigned workers, unsigned parts,
                 void (*task)(void *, unsigned, unsigned), void *arg)
{
    if (!workers || workers > pool->threads)
        workers = pool->threads;
    if (parts <= 1 || workers == 1 || pool->owner != getpid()) {
        for (unsigned i = 0; i < parts; i++)
            task(arg, i, 0);
        return;
    }
    call c = {task, arg, parts, 0, parts, 0, workers, NULL};
    pthread_mutex_lock(&pool->lock);
    if (!pool->begun)
        start_threads(pool);
    c.older = pool->calls;
    pool->calls = &c;
    if (pool->running)
        pthread_cond_broadcast(&pool->work);
    help(pool, &c);
    while (c.unfinished)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void ty_pool_destroy(ty_pool *pool)
{
    if (!pool)
        return;
    if (pool->owner == getpid()) {
        pthread_mutex_lock(&pool->lock);
        pool->stop = 1;
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->lock);
        for (unsigned i = 0; i < pool->running; i++)
            pthread_join(pool->started[i], NULL);
        pthread_cond_destroy(&pool->work);
        pthread_cond_destroy(&pool->done);
        pthread_mutex_destroy(&pool->lock);
    }
    ty_free(pool->started);
    ty_free(pool);
}
