/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int answer_allow_splits(random_case *c)
{
    tally_plan_options *p = &c->plan;
    if (p->sum_squares)
        return 0;
    if (p->weight_dtype == TALLY_F32 || p->weight_dtype == TALLY_F64)
        p->weight_limit = 1e6;
    return 1;
}

size_t answer_cell_bytes(const tally_plan_options *plan)
{
    static const size_t sizes[] = {8, 4, 2, 1};
    return plan->weight_limit != 0 ? sizeof(tally_wide)
           : plan->weight_dtype    ? 8
                                   : sizes[plan->counter];
}

static void *cleared(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    if (!block) {
        printf("out of memory\n");
        exit(1);
    }
    return block;
}

answer answer_make(const random_case *c, uint64_t bins, int filled)
{
    answer a;
    memset(&a, 0, sizeof a);
    a.cell_bytes = answer_cell_bytes(&c->plan);
    a.histograms = (size_t)c->histograms;
    a.cells = (size_t)(c->histograms * bins);
    a.counts = cleared(a.cells, a.cell_bytes);
    a.flows = cleared(a.histograms, sizeof *a.flows);
    a.squares = cleared(a.cells, sizeof *a.squares);
    a.flow_sums = cleared(ANSWER_FLOW_WORDS * a.histograms, sizeof *a.flow_sums);
    for (size_t i = 0; filled && i < a.cells; i++)
        a.counts[i * a.cell_bytes] = c->plan.weight_dtype ? 0 : (unsigned char)(i * 37);
    return a;
}

void answer_free(answer *a)
{
    free(a->counts);
    free(a->flows);
    free(a->squares);
    free(a->flow_sums);
}

void answer_run(answer *a, const random_case *c, const tally_plan *plan, int accumulate,
                int reference)
{
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    options.mask = c->has_mask ? &c->mask : NULL;
    options.weights = c->has_weights ? &c->weights : NULL;
    output.counts = a->counts;
    output.flows = a->flows;
    output.sum_squares = c->plan.sum_squares ? a->squares : NULL;
    output.flow_sums = c->plan.weight_dtype ? a->flow_sums : NULL;
    output.accumulate = accumulate;
    a->error.message[0] = '\0';
    a->status = reference ? tally_execute_reference(plan, c->views, &options, &output, &a->error)
                          : tally_execute(plan, c->views, &options, &output, &a->error);
}

int answer_same(const answer *a, const answer *b)
{
    return a->status == b->status && a->cells == b->cells && a->histograms == b->histograms &&
           a->cell_bytes == b->cell_bytes &&
           !memcmp(a->counts, b->counts, a->cells * a->cell_bytes) &&
           !memcmp(a->flows, b->flows, a->histograms * sizeof *a->flows) &&
           !memcmp(a->flow_sums, b->flow_sums,
                   ANSWER_FLOW_WORDS * a->histograms * sizeof *a->flow_sums) &&
           !memcmp(a->squares, b->squares, a->cells * sizeof *a->squares);
}

uint64_t answer_count(const answer *a, size_t i)
{
    uint64_t count = 0; /* little endian, as the kernels and formats take for granted */
    memcpy(&count, a->counts + i * a->cell_bytes,
           a->cell_bytes < sizeof count ? a->cell_bytes : sizeof count);
    return count;
}

int answer_conserves(const answer *a, const random_case *c)
{
    const size_t bins = a->histograms ? a->cells / a->histograms : 0;
    const uint64_t n = c->views[0].rows * c->views[0].columns;
    for (size_t h = 0; h < a->histograms; h++) {
        const tally_flows *f = &a->flows[h];
        uint64_t sum = f->under + f->over + f->nan + f->masked;
        for (size_t i = 0; i < bins; i++)
            sum += answer_count(a, h * bins + i);
        if (sum != n)
            return 0;
    }
    return 1;
}
