/* SPDX-License-Identifier: Apache-2.0 */
/* Members that are whole in memory, each unpacked by one of several threads. What is not good about
 * one is left for reading it in order to say. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/unpack.h"

enum {
    MEMBERS = 1024,           /* at a time */
    WORTH = 1 << 20,          /* bytes for each thread that are worth its start */
    MEMBER_STORED = 16 << 20, /* most of a member; larger ones are read in order */
    MEMBER_BYTES = 32 << 20,
    THREAD_BYTES = 16 << 20, /* most for each thread at a time, and of up to eight of them */
    THREADS = 8
};

typedef struct member {
    size_t from, stored; /* in ty_unpack's `stored` */
    size_t to, most;     /* in the bytes unpacked */
    size_t got;
    int bad;
} member;

struct ty_parts {
    ty_unpack *unpack;
    ty_pool *pool;
    ty_unpacked *out;
    void **states; /* a thread's, opened when it needs one */
    size_t count, bytes;
    member members[MEMBERS];
};

ty_parts *ty_parts_create(ty_unpack *unpack, ty_pool *pool)
{
    ty_parts *p = ty_calloc(1, sizeof *p);
    void **states = ty_calloc(ty_pool_threads(pool), sizeof *states);
    if (!p || !states) {
        ty_free(p);
        ty_free(states);
        return NULL;
    }
    p->unpack = unpack;
    p->pool = pool;
    p->states = states;
    return p;
}

void ty_parts_free(ty_parts *p)
{
    if (!p)
        return;
    for (unsigned i = 0; i < ty_pool_threads(p->pool); i++)
        p->unpack->codec->close(p->states[i]);
    ty_free(p->states);
    ty_free(p);
}

void ty_unpacked_free(ty_unpacked *unpacked)
{
    ty_free(unpacked->bytes);
    ty_free(unpacked->pieces);
    *unpacked = (ty_unpacked){0};
}

tally_status ty_unpacked_reserve(ty_unpacked *unpacked, size_t bytes, tally_error *error)
{
    if (!unpacked->pieces)
        unpacked->pieces = ty_calloc(MEMBERS, sizeof *unpacked->pieces);
    if (!unpacked->pieces)
        return ty_error_memory(error, "unpacked data", MEMBERS * sizeof *unpacked->pieces);
    if (unpacked->bytes && bytes <= unpacked->room)
        return TALLY_OK;
    ty_free(unpacked->bytes);
    unpacked->room = 0;
    unpacked->bytes = ty_malloc(bytes + 1);
    if (!unpacked->bytes)
        return ty_error_memory(error, "unpacked data", bytes + 1);
    unpacked->room = bytes;
    return TALLY_OK;
}

static size_t most_bytes(const ty_parts *p)
{
    const unsigned threads = ty_pool_threads(p->pool);
    return (size_t)(threads < THREADS ? threads : THREADS) * THREAD_BYTES;
}

/* Whether there is enough for all threads, `times` over. */
static int is_enough(const ty_parts *p, unsigned times)
{
    const size_t wanted = (size_t)ty_pool_threads(p->pool) * times;
    return p->count == MEMBERS || (p->count >= wanted && p->bytes >= wanted * WORTH);
}

/* Finds the members at hand. Whether more stored bytes would show more of them. */
static int find_members(ty_parts *p)
{
    const ty_unpack *u = p->unpack;
    p->count = p->bytes = 0;
    for (size_t at = u->at; !is_enough(p, 2);) {
        member m = {.from = at, .to = p->bytes};
        const size_t left = u->end - at;
        const int known = left ? u->codec->measure(u->stored + at, left, &m.stored, &m.most) : -1;
        if (!known || (known < 0 && left > MEMBER_STORED) || m.stored > MEMBER_STORED ||
            m.most > MEMBER_BYTES || (p->count && p->bytes + m.most > most_bytes(p)))
            return 0;
        if (known < 0 || m.stored > left)
            return 1;
        p->members[p->count++] = m;
        p->bytes += m.most;
        at += m.stored;
    }
    return 0;
}

/* Finds the next members, and reads on until there are enough of them. */
static tally_status gather(ty_parts *p, tally_error *error)
{
    ty_unpack *u = p->unpack;
    while (find_members(p) && !is_enough(p, 1)) {
        if (u->at) {
            memmove(u->stored, u->stored + u->at, u->end - u->at);
            u->end -= u->at;
            u->at = 0;
        } else if (u->end == u->room) {
            if (u->room >= most_bytes(p))
                return TALLY_OK;
            unsigned char *stored = ty_realloc(u->stored, 2 * u->room);
            if (!stored)
                return ty_error_memory(error, "compressed data", 2 * u->room);
            u->stored = stored;
            u->room *= 2;
        }
        const size_t before = u->end;
        tally_status status = ty_unpack_fill(u, error);
        if (status)
            return status;
        if (u->end == before) {
            find_members(p);
            return TALLY_OK;
        }
    }
    return TALLY_OK;
}

static void unpack_member(void *arg, unsigned index, unsigned worker)
{
    ty_parts *p = arg;
    member *m = p->members + index;
    const ty_codec *codec = p->unpack->codec;
    if (!p->states[worker])
        p->states[worker] = codec->open();
    m->bad = !p->states[worker] || codec->whole(p->states[worker], p->unpack->stored + m->from,
                                                m->stored, p->out->bytes + m->to, m->most, &m->got);
}

tally_status ty_parts_read(ty_parts *p, ty_unpacked *out, tally_error *error)
{
    out->count = 0;
    tally_status status = gather(p, error);
    if (!status && p->count)
        status = ty_unpacked_reserve(out, p->bytes, error);
    if (status || !p->count)
        return status;
    p->out = out;
    ty_pool_run(p->pool, 0, (unsigned)p->count, unpack_member, p);
    for (size_t i = 0; i < p->count && !p->members[i].bad; i++) {
        const member *m = p->members + i;
        out->pieces[out->count++] = (ty_piece){m->to, m->got};
        p->unpack->at = m->from + m->stored;
    }
    return TALLY_OK;
}
