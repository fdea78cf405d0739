/* SPDX-License-Identifier: Apache-2.0 */
/* `tally TABLE` without a column: every column at a glance. */
#include "source.h"

int cli_glance_wanted(const cli_options *options)
{
    static const cli_id others[] = {
        CLI_BINS,     CLI_EDGES,      CLI_RANGE,  CLI_LOG,      CLI_INTEGER,
        CLI_ALPHABET, CLI_CATEGORIES, CLI_TOP,    CLI_BY,       CLI_COLUMN,
        CLI_DTYPE,    CLI_CHANNEL,    CLI_COLS,   CLI_MASK,     CLI_WEIGHTS,
        CLI_EACH,     CLI_PAGE,       CLI_SET,    CLI_OF,       CLI_KEEP_GOING,
        CLI_COUNTER,  CLI_METHOD,     CLI_VERIFY, CLI_MAX_ROWS, CLI_RANKS};
    cli_target target;
    if (options->word->bit != CLI_RUN)
        return 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cli_has(options, others[i]))
            return 0;
    return !cli_target_get(options, 0, &target) &&
           (target.format == TALLY_FORMAT_TABLE || target.format == TALLY_FORMAT_JSON ||
            target.format == TALLY_FORMAT_CSV);
}

static int sink(void *user, const void *bytes, size_t size)
{
    (void)user;
    cli_out_bytes(bytes, size);
    return 0;
}

static int write_all(const cli_options *options, tally_summary *const *summaries, size_t count)
{
    cli_target target;
    tally_error error = {""};
    cli_target_get(options, 0, &target);
    const tally_summary *const *all = (const tally_summary *const *)summaries;
    if (!target.path) {
        tally_status status =
            tally_summary_write(all, count, target.format, &target.write, sink, NULL, &error);
        const int end = cli_out_end();
        return status ? cli_fail_status(status, &error) : end;
    }
    cli_signals_hold();
    tally_status status =
        tally_summary_save(all, count, target.format, &target.write, target.path, &error);
    const int code = status ? cli_fail_status(status, &error) : CLI_OK;
    cli_signals_release();
    return code;
}

/* The file i, or the first one, which is open; *rounded: an integer of it was. */
static tally_status summarize(const cli_source *source, size_t i, tally_summary **summary,
                              int *rounded, tally_error *error)
{
    const char *path = source->paths[i];
    tally_input_options wanted;
    tally_input *input = i ? NULL : source->inputs[0];
    tally_input_info info = {.struct_size = sizeof info};
    tally_status status = TALLY_OK;
    cli_source_input_options(source, &wanted);
    if (!input)
        status = tally_input_open(path, &wanted, &input, error);
    if (!status)
        tally_input_info_get(input, &info);
    if (info.table)
        status = tally_summary_create(input, cli_shown(path), summary, error);
    else if (!status)
        status = cli_error(error, TALLY_ERROR_DATA,
                           "%s: is no table of several columns, as %s is; only files of one kind "
                           "are shown together",
                           cli_shown(path), cli_shown(source->paths[0]));
    *rounded = tally_input_rounded(input);
    if (i)
        tally_input_close(input);
    return status;
}

int cli_glance(const cli_source *source)
{
    tally_error error = {""};
    tally_summary **all = calloc(source->count, sizeof(tally_summary *));
    if (!all)
        return cli_fail("out of memory");
    size_t done = 0;
    tally_status status = TALLY_OK;
    const char *rounded = NULL; /* the last file with such integers */
    for (int found = 0; done < source->count && !status; done++) {
        status = summarize(source, done, &all[done], &found, &error);
        rounded = found ? source->paths[done] : rounded;
    }
    cli_progress_end(source->progress);
    if (!status && rounded)
        cli_note(source->options,
                 "%s: integers beyond 2^53 were rounded to float64: a column of nothing but 64-bit "
                 "integers is exact if one of its first values is beyond 2^53",
                 cli_shown(rounded));
    const int code =
        status ? cli_fail_status(status, &error) : write_all(source->options, all, source->count);
    for (size_t i = 0; i < done; i++)
        tally_summary_destroy(all[i]);
    free(all);
    return code;
}
