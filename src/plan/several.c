/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/several.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/source.h"
#include "core/system.h"
#include "cpu/threads.h"
#include "plan/dealing.h"
#include "plan/tuning.h"

struct ty_several {
    unsigned count;
    tally_context *contexts[TY_MOST_DEVICES];
    char ids[TY_MOST_DEVICES][32];
};

static const ty_backend several_backend;

unsigned ty_several_count(const ty_several *several)
{
    return several->count;
}

tally_context *ty_several_context(const ty_several *several, unsigned i)
{
    return several->contexts[i];
}

const char *ty_several_id(const ty_several *several, unsigned i)
{
    return several->ids[i];
}

/* ---- the list of devices ---- */

static const ty_backend *find_kind(const char *name, size_t length)
{
    for (int i = 0; ty_backends[i]; i++)
        if (strlen(ty_backends[i]->name) == length && !memcmp(ty_backends[i]->name, name, length))
            return ty_backends[i];
    return NULL;
}

/* Threads of a device. Where the processor counts too, on all threads, those of a GPU only copy
 * samples to pinned memory: a few keep up with the bus, more would take time from the counting. */
static uint32_t threads_of(const tally_context_options *options, const ty_backend *kind)
{
    const uint32_t all = options->threads ? options->threads : ty_system_processors(),
                   few = all / 4;
    if (kind->device == TALLY_DEVICE_CPU || !strstr(options->devices, "cpu"))
        return options->threads;
    return few > 4 ? few : all < 4 ? all : 4;
}

static tally_status add_device(ty_several *s, const tally_context_options *options,
                               const ty_backend *kind, int32_t index, tally_error *error)
{
    tally_context_options one = TALLY_CONTEXT_OPTIONS_INIT;
    char id[32];
    snprintf(id, sizeof id, kind->device == TALLY_DEVICE_CPU ? "%s" : "%s:%d", kind->name, index);
    for (unsigned i = 0; i < s->count; i++)
        if (!strcmp(s->ids[i], id))
            return ty_error(error, TALLY_ERROR_ARGUMENT, "devices: %s is named twice", id);
    if (s->count == TY_MOST_DEVICES)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "devices: at most %d are taken",
                        TY_MOST_DEVICES);
    one.device = kind->device;
    one.index = index;
    one.threads = threads_of(options, kind);
    tally_status status = tally_context_create(&one, &s->contexts[s->count], error);
    if (!status)
        memcpy(s->ids[s->count++], id, sizeof id);
    return status;
}

/* One word of the list: "cuda", "cuda:1", "cuda:*", or a number that goes on with the last kind. */
static tally_status add_word(ty_several *s, const tally_context_options *options, const char *word,
                             size_t length, const ty_backend **kind, tally_error *error)
{
    const char *colon = memchr(word, ':', length), *number = colon ? colon + 1 : word;
    const size_t digits = (size_t)(word + length - number);
    const ty_backend *named = find_kind(word, colon ? (size_t)(colon - word) : length);
    const int bare = !colon && named;
    const int every = digits == 1 && *number == '*' && colon;
    tally_status status = TALLY_OK;
    *kind = named ? named : colon ? NULL : *kind;
    if (!*kind ||
        (!bare && !every && (!digits || digits > 6 || strspn(number, "0123456789") < digits)))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "devices: '%.*s': write cpu, cuda, cuda:1 or cuda:*, separated by commas",
                        (int)length, word);
    if (!every)
        return add_device(s, options, *kind, bare ? 0 : atoi(number), error);
    const uint32_t count = (*kind)->count();
    if (!count) /* says why */
        return add_device(s, options, *kind, 0, error);
    for (uint32_t i = 0; i < count && !status; i++)
        status = add_device(s, options, *kind, (int32_t)i, error);
    return status;
}

static void close_devices(ty_several *s)
{
    for (unsigned i = 0; i < s->count; i++)
        tally_context_destroy(s->contexts[i]);
    ty_free(s);
}

