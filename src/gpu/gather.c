/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gather.h"

#include "core/alloc.h"
#include "core/error.h"
#include "plan/dealing.h"

/* A queue of our own, for parts without a stream. */
typedef struct ty_spare {
    void *queue;
    struct ty_spare *next;
} ty_spare;

/* What the parts on one device count. */
typedef struct share {
    const tally_plan *plan;
    ty_device *device;
    uint32_t part; /* the first of them */
    ty_spare *spare;
    ty_workspace *w; /* counts in partials, flows in scratch: its own; the first's: another's */
    void *queue, *stream; /* where its last work is: w's, or that of a later part's stream */
    tally_output output;
} share;

typedef struct gathering {
    const ty_job *whole;
    size_t counts_bytes, flows_bytes;
    int recording; /* the first part's stream records a graph */
    unsigned count;
    share shares[TY_MOST_DEVICES];
} gathering;

/* ---- spares ---- */

static tally_status take_spare(ty_device *device, ty_spare **spare, tally_error *error)
{
    pthread_mutex_lock(&device->programs_lock);
    *spare = device->spares;
    device->spares = *spare ? (*spare)->next : NULL;
    pthread_mutex_unlock(&device->programs_lock);
    if (*spare)
        return TALLY_OK;
    ty_spare *made = ty_calloc(1, sizeof *made);
    if (!made)
        return ty_error_memory(error, "a queue", sizeof *made);
    tally_status status = device->ops->queue_open(device, NULL, &made->queue, error);
    if (status)
        ty_free(made);
    else
        *spare = made;
    return status;
}

static void give_spare(ty_device *device, ty_spare *spare)
{
    if (!spare)
        return;
    pthread_mutex_lock(&device->programs_lock);
    spare->next = device->spares;
    device->spares = spare;
    pthread_mutex_unlock(&device->programs_lock);
}

void ty_spares_close(ty_device *device)
{
    while (device->spares) {
        ty_spare *spare = device->spares;
        device->spares = spare->next;
        device->ops->queue_close(device, spare->queue);
        ty_free(spare);
    }
}

/* ---- order among queues ---- */

/* What is put on `queue` from now on runs after what is on `before` now. */
static tally_status follow(ty_device *device, void *queue, ty_device *other, void *before,
                           tally_error *error)
{
    if (device->ops == other->ops && device->ops->follow)
        return device->ops->follow(device, queue, other, before, error);
    return other->ops->wait(other, before, error);
}

/* The share's next work is put on a stream. */
static tally_status hop(share *s, void *stream, tally_error *error)
{
    void *queue = s->w->borrowed;
    tally_status status = TALLY_OK;
    if (stream == s->stream)
        return TALLY_OK;
    if (stream != s->w->stream)
        status = s->device->ops->queue_open(s->device, stream, &queue, error);
    if (status)
        return status;
    status = follow(s->device, queue, s->device, s->queue, error);
    if (s->queue != s->w->borrowed)
        s->device->ops->queue_close(s->device, s->queue);
    s->queue = queue;
    s->stream = stream;
    return status;
}

/* ---- shares ---- */

static ty_workspaces *spaces_of(const share *s)
{
    return &((ty_gpu_plan *)s->plan->state)->spaces;
}

/* Room for counts and flows on the share's device. */
static tally_status reserve(const gathering *g, share *s, tally_error *error)
{
    tally_status status = ty_workspace_partials(s->device, s->w, g->counts_bytes, error);
    return status ? status : ty_workspace_scratch(s->device, s->w, g->flows_bytes, error);
}

static tally_status open_share(gathering *g, uint32_t part, const ty_job *job, share *s,
                               tally_error *error)
{
    const tally_output *output = g->whole->output;
    void *stream = job->stream;
    tally_status status = TALLY_OK;
    g->count++;
    s->part = part;
    s->plan = job->plan;
    s->device = job->plan->context->state;
    if (!stream && g->recording)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "the first part's stream is recording a graph: this one needs a stream of "
                        "its device too");
    if (!stream) {
        status = take_spare(s->device, &s->spare, error);
        stream = status ? NULL : s->device->ops->native(s->spare->queue);
    }
    if (!status)
        status = ty_workspaces_take(s->device, spaces_of(s), stream, g->recording, &s->w, error);
    if (status)
        return status;
    s->queue = s->w->borrowed;
    s->stream = stream;
    s->output = *output;
    if (s == g->shares)
        return TALLY_OK;
    if (g->recording) /* becomes part of the graph */
        status = follow(s->device, s->queue, g->shares->device, g->shares->queue, error);
    if (!status)
        status = reserve(g, s, error);
    s->output.counts = (void *)(uintptr_t)s->w->partials;
    s->output.flows = output->flows ? (void *)(uintptr_t)s->w->scratch : NULL;
    s->output.accumulate = TALLY_ACCUMULATE_NONE;
    return status;
}

