/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stand-ins for driver libraries share. Each (libOpenCL, libcuda, libnvrtc) implements
 * what Tally's tables call: memory is the host's, copies happen when the queue is waited for (so
 * that memory given back too early shows), launches are checked and do nothing. They are ruled by
 * the environment, read at every call; NAME is OPENCL, CUDA or NVRTC:
 *
 *     FAKE_NAME_FAIL=K     call K fails (the first is 1) …
 *     FAKE_NAME_CODE=C     … with code C
 *     FAKE_NAME_LOST=1     … and so do all calls after it
 *     FAKE_NAME_OF=D       only calls for device D count as calls (CUDA, the current context's)
 *     FAKE_NAME_DEVICES=N  how many devices there are
 *     FAKE_NAME_MEMORY=B   bytes that a device has
 *     others               see where fake_text and fake_number are used
 *
 * Functions that give something back do so even when they fail.
 */
#ifndef FAKE_H
#define FAKE_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_API __attribute__((visibility("default")))
#define FAKE_FN  static __attribute__((unused)) /* not every library uses all */

typedef enum fake_kind {
    FAKE_NONE,
    FAKE_CONTEXT,
    FAKE_QUEUE,
    FAKE_BUFFER,
    FAKE_HOST_MEMORY,
    FAKE_PROGRAM,
    FAKE_KERNEL,
    FAKE_EVENT,
    FAKE_KINDS
} fake_kind;

typedef struct fake_copy {
    void *to;
    const void *from; /* NULL: zeros */
    size_t bytes;
    struct fake_object *after; /* instead: what is on this queue comes first */
    struct fake_copy *next;
} fake_copy;

typedef struct fake_object {
    fake_kind kind;
    int references;
    size_t bytes;         /* buffers */
    unsigned char *block; /* buffers, programs: their text or code */
    fake_copy *pending;   /* queues */
    struct fake_object *of;
    int number, finishing;            /* contexts: the device's; queues: they are waited for */
    uint64_t arguments;               /* kernels: bits of those that are set */
    struct fake_object *next, **back; /* all live ones, so that what a driver keeps is no leak */
} fake_object;

static struct {
    pthread_mutex_t lock;
    long calls;
    const char *failed;
    long live[FAKE_KINDS];
    fake_object *all;
    size_t memory;
    struct {
        const char *name;
        long count;
    } names[64];
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

FAKE_FN const char *fake_text(const char *key, const char *standard)
{
    char variable[64];
    snprintf(variable, sizeof variable, "FAKE_" FAKE_NAME "_%s", key);
    const char *value = getenv(variable);
    return value ? value : standard;
}

FAKE_FN long fake_number(const char *key, long standard)
{
    const char *value = fake_text(key, NULL);
    return value ? strtol(value, NULL, 10) : standard;
}

FAKE_FN void fake_die(const char *call, const char *what)
{
    fprintf(stderr, "fake " FAKE_NAME ": %s: %s\n", call, what);
    abort();
}

#ifndef FAKE_DEVICE
#define FAKE_DEVICE -1 /* of the call */
#endif

/* Counts a call; the code that it is to fail with, or 0. */
FAKE_FN int fake_enter(const char *name)
{
    long at = fake_number("FAIL", 0), only = fake_number("OF", -1);
    if (only >= 0 && only != FAKE_DEVICE)
        at = 0;
    pthread_mutex_lock(&fake.lock);
    fake.calls += only < 0 || only == FAKE_DEVICE;
    int i = 0;
    while (i < 63 && fake.names[i].name && strcmp(fake.names[i].name, name) != 0)
        i++;
    fake.names[i].name = name;
    fake.names[i].count++;
    /* With a lost device contexts can still be pushed and popped. */
    int later = fake.calls > at && fake_number("LOST", 0) && strncmp(name, "cuCtxP", 6) != 0;
    int fails = at && (fake.calls == at || later);
    if (fails && !fake.failed)
        fake.failed = name;
    pthread_mutex_unlock(&fake.lock);
    return fails ? (int)fake_number("CODE", 1) : 0;
}

FAKE_FN fake_object *fake_new(fake_kind kind, size_t bytes)
{
    fake_object *o = calloc(1, sizeof *o);
    if (!o)
        abort();
    o->kind = kind;
    o->references = 1;
    o->bytes = bytes;
    if (bytes && !(o->block = malloc(bytes)))
        abort();
    if (bytes)
        memset(o->block, 0xa5, bytes);
    pthread_mutex_lock(&fake.lock);
    fake.live[kind]++;
    o->next = fake.all;
    o->back = &fake.all;
    if (o->next)
        o->next->back = &o->next;
    fake.all = o;
    fake.memory += kind == FAKE_BUFFER ? bytes : 0;
    pthread_mutex_unlock(&fake.lock);
    return o;
}

/* `handle` as an object of that kind; a handle that is not one is the caller's error. */
FAKE_FN fake_object *fake_is(const void *handle, fake_kind kind, const char *call)
{
    fake_object *o = (fake_object *)(uintptr_t)handle;
    if (!o || o->kind != kind || o->references < 1)
        fake_die(call, "not a live handle of the right kind");
    return o;
}

FAKE_FN void fake_drop(fake_object *o)
{
    while (o->pending) {
        fake_copy *next = o->pending->next;
        free(o->pending);
        o->pending = next;
    }
}

FAKE_FN void fake_release(fake_object *o)
{
    if (--o->references)
        return;
    if (o->pending && !fake.failed)
        fake_die("release", "a queue with copies under way");
    fake_drop(o);
    pthread_mutex_lock(&fake.lock);
    fake.live[o->kind]--;
    *o->back = o->next;
    if (o->next)
        o->next->back = o->back;
    fake.memory -= o->kind == FAKE_BUFFER ? o->bytes : 0;
    pthread_mutex_unlock(&fake.lock);
    free(o->block);
    o->kind = FAKE_NONE;
    free(o);
}

FAKE_FN void fake_later(fake_object *queue, void *to, const void *from, size_t bytes)
{
    fake_copy *copy = malloc(sizeof *copy), **end = &queue->pending;
    if (!copy)
        abort();
    *copy = (fake_copy){to, from, bytes, NULL, NULL};
    while (*end)
        end = &(*end)->next;
    *end = copy;
}

FAKE_FN void fake_finish(fake_object *queue)
{
    if (queue->finishing) /* it waits for one that waits for what it has done */
        return;
    queue->finishing = 1;
    while (queue->pending) {
        fake_copy *c = queue->pending;
        queue->pending = c->next;
        if (c->after)
            fake_finish(c->after);
        else if (c->from)
            memcpy(c->to, c->from, c->bytes);
        else
            memset(c->to, 0, c->bytes);
        free(c);
    }
    queue->finishing = 0;
}

/* What is on `before` now comes ahead of what is put on `queue` from now on. */
FAKE_FN void fake_follow(fake_object *queue, fake_object *before)
{
    fake_later(queue, NULL, NULL, 0);
    fake_copy *last = queue->pending;
    while (last->next)
        last = last->next;
    last->after = before;
}

FAKE_FN int fake_memory_left(size_t bytes)
{
    return fake.memory + bytes <= (size_t)fake_number("MEMORY", 1L << 30);
}

/* ---- for tests, through dlsym ---- */

/* Forgets the calls so far. */
FAKE_API void fake_begin(void)
{
    fake.calls = 0;
    fake.failed = NULL;
    memset(fake.names, 0, sizeof fake.names);
}

FAKE_API long fake_calls(const char *name)
{
    for (int i = 0; name && i < 64 && fake.names[i].name; i++) {
        if (!strcmp(fake.names[i].name, name))
            return fake.names[i].count;
    }
    return name ? 0 : fake.calls;
}

/* The call that was made to fail, or NULL. */
FAKE_API const char *fake_failed(void)
{
    return fake.failed;
}

/* A caller's stream, in the context of a device; and given back. */
FAKE_API void *fake_stream_of(int device)
{
    fake_object *q = fake_new(FAKE_QUEUE, 0), *of = fake.all;
    while (of && (of->kind != FAKE_CONTEXT || of->number != device))
        of = of->next;
    q->of = of;
    return q;
}

FAKE_API void *fake_stream(void)
{
    return fake_stream_of(0);
}

FAKE_API void fake_stream_close(void *stream)
{
    fake_object *q = stream;
    fake_finish(q);
    fake_release(q);
}

/* How many things were not given back; their kinds go to `text`. */
FAKE_API long fake_live(char *text, size_t size)
{
    static const char *const kinds[FAKE_KINDS] = {"",       "context", "queue",  "buffer",
                                                  "pinned", "program", "kernel", "event"};
    long all = 0;
    size_t at = 0;
    text[0] = '\0';
    for (int k = 0; k < FAKE_KINDS; k++) {
        all += fake.live[k];
        if (fake.live[k] && at < size)
            at += (size_t)snprintf(text + at, size - at, " %s %ld", kinds[k], fake.live[k]);
    }
    return all;
}

#endif
