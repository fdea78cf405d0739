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

/* Totals for the host: all slots of `count` histograms; with weights, then the upper words of
 * integers' sums, squares' sums, and numbers of samples in the flows. */
static tally_status begin_totals(ty_run *run, uint64_t h, uint64_t count, tally_error *error)
{
    const tally_plan *plan = run->job->plan;
    const uint64_t sums = count * plan->slots, squares = plan->options.sum_squares ? sums : 0,
                   high = plan->weighted == TALLY_RESULT_SUMS_I64 ? sums : 0;
    tally_status status = ty_workspace_totals(plan, run->w, count, error);
    const ty_memory totals = run->w->totals;
    run->place = (ty_place){.counts = totals,
                            .flows = totals,
                            .bins = (uint32_t)plan->slots,
                            .how = TALLY_COUNTER_U64,
                            .h = h,
                            .count = count,
                            .squares = totals,
                            .high_first = high,
                            .square_first = sums + high,
                            .flow_first = sums + high + squares,
                            .flow_count = TY_SLOT_EXTRA};
    if (!status && plan->weighted)
        status = run->device->ops->clear(run->device, run->queue, totals, 0,
                                         (size_t)(count * ty_totals_words(plan)) * sizeof(uint64_t),
                                         error);
    return status;
}

tally_status ty_deliver_begin(ty_run *run, uint64_t h, uint64_t count, tally_error *error)
{
    const ty_job *job = run->job;
    const tally_plan *plan = job->plan;
    const tally_output *output = job->output;
    const tally_axis *a = &plan->axes[0].about;
    tally_status status = TALLY_OK;
    run->fresh = 1;
    if (!output->on_device) {
        status = begin_totals(run, h, count, error);
    } else {
        const ty_memory counts = (ty_memory)(uintptr_t)output->counts;
        run->place = (ty_place){.counts = counts,
                                .flows = counts, /* an argument has to be some memory */
                                .first = h * plan->bins,
                                .histogram = h,
                                .bins = plan->bins,
                                .how = (uint32_t)plan->options.counter,
                                .h = h,
                                .count = count,
                                .squares = (ty_memory)(uintptr_t)output->sum_squares,
                                .square_first = h * plan->bins,
                                .flow_first = h * 4};
        if (output->flows) {
            run->place.flows = (ty_memory)(uintptr_t)output->flows;
            run->place.flow_count = 4;
            run->place.how |= TY_OUT_FLOWS;
        }
        run->place.how |= output->accumulate ? TY_OUT_ADD : 0;
    }
    /* Totals are clamped when they are committed. */
    if (plan->options.dimensions == 1 && output->on_device) {
        run->place.how |= clamps(a->under) ? TY_OUT_CLAMP_UNDER : 0;
        run->place.how |= clamps(a->over) ? TY_OUT_CLAMP_OVER : 0;
    }
    return status;
}

/* Targets of a group of the merge kernel, each the sum of so many words: so many that each of its
 * work-items has a word to read, fewer than 16 where there are many words, so that no work-item
 * adds up more than 16 as long as a target can have more work-items. */
static uint32_t merge_width(uint64_t words)
{
    uint32_t wide = 256;
    while (wide > 16 && 256 / wide < words)
        wide /= 2;
    while (wide > 1 && words > 16 * (256 / wide))
        wide /= 2;
    return wide;
}

unsigned ty_deliver_place(const ty_run *run, ty_arg *args, unsigned n)
{
    const ty_place *t = &run->place;
    args[n++] = ty_arg_memory(t->counts);
    args[n++] = ty_arg_u64(t->first);
    args[n++] = ty_arg_memory(t->flows);
    args[n++] = ty_arg_u64(t->histogram);
    args[n++] = ty_arg_u32(t->bins);
    args[n++] = ty_arg_u32(t->how | (run->fresh ? 0 : TY_OUT_ADD));
    return n;
}

void ty_deliver_args(ty_run *run, const ty_shape *shape, ty_arg args[TY_FINISH_COUNT])
{
    args[0] = ty_arg_u32(shape->delivers != 0);
    args[1] = ty_arg_memory(run->w->table ? run->w->table : run->w->out);
    ty_deliver_place(run, args, 2);
    run->fresh &= !shape->delivers;
}

static uint32_t targets(const ty_place *t)
{
    return t->bins + (t->how & TY_OUT_FLOWS ? 4 : 0);
}

static tally_status launch_merge(ty_run *run, const char *kernel, const ty_launch *merge,
                                 tally_error *error)
{
    const ty_device_ops *ops = run->device->ops;
    return (run->recording ? ops->launch : ops->launch_early)(run->device, run->queue, run->program,
                                                              kernel, merge, error);
}

