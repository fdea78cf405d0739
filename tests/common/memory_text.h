/* SPDX-License-Identifier: Apache-2.0 */
/* The text decoder over a block of memory: its source once more, with the stream's functions
 * renamed. A program that includes this has the decoder as text_in_memory (ty_text below). */
#ifndef MEMORY_TEXT_H
#define MEMORY_TEXT_H

#define ty_stream_read memory_read
#define ty_stream_name memory_name
#define ty_stream_grew memory_grew
#define ty_stream_pool memory_pool
#define ty_stream_size memory_size
#define ty_text        text_in_memory
#include <string.h>

#include "io/text.c"

struct ty_stream {
    const char *bytes;
    size_t size, at;
    size_t fails_at; /* a read that would pass this fails; 0: none */
    ty_pool *pool;
};

tally_status ty_stream_read(ty_stream *stream, void *bytes, size_t size, size_t *got,
                            tally_error *error)
{
    size_t left = stream->size - stream->at;
    *got = size < left ? size : left;
    if (stream->fails_at && stream->at + *got > stream->fails_at) {
        if (error)
            strcpy(error->message, "the disk is on fire");
        return TALLY_ERROR_IO;
    }
    if (*got)
        memcpy(bytes, stream->bytes + stream->at, *got);
    stream->at += *got;
    return TALLY_OK;
}

const char *ty_stream_name(const ty_stream *stream)
{
    (void)stream;
    return "a.csv";
}

int ty_stream_grew(const ty_stream *stream)
{
    (void)stream;
    return 0;
}

/* As of a pipe. */
uint64_t ty_stream_size(const ty_stream *stream)
{
    (void)stream;
    return 0;
}

ty_pool *ty_stream_pool(const ty_stream *stream)
{
    return stream->pool;
}

#endif
