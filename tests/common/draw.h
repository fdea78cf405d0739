/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers of one program, from a seed that it sets and prints. */
#ifndef DRAW_H
#define DRAW_H

#include "../../common/splitmix.h"

static uint64_t state;

static inline uint64_t next(void)
{
    return splitmix64(&state);
}

/* n > 0 */
static inline uint64_t below(uint64_t n)
{
    return next() % n;
}

/* [0, 1) */
static inline double unit(void)
{
    return splitmix64_unit(&state);
}

#endif
