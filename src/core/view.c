/* SPDX-License-Identifier: Apache-2.0 */
#include "core/view.h"

#include <inttypes.h>
#include <string.h>

#include "core/error.h"
#include "core/source.h"

/* Packed strides for those that are 0; fails when the extent passes 2^62 bytes. */
static int fill_strides(ty_grid *g)
{
    uint64_t extents[4] = {g->channels, g->columns, g->rows, g->batches};
    int64_t *strides[4] = {&g->channel_stride, &g->column_stride, &g->row_stride, &g->batch_stride};
    uint64_t packed = g->size;
    for (int i = 0; i < 4; i++) {
        if (!*strides[i])
            *strides[i] = (int64_t)packed;
        uint64_t step = *strides[i] < 0 ? 0 - (uint64_t)*strides[i] : (uint64_t)*strides[i];
        if (__builtin_mul_overflow(step, extents[i] ? extents[i] : 1, &packed) || packed >> 62)
            return 0;
    }
    return 1;
}

static tally_status check_source(const tally_view *view, const char *what, tally_error *error)
{
    if (view->source->struct_size != sizeof *view->source || !view->source->read)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s: its source's %s", what,
                        view->source->struct_size != sizeof *view->source
                            ? "struct_size is wrong; start from TALLY_SOURCE_INIT"
                            : "read is NULL");
    if (view->source->lend && !view->source->give_back)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s: its source lends, but give_back is NULL",
                        what);
    if (view->data || view->device > TALLY_DEVICE_CPU || view->batches > 1 ||
        view->batch_stride_bytes || view->row_stride_bytes || view->column_stride_bytes ||
        view->channel_stride_bytes)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: a view with a source has no data, device or strides, and one batch",
                        what);
    return TALLY_OK;
}

tally_status ty_grid_in_memory(const ty_grid *grid, const char *what, tally_error *error)
{
    return grid->source ? ty_error(error, TALLY_ERROR_UNSUPPORTED,
                                   "%s: it has a source, which this call does not read", what)
                        : TALLY_OK;
}

tally_status ty_grid_make(const tally_view *view, const char *what, ty_grid *grid,
                          tally_error *error)
{
    if (!view)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s: the view is NULL", what);
    if (view->struct_size != sizeof *view)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: struct_size is %zu, expected %zu; start from TALLY_VIEW_INIT", what,
                        view->struct_size, sizeof *view);
    size_t size = tally_dtype_bytes(view->dtype);
    if (!size)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s: unknown dtype %d", what,
                        (int)view->dtype);
    *grid = (ty_grid){view->data,
                      view->dtype,
                      (uint32_t)size,
                      view->batches,
                      view->rows,
                      view->columns,
                      view->channels,
                      view->batch_stride_bytes,
                      view->row_stride_bytes,
                      view->column_stride_bytes,
                      view->channel_stride_bytes,
                      view->source,
                      NULL,
                      NULL};
    if (view->source) {
        tally_status status = check_source(view, what, error);
        if (status)
            return status;
        grid->data = (const unsigned char *)view->source; /* the view is there */
    }
    if (!fill_strides(grid))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: %" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64
                        " samples span more than 2^62 bytes",
                        what, view->batches, view->rows, view->columns, view->channels);
    if (!grid->data && view->batches && view->rows && view->columns && view->channels)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s: data is NULL but the view is not empty",
                        what);
    return TALLY_OK;
}

void ty_grid_coalesce(ty_grid *grids, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (grids[i].rows > 1 &&
            grids[i].row_stride != (int64_t)grids[i].columns * grids[i].column_stride)
            return;
    }
    for (unsigned i = 0; i < count; i++) {
        grids[i].columns *= grids[i].rows;
        grids[i].rows = grids[i].rows ? 1 : 0;
    }
}

const unsigned char *ty_grid_at(const ty_grid *g, uint64_t batch, uint64_t element,
                                uint64_t channel)
{
    uint64_t row = element / g->columns, column = element % g->columns;
    return g->data + (int64_t)batch * g->batch_stride + (int64_t)row * g->row_stride +
           (int64_t)column * g->column_stride + (int64_t)channel * g->channel_stride;
}

/* One switch a block, so that each copy loop has a constant sample size. */
static void copy_strided(unsigned char *to, const unsigned char *from, int64_t stride,
                         uint32_t size, uint64_t count)
{
#define COPY(bytes)                                                                                \
    for (uint64_t i = 0; i < count; i++)                                                           \
    memcpy(to + i * (bytes), from + (int64_t)i * stride, (bytes))
    switch (size) {
    case 1:
        COPY(1);
        break;
    case 2:
        COPY(2);
        break;
    case 4:
        COPY(4);
        break;
    default:
        COPY(8);
        break;
    }
#undef COPY
}

