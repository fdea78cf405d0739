/* Kernel methods of our own: how each is launched. */
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/cost.h"
#include "methods/registry.h"

#define ON_DEVICES (TY_ON_OPENCL | TY_ON_CUDA)

static uint32_t sample_bytes(const tally_plan *plan)
{
    return tally_dtype_bytes(plan->options.dtypes[0]);
}

/* Of a guide to uneven edges, behind the counters. */
static uint32_t guide_bytes(const tally_plan *plan)
{
    const ty_guide *g = &plan->axes[0].guide;
    return TY_IN_MEMORY(plan->axes[0].way) ? 0
                                           : (g->words - g->cells + (g->cells << g->copies)) * 4;
}

/* What counters leave of local memory for one; a runtime may keep a KiB. */
static uint64_t room_beside(const tally_plan *plan, uint64_t counters)
{
    const uint32_t local = ty_plan_device(plan)->local_bytes;
    return counters + 1024 < local ? local - 1024 - counters : 0;
}

static uint32_t group_size(const tally_plan *plan, const ty_device *device)
{
    uint32_t size = (uint32_t)ty_method_parameter(plan, "threads") & ~31u;
    if (device->warp != 32 && size > 64)
        size = 64;
    while (size > device->group_max)
        size /= 2;
    return size;
}

/* Groups of group_size() work-items with `local` bytes, and `blocks-per-sm` of them on a
 * multiprocessor if they fit; no more than 16 bytes of samples for each work-item. One large group
 * with many loads ahead is the fastest on an H200 (docs/PERFORMANCE_KERNELS.md), and leaves the
 * fewest partials. */
static void own_shape(const tally_plan *plan, const ty_device *device, uint64_t n, uint32_t local,
                      uint32_t ahead, ty_shape *shape)
{
    uint32_t size = group_size(plan, device);
    ty_shape_standard(plan, device, n, shape);
    uint32_t per_unit = device->unit_local_bytes / (local + 1024);
    uint32_t fit = device->unit_threads / size;
    uint32_t set = (uint32_t)ty_method_parameter(plan, "blocks-per-sm");
    per_unit = per_unit < fit ? per_unit : fit;
    per_unit = set < per_unit ? set : per_unit;
    per_unit = per_unit < 1 ? 1 : per_unit;
    uint64_t needed = n * sample_bytes(plan) / ((uint64_t)size * 16) + 1;
    uint64_t most = (uint64_t)device->units * per_unit;
    shape->groups = (uint32_t)(needed < most ? needed : most);
    shape->group_size = size;
    shape->local_bytes = local;
    shape->partials = shape->groups;
    snprintf(shape->defines, sizeof shape->defines, "-DTY_AHEAD=%u -DTY_DENSE=%u", ahead, per_unit);
}

static int is_nvidia_opencl(const ty_device *device)
{
    return device->warp == 32 && !device->capability;
}

/* Under NVIDIA's OpenCL the kernel gets the registers that CUDA gives it (device/opencl_build.c):
 * asked for where that was measured to be faster. */
static void own_bound(const ty_device *device, ty_shape *shape)
{
    const size_t at = strlen(shape->defines);
    if (is_nvidia_opencl(device))
        snprintf(shape->defines + at, sizeof shape->defines - at, " -DTY_BOUNDED=1");
}

/* A table with more slots takes the last group longer than partials take a launch of their own. */
enum { table_slots = 4096 + TY_SLOT_EXTRA };

/* One launch is enough where one group is all, or the last of several can know that it is. */
static int delivers(const tally_plan *plan, const ty_device *device, const ty_shape *shape)
{
    return plan->slots <= table_slots && (shape->groups == 1 || device->has_fence);
}

/* ---- lane-private ---- */

static uint32_t lane_private_cells(const tally_plan *plan)
{
    return sample_bytes(plan) == 1 ? 256 : plan->bins + TY_CELLS_EXTRA;
}

/* 32 copies of every counter, or 16 where these do not fit. */
static uint32_t lane_private_copies(const tally_plan *plan, const ty_device *device)
{
    return lane_private_cells(plan) <= device->local_bytes / 128 ? 32 : 16;
}

