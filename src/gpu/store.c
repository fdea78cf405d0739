/* SPDX-License-Identifier: Apache-2.0 */
/* Where the counts go: a device's own output, or 64-bit totals that are fetched and committed on
 * the host. */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "gpu/call.h"

size_t ty_cell_bytes(const tally_plan *plan)
{
    static const size_t sizes[] = {8, 4, 2, 1};
    return plan->weighted == TALLY_RESULT_SUMS_WIDE ? sizeof(tally_wide)
           : plan->weighted                         ? 8
                                                    : sizes[plan->options.counter];
}

static int clamps(tally_flow policy)
{
    return policy == TALLY_FLOW_CLAMP;
}

/* ---- where ---- */

/* Totals for the host: all slots of the call's histograms; with weights, then the upper words of
 * integers' sums, squares' sums, and numbers of samples in the flows. */
static tally_status begin_totals(ty_call *c, tally_error *error)
{
    const tally_plan *plan = c->plan;
    const uint64_t sums = c->count * plan->slots, squares = plan->options.sum_squares ? sums : 0,
                   high = ty_plan_sums_whole(plan) ? sums : 0;
    tally_status status = ty_workspace_totals(plan, c->w, c->count, error);
    const ty_memory totals = c->w->totals;
    c->store = (ty_store){.counts = totals,
                          .flows = totals,
                          .bins = (uint32_t)plan->slots,
                          .how = TALLY_COUNTER_U64,
                          .squares = totals,
                          .high_first = high,
                          .square_first = sums + high,
                          .flow_first = sums + high + squares,
                          .flow_count = TY_SLOT_EXTRA,
                          .fresh = 1};
    if (!status && plan->weighted)
        status = ty_call_clear(c, totals, 0, c->count * ty_totals_words(plan) * 8, error);
    return status;
}

static void begin_output(ty_call *c)
{
    const tally_plan *plan = c->plan;
    const tally_output *output = c->job->output;
    const ty_memory counts = (ty_memory)(uintptr_t)output->counts;
    c->store = (ty_store){.counts = counts,
                          .flows = counts, /* an argument has to be some memory */
                          .first = c->h * plan->bins,
                          .histogram = c->h,
                          .bins = plan->bins,
                          .how = (uint32_t)plan->options.counter,
                          .squares = (ty_memory)(uintptr_t)output->sum_squares,
                          .square_first = c->h * plan->bins,
                          .flow_first = c->h * 4,
                          .fresh = 1};
    if (output->flows) {
        c->store.flows = (ty_memory)(uintptr_t)output->flows;
        c->store.flow_count = 4;
        c->store.how |= TY_OUT_FLOWS;
    }
    c->store.how |= output->accumulate ? TY_OUT_ADD : 0;
}

tally_status ty_store_begin(ty_call *c, tally_error *error)
{
    const tally_plan *plan = c->plan;
    const tally_axis *a = &plan->axes[0].about;
    tally_status status = TALLY_OK;
    if (c->job->output->on_device)
        begin_output(c);
    else
        status = begin_totals(c, error);
    /* Totals are clamped when they are committed. */
    if (plan->options.dimensions == 1 && c->job->output->on_device) {
        c->store.how |= clamps(a->under) ? TY_OUT_CLAMP_UNDER : 0;
        c->store.how |= clamps(a->over) ? TY_OUT_CLAMP_OVER : 0;
    }
    return status;
}

void ty_store_one(ty_call *c, const ty_store *all, uint64_t i)
{
    const uint64_t cells = i * c->plan->slots;
    c->store = *all;
    c->store.first += cells;
    c->store.high_first += all->high_first ? cells : 0;
    c->store.square_first += cells;
    c->store.flow_first += i * TY_SLOT_EXTRA;
}

/* ---- fetching totals ---- */

/* Of a direct job the bins are the output's. */
static void fetch_direct(const ty_job *job, const uint64_t *host)
{
    const uint64_t bins = job->plan->bins;
    uint64_t *to = job->output->counts;
    if (job->fresh)
        memcpy(to, host, (size_t)bins * sizeof *host);
    for (uint64_t i = 0; i < bins && !job->fresh; i++)
        to[i] += host[i];
    for (int f = 0; f < TY_SLOT_EXTRA; f++)
        job->totals[f] += host[bins + (unsigned)f];
}

/* How a kernel says that a slot had a weight beyond the limit: a wide sum that none can be. */
static int is_beyond(const tally_plan *plan, uint64_t low, uint64_t high)
{
    return plan->weighted == TALLY_RESULT_SUMS_WIDE && !low && high == UINT64_C(1) << 63;
}

