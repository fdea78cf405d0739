/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "gpu/methods/launches.h"
#include "gpu/methods/partitioned.h"
#include "plan/cost.h"
#include "plan/registry.h"

const tally_parameter ty_partitioned_parameters[] = {
    {"threads", 0, 1024, 0,
     "work-items of a group that sorts a tile, a power of two of at least 32, 0 by the number of "
     "partitions"},
    {"per-thread", 8, 64, 32,
     "samples of a work-item, a power of two: a tile is so many times the threads"},
    {"ahead", 1, 64, 16, "loads of a work-item before it counts, a power of two"},
    {"columns", 0, 32, 0, "counters of a partition and tile, a power of two, 0 by their number"},
    {"counters", 32, 1024, 1024, "work-items of a group that counts a partition, a power of two"},
    {"loads", 1, 4, 2, "loads of a work-item while it counts as many"},
    {"partition", 0, 15, 0, "log2 of the bins of a partition, 0 by the number of bins"},
    {"chunk", 0, 240, 0, "MiB of sorted tiles at a time, 0 for what counts leave of 256 MiB"},
    {"shares", 0, 16, 0, "groups a multiprocessor that count, 0 for two where they fit"},
    {"blocks-per-sm", 0, 8, 0, "groups that sort on a multiprocessor, 0 for 1024 work-items"},
    {"key", 0, UINT32_MAX, 0, "of the banks, 0 for a random one each launch"},
    {"packed6", 0, 2, 1,
     "whether 6-bit counters of all bins count first: never, where that is faster, where they fit"},
    {"late", 0, 1, 0, "whether such a counter carries only when it has overflowed, for tests"},
    {NULL, 0, 0, 0, NULL}};

enum {
    found_words = 16,      /* of local memory, ahead of a word a work-item and the counters */
    most_vectors = 0x3fff, /* of a tile (PARTITIONED_SEGMENT) */
    least_columns = 4,
    unit = 4, /* samples of joint tables that are read together (columns.h) */
    most_args = 64
};

static uint32_t power_below(uint64_t value, uint64_t most)
{
    uint32_t power = 1;
    while (power * 2 <= value && power * 2 <= most)
        power *= 2;
    return power;
}

uint64_t ty_partitioned_cells(const tally_plan *plan)
{
    uint64_t cells = 1;
    for (uint32_t d = 0; d < plan->options.dimensions && cells < TY_PARTITIONED_MOST_CELLS; d++)
        cells *= (uint64_t)plan->axes[d].bins.bins + TY_CELLS_EXTRA;
    return cells;
}

static uint32_t partitions_of(uint64_t numbers, uint32_t shift)
{
    return (uint32_t)((numbers + (1u << shift) - 1) >> shift);
}

/* Partitions as large as local memory and residuals of 16 bits allow. */
static uint32_t choose_shift(const tally_plan *plan, const ty_device *device)
{
    uint32_t set = (uint32_t)ty_method_parameter(plan, "partition"), shift = 8;
    uint64_t besides = (found_words + (uint64_t)ty_method_parameter(plan, "counters")) * 4 + 1024;
    while (!set && (8u << shift) + besides <= device->local_bytes && shift < 15)
        shift++;
    return set ? set : shift;
}

/* Work-items that sort a tile: the more partitions, the larger the tile, so that segments are not
 * short. */
static uint32_t choose_threads(const tally_plan *plan, const ty_partitioned_layout *l)
{
    uint32_t set = (uint32_t)ty_method_parameter(plan, "threads");
    uint32_t tile = l->partitions <= 16 ? 8192 : l->partitions <= 256 ? 16384 : 32768;
    return set ? set : tile / l->per < 1024 ? tile / l->per : 1024;
}

/* Counters of a partition and tile: so many that a warp's work-items never meet on one, fewer where
 * the work-items could not take them in one go, or would need more local memory than for the tile.
 */
static uint32_t choose_columns(const tally_plan *plan, const ty_partitioned_layout *l)
{
    uint32_t set = (uint32_t)ty_method_parameter(plan, "columns"),
             columns = set ? power_below(set, 32) : 32;
    while (!set && columns > 8 && l->partitions * columns / 8 > l->threads)
        columns /= 2;
    while (columns > least_columns && (uint64_t)l->partitions * columns * 4 > l->tile * 2)
        columns /= 2;
    return columns < least_columns ? least_columns : columns;
}

/* Tiles between the steps: what is beyond the counts stays within 256 MiB, if there are not more
 * counts than that. */
static uint64_t choose_chunk(const tally_plan *plan, const ty_partitioned_layout *l)
{
    uint64_t mib = (uint64_t)ty_method_parameter(plan, "chunk"), counts = l->numbers * 4 >> 20;
    if (!mib)
        mib = counts < 208 ? 240 - counts : 32;
    uint64_t tiles = (mib << 20) / (l->stride * 4 + l->partitions * 4);
    return tiles ? tiles : 1;
}

static uint32_t split_bytes(const ty_partitioned_layout *l)
{
    return (l->stride + l->threads + 1 + l->partitions * (l->columns + 1)) * 4;
}

