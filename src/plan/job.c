/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/memory.h"
#include "cpu/statistics.h"
#include "plan/plan.h"

/* Where the grid has one batch, row, column or channel and the samples have more, it is repeated.
 */
static void broadcast(ty_grid *g, const ty_grid *samples)
{
    if (g->batches == 1 && samples->batches != 1) {
        g->batches = samples->batches;
        g->batch_stride = 0;
    }
    if (g->rows == 1 && samples->rows != 1) {
        g->rows = samples->rows;
        g->row_stride = 0;
    }
    if (g->columns == 1 && samples->columns != 1) {
        g->columns = samples->columns;
        g->column_stride = 0;
    }
    if (g->channels == 1 && samples->channels != 1) {
        g->channels = samples->channels;
        g->channel_stride = 0;
    }
}

static tally_status check_extents(const ty_grid *g, const ty_grid *samples, const char *what,
                                  tally_error *error)
{
    if (g->batches == samples->batches && g->rows == samples->rows &&
        g->columns == samples->columns && g->channels == samples->channels)
        return TALLY_OK;
    return ty_error(error, TALLY_ERROR_ARGUMENT,
                    "%s: %" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64
                    " (batches x rows x columns x channels) does not fit the samples' %" PRIu64
                    "x%" PRIu64 "x%" PRIu64 "x%" PRIu64,
                    what, g->batches, g->rows, g->columns, g->channels, samples->batches,
                    samples->rows, samples->columns, samples->channels);
}

/* Formatting them would show in calls that count little. */
static const char *const view_names[] = {"view 0", "view 1", "view 2", "view 3",
                                         "view 4", "view 5", "view 6", "view 7"};
_Static_assert(sizeof view_names / sizeof *view_names >= TALLY_MAX_DIMENSIONS,
               "a name for each view");

static tally_status take_samples(const tally_plan *plan, const tally_view *views, ty_job *job,
                                 tally_error *error)
{
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        const char *what = view_names[d];
        tally_status status = ty_grid_make(&views[d], what, &job->samples[d], error);
        if (status)
            return status;
        if (views[d].dtype != plan->options.dtypes[d])
            return ty_error(error, TALLY_ERROR_ARGUMENT, "%s: its dtype is %s, the plan's is %s",
                            what, tally_dtype_name(views[d].dtype),
                            tally_dtype_name(plan->options.dtypes[d]));
        if (views[d].channels != plan->channels)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "%s: it has %" PRIu64 " channels, the plan %" PRIu64, what,
                            views[d].channels, plan->channels);
        status = check_extents(&job->samples[d], &job->samples[0], what, error);
        if (status)
            return status;
        tally_device_type device = views[d].device ? views[d].device : TALLY_DEVICE_CPU;
        if (device != TALLY_DEVICE_CPU && device != plan->context->device)
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "%s: its samples lie on another device than the plan's", what);
        if (d && device != job->view_device)
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "%s: its samples lie on another device than view 0's", what);
        job->view_device = device;
    }
    return TALLY_OK;
}

/* A mask or weights: of its dtype, of the samples' extents or 1. */
static tally_status take_extra(const tally_view *view, tally_dtype dtype, const char *what,
                               const ty_grid *samples, tally_device_type where, ty_grid *grid,
                               tally_error *error)
{
    tally_status status = ty_grid_make(view, what, grid, error);
    if (status)
        return status;
    if (view->dtype != dtype)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s: its dtype is %s, expected %s", what,
                        tally_dtype_name(view->dtype), tally_dtype_name(dtype));
    if ((view->device ? view->device : TALLY_DEVICE_CPU) != where)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: it must lie where the samples do",
                        what);
    broadcast(grid, samples);
    return check_extents(grid, samples, what, error);
}

tally_status ty_job_extra(const ty_job *job, const tally_view *view, const char *what,
                          ty_grid *grid, tally_error *error)
{
    return take_extra(view, view->dtype, what, &job->samples[0], job->view_device, grid, error);
}

static tally_status take_extras(const tally_plan *plan, const tally_execute_options *options,
                                ty_job *job, tally_error *error)
{
    const tally_view *mask = options ? options->mask : NULL;
    const tally_view *weights = options ? options->weights : NULL;
    if (mask) {
        tally_status status = take_extra(mask, TALLY_U8, "mask", &job->samples[0], job->view_device,
                                         &job->mask, error);
        if (status)
            return status;
    }
    if (weights && !plan->weighted)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "weights are given but the plan has no weight_dtype");
    if (!weights && plan->weighted)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the plan has a weight_dtype but no weights are given");
    if (weights)
        return take_extra(weights, plan->options.weight_dtype, "weights", &job->samples[0],
                          job->view_device, &job->weights, error);
    return TALLY_OK;
}