static uint64_t lane_private_bytes(const tally_plan *plan, const ty_device *device)
{
    return (uint64_t)lane_private_cells(plan) * lane_private_copies(plan, device) * 4;
}

static const ty_parameter lane_private_parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"blocks-per-sm", 1, 32, 1, "groups on a multiprocessor, if they fit"},
    {"ahead", 1, 16, 8, "loads of a work-item before it counts"},
    {NULL, 0, 0, 0, NULL}};

/* Slots of bytes that a group sums up in words of their own. */
enum { few_slots = 72 };

static void lane_private_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                               ty_shape *shape)
{
    const uint64_t bytes = lane_private_bytes(plan, device) + guide_bytes(plan);
    const int fits = bytes + few_slots * 4 + 1024 <= device->local_bytes;
    const uint32_t few = sample_bytes(plan) == 1 && fits ? few_slots : 0;
    own_shape(plan, device, n, (uint32_t)bytes + few * 4,
              (uint32_t)ty_method_parameter(plan, "ahead"), shape);
    size_t at = strlen(shape->defines);
    snprintf(shape->defines + at, sizeof shape->defines - at, " -DTY_COPIES=%u -DTY_FEW_SLOTS=%u",
             lane_private_copies(plan, device), few);
    if (sample_bytes(plan) != 2)
        own_bound(device, shape);
    if (sample_bytes(plan) == 1) {
        shape->cells = 256;
        shape->raw_shift = 0;
    }
    shape->delivers = delivers(plan, device, shape);
}

static tally_status lane_private_supports(const tally_plan *plan, tally_error *error)
{
    uint64_t most = ty_plan_device(plan)->local_bytes / 64;
    if (lane_private_cells(plan) > most)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "lane-private keeps 16 copies of every bin in local memory: %u bins at most, "
            "not %u",
            (unsigned)(most - TY_CELLS_EXTRA), plan->bins);
    return ty_kernel_supports(plan, error);
}

static double lane_private_cost(const tally_plan *plan, const char **why)
{
    const ty_device *device = ty_plan_device(plan);
    *why = lane_private_copies(plan, device) == 32
               ? "32 copies fit local memory: no conflict, whatever the data"
               : "16 copies fit local memory: two at a bank at most, whatever the data";
    return ty_cost_guided(plan, "lane-private",
                          room_beside(plan, lane_private_bytes(plan, device)));
}

static const ty_kernel_method lane_private = {.text = ty_text_lane_private,
                                              .fast = 1,
                                              .guided = 2,
                                              .far = 1,
                                              .finishes = 1,
                                              .shape = lane_private_shape};

const ty_method ty_lane_private = {
    "lane-private",
    "tally",
    "32 interleaved copies, or 16: a warp never meets a bank more than twice",
    ON_DEVICES,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    lane_private_parameters,
    lane_private_supports,
    lane_private_cost,
    &lane_private,
};

/* ---- swizzled ---- */

static const ty_parameter swizzled_parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"blocks-per-sm", 1, 32, 1, "groups on a multiprocessor, if they fit"},
    {"ahead", 1, 16, 8, "loads of a work-item before it counts"},
    {"key", 0, UINT32_MAX, 0, "of the scrambled order, 0 for one drawn at every launch"},
    {"copies", 0, 8, 0, "of each counter, a power of two; 0 for as many as are fastest"},
    {NULL, 0, 0, 0, NULL}};

static uint64_t swizzled_bytes(const tally_plan *plan)
{
    return ((uint64_t)plan->bins + plan->axes[0].fast.splits + TY_CELLS_EXTRA + 63) / 64 * 256;
}

/* 16-bit integers are bound by local memory, where lanes meet less often in 8 copies than in one.
 * More bytes than these would leave less first-level cache than that gains. */
enum { copied_bytes = 131 << 10 };

