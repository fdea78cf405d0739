/* SPDX-License-Identifier: Apache-2.0 */
#include "core/select.h"

#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"

enum { BLOCK = TY_ORDER_BLOCK, CELLS = 1 << 16 };

/* What a pass does: FIRST keeps or counts all, COUNTED counts by the cells of brackets, KEPT keeps
 * what is inside of them. */
enum { FIRST, COUNTED, KEPT };

static const char *const changed = "the samples changed between two readings";

/* The keys of all samples but NaN are CELLS cells from *least on; returns the bits below a cell. */
static unsigned whole(tally_dtype dtype, int64_t *least)
{
    const size_t size = tally_dtype_bytes(dtype);
    *least = size == 8 ? INT64_MIN : size == 4 ? INT32_MIN : dtype == TALLY_U16 ? 0 : INT16_MIN;
    return size == 8 ? 48 : size == 4 ? 16 : 0;
}

tally_status ty_select_start(ty_select *s, tally_dtype dtype, unsigned workers, uint64_t memory,
                             tally_error *error)
{
    *s = (ty_select){.memory = memory, .phase = FIRST, .cells = CELLS};
    tally_status status = ty_gather_make(&s->gather, dtype, workers, error);
    if (status)
        return status;
    s->tables = ty_calloc(workers, sizeof *s->tables);
    if (s->tables)
        return TALLY_OK;
    ty_gather_free(&s->gather);
    return ty_error_memory(error, "finding quantiles", workers * sizeof *s->tables);
}

static void free_tables(ty_select *s)
{
    for (unsigned i = 0; s->tables && i < s->gather.worker_count; i++) {
        ty_free(s->tables[i]);
        s->tables[i] = NULL;
    }
}

void ty_select_clear(ty_select *s)
{
    free_tables(s);
    ty_free(s->tables);
    ty_free(s->rank);
    ty_free(s->key);
    ty_free(s->opened);
    ty_gather_free(&s->gather);
    s->tables = NULL;
    s->rank = NULL;
    s->key = NULL;
    s->opened = NULL;
}

static uint64_t most_keys(const ty_select *s)
{
    return s->memory / (s->gather.wide ? 8 : 4);
}

/* ---- a block ---- */

#define COUNT(T, U, CELL)                                                                          \
    for (size_t i = 0; i < count; i++) {                                                           \
        const U cell = ((U)((const T *)keys)[i] - (U)least) >> shift;                              \
        cells[CELL]++;                                                                             \
    }

/* `clamp`: NaN of 16-bit floats, whose key is far beyond, into the last cell. */
static void count_keys(int wide, int clamp, const void *keys, size_t count, int64_t least,
                       unsigned shift, uint64_t *cells)
{
    if (wide)
        COUNT(int64_t, uint64_t, cell)
    else if (clamp)
        COUNT(int32_t, uint32_t, cell < CELLS ? cell : CELLS - 1)
    else
        COUNT(int32_t, uint32_t, cell)
}

/* What the worker has kept, and from now on all, goes to a table. */
static int count_kept(const ty_select *s, unsigned worker)
{
    const ty_gather *g = &s->gather;
    ty_gather_worker *w = &g->workers[worker];
    int64_t least;
    const unsigned shift = whole(g->dtype, &least);
    s->tables[worker] = ty_calloc(CELLS, sizeof **s->tables);
    if (!s->tables[worker]) {
        w->failed = 1;
        return 0;
    }
    count_keys(g->wide, !shift, w->keys, w->count, least, shift, s->tables[worker]);
    ty_free(w->keys);
    w->keys = NULL;
    w->count = w->capacity = 0;
    return 1;
}

static void add_first(ty_select *s, unsigned worker, const void *keys, size_t count)
{
    const ty_gather *g = &s->gather;
    int64_t least;
    const unsigned shift = whole(g->dtype, &least);
    if (!s->tables[worker] &&
        atomic_fetch_add_explicit(&s->offered, count, memory_order_relaxed) + count <= most_keys(s))
        ty_gather_keep(g, &g->workers[worker], keys, count);
    else if (s->tables[worker] || count_kept(s, worker))
        count_keys(g->wide, !shift, keys, count, least, shift, s->tables[worker]);
}