/* One cell of the weights' sums. */
static void add_sum(const ty_call *c, uint64_t to, size_t cell)
{
    ty_job *job = c->job;
    const ty_store *t = &c->store;
    const uint64_t *host = c->w->host;
    double sum, square;
    memcpy(&sum, &host[cell], sizeof sum);
    if (job->sums)
        job->sums[to] += sum;
    else if (is_beyond(c->plan, host[cell], host[t->high_first + cell]))
        ty_job_beyond(job);
    else
        ty_carry_add_wide(&job->isums[to], &job->carries[to],
                          (tally_wide){host[cell], (int64_t)host[t->high_first + cell]});
    if (job->squares) {
        memcpy(&square, &host[t->square_first + cell], sizeof square);
        job->squares[to] += square;
    }
}

/* What was fetched, added to the job's. */
static void add_totals(const ty_call *c)
{
    const ty_job *job = c->job;
    const tally_plan *plan = c->plan;
    const uint64_t *host = c->w->host, at = c->h * plan->slots;
    const size_t cells = (size_t)(c->count * plan->slots);
    uint64_t *to = job->totals + at;
    for (size_t s = 0; s < cells && !plan->weighted; s++)
        to[s] += host[s];
    for (size_t s = 0; s < cells && plan->weighted; s++)
        add_sum(c, at + s, s);
    for (uint64_t h = 0; plan->weighted && h < c->count; h++) {
        const uint64_t *flows = host + c->store.flow_first + h * TY_SLOT_EXTRA;
        for (int f = 0; f < TY_SLOT_EXTRA; f++)
            to[h * plan->slots + plan->bins + (unsigned)f] += flows[f];
    }
}

tally_status ty_store_clear(ty_call *c, tally_error *error)
{
    ty_store *t = &c->store;
    const tally_output *output = c->job->output;
    const uint64_t bins = c->plan->bins, cell = ty_cell_bytes(c->plan);
    tally_status status = TALLY_OK;
    if (!t->fresh)
        return TALLY_OK;
    t->fresh = 0;
    if (!output->on_device && c->plan->weighted)
        return TALLY_OK; /* begin_totals has cleared them */
    if (!output->on_device)
        return ty_call_clear(c, t->counts, t->first * 8, c->count * c->plan->slots * 8, error);
    if (output->accumulate)
        return TALLY_OK;
    status = ty_call_clear(c, t->counts, t->first * cell, c->count * bins * cell, error);
    if (!status && output->sum_squares)
        status = ty_call_clear(c, t->squares, t->square_first * 8, c->count * bins * 8, error);
    if (!status && output->flows)
        status = ty_call_clear(c, t->flows, c->h * sizeof *output->flows,
                               c->count * sizeof *output->flows, error);
    return status;
}

tally_status ty_store_fetch(ty_call *c, tally_error *error)
{
    tally_status status = ty_store_clear(c, error);
    const size_t words = (size_t)(c->count * ty_totals_words(c->plan));
    if (status || c->job->output->on_device)
        return status;
    return c->device->ops->download(c->device, c->queue, c->w->host, c->w->totals, 0,
                                    words * sizeof *c->w->host, error);
}

tally_status ty_store_end(ty_call *c, tally_error *error)
{
    if (c->job->output->on_device)
        return TALLY_OK;
    tally_status status = c->device->ops->wait(c->device, c->queue, error);
    if (!status && c->job->direct)
        fetch_direct(c->job, c->w->host);
    else if (!status)
        add_totals(c);
    return status;
}

/* ---- checks ---- */

tally_status ty_store_check_memory(const ty_call *c, const void *memory, uint64_t count,
                                   size_t size, const char *what, tally_error *error)
{
    const ty_device_ops *ops = c->device->ops;
    uint64_t bytes = 0;
    if (!ops->extent) {
        if ((uintptr_t)memory % size)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "output: %s must be aligned to its %zu bytes", what, size);
        return TALLY_OK;
    }
    tally_status status = ops->extent(c->device, (ty_memory)(uintptr_t)memory, &bytes, error);
    if (!status && bytes / size < count)
        status = ty_error(error, TALLY_ERROR_ARGUMENT,
                          "output: %s: %" PRIu64 " of %zu bytes do not fit the memory object's "
                          "%" PRIu64 " bytes",
                          what, count, size, bytes);
    return status;
}

