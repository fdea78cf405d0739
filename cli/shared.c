/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a text that are counted each by itself: parsed once and kept (tally_input_options,
 * `rewindable`), then brought column by column. */
#include "source.h"

char *cli_column_escaped(const char *name)
{
    char *text = malloc(2 * strlen(name) + 1), *to = text;
    for (; text && *name; name++) {
        if (*name == ',' || *name == '\\')
            *to++ = '\\';
        *to++ = *name;
    }
    if (text)
        *to = '\0';
    return text;
}

/* Of other formats a column is read without the others. */
static int is_parsed(const cli_source *source)
{
    return strcmp(source->kind.format, "text") == 0 || strcmp(source->kind.format, "jsonl") == 0;
}

int cli_source_share(cli_source *source, const cli_options *options, const char *const *paths,
                     char *const *names, size_t count, cli_progress *progress)
{
    char *escaped[TALLY_MAX_DIMENSIONS] = {NULL};
    cli_options several = *options;
    tally_error unsaid;
    int good = count <= TALLY_MAX_DIMENSIONS;
    for (size_t i = 0; i < count && good; i++)
        good = (escaped[i] = cli_column_escaped(names[i])) != NULL;
    several.values[CLI_COLUMN].texts = (const char **)escaped;
    several.values[CLI_COLUMN].count = count;
    good = good && !cli_source_open(source, &several, paths, 1, 1, progress, &unsaid);
    for (size_t i = 0; i < count && i < TALLY_MAX_DIMENSIONS; i++)
        free(escaped[i]);
    if (good && !is_parsed(source)) {
        cli_source_close(source);
        good = 0;
    }
    source->options = options;
    return good;
}

tally_status cli_source_borrow(cli_source *source, cli_source *lender, uint32_t pick,
                               const cli_options *options, cli_progress *progress,
                               tally_error *error)
{
    const char *name = tally_input_channel_name(lender->inputs[0], pick);
    *source = *lender;
    source->options = options;
    source->progress = progress;
    source->lender = lender;
    source->pick = pick;
    source->dimensions = 1;
    memset(source->words, 0, sizeof source->words);
    memset(source->times, 0, sizeof source->times);
    source->words[0] = lender->words[pick];
    source->times[0] = lender->times[pick];
    source->names = calloc(1, sizeof *source->names);
    if (source->names && name && *name)
        source->names[0] = strdup(name);
    tally_status status = TALLY_OK;
    if (!source->names || (name && *name && !source->names[0]))
        status = cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    if (!status)
        status = cli_source_rewind(source, error);
    if (status)
        cli_source_close(source);
    return status;
}

void cli_source_return(cli_source *source)
{
    if (source->names)
        free(source->names[0]);
    free(source->names);
    memset(source, 0, sizeof *source);
}