/* Keys strictly inside of brackets; those at the ends are known by the brackets' numbers. */
static void add_counted(const ty_select *s, unsigned worker, const void *keys, size_t count)
{
    const ty_gather *g = &s->gather;
    ty_gather_worker *w = &g->workers[worker];
    int64_t inside[BLOCK + TY_ORDER_SLACK];
    for (unsigned b = 0; b < g->bracket_count; b++) {
        const size_t kept = g->loops->scan(g->wide, keys, count, &w->brackets[b], 1, inside);
        count_keys(g->wide, 0, inside, kept, w->brackets[b].lo, s->shift,
                   s->tables[worker] + (size_t)b * s->cells);
    }
}

void ty_select_add(ty_select *s, unsigned worker, const void *samples, const unsigned char *mask,
                   size_t count)
{
    int64_t keys[BLOCK];
    ty_gather_worker *w = &s->gather.workers[worker];
    if (w->failed)
        return;
    count = ty_gather_load(&s->gather, samples, mask, count, keys, &w->nan);
    w->samples += count;
    if (s->phase == FIRST)
        add_first(s, worker, keys, count);
    else if (s->phase == COUNTED)
        add_counted(s, worker, keys, count);
    else
        ty_gather_scan(&s->gather, w, keys, count);
}

/* ---- the end of a pass ---- */

static void add_tables(ty_select *s)
{
    const size_t all = (size_t)s->cells * (s->gather.bracket_count ? s->gather.bracket_count : 1);
    for (unsigned t = 1; t < s->gather.worker_count; t++)
        for (size_t i = 0; s->tables[t] && i < all; i++)
            s->tables[0][i] += s->tables[t][i];
}

/* The keys at the ends of brackets, which `scan` leaves out. */
static void add_ends(ty_select *s)
{
    for (unsigned b = 0; b < s->gather.bracket_count; b++) {
        const ty_order_bracket *of = &s->gather.workers[0].brackets[b];
        uint64_t *cells = s->tables[0] + (size_t)b * s->cells;
        cells[0] += of->to_lo - of->below_lo;
        cells[((uint64_t)of->hi - (uint64_t)of->lo) >> s->shift] +=
            of->to_hi - of->to_lo - of->inside;
    }
}

tally_status ty_select_end(ty_select *s, tally_error *error)
{
    ty_gather *g = &s->gather;
    if (s->phase == FIRST) {
        s->count = s->nan = 0;
        for (unsigned i = 0; i < g->worker_count; i++) {
            s->count += g->workers[i].samples;
            s->nan += g->workers[i].nan;
        }
        const int counted = atomic_load(&s->offered) > most_keys(s);
        for (unsigned i = 0; i < g->worker_count && counted; i++)
            if (!g->workers[i].failed && !s->tables[i] && (!i || g->workers[i].count))
                count_kept(s, i);
        if (counted)
            s->shift = whole(g->dtype, &(int64_t){0});
        s->phase = counted ? COUNTED : KEPT;
    }
    tally_status status = ty_gather_join(g, error);
    if (!status && s->phase == COUNTED) {
        add_tables(s);
        add_ends(s);
    }
    return status;
}

tally_status ty_select_want(ty_select *s, const uint64_t *ranks, unsigned count, tally_error *error)
{
    const size_t all = count + 1;
    ty_free(s->rank);
    ty_free(s->key);
    ty_free(s->opened);
    s->rank = ty_malloc(all * sizeof *s->rank);
    s->key = ty_malloc(all * sizeof *s->key);
    s->opened = ty_malloc(all * sizeof *s->opened);
    if (!s->rank || !s->key || !s->opened)
        return ty_error_memory(error, "finding quantiles", all * 3 * sizeof *s->rank);
    s->ranks = s->open = count;
    for (unsigned i = 0; i < count; i++) {
        s->rank[i] = ranks[i];
        s->opened[i] = i;
    }
    return TALLY_OK;
}

/* ---- the next pass ---- */

/* The open ranks' keys are among those kept. */
static tally_status find_kept(ty_select *s, tally_error *error)
{
    const ty_gather *g = &s->gather;
    const size_t bytes = (size_t)s->open * 4 * sizeof(uint64_t);
    uint64_t *ranks = ty_malloc(bytes + 1);
    if (!ranks)
        return ty_error_memory(error, "finding quantiles", bytes);
    uint64_t *among = ranks + s->open;
    int64_t *places = (int64_t *)(among + s->open), *keys = places + s->open;
    for (unsigned i = 0; i < s->open; i++)
        ranks[i] = s->rank[s->opened[i]];
    int good = 1;
    if (g->bracket_count)
        good = ty_gather_resolve(g, ranks, s->open, among, places, keys);
    else if (s->open && ranks[s->open - 1] >= g->workers[0].count)
        good = 0;
    else
        ty_gather_select(g, ranks, s->open, keys);
    for (unsigned i = 0; i < s->open && good; i++)
        s->key[s->opened[i]] = keys[i];
    ty_free(ranks);
    s->open = 0;
    return good ? TALLY_OK : ty_error(error, TALLY_ERROR_DATA, "%s", changed);
}

