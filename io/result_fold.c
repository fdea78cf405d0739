/* SPDX-License-Identifier: Apache-2.0 */
/* Results with fewer bins: summed over axes, or neighbours joined. Each axis has a table of where
 * its bins go; a bin of the new result is the sum of all that go there. */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/profile.h"

typedef struct fold {
    const tally_result *from;
    tally_result *into;
    uint64_t *targets[TALLY_MAX_DIMENSIONS]; /* what each bin of an axis adds to the new index */
    int64_t *carries; /* for sums of integers, how often a new bin passed int64 upwards */
} fold;

static tally_status reserve(fold *f, tally_error *error)
{
    for (uint32_t d = 0; d < f->from->dimensions; d++) {
        const uint64_t bins = f->from->axes[d].bins;
        f->targets[d] = ty_calloc((size_t)bins, sizeof *f->targets[d]);
        if (!f->targets[d])
            return ty_error_memory(error, "a table of bins", bins * sizeof *f->targets[d]);
    }
    if (f->into->kind == TALLY_RESULT_SUMS_I64) {
        const uint64_t cells = f->into->histograms * f->into->bins;
        f->carries = ty_calloc((size_t)cells, sizeof *f->carries);
        if (!f->carries)
            return ty_error_memory(error, "carries", cells * sizeof *f->carries);
    }
    return TALLY_OK;
}

static tally_status past(const fold *f, uint64_t cell, const char *limit, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_DATA,
                    "histogram %" PRIu64 ", bin %" PRIu64 " of the new result: the sum passes %s",
                    cell / f->into->bins, cell % f->into->bins, limit);
}

static tally_status add_count(const fold *f, uint64_t to, uint64_t count, tally_error *error)
{
    uint64_t *sum = (uint64_t *)f->into->counts + to;
    const uint64_t limit = ty_counter_limit(f->into->counter);
    if (*sum <= limit && count <= limit - *sum)
        *sum += count;
    else if (ty_counter_saturates(f->into->counter))
        *sum = limit;
    else
        return past(f, to, limit == UINT64_MAX ? "2^64-1" : "2^32-1", error);
    return TALLY_OK;
}

static tally_status add_cell(const fold *f, uint64_t from, uint64_t to, tally_error *error)
{
    if (f->into->column) {
        const uint64_t count = ((const uint64_t *)f->from->counts)[from];
        if (((const uint64_t *)f->into->counts)[to] > UINT64_MAX - count)
            return past(f, to, "2^64-1", error);
        ty_profile_add_cell(f->into, to, f->from, from);
        return TALLY_OK;
    }
    if (f->into->squares)
        f->into->squares[to] += f->from->squares[from];
    if (f->into->wide) {
        tally_wide_add(f->into->wide + to, f->from->wide + from, 1);
        return TALLY_OK;
    }
    if (f->into->kind == TALLY_RESULT_COUNTS)
        return add_count(f, to, ((const uint64_t *)f->from->counts)[from], error);
    if (f->into->kind == TALLY_RESULT_SUMS_F64) {
        ((double *)f->into->counts)[to] += ((const double *)f->from->counts)[from];
    } else {
        int64_t *sum = (int64_t *)f->into->counts + to;
        const int64_t more = ((const int64_t *)f->from->counts)[from];
        if (__builtin_add_overflow(*sum, more, sum))
            f->carries[to] += more > 0 ? 1 : -1;
    }
    return TALLY_OK;
}

/* The bins of the last axis, from cell `from` on, to `to` and what its table says. */
static tally_status add_row(const fold *f, uint64_t from, uint64_t to, tally_error *error)
{
    const uint32_t last = f->from->dimensions - 1;
    const uint64_t *targets = f->targets[last], bins = f->from->axes[last].bins;
    for (uint64_t i = 0; i < bins; i++) {
        tally_status status = add_cell(f, from + i, to + targets[i], error);
        if (status)
            return status;
    }
    return TALLY_OK;
}