static uint32_t swizzled_copies(const tally_plan *plan, const ty_device *device)
{
    const uint64_t one = swizzled_bytes(plan);
    const uint32_t set = (uint32_t)ty_method_parameter(plan, "copies");
    const tally_dtype dtype = plan->options.dtypes[0];
    const int whole = dtype == TALLY_U16 || dtype == TALLY_I16;
    const int gains =
        whole && plan->axes[0].proved && device->capability && one * 8 <= copied_bytes;
    const uint32_t most = set ? set : gains ? 8 : 1;
    uint32_t copies = 1;
    while (copies * 2 <= most && one * copies * 2 + guide_bytes(plan) + 1024 <= device->local_bytes)
        copies *= 2;
    return copies;
}

static uint32_t swizzled_splits(const tally_plan *plan)
{
    return (uint32_t)(room_beside(plan, swizzled_bytes(plan)) / 4);
}

/* Of counters, above which the first-level cache is too small for all loads at once (walk.h): 28
 * KiB of it are left, where up to there it is 60. */
enum { ring_bytes = 195 << 10 };

/* Loads on their way all the time; 0 for all of a turn at once. */
static uint32_t swizzled_ring(const tally_plan *plan, const ty_device *device)
{
    const tally_dtype dtype = plan->options.dtypes[0];
    const uint32_t ahead = (uint32_t)ty_method_parameter(plan, "ahead"),
                   most = dtype == TALLY_I32 || dtype == TALLY_U32 ? 5 : 4;
    const int serves = device->capability && swizzled_bytes(plan) > ring_bytes &&
                       (most == 5 || dtype == TALLY_F32 || dtype == TALLY_F64);
    return !serves ? 0 : ahead < most ? ahead : most;
}

/* 32-bit integers need more loads on their way under NVIDIA's OpenCL. */
static uint32_t swizzled_ahead(const tally_plan *plan, const ty_device *device)
{
    const uint32_t ahead = (uint32_t)ty_method_parameter(plan, "ahead");
    const tally_dtype dtype = plan->options.dtypes[0];
    const int more = is_nvidia_opencl(device) && (dtype == TALLY_I32 || dtype == TALLY_U32);
    return more && ahead <= 8 ? ahead * 3 / 2 : ahead;
}

static void swizzled_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                           ty_shape *shape)
{
    const uint32_t ahead = swizzled_ahead(plan, device);
    const uint32_t copies = swizzled_copies(plan, device);
    own_shape(plan, device, n, (uint32_t)swizzled_bytes(plan) * copies + guide_bytes(plan), ahead,
              shape);
    const uint32_t ring = swizzled_ring(plan, device);
    size_t at = strlen(shape->defines);
    snprintf(shape->defines + at, sizeof shape->defines - at, " -DTY_COPIES=%u", copies);
    at = strlen(shape->defines);
    if (ring)
        snprintf(shape->defines + at, sizeof shape->defines - at, " -DTY_RING=%u", ring);
    else
        own_bound(device, shape);
    shape->delivers = delivers(plan, device, shape);
    shape->halves = 1;
    shape->cells = (uint32_t)(swizzled_bytes(plan) / 8);
}

static tally_status swizzled_supports(const tally_plan *plan, tally_error *error)
{
    uint64_t most = ty_plan_device(plan)->local_bytes / 256 * 64;
    if (swizzled_bytes(plan) > ty_plan_device(plan)->local_bytes)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "swizzled keeps a copy of every bin in local memory: %u bins at most, "
                        "not %u",
                        (unsigned)(most - TY_CELLS_EXTRA), plan->bins);
    return ty_kernel_supports(plan, error);
}

static double swizzled_cost(const tally_plan *plan, const char **why)
{
    *why = "one copy fits local memory, its banks scrambled against any data";
    return ty_cost_guided(plan, "swizzled", room_beside(plan, swizzled_bytes(plan)));
}

static const ty_kernel_method swizzled = {.text = ty_text_swizzled,
                                          .more = ty_text_halves,
                                          .fast = 2,
                                          .guided = 1,
                                          .far = 1,
                                          .finishes = 1,
                                          .keyed = 1,
                                          .splits = swizzled_splits,
                                          .shape = swizzled_shape};

const ty_method ty_swizzled = {
    "swizzled",
    "tally",
    "one copy in local memory, its banks scrambled by a key of the launch",
    ON_DEVICES,
    UINT32_MAX & ~(1u << TALLY_U8 | 1u << TALLY_I8),
    1,
    TY_MAX_BINS,
    swizzled_parameters,
    swizzled_supports,
    swizzled_cost,
    &swizzled,
};

