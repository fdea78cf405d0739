/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_stats: extremes, kinds of samples and moments of one channel, or of all, in one pass.
 *
 * Elements are cut into parts of fixed size and parts into blocks, whatever the threads; blocks,
 * and a block's channels, are merged in order within a part, parts pairwise in order. So moments
 * depend on the samples' sequence (and the mask) alone, and their error grows with the logarithm of
 * the count.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/source.h"
#include "core/view.h"
#include "cpu/stats.h"
#include "cpu/threads.h"
#include "plan/plan.h"

#define BLOCK TY_STATS_BLOCK
#define PART  (UINT64_C(32) * BLOCK) /* with moments */
#define PART_RANGE                                                                                 \
    (UINT64_C(512) * BLOCK) /* without: order does not matter, so parts are larger                 \
                             */
#define PARTS       64      /* handed to the pool at a time */
#define TREE_LEVELS 64

static int below(int64_t a, int64_t b, tally_dtype dtype)
{
    return dtype == TALLY_U64 ? (uint64_t)a < (uint64_t)b : a < b;
}

/* Chan, Golub and LeVeque's update for two sets of `a` and `b` samples. */
static void merge_moments(tally_stats *into, const tally_stats *from)
{
    if (!into->finite) {
        into->mean = from->mean;
        into->m2 = from->m2;
        into->m3 = from->m3;
        return;
    }
    double a = (double)into->finite, b = (double)from->finite, n = a + b;
    double delta = from->mean - into->mean, step = delta * (b / n);
    double spread = delta * step * a;
    into->m3 += from->m3 + spread * (delta * ((a - b) / n)) +
                3 * delta * ((a / n) * from->m2 - (b / n) * into->m2);
    into->m2 += from->m2 + spread;
    into->mean += step;
}

void tally_stats_merge(tally_stats *into, const tally_stats *from, tally_dtype dtype)
{
    if (!into || !from)
        return;
    if (from->finite) {
        int first = !into->finite;
        merge_moments(into, from);
        if (first || from->min < into->min)
            into->min = from->min;
        if (first || from->max > into->max)
            into->max = from->max;
        if (first || below(from->min_integer, into->min_integer, dtype))
            into->min_integer = from->min_integer;
        if (first || below(into->max_integer, from->max_integer, dtype))
            into->max_integer = from->max_integer;
    }
    into->samples += from->samples;
    into->finite += from->finite;
    into->nan += from->nan;
    into->minus_inf += from->minus_inf;
    into->plus_inf += from->plus_inf;
}

/* One call: what every part reads. */
typedef struct stats_job {
    const ty_stats_loops *loops;
    ty_grid samples, mask;      /* mask.data NULL: none */
    uint64_t channel, channels; /* the first, and how many */
    uint64_t elements, total;   /* of a batch; of all batches */
    uint64_t part;              /* elements of a part */
    uint64_t first;             /* number of the part that `results` starts with */
    int moments, direct;        /* direct: one packed run, no mask */
    ty_source_failure *failure; /* samples and mask are read; else NULL */
    ty_source_buffers buffers;
    tally_stats *results;
} stats_job;

/* Elements [begin, begin+count) across all batches, packed; maybe where they lie. */
static const void *gather(const stats_job *job, const ty_grid *grid, uint64_t channel,
                          uint64_t begin, uint64_t count, unsigned char *buffer)
{
    uint64_t batch = begin / job->elements, element = begin % job->elements;
    if (count <= job->elements - element)
        return ty_grid_block(grid, batch, channel, element, count, buffer);
    unsigned char *to = buffer;
    while (count) {
        uint64_t n = job->elements - element < count ? job->elements - element : count;
        const void *from = ty_grid_block(grid, batch, channel, element, n, to);
        if (from != to)
            memcpy(to, from, n * grid->size);
        to += n * grid->size;
        count -= n;
        element = 0;
        batch++;
    }
    return buffer;
}

#define KEEP(type)                                                                                 \
    for (size_t i = 0; i < count; i++) {                                                           \
        memcpy(to + kept * sizeof(type), from + i * sizeof(type), sizeof(type));                   \
        kept += mask[i] != 0;                                                                      \
    }

/* Copies the samples whose mask is nonzero; returns how many. `to` has room for `count`. */
static size_t keep(const unsigned char *mask, const unsigned char *from, uint32_t size,
                   size_t count, unsigned char *to)
{
    size_t kept = 0;
    switch (size) {
    case 1:
        KEEP(uint8_t);
        break;
    case 2:
        KEEP(uint16_t);
        break;
    case 4:
        KEEP(uint32_t);
        break;
    default:
        KEEP(uint64_t);
        break;
    }
    return kept;
}

