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
#include "io/text_state.h"

#define MOST_BYTES ((uint64_t)1 << 30) /* in memory; a quarter of what is left, if that is less */

/* Rows as they were read, views one after the other. */
typedef struct kept {
    double *samples; /* NULL: in the file */
    uint64_t offset;
    size_t rows;
} kept;

struct ty_keep {
    kept *blocks;
    size_t count, room, next; /* next: to be handed out again */
    uint64_t bytes, limit;    /* in memory */
    int file;                 /* -1: none */
    uint64_t stored;          /* its bytes */
};

static uint64_t limit_wanted = UINT64_MAX;

void ty_keep_limit(uint64_t bytes)
{
    limit_wanted = bytes;
}

ty_keep *ty_keep_create(void)
{
    ty_keep *keep = ty_calloc(1, sizeof *keep);
    if (!keep)
        return NULL;
    const uint64_t left = ty_memory_available("") / 4;
    keep->limit = left < MOST_BYTES ? left : MOST_BYTES;
    if (limit_wanted < keep->limit)
        keep->limit = limit_wanted;
    keep->file = -1;
    return keep;
}

void ty_keep_free(ty_keep *keep)
{
    if (!keep)
        return;
    for (size_t i = 0; i < keep->count; i++)
        ty_free(keep->blocks[i].samples);
    if (keep->file >= 0)
        close(keep->file);
    ty_free(keep->blocks);
    ty_free(keep);
}

void ty_keep_rewind(ty_keep *keep)
{
    keep->next = 0;
}

/* Reads or writes all of `bytes` at `offset` of the file. */
static tally_status transfer(const ty_keep *keep, const ty_text_state *s, void *bytes, size_t size,
                             uint64_t offset, int writes, tally_error *error)
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
                            s->name, writes ? "keeping" : "finding",
                            done ? ty_errno_text(errno, text) : "it was cut");
        at += done;
        size -= (size_t)done;
        offset += (uint64_t)done;
    }
    return TALLY_OK;
}

/* Rows of the views one after the other, `rows` apart. */
static void close_up(ty_text_state *s)
{
    for (uint32_t v = 1; v < s->views && s->ready < s->stride; v++)
        memmove(s->samples + v * s->ready, s->samples + v * s->stride,
                s->ready * sizeof *s->samples);
    s->out_stride = s->ready;
}

tally_status ty_keep_add(ty_text_state *s, tally_error *error)
{
    ty_keep *keep = s->keep;
    if (keep->count == keep->room) {
        size_t room = keep->room ? 2 * keep->room : 16;
        kept *blocks = ty_realloc(keep->blocks, room * sizeof *blocks);
        if (!blocks)
            return ty_error_memory(error, "a text's columns", room * sizeof *blocks);
        keep->blocks = blocks;
        keep->room = room;
    }
    kept *block = keep->blocks + keep->count;
    size_t size = s->ready * s->views * sizeof *s->samples;
    *block = (kept){NULL, keep->stored, s->ready};
    close_up(s);
    if (keep->file < 0 && keep->bytes + size <= keep->limit) {
        double *smaller = ty_realloc(s->samples, size);
        block->samples = smaller ? smaller : s->samples;
        s->out = block->samples;
        s->samples = NULL;
        s->stride = 0;
        keep->bytes += size;
    } else {
        if (keep->file < 0 && (keep->file = ty_spool_file(error)) < 0)
            return TALLY_ERROR_IO;
        tally_status status = transfer(keep, s, s->samples, size, keep->stored, 1, error);
        if (status)
            return status;
        keep->stored += size;
    }
    keep->count++;
    keep->next = keep->count;
    return TALLY_OK;
}

tally_status ty_keep_next(ty_text_state *s, int *found, tally_error *error)
{
    ty_keep *keep = s->keep;
    *found = keep->next < keep->count;
    if (!*found)
        return TALLY_OK;
    kept *block = keep->blocks + keep->next++;
    tally_status status = TALLY_OK;
    s->out = block->samples;
    if (!block->samples) {
        status = ty_text_reserve(s, block->rows, error);
        s->out = s->samples;
        if (!status)
            status = transfer(keep, s, s->samples, block->rows * s->views * sizeof *s->samples,
                              block->offset, 0, error);
    }
    s->out_stride = s->ready = block->rows;
    s->taken = 0;
    return status;
}
