/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "many.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

typedef struct counting {
    cli_many *many;
    atomic_size_t next, failed; /* next file; the first that failed */
    pthread_mutex_t lock;       /* of the result, the sums and `errors` */
    tally_error **errors;       /* of each file that failed, owned */
    atomic_ullong done_bytes;
} counting;

unsigned cli_threads(const cli_options *options)
{
    cpu_set_t set;
    const unsigned all =
        sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
    return (unsigned)cli_uint(options, CLI_THREADS, all);
}

/* All of an open file. */
static tally_status count_input(const cli_many *many, tally_input *input, tally_result *into,
                                uint64_t *elements, double *seconds, tally_error *error)
{
    tally_view views[TALLY_MAX_DIMENSIONS], mask;
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    const tally_output output = tally_result_output(into);
    tally_status status = tally_input_view(input, views, error);
    const int whole = !status && views[0].source && !many->source->chunked;
    int32_t by_codes = 0;
    if (whole && many->by_codes)
        status = tally_input_count(input, many->plan, &output, &by_codes, error);
    for (int done = 0; !status && !done;) {
        if (!whole)
            status = tally_input_read(input, views, &done, error);
        if (status || done)
            break;
        const double started = cli_seconds();
        status = tally_input_mask(input, &mask, error);
        how.mask = mask.data || mask.source ? &mask : NULL;
        if (!by_codes && !status)
            status = tally_execute(many->plan, views, &how, &output, error);
        *seconds += cli_seconds() - started;
        *elements += views[0].rows * views[0].columns;
        done = whole;
    }
    return status;
}

static tally_status count_file(counting *c, size_t i, tally_error *error)
{
    cli_many *many = c->many;
    tally_input *input = NULL;
    tally_result *own = NULL;
    uint64_t elements = 0;
    double seconds = 0;
    tally_status status = cli_source_file(many->source, i, &input, error);
    if (!status)
        status = tally_result_create(many->plan, tally_plan_channels(many->plan),
                                     (const char *const *)many->source->names, &own, error);
    if (!status)
        status = count_input(many, input, own, &elements, &seconds, error);
    pthread_mutex_lock(&c->lock);
    if (!status)
        status = tally_result_merge(many->into, own, error);
    many->elements += status ? 0 : elements;
    many->seconds += seconds / many->workers;
    pthread_mutex_unlock(&c->lock);
    atomic_fetch_add(&c->done_bytes, many->source->sizes[i]);
    tally_result_destroy(own);
    cli_source_file_done(many->source, i, input);
    return status;
}

static void note_failure(counting *c, size_t i, const tally_error *error)
{
    tally_error *copy = malloc(sizeof *copy);
    if (copy)
        *copy = *error;
    pthread_mutex_lock(&c->lock);
    c->errors[i] = copy;
    c->many->source->skipped[i] = 1;
    if (i < atomic_load(&c->failed))
        atomic_store(&c->failed, i);
    pthread_mutex_unlock(&c->lock);
}

/* Files are taken in order, so that all before one that fails are counted too. */
static void work(counting *c, int shows)
{
    cli_source *source = c->many->source;
    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < source->count;) {
        tally_error error = {""};
        if (!c->many->keep_going && i > atomic_load(&c->failed))
            break;
        const tally_status status = count_file(c, i, &error);
        if (status && !error.message[0])
            snprintf(error.message, sizeof error.message, "%s", tally_status_string(status));
        if (status)
            note_failure(c, i, &error);
        if (shows)
            cli_progress_show(source->progress, atomic_load(&c->done_bytes), source->total_bytes);
    }
}

int cli_aside(pthread_t *thread, void *(*work)(void *), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(thread, NULL, work, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static void *work_aside(void *arg)
{
    work(arg, 0);
    return NULL;
}

static int say_failures(const counting *c)
{
    const size_t first = atomic_load(&c->failed);
    int code = CLI_OK;
    for (size_t i = first; i < c->many->source->count; i++) {
        if (!c->many->source->skipped[i] || (!c->many->keep_going && i > first))
            continue;
        code = cli_fail("%s", c->errors[i] ? c->errors[i]->message : "out of memory");
    }
    return code;
}

int cli_many_count(cli_many *many)
{
    counting c = {.many = many};
    const size_t count = many->source->count;
    pthread_t *threads = calloc(many->workers, sizeof *threads);
    c.errors = calloc(count, sizeof(tally_error *));
    if (!threads || !c.errors) {
        free(threads);
        free(c.errors);
        return cli_fail("out of memory");
    }
    atomic_init(&c.next, 0);
    atomic_init(&c.failed, count);
    atomic_init(&c.done_bytes, 0);
    pthread_mutex_init(&c.lock, NULL);
    unsigned started = 0; /* without a thread the others do its files */
    while (started + 1 < many->workers && cli_aside(&threads[started], work_aside, &c) == 0)
        started++;
    work(&c, 1);
    for (unsigned t = 0; t < started; t++)
        pthread_join(threads[t], NULL);
    cli_progress_show(many->source->progress, c.done_bytes, many->source->total_bytes);
    const int code = say_failures(&c);
    for (size_t i = 0; i < count; i++)
        free(c.errors[i]);
    free(c.errors);
    free(threads);
    pthread_mutex_destroy(&c.lock);
    return code;
}
