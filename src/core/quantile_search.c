/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of samples that come in pieces, or that a source reads, in passes. */
#include "core/quantile.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/order.h"
#include "core/select.h"
#include "core/source.h"
#include "plan/plan.h"

enum { BLOCK = TY_ORDER_BLOCK, PART = 64 * BLOCK, TABLE = 1 << 19, PARTS_MOST = 1 << 20 };

/* One channel's. */
typedef struct part_search {
    uint64_t channel;
    ty_select select;
    uint64_t *ranks; /* distinct ones that are looked for */
    unsigned found;
    ty_place *places;
} part_search;

struct tally_quantile_search {
    ty_pool *pool;
    unsigned workers;
    tally_dtype dtype;
    uint64_t view_channels;
    tally_quantile_method method;
    int skip_nan;
    double *q;       /* owned; NULL: ranks */
    uint64_t *ranks; /* owned; in any order */
    uint32_t count;
    uint64_t channels; /* looked at */
    part_search *parts;
    int passes, done, broken;
};

/* ---- making ---- */

void tally_quantile_search_destroy(tally_quantile_search *s)
{
    for (uint64_t c = 0; s && s->parts && c < s->channels; c++) {
        ty_select_clear(&s->parts[c].select);
        ty_free(s->parts[c].ranks);
        ty_free(s->parts[c].places);
    }
    if (s) {
        ty_free(s->parts);
        ty_free(s->q);
        ty_free(s->ranks);
    }
    ty_free(s);
}

static tally_status make_parts(tally_quantile_search *s, uint64_t mask, uint64_t memory,
                               tally_error *error)
{
    const uint64_t each = memory / 4 / s->channels;
    uint64_t most = each / TABLE;
    s->workers = s->pool ? ty_pool_threads(s->pool) : 1;
    most = most ? most : 1;
    s->workers = s->workers < most ? s->workers : (unsigned)most;
    s->parts = ty_calloc((size_t)s->channels, sizeof *s->parts);
    if (!s->parts)
        return ty_error_memory(error, "finding quantiles", (size_t)s->channels * sizeof *s->parts);
    uint64_t channel = 0;
    for (uint64_t c = 0; c < s->channels; c++, channel++) {
        part_search *part = &s->parts[c];
        while (mask && !(mask >> channel & 1))
            channel++;
        part->channel = channel;
        const size_t ranks = ((size_t)s->count * 2 + 1) * sizeof *part->ranks,
                     places = ((size_t)s->count + 1) * sizeof *part->places;
        part->ranks = ty_malloc(ranks);
        part->places = ty_malloc(places);
        if (!part->ranks || !part->places)
            return ty_error_memory(error, "finding quantiles", ranks + places);
        const tally_status status =
            ty_select_start(&part->select, s->dtype, s->workers, each, error);
        if (status)
            return status;
    }
    return TALLY_OK;
}

static tally_status check_search(const tally_quantile_search_options *options, tally_error *error)
{
    if (!options || options->struct_size != sizeof *options)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "options: %s; start from "
                        "TALLY_QUANTILE_SEARCH_OPTIONS_INIT",
                        options ? "struct_size is wrong" : "NULL");
    if (!tally_dtype_bytes(options->dtype))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "options: unknown dtype %d",
                        (int)options->dtype);
    if (!tally_quantile_method_name(options->method))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "method %d is none", (int)options->method);
    if (!options->channels || options->channels > 1 << 20 ||
        (options->channels < 64 && options->channel_mask >> options->channels))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%" PRIu64 " channels of mask %" PRIx64,
                        options->channels, options->channel_mask);
    return TALLY_OK;
}

