/* SPDX-License-Identifier: Apache-2.0 */
/* Which elements of views have values (tally_input_mask). */
#ifndef TY_MASK_H
#define TY_MASK_H

#include "io/input.h"

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

#endif
