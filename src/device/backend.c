/*
 * The kernels' backends, "opencl" and "cuda": one algorithm over device.h. A run takes a workspace
 * (queue, buffers) from its plan's list, so that a repeated call allocates nothing and calls from
 * several threads do not meet.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "device/kernel.h"
#include "device/kernels_file.h"
#include "kernels/text.h"
#include "methods/registry.h"

enum { stage_bytes = 16 << 20 }; /* host data go over in pieces of this size, packing overlapped */

typedef struct workspace {
    void *queue;
    ty_memory axis, out, scratch, totals, samples[2];
    size_t out_bytes, scratch_bytes, samples_bytes;
    unsigned char *stage[2];   /* pinned */
    unsigned char *axis_image; /* what was uploaded; kept until the queue is closed, for a wait may
                                  fail with the copy still pending */
    uint64_t *host;            /* totals of one histogram, `cells` */
    struct workspace *next;
} workspace;

typedef struct {
    void *program;
    int origin;
    pthread_mutex_t lock;
    workspace *idle;
} device_plan;

static ty_device *device_of(const tally_plan *plan)
{
    return plan->context->state;
}

/* ---- contexts ---- */

static tally_status open_with(const ty_device_ops *ops, tally_context *context,
                              const tally_context_options *options, tally_error *error)
{
    ty_device *device = NULL;
    tally_status status = ops->open((uint32_t)options->index, options->native, &device, error);
    context->state = device;
    return status;
}

static void backend_close(tally_context *context)
{
    ty_device *device = context->state;
    device->ops->close(device);
}

/* "cuda-sm_90"; "opencl-w32" where work-items run in warps. */
static void backend_arch(const tally_context *context, char *arch, size_t size)
{
    const ty_device *device = context->state;
    if (device->capability)
        snprintf(arch, size, "%s-sm_%" PRIu32, device->ops->name, device->capability);
    else
        snprintf(arch, size, "%s-w%" PRIu32, device->ops->name, device->warp);
}

/* ---- plans ---- */

void ty_shape_standard(const tally_plan *plan, const ty_device *device, uint64_t n, ty_shape *shape)
{
    uint32_t size = device->group_max < 256 ? device->group_max : 256;
    uint64_t needed = (n + size - 1) / size;
    uint32_t per_unit = device->warp == 32 ? device->unit_threads / size : 4;
    uint64_t most = (uint64_t)device->units * (per_unit ? per_unit : 1);
    memset(shape, 0, sizeof *shape);
    shape->groups = (uint32_t)(needed < 1 ? 1 : needed < most ? needed : most);
    shape->group_size = size;
    shape->partials = shape->groups;
    shape->cells = (uint32_t)plan->slots;
    shape->passes = 1;
    shape->slab = UINT64_C(1) << 31;
    shape->raw_shift = -1;
}

tally_status ty_kernel_supports(const tally_plan *plan, tally_error *error)
{
    if (plan->options.dimensions > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "kernels count one dimension; joint tables are counted on the cpu");
    if (plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "kernels count samples; weights are summed on the cpu");
    if (!ty_plan_device(plan)->has_fp64 && tally_dtype_bytes(plan->options.dtypes[0]) > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "the device has no float64, which exact binning of %s needs",
                        tally_dtype_name(plan->options.dtypes[0]));
    return TALLY_OK;
}

tally_status ty_kernel_setting_fits(const tally_plan *plan, const char *key, uint32_t most,
                                    tally_error *error)
{
    const char *set = ty_plan_setting(plan, key);
    if (set && strtoull(set, NULL, 10) > most)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s=%s: this device takes %" PRIu32 " at most", key, set, most);
    return TALLY_OK;
}

/* dialect, bin, sample, words, merge, then the method: one text for both runtimes. */
char *ty_kernel_text(const ty_kernel_method *kernel)
{
    const char *parts[] = {ty_text_dialect_h, ty_text_bin_h, ty_text_sample_h,
                           ty_text_words_h,   ty_text_merge, kernel->text};
    size_t size = 1, at = 0;
    for (int i = 0; i < 6; i++)
        size += strlen(parts[i]);
    char *text = ty_malloc(size);
    if (!text)
        return NULL;
    for (int i = 0; i < 6; i++) {
        memcpy(text + at, parts[i], strlen(parts[i]));
        at += strlen(parts[i]);
    }
    text[at] = '\0';
    return text;
}

