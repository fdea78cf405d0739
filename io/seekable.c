/* SPDX-License-Identifier: Apache-2.0 */
#define _FILE_OFFSET_BITS 64

#include "io/seekable.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/spool.h"
#include "io/temp_file.h"

enum { COPY_BYTES = 1 << 18 };

static tally_status append(ty_seekable *s, const unsigned char *bytes, size_t size,
                           tally_error *error)
{
    char text[128];
    for (size_t done = 0; done < size;) {
        const ssize_t put = pwrite(s->file, bytes + done, size - done, (off_t)s->size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return ty_error(error, TALLY_ERROR_IO,
                            "%s: copying it to a temporary file (in TMPDIR) failed: %s", s->name,
                            ty_errno_text(put < 0 ? errno : EIO, text));
        done += (size_t)put;
        s->size += (uint64_t)put;
    }
    return TALLY_OK;
}

static tally_status copy_stream(ty_seekable *s, ty_stream *stream, tally_error *error)
{
    unsigned char *bytes = ty_malloc(COPY_BYTES);
    size_t got = 0;
    if (!bytes)
        return ty_error_memory(error, "a copy of a file that cannot seek", COPY_BYTES);
    s->file = ty_spool_file(error);
    tally_status status = s->file >= 0 ? TALLY_OK : TALLY_ERROR_IO;
    while (!status && !(status = ty_stream_read(stream, bytes, COPY_BYTES, &got, error)) && got)
        status = append(s, bytes, got, error);
    ty_free(bytes);
    if (!status)
        ty_stream_copy_set(stream, s->file, s->size);
    else if (s->file >= 0)
        close(s->file);
    return status;
}

tally_status ty_seekable_open(ty_stream *stream, ty_seekable *s, tally_error *error)
{
    *s = (ty_seekable){.name = ty_stream_name(stream), .size = ty_stream_size(stream)};
    s->file = s->size ? ty_stream_file(stream, &s->start) : -1;
    return s->file >= 0 ? TALLY_OK : ty_seekable_copy(stream, s, error);
}

tally_status ty_seekable_copy(ty_stream *stream, ty_seekable *s, tally_error *error)
{
    *s = (ty_seekable){.name = ty_stream_name(stream), .is_copy = 1};
    s->file = ty_stream_copy(stream, &s->size);
    return s->file >= 0 ? TALLY_OK : copy_stream(s, stream, error);
}

tally_status ty_file_read_at(const char *name, int file, uint64_t at, void *into, size_t size,
                             tally_error *error)
{
    for (size_t done = 0; done < size;) {
        const ssize_t got = pread(file, (char *)into + done, size - done, (off_t)(at + done));
        char text[128];
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return ty_error(error, TALLY_ERROR_IO, "%s: reading at byte %" PRIu64 ": %s", name,
                            at + done,
                            got < 0 ? ty_errno_text(errno, text)
                                    : "the file ends there; it was longer when it was opened");
        done += (size_t)got;
    }
    return TALLY_OK;
}
