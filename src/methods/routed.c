/* routed: more bins than local memory holds (src/kernels/routed.cl), and routed-columns, the same
 * for joint tables (routed_columns.cl). */
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/random.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/cost.h"
#include "methods/registry.h"

static const ty_parameter parameters[] = {
    {"threads", 0, 1024, 0,
     "work-items of a group that sorts a tile, a power of two of at least 32, 0 by the number of "
     "slices"},
    {"per-thread", 8, 64, 32,
     "samples of a work-item, a power of two: a tile is so many times the threads"},
    {"ahead", 1, 64, 16, "loads of a work-item before it counts, a power of two"},
    {"columns", 0, 32, 0, "counters of a slice and tile, a power of two, 0 by their number"},
    {"counters", 32, 1024, 1024, "work-items of a group that counts a slice, a power of two"},
    {"quads", 1, 4, 2, "loads of a work-item while it counts as many"},
    {"slice", 0, 15, 0, "log2 of the bins of a slice, 0 by the number of bins"},
    {"wave", 0, 240, 0, "MiB between the steps, 0 for what counts leave of 256 MiB"},
    {"shares", 0, 16, 0, "groups a multiprocessor that count, 0 for two where they fit"},
    {"blocks-per-sm", 0, 8, 0, "groups that sort on a multiprocessor, 0 for 1024 work-items"},
    {"key", 0, UINT32_MAX, 0, "of the banks, 0 for a random one each launch"},
    {"sixes", 0, 2, 1,
     "whether 6-bit counters of all bins count first: never, where that is faster, where they fit"},
    {"late", 0, 1, 0, "whether such a counter hands over when it has overflowed, for tests"},
    {NULL, 0, 0, 0, NULL}};

enum {
    found_words = 16,    /* of local memory, ahead of a word a work-item and a slice's counters */
    most_quads = 0x3fff, /* of a tile (TY_SEGMENT) */
    least_columns = 4,
    unit = 4,               /* samples of joint tables that are read together (columns.h) */
    numbers_most = 1 << 24, /* of joint tables: what cells' marks are multiples of */
    most_args = 64
};