/* ---- spill16 ---- */

enum { spill16_raw = 65536, spill16_piece = 32768, spill16_lists = 300, spill16_hottest = 8704 };

static const ty_parameter spill16_parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"blocks-per-sm", 1, 32, 1, "groups on a multiprocessor, if they fit"},
    {"ahead", 1, 16, 6, "loads of a work-item on their way; at most 32768 samples a group"},
    {"key", 0, UINT32_MAX, 0, "of the scrambled order, 0 for one drawn at every launch"},
    {"period", 1, 1 << 30, 1 << 22,
     "samples of a group before its counters are checked; half of it if samples have 2 bytes"},
    {"hits", 0, 1 << 20, 0,
     "of 1024 drawn loads, those full of a pair that make it drained, 0 for half of those of one "
     "that could overflow"},
    {"form", 0, 4, 0,
     "how periods are counted: 0 as what was drawn tells, 1 sample by sample, 2 by runs, 3 by a "
     "table of hot cells, 4 with a word of each lane for one"},
    {NULL, 0, 0, 0, NULL}};

/* Two-byte samples are counted as they are. */
static uint32_t spill16_words(const tally_plan *plan)
{
    uint64_t cells = sample_bytes(plan) == 2 ? spill16_raw : (uint64_t)plan->bins + TY_CELLS_EXTRA;
    return (uint32_t)((cells + 63) / 64 * 32);
}

/* Words of the table of hot cells, as a power of two: as many as work-items, or half of them where
 * what is counted has no room beside it and takes the other half. */
static uint32_t spill16_slots(const tally_plan *plan, const ty_device *device)
{
    const uint32_t group = group_size(plan, device);
    uint32_t slots = 4;
    while (2u << slots <= group)
        slots++;
    const uint64_t all = (uint64_t)spill16_words(plan) + group + (1u << slots) + spill16_lists;
    return all * 4 <= device->local_bytes ? slots : slots - 1;
}

/* The table and its counts (spill16.cl), the counters, sums, the list of pairs. */
static uint64_t spill16_least(const tally_plan *plan, const ty_device *device)
{
    const uint32_t group = group_size(plan, device), cells = 1u << spill16_slots(plan, device);
    const uint32_t table = group + (2 * cells <= group ? 0 : cells);
    return ((uint64_t)spill16_words(plan) + table + spill16_lists) * 4;
}

/* Words of the copied counters that two-byte samples' hot values have: 32 for each of a byte's 256.
 * More would leave less first-level cache, which costs all others 4 %. */
static uint32_t spill16_hot(const tally_plan *plan, const ty_device *device)
{
    const uint64_t least = spill16_least(plan, device) + 1024;
    const uint64_t most =
        least < device->local_bytes ? (device->local_bytes - least) / 128 * 32 : 0;
    return sample_bytes(plan) != 2 ? 0 : most < spill16_hottest ? (uint32_t)most : spill16_hottest;
}

static uint64_t spill16_bytes(const tally_plan *plan, const ty_device *device)
{
    return spill16_least(plan, device) + (uint64_t)spill16_hot(plan, device) * 4;
}

/* Where two-byte samples are added up before the axis is applied. */
static uint32_t spill16_sums(const tally_plan *plan)
{
    return sample_bytes(plan) == 2 ? spill16_raw : 0;
}

/* A piece must fit a counter beside what a period leaves there (spill16.cl). */
static uint32_t spill16_ahead(const tally_plan *plan, const ty_device *device)
{
    uint32_t set = (uint32_t)ty_method_parameter(plan, "ahead");
    uint32_t most = spill16_piece / (group_size(plan, device) * (16 / sample_bytes(plan)));
    return set < most ? set : most;
}

