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
    return isatty(descriptor) && terminal && strcmp(terminal, "dumb") != 0;
}

uint32_t cli_terminal_width(int descriptor)
{
    struct winsize size;
    if (!isatty(descriptor))
        return 0;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

/* Only a locale that names another character set speaks against blocks: containers and cron jobs
 * have none or "C", and what shows their output knows UTF-8. */
int cli_ascii(const cli_options *options)
{
    if (cli_has(options, CLI_ASCII))
        return 1;
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (!value || !*value)
            continue;
        const char *set = strchr(value, '.');
        return set && !strstr(set, "UTF") && !strstr(set, "utf");
    }
    return 0;
}

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
