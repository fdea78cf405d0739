/* SPDX-License-Identifier: Apache-2.0 */
/* Standard error, the end of standard output, and the progress line. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../common/printable.h"
#include "options.h"

static void say(const char *format, va_list list, const char *end)
{
    char text[4096], one[PRINTABLE_MOST];
    vsnprintf(text, sizeof text, format, list);
    bench_progress_wipe();
    fputs("tally-bench: ", stderr);
    const char *at = text;
    for (size_t left = strlen(text), took; left; left -= took, at += took) {
        took = printable_one(at, left, one);
        fputs(one, stderr);
    }
    fputs(end, stderr);
}

int bench_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(format, list, "\n");
    va_end(list);
    return BENCH_FAILED;
}

int bench_usage(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say(format, list, " (tally-bench --help)\n");
    va_end(list);
    return BENCH_USAGE;
}

int bench_fail_status(tally_status status, const tally_error *error)
{
    return bench_fail("%s", error->message[0] ? error->message : tally_status_string(status));
}

void bench_note(const bench_options *options, const char *format, ...)
{
    if (options->quiet)
        return;
    va_list list;
    va_start(list, format);
    say(format, list, "\n");
    va_end(list);
}

int bench_out_end(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return BENCH_OK;
    if (errno == EPIPE) /* nobody reads on: nothing more is measured */
        exit(BENCH_OK);
    return bench_fail("standard output: %s", strerror(errno));
}

double bench_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- progress ---- */

static struct {
    int on, drawn, terminal;
    const char *what;
    double started, last;
    uint64_t done, total;
} progress;

void bench_progress_start(const bench_options *options)
{
    const char *when = options->progress ? options->progress : "auto";
    progress.terminal = isatty(STDERR_FILENO);
    progress.on = strcmp(when, "always") == 0 ||
                  (strcmp(when, "auto") == 0 && progress.terminal && !options->quiet);
    progress.started = progress.last = bench_seconds();
    progress.what = NULL;
}

static void draw(double now)
{
    double share = progress.total ? (double)progress.done / (double)progress.total : 0;
    double left = share > 0 ? (now - progress.started) * (1 - share) / share : 0;
    fprintf(stderr, "%s%s %3.0f %%, %d:%02d left%s", progress.terminal ? "\r\033[K" : "",
            progress.what, 100 * share, (int)left / 60, (int)left % 60,
            progress.terminal ? "" : "\n");
    fflush(stderr);
    progress.drawn = progress.terminal;
}

void bench_progress_show(const char *what, uint64_t done, uint64_t total)
{
    double now = bench_seconds();
    progress.what = what;
    progress.done = done;
    progress.total = total;
    if (!progress.on || now - progress.last < (progress.terminal ? 0.1 : 1.0))
        return;
    progress.last = now;
    draw(now);
}

void bench_progress_wipe(void)
{
    if (!progress.drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress.drawn = 0;
}

void bench_progress_end(void)
{
    bench_progress_wipe();
    if (progress.on && progress.what && !progress.terminal)
        draw(bench_seconds());
    progress.on = 0;
}
