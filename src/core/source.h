/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that a view's source reads: at once by several threads, with the first failure kept. */
#ifndef TY_SOURCE_H
#define TY_SOURCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "core/view.h"

/* What went wrong first, in the order of the elements. Of one call. */
typedef struct ty_source_failure {
    pthread_mutex_t lock;
    atomic_ullong at; /* element; UINT64_MAX: nothing has failed */
    tally_status status;
    tally_error error;
} ty_source_failure;

/* A failure to read one of these grids will be kept here. */
void ty_source_begin(ty_source_failure *failure, ty_grid *const *grids, unsigned count);
/* TALLY_OK, or what went wrong; when nobody reads any more. */
tally_status ty_source_status(const ty_source_failure *failure, tally_error *error);
void ty_source_end(ty_source_failure *failure);

/* Whether an element before `begin` could not be read, so that what is behind is in vain. */
static inline int ty_source_stopped(const ty_source_failure *failure, uint64_t begin)
{
    return failure && begin > atomic_load_explicit(&failure->at, memory_order_relaxed);
}

/* Where a part may begin that would begin at `element`, so that nothing is decoded twice. */
uint64_t ty_source_whole(const tally_source *source, uint64_t element);

/* Elements [begin, begin + count) of a grid that has a source, all channels of each, to `to`: zeros
 * where that fails or has failed. */
void ty_source_read(const ty_grid *grid, uint64_t begin, uint64_t count, void *to);
/* The same of some channels, each packed at its own place, all from one reading. */
void ty_source_channels(const ty_grid *grid, const uint64_t *channels, unsigned some,
                        uint64_t begin, uint64_t count, unsigned char *const *to);

/* The buffers that parts of such grids are read to and used from, one a worker. */
typedef struct ty_source_buffers {
    unsigned char *memory; /* owned */
    size_t bytes;          /* of one worker */
    uint64_t elements;     /* that fit, of all grids together */
    uint64_t lent;         /* that are borrowed at once; 0: a source does not lend */
} ty_source_buffers;

/* For parts of `count` grids. Each part that is got by ty_source_load is given to
 * ty_source_unload. */
tally_status ty_source_buffers_make(ty_source_buffers *buffers, ty_grid *const *grids,
                                    unsigned count, unsigned workers, tally_error *error);
void ty_source_buffers_free(ty_source_buffers *buffers);
/* Elements from `begin` on, at most `most` (> 0), read to a worker's buffer or lent by the sources:
 * the grids become those in memory. Returns how many; all but the last of a part are whole blocks
 * of counting loops. */
uint64_t ty_source_load(const ty_source_buffers *buffers, unsigned worker, ty_grid *const *grids,
                        unsigned count, uint64_t begin, uint64_t most);
/* Returns what was lent; `begin` as above. */
void ty_source_unload(ty_grid *const *grids, unsigned count, uint64_t begin);

#endif
