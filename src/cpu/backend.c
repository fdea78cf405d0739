/* SPDX-License-Identifier: Apache-2.0 */
/* The processor as a device: parts of a job over the pool's threads, tables a worker, then totals.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/source.h"
#include "core/system.h"
#include "cpu/buckets.h"
#include "cpu/cpu.h"
#include "cpu/even.h"
#include "cpu/features.h"
#include "cpu/in_place.h"
#include "cpu/statistics.h"
#include "cpu/threads.h"
#include "plan/registry.h"

extern const ty_method ty_cpu_tables, ty_cpu_weights;
extern const ty_cpu_method ty_statistics_method;

/* Tables up to this size live on the stack of a call that one thread does alone. */
enum { small_bytes = 8 << 10 };

tally_status ty_cpu_unweighted(const tally_plan *plan, tally_error *error)
{
    if (plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "it counts samples; weights are summed by cpu-weights");
    return TALLY_OK;
}

/* What a worker's state holds. */
typedef struct {
    uint64_t batch, pending; /* elements not flushed yet */
    int ready;               /* cleared and begun */
} held_state;

/* One run of a job over the pool. */
typedef struct {
    ty_job *job;
    const ty_cpu_method *method;
    unsigned char *states; /* `workers` of them, `bytes` apart */
    size_t bytes;
    int clean;                      /* the states are zeros to begin with */
    uint64_t total, workers, parts; /* total: elements over all batches */
    const tally_source *source;     /* parts begin where it says; NULL: anywhere */
    int whole;                      /* in place: a worker does whole batches */
    held_state *held;
    ty_source_buffers buffers; /* of samples that are read; else without memory */
    pthread_mutex_t lock;      /* totals; there only for several workers */
    atomic_ullong done;
    atomic_int cancelled;
} run;

static void lock_totals(run *r)
{
    if (r->workers > 1)
        pthread_mutex_lock(&r->lock);
}

static void unlock_totals(run *r)
{
    if (r->workers > 1)
        pthread_mutex_unlock(&r->lock);
}

/* A worker clears its own tables, so that their pages come to lie near it. */
static unsigned char *state_of(run *r, unsigned worker)
{
    unsigned char *state = r->states + worker * r->bytes;
    if (!r->held[worker].ready) {
        if (!r->clean)
            memset(state, 0, r->method->head_bytes ? r->method->head_bytes(r->job) : r->bytes);
        if (r->method->begin)
            r->method->begin(state, r->job);
        r->held[worker].ready = 1;
    }
    return state;
}

static void flush_state(run *r, unsigned worker)
{
    if (!r->held[worker].pending)
        return;
    lock_totals(r);
    r->method->flush(state_of(r, worker), r->job, r->held[worker].batch);
    unlock_totals(r);
    r->held[worker].pending = 0;
}

/* Elements [begin, end) of a batch, into a worker's state. What has to be read is read and counted
 * a buffer at a time: the same job, by whose elements tables are laid out, with other grids. */
static void count_elements(run *r, unsigned worker, uint64_t batch, uint64_t begin, uint64_t end)
{
    unsigned char *state = state_of(r, worker);
    if (!r->buffers.memory) {
        r->method->count(state, r->job, batch, begin, end);
        return;
    }
    for (uint64_t n; begin < end && !ty_source_stopped(r->job->failure, begin); begin += n) {
        ty_grid *grids[TY_JOB_GRIDS];
        ty_job piece = *r->job;
        ty_statistics statistics;
        if (piece.statistics) {
            statistics = *piece.statistics;
            piece.statistics = &statistics;
        }
        const unsigned count = ty_job_grids(&piece, grids);
        n = ty_source_load(&r->buffers, worker, grids, count, begin, end - begin);
        r->method->count(state, &piece, 0, 0, n);
        ty_source_unload(grids, count, begin);
    }
}

