/* SPDX-License-Identifier: Apache-2.0 */
/* --by: a histogram for each value of a column. The joint histogram says how many samples of each
 * value are in each bin, but not how many in none, so these are counted here. */
#include <math.h>

#include "job.h"

int cli_by_start(cli_job *job)
{
    const uint64_t values = tally_words_count(job->source.words[0]);
    job->by_flows = calloc(values + 1, sizeof *job->by_flows);
    return job->by_flows ? CLI_OK : cli_fail("out of memory");
}

static void add_outside(tally_flows *flows, const tally_axis *axis, double value)
{
    if (isnan(value))
        flows->nan++;
    else if (value < tally_axis_edge(axis, 0))
        flows->under++;
    else
        flows->over++;
}

/* Sample i of a chunk: columns with words are read as f64, in one row. */
static double sample(const tally_view *view, uint64_t i)
{
    const int64_t step = view->column_stride_bytes;
    double value;
    memcpy(&value, (const char *)view->data + (int64_t)i * (step ? step : (int64_t)sizeof value),
           sizeof value);
    return value;
}

void cli_by_add(cli_job *job, const cli_chunk *chunk)
{
    const tally_axis *axis = &job->axes.axes[1];
    const double lo = tally_axis_edge(axis, 0), hi = tally_axis_edge(axis, axis->bins);
    const int closed = axis->kind != TALLY_AXIS_INTEGER && axis->last == TALLY_LAST_CLOSED;
    for (uint64_t i = 0; i < chunk->elements; i++) {
        const double code = sample(chunk->views, i), value = sample(chunk->views + 1, i);
        if (isnan(code))
            job->by_missing++;
        else if (!(value >= lo && (value < hi || (closed && value == hi))))
            add_outside(&job->by_flows[(size_t)code], axis, value);
    }
}

int cli_by_finish(cli_job *job)
{
    tally_error error = {""};
    tally_result *made = NULL;
    const tally_status status =
        tally_result_by(job->ours.result, job->source.words[0], job->by_flows,
                        cli_uint(job->options, CLI_TOP, 0), &made, &error);
    if (status)
        return cli_fail_status(status, &error);
    tally_result_destroy(job->ours.result);
    job->ours.result = made;
    if (job->by_missing)
        cli_note(job->options, "%llu row(s) have no %s and are in no histogram",
                 (unsigned long long)job->by_missing, cli_text(job->options, CLI_BY, ""));
    return CLI_OK;
}
