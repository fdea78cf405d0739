/*
 * Runs of methods whose kernel takes any layout (kernels/view.h): samples in device memory where
 * they lie, as many histograms a launch as the tables' memory allows; samples of the host one
 * histogram after the other, in pieces whose columns are packed and sent together.
 */
#include <inttypes.h>
#include <string.h>

#include "core/error.h"
#include "device/run.h"

enum {
    table_bytes = 256 << 20, /* of a launch's partial histograms */
    most_grids = TALLY_MAX_DIMENSIONS + 2,
    most_args = 5 * most_grids + 20,
    probe_stride = 32 /* of long inputs one line in so many is looked at for its weights' size */
};

/* A grid on the device: bytes from the memory's begin, and strides. */
typedef struct grid {
    ty_memory memory;
    uint64_t at;
    int64_t batch, row, column;
} grid;

/* What one or more launches read: elements [begin, end) of histograms [h, h + count). */
typedef struct piece {
    grid samples[TALLY_MAX_DIMENSIONS], mask, weights;
    int masked;
    int64_t channel, weight_channel;
    uint64_t columns, begin, end, h, count;
} piece;

/* ---- grids ---- */

/* The bytes of a grid lie inside the caller's memory object. */
static tally_status check_extent(const ty_run *run, const ty_grid *g, const char *what,
                                 tally_error *error)
{
    const uint64_t extents[4] = {g->batches, g->rows, g->columns, g->channels};
    const int64_t strides[4] = {g->batch_stride, g->row_stride, g->column_stride,
                                g->channel_stride};
    int64_t low = 0, high = g->size;
    uint64_t bytes = 0;
    if (!run->device->ops->extent)
        return TALLY_OK;
    for (int i = 0; i < 4; i++) {
        int64_t span = (int64_t)(extents[i] - 1) * strides[i];
        low += span < 0 ? span : 0;
        high += span > 0 ? span : 0;
    }
    tally_status status =
        run->device->ops->extent(run->device, (ty_memory)(uintptr_t)g->data, &bytes, error);
    if (!status && (low < 0 || (uint64_t)high > bytes))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: its samples, bytes %" PRId64 " to %" PRId64
                        ", are not all inside the memory object's %" PRIu64 " bytes",
                        what, low, high, bytes);
    return status;
}

static grid grid_of(const ty_grid *g)
{
    return (grid){(ty_memory)(uintptr_t)g->data, 0, g->batch_stride, g->row_stride,
                  g->column_stride};
}

static unsigned put_grid(ty_arg *args, unsigned n, const grid *g)
{
    args[n++] = ty_arg_memory(g->memory);
    args[n++] = ty_arg_u64(g->at);
    args[n++] = ty_arg_u64((uint64_t)g->batch);
    args[n++] = ty_arg_u64((uint64_t)g->row);
    args[n++] = ty_arg_u64((uint64_t)g->column);
    return n;
}

/* ---- launches ---- */

/* Groups a histogram, so that all histograms together fill the device. */
static uint32_t parts_of(const ty_shape *shape, int packed, uint64_t elements, uint64_t histograms)
{
    const uint32_t groups = packed ? shape->packed_groups : shape->groups;
    const uint64_t size = packed ? shape->packed_size : shape->group_size;
    const uint64_t useful = elements / (size * 16) + 1;
    uint64_t parts = (groups + histograms - 1) / histograms;
    parts = parts < useful ? parts : useful;
    return (uint32_t)(parts ? parts : 1);
}

/* Histograms that one line of groups counts. */
static uint64_t together(const ty_run *run)
{
    const int there = run->job->view_device != TALLY_DEVICE_CPU;
    return run->kernel->pixels && there ? run->job->plan->active_count : 1;
}

/* The arguments of `count` up to the axis. */
static unsigned put_grids(const ty_run *run, const piece *p, ty_arg *args)
{
    const tally_plan *plan = run->job->plan;
    unsigned n = 0;
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        n = put_grid(args, n, &p->samples[d]);
    args[n++] = ty_arg_u64((uint64_t)p->channel);
    n = put_grid(args, n, p->masked ? &p->mask : &p->samples[0]);
    args[n++] = ty_arg_u32((uint32_t)p->masked);
    if (plan->weighted) {
        n = put_grid(args, n, &p->weights);
        args[n++] = ty_arg_u64((uint64_t)p->weight_channel);
    }
    return n;
}

/* And those from the axis up to `parts`. */
static unsigned put_extents(const ty_run *run, const piece *p, uint32_t parts, ty_arg *args,
                            unsigned n)
{
    args[n++] = ty_arg_memory(run->w->axis);
    args[n++] = ty_arg_u64(p->columns);
    args[n++] = ty_arg_u64(p->begin);
    args[n++] = ty_arg_u64(p->end);
    args[n++] = ty_arg_u64(p->h);
    args[n++] = ty_arg_u32((uint32_t)run->job->plan->active_count);
    args[n++] = ty_arg_u32(parts);
    return n;
}