/* Elements [begin, end) counted over all batches, into one worker's state. */
static void count_span(run *r, unsigned worker, uint64_t begin, uint64_t end)
{
    uint64_t elements = r->job->elements;
    while (begin < end) {
        uint64_t batch = begin / elements, first = begin % elements;
        uint64_t n = end - begin < elements - first ? end - begin : elements - first;
        if (r->held[worker].pending &&
            (r->held[worker].batch != batch || r->held[worker].pending == r->method->most))
            flush_state(r, worker);
        uint64_t left = r->method->most - r->held[worker].pending;
        n = n < left ? n : left;
        r->held[worker].batch = batch;
        r->held[worker].pending += n;
        count_elements(r, worker, batch, first, first + n);
        begin += n;
    }
}

static uint64_t part_start(const run *r, uint64_t part)
{
    const uint64_t start =
        r->total / r->parts * part + (part < r->total % r->parts ? part : r->total % r->parts);
    return r->source && part < r->parts ? ty_source_whole(r->source, start) : start;
}

static void report(run *r, unsigned worker, uint64_t counted)
{
    uint64_t done = atomic_fetch_add(&r->done, counted) + counted;
    if (worker == 0 && r->job->progress && r->job->progress(r->job->user, done, r->total))
        atomic_store(&r->cancelled, 1);
}

static void any_part(void *arg, unsigned part, unsigned worker)
{
    run *r = arg;
    uint64_t begin = part_start(r, part), end = part_start(r, part + 1);
    if (atomic_load(&r->cancelled))
        return;
    count_span(r, worker, begin, end);
    report(r, worker, end - begin);
}

/* Ordered methods: every batch in `share` parts, flushed one after the other. */
typedef struct {
    run *r;
    uint64_t share;
    atomic_ullong next; /* the part to be counted next, over all batches */
    uint64_t flushed;   /* parts; under the run's lock */
    pthread_cond_t turn;
} in_order;

static void flush_in_turn(in_order *o, uint64_t part, unsigned char *state)
{
    run *r = o->r;
    lock_totals(r);
    while (o->flushed != part) /* never with one worker: its parts come in order */
        pthread_cond_wait(&o->turn, &r->lock);
    r->method->flush(state, r->job, part / o->share);
    o->flushed++;
    if (r->workers > 1)
        pthread_cond_broadcast(&o->turn);
    unlock_totals(r);
}

/* Takes the next part. Whoever has the one before is counting it, so that waits end. */
static void ordered_part(void *arg, unsigned any, unsigned worker)
{
    in_order *o = arg;
    run *r = o->r;
    const uint64_t part = atomic_fetch_add(&o->next, 1), p = part % o->share;
    const uint64_t n = r->job->elements, begin = n * p / o->share, end = n * (p + 1) / o->share;
    unsigned char *state = state_of(r, worker);
    const int cancelled = atomic_load(&r->cancelled);
    (void)any;
    if (!cancelled)
        count_elements(r, worker, part / o->share, begin, end);
    flush_in_turn(o, part, state);
    if (!cancelled)
        report(r, worker, end - begin);
}

/* Many small batches: each wholly in one part, so the order within it is the samples', and nobody
 * else adds to its histograms. */
static void whole_batches(void *arg, unsigned part, unsigned worker)
{
    run *r = arg;
    uint64_t begin = r->job->batches * part / r->parts,
             end = r->job->batches * (part + 1) / r->parts;
    for (uint64_t b = begin; b < end && !atomic_load(&r->cancelled); b++) {
        unsigned char *state = state_of(r, worker);
        count_elements(r, worker, b, 0, r->job->elements);
        lock_totals(r);
        r->method->flush(state, r->job, b);
        unlock_totals(r);
        report(r, worker, r->job->elements);
    }
}

static void run_ordered(run *r, ty_pool *pool)
{
    const uint64_t batches = r->job->batches;
    in_order o = {.r = r, .share = r->parts / batches};
    if (o.share < 2) {
        r->parts = r->parts < batches ? r->parts : batches;
        ty_pool_run(pool, (unsigned)r->workers, (unsigned)r->parts, whole_batches, r);
        return;
    }
    pthread_cond_init(&o.turn, NULL);
    ty_pool_run(pool, (unsigned)r->workers, (unsigned)(o.share * batches), ordered_part, &o);
    pthread_cond_destroy(&o.turn);
}

