#include "core/sample_reader.h"

#include <string.h>

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

/* Copies those of at most BLOCK samples that count; returns how many. */
static size_t pick(const ty_sample_reader *reader, const unsigned char *from, size_t size,
                   size_t count, unsigned char *to)
{
    double values[BLOCK];
    int wide = reader->dtype == TALLY_I64 || reader->dtype == TALLY_U64;
    if (!wide)
        ty_stats_loops_get()->decode(reader->dtype, from, count, values);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        int inside;
        if (!wide) {
            inside = (values[i] >= reader->lo) & (values[i] <= reader->hi);
        } else {
            uint64_t bits;
            memcpy(&bits, from + i * size, sizeof bits);
            inside = reader->dtype == TALLY_U64 ? inside_u64(bits, reader->lo, reader->hi)
                                                : inside_i64((int64_t)bits, reader->lo, reader->hi);
        }
        memcpy(to + kept * size, from + i * size, size);
        kept += inside != 0;
    }
    return kept;
}

static tally_status offer(const ty_sample_reader *reader, const ty_grid *grid,
                          tally_status (*take)(void *, const void *, size_t, tally_error *),
                          void *arg, tally_error *error)
{
    unsigned char buffer[BLOCK * 8], picked[BLOCK * 8];
    uint64_t elements = grid->rows * grid->columns;
    int whole = !reader->filter && grid->rows == 1 && grid->column_stride == (int64_t)grid->size;
    uint64_t step = whole ? elements : BLOCK;
    for (uint64_t batch = 0; batch < grid->batches; batch++) {
        for (uint64_t at = 0; at < elements; at += step) {
            size_t count = (size_t)(elements - at < step ? elements - at : step);
            const void *samples = ty_grid_block(grid, batch, 0, at, count, buffer);
            if (reader->filter) {
                count = pick(reader, samples, grid->size, count, picked);
                samples = picked;
            }
            tally_status status = count ? take(arg, samples, count, error) : TALLY_OK;
            if (status)
                return status;
        }
    }
    return TALLY_OK;
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
        ty_grid_coalesce(&grid, 1);
        if ((status = offer(reader, &grid, take, arg, error)))
            return status;
    }
}