/* By a method of several kernels, a histogram at a time. */
static tally_status launch_own(ty_run *run, const piece *p, const ty_shape *shape,
                               tally_error *error)
{
    ty_arg args[most_args];
    const ty_slab slab = {.plan = run->job->plan,
                          .shape = shape,
                          .device = run->device,
                          .queue = run->queue,
                          .program = run->program,
                          .offset = p->begin,
                          .n = p->end - p->begin,
                          .axis = run->w->axis,
                          .out = run->w->out,
                          .scratch = run->w->scratch,
                          .grids = args,
                          .grid_count = put_grids(run, p, args),
                          .batch = p->h / run->job->plan->active_count,
                          .recording = run->recording};
    tally_status status = run->kernel->enqueue(&slab, error);
    return status ? status : ty_deliver_partials(run, shape, 1, error);
}

static tally_status launch_counts(ty_run *run, const piece *p, const ty_shape *shape,
                                  uint32_t parts, tally_error *error)
{
    ty_arg args[most_args];
    if (run->kernel->enqueue)
        return launch_own(run, p, shape, error);
    unsigned n = put_extents(run, p, parts, args, put_grids(run, p, args));
    args[n++] = ty_arg_u32((uint32_t)run->job->plan->slots);
    args[n++] = ty_arg_u32(shape->copies);
    args[n++] = ty_arg_memory(run->w->out);
    if (run->kernel->keyed)
        args[n++] = ty_arg_u32(ty_kernel_key(run->job->plan));
    const uint32_t lines = (uint32_t)(p->count / together(run));
    ty_launch count = {lines * parts, shape->group_size, shape->local_bytes, args, n};
    tally_status status =
        run->device->ops->launch(run->device, run->queue, run->program, "count", &count, error);
    return status ? status : ty_deliver_partials(run, shape, shape->cleared ? 1 : parts, error);
}

/* ---- sums of weights ---- */

/* Whether a grid's elements, of four bytes, follow each other and are aligned. */
static int packed_words(const ty_run *run, const grid *g, int64_t channel)
{
    const uint64_t start = run->device->ops->extent ? 0 : g->memory;
    return g->column == 4 && ((start | g->at | (uint64_t)g->batch | (uint64_t)channel) & 3) == 0;
}

/* Whether a piece is one for kernels/weighted_packed.cl. */
static int packed(const ty_run *run, const piece *p, const ty_shape *shape)
{
    return shape->packed_copies && !p->masked && p->columns >= p->end &&
           packed_words(run, &p->samples[0], p->channel) &&
           packed_words(run, &p->weights, p->weight_channel);
}

static uint32_t log2_above(uint64_t n)
{
    uint32_t k = 0;
    while (UINT64_C(1) << k < n)
        k++;
    return k;
}

/* Weights that are float64s, or whose squares are, need to know how large they get. */
static int probes(const tally_plan *plan)
{
    const tally_dtype w = plan->options.weight_dtype;
    return w == TALLY_F32 || w == TALLY_F64 ||
           (plan->options.sum_squares && tally_dtype_bytes(w) == 8);
}

static tally_status launch_sums(ty_run *run, const piece *p, const ty_shape *shape, uint32_t parts,
                                tally_error *error)
{
    const ty_device_ops *ops = run->device->ops;
    const tally_plan *plan = run->job->plan;
    const uint64_t elements = p->end - p->begin;
    const uint32_t groups = (uint32_t)p->count * parts, room = log2_above(elements);
    const int fast = packed(run, p, shape);
    const uint32_t stride = shape->cleared || elements < 1 << 20 ? 1 : probe_stride;
    const uint32_t rounds = probes(plan) && stride > 1 ? 2 : 1;
    ty_arg args[most_args];
    tally_status status =
        ops->clear(run->device, run->queue, run->w->scratch, 0, shape->scratch_bytes, error);
    if (!status && probes(plan)) {
        unsigned n = put_grid(args, 0, &p->weights);
        args[n++] = ty_arg_u64((uint64_t)p->weight_channel);
        n = put_extents(run, p, parts, args, n);
        args[n++] = ty_arg_u32(stride);
        args[n++] = ty_arg_memory(run->w->scratch);
        ty_launch probe = {groups, shape->group_size, 4, args, n};
        status = ops->launch(run->device, run->queue, run->program, fast ? "probe_packed" : "probe",
                             &probe, error);
    }
    for (uint32_t round = 0; round < rounds && !status; round++) {
        unsigned n = put_extents(run, p, parts, args, put_grids(run, p, args));
        args[n++] = ty_arg_u32((uint32_t)plan->slots);
        args[n++] = ty_arg_u32(shape->copies);
        args[n++] = ty_arg_u32(room);
        args[n++] = ty_arg_u32(round);
        args[n++] = ty_arg_u32((uint32_t)p->count);
        args[n++] = ty_arg_memory(run->w->scratch);
        args[n++] = ty_arg_memory(run->w->out);
        ty_launch count = {groups, fast ? shape->packed_size : shape->group_size,
                           fast ? shape->packed_bytes : shape->local_bytes, args, n};
        status = ops->launch(run->device, run->queue, run->program, fast ? "count_packed" : "count",
                             &count, error);
    }
    return status ? status : ty_deliver_sums(run, shape->cleared ? 1 : parts, room, error);
}

