/* Random numbers of one program, from a seed that it sets and prints: SplitMix64. */
#ifndef DRAW_H
#define DRAW_H

#include <stdint.h>

static uint64_t state;

static inline uint64_t next(void)
{
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* [0, 1) */
static inline double unit(void)
{
    return (double)(next() >> 11) * 0x1p-53;
}

#endif
