/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partitioned and partitioned-columns: how samples are sorted by partitions of the bins, and
 * what of local and device memory that takes. The choice is here (partitioned_layout.c), the
 * launches in partitioned.c.
 */
#ifndef TY_PARTITIONED_H
#define TY_PARTITIONED_H

#include "gpu/call.h"

extern const struct tally_parameter ty_partitioned_parameters[];

/* How a plan is launched on a device. */
typedef struct ty_partitioned_layout {
    uint32_t threads, per, columns, counters, loads, shift, partitions, tile, shares;
    int joint;        /* the cells of several columns are counted */
    uint64_t numbers; /* that samples get: slots, or cells and one for what is masked out */
    uint32_t margin;  /* samples before the first tile, at most */
    uint32_t stride;  /* words of a tile's residuals, each segment filled up to whole vectors */
    uint32_t split_bytes, count_bytes; /* of local memory */
    uint64_t chunk;                    /* tiles */
    uint32_t packed6;           /* work-items of a group that counts by packed6 first, or 0 */
    uint32_t bits, words, part; /* of its counters: packed6.cl */
} ty_partitioned_layout;

/* Of a plan whose method is one of the two. */
void ty_partitioned_layout_make(const tally_plan *plan, const ty_device *device,
                                ty_partitioned_layout *l);

/* What lies at which byte of the scratch memory (drawn in kernels/partitioned.cl) for so many
 * tiles, and its size. A chunk's residuals are at 0; packed6's own memory, which is not needed any
 * more when chunks are sorted, is below `sums` too. */
typedef struct ty_partitioned_offsets {
    uint64_t lists, sums, state, table, bytes;
} ty_partitioned_offsets;

ty_partitioned_offsets ty_partitioned_offsets_make(const tally_plan *plan, const ty_device *device,
                                                   const ty_partitioned_layout *l, uint64_t tiles);

/* Whether packed6 counts first: where samples are few, launches that find nothing to do cost more
 * than is gained. And into how many stripes it takes the tiles. */
int ty_packed6_serves(const tally_plan *plan, const ty_device *device,
                      const ty_partitioned_layout *l, uint64_t tiles);
uint64_t ty_packed6_stripes(uint64_t tiles);
uint32_t ty_packed6_bytes(const ty_partitioned_layout *l); /* of local memory */

/* Tiles that may have to be sorted: the last stripe is filled up. */
uint64_t ty_partitioned_sorted(const ty_partitioned_layout *l, uint64_t tiles);

uint64_t ty_partitioned_chunks(const ty_partitioned_layout *l, uint64_t tiles);

/* Cells of a joint table; if they are too many, some number that is. */
enum { TY_PARTITIONED_MOST_CELLS = 1 << 24 }; /* what their numbers are multiples of */
uint64_t ty_partitioned_cells(const tally_plan *plan);

/* What both methods ask of settings and local memory. */
tally_status ty_partitioned_fits(const tally_plan *plan, const ty_partitioned_layout *l,
                                 tally_error *error);

/* Of both methods; `enqueue` counts, into one histogram of slots, and stores. */
void ty_partitioned_define(const tally_plan *plan, const ty_device *device, ty_defines *defines);
void ty_partitioned_geometry(const tally_plan *plan, const ty_device *device, uint64_t n,
                             ty_geometry *g);
tally_status ty_partitioned_enqueue(ty_call *call, tally_error *error);

#endif
