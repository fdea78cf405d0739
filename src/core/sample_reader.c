/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sample_reader.h"

#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/view.h"
#include "cpu/stats.h"
#include "binning/bin.h"

#define BLOCK TY_STATS_BLOCK

/* A callback's negative value is a status, negated; any other is taken as a failure to read. */
static tally_status failed(int value, const char *what, const tally_error *from, tally_error *error)
{
    tally_status status = TALLY_ERROR_IO;
    if (value < 0 && value >= -(int)TALLY_ERROR_INTERNAL)
        status = (tally_status)-value;
    if (from->message[0]) {
        if (error)
            *error = *from;
        return status;
    }
    return ty_error(error, status, "the chunks' %s returned %d", what, value);
}

/* Whether a 64-bit integer lies in the range: never by way of its rounded value. */
static int inside_i64(int64_t x, double lo, double hi)
{
    return !ty_below_i64(x, lo) && (ty_below_i64(x, hi) || ty_equal_i64(x, hi));
}

static int inside_u64(uint64_t x, double lo, double hi)
{
    return !ty_below_u64(x, lo) && (ty_below_u64(x, hi) || ty_equal_u64(x, hi));
}

/* Which of at most BLOCK samples count: 1, else 0. Returns how many do. */
static size_t look(const ty_sample_reader *reader, const unsigned char *from, size_t count,
                   unsigned char *inside)
{
    size_t kept = 0;
    if (reader->dtype == TALLY_I64 || reader->dtype == TALLY_U64) {
        for (size_t i = 0; i < count; i++) {
            uint64_t bits;
            memcpy(&bits, from + i * sizeof bits, sizeof bits);
            inside[i] = reader->dtype == TALLY_U64
                            ? inside_u64(bits, reader->lo, reader->hi)
                            : inside_i64((int64_t)bits, reader->lo, reader->hi);
            kept += inside[i];
        }
        return kept;
    }
    double values[BLOCK];
    const double lo = reader->lo, hi = reader->hi;
    ty_stats_loops_get()->decode(reader->dtype, from, count, values);
    for (size_t i = 0; i < count; i++)
        inside[i] = (values[i] >= lo) & (values[i] <= hi);
    for (size_t i = 0; i < count; i++)
        kept += inside[i];
    return kept;
}

#define KEEP(type)                                                                                 \
    for (size_t i = 0; i < count; i++) {                                                           \
        memcpy(to + kept * sizeof(type), from + i * sizeof(type), sizeof(type));                   \
        kept += inside[i];                                                                         \
    }                                                                                              \
    break

/* Copies the samples that count; `to` has space for `count`. */
static void keep(const unsigned char *inside, const unsigned char *from, size_t size, size_t count,
                 unsigned char *to)
{
    size_t kept = 0;
    switch (size) {
    case 1:
        KEEP(uint8_t);
    case 2:
        KEEP(uint16_t);
    case 4:
        KEEP(uint32_t);
    default:
        KEEP(uint64_t);
    }
}

/* A stretch of a chunk is looked at by all threads, a piece each. */
enum { PIECE = 16 * BLOCK, PIECES = 32 };

typedef struct stretch {
    const ty_sample_reader *reader;
    const ty_grid *grid;
    uint64_t batch, begin;
    size_t count;
    unsigned char *copy; /* of `count` samples */
    size_t kept[PIECES]; /* samples that count, at the begin of the piece's copy */
    int whole[PIECES];   /* all do, and lie packed where they are; nothing is copied */
} stretch;

static void look_at(void *arg, unsigned part, unsigned worker)
{
    stretch *s = arg;
    const size_t size = s->grid->size, begin = (size_t)part * PIECE;
    const size_t count = s->count - begin < PIECE ? s->count - begin : PIECE;
    unsigned char gathered[BLOCK * 8], inside[BLOCK], *to = s->copy + begin * size;
    const unsigned char *first = NULL;
    (void)worker;
    s->kept[part] = 0;
    s->whole[part] = 1;
    for (size_t at = 0; at < count; at += BLOCK) {
        const size_t n = count - at < BLOCK ? count - at : BLOCK;
        const unsigned char *from =
            ty_grid_block(s->grid, s->batch, 0, s->begin + begin + at, n, gathered);
        const size_t kept = s->reader->filter ? look(s->reader, from, n, inside) : n;
        first = at ? first : from;
        if (s->whole[part] && (kept < n || from != first + at * size)) {
            memcpy(to, first, at * size); /* what was skipped so far */
            s->whole[part] = 0;
        }
        if (from == gathered)
            s->whole[part] = 0;
        if (!s->whole[part] && kept < n)
            keep(inside, from, size, n, to + s->kept[part] * size);
        else if (!s->whole[part])
            memcpy(to + s->kept[part] * size, from, n * size);
        s->kept[part] += kept;
    }
}