void ty_kernel_options(const tally_plan *plan, const ty_device *device, const ty_shape *shape,
                       char *options, size_t size)
{
    snprintf(options, size, "-DTY_DTYPE=%d -DTY_EVEN=%d -DTY_WARP=%u -DTY_GROUP_MAX=%u%s%s%s",
             (int)plan->options.dtypes[0], plan->axes[0].even, device->warp, shape->group_size,
             device->has_fp64 ? "" : " -DTY_NO_FP64", shape->defines[0] ? " " : "", shape->defines);
}

static tally_status build(tally_plan *plan, device_plan *own, tally_error *error)
{
    const ty_kernel_method *kernel = plan->method->backend;
    ty_device *device = device_of(plan);
    ty_shape shape;
    char options[512];
    kernel->shape(plan, device, UINT64_C(1) << 31, &shape);
    ty_kernel_options(plan, device, &shape, options, sizeof options);
    char *text = ty_kernel_text(kernel);
    if (!text)
        return ty_error_memory(error, "a kernel's text", 1);
    tally_status status =
        device->ops->build(device, text, options, &own->program, &own->origin, error);
    ty_free(text);
    return status;
}

static tally_status prepare(tally_plan *plan, tally_error *error)
{
    device_plan *own = ty_calloc(1, sizeof *own);
    if (!own)
        return ty_error_memory(error, "a plan", sizeof *own);
    pthread_mutex_init(&own->lock, NULL);
    plan->state = own;
    tally_status status = build(plan, own, error);
    if (status)
        return status;
    static const char *const origins[] = {"compiled", "from the disk cache",
                                          "from the kernels file"};
    size_t at = strlen(plan->text);
    at += (size_t)snprintf(plan->text + at, sizeof plan->text - at, "; kernel %s",
                           origins[own->origin]);
    if (own->origin == TY_COMPILED && device_of(plan)->capability && at < sizeof plan->text)
        snprintf(plan->text + at, sizeof plan->text - at, " (kernels file: %s)",
                 ty_kernels_describe());
    return TALLY_OK;
}

static void workspace_close(ty_device *device, workspace *w)
{
    if (w->queue)
        device->ops->wait(device, w->queue, NULL);
    device->ops->release(device, w->axis);
    device->ops->release(device, w->out);
    device->ops->release(device, w->scratch);
    device->ops->release(device, w->totals);
    for (int i = 0; i < 2; i++) {
        device->ops->release(device, w->samples[i]);
        device->ops->pinned_free(device, w->stage[i]);
    }
    if (w->queue)
        device->ops->queue_close(device, w->queue);
    ty_free(w->axis_image);
    ty_free(w->host);
    ty_free(w);
}

static void finish(tally_plan *plan)
{
    device_plan *own = plan->state;
    if (!own)
        return;
    ty_device *device = device_of(plan);
    while (own->idle) {
        workspace *w = own->idle;
        own->idle = w->next;
        workspace_close(device, w);
    }
    device->ops->program_close(device, own->program);
    pthread_mutex_destroy(&own->lock);
    ty_free(own);
}

tally_status tally_plan_kernel(const tally_plan *plan, uint64_t n, tally_kernel_info *info,
                               tally_error *error)
{
    if (!plan || !info || info->struct_size != sizeof *info)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "plan or info is NULL or info's struct_size is not set");
    if (plan->context->device == TALLY_DEVICE_CPU)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s on the cpu is no kernel",
                        tally_plan_method(plan));
    const ty_kernel_method *kernel = plan->method->backend;
    if (kernel->enqueue)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s launches several kernels",
                        tally_plan_method(plan));
    ty_device *device = device_of(plan);
    ty_kernel_stats stats = {0};
    ty_shape shape;
    kernel->shape(plan, device, n, &shape);
    stats.launched_size = shape.group_size;
    stats.launched_local = shape.local_bytes;
    tally_status status = device->ops->stats(device, ((const device_plan *)plan->state)->program,
                                             "count", &stats, error);
    if (status)
        return status;
    *info = (tally_kernel_info){sizeof *info,          shape.groups,
                                shape.group_size,      shape.local_bytes + stats.static_local_bytes,
                                stats.registers,       stats.spill_bytes,
                                stats.groups_per_unit, device->units,
                                device->unit_threads};
    return TALLY_OK;
}

