/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is read from any place: formats whose directory is at the end, or anywhere. */
#ifndef TY_SEEKABLE_H
#define TY_SEEKABLE_H

#include "io/input.h"

typedef struct ty_seekable {
    const char *name; /* for messages; the stream's */
    int file;
    int is_copy;    /* `file` is a temporary one */
    uint64_t start; /* where in `file` the format's bytes begin */
    uint64_t size;  /* how many there are */
} ty_seekable;

/* The stream's own file, or a temporary copy of what comes from a pipe or is compressed, which is
 * the stream's, too, and made once. */
tally_status ty_seekable_open(ty_stream *stream, ty_seekable *seekable, tally_error *error);
/* Such a copy in any case. */
tally_status ty_seekable_copy(ty_stream *stream, ty_seekable *seekable, tally_error *error);

/* `size` bytes at byte `at` of `file`, all of them or an error. By any number of threads. */
tally_status ty_file_read_at(const char *name, int file, uint64_t at, void *into, size_t size,
                             tally_error *error);

#endif
