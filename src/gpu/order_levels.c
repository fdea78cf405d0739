/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a search for order statistics does on the device: by digits, or by levels (order.c).
 */
#include "gpu/order_run.h"

#include <math.h>
#include <string.h>

#include "core/random.h"
#include "gpu/views.h"

ty_order_sizes ty_order_sizes_used = {.take = 1 << 17,
                                      .draw = 1 << 17,
                                      .most = 1 << 20,
                                      .width = 88,
                                      .small = 1 << 14,
                                      .many_small = 1 << 20,
                                      .many = 64,
                                      .middle = 1 << 27,
                                      .sliced = 1 << 22,
                                      .few_ranks = 24,
                                      .listed = 1 << 12};

enum { MOST_LEVELS = 8, PUT = 16 /* words of one order_put */ };

/* One level searches at most `keys` keys. `drawn` of them are drawn, or all are taken if there are
 * no more. They are sorted in short runs, and one in `thin` of each run goes on to the merge. The
 * keys inside brackets are kept: they lie at `from` for this level, and go to `to` for the next. */
typedef struct level {
    uint64_t keys, from, to;
    uint32_t drawn, thin;
} level;

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

/* ---- levels ---- */

static tally_status begin(const ty_order_run *r, uint64_t g, tally_error *error)
{
    const ty_arg args[] = {ty_arg_memory(r->state),      ty_arg_u64(r->ranks + g * r->each),
                           ty_arg_u32(r->each),          ty_arg_u64(r->source->elements),
                           ty_arg_u64(r->kinds + 2 * g), ty_arg_u32((uint32_t)r->counted),
                           ty_arg_u64(r->nan + g)};
    return TY_ORDER_LAUNCH(r, "order_begin", 1, 0, args, error);
}

/* How many keys to draw of n, a power of two, for `pairs` brackets. More of them take longer to
 * sort, but narrower brackets keep fewer keys: at the first level `best` is the balance on an H100.
 */
static uint32_t draws(uint64_t n, uint32_t pairs, int first)
{
    const ty_order_sizes *z = &ty_order_sizes_used;
    const double best = pow((double)n * pairs / 8, 2 / 3.0);
    uint32_t drawn = ORDER_RUN;
    while (drawn < z->draw || (first && drawn < z->most && drawn * 1.5 < best))
        drawn *= 2;
    return drawn;
}

/* One in how many of the drawn keys goes on to the merge: of keys of two words fewer go on. */
static uint32_t thinned(uint32_t drawn, uint32_t pairs, uint32_t key_words)
{
    const uint32_t few = key_words == 2 ? ORDER_FEW_KEYS / 4 : ORDER_FEW_KEYS;
    const uint32_t most = pairs <= 2 ? few : ORDER_MOST_KEYS;
    uint32_t thin = 1;
    while (drawn / thin > most)
        thin *= 2;
    return thin;
}

/* The share of its keys that a level will keep, by the arithmetic of order_bracket, and some to
 * spare: where the kept keys find no space, all ranks are searched by digits. At the first level
 * each bracket is a share of all keys; later of the keys of its own pair of ranks. */
static double kept_share(const level *l, uint32_t pairs, int first)
{
    const double width = ty_order_sizes_used.width / 16.0, runs = l->drawn / ORDER_RUN;
    const double noise = l->thin > 1 ? l->thin * (double)l->thin * runs / (first ? 12 : 6) : 0;
    const double here = first ? l->drawn : l->drawn / (double)pairs;
    const double share = (2 * width * sqrt(here / 4 + noise) + 6 + 2 * l->thin) / here;
    return share * (first ? pairs : 1) * (pairs < 32 ? 1.3 : 1.1);
}

/* The levels for `elements` samples; *kept gets the keys of their buffers. */
static unsigned plan_levels(uint64_t elements, uint32_t pairs, uint32_t key_words, level *levels,
                            uint64_t *kept)
{
    const ty_order_sizes *z = &ty_order_sizes_used;
    uint64_t n = elements, size[2] = {0, 0};
    unsigned count = 0;
    for (;;) {
        level *l = &levels[count++];
        *l = (level){n, 0, 0, ORDER_RUN, 1};
        if (n <= z->take || count == MOST_LEVELS) {
            while (l->drawn < n && l->drawn < z->take)
                l->drawn *= 2;
            break;
        }
        l->drawn = draws(n, pairs, count == 1);
        l->thin = thinned(l->drawn, pairs, key_words);
        const double share = kept_share(l, pairs, count == 1);
        const uint64_t next = share < 1 ? (uint64_t)((double)n * share) + (pairs + 4) * 64 : n;
        n = next < n ? next : n;
        size[count & 1] = size[count & 1] > n ? size[count & 1] : n;
    }
    size[0] = (size[0] + 3) / 4 * 4;
    size[1] = (size[1] + 3) / 4 * 4;
    for (unsigned i = 0; i < count; i++) {
        levels[i].from = i & 1 ? 0 : size[1];
        levels[i].to = i & 1 ? size[1] : 0;
    }
    *kept = size[0] + size[1];
    return count;
}

