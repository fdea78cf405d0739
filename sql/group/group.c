/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One context for all queries: DuckDB's threads call, so it has no threads of its own. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static tally_context *context;

static void open_context(void)
{
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    options.device = TALLY_DEVICE_CPU;
    options.threads = 1;
    if (tally_context_create(&options, &context, NULL))
        context = NULL;
}

/* ---- layouts ---- */

static int copy_axes(layout *l, const tally_axis *axes)
{
    l->cells = 1;
    for (uint32_t d = 0; d < l->dimensions; d++) {
        tally_axis *axis = &l->axes[d];
        *axis = axes[d];
        l->cells *= axis->bins;
        l->scale[d] = (double)axis->bins / (axis->hi - axis->lo);
        if (axis->kind == TALLY_AXIS_EVEN && axis->bins > most_listed_bins)
            continue;
        l->edges[d] = malloc((axis->bins + 1) * sizeof *l->edges[d]);
        if (!l->edges[d])
            return 0;
        if (axis->kind == TALLY_AXIS_EDGES) {
            memcpy(l->edges[d], axis->edges, (axis->bins + 1) * sizeof *l->edges[d]);
            axis->edges = l->edges[d];
        }
    }
    return 1;
}

static void layout_free(layout *l)
{
    tally_plan_destroy(l->plan);
    for (uint32_t d = 0; d < l->dimensions; d++)
        free(l->edges[d]);
    free(l);
}

/* The plan has found the axes right. */
static void list_edges(layout *l)
{
    for (uint32_t d = 0; d < l->dimensions; d++)
        if (l->edges[d])
            tally_axis_edges_get(&l->axes[d], l->edges[d], NULL);
}

layout *layout_create(uint32_t dimensions, const tally_axis *axes, tally_dtype dtype, int weighted,
                      tally_error *error)
{
    pthread_once(&once, open_context);
    layout *l = calloc(1, sizeof *l);
    if (!l || !context) {
        free(l);
        strcpy(error->message, "no memory for the axes");
        return NULL;
    }
    l->users = 1;
    l->dimensions = dimensions;
    l->weighted = weighted;
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    options.dimensions = dimensions;
    options.weight_dtype = weighted ? TALLY_F64 : 0;
    for (uint32_t d = 0; d < dimensions; d++)
        options.dtypes[d] = dtype;
    if (!copy_axes(l, axes))
        strcpy(error->message, "no memory for the edges");
    else {
        memcpy(options.axes, l->axes, sizeof l->axes);
        if (!tally_plan_create(context, &options, &l->plan, error)) {
            list_edges(l);
            return l;
        }
    }
    layout_free(l);
    return NULL;
}

layout *layout_retain(layout *l)
{
    atomic_fetch_add(&l->users, 1);
    return l;
}

void layout_release(layout *l)
{
    if (l && atomic_fetch_sub(&l->users, 1) == 1)
        layout_free(l);
}

static int is_same_axis(const tally_axis *a, const tally_axis *b)
{
    if (a->kind != b->kind || a->bins != b->bins)
        return 0;
    if (a->kind == TALLY_AXIS_EVEN)
        return a->lo == b->lo && a->hi == b->hi;
    return !memcmp(a->edges, b->edges, (a->bins + 1) * sizeof(double));
}

int layout_is(const layout *l, const tally_axis *axes)
{
    for (uint32_t d = 0; d < l->dimensions; d++)
        if (!is_same_axis(&l->axes[d], &axes[d]))
            return 0;
    return 1;
}

/* ---- groups ---- */

group *group_create(layout *l)
{
    group *g = calloc(1, sizeof *g);
    amount *cells = calloc(l->cells, sizeof *cells);
    if (!g || !cells) {
        free(g);
        free(cells);
        return NULL;
    }
    g->layout = layout_retain(l);
    g->cells = cells;
    return g;
}

void group_destroy(group *g)
{
    if (!g)
        return;
    layout_release(g->layout);
    free(g->cells);
    free(g);
}

void group_merge(group *into, const group *from)
{
    uint64_t cells = into->layout->cells;
    if (into->layout->weighted) {
        for (uint64_t i = 0; i < cells; i++)
            into->cells[i].sum += from->cells[i].sum;
        for (int i = 0; i < flow_count; i++)
            into->flows[i].sum += from->flows[i].sum;
    } else {
        for (uint64_t i = 0; i < cells; i++)
            into->cells[i].count += from->cells[i].count;
        for (int i = 0; i < flow_count; i++)
            into->flows[i].count += from->flows[i].count;
    }
    into->nulls += from->nulls;
}