/* All samples that count in a row: where they are, or in s->copy. */
static const unsigned char *join(stretch *s, unsigned parts, size_t *count)
{
    const size_t size = s->grid->size;
    unsigned whole = 0;
    *count = 0;
    for (unsigned p = 0; p < parts; p++)
        whole += s->whole[p] != 0;
    if (whole == parts && s->grid->rows == 1) {
        *count = s->count;
        return ty_grid_at(s->grid, s->batch, s->begin, 0);
    }
    for (unsigned p = 0; p < parts; p++) {
        const size_t begin = (size_t)p * PIECE;
        const unsigned char *from = s->whole[p] ? ty_grid_at(s->grid, s->batch, s->begin + begin, 0)
                                                : s->copy + begin * size;
        memmove(s->copy + *count * size, from, s->kept[p] * size);
        *count += s->kept[p];
    }
    return s->copy;
}

static tally_status offer(const ty_sample_reader *reader, const ty_grid *grid,
                          tally_status (*take)(void *, const void *, size_t, tally_error *),
                          void *arg, tally_error *error)
{
    const uint64_t elements = grid->rows * grid->columns, most = (uint64_t)PIECE * PIECES;
    const int whole =
        !reader->filter && grid->rows == 1 && grid->column_stride == (int64_t)grid->size;
    const uint64_t step = whole || elements < most ? elements : most;
    stretch s = {.reader = reader, .grid = grid};
    tally_status status = TALLY_OK;
    if (!elements)
        return TALLY_OK;
    if (!whole && !(s.copy = ty_malloc((size_t)(step * grid->size))))
        return ty_error_memory(error, "a chunk's samples", (size_t)(step * grid->size));
    for (s.batch = 0; s.batch < grid->batches && !status; s.batch++) {
        for (s.begin = 0; s.begin < elements && !status; s.begin += step) {
            const void *samples = ty_grid_at(grid, s.batch, s.begin, 0);
            size_t count = s.count =
                (size_t)(elements - s.begin < step ? elements - s.begin : step);
            const unsigned parts = whole ? 0 : (unsigned)((s.count + PIECE - 1) / PIECE);
            if (reader->pool && parts > 1)
                ty_pool_run(reader->pool, 0, parts, look_at, &s);
            for (unsigned p = 0; p < parts && !(reader->pool && parts > 1); p++)
                look_at(&s, p, 0);
            if (!whole)
                samples = join(&s, parts, &count);
            if (count)
                status = take(arg, samples, count, error);
        }
    }
    ty_free(s.copy);
    return status;
}

tally_status ty_sample_reader_pass(ty_sample_reader *reader,
                                   tally_status (*take)(void *arg, const void *samples,
                                                        size_t count, tally_error *error),
                                   void *arg, tally_error *error)
{
    tally_error local;
    local.message[0] = '\0';
    int value;
    if (reader->passes++ && (value = reader->chunks.rewind(reader->chunks.user, &local)))
        return failed(value, "rewind", &local, error);
    for (;;) {
        tally_view view = TALLY_VIEW_INIT;
        value = reader->chunks.read(reader->chunks.user, &view, &local);
        if (!value)
            return TALLY_OK;
        if (value < 0)
            return failed(value, "read", &local, error);
        ty_grid grid;
        tally_status status = ty_grid_make(&view, "chunk", &grid, error);
        if (status)
            return status;
        if (grid.dtype != reader->dtype || view.device > TALLY_DEVICE_CPU)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "a chunk of %s on device %d; expected %s in host memory",
                            tally_dtype_name(grid.dtype), (int)view.device,
                            tally_dtype_name(reader->dtype));
        if ((status = ty_grid_in_memory(&grid, "chunk", error)))
            return status;
        if (!grid.channels)
            continue;
        if (grid.channels > 1)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "a chunk of %" PRIu64 " channels; it has one, or a stride for one",
                            grid.channels);
        ty_grid_coalesce(&grid, 1);
        if ((status = offer(reader, &grid, take, arg, error)))
            return status;
    }
}
