/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of the library: dtype, axes, layout, mask, weights, special values. Everything
 * follows from one 64-bit seed, or from a fuzzer's bytes and a seed. */
#ifndef RANDOM_CASE_H
#define RANDOM_CASE_H

#include <stddef.h>
#include <stdint.h>
#include <tally/tally.h>

/* SplitMix64's numbers from `state`; before them `left` bytes, as many a draw as it needs. */
typedef struct rng {
    uint64_t state;
    const uint8_t *bytes;
    size_t left;
} rng;

uint64_t rng_next(rng *r);
uint64_t rng_below(rng *r, uint64_t n); /* n > 0 */
double rng_unit(rng *r);                /* [0, 1) */

/* A case owns its buffers; views and axes point into them. */
typedef struct random_case {
    tally_plan_options plan;
    tally_view views[TALLY_MAX_DIMENSIONS];
    tally_view mask, weights;
    int has_mask, has_weights;
    double *edges[TALLY_MAX_DIMENSIONS];
    uint16_t categories[256];
    unsigned char *buffers[TALLY_MAX_DIMENSIONS + 2];
    uint64_t histograms; /* batches × active channels */
    int out_of_memory;
    char text[256]; /* for messages */
} random_case;

/* What to leave out: weights; several dimensions; all but small inputs; policies that fail and
 * counters that saturate. And what to put in: one input in a hundred of some MiB, so that several
 * threads share it. Or samples and mask that lie without gaps, aligned to their size, half of the
 * cases in several dimensions or batches. Or bytes only, of up to four channels, in one dimension.
 */
enum {
    CASE_UNWEIGHTED = 1,
    CASE_ONE_DIMENSION = 2,
    CASE_SMALL = 4,
    CASE_EXACT = 8,
    CASE_LARGE = 16,
    CASE_PACKED = 32,
    CASE_BYTES = 64
};

/* Of types and numbers of bins that `method` may serve, if one is given. Nonzero without memory;
 * free in both cases. */
int random_case_make(random_case *c, uint64_t seed, unsigned flags,
                     const tally_method_info *method);
/* The same, drawn from `r`. At most half of its bytes that are left go to the samples of a view. */
int random_case_draw(random_case *c, rng *r, unsigned flags, const tally_method_info *method);
void random_case_free(random_case *c);

/* Address of one sample of a view, strides of 0 filled in. */
unsigned char *random_case_at(const tally_view *view, uint64_t batch, uint64_t row, uint64_t column,
                              uint64_t channel);

#endif
