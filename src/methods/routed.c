/* routed: more bins than local memory holds (src/kernels/routed.cl). */
#include <stdio.h>

#include "core/error.h"
#include "core/random.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/cost.h"
#include "methods/registry.h"

static const ty_parameter parameters[] = {
    {"threads", 32, 1024, 512, "work-items of a group that sorts a tile, a power of two"},
    {"per-thread", 8, 64, 32,
     "samples of a work-item, a power of two: a tile is so many times the threads"},
    {"ahead", 1, 64, 16, "loads of a work-item before it counts, a power of two"},
    {"columns", 0, 32, 0, "counters of a slice and tile, a power of two, 0 by their number"},
    {"counters", 32, 1024, 1024, "work-items of a group that counts a slice, a power of two"},
    {"team", 1, 32, 32, "most work-items that read one segment, a power of two"},
    {"quads", 1, 8, 4, "loads of a work-item before it counts"},
    {"slice", 0, 15, 0, "log2 of the bins of a slice, 0 by the number of bins"},
    {"wave", 0, 240, 0, "MiB between the steps, 0 for what counts leave of 256 MiB"},
    {"shares", 0, 16, 0, "groups a multiprocessor that count, 0 for two where they fit"},
    {"blocks-per-sm", 0, 8, 0, "groups that sort on a multiprocessor, 0 for 1024 work-items"},
    {"key", 0, UINT32_MAX, 0, "of the banks, 0 for a random one each launch"},
    {NULL, 0, 0, 0, NULL}};

enum {
    queue_words = 512, /* of local memory, ahead of the counters of a slice */
    copies = 16,       /* of the slices' sums */
    least_columns = 4
};

/* How a plan is launched on a device. */
typedef struct layout {
    uint32_t threads, per, columns, counters, team, quads, shift, slices, tile, shares;
    uint32_t margin; /* samples before the first tile, at most */
    uint32_t stride; /* words of a tile's residuals, each slice's filled up to whole quads */
    uint32_t split_bytes, count_bytes; /* of local memory */
    uint64_t wave;                     /* tiles */
} layout;

static uint64_t parameter(const tally_plan *plan, const char *key)
{
    return (uint64_t)ty_parameter_value(plan, parameters, key);
}

static uint32_t sample_bytes(const tally_plan *plan)
{
    return (uint32_t)tally_dtype_bytes(plan->options.dtypes[0]);
}

static uint32_t power_below(uint64_t value, uint64_t most)
{
    uint32_t power = 1;
    while (power * 2 <= value && power * 2 <= most)
        power *= 2;
    return power;
}

static uint32_t slices_of(const tally_plan *plan, uint32_t shift)
{
    return (uint32_t)((plan->slots + (1u << shift) - 1) >> shift);
}

/* Slices that take at most half of a group's local memory, unless there would be too many of them.
 */
static uint32_t choose_shift(const tally_plan *plan, const ty_device *device)
{
    uint32_t set = (uint32_t)parameter(plan, "slice"), shift = 14;
    if (set)
        return set;
    while (4u << shift > device->local_bytes / 2)
        shift--;
    while (slices_of(plan, shift) > 160 && 9u << shift <= device->local_bytes && shift < 15)
        shift++;
    return shift;
}

/* Counters of a slice and tile: so many that a warp's work-items never meet on one, fewer where the
 * work-items could not take them in one go, or would need more local memory than for the tile. */
static uint32_t choose_columns(const tally_plan *plan, const layout *l)
{
    uint32_t set = (uint32_t)parameter(plan, "columns"), columns = set ? power_below(set, 32) : 32;
    while (!set && columns > 8 && l->slices * columns / 8 > l->threads)
        columns /= 2;
    while (columns > least_columns && (uint64_t)l->slices * columns * 4 > l->tile * 2)
        columns /= 2;
    return columns < least_columns ? least_columns : columns;
}

/* Tiles between the steps: what is beyond the counts stays within 256 MiB, if there are not more
 * counts than that. */
static uint64_t choose_wave(const tally_plan *plan, const layout *l)
{
    uint64_t mib = parameter(plan, "wave"), counts = plan->slots * 4 >> 20;
    if (!mib)
        mib = counts < 208 ? 240 - counts : 32;
    uint64_t tiles = (mib << 20) / (l->stride * 4 + l->slices * 4);
    return tiles ? tiles : 1;
}

static uint32_t split_bytes(const layout *l)
{
    return (l->stride + l->threads + 1 + l->slices * (l->columns + 1)) * 4;
}

