/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that unpacks while its caller uses what came before: a ring of blocks, which one fills
 * and the other empties. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/unpack.h"

enum { BLOCKS = 3, BLOCK_BYTES = 1 << 20 };

typedef struct block {
    ty_unpacked data;
    uint64_t stored; /* behind it */
    int spooled;
    int last; /* nothing follows: the end, or `status` says what went wrong */
    tally_status status;
    tally_error error;
} block;

struct ty_ahead {
    ty_unpack *unpack;
    ty_parts *parts;
    pthread_t thread;
    int wake[2]; /* a pipe: its end is closed to stop waiting for another one */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t filled, emptied; /* blocks so far; under the lock */
    int stop;
    block blocks[BLOCKS];
    size_t piece, done; /* of the block that is being emptied */
    uint64_t stored;
    int spooled;
};

/* ---- Filling ---- */

static tally_status fill_in_order(ty_unpack *u, block *b, int *last, tally_error *error)
{
    ty_unpacked *d = &b->data;
    size_t got;
    tally_status status = ty_unpacked_reserve(d, BLOCK_BYTES, error);
    if (status)
        return status;
    status = ty_unpack_read(u, d->bytes, BLOCK_BYTES, &got, error);
    *last = !got;
    d->pieces[0] = (ty_piece){0, got};
    d->count = 1;
    return status;
}

static void fill(ty_ahead *a, block *b)
{
    ty_unpack *u = a->unpack;
    b->data.count = 0;
    b->last = 0;
    b->status = TALLY_OK;
    if (u->codec && u->between)
        b->status = ty_parts_read(a->parts, &b->data, &b->error);
    if (!b->status && !b->data.count)
        b->status = fill_in_order(u, b, &b->last, &b->error);
    if (b->status) {
        b->data.count = 0;
        b->last = 1;
    }
    b->stored = ty_unpack_stored(u);
    b->spooled = u->origin->spool.file >= 0;
}

static void *run(void *arg)
{
    ty_ahead *a = arg;
    pthread_mutex_lock(&a->lock);
    for (int last = 0; !last;) {
        while (a->filled - a->emptied == BLOCKS && !a->stop)
            pthread_cond_wait(&a->changed, &a->lock);
        if (a->stop)
            break;
        block *b = a->blocks + a->filled % BLOCKS;
        pthread_mutex_unlock(&a->lock);
        fill(a, b);
        last = b->last;
        pthread_mutex_lock(&a->lock);
        a->filled++;
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* ---- Starting and ending ---- */

static void release(ty_ahead *a)
{
    a->unpack->origin->wake = -1;
    a->unpack->by_piece = 0;
    if (a->wake[0] >= 0) {
        close(a->wake[0]);
        close(a->wake[1]);
    }
    for (int i = 0; i < BLOCKS; i++)
        ty_unpacked_free(&a->blocks[i].data);
    if (a->unpack->codec)
        ty_parts_free(a->parts);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->changed);
    ty_free(a);
}

/* Signals stay with the program's own threads. */
static int start_thread(ty_ahead *a)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int failed = pthread_create(&a->thread, NULL, run, a);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failed;
}

ty_ahead *ty_ahead_start(ty_unpack *unpack, ty_pool *pool)
{
    ty_ahead *a = ty_calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->unpack = unpack;
    unpack->by_piece = 1;
    a->wake[0] = a->wake[1] = -1;
    a->stored = ty_unpack_stored(unpack);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    int failed = unpack->codec && !(a->parts = ty_parts_create(unpack, pool));
    if (!failed && !unpack->origin->seekable) {
        fcntl(unpack->origin->file, F_SETPIPE_SZ, BLOCK_BYTES); /* if it is a pipe and may grow */
        failed = pipe2(a->wake, O_CLOEXEC);
        unpack->origin->wake = a->wake[0];
    }
    if (!failed && !start_thread(a))
        return a;
    release(a);
    return NULL;
}

void ty_ahead_stop(ty_ahead *a)
{
    static const char byte = 0;
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = 1;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    while (a->wake[1] >= 0 && write(a->wake[1], &byte, 1) == 0)
        continue;
    pthread_join(a->thread, NULL);
    release(a);
}

/* ---- Emptying ---- */

static void give_back(ty_ahead *a, const block *b)
{
    a->stored = b->stored;
    a->spooled = b->spooled;
    a->piece = a->done = 0;
    pthread_mutex_lock(&a->lock);
    a->emptied++;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

/* The oldest block, when it is filled. */
static const block *await(ty_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    while (a->filled == a->emptied)
        pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
    return a->blocks + a->emptied % BLOCKS;
}

tally_status ty_ahead_read(ty_ahead *a, unsigned char *bytes, size_t size, size_t *got,
                           tally_error *error)
{
    *got = 0;
    while (*got < size) {
        const block *b = await(a);
        if (a->piece == b->data.count) {
            a->stored = b->stored;
            a->spooled = b->spooled;
            if (b->status)
                return ty_error(error, b->status, "%s", b->error.message);
            if (b->last)
                return TALLY_OK; /* it stays, and says so again */
            give_back(a, b);
            continue;
        }
        const ty_piece *p = b->data.pieces + a->piece;
        const size_t left = p->size - a->done, take = left < size - *got ? left : size - *got;
        memcpy(bytes + *got, b->data.bytes + p->at + a->done, take);
        *got += take;
        a->done += take;
        if (a->done == p->size) {
            a->done = 0;
            a->piece++;
        }
    }
    return TALLY_OK;
}

uint64_t ty_ahead_stored(const ty_ahead *ahead)
{
    return ahead->stored;
}

int ty_ahead_is_spooled(const ty_ahead *ahead)
{
    return ahead->spooled;
}
