/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What searches for order statistics share on the device, and by which of them one goes (order.c).
 */
#include "gpu/order_run.h"

#include <math.h>
#include <string.h>

#include "core/random.h"
#include "gpu/views.h"

ty_order_sizes ty_order_sizes_used = {.draw = 1 << 17,
                                      .most = 1 << 20,
                                      .width = 88,
                                      .small = 1 << 14,
                                      .many_small = 1 << 20,
                                      .many = 64,
                                      .middle = 1 << 27,
                                      .listed = 1 << 12,
                                      .sifted = 1 << 24,
                                      .rescue = 1};

enum { PUT = 16 /* words of one order_put */ };

/* ---- launches ---- */

tally_status ty_order_launch(const ty_order_run *r, const char *kernel, uint64_t groups,
                             uint32_t local, const ty_arg *args, unsigned count, tally_error *error)
{
    const ty_launch l = {(uint32_t)groups, r->group_size, local, args, count, !r->recording};
    return r->device->ops->launch(r->device, r->queue, r->program, kernel, &l, error);
}

unsigned ty_order_grids(const ty_order_run *r, ty_arg *args, int each, uint64_t channel)
{
    const ty_grid *samples = r->source->samples, *mask = r->source->mask;
    ty_strided at = ty_view_strided(samples);
    if (!each)
        at.at += (uint64_t)((int64_t)channel * samples->channel_stride);
    unsigned n = ty_view_grid(args, 0, &at);
    if (each)
        args[n++] = ty_arg_u64((uint64_t)samples->channel_stride);
    at = ty_view_strided(mask ? mask : samples);
    n = ty_view_grid(args, n, &at);
    args[n++] = ty_arg_u32(mask != NULL);
    return n;
}

tally_status ty_order_put(const ty_order_run *r, uint64_t at, const uint64_t *words, uint32_t count,
                          tally_error *error)
{
    tally_status status = TALLY_OK;
    for (uint32_t i = 0; i < count && !status; i += PUT) {
        const uint32_t now = count - i < PUT ? count - i : PUT;
        ty_arg args[3 + PUT] = {ty_arg_memory(r->state), ty_arg_u64(at + i), ty_arg_u32(now)};
        for (uint32_t k = 0; k < PUT; k++)
            args[3 + k] = ty_arg_u64(k < now ? words[i + k] : 0);
        status = TY_ORDER_LAUNCH(r, "order_put", 1, 0, args, error);
    }
    return status;
}

uint64_t ty_order_fill(const ty_order_run *r, uint32_t local, uint64_t tiles)
{
    const ty_device *d = r->device;
    uint64_t each = d->unit_local_bytes / (local + 1024);
    if (d->warp != 32)
        each = 4;
    else if (each > d->unit_threads * 3 / 8 / r->group_size) /* by their registers */
        each = d->unit_threads * 3 / 8 / r->group_size;
    const uint64_t most = d->units * (each ? each : 1);
    return tiles < 1 ? 1 : tiles < most ? tiles : most;
}

tally_status ty_order_count(const ty_order_run *r, tally_error *error)
{
    const ty_order_source *s = r->source;
    const uint64_t useful = s->elements / (r->group_size * 16) + 1,
                   all = ty_order_fill(r, 0, useful);
    const uint64_t parts = (all + r->groups - 1) / r->groups;
    ty_arg args[24];
    unsigned n = ty_order_grids(r, args, 1, 0);
    args[n++] = ty_arg_u64(s->samples->columns);
    args[n++] = ty_arg_u64(s->elements);
    args[n++] = ty_arg_u64(s->samples->channels);
    args[n++] = ty_arg_u64(r->first);
    args[n++] = ty_arg_u32((uint32_t)parts);
    args[n++] = ty_arg_memory(r->state);
    args[n++] = ty_arg_u64(r->kinds);
    tally_status status = r->device->ops->clear(r->device, r->queue, r->state, r->kinds * 8,
                                                2 * r->groups * 8, error);
    return status ? status
                  : ty_order_launch(r, "order_kinds", parts * r->groups, 8, args, n, error);
}

/* ---- drawn keys ---- */

static tally_status begin(const ty_order_run *r, uint64_t g, tally_error *error)
{
    const ty_arg args[] = {ty_arg_memory(r->state),      ty_arg_u64(r->ranks + g * r->each),
                           ty_arg_u32(r->each),          ty_arg_u64(r->source->elements),
                           ty_arg_u64(r->kinds + 2 * g), ty_arg_u32((uint32_t)r->counted),
                           ty_arg_u64(r->nan + g)};
    return TY_ORDER_LAUNCH(r, "order_begin", 1, 0, args, error);
}

/* More keys take longer to sort, but keys nearer to the ranks are fewer then: `best` is the balance
 * on an H100. Of those drawn fewer are passed on if they have two words. */
void ty_order_draws(const ty_order_run *r, uint32_t *drawn, uint32_t *thin)
{
    const ty_order_sizes *z = &ty_order_sizes_used;
    const uint32_t pairs = (r->each + 1) / 2;
    const double best = pow((double)r->source->elements * pairs / 8, 2 / 3.0);
    const uint32_t few = r->key_words == 2 ? ORDER_FEW_KEYS / 4 : ORDER_FEW_KEYS;
    *drawn = ORDER_RUN;
    while (*drawn < z->draw || (*drawn < z->most && *drawn * 1.5 < best))
        *drawn *= 2;
    *thin = 1;
    while (*drawn / *thin > (pairs <= 2 ? few : ORDER_MOST_KEYS))
        *thin *= 2;
}