static tally_status check_output(const tally_plan *plan, const ty_job *job, tally_error *error)
{
    const tally_output *out = job->output;
    if (out->struct_size != sizeof *out)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "output: struct_size is %zu, expected %zu",
                        out->struct_size, sizeof *out);
    if ((unsigned)out->accumulate > TALLY_ACCUMULATE_ATOMIC)
        return ty_error(
            error, TALLY_ERROR_ARGUMENT,
            "output: accumulate is %d; 0 (overwrite), 1 (add) and 2 (add atomically) are "
            "possible",
            (int)out->accumulate);
    const int atomic = out->accumulate == TALLY_ACCUMULATE_ATOMIC;
    if (atomic && (plan->weighted || plan->options.counter != TALLY_COUNTER_U64))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "output: atomic additions are for u64 counts, not for %s",
                        plan->weighted ? "sums of weights" : "narrower counters");
    if (!out->counts && job->histograms)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "output: counts is NULL");
    if (!!out->sum_squares != !!plan->options.sum_squares && job->histograms)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "output: sum_squares is %s",
                        out->sum_squares ? "given but the plan does not ask for it"
                                         : "NULL but the plan asks for it");
    if (out->flow_sums && !plan->weighted)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "output: flow_sums is given but the plan has no weights");
    if (out->on_device && !plan->context->backend->has_memory)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "output: device memory on the %s device",
                        plan->context->backend->name);
    if (atomic && out->on_device &&
        (job->view_device == TALLY_DEVICE_CPU || ty_plan_may_fail(plan)))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "output: atomic additions in device memory are for samples in device "
                        "memory and plans without TALLY_FLOW_FAIL");
    if (plan->options.counter == TALLY_COUNTER_U32 && job->elements > UINT32_MAX)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%" PRIu64 " samples could pass a u32 counter's 2^32-1; use u64",
                        job->elements);
    return TALLY_OK;
}

unsigned ty_job_grids(ty_job *job, ty_grid **grids)
{
    unsigned n = 0;
    for (uint32_t d = 0; d < job->plan->options.dimensions; d++)
        grids[n++] = &job->samples[d];
    if (job->mask.data)
        grids[n++] = &job->mask;
    if (job->weights.data)
        grids[n++] = &job->weights;
    for (uint32_t i = 0; job->statistics && i < job->statistics->count; i++)
        grids[n++] = &job->statistics->values[i];
    return n;
}

/* If one view has a source, all have one, and each gives every element itself. */
static tally_status check_sources(ty_job *job, tally_error *error)
{
    ty_grid *grids[TY_JOB_GRIDS];
    const unsigned count = ty_job_grids(job, grids);
    unsigned sources = 0;
    for (unsigned i = 0; i < count; i++)
        sources += grids[i]->source != NULL;
    if (!sources)
        return TALLY_OK;
    if (sources < count)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%u of %u views have a source; all of a call's do, or none", sources,
                        count);
    for (unsigned i = 1; i < count; i++)
        if ((grids[i]->rows > 1 && !grids[i]->row_stride) ||
            (grids[i]->columns > 1 && !grids[i]->column_stride))
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "a mask or weights with a source have the samples' rows and columns");
    if (job->output->on_device)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "output: views with a source are counted into host memory");
    return TALLY_OK;
}

/* Samples, mask, weights and values stay alike: dimensions are joined in all of them or in none. */
static void coalesce(ty_job *job)
{
    ty_grid all[TY_JOB_GRIDS], *grids[TY_JOB_GRIDS];
    const unsigned n = ty_job_grids(job, grids);
    for (unsigned i = 0; i < n; i++)
        all[i] = *grids[i];
    ty_grid_coalesce(all, n);
    for (unsigned i = 0; i < n; i++)
        *grids[i] = all[i];
}