static void make_layout(const tally_plan *plan, const ty_device *device, layout *l)
{
    int warps = device->warp == 32;
    uint64_t threads = parameter(plan, "threads");
    uint64_t counters = parameter(plan, "counters");
    uint64_t most = warps ? device->group_max : device->group_max < 64 ? device->group_max : 64;
    l->threads = power_below(threads, most);
    l->per = power_below(parameter(plan, "per-thread"), 64);
    l->counters = power_below(counters, most);
    l->team = power_below(parameter(plan, "team"), l->counters);
    l->shift = choose_shift(plan, device);
    l->slices = slices_of(plan, l->shift);
    l->quads = (uint32_t)parameter(plan, "quads");
    l->margin = 15 / sample_bytes(plan);
    l->tile = l->threads * l->per;
    l->stride = (l->tile / 2 + l->slices * 4 + 31) & ~31u; /* whole rows of banks */
    l->columns = choose_columns(plan, l);
    while (l->columns > least_columns && split_bytes(l) > device->local_bytes)
        l->columns /= 2;
    l->split_bytes = split_bytes(l);
    uint32_t cells = (1u << l->shift) + 32;
    l->count_bytes = (queue_words + (cells > l->counters ? cells : l->counters)) * 4;
    uint32_t shares = (uint32_t)parameter(plan, "shares");
    if (!shares)
        shares = device->unit_local_bytes / (l->count_bytes + 1024) > 1 ? 2 : 1;
    l->shares = device->units * shares;
    l->wave = choose_wave(plan, l);
}

/* Where in the scratch memory, behind a wave's residuals, its lists and the waves' sums lie, and
 * its size, for so many tiles. */
typedef struct places {
    uint64_t lists, sums, bytes;
} places;

static places make_places(const layout *l, uint64_t tiles)
{
    uint64_t wave = tiles < l->wave ? tiles : l->wave;
    places p;
    p.lists = wave * l->stride * 4;
    p.sums = p.lists + wave * l->slices * 4;
    p.bytes = p.sums + (tiles + l->wave - 1) / l->wave * l->slices * copies * 4;
    return p;
}

static void shape(const tally_plan *plan, const ty_device *device, uint64_t n, ty_shape *shape)
{
    layout l;
    make_layout(plan, device, &l);
    uint32_t dense = (uint32_t)parameter(plan, "blocks-per-sm");
    uint32_t ahead = power_below(parameter(plan, "ahead"), l.per);
    if (!dense)
        dense = l.per > 32 || l.threads > 1024 ? 1 : 1024 / l.threads;
    ty_shape_standard(plan, device, n, shape);
    shape->group_size = l.threads;
    shape->partials = 1;
    shape->cleared = 1;
    shape->scratch_bytes = (size_t)make_places(&l, n / l.tile).bytes;
    snprintf(shape->defines, sizeof shape->defines,
             "-DTY_PER=%u -DTY_AHEAD=%u -DTY_COPIES=%d -DTY_COLUMNS=%u -DTY_COUNTERS=%u "
             "-DTY_TEAM=%u -DTY_QUADS=%u -DTY_DENSE=%u",
             l.per, ahead, copies, l.columns, l.counters, l.team, l.quads, dense);
}

/* One wave: `tiles` tiles from tile `from` on, its lists and its slices' lengths at bytes `lists`
 * and `sums` of the scratch memory. */
typedef struct wave {
    uint64_t from, lists, sums;
    uint32_t tiles;
} wave;

static wave make_wave(const layout *l, const places *p, uint64_t i, uint64_t tiles)
{
    wave w = {i * l->wave, p->lists, p->sums + i * l->slices * copies * 4, 0};
    w.tiles = (uint32_t)(tiles - w.from < l->wave ? tiles - w.from : l->wave);
    return w;
}

/* How the groups that count are shared out among the slices (ty_share): `shares`, and one more a
 * slice at most. */
typedef struct sharing {
    uint32_t groups, extra, scale;
} sharing;

static sharing make_sharing(const layout *l, const wave *w)
{
    uint64_t quads = (uint64_t)w->tiles * l->tile / 8;
    uint64_t shares = quads / 256 < l->shares ? quads / 256 + 1 : l->shares;
    sharing s = {(uint32_t)shares + l->slices, (uint32_t)(quads / 2 / shares),
                 (uint32_t)((shares << 32) / quads)};
    return s;
}

