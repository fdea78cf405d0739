/* SPDX-License-Identifier: Apache-2.0 */
/* `--column all`: which columns there are, and which of them the bins are for. */
#include "dates.h"
#include "source.h"

int cli_wants_all(const cli_options *options)
{
    return options->values[CLI_COLUMN].count == 1 &&
           strcmp(options->values[CLI_COLUMN].texts[0], "all") == 0;
}

/* Bins are of one sort of column. */
static int wants_times(const cli_options *options)
{
    double value;
    int is_date = cli_calendar_parse(cli_text(options, CLI_BINS, "")) >= 0;
    if (cli_has(options, CLI_RANGE) && !is_date)
        cli_value_parse(options->values[CLI_RANGE].texts[0], TALLY_TIME_NONE, 0, &value, &is_date);
    return is_date;
}

static int wants_numbers(const cli_options *options)
{
    static const cli_id numbers[] = {CLI_BINS, CLI_EDGES,   CLI_RANGE,
                                     CLI_LOG,  CLI_INTEGER, CLI_RANKS};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (cli_has(options, numbers[i]))
            return 1;
    return options->word->bit == CLI_QUANTILES;
}

/* Whether the column called `name` is to be counted; TALLY_ERROR_ARGUMENT if there is none. */
static tally_status look_at(const cli_options *options, const char *path, const char *name,
                            int *wanted, tally_error *error)
{
    cli_source bare = {.options = options};
    tally_input_options how;
    tally_input *input = NULL;
    tally_words *words = NULL;
    tally_input_info info = {.struct_size = sizeof info};
    tally_status status = tally_words_create(&words, error);
    if (status)
        return status;
    cli_source_input_options(&bare, &how);
    how.columns = &name;
    how.columns_count = 1;
    how.words = &words;
    how.threads = 1;
    how.integers = TALLY_INTEGERS_NONE;
    status = tally_input_open(path, &how, &input, error);
    if (!status)
        status = tally_input_info_get(input, &info);
    if (!status && info.words)
        *wanted = !wants_numbers(options);
    else if (!status)
        *wanted = !wants_times(options) || tally_input_time(input, 0);
    if (!status && !*wanted)
        cli_note(options, "%s: column %s is of %s and left out; %s of %s", cli_shown(path), name,
                 info.words ? "words" : "numbers",
                 options->word->bit == CLI_QUANTILES || cli_has(options, CLI_RANKS)
                     ? "quantiles are"
                     : "the bins asked for are",
                 wants_times(options) ? "dates" : "numbers");
    tally_input_close(input);
    tally_words_destroy(words);
    return status;
}

static int add(char ***names, size_t *count, const char *name)
{
    char **more = realloc(*names, (*count + 1) * sizeof *more);
    if (more)
        *names = more;
    if (!more || !(more[*count] = strdup(name)))
        return cli_fail("out of memory");
    ++*count;
    return CLI_OK;
}

/* The headings of a text of several columns, which may look like numbers themselves. */
static int text_names(const cli_options *options, const char *path, char ***names, size_t *count)
{
    cli_source bare = {.options = options};
    tally_input_options how;
    tally_input *input = NULL;
    tally_input_info info = {.struct_size = sizeof info};
    int code = CLI_OK;
    cli_source_input_options(&bare, &how);
    how.whole_table = 1;
    how.threads = 1;
    how.integers = TALLY_INTEGERS_NONE;
    if (tally_input_open(path, &how, &input, NULL) == TALLY_OK)
        tally_input_info_get(input, &info);
    for (uint32_t c = 0; c < info.table && !code; c++) {
        char number[16];
        const char *name = tally_input_channel_name(input, c);
        int same = 0;
        for (uint32_t other = 0; other < info.table; other++)
            same += strcmp(name, tally_input_channel_name(input, other)) == 0;
        snprintf(number, sizeof number, "%u", c + 1);
        code = add(names, count, same == 1 && strncmp(name, "column ", 7) != 0 ? name : number);
    }
    tally_input_close(input);
    return code;
}

int cli_all_columns(const cli_options *options, const char *path, char ***names, size_t *count)
{
    char **listed = NULL;
    size_t known = 0;
    tally_error error = {""};
    tally_status status = TALLY_OK;
    int code = text_names(options, path, &listed, &known);
    *names = NULL;
    *count = 0;
    for (size_t c = 0; !code && (!known || c < known); c++) {
        char number[24];
        int wanted = 0;
        snprintf(number, sizeof number, "%zu", c + 1);
        const char *name = known ? listed[c] : number;
        status = look_at(options, path, name, &wanted, &error);
        if (status == TALLY_ERROR_ARGUMENT && (c || known))
            break;
        if (status == TALLY_ERROR_ARGUMENT || status == TALLY_ERROR_MEMORY ||
            status == TALLY_ERROR_IO || (status && !c))
            code = cli_fail_status(status, &error);
        else if (status)
            cli_note(options, "%s; column %s is left out", error.message, name);
        else if (wanted)
            code = add(names, count, name);
    }
    if (!code && !*count)
        code = cli_fail(options->word->bit == CLI_RUN ? "%s: no column is counted by these bins"
                                                      : "%s: no column of numbers or times",
                        cli_shown(path));
    cli_split_free(listed, known);
    return code;
}
