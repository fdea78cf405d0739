/* SPDX-License-Identifier: Apache-2.0 */
/* What tally-mpi's files share. */
#ifndef TALLY_MPI_PROGRAM_H
#define TALLY_MPI_PROGRAM_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/io.h>
#include <unistd.h>

enum { MOST_CHANNELS = 64, ALL_RANKS = -1 };

/* wishes.c: the command line, the same on all ranks. */
typedef struct wishes {
    uint64_t bins, split; /* 0 bins: not said; files of so many bytes are counted by all */
    int has_range, is_integer, is_log;
    double range[2];
    const char *column, *weights, *output; /* NULL: none; output: standard output */
    int format;                            /* a tally_format; below 0: not said */
    tally_input_options input;             /* but columns and threads */
    tally_device_type device;
    uint32_t threads; /* 0: a share of the processors */
    char **paths;
    size_t path_count;
} wishes;

/* Returned where there is something to count; else an exit code. */
enum { WISHES_COUNT = -1 };
int wishes_read(int argc, char **argv, int speaks, wishes *w);

/* Writes the words to `error`; returns `status`. */
__attribute__((format(printf, 3, 4))) tally_status fail(tally_error *error, tally_status status,
                                                        const char *format, ...);

/* Of one file: its size, 0 unknown, and who counts it. */
typedef struct deal {
    uint64_t bytes;
    int owner;
} deal;

typedef struct slice {
    const tally_source *from;
    uint64_t offset;
} slice;

/* A rank, and what it knows. */
typedef struct team {
    int rank, ranks;
    const wishes *wishes;
    tally_context *context;
    deal *deals;    /* of each path */
    uint64_t *load; /* bytes dealt to each rank */
    struct {
        uint64_t files, channels;
        int floats;  /* weights are */
        int natural; /* the type that the bins reach over by themselves, 0 none */
    } found;
    char names[MOST_CHANNELS][512];
    tally_stats samples, weights; /* finite, samples, min and max only */
    tally_axis axis;
    double limit; /* weight_limit, 0 none */
    tally_plan *plan;
    tally_output output;
    uint64_t counted; /* samples */
} team;

/* Takes views of a file; sets *enough when it needs no more of it. */
typedef tally_status user(team *t, tally_input *input, const tally_view *views, int *enough,
                          tally_error *error);

#endif