static tally_status draw(const ty_order_run *r, uint64_t g, uint32_t drawn, uint32_t thin,
                         tally_error *error)
{
    const ty_grid *samples = r->source->samples;
    const uint64_t key = (uint64_t)ty_random_u32() << 32 | ty_random_u32();
    ty_arg args[24];
    unsigned n = ty_order_grids(r, args, 0, g % samples->channels);
    args[n++] = ty_arg_u64(g / samples->channels);
    args[n++] = ty_arg_u64(samples->columns);
    args[n++] = ty_arg_u64(key);
    args[n++] = ty_arg_u64(drawn);
    args[n++] = ty_arg_u32(thin);
    args[n++] = ty_arg_memory(r->state);
    args[n++] = ty_arg_memory(r->drawn);
    return ty_order_launch(r, "order_draw", drawn / ORDER_RUN, ORDER_RUN * r->key_words * 4 + 16,
                           args, n, error);
}

/* Merges the runs of drawn keys into one sorted run; *at gets where it begins. */
static tally_status merge(const ty_order_run *r, uint32_t drawn, uint32_t thin, uint64_t *at,
                          tally_error *error)
{
    const uint32_t count = drawn / thin, team = ORDER_TEAM(r->group_size);
    const int few = count <= ORDER_FEW_KEYS;
    const ty_arg sort[] = {ty_arg_memory(r->state), ty_arg_memory(r->drawn)};
    tally_status status = TALLY_OK;
    uint64_t from = 0, to = count;
    uint32_t length = few ? ORDER_RUN / thin : ORDER_RUN;
    if (!few && thin > 1)
        status = TY_ORDER_LAUNCH(r, "order_sort_thinned", count / ORDER_RUN,
                                 ORDER_RUN * r->key_words * 4, sort, error);
    for (uint32_t ways; length < count && !status; length *= ways) {
        ways = few || count / length < ORDER_MERGED ? count / length : ORDER_MERGED;
        const ty_arg args[] = {ty_arg_memory(r->state), ty_arg_memory(r->drawn), ty_arg_u64(from),
                               ty_arg_memory(r->drawn), ty_arg_u64(to),          ty_arg_u32(length),
                               ty_arg_u32(ways)};
        status = TY_ORDER_LAUNCH(r, "order_merge", (uint64_t)count * team / r->group_size,
                                 r->group_size * 4, args, error);
        const uint64_t swap = from;
        from = to;
        to = swap;
    }
    *at = from;
    return status;
}

tally_status ty_order_draw(const ty_order_run *r, uint64_t g, uint32_t drawn, uint32_t thin,
                           uint64_t *at, tally_error *error)
{
    tally_status status = begin(r, g, error);
    if (!status)
        status = draw(r, r->first + g, drawn, thin, error);
    return status ? status : merge(r, drawn, thin, at, error);
}

/* ---- the way ---- */

/* The keys of the ranks that are in the state. */
tally_status ty_order_search(ty_order_run *r, tally_error *error)
{
    const ty_order_sizes *z = &ty_order_sizes_used;
    const uint64_t n = r->source->elements;
    if (n <= z->small || (n <= z->many_small && r->source->groups >= z->many))
        return ty_order_by_rows(r, error);
    if (ty_order_are_middle(r)) {
        tally_status status =
            ty_workspace_scratch(r->device, r->w, ORDER_SELECT_WORDS(r->key_words * 3) * 4, error);
        r->drawn = r->w->scratch;
        for (uint64_t g = 0; g < r->groups && !status; g++)
            status = ty_order_by_select(r, g, error);
        return status;
    }
    return ty_order_are_sliced(r) ? ty_order_by_slices(r, error)
                                  : ty_order_by_digits(r, 0, r->groups, 0, error);
}

tally_status ty_order_extremes(ty_order_run *r, tally_error *error)
{
    const ty_order_source *s = r->source;
    const uint32_t tile = r->group_size * (r->key_words == 2 ? 8 : 16);
    const uint32_t local = r->group_size * (8 + 2 * 4 * r->key_words);
    const uint64_t groups = ty_order_fill(r, local, s->elements / tile + 1);
    tally_status status = ty_workspace_stages(r->device, r->w, groups * 3 * 8, 0, error);
    r->state = r->w->samples;
    const ty_arg each[] = {ty_arg_memory((ty_memory)(uintptr_t)s->samples->data), ty_arg_u64(0),
                           ty_arg_u64(s->elements), ty_arg_memory(r->state)};
    const ty_arg all[] = {ty_arg_memory(r->state), ty_arg_u32((uint32_t)groups)};
    /* Not early: a multiprocessor's memory is divided into local memory and cache while it has no
     * groups, and beside those of a count, which has much local memory, there is little cache. */
    const ty_launch first = {(uint32_t)groups, r->group_size, local, each, 4, .early = 0};
    if (!status)
        status = r->device->ops->launch(r->device, r->queue, r->program, "order_extremes", &first,
                                        error);
    if (!status && groups > 1)
        status = TY_ORDER_LAUNCH(r, "order_extremes_end", 1, local, all, error);
    return status;
}