tally_status ty_job_begin(const tally_plan *plan, const tally_view *views,
                          const tally_execute_options *options, const tally_output *output,
                          ty_job *job, tally_error *error)
{
    if (!plan || !views || !output)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL",
                        !plan    ? "plan"
                        : !views ? "views"
                                 : "output");
    if (options && options->struct_size != sizeof *options)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "execute options: struct_size is %zu, expected %zu", options->struct_size,
                        sizeof *options);
    memset(job, 0, sizeof *job);
    job->plan = plan;
    job->output = output;
    job->beyond_at = &job->beyond;
    if (options) {
        job->progress = options->progress;
        job->user = options->user;
        job->stream = options->stream;
        job->device_seconds = options->device_seconds;
        if (job->device_seconds)
            *job->device_seconds = 0;
        job->merge_seconds = options->merge_seconds;
        if (job->merge_seconds)
            *job->merge_seconds = 0;
    }
    if (job->stream && plan->context->device == TALLY_DEVICE_CPU)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "stream: the cpu device has none; pass NULL");
    tally_status status = take_samples(plan, views, job, error);
    if (!status)
        status = take_extras(plan, options, job, error);
    if (status)
        return status;
    const ty_grid *s = &job->samples[0];
    job->batches = s->batches;
    uint64_t all;
    if (__builtin_mul_overflow(s->rows, s->columns, &job->elements))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "view 0: rows * columns pass 2^64");
    if (__builtin_mul_overflow(job->batches, job->elements, &all))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "view 0: batches * elements pass 2^64");
    if (__builtin_mul_overflow(job->batches, plan->active_count, &job->histograms))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "view 0: batches * channels pass 2^64");
    return check_output(plan, job, error);
}

tally_status ty_job_finish(ty_job *job, tally_error *error)
{
    tally_status status = check_sources(job, error);
    if (!status)
        coalesce(job);
    return status;
}

tally_status ty_job_make(const tally_plan *plan, const tally_view *views,
                         const tally_execute_options *options, const tally_output *output,
                         ty_job *job, tally_error *error)
{
    tally_status status = ty_job_begin(plan, views, options, output, job, error);
    return status ? status : ty_job_finish(job, error);
}

static int reserve_totals(ty_job *job, size_t entries)
{
    const size_t bytes = entries * sizeof *job->totals;
    if (bytes < TY_BUFFER_KEPT_LEAST) {
        job->totals = ty_calloc(entries, sizeof *job->totals);
        return job->totals != NULL;
    }
    job->totals_buffer = ty_buffer_take(&job->plan->context->totals, bytes);
    if (job->totals_buffer) {
        job->totals_buffer->clean = 0;
        job->totals = memset(job->totals_buffer->data, 0, bytes);
    }
    return job->totals != NULL;
}

/* Entries of the totals, and of each other array that runs along with them. */
static tally_status count_entries(const ty_job *job, uint64_t *entries, tally_error *error)
{
    const uint64_t each = job->direct ? TY_SLOT_EXTRA : job->plan->slots;
    if (__builtin_mul_overflow(job->histograms, each, entries) || *entries >> 58)
        return ty_error(error, TALLY_ERROR_MEMORY, "out of memory: %" PRIu64 " histograms",
                        job->histograms);
    return TALLY_OK;
}

tally_status ty_job_bytes(const ty_job *job, uint64_t *bytes, tally_error *error)
{
    const tally_plan *plan = job->plan;
    const uint64_t more =
        (plan->weighted != 0) + ty_plan_sums_whole(plan) + (plan->options.sum_squares != 0);
    uint64_t entries = 0;
    tally_status status = count_entries(job, &entries, error);
    *bytes =
        ty_buffer_bytes((size_t)entries * sizeof *job->totals) + more * entries * sizeof *job->sums;
    return status;
}

tally_status ty_job_reserve(ty_job *job, tally_error *error)
{
    uint64_t entries = 0, bytes = 0;
    tally_status status = count_entries(job, &entries, error);
    if (!status)
        status = ty_job_bytes(job, &bytes, error);
    if (!status)
        status = ty_memory_check(bytes, "counts", NULL, error);
    if (status)
        return status;
    int ok = reserve_totals(job, (size_t)entries);
    if (ok && job->plan->weighted == TALLY_RESULT_SUMS_F64)
        ok = (job->sums = ty_calloc((size_t)entries, sizeof *job->sums)) != NULL;
    if (ok && ty_plan_sums_whole(job->plan))
        ok = (job->isums = ty_calloc((size_t)entries, sizeof *job->isums)) &&
             (job->carries = ty_calloc((size_t)entries, sizeof *job->carries));
    if (ok && job->plan->options.sum_squares)
        ok = (job->squares = ty_calloc((size_t)entries, sizeof *job->squares)) != NULL;
    if (ok)
        return TALLY_OK;
    ty_job_release(job);
    return ty_error_memory(error, "counts", entries * sizeof *job->totals);
}

void ty_job_release(ty_job *job)
{
    if (job->totals_buffer)
        ty_buffer_return(&job->plan->context->totals, job->totals_buffer);
    else
        ty_free(job->totals);
    ty_free(job->sums);
    ty_free(job->isums);
    ty_free(job->carries);
    ty_free(job->squares);
    job->totals = NULL;
    job->totals_buffer = NULL;
    job->sums = NULL;
    job->isums = NULL;
    job->carries = NULL;
    job->squares = NULL;
}
