/* SPDX-License-Identifier: Apache-2.0 */
#include "io/mask.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

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

tally_status ty_mask_make(const ty_rows *r, unsigned char **mask, tally_error *error)
{
    const uint64_t most = r->chunk_columns ? r->chunk_columns : r->chunk_rows * r->columns;
    *mask = ty_malloc((size_t)most + 1);
    return *mask ? TALLY_OK : ty_error_memory(error, "which values are missing", (size_t)most);
}

void ty_mask_missing(const tally_view *v, const uint64_t *missing, unsigned kinds,
                     unsigned char *mask)
{
    const int64_t step = v->column_stride_bytes ? v->column_stride_bytes : 8;
    const int64_t row = v->row_stride_bytes ? v->row_stride_bytes : step * (int64_t)v->columns;
    for (uint64_t y = 0; y < v->rows; y++) {
        const unsigned char *at = (const unsigned char *)v->data + (int64_t)y * row;
        for (uint64_t x = 0; x < v->columns; x++, at += step, mask++)
            for (unsigned k = 0; k < kinds; k++)
                *mask &= memcmp(at, missing + k, sizeof *missing) != 0;
    }
}
