/* Where the counts go: a device's own output, or 64-bit totals that are fetched and committed on
 * the host. */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "device/run.h"
#include "kernels/output.h"

static size_t cell_bytes(const tally_plan *plan)
{
    static const size_t sizes[] = {8, 4, 2, 1};
    return plan->weighted ? 8 : sizes[plan->options.counter];
}

static int clamps(tally_flow policy)
{
    return policy == TALLY_FLOW_CLAMP;
}

/* ---- the place ---- */

tally_status ty_deliver_begin(ty_run *run, uint64_t h, uint64_t count, tally_error *error)
{
    const ty_job *job = run->job;
    const tally_plan *plan = job->plan;
    const tally_output *output = job->output;
    const tally_axis *a = &plan->axes[0].about;
    run->fresh = 1;
    if (!output->on_device) {
        tally_status status = ty_workspace_totals(plan, run->w, count, error);
        run->place = (ty_place){run->w->totals,        run->w->totals,    0, 0,
                                (uint32_t)plan->slots, TALLY_COUNTER_U64, h, count};
        return status;
    }
    run->place = (ty_place){(ty_memory)(uintptr_t)output->counts,
                            (ty_memory)(uintptr_t)output->flows,
                            h * plan->bins,
                            h,
                            plan->bins,
                            (uint32_t)plan->options.counter,
                            h,
                            count};
    if (output->accumulate)
        run->place.how |= TY_OUT_ADD;
    if (output->flows)
        run->place.how |= TY_OUT_FLOWS;
    else
        run->place.flows = run->place.counts; /* an argument has to be some memory */
    if (plan->options.dimensions == 1 && clamps(a->under))
        run->place.how |= TY_OUT_CLAMP_UNDER;
    if (plan->options.dimensions == 1 && clamps(a->over))
        run->place.how |= TY_OUT_CLAMP_OVER;
    return TALLY_OK;
}

tally_status ty_deliver_partials(ty_run *run, const ty_shape *shape, uint32_t partials,
                                 tally_error *error)
{
    const ty_device_ops *ops = run->device->ops;
    const ty_place *t = &run->place;
    double *seconds = run->job->merge_seconds;
    void *from = NULL;
    uint32_t targets = t->bins + (t->how & TY_OUT_FLOWS ? 4 : 0);
    uint32_t blocks = targets / 16 + (targets % 16 != 0);
    ty_arg args[] = {
        ty_arg_memory(run->w->out), ty_arg_u32(partials),
        ty_arg_u32(shape->cells),   ty_arg_u32((uint32_t)run->job->plan->slots),
        ty_arg_u32(blocks),         ty_arg_memory(run->w->runs ? run->w->runs : run->w->axis),
        ty_arg_memory(t->counts),   ty_arg_u64(t->first),
        ty_arg_memory(t->flows),    ty_arg_u64(t->histogram),
        ty_arg_u32(t->bins),        ty_arg_u32(t->how | (run->fresh ? 0 : TY_OUT_ADD))};
    ty_launch merge = {blocks * (uint32_t)t->count, 256, 2048, args, sizeof args / sizeof *args};
    tally_status status = TALLY_OK;
    if (seconds)
        status = ops->mark(run->device, run->queue, &from, error);
    if (!status)
        status = ops->launch(run->device, run->queue, run->program, "merge", &merge, error);
    run->fresh = 0;
    if (from && !status)
        return ty_add_seconds(run, from, seconds, error);
    ops->mark_close(run->device, from);
    return status;
}

tally_status ty_deliver_end(ty_run *run, tally_error *error)
{
    const ty_device_ops *ops = run->device->ops;
    const tally_plan *plan = run->job->plan;
    if (run->job->output->on_device)
        return TALLY_OK;
    size_t cells = (size_t)(run->place.count * plan->slots);
    uint64_t *totals = run->job->totals + run->place.h * plan->slots;
    tally_status status = ops->download(run->device, run->queue, run->w->host, run->w->totals, 0,
                                        cells * sizeof *run->w->host, error);
    if (!status)
        status = ops->wait(run->device, run->queue, error);
    for (size_t s = 0; s < cells && !status; s++)
        totals[s] += run->w->host[s];
    return status;
}

/* ---- checks ---- */