/* ---- workspaces ---- */

/* The axis as kernels read it: ty_bins, then at byte 64 its table. */
static tally_status make_axis(const tally_plan *plan, ty_device *device, workspace *w,
                              tally_error *error)
{
    const ty_axis *axis = &plan->axes[0];
    const void *table = axis->byte_slots ? (const void *)axis->byte_slots : axis->edges;
    size_t bytes = axis->byte_slots ? 256 * sizeof *axis->byte_slots
                   : axis->edges    ? ((size_t)axis->bins.bins + 1) * sizeof *axis->edges
                                    : 0;
    w->axis_image = ty_calloc(1, 64 + bytes);
    if (!w->axis_image)
        return ty_error_memory(error, "an axis", 64 + bytes);
    memcpy(w->axis_image, &axis->bins, sizeof axis->bins);
    if (bytes)
        memcpy(w->axis_image + 64, table, bytes);
    tally_status status = device->ops->alloc(device, 64 + bytes, &w->axis, error);
    if (!status)
        status =
            device->ops->upload(device, w->queue, w->axis, 0, w->axis_image, 64 + bytes, error);
    if (!status)
        status = device->ops->wait(device, w->queue, error);
    return status;
}

static tally_status workspace_make(const tally_plan *plan, const ty_shape *shape, workspace **made,
                                   tally_error *error)
{
    ty_device *device = device_of(plan);
    workspace *w = ty_calloc(1, sizeof *w);
    if (!w)
        return ty_error_memory(error, "a workspace", sizeof *w);
    w->host = ty_malloc((size_t)shape->cells * sizeof *w->host);
    tally_status status =
        w->host ? TALLY_OK : ty_error_memory(error, "a workspace", shape->cells * 8);
    if (!status)
        status = device->ops->queue_open(device, NULL, &w->queue, error);
    if (!status)
        status = make_axis(plan, device, w, error);
    if (!status)
        status = device->ops->alloc(device, (size_t)shape->cells * 8, &w->totals, error);
    if (status)
        workspace_close(device, w);
    else
        *made = w;
    return status;
}

static tally_status workspace_take(const tally_plan *plan, const ty_shape *shape, workspace **taken,
                                   tally_error *error)
{
    device_plan *own = plan->state;
    pthread_mutex_lock(&own->lock);
    workspace *w = own->idle;
    if (w)
        own->idle = w->next;
    pthread_mutex_unlock(&own->lock);
    *taken = w;
    return w ? TALLY_OK : workspace_make(plan, shape, taken, error);
}

static void workspace_give(const tally_plan *plan, workspace *w)
{
    device_plan *own = plan->state;
    pthread_mutex_lock(&own->lock);
    w->next = own->idle;
    own->idle = w;
    pthread_mutex_unlock(&own->lock);
}

/* At least `bytes` of device memory; what was in it is lost. */
static tally_status need(ty_device *device, ty_memory *memory, size_t *size, size_t bytes,
                         tally_error *error)
{
    if (bytes <= *size)
        return TALLY_OK;
    device->ops->release(device, *memory);
    *memory = 0;
    *size = 0;
    tally_status status = device->ops->alloc(device, bytes, memory, error);
    if (!status)
        *size = bytes;
    return status;
}

static tally_status need_out(ty_device *device, workspace *w, const ty_shape *shape,
                             tally_error *error)
{
    size_t bytes = (size_t)shape->partials * shape->cells * sizeof(uint32_t);
    tally_status status = need(device, &w->out, &w->out_bytes, bytes, error);
    if (!status)
        status = need(device, &w->scratch, &w->scratch_bytes, shape->scratch_bytes, error);
    return status;
}

static tally_status need_stages(ty_device *device, workspace *w, size_t bytes, tally_error *error)
{
    if (w->samples_bytes >= bytes)
        return TALLY_OK;
    for (int i = 0; i < 2; i++) {
        device->ops->release(device, w->samples[i]);
        device->ops->pinned_free(device, w->stage[i]);
        w->samples[i] = 0;
        w->stage[i] = NULL;
    }
    w->samples_bytes = 0;
    for (int i = 0; i < 2; i++) {
        tally_status status = device->ops->alloc(device, bytes, &w->samples[i], error);
        if (status)
            return status;
        void *block;
        status = device->ops->pinned_alloc(device, bytes, &block, error);
        if (status)
            return status;
        w->stage[i] = block;
    }
    w->samples_bytes = bytes;
    return TALLY_OK;
}

