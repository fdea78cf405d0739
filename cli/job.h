/* SPDX-License-Identifier: Apache-2.0 */
/* One result in the making: what the files of `tally run` share. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "source.h"

/* A result, and where samples are counted for it: in its own 64-bit counters, or for a counter that
 * saturates in `narrow`, whose bins the result takes when all is counted. */
typedef struct cli_tallied {
    tally_result *result;
    void *narrow;
    uint64_t cells;
} cli_tallied;

typedef struct cli_job {
    const cli_options *options;
    tally_context *context;
    cli_source source;
    cli_axes axes;
    tally_counter counter;
    tally_plan *plan;
    cli_tallied ours, reference; /* reference: --verify */
    double seconds;
    double weight; /* --verify: the sum of |w| of the finite weights */
    uint64_t elements;
    tally_flows *by_flows; /* --by: of each value the samples in no bin; else NULL */
    uint64_t by_missing;   /* rows without one */
} cli_job;

/* ---- job.c: what is counted, and where to; CLI_OK, or another after a message ---- */

int cli_job_plan(cli_job *job);
int cli_tallied_make(cli_job *job, cli_tallied *made);
tally_output cli_tallied_output(const cli_tallied *to);
void cli_tallied_take(const cli_job *job, cli_tallied *of);
void cli_tallied_release(cli_tallied *of);
int cli_saturates(tally_counter counter);

/* ---- count.c: all files of the source, counted ---- */

int cli_job_count(cli_job *job);

/* ---- by.c: --by ---- */

/* Makes by_flows; adds those of a chunk; makes a result of a histogram for each value from ours. */
int cli_by_start(cli_job *job);
void cli_by_add(cli_job *job, const cli_chunk *chunk);
int cli_by_finish(cli_job *job);

/* ---- ranks.c: --quantiles ---- */

/* The option's numbers, or those of `otherwise`; free *q in any case. */
int cli_ranks_parse(const cli_options *options, const char *otherwise, double **q, size_t *count);
/* Reads the source, which is at its start, as often as it takes; *elements are in it. Destroy
 * *search in any case. */
tally_status cli_ranks_search(tally_context *context, cli_source *source, const double *q,
                              size_t count, tally_quantile_search **search, uint64_t *elements,
                              tally_error *error);
/* heavy.c: those of samples with weights, of all channels, by NumPy's inverted_cdf; of each how
 * many samples there were, and NaN among them. */
tally_status cli_ranks_weighted(tally_context *context, cli_source *source, const double *q,
                                size_t count, double *values, uint64_t *samples, uint64_t *nan,
                                uint64_t *elements, tally_error *error);
/* Says that the values, of this source, are rounded, if that may be. */
void cli_ranks_note(const cli_source *source, const double *values, size_t count);
/* Reads the source, which was counted, again, and adds its quantiles to our result. */
int cli_ranks_add(cli_job *job);

/* ---- of.c: --of ---- */

/* Our result, a profile; then what all of the source adds to it. */
int cli_of_make(cli_job *job);
int cli_of_add(cli_job *job);
void cli_of_note(const cli_job *job);

/* ---- verify.c: --verify ---- */

/* Adds |w| of a chunk's finite weights. */
void cli_verify_weights(cli_job *job, const tally_view *view);
/* CLI_FAILED after a message where the two results differ. */
int cli_verify(const cli_job *job);

/* ---- team.c: with a team, what all processes counted, on rank 0; CLI_OK without one ---- */

int cli_team_add(cli_job *job);

/* ---- hint.c: after a failure, what may have been meant ---- */

void cli_run_hint(const cli_options *options);

#endif
