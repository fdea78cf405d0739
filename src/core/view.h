/* SPDX-License-Identifier: Apache-2.0 */
/* A public view, checked, with every stride filled in. */
#ifndef TY_VIEW_H
#define TY_VIEW_H

#include <tally/tally.h>

struct ty_source_failure;

typedef struct ty_grid {
    const unsigned char *data; /* not NULL; of a grid that is read, nothing to look at */
    tally_dtype dtype;
    uint32_t size; /* bytes of a sample */
    uint64_t batches, rows, columns, channels;
    int64_t batch_stride, row_stride, column_stride, channel_stride; /* bytes */
    const tally_source *source;        /* NULL, or what reads it: packed, of one batch */
    const tally_source *lender;        /* NULL, or what gets `data` back */
    struct ty_source_failure *failure; /* where a failure to read is kept; the call's */
} ty_grid;

/* `what` names the argument in messages. Who does not take a view with a source refuses it by
 * ty_grid_in_memory. */
tally_status ty_grid_make(const tally_view *view, const char *what, ty_grid *grid,
                          tally_error *error);

/* A mask of `samples`, on their device: u8 with one channel; dimensions of extent 1 are repeated
 * along the samples'. */
tally_status ty_grid_mask(const tally_view *view, const ty_grid *samples, tally_device_type device,
                          ty_grid *mask, tally_error *error);
/* Weights of them, integers, f32 or f64, with one channel or theirs; likewise. */
tally_status ty_grid_weights(const tally_view *view, const ty_grid *samples,
                             tally_device_type device, ty_grid *weights, tally_error *error);

tally_status ty_grid_in_memory(const ty_grid *grid, const char *what, tally_error *error);

/* Neighbouring dimensions that are one arithmetic progression become one: rows into columns.
 * Changes no address and no order. All grids of a call must agree, so it does it to `count` of them
 * or to none. */
void ty_grid_coalesce(ty_grid *grids, unsigned count);

/* Address of element (row-major index `element` within the batch) of one channel. */
const unsigned char *ty_grid_at(const ty_grid *grid, uint64_t batch, uint64_t element,
                                uint64_t channel);

/* The samples [begin, begin+count) of one batch and channel, packed: where they lie, if they are
 * packed there already, else copied or read to `buffer` (count × size bytes). The address may be
 * unaligned. */
const void *ty_grid_block(const ty_grid *grid, uint64_t batch, uint64_t channel, uint64_t begin,
                          uint64_t count, void *buffer);
/* The same of some channels, each with a buffer; `from` are the addresses. A source is read once.
 */
void ty_grid_blocks(const ty_grid *grid, uint64_t batch, const uint64_t *channels, unsigned some,
                    uint64_t begin, uint64_t count, unsigned char *const *buffers,
                    const unsigned char **from);

#endif
