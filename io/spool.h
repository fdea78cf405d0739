/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a source that cannot seek, kept to be read again: in memory, from 16 MiB on in a
 * temporary file without a name. */
#ifndef TY_SPOOL_H
#define TY_SPOOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/tally.h>

typedef struct ty_spool {
    int file;            /* -1: none */
    unsigned char *held; /* what is kept while there is no file */
    size_t room;
    uint64_t size; /* bytes kept */
} ty_spool;

#define TY_SPOOL_INIT                                                                              \
    {                                                                                              \
        -1, NULL, 0, 0                                                                             \
    }

/* `name` is the source's, for messages. */
tally_status ty_spool_append(ty_spool *spool, const char *name, const unsigned char *bytes,
                             size_t size, tally_error *error);
/* At most `size` bytes from `offset` on, which is below spool->size. As pread. */
ssize_t ty_spool_read(const ty_spool *spool, void *bytes, size_t size, uint64_t offset);
/* Drops all of it. */
void ty_spool_clear(ty_spool *spool);

/* A new temporary file without a name, in $TMPDIR or /tmp, which the caller closes; or -1 with the
 * error filled. */
int ty_spool_file(tally_error *error);
/* A name for such a file, for the moment that whoever opens by name needs; NULL with the error
 * filled where there can be none. Taken away, and released, by ty_spool_unname. */
char *ty_spool_name(int file, tally_error *error);
void ty_spool_unname(char *name);

#endif