static void spill16_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                          ty_shape *shape)
{
    own_shape(plan, device, n, (uint32_t)spill16_bytes(plan, device), spill16_ahead(plan, device),
              shape);
    size_t at = strlen(shape->defines);
    snprintf(shape->defines + at, sizeof shape->defines - at, " -DTY_SLOTS=%u -DTY_HOT_WORDS=%u",
             spill16_slots(plan, device), spill16_hot(plan, device));
    shape->partials = 1;
    shape->cleared = spill16_sums(plan) != 0;
    shape->delivers = !shape->cleared;
    shape->scratch_bytes = (size_t)shape->groups * ((spill16_words(plan) + 63) / 64 * 128) +
                           (size_t)spill16_sums(plan) * 4;
}

/* Counts, adds the groups' counters up and delivers them; for two-byte samples applies the axis. */
static tally_status spill16_enqueue(const ty_slab *slab, tally_error *error)
{
    const ty_shape *shape = slab->shape;
    const tally_plan *plan = slab->plan;
    const ty_arg *finish = slab->finish, *table = finish + 1, *how = finish + TY_FINISH_COUNT - 1;
    uint32_t words = spill16_words(plan), sums = spill16_sums(plan);
    uint32_t turn =
        spill16_ahead(plan, slab->device) * shape->group_size * (16 / sample_bytes(plan));
    uint32_t samples =
        (uint32_t)ty_method_parameter(plan, "period") / (sample_bytes(plan) == 2 ? 2 : 1);
    uint32_t period = samples / turn;
    uint32_t key = slab->key, slots = (uint32_t)plan->slots;
    tally_status status = TALLY_OK;
    if (sums)
        status = slab->device->ops->clear(slab->device, slab->queue, slab->scratch, 0,
                                          (size_t)sums * 4, error);
    ty_arg count_args[] = {ty_arg_memory(slab->data),
                           ty_arg_u64(slab->offset),
                           ty_arg_u64(slab->n),
                           ty_arg_memory(slab->axis),
                           ty_arg_u32(slots),
                           sums ? ty_arg_memory(slab->scratch) : *table,
                           ty_arg_u32(0),
                           ty_arg_u32(key),
                           ty_arg_u32(period ? period : 1),
                           ty_arg_u32((uint32_t)ty_method_parameter(plan, "hits")),
                           ty_arg_u32((uint32_t)ty_method_parameter(plan, "form")),
                           ty_arg_memory(slab->scratch),
                           *how};
    ty_launch count = {shape->groups, shape->group_size, shape->local_bytes, count_args, 13};
    if (!status)
        status = ty_slab_launch_early(slab, "count", &count, error);
    ty_arg gather_args[4 + TY_FINISH_COUNT] = {
        ty_arg_memory(slab->scratch), ty_arg_u32(shape->groups), ty_arg_u32(words), ty_arg_u32(key),
        sums ? ty_arg_memory(slab->scratch) : ty_arg_u32(slots)};
    memcpy(&gather_args[5], table, (TY_FINISH_COUNT - 1) * sizeof *table);
    ty_launch gather = {sums ? words / 128 : (slots + 255) / 256, 256, 16 * 272 * 4, gather_args,
                        sums ? 5 : 4 + TY_FINISH_COUNT};
    if (!status)
        status = ty_slab_launch_early(slab, "gather", &gather, error);
    ty_arg fold_args[] = {ty_arg_memory(slab->scratch), ty_arg_memory(slab->axis),
                          ty_arg_memory(slab->out)};
    ty_launch fold = {spill16_raw / (64 * 8), 64, 0, fold_args, 3};
    if (sums && !status)
        status = ty_slab_launch_early(slab, "fold", &fold, error);
    return status;
}

static tally_status spill16_supports(const tally_plan *plan, tally_error *error)
{
    const ty_device *device = ty_plan_device(plan);
    int fits = ((uint64_t)spill16_words(plan) + 1024 + spill16_lists) * 4 <= device->local_bytes;
    if (!fits && sample_bytes(plan) == 2)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "spill16 keeps the 65536 values of %s in 132 KiB of local memory; a group has "
            "%u bytes at most",
            tally_dtype_name(plan->options.dtypes[0]), device->local_bytes);
    if (!fits)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "spill16 keeps a 16-bit copy of every bin in local memory: %u bins at most, "
            "not %u",
            (unsigned)((device->local_bytes / 4 - 1024 - spill16_lists) / 32 * 64 - TY_CELLS_EXTRA),
            plan->bins);
    return ty_kernel_supports(plan, error);
}

