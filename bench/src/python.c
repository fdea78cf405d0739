/* SPDX-License-Identifier: Apache-2.0 */
/* The Python peers: one child process, spoken to in lines; the data pass through a shared file. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

enum { MOST_CELLS = 1 << 20, CHILD_FILE = 3 };

typedef struct python {
    pid_t child;
    FILE *to, *from;
    unsigned char *file; /* x, y, weights, edges, counts; NULL: no file */
    size_t capacity, edges, counts, size;
    int alive;
} python;

/* One line to the child and, unless `answer` is NULL, its answer without the end of line. */
static int ask(python *p, char *answer, size_t size, const char *format, ...) BENCH_PRINTF(4, 5);

static int ask(python *p, char *answer, size_t size, const char *format, ...)
{
    va_list list;
    if (!p->alive)
        return -1;
    va_start(list, format);
    int written = vfprintf(p->to, format, list);
    va_end(list);
    if (written < 0 || fputc('\n', p->to) == EOF || fflush(p->to) != 0 ||
        !fgets(answer, (int)size, p->from)) {
        p->alive = 0;
        return -1;
    }
    answer[strcspn(answer, "\n")] = '\0';
    return 0;
}

/* ---- the contenders ---- */

typedef struct link_to {
    python *python;
    int index;
} link_to;

static int lost(bench_contender *contender)
{
    snprintf(contender->why, sizeof contender->why, "the Python process ended");
    return -1;
}

static int start(bench_contender *contender, const bench_problem *problem)
{
    const link_to *l = contender->shared;
    char answer[300];
    if (ask(l->python, answer, sizeof answer, "start %d %llu", l->index,
            (unsigned long long)problem->n))
        return lost(contender);
    if (strcmp(answer, "ok") == 0)
        return 0;
    snprintf(contender->why, sizeof contender->why, "%.280s",
             strncmp(answer, "no ", 3) == 0 ? answer + 3 : answer);
    return -1;
}

static double time_calls(bench_contender *contender, uint64_t calls)
{
    const link_to *l = contender->shared;
    char answer[300];
    char *end;
    if (ask(l->python, answer, sizeof answer, "time %d %llu %s", l->index,
            (unsigned long long)calls, contender->processor_time ? "cpu" : "wall"))
        return lost(contender);
    double seconds = strtod(answer, &end);
    if (end == answer || *end != '\0' || !isfinite(seconds)) {
        snprintf(contender->why, sizeof contender->why, "%.280s", answer);
        return -1;
    }
    return seconds;
}

static int counts(bench_contender *contender, double *to)
{
    const link_to *l = contender->shared;
    char answer[300];
    uint64_t cells;
    if (ask(l->python, answer, sizeof answer, "counts %d %zu", l->index, l->python->counts))
        return lost(contender);
    if (strncmp(answer, "ok ", 3) != 0 || !parse_u64(answer + 3, &cells) || cells > MOST_CELLS)
        return -1;
    memcpy(to, l->python->file + l->python->counts, cells * sizeof *to);
    return 0;
}

static void end(bench_contender *contender)
{
    (void)contender;
}

void bench_python_load(bench_contenders *contenders, const bench_problem *problem)
{
    static const char *const kinds[] = {"even", "edges", "2d", "weights"};
    python *p = contenders->python;
    char answer[300], y[24] = "-", w[24] = "-", e[24] = "-";
    if (!p || !p->alive)
        return;
    size_t bytes = problem->n * bench_dtype_bytes(problem->dtype);
    memcpy(p->file, problem->x, bytes);
    if (problem->y) {
        memcpy(p->file + p->capacity, problem->y, bytes);
        snprintf(y, sizeof y, "%zu", p->capacity);
    }
    if (problem->weights) {
        memcpy(p->file + 2 * p->capacity, problem->weights, problem->n * sizeof(double));
        snprintf(w, sizeof w, "%zu", 2 * p->capacity);
    }
    if (problem->edges) {
        memcpy(p->file + p->edges, problem->edges, (problem->bins + 1) * sizeof(double));
        snprintf(e, sizeof e, "%zu", p->edges);
    }
    ask(p, answer, sizeof answer, "problem %s %s %llu %llu %.17g %.17g 0 %s %s %s",
        kinds[problem->kind], bench_dtype_name(problem->dtype), (unsigned long long)problem->n,
        (unsigned long long)problem->bins, problem->lo, problem->hi, y, w, e);
}

/* ---- the child ---- */

static int spawn(python *p, const char *program, const char *script, int file)
{
    char descriptor[16], size[24];
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    snprintf(descriptor, sizeof descriptor, "%d", CHILD_FILE);
    snprintf(size, sizeof size, "%zu", p->size);
    char *arguments[] = {(char *)program, (char *)script, descriptor, size, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    if (pipe2(in, O_CLOEXEC) != 0)
        return -1;
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]);
        close(in[1]);
        return -1;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, file, CHILD_FILE);
    posix_spawnattr_init(&attributes);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawnp(&p->child, program, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    if (failed) {
        close(in[1]);
        close(out[0]);
        return -1;
    }
    p->to = fdopen(in[1], "w");
    p->from = fdopen(out[0], "r");
    p->alive = p->to && p->from;
    return 0;
}