static tally_status add_cells(const fold *f, tally_error *error)
{
    const tally_result *from = f->from;
    const uint32_t last = from->dimensions - 1;
    for (uint64_t h = 0; h < from->histograms; h++) {
        uint64_t index[TALLY_MAX_DIMENSIONS] = {0};
        for (uint64_t i = 0; i < from->bins; i += from->axes[last].bins) {
            uint64_t to = h * f->into->bins;
            for (uint32_t d = 0; d < last; d++)
                to += f->targets[d][index[d]];
            tally_status status = add_row(f, h * from->bins + i, to, error);
            if (status)
                return status;
            for (uint32_t d = last; d-- > 0;) {
                if (++index[d] < from->axes[d].bins)
                    break;
                index[d] = 0;
            }
        }
    }
    for (uint64_t to = 0; f->carries && to < f->into->histograms * f->into->bins; to++)
        if (f->carries[to])
            return past(f, to, "int64's range", error);
    return TALLY_OK;
}

static void copy_flows(const fold *f)
{
    const size_t histograms = (size_t)f->from->histograms;
    memcpy(f->into->flows, f->from->flows, histograms * sizeof *f->from->flows);
    if (f->from->column)
        memcpy(f->into->flow_statistics, f->from->flow_statistics,
               histograms * 4 * TY_PROFILE_FIELDS * sizeof(double));
    if (f->from->flow_sums)
        memcpy(f->into->flow_sums, f->from->flow_sums, histograms * 4 * sizeof(double));
    if (f->from->wide)
        memcpy(f->into->wide_flows, f->from->wide_flows, histograms * 4 * sizeof(tally_wide));
}

/* A result of `shape`, whose axes are set, for what is in `from`. */
static tally_status begin(fold *f, const tally_result *from, ty_result_shape *shape,
                          tally_error *error)
{
    shape->kind = from->kind;
    shape->squares = from->squares != NULL;
    shape->flow_sums = from->flow_sums != NULL;
    shape->weight_limit = from->weight_limit;
    shape->histograms = from->histograms;
    shape->names = (const char *const *)from->names;
    shape->by = from->by;
    shape->others = from->others;
    shape->column = from->column;
    memcpy(shape->value_times, from->value_times, sizeof shape->value_times);
    ty_result_settle(from);
    *f = (fold){.from = from};
    tally_status status = ty_result_create(shape, &f->into, error);
    if (status)
        return status;
    f->into->counter = from->counter;
    return reserve(f, error);
}

/* Fills the new result and hands it out, or destroys it. */
static tally_status end(fold *f, tally_status status, tally_result **result, tally_error *error)
{
    if (!status)
        status = add_cells(f, error);
    if (!status)
        status = ty_result_add_notes(f->into, f->from, error);
    if (!status) {
        copy_flows(f);
        *result = f->into;
    } else {
        tally_result_destroy(f->into);
    }
    for (uint32_t d = 0; d < TALLY_MAX_DIMENSIONS; d++)
        ty_free(f->targets[d]);
    ty_free(f->carries);
    return status;
}

static tally_status check_kept(const tally_result *result, const uint32_t *axes, uint32_t count,
                               tally_error *error)
{
    uint32_t seen = 0;
    if (!count || count > result->dimensions)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "count is %u; of %u axes, 1 to %u can be kept",
                        count, result->dimensions, result->dimensions);
    for (uint32_t k = 0; k < count; k++) {
        if (axes[k] >= result->dimensions)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "axes[%u] is %u; the result has axes 0 to %u", k, axes[k],
                            result->dimensions - 1);
        if (seen & 1u << axes[k])
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "axes[%u] is %u, which is there already; each is kept once", k,
                            axes[k]);
        seen |= 1u << axes[k];
    }
    return TALLY_OK;
}

tally_status tally_result_project(const tally_result *result, const uint32_t *axes, uint32_t count,
                                  tally_result **projected, tally_error *error)
{
    if (!result || !axes || !projected)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL",
                        !result ? "result"
                        : !axes ? "axes"
                                : "projected");
    tally_status status = check_kept(result, axes, count, error);
    if (status)
        return status;
    tally_axis kept[TALLY_MAX_DIMENSIONS];
    for (uint32_t k = 0; k < count; k++)
        kept[k] = result->axes[axes[k]];
    ty_result_shape shape = {.dimensions = count, .axes = kept};
    shape.dtype = axes[0] == 0 ? result->dtype : (tally_dtype)0;
    for (uint32_t k = 0; k < count; k++)
        shape.labels[k] = result->labels[axes[k]], shape.times[k] = result->times[axes[k]];
    fold f;
    status = begin(&f, result, &shape, error);
    uint64_t stride = 1;
    for (uint32_t k = count; k-- > 0 && !status;) {
        for (uint64_t i = 0; i < kept[k].bins; i++)
            f.targets[axes[k]][i] = i * stride;
        stride *= kept[k].bins;
    }
    return end(&f, status, projected, error);
}

