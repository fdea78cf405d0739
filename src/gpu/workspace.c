/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/workspace.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

_Static_assert(sizeof(ty_bins) <= 48, "an axis' policies lie behind it");

enum {
    most_busy = 32,         /* workspaces that wait for streams, before the device is waited for */
    most_pinned = 64 << 20, /* of a workspace's totals */
    most_parked = 8,        /* workspaces that a device keeps, of so many bytes at most */
    most_parked_bytes = 16 << 20,
    small_bytes = 64 << 10
};

static tally_status need(ty_device *device, ty_workspace *w, ty_memory *memory, size_t *size,
                         size_t bytes, tally_error *error);
static tally_status settle(ty_device *device, ty_workspace *w, tally_error *error);

/* ---- making ---- */

/* Memory to make an image of axes in, zeros: of a workspace that another plan has used it is pinned
 * and goes with the call's own work, which nobody waits for. */
static unsigned char *image_of(ty_device *device, ty_workspace *w, size_t bytes)
{
    const size_t rounded = (bytes + 63) & ~(size_t)63;
    void *block = NULL;
    ty_free(w->images[0]);
    w->images[0] = NULL;
    if (w->axes && rounded <= small_bytes) {
        if (!w->small && !device->ops->pinned_alloc(device, small_bytes, &block, NULL))
            w->small = block;
        if (w->small_used + rounded > small_bytes) {
            if (settle(device, w, NULL))
                return NULL;
            w->small_used = 0;
        }
        if (w->small) {
            unsigned char *image = w->small + w->small_used;
            w->small_used += rounded;
            return memset(image, 0, bytes);
        }
    }
    return w->images[0] = ty_calloc(1, bytes);
}

/* On its way from image_of. */
static tally_status upload_axes(ty_device *device, ty_workspace *w, const unsigned char *image,
                                size_t bytes, int on_stream, tally_error *error)
{
    const ty_device_ops *ops = device->ops;
    const int apart = w->images[0] != NULL;
    tally_status status = apart ? settle(device, w, error) : TALLY_OK;
    if (!status)
        status = need(device, w, &w->axes, &w->axes_bytes, (bytes + 4095) & ~(size_t)4095, error);
    if (!status)
        status = ops->upload(device, on_stream && !apart ? w->borrowed : w->queue, w->axes, 0,
                             image, bytes, error);
    return !status && apart ? ops->wait(device, w->queue, error) : status;
}

static size_t table_bytes(const ty_axis *axis)
{
    return axis->byte_slots ? 256 * sizeof *axis->byte_slots
           : axis->edges    ? ((size_t)axis->bins.bins + 1) * sizeof *axis->edges
                            : 0;
}

/* Where an axis' lookup table lies: no entry in two sectors of a cache. */
static size_t lookup_from(const ty_axis *axis)
{
    return (TY_AXIS_TABLE + table_bytes(axis) + 63) & ~(size_t)63;
}

/* Bytes of an axis, up to where the next one may start. */
static size_t axis_bytes(const ty_axis *axis)
{
    return (lookup_from(axis) + (size_t)axis->lookup.words * 4 + 63) & ~(size_t)63;
}

static void put_decider(const ty_axis *axis, unsigned char *image)
{
    ty_lookup lookup = axis->lookup;
    lookup.bytes = (uint32_t)lookup_from(axis);
    lookup.least += lookup.bytes;
    if (axis->lookup_kind) {
        memcpy(image + TY_AXIS_MAP, &lookup, sizeof lookup);
        memcpy(image + lookup_from(axis), axis->lookup_words, (size_t)lookup.words * 4);
    } else {
        memcpy(image + TY_AXIS_MAP, &axis->map, sizeof axis->map);
    }
}

/* The axes as kernels read them, one behind the other, then the active channels' numbers: each as
 * cell.h says, with what view.h says at byte 48. */
static tally_status make_axes(const tally_plan *plan, ty_device *device, ty_workspace *w,
                              int on_stream, tally_error *error)
{
    size_t bytes = (size_t)plan->active_count * sizeof(uint32_t), at = 0;
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        bytes += axis_bytes(&plan->axes[d]);
    unsigned char *image = image_of(device, w, bytes);
    if (!image)
        return ty_error_memory(error, "an axis", bytes);
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        const ty_axis *axis = &plan->axes[d];
        const void *table = axis->byte_slots ? (const void *)axis->byte_slots : axis->edges;
        const uint32_t about[4] = {(uint32_t)axis->about.under, (uint32_t)axis->about.over,
                                   (uint32_t)axis->about.nan, (uint32_t)(axis_bytes(axis) / 64)};
        memcpy(image + at, &axis->bins, sizeof axis->bins);
        memcpy(image + at + 48, about, sizeof about);
        put_decider(axis, image + at);
        if (table)
            memcpy(image + at + TY_AXIS_TABLE, table, table_bytes(axis));
        at += axis_bytes(axis);
    }
    for (uint64_t a = 0; a < plan->active_count; a++)
        ((uint32_t *)(void *)(image + at))[a] = (uint32_t)plan->active[a];
    return upload_axes(device, w, image, bytes, on_stream, error);
}