/* Threads worth their tables: enough samples for each, and no more than a gigabyte of tables. */
static uint64_t choose_workers(const run *r, const ty_pool *pool)
{
    uint64_t bytes = r->total * r->job->samples[0].size * r->job->plan->active_count;
    uint64_t most = bytes / ty_cpu_thread_bytes(r->bytes);
    uint64_t memory = ((uint64_t)1 << 30) / (r->bytes ? r->bytes : 1);
    uint64_t n = ty_pool_threads(pool);
    n = n < most ? n : most;
    n = n < memory ? n : memory;
    return n ? n : 1;
}

/* Ordered methods: as many parts as the job alone decides, so that sums have the same bits on any
 * number of threads. To flush a table takes as long as some samples of its size. */
static uint64_t choose_ordered(const run *r)
{
    enum { MOST = 64, FEW = 4 };
    uint64_t bytes = r->total * r->job->samples[0].size * r->job->plan->active_count;
    uint64_t table = r->bytes, parts = bytes / ty_cpu_thread_bytes(4 * table);
    uint64_t few = bytes / ty_cpu_thread_bytes(table);
    few = few < FEW ? few : FEW;
    parts = parts > few ? parts : few;
    return !parts ? 1 : parts < MOST ? parts : MOST;
}

/* More parts than workers, so that a slow thread holds up little; small ones when someone watches,
 * and where they are read, so that a file is read about from its begin to its end. */
static uint64_t choose_parts(const run *r, uint64_t workers)
{
    uint64_t bytes = r->total * r->job->samples[0].size, parts = workers > 1 ? workers * 8 : 1;
    uint64_t watched = r->job->progress ? bytes >> 24 : 0, read = r->job->failure ? bytes >> 22 : 0;
    parts = parts > watched ? parts : watched;
    parts = parts > read ? parts : read;
    return parts < 1 << 20 ? parts : 1 << 20;
}

static void run_any(run *r, ty_pool *pool)
{
    ty_pool_run(pool, (unsigned)r->workers, (unsigned)r->parts, any_part, r);
    for (unsigned w = 0; w < r->workers; w++)
        flush_state(r, w);
}

static void walk(run *r, ty_walk what)
{
    ty_pool *pool = r->job->plan->context->pool;
    r->job->walk = what;
    if (r->whole)
        ty_pool_run(pool, (unsigned)r->workers, (unsigned)r->parts, whole_batches, r);
    else
        run_any(r, pool);
}

static void run_in_place(run *r)
{
    ty_job *job = r->job;
    const int first = ty_plan_may_fail(job->plan) || job->progress;
    if (first) {
        walk(r, TY_WALK_FLOWS);
        job->progress = NULL;
        if (atomic_load(&r->cancelled) || ty_job_check_flows(job, NULL))
            return; /* nothing is written; commit says why */
    }
    if (!job->output->accumulate)
        ty_in_place_clear(job);
    walk(r, first ? TY_WALK_ADD : TY_WALK_COUNT);
    if (job->isums && ty_job_check_flows(job, NULL))
        job->wrapped = 1;
    if (job->wrapped)
        walk(r, TY_WALK_UNDO);
    else if (job->isums && job->squares)
        walk(r, TY_WALK_SQUARES);
}

static void count_parts(run *r)
{
    ty_pool *pool = r->job->plan->context->pool;
    if (r->job->walk)
        run_in_place(r);
    else if (r->method->ordered)
        run_ordered(r, pool);
    else
        run_any(r, pool);
}

/* How far the states are zeros when all is counted: flushing clears what does not need more to
 * begin with, and workers that did nothing have left theirs as it was. */
static size_t left_clean(const run *r, size_t clean)
{
    uint64_t ready = 0;
    while (ready < r->workers && r->held[ready].ready)
        ready++;
    if (r->method->begin || r->method->head_bytes)
        return 0;
    return clean > ready * r->bytes ? clean : (size_t)(ready * r->bytes);
}

