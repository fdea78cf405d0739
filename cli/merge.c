/* SPDX-License-Identifier: Apache-2.0 */
/* `tally merge`: saved results added up. Threads read and parse files side by side; the results are
 * added in the files' order, so that sums of floats have the same bits on any number of threads,
 * and the first file in that order that cannot be added is the one that is named. At most `window`
 * files are in memory at once. */
#include <pthread.h>

#include "cli.h"
#include "many.h"

enum { most_threads = 16 };

/* One file, read ahead of its turn. */
typedef struct part {
    int ready;
    tally_status status;
    tally_result **results;
    size_t count;
    tally_error error; /* the status' words */
} part;

typedef struct merging {
    const cli_options *options;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* `done` or `code` has changed */
    size_t next, done;    /* files: to be read; added */
    size_t window;        /* parts there are */
    part *parts;          /* file i is in parts[i % window] */
    int adding;           /* some thread adds */
    int code;             /* the first failure's; then all end */
    tally_result *sum;
} merging;

/* Adds one file's results, the lock not held: only one thread adds at a time. */
static int add(merging *m, const char *path, part *p)
{
    if (p->status)
        return cli_fail_status(p->status, &p->error);
    for (size_t i = 0; i < p->count; i++) {
        tally_error error = {""};
        if (!m->sum) {
            m->sum = p->results[i];
            p->results[i] = NULL;
            continue;
        }
        tally_status status = tally_result_merge(m->sum, p->results[i], &error);
        if (status)
            return cli_fail("%s: cannot be added to %s: %s", cli_shown(path),
                            cli_shown(m->options->operands[0]),
                            error.message[0] ? error.message : tally_status_string(status));
    }
    return CLI_OK;
}

/* Adds what is ready and next in order, unless another thread does. With the lock held. */
static void add_ready(merging *m)
{
    while (!m->adding && !m->code && m->parts[m->done % m->window].ready) {
        part *p = &m->parts[m->done % m->window];
        m->adding = 1;
        pthread_mutex_unlock(&m->lock);
        const int code = add(m, m->options->operands[m->done], p);
        tally_result_destroy_all(p->results, p->count);
        pthread_mutex_lock(&m->lock);
        *p = (part){.ready = 0};
        m->adding = 0;
        m->code = code;
        m->done++;
        pthread_cond_broadcast(&m->moved);
    }
}

static void *work(void *arg)
{
    merging *m = arg;
    pthread_mutex_lock(&m->lock);
    while (!m->code && m->next < m->options->operand_count) {
        const size_t i = m->next++;
        while (!m->code && i >= m->done + m->window)
            pthread_cond_wait(&m->moved, &m->lock);
        if (m->code)
            break;
        pthread_mutex_unlock(&m->lock);
        part read = {.ready = 1};
        read.status =
            cli_saved_read(m->options->operands[i], &read.results, &read.count, &read.error);
        pthread_mutex_lock(&m->lock);
        m->parts[i % m->window] = read;
        add_ready(m);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static int merge_files(const cli_options *options, tally_result **sum)
{
    merging m = {.options = options};
    pthread_t others[most_threads];
    size_t threads = cli_threads(options), started = 0;
    threads = threads < most_threads ? threads : most_threads;
    threads = threads < options->operand_count ? threads : options->operand_count;
    m.window = 2 * threads;
    m.parts = calloc(m.window, sizeof *m.parts);
    if (!m.parts)
        return cli_fail("out of memory");
    pthread_mutex_init(&m.lock, NULL);
    pthread_cond_init(&m.moved, NULL);
    while (started + 1 < threads && !cli_aside(&others[started], work, &m))
        started++;
    work(&m);
    for (size_t t = 0; t < started; t++)
        pthread_join(others[t], NULL);
    for (size_t i = 0; i < m.window; i++)
        tally_result_destroy_all(m.parts[i].results, m.parts[i].count);
    free(m.parts);
    pthread_mutex_destroy(&m.lock);
    pthread_cond_destroy(&m.moved);
    *sum = m.sum;
    return m.code;
}

int cli_merge(const cli_options *options)
{
    cli_target target;
    tally_result *sum = NULL;
    tally_counter counter;
    int code = cli_target_get(options, 0, &target);
    if (!code)
        code = merge_files(options, &sum);
    if (!code && cli_counter_get(options, &counter)) {
        tally_error error = {""};
        tally_status status = tally_result_narrow(sum, counter, &error);
        if (status)
            code = cli_fail_status(status, &error);
    }
    if (!code)
        code = cli_results_write(&target, &sum, 1);
    tally_result_destroy(sum);
    return code;
}
