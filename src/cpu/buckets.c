/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/buckets.h"

#include <math.h>

#include "core/alloc.h"
#include "core/error.h"

enum { LEAST_BUCKETS = 64, MOST_BUCKETS = 1 << 16 };

static uint32_t bucket_of(const ty_buckets *index, double x)
{
    if (index->scale == TY_BUCKETS_LINEAR)
        return (uint32_t)(int32_t)((x - index->lo) * index->factor);
    return (ty_buckets_bits(x) - index->first_bits) >> index->drop;
}

/* Chooses the factor or shift that gives about `wanted` buckets; 0 if that cannot be. */
static int cut(ty_buckets *index, const ty_axis *axis, uint32_t wanted)
{
    const ty_bins *b = &axis->bins;
    index->lo = b->lo;
    if (index->scale == TY_BUCKETS_LINEAR) {
        index->factor = (double)wanted / (b->hi - b->lo);
        if (!isfinite(index->factor) || !isfinite((b->hi - b->lo) * index->factor))
            return 0;
    } else {
        index->first_bits = ty_buckets_bits(b->lo);
        uint32_t span = ty_buckets_bits(b->hi) - index->first_bits;
        for (index->drop = 0; span >> index->drop >= wanted;)
            index->drop++;
    }
    index->count = bucket_of(index, b->hi) + 1;
    return 1;
}

/* Most edges that share a bucket; the first edge does not count, as no sample is below it. */
static uint32_t most_edges_inside(const ty_buckets *index, const ty_axis *axis)
{
    uint32_t most = 0, inside = 0, last = UINT32_MAX;
    for (uint32_t i = 1; i < axis->bins.bins; i++) {
        uint32_t bucket = bucket_of(index, axis->edges[i]);
        inside = bucket == last ? inside + 1 : 1;
        last = bucket;
        most = inside > most ? inside : most;
    }
    return most ? most : 1;
}

/* The fewest buckets with the fewest steps, over both scales. */
static int choose(ty_buckets *best, const ty_axis *axis)
{
    uint32_t bins = axis->bins.bins;
    best->steps = UINT32_MAX;
    for (uint32_t wanted = LEAST_BUCKETS; wanted <= MOST_BUCKETS && best->steps > 1; wanted *= 2) {
        if (wanted < bins)
            continue;
        for (int scale = TY_BUCKETS_LINEAR; scale <= TY_BUCKETS_BITS; scale++) {
            ty_buckets tried = {.scale = (ty_buckets_scale)scale};
            if (!cut(&tried, axis, wanted))
                continue;
            tried.steps = most_edges_inside(&tried, axis);
            if (tried.steps < best->steps)
                *best = tried;
        }
    }
    return best->steps <= TY_BUCKETS_STEPS;
}

static int fill(ty_buckets *index, const ty_axis *axis)
{
    const uint32_t bins = axis->bins.bins;
    /* A flow's slot, too, is followed by edges to compare with. */
    const size_t edges = (size_t)bins + TY_SLOT_EXTRA + TY_BUCKETS_STEPS + 1;
    index->first = ty_malloc(((size_t)index->count + 3) * sizeof *index->first);
    index->edges = ty_malloc(edges * sizeof *index->edges);
    if (!index->first || !index->edges)
        return 0;
    for (size_t i = 0; i < edges; i++)
        index->edges[i] = i < bins ? axis->edges[i] : NAN;
    uint32_t i = 1; /* the first edge in the bucket or behind it */
    for (uint32_t bucket = 0; bucket < index->count; bucket++) {
        while (i < bins && bucket_of(index, axis->edges[i]) < bucket)
            i++;
        index->first[bucket] = i - 1;
    }
    index->first[index->count] = bins + TY_SLOT_UNDER;
    index->first[index->count + 1] = bins + TY_SLOT_OVER;
    index->first[index->count + 2] = bins + TY_SLOT_NAN;
    return 1;
}

tally_status ty_buckets_make(const ty_axis *axis, ty_buckets **buckets, tally_error *error)
{
    ty_buckets found;
    *buckets = NULL;
    if (!axis->edges || axis->bins.bins > MOST_BUCKETS || !choose(&found, axis))
        return TALLY_OK;
    ty_buckets *index = ty_malloc(sizeof *index);
    if (!index)
        return ty_error_memory(error, "a search index", sizeof *index);
    *index = found;
    index->first = NULL;
    index->edges = NULL;
    if (!fill(index, axis)) {
        ty_buckets_free(index);
        return ty_error_memory(error, "a search index", (uint64_t)found.count * sizeof(uint32_t));
    }
    *buckets = index;
    return TALLY_OK;
}

void ty_buckets_free(ty_buckets *buckets)
{
    if (!buckets)
        return;
    ty_free(buckets->first);
    ty_free(buckets->edges);
    ty_free(buckets);
}