/* Edges that the kind's formula gives to the bit keep the kind; others are edges. */
static tally_status name_kind(tally_axis *axis, tally_error *error)
{
    tally_axis formula = *axis;
    double *edges = ty_malloc((size_t)(axis->bins + 1) * sizeof *edges);
    if (!edges)
        return ty_error_memory(error, "bin edges", (axis->bins + 1) * sizeof *edges);
    formula.edges = NULL;
    if (tally_axis_edges_get(&formula, edges, NULL) ||
        memcmp(edges, axis->edges, (size_t)(axis->bins + 1) * sizeof *edges) != 0)
        axis->kind = TALLY_AXIS_EDGES;
    ty_free(edges);
    return TALLY_OK;
}

tally_status tally_result_rebin(const tally_result *result, uint32_t axis, uint64_t join,
                                tally_result **rebinned, tally_error *error)
{
    if (!result || !rebinned)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", result ? "rebinned" : "result");
    if (axis >= result->dimensions)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "axis is %u; the result has axes 0 to %u",
                        axis, result->dimensions - 1);
    if (!join)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "join is 0; 1 or more neighbours are joined");
    const tally_axis *old = &result->axes[axis];
    if (old->kind == TALLY_AXIS_CATEGORY || result->labels[axis])
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "axis %u is of categories, which have no neighbours", axis);
    tally_axis axes[TALLY_MAX_DIMENSIONS];
    uint64_t bins = (old->bins - 1) / join + 1;
    double *joined = ty_malloc((size_t)(bins + 1) * sizeof *joined);
    if (!joined)
        return ty_error_memory(error, "bin edges", (bins + 1) * sizeof *joined);
    for (uint64_t i = 0; i < bins; i++)
        joined[i] = tally_axis_edge(old, i * join);
    joined[bins] = tally_axis_edge(old, old->bins);
    memcpy(axes, result->axes, sizeof axes);
    axes[axis].bins = bins;
    axes[axis].edges = joined;
    tally_status status = join == 1 ? TALLY_OK : name_kind(&axes[axis], error);
    ty_result_shape shape = {
        .dimensions = result->dimensions, .axes = axes, .dtype = result->dtype};
    memcpy(shape.labels, result->labels, sizeof shape.labels);
    memcpy(shape.times, result->times, sizeof shape.times);
    fold f = {.from = result};
    if (!status)
        status = begin(&f, result, &shape, error);
    uint64_t stride = 1;
    for (uint32_t d = result->dimensions; d-- > 0 && !status;) {
        for (uint64_t i = 0; i < result->axes[d].bins; i++)
            f.targets[d][i] = (d == axis ? i / join : i) * stride;
        stride *= axes[d].bins;
    }
    status = end(&f, status, rebinned, error);
    ty_free(joined);
    return status;
}

tally_status ty_result_move_bins(const tally_result *result, uint32_t axis, const uint64_t *to,
                                 ty_labels *labels, tally_result **moved, tally_error *error)
{
    tally_axis axes[TALLY_MAX_DIMENSIONS];
    ty_result_shape shape = {
        .dimensions = result->dimensions, .axes = axes, .dtype = result->dtype};
    memcpy(axes, result->axes, sizeof axes);
    axes[axis] = tally_axis_integer(labels->count, 0);
    memcpy(shape.labels, result->labels, sizeof shape.labels);
    memcpy(shape.times, result->times, sizeof shape.times);
    shape.labels[axis] = labels;
    fold f;
    tally_status status = begin(&f, result, &shape, error);
    uint64_t stride = 1;
    for (uint32_t d = result->dimensions; d-- > 0 && !status;) {
        for (uint64_t i = 0; i < result->axes[d].bins; i++)
            f.targets[d][i] = (d == axis ? to[i] : i) * stride;
        stride *= axes[d].bins;
    }
    return end(&f, status, moved, error);
}