const void *ty_grid_block(const ty_grid *g, uint64_t batch, uint64_t channel, uint64_t begin,
                          uint64_t count, void *buffer)
{
    if (g->source) {
        unsigned char *only = buffer;
        ty_source_channels(g, &channel, 1, begin, count, &only);
        return buffer;
    }
    const unsigned char *from = ty_grid_at(g, batch, begin, channel);
    uint64_t column = begin % g->columns, left = g->columns - column;
    if (g->column_stride == (int64_t)g->size && count <= left)
        return from;
    unsigned char *to = buffer;
    while (count) {
        uint64_t n = count < left ? count : left;
        if (g->column_stride == (int64_t)g->size)
            memcpy(to, from, n * g->size);
        else
            copy_strided(to, from, g->column_stride, g->size, n);
        to += n * g->size;
        begin += n;
        count -= n;
        left = g->columns;
        if (count)
            from = ty_grid_at(g, batch, begin, channel);
    }
    return buffer;
}

void ty_grid_blocks(const ty_grid *g, uint64_t batch, const uint64_t *channels, unsigned some,
                    uint64_t begin, uint64_t count, unsigned char *const *buffers,
                    const unsigned char **from)
{
    if (g->source)
        ty_source_channels(g, channels, some, begin, count, buffers);
    for (unsigned i = 0; i < some; i++)
        from[i] =
            g->source ? buffers[i] : ty_grid_block(g, batch, channels[i], begin, count, buffers[i]);
}

/* Repeats a dimension of extent 1 along the samples'. */
static int spread(uint64_t *extent, int64_t *stride, uint64_t to)
{
    if (*extent == 1 && to != 1) {
        *extent = to;
        *stride = 0;
    }
    return *extent == to;
}

/* What goes with samples, along their elements. */
static tally_status beside(const tally_view *view, const char *what, const ty_grid *samples,
                           tally_device_type device, ty_grid *grid, tally_error *error)
{
    tally_status status = ty_grid_make(view, what, grid, error);
    if (status)
        return status;
    if (view->device != device && (view->device > TALLY_DEVICE_CPU || device > TALLY_DEVICE_CPU))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        device > TALLY_DEVICE_CPU
                            ? "%s: device %d; it must be where the samples are"
                            : "%s: device %d; it must be in host memory",
                        what, (int)view->device);
    if (!spread(&grid->batches, &grid->batch_stride, samples->batches) ||
        !spread(&grid->rows, &grid->row_stride, samples->rows) ||
        !spread(&grid->columns, &grid->column_stride, samples->columns))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: %" PRIu64 "x%" PRIu64 "x%" PRIu64 " for samples of %" PRIu64
                        "x%" PRIu64 "x%" PRIu64 "; extents must be equal "
                        "or 1",
                        what, view->batches, view->rows, view->columns, samples->batches,
                        samples->rows, samples->columns);
    return TALLY_OK;
}

tally_status ty_grid_mask(const tally_view *view, const ty_grid *samples, tally_device_type device,
                          ty_grid *mask, tally_error *error)
{
    tally_status status = beside(view, "mask", samples, device, mask, error);
    if (!status && (mask->dtype != TALLY_U8 || mask->channels != 1))
        status = ty_error(error, TALLY_ERROR_ARGUMENT,
                          "mask: %s with %" PRIu64 " channels; it must be u8 with one",
                          tally_dtype_name(mask->dtype), mask->channels);
    return status;
}

tally_status ty_grid_weights(const tally_view *view, const ty_grid *samples,
                             tally_device_type device, ty_grid *weights, tally_error *error)
{
    tally_status status = beside(view, "weights", samples, device, weights, error);
    if (!status && (weights->dtype == TALLY_F16 || weights->dtype == TALLY_BF16))
        status = ty_error(error, TALLY_ERROR_UNSUPPORTED,
                          "weights: %s; they are integers, f32 or f64 here",
                          tally_dtype_name(weights->dtype));
    if (!status && !spread(&weights->channels, &weights->channel_stride, samples->channels))
        status = ty_error(error, TALLY_ERROR_ARGUMENT,
                          "weights: %" PRIu64 " channels for samples of %" PRIu64
                          "; as many, or one for all",
                          weights->channels, samples->channels);
    return status;
}