tally_status ty_store_check(ty_call *c, tally_error *error)
{
    const ty_job *job = c->job;
    const tally_output *output = job->output;
    const char *obstacle = NULL;
    if (c->recording)
        obstacle = !output->on_device                     ? "the output is in host memory"
                   : job->view_device == TALLY_DEVICE_CPU ? "the samples are in host memory"
                   : job->device_seconds                  ? "device_seconds is asked for"
                   : job->histograms && ty_store_by_host(job)
                       ? (output->flow_sums ? "flow_sums are asked for"
                                            : "a policy has to look at the counts")
                       : NULL;
    if (obstacle)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "stream: it is recording a graph, and %s: the call would have to wait for "
                        "the device",
                        obstacle);
    if (!output->on_device || !job->histograms)
        return TALLY_OK;
    tally_status status =
        ty_store_check_memory(c, output->counts, job->histograms * job->plan->bins,
                              ty_cell_bytes(job->plan), "counts", error);
    if (!status && output->flows)
        status = ty_store_check_memory(c, output->flows, job->histograms * 4, 8, "flows", error);
    if (!status && output->sum_squares)
        status = ty_store_check_memory(c, output->sum_squares, job->histograms * job->plan->bins, 8,
                                       "sum_squares", error);
    if (!status && output->flow_sums)
        status = ty_store_check_memory(c, output->flow_sums, job->histograms * 4,
                                       ty_cell_bytes(job->plan), "flow_sums", error);
    return status;
}

/* ---- outputs made on the host ---- */

int ty_store_by_host(const ty_job *job)
{
    const tally_plan *plan = job->plan;
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        const tally_axis *a = &plan->axes[d].about;
        if (a->under == TALLY_FLOW_FAIL || a->over == TALLY_FLOW_FAIL || a->nan == TALLY_FLOW_FAIL)
            return 1;
    }
    if (plan->weighted == TALLY_RESULT_SUMS_WIDE) /* a weight may be beyond the limit */
        return 1;
    /* Sums of whole weights are refused when they pass int64. */
    const size_t size = tally_dtype_bytes(plan->options.weight_dtype);
    if (plan->weighted == TALLY_RESULT_SUMS_I64 &&
        (job->output->accumulate || size == 8 || job->elements > (uint64_t)INT64_MAX >> 8 * size))
        return 1;
    return job->view_device == TALLY_DEVICE_CPU || job->output->flow_sums ||
           (plan->options.counter == TALLY_COUNTER_U32 && job->output->accumulate);
}

/* A device's block on the host: fetched, then written back. */
static tally_status move(ty_call *c, int back, void *host, const void *memory, size_t bytes,
                         tally_error *error)
{
    const ty_device_ops *ops = c->device->ops;
    ty_memory at = (ty_memory)(uintptr_t)memory;
    tally_status status = back ? ops->upload(c->device, c->queue, at, 0, host, bytes, error)
                               : ops->download(c->device, c->queue, host, at, 0, bytes, error);
    return status ? status : ops->wait(c->device, c->queue, error);
}

static void drop(void *outputs[TY_OUTPUTS])
{
    for (int i = 0; i < TY_OUTPUTS; i++) {
        ty_free(outputs[i]);
        outputs[i] = NULL;
    }
}

tally_status ty_store_through_host(ty_call *c, tally_error *error)
{
    const tally_output *there = c->job->output;
    const uint64_t cells = c->job->histograms * c->plan->bins;
    const size_t sizes[TY_OUTPUTS] = {(size_t)cells * ty_cell_bytes(c->plan),
                                      (size_t)c->job->histograms * sizeof *there->flows,
                                      (size_t)cells * sizeof *there->sum_squares,
                                      (size_t)c->job->histograms * 4 * ty_cell_bytes(c->plan)};
    const void *const from[TY_OUTPUTS] = {there->counts, there->flows, there->sum_squares,
                                          there->flow_sums};
    void **to = c->w->outputs;
    tally_output here = *there;
    ty_job job = *c->job;
    tally_status status = TALLY_OK;
    drop(to);
    for (int i = 0; i < TY_OUTPUTS && !status; i++) {
        if (from[i] && !(to[i] = ty_calloc(1, sizes[i])))
            status = ty_error_memory(error, "an output", sizes[i]);
        if (!status && from[i] && there->accumulate)
            status = move(c, 0, to[i], from[i], sizes[i], error);
    }
    here.on_device = 0;
    here.counts = to[0];
    here.flows = to[1];
    here.sum_squares = to[2];
    here.flow_sums = to[3];
    job.output = &here;
    if (!status)
        status = ty_job_reserve(&job, error);
    if (!status)
        status = ty_gpu_run(&job, error);
    if (!status)
        status = ty_job_commit(&job, error);
    for (int i = 0; i < TY_OUTPUTS; i++) {
        if (!status && from[i])
            status = move(c, 1, to[i], from[i], sizes[i], error);
    }
    /* A failed wait may leave a copy pending: then they stay until the queue is closed. */
    if (!status)
        drop(to);
    ty_job_release(&job);
    return status;
}
