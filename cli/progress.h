/* SPDX-License-Identifier: Apache-2.0 */
/* The progress line on standard error. One at a time. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <signal.h>

#include "options.h"

typedef struct cli_progress {
    int on;
    int plain;        /* no speed: done and total are not bytes */
    const char *what; /* "counting"; not owned */
    double started, last;
    uint64_t done, total; /* bytes; total 0: unknown */
} cli_progress;

/* Nonzero while a line stands on the terminal. For the signal handler. */
extern volatile sig_atomic_t cli_progress_line;

/* `what` is shown in front. On when --progress, the terminal and --quiet say so. */
void cli_progress_start(cli_progress *progress, const cli_options *options, const char *what);
/* Shows the state, at most ten times a second (once on what is not a terminal). */
void cli_progress_show(cli_progress *progress, uint64_t done, uint64_t total);
void cli_progress_end(cli_progress *progress);
/* Clears the line, before anything else is written. */
void cli_progress_wipe(void);

#endif
