/* SPDX-License-Identifier: Apache-2.0 */
#include "core/weighted.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "binning/weight.h"
#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "cpu/order.h"

enum {
    BLOCK = TY_ORDER_BLOCK,
    PART = 64 * BLOCK,   /* samples that a thread takes at a time */
    FEW = 32768,         /* so many are all kept */
    FRACTION = 8,        /* and of more, what is left if it is one of so many */
    CELL_BITS = 16,      /* cells of one bracket are at most 2^this, */
    CELLS_MOST = 1 << 18 /* and of all brackets about so many */
};

/* Weights of samples with some keys, how many have one, and the bits in which keys differ. */
typedef struct cell {
    uint64_t low, high, count, key, differ;
} cell;

/* Keys lo … lo + width, disjoint and in order. */
typedef struct bracket {
    int64_t lo;
    ty_weight below; /* weights of the keys below lo */
} bracket;

/* A quantile that is looked for. */
typedef struct want {
    ty_weight target;
    uint32_t index;
    unsigned bracket;
} want;

/* What a worker has found; of one thread at a time. */
typedef struct worker {
    uint64_t count, nan, weighty; /* samples; NaN; numbers with a weight, and */
    int64_t least, most;          /* their keys */
    uint64_t heaviest;            /* of what counts */
    int bad, failed;              /* a weight that is none; no memory */
    cell *cells;
    int64_t *keys; /* kept, with their */
    uint64_t *weights;
    size_t kept, capacity;
} worker;

/* What a pass does. */
enum { LOOK, COUNT, KEEP };

typedef struct search {
    const ty_order_group *group;
    const ty_grid *grid; /* of weights */
    const ty_order_loops *loops;
    tally_dtype dtype, weight_dtype;
    int wide, is_float, skip_nan;
    int32_t unit;
    worker *workers; /* the first has the sums of all after a pass */
    unsigned worker_count;
    int phase, kept; /* kept: passes are over what the first worker has */
    uint64_t samples, part;
    bracket *brackets, *next; /* space for a bracket of each quantile */
    unsigned open;            /* brackets */
    uint64_t width;
    unsigned shift, bits; /* of a key in its bracket: bits below the cell, and of the cell */
    want *wants;          /* still looked for, by target */
    uint32_t wanted;
} search;

/* ---- a block ---- */

/* The bits of weights at the lower end. */
static void load_bits(const void *from, uint32_t size, size_t count, uint64_t *to)
{
#define LOAD(type)                                                                                 \
    for (size_t i = 0; i < count; i++) {                                                           \
        type x;                                                                                    \
        memcpy(&x, (const unsigned char *)from + i * sizeof x, sizeof x);                          \
        to[i] = x;                                                                                 \
    }
    if (size == 1)
        LOAD(uint8_t)
    else if (size == 2)
        LOAD(uint16_t)
    else if (size == 4)
        LOAD(uint32_t)
    else
        LOAD(uint64_t)
#undef LOAD
}

/* Bits to magnitudes, before the unit is known, or to units. Returns whether one is no weight. */
static int take_weights(tally_dtype dtype, int to_units, int32_t unit, uint64_t *w, size_t count)
{
    int bad = 0;
#define TAKE(type)                                                                                 \
    for (size_t i = 0; i < count && !to_units; i++) {                                              \
        bad |= ty_weight_is_bad(w[i], type);                                                       \
        w[i] = ty_weight_magnitude(w[i], type);                                                    \
    }                                                                                              \
    for (size_t i = 0; i < count && to_units; i++)                                                 \
        w[i] = ty_weight_units(ty_weight_magnitude(w[i], type), type, unit);                       \
    break
    switch (dtype) { /* a loop for each: the type is known in it */
    case TALLY_I8:
        TAKE(TY_I8);
    case TALLY_I16:
        TAKE(TY_I16);
    case TALLY_I32:
        TAKE(TY_I32);
    case TALLY_I64:
        TAKE(TY_I64);
    case TALLY_F32:
        TAKE(TY_F32);
    case TALLY_F64:
        TAKE(TY_F64);
    default:
        TAKE(TY_U64);
    }
#undef TAKE
    return bad;
}

/* Keys and weights of a block that count; returns how many. */
static size_t load_block(const search *s, worker *w, uint64_t begin, size_t count, int64_t *keys,
                         uint64_t *weights)
{
    const ty_order_group *g = s->group;
    unsigned char buffer[BLOCK * 8], bytes[BLOCK];
    const size_t all = count;
    load_bits(ty_grid_block(s->grid, g->batch, g->channel, begin, count, buffer), s->grid->size,
              count, weights);
    const void *from = ty_grid_block(g->samples, g->batch, g->channel, begin, count, buffer);
    s->loops->load(s->dtype, from, count, keys);
    if (g->mask) {
        const unsigned char *mask = ty_grid_block(g->mask, g->batch, 0, begin, count, bytes);
        count = s->loops->pick(s->wide, keys, mask, count);
        s->loops->pick(1, weights, mask, all);
    }
    w->bad |= take_weights(s->weight_dtype, s->phase != LOOK, s->unit, weights, count);
    if (!s->wide) {
        int32_t narrow[BLOCK];
        memcpy(narrow, keys, count * sizeof *narrow);
        for (size_t i = 0; i < count; i++)
            keys[i] = narrow[i];
    }
    return count;
}