/* For merge.cl: where each slot's values begin in a list of all, then the list. */
tally_status ty_workspace_raw_slots(const tally_plan *plan, ty_workspace *w, unsigned shift,
                                    tally_error *error)
{
    const uint32_t *slots = plan->axes[0].byte_slots;
    const uint32_t values = 256u >> shift;
    ty_device *device = plan->context->state;
    if (w->raw_longest)
        return TALLY_OK;
    size_t bytes = ((size_t)plan->slots + 1 + values) * sizeof(uint32_t);
    uint32_t *begins = ty_calloc(1, bytes);
    if (!begins)
        return ty_error_memory(error, "an axis", bytes);
    uint32_t *list = begins + plan->slots + 1;
    ty_free(w->images[1]);
    w->images[1] = (unsigned char *)begins;
    for (uint32_t v = 0; v < values; v++)
        begins[slots[v << shift] + 1]++;
    uint32_t longest = 0;
    for (uint64_t s = 0; s < plan->slots; s++) {
        longest = longest > begins[s + 1] ? longest : begins[s + 1];
        begins[s + 1] += begins[s];
    }
    /* From behind, so that each slot's end moves to its begin and back. */
    for (uint32_t v = 0; v < values; v++)
        list[begins[slots[v << shift]]++] = v;
    for (uint64_t s = plan->slots; s > 0; s--)
        begins[s] = begins[s - 1];
    begins[0] = 0;
    tally_status status = settle(device, w, error);
    if (!status)
        status = need(device, w, &w->raw_slots, &w->raw_bytes, bytes, error);
    if (!status)
        status = device->ops->upload(device, w->queue, w->raw_slots, 0, w->images[1], bytes, error);
    if (!status)
        status = device->ops->wait(device, w->queue, error);
    w->raw_longest = status ? 0 : longest;
    return status;
}

/* A word for each slot, and one for tickets. */
tally_status ty_workspace_table(const tally_plan *plan, ty_workspace *w, tally_error *error)
{
    const size_t bytes = ((size_t)plan->slots + 1) * sizeof(uint32_t);
    ty_device *device = plan->context->state;
    if (w->table_bytes >= bytes)
        return TALLY_OK;
    tally_status status = need(device, w, &w->table, &w->table_bytes, bytes, error);
    if (!status)
        status = device->ops->clear(device, w->queue, w->table, 0, bytes, error);
    return status ? status : device->ops->wait(device, w->queue, error);
}

static tally_status make(ty_device *device, ty_workspace **made, tally_error *error)
{
    ty_workspace *w = ty_calloc(1, sizeof *w);
    if (!w)
        return ty_error_memory(error, "a workspace", sizeof *w);
    tally_status status = device->ops->queue_open(device, NULL, &w->queue, error);
    if (status)
        ty_workspace_close(device, w);
    else
        *made = w;
    return status;
}

static void free_host(ty_device *device, ty_workspace *w)
{
    if (w->host_pinned)
        device->ops->pinned_free(device, w->host);
    else
        ty_free(w->host);
    w->host = NULL;
    w->host_bytes = 0;
}

void ty_workspace_close(ty_device *device, ty_workspace *w)
{
    const ty_device_ops *ops = device->ops;
    if (w->queue)
        ops->wait(device, w->queue, NULL);
    ops->release(device, w->axes);
    ops->release(device, w->raw_slots);
    ops->release(device, w->table);
    ops->release(device, w->partials);
    ops->release(device, w->scratch);
    ops->release(device, w->totals);
    ops->release(device, w->samples);
    ops->pinned_free(device, w->stage);
    ops->pinned_free(device, w->small);
    ops->queue_close(device, w->borrowed);
    ops->queue_close(device, w->queue);
    for (int i = 0; i < 2; i++)
        ty_free(w->images[i]);
    for (int i = 0; i < TY_OUTPUTS; i++)
        ty_free(w->outputs[i]);
    free_host(device, w);
    ty_free(w);
}

