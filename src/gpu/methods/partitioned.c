/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partitioned: more bins than local memory holds. Samples are sorted by partitions of the bins, a
 * chunk of tiles at a time, and each partition is counted in local memory (kernels/partitioned.cl).
 * Where 6-bit counters of all bins fit local memory, those count first, and what they leave is
 * counted as above (kernels/packed6.cl).
 */
#include "gpu/methods/partitioned.h"

#include "core/error.h"
#include "gpu/methods/launches.h"
#include "gpu/views.h"
#include "kernel_texts.h"
#include "plan/cost.h"
#include "plan/registry.h"

/* One call being sorted and counted. */
typedef struct sorting {
    ty_call *call;
    ty_partitioned_layout l;
    ty_partitioned_offsets at;
    ty_memory scratch, out;
    uint64_t tiles;
    uint32_t key;
} sorting;

/* Tiles from tile `from` on; their lists of segments and the partitions' sums are at bytes `lists`
 * and `sums` of the scratch memory. */
typedef struct chunk {
    uint64_t from, lists, sums;
    uint32_t tiles;
} chunk;

static chunk chunk_of(const sorting *s, uint64_t i)
{
    const uint64_t from = i * s->l.chunk, left = ty_partitioned_sorted(&s->l, s->tiles) - from;
    return (chunk){from, s->at.lists, s->at.sums + i * s->l.partitions * 8,
                   (uint32_t)(left < s->l.chunk ? left : s->l.chunk)};
}

/* Where packed6 says what it left of all tiles, for the kernels of a chunk. */
static unsigned put_left(const sorting *s, const chunk *c, ty_arg *args, unsigned n)
{
    if (!s->l.packed6)
        return n;
    args[n++] = ty_arg_u64(s->at.state);
    args[n++] = ty_arg_u32((uint32_t)s->tiles);
    args[n++] = ty_arg_u32((uint32_t)c->from);
    return n;
}

/* The samples from tile `tile` on, as the kernels take them. */
static unsigned put_samples(const sorting *s, uint64_t tile, ty_arg *args)
{
    const ty_call *call = s->call;
    const uint64_t first = tile * s->l.tile;
    unsigned n = 0;
    if (s->l.joint) {
        n = ty_view_grids(call, args);
        args[n++] = ty_arg_memory(call->w->axes);
        args[n++] = ty_arg_u64(call->h / call->plan->active_count);
        args[n++] = ty_arg_u64(call->begin + first);
        return n;
    }
    args[n++] = ty_arg_memory(call->samples[0].memory);
    args[n++] = ty_arg_u64(ty_call_offset(call) + first * ty_sample_bytes(call->plan));
    args[n++] = ty_arg_memory(call->w->axes);
    return n;
}

static tally_status split_chunk(const sorting *s, const chunk *c, tally_error *error)
{
    enum { most_tiles = 4096 }; /* that are sorted each by a group */
    const ty_partitioned_layout *l = &s->l;
    ty_arg args[TY_VIEW_ARGS];
    unsigned n = put_samples(s, l->packed6 ? 0 : c->from, args);
    args[n++] = ty_arg_memory(s->scratch);
    args[n++] = ty_arg_u32(l->stride);
    args[n++] = ty_arg_u64(c->lists);
    args[n++] = ty_arg_u64(c->sums);
    args[n++] = ty_arg_u32(l->partitions);
    args[n++] = ty_arg_u32(l->shift);
    args[n++] = ty_arg_u32(s->key);
    n = put_left(s, c, args, n);
    if (l->packed6)
        args[n++] = ty_arg_u32(c->tiles);
    /* Of many tiles, of which nothing may be left, seven in eight are sorted by groups that take
     * eight each (partitioned_column.cl). */
    const int stay = l->packed6 && c->tiles > most_tiles;
    const uint32_t groups = stay ? c->tiles / 64 * 15 + 64 : c->tiles;
    /* Before the first is a clearing. */
    const ty_launch split = {groups, l->threads, l->split_bytes, args, n, .early = c->from != 0};
    return ty_call_launch(s->call, "split", &split, error);
}

static tally_status count_chunk(const sorting *s, const chunk *c, tally_error *error)
{
    const ty_partitioned_layout *l = &s->l;
    ty_arg args[14] = {ty_arg_memory(s->scratch),
                       ty_arg_u32(l->stride),
                       ty_arg_u64(c->lists),
                       ty_arg_u64(c->sums),
                       ty_arg_u32(c->tiles),
                       ty_arg_u32(l->partitions),
                       ty_arg_u32(l->shift),
                       ty_arg_u32(s->call->plan->bins),
                       ty_arg_memory(l->joint ? s->scratch : s->out),
                       ty_arg_u64(l->joint ? s->at.table : 0),
                       ty_arg_u32(s->key)};
    const unsigned n = put_left(s, c, args, 11);
    const ty_launch count = {l->shares, l->counters, l->count_bytes, args, n, .early = 1};
    return ty_call_launch(s->call, "count", &count, error);
}

/* The samples that are no whole tile. */
static tally_status count_rest(const sorting *s, tally_error *error)
{
    const uint64_t inside = s->tiles * s->l.tile;
    const uint32_t rest = (uint32_t)(s->call->n - inside), size = s->l.threads;
    ty_arg args[TY_VIEW_ARGS];
    unsigned n = put_samples(s, 0, args);
    args[n++] = ty_arg_u64(inside);
    args[n++] = ty_arg_u32(rest);
    args[n++] = ty_arg_memory(s->l.joint ? s->scratch : s->out);
    if (s->l.joint)
        args[n++] = ty_arg_u64(s->at.table);
    const ty_launch launch = {(rest + size - 1) / size, size, 0, args, n, .early = 0};
    return rest ? ty_call_launch(s->call, "rest", &launch, error) : TALLY_OK;
}

