/* SPDX-License-Identifier: Apache-2.0 */
#include "core/select.h"

#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"

tally_status ty_select_start(ty_select *s, tally_dtype dtype, tally_error *error)
{
    memset(s, 0, sizeof *s);
    s->dtype = dtype;
    s->width = 8 * (unsigned)tally_dtype_bytes(dtype);
    s->digit = s->width < 16 ? s->width : 16;
    s->shift = s->width - s->digit;
    s->groups = 1;
    const size_t size = TY_SELECT_FEW * sizeof *s->few;
    s->few = ty_malloc(size);
    return s->few ? TALLY_OK : ty_error_memory(error, "finding quantiles", size);
}

void ty_select_clear(ty_select *s)
{
    ty_free(s->few);
    ty_free(s->counts);
    s->few = s->counts = NULL;
}

/* Bits to invert to turn a sample into its key: in every sample, and besides in negative ones. */
static uint64_t flip_always(const ty_select *s)
{
    int is_signed = s->dtype == TALLY_I8 || s->dtype == TALLY_I16 || s->dtype == TALLY_I32 ||
                    s->dtype == TALLY_I64 || ty_dtype_is_float(s->dtype);
    return is_signed ? UINT64_C(1) << (s->width - 1) : 0;
}

static uint64_t flip_negative(const ty_select *s)
{
    return ty_dtype_is_float(s->dtype) ? (UINT64_C(1) << (s->width - 1)) - 1 : 0;
}

/* `bytes` is a constant wherever this is called. */
__attribute__((always_inline)) static inline uint64_t
load_key(const unsigned char *at, unsigned bytes, uint64_t always, uint64_t negative)
{
    uint64_t bits = 0;
    memcpy(&bits, at, bytes);
    return bits ^ always ^ (bits >> (8 * bytes - 1) ? negative : 0);
}

__attribute__((always_inline)) static inline void count_first(const ty_select *s,
                                                              const unsigned char *from,
                                                              size_t count, unsigned bytes,
                                                              uint64_t *counts)
{
    const uint64_t always = flip_always(s), negative = flip_negative(s);
    const unsigned shift = bytes > 2 ? 8 * bytes - 16 : 0;
    for (size_t i = 0; i < count; i++)
        counts[load_key(from + i * bytes, bytes, always, negative) >> shift]++;
}

/* Few samples have a wanted prefix, so the four comparisons lead to one branch. */
__attribute__((always_inline)) static inline void count_later(const ty_select *s,
                                                              const unsigned char *from,
                                                              size_t count, unsigned bytes,
                                                              uint64_t *counts)
{
    const uint64_t always = flip_always(s), negative = flip_negative(s);
    const unsigned shift = s->shift, groups = s->groups;
    uint64_t head[TY_SELECT_RANKS];
    for (unsigned g = 0; g < TY_SELECT_RANKS; g++)
        head[g] = s->head[g < groups ? g : 0];
    for (size_t i = 0; i < count; i++) {
        uint64_t place = load_key(from + i * bytes, bytes, always, negative) >> shift;
        uint64_t settled = place >> 16;
        if ((settled == head[0]) | (settled == head[1]) | (settled == head[2]) |
            (settled == head[3])) {
            size_t g = 0;
            while (settled != head[g])
                g++;
            counts[(g << 16) + (place & 0xffff)]++;
        }
    }
}

__attribute__((always_inline)) static inline void keep_keys(ty_select *s, const unsigned char *from,
                                                            size_t count, unsigned bytes)
{
    const uint64_t always = flip_always(s), negative = flip_negative(s);
    uint64_t *to = s->few + s->few_count;
    for (size_t i = 0; i < count; i++)
        to[i] = load_key(from + i * bytes, bytes, always, negative);
    s->few_count += count;
}

static void keep_few(ty_select *s, const void *samples, size_t count)
{
    if (s->width == 8)
        keep_keys(s, samples, count, 1);
    else if (s->width == 16)
        keep_keys(s, samples, count, 2);
    else if (s->width == 32)
        keep_keys(s, samples, count, 4);
    else
        keep_keys(s, samples, count, 8);
}

/* There are too many to be kept: those that were are counted. */
static size_t table_cells(const ty_select *s)
{
    return (size_t)s->groups << s->digit;
}

/* There are too many to be kept: those that were are counted. */
static tally_status count_few(ty_select *s, tally_error *error)
{
    const unsigned threads = s->pool ? ty_pool_threads(s->pool) : 1;
    s->threads = threads < TY_SELECT_THREADS ? threads : TY_SELECT_THREADS;
    const size_t cells = s->threads * table_cells(s);
    s->counts = ty_calloc(cells, sizeof *s->counts);
    if (!s->counts)
        return ty_error_memory(error, "counting quantiles", cells * sizeof *s->counts);
    for (size_t i = 0; i < s->few_count; i++)
        s->counts[s->few[i] >> s->shift]++;
    ty_free(s->few);
    s->few = NULL;
    return TALLY_OK;
}

static void count_part(const ty_select *s, const void *samples, size_t count, uint64_t *counts)
{
    int first = s->shift + s->digit == s->width;
    if (s->width == 8)
        count_first(s, samples, count, 1, counts);
    else if (s->width == 16)
        count_first(s, samples, count, 2, counts);
    else if (s->width == 32 && first)
        count_first(s, samples, count, 4, counts);
    else if (s->width == 32)
        count_later(s, samples, count, 4, counts);
    else if (first)
        count_first(s, samples, count, 8, counts);
    else
        count_later(s, samples, count, 8, counts);
}

typedef struct many {
    const ty_select *select;
    const unsigned char *samples;
    size_t count, part; /* part: samples that one thread takes at a time */
} many;