/* ---- taking and giving back ---- */

/* Waits for whatever is under way on the workspaces of a list. */
static tally_status drain(ty_device *device, ty_workspace *list, tally_error *error)
{
    tally_status status = TALLY_OK;
    if (device->ops->wait_all)
        return device->ops->wait_all(device, error);
    for (ty_workspace *w = list; w; w = w->next) {
        tally_status one = w->busy ? device->ops->wait(device, w->borrowed, error) : TALLY_OK;
        status = status ? status : one;
    }
    return status;
}

static void close_all(ty_device *device, ty_workspace *list)
{
    int busy = 0;
    for (const ty_workspace *w = list; w; w = w->next)
        busy |= w->busy;
    if (busy)
        drain(device, list, NULL);
    while (list) {
        ty_workspace *w = list;
        list = w->next;
        ty_workspace_close(device, w);
    }
}

/* To the device, unless that has enough: then 0. */
static int park(ty_device *device, ty_workspace *w)
{
    const size_t bytes = w->axes_bytes + w->partials_bytes + w->scratch_bytes + w->samples_bytes +
                         w->totals_bytes + w->table_bytes + w->stage_bytes;
    pthread_mutex_lock(&device->programs_lock);
    const int kept = bytes <= most_parked_bytes && device->parked_count < most_parked;
    if (kept) {
        w->next = device->parked;
        device->parked = w;
        device->parked_count++;
    }
    pthread_mutex_unlock(&device->programs_lock);
    return kept;
}

void ty_workspaces_unpark(ty_device *device)
{
    close_all(device, device->parked);
    device->parked = NULL;
    device->parked_count = 0;
}

void ty_workspaces_close(ty_device *device, ty_workspaces *own)
{
    ty_workspace *others = NULL;
    while (own->recorded) { /* nobody knows whether their graph runs */
        ty_workspace *w = own->recorded;
        own->recorded = w->next;
        w->busy = 1;
        w->next = others;
        others = w;
    }
    while (own->idle) {
        ty_workspace *w = own->idle;
        own->idle = w->next;
        w->ready = 0;
        w->raw_longest = 0;
        w->geometry_n = 0;
        if (!park(device, w)) {
            w->next = others;
            others = w;
        }
    }
    close_all(device, others);
}

/* Unlinks the best idle workspace for `stream`: the one of its last run, else one that nothing is
 * under way on. */
static ty_workspace *pick(ty_workspace **list, const void *stream, unsigned *busy)
{
    ty_workspace **best = NULL;
    *busy = 0;
    for (ty_workspace **at = list; *at; at = &(*at)->next) {
        *busy += (*at)->busy != 0;
        if (stream && (*at)->stream == stream) {
            best = at;
            break;
        }
        if (!best && !(*at)->busy)
            best = at;
    }
    ty_workspace *w = best ? *best : NULL;
    if (w)
        *best = w->next;
    return w;
}

static ty_workspace *take_parked(ty_device *device, const void *stream)
{
    unsigned busy;
    pthread_mutex_lock(&device->programs_lock);
    ty_workspace *w = pick(&device->parked, stream, &busy);
    device->parked_count -= w != NULL;
    pthread_mutex_unlock(&device->programs_lock);
    return w;
}

static tally_status borrow(ty_device *device, ty_workspace *w, void *stream, tally_error *error)
{
    if (!stream || w->stream == stream)
        return TALLY_OK;
    device->ops->queue_close(device, w->borrowed);
    w->borrowed = NULL;
    w->stream = NULL;
    tally_status status = device->ops->queue_open(device, stream, &w->borrowed, error);
    if (!status)
        w->stream = stream;
    return status;
}

tally_status ty_workspaces_take(ty_device *device, ty_workspaces *own, void *stream, int recording,
                                ty_workspace **taken, tally_error *error)
{
    tally_status status = TALLY_OK;
    ty_workspace *w = NULL;
    unsigned busy = 0;
    pthread_mutex_lock(&own->lock);
    if (!recording)
        w = pick(&own->idle, stream, &busy);
    if (!w && busy >= most_busy) {
        status = drain(device, own->idle, error);
        for (w = own->idle; w; w = w->next)
            w->busy = 0;
        w = status ? NULL : pick(&own->idle, stream, &busy);
    }
    pthread_mutex_unlock(&own->lock);
    if (!w && !status && !recording)
        w = take_parked(device, stream);
    if (!w && !status)
        status = make(device, &w, error);
    if (status)
        return status;
    status = borrow(device, w, stream, error);
    if (status)
        ty_workspaces_give(own, w, 0, 0);
    else
        *taken = w;
    return status;
}

