/* SPDX-License-Identifier: Apache-2.0 */
/* What the GPU benchmark's files share. */
#ifndef GPU_BENCH_H
#define GPU_BENCH_H

#include <stdio.h>
#include <tally/tally.h>

#include "gpu/device.h"
#include "gpu_inputs.h"
#include "micro.h"

enum { most_repeats = 9, most_peers = 16 };

typedef struct bench {
    tally_context *context, *host;
    ty_device *device;
    void *queue, *program;
    ty_memory samples, read_out, counts_memory;
    uint64_t bytes;      /* of `samples` */
    double read_seconds; /* of all of them, before anything else: later a pass took 14 % longer */
    unsigned char *block;
    uint64_t block_made; /* bytes that hold the current input */
    gpu_files files;
    const gpu_peer *peers[most_peers];
    const char *versions[most_peers];
    int peer_count;
    FILE *to_python, *from_python;
    const char *only_dtype;
    uint64_t *wanted, *got; /* counts */
} bench;

/* What is being counted. */
typedef struct point {
    gpu_dtype dtype;
    uint64_t n, bins;
    const char *input;
    double read_seconds; /* for as many bytes */
    const char *axis;    /* of uneven edges, or NULL */
    const double *edges;
} point;

typedef struct timing {
    double seconds[most_repeats];
    int repeats;
    uint64_t differing;
} timing;

/* Seconds that went into what, for the last words. */
enum { on_inputs, on_host, on_tally, on_peers, works };
extern double spent[works];
extern const char *const dtype_names[]; /* by gpu_dtype */

void die(const char *what, const char *words);

/* Bins of `got` that are not those of `wanted`. */
uint64_t differing(const bench *b, uint64_t bins);
/* A line of output. */
void report(const point *p, const char *part, const char *by, const char *call, const char *version,
            timing *t);
/* Calls on a stream, of which one took so long: no more than some milliseconds of them. */
unsigned calls_for(double seconds, unsigned most);
int repeats_for(double seconds);

/* gpu_bench_peers.c: peers that are libraries of a folder, and those of a Python program, which is
 * started once. */
void open_peers(bench *b, const char *folder);
void open_python(bench *b, const char *command);
void run_peer(bench *b, const point *p, const char *part, int which, unsigned calls);
void run_python(bench *b, const point *p, const char *part);

#endif