/* ---- packed6 first (packed6.cl) ---- */

enum {
    packed6_fields = 5,
    packed6_regions = 8,
    packed6_table = 2048 + 64,
    packed6_extra = 64, /* words: sums, and what addresses are rounded up by */
    packed6_state = 3,
    packed6_ahead = 4,          /* loads under way */
    packed6_least_bins = 32768, /* bins; of fewer, other methods make more */
    packed6_most_partitions =
        16 /* of so many, counters fit any device's local memory and tiles have one size */
};

/* Words of a group's counters, so many that 2^32 / words, rounded up, divides every cell by them.
 */
static uint32_t packed6_words(uint64_t cells, uint32_t fields, uint32_t *part)
{
    uint32_t words = (uint32_t)((cells + fields - 1) / fields);
    for (;; words++) {
        *part = (uint32_t)((UINT64_C(1) << 32) / words) + 1;
        if (fields * ((uint64_t)*part * words - (UINT64_C(1) << 32)) < *part)
            return words;
    }
}

static uint32_t packed6_stored(const ty_partitioned_layout *l)
{
    return (l->words + 31) & ~31u;
}

uint32_t ty_packed6_bytes(const ty_partitioned_layout *l)
{
    return (packed6_table + packed6_stored(l) + packed6_extra) * 4;
}

/* Types and axes that are measured. */
static int packed6_takes(const tally_plan *plan)
{
    const uint32_t dtypes = 1u << TALLY_U32 | 1u << TALLY_I32 | 1u << TALLY_F32 | 1u << TALLY_F64;
    return (dtypes >> plan->options.dtypes[0] & 1) && plan->axes[0].even &&
           !plan->axes[0].lookup_kind;
}

/* Whether and how they count. */
static void make_packed6(const tally_plan *plan, const ty_device *device, ty_partitioned_layout *l)
{
    const uint64_t set = (uint64_t)ty_method_parameter(plan, "packed6"),
                   cells = (uint64_t)plan->bins + TY_CELLS_EXTRA;
    const uint32_t each = 16 / ty_sample_bytes(plan);
    uint32_t size = device->warp == 32 ? 1024 : 64;
    while (size > device->group_max)
        size /= 2;
    l->packed6 = 0;
    if (l->joint || !set || !packed6_takes(plan) ||
        cells / packed6_fields * 4 > device->local_bytes)
        return;
    if (set == 1 && (!device->capability || plan->bins < packed6_least_bins ||
                     l->partitions > packed6_most_partitions))
        return;
    for (l->bits = 8; l->bits >= 6; l->bits -= 2) {
        l->words = packed6_words(cells, 32 / l->bits, &l->part);
        if (ty_packed6_bytes(l) + 1024 <= device->local_bytes)
            break;
    }
    const uint32_t loads = l->tile / each * packed6_regions / size; /* of a work-item */
    if (l->bits >= 6 && loads && loads % packed6_ahead == 0)
        l->packed6 = size;
}

/* A stripe is a tile of each region. */
uint64_t ty_packed6_stripes(uint64_t tiles)
{
    return (tiles + packed6_regions - 1) / packed6_regions;
}

/* Where samples are so few, launches that find nothing to do cost more than is gained. */
int ty_packed6_serves(const tally_plan *plan, const ty_device *device,
                      const ty_partitioned_layout *l, uint64_t tiles)
{
    return l->packed6 &&
           ty_packed6_stripes(tiles) >=
               ((uint64_t)ty_method_parameter(plan, "packed6") == 1 ? 4 * device->units : 1);
}

/* The groups' counters, and their logs. */
static uint64_t packed6_scratch(const ty_device *device, const ty_partitioned_layout *l)
{
    return (uint64_t)device->units * (packed6_stored(l) + 2 * l->tile * packed6_regions) * 4;
}

void ty_partitioned_layout_make(const tally_plan *plan, const ty_device *device,
                                ty_partitioned_layout *l)
{
    const int joint = ty_gpu_method_of(plan)->reads != TY_READS_COLUMN;
    int warps = device->warp == 32;
    uint64_t counters = (uint64_t)ty_method_parameter(plan, "counters");
    uint64_t most = warps ? device->group_max : device->group_max < 64 ? device->group_max : 64;
    l->per = power_below((uint64_t)ty_method_parameter(plan, "per-thread"), 64);
    l->counters = power_below(counters, most);
    l->joint = joint;
    l->numbers = joint ? ty_partitioned_cells(plan) + 1 : plan->slots;
    l->shift = choose_shift(plan, device);
    l->partitions = partitions_of(l->numbers, l->shift);
    l->threads = power_below(choose_threads(plan, l), most);
    l->loads = (uint32_t)ty_method_parameter(plan, "loads");
    l->margin = joint ? unit - 1 : 15 / ty_sample_bytes(plan);
    l->tile = l->threads * l->per;
    l->stride = (l->tile / 2 + l->partitions * 4 + 31) & ~31u; /* whole rows of banks */
    l->columns = choose_columns(plan, l);
    while (l->columns > least_columns && split_bytes(l) > device->local_bytes)
        l->columns /= 2;
    l->split_bytes = split_bytes(l);
    uint32_t cells = l->shift < 5 ? 32 : 1u << l->shift;
    l->count_bytes = (found_words + l->counters + cells) * 4;
    uint32_t shares = (uint32_t)ty_method_parameter(plan, "shares");
    if (!shares)
        shares = device->unit_local_bytes / (l->count_bytes + 1024) > 1 ? 2 : 1;
    l->shares = device->units * shares;
    l->chunk = choose_chunk(plan, l);
    make_packed6(plan, device, l);
}

