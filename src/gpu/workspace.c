/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/workspace.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

_Static_assert(sizeof(ty_bins) <= 48, "an axis' policies lie behind it");

enum {
    most_busy = 32,        /* workspaces that wait for streams, before the device is waited for */
    most_pinned = 64 << 20 /* of a workspace's totals */
};

/* ---- making ---- */

static tally_status upload_image(ty_device *device, ty_workspace *w, unsigned char *image,
                                 size_t bytes, ty_memory *memory, tally_error *error)
{
    tally_status status = device->ops->alloc(device, bytes, memory, error);
    if (!status)
        status = device->ops->upload(device, w->queue, *memory, 0, image, bytes, error);
    return status;
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
                              tally_error *error)
{
    size_t bytes = (size_t)plan->active_count * sizeof(uint32_t), at = 0;
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        bytes += axis_bytes(&plan->axes[d]);
    unsigned char *image = w->images[0] = ty_calloc(1, bytes);
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
    return upload_image(device, w, image, bytes, &w->axes, error);
}

/* For merge.cl: where each slot's values begin in a list of all, then the list. */
tally_status ty_workspace_raw_slots(const tally_plan *plan, ty_workspace *w, unsigned shift,
                                    tally_error *error)
{
    const uint32_t *slots = plan->axes[0].byte_slots;
    const uint32_t values = 256u >> shift;
    ty_device *device = plan->context->state;
    if (w->raw_slots)
        return TALLY_OK;
    size_t bytes = ((size_t)plan->slots + 1 + values) * sizeof(uint32_t);
    uint32_t *begins = ty_calloc(1, bytes);
    if (!begins)
        return ty_error_memory(error, "an axis", bytes);
    uint32_t *list = begins + plan->slots + 1;
    w->images[1] = (unsigned char *)begins;
    for (uint32_t v = 0; v < values; v++)
        begins[slots[v << shift] + 1]++;
    w->raw_longest = 0;
    for (uint64_t s = 0; s < plan->slots; s++) {
        w->raw_longest = w->raw_longest > begins[s + 1] ? w->raw_longest : begins[s + 1];
        begins[s + 1] += begins[s];
    }
    /* From behind, so that each slot's end moves to its begin and back. */
    for (uint32_t v = 0; v < values; v++)
        list[begins[slots[v << shift]]++] = v;
    for (uint64_t s = plan->slots; s > 0; s--)
        begins[s] = begins[s - 1];
    begins[0] = 0;
    tally_status status = upload_image(device, w, w->images[1], bytes, &w->raw_slots, error);
    return status ? status : device->ops->wait(device, w->queue, error);
}

/* A word for each slot, and one for tickets. */
tally_status ty_workspace_table(const tally_plan *plan, ty_workspace *w, tally_error *error)
{
    const size_t bytes = ((size_t)plan->slots + 1) * sizeof(uint32_t);
    ty_device *device = plan->context->state;
    if (w->table)
        return TALLY_OK;
    tally_status status = device->ops->alloc(device, bytes, &w->table, error);
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

void ty_workspaces_close(ty_device *device, ty_workspaces *own)
{
    int busy = own->recorded != NULL;
    for (const ty_workspace *w = own->idle; w; w = w->next)
        busy |= w->busy;
    if (busy)
        drain(device, own->idle, NULL);
    ty_workspace **lists[] = {&own->idle, &own->recorded};
    for (int i = 0; i < 2; i++) {
        while (*lists[i]) {
            ty_workspace *w = *lists[i];
            *lists[i] = w->next;
            ty_workspace_close(device, w);
        }
    }
}

/* Unlinks the best idle workspace for `stream`: the one of its last run, else one that nothing is
 * under way on. */
static ty_workspace *pick(ty_workspaces *own, const void *stream, unsigned *busy)
{
    ty_workspace **best = NULL;
    *busy = 0;
    for (ty_workspace **at = &own->idle; *at; at = &(*at)->next) {
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
        w = pick(own, stream, &busy);
    if (!w && busy >= most_busy) {
        status = drain(device, own->idle, error);
        for (w = own->idle; w; w = w->next)
            w->busy = 0;
        w = status ? NULL : pick(own, stream, &busy);
    }
    pthread_mutex_unlock(&own->lock);
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
    if (status || w->axes) {
        *taken = w;
        return status;
    }
    status = make_axes(plan, device, w, error);
    if (!status)
        status = device->ops->wait(device, w->queue, error);
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
    return TALLY_OK;
}

tally_status ty_workspace_totals(const tally_plan *plan, ty_workspace *w, uint64_t histograms,
                                 tally_error *error)
{
    size_t bytes = (size_t)(histograms * ty_totals_words(plan)) * sizeof *w->host;
    if (w->histograms >= histograms)
        return TALLY_OK;
    size_t had = (size_t)(w->histograms * ty_totals_words(plan)) * sizeof *w->host;
    w->histograms = 0;
    tally_status status = make_host(plan->context->state, w, bytes, error);
    if (!status)
        status = need(plan->context->state, w, &w->totals, &had, bytes, error);
    w->histograms = status ? 0 : histograms;
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
