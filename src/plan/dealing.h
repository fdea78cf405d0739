/* SPDX-License-Identifier: Apache-2.0 */
/* How samples are dealt to devices of unlike speeds: in pieces. A piece's size follows the speed of
 * its device at the last one, and shrinks towards the end. There a slow device gets none if the
 * fastest would do all the rest sooner. The caller locks. */
#ifndef TY_DEALING_H
#define TY_DEALING_H

#include <stdint.h>

enum { TY_MOST_DEVICES = 64 };

/* Samples are counted in steps along the dimension that is cut. */
typedef struct ty_dealing {
    uint64_t extent, least, most; /* steps of all, and of a piece, unless fewer are left */
    unsigned devices;
    uint64_t given;
    double speeds[TY_MOST_DEVICES];      /* steps a second; 0: not known */
    unsigned char gone[TY_MOST_DEVICES]; /* it takes no more */
} ty_dealing;

/* The next piece for a device, from *begin on; 0: it is done. */
uint64_t ty_deal_next(ty_dealing *d, unsigned device, uint64_t *begin);
/* A piece of so many steps took a device so long. */
void ty_deal_done(ty_dealing *d, unsigned device, uint64_t steps, double seconds);

#endif