tally_status ty_several_open(tally_context *context, const tally_context_options *options,
                             tally_error *error)
{
    const ty_backend *kind = NULL;
    tally_status status = TALLY_OK;
    if (options->device || options->index || options->native)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "context options: with devices, device, index and native stay unset");
    ty_several *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "a context", sizeof *s);
    for (const char *word = options->devices; !status;) {
        const size_t length = strcspn(word, ",");
        status = add_word(s, options, word, length, &kind, error);
        if (!word[length])
            break;
        word += length + 1;
    }
    context->backend = &several_backend;
    context->device = TALLY_DEVICE_CPU; /* where samples and outputs lie */
    context->pool = status ? NULL : ty_pool_create(s->count);
    context->several = s;
    if (!status && !context->pool)
        status = ty_error_memory(error, "a thread pool", 1);
    if (!status)
        status = ty_tuning_open(context, error);
    if (!status)
        return TALLY_OK;
    ty_pool_destroy(context->pool);
    close_devices(s);
    return status;
}

static void close_context(tally_context *context)
{
    close_devices(context->several);
}

static uint32_t count_contexts(void)
{
    return 1;
}

/* No device in particular: what the devices are, ty_several says. */
static void describe(int32_t index, tally_device_info *info)
{
    (void)index;
    info->available = 1;
    snprintf(info->id, sizeof info->id, "several");
    snprintf(info->name, sizeof info->name, "several devices");
}

static void arch(const tally_context *context, char *name, size_t size)
{
    (void)context;
    snprintf(name, size, "cpu");
}

/* ---- plans ---- */

tally_status ty_several_plan(tally_context *context, const tally_plan_options *options,
                             tally_plan **plan, tally_error *error)
{
    const ty_several *s = context->several;
    tally_plan *made = NULL;
    tally_error why = {""};
    if (options->sum_squares ||
        (options->weight_dtype && options->weight_limit == 0 &&
         (options->weight_dtype == TALLY_F32 || options->weight_dtype == TALLY_F64)))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "float sums on several devices need a weight_limit, which makes them the "
                        "same for every split; squares of weights are for one device");
    tally_status status = ty_plan_resolve(s->contexts[0], options, 0, &made, &why);
    if (status)
        return ty_error(error, status, "%s: %.900s", s->ids[0], why.message);
    made->context = context;
    made->several = ty_calloc(s->count, sizeof(tally_plan *));
    if (!made->several)
        status = ty_error_memory(error, "a plan", s->count * sizeof(tally_plan *));
    made->text[0] = '\0';
    for (unsigned i = 0; i < s->count && !status; i++) {
        status = tally_plan_create(s->contexts[i], options, &made->several[i], &why);
        if (status)
            ty_error(error, status, "%s: %.900s", s->ids[i], why.message);
        else
            snprintf(made->text + strlen(made->text), sizeof made->text - strlen(made->text),
                     "%s%s: %s", i ? "; " : "", s->ids[i], made->several[i]->text);
    }
    if (status)
        tally_plan_destroy(made);
    else
        *plan = made;
    return status;
}

static void finish(tally_plan *plan)
{
    for (unsigned i = 0; plan->several && i < plan->context->several->count; i++)
        tally_plan_destroy(plan->several[i]);
    ty_free(plan->several);
}

/* ---- dealing ---- */

/* The samples are cut along one dimension, where they are longest. */
typedef enum cut_along { along_batches, along_rows, along_columns } cut_along;

uint64_t ty_several_least = 32 << 20;
enum { PIECE_MOST = 512 << 20 };

/* A call. */
typedef struct deal {
    ty_job *job;
    cut_along along;
    pthread_mutex_t lock;
    ty_dealing dealing; /* of steps along it */
    uint64_t done;      /* steps */
    /* The first failure, in the samples' order. */
    uint64_t failed_at;
    tally_status status;
    tally_error error;
} deal;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The device's next piece, when its last one was of `n` steps from the time *since on; 0: there is
 * none for it, or someone has failed. */
static uint64_t next_piece(deal *d, unsigned device, uint64_t n, uint64_t *begin, double *since)
{
    pthread_mutex_lock(&d->lock);
    const double time = now();
    if (n)
        ty_deal_done(&d->dealing, device, n, time - *since);
    *since = time;
    n = d->status ? 0 : ty_deal_next(&d->dealing, device, begin);
    pthread_mutex_unlock(&d->lock);
    return n;
}

