/* SPDX-License-Identifier: Apache-2.0 */
#include "binning/axis.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/memory.h"

static const int64_t integer_limit = INT64_C(1) << 53;

double ty_axis_edge(const ty_axis *axis, uint64_t i)
{
    if (axis->edges)
        return axis->edges[i];
    if (i == axis->bins.bins)
        return axis->bins.hi;
    return axis->bins.lo + (double)i * axis->bins.width;
}

/* Narrow bins between large edges: float64 no longer tells neighbouring edges apart. Rounding moves
 * an edge by at most half a unit in the last place, so a width of four units is safe at once. */
static int edges_increase(const ty_axis *axis)
{
    const ty_bins *b = &axis->bins;
    double largest = fmax(fabs(b->lo), fabs(b->hi));
    if (b->width > largest * (4 * DBL_EPSILON) && b->width >= DBL_MIN)
        return 1;
    for (uint64_t i = 0; i < b->bins; i++) {
        if (!(ty_axis_edge(axis, i) < ty_axis_edge(axis, i + 1)))
            return 0;
    }
    return 1;
}

/* Whether ty_slot_even's single comparison decides (bin.h): with the width at least 2^-50 of the
 * largest edge, edges lie within 1/8 bin of the ideal and so does a rounded 64-bit sample. */
static int is_healthy(const ty_bins *b)
{
    double largest = fmax(fabs(b->lo), fabs(b->hi));
    return b->width >= largest * 0x1p-50 && b->width >= DBL_MIN && isfinite(b->inverse);
}

static tally_status check_range(const tally_axis *axis, unsigned which, tally_error *error)
{
    if (!isfinite(axis->lo) || !isfinite(axis->hi))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: range %g to %g: both ends must be finite", which, axis->lo,
                        axis->hi);
    if (!(axis->lo < axis->hi))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: range %g to %g: the lower end must be below the upper one", which,
                        axis->lo, axis->hi);
    if (!isfinite(axis->hi - axis->lo))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: range %g to %g: its width is past float64's largest value", which,
                        axis->lo, axis->hi);
    return TALLY_OK;
}

/* The table of edges for kinds that need one; already allocated. */
static tally_status fill_edges(const tally_axis *axis, unsigned which, double *edges,
                               tally_error *error)
{
    const int given = axis->kind == TALLY_AXIS_EDGES;
    tally_axis plain = *axis;
    plain.edges = NULL;
    for (uint64_t i = 0; i <= axis->bins; i++) {
        edges[i] = given ? axis->edges[i] : tally_axis_edge(&plain, i);
        if (!isfinite(edges[i]))
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "axis %u: edge %" PRIu64 " is %g: edges must be finite", which, i,
                            edges[i]);
        if (i && !(edges[i - 1] < edges[i]))
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "axis %u: edge %" PRIu64 " (%.17g) is not above edge %" PRIu64
                            " (%.17g): edges must increase; %s",
                            which, i, edges[i], i - 1, edges[i - 1],
                            axis->kind == TALLY_AXIS_EDGES ? "sort them and remove repeats"
                                                           : "ask for fewer bins");
    }
    return TALLY_OK;
}

/* Whether an even axis with the same ends tells where a sample is among the edges but for a small
 * part of a bin: those that rounding has moved, to float32 or to few decimals. */
static void find_nearly_even(ty_axis *r)
{
    ty_bins b = r->bins;
    const double limit = r->dtype == TALLY_F32 ? 0.25 : TY_NEARLY_EVEN_MOST_ERROR;
    double most = 0x1p-40; /* what computing positions rounds */
    b.width = (b.hi - b.lo) / (double)b.bins;
    b.inverse = 1 / b.width;
    if (b.bins > TY_NEARLY_EVEN_MOST_BINS || !isfinite(b.width) || !is_healthy(&b))
        return;
    for (uint64_t i = 0; i <= b.bins && most <= limit; i++)
        most = fmax(most, fabs((r->edges[i] - b.lo) * b.inverse - (double)i));
    r->rounding = r->dtype == TALLY_F32 && most <= limit ? most : 0;
    if (most > TY_NEARLY_EVEN_MOST_ERROR)
        return;
    r->bins = b;
    r->edge_error = most * 1.0625;
}

static tally_status make_table(const tally_axis *axis, unsigned which, ty_axis *r,
                               tally_error *error)
{
    uint64_t n = axis->bins;
    tally_status status = ty_memory_check((n + 1) * sizeof *r->edges, "bin edges", NULL, error);
    if (status)
        return status;
    r->edges = ty_malloc((size_t)(n + 1) * sizeof *r->edges);
    if (!r->edges)
        return ty_error_memory(error, "bin edges", (n + 1) * sizeof *r->edges);
    status = fill_edges(axis, which, r->edges, error);
    if (status)
        return status;
    r->about.edges = r->edges;
    r->bins.lo = r->edges[0];
    r->bins.hi = r->edges[n];
    find_nearly_even(r);
    return TALLY_OK;
}

