/* SPDX-License-Identifier: Apache-2.0 */
/* The main path: check the arguments, run the plan's backend, commit the counts. */
#include "core/error.h"
#include "core/source.h"
#include "plan/plan.h"

typedef tally_status (*run_function)(ty_job *job, tally_error *error);
typedef tally_status (*commit_function)(const ty_job *job, tally_error *error);

/* Counts and commits. With job->wrapped nothing is committed: the output is as it was. */
static tally_status attempt(ty_job *job, run_function run, commit_function commit,
                            tally_error *error)
{
    tally_status status = ty_job_reserve(job, error);
    if (!status)
        status = run(job, error);
    if (!status && job->failure)
        status = ty_source_status(job->failure, error);
    if (!status && !job->wrapped)
        status = commit(job, error);
    ty_job_release(job);
    return status;
}

/* The same where a source gives the samples. Reading them may fail, so nothing is counted straight
 * into the output. */
static tally_status attempt_source(ty_job *job, run_function run, commit_function commit,
                                   tally_error *error)
{
    ty_grid *grids[TY_JOB_GRIDS];
    ty_source_failure failure;
    ty_source_begin(&failure, grids, ty_job_grids(job, grids));
    job->failure = &failure;
    tally_status status = attempt(job, run, commit, error);
    ty_source_end(&failure);
    return status;
}

tally_status ty_job_execute(ty_job *job, run_function run, commit_function commit,
                            tally_error *error)
{
    return (job->samples[0].source ? attempt_source : attempt)(job, run, commit, error);
}

/* Decides whether this job counts straight into the output, without totals. */
static void choose_walk(ty_job *job)
{
    const ty_backend *backend = job->plan->context->backend;
    job->walk =
        backend->adds_in_place && backend->adds_in_place(job) ? TY_WALK_COUNT : TY_WALK_NONE;
    job->direct =
        job->walk || (backend->directs && backend->directs(job) && ty_job_surely_commits(job));
    job->fresh = job->direct && !job->walk && !job->output->accumulate;
}

tally_status tally_execute(const tally_plan *plan, const tally_view *views,
                           const tally_execute_options *options, const tally_output *output,
                           tally_error *error)
{
    ty_job job;
    tally_status status = ty_job_make(plan, views, options, output, &job, error);
    if (status)
        return status;
    if (output->on_device)
        return plan->context->backend->run(&job, error);
    const run_function run = plan->context->backend->run;
    if (job.samples[0].source)
        return attempt_source(&job, run, ty_job_commit, error);
    choose_walk(&job);
    status = attempt(&job, run, ty_job_commit, error);
    if (status || !job.wrapped)
        return status;
    /* A sum of integers passed its type: counted again, in totals that are wider, of which commit
     * names the bin. */
    job.direct = job.wrapped = 0;
    job.walk = TY_WALK_NONE;
    return attempt(&job, run, ty_job_commit, error);
}

tally_status tally_plan_memory(const tally_plan *plan, uint64_t n, uint64_t *host_bytes,
                               uint64_t *device_bytes, tally_error *error)
{
    static double nothing; /* what views and output point to; no one reads it */
    tally_view views[TALLY_MAX_DIMENSIONS], weights;
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    ty_job job;
    if (!plan || !host_bytes || !device_bytes)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "plan, host_bytes or device_bytes is NULL");
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        views[d] = tally_view_1d(&nothing, plan->options.dtypes[d], n);
        views[d].channels = plan->channels;
    }
    weights = tally_view_1d(&nothing, plan->options.weight_dtype, n);
    options.weights = plan->weighted ? &weights : NULL;
    output.counts = &nothing;
    output.sum_squares = plan->options.sum_squares ? &nothing : NULL;
    uint64_t host = 0, device = 0;
    tally_status status = ty_job_make(plan, views, &options, &output, &job, error);
    if (status)
        return status;
    choose_walk(&job);
    status = ty_job_bytes(&job, &host, error);
    if (!status)
        status = plan->context->backend->memory(&job, &host, &device, error);
    if (status)
        return status;
    *host_bytes = host;
    *device_bytes = device;
    return TALLY_OK;
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
    return ty_job_execute(&job, ty_reference_run, ty_job_commit, error);
}