tally_status group_add_rows(group *g, const rows *r, tally_error *error)
{
    const layout *l = g->layout;
    tally_view views[most_dimensions], weights, mask;
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    tally_flows flows = {0, 0, 0, 0};
    double sums[flow_count + 1] = {0};
    for (uint32_t d = 0; d < l->dimensions; d++)
        views[d] = tally_view_1d(r->samples[d], r->dtype, r->count);
    if (r->present) {
        mask = tally_view_1d(r->present, TALLY_U8, r->count);
        options.mask = &mask;
    }
    if (l->weighted) {
        weights = tally_view_1d(r->weights, TALLY_F64, r->count);
        options.weights = &weights;
        output.flow_sums = sums;
    }
    output.counts = g->cells;
    output.flows = &flows;
    output.accumulate = TALLY_ACCUMULATE_ADD;
    tally_status status = tally_execute(l->plan, views, &options, &output, error);
    if (status)
        return status;
    const uint64_t outside[flow_count] = {flows.under, flows.over, flows.nan};
    for (int i = 0; i < flow_count; i++)
        if (l->weighted)
            g->flows[i].sum += sums[i];
        else
            g->flows[i].count += outside[i];
    g->nulls += flows.masked;
    return TALLY_OK;
}

/* ---- one row ---- */

/* A sample as float64, rounded down, and whether that changed it: no float64 lies between them, so
 * a sample and its rounded value compare alike with every edge but one they meet. */
typedef struct sample {
    double value;
    int above;
} sample;

static sample of_i64(int64_t x)
{
    double value = (double)x;
    if (value == 0x1p63 || (int64_t)value > x)
        value = nextafter(value, -INFINITY);
    return (sample){value, (int64_t)value != x};
}

static sample of_u64(uint64_t x)
{
    double value = (double)x;
    if (value == 0x1p64 || (uint64_t)value > x)
        value = nextafter(value, -INFINITY);
    return (sample){value, (uint64_t)value != x};
}

static sample sample_at(const void *data, tally_dtype dtype, uint64_t i)
{
    switch (dtype) {
    case TALLY_U8:
        return (sample){((const uint8_t *)data)[i], 0};
    case TALLY_I8:
        return (sample){((const int8_t *)data)[i], 0};
    case TALLY_U16:
        return (sample){((const uint16_t *)data)[i], 0};
    case TALLY_I16:
        return (sample){((const int16_t *)data)[i], 0};
    case TALLY_U32:
        return (sample){((const uint32_t *)data)[i], 0};
    case TALLY_I32:
        return (sample){((const int32_t *)data)[i], 0};
    case TALLY_U64:
        return of_u64(((const uint64_t *)data)[i]);
    case TALLY_I64:
        return of_i64(((const int64_t *)data)[i]);
    case TALLY_F32:
        return (sample){((const float *)data)[i], 0};
    default:
        return (sample){((const double *)data)[i], 0};
    }
}

static double edge_of(const layout *l, uint32_t d, uint64_t i)
{
    return l->edges[d] ? l->edges[d][i] : tally_axis_edge(&l->axes[d], i);
}

/* The bin of x, which lies between the first and the last edge, on an even axis. */
static uint64_t even_bin(const layout *l, uint32_t d, double x)
{
    uint64_t bins = l->axes[d].bins;
    double guess = (x - l->axes[d].lo) * l->scale[d];
    uint64_t bin = guess > 0 ? (uint64_t)guess : 0;
    if (bin >= bins)
        bin = bins - 1;
    while (bin > 0 && x < edge_of(l, d, bin))
        bin--;
    while (bin + 1 < bins && x >= edge_of(l, d, bin + 1))
        bin++;
    return bin;
}

/* A bin, or bins + a flow. */
static uint64_t find_bin(const layout *l, uint32_t d, sample x)
{
    const tally_axis *axis = &l->axes[d];
    uint64_t bin;
    if (isnan(x.value))
        return axis->bins + flow_nan;
    if (x.value < edge_of(l, d, 0))
        return axis->bins + flow_under;
    double last = edge_of(l, d, axis->bins);
    if (x.value > last || (x.value == last && x.above))
        return axis->bins + flow_over;
    if (axis->kind == TALLY_AXIS_EVEN)
        return even_bin(l, d, x.value);
    tally_axis_find(axis, x.value, &bin, NULL);
    return bin;
}

void group_add_row(group *g, const rows *r, uint64_t i)
{
    const layout *l = g->layout;
    uint64_t cell = 0;
    int flow = -1;
    if (r->present && !r->present[i]) {
        g->nulls++;
        return;
    }
    for (uint32_t d = 0; d < l->dimensions && flow != flow_nan; d++) {
        uint64_t bin = find_bin(l, d, sample_at(r->samples[d], r->dtype, i));
        if (bin >= l->axes[d].bins) {
            int outside = (int)(bin - l->axes[d].bins);
            flow = flow < 0 || outside == flow_nan ? outside : flow;
        } else
            cell = cell * l->axes[d].bins + bin;
    }
    amount *to = flow < 0 ? &g->cells[cell] : &g->flows[flow];
    if (l->weighted)
        to->sum += r->weights[i];
    else
        to->count++;
}
