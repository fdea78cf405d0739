/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that count one histogram together: tally-mpi. Each goes the same way through `tally
 * run`, reads what is dealt to it (deal.c), and meets the others in the calls below, in the same
 * order. A call takes what this process came with: if that is a failure of any, all get it, and no
 * later call waits for others; so all end. What is added up is rank 0's, which writes.
 */
#ifndef CLI_TEAM_H
#define CLI_TEAM_H

#include "cli.h"

typedef struct cli_team cli_team;
struct cli_team {
    int rank, ranks;
    int number, here; /* of this machine's processes which one this is; how many they are */
    uint64_t split;   /* files of so many bytes are counted by all, where their format allows */
    /* The bytes that each process has, one after the other, to all. */
    tally_status (*gather)(cli_team *team, tally_status mine, const void *own, size_t size,
                           void *all, tally_error *error);
    /* Process `from`'s bytes to all. */
    tally_status (*say)(cli_team *team, tally_status mine, int from, void *bytes, uint64_t size,
                        tally_error *error);
    /* Adds up numbers, or what a result's output or a counter's arrays hold. */
    tally_status (*sum)(cli_team *team, tally_status mine, uint64_t *numbers, uint64_t count,
                        tally_error *error);
    tally_status (*add)(cli_team *team, tally_status mine, const tally_plan *plan,
                        uint64_t histograms, const tally_output *output, tally_error *error);
    /* The weight_limit for all: `stats` are of the weights that this process has. */
    tally_status (*limit)(cli_team *team, tally_status mine, const tally_stats *stats,
                          double *limit, tally_error *error);
};

/* Each of these does nothing without a team. */

/* Whether this process writes what is counted. */
int cli_team_writes(const cli_options *options);
/* What one process alone can count is refused: CLI_USAGE after a message. */
int cli_team_check(const cli_options *options);
/* Makes stats[0 ... count) those of all processes' samples. */
tally_status cli_team_stats(const cli_options *options, tally_status mine, tally_stats *stats,
                            uint32_t count, tally_dtype dtype, tally_error *error);
/* Makes *words those of all, with the same codes everywhere; no input uses the old ones. */
tally_status cli_team_words(const cli_options *options, tally_status mine, tally_words **words,
                            tally_error *error);

#endif
