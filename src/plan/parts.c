/* SPDX-License-Identifier: Apache-2.0 */
/* tally_execute_parts: each device counts its parts, and what they count is added up: in host
 * memory, or on the devices (gpu/gather.h). */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "cpu/threads.h"
#include "gpu/call.h"
#include "gpu/gather.h"
#include "plan/dealing.h"
#include "plan/several.h"

/* A call. */
typedef struct parts_call {
    const tally_plan *plan;
    const tally_part *parts;
    uint32_t count;
    ty_job *jobs; /* a part's, of its device's plan */
    ty_job whole; /* the call's totals */
    pthread_mutex_t lock;
    uint64_t done; /* elements */
    /* The first part that failed, and why. */
    uint32_t failed;
    tally_status status;
    tally_error error;
} parts_call;

/* ---- checking ---- */

static const tally_plan *plan_of(const tally_plan *plan, const tally_part *part)
{
    return plan->several ? plan->several[part->device] : plan;
}

static unsigned device_count(const tally_plan *plan)
{
    return plan->several ? ty_several_count(plan->context->several) : 1;
}

static tally_status check_part(const tally_plan *plan, const tally_part *part, tally_error *error)
{
    if (part->struct_size != sizeof *part)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "struct_size is %zu, expected %zu",
                        part->struct_size, sizeof *part);
    if (part->device >= device_count(plan))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "device is %" PRIu32 ", the context has %u",
                        part->device, device_count(plan));
    for (uint32_t d = 0; part->views && d < plan->options.dimensions; d++)
        if (part->views[d].source)
            return ty_error(error, TALLY_ERROR_UNSUPPORTED, "a part's views have no source");
    return TALLY_OK;
}

static tally_status make_job(parts_call *c, uint32_t i, const tally_output *output,
                             tally_error *error)
{
    const tally_part *part = &c->parts[i];
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_status status = check_part(c->plan, part, error);
    if (status)
        return status;
    options.mask = part->mask;
    options.weights = part->weights;
    options.stream = part->stream;
    status = ty_job_make(plan_of(c->plan, part), part->views, &options, output, &c->jobs[i], error);
    if (!status && i && c->jobs[i].batches != c->jobs[0].batches)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "it has %" PRIu64 " batches, part 0 has %" PRIu64, c->jobs[i].batches,
                        c->jobs[0].batches);
    c->jobs[i].beyond_at = &c->whole.beyond;
    return status;
}

static tally_status make_jobs(parts_call *c, const tally_output *output,
                              const tally_execute_options *options, tally_error *error)
{
    tally_error why = {""};
    uint64_t elements = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        tally_status status = make_job(c, i, output, &why);
        if (status)
            return ty_error(error, status, "part %" PRIu32 ": %.900s", i, why.message);
        elements += c->jobs[i].elements;
    }
    if (c->plan->options.counter == TALLY_COUNTER_U32 && elements > UINT32_MAX)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%" PRIu64 " samples could pass a u32 counter's 2^32-1; use u64", elements);
    c->whole = c->jobs[0];
    c->whole.plan = c->plan;
    c->whole.elements = elements;
    c->whole.stream = NULL;
    c->whole.beyond_at = &c->whole.beyond;
    c->whole.progress = options ? options->progress : NULL;
    c->whole.user = options ? options->user : NULL;
    return TALLY_OK;
}

static tally_status check_options(const tally_execute_options *options, tally_error *error)
{
    if (options && options->struct_size != sizeof *options)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "execute options: struct_size is %zu, expected %zu", options->struct_size,
                        sizeof *options);
    if (options && (options->mask || options->weights || options->stream ||
                    options->device_seconds || options->merge_seconds))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "execute options: mask, weights and stream stand in the parts, and seconds "
                        "are not told");
    return TALLY_OK;
}

/* ---- counting ---- */

static tally_status name_part(const parts_call *c, uint32_t part, tally_status status,
                              const char *message, tally_error *error)
{
    const tally_plan *plan = c->plan;
    return ty_error(
        error, status, "part %" PRIu32 "%s%s: %.900s", part, plan->several ? ", " : "",
        plan->several ? ty_several_id(plan->context->several, c->parts[part].device) : "", message);
}

static void fail(parts_call *c, uint32_t part, tally_status status, const char *message)
{
    pthread_mutex_lock(&c->lock);
    if (!c->status || part < c->failed) {
        c->status = name_part(c, part, status, message, &c->error);
        c->failed = part;
    }
    pthread_mutex_unlock(&c->lock);
}

/* Whether to go on; the caller is asked on its own thread. */
static int goes_on(parts_call *c, unsigned worker, uint32_t part)
{
    const ty_job *whole = &c->whole;
    pthread_mutex_lock(&c->lock);
    c->done += c->jobs[part].elements;
    const uint64_t done = c->done * whole->batches;
    const int ok = !c->status;
    pthread_mutex_unlock(&c->lock);
    if (!ok || worker || !whole->progress ||
        !whole->progress(whole->user, done, whole->elements * whole->batches))
        return ok;
    fail(c, part, TALLY_ERROR_CANCELLED, "the call was cancelled");
    return 0;
}

static void share_totals(ty_job *job, const ty_job *totals)
{
    job->totals = totals->totals;
    job->sums = totals->sums;
    job->isums = totals->isums;
    job->carries = totals->carries;
    job->squares = totals->squares;
}

