/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `tally run`, as far as they can be checked before a file is opened. */
#include <ctype.h>
#include <unistd.h>

#include "source.h"
#include "team.h"

static int check_pairs(const cli_options *options)
{
    static const struct {
        cli_id has, needs;
    } pairs[] = {{CLI_SHAPE, CLI_DTYPE},         {CLI_ENDIAN, CLI_DTYPE},
                 {CLI_SUM_SQUARES, CLI_WEIGHTS}, {CLI_WEIGHT_LIMIT, CLI_WEIGHTS},
                 {CLI_SET, CLI_METHOD},          {CLI_SEPARATE, CLI_COLUMN}};
    static const cli_id foes[][2] = {{CLI_DTYPE, CLI_COLUMN},    {CLI_CHANNEL, CLI_COLUMN},
                                     {CLI_WEIGHTS, CLI_COUNTER}, {CLI_KEEP_GOING, CLI_WEIGHTS},
                                     {CLI_KEEP_GOING, CLI_MASK}, {CLI_KEEP_GOING, CLI_VERIFY},
                                     {CLI_BY, CLI_WEIGHTS},      {CLI_BY, CLI_CATEGORIES},
                                     {CLI_BY, CLI_KEEP_GOING},   {CLI_BY, CLI_COUNTER},
                                     {CLI_SEPARATE, CLI_BY},     {CLI_SEPARATE, CLI_EACH},
                                     {CLI_SEPARATE, CLI_MASK},   {CLI_QUIET, CLI_VERBOSE},
                                     {CLI_OF, CLI_WEIGHTS},      {CLI_OF, CLI_BY},
                                     {CLI_OF, CLI_SEPARATE},     {CLI_OF, CLI_COUNTER},
                                     {CLI_OF, CLI_VERIFY},       {CLI_OF, CLI_KEEP_GOING}};
    if (cli_has(options, CLI_OFFSET) && !cli_has(options, CLI_DTYPE) &&
        !cli_has(options, CLI_ALPHABET))
        return cli_usage(options->word, "--offset is for raw data and needs --dtype");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (cli_has(options, pairs[i].has) && !cli_has(options, pairs[i].needs))
            return cli_usage(options->word, "--%s needs --%s", cli_option_row(pairs[i].has)->name,
                             cli_option_row(pairs[i].needs)->name);
    for (size_t i = 0; i < sizeof foes / sizeof *foes; i++)
        if (cli_has(options, foes[i][0]) && cli_has(options, foes[i][1]))
            return cli_usage(options->word, "--%s and --%s contradict each other; give one",
                             cli_option_row(foes[i][0])->name, cli_option_row(foes[i][1])->name);
    return CLI_OK;
}

static int check_settings(const cli_options *options)
{
    for (size_t i = 0; i < options->values[CLI_SET].count; i++) {
        const char *text = options->values[CLI_SET].texts[i];
        const char *equal = strchr(text, '=');
        if (!equal || equal == text)
            return cli_usage(options->word, "--set %s: KEY=VALUE", text);
    }
    return CLI_OK;
}

static int check_dtype(const cli_options *options)
{
    const char *dtype = cli_text(options, CLI_DTYPE, ""),
               *endian = cli_text(options, CLI_ENDIAN, NULL);
    int order;
    parse_dtype(dtype, &order);
    if (endian && order && (order > 0) != (*endian == 'b'))
        return cli_usage(options->word, "--dtype %s and --endian %s contradict each other", dtype,
                         endian);
    return CLI_OK;
}

static int check_shape(const cli_options *options)
{
    const char *text = cli_text(options, CLI_SHAPE, NULL);
    size_t count = 0;
    char **pieces = text ? cli_split(text, &count) : NULL;
    int good = count <= 3;
    for (size_t i = 0; i < count && good; i++) {
        uint64_t value;
        good = parse_u64(pieces[i], &value) && (value > 0 || i == 0);
    }
    cli_split_free(pieces, count);
    if (!good)
        return cli_usage(options->word,
                         "--shape %s: up to three numbers above zero, rows,columns,"
                         "channels (0 rows: to the end)",
                         text);
    return CLI_OK;
}