static tally_status launch(ty_run *run, const piece *p, const ty_shape *shape, uint32_t parts,
                           tally_error *error)
{
    tally_status status = TALLY_OK;
    if (ty_bytes_serves(run, shape)) {
        status = ty_bytes_launch(run, shape, p->h, p->count, parts, error);
        return status || parts == 1 ? status : ty_deliver_partials(run, shape, parts, error);
    }
    if (shape->cleared)
        status = run->device->ops->clear(run->device, run->queue, run->w->out, 0,
                                         (size_t)p->count * shape->cells * sizeof(uint32_t), error);
    if (status)
        return status;
    return (run->job->plan->weighted ? launch_sums : launch_counts)(run, p, shape, parts, error);
}

/* A piece in slabs of elements; adds the device's seconds if they are asked for. */
static tally_status count_piece(ty_run *run, const piece *whole, tally_error *error)
{
    const ty_device_ops *ops = run->device->ops;
    ty_shape shape;
    piece p = *whole;
    void *from = NULL;
    tally_status status = TALLY_OK;
    if (run->job->device_seconds)
        status = ops->mark(run->device, run->queue, &from, error);
    for (p.begin = whole->begin; p.begin < whole->end && !status; p.begin = p.end) {
        run->kernel->shape(run->job->plan, run->device, whole->end - p.begin, &shape);
        p.end = whole->end - p.begin < shape.slab ? whole->end : p.begin + shape.slab;
        const int rows = ty_bytes_serves(run, &shape);
        uint32_t parts = rows ? ty_bytes_parts(run, &shape, p.count / run->job->plan->active_count)
                              : parts_of(&shape, packed(run, &p, &shape), p.end - p.begin,
                                         p.count / together(run));
        shape.partials =
            rows && parts == 1 ? 0 : (uint32_t)p.count * (shape.cleared && !rows ? 1 : parts);
        if (run->job->plan->weighted)
            shape.scratch_bytes = (size_t)p.count * (4 + run->job->plan->slots) * sizeof(uint32_t);
        status = ty_workspace_out(run->device, run->w, &shape, error);
        if (!status)
            status = launch(run, &p, &shape, parts, error);
    }
    if (from && !status)
        return ty_add_seconds(run, from, run->job->device_seconds, error);
    ops->mark_close(run->device, from);
    return status;
}

/* No element at all: zeros, as the sum of no partials. */
static tally_status count_nothing(ty_run *run, const piece *p, tally_error *error)
{
    ty_shape shape;
    run->kernel->shape(run->job->plan, run->device, 1, &shape);
    if (run->job->plan->weighted)
        shape.scratch_bytes = (size_t)p->count * (4 + run->job->plan->slots) * sizeof(uint32_t);
    tally_status status = ty_workspace_out(run->device, run->w, &shape, error);
    if (!status && shape.scratch_bytes)
        status = run->device->ops->clear(run->device, run->queue, run->w->scratch, 0,
                                         shape.scratch_bytes, error);
    if (status)
        return status;
    return run->job->plan->weighted ? ty_deliver_sums(run, 0, 0, error)
                                    : ty_deliver_partials(run, &shape, 0, error);
}

/* ---- samples on the device ---- */

/* Histograms that one launch may count. */
static uint64_t histograms_at_once(const ty_run *run)
{
    const ty_job *job = run->job;
    ty_shape shape;
    run->kernel->shape(job->plan, run->device, job->elements, &shape);
    const int rows = ty_bytes_serves(run, &shape);
    const uint64_t each = rows ? job->plan->active_count : together(run);
    uint64_t parts = rows            ? ty_bytes_parts(run, &shape, job->batches)
                     : shape.cleared ? 1
                                     : parts_of(&shape, 0, job->elements, job->histograms / each);
    if (shape.packed_copies) {
        const uint64_t fast = parts_of(&shape, 1, job->elements, job->histograms);
        parts = parts < fast ? fast : parts;
    }
    if (run->kernel->enqueue)
        return 1;
    uint64_t most = table_bytes / (parts * shape.cells * sizeof(uint64_t));
    const uint64_t wide = parts > shape.cells / 16 + 2 ? parts : shape.cells / 16 + 2;
    const uint64_t groups = (UINT64_C(1) << 31) / wide;
    most = most < groups ? most : groups;
    most = most < 1 ? 1 : most < job->histograms ? most : job->histograms;
    /* All channels of a batch go together. */
    return most < each ? each : most / each * each;
}

