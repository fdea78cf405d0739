/* SPDX-License-Identifier: Apache-2.0 */
#include "core/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/random.h"
#include "cpu/order.h"
#include "cpu/stats.h"

enum {
    BLOCK = TY_ORDER_BLOCK,
    PART = 64 * BLOCK,   /* samples that a thread takes at a time */
    FEW = 32768,         /* so many are all kept */
    SAMPLE_MOST = 16384, /* drawn for the brackets */
    MANY_RANKS = 16,     /* and more, of MANY_KEYS and more: buckets pay */
    MANY_KEYS = 1 << 16,
    TRIES = 3, /* then all samples are kept */
};

__extension__ typedef unsigned __int128 ty_u128;

/* One pass over all samples: what a thread gathers. */
typedef struct worker {
    void *keys; /* kept */
    size_t count, capacity;
    ty_order_bracket *brackets;
    uint64_t samples, nan;
    int failed; /* no memory */
} worker;

typedef struct pass {
    const ty_order_group *group;
    const ty_order_loops *loops;
    int wide;
    uint64_t elements;
    unsigned bracket_count;
    int keep_all; /* instead of brackets */
    uint64_t part;
    worker *workers; /* as many as threads */
    unsigned worker_count;
} pass;

static size_t key_bytes(const pass *p)
{
    return p->wide ? 8 : 4;
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

/* A block's keys, those that count; returns how many, and adds NaN to *nan. */
static size_t load_block(const pass *p, uint64_t begin, size_t count, void *keys, uint64_t *nan)
{
    const ty_order_group *g = p->group;
    unsigned char samples[BLOCK * 8], bytes[BLOCK];
    const void *from = ty_grid_block(g->samples, g->batch, g->channel, begin, count, samples);
    const size_t all_nan = p->loops->load(g->samples->dtype, from, count, keys);
    if (g->mask)
        count = p->loops->pick(p->wide, keys,
                               ty_grid_block(g->mask, g->batch, 0, begin, count, bytes), count);
    *nan += g->mask && all_nan ? count_nan(p->wide, keys, count) : all_nan;
    return count;
}

static int reserve(const pass *p, worker *w)
{
    if (w->capacity - w->count >= BLOCK + TY_ORDER_SLACK)
        return 1;
    const size_t capacity = 2 * w->capacity + 4 * BLOCK;
    void *keys = ty_realloc(w->keys, capacity * key_bytes(p));
    if (!keys) {
        w->failed = 1;
        return 0;
    }
    w->keys = keys;
    w->capacity = capacity;
    return 1;
}

static void read_block(const pass *p, worker *w, uint64_t begin, size_t count)
{
    int64_t keys[BLOCK];
    count = load_block(p, begin, count, keys, &w->nan);
    w->samples += count;
    if (p->keep_all && reserve(p, w)) {
        memcpy((char *)w->keys + w->count * key_bytes(p), keys, count * key_bytes(p));
        w->count += count;
    } else if (p->bracket_count && reserve(p, w))
        w->count += p->loops->scan(p->wide, keys, count, w->brackets, p->bracket_count,
                                   (char *)w->keys + w->count * key_bytes(p));
}

static void read_part(void *arg, unsigned part, unsigned of)
{
    const pass *p = arg;
    worker *w = &p->workers[of];
    uint64_t at = part * p->part;
    const uint64_t end = p->elements - at < p->part ? p->elements : at + p->part;
    for (; at < end && !w->failed; at += BLOCK)
        read_block(p, w, at, end - at < BLOCK ? (size_t)(end - at) : BLOCK);
}

/* All samples once. */
static tally_status run(pass *p, tally_error *error)
{
    p->part = PART;
    while (p->elements / p->part > 1 << 20)
        p->part *= 2;
    const unsigned parts = (unsigned)(p->elements / p->part + (p->elements % p->part != 0));
    if (p->worker_count > 1 && parts > 1)
        ty_pool_run(p->group->pool, p->worker_count, parts, read_part, p);
    else
        for (unsigned i = 0; i < parts; i++)
            read_part(p, i, 0);
    for (unsigned i = 0; i < p->worker_count; i++)
        if (p->workers[i].failed)
            return ty_error(error, TALLY_ERROR_MEMORY, "no memory for finding quantiles");
    return TALLY_OK;
}

static tally_status pass_make(pass *p, const ty_order_group *group, tally_error *error)
{
    *p = (pass){.group = group, .loops = ty_order_loops_get()};
    p->wide = tally_dtype_bytes(group->samples->dtype) == 8;
    p->elements = group->samples->rows * group->samples->columns;
    p->worker_count = group->pool ? ty_pool_threads(group->pool) : 1;
    p->workers = ty_calloc(p->worker_count, sizeof *p->workers);
    return p->workers
               ? TALLY_OK
               : ty_error_memory(error, "finding quantiles", p->worker_count * sizeof *p->workers);
}

/* Empties the workers for another pass, with brackets of their own. */
static tally_status pass_begin(pass *p, const ty_order_bracket *brackets, unsigned count,
                               tally_error *error)
{
    const size_t bytes = count * sizeof *brackets;
    p->bracket_count = count;
    for (unsigned i = 0; i < p->worker_count; i++) {
        worker *w = &p->workers[i];
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

static void pass_end(pass *p)
{
    for (unsigned i = 0; p->workers && i < p->worker_count; i++) {
        ty_free(p->workers[i].keys);
        ty_free(p->workers[i].brackets);
    }
    ty_free(p->workers);
}

/* All workers' keys behind those of the first, which has space for them and no less. */
static tally_status join(pass *p, tally_error *error)
{
    worker *first = &p->workers[0];
    size_t count = 0;
    for (unsigned i = 0; i < p->worker_count; i++)
        count += p->workers[i].count;
    if (count > first->capacity) {
        void *keys = ty_realloc(first->keys, count * key_bytes(p));
        if (!keys)
            return ty_error_memory(error, "finding quantiles", count * key_bytes(p));
        first->keys = keys;
        first->capacity = count;
    }
    for (unsigned i = 1; i < p->worker_count; i++) {
        const worker *w = &p->workers[i];
        if (w->count)
            memcpy((char *)first->keys + first->count * key_bytes(p), w->keys,
                   w->count * key_bytes(p));
        first->count += w->count;
    }
    for (unsigned i = 1; i < p->worker_count; i++)
        for (unsigned b = 0; b < p->bracket_count; b++) {
            ty_order_bracket *into = &first->brackets[b];
            const ty_order_bracket *from = &p->workers[i].brackets[b];
            into->below_lo += from->below_lo;
            into->to_lo += from->to_lo;
            into->inside += from->inside;
            into->to_hi += from->to_hi;
        }
    return TALLY_OK;
}

tally_status ty_order_kinds_get(const ty_order_group *group, ty_order_kinds *kinds,
                                tally_error *error)
{
    pass p;
    *kinds = (ty_order_kinds){group->samples->rows * group->samples->columns, 0};
    if (!group->mask && !ty_dtype_is_float(group->samples->dtype))
        return TALLY_OK;
    tally_status status = pass_make(&p, group, error);
    if (!status)
        status = run(&p, error);
    *kinds = (ty_order_kinds){0, 0};
    for (unsigned i = 0; !status && i < p.worker_count; i++) {
        kinds->count += p.workers[i].samples;
        kinds->nan += p.workers[i].nan;
    }
    pass_end(&p);
    return status;
}

/* ---- brackets ---- */

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Keys of samples drawn at random, in order; returns how many, or 0 if few of all count. */
static unsigned draw(const pass *p, int64_t *drawn)
{
    uint64_t wanted = (uint64_t)sqrt((double)p->elements) * 2;
    wanted = wanted > SAMPLE_MOST ? SAMPLE_MOST : wanted;
    uint64_t state = (uint64_t)ty_random_u32() << 32 | ty_random_u32();
    unsigned count = 0;
    for (uint64_t i = 0; i < 4 * wanted && count < wanted; i++) {
        int64_t key;
        uint64_t nan = 0;
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        /* the upper bits times the number of elements: an element */
        const uint64_t at = (uint64_t)(((ty_u128)(state ^ state >> 29) * p->elements) >> 64);
        if (load_block(p, at, 1, &key, &nan)) {
            int32_t narrow;
            memcpy(&narrow, &key, sizeof narrow);
            drawn[count++] = p->wide ? key : narrow;
        }
    }
    if (count < wanted)
        return 0;
    qsort(drawn, count, sizeof *drawn, ascending);
    return count;
}

/* The brackets of all ranks, in order and apart: a rank's share of the samples is that of its place
 * among those drawn, give or take five deviations. Returns how many. */
static unsigned bracket(const int64_t *drawn, unsigned drawn_count, uint64_t count,
                        const uint64_t *ranks, unsigned rank_count, ty_order_bracket *brackets)
{
    unsigned made = 0;
    for (unsigned i = 0; i < rank_count; i++) {
        const double share = ((double)ranks[i] + 0.5) / (double)count, m = drawn_count;
        const double at = share * m, slack = 5 * sqrt(m * share * (1 - share)) + 5;
        const int64_t least = at - slack < 0 ? INT64_MIN : drawn[(unsigned)(at - slack)];
        const int64_t most = at + slack >= m ? INT64_MAX : drawn[(unsigned)(at + slack)];
        if (made && least <= brackets[made - 1].hi) {
            if (most > brackets[made - 1].hi)
                brackets[made - 1].hi = most;
        } else
            brackets[made++] = (ty_order_bracket){.lo = least, .hi = most};
    }
    return made;
}

/* The ends that the keys can have. */
static void trim(int wide, ty_order_bracket *brackets, unsigned count)
{
    for (unsigned b = 0; b < count && !wide; b++) {
        if (brackets[b].lo < INT32_MIN)
            brackets[b].lo = INT32_MIN;
        if (brackets[b].hi > INT32_MAX)
            brackets[b].hi = INT32_MAX;
    }
}

/* The bracket that has rank r, from `b` on; none: NULL. */
static const ty_order_bracket *find_bracket(const pass *p, unsigned *b, uint64_t r)
{
    const ty_order_bracket *brackets = p->workers[0].brackets;
    while (*b < p->bracket_count && r >= brackets[*b].to_hi)
        ++*b;
    return *b < p->bracket_count && r >= brackets[*b].below_lo ? &brackets[*b] : NULL;
}

/* The keys of `ranks` among all that were kept. Without memory to work in it is only slower. */
static void select_kept(const pass *p, const uint64_t *ranks, unsigned rank_count, int64_t *keys)
{
    const worker *all = &p->workers[0];
    void *scratch = NULL;
    if (rank_count > MANY_RANKS && all->count > MANY_KEYS && all->count <= UINT32_MAX)
        scratch = ty_malloc(TY_ORDER_SCRATCH);
    p->loops->select(p->wide, all->keys, all->count, ranks, rank_count, keys, scratch);
    ty_free(scratch);
}

/* Keys of ranks from what a pass has counted and kept: those at a bracket's ends by the counts, the
 * others by selecting among what was kept. `among` and `places` have space for as many as ranks.
 * 0: a rank is in no bracket. */
static int resolve(const pass *p, const uint64_t *ranks, unsigned rank_count, uint64_t *among,
                   int64_t *places, int64_t *keys)
{
    uint64_t before = 0; /* kept of the brackets before */
    unsigned b = 0, passed = 0, wanted = 0;
    for (unsigned i = 0; i < rank_count; i++) {
        const ty_order_bracket *of = find_bracket(p, &b, ranks[i]);
        if (!of)
            return 0;
        for (; passed < b; passed++)
            before += p->workers[0].brackets[passed].inside;
        if (ranks[i] >= of->to_lo && ranks[i] < of->to_lo + of->inside)
            among[wanted++] = before + ranks[i] - of->to_lo;
    }
    select_kept(p, among, wanted, places);
    for (unsigned i = b = wanted = 0; i < rank_count; i++) {
        const ty_order_bracket *of = find_bracket(p, &b, ranks[i]);
        keys[i] = ranks[i] < of->to_lo                ? of->lo
                  : ranks[i] < of->to_lo + of->inside ? places[wanted++]
                                                      : of->hi;
    }
    return 1;
}

/* By brackets: *done 0 where a rank was outside its own, or few samples count. */
static tally_status try_brackets(pass *p, uint64_t count, const uint64_t *ranks,
                                 unsigned rank_count, int64_t *keys, int *done, tally_error *error)
{
    const size_t bytes = SAMPLE_MOST * sizeof(int64_t) +
                         rank_count * (sizeof(ty_order_bracket) + 2 * sizeof(uint64_t));
    int64_t *drawn = ty_malloc(bytes);
    if (!drawn)
        return ty_error_memory(error, "finding quantiles", bytes);
    ty_order_bracket *brackets = (ty_order_bracket *)(drawn + SAMPLE_MOST);
    uint64_t *among = (uint64_t *)(brackets + rank_count);
    int64_t *places = (int64_t *)(among + rank_count);
    tally_status status = TALLY_OK;
    const unsigned drawn_count = draw(p, drawn);
    *done = 0;
    if (drawn_count) {
        unsigned made = bracket(drawn, drawn_count, count, ranks, rank_count, brackets);
        trim(p->wide, brackets, made);
        status = pass_begin(p, brackets, made, error);
        if (!status)
            status = run(p, error);
        if (!status)
            status = join(p, error);
        if (!status)
            *done = resolve(p, ranks, rank_count, among, places, keys);
    }
    ty_free(drawn);
    return status;
}

static tally_status keep_all(pass *p, const uint64_t *ranks, unsigned rank_count, int64_t *keys,
                             tally_error *error)
{
    tally_status status = pass_begin(p, NULL, 0, error);
    p->keep_all = 1;
    if (!status)
        status = run(p, error);
    if (!status)
        status = join(p, error);
    if (!status && rank_count && ranks[rank_count - 1] >= p->workers[0].count)
        return ty_error(error, TALLY_ERROR_DATA, "the samples changed between two readings");
    if (!status)
        select_kept(p, ranks, rank_count, keys);
    return status;
}

tally_status ty_order_find(const ty_order_group *group, uint64_t count, const uint64_t *ranks,
                           unsigned rank_count, int64_t *keys, uint64_t *nan, tally_error *error)
{
    pass p;
    int done = 0;
    tally_status status = pass_make(&p, group, error);
    if (!status && count > FEW)
        for (int i = 0; i < TRIES && !status && !done; i++)
            status = try_brackets(&p, count, ranks, rank_count, keys, &done, error);
    if (!status && !done)
        status = keep_all(&p, ranks, rank_count, keys, error);
    *nan = 0;
    for (unsigned i = 0; !status && i < p.worker_count; i++)
        *nan += p.workers[i].nan;
    pass_end(&p);
    return status;
}

/* ---- keys to samples ---- */

/* The inverse of cpu/order.h's keys; NaN's is the largest. */
static uint64_t bits_of(tally_dtype dtype, int64_t key)
{
    const unsigned width = 8 * (unsigned)tally_dtype_bytes(dtype);
    const uint64_t top = UINT64_C(1) << (width - 1), bits = (uint64_t)key;
    if (dtype == TALLY_U32 || dtype == TALLY_U64)
        return bits ^ top;
    return ty_dtype_is_float(dtype) && key < 0 ? bits ^ (top - 1) : bits;
}

void ty_order_sample(tally_dtype dtype, int64_t key, void *sample)
{
    static const float nan_f32 = NAN;
    static const double nan_f64 = NAN;
    static const uint16_t nan_f16 = 0x7e00, nan_bf16 = 0x7fc0;
    const uint64_t bits = bits_of(dtype, key);
    const size_t size = tally_dtype_bytes(dtype);
    const void *from = &bits; /* little-endian, as everywhere */
    if (ty_dtype_is_float(dtype) && key == (size == 8 ? INT64_MAX : INT32_MAX))
        from = dtype == TALLY_F64   ? (const void *)&nan_f64
               : dtype == TALLY_F32 ? (const void *)&nan_f32
               : dtype == TALLY_F16 ? &nan_f16
                                    : &nan_bf16;
    memcpy(sample, from, size);
}

double ty_order_value(tally_dtype dtype, int64_t key)
{
    double value;
    unsigned char sample[8];
    ty_order_sample(dtype, key, sample);
    ty_stats_loops_get()->decode(dtype, sample, 1, &value);
    return value;
}