/* Moments of a block's finite samples; `stats` has its counts already. */
static void block_moments(const ty_stats_loops *loops, tally_dtype dtype, const void *samples,
                          size_t count, tally_stats *stats)
{
    double values[BLOCK];
    loops->decode(dtype, samples, count, values);
    if (stats->finite < count) {
        size_t kept = 0;
        for (size_t i = 0; i < count; i++) {
            values[kept] = values[i];
            kept += isfinite(values[i]) != 0;
        }
        count = kept;
    }
    if (count)
        loops->moments(values, count, stats);
}

/* Elements [begin, begin+count) of a channel, at most BLOCK unless the job is direct and wants no
 * moments. */
static void add_block(const stats_job *job, uint64_t channel, uint64_t begin, size_t count,
                      tally_stats *into)
{
    unsigned char buffer[BLOCK * 8], picked[BLOCK * 8], bytes[BLOCK];
    const void *samples = gather(job, &job->samples, channel, begin, count, buffer);
    if (job->mask.data) {
        const unsigned char *mask = gather(job, &job->mask, 0, begin, count, bytes);
        count = keep(mask, samples, job->samples.size, count, picked);
        samples = picked;
        if (!count)
            return;
    }
    tally_stats block = TALLY_STATS_INIT;
    job->loops->extremes(job->samples.dtype, samples, count, &block);
    if (job->moments && block.min == block.max)
        block.mean =
            block.min; /* exactly, and no spread; 64-bit integers by their float64 values */
    else if (job->moments)
        block_moments(job->loops, job->samples.dtype, samples, count, &block);
    tally_stats_merge(into, &block, job->samples.dtype);
}

static void add_blocks(const stats_job *job, uint64_t at, uint64_t end, tally_stats *into)
{
    size_t step = job->direct && !job->moments ? 32 * BLOCK : BLOCK;
    for (; at < end; at += step) {
        const size_t count = (size_t)(end - at < step ? end - at : step);
        for (uint64_t c = 0; c < job->channels; c++)
            add_block(job, job->channel + c, at, count, into);
    }
}

/* Pixels all of whose packed channels are looked at become samples of one channel; moments have an
 * order. */
static void flatten(stats_job *job)
{
    ty_grid *g = &job->samples;
    const uint64_t channels = job->channels;
    if (channels != g->channels || job->moments || job->mask.data || g->source || g->rows != 1 ||
        g->batches != 1 || g->channel_stride != (int64_t)g->size ||
        g->column_stride != (int64_t)(channels * g->size))
        return;
    g->columns *= channels;
    g->column_stride = (int64_t)g->size;
    job->elements = job->total = g->columns;
    job->channels = g->channels = 1;
    job->direct = 1;
}

static unsigned grids_of(stats_job *job, ty_grid **grids)
{
    grids[0] = &job->samples;
    grids[1] = &job->mask;
    return job->mask.data ? 2 : 1;
}

/* Blocks are of the same elements as in memory: buffers hold whole ones. */
static void add_read(const stats_job *job, unsigned worker, uint64_t at, uint64_t end,
                     tally_stats *into)
{
    for (uint64_t n; at < end && !ty_source_stopped(job->failure, at); at += n) {
        ty_grid *grids[2];
        stats_job piece = *job;
        const unsigned count = grids_of(&piece, grids);
        n = ty_source_load(&job->buffers, worker, grids, count, at, end - at);
        piece.elements = n;
        stats_job flat = piece; /* its own, for the piece is given back as it was lent */
        flatten(&flat);
        add_blocks(&flat, 0, flat.elements, into);
        ty_source_unload(grids, count, at);
    }
}

static void add_part(void *arg, unsigned part, unsigned worker)
{
    const stats_job *job = arg;
    uint64_t at = (job->first + part) * job->part;
    uint64_t end = job->total - at < job->part ? job->total : at + job->part;
    tally_stats stats = TALLY_STATS_INIT;
    if (job->failure)
        add_read(job, worker, at, end, &stats);
    else
        add_blocks(job, at, end, &stats);
    job->results[part] = stats;
}

/* Runs all parts and merges them as a binary counter carries: tree[k] holds 2^k parts or is unused.
 */