static void fail(deal *d, uint64_t begin, tally_status status, const char *format, const char *id,
                 const tally_error *error)
{
    pthread_mutex_lock(&d->lock);
    if (!d->status || begin < d->failed_at) {
        d->status = status;
        d->failed_at = begin;
        snprintf(d->error.message, sizeof d->error.message, format, id, error->message);
    }
    pthread_mutex_unlock(&d->lock);
}

/* A source that begins at a later element of another one. */
typedef struct shifted {
    tally_source source;
    const tally_source *from;
    uint64_t begin;
} shifted;

static tally_status read_shifted(void *user, uint64_t begin, uint64_t count, void *to,
                                 tally_error *error)
{
    const shifted *s = user;
    return s->from->read(s->from->user, s->begin + begin, count, to, error);
}

static void cut_grid(const deal *d, ty_grid *g, uint64_t begin, uint64_t count, shifted *source)
{
    uint64_t *extents[] = {&g->batches, &g->rows, &g->columns};
    const int64_t strides[] = {g->batch_stride, g->row_stride, g->column_stride};
    if (g->source) {
        *source = (shifted){{sizeof(tally_source), read_shifted, source, NULL, NULL, 0, NULL},
                            g->source,
                            begin * (d->along == along_rows ? g->columns : 1)};
        g->source = &source->source;
    } else
        g->data += (int64_t)begin * strides[d->along];
    *extents[d->along] = count;
}

/* The job of one piece: a device's plan, and totals that its pieces share. */
static void cut_job(const deal *d, ty_job *piece, const ty_job *totals, uint64_t begin,
                    uint64_t count, shifted *sources)
{
    ty_grid *grids[TY_JOB_GRIDS];
    const tally_plan *plan = totals->plan;
    *piece = *totals;
    const unsigned n = ty_job_grids(piece, grids);
    for (unsigned i = 0; i < n; i++)
        cut_grid(d, grids[i], begin, count, &sources[i]);
    piece->batches = piece->samples[0].batches;
    piece->elements = piece->samples[0].rows * piece->samples[0].columns;
    piece->histograms = piece->batches * plan->active_count;
    if (d->along != along_batches)
        return;
    const uint64_t at = begin * plan->active_count * plan->slots;
    piece->totals += at;
    if (piece->isums)
        piece->isums += at;
    if (piece->carries)
        piece->carries += at;
}

static tally_status run_piece(const deal *d, const ty_job *totals, uint64_t begin, uint64_t count,
                              tally_error *error)
{
    shifted sources[TY_JOB_GRIDS];
    ty_grid *grids[TY_JOB_GRIDS];
    ty_source_failure failure;
    ty_job piece;
    cut_job(d, &piece, totals, begin, count, sources);
    const ty_backend *backend = piece.plan->context->backend;
    if (!piece.samples[0].source)
        return backend->run(&piece, error);
    ty_source_begin(&failure, grids, ty_job_grids(&piece, grids));
    piece.failure = &failure;
    tally_status status = backend->run(&piece, error);
    if (!status)
        status = ty_source_status(&failure, error);
    ty_source_end(&failure);
    return status;
}

tally_status ty_several_reserve(ty_job *totals, const ty_job *whole, const tally_plan *plan,
                                tally_error *error)
{
    *totals = *whole;
    totals->plan = plan;
    totals->stream = NULL;
    totals->progress = NULL;
    totals->device_seconds = totals->merge_seconds = NULL;
    totals->totals = NULL;
    totals->totals_buffer = NULL;
    totals->isums = totals->carries = NULL;
    totals->failure = NULL;
    return ty_job_reserve(totals, error);
}

void ty_several_add(ty_job *whole, const ty_job *totals)
{
    const uint64_t entries = whole->histograms * whole->plan->slots;
    for (uint64_t i = 0; i < entries; i++)
        whole->totals[i] += totals->totals[i];
    for (uint64_t i = 0; whole->isums && i < entries; i++) {
        ty_carry_add(&whole->isums[i], &whole->carries[i], totals->isums[i]);
        whole->carries[i] += totals->carries[i];
    }
}

