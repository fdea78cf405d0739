/* SPDX-License-Identifier: Apache-2.0 */
#include "io/mask.h"

#include <string.h>

static int is_masked(const ty_decoder *decoder, const void *state)
{
    return decoder->mask && decoder->mask(state);
}

void ty_mask_chunk(ty_mask *mask, const ty_decoder *decoder, void *state, const tally_view *like)
{
    mask->view = (tally_view)TALLY_VIEW_INIT;
    if (!is_masked(decoder, state))
        return;
    mask->view.data = decoder->mask(state);
    mask->view.dtype = TALLY_U8;
    mask->view.rows = like->rows;
    mask->view.columns = like->columns;
}

static tally_status read_part(void *user, uint64_t begin, uint64_t count, void *to,
                              tally_error *error)
{
    const ty_mask *mask = user;
    memset(to, 1, (size_t)count);
    return mask->decoder->mask_part(mask->state, begin, count, to, error);
}

void ty_mask_whole(ty_mask *mask, const ty_decoder *decoder, void *state, const tally_view *like)
{
    mask->view = (tally_view)TALLY_VIEW_INIT;
    if (!is_masked(decoder, state))
        return;
    mask->decoder = decoder;
    mask->state = state;
    mask->source = (tally_source)TALLY_SOURCE_INIT;
    mask->source.read = read_part;
    mask->source.user = mask;
    mask->source.grain = like->source->grain;
    mask->view = *like;
    mask->view.dtype = TALLY_U8;
    mask->view.source = &mask->source;
}
