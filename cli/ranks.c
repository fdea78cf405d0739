/* SPDX-License-Identifier: Apache-2.0 */
/* --quantiles: exact ones of a source's samples, for `tally quantiles` and beside a histogram. */
#include "job.h"

int cli_ranks_parse(const cli_options *options, const char *otherwise, double **q, size_t *count)
{
    char **pieces = cli_split(cli_text(options, CLI_RANKS, otherwise), count);
    *q = pieces ? calloc(*count + 1, sizeof **q) : NULL;
    int code = *q ? CLI_OK : cli_fail("out of memory");
    for (size_t i = 0; i < *count && !code; i++)
        if (!cli_parse_real(pieces[i], &(*q)[i]) || (*q)[i] < 0 || (*q)[i] > 1)
            code =
                cli_usage(options->word, "--quantiles: \"%s\" is no number from 0 to 1", pieces[i]);
    cli_split_free(pieces, *count);
    return code;
}

static tally_quantile_search_options search_options(const cli_source *source)
{
    tally_quantile_search_options how = TALLY_QUANTILE_SEARCH_OPTIONS_INIT;
    const char *between = cli_text(source->options, CLI_BETWEEN, "linear");
    how.dtype = source->kind.dtype;
    how.channels = source->kind.channels;
    how.channel_mask = source->channel_mask;
    how.method = (tally_quantile_method)tally_quantile_method_parse(between);
    how.skip_nan = 1;
    return how;
}

/* All of the source, once; *elements are counted. */
static tally_status add_all(cli_source *source, tally_quantile_search *search, uint64_t *elements,
                            tally_error *error)
{
    tally_status status = TALLY_OK;
    int done = 0;
    *elements = 0;
    while (!status && !done) {
        cli_chunk chunk;
        status = cli_source_read(source, &chunk, &done, error);
        if (!status && !done)
            status = tally_quantile_search_add(search, &chunk.views[0],
                                               chunk.has_mask ? &chunk.mask : NULL, error);
        *elements += !status && !done ? chunk.elements : 0;
    }
    return status;
}

tally_status cli_ranks_search(tally_context *context, cli_source *source, const double *q,
                              size_t count, tally_quantile_search **search, uint64_t *elements,
                              tally_error *error)
{
    const tally_quantile_search_options how = search_options(source);
    int more = 1, passes = 0;
    tally_status status =
        tally_quantile_search_create(context, &how, q, (uint32_t)count, search, error);
    for (; !status && more; passes++) {
        if (passes)
            status = cli_source_rewind(source, error);
        if (!status)
            status = add_all(source, *search, elements, error);
        if (!status)
            status = tally_quantile_search_next(*search, &more, error);
    }
    cli_say(source->options, "%s: read %d time(s)", cli_shown(source->paths[0]), passes);
    return status;
}

int cli_ranks_check(const cli_options *options, uint32_t axes)
{
    static const cli_id foes[] = {CLI_BY,         CLI_OF,  CLI_CATEGORIES,
                                  CLI_KEEP_GOING, CLI_TOP, CLI_ALPHABET};
    double *q = NULL;
    size_t count = 0;
    if (cli_has(options, CLI_WEIGHTS) &&
        strcmp(cli_text(options, CLI_BETWEEN, "inverted_cdf"), "inverted_cdf") != 0)
        return cli_usage(options->word,
                         "--between %s: with --weights a quantile is a sample, as by "
                         "inverted_cdf",
                         cli_text(options, CLI_BETWEEN, ""));
    if (options->word->bit != CLI_RUN)
        return CLI_OK;
    if (cli_has(options, CLI_RANKS) && cli_has(options, CLI_WEIGHTS))
        return cli_usage(options->word, "--quantiles beside sums of weights are not kept; `tally "
                                        "quantiles --weights` finds them");
    if (!cli_has(options, CLI_RANKS))
        return cli_has(options, CLI_BETWEEN)
                   ? cli_usage(options->word, "--between needs --quantiles")
                   : CLI_OK;
    for (size_t i = 0; i < sizeof foes / sizeof *foes; i++)
        if (cli_has(options, foes[i]))
            return cli_usage(options->word, "--quantiles and --%s contradict each other; give one",
                             cli_option_row(foes[i])->name);
    if (axes > 1 && !cli_has(options, CLI_SEPARATE))
        return cli_usage(options->word,
                         "--quantiles: of one column, or with --separate of each; %u are joined",
                         axes);
    const int code = cli_ranks_parse(options, "", &q, &count);
    free(q);
    return code;
}

void cli_ranks_note(const cli_source *source, const double *values, size_t count)
{
    int beyond = 0;
    for (size_t i = 0; i < count; i++)
        beyond |= values[i] >= 0x1p53 || values[i] <= -0x1p53;
    if (beyond && cli_source_has_integers(source))
        cli_note(source->options,
                 "%s: quantiles are float64, to which integers beyond 2^53 are rounded",
                 cli_shown(source->paths[0]));
}

int cli_ranks_add(cli_job *job)
{
    cli_source *source = &job->source;
    const size_t channels = (size_t)source->channels;
    tally_quantile_search *search = NULL;
    tally_error error = {""};
    double *q = NULL, *values = NULL;
    size_t count = 0;
    uint64_t elements;
    int code = cli_ranks_parse(job->options, "", &q, &count);
    if (!code && !(values = calloc(channels * count + 1, sizeof *values)))
        code = cli_fail("out of memory");
    if (!code) {
        source->chunked = 0;
        tally_status status = cli_source_rewind(source, &error);
        if (!status)
            status = cli_ranks_search(job->context, source, q, count, &search, &elements, &error);
        if (!status)
            status = tally_quantile_search_get(search, values, NULL, NULL, &error);
        if (!status)
            status =
                tally_result_quantiles_set(job->ours.result, (uint32_t)count, q, values, &error);
        code = status ? cli_fail_status(status, &error) : CLI_OK;
        if (!code)
            cli_ranks_note(source, values, channels * count);
    }
    tally_quantile_search_destroy(search);
    free(values);
    free(q);
    return code;
}
