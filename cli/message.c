/* SPDX-License-Identifier: Apache-2.0 */
/* What goes to standard error. */
#include <stdarg.h>

#include "../common/printable.h"
#include "cli.h"
#include "progress.h"

/* Text as it is shown, whatever files and arguments had put into it. */
static void shown(const char *text)
{
    char one[PRINTABLE_MOST];
    for (size_t left = strlen(text), took; left; left -= took, text += took) {
        took = printable_one(text, left, one);
        fputs(one, stderr);
    }
}

const char *cli_speaker = "tally";
static tally_error *kept;

void cli_failures_keep(tally_error *to)
{
    kept = to;
}

/* Nonzero: the failure is kept, not said. */
static int keep(const cli_word *word, const char *format, va_list list)
{
    if (!kept || kept->message[0])
        return kept != NULL;
    vsnprintf(kept->message, sizeof kept->message, format, list);
    const size_t used = strlen(kept->message);
    if (word)
        snprintf(kept->message + used, sizeof kept->message - used, " (tally %s --help)",
                 word->name);
    return 1;
}

static void line(const char *format, va_list list)
{
    char small[4096];
    va_list again;
    va_copy(again, list);
    const int length = vsnprintf(small, sizeof small, format, list);
    char *large = length >= (int)sizeof small ? malloc((size_t)length + 1) : NULL;
    if (large)
        vsnprintf(large, (size_t)length + 1, format, again);
    va_end(again);
    cli_progress_wipe();
    fprintf(stderr, "%s: ", cli_speaker);
    shown(large ? large : small);
    free(large);
}

int cli_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (!keep(NULL, format, list)) {
        line(format, list);
        fputc('\n', stderr);
    }
    va_end(list);
    return CLI_FAILED;
}

int cli_usage(const cli_word *word, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (!keep(word, format, list)) {
        line(format, list);
        if (word)
            fprintf(stderr, " (tally %s --help)", word->name);
        fputc('\n', stderr);
    }
    va_end(list);
    return CLI_USAGE;
}

int cli_code_of(tally_status status)
{
    return status == TALLY_ERROR_UNSUPPORTED ? CLI_UNSUPPORTED : CLI_FAILED;
}

int cli_fail_status(tally_status status, const tally_error *error)
{
    cli_fail("%s", error->message[0] ? error->message : tally_status_string(status));
    return cli_code_of(status);
}

void cli_note(const cli_options *options, const char *format, ...)
{
    if (!cli_speaker || cli_has(options, CLI_QUIET))
        return;
    va_list list;
    va_start(list, format);
    line(format, list);
    va_end(list);
    fputc('\n', stderr);
}

void cli_say(const cli_options *options, const char *format, ...)
{
    if (!cli_speaker || !cli_has(options, CLI_VERBOSE) || cli_has(options, CLI_QUIET))
        return;
    va_list list;
    va_start(list, format);
    line(format, list);
    va_end(list);
    fputc('\n', stderr);
}

const char *cli_shown(const char *path)
{
    const int standard = strcmp(path, "-") == 0 || strcmp(path, CLI_KEPT_STDIN) == 0;
    return standard ? "standard input" : path;
}
