/* SPDX-License-Identifier: Apache-2.0 */
#include "io/shape.h"

#include "core/error.h"
#include "io/columns.h"
#include "io/rows.h"

enum { CHANNELS_ALWAYS = 4, CHANNELS_MOST = 16 };

static int has_channels(const ty_shape *s)
{
    if (s->dimensions != 3)
        return 0;
    const uint64_t c = s->extents[2];
    return c >= 1 &&
           (c <= CHANNELS_ALWAYS || (c <= CHANNELS_MOST && c < s->extents[0] && c < s->extents[1]));
}

static tally_status find_columns(const ty_shape *s, const char *name,
                                 const tally_input_options *options, ty_picks *picks,
                                 tally_input_info *info, tally_error *error)
{
    if (s->dimensions < 1 || s->dimensions > 2)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: columns are chosen in an array of two dimensions, and this has %u",
                        name, s->dimensions);
    if (s->fortran && s->dimensions == 2 && s->extents[0] > 1 && s->extents[1] > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: columns of an array in Fortran order; save it with "
                        "numpy.ascontiguousarray",
                        name);
    if (options->column_begin || options->column_end)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: either a region of columns or columns by number", name);
    info->rows = s->extents[0];
    info->columns = 1;
    info->channels = s->dimensions == 2 ? s->extents[1] : 1;
    const ty_columns columns = {
        name, NULL, (uint32_t)(info->channels < UINT32_MAX ? info->channels : UINT32_MAX)};
    tally_status status = TALLY_OK;
    for (uint32_t i = 0; i < options->columns_count && !status; i++)
        status = ty_columns_find(&columns, options->columns[i], picks->columns + i, error);
    picks->count = options->columns_count;
    return status;
}

tally_status ty_shape_find(const ty_shape *s, const char *name, const tally_input_options *options,
                           ty_picks *picks, tally_input_info *info, tally_error *error)
{
    uint64_t total = 1;
    unsigned beyond_one = 0;
    picks->count = 0;
    info->dimensions = 1;
    for (unsigned d = 0; d < s->dimensions; d++) {
        beyond_one += s->extents[d] > 1;
        if (ty_rows_multiply(total, s->extents[d], &total))
            return ty_error(error, TALLY_ERROR_FORMAT,
                            "%s: its shape has more samples than 64 bits count", name);
    }
    if (options && options->columns_count)
        return find_columns(s, name, options, picks, info, error);
    const int channels = has_channels(s);
    /* With one extent above 1 both orders are the same. */
    const int transposed = s->fortran && beyond_one > 1;
    if (transposed && channels && s->extents[2] > 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: an array with channels in Fortran order; save it with "
                        "numpy.ascontiguousarray",
                        name);
    info->is_fortran = transposed;
    const int flat = transposed || s->dimensions > 3 || (s->dimensions == 3 && !channels);
    if (flat && ty_rows_has_region(options))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: no region can be cut out of an array %s", name,
                        transposed ? "in Fortran order; save it with numpy.ascontiguousarray"
                                   : "of more than two dimensions that are no channels");
    info->rows = flat || !s->dimensions ? total : s->extents[0];
    info->columns = flat || s->dimensions < 2 ? 1 : s->extents[1];
    info->channels = channels && !flat ? s->extents[2] : 1;
    return TALLY_OK;
}

void ty_picks_note(const ty_picks *picks, tally_input_info *info)
{
    if (!picks->count)
        return;
    info->dimensions = picks->count;
    info->channels = 1;
}

void ty_picks_split(const ty_picks *picks, tally_view *views)
{
    const tally_view all = views[0];
    const size_t bytes = tally_dtype_bytes(all.dtype);
    for (uint32_t i = 0; i < picks->count; i++) {
        views[i] = all;
        views[i].data = (const unsigned char *)all.data + picks->columns[i] * bytes;
        views[i].channels = 1;
        views[i].column_stride_bytes = (int64_t)(all.channels * bytes);
    }
}
