/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/views.h"

#include <inttypes.h>

#include "core/error.h"

/* ---- what kernels read ---- */

tally_status ty_view_check(ty_device *device, const ty_grid *g, const char *what,
                           tally_error *error)
{
    const uint64_t extents[4] = {g->batches, g->rows, g->columns, g->channels};
    const int64_t strides[4] = {g->batch_stride, g->row_stride, g->column_stride,
                                g->channel_stride};
    int64_t low = 0, high = g->size;
    uint64_t bytes = 0;
    if (!device->ops->extent)
        return TALLY_OK;
    for (int i = 0; i < 4; i++) {
        int64_t span = (int64_t)(extents[i] - 1) * strides[i];
        low += span < 0 ? span : 0;
        high += span > 0 ? span : 0;
    }
    tally_status status = device->ops->extent(device, (ty_memory)(uintptr_t)g->data, &bytes, error);
    if (!status && (low < 0 || (uint64_t)high > bytes))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: its samples, bytes %" PRId64 " to %" PRId64
                        ", are not all inside the memory object's %" PRIu64 " bytes",
                        what, low, high, bytes);
    return status;
}

ty_strided ty_view_strided(const ty_grid *g)
{
    return (ty_strided){(ty_memory)(uintptr_t)g->data, 0, g->batch_stride, g->row_stride,
                        g->column_stride};
}

tally_status ty_views_begin(ty_call *c, tally_error *error)
{
    const ty_job *job = c->job;
    const ty_gpu_method *method = ty_gpu_method_of(c->plan);
    tally_status status = TALLY_OK;
    if (job->view_device == TALLY_DEVICE_CPU || !job->elements)
        return TALLY_OK;
    if (!ty_reads_job(method->reads, job, c->device))
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "method %s counts samples in device memory that are packed%s, aligned%s; "
            "auto and views take any layout",
            c->plan->method->name, method->reads == TY_READS_ROWS ? " or in long packed rows" : "",
            method->reads == TY_READS_COLUMN     ? ", in one channel and without a mask"
            : method->reads == TY_READS_CHANNELS ? " and, with a mask, in one channel"
                                                 : " and in one channel, and so is a mask");
    for (uint32_t d = 0; d < c->plan->options.dimensions && !status; d++) {
        c->samples[d] = ty_view_strided(&job->samples[d]);
        status = ty_view_check(c->device, &job->samples[d], "view", error);
    }
    if (job->mask.data && !status)
        status = ty_view_check(c->device, &job->mask, "mask", error);
    if (job->weights.data && !status)
        status = ty_view_check(c->device, &job->weights, "weights", error);
    c->masked = job->mask.data != NULL;
    c->mask = ty_view_strided(&job->mask);
    c->weights = ty_view_strided(&job->weights);
    c->channel = job->samples[0].channel_stride;
    c->weight_channel = job->weights.channel_stride;
    c->columns = job->samples[0].columns;
    return status;
}

/* Rows with gaps that are worth a few work-items each, as many as one launch counts. */
static int long_rows(const ty_grid *g, const ty_device *device)
{
    enum { fewest_columns = 32 };
    return g->columns >= fewest_columns && g->rows <= (UINT64_C(1) << 31) / g->columns &&
           device->group_max >= 64;
}

static int is_packed(const ty_grid *g, int rows, const ty_device *device)
{
    const uintptr_t start = device->ops->extent ? 0 : (uintptr_t)g->data;
    uint64_t strides = g->batches > 1 ? (uint64_t)g->batch_stride : 0;
    strides |= g->rows > 1 ? (uint64_t)g->row_stride : 0;
    return g->column_stride == (int64_t)(g->size * g->channels) &&
           (g->rows <= 1 || (rows && long_rows(g, device))) &&
           (g->channels == 1 || g->channel_stride == (int64_t)g->size) &&
           ((start | strides) & (g->size - 1)) == 0;
}

int ty_reads_job(int reads, const ty_job *job, const ty_device *device)
{
    const int rows = reads == TY_READS_ROWS, masked = job->mask.data != NULL;
    if (reads == TY_READS_ANY)
        return 1;
    int packed = job->samples[0].channels == 1 || (reads == TY_READS_CHANNELS && !masked);
    if (masked)
        packed = packed && reads != TY_READS_COLUMN && is_packed(&job->mask, rows, device);
    for (uint32_t d = 0; d < job->plan->options.dimensions; d++)
        packed = packed && is_packed(&job->samples[d], rows, device);
    return packed;
}

int ty_view_is_words(const ty_call *c, const ty_strided *g, int64_t channel)
{
    const uint64_t start = c->device->ops->extent ? 0 : g->memory;
    return g->column == 4 && ((start | g->at | (uint64_t)g->batch | (uint64_t)channel) & 3) == 0;
}

/* ---- arguments ---- */

unsigned ty_view_grid(ty_arg *args, unsigned n, const ty_strided *g)
{
    args[n++] = ty_arg_memory(g->memory);
    args[n++] = ty_arg_u64(g->at);
    args[n++] = ty_arg_u64((uint64_t)g->batch);
    args[n++] = ty_arg_u64((uint64_t)g->row);
    args[n++] = ty_arg_u64((uint64_t)g->column);
    return n;
}

unsigned ty_view_grids(const ty_call *c, ty_arg *args)
{
    unsigned n = 0;
    for (uint32_t d = 0; d < c->plan->options.dimensions; d++)
        n = ty_view_grid(args, n, &c->samples[d]);
    args[n++] = ty_arg_u64((uint64_t)c->channel);
    n = ty_view_grid(args, n, c->masked ? &c->mask : &c->samples[0]);
    args[n++] = ty_arg_u32((uint32_t)c->masked);
    if (c->plan->weighted) {
        n = ty_view_grid(args, n, &c->weights);
        args[n++] = ty_arg_u64((uint64_t)c->weight_channel);
    }
    return n;
}

unsigned ty_view_extents(const ty_call *c, uint32_t parts, ty_arg *args, unsigned n)
{
    args[n++] = ty_arg_memory(c->w->axes);
    args[n++] = ty_arg_u64(c->columns);
    args[n++] = ty_arg_u64(c->begin);
    args[n++] = ty_arg_u64(c->begin + c->n);
    args[n++] = ty_arg_u64(c->h);
    args[n++] = ty_arg_u32((uint32_t)c->plan->active_count);
    args[n++] = ty_arg_u32(parts);
    return n;
}

/* ---- how many groups, how many histograms ---- */

uint32_t ty_view_parts(const ty_geometry *g, uint64_t elements, uint64_t histograms)
{
    const uint64_t useful = elements / ((uint64_t)g->group_size * 16) + 1;
    uint64_t parts = (g->groups + histograms - 1) / histograms;
    parts = parts < useful ? parts : useful;
    return (uint32_t)(parts ? parts : 1);
}

uint64_t ty_view_histograms(const ty_call *c, uint64_t parts, uint64_t words, uint64_t together)
{
    enum { most_bytes = 256 << 20 }; /* of a launch's partial histograms */
    const uint64_t wide = parts > words / 16 + 2 ? parts : words / 16 + 2;
    const uint64_t groups = (UINT64_C(1) << 31) / wide, all = c->job->histograms;
    uint64_t most = most_bytes / (parts * words * sizeof(uint64_t));
    most = most < groups ? most : groups;
    most = most < 1 ? 1 : most < all ? most : all;
    return most < together ? together : most / together * together;
}