static int check_regions(const cli_options *options)
{
    const cli_id ids[] = {CLI_ROWS, CLI_COLS};
    for (int i = 0; i < 2; i++) {
        const char *text = cli_text(options, ids[i], NULL);
        uint64_t begin, end;
        if (text && !cli_parse_slice(text, &begin, &end))
            return cli_usage(options->word, "--%s %s: A:B with A less than B, A: or :B",
                             cli_option_row(ids[i])->name, text);
    }
    return CLI_OK;
}

static int check_text(const cli_options *options)
{
    static const char *const not_good = "\"#+-.";
    const char *text = cli_text(options, CLI_DELIMITER, ",");
    int named = strcmp(text, "tab") == 0 || strcmp(text, "space") == 0;
    int sign = text[0] && !text[1] && !strchr(not_good, text[0]) &&
               (ispunct((unsigned char)text[0]) || text[0] == ' ' || text[0] == '\t');
    if (!named && !sign)
        return cli_usage(options->word,
                         "--delimiter %s: tab, space, or one sign other than \" # + - .", text);
    if (cli_has(options, CLI_DTYPE) &&
        (cli_has(options, CLI_DELIMITER) || cli_has(options, CLI_HEADER) ||
         cli_has(options, CLI_NA) || cli_has(options, CLI_DECIMAL) ||
         cli_has(options, CLI_THOUSANDS)))
        return cli_usage(options->word,
                         "--dtype is for raw data; --delimiter, --header, --na, --decimal and "
                         "--thousands are for text; give one of them");
    if (strcmp(cli_text(options, CLI_DECIMAL, "."), cli_text(options, CLI_THOUSANDS, "")) == 0)
        return cli_usage(options->word,
                         "--thousands %s is what the decimal sign is, too; give "
                         "--decimal another",
                         cli_text(options, CLI_THOUSANDS, ""));
    return CLI_OK;
}

static int check_files(const cli_options *options)
{
    size_t inputs = 0;
    for (size_t i = 0; i < options->operand_count; i++)
        inputs += strcmp(options->operands[i], "-") == 0;
    inputs += strcmp(cli_text(options, CLI_MASK, ""), "-") == 0;
    inputs += strcmp(cli_text(options, CLI_WEIGHTS, ""), "-") == 0;
    if (inputs > 1)
        return cli_usage(options->word, "standard input (-) can be read once");
    if (inputs && cli_has(options, CLI_SEPARATE) && options->operand_count > 1)
        return cli_usage(options->word,
                         "--separate reads files for each column; standard input (-) only alone");
    if (options->operand_count == 0 && isatty(STDIN_FILENO))
        return cli_usage(options->word, "no FILE; name one, or - for standard input");
    return CLI_OK;
}

int cli_run_check(const cli_options *options, cli_target *target)
{
    char **columns = NULL;
    size_t count = 0, beside = 0;
    int code = cli_team_check(options);
    if (!code)
        code = check_pairs(options);
    if (!code)
        code = check_settings(options);
    if (!code)
        code = check_dtype(options);
    if (!code)
        code = check_shape(options);
    if (!code)
        code = check_regions(options);
    if (!code)
        code = check_text(options);
    if (!code)
        code = cli_columns_parse(options, &columns, &count, &beside);
    if (columns)
        cli_split_free(columns, count);
    if (!code) {
        uint32_t axes = (uint32_t)(count - beside) - (uint32_t)cli_has(options, CLI_BY);
        code = cli_axes_check(options, axes && !cli_has(options, CLI_SEPARATE) ? axes : 1);
        const cli_option *numbers = cli_source_numbers(options, axes);
        if (!code && numbers && cli_has(options, CLI_CATEGORIES))
            code = cli_usage(options->word, "--categories and --%s contradict each other; give one",
                             numbers->name);
    }
    if (!code)
        code = check_files(options);
    if (!code)
        code = cli_target_get(options, 0, target);
    if (!code)
        code = cli_of_check(options, target, (uint32_t)(count - beside));
    if (!code)
        code = cli_ranks_check(options, (uint32_t)count);
    int listed = target->format == TALLY_FORMAT_JSON ||
                 (target->format == TALLY_FORMAT_TABLE && !target->path);
    if (!code && cli_has(options, CLI_EACH) && options->operand_count > 1 && !listed)
        code = cli_usage(options->word, "--each writes JSON, or tables to standard output");
    if (!code && cli_has(options, CLI_SEPARATE) && !listed)
        code = cli_usage(options->word, "--separate writes JSON, or tables to standard output");
    return code;
}