/* The parts of one device, into `totals`. */
static void count_parts(parts_call *c, unsigned device, unsigned worker, const ty_job *totals)
{
    tally_error error = {""};
    for (uint32_t i = 0; i < c->count; i++) {
        ty_job *job = &c->jobs[i];
        if (c->parts[i].device != device)
            continue;
        share_totals(job, totals);
        tally_status status = job->plan->context->backend->run(job, &error);
        if (status)
            fail(c, i, status, error.message);
        if (!goes_on(c, worker, i))
            return;
    }
}

static uint32_t first_part(const parts_call *c, unsigned device)
{
    uint32_t i = 0;
    while (i < c->count && c->parts[i].device != device)
        i++;
    return i;
}

static void count_on_device(void *arg, unsigned device, unsigned worker)
{
    parts_call *c = arg;
    ty_job totals;
    tally_error error = {""};
    const uint32_t first = first_part(c, device);
    if (first == c->count)
        return;
    tally_status status = ty_several_reserve(&totals, &c->whole, c->plan->several[device], &error);
    if (status) {
        fail(c, first, status, error.message);
        return;
    }
    count_parts(c, device, worker, &totals);
    pthread_mutex_lock(&c->lock);
    if (!c->status)
        ty_several_add(&c->whole, &totals);
    pthread_mutex_unlock(&c->lock);
    ty_job_release(&totals);
}

/* Whether all samples lie on devices, one part on each. */
static int is_one_each(const parts_call *c)
{
    unsigned char seen[TY_MOST_DEVICES] = {0};
    for (uint32_t i = 0; i < c->count; i++)
        if (c->jobs[i].view_device == TALLY_DEVICE_CPU || seen[c->parts[i].device]++)
            return 0;
    return 1;
}

/* Starts every part on its device before any is waited for. The first part starts last, because its
 * device may add up what the others counted. Parts from the returned one on were started. */
static uint32_t start_one_each(parts_call *c, ty_call *calls, int adds)
{
    tally_error why = {""};
    tally_status status = TALLY_OK;
    uint32_t begun = c->count, failed = 0;
    while (begun && !status) {
        failed = --begun;
        share_totals(&c->jobs[begun], &c->whole);
        status = ty_gpu_start(&calls[begun], &c->jobs[begun], !adds, &why);
    }
    if (!status && adds)
        status = ty_gpu_add_totals(calls, c->count, &failed, &why);
    if (status)
        fail(c, failed, status, why.message);
    return begun;
}

static tally_status count_one_each(parts_call *c, int adds, tally_error *error)
{
    ty_call *calls = ty_calloc(c->count, sizeof *calls);
    tally_error why = {""};
    if (!calls)
        return ty_error_memory(error, "a call of parts", c->count * sizeof *calls);
    for (uint32_t i = start_one_each(c, calls, adds); i < c->count; i++) {
        const tally_status before = c->status;
        tally_status status = ty_gpu_finish(&calls[i], before, &why);
        if (status && !before)
            fail(c, i, status, why.message);
        else if (!before)
            goes_on(c, 0, i);
    }
    ty_free(calls);
    return TALLY_OK;
}

/* The first device adds up all counts. They go straight to the output, unless commit may refuse
 * them. */
static void count_directly(parts_call *c)
{
    c->whole.direct = ty_job_surely_commits(&c->whole);
    c->whole.fresh = c->whole.direct && !c->whole.output->accumulate;
    c->jobs[0].direct = c->whole.direct;
    c->jobs[0].fresh = c->whole.fresh;
}

static tally_status count_all(parts_call *c, tally_error *error)
{
    const unsigned devices = device_count(c->plan);
    const int each = is_one_each(c),
              adds = each && ty_gpu_adds_totals(c->jobs, c->count, &c->whole);
    if (adds)
        count_directly(c);
    tally_status status = ty_job_reserve(&c->whole, error);
    if (status)
        return status;
    pthread_mutex_init(&c->lock, NULL);
    if (each)
        status = count_one_each(c, adds, error);
    else if (c->plan->several)
        ty_pool_run(c->plan->context->pool, devices, devices, count_on_device, c);
    else
        count_parts(c, 0, 0, &c->whole);
    pthread_mutex_destroy(&c->lock);
    if (c->status)
        status = ty_error(error, c->status, "%s", c->error.message);
    if (!status)
        status = ty_job_commit(&c->whole, error);
    ty_job_release(&c->whole);
    return status;
}

static tally_status gather_all(parts_call *c, tally_error *error)
{
    tally_error why = {""};
    uint32_t failed = 0;
    tally_status status = ty_gpu_gather(c->jobs, c->count, &c->whole, &failed, &why);
    return status ? name_part(c, failed, status, why.message, error) : TALLY_OK;
}

tally_status tally_execute_parts(const tally_plan *plan, const tally_part *parts, uint32_t count,
                                 const tally_execute_options *options, const tally_output *output,
                                 tally_error *error)
{
    if (!plan || !parts || !output || !count)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s",
                        !plan    ? "plan is NULL"
                        : !parts ? "parts is NULL"
                        : !count ? "there are no parts"
                                 : "output is NULL");
    tally_status status = check_options(options, error);
    if (status)
        return status;
    parts_call c = {.plan = plan, .parts = parts, .count = count};
    c.jobs = ty_calloc(count, sizeof *c.jobs);
    if (!c.jobs)
        return ty_error_memory(error, "a call of parts", count * sizeof *c.jobs);
    status = make_jobs(&c, output, options, error);
    if (!status)
        status = (output->on_device ? gather_all : count_all)(&c, error);
    ty_free(c.jobs);
    return status;
}
