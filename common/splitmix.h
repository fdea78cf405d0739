/* SPDX-License-Identifier: Apache-2.0 */
/* SplitMix64, by Steele, Lea and Flood: random numbers from any 64-bit state. */
#ifndef SPLITMIX_H
#define SPLITMIX_H

#include <stdint.h>

static inline uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* [0, 1) */
static inline double splitmix64_unit(uint64_t *state)
{
    return (double)(splitmix64(state) >> 11) * 0x1p-53;
}

#endif
