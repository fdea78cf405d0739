/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small calls, samples and counts in device memory, one behind the other on a stream: microseconds
 * a call by the device's clock and what the host takes to submit one, beside CUB where its peer
 * (made by nvcc from bench/peers/cub.cu) is named. Rounds of one way each in turn, medians; counts
 * are compared with the processor's. JSON lines on standard output.
 *
 *     micro_small cuda|opencl [-p CUB.so] [-k DTYPE:BINS,…] [-b BYTES,…] [-r ROUNDS]
 *                 [METHOD[:KEY=VALUE,…] …]
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/device.h"
#include "gpu_peer.h"
#include "micro.h"
#include "plan/plan.h"

enum { most_ways = 16, most_rounds = 31, most_bytes = 64 << 20, most_bins = 65536 };

typedef struct way {
    const char *text;
    tally_plan *plan;
    void *peer_state;
    double calls[most_rounds], host[most_rounds];
    int same;
} way;

typedef struct bench {
    tally_context *context, *host;
    ty_device *device;
    void *samples, *counts, *stream, *queue;
    unsigned char *data;
    uint64_t wanted[most_bins], got[most_bins];
    const gpu_peer *peer;
    way ways[most_ways];
    int way_count, rounds, failed;
} bench;

static void die(const char *what, const char *words)
{
    fprintf(stderr, "micro_small: %s: %s\n", what, words);
    exit(1);
}

static void open_all(bench *b, const char *device)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    o.device = !strcmp(device, "cuda") ? TALLY_DEVICE_CUDA : TALLY_DEVICE_OPENCL;
    if (tally_context_create(&o, &b->context, &error)) {
        printf("{\"skipped\":\"%s\"}\n", error.message);
        exit(77);
    }
    b->device = b->context->state;
    b->stream = o.device == TALLY_DEVICE_CUDA ? (void *)2 : NULL; /* CU_STREAM_PER_THREAD */
    o.device = TALLY_DEVICE_CPU;
    b->data = malloc(most_bytes);
    if (!b->data || tally_context_create(&o, &b->host, &error) ||
        tally_memory_create(b->context, most_bytes, &b->samples, &error) ||
        tally_memory_create(b->context, most_bins * sizeof *b->got, &b->counts, &error) ||
        b->device->ops->queue_open(b->device, b->stream, &b->queue, &error))
        die("device", error.message);
}

static void open_peer(bench *b, const char *path)
{
    const gpu_peer *(*list)(void) = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&list = dlsym(library, "gpu_peers");
    if (!list)
        die(path, dlerror());
    b->peer = list();
}

/* Uniform over the axis, [0, 256) for bytes and [0, 1) for floats. */
static void make_samples(bench *b, tally_dtype dtype, uint64_t bytes)
{
    tally_error error = {""};
    for (uint64_t i = 0; i < bytes / 4; i++) {
        uint32_t word;
        float place;
        const uint64_t drawn = random_next();
        place = (float)(drawn >> 40) * 0x1p-24f;
        word = (uint32_t)(drawn >> 32);
        memcpy(b->data + i * 4, dtype == TALLY_U8 ? (void *)&word : (void *)&place, 4);
    }
    if (tally_memory_write(b->context, b->samples, 0, b->data, bytes, &error))
        die("samples", error.message);
}

static tally_plan_options options_of(tally_dtype dtype, uint64_t bins)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    o.axes[0] = tally_axis_even(bins, 0, dtype == TALLY_U8 ? 256 : 1);
    o.dtypes[0] = dtype;
    return o;
}

/* A way's plan, or NULL where its method does not serve it. */
static tally_plan *plan_of(bench *b, const char *text, tally_plan_options o)
{
    static char words[256];
    tally_setting settings[16];
    tally_plan *plan = NULL;
    tally_error error = {""};
    snprintf(words, sizeof words, "%s", text);
    char *key = strchr(words, ':');
    o.method = words;
    o.settings = settings;
    while (key) {
        *key++ = '\0';
        char *value = strchr(key, '=');
        if (!value || o.settings_count == 16)
            die(text, "KEY=VALUE is expected");
        *value++ = '\0';
        settings[o.settings_count++] = (tally_setting){key, value};
        key = strchr(value, ',');
    }
    if (tally_plan_create(b->context, &o, &plan, &error))
        fprintf(stderr, "%s: %s\n", text, error.message);
    return plan;
}

/* So many calls: seconds a call, and what submitting one took. */
static void time_calls(bench *b, const tally_plan *plan, const tally_view *view, unsigned calls,
                       double *seconds, double *host)
{
    const ty_device_ops *ops = b->device->ops;
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    void *from = NULL, *to = NULL;
    e.stream = b->stream;
    out.counts = b->counts;
    out.on_device = 1;
    ops->event_record(b->device, b->queue, &from, NULL);
    double begin = now();
    for (unsigned i = 0; i < calls; i++) {
        if (tally_execute(plan, view, &e, &out, &error))
            die("execute", error.message);
    }
    *host = (now() - begin) / calls;
    ops->event_record(b->device, b->queue, &to, NULL);
    if (ops->wait(b->device, b->queue, &error))
        die("wait", error.message);
    *seconds = b->stream ? ops->elapsed(b->device, from, to) / calls : *host;
    ops->event_close(b->device, from);
    ops->event_close(b->device, to);
}

