/* SPDX-License-Identifier: Apache-2.0 */
/* What a call leaves in its outputs, owned, to compare with what another call leaves. */
#ifndef ANSWER_H
#define ANSWER_H

#include <stddef.h>

#include "random_case.h"

/* What four sums take at most: of 8 bytes, the rest zeros, or tally_wide. */
enum { ANSWER_FLOW_WORDS = 8 };

typedef struct answer {
    unsigned char *counts; /* histograms × bins cells */
    tally_flows *flows;
    double *squares;     /* of a plan with sum_squares, else zeros */
    uint64_t *flow_sums; /* ANSWER_FLOW_WORDS a histogram; of a weighted plan, else zeros */
    size_t cell_bytes, cells, histograms;
    tally_status status;
    tally_error error;
} answer;

/* Makes the case one whose answer is the same bits however its samples are split: float weights get
 * a limit. 0: it cannot be, for it has sums of squares. */
int answer_allow_splits(random_case *c);

/* Bytes of one count or sum of the case's plan. */
size_t answer_cell_bytes(const tally_plan_options *plan);

/* Outputs for the case's plan of `bins` bins: zero, or `filled` with some counts, always the same.
 * Ends the program when memory is out. */
answer answer_make(const random_case *c, uint64_t bins, int filled);
void answer_free(answer *a);

/* Runs the case by the plan, or by the reference, into `a`. */
void answer_run(answer *a, const random_case *c, const tally_plan *plan, int accumulate,
                int reference);

/* Status, counts, flows, their sums and squares are the same bits. */
int answer_same(const answer *a, const answer *b);

/* Bins and flows of every histogram add up to its samples. For unweighted u64 and u32 counts of a
 * call that did not accumulate. */
int answer_conserves(const answer *a, const random_case *c);

/* Count i of all cells, as an integer; of weighted cases 8 bytes of the sum, the lower ones. */
uint64_t answer_count(const answer *a, size_t i);

#endif