static tally_status merge_words(ty_run *run, const ty_shape *shape, uint32_t partials,
                                tally_error *error)
{
    const ty_place *t = &run->place;
    uint32_t wide = merge_width((uint64_t)partials * (shape->raw_shift < 0 ? 1 : run->w->longest)),
             blocks = targets(t) / wide + (targets(t) % wide != 0);
    ty_arg args[13] = {ty_arg_memory(run->w->out),
                       ty_arg_u32(partials),
                       ty_arg_u32(shape->cells),
                       ty_arg_u32((uint32_t)run->job->plan->slots),
                       ty_arg_u32(wide),
                       ty_arg_u32(blocks),
                       ty_arg_memory(run->w->runs ? run->w->runs : run->w->axis)};
    const unsigned n = ty_deliver_place(run, args, 7);
    ty_launch merge = {blocks * (uint32_t)t->count, 256, 2048, args, n};
    return launch_merge(run, "merge", &merge, error);
}

/* One histogram's partials of 16-bit counts (halves.cl). */
static tally_status merge_halves(ty_run *run, const ty_shape *shape, uint32_t partials,
                                 tally_error *error)
{
    const tally_plan *plan = run->job->plan;
    const uint32_t cells = (uint32_t)plan->slots + plan->axes[0].fast.splits;
    ty_arg args[13] = {ty_arg_memory(run->w->out),   ty_arg_u32(partials),
                       ty_arg_u32(shape->cells / 4), ty_arg_u32((uint32_t)plan->slots),
                       ty_arg_u32(run->key),         ty_arg_memory(run->w->axis),
                       ty_arg_memory(run->w->table)};
    const unsigned n = ty_deliver_place(run, args, 7);
    ty_launch merge = {cells / 128 + (cells % 128 != 0), 256, 8192, args, n};
    return launch_merge(run, "merge_halves", &merge, error);
}

tally_status ty_deliver_partials(ty_run *run, const ty_shape *shape, uint32_t partials,
                                 tally_error *error)
{
    const ty_device_ops *ops = run->device->ops;
    double *seconds = run->job->merge_seconds;
    void *from = NULL;
    tally_status status = TALLY_OK;
    if (seconds)
        status = ops->mark(run->device, run->queue, &from, error);
    if (!status)
        status = shape->halves ? merge_halves(run, shape, partials, error)
                               : merge_words(run, shape, partials, error);
    run->fresh = 0;
    if (from && !status)
        return ty_add_seconds(run, from, seconds, error);
    ops->mark_close(run->device, from);
    return status;
}

tally_status ty_deliver_sums(ty_run *run, uint32_t partials, uint32_t room, tally_error *error)
{
    const ty_place *t = &run->place;
    const uint32_t blocks = t->bins / 16 + (t->bins % 16 != 0);
    ty_arg args[] = {ty_arg_memory(run->w->out),
                     ty_arg_u32(partials),
                     ty_arg_u32((uint32_t)run->job->plan->slots),
                     ty_arg_u32(blocks),
                     ty_arg_u32(room),
                     ty_arg_u32((uint32_t)t->count),
                     ty_arg_memory(run->w->scratch),
                     ty_arg_memory(t->counts),
                     ty_arg_u64(t->first),
                     ty_arg_u64(t->high_first),
                     ty_arg_memory(t->squares ? t->squares : t->counts),
                     ty_arg_u64(t->square_first),
                     ty_arg_memory(t->flows),
                     ty_arg_u64(t->flow_first),
                     ty_arg_u32(t->flow_count),
                     ty_arg_u32(t->bins),
                     ty_arg_u32(t->how | (run->fresh ? 0 : TY_OUT_ADD))};
    ty_launch weigh = {blocks * (uint32_t)t->count, 256, 4096, args, sizeof args / sizeof *args};
    run->fresh = 0;
    return run->device->ops->launch(run->device, run->queue, run->program, "weigh", &weigh, error);
}

/* Of a direct job the bins are the output's. */
static void deliver_totals(const ty_job *job, const uint64_t *host)
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

/* A sum of 128 bits, the upper word of which counts the carries of an unsigned lower one. */
static void add_integer(ty_job *job, size_t cell, int64_t low, int64_t high)
{
    ty_carry_add(&job->isums[cell], &job->carries[cell], low);
    job->carries[cell] += high + (low < 0);
}

