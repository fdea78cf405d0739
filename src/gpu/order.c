/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order statistics on a device: which key has a given rank, in each group of samples. Four ways:
 *
 * - Small groups of samples, by digits: one work-group takes a group of samples and finds a key a
 *   few bits (a digit) at a time, by counting how many keys go on with each digit.
 * - One quantile of a group of middle size, by digits too, with all work-groups at once.
 * - All others by slices (order_slices.c). Keys are drawn at random and sorted, and divide all keys
 *   into thousands of slices. A first reading counts these, a second keeps the keys of the ranks'
 *   slices, in which the ranks are found.
 * - Few ranks of a large group by slices too, after a sieve: two drawn keys are edges around each
 *   rank; one reading counts the keys that are between no such edges, and keeps the few that are
 *   left for the slices.
 *
 * Exact counts decide on the device what becomes of a rank: one that does not lie between its edges
 * is searched by digits at the end. The launches are always the same, so that a graph can record
 * them.
 *
 * Here calls (ty_gpu_order, at the end) begin and end, and go through their groups of samples in
 * rounds, each of as many as the state has space for; ty_order_search (order_search.c) chooses the
 * way.
 */
#include "gpu/order.h"

#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "gpu/order_run.h"
#include "gpu/views.h"
#include "kernel_texts.h"

const ty_gpu_method ty_order_kernels = {
    .texts = {ty_text_order_draw, ty_text_order_edges, ty_text_order_digits, ty_text_order_rows,
              ty_text_order_select, ty_text_order_map, ty_text_order_slices, ty_text_order_lists,
              ty_text_order_cells, ty_text_order_sift},
    .reads = TY_READS_KEYS,
};

const ty_gpu_method ty_extremes_kernels = {.texts = {ty_text_order_extremes},
                                           .reads = TY_READS_KEYS};

const ty_gpu_method ty_weighted_kernels = {
    .texts = {ty_text_order_weighted},
    .reads = TY_READS_KEYS,
};

enum { MOST_WORDS = 1 << 22 }; /* of the state of one round */

/* What a device keeps for the next call. */
struct ty_orders {
    ty_workspaces spaces;
    ty_program *programs[TY_ORDER_PROGRAMS][TALLY_F64 + 1]; /* by what they do and dtype */
};

/* ---- programs ---- */

/* Work-items of a group. */
static uint32_t group_size(const ty_device *device)
{
    uint32_t size = 1;
    while (size < 256 && 2 * size <= device->group_max)
        size *= 2;
    return size;
}

void ty_order_options(const ty_device *device, tally_dtype dtype, ty_defines *o)
{
    *o = (ty_defines){"", 0};
    ty_define(o, "TY_DTYPE", dtype);
    ty_define(o, "TY_WARP", device->warp);
    ty_define(o, "TY_GROUP_SIZE", group_size(device));
    if (!device->has_fp64)
        ty_define(o, "TY_NO_FP64", 1);
    if (strstr(device->signature, "PoCL")) /* 3.1's optimiser breaks loops that have barriers */
        ty_option(o, "-cl-opt-disable");
}

static tally_status orders_of(ty_device *device, struct ty_orders **own, tally_error *error)
{
    pthread_mutex_lock(&device->programs_lock);
    if (!device->orders) {
        device->orders = ty_calloc(1, sizeof *device->orders);
        if (device->orders)
            pthread_mutex_init(&device->orders->spaces.lock, NULL);
    }
    *own = device->orders;
    pthread_mutex_unlock(&device->programs_lock);
    return *own ? TALLY_OK : ty_error_memory(error, "quantiles", sizeof **own);
}

static tally_status program_of(ty_device *device, struct ty_orders *own, int which,
                               tally_dtype dtype, void **program, tally_error *error)
{
    static const ty_gpu_method *const kernels[TY_ORDER_PROGRAMS] = {
        [TY_ORDER_ALL] = &ty_order_kernels,
        [TY_ORDER_EXTREMES] = &ty_extremes_kernels,
        [TY_ORDER_WEIGHTED] = &ty_weighted_kernels};
    ty_program **kept = &own->programs[which][dtype], *made = NULL;
    ty_defines o;
    tally_status status = TALLY_OK;
    pthread_mutex_lock(&own->spaces.lock);
    if (!*kept) {
        ty_order_options(device, dtype, &o);
        status = ty_program_take(device, kernels[which], o.text, &made, error);
        *kept = status ? NULL : made;
    }
    *program = status ? NULL : (*kept)->handle;
    pthread_mutex_unlock(&own->spaces.lock);
    return status;
}

