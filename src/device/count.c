/* Counting one histogram: samples in device memory where they lie, samples of the host as send.c
 * brings them. */
#include <inttypes.h>

#include "core/error.h"
#include "core/random.h"
#include "device/run.h"
#include "methods/registry.h"

tally_status ty_add_seconds(ty_run *r, void *from, double *seconds, tally_error *error)
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

uint32_t ty_kernel_key(const tally_plan *plan)
{
    const uint32_t key = (uint32_t)ty_method_parameter(plan, "key");
    return key ? key : ty_random_u32();
}

/* The usual way: `passes` launches of the kernel `count` over the same samples. */
static tally_status enqueue_passes(const ty_slab *slab, tally_error *error)
{
    const ty_kernel_method *kernel = slab->plan->method->backend;
    const ty_shape *shape = slab->shape;
    const ty_device_ops *ops = slab->device->ops;
    tally_status status = TALLY_OK;
    for (uint32_t pass = 0; pass < shape->passes && !status; pass++) {
        ty_arg args[8 + TY_FINISH_COUNT] = {ty_arg_memory(slab->data),
                                            ty_arg_u64(slab->offset),
                                            ty_arg_u64(slab->n),
                                            ty_arg_memory(slab->axis),
                                            ty_arg_u32((uint32_t)slab->plan->slots),
                                            ty_arg_memory(slab->out),
                                            ty_arg_u32(pass),
                                            ty_arg_u32(slab->key)};
        unsigned count = kernel->keyed ? 8 : 7;
        for (unsigned i = 0; kernel->finishes && i < TY_FINISH_COUNT; i++)
            args[count++] = slab->finish[i];
        ty_launch launch = {shape->groups, shape->group_size, shape->local_bytes, args, count};
        status = (slab->early ? ops->launch_early : ops->launch)(
            slab->device, slab->queue, slab->program, "count", &launch, error);
    }
    return status;
}

static tally_status launch_slab(ty_run *r, ty_memory data, uint64_t offset, uint64_t n,
                                const ty_shape *shape, tally_error *error)
{
    const ty_device_ops *ops = r->device->ops;
    const ty_workspace *w = r->w;
    r->key = r->kernel->keyed ? ty_kernel_key(r->job->plan) : 0;
    ty_slab slab = {.plan = r->job->plan,
                    .shape = shape,
                    .device = r->device,
                    .queue = r->queue,
                    .program = r->program,
                    .data = data,
                    .offset = offset,
                    .n = n,
                    .axis = w->axis,
                    .out = w->out ? w->out : w->table, /* an argument has to be some memory */
                    .scratch = w->scratch,
                    .recording = r->recording,
                    .key = r->key,
                    .early = r->kernel->finishes && !r->recording};
    tally_status status = TALLY_OK;
    if (r->kernel->finishes)
        ty_deliver_args(r, shape, slab.finish);
    if (shape->cleared)
        status = ops->clear(r->device, r->queue, w->out, 0,
                            (size_t)shape->partials * shape->cells * 4, error);
    if (!status)
        status = (r->kernel->enqueue ? r->kernel->enqueue : enqueue_passes)(&slab, error);
    if (status || shape->delivers)
        return status;
    return ty_deliver_partials(r, shape, shape->partials, error);
}

/* How n samples are launched: a repeated call asks for the same again. */
static const ty_shape *shape_for(ty_run *r, uint64_t n)
{
    ty_workspace *w = r->w;
    if (w->shaped != n)
        r->kernel->shape(r->job->plan, r->device, n, &w->shape);
    w->shaped = n;
    return &w->shape;
}

/* n samples of device memory, in slabs; adds the device's seconds if they are asked for. */
static tally_status count_device(ty_run *r, ty_memory data, uint64_t offset, uint64_t n,
                                 tally_error *error)
{
    const ty_device_ops *ops = r->device->ops;
    void *from = NULL;
    tally_status status = TALLY_OK;
    if (r->job->device_seconds)
        status = ops->mark(r->device, r->queue, &from, error);
    while (n && !status) {
        const ty_shape *shape = shape_for(r, n);
        const uint64_t slab = n < shape->slab ? n : shape->slab;
        shape = shape_for(r, slab);
        if (!shape->delivers || shape->scratch_bytes)
            status = ty_workspace_out(r->device, r->w, shape, error);
        if (!status)
            status = launch_slab(r, data, offset, slab, shape, error);
        offset += slab * r->job->samples[0].size;
        n -= slab;
    }
    if (from && !status)
        return ty_add_seconds(r, from, r->job->device_seconds, error);
    ops->mark_close(r->device, from);
    return status;
}

/* An output in device memory is written as the call goes on: it cannot be cancelled any more. */
tally_status ty_count_report(ty_run *r, uint64_t n, tally_error *error)
{
    ty_job *job = r->job;
    r->done += n;
    if (job->progress && !job->output->on_device &&
        job->progress(job->user, r->done / job->plan->active_count, job->batches * job->elements))
        return ty_error(error, TALLY_ERROR_CANCELLED, "cancelled");
    return TALLY_OK;
}

static tally_status count_batch(ty_run *r, const ty_load *load, uint64_t n, tally_error *error)
{
    return count_device(r, r->w->samples, load->columns[0].at, n, error);
}

static tally_status count_host(ty_run *r, uint64_t batch, uint64_t channel, uint64_t *masked,
                               tally_error *error)
{
    const ty_job *job = r->job;
    ty_load load = {
        .batch = batch, .mask = job->mask.data ? &job->mask : NULL, .count_batch = count_batch};
    ty_load_add(&load, &job->samples[0], channel);
    tally_status status = ty_send(r, &load, error);
    *masked += load.masked;
    return status;
}

static tally_status count_pointer(ty_run *r, uint64_t batch, tally_error *error)
{
    ty_job *job = r->job;
    const ty_grid *g = &job->samples[0];
    uint64_t offset = (uint64_t)((int64_t)batch * g->batch_stride), bytes = 0;
    if (!ty_kernel_reads(r->kernel, job, r->device))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "method %s counts samples in device memory that are packed, aligned, in "
                        "one channel and without a mask; auto and views take any layout",
                        job->plan->method->name);
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
    return status ? status : ty_count_report(r, job->elements, error);
}

tally_status ty_count_histogram(ty_run *r, uint64_t batch, uint64_t active, tally_error *error)
{
    ty_job *job = r->job;
    const tally_plan *plan = job->plan;
    const uint64_t h = batch * plan->active_count + active;
    tally_status status = ty_deliver_begin(r, h, 1, error);
    if (!status && job->elements)
        status = job->view_device == TALLY_DEVICE_CPU
                     ? count_host(r, batch, plan->active[active],
                                  &ty_job_flows(job, h)[TY_SLOT_MASKED], error)
                     : count_pointer(r, batch, error);
    if (!status && r->fresh) { /* nothing was counted: the sum of no partials */
        ty_shape shape;
        r->kernel->shape(plan, r->device, 1, &shape);
        status = ty_workspace_out(r->device, r->w, &shape, error);
        if (!status)
            status = ty_deliver_partials(r, &shape, 0, error);
    }
    return status ? status : ty_deliver_end(r, error);
}
