/* SPDX-License-Identifier: Apache-2.0 */
/* packed16: 16-bit counters, two a word, checked by their sum. */
#include "core/error.h"
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/cost.h"
#include "plan/registry.h"

enum {
    raw_values = 65536,
    most_piece = 32768, /* samples of a group that its counters take on top of what is in them */
    list_words = 300,   /* of sums and of pairs that are drained */
    most_copied = 8704  /* words of copied counters */
};

static const tally_parameter parameters[] = {
    {"threads", 64, 1024, 1024, "work-items of a group, a multiple of 32"},
    {"blocks-per-sm", 1, 32, 1, "groups on a multiprocessor, if they fit"},
    {"ahead", 1, 16, 6, "loads of a work-item under way; at most 32768 samples a group"},
    {"key", 0, UINT32_MAX, 0, "of the scrambled order, 0 for one drawn at every launch"},
    {"epoch", 1, 1 << 30, 1 << 22,
     "samples of a group before its counters are checked; half of it if samples have 2 bytes"},
    {"hits", 0, 1 << 20, 0,
     "of 1024 drawn loads, those full of a pair that make it drained, 0 for half of those of one "
     "that could overflow"},
    {"form", 0, 4, 0,
     "how epochs are counted: 0 as what was drawn tells, 1 sample by sample, 2 by runs, 3 by a "
     "table of heavy hitters, 4 with a word of each lane for one"},
    {NULL, 0, 0, 0, NULL}};

/* Two-byte samples are counted as they are, and the axis is applied to the counts. */
static int is_raw(const tally_plan *plan)
{
    return ty_sample_bytes(plan) == 2;
}

static uint32_t words_of(const tally_plan *plan)
{
    const uint64_t cells = is_raw(plan) ? raw_values : (uint64_t)plan->bins + TY_CELLS_EXTRA;
    return (uint32_t)((cells + 63) / 64 * 32);
}

/* Words of the table of heavy hitters, as a power of two: as many as work-items, or half of them
 * where local memory is too small for as many counts behind it, which then take the other half. */
static uint32_t slots_of(const tally_plan *plan, const ty_device *device)
{
    const uint32_t group = ty_threads(plan, device);
    uint32_t slots = 4;
    while (2u << slots <= group)
        slots++;
    const uint64_t all = (uint64_t)words_of(plan) + group + (1u << slots) + list_words;
    return all * 4 <= device->local_bytes ? slots : slots - 1;
}

/* The table and its counts (packed16.h), the counters, sums, the list of pairs. */
static uint64_t least_bytes(const tally_plan *plan, const ty_device *device)
{
    const uint32_t group = ty_threads(plan, device), cells = 1u << slots_of(plan, device);
    const uint32_t table = group + (2 * cells <= group ? 0 : cells);
    return ((uint64_t)words_of(plan) + table + list_words) * 4;
}

/* Words of the copied counters that two-byte samples' heavy hitters have: 32 for each of a byte's
 * 256. More would leave less first-level cache, which costs all others 4 %. */
static uint32_t copied_words(const tally_plan *plan, const ty_device *device)
{
    const uint64_t least = least_bytes(plan, device) + 1024;
    const uint64_t most =
        least < device->local_bytes ? (device->local_bytes - least) / 128 * 32 : 0;
    return !is_raw(plan) ? 0 : most < most_copied ? (uint32_t)most : most_copied;
}

static uint64_t local_bytes(const tally_plan *plan, const ty_device *device)
{
    return least_bytes(plan, device) + (uint64_t)copied_words(plan, device) * 4;
}

/* Loads of a work-item under way: a piece must fit a counter together with what an epoch leaves
 * there.
 */
static uint32_t ahead_of(const tally_plan *plan, const ty_device *device)
{
    const uint32_t set = (uint32_t)ty_method_parameter(plan, "ahead");
    const uint32_t most = most_piece / (ty_threads(plan, device) * (16 / ty_sample_bytes(plan)));
    return set < most ? set : most;
}

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    ty_geometry_resident(plan, device, n, local_bytes(plan, device), g);
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    ty_define_resident(plan, device, local_bytes(plan, device), ahead_of(plan, device), defines);
    ty_define(defines, "P16_SLOT_BITS", slots_of(plan, device));
    ty_define(defines, "P16_COPIED_WORDS", copied_words(plan, device));
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    const ty_device *device = ty_plan_device(plan);
    const int fits = ((uint64_t)words_of(plan) + 1024 + list_words) * 4 <= device->local_bytes;
    if (!fits && is_raw(plan))
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "packed16 keeps the 65536 values of %s in 132 KiB of local memory; a group has "
            "%u bytes at most",
            tally_dtype_name(plan->options.dtypes[0]), device->local_bytes);
    if (!fits)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "packed16 keeps a 16-bit copy of every bin in local memory: %u bins at most, "
            "not %u",
            (unsigned)((device->local_bytes / 4 - 1024 - list_words) / 32 * 64 - TY_CELLS_EXTRA),
            plan->bins);
    return ty_supports_column(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "16-bit counters fit local memory, checked by their sum";
    return is_raw(plan) ? ty_cost_whatever_edges(plan, "packed16") : ty_cost(plan, "packed16");
}

