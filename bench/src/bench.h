/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of tally-bench share. A case is a problem on generated data; a contender is a
 * program that solves it: Tally on one thread and on all, several one-thread Tallies at once (what
 * threads can gain at most), a loop that only reads, and the peers.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "peer.h"

/* Data are a block of so many samples repeated (all but `sorted`), so that the slow reference has
 * only the block to count. */
#define BENCH_BLOCK ((uint64_t)2 << 20)
/* A contender that would take longer than this for a call, in seconds, counts a part of the
 * samples. */
#define BENCH_SLOW 0.15
/* Most bytes of a value of --set. */
enum { BENCH_SETTING_BYTES = 128 };

/* ---- run.c ---- */

/* Measures the cases that `options` leave; an exit code. */
int bench_run(const bench_options *options);
/* The folder with the bundled samples and peers/: $TALLY_BENCH_FOLDER, or "bench" next to
 * tally-bench. */
void bench_find_folder(char *to, size_t size);

/* ---- cases.c ---- */

typedef struct bench_case {
    char name[64];    /* "u8-uniform-64KiB", "f32-2048-normal", "edges-f64-uniform" */
    const char *data; /* "uniform" */
    bench_kind kind;
    bench_dtype dtype;
    uint64_t n, bins;
} bench_case;

/* The cases that --quick and --only leave, cases on the same data next to each other. Release with
 * free; NULL without memory; *count is 0 when none is left. */
bench_case *bench_cases(const bench_options *options, size_t *count);
const char *bench_dtype_name(bench_dtype dtype);
size_t bench_dtype_bytes(bench_dtype dtype);

/* ---- samples.c ---- */

typedef struct bench_data {
    unsigned char *x, *y;
    double *weights, *edges;
    uint64_t seed;
    const char *folder; /* where the photograph is */
    size_t capacity;    /* bytes of each of x and y */
    const char *made;   /* what x holds now, or NULL */
    bench_dtype dtype;
    uint64_t n;
    uint64_t bins; /* of the edges */
    char why[320]; /* why the last case's data could not be made */
} bench_data;

/* 0, or -1 without memory. Release in both cases. */
int bench_data_start(bench_data *data, const bench_case *cases, size_t count);
void bench_data_release(bench_data *data);
/* Makes the case's samples and describes them. 0, or -1 with data->why. */
int bench_data_make(bench_data *data, const bench_case *wanted, bench_problem *problem);
/* Bytes that a contender reads for `problem`. */
double bench_bytes(const bench_problem *problem);

/* ---- contenders ---- */

typedef struct bench_contender bench_contender;
struct bench_contender {
    char name[32], call[32], version[48];
    unsigned threads;
    int processor_time; /* its clock is bench_clock's processor time */
    enum { BENCH_TALLY, BENCH_SCALING, BENCH_READ, BENCH_PEER } role;
    /* Readies it for `problem`: 0, or -1 with `why`. */
    int (*start)(bench_contender *contender, const bench_problem *problem);
    /* Seconds that `calls` calls took; negative on failure. */
    double (*time)(bench_contender *contender, uint64_t calls);
    /* The bins of the last call; 0, or nonzero on failure. NULL: it counts nothing. */
    int (*counts)(bench_contender *contender, double *to);
    void (*end)(bench_contender *contender);     /* after `start`, whatever it returned */
    void (*release)(bench_contender *contender); /* of `shared`; NULL: it is one allocation */
    void *shared; /* the contender's own, as long as there are contenders */
    void *state;  /* from start to end */
    const bench_peer *peer;
    char why[320];

    /* What measuring found. */
    int ran, same; /* same: the counts are the reference's */
    uint64_t n, calls;
    double median, least, most; /* seconds a call */
};

typedef struct bench_skip {
    char name[32], reason[256];
} bench_skip;

typedef struct bench_contenders {
    bench_contender *all;
    size_t count;
    bench_skip *skipped;
    size_t skipped_count;
    void *python;       /* python.c */
    void *libraries[8]; /* dlopen's */
    size_t libraries_count;
    tally_context *contexts[2];
} bench_contenders;

/* Seconds by the contender's clock: that on the wall, or the time that this process had a
 * processor. */
double bench_clock(const bench_contender *contender);
/* Adds one, all zeros; NULL without memory. */
bench_contender *bench_contender_add(bench_contenders *contenders);
void bench_skip_add(bench_contenders *contenders, const char *name, const char *reason);
/* Tally, the reading loop and the peers found in `folder`. An exit code. */
int bench_contenders_open(bench_contenders *contenders, const bench_options *options,
                          const bench_data *data);
void bench_contenders_close(bench_contenders *contenders);

/* tally.c: `context` belongs to the caller. */
int bench_tally_make(bench_contender *contender, const bench_options *options,
                     tally_context *context, unsigned threads);
int bench_tally_add(bench_contenders *contenders, const bench_options *options,
                    tally_context *context, unsigned threads);
/* The reference's counts of `problem`; 0, or -1 with a message in `error`. */
int bench_reference(tally_context *context, const bench_problem *problem, int sorted, double *to,
                    tally_error *error);
/* scaling.c: `callers` one-thread Tallies at once, a share of the samples each. */
int bench_scaling_add(bench_contenders *contenders, const bench_options *options,
                      tally_context *context, unsigned callers);
/* read.c */
int bench_read_add(bench_contenders *contenders, unsigned threads);
/* python.c: starts the Python peers, or notes why they are skipped. */
void bench_python_open(bench_contenders *contenders, const char *folder, const bench_data *data);
void bench_python_close(bench_contenders *contenders);
/* Before a case: its data, for those who are in another process. */
void bench_python_load(bench_contenders *contenders, const bench_problem *problem);

/* ---- measure.c ---- */

/* Measures every contender on `problem` in turns. 0, or -1 with the message of what stopped it. */
int bench_measure(bench_contenders *contenders, const bench_case *wanted,
                  const bench_problem *problem, unsigned repeats, int quick, tally_error *error);

/* ---- show.c ---- */

typedef struct bench_sum {
    double log_ratios;
    unsigned cases, behind; /* cases with a peer; those in which one was faster */
} bench_sum;

void bench_show_head(const bench_contenders *contenders);
void bench_show_case(const bench_contenders *contenders, const bench_case *wanted,
                     const bench_problem *problem, int verbose, bench_sum *sum);
void bench_show_json(const bench_contenders *contenders, const bench_case *wanted,
                     const bench_problem *problem);
void bench_show_end(const bench_contenders *contenders, const bench_sum *sum);

#endif
