/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of samples with weights: what is looked at is held in memory. */
#include <math.h>

#include "job.h"

static const uint64_t most_bytes = UINT64_C(4) << 30; /* of samples and weights */

/* What grows by chunks. */
typedef struct pile {
    unsigned char *bytes;
    uint64_t count, room; /* room: bytes */
    tally_dtype dtype;
} pile;

typedef struct piles {
    pile samples, weights;
} piles;

static tally_status add(pile *p, const tally_view *view, const tally_view *mask, uint64_t channel,
                        tally_error *error)
{
    const uint64_t size = tally_dtype_bytes(view->dtype),
                   need = (p->count + view->rows * view->columns) * size;
    if (p->count && p->dtype != view->dtype)
        return cli_error(error, TALLY_ERROR_DATA, "weights of several types do not add up");
    p->dtype = view->dtype;
    if (need > p->room) {
        const uint64_t room = need > 2 * p->room ? need : 2 * p->room;
        unsigned char *grown = realloc(p->bytes, (size_t)room);
        if (!grown)
            return cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
        p->bytes = grown;
        p->room = room;
    }
    p->count += cli_pack(view, mask, channel, p->bytes + p->count * size);
    return TALLY_OK;
}

static tally_status check_room(const cli_source *source, uint64_t elements, tally_error *error)
{
    const uint64_t each = source->channels * (tally_dtype_bytes(source->kind.dtype) +
                                              tally_dtype_bytes(cli_source_weight_dtype(source)));
    if (elements <= most_bytes / each)
        return TALLY_OK;
    return cli_error(error, TALLY_ERROR_UNSUPPORTED,
                     "%s: quantiles with weights are found in memory, of %llu GiB of samples and "
                     "weights at most",
                     cli_shown(source->paths[0]), (unsigned long long)(most_bytes >> 30));
}

static tally_status add_chunk(const cli_source *source, const cli_chunk *chunk, piles *all,
                              tally_error *error)
{
    const tally_view *mask = chunk->has_mask ? &chunk->mask : NULL, *w = &chunk->weights;
    tally_status status = TALLY_OK;
    for (uint64_t c = 0; c < source->channels && !status; c++) {
        const uint64_t channel = cli_source_channel(source, c);
        status = add(&all[c].samples, &chunk->views[0], mask, channel, error);
        if (!status)
            status = add(&all[c].weights, w, mask, w->channels > 1 ? channel : 0, error);
    }
    return status;
}

/* Leaves out what is missing in a table, where the weight may be, too. Returns how many. */
static uint64_t drop_missing(piles *p)
{
    const uint64_t all = p->samples.count, size = tally_dtype_bytes(p->weights.dtype);
    double *samples = (double *)(void *)p->samples.bytes;
    uint64_t kept = 0;
    if (p->samples.dtype != TALLY_F64)
        return 0;
    for (uint64_t i = 0; i < all; i++) {
        if (isnan(samples[i]))
            continue;
        samples[kept] = samples[i];
        memmove(p->weights.bytes + kept++ * size, p->weights.bytes + i * size, (size_t)size);
    }
    p->samples.count = p->weights.count = kept;
    return all - kept;
}

/* Of one channel, as float64. */
static tally_status find(tally_context *context, piles *p, const double *q, size_t count,
                         double *values, uint64_t *nan, tally_error *error)
{
    const uint64_t missing = drop_missing(p);
    tally_view samples = tally_view_1d(p->samples.bytes, p->samples.dtype, p->samples.count),
               weights = tally_view_1d(p->weights.bytes, p->weights.dtype, p->weights.count);
    tally_quantile_options how = TALLY_QUANTILE_OPTIONS_INIT;
    tally_stats stats = TALLY_STATS_INIT;
    const double first = 0;
    for (size_t i = 0; i < count; i++)
        values[i] = NAN;
    *nan = missing;
    if (!p->samples.count)
        return TALLY_OK;
    unsigned char *found = calloc(count + 1, tally_dtype_bytes(samples.dtype));
    how.skip_nan = 1;
    tally_status status = found ? tally_stats_add(context, &samples, NULL, 0, 0, &stats, error)
                                : cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    *nan += stats.nan;
    if (!status)
        status = tally_weighted_quantiles(context, &samples, &weights, q, (uint32_t)count, &how,
                                          found, error);
    if (!status) { /* each is a group of its own */
        tally_view each = tally_view_1d(found, samples.dtype, 1);
        each.batches = count;
        status = tally_quantiles(NULL, &each, &first, 1, NULL, values, error);
    }
    free(found);
    return status;
}

tally_status cli_ranks_weighted(tally_context *context, cli_source *source, const double *q,
                                size_t count, double *values, uint64_t *samples, uint64_t *nan,
                                uint64_t *elements, tally_error *error)
{
    const size_t channels = (size_t)source->channels;
    piles *all = calloc(channels, sizeof *all);
    tally_status status = all ? TALLY_OK : cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    int done = 0;
    *elements = 0;
    source->chunked = 1;
    if (!status)
        status = check_room(source, cli_source_hint(source), error);
    while (!status && !done) {
        cli_chunk chunk;
        status = cli_source_read(source, &chunk, &done, error);
        if (status || done)
            break;
        *elements += chunk.elements;
        status = check_room(source, *elements, error);
        if (!status)
            status = add_chunk(source, &chunk, all, error);
    }
    for (size_t c = 0; c < channels && !status; c++) {
        samples[c] = all[c].samples.count;
        status = find(context, &all[c], q, count, values + c * count, &nan[c], error);
    }
    for (size_t c = 0; all && c < channels; c++) {
        free(all[c].samples.bytes);
        free(all[c].weights.bytes);
    }
    free(all);
    return status;
}