/* What was fetched, added to the job's. */
static void add_totals(ty_run *run)
{
    ty_job *job = run->job;
    const tally_plan *plan = job->plan;
    const ty_place *t = &run->place;
    const uint64_t *host = run->w->host, at = t->h * plan->slots;
    const size_t cells = (size_t)(t->count * plan->slots);
    for (size_t s = 0; s < cells; s++) {
        double sum, square;
        memcpy(&sum, &host[s], sizeof sum);
        if (job->sums)
            job->sums[at + s] += sum;
        else if (job->isums)
            add_integer(job, at + s, (int64_t)host[s], (int64_t)host[t->high_first + s]);
        else
            job->totals[at + s] += host[s];
        if (job->squares) {
            memcpy(&square, &host[t->square_first + s], sizeof square);
            job->squares[at + s] += square;
        }
    }
    for (uint64_t h = 0; plan->weighted && h < t->count; h++) {
        const uint64_t *flows = host + t->flow_first + h * TY_SLOT_EXTRA;
        for (int f = 0; f < TY_SLOT_EXTRA; f++)
            job->totals[at + h * plan->slots + plan->bins + (unsigned)f] += flows[f];
    }
}

tally_status ty_deliver_end(ty_run *run, tally_error *error)
{
    const ty_device_ops *ops = run->device->ops;
    const tally_plan *plan = run->job->plan;
    if (run->job->output->on_device)
        return TALLY_OK;
    size_t words = (size_t)(run->place.count * ty_totals_words(plan));
    tally_status status = ops->download(run->device, run->queue, run->w->host, run->w->totals, 0,
                                        words * sizeof *run->w->host, error);
    if (!status)
        status = ops->wait(run->device, run->queue, error);
    if (!status && run->job->direct)
        deliver_totals(run->job, run->w->host);
    else if (!status)
        add_totals(run);
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
    tally_status status = check_memory(run, output->counts, job->histograms * job->plan->bins,
                                       cell_bytes(job->plan), "counts", error);
    if (!status && output->flows)
        status = check_memory(run, output->flows, job->histograms * 4, 8, "flows", error);
    if (!status && output->sum_squares)
        status = check_memory(run, output->sum_squares, job->histograms * job->plan->bins, 8,
                              "sum_squares", error);
    if (!status && output->flow_sums)
        status = check_memory(run, output->flow_sums, job->histograms * 4, 8, "flow_sums", error);
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
    /* Sums of whole weights are refused when they pass int64. */
    const size_t size = tally_dtype_bytes(plan->options.weight_dtype);
    if (plan->weighted == TALLY_RESULT_SUMS_I64 &&
        (job->output->accumulate || size == 8 || job->elements > (uint64_t)INT64_MAX >> 8 * size))
        return 1;
    return job->view_device == TALLY_DEVICE_CPU || job->output->flow_sums ||
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

static void drop(void *outputs[TY_OUTPUTS])
{
    for (int i = 0; i < TY_OUTPUTS; i++) {
        ty_free(outputs[i]);
        outputs[i] = NULL;
    }
}

tally_status ty_deliver_host(ty_run *run, tally_status (*count)(ty_run *, tally_error *),
                             tally_error *error)
{
    const tally_output *there = run->job->output;
    const uint64_t cells = run->job->histograms * run->job->plan->bins;
    const size_t sizes[TY_OUTPUTS] = {(size_t)cells * cell_bytes(run->job->plan),
                                      (size_t)run->job->histograms * sizeof *there->flows,
                                      (size_t)cells * sizeof *there->sum_squares,
                                      (size_t)run->job->histograms * 4 * sizeof(double)};
    const void *const from[TY_OUTPUTS] = {there->counts, there->flows, there->sum_squares,
                                          there->flow_sums};
    void **to = run->w->outputs;
    tally_output here = *there;
    ty_job job = *run->job;
    tally_status status = TALLY_OK;
    drop(to);
    for (int i = 0; i < TY_OUTPUTS && !status; i++) {
        if (from[i] && !(to[i] = ty_calloc(1, sizes[i])))
            status = ty_error_memory(error, "an output", sizes[i]);
        if (!status && from[i] && there->accumulate)
            status = move(run, 0, to[i], from[i], sizes[i], error);
    }
    here.on_device = 0;
    here.counts = to[0];
    here.flows = to[1];
    here.sum_squares = to[2];
    here.flow_sums = to[3];
    job.output = &here;
    run->job = &job;
    if (!status)
        status = ty_job_reserve(&job, error);
    if (!status)
        status = count(run, error);
    if (!status)
        status = ty_job_commit(&job, error);
    for (int i = 0; i < TY_OUTPUTS; i++) {
        if (!status && from[i])
            status = move(run, 1, to[i], from[i], sizes[i], error);
    }
    /* A failed wait may leave a copy pending: then they stay until the queue is closed. */
    if (!status)
        drop(to);
    ty_job_release(&job);
    return status;
}