static void add_parts(stats_job *job, ty_pool *pool, tally_stats *sum)
{
    tally_stats results[PARTS], tree[TREE_LEVELS];
    tally_dtype dtype = job->samples.dtype;
    uint64_t parts = job->total / job->part + (job->total % job->part != 0), used = 0;
    job->results = results;
    for (job->first = 0; job->first < parts; job->first += PARTS) {
        unsigned count = parts - job->first < PARTS ? (unsigned)(parts - job->first) : PARTS;
        if (pool && count > 1) {
            ty_pool_run(pool, 0, count, add_part, job);
        } else {
            for (unsigned i = 0; i < count; i++)
                add_part(job, i, 0);
        }
        for (unsigned i = 0; i < count; i++, used++) {
            tally_stats carry = results[i];
            unsigned level = 0;
            for (; used >> level & 1; level++) {
                tally_stats_merge(&tree[level], &carry, dtype);
                carry = tree[level];
            }
            tree[level] = carry;
        }
    }
    for (unsigned level = TREE_LEVELS; level-- > 0;) {
        if (used >> level & 1)
            tally_stats_merge(sum, &tree[level], dtype);
    }
}

static tally_status job_make(const tally_view *view, const tally_view *mask, uint64_t channel,
                             const tally_stats *stats, stats_job *job, tally_error *error)
{
    tally_status status = ty_grid_make(view, "view", &job->samples, error);
    if (status)
        return status;
    if (view->device > TALLY_DEVICE_CPU)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "view: device %d; statistics need host data", (int)view->device);
    if (!stats || stats->struct_size != sizeof *stats)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "stats: %s; start from TALLY_STATS_INIT",
                        stats ? "struct_size is wrong" : "NULL");
    ty_grid *g = &job->samples;
    if (channel >= g->channels && channel != TALLY_ALL_CHANNELS)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "channel %" PRIu64 ": the view has %" PRIu64 "", channel, g->channels);
    if (mask && (status = ty_grid_mask(mask, g, TALLY_DEVICE_CPU, &job->mask, error)))
        return status;
    if (__builtin_mul_overflow(g->rows, g->columns, &job->elements) ||
        __builtin_mul_overflow(job->elements, g->batches, &job->total))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "view: more than 2^64-1 samples");
    job->channel = channel == TALLY_ALL_CHANNELS ? 0 : channel;
    job->channels = channel == TALLY_ALL_CHANNELS ? g->channels : 1;
    if (!job->total)
        return TALLY_OK;
    if (mask && (g->source != NULL) != (job->mask.source != NULL))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the view or its mask has a source; both do, or neither");
    if (job->mask.source && (view->rows != mask->rows || view->columns != mask->columns))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "mask: one with a source has the samples' rows and columns");
    if (!mask || g->source)
        ty_grid_coalesce(g, 1);
    if (job->mask.source)
        ty_grid_coalesce(&job->mask, 1);
    /* Batches that follow each other become one. */
    if (!mask && g->rows == 1 && g->batch_stride == (int64_t)g->columns * g->column_stride) {
        g->columns *= g->batches;
        g->batches = 1;
        job->elements = job->total;
    }
    flatten(job);
    job->direct = !mask && job->channels == 1 && g->rows == 1 && g->batches == 1 &&
                  g->column_stride == (int64_t)g->size;
    return TALLY_OK;
}

/* The same of samples that are read. */
static tally_status add_source(stats_job *job, ty_pool *pool, tally_stats *sum, tally_error *error)
{
    ty_grid *grids[2];
    ty_source_failure failure;
    const unsigned count = grids_of(job, grids), threads = pool ? ty_pool_threads(pool) : 1;
    tally_status status = ty_source_buffers_make(&job->buffers, grids, count, threads, error);
    if (status)
        return status;
    ty_source_begin(&failure, grids, count);
    job->failure = &failure;
    add_parts(job, pool, sum);
    status = ty_source_status(&failure, error);
    ty_source_end(&failure);
    ty_source_buffers_free(&job->buffers);
    return status;
}

tally_status tally_stats_add(tally_context *context, const tally_view *view, const tally_view *mask,
                             uint64_t channel, int moments, tally_stats *stats, tally_error *error)
{
    stats_job job = {.loops = ty_stats_loops_get(), .moments = moments != 0};
    tally_status status = job_make(view, mask, channel, stats, &job, error);
    if (status || !job.total)
        return status;
    /* Large ones where there are enough for all threads. */
    job.part = job.direct && !moments && job.total >= PARTS * PART_RANGE ? PART_RANGE : PART;
    tally_stats sum = TALLY_STATS_INIT;
    ty_pool *pool = context ? context->pool : NULL;
    if (job.samples.source)
        status = add_source(&job, pool, &sum, error);
    else
        add_parts(&job, pool, &sum);
    if (status)
        return status;
    if (!moments) { /* merging into these keeps what is there */
        double mean = stats->mean, m2 = stats->m2, m3 = stats->m3;
        tally_stats_merge(stats, &sum, job.samples.dtype);
        stats->mean = mean;
        stats->m2 = m2;
        stats->m3 = m3;
        return TALLY_OK;
    }
    tally_stats_merge(stats, &sum, job.samples.dtype);
    return TALLY_OK;
}