static tally_status draw(const ty_order_run *r, const level *l, int first, uint64_t g,
                         tally_error *error)
{
    const ty_grid *samples = r->source->samples;
    const uint64_t key = (uint64_t)ty_random_u32() << 32 | ty_random_u32();
    ty_arg args[24];
    unsigned n = 0;
    if (first) {
        n = ty_order_grids(r, args, 0, g % samples->channels);
        args[n++] = ty_arg_u64(g / samples->channels);
        args[n++] = ty_arg_u64(samples->columns);
    } else {
        args[n++] = ty_arg_memory(r->kept);
        args[n++] = ty_arg_u64(l->from);
    }
    args[n++] = ty_arg_u64(key);
    args[n++] = ty_arg_u64(l->drawn);
    args[n++] = ty_arg_u32(l->thin);
    args[n++] = ty_arg_memory(r->state);
    args[n++] = ty_arg_memory(r->drawn);
    return ty_order_launch(r, first ? "order_draw" : "order_draw_kept", l->drawn / ORDER_RUN,
                           ORDER_RUN * r->key_words * 4 + 16, args, n, error);
}

/* Merges the runs of drawn keys into one sorted run; *at gets where it begins. */
static tally_status merge(const ty_order_run *r, const level *l, uint64_t *at, tally_error *error)
{
    const uint32_t count = l->drawn / l->thin, team = ORDER_TEAM(r->group_size);
    const int few = count <= ORDER_FEW_KEYS;
    const ty_arg sort[] = {ty_arg_memory(r->state), ty_arg_memory(r->drawn)};
    tally_status status = TALLY_OK;
    uint64_t from = 0, to = count;
    uint32_t length = few ? ORDER_RUN / l->thin : ORDER_RUN;
    if (!few && l->thin > 1)
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

/* Local memory for a pass' counts and its tree of edges, beside `fixed` bytes of other use: up to
 * 32 copies of them, one a bank, as far as three work-groups still fit on a unit. Else one copy. */
static uint32_t tree_bytes(const ty_order_run *r, uint32_t fixed)
{
    const ty_device *d = r->device;
    uint32_t table = 8, most = ty_order_local_most(d, 3);
    while (table < 2 * r->each + 2)
        table *= 2;
    const uint32_t node = 4 * (1 + 3 * r->key_words), least = table * node;
    most = most > fixed + least && d->warp == 32 ? most - fixed : least;
    return table * node * 32 < most ? table * node * 32 : most;
}

static tally_status pass(const ty_order_run *r, const level *l, const level *next, int first,
                         uint64_t g, tally_error *error)
{
    const ty_grid *samples = r->source->samples;
    const uint32_t tile = r->group_size * (r->key_words == 2 ? 8 : 16);
    const uint32_t fixed = ((tile + ORDER_EXTRA) * r->key_words + ORDER_TABLE + 4) * 4;
    const uint32_t tree = tree_bytes(r, fixed), local = fixed + tree;
    const char *kernel = !first ? "order_pass_kept" : "order_pass_view";
    ty_arg args[28];
    unsigned n = 0;
    if (first && ty_order_is_packed(r->device, r->source, (unsigned)samples->size)) {
        kernel = "order_pass_packed";
        n = ty_order_packed_args(r, g, args);
    } else if (first) {
        n = ty_order_grids(r, args, 0, (r->first + g) % samples->channels);
        args[n++] = ty_arg_u64((r->first + g) / samples->channels);
        args[n++] = ty_arg_u64(samples->columns);
        args[n++] = ty_arg_u64(r->source->elements);
    } else {
        args[n++] = ty_arg_memory(r->kept);
        args[n++] = ty_arg_u64(l->from);
    }
    args[n++] = ty_arg_memory(r->state);
    args[n++] = ty_arg_memory(r->kept);
    args[n++] = ty_arg_u64(l->to);
    args[n++] = ty_arg_u64(next->keys);
    args[n++] = ty_arg_u32(tree / 4);
    return ty_order_launch(r, kernel, ty_order_fill(r, local, l->keys / tile + 1), local, args, n,
                           error);
}

static tally_status edges(const ty_order_run *r, const level *l, uint64_t at, int first, int last,
                          uint64_t g, tally_error *error)
{
    const ty_arg args[] = {
        ty_arg_memory(r->state),    ty_arg_memory(r->drawn), ty_arg_u64(at),
        ty_arg_u64(l->drawn),       ty_arg_u32(l->thin),     ty_arg_u32((uint32_t)first),
        ty_arg_u32((uint32_t)last), ty_arg_u32(r->width),    ty_arg_u64(r->found + g * r->each),
        ty_arg_u64(r->nan + g),     ty_arg_u32(r->each)};
    return TY_ORDER_LAUNCH(r, "order_edges", 1, (2 * ORDER_TABLE * r->key_words + ORDER_TABLE) * 4,
                           args, error);
}

tally_status ty_order_draw(const ty_order_run *r, uint64_t g, uint32_t drawn, uint32_t thin,
                           uint64_t *at, tally_error *error)
{
    const level l = {r->source->elements, 0, 0, drawn, thin};
    tally_status status = begin(r, g, error);
    if (!status)
        status = draw(r, &l, 1, r->first + g, error);
    return status ? status : merge(r, &l, at, error);
}

/* Whether the keys that a level keeps are searched by digits instead of by further levels: for few
 * ranks, and keys of one word. */
static int selects_kept(const ty_order_run *r, const level *next)
{
    return r->each <= ORDER_SLOTS && r->key_words == 1 && next->keys < UINT32_MAX &&
           ty_order_sizes_used.middle;
}

/* A group of samples, the g-th of this round. */
static tally_status by_levels(const ty_order_run *r, const level *levels, unsigned count,
                              uint64_t g, tally_error *error)
{
    tally_status status = begin(r, g, error);
    for (unsigned i = 0; i < count && !status; i++) {
        const level *l = &levels[i];
        const int first = i == 0, last = i + 1 == count;
        const ty_arg settle[] = {ty_arg_memory(r->state),     ty_arg_u64(last ? 0 : l[1].keys),
                                 ty_arg_u32((uint32_t)first), ty_arg_u64(r->found + g * r->each),
                                 ty_arg_u64(r->nan + g),      ty_arg_u32(r->each)};
        uint64_t at = 0;
        status = draw(r, l, first, r->first + g, error);
        if (!status)
            status = merge(r, l, &at, error);
        if (!status)
            status = edges(r, l, at, first, last, g, error);
        if (!status && !last)
            status = pass(r, l, &l[1], first, g, error);
        if (!status && !last)
            status = TY_ORDER_LAUNCH(r, "order_settle", 1, ORDER_CELLS * 16, settle, error);
        if (!status && !last && selects_kept(r, &l[1])) {
            status = ty_order_by_select(r, g, l[1].keys, 1, l[1].from, error);
            break;
        }
    }
    return status ? status : ty_order_by_digits(r, g, 1, 1, error);
}

/* The keys of the ranks that are in the state. */
tally_status ty_order_search(ty_order_run *r, tally_error *error)
{
    const ty_order_sizes *z = &ty_order_sizes_used;
    const uint64_t n = r->source->elements;
    level levels[MOST_LEVELS];
    uint64_t kept, most = 0;
    if (n <= z->small || (n <= z->many_small && r->source->groups >= z->many))
        return ty_order_by_rows(r, error);
    if (ty_order_are_middle(r)) {
        tally_status status =
            ty_workspace_scratch(r->device, r->w, ORDER_SELECT_WORDS(r->key_words * 3) * 4, error);
        r->drawn = r->w->scratch;
        for (uint64_t g = 0; g < r->groups && !status; g++)
            status = ty_order_by_select(r, g, n, 0, 0, error);
        return status;
    }
    if (ty_order_are_sliced(r))
        return ty_order_by_slices(r, error);
    const unsigned count = plan_levels(n, (r->each + 1) / 2, r->key_words, levels, &kept);
    for (unsigned i = 0; i < count; i++)
        most = levels[i].drawn / levels[i].thin > most ? levels[i].drawn / levels[i].thin : most;
    const uint64_t counters = ORDER_SELECT_WORDS(3) * 4, drawn = 2 * most * r->key_words * 4;
    tally_status status =
        ty_workspace_scratch(r->device, r->w, drawn > counters ? drawn : counters, error);
    if (!status)
        status = ty_workspace_partials(r->device, r->w, (kept + 4) * r->key_words * 4, error);
    r->drawn = r->w->scratch;
    r->kept = r->w->partials;
    for (uint64_t g = 0; g < r->groups && !status; g++)
        status = by_levels(r, levels, count, g, error);
    return status;
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
    if (!status)
        status = TY_ORDER_LAUNCH(r, "order_extremes", groups, local, each, error);
    if (!status && groups > 1)
        status = TY_ORDER_LAUNCH(r, "order_extremes_end", 1, local, all, error);
    return status;
}
