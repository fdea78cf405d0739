/* SPDX-License-Identifier: Apache-2.0 */
/* What the micro programs share: the end of one that failed, a clock, numbers drawn at random. */
#ifndef MICRO_H
#define MICRO_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tally/tally.h>
#include <time.h>

#include "../common/splitmix.h"

static inline void must(tally_status status, const tally_error *error)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

/* Seconds. */
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Order of doubles, for qsort. */
static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The same numbers in every run. */
static uint64_t random_state = 1;

static inline uint64_t random_next(void)
{
    return splitmix64(&random_state);
}

/* In [0, 1). */
static inline double random_unit(void)
{
    return splitmix64_unit(&random_state);
}

#endif