static tally_status resolve_even(const tally_axis *axis, unsigned which, ty_axis *r,
                                 tally_error *error)
{
    r->bins.lo = axis->lo;
    r->bins.hi = axis->hi;
    r->bins.width = (axis->hi - axis->lo) / (double)axis->bins;
    r->bins.inverse = 1 / r->bins.width;
    r->even = is_healthy(&r->bins);
    if (!edges_increase(r))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: %" PRIu64
                        " bins between %.17g and %.17g: float64 cannot tell their "
                        "edges apart; ask for fewer bins or a wider range",
                        which, axis->bins, axis->lo, axis->hi);
    return r->even ? TALLY_OK : make_table(axis, which, r, error);
}

static tally_status resolve_category(const tally_axis *axis, unsigned which, ty_axis *r,
                                     tally_error *error)
{
    if (r->dtype && r->dtype != TALLY_U8)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "axis %u: byte categories need u8 samples, not %s", which,
                        tally_dtype_name(r->dtype));
    for (int i = 0; i < 256; i++) {
        if (axis->categories[i] >= axis->bins && axis->categories[i] != TALLY_CATEGORY_NONE)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "axis %u: categories[%d] is %u, but there are %" PRIu64 " bins", which,
                            i, axis->categories[i], axis->bins);
    }
    r->categories = ty_malloc(256 * sizeof *r->categories);
    if (!r->categories)
        return ty_error_memory(error, "categories", 256 * sizeof *r->categories);
    memcpy(r->categories, axis->categories, 256 * sizeof *r->categories);
    r->about.categories = r->categories;
    r->bins = (ty_bins){0, (double)axis->bins, 1, 1, r->bins.bins, 0};
    r->even = 1;
    return TALLY_OK;
}

/* One byte has 256 values: their slots are found once, by the same arithmetic as everything else.
 */
static tally_status make_byte_slots(ty_axis *r, tally_error *error)
{
    r->byte_slots = ty_malloc(256 * sizeof *r->byte_slots);
    if (!r->byte_slots)
        return ty_error_memory(error, "byte slots", 256 * sizeof *r->byte_slots);
    for (unsigned i = 0; i < 256; i++) {
        double x =
            r->dtype == TALLY_I8 ? (double)(int)(i < 128 ? (int)i : (int)i - 256) : (double)i;
        if (r->categories)
            r->byte_slots[i] = r->categories[i] == TALLY_CATEGORY_NONE ? r->bins.bins + TY_SLOT_OVER
                                                                       : r->categories[i];
        else
            r->byte_slots[i] =
                r->even ? ty_slot_even(x, &r->bins) : ty_slot_edges(x, &r->bins, r->edges);
    }
    return TALLY_OK;
}

static tally_status check_policies(const tally_axis *axis, unsigned which, tally_error *error)
{
    if ((unsigned)axis->under > TALLY_FLOW_BIN || (unsigned)axis->over > TALLY_FLOW_BIN ||
        (unsigned)axis->nan > TALLY_FLOW_BIN || (unsigned)axis->last > TALLY_LAST_OPEN)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: an under, over, nan or last policy has an unknown value", which);
    if (axis->nan == TALLY_FLOW_CLAMP || axis->nan == TALLY_FLOW_BIN)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: NaN is nearest to no bin: its policy is count or fail", which);
    return TALLY_OK;
}

static tally_status check_log(const tally_axis *axis, unsigned which, tally_error *error)
{
    tally_status status = check_range(axis, which, error);
    if (status)
        return status;
    if (!(axis->lo > 0))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: a log axis starts above 0, not at %g", which, axis->lo);
    if (isinf(axis->hi / axis->lo))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: %g to %g is too wide for a log axis: hi / lo must be finite",
                        which, axis->lo, axis->hi);
    return TALLY_OK;
}

static tally_status check_kind(const tally_axis *axis, unsigned which, tally_error *error)
{
    switch (axis->kind) {
    case TALLY_AXIS_EVEN:
        return check_range(axis, which, error);
    case TALLY_AXIS_EDGES:
        if (!axis->edges)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "axis %u: edges is NULL; give bins+1 of them", which);
        return TALLY_OK;
    case TALLY_AXIS_LOG:
        return check_log(axis, which, error);
    case TALLY_AXIS_INTEGER:
        if (axis->first < -integer_limit || axis->first > integer_limit - (int64_t)axis->bins)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "axis %u: integers %" PRId64 " and %" PRIu64
                            " on: float64 edges tell integers "
                            "apart from -2^53 to 2^53 only; use an even axis with wider bins",
                            which, axis->first, axis->bins);
        return TALLY_OK;
    case TALLY_AXIS_CATEGORY:
        if (!axis->categories)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "axis %u: categories is NULL; give 256 entries", which);
        return TALLY_OK;
    }
    return ty_error(error, TALLY_ERROR_ARGUMENT, "axis %u: unknown kind %d", which,
                    (int)axis->kind);
}