static double spill16_cost(const tally_plan *plan, const char **why)
{
    *why = "16-bit counters fit local memory, checked by their sum";
    return sample_bytes(plan) == 2 ? ty_cost_whatever_edges(plan, "spill16")
                                   : ty_cost(plan, "spill16");
}

static const ty_kernel_method spill16 = {.text = ty_text_spill16_h,
                                         .more = ty_text_spill16,
                                         .fast = 2,
                                         .far = 1,
                                         .finishes = 1,
                                         .keyed = 1,
                                         .shape = spill16_shape,
                                         .enqueue = spill16_enqueue};

const ty_method ty_spill16 = {
    "spill16",
    "tally",
    "one copy of 16-bit counters, checked by their sum; hot bins are drained",
    ON_DEVICES,
    UINT32_MAX & ~(1u << TALLY_U8 | 1u << TALLY_I8),
    1,
    TY_MAX_BINS,
    spill16_parameters,
    spill16_supports,
    spill16_cost,
    &spill16,
};

/* ---- swizzled-columns ---- */

enum { columns_cells = 1 << 17 }; /* swizzled_columns.cl divides numbers below it */

static const ty_parameter columns_parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"blocks-per-sm", 1, 32, 1, "groups on a multiprocessor, if they fit"},
    {"ahead", 1, 16, 4, "loads of 16 bytes, of all columns together, before a work-item counts"},
    {"key", 0, UINT32_MAX, 0, "of the scrambled order, 0 for one drawn at every launch"},
    {NULL, 0, 0, 0, NULL}};

/* A word for every combination of the axes' cells, and one for masked samples. */
static uint64_t columns_bytes(const tally_plan *plan)
{
    uint64_t cells = 1;
    for (uint32_t d = 0; d < plan->options.dimensions && cells <= columns_cells; d++)
        cells *= (uint64_t)plan->axes[d].bins.bins + TY_CELLS_EXTRA;
    return (cells + 32) / 32 * 128;
}

/* Four samples of every column at a time; half as many where cells take float64, and its registers.
 */
static uint32_t columns_ahead(const tally_plan *plan)
{
    uint32_t units = (uint32_t)ty_method_parameter(plan, "ahead") * 4 / ty_plan_bytes(plan);
    int all_proved = 1;
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        all_proved &= plan->axes[d].proved != TY_UNPROVED;
    units /= all_proved ? 1 : 2;
    return units < 1 ? 1 : units > 16 ? 16 : units;
}

static void columns_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                          ty_shape *shape)
{
    own_shape(plan, device, n, (uint32_t)columns_bytes(plan), columns_ahead(plan), shape);
    if (plan->options.dimensions == 1 || sample_bytes(plan) != 2)
        own_bound(device, shape);
}

static tally_status columns_supports(const tally_plan *plan, tally_error *error)
{
    const ty_device *device = ty_plan_device(plan);
    const uint64_t words = (device->local_bytes - 1024) / 4; /* some runtimes refuse all of it */
    if (plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "swizzled-columns counts samples, not weights");
    if (!device->has_fp64)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "swizzled-columns counts on devices that have float64");
    if (columns_bytes(plan) / 4 > (words < columns_cells ? words : columns_cells))
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "swizzled-columns keeps every axis' bins and %u more of each in local memory: "
            "together they are more than the %u words that a group has",
            TY_CELLS_EXTRA, (unsigned)words);
    return TALLY_OK;
}

static double columns_cost(const tally_plan *plan, const char **why)
{
    *why = "packed columns, one joint table in local memory, its banks scrambled";
    return ty_cost(plan, "swizzled-columns");
}

static const ty_kernel_method columns = {.text = ty_text_swizzled_columns,
                                         .fast = 1,
                                         .keyed = 1,
                                         .far = 1,
                                         .views = 1,
                                         .packed = 1,
                                         .shape = columns_shape};

const ty_method ty_swizzled_columns = {
    "swizzled-columns",
    "tally",
    "packed coordinates side by side, a mask too: a joint table in local memory",
    ON_DEVICES,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    columns_parameters,
    columns_supports,
    columns_cost,
    &columns,
};

