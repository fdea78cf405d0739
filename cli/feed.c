/* A source as the chunks that bin rules read. */
#include "source.h"

static size_t row_stride(const tally_view *view, int64_t column)
{
    int64_t stride = view->row_stride_bytes;
    return (size_t)(stride ? stride : column * (int64_t)view->columns);
}

/* Copies the samples that count to the feed's buffer. Returns their number. */
static uint64_t pack(cli_feed *feed, const tally_view *view, uint64_t channel, int64_t column)
{
    size_t size = tally_dtype_bytes(view->dtype);
    const unsigned char *mask = feed->chunk.has_mask ? feed->chunk.mask.data : NULL;
    const unsigned char *first =
        (const unsigned char *)view->data +
        channel * (view->channel_stride_bytes ? (uint64_t)view->channel_stride_bytes : size);
    unsigned char *to = feed->packed;
    for (uint64_t r = 0; r < view->rows; r++) {
        const unsigned char *from = first + r * row_stride(view, column);
        for (uint64_t c = 0; c < view->columns; c++, from += column) {
            if (mask && !*mask++)
                continue;
            memcpy(to, from, size);
            to += size;
        }
    }
    return (uint64_t)(to - feed->packed) / size;
}

static int hand_out(cli_feed *feed, tally_view *out, tally_error *error)
{
    const tally_view *view = &feed->chunk.views[feed->dimension];
    uint64_t channel = cli_source_channel(feed->source, feed->next_channel++);
    size_t size = tally_dtype_bytes(view->dtype);
    int64_t column =
        view->column_stride_bytes ? view->column_stride_bytes : (int64_t)(size * view->channels);
    int flat =
        view->rows == 1 || row_stride(view, column) == (size_t)(column * (int64_t)view->columns);
    uint64_t elements = view->rows * view->columns;
    if (flat && !feed->chunk.has_mask) {
        int64_t step = view->channel_stride_bytes ? view->channel_stride_bytes : (int64_t)size;
        *out = tally_view_1d((const unsigned char *)view->data + (int64_t)channel * step,
                             view->dtype, elements);
        out->column_stride_bytes = column;
        return 1;
    }
    if (elements * size > feed->room) {
        unsigned char *grown = realloc(feed->packed, (size_t)(elements * size));
        if (!grown)
            return -(int)cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
        feed->packed = grown;
        feed->room = (size_t)(elements * size);
    }
    *out = tally_view_1d(feed->packed, view->dtype, pack(feed, view, channel, column));
    return 1;
}

static int read_feed(void *user, tally_view *view, tally_error *error)
{
    cli_feed *feed = user;
    while (feed->next_channel == feed->source->channels) {
        int done;
        tally_status status = cli_source_read(feed->source, &feed->chunk, &done, error);
        if (status)
            return -(int)status;
        if (done)
            return 0;
        feed->next_channel = 0;
    }
    return hand_out(feed, view, error);
}

static int rewind_feed(void *user, tally_error *error)
{
    cli_feed *feed = user;
    feed->next_channel = feed->source->channels;
    return -(int)cli_source_rewind(feed->source, error);
}

tally_chunks cli_feed_chunks(cli_feed *feed, cli_source *source, uint32_t dimension)
{
    memset(feed, 0, sizeof *feed);
    feed->source = source;
    source->chunked++;
    feed->dimension = dimension;
    feed->next_channel = source->channels;
    tally_chunks chunks = {read_feed, rewind_feed, feed};
    return chunks;
}

void cli_feed_release(cli_feed *feed)
{
    feed->source->chunked--;
    free(feed->packed);
    feed->packed = NULL;
}