static void look(const search *s, worker *w, const int64_t *keys, const uint64_t *weights,
                 size_t count)
{
    const int64_t nan = s->wide ? INT64_MAX : INT32_MAX;
    w->count += count;
    for (size_t i = 0; i < count; i++) {
        const int is_nan = s->is_float && keys[i] == nan;
        const int weighty = weights[i] && !is_nan;
        w->nan += is_nan != 0;
        w->weighty += weighty != 0;
        if (weights[i] > w->heaviest && !(is_nan && s->skip_nan))
            w->heaviest = weights[i];
        w->least = weighty && keys[i] < w->least ? keys[i] : w->least;
        w->most = weighty && keys[i] > w->most ? keys[i] : w->most;
    }
}

/* The bracket that may have the key: the last that does not begin above it. Without a branch. */
static inline unsigned bracket_of(const search *s, int64_t key)
{
    unsigned at = 0;
    for (unsigned left = s->open; left > 1;) {
        const unsigned half = left / 2;
        at += s->brackets[at + half].lo <= key ? half : 0;
        left -= half;
    }
    return at;
}

static void add_weights(const search *s, worker *w, const int64_t *keys, const uint64_t *weights,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned b = bracket_of(s, keys[i]);
        const uint64_t at = (uint64_t)keys[i] - (uint64_t)s->brackets[b].lo;
        if (at > s->width || !weights[i])
            continue;
        cell *to = &w->cells[((size_t)b << s->bits) + (at >> s->shift)];
        to->low += weights[i];
        to->high += to->low < weights[i];
        to->key = to->count++ ? to->key : (uint64_t)keys[i];
        to->differ |= to->key ^ (uint64_t)keys[i];
    }
}

static int reserve(worker *w, size_t more)
{
    if (w->capacity - w->kept >= more)
        return 1;
    const size_t capacity = 2 * w->capacity + more;
    int64_t *keys = ty_realloc(w->keys, capacity * sizeof *keys);
    w->keys = keys ? keys : w->keys;
    uint64_t *weights = ty_realloc(w->weights, capacity * sizeof *weights);
    w->weights = weights ? weights : w->weights;
    w->failed |= !keys || !weights;
    w->capacity = w->failed ? w->capacity : capacity;
    return !w->failed;
}

static void keep(const search *s, worker *w, const int64_t *keys, const uint64_t *weights,
                 size_t count)
{
    if (!reserve(w, count + BLOCK))
        return;
    for (size_t i = 0; i < count; i++) {
        const unsigned b = bracket_of(s, keys[i]);
        w->keys[w->kept] = keys[i];
        w->weights[w->kept] = weights[i];
        w->kept += weights[i] && (uint64_t)keys[i] - (uint64_t)s->brackets[b].lo <= s->width;
    }
}

/* ---- a pass ---- */

static void read_part(void *arg, unsigned part, unsigned of)
{
    const search *s = arg;
    worker *w = &s->workers[of];
    uint64_t at = part * s->part, read_weights[BLOCK];
    int64_t read_keys[BLOCK];
    const uint64_t end = s->samples - at < s->part ? s->samples : at + s->part;
    for (; at < end && !w->failed && !w->bad; at += BLOCK) {
        size_t count = end - at < BLOCK ? (size_t)(end - at) : BLOCK;
        const int64_t *keys = s->kept ? s->workers[0].keys + at : read_keys;
        const uint64_t *weights = s->kept ? s->workers[0].weights + at : read_weights;
        if (!s->kept)
            count = load_block(s, w, at, count, read_keys, read_weights);
        if (s->phase == LOOK)
            look(s, w, keys, weights, count);
        else if (s->phase == COUNT)
            add_weights(s, w, keys, weights, count);
        else
            keep(s, w, keys, weights, count);
    }
}

static void add_cells(worker *to, const worker *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const cell *one = &from->cells[i];
        cell *into = &to->cells[i];
        into->low += one->low;
        into->high += one->high + (into->low < one->low);
        into->key = into->count ? into->key : one->key;
        into->differ |= one->differ | (one->count ? into->key ^ one->key : 0);
        into->count += one->count;
    }
}