uint64_t ty_partitioned_sorted(const ty_partitioned_layout *l, uint64_t tiles)
{
    return l->packed6 ? ty_packed6_stripes(tiles) * packed6_regions : tiles;
}

uint64_t ty_partitioned_chunks(const ty_partitioned_layout *l, uint64_t tiles)
{
    tiles = ty_partitioned_sorted(l, tiles);
    return tiles ? (tiles - 1) / l->chunk + 1 : 0;
}

ty_partitioned_offsets ty_partitioned_offsets_make(const tally_plan *plan, const ty_device *device,
                                                   const ty_partitioned_layout *l, uint64_t tiles)
{
    uint64_t sorted = ty_partitioned_sorted(l, tiles),
             chunk = sorted < l->chunk ? sorted : l->chunk;
    ty_partitioned_offsets p;
    p.lists = chunk * l->stride * 4;
    p.sums = p.lists + chunk * l->partitions * 4;
    if (ty_packed6_serves(plan, device, l, tiles) && p.sums < packed6_scratch(device, l))
        p.sums = packed6_scratch(device, l);
    p.state = p.sums + ty_partitioned_chunks(l, tiles) * l->partitions * 8;
    p.table = p.state + (l->packed6 ? (packed6_state + ty_packed6_stripes(tiles)) * 4 : 0);
    p.bytes = p.table + (l->joint ? l->numbers * 4 : 0);
    return p;
}

/* Samples that are loaded ahead; of joint tables, units of the same bytes together, but one where
 * cells take float64, and its registers. */
static uint32_t choose_ahead(const tally_plan *plan, const ty_partitioned_layout *l)
{
    uint64_t ahead = (uint64_t)ty_method_parameter(plan, "ahead");
    int all_proved = 1;
    if (!l->joint)
        return power_below(ahead, l->per);
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        all_proved &= plan->axes[d].proof != TY_UNPROVEN;
    return power_below(ahead * 4 / (unit * ty_plan_bytes(plan)), all_proved ? l->per / unit : 1);
}

void ty_partitioned_define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    ty_partitioned_layout l;
    ty_partitioned_layout_make(plan, device, &l);
    uint32_t dense = (uint32_t)ty_method_parameter(plan, "blocks-per-sm");
    if (!dense)
        dense = l.per > 32 || l.threads > 1024 ? 1 : 1024 / l.threads;
    ty_define(defines, "PARTITIONED_PER", l.per);
    ty_define(defines, "TY_AHEAD", choose_ahead(plan, &l));
    ty_define(defines, "PARTITIONED_COLUMNS", l.columns);
    ty_define(defines, "PARTITIONED_COUNT_SIZE", l.counters);
    ty_define(defines, "PARTITIONED_LOADS", l.loads);
    ty_define(defines, "TY_DENSE", dense);
    ty_define(defines, "PARTITIONED_WIDE", l.shift == 15);
    if (!l.packed6)
        return;
    ty_define(defines, "PACKED6_REGIONS", packed6_regions);
    ty_define(defines, "PACKED6_SIZE", l.packed6);
    ty_define(defines, "PACKED6_BITS", l.bits);
    ty_define(defines, "PACKED6_CARRY",
              1u << (l.bits - 1 + (uint32_t)ty_method_parameter(plan, "late")));
}

void ty_partitioned_geometry(const tally_plan *plan, const ty_device *device, uint64_t n,
                             ty_geometry *g)
{
    ty_partitioned_layout l;
    ty_partitioned_layout_make(plan, device, &l);
    ty_geometry_standard(device, n, g);
    g->group_size = l.threads;
}

tally_status ty_partitioned_fits(const tally_plan *plan, const ty_partitioned_layout *l,
                                 tally_error *error)
{
    const ty_device *device = ty_plan_device(plan);
    const char *name = plan->method->name;
    tally_status status = ty_setting_fits(plan, "threads", device->group_max, error);
    if (!status)
        status = ty_setting_fits(plan, "counters", device->group_max, error);
    if (status)
        return status;
    if (l->threads < 32)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s wants threads of at least 32, not %u",
                        name, l->threads);
    if (l->tile / 8 + l->partitions > most_vectors)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: tiles of %u samples and %u partitions are too many together", name,
                        l->tile, l->partitions);
    uint32_t wanted = l->split_bytes > l->count_bytes ? l->split_bytes : l->count_bytes;
    if (wanted > device->local_bytes)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s wants %u bytes of local memory for %u bins, of %u", name, wanted,
                        plan->bins, device->local_bytes);
    return TALLY_OK;
}
