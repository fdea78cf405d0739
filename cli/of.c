/* SPDX-License-Identifier: Apache-2.0 */
/* `tally run --of`: statistics of columns in each bin of another. */
#include "job.h"

enum { FLOWS = 4, FIELDS = 5 }; /* of tally_flows; sum, mean, m2, min, max */

/* Of the bins, or of the samples in none. */
static int statistics_make(tally_statistics *s, uint64_t cells, void **memory)
{
    double *at = calloc((size_t)cells, (FIELDS + 1) * sizeof *at);
    *memory = at;
    *s = (tally_statistics)TALLY_STATISTICS_INIT;
    s->count = *memory;
    double **const fields[FIELDS] = {&s->sum, &s->mean, &s->m2, &s->min, &s->max};
    for (int f = 0; f < FIELDS && at; f++)
        *fields[f] = at + (size_t)(f + 1) * cells;
    return at != NULL;
}

int cli_of_make(cli_job *job)
{
    const cli_source *source = &job->source;
    const char *const *names = (const char *const *)source->headings + source->dimensions;
    tally_error error = {""};
    tally_status status = tally_profile_create(
        job->plan, source->headings[0], (uint32_t)source->beside, names, &job->ours.result, &error);
    for (uint64_t h = 0; h < source->beside && !status; h++)
        status = tally_profile_time_set(job->ours.result, h, source->times[source->dimensions + h],
                                        &error);
    return status ? cli_fail_status(status, &error) : CLI_OK;
}

static int show_progress(void *user, uint64_t done, uint64_t total)
{
    cli_source_progress(user, total ? (double)done / (double)total : 1);
    return 0;
}

static tally_status add_chunk(cli_job *job, const cli_chunk *chunk, const tally_statistics *bins,
                              const tally_statistics *flows, tally_error *error)
{
    tally_statistics_options how = TALLY_STATISTICS_OPTIONS_INIT;
    how.mask = chunk->has_mask ? &chunk->mask : NULL;
    how.skip_nan = 1;
    if (chunk->views[0].source && job->source.progress->on) {
        how.progress = show_progress;
        how.user = &job->source;
    }
    const double started = cli_seconds();
    tally_status status =
        tally_bin_statistics(job->plan, chunk->views, chunk->views + job->source.dimensions,
                             (uint32_t)job->source.beside, &how, bins, flows, error);
    job->seconds += cli_seconds() - started;
    job->elements += chunk->elements;
    return status ? status : tally_profile_add(job->ours.result, bins, flows, error);
}

int cli_of_add(cli_job *job)
{
    tally_statistics bins, flows;
    void *memory[2] = {NULL, NULL};
    tally_error error = {""};
    int done = 0;
    tally_status status = TALLY_OK;
    if (!statistics_make(&bins, job->source.beside * tally_plan_bins(job->plan), &memory[0]) ||
        !statistics_make(&flows, job->source.beside * FLOWS, &memory[1]))
        status = cli_error(&error, TALLY_ERROR_MEMORY, "out of memory");
    while (!status && !done) {
        cli_chunk chunk;
        status = cli_source_read(&job->source, &chunk, &done, &error);
        if (!status && !done)
            status = add_chunk(job, &chunk, &bins, &flows, &error);
    }
    free(memory[0]);
    free(memory[1]);
    return status ? cli_fail_status(status, &error) : CLI_OK;
}

static int has_beyond(const tally_statistics *s, uint64_t cells)
{
    for (uint64_t i = 0; i < cells; i++)
        if (s->count[i] && (s->max[i] >= 0x1p53 || s->min[i] <= -0x1p53))
            return 1;
    return 0;
}

void cli_of_note(const cli_job *job)
{
    const cli_source *source = &job->source;
    const uint64_t bins = tally_plan_bins(job->plan);
    if (!cli_source_has_integers(source))
        return;
    for (uint64_t h = 0; h < source->beside; h++) {
        const tally_statistics inside = tally_profile_bins(job->ours.result, h);
        const tally_statistics flows = tally_profile_flows(job->ours.result, h);
        if (has_beyond(&inside, bins) || has_beyond(&flows, FLOWS))
            cli_note(job->options,
                     "%s: statistics of %s are of float64, to which integers beyond 2^53 are "
                     "rounded; as --column they are counted exactly",
                     cli_shown(source->paths[0]), source->headings[source->dimensions + h]);
    }
}

int cli_of_check(const cli_options *options, const cli_target *target, uint32_t axes)
{
    if (!cli_has(options, CLI_OF))
        return cli_has(options, CLI_STATISTIC) ? cli_usage(options->word, "--statistic needs --of")
                                               : CLI_OK;
    if (axes != 1)
        return cli_usage(options->word, "--of: one column is binned; %u are named", axes);
    if (target->format == TALLY_FORMAT_NPY)
        return cli_usage(options->word, "--of writes a table, csv, json, png or svg");
    if (target->write.log_counts)
        return cli_usage(options->word, "--log-counts is for counts, not for --of");
    return CLI_OK;
}