void ty_orders_close(ty_device *device)
{
    struct ty_orders *own = device->orders;
    if (!own)
        return;
    ty_workspaces_close(device, &own->spaces);
    for (int d = 0; d <= TALLY_F64; d++)
        for (int which = 0; which < TY_ORDER_PROGRAMS; which++)
            ty_program_give(device, own->programs[which][d]);
    pthread_mutex_destroy(&own->spaces.lock);
    ty_free(own);
}

/* ---- calls ---- */

tally_status ty_order_begin(ty_order_run *r, tally_context *context, const ty_order_source *source,
                            int program, tally_error *error)
{
    ty_device *device = context->state;
    const ty_device_ops *ops = device->ops;
    *r = (ty_order_run){.source = source, .device = device, .width = ty_order_sizes_used.width};
    r->key_words = source->samples->size == 8 ? 2 : 1;
    r->group_size = group_size(device);
    if (device->local_bytes < 32 << 10)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "quantiles on a device need 32 KiB of local memory; it has %" PRIu32
                        " bytes",
                        device->local_bytes);
    if (ops->enter)
        ops->enter(device);
    r->entered = ops->enter != NULL;
    tally_status status = ty_view_check(device, source->samples, "view", error);
    if (!status && source->mask)
        status = ty_view_check(device, source->mask, "mask", error);
    if (!status && source->weights)
        status = ty_view_check(device, source->weights, "weights", error);
    if (!status && source->stream && ops->recording)
        status = ops->recording(device, source->stream, &r->recording, error);
    if (!status && r->recording)
        r->capture_mode = ops->relax(-1);
    if (!status)
        status = orders_of(device, &r->own, error);
    if (!status)
        status = program_of(device, r->own, program, source->samples->dtype, &r->program, error);
    if (!status)
        status =
            ty_workspaces_take(device, &r->own->spaces, source->stream, r->recording, &r->w, error);
    if (!status)
        r->queue = source->stream ? r->w->borrowed : r->w->queue;
    return status;
}

tally_status ty_order_end(ty_order_run *r, tally_status status, int busy, tally_error *error)
{
    const ty_device_ops *ops = r->device->ops;
    if (r->w && !status && !busy)
        status = ops->wait(r->device, r->queue, error);
    else if (r->w && status && !r->recording)
        ops->wait(r->device, r->queue, NULL);
    /* One that failed may have left work on its queue: its buffers are not used again. */
    if (r->w && (!status || r->recording))
        ty_workspaces_give(&r->own->spaces, r->w, r->recording, busy);
    else if (r->w)
        ty_workspace_close(r->device, r->w);
    if (r->recording)
        ops->relax(r->capture_mode);
    if (r->entered)
        ops->leave(r->device);
    return status;
}

/* Lays out the state, an array of words, for a round: `groups` groups of samples with `each` ranks.
 * Of the round quantiles (q); of a group its kinds (two words) and number of NaN; of a rank itself
 * (ranks) and its key (found); of two ranks, a quantile's, what is between them (parts). */
static tally_status lay_out(ty_order_run *r, uint64_t groups, uint32_t each, tally_error *error)
{
    r->groups = groups;
    r->each = each;
    r->q = ORDER_WORDS;
    r->kinds = r->q + TY_ORDER_PAIRS;
    r->nan = r->kinds + 2 * groups;
    r->ranks = r->nan + groups;
    r->found = r->ranks + groups * each;
    r->parts = r->found + groups * each;
    r->slices = (r->parts + groups * ((each + 1) / 2) + 1) / 2 * 2;
    r->words = r->slices + (ty_order_are_sliced(r) ? ORDER_S_WORDS / 2 : 0);
    tally_status status = ty_workspace_stages(r->device, r->w, r->words * 8, 0, error);
    r->state = r->w->samples;
    return status;
}

/* The groups of samples of one round, if each has so many ranks. */
static uint64_t most_groups(uint32_t each)
{
    return MOST_WORDS / (3 * (uint64_t)each + 4);
}

