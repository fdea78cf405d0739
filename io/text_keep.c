/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of a text that is to be read again: parsed once, kept in memory up to a limit, behind
 * that in a temporary file without a name. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/spool.h"
#include "io/temp_file.h"
#include "io/text_keep.h"

#define SLAB_BYTES ((size_t)16 << 20)  /* of memory at a time */
#define MOST_BYTES ((uint64_t)1 << 30) /* in memory; a quarter of what is left, if that is less */

/* Rows as they were read, views one after the other. */
typedef struct kept {
    const double *samples; /* NULL: in the file */
    uint64_t offset;
    size_t rows, stride;
    uint32_t views;
} kept;

struct ty_keep {
    const char *name; /* the file's */
    double *buffer;   /* what was read from the file; for `buffered` samples */
    size_t buffered;
    kept *blocks;
    size_t count, room, next; /* next: to be handed out again */
    double **slabs;           /* the last one has memory for `left` more samples, from `at` on */
    size_t slab_count, slab_room, left;
    double *at;
    uint64_t bytes, limit; /* in memory */
    int file;              /* -1: none */
    uint64_t stored;       /* its bytes */
};

static uint64_t limit_wanted = UINT64_MAX;

void ty_keep_limit(uint64_t bytes)
{
    limit_wanted = bytes;
}

ty_keep *ty_keep_create(const char *name)
{
    ty_keep *keep = ty_calloc(1, sizeof *keep);
    if (!keep)
        return NULL;
    const uint64_t left = ty_memory_available("") / 4;
    keep->limit = left < MOST_BYTES ? left : MOST_BYTES;
    if (limit_wanted < keep->limit)
        keep->limit = limit_wanted;
    keep->file = -1;
    keep->name = name;
    return keep;
}

void ty_keep_free(ty_keep *keep)
{
    if (!keep)
        return;
    for (size_t i = 0; i < keep->slab_count; i++)
        ty_free(keep->slabs[i]);
    ty_free(keep->slabs);
    if (keep->file >= 0)
        close(keep->file);
    ty_free(keep->blocks);
    ty_free(keep->buffer);
    ty_free(keep);
}

void ty_keep_rewind(ty_keep *keep)
{
    keep->next = 0;
}

/* Reads or writes all of `bytes` at `offset` of the file. */
static tally_status transfer(const ty_keep *keep, void *bytes, size_t size, uint64_t offset,
                             int writes, tally_error *error)
{
    char text[128], *at = bytes;
    while (size) {
        ssize_t done = writes ? pwrite(keep->file, at, size, (off_t)offset)
                              : pread(keep->file, at, size, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return ty_error(error, TALLY_ERROR_IO,
                            "%s: %s its columns in a temporary file (in TMPDIR) failed: %s",
                            keep->name, writes ? "keeping" : "finding",
                            done ? ty_errno_text(errno, text) : "it was cut");
        at += done;
        size -= (size_t)done;
        offset += (uint64_t)done;
    }
    return TALLY_OK;
}

/* One more of `items` of `size` bytes each, of which there are `count` and memory for `*room`. */
static void *grown(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    size_t more = *room ? 2 * *room : 16;
    void *larger = ty_realloc(items, more * size);
    if (larger)
        *room = more;
    return larger;
}

static tally_status add_slab(ty_keep *keep, size_t samples, tally_error *error)
{
    size_t least = SLAB_BYTES / sizeof(double), count = samples > least ? samples : least;
    double **slabs = grown(keep->slabs, keep->slab_count, &keep->slab_room, sizeof *keep->slabs);
    if (slabs)
        keep->slabs = slabs;
    keep->at = slabs ? ty_large(count * sizeof(double)) : NULL;
    if (!keep->at)
        return ty_error_memory(error, "a text's columns", count * sizeof(double));
    keep->slabs[keep->slab_count++] = keep->at;
    keep->left = count;
    return TALLY_OK;
}

static int is_for_file(const ty_keep *keep, size_t samples)
{
    return keep->file >= 0 || keep->bytes + samples * sizeof(double) > keep->limit;
}

tally_status ty_keep_room(ty_keep *keep, size_t samples, double **room, tally_error *error)
{
    *room = NULL;
    if (is_for_file(keep, samples))
        return TALLY_OK;
    tally_status status = keep->left < samples ? add_slab(keep, samples, error) : TALLY_OK;
    *room = status ? NULL : keep->at;
    return status;
}

static tally_status add_to_memory(ty_keep *keep, const ty_kept *rows, kept *block,
                                  tally_error *error)
{
    double *room = keep->at;
    block->stride = rows->stride;
    if (rows->samples != room) {
        tally_status status = ty_keep_room(keep, rows->rows * rows->views, &room, error);
        if (status)
            return status;
        block->stride = rows->rows;
        for (uint32_t v = 0; v < rows->views; v++)
            memcpy(room + v * rows->rows, rows->samples + v * rows->stride,
                   rows->rows * sizeof *rows->samples);
    }
    const size_t samples = (rows->views - 1) * block->stride + rows->rows;
    block->samples = room;
    keep->at += samples;
    keep->left -= samples;
    keep->bytes += samples * sizeof *rows->samples;
    return TALLY_OK;
}

static tally_status add_to_file(ty_keep *keep, const ty_kept *rows, tally_error *error)
{
    size_t size = rows->rows * sizeof *rows->samples;
    if (keep->file < 0 && (keep->file = ty_spool_file(error)) < 0)
        return TALLY_ERROR_IO;
    tally_status status = TALLY_OK;
    for (uint32_t v = 0; v < rows->views && !status; v++)
        status = transfer(keep, (void *)(uintptr_t)(rows->samples + v * rows->stride), size,
                          keep->stored + v * size, 1, error);
    keep->stored += rows->views * size;
    return status;
}

tally_status ty_keep_add(ty_keep *keep, const ty_kept *rows, tally_error *error)
{
    kept *blocks = grown(keep->blocks, keep->count, &keep->room, sizeof *blocks);
    if (!blocks)
        return ty_error_memory(error, "a text's columns", 2 * keep->room * sizeof *blocks);
    keep->blocks = blocks;
    kept *block = blocks + keep->count;
    *block = (kept){NULL, keep->stored, rows->rows, rows->rows, rows->views};
    tally_status status = is_for_file(keep, rows->rows * rows->views)
                              ? add_to_file(keep, rows, error)
                              : add_to_memory(keep, rows, block, error);
    if (!status)
        keep->next = ++keep->count;
    return status;
}

tally_status ty_keep_next(ty_keep *keep, ty_kept *rows, tally_error *error)
{
    rows->rows = 0;
    if (keep->next == keep->count)
        return TALLY_OK;
    const kept *block = keep->blocks + keep->next++;
    const size_t samples = block->rows * block->views;
    *rows = (ty_kept){block->samples, block->stride, block->rows, block->views};
    if (block->samples)
        return TALLY_OK;
    if (samples > keep->buffered) {
        ty_free(keep->buffer);
        keep->buffered = 0;
        keep->buffer = ty_malloc(samples * sizeof *keep->buffer);
        if (!keep->buffer)
            return ty_error_memory(error, "a text's columns", samples * sizeof *keep->buffer);
        keep->buffered = samples;
    }
    rows->samples = keep->buffer;
    return transfer(keep, keep->buffer, samples * sizeof *keep->buffer, block->offset, 0, error);
}