/* Samples of a group between two checks of its counters, in loads of all its work-items. */
static uint32_t epoch_of(const ty_call *call)
{
    const tally_plan *plan = call->plan;
    const uint32_t each = 16 / ty_sample_bytes(plan);
    const uint32_t turn = ahead_of(plan, call->device) * call->geometry.group_size * each;
    const uint32_t samples = (uint32_t)ty_method_parameter(plan, "epoch") / (is_raw(plan) ? 2 : 1);
    return samples / turn ? samples / turn : 1;
}

/* `sums` is where counts are added up that leave a group at once, `partials` where its counters go
 * when it is done. */
static tally_status launch_count(ty_call *call, ty_memory sums, ty_memory partials, uint32_t key,
                                 tally_error *error)
{
    const tally_plan *plan = call->plan;
    const ty_geometry *g = &call->geometry;
    ty_arg args[TY_COLUMN_COUNT + 6];
    unsigned n = ty_call_column(call, sums, 0, args);
    args[n++] = ty_arg_u32(key);
    args[n++] = ty_arg_u32(epoch_of(call));
    args[n++] = ty_arg_u32((uint32_t)ty_method_parameter(plan, "hits"));
    args[n++] = ty_arg_u32((uint32_t)ty_method_parameter(plan, "form"));
    args[n++] = ty_arg_memory(partials);
    args[n++] = ty_arg_u32(call->store.how | (call->store.fresh ? 0 : TY_OUT_ADD));
    const ty_launch count = {g->groups, g->group_size, g->local_bytes, args, n, .early = 1};
    return ty_call_launch(call, "count", &count, error);
}

enum { gather_bytes = 16 * 272 * 4 };

/* Cells: the groups' counters are added up with what is in the table, and stored. */
static tally_status enqueue_cells(ty_call *call, ty_memory partials, uint32_t key,
                                  tally_error *error)
{
    const uint32_t slots = (uint32_t)call->plan->slots;
    ty_memory table;
    tally_status status = ty_call_table(call, &table, error);
    if (!status)
        status = launch_count(call, table, partials, key, error);
    ty_arg args[6 + TY_STORE_COUNT] = {ty_arg_memory(partials),
                                       ty_arg_u32(call->geometry.groups),
                                       ty_arg_u32(words_of(call->plan)),
                                       ty_arg_u32(key),
                                       ty_arg_u32(slots),
                                       ty_arg_memory(table)};
    const unsigned n = ty_call_store(call, args, 6);
    const ty_launch gather = {(slots + 255) / 256, 256, gather_bytes, args, n, .early = 1};
    call->store.fresh = 0;
    return status ? status : ty_call_launch(call, "gather", &gather, error);
}

/* Raw values: added up in the first words of the scratch memory, then folded into one histogram. */
static tally_status enqueue_raw(ty_call *call, ty_memory scratch, uint32_t key, tally_error *error)
{
    const uint32_t words = words_of(call->plan);
    ty_partials folded = {.count = 1, .words = (uint32_t)call->plan->slots, .raw_shift = -1};
    const uint64_t bytes = (uint64_t)folded.words * 4;
    tally_status status = ty_call_partials(call, bytes, &folded.memory, error);
    if (!status)
        status = ty_call_clear(call, folded.memory, 0, bytes, error);
    if (!status)
        status = ty_call_clear(call, scratch, 0, raw_values * 4, error);
    if (!status)
        status = launch_count(call, scratch, scratch, key, error);
    const ty_arg gather_args[] = {ty_arg_memory(scratch), ty_arg_u32(call->geometry.groups),
                                  ty_arg_u32(words), ty_arg_u32(key), ty_arg_memory(scratch)};
    const ty_launch gather = {words / 128, 256, gather_bytes, gather_args, 5, .early = 1};
    if (!status)
        status = ty_call_launch(call, "gather", &gather, error);
    const ty_arg fold_args[] = {ty_arg_memory(scratch), ty_arg_memory(call->w->axes),
                                ty_arg_memory(folded.memory)};
    const ty_launch fold = {raw_values / (64 * 8), 64, 0, fold_args, 3, .early = 1};
    if (!status)
        status = ty_call_launch(call, "fold", &fold, error);
    return status ? status : ty_call_merge(call, &folded, error);
}

static tally_status enqueue(ty_call *call, tally_error *error)
{
    const uint64_t group = (words_of(call->plan) + 63) / 64 * 128; /* bytes of one's counters */
    const uint64_t sums = is_raw(call->plan) ? raw_values * 4 : 0;
    const uint32_t key = ty_call_key(call);
    ty_memory scratch;
    tally_status status =
        ty_call_scratch(call, call->geometry.groups * group + sums, &scratch, error);
    if (status)
        return status;
    return (is_raw(call->plan) ? enqueue_raw : enqueue_cells)(call, scratch, key, error);
}

static const ty_gpu_method kernels = {
    .texts = {ty_text_packed16_h, ty_text_packed16_draw_h, ty_text_packed16},
    .reads = TY_READS_COLUMN,
    .maps = TY_MAPS_32,
    .tables = TY_TABLES_GLOBAL,
    .geometry = geometry,
    .define = define,
    .enqueue = enqueue};

const ty_method ty_packed16 = {
    .name = "packed16",
    .source = "tally",
    .summary = "one copy of 16-bit counters, checked by their sum; heavy hitters are drained",
    .devices = TY_ON_GPU,
    .dtypes = TY_NO_BYTES,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = parameters,
    .supports = supports,
    .cost = cost,
    .backend = &kernels,
};
