/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a tally_chunks pass by pass, as packed runs of the samples that count. */
#ifndef TY_SAMPLE_READER_H
#define TY_SAMPLE_READER_H

#include <stddef.h>
#include <tally/tally.h>

#include "cpu/threads.h"

/* Plain data; owns nothing. Set all but `passes`, which starts at 0. */
typedef struct ty_sample_reader {
    tally_chunks chunks;
    tally_dtype dtype;
    int filter; /* only lo <= x <= hi counts, compared exactly; NaN never does */
    double lo, hi;
    ty_pool *pool;   /* that looks for those; NULL: the caller's thread alone */
    unsigned passes; /* begun so far: all but the first rewind the chunks */
} ty_sample_reader;

/* Gives every sample that counts to `take`, in order, `count` at a time (never 0), of any
 * alignment. Stops at the first failure, of the chunks or of `take`, and returns it. */
tally_status ty_sample_reader_pass(ty_sample_reader *reader,
                                   tally_status (*take)(void *arg, const void *samples,
                                                        size_t count, tally_error *error),
                                   void *arg, tally_error *error);

#endif
