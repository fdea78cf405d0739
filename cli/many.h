/* SPDX-License-Identifier: Apache-2.0 */
/* Many files side by side. */
#ifndef CLI_MANY_H
#define CLI_MANY_H

#include <pthread.h>

#include "source.h"

typedef struct cli_many {
    cli_source *source;     /* open, at its start, without mask and weights */
    const tally_plan *plan; /* u64 counts; `workers` threads execute it at once */
    tally_result *into;     /* gets what is counted, in any order: counts add up alike */
    unsigned workers;
    int by_codes;      /* files may be counted by their dictionaries */
    int keep_going;    /* a file that fails is left out; else it ends the counting */
    uint64_t elements; /* counted; set by the call, as is the rest */
    double seconds;    /* spent counting, on average of the workers */
} cli_many;

/* Counts every file into a result of its own, which is added when the file is read to its end, so
 * that one that fails leaves nothing. CLI_FAILED after a message for each file that failed, in the
 * files' order, or for the first only; those are marked in source->skipped. */
int cli_many_count(cli_many *many);

/* Starts a thread that takes no signals, which are the main thread's; nonzero: none. */
int cli_aside(pthread_t *thread, void *(*work)(void *), void *arg);

/* Threads that the command may use. */
unsigned cli_threads(const cli_options *options);

#endif
