/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting a file that needs no decoding, beside what bounds it: all threads reading the file with
 * pread and nothing else, and the same samples counted from memory. The page cache has the file. In
 * turn, the fastest of all rounds, by the clock and by the processors' time; JSON lines.
 *
 *     micro_files DTYPE BINS LO HI THREADS ROUNDS DEVICE FILE…     FILE: .npy, or raw of DTYPE
 */
#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <tally/io.h>
#include <unistd.h>

#include "micro.h"

enum { PART = 256 << 10, MOST_THREADS = 1024 };

typedef struct reading {
    int file;
    uint64_t bytes;
    atomic_ullong next;
} reading;

static void *read_parts(void *user)
{
    reading *r = user;
    unsigned char *part = aligned_alloc(4096, PART);
    for (uint64_t at; (at = atomic_fetch_add(&r->next, PART)) < r->bytes;)
        for (ssize_t got = 1, done = 0; got > 0 && done < PART; done += got)
            got = pread(r->file, part + done, (size_t)(PART - done), (off_t)at + done);
    free(part);
    return NULL;
}

/* By the clock, and of all processors. */
typedef struct seconds {
    double clock, processors;
} seconds;

static seconds since(seconds begin)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (seconds){now() - begin.clock,
                     (double)t.tv_sec + 1e-9 * (double)t.tv_nsec - begin.processors};
}

/* How long all threads take to read the file. */
static seconds read_only(const char *path, unsigned threads, uint64_t *bytes)
{
    reading r = {.file = open(path, O_RDONLY)};
    struct stat about;
    pthread_t ids[MOST_THREADS];
    if (r.file < 0 || fstat(r.file, &about) != 0) {
        perror(path);
        exit(1);
    }
    *bytes = r.bytes = (uint64_t)about.st_size;
    atomic_init(&r.next, 0);
    const seconds begin = since((seconds){0, 0});
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&ids[i], NULL, read_parts, &r)) {
            fprintf(stderr, "no thread %u\n", i);
            exit(1);
        }
    read_parts(&r);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    close(r.file);
    return since(begin);
}

typedef struct sums {
    tally_plan *plan;
    uint64_t *counts;
    tally_flows flows;
} sums;

static seconds count(sums *s, const tally_view *view)
{
    tally_error error;
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = s->counts;
    output.flows = &s->flows;
    const seconds begin = since((seconds){0, 0});
    must(tally_execute(s->plan, view, NULL, &output, &error), &error);
    return since(begin);
}

static void say(const char *path, const char *what, const char *device, unsigned threads,
                uint64_t bytes, seconds took)
{
    const char *base = strrchr(path, '/');
    printf("{\"file\": \"%s\", \"what\": \"%s\", \"device\": \"%s\", \"threads\": %u, \"bytes\": "
           "%llu, \"seconds\": %.6f, \"GB_s\": %.3f, \"processor_seconds\": %.6f}\n",
           base ? base + 1 : path, what, device, threads, (unsigned long long)bytes, took.clock,
           (double)bytes / took.clock * 1e-9, took.processors);
    fflush(stdout);
}

/* All of the input in memory. */
static tally_view load(const tally_view *whole)
{
    const uint64_t elements = whole->rows * whole->columns;
    tally_view view = tally_view_1d(NULL, whole->dtype, elements * whole->channels);
    tally_error error;
    unsigned char *memory = malloc(view.columns * tally_dtype_bytes(view.dtype) + 1);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    must(whole->source->read(whole->source->user, 0, elements, memory, &error), &error);
    view.data = memory;
    return view;
}

static void measure(const char *path, tally_context *context, tally_plan_options *o,
                    const char *device, unsigned threads, unsigned rounds)
{
    tally_input_options how = TALLY_INPUT_OPTIONS_INIT;
    tally_input *input = NULL;
    tally_error error;
    tally_view whole;
    const size_t length = strlen(path);
    const int npy = length > 4 && !strcmp(path + length - 4, ".npy");
    how.dtype = npy ? (tally_dtype)0 : o->dtypes[0];
    must(tally_input_open(path, &how, &input, &error), &error);
    must(tally_input_view(input, &whole, &error), &error);
    if (!whole.source) {
        fprintf(stderr, "%s: has to be decoded\n", path);
        exit(1);
    }
    tally_view memory = load(&whole);
    uint64_t *counts = calloc(2 * o->axes[0].bins, sizeof *counts), bytes = 0;
    sums first = {.counts = counts}, second = {.counts = counts + o->axes[0].bins};
    o->n_hint = memory.columns;
    must(tally_plan_create(context, o, &first.plan, &error), &error);
    second.plan = first.plan;
    seconds best[3] = {{1e9, 1e9}, {1e9, 1e9}, {1e9, 1e9}};
    for (unsigned i = 0; i <= rounds; i++) {
        const seconds took[3] = {read_only(path, threads, &bytes), count(&first, &memory),
                                 count(&second, &whole)};
        for (int k = 0; k < 3 && i; k++) {
            best[k].clock = fmin(best[k].clock, took[k].clock);
            best[k].processors = fmin(best[k].processors, took[k].processors);
        }
    }
    if (memcmp(first.counts, second.counts, o->axes[0].bins * sizeof *counts) != 0) {
        fprintf(stderr, "%s: the file's counts are not the memory's\n", path);
        exit(1);
    }
    static const char *const names[3] = {"pread", "memory", "file"};
    for (int k = 0; k < 3; k++)
        say(path, names[k], device, threads, bytes, best[k]);
    tally_plan_destroy(first.plan);
    tally_input_close(input);
    free((void *)(uintptr_t)memory.data);
    free(counts);
}

int main(int argc, char **argv)
{
    if (argc < 9) {
        fprintf(stderr, "micro_files DTYPE BINS LO HI THREADS ROUNDS DEVICE FILE...\n");
        return 2;
    }
    tally_plan_options o = TALLY_PLAN_OPTIONS_INIT;
    tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_error error;
    const unsigned threads = (unsigned)strtoul(argv[5], NULL, 10);
    o.dtypes[0] = tally_dtype_parse(argv[1]);
    o.axes[0] =
        tally_axis_even(strtoull(argv[2], NULL, 10), strtod(argv[3], NULL), strtod(argv[4], NULL));
    where.device = !strcmp(argv[7], "cuda") ? TALLY_DEVICE_CUDA : TALLY_DEVICE_CPU;
    where.threads = threads;
    if (!threads || threads > MOST_THREADS) {
        fprintf(stderr, "1 to %d threads\n", MOST_THREADS);
        return 2;
    }
    must(tally_context_create(&where, &context, &error), &error);
    for (int i = 8; i < argc; i++)
        measure(argv[i], context, &o, argv[7], threads, (unsigned)strtoul(argv[6], NULL, 10));
    tally_context_destroy(context);
    return 0;
}