static tally_status make(ty_pool *pool, const tally_quantile_search_options *options,
                         const double *q, const uint64_t *ranks, uint32_t count,
                         tally_quantile_search **search, tally_error *error)
{
    const size_t bytes = count * sizeof(double);
    tally_quantile_search *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "finding quantiles", sizeof *s);
    const uint64_t mask = options->channel_mask;
    *s = (tally_quantile_search){.pool = pool,
                                 .dtype = options->dtype,
                                 .view_channels = options->channels,
                                 .method = options->method,
                                 .skip_nan = options->skip_nan,
                                 .count = count,
                                 .channels = options->channels};
    if (mask)
        s->channels = (uint64_t)__builtin_popcountll(mask);
    void *copy = ty_malloc(bytes + 1);
    if (copy && bytes)
        memcpy(copy, q ? (const void *)q : ranks, bytes);
    s->q = ranks ? NULL : copy;
    s->ranks = ranks ? copy : NULL;
    tally_status status = copy ? TALLY_OK : ty_error_memory(error, "finding quantiles", bytes);
    if (!status)
        status = make_parts(
            s, mask, options->memory_bytes ? options->memory_bytes : TALLY_QUANTILE_MEMORY, error);
    if (status)
        tally_quantile_search_destroy(s);
    else
        *search = s;
    return status;
}

tally_status ty_quantile_check(const double *q, uint32_t count, tally_error *error)
{
    if (!q && count)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "q: NULL");
    for (uint32_t i = 0; i < count; i++)
        if (!(q[i] >= 0 && q[i] <= 1))
            return ty_error(error, TALLY_ERROR_ARGUMENT, "q[%" PRIu32 "] is %g; it must be 0 to 1",
                            i, q[i]);
    return TALLY_OK;
}

tally_status tally_quantile_search_create(tally_context *context,
                                          const tally_quantile_search_options *options,
                                          const double *q, uint32_t count,
                                          tally_quantile_search **search, tally_error *error)
{
    tally_status status = check_search(options, error);
    if (!status && !search)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "search: NULL");
    if (!status)
        status = ty_quantile_check(q, count, error);
    return status ? status
                  : make(context ? context->pool : NULL, options, q, NULL, count, search, error);
}

/* ---- a piece ---- */

typedef struct piece {
    tally_quantile_search *search;
    ty_grid samples, mask; /* mask.data NULL: all count */
    uint64_t elements, total, grain;
    unsigned parts;
    ty_source_failure *failure; /* NULL: in memory */
    ty_source_buffers buffers;
} piece;

/* Elements [begin, end) of a batch in memory. */
static void add_elements(const piece *p, unsigned worker, uint64_t batch, uint64_t begin,
                         uint64_t end)
{
    tally_quantile_search *s = p->search;
    unsigned char buffer[BLOCK * 8], bytes[BLOCK];
    for (; begin < end; begin += BLOCK) {
        const size_t n = end - begin < BLOCK ? (size_t)(end - begin) : BLOCK;
        const unsigned char *mask =
            p->mask.data ? ty_grid_block(&p->mask, batch, 0, begin, n, bytes) : NULL;
        for (uint64_t c = 0; c < s->channels; c++) {
            part_search *part = &s->parts[c];
            if (!s->passes || part->select.open)
                ty_select_add(&part->select, worker,
                              ty_grid_block(&p->samples, batch, part->channel, begin, n, buffer),
                              mask, n);
        }
    }
}

static unsigned grids_of(piece *p, ty_grid **grids)
{
    grids[0] = &p->samples;
    grids[1] = &p->mask;
    return p->mask.data ? 2 : 1;
}

static void read_elements(const piece *p, unsigned worker, uint64_t begin, uint64_t end)
{
    for (uint64_t n; begin < end && !ty_source_stopped(p->failure, begin); begin += n) {
        ty_grid *grids[2];
        piece read = *p;
        const unsigned count = grids_of(&read, grids);
        n = ty_source_load(&p->buffers, worker, grids, count, begin, end - begin);
        add_elements(&read, worker, 0, 0, n);
        ty_source_unload(grids, count, begin);
    }
}

static uint64_t part_start(const piece *p, unsigned part)
{
    const uint64_t more = p->total % p->parts;
    const uint64_t start = p->total / p->parts * part + (part < more ? part : more);
    return part < p->parts ? start - start % p->grain : start;
}

static void add_part(void *arg, unsigned part, unsigned worker)
{
    const piece *p = arg;
    uint64_t at = part_start(p, part);
    const uint64_t end = part_start(p, part + 1);
    for (uint64_t n; at < end; at += n) {
        const uint64_t batch = at / p->elements, first = at % p->elements;
        n = end - at < p->elements - first ? end - at : p->elements - first;
        if (p->failure)
            read_elements(p, worker, first, first + n);
        else
            add_elements(p, worker, batch, first, first + n);
    }
}

