/* What the micro programs share: the end of one that failed, a clock, numbers drawn at random. */
#ifndef MICRO_H
#define MICRO_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tally/tally.h>
#include <time.h>

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

/* Steele, Lea and Flood's SplitMix64, from any state; the same numbers in every run. */
static uint64_t random_state = 1;

static inline uint64_t random_next(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* In [0, 1). */
static inline double random_unit(void)
{
    return (double)(random_next() >> 11) * 0x1p-53;
}

#endif
