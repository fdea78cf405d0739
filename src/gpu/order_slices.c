/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many ranks of many samples, by slices of keys (kernels/order_slices.cl).
 */
#include "gpu/order_run.h"

#include "gpu/views.h"

/* Keys drawn for the map, of which one in THIN goes on. */
enum { DRAWN = 1 << 15, THIN = 4 };

/* What is drawn, and the space that there is for keys, of which `most` may come through a sieve,
 * and `listed` in lists. */
typedef struct sizes {
    uint32_t drawn, thin;
    uint64_t most, listed;
} sizes;

/* Local memory: of the counting, and of finding the ranks' slices. */
enum {
    COUNT_BYTES = (2 * ORDER_BUCKETS + ORDER_SLICES_MOST) * 4,
    CHOOSE_BYTES = (ORDER_SLICES_MOST + 4 * 256 + 2 * ORDER_PART) * 4,
};

static uint32_t sift_bytes(const ty_order_run *r)
{
    const uint32_t tile = r->group_size * (r->key_words == 2 ? 8 : 16);
    return (ORDER_SF_STAGE + tile * r->key_words + ORDER_SIFT_EXTRA) * 4;
}

static int are_sifted(const ty_order_run *r)
{
    return r->each <= ORDER_SIFT_RANKS && r->source->elements >= ty_order_sizes_used.sifted &&
           r->device->local_bytes >= sift_bytes(r) + 1024;
}

int ty_order_are_sliced(const ty_order_run *r)
{
    return r->device->local_bytes >= CHOOSE_BYTES + 1024 && r->group_size >= 32;
}

/* One reading of the g-th group's samples by one of two kernels, of which `each` groups fit on a
 * unit by their registers, and all of whose groups run at once with `beside` others; `more`:
 * further arguments. */
static tally_status reading(const ty_order_run *r, uint64_t g, const char *packed, const char *view,
                            uint32_t each, uint32_t beside, uint32_t local, const ty_arg *more,
                            unsigned count, tally_error *error)
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
    fit = d->units * (fit < 1 ? 1 : fit > each ? each : fit);
    fit -= fit > beside ? beside : 0;
    return ty_order_launch(r, is_packed ? packed : view, tiles < fit ? tiles : fit, local, args, n,
                           error);
}

/* The map, `again` as order_slices_map has it; then the slices' counts, and the ranks' slices. */
static tally_status map(const ty_order_run *r, uint64_t from, const sizes *z, uint32_t again,
                        tally_error *error)
{
    const uint32_t sums = (r->group_size + ORDER_PART) * 4;
    const ty_arg args[] = {ty_arg_memory(r->state), ty_arg_memory(r->drawn),
                           ty_arg_u64(from),        ty_arg_u32(z->drawn / z->thin),
                           ty_arg_u32(z->thin),     ty_arg_u64(r->slices),
                           ty_arg_u32(r->each),     ty_arg_u32(again)};
    return TY_ORDER_LAUNCH(r, "order_slices_map", 1, sums + (3 * ORDER_BUCKETS + 8) * 4, args,
                           error);
}

static tally_status count(const ty_order_run *r, uint64_t g, const sizes *z, uint32_t again,
                          tally_error *error)
{
    const ty_arg count[] = {ty_arg_memory(r->kept), ty_arg_u32(again)};
    const ty_arg find[] = {ty_arg_memory(r->state), ty_arg_u64(r->slices), ty_arg_memory(r->drawn),
                           ty_arg_u64(z->listed),   ty_arg_u32(r->each),   ty_arg_u32(again)};
    const tally_status status =
        reading(r, g, "order_slices_count_packed", "order_slices_count_view", 5, 0, COUNT_BYTES,
                count, 2, error);
    return status ? status
                  : TY_ORDER_LAUNCH(r, "order_slices_choose", 1, CHOOSE_BYTES, find, error);
}

/* Fills the lists, with `redo` those that had not the space. */
static tally_status fill(const ty_order_run *r, uint64_t g, const sizes *z, uint32_t redo,
                         tally_error *error)
{
    const uint32_t tile = r->group_size * (r->key_words == 2 ? 8 : 16);
    const uint32_t fixed = 2 * ORDER_BUCKETS + ORDER_SLICES_MOST / 4 + 512 + 256 + 4;
    const uint32_t local = (fixed + tile * r->key_words + ORDER_STAGE_EXTRA) * 4;
    const ty_arg more[] = {ty_arg_memory(r->kept), ty_arg_u64(z->most), ty_arg_u32(redo)};
    return reading(r, g, "order_lists_fill_packed", "order_lists_fill_view", 4, 0, local, more, 3,
                   error);
}

