/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU benchmark's peers, in this process and in Python. */
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu_bench.h"

/* ---- peers in this process ---- */

void run_peer(bench *b, const point *p, const char *part, int which, unsigned calls)
{
    const gpu_peer *peer = b->peers[which];
    gpu_problem problem = {
        p->dtype, p->n, p->bins, 0, gpu_dtype_span(p->dtype), (void *)(uintptr_t)b->samples,
        p->edges};
    void *state = NULL;
    timing t = {.repeats = 0};
    const double begin = now();
    if (peer->start(&problem, &state))
        return;
    double first = peer->time(state, 1);
    t.differing = first < 0 || peer->counts(state, b->got) ? p->bins : differing(b, p->bins);
    t.repeats = repeats_for(first);
    calls = calls_for(first > 0 ? first : 1, calls);
    for (int i = 0; i < t.repeats && first >= 0; i++)
        t.seconds[i] = peer->time(state, calls) / calls;
    if (first >= 0)
        report(p, part, peer->by, peer->call, b->versions[which], &t);
    peer->end(state);
    spent[on_peers] += now() - begin;
}

void open_peers(bench *b, const char *folder)
{
    char pattern[512];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*.so", folder);
    if (glob(pattern, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        void *library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
        const gpu_peer *(*list)(void) = NULL;
        const char *(*version)(void) = NULL;
        if (library) {
            *(void **)&list = dlsym(library, "gpu_peers");
            *(void **)&version = dlsym(library, "gpu_peer_version");
        }
        if (!list || !version) {
            fprintf(stderr, "skipped: %s: %s\n", found.gl_pathv[i],
                    library ? "no peer" : dlerror());
            continue;
        }
        for (const gpu_peer *p = list(); p->by && b->peer_count < most_peers; p++) {
            b->peers[b->peer_count] = p;
            b->versions[b->peer_count++] = version();
        }
    }
    globfree(&found);
}

/* ---- peers in Python ---- */

void open_python(bench *b, const char *command)
{
    int to[2], from[2];
    char line[1024];
    if (!command || pipe(to) || pipe(from))
        return;
    if (fork() == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[1]);
        close(from[0]);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    b->to_python = fdopen(to[1], "w");
    b->from_python = fdopen(from[0], "r");
    if (!b->from_python || !fgets(line, sizeof line, b->from_python))
        b->to_python = NULL;
    else
        fprintf(stderr, "python: %s", line);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f))
        die(path, strerror(errno));
}

/* The block and the counts go over in files in memory; what comes back is a report's tail. */
void run_python(bench *b, const point *p, const char *part)
{
    const char *samples = "/dev/shm/tally-gpu-samples", *counts = "/dev/shm/tally-gpu-counts";
    char line[2048];
    double bytes = (double)(p->n * gpu_dtype_bytes(p->dtype));
    if (!b->to_python)
        return;
    const double begin = now();
    write_file(samples, b->block, b->block_made);
    write_file(counts, b->wanted, p->bins * sizeof *b->wanted);
    fprintf(b->to_python,
            "{\"samples\":\"%s\",\"counts\":\"%s\",\"dtype\":\"%s\",\"n\":%llu,\"bins\":%llu,"
            "\"lo\":0,\"hi\":%.0f}\n",
            samples, counts, dtype_names[p->dtype], (unsigned long long)p->n,
            (unsigned long long)p->bins, gpu_dtype_span(p->dtype));
    fflush(b->to_python);
    while (fgets(line, sizeof line, b->from_python) && strcmp(line, "end\n") != 0) {
        const char *median = strstr(line, "\"median_s\": ");
        double seconds = median ? strtod(median + 12, NULL) : 0;
        line[strcspn(line, "\n")] = '\0';
        printf("{\"part\":\"%s\",\"dtype\":\"%s\",\"bins\":%llu,\"data\":\"%s\",\"n\":%llu,"
               "\"bytes\":%.0f,\"gbps\":%.2f,\"fraction_of_read\":%.4f,%s\n",
               part, dtype_names[p->dtype], (unsigned long long)p->bins, p->input,
               (unsigned long long)p->n, bytes, median ? bytes / seconds * 1e-9 : 0,
               median ? p->read_seconds / seconds : 0, line + 1);
    }
    fflush(stdout);
    unlink(samples);
    unlink(counts);
    spent[on_peers] += now() - begin;
}