/* ---- swizzled-rows ---- */

static void rows_shape(const tally_plan *plan, const ty_device *device, uint64_t n, ty_shape *shape)
{
    own_shape(plan, device, n, (uint32_t)columns_bytes(plan), columns_ahead(plan), shape);
    if (sample_bytes(plan) == 8)
        own_bound(device, shape);
    size_t at = strlen(shape->defines);
    snprintf(shape->defines + at, sizeof shape->defines - at, " -DTY_ROWS=1");
}

static double rows_cost(const tally_plan *plan, const char **why)
{
    *why = "packed rows, one joint table in local memory, its banks scrambled";
    return ty_cost(plan, "swizzled-rows");
}

static const ty_kernel_method rows = {.text = ty_text_swizzled_columns,
                                      .fast = 1,
                                      .keyed = 1,
                                      .far = 1,
                                      .views = 1,
                                      .packed = 1,
                                      .rows = 1,
                                      .shape = rows_shape};

const ty_method ty_swizzled_rows = {
    "swizzled-rows",
    "tally",
    "the same for rows with gaps between them, 32 work-items a piece of a row",
    ON_DEVICES,
    UINT32_MAX,
    1,
    TY_MAX_BINS,
    columns_parameters,
    columns_supports,
    rows_cost,
    &rows,
};

/* ---- lane-private-pixels ---- */

static const ty_parameter pixels_parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"blocks-per-sm", 1, 32, 1, "groups on a multiprocessor, if they fit"},
    {"ahead", 2, 16, 8, "loads of a work-item before it counts, its mask's among them"},
    {NULL, 0, 0, 0, NULL}};

/* Copies of each counter, a row of them for masked samples too; 0 where too few fit. */
static uint32_t pixels_copies(const tally_plan *plan, const ty_device *device)
{
    const uint64_t row = (plan->channels * 256 + 1) * sizeof(uint32_t);
    uint32_t copies = 32;
    while (copies >= 4 && row * copies > device->local_bytes - 1024)
        copies /= 2;
    return copies >= 4 ? copies : 0;
}

static void pixels_shape(const tally_plan *plan, const ty_device *device, uint64_t n,
                         ty_shape *shape)
{
    const uint32_t channels = (uint32_t)plan->channels, copies = pixels_copies(plan, device);
    uint32_t shift = 2;
    while (4u * copies > 1u << shift)
        shift++;
    own_shape(plan, device, n, (channels * 256 + 1) * copies * 4,
              (uint32_t)ty_method_parameter(plan, "ahead"), shape);
    size_t at = strlen(shape->defines);
    snprintf(shape->defines + at, sizeof shape->defines - at,
             " -DTY_PIXEL=%u -DTY_LANES=%u -DTY_SHIFT=%u", channels, copies, shift);
}

static tally_status pixels_supports(const tally_plan *plan, tally_error *error)
{
    if (plan->weighted || plan->options.dimensions > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "lane-private-pixels counts samples of one dimension, without weights");
    if (plan->channels > 4 || !pixels_copies(plan, ty_plan_device(plan)))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "lane-private-pixels keeps 4 to 32 copies of 256 counters for each of up "
                        "to 4 channels in local memory, not of %u channels in %u bytes",
                        (unsigned)plan->channels, ty_plan_device(plan)->local_bytes);
    return TALLY_OK;
}

static double pixels_cost(const tally_plan *plan, const char **why)
{
    *why = "packed bytes of all channels in one read";
    return ty_cost_channels(plan, "lane-private-pixels");
}

static const ty_kernel_method pixels = {.text = ty_text_lane_private_pixels,
                                        .views = 1,
                                        .packed = 1,
                                        .pixels = 1,
                                        .shape = pixels_shape};

const ty_method ty_lane_private_pixels = {
    "lane-private-pixels",
    "tally",
    "packed bytes of up to four channels at once, or of one with a mask",
    ON_DEVICES,
    1u << TALLY_U8 | 1u << TALLY_I8,
    1,
    TY_MAX_BINS,
    pixels_parameters,
    pixels_supports,
    pixels_cost,
    &pixels,
};