static tally_status count_there(ty_run *run, tally_error *error)
{
    const ty_job *job = run->job;
    piece p = {.masked = job->mask.data != NULL,
               .channel = job->samples[0].channel_stride,
               .columns = job->samples[0].columns,
               .end = job->elements};
    tally_status status = TALLY_OK;
    for (uint32_t d = 0; d < job->plan->options.dimensions && !status; d++) {
        p.samples[d] = grid_of(&job->samples[d]);
        if (job->elements)
            status = check_extent(run, &job->samples[d], "view", error);
    }
    if (p.masked && !status && job->elements)
        status = check_extent(run, &job->mask, "mask", error);
    if (job->weights.data && !status && job->elements)
        status = check_extent(run, &job->weights, "weights", error);
    p.mask = grid_of(&job->mask);
    p.weights = grid_of(&job->weights);
    p.weight_channel = job->weights.channel_stride;
    const uint64_t most = histograms_at_once(run);
    for (p.h = 0; p.h < job->histograms && !status; p.h += p.count) {
        p.count = job->histograms - p.h < most ? job->histograms - p.h : most;
        status = ty_deliver_begin(run, p.h, p.count, error);
        if (!status)
            status = job->elements ? count_piece(run, &p, error) : count_nothing(run, &p, error);
        if (!status)
            status = ty_deliver_end(run, error);
        if (!status)
            status = ty_count_report(run, p.count * job->elements, error);
    }
    return status;
}

/* ---- samples on the host ---- */

static tally_status count_batch(ty_run *run, const ty_load *load, uint64_t n, tally_error *error)
{
    const ty_job *job = run->job;
    grid grids[most_grids] = {0};
    unsigned c = 0;
    for (; c < load->count; c++)
        grids[c] = (grid){run->w->samples, load->columns[c].at, 0, 0, load->columns[c].grid->size};
    piece p = {.masked = job->mask.data != NULL, .columns = n, .end = n, .h = load->h, .count = 1};
    for (c = 0; c < job->plan->options.dimensions; c++)
        p.samples[c] = grids[c];
    if (p.masked)
        p.mask = grids[c++];
    if (job->weights.data)
        p.weights = grids[c];
    return count_piece(run, &p, error);
}

/* A mask goes over like samples: the kernels look at it. */
static tally_status count_sent(ty_run *run, uint64_t h, tally_error *error)
{
    const ty_job *job = run->job;
    const tally_plan *plan = job->plan;
    const uint64_t channel = plan->active[h % plan->active_count];
    ty_load load = {.batch = h / plan->active_count, .count_batch = count_batch, .h = h};
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        ty_load_add(&load, &job->samples[d], channel);
    if (job->mask.data)
        ty_load_add(&load, &job->mask, 0);
    if (job->weights.data)
        ty_load_add(&load, &job->weights, channel);
    tally_status status = ty_deliver_begin(run, h, 1, error);
    if (!status && job->elements)
        status = ty_send(run, &load, error);
    return status ? status : ty_deliver_end(run, error);
}

static tally_status count_here(ty_run *run, tally_error *error)
{
    tally_status status = TALLY_OK;
    for (uint64_t h = 0; h < run->job->histograms && !status; h++)
        status = count_sent(run, h, error);
    return status;
}

/* ---- kernels that take packed samples only ---- */

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

int ty_kernel_reads(const ty_kernel_method *kernel, const ty_job *job, const ty_device *device)
{
    const uint64_t channels = job->samples[0].channels;
    if (kernel->views && !kernel->packed)
        return 1;
    int packed = channels == 1 || (kernel->pixels && !job->mask.data);
    packed = packed &&
             (!job->mask.data || (kernel->packed && is_packed(&job->mask, kernel->rows, device)));
    for (uint32_t d = 0; d < job->plan->options.dimensions; d++)
        packed = packed && is_packed(&job->samples[d], kernel->rows, device);
    return packed;
}

tally_status ty_count_views(ty_run *run, tally_error *error)
{
    if (run->job->view_device == TALLY_DEVICE_CPU)
        return count_here(run, error);
    if (run->kernel->packed && run->job->elements &&
        !ty_kernel_reads(run->kernel, run->job, run->device))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "method %s counts samples in device memory that are packed%s, aligned "
                        "and%s in one channel, and so is a mask; auto and views take any layout",
                        run->job->plan->method->name,
                        run->kernel->rows ? " or in long packed rows" : "",
                        run->kernel->pixels ? ", with a mask," : "");
    return count_there(run, error);
}