static tally_status run_large(run *r, tally_error *error)
{
    ty_buffer_cache *cache = &r->job->plan->context->tables;
    tally_status status =
        ty_memory_check(r->workers * r->bytes, "the threads' tables", NULL, error);
    if (status)
        return status;
    ty_buffer *buffer = ty_buffer_take(cache, r->workers * r->bytes);
    r->held = ty_calloc(r->workers, sizeof *r->held);
    if (!buffer || !r->held) {
        status = ty_error_memory(error, "the threads' tables", r->workers * r->bytes);
    } else {
        r->states = buffer->data;
        r->clean = buffer->clean >= r->workers * r->bytes;
        pthread_mutex_init(&r->lock, NULL);
        count_parts(r);
        pthread_mutex_destroy(&r->lock);
        buffer->clean = left_clean(r, r->clean ? buffer->clean : 0);
    }
    ty_buffer_return(cache, buffer);
    ty_free(r->held);
    return status;
}

static void run_small(run *r)
{
    _Alignas(64) unsigned char state[small_bytes];
    held_state held = {0, 0, 0};
    r->states = state;
    r->held = &held;
    count_parts(r);
}

/* Whole batches a thread if there are enough; else threads share histograms, or there is one. */
static void choose_sharing(run *r)
{
    ty_job *job = r->job;
    r->whole = job->batches >= 2 * r->workers;
    if (!r->whole && !ty_in_place_shares(job))
        r->workers = 1;
    job->shared =
        (r->workers > 1 && !r->whole) || job->output->accumulate == TALLY_ACCUMULATE_ATOMIC;
    r->parts = choose_parts(r, r->workers);
    r->parts = r->whole && r->parts > job->batches ? job->batches : r->parts;
}

static const ty_cpu_method *method_of(const ty_job *job)
{
    return job->statistics ? &ty_statistics_method
           : job->walk     ? &ty_in_place_method
                           : ((const ty_cpu_plan *)job->plan->state)->method;
}

/* Workers, parts and tables. */
static void arrange(run *r, ty_job *job)
{
    *r = (run){.job = job, .method = method_of(job)};
    r->total = job->batches * job->elements;
    r->bytes = (r->method->state_bytes(job) + 63) & ~(size_t)63;
    r->workers = choose_workers(r, job->plan->context->pool);
    r->parts = r->method->ordered ? choose_ordered(r) : choose_parts(r, r->workers);
    if (job->walk)
        choose_sharing(r);
}

/* Lets the source say where parts begin, if there is something in each then. */
static void choose_source(run *r, const tally_source *source)
{
    r->source = source;
    for (uint64_t part = 1, begin = 0; part < r->parts && r->source; part++) {
        const uint64_t next = part_start(r, part);
        r->source = next > begin ? source : NULL;
        begin = next;
    }
}

static tally_status run_read(run *r, tally_error *error)
{
    ty_grid *grids[TY_JOB_GRIDS];
    const unsigned count = ty_job_grids(r->job, grids);
    choose_source(r, grids[0]->source);
    tally_status status =
        ty_source_buffers_make(&r->buffers, grids, count, (unsigned)r->workers, error);
    if (!status)
        status = run_large(r, error);
    ty_source_buffers_free(&r->buffers);
    return status;
}

static tally_status cpu_run(ty_job *job, tally_error *error)
{
    run r;
    if (!job->batches || !job->elements)
        return TALLY_OK;
    if (method_of(job)->whole)
        return method_of(job)->whole(job, error);
    arrange(&r, job);
    const int once = r.workers == 1 && (!r.method->ordered || r.parts == 1);
    if (once && !job->progress && !job->failure && r.method->straight && r.method->straight(job))
        return TALLY_OK;
    tally_status status = TALLY_OK;
    if (job->failure)
        status = run_read(&r, error);
    else if (r.workers == 1 && r.bytes <= small_bytes)
        run_small(&r);
    else
        status = run_large(&r, error);
    if (!status && atomic_load(&r.cancelled))
        status = ty_error(error, TALLY_ERROR_CANCELLED, "cancelled");
    return status;
}

