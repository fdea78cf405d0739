/* SPDX-License-Identifier: Apache-2.0 */
/* Which columns of a table are asked for. */
#include "source.h"

/* Adds those of an option's texts, with commas between. */
static int add_pieces(const cli_options *options, cli_id id, char **columns, size_t *count)
{
    for (size_t i = 0; i < options->values[id].count; i++) {
        size_t pieces;
        char **names = cli_split(options->values[id].texts[i], &pieces);
        if (!names)
            return cli_fail("out of memory");
        const int room = *count + pieces <= TALLY_MAX_DIMENSIONS;
        for (size_t p = 0; p < pieces && room; p++) {
            columns[(*count)++] = names[p];
            names[p] = NULL;
        }
        cli_split_free(names, pieces);
        if (!room)
            return cli_usage(options->word, "--%s: at most %d columns%s", cli_option_row(id)->name,
                             TALLY_MAX_DIMENSIONS, id == CLI_COLUMN ? "" : " in all");
    }
    return CLI_OK;
}

static int add_beside(const cli_options *options, char **columns, size_t *count)
{
    const char *weights = cli_text(options, CLI_WEIGHTS, "");
    const int of = cli_has(options, CLI_OF);
    if (!of && *weights != ':')
        return CLI_OK;
    if (*count == 0)
        return cli_usage(options->word,
                         "%s%s is a column of the table; name the samples' with --column",
                         of ? "--of " : "--weights ", of ? cli_text(options, CLI_OF, "") : weights);
    if (of)
        return add_pieces(options, CLI_OF, columns, count);
    if (*count == TALLY_MAX_DIMENSIONS)
        return cli_usage(options->word, "--weights %s: at most %d columns in all", weights,
                         TALLY_MAX_DIMENSIONS);
    columns[(*count)++] = strdup(weights + 1);
    return columns[*count - 1] ? CLI_OK : cli_fail("out of memory");
}

int cli_columns_parse(const cli_options *options, char ***columns, size_t *count, size_t *beside)
{
    const char *by = cli_text(options, CLI_BY, NULL);
    *columns = calloc(TALLY_MAX_DIMENSIONS + 1, sizeof **columns);
    *count = *beside = 0;
    if (!*columns || (by && !((*columns)[(*count)++] = strdup(by))))
        return cli_fail("out of memory");
    int code = add_pieces(options, CLI_COLUMN, *columns, count);
    if (code)
        return code;
    if (by && *count != 2)
        return cli_usage(options->word,
                         "--by %s: name one column that is counted for each value of %s, with "
                         "--column",
                         by, by);
    const size_t samples = *count;
    code = add_beside(options, *columns, count);
    *beside = *count - samples;
    return code;
}