static tally_status kinds(tally_context *context, const ty_order_source *source,
                          ty_order_kinds *found, tally_error *error)
{
    ty_order_run r;
    tally_status status = ty_order_begin(&r, context, source, TY_ORDER_ALL, error);
    for (; r.first < source->groups && !status; r.first += r.groups) {
        const uint64_t left = source->groups - r.first, most = most_groups(0);
        status = lay_out(&r, left < most ? left : most, 0, error);
        if (!status)
            status = ty_order_count(&r, error);
        if (!status)
            status = r.device->ops->download(r.device, r.queue, found + r.first, r.state,
                                             r.kinds * 8, r.groups * sizeof *found, error);
        if (!status)
            status = r.device->ops->wait(r.device, r.queue, error);
    }
    return ty_order_end(&r, status, 0, error);
}

_Static_assert(sizeof(ty_order_kinds) == 16, "as the device has it");

int64_t ty_order_key(const ty_order_run *r, uint64_t word)
{
    const uint64_t flipped = word ^ UINT64_C(1) << (r->key_words * 32 - 1);
    return r->key_words == 2 ? (int64_t)flipped : (int32_t)(uint32_t)flipped;
}

/* Finds the keys of ranks [at, at + each) of `count`, for each group of samples of the round.
 * `words` has space for all of them. */
static tally_status find_round(ty_order_run *r, const uint64_t *ranks, uint32_t count, uint32_t at,
                               uint64_t *words, int64_t *keys, uint64_t *nan, tally_error *error)
{
    const ty_device_ops *ops = r->device->ops;
    for (uint64_t g = 0; g < r->groups; g++)
        memcpy(words + g * r->each, ranks + (r->first + g) * count + at, r->each * sizeof *words);
    tally_status status = ops->upload(r->device, r->queue, r->state, r->ranks * 8, words,
                                      r->groups * r->each * 8, error);
    if (!status && r->counted)
        status = ty_order_count(r, error);
    if (!status)
        status = ty_order_search(r, error);
    if (!status)
        status = ops->download(r->device, r->queue, nan + r->first, r->state, r->nan * 8,
                               r->groups * 8, error);
    if (!status)
        status = ops->wait(r->device, r->queue, error); /* `words` has been read */
    if (!status)
        status = ops->download(r->device, r->queue, words, r->state, r->found * 8,
                               r->groups * r->each * 8, error);
    if (!status)
        status = ops->wait(r->device, r->queue, error);
    for (uint64_t i = 0; i < r->groups * r->each && !status; i++)
        keys[(r->first + i / r->each) * count + at + i % r->each] = ty_order_key(r, words[i]);
    return status;
}

/* Whether the first and the last rank are all that is asked for, of one group that is packed. */
static int are_extremes(const ty_device *device, const ty_order_source *source,
                        const uint64_t *ranks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (ranks[i] != 0 && ranks[i] != source->elements - 1)
            return 0;
    return source->groups == 1 &&
           ty_order_is_packed(device, source, (unsigned)source->samples->size);
}

tally_status ty_order_refuse_recording(const ty_order_run *r, tally_error *error)
{
    return r->recording ? ty_error(error, TALLY_ERROR_UNSUPPORTED,
                                   "stream: it is recording a graph, and the answer goes to the "
                                   "host, which would have to wait")
                        : TALLY_OK;
}

static tally_status find_extremes(tally_context *context, const ty_order_source *source,
                                  const uint64_t *ranks, uint32_t count, int64_t *keys,
                                  uint64_t *nan, tally_error *error)
{
    ty_order_run r;
    uint64_t found[3] = {0}; /* smallest, largest, NaN */
    tally_status status = ty_order_begin(&r, context, source, TY_ORDER_EXTREMES, error);
    if (!status)
        status = ty_order_refuse_recording(&r, error);
    if (!status)
        status = ty_order_extremes(&r, error);
    if (!status)
        status = r.device->ops->download(r.device, r.queue, found, r.state, 0, sizeof found, error);
    status = ty_order_end(&r, status, 0, error);
    for (uint32_t i = 0; i < count && !status; i++)
        keys[i] = ty_order_key(&r, found[ranks[i] != 0]);
    if (!status)
        *nan = found[2];
    return status;
}

