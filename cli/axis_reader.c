/* SPDX-License-Identifier: Apache-2.0 */
/* A source as the chunks that bin rules read, and its range. */
#include "source.h"

static size_t row_stride(const tally_view *view, int64_t column)
{
    int64_t stride = view->row_stride_bytes;
    return (size_t)(stride ? stride : column * (int64_t)view->columns);
}

static int64_t column_stride(const tally_view *view)
{
    const int64_t packed = (int64_t)(tally_dtype_bytes(view->dtype) * view->channels);
    return view->column_stride_bytes ? view->column_stride_bytes : packed;
}

uint64_t cli_pack(const tally_view *view, const tally_view *masked, uint64_t channel, void *into)
{
    size_t size = tally_dtype_bytes(view->dtype);
    const int64_t column = column_stride(view);
    const unsigned char *mask = masked ? masked->data : NULL;
    const unsigned char *first =
        (const unsigned char *)view->data +
        channel * (view->channel_stride_bytes ? (uint64_t)view->channel_stride_bytes : size);
    unsigned char *to = into;
    for (uint64_t r = 0; r < view->rows; r++) {
        const unsigned char *from = first + r * row_stride(view, column);
        for (uint64_t c = 0; c < view->columns; c++, from += column) {
            if (mask && !*mask++)
                continue;
            memcpy(to, from, size);
            to += size;
        }
    }
    return (uint64_t)(to - (unsigned char *)into) / size;
}

static int hand_out(cli_axis_reader *reader, tally_view *out, tally_error *error)
{
    const tally_view *view = &reader->chunk.views[reader->dimension];
    uint64_t channel = cli_source_channel(reader->source, reader->next_channel++);
    size_t size = tally_dtype_bytes(view->dtype);
    int64_t column = column_stride(view);
    int flat =
        view->rows == 1 || row_stride(view, column) == (size_t)(column * (int64_t)view->columns);
    uint64_t elements = view->rows * view->columns;
    if (flat && !reader->chunk.has_mask) {
        int64_t step = view->channel_stride_bytes ? view->channel_stride_bytes : (int64_t)size;
        *out = tally_view_1d((const unsigned char *)view->data + (int64_t)channel * step,
                             view->dtype, elements);
        out->column_stride_bytes = column;
        return 1;
    }
    if (elements * size > reader->capacity) {
        unsigned char *grown = realloc(reader->packed, (size_t)(elements * size));
        if (!grown)
            return -(int)cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
        reader->packed = grown;
        reader->capacity = (size_t)(elements * size);
    }
    *out = tally_view_1d(reader->packed, view->dtype,
                         cli_pack(view, reader->chunk.has_mask ? &reader->chunk.mask : NULL,
                                  channel, reader->packed));
    return 1;
}

static int read_chunk(void *user, tally_view *view, tally_error *error)
{
    cli_axis_reader *reader = user;
    while (reader->next_channel == reader->source->channels) {
        int done;
        tally_status status = cli_source_read(reader->source, &reader->chunk, &done, error);
        if (status)
            return -(int)status;
        if (done)
            return 0;
        reader->next_channel = 0;
    }
    return hand_out(reader, view, error);
}

static int rewind_source(void *user, tally_error *error)
{
    cli_axis_reader *reader = user;
    reader->next_channel = reader->source->channels;
    return -(int)cli_source_rewind(reader->source, error);
}

tally_chunks cli_axis_reader_chunks(cli_axis_reader *reader, cli_source *source, uint32_t dimension)
{
    memset(reader, 0, sizeof *reader);
    reader->source = source;
    source->chunked++;
    reader->dimension = dimension;
    reader->next_channel = source->channels;
    tally_chunks chunks = {read_chunk, rewind_source, reader};
    return chunks;
}

void cli_axis_reader_release(cli_axis_reader *reader)
{
    reader->source->chunked--;
    free(reader->packed);
    reader->packed = NULL;
}

tally_status cli_chunk_stats(cli_source *source, const cli_chunk *chunk, tally_context *context,
                             tally_stats *stats, tally_error *error)
{
    tally_input *input = source->inputs[source->current];
    const tally_view *mask = chunk->has_mask ? &chunk->mask : NULL;
    int32_t by_codes = 0;
    tally_status status = TALLY_OK;
    if (chunk->views[0].source && (!mask || chunk->is_missing))
        status = tally_input_stats(input, context, stats, &by_codes, error);
    if (by_codes)
        cli_say(source->options, "%s: its range by dictionaries",
                cli_shown(source->paths[source->current]));
    const int all = cli_source_has_all_channels(source);
    for (uint32_t d = 0; d < source->dimensions && !by_codes; d++)
        for (uint64_t c = 0; c < (all ? 1 : source->channels) && !status; c++)
            status = tally_stats_add(context, &chunk->views[d], mask,
                                     all ? TALLY_ALL_CHANNELS : cli_source_channel(source, c), 0,
                                     &stats[d], error);
    return status;
}
