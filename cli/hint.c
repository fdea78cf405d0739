/* SPDX-License-Identifier: Apache-2.0 */
/* After a failure of `tally run`: what may have been meant. */
#include <sys/stat.h>
#include <unistd.h>

#include "job.h"

/* A word with a typo looks like a file that is not there. */
static void hint_word(const cli_options *options, const char *first)
{
    if (strpbrk(first, "./"))
        return;
    for (size_t i = 0; i < cli_word_count; i++)
        if (cli_distance(first, cli_word_table[i].name, 2) <= 2)
            cli_note(options, "do you mean `tally %s`?", cli_word_table[i].name);
}

static int is_saved(const char *path)
{
    static const char begins[] = "{\"schema\":\"tally/";
    char head[sizeof begins + 1] = "";
    struct stat about; /* to open a pipe may take for ever */
    FILE *file = !stat(path, &about) && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    if (!file)
        return 0;
    const size_t size = fread(head, 1, sizeof head - 1, file);
    fclose(file);
    const char *text = head + (*head == '[');
    return size == sizeof head - 1 && strncmp(text, begins, sizeof begins - 1) == 0;
}

/* After a failure: what may have been meant. */
void cli_run_hint(const cli_options *options)
{
    const char *weights = cli_text(options, CLI_WEIGHTS, ":");
    double number;
    for (size_t i = 0; i < options->operand_count; i++) {
        const char *path = options->operands[i];
        if (is_saved(path))
            cli_note(options, "%s is a saved result: `tally show` shows it", path);
        if (strcmp(path, "-") == 0 || access(path, F_OK) == 0)
            continue;
        if (i == 0)
            hint_word(options, path);
        if (cli_parse_real(path, &number))
            cli_note(options, "%s is taken for a file; an option's values follow it at once", path);
    }
    if (weights[0] != ':' && strcmp(weights, "-") != 0 && access(weights, F_OK) != 0)
        cli_note(options, "--weights :%s would be the column %s of the table", weights, weights);
}
