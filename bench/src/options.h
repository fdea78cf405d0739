/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of tally-bench, and what it says on standard error. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <tally/tally.h>

#include "../../common/parse.h"

/* Exit codes. */
enum { BENCH_OK = 0, BENCH_FAILED = 1, BENCH_USAGE = 2 };

enum { BENCH_MOST_VALUES = 32 };

/* The values of an option that may be repeated. */
typedef struct bench_list {
    const char *texts[BENCH_MOST_VALUES];
    size_t count;
} bench_list;

/* Strings are argv's. */
typedef struct bench_options {
    const char *device, *method, *figure, *output; /* NULL: not given */
    const char *clock, *format, *progress;         /* one of their choices; NULL: not given */
    bench_list only, set;
    uint64_t seed, repeats, threads, mib; /* repeats, threads, mib: 0 if not given */
    int quick, list, quiet, verbose, help, version;
} bench_options;

/* Parses argv[1 …] into `options`. BENCH_OK, or BENCH_USAGE after a message. */
int bench_options_parse(int argc, char **argv, bench_options *options);
/* --help, to standard output. */
void bench_help(void);

/* ---- message.c ---- */

#if defined(__GNUC__)
#define BENCH_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define BENCH_PRINTF(f, a)
#endif

/* "tally-bench: …" on standard error. Returns BENCH_FAILED. */
int bench_fail(const char *format, ...) BENCH_PRINTF(1, 2);
/* The same with a pointer to --help; returns BENCH_USAGE. */
int bench_usage(const char *format, ...) BENCH_PRINTF(1, 2);
/* The library's words. Returns BENCH_FAILED. */
int bench_fail_status(tally_status status, const tally_error *error);
/* A remark, unless --quiet. */
void bench_note(const bench_options *options, const char *format, ...) BENCH_PRINTF(2, 3);

/* Flushes standard output. BENCH_OK, or BENCH_FAILED after a message. A closed pipe ends the
 * program quietly. */
int bench_out_end(void);

/* Seconds of a clock that never goes back. */
double bench_seconds(void);

/* The progress line on standard error, if --progress, the terminal and --quiet say so. */
void bench_progress_start(const bench_options *options);
/* Shows `what` (not owned) and how much is done, at most ten times a second; once on what is no
 * terminal. */
void bench_progress_show(const char *what, uint64_t done, uint64_t total);
/* Clears the line; the next call of bench_progress_show draws it again. */
void bench_progress_wipe(void);
void bench_progress_end(void);

#endif