/* How a plan is launched on a device. */
typedef struct layout {
    uint32_t threads, per, columns, counters, quads, shift, slices, tile, shares;
    int joint;        /* the cells of several columns are counted */
    uint64_t numbers; /* that samples get: slots, or cells and one for what is masked out */
    uint32_t margin;  /* samples before the first tile, at most */
    uint32_t stride;  /* words of a tile's residuals, each slice's filled up to whole quads */
    uint32_t split_bytes, count_bytes; /* of local memory */
    uint64_t wave;                     /* tiles */
    uint32_t six;                      /* work-items of a group that counts in 6 bits first, or 0 */
    uint32_t bits, words, part;        /* of its counters: spill6.cl */
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

/* Cells of a joint table; if they are too many, some number that is. */
static uint64_t cells_of(const tally_plan *plan)
{
    uint64_t cells = 1;
    for (uint32_t d = 0; d < plan->options.dimensions && cells < numbers_most; d++)
        cells *= (uint64_t)plan->axes[d].bins.bins + TY_CELLS_EXTRA;
    return cells;
}

static uint32_t slices_of(uint64_t numbers, uint32_t shift)
{
    return (uint32_t)((numbers + (1u << shift) - 1) >> shift);
}

/* Slices as large as local memory and residuals of 16 bits allow. */
static uint32_t choose_shift(const tally_plan *plan, const ty_device *device)
{
    uint32_t set = (uint32_t)parameter(plan, "slice"), shift = 8;
    uint64_t besides = (found_words + parameter(plan, "counters")) * 4 + 1024;
    while (!set && (8u << shift) + besides <= device->local_bytes && shift < 15)
        shift++;
    return set ? set : shift;
}

/* Work-items that sort a tile: the more slices, the larger the tile, so that a slice's segments are
 * not short. */
static uint32_t choose_threads(const tally_plan *plan, const layout *l)
{
    uint32_t set = (uint32_t)parameter(plan, "threads");
    uint32_t tile = l->slices <= 16 ? 8192 : l->slices <= 256 ? 16384 : 32768;
    return set ? set : tile / l->per < 1024 ? tile / l->per : 1024;
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
    uint64_t mib = parameter(plan, "wave"), counts = l->numbers * 4 >> 20;
    if (!mib)
        mib = counts < 208 ? 240 - counts : 32;
    uint64_t tiles = (mib << 20) / (l->stride * 4 + l->slices * 4);
    return tiles ? tiles : 1;
}

static uint32_t split_bytes(const layout *l)
{
    return (l->stride + l->threads + 1 + l->slices * (l->columns + 1)) * 4;
}

/* ---- 6-bit counters first (spill6.cl) ---- */

enum {
    six_fields = 5,
    six_stretches = 8,
    six_table = 2048 + 64,
    six_besides = 64, /* words: sums, and what addresses are rounded up by */
    six_state = 3,
    six_set = 4,       /* loads under way */
    six_tiles = 4096,  /* of a wave that are sorted each by a group */
    six_least = 32768, /* bins; of fewer, other methods make more */
    six_slices = 16    /* so many fit any device's local memory, and one size of tiles */
};

/* Words of a group's counters, so many that 2^32 / words, rounded up, divides every cell by them.
 */
static uint32_t six_words(uint64_t cells, uint32_t fields, uint32_t *part)
{
    uint32_t words = (uint32_t)((cells + fields - 1) / fields);
    for (;; words++) {
        *part = (uint32_t)((UINT64_C(1) << 32) / words) + 1;
        if (fields * ((uint64_t)*part * words - (UINT64_C(1) << 32)) < *part)
            return words;
    }
}

static uint32_t six_stored(const layout *l)
{
    return (l->words + 31) & ~31u;
}

static uint32_t six_bytes(const layout *l)
{
    return (six_table + six_stored(l) + six_besides) * 4;
}

/* Types and axes that are measured. */
static int six_takes(const tally_plan *plan)
{
    const uint32_t dtypes = 1u << TALLY_U32 | 1u << TALLY_I32 | 1u << TALLY_F32 | 1u << TALLY_F64;
    return (dtypes >> plan->options.dtypes[0] & 1) && plan->axes[0].even && !plan->axes[0].way;
}

/* Whether and how they count. */
static void make_six(const tally_plan *plan, const ty_device *device, layout *l)
{
    const uint64_t set = parameter(plan, "sixes"), cells = (uint64_t)plan->bins + TY_CELLS_EXTRA;
    const uint32_t each = 16 / sample_bytes(plan);
    uint32_t six = device->warp == 32 ? 1024 : 64;
    while (six > device->group_max)
        six /= 2;
    l->six = 0;
    if (l->joint || !set || !six_takes(plan) || cells / six_fields * 4 > device->local_bytes)
        return;
    if (set == 1 && (!device->capability || plan->bins < six_least || l->slices > six_slices))
        return;
    for (l->bits = 8; l->bits >= 6; l->bits -= 2) {
        l->words = six_words(cells, 32 / l->bits, &l->part);
        if (six_bytes(l) + 1024 <= device->local_bytes)
            break;
    }
    const uint32_t quads = l->tile / each * six_stretches / six;
    if (l->bits >= 6 && quads && quads % six_set == 0)
        l->six = six;
}

/* Chunks of which each group counts a few. */
static uint64_t six_chunks(uint64_t tiles)
{
    return (tiles + six_stretches - 1) / six_stretches;
}

/* Where samples are so few, launches that find nothing to do cost more than is gained. */
static int six_serves(const tally_plan *plan, const ty_device *device, const layout *l,
                      uint64_t tiles)
{
    return l->six && six_chunks(tiles) >= (parameter(plan, "sixes") == 1 ? 4 * device->units : 1);
}

/* The groups' counters, and their logs. */
static uint64_t six_scratch(const ty_device *device, const layout *l)
{
    return (uint64_t)device->units * (six_stored(l) + 2 * l->tile * six_stretches) * 4;
}

static void make_layout(const tally_plan *plan, const ty_device *device, int joint, layout *l)
{
    int warps = device->warp == 32;
    uint64_t counters = parameter(plan, "counters");
    uint64_t most = warps ? device->group_max : device->group_max < 64 ? device->group_max : 64;
    l->per = power_below(parameter(plan, "per-thread"), 64);
    l->counters = power_below(counters, most);
    l->joint = joint;
    l->numbers = joint ? cells_of(plan) + 1 : plan->slots;
    l->shift = choose_shift(plan, device);
    l->slices = slices_of(l->numbers, l->shift);
    l->threads = power_below(choose_threads(plan, l), most);
    l->quads = (uint32_t)parameter(plan, "quads");
    l->margin = joint ? unit - 1 : 15 / sample_bytes(plan);
    l->tile = l->threads * l->per;
    l->stride = (l->tile / 2 + l->slices * 4 + 31) & ~31u; /* whole rows of banks */
    l->columns = choose_columns(plan, l);
    while (l->columns > least_columns && split_bytes(l) > device->local_bytes)
        l->columns /= 2;
    l->split_bytes = split_bytes(l);
    uint32_t cells = l->shift < 5 ? 32 : 1u << l->shift;
    l->count_bytes = (found_words + l->counters + cells) * 4;
    uint32_t shares = (uint32_t)parameter(plan, "shares");
    if (!shares)
        shares = device->unit_local_bytes / (l->count_bytes + 1024) > 1 ? 2 : 1;
    l->shares = device->units * shares;
    l->wave = choose_wave(plan, l);
    make_six(plan, device, l);
}

/* Where in the scratch memory, behind a wave's residuals, its lists, the waves' sums and a joint
 * table's numbers lie, and its size, for so many tiles; and what 6-bit counters left, behind what
 * these need before the waves. */
typedef struct places {
    uint64_t lists, sums, state, table, bytes;
} places;

/* Tiles that waves may have to sort: stretches that are one shorter are filled up. */
static uint64_t sorted_of(const layout *l, uint64_t tiles)
{
    return l->six ? six_chunks(tiles) * six_stretches : tiles;
}

static uint64_t waves_of(const layout *l, uint64_t tiles)
{
    tiles = sorted_of(l, tiles);
    return tiles ? (tiles - 1) / l->wave + 1 : 0;
}

static places make_places(const tally_plan *plan, const ty_device *device, const layout *l,
                          uint64_t tiles)
{
    uint64_t sorted = sorted_of(l, tiles), wave = sorted < l->wave ? sorted : l->wave;
    places p;
    p.lists = wave * l->stride * 4;
    p.sums = p.lists + wave * l->slices * 4;
    if (six_serves(plan, device, l, tiles) && p.sums < six_scratch(device, l))
        p.sums = six_scratch(device, l);
    p.state = p.sums + waves_of(l, tiles) * l->slices * 8;
    p.table = p.state + (l->six ? (six_state + six_chunks(tiles)) * 4 : 0);
    p.bytes = p.table + (l->joint ? l->numbers * 4 : 0);
    return p;
}

/* Samples that are loaded ahead; of joint tables, units of the same bytes together, but one where
 * cells take float64, and its registers. */
static uint32_t choose_ahead(const tally_plan *plan, const layout *l)
{
    uint64_t ahead = parameter(plan, "ahead");
    int all_proved = 1;
    if (!l->joint)
        return power_below(ahead, l->per);
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        all_proved &= plan->axes[d].proved != TY_UNPROVED;
    return power_below(ahead * 4 / (unit * ty_plan_bytes(plan)), all_proved ? l->per / unit : 1);
}

static void shape_of(const tally_plan *plan, const ty_device *device, int joint, uint64_t n,
                     ty_shape *shape)
{
    layout l;
    make_layout(plan, device, joint, &l);
    uint32_t dense = (uint32_t)parameter(plan, "blocks-per-sm");
    if (!dense)
        dense = l.per > 32 || l.threads > 1024 ? 1 : 1024 / l.threads;
    ty_shape_standard(plan, device, n, shape);
    shape->group_size = l.threads;
    shape->partials = 1;
    shape->cleared = 1;
    shape->scratch_bytes = (size_t)make_places(plan, device, &l, n / l.tile).bytes;
    snprintf(shape->defines, sizeof shape->defines,
             "-DTY_PER=%u -DTY_AHEAD=%u -DTY_COLUMNS=%u -DTY_COUNTERS=%u "
             "-DTY_QUADS=%u -DTY_DENSE=%u -DTY_WIDE=%d",
             l.per, choose_ahead(plan, &l), l.columns, l.counters, l.quads, dense, l.shift == 15);
    const size_t at = strlen(shape->defines);
    if (l.six)
        snprintf(shape->defines + at, sizeof shape->defines - at,
                 " -DTY_FIRST=%u -DTY_SIX=%u -DTY_BITS=%u -DTY_LOT=%uu", six_stretches, l.six,
                 l.bits, 1u << (l.bits - 1 + (uint32_t)parameter(plan, "late")));
}

/* One wave: `tiles` tiles from tile `from` on, its lists and its slices' lengths at bytes `lists`
 * and `sums` of the scratch memory. */
typedef struct wave {
    uint64_t from, lists, sums;
    uint32_t tiles;
} wave;

static wave make_wave(const layout *l, const places *p, uint64_t i, uint64_t tiles)
{
    wave w = {i * l->wave, p->lists, p->sums + i * l->slices * 8, 0};
    tiles = sorted_of(l, tiles) - w.from;
    w.tiles = (uint32_t)(tiles < l->wave ? tiles : l->wave);
    return w;
}

/* What is left of so many tiles in all, for the kernels of a wave. */
static unsigned put_left(const layout *l, const places *p, const wave *w, uint64_t tiles,
                         ty_arg *args)
{
    if (!l->six)
        return 0;
    args[0] = ty_arg_u64(p->state);
    args[1] = ty_arg_u32((uint32_t)tiles);
    args[2] = ty_arg_u32((uint32_t)w->from);
    return 3;
}

/* The samples from tile `tile` on, as the kernels take them. */
static unsigned put_samples(const ty_slab *slab, const layout *l, uint64_t tile, ty_arg *args)
{
    const uint64_t first = tile * l->tile;
    unsigned n = 0;
    if (l->joint) {
        for (; n < slab->grid_count; n++)
            args[n] = slab->grids[n];
        args[n++] = ty_arg_memory(slab->axis);
        args[n++] = ty_arg_u64(slab->batch);
        args[n++] = ty_arg_u64(slab->offset + first);
        return n;
    }
    args[n++] = ty_arg_memory(slab->data);
    args[n++] = ty_arg_u64(slab->offset + first * sample_bytes(slab->plan));
    args[n++] = ty_arg_memory(slab->axis);
    return n;
}

static tally_status split_wave(const ty_slab *slab, const layout *l, const places *p, const wave *w,
                               uint64_t tiles, uint32_t key, tally_error *error)
{
    ty_arg args[most_args];
    unsigned n = put_samples(slab, l, l->six ? 0 : w->from, args);
    args[n++] = ty_arg_memory(slab->scratch);
    args[n++] = ty_arg_u32(l->stride);
    args[n++] = ty_arg_u64(w->lists);
    args[n++] = ty_arg_u64(w->sums);
    args[n++] = ty_arg_u32(l->slices);
    args[n++] = ty_arg_u32(l->shift);
    args[n++] = ty_arg_u32(key);
    n += put_left(l, p, w, tiles, args + n);
    if (l->six)
        args[n++] = ty_arg_u32(w->tiles);
    /* Where nothing may be left, of many tiles seven in eight by groups of eight (routed.cl). */
    const int stay = l->six && w->tiles > six_tiles;
    const uint32_t groups = stay ? w->tiles / 64 * 15 + 64 : w->tiles;
    ty_launch launch = {groups, l->threads, l->split_bytes, args, n};
    /* Before the first is a clearing. */
    return (w->from ? ty_slab_launch_early : ty_slab_launch)(slab, "split", &launch, error);
}

static tally_status count_wave(const ty_slab *slab, const layout *l, const places *p, const wave *w,
                               uint64_t tiles, uint32_t key, tally_error *error)
{
    ty_arg args[most_args] = {ty_arg_memory(slab->scratch),
                              ty_arg_u32(l->stride),
                              ty_arg_u64(w->lists),
                              ty_arg_u64(w->sums),
                              ty_arg_u32(w->tiles),
                              ty_arg_u32(l->slices),
                              ty_arg_u32(l->shift),
                              ty_arg_u32(slab->plan->bins),
                              ty_arg_memory(l->joint ? slab->scratch : slab->out),
                              ty_arg_u64(l->joint ? p->table : 0),
                              ty_arg_u32(key)};
    const unsigned n = 11 + put_left(l, p, w, tiles, args + 11);
    ty_launch launch = {l->shares, l->counters, l->count_bytes, args, n};
    return ty_slab_launch_early(slab, "count", &launch, error);
}

static tally_status count_rest(const ty_slab *slab, const layout *l, uint64_t tiles, uint64_t table,
                               tally_error *error)
{
    uint64_t inside = tiles * l->tile;
    uint32_t rest = (uint32_t)(slab->n - inside);
    ty_arg args[most_args];
    unsigned n = put_samples(slab, l, 0, args);
    args[n++] = ty_arg_u64(inside);
    args[n++] = ty_arg_u32(rest);
    args[n++] = ty_arg_memory(l->joint ? slab->scratch : slab->out);
    if (l->joint)
        args[n++] = ty_arg_u64(table);
    ty_launch launch = {(rest + l->threads - 1) / l->threads, l->threads, 0, args, n};
    return rest ? ty_slab_launch(slab, "rest", &launch, error) : TALLY_OK;
}

/* Counts what 6-bit counters can. */
static tally_status count_first(const ty_slab *slab, const layout *l, const places *p,
                                uint64_t tiles, uint32_t key, tally_error *error)
{
    const uint32_t groups = slab->device->units;
    ty_arg args[] = {ty_arg_memory(slab->data),
                     ty_arg_u64(slab->offset),
                     ty_arg_memory(slab->axis),
                     ty_arg_memory(slab->out),
                     ty_arg_memory(slab->scratch),
                     ty_arg_u64(p->state),
                     ty_arg_u32((uint32_t)tiles),
                     ty_arg_u32(l->words),
                     ty_arg_u32(l->part),
                     ty_arg_u32(key),
                     ty_arg_u32(0)};
    ty_launch first = {groups, l->six, six_bytes(l), args, 11};
    tally_status status = ty_slab_launch(slab, "first", &first, error);
    ty_arg gather_args[] = {ty_arg_memory(slab->scratch),
                            ty_arg_u64(p->state),
                            ty_arg_u32(groups),
                            ty_arg_memory(slab->axis),
                            ty_arg_memory(slab->out),
                            ty_arg_u32(l->words),
                            ty_arg_u32(key)};
    ty_launch gather = {(l->words + 63) / 64, 256, 32 / l->bits * 256 * 4, gather_args, 7};
    return status ? status : ty_slab_launch(slab, "gather", &gather, error);
}

/* A joint table's numbers, to slots. */
static tally_status settle(const ty_slab *slab, const layout *l, uint64_t table, tally_error *error)
{
    ty_arg args[] = {ty_arg_memory(slab->axis), ty_arg_memory(slab->scratch), ty_arg_u64(table),
                     ty_arg_memory(slab->out)};
    ty_launch launch = {(uint32_t)((l->numbers + l->threads - 1) / l->threads), l->threads, 0, args,
                        4};
    return ty_slab_launch(slab, "settle", &launch, error);
}

static tally_status enqueue_of(const ty_slab *slab, int joint, tally_error *error)
{
    layout l;
    make_layout(slab->plan, slab->device, joint, &l);
    uint64_t tiles = slab->n > l.margin ? (slab->n - l.margin) / l.tile : 0;
    uint64_t waves = waves_of(&l, tiles);
    uint32_t key = (uint32_t)parameter(slab->plan, "key");
    places p = make_places(slab->plan, slab->device, &l, tiles);
    tally_status status = TALLY_OK;
    key = key ? key : ty_random_u32();
    if (p.bytes > p.sums)
        status = slab->device->ops->clear(slab->device, slab->queue, slab->scratch, (size_t)p.sums,
                                          (size_t)(p.bytes - p.sums), error);
    if (!status && six_serves(slab->plan, slab->device, &l, tiles))
        status = count_first(slab, &l, &p, tiles, key, error);
    for (uint64_t i = 0; i < waves && !status; i++) {
        wave w = make_wave(&l, &p, i, tiles);
        status = split_wave(slab, &l, &p, &w, tiles, key, error);
        if (!status)
            status = count_wave(slab, &l, &p, &w, tiles, key, error);
    }
    if (!status)
        status = count_rest(slab, &l, tiles, p.table, error);
    return status || !joint ? status : settle(slab, &l, p.table, error);
}

/* What both ask of settings and local memory. */
static tally_status fits(const tally_plan *plan, const char *name, const layout *l,
                         tally_error *error)
{
    const ty_device *device = ty_plan_device(plan);
    tally_status status = ty_kernel_setting_fits(plan, "threads", device->group_max, error);
    if (!status)
        status = ty_kernel_setting_fits(plan, "counters", device->group_max, error);
    if (status)
        return status;
    if (l->threads < 32)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s wants threads of at least 32, not %u",
                        name, l->threads);
    if (l->tile / 8 + l->slices > most_quads)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: tiles of %u samples and %u slices are too many together", name,
                        l->tile, l->slices);
    uint32_t wanted = l->split_bytes > l->count_bytes ? l->split_bytes : l->count_bytes;
    if (wanted > device->local_bytes)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s wants %u bytes of local memory for %u bins, of %u", name, wanted,
                        plan->bins, device->local_bytes);
    return TALLY_OK;
}

