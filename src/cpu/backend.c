/* The processor as a device: parts of a job over the pool's threads, tables a worker, then totals.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "cpu/cpu.h"
#include "cpu/threads.h"
#include "methods/registry.h"

enum { part_bytes = 256 << 10 }; /* fewest bytes of samples worth another thread */

tally_status ty_cpu_unweighted(const tally_plan *plan, tally_error *error)
{
    if (plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "it counts samples; weights are summed by cpu-weights");
    return TALLY_OK;
}

/* One run of a job over the pool. */
typedef struct {
    ty_job *job;
    const ty_cpu_method *method;
    unsigned char *states; /* `workers` of them, `bytes` apart; ordered: one a part */
    size_t bytes;
    uint64_t total, parts; /* elements over all batches */
    struct {
        uint64_t batch, pending; /* what a worker's state holds, not flushed yet */
    } * held;
    pthread_mutex_t lock; /* totals */
    atomic_ullong done;
    atomic_int cancelled;
} run;

static void flush_state(run *r, unsigned worker)
{
    if (!r->held[worker].pending)
        return;
    pthread_mutex_lock(&r->lock);
    r->method->flush(r->states + worker * r->bytes, r->job, r->held[worker].batch);
    pthread_mutex_unlock(&r->lock);
    r->held[worker].pending = 0;
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
        uint64_t room = r->method->most - r->held[worker].pending;
        n = n < room ? n : room;
        r->held[worker].batch = batch;
        r->held[worker].pending += n;
        r->method->count(r->states + worker * r->bytes, r->job, batch, first, first + n);
        begin += n;
    }
}

static uint64_t part_start(const run *r, uint64_t part)
{
    return r->total / r->parts * part + (part < r->total % r->parts ? part : r->total % r->parts);
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

/* Ordered methods: part p's own state, all within one batch; flushed in order afterwards. */
typedef struct {
    run *r;
    uint64_t batch, parts;
} ordered_batch;

static void ordered_part(void *arg, unsigned part, unsigned worker)
{
    ordered_batch *o = arg;
    run *r = o->r;
    uint64_t n = r->job->elements;
    uint64_t begin = n * part / o->parts, end = n * (part + 1) / o->parts;
    if (atomic_load(&r->cancelled))
        return;
    r->method->count(r->states + part * r->bytes, r->job, o->batch, begin, end);
    report(r, worker, end - begin);
}

/* Many small batches: each wholly in one part, so the order within it is the samples'. */
static void ordered_batches(void *arg, unsigned part, unsigned worker)
{
    run *r = arg;
    uint64_t begin = r->job->batches * part / r->parts,
             end = r->job->batches * (part + 1) / r->parts;
    for (uint64_t b = begin; b < end && !atomic_load(&r->cancelled); b++) {
        unsigned char *state = r->states + part * r->bytes;
        r->method->count(state, r->job, b, 0, r->job->elements);
        pthread_mutex_lock(&r->lock);
        r->method->flush(state, r->job, b);
        pthread_mutex_unlock(&r->lock);
        report(r, worker, r->job->elements);
    }
}

static void run_ordered(run *r, ty_pool *pool)
{
    if (r->job->batches >= r->parts) {
        ty_pool_run(pool, 0, (unsigned)r->parts, ordered_batches, r);
        return;
    }
    for (uint64_t b = 0; b < r->job->batches; b++) {
        ordered_batch o = {r, b, r->parts};
        ty_pool_run(pool, 0, (unsigned)r->parts, ordered_part, &o);
        for (uint64_t p = 0; p < r->parts; p++)
            r->method->flush(r->states + p * r->bytes, r->job, b);
    }
}

/* Threads worth their tables: enough samples for each, and no more than a gigabyte of tables. */
static uint64_t choose_workers(const run *r, const ty_pool *pool)
{
    uint64_t bytes = r->total * r->job->samples[0].size * r->job->plan->active_count;
    uint64_t work = part_bytes + 4 * (uint64_t)r->bytes, most = bytes / work;
    uint64_t memory = ((uint64_t)1 << 30) / (r->bytes ? r->bytes : 1);
    uint64_t n = ty_pool_threads(pool);
    n = n < most ? n : most;
    n = n < memory ? n : memory;
    return n ? n : 1;
}

/* More parts than workers, so that a slow thread holds up little; small ones when someone watches.
 */
static uint64_t choose_parts(const run *r, uint64_t workers)
{
    uint64_t bytes = r->total * r->job->samples[0].size, parts = workers > 1 ? workers * 8 : 1;
    uint64_t watched = bytes >> 24;
    if (r->job->progress && parts < watched)
        parts = watched;
    return parts < 1 << 20 ? parts : 1 << 20;
}

static tally_status run_parts(run *r, tally_error *error)
{
    ty_pool *pool = r->job->plan->context->pool;
    uint64_t workers = choose_workers(r, pool);
    r->parts = r->method->ordered ? workers : choose_parts(r, workers);
    r->states = ty_aligned(64, workers * r->bytes);
    r->held = ty_calloc(workers, sizeof *r->held);
    if (!r->states || !r->held)
        return ty_error_memory(error, "the threads' tables", workers * r->bytes);
    for (uint64_t w = 0; w < workers; w++) {
        memset(r->states + w * r->bytes, 0, r->bytes);
        if (r->method->begin)
            r->method->begin(r->states + w * r->bytes, r->job->plan);
    }
    if (r->method->ordered) {
        run_ordered(r, pool);
    } else {
        ty_pool_run(pool, (unsigned)workers, (unsigned)r->parts, any_part, r);
        for (unsigned w = 0; w < workers; w++)
            flush_state(r, w);
    }
    if (atomic_load(&r->cancelled))
        return ty_error(error, TALLY_ERROR_CANCELLED, "cancelled");
    return TALLY_OK;
}

static tally_status cpu_run(ty_job *job, tally_error *error)
{
    const ty_cpu_plan *state = job->plan->state;
    if (!job->batches || !job->elements)
        return TALLY_OK;
    if (state->method->whole)
        return state->method->whole(job, error);
    run r = {.job = job, .method = state->method};
    if (__builtin_mul_overflow(job->batches, job->elements, &r.total))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "view 0: batches × elements pass 2^64");
    r.bytes = (r.method->state_bytes(job->plan) + 63) & ~(size_t)63;
    pthread_mutex_init(&r.lock, NULL);
    tally_status status = run_parts(&r, error);
    pthread_mutex_destroy(&r.lock);
    ty_free(r.states);
    ty_free(r.held);
    return status;
}

static tally_status cpu_prepare(tally_plan *plan, tally_error *error)
{
    ty_cpu_plan *state = ty_calloc(1, sizeof *state);
    if (!state)
        return ty_error_memory(error, "a plan", sizeof *state);
    state->method = plan->method->backend;
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        state->slots[d] = ty_slots_pick(&plan->axes[d]);
    plan->state = state;
    return TALLY_OK;
}

static void cpu_finish(tally_plan *plan)
{
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
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    info->memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
#ifdef _SC_LEVEL1_DCACHE_SIZE
    long cache = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    info->local_bytes = cache > 0 ? (uint64_t)cache : 0;
#endif
    info->available = 1;
}

const ty_backend ty_cpu_backend = {
    TALLY_DEVICE_CPU, "cpu", cpu_count, cpu_info, NULL, NULL, cpu_prepare, cpu_finish, 1, cpu_run,
};