/* Puts a part on its device. */
static tally_status count_part(gathering *g, uint32_t part, ty_job *job, tally_error *error)
{
    share *s = g->shares;
    tally_status status = TALLY_OK;
    while (s < g->shares + g->count && s->plan != job->plan)
        s++;
    if (s == g->shares + g->count)
        status = open_share(g, part, job, s, error);
    if (!status && job->stream)
        status = hop(s, job->stream, error);
    if (status)
        return status;
    job->stream = s->stream;
    job->output = &s->output;
    status = ty_gpu_run(job, error);
    if (!s->output.accumulate)
        s->output.accumulate = TALLY_ACCUMULATE_ADD;
    return status;
}

/* Those of the first device, or the others': these go first, for the first device waits for them.
 */
static tally_status count_parts(gathering *g, ty_job *jobs, uint32_t count, int firsts,
                                uint32_t *failed, tally_error *error)
{
    tally_status status = TALLY_OK;
    for (uint32_t i = 0; i < count && !status; i++) {
        if ((jobs[i].plan == jobs->plan) != firsts)
            continue;
        *failed = i;
        status = count_part(g, i, &jobs[i], error);
    }
    return status;
}

/* ---- adding up ---- */

/* Brings what a share counted into the first one's workspace, through the host's memory. */
static tally_status bring_by_host(gathering *g, share *s, tally_error *error)
{
    const share *first = g->shares;
    const ty_device_ops *from = s->device->ops, *to = first->device->ops;
    const size_t counts = g->counts_bytes, flows = g->flows_bytes;
    tally_status status = reserve(g, g->shares, error);
    if (!status)
        status = ty_workspace_stages(s->device, s->w, 0, counts + flows, error);
    if (!status)
        status = from->download(s->device, s->queue, s->w->stage, s->w->partials, 0, counts, error);
    if (!status)
        status = from->download(s->device, s->queue, s->w->stage + counts, s->w->scratch, 0, flows,
                                error);
    if (!status)
        status = follow(first->device, first->queue, s->device, s->queue, error);
    if (!status)
        status = to->upload(first->device, first->queue, first->w->partials, 0, s->w->stage, counts,
                            error);
    if (!status)
        status = to->upload(first->device, first->queue, first->w->scratch, 0, s->w->stage + counts,
                            flows, error);
    return status;
}

static int is_in_reach(ty_device *device, ty_device *other)
{
    const ty_device_ops *ops = device->ops;
    return ops == other->ops && ops->reaches && ops->reaches(device, other);
}

/* Where counts and flows lie that are added to others. */
typedef struct counted {
    ty_memory counts, flows;
} counted;

/* Adds `from` to `to` on a queue of a plan's device, which reads `from` wherever it lies. */
static tally_status add(const tally_plan *plan, void *queue, uint64_t histograms, uint32_t bins,
                        uint32_t how, counted from, counted to, tally_error *error)
{
    const ty_device *device = plan->context->state;
    const int flows = (how & TY_OUT_FLOWS) != 0;
    const uint32_t blocks = (bins + (flows ? 4 : 0)) / 256 + 1;
    if (histograms * blocks > INT32_MAX)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "more than 2^31 groups would add up the devices' counts");
    const ty_arg args[] = {ty_arg_memory(from.counts),
                           ty_arg_memory(flows ? from.flows : from.counts),
                           ty_arg_u32(blocks),
                           ty_arg_memory(to.counts),
                           ty_arg_u64(0),
                           ty_arg_memory(flows ? to.flows : to.counts),
                           ty_arg_u64(0),
                           ty_arg_u32(bins),
                           ty_arg_u32(how | TY_OUT_ADD)};
    const ty_launch launch = {(uint32_t)(histograms * blocks), 256, 0, args,
                              sizeof args / sizeof *args,      0};
    return device->ops->launch(plan->context->state, queue,
                               ((const ty_gpu_plan *)plan->state)->program->handle, "merge_outputs",
                               &launch, error);
}

/* Adds what another share counted to the output: the first device reads it where it lies if it can,
 * else it is brought by the host. */
static tally_status gather(gathering *g, share *s, tally_error *error)
{
    const share *first = g->shares;
    const tally_output *output = g->whole->output;
    const counted to = {(ty_memory)(uintptr_t)output->counts, (ty_memory)(uintptr_t)output->flows};
    const uint32_t how =
        (uint32_t)first->plan->options.counter | (output->flows ? TY_OUT_FLOWS : 0);
    const int peer = is_in_reach(first->device, s->device);
    const ty_workspace *w = peer ? s->w : first->w;
    tally_status status = peer ? follow(first->device, first->queue, s->device, s->queue, error)
                               : bring_by_host(g, s, error);
    if (!status)
        status = add(first->plan, first->queue, g->whole->histograms, first->plan->bins, how,
                     (counted){w->partials, w->scratch}, to, error);
    /* The next call on its stream writes what is read here. A graph's runs follow each other, and
     * without a stream this call waits. */
    if (!status && !g->recording && !first->spare)
        status = follow(s->device, s->w->borrowed, first->device, first->queue, error);
    return status;
}

