/* SPDX-License-Identifier: Apache-2.0 */
/* The main path on a graphics processor: a call taken apart into what one launch takes. */
#include "core/error.h"
#include "gpu/call.h"
#include "gpu/statistics.h"
#include "gpu/views.h"

/* ---- the caller's clock and progress ---- */

tally_status ty_call_seconds(ty_call *c, void *from, double *seconds, tally_error *error)
{
    const ty_device_ops *ops = c->device->ops;
    void *to = NULL;
    tally_status status = ops->event_record(c->device, c->queue, &to, error);
    if (!status)
        status = ops->wait(c->device, c->queue, error);
    *seconds += status ? 0 : ops->elapsed(c->device, from, to);
    ops->event_close(c->device, from);
    ops->event_close(c->device, to);
    return status;
}

/* An output in device memory is written as the call goes on: it cannot be cancelled any more. */
tally_status ty_call_report(ty_call *c, uint64_t n, tally_error *error)
{
    const ty_job *job = c->job;
    c->done += n;
    if (job->progress && !job->output->on_device &&
        job->progress(job->user, c->done / c->plan->active_count, job->batches * job->elements))
        return ty_error(error, TALLY_ERROR_CANCELLED, "cancelled");
    return TALLY_OK;
}

/* Outputs in device memory cannot be taken back: their caller is asked once, ahead. */
static tally_status ask(const ty_job *job, tally_error *error)
{
    if (job->output->on_device && job->progress &&
        job->progress(job->user, 0, job->batches * job->elements))
        return ty_error(error, TALLY_ERROR_CANCELLED, "cancelled");
    return TALLY_OK;
}

/* ---- the steps of a call ---- */

void ty_call_size(ty_call *c, uint64_t end)
{
    const ty_gpu_method *method = ty_gpu_method_of(c->plan);
    ty_workspace *w = c->w;
    for (c->n = end - c->begin;; c->n = w->geometry.most) {
        if (w->geometry_n != c->n)
            method->geometry(c->plan, c->device, c->n, &w->geometry);
        w->geometry_n = c->n;
        if (c->n <= w->geometry.most)
            break;
    }
    c->geometry = w->geometry;
}

/* The route, a workspace of its plan, and what does not change while the job is counted. A caller's
 * progress function may make another device current, and call Tally for it. A stream that records
 * has to be known before a route's kernels are loaded. */
static tally_status begin(ty_call *c, tally_error *error)
{
    const ty_job *job = c->job;
    const ty_device_ops *ops = c->device->ops;
    tally_status status = ask(job, error);
    if (status)
        return status;
    if (ops->enter && !job->progress)
        ops->enter(c->device);
    c->entered = ops->enter && !job->progress;
    if (job->stream && ops->recording)
        status = ops->recording(c->device, job->stream, &c->recording, error);
    if (status)
        return status;
    if (c->recording)
        c->capture_mode = ops->relax(-1);
    status = ty_route_of(job, &c->plan, error);
    if (status)
        return status;
    if (!job->statistics) /* each column of values has its own */
        c->program = ((const ty_gpu_plan *)c->plan->state)->program->handle;
    status = ty_workspace_take(c->plan, job->stream, c->recording, &c->w, error);
    if (status)
        return status;
    c->queue = job->stream ? c->w->borrowed : c->w->queue;
    status = job->statistics ? TALLY_OK : ty_store_check(c, error);
    return status ? status : ty_views_begin(c, error);
}

/* The histograms from c->h on that are counted together. */
static tally_status begin_histograms(ty_call *c, void **event, tally_error *error)
{
    const ty_job *job = c->job;
    const ty_gpu_method *method = ty_gpu_method_of(c->plan);
    const int there = job->view_device != TALLY_DEVICE_CPU;
    c->begin = 0;
    c->count = there ? 1 : ty_upload_together(c);
    if (there && method->histograms && job->elements) {
        const uint64_t most = method->histograms(c);
        c->count = job->histograms - c->h < most ? job->histograms - c->h : most;
    }
    tally_status status = ty_store_begin(c, error);
    if (!status && job->device_seconds && there)
        status = c->device->ops->event_record(c->device, c->queue, event, error);
    return status;
}

/* Waits for the stored counts and adds them to the job's totals, unless another call has taken
 * them over. */
