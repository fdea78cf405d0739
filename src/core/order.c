/* SPDX-License-Identifier: Apache-2.0 */
#include "core/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/gather.h"
#include "core/random.h"
#include "cpu/order.h"
#include "cpu/stats.h"

enum {
    BLOCK = TY_ORDER_BLOCK,
    PART = 64 * BLOCK,   /* samples that a thread takes at a time */
    FEW = 32768,         /* so many are all kept */
    SAMPLE_MOST = 16384, /* drawn for the brackets */
    TRIES = 3,           /* then all samples are kept */
};

__extension__ typedef unsigned __int128 ty_u128;

typedef struct pass {
    const ty_order_group *group;
    ty_gather gather;
    uint64_t elements;
    int keep_all; /* instead of brackets */
    uint64_t part;
} pass;

/* A block's keys, those that count; returns how many, and adds NaN to *nan. */
static size_t load_block(const pass *p, uint64_t begin, size_t count, void *keys, uint64_t *nan)
{
    const ty_order_group *g = p->group;
    unsigned char samples[BLOCK * 8], bytes[BLOCK];
    const void *from = ty_grid_block(g->samples, g->batch, g->channel, begin, count, samples);
    const unsigned char *mask =
        g->mask ? ty_grid_block(g->mask, g->batch, 0, begin, count, bytes) : NULL;
    return ty_gather_load(&p->gather, from, mask, count, keys, nan);
}

static void read_block(const pass *p, ty_gather_worker *w, uint64_t begin, size_t count)
{
    int64_t keys[BLOCK];
    count = load_block(p, begin, count, keys, &w->nan);
    w->samples += count;
    if (p->keep_all)
        ty_gather_keep(&p->gather, w, keys, count);
    else
        ty_gather_scan(&p->gather, w, keys, count);
}

static void read_part(void *arg, unsigned part, unsigned of)
{
    const pass *p = arg;
    ty_gather_worker *w = &p->gather.workers[of];
    uint64_t at = part * p->part;
    const uint64_t end = p->elements - at < p->part ? p->elements : at + p->part;
    for (; at < end && !w->failed; at += BLOCK)
        read_block(p, w, at, end - at < BLOCK ? (size_t)(end - at) : BLOCK);
}

/* All samples once; what the workers found is added up. */
static tally_status run(pass *p, tally_error *error)
{
    p->part = PART;
    while (p->elements / p->part > 1 << 20)
        p->part *= 2;
    const unsigned parts = (unsigned)(p->elements / p->part + (p->elements % p->part != 0));
    if (p->gather.worker_count > 1 && parts > 1)
        ty_pool_run(p->group->pool, p->gather.worker_count, parts, read_part, p);
    else
        for (unsigned i = 0; i < parts; i++)
            read_part(p, i, 0);
    return ty_gather_join(&p->gather, error);
}

static tally_status pass_make(pass *p, const ty_order_group *group, tally_error *error)
{
    *p = (pass){.group = group, .elements = group->samples->rows * group->samples->columns};
    return ty_gather_make(&p->gather, group->samples->dtype,
                          group->pool ? ty_pool_threads(group->pool) : 1, error);
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
    for (unsigned i = 0; !status && i < p.gather.worker_count; i++) {
        kinds->count += p.gather.workers[i].samples;
        kinds->nan += p.gather.workers[i].nan;
    }
    ty_gather_free(&p.gather);
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
            drawn[count++] = p->gather.wide ? key : narrow;
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
        trim(p->gather.wide, brackets, made);
        status = ty_gather_begin(&p->gather, brackets, made, error);
        if (!status)
            status = run(p, error);
        if (!status)
            *done = ty_gather_resolve(&p->gather, ranks, rank_count, among, places, keys);
    }
    ty_free(drawn);
    return status;
}

static tally_status keep_all(pass *p, const uint64_t *ranks, unsigned rank_count, int64_t *keys,
                             tally_error *error)
{
    tally_status status = ty_gather_begin(&p->gather, NULL, 0, error);
    p->keep_all = 1;
    if (!status)
        status = run(p, error);
    if (!status && rank_count && ranks[rank_count - 1] >= p->gather.workers[0].count)
        return ty_error(error, TALLY_ERROR_DATA, "the samples changed between two readings");
    if (!status)
        ty_gather_select(&p->gather, ranks, rank_count, keys);
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
    for (unsigned i = 0; !status && i < p.gather.worker_count; i++)
        *nan += p.gather.workers[i].nan;
    ty_gather_free(&p.gather);
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