/* ---- totals ---- */

/* Totals of fewer words are sooner fetched from each device and added up on the host. */
uint64_t ty_gpu_adds_least = 1 << 14;

int ty_gpu_adds_totals(const ty_job *jobs, uint32_t count, const ty_job *whole)
{
    int can = count > 1 && whole->histograms == 1 && !jobs->plan->weighted &&
              jobs->plan->slots >= ty_gpu_adds_least;
    for (uint32_t i = 0; i < count && can; i++)
        can = jobs[i].elements &&
              (!i || is_in_reach(jobs->plan->context->state, jobs[i].plan->context->state));
    return can;
}

tally_status ty_gpu_add_totals(ty_call *calls, uint32_t count, uint32_t *failed, tally_error *error)
{
    ty_device *device = calls->device;
    tally_status status = TALLY_OK;
    device->ops->enter(device);
    for (uint32_t i = 1; i < count && !status; i++) {
        *failed = i;
        status = follow(device, calls->queue, calls[i].device, calls[i].queue, error);
        if (!status)
            status =
                add(calls->plan, calls->queue, 1, (uint32_t)calls->plan->slots, TALLY_COUNTER_U64,
                    (counted){calls[i].w->totals, 0}, (counted){calls->w->totals, 0}, error);
        calls[i].added = !status;
    }
    if (!status) {
        *failed = 0;
        status = ty_store_fetch(calls, error);
    }
    device->ops->leave(device);
    return status;
}

/* ---- a call ---- */

static tally_status check(const ty_job *jobs, uint32_t count, const ty_job *whole, uint32_t *failed,
                          tally_error *error)
{
    int several = 0;
    for (uint32_t i = 0; i < count; i++) {
        several |= jobs[i].plan != jobs->plan;
        *failed = i;
        if (ty_store_by_host(&jobs[i]) || ty_store_by_host(whole))
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "such parts are added up in host memory, where the output has to be");
    }
    *failed = 0;
    if (several && whole->output->accumulate == TALLY_ACCUMULATE_ATOMIC)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "output: several devices do not add to it atomically");
    if (whole->progress && whole->progress(whole->user, 0, whole->batches * whole->elements))
        return ty_error(error, TALLY_ERROR_CANCELLED, "cancelled");
    return TALLY_OK;
}

static void close_share(const gathering *g, share *s, int sound, int busy)
{
    if (s->w && s->queue != s->w->borrowed)
        s->device->ops->queue_close(s->device, s->queue);
    if (s->w && (sound || g->recording))
        ty_workspaces_give(spaces_of(s), s->w, g->recording, busy);
    else if (s->w)
        ty_workspace_close(s->device, s->w);
    give_spare(s->device, s->spare);
}

/* The first part's stream has the output. After a failure what is under way still uses the
 * workspaces. */
static tally_status end(gathering *g, tally_status status, tally_error *error)
{
    share *first = g->shares;
    if (!status && first->w)
        status = hop(first, first->w->stream, error);
    const int waits = first->spare != NULL;
    if (!status && waits)
        status = first->device->ops->wait(first->device, first->queue, error);
    for (unsigned i = 0; i < g->count && status && !g->recording; i++)
        if (g->shares[i].w)
            g->shares[i].device->ops->wait(g->shares[i].device, g->shares[i].queue, NULL);
    for (unsigned i = 0; i < g->count; i++)
        close_share(g, &g->shares[i], !status || status == TALLY_ERROR_UNSUPPORTED,
                    !status && !waits);
    return status;
}

tally_status ty_gpu_gather(ty_job *jobs, uint32_t count, const ty_job *whole, uint32_t *failed,
                           tally_error *error)
{
    ty_device *device = jobs->plan->context->state;
    const ty_device_ops *ops = device->ops;
    gathering g = {.whole = whole};
    int mode = 0;
    tally_status status = check(jobs, count, whole, failed, error);
    if (status || !whole->histograms)
        return status;
    g.counts_bytes = (size_t)(whole->histograms * jobs->plan->bins) * ty_cell_bytes(jobs->plan);
    g.flows_bytes = whole->output->flows ? (size_t)whole->histograms * sizeof(tally_flows) : 0;
    if (jobs->stream && ops->recording)
        status = ops->recording(device, jobs->stream, &g.recording, error);
    if (g.recording)
        mode = ops->relax(-1);
    if (!status)
        status = open_share(&g, 0, jobs, g.shares, error);
    for (int firsts = 0; firsts < 2 && !status; firsts++)
        status = count_parts(&g, jobs, count, firsts, failed, error);
    for (unsigned i = 1; i < g.count && !status; i++) {
        *failed = g.shares[i].part;
        status = gather(&g, &g.shares[i], error);
    }
    status = end(&g, status, error);
    if (g.recording)
        ops->relax(mode);
    return status;
}