static void add_parts(piece *p)
{
    const uint64_t parts = p->total / PART + 1, grain = p->grain;
    p->parts = parts < PARTS_MOST ? (unsigned)parts : PARTS_MOST;
    p->grain = 1;
    if (grain && p->total / p->parts < grain) /* whole ones, as far as there are enough */
        p->parts = p->total / grain ? (unsigned)(p->total / grain) : 1;
    p->grain = grain && grain <= p->total / p->parts ? grain : 1;
    if (p->search->workers > 1 && p->parts > 1)
        ty_pool_run(p->search->pool, p->search->workers, p->parts, add_part, p);
    else
        for (unsigned i = 0; i < p->parts; i++)
            add_part(p, i, 0);
}

static tally_status add_source(piece *p, tally_error *error)
{
    ty_grid *grids[2];
    ty_source_failure failure;
    const unsigned count = grids_of(p, grids);
    tally_status status =
        ty_source_buffers_make(&p->buffers, grids, count, p->search->workers, error);
    if (status)
        return status;
    ty_source_begin(&failure, grids, count);
    p->failure = &failure;
    p->grain = p->samples.source->grain;
    add_parts(p);
    status = ty_source_status(&failure, error);
    ty_source_end(&failure);
    ty_source_buffers_free(&p->buffers);
    return status;
}

static tally_status piece_make(piece *p, const tally_view *view, const tally_view *mask,
                               tally_error *error)
{
    const tally_quantile_search *s = p->search;
    tally_status status = ty_grid_make(view, "view", &p->samples, error);
    if (status)
        return status;
    if (view->device > TALLY_DEVICE_CPU)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "view: device %d; pieces are in host memory", (int)view->device);
    if (view->dtype != s->dtype || view->channels != s->view_channels)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "view: %" PRIu64 " channels of %s; the search is for %" PRIu64 " of %s",
                        view->channels, tally_dtype_name(view->dtype), s->view_channels,
                        tally_dtype_name(s->dtype));
    ty_grid *g = &p->samples;
    if (mask && (status = ty_grid_mask(mask, g, TALLY_DEVICE_CPU, &p->mask, error)))
        return status;
    if (mask && ((g->source != NULL) != (p->mask.source != NULL) ||
                 (g->source && (view->rows != mask->rows || view->columns != mask->columns))))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "mask: with a source it is as large as the samples, which have one, too");
    if (__builtin_mul_overflow(g->rows, g->columns, &p->elements) ||
        __builtin_mul_overflow(p->elements, g->batches, &p->total) || p->total > UINT64_C(1) << 53)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "view: more than 2^53 samples");
    if (!mask || g->source)
        ty_grid_coalesce(g, 1);
    if (p->mask.source)
        ty_grid_coalesce(&p->mask, 1);
    return TALLY_OK;
}

tally_status tally_quantile_search_add(tally_quantile_search *search, const tally_view *view,
                                       const tally_view *mask, tally_error *error)
{
    piece p = {.search = search, .grain = 1};
    if (!search || search->done || search->broken)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "search: %s",
                        !search        ? "NULL"
                        : search->done ? "it needs no more samples"
                                       : "a call failed before");
    tally_status status = piece_make(&p, view, mask, error);
    if (!status && p.total && p.samples.source)
        status = add_source(&p, error);
    else if (!status && p.total)
        add_parts(&p);
    search->broken = status != TALLY_OK;
    return status;
}

/* ---- after a pass ---- */

/* The first one: how many samples there are is known now. */
static tally_status want(const tally_quantile_search *s, part_search *part, tally_error *error)
{
    const ty_select *select = &part->select;
    const uint64_t numbers = select->count - select->nan,
                   n = s->skip_nan || s->ranks ? numbers : select->count;
    if (s->ranks) {
        unsigned kept = 0;
        for (uint32_t i = 0; i < s->count; i++) {
            if (s->ranks[i] >= select->count)
                return ty_error(error, TALLY_ERROR_ARGUMENT, TY_RANK_WRONG, s->ranks[i],
                                select->count);
            if (s->ranks[i] < numbers)
                part->ranks[kept++] = s->ranks[i];
        }
        part->found = ty_ranks_distinct(part->ranks, kept);
    } else if (n && (s->skip_nan || !select->nan)) {
        part->found = ty_quantile_ranks(s->method, s->q, s->count, n, part->places, part->ranks);
    }
    return ty_select_want(&part->select, part->ranks, part->found, error);
}

