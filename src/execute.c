/* The main path: check the arguments, run the plan's backend, commit the counts. */
#include "core/error.h"
#include "plan.h"

static tally_status attempt(ty_job *job, tally_error *error)
{
    tally_status status = ty_job_reserve(job, error);
    if (!status)
        status = job->plan->context->backend->run(job, error);
    if (!status && !job->wrapped)
        status = ty_job_commit(job, error);
    ty_job_release(job);
    return status;
}

tally_status tally_execute(const tally_plan *plan, const tally_view *views,
                           const tally_execute_options *options, const tally_output *output,
                           tally_error *error)
{
    ty_job job;
    tally_status status = ty_job_make(plan, views, options, output, &job, error);
    if (status)
        return status;
    const ty_backend *backend = plan->context->backend;
    if (output->on_device)
        return backend->run(&job, error);
    if (backend->adds_in_place && backend->adds_in_place(&job)) {
        job.direct = job.in_place = 1;
        status = attempt(&job, error);
        if (status || !job.wrapped)
            return status;
        job.direct = job.in_place = job.wrapped = 0; /* commit says which bin it was */
        return attempt(&job, error);
    }
    job.direct = backend->directs && backend->directs(&job) && ty_job_surely_commits(&job);
    job.fresh = job.direct && !output->accumulate;
    return attempt(&job, error);
}

tally_status tally_execute_reference(const tally_plan *plan, const tally_view *views,
                                     const tally_execute_options *options,
                                     const tally_output *output, tally_error *error)
{
    ty_job job;
    tally_status status = ty_job_make(plan, views, options, output, &job, error);
    if (status)
        return status;
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        if (views[d].device && views[d].device != TALLY_DEVICE_CPU)
            return ty_error(error, TALLY_ERROR_UNSUPPORTED, "the reference reads host data only");
    }
    if (output->on_device)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "the reference writes to host memory only");
    status = ty_job_reserve(&job, error);
    if (!status)
        status = ty_reference_run(&job, error);
    if (!status)
        status = ty_job_commit(&job, error);
    ty_job_release(&job);
    return status;
}
