/* SPDX-License-Identifier: Apache-2.0 */
/* Where a stream's stored bytes come from: a file or a pipe, in order or, of a file, at any place.
 */
#ifndef TY_ORIGIN_H
#define TY_ORIGIN_H

#include <sys/types.h>

#include "io/checksum.h"
#include "io/input.h"
#include "io/mapping.h"
#include "io/spool.h"

/* A part of a file that is an input by itself. */
typedef struct ty_member {
    const char *name; /* for messages */
    int file;         /* outlives what is opened; nobody else reads it in order */
    int is_alone;     /* nobody else has that descriptor */
    uint64_t start, size;
    int is_deflated;
    uint32_t check;    /* CRC-32 of what is unpacked */
    uint64_t unpacked; /* how many bytes that are */
} ty_member;

/* What makes a gzip member of deflated bytes. */
typedef struct ty_wrap {
    unsigned char head[10], tail[8];
    size_t head_left, tail_left;
} ty_wrap;

typedef struct ty_origin {
    char *name; /* for messages: the path, or "standard input" */
    int file;
    int owned; /* close `file` at the end */
    int seekable;
    int keep;  /* spool what cannot seek as it is read */
    int ended; /* it gave its last byte */
    ty_pool *pool;
    off_t start;   /* where in the file the stream begins */
    uint64_t size; /* bytes when it was opened, 0 unknown; what is added later is not read */
    ty_mapping *mapping;
    ty_spool spool;
    uint64_t position; /* bytes taken */
    int wake;          /* a descriptor; when it can be read, waiting for a pipe ends. -1: none */
    int is_member, is_alone;
    int is_wrapped; /* `wrap` is around the stored bytes; it is not in `size` and `position` */
    ty_wrap wrap;
    ty_checksum *checksum; /* of a member that is stored as it is; NULL: there is none */
} ty_origin;

/* `path`, "-" for standard input. After a failure it is to be closed, too. */
tally_status ty_origin_open(ty_origin *origin, const char *path, int keep, tally_error *error);
tally_status ty_origin_open_member(ty_origin *origin, const ty_member *member, tally_error *error);
void ty_origin_close(ty_origin *origin);
/* One piece of at most `size` bytes; *got is 0 at the end. */
tally_status ty_origin_read(ty_origin *origin, unsigned char *bytes, size_t size, size_t *got,
                            tally_error *error);
/* Passes over `bytes` bytes of a file that can seek and has them. */
tally_status ty_origin_skip(ty_origin *origin, uint64_t bytes, tally_error *error);
tally_status ty_origin_rewind(ty_origin *origin, tally_error *error);
/* As ty_stream_lend and ty_stream_check. */
const void *ty_origin_lend(const ty_origin *origin, uint64_t offset, size_t size);
tally_status ty_origin_check(const ty_origin *origin, tally_error *error);
/* As ty_stream_read_at. */
tally_status ty_origin_read_at(const ty_origin *origin, uint64_t offset, void *bytes, size_t size,
                               tally_error *error);

/* Whether nobody else has the descriptor of a stream. */
int ty_stream_is_alone(const ty_stream *stream);
/* As ty_stream_open, of a part of a file. */
tally_status ty_stream_open_member(const ty_member *member, ty_stream **stream, tally_error *error);

#endif
