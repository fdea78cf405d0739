/* SPDX-License-Identifier: Apache-2.0 */
#include "core/gather.h"

#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

enum {
    BLOCK = TY_ORDER_BLOCK,
    MANY_RANKS = 16, /* and more, of MANY_KEYS and more: buckets pay */
    MANY_KEYS = 1 << 16,
};

static size_t key_bytes(const ty_gather *g)
{
    return g->wide ? 8 : 4;
}

tally_status ty_gather_make(ty_gather *g, tally_dtype dtype, unsigned workers, tally_error *error)
{
    *g = (ty_gather){.loops = ty_order_loops_get(), .dtype = dtype, .worker_count = workers};
    g->wide = tally_dtype_bytes(dtype) == 8;
    g->workers = ty_calloc(workers, sizeof *g->workers);
    return g->workers ? TALLY_OK
                      : ty_error_memory(error, "finding quantiles", workers * sizeof *g->workers);
}

void ty_gather_free(ty_gather *g)
{
    for (unsigned i = 0; g->workers && i < g->worker_count; i++) {
        ty_free(g->workers[i].keys);
        ty_free(g->workers[i].brackets);
    }
    ty_free(g->workers);
    g->workers = NULL;
}

tally_status ty_gather_begin(ty_gather *g, const ty_order_bracket *brackets, unsigned count,
                             tally_error *error)
{
    const size_t bytes = count * sizeof *brackets;
    g->bracket_count = count;
    for (unsigned i = 0; i < g->worker_count; i++) {
        ty_gather_worker *w = &g->workers[i];
        w->count = 0;
        w->samples = w->nan = 0;
        ty_free(w->brackets);
        w->brackets = NULL;
        if (!count)
            continue;
        w->brackets = ty_malloc(bytes);
        if (!w->brackets)
            return ty_error_memory(error, "finding quantiles", bytes);
        memcpy(w->brackets, brackets, bytes);
    }
    return TALLY_OK;
}

static size_t count_nan(int wide, const void *keys, size_t count)
{
    const int32_t *narrow = keys;
    const int64_t *long_keys = keys;
    size_t nan = 0;
    for (size_t i = 0; i < count; i++)
        nan += wide ? long_keys[i] == INT64_MAX : narrow[i] == INT32_MAX;
    return nan;
}

size_t ty_gather_load(const ty_gather *g, const void *samples, const unsigned char *mask,
                      size_t count, void *keys, uint64_t *nan)
{
    const size_t all_nan = g->loops->load(g->dtype, samples, count, keys);
    if (mask)
        count = g->loops->pick(g->wide, keys, mask, count);
    *nan += mask && all_nan ? count_nan(g->wide, keys, count) : all_nan;
    return count;
}

static int reserve(const ty_gather *g, ty_gather_worker *w)
{
    if (w->capacity - w->count >= BLOCK + TY_ORDER_SLACK)
        return 1;
    const size_t capacity = 2 * w->capacity + 4 * BLOCK;
    void *keys = ty_realloc(w->keys, capacity * key_bytes(g));
    if (!keys) {
        w->failed = 1;
        return 0;
    }
    w->keys = keys;
    w->capacity = capacity;
    return 1;
}

void ty_gather_keep(const ty_gather *g, ty_gather_worker *w, const void *keys, size_t count)
{
    if (!reserve(g, w))
        return;
    memcpy((char *)w->keys + w->count * key_bytes(g), keys, count * key_bytes(g));
    w->count += count;
}

void ty_gather_scan(const ty_gather *g, ty_gather_worker *w, const void *keys, size_t count)
{
    if (g->bracket_count && reserve(g, w))
        w->count += g->loops->scan(g->wide, keys, count, w->brackets, g->bracket_count,
                                   (char *)w->keys + w->count * key_bytes(g));
}

/* All workers' keys behind those of the first, which has space for them and no less. */
tally_status ty_gather_join(ty_gather *g, tally_error *error)
{
    ty_gather_worker *first = &g->workers[0];
    size_t count = 0;
    for (unsigned i = 0; i < g->worker_count; i++) {
        if (g->workers[i].failed)
            return ty_error(error, TALLY_ERROR_MEMORY, "no memory for finding quantiles");
        count += g->workers[i].count;
    }
    if (count > first->capacity) {
        void *keys = ty_realloc(first->keys, count * key_bytes(g));
        if (!keys)
            return ty_error_memory(error, "finding quantiles", count * key_bytes(g));
        first->keys = keys;
        first->capacity = count;
    }
    for (unsigned i = 1; i < g->worker_count; i++) {
        const ty_gather_worker *w = &g->workers[i];
        if (w->count)
            memcpy((char *)first->keys + first->count * key_bytes(g), w->keys,
                   w->count * key_bytes(g));
        first->count += w->count;
        for (unsigned b = 0; b < g->bracket_count; b++) {
            ty_order_bracket *into = &first->brackets[b];
            const ty_order_bracket *from = &w->brackets[b];
            into->below_lo += from->below_lo;
            into->to_lo += from->to_lo;
            into->inside += from->inside;
            into->to_hi += from->to_hi;
        }
    }
    return TALLY_OK;
}

const ty_order_bracket *ty_gather_find(const ty_gather *g, unsigned *b, uint64_t r)
{
    const ty_order_bracket *brackets = g->workers[0].brackets;
    while (*b < g->bracket_count && r >= brackets[*b].to_hi)
        ++*b;
    return *b < g->bracket_count && r >= brackets[*b].below_lo ? &brackets[*b] : NULL;
}

/* Without memory to work in it is only slower. */
void ty_gather_select(const ty_gather *g, const uint64_t *ranks, unsigned count, int64_t *keys)
{
    const ty_gather_worker *all = &g->workers[0];
    void *scratch = NULL;
    if ((count > MANY_RANKS || !g->bracket_count) && all->count > MANY_KEYS &&
        all->count <= UINT32_MAX)
        scratch = ty_malloc(TY_ORDER_SCRATCH);
    g->loops->select(g->wide, all->keys, all->count, ranks, count, keys, scratch);
    ty_free(scratch);
}

/* Those at a bracket's ends by the counts, the others by selecting among what was kept. */
int ty_gather_resolve(const ty_gather *g, const uint64_t *ranks, unsigned count, uint64_t *among,
                      int64_t *places, int64_t *keys)
{
    uint64_t before = 0; /* kept of the brackets before */
    unsigned b = 0, passed = 0, wanted = 0;
    for (unsigned i = 0; i < count; i++) {
        const ty_order_bracket *of = ty_gather_find(g, &b, ranks[i]);
        if (!of)
            return 0;
        for (; passed < b; passed++)
            before += g->workers[0].brackets[passed].inside;
        if (ranks[i] >= of->to_lo && ranks[i] < of->to_lo + of->inside)
            among[wanted++] = before + ranks[i] - of->to_lo;
    }
    ty_gather_select(g, among, wanted, places);
    for (unsigned i = b = wanted = 0; i < count; i++) {
        const ty_order_bracket *of = ty_gather_find(g, &b, ranks[i]);
        keys[i] = ranks[i] < of->to_lo                ? of->lo
                  : ranks[i] < of->to_lo + of->inside ? places[wanted++]
                                                      : of->hi;
    }
    return 1;
}