void ty_workspaces_give(ty_workspaces *own, ty_workspace *w, int recording, int busy)
{
    pthread_mutex_lock(&own->lock);
    ty_workspace **list = recording ? &own->recorded : &own->idle;
    w->busy = busy;
    w->next = *list;
    *list = w;
    pthread_mutex_unlock(&own->lock);
}

tally_status ty_workspace_take(const tally_plan *plan, void *stream, int recording,
                               ty_workspace **taken, tally_error *error)
{
    ty_gpu_plan *own = plan->state;
    ty_device *device = plan->context->state;
    ty_workspace *w = NULL;
    tally_status status = ty_workspaces_take(device, &own->spaces, stream, recording, &w, error);
    if (status || w->ready) {
        *taken = w;
        return status;
    }
    status = make_axes(plan, device, w, stream != NULL, error);
    w->ready = !status;
    if (status)
        ty_workspace_close(device, w);
    else
        *taken = w;
    return status;
}

void ty_workspace_give(const tally_plan *plan, ty_workspace *w, int recording, int busy)
{
    ty_workspaces_give(&((ty_gpu_plan *)plan->state)->spaces, w, recording, busy);
}

/* ---- buffers ---- */

/* Memory that the stream's last run may still use is not given back under it. */
static tally_status settle(ty_device *device, ty_workspace *w, tally_error *error)
{
    tally_status status = w->busy ? device->ops->wait(device, w->borrowed, error) : TALLY_OK;
    if (!status)
        w->busy = 0;
    return status;
}

/* At least `bytes` of device memory; what was in it is lost. */
static tally_status need(ty_device *device, ty_workspace *w, ty_memory *memory, size_t *size,
                         size_t bytes, tally_error *error)
{
    if (bytes <= *size)
        return TALLY_OK;
    tally_status status = settle(device, w, error);
    if (status)
        return status;
    device->ops->release(device, *memory);
    *memory = 0;
    *size = 0;
    status = device->ops->alloc(device, bytes, memory, error);
    if (!status)
        *size = bytes;
    return status;
}

tally_status ty_workspace_partials(ty_device *device, ty_workspace *w, uint64_t bytes,
                                   tally_error *error)
{
    return need(device, w, &w->partials, &w->partials_bytes, (size_t)bytes, error);
}

tally_status ty_workspace_scratch(ty_device *device, ty_workspace *w, uint64_t bytes,
                                  tally_error *error)
{
    return need(device, w, &w->scratch, &w->scratch_bytes, (size_t)bytes, error);
}

/* Where the device leaves totals: pinned, unless they are many. */
static tally_status make_host(ty_device *device, ty_workspace *w, size_t bytes, tally_error *error)
{
    void *block = NULL;
    free_host(device, w);
    w->host_pinned = bytes <= most_pinned;
    if (w->host_pinned) {
        tally_status status = device->ops->pinned_alloc(device, bytes, &block, error);
        if (status)
            return status;
    } else if (!(block = ty_malloc(bytes))) {
        return ty_error_memory(error, "a workspace", bytes);
    }
    w->host = block;
    w->host_bytes = bytes;
    return TALLY_OK;
}

tally_status ty_workspace_totals(const tally_plan *plan, ty_workspace *w, uint64_t histograms,
                                 tally_error *error)
{
    const size_t bytes = (size_t)(histograms * ty_totals_words(plan)) * sizeof *w->host;
    tally_status status = TALLY_OK;
    if (w->host_bytes < bytes)
        status = make_host(plan->context->state, w, bytes, error);
    if (!status)
        status = need(plan->context->state, w, &w->totals, &w->totals_bytes, bytes, error);
    return status;
}

tally_status ty_workspace_stages(ty_device *device, ty_workspace *w, size_t samples, size_t stage,
                                 tally_error *error)
{
    const ty_device_ops *ops = device->ops;
    tally_status status = need(device, w, &w->samples, &w->samples_bytes, samples, error);
    if (status || w->stage_bytes >= stage)
        return status;
    status = settle(device, w, error);
    if (status)
        return status;
    ops->pinned_free(device, w->stage);
    w->stage = NULL;
    w->stage_bytes = 0;
    void *block;
    status = ops->pinned_alloc(device, stage, &block, error);
    if (status)
        return status;
    w->stage = block;
    w->stage_bytes = stage;
    return TALLY_OK;
}