/* A cell that has an open rank, as the bracket of the next pass; where it is of one key that is
 * the rank's. */
typedef struct walk {
    unsigned bracket;
    uint64_t cell, below; /* keys below the cell */
} walk;

/* Moves to the cell with rank r; 0: there is none. */
static int walk_to(const ty_select *s, walk *at, uint64_t r)
{
    const ty_gather *g = &s->gather;
    unsigned b = at->bracket;
    uint64_t below = 0;
    if (g->bracket_count) {
        const ty_order_bracket *of = ty_gather_find(g, &b, r);
        if (!of)
            return 0;
        below = of->below_lo;
    }
    if (b != at->bracket || !at->cell)
        *at = (walk){b, 0, below};
    const uint64_t *cells = s->tables[0] + (size_t)b * s->cells;
    while (at->cell < s->cells && r >= at->below + cells[at->cell])
        at->below += cells[at->cell++];
    return at->cell < s->cells;
}

/* Finds the ranks whose cell is of one key, and the brackets of the others; returns how many
 * brackets, adding up their keys, or -1. */
static int64_t narrow(ty_select *s, ty_order_bracket *brackets, uint64_t *keys)
{
    const ty_gather *g = &s->gather;
    unsigned left = 0, made = 0;
    walk at = {0, 0, 0};
    int64_t least;
    whole(g->dtype, &least);
    *keys = 0;
    for (unsigned i = 0; i < s->open; i++) {
        const unsigned which = s->opened[i];
        if (!walk_to(s, &at, s->rank[which]))
            return -1;
        const uint64_t from =
            (uint64_t)(g->bracket_count ? g->workers[0].brackets[at.bracket].lo : least);
        const int64_t lo = (int64_t)(from + (at.cell << s->shift)),
                      hi = (int64_t)(from + ((at.cell + 1) << s->shift) - 1);
        if (!s->shift) {
            s->key[which] = lo;
            continue;
        }
        s->opened[left++] = which;
        if (made && brackets[made - 1].lo == lo)
            continue;
        brackets[made++] = (ty_order_bracket){.lo = lo, .hi = hi};
        *keys += s->tables[0][(size_t)at.bracket * s->cells + at.cell];
    }
    s->open = left;
    return made;
}

/* Tables of the next pass: as fine as memory allows. */
static tally_status make_tables(ty_select *s, unsigned brackets, tally_error *error)
{
    const unsigned workers = s->gather.worker_count;
    unsigned bits = 16;
    while (bits > 4 && ((uint64_t)workers * brackets * sizeof(uint64_t)) << bits > s->memory)
        bits--;
    bits = bits > s->shift ? s->shift : bits;
    s->shift -= bits;
    s->cells = 1U << bits;
    free_tables(s);
    for (unsigned i = 0; i < workers; i++) {
        const size_t cells = (size_t)brackets * s->cells;
        s->tables[i] = ty_calloc(cells, sizeof **s->tables);
        if (!s->tables[i])
            return ty_error_memory(error, "counting quantiles", cells * sizeof **s->tables);
    }
    return TALLY_OK;
}

static tally_status begin_pass(ty_select *s, tally_error *error)
{
    const size_t bytes = s->open * sizeof(ty_order_bracket);
    ty_order_bracket *brackets = ty_malloc(bytes + 1);
    uint64_t keys;
    if (!brackets)
        return ty_error_memory(error, "finding quantiles", bytes);
    const int64_t made = narrow(s, brackets, &keys);
    tally_status status = made < 0 ? ty_error(error, TALLY_ERROR_DATA, "%s", changed) : TALLY_OK;
    if (!status && s->open) {
        s->phase = keys <= most_keys(s) ? KEPT : COUNTED;
        status = ty_gather_begin(&s->gather, brackets, (unsigned)made, error);
        if (!status && s->phase == COUNTED)
            status = make_tables(s, (unsigned)made, error);
        else
            free_tables(s);
    }
    ty_free(brackets);
    return status;
}

tally_status ty_select_next(ty_select *s, int *more, tally_error *error)
{
    tally_status status = TALLY_OK;
    if (s->open)
        status = s->phase == COUNTED ? begin_pass(s, error) : find_kept(s, error);
    *more = !status && s->open;
    return status;
}