static tally_status find_keys(tally_context *context, const ty_order_source *source,
                              const uint64_t *ranks, uint32_t count, int64_t *keys, uint64_t *nan,
                              tally_error *error)
{
    ty_order_run r;
    uint64_t *words = NULL;
    if (are_extremes(context->state, source, ranks, count))
        return find_extremes(context, source, ranks, count, keys, nan, error);
    tally_status status = ty_order_begin(&r, context, source, TY_ORDER_ALL, error);
    if (!status)
        status = ty_order_refuse_recording(&r, error);
    const uint32_t most = count < ORDER_RANKS ? count : ORDER_RANKS;
    const uint64_t groups = source->groups < most_groups(most) ? source->groups : most_groups(most);
    if (!status && !(words = ty_malloc(groups * most * sizeof *words)))
        status = ty_error_memory(error, "quantiles", groups * most * sizeof *words);
    for (; r.first < source->groups && !status; r.first += r.groups) {
        const uint64_t left = source->groups - r.first;
        for (uint32_t at = 0; at < count && !status; at += r.each) {
            status = lay_out(&r, left < groups ? left : groups,
                             count - at < most ? count - at : most, error);
            r.counted = source->mask != NULL;
            if (!status)
                status = find_round(&r, ranks, count, at, words, keys, nan, error);
        }
    }
    status =
        ty_order_end(&r, status, 0, error); /* before the memory that copies are on their way to */
    ty_free(words);
    return status;
}

/* Quantiles [at, at + each/2) of `count`, of a round of groups, to the caller's memory. */
static tally_status quantile_round(ty_order_run *r, uint32_t method, int skip, const double *q,
                                   uint32_t count, uint32_t at, void *out, tally_error *error)
{
    const ty_grid *samples = r->source->samples;
    const uint32_t number = r->each / 2;
    const uint64_t all = (r->groups * number + r->group_size - 1) / r->group_size;
    uint64_t bits[TY_ORDER_PAIRS];
    memcpy(bits, q + at, number * sizeof *bits);
    r->counted = r->source->mask || (skip && ty_dtype_is_float(samples->dtype));
    const ty_arg ranks[] = {ty_arg_memory(r->state),    ty_arg_u64(r->q),
                            ty_arg_u32(number),         ty_arg_u64(r->groups),
                            ty_arg_u32(method),         ty_arg_u64(r->source->elements),
                            ty_arg_u64(r->kinds),       ty_arg_u32((uint32_t)r->counted),
                            ty_arg_u32((uint32_t)skip), ty_arg_u64(r->ranks),
                            ty_arg_u64(r->parts)};
    const ty_arg finish[] = {ty_arg_memory(r->state),
                             ty_arg_u32(number),
                             ty_arg_u64(r->groups),
                             ty_arg_u32((uint32_t)skip),
                             ty_arg_u64(r->ranks),
                             ty_arg_u64(r->parts),
                             ty_arg_u64(r->found),
                             ty_arg_u64(r->nan),
                             ty_arg_memory((ty_memory)(uintptr_t)out),
                             ty_arg_u64(r->first * count + at),
                             ty_arg_u64(count)};
    tally_status status = ty_order_put(r, r->q, bits, number, error);
    if (!status && r->counted)
        status = ty_order_count(r, error);
    if (!status)
        status = TY_ORDER_LAUNCH(r, "order_ranks", all, 0, ranks, error);
    if (!status)
        status = ty_order_search(r, error);
    return status ? status : TY_ORDER_LAUNCH(r, "order_finish", all, 0, finish, error);
}

static tally_status quantiles(tally_context *context, const ty_order_source *source,
                              tally_quantile_method method, int skip, const double *q,
                              uint32_t count, void *out, tally_error *error)
{
    ty_order_run r;
    const uint32_t most = count < TY_ORDER_PAIRS ? count : TY_ORDER_PAIRS;
    tally_status status = ty_order_begin(&r, context, source, TY_ORDER_ALL, error);
    if (!status && !r.device->has_fp64)
        status = ty_error(error, TALLY_ERROR_UNSUPPORTED,
                          "out: the device has no float64; take the quantiles to host memory");
    for (; r.first < source->groups && !status; r.first += r.groups) {
        const uint64_t left = source->groups - r.first, groups = most_groups(2 * most);
        for (uint32_t at = 0; at < count && !status; at += r.each / 2) {
            status = lay_out(&r, left < groups ? left : groups,
                             2 * (count - at < most ? count - at : most), error);
            if (!status)
                status = quantile_round(&r, (uint32_t)method, skip, q, count, at, out, error);
        }
    }
    return ty_order_end(&r, status, source->stream != NULL, error);
}

const ty_order_ops ty_gpu_order = {kinds, find_keys, quantiles, ty_order_weighted};