/* ---- counting ---- */

/* One call in progress. */
typedef struct {
    ty_job *job;
    ty_device *device;
    const ty_kernel_method *kernel;
    void *program;
    workspace *w;
    void *queue; /* the workspace's, or one around the caller's stream */
    uint64_t done;
} run;

/* The usual way: `passes` launches of the kernel `count` over the same samples. */
static tally_status enqueue_passes(const ty_slab *slab, tally_error *error)
{
    const ty_shape *shape = slab->shape;
    tally_status status = TALLY_OK;
    for (uint32_t pass = 0; pass < shape->passes && !status; pass++) {
        ty_arg args[] = {ty_arg_memory(slab->data),
                         ty_arg_u64(slab->offset),
                         ty_arg_u64(slab->n),
                         ty_arg_memory(slab->axis),
                         ty_arg_u32((uint32_t)slab->plan->slots),
                         ty_arg_memory(slab->out),
                         ty_arg_u32(pass)};
        ty_launch launch = {shape->groups, shape->group_size, shape->local_bytes, args, 7};
        status = ty_slab_launch(slab, "count", &launch, error);
    }
    return status;
}

/* Closes `from` and adds the device's seconds since it to *seconds, waiting for them. */
static tally_status add_seconds(run *r, void *from, double *seconds, tally_error *error)
{
    const ty_device_ops *ops = r->device->ops;
    void *to = NULL;
    tally_status status = ops->mark(r->device, r->queue, &to, error);
    if (!status)
        status = ops->wait(r->device, r->queue, error);
    *seconds += status ? 0 : ops->elapsed(r->device, from, to);
    ops->mark_close(r->device, from);
    ops->mark_close(r->device, to);
    return status;
}

static tally_status merge_partials(run *r, const ty_slab *slab, tally_error *error)
{
    const ty_device_ops *ops = r->device->ops;
    const ty_shape *shape = slab->shape;
    void *from = NULL;
    ty_arg args[] = {ty_arg_memory(slab->out), ty_arg_u32(shape->partials),
                     ty_arg_u32(shape->cells), ty_arg_memory(r->w->totals)};
    int rows = shape->partials > shape->cells;
    ty_launch merge = {rows ? shape->cells : (shape->cells + 255) / 256, 256, rows ? 2048 : 0, args,
                       4};
    tally_status status = TALLY_OK;
    if (r->job->merge_seconds)
        status = ops->mark(r->device, r->queue, &from, error);
    if (!status)
        status = ty_slab_launch(slab, rows ? "merge_rows" : "merge", &merge, error);
    if (from && !status)
        return add_seconds(r, from, r->job->merge_seconds, error);
    ops->mark_close(r->device, from);
    return status;
}

static tally_status launch_slab(run *r, ty_memory data, uint64_t offset, uint64_t n,
                                const ty_shape *shape, tally_error *error)
{
    const ty_device_ops *ops = r->device->ops;
    const workspace *w = r->w;
    ty_slab slab = {r->job->plan, shape, r->device, r->queue, r->program, data,
                    offset,       n,     w->axis,   w->out,   w->scratch};
    tally_status status = TALLY_OK;
    if (shape->cleared)
        status = ops->clear(r->device, r->queue, w->out, 0,
                            (size_t)shape->partials * shape->cells * 4, error);
    if (!status)
        status = (r->kernel->enqueue ? r->kernel->enqueue : enqueue_passes)(&slab, error);
    return status ? status : merge_partials(r, &slab, error);
}

/* n samples of device memory, in slabs; adds the device's seconds if they are asked for. */
static tally_status count_device(run *r, ty_memory data, uint64_t offset, uint64_t n,
                                 tally_error *error)
{
    const ty_device_ops *ops = r->device->ops;
    void *from = NULL;
    tally_status status = TALLY_OK;
    if (r->job->device_seconds)
        status = ops->mark(r->device, r->queue, &from, error);
    while (n && !status) {
        ty_shape shape;
        r->kernel->shape(r->job->plan, r->device, n, &shape);
        uint64_t slab = n < shape.slab ? n : shape.slab;
        if (slab != n)
            r->kernel->shape(r->job->plan, r->device, slab, &shape);
        status = need_out(r->device, r->w, &shape, error);
        if (!status)
            status = launch_slab(r, data, offset, slab, &shape, error);
        offset += slab * r->job->samples[0].size;
        n -= slab;
    }
    if (from && !status)
        return add_seconds(r, from, r->job->device_seconds, error);
    ops->mark_close(r->device, from);
    return status;
}

