/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <unistd.h>

#include "cli.h"

volatile sig_atomic_t cli_progress_line;

void cli_progress_start(cli_progress *progress, const cli_options *options, const char *what)
{
    memset(progress, 0, sizeof *progress);
    const char *when = cli_text(options, CLI_PROGRESS, "auto");
    progress->on =
        !options->team &&
        (strcmp(when, "always") == 0 ||
         (strcmp(when, "auto") == 0 && isatty(STDERR_FILENO) && !cli_has(options, CLI_QUIET)));
    progress->what = what;
    progress->started = progress->last = cli_seconds();
}

static void print_time(double seconds)
{
    if (seconds >= 3600)
        fprintf(stderr, ", %.0f:%02d h left", seconds / 3600 - 0.5, (int)(seconds / 60) % 60);
    else if (seconds >= 60)
        fprintf(stderr, ", %d:%02d left", (int)seconds / 60, (int)seconds % 60);
    else
        fprintf(stderr, ", %.0f s left", seconds);
}

static void print(const cli_progress *progress, double now)
{
    int terminal = isatty(STDERR_FILENO);
    double seconds = now - progress->started;
    double speed = seconds > 0 ? (double)progress->done / seconds : 0;
    if (terminal)
        fputs("\r\033[K", stderr);
    fprintf(stderr, "%s", progress->what);
    if (progress->total) {
        double share = (double)progress->done / (double)progress->total;
        fprintf(stderr, " %3.0f %%", 100 * (share < 1 ? share : 1));
    } else {
        fprintf(stderr, " %.2f GB", (double)progress->done * 1e-9);
    }
    if (!progress->plain)
        fprintf(stderr, ", %.2f GB/s", speed * 1e-9);
    if (progress->total > progress->done && speed > 0)
        print_time((double)(progress->total - progress->done) / speed);
    fputs(terminal ? "" : "\n", stderr);
    fflush(stderr);
    cli_progress_line = terminal;
}

void cli_progress_show(cli_progress *progress, uint64_t done, uint64_t total)
{
    if (!progress->on)
        return;
    progress->done = done;
    progress->total = total;
    double now = cli_seconds();
    if (now - progress->last < (isatty(STDERR_FILENO) ? 0.1 : 1.0))
        return;
    progress->last = now;
    print(progress, now);
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->on && !isatty(STDERR_FILENO))
        print(progress, cli_seconds());
    cli_progress_wipe();
    progress->on = 0;
}

void cli_progress_wipe(void)
{
    if (!cli_progress_line)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    cli_progress_line = 0;
}