/* The caller's wish to cancel, asked on its own thread. */
static int is_cancelled(deal *d, unsigned worker, uint64_t done)
{
    const ty_job *job = d->job;
    const uint64_t all = job->batches * job->elements;
    pthread_mutex_lock(&d->lock);
    d->done += done;
    const uint64_t elements = all / d->dealing.extent * d->done;
    pthread_mutex_unlock(&d->lock);
    return !worker && job->progress && job->progress(job->user, elements, all);
}

/* One device: piece by piece until there is none. */
static void count_on_device(void *arg, unsigned part, unsigned worker)
{
    static const tally_error cancelled = {"the call was cancelled"};
    deal *d = arg;
    const ty_several *s = d->job->plan->context->several;
    ty_job totals;
    tally_error error = {""};
    uint64_t begin = 0, n = 0;
    double since = 0;
    tally_status status = ty_several_reserve(&totals, d->job, d->job->plan->several[part], &error);
    while (!status && (n = next_piece(d, part, n, &begin, &since))) {
        status = run_piece(d, &totals, begin, n, &error);
        if (!status && is_cancelled(d, worker, n))
            fail(d, 0, TALLY_ERROR_CANCELLED, "%s%s", "", &cancelled);
    }
    if (status)
        fail(d, begin, status, "%s: %s", s->ids[part], &error);
    pthread_mutex_lock(&d->lock);
    if (!d->status)
        ty_several_add(d->job, &totals);
    pthread_mutex_unlock(&d->lock);
    ty_job_release(&totals);
}

static void choose_cut(deal *d)
{
    ty_grid *grids[TY_JOB_GRIDS];
    ty_job *job = d->job;
    const ty_grid *g = &job->samples[0];
    const uint64_t extents[] = {g->batches, g->rows, g->columns};
    d->along = along_columns;
    for (int i = along_columns; i-- > 0;)
        if (extents[i] > extents[d->along])
            d->along = (cut_along)i;
    const uint64_t extent = extents[d->along];
    uint64_t unit_bytes = 0; /* of all views, for one step */
    for (unsigned i = 0, n = ty_job_grids(job, grids); i < n; i++)
        unit_bytes += grids[i]->channels * grids[i]->size;
    unit_bytes *= extent ? job->batches * job->elements / extent : 0;
    unit_bytes += !unit_bytes;
    /* Each piece also moves the totals, by 8 bytes a bin and more. */
    const uint64_t least = ty_several_least * (1 + job->plan->slots / (UINT64_C(1) << 18));
    d->dealing = (ty_dealing){.extent = extent, .least = least / unit_bytes + 1};
    /* No more devices than pieces: a call of one piece wakes no thread. */
    const uint64_t devices = job->plan->context->several->count, pieces = extent / d->dealing.least;
    d->dealing.devices = (unsigned)(pieces < devices ? pieces + 1 : devices);
    d->dealing.most =
        PIECE_MOST / unit_bytes > d->dealing.least ? PIECE_MOST / unit_bytes : d->dealing.least;
}

static tally_status run(ty_job *job, tally_error *error)
{
    deal d = {.job = job};
    choose_cut(&d);
    pthread_mutex_init(&d.lock, NULL);
    ty_pool_run(job->plan->context->pool, d.dealing.devices, d.dealing.devices, count_on_device,
                &d);
    pthread_mutex_destroy(&d.lock);
    return d.status ? ty_error(error, d.status, "%s", d.error.message) : TALLY_OK;
}

static tally_status memory(const ty_job *job, uint64_t *host, uint64_t *device, tally_error *error)
{
    tally_status status = TALLY_OK;
    for (unsigned i = 0; i < job->plan->context->several->count && !status; i++) {
        ty_job one = *job;
        uint64_t totals = 0;
        one.plan = job->plan->several[i];
        status = ty_job_bytes(&one, &totals, error);
        *host += totals;
        if (!status)
            status = one.plan->context->backend->memory(&one, host, device, error);
    }
    return status;
}

static const ty_backend several_backend = {
    .device = TALLY_DEVICE_CPU,
    .name = "several",
    .count = count_contexts,
    .info = describe,
    .close = close_context,
    .arch = arch,
    .finish = finish,
    .run = run,
    .memory = memory,
};