static tally_status check_memory(const ty_run *run, const void *memory, uint64_t count, size_t size,
                                 const char *what, tally_error *error)
{
    const ty_device_ops *ops = run->device->ops;
    uint64_t bytes = 0;
    if (!ops->extent) {
        if ((uintptr_t)memory % size)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "output: %s must be aligned to its %zu bytes", what, size);
        return TALLY_OK;
    }
    tally_status status = ops->extent(run->device, (ty_memory)(uintptr_t)memory, &bytes, error);
    if (!status && bytes / size < count)
        status = ty_error(error, TALLY_ERROR_ARGUMENT,
                          "output: %s: %" PRIu64 " of %zu bytes do not fit the memory object's "
                          "%" PRIu64 " bytes",
                          what, count, size, bytes);
    return status;
}

tally_status ty_deliver_check(ty_run *run, tally_error *error)
{
    const ty_job *job = run->job;
    const tally_output *output = job->output;
    const char *obstacle = NULL;
    if (run->recording)
        obstacle = !output->on_device                     ? "the output is in host memory"
                   : job->view_device == TALLY_DEVICE_CPU ? "the samples are in host memory"
                   : job->device_seconds                  ? "device_seconds is asked for"
                   : job->histograms && ty_deliver_by_host(job)
                       ? "a policy has to look at the counts"
                       : NULL;
    if (obstacle)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "stream: it is recording a graph, and %s: the call would have to wait for "
                        "the device",
                        obstacle);
    if (!output->on_device || !job->histograms)
        return TALLY_OK;
    tally_status status = check_memory(run, output->counts, job->histograms * job->plan->bins,
                                       cell_bytes(job->plan), "counts", error);
    if (!status && output->flows)
        status = check_memory(run, output->flows, job->histograms * 4, 8, "flows", error);
    return status;
}

/* ---- outputs made on the host ---- */

int ty_deliver_by_host(const ty_job *job)
{
    const tally_plan *plan = job->plan;
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        const tally_axis *a = &plan->axes[d].about;
        if (a->under == TALLY_FLOW_FAIL || a->over == TALLY_FLOW_FAIL || a->nan == TALLY_FLOW_FAIL)
            return 1;
    }
    return job->view_device == TALLY_DEVICE_CPU ||
           (plan->options.counter == TALLY_COUNTER_U32 && job->output->accumulate);
}

/* A device's block on the host: fetched, then written back. */
static tally_status move(ty_run *run, int back, void *host, const void *memory, size_t bytes,
                         tally_error *error)
{
    const ty_device_ops *ops = run->device->ops;
    ty_memory at = (ty_memory)(uintptr_t)memory;
    tally_status status = back ? ops->upload(run->device, run->queue, at, 0, host, bytes, error)
                               : ops->download(run->device, run->queue, host, at, 0, bytes, error);
    return status ? status : ops->wait(run->device, run->queue, error);
}

tally_status ty_deliver_host(ty_run *run, tally_status (*count)(ty_run *, tally_error *),
                             tally_error *error)
{
    const tally_output *there = run->job->output;
    size_t bytes =
        (size_t)(run->job->histograms * run->job->plan->bins) * cell_bytes(run->job->plan);
    size_t flow_bytes = (size_t)run->job->histograms * sizeof *there->flows;
    tally_output here = *there;
    ty_job job = *run->job;
    here.on_device = 0;
    here.counts = ty_calloc(1, bytes);
    here.flows = there->flows ? ty_calloc(1, flow_bytes) : NULL;
    tally_status status = here.counts && (here.flows || !there->flows)
                              ? TALLY_OK
                              : ty_error_memory(error, "an output", bytes);
    if (!status && here.accumulate)
        status = move(run, 0, here.counts, there->counts, bytes, error);
    if (!status && here.accumulate && here.flows)
        status = move(run, 0, here.flows, there->flows, flow_bytes, error);
    job.output = &here;
    run->job = &job;
    if (!status)
        status = ty_job_reserve(&job, error);
    if (!status)
        status = count(run, error);
    if (!status)
        status = ty_job_commit(&job, error);
    if (!status)
        status = move(run, 1, here.counts, there->counts, bytes, error);
    if (!status && here.flows)
        status = move(run, 1, here.flows, there->flows, flow_bytes, error);
    ty_job_release(&job);
    ty_free(here.counts);
    ty_free(here.flows);
    return status;
}
