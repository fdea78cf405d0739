/* SPDX-License-Identifier: Apache-2.0 */
/* An output never replaces what the command reads. */
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* Devices and pipes are not replaced by writing to them. */
static int is_stored(const struct stat *file)
{
    return S_ISREG(file->st_mode) || S_ISBLK(file->st_mode);
}

static int is_same(const struct stat *a, const char *path)
{
    struct stat b;
    char *file = strdup(path);
    if (!file)
        return 1;
    file[tally_input_file_length(path)] = '\0';
    int found = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &b) : stat(file, &b);
    free(file);
    return found == 0 && is_stored(&b) && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

static int is_input(const cli_option *row, const char *text)
{
    if (row->id == CLI_WEIGHTS)
        return text[0] != ':'; /* else a column */
    return row->kind == CLI_FILE && row->id != CLI_OUTPUT;
}

/* The input that is the file `output`, or NULL. */
static const char *find_input(const cli_options *options, const struct stat *output)
{
    for (size_t i = 0; i < options->operand_count; i++)
        if (is_same(output, options->operands[i]))
            return options->operands[i];
    if (options->word->bit == CLI_RUN && !options->operand_count && is_same(output, "-"))
        return "-";
    for (size_t o = 0; o < cli_option_count; o++) {
        const cli_option *row = &cli_option_table[o];
        for (size_t i = 0; i < options->values[row->id].count && row->kind != CLI_FLAG; i++)
            if (is_input(row, options->values[row->id].texts[i]) &&
                is_same(output, options->values[row->id].texts[i]))
                return options->values[row->id].texts[i];
    }
    return NULL;
}

int cli_output_check(const cli_options *options, const char *path)
{
    struct stat output;
    int standard = !path || strcmp(path, "-") == 0;
    if ((standard ? fstat(STDOUT_FILENO, &output) : stat(path, &output)) != 0 ||
        !is_stored(&output))
        return CLI_OK;
    const char *input = find_input(options, &output);
    if (!input)
        return CLI_OK;
    if (standard)
        return cli_usage(options->word,
                         "standard output is the file that is read, %s; write to another",
                         cli_shown(input));
    return cli_usage(options->word, "-o %s is the file that is read, %s; name another", path,
                     cli_shown(input));
}
