/* Who takes part: ours, the reading loop, and the peers that are installed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <time.h>

#include "bench.h"

double bench_clock(const bench_way *way)
{
    struct timespec now;
    clock_gettime(way->processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bench_way *bench_way_add(bench_ways *ways)
{
    bench_way *more = realloc(ways->all, (ways->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    ways->all = more;
    memset(&more[ways->count], 0, sizeof *more);
    return &more[ways->count++];
}

void bench_skip_add(bench_ways *ways, const char *name, const char *reason)
{
    bench_skip *more = realloc(ways->skipped, (ways->skipped_count + 1) * sizeof *more);
    if (!more)
        return;
    ways->skipped = more;
    bench_skip *one = &more[ways->skipped_count++];
    snprintf(one->name, sizeof one->name, "%s", name);
    snprintf(one->reason, sizeof one->reason, "%s", reason);
}

/* ---- peers in shared objects ---- */

static int start(bench_way *way, const bench_problem *problem)
{
    const char *reason = way->peer->start(problem, &way->state);
    if (reason)
        snprintf(way->why, sizeof way->why, "%.300s", reason);
    return reason ? -1 : 0;
}

static double time_calls(bench_way *way, uint64_t calls)
{
    double begin = bench_clock(way);
    for (uint64_t i = 0; i < calls; i++)
        if (way->peer->count(way->state)) {
            snprintf(way->why, sizeof way->why, "it failed");
            return -1;
        }
    return bench_clock(way) - begin;
}

static int counts(bench_way *way, double *to)
{
    way->peer->counts(way->state, to);
    return 0;
}

static void end(bench_way *way)
{
    if (way->state)
        way->peer->end(way->state);
    way->state = NULL;
}

static int add_peers(bench_ways *ways, const bench_peer *peers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bench_way *way = bench_way_add(ways);
        if (!way)
            return cli_fail("out of memory");
        snprintf(way->name, sizeof way->name, "%s", peers[i].name);
        snprintf(way->call, sizeof way->call, "%s", peers[i].call);
        snprintf(way->version, sizeof way->version, "%s", peers[i].version);
        way->threads = 1;
        way->role = BENCH_PEER;
        way->start = start;
        way->time = time_calls;
        way->counts = counts;
        way->end = end;
        way->peer = &peers[i];
    }
    return CLI_OK;
}

static int open_library(bench_ways *ways, const char *folder, const char *name)
{
    char path[640];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/peers/%s.so", folder, name);
    FILE *there = fopen(path, "rb");
    if (!there) {
        bench_skip_add(ways, name, "not built; scripts/peers.sh gets the libraries");
        return CLI_OK;
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
        bench_skip_add(ways, name, why ? why : "not a peer");
        if (library)
            dlclose(library);
        return CLI_OK;
    }
    ways->libraries[ways->libraries_count++] = library;
    const bench_peer *list = peers(&count);
    return add_peers(ways, list, count);
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
    return status ? cli_fail_status(status, &error) : CLI_OK;
}

int bench_ways_open(bench_ways *ways, const cli_options *options, const bench_data *data)
{
    static const char *const libraries[] = {"loops", "opencv", "gsl", "boost"};
    unsigned threads = (unsigned)cli_uint(options, CLI_THREADS, processors());
    int code = open_context(1, &ways->contexts[0]);
    if (!code)
        code = bench_read_add(ways, 1);
    if (!code)
        code = bench_ours_add(ways, options, ways->contexts[0], 1);
    if (!code && threads > 1) {
        code = open_context(threads, &ways->contexts[1]);
        if (!code)
            code = bench_read_add(ways, threads);
        if (!code)
            code = bench_ours_add(ways, options, ways->contexts[1], threads);
        if (!code)
            code = bench_apart_add(ways, options, ways->contexts[0], threads);
    }
    for (size_t i = 0; !code && i < sizeof libraries / sizeof *libraries; i++)
        code = open_library(ways, data->folder, libraries[i]);
    if (!code)
        bench_python_open(ways, data->folder, data);
    int processor_time = strcmp(cli_text(options, CLI_CLOCK, "wall"), "cpu") == 0;
    for (size_t i = 0; i < ways->count; i++)
        ways->all[i].processor_time = processor_time && ways->all[i].threads == 1;
    return code;
}

void bench_ways_close(bench_ways *ways)
{
    bench_python_close(ways);
    for (size_t i = 0; i < ways->count; i++) {
        bench_way *way = &ways->all[i];
        if (way->release)
            way->release(way);
        else if (way->role != BENCH_PEER)
            free(way->shared);
    }
    for (int i = 0; i < 2; i++)
        tally_context_destroy(ways->contexts[i]);
    for (size_t i = 0; i < ways->libraries_count; i++)
        dlclose(ways->libraries[i]);
    free(ways->all);
    free(ways->skipped);
}
