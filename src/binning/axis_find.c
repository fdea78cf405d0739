/* SPDX-License-Identifier: Apache-2.0 */
/* An edge by the definition of an axis, and the bin of one value: edges are compared with it. */
#include <inttypes.h>
#include <math.h>

#include "binning/axis.h"
#include "core/error.h"

double tally_axis_edge(const tally_axis *axis, uint64_t i)
{
    if (!axis || !axis->bins || i > axis->bins || (axis->kind == TALLY_AXIS_EDGES && !axis->edges))
        return NAN;
    const double n = (double)axis->bins;
    if (axis->kind == TALLY_AXIS_CATEGORY)
        return (double)i;
    if (axis->edges)
        return axis->edges[i];
    if (axis->kind == TALLY_AXIS_INTEGER)
        return (double)axis->first + (double)i;
    if (i == axis->bins)
        return axis->hi;
    if (axis->kind == TALLY_AXIS_LOG)
        return axis->lo * pow(axis->hi / axis->lo, (double)i / n);
    return axis->lo + (double)i * ((axis->hi - axis->lo) / n);
}

static uint64_t search(const tally_axis *axis, double x)
{
    uint64_t low = 0, high = axis->bins; /* edge low <= x < edge high */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (tally_axis_edge(axis, middle) <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint64_t find_slot(const tally_axis *axis, double x)
{
    const uint64_t n = axis->bins;
    const int closed = axis->last == TALLY_LAST_CLOSED && axis->kind != TALLY_AXIS_INTEGER;
    const double last = tally_axis_edge(axis, n);
    if (isnan(x))
        return n + TY_SLOT_NAN;
    if (x < tally_axis_edge(axis, 0))
        return n + TY_SLOT_UNDER;
    if (x > last || (x == last && !closed))
        return n + TY_SLOT_OVER;
    return x == last ? n - 1 : search(axis, x);
}

static tally_status find_category(const tally_axis *axis, double x, uint64_t *bin,
                                  tally_error *error)
{
    if (!(x >= 0 && x <= 255 && x == floor(x)))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%g is no byte; an axis of categories has bins for 0 to 255", x);
    const uint16_t category = axis->categories[(int)x];
    if (category >= axis->bins && category != TALLY_CATEGORY_NONE)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "categories[%d] is %u, but there are %" PRIu64 " bins", (int)x, category,
                        axis->bins);
    *bin = category == TALLY_CATEGORY_NONE ? axis->bins + TY_SLOT_OVER : category;
    return TALLY_OK;
}

tally_status tally_axis_find(const tally_axis *axis, double x, uint64_t *bin, tally_error *error)
{
    if (!axis || !bin)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", axis ? "bin" : "axis");
    tally_status status = ty_axis_check(axis, 0, error);
    if (status)
        return status;
    const uint64_t n = axis->bins;
    uint64_t slot = 0;
    if (axis->kind == TALLY_AXIS_CATEGORY)
        status = find_category(axis, x, &slot, error);
    else
        slot = find_slot(axis, x);
    if (status)
        return status;
    const tally_flow policy = slot < n                   ? TALLY_FLOW_COUNT
                              : slot == n + TY_SLOT_NAN  ? axis->nan
                              : slot == n + TY_SLOT_OVER ? axis->over
                                                         : axis->under;
    if (policy == TALLY_FLOW_FAIL)
        return ty_error(error, TALLY_ERROR_DATA,
                        "%.17g is in no bin, and the axis' policy for it is to fail", x);
    if (policy == TALLY_FLOW_CLAMP)
        slot = slot == n + TY_SLOT_UNDER ? 0 : n - 1;
    *bin = slot;
    return TALLY_OK;
}
