/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many ranks of many samples, by slices of keys (kernels/order_slices.cl).
 */
#include "gpu/order_run.h"

#include "gpu/views.h"

/* Keys drawn for the map, of which one in THIN goes on. */
enum { DRAWN = 1 << 15, THIN = 4, MAPPED = DRAWN / THIN };

/* Local memory: of the counting, and of finding the ranks' slices. */
enum {
    COUNT_BYTES = (2 * ORDER_BUCKETS + ORDER_SLICES_MOST) * 4,
    CHOOSE_BYTES = (ORDER_SLICES_MOST + ORDER_SLICES_MOST / 4 + 256 + ORDER_PART) * 4,
};

int ty_order_are_sliced(const ty_order_run *r)
{
    const uint64_t n = r->source->elements;
    return r->each > ty_order_sizes_used.few_ranks && n >= ty_order_sizes_used.sliced &&
           n < UINT64_C(1) << 31 && r->device->local_bytes >= CHOOSE_BYTES + 1024 &&
           r->group_size >= 32 && r->group_size <= 256;
}

/* One reading of the g-th group's samples: `kernel` with _packed or _view, and further arguments.
 */
static tally_status reading(const ty_order_run *r, uint64_t g, const char *packed, const char *view,
                            uint32_t local, const ty_arg *more, unsigned count, tally_error *error)
{
    const ty_grid *samples = r->source->samples;
    const ty_device *d = r->device;
    const uint64_t tiles = r->source->elements / (r->group_size * (r->key_words == 2 ? 8 : 16)) + 1;
    const int is_packed = ty_order_is_packed(d, r->source, (unsigned)samples->size);
    uint64_t fit = d->warp == 32 ? d->unit_local_bytes / (local + 1024) : 4;
    ty_arg args[28];
    unsigned n = 0;
    if (is_packed) {
        n = ty_order_packed_args(r, g, args);
    } else {
        n = ty_order_grids(r, args, 0, (r->first + g) % samples->channels);
        args[n++] = ty_arg_u64((r->first + g) / samples->channels);
        args[n++] = ty_arg_u64(samples->columns);
        args[n++] = ty_arg_u64(r->source->elements);
    }
    args[n++] = ty_arg_memory(r->state);
    args[n++] = ty_arg_u64(r->slices);
    for (unsigned i = 0; i < count; i++)
        args[n++] = more[i];
    fit = d->units * (fit < 1 ? 1 : fit > 5 ? 5 : fit); /* by the kernels' registers */
    return ty_order_launch(r, is_packed ? packed : view, tiles < fit ? tiles : fit, local, args, n,
                           error);
}

/* The map, the slices' counts and the ranks' slices; `again` of the drawn keys at `from` those that
 * are near the ranks, put at `to`. */
static tally_status choose(const ty_order_run *r, uint64_t g, uint64_t from, uint64_t to,
                           uint64_t most, uint32_t again, tally_error *error)
{
    const uint32_t sums = (r->group_size + ORDER_PART) * 4;
    const ty_arg map[] = {ty_arg_memory(r->state), ty_arg_memory(r->drawn), ty_arg_u64(from),
                          ty_arg_u64(to),          ty_arg_u32(MAPPED),      ty_arg_u64(r->slices),
                          ty_arg_u32(again)};
    const ty_arg count[] = {ty_arg_u32(again)};
    const ty_arg find[] = {ty_arg_memory(r->state), ty_arg_u64(r->slices), ty_arg_memory(r->drawn),
                           ty_arg_u64(to),          ty_arg_u64(most),      ty_arg_u32(r->each),
                           ty_arg_u32(again)};
    tally_status status =
        TY_ORDER_LAUNCH(r, "order_slices_map", 1, sums + (3 * ORDER_BUCKETS + 8) * 4, map, error);
    if (!status)
        status = reading(r, g, "order_slices_count_packed", "order_slices_count_view", COUNT_BYTES,
                         count, 1, error);
    return status ? status
                  : TY_ORDER_LAUNCH(r, "order_slices_choose", 1, CHOOSE_BYTES, find, error);
}

/* Fills the lists, with `redo` those that had not the space. */
static tally_status fill(const ty_order_run *r, uint64_t g, uint32_t redo, tally_error *error)
{
    const uint32_t tile = r->group_size * (r->key_words == 2 ? 8 : 16);
    const uint32_t fixed = 2 * ORDER_BUCKETS + ORDER_SLICES_MOST / 4 + 512 + 256 + 4;
    const uint32_t local = (fixed + tile * r->key_words + ORDER_STAGE_EXTRA) * 4;
    const ty_arg more[] = {ty_arg_memory(r->kept), ty_arg_u32(redo)};
    return reading(r, g, "order_lists_fill_packed", "order_lists_fill_view", local, more, 2, error);
}

static tally_status by_slices(const ty_order_run *r, uint64_t g, uint64_t most, tally_error *error)
{
    const uint32_t sums = (r->group_size + ORDER_PART) * 4;
    const uint32_t digits = (ORDER_DIGITS + ORDER_ROW_FIXED(r->group_size)) * 4;
    const ty_arg place[] = {ty_arg_memory(r->state), ty_arg_u64(r->slices), ty_arg_u64(most)};
    const ty_arg select[] = {ty_arg_memory(r->state), ty_arg_u64(r->slices), ty_arg_memory(r->kept),
                             ty_arg_u64(r->found + g * r->each), ty_arg_u64(r->nan + g)};
    uint64_t at = 0;
    tally_status status = ty_order_draw(r, g, DRAWN, THIN, &at, error);
    if (!status)
        status = choose(r, g, at, at, most, 0, error);
    if (!status)
        status = choose(r, g, at, at ? 0 : MAPPED, most, 1, error);
    if (!status)
        status = fill(r, g, 0, error);
    if (!status)
        status = TY_ORDER_LAUNCH(r, "order_lists_place", 1, sums, place, error);
    if (!status)
        status = fill(r, g, 1, error);
    if (!status)
        status = TY_ORDER_LAUNCH(r, "order_lists_select", r->each, digits, select, error);
    return status ? status : ty_order_by_digits(r, g, 1, 1, error);
}

tally_status ty_order_by_slices(ty_order_run *r, tally_error *error)
{
    const uint64_t most = r->source->elements / 8 + ty_order_sizes_used.listed; /* keys of lists */
    tally_status status =
        ty_workspace_scratch(r->device, r->w, UINT64_C(2) * MAPPED * r->key_words * 4, error);
    if (!status)
        status = ty_workspace_partials(r->device, r->w, most * r->key_words * 4, error);
    r->drawn = r->w->scratch;
    r->kept = r->w->partials;
    for (uint64_t g = 0; g < r->groups && !status; g++)
        status = by_slices(r, g, most, error);
    return status;
}