/* What another worker found, to the first. */
static void join(const search *s, worker *to, const worker *from)
{
    to->count += from->count;
    to->nan += from->nan;
    to->weighty += from->weighty;
    to->least = from->least < to->least ? from->least : to->least;
    to->most = from->most > to->most ? from->most : to->most;
    to->heaviest = from->heaviest > to->heaviest ? from->heaviest : to->heaviest;
    if (s->phase == COUNT)
        add_cells(to, from, (size_t)s->open << s->bits);
    if (s->phase == KEEP && from->kept) {
        memcpy(to->keys + to->kept, from->keys, from->kept * sizeof *to->keys);
        memcpy(to->weights + to->kept, from->weights, from->kept * sizeof *to->weights);
        to->kept += from->kept;
    }
}

static tally_status run(search *s, int phase, tally_error *error)
{
    size_t kept = 0;
    s->phase = phase;
    for (s->part = PART; s->samples / s->part > 1 << 20;)
        s->part *= 2;
    const unsigned parts = (unsigned)(s->samples / s->part + (s->samples % s->part != 0));
    if (s->worker_count > 1 && parts > 1)
        ty_pool_run(s->group->pool, s->worker_count, parts, read_part, s);
    else
        for (unsigned i = 0; i < parts; i++)
            read_part(s, i, 0);
    for (unsigned i = 1; i < s->worker_count; i++)
        kept += s->workers[i].kept;
    if (phase == KEEP && kept)
        reserve(&s->workers[0], kept);
    for (unsigned i = 0; i < s->worker_count; i++) {
        if (s->workers[i].failed)
            return ty_error(error, TALLY_ERROR_MEMORY, "no memory for finding quantiles");
        if (s->workers[i].bad)
            return ty_error(error, TALLY_ERROR_DATA, TY_WEIGHTS_BAD);
    }
    for (unsigned i = 1; i < s->worker_count; i++)
        join(s, &s->workers[0], &s->workers[i]);
    return TALLY_OK;
}

/* ---- between passes ---- */

ty_weight ty_weighted_target(double q, ty_weight total)
{
    ty_weight from = 1, to = total;
    while (from < to) {
        const ty_weight half = from + (to - from) / 2;
        if ((double)half / (double)total >= q)
            to = half;
        else
            from = half + 1;
    }
    return from;
}

static int by_target(const void *a, const void *b)
{
    const want *x = a, *y = b;
    return (x->target > y->target) - (x->target < y->target);
}

static void set_targets(search *s, const double *q, uint32_t count)
{
    ty_weight total = 0;
    for (size_t i = 0; i < (size_t)1 << s->bits; i++)
        total += (ty_weight)s->workers[0].cells[i].high << 64 | s->workers[0].cells[i].low;
    for (uint32_t i = 0; i < count; i++)
        s->wants[i] = (want){ty_weighted_target(q[i], total), i, 0};
    s->wanted = count;
    qsort(s->wants, count, sizeof *s->wants, by_target);
}

/* Bits of a cell's number: few where there are few samples, for a table is emptied first. */
static tally_status make_cells(search *s, uint64_t samples, tally_error *error)
{
    const unsigned span = s->width ? 64 - (unsigned)__builtin_clzll(s->width) : 0;
    unsigned bits = 6;
    while (bits < CELL_BITS && samples >> bits > 4 && (uint64_t)s->open << bits < CELLS_MOST)
        bits++;
    s->bits = bits < span ? bits : span;
    s->shift = span - s->bits;
    const size_t cells = (size_t)s->open << s->bits;
    for (unsigned i = 0; i < s->worker_count; i++) {
        ty_free(s->workers[i].cells);
        s->workers[i].cells = ty_calloc(cells, sizeof(cell));
        if (!s->workers[i].cells)
            return ty_error_memory(error, "finding quantiles", cells * sizeof(cell));
    }
    return TALLY_OK;
}

/* Each quantile's cell, which is its key or the bracket of the next pass; returns the samples in
 * all these, or UINT64_MAX where there is none. */
static uint64_t narrow(search *s, int64_t *keys)
{
    unsigned made = 0, b = 0;
    uint32_t left = 0;
    size_t at = 0;
    uint64_t samples = 0;
    const cell *c = NULL;
    ty_weight below = s->brackets[0].below, own;
    for (uint32_t i = 0; i < s->wanted; i++) {
        want wanted = s->wants[i];
        if (wanted.bracket != b) {
            b = wanted.bracket;
            at = 0;
            below = s->brackets[b].below;
        }
        for (;; at++, below += own) {
            if (at >> s->bits)
                return UINT64_MAX;
            c = &s->workers[0].cells[((size_t)b << s->bits) + at];
            own = (ty_weight)c->high << 64 | c->low;
            if (below + own >= wanted.target)
                break;
        }
        const int64_t lo = (int64_t)((uint64_t)s->brackets[b].lo + ((uint64_t)at << s->shift));
        if (!c->differ) {
            keys[wanted.index] = (int64_t)c->key;
            continue;
        }
        if (!made || s->next[made - 1].lo != lo) {
            s->next[made++] = (bracket){lo, below};
            samples += c->count;
        }
        wanted.bracket = made - 1;
        s->wants[left++] = wanted;
    }
    bracket *swap = s->brackets;
    s->brackets = s->next;
    s->next = swap;
    s->open = made;
    s->wanted = left;
    s->width = (UINT64_C(1) << s->shift) - 1;
    return samples;
}