tally_status tally_quantile_search_next(tally_quantile_search *search, int *more,
                                        tally_error *error)
{
    if (!search || !more || search->broken)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s",
                        !search ? "search: NULL"
                        : !more ? "more: NULL"
                                : "search: a call failed before");
    tally_status status = TALLY_OK;
    *more = 0;
    for (uint64_t c = 0; c < search->channels && !status && !search->done; c++) {
        part_search *part = &search->parts[c];
        int again = 0;
        if (search->passes && !part->select.open)
            continue;
        status = ty_select_end(&part->select, error);
        if (!status && !search->passes)
            status = want(search, part, error);
        if (!status)
            status = ty_select_next(&part->select, &again, error);
        *more |= again;
    }
    search->passes++;
    search->broken = status != TALLY_OK;
    search->done = !status && !*more;
    return status;
}

static int64_t key_of(const part_search *part, uint64_t rank)
{
    return part->found ? ty_ranks_key(part->ranks, part->select.key, part->found, rank) : 0;
}

/* Of one channel. */
static void write_answers(const tally_quantile_search *s, const part_search *part, void *out)
{
    const ty_select *select = &part->select;
    const size_t size = tally_dtype_bytes(s->dtype);
    double *values = out;
    if (!s->ranks && part->found)
        ty_quantile_write(s->dtype, part->places, s->count, part->ranks, part->found, select->key,
                          values);
    for (uint32_t i = 0; i < s->count && !s->ranks && !part->found; i++)
        values[i] = NAN;
    for (uint32_t i = 0; i < s->count && s->ranks; i++)
        ty_order_sample(s->dtype,
                        s->ranks[i] < select->count - select->nan ? key_of(part, s->ranks[i])
                        : size == 8                               ? INT64_MAX
                                                                  : INT32_MAX,
                        (char *)out + i * size);
}

static void write_all(const tally_quantile_search *s, void *out, uint64_t *samples, uint64_t *nan)
{
    const size_t size = s->ranks ? tally_dtype_bytes(s->dtype) : sizeof(double);
    for (uint64_t c = 0; c < s->channels; c++) {
        if (s->count)
            write_answers(s, &s->parts[c], (char *)out + c * s->count * size);
        if (samples)
            samples[c] = s->parts[c].select.count;
        if (nan)
            nan[c] = s->parts[c].select.nan;
    }
}

tally_status tally_quantile_search_get(const tally_quantile_search *search, double *out,
                                       uint64_t *samples, uint64_t *nan, tally_error *error)
{
    if (!search || !search->done)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "search: %s",
                        search ? "it needs more samples" : "NULL");
    if (!out && search->count)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "out: NULL");
    write_all(search, out, samples, nan);
    return TALLY_OK;
}

tally_status ty_quantile_source(ty_pool *pool, const tally_view *view,
                                const tally_quantile_options *options, const double *q,
                                const uint64_t *ranks, uint32_t count, void *out, uint64_t *nan,
                                tally_error *error)
{
    tally_quantile_search_options how = TALLY_QUANTILE_SEARCH_OPTIONS_INIT;
    tally_quantile_search *search = NULL;
    int more = 1;
    how.dtype = view->dtype;
    how.channels = view->channels;
    how.method = options ? options->method : how.method;
    how.skip_nan = options && options->skip_nan;
    tally_status status = check_search(&how, error);
    if (!status)
        status = make(pool, &how, q, ranks, count, &search, error);
    while (!status && more) {
        status = tally_quantile_search_add(search, view, options ? options->mask : NULL, error);
        if (!status)
            status = tally_quantile_search_next(search, &more, error);
    }
    if (!status)
        write_all(search, out, NULL, nan);
    tally_quantile_search_destroy(search);
    return status;
}
