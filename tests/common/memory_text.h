/* SPDX-License-Identifier: Apache-2.0 */
/* The text decoder over a block of memory: its source once more, with the stream's functions
 * renamed. A program that includes this has the decoder as text_in_memory (ty_text below). */
#ifndef MEMORY_TEXT_H
#define MEMORY_TEXT_H

#define ty_stream_read    memory_read
#define ty_stream_name    memory_name
#define ty_stream_grew    memory_grew
#define ty_stream_pool    memory_pool
#define ty_stream_size    memory_size
#define ty_stream_file    memory_file
#define ty_stream_offset  memory_offset
#define ty_stream_read_at memory_read_at
#define ty_stream_skip    memory_skip
#define ty_batch_read     memory_batch_read
#define ty_batch_free     memory_batch_free
#define ty_text           text_in_memory
#include <stdlib.h>
#include <string.h>

#include "io/text.c"
#include "io/text_batch.c"

struct ty_stream {
    const char *bytes;
    size_t size, at;
    size_t fails_at; /* a read that would pass this fails; 0: none */
    ty_pool *pool;
    int is_file; /* else a pipe */
    size_t skipped;
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

uint64_t ty_stream_size(const ty_stream *stream)
{
    return stream->is_file ? stream->size : 0;
}

int ty_stream_file(const ty_stream *stream, uint64_t *start)
{
    *start = 0;
    return stream->is_file ? 0 : -1;
}

uint64_t ty_stream_offset(const ty_stream *stream)
{
    return stream->at;
}

tally_status ty_stream_read_at(const ty_stream *stream, uint64_t offset, void *bytes, size_t size,
                               tally_error *error)
{
    (void)error;
    if (offset > stream->size || size > stream->size - offset)
        abort();
    if (stream->fails_at && offset + size > stream->fails_at)
        return TALLY_ERROR_IO;
    memcpy(bytes, stream->bytes + offset, size);
    return TALLY_OK;
}

tally_status ty_stream_skip(ty_stream *stream, uint64_t bytes, uint64_t *skipped,
                            tally_error *error)
{
    (void)error;
    *skipped = bytes;
    stream->skipped += bytes;
    stream->at += bytes;
    return TALLY_OK;
}

ty_pool *ty_stream_pool(const ty_stream *stream)
{
    return stream->pool;
}

#endif