static tally_status report(run *r, uint64_t n, tally_error *error)
{
    ty_job *job = r->job;
    r->done += n;
    if (job->progress &&
        job->progress(job->user, r->done / job->plan->active_count, job->batches * job->elements))
        return ty_error(error, TALLY_ERROR_CANCELLED, "cancelled");
    return TALLY_OK;
}

/* Elements [begin, begin+n) packed into `to`, masked ones left out; returns how many are there. */
static uint64_t pack(const ty_job *job, uint64_t batch, uint64_t channel, uint64_t begin,
                     uint64_t n, unsigned char *to)
{
    const ty_grid *g = &job->samples[0];
    const unsigned char *from = ty_grid_block(g, batch, channel, begin, n, to);
    if (!job->mask.data) {
        if (from != to)
            memcpy(to, from, (size_t)n * g->size);
        return n;
    }
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (*ty_grid_at(&job->mask, batch, begin + i, 0)) {
            memmove(to + kept * g->size, from + i * g->size, g->size);
            kept++;
        }
    }
    return kept;
}

/* One histogram's samples from host memory: while the device counts a piece, the next is packed. */
static tally_status count_host(run *r, uint64_t batch, uint64_t channel, uint64_t *masked,
                               tally_error *error)
{
    const ty_device_ops *ops = r->device->ops;
    ty_job *job = r->job;
    uint64_t piece = stage_bytes / job->samples[0].size, most = job->elements;
    tally_status status = need_stages(
        r->device, r->w, (size_t)(most < piece ? most : piece) * job->samples[0].size, error);
    int turn = 0;
    for (uint64_t begin = 0; begin < job->elements && !status; turn ^= 1) {
        uint64_t n = job->elements - begin < piece ? job->elements - begin : piece;
        uint64_t kept = pack(job, batch, channel, begin, n, r->w->stage[turn]);
        *masked += n - kept;
        status = ops->wait(r->device, r->queue, error); /* the piece before last is done with */
        if (!status)
            status = ops->upload(r->device, r->queue, r->w->samples[turn], 0, r->w->stage[turn],
                                 (size_t)kept * job->samples[0].size, error);
        if (!status)
            status = count_device(r, r->w->samples[turn], 0, kept, error);
        if (!status)
            status = report(r, n, error);
        begin += n;
    }
    return status;
}

/* Device samples have to be packed, for a kernel reads them as one line. */
static tally_status count_pointer(run *r, uint64_t batch, tally_error *error)
{
    ty_job *job = r->job;
    const ty_grid *g = &job->samples[0];
    if (job->mask.data || g->channels != 1 || g->column_stride != (int64_t)g->size ||
        (g->rows > 1 && g->row_stride != (int64_t)(g->columns * g->size)))
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "samples in device memory are counted packed, in one channel, without a mask");
    uint64_t offset = (uint64_t)((int64_t)batch * g->batch_stride), bytes = 0;
    uintptr_t start =
        r->device->ops->extent ? 0 : (uintptr_t)g->data; /* an object starts aligned */
    if ((start + offset) & (g->size - 1))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "samples in device memory must be aligned to their %u bytes", g->size);
    tally_status status = TALLY_OK;
    if (r->device->ops->extent)
        status = r->device->ops->extent(r->device, (ty_memory)(uintptr_t)g->data, &bytes, error);
    if (!status && r->device->ops->extent &&
        (offset > bytes || (bytes - offset) / g->size < job->elements))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "view 0: %" PRIu64 " samples from byte %" PRId64
                        " are not all inside the memory object's %" PRIu64 " bytes",
                        job->elements, (int64_t)offset, bytes);
    if (!status)
        status = count_device(r, (ty_memory)(uintptr_t)g->data, offset, job->elements, error);
    return status ? status : report(r, job->elements, error);
}

