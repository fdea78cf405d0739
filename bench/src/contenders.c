/* SPDX-License-Identifier: Apache-2.0 */
/* Who takes part: Tally, the reading loop, and the peers that are installed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <time.h>

#include "bench.h"

double bench_clock(const bench_contender *contender)
{
    struct timespec now;
    clock_gettime(contender->processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bench_contender *bench_contender_add(bench_contenders *contenders)
{
    bench_contender *more = realloc(contenders->all, (contenders->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    contenders->all = more;
    memset(&more[contenders->count], 0, sizeof *more);
    return &more[contenders->count++];
}

void bench_skip_add(bench_contenders *contenders, const char *name, const char *reason)
{
    bench_skip *more = realloc(contenders->skipped, (contenders->skipped_count + 1) * sizeof *more);
    if (!more)
        return;
    contenders->skipped = more;
    bench_skip *one = &more[contenders->skipped_count++];
    snprintf(one->name, sizeof one->name, "%s", name);
    snprintf(one->reason, sizeof one->reason, "%s", reason);
}

/* ---- peers in shared objects ---- */

static int start(bench_contender *contender, const bench_problem *problem)
{
    const char *reason = contender->peer->start(problem, &contender->state);
    if (reason)
        snprintf(contender->why, sizeof contender->why, "%.300s", reason);
    return reason ? -1 : 0;
}

static double time_calls(bench_contender *contender, uint64_t calls)
{
    double begin = bench_clock(contender);
    for (uint64_t i = 0; i < calls; i++)
        if (contender->peer->count(contender->state)) {
            snprintf(contender->why, sizeof contender->why, "it failed");
            return -1;
        }
    return bench_clock(contender) - begin;
}

static int counts(bench_contender *contender, double *to)
{
    contender->peer->counts(contender->state, to);
    return 0;
}

static void end(bench_contender *contender)
{
    if (contender->state)
        contender->peer->end(contender->state);
    contender->state = NULL;
}

static int add_peers(bench_contenders *contenders, const bench_peer *peers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bench_contender *contender = bench_contender_add(contenders);
        if (!contender)
            return bench_fail("out of memory");
        snprintf(contender->name, sizeof contender->name, "%s", peers[i].name);
        snprintf(contender->call, sizeof contender->call, "%s", peers[i].call);
        snprintf(contender->version, sizeof contender->version, "%s", peers[i].version);
        contender->threads = 1;
        contender->role = BENCH_PEER;
        contender->start = start;
        contender->time = time_calls;
        contender->counts = counts;
        contender->end = end;
        contender->peer = &peers[i];
    }
    return BENCH_OK;
}

static int open_library(bench_contenders *contenders, const char *folder, const char *name)
{
    char path[640];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/peers/%s.so", folder, name);
    FILE *there = fopen(path, "rb");
    if (!there) {
        bench_skip_add(contenders, name, "not built; scripts/peers.sh gets the libraries");
        return BENCH_OK;
    }
    fclose(there);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    bench_peers_fn peers = NULL;
    if (library) {
        void *symbol = dlsym(library, BENCH_PEERS_SYMBOL);
        memcpy(&peers, &symbol, sizeof peers);
    }
    if (!peers) {
        const char *why = dlerror();
        bench_skip_add(contenders, name, why ? why : "not a peer");
        if (library)
            dlclose(library);
        return BENCH_OK;
    }
    contenders->libraries[contenders->libraries_count++] = library;
    const bench_peer *list = peers(&count);
    return add_peers(contenders, list, count);
}

/* ---- all of them ---- */

static unsigned processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    return 1;
}

static int open_context(unsigned threads, tally_context **context)
{
    tally_context_options wanted = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    wanted.device = TALLY_DEVICE_CPU;
    wanted.threads = threads;
    tally_status status = tally_context_create(&wanted, context, &error);
    return status ? bench_fail_status(status, &error) : BENCH_OK;
}

int bench_contenders_open(bench_contenders *contenders, const bench_options *options,
                          const bench_data *data)
{
    static const char *const libraries[] = {"loops", "opencv", "gsl", "boost"};
    unsigned threads = options->threads ? (unsigned)options->threads : processors();
    int code = open_context(1, &contenders->contexts[0]);
    if (!code)
        code = bench_read_add(contenders, 1);
    if (!code)
        code = bench_tally_add(contenders, options, contenders->contexts[0], 1);
    if (!code && threads > 1) {
        code = open_context(threads, &contenders->contexts[1]);
        if (!code)
            code = bench_read_add(contenders, threads);
        if (!code)
            code = bench_tally_add(contenders, options, contenders->contexts[1], threads);
        if (!code)
            code = bench_scaling_add(contenders, options, contenders->contexts[0], threads);
    }
    for (size_t i = 0; !code && i < sizeof libraries / sizeof *libraries; i++)
        code = open_library(contenders, data->folder, libraries[i]);
    if (!code)
        bench_python_open(contenders, data->folder, data);
    int processor_time = options->clock && strcmp(options->clock, "cpu") == 0;
    for (size_t i = 0; i < contenders->count; i++)
        contenders->all[i].processor_time = processor_time && contenders->all[i].threads == 1;
    return code;
}

void bench_contenders_close(bench_contenders *contenders)
{
    bench_python_close(contenders);
    for (size_t i = 0; i < contenders->count; i++) {
        bench_contender *contender = &contenders->all[i];
        if (contender->release)
            contender->release(contender);
        else if (contender->role != BENCH_PEER)
            free(contender->shared);
    }
    for (int i = 0; i < 2; i++)
        tally_context_destroy(contenders->contexts[i]);
    for (size_t i = 0; i < contenders->libraries_count; i++)
        dlclose(contenders->libraries[i]);
    free(contenders->all);
    free(contenders->skipped);
}