/* What was looked at says how wide keys are and what weights are; then bits of keys are settled
 * from the upper end. */
static tally_status descend(search *s, const double *q, uint32_t count, int64_t *keys,
                            tally_error *error)
{
    uint64_t samples = s->workers[0].weighty;
    int first = 1;
    tally_status status = TALLY_OK;
    s->brackets[0] = (bracket){s->workers[0].least, 0};
    s->width = (uint64_t)s->workers[0].most - (uint64_t)s->workers[0].least;
    s->open = 1;
    s->wanted = count;
    s->unit = ty_weight_unit(s->workers[0].heaviest, (uint32_t)s->weight_dtype);
    for (; !status && s->wanted; first = 0) {
        if (!s->kept && (samples <= FEW || samples <= s->samples / FRACTION)) {
            status = run(s, KEEP, error);
            s->samples = s->workers[0].kept;
            s->kept = 1;
        }
        if (!status)
            status = make_cells(s, samples, error);
        if (!status)
            status = run(s, COUNT, error);
        if (!status && first)
            set_targets(s, q, count);
        if (!status && (samples = narrow(s, keys)) == UINT64_MAX)
            status = ty_error(error, TALLY_ERROR_DATA, "the samples changed between two readings");
    }
    return status;
}

static tally_status find(search *s, const double *q, uint32_t count, int64_t *keys,
                         tally_error *error)
{
    const worker *all = &s->workers[0];
    tally_status status = run(s, LOOK, error);
    if (status)
        return status;
    const uint64_t batch = s->group->batch, channel = s->group->channel;
    const uint64_t n = all->count - (s->skip_nan ? all->nan : 0);
    if (!n && !s->is_float)
        return ty_error(error, TALLY_ERROR_DATA, TY_WEIGHTS_NONE, batch, channel);
    if (n && !all->heaviest)
        return ty_error(error, TALLY_ERROR_DATA, TY_WEIGHTS_ZERO, batch, channel);
    if (n && (s->skip_nan || !all->nan))
        return descend(s, q, count, keys, error);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = s->wide ? INT64_MAX : INT32_MAX;
    return TALLY_OK;
}

tally_status ty_weighted_find(const ty_order_group *group, const ty_grid *weights, int skip_nan,
                              const double *q, uint32_t count, int64_t *keys, tally_error *error)
{
    search s = {.group = group,
                .grid = weights,
                .loops = ty_order_loops_get(),
                .dtype = group->samples->dtype,
                .weight_dtype = weights->dtype,
                .wide = group->samples->size == 8,
                .is_float = ty_dtype_is_float(group->samples->dtype),
                .skip_nan = skip_nan,
                .worker_count = group->pool ? ty_pool_threads(group->pool) : 1,
                .samples = group->samples->rows * group->samples->columns};
    if (s.worker_count > s.samples / PART + 1)
        s.worker_count = (unsigned)(s.samples / PART + 1);
    const size_t bytes = s.worker_count * sizeof *s.workers, all = count;
    s.workers = ty_calloc(1, bytes);
    s.brackets = ty_malloc((all + 1) * sizeof *s.brackets);
    s.next = ty_malloc((all + 1) * sizeof *s.next);
    s.wants = ty_malloc((all + 1) * sizeof *s.wants);
    tally_status status = TALLY_OK;
    if (!s.workers || !s.brackets || !s.next || !s.wants)
        status = ty_error_memory(error, "finding quantiles",
                                 bytes + (all + 1) * (2 * sizeof *s.next + sizeof *s.wants));
    for (unsigned i = 0; i < s.worker_count && !status; i++) {
        s.workers[i].least = INT64_MAX;
        s.workers[i].most = INT64_MIN;
    }
    if (!status)
        status = find(&s, q, count, keys, error);
    for (unsigned i = 0; i < s.worker_count && s.workers; i++) {
        ty_free(s.workers[i].cells);
        ty_free(s.workers[i].keys);
        ty_free(s.workers[i].weights);
    }
    ty_free(s.workers);
    ty_free(s.brackets);
    ty_free(s.next);
    ty_free(s.wants);
    return status;
}