/* ---- one column ---- */

static void shape(const tally_plan *plan, const ty_device *device, uint64_t n, ty_shape *shape)
{
    shape_of(plan, device, 0, n, shape);
}

static tally_status enqueue(const ty_slab *slab, tally_error *error)
{
    return enqueue_of(slab, 0, error);
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    layout l;
    make_layout(plan, ty_plan_device(plan), 0, &l);
    if (l.per * sample_bytes(plan) <= l.margin)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "routed loads 16 bytes at a time: per-thread at least 16 of %s",
                        tally_dtype_name(plan->options.dtypes[0]));
    tally_status status = fits(plan, "routed", &l, error);
    return status ? status : ty_kernel_supports(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "samples are sorted by slices of the bins, so that every count is made in local memory";
    return ty_cost(plan, "routed");
}

static const ty_kernel_method routed = {.text = ty_text_routed,
                                        .more = ty_text_spill6,
                                        .fast = 2,
                                        .far = 1,
                                        .shape = shape,
                                        .enqueue = enqueue};

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

/* ---- several columns ---- */

static void columns_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                          ty_shape *shape)
{
    shape_of(plan, device, 1, n, shape);
}

static tally_status columns_enqueue(const ty_slab *slab, tally_error *error)
{
    return enqueue_of(slab, 1, error);
}