static tally_status split_wave(const ty_slab *slab, const layout *l, const wave *w, uint32_t key,
                               tally_error *error)
{
    uint64_t offset = slab->offset + w->from * l->tile * sample_bytes(slab->plan);
    ty_arg args[] = {ty_arg_memory(slab->data), ty_arg_u64(offset),
                     ty_arg_memory(slab->axis), ty_arg_memory(slab->scratch),
                     ty_arg_u32(l->stride),     ty_arg_u64(w->lists),
                     ty_arg_u64(w->sums),       ty_arg_u32(l->slices),
                     ty_arg_u32(l->shift),      ty_arg_u32(key)};
    ty_launch launch = {w->tiles, l->threads, l->split_bytes, args, 10};
    return ty_slab_launch(slab, "split", &launch, error);
}

static tally_status count_wave(const ty_slab *slab, const layout *l, const wave *w, uint32_t key,
                               tally_error *error)
{
    sharing s = make_sharing(l, w);
    ty_arg args[] = {ty_arg_memory(slab->scratch), ty_arg_u32(l->stride),    ty_arg_u64(w->lists),
                     ty_arg_u64(w->sums),          ty_arg_u32(w->tiles),     ty_arg_u32(l->slices),
                     ty_arg_u32(l->shift),         ty_arg_u32(s.extra),      ty_arg_u32(s.scale),
                     ty_arg_u32(slab->plan->bins), ty_arg_memory(slab->out), ty_arg_u32(key)};
    ty_launch launch = {s.groups, l->counters, l->count_bytes, args, 12};
    return ty_slab_launch(slab, "count", &launch, error);
}

static tally_status count_rest(const ty_slab *slab, const layout *l, uint64_t tiles,
                               tally_error *error)
{
    uint64_t inside = tiles * l->tile;
    uint32_t n = (uint32_t)(slab->n - inside);
    ty_arg args[] = {ty_arg_memory(slab->data), ty_arg_u64(slab->offset),
                     ty_arg_u64(inside),        ty_arg_u32(n),
                     ty_arg_memory(slab->axis), ty_arg_memory(slab->out)};
    ty_launch launch = {(n + l->threads - 1) / l->threads, l->threads, 0, args, 6};
    return n ? ty_slab_launch(slab, "rest", &launch, error) : TALLY_OK;
}

static tally_status enqueue(const ty_slab *slab, tally_error *error)
{
    layout l;
    make_layout(slab->plan, slab->device, &l);
    uint64_t tiles = slab->n > l.margin ? (slab->n - l.margin) / l.tile : 0;
    if (!tiles)
        return count_rest(slab, &l, 0, error);
    uint64_t waves = (tiles + l.wave - 1) / l.wave;
    uint32_t key = (uint32_t)parameter(slab->plan, "key");
    places p = make_places(&l, tiles);
    key = key ? key : ty_random_u32();
    tally_status status =
        slab->device->ops->clear(slab->device, slab->queue, slab->scratch, (size_t)p.sums,
                                 (size_t)(p.bytes - p.sums), error);
    for (uint64_t i = 0; i < waves && !status; i++) {
        wave w = make_wave(&l, &p, i, tiles);
        status = split_wave(slab, &l, &w, key, error);
        if (!status)
            status = count_wave(slab, &l, &w, key, error);
    }
    return status ? status : count_rest(slab, &l, tiles, error);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    const ty_device *device = ty_plan_device(plan);
    layout l;
    make_layout(plan, device, &l);
    tally_status status = ty_kernel_setting_fits(plan, "threads", device->group_max, error);
    if (!status)
        status = ty_kernel_setting_fits(plan, "counters", device->group_max, error);
    if (status)
        return status;
    if (l.per * sample_bytes(plan) <= l.margin)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "routed loads 16 bytes at a time: per-thread at least 16 of %s",
                        tally_dtype_name(plan->options.dtypes[0]));
    uint32_t wanted = l.split_bytes > l.count_bytes ? l.split_bytes : l.count_bytes;
    if (wanted > device->local_bytes)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "routed wants %u bytes of local memory for %u bins, of %u", wanted,
                        plan->bins, device->local_bytes);
    return ty_kernel_supports(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "samples are sorted by slices of the bins, so that every count is made in local memory";
    return ty_cost(plan, "routed");
}

static const ty_kernel_method routed = {
    .text = ty_text_routed, .fast = 1, .shape = shape, .enqueue = enqueue};

const ty_method ty_routed = {
    "routed",
    "tally",
    "samples sorted by slices of the bins, slices counted in local memory",
    TY_ON_OPENCL | TY_ON_CUDA,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    parameters,
    supports,
    cost,
    &routed,
};