/* Counts what packed6 can. */
static tally_status count_packed6(const sorting *s, tally_error *error)
{
    const ty_partitioned_layout *l = &s->l;
    const uint32_t groups = s->call->device->units;
    ty_call *call = s->call;
    const ty_arg count_args[] = {ty_arg_memory(call->samples[0].memory),
                                 ty_arg_u64(ty_call_offset(call)),
                                 ty_arg_memory(call->w->axes),
                                 ty_arg_memory(s->out),
                                 ty_arg_memory(s->scratch),
                                 ty_arg_u64(s->at.state),
                                 ty_arg_u32((uint32_t)s->tiles),
                                 ty_arg_u32(l->words),
                                 ty_arg_u32(l->part),
                                 ty_arg_u32(s->key),
                                 ty_arg_u32(0)};
    const ty_launch count = {groups, l->packed6, ty_packed6_bytes(l), count_args, 11, .early = 0};
    tally_status status = ty_call_launch(call, "packed6_count", &count, error);
    const ty_arg merge_args[] = {ty_arg_memory(s->scratch), ty_arg_u64(s->at.state),
                                 ty_arg_u32(groups),        ty_arg_memory(call->w->axes),
                                 ty_arg_memory(s->out),     ty_arg_u32(l->words),
                                 ty_arg_u32(s->key)};
    const ty_launch merge = {(l->words + 63) / 64, 256, 32 / l->bits * 256 * 4,
                             merge_args,           7,   .early = 0};
    return status ? status : ty_call_launch(call, "packed6_merge", &merge, error);
}

/* A joint table's numbers, to slots. */
static tally_status settle(const sorting *s, tally_error *error)
{
    const uint32_t size = s->l.threads;
    const ty_arg args[] = {ty_arg_memory(s->call->w->axes), ty_arg_memory(s->scratch),
                           ty_arg_u64(s->at.table), ty_arg_memory(s->out)};
    const ty_launch launch = {
        (uint32_t)((s->l.numbers + size - 1) / size), size, 0, args, 4, .early = 0};
    return ty_call_launch(s->call, "settle", &launch, error);
}

/* Memory for all steps; what they add to is cleared. */
static tally_status prepare(sorting *s, ty_partials *p, tally_error *error)
{
    const uint64_t bytes = (uint64_t)p->words * 4;
    tally_status status = ty_call_partials(s->call, bytes, &p->memory, error);
    if (!status)
        status = ty_call_scratch(s->call, s->at.bytes, &s->scratch, error);
    if (!status)
        status = ty_call_clear(s->call, p->memory, 0, bytes, error);
    if (!status && s->at.bytes > s->at.sums)
        status = ty_call_clear(s->call, s->scratch, s->at.sums, s->at.bytes - s->at.sums, error);
    s->out = p->memory;
    return status;
}

tally_status ty_partitioned_enqueue(ty_call *call, tally_error *error)
{
    const tally_plan *plan = call->plan;
    sorting s = {.call = call, .key = ty_call_key(call)};
    ty_partials p = {.count = 1, .words = (uint32_t)plan->slots, .raw_shift = -1};
    ty_partitioned_layout_make(plan, call->device, &s.l);
    s.tiles = call->n > s.l.margin ? (call->n - s.l.margin) / s.l.tile : 0;
    s.at = ty_partitioned_offsets_make(plan, call->device, &s.l, s.tiles);
    tally_status status = prepare(&s, &p, error);
    if (!status && ty_packed6_serves(plan, call->device, &s.l, s.tiles))
        status = count_packed6(&s, error);
    for (uint64_t i = 0; i < ty_partitioned_chunks(&s.l, s.tiles) && !status; i++) {
        const chunk c = chunk_of(&s, i);
        status = split_chunk(&s, &c, error);
        if (!status)
            status = count_chunk(&s, &c, error);
    }
    if (!status)
        status = count_rest(&s, error);
    if (!status && s.l.joint)
        status = settle(&s, error);
    return status ? status : ty_call_merge(call, &p, error);
}

/* ---- the method ---- */

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    ty_partitioned_layout l;
    ty_partitioned_layout_make(plan, ty_plan_device(plan), &l);
    if (l.per * ty_sample_bytes(plan) <= l.margin)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "partitioned loads 16 bytes at a time: per-thread at least 16 of %s",
                        tally_dtype_name(plan->options.dtypes[0]));
    tally_status status = ty_partitioned_fits(plan, &l, error);
    return status ? status : ty_supports_column(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why =
        "samples are sorted by partitions of the bins, so that every count is made in local memory";
    return ty_cost(plan, "partitioned");
}

static const ty_gpu_method kernels = {.texts = {ty_text_partitioned, ty_text_partitioned_column,
                                                ty_text_partitioned_count, ty_text_packed6},
                                      .reads = TY_READS_COLUMN,
                                      .maps = TY_MAPS_32,
                                      .tables = TY_TABLES_GLOBAL,
                                      .geometry = ty_partitioned_geometry,
                                      .define = ty_partitioned_define,
                                      .enqueue = ty_partitioned_enqueue};

const ty_method ty_partitioned = {
    .name = "partitioned",
    .source = "tally",
    .summary = "samples sorted by partitions of the bins, partitions counted in local memory",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = ty_partitioned_parameters,
    .supports = supports,
    .cost = cost,
    .backend = &kernels,
};