static void any_part(void *arg, unsigned part, unsigned worker)
{
    const many *m = arg;
    const ty_select *s = m->select;
    const size_t begin = part * m->part, left = m->count - begin;
    count_part(s, m->samples + begin * (s->width / 8), left < m->part ? left : m->part,
               s->counts + worker * table_cells(s));
}

static void count_all(const ty_select *s, const void *samples, size_t count)
{
    enum { PART = 1 << 15 };
    many m = {s, samples, count, PART};
    const size_t parts = count / PART + (count % PART != 0);
    if (s->threads < 2 || parts < 2 || parts > 1 << 20)
        count_part(s, samples, count, s->counts);
    else
        ty_pool_run(s->pool, s->threads, (unsigned)parts, any_part, &m);
}

/* Adds the threads' tables to the first. */
static void add_tables(ty_select *s)
{
    const size_t cells = table_cells(s);
    for (unsigned t = 1; t < s->threads; t++)
        for (size_t i = 0; i < cells; i++)
            s->counts[i] += s->counts[t * cells + i];
}

tally_status ty_select_count(ty_select *s, const void *samples, size_t count, tally_error *error)
{
    if (s->few && count <= TY_SELECT_FEW - s->few_count) {
        keep_few(s, samples, count);
        return TALLY_OK;
    }
    const tally_status status = s->few ? count_few(s, error) : TALLY_OK;
    if (!status)
        count_all(s, samples, count);
    return status;
}

void ty_select_want(ty_select *s, const uint64_t *ranks, unsigned count)
{
    s->ranks = count;
    for (unsigned i = 0; i < count; i++)
        s->rank[i] = ranks[i];
}

/* Settles the digit just counted of each wanted key; 0 if no sample has the prefix found before. */
static int settle(ty_select *s)
{
    const uint64_t end = UINT64_C(1) << s->digit;
    for (unsigned i = 0; i < s->ranks; i++) {
        const uint64_t *counts = s->counts + ((size_t)s->group[i] << s->digit);
        uint64_t d = 0;
        for (; d < end && s->rank[i] >= counts[d]; d++)
            s->rank[i] -= counts[d];
        if (d == end)
            return 0;
        s->prefix[i] = s->prefix[i] << s->digit | d;
    }
    return 1;
}

/* Moves the keys for which `below` holds to the front, without a branch; returns how many. */
#define PARTITION(keys, n, below)                                                                  \
    size_t front = 0;                                                                              \
    for (size_t i = 0; i < (n); i++) {                                                             \
        const uint64_t key = (keys)[i];                                                            \
        (keys)[i] = (keys)[front];                                                                 \
        (keys)[front] = key;                                                                       \
        front += (below) != 0;                                                                     \
    }                                                                                              \
    return front;

static size_t move_below(uint64_t *keys, size_t n, uint64_t pivot)
{
    PARTITION(keys, n, key < pivot)
}

static size_t move_equal(uint64_t *keys, size_t n, uint64_t pivot)
{
    PARTITION(keys, n, key == pivot)
}

/* The key of a rank, below n; the others are moved about. Pivots are drawn, so that no order of the
 * samples is slow more than by chance. */
static uint64_t key_of_rank(uint64_t *keys, size_t n, size_t rank)
{
    uint64_t drawn = n;
    for (;;) {
        drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
        const uint64_t pivot = keys[(drawn >> 33) % n];
        const size_t below = move_below(keys, n, pivot);
        if (rank < below) {
            n = below;
            continue;
        }
        const size_t equal = move_equal(keys + below, n - below, pivot);
        if (rank < below + equal)
            return pivot;
        keys += below + equal;
        n -= below + equal;
        rank -= below + equal;
    }
}

static tally_status find_few(ty_select *s, int *more, tally_error *error)
{
    *more = 0;
    for (unsigned i = 0; i < s->ranks; i++) {
        if (s->rank[i] >= s->few_count)
            return ty_error(error, TALLY_ERROR_INTERNAL, "rank %llu of %zu samples",
                            (unsigned long long)s->rank[i], s->few_count);
        s->prefix[i] = key_of_rank(s->few, s->few_count, (size_t)s->rank[i]);
    }
    return TALLY_OK;
}

tally_status ty_select_next(ty_select *s, int *more, tally_error *error)
{
    if (s->few)
        return find_few(s, more, error);
    add_tables(s);
    if (!settle(s))
        return ty_error(error, TALLY_ERROR_DATA, "the samples changed between two readings");
    *more = s->shift != 0 && s->ranks != 0;
    if (!*more)
        return TALLY_OK;
    s->shift -= s->digit;
    s->groups = 0;
    for (unsigned i = 0; i < s->ranks; i++) {
        unsigned g = 0;
        while (g < s->groups && s->head[g] != s->prefix[i])
            g++;
        if (g == s->groups)
            s->head[s->groups++] = s->prefix[i];
        s->group[i] = g;
    }
    const size_t size = s->threads * table_cells(s) * sizeof *s->counts;
    uint64_t *counts = ty_realloc(s->counts, size);
    if (!counts)
        return ty_error_memory(error, "counting quantiles", size);
    s->counts = counts;
    memset(counts, 0, size);
    return TALLY_OK;
}

uint64_t ty_select_key(const ty_select *s, unsigned i)
{
    return s->prefix[i];
}

double ty_select_value(const ty_select *s, uint64_t key)
{
    uint64_t bits = key ^ flip_always(s);
    if (bits >> (s->width - 1)) /* the sample is negative, whatever was inverted besides */
        bits ^= flip_negative(s);
    return ty_dtype_value(s->dtype, bits);
}
