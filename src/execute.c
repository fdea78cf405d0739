/* The main path: check the arguments, run the plan's backend, commit the counts. */
#include "core/error.h"
#include "plan.h"

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
    job.direct = job.fresh =
        ty_job_surely_commits(&job) && backend->directs && backend->directs(&job);
    status = ty_job_reserve(&job, error);
    if (!status)
        status = backend->run(&job, error);
    if (!status)
        status = ty_job_commit(&job, error);
    ty_job_release(&job);
    return status;
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