tally_status ty_axis_check(const tally_axis *axis, unsigned which, tally_error *error)
{
    if (axis->struct_size != sizeof *axis)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: struct_size is %zu, expected %zu; start from TALLY_AXIS_INIT",
                        which, axis->struct_size, sizeof *axis);
    if (!axis->bins)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "axis %u: 0 bins; at least 1 is needed",
                        which);
    if (axis->bins > TY_MAX_BINS)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u: %" PRIu64 " bins; at most 2^31 (%" PRIu64 ") are counted", which,
                        axis->bins, TY_MAX_BINS);
    tally_status status = check_policies(axis, which, error);
    return status ? status : check_kind(axis, which, error);
}

static tally_status resolve_kind(const tally_axis *axis, unsigned which, ty_axis *r,
                                 tally_error *error)
{
    if (axis->kind == TALLY_AXIS_EVEN)
        return resolve_even(axis, which, r, error);
    if (axis->kind == TALLY_AXIS_CATEGORY)
        return resolve_category(axis, which, r, error);
    if (axis->kind != TALLY_AXIS_INTEGER)
        return make_table(axis, which, r, error);
    const double lo = (double)axis->first;
    r->bins = (ty_bins){lo, lo + (double)axis->bins, 1, 1, r->bins.bins, 0};
    r->even = 1;
    return TALLY_OK;
}

tally_status ty_axis_resolve_bins(const tally_axis *axis, tally_dtype dtype, unsigned which,
                                  ty_axis *resolved, tally_error *error)
{
    memset(resolved, 0, sizeof *resolved);
    tally_status status = ty_axis_check(axis, which, error);
    if (status)
        return status;
    resolved->about = *axis;
    resolved->about.edges = NULL;
    resolved->about.categories = NULL;
    resolved->dtype = dtype;
    resolved->bins.bins = (ty_u32)axis->bins;
    resolved->bins.closed = axis->last == TALLY_LAST_CLOSED;
    status = resolve_kind(axis, which, resolved, error);
    if (!status && dtype && tally_dtype_bytes(dtype) == 1)
        status = make_byte_slots(resolved, error);
    resolved->about.lo = resolved->bins.lo;
    resolved->about.hi = resolved->bins.hi;
    if (!resolved->bins.closed)
        resolved->about.last = TALLY_LAST_OPEN;
    if (status)
        ty_axis_clear(resolved);
    return status;
}

void ty_axis_clear(ty_axis *axis)
{
    ty_free(axis->edges);
    ty_free(axis->categories);
    ty_free(axis->byte_slots);
    ty_free(axis->lookup_words);
    memset(axis, 0, sizeof *axis);
}

tally_status tally_axis_edges_get(const tally_axis *axis, double *edges, tally_error *error)
{
    ty_axis r;
    if (!axis || !edges)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", axis ? "edges" : "axis");
    tally_status status = ty_axis_resolve_bins(axis, (tally_dtype)0, 0, &r, error);
    if (status)
        return status;
    for (uint64_t i = 0; i <= r.bins.bins; i++)
        edges[i] = ty_axis_edge(&r, i);
    ty_axis_clear(&r);
    return TALLY_OK;
}

tally_axis tally_axis_even(uint64_t bins, double lo, double hi)
{
    tally_axis axis = TALLY_AXIS_INIT;
    axis.bins = bins;
    axis.lo = lo;
    axis.hi = hi;
    return axis;
}

tally_axis tally_axis_integer(uint64_t bins, int64_t first)
{
    tally_axis axis = TALLY_AXIS_INIT;
    axis.kind = TALLY_AXIS_INTEGER;
    axis.bins = bins;
    axis.first = first;
    return axis;
}

tally_axis tally_axis_log(uint64_t bins, double lo, double hi)
{
    tally_axis axis = tally_axis_even(bins, lo, hi);
    axis.kind = TALLY_AXIS_LOG;
    return axis;
}

tally_axis tally_axis_edges(uint64_t bins, const double *edges)
{
    tally_axis axis = TALLY_AXIS_INIT;
    axis.kind = TALLY_AXIS_EDGES;
    axis.bins = bins;
    axis.edges = edges;
    return axis;
}

uint64_t tally_categories_letters(const char *letters, size_t count, uint64_t per_bin,
                                  uint16_t categories[256])
{
    if (!categories)
        return 0;
    for (int i = 0; i < 256; i++)
        categories[i] = TALLY_CATEGORY_NONE;
    if (!letters || !count || count > 256 || !per_bin)
        return 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)letters[i];
        if (categories[c] != TALLY_CATEGORY_NONE)
            return 0;
        categories[c] = (uint16_t)(i / per_bin);
    }
    return (count - 1) / per_bin + 1;
}