/* Cells to slots: as they are, or through the byte's table for methods that count raw values. */
static void add_cells(const tally_plan *plan, const ty_shape *shape, const uint64_t *cells,
                      uint64_t *totals)
{
    for (uint32_t c = 0; c < shape->cells; c++) {
        uint32_t slot = shape->raw_shift < 0 ? c : plan->axes[0].byte_slots[c << shape->raw_shift];
        totals[slot] += cells[c];
    }
}

static tally_status count_histogram(run *r, uint64_t batch, uint64_t active, tally_error *error)
{
    const ty_device_ops *ops = r->device->ops;
    ty_job *job = r->job;
    const tally_plan *plan = job->plan;
    uint64_t *totals = job->totals + (batch * plan->active_count + active) * plan->slots;
    ty_shape shape;
    r->kernel->shape(plan, r->device, job->elements, &shape);
    tally_status status =
        ops->clear(r->device, r->queue, r->w->totals, 0, (size_t)shape.cells * 8, error);
    if (!status)
        status = job->view_device == TALLY_DEVICE_CPU
                     ? count_host(r, batch, plan->active[active],
                                  &totals[plan->bins + TY_SLOT_MASKED], error)
                     : count_pointer(r, batch, error);
    if (!status)
        status = ops->download(r->device, r->queue, r->w->host, r->w->totals, 0,
                               (size_t)shape.cells * 8, error);
    if (!status)
        status = ops->wait(r->device, r->queue, error);
    if (!status)
        add_cells(plan, &shape, r->w->host, totals);
    return status;
}

static tally_status backend_run(ty_job *job, tally_error *error)
{
    const tally_plan *plan = job->plan;
    device_plan *own = plan->state;
    run r = {.job = job,
             .device = device_of(plan),
             .kernel = plan->method->backend,
             .program = own->program};
    if (!job->batches || !job->elements)
        return TALLY_OK;
    ty_shape shape;
    r.kernel->shape(plan, r.device, job->elements, &shape);
    tally_status status = workspace_take(plan, &shape, &r.w, error);
    if (status)
        return status;
    r.queue = r.w->queue;
    if (job->stream)
        status = r.device->ops->queue_open(r.device, job->stream, &r.queue, error);
    for (uint64_t b = 0; b < job->batches && !status; b++) {
        for (uint64_t a = 0; a < plan->active_count && !status; a++)
            status = count_histogram(&r, b, a, error);
    }
    /* What is still under way uses the workspace. */
    if (status)
        r.device->ops->wait(r.device, r.queue, NULL);
    if (job->stream && r.queue != r.w->queue)
        r.device->ops->queue_close(r.device, r.queue);
    /* After a failure the queue may be in any state: such a workspace is not used again. */
    if (status && status != TALLY_ERROR_CANCELLED && status != TALLY_ERROR_UNSUPPORTED)
        workspace_close(r.device, r.w);
    else
        workspace_give(plan, r.w);
    return status;
}

/* ---- the two backends ---- */

static void info_with(const ty_device_ops *ops, int32_t index, tally_device_info *info)
{
    tally_error error = {""};
    snprintf(info->id, sizeof info->id, "%s", ops->name);
    if (!ops->count(info->reason, sizeof info->reason))
        return;
    if (ops->describe((uint32_t)index, info, &error)) {
        info->available = 0;
        snprintf(info->reason, sizeof info->reason, "%.255s", error.message);
    }
}

#define BACKEND(kind, type)                                                                        \
    static uint32_t kind##_count(void)                                                             \
    {                                                                                              \
        char reason[256];                                                                          \
        return ty_##kind##_ops.count(reason, sizeof reason);                                       \
    }                                                                                              \
    static void kind##_info(int32_t index, tally_device_info *info)                                \
    {                                                                                              \
        info_with(&ty_##kind##_ops, index, info);                                                  \
    }                                                                                              \
    static tally_status kind##_open(tally_context *context, const tally_context_options *options,  \
                                    tally_error *error)                                            \
    {                                                                                              \
        return open_with(&ty_##kind##_ops, context, options, error);                               \
    }                                                                                              \
    const ty_backend ty_##kind##_backend = {                                                       \
        type,         #kind,   kind##_count, kind##_info, kind##_open, backend_close,              \
        backend_arch, prepare, finish,       1,           backend_run,                             \
    };

BACKEND(opencl, TALLY_DEVICE_OPENCL)
BACKEND(cuda, TALLY_DEVICE_CUDA)
