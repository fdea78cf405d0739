/* SPDX-License-Identifier: Apache-2.0 */
/* Which elements of views have values (tally_input_mask). */
#ifndef TY_MASK_H
#define TY_MASK_H

#include "io/input.h"
#include "io/rows.h"

typedef struct ty_mask {
    const ty_decoder *decoder;
    void *state;
    tally_source source;
    tally_view view; /* the last that was made */
} ty_mask;

/* Of what the decoder has just read, `like` a view of that. */
void ty_mask_chunk(ty_mask *mask, const ty_decoder *decoder, void *state, const tally_view *like);
/* Of all that it may read, `like` a view of that. */
void ty_mask_whole(ty_mask *mask, const ty_decoder *decoder, void *state, const tally_view *like);

/* Room for a byte of each element of a chunk of `rows`, the caller's to free. */
tally_status ty_mask_make(const ty_rows *rows, unsigned char **mask, tally_error *error);
/* mask[i] becomes 0 where element i of `view`, 64-bit integers of one channel in memory, is one of
 * missing[0 … kinds). */
void ty_mask_missing(const tally_view *view, const uint64_t *missing, unsigned kinds,
                     unsigned char *mask);

#endif