/* The edges around the ranks, by the drawn keys at `from`. */
static tally_status edges(const ty_order_run *r, uint64_t from, const sizes *z, tally_error *error)
{
    const ty_arg args[] = {ty_arg_memory(r->state), ty_arg_memory(r->drawn), ty_arg_u64(from),
                           ty_arg_u64(z->drawn),    ty_arg_u32(z->thin),     ty_arg_u32(r->width),
                           ty_arg_u32(r->each)};
    return TY_ORDER_LAUNCH(r, "order_edges", 1, (2 * ORDER_TABLE * r->key_words + ORDER_TABLE) * 4,
                           args, error);
}

/* Keys that are not near the ranks, counted; the others kept. The map of these is made meanwhile.
 */
static tally_status sift(const ty_order_run *r, uint64_t g, uint64_t from, const sizes *z,
                         tally_error *error)
{
    const uint64_t groups = ORDER_SIFT_CELLS / 2 / r->group_size;
    const ty_arg table[] = {ty_arg_memory(r->state), ty_arg_u64(r->slices), ty_arg_memory(r->drawn),
                            ty_arg_u64(from), ty_arg_u32(z->drawn / z->thin)};
    const ty_arg more[] = {ty_arg_memory(r->kept), ty_arg_u64(z->most)};
    const ty_arg end[] = {ty_arg_memory(r->state), ty_arg_u64(r->slices), ty_arg_u64(z->most),
                          ty_arg_u32(r->each)};
    tally_status status = edges(r, from, z, error);
    if (!status)
        status = TY_ORDER_LAUNCH(r, "order_sift_table", groups, 512, table, error);
    if (!status)
        status = map(r, from, z, 2, error);
    if (!status)
        status = reading(r, g, "order_sift_packed", "order_sift_view", 4, 1, sift_bytes(r), more, 2,
                         error);
    return status ? status
                  : TY_ORDER_LAUNCH(r, "order_sift_end", 1, ORDER_SIFT_EDGES * 28, end, error);
}

static tally_status by_slices(const ty_order_run *r, uint64_t g, const sizes *z, tally_error *error)
{
    const uint32_t sums = (r->group_size + ORDER_PART) * 4, sifted = z->most != 0;
    const uint32_t digits = (ORDER_DIGITS + ORDER_ROW_FIXED(r->group_size)) * 4;
    const ty_arg place[] = {ty_arg_memory(r->state), ty_arg_u64(r->slices), ty_arg_u64(z->listed)};
    const ty_arg select[] = {ty_arg_memory(r->state),
                             ty_arg_u64(r->slices),
                             ty_arg_memory(r->kept),
                             ty_arg_u64(z->most),
                             ty_arg_u64(r->found + g * r->each),
                             ty_arg_u64(r->nan + g)};
    uint64_t at = 0;
    tally_status status = ty_order_draw(r, g, z->drawn, z->thin, &at, error);
    if (!status)
        status = sifted ? sift(r, g, at, z, error) : map(r, at, z, 0, error);
    if (!status)
        status = count(r, g, z, sifted ? 2 : 0, error);
    if (!status && !sifted)
        status = map(r, at, z, 1, error);
    if (!status && !sifted)
        status = count(r, g, z, 1, error);
    if (!status)
        status = fill(r, g, z, 0, error);
    if (!status)
        status = TY_ORDER_LAUNCH(r, "order_lists_place", 1, sums, place, error);
    if (!status)
        status = fill(r, g, z, 1, error);
    if (!status)
        status = TY_ORDER_LAUNCH(r, "order_lists_select", r->each, digits, select, error);
    if (!status && ty_order_sizes_used.rescue)
        status = ty_order_by_digits(r, g, 1, 1, error);
    return status;
}

tally_status ty_order_by_slices(ty_order_run *r, tally_error *error)
{
    const uint64_t n = r->source->elements;
    const uint64_t limit = UINT32_MAX - (1 << 20); /* what 32 bits count, and some to spare */
    sizes z = {DRAWN, THIN, 0, n / 8};
    if (are_sifted(r)) {
        ty_order_draws(r, &z.drawn, &z.thin);
        z.most = n / (r->each > 2 ? 4 : 8) + ty_order_sizes_used.listed;
        z.most = (z.most < limit ? z.most : limit) / 16 * 16;
        z.listed = n / 16;
    }
    z.listed += ty_order_sizes_used.listed;
    z.listed = z.listed < limit ? z.listed : limit;
    const uint64_t drawn = UINT64_C(2) * (z.drawn / z.thin) * r->key_words * 4;
    tally_status status = ty_workspace_scratch(r->device, r->w, drawn, error);
    if (!status)
        status =
            ty_workspace_partials(r->device, r->w, (z.most + z.listed) * r->key_words * 4, error);
    r->drawn = r->w->scratch;
    r->kept = r->w->partials;
    for (uint64_t g = 0; g < r->groups && !status; g++)
        status = by_slices(r, g, &z, error);
    return status;
}
