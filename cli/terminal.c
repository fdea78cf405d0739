/* SPDX-License-Identifier: Apache-2.0 */
/* What the terminal and the clock are like. */
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

int cli_colors(const cli_options *options, int descriptor)
{
    const char *when = cli_text(options, CLI_COLOR, "auto");
    if (strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    const char *no = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    if (no && *no)
        return 0;
    if (options->team) /* mpirun gives it a terminal of its own */
        return 0;
    return isatty(descriptor) && terminal && strcmp(terminal, "dumb") != 0;
}

uint32_t cli_terminal_width(int descriptor)
{
    struct winsize size;
    uint64_t columns;
    const char *wanted = getenv("COLUMNS");
    if (wanted && parse_u64(wanted, &columns) && columns >= 20 && columns <= 20000)
        return (uint32_t)columns;
    if (!isatty(descriptor))
        return 0;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

/* By the locale's name, for a process that has none of its own keeps its decimal point: any that
 * does not say UTF-8 has another character set. Where none is named, as in containers, nothing is
 * said, and what shows their output knows UTF-8. */
int cli_ascii(const cli_options *options)
{
    if (cli_has(options, CLI_ASCII))
        return 1;
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (!value || !*value)
            continue;
        return !strstr(value, "UTF") && !strstr(value, "utf");
    }
    return 0;
}

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