static tally_status cpu_memory(const ty_job *job, uint64_t *host, uint64_t *device,
                               tally_error *error)
{
    const ty_cpu_plan *state = job->plan->state;
    ty_job same = *job;
    run r;
    (void)device;
    (void)error;
    if (!job->batches || !job->elements)
        return TALLY_OK;
    if (state->method->whole) {
        *host += state->method->whole_bytes(job);
        return TALLY_OK;
    }
    arrange(&r, &same);
    if (r.workers > 1 || r.bytes > small_bytes)
        *host += ty_buffer_bytes(r.workers * r.bytes) + r.workers * sizeof *r.held;
    return TALLY_OK;
}

/* What is flushed is flushed when all is counted, and something is. */
static int cpu_directs(const ty_job *job)
{
    const ty_cpu_method *method = ((const ty_cpu_plan *)job->plan->state)->method;
    return method->direct && job->batches == 1 && job->elements && job->elements <= method->most;
}

static int cpu_adds_in_place(const ty_job *job)
{
    const ty_cpu_plan *state = job->plan->state;
    return ty_in_place_serves(job) &&
           (state->in_place || (job->plan->seconds > 0 && ty_in_place_pays(job)));
}

/* For float32 proving an edge takes as long as counting some samples does less. */
static void prove(ty_axis *axis, uint64_t samples)
{
    enum { AN_EDGE = 8 };
    const int pays = !samples || samples / AN_EDGE >= axis->bins.bins;
    if (ty_even_serves(axis) && (axis->dtype == TALLY_F64 || (axis->dtype == TALLY_F32 && pays)))
        ty_even_loops_get()->prove(axis);
}

static tally_status cpu_prepare(tally_plan *plan, tally_error *error)
{
    ty_cpu_plan *state = ty_calloc(1, sizeof *state);
    if (!state)
        return ty_error_memory(error, "a plan", sizeof *state);
    plan->state = state;
    state->in_place = plan->method->backend == &ty_in_place_method;
    const ty_method *tables = plan->weighted ? &ty_cpu_weights : &ty_cpu_tables;
    state->method = (state->in_place ? tables : plan->method)->backend;
    if (!state->method->most && !state->method->whole)
        return ty_error(error, TALLY_ERROR_INTERNAL,
                        "method %s does not say how many elements its tables take (most)",
                        plan->method->name);
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        tally_status status = TALLY_OK;
        if (!ty_even_serves(&plan->axes[d]))
            status = ty_buckets_make(&plan->axes[d], &plan->axes[d].buckets, error);
        if (status)
            return status;
        prove(&plan->axes[d], plan->options.n_hint);
        state->slots[d] = ty_slots_pick(&plan->axes[d]);
    }
    state->add = ty_add_pick(&plan->axes[0]);
    const uint32_t *slots = plan->axes[0].byte_slots;
    state->bytes_same = slots != NULL;
    for (uint32_t v = 0; slots && v < 256; v++)
        state->bytes_same &= slots[v] == v;
    return TALLY_OK;
}

static void cpu_finish(tally_plan *plan)
{
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        ty_buckets_free(plan->axes[d].buckets);
    ty_free(plan->state);
}

static uint32_t cpu_count(void)
{
    return 1;
}

static void read_model(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "processor");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon) {
            colon[strcspn(colon, "\n")] = '\0';
            snprintf(name, size, "%s", colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}

static void cpu_info(int32_t index, tally_device_info *info)
{
    (void)index;
    snprintf(info->id, sizeof info->id, "cpu");
    read_model(info->name, sizeof info->name);
    info->memory_bytes = ty_system_memory();
    info->local_bytes = ty_system_cache();
    info->available = 1;
}

static void cpu_arch(const tally_context *context, char *arch, size_t size)
{
    const uint32_t features = ty_cpu_features();
    (void)context;
    snprintf(arch, size, "cpu%s",
             features & TY_CPU_AVX512 ? "-avx512"
             : features & TY_CPU_AVX2 ? "-avx2"
                                      : "");
}

const ty_backend ty_cpu_backend = {
    TALLY_DEVICE_CPU,  "cpu",       cpu_count,  cpu_info, NULL, NULL,
    cpu_arch,          cpu_prepare, cpu_finish, cpu_run,  0,    cpu_directs,
    cpu_adds_in_place, cpu_memory,  NULL,
};