static void measure(bench *b, const char *kind, tally_dtype dtype, uint64_t bins, uint64_t bytes)
{
    const uint64_t n = bytes / tally_dtype_bytes(dtype);
    const unsigned calls = bytes < 16 << 20 ? 100 : 20;
    tally_plan_options o = options_of(dtype, bins);
    tally_view view = tally_view_1d(b->samples, dtype, n), here = tally_view_1d(b->data, dtype, n);
    tally_output out = TALLY_OUTPUT_INIT;
    gpu_problem problem = {dtype == TALLY_U8 ? GPU_U8 : GPU_F32, n,          bins, 0,
                           dtype == TALLY_U8 ? 256 : 1,          b->samples, NULL};
    tally_plan *host = NULL;
    tally_error error = {""};
    out.counts = b->wanted;
    if (tally_plan_create(b->host, &o, &host, &error) ||
        tally_execute(host, &here, NULL, &out, &error))
        die("cpu", error.message);
    tally_plan_destroy(host);
    view.device = b->context->device;
    for (int w = 0; w < b->way_count; w++) {
        way *y = &b->ways[w];
        y->plan = NULL;
        y->peer_state = NULL;
        if (!strcmp(y->text, "CUB"))
            b->peer->start(&problem, &y->peer_state);
        else
            y->plan = plan_of(b, y->text, o);
    }
    for (int r = -1; r < b->rounds; r++) {
        for (int w = 0; w < b->way_count; w++) {
            way *y = &b->ways[w];
            double seconds = 0, taken = 0;
            if (y->plan)
                time_calls(b, y->plan, &view, calls, &seconds, &taken);
            else if (y->peer_state)
                seconds = b->peer->time(y->peer_state, calls) / calls;
            if (r >= 0) {
                y->calls[r] = seconds;
                y->host[r] = taken;
            }
            if (r >= 0 || !y->plan)
                continue;
            if (b->device->ops->download(b->device, b->queue, b->got,
                                         (ty_memory)(uintptr_t)b->counts, 0, bins * sizeof *b->got,
                                         &error) ||
                b->device->ops->wait(b->device, b->queue, &error))
                die("counts", error.message);
            y->same = !memcmp(b->got, b->wanted, bins * sizeof *b->got);
            b->failed |= !y->same;
        }
    }
    fprintf(stderr, "%-9s %9llu:", kind, (unsigned long long)bytes);
    for (int w = 0; w < b->way_count; w++) {
        way *y = &b->ways[w];
        if (!y->plan && !y->peer_state)
            continue;
        qsort(y->calls, (size_t)b->rounds, sizeof *y->calls, ascending);
        qsort(y->host, (size_t)b->rounds, sizeof *y->host, ascending);
        double middle = y->calls[b->rounds / 2], host_us = y->host[b->rounds / 2];
        fprintf(stderr, " %6.2f", middle * 1e6);
        printf("{\"kind\":\"%s\",\"bytes\":%llu,\"by\":\"%s\",\"method\":\"%s\",\"median_us\":%.3f,"
               "\"min_us\":%.3f,\"max_us\":%.3f,\"host_us\":%.3f,\"rounds\":%d,\"calls\":%u,"
               "\"verified\":%s}\n",
               kind, (unsigned long long)bytes, y->text, y->plan ? tally_plan_method(y->plan) : "",
               middle * 1e6, y->calls[0] * 1e6, y->calls[b->rounds - 1] * 1e6, host_us * 1e6,
               b->rounds, calls, y->plan ? y->same ? "true" : "false" : "null");
        if (y->plan)
            fprintf(stderr, "/%.2f%s", host_us * 1e6, y->same ? "" : "!");
        tally_plan_destroy(y->plan);
        if (y->peer_state)
            b->peer->end(y->peer_state);
    }
    fprintf(stderr, "\n");
}

int main(int argc, char **argv)
{
    static bench b = {.rounds = 9};
    const char *kinds = "u8:256,f32:1024", *peer = NULL;
    const char *sizes = "4096,65536,1048576,4194304,16777216,67108864";
    if (argc < 2)
        die("usage", "micro_small cuda|opencl …");
    for (int i = 2; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        const int option = argv[i][0] == '-' ? argv[i++][1] : 0;
        if (option == 'p')
            peer = value;
        else if (option == 'k')
            kinds = value;
        else if (option == 'b')
            sizes = value;
        else if (option == 'r')
            b.rounds = atoi(value) < most_rounds ? atoi(value) : most_rounds;
        else if (!option && b.way_count < most_ways - 2)
            b.ways[b.way_count++].text = argv[i];
        else
            die(argv[i - 1], "no such option");
    }
    open_all(&b, argv[1]);
    if (!b.way_count)
        b.ways[b.way_count++].text = "auto";
    if (peer) {
        open_peer(&b, peer);
        b.ways[b.way_count++].text = "CUB";
    }
    fprintf(stderr, "ways:");
    for (int w = 0; w < b.way_count; w++)
        fprintf(stderr, " %s", b.ways[w].text);
    fprintf(stderr, " (microseconds a call/submitted)\n");
    for (const char *kind = kinds; kind; kind = strchr(kind, ',') ? strchr(kind, ',') + 1 : NULL) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(kind, ","), kind);
        const tally_dtype dtype = strncmp(kind, "u8", 2) ? TALLY_F32 : TALLY_U8;
        const uint64_t bins = strtoull(strchr(kind, ':') ? strchr(kind, ':') + 1 : "256", NULL, 10);
        if (bins > most_bins)
            die(name, "too many bins");
        make_samples(&b, dtype, most_bytes);
        for (const char *s = sizes; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
            const uint64_t bytes = strtoull(s, NULL, 10);
            if (bytes > most_bytes)
                die(s, "too many bytes");
            measure(&b, name, dtype, bins, bytes);
        }
    }
    return b.failed;
}
