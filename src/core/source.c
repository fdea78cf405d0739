/* SPDX-License-Identifier: Apache-2.0 */
#include "core/source.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

/* What a worker reads at a time: it is counted while the second-level cache has it. */
enum { PART_BYTES = 256 << 10, PART_ALIGNED = 4096 };

/* What it borrows at a time: to borrow takes some microseconds. */
enum { LENT_BYTES = 4 << 20 };

void ty_source_begin(ty_source_failure *failure, ty_grid *const *grids, unsigned count)
{
    pthread_mutex_init(&failure->lock, NULL);
    atomic_init(&failure->at, UINT64_MAX);
    failure->status = TALLY_OK;
    failure->error.message[0] = '\0';
    for (unsigned i = 0; i < count; i++)
        grids[i]->failure = failure;
}

tally_status ty_source_status(const ty_source_failure *failure, tally_error *error)
{
    return failure->status ? ty_error(error, failure->status, "%s", failure->error.message)
                           : TALLY_OK;
}

void ty_source_end(ty_source_failure *failure)
{
    pthread_mutex_destroy(&failure->lock);
}

/* The failure at the smallest element is kept, whoever is first. */
static void note(ty_source_failure *failure, uint64_t begin, tally_status status,
                 const tally_error *error)
{
    pthread_mutex_lock(&failure->lock);
    if (begin < atomic_load(&failure->at)) {
        failure->status = status;
        failure->error = *error;
        atomic_store(&failure->at, begin);
    }
    pthread_mutex_unlock(&failure->lock);
}

uint64_t ty_source_whole(const tally_source *source, uint64_t element)
{
    if (source->whole) {
        const uint64_t first = source->whole(source->user, element);
        return first < element ? first : element; /* elements before a later one would be lost */
    }
    return source->grain ? element - element % source->grain : element;
}

void ty_source_read(const ty_grid *grid, uint64_t begin, uint64_t count, void *to)
{
    tally_error error = {"the source of a view failed without a message"};
    tally_status status = TALLY_OK;
    const int stopped = ty_source_stopped(grid->failure, begin);
    if (!stopped)
        status = grid->source->read(grid->source->user, begin, count, to, &error);
    if (stopped || status)
        memset(to, 0, (size_t)(count * (uint64_t)grid->column_stride));
    if (status)
        note(grid->failure, begin, status, &error);
}

/* Channels of n elements that lie at `pixels`, to their places behind `done` elements. */
static void part_pixels(const ty_grid *grid, const uint64_t *channels, unsigned some,
                        const unsigned char *pixels, uint64_t done, uint64_t n,
                        unsigned char *const *to)
{
    ty_grid piece = *grid;
    piece.source = NULL;
    piece.data = pixels;
    piece.columns = n;
    for (unsigned i = 0; i < some; i++) {
        unsigned char *at = to[i] + done * grid->size;
        const void *from = ty_grid_block(&piece, 0, channels[i], 0, n, at);
        if (from != at)
            memcpy(at, from, (size_t)(n * grid->size));
    }
}

void ty_source_channels(const ty_grid *grid, const uint64_t *channels, unsigned some,
                        uint64_t begin, uint64_t count, unsigned char *const *to)
{
    _Alignas(64) unsigned char pixels[16 << 10];
    const uint64_t pixel = (uint64_t)grid->column_stride;
    if (pixel == grid->size && some == 1) {
        ty_source_read(grid, begin, count, to[0]);
        return;
    }
    unsigned char *large = pixel > sizeof pixels ? ty_malloc((size_t)pixel) : NULL;
    const uint64_t most = large ? 1 : sizeof pixels / pixel;
    static const tally_error no_memory = {"out of memory for one element of a view's source"};
    if (!most) {
        note(grid->failure, begin, TALLY_ERROR_MEMORY, &no_memory);
        for (unsigned i = 0; i < some; i++)
            memset(to[i], 0, (size_t)(count * grid->size));
    }
    for (uint64_t done = 0, n; done < count && most; done += n) {
        n = count - done < most ? count - done : most;
        ty_source_read(grid, begin + done, n, large ? large : pixels);
        part_pixels(grid, channels, some, large ? large : pixels, done, n, to);
    }
    ty_free(large);
}

tally_status ty_source_buffers_make(ty_source_buffers *buffers, ty_grid *const *grids,
                                    unsigned count, unsigned workers, tally_error *error)
{
    uint64_t element = 0;
    for (unsigned i = 0; i < count; i++)
        element += (uint64_t)grids[i]->column_stride;
    /* Whole blocks of counting loops, whose sums hang on where blocks begin. */
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a grid at least */
    const uint64_t fit = PART_BYTES / element / PART_ALIGNED * PART_ALIGNED;
    buffers->elements = fit ? fit : PART_ALIGNED;
    buffers->lent = LENT_BYTES / element / PART_ALIGNED * PART_ALIGNED;
    for (unsigned i = 0; i < count; i++)
        if (!grids[i]->source->lend)
            buffers->lent = 0;
    buffers->bytes = (size_t)(buffers->elements * element);
    buffers->memory = element > SIZE_MAX / PART_ALIGNED / workers
                          ? NULL
                          : ty_aligned(4096, workers * buffers->bytes);
    return buffers->memory ? TALLY_OK
                           : ty_error_memory(error, "what a view's source reads",
                                             (size_t)(workers * buffers->elements * element));
}

void ty_source_buffers_free(ty_source_buffers *buffers)
{
    ty_free(buffers->memory);
    buffers->memory = NULL;
}

static void set_data(ty_grid *g, const void *data, uint64_t n)
{
    g->data = data;
    g->columns = n;
}

/* All of the grids, or none. */
static int lend_all(ty_grid *const *grids, unsigned count, uint64_t begin, uint64_t n)
{
    const void *lent[TALLY_MAX_DIMENSIONS + 2];
    for (unsigned i = 0; i < count; i++) {
        const tally_source *s = grids[i]->source;
        lent[i] = s->lend(s->user, begin, n);
        if (lent[i])
            continue;
        while (i-- > 0)
            grids[i]->source->give_back(grids[i]->source->user, lent[i], begin, n);
        return 0;
    }
    for (unsigned i = 0; i < count; i++) {
        set_data(grids[i], lent[i], n);
        grids[i]->lender = grids[i]->source;
        grids[i]->source = NULL;
    }
    return 1;
}

uint64_t ty_source_load(const ty_source_buffers *buffers, unsigned worker, ty_grid *const *grids,
                        unsigned count, uint64_t begin, uint64_t most)
{
    uint64_t n = most < buffers->lent ? most : buffers->lent;
    if (n && lend_all(grids, count, begin, n))
        return n;
    unsigned char *at = buffers->memory + worker * buffers->bytes;
    n = most < buffers->elements ? most : buffers->elements;
    for (unsigned i = 0; i < count; i++) {
        ty_source_read(grids[i], begin, n, at);
        set_data(grids[i], at, n);
        grids[i]->source = NULL;
        at += buffers->elements * (uint64_t)grids[i]->column_stride;
    }
    return n;
}

void ty_source_unload(ty_grid *const *grids, unsigned count, uint64_t begin)
{
    for (unsigned i = 0; i < count; i++) {
        const tally_source *s = grids[i]->lender;
        if (s)
            s->give_back(s->user, grids[i]->data, begin, grids[i]->columns);
        grids[i]->lender = NULL;
    }
}