static tally_status columns_supports(const tally_plan *plan, tally_error *error)
{
    layout l;
    if (plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "routed-columns counts samples, not weights");
    if (!ty_plan_device(plan)->has_fp64)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "routed-columns counts on devices that have float64");
    if (cells_of(plan) >= numbers_most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "routed-columns counts every axis' bins and %u more of each: together "
                        "they are not below %u",
                        TY_CELLS_EXTRA, (unsigned)numbers_most);
    make_layout(plan, ty_plan_device(plan), 1, &l);
    return fits(plan, "routed-columns", &l, error);
}

static double columns_cost(const tally_plan *plan, const char **why)
{
    *why = "samples are sorted by slices of the joint table, so that every count is made in local "
           "memory";
    /* One column is for routed; its kernels are not compiled ahead. */
    return plan->options.dimensions > 1 ? ty_cost(plan, "routed-columns") : ty_unknown_seconds;
}

static const ty_kernel_method columns = {.text = ty_text_routed,
                                         .more = ty_text_routed_columns,
                                         .fast = 1,
                                         .views = 1,
                                         .far = 1,
                                         .packed = 1,
                                         .shape = columns_shape,
                                         .enqueue = columns_enqueue};

const ty_method ty_routed_columns = {
    "routed-columns",
    "tally",
    "packed coordinates side by side, a mask too: a joint table counted as by routed",
    TY_ON_OPENCL | TY_ON_CUDA,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    parameters,
    columns_supports,
    columns_cost,
    &columns,
};
