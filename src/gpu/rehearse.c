/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call takes of memory, found by making it: the plan's own code runs over a device that does
 * nothing but add up what is asked of it. Of a large call the first batch that is sent from the
 * host takes the most.
 */
#include <pthread.h>

#include "core/alloc.h"
#include "core/error.h"
#include "gpu/call.h"

typedef struct rehearsal {
    ty_device device; /* first: the operations below are given this */
    uint64_t device_bytes, host_bytes;
} rehearsal;

static rehearsal *of(ty_device *device)
{
    return (rehearsal *)(void *)device;
}

static tally_status open_queue(ty_device *device, void *native, void **queue, tally_error *error)
{
    (void)native;
    (void)error;
    *queue = device;
    return TALLY_OK;
}

static void close_any(ty_device *device, void *which)
{
    (void)device;
    (void)which;
}

static tally_status wait_queue(ty_device *device, void *queue, tally_error *error)
{
    (void)device;
    (void)queue;
    (void)error;
    return TALLY_OK;
}

/* What grows in the course of a call is counted as often: it is so that its memory is asked for. */
static tally_status add_memory(ty_device *device, size_t bytes, ty_memory *memory,
                               tally_error *error)
{
    (void)error;
    of(device)->device_bytes += bytes;
    *memory = 1;
    return TALLY_OK;
}

static void release(ty_device *device, ty_memory memory)
{
    (void)device;
    (void)memory;
}

static tally_status upload(ty_device *device, void *queue, ty_memory to, size_t offset,
                           const void *from, size_t bytes, tally_error *error)
{
    (void)to;
    (void)offset;
    (void)from;
    (void)bytes;
    return wait_queue(device, queue, error);
}

static tally_status download(ty_device *device, void *queue, void *to, ty_memory from,
                             size_t offset, size_t bytes, tally_error *error)
{
    (void)to;
    (void)from;
    (void)offset;
    (void)bytes;
    return wait_queue(device, queue, error);
}

static tally_status clear(ty_device *device, void *queue, ty_memory memory, size_t offset,
                          size_t bytes, tally_error *error)
{
    (void)memory;
    (void)offset;
    (void)bytes;
    return wait_queue(device, queue, error);
}

static tally_status add_pinned(ty_device *device, size_t bytes, void **block, tally_error *error)
{
    (void)error;
    of(device)->host_bytes += bytes;
    *block = device; /* no one looks */
    return TALLY_OK;
}

static tally_status launch(ty_device *device, void *queue, void *program, const char *kernel,
                           const ty_launch *how, tally_error *error)
{
    (void)program;
    (void)kernel;
    (void)how;
    return wait_queue(device, queue, error);
}

static const ty_device_ops ops = {
    .name = "rehearsal",
    .queue_open = open_queue,
    .queue_close = close_any,
    .wait = wait_queue,
    .alloc = add_memory,
    .release = release,
    .upload = upload,
    .download = download,
    .clear = clear,
    .pinned_alloc = add_pinned,
    .pinned_free = close_any,
    .launch = launch,
    .event_close = close_any,
};

/* As gpu/run.c and gpu/upload.c do it, from the workspace to the launches. */
static tally_status rehearse(ty_call *c, tally_error *error)
{
    const ty_job *job = c->job;
    uint64_t n = 0;
    tally_status status = ty_workspace_take(c->plan, NULL, 0, &c->w, error);
    if (status)
        return status;
    c->queue = c->w->queue;
    c->count = ty_upload_together(c);
    status = ty_store_begin(c, error);
    if (!status)
        status = ty_upload_reserve(c, &n, error);
    c->count = 1;
    for (uint32_t d = 0; d < c->plan->options.dimensions; d++)
        c->samples[d] =
            (ty_strided){.memory = c->w->samples, .column = (int64_t)job->samples[d].size};
    c->weights = c->samples[0];
    c->columns = n;
    for (; c->begin < n && !status; c->begin += c->n) {
        ty_call_size(c, n);
        status = ty_gpu_method_of(c->plan)->enqueue(c, error);
    }
    if (!c->w->host_pinned)
        of(c->device)->host_bytes += c->w->host_bytes;
    ty_workspace_close(c->device, c->w);
    return status;
}

tally_status ty_gpu_memory(const ty_job *job, uint64_t *host, uint64_t *device, tally_error *error)
{
    const ty_gpu_plan *real = job->plan->state;
    rehearsal r = {.device = *ty_plan_device(job->plan)};
    tally_context context = {.backend = job->plan->context->backend,
                             .device = job->plan->context->device,
                             .pool = job->plan->context->pool,
                             .state = &r.device};
    ty_gpu_plan own = {.program = real->program};
    tally_plan plan = *job->plan;
    ty_job same = *job;
    ty_call call = {
        .job = &same, .plan = &plan, .device = &r.device, .program = real->program->handle};
    r.device.ops = &ops;
    ty_programs_open(&r.device);
    plan.context = &context;
    plan.state = &own;
    same.plan = &plan;
    pthread_mutex_init(&own.spaces.lock, NULL);
    const tally_status status = job->elements ? rehearse(&call, error) : TALLY_OK;
    pthread_mutex_destroy(&own.spaces.lock);
    ty_programs_close(&r.device);
    *host += r.host_bytes;
    *device += r.device_bytes;
    return status;
}