static tally_status take_histograms(ty_call *c, tally_error *error)
{
    tally_status status = c->added ? TALLY_OK : ty_store_end(c, error);
    if (!status && c->job->view_device != TALLY_DEVICE_CPU)
        status = ty_call_report(c, c->count * c->job->elements, error);
    return status;
}

static tally_status end_histograms(ty_call *c, void *event, tally_error *error)
{
    tally_status status = TALLY_OK;
    if (event)
        status = ty_call_seconds(c, event, c->job->device_seconds, error);
    if (!status)
        status = ty_store_fetch(c, error);
    return status ? status : take_histograms(c, error);
}

/* Ends a call and gives its workspace back. Without a stream of the caller's it waits until the
 * output is written. After a failure it waits too, for the device may still use the workspace, and
 * closes it, for its queue may be in any state. */
static tally_status end(ty_call *c, tally_status status, tally_error *error)
{
    const ty_device_ops *ops = c->device->ops;
    const int there = c->job->output->on_device, stream = c->job->stream != NULL;
    const int by_host = there && !c->job->statistics && ty_store_by_host(c->job);
    if (c->w && !status && there && !stream && !by_host)
        status = ops->wait(c->device, c->queue, error);
    else if (c->w && status && !c->recording)
        ops->wait(c->device, c->queue, NULL);
    const int sound =
        !status || status == TALLY_ERROR_CANCELLED || status == TALLY_ERROR_UNSUPPORTED;
    if (c->w && (sound || c->recording))
        ty_workspace_give(c->plan, c->w, c->recording, !status && there && stream && !by_host);
    else if (c->w)
        ty_workspace_close(c->device, c->w);
    if (c->recording)
        ops->relax(c->capture_mode);
    if (c->entered)
        ops->leave(c->device);
    return status;
}

/* Queues all work of the next histograms, from c->h on. */
static tally_status put_histograms(ty_call *c, void **event, tally_error *error)
{
    const ty_job *job = c->job;
    const int there = job->view_device != TALLY_DEVICE_CPU;
    tally_status status = begin_histograms(c, event, error);
    if (!status && !there && job->elements)
        status = ty_upload(c, error);
    for (; c->begin < job->elements && !status && there; c->begin += c->n) {
        ty_call_size(c, job->elements);
        status = ty_gpu_method_of(c->plan)->enqueue(c, error);
    }
    if (status)
        c->device->ops->event_close(c->device, *event);
    return status;
}

/* Counts all histograms. Without `ends` the last ones are queued but not waited for. */
static tally_status run_histograms(ty_call *c, int ends, tally_error *error)
{
    tally_status status = TALLY_OK;
    while (c->h < c->job->histograms && !status) {
        void *event = NULL;
        status = put_histograms(c, &event, error);
        if (!ends && c->h + c->count >= c->job->histograms)
            break;
        if (!status)
            status = end_histograms(c, event, error);
        c->h += c->count;
    }
    return status;
}

static int is_nothing(const ty_job *job)
{
    return !job->histograms || (!job->elements && !job->output->on_device);
}

tally_status ty_gpu_run(ty_job *job, tally_error *error)
{
    ty_call c = {.job = job, .device = job->plan->context->state};
    if (is_nothing(job))
        return TALLY_OK;
    tally_status status = begin(&c, error);
    if (!status && job->statistics)
        return end(&c, ty_statistics_run(&c, error), error);
    if (!status && job->output->on_device && ty_store_by_host(job))
        return end(&c, ty_store_through_host(&c, error), error);
    if (!status)
        status = run_histograms(&c, 1, error);
    return end(&c, status, error);
}

tally_status ty_gpu_start(ty_call *c, ty_job *job, int fetches, tally_error *error)
{
    *c = (ty_call){.job = job, .device = job->plan->context->state};
    if (is_nothing(job))
        return TALLY_OK;
    tally_status status = begin(c, error);
    if (!status)
        status = run_histograms(c, 0, error);
    if (!status && fetches)
        status = ty_store_fetch(c, error);
    if (c->entered)
        c->device->ops->leave(c->device);
    return status;
}

tally_status ty_gpu_finish(ty_call *c, tally_status status, tally_error *error)
{
    if (is_nothing(c->job))
        return status;
    if (c->entered)
        c->device->ops->enter(c->device);
    if (!status)
        status = take_histograms(c, error);
    return end(c, status, error);
}
