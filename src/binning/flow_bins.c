/* SPDX-License-Identifier: Apache-2.0 */
/* Axes whose flows have bins of their own (TALLY_FLOW_BIN): as axes with a bin more at an end, into
 * which samples outside are clamped. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "binning/axis.h"
#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/memory.h"

typedef struct wide_axis {
    tally_axis axis;
    double *edges; /* owned; axis.edges or NULL */
    uint16_t categories[256];
} wide_axis;

int ty_axis_has_flow_bins(const tally_axis *axis)
{
    return axis->under == TALLY_FLOW_BIN || axis->over == TALLY_FLOW_BIN;
}

static tally_status widen_categories(const tally_axis *axis, unsigned which, wide_axis *wide,
                                     tally_error *error)
{
    if (axis->under == TALLY_FLOW_BIN)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: no byte is below categories; only over can have a bin", which);
    if (axis->bins >= TALLY_CATEGORY_NONE)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: %" PRIu64 " categories; at most %d can have a bin for the rest",
                        which, axis->bins, TALLY_CATEGORY_NONE - 1);
    for (int i = 0; i < 256; i++)
        wide->categories[i] =
            axis->categories[i] == TALLY_CATEGORY_NONE ? (uint16_t)axis->bins : axis->categories[i];
    wide->axis.categories = wide->categories;
    return TALLY_OK;
}

/* The least float64 above the last bin. */
static tally_status find_end(const tally_axis *axis, tally_dtype dtype, unsigned which, double *end,
                             tally_error *error)
{
    const double hi = tally_axis_edge(axis, axis->bins);
    *end = hi;
    if (axis->last == TALLY_LAST_OPEN)
        return TALLY_OK;
    if ((dtype == TALLY_U64 || dtype == TALLY_I64) && fabs(hi) >= 0x1p53)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "axis %u: %s samples may lie between the last edge, %.17g, and the next "
                        "float64, where a bin for what is above would begin: end it below 2^53, or "
                        "have it open",
                        which, tally_dtype_name(dtype), hi);
    *end = nextafter(hi, INFINITY);
    return TALLY_OK;
}

/* The added bins are as wide as their neighbours where that can be, so that even edges stay nearly
 * even. */
static tally_status widen_edges(const tally_axis *axis, tally_dtype dtype, unsigned which,
                                wide_axis *wide, tally_error *error)
{
    const int under = axis->under == TALLY_FLOW_BIN, over = axis->over == TALLY_FLOW_BIN;
    const uint64_t n = axis->bins;
    double end = tally_axis_edge(axis, n);
    tally_status status = over ? find_end(axis, dtype, which, &end, error) : TALLY_OK;
    if (status)
        return status;
    const double first = tally_axis_edge(axis, 0);
    if ((under && first <= -DBL_MAX) || (over && end >= DBL_MAX))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "axis %u: no edge fits between the axis and infinity, for a bin that takes "
                        "what is %s",
                        which, under && first <= -DBL_MAX ? "below" : "above");
    status = ty_memory_check(2 * (n + 3) * sizeof(double), "bin edges", NULL, error);
    if (status)
        return status;
    double *edges = wide->edges = ty_malloc((size_t)(n + 3) * sizeof *edges);
    if (!edges)
        return ty_error_memory(error, "bin edges", (n + 3) * sizeof *edges);
    for (uint64_t i = 0; i <= n; i++)
        edges[i + (unsigned)under] = tally_axis_edge(axis, i);
    if (under)
        edges[0] = fmin(fmax(first - (edges[2] - first), -DBL_MAX), nextafter(first, -INFINITY));
    if (over) {
        double *last = edges + n + (unsigned)under;
        const double width = *last - last[-1];
        *last = end;
        last[1] = fmax(fmin(end + width, DBL_MAX), nextafter(end, INFINITY));
        wide->axis.last = TALLY_LAST_OPEN;
    }
    wide->axis.kind = TALLY_AXIS_EDGES;
    wide->axis.edges = edges;
    return TALLY_OK;
}

/* `axis` is one that a plan takes, but for its policies. */
static tally_status widen(const tally_axis *axis, tally_dtype dtype, unsigned which,
                          wide_axis *wide, tally_error *error)
{
    const int under = axis->under == TALLY_FLOW_BIN, over = axis->over == TALLY_FLOW_BIN;
    const uint64_t bins = axis->bins + (unsigned)under + (unsigned)over;
    tally_status status = TALLY_OK;
    if (bins > TY_MAX_BINS)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: %" PRIu64 " bins and flow bins; at most 2^31 (%" PRIu64
                        ") are counted",
                        which, bins, TY_MAX_BINS);
    wide->axis = *axis;
    if (axis->kind == TALLY_AXIS_CATEGORY)
        status = widen_categories(axis, which, wide, error);
    else if (axis->kind != TALLY_AXIS_INTEGER)
        status = widen_edges(axis, dtype, which, wide, error);
    wide->axis.first -= under;
    wide->axis.bins = bins;
    wide->axis.under = under ? TALLY_FLOW_CLAMP : axis->under;
    wide->axis.over = over ? TALLY_FLOW_CLAMP : axis->over;
    return status;
}

tally_status ty_axis_resolve(const tally_axis *axis, tally_dtype dtype, unsigned which,
                             ty_axis *resolved, tally_error *error)
{
    tally_status status = ty_axis_resolve_bins(axis, dtype, which, resolved, error);
    if (status || !ty_axis_has_flow_bins(axis))
        return status;
    wide_axis wide = {.edges = NULL};
    tally_axis plain = resolved->about; /* its edges, where it has a table */
    status = widen(&plain, dtype, which, &wide, error);
    ty_axis_clear(resolved);
    if (!status)
        status = ty_axis_resolve_bins(&wide.axis, dtype, which, resolved, error);
    ty_free(wide.edges);
    return status;
}
