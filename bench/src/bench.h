/*
 * What the benchmark's files share. A case is a problem on generated data; a way is somebody who
 * solves it: Tally on one thread and on all, Tally several times apart, a loop that only reads, and
 * the peers.
 */
#ifndef BENCH_H
#define BENCH_H

#include "bench_peer.h"
#include "cli.h"

/* Data are a block of so many samples repeated (all but `sorted`), so that the slow reference has
 * only the block to count. */
#define BENCH_BLOCK ((uint64_t)2 << 20)
/* A way that would take longer than this for a call, in seconds, counts a part of the samples. */
#define BENCH_SLOW 0.15
/* Most --set words, and most bytes of one. */
enum { BENCH_SETTINGS = 16, BENCH_SETTING_BYTES = 128 };

/* ---- bench_cases.c ---- */

typedef struct bench_case {
    char name[64];    /* "u8-uniform-64KiB", "f32-2048-normal", "edges-f64-uniform" */
    const char *data; /* "uniform" */
    bench_kind kind;
    bench_dtype dtype;
    uint64_t n, bins;
} bench_case;

/* The cases that --quick and --only leave, cases on the same data next to each other. Release with
 * free; NULL without memory; *count is 0 when none is left. */
bench_case *bench_cases(const cli_options *options, size_t *count);
const char *bench_dtype_name(bench_dtype dtype);
size_t bench_dtype_bytes(bench_dtype dtype);

/* ---- bench_data.c ---- */

typedef struct bench_data {
    unsigned char *x, *y;
    double *weights, *edges;
    uint64_t seed;
    const char *folder; /* where the photograph is */
    size_t room;        /* bytes of each of x and y */
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
/* Bytes that a way reads for `problem`. */
double bench_bytes(const bench_problem *problem);

/* ---- ways ---- */

typedef struct bench_way bench_way;
struct bench_way {
    char name[32], call[32], version[48];
    unsigned threads;
    int processor_time; /* its clock is bench_clock's processor time */
    enum { BENCH_OURS, BENCH_APART, BENCH_READ, BENCH_PEER } role;
    /* Readies it for `problem`: 0, or -1 with `why`. */
    int (*start)(bench_way *way, const bench_problem *problem);
    /* Seconds that `calls` calls took; negative on failure. */
    double (*time)(bench_way *way, uint64_t calls);
    /* The bins of the last call; 0, or nonzero on failure. NULL: it counts nothing. */
    int (*counts)(bench_way *way, double *to);
    void (*end)(bench_way *way);     /* after `start`, whatever it returned */
    void (*release)(bench_way *way); /* of `shared`; NULL: it is one allocation */
    void *shared;                    /* the way's own, as long as there are ways */
    void *state;                     /* from start to end */
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

typedef struct bench_ways {
    bench_way *all;
    size_t count;
    bench_skip *skipped;
    size_t skipped_count;
    void *python;       /* bench_python.c */
    void *libraries[8]; /* dlopen's */
    size_t libraries_count;
    tally_context *contexts[2];
} bench_ways;

/* Seconds by the way's clock: that on the wall, or the time that this process had a processor. */
double bench_clock(const bench_way *way);
/* Room for one more, or NULL. */
bench_way *bench_way_add(bench_ways *ways);
void bench_skip_add(bench_ways *ways, const char *name, const char *reason);
/* Ours, the reading loop and the peers found in `folder`. An exit code. */
int bench_ways_open(bench_ways *ways, const cli_options *options, const bench_data *data);
void bench_ways_close(bench_ways *ways);

/* bench_ours.c: `context` belongs to the caller. */
int bench_ours_make(bench_way *way, const cli_options *options, tally_context *context,
                    unsigned threads);
int bench_ours_add(bench_ways *ways, const cli_options *options, tally_context *context,
                   unsigned threads);
/* The reference's counts of `problem`; 0, or -1 with a message in `error`. */
int bench_reference(tally_context *context, const bench_problem *problem, int sorted, double *to,
                    tally_error *error);
/* bench_apart.c: `callers` one-thread Tallies at once, a share of the samples each. */
int bench_apart_add(bench_ways *ways, const cli_options *options, tally_context *context,
                    unsigned callers);
/* bench_read.c */
int bench_read_add(bench_ways *ways, unsigned threads);
/* bench_python.c: starts the Python peers, or notes why they are skipped. */
void bench_python_open(bench_ways *ways, const char *folder, const bench_data *data);
void bench_python_close(bench_ways *ways);
/* Before a case: its data, for those who are in another process. */
void bench_python_load(bench_ways *ways, const bench_problem *problem);

/* ---- bench_measure.c ---- */

/* Measures every way on `problem` in turns. 0, or -1 with the message of what stopped it. */
int bench_measure(bench_ways *ways, const bench_case *wanted, const bench_problem *problem,
                  unsigned repeats, int quick, tally_error *error);

/* ---- bench_show.c ---- */

typedef struct bench_sum {
    double log_ratios;
    unsigned cases, behind; /* cases with a peer; those in which one was faster */
} bench_sum;

void bench_show_head(const bench_ways *ways);
void bench_show_case(const bench_ways *ways, const bench_case *wanted, const bench_problem *problem,
                     int verbose, bench_sum *sum);
void bench_show_json(const bench_ways *ways, const bench_case *wanted,
                     const bench_problem *problem);
void bench_show_end(const bench_ways *ways, const bench_sum *sum);

#endif
