/* Random calls of the library, for the self-test. */
#ifndef CLI_RANDOM_CASE_H
#define CLI_RANDOM_CASE_H

#include "../common/random_settings.h"
#include "cli.h"

typedef struct cli_random {
    uint64_t state;
} cli_random;

uint64_t cli_random_next(cli_random *random);
/* 0 … below-1. */
uint64_t cli_random_below(cli_random *random, uint64_t below);

/* One call: a plan's options, the samples and what lies beside them. Owns its memory. */
typedef struct cli_case {
    tally_plan_options plan;
    tally_view views[TALLY_MAX_DIMENSIONS], mask, weights;
    int has_mask, accumulate;
    uint64_t bins, histograms; /* of the output */
    double *edges[TALLY_MAX_DIMENSIONS];
    uint16_t categories[256];
    void *blocks[TALLY_MAX_DIMENSIONS + 2];
    size_t block_count;
    random_settings settings; /* the plan's */
    int out_of_memory;
    char words[300]; /* what it is, for a failure's message */
} cli_case;

/* Makes the case that `seed` stands for, of a kind that `method` may serve. Nonzero without
 * memory. Release in both cases. */
int cli_case_make(cli_case *test, uint64_t seed, const tally_method_info *method);
void cli_case_release(cli_case *test);

#endif