static void stop(python *p)
{
    if (p->to)
        fclose(p->to);
    if (p->from)
        fclose(p->from);
    while (p->child > 0 && waitpid(p->child, NULL, 0) < 0 && errno == EINTR)
        ;
    p->child = 0;
    p->to = p->from = NULL;
    p->alive = 0;
}

static int add_contender(bench_contenders *contenders, python *p, int index, char *words)
{
    char *name = strtok(words, " "), *call = strtok(NULL, " "), *version = strtok(NULL, " ");
    link_to *l = malloc(sizeof *l);
    bench_contender *contender = l && version ? bench_contender_add(contenders) : NULL;
    if (!contender) {
        free(l);
        return -1;
    }
    *l = (link_to){p, index};
    snprintf(contender->name, sizeof contender->name, "%s", name);
    snprintf(contender->call, sizeof contender->call, "%s", call);
    snprintf(contender->version, sizeof contender->version, "%s", version);
    contender->threads = 1;
    contender->role = BENCH_PEER;
    contender->start = start;
    contender->time = time_calls;
    contender->counts = counts;
    contender->end = end;
    contender->shared = l;
    return 0;
}

/* Reads who the child has. Their number; what is missing goes to `skips`, which may be NULL. */
static int listen_to(bench_contenders *contenders, python *p, bench_contenders *skips)
{
    char line[400];
    int found = 0;
    if (ask(p, line, sizeof line, "peers"))
        return 0;
    while (strcmp(line, "end") != 0) {
        char *space;
        if (strncmp(line, "peer ", 5) == 0)
            found += add_contender(contenders, p, found, line + 5) == 0;
        else if (strncmp(line, "skipped ", 8) == 0 && (space = strchr(line + 8, ' ')) != NULL) {
            *space = '\0';
            bench_skip_add(skips, line + 8, space + 1);
        }
        if (!fgets(line, sizeof line, p->from)) {
            p->alive = 0;
            break;
        }
        line[strcspn(line, "\n")] = '\0';
    }
    return found;
}

static int make_file(python *p, const bench_data *data)
{
    p->capacity = (data->capacity + 4095) & ~(size_t)4095;
    p->edges = 3 * p->capacity; /* the file has holes where there is no y or weights */
    p->counts = p->edges + 4096;
    p->size = p->counts + MOST_CELLS * sizeof(double);
    int file = memfd_create("tally-bench", MFD_CLOEXEC);
    if (file < 0)
        return -1;
    void *at = ftruncate(file, (off_t)p->size) == 0
                   ? mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                   : MAP_FAILED;
    if (at == MAP_FAILED) {
        close(file);
        return -1;
    }
    p->file = at;
    return file;
}

/* The first of these that has a peer: $TALLY_PEERS_PYTHON, scripts/peers.sh's, the usual ones. */
static int find_python(bench_contenders *contenders, python *p, const char *folder, int file)
{
    char venv[640], script[640];
    const char *named = getenv("TALLY_PEERS_PYTHON");
    bench_contenders none = {.count = 0};
    snprintf(venv, sizeof venv, "%s/../../peers-venv/bin/python", folder);
    snprintf(script, sizeof script, "%s/peers/peers.py", folder);
    const char *programs[] = {venv, "python3", "/usr/bin/python3"};
    size_t first = named ? 2 : 0;
    programs[2] = named ? named : programs[2];
    if (access(script, R_OK) != 0) {
        bench_skip_add(contenders, "numpy", "peers.py is not in the folder of peers");
        bench_skip_add(contenders, "fast-histogram", "peers.py is not in the folder of peers");
        return 0;
    }
    int found = 0;
    for (size_t i = first; i < 3 && !found; i++) {
        none.skipped_count = 0;
        if (strchr(programs[i], '/') && access(programs[i], X_OK) != 0)
            continue;
        if (spawn(p, programs[i], script, file) == 0)
            found = listen_to(contenders, p, &none);
        if (!found)
            stop(p);
    }
    for (size_t i = 0; i < none.skipped_count; i++)
        bench_skip_add(contenders, none.skipped[i].name, none.skipped[i].reason);
    if (!found && none.skipped_count == 0)
        bench_skip_add(contenders, "numpy", "no Python was found");
    free(none.skipped);
    return found;
}

void bench_python_open(bench_contenders *contenders, const char *folder, const bench_data *data)
{
    python *p = calloc(1, sizeof *p);
    int file = p ? make_file(p, data) : -1;
    if (file < 0) {
        bench_skip_add(contenders, "numpy", "no memory to share with Python");
        free(p);
        return;
    }
    contenders->python = p;
    find_python(contenders, p, folder, file);
    close(file);
}

void bench_python_close(bench_contenders *contenders)
{
    python *p = contenders->python;
    for (size_t i = 0; i < contenders->count; i++)
        if (contenders->all[i].start == start)
            free(contenders->all[i].shared);
    if (!p)
        return;
    stop(p);
    munmap(p->file, p->size);
    free(p);
    contenders->python = NULL;
}
